//! Planning of the place of a skill itself: canonical or disabled.

use super::{ConflictKind, NewLink, Planner};
use crate::digest::Digest;
use crate::name::SkillName;
use crate::scope::editable::Editable;
use crate::scope::goal::Wanted;
use crate::scope::on_disk::OnDisk;
use crate::scope::ownership::Owned;
use crate::scope::step::{Location, Step};

impl Planner<'_, '_> {
    /// Plans to move the tree of `wanted` to or from the disabled skills, unchanged. Returns the place where
    /// it then is, and what is there.
    pub(super) fn bring_home(&mut self, wanted: &Wanted) -> (Location, OnDisk) {
        let name = &wanted.name;
        let (canonical, disabled) = (self.canonical(name), self.disabled(name));
        let (home, at_home, other, elsewhere) = if wanted.disabled {
            (Location::Disabled, disabled, Location::Canonical, canonical)
        } else {
            (Location::Canonical, canonical, Location::Disabled, disabled)
        };
        match (&at_home, &elsewhere) {
            // A skill from before skillpm came belongs to its owner, who sees it where it is.
            (OnDisk::Absent, OnDisk::Tree(_)) if !self.may_move(&other, name) => {}
            (OnDisk::Absent, OnDisk::Tree(digest)) => {
                let (name, digest) = (name.clone(), *digest);
                self.brought.insert(name.clone());
                self.plan.steps.push(if wanted.disabled {
                    Step::Disable { name, digest }
                } else {
                    Step::Enable { name, digest }
                });
                return (home, elsewhere);
            }
            // It is in both places, and one has to be removed: nothing is lost if the bytes are the same.
            (OnDisk::Tree(Some(one)), OnDisk::Tree(Some(two))) if one == two => {
                match self.owned(&other, name) {
                    Some(owned) => self.take_tree(owned, *two),
                    None => self.leave_or_take(&other, name, Some(*two)),
                }
            }
            (_, OnDisk::Tree(old)) => {
                if let Some((owned, old)) = self.may_take(&other, name, *old) {
                    self.take_tree(owned, old);
                }
            }
            (_, OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop) if other == Location::Canonical => {
                self.drop_canonical_link(name, &elsewhere);
            }
            _ => {}
        }
        (home, at_home)
    }

    /// Reports whether the tree of `name` at `place` may move to or from the disabled skills: skillpm put it there, or
    /// the user gives it up with `--force`. Otherwise it is in the way.
    fn may_move(&mut self, place: &Location, name: &SkillName) -> bool {
        let may = self.may_go(place, name);
        if !may {
            self.conflict(place, name, ConflictKind::Untracked);
        }
        may
    }

    /// Plans a link at the canonical place to the directory of `editable`.
    pub(super) fn editable(&mut self, wanted: &Wanted, editable: &Editable) {
        let name = &wanted.name;
        // A copy from before it became editable, in either place.
        for (place, found) in
            [(Location::Disabled, self.disabled(name)), (Location::Canonical, self.canonical(name))]
        {
            if let OnDisk::Tree(old) = found {
                if self.is_source(&place, name) {
                    return self.conflict(&place, name, ConflictKind::Source);
                }
                match self.may_take(&place, name, old) {
                    Some((owned, old)) => self.take_tree(owned, old),
                    None => return,
                }
            }
        }
        let found = self.canonical(name);
        if wanted.disabled {
            return self.drop_canonical_link(name, &found);
        }
        match found {
            OnDisk::OtherLink(text) if editable.link.says(&text) => {}
            OnDisk::OtherLink(_) if !self.is_editable(name) && !self.goal.force => {
                self.conflict(&Location::Canonical, name, ConflictKind::Link);
            }
            OnDisk::Other => self.conflict(&Location::Canonical, name, ConflictKind::NotASkill),
            _ => {
                if matches!(found, OnDisk::OtherLink(_)) && !self.is_editable(name) {
                    self.keep(&Location::Canonical, name);
                }
                self.plan.steps.push(Step::Edit { name: name.clone() });
                let link = editable.link.clone();
                self.plan.links.push(NewLink { place: Location::Canonical, name: name.clone(), link });
            }
        }
    }

    /// Plans the removal of a link at the canonical place. A link holds only its text, but one that is not
    /// ours is only removed with `--force`.
    pub(super) fn drop_canonical_link(&mut self, name: &SkillName, found: &OnDisk) {
        let foreign = matches!(found, OnDisk::OtherLink(_)) && !self.is_editable(name);
        match found {
            _ if foreign && !self.goal.force => self.conflict(&Location::Canonical, name, ConflictKind::Link),
            OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop => {
                if foreign {
                    self.keep(&Location::Canonical, name);
                }
                self.take_link(Owned::without_receipt(Location::Canonical, name.clone()));
            }
            _ => {}
        }
    }

    /// Plans a tree with `digest` at a place where `found` is.
    pub(super) fn tree(&mut self, place: &Location, name: &SkillName, digest: Digest, found: &OnDisk) {
        match found {
            OnDisk::Absent => {}
            OnDisk::Tree(Some(old)) if *old == digest => return self.same_tree(place, name, *old),
            OnDisk::Tree(_) if self.is_source(&self.current_location(place, name), name) => {
                return self.conflict(place, name, ConflictKind::Source);
            }
            // It was there before, and stayed: the agent keeps it.
            OnDisk::Tree(_) if matches!(place, Location::Agent(_)) && self.stays_foreign(place, name) => {
                return;
            }
            OnDisk::Tree(old) => {
                if let Some((owned, old)) = self.may_replace(place, name, *old) {
                    self.plan.steps.push(owned.replace(digest, old));
                }
                return;
            }
            OnDisk::OtherLink(_)
                if !(self.goal.force || *place == Location::Canonical && self.is_editable(name)) =>
            {
                return self.leave_link(place, name);
            }
            // A copy replaces our link.
            OnDisk::OurLink | OnDisk::Loop | OnDisk::OtherLink(_) | OnDisk::Written => {
                if matches!(found, OnDisk::OtherLink(_)) && !self.is_editable(name) {
                    self.keep(place, name);
                }
                self.take_link(Owned::without_receipt(place.clone(), name.clone()));
            }
            OnDisk::Other => return self.conflict(place, name, ConflictKind::NotASkill),
        }
        self.plan.steps.push(Step::Put { place: place.clone(), name: name.clone(), digest, replaces: None });
    }

    /// Plans for a tree that has the very bytes that should be at `place`. One that skillpm did not put there stays its
    /// owner's; with `--force`, skillpm's own takes its place. `import` takes over the trees of other tools.
    pub(super) fn same_tree(&mut self, place: &Location, name: &SkillName, digest: Digest) {
        if self.owned(place, name).is_some() || self.goal.known.contains_key(name) {
            return;
        }
        let is_source = self.is_source(&self.current_location(place, name), name);
        if self.goal.force && !is_source {
            if let Some((owned, old)) = self.may_take(place, name, Some(digest)) {
                self.plan.steps.push(owned.replace(digest, old));
            }
        } else {
            self.plan.foreign.insert((place.clone(), name.clone()));
        }
    }

    /// Reports whether what is at `place` was there before skillpm came and is left as it is.
    pub(super) fn stays_foreign(&mut self, place: &Location, name: &SkillName) -> bool {
        let stays = !self.goal.force && self.survey.ownership.was_there(place, name);
        if stays {
            self.plan.foreign.insert((place.clone(), name.clone()));
        }
        stays
    }

    pub(super) fn canonical(&self, name: &SkillName) -> OnDisk {
        self.survey.canonical.get(name).cloned().unwrap_or(OnDisk::Absent)
    }

    /// Returns what is in the place of `name` among the disabled.
    pub(super) fn disabled(&self, name: &SkillName) -> OnDisk {
        self.survey.disabled.get(name).cloned().unwrap_or(OnDisk::Absent)
    }
}
