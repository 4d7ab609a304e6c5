//! `list_skills`, `search_skills`, `load_skill` and `read_skill_file`.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use skillpm_core::engine::resources::{Content, MAX_BYTES};
use skillpm_core::engine::{Arguments, Form};
use skillpm_core::error::{Error, Result};
use skillpm_core::ops::invoke::InvokeRequest;
use skillpm_core::ranking::{Corpus, Document, SearchWords};

use super::{Answer, Definition, Given};
use crate::offer::{Offer, Served, View};

/// The number of skills that `list_skills` returns at once.
const PAGE: usize = 200;
/// The number of problems that `list_skills` names.
const PROBLEMS: usize = 20;
/// The number of skills that `search_skills` returns.
const FOUND: usize = 10;
/// The number of names that a description names; a client may show all tools in every request.
const NAMED: usize = 40;
/// The number of names for which an argument lists what it may be.
const ENUMERATED: usize = 200;

/// Returns the tools. There are none if there are no skills.
///
/// # Errors
///
/// Fails if the directories of skills cannot be searched.
pub(crate) fn definitions(offer: &Offer) -> Result<Vec<Definition>> {
    let view = offer.view()?;
    let mut names: Vec<_> = view.for_models().map(|served| served.skill.meta.name.as_str()).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    names.sort_unstable();
    let mut name = json!({ "type": "string", "description": "the name of the skill" });
    if names.len() <= ENUMERATED {
        name["enum"] = json!(names);
    }
    let available = match names.get(..NAMED) {
        Some(first) if names.len() > NAMED => {
            format!("{} and {} more", first.join(", "), names.len() - NAMED)
        }
        _ => names.join(", "),
    };
    let tool = |name: &str, title: &str, description: String, input: Value| Definition {
        name: name.to_owned(),
        title: title.to_owned(),
        description,
        input: input.as_object().cloned().unwrap_or_default(),
        is_read_only: true,
    };
    Ok(vec![
        tool(
            "list_skills",
            "List skills",
            "Lists the skills of this server with their descriptions, which say when to use each.".to_owned(),
            json!({
                "type": "object",
                "properties": {
                    "offset": { "type": "integer", "minimum": 0, "description": "how many skills to skip; an answer that is cut says where to go on" }
                },
                "additionalProperties": false
            }),
        ),
        tool(
            "search_skills",
            "Search skills",
            "Finds skills for a task by words of their names, tags and descriptions, the best first."
                .to_owned(),
            json!({
                "type": "object",
                "properties": { "query": { "type": "string", "description": "what the task is about, in a few words" } },
                "required": ["query"],
                "additionalProperties": false
            }),
        ),
        tool(
            "load_skill",
            "Load a skill",
            format!(
                "Returns the instructions of a skill and the names of its files. Call this before a task that one of these \
                 skills fits, and follow what it returns. Skills: {available}."
            ),
            json!({
                "type": "object",
                "properties": {
                    "name": name,
                    "arguments": { "type": "string", "description": "what the skill gets as its arguments, if its instructions take any" }
                },
                "required": ["name"],
                "additionalProperties": false
            }),
        ),
        tool(
            "read_skill_file",
            "Read a file of a skill",
            "Returns a file of a skill, such as a reference or a template that its instructions mention."
                .to_owned(),
            json!({
                "type": "object",
                "properties": {
                    "name": name,
                    "path": { "type": "string", "description": "the path of the file below the skill's directory, such as `references/forms.md`" }
                },
                "required": ["name", "path"],
                "additionalProperties": false
            }),
        ),
    ])
}

/// Calls the tool `name`. A call that fails is an answer, too: the model reads it and may try again. Returns `None` if
/// there is no such tool.
pub(crate) fn call(
    offer: &Offer,
    name: &str,
    arguments: &Map<String, Value>,
    client: Option<&str>,
) -> Option<Answer> {
    let arguments = Given(arguments);
    let answer = match name {
        "list_skills" => list(offer, &arguments),
        "search_skills" => search(offer, &arguments),
        "load_skill" => load(offer, &arguments, client),
        "read_skill_file" => read(offer, &arguments),
        _ => return None,
    };
    Some(answer.unwrap_or_else(|error| Answer::failed(&error)))
}

fn list(offer: &Offer, arguments: &Given<'_>) -> Result<Answer> {
    arguments.only(&["offset"])?;
    let view = offer.view()?;
    let offset = arguments.number("offset")?.unwrap_or_default();
    let skills: Vec<_> = view.for_models().collect();
    let page = skills.iter().skip(offset).take(PAGE);
    let mut text = page.clone().map(|served| line(served)).collect::<String>();
    let next = offset.saturating_add(PAGE);
    if next < skills.len() {
        let _ =
            writeln!(text, "\n{} more skills: call `list_skills` with `offset` {next}", skills.len() - next);
    }
    if skills.is_empty() {
        text.push_str(NONE);
    }
    // Once is enough: not on each page, and not so many that they crowd out the skills.
    let shown = if offset == 0 { view.problems.get(..PROBLEMS).unwrap_or(&view.problems) } else { &[] };
    if !shown.is_empty() {
        let _ = writeln!(text, "\nSkills that cannot be used:\n- {}", shown.join("\n- "));
        if shown.len() < view.problems.len() {
            let _ = writeln!(text, "- and {} more", view.problems.len() - shown.len());
        }
    }
    let value = json!({
        "skills": page.map(|served| summary(served)).collect::<Vec<_>>(),
        "total": skills.len(),
        "problems": shown,
    });
    Ok(Answer::success(text, Some(value)))
}

/// The text for a server without skills.
const NONE: &str = "There are no skills: none is installed, or all of them are disabled.\n";

fn search(offer: &Offer, arguments: &Given<'_>) -> Result<Answer> {
    arguments.only(&["query"])?;
    let query = arguments.text("query")?;
    let view = offer.view()?;
    let found = ranked(&view, query);
    let text = if found.is_empty() {
        "No skill matches. `list_skills` lists all of them.\n".to_owned()
    } else {
        found.iter().map(|served| line(served)).collect()
    };
    let value = json!({ "skills": found.iter().map(|served| summary(served)).collect::<Vec<_>>() });
    Ok(Answer::success(text, Some(value)))
}

/// Returns the skills that match `query`, the best first.
fn ranked<'a>(view: &'a View, query: &str) -> Vec<&'a Served> {
    let skills: Vec<&Served> = view.for_models().map(|served| &**served).collect();
    let documents = skills.iter().map(|served| {
        let meta = &served.skill.meta;
        Document { name: &meta.name, tags: &meta.tags, description: &meta.description }
    });
    let corpus: Corpus = documents.collect();
    let matches = SearchWords::new([query]).rank(&corpus);
    matches.into_iter().take(FOUND).filter_map(|found| skills.get(found.at).copied()).collect()
}

fn load(offer: &Offer, arguments: &Given<'_>, client: Option<&str>) -> Result<Answer> {
    arguments.only(&["name", "arguments"])?;
    let served = offer.for_model(arguments.text("name")?)?;
    let words = arguments.optional_text("arguments")?.unwrap_or_default();
    let request = InvokeRequest {
        arguments: Arguments::new(words),
        form: Form::Xml,
        session: client.map(str::to_owned),
        ..InvokeRequest::new(&served.skill.meta.name)
    };
    let outcome = offer.session.invoke_found(&served.skill, &request).map_err(Error::from)?;
    for warning in &outcome.warnings {
        offer.warn(warning);
    }
    Ok(Answer { loaded: Some(served.skill.meta.name.clone()), ..Answer::success(outcome.content, None) })
}

fn read(offer: &Offer, arguments: &Given<'_>) -> Result<Answer> {
    arguments.only(&["name", "path"])?;
    let served = offer.for_model(arguments.text("name")?)?;
    let path = arguments.text("path")?;
    match offer.session.read_found(&served.skill, path, MAX_BYTES).map_err(Error::from)? {
        Content::Text(text) => Ok(Answer::success(text, None)),
        Content::Binary(bytes) => Err(Error::usage(format!(
            "`{path}` is not text: it has {} bytes and is at `{}`",
            bytes.len(),
            served.skill.dir.join(path).display()
        ))),
    }
}

fn line(served: &Served) -> String {
    let meta = &served.skill.meta;
    format!("- {}: {}\n", meta.name, meta.description.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn summary(served: &Served) -> Value {
    let meta = &served.skill.meta;
    let mut value = json!({
        "name": meta.name,
        "description": meta.description,
        "scope": served.skill.kind.to_string(),
    });
    if let Some(uri) = served.uri() {
        value["uri"] = json!(uri);
    }
    if !meta.tags.is_empty() {
        value["tags"] = json!(meta.tags);
    }
    if let Some(version) = &meta.version {
        value["version"] = json!(version);
    }
    value
}
