//! Resolution of the names of skills that a user types.

use std::collections::BTreeMap;

use super::disabled::disabled_in;
use super::provenance::scopes_in_force;
use crate::advice::{Verb, message};
use crate::context::Context;
use crate::engine::load::SKILL_FILE;
use crate::engine::{self, Hit, NotFound, Snapshot, default_sources};
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::name::SkillName;
use crate::profile::LoadProfile;
use crate::scope::not_installed::missing;
use crate::scope::state::{read_lock, read_manifest};
use crate::scope::{Scope, Scopes};
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;
use crate::source::local;
use crate::spec::is_local;
use crate::text::shell_word;
use crate::tree::Tree;

/// Finds the skill `name` as [`engine::find_among`] does, and reports if it is disabled. A path such as `./pdf` is
/// the directory of a skill, which need not be installed.
pub(crate) fn find(context: &Context, name: &str) -> Result<Hit> {
    path_or(context, name, || -> Result<Hit> {
        let sources = default_sources(&context.settings)?;
        Ok(find_among(context, name, &Snapshot::around(&sources, &LoadProfile::DEFAULT, name)?, None)?)
    })
}

/// Works like [`find`], for a name in `snapshot`, and never for a path. If it is missing, only the manifests of the
/// scope `only`, or of both, are asked whether it is disabled.
pub(crate) fn find_among(
    context: &Context,
    name: &str,
    snapshot: &Snapshot,
    only: Option<ScopeKind>,
) -> std::result::Result<Hit, NotFound> {
    let found = engine::find_among(snapshot, name).map(|hit| without_alias(context, name, hit));
    found.map_err(|NotFound { reason, error }| {
        let error = or_disabled(context, name, only, error);
        NotFound { reason, error }
    })
}

/// Finds the skill in the directory with the path `name`. If `name` is not such a path, returns the result of
/// `by_name`.
pub(crate) fn path_or<E: From<Error>>(
    context: &Context,
    name: &str,
    by_name: impl FnOnce() -> std::result::Result<Hit, E>,
) -> std::result::Result<Hit, E>
where
    Error: From<E>,
{
    if !is_local(name) {
        return by_name();
    }
    let at = engine::find_at(context, &local::resolve_typed(&context.settings, name)?, name);
    match at {
        // The names in skills are not checked: if no directory is meant, it may be a name.
        Err(error) if error.kind() == ErrorKind::Usage => by_name().map_err(|unknown| {
            let unknown = Error::from(unknown);
            if unknown.kind() != ErrorKind::Usage {
                return unknown.into();
            }
            let told = Error::usage(unknown.message().clone()).hint(error.message().clone());
            error.hints().iter().cloned().fold(told, Error::hint).into()
        }),
        at => Ok(at?),
    }
}

/// Returns `hit` without the warning about a name that is not the skill's own, if it was installed under that
/// name.
fn without_alias(context: &Context, name: &str, mut hit: Hit) -> Hit {
    let told = engine::calls_itself(&hit.skill);
    if hit.warnings.contains(&told) && is_alias(context, name, &hit.skill.meta.name) {
        hit.warnings.retain(|warning| *warning != told);
    }
    hit
}

/// Returns whether a lockfile has the skill `own` under the name `directory`: the user who installed it
/// knows.
pub(crate) fn is_alias(context: &Context, directory: &str, own: &str) -> bool {
    let Ok(directory) = SkillName::new(directory) else { return false };
    let scopes = scopes_in_force(&context.settings).unwrap_or_default();
    let locks = scopes.iter().filter_map(|scope| read_lock(scope).ok());
    let mut aliases = locks.filter_map(|lock| lock.skills.get(&directory)?.alias_of.clone());
    aliases.any(|alias_of| alias_of == own)
}

/// Returns the names of the available skills, each with its description: those that agents see, and those in
/// manifests and lockfiles. The description is empty if it cannot be read.
pub fn known(settings: &Settings) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for scope in Scopes::new(settings, None).unwrap_or_default().there {
        let asked = read_manifest(&scope).map(|(manifest, _)| manifest.skills().keys().cloned().collect());
        let locked = read_lock(&scope).map(|lock| lock.skills.into_keys().collect());
        let all: [Vec<SkillName>; 2] = [asked.unwrap_or_default(), locked.unwrap_or_default()];
        names.extend(all.into_iter().flatten().map(|name| (name.to_string(), String::new())));
    }
    let found = engine::discover(&default_sources(settings).unwrap_or_default());
    let metas = found.skills.iter().map(|skill| &skill.meta);
    let typed = metas.filter(|meta| SkillName::new(&meta.name).is_ok());
    names.extend(typed.map(|meta| (meta.name.clone(), meta.description.clone())));
    names
}

/// Returns the scripts of the skill `name`, relative to its `scripts/`; empty if there is no such skill.
pub fn scripts_of(settings: &Settings, name: &str) -> Vec<String> {
    let sources = default_sources(settings).unwrap_or_default();
    let hit = Snapshot::around(&sources, &LoadProfile::DEFAULT, name)
        .ok()
        .and_then(|all| engine::find_among(&all, name).ok());
    let tree = hit.and_then(|hit| fs::tree_of(&hit.skill.real).ok());
    let paths = tree.iter().flat_map(Tree::entries);
    paths.filter_map(|(path, _)| path.strip_prefix("scripts/")).map(ToOwned::to_owned).collect()
}

/// Returns a better error than `error`, with which `name` was not found in the scope `only` or in both. The
/// files of a disabled skill are where no agent looks, and those of a skill in a fresh clone do not exist
/// yet: "not found" would mislead the user.
fn or_disabled(context: &Context, name: &str, only: Option<ScopeKind>, error: Error) -> Error {
    // Any other kind is about a skill that exists.
    if error.kind() != ErrorKind::Usage {
        return error;
    }
    let scopes = Scopes::new(&context.settings, only).unwrap_or_default().there;
    let asked_in = |scope: &Scope| {
        // `project:name` and `user:name` mean a skill of that scope only.
        let inside = name.strip_prefix(&*scope.kind.to_string()).and_then(|rest| rest.strip_prefix(':'));
        SkillName::new(inside.unwrap_or(name)).ok()
    };
    let installed = |scope: &Scope| {
        let asked = asked_in(scope)?;
        let names = disabled_in(scope).ok()?;
        names.iter().any(|name| name == asked.as_str()).then_some((scope.kind, asked))
    };
    let mut installed = scopes.iter().filter_map(installed).peekable();
    if installed.peek().is_none() {
        let gone = |scope: &Scope| {
            let asked = asked_in(scope)?;
            missing(&context.settings, scope)
                .into_iter()
                .find_map(|(name, told)| (name == asked).then_some(told))
        };
        let told: Vec<_> = scopes.iter().filter_map(gone).collect();
        if told.is_empty() {
            return or_directory(context, name, error);
        }
        return told
            .into_iter()
            .fold(Error::usage(format!("the skill `{name}` is not installed")), Error::hint);
    }
    installed.fold(Error::usage(format!("the skill `{name}` is disabled")), |error, (scope, installed)| {
        error.hint(message!(Verb::Enable.within(scope).word(installed), " shows it to agents again"))
    })
}

/// Returns `error`, with a hint on how to distinguish the directory `name`, or the file of a skill in it, from a name, if it
/// holds a skill.
fn or_directory(context: &Context, name: &str, error: Error) -> Error {
    let name = name.strip_suffix(SKILL_FILE).and_then(|name| name.strip_suffix('/')).unwrap_or(name);
    let file = context.settings.cwd.join(name).join(SKILL_FILE);
    if !matches!(fs::kind(&file), Ok(Some(fs::Kind::File))) {
        return error;
    }
    error.hint(format!("`{}` is the skill in that directory", shell_word(format!("./{name}"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::ops::show::{ShowRequest, show};

    /// A name is never a path, and the error for a directory with a skill names its path.
    #[test]
    fn a_directory_is_named_by_its_path() {
        let world = World::new();
        world.skill("src/pdf", "pdf");
        assert!(find(&world.context(), "./src/pdf").is_ok());
        for typed in ["src/pdf", "src/pdf/SKILL.md"] {
            let error = find(&world.context(), typed).expect_err("no name");
            assert_eq!(error.to_string(), format!("there is no skill `{typed}`"));
            let hint = error.hints().last().expect("a hint");
            assert_eq!(*hint, "`./src/pdf` is the skill in that directory");
        }
        for (typed, hint) in [("./src/pfd", "did you mean `./src/pdf`?"), ("./pdf", "check the spelling")] {
            let error = find(&world.context(), typed).expect_err("no skill");
            assert_eq!(error.hints()[..2], [format!("`{typed}` does not exist"), hint.to_owned()]);
        }
        let error = find(&world.context(), "./src").expect_err("no skill");
        assert_eq!(error.to_string(), "there is no skill `./src`");
        assert_eq!(error.hints()[0], "`./src` has no skills: there is no `SKILL.md` in it");
        let error = find(&world.context(), "src").expect_err("no skill");
        assert!(error.hints().iter().all(|hint| !hint.to_string().contains("./src")), "{error:?}");
    }

    /// In a clone, a requested skill is usable once it is installed, and the error says so until then.
    #[test]
    fn what_is_asked_for_and_not_there_is_told() {
        let world = World::new();
        world.write("skillpm.toml", "[skills]\npdf = { path = \"../pdf\" }\n");
        for name in ["pdf", "project:pdf"] {
            let error = find(&world.context(), name).expect_err("not there");
            assert_eq!(error.to_string(), format!("the skill `{name}` is not installed"));
            assert_eq!(error.hints(), ["`pdf` is not installed yet: `install` installs it"]);
        }
        let error = find(&world.context(), "user:pdf").expect_err("not there");
        assert_eq!(error.to_string(), "there is no skill `user:pdf`");
    }

    /// The error says that a skill is disabled, separately for each scope; any other name has its usual
    /// error.
    #[test]
    fn a_disabled_skill_is_told_as_one() {
        let world = World::new();
        let manifest =
            |name: &str| format!("[skills]\n{name} = {{ path = \"../{name}\", disabled = true }}\n");
        world.write("skillpm.toml", &(manifest("dis") + "on = { path = \"../on\" }\n"));
        world.write("../home/.config/skillpm/skillpm.toml", &(manifest("dis") + &manifest("mine")[9..]));
        let error = |name: &str| find(&world.context(), name).expect_err(name);
        let (project, user) = ("`enable dis` shows it", "`enable dis` with `scope=user` shows it");
        for (name, hints) in [
            ("dis", &[project, user][..]),
            ("project:dis", &[project]),
            ("user:dis", &[user]),
            ("mine", &["`enable mine` with `scope=user` shows it"]),
        ] {
            let error = error(name);
            assert_eq!(error.to_string(), format!("the skill `{name}` is disabled"));
            assert_eq!((error.kind(), error.hints().len()), (ErrorKind::Usage, hints.len()), "{name}");
            assert!(error.hints().iter().zip(hints).all(|(hint, start)| hint.starts_with(start)), "{name}");
        }
        assert_eq!(error("on").to_string(), "the skill `on` is not installed");
        for name in ["project:mine", "none"] {
            assert_eq!(error(name).to_string(), format!("there is no skill `{name}`"));
        }
        let shown = |scope| {
            let request = ShowRequest { name: "mine".into(), scope: Some(scope), ..ShowRequest::default() };
            show(&world.context(), &request).expect_err("not there").to_string()
        };
        assert_eq!(shown(ScopeKind::User), "the skill `mine` is disabled");
        assert_eq!(shown(ScopeKind::Project), "there is no skill `mine`");
        // A usable skill is used, whatever the manifest of the other scope says.
        world.skill(".claude/skills/mine", "mine");
        assert!(find(&world.context(), "mine").is_ok());
    }
}
