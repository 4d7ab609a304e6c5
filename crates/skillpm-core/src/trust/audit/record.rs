//! Reads and writes the records of the audit log.

use std::ffi::OsString;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, HashingWriter};

/// The version of the format. Adding members does not change it; it only rises with a change that an older reader would
/// misunderstand.
const VERSION: u32 = 1;
/// The maximum number of bytes recorded of a text.
const MAX_TEXT: usize = 1024;
/// The maximum number of arguments recorded.
const MAX_ARGUMENTS: usize = 64;

/// The skill that an event is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// The name.
    pub skill: String,
    /// The tree digest of its files, if it was computed.
    pub digest: Option<Digest>,
    /// The origin, if known: the source in the lockfile, or its directory.
    pub source: Option<String>,
    /// Whether its files differ from the locked ones; `None` if nothing is locked or its files were not checked.
    pub modified: Option<bool>,
}

/// An event to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// An agent got the instructions of a skill.
    Activation {
        /// The arguments for the skill.
        arguments: &'a [OsString],
        /// The time it took to load.
        duration: Duration,
    },
    /// A script ran, whether it succeeded or not.
    Run {
        /// The path of the script below the directory of the skill.
        script: &'a str,
        /// The arguments.
        arguments: &'a [OsString],
        /// The time it ran.
        duration: Duration,
        /// The exit code, if it exited with one.
        exit_code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Why it was stopped, if it did not end by itself: `timeout`.
        ended: Option<&'a str>,
        /// The restrictions it ran under.
        sandbox: Sandboxed,
    },
    /// A script was not started, because it was not permitted or could not be.
    Refused {
        /// The path of the script below the directory of the skill.
        script: &'a str,
        /// The reason.
        reason: &'a str,
    },
}

/// The restrictions on a script.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sandboxed {
    /// The version of Landlock that restricted its access to files; `None` without Landlock.
    pub landlock: Option<u32>,
    /// Whether its system calls were filtered.
    pub seccomp: bool,
    /// Whether the network was blocked.
    pub no_network: bool,
    /// Whether unix sockets except pairs were blocked. In records without this member they were allowed.
    #[serde(default)]
    pub no_unix_sockets: bool,
}

/// The kind of an event, as records name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// An agent got the instructions of a skill.
    Activation,
    /// A script ran.
    Run,
    /// A script was not started.
    Refused,
}

impl std::fmt::Display for EventKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Activation => "activation",
            Self::Run => "run",
            Self::Refused => "refused",
        })
    }
}

/// A record of the log, which is one line. It always has all members, with `null` for those that do not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditRecord {
    /// The version of the format.
    pub version: u32,
    /// The time in UTC, in the format of RFC 3339; for a run, the time of its end.
    pub time: String,
    /// The kind of the event.
    pub event: EventKind,
    /// The skill's name.
    pub skill: String,
    /// The tree digest of its files.
    pub digest: Option<String>,
    /// The origin.
    pub source: Option<String>,
    /// Whether its files differ from the locked ones.
    pub modified: Option<bool>,
    /// The path of the script.
    pub script: Option<String>,
    /// The digest of the arguments: of the bytes of each, followed by a NUL.
    pub arguments_digest: Option<String>,
    /// The arguments, if they are to be recorded.
    pub arguments: Option<Vec<String>>,
    /// The duration, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended the script.
    pub signal: Option<i32>,
    /// Why the script was stopped.
    pub ended: Option<String>,
    /// The restrictions the script ran under.
    pub sandbox: Option<Sandboxed>,
    /// Why it was refused.
    pub reason: Option<String>,
    /// An identifier that the records of one session share.
    pub session: String,
    /// The ID of the process that wrote the record.
    pub process: u32,
}

impl AuditRecord {
    /// Returns the record of `event`, which happened to `subject` and ended at `time`.
    pub(super) fn new(
        time: String,
        session: &str,
        subject: &Subject,
        event: &Event<'_>,
        with_arguments: bool,
    ) -> Self {
        let mut record = Self {
            version: VERSION,
            time,
            event: EventKind::Activation,
            skill: cut(&subject.skill),
            digest: subject.digest.map(|digest| digest.to_string()),
            source: subject.source.as_deref().map(cut),
            modified: subject.modified,
            script: None,
            arguments_digest: None,
            arguments: None,
            duration_ms: None,
            exit_code: None,
            signal: None,
            ended: None,
            sandbox: None,
            reason: None,
            session: cut(session),
            process: std::process::id(),
        };
        match *event {
            Event::Activation { arguments, duration } => record.took(duration, arguments, with_arguments),
            Event::Run { script, arguments, duration, exit_code, signal, ended, sandbox } => {
                record.event = EventKind::Run;
                record.script = Some(cut(script));
                record.took(duration, arguments, with_arguments);
                (record.exit_code, record.signal) = (exit_code, signal);
                (record.ended, record.sandbox) = (ended.map(cut), Some(sandbox));
            }
            Event::Refused { script, reason } => {
                record.event = EventKind::Refused;
                (record.script, record.reason) = (Some(cut(script)), Some(cut(reason)));
            }
        }
        record
    }

    fn took(&mut self, duration: Duration, arguments: &[OsString], with_arguments: bool) {
        self.duration_ms = Some(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
        self.arguments_digest = Some(digest_of(arguments).to_string());
        self.arguments = with_arguments.then(|| {
            let shown = arguments.iter().take(MAX_ARGUMENTS);
            shown.map(|argument| cut(&argument.to_string_lossy())).collect()
        });
    }

    /// Returns the record as a line of JSON, without a line feed: in texts, JSON escapes it as `\n`.
    pub(super) fn line(&self) -> String {
        // Members are texts, numbers and lists of texts, which always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses a line; `None` for anything but a record of a known version.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(line).ok().filter(|record| record.version == VERSION)
    }
}

/// Returns the digest of arguments: of the bytes of each, followed by a NUL, which no argument can contain.
fn digest_of(arguments: &[OsString]) -> Digest {
    use std::io::Write as _;
    let mut hasher = HashingWriter::new(std::io::sink());
    for argument in arguments {
        // Writing to a hasher cannot fail.
        let _ = hasher.write_all(argument.as_encoded_bytes()).and_then(|()| hasher.write_all(b"\0"));
    }
    hasher.finish().0
}

/// Returns the text, cut off if it is too long.
fn cut(text: &str) -> String {
    if text.len() <= MAX_TEXT {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(texts: &[&str]) -> Vec<OsString> {
        texts.iter().map(OsString::from).collect()
    }

    fn record(skill: &str, script: &str, arguments: &[OsString], with_arguments: bool) -> AuditRecord {
        let subject = Subject { skill: skill.to_owned(), ..Subject::default() };
        let event = Event::Run {
            script,
            arguments,
            duration: Duration::from_micros(1500),
            exit_code: None,
            signal: Some(9),
            ended: Some("timeout"),
            sandbox: Sandboxed::default(),
        };
        AuditRecord::new("now".to_owned(), "s", &subject, &event, with_arguments)
    }

    #[test]
    fn whatever_the_names_are_it_is_one_line_that_can_be_read() {
        for hostile in ["a\nb", "\r\n{\"version\":1}", "\u{1b}[2J\"\\", "\u{2028}\u{0}", &"x".repeat(9999)] {
            let record = record(hostile, hostile, &arguments(&[hostile]), true);
            let line = record.line();
            assert!(!line.bytes().any(|byte| byte < b' '), "{line}");
            assert!(line.len() < 10_000);
            assert_eq!(AuditRecord::parse(line.as_bytes()), Some(record));
        }
    }

    #[test]
    fn arguments_are_written_down_only_if_asked_for() {
        let words = arguments(&["a", "b c"]);
        let silent = record("s", "x", &words, false);
        assert_eq!(silent.arguments, None);
        assert!(!silent.line().contains("b c"));
        let expected = Digest::of(b"a\0b c\0").to_string();
        assert_eq!(silent.arguments_digest.as_deref(), Some(expected.as_str()));
        let other = record("s", "x", &arguments(&["a b", "c"]), false);
        assert_ne!(other.arguments_digest, silent.arguments_digest);
        let told = record("s", "x", &words, true).arguments;
        assert_eq!(told, Some(vec!["a".to_owned(), "b c".to_owned()]));
        let many = vec![OsString::from("x".repeat(5000)); 500];
        assert!(record("s", "x", &many, true).line().len() < 100_000);
    }

    #[test]
    fn a_line_of_a_later_version_is_none_of_ours() {
        let line = record("s", "x", &[], false).line();
        assert!(AuditRecord::parse(line.replacen("\"version\":1", "\"version\":2", 1).as_bytes()).is_none());
        let more = line.replacen("\"version\":1", "\"version\":1,\"new\":[]", 1);
        assert!(AuditRecord::parse(more.as_bytes()).is_some(), "a member more does no harm");
        assert!(AuditRecord::parse(b"{}").is_none() && AuditRecord::parse(b"\xff").is_none());
    }
}
