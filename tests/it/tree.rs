//! `tree`: skills and the skills that they need.

use crate::support::fields;
use crate::support::{Forge, Sandbox, Tree};

fn skill(sandbox: &Sandbox, name: &str, needs: &str) {
    let metadata = if needs.is_empty() {
        String::new()
    } else {
        format!("metadata:\n  skill-dependencies: \"{needs}\"\n")
    };
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n{metadata}---\n");
    sandbox.write(&format!("src/{name}/SKILL.md"), text);
}

/// A project with three skills of directories and one of the user.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    skill(&sandbox, "report", "base@^1.2, charts acme/skills/fonts#v2 Wrong");
    skill(&sandbox, "charts", "base");
    skill(&sandbox, "base", "");
    sandbox.ok(&["install", "./src", "--skill", "report", "--skill", "charts", "--no-deps"]);
    assert_eq!(sandbox.run(&["install", "-g", "./src/base"]).code, Some(0));
    sandbox
}

/// What skills need is told, also where it was left out.
#[test]
fn the_page() {
    let sandbox = machine();
    insta::assert_snapshot!(sandbox.run(&["tree"]), @"
    exit: 0
    --- stdout
    project ([DIR]/project)
    ├── charts (path:./src)
    │   └── base, of the user (path:[DIR]/project/src/base)
    └── report (path:./src)
        ├── base, of the user (path:[DIR]/project/src/base)
        ├── charts (path:./src) (above)
        ├── acme/skills/fonts#v2: not installed
        └── Wrong: the name `Wrong` has an upper-case letter
    user ([DIR]/home)
    └── base (path:[DIR]/project/src/base)
    --- stderr
    some skills need others that are not installed
    ");
    insta::assert_snapshot!(sandbox.run(&["tree", "charts", "--agents"]), @"
    exit: 0
    --- stdout
    project ([DIR]/project)
    └── charts (path:./src) [claude-code]
        └── base, of the user (path:[DIR]/project/src/base) [claude-code]
    ");
    insta::assert_snapshot!(sandbox.run(&["tree", "-p"]), @"
    exit: 0
    --- stdout
    project ([DIR]/project)
    ├── charts (path:./src)
    │   └── base, of the user (path:[DIR]/project/src/base)
    └── report (path:./src)
        ├── base, of the user (path:[DIR]/project/src/base)
        ├── charts (path:./src) (above)
        ├── acme/skills/fonts#v2: not installed
        └── Wrong: the name `Wrong` has an upper-case letter
    --- stderr
    some skills need others that are not installed
    ");
}

#[test]
fn who_needs_a_skill() {
    let sandbox = machine();
    sandbox.tells(
        &["tree", "base", "--invert"],
        0,
        ": name asked_for needs.name needed_by state",
        &[
            "charts true base report ok",
            "report true base,charts,fonts,- - ok",
            "base true - charts,report ok",
        ],
    );
    sandbox.tells(
        &["tree", "fonts", "--invert"],
        0,
        ": name asked_for needs.name needed_by state",
        &[
            "charts true base report ok",
            "report true base,charts,fonts,- - ok",
            "base true - charts,report ok",
        ],
    );
    sandbox.tells(
        &["tree", "--invert"],
        0,
        ": name asked_for needs.name needed_by state",
        &[
            "charts true base report ok",
            "report true base,charts,fonts,- - ok",
            "base true - charts,report ok",
        ],
    );
}

#[test]
fn circles_and_what_was_drawn_already() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "a", "b c");
    skill(&sandbox, "b", "c");
    skill(&sandbox, "c", "d");
    skill(&sandbox, "d", "b d");
    assert_eq!(sandbox.run(&["install", "./src", "--skill", "*"]).code, Some(0));
    sandbox.tells(
        &["tree", "a"],
        0,
        ": name asked_for needs.name needed_by state",
        &["a true b,c - ok", "b true c a,d ok", "c true d a,b ok", "d true b,d c,d ok"],
    );
    // Nobody asked for them, and each is needed: one is the root all the same.
    std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removes");
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/a")).expect("removes");
    let lock = sandbox.read("skillpm.lock");
    let kept: Vec<_> =
        lock.split("\n[[skill]]\n").filter(|entry| !entry.starts_with("name = \"a\"")).collect();
    sandbox.write("skillpm.lock", kept.join("\n[[skill]]\n"));
    sandbox.tells(
        &["tree"],
        0,
        ": name asked_for needs.name needed_by state",
        &["b false c d ok", "c false d b ok", "d false b,d c,d ok"],
    );
}

/// A chain that is made to exhaust the stack ends somewhere.
#[test]
fn a_long_chain_ends() {
    let sandbox = Sandbox::new();
    for number in 0..300 {
        skill(&sandbox, &format!("s{number}"), &format!("s{}", number + 1));
    }
    std::fs::create_dir_all(sandbox.project().join(".agents")).expect("creates");
    std::fs::rename(sandbox.project().join("src"), sandbox.project().join(".agents/skills")).expect("moves");
    let output = sandbox.run(&["tree", "s0"]);
    assert_eq!(output.code, Some(0));
    assert!(output.stdout.contains("(and so on)"), "{output}");
}

#[test]
fn where_skills_came_from_and_how_they_are() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let text = "---\nname: pdf\ndescription: Does pdf.\nmetadata:\n  version: \"1.10\"\n---\n";
    let commit =
        forge.repo("acme/skills").commit(&Tree::new().file("pdf/SKILL.md", text).skill("docx", "docx"));
    assert_eq!(sandbox.run(&["install", "acme/skills", "--skill", "*"]).code, Some(0));
    sandbox.write(".agents/skills/pdf/more.md", "x");
    sandbox.write(".agents/skills/own/SKILL.md", "x");
    std::fs::remove_dir_all(sandbox.project().join(".agents/skills/docx")).expect("removes");
    let expected = [
        "docx - github:acme/skills missing".to_owned(),
        "own - - untracked".to_owned(),
        "pdf 1.10 github:acme/skills modified".to_owned(),
    ];
    let outcome = sandbox.ok(&["tree", "--json"]).json();
    assert_eq!(fields(&outcome, ": name version source state"), expected);
    assert_eq!(
        (&outcome[0]["revision"], &outcome[2]["revision"]),
        (&commit.as_str().into(), &commit.as_str().into())
    );
}

#[test]
fn for_programs() {
    let sandbox = machine();
    let output = sandbox.run(&["tree", "--json", "-p"]);
    let json: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    insta::assert_snapshot!(serde_json::to_string_pretty(&json[1]).expect("JSON"), @r#"
    {
      "agents": [
        "claude-code"
      ],
      "alias_of": null,
      "asked_for": true,
      "dependencies": [],
      "digest": "sha256:69331ec5bade45f874f6c568b3a1a8560354d091b23af94edad00688e9a7c10a",
      "disabled": false,
      "editable": false,
      "edited_copies": [],
      "found_in": null,
      "location": "[DIR]/project/.agents/skills/report",
      "modified": false,
      "name": "report",
      "needed_by": [],
      "needs": [
        {
          "name": "base",
          "problem": null,
          "scope": "user",
          "text": "base@^1.2"
        },
        {
          "name": "charts",
          "problem": null,
          "scope": "project",
          "text": "charts"
        },
        {
          "name": "fonts",
          "problem": null,
          "scope": null,
          "text": "acme/skills/fonts#v2"
        },
        {
          "name": null,
          "problem": "the name `Wrong` has an upper-case letter",
          "scope": null,
          "text": "Wrong"
        }
      ],
      "outer": null,
      "path": "report",
      "requested": null,
      "revision": null,
      "scope": "project",
      "seen_by": [
        "claude-code"
      ],
      "source": "path:./src",
      "source_type": "path",
      "source_url": null,
      "state": "ok",
      "version": null
    }
    "#);
    assert_eq!(json[0]["needed_by"], serde_json::json!(["report"]));
}

#[test]
fn mistakes() {
    let sandbox = machine();
    sandbox.fails(&["tree", "chart"], 2, "usage", &["charts"]);
    assert_eq!(sandbox.run(&["tree", "qqqq"]).code, Some(2));
    let empty = Sandbox::new();
    empty.tells(&["tree"], 0, ": name asked_for", &[]);
    assert_eq!(empty.run(&["tree", "--json"]).stdout, "[]\n");
    sandbox.write("skillpm.lock", "<<<<<<< ours\n");
    assert_eq!(sandbox.run(&["tree"]).code, Some(3));
}

/// What an entry of the manifest can say besides: disabled, editable, another name.
#[test]
fn what_is_special_about_skills() {
    let sandbox = machine();
    skill(&sandbox, "own", "charts");
    for args in [
        &["install", "-e", "./src/own"][..],
        &["install", "./src/base", "--as", "ground"],
        &["disable", "charts", "ground"],
    ] {
        assert_eq!(sandbox.run(args).code, Some(0), "{args:?}");
    }
    sandbox.write(".agents/.skillpm-disabled/ground/SKILL.md", "mine");
    sandbox.tells(
        &["tree", "-p"],
        0,
        ": name asked_for needs.name needed_by state",
        &[
            "charts true base own,report disabled",
            "ground true - - disabled",
            "own true charts - editable",
            "report true base,charts,fonts,- - ok",
        ],
    );
    std::fs::rename(
        sandbox.project().join(".agents/.skillpm-disabled/charts"),
        sandbox.project().join(".agents/skills/charts"),
    )
    .expect("renames");
    std::fs::remove_file(sandbox.project().join(".agents/skills/own")).expect("removes");
    sandbox.tells(
        &["tree", "-p", "own"],
        0,
        ": name asked_for needs.name needed_by state",
        &[
            "charts true base report ok",
            "ground true - - disabled",
            "own true - - missing",
            "report true base,charts,fonts,- - ok",
        ],
    );
}

/// A skill that was asked for stays in the place of one that is needed by a path: that need is met.
#[test]
fn a_need_by_a_path_that_another_skill_meets() {
    let sandbox = Sandbox::new();
    skill(&sandbox, "report", "../base");
    skill(&sandbox, "base", "");
    let text = sandbox.read("src/base/SKILL.md");
    sandbox.write("other/base/SKILL.md", text);
    sandbox.ok(&["install", "./other/base"]);
    sandbox.ok(&["install", "./src/report"]);
    sandbox.tells(
        &["tree", "report"],
        0,
        ": name asked_for needs.name needed_by state",
        &["base true - report ok", "report true base - ok"],
    );
    // As an installation has it.
    sandbox.ok(&["install", "--frozen"]);
}
