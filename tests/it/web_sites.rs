//! Sites that list their skills under `/.well-known/`, as INTEROP 6 says.

use std::fmt::Write as _;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};
use skillpm_format::digest::Digest;

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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", "--list", &forge.url("")])), @"
    exit: 0
    --- stdout
    pdf
      Does pdf.
      pdf in http://HOST
    docx
      Does docx.
      docx in http://HOST
    target
      Does target.
      target in http://HOST
    --- stderr
    hint: `--skill pdf` instead of `--list` installs `pdf`, `--skill '*'` all
    ");
    assert_eq!(forge.asked(), [format!("{V2}/index.json")], "a list needs no artifacts");
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &forge.url("")])), @"
    exit: 2
    --- stderr
    error: `http://HOST` has 3 skills; choose some with `--skill`:
      pdf (pdf)
      docx (docx)
      target (target)
    hint: `skillpm install http://HOST --skill pdf` (more names may follow), or `--skill '*'` for all
    ");
    forge.clear_requests();
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &forge.url("/@pdf")])), @"
    exit: 0
    --- stderr
    + pdf (site:http://HOST at c5d6d96)
    1 skill added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets
    ");
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install"])), @"
    exit: 5
    --- stderr
    error: `pdf` is not in the store and cannot be fetched
      caused by: `pdf` from `http://HOST` is not what was locked: expected sha256:c5d6d966dda39c018051ff8b7f693490e09629b13ec351ad2faeee47b79cac7d, but the index now has sha256:d648f5fca5092c7f0df3f50fe6894a7e821f80156a894d2599755736d6a46014
    hint: it has changed since: `skillpm update pdf` locks what is there now
    ");
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install"])), @"
    exit: 4
    --- stderr
    error: `pdf` is not in the store and cannot be fetched
      caused by: `http://HOST` no longer lists `pdf`
    hint: remove the skill with `skillpm remove pdf`
    ");
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
        let refused = told(&forge, &sandbox.run(&["install"]));
        insta::allow_duplicates!(insta::assert_snapshot!(refused, @"
        exit: 4
        --- stderr
        error: `docx` is not in the store and cannot be fetched
          caused by: `http://HOST` no longer lists `docx`
        hint: remove the skill with `skillpm remove docx`
        "));
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
        let output = sandbox.run(&[&["install", &url], args].concat());
        assert_eq!((output.code, installed(&sandbox).len()), (Some(5), 0), "{args:?}: {output}");
        if args[1..] == ["bad"] {
            insta::assert_snapshot!(told(&forge, &output), @"
            exit: 5
            --- stderr
            error: `http://HOST/.well-known/agent-skills/bad.tar.gz` does not match the site's index: expected sha256:01db91d06032cc64162c16f8e35725b0e632beebdde8b2c2459979d04fb1e20c, found sha256:0201fbdb134c53e6cc73e128390a642e6729a9d1e8241b296e9f8ab3d16133e4
            hint: the site may be changing right now: run it again later, and report it to its owner if it persists
            ");
        }
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &forge.url("/@pdf")])), @"
    exit: 0
    --- stderr
    + pdf (site:http://HOST)
    1 skill added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets
    ");
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &forge.url("/team")])), @"
    exit: 4
    --- stderr
    error: there is no index of skills at `http://HOST/team`:
      http://HOST/team/.well-known/agent-skills/index.json: status 404
      http://HOST/team/.well-known/skills/index.json: status 404
    hint: the rest of the site was not searched: `skillpm install http://HOST` searches all of it
    ");
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
    let index = format!("{V2}/index.json");
    let cases: Vec<(&str, Vec<(String, String)>)> = vec![
        ("nothing at all", vec![]),
        (
            "pages for every address",
            vec![
                (index.clone(), "<!doctype html>\n<title>Shop</title>".into()),
                (format!("{V1}/index.json"), "Not found".into()),
            ],
        ),
        ("not JSON", vec![(index.clone(), "{\n  \"skills\": [,]\n}".into())]),
        ("another JSON", vec![(index.clone(), "{\"name\": \"x\"}".into())]),
        ("no list", vec![(index.clone(), "{\"skills\": {}}".into())]),
        ("an empty list", vec![(index.clone(), "{\"skills\": []}".into())]),
        (
            "an unknown format",
            vec![
                (
                    index.clone(),
                    json!({"$schema": "https://x.example/9\u{1b}[31m", "skills": []}).to_string(),
                ),
                (format!("{V1}/index.json"), "{\"skills\": []}".into()),
            ],
        ),
        ("a format that is not text", vec![(index.clone(), "{\"$schema\": 2, \"skills\": []}".into())]),
        ("deep JSON", vec![(index.clone(), "[".repeat(200_000))]),
        ("not UTF-8 would be", vec![(index, "{\"skills\": [\u{0}]}".into())]),
    ];
    let mut shown = String::new();
    for (what, files) in cases {
        let (forge, sandbox) = (Forge::start(), Sandbox::new());
        for (path, text) in files {
            forge.serve(&path, text);
        }
        let output = sandbox.run(&["install", &forge.url("/@pdf")]);
        write!(shown, "# {what}\n{}", told(&forge, &output)).expect("memory");
        assert_eq!(sandbox.tree(&sandbox.project()), Vec::<String>::new());
    }
    insta::assert_snapshot!(shown, @r"
    # nothing at all
    exit: 4
    --- stderr
    error: there is no index of skills at `http://HOST`:
      http://HOST/.well-known/agent-skills/index.json: status 404
      http://HOST/.well-known/skills/index.json: status 404
    hint: for a git repository write `git+http://HOST`, for a file `url:http://HOST`
    # pages for every address
    exit: 4
    --- stderr
    error: there is no index of skills at `http://HOST`:
      http://HOST/.well-known/agent-skills/index.json: a page, not an index
      http://HOST/.well-known/skills/index.json: a file that is not JSON
    hint: for a git repository write `git+http://HOST`, for a file `url:http://HOST`
    # not JSON
    exit: 4
    --- stderr
    error: the index `http://HOST/.well-known/agent-skills/index.json` cannot be used: 2:14: it is not JSON: expected value
    hint: report it to the owner of the site
    # another JSON
    exit: 4
    --- stderr
    error: the index `http://HOST/.well-known/agent-skills/index.json` cannot be used: it has no list `skills`
    hint: report it to the owner of the site
    # no list
    exit: 4
    --- stderr
    error: the index `http://HOST/.well-known/agent-skills/index.json` cannot be used: it has no list `skills`
    hint: report it to the owner of the site
    # an empty list
    exit: 2
    --- stderr
    error: the index `http://HOST/.well-known/agent-skills/index.json` lists no skills
    # an unknown format
    exit: 4
    --- stderr
    error: the index `http://HOST/.well-known/agent-skills/index.json` cannot be used: its format `https://x.example/9\u{1b}[31m` is not known to this skillpm
    hint: a newer version of skillpm may know the format
    # a format that is not text
    exit: 4
    --- stderr
    error: the index `http://HOST/.well-known/agent-skills/index.json` cannot be used: its format `2` is not known to this skillpm
    hint: a newer version of skillpm may know the format
    # deep JSON
    exit: 4
    --- stderr
    error: the index `http://HOST/.well-known/agent-skills/index.json` cannot be used: 1:128: it is not JSON: recursion limit exceeded
    hint: report it to the owner of the site
    # not UTF-8 would be
    exit: 4
    --- stderr
    error: the index `http://HOST/.well-known/agent-skills/index.json` cannot be used: 1:13: it is not JSON: expected value
    hint: report it to the owner of the site
    ");
    let output = Sandbox::new().run(&["install", "http://127.0.0.1:9/x?y=1"]);
    insta::assert_snapshot!(output, @"
    exit: 2
    --- stderr
    error: `http://127.0.0.1:9/x?…` is not the address of a site: it has a query
    hint: put `url:` before the address to download what is there
    ");
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
    insta::assert_snapshot!(listed, @r"
    exit: 0
    --- stdout
    skills[0]
      skills[0] in http://HOST
      cannot be installed: its entry in the index is not an object
    skills[1]
      skills[1] in http://HOST
      cannot be installed: its entry in the index has no `name`
    canary
      ../../canary in http://HOST
      cannot be installed: its `name` in the index is invalid: the name `../../canary` contains `.`; only letters, digits and hyphens are allowed
    etc
      /etc in http://HOST
      cannot be installed: its `name` in the index is invalid: the name `/etc` contains `/`; only letters, digits and hyphens are allowed
    Upper
      Upper in http://HOST
      cannot be installed: its `name` in the index is invalid: the name `Upper` has an upper-case letter
    a--b
      a--b in http://HOST
      cannot be installed: its `name` in the index is invalid: the name `a--b` has two hyphens in a row
    pдf
      pдf in http://HOST
      cannot be installed: its `name` in the index has letters other than `a` to `z`
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx in http://HOST
      cannot be installed: its `name` in the index is invalid: the name has 65 characters, 64 are allowed
    esc\u{1b}[31m
      esc\u{1b}[31m in http://HOST
      cannot be installed: its `name` in the index is invalid: the name `esc\u{1b}[31m` contains U+001B; only letters, digits and hyphens are allowed
    skills[9]
      skills[9] in http://HOST
      cannot be installed: its entry in the index has a `name` that is not text
    no-description
      no-description in http://HOST
      cannot be installed: its entry in the index has no `description`
    empty-description
      empty-description in http://HOST
      cannot be installed: its entry in the index has an empty `description`
    no-type
      no-type in http://HOST
      cannot be installed: its entry in the index has no `type`
    wrong-type
      wrong-type in http://HOST
      cannot be installed: its entry in the index has the `type` `exe`, which is neither `skill-md` nor `archive`
    no-url
      no-url in http://HOST
      cannot be installed: its entry in the index has no `url`
    file-url
      file-url in http://HOST
      cannot be installed: its entry in the index has the `url` `file:///etc/passwd`: only `https` and `http` are supported
    data-url
      data-url in http://HOST
      cannot be installed: its entry in the index has the `url` `data:text/plain,x`: only `https` and `http` are supported
    ftp-url
      ftp-url in http://HOST
      cannot be installed: its entry in the index has the `url` `ftp://h.example/x`: only `https` and `http` are supported
    login-url
      login-url in http://HOST
      cannot be installed: its entry in the index has the `url` `h.example/x`: addresses with a user name or password are not allowed
    spaced-url
      spaced-url in http://HOST
      cannot be installed: its entry in the index has the `url` `a b.zip`: it has characters that addresses cannot have
    backslash-url
      backslash-url in http://HOST
      cannot be installed: its entry in the index has the `url` `..\..\x.zip`: it has characters that addresses cannot have
    newline-url
      newline-url in http://HOST
      cannot be installed: its entry in the index has the `url` `a\u{d} X-Y: z`: it has characters that addresses cannot have
    no-digest
      no-digest in http://HOST
      cannot be installed: its entry in the index has no `digest`
    short-digest
      short-digest in http://HOST
      cannot be installed: the `digest` in its entry in the index: `sha256:00` is not a digest: expected `sha256:` and 64 lower-case hexadecimal digits
    weak-digest
      weak-digest in http://HOST
      cannot be installed: the `digest` in its entry in the index: `md5:d41d8cd98f00b204e9800998ecf8427e` is not a digest: expected `sha256:` and 64 lower-case hexadecimal digits
    twice
      twice in http://HOST
      cannot be installed: the index lists it more than once
    good
      Does good.
      good in http://HOST
    --- stderr
    hint: `--skill good` instead of `--list` installs `good`, `--skill '*'` all
    ");
    let output = told(&forge, &sandbox.run(&["install", &forge.url("/@good")]));
    assert!(output.starts_with("exit: 0"), "{output}");
    insta::assert_snapshot!(output, @r"
    exit: 0
    --- stderr
    + good (site:http://HOST at ba95440)
    1 skill added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    warning: `skills[0]` of `http://HOST` cannot be installed: its entry in the index is not an object
    warning: `skills[1]` of `http://HOST` cannot be installed: its entry in the index has no `name`
    warning: `../../canary` of `http://HOST` cannot be installed: its `name` in the index is invalid: the name `../../canary` contains `.`; only letters, digits and hyphens are allowed
    warning: `/etc` of `http://HOST` cannot be installed: its `name` in the index is invalid: the name `/etc` contains `/`; only letters, digits and hyphens are allowed
    warning: `Upper` of `http://HOST` cannot be installed: its `name` in the index is invalid: the name `Upper` has an upper-case letter
    warning: `a--b` of `http://HOST` cannot be installed: its `name` in the index is invalid: the name `a--b` has two hyphens in a row
    warning: `pдf` of `http://HOST` cannot be installed: its `name` in the index has letters other than `a` to `z`
    warning: `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` of `http://HOST` cannot be installed: its `name` in the index is invalid: the name has 65 characters, 64 are allowed
    warning: `esc\u{1b}[31m` of `http://HOST` cannot be installed: its `name` in the index is invalid: the name `esc\u{1b}[31m` contains U+001B; only letters, digits and hyphens are allowed
    warning: `skills[9]` of `http://HOST` cannot be installed: its entry in the index has a `name` that is not text
    warning: `no-description` of `http://HOST` cannot be installed: its entry in the index has no `description`
    warning: `empty-description` of `http://HOST` cannot be installed: its entry in the index has an empty `description`
    warning: `no-type` of `http://HOST` cannot be installed: its entry in the index has no `type`
    warning: `wrong-type` of `http://HOST` cannot be installed: its entry in the index has the `type` `exe`, which is neither `skill-md` nor `archive`
    warning: `no-url` of `http://HOST` cannot be installed: its entry in the index has no `url`
    warning: `file-url` of `http://HOST` cannot be installed: its entry in the index has the `url` `file:///etc/passwd`: only `https` and `http` are supported
    warning: `data-url` of `http://HOST` cannot be installed: its entry in the index has the `url` `data:text/plain,x`: only `https` and `http` are supported
    warning: `ftp-url` of `http://HOST` cannot be installed: its entry in the index has the `url` `ftp://h.example/x`: only `https` and `http` are supported
    warning: `login-url` of `http://HOST` cannot be installed: its entry in the index has the `url` `h.example/x`: addresses with a user name or password are not allowed
    warning: `spaced-url` of `http://HOST` cannot be installed: its entry in the index has the `url` `a b.zip`: it has characters that addresses cannot have
    warning: `http://HOST` has 6 more that cannot be installed
    hint: `skillpm list` shows what is installed, `skillpm invoke good` what an agent gets
    ");
    let all = Sandbox::new().run(&["install", &forge.url(""), "--skill", "*"]);
    assert_eq!((all.code, all.stderr.matches("was left out").count()), (Some(5), 26), "{all}");
    let mut shown = String::new();
    for name in ["file-url", "twice", "../../canary", "godo"] {
        shown.push_str(&told(&forge, &sandbox.run(&["install", &forge.url(""), "--skill", name])));
    }
    insta::assert_snapshot!(shown, @"
    exit: 5
    --- stderr
    error: `file-url/SKILL.md` cannot be loaded: its entry in the index has the `url` `file:///etc/passwd`: only `https` and `http` are supported
    exit: 5
    --- stderr
    error: `twice/SKILL.md` cannot be loaded: the index lists it more than once
    exit: 5
    --- stderr
    error: `../../canary/SKILL.md` cannot be loaded: its `name` in the index is invalid: the name `../../canary` contains `.`; only letters, digits and hyphens are allowed
    exit: 2
    --- stderr
    error: there is no skill `godo` in `http://HOST`
    hint: did you mean `good`?
    hint: `skillpm install --list http://HOST` shows what is available
    ");
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
    let mut shown = told(&forge, &sandbox.run(&["install", "--list", &forge.url("")]));
    for name in ["up", "case", "missing"] {
        shown.push_str(&told(&forge, &sandbox.run(&["install", &forge.url(""), "--skill", name])));
    }
    insta::assert_snapshot!(shown, @r"
    exit: 0
    --- stdout
    no-list
      no-list in http://HOST
      cannot be installed: its entry in the index has no list `files`, which one without `$schema` needs
    no-paths
      no-paths in http://HOST
      cannot be installed: its entry in the index lists a file that is not a path
    objects
      objects in http://HOST
      cannot be installed: its entry in the index lists a file that is not a path
    up
      up in http://HOST
      cannot be installed: its entry in the index lists the file `../../x`: it has a `.` or `..` component
    absolute
      absolute in http://HOST
      cannot be installed: its entry in the index lists the file `/etc/passwd`: it is absolute
    backslash
      backslash in http://HOST
      cannot be installed: its entry in the index lists the file `..\x`: it has a backslash
    encoded
      D.
      encoded in http://HOST
    address
      address in http://HOST
      cannot be installed: its entry in the index lists the file `https://h.example/x`: it has a colon
    query
      D.
      query in http://HOST
    git
      git in http://HOST
      cannot be installed: its entry in the index lists the file `.git/hooks/pre-commit`: it is part of a git repository's own files
    control
      control in http://HOST
      cannot be installed: its entry in the index lists the file `a b`: it has the invisible character U+000A
    twice
      twice in http://HOST
      cannot be installed: its entry in the index lists the file `a` twice
    case
      D.
      case in http://HOST
    no-skill
      no-skill in http://HOST
      cannot be installed: its entry in the index lists no `SKILL.md`
    none
      none in http://HOST
      cannot be installed: its entry in the index lists no `SKILL.md`
    many
      many in http://HOST
      cannot be installed: its entry in the index lists 6000 files, 5000 are allowed
    missing
      D.
      missing in http://HOST
    good
      D.
      good in http://HOST
    --- stderr
    hint: `--skill encoded` instead of `--list` installs `encoded`, `--skill '*'` all
    exit: 5
    --- stderr
    error: `up/SKILL.md` cannot be loaded: its entry in the index lists the file `../../x`: it has a `.` or `..` component
    exit: 5
    --- stderr
    error: the skill `case` is refused
      caused by: `SKILL.md` and `skill.md` are the same name on some file systems
    exit: 4
    --- stderr
    error: `missing` cannot be fetched
      caused by: `http://HOST/.well-known/skills/missing/gone.md` does not exist (status 404)
    hint: check the address; if it needs a login, set `SKILLPM_TOKEN_[LOCAL]` to a token, or write `machine 127.0.0.1 login NAME password PASSWORD` into `[DIR]/home/.netrc`
    ");
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
    let raw =
        |name: &str| crate::support::zip::raw(&[("SKILL.md", document("x").as_bytes()), (name, b"x")], "");
    let cases: Vec<(&str, &str, Vec<u8>)> = vec![
        ("up", "archive", raw("../../canary")),
        ("absolute", "archive", raw("/canary")),
        ("a link", "archive", Tree::new().skill("", "x").symlink("l", "/etc/passwd").zip()),
        ("a page", "archive", b"<html>".to_vec()),
        ("text", "skill-md", b"# Title\n".to_vec()),
        ("no skill", "archive", Tree::new().file("README.md", "x").file("a/SKILL.md", document("x")).zip()),
        ("cut off", "archive", tar_gz(&skill("x"))[..100].to_vec()),
        ("a bomb", "archive", crate::support::tar::gzip(&vec![0; 300 << 20])),
    ];
    let mut shown = String::new();
    for (what, kind, artifact) in cases {
        let (forge, sandbox) = (Forge::start(), Sandbox::new());
        index(&forge, "", &[entry("x", kind, "x", &artifact)]);
        forge.serve(&format!("{V2}/x"), artifact);
        write!(shown, "# {what}\n{}", told(&forge, &sandbox.run(&["install", &forge.url("")])))
            .expect("memory");
        assert_eq!(sandbox.tree(&sandbox.project()), Vec::<String>::new(), "{what}");
    }
    insta::assert_snapshot!(shown, @"
    # up
    exit: 5
    --- stderr
    error: `x` of `http://HOST` is refused
      caused by: `../../canary`: this name is not allowed: it has a `.` or `..` component
    # absolute
    exit: 5
    --- stderr
    error: `x` of `http://HOST` is refused
      caused by: `/canary`: this name is not allowed: it is absolute
    # a link
    exit: 5
    --- stderr
    error: the skill `x` is refused
      caused by: `l`: this is a symbolic link that leads out of the skill or to no regular file
    # a page
    exit: 5
    --- stderr
    error: `x` of `http://HOST` is refused
      caused by: this is not a zip, tar or tar.gz archive: it looks like an HTML page
    # text
    exit: 5
    --- stderr
    error: `x` of `http://HOST` is refused
      caused by: this is not a `SKILL.md`, whose first line is `---`: it looks like a text file
    # no skill
    exit: 5
    --- stderr
    error: `x` of `http://HOST` is refused
      caused by: the archive has no `SKILL.md` at its root
    # cut off
    exit: 5
    --- stderr
    error: `x` of `http://HOST` is refused
      caused by: the archive is cut off: the gzip stream has no end
    # a bomb
    exit: 5
    --- stderr
    error: `x` of `http://HOST` is refused
      caused by: `the gzip stream`: this entry unpacks to 201 times its size, 200 times is allowed
    ");
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", &forge.url(""), "--skill", "*"])), @"
    exit: 0
    --- stderr
    + docx (site:http://HOST at 7429c80)
    + orders (site:http://HOST at 23eda27)
    2 skills added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    warning: `docx` does not follow the specification: the name `docx` differs from the directory's name `pdf`
    warning: `orders` does not follow the specification: the name `Order helper` has an upper-case letter (and 2 more)
    hint: `skillpm list` shows what is installed, `skillpm invoke docx` what an agent gets
    ");
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["install", "--list", &forge.url("")])), @"
    exit: 4
    --- stderr
    error: `http://HOST/.well-known/agent-skills/index.json` requires a login: Log in
    hint: set `SKILLPM_TOKEN_[LOCAL]` to a token, or write `machine 127.0.0.1 login NAME password PASSWORD` into `[DIR]/home/.netrc`
    ");
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
    insta::assert_snapshot!(told(&forge, &Sandbox::new().run(&["install", &forge.url("")])), @"
    exit: 4
    --- stderr
    error: `HOST` does not allow access to `http://HOST/.well-known/agent-skills/index.json`: From the forge
    hint: set `SKILLPM_TOKEN_[LOCAL]` to a token, or write `machine 127.0.0.1 login NAME password PASSWORD` into `[DIR]/home/.netrc`
    ");
}

/// THREATS section 3: faults of the index and of one artifact among others.
#[test]
fn faults() {
    let mut shown = String::new();
    for (what, endpoint, fault) in [
        ("index: broken", Endpoint::Index, Fault::Status(500, vec![], "")),
        ("index: endless", Endpoint::Index, Fault::Endless),
        ("index: stalled", Endpoint::Index, Fault::Silent),
        ("index: gzip bomb", Endpoint::Index, Fault::Gzip(1 << 24)),
        ("artifact: missing", Endpoint::File, Fault::Status(404, vec![], "")),
        ("artifact: cut off", Endpoint::File, Fault::Truncated),
        ("artifact: a page", Endpoint::File, Fault::Html),
        ("artifact: endless", Endpoint::File, Fault::Endless),
    ] {
        let (forge, mut sandbox) = (Forge::start(), Sandbox::new());
        sandbox.env("SKILLPM_HTTP_RETRIES", "0").env("SKILLPM_HTTP_TIMEOUT", "1");
        publish(&forge, "", &[("pdf", skill("pdf"))]);
        forge.fail_always(endpoint, fault);
        write!(shown, "# {what}\n{}", told(&forge, &sandbox.run(&["install", &forge.url("")])))
            .expect("memory");
        assert_eq!(sandbox.tree(&sandbox.project()), Vec::<String>::new(), "{what}");
    }
    insta::assert_snapshot!(shown.replace(&shown_digest(&shown), "[DIGEST]"), @"
    # index: broken
    exit: 4
    --- stderr
    error: `http://HOST/.well-known/agent-skills/index.json` answered with status 500
    hint: the server has a problem: try again later
    # index: endless
    exit: 5
    --- stderr
    error: the response from `HOST` has more than 16777216 bytes
    # index: stalled
    exit: 4
    --- stderr
    error: `HOST` did not answer within 1 second
    hint: check the connection; behind a proxy, set `HTTPS_PROXY`
    hint: skills in the store can be installed without a network: `--offline`
    # index: gzip bomb
    exit: 4
    --- stderr
    error: `http://HOST/.well-known/agent-skills/index.json` answered in the encoding `gzip`, which was not requested
    hint: a proxy or a login page may have changed the response
    # artifact: missing
    exit: 4
    --- stderr
    error: `http://HOST/.well-known/agent-skills/pdf.tar.gz` does not exist (status 404)
    hint: check the address; if it needs a login, set `SKILLPM_TOKEN_[LOCAL]` to a token, or write `machine 127.0.0.1 login NAME password PASSWORD` into `[DIR]/home/.netrc`
    # artifact: cut off
    exit: 4
    --- stderr
    error: the response from `HOST` was cut off: 92 bytes arrived, 184 were expected
    hint: run it again
    # artifact: a page
    exit: 5
    --- stderr
    error: `http://HOST/.well-known/agent-skills/pdf.tar.gz` does not match the site's index: expected [DIGEST], found sha256:80ec9fb2a89840869ebf4df8dd9eb4e4268631bb8105e452937462d35cee0ebc
    hint: the site may be changing right now: run it again later, and report it to its owner if it persists
    # artifact: endless
    exit: 5
    --- stderr
    error: the response from `HOST` has more than 104857600 bytes
    ");
}

/// The digest that compression decides.
fn shown_digest(text: &str) -> String {
    text.split("expected sha256:").nth(1).map(|rest| format!("sha256:{}", &rest[..64])).unwrap_or_default()
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
    insta::assert_snapshot!(told(&forge, &sandbox.run(&["create", "two", "--template", &forge.url("")])), @"
    exit: 2
    --- stderr
    error: `http://HOST` is a site, but it does not say which skill to use
    hint: name one, as in `http://HOST//NAME`; `skillpm install --list http://HOST` shows what is available
    ");
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
