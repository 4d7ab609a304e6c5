//! The audit log: one line of JSON for each activation, run and refusal.
//!
//! Writing never blocks the work: it waits for no other process, and if it fails, the work continues.

mod record;

pub use record::{AuditRecord, Event, EventKind, Sandboxed, Subject};

use std::hash::{BuildHasher as _, Hasher as _};
use std::path::PathBuf;
use std::sync::LazyLock;

use crate::digest::Digest;
use crate::fs::{self, Moment, OpenLog, PathError};
use crate::settings::Settings;
use crate::text::timestamp;

/// The maximum size of a file of the log that is read, in bytes: a log that was rotated in time is far smaller.
const MAX_FILE: u64 = 256 << 20;

/// The location and settings of the log. Any number of threads and processes may write to one log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLog {
    /// The file; `None` if nothing is recorded.
    pub file: Option<PathBuf>,
    /// When files are rotated.
    pub rotation: Rotation,
    /// Whether arguments are recorded, in addition to their digest.
    pub arguments: bool,
    /// An identifier that the records of one session share.
    pub session: String,
}

/// The limits for rotating a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// The size in bytes at which a new file is begun.
    pub size: u64,
    /// The number of older files to keep.
    pub keep: u32,
}

impl Default for Rotation {
    fn default() -> Self {
        Self { size: 4 << 20, keep: 4 }
    }
}

/// The records read from a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The records, the newest first.
    pub records: Vec<AuditRecord>,
    /// The number of lines that were skipped because they do not have the known format.
    pub unreadable: usize,
}

impl AuditLog {
    /// Returns the log of this user.
    pub fn new(settings: &Settings) -> Self {
        let session = settings.audit.session.clone().unwrap_or_else(|| SESSION.clone());
        Self {
            file: settings.audit.file.clone(),
            rotation: Rotation::default(),
            arguments: settings.audit.arguments,
            session,
        }
    }

    /// Records that `event` happened to `subject`. Returns at once if nothing is recorded.
    ///
    /// # Errors
    ///
    /// Fails if the record could not be written, which must not stop the action that it is about.
    pub fn write(&self, subject: &Subject, event: &Event<'_>) -> Result<(), PathError> {
        self.write_on(&OpenLog::default(), subject, event)
    }

    /// Works like [`Self::write`], with the file that `open` keeps open for this log.
    pub(crate) fn write_on(
        &self,
        open: &OpenLog,
        subject: &Subject,
        event: &Event<'_>,
    ) -> Result<(), PathError> {
        let Some(file) = &self.file else { return Ok(()) };
        let now = Moment::now();
        let time = timestamp(now.seconds, now.nanoseconds / 1_000_000);
        let record = AuditRecord::new(time, &self.session, subject, event, self.arguments);
        let size = open.append(file, record.line().as_bytes())?;
        if size >= self.rotation.size {
            fs::rotate(file, self.rotation.size, self.rotation.keep)?;
        }
        Ok(())
    }

    /// Returns the last `count` records for which `wanted` returns `true`, the newest first.
    ///
    /// # Errors
    ///
    /// Fails if a file of the log exists but cannot be read.
    pub fn last(&self, count: usize, wanted: impl Fn(&AuditRecord) -> bool) -> Result<Recorded, PathError> {
        let mut found = Recorded::default();
        let Some(file) = &self.file else { return Ok(found) };
        let older = (1..=self.rotation.keep).map(|number| fs::rotated(file, number));
        for path in [file.clone()].into_iter().chain(older) {
            if found.records.len() >= count {
                break;
            }
            let Some(bytes) = fs::read_capped(&path, MAX_FILE)? else { continue };
            for line in bytes.split(|byte| *byte == b'\n').rev().filter(|line| !line.is_empty()) {
                match AuditRecord::parse(line) {
                    Some(record) if wanted(&record) => found.records.push(record),
                    Some(_) => {}
                    None => found.unreadable += 1,
                }
                if found.records.len() >= count {
                    break;
                }
            }
        }
        Ok(found)
    }
}

/// The session of this process, unless the settings give one.
static SESSION: LazyLock<String> = LazyLock::new(|| {
    // Each `RandomState` of a process has its own keys, which the system draws at random.
    let random = || std::hash::RandomState::new().build_hasher().finish();
    let now = Moment::now();
    let text = format!("{} {} {} {}", std::process::id(), now.nanoseconds, random(), random());
    Digest::of(text.as_bytes()).hex()[..16].to_owned()
});
