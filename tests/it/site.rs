//! The documentation site builds without a warning, looks right in a browser, and serves a skill that tells agents how to
//! use this version of skillpm.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use skillpm_testing::tools::{node, python, script};

use crate::support::nginx::Nginx;
use crate::support::npm::Npm;
use crate::support::{Sandbox, program};

const SKILL: &str = "skills/skillpm/SKILL.md";

/// Pages of each kind: a start, a guide with wide tables, a long reference, a page from outside of `docs/`.
const PAGES: [&str; 8] = [
    "index.html",
    "start/use.html",
    "start/build.html",
    "guide/mcp.html",
    "compare.html",
    "reference/policy.html",
    "design/architecture.html",
    "contributing.html",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Builds the site into `out` as `make site` does.
fn build(generator: &Path, out: &Path) {
    let sandbox = Sandbox::new();
    let mut command = Command::new("/bin/sh");
    command.arg(root().join("site/build.sh")).arg(out).env_clear().env("HOME", sandbox.home());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("MKDOCS", generator).env("SKILLPM", env!("CARGO_BIN_EXE_skillpm"));
    let output = sandbox.output(&mut command);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
}

/// In a table GitHub reads `\|` in code as `|`, and the generator does not: what is copied from there would not work.
fn no_code_is_escaped(site: &Path) {
    let code = regex::Regex::new("(?s)<code[^>]*>(.*?)</code>").expect("a pattern");
    let mut dirs = vec![site.to_path_buf()];
    let mut faults = Vec::new();
    let mut seen = 0;
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                let text = fs::read_to_string(&path).expect("a page");
                let codes: Vec<_> = code.captures_iter(&text).map(|found| found[1].to_owned()).collect();
                seen += codes.len();
                faults.extend(
                    codes.into_iter().filter(|code| code.contains("\\|")).map(|code| (path.clone(), code)),
                );
            }
        }
    }
    assert!(seen > 1000, "{seen} pieces of code");
    assert_eq!(faults, []);
}

/// What the files of an installed skill are, with their bytes.
fn files(dir: &Path) -> BTreeSet<(PathBuf, Vec<u8>)> {
    ["SKILL.md", "references/authoring.md", "references/json.md"]
        .map(|path| (PathBuf::from(path), fs::read(dir.join(path)).unwrap_or_default()))
        .into()
}

/// A page with a broken link, or a link to a heading that does not exist, would be a warning, and so an error.
#[test]
fn the_site_is_built_and_its_skill_is_installed() {
    let Some(generator) = python("python-env-site").map(|python| python.with_file_name("mkdocs")) else {
        return;
    };
    let Some(nginx) = Nginx::start() else { return };
    build(&generator, &nginx.root());
    no_code_is_escaped(&nginx.root());
    let skill = files(&root().join("skills/skillpm"));

    let sandbox = Sandbox::new();
    sandbox.ok(&["install", &nginx.url("/"), "--skill", "skillpm"]);
    assert_eq!(files(&sandbox.project().join(".agents/skills/skillpm")), skill);
    let lock = sandbox.read("skillpm.lock");
    assert!(lock.contains(&format!("version = \"{}\"", env!("CARGO_PKG_VERSION"))), "{lock}");

    let sandbox = Sandbox::new();
    if let Some(npm) = Npm::new(&sandbox) {
        let args = ["add", &nginx.url(""), "--skill", "skillpm", "--agent", "codex", "--yes", "--copy"];
        let said = npm.run(&sandbox, &args);
        assert_eq!(files(&sandbox.project().join(".agents/skills/skillpm")), skill, "{said}");
    }
    look(&nginx);
}

/// Runs a script with Chromium, which is told what `asked` says. Returns what it prints.
fn browse(script_name: &str, mut asked: Value) -> Option<String> {
    let chromium = program("chromium")?;
    let (node, axe) = (node()?, script("axe-core/axe.min.js")?);
    asked["chromium"] = json!(chromium);
    asked["modules"] = json!(axe.ancestors().nth(2));
    let mut command = Command::new(node);
    command.arg(root().join("tests/it/site").join(script_name)).arg(asked.to_string());
    let output = Sandbox::new().output(&mut command);
    assert_eq!(output.code, Some(0), "{output}");
    Some(output.stdout)
}

/// Looks at pages in two widths and two schemes, and leaves pictures in `target/artifacts/site/`.
fn look(nginx: &Nginx) {
    let Some(modules) = script("axe-core/axe.min.js") else { return };
    let out = modules.ancestors().nth(4).expect("where Cargo builds").join("artifacts/site");
    fs::create_dir_all(&out).expect("a directory");
    let url = nginx.url("");
    let faults = browse("look.mjs", json!({"out": out, "url": url, "pages": PAGES}));
    assert!(faults.as_deref().is_none_or(str::is_empty), "{}", faults.unwrap_or_default());
}

/// A guide shows the pages of a registry. `SKILLPM_BLESS=1 cargo test --test it site` takes the pictures again; they are
/// not compared, since each machine has its own fonts.
#[test]
fn the_pictures_of_a_registry_are_small() {
    let out = root().join("docs/images/registry");
    if std::env::var_os("SKILLPM_BLESS").is_some() {
        let Some(nginx) = Nginx::start() else { return };
        let sandbox = Sandbox::new();
        sandbox.ok(&["registry", "init", "registry", "--name", "acme"]);
        for skill in ["code-reviewer", "git-helper", "markdown-formatter"] {
            let skill = root().join("examples/skills").join(skill).display().to_string();
            sandbox.ok(&["registry", "add", "-r", "registry", &skill]);
        }
        let mut shell = sandbox.shell("skillpm-registry site registry --out \"$WWW/acme\"");
        let output = sandbox.output(shell.env("WWW", nginx.root()));
        assert_eq!(output.code, Some(0), "{output}");
        browse("shoot.mjs", json!({"out": out, "url": nginx.url("/acme/skills/git-helper/index.html")}));
    }
    for scheme in ["light", "dark"] {
        let picture = fs::metadata(format!("{}-{scheme}.png", out.display())).expect("a picture");
        assert!(picture.len() < 150_000, "{scheme}: {} bytes", picture.len());
    }
}

/// Whoever has this version gets the skill and the R package of this version.
#[test]
fn other_files_have_the_version_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    for (file, pattern, line) in [
        (SKILL, r#"(?m)^  version: ".*"$"#, format!("  version: \"{version}\"")),
        ("r/DESCRIPTION", "(?m)^Version: .*$", format!("Version: {version}")),
    ] {
        let kept = text(file);
        let written = regex::Regex::new(pattern).expect("a pattern").replace(&kept, line).into_owned();
        if written != kept && std::env::var_os("SKILLPM_BLESS").is_some() {
            fs::write(root().join(file), &written).expect("is written");
        }
        assert_eq!(written, text(file), "`SKILLPM_BLESS=1 cargo test --test it site` writes the version");
    }
    let (series, _) = version.rsplit_once('.').expect("three numbers");
    let said = format!("this skill is for {series}\n");
    assert!(text(SKILL).contains(&said), "{SKILL} names another version");
}

#[test]
fn the_skill_can_be_published() {
    let output = Sandbox::new().run(&[
        "validate",
        "--profile",
        "publish",
        "--strict",
        &root().join("skills").display().to_string(),
    ]);
    assert_eq!(output.code, Some(0), "{output}");
}

/// The fields that the skill tells agents to look at are in the schemas.
#[test]
fn the_skill_names_fields_that_exist() {
    let text = text("skills/skillpm/references/json.md");
    let row = regex::Regex::new(r"(?m)^\| `(\w+)` \| (?:array|object)[^|]*\| (.*) \|$").expect("a pattern");
    let mut rows = 0;
    for found in row.captures_iter(&text) {
        rows += 1;
        let schema = self::text(&format!("schema/{}.schema.json", &found[1]));
        for field in found[2].split('`').skip(1).step_by(2) {
            assert!(
                schema.contains(&format!("\"{field}\":")),
                "`{} --json` has no field `{field}`",
                &found[1]
            );
        }
    }
    assert!(rows > 10, "the table is read");
}
