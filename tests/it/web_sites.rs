//! Sites that list their skills under `/.well-known/`, as INTEROP 6 says.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};
use skillpm_format::digest::Digest;

use crate::support::fields;
use crate::support::sandbox::Output;
use crate::support::tar::tar_gz;
use crate::support::{Endpoint, Fault, Forge, Sandbox, Tree};

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
const V2: &str = "/.well-known/agent-skills";
const V1: &str = "/.well-known/skills";

/// A skill of a file more than its own.
fn skill(name: &str) -> Tree {
    Tree::new().skill("", name).file("references/a b.md", format!("more of {name}\n"))
}

fn document(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does what {name} does.\n---\n\n# {name}\n")
}

/// An entry of version 0.2.
fn entry(name: &str, kind: &str, url: &str, artifact: impl AsRef<[u8]>) -> Value {
    let digest = Digest::of(artifact.as_ref()).to_string();
    json!({"name": name, "type": kind, "description": format!("Does {name}."), "url": url, "digest": digest, "x": 1})
}

/// Publishes skills as archives, by version 0.2, below `path`.
pub(crate) fn publish(forge: &Forge, path: &str, skills: &[(&str, Tree)]) {
    let mut entries = Vec::new();
    for (name, tree) in skills {
        let bytes = tar_gz(tree);
        entries.push(entry(name, "archive", &format!("{name}.tar.gz"), &bytes));
        forge.serve(&format!("{path}{V2}/{name}.tar.gz"), bytes);
    }
    index(forge, path, &entries);
}

fn index(forge: &Forge, path: &str, entries: &[Value]) {
    let index = json!({"$schema": SCHEMA, "skills": entries, "unknown": {}});
    forge.serve(&format!("{path}{V2}/index.json"), index.to_string());
}

/// Publishes skills file by file, by version 0.1.
fn publish_old(forge: &Forge, skills: &[(&str, Tree)]) {
    let mut entries = Vec::new();
    for (name, tree) in skills {
        let files: Vec<&str> = tree.files().map(|(path, ..)| path).collect();
        entries.push(json!({"name": name, "description": format!("Does {name}."), "files": files}));
        for (path, bytes, _) in tree.files() {
            forge.serve(&format!("{V1}/{name}/{}", path.replace(' ', "%20")), bytes);
        }
    }
    forge.serve(&format!("{V1}/index.json"), json!({"skills": entries}).to_string());
}

fn told(forge: &Forge, output: &Output) -> String {
    let port = forge.api_host().rsplit_once(':').expect("a port").1.to_owned();
    let text = output.to_string().replace(&forge.api_host(), "HOST").replace(&forge.archive_host(), "OTHER");
    text.replace(&format!("127_0_0_1___{port}"), "[LOCAL]")
}

fn read(forge: &Forge, sandbox: &Sandbox, file: &str) -> String {
    sandbox.read(file).replace(&forge.api_host(), "HOST")
}

fn installed(sandbox: &Sandbox) -> Vec<String> {
    let dir = sandbox.project().join(".agents/skills");
    if dir.is_dir() { sandbox.tree(&dir) } else { Vec::new() }
}

/// Takes away what was installed, and what the store has of it.
fn clear(sandbox: &Sandbox) {
    for dir in [sandbox.project().join(".agents"), sandbox.home().join(".local")] {
        let _ = std::fs::remove_dir_all(dir);
    }
}

fn cache(sandbox: &Sandbox) -> PathBuf {
    sandbox.home().join(".cache/skillpm/web")
}

/// S4: one skill of a site; no other is fetched, and the digest of its artifact is locked.
#[test]
fn one_skill_of_a_site() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    publish(&forge, "", &[("pdf", skill("pdf")), ("docx", skill("docx")), ("target", skill("target"))]);
    sandbox.tells(
        &["install", "--list", &forge.url("")],
        0,
        ": name path",
        &["pdf pdf", "docx docx", "target target"],
    );
    assert_eq!(forge.asked(), [format!("{V2}/index.json")], "a list needs no artifacts");
    sandbox.fails(
        &["install", &forge.url("")],
        2,
        "usage",
        &["pdf (pdf)", "docx (docx)", "target (target)", "--skill '*'"],
    );
    forge.clear_requests();
    sandbox.tells(&["install", &forge.url("/@pdf")], 0, "skills: name change", &["pdf added"]);
    assert_eq!(forge.asked(), [format!("{V2}/index.json"), format!("{V2}/pdf.tar.gz")]);
    assert_eq!(forge.requests()[0].header("if-none-match").map(str::len), Some(18), "the index is known");
    insta::assert_snapshot!(read(&forge, &sandbox, "skillpm.toml"), @r#"
    [skills]
    pdf = { url = "http://HOST", path = "pdf" }
    "#);
    insta::assert_snapshot!(read(&forge, &sandbox, "skillpm.lock"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "pdf"
    source = "site:http://HOST"
    path = "pdf"
    revision = "sha256:c5d6d966dda39c018051ff8b7f693490e09629b13ec351ad2faeee47b79cac7d"
    digest = "sha256:87f778c155045ddd71ae9113d5af5f95b4788cfcfd7a3c1cda5df63d347bf5c2"
    "#);
    assert_eq!(
        installed(&sandbox),
        ["644 pdf/SKILL.md", "644 pdf/references/a b.md", "pdf/", "pdf/references/"]
    );
    // A directory of that name is one that repositories are not searched in.
    let output = sandbox.run(&["install", &forge.url(""), "--skill", "target", "--skill", "docx", "--json"]);
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(
        (&report["skills"][1]["name"], &report["skills"][1]["path"]),
        (&json!("target"), &json!("target"))
    );
    // A manifest without a lockfile names the skill by its path.
    std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removes");
    clear(&sandbox);
    let output = sandbox.run(&["install"]);
    assert_eq!((output.code, installed(&sandbox).len()), (Some(0), 12), "{output}");
}

/// A restore takes the locked artifact from the store, the cache or the site, and nothing else.
#[test]
fn restores() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    publish(&forge, "", &[("pdf", skill("pdf")), ("docx", skill("docx"))]);
    assert_eq!(sandbox.run(&["install", &forge.url(""), "--skill", "*"]).code, Some(0));
    let (lock, before) = (sandbox.read("skillpm.lock"), installed(&sandbox));
    for args in [&["install", "--locked"][..], &["install", "--frozen"], &["install", "--offline"]] {
        clear(&sandbox);
        forge.clear_requests();
        let output = sandbox.run(args);
        assert_eq!((output.code, installed(&sandbox)), (Some(0), before.clone()), "{args:?}: {output}");
        assert_eq!(forge.asked(), [""; 0], "artifacts that are kept are known by their digests");
    }
    clear(&sandbox);
    std::fs::remove_dir_all(cache(&sandbox)).expect("removes");
    let offline = told(&forge, &sandbox.run(&["install", "--offline"]));
    assert!(
        offline.starts_with("exit: 4") && offline.contains("`--offline` forbids the network"),
        "{offline}"
    );
    assert_eq!(sandbox.run(&["install"]).code, Some(0));
    assert_eq!((installed(&sandbox), sandbox.read("skillpm.lock")), (before, lock));
    let asked = forge.asked();
    assert_eq!(asked.iter().filter(|path| path.ends_with("/index.json")).count(), 1, "{asked:?}");
}

/// THREATS h33: what changed since is refused on restore, and taken when it is asked for.
#[test]
fn a_changed_artifact() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    publish(&forge, "", &[("pdf", skill("pdf"))]);
    assert_eq!(sandbox.run(&["install", &forge.url("")]).code, Some(0));
    let old = sandbox.read("skillpm.lock");
    publish(&forge, "", &[("pdf", skill("pdf").file("new.md", "new\n"))]);
    clear(&sandbox);
    assert_eq!(sandbox.run(&["install"]).code, Some(0), "the old one is kept");
    clear(&sandbox);
    std::fs::remove_dir_all(cache(&sandbox)).expect("removes");
    sandbox.fails(&["install"], 5, "revision-gone", &["skillpm update pdf"]);
    assert_eq!((installed(&sandbox).len(), sandbox.read("skillpm.lock") == old), (0, true));
    let updated = sandbox.run(&["install", &forge.url("//pdf")]);
    assert_eq!(updated.code, Some(0), "{updated}");
    assert!(
        sandbox.read("skillpm.lock") != old && installed(&sandbox).contains(&"644 pdf/new.md".to_owned())
    );
    // The site no longer has it.
    publish(&forge, "", &[("docx", skill("docx"))]);
    clear(&sandbox);
    std::fs::remove_dir_all(cache(&sandbox)).expect("removes");
    sandbox.fails(&["install"], 4, "network", &["skillpm remove pdf"]);
}

/// One of several that its site lists no more is told by its name, and the others can be had without it.
#[test]
fn a_skill_that_is_listed_no_more() {
    let all = [("docx", skill("docx")), ("pdf", skill("pdf")), ("xlsx", skill("xlsx"))];
    let new = |forge: &Forge, skills: &[(&str, Tree)]| publish(forge, "", skills);
    for publish in [&new as &dyn Fn(&Forge, &[(&str, Tree)]), &publish_old] {
        let (forge, sandbox) = (Forge::start(), Sandbox::new());
        publish(&forge, &all);
        sandbox.ok(&["install", &forge.url(""), "--skill", "*"]);
        publish(&forge, &all[1..]);
        clear(&sandbox);
        std::fs::remove_dir_all(cache(&sandbox)).expect("removes");
        sandbox.fails(&["install"], 4, "network", &["skillpm remove docx"]);
        sandbox.ok(&["remove", "docx"]);
        sandbox.ok(&["install"]);
        assert_eq!(installed(&sandbox).iter().filter(|line| line.ends_with("SKILL.md")).count(), 2);
    }
}

/// The same files in another archive: what was locked is nowhere any more, and an update locks what there is.
#[test]
fn a_repacked_artifact() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    publish(&forge, "", &[("pdf", skill("pdf"))]);
    assert_eq!(sandbox.run(&["install", &forge.url("")]).code, Some(0));
    let old = sandbox.read("skillpm.lock");
    let bytes = skill("pdf").zip();
    index(&forge, "", &[entry("pdf", "archive", "pdf.zip", &bytes)]);
    forge.serve(&format!("{V2}/pdf.zip"), bytes);
    let forget = || {
        clear(&sandbox);
        std::fs::remove_dir_all(cache(&sandbox)).expect("removes");
    };
    forget();
    assert_eq!(sandbox.run(&["install"]).code, Some(5));
    let output = sandbox.run(&["update"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("no file differs"), "{output}");
    assert_ne!(sandbox.read("skillpm.lock"), old);
    forget();
    let output = sandbox.run(&["install", "--locked"]);
    assert_eq!(output.code, Some(0), "{output}");
}

/// INTEROP 6: the digest is of the artifact's raw bytes, and a mismatch is an error, for one skill and for many.
#[test]
fn a_wrong_digest_is_never_passed_over() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    let publish = || {
        let (good, bad) = (tar_gz(&skill("good")), tar_gz(&skill("bad")));
        forge.serve(&format!("{V2}/good.tar.gz"), &good).serve(&format!("{V2}/bad.tar.gz"), &bad);
        index(
            &forge,
            "",
            &[
                entry("good", "archive", "good.tar.gz", &good),
                entry("bad", "archive", "bad.tar.gz", b"others"),
            ],
        );
    };
    publish();
    for args in [&["--skill", "bad"][..], &["--skill", "*"], &["--yes"]] {
        let url = forge.url("");
        let digests = [
            "sha256:01db91d06032cc64162c16f8e35725b0e632beebdde8b2c2459979d04fb1e20c",
            "sha256:0201fbdb134c53e6cc73e128390a642e6729a9d1e8241b296e9f8ab3d16133e4",
        ];
        sandbox.fails(&[&["install", &url], args].concat(), 5, "integrity", &digests);
        assert_eq!(installed(&sandbox).len(), 0, "{args:?}");
    }
    // Without a cache too.
    sandbox.env("XDG_CACHE_HOME", "/dev/null");
    let output = sandbox.run(&["install", &forge.url(""), "--skill", "*"]);
    assert_eq!((output.code, installed(&sandbox).len()), (Some(5), 0), "{output}");
    assert_eq!(sandbox.run(&["install", &forge.url(""), "--skill", "good"]).code, Some(0));
}

/// Version 0.1: file by file; `SKILL.md`s by themselves and archives of both kinds are version 0.2.
#[test]
fn both_versions_and_all_kinds_of_artifacts() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    publish_old(&forge, &[("pdf", skill("pdf")), ("docx", skill("docx"))]);
    sandbox.tells(&["install", &forge.url("/@pdf")], 0, "skills: name change", &["pdf added"]);
    insta::assert_snapshot!(read(&forge, &sandbox, "skillpm.lock"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "pdf"
    source = "site:http://HOST"
    path = "pdf"
    digest = "sha256:87f778c155045ddd71ae9113d5af5f95b4788cfcfd7a3c1cda5df63d347bf5c2"
    "#);
    let mut asked = forge.asked();
    asked.sort();
    insta::assert_snapshot!(asked.join("\n"), @"
    /.well-known/agent-skills/index.json
    /.well-known/skills/index.json
    /.well-known/skills/pdf/SKILL.md
    /.well-known/skills/pdf/references/a%20b.md
    ");
    for args in [&["install", "--locked"][..], &["install", "--offline"]] {
        clear(&sandbox);
        let output = sandbox.run(args);
        assert_eq!((output.code, installed(&sandbox).len()), (Some(0), 4), "{args:?}: {output}");
    }
    let both = Sandbox::new();
    let output = both.run(&["install", &forge.url(""), "--skill", "*"]);
    assert_eq!((output.code, installed(&both).len()), (Some(0), 8), "{output}");
    // A changed file is one that was not locked.
    forge.serve(&format!("{V1}/pdf/SKILL.md"), document("pdf") + "More.\n");
    clear(&sandbox);
    let changed = told(&forge, &sandbox.run(&["install"]));
    assert!(changed.starts_with("exit: 5") && changed.contains("`skillpm update pdf` locks"), "{changed}");
    // The newer index comes first, and its artifacts may lie anywhere.
    let zip = skill("zipped").zip();
    let wrapped = crate::support::tar::tar(&skill("wrapped"), "wrapped-1.0/");
    forge.serve("/files/z.zip", &zip).serve("/alone/SKILL.md", document("alone")).serve("/w", &wrapped);
    index(
        &forge,
        "",
        &[
            entry("zipped", "archive", "../../files/z.zip", &zip),
            entry("alone", "skill-md", "/alone/SKILL.md", document("alone")),
            entry("wrapped", "archive", &forge.other_url("/w"), &wrapped),
        ],
    );
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["install", &forge.url(""), "--skill", "*"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(!output.stderr.contains("warning"), "{output}");
    let files: Vec<_> = installed(&sandbox).into_iter().filter(|line| !line.ends_with('/')).collect();
    insta::assert_snapshot!(files.join("\n"), @"
    644 alone/SKILL.md
    644 wrapped/SKILL.md
    644 wrapped/references/a b.md
    644 zipped/SKILL.md
    644 zipped/references/a b.md
    ");
}

/// INTEROP 6: what lies at the root of a host is not what was asked for below a path.
#[test]
fn a_path_never_falls_back_to_the_root() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    publish(&forge, "", &[("root", skill("root"))]);
    sandbox.fails(
        &["install", &forge.url("/team")],
        4,
        "network",
        &[
            "/team/.well-known/agent-skills/index.json: status 404",
            "/team/.well-known/skills/index.json: status 404",
            "skillpm install ",
        ],
    );
    assert_eq!(forge.asked(), [format!("/team{V2}/index.json"), format!("/team{V1}/index.json")]);
    publish(&forge, "/team", &[("team", skill("team"))]);
    let output = sandbox.run(&["install", &forge.url("/team")]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(
        read(&forge, &sandbox, "skillpm.lock")
            .contains("source = \"site:http://HOST/team\"\npath = \"team\"\n")
    );
    // The address of the index means its site.
    let output = sandbox.run(&["install", &forge.url(&format!("{V2}/index.json"))]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(read(&forge, &sandbox, "skillpm.lock").contains("source = \"site:http://HOST\"\n"));
}

/// Where there is no index, or none that can be used, the message says what was asked and what came.
#[test]
fn no_index() {
    type Case<'a> = (&'a str, i32, &'a str, &'a [&'a str], Vec<(String, String)>);
    let index = format!("{V2}/index.json");
    let cases: Vec<Case<'_>> = vec![
        ("nothing at all", 4, "network", &["status 404", "`git+http://"], vec![]),
        (
            "pages for every address",
            4,
            "network",
            &["a page", "not JSON"],
            vec![
                (index.clone(), "<!doctype html>\n<title>Shop</title>".into()),
                (format!("{V1}/index.json"), "Not found".into()),
            ],
        ),
        ("not JSON", 4, "network", &["2:14"], vec![(index.clone(), "{\n  \"skills\": [,]\n}".into())]),
        (
            "another JSON",
            4,
            "network",
            &["no list `skills`"],
            vec![(index.clone(), "{\"name\": \"x\"}".into())],
        ),
        ("no list", 4, "network", &["no list `skills`"], vec![(index.clone(), "{\"skills\": {}}".into())]),
        ("an empty list", 2, "usage", &["index.json"], vec![(index.clone(), "{\"skills\": []}".into())]),
        (
            "an unknown format",
            4,
            "network",
            &["https://x.example/9\\u{1b}[31m"],
            vec![
                (
                    index.clone(),
                    json!({"$schema": "https://x.example/9\u{1b}[31m", "skills": []}).to_string(),
                ),
                (format!("{V1}/index.json"), "{\"skills\": []}".into()),
            ],
        ),
        (
            "a format that is not text",
            4,
            "network",
            &["2"],
            vec![(index.clone(), "{\"$schema\": 2, \"skills\": []}".into())],
        ),
        ("deep JSON", 4, "network", &["1:128"], vec![(index.clone(), "[".repeat(200_000))]),
        ("not UTF-8 would be", 4, "network", &["1:13"], vec![(index, "{\"skills\": [\u{0}]}".into())]),
    ];
    for (what, exit, code, values, files) in cases {
        let (forge, sandbox) = (Forge::start(), Sandbox::new());
        for (path, text) in files {
            forge.serve(&path, text);
        }
        sandbox.fails(&["install", &forge.url("/@pdf")], exit, code, values);
        assert_eq!(sandbox.tree(&sandbox.project()), Vec::<String>::new(), "{what}");
    }
    Sandbox::new().fails(
        &["install", "http://127.0.0.1:9/x?y=1"],
        2,
        "usage",
        &["http://127.0.0.1:9/x?…", "`url:`"],
    );
}

/// Entries that cannot be used, each with its message; the one that can is installed all the same.
#[test]
fn hostile_entries() {
    let forge = Forge::start();
    let artifact = tar_gz(&skill("good"));
    forge.serve(&format!("{V2}/good.tar.gz"), &artifact);
    let with = |changes: Value| {
        let mut entry = entry("pdf", "archive", "pdf.tar.gz", &artifact);
        let fields = entry.as_object_mut().expect("an object");
        for (key, value) in changes.as_object().expect("an object") {
            if value.is_null() {
                fields.remove(key);
            } else {
                fields.insert(key.clone(), value.clone());
            }
        }
        entry
    };
    let entries = vec![
        json!("text"),
        json!({}),
        with(json!({"name": "../../canary"})),
        with(json!({"name": "/etc"})),
        with(json!({"name": "Upper"})),
        with(json!({"name": "a--b"})),
        with(json!({"name": "p\u{0434}f"})),
        with(json!({"name": "x".repeat(65)})),
        with(json!({"name": "esc\u{1b}[31m"})),
        with(json!({"name": 7})),
        with(json!({"name": "no-description", "description": null})),
        with(json!({"name": "empty-description", "description": " "})),
        with(json!({"name": "no-type", "type": null})),
        with(json!({"name": "wrong-type", "type": "exe"})),
        with(json!({"name": "no-url", "url": null})),
        with(json!({"name": "file-url", "url": "file:///etc/passwd"})),
        with(json!({"name": "data-url", "url": "data:text/plain,x"})),
        with(json!({"name": "ftp-url", "url": "ftp://h.example/x"})),
        with(json!({"name": "login-url", "url": "https://ada:s3cret@h.example/x"})),
        with(json!({"name": "spaced-url", "url": "a b.zip"})),
        with(json!({"name": "backslash-url", "url": "..\\..\\x.zip"})),
        with(json!({"name": "newline-url", "url": "a\r\nX-Y: z"})),
        with(json!({"name": "no-digest", "digest": null})),
        with(json!({"name": "short-digest", "digest": "sha256:00"})),
        with(json!({"name": "weak-digest", "digest": "md5:d41d8cd98f00b204e9800998ecf8427e"})),
        with(json!({"name": "twice"})),
        with(json!({"name": "twice"})),
        entry("good", "archive", "good.tar.gz", &artifact),
    ];
    index(&forge, "", &entries);
    let sandbox = Sandbox::new();
    let listed = told(&forge, &sandbox.run(&["install", "--list", &forge.url("")]));
    assert!(!listed.contains("s3cret") && !listed.contains('\u{1b}'), "{listed}");
    let listed = sandbox.ok(&["install", "--list", "--json", &forge.url("")]).json();
    let usable = |listed: &Value| {
        let skills = listed.as_array().expect("a list").iter();
        skills
            .filter(|skill| skill["problem"].is_null())
            .map(|skill| skill["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (listed.as_array().map(Vec::len), usable(&listed)),
        (Some(entries.len() - 1), vec!["good".into()])
    );
    sandbox.tells(&["install", &forge.url("/@good")], 0, "skills: name change", &["good added"]);
    let all = Sandbox::new().run(&["install", &forge.url(""), "--skill", "*"]);
    assert_eq!((all.code, all.stderr.matches("was left out").count()), (Some(5), 26), "{all}");
    for (name, exit, code, value) in [
        ("file-url", 5, "integrity", "`file:///etc/passwd`"),
        ("twice", 5, "integrity", "`twice/SKILL.md`"),
        ("../../canary", 5, "integrity", "`../../canary/SKILL.md`"),
        ("godo", 2, "usage", "`good`"),
    ] {
        sandbox.fails(&["install", &forge.url(""), "--skill", name], exit, code, &[value]);
    }
    assert!(forge.asked().iter().all(|path| path.starts_with(V2)), "{:?}", forge.asked());
}

/// The same for version 0.1: one bad entry does not spoil the others.
#[test]
fn hostile_lists_of_files() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let entry = |name: &str, files: Value| json!({"name": name, "description": "D.", "files": files});
    let many: Vec<String> = (0..6000).map(|at| format!("{at}.md")).collect();
    let entries = vec![
        entry("no-list", json!(null)),
        entry("no-paths", json!([1])),
        entry("objects", json!([{"path": "SKILL.md", "digest": "sha256:00"}])),
        entry("up", json!(["SKILL.md", "../../x"])),
        entry("absolute", json!(["SKILL.md", "/etc/passwd"])),
        entry("backslash", json!(["SKILL.md", "..\\x"])),
        entry("encoded", json!(["SKILL.md", "%2e%2e/%2e%2e/x"])),
        entry("address", json!(["SKILL.md", "https://h.example/x"])),
        entry("query", json!(["SKILL.md", "a?b#c"])),
        entry("git", json!(["SKILL.md", ".git/hooks/pre-commit"])),
        entry("control", json!(["SKILL.md", "a\nb"])),
        entry("twice", json!(["SKILL.md", "a", "a"])),
        entry("case", json!(["SKILL.md", "skill.md"])),
        entry("no-skill", json!(["README.md"])),
        entry("none", json!([])),
        entry("many", json!(many)),
        entry("missing", json!(["SKILL.md", "gone.md"])),
        entry("good", json!(["SKILL.md"])),
    ];
    for entry in &entries {
        let name = entry["name"].as_str().expect("a name");
        forge.serve(&format!("{V1}/{name}/SKILL.md"), document(name));
    }
    // Encoded once more, these are names like any other.
    forge
        .serve(&format!("{V1}/encoded/%252e%252e/%252e%252e/x"), "x")
        .serve(&format!("{V1}/query/a%3Fb%23c"), "x");
    forge.serve(&format!("{V1}/case/skill.md"), "x");
    forge.serve(&format!("{V1}/index.json"), json!({"skills": entries}).to_string());
    let listed = sandbox.ok(&["install", "--list", "--json", &forge.url("")]).json();
    let problems: Vec<_> = fields(&listed, ": name problem");
    let usable: Vec<_> = problems.iter().filter_map(|line| line.strip_suffix(" -")).collect();
    assert_eq!(problems.len(), entries.len());
    assert_eq!(usable, ["encoded", "query", "case", "missing", "good"]);
    for (name, exit, code, value) in [
        ("up", 5, "integrity", "`../../x`"),
        ("case", 5, "integrity", "`SKILL.md` and `skill.md`"),
        ("missing", 4, "network", "/missing/gone.md"),
    ] {
        sandbox.fails(&["install", &forge.url(""), "--skill", name], exit, code, &[value]);
    }
    assert_eq!(installed(&sandbox), [""; 0]);
    for name in ["encoded", "query", "good"] {
        let output = sandbox.run(&["install", &forge.url(""), "--skill", name]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    let files: Vec<_> = installed(&sandbox).into_iter().filter(|line| !line.ends_with('/')).collect();
    insta::assert_snapshot!(files.join("\n"), @"
    644 encoded/%2e%2e/%2e%2e/x
    644 encoded/SKILL.md
    644 good/SKILL.md
    644 query/SKILL.md
    644 query/a?b#c
    ");
}

/// Artifacts with what no skill may have, and such as are something else.
#[test]
fn hostile_artifacts() {
    type Case<'a> = (&'a str, i32, &'a str, &'a [&'a str], &'a str, Vec<u8>);
    let raw =
        |name: &str| crate::support::zip::raw(&[("SKILL.md", document("x").as_bytes()), (name, b"x")], "");
    let cases: Vec<Case<'_>> = vec![
        ("up", 5, "integrity", &["x", "../../canary"], "archive", raw("../../canary")),
        ("absolute", 5, "integrity", &["x", "/canary"], "archive", raw("/canary")),
        (
            "a link",
            5,
            "integrity",
            &["x", "l"],
            "archive",
            Tree::new().skill("", "x").symlink("l", "/etc/passwd").zip(),
        ),
        ("a page", 5, "integrity", &["x", "HTML"], "archive", b"<html>".to_vec()),
        ("text", 5, "integrity", &["x", "SKILL.md", "---"], "skill-md", b"# Title\n".to_vec()),
        (
            "no skill",
            5,
            "integrity",
            &["x", "SKILL.md"],
            "archive",
            Tree::new().file("README.md", "x").file("a/SKILL.md", document("x")).zip(),
        ),
        ("cut off", 5, "integrity", &["x", "cut off"], "archive", tar_gz(&skill("x"))[..100].to_vec()),
        (
            "a bomb",
            5,
            "integrity",
            &["x", "the gzip stream"],
            "archive",
            crate::support::tar::gzip(&vec![0; 300 << 20]),
        ),
    ];
    for (what, exit, code, values, kind, artifact) in cases {
        let (forge, sandbox) = (Forge::start(), Sandbox::new());
        index(&forge, "", &[entry("x", kind, "x", &artifact)]);
        forge.serve(&format!("{V2}/x"), artifact);
        sandbox.fails(&["install", &forge.url("")], exit, code, values);
        assert_eq!(sandbox.tree(&sandbox.project()), Vec::<String>::new(), "{what}");
    }
}

/// A name of the index and one in the skill that differ: what an agent will call it is what counts.
#[test]
fn names_that_differ() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    publish(
        &forge,
        "",
        &[("pdf", skill("docx")), ("orders", Tree::new().file("SKILL.md", document("Order helper")))],
    );
    sandbox.tells(
        &["install", &forge.url(""), "--skill", "*"],
        0,
        "skills: name change; warnings: code",
        &["docx added", "orders added", "off-specification", "off-specification"],
    );
    insta::assert_snapshot!(read(&forge, &sandbox, "skillpm.toml"), @r#"
    [skills]
    docx = { url = "http://HOST", path = "pdf" }
    orders = { url = "http://HOST", path = "orders", name = "Order helper" }
    "#);
    clear(&sandbox);
    assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(0));
}

/// Logins go to the site and to nobody else: neither to where it redirects nor to where its index points.
#[test]
fn logins_and_other_hosts() {
    let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
    forge.want_login("Basic YWRhOnMzY3JldA==");
    let (here, there) = (tar_gz(&skill("here")), tar_gz(&skill("there")));
    forge.serve("/here.tar.gz", &here).serve("/there.tar.gz", &there);
    index(
        &forge,
        "",
        &[
            entry("here", "archive", "/here.tar.gz", &here),
            entry("there", "archive", &forge.other_url("/there.tar.gz"), &there),
        ],
    );
    sandbox.fails(
        &["install", "--list", &forge.url("")],
        4,
        "network",
        &["/.well-known/agent-skills/index.json"],
    );
    let netrc = sandbox.write(
        "../netrc",
        "machine 127.0.0.1 login ada password s3cret\ndefault login ada password s3cret\n",
    );
    sandbox.env("NETRC", &netrc.display().to_string());
    let output = sandbox.run(&["install", &forge.url(""), "--skill", "*"]);
    assert_eq!(output.code, Some(0), "{output}");
    for request in forge.requests().iter().skip(1) {
        let own = request.host == forge.api_host();
        assert_eq!(request.header("authorization").is_some(), own, "{}{}", request.host, request.path);
    }
    // An index that moved: what it lists is relative to where it is now.
    let forge = Forge::start();
    publish(&forge, "/moved", &[("pdf", skill("pdf"))]);
    forge.redirect(&format!("{V2}/index.json"), &forge.other_url(&format!("/moved{V2}/index.json")));
    for args in [&["install", "--force"][..], &["install", "--force", "--offline"]] {
        let url = forge.url("/@pdf");
        let output = sandbox.run(&[args, &[&url]].concat());
        assert_eq!(output.code, Some(0), "{output}");
    }
    let artifacts: Vec<_> = forge.requests().into_iter().filter(|r| r.path.contains("pdf.tar")).collect();
    assert_eq!(artifacts.iter().map(|r| r.host.clone()).collect::<Vec<_>>(), [forge.archive_host()]);
    assert!(artifacts[0].header("authorization").is_none());
}

/// A store of files answers 403 for what is not there, so the older place is asked too.
#[test]
fn a_forbidden_place_may_be_an_empty_one() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    publish_old(&forge, &[("pdf", skill("pdf"))]);
    forge.serve(&format!("{V2}/index.json"), "");
    forge.fail(Endpoint::Index, Fault::status(403));
    let output = sandbox.run(&["install", &forge.url("")]);
    assert_eq!(output.code, Some(0), "{output}");
    forge.fail_always(Endpoint::Index, Fault::status(403));
    Sandbox::new().fails(
        &["install", &forge.url("")],
        4,
        "network",
        &["/.well-known/agent-skills/index.json"],
    );
}

/// THREATS section 3: faults of the index and of one artifact among others.
#[test]
fn faults() {
    for (what, exit, code, values, endpoint, fault) in [
        (
            "index: broken",
            4,
            "http-status",
            &["status 500"][..],
            Endpoint::Index,
            Fault::Status(500, vec![], ""),
        ),
        ("index: endless", 5, "too-large", &["16777216 bytes"], Endpoint::Index, Fault::Endless),
        ("index: stalled", 4, "request-timeout", &["--offline"], Endpoint::Index, Fault::Silent),
        ("index: gzip bomb", 4, "network", &["gzip"], Endpoint::Index, Fault::Gzip(1 << 24)),
        (
            "artifact: missing",
            4,
            "network",
            &["pdf.tar.gz", "status 404"],
            Endpoint::File,
            Fault::Status(404, vec![], ""),
        ),
        ("artifact: cut off", 4, "response-cut-off", &[], Endpoint::File, Fault::Truncated),
        ("artifact: a page", 5, "integrity", &["sha256:80"], Endpoint::File, Fault::Html),
        ("artifact: endless", 5, "too-large", &["104857600 bytes"], Endpoint::File, Fault::Endless),
    ] {
        let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
        sandbox.env("SKILLPM_HTTP_RETRIES", "0").env("SKILLPM_HTTP_TIMEOUT", "1");
        publish(&forge, "", &[("pdf", skill("pdf"))]);
        forge.fail_always(endpoint, fault);
        sandbox.fails(&["install", &forge.url("")], exit, code, values);
        assert_eq!(sandbox.tree(&sandbox.project()), Vec::<String>::new(), "{what}");
    }
}

/// Many skills at once: one index, one request each, and as many files open as the system allows.
#[test]
fn many_skills() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let names: Vec<String> = (0..60).map(|at| format!("skill-{at:03}")).collect();
    let skills: Vec<(&str, Tree)> = names.iter().map(|name| (name.as_str(), skill(name))).collect();
    publish(&forge, "", &skills);
    let output = sandbox.run(&["install", &forge.url(""), "--skill", "*"]);
    assert_eq!((output.code, installed(&sandbox).len()), (Some(0), 240), "{output}");
    assert_eq!(forge.requests().len(), 61);
    // One that is missing among them is named, and nothing is changed.
    clear(&sandbox);
    std::fs::remove_dir_all(cache(&sandbox)).expect("removes");
    forge.unserve(&format!("{V2}/skill-030.tar.gz"));
    let output = sandbox.run(&["install"]);
    assert_eq!((output.code, installed(&sandbox).len()), (Some(4), 0), "{output}");
    assert!(output.stderr.contains("`skill-030` cannot be fetched"), "{output}");
    publish(&forge, "", &skills);
    std::fs::remove_dir_all(cache(&sandbox)).expect("removes");
    forge.clear_requests();
    let output = sandbox.run_with_files(40, &["install"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!((installed(&sandbox).len(), forge.requests().len()), (240, 61));
}

/// A template may come from a site, by the name of the skill.
#[test]
fn a_template_of_a_site() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    let template = Tree::new()
        .file("SKILL.md", "---\nname: {{ name }}\ndescription: {{ description }}\n---\n\n# {{ title }}\n");
    publish(&forge, "", &[("basic", template)]);
    let output = sandbox.run(&[
        "create",
        "mine",
        "--template",
        &forge.url("//basic"),
        "--description",
        "Does mine. Use when mine is asked for.",
    ]);
    assert_eq!(output.code, Some(0), "{output}");
    sandbox.fails(&["create", "two", "--template", &forge.url("")], 2, "usage", &["skillpm install --list "]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    /// Issue 4: one tree has one digest, whether it comes as a zip or tar.gz archive, file by file, or from a site.
    #[test]
    fn one_tree_one_digest(files in proptest::collection::btree_map("[a-z]{1,5}(/[a-zA-Z0-9 é+&;=,~@-]{1,6}[a-z]){0,2}\\.md", proptest::collection::vec(any::<u8>(), 0..300), 0..6)) {
        let mut tree = Tree::new().skill("", "pdf");
        for (path, bytes) in &files {
            tree = tree.file(path, bytes);
        }
        let forge = Forge::start();
        forge.serve("/a.zip", tree.zip()).serve("/a.tar.gz", tar_gz(&tree));
        publish(&forge, "/new", &[("pdf", tree.clone())]);
        let encoded = |path: &str| path.bytes().map(|b| if b.is_ascii_alphanumeric() || b"-._~/".contains(&b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect::<String>();
        let paths: Vec<&str> = tree.files().map(|(path, ..)| path).collect();
        for (path, bytes, _) in tree.files() {
            forge.serve(&format!("/old{V1}/pdf/{}", encoded(path)), bytes);
        }
        forge.serve(&format!("/old{V1}/index.json"), json!({"skills": [{"name": "pdf", "description": "D.", "files": paths}]}).to_string());
        let mut digests = Vec::new();
        for path in ["/a.zip", "/a.tar.gz", "/new", "/old"] {
            let output = Sandbox::new().run(&["install", &forge.url(path), "--json"]);
            let report: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{path}: {output}"));
            digests.push(report["skills"][0]["digest"].to_string());
        }
        digests.dedup();
        prop_assert_eq!(digests.len(), 1, "{:?} {:?}", files.keys(), digests);
    }
}
