//! `list_skills`, `search_skills`, `load_skill` and `read_skill_file`.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::answer::{Answer, Definition, Given, MAX_TEXT, shortened};
use super::{Toolkit, View};
use crate::engine::catalog::CatalogForm;
use crate::engine::load::{MAX_SKILL_FILE, SKILL_FILE};
use crate::engine::resources::{Content, MAX_BYTES};
use crate::engine::{Arguments, Form, Skill};
use crate::error::{Error, Result};
use crate::ops::invoke::InvokeRequest;
use crate::ranking::{Corpus, Document, SearchWords};
use crate::session::provenance::{LockedOrigin, Origins};

/// The tool that finds skills, which a catalog names that has no room for all.
pub const SEARCH: &str = "search_skills";
/// The number of skills that `list_skills` returns at once.
const PAGE: usize = 200;
/// How many times as much of a file as is usual one call of `read_skill_file` may ask for.
const LARGER: usize = 16;
/// The largest number of bytes of a file that one call may ask for, if an answer has as much as is usual.
const MAX_LIMIT: usize = LARGER * MAX_TEXT;
/// The number of files that the instructions list.
const MAX_LISTED: usize = 200;
/// The number of characters of a name in a list, more than the specification of skills allows.
const MAX_NAME: usize = 200;
/// The number of characters of a description in a list: those that the specification allows.
pub const MAX_DESCRIPTION: usize = 1_024;
/// The number of characters of a problem in a list.
const MAX_PROBLEM: usize = 500;
/// The number of problems that `list_skills` names.
const PROBLEMS: usize = 20;
/// The length of a digest in a list: enough to tell two versions apart.
const SHORT_DIGEST: usize = "sha256:".len() + 12;
/// The number of skills that `search_skills` returns.
const FOUND: usize = 10;
/// The number of names for which an argument lists what it may be.
const ENUMERATED: usize = 200;

/// A tool: what a client sees of it, and what answers a call.
struct Tool {
    /// Its name.
    name: &'static str,
    /// Its name for people.
    title: &'static str,
    /// Returns what it does and when to call it.
    description: fn(&Names) -> String,
    /// Returns its arguments, as the properties of a JSON Schema.
    arguments: fn(&Names) -> Value,
    /// The arguments that have to be given.
    required: &'static [&'static str],
    /// Answers a call of a client, if that has a name.
    answer: fn(&Toolkit, &Given<'_>, Option<&str>) -> Result<Answer>,
}

/// The names of the skills, as tools mention them.
struct Names {
    /// The argument that takes one of them, as a JSON Schema.
    argument: Value,
}

/// The tools.
const TOOLS: [Tool; 4] = [
    Tool {
        name: "list_skills",
        title: "List skills",
        description: |_| "Lists the skills with their descriptions, which say when to use each.".into(),
        arguments: |_| {
            json!({
                "offset": { "type": "integer", "minimum": 0, "description": "how many skills to skip; an answer that is cut says where to go on" },
                "limit": { "type": "integer", "minimum": 1, "maximum": PAGE, "description": "the largest number of skills in the answer" }
            })
        },
        required: &[],
        answer: list,
    },
    Tool {
        name: SEARCH,
        title: "Search skills",
        description: |_| {
            "Finds skills for a task by words of their names, tags and descriptions, the best first.".into()
        },
        arguments: |_| json!({ "query": { "type": "string", "description": "what the task is about, in a few words" } }),
        required: &["query"],
        answer: search,
    },
    Tool {
        name: "load_skill",
        title: "Load a skill",
        description: |_| {
            "Returns the instructions of a skill and the names of its files. Call this before a task that a skill fits, \
             and follow what it returns."
                .into()
        },
        arguments: |names| {
            json!({
                "name": names.argument,
                "arguments": { "type": "string", "description": "what the skill gets as its arguments, if its instructions take any" }
            })
        },
        required: &["name"],
        answer: load,
    },
    Tool {
        name: "read_skill_file",
        title: "Read a file of a skill",
        description: |_| {
            "Returns a file of a skill, such as a reference or a template that its instructions mention. A long one \
             comes in parts: the answer says how many bytes are left, and the `offset` of the next part."
                .into()
        },
        arguments: |_| {
            json!({
                "name": { "type": "string", "description": "the name of the skill" },
                "path": { "type": "string", "description": "the path of the file below the skill's directory, such as `references/forms.md`" },
                "offset": { "type": "integer", "minimum": 0, "description": "how many bytes of the file to skip" },
                "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "the largest number of bytes of the file in the answer" }
            })
        },
        required: &["name", "path"],
        answer: read,
    },
];

impl Default for Names {
    fn default() -> Self {
        Self { argument: json!({ "type": "string", "description": "the name of the skill" }) }
    }
}

impl Names {
    /// Returns the names of the skills that models see; `None` if there are none.
    fn of(view: &View) -> Option<Self> {
        let mut names: Vec<_> = view.for_models().map(|skill| skill.meta.name.as_str()).collect();
        if names.is_empty() {
            return None;
        }
        names.sort_unstable();
        let mut found = Self::default();
        if names.len() <= ENUMERATED {
            found.argument["enum"] = json!(names);
        }
        Some(found)
    }
}

impl Tool {
    fn definition(&self, names: &Names) -> Definition {
        let mut input = json!({
            "type": "object",
            "properties": (self.arguments)(names),
            "additionalProperties": false
        });
        if !self.required.is_empty() {
            input["required"] = json!(self.required);
        }
        Definition {
            name: self.name.to_owned(),
            title: self.title.to_owned(),
            description: (self.description)(names),
            input: input.as_object().cloned().unwrap_or_default(),
            is_read_only: true,
        }
    }
}

impl Toolkit {
    /// Returns the tools that read skills. There are none if there are no skills.
    ///
    /// # Errors
    ///
    /// Fails if the skills cannot be looked for.
    pub fn definitions(&self) -> Result<Vec<Definition>> {
        let names = Names::of(&*self.view()?);
        Ok(names.map(|names| defined(&names)).unwrap_or_default())
    }

    /// Returns the tools that read skills, whatever skills there are: none is named.
    pub fn standing_definitions() -> Vec<Definition> {
        defined(&Names::default())
    }

    /// Calls the tool `name` for `client`, if that has a name. A call that fails is an answer, too: the model reads it and
    /// may try again. Returns `None` if there is no such tool.
    pub fn call(&self, name: &str, arguments: &Map<String, Value>, client: Option<&str>) -> Option<Answer> {
        let tool = TOOLS.iter().find(|tool| tool.name == name)?;
        let arguments = Given(arguments);
        let known = (tool.arguments)(&Names::default());
        let known: Vec<_> = known.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
        let answer = arguments.only(&known).and_then(|()| (tool.answer)(self, &arguments, client));
        Some(answer.unwrap_or_else(|error| self.failed(&error)))
    }

    /// Loads `skill` with the arguments `words`. The line of the audit log is part of the session `client`.
    ///
    /// # Errors
    ///
    /// Fails if the skill can no longer be loaded.
    pub fn load(&self, skill: &Arc<Skill>, words: &str, client: Option<&str>) -> Result<Loaded> {
        let request = InvokeRequest { session: client.map(str::to_owned), ..self.instructions(skill, words) };
        self.loaded(skill, &request)
    }

    /// Returns what [`Toolkit::load`] returns now for a skill that an agent has: it is not recorded.
    ///
    /// # Errors
    ///
    /// Fails if the skill can no longer be loaded.
    pub fn loaded_again(&self, skill: &Arc<Skill>, words: &str) -> Result<Loaded> {
        self.loaded(skill, &InvokeRequest { record: false, ..self.instructions(skill, words) })
    }

    fn instructions(&self, skill: &Arc<Skill>, words: &str) -> InvokeRequest {
        InvokeRequest {
            arguments: Arguments::new(words),
            form: Form::Xml,
            limit: Some(self.selection.most),
            ..InvokeRequest::new(&skill.meta.name)
        }
    }
}

fn defined(names: &Names) -> Vec<Definition> {
    TOOLS.iter().map(|tool| tool.definition(names)).collect()
}

fn list(kit: &Toolkit, arguments: &Given<'_>, _: Option<&str>) -> Result<Answer> {
    let view = kit.view()?;
    let offset = arguments.number("offset")?.unwrap_or_default();
    let limit = arguments.limit(PAGE, PAGE)?;
    let total = view.for_models().count();
    let (mut text, mut next) = (String::new(), offset);
    let origins = kit.origins();
    let lines = view.for_models().skip(offset).take(limit).map(|skill| with_origin(skill, origins.as_ref()));
    for line in lines {
        if text.len() + line.len() > kit.selection.most {
            break;
        }
        text.push_str(&line);
        next += 1;
    }
    let left = total.saturating_sub(next);
    if left > 0 {
        let _ = writeln!(text, "\n{left} more skills: call `list_skills` with `offset` {next}");
    } else if total == 0 {
        text.push_str(NONE);
    } else if offset >= total {
        let _ = writeln!(text, "There are {total} skills, and none after the first {offset}.");
    }
    // Once is enough: not on each page, and not so many that they crowd out the skills.
    let shown = if offset == 0 { view.problems.get(..PROBLEMS).unwrap_or(&view.problems) } else { &[] };
    if !shown.is_empty() {
        text.push_str("\nSkills that cannot be used:\n");
        for problem in shown {
            let _ = writeln!(text, "- {}", one_line(problem, MAX_PROBLEM));
        }
        if shown.len() < view.problems.len() {
            let _ = writeln!(text, "- and {} more", view.problems.len() - shown.len());
        }
    }
    Ok(Answer::success(text))
}

/// The text for a server without skills.
const NONE: &str = "There are no skills: none is installed, or all of them are disabled.\n";

fn search(kit: &Toolkit, arguments: &Given<'_>, _: Option<&str>) -> Result<Answer> {
    let query = arguments.text("query")?;
    let view = kit.view()?;
    let found = ranked(&view, query);
    let text = if found.is_empty() {
        "No skill matches: try other words.\n".to_owned()
    } else {
        let origins = kit.origins();
        found.iter().map(|skill| with_origin(skill, origins.as_ref())).collect()
    };
    Ok(Answer::success(text))
}

/// Returns the skills that match `query`, the best first.
fn ranked<'a>(view: &'a View, query: &str) -> Vec<&'a Skill> {
    let skills: Vec<&Skill> = view.for_models().map(|skill| &**skill).collect();
    let documents = skills.iter().map(|skill| {
        let meta = &skill.meta;
        Document { name: &meta.name, tags: &meta.tags, description: &meta.description }
    });
    let corpus: Corpus = documents.collect();
    let matches = SearchWords::new([query]).rank(&corpus);
    matches.into_iter().take(FOUND).filter_map(|found| skills.get(found.at).copied()).collect()
}

fn load(kit: &Toolkit, arguments: &Given<'_>, client: Option<&str>) -> Result<Answer> {
    let skill = kit.for_model(arguments.text("name")?)?;
    let words = arguments.optional_text("arguments")?.unwrap_or_default();
    let Loaded { text, notes, origin } = kit.load(&skill, words, client)?;
    Ok(Answer { loaded: Some(skill.meta.name.clone()), notes, origin, ..Answer::success(text) })
}

/// What a model gets of a skill, whoever started it.
pub struct Loaded {
    /// The instructions and the names of the files.
    pub text: String,
    /// What was cut, and how to go on.
    pub notes: Vec<String>,
    /// Where it comes from, if it is locked.
    pub origin: Option<LockedOrigin>,
}

impl Toolkit {
    fn loaded(&self, skill: &Arc<Skill>, request: &InvokeRequest) -> Result<Loaded> {
        let most = self.selection.most;
        let outcome = self.session.invoke_found(skill, request).map_err(Error::from)?;
        for warning in &outcome.warnings {
            self.warn(warning);
        }
        let (mut activation, mut notes) = (outcome.activation, Vec::new());
        if outcome.left_out > 0 {
            let file = skill.file.file_name().and_then(|name| name.to_str()).unwrap_or(SKILL_FILE);
            let size = match self.session.read_found(skill, file, MAX_SKILL_FILE).map_err(Error::from)? {
                Content::Text(text) => text.len(),
                Content::Binary(bytes) => bytes.len(),
            };
            let (left, next) = (outcome.left_out, size.saturating_sub(outcome.left_out));
            let on = if self.selection.no_tools {
                format!("They are in `{file}`, from byte {next} on.")
            } else {
                format!("Go on with `read_skill_file`, `path` `{file}` and `offset` {next}.")
            };
            notes.push(format!("The instructions are cut: {left} bytes are left. {on}"));
        }
        // Arguments count as often as the instructions name them.
        let filled = activation.body.len();
        if filled > 2 * most {
            activation.body.truncate(activation.body.floor_char_boundary(2 * most));
            notes.push(format!(
                "The instructions with the arguments have {filled} bytes; this is the start of them. Load the skill with shorter arguments."
            ));
        }
        let mut room = most;
        let fits = |file: &&String| {
            room = room.saturating_sub(file.len());
            room > 0
        };
        let listed = activation.files.iter().take_while(fits).count();
        // So many short names are cut by the form.
        if listed < activation.files.len().min(MAX_LISTED) {
            notes.push(format!("{} more files are not listed.", activation.files.len() - listed));
            activation.files.truncate(listed);
        }
        let text = if notes.is_empty() { outcome.content } else { activation.render(Form::Xml) };
        notes.extend(self.scripts_note(skill));
        let origin = self.origins().and_then(|origins| origins.of(skill));
        notes.extend(origin.as_ref().map(|origin| format!("Source: {}.", shown(origin, false))));
        Ok(Loaded { text, notes, origin })
    }
}

fn read(kit: &Toolkit, arguments: &Given<'_>, _: Option<&str>) -> Result<Answer> {
    let skill = kit.for_model(arguments.text("name")?)?;
    let path = arguments.text("path")?;
    let offset = arguments.number("offset")?.unwrap_or_default();
    let limit = arguments.limit(kit.selection.most, LARGER * kit.selection.most)?;
    match kit.session.read_found(&skill, path, MAX_BYTES).map_err(Error::from)? {
        Content::Text(text) => part(&text, offset, limit),
        Content::Binary(bytes) => Err(Error::usage(format!(
            "`{path}` is not text: it has {} bytes and is at `{}`",
            bytes.len(),
            skill.dir.join(path).display()
        ))),
    }
}

/// Returns at most `limit` bytes of `text` from `offset` on, in whole characters, and a note if that is not all.
fn part(text: &str, offset: usize, limit: usize) -> Result<Answer> {
    let size = text.len();
    if offset > 0 && offset >= size {
        return Err(Error::usage(format!(
            "there is nothing at `offset` {offset}: the file has {size} bytes"
        )));
    }
    let start = text.floor_char_boundary(offset);
    let mut end = text.floor_char_boundary(start.saturating_add(limit));
    if end == start {
        // A character has more bytes than were asked for.
        end = text.ceil_char_boundary(start + 1);
    }
    let mut answer = Answer::success(text[start..end].to_owned());
    let left = size - end;
    if left > 0 {
        answer.notes.push(format!(
            "These are the bytes {start} to {end} of {size}; {left} are left. Go on with `offset` {end}."
        ));
    } else if start > 0 {
        answer.notes.push(format!("These are the bytes {start} to {end} of {size}, the end of the file."));
    }
    Ok(answer)
}

/// Returns the line of a skill in a list, with its source, version and the start of its digest if it is locked.
fn with_origin(skill: &Skill, origins: Option<&Origins>) -> String {
    let mut line = line(skill);
    if let Some(origin) = origins.and_then(|origins| origins.of(skill)) {
        line.truncate(line.trim_end().len());
        let _ = writeln!(line, " [{}]", shown(&origin, true));
    }
    line
}

/// Returns where a skill comes from, in one line: `owner/repo/skills/pdf, version 1.2.0, sha256:…`.
fn shown(origin: &LockedOrigin, is_short: bool) -> String {
    let version = origin.version.as_ref();
    let version = version.map(|version| format!(", version {}", one_line(version, MAX_NAME)));
    let digest = origin.digest.to_string();
    let digest = if is_short { &digest[..SHORT_DIGEST] } else { &digest };
    format!("{}{}, {digest}", one_line(&origin.source, MAX_NAME), version.unwrap_or_default())
}

/// Returns the line of a skill in a list.
fn line(skill: &Skill) -> String {
    let meta = &skill.meta;
    format!("- {}: {}\n", one_line(&meta.name, MAX_NAME), one_line(&meta.description, MAX_DESCRIPTION))
}

/// Returns at most `max` characters of `text` on one line, without what a model could take for a tag, or a person could not see.
pub fn one_line(text: &str, max: usize) -> String {
    CatalogForm::Markdown.escaped(&shortened(text.to_owned(), max)).into_owned()
}
