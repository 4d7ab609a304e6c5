//! Planning of trees that a merge made.

use super::{ConflictKind, Location, Planner, Step};
use crate::digest::Digest;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::scope::ownership::Owned;
use crate::scope::state::OnDisk;

/// A merge result: a tree that the user wrote in part.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The lock entry.
    pub locked: Locked,
    /// The digest of the new tree.
    pub tree: Digest,
    /// The tree that was merged and is replaced: exactly this tree, or nothing.
    pub replaces: Option<Digest>,
    /// Whether the existing tree is saved in the store, whether it is replaced or already the same.
    pub keep: bool,
}

impl Planner<'_, '_> {
    /// Plans the tree of a merge at a place where `found` is.
    pub(super) fn merged(&mut self, place: &Location, name: &SkillName, merged: &Merged, found: &OnDisk) {
        let there = match found {
            OnDisk::Tree(Some(tree)) if [Some(merged.tree), merged.replaces].contains(&Some(*tree)) => {
                Some(*tree)
            }
            OnDisk::Absent if merged.replaces.is_none() => None,
            OnDisk::Tree(None) => return self.conflict(place, name, ConflictKind::NotASkill),
            // The user has edited it further in the meantime.
            _ => return self.conflict(place, name, ConflictKind::Modified),
        };
        if merged.keep && there.is_some() {
            self.keep(place, name);
        }
        if there == Some(merged.tree) {
            return;
        }
        let (place, name) = (place.clone(), name.clone());
        self.plan.steps.push(match there {
            // The user asked for the merge of exactly this tree, which is saved.
            Some(old) => Owned::without_receipt(place, name).replace(merged.tree, old),
            None => Step::Put { place, name, digest: merged.tree, replaces: None },
        });
    }
}
