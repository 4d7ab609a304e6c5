//! What a verb says that it changes is what it changes: the machine before and after each verb, beside its `--json`
//! and what its dry run said.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::snapshot::Thing;
use crate::support::{GitRepo, Sandbox, Snapshot};

fn skill(name: &str, text: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{text}\n")
}

/// What skillpm keeps for itself, which is not what a verb is about.
fn is_own(path: &str) -> bool {
    path.starts_with("home/.local/")
        || path.starts_with("home/.cache/")
        || path.contains("/.skillpm-") && !path.contains("/.skillpm-disabled/")
}

/// The files and links of the machine, by their paths.
fn machine(sandbox: &Sandbox) -> BTreeMap<String, Thing> {
    let all = Snapshot::of(sandbox.root()).0.into_iter();
    all.filter(|(path, thing)| *thing != Thing::Directory && !is_own(path)).collect()
}

/// The changes from `before` to `after`: the path, and whether something was and is there.
fn differences(
    before: &BTreeMap<String, Thing>,
    after: &BTreeMap<String, Thing>,
) -> BTreeMap<String, (bool, bool)> {
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let changed = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    changed.map(|path| (path.clone(), (before.contains_key(path), after.contains_key(path)))).collect()
}

/// The `paths` of an outcome.
fn said(sandbox: &Sandbox, json: &str) -> BTreeMap<PathBuf, String> {
    let value: Value = serde_json::from_str(json).expect(json);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let path = |change: &Value| {
        let path = text(&change["path"]).replace("[DIR]", &sandbox.root().display().to_string());
        (PathBuf::from(path), text(&change["change"]))
    };
    value["paths"].as_array().expect("paths").iter().map(path).collect()
}

/// Checks that every difference is at or below a path that was said, with what happens to it, and that something
/// happened to each of these paths.
fn compare(sandbox: &Sandbox, said: &BTreeMap<PathBuf, String>, found: &BTreeMap<String, (bool, bool)>) {
    let mut used: BTreeSet<&Path> = BTreeSet::new();
    for (path, states) in found {
        let whole = sandbox.root().join(path);
        let said_of = said.iter().find(|(said, _)| whole.starts_with(said));
        let (of, change) = said_of.unwrap_or_else(|| panic!("nothing was said of {path} in {said:#?}"));
        used.insert(of);
        let fits = match (&**change, states) {
            ("created", (was, is)) => !was && *is,
            ("deleted", (was, is)) => *was && !is,
            ("replaced", _) => true,
            (other, _) => panic!("{other}"),
        };
        assert!(fits, "{path} was said to be {change}: {states:?}");
    }
    for path in said.keys() {
        assert!(used.contains(path.as_path()), "nothing happened to {}: {found:#?}", path.display());
    }
}

/// A project in a git repository, with two skills for Claude Code and Junie, of which an update is there.
fn project(copy: bool) -> Sandbox {
    let sandbox = Sandbox::new();
    GitRepo::new(&sandbox.project());
    for name in ["pdf", "docx"] {
        sandbox.write(&format!("src/{name}/SKILL.md"), skill(name, "first"));
        sandbox.write(&format!("src/{name}/scripts/a.py"), "print(1)\n");
    }
    let mut args = vec!["install", "./src", "--skill", "pdf", "-y", "-a", "claude-code", "-a", "junie"];
    args.extend(copy.then_some("--copy"));
    sandbox.ok(&args);
    sandbox
}

type Prepare = fn(&Sandbox);

/// The verbs that change a scope, with what is done before.
const VERBS: [(&[&str], Prepare); 19] = [
    (&["install", "./src", "--skill", "docx", "-y"], |_| {}),
    (&["install", "./src", "--skill", "docx", "-y", "--force"], |sandbox| {
        sandbox.write(".claude/skills/docx/SKILL.md", skill("docx", "mine"));
        sandbox.write(".agents/skills/docx/SKILL.md", skill("docx", "mine"));
    }),
    (&["install"], |sandbox| {
        std::fs::remove_dir_all(sandbox.project().join(".agents/skills/pdf")).expect("removed");
        std::fs::remove_dir_all(sandbox.project().join(".junie")).expect("removed");
    }),
    (&["install", "--force"], |sandbox| drop(sandbox.write(".agents/skills/pdf/SKILL.md", "edited"))),
    (&["install"], |sandbox| {
        let text = sandbox.read("skillpm.toml");
        let rest: String = text.split_inclusive('\n').filter(|line| !line.starts_with("pdf")).collect();
        sandbox.write("skillpm.toml", rest);
    }),
    (&["install", "--editable", "./src/docx", "-y"], |_| {}),
    (&["update"], |sandbox| drop(sandbox.write("src/pdf/SKILL.md", skill("pdf", "second")))),
    (&["remove", "pdf"], |_| {}),
    (&["remove", "pdf", "--force"], |sandbox| drop(sandbox.write(".agents/skills/pdf/SKILL.md", "edited"))),
    (&["remove", "*"], |sandbox| {
        // The author's own file keeps what skillpm did not write.
        let text = sandbox.read(".agents/.gitattributes");
        sandbox.write(".agents/.gitattributes", format!("*.x binary\n{text}"));
    }),
    (&["disable", "pdf"], |_| {}),
    (&["enable", "pdf"], |sandbox| drop(sandbox.ok(&["disable", "pdf"]))),
    (&["link", "-a", "windsurf"], |_| {}),
    (&["unlink", "-a", "junie"], |_| {}),
    (&["unlink", "-a", "*"], |_| {}),
    (&["undo"], |_| {}),
    (&["undo"], |sandbox| drop(sandbox.ok(&["remove", "pdf"]))),
    (&["undo", "--restore", "pdf"], |sandbox| {
        sandbox.write(".agents/skills/pdf/SKILL.md", skill("pdf", "mine"));
        sandbox.ok(&["install", "--force"]);
    }),
    (&["import"], |sandbox| {
        sandbox.ok(&["remove", "pdf"]);
        sandbox.write(".agents/skills/docx/SKILL.md", skill("docx", "first"));
        sandbox.write(".agents/skills/docx/scripts/a.py", "print(1)\n");
    }),
];

#[test]
fn verbs_of_a_scope_say_what_they_change() {
    for copy in [false, true] {
        for (args, prepare) in VERBS {
            let sandbox = project(copy);
            prepare(&sandbox);
            let before = machine(&sandbox);
            let args = [args, &["--json"]].concat();
            let planned = sandbox.ok(&[&args[..], &["--dry-run"]].concat());
            assert_eq!(differences(&before, &machine(&sandbox)), BTreeMap::new(), "{args:?}: a dry run");
            let made = sandbox.ok(&args);
            let found = differences(&before, &machine(&sandbox));
            eprintln!("{args:?}, copies: {copy}");
            compare(&sandbox, &said(&sandbox, &made.stdout), &found);
            assert_eq!(said(&sandbox, &planned.stdout), said(&sandbox, &made.stdout), "{args:?}: a dry run");
        }
    }
}

/// The texts of an outcome that name a path of the machine.
fn named(value: &Value, cwd: &Path, root: &str, into: &mut BTreeSet<PathBuf>) {
    match value {
        Value::String(text) => drop(into.insert(cwd.join(text.replace("[DIR]", root)))),
        Value::Array(values) => values.iter().for_each(|value| named(value, cwd, root, into)),
        Value::Object(fields) => fields.values().for_each(|value| named(value, cwd, root, into)),
        _ => {}
    }
}

/// A registry in `reg`, and a skill in `src/pdf` that can be published.
fn with_registry(sandbox: &Sandbox) {
    std::fs::remove_dir_all(sandbox.project().join("src/pdf/scripts")).expect("removed");
    let text = "---\nname: pdf\ndescription: Does pdf. Use it in tests.\nlicense: MIT\nmetadata:\n  version: \"1.0.0\"\n---\nx\n";
    sandbox.write("src/pdf/SKILL.md", text);
    sandbox.ok(&["registry", "init", "reg", "--name", "acme"]);
}

/// As [`with_registry`], with the skill in it.
fn with_version(sandbox: &Sandbox) {
    with_registry(sandbox);
    sandbox.ok(&["registry", "add", "src/pdf", "--registry", "reg"]);
}

/// Verbs for authors and for other programs name every file that they write or delete.
#[test]
fn other_verbs_name_what_they_write() {
    let verbs: [(&[&str], Prepare); 15] = [
        (&["create", "fresh", "--path", "mine", "--yes"], |_| {}),
        (&["create", "fresh", "--scope", "project", "--yes"], |_| {}),
        (&["fmt", "src/pdf"], |sandbox| {
            let text = "---\ndescription:   Does pdf. Use it in tests.\nname: pdf\n---\nx  \n";
            sandbox.write("src/pdf/SKILL.md", text);
        }),
        (&["validate", "--fix", "src/pdf"], |sandbox| {
            let text = "---\nname: pdf\ndescription: Does: pdf. Use it in tests.\n---\nx\n";
            sandbox.write("src/pdf/SKILL.md", text);
        }),
        (&["bump", "minor", "src/pdf"], |sandbox| {
            let text = "---\nname: pdf\ndescription: Does pdf. Use it in tests.\nmetadata:\n  version: \"1.0.0\"\n---\nx\n";
            sandbox.write("src/pdf/SKILL.md", text);
        }),
        (&["pack", "src/pdf", "--out", "pdf.zip"], |sandbox| {
            std::fs::remove_dir_all(sandbox.project().join("src/pdf/scripts")).expect("removed");
            let text = "---\nname: pdf\ndescription: Does pdf. Use it in tests.\nlicense: MIT\nmetadata:\n  version: \"1.0.0\"\n---\nx\n";
            sandbox.write("src/pdf/SKILL.md", text);
        }),
        (&["export", "skills-lock"], |_| {}),
        (&["registry", "init", "reg", "--name", "acme"], |_| {}),
        (&["registry", "add", "src/pdf", "--registry", "reg"], with_registry),
        (&["publish", "src/pdf", "--to", "reg", "--allow-dirty"], with_registry),
        (&["registry", "yank", "pdf@1.0.0", "--registry", "reg"], with_version),
        (&["registry", "mirror", "./reg", "copy"], with_version),
        (&["registry", "bundle", "./reg", "all.zip"], with_version),
        (&["doctor", "--fix"], |sandbox| {
            std::fs::remove_file(sandbox.project().join(".claude/skills/pdf")).expect("removed");
        }),
        (&["mcp", "install", "--client", "cursor", "-y"], |_| {}),
    ];
    for (args, prepare) in verbs {
        let sandbox = project(false);
        prepare(&sandbox);
        let before = machine(&sandbox);
        let made = sandbox.run(&[args, &["--json"]].concat());
        assert!(matches!(made.code, Some(0 | 1)), "{args:?}: {made}");
        let found = differences(&before, &machine(&sandbox));
        assert!(!found.is_empty(), "{args:?}: {made}");
        let value: Value = serde_json::from_str(&made.stdout).unwrap_or_else(|_| panic!("{args:?}: {made}"));
        let mut said = BTreeSet::new();
        named(&value, &sandbox.project(), &sandbox.root().display().to_string(), &mut said);
        for path in found.keys() {
            let whole = sandbox.root().join(path);
            let is_said = said.iter().any(|said| {
                said.starts_with(sandbox.root()) && whole.starts_with(said) && *said != sandbox.project()
            });
            assert!(is_said, "{args:?} says nothing of {path}: {made}");
        }
    }
}
