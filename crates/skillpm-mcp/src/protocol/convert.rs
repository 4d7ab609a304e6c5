//! From the values of this crate to those of the protocol.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, CompletionInfo, ContentBlock, DIRECTORY_MIME_TYPE, MetaObject, Prompt, PromptArgument,
    ReadResourceResult, Resource, ResourceContents, Skill, SkillFrontmatter, SkillResource, SkillResources,
    Tool, ToolAnnotations,
};
use serde_json::json;
use skillpm_core::engine::load::{MAX_SKILL_FILE, SKILL_FILE};
use skillpm_core::engine::resources::{self, Content, MAX_BYTES};
use skillpm_core::toolkit::{Answer, Definition, MAX_DESCRIPTION, one_line};
use skillpm_format::profile::Listing;
use skillpm_sources::error::Error;

use crate::entry::Entry;
use crate::offer::{Located, Offer, Served, View};
use crate::settled::settled;
use crate::{prompts, uri};

/// Returns the error for a failure that is not the client's.
pub(super) fn failed(error: &Error) -> ErrorData {
    ErrorData::internal_error(error.with_causes().to_string(), None)
}

pub(super) fn skill(entry: Entry) -> Skill {
    let mut frontmatter = SkillFrontmatter::new(entry.name, entry.description);
    frontmatter.extra = entry.fields;
    let files = entry.files.into_iter().map(|file| SkillResource::new(file.uri, file.digest, file.size));
    Skill::new(entry.uri, frontmatter, SkillResources::Files(files.collect()))
}

/// Returns the `SKILL.md` of a skill as a resource, if it has an address.
pub(super) fn resource(served: &Served) -> Option<Resource> {
    let meta = &served.skill.meta;
    let resource = Resource::new(served.uri()?, meta.name.clone());
    Some(
        resource
            .with_description(one_line(&meta.description, MAX_DESCRIPTION))
            .with_mime_type("text/markdown"),
    )
}

pub(super) fn tool(definition: Definition) -> Tool {
    let annotations = ToolAnnotations::new()
        .read_only(definition.is_read_only)
        .destructive(!definition.is_read_only)
        .idempotent(definition.is_read_only)
        .open_world(!definition.is_read_only);
    Tool::new(definition.name, definition.description, definition.input)
        .with_title(definition.title)
        .with_annotations(annotations)
}

pub(super) fn answer(answer: Answer) -> CallToolResult {
    let Answer { text, notes, meta, is_error, .. } = answer;
    // Some hosts pass on no empty text, and an answer has to have one.
    let text = Some(text).filter(|text| !text.is_empty() || notes.is_empty());
    let content = text.into_iter().chain(notes).map(ContentBlock::text).collect();
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.meta = meta.map(|meta| {
        let mut object = MetaObject::new();
        object.insert(RUN.to_owned(), meta);
        object
    });
    result
}

/// The key of the outcome of a run among what a result has for programs.
const RUN: &str = "io.github.skillpm/run";

pub(super) fn prompt(prompt: &prompts::Prompt) -> Prompt {
    let argument = PromptArgument::new("arguments").with_required(false);
    let argument = match &prompt.hint {
        Some(hint) => argument.with_description(hint),
        None => argument.with_description("the arguments of the skill, in one line"),
    };
    Prompt::new(&prompt.name, Some(&prompt.description), Some(vec![argument]))
}

/// Returns the first values that an answer may have, and how many there are.
pub(super) fn completion(mut values: Vec<String>) -> CompletionInfo {
    let total = u32::try_from(values.len()).ok();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut completion = CompletionInfo::default();
    completion.has_more = total.map(|total| usize::try_from(total).is_ok_and(|total| total > values.len()));
    completion.total = total;
    completion.values = values;
    completion
}

/// Returns the content of a file of a skill.
pub(super) fn contents(offer: &Offer, located: &Located, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let skill = &located.served.skill;
    let below = located.below.as_str();
    // The main file may have another spelling on disk, or be a link.
    let (path, limit) = match skill.file.file_name().and_then(|name| name.to_str()) {
        Some(name) if below == SKILL_FILE => (name, MAX_SKILL_FILE),
        _ => (below, MAX_BYTES),
    };
    let content =
        resources::read(&skill.dir, path, offer.kit.session.profile(), limit).map_err(|reason| {
            let is_absent = matches!(reason, resources::Unreadable::Absent(_) | resources::Unreadable::Empty);
            let message = reason.into_error(&skill.meta.name, below).to_string();
            if is_absent {
                ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
            } else {
                ErrorData::invalid_params(message, None)
            }
        })?;
    let contents = match content {
        Content::Text(text) if below == SKILL_FILE => {
            ResourceContents::text(settled(&text).unwrap_or(text), uri).with_mime_type(text_type(path))
        }
        Content::Text(text) => ResourceContents::text(text, uri).with_mime_type(text_type(path)),
        Content::Binary(bytes) => ResourceContents::blob(BASE64_STANDARD.encode(bytes), uri)
            .with_mime_type("application/octet-stream"),
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Returns the media type of a text file, by the ending of its name.
fn text_type(path: &str) -> &'static str {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("md" | "markdown") => "text/markdown",
        Some("json") => "application/json",
        Some("html" | "htm") => "text/html",
        Some("py") => "text/x-python",
        _ => "text/plain",
    }
}

/// Returns the direct children of the directory `address`: of a directory in a skill, or above skills.
pub(super) fn children(view: &View, address: &str) -> Result<Vec<Resource>, ErrorData> {
    let unknown = || ErrorData::invalid_params(format!("there is no directory at `{address}`"), None);
    let dir = uri::decode(address).ok_or_else(unknown)?;
    let dir = dir.strip_suffix('/').unwrap_or(&dir).to_owned();
    let mut children = BTreeMap::new();
    if let Some(located) = view.locate(address) {
        let served = &located.served;
        let below = located.below.trim_end_matches('/');
        let files = resources::list(&served.skill.dir, Listing::All).map_err(|_| unknown())?;
        let main = served.skill.file.file_name().and_then(|name| name.to_str()).unwrap_or(SKILL_FILE);
        let files = files.into_iter().filter(|file| file != main).chain([SKILL_FILE.to_owned()]);
        for file in files {
            add(&mut children, &dir, below, &file);
        }
        if children.is_empty() && !below.is_empty() {
            return Err(unknown());
        }
    }
    for path in view.skills.iter().filter_map(|served| served.path.as_deref()) {
        add(&mut children, &dir, &dir, &format!("{path}/{SKILL_FILE}"));
    }
    // The root exists even without skills.
    let is_directory = dir.is_empty() || !children.is_empty();
    if is_directory { Ok(children.into_values().collect()) } else { Err(unknown()) }
}

/// Adds what `path` is in the directory `below`, if it is in there: a file, or the directory that it is in.
fn add(children: &mut BTreeMap<String, Resource>, dir: &str, below: &str, path: &str) {
    let rest = if below.is_empty() {
        Some(path)
    } else {
        path.strip_prefix(below).and_then(|rest| rest.strip_prefix('/'))
    };
    let Some(rest) = rest else { return };
    let (name, is_directory) = rest.split_once('/').map_or((rest, false), |(name, _)| (name, true));
    let uri = uri::encode(&if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") });
    let kind = if is_directory { DIRECTORY_MIME_TYPE } else { text_type(name) };
    children.entry(name.to_owned()).or_insert_with(|| Resource::new(uri, name).with_mime_type(kind));
}
