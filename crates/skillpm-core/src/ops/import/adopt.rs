//! Hand-written skills in the places of installed ones, and skills of unknown origin: they move to the directory of the
//! scope's own skills and are installed from there, as editable ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::agents::in_directories;
use super::outcome::{FoundIn, ImportOutcome, ImportedSkill, Verdict};
use super::request::ImportRequest;
use crate::advice::{Opt, Verb, message};
use crate::context::Context;
use crate::digest::Digest;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::{self, Kind};
use crate::name::SkillName;
use crate::ops::install::{InstallOutcome, own};
use crate::path::normal;
use crate::scope::Scope;
use crate::scope::claims::everyone;
use crate::scope::not_installed::not_locked_error;
use crate::scope::plan::Location;
use crate::scope::state::{Depth, OnDisk, ScopeState, Survey, read_manifest};
use crate::skill::{SKILL_FILE, load_in};
use crate::source::local::portable;
use crate::store;
use crate::text::and;
use crate::tree::FileSet;

/// A skill that is to become the scope's own.
struct Own {
    name: SkillName,
    /// Where it comes.
    to: PathBuf,
    set: FileSet,
    /// The ids of the agents that have it in a directory of their own.
    agents: Vec<String>,
    /// Whether its `SKILL.md` has another name than its directory, or none.
    is_alias: bool,
    /// Whether it is at its new place already, as after an adoption that was taken back.
    is_there: bool,
}

/// Makes the skills that `request` names the scope's own.
pub(super) fn adopt(context: &Context, scope: &Scope, request: &ImportRequest) -> Result<ImportOutcome> {
    let state = ScopeState::read(&context.settings, scope, Depth::Bytes)?;
    let mut all: Vec<Own> =
        request.skills.iter().map(|text| find(context, &state, text)).collect::<Result<_>>()?;
    all.sort_by(|a, b| (a.is_alias, &a.agents, &a.name).cmp(&(b.is_alias, &b.agents, &b.name)));
    all.dedup_by(|a, b| a.name == b.name);
    let mut outcome =
        ImportOutcome { dry_run: request.dry_run, scope: Some(scope.kind), ..ImportOutcome::default() };
    let before = state.files.manifest.agents().targets.clone().unwrap_or_default();
    outcome.skills.extend(all.iter().map(|own| {
        let place = scope.shown(&context.settings, &own.to);
        ImportedSkill {
            name: own.name.to_string(),
            verdict: Verdict::Adopted,
            found_in: FoundIn::Directory,
            source: None,
            path: None,
            revision: None,
            digest: None,
            reason: format!("moved to `{place}`, and linked from there").into(),
        }
    }));
    // What `undo` takes back is one change, where agents and names allow it.
    let alike = |a: &Own, b: &Own| !a.is_alias && !b.is_alias && a.agents == b.agents;
    for group in all.chunk_by(alike).filter(|_| !request.dry_run) {
        let done = put(context, scope, group)?;
        for skill in &mut outcome.skills {
            let source = done.skills.iter().find(|one| one.name == skill.name).map(|one| one.source.clone());
            skill.source = source.or(skill.source.take());
        }
        outcome.files.manifest |= done.files.manifest;
        outcome.files.lockfile |= done.files.lockfile;
        outcome.steps.extend(done.steps);
        outcome.paths.extend(done.paths);
        // The files are at their new place: a saved copy of them need not be mentioned.
        let others = done.warnings.into_iter().filter(|told| !done.saved.contains(told));
        outcome.warnings.extend(others);
    }
    if !request.dry_run {
        let now = read_manifest(scope)?.0.agents().targets.clone().unwrap_or_default();
        outcome.agents = now.into_iter().filter(|agent| !before.contains(agent)).collect();
    }
    outcome.skills.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(outcome)
}

/// Writes the skills of `group`, which the same agents see, and installs them. If that fails, none is written.
fn put(context: &Context, scope: &Scope, group: &[Own]) -> Result<InstallOutcome> {
    let mut written = Vec::new();
    let all = group.iter().filter(|own| !own.is_there).try_for_each(|own| {
        own::write_new(&own.to, &own.set)?;
        written.push(&own.to);
        Ok(())
    });
    let install = || {
        let alias = group.first().filter(|own| own.is_alias).map(|own| &own.name);
        let paths: Vec<&Path> = group.iter().map(|own| own.to.as_path()).collect();
        let agents = group.first().map(|own| own.agents.clone()).unwrap_or_default();
        own::install_editable(context, scope.kind, (alias, &paths), agents, true)
    };
    all.and_then(|()| install()).map_err(|error| {
        for path in written {
            // A skill that was not installed is where it was.
            let _ = fs::remove_tree(path);
        }
        let names: Vec<String> = group.iter().map(|own| format!("`{}`", own.name)).collect();
        let were = if group.len() == 1 { "was" } else { "were" };
        let told = message!(format_args!("{} {were} not adopted: ", and(&names)), error.with_causes());
        Error::new(error.kind(), told)
    })
}

/// Returns the skill that `text` names: the name or the path of its directory.
fn find(context: &Context, state: &ScopeState<'_>, text: &str) -> Result<Own> {
    let (scope, files) = (state.scope, &state.files);
    let typed = normal(&context.settings.cwd.join(text));
    // A `SKILL.md` stands for its directory.
    let given = match typed.file_name() {
        Some(file) if file == SKILL_FILE => typed.parent().unwrap_or(&typed).to_owned(),
        _ => typed,
    };
    let is_path = text.contains('/') || text.contains(std::path::MAIN_SEPARATOR);
    let directory = if is_path { file_name(&given) } else { text.to_owned() };
    let name = SkillName::exact(&directory).ok_or_else(|| {
        Error::usage(format!("`{directory}` is not a name under which skillpm keeps skills"))
            .hint("rename its directory, then run the command again")
    })?;
    if state.skill(&name)?.is_some_and(|skill| skill.is_unlocked()) {
        return Err(not_locked_error(scope, &name));
    }
    if files.knows(&name) {
        return Err(Error::usage(format!("`{name}` is already installed"))
            .hint(message!(Verb::Why.within(scope.kind).word(name), " shows who asked for it")));
    }
    let to = own::place(scope, &name)?;
    let everyone = everyone(context, scope, files);
    let survey = Survey::take(state, &[&name], &everyone)?;
    let canonical = survey.canonical.get(&name).map(|found| (Location::Canonical, found));
    let agents = in_directories(&survey, &everyone, &name);
    let own = agents.into_iter().map(|(agent, found)| (Location::Agent(agent.id.to_owned()), found));
    let (mut trees, mut seeing, mut link) = (Vec::new(), Vec::new(), None);
    for (place, found) in canonical.into_iter().chain(own) {
        let path = scope.place(&context.settings, &place, &name)?;
        // Some agents look where people write skills.
        if path == to {
            continue;
        }
        let sees = match found {
            OnDisk::Tree(_) => {
                trees.push(path);
                true
            }
            OnDisk::OtherLink(_) => {
                link.get_or_insert(path);
                false
            }
            found => *found == OnDisk::OurLink,
        };
        if let (true, Location::Agent(agent)) = (sees, place) {
            seeing.push(agent);
        }
    }
    // The directory above may be a link, as a home sometimes is.
    let real = fs::real_path(&given)?;
    let chosen = trees.iter().find(|tree| fs::real_path(tree).is_ok_and(|tree| tree == real));
    if is_path && (chosen.is_none() || real.is_none()) {
        return Err(elsewhere(context, scope, &given, text)?);
    }
    if trees.is_empty() {
        return Err(match link {
            Some(link) => linked(scope, &link)?,
            None => Error::usage(format!("there is no skill `{name}` here that skillpm did not install"))
                .hint(message!(Verb::List, " shows what is here")),
        });
    }
    let from = chosen.filter(|_| is_path).unwrap_or(&trees[0]).clone();
    let (set, digest) = read(&from)?;
    for other in trees.iter().filter(|tree| **tree != from) {
        if read(other)?.1 != digest {
            return Err(Error::new(
                ErrorKind::Findings,
                format!("`{}` and `{}` have different files", shown(context, scope, &from), shown(context, scope, other)),
            )
            .hint("nothing was changed; keep what you need in one of them and remove the other, then run the command again"));
        }
    }
    let is_there = fs::kind(&to)?.is_some();
    let is_same = || read(&to).is_ok_and(|(_, there)| there == digest);
    if is_there && !is_same() {
        return Err(own::already_exists(&to).hint(message!(
            "nothing was changed; if that is the skill, ",
            Verb::Install.within(scope.kind).flag(Opt::Editable).flag(Opt::Force).word(source(context, &to)),
            " installs it from there; the store keeps what is in the way"
        )));
    }
    let agents: BTreeSet<String> = seeing.into_iter().collect();
    let is_alias = own_name(&set).is_none_or(|own| own != name.as_str());
    Ok(Own { name, to, set, agents: agents.into_iter().collect(), is_alias, is_there })
}

/// Returns the name in the `SKILL.md` of `set`.
fn own_name(set: &FileSet) -> Option<String> {
    let document = Document::from_bytes(set.read(set.get(SKILL_FILE)?).ok()?);
    load_in(&document, None).ok().map(|loaded| loaded.meta.name)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns `path` as a source that is typed in the working directory.
fn source(context: &Context, path: &Path) -> String {
    portable(&context.settings.cwd, path).unwrap_or_else(|| path.display().to_string())
}

fn shown(context: &Context, scope: &Scope, path: &Path) -> String {
    scope.shown(&context.settings, path)
}

fn read(path: &Path) -> Result<(FileSet, Digest)> {
    let what = || format!("`{}` cannot be adopted", path.display());
    if fs::kind(&path.join(SKILL_FILE))? != Some(Kind::File) {
        return Err(Error::usage(format!("{}: there is no `{SKILL_FILE}` in it", what())));
    }
    let set = store::read(path).map_err(|error| error.context(what()))?;
    let digest = set.digest()?;
    Ok((set, digest))
}

/// Returns the error for a path that is no place where skills are installed.
fn elsewhere(context: &Context, scope: &Scope, given: &Path, text: &str) -> Result<Error> {
    if fs::kind(given)?.is_none() {
        return Ok(Error::usage(format!("`{text}` does not exist"))
            .hint(message!(Verb::List, " shows what is here")));
    }
    if fs::kind(given)? == Some(Kind::Symlink) {
        return linked(scope, given);
    }
    Ok(Error::usage(format!("`{text}` is not where skills are installed")).hint(message!(
        Verb::Install.within(scope.kind).flag(Opt::Editable).word(source(context, given)),
        " installs it from where it is"
    )))
}

/// Returns the error for a link to a directory elsewhere.
fn linked(scope: &Scope, link: &Path) -> Result<Error> {
    let target = fs::real_path(link)?.unwrap_or_else(|| link.to_owned());
    Ok(Error::usage(format!("`{}` is a link to `{}`", link.display(), target.display())).hint(message!(
        "remove the link, then run ",
        Verb::Install.within(scope.kind).flag(Opt::Editable).path(&target)
    )))
}
