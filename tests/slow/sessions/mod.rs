//! Sessions that the programs of Codex, Gemini CLI and OpenCode record themselves, of a model that `record.py` is: what
//! they say about skills is read from them.
//!
//! A new version of an agent that records something else fails here.

use std::path::Path;
use std::process::{Command, Stdio};

use skillpm_core::agents;
use skillpm_core::agents::sessions::{Sessions, Wanted, sessions};
use skillpm_sources::env::Env;
use skillpm_sources::settings::Settings;
use skillpm_testing::tools;

#[cfg(target_arch = "x86_64")]
const PROGRAMS: [&str; 3] = [
    "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    "@google/gemini-cli/bundle/gemini.js",
    "opencode-linux-x64/bin/opencode",
];
#[cfg(not(target_arch = "x86_64"))]
const PROGRAMS: [&str; 3] = [
    "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
    "@google/gemini-cli/bundle/gemini.js",
    "opencode-linux-arm64/bin/opencode",
];

#[test]
fn what_agents_record_is_read() {
    let programs: Vec<_> = PROGRAMS.iter().filter_map(|program| tools::script(program)).collect();
    let ([codex, gemini, opencode], Some(python), Some(node)) =
        (&programs[..], tools::program("python3"), tools::node())
    else {
        return;
    };
    let root = tempfile::tempdir().expect("a directory");
    let root_dir = root.path().canonicalize().expect("a path");
    let (home, project) = (root_dir.join("home"), root_dir.join("project"));
    for name in ["hello", "bye"] {
        let dir = project.join(".agents/skills").join(name);
        std::fs::create_dir_all(dir.join("scripts")).expect("creates");
        let text = format!("---\nname: {name}\ndescription: Says {name}.\n---\nSECRET\n");
        std::fs::write(dir.join("SKILL.md"), text).expect("writes");
        std::fs::write(dir.join("scripts/x.py"), "print('SECRET')\n").expect("writes");
    }
    for dir in [&home, &project.join(".git")] {
        std::fs::create_dir_all(dir).expect("creates");
    }
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slow/sessions/record.py"))
        .args([&home, &project, codex, &node, gemini, opencode])
        .stdin(Stdio::null())
        .output()
        .expect("python3 starts");
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");

    let codex = uses(&read("codex", &home, &project));
    assert_eq!(codex, ["bye Person true", "hello Model true", "hello Model true"], "{told}");
    for agent in ["gemini-cli", "opencode"] {
        let found = uses(&read(agent, &home, &project));
        assert_eq!(found, ["hello Model true", "nothere Model false"], "{agent}: {told}");
    }
}

/// `test` asks Codex itself, with the skill and without it, and sees which skill it used and what that took.
#[test]
fn a_skill_is_tested_with_codex() {
    let (Some(codex), Some(python)) = (tools::script(PROGRAMS[0]), tools::program("python3")) else { return };
    let root = tempfile::tempdir().expect("a directory");
    let (home, project) = (root.path().join("home"), root.path().join("project"));
    let dir = project.join("skills/hello");
    for dir in [&home, &dir.join("evals")] {
        std::fs::create_dir_all(dir).expect("creates");
    }
    std::fs::write(dir.join("SKILL.md"), "---\nname: hello\ndescription: Says hello.\n---\nHello!\n")
        .expect("writes");
    let evals =
        r#"[{"query": "say hello", "should_trigger": true}, {"query": "say bye", "should_trigger": false}]"#;
    std::fs::write(dir.join("evals/trigger-eval.json"), evals).expect("writes");
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slow/sessions/record.py"))
        .args([&home, &project, &codex, Path::new(env!("CARGO_BIN_EXE_skillpm"))])
        .stdin(Stdio::null())
        .output()
        .expect("python3 starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told} {}", String::from_utf8_lossy(&output.stderr));
    let json = &told[told.find('{').expect("JSON")..=told.rfind('}').expect("JSON")];
    let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let cases = &json["files"][0]["cases"];
    // The stand-in uses the skill for anything, wherever it is listed.
    assert_eq!((&cases[0]["verdict"], &cases[1]["verdict"]), (&"passed".into(), &"failed".into()), "{told}");
    let trial = &cases[0]["trial"];
    assert_eq!((&trial["with"]["used"], &trial["without"]["used"]), (&1.into(), &0.into()), "{told}");
    assert!(trial["with"]["tokens"].as_u64() > trial["without"]["tokens"].as_u64(), "{told}");
}

fn read(agent: &str, home: &Path, project: &Path) -> Sessions {
    let vars = [("HOME".into(), home.as_os_str().to_owned())].into();
    let settings = Settings::from_env(Env { vars, cwd: project.to_owned(), interactive: false });
    let wanted = Wanted { since: None, project: Some(project) };
    let agent = agents::find(agent).expect("an agent of the table");
    let found = sessions(agent, &settings.expect("settings"), wanted, &|_| false).expect("sessions");
    assert_eq!((found.count, found.left_out.files, found.left_out.lines), (1, 0, 0), "{}", agent.id);
    assert!(found.first.is_some() && !format!("{found:?}").contains("SECRET"), "{found:?}");
    if agent.id == "codex" {
        assert!(["bye", "hello"].iter().all(|name| found.listed.contains_key(*name)), "{:?}", found.listed);
    }
    found
}

fn uses(found: &Sessions) -> Vec<String> {
    found.uses.iter().map(|used| format!("{} {:?} {}", used.skill, used.by, used.is_ok)).collect()
}
