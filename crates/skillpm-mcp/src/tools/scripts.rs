//! Scripts of skills as tools, where the user lets the server run any.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use skillpm_core::engine::run::{Ended, Exit, Watch, work_dir_here};
use skillpm_core::engine::tools::Tool;
use skillpm_core::ops::run::{CallRequest, RunLocation, RunOutcome, RunRequest};
use skillpm_format::admission::Scripts;
use skillpm_format::digest::Digest;
use skillpm_format::text::{visible, visible_name};
use skillpm_sources::error::Error;
use skillpm_sources::reporter::{Choice, Interact};

use super::{Answer, Definition, Given, MAX_TEXT};
use crate::offer::Offer;

/// The tool that runs any script.
const ANY: &str = "run_skill_script";

/// A script to run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    skill: String,
    script: String,
    /// What it gets: an object as its schema has it.
    arguments: Value,
}

/// The outcome of an attempt to run a script.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// It ran, or it may not.
    Done(Answer),
    /// A person must agree; this is the question.
    Ask(Question),
}

/// What a person is asked before a script runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The words.
    pub(crate) text: String,
    /// The digest of the files that would run. The answer counts for them alone.
    pub(crate) files: Digest,
}

/// Returns the tools for the scripts of the skills `loaded`, after one that runs any script. There are none if the
/// server runs no scripts.
pub(crate) fn definitions(offer: &Offer, loaded: &[String]) -> Vec<Definition> {
    if offer.scripts == Scripts::Deny {
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
    for name in loaded {
        for script in of_skill(offer, name) {
            let title = format!("{} of {name}", script.name);
            definitions.push(tool(
                &script.tool_name,
                title,
                visible(&script.description).replace('<', "&lt;"),
                script.input.schema(),
            ));
        }
    }
    definitions
}

/// Returns the scripts of a skill that can be called.
fn of_skill(offer: &Offer, name: &str) -> Vec<Tool> {
    let set = offer
        .for_model(name)
        .ok()
        .and_then(|served| offer.session.tools_found(&served.skill, offer.session.profile().scripts).ok());
    set.map(|set| set.tools.clone()).unwrap_or_default()
}

/// Returns the script that the tool `name` runs; `None` if it is not such a tool.
pub(crate) fn called(
    offer: &Offer,
    loaded: &[String],
    name: &str,
    arguments: &Map<String, Value>,
) -> Option<Result<Call, Error>> {
    if offer.scripts == Scripts::Deny {
        return None;
    }
    if name == ANY {
        return Some(any(arguments));
    }
    loaded.iter().find_map(|skill| {
        let script = of_skill(offer, skill).into_iter().find(|script| script.tool_name == name)?;
        Some(Ok(Call { skill: skill.clone(), script: script.name, arguments: arguments.clone().into() }))
    })
}

fn any(arguments: &Map<String, Value>) -> Result<Call, Error> {
    let given = Given(arguments);
    given.only(&["name", "script", "arguments"])?;
    let passed = match arguments.get("arguments") {
        None | Some(Value::Null) => json!({}),
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
    pub(crate) fn details(&self, offer: &Offer) -> String {
        let arguments = match &self.arguments {
            Value::Object(map) if map.is_empty() => "It gets no arguments.".to_owned(),
            arguments => format!("It gets these arguments: {arguments}"),
        };
        let place = match work_dir_here(offer.session.settings()) {
            Ok((dir, None)) => format!("It runs in `{}`, and may change the files there.", shown(&dir)),
            Ok((dir, Some(reason))) => {
                format!("It runs in `{}`, and may not change the files there: {reason}.", shown(&dir))
            }
            Err(error) => format!("It cannot run here: {}.", error.with_causes()),
        };
        let network = if offer.no_network { "It has no network." } else { "The network is open to it." };
        [arguments, place, network.to_owned()].join("\n")
    }

    /// Runs the script, if that is permitted. `agreed` is the question to which a person said yes. `watch` receives the
    /// output and may stop the script, with every process that it started.
    pub(crate) fn attempt(&self, offer: &Offer, agreed: Option<Question>, watch: &mut dyn Watch) -> Attempt {
        let served = match offer.for_model(&self.skill) {
            Ok(served) => served,
            Err(error) => return Attempt::Done(Answer::failed(&error, offer.user)),
        };
        let consent = Arc::new(Consent { agreed, asked: Mutex::default() });
        let mut request = RunRequest::new(&self.skill, &self.script);
        request.default_decision = offer.scripts;
        request.cwd = RunLocation::Here;
        request.options.no_network = offer.no_network;
        request.options.interpreters.clone_from(&offer.interpreters);
        let call = CallRequest { request, arguments: self.arguments.clone(), timeout: offer.timeout };
        let interact: Arc<dyn Interact> = consent.clone();
        match offer.session.call_found(&served.skill, &call, interact, watch) {
            Ok(outcome) => {
                for warning in &outcome.warnings {
                    offer.warn(warning);
                }
                Attempt::Done(finished(&outcome))
            }
            Err(error) => match consent.asked.lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(question) => Attempt::Ask(question),
                None => Attempt::Done(Answer::failed(&error.into(), offer.user)),
            },
        }
    }
}

/// Returns a path on one line, with nothing hidden in it.
fn shown(path: &Path) -> String {
    visible_name(&path.to_string_lossy())
}

/// Returns what the model learns about a run: the output, and how it ended if it failed.
fn finished(outcome: &RunOutcome) -> Answer {
    let ran = &outcome.ran;
    let (mut text, mut notes) = (ran.stdout.text(), Vec::new());
    let total = ran.stdout.total;
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
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
        let last = &errors[errors.ceil_char_boundary(errors.len().saturating_sub(MAX_TEXT))..];
        let of = if last.len() < errors.len() {
            format!(", the last {} of {} bytes", last.len(), ran.stderr.total)
        } else {
            String::new()
        };
        notes.push(format!("standard error{of}:\n{last}"));
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
