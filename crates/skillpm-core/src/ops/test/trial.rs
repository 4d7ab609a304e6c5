//! The same requests, put to an agent.

mod output;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use self::output::{Told, told};
use super::cases::Subject;
use super::outcome::{TestedCase, TestedFile, Verdict};
use crate::agents::{self, Agent};
use crate::context::Context;
use crate::engine::run::agent::{Answer, ask};
use crate::error::{Error, Result};
use crate::fs;
use crate::interop::evals::EVALS_DIR;
use crate::scope_kind::CANONICAL_DIR;
use crate::text::visible;

/// What stands in a command for the request.
const PLACEHOLDER: &str = "{query}";
/// The programs of agents, and how their output tells what they do.
const PROGRAMS: [(&str, &str, &str); 4] = [
    ("claude", "claude-code", "--output-format stream-json --verbose"),
    ("codex", "codex", "--json"),
    ("gemini", "gemini-cli", "--output-format stream-json"),
    ("opencode", "opencode", "--format json"),
];

/// The command that puts a request to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    words: Vec<String>,
    /// The agent, if the program is known to be one.
    pub agent: Option<&'static Agent>,
    /// How often each request is put to it.
    pub repeat: usize,
    /// How long it may take for one.
    pub timeout: Duration,
    /// The directory that gets what it printed.
    pub keep: Option<PathBuf>,
}

/// Returns the agent that `text` names, or else the command that it is, as typed in `cwd`, with its agent if that is
/// known.
///
/// # Errors
///
/// Fails for an agent that does not exist, and as [`AgentCommand::new`] does.
pub fn agent_or_command(text: &str, cwd: &Path) -> Result<(Option<&'static Agent>, Option<AgentCommand>)> {
    if text.trim().contains(|c: char| c.is_whitespace() || c == '/') {
        let command = AgentCommand::new(text, cwd)?;
        Ok((command.agent, Some(command)))
    } else {
        Ok((Some(agents::find(text)?), None))
    }
}

impl AgentCommand {
    /// Reads a command line that is typed in `cwd`, such as `claude -p --output-format stream-json`. The request replaces
    /// `{query}`, or becomes the last argument.
    ///
    /// # Errors
    ///
    /// Fails for quotes that are not closed, and for no words.
    pub fn new(line: &str, cwd: &Path) -> Result<Self> {
        let words = shlex::split(line).filter(|words| !words.is_empty());
        let mut words = words
            .ok_or_else(|| Error::usage(format!("`{line}` is not a command")).hint("check its quotes"))?;
        // The command runs in another directory.
        if words[0].contains('/') {
            words[0] = cwd.join(&words[0]).display().to_string();
        }
        let program = Path::new(&words[0]).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let id = PROGRAMS.iter().find(|(name, ..)| *name == program).map(|(_, id, _)| *id);
        let agent = id.and_then(|id| agents::find(id).ok());
        Ok(Self { words, agent, repeat: 1, timeout: Duration::from_mins(5), keep: None })
    }

    fn words_for(&self, query: &str) -> Vec<String> {
        let mut words: Vec<String> = self.words.iter().map(|word| word.replace(PLACEHOLDER, query)).collect();
        if words == self.words {
            words.push(query.to_owned());
        }
        words
    }

    /// Returns what makes its output tell which skills it uses.
    fn flags(&self) -> Option<&'static str> {
        let id = self.agent?.id;
        PROGRAMS.iter().find(|(_, agent, _)| *agent == id).map(|(.., flags)| *flags)
    }
}

/// What an agent did with a request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Trial {
    /// The runs with the skill.
    pub with: Runs,
    /// The runs without it.
    pub without: Runs,
}

/// Some runs of an agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Runs {
    /// How many there were.
    pub count: usize,
    /// How many used the skill.
    pub used: usize,
    /// How many failed, or took too long.
    pub failed: usize,
    /// How many did not tell which skills they used.
    pub silent: usize,
    /// The other skills that were used, and how often.
    pub others: BTreeMap<String, usize>,
    /// What they cost in US dollars, as far as they tell.
    pub dollars: Option<f64>,
    /// The tokens that went in and out, as far as they tell.
    pub tokens: Option<u64>,
    /// How long they took, in seconds.
    pub seconds: f64,
    /// What the first one that failed said.
    pub problem: Option<String>,
}

impl Trial {
    /// Returns what was wrong, in words.
    pub(super) fn message(&self, skill: &str, should_trigger: bool) -> String {
        let Runs { count, used, failed, problem, .. } = &self.with;
        if failed == count {
            let problem = problem.as_deref().unwrap_or("it says nothing");
            return format!("the agent failed: {problem}");
        }
        let others: Vec<String> = self.with.others.keys().map(|name| format!("`{name}`")).collect();
        let instead =
            if others.is_empty() { String::new() } else { format!("; it used {}", others.join(", ")) };
        let end = if should_trigger { &*instead } else { ", for a request that is not meant for it" };
        format!("the agent used `{skill}` in {used} of {count} runs{end}")
    }

    fn verdict(&self, should_trigger: bool) -> Verdict {
        let Runs { count, used, failed, silent, .. } = &self.with;
        let telling = count - failed - silent;
        if failed == count {
            Verdict::Failed
        } else if telling == 0 {
            Verdict::Undecided
        } else if (used * 2 >= telling && *used > 0) == should_trigger {
            Verdict::Passed
        } else {
            Verdict::Failed
        }
    }
}

impl Runs {
    /// Returns these runs together with the `others`; what a single one said is left out.
    #[must_use]
    pub fn with(mut self, others: &Self) -> Self {
        self.count += others.count;
        self.used += others.used;
        self.failed += others.failed;
        self.silent += others.silent;
        self.seconds += others.seconds;
        self.dollars = sum(self.dollars, others.dollars, |a, b| a + b);
        self.tokens = sum(self.tokens, others.tokens, |a, b| a + b);
        self
    }

    fn add(&mut self, skill: &str, answer: &Answer, told: Told) {
        self.count += 1;
        self.seconds += answer.duration.as_secs_f64();
        if !answer.status.is_some_and(|status| status.success()) {
            self.failed += 1;
            let errors = String::from_utf8_lossy(&answer.errors);
            let line = errors.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
            let why = match answer.status {
                None => "it took too long".to_owned(),
                Some(status) if line.is_empty() => status.to_string(),
                Some(_) => visible(line).chars().take(200).collect(),
            };
            self.problem.get_or_insert(why);
            return;
        }
        if !told.tells {
            self.silent += 1;
        }
        self.used += usize::from(told.skills.contains(skill));
        for other in told.skills.into_iter().filter(|other| other != skill) {
            *self.others.entry(other).or_default() += 1;
        }
        self.dollars = sum(self.dollars, told.dollars, |a, b| a + b);
        self.tokens = sum(self.tokens, told.tokens, |a, b| a + b);
    }
}

fn sum<T>(one: Option<T>, other: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(add(one, other)),
        (one, other) => one.or(other),
    }
}

/// Puts the requests of `files` to an agent, with and without the skill, and notes what it did.
pub(super) fn trials(
    context: &Context,
    command: &AgentCommand,
    subjects: &[Subject],
    files: &mut [TestedFile],
) -> Result<()> {
    let requests: usize = files.iter().map(|file| file.cases.len()).sum();
    let runs = requests * command.repeat * 2;
    context
        .reporter
        .detail(&format!("{runs} runs of `{}`: half of them without the skill", command.words[0]));
    let project = fs::temp_dir()?;
    let skills = command.agent.map_or(CANONICAL_DIR, Agent::project_dir);
    let names: Vec<&str> = subjects.iter().map(|subject| &*subject.name).collect();
    for with in [true, false] {
        for file in &mut *files {
            let absent = (!with).then_some(&*file.skill);
            let dir =
                project.path().join(format!("{}-{}", if with { "with" } else { "without" }, file.skill));
            if fs::kind(&dir)?.is_none() {
                fill(&dir.join(skills), subjects, absent)?;
            }
            for case in &mut file.cases {
                for number in 0..command.repeat {
                    context.reporter.step(&format!("{} {} of {}", case.id, number + 1, command.repeat));
                    let answer = ask(&command.words_for(&case.query), &dir, command.timeout)?;
                    keep(command, case, with, number, &answer)?;
                    let told = told(&answer.output, &names);
                    let trial = case.trial.get_or_insert_default();
                    let runs = if with { &mut trial.with } else { &mut trial.without };
                    runs.add(&case.skill, &answer, told);
                }
            }
        }
    }
    for case in files.iter_mut().flat_map(|file| &mut file.cases) {
        case.verdict = case.trial.as_ref().map_or(case.verdict, |trial| trial.verdict(case.should_trigger));
    }
    let silent = files.iter().flat_map(|file| &file.cases).filter_map(|case| case.trial.as_ref());
    if silent.clone().next().is_some() && silent.clone().all(|trial| trial.with.silent == trial.with.count) {
        let error = Error::usage("the agent does not tell which skills it uses");
        return Err(match command.flags() {
            Some(flags) => error.hint(format!("add `{flags}` to its command")),
            None => error.hint("let it print JSON, a line for each step"),
        });
    }
    Ok(())
}

/// Copies the skills into the directory `skills` of a project, but not the one called `absent`. Nobody finds the answers there.
fn fill(skills: &Path, subjects: &[Subject], absent: Option<&str>) -> Result<()> {
    fs::create_dir_all(skills)?;
    for subject in subjects.iter().filter(|subject| Some(&*subject.name) != absent) {
        let copy = skills.join(&subject.directory);
        if fs::kind(&copy)?.is_none() {
            fs::copy_whole(&subject.dir, &copy)?;
            fs::remove_tree(&copy.join(EVALS_DIR))?;
        }
    }
    Ok(())
}

/// Keeps what an agent printed, where that is asked for.
fn keep(command: &AgentCommand, case: &TestedCase, with: bool, number: usize, answer: &Answer) -> Result<()> {
    let Some(dir) = &command.keep else { return Ok(()) };
    fs::create_dir_all(dir)?;
    let word = |text: &str| -> String {
        text.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).take(60).collect()
    };
    let with = if with { "with" } else { "without" };
    let name = format!("{}-{}-{with}-{}.txt", word(&case.skill), word(&case.id), number + 1);
    Ok(fs::write_atomic(&dir.join(name), &answer.output)?)
}
