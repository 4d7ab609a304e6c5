//! The profile `claude-ai` next to the scripts by which people check a skill before they upload it, on real skills.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Sandbox, testdata};

/// The script of one of the repositories: a variant of Anthropic's.
const SCRIPT: &str = "repos/getsentry+skills/skills/skill-writer/scripts/quick_validate.py";

/// What this variant refuses and an upload takes, each by the start of its words.
const ONLY_SCRIPT: [&str; 3] = ["Referenced file not found", "Referenced path is not a file", "name '"];

/// What an upload refuses and this variant does not look at.
const ONLY_HERE: [&str; 8] = [
    "unknown-field",
    "client-field",
    "legacy-field",
    "name-alphabet",
    "name-ascii",
    "name-reserved",
    "description-brackets",
    "description-length",
];

/// Each `SKILL.md` below `dir`.
fn skills(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        match entry.file_type().expect("a kind") {
            kind if kind.is_dir() => skills(&path, found),
            kind if kind.is_file() && entry.file_name() == "SKILL.md" => found.push(path),
            _ => {}
        }
    }
}

/// What the scripts say of each of `files`: the reason of the upload, and the errors of the variant.
fn scripts(python: &Path, variant: &Path, files: &str) -> Vec<(Option<String>, Vec<String>)> {
    let script = skillpm_testing::root().join("tests/reference/upload.py");
    let mut child = Command::new(python)
        .args([&script, variant])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    child.stdin.take().expect("a pipe").write_all(files.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a verdict")).collect()
}

/// The reserved words aside, which the scripts do not know.
#[test]
fn an_upload_is_judged_as_the_scripts_judge_it() {
    let Some(testdata) = testdata::dir() else { return };
    let Some(python) = skillpm_testing::tools::python("python-env-mcp") else { return };
    let mut files = Vec::new();
    for dir in ["skills", "repos"] {
        skills(&testdata.join(dir), &mut files);
    }
    let files: Vec<_> = files.iter().map(|file| file.to_str().expect("UTF-8")).collect();
    let args = [&["validate", "--profile", "claude-ai", "--json"], &files[..]].concat();
    let report = Sandbox::new().run(&args).json();
    let mut errors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for skill in report["skills"].as_array().expect("skills") {
        let findings = skill["findings"].as_array().expect("findings").iter();
        let wrong = findings.filter(|finding| finding["severity"] == "error");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        errors.insert(text(&skill["path"]), wrong.map(|finding| text(&finding["rule"])).collect());
    }
    let (mut refused, mut wrong) = (0, Vec::new());
    let verdicts = scripts(&python, &testdata.join(SCRIPT), &files.join("\n"));
    assert_eq!(verdicts.len(), files.len());
    for (file, (reason, variant)) in files.iter().zip(verdicts) {
        let ours = &errors[*file];
        refused += usize::from(reason.is_some());
        let ours_upload = ours.iter().any(|rule| rule != "name-reserved");
        let ours_variant = ours.iter().any(|rule| !ONLY_HERE.contains(&rule.as_str()));
        let told = variant.iter().any(|error| !ONLY_SCRIPT.iter().any(|known| error.starts_with(known)));
        if ours_upload != reason.is_some() || ours_variant != told {
            wrong.push(format!("{file}: {ours:?}, {reason:?}, {variant:?}"));
        }
    }
    println!("{refused} of {} are refused", files.len());
    assert!(wrong.is_empty() && refused > 0, "{wrong:#?}");
}
