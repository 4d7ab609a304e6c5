//! The health of a scope: what is wrong in it, and how to repair it without losing anything.
//!
//! [`Inspection`] reads everything; [`check()`] is a pure function of the inspection. The steps of a
//! [`Transaction`](super::transaction::Transaction) make repairs, as an installation would.

mod check;
pub(crate) mod inspection;

use std::path::PathBuf;

pub(crate) use check::check;
pub(crate) use inspection::{DesiredSkill, Inspection};

pub use super::problem;
use super::problem::{Problem, Severity};
use super::step::Step;
use crate::advice::Message;
use crate::digest::Digest;
use crate::scope_kind::ScopeKind;
use crate::skill::prerequisites::CheckedPrerequisite;

/// A problem, or a fact worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The id of the problem.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The scope; `None` for the store and the downloads.
    pub scope: Option<ScopeKind>,
    /// The skill, if the finding is about one.
    pub skill: Option<String>,
    /// The agent, if the finding is about one.
    pub agent: Option<&'static str>,
    /// The path that the finding is about.
    pub path: PathBuf,
    /// A description of the problem.
    pub message: Message,
    /// What a skill requires and this machine lacks.
    pub lacks: Vec<CheckedPrerequisite>,
    /// The remedy.
    pub remedy: Remedy,
}

/// A remedy for a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing needs to be done.
    None,
    /// A person has to decide, with this advice.
    Advice(Message),
    /// These steps repair it. Nothing that a user wrote is lost.
    Steps(Vec<Step>),
    /// A transaction has to be finished.
    Finish,
    /// The path has to be removed. Its content is saved in the store first, unless it is already there.
    Sweep,
    /// The tree has to be removed from the store: it can be fetched again.
    Discard(Digest),
    /// The path, in the store or among the downloads, is garbage.
    Clear,
}

impl Remedy {
    /// Reports whether the remedy is safe without asking the user.
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
            lacks: Vec::new(),
            remedy: Remedy::None,
        }
    }

    /// Sets the skill.
    #[must_use]
    pub fn skill(mut self, name: &str) -> Self {
        self.skill = Some(name.to_owned());
        self
    }

    /// Sets the agent.
    #[must_use]
    pub fn agent(mut self, agent: Option<&'static str>) -> Self {
        self.agent = agent;
        self
    }

    /// Sets the remedy to advice for a person.
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
