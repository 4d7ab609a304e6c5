//! Codex prints the messages that it would send with `codex debug prompt-input`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use skillpm_testing::tools;

use super::layouts::{Kinds, Layout, make};
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
        let layout = make(&root.path().join(number.to_string()), number.into(), &KINDS);
        settings(&layout, &mut Numbers(number.into()));
        let printed = printed(&codex, &layout);
        let listing = computed("codex", &layout.home, &layout.cwd, &[]);
        differences.compare(number as usize, &layout, listing.text.as_deref().unwrap_or_default(), &printed);
    }
    differences.end("codex", root);
}

const PROGRAM: &str = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";

/// Writes what a user may have set.
fn settings(layout: &Layout, numbers: &mut Numbers) {
    let mut text = String::new();
    if numbers.below(2) == 0 {
        let window =
            [10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 872_000, 2_000_000][numbers.below(8)];
        let _ = writeln!(text, "model_context_window = {window}");
    }
    if numbers.below(3) == 0 {
        let _ = writeln!(
            text,
            "model = {:?}",
            numbers.pick(&["gpt-6.1-sol", "gpt-6-luna", "other", "gpt-6.2-sol-x"])
        );
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
    std::fs::create_dir_all(layout.home.join(".codex")).expect("a directory");
    std::fs::write(layout.home.join(".codex/config.toml"), text).expect("is written");
}

/// Returns the part of the listing that tells skills; empty if there is none.
fn printed(codex: &Path, layout: &Layout) -> String {
    let output = Command::new(codex)
        .args(["debug", "prompt-input", "hi"])
        .current_dir(&layout.cwd)
        .env_clear()
        .env("HOME", &layout.home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
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
