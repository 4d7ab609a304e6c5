//! Tags that are versions: which are of the same shape, and which is the highest.

use crate::spec::Reference;
use crate::version::Version;

/// The way a tag writes a version: `v1.2.3`, `1.2.3`, `name-v1.2.3` or `name/1.2.3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape<'a> {
    /// The part before the version.
    prefix: &'a str,
    version: Version,
}

impl<'a> Shape<'a> {
    /// Parses the tag `name`. Returns `None` if it does not end in a version.
    pub(super) fn of(name: &'a str) -> Option<Self> {
        let begins = |at: usize| {
            let before = name[..at].strip_suffix(['v', 'V']);
            let mut last = before.unwrap_or(&name[..at]).chars().rev();
            match (last.next(), before) {
                (Some(mark), _) if mark.is_alphanumeric() => false,
                // `2026-01-15` is a date.
                (Some(_), None) => !last.next().is_some_and(|c| c.is_ascii_digit()),
                (None, _) | (Some(_), Some(_)) => true,
            }
        };
        let digits = name.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at);
        digits.filter(|at| begins(*at)).find_map(|at| {
            let version = Version::new(&name[at..]).ok()?;
            Some(Self { prefix: &name[..at], version })
        })
    }

    /// Returns the part before the version.
    pub(super) fn prefix(&self) -> &'a str {
        self.prefix
    }

    /// Returns the highest version above this one among `tags`, by the order of Semantic Versioning: only of
    /// the same shape, and a pre-release only if this one is a pre-release.
    ///
    /// A single number (`v1`) is a tag that moves with each release of that number, so only its like (`v2`)
    /// follows it, and it follows nothing else.
    pub(super) fn highest<'t>(&self, tags: impl Iterator<Item = &'t str>) -> Option<&'t str> {
        let early = |version: &Version| !version.number().pre.is_empty();
        tags.filter(|tag| Reference::check(tag).is_ok())
            .filter_map(|tag| Some((Shape::of(tag)?, tag)))
            .filter(|(shape, _)| {
                shape.prefix == self.prefix
                    && (numbers(&shape.version) == 1) == (numbers(&self.version) == 1)
                    && (early(&self.version) || !early(&shape.version))
                    && shape.version > self.version
            })
            // Of two equal versions, prefers the one with the same spelling as this one.
            .max_by(|(a, _), (b, _)| {
                let like = |shape: &Shape<'_>| numbers(&shape.version) == numbers(&self.version);
                a.version.cmp(&b.version).then_with(|| like(a).cmp(&like(b)))
            })
            .map(|(_, tag)| tag)
    }
}

/// Returns how many numbers `version` has as written.
fn numbers(version: &Version) -> usize {
    let text = version.as_str();
    1 + text[..text.find(['-', '+']).unwrap_or(text.len())].matches('.').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_at_the_end() {
        for (tag, expected) in [
            ("v1.2.3", Some(("v", "1.2.3"))),
            ("1.10", Some(("", "1.10"))),
            ("pdf-v1.2.3", Some(("pdf-v", "1.2.3"))),
            ("pdf/1.2.3", Some(("pdf/", "1.2.3"))),
            ("@acme/pdf@1.2.3-rc.1", Some(("@acme/pdf@", "1.2.3-rc.1"))),
            ("s3-v2", Some(("s3-v", "2"))),
            ("release_4", Some(("release_", "4"))),
            ("pdf-2-v1.0", Some(("pdf-2-v", "1.0"))),
            ("v1.2.3-4", Some(("v", "1.2.3-4"))),
            ("main", None),
            ("py3", None),
            ("2026-01-15", None),
            ("v1.2.3.4", None),
            ("v1.2.3 ", Some(("v", "1.2.3"))),
            ("", None),
            ("é1.0", None),
        ] {
            let shape = Shape::of(tag);
            let shape = shape.as_ref().map(|shape| (shape.prefix, shape.version.as_str()));
            assert_eq!(shape, expected, "{tag}");
        }
    }

    fn highest(pin: &str, tags: &[&'static str]) -> Option<&'static str> {
        Shape::of(pin).expect(pin).highest(tags.iter().copied())
    }

    /// DESIGN, section 6: the order of Semantic Versioning, in which `1.10` is above `1.9`.
    #[test]
    fn the_highest_of_the_same_shape() {
        assert_eq!(highest("v1.9", &["v1.9", "v1.10", "v1.2", "v2.0-rc.1"]), Some("v1.10"));
        assert_eq!(highest("v1.9", &["1.10", "pdf-v2.0", "main", "v1.8"]), None);
        assert_eq!(highest("v2.0-rc.1", &["v2.0-rc.10", "v2.0-rc.9"]), Some("v2.0-rc.10"));
        assert_eq!(highest("v2.0-rc.1", &["v2.0-rc.2", "v2.0"]), Some("v2.0"));
        assert_eq!(highest("pdf/1.0.0", &["pdf/1.0.1", "docx/9.0.0"]), Some("pdf/1.0.1"));
    }

    #[test]
    fn tags_that_move_follow_each_other() {
        assert_eq!(highest("v1", &["v1", "v1.9.9", "v2", "v2.1.0"]), Some("v2"));
        assert_eq!(highest("v1.0.0", &["v2", "v1.9.9"]), Some("v1.9.9"));
        assert_eq!(highest("v1.0.0", &["v2.0", "v2.0.0"]), Some("v2.0.0"));
        assert_eq!(highest("v1.0.0", &["v2.0.0", "v2.0"]), Some("v2.0.0"));
    }

    /// THREATS 6: the names of tags come from a stranger.
    #[test]
    fn names_that_git_does_not_allow_are_passed_over() {
        assert_eq!(highest("v1.0", &["v9.0\u{1b}[2J", "v9.0 ", "\tv9.0", "v9.0~", "v1.1"]), Some("v1.1"));
    }
}
