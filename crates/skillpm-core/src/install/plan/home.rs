//! Planning of the place of a skill itself: canonical or disabled.

use super::{ConflictKind, Location, NewLink, Planner, Step, Wanted};
use crate::digest::Digest;
use crate::install::editable::Editable;
use crate::install::state::OnDisk;
use crate::name::SkillName;

impl Planner<'_> {
    /// Plans to move the tree of `wanted` to or from the disabled skills, unchanged. Returns the place where
    /// it then is, and what is there.
    pub(super) fn bring_home(&mut self, wanted: &Wanted) -> (Location, OnDisk) {
        let name = &wanted.name;
        let (canonical, aside) = (self.canonical(name), self.disabled(name));
        let (home, lies, other, there) = if wanted.disabled {
            (Location::Disabled, aside, Location::Canonical, canonical)
        } else {
            (Location::Canonical, canonical, Location::Disabled, aside)
        };
        match (&lies, &there) {
            (OnDisk::Absent, OnDisk::Tree(digest)) => {
                let (name, digest) = (name.clone(), *digest);
                self.brought.insert(name.clone());
                self.plan.steps.push(if wanted.disabled {
                    Step::Disable { name, digest }
                } else {
                    Step::Enable { name, digest }
                });
                return (home, there);
            }
            // It is in both places, and one has to be removed: nothing is lost if the bytes are the same.
            (OnDisk::Tree(Some(one)), OnDisk::Tree(Some(two))) if one == two => {
                self.drop_tree(&other, name, *two);
            }
            (_, OnDisk::Tree(old)) => {
                if let Some(old) = self.may_replace(&other, name, *old) {
                    self.drop_tree(&other, name, old);
                }
            }
            (_, OnDisk::OurLink | OnDisk::OtherLink(_) | OnDisk::Loop) if other == Location::Canonical => {
                self.drop_canonical_link(name, &there);
            }
            _ => {}
        }
        (home, lies)
    }

    /// Plans a link at the canonical place to the directory of `editable`.
    pub(super) fn editable(&mut self, wanted: &Wanted, editable: &Editable) {
        let name = &wanted.name;
        // A copy from before it became editable, in either place.
        for (place, found) in
            [(Location::Disabled, self.disabled(name)), (Location::Canonical, self.canonical(name))]
        {
            if let OnDisk::Tree(old) = found {
                match self.may_replace(&place, name, old) {
                    Some(old) => self.drop_tree(&place, name, old),
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
                self.plan.steps.push(Step::Unlink { place: Location::Canonical, name: name.clone() });
            }
            _ => {}
        }
    }

    /// Plans a tree with `digest` at a place where `found` is.
    pub(super) fn tree(&mut self, place: &Location, name: &SkillName, digest: Digest, found: &OnDisk) {
        let replaces = match found {
            OnDisk::Absent => None,
            OnDisk::Tree(Some(old)) if *old == digest => return,
            OnDisk::Tree(_) if self.survey.is_source(&self.lies(place, name), name) => {
                return self.conflict(place, name, ConflictKind::Source);
            }
            OnDisk::Tree(old) => match self.may_replace(place, name, *old) {
                None => return,
                replaced => replaced,
            },
            OnDisk::OtherLink(_)
                if !(self.goal.force || *place == Location::Canonical && self.is_editable(name)) =>
            {
                return self.conflict(place, name, ConflictKind::Link);
            }
            // A copy replaces our link.
            OnDisk::OurLink | OnDisk::Loop | OnDisk::OtherLink(_) | OnDisk::Written => {
                self.plan.steps.push(Step::Unlink { place: place.clone(), name: name.clone() });
                None
            }
            OnDisk::Other => return self.conflict(place, name, ConflictKind::NotASkill),
        };
        self.plan.steps.push(Step::Put { place: place.clone(), name: name.clone(), digest, replaces });
    }

    pub(super) fn drop_tree(&mut self, place: &Location, name: &SkillName, old: Digest) {
        self.plan.steps.push(Step::Remove { place: place.clone(), name: name.clone(), old });
    }

    pub(super) fn canonical(&self, name: &SkillName) -> OnDisk {
        self.survey.canonical.get(name).cloned().unwrap_or(OnDisk::Absent)
    }

    /// Returns what is in the place of `name` among the disabled.
    pub(super) fn disabled(&self, name: &SkillName) -> OnDisk {
        self.survey.disabled.get(name).cloned().unwrap_or(OnDisk::Absent)
    }
}
