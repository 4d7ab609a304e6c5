//! Skills that packages bring along: packages that were really installed by their own managers, and
//! hostile ones.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skillpm_format::digest::Digest;

use crate::support::sandbox::Output;
use crate::support::snapshot::copy;
use crate::support::{Sandbox, find_program, skip_without};

/// The text of a skill.
fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does what {name} does.\n---\n\nDo {name}.\n")
}

/// Writes a file anywhere, directories above it included.
fn put(path: PathBuf, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    std::fs::write(path, text).expect("a file");
}

/// Runs a package manager; `None` where it is not on this machine.
fn tool(program: &Path, args: &[&str], dir: &Path, vars: &[(&str, &Path)]) -> Option<()> {
    let mut command = Command::new(program);
    command.args(args).current_dir(dir).env_remove("VIRTUAL_ENV").stdin(Stdio::null());
    for (name, value) in vars {
        command.env(name, value);
    }
    let Ok(output) = command.output() else {
        skip_without(&program.display().to_string());
        return None;
    };
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {args:?}: {text}", program.display());
    Some(())
}

/// Fails unless all went well.
fn good(output: Output) -> Output {
    assert_eq!(output.code, Some(0), "{output}");
    output
}

/// Fails unless the run ended with `code`, and changed nothing.
#[track_caller]
fn refused(sandbox: &Sandbox, args: &[&str], exit: i32, code: &str, values: &[&str]) {
    sandbox.fails(args, exit, code, values);
    assert!(!sandbox.project().join(".agents").exists(), "something was installed");
    assert!(!sandbox.project().join("skillpm.toml").exists(), "the manifest was written");
}

/// Takes away what was installed and the store, so that a restore needs the package.
fn forget(sandbox: &Sandbox) {
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("installed");
    std::fs::remove_dir_all(sandbox.home().join(".local")).expect("a store");
}

/// The digest in the lockfile.
fn digest(sandbox: &Sandbox) -> String {
    let lock = sandbox.read("skillpm.lock");
    lock.lines().find(|line| line.starts_with("digest")).expect("a digest").to_owned()
}

// Python

/// A backend for pip that needs nothing but Python itself.
const BACKEND: &str = r#"
import os, zipfile, tomllib
with open("pyproject.toml", "rb") as file:
    VERSION = tomllib.load(file)["project"]["version"]
INFO = f"demo_pkg-{VERSION}.dist-info"

def wheel(directory, files):
    name = f"demo_pkg-{VERSION}-py3-none-any.whl"
    files[f"{INFO}/METADATA"] = f"Metadata-Version: 2.1\nName: Demo.Pkg\nVersion: {VERSION}\n"
    files[f"{INFO}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{INFO}/entry_points.txt"] = "[console_scripts]\ndemo = demo_pkg:main\n"
    files[f"{INFO}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{INFO}/RECORD"])
    with zipfile.ZipFile(os.path.join(directory, name), "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name

def build_wheel(directory, config_settings=None, metadata_directory=None):
    files = {f"demo_pkg-{VERSION}.data/data/share/skills/shared/SKILL.md": open("shared.md").read()}
    for dir, _, names in os.walk("demo_pkg"):
        for name in names:
            path = os.path.join(dir, name)
            files[path.replace(os.sep, "/")] = open(path).read()
    return wheel(directory, files)

def build_editable(directory, config_settings=None, metadata_directory=None):
    return wheel(directory, {"__editable__.demo_pkg.pth": os.getcwd() + "\n"})
"#;

/// The source of a Python distribution with two skills, below `dir`.
fn distribution(dir: &Path, version: &str, pdf: &str) {
    let project = "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n[project]\n\
                   name = \"Demo.Pkg\"\n";
    put(dir.join("pyproject.toml"), format!("{project}version = \"{version}\"\n"));
    put(dir.join("backend.py"), BACKEND);
    put(dir.join("shared.md"), skill("shared"));
    put(dir.join("demo_pkg/__init__.py"), "def main(): open('CANARY', 'w')\nmain()\n");
    put(dir.join("demo_pkg/skills/pdf/SKILL.md"), pdf);
    put(dir.join("demo_pkg/skills/pdf/scripts/run.py"), "print(1)\n");
    put(dir.join("demo_pkg/tests/skills/fake/SKILL.md"), skill("fake"));
}

/// Makes the environment `.venv`, if there is a Python with pip that can.
fn venv(sandbox: &Sandbox) -> Option<()> {
    let python = Path::new("python3");
    let has_pip = Command::new(python).args(["-m", "pip", "--version"]).output();
    if !has_pip.is_ok_and(|output| output.status.success()) {
        skip_without("python3 -m pip");
        return None;
    }
    tool(python, &["-m", "venv", "--without-pip", ".venv"], &sandbox.project(), &[])
}

/// Runs pip of this machine on `.venv`.
fn pip(sandbox: &Sandbox, args: &[&str]) {
    let pip = ["-m", "pip", "-q", "--disable-pip-version-check", "--python", ".venv/bin/python"];
    tool(Path::new("python3"), &[&pip, args].concat(), &sandbox.project(), &[]).expect("pip");
}

fn pip_install(sandbox: &Sandbox, args: &[&str]) {
    pip(sandbox, &[&["install", "--no-index", "--no-build-isolation", "--force-reinstall"], args].concat());
}

/// Where pip put what it installed.
fn site_packages(sandbox: &Sandbox) -> PathBuf {
    let lib = std::fs::read_dir(sandbox.project().join(".venv/lib")).expect("an environment").next();
    lib.expect("a version").expect("an entry").path().join("site-packages")
}

/// Makes the installed distribution another version, as pip would: a start of pip takes seconds.
fn another_version(site: &Path, old: &str, new: &str) {
    let info = |version: &str| format!("demo_pkg-{version}.dist-info");
    std::fs::rename(site.join(info(old)), site.join(info(new))).expect("renames");
    for file in ["METADATA", "RECORD"] {
        let path = site.join(info(new)).join(file);
        let text = std::fs::read_to_string(&path).expect(file);
        std::fs::write(&path, text.replace(&info(old), &info(new)).replace(old, new)).expect("writes");
    }
}

/// The skills of a distribution that pip installed; nothing of it is run, and what Python compiled is no
/// part of them.
#[test]
fn a_python_distribution() {
    let sandbox = Sandbox::new();
    let source = sandbox.home().join("demo");
    distribution(&source, "1.0", &skill("pdf"));
    if venv(&sandbox).is_none() {
        return;
    }
    pip_install(&sandbox, &[&source.display().to_string()]);
    sandbox.tells(
        &["install", "--list", "python:demo_pkg"],
        0,
        ": name path",
        &["shared .data/share/skills/shared", "pdf demo_pkg/skills/pdf"],
    );
    good(sandbox.run(&["install", "python:demo_pkg", "--skill", "*"]));
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    pdf = { python = "demo-pkg", path = "demo_pkg/skills/pdf" }
    shared = { python = "demo-pkg", path = ".data/share/skills/shared" }
    "#);
    insta::assert_snapshot!(sandbox.read("skillpm.lock"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "pdf"
    source = "python:demo-pkg"
    path = "demo_pkg/skills/pdf"
    revision = "1.0"
    digest = "sha256:fec8f9aac75c54b482acd0dab6a252885f9fee163e02db3317c22ac45a50e838"

    [[skill]]
    name = "shared"
    source = "python:demo-pkg"
    path = ".data/share/skills/shared"
    revision = "1.0"
    digest = "sha256:bc748fff0d4f65fc007ca71b499ceaee54f6a6d5f8eae605b7682d0720128957"
    "#);
    insta::assert_snapshot!(sandbox.tree(&sandbox.project().join(".agents/skills")).join("\n"), @"
    644 pdf/SKILL.md
    644 pdf/scripts/run.py
    644 shared/SKILL.md
    pdf/
    pdf/scripts/
    shared/
    ");
    assert!(!sandbox.project().join("CANARY").exists(), "its code was run");

    // Another version with the same bytes is as good.
    let site = site_packages(&sandbox);
    another_version(&site, "1.0", "2.0");
    forget(&sandbox);
    good(sandbox.run(&["install", "--frozen"]));

    // One with other bytes is not.
    another_version(&site, "2.0", "3.0");
    put(site.join("demo_pkg/skills/pdf/SKILL.md"), skill("pdf").replace("Do pdf.", "Do it all."));
    forget(&sandbox);
    let values = ["`python:demo-pkg`", "`python -m pip install demo-pkg==1.0`", "`skillpm update pdf`"];
    sandbox.fails(&["install"], 5, "integrity", &values);

    std::fs::remove_dir_all(site.join("demo_pkg-3.0.dist-info")).expect("removes");
    let values = ["`python:demo-pkg`", ".venv/lib/", "`python -m pip install demo-pkg==1.0`"];
    sandbox.fails(&["install"], 2, "usage", &values);
}

/// An editable installation has the same skills as the wheel, with the same bytes.
#[test]
fn an_editable_python_distribution() {
    let sandbox = Sandbox::new();
    let source = sandbox.project().join("libs/my demo");
    distribution(&source, "1.0", &skill("pdf"));
    if venv(&sandbox).is_none() {
        return;
    }
    pip_install(&sandbox, &["./libs/my demo"]);
    good(sandbox.run(&["install", "python:Demo.Pkg@pdf"]));
    let wheel = digest(&sandbox);
    pip_install(&sandbox, &["-e", "./libs/my demo"]);
    forget(&sandbox);
    good(sandbox.run(&["install", "--frozen"]));
    std::fs::write(source.join("demo_pkg/skills/pdf/SKILL.md"), skill("pdf") + "More.\n").expect("writes");
    good(sandbox.run(&["install", "python:demo-pkg@pdf"]));
    assert_ne!(digest(&sandbox), wheel);

    // One that lies elsewhere is not followed: the environment came with the project, perhaps.
    let outside = Sandbox::new();
    let source = outside.home().join("demo");
    distribution(&source, "1.0", &skill("pdf"));
    let environment = outside.project().join(".venv");
    std::fs::create_dir(&environment).expect("a directory");
    copy(&sandbox.project().join(".venv"), &environment);
    let site = site_packages(&outside);
    put(site.join("__editable__.demo_pkg.pth"), format!("{}\n", source.display()));
    let url = format!("{{\"dir_info\": {{\"editable\": true}}, \"url\": \"file://{}\"}}", source.display());
    put(site.join("demo_pkg-1.0.dist-info/direct_url.json"), url);
    refused(
        &outside,
        &["install", "python:demo-pkg"],
        5,
        "integrity",
        &["python:demo-pkg", "skillpm install --list [DIR]/home/demo"],
    );
    // An environment that its user names is his own.
    let environment = outside.home().join("env");
    std::fs::rename(outside.project().join(".venv"), &environment).expect("moves");
    let mut outside = outside;
    outside.env("SKILLPM_PYTHON_ENV", &environment.display().to_string());
    good(outside.run(&["install", "python:demo-pkg@pdf"]));
}

/// A distribution made by hand in `.venv` of the project.
fn by_hand(sandbox: &Sandbox, record: &str) -> PathBuf {
    let site = sandbox.project().join(".venv/lib/python3.12/site-packages");
    put(site.join("demo-1.0.dist-info/METADATA"), "Name: demo\nVersion: 1.0\n\nVersion: 9\n");
    put(site.join("demo-1.0.dist-info/RECORD"), record);
    put(site.join("demo/skills/pdf/SKILL.md"), skill("pdf"));
    put(site.join("demo/skills/pdf/notes.md"), "not in the RECORD\n");
    site
}

const RECORD: &str = "demo/skills/pdf/SKILL.md,,\n";

/// GHSA-pjjw-68hj-v9mw of other tools: `RECORD` is a stranger's, and nothing outside is read for it.
#[cfg(unix)]
#[test]
fn a_hostile_record() {
    let record = |record: &str, exit: i32, code: &str, values: &[&str]| {
        let sandbox = Sandbox::new();
        by_hand(&sandbox, record);
        refused(&sandbox, &["install", "python:demo"], exit, code, values);
    };
    record(
        &format!("{RECORD}../../../../../home/secret/SKILL.md,,\n"),
        5,
        "integrity",
        &[
            "python:demo",
            "../../../../../home/secret/SKILL.md",
            ".venv/lib/python3.12/site-packages/demo-1.0.dist-info/RECORD:2:1",
        ],
    );
    record(
        &format!("{RECORD}\n/etc/passwd,,\n"),
        5,
        "integrity",
        &["python:demo", "/etc/passwd", ".venv/lib/python3.12/site-packages/demo-1.0.dist-info/RECORD:3:1"],
    );
    record(
        "\"demo/skills/pdf/SKILL.md\n",
        5,
        "integrity",
        &["python:demo", ".venv/lib/python3.12/site-packages/demo-1.0.dist-info/RECORD:1:1"],
    );
    record(
        &format!("{RECORD}demo/skills/pdf/gone.md,,\n"),
        5,
        "integrity",
        &["python:demo", "RECORD", "demo/skills/pdf/gone.md"],
    );

    // A directory and a file that are links.
    let sandbox = Sandbox::new();
    let site = by_hand(&sandbox, &format!("{RECORD}demo/skills/out/SKILL.md,,\n"));
    put(sandbox.home().join("secret/SKILL.md"), skill("secret"));
    std::os::unix::fs::symlink(sandbox.home().join("secret"), site.join("demo/skills/out")).expect("links");
    refused(
        &sandbox,
        &["install", "python:demo"],
        5,
        "integrity",
        &[
            "python:demo",
            "demo/skills/out/SKILL.md",
            ".venv/lib/python3.12/site-packages/demo/skills/out",
            "skillpm install --list [DIR]/home/secret",
        ],
    );
    let sandbox = Sandbox::new();
    let site = by_hand(&sandbox, &format!("{RECORD}demo/skills/pdf/key,,\n"));
    put(sandbox.home().join("key"), "TOPSECRET");
    std::os::unix::fs::symlink(sandbox.home().join("key"), site.join("demo/skills/pdf/key")).expect("links");
    let error = sandbox.fails(&["install", "python:demo"], 5, "integrity", &["`key`"]);
    assert!(!error.to_string().contains("TOPSECRET"), "{error}");

    // An environment that is a link out of the project is none.
    let sandbox = Sandbox::new();
    by_hand(&sandbox, RECORD);
    let elsewhere = sandbox.home().join("env");
    std::fs::rename(sandbox.project().join(".venv"), &elsewhere).expect("moves");
    std::os::unix::fs::symlink(&elsewhere, sandbox.project().join(".venv")).expect("links");
    refused(
        &sandbox,
        &["install", "python:demo"],
        2,
        "usage",
        &["python:demo", ".venv (a link out of the project)"],
    );
}

#[test]
fn which_environment_is_meant() {
    let mut sandbox = Sandbox::new();
    by_hand(&sandbox, RECORD);
    good(sandbox.run(&["install", "python:demo"]));
    // What `RECORD` does not name is no part of the package.
    assert!(!sandbox.project().join(".agents/skills/pdf/notes.md").exists());
    let active = sandbox.home().join("active");
    std::fs::create_dir_all(active.join("lib/python3.12/site-packages")).expect("creates");
    sandbox.env("VIRTUAL_ENV", &active.display().to_string());
    let output = sandbox.run(&["install", "python:demo"]);
    assert!(output.stderr.contains("home/active/lib/python3.12/site-packages"), "{output}");
    sandbox.env("SKILLPM_PYTHON_ENV", ".venv");
    good(sandbox.run(&["install", "python:demo"]));
    sandbox.env("SKILLPM_PYTHON_ENV", "none");
    sandbox.fails(
        &["install", "python:demo"],
        3,
        "configuration",
        &["python:demo", "SKILLPM_PYTHON_ENV", "none"],
    );
}

// npm

/// The source of an npm package, below `dir`.
fn package(dir: &Path, json: &str) {
    put(dir.join("package.json"), json);
    put(dir.join("index.js"), "require('fs').writeFileSync('CANARY', '')\n");
    put(dir.join("skills/pdf/SKILL.md"), skill("pdf"));
    put(dir.join("skills/pdf/run.js"), "1\n");
}

fn npm(sandbox: &Sandbox, args: &[&str], dir: &Path) -> Option<()> {
    let cache = sandbox.home().join(".npm");
    let quiet = ["--offline", "--no-audit", "--no-fund", "--silent"];
    tool(Path::new("npm"), &[args, &quiet].concat(), dir, &[("npm_config_cache", &cache)])
}

/// A package that npm installed from its tarball, and one that it linked.
#[test]
fn an_npm_package() {
    let sandbox = Sandbox::new();
    let source = sandbox.home().join("demo");
    let json = r#"{"name": "@acme/demo", "version": "1.2.0", "scripts": {"postinstall": "node index.js"}}"#;
    package(&source, json);
    sandbox.write("package.json", "{\"name\": \"app\", \"version\": \"1.0.0\"}");
    if npm(&sandbox, &["pack"], &source).is_none() {
        return;
    }
    let tarball = source.join("acme-demo-1.2.0.tgz").display().to_string();
    npm(&sandbox, &["install", "--ignore-scripts", &tarball], &sandbox.project()).expect("npm");
    good(sandbox.run(&["install", "npm:@acme/demo"]));
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    pdf = { npm = "@acme/demo", path = "skills/pdf" }
    "#);
    insta::assert_snapshot!(sandbox.read("skillpm.lock"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "pdf"
    source = "npm:@acme/demo"
    path = "skills/pdf"
    revision = "1.2.0"
    digest = "sha256:da624298afa5e5d4cdfc337bcadca70e44315002b9740ac0c4a3a0450558cfa0"
    "#);
    assert!(!sandbox.project().join("CANARY").exists(), "its code was run");
    forget(&sandbox);
    good(sandbox.run(&["install", "--frozen"]));
    good(sandbox.run(&["install", "--from-project"]));

    // A directory is linked: within the repository that is followed, out of it not.
    let sandbox = Sandbox::new();
    package(&sandbox.project().join("packages/demo"), json);
    sandbox.write(
        "package.json",
        "{\"name\": \"app\", \"version\": \"1.0.0\", \"workspaces\": [\"packages/*\"]}",
    );
    npm(&sandbox, &["install", "--ignore-scripts"], &sandbox.project()).expect("npm");
    assert!(sandbox.project().join("node_modules/@acme/demo").is_symlink());
    good(sandbox.run(&["install", "npm:@acme/demo"]));
    let sandbox = Sandbox::new();
    let source = sandbox.home().join("demo");
    package(&source, json);
    sandbox.write("package.json", "{\"name\": \"app\", \"version\": \"1.0.0\"}");
    npm(&sandbox, &["install", "--ignore-scripts", &source.display().to_string()], &sandbox.project())
        .expect("npm");
    refused(
        &sandbox,
        &["install", "npm:@acme/demo"],
        5,
        "integrity",
        &["npm:@acme/demo", "node_modules/@acme/demo", "skillpm install --list [DIR]/home/demo"],
    );
}

/// The layout of pnpm: a link into `node_modules/.pnpm`.
#[cfg(unix)]
#[test]
fn an_npm_package_as_pnpm_lays_it_out() {
    let sandbox = Sandbox::new();
    let modules = sandbox.project().join("node_modules");
    let store = modules.join(".pnpm/demo@1.0.0/node_modules/demo");
    package(&store, "{\"name\": \"demo\", \"version\": \"1.0.0\"}");
    std::os::unix::fs::symlink(".pnpm/demo@1.0.0/node_modules/demo", modules.join("demo")).expect("links");
    good(sandbox.run(&["install", "npm:demo"]));
}

/// `node_modules` of the repository around the project, and no further up.
#[test]
fn where_npm_packages_are_looked_for() {
    let sandbox = Sandbox::new();
    package(&sandbox.project().join("node_modules/demo"), "{\"version\": \"1.0.0\"}");
    sandbox.write("app/skillpm.toml", "");
    let run = || {
        let mut command = sandbox.command(&["install", "npm:demo"]);
        command.current_dir(sandbox.project().join("app")).output().expect("runs")
    };
    let output = run();
    assert_eq!(output.status.code(), Some(2), "what is above the project is somebody else's");
    std::fs::create_dir(sandbox.project().join(".git")).expect("a repository");
    assert!(run().status.success());
}

/// What `skills` in `package.json` says.
#[test]
fn what_an_npm_package_declares() {
    let skills = |value: &str| {
        let sandbox = Sandbox::new();
        let dir = sandbox.project().join("node_modules/demo");
        package(&dir, &format!("{{\n  \"version\": \"1.0.0\",\n  \"skills\": {value}\n}}"));
        put(dir.join("agents/deep/x/SKILL.md"), skill("x"));
        put(dir.join("elsewhere/y/SKILL.md"), skill("y"));
        sandbox
    };
    let names = |value: &str| {
        let output = good(skills(value).run(&["install", "--list", "--json", "npm:demo"]));
        let found: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
        let names = found.as_array().expect("a list").iter().map(|skill| skill["name"].to_string());
        names.collect::<Vec<_>>().join(" ").replace('"', "")
    };
    assert_eq!(names("\"./agents\""), "x pdf");
    assert_eq!(names("[\"./agents/deep/x\", \"elsewhere/y\"]"), "x y pdf");
    // Other tools mean sources by it, and others something else.
    assert_eq!(names("[\"owner/repo#v1@z\", {\"source\": \"npm:other\"}]"), "pdf");
    assert_eq!(names("{\"x\": 1}"), "pdf");
    let sandbox = skills(
        "[\"owner/repo#v1@z\", {\"source\": \"npm:other\"}, \"o/r/x; rm -rf ~\", {\"source\": \"~/x\"}]",
    );
    sandbox.write("package.json", "{\"dependencies\": {\"demo\": \"1\"}}");
    assert_eq!(sandbox.run(&["install", "--from-project", "--list", "-s", "other"]).code, Some(2));
    let output = sandbox.ok(&["install", "--from-project", "--list"]);
    assert!(
        output.stdout.starts_with("pdf\n") && output.stdout.ends_with("skills/pdf in npm:demo\n"),
        "{output}"
    );
    let commands =
        ["`skillpm install 'owner/repo#v1@z'`", "`npm install other`", "`skillpm install npm:other`"];
    assert!(commands.iter().all(|command| output.stderr.contains(command)), "{output}");
    assert!(!output.stderr.contains("rm -rf"), "{output}");

    let sandbox = skills("[\"./agents\",\n    \"../../../home\"]");
    refused(
        &sandbox,
        &["install", "npm:demo"],
        5,
        "integrity",
        &["npm:demo", "../../../home", "node_modules/demo/package.json:4:5"],
    );
    let sandbox = Sandbox::new();
    package(&sandbox.project().join("node_modules/demo"), "{\"version\": 1,}");
    refused(
        &sandbox,
        &["install", "npm:demo"],
        5,
        "integrity",
        &["npm:demo", "node_modules/demo/package.json:1:15"],
    );
    let sandbox = Sandbox::new();
    package(&sandbox.project().join("node_modules/demo"), "{\"version\": \"1\\n[[skill]]\"}");
    refused(&sandbox, &["install", "npm:demo"], 5, "integrity", &["npm:demo", "1\\n[[skill]]"]);
}

/// Links in a package lead nowhere.
#[cfg(unix)]
#[test]
fn links_in_a_package() {
    let sandbox = Sandbox::new();
    let dir = sandbox.project().join("node_modules/demo");
    put(dir.join("package.json"), "{\"version\": \"1.0.0\"}");
    put(sandbox.home().join("secret/x/SKILL.md"), skill("x"));
    std::os::unix::fs::symlink(sandbox.home().join("secret"), dir.join("skills")).expect("links");
    refused(&sandbox, &["install", "npm:demo"], 2, "usage", &["npm:demo"]);
    std::fs::remove_file(dir.join("skills")).expect("removes");
    put(dir.join("skills/x/SKILL.md"), skill("x"));
    std::os::unix::fs::symlink("/etc/passwd", dir.join("skills/x/passwd")).expect("links");
    refused(&sandbox, &["install", "npm:demo"], 5, "integrity", &["passwd"]);
}

// R

/// A source package of R with a skill in `inst/skills` (S4-22).
fn r_package(dir: &Path) {
    put(
        dir.join("DESCRIPTION"),
        "Package: demo.r\nVersion: 0.3-1\nTitle: Demo\nDescription: Shows\n    skills.\nLicense: MIT\nAuthor: x\n\
         Maintainer: x <x@example.com>\n",
    );
    put(dir.join("NAMESPACE"), "");
    put(dir.join("inst/skills/tidy/SKILL.md"), skill("tidy"));
    put(dir.join("skills/no/SKILL.md"), skill("no"));
}

/// S4-22: what R installed from `inst/skills`.
#[test]
fn an_r_package() {
    let mut sandbox = Sandbox::new();
    let source = sandbox.home().join("demo.r");
    r_package(&source);
    let library = sandbox.home().join("library");
    std::fs::create_dir(&library).expect("creates");
    if find_program("R").is_none() {
        return eprintln!(
            "skipped: `R` was not found; it is so large that `make test-tools` does not install it"
        );
    }
    let args = ["CMD", "INSTALL", "--no-docs", "--library=library", "demo.r"];
    tool(Path::new("R"), &args, &sandbox.home(), &[]).expect("R");
    sandbox.env("R_LIBS", &library.display().to_string());
    good(sandbox.run(&["install", "r:demo.r"]));
    assert!(sandbox.read("skillpm.lock").contains("revision = \"0.3-1\""));
    forget(&sandbox);
    good(sandbox.run(&["install", "--frozen"]));
}

/// S4-22: the layout of an installed package, in every library.
#[cfg(unix)]
#[test]
fn the_libraries_of_r() {
    let installed = |dir: PathBuf, version: &str| {
        put(dir.join("DESCRIPTION"), format!("Package: demo\nVersion: {version}\nBuilt: R 4.4.1\n"));
        put(dir.join("skills/tidy/SKILL.md"), skill("tidy"));
    };
    let mut sandbox = Sandbox::new();
    installed(sandbox.home().join("R/x86_64-pc-linux-gnu-library/4.2/demo"), "4.2");
    installed(sandbox.home().join("site/demo"), "site");
    installed(sandbox.home().join("own/demo"), "own");
    // renv links into its cache.
    installed(sandbox.home().join(".cache/R/renv/cache/v5/R-4.4/x/demo/1.0/abc/demo"), "renv");
    let version = |sandbox: &Sandbox| {
        good(sandbox.run(&["install", "r:demo"]));
        let lock = sandbox.read("skillpm.lock");
        lock.lines().find_map(|line| line.strip_prefix("revision = ")).expect("a revision").to_owned()
    };
    assert_eq!(version(&sandbox), "\"4.2\"");
    let (site, own) = (sandbox.home().join("site"), sandbox.home().join("own"));
    sandbox.env("R_LIBS_SITE", &site.display().to_string());
    assert_eq!(version(&sandbox), "\"site\"");
    sandbox.env("R_LIBS", &format!("{}:{}", sandbox.home().join("none").display(), own.display()));
    assert_eq!(version(&sandbox), "\"own\"");
    let library = sandbox.project().join("renv/library/linux-debian/R-4.4/x86_64-pc-linux-gnu");
    std::fs::create_dir_all(&library).expect("creates");
    let cached = sandbox.home().join(".cache/R/renv/cache/v5/R-4.4/x/demo/1.0/abc/demo");
    std::os::unix::fs::symlink(&cached, library.join("demo")).expect("links");
    assert_eq!(version(&sandbox), "\"renv\"");
    sandbox.write("renv.lock", r#"{"R": {}, "Packages": {"demo": {"Package": "demo"}, "none": {}}}"#);
    sandbox.tells(&["install", "--from-project", "--list"], 0, ": name path", &["tidy skills/tidy"]);

    // A link of the project's library to anywhere else is not followed.
    std::fs::remove_file(library.join("demo")).expect("removes");
    std::os::unix::fs::symlink(own.join("demo"), library.join("demo")).expect("links");
    let output = sandbox.run(&["install", "r:demo"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stderr.contains("out of the project"), "{output}");
}

#[test]
fn a_hostile_description() {
    let description = |text: &[u8], exit: i32, code: &str, values: &[&str]| {
        let mut sandbox = Sandbox::new();
        let library = sandbox.home().join("library");
        put(library.join("demo/DESCRIPTION"), text);
        put(library.join("demo/skills/x/SKILL.md"), skill("x"));
        sandbox.env("R_LIBS", &library.display().to_string());
        refused(&sandbox, &["install", "r:demo"], exit, code, values);
    };
    description(
        b"Package: other\nVersion: 1\n",
        5,
        "integrity",
        &["r:demo", "[DIR]/home/library/demo/DESCRIPTION", "other"],
    );
    description(
        b"Package: demo\n\nVersion: 1\n",
        5,
        "integrity",
        &["r:demo", "[DIR]/home/library/demo/DESCRIPTION"],
    );
    description(b"Package: demo\nVersion: 1 \x1b[2J\n", 5, "integrity", &["r:demo", "1 \\u{1b}[2J"]);
}

// Rust

fn cargo(sandbox: &Sandbox, args: &[&str], dir: &Path) -> Option<()> {
    let program = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
    let home = sandbox.home().join(".cargo");
    tool(&program, args, dir, &[("CARGO_HOME", &home)])
}

/// The source of a crate with a skill, below `dir`.
fn crate_source(dir: &Path) {
    put(
        dir.join("Cargo.toml"),
        "[package]\nname = \"demo-crate\"\nversion = \"1.4.0\"\nedition = \"2021\"\nlicense = \"MIT\"\ndescription = \"x\"\n",
    );
    put(dir.join("src/lib.rs"), "");
    put(dir.join("build.rs"), "fn main() { std::fs::write(\"CANARY\", \"\").unwrap() }\n");
    put(dir.join("skills/borrow/SKILL.md"), skill("borrow"));
}

/// A project that needs the crate, where `dependency` says it is.
fn rust_project(sandbox: &Sandbox, dependency: &str) {
    sandbox.write("src/lib.rs", "");
    sandbox.write(
        "Cargo.toml",
        format!("[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\ndemo-crate = {dependency}\n"),
    );
}

/// A crate that Cargo fetched from a registry on this machine, and the same in `vendor`: one digest.
#[test]
fn a_crate_of_a_registry() {
    let sandbox = Sandbox::new();
    let source = sandbox.home().join("demo-crate");
    crate_source(&source);
    if cargo(
        &sandbox,
        &["package", "--offline", "--no-verify", "--allow-dirty", "-q", "--target-dir", "target"],
        &source,
    )
    .is_none()
    {
        return;
    }
    let registry = sandbox.home().join("registry");
    let packed = std::fs::read(source.join("target/package/demo-crate-1.4.0.crate")).expect("packed");
    let entry = serde_json::json!({
        "name": "demo-crate", "vers": "1.4.0", "deps": [], "features": {}, "yanked": false,
        "cksum": Digest::of(&packed).hex(),
    });
    put(registry.join("demo-crate-1.4.0.crate"), packed);
    put(registry.join("index/de/mo/demo-crate"), format!("{entry}\n"));
    rust_project(&sandbox, "\"1\"");
    let replaced = format!(
        "[source.crates-io]\nreplace-with = \"local\"\n[source.local]\nlocal-registry = {registry:?}\n"
    );
    sandbox.write(".cargo/config.toml", &replaced);
    cargo(&sandbox, &["generate-lockfile", "--offline", "-q"], &sandbox.project()).expect("cargo");
    refused(
        &sandbox,
        &["install", "crate:demo-crate"],
        2,
        "usage",
        &["crate:demo-crate", "vendor", "[DIR]/home/.cargo/registry/src/*/demo-crate-1.4.0"],
    );
    cargo(&sandbox, &["fetch", "--offline", "-q"], &sandbox.project()).expect("cargo");
    good(sandbox.run(&["install", "crate:demo_crate"]));
    insta::assert_snapshot!(sandbox.read("skillpm.lock"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "borrow"
    source = "crate:demo_crate"
    path = "skills/borrow"
    revision = "1.4.0"
    digest = "sha256:96629ec25eec9982a9a5458f9d75f22a8b87a913ea9c4222ada40df42243450b"
    "#);
    assert!(!sandbox.project().join("CANARY").exists(), "its code was run");

    cargo(&sandbox, &["vendor", "--offline", "--respect-source-config", "-q"], &sandbox.project())
        .expect("cargo");
    std::fs::remove_dir_all(sandbox.home().join(".cargo")).expect("removes");
    forget(&sandbox);
    good(sandbox.run(&["install", "--frozen"]));
    good(sandbox.run(&["install", "--from-project"]));
}

#[test]
fn crates_of_paths_and_repositories() {
    let sandbox = Sandbox::new();
    crate_source(&sandbox.project().join("crates/demo"));
    rust_project(&sandbox, "{ path = \"crates/demo\" }");
    if cargo(&sandbox, &["generate-lockfile", "--offline", "-q"], &sandbox.project()).is_none() {
        return;
    }
    good(sandbox.run(&["install", "crate:demo-crate"]));

    let sandbox = Sandbox::new();
    crate_source(&sandbox.home().join("demo"));
    rust_project(&sandbox, "{ path = \"../home/demo\" }");
    cargo(&sandbox, &["generate-lockfile", "--offline", "-q"], &sandbox.project()).expect("cargo");
    refused(
        &sandbox,
        &["install", "crate:demo-crate"],
        5,
        "integrity",
        &["crate:demo-crate", "skillpm install --list [DIR]/home/demo"],
    );

    let sandbox = Sandbox::new();
    let source = sandbox.home().join("repo");
    crate_source(&source.join("crates/demo"));
    let identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    for args in [&["init", "-q"][..], &["add", "."], &[&identity[..], &["commit", "-qm", "x"]].concat()] {
        if tool(Path::new("git"), args, &source, &[]).is_none() {
            return;
        }
    }
    rust_project(&sandbox, &format!("{{ git = \"file://{}\" }}", source.display()));
    cargo(&sandbox, &["fetch", "-q"], &sandbox.project()).expect("cargo");
    good(sandbox.run(&["install", "crate:demo-crate"]));
}

#[test]
fn a_lockfile_of_cargo_that_cannot_be_read() {
    let sandbox = Sandbox::new();
    sandbox.write("Cargo.lock", "version = 4\n[[package]]\nname = 1\n");
    refused(&sandbox, &["install", "crate:x"], 3, "configuration", &["crate:x", "1", "Cargo.lock:3:8"]);
    sandbox.write(
        "Cargo.lock",
        "[[package]]\nname = \"x\"\nversion = \"../../../home\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n",
    );
    refused(
        &sandbox,
        &["install", "crate:x"],
        3,
        "configuration",
        &["crate:x", "x-../../../home", "Cargo.lock"],
    );
}

// All of them

/// `--from-project`: what the project's own files name, in every language.
#[test]
fn everything_that_a_project_uses() {
    let mut sandbox = Sandbox::new();
    refused(&sandbox, &["install", "--from-project"], 2, "usage", &["[DIR]/project"]);
    let site = by_hand(&sandbox, "demo/skills/pdf/SKILL.md,,\ndemo/skills/pdf/notes.md,,\n");
    put(site.join("unasked-1.0.dist-info/RECORD"), "unasked/skills/u/SKILL.md,,\n");
    put(site.join("unasked/skills/u/SKILL.md"), skill("u"));
    sandbox.write("pyproject.toml", "[project]\nname = 'x'\ndependencies = ['Demo>=1', 'absent']\n");
    package(&sandbox.project().join("node_modules/js-demo"), "{\"version\": \"2.0.0\"}");
    package(&sandbox.project().join("node_modules/js-unasked"), "{\"version\": \"2.0.0\"}");
    put(sandbox.project().join("node_modules/js-demo/skills/pdf/SKILL.md"), skill("js"));
    sandbox.write("package.json", "{\"devDependencies\": {\"js-demo\": \"^2\"}}");
    let library = sandbox.home().join("library");
    put(library.join("demo/DESCRIPTION"), "Package: demo\nVersion: 3\n");
    put(library.join("demo/skills/r-pdf/SKILL.md"), skill("pdf").replace("Do pdf", "Do r"));
    sandbox.env("R_LIBS", &library.display().to_string());
    sandbox.write(
        "DESCRIPTION",
        "Package: x\nVersion: 1\nDepends: R (>= 4.0)\nImports: demo (>= 1.0),\n    utils\n",
    );
    let run = |args: &[&str], exit: i32, code: &str, values: &[&str]| {
        refused(&sandbox, &[&["install", "--from-project"], args].concat(), exit, code, values);
    };
    sandbox.tells(
        &["install", "--from-project", "--list"],
        0,
        ": name path",
        &["pdf demo/skills/pdf", "js skills/pdf", "pdf skills/r-pdf"],
    );
    run(
        &[],
        2,
        "usage",
        &[
            "pdf (python:demo)",
            "js (npm:js-demo)",
            "pdf (r:demo)",
            "skillpm install --from-project --skill js",
            "--skill '*'",
        ],
    );
    run(&["--skill", "pdf"], 2, "usage", &["r:demo@pdf", "skillpm install python:demo@pdf"]);
    run(&["--skill", "jss"], 2, "usage", &["jss", "skillpm install --from-project --list"]);
    sandbox.tells(
        &["install", "--from-project", "--yes", "--dry-run"],
        2,
        "skills: name change; left_out: code name; warnings: code",
        &["js added", "pdf added", "usage pdf", "package-missing", "off-specification", "usage"],
    );
    sandbox.ok(&["install", "--from-project", "--skill", "js"]);
    good(sandbox.run(&["install", "r:demo"]));
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    js = { npm = "js-demo", path = "skills/pdf" }
    pdf = { r = "demo", path = "skills/r-pdf" }
    "#);
    sandbox.write("pyproject.toml", "[project\n");
    sandbox.fails(&["install", "--from-project", "--list"], 3, "configuration", &["pyproject.toml:1:"]);
}

/// Without a file that names them, what is installed for the project counts.
#[test]
fn a_project_that_names_no_packages() {
    let sandbox = Sandbox::new();
    by_hand(&sandbox, RECORD);
    package(&sandbox.project().join("node_modules/@acme/demo"), "{\"version\": \"2.0.0\"}");
    let output = good(sandbox.run(&["install", "--from-project", "--list", "--json"]));
    let found: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let sources: Vec<_> =
        found.as_array().expect("a list").iter().map(|skill| skill["source"].as_str()).collect();
    assert_eq!(sources, [Some("python:demo"), Some("npm:@acme/demo")]);
}

#[test]
fn flags_that_do_not_go_together() {
    let sandbox = Sandbox::new();
    for args in [
        &["install", "--from-project", "o/r"][..],
        &["install", "--from-project", "--marketplace", "o/r"],
        &["install", "--from-project", "--tag", "v1"],
    ] {
        let output = sandbox.run(args);
        assert!(output.stderr.contains("cannot be used with"), "{args:?}: {output}");
    }
    let output = sandbox.run(&["install", "npm:x", "--tag", "v1"]);
    assert_eq!(output.code, Some(2), "{output}");
}

/// A path names no skill: in the hint it stands where a source has its path.
#[test]
fn two_packages_with_a_skill_at_one_path() {
    let sandbox = Sandbox::new();
    sandbox.write("package.json", r#"{"dependencies": {"a": "1", "b": "1"}}"#);
    for name in ["a", "b"] {
        let package = format!(r#"{{"name": "{name}", "version": "1.0.0"}}"#);
        sandbox.write(&format!("node_modules/{name}/package.json"), package);
        let skill = format!("---\nname: dup\ndescription: Does dup. Use it in tests.\n---\n{name}\n");
        sandbox.write(&format!("node_modules/{name}/skills/dup/SKILL.md"), skill);
    }
    let output = sandbox.run(&["install", "--from-project", "--skill", "skills/dup"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("say which: `skillpm install npm:a//skills/dup`"), "{output}");
    good(sandbox.run(&["install", "npm:a//skills/dup"]));
}
