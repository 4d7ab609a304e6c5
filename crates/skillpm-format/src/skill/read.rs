//! The loader.

use std::ops::Range;

use super::{Deviation, DeviationKind, LoadError, Loaded, SkillMeta};
use crate::document::{Document, Hint, LineIndex, Node, Problem, ProblemKind, Value};
use crate::name::SkillName;
use crate::profile::{AllowedTools, LoadProfile, NameRule, Tolerance};

/// The maximum number of characters in a description (specification, `description`).
pub(super) const MAX_DESCRIPTION: usize = 1024;
/// The maximum number of characters in `compatibility` (specification, `compatibility`).
pub(super) const MAX_COMPATIBILITY: usize = 500;
/// Fields that were at the top level before the specification had a place for them.
const LEGACY: [&str; 3] = ["version", "tags", "dependencies"];

type Result<T> = std::result::Result<T, LoadError>;

/// Loads a document; see [`super::load_with`].
pub(super) fn load<'a>(
    document: &'a Document,
    profile: &LoadProfile,
    directory: Option<&str>,
) -> Result<Loaded<'a>> {
    let in_the_way = document.problems().iter().find_map(|problem| obstacle(document, problem, profile));
    if let Some(error) = in_the_way {
        return Err(error);
    }
    let mut reader = Reader { document, profile, lines: None, deviations: Vec::new() };
    reader.text()?;
    let name = reader.name(directory)?;
    let description = reader.description()?;
    reader.shapes()?;
    reader.fields()?;
    let meta = SkillMeta {
        name,
        description,
        version: document.version().or(profile.default_version).map(str::to_owned),
        tags: list(document, "tags"),
        dependencies: list(document, "dependencies"),
        license: document.license(),
        compatibility: document.compatibility(),
        allowed_tools: match profile.allowed_tools {
            AllowedTools::Hidden => Vec::new(),
            AllowedTools::Any | AllowedTools::Spaces => document.allowed_tools(),
        },
        metadata: match document.get("metadata").map(Node::to_json) {
            Some(serde_json::Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        },
        extra: document
            .unknown_fields()
            .filter_map(|(key, value)| Some((key.flat_text()?, value.to_json())))
            .collect(),
    };
    let deviations = reader.deviations;
    Ok(Loaded { meta, body: document.body(), problems: document.problems(), deviations })
}

/// Returns the error that `problem` causes, if it prevents loading.
fn obstacle(document: &Document, problem: &Problem, profile: &LoadProfile) -> Option<LoadError> {
    let at = || document.position(problem.span.start);
    let in_frontmatter = problem.span.start < document.body_span().start;
    match &problem.kind {
        ProblemKind::Utf16 => Some(LoadError::Encoding { problem: problem.kind.clone(), at: at() }),
        // In the body a wrong byte spoils one character, in the frontmatter perhaps the name.
        ProblemKind::InvalidUtf8 { .. } | ProblemKind::Nul if in_frontmatter => {
            Some(LoadError::Encoding { problem: problem.kind.clone(), at: at() })
        }
        ProblemKind::MissingFrontmatter(Hint::Empty) => Some(LoadError::Empty),
        ProblemKind::MissingFrontmatter(_) if !profile.frontmatter_required => None,
        ProblemKind::MissingFrontmatter(_)
        | ProblemKind::UnclosedFrontmatter
        | ProblemKind::TooLarge(_)
        | ProblemKind::TooDeep
        | ProblemKind::TooManyValues
        | ProblemKind::NotAMapping(_) => {
            Some(LoadError::Frontmatter { problem: problem.kind.clone(), at: at() })
        }
        ProblemKind::Yaml(_) => Some(LoadError::Yaml { problem: problem.kind.clone(), at: at() }),
        _ => None,
    }
}

/// Returns the entries of a list that may be in `metadata` or at the top level, as a list or as a text.
fn list(document: &Document, key: &str) -> Vec<String> {
    let below = document.get("metadata").and_then(|metadata| metadata.get(key));
    let Some(node) = below.or_else(|| document.get(key)) else { return Vec::new() };
    let texts = match &node.value {
        Value::Sequence { items, .. } => trimmed(items.iter().filter_map(Node::text)),
        _ => node.text().map(listed).unwrap_or_default(),
    };
    texts.into_iter().map(str::to_owned).collect()
}

/// Returns the entries of a list written as a text with commas or spaces between them.
pub(super) fn listed(text: &str) -> Vec<&str> {
    if text.contains(',') { trimmed(text.split(',')) } else { text.split_whitespace().collect() }
}

fn trimmed<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    texts.map(str::trim).filter(|text| !text.is_empty()).collect()
}

/// A reader of one document with one profile.
struct Reader<'a> {
    document: &'a Document,
    profile: &'a LoadProfile,
    /// Created for the first deviation: most skills have none.
    lines: Option<LineIndex<'a>>,
    deviations: Vec<Deviation>,
}

impl Reader<'_> {
    fn deviation(&mut self, kind: DeviationKind, span: Range<usize>) -> Deviation {
        let document = self.document;
        let at = self.lines.get_or_insert_with(|| document.line_index()).position(span.start);
        Deviation { kind, span, at }
    }

    /// Reports or refuses a deviation, according to `tolerance`.
    fn say(&mut self, tolerance: Tolerance, kind: DeviationKind, span: Range<usize>) -> Result<()> {
        match tolerance {
            Tolerance::Accept => {}
            Tolerance::Warn => {
                let deviation = self.deviation(kind, span);
                self.deviations.push(deviation);
            }
            Tolerance::Refuse => return Err(LoadError::Refused(Box::new(self.deviation(kind, span)))),
        }
        Ok(())
    }

    fn text(&mut self) -> Result<()> {
        for Problem { kind, span } in self.document.problems() {
            let repaired = matches!(kind, ProblemKind::Repaired { .. } | ProblemKind::ConflictMarker);
            if repaired && !self.profile.repair {
                let at = self.document.position(span.start);
                return Err(LoadError::Yaml { problem: kind.clone(), at });
            }
            self.say(self.profile.text, DeviationKind::Text(kind.clone()), span.clone())?;
        }
        Ok(())
    }

    fn name(&mut self, directory: Option<&str>) -> Result<String> {
        if let (NameRule::Directory, Some(directory)) = (self.profile.names, directory) {
            return Ok(directory.to_owned());
        }
        let name = match (self.required("name"), directory) {
            (Ok(name), _) => name,
            (
                Err(LoadError::Missing(_) | LoadError::EmptyField(_) | LoadError::Comment(_)),
                Some(directory),
            ) if self.profile.name_from_directory => {
                let kind = DeviationKind::NameFromDirectory(directory.to_owned());
                let span = self.document.opening_span();
                self.say(Tolerance::Warn, kind, span)?;
                return Ok(directory.to_owned());
            }
            (Err(error), _) => return Err(error),
        };
        let tolerance = match self.profile.names {
            NameRule::Strict => Tolerance::Refuse,
            NameRule::Lenient => Tolerance::Warn,
            NameRule::AsIs | NameRule::Directory => return Ok(name),
        };
        let span = self.span("name");
        for error in SkillName::problems(&name) {
            self.say(tolerance, DeviationKind::Name(error), span.clone())?;
        }
        if let Some(directory) = directory.filter(|directory| !same(&name, directory)) {
            let (name, directory) = (name.clone(), directory.to_owned());
            self.say(tolerance, DeviationKind::NameDirectory { name, directory }, span)?;
        }
        Ok(name)
    }

    fn description(&mut self) -> Result<String> {
        let description = match self.required("description") {
            Ok(text) => text,
            Err(LoadError::Missing(_) | LoadError::EmptyField(_) | LoadError::Comment(_))
                if !self.profile.description_required =>
            {
                let span = self.span("description");
                self.say(Tolerance::Warn, DeviationKind::NoDescription, span)?;
                return Ok(String::new());
            }
            Err(error) => return Err(error),
        };
        self.length("description", &description, MAX_DESCRIPTION)?;
        Ok(description)
    }

    fn length(&mut self, field: &'static str, text: &str, max: usize) -> Result<()> {
        // A text has at least as many bytes as characters.
        let count = if text.len() > max { text.chars().count() } else { 0 };
        if count > max {
            let span = self.span(field);
            self.say(self.profile.shapes, DeviationKind::TooLong { field, count, max }, span)?;
        }
        Ok(())
    }

    /// Checks the fields whose values may have a shape that differs from the specification's.
    fn shapes(&mut self) -> Result<()> {
        for field in ["license", "compatibility"] {
            if let Some(node) = self.document.get(field).filter(|node| node.text().is_none()) {
                self.shape(field, "text", node)?;
            }
        }
        if let Some(text) = self.document.compatibility() {
            self.length("compatibility", &text, MAX_COMPATIBILITY)?;
        }
        if let Some(metadata) = self.document.get("metadata") {
            if !matches!(metadata.value, Value::Mapping { .. }) {
                self.shape("metadata", "a mapping of keys to strings", metadata)?;
            }
            for (key, value) in metadata.pairs().iter().filter(|(_, value)| value.text().is_none()) {
                let field = format!("metadata.{}", key.text().unwrap_or_default());
                self.shape(&field, "text", value)?;
            }
        }
        self.tools()
    }

    fn tools(&mut self) -> Result<()> {
        let Some(node) = self.document.get("allowed-tools") else { return Ok(()) };
        let expected = "text with spaces between the tools";
        match (&node.value, self.profile.allowed_tools) {
            (_, AllowedTools::Hidden) | (Value::Sequence { .. }, AllowedTools::Any) => Ok(()),
            _ if node.text().is_none() => self.shape("allowed-tools", expected, node),
            (_, AllowedTools::Spaces) if has_commas(self.document) => {
                let (field, found) = ("allowed-tools".to_owned(), "text with commas");
                let kind = DeviationKind::Shape { field, expected, found };
                self.say(self.profile.shapes, kind, node.span.clone())
            }
            _ => Ok(()),
        }
    }

    fn shape(&mut self, field: &str, expected: &'static str, node: &Node) -> Result<()> {
        let kind = DeviationKind::Shape { field: field.to_owned(), expected, found: node.kind() };
        self.say(self.profile.shapes, kind, node.span.clone())
    }

    fn fields(&mut self) -> Result<()> {
        for (key, _) in self.document.unknown_fields() {
            let name = key.flat_text().unwrap_or_else(|| key.kind().to_owned());
            let (tolerance, kind) = if LEGACY.contains(&name.as_str()) {
                (self.profile.legacy_fields, DeviationKind::LegacyField(name))
            } else {
                (self.profile.unknown_fields, DeviationKind::UnknownField(name))
            };
            self.say(tolerance, kind, key.span.clone())?;
        }
        Ok(())
    }

    fn required(&self, field: &'static str) -> Result<String> {
        let node = self.document.get(field).ok_or(LoadError::Missing(field))?;
        let text = node.text().ok_or(LoadError::NotText { field, found: node.kind() })?.trim();
        if !text.is_empty() {
            return Ok(text.to_owned());
        }
        let line = self.document.text()[node.span.end..].lines().next().unwrap_or_default();
        let is_comment = node.is_absent() && line.trim_start_matches([':', ' ', '\t']).starts_with('#');
        Err(if is_comment { LoadError::Comment(field) } else { LoadError::EmptyField(field) })
    }

    /// Returns the bytes of the value of `field`, or of the frontmatter's first line.
    fn span(&self, field: &str) -> Range<usize> {
        self.document.get(field).map_or_else(|| self.document.opening_span(), |node| node.span.clone())
    }
}

/// Reports whether the name is the directory's, in any of its spellings.
fn same(name: &str, directory: &str) -> bool {
    name == directory
        || match (SkillName::new(name), SkillName::new(directory)) {
            (Ok(name), Ok(directory)) => name == directory,
            _ => false,
        }
}

/// Reports whether a comma separates two of the tools.
fn has_commas(document: &Document) -> bool {
    let text = document.get("allowed-tools").and_then(Node::text).unwrap_or_default();
    let written: usize = text.chars().filter(|c| *c == ',').count();
    let inside: usize = document.allowed_tools().iter().map(|tool| tool.matches(',').count()).sum();
    written > inside
}
