//! What agents load, written down.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::{place, subject};
use crate::context::Context;
use crate::engine::Skill;
use crate::fs::{self, FileStat, Moment, OpenLog, PathError};
use crate::install::scope::{Scope, ScopeKind};
use crate::ops::provenance::provenance;
use crate::settings::Settings;
use crate::trust::AuditLog;
use crate::trust::audit::{Event, Subject};

/// The largest skill whose digest is computed for a line of the log, in bytes: an agent that loads a skill
/// waits for it.
const MAX_DIGESTED: u64 = 16 << 20;

/// Writes down which skills agents load, with the digest of their files and where they come from.
///
/// What was said of a skill is said again without reading it, for as long as the file system says that
/// nothing has changed: neither the skill nor the lockfiles. Any number of threads may write.
#[derive(Debug)]
pub struct Activations {
    settings: Settings,
    log: AuditLog,
    open: OpenLog,
    /// What may know a skill, once one is written down.
    lockfiles: OnceLock<Vec<PathBuf>>,
    known: Mutex<BTreeMap<PathBuf, Arc<Known>>>,
}

/// What is known of the skill in a directory.
#[derive(Debug)]
struct Known {
    seen: Seen,
    subject: Subject,
}

/// What the file system said before the files were read.
#[derive(Debug)]
struct Seen {
    files: Vec<(String, FileStat)>,
    lockfiles: Vec<Option<FileStat>>,
}

impl Seen {
    fn of(dir: &Path, lockfiles: &[PathBuf]) -> Result<Self, PathError> {
        let lockfiles = lockfiles.iter().map(|path| fs::stat(path)).collect();
        Ok(Self { files: fs::stats(dir)?, lockfiles })
    }

    /// Whether all of it is as it was.
    fn holds(&self, dir: &Path, lockfiles: &[PathBuf]) -> bool {
        fs::is_unchanged(dir, &self.files)
            && lockfiles.iter().zip(&self.lockfiles).all(|(path, stat)| fs::stat(path) == *stat)
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, stat)| stat.size).fold(0, u64::saturating_add)
    }

    /// Whether nothing of what was read at `read` can have changed since without a trace.
    fn is_settled(&self, read: Moment) -> bool {
        let files = self.files.iter().map(|(_, stat)| stat);
        files.chain(self.lockfiles.iter().flatten()).all(|stat| stat.is_settled(read))
    }
}

impl Activations {
    /// Writes into the log that `settings` name. Where they name none, nothing is ever looked at.
    pub fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            log: AuditLog::new(settings),
            open: OpenLog::default(),
            lockfiles: OnceLock::new(),
            known: Mutex::default(),
        }
    }

    /// Writes down that an agent got the instructions of `skill` for `arguments`, which took `duration`. The
    /// line is of `session`, or else of that of the log.
    ///
    /// What cannot be found out of the skill is left out of the line.
    ///
    /// # Errors
    ///
    /// Where the line could not be written, which is no reason to keep the skill from the agent.
    pub fn write(
        &self,
        skill: &Skill,
        arguments: &[OsString],
        duration: Duration,
        session: Option<&str>,
    ) -> Result<(), PathError> {
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

    /// What the line says of `skill`, which is looked at `now`.
    fn subject(&self, skill: &Skill, now: Moment) -> Subject {
        // The lock is not held while files are looked at or read.
        let known = self.known().get(&skill.real).cloned();
        if let Some(known) = known
            && known.subject.skill == skill.meta.name
            && known.seen.holds(&skill.real, self.lockfiles())
        {
            return known.subject.clone();
        }
        let Ok(seen) = Seen::of(&skill.real, self.lockfiles()) else { return place(skill) };
        if seen.bytes() > MAX_DIGESTED {
            return place(skill);
        }
        let Ok(checked) = provenance(&Context::silent(self.settings.clone()), skill) else {
            return place(skill);
        };
        let subject = subject(skill, &checked);
        // A skill in another one has the digest of that one, of which nothing was seen.
        if checked.below.is_empty() && seen.is_settled(now) {
            let known = Known { seen, subject: subject.clone() };
            self.known().insert(skill.real.clone(), Arc::new(known));
        }
        subject
    }

    fn lockfiles(&self) -> &[PathBuf] {
        self.lockfiles.get_or_init(|| {
            let scopes = [ScopeKind::Project, ScopeKind::User].into_iter();
            scopes.filter_map(|kind| Some(Scope::new(&self.settings, kind).ok()?.lockfile)).collect()
        })
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Arc<Known>>> {
        // Whoever panicked left a map that is whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Library;
    use crate::engine::testing::World;
    use crate::policy::Policy;

    fn world() -> (World, Settings) {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        let mut settings = world.settings(&[]);
        settings.audit.file = Some(world.root().join("audit.jsonl"));
        (world, settings)
    }

    fn found(settings: &Settings, name: &str) -> Arc<Skill> {
        let library = Library::of_places(settings, Policy::DEFAULT).expect("places");
        library.get(name).expect("is there")
    }

    /// S3-US-10: what, from where, for how long, for whom.
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

    /// The digest is that of the files as they are, however they came to differ.
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
