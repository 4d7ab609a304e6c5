//! Codex prints the messages that it would send with `codex debug prompt-input`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use skillpm_testing::tools;

use super::layouts::{Kinds, Layout, make, write};
use super::{Differences, computed};
use crate::support::numbers::{Numbers, cases};

const KINDS: Kinds = Kinds {
    user: &[".agents/skills", ".codex/skills", ".claude/skills"],
    project: &[".agents/skills", ".codex/skills", ".claude/skills"],
    has_duplicates: true,
    user_is_right: false,
    depth: 7,
};

/// The list: names, duplicates, scopes, lengths, budgets from 10,000 to 872,000, marks at the start, links, depth,
/// what is switched off, bad frontmatter.
#[test]
fn codex_lists_what_is_computed() {
    let Some(codex) = tools::script(PROGRAM) else { return };
    let root = tempfile::tempdir().expect("a directory");
    let mut differences = Differences::default();
    for number in 0..cases(1200_u32) {
        let mut layout = make(&root.path().join(number.to_string()), number.into(), &KINDS);
        settings(&mut layout, &mut Numbers(number.into()));
        // The first start writes its own skills, and the second finds them.
        for _ in 0..if number.is_multiple_of(10) { 2 } else { 1 } {
            let listing = computed("codex", &layout, Path::new(""));
            let printed = printed(&codex, &layout);
            let text = listing.text.as_deref().unwrap_or_default();
            differences.compare(number as usize, &layout, text, &printed);
        }
    }
    differences.end("codex", root);
}

const PROGRAM: &str = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";

/// Writes what a user may have set.
fn settings(layout: &mut Layout, numbers: &mut Numbers) {
    let mut home = layout.home.join(".codex");
    if numbers.below(8) == 0 {
        home = layout.home.join("codex");
        layout.env.push(("CODEX_HOME", home.display().to_string()));
    }
    let mut text = budget(numbers);
    text.push_str(&projects(layout, numbers));
    if numbers.below(3) == 0 {
        text.push_str(&plugins(&home, numbers));
    }
    let _ = writeln!(text, "[skills]");
    if numbers.below(5) == 0 {
        let _ = writeln!(text, "max_context_tokens = {}", [1, 50, 200, 1000, 20_000][numbers.below(5)]);
    }
    if numbers.below(4) != 0 {
        let _ = writeln!(text, "[skills.bundled]\nenabled = false");
    }
    if numbers.below(4) == 0 {
        let _ = writeln!(
            text,
            "[[skills.config]]\nname = {:?}\nenabled = false",
            numbers.pick(&["pdf", "docx", "Brand"])
        );
    }
    if numbers.below(4) == 0 {
        let path = layout.home.join(".agents/skills/pdf/SKILL.md");
        let _ = writeln!(text, "[[skills.config]]\npath = {:?}\nenabled = false", path.display().to_string());
    }
    write(&home.join("config.toml"), &text);
}

/// Returns settings of the model.
fn budget(numbers: &mut Numbers) -> String {
    let mut text = String::new();
    if numbers.below(2) == 0 {
        let windows = [10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 872_000, 2_000_000, 0, -1];
        let _ = writeln!(text, "model_context_window = {}", windows[numbers.below(windows.len())]);
    }
    if numbers.below(3) == 0 {
        let models = [
            "gpt-6.1-sol",
            "gpt-6-luna",
            "other",
            "gpt-6.2-sol-x",
            "gpt-6.2-astra",
            "openai/gpt-6.1-terra",
            "a/b/gpt-6.1-sol",
            "x.y/gpt-6.1-sol",
            "my_own/gpt-daybreak-red-latest",
        ];
        let _ = writeln!(text, "model = {:?}", numbers.pick(&models));
    }
    text
}

/// Makes repositories of many kinds, and settings of projects; returns which of them are trusted.
fn projects(layout: &Layout, numbers: &mut Numbers) -> String {
    let root = layout.home.parent().expect("a directory");
    let (project, main) = (root.join("project"), root.join("main"));
    let git = project.join(".git");
    match numbers.below(8) {
        0 => std::fs::remove_file(git.join("HEAD")).expect("is removed"),
        1 => std::fs::create_dir(project.join("sub/.git")).expect("a directory"),
        2 => {
            std::fs::remove_dir_all(&git).expect("is removed");
            write(&git, "gitdir: ../main/.git/worktrees/it\n");
            let files = [("commondir", "../..\n"), ("gitdir", "../../../../project/.git\n")];
            for (name, text) in files {
                if numbers.below(6) != 0 {
                    write(&main.join(".git/worktrees/it").join(name), text);
                }
            }
        }
        3 => std::fs::remove_dir_all(&git).expect("is removed"),
        _ => {}
    }
    let mut text = String::new();
    for dir in [&project, &project.join("sub"), &main] {
        let own = [
            "[skills]\nmax_context_tokens = 300\n",
            "[skills]\ninclude_instructions = false\n",
            "[skills.bundled]\nenabled = false\n",
            "model_context_window = 30000\n",
            "model = \"gpt-5.6-sol\"\n[[skills.config]]\nname = \"pdf\"\nenabled = false\n",
            "[features]\nplugins = false\n",
        ];
        if numbers.below(3) == 0 && dir.is_dir() {
            write(&dir.join(".codex/config.toml"), numbers.pick(&own));
        }
        if numbers.below(3) == 0 {
            let _ = writeln!(text, "[projects.{:?}]", dir.display().to_string());
            text.push_str(numbers.pick(&["trust_level = \"trusted\"\n", "trust_level = \"untrusted\"\n"]));
        }
    }
    text
}

/// Installs plugins, and returns settings that enable some of them.
fn plugins(home: &Path, numbers: &mut Numbers) -> String {
    let mut text = String::new();
    for at in 0..=numbers.below(4) {
        let (market, name) = (numbers.pick(&["first", "second"]), format!("plugin-{at}"));
        let versions = ["1.0.0", "1.10.0", "1.9.0", "local", "0.2", "1.0.0-beta", "zz"];
        for _ in 0..=numbers.below(2) {
            let root = home.join("plugins/cache").join(market).join(&name).join(numbers.pick(&versions));
            let named = ["", ", \"skills\": \"./more\"", ", \"skills\": [\"./more\", \"./skills/\"]"];
            let odd = [", \"skills\": \"../more\"", ", \"skills\": []", ", \"skills\": [\"./more\", 1]"];
            let paths = if numbers.below(2) == 0 { numbers.pick(&named) } else { numbers.pick(&odd) };
            let own = numbers.pick(&["tools", "", " ", "Kit"]);
            let kind = numbers.pick(&["codex", "claude"]);
            let manifest = root.join(format!(".{kind}-plugin/plugin.json"));
            write(&manifest, &format!("{{\"name\": {own:?}{paths}}}"));
            for skill in 0..numbers.below(4) {
                let dir = numbers.pick(&["skills", "more", "skills/group"]);
                let frontmatter = format!("---\nname: s{skill}\ndescription: In {dir}.\n---\n");
                write(&root.join(dir).join(format!("s{skill}/SKILL.md")), &frontmatter);
            }
        }
        let enabled = numbers.pick(&["enabled = true\n", "", "enabled = false\n"]);
        let _ = write!(text, "[plugins.\"{name}@{market}\"]\n{enabled}");
    }
    text
}

/// Returns the part of the listing that tells skills; empty if there is none.
fn printed(codex: &Path, layout: &Layout) -> String {
    let output = Command::new(codex)
        .args(["debug", "prompt-input", "hi"])
        .current_dir(&layout.cwd)
        .env_clear()
        .env("HOME", &layout.home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs(layout.env.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::null())
        .output()
        .expect("codex starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let contents = messages.as_array().into_iter().flatten();
    let texts = contents.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let listing = texts.filter_map(|content| content["text"].as_str()).find_map(|text| {
        let text = text.strip_prefix("<skills_instructions>")?.strip_suffix("</skills_instructions>")?;
        Some(text[text.find("\n### ")? + 1..].trim_end().to_owned())
    });
    listing.unwrap_or_default()
}
