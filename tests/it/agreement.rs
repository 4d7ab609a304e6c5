//! Verbs that show a scope agree, whatever its state: each is a view of the same reading.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::support::Sandbox;

/// The agent that gets links. `codex` reads the canonical copies.
const LINKED: &str = "claude-code";
const CANONICAL: &str = ".agents/skills/pdf";
const LINK: &str = ".claude/skills/pdf";

/// The verbs whose JSON is compared.
const VERBS: [&str; 9] = ["list", "tree", "why", "show", "verify", "doctor", "agents", "outdated", "update"];

/// Returns the text of a skill.
fn skill(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n\n{body}\n")
}

/// A project with the skills `docx` and `pdf`, installed with `args` for an agent that needs links.
fn installed(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf"] {
        sandbox.write(&format!("src/{name}/SKILL.md"), skill(name, "first"));
    }
    sandbox.ok(&[&["install", "./src", "-s", "*", "-a", LINKED], args].concat());
    sandbox
}

fn remove(path: &Path) {
    if fs::symlink_metadata(path).expect("is there").is_dir() {
        fs::remove_dir_all(path).expect("removes");
    } else {
        fs::remove_file(path).expect("removes");
    }
}

/// Replaces what is at `path` in the project with a link to `target`.
fn link(sandbox: &Sandbox, path: &str, target: &str) {
    let path = sandbox.project().join(path);
    if fs::symlink_metadata(&path).is_ok() {
        remove(&path);
    }
    fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
    symlink(target, path).expect("links");
}

/// Returns what `args` print as JSON.
fn json(sandbox: &Sandbox, args: &[&str]) -> Value {
    let output = sandbox.run(&[args, &["--json"]].concat());
    serde_json::from_str(&output.stdout).unwrap_or(Value::Null)
}

fn texts(value: &Value) -> BTreeSet<String> {
    let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter_map(|one| one.as_str().map(ToOwned::to_owned)).collect()
}

/// Returns the element of the array `all` with `name` in `scope`.
fn of<'v>(all: &'v Value, name: &str, scope: &str) -> Option<&'v Value> {
    all.as_array()?.iter().find(|one| one["name"] == name && one["scope"] == scope)
}

/// What the verbs say of the skill `name`, a line for each fact on which two of them disagree.
fn disagreements(sandbox: &Sandbox, name: &str, scope: &str) -> Vec<String> {
    let said = |verb: &str| match verb {
        "why" | "show" => json(sandbox, &[verb, name]),
        "update" => json(sandbox, &["update", "--dry-run"]),
        verb => json(sandbox, &[verb]),
    };
    let [list, tree, why, show, verify, doctor, agents, outdated, _update] = VERBS.map(said);
    let newest = json(sandbox, &["diff", "--newest"]);
    let mut found = Vec::new();
    let mut check = |what: &str, one: String, other: String| {
        if one != other {
            found.push(format!("{what}: {one} / {other}"));
        }
    };
    let Some(listed) = of(&list, name, scope) else { return vec![format!("not listed: {list}")] };
    let state = listed["state"].as_str().expect("a state");
    let is_known = !matches!(state, "untracked" | "foreign");
    // The same entry, wherever it is repeated.
    if is_known {
        let told = of(&tree, name, scope).unwrap_or(&Value::Null);
        let explained = of(&why["installed"], name, scope).unwrap_or(&Value::Null);
        let mut shown = vec![("tree", told), ("why", explained)];
        // Through a link that leads to another skill, that skill is shown.
        let is_it = |shown: &&Value| shown["name"] == name;
        shown.extend(show.get("installed").filter(is_it).map(|shown| ("show", shown)));
        for (verb, other) in shown {
            for field in listed.as_object().expect("an object").keys() {
                check(&format!("list/{verb} {field}"), listed[field].to_string(), other[field].to_string());
            }
        }
    }
    if is_known {
        let drawn = sandbox.run(&["tree", name, "--scope", scope]).stdout;
        let is_seen = listed["disabled"] == true && !texts(&listed["seen_by"]).is_empty();
        check("list/tree still seen", is_seen.to_string(), drawn.contains("and still seen").to_string());
    }
    // The verdict on its own place; what is disabled is compared where it is.
    let verified = of(&verify["skills"], name, scope);
    if let Some(verified) = verified {
        let home = &verified["places"][0];
        let verdict = home["verdict"].as_str().expect("a verdict");
        let expected = match state {
            "disabled" if listed["editable"] == true => "editable",
            "disabled" if listed["modified"] == true => "modified",
            "disabled" => "ok",
            state => state,
        };
        check("list/verify state", expected.to_owned(), verdict.to_owned());
        check("list/verify location", listed["location"].to_string(), home["path"].to_string());
        let edited = verified["places"].as_array().expect("places").iter().filter(|place| {
            place["agent"].is_string() && matches!(place["verdict"].as_str(), Some("modified" | "line-ends"))
        });
        let edited: BTreeSet<_> =
            edited.filter_map(|place| Some(place["agent"].as_str()?.to_owned())).collect();
        check(
            "list/verify edited copies",
            format!("{:?}", texts(&listed["edited_copies"])),
            format!("{edited:?}"),
        );
    } else {
        check("verify knows it", "foreign".to_owned(), state.to_owned());
    }
    // The findings about the skill itself.
    let findings = doctor["findings"].as_array().expect("findings");
    let of_skill = |finding: &&Value| finding["skill"] == name && finding["scope"] == scope;
    let ids: BTreeSet<&str> =
        findings.iter().filter(of_skill).filter_map(|finding| finding["id"].as_str()).collect();
    let states = [
        ("missing", &["skill-missing", "editable-gone", "editable-link"][..]),
        // What no skill may have was put there.
        ("modified", &["skill-edited", "skill-unreadable", "editable-link"]),
        ("line-ends", &["line-ends"]),
        ("conflict", &["merge-unfinished"]),
        ("elsewhere", &["skill-no-directory", "editable-link"]),
    ];
    for (bad, expected) in states {
        let told: BTreeSet<_> = ids.iter().filter(|id| expected.contains(id)).collect();
        let is_so = state == bad || state == "disabled" && listed["modified"] == true && bad == "modified";
        // A missing directory of an editable skill and a wrong link to it are told alike.
        let is_link = listed["editable"] == true && told.iter().all(|id| id.starts_with("editable"));
        if !is_link {
            check(&format!("list/doctor {bad} {ids:?}"), is_so.to_string(), (!told.is_empty()).to_string());
        }
    }
    // Who sees it: `agents` looks into the directories. A link in the place of an installed skill shows what it leads to.
    let is_other = |place: &Value| is_known && place["form"] == "foreign" && !place["target"].is_null();
    let seen: BTreeSet<String> = agents
        .as_array()
        .expect("agents")
        .iter()
        .filter(|agent| {
            agent["directories"].as_array().expect("directories").iter().any(|dir| {
                let skills = dir["skills"].as_array().expect("skills");
                let is_here = dir["scope"] == scope && dir["role"] != "other";
                let is_it =
                    |skill: &Value| skill["name"] == name && skill["form"] != "broken" && !is_other(skill);
                is_here && skills.iter().any(is_it)
            })
        })
        .filter_map(|agent| agent["id"].as_str().map(ToOwned::to_owned))
        .collect();
    check("list/agents seen by", format!("{:?}", texts(&listed["seen_by"])), format!("{seen:?}"));
    if is_known {
        let places = of(&why["installed"], name, scope).map(|why| why["seen"].clone()).unwrap_or_default();
        let mut explained: BTreeSet<String> = BTreeSet::new();
        for place in places.as_array().map(Vec::as_slice).unwrap_or_default() {
            explained.extend(texts(&place["agents"]));
        }
        // What is in an agent's directory and not of the skill is told apart.
        for place in why["elsewhere"].as_array().map(Vec::as_slice).unwrap_or_default() {
            if !is_other(place) {
                explained.extend(texts(&place["agents"]));
            }
        }
        check("list/why seen by", format!("{:?}", texts(&listed["seen_by"])), format!("{explained:?}"));
    }
    // An agent that should see it and does not.
    let blind = |finding: &&Value| {
        finding["agent"] == LINKED && matches!(finding["id"].as_str(), Some("link-missing" | "copy-missing"))
    };
    if listed["disabled"] == false && findings.iter().filter(of_skill).any(|finding| blind(&finding)) {
        check(
            "doctor/list seen by",
            "false".to_owned(),
            texts(&listed["seen_by"]).contains(LINKED).to_string(),
        );
    }
    // What is newer is compared with what is locked, not with what is here.
    if let Some(row) = of(&outdated, name, scope) {
        check("list/outdated modified", listed["modified"].to_string(), row["modified"].to_string());
        check("list/outdated disabled", listed["disabled"].to_string(), row["disabled"].to_string());
        if row["status"] == "changed" || row["status"] == "current" {
            let is_shown = of(&newest, name, scope).is_some();
            check("outdated/diff changed", (row["status"] == "changed").to_string(), is_shown.to_string());
        }
    }
    found
}

type State = (&'static str, fn() -> Sandbox);

/// A project in which an update left `pdf` in conflict.
fn conflict(args: &[&str]) -> Sandbox {
    let sandbox = installed(args);
    sandbox.write(&format!("{CANONICAL}/SKILL.md"), skill("pdf", "mine"));
    sandbox.write("src/pdf/SKILL.md", skill("pdf", "theirs"));
    sandbox.run(&["update", "pdf"]);
    sandbox
}

/// Returns an installation with `args` after `change`.
fn after(args: &[&str], change: impl Fn(&Sandbox)) -> Sandbox {
    let sandbox = installed(args);
    change(&sandbox);
    sandbox
}

#[rustfmt::skip]
const STATES: &[State] = &[
    ("as locked", || installed(&[])),
    ("edited", || after(&[], |s| drop(s.write(&format!("{CANONICAL}/SKILL.md"), skill("pdf", "mine"))))),
    ("an extra file", || after(&[], |s| drop(s.write(&format!("{CANONICAL}/more.md"), "x")))),
    ("other line ends", || after(&[], |s| {
        let text = s.read(&format!("{CANONICAL}/SKILL.md")).replace('\n', "\r\n");
        s.write(&format!("{CANONICAL}/SKILL.md"), text);
    })),
    ("in conflict", || conflict(&[])),
    ("in conflict, with copies", || conflict(&["--copy"])),
    ("in conflict, and disabled", || {
        let sandbox = conflict(&[]);
        sandbox.ok(&["disable", "pdf"]);
        sandbox
    }),
    ("missing", || after(&[], |s| remove(&s.project().join(CANONICAL)))),
    ("a file in its place", || after(&[], |s| {
        remove(&s.project().join(CANONICAL));
        s.write(CANONICAL, "x");
    })),
    ("a link elsewhere in its place", || after(&[], |s| link(s, CANONICAL, "../../src/pdf"))),
    ("a link to nothing in its place", || after(&[], |s| link(s, CANONICAL, "../../nothing"))),
    ("a link to itself in its place", || after(&[], |s| link(s, CANONICAL, "pdf"))),
    ("a link out of the skill in it", || after(&[], |s| link(s, &format!("{CANONICAL}/leak"), "/etc/passwd"))),
    ("without its `SKILL.md`", || after(&[], |s| remove(&s.project().join(CANONICAL).join("SKILL.md")))),
    ("compiled modules in it", || after(&[], |s| drop(s.write(&format!("{CANONICAL}/__pycache__/a.pyc"), "x")))),
    ("disabled", || after(&[], |s| drop(s.ok(&["disable", "pdf"])))),
    ("disabled and edited", || after(&[], |s| {
        s.ok(&["disable", "pdf"]);
        s.write(".agents/.skillpm-disabled/pdf/SKILL.md", skill("pdf", "mine"));
    })),
    ("disabled and missing", || after(&[], |s| {
        s.ok(&["disable", "pdf"]);
        remove(&s.project().join(".agents/.skillpm-disabled/pdf"));
    })),
    ("disabled by hand, and still there", || after(&[], |s| {
        let text = s.read("skillpm.toml").replace("pdf = { path", "pdf = { disabled = true, path");
        s.write("skillpm.toml", text);
    })),
    ("editable", || after(&["--editable"], |_| ())),
    ("editable, without its directory", || after(&["--editable"], |s| remove(&s.project().join("src/pdf")))),
    ("editable, with a directory in place of its link", || after(&["--editable"], |s| {
        remove(&s.project().join(CANONICAL));
        s.write(&format!("{CANONICAL}/SKILL.md"), skill("pdf", "mine"));
    })),
    ("editable, without its link", || after(&["--editable"], |s| remove(&s.project().join(CANONICAL)))),
    ("editable, linked elsewhere", || after(&["--editable"], |s| link(s, CANONICAL, "../../src/docx"))),
    ("editable and disabled", || after(&["--editable"], |s| drop(s.ok(&["disable", "pdf"])))),
    ("an agent without its link", || after(&[], |s| remove(&s.project().join(LINK)))),
    ("an agent's link to nothing", || after(&[], |s| link(s, LINK, "../../nothing"))),
    ("an agent's link elsewhere", || after(&[], |s| link(s, LINK, "../../src/pdf"))),
    ("an agent's link to itself", || after(&[], |s| link(s, LINK, "pdf"))),
    ("an agent's link as a text file", || after(&[], |s| {
        remove(&s.project().join(LINK));
        s.write(LINK, "../../.agents/skills/pdf");
    })),
    ("an agent's own copy", || after(&[], |s| {
        remove(&s.project().join(LINK));
        s.write(&format!("{LINK}/SKILL.md"), s.read(&format!("{CANONICAL}/SKILL.md")));
    })),
    ("an agent's edited copy in place of the link", || after(&[], |s| {
        remove(&s.project().join(LINK));
        s.write(&format!("{LINK}/SKILL.md"), skill("pdf", "mine"));
    })),
    ("an agent's empty directory", || after(&[], |s| {
        remove(&s.project().join(LINK));
        fs::create_dir(s.project().join(LINK)).expect("creates");
    })),
    ("copies", || installed(&["--copy"])),
    ("copies, one edited", || after(&["--copy"], |s| drop(s.write(&format!("{LINK}/SKILL.md"), skill("pdf", "mine"))))),
    ("copies, one missing", || after(&["--copy"], |s| remove(&s.project().join(LINK)))),
    ("copies, the first edited", || after(&["--copy"], |s| {
        s.write(&format!("{CANONICAL}/SKILL.md"), skill("pdf", "mine"));
    })),
    ("an agent's directory is a link to the canonical one", || after(&[], |s| {
        link(s, ".claude/skills", "../.agents/skills");
    })),
    ("an agent's directory is a file", || after(&[], |s| {
        remove(&s.project().join(".claude/skills"));
        s.write(".claude/skills", "x");
    })),
    ("no lockfile", || after(&[], |s| remove(&s.project().join("skillpm.lock")))),
    ("no manifest", || after(&[], |s| remove(&s.project().join("skillpm.toml")))),
    ("no longer asked for", || after(&[], |s| {
        let text = s.read("skillpm.toml");
        let kept: Vec<_> = text.lines().filter(|line| !line.starts_with("pdf")).collect();
        s.write("skillpm.toml", kept.join("\n"));
    })),
    ("not locked", || after(&[], |s| {
        let (before, after) = s.read("skillpm.lock").split_once("[[skill]]\nname = \"pdf\"").map(|(a, b)| (a.to_owned(), b.to_owned())).expect("an entry");
        let rest = after.split_once("[[skill]]").map(|(_, rest)| format!("[[skill]]{rest}")).unwrap_or_default();
        s.write("skillpm.lock", before + &rest);
    })),
    ("newer in its source", || after(&[], |s| drop(s.write("src/pdf/SKILL.md", skill("pdf", "second"))))),
    ("newer in its source, and edited", || after(&[], |s| {
        s.write("src/pdf/SKILL.md", skill("pdf", "second"));
        s.write(&format!("{CANONICAL}/SKILL.md"), skill("pdf", "mine"));
    })),
    ("gone from its source", || after(&[], |s| remove(&s.project().join("src/pdf")))),
    ("written by hand", || after(&[], |s| {
        s.ok(&["remove", "pdf"]);
        s.write(&format!("{CANONICAL}/SKILL.md"), skill("pdf", "mine"));
    })),
    ("written by hand for one agent", || after(&[], |s| {
        s.ok(&["remove", "pdf"]);
        s.write(&format!("{LINK}/SKILL.md"), skill("pdf", "mine"));
    })),
];

/// Issue 42: one state of a scope, and every verb that shows it is a view.
#[test]
fn verbs_agree_on_each_state() {
    assert!(STATES.len() >= 30);
    let mut found = Vec::new();
    for (state, build) in STATES {
        let told = disagreements(&build(), "pdf", "project");
        found.extend(told.into_iter().map(|told| format!("{state}: {told}")));
    }
    assert!(found.is_empty(), "{} disagreements:\n{}", found.len(), found.join("\n"));
}
