//! What an editor asks about a place in a `SKILL.md`: which field is there, and what can be written there.

use std::ops::Range;

use super::{Field, Rule, clients, fields, metadata_fields, report, switch};
use crate::document::{Document, ProblemKind};
use crate::requirement;

/// What can be written at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The part of it that was written already.
    pub span: Range<usize>,
    /// What it can be.
    pub choices: Choices,
}

/// What a part of a text can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choices {
    /// A key, with its colon.
    Fields(Vec<Field>),
    /// A value.
    Values(Vec<String>),
    /// The id of a rule.
    Rules,
    /// The name of a skill.
    Skills,
}

/// Returns what can be written at byte `offset` of `document`, the `SKILL.md` of the directory `directory_name`.
pub fn complete(document: &Document, directory_name: Option<&str>, offset: usize) -> Option<Completion> {
    let text = document.text();
    let offset = text.floor_char_boundary(offset);
    let start = text[..offset].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let before = &text[start..offset];
    if let Some(at) = switch::name_in(before) {
        return Some(Completion { span: start + at..offset, choices: Choices::Rules });
    }
    let yaml = frontmatter_span(document).filter(|yaml| yaml.contains(&start))?;
    let indent = before.len() - before.trim_start_matches(' ').len();
    let Some((key, value)) = before.split_once(':') else {
        let is_below_metadata = || parent(&text[yaml.start..start]) == Some("metadata");
        let all = match indent {
            0 => fields(),
            _ if is_below_metadata() => metadata_fields(),
            _ => return None,
        };
        // A line that is being written is no YAML yet, so the keys are read from the lines.
        let keys: Vec<_> =
            text[yaml].lines().filter_map(|line| line.get(indent..)?.split_once(':')).collect();
        let is_new = |field: &Field| keys.iter().all(|(key, _)| *key != field.name);
        let choices = Choices::Fields(all.into_iter().filter(is_new).collect());
        return Some(Completion { span: start + indent..offset, choices });
    };
    let word = offset - value.len() + value.rfind([' ', ',']).map_or(0, |at| at + 1);
    let choices = match (indent, key.trim()) {
        (1.., requirement::KEY) => Choices::Skills,
        (0, "name") => Choices::Values(directory_name.map(str::to_owned).into_iter().collect()),
        (0, key) => Choices::Values(clients::values(key).iter().map(|value| (*value).to_owned()).collect()),
        _ => return None,
    };
    Some(Completion { span: word..offset, choices })
}

/// Returns the bytes of the frontmatter, which may be open: it is being written.
fn frontmatter_span(document: &Document) -> Option<Range<usize>> {
    let unclosed = |kind: &ProblemKind| matches!(kind, ProblemKind::UnclosedFrontmatter);
    let open = || document.problems().iter().find(|problem| unclosed(&problem.kind));
    document.yaml_span().or_else(|| Some(open()?.span.end..document.text().len()))
}

/// Returns the top-level key that is open at the end of `yaml`.
fn parent(yaml: &str) -> Option<&str> {
    let is_key = |line: &&str| !line.is_empty() && !line.starts_with([' ', '\t', '#', '\r']);
    yaml.lines().rev().find(is_key)?.split_once(':').map(|(key, _)| key.trim())
}

/// Returns the field whose key is at byte `offset` of `document`, and the bytes of the key.
pub fn field_at(document: &Document, offset: usize) -> Option<(Range<usize>, Field)> {
    let metadata = document.get("metadata");
    let tables = [(document.frontmatter(), fields()), (metadata, metadata_fields())];
    tables.into_iter().find_map(|(node, all)| {
        let (key, _) = node?.pairs().iter().find(|(key, _)| key.span.contains(&offset))?;
        let field = all.into_iter().find(|field| key.text() == Some(field.name))?;
        Some((key.span.clone(), field))
    })
}

/// Returns what a rule looks for and why, in Markdown.
pub fn explained(rule: &Rule) -> String {
    let (docs, page) = (&rule.docs, report::rule_page(rule.id));
    format!(
        "**[{}]({page})**: {}\n\n{}\n{}\n\nSource: {}",
        rule.id, rule.summary, docs.what, docs.why, docs.source
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part written and what it can be, at `|` in the text.
    fn completed(text: &str) -> Option<(String, Vec<String>)> {
        let offset = text.find('|').expect("a place");
        let document = Document::parse(text.replacen('|', "", 1));
        let Completion { span, choices } = complete(&document, Some("pdf"), offset)?;
        let names = match choices {
            Choices::Fields(fields) => fields.iter().map(|field| field.name.to_owned()).collect(),
            Choices::Values(values) => values,
            Choices::Rules => vec!["RULES".to_owned()],
            Choices::Skills => vec!["SKILLS".to_owned()],
        };
        Some((document.text()[span].to_owned(), names))
    }

    #[test]
    fn what_can_be_written_depends_on_the_place() {
        let one = |text: &str, part: &str, choices: &[&str]| {
            let (found, names) = completed(text).expect(text);
            assert_eq!(found, part, "{text}");
            assert_eq!(names.iter().take(choices.len().max(1)).collect::<Vec<_>>(), choices, "{text}");
        };
        one("---\n|\n---\n", "", &["name", "description", "license"]);
        one("---\nname: pdf\nde|\n---\n", "de", &["description", "license", "compatibility"]);
        one("---\nname: pdf\ndisable-mo|", "disable-mo", &["description"]);
        one("---\nname: |\n---\n", "", &["pdf"]);
        one("---\neffort: hi|\n---\n", "hi", &["low", "medium", "high"]);
        one("---\nlicense: M|\n---\n", "M", &[]);
        one("---\nmetadata:\n  version: \"1\"\n\n  |\n---\n", "", &["author", "tags"]);
        one("---\nmetadata:\n  skill-dependencies: a b@^1 c|\n---\n", "c", &["SKILLS"]);
        one("---\nname: x # skillpm: allow a, b|\n---\n", "b", &["RULES"]);
        one("---\nname: x\n---\n<!-- skillpm: allow-file | -->\n", "", &["RULES"]);
        for text in
            ["---\nname: x\n---\nna|", "---\nhooks:\n  a|\n---\n", "---\nna|me: x\n---\n- skillpm: allow|"]
        {
            assert!(completed(text).is_none_or(|(part, _)| part == "na" && text.contains("|me")), "{text}");
        }
    }

    #[test]
    fn a_key_says_what_it_is_for() {
        let text = "---\nname: pdf\nmetadata:\n  version: \"1\"\n  other: x\n---\nname\n";
        let document = Document::parse(text.to_owned());
        let at = |word: &str, from: usize| field_at(&document, from + text[from..].find(word).expect(word));
        assert_eq!(at("ame", 0).expect("a field").1.name, "name");
        let (span, field) = at("version", 0).expect("a field");
        assert_eq!((&text[span], field.name), ("version", "version"));
        assert_eq!((at("other", 0), at("pdf", 0), at("name", 50)), (None, None, None));
    }
}
