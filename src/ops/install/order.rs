//! A restore that finds all in order tells the same as the last time: nothing is parsed or planned for it.
//!
//! Only the plain case is remembered: no policy has a say, nothing is editable, edited, in conflict or to be
//! warned of. Everything else goes the long way.

use std::path::Path;

use super::restore::has_scripts;
use super::{Change, InstallOutcome, InstallRequest, InstalledSkill};
use crate::agents;
use crate::context::Context;
use crate::digest::Digest;
use crate::fs::{self, Base, Moment};
use crate::install::index::bytes::{Reader, put_list, put_option, put_text};
use crate::install::index::order::{Order, SeenDir};
use crate::install::plan::{Goal, Plan, plan};
use crate::install::scope::Scope;
use crate::install::state::{Files, Found, MAX_FILE, Survey};
use crate::name::SkillName;
use crate::ops::change::watched;
use crate::store::Store;

/// Whether `request` asks for nothing but what manifest and lockfile say. With a lockfile that may not
/// change the answer is the same where nothing changes.
fn is_plain(context: &Context, request: &InstallRequest) -> bool {
    let policies = &context.settings.policies;
    let is_there = |path: &Path| !matches!(fs::kind(path), Ok(None));
    let flags = request.copy || request.dry_run || request.force || !request.agents.is_empty();
    request.restores()
        && !flags
        && policies.named.is_none()
        && !policies.machine.as_deref().is_some_and(is_there)
}

/// The outcome of the last restore, if it found all in order and nothing has changed since. The caller has
/// locked the scope.
pub(super) fn known(context: &Context, scope: &Scope, request: &InstallRequest) -> Option<InstallOutcome> {
    if !is_plain(context, request) {
        return None;
    }
    let order =
        scope.index.order().filter(|order| Some(order.manifest.as_str()) == scope.manifest.to_str())?;
    let text = |path: &Path| Some(fs::read_capped(path, MAX_FILE).ok()?.map(|bytes| Digest::of(&bytes)));
    let agent = |id: &str| Some(scope.agent_dir(&context.settings, agents::find(id).ok()?));
    let same = order.files == [text(&scope.manifest)?, text(&scope.lockfile)?]
        && order
            .agents
            .iter()
            .all(|(id, dir)| agent(id).is_some_and(|now| now.as_deref() == dir.as_ref().map(Path::new)))
        && order.dirs.iter().all(|dir| scope.index.is_as_seen(dir))
        && order.dirs.iter().all(|dir| is_checked(context, scope, dir));
    let outcome = if same { read(&order.told) } else { None }?;
    Some(InstallOutcome { scope: Some(scope.kind), ..outcome })
}

/// Whether the skills in `dir` with something to run in them were fetched here or checked: the store may have been
/// cleaned since.
fn is_checked(context: &Context, scope: &Scope, dir: &SeenDir) -> bool {
    let store = Store::new(&context.settings).ok();
    dir.trees.iter().all(|(name, digest)| {
        store.as_ref().is_some_and(|store| store.has(digest))
            || !has_scripts(scope, &Path::new(&dir.path).join(name))
    })
}

/// Remembers `outcome`, if it is that of a restore that found all in order.
pub(super) fn remember(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    (goal, files): (&Goal, &Files),
    outcome: &InstallOutcome,
) {
    let said = outcome.warnings.is_empty()
        && outcome.decided.is_empty()
        && outcome.left_modified.is_empty()
        && outcome.left_unreadable.is_empty();
    let skills = outcome.skills.iter().all(|skill| skill.change == Change::Unchanged && !skill.editable);
    if !(is_plain(context, request) && said && skills && files.conflicts.is_none()) {
        return;
    }
    let since = Moment::now();
    // What there is to know is looked at again: what comes later than `since` is not in order.
    if let Some(order) = order(context, scope, goal, files, outcome) {
        scope.index.remember(order, since);
    }
}

fn order(
    context: &Context,
    scope: &Scope,
    goal: &Goal,
    files: &Files,
    outcome: &InstallOutcome,
) -> Option<Order> {
    let settings = &context.settings;
    let names: Vec<&SkillName> = goal.put.iter().map(|wanted| &wanted.name).collect();
    let (watched, _) = watched(goal, files);
    let survey = Survey::take(settings, scope, &names, &watched).ok()?;
    if !survey.unreadable.is_empty() || !plan(goal, files, &survey).is_ok_and(|plan: Plan| plan.is_empty()) {
        return None;
    }
    let (mut agents, mut dirs) = (Vec::new(), Vec::new());
    for (dir, found) in [(scope.skills_dir(), &survey.canonical), (scope.disabled_dir(), &survey.disabled)] {
        dirs.push(seen(&dir, found.iter())?);
    }
    for agent in watched {
        let dir = scope.agent_dir(settings, agent);
        let text = dir.as_ref().map(|dir| dir.to_str().map(ToOwned::to_owned));
        agents.push((
            agent.id.to_owned(),
            match text {
                Some(text) => Some(text?),
                None => None,
            },
        ));
        let is_new =
            |dir: &&std::path::PathBuf| dirs.iter().all(|seen| Path::new(&seen.path) != dir.as_path());
        if let Some(dir) = dir.as_ref().filter(is_new) {
            let found = names.iter().filter_map(|name| Some((*name, survey.at(agent.id, name)?)));
            dirs.push(seen(dir, found)?);
        }
    }
    Some(Order {
        manifest: scope.manifest.to_str()?.to_owned(),
        files: [&files.manifest_text, &files.lock_text]
            .map(|text| text.as_ref().map(|t| Digest::of(t.as_bytes()))),
        agents,
        dirs,
        told: written(outcome)?,
    })
}

/// What is known of the directory `dir`, in which `found` was found; `None` where it is not known to the
/// last byte.
fn seen<'a>(dir: &Path, found: impl Iterator<Item = (&'a SkillName, &'a Found)>) -> Option<SeenDir> {
    let there = match fs::real_path(dir).ok()? {
        Some(real) => Some((real.to_str()?.to_owned(), Base::open(dir).ok()?.stat(b".")?)),
        None => None,
    };
    let mut trees = Vec::new();
    for (name, found) in found {
        match found {
            Found::Tree(digest) => trees.push((name.to_string(), (*digest)?)),
            Found::Absent | Found::OurLink => {}
            // Where they lead is not known from here.
            Found::OtherLink(_) | Found::Loop | Found::Written | Found::Other => return None,
        }
    }
    Some(SeenDir { path: dir.to_str()?.to_owned(), there, trees })
}

/// The skills and agents of `outcome`, all else of which is empty.
fn written(outcome: &InstallOutcome) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let text = |bytes: &mut Vec<u8>, text: &String| put_text(bytes, text.as_bytes());
    put_list(&mut bytes, &outcome.agents, text)?;
    put_list(&mut bytes, &outcome.skills, |bytes, skill| {
        text(bytes, &skill.name)?;
        text(bytes, &skill.source)?;
        for part in [&skill.version, &skill.path, &skill.revision, &skill.digest] {
            put_option(bytes, part.as_ref(), text)?;
        }
        put_list(bytes, &skill.needed_by, text)?;
        bytes.push(skill.disabled.into());
        Some(())
    })?;
    Some(bytes)
}

/// Reads what [`written`] wrote.
fn read(told: &[u8]) -> Option<InstallOutcome> {
    let mut rest = Reader(told);
    let agents = rest.list(Reader::string)?;
    let skills = rest.list(|rest| {
        Some(InstalledSkill {
            name: rest.string()?,
            source: rest.string()?,
            version: rest.option(Reader::string).ok()?,
            path: rest.option(Reader::string).ok()?,
            revision: rest.option(Reader::string).ok()?,
            digest: rest.option(Reader::string).ok()?,
            needed_by: rest.list(Reader::string)?,
            disabled: rest.flag()?,
            editable: false,
            change: Change::Unchanged,
        })
    })?;
    rest.0.is_empty().then(|| InstallOutcome { skills, agents, ..InstallOutcome::default() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_told_is_told_again() {
        let skill = |name: &str, text: Option<&str>| InstalledSkill {
            name: name.to_owned(),
            version: text.map(ToOwned::to_owned),
            source: "path:./src".to_owned(),
            path: text.map(ToOwned::to_owned),
            revision: text.map(ToOwned::to_owned),
            digest: text.map(ToOwned::to_owned),
            editable: false,
            needed_by: text.iter().map(|text| (*text).to_owned()).collect(),
            disabled: text.is_none(),
            change: Change::Unchanged,
        };
        let outcome = InstallOutcome {
            skills: vec![skill("pdf", Some("é")), skill("docx", None)],
            agents: vec!["claude-code".to_owned()],
            ..InstallOutcome::default()
        };
        let bytes = written(&outcome).expect("short enough");
        let again = read(&bytes).expect("whole");
        assert_eq!((again.skills, again.agents), (outcome.skills, outcome.agents));
        assert!(read(&bytes[..bytes.len() - 1]).is_none());
        assert!(read(&[&bytes[..], b"x"].concat()).is_none());
    }

    proptest! {
        #[test]
        fn hostile_bytes_are_read_safely(noise in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(outcome) = read(&noise) {
                prop_assert_eq!(written(&outcome), Some(noise));
            }
        }
    }
}
