//! A static registry: made, filled, yanked, verified, listed, and read by others.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use skillpm_format::digest::Digest;

use crate::support::npm::Npm;
use crate::support::{Nginx, Output, Sandbox, Tree, program};

fn text(name: &str, version: &str, body: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Reads and writes {name} files. Use it when the user mentions {name}.\n\
         license: MIT\nmetadata:\n  version: '{version}'\n---\n\n# {name}\n\n\
         Run `scripts/run.sh` to see what it prints.\n\n{body}\n"
    )
}

fn skill(name: &str, version: &str, body: &str) -> Tree {
    Tree::new()
        .file("SKILL.md", text(name, version, body))
        .executable("scripts/run.sh", "#!/bin/sh\necho run\n")
}

/// A sandbox with the registry `site`.
fn registry() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("SOURCE_DATE_EPOCH", "1795730400");
    sandbox.ok(&["registry", "init", "site", "--name", "acme"]);
    sandbox
}

/// Publishes a version from an archive.
fn add(sandbox: &Sandbox, name: &str, version: &str, body: &str) -> Output {
    let file = format!("{name}-{version}.zip");
    sandbox.write(&file, skill(name, version, body).zip());
    sandbox.run(&["registry", "add", "-r", "site", &file])
}

fn json(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.run(&[&["registry"], args, &["-r", "site", "--json"]].concat());
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

fn read_json(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(&format!("site/{path}"))).expect(path)
}

/// Every file of the registry with its bytes.
fn files(sandbox: &Sandbox) -> Vec<(String, Vec<u8>)> {
    let site = sandbox.project().join("site");
    let lines = sandbox.tree(&site);
    let paths = lines.iter().filter_map(|line| line.split_once(' ').map(|(_, path)| path.to_owned()));
    paths.map(|path| (path.clone(), std::fs::read(site.join(&path)).expect("a file"))).collect()
}

#[test]
fn the_page() {
    let sandbox = registry();
    insta::assert_snapshot!(add(&sandbox, "pdf", "1.0", "one"), @"
    exit: 0
    --- stderr
    published pdf 1.0 (525 bytes)
    ");
    insta::assert_snapshot!(add(&sandbox, "pdf", "1.0", "two"), @"
    exit: 2
    --- stderr
    error: `pdf` 1.0 was already published with other files
    hint: a published version never changes; the next one is `1.0.1`: `skillpm bump 1.0.1 DIR`
    ");
    insta::assert_snapshot!(sandbox.run(&["registry", "yank", "pdf@1.0", "--reason", "loses pages", "-r", "site"]), @"
    exit: 0
    --- stderr
    pdf 1.0 is yanked now
    ");
    insta::assert_snapshot!(sandbox.run(&["registry", "list", "-r", "site"]), @"
    exit: 0
    --- stdout
    name  newest  versions  yanked  description
    pdf   yanked         1  1.0     Reads and writes pdf files. Use it when the user mentions pdf.
    ");
    insta::assert_snapshot!(sandbox.run(&["registry", "verify", "-r", "site"]), @"
    exit: 0
    --- stderr
    1 skill, 1 version, 525 bytes: nothing is wrong
    ");
}

/// Who has a version that is withdrawn hears of it, and why, where the registry is asked.
#[test]
fn a_withdrawn_version_is_told() {
    let sandbox = registry();
    for version in ["1.0.0", "1.1.0"] {
        add(&sandbox, "pdf", version, version);
    }
    sandbox.write("skillpm.toml", "[registries]\nacme = \"./site\"\n");
    sandbox.ok(&["install", "acme:pdf@^1"]);
    sandbox.ok(&["registry", "yank", "-r", "acme", "pdf@1.1.0", "--reason", "loses pages"]);
    let told = "`pdf` 1.1.0 was withdrawn from its registry (loses pages): ";
    let outdated = sandbox.ok(&["outdated"]);
    assert!(
        outdated.stderr.contains(&format!("{told}`skillpm update pdf` goes back to 1.0.0")),
        "{outdated}"
    );
    let plan = sandbox.ok(&["update", "--dry-run", "--json"]).json();
    assert_eq!(plan["warnings"][0]["code"], "release-yanked");
    assert_eq!(plan["warnings"][0]["message"], format!("{told}it goes back to 1.0.0"));
    add(&sandbox, "pdf", "1.2.0", "new");
    let plan = sandbox.ok(&["update", "--dry-run", "--json"]).json();
    assert_eq!(plan["warnings"][0]["message"], format!("{told}it goes on to 1.2.0"));
    sandbox.ok(&["registry", "yank", "-r", "acme", "pdf@1.2.0"]);
    // Nothing else fits: who has it keeps it, and nobody else gets it.
    let manifest = sandbox.read("skillpm.toml").replace("^1", "~1.1.0");
    sandbox.write("skillpm.toml", manifest);
    assert!(sandbox.ok(&["update"]).stderr.contains("which has no other version that fits"));
    std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removes");
    let install = sandbox.run(&["install"]);
    assert_eq!(install.code, Some(1), "{install}");
    assert!(install.stderr.contains("`pdf` 1.1.0 would fit, but it is yanked: loses pages"), "{install}");
}

/// Every action takes the registry as `-r`, by its directory or its name, and names that are nearly right have an answer.
#[test]
fn names_of_registries_and_of_skills_in_them() {
    let sandbox = registry();
    add(&sandbox, "pdf", "1.0.0", "one");
    let servers = "srv = \"https://skills.example.com\"";
    sandbox.write("skillpm.toml", format!("[registries]\nacme = \"./site\"\n{servers}\n"));
    sandbox.write("skills/docx/SKILL.md", text("docx", "1.0.0", "x"));
    for line in [
        "add -r acme skills/docx",
        "index -r acme",
        "verify -r acme",
        "ls -r acme",
        "yank -r acme docx@1.0.0",
        "unyank -r acme docx@1.0.0",
        "mirror m -r acme",
        "mirror -r site m pdf",
        "bundle b.zip --registry acme",
        "init -r other",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        sandbox.ok(&[&["registry"], &args[..]].concat());
    }
    assert!(sandbox.project().join("m/config.json").exists() && sandbox.project().join("b.zip").exists());
    for (line, exit, code, told) in [
        ("list -r acme pfd", 2, "release-unknown", "did you mean `pdf`?"),
        ("yank -r acme pfd@1.0.0", 2, "release-unknown", "did you mean `pdf`?"),
        ("mirror acme m2 pfd", 2, "release-unknown", "did you mean `pdf`?"),
        ("list -r acem", 3, "registry-absent", "did you mean `acme`?"),
        ("mirror -r acem m2", 3, "registry-absent", "did you mean `acme`?"),
        ("verify -r acem", 2, "registry-absent", "did you mean `acme`?"),
        ("verify -r fresh", 2, "registry-absent", "` makes it one"),
        ("list -r nowhere", 3, "registry-absent", "or `nowhere = \"../skills\"`"),
        ("index -r srv", 2, "registry-absent", "`skillpm publish` publishes to a server"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        sandbox.fails(&[&["registry"], &args[..]].concat(), exit, code, &[told]);
    }
}

#[test]
fn the_life_of_a_registry() {
    let sandbox = registry();
    for (version, body) in [("1.0", "one"), ("1.1.0", "two")] {
        let output = add(&sandbox, "pdf", version, body);
        let told = output.stderr.lines().filter(|line| line.starts_with("published pdf ")).count();
        assert_eq!((output.code, told, output.stdout.as_str()), (Some(0), 1, ""), "{output}");
    }
    // A directory is packed, and what stays out of a package stays out.
    skill("docx", "0.3.0", "x").file("evals/evals.json", "{}").write(&sandbox.project().join("skills/docx"));
    sandbox.ok(&["registry", "add", "-r", "site", "skills/docx"]);
    sandbox.ok(&["pack", "skills/docx"]);
    // The same again is no error, and changes nothing.
    let before = files(&sandbox);
    let again = json(&sandbox, &["add", "pdf-1.0.zip", "docx-0.3.0.zip"]);
    assert_eq!((&again["added"][0]["already"], &again["added"][1]["already"]), (&json!(true), &json!(true)));
    // Other files under a published version are, and the next version is named.
    let output = add(&sandbox, "pdf", "1.0", "three");
    assert!(output.code == Some(2) && output.stderr.contains("`1.0.1`"), "{output}");
    let directory = json(&sandbox, &["add", "skills/docx"]);
    assert_eq!(directory["added"], json!([again["added"][1]]));
    assert_eq!(files(&sandbox), before);

    let listed = json(&sandbox, &["list"]);
    let names: Vec<_> =
        listed["skills"].as_array().expect("a list").iter().map(|skill| &skill["name"]).collect();
    assert_eq!((names, &listed["name"]), (vec![&json!("docx"), &json!("pdf")], &json!("acme")));
    let pdf = json(&sandbox, &["list", "pdf"]);
    assert_eq!(pdf["skills"][0]["newest"], "1.1.0");
    assert_eq!(pdf["skills"][0]["versions"][0]["published"], "2026-11-26T22:00:00Z");
    assert_eq!(sandbox.run(&["registry", "list", "xlsx", "-r", "site"]).code, Some(2));

    let yanked = json(&sandbox, &["yank", "pdf@1.1", "--reason", "loses pages"]);
    assert_eq!(
        (&yanked["versions"][0]["changed"], &yanked["versions"][0]["yanked"]),
        (&json!(true), &json!("loses pages"))
    );
    assert_eq!(read_json(&sandbox, "index/pdf.json")["versions"][1]["yanked"], "loses pages");
    let entry = &read_json(&sandbox, ".well-known/agent-skills/index.json")["skills"][1];
    assert_eq!((&entry["name"], &entry["version"]), (&json!("pdf"), &json!("1.0")));
    assert_eq!(json(&sandbox, &["unyank", "pdf@1.1.0"])["versions"][0]["changed"], true);
    assert_eq!(json(&sandbox, &["unyank", "pdf@1.1.0"])["versions"][0]["changed"], false);

    let verified = json(&sandbox, &["verify"]);
    assert_eq!(
        (&verified["skills"], &verified["versions"], &verified["defects"]),
        (&json!(2), &json!(3), &json!([]))
    );
    // In the registry itself no directory is named.
    let mut command = sandbox.command(&["registry", "verify"]);
    assert_eq!(sandbox.output(command.current_dir(sandbox.project().join("site"))).code, Some(0));
    let output = sandbox.run(&["registry", "verify"]);
    assert_eq!(output.code, Some(2), "{output}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let sandbox = registry();
    add(&sandbox, "pdf", "1.0", "one");
    std::fs::remove_file(sandbox.project().join("site/search.json")).expect("removes");
    let before = sandbox.tree(&sandbox.project());
    sandbox.write("new.zip", skill("pdf", "2.0", "two").zip());
    sandbox.write("other.zip", skill("pdf", "1.0", "two").zip());
    for (code, args) in [
        (0, &["add", "-r", "site", "new.zip"][..]),
        (2, &["add", "-r", "site", "other.zip"]),
        (0, &["index", "-r", "site"]),
        (0, &["yank", "-r", "site", "pdf@1.0"]),
        (0, &["unyank", "-r", "site", "pdf@1.0"]),
        (2, &["yank", "-r", "site", "pdf@2.0"]),
        (0, &["init", "elsewhere"]),
        (2, &["init", "site"]),
    ] {
        let output = sandbox.run(&[&["registry"], args, &["--dry-run"]].concat());
        assert_eq!(output.code, Some(code), "{args:?}: {output}");
    }
    for file in ["new.zip", "other.zip"] {
        std::fs::remove_file(sandbox.project().join(file)).expect("removes");
    }
    assert_eq!(sandbox.tree(&sandbox.project()), before);
    assert_eq!(json(&sandbox, &["index"])["written"], json!(["search.json"]));
}

/// All or none: a mistake in the last one keeps the first from being published.
#[test]
fn what_is_wrong_changes_nothing() {
    let sandbox = registry();
    add(&sandbox, "pdf", "1.0", "one");
    let before = files(&sandbox);
    let right = skill("docx", "1.0", "x").zip();
    sandbox.write("right.zip", &right);
    let long = format!("1.0.0-{}", "a".repeat(200));
    let described = |text: String| Tree::new().file("SKILL.md", text).zip();
    let plain = text("pdf", "2.0", "x").replace("Run `scripts/run.sh` to see", "See");
    let needing = |needs: &str| {
        let more = format!("version: '2.0'\n  skill-dependencies: {needs}\n");
        described(plain.replace("version: '2.0'\n", &more))
    };
    let names = |count: usize| (0..count).map(|at| format!("s{at}")).collect::<Vec<_>>().join(" ");
    let cases: &[(&str, Vec<u8>, i32)] = &[
        ("wrapped", Tree::new().file("pdf/SKILL.md", text("pdf", "2.0", "x")).zip(), 1),
        ("no version", described(text("pdf", "2.0", "x").replace("  version: '2.0'", "  author: x")), 1),
        ("malformed version", skill("pdf", "01.0", "x").zip(), 1),
        ("long version", skill("pdf", &long, "x").zip(), 1),
        ("other script", skill("pаypal", "1.0", "x").zip(), 1),
        ("unicode name", skill("技能", "1.0", "x").zip(), 1),
        ("device", skill("con", "1.0", "x").zip(), 1),
        ("bad name", skill("Pdf", "1.0", "x").zip(), 1),
        ("no description", described("---\nname: pdf\nmetadata: {version: '2.0'}\n---\nx\n".to_owned()), 1),
        ("not fit", described(text("pdf", "2.0", "TODO: write it")), 1),
        ("climbs", crate::support::zip::raw(&[("SKILL.md", b"x"), ("../x", b"x")], ""), 5),
        ("device file", skill("pdf", "2.0", "x").file("aux.txt", "x").zip(), 1),
        ("trailing dot", skill("pdf", "2.0", "x").file("a/b.", "x").zip(), 1),
        ("trailing blank", skill("pdf", "2.0", "x").file("a/b ", "x").zip(), 1),
        ("equal but for case", skill("pdf", "2.0", "x").file("a.md", "x").file("A.md", "x").zip(), 5),
        (
            "escape in the description",
            described(plain.replace("Reads", "\"\\e[31mReads").replace("mentions pdf.", "mentions pdf.\"")),
            1,
        ),
        ("reordered description", described(plain.replace("Reads and", "Reads\u{202e} and")), 1),
        ("local dependency", needing("file:///etc/x.git"), 1),
        ("too many dependencies", needing(&names(257)), 1),
        ("cut off", right[..right.len() / 2].to_vec(), 5),
        ("no archive", b"text".to_vec(), 5),
        ("exists", skill("pdf", "1", "other").zip(), 2),
    ];
    for (what, bytes, code) in cases {
        sandbox.write("wrong.zip", bytes);
        let output = sandbox.run(&["registry", "add", "-r", "site", "right.zip", "wrong.zip"]);
        assert_eq!(output.code, Some(*code), "{what}: {output}");
        assert_eq!(files(&sandbox), before, "{what}");
    }
    for args in [
        &["add", "-r", "site", "missing.zip"][..],
        &["add", "-r", "none", "right.zip"],
        &["yank", "-r", "site", "pdf"],
        &["yank", "-r", "site", "pdf@"],
        &["yank", "-r", "site", "pdf@01.0"],
        &["yank", "-r", "site", "../pdf@1.0"],
        &["yank", "-r", "site", "pdf@3.0"],
        &["yank", "-r", "site", "pdf@1.0", "--reason", "two\nlines"],
        &["yank", "-r", "site", "pdf@1.0", "--reason", "\u{1b}[31mred"],
        &["yank", "-r", "site", "pdf@1.0", "--reason", "a\u{202e}b\u{200b}"],
        &["yank", "-r", "site", "pdf@1.0", "docx@1.0"],
        &["init", "site"],
        &["init", "new", "--name", "Not A Name"],
        &["init", "new", "--name", "nul"],
    ] {
        let output = sandbox.run(&[&["registry"], args].concat());
        assert_eq!(output.code, Some(2), "{args:?}: {output}");
        assert_eq!(files(&sandbox), before, "{args:?}");
    }
    assert!(!sandbox.project().join("new").exists());
}

/// What a directory has in the places of a registry is named before anything is written, and only `--force` replaces it.
#[test]
fn init_replaces_nothing_unasked() {
    let sandbox = Sandbox::new();
    let mine = [
        "search.json",
        "index/pdf.json",
        ".well-known/agent-skills/index.json",
        ".well-known/ai-catalog.json",
    ];
    for path in mine {
        sandbox.write(&format!("w/{path}"), "MINE");
    }
    let before = sandbox.tree(&sandbox.project());
    for more in [&[][..], &["--dry-run"], &["--json"]] {
        let output = sandbox.run(&[&["registry", "init", "w", "--name", "a1"], more].concat());
        assert_eq!(output.code, Some(2), "{output}");
        assert!(mine.iter().all(|path| output.stderr.contains(path)), "{output}");
        assert!(output.stderr.contains("--force"), "{output}");
        assert_eq!(sandbox.tree(&sandbox.project()), before);
    }
    let forced = |more: &[&str]| {
        let output =
            sandbox.run(&[&["registry", "init", "w", "--name", "a1", "--force", "--json"], more].concat());
        assert_eq!(output.code, Some(0), "{output}");
        serde_json::from_str::<Value>(&output.stdout).expect("JSON")
    };
    let planned = forced(&["--dry-run"]);
    assert_eq!(planned["removed"], json!(["index/pdf.json"]));
    assert_eq!(planned["replaced"].as_array().map(Vec::len), Some(3));
    assert_eq!(sandbox.tree(&sandbox.project()), before);
    let done = forced(&[]);
    assert_eq!((&done["replaced"], &done["removed"]), (&planned["replaced"], &planned["removed"]));
    assert_eq!(sandbox.run(&["registry", "verify", "-r", "w"]).code, Some(0));
    // A directory of another shape is refused whole.
    sandbox.write("v/index/sub/x.json", "MINE");
    for more in [&[][..], &["--force"]] {
        let output = sandbox.run(&[&["registry", "init", "v", "--name", "a1"], more].concat());
        assert!(output.code == Some(2) && output.stderr.contains("index/sub"), "{output}");
    }
    assert_eq!(sandbox.read("v/index/sub/x.json"), "MINE");
    assert!(!sandbox.project().join("v/config.json").exists());
}

#[test]
fn what_was_begun_is_completed() {
    let sandbox = registry();
    std::fs::create_dir(sandbox.project().join("new")).expect("creates");
    sandbox.write("new/config.json", sandbox.read("site/config.json"));
    assert_eq!(sandbox.run(&["registry", "init", "new", "--name", "other"]).code, Some(2));
    sandbox.ok(&["registry", "init", "new"]);
    assert_eq!(sandbox.run(&["registry", "verify", "-r", "new"]).code, Some(0));
    assert_eq!(sandbox.run(&["registry", "init", "new"]).code, Some(2));
}

/// Missing files make one version unavailable, and damage leaves out one skill.
#[test]
fn a_damaged_skill_takes_no_other_with_it() {
    let sandbox = registry();
    for (name, version) in [("pdf", "1.0.0"), ("pdf", "1.1.0"), ("docx", "1.0.0")] {
        add(&sandbox, name, version, "x");
    }
    json(&sandbox, &["yank", "pdf@1.1.0", "--reason", "leaks a key"]);
    let artifact = read_json(&sandbox, "index/pdf/1.1.0.json")["artifact"]["digest"].clone();
    let hex = artifact.as_str().and_then(|digest| digest.split(':').nth(1)).expect("a digest").to_owned();
    for path in ["index/pdf/1.1.0.json", &format!("artifacts/sha256/{hex}.zip")] {
        std::fs::remove_file(sandbox.project().join("site").join(path)).expect("removes");
    }
    assert_eq!(json(&sandbox, &["index"])["left_out"], json!([]));
    let verified = sandbox.run(&["registry", "verify", "-r", "site", "--json"]);
    let found: Value = serde_json::from_str(&verified.stdout).expect("JSON");
    assert_eq!(verified.code, Some(5));
    assert_eq!(found["defects"].as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found["defects"][0]["path"], "index/pdf/1.1.0.json");
    assert_eq!(found["defects"][0]["kind"], "record-missing");
    assert_eq!(add(&sandbox, "pdf", "1.2.0", "x").code, Some(0));
    assert_eq!(add(&sandbox, "pdf", "1.1.0", "y").code, Some(2));
    // Damage is told, and the rest is derived.
    sandbox.write("site/index/pdf/1.0.0.json", "{");
    std::fs::remove_file(sandbox.project().join("site/index/docx.json")).expect("removes");
    let output = sandbox.run(&["registry", "index", "-r", "site", "--json"]);
    let indexed: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!((output.code, &indexed["written"]), (Some(5), &json!(["index/docx.json"])));
    assert_eq!(indexed["left_out"][0]["name"], "pdf");
    assert_eq!(read_json(&sandbox, "search.json")["skills"].as_array().map(Vec::len), Some(2));
    assert_eq!(add(&sandbox, "docx", "1.1.0", "x").code, Some(0));
}

#[test]
fn verify_finds_a_flipped_byte_in_each_file() {
    let sandbox = registry();
    add(&sandbox, "pdf", "1.0", "one");
    add(&sandbox, "pdf", "1.1", "two");
    sandbox.ok(&["registry", "yank", "pdf@1.0", "-r", "site"]);
    let mut checked = 0;
    let has_witness = |path: &str| path != "config.json" && !path.starts_with("log/");
    for (path, bytes) in
        files(&sandbox).into_iter().filter(|(path, bytes)| has_witness(path) && !bytes.is_empty())
    {
        let at = sandbox.project().join("site").join(&path);
        // A digit of a time has no second witness, so the byte is one of a word that counts.
        let place = bytes.len() / 3;
        let mut wrong = bytes.clone();
        wrong[place] ^= 0x11;
        std::fs::write(&at, &wrong).expect("writes");
        let output = sandbox.run(&["registry", "verify", "-r", "site"]);
        assert!(output.code == Some(5) && !output.stdout.is_empty(), "{path}: {output}");
        std::fs::write(&at, &bytes).expect("writes");
        checked += 1;
    }
    assert!(checked >= 10, "{checked}");
    assert_eq!(sandbox.run(&["registry", "verify", "-r", "site"]).code, Some(0));
}

#[test]
fn verify_compares_the_log_with_what_it_announced() {
    let sandbox = registry();
    add(&sandbox, "pdf", "1.0", "one");
    let at = sandbox.project().join("site/log/0/1.json");
    let text = std::fs::read_to_string(&at).expect("an entry");
    let digest = text.split("sha256:").nth(1).and_then(|rest| rest.split('"').next()).expect("a digest");
    for wrong in [text.replace(digest, &"0".repeat(64)), text.replace("publish", "pub\\u"), String::new()] {
        std::fs::write(&at, wrong).expect("writes");
        let output = sandbox.run(&["registry", "verify", "-r", "site"]);
        assert!(output.code == Some(5) && output.stdout.contains("log/0/1.json"), "{output}");
    }
    std::fs::write(&at, text).expect("writes");
    assert_eq!(sandbox.run(&["registry", "verify", "-r", "site"]).code, Some(0));
}

#[test]
fn formats_of_later_versions_and_damage_are_told() {
    let sandbox = registry();
    add(&sandbox, "pdf", "1.0", "one");
    let code = |args: &[&str]| {
        let output = sandbox.run(&[&["registry"], args, &["-r", "site"]].concat());
        output.code.expect("an end")
    };
    let record = sandbox.read("site/index/pdf/1.0.0.json");
    sandbox.write("site/index/pdf/1.0.0.json", record.replace("\"pdf\"", "\"xlsx\""));
    for args in [&["list"][..], &["list", "pdf"], &["index"], &["add", "pdf-1.0.zip"], &["verify"]] {
        assert_eq!(code(args), 5, "{args:?}");
    }
    sandbox.write("site/index/pdf/1.0.0.json", record);
    assert_eq!(code(&["verify"]), 0);
    sandbox.write("site/config.json", "{\"format\":2,\"name\":\"acme\"}");
    for args in [&["list"][..], &["index"], &["add", "pdf-1.0.zip"], &["verify"], &["yank", "pdf@1.0"]] {
        assert_eq!(code(args), 3, "{args:?}");
    }
}

#[test]
fn several_processes_publish_at_once() {
    let sandbox = registry();
    let names: Vec<String> = (0..6).map(|number| format!("skill-{number}")).collect();
    for name in &names {
        sandbox.write(&format!("{name}.zip"), skill(name, "1.0.0", "x").zip());
    }
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            let file = format!("{name}.zip");
            sandbox.command(&["registry", "add", "-r", "site", &file]).spawn().expect("starts")
        })
        .collect();
    for mut child in children {
        assert!(child.wait().expect("ends").success());
    }
    let verified = json(&sandbox, &["verify"]);
    assert_eq!(
        (&verified["skills"], &verified["defects"], &verified["strays"]),
        (&json!(6), &json!([]), &json!([]))
    );
}

/// Copies the registry of `sandbox` below the directory that `nginx` serves.
fn serve(sandbox: &Sandbox, nginx: &Nginx, below: &str) {
    for (path, bytes) in files(sandbox) {
        nginx.put(&format!("{below}/{path}"), bytes);
    }
}

/// The tree on any web host: read as a site, also below a path, by curl with sha256sum, and by the npm tool.
#[test]
fn others_install_from_the_tree() {
    let Some(nginx) = Nginx::start() else { return };
    let sandbox = registry();
    for version in ["1.0", "1.1.0"] {
        add(&sandbox, "pdf", version, version);
    }
    add(&sandbox, "docx", "0.1.0", "x");
    serve(&sandbox, &nginx, "");
    serve(&sandbox, &nginx, "team/skills");
    for (path, name) in [("", "pdf"), ("/team/skills", "docx")] {
        sandbox.ok(&["install", &nginx.url(path), "-s", name]);
        assert!(sandbox.project().join(format!(".agents/skills/{name}/scripts/run.sh")).is_file());
    }
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("version: '1.1.0'"));
    curl(&sandbox, &nginx);
    npm(&nginx);
}

/// The archive that a list names has the digest that the list names.
fn curl(sandbox: &Sandbox, nginx: &Nginx) {
    let (Some(curl), Some(sum)) = (program("curl"), program("sha256sum")) else { return };
    let digest = read_json(sandbox, "index/pdf.json")["versions"][0]["artifact"]["digest"].clone();
    let hex = digest.as_str().and_then(|text| text.strip_prefix("sha256:")).expect("a digest").to_owned();
    let url = nginx.url(&format!("/artifacts/sha256/{hex}.zip"));
    let file = sandbox.project().join("fetched.zip");
    let status = Command::new(curl).args(["-fsS", "--noproxy", "*", "-o"]).arg(&file).arg(url).status();
    assert!(status.expect("starts").success());
    let output = Command::new(sum).arg(&file).output().expect("starts");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with(&hex));
    assert_eq!(Digest::of(&std::fs::read(file).expect("reads")).hex(), hex);
}

/// The npm tool `skills` installs from the same tree.
fn npm(nginx: &Nginx) {
    let sandbox = Sandbox::new();
    let Some(npm) = Npm::new(&sandbox) else { return };
    let said =
        npm.run(&sandbox, &["add", &nginx.url(""), "--skill", "pdf", "--agent", "codex", "--yes", "--copy"]);
    let installed =
        |dir: &Path| dir.join("pdf/SKILL.md").is_file() && dir.join("pdf/scripts/run.sh").is_file();
    assert!(installed(&sandbox.project().join(".agents/skills")), "{said}");
}

/// The script shows people the life of a registry, and checks each step that it claims.
#[cfg(unix)]
#[test]
fn the_example_does_what_it_claims() {
    let sandbox = Sandbox::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/registry/try.sh");
    let skillpm = sandbox.command(&[]).get_program().to_owned();
    let mut command = Command::new("/bin/sh");
    command.arg(script).current_dir(sandbox.project()).env_clear();
    command.env("HOME", sandbox.home()).env("TMPDIR", sandbox.root()).env("SKILLPM", skillpm);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = sandbox.output(&mut command);
    assert_eq!(output.code, Some(0), "{output}");
    // It leaves nothing, not in the home of its caller either.
    let left = sandbox.tree(sandbox.root());
    assert_eq!(left, ["home/", "project/"]);
}
