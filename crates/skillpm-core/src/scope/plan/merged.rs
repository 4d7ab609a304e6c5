//! Planning of trees that a merge made.

use super::{ConflictKind, Planner};
use crate::name::SkillName;
use crate::scope::goal::Merged;
use crate::scope::on_disk::OnDisk;
use crate::scope::ownership::Owned;
use crate::scope::step::{Location, Step};

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
