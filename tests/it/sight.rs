//! Who sees what is installed, and what is there that skillpm did not install.

use serde_json::Value;

use crate::support::{Output, Sandbox};

fn skill(sandbox: &Sandbox, dir: &str, name: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\nText.\n");
    sandbox.write(&format!("{dir}/{name}/SKILL.md"), text);
}

/// A machine to which `agent` comes after two skills were installed.
fn late(agent: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf"] {
        skill(&sandbox, "src", name);
        sandbox.ok(&["install", &format!("./src/{name}")]);
    }
    std::fs::create_dir_all(sandbox.home().join(agent)).expect("a directory");
    sandbox
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

fn row<'a>(list: &'a Value, name: &str) -> &'a Value {
    let rows = list.as_array().expect("a list").iter();
    rows.into_iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {list}"))
}

const WAY_OUT: &str = "`skillpm agents use claude-code` links them for you alone, `skillpm link --agent claude-code` for everybody";

/// An agent that is installed after the skills is named by every verb that a person would ask, with one command that
/// mends it for good.
#[test]
fn an_agent_that_came_later_is_named_until_it_sees_all() {
    let sandbox = late(".claude");
    let told = format!("claude-code is on this machine and does not see 2 skills: {WAY_OUT}");
    for args in [&["install"][..], &["list"], &["install", "./src/pdf"]] {
        let output = sandbox.ok(args);
        assert!(output.stderr.contains(&told), "{args:?}: {output}");
    }
    let installed = json(&sandbox.ok(&["install", "--json"]));
    assert_eq!(installed["unseen"], serde_json::json!([{"agent": "claude-code", "skills": ["docx", "pdf"]}]));
    let output = sandbox.run(&["doctor"]);
    let warning = "warning: Claude Code is on this machine and does not see any of the skills here [agent-reads-nothing]";
    assert!(output.stderr.contains(warning) || output.stdout.contains(warning), "{output}");
    assert!(output.to_string().contains(WAY_OUT) && output.code == Some(1), "{output}");
    // What is linked one by one leaves the others.
    sandbox.ok(&["link", "--agent", "claude-code", "pdf"]);
    let output = sandbox.ok(&["list"]);
    assert!(output.stderr.contains("claude-code is on this machine and does not see 1 skill:"), "{output}");
    assert!(sandbox.run(&["doctor"]).to_string().contains("does not see `docx`"));
    sandbox.ok(&["link", "--agent", "claude-code"]);
    skill(&sandbox, "src", "xlsx");
    sandbox.ok(&["install", "./src/xlsx"]);
    for args in [&["install"][..], &["list"], &["doctor"]] {
        let output = sandbox.ok(args);
        assert!(!output.to_string().contains("is on this machine"), "{args:?}: {output}");
    }
}

/// A manifest that says that nobody gets links is a decision, and so are agents of a skill's own.
#[test]
fn what_the_manifest_decides_is_not_remarked_on() {
    let sandbox = late(".claude");
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{manifest}\n[agents]\ntargets = []\n"));
    for verb in ["install", "list", "doctor"] {
        let output = sandbox.ok(&[verb]);
        assert!(!output.to_string().contains("is on this machine"), "{verb}: {output}");
    }
}

/// Who reads `.agents/skills` sees a skill without a link.
#[test]
fn who_reads_the_canonical_copies_sees_them() {
    let sandbox = late(".cursor");
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    let list = json(&sandbox.ok(&["list", "--json"]));
    assert_eq!(
        (&row(&list, "pdf")["seen_by"], &row(&list, "pdf")["agents"]),
        (&serde_json::json!(["cursor"]), &serde_json::json!([]))
    );
    let output = sandbox.ok(&["list"]);
    let line = output.stdout.lines().find(|line| line.starts_with("pdf")).expect("a row");
    assert!(line.contains(" cursor "), "{output}");
    let output = sandbox.ok(&["install"]);
    assert!(output.stderr.contains("available to cursor, and to agents that read"), "{output}");
}

/// What lies in the directory of an agent, and among the installed skills, is listed as what it is.
#[test]
fn what_skillpm_did_not_install_is_listed() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    skill(&sandbox, ".claude/skills", "mine");
    skill(&sandbox, ".agents/skills", "npm");
    let theirs = "---\nname: theirs\ndescription: Does it. Use it.\nmetadata:\n  github-repo: https://github.com/acme/kit\n  github-path: skills/theirs\n  github-tree-sha: 0000000000000000000000000000000000000000\n---\n";
    sandbox.write(".claude/skills/theirs/SKILL.md", theirs);
    let lock = r#"{"version": 1, "skills": {"npm": {"source": "acme/kit", "sourceType": "github", "computedHash": "00"}}}"#;
    sandbox.write("skills-lock.json", lock);
    let list = json(&sandbox.ok(&["list", "--json"]));
    let of = |name: &str| {
        let row = row(&list, name);
        [&row["state"], &row["found_in"], &row["seen_by"]].map(ToString::to_string).join(" ")
    };
    assert_eq!(of("mine"), r#""foreign" "directory" ["claude-code"]"#);
    assert_eq!(of("theirs"), r#""foreign" "gh-skill" ["claude-code"]"#);
    assert_eq!(of("npm"), r#""untracked" "skills-lock" []"#);
    let output = sandbox.ok(&["list"]);
    for told in ["foreign, by gh skill", "untracked, by npx skills"] {
        assert!(output.stdout.contains(told), "{told}: {output}");
    }
    assert!(output.stderr.contains("`skillpm import` adopts what other tools installed"), "{output}");
    assert!(output.stderr.contains("`skillpm import mine` adopts it"), "{output}");
    let user = json(&sandbox.ok(&["list", "-g", "--json"]));
    assert_eq!(user, serde_json::json!([]));
}

/// Who comes from the npm tool is told how to go on.
#[test]
fn a_lockfile_of_the_npm_tool_names_import() {
    let sandbox = Sandbox::new();
    sandbox.write("skills-lock.json", r#"{"version": 1, "skills": {}}"#);
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(2), "{output}");
    for output in [output, sandbox.ok(&["list"])] {
        let hint = "hint: `skillpm import` adopts the skills that `skills-lock.json` names";
        assert!(output.stderr.contains(hint), "{output}");
    }
}
