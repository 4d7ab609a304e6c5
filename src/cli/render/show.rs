//! `show`: a page for people.

use std::fmt::Write as _;

use super::table::Table;
use super::{asked_for, count, one_line, short_path, short_revision};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::list::{ListedSkill, SkillState};
use skillpm_core::ops::show::{FileKind, Other, ShowOutcome, ShownFile};
use skillpm_format::scope_kind::ScopeKind;
use skillpm_format::skill::prerequisites::{CheckedPrerequisite, Prerequisite, PrerequisiteKind, Presence};
use skillpm_format::text::without_secrets;

/// The number of digits of a file's digest to show; `--json` has all.
const DIGITS: usize = 12;
/// The width of the column of labels.
const LABELS: usize = 15;

pub(crate) fn json(printer: &Printer, outcome: &ShowOutcome) {
    warn(printer, outcome);
    printer.json(outcome);
}

pub(crate) fn show(printer: &Printer, outcome: &ShowOutcome) {
    warn(printer, outcome);
    printer.data(&(facts(outcome) + "\n"));
    files(printer, &outcome.files);
    requires(printer, &outcome.requires);
    let mut text = String::new();
    if outcome.faults().next().is_some() {
        text.push_str("\ndoes not follow the specification (tolerated):\n");
        for deviation in outcome.faults() {
            let place = format!("{}:{}", deviation.line, deviation.column);
            text.push_str(&one_line(&format!("SKILL.md:{place}: {}", deviation.message)));
            text.push('\n');
        }
    }
    if !outcome.alarms.is_empty() {
        text.push_str("\nlook at this before an agent uses it:\n");
        for alarm in &outcome.alarms {
            text.push_str(&one_line(&worded(&alarm.message)));
            text.push('\n');
        }
    }
    printer.data(&text);
    printer.hints(&outcome.hints());
}

fn warn(printer: &Printer, outcome: &ShowOutcome) {
    printer.warnings(&outcome.warnings);
}

/// Returns the skill's own data, and other facts about it.
fn facts(outcome: &ShowOutcome) -> String {
    let meta = &outcome.meta;
    let owner = match outcome.scope {
        Some(ScopeKind::Project) => "in the project",
        Some(ScopeKind::User) => "of the user",
        None => "in a directory that agents do not search",
    };
    let mut text = one_line(&format!("{}, {owner}", meta.name)) + "\n";
    let mut fact = |label: &str, value: &str| {
        let value = one_line(value);
        if !value.is_empty() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {:LABELS$}{value}", one_line(label));
        }
    };
    fact("description", &meta.description);
    fact("version", meta.version.as_deref().unwrap_or_default());
    fact("license", meta.license.as_deref().unwrap_or_default());
    fact("compatibility", meta.compatibility.as_deref().unwrap_or_default());
    fact("allowed tools", &meta.allowed_tools.join(", "));
    fact("tags", &meta.tags.join(", "));
    fact("dependencies", &meta.dependencies.join(", "));
    for (key, value) in &meta.metadata {
        fact("metadata", &format!("{key}: {}", shown(value)));
    }
    for (key, value) in &meta.extra {
        fact("other field", &format!("{key}: {}", shown(value)));
    }
    fact("directory", &short_path(&outcome.roots, &outcome.location));
    match &outcome.installed {
        Some(installed) => provenance(installed, &mut fact),
        None => fact("state", "not installed by skillpm"),
    }
    let tokens = outcome.tokens;
    let all =
        [("metadata", tokens.metadata), ("instructions", tokens.body), ("other files", tokens.resources)];
    let all = all.map(|(level, count)| format!("{level} about {count}"));
    fact("tokens", &all.join(", "));
    let place =
        |other: &Other| format!("{} ({})", short_path(&outcome.roots, &other.location), other.reference);
    for hidden in &outcome.shadows {
        fact("hides", &place(hidden));
    }
    if let Some(used) = &outcome.shadowed_by {
        fact("hidden by", &place(used));
    }
    text
}

/// Adds where the skill came from, and its state.
fn provenance(installed: &ListedSkill, fact: &mut impl FnMut(&str, &str)) {
    if let Some(source) = &installed.source {
        let path = installed.path.as_deref().map(|path| format!(", directory {path}")).unwrap_or_default();
        fact("source", &format!("{}{path}", without_secrets(source)));
    }
    if let Some(revision) = &installed.revision {
        let asked = asked_for(installed).map(|asked| format!(", requested: {asked}")).unwrap_or_default();
        fact("revision", &format!("{}{asked}", short_revision(revision)));
    }
    fact("digest", installed.digest.as_deref().unwrap_or_default());
    fact(
        "state",
        match installed.state {
            SkillState::Ok => "as it was installed",
            SkillState::Modified | SkillState::Elsewhere if installed.editable => {
                "editable, and no link to its directory"
            }
            SkillState::Modified => "edited since it was installed",
            SkillState::LineEnds => "as it was installed, with other line ends",
            SkillState::Elsewhere => "something else is in its place",
            SkillState::Unreadable => "unreadable",
            SkillState::Conflict => "in conflict: an update left markers or kept files to resolve",
            SkillState::Unlocked => "not locked",
            SkillState::Untracked | SkillState::Foreign => "not installed by skillpm",
            SkillState::Editable => "a link to a working directory",
            SkillState::Missing => "missing",
            SkillState::Disabled => "disabled",
        },
    );
    fact("linked for", &installed.agents.join(", "));
}

/// Returns a value as written in frontmatter: a text without quotes, anything else as JSON.
fn shown(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn files(printer: &Printer, files: &[ShownFile]) {
    let mut table = Table::new(&["file", "bytes", "sha256"]).number("bytes");
    for file in files {
        let path = match (&file.target, file.kind) {
            (Some(target), _) => format!("{} -> {target}", file.path),
            (None, FileKind::Special) => format!("{} (not a regular file)", file.path),
            (None, _) if file.executable => format!("{}*", file.path),
            (None, _) => file.path.clone(),
        };
        let digest = file.digest.as_deref().unwrap_or_default().trim_start_matches("sha256:");
        let digits: String = digest.chars().take(DIGITS).collect();
        table.row([&path, &file.size.map(|size| size.to_string()).unwrap_or_default(), &digits]);
    }
    let sum: u64 = files.iter().filter_map(|file| file.size).sum();
    table.show(printer);
    printer.data(&format!("{}, {sum} bytes", count(files.len(), "file")));
}

/// Prints a table of what the skill requires; free text is among the facts already.
fn requires(printer: &Printer, requires: &[CheckedPrerequisite]) {
    let mut table = Table::new(&["requires", "here", "stated in"]);
    let mut is_empty = true;
    for CheckedPrerequisite { prerequisite, state } in requires {
        let Prerequisite { kind, key, file, at, version, optional, .. } = prerequisite;
        if *kind == PrerequisiteKind::Text && key.ends_with("compatibility") {
            continue;
        }
        is_empty = false;
        let version = version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let kind = match kind {
            PrerequisiteKind::Program => "program ",
            PrerequisiteKind::Variable => "variable ",
            _ => "",
        };
        let what = format!(
            "{kind}{}{version}{}",
            prerequisite.described(),
            if *optional { " (optional)" } else { "" }
        );
        let here = match state {
            Presence::Present if !version.is_empty() => "present, its version unknown",
            Presence::Present => "present",
            Presence::Missing => "missing",
            Presence::Unknown => "unknown",
        };
        table.row([&what, here, &format!("{file}:{}:{} ({key})", at.line, at.column)]);
    }
    if !is_empty {
        printer.data("\n");
        table.show(printer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::show::{ShownDeviation, Tokens};
    use skillpm_core::scope::Roots;
    use skillpm_format::advice::Warning;
    use skillpm_format::document::Position;
    use skillpm_format::skill::SkillMeta;

    fn outcome() -> ShowOutcome {
        let digest = Some(format!("sha256:{}", "0123456789abcdef".repeat(4)));
        let file = |path: &str, kind, target: Option<&str>| ShownFile {
            path: path.into(),
            kind,
            size: (kind == FileKind::File).then_some(120),
            executable: path.starts_with("scripts/"),
            digest: digest.clone().filter(|_| kind == FileKind::File),
            target: target.map(str::to_owned),
        };
        let meta = serde_json::json!({"author": "Ann\nexit: 0", "keywords": ["a", "b"]});
        let other = |scope, location: &str, reference: &str| Other {
            scope,
            location: location.into(),
            reference: reference.into(),
        };
        ShowOutcome {
            meta: SkillMeta {
                name: "pdf".into(),
                description: "Reads PDF files.\nUse it for forms.".into(),
                version: Some("1.10".into()),
                tags: vec!["office".into(), "pdf".into()],
                dependencies: vec!["office-base".into()],
                license: Some("MIT".into()),
                compatibility: Some("Python 3".into()),
                allowed_tools: vec!["Bash(git add:*)".into(), "Read".into()],
                metadata: meta.as_object().expect("an object").clone(),
                extra: serde_json::json!({"model": "opus\u{1b}[2J"}).as_object().expect("an object").clone(),
            },
            scope: Some(ScopeKind::Project),
            location: "/p/.agents/skills/pdf".into(),
            file: "/p/.agents/skills/pdf/SKILL.md".into(),
            tokens: Tokens { metadata: 61, body: 1200, resources: 0 },
            files: vec![
                file("SKILL.md", FileKind::File, None),
                file("key", FileKind::Link, Some("../secret")),
                file("pipe", FileKind::Special, None),
                file("scripts/fill.py", FileKind::File, None),
            ],
            installed: Some(ListedSkill {
                name: "pdf".into(),
                version: Some("1.10".into()),
                scope: ScopeKind::Project,
                source: Some("github:acme/skills".into()),
                path: Some("skills/pdf".into()),
                revision: Some("1a2b3c4d".repeat(5)),
                digest,
                agents: vec!["claude-code".into()],
                edited_copies: Vec::new(),
                state: SkillState::Modified,
                modified: true,
                alias_of: None,
                disabled: false,
                editable: false,
                location: "/p/.agents/skills/pdf".into(),
                source_type: Some("github"),
                source_url: Some("https://github.com/acme/skills".into()),
                requested: Some("v1".into()),
                dependencies: Vec::new(),
                seen_by: Vec::new(),
                found_in: None,
                outer: None,
                source_gone: false,
            }),
            shadowed_by: Some(other(ScopeKind::Project, "/p/.claude/skills/other", "project-claude:pdf")),
            shadows: vec![other(ScopeKind::User, "/h/.agents/skills/pdf", "user:pdf")],
            deviations: vec![ShownDeviation {
                line: 4,
                column: 1,
                message: "`model` is unknown".into(),
                documented: false,
            }],
            requires: vec![lacks()],
            alarms: vec![Warning::new("hooks", "`pdf` has hooks")],
            warnings: vec![Warning::new("odd", "odd")],
            roots: Roots::new("/p".as_ref(), Some("/p".as_ref()), Some("/h".as_ref())),
        }
    }

    fn lacks() -> CheckedPrerequisite {
        let at = Position { line: 4, column: 3 };
        let new = Prerequisite::new(
            PrerequisiteKind::Program,
            ["jq", "gojq"],
            ("requires.anyBins", "SKILL.md", at),
        );
        CheckedPrerequisite { prerequisite: new.expect("a name"), state: Presence::Missing }
    }

    #[test]
    fn a_page() {
        let (printer, out, err) = printer(Appearance::PLAIN);
        show(&printer, &outcome());
        insta::assert_snapshot!(out.text(), @r#"
        pdf, in the project
          description    Reads PDF files. Use it for forms.
          version        1.10
          license        MIT
          compatibility  Python 3
          allowed tools  Bash(git add:*), Read
          tags           office, pdf
          dependencies   office-base
          metadata       author: Ann exit: 0
          metadata       keywords: ["a","b"]
          other field    model: opus\u{1b}[2J
          directory      .agents/skills/pdf
          source         github:acme/skills, directory skills/pdf
          revision       1a2b3c4, requested: v1
          digest         sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
          state          edited since it was installed
          linked for     claude-code
          tokens         metadata about 61, instructions about 1200, other files about 0
          hides          ~/.agents/skills/pdf (user:pdf)
          hidden by      .claude/skills/other (project-claude:pdf)

        file                       bytes  sha256
        SKILL.md                     120  0123456789ab
        key -> ../secret               -  -
        pipe (not a regular file)      -  -
        scripts/fill.py*             120  0123456789ab
        4 files, 240 bytes

        requires                here     stated in
        program `jq` or `gojq`  missing  SKILL.md:4:3 (requires.anyBins)

        does not follow the specification (tolerated):
        SKILL.md:4:1: `model` is unknown

        look at this before an agent uses it:
        `pdf` has hooks
        "#);
        insta::assert_snapshot!(err.text(), @"
        warning: odd
        hint: `skillpm validate /p/.agents/skills/pdf/SKILL.md` shows the places
        ");
    }

    #[test]
    fn a_page_on_a_narrow_terminal() {
        let (printer, out, _) = printer(Appearance { width: Some(40), ..Appearance::PLAIN });
        show(&printer, &outcome());
        insta::assert_snapshot!(out.text(), @r#"
        pdf, in the project
          description    Reads PDF files. Use it
                         for forms.
          version        1.10
          license        MIT
          compatibility  Python 3
          allowed tools  Bash(git add:*), Read
          tags           office, pdf
          dependencies   office-base
          metadata       author: Ann exit: 0
          metadata       keywords: ["a","b"]
          other field    model: opus\u{1b}[2J
          directory      .agents/skills/pdf
          source         github:acme/skills,
                         directory skills/pdf
          revision       1a2b3c4, requested: v1
          digest
                         sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
          state          edited since it was
                         installed
          linked for     claude-code
          tokens         metadata about 61,
                         instructions about
                         1200, other files about
                         0
          hides          ~/.agents/skills/pdf
                         (user:pdf)
          hidden by      .claude/skills/other
                         (project-claude:pdf)

        SKILL.md
          bytes 120  sha256 0123456789ab
        key -> ../secret
        pipe (not a regular file)
        scripts/fill.py*
          bytes 120  sha256 0123456789ab
        4 files, 240 bytes

        program `jq` or `gojq`
          here missing
          stated in SKILL.md:4:3 (requires.anyB…

        does not follow the specification
        (tolerated):
        SKILL.md:4:1: `model` is unknown

        look at this before an agent uses it:
        `pdf` has hooks
        "#);
    }

    #[test]
    fn the_hint_quotes_a_path_with_a_space() {
        let (printer, _, err) = printer(Appearance::PLAIN);
        show(&printer, &ShowOutcome { file: "/my proj/SKILL.md".into(), ..outcome() });
        assert!(err.text().contains("`skillpm validate '/my proj/SKILL.md'` shows"), "{}", err.text());
    }

    #[test]
    fn a_page_of_what_nobody_installed() {
        let (printer, out, _) = printer(Appearance::PLAIN);
        let meta = SkillMeta { name: "pdf".into(), description: "Reads.".into(), ..SkillMeta::default() };
        let files = outcome().files[..1].to_vec();
        let outcome = ShowOutcome {
            meta,
            files,
            installed: None,
            shadowed_by: None,
            shadows: Vec::new(),
            deviations: Vec::new(),
            requires: Vec::new(),
            ..outcome()
        };
        show(&printer, &outcome);
        insta::assert_snapshot!(out.text(), @"
        pdf, in the project
          description    Reads.
          directory      .agents/skills/pdf
          state          not installed by skillpm
          tokens         metadata about 61, instructions about 1200, other files about 0

        file      bytes  sha256
        SKILL.md    120  0123456789ab
        1 file, 120 bytes

        look at this before an agent uses it:
        `pdf` has hooks
        ");
    }
}
