//! Records of merges that the user has to resolve, with the previous state, so that it can be restored.
//!
//! ```text
//! .agents/.skillpm-merge/
//!   .gitignore    version control never sees this directory
//!   NAME.json     the merge of the skill NAME
//! ```
//!
//! A record is written before the transaction that it is about, and is valid only while the lockfile has the
//! digest that the merge led to. So a run that is killed in between leaves a record that is never read, and
//! locking anything else ends the merge automatically.
//!
//! The directory may come with a stranger's repository, so it is read as hostile input: a record holds
//! digests, paths below the skill, entries of a lockfile and one of a manifest, each parsed by its own rules.

mod open;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub(crate) use self::open::{DIGITS, OURS, has_conflicts, label, open};
use crate::advice::{Call, Message, Opt, message};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::lockfile::{Locked, Lockfile};
use crate::manifest::{Manifest, Requirement};
use crate::merge::Conflict;
use crate::name::SkillName;
use crate::path::SafePath;
use crate::scope::Scope;

/// The directory of the records, below the scope's `.agents`.
const DIRECTORY: &str = ".skillpm-merge";
/// The largest record that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;
/// The version of the format. A record of another version is an error, never guessed at.
const VERSION: u32 = 1;

/// A merge of one skill that the user has to resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unresolved {
    /// The previous lock entry.
    pub before: Locked,
    /// The previous manifest entry.
    pub asked: MergeChoice,
    /// The digest of the new version, which has been locked since.
    pub new: Digest,
    /// The digest of the user's version of the skill, which is in the store.
    pub mine: Digest,
    /// The digest of the result of the merge.
    pub merged: Digest,
    /// The paths that the user has to resolve.
    pub paths: Vec<Disputed>,
    /// The lock entries of skills that were removed with the update because nothing needs them any more.
    pub gone: BTreeMap<SkillName, Locked>,
    /// The changes that the update made to other skills that this one needs.
    pub others: BTreeMap<SkillName, Other>,
}

/// The change that an update made to a skill that the merged one needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Other {
    /// The previous lock entry.
    pub before: Locked,
    /// The previous manifest entry.
    pub asked: MergeChoice,
    /// The digest of the new version, which has been locked since.
    pub new: Digest,
    /// The digest of the user's version of the skill.
    pub mine: Digest,
    /// The digest of the tree that the update put in its place.
    pub merged: Digest,
}

/// The manifest's entry for a skill. The lockfile cannot replace it: its hexadecimal digits may be a commit
/// or a name, it also contains skills that others need, and it may be older than the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MergeChoice {
    /// The manifest had this entry.
    Entry(Requirement),
    /// The manifest had no entry.
    Nothing,
    /// Unknown: the record was written by a version that did not keep it.
    Unknown,
}

/// A path that the user has to resolve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Disputed {
    /// The path below the skill.
    pub path: SafePath,
    /// The kind of conflict.
    pub conflict: Conflict,
    /// The path next to it where the user's file is kept.
    pub kept: Option<SafePath>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    version: u32,
    /// The text of a lockfile with only this entry.
    before: String,
    /// The text of a manifest with only this entry, or without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<String>,
    new: Digest,
    mine: Digest,
    merged: Digest,
    paths: Vec<RawPath>,
    /// The text of a lockfile with the skills that were removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gone: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<SkillName, RawOther>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOther {
    before: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<String>,
    new: Digest,
    mine: Digest,
    merged: Digest,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPath {
    path: String,
    conflict: Conflict,
    kept: Option<String>,
}

impl Unresolved {
    /// Reads the record of the skill `name`; `None` if it does not exist, or is about a version other than the one in
    /// `locked`.
    pub(crate) fn read(scope: &Scope, name: &SkillName, locked: &Locked) -> Result<Option<Self>> {
        let path = file(scope, name)?;
        let text = match fs::kind(&path)? {
            Some(Kind::File) => fs::read_text(&path, MAX_FILE)?,
            _ => None,
        };
        let Some(text) = text else { return Ok(None) };
        let record = Self::parse(&text, name).map_err(|reason| {
            Error::config(format!("`{}` cannot be read: {reason}", path.display()))
                .hint("it describes an unfinished merge; delete it to keep the skill as it is")
        })?;
        let is_about = record.new == locked.digest && record.before.origin == locked.origin;
        Ok(Some(record).filter(|_| is_about))
    }

    fn parse(text: &str, name: &SkillName) -> Result<Self, String> {
        let raw: Raw = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if raw.version != VERSION {
            return Err(format!("it has version {}", raw.version));
        }
        let before = locked(&raw.before, name)?;
        let asked = MergeChoice::parse(raw.asked.as_deref(), name)?;
        let gone = raw.gone.as_deref().map(Lockfile::parse).transpose();
        let gone = gone.map_err(|error| error.to_string())?.unwrap_or_default().skills;
        let safe = |path: &str| SafePath::new(path).map_err(|refusal| refusal.to_string());
        let paths = raw.paths.iter().map(|RawPath { path, conflict, kept }| {
            let kept = kept.as_deref().map(safe).transpose()?;
            Ok(Disputed { path: safe(path)?, conflict: *conflict, kept })
        });
        let paths = paths.collect::<Result<_, String>>()?;
        let Raw { new, mine, merged, others, .. } = raw;
        let others = others.into_iter().map(|(name, raw)| {
            let RawOther { before, asked, new, mine, merged } = raw;
            let (before, asked) = (locked(&before, &name)?, MergeChoice::parse(asked.as_deref(), &name)?);
            Ok((name, Other { before, asked, new, mine, merged }))
        });
        let others = others.collect::<Result<_, String>>()?;
        Ok(Self { before, asked, new, mine, merged, paths, gone, others })
    }

    /// Writes the record of the skill `name`.
    pub(crate) fn write(&self, scope: &Scope, name: &SkillName) -> Result<()> {
        let path = file(scope, name)?;
        prepare(scope)?;
        let gone = Lockfile { skills: self.gone.clone() };
        let raw = Raw {
            version: VERSION,
            before: text_of(&self.before, name),
            asked: self.asked.text(name),
            new: self.new,
            mine: self.mine,
            merged: self.merged,
            paths: self
                .paths
                .iter()
                .map(|Disputed { path, conflict, kept }| RawPath {
                    path: path.to_string(),
                    conflict: *conflict,
                    kept: kept.as_ref().map(ToString::to_string),
                })
                .collect(),
            gone: (!gone.skills.is_empty()).then(|| gone.to_string()),
            others: self.others.iter().map(|(name, other)| (name.clone(), other.raw(name))).collect(),
        };
        let text = serde_json::to_string_pretty(&raw).map_err(|error| Error::io(error.to_string()))?;
        Ok(fs::write_atomic(&path, text.as_bytes())?)
    }
}

impl Other {
    /// Returns the record of a merge in which nothing is disputed.
    pub(crate) fn into_record(self) -> Unresolved {
        let Self { before, asked, new, mine, merged } = self;
        let (paths, gone, others) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Unresolved { before, asked, new, mine, merged, paths, gone, others }
    }

    fn raw(&self, name: &SkillName) -> RawOther {
        let Self { before, asked, new, mine, merged } = self;
        let (before, asked) = (text_of(before, name), asked.text(name));
        RawOther { before, asked, new: *new, mine: *mine, merged: *merged }
    }
}

/// Returns the text of a lockfile with only the entry `locked`.
fn text_of(locked: &Locked, name: &SkillName) -> String {
    Lockfile { skills: BTreeMap::from([(name.clone(), locked.clone())]) }.to_string()
}

/// Parses the only entry of the lockfile `text`, that of `name`.
fn locked(text: &str, name: &SkillName) -> Result<Locked, String> {
    let mut lock = Lockfile::parse(text).map_err(|error| error.to_string())?;
    let locked = lock.skills.remove(name).filter(|_| lock.skills.is_empty());
    locked.ok_or_else(|| format!("it does not say what was locked for `{name}`"))
}

impl MergeChoice {
    /// Returns the entry of the skill `name` in `manifest`.
    pub(crate) fn of(manifest: &Manifest, name: &SkillName) -> Self {
        manifest.skills().get(name).cloned().map_or(Self::Nothing, Self::Entry)
    }

    fn parse(text: Option<&str>, name: &SkillName) -> Result<Self, String> {
        let Some(text) = text else { return Ok(Self::Unknown) };
        let manifest = Manifest::parse(text).map_err(|error| error.to_string())?;
        match manifest.skills().keys().find(|other| *other != name) {
            Some(other) => Err(format!("it says what was requested of `{other}`")),
            None => Ok(Self::of(&manifest, name)),
        }
    }

    fn text(&self, name: &SkillName) -> Option<String> {
        let mut manifest = Manifest::default();
        match self {
            Self::Entry(entry) => manifest.set_skill(name, entry.clone()),
            Self::Nothing => {}
            Self::Unknown => return None,
        }
        Some(manifest.to_string())
    }
}

/// Makes the directory of the records.
pub(super) fn prepare(scope: &Scope) -> Result<()> {
    let dir = directory(scope);
    scope.check_inside(&dir)?;
    // A link could lead anywhere, so only the link itself is removed.
    if !matches!(fs::kind(&dir)?, None | Some(Kind::Directory)) {
        fs::remove_tree(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    Ok(fs::write_atomic(&dir.join(".gitignore"), b"*\n")?)
}

/// Removes the record of the skill `name`, if there is one.
pub(crate) fn forget(scope: &Scope, name: &SkillName) -> Result<()> {
    // Usually no merge is open, and the path need not be resolved.
    if fs::kind(&directory(scope))?.is_none() {
        return Ok(());
    }
    let path = file(scope, name)?;
    if fs::kind(&path)?.is_some() {
        fs::remove_tree(&path)?;
        tidy(scope);
    }
    Ok(())
}

/// Removes the records about skills that `lock` has at another version, or no longer. A record that cannot be
/// removed is harmless garbage.
pub(crate) fn forget_others(scope: &Scope, lock: &Lockfile) {
    for name in going(scope, lock, &BTreeSet::new()) {
        let _ = forget(scope, &name);
    }
    if is_there(scope) {
        tidy(scope);
    }
}

/// Returns the skills whose records become void when `lock` is the lockfile, and those of `ended` that have a
/// record.
pub(super) fn going(scope: &Scope, lock: &Lockfile, ended: &BTreeSet<SkillName>) -> Vec<SkillName> {
    if !is_there(scope) {
        return Vec::new();
    }
    let entries = fs::list_dir(&directory(scope)).unwrap_or_default();
    let names = entries.iter().filter_map(|entry| SkillName::new(entry.strip_suffix(".json")?).ok());
    let stays = |name: &SkillName| {
        let is_about = |locked| !matches!(Unresolved::read(scope, name, locked), Ok(None));
        !ended.contains(name) && lock.skills.get(name).is_some_and(is_about)
    };
    names.filter(|name| !stays(name)).collect()
}

fn is_there(scope: &Scope) -> bool {
    let dir = directory(scope);
    matches!(fs::kind(&dir), Ok(Some(Kind::Directory))) && scope.check_inside(&dir).is_ok()
}

/// Removes the directory if it contains no record.
pub(super) fn tidy(scope: &Scope) {
    let dir = directory(scope);
    if fs::list_dir(&dir).is_ok_and(|names| names.iter().all(|name| name == ".gitignore")) {
        let _ = fs::remove_tree(&dir);
    }
}

/// Reports whether there is a record of a merge of the skill `name`, with any content.
pub(crate) fn is_recorded(scope: &Scope, name: &SkillName) -> bool {
    file(scope, name).is_ok_and(|file| matches!(fs::kind(&file), Ok(Some(Kind::File))))
}

fn directory(scope: &Scope) -> PathBuf {
    scope.work_dir().join(DIRECTORY)
}

/// Returns the path of the record of the skill `name`, whether it exists or not.
pub(super) fn file(scope: &Scope, name: &SkillName) -> Result<PathBuf> {
    let dir = directory(scope);
    scope.check_inside(&dir)?;
    Ok(dir.join(format!("{name}.json")))
}

/// Returns how to resolve the conflicts in a skill that `update` brings newer versions of.
pub(crate) fn resolve(update: Call) -> Message {
    message!(
        "edit its files until no marker and no kept file is left, or choose a side with ",
        update.clone().flag(Opt::Ours),
        " or ",
        Opt::Theirs,
        "; ",
        update.flag(Opt::Abort),
        " undoes the update"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;
    use crate::scope_kind::ScopeKind;
    use crate::settings::Settings;

    fn digest(digit: char) -> Digest {
        format!("sha256:{}", digit.to_string().repeat(64)).parse().expect("a digest")
    }

    fn locked(digit: char) -> Locked {
        let text = format!(
            "version = 1\n[[skill]]\nname = \"pdf\"\nsource = \"path:./src\"\ndigest = \"{}\"\nagents = [\"junie\"]\n",
            digest(digit)
        );
        Lockfile::parse(&text).expect("a lockfile").skills.into_values().next().expect("an entry")
    }

    fn record() -> Unresolved {
        let path = |text: &str| SafePath::new(text).expect("safe");
        Unresolved {
            before: locked('1'),
            asked: MergeChoice::Entry(locked('1').requirement()),
            new: digest('2'),
            mine: digest('3'),
            merged: digest('4'),
            paths: vec![
                Disputed { path: path("a"), conflict: Conflict::Lines, kept: Some(path("a.mine")) },
                Disputed { path: path("b"), conflict: Conflict::DeletedHere, kept: None },
            ],
            gone: BTreeMap::new(),
            others: BTreeMap::new(),
        }
    }

    fn scope(dir: &std::path::Path) -> Scope {
        let vars = [("HOME".into(), dir.into())].into();
        let settings = Settings::from_env(Env { vars, cwd: dir.to_owned(), interactive: false });
        Scope::new(&settings.expect("valid"), ScopeKind::Project).expect("a scope")
    }

    /// A record is only valid while the digest that the merge led to is locked.
    #[test]
    fn a_record_is_about_one_version() {
        let dir = tempfile::tempdir().expect("a directory");
        let (scope, name) = (scope(dir.path()), SkillName::new("pdf").expect("a name"));
        let read = |digit| Unresolved::read(&scope, &name, &locked(digit)).expect("reads");
        assert_eq!(read('2'), None);
        record().write(&scope, &name).expect("writes");
        assert_eq!(read('2'), Some(record()));
        assert_eq!(read('1'), None);
        let elsewhere = Locked { origin: "path:./other".parse().expect("a source"), ..locked('2') };
        assert_eq!(Unresolved::read(&scope, &name, &elsewhere).expect("reads"), None);
        let lock = |digit| Lockfile { skills: BTreeMap::from([(name.clone(), locked(digit))]) };
        forget_others(&scope, &lock('2'));
        assert_eq!(read('2'), Some(record()));
        forget_others(&scope, &lock('1'));
        assert_eq!(read('2'), None);
        assert!(fs::list_dir(&scope.work_dir()).expect("lists").is_empty(), "no directory is left");
        record().write(&scope, &name).expect("writes");
        forget(&scope, &name).expect("removes");
        assert!(fs::list_dir(&scope.work_dir()).expect("lists").is_empty());
    }

    /// The manifest's entry is restored as it was, and records without it can still be read.
    #[test]
    fn a_record_tells_what_the_manifest_said() {
        let dir = tempfile::tempdir().expect("a directory");
        let (scope, name) = (scope(dir.path()), SkillName::new("pdf").expect("a name"));
        let read = || Unresolved::read(&scope, &name, &locked('2')).expect("reads").expect("is there");
        let manifest = Manifest::parse(
            "[skills]\npdf = { git = \"../up\", rev = \"1a2b3c4d5e\", agents = [\"junie\"] }\n",
        );
        let manifest = manifest.expect("a manifest");
        let gone = || BTreeMap::from([(SkillName::new("base").expect("a name"), locked('5'))]);
        for asked in [MergeChoice::of(&manifest, &name), MergeChoice::Nothing, MergeChoice::Unknown] {
            let other = Other {
                before: locked('1'),
                asked: asked.clone(),
                new: digest('6'),
                mine: digest('7'),
                merged: digest('8'),
            };
            let others = BTreeMap::from([(name.clone(), other)]);
            let record = Unresolved { asked: asked.clone(), gone: gone(), others, ..record() };
            record.write(&scope, &name).expect("writes");
            assert_eq!(read(), record);
            let text = fs::read_text(&file(&scope, &name).expect("inside"), MAX_FILE).expect("reads");
            assert_eq!(text.expect("is there").contains("\"asked\""), asked != MergeChoice::Unknown);
        }
    }

    /// THREATS: a record may come from a stranger.
    #[test]
    fn a_strange_record_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let (scope, name) = (scope(dir.path()), SkillName::new("pdf").expect("a name"));
        record().write(&scope, &name).expect("writes");
        let path = file(&scope, &name).expect("inside");
        let text = fs::read_text(&path, MAX_FILE).expect("reads").expect("is there");
        for (old, new) in [
            ("\"a.mine\"", "\"../a\""),
            ("\"b\"", "\"/etc/passwd\""),
            ("[skills]\\npdf", "[skills]\\ndoc"),
            ("[skills]\\n", "[agents]\\n"),
            ("\"lines\"", "\"all\""),
            ("\"version\": 1", "\"version\": 2"),
            ("name = \\\"pdf", "name = \\\"doc"),
            ("path:./src", "what:./src"),
            ("sha256:333", "sha256:zzz"),
            ("\"paths\"", "\"more\": 1, \"paths\""),
        ] {
            let strange = text.replacen(old, new, 1);
            assert_ne!(strange, text, "{old}");
            fs::write_atomic(&path, strange.as_bytes()).expect("writes");
            let error = Unresolved::read(&scope, &name, &locked('2')).expect_err(old);
            assert!(error.to_string().contains("pdf.json` cannot be read"), "{error}");
        }
    }
}
