//! What an agent reads in the file of a skill: each has its own reader, and they differ where files are not quite right.

mod codex;
mod gemini;
mod opencode;

use super::Why;
use super::walk::FoundFile;
use crate::agents::rules::{Fallback, Field, Name, Rules};
use crate::document::{Document, FaultKind, Node, ProblemKind, Style, Value};
use crate::fs;
use crate::skill::MAX_SKILL_FILE;

/// The most characters that the specification allows in a name.
const MAX_NAME: usize = 64;

/// The texts of a skill, as the agent reads them.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// `name`.
    pub name: Option<String>,
    /// `description`, or what the agent takes for one.
    pub description: String,
    /// `when_to_use`, with what joins it to the description, where the agent adds it.
    pub when: Option<(&'static str, String)>,
    /// Why it is not listed, although it loads.
    pub hidden: Option<Why>,
}

impl Texts {
    /// Returns all that could be listed.
    pub(super) fn whole(&self) -> String {
        match &self.when {
            Some((_, when)) if self.description.is_empty() => when.clone(),
            Some((join, when)) => format!("{}{join}{when}", self.description),
            None => self.description.clone(),
        }
    }
}

/// Reads a file as the agent does.
pub(super) fn texts(rules: &Rules, found: &FoundFile) -> Result<Texts, Why> {
    if let Some(description) = found.built_in {
        return Ok(Texts { description: description.to_owned(), ..Texts::default() });
    }
    let bytes = fs::read_capped(&found.file, MAX_SKILL_FILE).ok().flatten().ok_or(Why::Unreadable)?;
    match rules.agent {
        "codex" => codex::read(bytes, found),
        "gemini-cli" => gemini::read(&bytes),
        "opencode" => opencode::read(&bytes),
        _ => read(rules, bytes, found),
    }
}

/// Reads a file by the rules alone, as most agents do.
fn read(rules: &Rules, bytes: Vec<u8>, found: &FoundFile) -> Result<Texts, Why> {
    let needs = &rules.needs;
    let document = Document::from_bytes(bytes);
    let fault = document.problems().iter().find_map(|problem| match problem.kind {
        ProblemKind::MissingFrontmatter(_) | ProblemKind::UnclosedFrontmatter => Some(Why::NoFrontmatter),
        ProblemKind::Repaired { .. } if needs.repairs => None,
        ProblemKind::Repaired { .. } | ProblemKind::Yaml(_) | ProblemKind::NotAMapping(_) => {
            Some(Why::NotYaml)
        }
        _ => None,
    });
    let is_lenient = !needs.name && !needs.description && needs.repairs;
    let directory = found.dir.file_name().unwrap_or_default().to_string_lossy();
    if let Some(reserved) = rules.reserved.filter(|reserved| *reserved == directory) {
        return Err(Why::Reserved(reserved));
    }
    if let Some(fault) = fault.clone().filter(|_| !is_lenient) {
        return Err(fault);
    }
    if needs.body && document.body().trim().is_empty() {
        return Err(Why::NoBody);
    }
    let text = |key: &'static str| match document.get(key) {
        Some(node) if node.is_absent() => Ok(None),
        Some(node) => node.text().map(|text| Some(text.trim().to_owned())).ok_or(Why::NotText(key)),
        None => Ok(None),
    };
    // Such an agent takes frontmatter that is not YAML for empty, but for a colon in a value.
    let is_colon = |kind: &ProblemKind| matches!(kind, ProblemKind::Repaired { fault: FaultKind::Colon, .. });
    let repaired =
        document.problems().iter().filter(|problem| matches!(problem.kind, ProblemKind::Repaired { .. }));
    let is_empty = is_lenient && repaired.into_iter().any(|problem| !is_colon(&problem.kind));
    let is_malformed = is_empty || matches!(fault, Some(Why::NotYaml));
    let lenient = |key| match text(key) {
        Ok(text) if !is_empty => Ok(text),
        Err(why) if !is_lenient => Err(why),
        _ => Ok(None),
    };
    let name = lenient("name")?.filter(|name| !name.is_empty());
    let description = lenient("description")?.filter(|text| !text.is_empty());
    if needs.name && rules.name != Name::Directory && name.is_none() {
        return Err(Why::NoName);
    }
    if let Some(name) = &name {
        // Crush, which wants names of the specification, takes their case for nothing.
        let is_same =
            if needs.spec_name { name.eq_ignore_ascii_case(&directory) } else { *name == directory };
        if rules.name == Name::Both && !is_same {
            return Err(Why::OtherName(name.clone()));
        }
        if needs.spec_name && name.chars().count() > MAX_NAME {
            return Err(Why::LongName(name.chars().count()));
        }
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
        let is_good = match rules.name {
            Name::Both => name.split('-').all(is_word),
            _ => name.chars().all(is_plain),
        };
        if needs.spec_name && !is_good {
            return Err(Why::OddName(name.clone()));
        }
    }
    if needs.description && description.is_none() {
        return Err(Why::NoDescription);
    }
    let length = description.as_ref().map_or(0, |text| text.chars().count());
    if let Some(most) = needs.description_most.filter(|most| length > *most) {
        return Err(Why::LongDescription(length, most));
    }
    let description = description.unwrap_or_else(|| match rules.fallback {
        Fallback::FirstLine => document.body().trim().lines().next().unwrap_or_default().to_owned(),
        // Source: "malformed YAML loads with empty metadata", invocable by its name without a description.
        Fallback::FirstParagraph if !is_malformed => first_paragraph(document.body()),
        Fallback::FirstParagraph | Fallback::Nothing => String::new(),
    });
    let when = rules
        .when
        .and_then(|join| Some((join, lenient("when_to_use").ok()??)))
        .filter(|(_, text)| !text.is_empty());
    let hidden = rules.hides.iter().find_map(|field| hides(*field, &document, &description));
    Ok(Texts { name, description, when, hidden })
}

/// Returns why `field` keeps a skill out of the listing, if it does.
fn hides(field: Field, document: &Document, description: &str) -> Option<Why> {
    let says = |key: &str, word: fn(&str) -> bool| {
        let text = document.get(key)?.text()?;
        word(&text.to_ascii_lowercase()).then(|| Why::Field(format!("{key}: {text}")))
    };
    let is_on = |word: &str| matches!(word, "true" | "yes" | "on" | "1");
    let is_off = |word: &str| matches!(word, "false" | "no" | "off" | "0");
    match field {
        Field::DisableModelInvocation => says("disable-model-invocation", is_on),
        Field::Disabled => says("disabled", is_on).or_else(|| says("enabled", is_off)),
        Field::Paths => document.get("paths").filter(|node| !is_empty(node)).map(|_| Why::Paths),
        Field::Triggers => {
            document.get("triggers").filter(|node| !is_empty(node)).map(|_| Why::Field("triggers".to_owned()))
        }
        Field::NoDescription => description.is_empty().then_some(Why::NoDescription),
        // It is in another file, which its agent's reader looks at.
        Field::OpenAiPolicy => None,
    }
}

fn is_empty(node: &Node) -> bool {
    node.flat_text().is_some_and(|text| text.trim().is_empty())
}

/// Reports whether readers in JavaScript refuse what ours only tells.
fn is_refused(problem: &ProblemKind) -> bool {
    matches!(problem, ProblemKind::DuplicateKey { .. } | ProblemKind::SeveralDocuments)
}

/// Reports whether YAML of version 1.1 takes a plain value for a date.
fn is_date(node: &Node) -> bool {
    let Value::Scalar { text, style: Style::Plain } = &node.value else { return false };
    let digits = |range: std::ops::Range<usize>| {
        text.get(range).is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_day = digits(0..4) && text.get(4..5) == Some("-") && digits(5..7) && text.get(7..8) == Some("-");
    is_day && digits(8..10) && (text.len() == 10 || text[10..].starts_with(['T', 't', ' ', '\t']))
}

/// Returns the first paragraph of Markdown on one line, without the marks of a heading.
fn first_paragraph(body: &str) -> String {
    let lines = body.lines().skip_while(|line| line.trim().is_empty());
    let paragraph: Vec<_> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    paragraph.join(" ").trim_start_matches('#').trim_start().to_owned()
}
