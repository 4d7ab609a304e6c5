//! The place of a skill itself: among those that agents see, or among the disabled.

use super::{ConflictKind, NewLink, Place, Planner, Step, Wanted};
use crate::digest::Digest;
use crate::install::editable::Editable;
use crate::install::state::Found;
use crate::name::SkillName;

impl Planner<'_> {
    /// Brings the tree of `wanted` from the place of disabled skills or back, as it is, and returns the
    /// place where it then is with what lies there.
    pub(super) fn bring_home(&mut self, wanted: &Wanted) -> (Place, Found) {
        let name = &wanted.name;
        let (canonical, aside) = (self.canonical(name), self.aside(name));
        let (home, lies, other, there) = if wanted.disabled {
            (Place::Disabled, aside, Place::Canonical, canonical)
        } else {
            (Place::Canonical, canonical, Place::Disabled, aside)
        };
        match (&lies, &there) {
            (Found::Absent, Found::Tree(digest)) => {
                let (name, digest) = (name.clone(), *digest);
                self.brought.insert(name.clone());
                self.plan.steps.push(if wanted.disabled {
                    Step::Disable { name, digest }
                } else {
                    Step::Enable { name, digest }
                });
                return (home, there);
            }
            // It lies in both, and one has to go: nothing is lost where the bytes are the same.
            (Found::Tree(Some(one)), Found::Tree(Some(two))) if one == two => {
                self.drop_tree(&other, name, *two);
            }
            (_, Found::Tree(old)) => {
                if let Some(old) = self.may_replace(&other, name, *old) {
                    self.drop_tree(&other, name, old);
                }
            }
            (_, Found::OurLink | Found::OtherLink(_) | Found::Loop) if other == Place::Canonical => {
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
        for (place, found) in [(Place::Disabled, self.aside(name)), (Place::Canonical, self.canonical(name))]
        {
            if let Found::Tree(old) = found {
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
            Found::OtherLink(text) if editable.link.says(&text) => {}
            Found::OtherLink(_) if !self.is_editable(name) && !self.goal.force => {
                self.conflict(&Place::Canonical, name, ConflictKind::Link);
            }
            Found::Other => self.conflict(&Place::Canonical, name, ConflictKind::NotASkill),
            _ => {
                self.plan.steps.push(Step::Edit { name: name.clone() });
                let link = editable.link.clone();
                self.plan.links.push(NewLink { place: Place::Canonical, name: name.clone(), link });
            }
        }
    }

    /// Plans that a link at the canonical place goes: it holds nothing but its text, yet a stranger's
    /// is only taken away by force.
    pub(super) fn drop_canonical_link(&mut self, name: &SkillName, found: &Found) {
        let foreign = matches!(found, Found::OtherLink(_)) && !self.is_editable(name);
        match found {
            _ if foreign && !self.goal.force => self.conflict(&Place::Canonical, name, ConflictKind::Link),
            Found::OurLink | Found::OtherLink(_) | Found::Loop => {
                self.plan.steps.push(Step::Unlink { place: Place::Canonical, name: name.clone() });
            }
            _ => {}
        }
    }

    /// Plans a tree with `digest` at a place where `found` lies.
    pub(super) fn tree(&mut self, place: &Place, name: &SkillName, digest: Digest, found: &Found) {
        let replaces = match found {
            Found::Absent => None,
            Found::Tree(Some(old)) if *old == digest => return,
            Found::Tree(_) if self.survey.is_source(&self.lies(place, name), name) => {
                return self.conflict(place, name, ConflictKind::Source);
            }
            Found::Tree(old) => match self.may_replace(place, name, *old) {
                None => return,
                replaced => replaced,
            },
            Found::OtherLink(_)
                if !(self.goal.force || *place == Place::Canonical && self.is_editable(name)) =>
            {
                return self.conflict(place, name, ConflictKind::Link);
            }
            // A link of ours gives way to a copy.
            Found::OurLink | Found::Loop | Found::OtherLink(_) | Found::Written => {
                self.plan.steps.push(Step::Unlink { place: place.clone(), name: name.clone() });
                None
            }
            Found::Other => return self.conflict(place, name, ConflictKind::NotASkill),
        };
        self.plan.steps.push(Step::Put { place: place.clone(), name: name.clone(), digest, replaces });
    }

    pub(super) fn drop_tree(&mut self, place: &Place, name: &SkillName, old: Digest) {
        self.plan.steps.push(Step::Remove { place: place.clone(), name: name.clone(), old });
    }

    pub(super) fn canonical(&self, name: &SkillName) -> Found {
        self.survey.canonical.get(name).cloned().unwrap_or(Found::Absent)
    }

    /// What lies in the place of `name` among the disabled.
    pub(super) fn aside(&self, name: &SkillName) -> Found {
        self.survey.disabled.get(name).cloned().unwrap_or(Found::Absent)
    }
}
