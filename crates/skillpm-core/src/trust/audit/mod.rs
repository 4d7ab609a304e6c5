//! The audit log: what was activated, run or refused, a line of JSON for each.
//!
//! Writing never is in the way of the work: it waits for nobody, and if it fails the work continues.

mod record;

pub use record::{AuditRecord, Event, EventKind, Sandboxed, Subject};

use std::hash::{BuildHasher as _, Hasher as _};
use std::path::PathBuf;
use std::sync::LazyLock;

use crate::digest::Digest;
use crate::fs::{self, Moment, OpenLog, PathError};
use crate::settings::Settings;
use crate::text::timestamp;

/// The largest log that is read, in bytes: one that was rotated in time is far smaller.
const MAX_FILE: u64 = 256 << 20;

/// Where the log is and what goes into it. Any number of threads and processes may write one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditLog {
    /// The file; `None` if nothing is written down.
    pub file: Option<PathBuf>,
    /// When it makes room.
    pub rotation: Rotation,
    /// Whether arguments are written down, not only their digest.
    pub arguments: bool,
    /// What ties the lines of one session together.
    pub session: String,
}

/// When a log makes room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// How many bytes a file may have before the next one is begun.
    pub size: u64,
    /// How many older files stay.
    pub keep: u32,
}

impl Default for Rotation {
    fn default() -> Self {
        Self { size: 4 << 20, keep: 4 }
    }
}

/// What a log holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    /// The newest first.
    pub records: Vec<AuditRecord>,
    /// The number of lines that were skipped because they do not have this format.
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

    /// Writes down that `event` happened to `subject`. Returns at once where nothing is to be written.
    ///
    /// # Errors
    ///
    /// Fails if the line could not be written, which must not stop the action that it records.
    pub fn write(&self, subject: &Subject, event: &Event<'_>) -> Result<(), PathError> {
        self.write_on(&OpenLog::default(), subject, event)
    }

    /// Works like [`Self::write`], into the file that stays `open` for this log.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::write`] does.
    pub fn write_on(&self, open: &OpenLog, subject: &Subject, event: &Event<'_>) -> Result<(), PathError> {
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

    /// Reads the last `count` lines that `wanted` says yes to.
    ///
    /// # Errors
    ///
    /// Fails if a file of the log is there and cannot be read.
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

/// The session of this process, where nobody gave it one.
static SESSION: LazyLock<String> = LazyLock::new(|| {
    // Each `RandomState` of a process has keys of its own, which the system draws at random.
    let random = || std::hash::RandomState::new().build_hasher().finish();
    let now = Moment::now();
    let text = format!("{} {} {} {}", std::process::id(), now.nanoseconds, random(), random());
    Digest::of(text.as_bytes()).hex()[..16].to_owned()
});
