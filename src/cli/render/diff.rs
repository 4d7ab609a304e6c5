//! Unified diffs, with colours where there are any.

use crate::cli::printer::{Printer, clean};
use crate::cli::style::{BAD, FAINT, GOOD, STRONG, paint};

/// Prints `diff` as data.
pub(crate) fn show(printer: &Printer, diff: &str) {
    printer.styled_data(&painted(diff, printer.look().out_colour));
}

/// The lines are made harmless first, each by itself: no line of a file can style another. Carriage
/// returns are shown where some lines end with them and some do not.
fn painted(diff: &str, colour: bool) -> String {
    let lines: Vec<&str> = diff.split('\n').collect();
    // The headers are two lines; a last line without an end says nothing about line ends.
    let ends = |(at, line): (usize, &&str)| {
        let is_content = at >= 2 && line.starts_with([' ', '+', '-']);
        !is_content || line.ends_with('\r') || lines.get(at + 1).is_some_and(|next| next.starts_with('\\'))
    };
    let all_crlf = lines.iter().enumerate().all(ends);
    let mut out = String::with_capacity(diff.len() + 64);
    for (at, line) in lines.iter().enumerate() {
        let line = if all_crlf { line.strip_suffix('\r').unwrap_or(line) } else { line };
        let style = match line.as_bytes().first() {
            _ if at < 2 => STRONG,
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            _ => FAINT,
        };
        let plain = at >= 2 && line.starts_with(' ');
        paint(&mut out, &clean(line), style, colour && !plain && !line.is_empty());
        if at + 1 < lines.len() {
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::cli::look::Look;
    use crate::cli::printer::testing::printer;
    use crate::ops::diff::unified;

    fn shown(old: &str, new: &str, look: Look) -> String {
        let (talking, out, _) = printer(look);
        show(&talking, &unified(Path::new("pdf/SKILL.md"), old, new).expect("a diff"));
        out.text()
    }

    #[test]
    fn lines_have_the_colours_that_people_know() {
        let colours = Look { out_colour: true, ..Look::PLAIN };
        insta::assert_snapshot!(shown("a\nb\n", "a\nc\n", colours).replace('\u{1b}', "␛"), @"
        ␛[1m--- a/pdf/SKILL.md␛[0m
        ␛[1m+++ b/pdf/SKILL.md␛[0m
        ␛[2m@@ -1,2 +1,2 @@␛[0m
         a
        ␛[1m␛[31m-b␛[0m
        ␛[1m␛[32m+c␛[0m
        ");
        insta::assert_snapshot!(shown("a\nb\n", "a\nc\n", Look::PLAIN), @"
        --- a/pdf/SKILL.md
        +++ b/pdf/SKILL.md
        @@ -1,2 +1,2 @@
         a
        -b
        +c
        ");
    }

    #[test]
    fn files_cannot_act_on_the_terminal() {
        let text = shown("a\u{1b}[2J\u{1b}[31m\n", "\u{202e}\n", Look { out_colour: true, ..Look::PLAIN });
        assert!(text.contains("a\\u{1b}[2J\\u{1b}[31m") && text.contains("\\u{202e}"), "{text:?}");
        assert!(!shown("a\r\nb\r\n", "a\r\nc\r\n", Look::PLAIN).contains("u{d}"));
        assert!(shown("a\r\n", "a\n", Look::PLAIN).contains("-a\\u{d}\n+a\n"));
    }
}
