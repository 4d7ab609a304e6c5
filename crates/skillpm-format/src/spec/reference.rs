//! Revisions by name.

use std::fmt;

use super::SpecError;
use crate::digest::Digest;
use crate::version::VersionRange;

/// A revision by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// A tag, branch or commit: the server decides which.
    Any(String),
    /// A tag.
    Tag(String),
    /// A branch.
    Branch(String),
    /// A commit, or the digest of an artifact.
    Rev(String),
    /// The highest version in a range: of a registry, or of the tags of a repository.
    Range(VersionRange),
}

/// Writes the form in lockfiles, which is git's own: `tags/v2`, `heads/main`, or the bare name if the kind was not
/// stated. A range is `versions/^1.2`.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any(name) | Self::Rev(name) => f.write_str(name),
            Self::Tag(name) => write!(f, "tags/{name}"),
            Self::Branch(name) => write!(f, "heads/{name}"),
            Self::Range(range) => write!(f, "versions/{range}"),
        }
    }
}

impl Reference {
    /// Returns the name without its kind.
    pub fn name(&self) -> &str {
        match self {
            Self::Any(name) | Self::Tag(name) | Self::Branch(name) | Self::Rev(name) => name,
            Self::Range(range) => range.as_str(),
        }
    }

    /// Reads the form in lockfiles. The first digits of a commit are of unknown kind there.
    pub fn from_lockfile(text: &str) -> Self {
        if let Some(name) = text.strip_prefix("tags/") {
            Self::Tag(name.to_owned())
        } else if let Some(name) = text.strip_prefix("heads/") {
            Self::Branch(name.to_owned())
        } else if let Some(Ok(range)) = text.strip_prefix("versions/").map(VersionRange::new) {
            Self::Range(range)
        } else if is_object_id(text) || text.parse::<Digest>().is_ok() {
            Self::Rev(text.to_owned())
        } else {
            Self::Any(text.to_owned())
        }
    }

    /// Returns a reference of unknown kind, or the range that `name` is: `^1.2` cannot be a name in git.
    ///
    /// # Errors
    ///
    /// Fails on a name that git refuses and that is not a range.
    pub fn any(name: &str) -> Result<Self, SpecError> {
        Self::range_or(name, Self::Any)
    }

    /// Returns a tag, or the range of tags that `name` is: `^1.2` cannot be a name in git.
    ///
    /// # Errors
    ///
    /// Fails on a name that git refuses and that is not a range.
    pub fn tag(name: &str) -> Result<Self, SpecError> {
        Self::range_or(name, Self::Tag)
    }

    fn range_or(name: &str, kind: impl FnOnce(String) -> Self) -> Result<Self, SpecError> {
        match (Self::check(name), VersionRange::new(name)) {
            (Ok(()), _) => Ok(kind(name.to_owned())),
            (Err(_), Ok(range)) => Ok(Self::Range(range)),
            (Err(error), Err(_)) => Err(error),
        }
    }

    /// Returns a commit, or the digest of an artifact.
    ///
    /// # Errors
    ///
    /// Fails on a name that git refuses and that is not a digest.
    pub fn rev(name: &str) -> Result<Self, SpecError> {
        if name.parse::<Digest>().is_err() {
            Self::check(name)?;
        }
        Ok(Self::Rev(name.to_owned()))
    }

    /// Returns the range of versions that `text` is.
    ///
    /// # Errors
    ///
    /// Fails for a text that is not a range.
    pub fn version(text: &str) -> Result<Self, SpecError> {
        VersionRange::new(text).map(Self::Range).map_err(|_| SpecError::BadRange(text.to_owned()))
    }

    /// Returns the range of versions, if it is one.
    pub fn range(&self) -> Option<&VersionRange> {
        match self {
            Self::Range(range) => Some(range),
            _ => None,
        }
    }

    /// Returns the full id of a commit in lower case, if it cannot be anything else. It never means a branch with such a
    /// name.
    pub fn commit(&self) -> Option<String> {
        self.commit_digits().filter(|digits| is_commit(digits))
    }

    /// Returns the digits in lower case, if this may be the id of a commit or the start of one.
    pub fn commit_digits(&self) -> Option<String> {
        let (Self::Any(name) | Self::Rev(name)) = self else { return None };
        let is_hex = (4..=40).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| name.to_ascii_lowercase())
    }

    /// Checks `name` against git's rules for references, as far as these keep requests harmless.
    ///
    /// # Errors
    ///
    /// Fails on a name that git refuses.
    pub fn check(name: &str) -> Result<(), SpecError> {
        let bad = name.is_empty()
            || name.len() > 250
            || name.starts_with(['-', '/', '.'])
            || name.ends_with(['/', '.'])
            || name.strip_suffix(".lock").is_some()
            || name.contains("..")
            || name.contains("//")
            || name.contains("@{")
            || name.chars().any(|c| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c));
        if bad { Err(SpecError::BadReference(name.to_owned())) } else { Ok(()) }
    }
}

/// Reports whether `text` is a full commit id.
pub fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Reports whether `text` is a full object id of git, in either of its two lengths (SHA-1, SHA-256).
pub fn is_object_id(text: &str) -> bool {
    is_commit(text) || (text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
}

/// The identity that a source lists for a path or name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// An id that changes with the content.
    Id(String),
    /// Nothing exists there.
    Absent,
    /// The source does not report it.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gg13_a_full_id_is_a_commit_whatever_the_branches_are_called() {
        let id = "ABCDEF0123".repeat(4);
        assert_eq!(Reference::Any(id.clone()).commit(), Some(id.to_ascii_lowercase()));
        assert_eq!(Reference::Branch(id).commit_digits(), None);
        let short = Reference::Any("ABC1234".into());
        assert_eq!((short.commit(), short.commit_digits().as_deref()), (None, Some("abc1234")));
        for name in ["main", "abc", "v1.0"] {
            assert_eq!(Reference::Rev(name.into()).commit_digits(), None, "{name}");
        }
    }

    #[test]
    fn the_form_of_lockfiles_reads_back() {
        for reference in [
            Reference::Tag("v1/x".into()),
            Reference::Branch("main".into()),
            Reference::Any("main".into()),
            Reference::Rev("a".repeat(40)),
            Reference::Rev(format!("sha256:{}", "a".repeat(64))),
            Reference::Range(VersionRange::new(">=1.2, <2").expect("a range")),
        ] {
            assert_eq!(Reference::from_lockfile(&reference.to_string()), reference);
        }
        // A branch of git whose name only looks like a range.
        assert_eq!(Reference::from_lockfile("versions/next"), Reference::Any("versions/next".into()));
    }

    #[test]
    fn what_git_cannot_name_may_be_a_range() {
        let range = |text| Some(Reference::Range(VersionRange::new(text).ok()?));
        assert_eq!(Reference::tag("^1.2").ok(), range("^1.2"));
        assert_eq!(Reference::any("~1").ok(), range("~1"));
        assert_eq!(Reference::any("1.2").ok(), Some(Reference::Any("1.2".into())));
        assert_eq!(Reference::tag("v1").ok(), Some(Reference::Tag("v1".into())));
        assert!(Reference::tag("^next").is_err() && Reference::any("a b").is_err());
    }
}
