//! The views of agents: the directories that each of them reads, and the skills in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use super::Scope;
use super::files::Files;
use crate::advice::{Message, Opt, Verb, message};
use crate::agents::{self, Agent};
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::path::collision_key;
use crate::scope_kind::ScopeKind;
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
            if agent.is_universal() {
                dirs.push((scope.skills_dir(), Role::Canonical));
            }
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

/// Returns the ids or aliases of the agents that the manifest and the lockfile name.
pub fn named(files: &Files) -> impl Iterator<Item = &str> {
    let own = files.manifest.skills().values().filter_map(|entry| entry.agents.as_ref());
    let targets = files.manifest.agents().targets.iter().chain(own).flatten();
    targets.chain(files.lock.skills.values().flat_map(|locked| &locked.agents)).map(String::as_str)
}

/// Returns how to show all skills of `scope` to the agents `unseen`, which nobody chose there: for the user alone, whose agents
/// are `used`, or for everybody who works in the project.
pub(crate) fn way_to_see(scope: Option<ScopeKind>, unseen: &[&str], used: &[&'static str]) -> Message {
    let link = scope.map_or_else(|| Verb::Link.call(), |scope| Verb::Link.within(scope));
    let link = link.options(unseen.iter().map(|id| (Opt::Agent, *id)));
    if scope == Some(ScopeKind::User) {
        return message!(link, " links all skills, and those to come");
    }
    let own = Verb::Agents.call().word("use").words(used.iter());
    message!(own, " links them for you alone, ", link, " for everybody")
}

/// An agent on this machine that does not see some installed skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unseen {
    /// The agent's id.
    pub agent: String,
    /// The names of the skills that it does not see.
    pub skills: Vec<String>,
    /// The agents that the user uses, of which this is one.
    #[serde(skip)]
    pub used: Vec<&'static str>,
    /// Whether a link to somewhere else is in the way of one of its links.
    #[serde(skip)]
    pub blocked: bool,
    /// Whether the manifest names it: it only lacks its links.
    #[serde(skip)]
    pub chosen: bool,
}

/// Returns the names of the skills that agents should see according to `files`.
pub(crate) fn in_sight(files: &Files) -> BTreeSet<&str> {
    let is_disabled =
        |name: &SkillName| files.manifest.skills().get(name).is_some_and(|entry| entry.disabled);
    let editable = files.manifest.skills().iter().filter(|(_, entry)| entry.editable).map(|(name, _)| name);
    let names = files.lock.skills.keys().chain(editable);
    names.filter(|name| !is_disabled(name)).map(SkillName::as_str).collect()
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
    /// The form.
    pub form: Form,
    /// The target of its link, as written in the link.
    pub target: Option<PathBuf>,
    /// The directory with all links resolved.
    pub real: Option<PathBuf>,
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
pub fn twice<'a, S: IntoIterator<Item = &'a Seen>>(
    directories: impl IntoIterator<Item = (Role, S)>,
) -> Vec<Twice> {
    let mut by_name: BTreeMap<String, Vec<&Seen>> = BTreeMap::new();
    for (role, seen) in directories {
        for skill in seen.into_iter().filter(|skill| role != Role::Other && skill.form != Form::Broken) {
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
    use std::path::Path;

    use super::*;
    use crate::env::Env;
    use crate::scope::index::Index;

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
            list(&[("/p/.agents/skills", Role::Canonical), ("/p/.roo/skills", Role::Own)])
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
}
