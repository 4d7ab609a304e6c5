//! Receipts: the record of what this machine placed in a scope, which is the lockfile at the end of the scope's last change.
//!
//! A lockfile from version control does not say what was removed from it, and version control often ignores `.agents`. So a
//! copy of the last one is kept in the user's own state directory, one file for each scope. A restore compares the two, and
//! removes skills that an earlier lockfile placed and the present one does not name.
//!
//! A file counts only if a step of a change put it there, and only as long as it is the same file. Anything else, such as a
//! copy by another tool or a file that version control has brought since, belongs to its maker, whatever its bytes are:
//! [`Made`] says which of the paths of a scope a change may delete or replace.
//!
//! A record that cannot be read, or that is about another directory, is treated as missing, which is not a failure.

mod made;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub(crate) use self::made::Made;
use super::checked_dirs::CheckedDirs;
use super::editable::Editable;
use super::files::{Files, MAX_FILE};
use super::records;
use super::step::{Location, Step};
use crate::agents;
use crate::error::Result;
use crate::fs;
use crate::lockfile::{Locked, Lockfile};
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::settings::Settings;
use crate::skill::SKILL_FILE;

/// The largest record that is read, in bytes: a lockfile and the line before it.
const MAX_RECORD: u64 = MAX_FILE + (1 << 20);
/// The directory of the records.
const ROOM: &str = "placed";
/// The start of the first line. The rest of that line is JSON, and the lockfile follows.
const COMMENT: &str = "# ";

/// The record of one scope.
#[derive(Debug)]
pub(crate) struct Receipts<'a> {
    settings: &'a Settings,
    scope: &'a Scope,
    /// `None` if there is no place for it.
    file: Option<PathBuf>,
    directory: String,
}

/// The receipt for a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviousInstall {
    /// The locked tree, and the places where it is still the one that was put there.
    Copy(Box<Locked>, BTreeSet<Location>),
    /// The link to the directory of an editable skill.
    Link(Link),
}

/// The skills that were removed from the two files of a scope since its last change here.
#[derive(Debug, Default)]
pub(crate) struct RemovedSkill {
    /// Skills that nothing names any more.
    pub left: BTreeMap<SkillName, PreviousInstall>,
    /// Agents that saw a skill and that the lockfile no longer lists for it.
    pub unlinked: BTreeMap<SkillName, BTreeSet<&'static str>>,
}

/// The link to the directory of an editable skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The text of the link.
    pub says: String,
    /// The source of the skill in the manifest.
    pub source: String,
}

/// The first line of a record: facts that are not in the lockfile.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Heading {
    /// The directory of the scope that is locked, for cleaning up.
    directory: String,
    /// The links to editable skills.
    links: BTreeMap<SkillName, Link>,
    /// The trees that were put there.
    #[serde(default)]
    put: Marks,
    /// The trees that were there before a change would have put the same bytes there, and that were left alone.
    #[serde(default)]
    found: Marks,
    /// The places where links to the canonical copy were made.
    #[serde(default)]
    linked: BTreeMap<SkillName, BTreeSet<Spot>>,
}

/// The facts of a record that a change adds to.
#[derive(Debug, Default)]
struct Facts {
    put: Marks,
    found: Marks,
    linked: BTreeMap<SkillName, BTreeSet<Spot>>,
}

impl Facts {
    fn of(heading: Heading) -> Self {
        Self { put: heading.put, found: heading.found, linked: heading.linked }
    }

    /// Drops the facts about skills other than those that `is_known` names.
    fn retain(&mut self, is_known: impl Fn(&SkillName) -> bool) {
        self.put.retain(|name, _| is_known(name));
        self.found.retain(|name, _| is_known(name));
        self.linked.retain(|name, _| is_known(name));
    }
}

/// The marks of what was put where, by skill and place. A disabled skill has its mark under its usual place.
type Marks = BTreeMap<SkillName, BTreeMap<Spot, Mark>>;

/// A place of a skill: the id of an agent, or an empty string.
type Spot = String;

/// The identity of the `SKILL.md` that was put there: its inode number, and when its content was written, in seconds
/// and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Mark(u64, i64, u32);

impl Mark {
    /// Returns the mark of the skill in the directory `dir`; `None` if it does not exist, or the system does not provide it.
    fn of(dir: &Path) -> Option<Self> {
        let stat = fs::stat(&dir.join(SKILL_FILE))?;
        Some(Self(stat.inode, stat.modified.seconds, stat.modified.nanoseconds))
    }
}

fn spot(place: &Location) -> Spot {
    match place {
        Location::Canonical | Location::Disabled => Spot::new(),
        Location::Agent(id) => id.clone(),
    }
}

impl<'a> Receipts<'a> {
    /// Returns the record of `scope`. Reads and writes nothing.
    pub(crate) fn of(settings: &'a Settings, scope: &'a Scope) -> Self {
        let (file, directory) = records::of_scope(settings, scope, ROOM, "lock");
        Self { settings, scope, file, directory }
    }

    /// Returns what was placed in the scope and is not in `files`, whether it still exists or not.
    pub(crate) fn orphans(&self, files: &Files) -> BTreeMap<SkillName, PreviousInstall> {
        let text = self.read();
        self.known(&text).map(|(heading, lock)| self.left_of(&heading, lock, files)).unwrap_or_default()
    }

    /// Returns the placed skills that were removed from `files` elsewhere.
    pub(crate) fn gone(&self, files: &Files) -> RemovedSkill {
        let text = self.read();
        let Some((heading, lock)) = self.known(&text) else { return RemovedSkill::default() };
        RemovedSkill { left: self.left_of(&heading, lock, files), unlinked: unlinked(lock, files) }
    }

    fn left_of(&self, heading: &Heading, lock: &str, files: &Files) -> BTreeMap<SkillName, PreviousInstall> {
        let mut left = self.unnamed(heading, lock, files, |name| files.knows(name)).unwrap_or_default();
        let places = CheckedDirs::new(self.scope, self.settings);
        for (name, was) in &mut left {
            if let (PreviousInstall::Copy(_, ours), Some(marks)) = (was, heading.put.get(name)) {
                ours.extend(marks.iter().filter_map(|(spot, mark)| still_put(&places, name, spot, *mark)));
            }
        }
        left
    }

    /// Returns the skills in the record with these parts that neither `is_named` nor what `files` locks names. Does not
    /// check yet which of the copies are still where they were put.
    fn unnamed(
        &self,
        heading: &Heading,
        lock: &str,
        files: &Files,
        is_named: impl Fn(&SkillName) -> bool,
    ) -> Option<BTreeMap<SkillName, PreviousInstall>> {
        let recorded = heading.links.keys().chain(heading.put.keys());
        let mut names: BTreeSet<&SkillName> = recorded.filter(|name| !is_named(name)).collect();
        // Usually there are none, and nothing has to be parsed.
        if names.is_empty() {
            return Some(BTreeMap::new());
        }
        // A skill that a locked skill needs counts as named.
        let needed: BTreeSet<&str> =
            files.lock.skills.values().flat_map(|locked| &locked.dependencies).map(String::as_str).collect();
        names.retain(|name| !needed.contains(name.as_str()));
        // Skills of the other scope in the same directory were not left there by this one.
        if let Some(other) = self.scope.other_scope(self.settings).ok()? {
            let other = Files::read(&other).ok()?;
            names.retain(|name| !other.knows(name));
        }
        let links = heading.links.iter().filter(|(name, _)| names.contains(name));
        let mut left: BTreeMap<SkillName, PreviousInstall> =
            links.map(|(name, link)| (name.clone(), PreviousInstall::Link(link.clone()))).collect();
        if names.iter().any(|name| heading.put.contains_key(*name)) {
            let put = |name: &SkillName| names.contains(name) && heading.put.contains_key(name);
            let copies = parse(lock)?.skills.into_iter().filter(|(name, _)| put(name));
            left.extend(
                copies.map(|(name, locked)| (name, PreviousInstall::Copy(Box::new(locked), BTreeSet::new()))),
            );
        }
        Some(left)
    }

    /// Records what is placed in the scope after a restore. `manifest` and `lock` are its current files. Drops anything that
    /// they do not name: it was removed, or is not skillpm's from now on.
    pub(crate) fn settle(&self, manifest: &Manifest, lock: &Lockfile) {
        let old = self.read();
        let mut facts = self.known(&old).map(|(heading, _)| Facts::of(heading)).unwrap_or_default();
        facts.retain(|name| lock.skills.contains_key(name) || manifest.skills().contains_key(name));
        facts.put.retain(|name, _| lock.skills.contains_key(name));
        self.write(&old, manifest, BTreeMap::new(), facts);
    }

    /// Replaces the record `old` with what is placed in the scope, whose current manifest is `manifest`, and with `left`,
    /// together with `facts`. Does not sync the file: losing it only means that skills that were removed from the lockfile
    /// elsewhere stay installed.
    fn write(
        &self,
        old: &str,
        manifest: &Manifest,
        left: BTreeMap<SkillName, PreviousInstall>,
        facts: Facts,
    ) {
        let Some(file) = &self.file else { return };
        let Some(text) = self.text(manifest, left, facts) else { return };
        // A record that cannot be written is not a failure of the change.
        let _ = if text.is_empty() {
            fs::remove_if_there(file)
        } else if old == text {
            Ok(())
        } else {
            fs::write_small(file, text.as_bytes())
        };
    }

    /// Records what is placed in the scope after the change `steps` of the files `before`. `manifest` is the
    /// current manifest, and `foreign` are the places whose content was there before and was left alone. Skills
    /// that nothing named before stay in the record as long as they exist: a restore removes them.
    ///
    /// A change that `comes_back` puts the same trees back where they were. So their marks are known, as are
    /// those of the trees that it removes: they may come back.
    pub(crate) fn renew(
        &self,
        before: &Files,
        manifest: &Manifest,
        steps: &[Step],
        foreign: &BTreeSet<(Location, SkillName)>,
        comes_back: bool,
    ) {
        let old = self.read();
        let (mut left, mut facts) = match self.known(&old) {
            Some((heading, lock)) => {
                // What the manifest names and no lockfile has, because that was lost, was still put there by skillpm.
                let is_editable = |name: &SkillName| {
                    let entries = [manifest, &before.manifest].map(|manifest| manifest.skills().get(name));
                    entries.into_iter().flatten().any(|entry| entry.editable)
                };
                let is_named = |name: &SkillName| before.lock.skills.contains_key(name) || is_editable(name);
                let left = self.unnamed(&heading, lock, before, is_named).unwrap_or_default();
                (left, Facts::of(heading))
            }
            None => Default::default(),
        };
        let places = CheckedDirs::new(self.scope, self.settings);
        let mark = |place: &Location, name| places.of(place, name).ok().and_then(|path| Mark::of(&path));
        for (place, name) in foreign {
            if let Some(mark) = mark(place, name) {
                facts.found.entry(name.clone()).or_default().insert(spot(place), mark);
            }
        }
        for step in steps {
            let (place, name) = step.place();
            let at = spot(&place);
            match step {
                Step::Put { .. } if !comes_back => {
                    if let Some(found) = facts.found.get_mut(name) {
                        found.remove(&at);
                    }
                    if let Some(linked) = facts.linked.get_mut(name) {
                        linked.remove(&at);
                    }
                    let marks = facts.put.entry(name.clone()).or_default();
                    match mark(&place, name) {
                        Some(mark) => drop(marks.insert(at, mark)),
                        None => drop(marks.remove(&at)),
                    }
                }
                Step::Link { .. } | Step::Relink { place: Location::Agent(_), .. } => {
                    facts.linked.entry(name.clone()).or_default().insert(at);
                }
                Step::Unlink { .. } => {
                    if let Some(linked) = facts.linked.get_mut(name) {
                        linked.remove(&at);
                    }
                }
                _ => {}
            }
        }
        facts.put.retain(|_, marks| !marks.is_empty());
        facts.found.retain(|_, marks| !marks.is_empty());
        facts.linked.retain(|_, spots| !spots.is_empty());
        if !left.is_empty() {
            let lock = fs::read_text(&self.scope.lockfile, MAX_FILE).ok().flatten();
            let lock = lock.as_deref().and_then(parse).unwrap_or_default();
            let is_there = |name: &SkillName| {
                // Version control may have removed the tree itself, but knows nothing about the copies for
                // agents.
                let marks = facts.put.get(name).into_iter().flatten();
                let copy =
                    || marks.clone().any(|(spot, mark)| still_put(&places, name, spot, *mark).is_some());
                lying(self.scope, name).next().is_some() || copy()
            };
            left.retain(|name, _| !lock.skills.contains_key(name) && is_there(name));
        }
        self.write(&old, manifest, left, facts);
    }

    /// Returns the text of the record, empty if it does not exist.
    fn read(&self) -> String {
        let read = |file: &PathBuf| fs::read_text(file, MAX_RECORD).ok().flatten();
        self.file.as_ref().and_then(read).unwrap_or_default()
    }

    /// Returns the parts of the record `text`, if it is about this directory.
    fn known<'t>(&self, text: &'t str) -> Option<(Heading, &'t str)> {
        parts(text).filter(|(heading, _)| heading.directory == self.directory)
    }

    /// Returns the record, empty if there is nothing to record; `None` if the lockfile cannot be read.
    fn text(
        &self,
        manifest: &Manifest,
        left: BTreeMap<SkillName, PreviousInstall>,
        facts: Facts,
    ) -> Option<String> {
        let mut lock = fs::read_text(&self.scope.lockfile, MAX_FILE).ok()?.unwrap_or_default();
        let mut links: BTreeMap<SkillName, Link> = BTreeMap::new();
        for (name, entry) in manifest.skills().iter().filter(|(_, entry)| entry.editable) {
            let Ok(Some(editable)) = Editable::of(self.settings, self.scope, entry) else { continue };
            let text = fs::read_link(&self.scope.skill_dir(name)).ok().flatten();
            let ours = text.filter(|text| editable.link.says(text));
            if let Some(says) = ours.as_deref().and_then(Path::to_str).map(ToOwned::to_owned) {
                links.insert(name.clone(), Link { says, source: entry.origin.to_string() });
            }
        }
        let mut copies = BTreeMap::new();
        for (name, was) in left {
            match was {
                PreviousInstall::Copy(locked, _) => drop(copies.insert(name, *locked)),
                PreviousInstall::Link(link) => drop(links.insert(name, link)),
            }
        }
        if !copies.is_empty() {
            let mut both = parse(&lock)?;
            both.skills.extend(copies);
            lock = both.to_string();
        }
        if lock.is_empty() && links.is_empty() {
            return Some(String::new());
        }
        let Facts { put, found, linked } = facts;
        let heading = Heading { directory: self.directory.clone(), links, put, found, linked };
        let heading = serde_json::to_string(&heading).ok()?;
        Some(format!("{COMMENT}{heading}\n{lock}"))
    }
}

impl PreviousInstall {
    /// Reports whether a restore removes it: it is in `scope` as it was placed.
    pub fn is_whole(&self, scope: &Scope, name: &SkillName) -> bool {
        match self {
            Self::Copy(_, ours) if ours.is_empty() => false,
            Self::Copy(locked, _) => {
                let mut digests = lying(scope, name).map(|path| scope.index.digest_of(&path)).peekable();
                digests.peek().is_some() && digests.all(|digest| digest == Some(locked.digest))
            }
            Self::Link(link) => {
                let says = fs::read_link(&scope.skill_dir(name)).ok().flatten();
                says.as_deref().and_then(Path::to_str) == Some(&link.says)
            }
        }
    }
}

/// Returns the records of scopes that no longer exist, such as those of removed projects.
pub(crate) fn stale_records(settings: &Settings) -> Result<Vec<PathBuf>> {
    records::stale(settings, ROOM, |file| {
        let text = fs::read_text(file, MAX_RECORD).ok()??;
        parts(&text).map(|(heading, _)| heading.directory)
    })
}

/// Returns the first line of a record, and the lockfile after it.
fn parts(text: &str) -> Option<(Heading, &str)> {
    let (heading, lock) = text.strip_prefix(COMMENT)?.split_once('\n')?;
    Some((serde_json::from_str(heading).ok()?, lock))
}

/// Returns the agents that the lockfile `old` lists for skills and the lockfile in `files` does not.
fn unlinked(old: &str, files: &Files) -> BTreeMap<SkillName, BTreeSet<&'static str>> {
    // Usually it is the same, and nothing has to be parsed.
    if Some(old) == files.lock_text.as_deref() {
        return BTreeMap::new();
    }
    let Some(old) = parse(old) else { return BTreeMap::new() };
    let gone = |(name, was): (SkillName, Locked)| {
        let now = files.lock.skills.get(&name)?;
        let ids = was.agents.difference(&now.agents).filter_map(|id| agents::find(id).ok());
        let ids: BTreeSet<_> = ids.map(|agent| agent.id).collect();
        (!ids.is_empty()).then_some((name, ids))
    };
    old.skills.into_iter().filter_map(gone).collect()
}

/// Parses a lockfile; an empty text names nothing.
fn parse(lock: &str) -> Option<Lockfile> {
    if lock.is_empty() { Some(Lockfile::default()) } else { Lockfile::parse(lock).ok() }
}

/// Returns the place of `name` that `spot` means, if the tree there is the one with this `mark`. A tree that contains a
/// repository was worked on, whatever its digest is.
fn still_put(places: &CheckedDirs<'_>, name: &SkillName, spot: &str, mark: Mark) -> Option<Location> {
    let meant = match spot {
        "" => vec![Location::Canonical, Location::Disabled],
        agent => vec![Location::Agent(agent.to_owned())],
    };
    meant.into_iter().find(|place| {
        let path = places.of(place, name).ok();
        let has_repository = |path: &Path| !matches!(fs::kind(&path.join(".git")), Ok(None));
        path.is_some_and(|path| Mark::of(&path) == Some(mark) && !has_repository(&path))
    })
}

/// Returns the places of the skill `name` where something is.
fn lying(scope: &Scope, name: &SkillName) -> impl Iterator<Item = PathBuf> {
    let places = [scope.skill_dir(name), scope.disabled_skill_dir(name)];
    places.into_iter().filter(|path| matches!(fs::kind(path), Ok(Some(_))))
}
