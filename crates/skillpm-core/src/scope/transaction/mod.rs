//! Atomic changes of a scope: everything that was planned, or nothing.
//!
//! ```text
//! .agents/.skillpm-tx/
//!   tree-0/ tree-1/ ...   trees that come; after their step, the trees that went
//!   skillpm.toml.new      the new manifest and lockfile, where they change
//!   skillpm.toml.<digest> the old ones
//!   journal.json          written last: from here on the transaction will be finished
//! ```
//!
//! A run that is killed before the journal exists has changed nothing; its leftovers are removed. A run that
//! is killed later is completed by the next one, from the journal. Each step is one rename, so a reader never
//! finds half a skill, and each step can be done twice.
//!
//! A finished transaction stays as `.agents/.skillpm-undo` until the next one, so that it can be taken back
//! (`record`, [`undo`]).
//!
//! The journal may be in a stranger's repository, so it is read as hostile input: it holds names and digests
//! but no paths, and anything that does not match it exactly is left alone.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use self::journal::{Change, Journal};
use self::known::KnownTrees;
use self::recovery::Old;
use super::checked_dirs::CheckedDirs;
use super::files::Files;
use super::plan::Plan;
use super::receipts::Receipts;
use super::step::{Location, Step};
use super::{attributes, merges};
use crate::advice::{Call, Opt, Verb, Warning, message};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock, Kind, LinkKind};
use crate::interrupt::{self, Changing, Rest};
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::reporter::Reporter;
use crate::scope::Scope;
use crate::scope::problem;
use crate::settings::Settings;
use crate::store;
use crate::tree::FileSet;

mod ended;
mod journal;
mod known;
mod record;
mod recovery;
mod steps;
mod take_back;
pub(crate) mod undo;

pub(crate) use known::stale_notes;
pub(crate) use record::Record;

const DIRECTORY: &str = ".skillpm-tx";
const JOURNAL: &str = "journal.json";
const MAX_FILE: u64 = 16 << 20;

/// A scope that no other process changes while this value exists.
pub(crate) struct Transaction<'a> {
    scope: &'a Scope,
    settings: &'a Settings,
    reporter: &'a dyn Reporter,
    directory: PathBuf,
    /// Directories that this transaction created, which are removed again if it is taken back.
    made: RefCell<Vec<PathBuf>>,
    /// Directories that are known to exist.
    there: RefCell<BTreeSet<PathBuf>>,
    places: CheckedDirs<'a>,
    /// The links from agents' directories to the directory of canonical copies.
    links: RefCell<BTreeMap<PathBuf, LinkKind>>,
    /// The new manifest: it says where links to the user's directories lead, so that the journal need not.
    manifest: RefCell<Manifest>,
    /// Messages about trees that were saved during a rollback.
    saved: RefCell<Vec<String>>,
    /// The transactions that this user began here.
    known: KnownTrees,
    /// Whether the last transaction can be taken back.
    undoable: Cell<bool>,
    finished_undo: Cell<bool>,
    /// The directory of skills and its parent, if they already existed and were empty: we must not remove
    /// these.
    kept_empty: Vec<PathBuf>,
    lock: Option<DirLock>,
    /// The files to clear away if the user interrupts before anything is changed.
    rest: Option<Rest>,
}

impl<'a> Transaction<'a> {
    /// Locks `scope`, waiting for others, and finishes or clears away what a killed run left.
    pub(crate) fn begin(
        scope: &'a Scope,
        settings: &'a Settings,
        reporter: &'a dyn Reporter,
    ) -> Result<Self> {
        let work_dir = scope.work_dir();
        scope.check_inside(&scope.skills_dir())?;
        // A directory that a killed run left is not the user's.
        let was_empty = !Self::is_begun(scope) && fs::is_empty_dir(&work_dir);
        // A process that waits for others may be interrupted; one that is not interrupted removes the
        // directories that it created.
        let changing = Cell::new(Some(Changing::begin()));
        let lock = DirLock::acquire(&work_dir, || {
            drop(changing.take());
            reporter.waiting_for_lock(&work_dir);
        })?;
        let changing = changing.take();
        // The other process may have created it.
        let was_empty = was_empty && changing.is_some();
        let changing = changing.unwrap_or_else(Changing::begin);
        let mut transaction = Self::new(scope, settings, reporter, Some(lock))?;
        if !Self::is_begun(scope) {
            let skills = Some(scope.skills_dir()).filter(|dir| fs::is_empty_dir(dir));
            transaction.kept_empty = skills.into_iter().chain(was_empty.then_some(work_dir)).collect();
        }
        transaction.recover(&changing)?;
        transaction.rest = Some(transaction.clear_on_stop());
        Ok(transaction)
    }

    /// Arranges for prepared files to be cleared away if the user interrupts. Other threads may still be
    /// writing them.
    fn clear_on_stop(&self) -> Rest {
        let directory = self.directory.clone();
        let made = self.made_by_us();
        interrupt::on_stop(move || {
            let has_begun = fs::kind(&directory.join(JOURNAL)).is_ok_and(|kind| kind.is_some());
            if !has_begun {
                fs::clear_away(&directory);
                for dir in &made {
                    fs::remove_dir_if_empty(dir);
                }
            }
        })
    }

    /// Returns the directories of the scope that are removed if they are empty.
    fn made_by_us(&self) -> Vec<PathBuf> {
        let dirs = [self.scope.skills_dir(), self.scope.disabled_dir(), self.scope.work_dir()];
        dirs.into_iter().filter(|dir| !self.kept_empty.contains(dir)).collect()
    }

    /// Returns the command that takes back the last change of this scope, if it can be taken back.
    fn undone_by(&self) -> Option<Call> {
        self.undoable.get().then(|| Verb::Undo.within(self.scope.kind))
    }

    /// Returns a transaction that has done nothing yet. Without a `lock` it continues another one, which
    /// holds the lock.
    fn new(
        scope: &'a Scope,
        settings: &'a Settings,
        reporter: &'a dyn Reporter,
        lock: Option<DirLock>,
    ) -> Result<Self> {
        let work_dir = scope.work_dir();
        let directory = work_dir.join(DIRECTORY);
        let known = KnownTrees::of(settings, &work_dir)?;
        Ok(Self {
            scope,
            settings,
            reporter,
            directory,
            made: RefCell::default(),
            there: RefCell::default(),
            places: CheckedDirs::new(scope, settings),
            links: RefCell::default(),
            manifest: RefCell::default(),
            saved: RefCell::default(),
            known,
            undoable: Cell::new(false),
            finished_undo: Cell::new(false),
            kept_empty: Vec::new(),
            lock,
            rest: None,
        })
    }

    /// Reports whether a change of `scope` is in progress, or was begun by a run that was killed.
    pub(crate) fn is_begun(scope: &Scope) -> bool {
        matches!(fs::kind(&scope.work_dir().join(DIRECTORY)), Ok(Some(_)))
    }

    /// Reports whether a killed run left something in `scope` that [`Transaction::begin`] would repair.
    pub(crate) fn is_cut_off(scope: &Scope) -> bool {
        // A process at work there holds the lock.
        Self::is_begun(scope) && DirLock::try_acquire(&scope.work_dir()).is_some() && Self::is_begun(scope)
    }

    /// Returns the warning about a killed run in `scope`, if there was one.
    pub(crate) fn cut_off(scope: &Scope) -> Option<Warning> {
        Self::is_cut_off(scope).then(|| {
            let doctor = Verb::Doctor.within(scope.kind).flag(Opt::Fix);
            let told = message!("an earlier run was interrupted; ", doctor, " cleans up");
            Warning::new(problem::RUN_CUT_OFF.id, told)
        })
    }

    /// Carries out `plan`. `contents` holds the new trees. If this fails, the scope is as it was.
    pub(crate) fn apply(
        &self,
        plan: &Plan,
        files: &Files,
        contents: &BTreeMap<SkillName, FileSet>,
    ) -> Result<()> {
        if plan.is_empty() {
            return Ok(());
        }
        let changing = Changing::begin();
        if !self.reporter.may_change() {
            return Err(Error::io("nothing was changed: interrupted"));
        }
        if plan.steps.iter().any(|step| matches!(step, Step::Edit { .. })) {
            self.manifest.replace(plan.manifest.as_ref().unwrap_or(&files.manifest).clone());
        }
        let journal = self.stage(plan, files, contents).inspect_err(|_| {
            // The first error is the one to report; the next run clears what cannot be cleared now.
            let _ = self.clear();
        })?;
        let mut begun = 0;
        if let Err(error) = self.run(&journal, &mut begun) {
            let old = Old {
                manifest: files.manifest_text.as_deref().map(str::as_bytes),
                lockfile: files.lock_text.as_deref().map(str::as_bytes),
            };
            if self.roll_back(&journal, &old, begun).is_err() {
                // The journal stays, so nothing is lost: the next run continues from here.
                return Err(error.hint(message!(
                    "not everything could be undone: the next ",
                    Verb::Install,
                    " continues"
                )));
            }
            let _ = self.clear();
            return Err(self.with_saved(error));
        }
        merges::forget_others(self.scope, plan.lock.as_ref().unwrap_or(&files.lock));
        let manifest = plan.manifest.as_ref().unwrap_or(&files.manifest);
        let placed = Receipts::of(self.settings, self.scope);
        placed.renew(files, manifest, &plan.steps, &plan.foreign, false);
        changing.done(self.undone_by());
        self.settle(self.undoable.get())
    }

    /// Fails if the user has interrupted, while everything is only being prepared.
    fn check_stop() -> Result<()> {
        if interrupt::asked() { Err(Error::io("interrupted; nothing was changed")) } else { Ok(()) }
    }

    /// Prepares everything and writes the journal.
    fn stage(&self, plan: &Plan, files: &Files, contents: &BTreeMap<SkillName, FileSet>) -> Result<Journal> {
        let manifest = plan.manifest.as_ref().map(|manifest| self.written(manifest)).transpose()?;
        self.make_directory()?;
        let mut journal = Journal::new(self.scope.kind, plan.steps.clone(), None, None);
        for (at, step) in plan.steps.iter().enumerate() {
            if let Step::Put { name, digest, .. } = step {
                Self::check_stop()?;
                self.reporter.step(&format!("stage {name}"));
                let set = contents
                    .get(name)
                    .ok_or_else(|| Error::io(format!("the files of `{name}` are missing")))?;
                self.check_place()?;
                let written = fs::materialize(set, &self.tree(at))?;
                if written != *digest {
                    return Err(store::mismatch(&format!("`{name}`"), digest, &written));
                }
            }
        }
        let lockfile = plan.lock.as_ref().map(ToString::to_string);
        journal.lockfile =
            self.prepare(&self.scope.lockfile, lockfile.as_deref(), files.lock_text.as_deref())?;
        journal.manifest =
            self.prepare(&self.scope.manifest, manifest.as_deref(), files.manifest_text.as_deref())?;
        journal.merges = self.keep_merges(plan, files)?;
        (journal.links, journal.made) = self.before(&journal)?;
        self.reporter.step("sync");
        fs::sync_filesystem(&self.directory)?;
        Self::check_stop()?;
        self.reporter.step("journal");
        self.check_place()?;
        self.write_journal(&journal, &self.directory.join(JOURNAL))?;
        Ok(journal)
    }

    /// Creates the directory of the transaction.
    fn make_directory(&self) -> Result<()> {
        self.check_place()?;
        fs::create_dir(&self.directory)?;
        self.check_place()?;
        // Version control never sees this directory, even if it is left behind.
        Ok(fs::write_atomic(&self.directory.join(".gitignore"), b"*\n")?)
    }

    /// Refuses to continue if the locked directory is no longer in its place: files written through its path
    /// would land wherever the one who moved it wants.
    fn check_place(&self) -> Result<()> {
        let work_dir = self.scope.work_dir();
        if self.lock.as_ref().is_none_or(|lock| lock.is_at(&work_dir)) {
            return Ok(());
        }
        let message = format!("`{}` was replaced while skillpm was at work", work_dir.display());
        Err(Error::integrity(message).hint("find out what did that, then run the command again"))
    }

    /// Returns the new text of the manifest.
    fn written(&self, manifest: &Manifest) -> Result<String> {
        let file = self.scope.manifest.display();
        manifest.written().ok_or_else(|| {
            Error::config(format!("skillpm cannot change `{file}` without breaking how it is written")).hint(
                message!(
                    "nothing was changed; change the file by hand, then run ",
                    Verb::Install.within(self.scope.kind)
                ),
            )
        })
    }

    /// Writes the new text of one of the two files beside the journal.
    fn prepare(&self, file: &Path, new: Option<&str>, old: Option<&str>) -> Result<Option<Change>> {
        let Some(new) = new else { return Ok(None) };
        self.scope.check_inside(file)?;
        self.check_place()?;
        fs::write_atomic(&self.prepared(file), new.as_bytes())?;
        let old = old.map(|text| record::keep_text(&self.directory, file, text.as_bytes())).transpose()?;
        Ok(Some(Change { old, new: Some(Digest::of(new.as_bytes())) }))
    }

    fn prepared(&self, file: &Path) -> PathBuf {
        record::prepared(&self.directory, file)
    }

    fn tree(&self, at: usize) -> PathBuf {
        record::tree(&self.directory, at)
    }

    /// Carries out the whole journal. `begun` counts the steps that were begun.
    fn run(&self, journal: &Journal, begun: &mut usize) -> Result<()> {
        for (at, step) in journal.steps.iter().enumerate() {
            self.reporter.step(&describe(step));
            self.check_place()?;
            *begun = at + 1;
            self.step(journal.slot(at), step)?;
        }
        self.sync_places(journal)?;
        self.reporter.step("write the lockfile");
        self.check_place()?;
        self.replace(&self.scope.lockfile, journal.lockfile)?;
        self.reporter.step("write the manifest");
        self.replace(&self.scope.manifest, journal.manifest)?;
        self.replace_merges(journal)?;
        self.empty(journal);
        Ok(())
    }

    /// Makes the steps survive a power failure before the lockfile records them: one sync for each directory,
    /// not for each skill.
    fn sync_places(&self, journal: &Journal) -> Result<()> {
        let places: BTreeSet<Location> = journal
            .steps
            .iter()
            .flat_map(|step| std::iter::once(step.place().0).chain(step.goes_to()))
            .collect();
        let mut dirs = places.iter().map(|place| self.places.dir(place)).collect::<Result<BTreeSet<_>>>()?;
        // A new directory is an entry in its parent.
        dirs.extend(self.made.borrow().iter().filter_map(|dir| Some(dir.parent()?.to_owned())));
        for dir in dirs {
            if fs::kind(&dir)?.is_some() {
                fs::sync_dir(&dir)?;
            }
        }
        Ok(())
    }

    /// Creates the missing directories above `path`.
    fn make_parent(&self, path: &Path) -> Result<()> {
        let Some(parent) = path.parent() else { return Ok(()) };
        if self.there.borrow().contains(parent) {
            return Ok(());
        }
        let mut missing = Vec::new();
        for dir in parent.ancestors() {
            if fs::kind(dir)?.is_some() {
                break;
            }
            missing.push(dir.to_owned());
        }
        self.made.borrow_mut().extend(missing.into_iter().rev());
        fs::create_dir_all(parent)?;
        self.there.borrow_mut().insert(parent.to_owned());
        Ok(())
    }

    /// Puts the prepared text of one of the two files in place.
    fn replace(&self, file: &Path, change: Option<Change>) -> Result<()> {
        let Some(change) = change else { return Ok(()) };
        self.scope.check_inside(file)?;
        let now = fs::read_capped(file, MAX_FILE)?.map(|bytes| Digest::of(&bytes));
        // Already done, or edited since: both are left alone.
        if now == change.new || now != change.old {
            return Ok(());
        }
        if change.new.is_none() {
            fs::remove_tree(file)?;
            return Ok(file.parent().map_or(Ok(()), fs::sync_dir)?);
        }
        let prepared = self.prepared(file);
        // A stranger's directory could contain anything under that name.
        if own_file(&prepared)?.map(|bytes| Digest::of(&bytes)) != change.new {
            return Ok(());
        }
        self.make_parent(file)?;
        Ok(fs::replace_file(&prepared, file)?)
    }
}

impl Drop for Transaction<'_> {
    /// Removes the directories that are empty because nothing was installed.
    fn drop(&mut self) {
        // The transaction that holds the lock continues in these directories.
        if self.lock.is_none() {
            return;
        }
        if self.check_place().is_err() {
            return;
        }
        let made = self.made_by_us();
        for dir in made.iter().filter(|dir| **dir != self.scope.work_dir()) {
            fs::remove_dir_if_empty(dir);
        }
        if matches!(fs::kind(&self.scope.skills_dir()), Ok(None)) {
            attributes::remove_ours(&self.scope.work_dir());
        }
        if made.contains(&self.scope.work_dir()) {
            fs::remove_dir_if_empty(&self.scope.work_dir());
        }
        drop(self.rest.take());
        drop(self.lock.take());
    }
}

/// Reads a regular file of the transaction's directory. A link there is not ours.
fn own_file(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::kind(path)? {
        Some(Kind::File) => Ok(fs::read_capped(path, MAX_FILE)?),
        _ => Ok(None),
    }
}

fn describe(step: &Step) -> String {
    match step {
        Step::Put { name, place: Location::Canonical | Location::Disabled, .. } => format!("put {name}"),
        Step::Put { name, place: Location::Agent(agent), .. } => format!("put {name} for {agent}"),
        Step::Remove { name, .. } => format!("remove {name}"),
        Step::Link { agent, name } => format!("link {name} for {agent}"),
        Step::Unlink { name, .. } => format!("unlink {name}"),
        Step::Disable { name, .. } => format!("disable {name}"),
        Step::Enable { name, .. } => format!("enable {name}"),
        Step::Edit { name } => format!("link {name} to its directory"),
        Step::Relink { name, .. } => format!("put the link {name} back"),
    }
}

#[cfg(test)]
mod tests;
