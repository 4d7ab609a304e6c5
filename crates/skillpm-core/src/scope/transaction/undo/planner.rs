//! Planning of the step that takes back each step, given the current content of its place.

mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{Changed, ChangedKind, Stop, Undo};
use crate::advice::{Opt, Verb, message};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::directory::SkillsDir;
use crate::scope::editable::Editable;
use crate::scope::plan::{Location, Step};
use crate::scope::state::{Inside, OnDisk, real_dir};
use crate::scope::transaction::MAX_FILE;
use crate::scope::transaction::record::{Record, of_text};
use crate::scope::trees::is_tree;
use crate::settings::Settings;
use crate::store::Store;

/// The content of a place, now or after the steps planned so far.
#[derive(Debug, Clone)]
enum Lies {
    Nothing,
    Tree(Option<Digest>),
    /// A link, with its text, and whether it leads to the canonical copy.
    Link {
        text: PathBuf,
        ours: bool,
    },
    /// The link with this digest, which was restored.
    Old(Digest),
    Other,
}

impl Lies {
    /// Returns the digest of a link's text.
    fn says(&self) -> Option<Digest> {
        match self {
            Self::Link { text, .. } => Some(of_text(text)),
            Self::Old(says) => Some(*says),
            _ => None,
        }
    }
}

/// The link that the transaction made.
enum Expected {
    /// A link to the canonical copy.
    Ours,
    /// A link to the directory that the manifest names.
    Source,
    /// The link with this digest.
    Says(Digest),
}

pub(super) struct Planner<'a> {
    settings: &'a Settings,
    scope: &'a Scope,
    record: &'a Record,
    force: bool,
    store: Option<Store>,
    /// The current manifest, either as the transaction left it or changed since.
    manifest: Manifest,
    lies: BTreeMap<PathBuf, Lies>,
    /// The trees that contain a git repository.
    repositories: BTreeSet<PathBuf>,
    /// The next number for a tree that no step used.
    fresh: usize,
    pub(super) undo: Undo,
    pub(super) changed: Vec<Changed>,
}

type Done = std::result::Result<(), Stop>;

impl<'a> Planner<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        scope: &'a Scope,
        record: &'a Record,
        force: bool,
    ) -> Result<Self> {
        let text = fs::read_capped(&scope.manifest, MAX_FILE)?.unwrap_or_default();
        let journal = &record.journal;
        let slots = journal.slots.iter().copied().max().map_or(0, |slot| slot + 1);
        Ok(Self {
            settings,
            scope,
            record,
            force,
            store: Store::new(settings).ok(),
            manifest: Manifest::parse(&String::from_utf8_lossy(&text)).unwrap_or_default(),
            lies: BTreeMap::new(),
            repositories: BTreeSet::new(),
            fresh: slots.max(journal.steps.len()),
            undo: Undo::default(),
            changed: Vec::new(),
        })
    }

    /// Plans the inverse of `step`, whose tree has the number `slot`.
    pub(super) fn take_back(&mut self, slot: usize, step: &Step) -> Done {
        let link = self.record.journal.links.get(&slot).copied();
        match step {
            Step::Put { place, name, digest, replaces: None } => {
                self.drop_tree(slot, place, name, Some(*digest))
            }
            Step::Put { place, name, digest, replaces: Some(old) } => {
                self.bring_tree(slot, place, name, *old, Some(*digest))
            }
            Step::Remove { place, name, old } => self.bring_tree(slot, place, name, *old, None),
            Step::Link { agent, name } => {
                self.link_back(slot, &Location::Agent(agent.clone()), name, link, &Expected::Ours)
            }
            Step::Edit { name } => self.link_back(slot, &Location::Canonical, name, link, &Expected::Source),
            Step::Relink { place, name, says } => {
                self.link_back(slot, place, name, link, &Expected::Says(*says))
            }
            // If there is no link, it was already gone.
            Step::Unlink { place, name } => match link {
                Some(says) => self.bring_link(slot, place, name, says, None),
                None => Ok(()),
            },
            Step::Disable { name, digest } => self.move_back(slot, name, *digest, true),
            Step::Enable { name, digest } => self.move_back(slot, name, *digest, false),
        }
    }

    /// Restores the link `old` in place of the `expected` one. If there was none, only removes the latter.
    fn link_back(
        &mut self,
        slot: usize,
        place: &Location,
        name: &SkillName,
        old: Option<Digest>,
        expected: &Expected,
    ) -> Done {
        match old {
            Some(says) => self.bring_link(slot, place, name, says, Some(expected)),
            None => self.drop_link(slot, place, name, expected),
        }
    }

    /// Plans the removal of the tree that the transaction put in place.
    fn drop_tree(
        &mut self,
        slot: usize,
        place: &Location,
        name: &SkillName,
        expected: Option<Digest>,
    ) -> Done {
        match self.lies(place, name)? {
            Lies::Nothing => Ok(()),
            Lies::Tree(Some(old)) if Some(old) == expected => self.remove(slot, place, name, old),
            other => self.clear(slot, place, name, &other, ChangedKind::Edited).map(drop),
        }
    }

    /// Plans the return of the tree `digest`, in exchange for `instead`.
    fn bring_tree(
        &mut self,
        slot: usize,
        place: &Location,
        name: &SkillName,
        digest: Digest,
        instead: Option<Digest>,
    ) -> Done {
        let lies = self.lies(place, name)?;
        let replaces = match lies {
            Lies::Nothing => None,
            Lies::Tree(Some(there)) if there == digest => return Ok(()),
            Lies::Tree(Some(there)) if Some(there) == instead => Some(there),
            Lies::Tree(Some(there)) => {
                let kind = if instead.is_some() { ChangedKind::Edited } else { ChangedKind::Came };
                if !self.may_go(place, name, kind)? {
                    return Ok(());
                }
                self.undo.keep.push((place.clone(), name.clone()));
                Some(there)
            }
            _ => {
                let aside = self.fresh_slot()?;
                if !self.clear(aside, place, name, &lies, ChangedKind::Came)? {
                    return Ok(());
                }
                None
            }
        };
        let slot = self.source(slot, place, name, digest)?;
        let step = Step::Put { place: place.clone(), name: name.clone(), digest, replaces };
        self.push(slot, step, place, name, Lies::Tree(Some(digest)))
    }

    /// Plans the removal of the `expected` link.
    fn drop_link(&mut self, slot: usize, place: &Location, name: &SkillName, expected: &Expected) -> Done {
        let lies = self.lies(place, name)?;
        match lies {
            Lies::Nothing => Ok(()),
            _ if self.is_expected(&lies, name, expected)? => self.unlink(slot, place, name, &lies),
            _ => self.clear(slot, place, name, &lies, ChangedKind::Came).map(drop),
        }
    }

    /// Plans the return of the link with the text digest `says`, in exchange for the `expected` one.
    fn bring_link(
        &mut self,
        slot: usize,
        place: &Location,
        name: &SkillName,
        says: Digest,
        expected: Option<&Expected>,
    ) -> Done {
        let lies = self.lies(place, name)?;
        let there = lies.says();
        if there == Some(says) {
            return Ok(());
        }
        match (&lies, expected) {
            (Lies::Nothing, _) => {}
            (_, Some(expected)) if self.is_expected(&lies, name, expected)? => {}
            // The link there is set aside by the exchange.
            (Lies::Link { .. } | Lies::Old(_), _) => {
                if !self.may_go(place, name, ChangedKind::Link)? {
                    return Ok(());
                }
            }
            _ => {
                let aside = self.fresh_slot()?;
                if !self.clear(aside, place, name, &lies, ChangedKind::Came)? {
                    return Ok(());
                }
            }
        }
        let kept = self.record.tree(slot);
        if fs::read_link(&kept)?.is_none_or(|text| of_text(&text) != says) {
            return Err(self.lost(place, name)?.into());
        }
        self.undo.links.extend(there.map(|there| (slot, there)));
        let step = Step::Relink { place: place.clone(), name: name.clone(), says };
        self.push(slot, step, place, name, Lies::Old(says))
    }

    /// Plans the move back of a skill that was `disabled` or enabled, including its edits.
    fn move_back(&mut self, slot: usize, name: &SkillName, digest: Option<Digest>, disabled: bool) -> Done {
        let (from, to) = if disabled {
            (Location::Disabled, Location::Canonical)
        } else {
            (Location::Canonical, Location::Disabled)
        };
        match self.lies(&from, name)? {
            Lies::Tree(there) => {
                let in_the_way = self.lies(&to, name)?;
                let aside = self.fresh_slot()?;
                if !self.clear(aside, &to, name, &in_the_way, ChangedKind::Came)? {
                    return Ok(());
                }
                let name = name.clone();
                let step = if disabled {
                    Step::Enable { name: name.clone(), digest: there }
                } else {
                    Step::Disable { name: name.clone(), digest: there }
                };
                let path = self.path(&from, &name)?;
                self.lies.insert(path, Lies::Nothing);
                self.push(slot, step, &to, &name, Lies::Tree(there))
            }
            Lies::Nothing => match (self.lies(&to, name)?, digest) {
                // The user moved it back by hand.
                (Lies::Tree(_), _) => Ok(()),
                // The user removed it: the store may have it.
                (_, Some(digest)) => self.bring_tree(slot, &to, name, digest, None),
                (_, None) => Err(self.lost(&to, name)?.into()),
            },
            _ => self.refuse(&from, name, ChangedKind::NotASkill),
        }
    }

    /// Plans the removal of content that the transaction did not leave in a place. Returns `false` if it must
    /// stay.
    fn clear(
        &mut self,
        slot: usize,
        place: &Location,
        name: &SkillName,
        lies: &Lies,
        kind: ChangedKind,
    ) -> std::result::Result<bool, Stop> {
        match lies {
            Lies::Nothing => {}
            Lies::Tree(Some(there)) => {
                if !self.may_go(place, name, kind)? {
                    return Ok(false);
                }
                self.undo.keep.push((place.clone(), name.clone()));
                self.remove(slot, place, name, *there)?;
            }
            Lies::Link { .. } | Lies::Old(_) => {
                if !self.may_go(place, name, ChangedKind::Link)? {
                    return Ok(false);
                }
                self.unlink(slot, place, name, lies)?;
            }
            Lies::Tree(None) | Lies::Other => {
                self.refuse(place, name, ChangedKind::NotASkill)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn remove(&mut self, slot: usize, place: &Location, name: &SkillName, old: Digest) -> Done {
        let slot = self.free(slot)?;
        let step = Step::Remove { place: place.clone(), name: name.clone(), old };
        self.push(slot, step, place, name, Lies::Nothing)
    }

    fn unlink(&mut self, slot: usize, place: &Location, name: &SkillName, lies: &Lies) -> Done {
        let slot = self.free(slot)?;
        self.undo.links.extend(lies.says().map(|says| (slot, says)));
        let step = Step::Unlink { place: place.clone(), name: name.clone() };
        self.push(slot, step, place, name, Lies::Nothing)
    }

    fn push(&mut self, slot: usize, step: Step, place: &Location, name: &SkillName, lies: Lies) -> Done {
        let path = self.path(place, name)?;
        // Digests do not cover a repository, and the store cannot keep one.
        if step.takes_tree() && self.repositories.contains(&path) {
            return self.refuse(place, name, ChangedKind::Repository);
        }
        self.lies.insert(path, lies);
        self.undo.steps.push(step);
        self.undo.slots.push(slot);
        Ok(())
    }

    /// Reports whether `lies` is the link that the transaction made.
    fn is_expected(&self, lies: &Lies, name: &SkillName, expected: &Expected) -> Result<bool> {
        Ok(match (expected, lies) {
            (Expected::Ours, Lies::Link { ours, .. }) => *ours,
            (Expected::Source, Lies::Link { text, .. }) => {
                let entry = self.manifest.skills().get(name);
                let source = entry.map(|entry| Editable::of(self.settings, self.scope, entry)).transpose()?;
                source.flatten().is_some_and(|editable| editable.link.says(text))
            }
            (Expected::Says(says), lies) => lies.says() == Some(*says),
            _ => false,
        })
    }

    /// Reports whether a later change may be removed; if not, records it.
    fn may_go(
        &mut self,
        place: &Location,
        name: &SkillName,
        kind: ChangedKind,
    ) -> std::result::Result<bool, Stop> {
        if !self.force {
            self.refuse(place, name, kind)?;
        }
        Ok(self.force)
    }

    fn refuse(&mut self, place: &Location, name: &SkillName, kind: ChangedKind) -> Done {
        let path = self.path(place, name)?;
        // Its consequences are not reported again.
        if self.changed.iter().all(|other| other.path != path) {
            self.changed.push(Changed { path, kind });
        }
        Ok(())
    }

    fn path(&self, place: &Location, name: &SkillName) -> Result<PathBuf> {
        self.scope.place(self.settings, place, name)
    }

    fn lies(&mut self, place: &Location, name: &SkillName) -> Result<Lies> {
        let path = self.path(place, name)?;
        if let Some(lies) = self.lies.get(&path) {
            return Ok(lies.clone());
        }
        let dir = path.parent().unwrap_or(&self.scope.root);
        let dir = SkillsDir::open(dir, &real_dir(&self.scope.skills_dir())?)?;
        // Trees are compared byte by byte here.
        let mut seen = Inside::default();
        let look = dir.look(name.as_str(), |path| {
            seen = self.scope.index.trees().inside(path);
            seen.digest
        })?;
        if seen.repository {
            self.repositories.insert(path.clone());
        }
        let lies = match look {
            OnDisk::Absent => Lies::Nothing,
            OnDisk::Tree(digest) => Lies::Tree(digest),
            OnDisk::Written | OnDisk::Other => Lies::Other,
            found => {
                Lies::Link { text: fs::read_link(&path)?.unwrap_or_default(), ours: found == OnDisk::OurLink }
            }
        };
        self.lies.insert(path, lies.clone());
        Ok(lies)
    }

    /// Returns the number of the tree `digest` in the record: `slot`, or that of a copy from the store.
    fn source(&mut self, slot: usize, place: &Location, name: &SkillName, digest: Digest) -> Result<usize> {
        let kept = self.record.tree(slot);
        if fs::kind(&kept)? == Some(Kind::Directory) && is_tree(&kept, &digest) {
            return Ok(slot);
        }
        let stored = self.store.as_ref().and_then(|store| store.get(&digest).ok().flatten());
        match stored.filter(|set| set.digest().is_ok_and(|found| found == digest)) {
            Some(set) => {
                let slot = self.fresh_slot()?;
                self.undo.refills.push((slot, name.clone(), set, digest));
                Ok(slot)
            }
            None => Err(self.lost(place, name)?),
        }
    }

    fn lost(&self, place: &Location, name: &SkillName) -> Result<Error> {
        Ok(Error::integrity(format!(
            "the former content of `{}` cannot be restored: it is neither in `{}` unchanged nor in the store",
            self.path(place, name)?.display(),
            self.record.directory.display()
        ))
        .hint(message!(
            "nothing was changed; ",
            Verb::Undo.call().flag(Opt::Forget),
            " deletes the record"
        )))
    }

    /// Returns `slot` if it is unused, otherwise a free number.
    fn free(&mut self, slot: usize) -> Result<usize> {
        match fs::kind(&self.record.tree(slot))? {
            None => Ok(slot),
            Some(_) => self.fresh_slot(),
        }
    }

    fn fresh_slot(&mut self) -> Result<usize> {
        loop {
            let slot = self.fresh;
            self.fresh += 1;
            if fs::kind(&self.record.tree(slot))?.is_none() {
                return Ok(slot);
            }
        }
    }
}
