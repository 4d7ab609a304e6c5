//! What may be installed: the machine's file, a named one and the manifest's, end to end.

use skillpm_core::ops::install::{InstallRequest, install};
use skillpm_sources::context::Context;
use skillpm_sources::error::ErrorKind;
use skillpm_sources::settings::{Policies, Settings};

use crate::support::{Forge, Sandbox, Tree};

fn scene() -> (Forge, Sandbox, String) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let commit =
        forge.repo("acme/skills").commit(&Tree::new().skill("skills/pdf", "pdf").skill("skills/doc", "doc"));
    (forge, sandbox, commit)
}

fn manifest(sandbox: &Sandbox, policy: &str) {
    sandbox.write("skillpm.toml", format!("[policy]\n{policy}\n"));
}

#[test]
fn nothing_is_fetched_from_a_denied_source() {
    let (forge, sandbox, _) = scene();
    manifest(&sandbox, "deny = [\"github:acme\"]");
    sandbox.fails(
        &["install", "acme/skills@pdf"],
        5,
        "not-admitted",
        &["deny = \"github:acme\"", "skillpm.toml:2:9", "skillpm policy github:acme/skills"],
    );
    assert!(forge.requests().is_empty(), "no request is made");
    assert!(!sandbox.project().join(".agents").exists());
}

#[test]
fn a_denied_directory_is_refused_before_it_is_installed() {
    let (_forge, sandbox, _) = scene();
    manifest(&sandbox, "deny = [\"github:acme/skills/skills/pdf\"]");
    let output = sandbox.run(&["install", "acme/skills@pdf"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(!sandbox.project().join("skillpm.lock").exists());
    assert_eq!(sandbox.run(&["install", "acme/skills@doc"]).code, Some(0));
}

#[test]
fn the_lines_that_decided_are_told() {
    let (_forge, sandbox, _) = scene();
    manifest(&sandbox, "allow = [\"github:acme\", \"path:*\"]\naudit = \"error\"");
    sandbox.tells(
        &["install", "acme/skills@pdf", "--explain"],
        0,
        "skills: name change; decided: subject admitted line.line",
        &["pdf added", "github:acme/skills true 2", "github:acme/skills/skills/pdf true 2", "pdf true 3"],
    );
}

/// h36-too-new: what is younger than a policy wants is refused, with the line; the time of a commit is
/// asked for only where a policy wants to know it.
#[test]
fn what_is_too_young_is_refused() {
    let (forge, sandbox, _) = scene();
    sandbox.run(&["install", "acme/skills@doc"]);
    assert_eq!(forge.requests().iter().filter(|r| r.path.contains("/commits/")).count(), 1);
    manifest(&sandbox, "minimum-release-age = \"9000w\"");
    let output = sandbox.run(&["install", "acme/skills@pdf"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stderr.contains("was released only"), "{output}");
    manifest(&sandbox, "minimum-release-age = \"9000w\"\nminimum-release-age-exclude = [\"github:acme\"]");
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf"]).code, Some(0));
}

#[test]
fn a_pin_is_asked_for() {
    let (_forge, sandbox, commit) = scene();
    manifest(&sandbox, "require-pin = \"commit\"");
    sandbox.fails(
        &["install", "acme/skills@pdf"],
        5,
        "not-admitted",
        &["require-pin = \"commit\"", "skillpm.toml:2:15", "skillpm policy github:acme/skills"],
    );
    assert_eq!(sandbox.run(&["install", &format!("acme/skills#{commit}@pdf")]).code, Some(0));
}

/// `#v1` may be a branch; `--tag v1` is none.
#[test]
fn a_tag_is_asked_for() {
    let (forge, sandbox, commit) = scene();
    forge.repo("acme/skills").tag("v1", &commit);
    manifest(&sandbox, "require-pin = \"tag\"");
    sandbox.fails(
        &["install", "acme/skills#v1@pdf"],
        5,
        "not-admitted",
        &["github:acme/skills#v1", "require-pin = \"tag\"", "skillpm.toml:2:15", "--tag v1"],
    );
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf", "--tag", "v1"]).code, Some(0));
}

#[test]
fn findings_keep_a_skill_out() {
    let sandbox = Sandbox::new();
    sandbox.write("bad/SKILL.md", "---\nname: bad\ndescription: d\nnmae: x\n---\nSee [x](../../x).\n");
    manifest(&sandbox, "audit = \"warning\"");
    sandbox.fails(
        &["install", "./bad"],
        5,
        "not-admitted",
        &[
            "`bad`",
            "SKILL.md",
            "../../x",
            "6:9",
            "audit = \"warning\"",
            "skillpm.toml:2:9",
            "skillpm validate",
        ],
    );
    assert!(!sandbox.project().join(".agents/skills").exists());
    manifest(&sandbox, "audit = \"error\"");
    assert_eq!(sandbox.run(&["install", "./bad"]).code, Some(0));
    // Another name than the author's is the user's choice, and nothing that is wrong with the skill.
    sandbox.ok(&["install", "./bad", "--as", "other"]);
}

/// A lockfile is no way around a policy, with a manifest and without one.
#[test]
fn a_restore_asks_too() {
    let (_forge, sandbox, _) = scene();
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf"]).code, Some(0));
    let skills = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\ndeny = [\"github:acme\"]\n"));
    assert_eq!(sandbox.run(&["install"]).code, Some(5));
    assert_eq!(sandbox.run(&["install", "--frozen"]).code, Some(5));
    std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removes");
    let named = sandbox.write("rules.toml", "deny = [\"github:acme\"]\n");
    let mut sandbox = sandbox;
    sandbox.env("SKILLPM_POLICY", &named.display().to_string());
    let output = sandbox.run(&["install"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stderr.contains("rules.toml:1:9"), "{output}");
}

/// A lockfile is no way around what is asked of a skill's content either, whatever brings the skill back; what
/// lies in its place is left alone.
#[test]
fn a_restore_asks_for_findings() {
    let (forge, mut sandbox, _) = scene();
    let text = "---\nname: bad\ndescription: d\n---\nSee [x](../../x).\n";
    forge.repo("acme/bad").commit(&Tree::new().file("skill.md", text));
    sandbox.write("bad/SKILL.md", text);
    for source in ["./bad", "acme/bad"] {
        sandbox.ok(&["install", source]);
        let skills = sandbox.read("skillpm.toml");
        sandbox.write("skillpm.toml", format!("{skills}\n[policy]\naudit = \"warning\"\n"));
        sandbox.ok(&["install"]);
        std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
        let refused = |sandbox: &Sandbox, args: &[&str]| {
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(5), "{source}: {output}");
            assert!(
                output.stderr.contains("`bad` has a finding") && output.stderr.contains("says so"),
                "{output}"
            );
            assert!(!sandbox.project().join(".agents/skills/bad").exists(), "{source}");
        };
        // From the store, then from the source.
        for _ in 0..2 {
            for args in [&["install"][..], &["install", "--locked"], &["install", "--frozen"]] {
                refused(&sandbox, args);
            }
            let _ = std::fs::remove_dir_all(sandbox.home().join(".local"));
        }
        refused(&sandbox, &["link", "-a", "claude-code"]);
        // A lockfile alone, with the rules in a file that a variable names.
        std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removes");
        let named = sandbox.write("rules.toml", "audit = \"warning\"\n");
        sandbox.env("SKILLPM_POLICY", &named.display().to_string());
        refused(&sandbox, &["install"]);
        sandbox.write("rules.toml", "audit = \"error\"\n");
        let output = sandbox.ok(&["install", "--explain"]);
        assert!(output.stderr.contains("`bad` has no findings that prevent it"), "{output}");
        sandbox.ok(&["remove", "bad"]);
        sandbox.write("rules.toml", "");
    }
}

/// What is editable is asked about when it is linked: its source, and what lies in its directory, even where no
/// copy could be made of that.
#[cfg(unix)]
#[test]
fn what_is_editable_is_asked_about() {
    let sandbox = Sandbox::new();
    sandbox.write("own/SKILL.md", "---\nname: own\ndescription: d\nallowed-tools: Bash(*)\n---\n");
    std::os::unix::fs::symlink("/", sandbox.project().join("own/out")).expect("a link");
    let entry = "[skills]\nown = { path = \"./own\", editable = true }\n";
    let place = sandbox.project().join(".agents/skills/own");
    let link = ["install", "--editable", "./own"];
    for (rule, says) in
        [("audit = \"warning\"", "allows every command"), ("deny = [\"path:*\"]", "is denied")]
    {
        manifest(&sandbox, rule);
        let first = sandbox.run(&link);
        sandbox.write("skillpm.toml", format!("{entry}\n[policy]\n{rule}\n"));
        for output in [first, sandbox.run(&["install"]), sandbox.run(&["link", "-a", "claude-code"])] {
            assert_eq!(output.code, Some(5), "{output}");
            assert!(output.stderr.contains(says), "{output}");
            assert!(!place.is_symlink());
        }
    }
    // What was linked before is there already, and can be put out of sight, but not brought back.
    sandbox.write("skillpm.toml", entry);
    sandbox.ok(&["install"]);
    sandbox.write("skillpm.toml", format!("{entry}\n[policy]\naudit = \"warning\"\n"));
    sandbox.ok(&["install"]);
    sandbox.ok(&["disable", "own"]);
    assert_eq!(sandbox.run(&["enable", "own"]).code, Some(5));
}

/// A project cannot loosen what the machine's file says. That file lies where only its administrator
/// writes, so it is put elsewhere here.
#[test]
fn the_machine_s_file_stands_above_a_manifest() {
    let (_forge, sandbox, _) = scene();
    manifest(&sandbox, "allow = [\"*\"]");
    let rules = sandbox.write("etc/policy.toml", "allow = [\"path:*\"]\n");
    let policies = Policies { machine: Some(rules.clone()), named: None };
    let settings = Settings { policies, ..sandbox.settings() };
    let request = InstallRequest { sources: vec!["acme/skills@pdf".to_owned()], ..InstallRequest::default() };
    let error = install(&Context::silent(settings), &request).expect_err("is not allowed");
    assert_eq!(error.kind(), ErrorKind::Integrity);
    let policies = Policies { machine: Some(sandbox.project().join("nowhere")), named: None };
    let settings = Settings { policies, ..sandbox.settings() };
    install(&Context::silent(settings), &request).expect("no file, no rules");
}

#[test]
fn the_page() {
    let (_forge, mut sandbox, _) = scene();
    assert_eq!(sandbox.run(&["policy"]).code, Some(0));
    manifest(&sandbox, "allow = [\"github:acme\"]\nrequire-pin = \"tag\"");
    let named = sandbox.write("rules.toml", "deny = [\"npm:*\"] # no packages\n");
    sandbox.env("SKILLPM_POLICY", &named.display().to_string());
    insta::assert_snapshot!(sandbox.run(&["policy"]), @r#"
    exit: 0
    --- stdout
    [DIR]/project/rules.toml:1:9: `deny = "npm:*"`
    [DIR]/project/skillpm.toml:2:10: `allow = "github:acme"`
    [DIR]/project/skillpm.toml:3:15: `require-pin = "tag"`
    "#);
    insta::assert_snapshot!(sandbox.run(&["policy", "acme/skills", "npm:x", "git@github.com:acme/x"]), @r#"
    exit: 5
    --- stdout
    refused github:acme/skills
      is allowed: [DIR]/project/skillpm.toml:2:10: `allow = "github:acme"`
      is pinned to neither a tag nor a commit: [DIR]/project/skillpm.toml:3:15: `require-pin = "tag"`
    refused npm:x
      is denied: [DIR]/project/rules.toml:1:9: `deny = "npm:*"`
      is not on the `allow` list: [DIR]/project/skillpm.toml:2:10: `allow = "github:acme"`
    refused github:acme/x
      is allowed: [DIR]/project/skillpm.toml:2:10: `allow = "github:acme"`
      is pinned to neither a tag nor a commit: [DIR]/project/skillpm.toml:3:15: `require-pin = "tag"`
    "#);
    insta::assert_snapshot!(sandbox.run(&["policy", "npm:x", "--json"]), @r#"
    exit: 5
    --- stdout
    {
      "lines": [
        {
          "file": "[DIR]/project/rules.toml",
          "line": 1,
          "column": 9,
          "text": "deny = \"npm:*\""
        },
        {
          "file": "[DIR]/project/skillpm.toml",
          "line": 2,
          "column": 10,
          "text": "allow = \"github:acme\""
        },
        {
          "file": "[DIR]/project/skillpm.toml",
          "line": 3,
          "column": 15,
          "text": "require-pin = \"tag\""
        }
      ],
      "sources": [
        {
          "source": "npm:x",
          "admitted": false,
          "decisions": [
            {
              "subject": "npm:x",
              "admitted": false,
              "reason": "is denied",
              "line": {
                "file": "[DIR]/project/rules.toml",
                "line": 1,
                "column": 9,
                "text": "deny = \"npm:*\""
              }
            },
            {
              "subject": "npm:x",
              "admitted": false,
              "reason": "is not on the `allow` list",
              "line": {
                "file": "[DIR]/project/skillpm.toml",
                "line": 2,
                "column": 10,
                "text": "allow = \"github:acme\""
              }
            }
          ],
          "when_installed": [],
          "scripts": {
            "answer": "allowed",
            "because": null
          },
          "unix_sockets": null
        }
      ]
    }
    "#);
}

/// What decides only when something is installed is told too: a refusal names this command for all lines.
#[test]
fn the_verb_tells_what_is_decided_later() {
    let (_forge, sandbox, _) = scene();
    manifest(&sandbox, "minimum-release-age = \"7d\"\naudit = \"warning\"");
    sandbox.tells(
        &["policy", "acme/skills", "https://files.example.com/s.zip", "npm:x"],
        5,
        "lines: line text; sources: source admitted scripts.answer; sources.when_installed: line.line",
        &[
            "2 minimum-release-age = \"7d\"",
            "3 audit = \"warning\"",
            "github:acme/skills true allowed",
            "url:https://files.example.com/s.zip false allowed",
            "npm:x true allowed",
            "2",
            "3",
            "3",
            "3",
        ],
    );
    let output = sandbox.run(&["policy", "acme/skills", "--json"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(
        output.stdout.contains("\"reason\": \"must be at least 7 days old to be installed\""),
        "{output}"
    );
}

/// No spelling leads through a list of what is allowed, and nothing is asked of a server.
#[test]
fn an_address_that_leaves_what_is_allowed_is_refused() {
    let (_forge, sandbox, _) = scene();
    manifest(&sandbox, "allow = [\"git:git.invalid/good\", \"path:./vendor\"]");
    for source in
        ["git+http://git.invalid/good/../team/x.git", "git+http://git.invalid/good%2f..%2fteam/x.git"]
    {
        let output = sandbox.run(&["install", source]);
        assert_eq!(output.code, Some(5), "{output}");
    }
    let rules = sandbox.read("skillpm.toml");
    for skill in ["path = \"./vendor/../../evil/pdf\"", "git = \"./vendor/../../lt\""] {
        sandbox.write("skillpm.toml", format!("[skills]\npdf = {{ {skill} }}\n\n{rules}"));
        let output = sandbox.run(&["install"]);
        assert_eq!(output.code, Some(5), "{output}");
    }
}

#[test]
fn wrong_rules_are_told_with_their_place() {
    let (_forge, mut sandbox, _) = scene();
    manifest(&sandbox, "deny = [\"acme/skills\"]");
    sandbox.fails(
        &["install", "acme/skills@pdf"],
        3,
        "manifest-unreadable",
        &["acme/skills", "skillpm.toml:2:9"],
    );
    manifest(&sandbox, "");
    sandbox.env("SKILLPM_POLICY", "nowhere.toml");
    sandbox.fails(&["policy"], 3, "configuration", &["SKILLPM_POLICY", "nowhere.toml"]);
    sandbox.write("rules.toml", "[policy]\ndeny = []\n");
    sandbox.env("SKILLPM_POLICY", "rules.toml");
    sandbox.fails(&["policy"], 3, "manifest-unreadable", &["policy", "rules.toml:1:2"]);
    sandbox.write("rules.toml", b"deny = []\n# caf\xe9\n");
    sandbox.fails(&["policy"], 3, "manifest-unreadable", &["rules.toml:2:6"]);
}

/// A policy that cannot be read allows nothing: neither to install nor to run.
#[cfg(unix)]
#[test]
fn a_policy_that_cannot_be_read_lets_nothing_run() {
    let (_forge, mut sandbox, _) = scene();
    sandbox.write("src/demo/SKILL.md", "---\nname: demo\ndescription: Shows. Use it in tests.\n---\n");
    sandbox.write("src/demo/scripts/greet.sh", "echo RAN\n");
    sandbox.ok(&["install", "./src/demo"]);
    std::fs::create_dir(sandbox.project().join("directory")).expect("creates");
    let pipe = std::process::Command::new("mkfifo").arg(sandbox.project().join("pipe")).status();
    assert!(pipe.expect("starts").success());
    for named in ["directory", "pipe"] {
        sandbox.env("SKILLPM_POLICY", named);
        for args in [&["run", "demo", "greet"][..], &["install", "./src/demo", "--force"]] {
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(6), "{named} {args:?}: {output}");
            assert!(output.stderr.contains(named) && !output.stdout.contains("RAN"), "{output}");
        }
    }
    sandbox.env("SKILLPM_POLICY", "");
    std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removes");
    std::fs::create_dir(sandbox.project().join("skillpm.toml")).expect("creates");
    let output = sandbox.run(&["run", "demo", "greet"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(6), ""), "{output}");
}

/// `import` asks before it fetches from a source that a lockfile of another tool claims, and about the
/// skill that came.
#[test]
fn an_import_asks_too() {
    let (forge, sandbox, _) = scene();
    let entry = |path: &str| {
        format!(
            "{{\"source\": \"acme/skills\", \"sourceType\": \"github\", \"skillPath\": \"skills/{path}/SKILL.md\", \"computedHash\": \"0\"}}"
        )
    };
    let lock = |path: &str| format!("{{\"version\": 1, \"skills\": {{\"{path}\": {}}}}}", entry(path));
    sandbox.write("skills-lock.json", lock("pdf"));
    Tree::new().skill("", "pdf").write(&sandbox.project().join(".agents/skills/pdf"));
    manifest(&sandbox, "deny = [\"github:acme\"]");
    let before = sandbox.tree(&sandbox.project());
    sandbox.tells(&["import"], 1, "skills: name verdict", &["pdf left"]);
    assert!(forge.requests().is_empty(), "no request is made");
    assert_eq!(sandbox.tree(&sandbox.project()), before);
    for rule in [
        "require-pin = \"commit\"",
        "minimum-release-age = \"9000w\"",
        "deny = [\"github:acme/skills/skills/pdf\"]",
    ] {
        manifest(&sandbox, rule);
        let output = sandbox.run(&["import"]);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stdout.contains("left") && output.stdout.contains("says so"), "{output}");
    }
    forge.repo("acme/skills").commit(
        &Tree::new().file("skills/bad/SKILL.md", "---\nname: bad\ndescription: d\n---\nSee [x](../../x).\n"),
    );
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    let copy = "---\nname: bad\ndescription: d\n---\nSee [x](../../x).\n";
    sandbox.write(".agents/skills/bad/SKILL.md", copy);
    sandbox.write("skills-lock.json", lock("bad"));
    manifest(&sandbox, "audit = \"warning\"");
    sandbox.tells(&["import"], 1, "skills: name verdict", &["bad left"]);
    manifest(&sandbox, "audit = \"error\"");
    assert_eq!(sandbox.run(&["import"]).code, Some(0));
}

/// What `link` and `enable` bring back is asked about, too; what needs nothing is not kept from anybody.
#[test]
fn a_skill_that_comes_back_is_asked_about() {
    let (forge, sandbox, _) = scene();
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf"]).code, Some(0));
    let skills = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\ndeny = [\"github:acme\"]\n"));
    assert_eq!(sandbox.run(&["disable", "pdf"]).code, Some(0));
    assert_eq!(sandbox.run(&["enable", "pdf"]).code, Some(0), "it is there");
    for place in
        [sandbox.project().join(".agents"), sandbox.home().join(".local"), sandbox.home().join(".cache")]
    {
        let _ = std::fs::remove_dir_all(place);
    }
    forge.clear_requests();
    sandbox.fails(
        &["link", "--agent", "claude-code", "pdf"],
        5,
        "not-admitted",
        &["deny = \"github:acme\"", "skillpm.toml:5:9", "skillpm policy github:acme/skills/skills/pdf"],
    );
    assert_eq!(sandbox.run(&["enable", "pdf"]).code, Some(5));
    assert!(forge.requests().is_empty(), "no request is made");
    assert!(!sandbox.project().join(".claude").exists());
}

/// A template comes from a source as a skill does.
#[test]
fn a_template_is_asked_about() {
    let (forge, sandbox, _) = scene();
    manifest(&sandbox, "deny = [\"github:acme\"]");
    sandbox.fails(
        &["create", "demo", "--template", "acme/skills/skills/pdf"],
        5,
        "not-admitted",
        &["deny = \"github:acme\"", "skillpm.toml:2:9", "skillpm policy github:acme/skills/skills/pdf"],
    );
    assert!(forge.requests().is_empty(), "no request is made");
    assert_eq!(sandbox.run(&["create", "demo"]).code, Some(0), "a built-in one comes from nowhere");
}

/// `export` reads sources once more: a denied one is left out.
#[test]
fn an_export_asks_too() {
    let (forge, sandbox, _) = scene();
    assert_eq!(sandbox.run(&["install", "acme/skills@pdf"]).code, Some(0));
    let skills = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\nrequire-pin = \"commit\"\n"));
    let output = sandbox.run(&["export", "skills-lock"]);
    assert!(output.stderr.contains("1 skill of skillpm"), "the lockfile names a commit: {output}");
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\ndeny = [\"github:acme\"]\n"));
    forge.clear_requests();
    sandbox.tells(&["export", "skills-lock"], 1, "exported:; left_out: name", &["pdf"]);
    assert!(forge.requests().is_empty(), "no request is made");
}

/// What a policy denies does not come back from the store either, whichever command would bring it.
#[test]
fn doctor_brings_nothing_back_that_is_denied() {
    let (_forge, sandbox, _) = scene();
    sandbox.ok(&["install", "acme/skills", "--skill", "*"]);
    for name in ["pdf", "doc"] {
        std::fs::remove_dir_all(sandbox.project().join(".agents/skills").join(name)).expect("removed");
    }
    let skills = sandbox.read("skillpm.toml");
    sandbox
        .write("skillpm.toml", format!("{skills}\n[policy]\ndeny = [\"github:acme/skills/skills/pdf\"]\n"));
    sandbox.tells(
        &["doctor"],
        1,
        "findings: id severity skill",
        &["skill-missing error doc", "skill-missing error pdf"],
    );
    sandbox.tells(
        &["doctor", "--fix"],
        1,
        "findings: id severity skill fixed",
        &["skill-missing error doc true", "skill-missing error pdf false"],
    );
    assert!(!sandbox.project().join(".agents/skills/pdf").exists());
    assert!(sandbox.project().join(".agents/skills/doc").exists());
    assert_eq!(sandbox.run(&["install"]).code, Some(5), "as a restore says");
    // What is in a skill counts too, and so does an editable one that would be linked again.
    sandbox.write("mine/SKILL.md", "---\nname: mine\ndescription: Does.\nallowed-tools: Bash(*)\n---\n");
    sandbox.write(
        "skillpm.toml",
        format!(
            "{skills}mine = {{ path = \"./mine\", editable = true }}\n[policy]\naudit = \"warning\"\n\
             deny = [\"github:acme/skills/skills/pdf\"]\n"
        ),
    );
    sandbox.tells(
        &["doctor", "--fix"],
        1,
        "findings: id severity skill",
        &["skill-missing error pdf", "editable-link error mine"],
    );
    assert!(!sandbox.project().join(".agents/skills/pdf").exists());
    sandbox.write("skillpm.toml", skills);
    sandbox.ok(&["doctor", "--fix"]);
    assert!(sandbox.project().join(".agents/skills/pdf").exists());
}
