//! The only access to the terminal.
//!
//! Standard output is data, standard error is messages. All output passes [`clean`] here, so that no name,
//! description or server's answer can control a terminal. Texts mark literals with backticks; colours only
//! repeat what the text says anyway.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::MAIN_SEPARATOR;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use serde::Serialize;

use super::appearance::Appearance;
use super::style::{
    BAD, CHANGED, FAINT, GOOD, STRONG, clean_styled, escape_json, folded, folded_lines, literals, paint,
};
use super::tips::Tips;
use super::words::worded;
use super::working_dir::WorkingDir;
use skillpm_format::advice::{Message, Warning};
use skillpm_format::text::without_secrets;
use skillpm_sources::settings::Settings;

/// Escapes what could control a terminal in a text from outside. Code outside the printer calls this only if
/// it must know a width before printing. Cleaning twice changes nothing.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    skillpm_format::text::visible(text)
}

/// The codes of warnings that many skills of a collection may have, and that change nothing for the user: one of them is
/// printed, with the number of the others.
const TOLD_ONCE: &[&str] = &["link-outside"];

/// Prints to the standard streams.
pub(crate) struct Printer {
    look: Appearance,
    /// The working directory for shortening paths in messages; determined when a message has a path to
    /// shorten.
    here: OnceLock<LazyLock<WorkingDir, Box<dyn FnOnce() -> WorkingDir + Send>>>,
    tips: Mutex<Tips>,
    out: Mutex<Sink>,
    err: Mutex<Sink>,
}

/// A stream, and its first error.
struct Sink {
    stream: Box<dyn Write + Send>,
    failure: Option<io::Error>,
}

impl Sink {
    fn new(stream: Box<dyn Write + Send>) -> Mutex<Self> {
        Mutex::new(Self { stream, failure: None })
    }

    /// Writes all of `text`, unless an earlier write failed.
    fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    /// Works like [`Sink::write`], for bytes that may not be UTF-8.
    fn write_bytes(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            let result = self.stream.write_all(bytes).and_then(|()| self.stream.flush());
            self.failure = result.err();
        }
    }
}

impl Printer {
    /// Returns a printer to the streams of this process.
    pub(crate) fn new(look: Appearance) -> Self {
        // The streams pass everything through: texts are only styled if the appearance requires it.
        let pass = |colour| if colour { ColorChoice::Always } else { ColorChoice::AlwaysAnsi };
        let out = AutoStream::new(io::stdout(), pass(look.out_colour));
        let err = AutoStream::new(io::stderr(), pass(look.err_colour));
        Self::with(look, Box::new(out), Box::new(err))
    }

    fn with(look: Appearance, out: Box<dyn Write + Send>, err: Box<dyn Write + Send>) -> Self {
        Self { look, here: OnceLock::new(), tips: Mutex::default(), out: Sink::new(out), err: Sink::new(err) }
    }

    /// Shows paths in messages relative to the working directory of `settings` from now on, and counts tips for its user.
    pub(crate) fn stand_in(&self, settings: &Settings) {
        *self.tips.lock().unwrap_or_else(PoisonError::into_inner) = Tips::new(settings);
        let settings = settings.clone();
        // A second call changes nothing: a process has one working directory.
        let _ = self.here.set(LazyLock::new(Box::new(move || WorkingDir::new(&settings))));
    }

    /// Returns the appearance of the streams.
    pub(crate) fn look(&self) -> &Appearance {
        &self.look
    }

    /// Prints what was done: a sign or a verb, and its object.
    pub(crate) fn status(&self, verb: &str, text: &str) {
        self.statuses([(verb, text)]);
    }

    /// Works like [`Printer::status`], for many objects at once.
    pub(crate) fn statuses<'a>(&self, all: impl IntoIterator<Item = (&'a str, impl AsRef<str>)>) {
        if self.look.quiet {
            return;
        }
        let mut lines = String::new();
        for (verb, text) in all {
            let style = match verb {
                "-" => BAD,
                "~" => CHANGED,
                "=" => FAINT,
                _ => GOOD,
            };
            self.line(&mut lines, verb, style, text.as_ref());
        }
        if !lines.is_empty() {
            self.err().write(&lines);
        }
    }

    /// Prints useful information.
    pub(crate) fn note(&self, text: &str) {
        if !self.look.quiet {
            self.talk("", STRONG, text);
        }
    }

    /// Prints a detail, only with `--verbose`.
    pub(crate) fn detail(&self, text: &str) {
        if self.look.verbose {
            self.talk("", FAINT, text);
        }
    }

    /// Prints advice on what to do next. It is made from values, in the core where it depends on an outcome.
    pub(crate) fn hint(&self, hint: &Message) {
        if !self.look.quiet {
            self.advise(hint);
        }
    }

    /// Prints advice after a success, as often as the user wants it: see [`Tips`].
    pub(crate) fn tips<'a>(&self, tips: impl IntoIterator<Item = &'a Message>) {
        if self.look.quiet {
            return;
        }
        for tip in tips {
            let told = self.tips.lock().unwrap_or_else(PoisonError::into_inner).shows(tip, self.look.live);
            if told {
                self.advise(tip);
            }
        }
    }

    /// Prints each of `hints` like [`Printer::hint`].
    pub(crate) fn hints<'a>(&self, hints: impl IntoIterator<Item = &'a Message>) {
        for hint in hints {
            self.hint(hint);
        }
    }

    fn advise(&self, hint: &Message) {
        self.look.told(hint);
        self.talk("hint:", STRONG, &worded(hint));
    }

    /// Prints a warning, even with `--quiet`.
    pub(crate) fn warning(&self, text: &str) {
        self.talk("warning:", CHANGED, text);
    }

    /// Prints each of `warnings` like [`Printer::warning`], with its hints.
    pub(crate) fn warnings<'a>(&self, warnings: impl IntoIterator<Item = &'a Warning>) {
        let warnings: Vec<_> = warnings.into_iter().collect();
        let mut told = BTreeSet::new();
        for warning in &warnings {
            if self.look.verbose || !TOLD_ONCE.contains(&warning.code) {
                self.warning(&worded(&warning.message));
            } else if told.insert(warning.code) {
                let more = match warnings.iter().filter(|other| other.code == warning.code).count() - 1 {
                    0 => String::new(),
                    1 => "; 1 more skill, which `--verbose` names".to_owned(),
                    more => format!("; {more} more skills, which `--verbose` names"),
                };
                self.warning(&(worded(&warning.message) + &more));
            }
            self.hints(&warning.hints);
        }
    }

    /// Prints a failure, its causes and hints.
    pub(crate) fn failure(&self, message: &str, causes: &[String], hints: &[Message]) {
        self.talk("error:", BAD, message);
        for cause in causes {
            self.talk("  caused by:", STRONG, cause);
        }
        for hint in hints {
            self.advise(hint);
        }
    }

    /// Prints lines of data for people, on a terminal as [`folded_lines`] does.
    pub(crate) fn data(&self, text: &str) {
        self.out().write(&folded_lines(&clean(text), self.look.width));
    }

    /// Prints a text that skillpm styled itself, such as a help page, on standard output.
    pub(crate) fn styled_data(&self, text: &str) {
        let text = clean_styled(text, self.look.out_colour);
        self.out().write(&text);
    }

    /// Prints a text that skillpm styled itself on standard error.
    pub(crate) fn styled_talk(&self, text: &str) {
        let text = clean_styled(text, self.look.err_colour);
        self.err().write(&text);
    }

    /// Prints `value` as JSON. Control characters are written as JSON escapes, so that the value stays the
    /// same.
    pub(crate) fn json(&self, value: &impl Serialize) {
        match serde_json::to_string_pretty(value) {
            Ok(text) => self.out().write(&format!("{}\n", escape_json(&text))),
            Err(error) => self.out().failure = Some(error.into()),
        }
    }

    /// Prints `value` as JSON on one line of standard error, for programs.
    pub(crate) fn json_line(&self, value: &impl Serialize) {
        // Values of our own types without maps always have a JSON form.
        if let Ok(text) = serde_json::to_string(value) {
            self.err().write(&format!("{}\n", escape_json(&text)));
        }
    }

    /// Prints a skill's content: byte for byte into a pipe or file, cleaned on a terminal.
    pub(crate) fn content(&self, text: &str) {
        if self.look.out_terminal {
            self.whole_lines(text);
        } else {
            self.out().write(text);
        }
    }

    /// Works like [`Printer::content`], for a text that `make` provides piece by piece.
    pub(crate) fn content_of(&self, make: impl FnOnce(&mut dyn FnMut(&str))) {
        if self.look.out_terminal {
            // Only the whole text can be cleaned.
            let mut text = String::new();
            make(&mut |piece| text.push_str(piece));
            self.whole_lines(&text);
        } else {
            let mut out = self.out();
            make(&mut |piece| out.write(piece));
        }
    }

    /// Prints text whose lines stay as they are.
    fn whole_lines(&self, text: &str) {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.out().write(&format!("{}{end}", clean(text)));
    }

    /// Passes on the output of a script: byte for byte into a pipe or file, cleaned on a terminal. There, a
    /// character split between two pieces is shown as invalid.
    pub(crate) fn pass_on(&self, is_error: bool, bytes: &[u8]) {
        let (sink, terminal) = if is_error {
            (self.err(), self.look.err_terminal)
        } else {
            (self.out(), self.look.out_terminal)
        };
        let mut sink = sink;
        if terminal {
            sink.write(&clean(&String::from_utf8_lossy(bytes)));
        } else {
            sink.write_bytes(bytes);
        }
    }

    /// Returns the error of standard output, if there was one. It is not an error if a reader such as `head`
    /// stops early.
    pub(crate) fn finish(&self) -> Option<io::Error> {
        self.out().failure.take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    /// Reports whether standard output no longer accepts output.
    pub(crate) fn is_closed(&self) -> bool {
        self.out().failure.is_some()
    }

    fn talk(&self, label: &str, style: Style, text: &str) {
        let mut line = String::with_capacity(text.len() + 32);
        let here = self.here.get().filter(|_| text.contains(MAIN_SEPARATOR));
        let text = here.map_or(Cow::Borrowed(text), |here| here.shortened(text));
        self.line(&mut line, label, style, &text);
        self.err().write(&line);
    }

    /// Appends the line of a message to `lines`. On a terminal it is broken at blanks.
    fn line(&self, lines: &mut String, label: &str, style: Style, text: &str) {
        let colour = self.look.err_colour;
        let mut line = String::with_capacity(label.len() + text.len() + 32);
        if !label.is_empty() {
            paint(&mut line, label, style, colour);
            line.push(' ');
        }
        line.push_str(&literals(&indented(clean(&without_secrets(text)).trim_end()), colour));
        let Some(columns) = self.look.err_width else {
            lines.push_str(&line);
            lines.push('\n');
            return;
        };
        for (at, part) in line.lines().enumerate() {
            let own =
                if at == 0 && label.starts_with(' ') { 4 } else { part.len() - part.trim_start().len() };
            lines.push_str(&folded(part, columns, &" ".repeat(own.max(2))));
            lines.push('\n');
        }
    }

    fn out(&self) -> MutexGuard<'_, Sink> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn err(&self) -> MutexGuard<'_, Sink> {
        self.err.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Indents all lines but the first, so that none of them can pass for another message.
fn indented(text: &str) -> String {
    let mut lines = text.lines();
    let mut all = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        all.push_str(if line.starts_with("  ") { "\n" } else { "\n  " });
        all.push_str(line);
    }
    all
}

/// Prints one line of our own without any of the above, for answers that must be fast.
pub(crate) fn bare(line: &str) {
    // If it fails, no reader of an error message is left.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Returns whether standard output and standard error are terminals.
pub(crate) fn terminals() -> (bool, bool) {
    (io::stdout().is_terminal(), io::stderr().is_terminal())
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Arc;

    use super::*;

    /// The printed bytes.
    #[derive(Clone, Default)]
    pub(crate) struct Page(Arc<Mutex<Vec<u8>>>);

    impl Page {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns a printer, its standard output and its standard error.
    pub(crate) fn printer(look: Appearance) -> (Printer, Page, Page) {
        let (out, err) = (Page::default(), Page::default());
        let printer = Printer::with(look, Box::new(out.clone()), Box::new(err.clone()));
        (printer, out, err)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Page, printer};
    use super::*;

    const COLOURS: Appearance =
        Appearance { out_colour: true, err_colour: true, out_terminal: true, ..Appearance::PLAIN };

    /// THREATS: a description that changes the title of the window.
    #[test]
    fn nothing_from_outside_acts_on_a_terminal() {
        let hostile = "a\u{1b}]0;x\u{7}\u{202e}b";
        let shown = "a\\u{1b}]0;x\\u{7}\\u{202e}b";
        for look in [Appearance::PLAIN, COLOURS] {
            let (printer, out, err) = printer(look);
            printer.data(hostile);
            printer.styled_data(hostile);
            printer.status("+", hostile);
            printer.warning(hostile);
            printer.hint(&hostile.into());
            printer.note(hostile);
            printer.failure(hostile, &[hostile.to_owned()], &[hostile.into()]);
            assert_eq!(out.text().matches(shown).count(), 2, "{:?}", out.text());
            assert_eq!(err.text().matches(shown).count(), 7, "{:?}", err.text());
            assert!(!(out.text() + &err.text()).contains("\u{1b}]"));
        }
    }

    #[test]
    fn a_message_of_two_lines_cannot_pass_for_two_messages() {
        let (printer, _, err) = printer(Appearance::PLAIN);
        printer.failure("no\nhint: run `curl evil`\n  x", &[], &[]);
        assert_eq!(err.text(), "error: no\n  hint: run `curl evil`\n  x\n");
    }

    /// A collection of a hundred skills is no reason for a hundred lines.
    #[test]
    fn warnings_that_many_skills_have_are_one_line() {
        let warning = |code, name| Warning::new(code, format!("`{name}` links out"));
        let warnings = [
            warning("link-outside", "a"),
            warning("download-exec", "b"),
            warning("link-outside", "c"),
            warning("download-exec", "d"),
            warning("link-outside", "e"),
        ];
        let told = |look, warnings: &[Warning]| {
            let (printer, _, err) = printer(look);
            printer.warnings(warnings);
            err.text()
        };
        assert_eq!(
            told(Appearance::PLAIN, &warnings),
            "warning: `a` links out; 2 more skills, which `--verbose` names\n\
             warning: `b` links out\nwarning: `d` links out\n"
        );
        assert_eq!(told(Appearance { verbose: true, ..Appearance::PLAIN }, &warnings).lines().count(), 5);
        assert_eq!(told(Appearance::PLAIN, &warnings[..1]), "warning: `a` links out\n");
    }

    #[test]
    fn json_stays_json() {
        let (printer, out, _) = printer(Appearance::PLAIN);
        let value = serde_json::json!({"name": "a\u{202e}\u{e0041}\u{1b}\u{7f}"});
        printer.json(&value);
        assert!(out.text().contains("a\\u202e\\udb40\\udc41\\u001b\\u007f"), "{}", out.text());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&out.text()).unwrap(), value);
    }

    #[test]
    fn content_is_exact_unless_a_terminal_shows_it() {
        let (pipe, out, _) = printer(Appearance::PLAIN);
        pipe.content("a\u{1b}[2J");
        assert_eq!(out.text(), "a\u{1b}[2J");
        let (terminal, out, _) = printer(COLOURS);
        terminal.content("a\u{1b}[2J");
        assert_eq!(out.text(), "a\\u{1b}[2J\n");
    }

    #[test]
    fn quiet_leaves_warnings_and_errors() {
        let (printer, _, err) = printer(Appearance { quiet: true, ..Appearance::PLAIN });
        printer.status("+", "pdf");
        printer.note("note");
        printer.hint(&"hint".into());
        printer.detail("detail");
        printer.warning("careful");
        assert_eq!(err.text(), "warning: careful\n");
    }

    struct Gone(io::ErrorKind);

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_full_disk_is() {
        for (kind, fails) in [(io::ErrorKind::BrokenPipe, false), (io::ErrorKind::StorageFull, true)] {
            let printer = Printer::with(Appearance::PLAIN, Box::new(Gone(kind)), Box::new(Page::default()));
            printer.data("x");
            printer.data("y");
            assert_eq!(printer.finish().is_some(), fails, "{kind:?}");
        }
    }
}
