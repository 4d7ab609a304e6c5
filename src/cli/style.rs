//! Colours of texts and of states, and filtering of texts that may reach a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use dialoguer::console::{measure_text_width, strip_ansi_codes};

use super::printer::clean;
use skillpm_core::scope::state::SkillState;

/// Something that people type or see elsewhere.
pub(super) const LITERAL: Style = AnsiColor::Cyan.on_default();
/// Something new or good.
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Something changed, or a reason for caution.
pub(super) const CHANGED: Style = AnsiColor::Yellow.on_default().bold();
/// Something that failed or is gone.
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Something less important.
pub(super) const FAINT: Style = Style::new().dimmed();
/// A heading or label.
pub(super) const STRONG: Style = Style::new().bold();

/// The styles of the words in columns of states, the worst first. The words of [`SkillState`] are in [`style_of_skill`].
const STATES: [(Style, &[&str]); 4] = [
    (BAD, &["gone", "ref gone", "not reached", "refused", "failed"]),
    (CHANGED, &["copy edited", "changed", "held back", "moved", "tag moved", "not linked", "unknown"]),
    (GOOD, &["current", "adopted", "exit 0"]),
    (FAINT, &["not asked", "not chosen", "not needed", "tracked", "left", "-"]),
];

/// Returns the style of the state of a skill.
fn style_of_skill(state: SkillState) -> Style {
    use SkillState::{
        Conflict, Disabled, Editable, Elsewhere, Foreign, LineEnds, Missing, Modified, Ok, Unlocked,
    };
    match state {
        Missing | Conflict | Elsewhere | SkillState::Unreadable => BAD,
        Modified | LineEnds | Unlocked => CHANGED,
        Ok | Editable => GOOD,
        Disabled | Foreign | SkillState::Untracked => FAINT,
    }
}

/// Returns the style of a state. Of several states, separated by commas, the worst decides.
pub(super) fn style_of_state(state: &str) -> Option<Style> {
    let has = |words: &[&str]| state.split(", ").any(|part| words.contains(&part));
    if (state.starts_with("exit ") && !has(&["exit 0"])) || state.starts_with("signal ") {
        return Some(BAD);
    }
    let rank = |style: &Style| STATES.iter().position(|(known, _)| known == style);
    let of_skill = SkillState::ALL.into_iter().filter(|known| has(&[known.word()])).map(style_of_skill);
    let other = STATES.iter().filter(|(_, words)| has(words)).map(|(style, _)| *style);
    of_skill.chain(other).min_by_key(rank)
}

/// Appends `text`, styled if `colour` is set.
pub(super) fn paint(line: &mut String, text: &str, style: Style, colour: bool) {
    // Writing to a string cannot fail.
    let _ = if colour { write!(line, "{style}{text}{style:#}") } else { write!(line, "{text}") };
}

/// Styles the text between backticks. An unpaired backtick is an ordinary character.
pub(super) fn literals(text: &str, colour: bool) -> Cow<'_, str> {
    if !colour {
        return Cow::Borrowed(text);
    }
    let mut styled = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, literal, after)) = next_literal(rest) {
        styled.push_str(before);
        paint(&mut styled, literal, LITERAL, true);
        rest = after;
    }
    styled.push_str(rest);
    Cow::Owned(styled)
}

/// Splits `text` around its first literal, which keeps its backticks.
fn next_literal(text: &str) -> Option<(&str, &str, &str)> {
    let open = text.find('`')?;
    let close = open + 2 + text[open + 1..].find('`')?;
    Some((&text[..open], &text[open..close], &text[close..]))
}

/// Returns the width of a text in columns, which for most texts is the number of bytes.
pub(super) fn width_of(text: &str) -> usize {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if is_plain { text.len() } else { measure_text_width(text) }
}

/// Returns a line, which may have colours, as lines of at most `columns` columns: broken at blanks, so that each word stays
/// whole. Lines after the first begin with `hang`, or as much of it as leaves room for a text.
pub(super) fn folded<'a>(line: &'a str, columns: usize, hang: &str) -> Cow<'a, str> {
    if width_of(line) <= columns {
        return Cow::Borrowed(line);
    }
    let hang: String = hang.chars().take(columns / 2).collect();
    let start = line.len() - line.trim_start().len();
    let mut lines = line[..start].to_owned();
    let (mut used, mut is_first) = (start, true);
    for word in line[start..].split(' ') {
        let own = width_of(word);
        if is_first {
            is_first = false;
        } else if used + 1 + own > columns {
            lines.truncate(lines.trim_end().len());
            lines.push('\n');
            lines.push_str(&hang);
            used = width_of(&hang);
        } else {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += own;
    }
    Cow::Owned(lines)
}

/// Returns lines of data, which may have colours, each folded at `columns`, or as they are where no terminal sets a width.
/// The lines after the first begin as [`hanging`] says. Each line has an end.
pub(super) fn folded_lines(text: &str, columns: Option<usize>) -> String {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let Some(columns) = columns else { return [text, end].concat() };
    let mut lines = String::with_capacity(text.len() + 64);
    for line in text.lines() {
        lines.push_str(&folded(line, columns, &hanging(&strip_ansi_codes(line))));
        lines.push('\n');
    }
    lines
}

/// Returns the start of the lines after the first, where a line of data without colours does not fit: blanks up to the text
/// behind a label and two blanks, or the branches of a tree that go on, or two blanks more than the line itself has.
pub(super) fn hanging(line: &str) -> String {
    const BRANCHES: [char; 4] = ['│', '├', '└', '─'];
    let rails: String = line.chars().take_while(|c| *c == ' ' || BRANCHES.contains(c)).collect();
    let text = line[rails.len()..].trim_end();
    let behind = text.find("  ").map(|end| end + text[end..].len() - text[end..].trim_start().len());
    let more = match behind {
        Some(behind) => width_of(&text[..behind]),
        None if rails.is_empty() || rails.contains(BRANCHES) => 0,
        None => 2,
    };
    let go_on = |c| if matches!(c, '│' | '├') { '│' } else { ' ' };
    rails.chars().map(go_on).chain(std::iter::repeat_n(' ', more)).collect()
}

/// Cleans a text that may only contain colours (`ESC [ ... m`) as control sequences. Removes these too
/// without `colour`.
pub(super) fn clean_styled(text: &str, colour: bool) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return clean(text);
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, sequence) = rest.split_at(at);
        cleaned.push_str(&clean(before));
        let length = sequence[2..].find(|c: char| !c.is_ascii_digit() && c != ';').map_or(0, |end| end + 3);
        if sequence[..length].ends_with('m') {
            cleaned.push_str(if colour { &sequence[..length] } else { "" });
            rest = &sequence[length..];
        } else {
            cleaned.push_str(&clean(&sequence[..2]));
            rest = &sequence[2..];
        }
    }
    cleaned.push_str(&clean(rest));
    Cow::Owned(cleaned)
}

/// Escapes the characters that [`clean`] would replace in the JSON way. In JSON they can only occur inside
/// strings.
pub(super) fn escape_json(text: &str) -> Cow<'_, str> {
    if matches!(clean(text), Cow::Borrowed(_)) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 32);
    let mut buffer = [0; 4];
    for c in text.chars() {
        if matches!(clean(c.encode_utf8(&mut buffer)), Cow::Borrowed(_)) {
            escaped.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_styled_and_keep_their_backticks() {
        assert_eq!(literals("run `x` and `y`", false), "run `x` and `y`");
        assert_eq!(literals("run `x`.", true), "run \u{1b}[36m`x`\u{1b}[0m.");
        assert_eq!(literals("odd ` one", true), "odd ` one");
        assert_eq!(literals("``", true), "\u{1b}[36m``\u{1b}[0m");
    }

    /// Colours repeat the meaning of the words; the worst wins.
    #[test]
    fn states_have_colours() {
        for (state, style) in [
            ("ok", Some(GOOD)),
            ("ok, copy edited", Some(CHANGED)),
            ("disabled, conflict", Some(BAD)),
            ("exit 3, 12 ms", Some(BAD)),
            ("exit 0, 12 ms", Some(GOOD)),
            ("untracked", Some(FAINT)),
            ("something else", None),
        ] {
            assert_eq!(style_of_state(state), style, "{state}");
        }
    }

    #[test]
    fn lines_are_broken_at_blanks() {
        assert_eq!(folded("a bc d", 6, "  "), "a bc d");
        assert_eq!(folded("a bc d", 5, "  "), "a bc\n  d");
        assert_eq!(folded("hint: \u{1b}[36m`x y`\u{1b}[0m", 8, "  "), "hint: \u{1b}[36m`x\n  y`\u{1b}[0m");
        assert_eq!(
            folded("  see https://example.org/x for", 10, "    "),
            "  see\n    https://example.org/x\n    for"
        );
        assert_eq!(folded("äö üß", 5, "  "), "äö üß");
    }

    #[test]
    fn lines_that_do_not_fit_go_on_below_their_text() {
        let folded = |line: &str, columns| folded(line, columns, &hanging(line)).into_owned();
        assert_eq!(folded("a sentence of its own", 12), "a sentence\nof its own");
        assert_eq!(folded("  seen by a, b", 10), "  seen by\n    a, b");
        assert_eq!(folded("  size   one two three", 18), "  size   one two\n         three");
        assert_eq!(folded("  size   one two three", 14), "  size   one\n       two\n       three");
        assert_eq!(folded("│   ├── pdf (of a place)", 18), "│   ├── pdf (of a\n│   │   place)");
        assert_eq!(folded("└── pdf (of a place)", 14), "└── pdf (of a\n    place)");
    }

    #[test]
    fn only_colours_pass_in_styled_texts() {
        assert_eq!(clean_styled("\u{1b}[1;31mx\u{1b}[0m", true), "\u{1b}[1;31mx\u{1b}[0m");
        assert_eq!(clean_styled("\u{1b}[1;31mx\u{1b}[0m", false), "x");
        assert_eq!(clean_styled("\u{1b}[2Jx\u{1b}[", true), "\\u{1b}[2Jx\\u{1b}[");
    }
}
