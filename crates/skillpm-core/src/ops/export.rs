//! `export`: writes the lockfile of another tool, for people who use both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::admission::PolicySubject;
use crate::advice::{Message, Opt, Verb, message};
use crate::context::Context;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Failure, Result};
use crate::fetch::policy_check::PolicyCheck;
use crate::fs::{self, Kind};
use crate::interop::directory_name;
use crate::interop::hash::{computed_hash, site_digest};
use crate::interop::skills_lock::{FILE_NAME, LockedEntry, SkillsLock};
use crate::interop::source::{Fields, entry, spec};
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::path::normal;
use crate::refusal::Limits;
use crate::scope::Scope;
use crate::scope::claims::foreign_error;
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::skill::MAX_SKILL_FILE;
use crate::source::{self, Wanted, local};
use crate::spec::{Reference, SourceSpec};
use crate::tree::Tree;

/// The largest existing file that is extended, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// A request to export.
#[derive(Debug, Clone, Default)]
pub struct ExportRequest {
    /// The destination.
    pub output: Output,
}

/// The destination of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Output {
    /// The project's `skills-lock.json`.
    #[default]
    Project,
    /// No file: the text is in the outcome.
    Text,
    /// This file.
    File(PathBuf),
}

/// The outcome of an export. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ExportOutcome {
    /// The file, if one is written.
    pub path: Option<String>,
    /// Whether it changed.
    pub changed: bool,
    /// The skills in the file, by the names under which skillpm installed them.
    pub exported: Vec<String>,
    /// The skills that are not in the file.
    pub left_out: Vec<LeftOut>,
    /// Existing entries that skillpm does not know.
    pub kept: Vec<String>,
    /// The text of the file.
    #[serde(skip)]
    pub text: String,
}

/// A skill that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// The name under which skillpm installed it.
    pub name: String,
    /// The reason, as the end of a sentence.
    pub reason: Message,
}

impl LeftOut {
    /// Returns the same as a failure.
    pub fn failure(&self) -> Failure {
        let told = message!(format_args!("`{}` was left out: ", self.name), &self.reason);
        Failure::new(ErrorKind::Findings, told)
    }
}

/// Writes `skills-lock.json` in a form that the npm tool `skills` accepts as its own.
///
/// Entries of an existing file stay, as do their fields that skillpm does not know.
///
/// # Errors
///
/// Fails for a project without a lockfile; for a policy that cannot be read; and for an existing file that is
/// invalid or cannot be written. A skill that the file cannot hold is not an error: the outcome says why. If it can hold
/// none, nothing is written.
pub fn export(context: &Context, request: &ExportRequest) -> Result<ExportOutcome> {
    let scope = Scope::new(&context.settings, ScopeKind::Project)?;
    let files = Files::read(&scope)?;
    let editable = || files.manifest.skills().iter().filter(|(_, entry)| entry.editable);
    if files.lock_text.is_none() {
        let all = files.manifest.skills().len();
        if all > 0 && editable().count() == all {
            return Err(Error::usage(format!(
                "all skills of `{}` are editable, and editable skills are not exported, because they are not locked",
                scope.root.display()
            ))
            .hint(message!("install it without ", Opt::Editable, " to lock a copy")));
        }
        return Err(Error::usage(format!("there is no `skillpm.lock` in `{}`", scope.root.display()))
            .hint(message!("install something first: ", Verb::Install.call().word("owner/repo"))));
    }
    let path = match &request.output {
        Output::Project => Some(scope.root.join(FILE_NAME)),
        Output::File(file) => Some(normal(&context.settings.cwd.join(file))),
        Output::Text => None,
    };
    // Paths in the file are relative to it.
    let dir = path.as_deref().and_then(Path::parent).unwrap_or(&scope.root).to_owned();
    if fs::kind(&dir)?.is_none() {
        return Err(Error::usage(format!("the directory `{}` does not exist", dir.display())));
    }
    let dir = fs::real_path(&dir)?.unwrap_or(dir);
    let there = path.as_deref().map(|path| fs::read_text(path, MAX_FILE)).transpose()?.flatten();
    let mut lock = match (&there, &path) {
        (Some(text), Some(path)) => read(path, text)?,
        _ => SkillsLock::default(),
    };
    let mut outcome = ExportOutcome {
        path: path.as_ref().map(|path| path.display().to_string()),
        ..ExportOutcome::default()
    };
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let mut gate = PolicyCheck::new(context, &scope, &files.manifest)?;
    for (name, locked) in &files.lock.skills {
        let name = name.to_string();
        let made = make(context, &scope, &dir, locked, &mut gate).and_then(|(own, entry)| {
            match taken.insert(own.clone(), name.clone()) {
                Some(other) => Err(format!("`{other}` has the same name `{own}` there").into()),
                None => Ok((own, entry)),
            }
        });
        match made {
            Ok((own, entry)) => {
                lock.set(&own, entry);
                outcome.exported.push(name);
            }
            Err(reason) => outcome.left_out.push(LeftOut { name, reason }),
        }
    }
    outcome.left_out.extend(editable().filter(|(name, _)| !files.lock.skills.contains_key(*name)).map(
        |(name, _)| LeftOut { name: name.to_string(), reason: "it is editable, so it is not locked".into() },
    ));
    // The entry of a skill that is left out now may be from an earlier export.
    let left_out = outcome.left_out.iter().map(|skill| &skill.name);
    let known: BTreeSet<String> = taken.keys().chain(left_out).map(|own| directory_name(own)).collect();
    let others =
        lock.skills.iter().map(|(name, _)| name).filter(|name| !known.contains(&directory_name(name)));
    outcome.kept = others.cloned().collect();
    outcome.text = lock.to_string();
    let is_lost = outcome.exported.is_empty() && !outcome.left_out.is_empty();
    outcome.changed = !is_lost && there.as_ref() != Some(&outcome.text);
    if let (Some(path), true) = (&path, outcome.changed) {
        scope.check_inside(path)?;
        fs::write_atomic(path, outcome.text.as_bytes())?;
    }
    Ok(outcome)
}

/// The entries that the removal of skills drops from the project's `skills-lock.json`.
pub(super) struct DroppedEntries {
    path: PathBuf,
    text: String,
    /// The entries that go, by their names.
    pub(super) entries: Vec<String>,
}

impl DroppedEntries {
    /// Returns the entries that the removal of the skills `gone` of `scope` drops: those of the same sources, or the npm
    /// tool would bring the skills back. `None` if there is no such entry. Entries of other sources stay, also under the
    /// same names.
    pub(super) fn of<'a>(
        context: &Context,
        scope: &Scope,
        gone: impl Iterator<Item = (&'a SkillName, &'a Locked)>,
    ) -> Result<Option<Self>> {
        let path = scope.root.join(FILE_NAME);
        if scope.kind != ScopeKind::Project || fs::kind(&path)? != Some(Kind::File) {
            return Ok(None);
        }
        let Some(text) = fs::read_text(&path, MAX_FILE)? else { return Ok(None) };
        let mut lock = read(&path, &text)?;
        let gone: Vec<_> = gone.collect();
        let mut entries = Vec::new();
        lock.skills.retain(|own, entry| {
            let is_gone =
                gone.iter().any(|(name, locked)| is_of(context, scope, (own, entry), (name, locked)));
            if is_gone {
                entries.push(own.clone());
            }
            !is_gone
        });
        let text = lock.to_string();
        Ok(Some(Self { path, text, entries }).filter(|forgotten| !forgotten.entries.is_empty()))
    }

    /// Writes the file.
    pub(super) fn write(&self) -> Result<()> {
        Ok(fs::write_atomic(&self.path, self.text.as_bytes())?)
    }
}

/// Reports whether the entry `own` of the project's file has the source of the installed skill `name`.
fn is_of(
    context: &Context,
    scope: &Scope,
    (own, entry): (&str, &LockedEntry),
    (name, locked): (&SkillName, &Locked),
) -> bool {
    let Ok(SourceSpec { origin, path, .. }) = spec(Fields {
        kind: entry.get("sourceType").unwrap_or_default(),
        source: entry.get("source").unwrap_or_default(),
        url: entry.get("sourceUrl"),
        reference: None,
        skill_path: entry.get("skillPath"),
    }) else {
        return false;
    };
    if let (Some(there), Some(here)) = (origin.local_path(), locked.origin.local_path()) {
        let Ok(here) = local::resolve(&context.settings, scope.as_root(), here) else { return false };
        let whole = |base: &Path, path: &Option<String>| normal(&base.join(path.as_deref().unwrap_or("")));
        let there = normal(&scope.root.join(there));
        // The tool records the directory of the skill, or that of the source in which it looks for the name.
        return there == whole(&here, &locked.path) || there == normal(&here) && is_named(own, name);
    }
    origin == locked.origin && (path == locked.path || path.is_none() && is_named(own, name))
}

fn is_named(own: &str, name: &SkillName) -> bool {
    directory_name(own) == name.as_str()
}

/// Reads the file at `path`, whose text is `text`.
fn read(path: &Path, text: &str) -> Result<SkillsLock> {
    SkillsLock::parse(text).map_err(|error| foreign_error(path, error))
}

/// Returns the entry of a skill and the author's name for it, which is its key. If there is no entry, returns
/// the reason as an error. `dir` is the directory of the file.
fn make(
    context: &Context,
    scope: &Scope,
    dir: &Path,
    locked: &Locked,
    gate: &mut PolicyCheck,
) -> std::result::Result<(String, LockedEntry), Message> {
    let reference = locked.requested.as_deref().map(|text| {
        let name = text.strip_prefix("tags/").or_else(|| text.strip_prefix("heads/")).unwrap_or(text);
        Reference::Any(name.to_owned())
    });
    let mut local = String::new();
    let path = locked.path.as_deref().unwrap_or("");
    // Checked before anything is fetched.
    entry(&locked.origin, locked.path.as_deref(), reference.as_ref(), &local, "")
        .map_err(|error| Message::from(error.to_string()))?;
    // A locked commit is as firm as any pin.
    let pin = locked.revision.clone().map(Reference::Rev);
    let asked =
        PolicySubject { origin: &locked.origin, path: locked.path.as_deref(), reference: pin.as_ref() };
    gate.source(asked).map_err(|error| error.with_causes())?;
    let place = locked.origin.local_path().map(|typed| directory(context, scope, typed)).transpose()?;
    // Of a directory only the skill is read: what cannot be read beside it is no fault of it.
    let path_in_tree = if place.is_some() { "" } else { path };
    let opened = if let Some(place) = &place {
        local::open(scope.as_root(), &place.join(path), &Limits::default())
    } else {
        let wanted = locked.revision.as_deref().map_or(Wanted::Now(None), Wanted::Locked);
        source::open(context, scope.as_root(), &locked.origin, wanted)
    };
    let opened = opened
        .and_then(|opened| opened.subtree(path_in_tree, locked.revision.as_deref()))
        .map_err(|error| error.with_causes())?;
    let found = opened.tree.skill(path_in_tree, &Limits::default()).and_then(|set| set.digest());
    if found.map_err(|error| Message::from(error.to_string()))? != locked.digest {
        return Err(message!(
            "its source no longer has what is locked: ",
            Verb::Install,
            " with the source locks what it has now"
        ));
    }
    let is_site = locked.origin.delivers_each();
    let own = own_name(&opened.tree, path_in_tree)?;
    // The tool uses the names in the index of a site.
    let own = if is_site { path.to_owned() } else { own };
    let (mut tree, mut inside) = (opened.tree, path.to_owned());
    if let Some(place) = place {
        // The other tool searches for a skill by its name, but only where skills are expected.
        let expected = path.is_empty() || !path.contains('/') || path.starts_with("skills/");
        local = portable(dir, &if expected { place.clone() } else { place.join(path) })?;
        // It also hashes what our search skips, such as `target`.
        tree = fs::tree_of(&place.join(path)).map_err(|error| Message::from(error.to_string()))?;
        inside.clear();
    }
    let hash = computed_hash(&tree, &inside).map_err(|error| Message::from(error.to_string()))?;
    let entry = entry(&locked.origin, locked.path.as_deref(), reference.as_ref(), &local, &hash);
    let mut entry = entry.map_err(|error| Message::from(error.to_string()))?;
    if is_site {
        let digest = match &locked.revision {
            Some(revision) => revision.clone(),
            None => site_digest(&tree, &inside).map_err(|error| Message::from(error.to_string()))?,
        };
        entry.set("wellKnownDigest", Some(&digest));
    }
    Ok((own, entry))
}

/// Returns the directory that `typed` in the manifest means.
fn directory(context: &Context, scope: &Scope, typed: &str) -> std::result::Result<PathBuf, Message> {
    let place =
        local::resolve(&context.settings, scope.as_root(), typed).map_err(|error| error.with_causes())?;
    let place = fs::real_path(&place).map_err(|error| Message::from(error.to_string()))?.unwrap_or(place);
    match fs::kind(&place).map_err(|error| Message::from(error.to_string()))? {
        Some(Kind::Directory) => Ok(place),
        None => Err(format!("`{}` does not exist", place.display()).into()),
        Some(_) => Err(format!("`{FILE_NAME}` has no entries for archives").into()),
    }
}

/// Returns the name in the `SKILL.md` of directory `path`.
fn own_name(tree: &Tree, path: &str) -> std::result::Result<String, Message> {
    let file = if path.is_empty() { "SKILL.md".to_owned() } else { format!("{path}/SKILL.md") };
    if tree.get(&file).is_none() {
        return Err("the npm tool reads no file but `SKILL.md`, in upper case".into());
    }
    let bytes = tree.read(&file, MAX_SKILL_FILE).map_err(|error| Message::from(error.to_string()))?;
    let document = Document::from_bytes(bytes);
    document
        .name()
        .filter(|name| !name.is_empty())
        .map(ToOwned::to_owned)
        .ok_or_else(|| "it has no name".into())
}

/// Returns `place` as the npm tool writes it, relative to `dir`.
fn portable(dir: &Path, place: &Path) -> std::result::Result<String, Message> {
    local::portable(dir, place).ok_or_else(|| format!("the path `{}` is not UTF-8", place.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    /// Editable skills are not locked, which is reported, with other skills and without.
    #[test]
    fn editable_skills_are_told_of() {
        let world = World::new();
        world.skill("pdf", "pdf");
        world.write("skillpm.toml", "[skills]\npdf = { path = \"pdf\", editable = true }\n");
        let request = ExportRequest { output: Output::Text };
        let error = export(&world.context(), &request).expect_err("no lockfile");
        assert!(error.to_string().contains("editable skills are not exported"), "{error}");
        world.write("skillpm.lock", "version = 1\n");
        let left_out = export(&world.context(), &request).expect("a lockfile").left_out;
        assert_eq!(left_out.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), ["pdf"]);
        world.write("skillpm.toml", "[skills]\npdf = { path = \"pdf\" }\n");
        assert_eq!(export(&world.context(), &request).expect("a lockfile").left_out, []);
    }

    #[test]
    fn paths_as_the_npm_tool_writes_them() {
        let show = |place: &str| portable(Path::new("/p/q"), Path::new(place)).expect("UTF-8");
        assert_eq!(["/p/q", "/p", "/p/r/s", "/p/q/s"].map(show), [".", "..", "../r/s", "./s"]);
    }
}
