//! What a skill requires and this machine lacks, by each verb that says so.
#![cfg(unix)]

use serde_json::Value;

use crate::support::{Output, Sandbox};

const TEXT: &str = "---\nname: demo\ndescription: Shows. Use it in tests.\nrequires:\n  bins: [sh, no-such-program]\n  env: [A_KEY]\n\
                    cliTools:\n- {tool: [sh], semver: '>=1'}\n---\n";

/// A project with two skills in `src`.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("src/demo/SKILL.md", TEXT);
    sandbox.write("src/demo/scripts/a.sh", "#!/bin/sh\necho \"got $A_KEY\"\nexit 3\n");
    sandbox.write("src/demo/scripts/b.sh", "#!/bin/sh\necho plain\n");
    sandbox.write(
        "src/two/SKILL.md",
        "---\nname: two\ndescription: Shows. Use it.\nplatforms: [linux, macos, windows]\n---\n",
    );
    sandbox
}

fn installed() -> Sandbox {
    let sandbox = machine();
    sandbox.ok(&["install", "./src", "--skill", "*"]);
    sandbox
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// The warnings of this code in the JSON of a change.
fn warnings(output: &Output) -> Vec<String> {
    let value = json(output);
    let all = value["warnings"].as_array().expect("a list").iter();
    let ours = all.filter(|one| one["code"] == "prerequisite-missing");
    ours.map(|one| one["message"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn show_has_each_with_its_place() {
    let mut sandbox = installed();
    sandbox.env("A_KEY", "secret");
    let output = sandbox.ok(&["show", "demo"]);
    let table = output.stdout.split("\n\n").find(|part| part.starts_with("requires")).expect("a table");
    insta::assert_snapshot!(table, @"
    requires                   here                          stated in
    program `sh`               present                       SKILL.md:5:10 (requires.bins)
    program `no-such-program`  missing                       SKILL.md:5:14 (requires.bins)
    variable `A_KEY`           present                       SKILL.md:6:9 (requires.env)
    program `sh` >=1           present, its version unknown  SKILL.md:8:3 (cliTools)
    ");
    let output = sandbox.ok(&["show", "demo", "--json"]);
    assert!(!output.stdout.contains("secret"), "{output}");
    let value = json(&output);
    let missing = &value["requires"][1];
    assert_eq!(
        (&missing["state"], &missing["line"], &missing["column"]),
        (&"missing".into(), &5.into(), &14.into())
    );
    assert_eq!(missing["any_of"], serde_json::json!(["no-such-program"]));
}

/// One warning for a whole change, and none if nothing is put.
#[test]
fn install_and_update_say_once_what_is_lacking() {
    let sandbox = machine();
    let install = ["install", "./src", "--skill", "*", "--json"];
    assert_eq!(warnings(&sandbox.ok(&install)), ["`demo` lacks `no-such-program` and `A_KEY`"]);
    assert_eq!(warnings(&sandbox.ok(&install)), [""; 0]);
    sandbox
        .write("src/two/SKILL.md", "---\nname: two\ndescription: Other. Use it.\nplatforms: [amiga]\n---\n");
    assert_eq!(warnings(&sandbox.ok(&["update", "--json", "--yes"])), [""; 0]);
    sandbox.write(
        "src/two/SKILL.md",
        "---\nname: two\ndescription: More. Use it.\nrequires: {env: [B_KEY]}\n---\n",
    );
    assert_eq!(warnings(&sandbox.ok(&["update", "--json", "--yes"])), ["`two` lacks `B_KEY`"]);
}

#[test]
fn doctor_notes_what_skills_lack() {
    let mut sandbox = installed();
    let output = sandbox.ok(&["doctor", "--json"]);
    let value = json(&output);
    let found: Vec<_> = value["findings"].as_array().expect("a list").iter().collect();
    let [finding] = found[..] else { panic!("{output}") };
    assert_eq!(
        (&finding["id"], &finding["severity"], &finding["skill"]),
        (&"prerequisite-missing".into(), &"note".into(), &"demo".into())
    );
    assert_eq!(finding["lacks"][1]["key"], "requires.env");
    assert_eq!(finding["lacks"][1]["any_of"][0], "A_KEY");
    sandbox.env("A_KEY", "x");
    let value = json(&sandbox.ok(&["doctor", "--json"]));
    assert_eq!(value["findings"][0]["message"], "`demo` lacks `no-such-program`");
}

/// Before the script starts, and only of what it mentions; it ends as it ends.
#[test]
fn run_warns_and_starts_nevertheless() {
    let mut sandbox = installed();
    let output = sandbox.run(&["run", "demo", "a"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(3), "got \n"), "{output}");
    let first = output.stderr.lines().next();
    assert_eq!(first, Some("warning: `scripts/a.sh` of `demo` may fail: it lacks `A_KEY`"), "{output}");
    let output = sandbox.ok(&["run", "demo", "b"]);
    assert_eq!(output.stderr, "", "{output}");
    // What is set here is not passed on by itself.
    sandbox.env("A_KEY", "x");
    assert!(sandbox.run(&["run", "demo", "a", "--json"]).stderr.contains("`A_KEY`"));
    let output = sandbox.run(&["run", "--json", "--env", "A_KEY", "demo", "a"]);
    assert_eq!(
        (output.stderr.as_str(), &json(&output)["stdout"]["text"]),
        ("", &"got x\n".into()),
        "{output}"
    );
}
