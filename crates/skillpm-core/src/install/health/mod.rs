//! The health of a scope: what is wrong in it, and what can be done about it without losing anything.
//!
//! [`Inspection`] reads everything there is; [`check()`] is a pure function of that. Repairs are made by the steps of a
//! [`Transaction`](super::transaction::Transaction), as an installation would.

mod check;
pub mod inspection;
pub mod problem;

use std::path::PathBuf;

pub use check::check;
pub use inspection::{DesiredSkill, Inspection};

use self::problem::{Problem, Severity};
use super::plan::Step;
use super::scope::ScopeKind;
use crate::advice::Message;
use crate::digest::Digest;

/// Something that is wrong, or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where it was found; `None` for the store and the downloads.
    pub scope: Option<ScopeKind>,
    /// The skill that it is about.
    pub skill: Option<String>,
    /// The agent that it is about.
    pub agent: Option<&'static str>,
    /// Where it is.
    pub path: PathBuf,
    /// What is wrong, in words.
    pub message: Message,
    /// The remedy.
    pub remedy: Remedy,
}

/// What can be done about a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing has to be done.
    None,
    /// A person has to decide; this says how.
    Advice(Message),
    /// These steps repair it. Nothing that a user wrote is lost.
    Steps(Vec<Step>),
    /// What was begun has to be finished.
    Finish,
    /// What is at the path has to go. It is kept in the store unless it is already there.
    Sweep,
    /// The tree of the store has to go: it can be fetched again.
    Discard(Digest),
    /// What is at the path, in the store or among the downloads, is garbage.
    Clear,
}

impl Remedy {
    /// Reports whether it can be done without asking anybody.
    pub fn is_safe(&self) -> bool {
        !matches!(self, Self::None | Self::Advice(_))
    }
}

impl Finding {
    /// Returns a finding about `path`.
    pub fn new(problem: &Problem, path: impl Into<PathBuf>, message: impl Into<Message>) -> Self {
        Self {
            id: problem.id,
            severity: problem.severity,
            scope: None,
            skill: None,
            agent: None,
            path: path.into(),
            message: message.into(),
            remedy: Remedy::None,
        }
    }

    /// Sets the skill that it is about.
    #[must_use]
    pub fn skill(mut self, name: &str) -> Self {
        self.skill = Some(name.to_owned());
        self
    }

    /// Sets the agent that it is about.
    #[must_use]
    pub fn agent(mut self, agent: Option<&'static str>) -> Self {
        self.agent = agent;
        self
    }

    /// Sets what a person can do.
    #[must_use]
    pub fn advice(self, advice: impl Into<Message>) -> Self {
        self.remedy(Remedy::Advice(advice.into()))
    }

    /// Sets the remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = remedy;
        self
    }

    /// Returns its sort key: its kind, then its path.
    pub fn order(&self) -> (usize, &PathBuf) {
        let at = problem::ALL.iter().position(|problem| problem.id == self.id);
        (at.unwrap_or(usize::MAX), &self.path)
    }
}
