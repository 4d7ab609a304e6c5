//! What agents see: the directories that each of them reads, and the skills in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use super::scope::{Scope, ScopeKind};
use super::state::Files;
use crate::agents::{self, Agent};
use crate::engine::load::skill_file;
use crate::fs::{self, Kind, PathError};
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::path::collision_key;
use crate::path::normal;
use crate::settings::Settings;

/// The reason why an agent reads a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It holds the canonical copies.
    Canonical,
    /// It belongs to the agent itself.
    Own,
    /// Some tool considers it the agent's; whether the agent reads it depends on its version.
    Other,
    /// It belongs to another agent, and this one reads it too.
    Shared,
}

/// A directory that an agent reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// The path, whether it exists or not.
    pub path: PathBuf,
    /// Why the agent reads it.
    pub role: Role,
}

/// Returns the directories that `agent` reads in `scope`, each once, starting with the one that serves it.
pub fn directories(settings: &Settings, scope: &Scope, agent: &Agent) -> Vec<Directory> {
    let mut dirs: Vec<(PathBuf, Role)> = Vec::new();
    match scope.kind {
        ScopeKind::Project => {
            let own = agent.project_dirs.iter().map(|dir| scope.root.join(dir));
            dirs.extend(
                own.enumerate().map(|(at, dir)| (dir, if at == 0 { Role::Own } else { Role::Other })),
            );
            dirs.extend(agent.shared_project_dirs().map(|dir| (scope.root.join(dir), Role::Shared)));
        }
        ScopeKind::User => {
            if agent.is_universal() {
                dirs.push((scope.skills_dir(), Role::Canonical));
            }
            dirs.extend(scope.agent_dir(settings, agent).map(|dir| (dir, Role::Own)));
            dirs.extend(agent.user_dirs(settings).map(|dir| (dir, Role::Other)));
            dirs.extend(agent.shared_user_dirs(settings).map(|dir| (dir, Role::Shared)));
        }
    }
    let mut once: Vec<Directory> = Vec::new();
    for (path, role) in dirs {
        if once.iter().all(|dir| dir.path != path) {
            let role = if path == scope.skills_dir() { Role::Canonical } else { role };
            once.push(Directory { path, role });
        }
    }
    once
}

/// Returns the agents that the manifest names, by id. Skips unknown names.
pub fn chosen(manifest: &Manifest) -> BTreeSet<&'static str> {
    let own = manifest.skills().values().filter_map(|requirement| requirement.agents.as_ref());
    let targets = manifest.agents().targets.iter().chain(own).flatten();
    targets.filter_map(|target| agents::find(target).ok()).map(|agent| agent.id).collect()
}

/// Returns the agents that count in `scope`: those with the ids `named`, by its files or its receipts, and those of this
/// machine. Any other may have a directory in its name that people keep in their projects, such as `skills/`: it is not
/// looked into.
pub fn counting<'a>(
    settings: &Settings,
    scope: &Scope,
    named: impl IntoIterator<Item = &'a str>,
) -> Vec<&'static Agent> {
    let is_here = |agent: &&Agent| agent.detected(settings, &scope.root, &|path| scope.is_used(path));
    let here = agents::all().iter().filter(is_here).map(|agent| agent.id);
    of_ids(here.chain(named))
}

/// Returns the agents with these ids or aliases, each once, in the order of the table.
fn of_ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<&'static Agent> {
    let ids: BTreeSet<_> =
        ids.into_iter().filter_map(|id| agents::find(id).ok()).map(|agent| agent.id).collect();
    agents::all().iter().filter(|agent| ids.contains(agent.id)).collect()
}

/// Returns the ids or aliases of the agents that the manifest and the lockfile name.
pub fn named(files: &Files) -> impl Iterator<Item = &str> {
    let own = files.manifest.skills().values().filter_map(|entry| entry.agents.as_ref());
    let targets = files.manifest.agents().targets.iter().chain(own).flatten();
    targets.chain(files.lock.skills.values().flat_map(|locked| &locked.agents)).map(String::as_str)
}

/// An agent on this machine that does not see some installed skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unseen {
    /// The agent's id.
    pub agent: String,
    /// The names of the skills that it does not see.
    pub skills: Vec<String>,
}

/// The agents that see what is installed in a scope: the agents that are on this machine or that the manifest names.
#[derive(Debug, Default)]
pub struct Viewers {
    agents: Vec<Viewer>,
    /// The content of the directories; `None` for one that holds the canonical copies.
    dirs: Vec<Option<BTreeSet<String>>>,
}

/// An agent, and the indices of the directories that it reads.
#[derive(Debug)]
struct Viewer {
    id: &'static str,
    /// Whether it is on this machine and has a directory of its own in the scope.
    is_here: bool,
    reads: Vec<usize>,
}

impl Viewers {
    /// Finds the agents on this machine. Reads each directory once; one that cannot be read counts as empty.
    pub fn take(settings: &Settings, scope: &Scope, chosen: &BTreeSet<&'static str>) -> Self {
        let mut viewers = Self::default();
        let mut known: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for agent in agents::all() {
            let is_here = scope.agent_dir(settings, agent).is_some()
                && agent.detected(settings, &scope.root, &|path| scope.is_used(path));
            if !is_here && !chosen.contains(agent.id) {
                continue;
            }
            let surely =
                directories(settings, scope, agent).into_iter().filter(|dir| dir.role != Role::Other);
            let reads = surely.map(|dir| {
                *known.entry(dir.path).or_insert_with_key(|path| {
                    viewers.dirs.push(entries(scope, path));
                    viewers.dirs.len() - 1
                })
            });
            let reads = reads.collect();
            viewers.agents.push(Viewer { id: agent.id, is_here, reads });
        }
        viewers
    }

    /// Returns the agents, and those with the ids `named`: the ones that [`counting`] returns, without looking for them
    /// again.
    pub fn and<'a>(&self, named: impl IntoIterator<Item = &'a str>) -> Vec<&'static Agent> {
        of_ids(self.agents.iter().map(|viewer| viewer.id).chain(named))
    }

    fn sees(&self, viewer: &Viewer, name: &str) -> bool {
        let dirs = viewer.reads.iter().filter_map(|at| self.dirs.get(*at));
        dirs.into_iter().any(|names| names.as_ref().is_none_or(|names| names.contains(name)))
    }

    /// Returns the ids of the agents that see the skill `name`, which is at its canonical place.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'static str> {
        self.agents.iter().filter(move |viewer| self.sees(viewer, name)).map(|viewer| viewer.id)
    }

    /// Returns the ids of the agents that see something named `name` in a directory other than the canonical
    /// one.
    pub fn apart<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'static str> {
        let has = move |at: &usize| matches!(self.dirs.get(*at), Some(Some(names)) if names.contains(name));
        self.agents.iter().filter(move |viewer| viewer.reads.iter().any(has)).map(|viewer| viewer.id)
    }

    /// Returns the ids of the agents that see every one of `names`.
    pub fn of_all<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'static str> {
        let see_all = move |viewer: &&Viewer| names.iter().all(|name| self.sees(viewer, name));
        self.agents.iter().filter(see_all).map(|viewer| viewer.id)
    }

    /// Reports whether every agent on this machine reads the canonical copies, so that none misses a skill.
    pub fn all_read_canonical(&self) -> bool {
        let reads = |at: &usize| self.dirs.get(*at).is_some_and(Option::is_none);
        self.agents.iter().all(|viewer| !viewer.is_here || viewer.reads.iter().any(reads))
    }

    /// Returns the agents of this machine that do not see all of the skills `names`. Decisions in `manifest`
    /// are not oversights: that no agent gets links (`targets = []`), or that a skill names its own agents.
    pub fn unseen(&self, manifest: &Manifest, names: &BTreeSet<&str>) -> Vec<Unseen> {
        if manifest.agents().targets.as_ref().is_some_and(Vec::is_empty) || self.all_read_canonical() {
            return Vec::new();
        }
        let decided: BTreeSet<&str> = manifest
            .skills()
            .iter()
            .filter(|(_, entry)| entry.agents.is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        let unseen = self.agents.iter().filter(|viewer| viewer.is_here).map(|viewer| {
            let hidden = names.difference(&decided).filter(|name| !self.sees(viewer, name));
            Unseen { agent: viewer.id.to_owned(), skills: hidden.map(ToString::to_string).collect() }
        });
        unseen.filter(|unseen| !unseen.skills.is_empty()).collect()
    }
}

/// Returns the names of the skills that agents should see according to `files`.
pub fn in_sight(files: &Files) -> BTreeSet<&str> {
    let is_disabled =
        |name: &SkillName| files.manifest.skills().get(name).is_some_and(|entry| entry.disabled);
    let editable = files.manifest.skills().iter().filter(|(_, entry)| entry.editable).map(|(name, _)| name);
    let names = files.lock.skills.keys().chain(editable);
    names.filter(|name| !is_disabled(name)).map(SkillName::as_str).collect()
}

/// Returns the names in the directory `dir`; `None` if it is the directory of canonical copies.
fn entries(scope: &Scope, dir: &Path) -> Option<BTreeSet<String>> {
    let skills = scope.skills_dir();
    if dir == skills {
        return None;
    }
    let real = fs::real_path(dir).ok().flatten();
    if real.is_some() && real == fs::real_path(&skills).ok().flatten() {
        return None;
    }
    Some(fs::list_dir(dir).unwrap_or_default().into_iter().collect())
}

/// The form of a skill in an agent's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The canonical copy itself.
    Canonical,
    /// A link to the canonical copy.
    Link,
    /// A copy of an installed skill.
    Copy,
    /// Something that skillpm did not put there.
    Foreign,
    /// A broken link: the agent sees nothing.
    Broken,
}

/// A skill in a directory that agents read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The name of its directory.
    pub name: String,
    /// The path.
    pub path: PathBuf,
    /// Its form.
    pub form: Form,
    /// The target of its link, as written in the link.
    pub target: Option<PathBuf>,
    /// Its directory with all links resolved.
    pub real: Option<PathBuf>,
}

/// Returns the skills in directory `dir`, sorted by name: directories, or links to directories, with a
/// `SKILL.md`. `installed` are the names of the skills of `scope`.
///
/// # Errors
///
/// Fails if the directory cannot be read. A single skill that cannot be examined hides none of the others.
pub fn look(dir: &Path, scope: &Scope, installed: &BTreeSet<String>) -> Result<Vec<Seen>, PathError> {
    let skills = fs::real_path(&scope.skills_dir())?.unwrap_or_else(|| scope.skills_dir());
    let is_canonical = dir == scope.skills_dir() || fs::real_path(dir)?.as_ref() == Some(&skills);
    let base = fs::real_path(dir)?.unwrap_or_else(|| dir.to_owned());
    let mut seen = Vec::new();
    for name in fs::list_dir(dir)?.into_iter().filter(|name| !name.starts_with('.')) {
        let path = dir.join(&name);
        let (target, says, real) = match fs::kind(&path) {
            Ok(Some(Kind::Directory)) => (None, None, Some(base.join(&name))),
            Ok(Some(Kind::Symlink)) => {
                let Ok(Some(target)) = fs::read_link(&path) else { continue };
                // This also holds if the canonical place is itself a link, as for an editable skill.
                let says = normal(&base.join(&target));
                // Usually it leads to the canonical copy, and the directories above need not be examined.
                let real = match fs::kind(&says) {
                    Ok(Some(Kind::Directory)) if says.parent() == Some(&skills) => Some(says.clone()),
                    _ => match fs::real_path(&path) {
                        Ok(real) => real,
                        Err(_) => continue,
                    },
                };
                (Some(target), Some(says), real)
            }
            _ => continue,
        };
        // Something that is not a directory contains no skill.
        let is_skill = real.as_deref().is_some_and(|real| matches!(skill_file(real), Ok(Some(_))));
        let known = installed.contains(&name);
        let says_canonical = says.is_some_and(|says| says.parent() == Some(&skills));
        let form = match (&target, &real) {
            (Some(_), None) => Form::Broken,
            _ if !is_skill => continue,
            (None, _) if is_canonical => Form::Canonical,
            (Some(_), _) if is_canonical && known => Form::Canonical,
            (Some(_), Some(real)) if real.parent() == Some(&skills) || says_canonical => Form::Link,
            (None, _) if known => Form::Copy,
            _ => Form::Foreign,
        };
        seen.push(Seen { name, path, form, target, real });
    }
    Ok(seen)
}

/// A skill that an agent finds in more than one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twice {
    /// The name.
    pub name: String,
    /// The places, in the order of the agent's directories.
    pub places: Vec<PathBuf>,
    /// Whether they all lead to one directory.
    pub same: bool,
}

/// Returns a key that is equal for names that some file system or agent treats as equal: case and NFKC are
/// ignored.
pub fn alike(name: &str) -> String {
    collision_key(name).nfkc().collect()
}

/// Returns the skills whose name is in several directories of an agent. Ignores directories that are not
/// certain to be read, and broken links.
pub fn twice<'a>(directories: impl IntoIterator<Item = (Role, &'a [Seen])>) -> Vec<Twice> {
    let mut by_name: BTreeMap<String, Vec<&Seen>> = BTreeMap::new();
    for (role, seen) in directories {
        for skill in seen.iter().filter(|skill| role != Role::Other && skill.form != Form::Broken) {
            by_name.entry(alike(&skill.name)).or_default().push(skill);
        }
    }
    let mut found = Vec::new();
    for seen in by_name.into_values().filter(|seen| seen.len() > 1) {
        let real: BTreeSet<_> = seen.iter().map(|skill| &skill.real).collect();
        found.push(Twice {
            name: seen[0].name.clone(),
            places: seen.iter().map(|skill| skill.path.clone()).collect(),
            same: real.len() == 1,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;
    use crate::install::index::Index;

    fn settings(cwd: &Path, home: &Path) -> Settings {
        let vars = [("HOME".into(), home.into())].into();
        Settings::from_env(Env { vars, cwd: cwd.to_owned(), interactive: false }).expect("valid")
    }

    fn agent(id: &str) -> &'static Agent {
        agents::find(id).expect("in the table")
    }

    fn of(id: &str, kind: ScopeKind) -> Vec<(String, Role)> {
        let settings = settings(Path::new("/p"), Path::new("/h"));
        let root = PathBuf::from(if kind == ScopeKind::Project { "/p" } else { "/h" });
        let (manifest, lockfile) = (PathBuf::new(), PathBuf::new());
        let scope = Scope { kind, root, manifest, lockfile, user_manifest: None, index: Index::default() };
        directories(&settings, &scope, agent(id))
            .into_iter()
            .map(|dir| (dir.path.display().to_string(), dir.role))
            .collect()
    }

    fn list(expected: &[(&str, Role)]) -> Vec<(String, Role)> {
        expected.iter().map(|(path, role)| ((*path).to_owned(), *role)).collect()
    }

    #[test]
    fn where_agents_read() {
        let project = ScopeKind::Project;
        assert_eq!(of("claude-code", project), list(&[("/p/.claude/skills", Role::Own)]));
        assert_eq!(
            of("cursor", project),
            list(&[
                ("/p/.agents/skills", Role::Canonical),
                ("/p/.cursor/skills", Role::Other),
                ("/p/.claude/skills", Role::Shared),
                ("/p/.codex/skills", Role::Shared),
            ])
        );
        assert_eq!(
            of("cursor", ScopeKind::User),
            list(&[
                ("/h/.agents/skills", Role::Canonical),
                ("/h/.cursor/skills", Role::Own),
                ("/h/.claude/skills", Role::Shared),
                ("/h/.codex/skills", Role::Shared),
            ])
        );
        assert_eq!(
            of("roo", project),
            list(&[("/p/.roo/skills", Role::Own), ("/p/.agents/skills", Role::Canonical)])
        );
        assert!(of("eve", ScopeKind::User).is_empty(), "it only knows projects");
    }

    #[test]
    fn a_skill_is_there_twice_where_two_directories_are_surely_read() {
        let seen = |path: &str, form, real: &str| Seen {
            name: path.rsplit('/').next().expect("a name").to_owned(),
            path: path.into(),
            form,
            target: None,
            real: (!real.is_empty()).then(|| real.into()),
        };
        let canonical =
            [seen("/a/pdf", Form::Canonical, "/a/pdf"), seen("/a/docx", Form::Canonical, "/a/docx")];
        let shared = [seen("/c/pdf", Form::Link, "/a/pdf"), seen("/c/gone", Form::Broken, "")];
        let other = [seen("/o/docx", Form::Foreign, "/o/docx")];
        let dirs: [(Role, &[Seen]); 3] =
            [(Role::Canonical, &canonical), (Role::Shared, &shared), (Role::Other, &other)];
        let found = twice(dirs);
        let places = vec![PathBuf::from("/a/pdf"), PathBuf::from("/c/pdf")];
        assert_eq!(found, [Twice { name: "pdf".to_owned(), places, same: true }]);
        let own: [(Role, &[Seen]); 2] = [(Role::Canonical, &canonical), (Role::Own, &other)];
        let found = twice(own);
        assert_eq!((found[0].name.as_str(), found[0].same), ("docx", false));
    }

    #[cfg(unix)]
    #[test]
    fn what_lies_in_a_directory() {
        let dir = tempfile::tempdir().expect("a directory");
        let root = fs::real_path(dir.path()).expect("looks").expect("is there");
        let scope = Scope {
            kind: ScopeKind::Project,
            root: root.clone(),
            manifest: PathBuf::new(),
            lockfile: PathBuf::new(),
            user_manifest: None,
            index: Index::default(),
        };
        let (skills, own) = (scope.skills_dir(), root.join(".claude/skills"));
        for path in
            [skills.join("pdf"), skills.join("new"), own.join("copy"), own.join("mine"), own.join("empty")]
        {
            fs::create_dir_all(&path).expect("creates");
            if !path.ends_with("empty") {
                fs::write_atomic(&path.join("SKILL.md"), b"x").expect("writes");
            }
        }
        let link = |target: &str, name: &str| fs::symlink(Path::new(target), &own.join(name)).expect("links");
        link("../../.agents/skills/pdf", "pdf");
        link("../../.agents/skills/pdf", "alias");
        link("../../elsewhere", "gone");
        link("mine", "linked");
        fs::write_atomic(&own.join("file"), b"x").expect("writes");
        let installed = ["pdf", "copy"].map(ToOwned::to_owned).into();
        let forms = |dir: &Path| {
            let seen = look(dir, &scope, &installed).expect("reads");
            seen.into_iter().map(|skill| format!("{} {:?}", skill.name, skill.form)).collect::<Vec<_>>()
        };
        assert_eq!(forms(&skills), ["new Canonical", "pdf Canonical"]);
        assert_eq!(
            forms(&own),
            ["alias Link", "copy Copy", "gone Broken", "linked Foreign", "mine Foreign", "pdf Link"]
        );
        assert!(forms(&root.join("nothing")).is_empty());
        fs::symlink(Path::new("../.agents/skills"), &root.join(".goose/skills")).expect("links");
        assert_eq!(forms(&root.join(".goose/skills")), ["new Canonical", "pdf Canonical"]);
    }
}
