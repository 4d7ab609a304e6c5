//! Conflicts: what may be removed, and what is in the way.

use std::path::{Component, Path, PathBuf};

use super::{ConflictKind, Planner};
use crate::digest::Digest;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::scope::goal::Wanted;
use crate::scope::on_disk::OnDisk;
use crate::scope::ownership::Owned;
use crate::scope::step::Location;
use crate::spec::Origin;

impl Planner<'_, '_> {
    /// Returns the place of a tree that may be removed, and its digest, or notes the conflict: see [`Planner::taken`].
    pub(super) fn may_take(
        &mut self,
        place: &Location,
        name: &SkillName,
        old: Option<Digest>,
    ) -> Option<(Owned, Digest)> {
        self.taken(place, name, old).map_err(|kind| self.conflict(place, name, kind)).ok()
    }

    /// Works like [`Planner::may_take`], for a tree that something else would replace. A copy that was edited in the
    /// directory of an agent is left, and stops nothing else.
    pub(super) fn may_replace(
        &mut self,
        place: &Location,
        name: &SkillName,
        old: Option<Digest>,
    ) -> Option<(Owned, Digest)> {
        match (self.taken(place, name, old), place) {
            (Ok(taken), _) => return Some(taken),
            (Err(ConflictKind::Modified), Location::Agent(agent)) => {
                self.plan.left.insert((agent.clone(), name.clone()));
            }
            (Err(kind), _) => self.conflict(place, name, kind),
        }
        None
    }

    /// Leaves a link to somewhere else as it is. Where skillpm once put a link or a copy for an agent, it stops nothing else.
    pub(super) fn leave_link(&mut self, place: &Location, name: &SkillName) {
        match place {
            Location::Agent(agent) if self.is_received(place, name) => {
                self.plan.left.insert((agent.clone(), name.clone()));
            }
            _ => self.conflict(place, name, ConflictKind::Link),
        }
    }

    /// Returns the place of a tree that may be removed, and its digest: a receipt says that skillpm put it there, and it is
    /// unchanged, by this lockfile or another one (of an update elsewhere, or of another branch). With `--force` it may be
    /// anything that the store can keep, and is saved first. An unedited tree that may exist nowhere else is saved in the
    /// store. Anything else is in the way.
    fn taken(
        &mut self,
        place: &Location,
        name: &SkillName,
        old: Option<Digest>,
    ) -> Result<(Owned, Digest), ConflictKind> {
        let old = old.ok_or(ConflictKind::NotASkill)?;
        let owned = self.owned(place, name);
        let is_ours = owned.is_some();
        if let Some(owned) = owned {
            let current = self.current_location(place, name);
            // A tree that is in no lockfile may have been put there by another tool from the same source, so for it only
            // the receipts count.
            let is_of_source =
                || self.is_known(place, name) && self.evidence.is_of_source(&current, name, &old);
            // With `--force`, every difference is saved and named, even a known one.
            let asks = !self.goal.force;
            if Some(old) == self.locked(name) || self.is_copy(place, name, old) || asks && is_of_source() {
                return Ok((owned, old));
            }
            if asks && self.evidence.is_as_put(&current, name, &old) {
                self.plan.store.push((current, name.clone()));
                return Ok((owned, old));
            }
        }
        let is_known = self.goal.known.get(name).is_some_and(|known| known.contains(&old));
        if self.goal.force || is_known {
            self.keep(place, name);
            // `import` takes over skills that another tool installed from the same source.
            if !is_ours && !is_known {
                self.plan.given_up.insert((self.current_location(place, name), name.clone()));
            }
            return Ok((Owned::without_receipt(place.clone(), name.clone()), old));
        }
        Err(if is_ours { ConflictKind::Modified } else { ConflictKind::Untracked })
    }

    /// Returns the place of a tree if skillpm put it there, also if it was edited since. The trees of another scope in the
    /// same directory count.
    pub(super) fn owned(&self, place: &Location, name: &SkillName) -> Option<Owned> {
        let current = self.current_location(place, name);
        let owned = self.survey.ownership.of_tree(&self.files.lock, &current, name);
        let shared = || {
            self.survey.shared.contains(name).then(|| Owned::without_receipt(current.clone(), name.clone()))
        };
        owned.or_else(shared).map(|owned| owned.moved(place.clone()))
    }

    /// Plans to remove the tree at `place` if skillpm put it there, or with `--force`. Otherwise it stays.
    pub(super) fn leave_or_take(&mut self, place: &Location, name: &SkillName, old: Option<Digest>) {
        if !self.may_go(place, name) {
            self.plan.foreign.insert((place.clone(), name.clone()));
        } else if let Some((owned, old)) = self.may_take(place, name, old) {
            self.take_tree(owned, old);
        }
    }

    /// Plans the removal of the tree `old`.
    pub(super) fn take_tree(&mut self, owned: Owned, old: Digest) {
        self.plan.steps.push(owned.remove(old));
    }

    /// Plans the removal of a link.
    pub(super) fn take_link(&mut self, owned: Owned) {
        self.plan.steps.push(owned.unlink());
    }

    /// Reports whether the tree `old` in an agent's directory is a copy of the installed skill in its current
    /// state, including edits and merges. Removing it loses nothing, because that state stays or is saved.
    pub(super) fn is_copy(&self, place: &Location, name: &SkillName, old: Digest) -> bool {
        let homes = [&self.survey.canonical, &self.survey.disabled];
        let is_there = || homes.iter().any(|home| home.get(name) == Some(&OnDisk::Tree(Some(old))));
        matches!(place, Location::Agent(_)) && is_there()
    }

    /// Reports whether the lockfile lists something of ours at `place`.
    pub(super) fn is_known(&self, place: &Location, name: &SkillName) -> bool {
        match (place, self.files.lock.skills.get(name)) {
            (Location::Agent(agent), Some(locked)) => locked.agents.contains(agent),
            (_, locked) => locked.is_some(),
        }
    }

    /// Returns another skill that stays and would share a directory with `name` on some file systems: the
    /// manifest and the lockfile refuse to hold both.
    pub(super) fn same_name(&self, name: &SkillName) -> Option<SkillName> {
        let alike = self.alike.get(&name.collision_key())?;
        alike.iter().find(|other| **other != name).map(|other| (*other).clone())
    }

    /// Returns the source of the skill that is installed under the name of `wanted`, if it is another source:
    /// it is then another skill, which only `--force` replaces. Identical bytes are the same skill. A skill
    /// that the manifest no longer names is not in the way.
    pub(super) fn other_source(&self, wanted: &Wanted) -> Option<ConflictKind> {
        let new = wanted.requirement.as_ref()?;
        let (origin, path) = match self.files.manifest.skills().get(&wanted.name) {
            Some(old) => (&old.origin, &old.path),
            None if self.files.manifest_text.is_none() => {
                let old = self.files.lock.skills.get(&wanted.name)?;
                (&old.origin, &old.path)
            }
            None => return None,
        };
        let digest = wanted.content.locked().map(|locked| locked.digest);
        let same_bytes = digest.is_some() && digest == self.locked(&wanted.name);
        let same_directory = is_same_directory((origin, path), (&new.origin, &new.path));
        if same_bytes || same_directory || self.goal.force {
            return None;
        }
        if origin != &new.origin {
            return Some(ConflictKind::OtherSource(origin.clone()));
        }
        // A skill that moved is the same skill.
        wanted.beside.as_ref().map(|old| ConflictKind::OtherPath(origin.clone(), old.clone()))
    }

    /// Reports whether a link at the canonical place of `name` is ours: the skill is editable, or the user
    /// has just removed it from the manifest.
    pub(super) fn is_editable(&self, name: &SkillName) -> bool {
        let was = |entry: &Requirement| entry.origin.local_path().is_some() && self.locked(name).is_none();
        self.files.manifest.skills().get(name).is_some_and(|entry| entry.editable || was(entry))
    }

    pub(super) fn locked(&self, name: &SkillName) -> Option<Digest> {
        self.files.lock.skills.get(name).map(|locked| locked.digest)
    }
}

/// Reports whether two sources are the same directory on this machine: `./src` with `pdf` below it, and `./src/pdf`.
fn is_same_directory(one: (&Origin, &Option<String>), two: (&Origin, &Option<String>)) -> bool {
    let whole = |(origin, path): (&Origin, &Option<String>)| {
        let whole = Path::new(origin.local_path()?).join(path.as_deref().unwrap_or(""));
        Some(whole.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>())
    };
    matches!((whole(one), whole(two)), (Some(one), Some(two)) if one == two)
}
