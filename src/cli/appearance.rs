//! The appearance of output: colours, widths, verbosity.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum as _;
use dialoguer::console::Term;

use super::args::{ColorWhen, ErrorFormat, Global};
use super::printer;
use skillpm_format::advice::Message;
use skillpm_sources::env::{self, Env};
use skillpm_sources::fs::OpenLog;

/// The capabilities of the streams and the user's wishes, resolved once.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts about two streams")]
pub(crate) struct Appearance {
    /// Whether standard output is coloured.
    pub(crate) out_colour: bool,
    /// Whether standard error is coloured.
    pub(crate) err_colour: bool,
    /// Whether standard output is a terminal.
    pub(crate) out_terminal: bool,
    /// Whether standard error is a terminal.
    pub(crate) err_terminal: bool,
    /// Whether to print only warnings and errors.
    pub(crate) quiet: bool,
    /// Whether to print every step as well.
    pub(crate) verbose: bool,
    /// Whether errors are printed for programs, as JSON.
    pub(crate) json: bool,
    /// Whether a person watches: standard error is a terminal, and this is not a build machine.
    pub(crate) live: bool,
    /// The terminal's width in columns, if standard output is one.
    pub(crate) width: Option<usize>,
    /// The terminal's width in columns, if standard error is one.
    pub(crate) err_width: Option<usize>,
    /// The file to which tests want the places in the source that made the printed hints.
    pub(crate) sites: Option<PathBuf>,
}

impl Appearance {
    /// No terminal, no colours, the usual verbosity.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self {
        out_colour: false,
        err_colour: false,
        out_terminal: false,
        err_terminal: false,
        quiet: false,
        verbose: false,
        json: false,
        live: false,
        width: None,
        err_width: None,
        sites: None,
    };

    /// Resolves flags and environment; flags win.
    pub(crate) fn new(env: &Env, typed: Typed) -> Self {
        let (out_terminal, err_terminal) = printer::terminals();
        let colour = |terminal| match typed.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => colour_by_environment(env, terminal),
        };
        Self {
            out_colour: colour(out_terminal),
            err_colour: colour(err_terminal),
            out_terminal,
            err_terminal,
            quiet: typed.quiet,
            verbose: typed.verbose,
            json: typed.json,
            live: err_terminal && !build_machine(env),
            width: width(out_terminal.then(Term::stdout)),
            err_width: width(err_terminal.then(Term::stderr)),
            sites: env.get(env::HINT_SITES).filter(|_| cfg!(debug_assertions)).map(PathBuf::from),
        }
    }

    /// Notes for tests that `hint` was printed.
    pub(crate) fn told(&self, hint: &Message) {
        if let (Some(file), Some(site)) = (&self.sites, hint.site()) {
            // Without the note the test fails.
            let _ = OpenLog::default().append(file, format!("{}:{}", site.file(), site.line()).as_bytes());
        }
    }
}

/// The flags about appearance, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Typed {
    color: ColorWhen,
    quiet: bool,
    verbose: bool,
    json: bool,
}

impl Typed {
    /// Returns the flags of a valid command line, which requested JSON or not.
    pub(crate) fn new(global: &Global, requests_json: bool) -> Self {
        let json = global.error_format.map_or(requests_json, |format| format == ErrorFormat::Json);
        Self { color: global.color, quiet: global.quiet, verbose: global.verbose, json }
    }

    /// Reads the flags from `arguments` that are not a valid command line, so that the error is printed in
    /// the requested colours and form.
    pub(crate) fn of(arguments: &[OsString]) -> Self {
        let words =
            || arguments.iter().skip(1).take_while(|word| *word != "--").filter_map(|word| word.to_str());
        // The values of an option, whether they are words of their own or not.
        let values = |option: &'static str| {
            let behind = words().zip(words().skip(1)).filter(move |(word, _)| *word == option);
            let within = words().filter_map(move |word| word.strip_prefix(option)?.strip_prefix('='));
            within.chain(behind.map(|(_, value)| value))
        };
        let color = values("--color").find_map(|value| ColorWhen::from_str(value, false).ok());
        let form = values("--error-format").find_map(|value| ErrorFormat::from_str(value, false).ok());
        let json = match form {
            Some(form) => form == ErrorFormat::Json,
            None => words().any(|word| word == "--json") || values("--format").any(|value| value == "json"),
        };
        Self { color: color.unwrap_or(ColorWhen::Auto), quiet: false, verbose: false, json }
    }
}

impl Appearance {
    /// Returns the width of help pages in columns: that of the terminal, limited for readability.
    pub(crate) fn help_columns(&self) -> usize {
        self.width.or(self.err_width).unwrap_or(MAX_HELP).min(MAX_HELP)
    }
}

/// The largest width of a help page, and its width without a terminal.
const MAX_HELP: usize = 100;

fn width(terminal: Option<Term>) -> Option<usize> {
    terminal?.size_checked().map(|(_, columns)| usize::from(columns)).filter(|columns| *columns >= 20)
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

/// Reports whether this is a build machine, where no person watches.
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
    fn mistakes_have_the_colours_that_were_asked_for() {
        let color = |line: &str| Typed::of(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).color;
        assert_eq!(color("skillpm --color never nope"), ColorWhen::Never);
        assert_eq!(color("skillpm nope --color=always"), ColorWhen::Always);
        assert_eq!(color("skillpm nope --color"), ColorWhen::Auto);
        assert_eq!(color("skillpm nope --color=blue"), ColorWhen::Auto);
        assert_eq!(color("skillpm nope -- --color=always"), ColorWhen::Auto);
    }

    #[test]
    fn mistakes_have_the_form_that_was_asked_for() {
        let json = |line: &str| Typed::of(&line.split(' ').map(OsString::from).collect::<Vec<_>>()).json;
        for line in
            ["list --json --nope", "--json list x", "validate --format json -x", "catalog --format=json x y"]
        {
            assert!(json(&format!("skillpm {line}")), "{line}");
        }
        for line in [
            "list",
            "run x y z -- --json",
            "validate --format sarif",
            "list json",
            "--error-format text x --json",
        ] {
            assert!(!json(&format!("skillpm {line}")), "{line}");
        }
    }

    #[test]
    fn build_machines() {
        assert!(build_machine(&env(&[("CI", "true")])));
        assert!(!build_machine(&env(&[("CI", "false")])));
        assert!(!build_machine(&env(&[("CI", "")])));
    }
}
