//! `test`: whether the right skill wins, for the requests that authors keep beside their skills.
//!
//! No model is asked. Each request is ranked over what a model would see: names and descriptions, cut as the agent cuts them.
//! A good rank does not prove that an agent will use the skill; a bad one, or a skill that nobody sees, is a reason why not.

mod cases;
mod listed;
mod outcome;
mod request;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use self::cases::{Requests, Subject, requests, subjects};
use self::listed::{Listed, listed};
pub use self::outcome::{Collision, FileProblem, TestOutcome, TestedCase, TestedFile, Verdict};
pub use self::request::{DEFAULT_TOP, TestRequest};
pub use self::trial::{AgentCommand, Runs, Trial, agent_or_command};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::interop::evals::EvalCase;
use crate::paths::Changes;
use crate::ranking::{Corpus, Document, SearchWords};
use crate::scope::repository_of;
use crate::settings::Settings;
use crate::text::line_column;
use crate::workers;

/// The most skills that are named before one that ranks low.
const MOST_BEFORE: usize = 3;

/// Tests skills.
///
/// # Errors
///
/// Fails for a path that does not exist or holds no skill, for an agent whose way to list skills is unknown, and if no skill
/// has a request.
pub fn test(context: &Context, request: &TestRequest) -> Result<TestOutcome> {
    let (subjects, unchanged) = subjects(context, request)?;
    let listed = listed(context, request, &subjects)?;
    let index = Index::new(&listed);
    let numbers: Vec<usize> = (0..subjects.len()).collect();
    let read = workers::map(&numbers, workers::PIECE, || (), |(), at| requests(*at, &subjects[*at]));
    let requests: Vec<Requests> = read.flatten().collect();
    let judge = |(): &mut (), requests: &Requests| judged(requests, &subjects, &index, request.top);
    let mut files: Vec<TestedFile> = workers::map(&requests, 1, || (), judge).collect();
    let with: BTreeSet<&str> =
        files.iter().filter(|file| !file.cases.is_empty()).map(|file| &*file.skill).collect();
    let without = subjects.iter().filter(|subject| subject.is_tested && !with.contains(&*subject.name));
    let without: Vec<String> = without.map(|subject| subject.name.clone()).collect();
    let is_empty = files.iter().all(|file| file.cases.is_empty() && file.problem.is_none());
    if is_empty && !without.is_empty() && request.changes == Changes::All {
        return Err(Error::usage("no skill here has requests to test it with").hint(
            "write them into `evals/trigger-eval.json` of a skill: `[{\"query\": \"…\", \"should_trigger\": true}]`",
        ));
    }
    let collisions = collisions(&files);
    if let Some(command) = &request.command {
        trial::trials(context, command, &subjects, &mut files)?;
    }
    let agent = request.agent.map(|agent| agent.id);
    Ok(TestOutcome {
        agent,
        listed: index.visible.len(),
        top: request.top,
        files,
        without,
        unchanged,
        collisions,
    })
}

/// Returns the root of the repository around the working directory.
///
/// # Errors
///
/// Fails outside of a repository.
pub fn repository(settings: &Settings) -> Result<PathBuf> {
    repository_of(&settings.cwd, |_| true)?.ok_or_else(|| {
        Error::usage(format!("`{}` is not in a git repository", settings.cwd.display()))
            .hint("name the directories")
    })
}

/// What is ranked.
struct Index<'a> {
    /// The skills that a model sees, in the order of the corpus.
    visible: Vec<&'a Listed>,
    all: &'a [Listed],
    corpus: Corpus,
}

impl<'a> Index<'a> {
    fn new(all: &'a [Listed]) -> Self {
        let visible: Vec<&Listed> = all.iter().filter(|skill| skill.hidden.is_none()).collect();
        let documents =
            visible.iter().map(|skill| Document { name: &skill.name, tags: &[], description: &skill.text });
        Self { corpus: documents.collect(), visible, all }
    }

    /// Returns the names of the skills for `query`, best first.
    fn ranked(&self, query: &str) -> Vec<&'a Listed> {
        let matches = SearchWords::new([query]).rank(&self.corpus).into_iter();
        matches.map(|found| self.visible[found.at]).collect()
    }
}

/// Judges the requests of a file.
fn judged(requests: &Requests, subjects: &[Subject], index: &Index<'_>, top: usize) -> TestedFile {
    let own = &subjects[requests.subject];
    let cases = requests.evals.cases.iter().map(|case| {
        let (line, column) = line_column(&requests.text, case.span.start);
        let mut tested = TestedCase {
            id: case.id.clone(),
            query: case.query.clone(),
            line,
            column,
            span: case.span.clone(),
            skill: own.name.clone(),
            should_trigger: case.should_trigger,
            verdict: Verdict::Passed,
            rank: None,
            before: Vec::new(),
            why: None,
            trial: None,
        };
        judge(&mut tested, case, own, index, top);
        tested
    });
    TestedFile {
        skill: own.name.clone(),
        file: requests.shown.clone(),
        cases: cases.collect(),
        text: requests.text.clone(),
        unread: requests.evals.unread,
        problem: requests.problem.clone(),
    }
}

fn judge(tested: &mut TestedCase, case: &EvalCase, own: &Subject, index: &Index<'_>, top: usize) {
    let is_own = |skill: &Listed| skill.file.as_deref() == Some(&*own.file);
    let other = case.skill.as_deref().filter(|name| *name != own.name && *name != own.directory);
    // A request that is not for this skill, but for another one.
    let named = |skill: &Listed| other == Some(&*skill.name);
    let is_right = |skill: &Listed| if other.is_some() { named(skill) } else { is_own(skill) };
    if let Some(other) = other {
        other.clone_into(&mut tested.skill);
        tested.should_trigger = true;
    }
    let Some(right) = index.visible.iter().find(|skill| is_right(skill)) else {
        let hidden = index.all.iter().find(|skill| is_right(skill)).and_then(|skill| skill.hidden.clone());
        if tested.should_trigger {
            tested.verdict = Verdict::Invisible;
            tested.why = Some(
                hidden.unwrap_or_else(|| "no skill of that name is among those that compete".to_owned()),
            );
        }
        return;
    };
    let ranked = index.ranked(&tested.query);
    let at = ranked.iter().position(|skill| std::ptr::eq(*skill, *right));
    tested.rank = at.map(|at| at + 1);
    tested.verdict = match (tested.should_trigger, at) {
        (true, Some(at)) if at < top => Verdict::Passed,
        (true, _) => Verdict::RanksLow,
        (false, Some(0)) if index.visible.len() == 1 => Verdict::Undecided,
        (false, Some(0)) => Verdict::Collides,
        (false, _) => Verdict::Passed,
    };
    if tested.verdict == Verdict::RanksLow && right.by_name {
        tested.why = Some("it is listed by name only".to_owned());
    }
    let before = ranked.iter().take(at.unwrap_or(MOST_BEFORE).min(MOST_BEFORE));
    tested.before = before.map(|skill| skill.name.clone()).collect();
}

/// Returns the pairs of skills of which one wins requests for the other.
fn collisions(files: &[TestedFile]) -> Vec<Collision> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let lost = files.iter().flat_map(|file| &file.cases).filter(|case| case.should_trigger);
    for case in lost.filter(|case| case.rank != Some(1) && case.verdict != Verdict::Invisible) {
        if let Some(winner) = case.before.first() {
            *counts.entry((&case.skill, winner)).or_default() += 1;
        }
    }
    let mut collisions: Vec<Collision> = counts
        .into_iter()
        .filter(|(_, requests)| *requests > 1)
        .map(|((skill, winner), requests)| Collision { skill: skill.into(), winner: winner.into(), requests })
        .collect();
    collisions.sort_by_key(|collision| std::cmp::Reverse(collision.requests));
    collisions
}
