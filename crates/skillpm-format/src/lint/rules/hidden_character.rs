//! `hidden-character`

use std::ops::Range;

use crate::document::{Node, Style, Value};
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Levels, Needs, Rule, Safety, Severity, Subject};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "hidden-character",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "every character can be seen",
    docs: Docs {
        what: "Looks in frontmatter and body for characters that are invisible or reorder the text: tag \
            characters, zero-width ones, bidirectional controls, variation selectors, private use. Escapes in the \
            frontmatter that stand for one, such as `\"\\x1b[31m\"`, count too. What scripts \
            need is left alone: joiners in emoji and in the scripts that join, selectors after emoji, tags in flags.",
        why: "People read one text and the agent another: instructions can be hidden in them.",
        bad: "---\nname: pdf\ndescription: Reads\u{e0068}\u{e0069} PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "Unicode Technical Standards 39 and 51; Trojan Source, CVE-2021-42574",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The maximum number of reported places; a text with one in every word needs no longer list.
const MAX_FINDINGS: usize = 20;
/// The number of bytes examined at once.
const PIECE: usize = 64;
/// The maximum length of decoded text that is displayed.
const MAX_SHOWN: usize = 80;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let text = subject.document.text();
    // The byte-order mark at the start and control characters in the frontmatter have their own rules.
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let body = subject.document.body_span().start;
    for run in runs(text, start).into_iter().take(MAX_FINDINGS) {
        let hidden = &text[run.clone()];
        if hidden.chars().all(|c| c == '\0' || (run.start < body && c.is_control())) {
            continue;
        }
        if is_shown(text, &run) {
            continue;
        }
        let finding = RULE.finding(message(hidden), run.clone()).help("delete it; no script needs it");
        // Code may be about the character.
        let is_code = subject.document.markdown().is_code(run.start);
        // Lists and registries show the frontmatter, on terminals and pages.
        let finding = if run.start < body { finding.severity(Severity::Error) } else { finding };
        let fix = (!is_code).then(|| Fix::unsafe_("delete what is hidden", vec![Edit::delete(run)]));
        findings.push(Finding { fix, ..finding });
    }
    if let Some(frontmatter) = subject.document.frontmatter() {
        check_escapes(subject, frontmatter, findings);
    }
}

/// Reports whether `run` is one character alone between quotes or in the cell of a table: a text that is about it.
fn is_shown(text: &str, run: &Range<usize>) -> bool {
    let is_around = |c: Option<char>| c.is_some_and(|c| matches!(c, '"' | '\'' | '`' | '|' | '(' | ')'));
    let before = text[..run.start].trim_end_matches(' ').chars().next_back();
    let after = text[run.end..].trim_start_matches(' ').chars().next();
    text[run.clone()].chars().count() == 1 && is_around(before) && is_around(after)
}

/// Reports values of the frontmatter in which an escape stands for a hidden character: the text that is shown has it,
/// though the file does not.
fn check_escapes(subject: &Subject<'_>, node: &Node, findings: &mut Vec<Finding>) {
    match &node.value {
        Value::Scalar { text, style: Style::DoubleQuoted } => {
            let hidden = runs(text, 0).into_iter().map(|run| &text[run]);
            let written = &subject.document.text()[node.span.clone()];
            for hidden in hidden.filter(|hidden| !written.contains(hidden)).take(MAX_FINDINGS) {
                let told = format!("an escape stands for {}", message(hidden));
                let finding = RULE.finding(told, node.span.clone()).help("delete it; no script needs it");
                findings.push(finding.severity(Severity::Error));
            }
        }
        Value::Scalar { .. } => {}
        Value::Sequence { items, .. } => {
            for item in items {
                check_escapes(subject, item, findings);
            }
        }
        Value::Mapping { pairs, .. } => {
            for (key, value) in pairs {
                check_escapes(subject, key, findings);
                check_escapes(subject, value, findings);
            }
        }
    }
}

/// Returns a description of the hidden characters, or the message they encode if that is text.
pub(crate) fn message(hidden: &str) -> String {
    let count = hidden.chars().count();
    let first = hidden.chars().next().map_or(0, u32::from);
    let what = match (count, decoded(hidden)) {
        (_, Some(text)) => return format!("{count} hidden characters spell `{text}`"),
        (1, None) => format!("a hidden character: U+{first:04X}"),
        (_, None) => format!("{count} hidden characters, the first is U+{first:04X}"),
    };
    match hidden.chars().next().and_then(name) {
        Some(name) => format!("{what}, {name}"),
        None => what,
    }
}

fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{ad}' => "a soft hyphen",
        '\u{200b}' => "a zero-width space",
        '\u{200c}' => "a non-joiner",
        '\u{200d}' => "a joiner",
        '\u{200e}' | '\u{200f}' | '\u{61c}' => "a direction mark",
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "a direction control",
        '\u{2060}' => "a word joiner",
        '\u{feff}' => "a byte-order mark",
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => "a variation selector",
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. => "a private-use character",
        _ => return None,
    })
}

/// Returns the text encoded by the tag characters or variation selectors of `hidden`, if it is text.
fn decoded(hidden: &str) -> Option<String> {
    let byte = |c: char| {
        let number = u32::from(c);
        match number {
            0xe0020..=0xe007e => u8::try_from(number - 0xe0000).ok(),
            0xfe00..=0xfe0f => u8::try_from(number - 0xfe00).ok(),
            0xe0100..=0xe01ef => u8::try_from(number - 0xe0100 + 16).ok(),
            _ => None,
        }
    };
    let bytes: Vec<u8> = hidden.chars().filter_map(byte).collect();
    let text = String::from_utf8(bytes).ok()?;
    let text = text.trim_matches(char::is_control);
    let shown = text.chars().take(MAX_SHOWN).collect::<String>();
    (!shown.trim().is_empty() && !shown.chars().any(char::is_control)).then_some(shown)
}

/// Returns the longest runs of hidden characters from byte `from` on.
pub(crate) fn runs(text: &str, from: usize) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    // The end of the tags of a flag.
    let mut flag = 0;
    let mut at = from;
    while let Some(odd) = next_odd(text.as_bytes(), at) {
        at = odd;
        let Some(c) = text[at..].chars().next() else { break };
        let end = at + c.len_utf8();
        if is_plain(c) {
            if c == '\u{1f3f4}' {
                flag = flag_end(text, end);
            }
        } else if at >= flag && !is_allowed(c, text[end..].chars().next(), &text[..at]) {
            match runs.last_mut() {
                Some(last) if last.end == at => last.end = end,
                _ => runs.push(at..end),
            }
        }
        at = end;
    }
    runs
}

/// Returns the position of the first byte from `at` on that plain ASCII text does not contain.
fn next_odd(bytes: &[u8], at: usize) -> Option<usize> {
    let is_odd = |byte: u8| !matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
    // Each piece is examined to its end, so that many bytes are processed at once.
    let has_odd = |piece: &&[u8]| piece.iter().fold(false, |any, byte| any | is_odd(*byte));
    let rest = bytes.get(at..)?;
    let plain = rest.chunks(PIECE).take_while(|piece| !has_odd(piece)).count() * PIECE;
    rest.get(plain..)?.iter().position(|byte| is_odd(*byte)).map(|odd| at + plain + odd)
}

/// Reports whether `c` is visible. The common characters are recognized without a table.
fn is_plain(c: char) -> bool {
    match c {
        '\t'
        | '\n'
        | '\r'
        | ' '..='~'
        | '\u{a1}'..='\u{ac}'
        | '\u{ae}'..='\u{2ff}'
        | '\u{370}'..='\u{52f}'
        | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{205e}'
        | '\u{2190}'..='\u{2bff}'
        | '\u{3001}'..='\u{3163}'
        | '\u{3165}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{ff01}'..='\u{ff9f}'
        | '\u{1f300}'..='\u{1faff}' => true,
        // Invisible letters, and selectors.
        '\u{115f}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{34f}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}'
        | '\u{180b}'..='\u{180f}' => false,
        c => {
            // A character that this table does not know yet may be a new emoji or letter.
            c.general_category_group() != GeneralCategoryGroup::Other
                || (c.general_category() == GeneralCategory::Unassigned && !matches!(c, '\u{e0000}'..='\u{e0fff}'))
                // A replacement character is visible, and another rule reports it.
                || c == '\u{fffd}'
        }
    }
}

/// Returns the position after the tags that turn the black flag before byte `from` into another flag.
fn flag_end(text: &str, from: usize) -> usize {
    let tags: usize =
        text[from..].chars().take_while(|c| matches!(c, '\u{e0020}'..='\u{e007e}')).map(char::len_utf8).sum();
    let end = from + tags;
    // Subdivisions have at most six letters or digits.
    let short = tags > 0 && tags <= 6 * '\u{e0020}'.len_utf8();
    if short && text[end..].starts_with('\u{e007f}') { end + '\u{e007f}'.len_utf8() } else { from }
}

/// Reports whether the script requires `c` after `before` and in front of `next`.
fn is_allowed(c: char, next: Option<char>, before: &str) -> bool {
    let previous = before.chars().next_back().unwrap_or(' ');
    match c {
        // Zero-width joiner and non-joiner.
        '\u{200c}' | '\u{200d}' => {
            (c == '\u{200d}' && is_emoji(last_visible(before)) && next.is_some_and(is_emoji))
                || (joins(previous) && next.is_some_and(|next| joins(next) || !next.is_ascii()))
        }
        // One selector after a character with several forms; more in a row carry data.
        '\u{fe0e}' | '\u{fe0f}' => {
            is_emoji(previous) || matches!(previous, '0'..='9' | '#' | '*' | '©' | '®')
        }
        '\u{fe00}'..='\u{fe0d}' => {
            !is_selector(previous)
                && !previous.is_ascii()
                && previous.general_category_group() == GeneralCategoryGroup::Symbol
        }
        '\u{e0100}'..='\u{e01ef}' => previous.script() == Script::Han,
        '\u{180b}'..='\u{180f}' => previous.script() == Script::Mongolian,
        // Direction marks belong between scripts that run in opposite directions.
        '\u{200e}' | '\u{200f}' | '\u{61c}' => line_runs_left(before) || next.is_some_and(runs_left),
        '\u{34f}' => joins(previous) || runs_left(previous),
        // Old Korean is composed of parts.
        '\u{115f}' | '\u{1160}' => next.is_some_and(|next| next.script() == Script::Hangul),
        '\u{17b4}' | '\u{17b5}' => previous.script() == Script::Khmer,
        // Format characters specific to certain scripts: Arabic numbers, Kaithi, Egyptian.
        '\u{600}'..='\u{605}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'
        | '\u{891}'
        | '\u{8e2}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' => true,
        _ => false,
    }
}

/// Returns the last character that is not a selector.
fn last_visible(before: &str) -> char {
    before.chars().rev().find(|c| !is_selector(*c)).unwrap_or(' ')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Reports whether `c` is a symbol, which emoji are made of, or one of the few letters and marks that are emoji too.
fn is_emoji(c: char) -> bool {
    !c.is_ascii()
        && (matches!(
            c,
            '\u{1f000}'..='\u{1faff}' | '\u{2139}' | '\u{203c}' | '\u{2049}' | '\u{3030}' | '\u{303d}'
        ) || c.general_category_group() == GeneralCategoryGroup::Symbol)
}

/// Reports whether letters of `c`'s script join, so that joiners have a meaning between them.
fn joins(c: char) -> bool {
    use Script as S;
    !c.is_ascii()
        && matches!(
            c.script(),
            S::Arabic
                | S::Syriac
                | S::Nko
                | S::Mongolian
                | S::Mandaic
                | S::Thaana
                | S::Devanagari
                | S::Bengali
                | S::Gurmukhi
                | S::Gujarati
                | S::Oriya
                | S::Tamil
                | S::Telugu
                | S::Kannada
                | S::Malayalam
                | S::Sinhala
                | S::Khmer
                | S::Myanmar
                | S::Tibetan
                | S::Balinese
                | S::Javanese
                | S::Inherited
        )
}

fn runs_left(c: char) -> bool {
    use Script as S;
    may_run_left(c) && matches!(c.script(), S::Arabic | S::Hebrew | S::Syriac | S::Thaana | S::Nko)
}

/// Reports whether `c` is in a block that has right-to-left letters. This uses no table, because in a text that
/// consists only of marks it is called for each mark with all marks before it.
fn may_run_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{feff}' | '\u{10e60}'..='\u{10eff}' | '\u{1ee00}'..='\u{1eeff}'
    )
}

/// Reports whether the line up to here has right-to-left letters.
fn line_runs_left(before: &str) -> bool {
    before.chars().rev().take(200).take_while(|c| !matches!(c, '\n' | '\r')).any(runs_left)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lint::testing::*;

    fn told(text: &str) -> Vec<String> {
        let found = places(&RULE, &format!("---\nname: x\n---\n{text}\n"));
        found.into_iter().map(|(_, _, message)| message).collect()
    }

    /// THREATS, section 3: the finding shows what is hidden.
    #[test]
    fn hidden_text_is_told_and_decoded() {
        let tags: String = "rm -rf".chars().filter_map(|c| char::from_u32(u32::from(c) + 0xe0000)).collect();
        let selectors: String =
            "hi".bytes().filter_map(|byte| char::from_u32(u32::from(byte) - 16 + 0xe0100)).collect();
        for (text, message) in [
            (format!("a{tags}b"), "6 hidden characters spell `rm -rf`"),
            (format!("😀{selectors}"), "2 hidden characters spell `hi`"),
            ("a\u{200b}b".to_owned(), "a hidden character: U+200B, a zero-width space"),
            ("a\u{202e}b".to_owned(), "a hidden character: U+202E, a direction control"),
            ("a\u{200d}\u{200d}b".to_owned(), "2 hidden characters, the first is U+200D, a joiner"),
            ("a\u{fe0f}".to_owned(), "a hidden character: U+FE0F, a variation selector"),
            ("a\u{e000}".to_owned(), "a hidden character: U+E000, a private-use character"),
            ("a\u{3164}b".to_owned(), "a hidden character: U+3164"),
            ("a\u{200f}b".to_owned(), "a hidden character: U+200F, a direction mark"),
            ("a\u{9b}b".to_owned(), "a hidden character: U+009B"),
            ("a\u{1b}[2J".to_owned(), "a hidden character: U+001B"),
            ("🏴\u{e0067}\u{e0062} no end".to_owned(), "2 hidden characters spell `gb`"),
        ] {
            assert_eq!(told(&text), [message], "{text:?}");
        }
        assert_eq!(
            fixed_text(&RULE, "---\nname: x\u{200b}y\n---\n").as_deref(),
            Some("---\nname: xy\n---\n")
        );
    }

    /// A terminal obeys what is shown, not what is written.
    #[test]
    fn escapes_in_the_frontmatter_are_told() {
        let told = |value: &str| {
            let found = places(&RULE, &format!("---\nname: x\ndescription: {value}\n---\n"));
            found.into_iter().map(|(line, _, message)| (line, message)).collect::<Vec<_>>()
        };
        for (value, message) in [
            (r#""a\x1b[31m""#, "an escape stands for a hidden character: U+001B"),
            (r#""a\e[31m""#, "an escape stands for a hidden character: U+001B"),
            (r#""a\u202eb""#, "an escape stands for a hidden character: U+202E, a direction control"),
            (r#"{x: ["a\u200bb"]}"#, "an escape stands for a hidden character: U+200B, a zero-width space"),
        ] {
            assert_eq!(told(value), [(3, message.to_owned())], "{value}");
        }
        for fine in [r#""a\nb\tc \u00e9""#, r"'a\x1b[31m'", r"a\x1b"] {
            assert_eq!(told(fine), [], "{fine}");
        }
    }

    #[test]
    fn what_writing_needs_is_left_alone() {
        for text in [
            "ℹ️ 👩‍🚀 ❤️ 👨‍👩‍👧 🏳️‍🌈 1️⃣ ©️ ⚠️ 👍🏽 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} ✔︎ 👁️‍🗨️",
            "می\u{200c}خواهم क्\u{200d}ष ශ්\u{200d}රී",
            "עברית (abc)\u{200f} العربية",
            "葛\u{e0100} 한국어 日本語 — “quotes” … ½ é ﬁ Ⅷ → ├── • \u{a0}\u{3000}\u{2009}",
        ] {
            assert_eq!(told(text), Vec::<String>::new(), "{text:?}");
        }
        assert_places(&RULE, &[("\u{feff}---\nname: x\n---\né\n", &[], "")]);
    }

    #[test]
    fn all_letters_that_run_left_are_of_their_blocks() {
        use Script as S;
        for c in (0..=0x0010_ffff).filter_map(char::from_u32) {
            if matches!(c.script(), S::Arabic | S::Hebrew | S::Syriac | S::Thaana | S::Nko) {
                assert!(may_run_left(c), "{:x}", u32::from(c));
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(\\PC|\u{200d}|\u{fe0f}|🏴|\u{e0067}|\u{e007f}|😀|é){0,30}") {
            for run in runs(&text, 0) {
                prop_assert!(!message(&text[run]).is_empty());
            }
        }
    }
}
