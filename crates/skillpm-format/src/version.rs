//! Versions of skills: labels for users, and values that ranges are compared with.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A version according to Semantic Versioning 2.0, with the text it was read from.
///
/// The specification does not define versions; `metadata.version` in its example is `"1.0"`. So one or two numbers are
/// accepted as well, with the missing ones taken as 0. The text is kept: `1.10` stays `1.10`.
///
/// Two versions are equal if ranges cannot distinguish them: `1.0` and `1.0.0` are.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    text: String,
    number: semver::Version,
}

/// The reason why a text is not a version or a range of versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// Empty, or only white space.
    #[error("the version is empty")]
    Empty,
    /// Not Semantic Versioning.
    #[error("`{text}` is not a version: {reason}")]
    Invalid {
        /// The text.
        text: String,
        /// The reason.
        reason: String,
    },
    /// Not a range of versions.
    #[error("`{text}` is not a version range: {reason}")]
    NotARange {
        /// The text.
        text: String,
        /// The reason.
        reason: String,
    },
}

/// The part of a version that is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bump {
    /// The first number: incompatible changes.
    Major,
    /// The second number: additions.
    Minor,
    /// The third number: corrections.
    Patch,
}

impl Version {
    /// Reads a version, ignoring surrounding white space.
    ///
    /// # Errors
    ///
    /// Fails if the text is not Semantic Versioning, except that one or two numbers are accepted.
    pub fn new(text: &str) -> Result<Self, VersionError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(VersionError::Empty);
        }
        match semver::Version::parse(&completed(text)) {
            Ok(number) => Ok(Self { text: text.to_owned(), number }),
            Err(error) => Err(VersionError::Invalid { text: text.to_owned(), reason: error.to_string() }),
        }
    }

    /// Returns the version as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the next version: the part that `bump` names is raised, and the parts after it become 0. A pre-release
    /// becomes its release if that is such a step: `2.0.0-rc.1` becomes `2.0.0` by each of the three.
    ///
    /// As many numbers are written as before if the raised one is among them, otherwise three: `1.2` becomes `1.3`, and
    /// `1.2.1` by a patch. Returns `None` if a number is too large.
    pub fn bumped(&self, bump: Bump) -> Option<Self> {
        let semver::Version { major, minor, patch, .. } = self.number;
        let is_pre = !self.number.pre.is_empty();
        let raised = |number: u64, is_reached: bool| number.checked_add(u64::from(!(is_pre && is_reached)));
        let numbers = match bump {
            Bump::Major => [raised(major, minor == 0 && patch == 0)?, 0, 0],
            Bump::Minor => [major, raised(minor, patch == 0)?, 0],
            Bump::Patch => [major, minor, raised(patch, true)?],
        };
        let last = match bump {
            Bump::Major => 1,
            Bump::Minor => 2,
            Bump::Patch => 3,
        };
        let end = self.text.find(['-', '+']).unwrap_or(self.text.len());
        let written = self.text[..end].split('.').count();
        let count = if written < last { 3 } else { written };
        let texts: Vec<String> = numbers.iter().take(count).map(u64::to_string).collect();
        Self::new(&texts.join(".")).ok()
    }

    /// Returns the lowest version that can be published next beside this one if `published` are: the one after the
    /// highest version with the same first two numbers.
    pub fn next_patch<'a>(&self, published: impl IntoIterator<Item = &'a Self>) -> String {
        let semver::Version { major, minor, patch, .. } = self.number;
        let is_beside = |there: &&semver::Version| (there.major, there.minor) == (major, minor);
        let releases = published.into_iter().map(Self::number).filter(|there| there.pre.is_empty());
        let highest = releases.filter(is_beside).map(|there| there.patch).max();
        let patch = highest.map_or(patch, |patch| patch.saturating_add(1));
        format!("{major}.{minor}.{patch}")
    }

    /// Returns the version in the form of Semantic Versioning.
    pub fn number(&self) -> &semver::Version {
        &self.number
    }
}

/// Returns `text` with its missing numbers added: `1` and `1.0` become `1.0.0`, `1.0-rc` becomes `1.0.0-rc`. A single
/// number with a suffix is not completed, otherwise dates such as `2026-01-01` would be versions.
fn completed(text: &str) -> String {
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    let missing = match numbers.matches('.').count() {
        0 if rest.is_empty() => ".0.0",
        1 => ".0",
        _ => "",
    };
    format!("{numbers}{missing}{rest}")
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number.cmp(&other.number)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        Self::new(text)
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        Self::new(&text)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.text
    }
}

/// A range of versions, such as `^1.2` or `>=1.2, <2`, with the text it was read from. The rules are those of cargo: a
/// bare `1.2` means `^1.2`, and a pre-release is in a range only if the range names one of the same three numbers.
///
/// Ranges are compared by their texts.
#[derive(Debug, Clone)]
pub struct VersionRange {
    text: String,
    parsed: semver::VersionReq,
}

impl VersionRange {
    /// Reads a range, ignoring surrounding white space.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a range.
    pub fn new(text: &str) -> Result<Self, VersionError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(VersionError::Empty);
        }
        match semver::VersionReq::parse(text) {
            Ok(parsed) => Ok(Self { text: text.to_owned(), parsed }),
            Err(error) => Err(VersionError::NotARange { text: text.to_owned(), reason: error.to_string() }),
        }
    }

    /// Returns the version that the range looks like: it is written as all three numbers of one, without a sign.
    pub fn as_version(&self) -> Option<Version> {
        Version::new(&self.text)
            .ok()
            .filter(|_| self.text.split(['-', '+']).next().is_some_and(|it| it.matches('.').count() == 2))
    }

    /// Returns the range that a requirement on `version` is written as: all later versions that are compatible, and for
    /// a pre-release exactly that one.
    pub fn compatible_with(version: &Version) -> Self {
        if version.number().pre.is_empty() {
            Self::of(semver::Op::Caret, '^', version)
        } else {
            Self::exactly(version)
        }
    }

    /// Returns the range that contains only `version`, with any build metadata.
    pub fn exactly(version: &Version) -> Self {
        Self::of(semver::Op::Exact, '=', version)
    }

    fn of(op: semver::Op, sign: char, version: &Version) -> Self {
        let number = version.number();
        let plain = semver::Version { build: semver::BuildMetadata::EMPTY, ..number.clone() };
        let text = format!("{sign}{plain}");
        let comparator = semver::Comparator {
            op,
            major: number.major,
            minor: Some(number.minor),
            patch: Some(number.patch),
            pre: number.pre.clone(),
        };
        Self { text, parsed: semver::VersionReq { comparators: vec![comparator] } }
    }

    /// Returns the range of all versions but pre-releases.
    pub fn any() -> Self {
        Self { text: "*".to_owned(), parsed: semver::VersionReq::STAR }
    }

    /// Returns the range as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the parsed range.
    pub fn parsed(&self) -> &semver::VersionReq {
        &self.parsed
    }

    /// Reports whether `version` is in the range.
    pub fn contains(&self, version: &Version) -> bool {
        self.parsed().matches(version.number())
    }
}

impl PartialEq for VersionRange {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for VersionRange {}

impl Hash for VersionRange {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialOrd for VersionRange {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for VersionRange {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_are_read_as_cargo_reads_them() {
        let contains = |range: &str, version: &str| {
            VersionRange::new(range).expect(range).contains(&Version::new(version).expect(version))
        };
        assert!(contains("1.2", "1.9") && !contains("1.2", "2") && contains("*", "7.0.1"));
        assert!(contains(">=1.2, <2", "1.10") && !contains("^1", "1.5.0-rc.1"));
        assert!(contains("^1.5.0-rc.1", "1.5.0-rc.2"));
        for text in ["", "next", "^", "1.x.y"] {
            assert!(VersionRange::new(text).is_err(), "{text}");
        }
        let compatible = |text| VersionRange::compatible_with(&Version::new(text).expect(text)).to_string();
        assert_eq!(compatible("1.2"), "^1.2.0");
        assert_eq!(compatible("2.0-rc.1+b"), "=2.0.0-rc.1");
    }

    /// DESIGN: `1.10` must never become `1.1`.
    #[test]
    fn short_versions_are_read_and_kept_as_written() {
        for (text, number) in [
            ("1", "1.0.0"),
            ("1.0", "1.0.0"),
            ("1.10", "1.10.0"),
            (" 1.2.3 ", "1.2.3"),
            ("2.0-rc.1", "2.0.0-rc.1"),
            ("1.0+build.7", "1.0.0+build.7"),
        ] {
            let version = Version::new(text).expect(text);
            assert_eq!((version.as_str(), version.number().to_string().as_str()), (text.trim(), number));
        }
        assert_eq!(Version::new("1.0"), Version::new("1.0.0"));
        assert!(Version::new("1.10").expect("valid") > Version::new("1.9").expect("valid"));
        assert!(Version::new("1.0-rc.1").expect("valid") < Version::new("1").expect("valid"));
    }

    #[test]
    fn the_next_version_is_written_like_the_one_before() {
        for (text, major, minor, patch) in [
            ("1.2.3", "2.0.0", "1.3.0", "1.2.4"),
            ("1.2", "2.0", "1.3", "1.2.1"),
            ("1.9", "2.0", "1.10", "1.9.1"),
            ("1", "2", "1.1.0", "1.0.1"),
            ("2.0.0-rc.1", "2.0.0", "2.0.0", "2.0.0"),
            ("2.1.0-rc.1", "3.0.0", "2.1.0", "2.1.0"),
            ("2.1.1-rc.1+5", "3.0.0", "2.2.0", "2.1.1"),
            ("2.0-rc.1", "2.0", "2.0", "2.0.0"),
            ("1.2.3+5", "2.0.0", "1.3.0", "1.2.4"),
        ] {
            let version = Version::new(text).expect(text);
            let next = [Bump::Major, Bump::Minor, Bump::Patch]
                .map(|bump| version.bumped(bump).expect("fits").to_string());
            assert_eq!(next, [major, minor, patch], "{text}");
        }
        let largest = Version::new(&format!("{0}.{0}.{0}", u64::MAX)).expect("a version");
        assert_eq!(largest.bumped(Bump::Patch), None);
    }

    #[test]
    fn other_texts_are_no_versions() {
        assert_eq!(Version::new(" "), Err(VersionError::Empty));
        for text in ["v1.0.0", "1.0.0.0", "1.x", "01.0", "2026-01-01", "latest", "1..2", "1.2.3-", "é"] {
            assert!(Version::new(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_next_version_is_higher(text in "[0-9]{1,3}(\\.[0-9]{1,3}){0,2}(-[a-z0-9]{1,5})?") {
            if let Ok(version) = Version::new(&text) {
                for bump in [Bump::Major, Bump::Minor, Bump::Patch] {
                    prop_assert!(version.bumped(bump).expect("small numbers") > version);
                }
            }
        }

        #[test]
        fn a_version_reads_back(text in "[0-9]{1,3}(\\.[0-9]{1,3}){0,3}(-[a-z0-9.]{1,5})?|\\PC{0,12}") {
            if let Ok(version) = Version::new(&text) {
                let again: Version = version.to_string().parse().expect("reads back");
                prop_assert_eq!(again.as_str(), text.trim());
                prop_assert_eq!(again, version);
            }
        }
    }
}
