//! A quick look at a Markdown text, for what it may contain.
//!
//! A Markdown parser would take most of the time spent on a skill, and most skills have nothing for it to find. So the
//! text is first searched for the marks that every link and comment needs. This also finds them in code, where they
//! mean nothing; but if it finds nothing, there is nothing. The tests compare it with the parser.

use super::target::{Target, is_plain};

/// The maximum number of places; the parser, which knows its own limits, handles more.
const MAX_TARGETS: usize = 256;
/// The usual maximum length of a destination.
const NEAR: usize = 64;
/// The maximum length of a destination; the parser handles longer ones, each of which may hold the start of the next.
const MAX_DESTINATION: usize = 4096;

/// The possible contents of a Markdown text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Prefilter {
    /// The possible targets of links.
    targets: Vec<Target>,
    /// Whether only the parser can tell where links lead.
    unclear: bool,
    /// Whether there may be an HTML comment.
    pub(crate) comment: bool,
    /// Whether there is a backslash.
    pub(crate) backslash: bool,
}

impl Prefilter {
    /// Examines `text`.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut sketch = Self::default();
        for at in memchr::memchr3_iter(b']', b'<', b'\\', bytes) {
            let rest = &text[at + 1..];
            match (bytes[at], rest.as_bytes().first()) {
                (b'\\', _) => sketch.backslash = true,
                (b'<', Some(b'!')) => sketch.comment |= rest.starts_with("!--"),
                _ if sketch.unclear => {}
                (b']', Some(b'(')) => sketch.inline(&rest[1..]),
                (b']', Some(b':')) => sketch.definition(&rest[1..]),
                (b'<', Some(first)) if first.is_ascii_alphabetic() => sketch.address(rest),
                _ => {}
            }
        }
        sketch
    }

    /// Returns the possible targets of links, and some more. Returns `None` if only the parser can tell.
    pub(crate) fn targets(&self) -> Option<&[Target]> {
        (!self.unclear).then_some(&self.targets)
    }

    /// Reports whether a link may lead to a `wanted` target.
    pub(crate) fn may_lead(&self, wanted: impl Fn(&Target) -> bool) -> bool {
        self.unclear || self.targets.iter().any(wanted)
    }

    /// Reads the text after `](`.
    fn inline(&mut self, rest: &str) {
        let rest = rest.trim_start_matches([' ', '\t']);
        // The next line may start with quote markers.
        if rest.starts_with(['\n', '\r']) {
            self.unclear = true;
        } else {
            self.destination(rest);
        }
    }

    /// Reads the text after `]:`, on this line or on the next one, which may be in a quote.
    fn definition(&mut self, rest: &str) {
        let here = rest.trim_start_matches([' ', '\t']);
        if here.starts_with(['\n', '\r']) {
            // No target of interest starts with such a mark: it would be a placeholder.
            self.destination(here.trim_start_matches([' ', '\t', '\n', '\r', '>']));
        } else {
            self.destination(here);
        }
    }

    /// Reads a link destination that is not in angle brackets: up to a blank, or up to an unmatched parenthesis.
    fn destination(&mut self, rest: &str) {
        // Nearly every one is a plain path up to the next parenthesis, which is near.
        let near = &rest.as_bytes()[..rest.len().min(NEAR)];
        if let Some(path) = memchr::memchr(b')', near).map(|end| &rest[..end]).filter(|path| is_plain(path)) {
            return self.add_plain(path);
        }
        let mut depth = 0_usize;
        let mut end = rest.len();
        for (at, byte) in rest.bytes().enumerate() {
            match byte {
                _ if at == MAX_DESTINATION => return self.unclear = true,
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b' ' | b'\t' | b'\n' | b'\r' | b')' => {
                    end = at;
                    break;
                }
                // Angle brackets, escapes, entities: only the parser knows what they mean.
                b'<' if at == 0 => return self.unclear = true,
                b'\\' | b'&' | ..b' ' | 0x7f => return self.unclear = true,
                _ => {}
            }
        }
        self.add(Target::of(&rest[..end], ""));
    }

    /// Reads the text after `<`, if it is an address such as `<https://example.org>`.
    fn address(&mut self, rest: &str) {
        let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let scheme = rest.bytes().take_while(|byte| is_scheme(byte)).count();
        if rest.as_bytes().get(scheme) == Some(&b':')
            && let Some(end) = rest.find(|c: char| matches!(c, '>' | '<') || c.is_ascii_whitespace())
        {
            self.add(Target::of(&rest[..end], ""));
        }
    }

    /// Adds the path `path` like [`Self::add`], but does not copy it if it is there already.
    fn add_plain(&mut self, path: &str) {
        if !self.targets.iter().any(|target| matches!(target, Target::Inside(known) if known == path)) {
            self.add(Target::Inside(path.to_owned()));
        }
    }

    fn add(&mut self, target: Target) {
        match target {
            Target::Elsewhere => {}
            _ if self.targets.len() == MAX_TARGETS => self.unclear = true,
            target if self.targets.contains(&target) => {}
            target => self.targets.push(target),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::Markdown;

    fn targets(text: &str) -> Option<Vec<Target>> {
        Prefilter::of(text).targets().map(<[_]>::to_vec)
    }

    /// Checks that the prefilter finds everything that the parser finds.
    fn holds(text: &str) -> Result<(), TestCaseError> {
        let (markdown, sketch) = (Markdown::parse(text, 0), Prefilter::of(text));
        for link in &markdown.links {
            let target = Target::of(&link.target, "");
            let found = target == Target::Elsewhere || sketch.may_lead(|other| *other == target);
            prop_assert!(found, "{:?}: {:?}", text, link);
        }
        for html in &markdown.html {
            prop_assert!(sketch.comment || !text[html.clone()].contains("<!--"), "{:?}", text);
        }
        Ok(())
    }

    #[test]
    fn usual_links_are_found_without_the_parser() {
        let inside = |path: &str| Target::Inside(path.to_owned());
        for (text, expected) in [
            ("no link, a[0] and [x]", vec![]),
            (
                "[a](b.md) ![c]( d/e.png \"t\") [f](https://x.y) [g](#h)",
                vec![inside("b.md"), inside("d/e.png")],
            ),
            ("[a]: b.md 'c'\n[d]:\n  e(1).md\n", vec![inside("b.md"), inside("e(1).md")]),
            ("[a](b(1).md) `[c](d.md)`", vec![inside("b(1).md"), inside("d.md")]),
            (
                "[a](../b.md) [a](../b.md) [c](/d) <file:///e> <https://x>",
                vec![Target::Outside("../b.md".to_owned()), Target::Absolute],
            ),
        ] {
            assert_eq!(targets(text), Some(expected), "{text}");
        }
        for text in ["[a](<b c.md>)", "[a](b\\_c.md)", "[a](b&amp;c.md)", "[a](\nb.md)", "[a]: <b.md>"] {
            assert_eq!(targets(text), None, "{text}");
        }
        assert!(Prefilter::of("a <!-- b -->").comment && !Prefilter::of("a <!b> <- --").comment);
        assert!(Prefilter::of("a\\").backslash && !Prefilter::of("a/b").backslash);
    }

    /// A text that consists only of links needs no more memory than others.
    #[test]
    fn the_list_is_bounded() {
        let links: Vec<_> = (0..=MAX_TARGETS).map(|number| format!("[a]({number}.md)")).collect();
        assert_eq!(targets(&links.join("\n")), None);
        assert_eq!(targets(&links[1..].join("\n")).map(|targets| targets.len()), Some(MAX_TARGETS));
    }

    /// Destinations that are never closed, each of which would contain all that follow.
    #[test]
    fn a_destination_is_looked_at_as_far_as_people_write_them() {
        assert_eq!(targets(&format!("[a](https://{})", "x".repeat(MAX_DESTINATION - 9))), Some(vec![]));
        assert_eq!(targets(&"[a](https://x".repeat(MAX_DESTINATION)), None);
    }

    /// Like the proptest, with real skills.
    #[test]
    fn nothing_in_real_skills_is_missed() {
        skillpm_testing::real_skills(|text| holds(text).expect("the sketch finds it"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn nothing_is_missed(
            text in "(\\[|\\]|\\(|\\)|\\]\\(|\\]: |\\[a\\]: |\\[\\^a\\]: |\\[a\\]\\(|!\\[|a\\.md|/|\\.\\./|b|:|<|>|<file:|<ab:|<!--|-->|\\n|\\r\\n|\r|\n> |\n    |\n- |`|```|\\\\|&amp;|&#47;|%2e|#|\\?|\"t\"| |\t|\\|\n|\n\\|---\\|\n\\||\u{a0}|\u{b}|\u{7f}|\0|é|\\*|~|C:){0,30}",
        ) {
            holds(&text)?;
        }

        #[test]
        fn nothing_is_missed_in_links(
            parts in proptest::collection::vec(
                ("(\\[x\\]\\(|\\[y\\]: ?|!\\[x\\]\\(|\n\\[y\\]:\n ?|\n> \\[y\\]:\n> )", "( ?(a|b\\.md|\\(|\\)|/|\\.\\.|<|>|\\\\|&lt;|:|\\||é| |\n|\t|\u{b}){0,8})", "(\\)|\n| \"t\"\\)|>\\)|)"),
                0..4,
            ),
        ) {
            let mut text = String::new();
            for (open, inner, close) in parts {
                text += &(open + &inner + &close + " [y] ");
            }
            holds(&text)?;
        }
    }
}
