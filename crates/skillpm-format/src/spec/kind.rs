//! What a kind of source is: the half of it that needs no disk and no network.
//!
//! A kind is one file in this directory, with an `impl` of [`SourceKind`] and one of [`SourceFacts`], and one row in the
//! table of [`Origin`]. What a kind does, such as fetching, is its other half: `crate::source::Source`, again one file
//! and one row. Nothing else knows which kinds there are.

use std::borrow::Cow;
use std::fmt;

use super::{Address, Ecosystem, GitUrl, Origin, Repository, SourceSpec, SpecError};

/// The keys of a skill's entry in the manifest that every kind of source takes.
const COMMON_KEYS: &[&str] = &["name", "agents", "disabled", "dependency"];

/// Texts that can be typed, and what they mean: a row of the table in `docs/reference/sources.md`.
pub type Typed = (&'static [&'static str], &'static str);

/// What is the same for all sources of a kind, and how they are read.
pub trait SourceKind: Sized + Into<Origin> {
    /// The words before the colon in lockfiles and in patterns of policies.
    const KEYS: &'static [&'static str];
    /// The keys that name such a source in a manifest.
    const MANIFEST_KEYS: &'static [&'static str];
    /// The keys of the manifest that belong to such a source, besides those that every kind takes.
    const OTHER_KEYS: &'static [&'static str] = &["path"];
    /// How a manifest names one, where texts of other tools may stand in its place.
    const EXAMPLE: Option<&'static str> = None;
    /// How what follows the colon in a pattern of a policy is read.
    const PATTERN: PatternForm;
    /// The types under which the npm tool `skills` locks such sources.
    const FOREIGN_TYPES: &'static [&'static str] = &[];
    /// What can be typed, for the reference.
    const TYPED: &'static [Typed];

    /// Reads what follows `key:` in a lockfile.
    ///
    /// # Errors
    ///
    /// A text that is no such source.
    fn read(key: &'static str, text: &str) -> Result<Self, SpecError>;

    /// Reads the value of `key` in a manifest.
    ///
    /// # Errors
    ///
    /// As [`SourceKind::read`].
    fn from_manifest(key: &'static str, text: &str) -> Result<Origin, SpecError> {
        Self::read(key, text).map(Into::into)
    }

    /// Reads what somebody typed that names this kind; `None` where it does not.
    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>>;

    /// Reads an address that somebody typed and that names no kind; `None` where it is not one of this kind.
    fn recognized(_text: &str) -> Option<Result<SourceSpec, SpecError>> {
        None
    }

    /// Reads what the npm tool `skills` locks with one of [`SourceKind::FOREIGN_TYPES`]: its `source` and `sourceUrl`.
    ///
    /// # Errors
    ///
    /// Why there is no such source, as the end of a sentence.
    fn from_foreign(source: &str, _url: Option<&str>) -> Result<SourceSpec, String> {
        Err(SpecError::Unsupported(source.to_owned()).to_string())
    }
}

/// What a source says of itself.
pub trait SourceFacts: fmt::Debug {
    /// The kind of source, as the text before the colon in lockfiles names it.
    fn kind(&self) -> &'static str;

    /// What follows the colon in lockfiles.
    fn written(&self) -> String;

    /// The form in full, which reads back as the same source when it is typed.
    fn in_full(&self) -> String {
        format!("{}:{}", self.kind(), self.written())
    }

    /// What can be typed after `skillpm install` to mean it, in the short form where there is one.
    fn typed(&self) -> String {
        self.in_full()
    }

    /// What stands between the typed source and a directory in it; `None` where a directory has no place there.
    fn directory_mark(&self) -> Option<&'static str> {
        Some("//")
    }

    /// The key and the value that name it in a manifest.
    fn manifest(&self) -> (&'static str, String) {
        (self.kind(), self.written())
    }

    /// The key of the manifest for a directory in it.
    fn directory_key(&self) -> &'static str {
        "path"
    }

    /// Checks that `revision` is what a lockfile can call a revision of it.
    ///
    /// # Errors
    ///
    /// Why it is not, as a sentence.
    fn check_revision(&self, revision: &str) -> Result<(), String>;

    /// The form in which a policy compares it.
    fn compared(&self) -> Compared<'_>;

    /// How the npm tool `skills` locks it.
    ///
    /// # Errors
    ///
    /// Sources that the tool cannot express.
    fn foreign(&self) -> Result<Foreign<'_>, NotExpressible> {
        Err(NotExpressible::Kind("sources of this kind"))
    }

    /// The same source on the host `default`, where it can be on several and no host was named.
    fn on_host(&self, _default: &str) -> Option<Origin> {
        None
    }

    /// Its address, where it has one that does not depend on this machine.
    fn address(&self) -> Option<String> {
        self.web_address().map(ToString::to_string)
    }

    /// The address on the web that its bytes are read from as they are.
    fn web_address(&self) -> Option<&Address> {
        None
    }

    /// The path, where it is a directory or file of this machine; a git repository at a path is none.
    fn local_path(&self) -> Option<&str> {
        None
    }

    /// The path on this machine that it names: of a directory, file or git repository.
    fn path_here(&self) -> Option<Cow<'_, str>> {
        self.local_path().map(Cow::Borrowed)
    }

    /// Whether its bytes come from this machine.
    fn is_on_this_machine(&self) -> bool {
        self.path_here().is_some()
    }

    /// Whether nobody on the way can change what comes from it.
    fn is_private(&self) -> bool {
        self.web_address().is_none_or(Address::is_private)
    }

    /// Whether it is one file by its name: an archive, or a single `SKILL.md`.
    fn is_file(&self) -> bool {
        false
    }

    /// Whether it has revisions that can be asked for by name.
    fn has_revisions(&self) -> bool {
        false
    }

    /// Whether it lists its skills and delivers each by itself, with a revision of its own.
    fn delivers_each(&self) -> bool {
        false
    }

    /// Whether all that it has is skills, wherever they lie in it.
    fn has_only_skills(&self) -> bool {
        false
    }

    /// Whether a skill that is gone from its directory may lie in another one, which only reading all of it tells.
    fn hides_moves(&self) -> bool {
        false
    }

    /// What to tell whoever took `@` for the mark of a version.
    fn version_hint(&self) -> &'static str {
        "`@` names a skill"
    }
}

/// How what follows the colon in a pattern of a policy is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternForm {
    /// `owner/name`, with or without a host.
    Repository,
    /// The address or the path of a git repository.
    Git,
    /// A host and a path on it.
    Address,
    /// A path on this machine.
    Path,
    /// The name of a package.
    Package,
}

/// The form in which a policy compares a source.
#[derive(Debug, Clone, Copy)]
pub enum Compared<'a> {
    /// A repository on GitHub.
    Repository(&'a Repository),
    /// A git repository.
    Git(&'a GitUrl),
    /// An address on the web.
    Address(&'a Address),
    /// A path on this machine.
    Path(&'a str),
    /// The name of a package.
    Package(Ecosystem, &'a str),
}

/// How the npm tool `skills` locks a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign<'a> {
    /// `sourceType`.
    pub kind: &'static str,
    /// `source`; `None` is the path as it is seen from the file.
    pub source: Option<Cow<'a, str>>,
    /// `sourceUrl`.
    pub url: Option<Cow<'a, str>>,
    /// Whether `ref` and `skillPath` belong to it.
    pub in_repository: bool,
}

/// Why a source does not stand in `skills-lock.json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExpressible {
    /// The tool does not lock this kind of source, or not in a way that skillpm can write.
    #[error("`skills-lock.json` has no entries for {0}")]
    Kind(&'static str),
    /// The tool would take the address for something else.
    #[error("the npm tool would treat `{0}` as a website, because it does not end in `.git`")]
    Address(String),
}

/// Reads what somebody typed; `None` where it is of another kind.
pub(super) type ReadTyped = fn(&str) -> Option<Result<SourceSpec, SpecError>>;

/// A row in the table of kinds: a [`SourceKind`] as a value.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// As [`SourceKind::KEYS`].
    pub keys: &'static [&'static str],
    /// As [`SourceKind::MANIFEST_KEYS`].
    pub manifest_keys: &'static [&'static str],
    /// As [`SourceKind::EXAMPLE`].
    pub example: Option<&'static str>,
    /// As [`SourceKind::PATTERN`].
    pub pattern: PatternForm,
    /// As [`SourceKind::FOREIGN_TYPES`].
    pub foreign_types: &'static [&'static str],
    /// As [`SourceKind::TYPED`].
    pub typed: &'static [Typed],
    /// As [`SourceKind::from_manifest`].
    pub from_manifest: fn(&'static str, &str) -> Result<Origin, SpecError>,
    /// As [`SourceKind::from_foreign`].
    pub from_foreign: fn(&str, Option<&str>) -> Result<SourceSpec, String>,
    pub(super) read: fn(&'static str, &str) -> Result<Origin, SpecError>,
    pub(super) named: ReadTyped,
    pub(super) recognized: ReadTyped,
    other_keys: &'static [&'static str],
}

impl Kind {
    /// Returns the row of the kind `T`.
    pub(super) const fn of<T: SourceKind>() -> Self {
        Self {
            keys: T::KEYS,
            manifest_keys: T::MANIFEST_KEYS,
            example: T::EXAMPLE,
            pattern: T::PATTERN,
            foreign_types: T::FOREIGN_TYPES,
            typed: T::TYPED,
            from_manifest: T::from_manifest,
            from_foreign: T::from_foreign,
            read: |key, text| T::read(key, text).map(Into::into),
            named: T::named,
            recognized: T::recognized,
            other_keys: T::OTHER_KEYS,
        }
    }

    /// Returns all keys of a skill's entry in the manifest whose source is named by `key`.
    pub fn entry_keys(&self, key: &'static str) -> Vec<&'static str> {
        let others = self.other_keys.iter().filter(|other| **other != key);
        [&key].into_iter().chain(others).chain(COMMON_KEYS).copied().collect()
    }
}
