//! How a catalog looks.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::Told;
use crate::text::{closest, is_plain_line, visible, visible_name, xml_with};

/// How many bytes a skill takes, about.
const SKILL: usize = 480;
/// How large a piece of a catalog grows before it is handed on.
const PIECE: usize = 64 << 10;

/// How a catalog looks (conflict C27).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CatalogForm {
    /// `<available_skills>`, each value in its tag on one line, as the guide for clients has it.
    #[default]
    Xml,
    /// The same with tags and values on lines of their own and descriptions as they are written: what
    /// the reference's `to-prompt` prints.
    Reference,
    /// An object with a list of skills.
    Json,
    /// A list of Markdown.
    Markdown,
    /// Lines of text.
    Plain,
}

/// Something that is reported about a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Its name.
    Name,
    /// What it does and when to use it.
    Description,
    /// Its `SKILL.md`.
    Location,
    /// What it needs around it.
    Compatibility,
    /// The tools that it asks for.
    AllowedTools,
    /// What it is filed under.
    Tags,
    /// Its version.
    Version,
    /// Its other files.
    Files,
}

/// A text that names no form, or no field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{given}`; available: {all}")]
pub struct UnknownWord {
    what: &'static str,
    given: String,
    all: String,
    /// What was probably meant.
    pub closest: Option<&'static str>,
}

fn find<T: Copy>(what: &'static str, words: &[(&'static str, T)], given: &str) -> Result<T, UnknownWord> {
    let found = words.iter().find(|(word, _)| *word == given);
    found.map(|(_, value)| *value).ok_or_else(|| UnknownWord {
        what,
        given: given.to_owned(),
        all: words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        closest: closest(given, words.iter().map(|(word, _)| *word)),
    })
}

fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> &'static str {
    words.iter().find(|(_, other)| other == value).map_or("", |(word, _)| word)
}

impl CatalogForm {
    /// All of them, by the names under which they are chosen.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("xml", Self::Xml),
        ("reference", Self::Reference),
        ("json", Self::Json),
        ("markdown", Self::Markdown),
        ("plain", Self::Plain),
    ];
}

impl Field {
    /// All of them, by the names under which they are chosen.
    pub const NAMES: [(&'static str, Self); 8] = [
        ("name", Self::Name),
        ("description", Self::Description),
        ("location", Self::Location),
        ("compatibility", Self::Compatibility),
        ("allowed-tools", Self::AllowedTools),
        ("tags", Self::Tags),
        ("version", Self::Version),
        ("files", Self::Files),
    ];
}

impl FromStr for CatalogForm {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        find("form", &Self::NAMES, text)
    }
}

impl FromStr for Field {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        find("field", &Self::NAMES, text)
    }
}

impl fmt::Display for CatalogForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word(&Self::NAMES, self))
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word(&Self::NAMES, self))
    }
}

/// `value` in lines of JSON, in which nothing starts a comment of HTML.
pub(super) fn json(value: &impl Serialize) -> String {
    // A value without maps of other keys than strings, and without foreign types, always serializes.
    serde_json::to_string_pretty(value).unwrap_or_default().replace("<!--", "\\u003c!--") + "\n"
}

/// The text of a catalog while it is made.
pub(super) struct Lines<P> {
    form: CatalogForm,
    /// The piece that was not passed on as yet.
    text: String,
    pass: P,
}

impl<P: FnMut(&str)> Lines<P> {
    /// Adds a skill.
    pub(super) fn add(&mut self, skill: &Told<'_>) {
        let (form, text) = (self.form, &mut self.text);
        match form {
            CatalogForm::Json => {}
            CatalogForm::Xml => {
                form.element(text, skill, ("  <skill>\n", "  </skill>\n"), ("    <", ">", "</"));
            }
            CatalogForm::Reference => {
                form.element(text, skill, ("<skill>\n", "</skill>\n"), ("<", ">\n", "\n</"));
            }
            CatalogForm::Markdown => form.item(text, skill, ("- **", "**", "  - ")),
            CatalogForm::Plain => form.item(text, skill, ("", "", "  ")),
        }
        if self.text.len() >= PIECE {
            (self.pass)(&self.text);
            self.text.clear();
        }
    }

    /// Ends the text.
    pub(super) fn end(mut self) {
        if self.form.is_xml() {
            self.text.push_str("</available_skills>\n");
        }
        (self.pass)(&self.text);
    }
}

impl CatalogForm {
    /// Returns the text of a catalog of `told`.
    pub(super) fn render(self, told: &[Told<'_>]) -> String {
        if self == Self::Json {
            return json(&told);
        }
        let mut text = String::with_capacity(told.len() * SKILL);
        let mut lines = self.lines(told.len(), |piece| text.push_str(piece));
        for skill in told {
            lines.add(skill);
        }
        lines.end();
        text
    }

    /// Works like [`Self::render`], one skill after the other and piece by piece, for every form but JSON: of thousands
    /// nobody needs all of the text at once. There are `count` skills, and each piece is passed on.
    pub(super) fn lines<P: FnMut(&str)>(self, count: usize, pass: P) -> Lines<P> {
        let mut text = String::with_capacity(count.saturating_mul(SKILL).min(PIECE + SKILL));
        if self.is_xml() {
            text.push_str("<available_skills>\n");
        }
        Lines { form: self, text, pass }
    }

    fn is_xml(self) -> bool {
        matches!(self, Self::Xml | Self::Reference)
    }

    fn element(
        self,
        text: &mut String,
        skill: &Told<'_>,
        (start, end): (&str, &str),
        (open, opened, close): (&str, &str, &str),
    ) {
        text.push_str(start);
        let mut tag = |tag: &str, value: &str| {
            text.extend([open, tag, opened, value, close, tag, ">\n"]);
        };
        tag("name", &self.escaped(&skill.name));
        each(skill, |field, value| {
            // Names of files may have commas in them, or line endings, which would be blanks.
            match value {
                Value::List(files) if field == Field::Files => {
                    for file in files {
                        tag("file", &self.named(file));
                    }
                }
                value => tag(word(&Field::NAMES, &field), &self.value(field, &value)),
            }
        });
        text.push_str(end);
    }

    fn item(self, text: &mut String, skill: &Told<'_>, (start, end, inner): (&str, &str, &str)) {
        text.extend([start, &self.escaped(&skill.name), end]);
        if let Some(description) = &skill.description {
            text.extend([": ", &self.escaped(description)]);
        }
        text.push('\n');
        each(skill, |field, value| {
            if field != Field::Description {
                let label = word(&Field::NAMES, &field);
                text.extend([inner, label, ": ", &self.value(field, &value), "\n"]);
            }
        });
    }

    /// `value` of `field` as it stands in this form. What an agent opens keeps its gaps.
    fn value<'a>(self, field: Field, value: &Value<'a>) -> Cow<'a, str> {
        match value {
            Value::One(path) if field == Field::Location => self.named(path),
            Value::List(files) if field == Field::Files => {
                files.iter().map(|file| self.named(file)).collect::<Vec<_>>().join(", ").into()
            }
            Value::One(text) => self.escaped(text),
            Value::List(list) => {
                let list: Vec<_> = list.iter().map(|item| one_named(item)).collect();
                Cow::Owned(self.escaped(&list.join(", ")).into_owned())
            }
        }
    }

    /// Returns the name of a file, or its path, as it stands in this form: in one line, with every gap that is in it.
    fn named(self, name: &str) -> Cow<'_, str> {
        if is_plain(name.as_bytes()) {
            return Cow::Borrowed(name);
        }
        let line = one_named(name);
        Cow::Owned(match self {
            Self::Xml | Self::Reference => reference(&line),
            Self::Json => self.escaped(&line).into_owned(),
            Self::Markdown => line.replace('<', "&lt;"),
            Self::Plain => line.replace("<!--", "<! --"),
        })
    }

    /// `text` as it stands in a value of this form.
    pub(super) fn escaped(self, text: &str) -> Cow<'_, str> {
        if is_plain(text.as_bytes()) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(match self {
            Self::Xml => reference(&one_line(text)),
            Self::Reference => reference(text),
            Self::Json => {
                let text = json(&text);
                text.trim_end().trim_matches('"').to_owned()
            }
            // Neither tags nor comments of HTML.
            Self::Markdown => visible(&one_line(text)).replace('<', "&lt;"),
            Self::Plain => visible(&one_line(text)).replace("<!--", "<! --"),
        })
    }
}

/// Reports whether `text` stands for itself in every form: no character that any of them writes in another way, and no
/// gap that becomes one space.
#[expect(clippy::needless_bitwise_bool, reason = "without branches many bytes are looked at at a time")]
fn is_plain(text: &[u8]) -> bool {
    let Some(((last, before), (_, next))) = text.split_last().zip(text.split_first()) else { return true };
    // To the end, so that the compiler can look at many bytes at a time: most texts are plain.
    let pairs = before.iter().zip(next);
    let odd = pairs.fold(is_odd(*last), |any, (byte, next)| any | is_odd(*byte) | (byte | next == b' '));
    !odd
}

/// Reports whether a form may write `byte` in another way. The marks of XML are reported in as few comparisons as they
/// can be.
#[expect(clippy::needless_bitwise_bool, reason = "without branches many bytes are looked at at a time")]
fn is_odd(byte: u8) -> bool {
    // Bytes of other letters than those of ASCII are negative.
    let is_printed = (byte.cast_signed() >= b' '.cast_signed()) & (byte != 0x7f);
    let is_ampersand_or_apostrophe = byte & !1 == b'&';
    let is_angle = byte & !2 == b'<';
    !is_printed | is_ampersand_or_apostrophe | is_angle | (byte == b'"') | (byte == b'\\')
}

/// Returns `text` escaped as the reference does it, with the apostrophe as a number.
fn reference(text: &str) -> String {
    xml_with(text, "&#x27;")
}

/// `text` with one space for each gap, and none at its ends.
fn one_line(text: &str) -> Cow<'_, str> {
    if is_plain_line(text) {
        return text.into();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").into()
}

/// A value of a field.
enum Value<'a> {
    One(&'a str),
    List(&'a [String]),
}

/// Returns a name in one line, in which tabs, too, can be seen.
fn one_named(name: &str) -> String {
    visible_name(name).replace('\t', "\\u{9}")
}

/// Calls `tell` for each field that the skill has, but the name.
fn each(skill: &Told<'_>, mut tell: impl FnMut(Field, Value<'_>)) {
    let texts = [
        (Field::Description, &skill.description),
        (Field::Location, &skill.location),
        (Field::Compatibility, &skill.compatibility),
        (Field::Version, &skill.version),
    ];
    for (field, text) in texts {
        if let Some(text) = text {
            tell(field, Value::One(text));
        }
    }
    let lists = [
        (Field::AllowedTools, &*skill.allowed_tools),
        (Field::Tags, &*skill.tags),
        (Field::Files, &*skill.files),
    ];
    for (field, list) in lists {
        if !list.is_empty() {
            tell(field, Value::List(list));
        }
    }
}
