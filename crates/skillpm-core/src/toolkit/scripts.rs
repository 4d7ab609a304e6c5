//! Scripts of skills as tools, where the user lets an agent run any.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};

use super::Toolkit;
use super::answer::{Answer, Definition, Given};
use super::skills::{MAX_DESCRIPTION, one_line};
use crate::digest::Digest;
use crate::engine::Skill;
use crate::engine::run::{Ended, Exit, Watch, work_dir_here};
use crate::engine::tools::Parameter;
use crate::engine::tools::Tool;
use crate::error::{Error, Result};
use crate::ops::run::{CallRequest, RunOutcome, RunRequest};
use crate::reporter::{Choice, Interact};
use crate::text::{visible, visible_name};

/// The tool that runs any script.
const ANY: &str = "run_skill_script";

/// The number of characters that providers of models take as the name of a tool.
const LONGEST: usize = 64;

/// The number of scripts that a model is told of when it loads a skill.
const NOTED: usize = 30;

/// A script to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The skill's name.
    pub skill: String,
    /// The script, by the name of its tool or by its path.
    pub script: String,
    /// What it gets: an object as its schema has it, or words.
    pub arguments: Value,
}

/// The outcome of an attempt to run a script.
#[derive(Debug)]
pub enum Attempt {
    /// It ran, or it may not.
    Done(Answer),
    /// A person must agree; this is the question.
    Ask(Question),
}

/// What a person is asked before a script runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The words.
    pub text: String,
    /// The digest of the files that would run. The answer counts for them alone.
    pub files: Digest,
}

impl Toolkit {
    /// Returns the tools for the scripts of the skills `loaded`, after one that runs any script. There are none if no tool
    /// runs scripts.
    pub fn script_definitions(&self, loaded: &[String]) -> Vec<Definition> {
        if !self.selection.scripts {
            return Vec::new();
        }
        let tool = |name: &str, title: String, description: String, input: Value| Definition {
            name: name.to_owned(),
            title,
            description,
            input: input.as_object().cloned().unwrap_or_default(),
            is_read_only: false,
        };
        let mut definitions = vec![tool(
            ANY,
            "Run a script of a skill".to_owned(),
            "Runs a script that a skill brings along and returns its output. Load the skill first: its instructions say which \
             script to run, and what it takes."
                .to_owned(),
            json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "description": "the name of the skill" },
                    "script": { "type": "string", "description": "the script, such as `fill_form` or `scripts/fill_form.py`" },
                    "arguments": { "type": "object", "description": "what the script takes, by name; words without names are a list called `arguments`" }
                },
                "required": ["name", "script"],
                "additionalProperties": false
            }),
        )];
        for (name, skill, script) in self.scripts_of(loaded) {
            let title = format!("{} of {skill}", script.name);
            let description = visible(&script.description).replace('<', "&lt;");
            definitions.push(tool(&name, title, description, script.input.schema()));
        }
        definitions
    }

    /// Returns the script that the tool `name` runs; `None` if it is not such a tool.
    pub fn script_call(
        &self,
        loaded: &[String],
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Option<Result<Call>> {
        if !self.selection.scripts {
            return None;
        }
        if name == ANY {
            return Some(any(arguments));
        }
        let mut scripts = self.scripts_of(loaded).into_iter();
        let (_, skill, script) = scripts.find(|(tool, ..)| tool == name)?;
        Some(Ok(Call { skill, script: script.name, arguments: arguments.clone().into() }))
    }

    /// Returns what a model is told of the scripts of a skill that it loads: which there are, and what they take.
    pub(super) fn scripts_note(&self, skill: &Skill) -> Option<String> {
        let places = self.session.profile().scripts;
        let set = self.session.library().tools(skill, places);
        if !self.selection.scripts || set.tools.is_empty() {
            return None;
        }
        let mut note = format!("Scripts, which `{ANY}` runs:");
        for script in set.tools.iter().take(NOTED) {
            let takes: Vec<_> = script.input.parameters.iter().map(taken).collect();
            let takes = if takes.is_empty() { "nothing".to_owned() } else { takes.join(", ") };
            let said = one_line(&script.description, MAX_DESCRIPTION / 4);
            let _ =
                write!(note, "\n- `{}` takes {takes}: {said}", one_line(&script.name, MAX_DESCRIPTION / 4));
        }
        if let Some(more) = set.tools.len().checked_sub(NOTED).filter(|more| *more > 0) {
            let _ = write!(note, "\n- and {more} more");
        }
        Some(note)
    }

    /// Returns the scripts of the skills `loaded`, with the names of their tools, no two of them alike, and their skills.
    fn scripts_of(&self, loaded: &[String]) -> Vec<(String, String, Tool)> {
        let places = self.session.profile().scripts;
        let mut found: Vec<(String, String, Tool)> = Vec::new();
        for name in loaded {
            let skill = self.for_model(name).ok();
            let set = skill.and_then(|skill| self.session.tools_found(&skill, places).ok());
            for script in set.iter().flat_map(|set| &set.tools) {
                let is_taken = |tool: &str| found.iter().any(|(other, ..)| other == tool);
                let mut tool = script.tool_name.clone();
                if is_taken(&tool) {
                    // The skill that hides this one has them too.
                    tool =
                        format!("{name}__{}", script.name).replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                    tool.truncate(LONGEST);
                }
                if !is_taken(&tool) {
                    found.push((tool, name.clone(), script.clone()));
                }
            }
        }
        found
    }
}

fn any(arguments: &Map<String, Value>) -> Result<Call> {
    let given = Given(arguments);
    given.only(&["name", "script", "arguments"])?;
    let passed = match arguments.get("arguments") {
        None | Some(Value::Null) => json!({}),
        // Words without names are what the description of the argument says.
        Some(Value::Object(map))
            if let (1, Some(words @ Value::Array(_))) = (map.len(), map.get("arguments")) =>
        {
            words.clone()
        }
        Some(value @ (Value::Object(_) | Value::Array(_))) => value.clone(),
        Some(_) => return Err(Error::usage("the argument `arguments` is not an object")),
    };
    Ok(Call {
        skill: given.text("name")?.to_owned(),
        script: given.text("script")?.to_owned(),
        arguments: passed,
    })
}

impl Call {
    /// Returns what a person needs to know besides the question: the arguments, and what the script can reach.
    pub fn details(&self, kit: &Toolkit) -> String {
        let arguments = match &self.arguments {
            Value::Object(map) if map.is_empty() => "It gets no arguments.".to_owned(),
            arguments => format!("It gets these arguments: {arguments}"),
        };
        let place = match work_dir_here(kit.session.settings()) {
            Ok((dir, None)) => format!("It runs in `{}`, and may change the files there.", shown(&dir)),
            Ok((dir, Some(reason))) => {
                format!("It runs in `{}`, and may not change the files there: {reason}.", shown(&dir))
            }
            Err(error) => format!("It cannot run here: {}.", error.with_causes()),
        };
        let network = if kit.selection.run.options.no_network {
            "It has no network."
        } else {
            "The network is open to it."
        };
        [arguments, place, network.to_owned()].join("\n")
    }

    /// Runs the script, if that is permitted. `agreed` is the question to which a person said yes. `watch` receives the
    /// output and may stop the script, with every process that it started.
    pub fn attempt(&self, kit: &Toolkit, agreed: Option<Question>, watch: &mut dyn Watch) -> Attempt {
        let consent = Arc::new(Consent { agreed, asked: Mutex::default() });
        let interact: Arc<dyn Interact> = consent.clone();
        let answer = self.answer(kit, kit.selection.run.clone(), interact, watch);
        match consent.asked.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(question) if answer.is_error => Attempt::Ask(question),
            _ => Attempt::Done(answer),
        }
    }

    /// Runs the script in the way of `run`, if that is permitted; `interact` asks a person where a policy wants that.
    pub fn answer(
        &self,
        kit: &Toolkit,
        run: RunRequest,
        interact: Arc<dyn Interact>,
        watch: &mut dyn Watch,
    ) -> Answer {
        let skill = match kit.for_model(&self.skill) {
            Ok(skill) => skill,
            Err(error) => return kit.failed(&error),
        };
        let request = RunRequest { skill: self.skill.clone(), script: self.script.clone(), ..run };
        let call = CallRequest { request, arguments: self.arguments.clone(), timeout: kit.selection.timeout };
        match kit.session.call_found(&skill, &call, interact, watch) {
            Ok(outcome) => {
                for warning in &outcome.warnings {
                    kit.warn(warning);
                }
                finished(&outcome, kit.selection.most)
            }
            Err(error) => kit.failed(&error.into()),
        }
    }
}

/// Returns a parameter with its type, in brackets if it may be left out.
fn taken(parameter: &Parameter) -> String {
    let told = format!("`{}` ({})", one_line(&parameter.name, MAX_DESCRIPTION / 4), parameter.kind.name());
    if parameter.required { told } else { format!("[{told}]") }
}

/// Returns a path on one line, with nothing hidden in it.
fn shown(path: &Path) -> String {
    visible_name(&path.to_string_lossy())
}

/// Returns what the model learns about a run: the output, and how it ended if it failed.
fn finished(outcome: &RunOutcome, most: usize) -> Answer {
    let ran = &outcome.ran;
    let (mut text, mut notes) = (ran.stdout.text(), Vec::new());
    let total = ran.stdout.total;
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        notes.push(format!("The output is cut: these are the first {} of {total} bytes.", text.len()));
    }
    let is_error = ran.ended.is_some() || ran.exit != Exit::Code(0);
    if is_error {
        let end = ran.ended.map_or_else(|| ran.exit.to_string(), |ended| ended.word().to_owned());
        let limit = if ran.ended == Some(Ended::Timeout) {
            format!(" after {} seconds; the user can give scripts more", ran.duration.as_secs())
        } else {
            String::new()
        };
        notes.push(format!("the script failed: {end}{limit}"));
    }
    let errors = ran.stderr.text();
    if !errors.trim().is_empty() {
        // What a program says last is why it failed.
        let last = &errors[errors.ceil_char_boundary(errors.len().saturating_sub(most))..];
        let of = if last.len() < errors.len() {
            format!(", the last {} of {} bytes", last.len(), ran.stderr.total)
        } else {
            String::new()
        };
        notes.push(format!("standard error{of}:\n{last}"));
    }
    if text.is_empty() && notes.is_empty() {
        notes.push("The script ended well and wrote nothing.".to_owned());
    }
    Answer { notes, meta: Some(meta(outcome)), is_error, ..Answer::success(text) }
}

/// Returns the outcome of a run for programs. What was printed is not in it a second time.
fn meta(outcome: &RunOutcome) -> Value {
    let mut value = serde_json::to_value(outcome).unwrap_or_default();
    for stream in ["stdout", "stderr"] {
        if let Some(Value::Object(output)) = value.get_mut(stream) {
            output.remove("text");
        }
    }
    value
}

/// Answers the question to which a person has already said yes, and keeps any other so that it can be asked.
#[derive(Debug)]
struct Consent {
    agreed: Option<Question>,
    asked: Mutex<Option<Question>>,
}

impl Interact for Consent {
    fn choose(&self, _question: &str, _items: &[Choice]) -> Option<Vec<usize>> {
        None
    }

    fn confirm_run(&self, question: &str, files: &Digest) -> Option<bool> {
        let question = Question { text: question.to_owned(), files: *files };
        if self.agreed.as_ref() == Some(&question) {
            return Some(true);
        }
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(question);
        None
    }
}
