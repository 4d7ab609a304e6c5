//! The skills that a skill needs: the value of `metadata.skill-dependencies`.

use std::fmt;
use std::ops::Range;

use semver::VersionReq;

use crate::name::{NameError, SkillName};
use crate::spec::{SourceSpec, SpecError};

/// The key below `metadata`.
pub const KEY: &str = "skill-dependencies";

/// One skill that a skill needs.
///
/// | text | meaning |
/// |---|---|
/// | `pdf` | the skill with that name |
/// | `pdf@^1.2` | one of its versions in a range |
/// | `pdf@>=1.2,<2` | a range of two bounds: a part that starts with an operator belongs to the part before it |
/// | `owner/repo/skills/pdf#v2` | a source, in the form for `skillpm install` |
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// A skill by name.
    Named {
        /// The name.
        name: SkillName,
        /// The accepted versions; `None` accepts any.
        range: Option<VersionReq>,
    },
    /// A skill by source.
    Source(SourceSpec),
}

/// The reason why a text is not a requirement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequirementError {
    /// Not a skill's name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Not a range of versions.
    #[error("`{text}` is not a version range: {reason}")]
    Range {
        /// The text after `@`.
        text: String,
        /// The reason.
        reason: String,
    },
    /// Not a source.
    #[error(transparent)]
    Source(#[from] SpecError),
}

/// One entry of a list of requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRequirement<'a> {
    /// The bytes of the list that it was read from.
    pub span: Range<usize>,
    /// The text.
    pub text: &'a str,
    /// The parsed requirement.
    pub requirement: Result<Requirement, RequirementError>,
}

impl Requirement {
    /// Returns the name of the required skill, if the text states it: for a source without `@skill`, the name of the
    /// last directory.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named { name, .. } => Some(name.as_str()),
            Self::Source(spec) => {
                let last = || spec.path.as_deref().and_then(|path| path.rsplit('/').next());
                spec.skill.as_deref().or_else(last)
            }
        }
    }
}

impl std::str::FromStr for Requirement {
    type Err = RequirementError;

    /// Reads one requirement.
    fn from_str(text: &str) -> Result<Self, RequirementError> {
        if text.contains(['/', ':', '\\']) || text.starts_with(['.', '~']) {
            return Ok(Self::Source(text.parse()?));
        }
        let (name, range) = match text.split_once('@') {
            Some((name, range)) => (name, Some(range)),
            None => (text, None),
        };
        let name = SkillName::new(name)?;
        let read = |range: &str| {
            VersionReq::parse(range).map_err(|error| RequirementError::Range {
                text: range.to_owned(),
                reason: error.to_string(),
            })
        };
        Ok(Self::Named { name, range: range.map(read).transpose()? })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named { name, range: None } => write!(f, "{name}"),
            Self::Named { name, range: Some(range) } => {
                write!(f, "{name}@{}", range.to_string().replace(", ", ","))
            }
            Self::Source(spec) => write!(f, "{spec}"),
        }
    }
}

/// Reads a list of requirements with spaces or commas between them.
pub fn parse_list(text: &str) -> Vec<ListedRequirement<'_>> {
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    let between = |c: char| c == ',' || c.is_whitespace();
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, between(c)) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                start = None;
                // A second bound belongs to the range before it.
                let bound =
                    text[from..].starts_with(['<', '>', '=', '^', '~']) && !text[from..].starts_with("~/");
                match spans.last_mut() {
                    Some(last) if bound && text[last.clone()].contains('@') => last.end = at,
                    _ => spans.push(from..at),
                }
            }
            _ => {}
        }
    }
    spans.into_iter().map(|span| entry(text, span)).collect()
}

fn entry(text: &str, span: Range<usize>) -> ListedRequirement<'_> {
    let text = &text[span.clone()];
    // A range of several bounds is written with commas, whichever separators the text has.
    let bounds: Vec<&str> =
        text.split([',', ' ', '\t', '\n', '\r']).filter(|part| !part.is_empty()).collect();
    ListedRequirement { span, text, requirement: bounds.join(",").parse() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<String> {
        let show = |entry: ListedRequirement<'_>| match entry.requirement {
            Ok(requirement) => requirement.to_string(),
            Err(error) => format!("error: {error}"),
        };
        parse_list(text).into_iter().map(show).collect()
    }

    /// DESIGN, section 6.
    #[test]
    fn names_ranges_and_sources() {
        assert_eq!(read("pdf, docx xlsx"), ["pdf", "docx", "xlsx"]);
        assert_eq!(read("pdf@^1.2,docx@1"), ["pdf@^1.2", "docx@^1"]);
        assert_eq!(read("pdf@>=1.2, <2 docx"), ["pdf@>=1.2,<2", "docx"]);
        assert_eq!(read("owner/repo/skills/pdf#v2"), ["github:owner/repo/skills/pdf#v2"]);
        assert_eq!(read("  \n "), Vec::<String>::new());
    }

    #[test]
    fn the_name_that_is_needed() {
        let name = |text: &str| text.parse::<Requirement>().expect(text).name().map(str::to_owned);
        assert_eq!(name("pdf@1").as_deref(), Some("pdf"));
        assert_eq!(name("owner/repo/skills/pdf#v2").as_deref(), Some("pdf"));
        assert_eq!(name("owner/repo@pdf").as_deref(), Some("pdf"));
        assert_eq!(name("owner/repo"), None);
    }

    #[test]
    fn what_is_none_of_them() {
        assert_eq!(read("PDF"), ["error: the name `PDF` has an upper-case letter"]);
        assert!(read("pdf@next")[0].starts_with("error: `next` is not a version range: "));
        assert!(read("pdf@")[0].starts_with("error: `` is not a version range"), "{:?}", read("pdf@"));
        assert!(read("<2")[0].starts_with("error: the name"));
        assert!(read("ftp://x/y")[0].starts_with("error: "));
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_what_is_right_reads_back(
            text in "([a-z]{1,4}|@|\\^1|>=1\\.2|<2|,| |/|#|:|~|é|\\.){0,12}",
        ) {
            for entry in parse_list(&text) {
                prop_assert_eq!(&text[entry.span.clone()], entry.text);
                if let Ok(requirement) = entry.requirement {
                    prop_assert_eq!(requirement.to_string().parse(), Ok(requirement));
                }
            }
        }
    }
}
