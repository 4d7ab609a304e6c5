//! Saved copies of edited skills: listing them, and restoring one by its name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Message, Opt, Verb, message};
use crate::change::Begun;
use crate::change::agent_targets::AgentTargets;
use crate::context::Context;
use crate::digest::Digest;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::changes::{PathChange, PathEffect};
use crate::scope::not_installed::not_installed;
use crate::scope::plan::{Content, Goal, Location, Merged, Step, Wanted};
use crate::scope_kind::ScopeKind;
use crate::skill::{self, MAX_SKILL_FILE, SKILL_FILE};
use crate::store::{self, KeptTree, KeptWhole, Note, Store, Why};
use crate::text::{closest, timestamp};

/// The number of digits of a digest that distinguish a copy from others with its name.
const DIGITS: usize = 7;

/// A saved copy. Its JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeptCopy {
    /// The name of the skill, or of a file beside the skills; `None` if unknown.
    pub name: Option<String>,
    /// The time when it was saved, in RFC 3339 form; `None` if unknown.
    pub kept_at: Option<String>,
    /// The reason; `None` if an older version saved the copy without one.
    pub why: Option<Why>,
    /// The original path.
    pub from: Option<String>,
    /// The path of the copy.
    pub path: String,
    /// The digest of the copy; of one that was kept with more than a skill may hold, that of the note about it.
    pub digest: String,
}

impl KeptCopy {
    /// Returns the digits that distinguish it from other copies with its name.
    pub fn id(&self) -> &str {
        let hex = self.digest.split_once(':').map_or(&*self.digest, |(_, hex)| hex);
        hex.get(..DIGITS).unwrap_or(hex)
    }
}

/// Returns the saved copies, the newest first.
///
/// # Errors
///
/// Fails if the store cannot be read.
pub fn kept(context: &Context) -> Result<Vec<KeptCopy>> {
    let store = Store::new(&context.settings)?;
    let mut copies: Vec<_> = store.kept()?.iter().flat_map(|kept| copies_of(&store, kept)).collect();
    copies
        .extend(store.kept_whole()?.into_iter().map(|KeptWhole { id, path, note }| copy_of(&path, id, note)));
    copies.sort_by_key(|(at, copy)| (std::cmp::Reverse(*at), copy.name.clone(), copy.path.clone()));
    Ok(copies.into_iter().map(|(_, copy)| copy).collect())
}

/// Returns one copy for each name of `kept`, with the time of its last note in seconds and nanoseconds.
fn copies_of(store: &Store, kept: &KeptTree) -> Vec<(Option<(u64, u32)>, KeptCopy)> {
    let bare = KeptCopy {
        name: None,
        kept_at: None,
        why: None,
        from: None,
        path: kept.path.display().to_string(),
        digest: kept.digest.to_string(),
    };
    let mut last = BTreeMap::new();
    for note in store.notes(kept) {
        last.insert((note.name.clone(), note.from.clone()), note);
    }
    if last.is_empty() {
        // An older version saved it without a note, or agents have copies of it.
        let at = fs::usage(&kept.path).ok().and_then(|usage| usage.changed_at());
        return vec![(
            at.map(|at| (at, 0)),
            KeptCopy { name: own_name(&kept.path), kept_at: at.map(time), ..bare },
        )];
    }
    last.into_values().map(|note| copy_of(&kept.path, kept.digest, note)).collect()
}

/// Returns the copy at `path` that `note` is about, and when it was saved.
fn copy_of(path: &Path, digest: Digest, note: Note) -> (Option<(u64, u32)>, KeptCopy) {
    let copy = KeptCopy {
        name: Some(note.name),
        kept_at: Some(time(note.at)),
        why: Some(note.why),
        from: Some(note.from.display().to_string()),
        path: path.display().to_string(),
        digest: digest.to_string(),
    };
    (Some((note.at, note.nanos)), copy)
}

fn time(at: u64) -> String {
    timestamp(i64::try_from(at).unwrap_or(i64::MAX), 0).replace(".000Z", "Z")
}

/// Returns the name in the skill at `path`.
fn own_name(path: &Path) -> Option<String> {
    let text = fs::read_capped(&path.join(SKILL_FILE), MAX_SKILL_FILE);
    let document = Document::from_bytes(text.ok()??);
    Some(skill::load(&document).ok()?.meta.name)
}

/// A request to restore a saved copy.
#[derive(Debug, Clone, Default)]
pub struct RestoreRequest {
    /// The name of the skill, or `NAME@DIGITS` for one of several copies.
    pub name: String,
    /// The scope; `None` means the project.
    pub scope: Option<ScopeKind>,
    /// Whether to only plan.
    pub dry_run: bool,
}

/// The outcome of a restoration. Its JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RestoreOutcome {
    /// The scope.
    #[serde(skip)]
    pub scope: Option<ScopeKind>,
    /// The copy.
    pub restored: KeptCopy,
    /// The steps that were or would be taken, in order.
    pub steps: Vec<Step>,
    /// The paths that were or would be changed.
    pub paths: Vec<PathChange>,
    /// Messages about the replaced copy, which was saved in turn.
    pub kept: Vec<Message>,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Whether `undo` takes this back.
    #[serde(skip)]
    pub undoable: bool,
}

/// Restores a saved copy: it replaces the installed skill of its name, as edits of the locked version.
///
/// # Errors
///
/// Fails if there is no copy of that name; for a skill that is not installed, or is a link to a directory;
/// and if something cannot be written.
pub fn restore(context: &Context, request: &RestoreRequest) -> Result<RestoreOutcome> {
    let settings = &context.settings;
    let scope = Scope::new(settings, request.scope.unwrap_or(ScopeKind::Project))?;
    let copy = find(context, &scope, &request.name)?;
    if matches!(copy.why, Some(Why::Foreign | Why::WithToolFiles)) {
        return put_back(context, &scope, request, copy);
    }
    let begun = Begun::begin(context, &scope, request.dry_run)?;
    let files = begun.files();
    let name = copy.name.clone().unwrap_or_default();
    let elsewhere = |error: Error| error.hint(format!("your copy is in `{}`", copy.path));
    let name = SkillName::new(&name)
        .map_err(|_| elsewhere(Error::usage(format!("`{name}` is not the name of a skill"))))?;
    let entry = files.manifest.skills().get(&name);
    if entry.is_some_and(|entry| entry.editable) {
        let message = format!("`{name}` is a link to a directory that you work on");
        return Err(elsewhere(Error::new(ErrorKind::Findings, message)));
    }
    let Some(locked) = files.lock.skills.get(&name) else {
        let known = files.lock.skills.keys().map(SkillName::as_str);
        return Err(elsewhere(not_installed(Some(scope.kind), name.as_str(), known)));
    };
    let disabled = entry.is_some_and(|entry| entry.disabled);
    let place = if disabled { Location::Disabled } else { Location::Canonical };
    let path = scope.place(settings, &place, &name)?;
    let replaces = if fs::kind(&path)?.is_some() { scope.index.trees().digest(&path) } else { None };
    let set = store::read(Path::new(&copy.path))?;
    let tree = set.digest()?;
    let keep = replaces.is_some_and(|there| there != locked.digest && there != tree);
    let content = if tree == locked.digest {
        Content::Locked(locked.clone())
    } else {
        Content::Merged(Merged { locked: locked.clone(), tree, replaces, keep })
    };
    let mut targets = AgentTargets::read(settings, &scope, files)?;
    let mut wanted = Wanted { disabled, ..Wanted::new(name.clone(), content, None) };
    targets.on_install(std::slice::from_ref(&wanted), std::iter::empty());
    targets.assign(&mut wanted);
    let copies = files.manifest.agents().copy;
    let goal = Goal { put: vec![wanted], copy: copies, force: true, ..Goal::default() };
    let applied = begun.plan(goal)?.apply(BTreeMap::from([(name, set)]))?;
    Ok(RestoreOutcome {
        scope: Some(scope.kind),
        restored: copy,
        steps: applied.plan.steps,
        paths: applied.paths,
        kept: applied.saved.into_iter().map(Message::from).collect(),
        dry_run: request.dry_run,
        undoable: applied.undoable,
    })
}

/// Puts a copy of what is not the content of an installed skill where it was, with everything in it.
fn put_back(
    context: &Context,
    scope: &Scope,
    request: &RestoreRequest,
    copy: KeptCopy,
) -> Result<RestoreOutcome> {
    let from = PathBuf::from(copy.from.as_deref().unwrap_or_default());
    if fs::kind(&from)?.is_some() {
        let message = format!("something is in `{}`, where the copy was", from.display());
        return Err(Error::new(ErrorKind::Findings, message).hint(format!(
            "nothing was changed; move it away and run the command again, or take what you need from `{}`",
            copy.path
        )));
    }
    if !request.dry_run {
        if let Some(parent) = from.parent() {
            fs::create_dir_all(parent)?;
        }
        let fresh = fs::beside(&from);
        fs::clear_moves(&from)?;
        fs::copy_whole(Path::new(&copy.path), &fresh)?;
        fs::move_new(&fresh, &from)?;
    }
    Ok(RestoreOutcome {
        scope: Some(scope.kind),
        restored: copy,
        steps: Vec::new(),
        paths: vec![PathChange::new(&context.settings, scope, from, PathEffect::Created)],
        kept: Vec::new(),
        dry_run: request.dry_run,
        undoable: false,
    })
}

/// Returns the copy that `text` means: the last one saved under the name, preferably from `scope`.
fn find(context: &Context, scope: &Scope, text: &str) -> Result<KeptCopy> {
    let (name, digits) = text.rsplit_once('@').map_or((text, ""), |(name, digits)| (name, digits));
    let all = kept(context)?;
    let of_name = |copy: &&KeptCopy| copy.name.as_deref() == Some(name);
    let hex = |copy: &KeptCopy| copy.digest.split_once(':').is_some_and(|(_, hex)| hex.starts_with(digits));
    let is_here =
        |copy: &&KeptCopy| copy.from.as_deref().is_some_and(|from| Path::new(from).starts_with(&scope.root));
    let matching: Vec<_> = all.iter().filter(of_name).filter(|copy| hex(copy)).collect();
    let found = matching.iter().find(|copy| is_here(copy)).or(matching.first());
    found.map(|copy| (*copy).clone()).ok_or_else(|| {
        let error = Error::usage(format!("no copy of `{text}` is kept"));
        match closest(name, all.iter().filter_map(|copy| copy.name.as_deref())) {
            Some(close) if close != name => error.hint(format!("did you mean `{close}`?")),
            _ => error.hint(message!(Verb::Undo.call().flag(Opt::List), " shows the copies that are kept")),
        }
    })
}
