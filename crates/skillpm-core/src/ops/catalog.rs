//! `catalog`: what an agent learns about all skills.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::advice::{Opt, Warning, message};
use crate::context::Context;
use crate::engine::Snapshot;
use crate::engine::catalog::block::{self, BlockError};
use crate::engine::catalog::{Catalog, Options};
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::name::SkillName;
use crate::path::normal;
use crate::profile::{Freshness, LoadProfile};
use crate::scope::Scope;
use crate::scope::not_installed;
use crate::scope_kind::ScopeKind;
use crate::session::places::{OpenedPlaces, Places};
use crate::text::shell_word;

/// The largest file with a block that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// A request for a catalog: its skills, form and destination.
#[derive(Debug, Clone, Default)]
pub struct CatalogRequest {
    /// The content and form of the catalog. The names of disabled skills are added to it, and, if a file is
    /// written, the directory that paths start from.
    pub options: Options,
    /// Only skills of this scope. `None` means both, or the project if a file is written.
    pub scope: Option<ScopeKind>,
    /// Only skills that this agent reads, by id or alias.
    pub agent: Option<String>,
    /// How skills are found and loaded.
    pub profile: LoadProfile,
    /// More directories of skills, which the others override.
    pub dirs: Vec<PathBuf>,
    /// The file that receives the catalog.
    pub write: Option<Write>,
}

/// A file with a block for the catalog.
#[derive(Debug, Clone)]
pub struct Write {
    /// The file. It is created if it does not exist.
    pub file: PathBuf,
    /// Whether to only report whether the file would change.
    pub check: bool,
    /// The other flags of the command that makes this catalog: the file names the command.
    pub flags: String,
}

/// The outcome: a catalog for an agent.
#[derive(Debug)]
pub struct CatalogOutcome {
    /// The catalog.
    pub catalog: Catalog,
    /// The skills in the catalog, and those that they hide.
    pub snapshot: Arc<Snapshot>,
    /// The result for the file, if one was named.
    pub written: Option<Written>,
    /// The number of skills that are left out because only people start them.
    pub for_people: usize,
    /// Warnings about what could not be used, and for the user.
    pub warnings: Vec<Warning>,
}

/// The result for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub file: PathBuf,
    /// Whether its block was out of date.
    pub changed: bool,
    /// Whether there is no such file and none is created, because there is nothing to write into it.
    pub none: bool,
}

/// Makes the catalog, and writes it to a file if one is named.
///
/// # Errors
///
/// Fails for an unknown agent. For a file, fails if its markers do not match, if it is not UTF-8, if a link
/// leads it out of the project, if it cannot be read or written, or if a requested skill is missing. A
/// catalog without skills is not an error.
pub fn catalog(context: &Context, request: &CatalogRequest) -> Result<CatalogOutcome> {
    let mut options = request.options.clone();
    // A file is shared with people who have other skills of their own.
    let only = request.scope.or(request.write.as_ref().map(|_| ScopeKind::Project));
    let places = Places {
        scope: only,
        agent: request.agent.clone(),
        dirs: request.dirs.clone(),
        // A file is for one project, and those around it have their own.
        alone: request.write.is_some(),
        only_trusted: false,
    };
    let file = request.write.as_ref().map(|write| normal(&context.settings.cwd.join(&write.file)));
    options.relative_to = file.as_deref().and_then(Path::parent).map(Path::to_owned);
    let profile = LoadProfile { freshness: Freshness::Session, ..request.profile.clone() };
    let OpenedPlaces { session, scopes, mut warnings } = places.open(context, profile)?;
    let shows_all = options.hidden;
    let (catalog, more) = session.catalog(options)?;
    let snapshot = session.snapshot()?;
    let for_people = snapshot.skills().iter().filter(|skill| !shows_all && skill.is_for_people()).count();
    warnings.extend(more);
    let told = snapshot.diagnostics().iter().filter(|diagnostic| diagnostic.is_told());
    warnings.extend(told.map(|diagnostic| Warning::from(&**diagnostic)));
    // This reads both files, so it only happens if an agent would get no skills, or a file would lose
    // entries.
    if request.write.is_some() || snapshot.skills().is_empty() {
        let gone = scopes.iter().flat_map(|scope| not_installed::missing(&context.settings, scope));
        if request.write.is_some() {
            check_whole(gone)?;
        } else {
            warnings.extend(gone.map(|(_, told)| told));
        }
    }
    let written = match (&request.write, file) {
        (Some(write), Some(file)) => Some(put(context, &catalog, file, write)?),
        _ => None,
    };
    Ok(CatalogOutcome { catalog, snapshot, written, for_people, warnings })
}

/// Refuses to write a file that would lose skills only because they are not installed here, as in a fresh
/// clone: others have them.
fn check_whole(missing: impl Iterator<Item = (SkillName, Warning)>) -> Result<()> {
    let missing: Vec<_> = missing.collect();
    let Some((_, told)) = missing.first() else { return Ok(()) };
    let message = match missing.len() {
        1 => "the catalog would be incomplete: a requested skill is not installed".to_owned(),
        count => format!("the catalog would be incomplete: {count} requested skills are not installed"),
    };
    Err(Error::new(ErrorKind::Findings, message).hint(told.clone()))
}

/// Brings the block of `file` up to date, or reports that it is not.
fn put(context: &Context, catalog: &Catalog, file: PathBuf, write: &Write) -> Result<Written> {
    // Links are followed, such as the one from `CLAUDE.md` to `AGENTS.md`, but not to files of others.
    let project = Scope::new(&context.settings, ScopeKind::Project)?;
    project.check_inside(&file)?;
    // As it is typed in the project's root, on every machine.
    let below = file.strip_prefix(&project.root).ok();
    let rest = shell_word(below.or(file.file_name().map(Path::new)).unwrap_or(&file)) + &write.flags;
    let there = fs::read_capped(&file, MAX_FILE)?;
    let is_there = there.is_some();
    let there = there.unwrap_or_default();
    let new = block::put(&there, &catalog.text(), &rest).map_err(|error| match error {
        BlockError::NotUtf8 => Error::config(format!("`{}` was not changed: {error}", file.display()))
            .hint("save the file as UTF-8, then try again"),
        BlockError::Mark(_) => Error::usage(format!("`{}` was not changed: {error}", file.display()))
            .hint(message!("choose another text for ", Opt::Empty)),
        error => Error::config(format!("`{}`, {error}", file.display()))
            .hint("fix the markers, or remove them: then a new block is added at the end"),
    })?;
    let changed = new != there;
    if changed && !write.check {
        fs::write_atomic(&file, &new)?;
    }
    Ok(Written { file, changed, none: !is_there && !changed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    fn asked(world: &World, request: &CatalogRequest) -> Result<CatalogOutcome> {
        catalog(&world.context(), request)
    }

    fn names(world: &World, request: CatalogRequest) -> Vec<String> {
        let options =
            Options { fields: Vec::new(), form: "plain".parse().expect("a form"), ..request.options };
        let outcome = asked(world, &CatalogRequest { options, ..request }).expect("works");
        assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
        outcome.catalog.text().lines().map(str::to_owned).collect()
    }

    /// By scope, by agent, with more directories; disabled skills are left out.
    #[test]
    fn which_skills() {
        let world = World::new();
        for (dir, name) in [
            (".agents/skills/a", "a"),
            (".claude/skills/claude", "claude"),
            (".junie/skills/junie", "junie"),
            ("../home/.agents/skills/mine", "mine"),
            ("more/extra", "extra"),
        ] {
            world.skill(dir, name);
        }
        let default = CatalogRequest::default;
        assert_eq!(names(&world, default()), ["a", "claude", "mine"]);
        assert_eq!(names(&world, CatalogRequest { scope: Some(ScopeKind::User), ..default() }), ["mine"]);
        let agent = |agent: &str| CatalogRequest { agent: Some(agent.into()), ..default() };
        assert!(names(&world, agent("claude-code")).contains(&"claude".to_owned()));
        assert!(!names(&world, agent("claude-code")).contains(&"a".to_owned()));
        assert!(names(&world, agent("junie")).contains(&"junie".to_owned()));
        let error = asked(&world, &agent("gose")).expect_err("unknown");
        assert_eq!(error.kind(), ErrorKind::Usage);
        let more = CatalogRequest { dirs: vec!["more".into()], ..default() };
        assert_eq!(names(&world, more), ["a", "claude", "mine", "extra"]);
        world.write("skillpm.toml", "[skills.a]\npath = \"./x\"\ndisabled = true\n");
        assert_eq!(names(&world, default()), ["claude", "mine"]);
        world.write("skillpm.toml", "[skills.mine]\npath = \"./x\"\ndisabled = true\n");
        assert_eq!(names(&world, default()), ["a", "claude", "mine"], "the user's is another one");
        world.write("skillpm.toml", "nonsense");
        let outcome = asked(&world, &default()).expect("a catalog all the same");
        assert_eq!((outcome.catalog.count, outcome.warnings.len()), (3, 1));
    }

    /// Of equal names the agent decides which counts: Claude Code takes the user's skill, Junie the project's.
    #[test]
    fn an_agent_has_its_own_winner() {
        let world = World::new();
        for dir in [".claude", ".junie", "../home/.claude", "../home/.junie"] {
            world.skill(&format!("{dir}/skills/both"), "both");
        }
        let kind = |agent: &str| {
            let request = CatalogRequest { agent: Some(agent.into()), ..CatalogRequest::default() };
            let outcome = asked(&world, &request).expect("works");
            outcome.snapshot.skills().iter().map(|skill| skill.kind.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(kind("claude-code"), ["user"]);
        assert_eq!(kind("junie"), ["project"]);
    }

    /// Claude Code calls a skill by its directory, Junie by its `name`: of two with one name it lists one.
    #[test]
    fn an_agent_has_its_own_names() {
        let world = World::new();
        for dir in [".claude", ".junie"] {
            world.skill(&format!("{dir}/skills/pdf"), "pdf");
            world.skill(&format!("{dir}/skills/pdf-two"), "pdf");
        }
        let names = |agent: &str| {
            let request = CatalogRequest { agent: Some(agent.into()), ..CatalogRequest::default() };
            names(&world, request)
        };
        assert_eq!(names("claude-code"), ["pdf", "pdf-two"]);
        assert_eq!(names("junie"), ["pdf"]);
    }

    /// A file gets the project's skills, with paths relative to the file, and is stale when they change.
    #[test]
    fn a_file_is_kept_up_to_date() {
        let world = World::new();
        world.skill(".agents/skills/a", "a");
        world.skill("../home/.agents/skills/mine", "mine");
        let run = |check| {
            let write = Some(Write { file: "AGENTS.md".into(), check, flags: String::new() });
            let outcome = asked(&world, &CatalogRequest { write, ..CatalogRequest::default() })?;
            Ok(outcome.written.expect("a file").changed)
        };
        let file = world.project().join("AGENTS.md");
        let there = || fs::read_text(&file, 9999).expect("reads");
        assert!(run(true).expect("stale"));
        assert_eq!(there(), None, "nothing is written");
        assert!(run(false).expect("written"));
        let text = there().expect("a file");
        assert!(text.contains("<location>.agents/skills/a/SKILL.md</location>"), "{text}");
        assert!(!text.contains("mine"), "{text}");
        assert!(!run(true).expect("fresh") && !run(false).expect("fresh"));
        world.write("AGENTS.md", &format!("# Mine\n\n{text}\nmore\n"));
        world.skill(".agents/skills/b", "b");
        assert!(run(true).expect("stale") && run(false).expect("written"));
        let text = there().expect("a file");
        assert!(text.starts_with("# Mine\n\n<!-- skillpm") && text.ends_with("-->\n\nmore\n"), "{text}");
        world.write("AGENTS.md", &format!("a\n{}\n", block::start("x")));
        let error: Error = run(false).expect_err("no end");
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains("AGENTS.md`, line 2: "), "{error}");
    }

    /// In a fresh clone, whose skills are not installed yet, a file keeps its entries, and an empty catalog
    /// comes with a warning.
    #[test]
    fn what_is_not_installed_here_is_not_taken_out_of_a_file() {
        let world = World::new();
        world.write(
            "skillpm.toml",
            "[skills]\na = { path = \"../a\" }\noff = { path = \"../off\", disabled = true }\n",
        );
        let request = |check| {
            let write = Some(Write { file: "AGENTS.md".into(), check, flags: String::new() });
            CatalogRequest { write, ..CatalogRequest::default() }
        };
        world.write("AGENTS.md", "# Mine\n");
        for check in [true, false] {
            let error = asked(&world, &request(check)).expect_err("not whole");
            assert_eq!(error.kind(), ErrorKind::Findings);
            assert_eq!(error.hints(), ["`a` is not installed yet: `install` installs it"]);
        }
        assert_eq!(
            fs::read_text(&world.project().join("AGENTS.md"), 99).expect("reads").as_deref(),
            Some("# Mine\n")
        );
        let plain = asked(&world, &CatalogRequest::default()).expect("works");
        assert_eq!(plain.warnings, ["`a` is not installed yet: `install` installs it"]);
        world.skill(".agents/skills/a", "a");
        assert!(
            asked(&world, &request(false)).expect("whole").written.is_some_and(|written| written.changed)
        );
        assert_eq!(asked(&world, &CatalogRequest::default()).expect("works").warnings, [""; 0]);
    }

    /// Without a skill there is nothing to write, and a missing file is not reported as up to date.
    #[test]
    fn no_file_is_made_for_no_skill() {
        let world = World::new();
        let run = || {
            let write = Some(Write { file: "AGENTS.md".into(), check: false, flags: String::new() });
            let outcome =
                asked(&world, &CatalogRequest { write, ..CatalogRequest::default() }).expect("works");
            outcome.written.map(|written| (written.changed, written.none))
        };
        assert_eq!(run(), Some((false, true)));
        world.write("AGENTS.md", "# Mine\n");
        assert_eq!(run(), Some((false, false)));
    }

    /// A stranger's project cannot change a file of the user.
    #[cfg(unix)]
    #[test]
    fn no_link_leads_out() {
        let world = World::new();
        world.skill(".agents/skills/a", "a");
        world.write("../home/.profile", "mine\n");
        world.link("../home/.profile", "AGENTS.md");
        let write = |file: &str| {
            let write = Some(Write { file: file.into(), check: false, flags: String::new() });
            asked(&world, &CatalogRequest { write, ..CatalogRequest::default() })
        };
        assert_eq!(write("AGENTS.md").expect_err("refused").kind(), ErrorKind::Integrity);
        assert_eq!(
            fs::read_text(&world.home().join(".profile"), 99).expect("reads").as_deref(),
            Some("mine\n")
        );
        world.write("docs/real.md", "# Real\n");
        world.link("docs/real.md", "CLAUDE.md");
        write("CLAUDE.md").expect("inside");
        let real = fs::read_text(&world.project().join("docs/real.md"), 9999).expect("reads").expect("there");
        assert!(real.starts_with("# Real\n\n<!-- skillpm") && real.contains("<location>.agents/"), "{real}");
    }
}
