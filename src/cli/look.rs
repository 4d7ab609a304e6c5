//! How things are shown: colours, widths, how much talk.

use dialoguer::console::Term;

use super::args::{ColorWhen, Global};
use super::printer;
use crate::env::{self, Env};

/// What the streams can show and what the person wants to see, resolved once.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts about two streams")]
pub(crate) struct Look {
    /// Whether standard output gets colours.
    pub(crate) out_colour: bool,
    /// Whether standard error gets colours.
    pub(crate) err_colour: bool,
    /// Whether standard output is a terminal.
    pub(crate) out_terminal: bool,
    /// Whether standard error is a terminal.
    pub(crate) err_terminal: bool,
    /// Only warnings and errors.
    pub(crate) quiet: bool,
    /// Every step as well.
    pub(crate) verbose: bool,
    /// Whether a person watches: no build machine, and standard error is a terminal.
    pub(crate) live: bool,
    /// The terminal's width in columns, where standard output is one.
    pub(crate) width: Option<usize>,
}

impl Look {
    /// No terminal, no colours, the usual amount of talk.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self {
        out_colour: false,
        err_colour: false,
        out_terminal: false,
        err_terminal: false,
        quiet: false,
        verbose: false,
        live: false,
        width: None,
    };

    /// Resolves flags and environment; flags win.
    pub(crate) fn new(env: &Env, global: Option<&Global>) -> Self {
        let (out_terminal, err_terminal) = printer::terminals();
        let when = global.map_or(ColorWhen::Auto, |global| global.color);
        let colour = |terminal| match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => colour_by_environment(env, terminal),
        };
        Self {
            out_colour: colour(out_terminal),
            err_colour: colour(err_terminal),
            out_terminal,
            err_terminal,
            quiet: global.is_some_and(|global| global.quiet),
            verbose: global.is_some_and(|global| global.verbose),
            live: err_terminal && !build_machine(env),
            width: out_terminal.then(width).flatten(),
        }
    }
}

fn width() -> Option<usize> {
    Term::stdout().size_checked().map(|(_, columns)| usize::from(columns)).filter(|columns| *columns >= 20)
}

fn colour_by_environment(env: &Env, terminal: bool) -> bool {
    if env.get(env::NO_COLOR).is_some() {
        return false;
    }
    if env.get(env::CLICOLOR_FORCE).is_some_and(|value| value != "0") {
        return true;
    }
    terminal && env.get(env::TERM) != Some("dumb")
}

/// Whether nobody sits before this machine.
pub(crate) fn build_machine(env: &Env) -> bool {
    env.get(env::CI).is_some_and(|value| !matches!(value, "0" | "false"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env { vars: vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(), ..Env::default() }
    }

    #[test]
    fn no_color_wins_over_force() {
        assert!(!colour_by_environment(&env(&[]), false));
        assert!(colour_by_environment(&env(&[("CLICOLOR_FORCE", "1")]), false));
        assert!(!colour_by_environment(&env(&[("CLICOLOR_FORCE", "0")]), false));
        assert!(!colour_by_environment(&env(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), true));
        assert!(colour_by_environment(&env(&[("TERM", "xterm")]), true));
        assert!(!colour_by_environment(&env(&[("TERM", "dumb")]), true));
    }

    #[test]
    fn build_machines() {
        assert!(build_machine(&env(&[("CI", "true")])));
        assert!(!build_machine(&env(&[("CI", "false")])));
        assert!(!build_machine(&env(&[("CI", "")])));
    }
}
