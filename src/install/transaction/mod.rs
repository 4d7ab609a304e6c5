//! Changing a scope as one: everything that was planned, or nothing.
//!
//! ```text
//! .agents/.skillpm-tx/
//!   tree-0/ tree-1/ ...   trees that come; after their step, the trees that went
//!   skillpm.toml.new      the new manifest and lockfile, where they change
//!   journal.json          written last: from here on the transaction will be finished
//! ```
//!
//! A run that is killed before the journal is there has changed nothing; what it left is removed.
//! A run that is killed later is finished by the next one, from the journal. Each step is one
//! rename, so at no moment does a reader find half a skill, and each step can be done twice.
//!
//! The journal may lie in a stranger's repository, so it is read as hostile input: it holds names
//! and digests and no paths, and what is not exactly what it says is left as it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::agents;
use super::plan::{Place, Plan, Step};
use super::scope::Scope;
use super::state::{Files, digest_of, relative};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock, Kind};
use crate::name::SkillName;
use crate::reporter::Reporter;
use crate::settings::Settings;
use crate::store;
use crate::tree::FileSet;

const DIRECTORY: &str = ".skillpm-tx";
const JOURNAL: &str = "journal.json";
const MAX_FILE: u64 = 16 << 20;
/// The version of the journal's format. A journal of another version is an error, never guessed at.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Journal {
    version: u32,
    steps: Vec<Step>,
    manifest: Option<Change>,
    lockfile: Option<Change>,
}

/// One of the two files that changes: the digests of its text before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    old: Option<Digest>,
    new: Digest,
}

/// A scope that no other process changes while this value lives.
pub struct Transaction<'a> {
    scope: &'a Scope,
    settings: &'a Settings,
    reporter: &'a dyn Reporter,
    directory: PathBuf,
    lock: Option<DirLock>,
}

impl<'a> Transaction<'a> {
    /// Locks `scope`, waiting for others, and finishes or clears away what a killed run left.
    ///
    /// # Errors
    ///
    /// Where the scope cannot be written, or what was left cannot be finished.
    pub fn begin(scope: &'a Scope, settings: &'a Settings, reporter: &'a dyn Reporter) -> Result<Self> {
        let work_dir = scope.work_dir();
        scope.check_inside(&scope.skills_dir())?;
        let lock = DirLock::acquire(&work_dir, || reporter.waiting_for_lock(&work_dir))?;
        let transaction =
            Self { scope, settings, reporter, directory: work_dir.join(DIRECTORY), lock: Some(lock) };
        transaction.recover()?;
        Ok(transaction)
    }

    /// Whether a killed run left something in `scope` that [`Transaction::begin`] would mend.
    pub fn is_unfinished(scope: &Scope) -> bool {
        matches!(fs::kind(&scope.work_dir().join(DIRECTORY)), Ok(Some(_)))
    }

    fn recover(&self) -> Result<()> {
        if fs::kind(&self.directory)?.is_none() {
            return Ok(());
        }
        if let Some(text) = fs::read_text(&self.directory.join(JOURNAL), MAX_FILE)? {
            let journal: Journal =
                serde_json::from_str(&text).map_err(|error| self.bad_journal(&error.to_string()))?;
            if journal.version != VERSION {
                return Err(self.bad_journal(&format!("it has version {}", journal.version)));
            }
            for (at, step) in journal.steps.iter().enumerate() {
                self.step(at, step, true)?;
            }
            self.replace(&self.scope.lockfile, journal.lockfile)?;
            self.replace(&self.scope.manifest, journal.manifest)?;
        }
        self.clear()
    }

    fn bad_journal(&self, reason: &str) -> Error {
        let journal = self.directory.join(JOURNAL);
        Error::config(format!("`{}` cannot be read: {reason}", journal.display()))
            .hint("a run of skillpm was cut off there; delete the directory to give up what it was doing")
    }

    /// Does what `plan` says; `contents` holds the trees that come. When this fails, the scope is as
    /// it was.
    ///
    /// # Errors
    ///
    /// Where something cannot be written, or a tree is not the one that the plan names.
    pub fn apply(&self, plan: &Plan, files: &Files, contents: &BTreeMap<SkillName, FileSet>) -> Result<()> {
        if plan.is_empty() {
            return Ok(());
        }
        let journal = self.stage(plan, files, contents).inspect_err(|_| {
            // The first error is the one to tell; the next run clears what cannot be cleared now.
            let _ = self.clear();
        })?;
        let mut done = 0;
        let result = self.run(&journal, &mut done);
        if result.is_err() {
            self.undo(&journal, files, done);
        }
        let cleared = self.clear();
        result.and(cleared)
    }

    /// Prepares everything and writes the journal.
    fn stage(&self, plan: &Plan, files: &Files, contents: &BTreeMap<SkillName, FileSet>) -> Result<Journal> {
        fs::create_dir(&self.directory)?;
        // Version control never sees this directory, even when it is left behind.
        fs::write_atomic(&self.directory.join(".gitignore"), b"*\n")?;
        for (at, step) in plan.steps.iter().enumerate() {
            if let Step::Put { name, digest, .. } = step {
                self.reporter.step(&format!("stage {name}"));
                let set = contents
                    .get(name)
                    .ok_or_else(|| Error::io(format!("the files of `{name}` are missing")))?;
                let written = fs::materialize(set, &self.tree(at))?;
                if written != *digest {
                    return Err(store::mismatch(&format!("`{name}`"), digest, &written));
                }
            }
        }
        let lockfile = plan.lock.as_ref().map(ToString::to_string);
        let manifest = plan.manifest.as_ref().map(ToString::to_string);
        let journal = Journal {
            version: VERSION,
            steps: plan.steps.clone(),
            lockfile: self.prepare(&self.scope.lockfile, lockfile.as_deref(), files.lock_text.as_deref())?,
            manifest: self.prepare(
                &self.scope.manifest,
                manifest.as_deref(),
                files.manifest_text.as_deref(),
            )?,
        };
        self.reporter.step("sync");
        fs::sync_filesystem(&self.directory)?;
        self.reporter.step("journal");
        let text = serde_json::to_string(&journal).map_err(|error| Error::io(error.to_string()))?;
        fs::write_atomic(&self.directory.join(JOURNAL), text.as_bytes())?;
        Ok(journal)
    }

    /// Writes the new text of one of the two files beside the journal.
    fn prepare(&self, file: &Path, new: Option<&str>, old: Option<&str>) -> Result<Option<Change>> {
        let Some(new) = new else { return Ok(None) };
        fs::write_atomic(&self.prepared(file), new.as_bytes())?;
        Ok(Some(Change { old: old.map(|text| Digest::of(text.as_bytes())), new: Digest::of(new.as_bytes()) }))
    }

    fn prepared(&self, file: &Path) -> PathBuf {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        self.directory.join(format!("{name}.new"))
    }

    fn tree(&self, at: usize) -> PathBuf {
        self.directory.join(format!("tree-{at}"))
    }

    fn run(&self, journal: &Journal, done: &mut usize) -> Result<()> {
        for (at, step) in journal.steps.iter().enumerate() {
            self.reporter.step(&describe(step));
            self.step(at, step, false)?;
            *done = at + 1;
        }
        self.reporter.step("write the lockfile");
        self.replace(&self.scope.lockfile, journal.lockfile)?;
        self.reporter.step("write the manifest");
        self.replace(&self.scope.manifest, journal.manifest)?;
        self.reporter.step("clear");
        Ok(())
    }

    /// Does one step. A step of a `recovered` journal may have been done already, and the user may
    /// have worked since: only what is exactly as the journal says is touched.
    fn step(&self, at: usize, step: &Step, recovered: bool) -> Result<()> {
        let tree = self.tree(at);
        match step {
            Step::Put { place, name, digest, replaces } => {
                let target = self.path(place, name)?;
                if fs::kind(&tree)?.is_none() || (recovered && digest_of(&tree) != Some(*digest)) {
                    return Ok(());
                }
                match fs::kind(&target)? {
                    None => {
                        if let Some(parent) = target.parent() {
                            fs::create_dir_all(parent)?;
                        }
                        Ok(fs::move_new(&tree, &target)?)
                    }
                    Some(Kind::Directory) if !recovered || digest_of(&target) == *replaces => {
                        Ok(fs::exchange(&tree, &target)?)
                    }
                    Some(_) => Ok(()),
                }
            }
            Step::Remove { place, name, old } => {
                let target = self.path(place, name)?;
                match fs::kind(&target)? {
                    Some(Kind::Directory) if !recovered || digest_of(&target) == Some(*old) => {
                        Ok(fs::move_new(&target, &tree)?)
                    }
                    _ => Ok(()),
                }
            }
            Step::Link { agent, name } => {
                let link = self.path(&Place::Agent(agent.clone()), name)?;
                set_link_aside(&link, &tree)?;
                match fs::kind(&link)? {
                    None => Ok(fs::symlink(&self.link_target(&link, name)?, &link)?),
                    Some(_) => Ok(()),
                }
            }
            Step::Unlink { place, name } => set_link_aside(&self.path(place, name)?, &tree),
        }
    }

    /// Where a place is. Computed from the scope and the table of agents alone.
    fn path(&self, place: &Place, name: &SkillName) -> Result<PathBuf> {
        let dir = match place {
            Place::Canonical => self.scope.skills_dir(),
            Place::Agent(id) => {
                let agent = agents::find(id).map_err(|error| Error::config(error.to_string()))?;
                let dir = self.scope.agent_dir(self.settings, agent);
                dir.ok_or_else(|| Error::config(format!("agent `{id}` has no directory in this scope")))?
            }
        };
        self.scope.check_inside(&dir)?;
        Ok(dir.join(name.as_str()))
    }

    /// What a link to the canonical copy says, seen from where the link really lies.
    fn link_target(&self, link: &Path, name: &SkillName) -> Result<PathBuf> {
        let parent = link.parent().unwrap_or(&self.scope.root);
        fs::create_dir_all(parent)?;
        let from = fs::real_path(parent)?.unwrap_or_else(|| parent.to_owned());
        let canonical = self.scope.skills_dir();
        let to = fs::real_path(&canonical)?.unwrap_or(canonical);
        Ok(relative(&from, &to).join(name.as_str()))
    }

    /// Puts the prepared text of one of the two files in place.
    fn replace(&self, file: &Path, change: Option<Change>) -> Result<()> {
        let Some(change) = change else { return Ok(()) };
        let now = fs::read_capped(file, MAX_FILE)?.map(|bytes| Digest::of(&bytes));
        // Already done, or edited since: both are left as they are.
        if now == Some(change.new) || now != change.old {
            return Ok(());
        }
        let Some(text) = fs::read_capped(&self.prepared(file), MAX_FILE)? else { return Ok(()) };
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        Ok(fs::write_atomic(file, &text)?)
    }

    /// Takes back the first `done` steps, last first. What cannot be taken back stays as it is: the
    /// caller has an error to tell already.
    fn undo(&self, journal: &Journal, files: &Files, done: usize) {
        for (at, step) in journal.steps.iter().enumerate().take(done).rev() {
            let _ = self.undo_step(at, step);
        }
        let files = [
            (&self.scope.lockfile, journal.lockfile, &files.lock_text),
            (&self.scope.manifest, journal.manifest, &files.manifest_text),
        ];
        for (file, change, old) in files {
            let now = fs::read_capped(file, MAX_FILE).ok().flatten().map(|bytes| Digest::of(&bytes));
            if change.is_some_and(|change| now == Some(change.new)) {
                let _ = match old {
                    Some(text) => fs::write_atomic(file, text.as_bytes()),
                    None => fs::remove_tree(file),
                };
            }
        }
    }

    fn undo_step(&self, at: usize, step: &Step) -> Result<()> {
        let tree = self.tree(at);
        match step {
            Step::Put { place, name, replaces: None, .. } => {
                Ok(fs::move_new(&self.path(place, name)?, &tree)?)
            }
            Step::Put { place, name, .. } => Ok(fs::exchange(&tree, &self.path(place, name)?)?),
            Step::Remove { place, name, .. } => Ok(fs::move_new(&tree, &self.path(place, name)?)?),
            Step::Link { agent, name } => {
                let link = self.path(&Place::Agent(agent.clone()), name)?;
                fs::remove_link(&link)?;
                take_back(&tree, &link)
            }
            Step::Unlink { place, name } => take_back(&tree, &self.path(place, name)?),
        }
    }

    /// Removes the journal, then the rest: without a journal the rest is rubbish.
    fn clear(&self) -> Result<()> {
        fs::remove_tree(&self.directory.join(JOURNAL))?;
        Ok(fs::remove_tree(&self.directory)?)
    }
}

impl Drop for Transaction<'_> {
    /// Leaves no empty directories where nothing was installed.
    fn drop(&mut self) {
        fs::remove_dir_if_empty(&self.scope.skills_dir());
        fs::remove_dir_if_empty(&self.scope.work_dir());
        drop(self.lock.take());
    }
}

/// Moves the link at `link` out of the way, to where it can be taken back from.
fn set_link_aside(link: &Path, tree: &Path) -> Result<()> {
    if fs::kind(link)? != Some(Kind::Symlink) {
        return Ok(());
    }
    match fs::kind(tree)? {
        None => Ok(fs::move_new(link, tree)?),
        Some(_) => Ok(()),
    }
}

/// Moves a link that was set aside to where it lay.
fn take_back(tree: &Path, link: &Path) -> Result<()> {
    match fs::kind(tree)? {
        Some(_) => Ok(fs::move_new(tree, link)?),
        None => Ok(()),
    }
}

fn describe(step: &Step) -> String {
    match step {
        Step::Put { name, place: Place::Canonical, .. } => format!("put {name}"),
        Step::Put { name, place: Place::Agent(agent), .. } => format!("put {name} for {agent}"),
        Step::Remove { name, .. } => format!("remove {name}"),
        Step::Link { agent, name } => format!("link {name} for {agent}"),
        Step::Unlink { name, .. } => format!("unlink {name}"),
    }
}
