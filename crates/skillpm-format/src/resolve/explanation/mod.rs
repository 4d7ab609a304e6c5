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
use super::assemble::{Choice, NeededSkill};
use super::ordinals::Ordinals;
use super::provider::Provider;
use super::search::Package;
use super::solution::Asker;
use super::universe::Universe;
use crate::advice::{Message, message};
use crate::name::SkillName;

/// The maximum number of requirements that an explanation lists. In longer ones the middle is left out.
const MAX_SENTENCES: usize = 16;

/// The maximum number of hints.
const MAX_HINTS: usize = 6;

/// The reason why there is no solution, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The requirements that cannot be met together, from the root requirements downwards, and then the conclusions.
    pub sentences: Vec<Message>,
    /// Hints for the user.
    pub hints: Vec<Message>,
    /// The skills that it is about, from the requirements downwards.
    pub skills: Vec<SkillName>,
}

/// Returns the explanation for `tree`, the proof that there is no solution.
pub(super) fn explain<P: Provider>(
    tree: DerivationTree<Package, Ordinals, std::convert::Infallible>,
    universe: &mut Universe<'_, P>,
) -> Explanation {
    let conflict = Conflict::of(tree);
    let mut explainer = Explainer::new(universe, &conflict);
    explainer.explain();
    let mut explanation = explainer.finish();
    explanation.hints = distinct(explanation.hints);
    explanation.hints.truncate(MAX_HINTS);
    explanation
}

/// Returns the explanation that the skills `first` and `second` have the same name.
pub(super) fn explain_two<P: Provider>(
    universe: &Universe<'_, P>,
    choice: &Choice,
    first: &NeededSkill,
    second: &NeededSkill,
) -> Explanation {
    let name = |number: u32| universe.skill(number).map(|skill| skill.name.to_string()).unwrap_or_default();
    let (one, other) = (name(first.0), name(second.0));
    let sentence = |(number, by): &NeededSkill| {
        let place = choice.get(number).and_then(|ordinal| universe.place_text(*number, *ordinal));
        message!(format!("{} `{}` from {}", asked_by(by), name(*number), place.unwrap_or_default()))
    };
    let is_one_name = one == other;
    let conclusion = if is_one_name {
        format!("only one skill can be installed as `{one}`")
    } else {
        format!("`{one}` and `{other}` are the same name on some file systems")
    };
    let hint = format!(
        "ask for skills that need `{one}` from one registry only: a dependency is taken from the registry of the skill that declares it",
    );
    let skills = first.1.iter().chain(&second.1).filter_map(|by| match by {
        Asker::Skill { name, .. } => Some(name.clone()),
        Asker::User => None,
    });
    Explanation {
        sentences: vec![sentence(first), sentence(second), conclusion.into()],
        hints: is_one_name.then(|| Message::from(hint)).into_iter().collect(),
        skills: skills.collect(),
    }
}

impl<P: Provider> Universe<'_, P> {
    /// Returns how messages name the source of the version `ordinal` of the skill `number`.
    fn place_text(&self, number: u32, ordinal: u32) -> Option<String> {
        let source = self.source(number, ordinal)?;
        Some(match self.skill(number)?.registry {
            Some(_) => format!("the registry `{}`", source.origin.typed()),
            None => format!("`{source}`"),
        })
    }
}

/// Returns `messages` without repetitions, in the same order.
fn distinct(messages: Vec<Message>) -> Vec<Message> {
    let mut seen = BTreeSet::new();
    messages.into_iter().filter(|message| seen.insert(message.clone())).collect()
}
