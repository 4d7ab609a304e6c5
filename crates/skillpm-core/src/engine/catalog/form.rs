//! Renders a catalog in one of its forms.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::Told;
use crate::text::{closest, is_plain_line, visible, visible_name, xml_text, xml_with};

/// The estimated size of a skill, in bytes.
const SKILL: usize = 480;
/// The size in bytes at which a piece of a catalog is passed on.
const PIECE: usize = 64 << 10;

/// The form of a catalog (conflict C27).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CatalogForm {
    /// `<available_skills>` with each value in its tag on one line, as the guide for clients describes it.
    #[default]
    Xml,
    /// The same with tags and values on lines of their own and descriptions as they are written, as the
    /// reference's `to-prompt` prints it.
    Reference,
    /// A JSON object with a list of skills.
    Json,
    /// A Markdown list.
    Markdown,
    /// Lines of plain text.
    Plain,
}

/// A fact that a catalog reports about a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The name.
    Name,
    /// The description.
    Description,
    /// The path of its `SKILL.md`.
    Location,
    /// The environment that it needs.
    Compatibility,
    /// The tools that it asks for.
    AllowedTools,
    /// The tags.
    Tags,
    /// The version.
    Version,
    /// The other files.
    Files,
}

/// The error for a text that names no form, or no field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{given}`; available: {all}")]
pub struct UnknownWord {
    what: &'static str,
    given: String,
    all: String,
    /// The word that was probably meant.
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
    /// All forms, with the names that select them.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("xml", Self::Xml),
        ("reference", Self::Reference),
        ("json", Self::Json),
        ("markdown", Self::Markdown),
        ("plain", Self::Plain),
    ];
}

impl Field {
    /// All fields, with the names that select them.
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

/// Returns `value` as indented JSON in which nothing starts an HTML comment.
pub(super) fn json(value: &impl Serialize) -> String {
    // A value whose maps have string keys, and without foreign types, always serializes.
    serde_json::to_string_pretty(value).unwrap_or_default().replace("<!--", "\\u003c!--") + "\n"
}

/// Returns the text that `value` adds to a list of a catalog in JSON.
pub(super) fn json_item(value: &impl Serialize) -> String {
    // As deep in lists as it is there, so that it is indented as it is there.
    let text = json(&[[value]]);
    let inner = text.strip_prefix("[\n  [\n").and_then(|text| text.strip_suffix("\n  ]\n]\n"));
    inner.unwrap_or(&text).to_owned() + ",\n"
}

/// The text of a catalog while it is written.
pub(super) struct Lines<P> {
    form: CatalogForm,
    /// The piece that was not yet passed on.
    text: String,
    pass: P,
}

impl<P: FnMut(&str)> Lines<P> {
    /// Adds a skill.
    pub(super) fn add(&mut self, skill: &Told<'_>) {
        self.form.add(&mut self.text, skill);
        if self.text.len() >= PIECE {
            (self.pass)(&self.text);
            self.text.clear();
        }
    }

    /// Ends the text, with a line about what is not in it if there is one, and passes on the last piece.
    pub(super) fn end(mut self, note: Option<&str>) {
        let (form, text) = (self.form, &mut self.text);
        if let Some(note) = note.map(|note| form.escaped(note)) {
            let (start, end) = match form {
                CatalogForm::Xml => ("  <note>", "</note>\n"),
                CatalogForm::Reference => ("<note>\n", "\n</note>\n"),
                // No line of a list.
                CatalogForm::Json | CatalogForm::Markdown | CatalogForm::Plain => ("\n", "\n"),
            };
            text.extend([start, &note, end]);
        }
        if form.is_xml() {
            text.push_str("</available_skills>\n");
        }
        (self.pass)(&self.text);
    }
}

impl CatalogForm {
    /// Returns the text of a catalog of the skills `told`, with a line about what is not in it if there is one. Works for
    /// every form but JSON.
    pub(super) fn render(self, told: &[Told<'_>], note: Option<&str>) -> String {
        let mut text = String::with_capacity(told.len() * SKILL);
        let mut lines = self.lines(told.len(), |piece| text.push_str(piece));
        for skill in told {
            lines.add(skill);
        }
        lines.end(note);
        text
    }

    /// Returns the text that `skill` adds to a catalog.
    pub(super) fn item(self, skill: &Told<'_>) -> String {
        if self == Self::Json {
            return json_item(skill);
        }
        let mut text = String::new();
        self.add(&mut text, skill);
        text
    }

    /// Adds a skill to `text`. Works for every form but JSON.
    fn add(self, text: &mut String, skill: &Told<'_>) {
        match self {
            Self::Json => {}
            Self::Xml => self.element(text, skill, ("  <skill>\n", "  </skill>\n"), ("    <", ">", "</")),
            Self::Reference => self.element(text, skill, ("<skill>\n", "</skill>\n"), ("<", ">\n", "\n</")),
            Self::Markdown => self.line(text, skill, ("- **", "**", "  - ")),
            Self::Plain => self.line(text, skill, ("", "", "  ")),
        }
    }

    /// Starts a text that is made skill by skill and passed on in pieces, so that a catalog of thousands of skills is
    /// never held whole. Works for every form but JSON. `count` is the number of skills, and `pass` gets each piece.
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
            // File names may have commas, or line endings that would become spaces, so each has its own element.
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

    fn line(self, text: &mut String, skill: &Told<'_>, (start, end, inner): (&str, &str, &str)) {
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

    /// Returns `value` of `field` in this form. Paths, which an agent opens, keep their white space.
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

    /// Returns a file name or path in this form: on one line, with all of its white space.
    fn named(self, name: &str) -> Cow<'_, str> {
        if is_plain(name.as_bytes()) {
            return Cow::Borrowed(name);
        }
        let line = one_named(name);
        Cow::Owned(match self {
            Self::Xml => xml_text(&line),
            Self::Reference => reference(&line),
            Self::Json => self.escaped(&line).into_owned(),
            Self::Markdown => line.replace('<', "&lt;"),
            Self::Plain => line.replace("<!--", "<! --"),
        })
    }

    /// Returns `text` as a value in this form: on one line, unless the form keeps lines, with nothing hidden in it, and
    /// with no tag that the form could have itself.
    pub fn escaped(self, text: &str) -> Cow<'_, str> {
        if is_plain(text.as_bytes()) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(match self {
            Self::Xml => xml_text(&one_line(text)),
            Self::Reference => reference(text),
            Self::Json => {
                let text = json(&text);
                let inner = text.trim_end().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
                inner.unwrap_or(&text).to_owned()
            }
            // Markdown may have neither tags nor HTML comments.
            Self::Markdown => visible(&one_line(text)).replace('<', "&lt;"),
            Self::Plain => visible(&one_line(text)).replace("<!--", "<! --"),
        })
    }
}

/// Reports whether `text` is written unchanged in every form: it has no character that a form escapes, and no white
/// space that becomes a single space.
#[expect(clippy::needless_bitwise_bool, reason = "without branches many bytes are looked at at a time")]
fn is_plain(text: &[u8]) -> bool {
    let Some(((last, before), (_, next))) = text.split_last().zip(text.split_first()) else { return true };
    // No early exit, so that the compiler can vectorize the loop: most texts are plain.
    let pairs = before.iter().zip(next);
    let odd = pairs.fold(is_odd(*last), |any, (byte, next)| any | is_odd(*byte) | (byte | next == b' '));
    !odd
}

/// Reports whether a form may escape `byte`, with as few comparisons of XML's special characters as possible.
#[expect(clippy::needless_bitwise_bool, reason = "without branches many bytes are looked at at a time")]
fn is_odd(byte: u8) -> bool {
    // As signed numbers, bytes outside ASCII are negative.
    let is_printed = (byte.cast_signed() >= b' '.cast_signed()) & (byte != 0x7f);
    let is_ampersand_or_apostrophe = byte & !1 == b'&';
    let is_angle = byte & !2 == b'<';
    !is_printed | is_ampersand_or_apostrophe | is_angle | (byte == b'"') | (byte == b'\\')
}

/// Returns `text` escaped as the reference does, with the apostrophe as a numeric reference.
fn reference(text: &str) -> String {
    xml_with(text, "&#x27;")
}

/// Returns `text` with each run of white space replaced by one space, and none at its ends.
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

/// Returns a name on one line, with visible tabs.
fn one_named(name: &str) -> String {
    visible_name(name).replace('\t', "\\u{9}")
}

/// Calls `tell` for each field that the skill has, except the name.
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
