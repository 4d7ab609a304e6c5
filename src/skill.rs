//! What an agent needs of a skill.

use serde::Serialize;

use crate::document::{Document, Hint, Position, Problem, ProblemKind};

/// The metadata of a skill, read leniently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkillMeta {
    /// The name as written, without white space around it. Not checked: it may be anything, so it
    /// is never part of a path.
    pub name: String,
    /// What the skill does and when to use it.
    pub description: String,
    /// The version as written: `metadata.version`, else a top-level `version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The license.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What the skill needs around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The tools that the skill asks for. Nothing is enforced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// The `metadata` mapping. Scalars are strings as written.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// The fields that the specification does not have.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// A skill that an agent can use.
#[derive(Debug, Clone)]
pub struct Loaded<'a> {
    /// Its metadata.
    pub meta: SkillMeta,
    /// The Markdown after the frontmatter.
    pub body: &'a str,
    /// What was wrong with the file and did not matter.
    pub problems: &'a [Problem],
}

/// Why an agent cannot use a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Not text, or not text where the metadata stands.
    #[error("{problem} (line {}, column {})", at.line, at.column)]
    Encoding {
        /// What is wrong.
        problem: ProblemKind,
        /// Where.
        at: Position,
    },
    /// Nothing in the file.
    #[error("{}", Hint::Empty)]
    Empty,
    /// No frontmatter, or one that is never closed, is too large or is no mapping.
    #[error("{problem}")]
    Frontmatter {
        /// What is wrong.
        problem: ProblemKind,
        /// Where.
        at: Position,
    },
    /// The frontmatter is not YAML.
    #[error("{problem} (line {}, column {})", at.line, at.column)]
    Yaml {
        /// What is wrong.
        problem: ProblemKind,
        /// Where.
        at: Position,
    },
    /// A required field is not there.
    #[error("the required field `{0}` is missing from the frontmatter")]
    Missing(&'static str),
    /// A required field has nothing in it.
    #[error("the required field `{0}` is empty")]
    EmptyField(&'static str),
    /// A required field is not text.
    #[error("the field `{field}` must be text, but it is {found}")]
    NotText {
        /// The field.
        field: &'static str,
        /// What it is, with its article.
        found: &'static str,
    },
}

/// Returns what an agent needs of `document`: a name and a description that can be read.
///
/// Everything else that is off is in [`Loaded::problems`] or the linter's to say.
pub fn load(document: &Document) -> Result<Loaded<'_>, LoadError> {
    if let Some(error) = document.problems().iter().find_map(|problem| obstacle(document, problem)) {
        return Err(error);
    }
    let meta = SkillMeta {
        name: required(document, "name")?,
        description: required(document, "description")?,
        version: document.version().map(str::to_owned),
        license: document.license(),
        compatibility: document.compatibility(),
        allowed_tools: document.allowed_tools(),
        metadata: match document.get("metadata").map(crate::document::Node::to_json) {
            Some(serde_json::Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        },
        extra: document
            .unknown_fields()
            .filter_map(|(key, value)| Some((key.flat_text()?, value.to_json())))
            .collect(),
    };
    Ok(Loaded { meta, body: document.body(), problems: document.problems() })
}

/// The error that `problem` is, if nothing can be loaded because of it.
fn obstacle(document: &Document, problem: &Problem) -> Option<LoadError> {
    let at = || document.position(problem.span.start);
    let in_frontmatter = problem.span.start < document.body_span().start;
    match &problem.kind {
        ProblemKind::Utf16 => Some(LoadError::Encoding { problem: problem.kind.clone(), at: at() }),
        // In the body a wrong byte spoils one character, in the frontmatter perhaps the name.
        ProblemKind::InvalidUtf8 { .. } | ProblemKind::Nul if in_frontmatter => {
            Some(LoadError::Encoding { problem: problem.kind.clone(), at: at() })
        }
        ProblemKind::MissingFrontmatter(Hint::Empty) => Some(LoadError::Empty),
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

fn required(document: &Document, field: &'static str) -> Result<String, LoadError> {
    let node = document.get(field).ok_or(LoadError::Missing(field))?;
    let text = node.text().ok_or(LoadError::NotText { field, found: node.kind() })?.trim();
    if text.is_empty() { Err(LoadError::EmptyField(field)) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        load(&Document::parse(text.to_owned())).expect_err("refused").to_string()
    }

    /// S0-US5.1, S0-US5.4, S0-US5.5, S0-FR-010, S0-FR-011, S0-FR-015.
    #[test]
    fn metadata_is_extracted() {
        let text = "---\nname: pdf\ndescription: >-\n  Reads PDF.\n  Use it.\nlicense: MIT\n\
            version: 1.10\nallowed-tools: Bash(git add:*), Read\nmetadata:\n  author: me\n---\n\n\
            # Body\n";
        let document = Document::parse(text.to_owned());
        let loaded = load(&document).expect("loads");
        assert_eq!(loaded.meta.name, "pdf");
        assert_eq!(loaded.meta.description, "Reads PDF. Use it.");
        assert_eq!(loaded.meta.version.as_deref(), Some("1.10"), "never 1.1");
        assert_eq!(loaded.meta.license.as_deref(), Some("MIT"));
        assert_eq!(loaded.meta.allowed_tools, ["Bash(git add:*)", "Read"]);
        assert_eq!(loaded.meta.metadata["author"], "me");
        assert_eq!(loaded.meta.extra["version"], "1.10");
        assert_eq!(loaded.body, "\n# Body\n");
    }

    /// S0-US5.2, S0-US5.3, S0-FR-008, S0-FR-009, S0-FR-012, S0-FR-013, conflicts C3 and C4.
    #[test]
    fn a_missing_field_is_named() {
        assert_eq!(
            message("---\ndescription: x\n---\n"),
            "the required field `name` is missing from the frontmatter"
        );
        assert_eq!(
            message("---\nname: x\n---\n"),
            "the required field `description` is missing from the frontmatter"
        );
        assert_eq!(
            message("---\nname: x\ndescription:  \nlicense: x\n---\n"),
            "the required field `description` is empty",
        );
        assert_eq!(
            message("---\nname: x\ndescription: # Chemistry\n---\n"),
            "the required field `description` is empty"
        );
        assert_eq!(message("---\nname: ''\ndescription: x\n---\n"), "the required field `name` is empty");
        assert_eq!(message("---\n---\n"), "the required field `name` is missing from the frontmatter");
        assert_eq!(
            message("---\nname: {{x}}\ndescription: x\n---\n"),
            "the field `name` must be text, but it is a mapping"
        );
        assert_eq!(
            message("---\na: &n x\nname: *n\ndescription: x\n---\n"),
            "the field `name` must be text, but it is an alias"
        );
    }

    /// S0-E1, S0-E2, S0-FR-014.
    #[test]
    fn what_cannot_be_read_is_refused_with_the_reason() {
        assert_eq!(message(""), "the file is empty: it needs frontmatter with `name` and `description`");
        assert!(message("# Title\n").contains("no frontmatter"));
        assert!(message("---\nname: x\n").contains("never closed"));
        assert_eq!(
            message("---\n- a\n---\n"),
            "the frontmatter must be lines of `key: value`, but it is a list"
        );
        let yaml = message("---\nname: x\ndescription: y\nnonsense\n---\n");
        assert!(yaml.starts_with("the frontmatter is not valid YAML: "), "{yaml}");
        assert!(yaml.ends_with("(line 4, column 1)"), "{yaml}");
    }

    /// S0-FR-014, conflict C8.
    #[test]
    fn wrong_bytes_matter_in_the_frontmatter_only() {
        let load_bytes =
            |bytes: &[u8]| load(&Document::from_bytes(bytes.to_vec())).map(|loaded| loaded.meta.name);
        assert_eq!(load_bytes(b"---\nname: x\ndescription: y\n---\n\xff \0"), Ok("x".into()));
        assert!(matches!(
            load_bytes(b"---\nname: \xff\ndescription: y\n---\n"),
            Err(LoadError::Encoding { .. })
        ));
        assert!(matches!(
            load_bytes(b"---\nname: x\0y\ndescription: y\n---\n"),
            Err(LoadError::Encoding { .. })
        ));
        assert!(matches!(load_bytes(b"\xff\xfe-\0-\0-\0"), Err(LoadError::Encoding { .. })));
    }
}
