//! The audit log of what agents load.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::provenance::{InForce, in_force, of_place};
use super::record::{place, subject};
use crate::engine::Skill;
use crate::error::Result;
use crate::fs::{self, FileStat, Moment, OpenLog, PathError};
use crate::scope::{Scope, Scopes};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::trust::AuditLog;
use crate::trust::audit::{Event, Subject};

/// The largest skill whose digest is computed for a line of the log, in bytes: an agent that loads a skill
/// waits for it.
const MAX_DIGESTED: u64 = 16 << 20;

/// Records which skills agents load, with the digest of their files and their origin.
///
/// A record about a skill is reused without reading it, as long as the metadata of the skill and the
/// lockfiles is unchanged. Any number of threads may write.
#[derive(Debug)]
pub(crate) struct Activations {
    settings: Settings,
    log: AuditLog,
    open: OpenLog,
    /// The scopes whose lockfiles may list a skill; determined for the first record.
    scopes: OnceLock<Vec<Scope>>,
    /// The last content of those lockfiles, so that they are not read again for each skill.
    locked: Mutex<Option<Arc<Read>>>,
    known: Mutex<BTreeMap<PathBuf, Arc<KnownSubject>>>,
}

/// The content of the lockfiles.
#[derive(Debug)]
struct Read {
    /// The metadata of the files before they were read.
    lockfiles: Vec<Option<FileStat>>,
    scopes: Vec<InForce>,
}

/// The subject for the skill in a directory.
#[derive(Debug)]
struct KnownSubject {
    seen: FileStats,
    subject: Subject,
}

/// The state of the file system before the files were read.
#[derive(Debug)]
struct FileStats {
    files: Vec<(String, FileStat)>,
    lockfiles: Vec<Option<FileStat>>,
}

impl FileStats {
    fn of(dir: &Path, scopes: &[Scope]) -> std::result::Result<Self, PathError> {
        let lockfiles = scopes.iter().map(|scope| fs::stat(&scope.lockfile)).collect();
        Ok(Self { files: fs::stats(dir)?, lockfiles })
    }

    /// Reports whether all metadata is unchanged.
    fn holds(&self, dir: &Path, scopes: &[Scope]) -> bool {
        fs::is_unchanged(dir, &self.files)
            && scopes.iter().zip(&self.lockfiles).all(|(scope, stat)| fs::stat(&scope.lockfile) == *stat)
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, stat)| stat.size).fold(0, u64::saturating_add)
    }

    /// Reports whether everything that was read at `read` would show a later change.
    fn is_settled(&self, read: Moment) -> bool {
        let files = self.files.iter().map(|(_, stat)| stat);
        files.chain(self.lockfiles.iter().flatten()).all(|stat| stat.is_settled(read))
    }
}

impl Activations {
    /// Returns a writer for the log in `settings`. If there is none, nothing is ever examined.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            log: AuditLog::new(settings),
            open: OpenLog::default(),
            scopes: OnceLock::new(),
            locked: Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// Records that an agent got the instructions of `skill` for `arguments`, which took `duration`. The line
    /// belongs to `session`, or otherwise to the session of the log.
    ///
    /// Leaves out whatever cannot be determined about the skill.
    pub(crate) fn write(
        &self,
        skill: &Skill,
        arguments: &[OsString],
        duration: Duration,
        session: Option<&str>,
    ) -> std::result::Result<(), PathError> {
        if self.log.file.is_none() {
            return Ok(());
        }
        let event = Event::Activation { arguments, duration };
        let subject = self.subject(skill, Moment::now());
        match session {
            Some(session) => {
                let log = AuditLog { session: session.to_owned(), ..self.log.clone() };
                log.write_on(&self.open, &subject, &event)
            }
            None => self.log.write_on(&self.open, &subject, &event),
        }
    }

    /// Returns the subject of the line for `skill`, which is examined `now`.
    fn subject(&self, skill: &Skill, now: Moment) -> Subject {
        // The lock is not held while files are examined or read.
        let known = self.known().get(&skill.real).cloned();
        if let Some(known) = known
            && known.subject.skill == skill.meta.name
            && known.seen.holds(&skill.real, self.scopes())
        {
            return known.subject.clone();
        }
        let Ok(seen) = FileStats::of(&skill.real, self.scopes()) else { return place(skill) };
        if seen.bytes() > MAX_DIGESTED {
            return place(skill);
        }
        let checked = self.locked(&seen.lockfiles, now);
        let checked = checked.and_then(|read| of_place(&self.settings, &read.scopes, &skill.real));
        let Ok(checked) = checked else { return place(skill) };
        let subject = subject(skill, &checked);
        // A skill in another one has the digest of that one, whose metadata was not read.
        if checked.below.is_empty() && seen.is_settled(now) {
            let known = KnownSubject { seen, subject: subject.clone() };
            self.known().insert(skill.real.clone(), Arc::new(known));
        }
        subject
    }

    /// Returns the content of the lockfiles, whose metadata is `lockfiles` at `now`.
    fn locked(&self, lockfiles: &[Option<FileStat>], now: Moment) -> Result<Arc<Read>> {
        let last = || self.locked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = last().as_ref().filter(|read| read.lockfiles == lockfiles) {
            return Ok(Arc::clone(read));
        }
        let read = Arc::new(Read { lockfiles: lockfiles.to_vec(), scopes: in_force(self.scopes())? });
        if lockfiles.iter().flatten().all(|stat| stat.is_settled(now)) {
            *last() = Some(Arc::clone(&read));
        }
        Ok(read)
    }

    fn scopes(&self) -> &[Scope] {
        self.scopes.get_or_init(|| {
            let mut scopes = Scopes::new(&self.settings, None).unwrap_or_default().there;
            let nearest = scopes.iter().find(|scope| scope.kind == ScopeKind::Project);
            let outer = nearest.and_then(|scope| scope.outer(&self.settings).ok());
            scopes.extend(outer.into_iter().flatten());
            scopes
        })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<KnownSubject>>> {
        // The map is intact even if a thread panicked.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Library;
    use crate::engine::testing::World;
    use crate::profile::LoadProfile;

    fn world() -> (World, Settings) {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        let mut settings = world.settings(&[]);
        settings.audit.file = Some(world.root().join("audit.jsonl"));
        (world, settings)
    }

    fn found(settings: &Settings, name: &str) -> Arc<Skill> {
        let library = Library::of_places(settings, LoadProfile::DEFAULT).expect("places");
        library.get(name).expect("is there")
    }

    /// S3-US-10: what was loaded, from where, for how long, and for whom.
    #[test]
    fn a_line_for_each() {
        let (world, settings) = world();
        let all = Activations::new(&settings);
        let skill = found(&settings, "pdf");
        for session in [None, Some("s1")] {
            all.write(&skill, &["a b".into()], Duration::from_millis(3), session).expect("writes");
        }
        let records = AuditLog::new(&settings).last(9, |_| true).expect("reads").records;
        let [second, first] = &records[..] else { panic!("{records:?}") };
        assert_eq!((first.skill.as_str(), first.duration_ms, first.modified), ("pdf", Some(3), None));
        assert!(first.digest.is_some() && first.arguments_digest.is_some() && first.arguments.is_none());
        assert_eq!(first.source, Some(format!("path:{}", skill.real.display())));
        assert_eq!((second.session.as_str(), &second.digest), ("s1", &first.digest));
        assert_ne!(first.session, "s1");
        let mut off = settings;
        off.audit.file = None;
        Activations::new(&off).write(&skill, &[], Duration::ZERO, None).expect("nothing to do");
        drop(world);
    }

    /// Lockfiles that many skills share are read once, until they change. A lockfile that was written a
    /// moment ago may change without a trace.
    #[test]
    fn the_lockfiles_are_read_once() {
        let (world, settings) = world();
        world.skill(".agents/skills/csv", "csv");
        let lock = |name: &str| {
            format!(
                "version = 1\n\n[[skill]]\nname = \"{name}\"\nsource = \"path:/src\"\ndigest = \"sha256:{}\"\n",
                "0".repeat(64)
            )
        };
        world.write("skillpm.lock", &lock("pdf"));
        let all = Activations::new(&settings);
        let last = || all.locked.lock().expect("whole").clone();
        let now = Moment::now();
        let later = |seconds| Moment { seconds: now.seconds + seconds, ..now };
        let (pdf, csv) = (found(&settings, "pdf"), found(&settings, "csv"));
        assert_eq!(all.subject(&pdf, now).modified, Some(true));
        assert!(last().is_none(), "it was written a moment ago");
        assert_eq!(all.subject(&pdf, later(10)).modified, Some(true));
        let first = last().expect("is kept");
        assert_eq!(all.subject(&csv, later(10)).modified, None);
        assert!(Arc::ptr_eq(&first, &last().expect("is kept")));
        world.write("skillpm.lock", &lock("csv"));
        assert_eq!(all.subject(&csv, later(20)).modified, Some(true));
        assert!(!Arc::ptr_eq(&first, &last().expect("is kept")));
    }

    /// The digest is that of the current files, however they came to differ.
    #[test]
    fn what_changed_is_read_again() {
        let (world, settings) = world();
        let (all, skill) = (Activations::new(&settings), found(&settings, "pdf"));
        let now = Moment::now();
        let later = |seconds| Moment { seconds: now.seconds + seconds, ..now };
        let first = all.subject(&skill, now);
        assert!(first.digest.is_some());
        assert!(all.known().is_empty(), "it was changed a moment ago");
        assert_eq!(all.subject(&skill, later(10)), first);
        assert_eq!(all.known().len(), 1);
        let mut known = all.known().remove(&skill.real).expect("is kept");
        Arc::get_mut(&mut known).expect("nobody else has it").subject.modified = Some(true);
        all.known().insert(skill.real.clone(), known);
        assert_eq!(all.subject(&skill, later(20)).modified, Some(true), "it is not read again");
        world.write("skillpm.lock", "version = 1\n");
        assert_eq!(all.subject(&skill, later(30)).modified, None, "a lockfile came");
        world.write(".agents/skills/pdf/a.md", "a");
        let changed = all.subject(&skill, later(40));
        assert!(changed.digest.is_some() && changed.digest != first.digest);
        fs::remove_tree(&skill.real).expect("removes");
        assert_eq!(all.subject(&skill, later(50)).digest, None);
    }
}
