//! Names of a skill's faults, for programs: those of the linter's rules, which `skillpm explain` explains.

use super::{DeviationKind, LoadError};
use crate::document::{FaultKind, Position, ProblemKind};
use crate::name::NameError;

impl LoadError {
    /// Returns the id of the linter's rule for the same fault.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Encoding { problem, .. }
            | Self::Frontmatter { problem, .. }
            | Self::Yaml { problem, .. } => of_problem(problem),
            Self::Empty => "frontmatter-missing",
            Self::Missing(field)
            | Self::EmptyField(field)
            | Self::Comment(field)
            | Self::NotText { field, .. } => missing(field),
            Self::Refused(deviation) => deviation.kind.code(),
        }
    }

    /// Returns the position, if it has one.
    pub fn at(&self) -> Option<Position> {
        match self {
            Self::Encoding { at, .. } | Self::Frontmatter { at, .. } | Self::Yaml { at, .. } => Some(*at),
            Self::Refused(deviation) => Some(deviation.at),
            Self::Empty
            | Self::Missing(_)
            | Self::EmptyField(_)
            | Self::Comment(_)
            | Self::NotText { .. } => None,
        }
    }
}

impl DeviationKind {
    /// Returns the id of the linter's rule for the same fault.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Text(problem) => of_problem(problem),
            Self::Name(NameError::Empty) | Self::NameFromDirectory(_) => "name-missing",
            Self::Name(NameError::TooLong(_)) => "name-length",
            Self::Name(NameError::NotLowercase(_) | NameError::Character { .. }) => "name-alphabet",
            Self::Name(NameError::EdgeHyphen(_) | NameError::DoubleHyphen(_)) => "name-hyphens",
            Self::NameDirectory { .. } => "name-directory",
            Self::NoDescription => "description-missing",
            Self::TooLong { field, .. } => of_field(field),
            Self::Shape { field, .. } => of_field(field),
            Self::UnknownField(_) => "unknown-field",
            Self::LegacyField(_) => "legacy-field",
        }
    }
}

fn missing(field: &str) -> &'static str {
    if field == "name" { "name-missing" } else { "description-missing" }
}

/// Returns the rule for the shape of `field`, which may be `metadata.key`.
fn of_field(field: &str) -> &'static str {
    match field.split('.').next().unwrap_or_default() {
        "description" => "description-length",
        "license" => "license-text",
        "compatibility" => "compatibility",
        "allowed-tools" => "allowed-tools",
        "metadata" => "metadata-strings",
        _ => "legacy-field",
    }
}

fn of_problem(problem: &ProblemKind) -> &'static str {
    match problem {
        ProblemKind::InvalidUtf8 { .. } | ProblemKind::Utf16 | ProblemKind::Nul => "encoding",
        ProblemKind::Control(_) => "control-character",
        ProblemKind::Bom => "byte-order-mark",
        ProblemKind::LeadingBlankLines => "frontmatter-first-line",
        ProblemKind::MissingFrontmatter(_) => "frontmatter-missing",
        ProblemKind::UnclosedFrontmatter => "frontmatter-unclosed",
        ProblemKind::TooLarge(_) | ProblemKind::TooDeep | ProblemKind::TooManyValues => "frontmatter-limits",
        ProblemKind::Yaml(fault) | ProblemKind::Repaired { fault, .. } => match fault {
            FaultKind::Colon => "yaml-unquoted-colon",
            FaultKind::Tab => "yaml-tab",
            FaultKind::Control(_) => "control-character",
            _ => "yaml-syntax",
        },
        ProblemKind::ConflictMarker => "merge-conflict",
        ProblemKind::NotAMapping(_) => "frontmatter-mapping",
        ProblemKind::DuplicateKey { .. } => "yaml-duplicate-key",
        ProblemKind::Anchor | ProblemKind::Alias => "yaml-alias",
        ProblemKind::Tag => "yaml-tag",
        ProblemKind::SeveralDocuments => "yaml-documents",
    }
}

#[cfg(test)]
mod tests {
    use crate::document::Document;
    use crate::lint::{self, Subject};
    use crate::profile::LoadProfile;
    use crate::skill::load_with;

    /// A warning of loading has the name of the rule that finds it in the same file.
    #[test]
    fn codes_are_those_of_the_linter() {
        let long = format!("name: {}\ndescription: d", "a".repeat(65));
        for (fields, code) in [
            ("name: pdf", "description-missing"),
            ("description: d", "name-missing"),
            ("name: [pdf]\ndescription: d", "name-missing"),
            ("name: pdf\ndescription:", "description-missing"),
            ("name: pdf\ndescription: # d", "description-missing"),
            ("name: pdf\ndescription: a: b", "yaml-unquoted-colon"),
            ("name: pdf\ndescription: @a", "yaml-syntax"),
            ("name: pdf\ndescription: d\nmetadata:\n\ta: b", "yaml-tab"),
            ("name: pdf\ndescription: d\nx: &a b", "yaml-alias"),
            ("name: pdf\ndescription: !!str d", "yaml-tag"),
            ("name: pdf\nname: pdf\ndescription: d", "yaml-duplicate-key"),
            ("name: pdf\n<<<<<<< ours\ndescription: d", "merge-conflict"),
            ("- name", "frontmatter-mapping"),
            ("name: Pdf\ndescription: d", "name-alphabet"),
            ("name: pdf-\ndescription: d", "name-hyphens"),
            (&*long, "name-length"),
            ("name: word\ndescription: d", "name-directory"),
            ("name: pdf\ndescription: d\ncolor: red", "unknown-field"),
            ("name: pdf\ndescription: d\nversion: 1.0.0", "legacy-field"),
            ("name: pdf\ndescription: d\nlicense: [MIT]", "license-text"),
            ("name: pdf\ndescription: d\ncompatibility: [a]", "compatibility"),
            ("name: pdf\ndescription: d\nallowed-tools: {a: b}", "allowed-tools"),
            ("name: pdf\ndescription: d\nmetadata: [a]", "metadata-strings"),
            ("name: pdf\ndescription: d\nmetadata: {a: [b]}", "metadata-strings"),
        ] {
            told(&format!("---\n{fields}\n---\n"), code);
        }
        told("", "frontmatter-missing");
        told("# PDF\n", "frontmatter-missing");
        told("---\nname: pdf\n", "frontmatter-unclosed");
        told("\u{feff}---\nname: pdf\ndescription: d\n---\n", "byte-order-mark");
        told("\n---\nname: pdf\ndescription: d\n---\n", "frontmatter-first-line");
        told("---\nname: pdf\ndescription: \"a\u{80}\"\n---\n", "control-character");
        told("---\nname: p\0df\ndescription: d\n---\n", "encoding");
    }

    fn told(text: &str, code: &str) {
        let document = Document::parse(text.to_owned());
        let codes: Vec<_> = match load_with(&document, &LoadProfile::DEFAULT, Some("pdf")) {
            Ok(loaded) => loaded.deviations.iter().map(|deviation| deviation.kind.code()).collect(),
            Err(error) => vec![error.code()],
        };
        assert!(codes.contains(&code), "{text:?}: {codes:?}");
        let findings = lint::check(&Subject::new(&document, Some("pdf"), "SKILL.md"));
        let rules: Vec<_> = findings.iter().map(|finding| finding.rule).collect();
        assert!(rules.contains(&code), "{text:?}: the linter says {rules:?}");
        for code in codes {
            lint::rule(code).expect("a rule of that name");
        }
    }
}
