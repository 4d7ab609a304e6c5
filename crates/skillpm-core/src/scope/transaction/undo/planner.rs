//! Planning of what restores each place as the transaction found it, given its current content.

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
use crate::scope::on_disk::{Inside, OnDisk, real_dir};
use crate::scope::step::{Location, Step};
use crate::scope::transaction::MAX_FILE;
use crate::scope::transaction::record::{Record, of_text};
use crate::scope::trees::is_tree;
use crate::settings::Settings;
use crate::store::Store;

/// The content of a place, now or after the steps planned so far.
#[derive(Debug, Clone)]
enum Content {
    Nothing,
    /// A tree, with its digest if it is one of a skill.
    Tree(Option<Digest>),
    Link(Link),
    Other,
}

#[derive(Debug, Clone)]
struct Link {
    /// The digest of its text.
    says: Digest,
    /// The text; empty for a restored one.
    text: PathBuf,
    /// Whether it leads to the canonical copy.
    ours: bool,
}

/// The state of a place before or after a step of the transaction.
#[derive(Debug, Clone, Copy)]
enum State {
    Nothing,
    Tree(Digest),
    /// The link whose text has this digest.
    Link(Digest),
    /// The link to the canonical copy.
    OurLink,
    /// The link to the directory that the manifest names.
    SourceLink,
}

pub(super) struct Planner<'a> {
    settings: &'a Settings,
    scope: &'a Scope,
    record: &'a Record,
    force: bool,
    store: Option<Store>,
    /// The current manifest, either as the transaction left it or changed since.
    manifest: Manifest,
    contents: BTreeMap<PathBuf, Content>,
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
            contents: BTreeMap::new(),
            repositories: BTreeSet::new(),
            fresh: slots.max(journal.steps.len()),
            undo: Undo::default(),
            changed: Vec::new(),
        })
    }

    /// Plans that the place of `step`, whose tree has the number `slot`, becomes what it was before the step.
    pub(super) fn take_back(&mut self, slot: usize, step: &Step) -> Done {
        let link = self.record.journal.links.get(&slot).copied();
        let link_before = link.map_or(State::Nothing, State::Link);
        let (before, after) = match step {
            Step::Put { digest, replaces, .. } => {
                (replaces.map_or(State::Nothing, State::Tree), State::Tree(*digest))
            }
            Step::Remove { old, .. } => (State::Tree(*old), State::Nothing),
            Step::Link { .. } => (link_before, State::OurLink),
            Step::Edit { .. } => (link_before, State::SourceLink),
            Step::Relink { says, .. } => (link_before, State::Link(*says)),
            // Without a link in the record, the place was already empty.
            Step::Unlink { .. } if link.is_none() => return Ok(()),
            Step::Unlink { .. } => (link_before, State::Nothing),
            Step::Disable { name, digest } => return self.move_back(slot, name, *digest, true),
            Step::Enable { name, digest } => return self.move_back(slot, name, *digest, false),
        };
        let (place, name) = step.place();
        self.restore(slot, &place, name, before, after).map(drop)
    }

    /// Plans that a place that the transaction left as `after` becomes as it was `before`. Returns `false` if something
    /// else is there now, which stays.
    fn restore(
        &mut self,
        slot: usize,
        place: &Location,
        name: &SkillName,
        before: State,
        after: State,
    ) -> std::result::Result<bool, Stop> {
        let now = self.content(place, name)?;
        if self.is(&now, name, before)? {
            return Ok(true);
        }
        if !matches!(now, Content::Nothing) && !self.is(&now, name, after)? {
            let kind = match now {
                Content::Link(_) => ChangedKind::Link,
                Content::Tree(Some(_)) if matches!(after, State::Tree(_)) => ChangedKind::Edited,
                Content::Tree(Some(_)) => ChangedKind::Came,
                _ => ChangedKind::NotASkill,
            };
            if !self.force || kind == ChangedKind::NotASkill {
                self.refuse(place, name, kind)?;
                return Ok(false);
            }
            if let Content::Tree(_) = now {
                self.undo.keep.push((place.clone(), name.clone()));
            }
        }
        match (before, &now) {
            (State::Tree(_), Content::Nothing | Content::Tree(_))
            | (State::Link(_), Content::Nothing | Content::Link(_)) => {
                self.bring(slot, place, name, before, &now)?;
            }
            (State::Nothing, _) => {
                let slot = self.free(slot)?;
                self.move_to_slot(slot, place, name, &now)?;
            }
            _ => {
                let fresh = self.fresh_slot()?;
                self.move_to_slot(fresh, place, name, &now)?;
                self.bring(slot, place, name, before, &Content::Nothing)?;
            }
        }
        Ok(true)
    }

    /// Plans the return of a tree or link from the record, in exchange for what is there `now`.
    fn bring(
        &mut self,
        slot: usize,
        place: &Location,
        name: &SkillName,
        before: State,
        now: &Content,
    ) -> Done {
        match before {
            State::Tree(digest) => {
                let replaces = if let Content::Tree(there) = now { *there } else { None };
                let slot = self.source(slot, place, name, digest)?;
                let step = Step::Put { place: place.clone(), name: name.clone(), digest, replaces };
                self.push(slot, step, place, name, Content::Tree(Some(digest)))
            }
            State::Link(says) => {
                if fs::read_link(&self.record.tree(slot))?.is_none_or(|text| of_text(&text) != says) {
                    return Err(self.lost(place, name)?.into());
                }
                if let Content::Link(there) = now {
                    self.undo.links.insert(slot, there.says);
                }
                let step = Step::Relink { place: place.clone(), name: name.clone(), says };
                let restored = Link { says, text: PathBuf::new(), ours: false };
                self.push(slot, step, place, name, Content::Link(restored))
            }
            State::Nothing | State::OurLink | State::SourceLink => Ok(()),
        }
    }

    /// Plans that what is there `now` goes into the record.
    fn move_to_slot(&mut self, slot: usize, place: &Location, name: &SkillName, now: &Content) -> Done {
        let step = match now {
            Content::Tree(Some(old)) => Step::Remove { place: place.clone(), name: name.clone(), old: *old },
            Content::Link(link) => {
                self.undo.links.insert(slot, link.says);
                Step::Unlink { place: place.clone(), name: name.clone() }
            }
            Content::Nothing | Content::Tree(None) | Content::Other => return Ok(()),
        };
        self.push(slot, step, place, name, Content::Nothing)
    }

    /// Plans the move back of a skill that was `disabled` or enabled, including its edits.
    fn move_back(&mut self, slot: usize, name: &SkillName, digest: Option<Digest>, disabled: bool) -> Done {
        let (from, to) = if disabled {
            (Location::Disabled, Location::Canonical)
        } else {
            (Location::Canonical, Location::Disabled)
        };
        match self.content(&from, name)? {
            Content::Tree(there) => {
                let fresh = self.fresh_slot()?;
                if !self.restore(fresh, &to, name, State::Nothing, State::Nothing)? {
                    return Ok(());
                }
                let step = if disabled {
                    Step::Enable { name: name.clone(), digest: there }
                } else {
                    Step::Disable { name: name.clone(), digest: there }
                };
                let path = self.path(&from, name)?;
                self.contents.insert(path, Content::Nothing);
                self.push(slot, step, &to, name, Content::Tree(there))
            }
            Content::Nothing => match (self.content(&to, name)?, digest) {
                // The user moved it back by hand.
                (Content::Tree(_), _) => Ok(()),
                // The user removed it: the store may have it.
                (_, Some(digest)) => {
                    self.restore(slot, &to, name, State::Tree(digest), State::Nothing).map(drop)
                }
                (_, None) => Err(self.lost(&to, name)?.into()),
            },
            _ => self.refuse(&from, name, ChangedKind::NotASkill),
        }
    }

    fn push(&mut self, slot: usize, step: Step, place: &Location, name: &SkillName, then: Content) -> Done {
        let path = self.path(place, name)?;
        // Digests do not cover a repository, and the store cannot keep one.
        if step.takes_tree() && self.repositories.contains(&path) {
            return self.refuse(place, name, ChangedKind::Repository);
        }
        self.contents.insert(path, then);
        self.undo.steps.push(step);
        self.undo.slots.push(slot);
        Ok(())
    }

    /// Reports whether `now` is `state`.
    fn is(&self, now: &Content, name: &SkillName, state: State) -> Result<bool> {
        Ok(match (state, now) {
            (State::Nothing, Content::Nothing) => true,
            (State::Tree(digest), Content::Tree(there)) => *there == Some(digest),
            (State::Link(says), Content::Link(link)) => link.says == says,
            (State::OurLink, Content::Link(link)) => link.ours,
            (State::SourceLink, Content::Link(link)) => {
                let entry = self.manifest.skills().get(name);
                let source = entry.map(|entry| Editable::of(self.settings, self.scope, entry)).transpose()?;
                source.flatten().is_some_and(|editable| editable.link.says(&link.text))
            }
            _ => false,
        })
    }

    /// Records a later change that is in the way.
    fn refuse(&mut self, place: &Location, name: &SkillName, kind: ChangedKind) -> Done {
        let path = self.path(place, name)?;
        // Consequences are not reported again.
        if self.changed.iter().all(|other| other.path != path) {
            self.changed.push(Changed { path, kind });
        }
        Ok(())
    }

    fn path(&self, place: &Location, name: &SkillName) -> Result<PathBuf> {
        self.scope.place(self.settings, place, name)
    }

    fn content(&mut self, place: &Location, name: &SkillName) -> Result<Content> {
        let path = self.path(place, name)?;
        if let Some(content) = self.contents.get(&path) {
            return Ok(content.clone());
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
        let content = match look {
            OnDisk::Absent => Content::Nothing,
            OnDisk::Tree(digest) => Content::Tree(digest),
            OnDisk::Written | OnDisk::Other => Content::Other,
            found => {
                let text = fs::read_link(&path)?.unwrap_or_default();
                Content::Link(Link { says: of_text(&text), text, ours: found == OnDisk::OurLink })
            }
        };
        self.contents.insert(path, content.clone());
        Ok(content)
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
