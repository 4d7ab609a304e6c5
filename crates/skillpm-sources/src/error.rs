//! The error that every verb answers with.

use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Argument, Message, PartData, Verb, Warning, Wording};
#[cfg(any(feature = "git", feature = "http"))]
use crate::advice::{Opt, message};
use crate::codes;
use crate::text::without_secrets;

/// The kind of failure. The numbers are the program's exit codes, which scripts rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum ErrorKind {
    /// A check found something.
    Findings = 1,
    /// The request itself makes no sense, or names something that is not there.
    Usage = 2,
    /// A settings file, manifest or lockfile is wrong.
    Config = 3,
    /// The network, a server or a login.
    Network = 4,
    /// Bytes that are not the ones that were promised, or that no skill may have.
    Integrity = 5,
    /// The file system.
    Io = 6,
}

impl ErrorKind {
    /// Returns the exit code of the program.
    pub fn exit_code(self) -> u8 {
        self as u8
    }

    /// Returns the code of errors that have none of their own.
    pub fn code(self) -> &'static str {
        match self {
            Self::Findings => codes::FINDINGS,
            Self::Usage => codes::USAGE,
            Self::Config => codes::CONFIGURATION,
            Self::Network => codes::NETWORK,
            Self::Integrity => codes::INTEGRITY,
            Self::Io => codes::STORAGE,
        }
    }
}

/// A position in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FilePosition {
    /// The path of the file, for display.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl FilePosition {
    /// Returns the position at `line` and `column` of the file at `path`.
    pub fn new(path: &Path, line: usize, column: usize) -> Self {
        Self { file: path.display().to_string(), line, column }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A failure, for programs. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorData {
    /// The name of the error if it has one of its own, else that of its kind. Codes do not change.
    pub code: &'static str,
    /// The kind of failure.
    pub kind: ErrorKind,
    /// The exit code of the program for this kind.
    pub exit_code: u8,
    /// The message, in the words of the front end.
    pub message: String,
    /// The message as data: prose, verbs to run, options to pass, settings.
    pub parts: Vec<PartData>,
    /// Why, the nearest cause first, without those that the message states. One of several failures states all.
    pub causes: Vec<String>,
    /// The hints.
    pub hints: Vec<HintData>,
    /// The positions in files that it is about.
    pub places: Vec<FilePosition>,
}

/// The reason why one of several things was not done: an [`Error`] that can be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failure {
    /// The message.
    pub message: Message,
    /// The hints.
    pub hints: Vec<Message>,
    /// The code, which never changes.
    pub code: &'static str,
    /// The kind of failure.
    pub kind: ErrorKind,
    /// The exit code of the program for this kind.
    pub exit_code: u8,
    /// The positions in files that it is about.
    pub places: Vec<FilePosition>,
}

/// One of several skills, with the reason why it was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedFailure {
    /// The name, or the directory if several have the same name.
    pub name: String,
    /// The reason.
    #[serde(flatten)]
    pub why: Failure,
}

impl NamedFailure {
    /// Returns that `name` was not done because of `error`.
    pub fn new(name: impl Into<String>, error: &Error) -> Self {
        Self { name: name.into(), why: Failure::from(error) }
    }

    /// Returns the warning that says why.
    pub fn warning(&self) -> Warning {
        Warning::new(self.why.code, self.why.message.clone())
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self {
            message: error.with_causes(),
            hints: error.more.hints.clone(),
            code: error.code(),
            kind: error.kind,
            exit_code: error.kind.exit_code(),
            places: error.places(),
        }
    }
}

impl Failure {
    /// Returns the failure of something that was left as it is, with its reason.
    pub fn new(kind: ErrorKind, message: impl Into<Message>) -> Self {
        Self::from(&Error::new(kind, message))
    }

    /// Returns the failure as the data of an error, in the words of `wording`.
    pub fn data(&self, wording: &dyn Wording) -> ErrorData {
        ErrorData {
            code: self.code,
            kind: self.kind,
            exit_code: self.exit_code,
            message: without_secrets(&self.message.worded(wording)).into_owned(),
            parts: parts(&self.message),
            causes: Vec::new(),
            hints: self.hints.iter().map(|hint| HintData::new(hint, wording)).collect(),
            places: self.places.clone(),
        }
    }
}

/// A hint of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Hint")]
pub struct HintData {
    /// The hint in the words of the front end.
    pub text: String,
    /// The same as data: prose, verbs to run, options to pass, settings.
    pub parts: Vec<PartData>,
}

impl HintData {
    /// Returns `hint` as data, and in the words of `wording`.
    pub fn new(hint: &Message, wording: &dyn Wording) -> Self {
        let text = without_secrets(&hint.worded(wording)).into_owned();
        Self { text, parts: parts(hint) }
    }
}

/// Returns the parts of `message` as data.
fn parts(message: &Message) -> Vec<PartData> {
    message.parts().iter().map(PartData::from).collect()
}

/// A failure, described so that a person can act on it: what was wrong, why, and what to do.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: Message,
    /// Boxed: errors are returned everywhere, and most end no verb.
    more: Box<More>,
}

/// The rest of an error.
#[derive(Debug, Default)]
struct More {
    code: Option<&'static str>,
    hints: Vec<Message>,
    place: Option<FilePosition>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The result of a verb.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns an error of `kind`. The message starts in lower case and has no final period.
    pub fn new(kind: ErrorKind, message: impl Into<Message>) -> Self {
        Self { kind, message: message.into(), more: Box::default() }
    }

    /// Returns an error of `kind` about a position in a file, which the message begins with.
    pub fn at(kind: ErrorKind, place: FilePosition, message: impl fmt::Display) -> Self {
        let mut new = Self::new(kind, format!("{place}: {message}"));
        new.more.place = Some(place);
        new
    }

    /// Returns a [`ErrorKind::Usage`] error.
    pub fn usage(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// Returns a [`ErrorKind::Config`] error.
    pub fn config(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Config, message)
    }

    /// Returns a [`ErrorKind::Network`] error.
    pub fn network(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Network, message)
    }

    /// Returns a [`ErrorKind::Integrity`] error.
    pub fn integrity(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Integrity, message)
    }

    /// Returns an [`ErrorKind::Io`] error.
    pub fn io(message: impl Into<Message>) -> Self {
        Self::new(ErrorKind::Io, message)
    }

    /// Adds a line that says what to do next.
    #[must_use]
    #[track_caller]
    pub fn hint(mut self, hint: impl Into<Message>) -> Self {
        let hint = hint.into();
        let site = hint.site().unwrap_or_else(|| Location::caller());
        self.more.hints.push(hint.made_by(site));
        self
    }

    /// Adds `argument` to the calls of `verb` in its hints: who knows what to do there often does not know where.
    #[must_use]
    pub fn with_argument(mut self, verb: Verb, argument: &Argument) -> Self {
        let hints = std::mem::take(&mut self.more.hints);
        self.more.hints = hints.into_iter().map(|hint| hint.with_argument(verb, argument)).collect();
        self
    }

    /// Names what happened, for programs: finer than the kind, and as stable.
    #[must_use]
    pub fn coded(mut self, code: &'static str) -> Self {
        self.more.code = Some(code);
        self
    }

    /// Adds the error that led to this one.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.more.source = Some(source.into());
        self
    }

    /// Puts `message` before this error, which becomes its cause; kind, code and hints stay.
    #[must_use]
    pub fn context(self, message: impl Into<Message>) -> Self {
        let Self { kind, message: inner, mut more } = self;
        let mut cause = Self::new(kind, inner);
        cause.more.source = more.source.take();
        more.source = Some(Box::new(cause));
        Self { kind, message: message.into(), more }
    }

    /// Says the same in other words: kind, code, hints and cause stay.
    #[must_use]
    pub fn retold(self, message: impl Into<Message>) -> Self {
        Self { message: message.into(), ..self }
    }

    /// Returns the same error once more, with its causes in its message, for one that is kept.
    #[must_use]
    pub fn again(&self) -> Self {
        let More { code, hints, place, .. } = &*self.more;
        let more = More { code: *code, hints: hints.clone(), place: place.clone(), source: None };
        Self { kind: self.kind, message: self.with_causes(), more: Box::new(more) }
    }

    /// Returns the message with those of its causes, on one line.
    pub fn with_causes(&self) -> Message {
        Message::joined([self.message.clone()].into_iter().chain(self.causes()), ": ")
    }

    /// Returns the messages of its causes, the nearest first.
    pub fn causes(&self) -> impl Iterator<Item = Message> {
        let mut next = StdError::source(self);
        std::iter::from_fn(move || {
            let cause = next?;
            next = cause.source();
            let error = cause.downcast_ref::<Self>();
            Some(error.map_or_else(|| cause.to_string().into(), |error| error.message.clone()))
        })
    }

    /// Returns the error for `text` where only a commit can be.
    #[cfg(any(feature = "git", feature = "http"))]
    pub(crate) fn not_a_commit(text: &str) -> Self {
        Self::usage(format!("`{text}` is not a commit")).hint(message!(
            "for a name, use a tag or a branch: ",
            Opt::Tag,
            ", ",
            Opt::Branch
        ))
    }

    /// Returns the error for the locked commit `commit`, which the repository `shown` no longer has.
    #[cfg(any(feature = "git", feature = "http"))]
    pub(crate) fn commit_gone(shown: &str, commit: &str) -> Self {
        Self::network(format!("`{shown}` no longer has commit `{commit}`"))
            .coded(codes::REVISION_GONE)
            .hint("its history was rewritten, or it is another repository")
    }

    /// Returns the error as data, in the words of `wording`.
    pub fn data(&self, wording: &dyn Wording) -> ErrorData {
        let worded = |message: &Message| without_secrets(&message.worded(wording)).into_owned();
        let message = worded(&self.message);
        let mut stated = message.clone();
        let mut causes = Vec::new();
        for cause in self.causes().map(|cause| worded(&cause)) {
            if !stated.contains(&cause) {
                stated.push('\n');
                stated.push_str(&cause);
                causes.push(cause);
            }
        }
        ErrorData {
            code: self.code(),
            kind: self.kind,
            exit_code: self.kind.exit_code(),
            message,
            parts: parts(&self.message),
            causes,
            hints: self.more.hints.iter().map(|hint| HintData::new(hint, wording)).collect(),
            places: self.places(),
        }
    }

    /// Returns the warning about an error that did not stop the verb.
    pub fn warning(&self) -> Warning {
        Warning { code: self.code(), message: self.with_causes(), hints: self.more.hints.clone() }
    }

    /// Returns what kind of failure it was.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the name of what happened, for programs; that of its kind if it has none of its own.
    pub fn code(&self) -> &'static str {
        self.more.code.unwrap_or(self.kind.code())
    }

    /// Returns the message without its causes.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// Returns what to do about it, a line each.
    pub fn hints(&self) -> &[Message] {
        &self.more.hints
    }

    /// Returns the positions in files that it is about.
    pub fn places(&self) -> Vec<FilePosition> {
        self.more.place.iter().cloned().collect()
    }
}

impl From<Error> for Warning {
    fn from(error: Error) -> Self {
        error.warning()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.more.source.as_ref().map(|source| &**source as _)
    }
}

impl From<crate::fs::PathError> for Error {
    fn from(error: crate::fs::PathError) -> Self {
        use std::io::ErrorKind as Io;
        let hint = match error.source.kind() {
            Io::PermissionDenied => "check who owns the path, and its mode",
            Io::ReadOnlyFilesystem => "remount the file system as writable",
            Io::StorageFull | Io::QuotaExceeded => {
                "nothing was changed; free some space and run the command again"
            }
            Io::AlreadyExists | Io::NotADirectory | Io::IsADirectory => {
                "something else is there: move it away and run the command again"
            }
            _ => "",
        };
        let new = Self::io(error.to_string()).because(error.source);
        if hint.is_empty() { new } else { new.hint(hint) }
    }
}

impl From<crate::refusal::Refusal> for Error {
    fn from(refusal: crate::refusal::Refusal) -> Self {
        Self::integrity(refusal.to_string())
    }
}

impl From<crate::tree::ReadError> for Error {
    fn from(error: crate::tree::ReadError) -> Self {
        match error {
            crate::tree::ReadError::Refused(refusal) => refusal.into(),
            // Readers wrap errors that know their path.
            crate::tree::ReadError::Io(source) => match source.downcast::<crate::fs::PathError>() {
                Ok(error) => error.into(),
                Err(source) => Self::io("failed to read the content of a file").because(source),
            },
        }
    }
}
