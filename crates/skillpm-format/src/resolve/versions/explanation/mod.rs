//! The reason why there is no solution, for people.
//!
//! PubGrub proves that there is none by a tree of derivations. Its leaves are the requirements that together cannot be
//! met, and people understand those sooner than the derivations. So the explanation consists of these requirements, from
//! the root requirements downwards, and of the skills on which they meet.

mod conflict;
mod sentences;
mod shortage;

use std::collections::BTreeSet;

use pubgrub::DerivationTree;

use self::conflict::Conflict;
use self::sentences::{Explainer, asked_by};
use super::ordinals::Ordinals;
use super::problem::{Asker, ReleaseProvider, RootRequirement, SkillId, VersionProblem};
use super::search::Package;
use super::universe::Universe;
use crate::advice::{Message, message};

/// The maximum number of requirements that an explanation lists. In longer ones the middle is left out.
const MAX_SENTENCES: usize = 16;

/// The maximum number of hints.
const MAX_HINTS: usize = 6;

/// The reason why there is no solution, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The requirements that cannot be met together, from the root requirements downwards, and then the conclusions.
    pub sentences: Vec<Message>,
    /// What the user can do.
    pub hints: Vec<Message>,
    /// The required skills that registries do not have. The caller may know similar names.
    pub missing: BTreeSet<SkillId>,
}

/// Returns the explanation for `tree`, the proof that there is no solution.
pub(super) fn explain<P: ReleaseProvider>(
    tree: DerivationTree<Package, Ordinals, std::convert::Infallible>,
    universe: &mut Universe<'_, P>,
    roots: &[&RootRequirement],
) -> Explanation {
    let conflict = Conflict::of(tree);
    let mut explainer = Explainer::new(universe, roots, &conflict);
    explainer.explain();
    let mut explanation = explainer.finish();
    explanation.hints = distinct(explanation.hints);
    explanation.hints.truncate(MAX_HINTS);
    explanation
}

/// Returns the explanation that the skills `first` and `second` have the same name, each with the parties that require
/// it.
pub(super) fn explain_two(
    problem: &VersionProblem,
    first: &(SkillId, BTreeSet<Asker>),
    second: &(SkillId, BTreeSet<Asker>),
) -> Explanation {
    let is_one_name = first.0.1 == second.0.1;
    let sentence = |(id, by): &(SkillId, BTreeSet<Asker>)| {
        let from = registry(problem, id);
        message!(format!("{} `{}` from {from}", asked_by(by), id.1))
    };
    let conclusion = if is_one_name {
        format!("only one skill can be installed as `{}`", first.0.1)
    } else {
        format!("`{}` and `{}` are the same name on some file systems", first.0.1, second.0.1)
    };
    let hint = format!(
        "ask for skills that need `{}` from one registry only: a dependency is taken from the registry of the skill that declares it",
        first.0.1
    );
    let hint = if is_one_name { vec![Message::from(hint)] } else { Vec::new() };
    Explanation {
        sentences: vec![sentence(first), sentence(second), conclusion.into()],
        hints: hint,
        missing: BTreeSet::new(),
    }
}

/// Returns how messages name the registry of the skill `id`.
fn registry(problem: &VersionProblem, id: &SkillId) -> String {
    let name = problem.registries.get(id.0.0);
    name.map_or_else(|| "the registry".to_owned(), |name| format!("the registry `{name}`"))
}

/// Returns `messages` without repetitions, in the same order.
fn distinct(messages: Vec<Message>) -> Vec<Message> {
    let mut seen = BTreeSet::new();
    messages.into_iter().filter(|message| seen.insert(message.clone())).collect()
}
