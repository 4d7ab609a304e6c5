//! Revisions by name.

use std::fmt;

use super::SpecError;

/// A revision by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// A tag, branch or commit: the server decides which.
    Any(String),
    /// A tag.
    Tag(String),
    /// A branch.
    Branch(String),
    /// A commit.
    Rev(String),
}

/// Writes the form in lockfiles, which is git's own: `tags/v2`, `heads/main`, or the bare name if the kind was not
/// stated.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any(name) | Self::Rev(name) => f.write_str(name),
            Self::Tag(name) => write!(f, "tags/{name}"),
            Self::Branch(name) => write!(f, "heads/{name}"),
        }
    }
}

impl Reference {
    /// Returns the name without its kind.
    pub fn name(&self) -> &str {
        match self {
            Self::Any(name) | Self::Tag(name) | Self::Branch(name) | Self::Rev(name) => name,
        }
    }

    /// Reads the form in lockfiles. The first digits of a commit are of unknown kind there.
    pub fn from_lockfile(text: &str) -> Self {
        if let Some(name) = text.strip_prefix("tags/") {
            Self::Tag(name.to_owned())
        } else if let Some(name) = text.strip_prefix("heads/") {
            Self::Branch(name.to_owned())
        } else if is_object_id(text) {
            Self::Rev(text.to_owned())
        } else {
            Self::Any(text.to_owned())
        }
    }

    /// Returns a reference of unknown kind.
    ///
    /// # Errors
    ///
    /// Fails on a name that git refuses.
    pub fn any(name: &str) -> Result<Self, SpecError> {
        Self::check(name)?;
        Ok(Self::Any(name.to_owned()))
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
    fn the_form_of_lockfiles_reads_back() {
        for reference in [
            Reference::Tag("v1/x".into()),
            Reference::Branch("main".into()),
            Reference::Any("main".into()),
            Reference::Rev("a".repeat(40)),
        ] {
            assert_eq!(Reference::from_lockfile(&reference.to_string()), reference);
        }
    }
}
