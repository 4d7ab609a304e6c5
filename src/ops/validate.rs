//! `validate`: whether skills are what the specification says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::document::Document;
use crate::engine::load::{self, SKILL_FILE, Unusable};
use crate::engine::sources;
use crate::error::{Error, Result};
use crate::fs::{self, Kind, Walk};
use crate::lint::{self, Finding, Severity, Subject};
use crate::refusal::Limits;
use crate::source::discover::{self, MAX_DEPTH, SKIPPED};

/// The id of findings about what the file is, where no rule can look at its content.
pub const FILE_KIND: &str = "file-kind";

/// What is to be checked.
#[derive(Debug, Clone, Default)]
pub struct ValidateRequest {
    /// Skills' directories, `SKILL.md` files, or directories in which skills are looked for.
    pub paths: Vec<PathBuf>,
}

/// What was found in one skill.
#[derive(Debug)]
pub struct Checked {
    /// The file, as it is to be shown.
    pub file: PathBuf,
    /// Its content, for the places of the findings.
    pub document: Document,
    /// What was found, in the order of the text.
    pub findings: Vec<Finding>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct ValidateOutcome {
    /// The skills, in the order of the paths.
    pub skills: Vec<Checked>,
}

/// Checks skills, each once, in the order of the paths and below one by the bytes of their own.
///
/// # Errors
///
/// A path that is not there, cannot be read, or holds no skill.
pub fn validate(context: &Context, request: &ValidateRequest) -> Result<ValidateOutcome> {
    let mut outcome = ValidateOutcome::default();
    let mut seen = BTreeSet::new();
    for typed in &request.paths {
        let at = context.settings.cwd.join(typed);
        for below in files(typed, &at)? {
            // Joining nothing would add a slash.
            let join =
                |path: &Path| if below.as_os_str().is_empty() { path.to_owned() } else { path.join(&below) };
            let file = join(&at);
            if seen.insert(identity(&file)?) {
                outcome.skills.push(check(&file, join(typed))?);
            }
        }
    }
    Ok(outcome)
}

/// The skills' files at `at`, as paths below it; an empty path is `at` itself.
fn files(typed: &Path, at: &Path) -> Result<Vec<PathBuf>> {
    let shown = typed.display();
    let named_right = at.file_name().is_some_and(|name| name.eq_ignore_ascii_case(SKILL_FILE));
    let real = fs::real_path(at)?;
    let kind = real.as_deref().map(fs::kind).transpose()?.flatten();
    match kind {
        Some(Kind::Directory) if !named_right => directory(typed, at),
        // A link to nothing is there, and the finding about it says so.
        _ if named_right && fs::kind(at)?.is_some() => Ok(vec![PathBuf::new()]),
        None => Err(Error::usage(format!("`{shown}` does not exist")).hint("check the path for slips")),
        Some(_) => Err(Error::usage(format!("`{shown}` is no skill: its name is not `{SKILL_FILE}`"))
            .hint("name a skill's directory, its `SKILL.md`, or a directory with skills in it")),
    }
}

fn directory(typed: &Path, at: &Path) -> Result<Vec<PathBuf>> {
    if let Some(file) = load::skill_file(at)? {
        return Ok(file.strip_prefix(at).map(Path::to_owned).into_iter().collect());
    }
    let shown = typed.display();
    let walk = Walk { skip: SKIPPED, depth: MAX_DEPTH, entries: Limits::default().archive_entries };
    let tree = fs::scan(at, walk)
        .map_err(|error| Error::from(error).context(format!("`{shown}` cannot be searched for skills")))?;
    let mut files = BTreeSet::new();
    for found in discover::discover_in(&tree, "") {
        files.insert(Path::new(&found.path).join(&found.file_name));
    }
    // The walk follows no links; agents follow those in their directories, and so do we.
    for entry in sources::entries(at)? {
        let file = load::skill_file(&entry.dir)?;
        files.extend(file.and_then(|file| Some(file.strip_prefix(at).ok()?.to_owned())));
    }
    if files.is_empty() {
        return Err(Error::usage(format!("`{shown}` holds no skill: there is no `{SKILL_FILE}` in it"))
            .hint(format!("a skill is a directory with a `{SKILL_FILE}`; `skillpm create NAME` makes one")));
    }
    Ok(files.into_iter().collect())
}

/// What tells two files apart however they are reached. The file itself may be a link to nothing.
fn identity(file: &Path) -> Result<PathBuf> {
    let dir = file.parent().unwrap_or(Path::new(""));
    let dir = fs::real_path(dir)?.unwrap_or_else(|| dir.to_owned());
    Ok(dir.join(file.file_name().unwrap_or_default()))
}

fn check(at: &Path, file: PathBuf) -> Result<Checked> {
    let document = match load::document(at) {
        Ok(document) => document,
        Err(Unusable::Unreadable(error)) => return Err(error.into()),
        Err(reason) => return Ok(Checked { file, document: nothing(), findings: vec![of_kind(&reason)] }),
    };
    let identity = identity(at)?;
    let dir = identity.parent().unwrap_or(Path::new(""));
    let findings = lint_file(&document, dir, at);
    let link = (fs::kind(at)? == Some(Kind::Symlink)).then(|| {
        let help = "put the file itself there: a skill that is installed has no links";
        finding("the file is a symbolic link").help(help)
    });
    Ok(Checked { file, document, findings: link.into_iter().chain(findings).collect() })
}

/// What the linter says of `document`, read from `file` in the real directory `dir`.
pub(super) fn lint_file(document: &Document, dir: &Path, file: &Path) -> Vec<Finding> {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let (directory_name, file_name) = (name(dir), name(file).unwrap_or_default());
    let directory_name = directory_name.as_deref();
    lint::check(&Subject::new(document, directory_name, &file_name))
}

fn of_kind(reason: &Unusable) -> Finding {
    finding(&format!("the file cannot be checked: {reason}"))
        .help(format!("put a regular file `{SKILL_FILE}` there"))
}

fn finding(message: &str) -> Finding {
    let (severity, message) = (Severity::Error, message.to_owned());
    Finding { rule: FILE_KIND, severity, message, span: 0..0, label: None, help: None, fix: None }
}

fn nothing() -> Document {
    Document::parse(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::error::ErrorKind;

    fn validated(world: &World, paths: &[&str]) -> Result<ValidateOutcome> {
        validate(&world.context(), &ValidateRequest { paths: paths.iter().map(PathBuf::from).collect() })
    }

    /// Each file with the rules that found something.
    fn found(world: &World, paths: &[&str]) -> Vec<(String, Vec<&'static str>)> {
        let outcome = validated(world, paths).expect("can be checked");
        let one = |checked: &Checked| {
            let rules = checked.findings.iter().map(|finding| finding.rule).collect();
            (checked.file.to_string_lossy().replace('\\', "/"), rules)
        };
        outcome.skills.iter().map(one).collect()
    }

    fn files(world: &World, paths: &[&str]) -> Vec<String> {
        found(world, paths).into_iter().map(|(file, _)| file).collect()
    }

    /// S0-US5.1: a file, a skill's directory, a directory of skills.
    #[test]
    fn files_are_shown_below_the_path_as_typed() {
        let world = World::new();
        world.skill("skills/b", "b");
        world.skill("skills/a", "a");
        world.skill("elsewhere/deep/c", "c");
        world.skill("skills/a/nested", "nested");
        assert_eq!(found(&world, &["skills/a/SKILL.md"]), [("skills/a/SKILL.md".into(), vec![])]);
        assert_eq!(files(&world, &["./skills/b/"]), ["./skills/b/SKILL.md"]);
        assert_eq!(
            files(&world, &["."]),
            ["./elsewhere/deep/c/SKILL.md", "./skills/a/SKILL.md", "./skills/b/SKILL.md"],
            "nothing is hidden by a directory of skills"
        );
        let all = files(&world, &["skills/b", "skills", "./skills/a/../a"]);
        assert_eq!(all, ["skills/b/SKILL.md", "skills/a/SKILL.md"], "each once");
        let absolute = world.project().join("skills/a");
        assert_eq!(
            files(&world, &[&absolute.to_string_lossy()])[0],
            absolute.join("SKILL.md").to_string_lossy()
        );
    }

    #[test]
    fn the_directory_s_real_name_counts() {
        let world = World::new();
        world.skill(".", "project");
        assert_eq!(found(&world, &["."]), [("./SKILL.md".into(), vec![])]);
        world.skill(".", "other");
        assert_eq!(found(&world, &["SKILL.md"]), [("SKILL.md".into(), vec!["name-directory"])]);
    }

    #[test]
    fn a_path_without_a_skill_is_a_wrong_request() {
        let world = World::new();
        world.write("docs/README.md", "");
        for (path, message) in [
            ("nowhere", "`nowhere` does not exist"),
            ("nowhere/SKILL.md", "`nowhere/SKILL.md` does not exist"),
            ("docs/README.md/x", "`docs/README.md/x` does not exist"),
            ("docs", "`docs` holds no skill: there is no `SKILL.md` in it"),
            ("docs/README.md", "`docs/README.md` is no skill: its name is not `SKILL.md`"),
        ] {
            let error = validated(&world, &[path]).expect_err(path);
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, message));
            assert!(!error.hints().is_empty());
        }
    }

    /// S0-FR-002, conflict C13: found in any case, and told.
    #[test]
    fn another_case_is_a_finding() {
        let world = World::new();
        world.write("a/Skill.md", &crate::engine::testing::skill_text("a"));
        let expected = [("a/Skill.md".to_owned(), vec!["file-name"])];
        assert_eq!(found(&world, &["a"]), expected);
        assert_eq!(found(&world, &["a/Skill.md"]), expected);
    }

    #[test]
    fn too_large_a_file_is_a_finding() {
        let world = World::new();
        world.write("a/SKILL.md", &"x".repeat(11 << 20));
        let outcome = validated(&world, &["a"]).expect("no error");
        assert_eq!(
            outcome.skills[0].findings[0].message,
            "the file cannot be checked: it has more than 10 MiB"
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_and_directories_are_findings() {
        let world = World::new();
        world.write("secret", "key");
        world.write("in/real.md", &crate::engine::testing::skill_text("in"));
        for (target, link) in
            [("nowhere", "gone"), ("../secret", "out"), ("real.md", "in"), ("SKILL.md", "loop")]
        {
            world.link(target, &format!("{link}/SKILL.md"));
        }
        fs::create_dir_all(&world.project().join("dir/SKILL.md")).expect("creates");
        fs::create_dir_all(&world.project().join("pipe")).expect("creates");
        let pipe = world.project().join("pipe/SKILL.md");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
        for name in ["gone", "out", "in", "loop", "dir", "pipe"] {
            let file = format!("{name}/SKILL.md");
            let expected = [(file.clone(), vec![FILE_KIND])];
            assert_eq!(found(&world, &[name]), expected);
            assert_eq!(found(&world, &[&file]), expected);
        }
        let outcome = validated(&world, &["out", "in"]).expect("no error");
        assert_eq!(outcome.skills[0].document.text(), "", "nothing of the secret is shown");
        assert!(!outcome.skills[1].document.text().is_empty());
        assert_eq!(files(&world, &["."]).len(), 6);
    }

    #[cfg(unix)]
    #[test]
    fn an_agent_s_directory_of_links_is_followed() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.link("../../.agents/skills/pdf", ".claude/skills/pdf");
        world.link("../../.agents/skills/pdf", ".claude/skills/alias");
        assert_eq!(found(&world, &[".claude/skills"]), [(".claude/skills/alias/SKILL.md".into(), vec![])]);
        assert_eq!(files(&world, &[".", ".claude/skills"]), ["./.agents/skills/pdf/SKILL.md"]);
    }
}
