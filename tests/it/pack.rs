//! `pack` and `bump`: what is in a package, that its bytes are the same everywhere, and what is refused.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use skillpm_core::ops::pack::{examine, pack};
use skillpm_format::codes;
use skillpm_format::digest::Digest;
use skillpm_format::lint::RuleOptions;
use skillpm_format::refusal::Limits;
use skillpm_format::tree::ignore::{IgnoreRules, Verdict};
use skillpm_sources::archive::open_zip;
use skillpm_sources::fs::SharedFile;

use crate::support::Output;
use crate::support::sandbox::Sandbox;
use crate::support::tools::program;

/// A skill that the profile `publish` accepts.
fn skill(name: &str, version: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Reads PDF files. Use it when a file ends in pdf.\nlicense: MIT\nmetadata:\n  \
         version: \"{version}\"\n---\n\n# PDF\n\nRun `scripts/read.py`, and see [the guide](references/guide.md).\n"
    )
}

/// Writes the skill `pdf` into the directory `dir` of the project.
fn write_skill(sandbox: &Sandbox, dir: &str) {
    let at = |path: &str| format!("{dir}/{path}");
    sandbox.write(&at("SKILL.md"), skill("pdf", "1.2.0"));
    sandbox.write(&at("references/guide.md"), "# Guide\n".repeat(200));
    let script = sandbox.write(&at("scripts/read.py"), "#!/usr/bin/env python3\nprint('x')\n");
    sandbox.write(&at("evals/evals.json"), "{}");
    sandbox.write(&at(".DS_Store"), "x");
    executable(&script);
}

#[cfg(unix)]
fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("chmod");
}

#[cfg(not(unix))]
fn executable(_path: &Path) {}

fn json(sandbox: &Sandbox, args: &[&str]) -> Value {
    serde_json::from_str(&sandbox.ok(args).stdout).expect("JSON")
}

/// The code of the error with which the library refuses to pack the skill in `dir`.
fn code(sandbox: &Sandbox, dir: &str) -> &'static str {
    let context = skillpm_sources::context::Context::silent(sandbox.settings());
    pack(&context, Path::new(dir)).expect_err("is refused").code()
}

fn paths(outcome: &Value, list: &str) -> Vec<String> {
    let entries = outcome[list].as_array().expect("a list").iter();
    entries.map(|entry| entry["path"].as_str().expect("a path").to_owned()).collect()
}

#[test]
fn the_page() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    insta::assert_snapshot!(sandbox.run(&["pack", "pdf", "--list"]), @"
    exit: 0
    --- stdout
    195 bytes  SKILL.md
       1.6 kB  references/guide.md
     34 bytes  scripts/read.py (executable)
    --- stderr
    left out `.DS_Store`: a tool left it
    left out `evals/`: evaluations
    would pack `pdf` 1.2.0: 3 files, 547 bytes
      archive sha256:c2ce214fd1a182bf8e67941e36175cd4df7003b214c4d2406dba930b32f59879
      tree    sha256:2ddac486606d0860293ec649a340709f884e70ccadf96c9827db2b3976fce1c3
    ");
    insta::assert_snapshot!(sandbox.run(&["pack", "pdf"]), @"
    exit: 0
    --- stderr
    left out `.DS_Store`: a tool left it
    left out `evals/`: evaluations
    packed `pdf` 1.2.0: 3 files, 547 bytes
      pdf-1.2.0.zip
      archive sha256:c2ce214fd1a182bf8e67941e36175cd4df7003b214c4d2406dba930b32f59879
      tree    sha256:2ddac486606d0860293ec649a340709f884e70ccadf96c9827db2b3976fce1c3
    ");
    insta::assert_snapshot!(sandbox.run(&["bump", "minor", "pdf"]), @"
    exit: 0
    --- stderr
    set the version in `pdf/SKILL.md`: 1.2.0 -> 1.3.0
    ");
    sandbox.write("pdf/SKILL.md", skill("pdf", "1.0") + "\n[TODO: say more]\n");
    insta::assert_snapshot!(sandbox.run(&["pack", "pdf"]), @r#"
    exit: 1
    --- stdout
    error[template-text]: template text is left: `[TODO: say more]`
      --> pdf/SKILL.md:13:1
       |
    13 | [TODO: say more]
       | ^^^^^^^^^^^^^^^^
       |
       = help: write what belongs there, or delete it

    --- stderr
    1 skill: 1 error, 0 warnings
    hint: `skillpm explain template-text` says more
    error: the skill was not packed
    hint: `--ignore template-text` leaves it out once, `rules = { template-text = "off" }` under `[lint]` in `skillpm.toml` always
    "#);
}

/// Nothing of a machine shows in a package.
#[cfg(unix)]
#[test]
fn one_tree_has_one_package_wherever_it_is_packed() {
    use std::os::unix::fs::PermissionsExt as _;
    let one = Sandbox::new();
    write_skill(&one, "pdf");
    let mut other = Sandbox::new();
    // The files in another order, with other modes and other times.
    other.write("pdf/references/guide.md", "# Guide\n".repeat(200));
    write_skill(&other, "pdf");
    for (path, mode) in [("SKILL.md", 0o600), ("references/guide.md", 0o664), ("scripts/read.py", 0o700)] {
        let path = other.project().join("pdf").join(path);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("chmod");
        let file = std::fs::File::options().write(true).open(&path).expect("opens");
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time");
    }
    other.env("TZ", "Pacific/Kiritimati").env("LC_ALL", "tr_TR.UTF-8");
    one.ok(&["pack", "pdf", "--sbom"]);
    let shell = format!("umask 077 && exec {} pack pdf --sbom", env!("CARGO_BIN_EXE_skillpm"));
    let mut command = Command::new("sh");
    command.args(["-c", &shell]).current_dir(other.project()).env_clear();
    command.envs([("HOME", other.home().as_os_str())]).env("TZ", "Asia/Tokyo").env("LC_ALL", "C");
    assert_eq!(other.output(&mut command).code, Some(0));
    for file in ["pdf-1.2.0.zip", "pdf-1.2.0.cdx.json"] {
        let bytes = |sandbox: &Sandbox| std::fs::read(sandbox.project().join(file)).expect("reads");
        assert_eq!(bytes(&one), bytes(&other), "{file}");
    }
    // From inside, with an earlier package lying there: the same again, and a later time changes nothing.
    let output = one.output(one.command(&["pack"]).current_dir(one.project().join("pdf")));
    assert_eq!(output.code, Some(0), "{output}");
    let again = one.output(one.command(&["pack", "--json"]).current_dir(one.project().join("pdf")));
    let again: Value = serde_json::from_str(&again.stdout).expect("JSON");
    assert_eq!(again["changed"], false);
    assert!(paths(&again, "left_out").contains(&"pdf-1.2.0.zip".to_owned()), "{again}");
    assert_eq!(one.read("pdf/evals/evals.json"), "{}", "nothing is deleted");
}

#[test]
fn an_archive_is_read_by_us_and_by_others() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    let outcome = json(&sandbox, &["pack", "pdf", "--json"]);
    assert_eq!(paths(&outcome, "files"), ["SKILL.md", "references/guide.md", "scripts/read.py"]);
    assert_eq!(paths(&outcome, "left_out"), [".DS_Store", "evals/"]);
    let file = sandbox.project().join("pdf-1.2.0.zip");
    let bytes = std::fs::read(&file).expect("reads");
    assert_eq!(outcome["artifact"]["digest"], Digest::of(&bytes).to_string());
    let opened = Arc::new(SharedFile::open(&file).expect("opens"));
    let tree = open_zip(opened, &Limits::default()).expect("a zip").tree;
    let set = tree.skill("", &Limits::default()).expect("a skill");
    assert_eq!(outcome["digest"], set.digest().expect("reads").to_string());
    assert_eq!(set.get("scripts/read.py").expect("there").executable, cfg!(unix));
    // What is installed from it has the same digest.
    sandbox.ok(&["install", "./pdf-1.2.0.zip"]);
    let lock = sandbox.read("skillpm.lock");
    assert!(lock.contains(outcome["digest"].as_str().expect("text")), "{lock}");
    if let Some(unzip) = program("unzip") {
        let output = Command::new(unzip).arg("-t").arg(&file).output().expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    if let Some(python) = program("python3") {
        let script = "import sys, zipfile\narchive = zipfile.ZipFile(sys.argv[1])\nassert archive.testzip() is None\n\
             for i in archive.infolist():\n    print(i.filename, oct(i.external_attr >> 16), i.date_time, len(i.extra))";
        let output = Command::new(python).args(["-c", script]).arg(&file).output().expect("runs");
        let told = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
        let mode = if cfg!(unix) { "0o100755" } else { "0o100644" };
        assert_eq!(
            told,
            format!(
                "SKILL.md 0o100644 (1980, 1, 1, 0, 0, 0) 0\nreferences/guide.md 0o100644 (1980, 1, 1, 0, 0, 0) 0\n\
                 scripts/read.py {mode} (1980, 1, 1, 0, 0, 0) 0\n"
            )
        );
    }
}

#[test]
fn what_publishing_forbids_is_not_packed() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    for (text, expected) in [
        (skill("pdf", "1.2.0").replace("  version: \"1.2.0\"\n", "  a: b\n"), codes::VERSION_NOT_STATED),
        (skill("pdf", "latest"), codes::FINDINGS),
        (skill("other", "1.0"), codes::FINDINGS),
    ] {
        sandbox.write("pdf/SKILL.md", text);
        assert_eq!(code(&sandbox, "pdf"), expected);
        let output = sandbox.run(&["pack", "pdf"]);
        assert_eq!(output.code, Some(1), "{output}");
    }
    // Switched off by the project, it is still refused.
    sandbox.write(
        "skillpm.toml",
        "[lint]\nrules = { version-syntax = \"off\", name-ascii = \"off\", name-device = \"off\" }\n",
    );
    sandbox.write("pdf/SKILL.md", skill("pdf", "latest"));
    assert_eq!(code(&sandbox, "pdf"), codes::VERSION_MALFORMED);
    for name in ["aux", "größe"] {
        sandbox.write(&format!("{name}/SKILL.md"), skill(name, "1.0"));
        for path in ["references/guide.md", "scripts/read.py"] {
            executable(&sandbox.write(&format!("{name}/{path}"), "#!/bin/sh\n"));
        }
        assert_eq!(code(&sandbox, name), codes::NAME_NOT_PUBLISHABLE, "{name}");
    }
    assert_eq!(sandbox.run(&["pack", "nowhere"]).code, Some(2));
    assert_eq!(sandbox.run(&["pack", "."]).code, Some(2), "several skills");
    assert!(
        std::fs::read_dir(sandbox.project())
            .expect("lists")
            .all(|entry| { !entry.expect("an entry").file_name().to_string_lossy().ends_with(".zip") })
    );
}

/// Programs get every finding, as `validate` has them.
#[test]
fn a_refusal_lists_all_findings_for_programs() {
    let sandbox = Sandbox::new();
    sandbox.write("pdf/SKILL.md", "---\nname: other\nmetadata:\n  version: latest\n---\n");
    sandbox.ok(&["registry", "init", "site", "--name", "acme"]);
    let validated = sandbox.run(&["validate", "pdf", "--profile", "publish", "--json"]);
    for args in [&["pack", "pdf", "--json"][..], &["publish", "pdf", "--to", "site", "--json"]] {
        let output = sandbox.run(args);
        assert_eq!((output.code, &output.stdout), (Some(1), &validated.stdout), "{args:?}: {output}");
    }
    let report: Value = serde_json::from_str(&validated.stdout).expect("JSON");
    let rules = report.to_string();
    for rule in ["name-directory", "description-missing", "version-syntax"] {
        assert!(rules.contains(rule), "{rule}: {rules}");
    }
}

/// A key that no service ever gave.
const KEY: &str = "npm_q7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQo";

/// What the verbs that hand a skill out write into the project.
const HANDING_OUT: [&[&str]; 3] =
    [&["pack", "pdf"], &["publish", "pdf", "--to", "site"], &["registry", "add", "-r", "site", "pdf"]];

#[test]
fn files_that_may_be_secrets_go_out_only_if_somebody_says_so() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    sandbox.write("pdf/scripts/.env", "TOKEN=x\n");
    sandbox.write("pdf/assets/server.pem", "x");
    sandbox.write("pdf/assets/.npmrc", "x");
    sandbox.write("pdf/assets/settings.json", format!("{{\n  \"key\": \"{KEY}\"\n}}\n"));
    sandbox.write("pdf/.skillpmignore", ".npmrc\n");
    let listed = sandbox.ok(&["pack", "pdf", "--list", "--json"]);
    let outcome: Value = serde_json::from_str(&listed.stdout).expect("JSON");
    assert_eq!(outcome["secrets"], serde_json::json!(["assets/server.pem", "scripts/.env"]));
    let key = serde_json::json!({"path": "assets/settings.json", "line": 2, "kind": "a token of npm", "key": "npm_…"});
    assert_eq!(outcome["keys"], serde_json::json!([key]));
    sandbox.ok(&["registry", "init", "site", "--name", "acme"]);
    let before = sandbox.tree(&sandbox.project());
    for args in HANDING_OUT {
        let refused = sandbox.run(args);
        assert_eq!(refused.code, Some(1), "{refused}");
        for told in [
            "warning: `scripts/.env` of `pdf` goes out, and its name is usual for secrets",
            "warning: `assets/server.pem` of `pdf` goes out",
            "warning: `assets/settings.json:2` of `pdf` goes out, and has a token of npm: `npm_…`",
            "it may hold secrets",
            "hint: `--allow-secrets` lets them go out",
        ] {
            assert!(refused.stderr.contains(told), "{told}: {refused}");
        }
        assert!(!refused.to_string().contains(KEY), "{refused}");
        assert_eq!(sandbox.tree(&sandbox.project()), before, "{args:?}");
    }
    let dry_run = sandbox.ok(&["publish", "pdf", "--to", "site", "--dry-run", "--json"]);
    assert!(dry_run.stderr.contains("warning: `scripts/.env`"), "{dry_run}");
    assert_eq!(sandbox.tree(&sandbox.project()), before);
    for args in HANDING_OUT {
        let done = sandbox.ok(&[args, &["--allow-secrets"]].concat());
        assert!(done.stderr.contains("warning: `assets/settings.json:2`"), "{done}");
        assert_ne!(sandbox.tree(&sandbox.project()), before);
    }
    // A package that somebody else made is one more way.
    sandbox.ok(&["registry", "init", "other", "--name", "other"]);
    let archive = ["registry", "add", "-r", "other", "pdf-1.2.0.zip"];
    let refused = sandbox.run(&archive);
    assert!(refused.code == Some(1) && refused.stderr.contains("`assets/settings.json:2`"), "{refused}");
    sandbox.ok(&[&archive[..], &["--allow-secrets"]].concat());
}

/// The rule reports keys to authors, and is what switches the question off.
#[test]
fn keys_in_texts_are_errors_of_the_profile_for_publishing() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    sandbox.write("pdf/scripts/read.py", format!("#!/usr/bin/env python3\nKEY = '{KEY}'\n"));
    let validate = |profile: &str| sandbox.run(&["validate", "pdf", "--profile", profile, "--json"]);
    let found = |output: &Output| {
        let report: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"));
        report.to_string().matches("secret-in-text").count()
    };
    let report = validate("publish");
    assert_eq!(report.code, Some(1), "{report}");
    assert!(report.stdout.contains("`scripts/read.py:2` has a token of npm: `npm_…`"), "{report}");
    assert!(!report.to_string().contains(KEY), "{report}");
    assert_eq!(found(&validate("spec")), 0);
    assert_eq!(sandbox.run(&["pack", "pdf"]).code, Some(1));
    sandbox.write("skillpm.toml", "[lint]\nrules = { secret-in-text = \"off\" }\n");
    assert_eq!(found(&validate("publish")), 0);
    sandbox.ok(&["pack", "pdf"]);
}

/// A file that stays out of the package cannot be linked to, and cannot be at fault.
#[test]
fn the_rules_see_what_is_packed() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    sandbox.write("pdf/scripts/a.pyc", "x");
    sandbox.ok(&["pack", "pdf", "--list"]);
    sandbox.write("pdf/.skillpmignore", "/references/\n");
    let context = skillpm_sources::context::Context::silent(sandbox.settings());
    let examined = examine(&context, Path::new("pdf"), &RuleOptions::default()).expect("can be read");
    assert!(examined.findings().findings().any(|finding| finding.rule == "link-missing"));
}

/// What breaks the specification is refused, and style is told, once for each rule; options and the manifest choose the
/// level.
#[test]
fn style_warns_and_the_specification_refuses() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    let text = sandbox.read("pdf/SKILL.md");
    sandbox.write("pdf/SKILL.md", format!("{text}\nSee [a](a.md) and [b](b.md).\n"));
    let codes = |args: &[&str]| -> Vec<String> {
        let outcome = json(&sandbox, &[&["pack", "pdf", "--json", "--list"], args].concat());
        let warnings = outcome["warnings"].as_array().expect("warnings").iter();
        warnings.map(|warning| warning["code"].as_str().expect("a code").to_owned()).collect()
    };
    assert_eq!(codes(&[]), ["link-missing"]);
    assert_eq!(codes(&["--ignore", "link-missing"]), Vec::<String>::new());
    assert_eq!(codes(&["--select", "name-length"]), Vec::<String>::new());
    sandbox.fails(&["pack", "pdf", "--rule", "link-missing=error"], 1, "findings", &["not packed"]);
    sandbox.fails(
        &["publish", "pdf", "--to", "r", "--rule", "link-missing=error"],
        1,
        "findings",
        &["rules = { link-missing"],
    );
    sandbox.fails(&["pack", "pdf", "--ignore", "link-mising"], 2, "usage", &["`link-missing`"]);
    sandbox.write("skillpm.toml", "[lint]\nrules = { link-missing = \"off\" }\n");
    assert_eq!(codes(&[]), Vec::<String>::new());
    sandbox.write("pdf/SKILL.md", text.replace("name: pdf", "name: other"));
    sandbox.fails(&["pack", "pdf"], 1, "findings", &["not packed"]);
}

#[test]
fn rules_of_the_file_say_what_stays_out() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    sandbox.write("pdf/assets/a.psd", "x");
    sandbox.write("pdf/assets/b.psd", "x");
    sandbox.write("pdf/drafts/deep/x.md", "x");
    sandbox.write("pdf/.gitignore", "*.md\n");
    sandbox.write("pdf/.skillpmignore", "# drawings\n*.psd\r\n!/assets/b.psd\n/drafts/\n");
    let outcome = json(&sandbox, &["pack", "pdf", "--json", "--list"]);
    assert_eq!(
        paths(&outcome, "files"),
        [".gitignore", "SKILL.md", "assets/b.psd", "references/guide.md", "scripts/read.py"]
    );
    assert_eq!(
        paths(&outcome, "left_out"),
        [".DS_Store", ".skillpmignore", "assets/a.psd", "drafts/", "evals/"]
    );
    assert_eq!((&outcome["path"], &outcome["dry_run"]), (&Value::Null, &Value::Bool(true)));
    assert!(!sandbox.project().join("pdf-1.2.0.zip").exists());
    sandbox.write("pdf/.skillpmignore", b"\xff\n");
    assert_eq!(code(&sandbox, "pdf"), codes::CONFIGURATION);
}

/// Our patterns mean what git's mean: both are asked about all kinds of patterns and paths.
#[test]
fn patterns_mean_what_they_mean_to_git() {
    use crate::support::numbers::Numbers;
    let Some(git) = program("git") else { return };
    let sandbox = Sandbox::new();
    let in_project = |args: &[&str]| {
        let mut command = Command::new(&git);
        command.args(args).current_dir(sandbox.project()).env_clear().env("HOME", sandbox.home());
        command
    };
    assert!(in_project(&["init", "-q"]).status().expect("runs").success());
    let names = ["a", "b", "ab", "a.b", "b.c", "abc", "-", "]", "a b", "#a", "!b"];
    let parts = [
        "a", "b", "*", "**", "?", "/", "/", "[ab]", "[!a]", "[a-c]", "[]a]", ".", "\\a", "\\*", " ", "!", "#",
    ];
    let mut numbers = Numbers(7);
    let mut paths: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    for _ in 0..60 {
        let depth = 2 + numbers.below(2);
        paths.push((0..depth).map(|_| numbers.pick(&names)).collect::<Vec<_>>().join("/"));
    }
    for _ in 0..150 {
        let line = |numbers: &mut Numbers| -> String {
            (0..=numbers.below(5)).map(|_| numbers.pick(&parts)).collect()
        };
        let text = format!("{}\n{}\n", line(&mut numbers), line(&mut numbers));
        sandbox.write(".gitignore", &text);
        let rules = IgnoreRules::parse(&text);
        let is_out = |path: &str| {
            // A directory that stays out takes along all that is in it.
            let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
            ends.map(|end| (&path[..end], end < path.len()))
                .any(|(part, is_directory)| rules.verdict(part, is_directory) == Some(Verdict::Out))
        };
        let mut command = in_project(&["check-ignore", "--no-index", "-z", "--stdin"]);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let input = paths.join("\0") + "\0";
        std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), input.as_bytes())
            .expect("writes");
        let output = child.wait_with_output().expect("ends");
        let ignored: Vec<&str> = std::str::from_utf8(&output.stdout)
            .expect("UTF-8")
            .split('\0')
            .filter(|path| !path.is_empty())
            .collect();
        for path in &paths {
            assert_eq!(is_out(path), ignored.contains(&&**path), "{text:?}: {path}");
        }
    }
}

#[cfg(unix)]
#[test]
fn trees_that_no_skill_may_have_are_refused() {
    use std::os::unix::fs::symlink;
    let refused = |prepare: &dyn Fn(&Path)| {
        let sandbox = Sandbox::new();
        write_skill(&sandbox, "pdf");
        sandbox.write("secret", "x");
        prepare(&sandbox.project().join("pdf"));
        let output = sandbox.run(&["pack", "pdf"]);
        assert_eq!(output.code, Some(5), "{output}");
        assert!(!sandbox.project().join("pdf-1.2.0.zip").exists());
        assert_eq!(code(&sandbox, "pdf"), codes::INTEGRITY);
    };
    refused(&|dir| symlink("../secret", dir.join("assets.md")).expect("links"));
    refused(&|dir| symlink("references", dir.join("more")).expect("links"));
    refused(&|dir| {
        std::fs::rename(dir.join("SKILL.md"), dir.join("real.md")).expect("moves");
        symlink("real.md", dir.join("SKILL.md")).expect("links");
    });
    refused(&|dir| {
        rustix::fs::mknodat(rustix::fs::CWD, dir.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .expect("a pipe");
    });
    refused(&|dir| {
        std::fs::write(dir.join("references/Guide.md"), "x").expect("writes");
    });
    refused(&|dir| {
        let deep = dir.join(["x".repeat(200), "y".repeat(200), "z".repeat(200)].join("/"));
        std::fs::create_dir_all(&deep).expect("creates");
        std::fs::write(deep.join("a.md"), "x").expect("writes");
    });
    refused(&|dir| std::fs::write(dir.join("a:b.md"), "x").expect("writes"));
    // What stays out may be anything, and a link to a file of the skill is packed as that file.
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    symlink("../secret", sandbox.project().join("pdf/out")).expect("links");
    symlink("guide.md", sandbox.project().join("pdf/references/same.md")).expect("links");
    sandbox.write("pdf/.skillpmignore", "/out\n");
    let outcome = json(&sandbox, &["pack", "pdf", "--json"]);
    assert!(paths(&outcome, "files").contains(&"references/same.md".to_owned()));
}

#[test]
fn files_that_are_there_are_not_lost() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    let file = sandbox.write("dist/pdf-1.2.0.zip", "mine");
    let output = sandbox.run(&["pack", "pdf", "--out", "dist", "--sbom"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert_eq!(sandbox.read("dist/pdf-1.2.0.zip"), "mine");
    assert!(!sandbox.project().join("dist/pdf-1.2.0.cdx.json").exists(), "not half of it");
    let output = sandbox.ok(&["pack", "pdf", "--out", "dist", "--sbom", "--force"]);
    assert!(output.stderr.contains("replaced `dist/pdf-1.2.0.zip`, which had other content\n"), "{output}");
    assert!(!output.stderr.contains("replaced `dist/pdf-1.2.0.cdx.json`"), "{output}");
    assert_ne!(std::fs::read(&file).expect("reads"), b"mine");
    assert_eq!(json(&sandbox, &["pack", "pdf", "--out", "dist", "--json"])["changed"], false);
    sandbox.ok(&["pack", "pdf", "-o", "other.zip"]);
    assert_eq!(
        std::fs::read(sandbox.project().join("other.zip")).expect("reads"),
        std::fs::read(&file).expect("reads")
    );
    assert_eq!(sandbox.run(&["pack", "pdf", "--out", "nowhere/x.zip"]).code, Some(2));
}

#[test]
fn a_bill_of_materials_names_every_file() {
    let mut sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    let text = skill("pdf", "1.2.0").replace("metadata:\n", "metadata:\n  skill-dependencies: base@^1\n");
    sandbox.write("pdf/SKILL.md", text);
    let outcome = json(&sandbox, &["pack", "pdf", "--sbom", "--json"]);
    let bill = || -> Value { serde_json::from_str(&sandbox.read("pdf-1.2.0.cdx.json")).expect("JSON") };
    let first = bill();
    assert_eq!(first["metadata"]["timestamp"], Value::Null);
    assert_eq!(first["components"].as_array().expect("a list").len(), 4);
    assert_eq!(first["dependencies"][0]["dependsOn"], serde_json::json!(["dependency:base@^1"]));
    let digest = outcome["artifact"]["digest"].as_str().expect("text").trim_start_matches("sha256:");
    assert_eq!(first["metadata"]["component"]["hashes"][0]["content"], digest);
    sandbox.env("SOURCE_DATE_EPOCH", "1700000000");
    sandbox.ok(&["pack", "pdf", "--sbom", "--force"]);
    let text = sandbox.read("pdf-1.2.0.cdx.json");
    assert!(text.contains("\"timestamp\": \"2023-11-14T22:13:20.000Z\""), "{text}");
    for wrong in ["x", "-1", "999999999999999"] {
        sandbox.env("SOURCE_DATE_EPOCH", wrong);
        assert_eq!(sandbox.run(&["pack", "pdf", "--sbom", "--force"]).code, Some(3), "{wrong}");
    }
}

#[test]
fn a_version_is_raised_in_its_place() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "pdf");
    let version = |args: &[&str]| {
        let outcome = json(&sandbox, args);
        (outcome["old"].clone(), outcome["new"].clone())
    };
    assert_eq!(version(&["bump", "patch", "pdf", "--json"]), ("1.2.0".into(), "1.2.1".into()));
    assert_eq!(version(&["bump", "major", "pdf/SKILL.md", "--json"]), ("1.2.1".into(), "2.0.0".into()));
    let before = sandbox.read("pdf/SKILL.md");
    assert_eq!(version(&["bump", "3.0.0-rc.1", "pdf", "--json", "--dry-run"]).1, "3.0.0-rc.1");
    assert_eq!(sandbox.read("pdf/SKILL.md"), before);
    assert_eq!(before, skill("pdf", "2.0.0"));
    assert_eq!(sandbox.run(&["bump", "v1", "pdf"]).code, Some(2));
    sandbox.fails(&["bump", "pdf", "minor"], 2, "usage", &["skillpm bump minor pdf"]);
    // What is moved and what is raised is ready to be packed.
    sandbox.write(
        "pdf/SKILL.md",
        skill("pdf", "1").replace("metadata:\n  version: \"1\"\n", "version: 1.9 # old\n"),
    );
    sandbox.ok(&["bump", "minor", "pdf"]);
    assert!(sandbox.read("pdf/SKILL.md").contains("metadata:\n  version: \"1.10\" # old\n"));
    sandbox.ok(&["pack", "pdf"]);
}

/// An installed skill stays as it is locked, as `fmt` leaves it; its source, and an editable one, are raised.
#[test]
fn an_installed_skill_is_not_raised() {
    let sandbox = Sandbox::new();
    write_skill(&sandbox, "src/pdf");
    sandbox.ok(&["install", "./src/pdf"]);
    let before = sandbox.read(".agents/skills/pdf/SKILL.md");
    for args in
        [&["bump", "patch", ".agents/skills/pdf"][..], &["bump", "patch", ".agents/skills/pdf", "--dry-run"]]
    {
        sandbox.fails(args, 2, "usage", &["skillpm update"]);
    }
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), before);
    sandbox.ok(&["bump", "patch", "src/pdf"]);
    sandbox.ok(&["update", "pdf", "--yes"]);
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("1.2.1"));
    sandbox.fails(&["bump", "1.0.0", "src/pdf"], 2, "usage", &["skillpm bump 1.0.0 src/pdf --yes"]);
    sandbox.ok(&["bump", "1.0.0", "src/pdf", "--yes"]);
    sandbox.write("src/docx/SKILL.md", skill("docx", "1.2.0"));
    sandbox.ok(&["install", "--editable", "./src/docx"]);
    sandbox.ok(&["bump", "patch", ".agents/skills/docx"]);
    assert!(sandbox.read("src/docx/SKILL.md").contains("1.2.1"));
}
