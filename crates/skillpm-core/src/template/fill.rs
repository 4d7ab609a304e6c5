//! Fills in templates.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, ErrorKind, Output, State, Value};

use super::builtin::first_file;
use super::scalar::scalar;
use super::{FILLED, MAX_TEXT, Resource, Template, TemplateFile, Values, language};
use crate::document::{Document, Split, format, split};
use crate::error::{Error, Result};
use crate::path::SafePath;
use crate::refusal::{Limits, Refusal};
use crate::skill::SKILL_FILE;
use crate::tree::{FileEntry, FileSet, Memory};

/// The escaping mode in which a value is one YAML scalar.
const YAML: AutoEscape = AutoEscape::Custom(Cow::Borrowed("yaml"));

/// Reports whether the file at `path` becomes the `SKILL.md` of a skill.
pub(super) fn is_skill_file(path: &SafePath) -> bool {
    target(path) == SKILL_FILE
}

/// Returns the path of the resulting file: without the suffix that marks files to fill in.
fn target(path: &SafePath) -> &str {
    path.as_str().strip_suffix(FILLED).unwrap_or(path.as_str())
}

/// Returns the files of a skill made from `template`.
pub(super) fn fill(template: &Template, values: &Values) -> Result<FileSet> {
    let filler = Filler::new(template, values);
    let (added, section) = added(template, values);
    let mut entries = Vec::new();
    let mut contents = Vec::new();
    for file in template.files.iter().chain(&added) {
        let mut bytes = filler.file(file)?;
        if is_skill_file(&file.path) && !section.is_empty() {
            append(&mut bytes, &section);
        }
        let path = SafePath::new(target(&file.path))
            .map_err(|reason| Refusal::Name { name: file.path.to_string(), reason })?;
        entries.push(FileEntry::new(path, file.executable, bytes.len() as u64, contents.len()));
        contents.push(bytes);
    }
    Ok(FileSet::new(entries, Arc::new(Memory(contents)), &Limits::default())?)
}

/// Returns the first files of the requested resources that the template lacks, and the section of the instructions that
/// describes them.
fn added(template: &Template, values: &Values) -> (Vec<TemplateFile>, String) {
    let wanted = values.resources.iter().filter(|resource| !template.has(**resource));
    let (mut files, mut lines) = (Vec::new(), String::new());
    for (file, text) in wanted.filter_map(|resource: &Resource| first_file(*resource)) {
        let path = target(&file.path);
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "- [{path}]({path}): {text}");
        files.push(file);
    }
    if !lines.is_empty() {
        lines.insert_str(0, "\n## Files\n\n");
    }
    (files, lines)
}

fn append(bytes: &mut Vec<u8>, section: &str) {
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(section.as_bytes());
}

/// Fills in the files of one template.
struct Filler<'a> {
    template: &'a str,
    values: Value,
    /// The length of the longest value, in bytes.
    longest: usize,
    syntax: SyntaxConfig,
}

impl<'a> Filler<'a> {
    fn new(template: &'a Template, values: &Values) -> Self {
        let topic = values.name.as_str().replace('-', " ");
        let mut title = topic.clone();
        if let Some(first) = title.get(..1) {
            // A skill's name is lower case; a first character without upper case stays.
            title.replace_range(..1, &first.to_ascii_uppercase());
        }
        let optional = |text: &Option<String>| text.as_deref().map_or(Value::from(()), Value::from);
        let mut map: BTreeMap<&str, Value> = BTreeMap::from([
            ("author", optional(&values.author)),
            ("description", Value::from(values.description.as_str())),
            ("license", optional(&values.license)),
            ("name", Value::from(values.name.as_str())),
            ("title", Value::from(title)),
            ("topic", Value::from(topic)),
        ]);
        let resources: Vec<_> = values.resources.iter().map(|resource| resource.directory()).collect();
        map.insert("resources", Value::from(resources));
        map.extend(values.variables.iter().map(|(name, value)| (name.as_str(), Value::from(value.as_str()))));
        let longest = map.values().filter_map(Value::as_str).map(str::len).max().unwrap_or_default();
        let mut syntax = SyntaxConfig::builder();
        // A line that has only a tag leaves no empty line behind.
        syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        // The delimiters are the default ones, so this cannot fail.
        let syntax = syntax.build().unwrap_or_default();
        Self { template: &template.name, values: Value::from(map), longest, syntax }
    }

    /// Returns the resulting content of `file`.
    fn file(&self, file: &TemplateFile) -> Result<Vec<u8>> {
        let path = file.path.as_str();
        if path == target(&file.path) && path != SKILL_FILE {
            return Ok(file.bytes.clone());
        }
        if file.bytes.len() as u64 > MAX_TEXT {
            return Err(Refusal::TooLarge { size: file.bytes.len() as u64, limit: MAX_TEXT }.into());
        }
        let text =
            std::str::from_utf8(&file.bytes).map_err(|_| self.wrong(path, None, "it is not UTF-8 text"))?;
        let mut filled = Vec::new();
        if is_skill_file(&file.path) {
            // In two parts: a value is a scalar in the frontmatter and text in the instructions.
            let Split::Found(parts) = split(text.as_bytes()) else {
                return Err(self.wrong(path, None, "it has no frontmatter between two lines `---`"));
            };
            let (head, body) = text.split_at(parts.body);
            self.text(path, 0, head, YAML, &mut filled)?;
            let lines = head.matches('\n').count();
            self.text(path, lines, body, AutoEscape::None, &mut filled)?;
            filled = canonical(filled);
        } else {
            let yaml = [".yaml", ".yml"].iter().any(|ending| target(&file.path).ends_with(ending));
            let escape = if yaml { YAML } else { AutoEscape::None };
            self.text(path, 0, text, escape, &mut filled)?;
        }
        Ok(filled)
    }

    /// Fills in `text`, which is in the file `path` after `before` lines, and appends the result to `to`.
    fn text(
        &self,
        path: &str,
        before: usize,
        text: &str,
        escape: AutoEscape,
        to: &mut Vec<u8>,
    ) -> Result<()> {
        let longest = language::check(text, &self.syntax)
            .map_err(|fault| self.wrong(path, Some(fault.line + before), &fault.reason))?;
        let mut environment = language::environment(longest.max(self.longest));
        environment.set_syntax(self.syntax.clone());
        environment.set_auto_escape_callback(move |_| escape.clone());
        environment.set_formatter(write_value);
        let mut sink = Capped { bytes: to, full: false };
        let result = environment
            .template_from_str(text)
            .and_then(|template| template.render_captured_to(self.values.clone(), &mut sink).map(drop));
        let full = sink.full;
        result.map_err(|error| {
            let line = error.line().map(|line| line + before);
            let reason = match error.kind() {
                _ if full => format!("it grows beyond {} MiB", MAX_TEXT >> 20),
                ErrorKind::OutOfFuel => "it takes too many steps".to_owned(),
                ErrorKind::UndefinedError => "it uses an undeclared value".to_owned(),
                kind => error.detail().map_or_else(|| kind.to_string(), str::to_owned),
            };
            self.wrong(path, line, &reason)
        })
    }

    fn wrong(&self, path: &str, line: Option<usize>, reason: &str) -> Error {
        let at = line.map(|line| format!(", line {line}")).unwrap_or_default();
        Error::config(format!("the template `{}` cannot be filled in: `{path}`{at}: {reason}", self.template))
            .hint("values are written `{{ name }}`; `{% raw %}` and `{% endraw %}` surround text to keep as it is")
    }
}

/// Returns the file as `skillpm fmt` formats it, or unchanged if it cannot be formatted.
fn canonical(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(text) = String::from_utf8(bytes.clone()) else { return bytes };
    format(&Document::parse(text)).map_or(bytes, String::into_bytes)
}

/// The result of writing one value.
type Filled = std::result::Result<(), minijinja::Error>;

/// Writes `value` as the current escaping mode requires.
fn write_value(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Filled {
    let wrong = |detail: &'static str| minijinja::Error::new(ErrorKind::InvalidOperation, detail);
    if value.is_undefined() {
        return Err(ErrorKind::UndefinedError.into());
    }
    if value.is_none() {
        return Err(wrong("it writes a value that was not given; ask for it with `{% if … %}` first"));
    }
    let yaml = *state.auto_escape() == YAML;
    let text = match value.as_str() {
        Some(text) if yaml => scalar(text),
        Some(text) => text.to_owned(),
        None if value.as_object().is_some() => return Err(wrong("it writes a list; use the filter `join`")),
        None => value.to_string(),
    };
    out.write_str(&text).map_err(|_| ErrorKind::WriteFailure.into())
}

/// A buffer with a maximum size.
struct Capped<'a> {
    bytes: &'a mut Vec<u8>,
    full: bool,
}

impl Write for Capped<'_> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + buf.len()) as u64 > MAX_TEXT {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
