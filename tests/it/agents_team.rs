//! `agents NAME` in the project of a team lead: forty real skills, and what each of four agents makes of them.

#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::prompt::Terminal;
use crate::support::{Sandbox, testdata};

/// The skills of a repository of the test data: names and texts, sorted.
fn skills(testdata: &Path, repository: &str) -> Vec<(String, String)> {
    let dirs = fs::read_dir(testdata.join("repos").join(repository).join("skills")).expect("skills");
    let files = dirs.map(|dir| dir.expect("an entry").path().join("SKILL.md"));
    let skill = |file: PathBuf| {
        let name = file.parent().and_then(Path::file_name).expect("a name").to_string_lossy().into_owned();
        Some((name, fs::read_to_string(file).ok()?))
    };
    let mut skills: Vec<_> = files.filter_map(skill).collect();
    skills.sort();
    skills
}

/// A project with 27 skills and a user with 16, of which three have names of the project's. Codex, Gemini CLI and OpenCode
/// read them by a link.
fn team(testdata: &Path) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("NO_COLOR", "1");
    let sentry = skills(testdata, "getsentry+skills");
    let (ours, yours) = sentry.split_at(12);
    for (name, text) in skills(testdata, "obra+superpowers").iter().chain(ours) {
        let text = if name == "brainstorming" {
            text.replacen("---\n", "---\ndisable-model-invocation: true\n", 1)
        } else {
            text.clone()
        };
        sandbox.write(&format!(".claude/skills/{name}/SKILL.md"), text);
    }
    sandbox.write(".claude/skills/broken/SKILL.md", "---\nname: broken\n---\n# Broken\n");
    for (name, text) in yours.iter().take(13) {
        sandbox.write(&format!("../home/.claude/skills/{name}/SKILL.md"), text);
    }
    for (name, text) in &ours[..3] {
        sandbox.write(&format!("../home/.claude/skills/{name}/SKILL.md"), format!("{text}\nMine.\n"));
    }
    sandbox.write(".claude/settings.json", format!("{{\"skillOverrides\": {{\"{}\": \"off\"}}}}", ours[5].0));
    for dir in [sandbox.project(), sandbox.home()] {
        fs::create_dir_all(dir.join(".agents")).expect("a directory");
        std::os::unix::fs::symlink("../.claude/skills", dir.join(".agents/skills")).expect("a link");
    }
    sandbox
}

#[test]
fn what_four_agents_make_of_forty_skills() {
    let Some(testdata) = testdata::dir() else { return };
    let sandbox = team(&testdata);
    let told = |agent: &str, columns: u16| {
        let (code, seen) = Terminal::of_width(columns, &sandbox, &["agents", agent]).end();
        assert_eq!(code, Some(0), "{seen}");
        let widest = seen.lines().map(|line| line.trim_end().chars().count()).max();
        assert!(widest <= Some(usize::from(columns)), "{widest:?} columns:\n{seen}");
        seen.replace('\r', "")
    };
    insta::assert_snapshot!(told("claude-code", 80), @"
    claude-code (Claude Code)
      found by ~/.claude
      needs links, but no `skillpm.toml` here names it: `--agent` adds it
      its model sees 38 skills: 19 to 35 whole, 3 to 19 by name only
      not listed: 2 hidden, 3 same name as another
      room for 8000 characters, at a window of 200000 tokens; all would take 9685
      it drops the descriptions of the least used skills first; how it counts use is
        unknown
      not counted here: skills that come with it are listed, too, and take room
        first
      rules of version 2.1.240 (2026-08-22), from its documentation
      .claude/skills of the project, its own: 27 skills
      ~/.claude/skills of the user, its own: 16 skills
    skill               listed  why
    brainstorming       no      .claude/skills/brainstorming: its frontmatter says
                                `disable-model-invocation: true`
    code-simplifier     no      .claude/skills/code-simplifier:
                                `skillOverrides.code-simplifier` in
                                `.claude/settings.json` says so
    agents-md           no      .claude/skills/agents-md: ~/.claude/skills/agents-md
                                wins
    blog-writing-guide  no      .claude/skills/blog-writing-guide:
                                ~/.claude/skills/blog-writing-guide wins
    brand-guidelines    no      .claude/skills/brand-guidelines:
                                ~/.claude/skills/brand-guidelines wins
    shortening to 200 characters would free: 558 characters of `blog-writing-guide`,
      477 of `document-api-endpoint`, 238 of `doc-coauthoring`, 188 of
      `skill-writer` and 173 of `gha-security-review`
    ");
    insta::assert_snapshot!(told("codex", 80), @"
    codex (Codex)
      not found on this machine
      reads the canonical copies and needs no links
      its model sees 46 skills, whole
      not listed: 1 not loaded
      3730 of 10000 tokens, at a window of 500000 tokens
      rules of version 0.171.0 (2026-11-28), compared with its program
      .agents/skills of the project, canonical copies: 27 skills
      ~/.agents/skills of the user, canonical copies: 16 skills
    skill   listed  why
    broken  no      .claude/skills/broken: it has no description
    ");
    insta::assert_snapshot!(told("gemini-cli", 80), @"
    gemini-cli (Gemini CLI)
      not found on this machine
      reads the canonical copies and needs no links
      its model sees 16 skills, whole
      not listed: 27 not loaded
      rules of version 0.61.0 (2026-11-28), compared with its program
      .agents/skills of the project, canonical copies: 27 skills
      ~/.agents/skills of the user, canonical copies: 16 skills
    skill      listed  why
    27 skills  no      the directory is not among those that
                       `~/.gemini/trustedFolders.json` trusts: agents-md,
                       blog-writing-guide, brainstorming, brand-guidelines, broken,
                       and 22 more
    ");
    insta::assert_snapshot!(told("opencode", 80), @"
    opencode (OpenCode)
      not found on this machine
      reads the canonical copies and needs no links
      its model sees 39 skills: 36 whole, 3 in doubt
      not listed: 1 hidden
      rules of version 1.18.34 (2026-11-28), compared with its program
      .agents/skills of the project, canonical copies: 27 skills
      .claude/skills of the project, another agent's directory, read too: 27 skills
      ~/.agents/skills of the user, canonical copies: 16 skills
      ~/.claude/skills of the user, another agent's directory, read too: 16 skills
    skill               listed    why
    agents-md           in doubt  ~/.claude/skills/agents-md or
                                  .claude/skills/agents-md: which one differs from
                                  start to start
    blog-writing-guide  in doubt  ~/.claude/skills/blog-writing-guide or
                                  .claude/skills/blog-writing-guide: which one
                                  differs from start to start
    brand-guidelines    in doubt  ~/.claude/skills/brand-guidelines or
                                  .claude/skills/brand-guidelines: which one differs
                                  from start to start
    broken              no        .claude/skills/broken: it has no description
    ");
    for agent in ["claude-code", "codex", "gemini-cli", "opencode"] {
        told(agent, 40);
    }
}
