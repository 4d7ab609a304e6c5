//! What build machines run: the hooks, the action, and the examples in their guide.
//!
//! Both YAML files are read with skillpm's own parser, as frontmatter.

use std::collections::{BTreeMap, BTreeSet};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use skillpm_format::document::{Document, Node, Value};

use crate::support::{Sandbox, program};

fn text(path: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if !path.exists() {
        println!("skipped: the published package carries no {}", path.display());
        return None;
    }
    Some(std::fs::read_to_string(path).expect("text"))
}

/// A YAML file below the key `file`: frontmatter is a mapping.
fn yaml(text: &str) -> Node {
    let indented = text.lines().fold(String::new(), |all, line| all + "  " + line + "\n");
    let document = Document::parse(format!("---\nfile:\n{indented}---\n"));
    assert_eq!(document.problems(), []);
    document.get("file").expect("read").clone()
}

fn get<'a>(node: &'a Node, path: &[&str]) -> &'a Node {
    path.iter().fold(node, |node, key| node.get(key).unwrap_or_else(|| panic!("no `{key}` of {path:?}")))
}

fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::Sequence { items, .. } => items,
        _ => panic!("a list is expected, not {}", node.kind()),
    }
}

/// The commands of skillpm that `script` runs, each with its flags and the profiles and formats in it.
fn calls(script: &str) -> Vec<(String, BTreeSet<String>)> {
    let mut calls = Vec::new();
    for line in script.lines() {
        let line = line.split(" #").next().unwrap_or_default();
        let Some((before, rest)) = line.split_once("skillpm ") else { continue };
        let is_call = before.trim_end().is_empty() || before.ends_with(['/', ' ']);
        let mut words = rest.split_whitespace();
        let Some(verb) = words.next().filter(|_| is_call && !before.contains("cargo")) else { continue };
        let flags = words.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned);
        calls.push((verb.to_owned(), flags.collect()));
    }
    calls
}

/// The flags that `skillpm VERB --help` shows; `None` where there is no such command.
fn flags(verb: &str) -> Option<BTreeSet<String>> {
    let output = Sandbox::new().run(&[verb, "--help"]);
    let page = (output.code == Some(0)).then_some(output.stdout)?;
    let words = page.split(|c: char| c.is_whitespace() || matches!(c, ',' | '`' | '[' | ']' | '='));
    Some(words.filter(|word| word.starts_with("--")).map(str::to_owned).collect())
}

fn assert_known(calls: &[(String, BTreeSet<String>)]) {
    assert!(!calls.is_empty());
    let mut known: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (verb, used) in calls {
        let flags = known
            .entry(verb)
            .or_insert_with(|| flags(verb).unwrap_or_else(|| panic!("there is no command `{verb}`")));
        let unknown: Vec<_> = used.difference(flags).collect();
        assert!(unknown.is_empty(), "`skillpm {verb}` has no {unknown:?}");
    }
}

#[test]
fn the_hooks_run_commands_that_are_there() {
    let Some(text) = text(".pre-commit-hooks.yaml") else { return };
    let hooks = yaml(&text);
    let hooks: Vec<_> = items(&hooks)
        .iter()
        .map(|hook| {
            let field = |key: &str| get(hook, &[key]).text().expect("text").to_owned();
            assert_eq!(field("language"), "rust");
            let rest =
                if field("id") == "skillpm-fmt" { "" } else { "|(^|/)(skills|scripts|references|assets)/" };
            assert_eq!(field("files"), format!(r"(?i)(^|/)SKILL\.md${rest}"));
            (field("id"), field("entry"))
        })
        .collect();
    assert_eq!(
        hooks.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(),
        ["skillpm-validate", "skillpm-fmt"]
    );
    let entries: String = hooks.into_iter().map(|(_, entry)| entry + "\n").collect();
    assert_known(&calls(&entries));
}

/// The first step of the action, with stand-ins for what it calls.
#[cfg(unix)]
#[test]
fn the_action_downloads_a_release_and_builds_its_own_revision_otherwise() {
    let Some(text) = text("action.yml") else { return };
    let action = yaml(&text);
    let steps = items(get(&action, &["runs", "steps"]));
    let script = steps.iter().find_map(|step| step.get("run")?.text()).expect("a script");
    if program("bash").is_none() {
        return;
    }
    let sandbox = Sandbox::new();
    for tool in ["rustup", "cargo", "sh", "pwsh"] {
        let tool = sandbox.write(
            &format!("bin/{tool}"),
            format!("#!/bin/bash\necho {tool} \"$@\" version=$SKILLPM_VERSION\n"),
        );
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).expect("a program");
    }
    let path =
        format!("{}:{}", sandbox.project().join("bin").display(), std::env::var("PATH").expect("a path"));
    let run = |version: &str, reference: &str, system: &str| {
        let paths = sandbox.write("paths", "");
        let output = Command::new("bash")
            .args(["-eo", "pipefail", "-c", script])
            .current_dir(sandbox.project())
            .envs([("VERSION", version), ("REF", reference), ("RUNNER_OS", system)])
            .envs([("RUNNER_TEMP", "/temp"), ("GITHUB_ACTION_PATH", "/action"), ("PATH", &path)])
            .env("GITHUB_PATH", &paths)
            .output()
            .expect("bash starts");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(std::fs::read_to_string(&paths).expect("paths"), "/temp/skillpm/bin\n");
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(run("0.2.0", "v0.1.0", "Linux"), "sh /action/packaging/install.sh version=0.2.0\n");
    assert_eq!(run("", "v0.1.0", "macOS"), "sh /action/packaging/install.sh version=0.1.0\n");
    let windows = run("0.1.0", "main", "Windows");
    assert_eq!(windows, "pwsh -NoProfile -File /action/packaging/install.ps1 version=0.1.0\n");
    for reference in ["main", "v1", "2f1d0c5b8a", ""] {
        let built = run("", reference, "Linux");
        assert!(
            built.contains("cargo +stable install --locked --path /action --root /temp/skillpm"),
            "{built}"
        );
    }
}

#[test]
fn the_action_runs_commands_that_are_there() {
    let Some(text) = text("action.yml") else { return };
    let action = yaml(&text);
    let inputs: Vec<_> = get(&action, &["inputs"]).pairs().iter().filter_map(|(key, _)| key.text()).collect();
    assert_eq!(inputs, ["version", "paths", "profile", "strict", "format"]);
    let steps = items(get(&action, &["runs", "steps"]));
    let scripts: Vec<_> = steps.iter().filter_map(|step| step.get("run")?.text()).collect();
    assert_eq!(scripts.len(), 2);
    assert_known(&calls(scripts[1]));
    let mut flags_variable: BTreeSet<String> = BTreeSet::new();
    for word in scripts[1].split(['(', ')', ' ']).filter(|word| word.starts_with("--") && word.len() > 2) {
        flags_variable.insert(word.to_owned());
    }
    assert_known(&[("validate".to_owned(), flags_variable)]);
    // What a workflow passes reaches the scripts as variables only.
    assert!(scripts.iter().all(|script| !script.contains("${{")));
    let default = |input: &str| get(&action, &["inputs", input, "default"]).text().expect("text").to_owned();
    assert_eq!(default("profile"), "", "what the project says is not passed over");
    let formats = Sandbox::new().run(&["validate", "--format", &default("format")]);
    assert!(!formats.stderr.contains("invalid value"), "{formats}");
    let guide = crate::ci::text("docs/guide/ci.md").expect("a guide");
    assert!(inputs.iter().all(|input| guide.contains(&format!("| `{input}` |"))), "each input is explained");
}

/// The scripts of the action, carried out by a shell on skills of which one is off.
#[cfg(unix)]
#[test]
fn the_action_s_script_works() {
    let Some(text) = text("action.yml") else { return };
    let action = yaml(&text);
    let steps = items(get(&action, &["runs", "steps"]));
    let script = steps.iter().filter_map(|step| step.get("run")?.text()).nth(1).expect("a script");
    if program("bash").is_none() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox
        .write("good dir/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files. Use for PDF.\n---\n");
    sandbox.write("bad/x/SKILL.md", "---\nname: y\ndescription: d\n---\n");
    let bin = Path::new(env!("CARGO_BIN_EXE_skillpm")).parent().expect("a directory").to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    let run_with = |profile: &str, paths: &str, format: &str, strict: &str| {
        let outputs = sandbox.write("outputs", "");
        let output = Command::new("bash")
            .args(["-eo", "pipefail", "-c", script])
            .current_dir(sandbox.project())
            .envs([("PATHS", paths), ("PROFILE", profile), ("STRICT", strict), ("FORMAT", format)])
            .env("PATH", &path)
            .env("RUNNER_TEMP", sandbox.home())
            .env("GITHUB_OUTPUT", &outputs)
            .output()
            .expect("bash starts");
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), stdout, sandbox.read("outputs").contains("sarif-file="))
    };
    let run_as = |profile: &str, paths: &str, format: &str| run_with(profile, paths, format, "false");
    let run = |paths: &str, format: &str| run_as("", paths, format);
    assert_eq!(run("  good dir\t\r\n\r\n", "human").0, Some(0));
    sandbox.write("warned/x/SKILL.md", "---\nname: x\ndescription: d\nlicence: MIT\n---\n");
    for (strict, code) in [("false", 0), ("", 0), ("FALSE", 0), ("true", 1), ("True", 1), ("TRUE", 1)] {
        let (found, stdout, _) = run_with("", "warned", "human", strict);
        assert_eq!(found, Some(code), "{strict}: {stdout}");
    }
    for strict in ["yes", "1", "true x"] {
        let (code, stdout, _) = run_with("", "warned", "human", strict);
        assert_eq!((code, stdout.as_str()), (Some(2), "::error::strict must be true or false\n"), "{strict}");
    }
    let (code, _, sarif) = run("good dir\n", "sarif");
    assert_eq!((code, sarif), (Some(0), true));
    let (code, stdout, sarif) = run("good dir\nbad\n", "sarif");
    assert_eq!((code, sarif), (Some(1), true), "{stdout}");
    assert!(stdout.contains("::error "), "{stdout}");
    let report = std::fs::read_to_string(sandbox.home().join("skillpm.sarif")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["version"], "2.1.0");
    assert_eq!(run("nowhere", "sarif").0, Some(2));
    assert_eq!(run("good dir", "human").0, Some(0));
    assert_eq!(run("good dir", "xml").0, Some(2));
    // The project's own profile holds, unless the workflow says another.
    sandbox.write("skillpm.toml", "[lint]\nprofile = \"lenient\"\n");
    assert_eq!(run("bad", "github").0, Some(0));
    assert_eq!(run_as("spec", "bad", "github").0, Some(1));
}

/// One version of an action of others, in the action and in what the pages show.
#[test]
fn findings_are_uploaded_by_one_version() {
    let files = ["action.yml", "docs/reference/validate.md", "docs/guide/ci.md"];
    let texts: Vec<_> = files.into_iter().filter_map(text).collect();
    let versions: BTreeSet<_> = texts
        .iter()
        .flat_map(|text| text.split("upload-sarif@").skip(1))
        .filter_map(|rest| rest.split_whitespace().next())
        .collect();
    assert!(versions.len() <= 1, "{versions:?}");
}

#[test]
fn the_guide_s_examples_use_flags_that_are_there() {
    let Some(text) = text("docs/guide/ci.md") else { return };
    let blocks: Vec<_> = text.split("```").skip(1).step_by(2).collect();
    assert!(blocks.len() >= 5);
    let mut all = Vec::new();
    for block in blocks {
        let (kind, code) = block.split_once('\n').expect("lines");
        if kind == "yaml" {
            yaml(code);
        }
        all.extend(calls(&code.replace("- .skillpm/bin/", "").replace("exec ", "")));
    }
    assert_known(&all);
}
