//! The documentation site builds without a warning, looks right in a browser, and serves a skill that tells agents how to
//! use this version of skillpm.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
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
const PAGES: [&str; 12] = [
    "index.html",
    "guide/benchmarks.html",
    "guide/uninstall.html",
    "reference/cli/install.html",
    "reference/rules.html",
    "start/use.html",
    "start/build.html",
    "guide/mcp.html",
    "compare.html",
    "reference/policy.html",
    "design/architecture.html",
    "contributing.html",
];

/// What people ask the search, and the page that it has to find first.
const QUESTIONS: &[(&str, &str)] = &[
    ("how do I pin a version", "guide/versions.html"),
    ("claude code", "reference/agents.html"),
    ("private registry", "guide/registry.html"),
    ("pre-commit", "guide/ci.html"),
    ("docker", "guide/install.html"),
    ("how do I remove a skill", "guide/uninstall.html"),
    ("how do I update a skill", "guide/update.html"),
    ("npx skills migrate", "guide/adopt.html"),
    ("come from npx skills", "guide/adopt.html"),
    ("upgrade skillpm", "guide/install.html"),
    ("--locked", "reference/cli/install.html"),
    ("monorepo", "guide/ci.html"),
    ("pin a version", "guide/versions.html"),
    ("uninstall", "guide/uninstall.html"),
    ("migrate from npx skills", "guide/adopt.html"),
    ("github token", "guide/github.html"),
    ("proxy", "reference/sources.html"),
    ("sandbox", "guide/run-scripts.html"),
    ("cursor", "reference/agents.html"),
    ("lockfile", "reference/files.html"),
    ("offline", "guide/air-gap.html"),
    ("--skill", "reference/cli/install.html"),
    ("environment variables", "reference/environment.html"),
    ("publish a skill", "guide/publish.html"),
    ("langchain", "guide/langchain.html"),
    ("mcp server", "guide/mcp.html"),
    ("why does my agent not see my skill", "guide/why-not.html"),
    ("yaml-unquoted-colon", "reference/rules/yaml-unquoted-colon.html"),
    ("undo", "reference/cli/undo.html"),
    ("ci", "guide/ci.html"),
    ("gitlab", "guide/ci.html"),
    ("benchmarks", "guide/benchmarks.html"),
    ("first skill", "start/use.html"),
    ("security", "security.html"),
    ("vs code", "guide/editors.html"),
    ("compare", "compare.html"),
    ("autocomplete", "guide/install.html"),
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

/// The pages of the site, by path.
fn html(site: &Path) -> BTreeMap<String, String> {
    let mut dirs = vec![site.to_path_buf()];
    let mut pages = BTreeMap::new();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                let name = path.strip_prefix(site).expect("a page").display().to_string();
                pages.insert(name, fs::read_to_string(&path).expect("a page"));
            }
        }
    }
    pages
}

/// Each page says of itself what it is, which version it belongs to, and where it can be edited.
fn pages_describe_themselves(pages: &BTreeMap<String, String>) {
    let tag = regex::Regex::new("<meta name=\"description\" content=\"([^\"]*)\">").expect("a pattern");
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    let version = format!("skillpm {}.", env!("CARGO_PKG_VERSION"));
    for (name, page) in pages.iter().filter(|(name, _)| *name != "404.html") {
        let description = tag.captures(page).map(|found| found.get(1).expect("a text").as_str());
        let description = description.unwrap_or_else(|| panic!("{name} has no description"));
        assert!((20..=200).contains(&description.len()), "{name}: {description}");
        if let Some(other) = seen.insert(description, name) {
            panic!("{name} and {other}: {description}");
        }
        assert!(page.contains(&version), "{name} does not say {version}");
        let is_generated = ["reference/cli/", "reference/rules/"].iter().any(|dir| name.starts_with(dir));
        assert_eq!(page.contains("rel=\"edit\""), !is_generated, "{name}");
    }
    assert!(pages["index.html"].contains("<title>Package manager for Agent Skills - skillpm</title>"));
    assert!(pages["contributing.html"].contains("/edit/main/CONTRIBUTING.md\""));
}

/// In a table GitHub reads `\|` in code as `|`, and the generator does not: what is copied from there would not work.
fn no_code_is_escaped(pages: &BTreeMap<String, String>) {
    let code = regex::Regex::new("(?s)<code[^>]*>(.*?)</code>").expect("a pattern");
    let codes = pages
        .iter()
        .flat_map(|(name, page)| code.captures_iter(page).map(move |found| (name, found[1].to_owned())));
    let codes: Vec<_> = codes.collect();
    assert!(codes.len() > 1000, "{} pieces of code", codes.len());
    let faults: Vec<_> = codes.into_iter().filter(|(_, code)| code.contains("\\|")).collect();
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
    let pages = html(&nginx.root());
    no_code_is_escaped(&pages);
    pages_describe_themselves(&pages);
    assert!(!nginx.root().join("lock").exists() && !nginx.root().join("pending").exists());
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
    questions_are_answered(&nginx);
}

/// Guides come first, and pages for those who work on skillpm last or not at all.
fn questions_are_answered(nginx: &Nginx) {
    let questions: Vec<_> = QUESTIONS.iter().map(|(question, _)| *question).collect();
    let Some(found) = browse("search.mjs", json!({"url": nginx.url(""), "questions": questions})) else {
        return;
    };
    let found: Vec<Vec<String>> = serde_json::from_str(&found).expect("a list for each question");
    let wrong: Vec<_> = QUESTIONS
        .iter()
        .zip(&found)
        .filter(|((_, page), found)| found.first().is_none_or(|first| first != page))
        .collect();
    assert!(wrong.is_empty() && found.len() == QUESTIONS.len(), "{wrong:#?}");
    let index = fs::read_to_string(nginx.root().join("search/search_index.json")).expect("an index");
    assert!(!index.contains("\"location\":\"reference/requirements.html"), "requirements are not searched");
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

/// The page begins with a chart, and can be read in a few minutes.
#[test]
fn the_chart_shows_what_the_tables_say() {
    let page = text("docs/guide/benchmarks.md");
    assert!(page.starts_with("# Benchmarks\n\n![") && page.contains("](../images/benchmarks.svg)\n"));
    let words = page.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    assert!(words <= 1200, "{words} words");
    let Some(python) = program("python3") else { return };
    let mut command = Command::new(python);
    command.arg(root().join("benches/chart.py")).arg("--check");
    let output = Sandbox::new().output(&mut command);
    assert_eq!(output.code, Some(0), "`python3 benches/chart.py` draws it anew: {output}");
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
