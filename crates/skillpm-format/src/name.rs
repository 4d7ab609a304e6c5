//! Names of skills.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

/// The maximum number of characters in a name (specification, `name`).
pub const MAX_NAME_CHARS: usize = 64;

/// A skill's name that is valid by the specification.
///
/// 1 to 64 characters after NFKC; lower-case letters, digits and hyphens; no hyphen at an edge and no two in a row.
/// Letters and digits are those of Unicode, as in the reference validator, so `技能` is a name; letters that need a
/// combining mark are not.
///
/// A value of this type is safe as the name of one directory: it has no separator, no dot and no control character.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct SkillName(String);

/// The reason why a text is not a skill's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Empty, or only white space.
    #[error("the name is empty")]
    Empty,
    /// More characters than [`MAX_NAME_CHARS`]; the count is of characters after NFKC.
    #[error("the name has {0} characters, {max} are allowed", max = MAX_NAME_CHARS)]
    TooLong(usize),
    /// A letter with a lower-case form.
    #[error("the name `{0}` has an upper-case letter")]
    NotLowercase(String),
    /// A hyphen at the start or the end.
    #[error("the name `{0}` starts or ends with a hyphen")]
    EdgeHyphen(String),
    /// Two hyphens in a row.
    #[error("the name `{0}` has two hyphens in a row")]
    DoubleHyphen(String),
    /// A character that is not a letter, a digit or a hyphen.
    #[error("the name `{name}` contains {}; only letters, digits and hyphens are allowed", visible(*.character))]
    Character {
        /// The whole name, after NFKC.
        name: String,
        /// The first character at fault.
        character: char,
    },
}

/// Returns `character` for a message: literally if every font can display it, otherwise as its code point.
fn visible(character: char) -> String {
    match character {
        ' ' => "a space".to_owned(),
        c if c.is_ascii_graphic() => format!("`{c}`"),
        c => format!("U+{:04X}", u32::from(c)),
    }
}

impl SkillName {
    /// Returns the name in `text`, which may be surrounded by white space.
    ///
    /// # Errors
    ///
    /// Returns the first of the rules above that `text` breaks.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if is_ascii_name(text.trim()) {
            return Ok(Self(text.trim().to_owned()));
        }
        match Self::problems(text).into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(Self(normalize(text))),
        }
    }

    /// Returns the name that `text` is literally: a text with surrounding white space or in another spelling is not the
    /// name of a directory.
    pub fn exact(text: &str) -> Option<Self> {
        Self::new(text).ok().filter(|name| name.as_str() == text)
    }

    /// Lists every rule that `text` breaks, in the order in which the reference validator checks them.
    pub fn problems(text: &str) -> Vec<NameError> {
        if is_ascii_name(text.trim()) { Vec::new() } else { Self::problems_of_any(text) }
    }

    /// Does the same as [`Self::problems`], the slow way.
    fn problems_of_any(text: &str) -> Vec<NameError> {
        let name = normalize(text);
        if name.is_empty() {
            return vec![NameError::Empty];
        }
        let mut problems = Vec::new();
        let length = name.chars().count();
        if length > MAX_NAME_CHARS {
            problems.push(NameError::TooLong(length));
        }
        if name.to_lowercase() != name {
            problems.push(NameError::NotLowercase(name.clone()));
        }
        if name.starts_with('-') || name.ends_with('-') {
            problems.push(NameError::EdgeHyphen(name.clone()));
        }
        if name.contains("--") {
            problems.push(NameError::DoubleHyphen(name.clone()));
        }
        if let Some(character) = name.chars().find(|c| !is_name_char(*c)) {
            problems.push(NameError::Character { name, character });
        }
        problems
    }

    /// Returns a name made from `text` by lower-casing it and joining the remaining parts with hyphens, or `None` if
    /// nothing is left: `Ahrefs Automation` gives `ahrefs-automation`.
    pub fn slug(text: &str) -> Option<Self> {
        if is_ascii_name(text.trim()) {
            return Some(Self(text.trim().to_owned()));
        }
        let mut slug = String::new();
        for character in normalize(text).to_lowercase().chars() {
            if is_name_char(character) && character != '-' {
                slug.push(character);
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let cut: String = slug.chars().take(MAX_NAME_CHARS).collect();
        Self::new(cut.trim_matches('-')).ok()
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key under which two names are equal: on some file systems they would share a directory.
    pub fn collision_key(&self) -> String {
        // A name has no capital letters, and nothing else in ASCII has two spellings.
        if self.0.is_ascii() {
            return self.0.clone();
        }
        caseless::default_case_fold_str(&self.0).nfkc().collect()
    }

    /// Returns the first character from another alphabet than the Latin letters around it that is easily mistaken for
    /// one of them, such as a Cyrillic `а` in `pаypal`.
    pub fn homoglyph(&self) -> Option<char> {
        if self.0.is_ascii() {
            return None;
        }
        let latin = self.0.chars().any(|c| c.script() == Script::Latin);
        self.0.chars().find(|c| {
            latin
                && matches!(
                    c.script(),
                    Script::Cyrillic | Script::Greek | Script::Armenian | Script::Cherokee | Script::Coptic
                )
        })
    }
}

/// Reports whether `text` is a name by the rules for ASCII, which needs no normalization: nearly every name is, and a
/// skill's name is checked many times.
fn is_ascii_name(text: &str) -> bool {
    if !(1..=MAX_NAME_CHARS).contains(&text.len()) {
        return false;
    }
    let (mut is_name, mut before) = (true, b'-');
    // The loop runs to the end: deciding after each byte whether to continue takes longer.
    for byte in text.bytes() {
        let is_inner = byte == b'-' && before != b'-';
        is_name &= byte.is_ascii_lowercase() | byte.is_ascii_digit() | is_inner;
        before = byte;
    }
    is_name && before != b'-'
}

/// Strips white space at the edges and replaces compatibility forms by their plain ones.
fn normalize(text: &str) -> String {
    text.trim().nfkc().collect()
}

/// Reports whether the reference validator's `str.isalnum()` accepts `c`, or it is a hyphen. The standard library's
/// `is_alphanumeric` accepts combining marks too, which the reference does not.
fn is_name_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '-';
    }
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

impl FromStr for SkillName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl TryFrom<String> for SkillName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        Self::new(&text)
    }
}

impl From<SkillName> for String {
    fn from(name: SkillName) -> Self {
        name.0
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for SkillName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_specification_s_own_examples() {
        for name in ["pdf-processing", "data-analysis", "code-review", "a", "7zip", "技能", "한국어"] {
            assert_eq!(SkillName::new(name).expect(name).as_str(), name);
        }
        assert_eq!(SkillName::new("PDF-Processing"), Err(NameError::NotLowercase("PDF-Processing".into())));
        assert_eq!(SkillName::new("-pdf"), Err(NameError::EdgeHyphen("-pdf".into())));
        assert_eq!(SkillName::new("pdf--x"), Err(NameError::DoubleHyphen("pdf--x".into())));
        assert_eq!(SkillName::new(" \n"), Err(NameError::Empty));
        assert_eq!(SkillName::new(&"a".repeat(65)), Err(NameError::TooLong(65)));
        assert!(SkillName::new(&"é".repeat(64)).is_ok(), "length counts characters, not bytes");
    }

    #[test]
    fn compatibility_forms_are_the_plain_name() {
        assert_eq!(SkillName::new("ｐｄｆ－①").expect("valid after NFKC").as_str(), "pdf-1");
        assert!(matches!(SkillName::new("Ⅷ"), Err(NameError::NotLowercase(_))));
    }

    #[test]
    fn combining_marks_are_refused_as_the_reference_does() {
        for name in ["हिन्दी", "தமிழ்", "½", "a·b", "a\u{200d}b"] {
            assert!(matches!(SkillName::new(name), Err(NameError::Character { .. })), "{name}");
        }
    }

    #[test]
    fn names_that_would_leave_their_directory_are_no_names() {
        for name in ["..", ".", "a/b", "a\\b", "../../x", "a\0b", "a.b", "con:", "a b", "~", "a\u{202e}b"] {
            assert!(SkillName::new(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn a_letter_of_another_alphabet_is_told() {
        assert_eq!(SkillName::new("pаypal").expect("letters only").homoglyph(), Some('а'));
        assert_eq!(SkillName::new("技能-tools").expect("valid").homoglyph(), None);
        assert_eq!(SkillName::new("привет").expect("valid").homoglyph(), None);
    }

    #[test]
    fn slugs() {
        let slug = |text: &str| SkillName::slug(text).map(|name| name.to_string());
        assert_eq!(slug("Ahrefs Automation").as_deref(), Some("ahrefs-automation"));
        assert_eq!(slug("openakita/skills@amap-maps").as_deref(), Some("openakita-skills-amap-maps"));
        assert_eq!(slug("../.."), None);
    }

    proptest! {
        #[test]
        fn any_slug_is_a_name(text in "\\PC{0,90}") {
            if let Some(name) = SkillName::slug(&text) {
                prop_assert_eq!(SkillName::new(name.as_str()).expect("a slug is a name"), name);
            }
        }

        #[test]
        fn the_short_way_knows_exactly_the_names_in_ascii(text in "([a-z0-9]|-|A|_|\\.| |é|１|a{20}){0,8}") {
            let name = text.trim();
            let valid = name.is_ascii() && SkillName::problems_of_any(&text).is_empty();
            prop_assert_eq!(is_ascii_name(name), valid);
            prop_assert!(!valid || normalize(&text) == name);
        }

        #[test]
        fn display_round_trips(text in "[a-z0-9-]{1,70}") {
            if let Ok(name) = SkillName::new(&text) {
                prop_assert_eq!(name.to_string().parse::<SkillName>().expect("round trip"), name);
            }
        }
    }
}
