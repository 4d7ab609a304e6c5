//! The files of a skill that are listed.

use std::fmt;
use std::str::FromStr;

/// The files of a skill that are listed. Its `SKILL.md` never is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Listing {
    /// All files.
    #[default]
    All,
    /// Files in `scripts`, `references` and `assets`.
    Specified,
    /// Files whose names end in `.md`.
    Markdown,
}

impl Listing {
    /// All listings, with the names that select them.
    pub const NAMES: [(&'static str, Self); 3] =
        [("all", Self::All), ("spec-dirs", Self::Specified), ("md", Self::Markdown)];

    /// Reports whether the file at `path` below the skill's directory, `/`-separated, is listed.
    pub fn has(self, path: &str) -> bool {
        let is_listed = match self {
            Self::All => true,
            Self::Specified => path
                .split_once('/')
                .is_some_and(|(top, _)| matches!(top, "scripts" | "references" | "assets")),
            Self::Markdown => {
                path.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("md"))
            }
        };
        is_listed && !path.eq_ignore_ascii_case("SKILL.md")
    }
}

/// An error for text that names no listing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`all`, `spec-dirs` or `md` is expected")]
pub struct UnknownListing;

impl FromStr for Listing {
    type Err = UnknownListing;

    fn from_str(text: &str) -> Result<Self, UnknownListing> {
        let found = Self::NAMES.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, listing)| listing).ok_or(UnknownListing)
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "all",
            Self::Specified => "spec-dirs",
            Self::Markdown => "md",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conflict C16, S3-FR-4, S4-25.
    #[test]
    fn which_files_are_listed() {
        for (name, listing) in Listing::NAMES {
            assert_eq!((name.parse(), listing.to_string()), (Ok(listing), name.to_owned()));
        }
        assert_eq!("MD".parse::<Listing>(), Err(UnknownListing));
        for (path, all, specified, markdown) in [
            ("forms.md", true, false, true),
            ("references/a.MD", true, true, true),
            ("scripts/sub/a.py", true, true, false),
            ("scripts", true, false, false),
            ("assets/logo.png", true, true, false),
            ("docs/a.txt", true, false, false),
            ("SKILL.md", false, false, false),
            ("skill.md", false, false, false),
            ("examples/SKILL.md", true, false, true),
        ] {
            let has = [Listing::All, Listing::Specified, Listing::Markdown].map(|listing| listing.has(path));
            assert_eq!(has, [all, specified, markdown], "{path}");
        }
    }
}
