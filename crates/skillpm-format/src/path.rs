//! Paths: paths inside a skill, and checks that need no disk.

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use unicode_normalization::{UnicodeNormalization, is_nfc};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// The maximum number of bytes in a path below a skill's directory.
pub const MAX_PATH_BYTES: usize = 240;
/// The maximum number of bytes in one component.
pub const MAX_COMPONENT_BYTES: usize = 255;
/// The maximum number of components.
pub const MAX_DEPTH: usize = 32;

/// Names that Windows reserves for devices, with any extension, and those that are reserved together with a digit.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
const PORTS: [&str; 2] = ["com", "lpt"];

/// A relative path that stays below the directory that it is joined to, on every file system.
///
/// UTF-8 in NFC with `/` between components; no empty, `.` or `..` component, no backslash, colon or invisible
/// character, no `.git` in any spelling and none of skillpm's own staging names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SafePath(Arc<str>);

/// The reason why a text is not a [`SafePath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Empty, `a//b`, or a trailing slash.
    #[error("it has an empty component")]
    Empty,
    /// `.` or `..` as a component.
    #[error("it has a `.` or `..` component")]
    Dots,
    /// It starts with a slash.
    #[error("it is absolute")]
    Absolute,
    /// A backslash, which is a separator on Windows.
    #[error("it has a backslash")]
    Backslash,
    /// A colon: a drive, or a stream of a file on Windows.
    #[error("it has a colon")]
    Colon,
    /// A control, format, private-use or unassigned character.
    #[error("it has the invisible character U+{0:04X}")]
    Invisible(u32),
    /// Not in normal form C: the name has two spellings.
    #[error("it is not in Unicode normal form C")]
    NotNfc,
    /// More bytes than [`MAX_PATH_BYTES`].
    #[error("it has {0} bytes, {max} are allowed", max = MAX_PATH_BYTES)]
    TooLong(usize),
    /// A component of more than [`MAX_COMPONENT_BYTES`].
    #[error("a component has {0} bytes, {max} are allowed", max = MAX_COMPONENT_BYTES)]
    ComponentTooLong(usize),
    /// More components than [`MAX_DEPTH`].
    #[error("it is nested {0} deep, but at most {max} is allowed", max = MAX_DEPTH)]
    TooDeep(usize),
    /// A component that git uses for its own files.
    #[error("it is part of a git repository's own files")]
    Git,
    /// A name that this program uses for staging.
    #[error("it is a name that skillpm reserves")]
    Reserved,
}

impl SafePath {
    /// Returns the path in `text`.
    ///
    /// # Errors
    ///
    /// Returns the first rule that `text` breaks.
    pub fn new(text: &str) -> Result<Self, PathError> {
        if text.starts_with('/') {
            return Err(PathError::Absolute);
        }
        if let Some(c) = text.chars().find(|c| is_forbidden(*c)) {
            return Err(match c {
                '\\' => PathError::Backslash,
                ':' => PathError::Colon,
                _ => PathError::Invisible(c.into()),
            });
        }
        let depth = text.split('/').count();
        if depth > MAX_DEPTH {
            return Err(PathError::TooDeep(depth));
        }
        for component in text.split('/') {
            check_component(component)?;
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong(text.len()));
        }
        if !text.is_ascii() && !is_nfc(text) {
            return Err(PathError::NotNfc);
        }
        Ok(Self(text.into()))
    }

    /// Returns the path as text, `/`-separated.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path with the separators of this machine. It is relative: join it to a directory.
    pub fn to_path_buf(&self) -> PathBuf {
        self.0.split('/').collect()
    }

    /// Returns the last component.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the path without its last component, or `None` if there is only one.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.into()))
    }

    /// Returns the directories above this path, outermost first.
    pub fn ancestors(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(at, _)| &self.0[..at])
    }

    /// Returns the key under which two paths are equal on a file system that folds case or normal forms.
    pub fn collision_key(&self) -> Cow<'_, str> {
        collision_key(&self.0)
    }

    /// Reports whether a part of it is a name that Windows reserves for a device.
    pub fn is_device(&self) -> bool {
        self.0.split('/').any(|component| {
            let stem = component.split('.').next().unwrap_or(component).trim_end();
            DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device))
                || (stem.ends_with(|last: char| last.is_ascii_digit())
                    && PORTS.iter().any(|port| stem[..stem.len() - 1].eq_ignore_ascii_case(port)))
        })
    }

    /// Reports whether Windows cannot store a file with this name: a device name, a trailing dot or space, or one of
    /// `<>"|?*`.
    pub fn is_unportable(&self) -> bool {
        self.is_device()
            || self.0.split('/').any(|component| {
                component.ends_with(['.', ' ']) || component.contains(['<', '>', '"', '|', '?', '*'])
            })
    }
}

/// Folds case fully and composes, so that names are equal if some file system treats them as equal.
pub fn collision_key(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        caseless::default_case_fold_str(text).nfc().collect()
    } else if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        text.to_ascii_lowercase().into()
    } else {
        text.into()
    }
}

fn is_forbidden(c: char) -> bool {
    match c {
        '\\' | ':' => true,
        c if c.is_ascii() => c.is_ascii_control(),
        c => c.general_category_group() == GeneralCategoryGroup::Other,
    }
}

fn check_component(component: &str) -> Result<(), PathError> {
    match component {
        "" => return Err(PathError::Empty),
        "." | ".." => return Err(PathError::Dots),
        _ => {}
    }
    if component.len() > MAX_COMPONENT_BYTES {
        return Err(PathError::ComponentTooLong(component.len()));
    }
    // NTFS drops trailing dots and spaces and knows `.git` as `git~1`.
    let folded = collision_key(component.trim_end_matches(['.', ' ']));
    if folded == ".git" || folded == "git~1" {
        return Err(PathError::Git);
    }
    if folded.starts_with(".skillpm") {
        return Err(PathError::Reserved);
    }
    Ok(())
}

impl FromStr for SafePath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::new(text)
    }
}

impl fmt::Display for SafePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

crate::schema_of!(SafePath as String);

impl Serialize for SafePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl AsRef<str> for SafePath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Returns `path` without `.` and `..`, which are resolved without looking at the file system.
pub fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_rule_has_its_error() {
        let cases: &[(&str, PathError)] = &[
            ("", PathError::Empty),
            ("a//b", PathError::Empty),
            ("a/", PathError::Empty),
            ("../x", PathError::Dots),
            ("a/../../x", PathError::Dots),
            ("./x", PathError::Dots),
            ("/etc/passwd", PathError::Absolute),
            ("..\\x", PathError::Backslash),
            ("C:x", PathError::Colon),
            ("SKILL.md:stream", PathError::Colon),
            ("a\0b", PathError::Invisible(0)),
            ("a\nb", PathError::Invisible(0x0A)),
            ("a\u{1b}[2J", PathError::Invisible(0x1B)),
            ("a\u{202e}b", PathError::Invisible(0x202E)),
            ("a\u{200b}b", PathError::Invisible(0x200B)),
            ("e\u{301}", PathError::NotNfc),
            (".git/hooks/post-checkout", PathError::Git),
            ("a/.GIT/config", PathError::Git),
            (".git./config", PathError::Git),
            ("GIT~1/config", PathError::Git),
            (".skillpm-tx/journal.json", PathError::Reserved),
        ];
        for (text, error) in cases {
            assert_eq!(SafePath::new(text), Err(*error), "{text:?}");
        }
        assert_eq!(SafePath::new(&["a"; 33].join("/")), Err(PathError::TooDeep(33)));
        assert_eq!(SafePath::new(&"a".repeat(256)), Err(PathError::ComponentTooLong(256)));
        assert_eq!(SafePath::new(&["abcdefgh"; 27].join("/")), Err(PathError::TooLong(242)));
    }

    /// Names that are odd and legal (zc07).
    #[test]
    fn odd_names_that_are_fine() {
        for text in
            ["a (1)/b+c.md", "-rf", "--help", ".hidden", "…/x", "日本語.md", ".gitignore", "git/x", "a.git"]
        {
            assert_eq!(SafePath::new(text).expect(text).as_str(), text);
        }
    }

    #[test]
    fn names_that_fall_together_have_one_key() {
        let key = |text: &str| SafePath::new(text).expect(text).collision_key().into_owned();
        assert_eq!(key("SKILL.md"), key("skill.MD"));
        assert_eq!(key("straße"), key("STRASSE"));
        assert_eq!(key("ﬁle"), key("FILE"));
        assert_ne!(key("a"), key("b"));
    }

    #[test]
    fn windows_names() {
        for text in ["CON", "aux.md", "x/com1.txt", "dot.", "space ", "what?"] {
            assert!(SafePath::new(text).expect(text).is_unportable(), "{text}");
        }
        assert!(!SafePath::new("console.md").expect("safe").is_unportable());
    }

    proptest! {
        #[test]
        fn a_safe_path_never_leaves_its_directory(text in "(\\PC|[./\\\\:\\x00-\\x1f]){0,40}") {
            if let Ok(path) = SafePath::new(&text) {
                prop_assert_eq!(path.as_str(), text.as_str());
                prop_assert!(path.to_path_buf().components().all(|c| matches!(c, Component::Normal(_))));
                prop_assert_eq!(path.to_string().parse::<SafePath>(), Ok(path));
            }
        }
    }
}
