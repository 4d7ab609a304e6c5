//! Questions to the user at the terminal.

use std::sync::Arc;

use dialoguer::console::{self, Term};
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Confirm, Input};

use super::choose;
use super::printer::{Printer, clean};
use super::render::one_line;
use super::words::worded;
use skillpm_format::advice::Message;
use skillpm_sources::interrupt;
use skillpm_sources::reporter::{Choice, Interact, Silent};

/// Returns the interaction for verbs: with the user, or without.
pub(crate) fn interact(may_ask: bool, printer: &Printer) -> Arc<dyn Interact> {
    if may_ask { Arc::new(Person { colour: printer.look().err_colour }) } else { Arc::new(Silent) }
}

struct Person {
    colour: bool,
}

impl Interact for Person {
    fn choose(&self, question: &str, items: &[Choice]) -> Option<Vec<usize>> {
        console::set_colors_enabled_stderr(self.colour);
        said(choose::choose(&terminal(), &clean(question), items))
    }

    fn input(&self, question: &str, default: &str) -> Option<String> {
        let theme = self.theme();
        let mut input =
            Input::<String>::with_theme(&*theme).with_prompt(clean(question)).allow_empty(true).report(true);
        let term = terminal();
        let shown = shown(default, &clean(question), usize::from(term.size().1));
        if !default.is_empty() {
            input = input.default(shown.clone());
        }
        let answer = said(input.interact_text_on(&term))?;
        // A shortened default stands for the whole text.
        Some(if answer == shown { default.to_owned() } else { answer })
    }

    fn secret(&self, question: &str) -> Option<String> {
        let term = terminal();
        said(term.write_str(&format!("{}: ", clean(question))).and_then(|()| term.read_secure_line()))
    }

    fn confirm(&self, question: &str) -> Option<bool> {
        let theme = self.theme();
        let ask = Confirm::with_theme(&*theme).with_prompt(clean(question)).default(false).report(true);
        // Esc means no.
        said(ask.interact_on_opt(&terminal())).map(Option::unwrap_or_default)
    }

    fn refuse(&self, reason: &Message) {
        for line in worded(reason).lines() {
            // If the terminal accepts no line, it provides no answer either: the question ends the program.
            let _ = terminal().write_line(&clean(line));
        }
    }
}

impl Person {
    fn theme(&self) -> Box<dyn Theme> {
        console::set_colors_enabled_stderr(self.colour);
        if self.colour { Box::new(ColorfulTheme::default()) } else { Box::new(SimpleTheme) }
    }
}

/// Returns the user's answer. Ctrl-C is an error too, but not an answer: nothing continues after it. If the
/// terminal cannot be read, there is no user.
fn said<T, E>(answer: Result<T, E>) -> Option<T> {
    if answer.is_err() {
        interrupt::halt();
    }
    answer.ok()
}

/// Returns the part of `default` that a question shows: as much as fits next to `question`, since a wrapped
/// line would be drawn again. A theme writes up to ten characters around the two.
fn shown(default: &str, question: &str, width: usize) -> String {
    let room = width.saturating_sub(console::measure_text_width(question) + 12).max(1);
    console::truncate_str(&one_line(default), room, "…").into_owned()
}

#[cfg(not(unix))]
fn terminal() -> Term {
    Term::stderr()
}

#[cfg(unix)]
fn terminal() -> Term {
    Term::read_write_pair(std::io::stdin(), unix::CursorStays)
}

#[cfg(unix)]
mod unix {
    use std::io::{self, Write};
    use std::os::fd::{AsRawFd, RawFd};

    /// Standard error with a cursor that is never hidden. Ctrl-C ends the program during a question, and
    /// nothing would show a hidden cursor again.
    #[derive(Debug)]
    pub(super) struct CursorStays;

    const HIDE: &[u8] = b"\x1b[?25l";

    impl Write for CursorStays {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes == HIDE { Ok(bytes.len()) } else { io::stderr().write(bytes) }
        }

        fn flush(&mut self) -> io::Result<()> {
            io::stderr().flush()
        }
    }

    impl AsRawFd for CursorStays {
        fn as_raw_fd(&self) -> RawFd {
            io::stderr().as_raw_fd()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_is_cut_to_what_fits_beside_its_question() {
        let default = "Describe in a sentence what it does. Use when something is asked for";
        assert_eq!(shown(default, "what it does", 200), default);
        let cut = shown(default, "what it does", 60);
        assert!(cut.ends_with('…') && default.starts_with(cut.trim_end_matches('…')), "{cut}");
        for theme in [&SimpleTheme as &dyn Theme, &ColorfulTheme::default()] {
            let mut text = String::new();
            theme.format_input_prompt(&mut text, "what it does", Some(&cut)).expect("writes");
            assert!(console::measure_text_width(&text) < 60, "{text}");
        }
        assert_eq!(shown(default, "what it does", 5), "…");
        assert_eq!(shown("", "what it does", 60), "");
    }
}
