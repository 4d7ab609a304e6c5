//! The kinds of source: the half of each kind that needs neither disk nor network.
//!
//! A kind is one file in this directory with an `impl` of [`SourceKind`] and one of [`SourceFacts`], and one row in the
//! table of [`Origin`]. Its other half is what it does, such as fetching: `crate::source::Source`, again one file and
//! one row. No other code knows which kinds exist.

use std::borrow::Cow;
use std::fmt;

use super::{Address, Ecosystem, GitUrl, Origin, Reference, Repository, SourceSpec, SpecError};

/// The keys that every kind of source accepts in a skill's entry in the manifest.
const COMMON_KEYS: &[&str] = &["name", "agents", "disabled", "dependency"];

/// Texts that can be typed and their meaning: a row of the table in `docs/reference/sources.md`.
pub type Typed = (&'static [&'static str], &'static str);

/// The properties shared by all sources of a kind, and the functions that read them.
pub trait SourceKind: Sized + Into<Origin> {
    /// The words before the colon in lockfiles and in patterns of policies.
    const KEYS: &'static [&'static str];
    /// The keys that name such a source in a manifest.
    const MANIFEST_KEYS: &'static [&'static str];
    /// The manifest keys for such a source, in addition to those that every kind accepts.
    const OTHER_KEYS: &'static [&'static str] = &["path"];
    /// An example of how a manifest names such a source, if users may write text from other tools there.
    const EXAMPLE: Option<&'static str> = None;
    /// How to read the text after the colon in a pattern of a policy.
    const PATTERN: PatternForm;
    /// The types under which the npm tool `skills` locks such sources.
    const FOREIGN_TYPES: &'static [&'static str] = &[];
    /// The texts that can be typed, for the reference.
    const TYPED: &'static [Typed];

    /// Reads the text after `key:` in a lockfile.
    ///
    /// # Errors
    ///
    /// Fails if the text does not name such a source.
    fn read(key: &'static str, text: &str) -> Result<Self, SpecError>;

    /// Reads the value of `key` in a manifest.
    fn from_manifest(key: &'static str, text: &str) -> Result<Origin, SpecError> {
        Self::read(key, text).map(Into::into)
    }

    /// Reads typed text that names this kind. Returns `None` if the text does not name it.
    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>>;

    /// Reads a typed address that names no kind. Returns `None` if the address is not of this kind.
    fn recognized(_text: &str) -> Option<Result<SourceSpec, SpecError>> {
        None
    }

    /// Reads what the npm tool `skills` locks with one of [`SourceKind::FOREIGN_TYPES`]: its `source` and `sourceUrl`.
    ///
    /// # Errors
    ///
    /// Returns why there is no such source, as the end of a sentence.
    fn from_foreign(source: &str, _url: Option<&str>) -> Result<SourceSpec, String> {
        Err(SpecError::Unsupported(source.to_owned()).to_string())
    }
}

/// The facts about a single source.
pub trait SourceFacts: fmt::Debug {
    /// Returns the kind of source, as the text before the colon in lockfiles.
    fn kind(&self) -> &'static str;

    /// Returns the text after the colon in lockfiles.
    fn written(&self) -> String;

    /// Returns the full form, which reads back as the same source when typed.
    fn in_full(&self) -> String {
        format!("{}:{}", self.kind(), self.written())
    }

    /// Returns what to type after `skillpm install` to name it, in the short form if there is one.
    fn typed(&self) -> String {
        self.in_full()
    }

    /// Returns what separates the typed source from a directory in it. Returns `None` if it cannot have a directory.
    fn directory_mark(&self) -> Option<&'static str> {
        Some("//")
    }

    /// Returns what follows the typed source, before a directory in it, for `reference`. Returns `None` if `#` and the
    /// name of the reference follow the directory instead.
    fn revision_mark(&self, _reference: &Reference) -> Option<String> {
        None
    }

    /// Returns the key and the value that name it in a manifest.
    fn manifest(&self) -> (&'static str, String) {
        (self.kind(), self.written())
    }

    /// Returns the manifest key for a directory in it.
    fn directory_key(&self) -> &'static str {
        "path"
    }

    /// Checks that a lockfile can record `revision` as a revision of it.
    ///
    /// # Errors
    ///
    /// Returns why it cannot, as a sentence.
    fn check_revision(&self, revision: &str) -> Result<(), String>;

    /// Returns the form in which a policy compares it.
    fn compared(&self) -> Compared<'_>;

    /// Returns how the npm tool `skills` locks it.
    ///
    /// # Errors
    ///
    /// Fails for sources that the tool cannot express.
    fn foreign(&self) -> Result<Foreign<'_>, NotExpressible> {
        Err(NotExpressible::Kind("sources of this kind"))
    }

    /// Returns the same source on the host `default`, if it can be on several hosts and none was named.
    fn on_host(&self, _default: &str) -> Option<Origin> {
        None
    }

    /// Returns its address, if it has one that does not depend on this machine.
    fn address(&self) -> Option<String> {
        self.web_address().map(ToString::to_string)
    }

    /// Returns the web address that its bytes are read from unchanged.
    fn web_address(&self) -> Option<&Address> {
        None
    }

    /// Returns the path, if it is a directory or file on this machine. A git repository at a path does not count.
    fn local_path(&self) -> Option<&str> {
        None
    }

    /// Returns the path on this machine that it names: of a directory, a file or a git repository.
    fn path_here(&self) -> Option<Cow<'_, str>> {
        self.local_path().map(Cow::Borrowed)
    }

    /// Reports whether its bytes come from this machine.
    fn is_on_this_machine(&self) -> bool {
        self.path_here().is_some()
    }

    /// Reports whether its content is safe from tampering in transit.
    fn is_private(&self) -> bool {
        self.web_address().is_none_or(Address::is_private)
    }

    /// Reports whether its name is that of a single file: an archive, or a single `SKILL.md`.
    fn is_file(&self) -> bool {
        false
    }

    /// Reports whether it has revisions that can be requested by name.
    fn has_revisions(&self) -> bool {
        false
    }

    /// Reports whether it lists its skills and delivers each one separately, with its own revision.
    fn delivers_each(&self) -> bool {
        false
    }

    /// Reports whether it lists several versions of each skill, of which a range chooses one. A skill's path in it is then
    /// its name, which is the manifest's key for the skill, unless the entry states another one.
    fn has_versions(&self) -> bool {
        false
    }

    /// Returns the name of the skill with the path `path`, if it lists several versions of it.
    fn released<'n>(&self, path: Option<&'n str>) -> Option<&'n str> {
        path.filter(|_| self.has_versions())
    }

    /// Returns the key under which the manifest states a range of versions.
    fn range_key(&self) -> &'static str {
        "tag"
    }

    /// Reports whether everything in it is skills, wherever they are.
    fn has_only_skills(&self) -> bool {
        false
    }

    /// Returns a hint for users who mistook `@` for the version mark.
    fn version_hint(&self) -> &'static str {
        "`@` names a skill"
    }
}

/// How to read the text after the colon in a pattern of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternForm {
    /// `owner/name`, with or without a host.
    Repository,
    /// The address or the path of a git repository.
    Git,
    /// A host and a path on it.
    Address,
    /// A host and a path on it, or a name that the user gives.
    AddressOrName,
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
    /// A name that the user gives.
    Name(&'a str),
}

/// How the npm tool `skills` locks a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign<'a> {
    /// `sourceType`.
    pub kind: &'static str,
    /// `source`; `None` means the path relative to the file.
    pub source: Option<Cow<'a, str>>,
    /// `sourceUrl`.
    pub url: Option<Cow<'a, str>>,
    /// Whether `ref` and `skillPath` apply to it.
    pub in_repository: bool,
}

/// The reason why a source cannot be written to `skills-lock.json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExpressible {
    /// The tool does not lock this kind of source, or not in a way that skillpm can write.
    #[error("`skills-lock.json` has no entries for {0}")]
    Kind(&'static str),
    /// The tool would mistake the address for something else.
    #[error("the npm tool would treat `{0}` as a website, because it does not end in `.git`")]
    Address(String),
}

/// Reads typed text. Returns `None` if it is of another kind.
pub(super) type ReadTyped = fn(&str) -> Option<Result<SourceSpec, SpecError>>;

/// A row in the table of kinds: a [`SourceKind`] as a value.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// See [`SourceKind::KEYS`].
    pub keys: &'static [&'static str],
    /// See [`SourceKind::MANIFEST_KEYS`].
    pub manifest_keys: &'static [&'static str],
    /// See [`SourceKind::EXAMPLE`].
    pub example: Option<&'static str>,
    /// See [`SourceKind::PATTERN`].
    pub pattern: PatternForm,
    /// See [`SourceKind::FOREIGN_TYPES`].
    pub foreign_types: &'static [&'static str],
    /// See [`SourceKind::TYPED`].
    pub typed: &'static [Typed],
    /// See [`SourceKind::from_manifest`].
    pub from_manifest: fn(&'static str, &str) -> Result<Origin, SpecError>,
    /// See [`SourceKind::from_foreign`].
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

    /// Returns all keys of a skill's manifest entry whose source is named by `key`.
    pub fn entry_keys(&self, key: &'static str) -> Vec<&'static str> {
        let others = self.other_keys.iter().filter(|other| **other != key);
        [&key].into_iter().chain(others).chain(COMMON_KEYS).copied().collect()
    }
}
