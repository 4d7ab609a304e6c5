//! Planning of the removal of orphans: skills that were placed here and that nothing names any more.

use std::collections::BTreeSet;

use super::Planner;
use crate::name::SkillName;
use crate::scope::on_disk::OnDisk;
use crate::scope::ownership::Owned;
use crate::scope::receipts::PreviousInstall;
use crate::scope::step::Location;

impl Planner<'_, '_> {
    /// Plans the removal of the skill `name` and its links wherever they are exactly what `was` placed.
    /// Everything else stays. Edited trees are reported: from then on they belong to the user.
    pub(super) fn plan_orphan(&mut self, name: &SkillName, was: &PreviousInstall) {
        // A skill that stays has this place, perhaps under another name that is equal on some file systems.
        if self.alike.contains_key(&name.collision_key()) {
            return;
        }
        let places = [(Location::Canonical, self.canonical(name)), (Location::Disabled, self.disabled(name))];
        match was {
            PreviousInstall::Copy(locked, ours) => {
                let is_edited =
                    |found: &OnDisk| matches!(found, OnDisk::Tree(tree) if *tree != Some(locked.digest));
                if let Some((place, _)) = places.iter().find(|(_, found)| is_edited(found)) {
                    return self.plan.stays.push((place.clone(), name.clone()));
                }
                if !matches!(places[0].1, OnDisk::Tree(_) | OnDisk::Absent) {
                    return;
                }
                // The same bytes were put there by a person, or are being edited, or skills are installed from there.
                let stays = |place: &Location| !ours.contains(place) || self.is_somebodys(place, name);
                if places.iter().any(|(place, found)| matches!(found, OnDisk::Tree(_)) && stays(place)) {
                    return;
                }
                for (place, found) in &places {
                    if let (OnDisk::Tree(_), Some(owned)) = (found, self.owned(place, name)) {
                        self.take_tree(owned, locked.digest);
                    }
                }
            }
            PreviousInstall::Link(link) => match &places[0].1 {
                OnDisk::Absent => {}
                OnDisk::OtherLink(text) if text.to_str() == Some(&link.says) => {
                    self.take_link(Owned::without_receipt(Location::Canonical, name.clone()));
                }
                _ => return,
            },
        }
        let (locked, ours) = match was {
            PreviousInstall::Copy(locked, ours) => (Some(&**locked), Some(ours)),
            PreviousInstall::Link(_) => (None, None),
        };
        let survey = self.survey;
        let mut dirs = BTreeSet::new();
        for (agent, found, known) in self.there(name, locked) {
            if survey.dirs.get(agent).is_none_or(|dir| !dirs.insert(dir)) {
                continue;
            }
            let place = Location::Agent(agent.to_owned());
            match (found, locked) {
                (OnDisk::OurLink | OnDisk::Written, _) => {
                    let owned = survey.ownership.of_link(&self.files.lock, &place, name);
                    if let Some(owned) = owned {
                        self.take_link(owned);
                    }
                }
                (OnDisk::Tree(tree), Some(locked)) if *tree == Some(locked.digest) => {
                    let is_ours = ours.is_some_and(|ours| ours.contains(&place));
                    if is_ours
                        && !self.is_somebodys(&place, name)
                        && let Some(owned) = self.owned(&place, name)
                    {
                        self.take_tree(owned, locked.digest);
                    }
                }
                (OnDisk::Tree(_), Some(_)) if known => self.plan.stays.push((place, name.clone())),
                _ => {}
            }
        }
    }

    /// Reports whether skills are installed from the tree at the place of `name`, or it has a git repository.
    fn is_somebodys(&self, place: &Location, name: &SkillName) -> bool {
        self.is_source(place, name) || self.survey.has_repository(place, name)
    }
}
