//! The records of other tools, and skills without any record.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::agents::{self, Agent};
use crate::context::Context;
use crate::document::Document;
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs::{self, Kind};
use crate::interop::gh::{self, Provenance};
use crate::interop::global_lock::{self, GlobalLock};
use crate::interop::skills_lock::{self, SkillsLock};
use crate::interop::source::{self, Fields};
use crate::interop::{ForeignError, directory_name};
use crate::name::SkillName;
use crate::path::normal;
use crate::scope::Scope;
use crate::scope::files::Files;
use crate::scope::in_use::InUse;
use crate::scope_kind::ScopeKind;
use crate::skill::{MAX_SKILL_FILE, SKILL_FILE, load_in};
use crate::spec::{Origin, SourceSpec};

/// The largest file of another tool that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// A skill that another tool installed, or that is there.
#[derive(Debug)]
pub(crate) struct Claim {
    /// As its author writes the name, or what its directory is called.
    pub name: String,
    /// The name of the directory.
    pub directory: String,
    /// The record that names it.
    pub found_in: FoundIn,
    /// Where it comes from, or why that is not known.
    pub source: std::result::Result<SourceSpec, String>,
    /// By what its version can be determined.
    pub proof: Proof,
}

impl Claim {
    /// Returns the name under which skillpm would keep it, if it is one.
    pub(crate) fn install_name(&self) -> Option<SkillName> {
        SkillName::new(&self.directory).ok().filter(|name| name.as_str() == self.directory)
    }
}

/// The means of distinguishing the installed version from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The npm tool's hash of the directory in the source.
    Computed(String),
    /// The id that git gives the directory in the source.
    Tree(String),
    /// The npm tool's digest of a skill of a site.
    Site(String),
    /// Nothing.
    None,
}

/// The origin of the report about a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FoundIn {
    /// `skills-lock.json`.
    SkillsLock,
    /// `.skill-lock.json` of the user.
    GlobalLock,
    /// The frontmatter of the copy, which `gh skill` wrote.
    GhSkill,
    /// None: a directory with a `SKILL.md`.
    Directory,
    /// None: a directory with a `SKILL.md` that no agent can load.
    Unreadable,
}

impl FoundIn {
    /// Returns the tool that installed the skill, for display; `None` for a directory that no tool claims.
    pub fn tool(self) -> Option<&'static str> {
        match self {
            Self::SkillsLock | Self::GlobalLock => Some("npx skills"),
            Self::GhSkill => Some("gh skill"),
            Self::Directory | Self::Unreadable => None,
        }
    }
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    /// Each directory once; what a lockfile says comes before what a copy says of itself.
    pub claims: Vec<Claim>,
    /// The files that were read.
    pub read: Vec<String>,
}

impl Claims {
    fn add(&mut self, claim: Claim) {
        if self.claims.iter().all(|other| other.directory != claim.directory) {
            self.claims.push(claim);
        }
    }

    /// Reads a file, if it is there.
    fn text(&mut self, path: &Path) -> Result<Option<String>> {
        let text = fs::read_text(path, MAX_FILE)?;
        if text.is_some() {
            self.read.push(path.display().to_string());
        }
        Ok(text)
    }

    fn skills_lock(&mut self, path: &Path) -> Result<()> {
        let Some(text) = self.text(path)? else { return Ok(()) };
        let lock = SkillsLock::parse(&text).map_err(|error| foreign_error(path, error))?;
        for (name, entry) in lock.skills {
            let fields = Fields {
                kind: entry.get("sourceType").unwrap_or_default(),
                source: entry.get("source").unwrap_or_default(),
                url: entry.get("sourceUrl"),
                reference: entry.get("ref"),
                skill_path: entry.get("skillPath"),
            };
            self.add(Claim {
                directory: directory_name(&name),
                name,
                found_in: FoundIn::SkillsLock,
                source: located(path, fields),
                proof: Proof::Computed(entry.get("computedHash").unwrap_or_default().to_owned()),
            });
        }
        Ok(())
    }

    fn global_lock(&mut self, path: &Path) -> Result<()> {
        let Some(text) = self.text(path)? else { return Ok(()) };
        let lock = GlobalLock::parse(&text).map_err(|error| foreign_error(path, error))?;
        for (name, entry) in lock.skills {
            let kind = entry.get("sourceType").unwrap_or_default();
            let fields = Fields {
                kind,
                source: entry.get("source").unwrap_or_default(),
                // For sites it is the address of one skill; this one is what was typed.
                url: entry.get("sourceBaseUrl").or(entry.get("sourceUrl")),
                reference: entry.get("pinnedRef").or(entry.get("ref")),
                skill_path: entry.get("skillPath"),
            };
            let proof = match entry.get("skillFolderHash") {
                // It is empty for a site, and where GitHub could not be asked.
                None | Some("") => {
                    entry.get("wellKnownDigest").map_or(Proof::None, |digest| Proof::Site(digest.to_owned()))
                }
                Some(hash) if hash.len() == 40 => Proof::Tree(hash.to_owned()),
                Some(hash) => Proof::Computed(hash.to_owned()),
            };
            let found_in = FoundIn::GlobalLock;
            let source = located(path, fields);
            self.add(Claim { directory: directory_name(&name), name, found_in, source, proof });
        }
        Ok(())
    }

    /// Looks at the skills in `dir` that no lockfile named.
    fn directories(&mut self, dir: &Path, known: &BTreeSet<String>) -> Result<()> {
        for directory in fs::list_dir(dir)? {
            let place = dir.join(&directory);
            let file = place.join(SKILL_FILE);
            let is_skill = fs::kind(&place)? == Some(Kind::Directory) && fs::kind(&file)? == Some(Kind::File);
            if !is_skill || known.contains(&directory) {
                continue;
            }
            let document = fs::read_capped(&file, MAX_SKILL_FILE)?.map(Document::from_bytes);
            let provenance = document.as_ref().and_then(gh::provenance);
            let name = document.as_ref().and_then(Document::name).unwrap_or(&directory).to_owned();
            let problem = document.as_ref().and_then(|document| load_in(document, Some(&directory)).err());
            let found_in = match (&provenance, &problem) {
                (Some(_), _) => FoundIn::GhSkill,
                (None, None) => FoundIn::Directory,
                (None, Some(_)) => FoundIn::Unreadable,
            };
            let unknown = || match problem {
                Some(problem) => format!("`{SKILL_FILE}` cannot be loaded: {problem}"),
                None => "no file says where it comes from".to_owned(),
            };
            let (source, proof) = match provenance {
                None => (Err(unknown()), Proof::None),
                Some(Provenance::Local(path)) => (Ok(SourceSpec::local(&path)), Proof::None),
                Some(Provenance::GitHub { repository, reference, path, tree }) => {
                    let fields = Fields {
                        kind: "git",
                        source: &repository,
                        url: None,
                        reference: reference.as_deref(),
                        skill_path: path.as_deref(),
                    };
                    (source::spec(fields), tree.map_or(Proof::None, Proof::Tree))
                }
            };
            self.add(Claim { name, directory, found_in, source, proof });
        }
        Ok(())
    }
}

/// Returns what reported the skills that are in `scope` and that skillpm did not install, by the names of their
/// directories. What cannot be read says nothing.
pub(crate) fn found_in(context: &Context, scope: &Scope, files: &Files) -> BTreeMap<String, FoundIn> {
    let everyone = everyone(context, scope, files);
    let found = collect(context, scope, files, &everyone, None);
    let claims = found.map(|found| found.claims).unwrap_or_default();
    claims.into_iter().map(|claim| (claim.directory, claim.found_in)).collect()
}

/// Collects what there is in `scope`, or in `file` if one is named.
pub(crate) fn collect(
    context: &Context,
    scope: &Scope,
    files: &Files,
    agents: &[&'static Agent],
    file: Option<&Path>,
) -> Result<Claims> {
    let settings = &context.settings;
    let mut found = Claims::default();
    if let Some(file) = file {
        let path = normal(&settings.cwd.join(file));
        if path.file_name().is_some_and(|name| name == global_lock::FILE_NAME) {
            found.global_lock(&path)?;
        } else {
            found.skills_lock(&path)?;
        }
        if found.read.is_empty() {
            return Err(Error::usage(format!("`{}` does not exist", file.display())).hint(
                "name a `skills-lock.json` or `.skill-lock.json`, or leave it out: skillpm looks for both",
            ));
        }
        return Ok(found);
    }
    match scope.kind {
        ScopeKind::Project => {
            found.skills_lock(&scope.root.join(skills_lock::FILE_NAME))?;
            elsewhere(scope, &settings.cwd, &found)?;
        }
        ScopeKind::User => {
            // `$XDG_STATE_HOME` is the npm tool's; `gh` knows the other place only.
            if let Some(state) = settings.env.path(crate::env::XDG_STATE_HOME) {
                found.global_lock(&state.join("skills").join(global_lock::FILE_NAME))?;
            }
            found.global_lock(&scope.work_dir().join(global_lock::FILE_NAME))?;
        }
    }
    let known = files.lock.skills.keys().map(ToString::to_string).collect();
    scope.check_inside(&scope.skills_dir())?;
    found.directories(&scope.skills_dir(), &known)?;
    for dir in agent_dirs(context, scope, agents) {
        found.directories(&dir, &known)?;
    }
    Ok(found)
}

/// Returns all agents. Of those that share a directory, the ones that the manifest names and those that are here come
/// first, because what is in it is reported about the first.
pub(crate) fn everyone(context: &Context, scope: &Scope, files: &Files) -> Vec<&'static Agent> {
    let named: Vec<&str> = named(files).map(|agent| agent.id).collect();
    let mut everyone: Vec<_> = agents::all().iter().collect();
    let in_use = InUse::read(&context.settings);
    everyone.sort_by_key(|agent| (!named.contains(&agent.id), !in_use.has(&context.settings, scope, agent)));
    everyone
}

/// Returns the agents that the manifest of `files` names.
pub(crate) fn named(files: &Files) -> impl Iterator<Item = &'static Agent> {
    files.manifest.agents().targets.iter().flatten().filter_map(|target| agents::find(target).ok())
}

/// Returns the agents' own directories, each once. In a project, a directory such as `skills/` belongs to authors, and one
/// that a link leads out of the project is not the project's.
fn agent_dirs(context: &Context, scope: &Scope, agents: &[&'static Agent]) -> Vec<PathBuf> {
    let hidden = |agent: &&&Agent| scope.kind == ScopeKind::User || agent.project_dir().starts_with('.');
    let mut dirs: Vec<PathBuf> = Vec::new();
    for agent in agents.iter().filter(hidden) {
        let Some(dir) = scope.agent_dir(&context.settings, agent) else { continue };
        if dir == scope.skills_dir() || dirs.contains(&dir) || !fs::exists(&dir) {
            continue;
        }
        if scope.check_inside(&dir).is_ok() {
            dirs.push(dir);
        }
    }
    dirs
}

/// The npm tool keeps its file in the directory where it runs, which is not always the project's root.
fn elsewhere(scope: &Scope, cwd: &Path, found: &Claims) -> Result<()> {
    let here = cwd.join(skills_lock::FILE_NAME);
    if !found.read.is_empty() || cwd == scope.root || fs::kind(&here)?.is_none() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "`{}` is not in the project's root, `{}`",
        here.display(),
        scope.root.display()
    ))
    .hint("make its directory a project of its own, with an empty `skillpm.toml`, and run the command again"))
}

/// Returns the source that `fields` of the file at `path` mean. Paths are relative to the file.
fn located(path: &Path, fields: Fields<'_>) -> std::result::Result<SourceSpec, String> {
    let spec = source::spec(fields)?;
    let Some(local) = spec.origin.local_path() else { return Ok(spec) };
    let full = normal(&path.parent().unwrap_or(Path::new("")).join(local));
    let text = full.to_str().ok_or_else(|| format!("the path `{}` is not UTF-8", full.display()))?;
    Ok(SourceSpec { origin: Origin::local(text), ..spec })
}

/// Returns the error for the file of another tool at `path`.
pub(crate) fn foreign_error(path: &Path, error: ForeignError) -> Error {
    let place = FilePosition::new(path, error.line, error.column);
    Error::at(ErrorKind::Config, place, error.message).hint(error.hint)
}
