//! `show`: describes a skill.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::list::{self, ListedSkill};
use crate::advice::{Warning, message};
use crate::context::Context;
use crate::document::Document;
use crate::engine::prerequisites::{Machine, of_directory};
use crate::engine::resources::{self, Item, ItemKind};
use crate::engine::{Hit, Instructions, Skill, Snapshot, Source, SourceKind, failed, sources_of, with_least};
use crate::error::{Error, Result};
use crate::fetch::alarms::alarms;
use crate::fetch::policy_check::skill_file;
use crate::fs;
use crate::lint;
use crate::name::SkillName;
use crate::profile::LoadProfile;
use crate::scope::trees::Trees;
use crate::scope::{Roots, Scopes};
use crate::scope_kind::ScopeKind;
use crate::session::named::{find_among, path_or};
use crate::skill::find::is_skill_file;
use crate::skill::prerequisites::CheckedPrerequisite;
use crate::skill::{DeviationKind, SKILL_FILE, SkillMeta};
use crate::tokens;

/// A request to show a skill.
#[derive(Debug, Clone, Default)]
pub struct ShowRequest {
    /// The name.
    pub name: String,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
    /// How skills are found and loaded.
    pub profile: LoadProfile,
    /// More directories of skills, which the others override.
    pub dirs: Vec<PathBuf>,
}

/// A description of a skill. The JSON form of this and the other values here is an interface: fields are only
/// added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShowOutcome {
    /// The frontmatter. Absent fields are left out.
    #[serde(flatten)]
    pub meta: SkillMeta,
    /// The scope in which it is; `None` for a directory that no search finds.
    pub scope: Option<ScopeKind>,
    /// The directory.
    pub location: String,
    /// The file.
    pub file: String,
    /// The approximate number of tokens of each level.
    pub tokens: Tokens,
    /// Everything in its directory, sorted by path.
    pub files: Vec<ShownFile>,
    /// The entry of `list`; `None` if it is neither in the lockfile nor in a canonical place.
    pub installed: Option<ListedSkill>,
    /// The skill that agents use instead.
    pub shadowed_by: Option<Other>,
    /// The skills of its name that it hides.
    pub shadows: Vec<Other>,
    /// The deviations in its file that were tolerated.
    pub deviations: Vec<ShownDeviation>,
    /// What it requires of this machine, and whether that is there. Nothing is started to find out, so nothing is known
    /// of Python packages.
    pub requires: Vec<CheckedPrerequisite>,
    /// The warnings before an installation: about hidden text, and code that runs unasked.
    pub alarms: Vec<Warning>,
    /// Warnings about what could not be examined, and for the user.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// The project and the user's home, for shorter paths.
    #[serde(skip)]
    pub roots: Roots,
}

/// The approximate number of tokens of a skill's levels for a language model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tokens {
    /// Name and description, which an agent always has.
    pub metadata: usize,
    /// The instructions, which it gets when it activates the skill.
    pub body: usize,
    /// All other files that are text, which it may read.
    pub resources: usize,
}

/// An entry in the skill's directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownFile {
    /// The path below the skill's directory, `/`-separated.
    pub path: String,
    /// The kind.
    pub kind: FileKind,
    /// The size in bytes of a regular file.
    pub size: Option<u64>,
    /// Whether it may be executed.
    pub executable: bool,
    /// The digest of the content of a regular file that can be read.
    pub digest: Option<String>,
    /// The text of a link.
    pub target: Option<String>,
}

/// The kind of an entry in a skill's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A link.
    Link,
    /// A pipe, socket or device.
    Special,
}

/// Another skill of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Other {
    /// The scope in which it is.
    pub scope: ScopeKind,
    /// The directory.
    pub location: String,
    /// The name that finds it although it is hidden: `source:name`, or `source:path` if its source has two of its name.
    pub reference: String,
}

/// A deviation that was tolerated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownDeviation {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// A description of the deviation.
    pub message: String,
    /// Whether it is a field that an agent documents, which is no fault.
    #[serde(skip)]
    pub documented: bool,
}

impl ShowOutcome {
    /// Returns the deviations that are faults.
    pub fn faults(&self) -> impl Iterator<Item = &ShownDeviation> {
        self.deviations.iter().filter(|deviation| !deviation.documented)
    }
}

/// Describes a skill: its content, its origin and the skills that it hides.
///
/// # Errors
///
/// Fails for an unknown skill, for one that cannot be loaded, and for a directory that cannot be read.
pub fn show(context: &Context, request: &ShowRequest) -> Result<ShowOutcome> {
    let profile = &request.profile;
    let more = request.dirs.iter();
    let more = more.map(|dir| Source::new(SourceKind::Extra, context.settings.env.cwd.join(dir)));
    let all = with_least(sources_of(&context.settings, profile)?, more, profile);
    let wanted = |source: &&Source| request.scope.is_none_or(|scope| source.is_of(scope.into()));
    let sources: Vec<Source> = all.iter().filter(wanted).cloned().collect();
    let hit = path_or(context, &request.name, || -> Result<Hit> {
        Ok(find_among(context, &request.name, &Snapshot::of(&sources, profile)?, request.scope)?)
    })?;
    let read = Instructions::read(&hit.skill, profile);
    let Instructions { skill, body } = read.map_err(|diagnostic| failed(&request.name, diagnostic))?;
    let Skill { meta, kind, dir, file, deviations, .. } = &*skill;
    let items = resources::inventory(dir).map_err(|error| {
        Error::io(format!("the files of the skill `{}` cannot be read", meta.name)).because(error)
    })?;
    let is_resource = |item: &&Item| !is_skill_file(&item.path);
    let tokens = Tokens {
        metadata: tokens::estimate(&meta.name) + tokens::estimate(&meta.description),
        body: tokens::estimate(&body),
        resources: items.iter().filter(is_resource).filter_map(Item::tokens).sum(),
    };
    let mut warnings = hit.warnings.clone();
    let installed = installed(context, &hit.skill, &mut warnings).unwrap_or_else(|error| {
        let told = message!("its source is unknown: ", error.with_causes());
        warnings.push(Warning::new(error.code(), told));
        None
    });
    let (shadowed_by, shadows) = others(&all, profile, &hit.skill)?;
    let alarms = alarms_in(&hit.skill).unwrap_or_else(|error| {
        warnings.push(error.into());
        Vec::new()
    });
    Ok(ShowOutcome {
        meta: meta.clone(),
        scope: scope_of(*kind),
        location: dir.display().to_string(),
        file: file.display().to_string(),
        tokens,
        files: items.into_iter().map(shown).collect(),
        installed,
        shadowed_by,
        shadows,
        deviations: deviations
            .iter()
            .map(|deviation| ShownDeviation {
                line: deviation.at.line,
                column: deviation.at.column,
                message: deviation.to_string(),
                documented: matches!(&deviation.kind, DeviationKind::UnknownField(name) if lint::is_of_client(name)),
            })
            .collect(),
        requires: Machine::new(&context.settings).check(dir, of_directory(dir)),
        alarms,
        warnings,
        roots: roots(context),
    })
}

/// Returns the warnings that an installation of the skill would give.
fn alarms_in(skill: &Skill) -> Result<Vec<Warning>> {
    // A name that no installed skill can have is reported by its deviations.
    let Ok(name) = SkillName::new(&skill.meta.name) else { return Ok(Vec::new()) };
    // Nor can files that no installed skill may have be copied anywhere.
    let Ok(lying) = Trees::default().read(&skill.dir) else { return Ok(Vec::new()) };
    let Some(file) = skill_file(&lying.files) else { return Ok(Vec::new()) };
    let is_beside = |name: &str| fs::exists(&skill.dir.with_file_name(name).join(SKILL_FILE));
    Ok(alarms(&name, &lying.files, &Document::from_bytes(lying.files.read(file)?), &is_beside)?)
}

/// Returns the skill's entry of `list`, if it is where `list` looks.
fn installed(context: &Context, skill: &Skill, warnings: &mut Vec<Warning>) -> Result<Option<ListedSkill>> {
    let name = skill.dir.file_name().and_then(|name| name.to_str());
    let Some(name) = name.and_then(|name| SkillName::new(name).ok()) else { return Ok(None) };
    let Some(scope) = scope_of(skill.kind) else { return Ok(None) };
    let Some((listed, told)) = list::one(context, scope, &name)? else { return Ok(None) };
    let lies_there = fs::real_path(listed.location.as_ref())?.is_some_and(|real| real == skill.real);
    if !lies_there {
        return Ok(None);
    }
    warnings.extend(told);
    Ok(Some(listed))
}

/// Returns the scope of a source: the default ones belong to one of the two.
fn scope_of(kind: SourceKind) -> Option<ScopeKind> {
    match kind {
        SourceKind::Project => Some(ScopeKind::Project),
        SourceKind::User => Some(ScopeKind::User),
        SourceKind::Extra | SourceKind::Bundled => None,
    }
}

/// Returns the skill that hides this one, and those that it hides. A skill that no search finds hides none.
fn others(sources: &[Source], profile: &LoadProfile, skill: &Skill) -> Result<(Option<Other>, Vec<Other>)> {
    if scope_of(skill.kind).is_none() {
        return Ok((None, Vec::new()));
    }
    let found = Snapshot::of(sources, profile)?;
    let is_other = |other: &&Arc<Skill>| other.has_name_of(skill) && other.real != skill.real;
    let all = || found.skills().iter().chain(found.shadowed()).filter(|one| one.has_name_of(skill));
    let other = |other: &Arc<Skill>| {
        let source = sources.iter().find(|source| source.name == other.source);
        let path = source.and_then(|source| other.path_below(source));
        let is_only_one = all().filter(|one| one.source == other.source).count() == 1;
        let name = path.filter(|_| !is_only_one).unwrap_or_else(|| other.meta.name.clone());
        let location = other.dir.display().to_string();
        let reference = format!("{}:{name}", other.source);
        Some(Other { scope: scope_of(other.kind)?, location, reference })
    };
    let used = found.skills().iter().find(is_other).and_then(other);
    Ok(match used {
        Some(used) => (Some(used), Vec::new()),
        None => (None, found.shadowed().iter().filter(is_other).filter_map(other).collect()),
    })
}

fn shown(item: Item) -> ShownFile {
    let Item { path, kind } = item;
    let plain = ShownFile {
        path,
        kind: FileKind::Special,
        size: None,
        executable: false,
        digest: None,
        target: None,
    };
    match kind {
        ItemKind::File { size, executable, digest, .. } => ShownFile {
            kind: FileKind::File,
            size: Some(size),
            executable,
            digest: digest.map(|digest| digest.to_string()),
            ..plain
        },
        ItemKind::Link(target) => ShownFile { kind: FileKind::Link, target: Some(target), ..plain },
        ItemKind::Special(_) => plain,
    }
}

/// Returns the roots of the available scopes.
fn roots(context: &Context) -> Roots {
    let scopes = Scopes::new(&context.settings, None).unwrap_or_default().there;
    let root = |kind| scopes.iter().find(|scope| scope.kind == kind).map(|scope| scope.root.as_path());
    Roots::new(&context.settings.cwd, root(ScopeKind::Project), root(ScopeKind::User))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    fn shown(world: &World, name: &str, scope: Option<ScopeKind>) -> ShowOutcome {
        let request = ShowRequest { name: name.into(), scope, ..ShowRequest::default() };
        show(&world.context(), &request).expect("shows")
    }

    /// Conflict C6: every field, extra ones too, and what each level costs.
    #[test]
    fn fields_files_and_tokens() {
        let world = World::new();
        let text = "---\nname: pdf\ndescription: Reads PDF.\nlicense: MIT\nmodel: opus\nmetadata:\n  version: 1.10\n---\nBody text.\n";
        world.write(".agents/skills/pdf/SKILL.md", text);
        world.write(".agents/skills/pdf/references/a.md", "# A\n");
        world.write(".agents/skills/pdf/logo", "a\0b");
        let outcome = shown(&world, "pdf", None);
        assert_eq!(
            (outcome.meta.version.as_deref(), outcome.meta.license.as_deref()),
            (Some("1.10"), Some("MIT"))
        );
        assert_eq!(outcome.meta.extra["model"], "opus");
        assert_eq!(outcome.tokens, Tokens { metadata: 4, body: 4, resources: 3 });
        let files: Vec<_> = outcome.files.iter().map(|file| (file.path.as_str(), file.size)).collect();
        assert_eq!(
            files,
            [("SKILL.md", Some(text.len() as u64)), ("logo", Some(3)), ("references/a.md", Some(4))]
        );
        let deviation = &outcome.deviations[0];
        assert_eq!((deviation.line, deviation.column), (5, 1), "{deviation:?}");
        assert!(deviation.message.contains("`model`"), "{deviation:?}");
        let installed = outcome.installed.expect("it is where `list` looks");
        assert_eq!(installed.state, list::SkillState::Untracked);
    }

    /// A directory is examined wherever it is; a directory that a search finds has the result of the search.
    #[test]
    fn a_directory() {
        let world = World::new();
        world.skill("src/pdf", "pdf");
        world.skill(".claude/skills/pdf", "pdf");
        let outcome = shown(&world, "./src/pdf", None);
        assert!(outcome.location.ends_with("project/src/pdf"), "{outcome:?}");
        assert_eq!((outcome.scope, outcome.installed, outcome.shadowed_by), (None, None, None));
        let same = shown(&world, "./.claude/skills/pdf/SKILL.md", None);
        assert_eq!(same, shown(&world, "pdf", None));
        assert_eq!(same.scope, Some(ScopeKind::Project));
    }

    /// S0-E7, conflict C1: which skill hides which, from both sides.
    #[test]
    fn shadows() {
        let world = World::new();
        world.skill(".claude/skills/mine", "pdf");
        world.skill("../home/.agents/skills/pdf", "pdf");
        world.skill("../home/.claude/skills/other", "pdf");
        let ends = |other: &Other, end: &str| assert!(other.location.ends_with(end), "{other:?}");
        let outcome = shown(&world, "pdf", None);
        ends(&outcome.shadows[0], "home/.agents/skills/pdf");
        ends(&outcome.shadows[1], "home/.claude/skills/other");
        assert_eq!((outcome.shadows.len(), outcome.shadowed_by), (2, None));
        let references: Vec<_> = outcome.shadows.iter().map(|other| other.reference.as_str()).collect();
        assert_eq!(references, ["user:pdf", "user-claude:pdf"]);
        for other in &outcome.shadows {
            assert_eq!(shown(&world, &other.reference, None).location, other.location);
        }
        assert_eq!(outcome.installed, None, "`list` does not look there");
        let outcome = shown(&world, "pdf", Some(ScopeKind::User));
        ends(&outcome.shadowed_by.expect("shadowed"), "project/.claude/skills/mine");
        assert_eq!(outcome.scope, Some(ScopeKind::User));
        assert_eq!(outcome.shadows, []);
    }

    #[test]
    fn a_lockfile_that_cannot_be_read_is_told() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.write("skillpm.lock", "nonsense");
        let outcome = shown(&world, "pdf", None);
        assert!(
            outcome.warnings[0].to_string().starts_with("its source is unknown: "),
            "{:?}",
            outcome.warnings
        );
        assert_eq!(outcome.installed, None);
    }
}
