//! Clients that others wrote, over standard input and output and over HTTP.

use std::process::Command;

use serde_json::{Value, json};
use skillpm_testing::tools::{node, python, script};

use super::{USER, usual, with_script};
use crate::support::mcp::{CLIENTS, HttpPeer};
use crate::support::{Output, Sandbox, testdata};

/// The environment with `LangChain`'s adapter.
const AGENT: &str = "python-env-agent";
/// The Inspector, which ends with another code than 0 if a skill is wrong, cannot be checked, or has no digests.
const INSPECTOR: &str = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
/// The suite that judges servers.
const CONFORMANCE: &str = "@modelcontextprotocol/conformance/dist/index.js";

/// A machine with the skill `hello`, which has a file and a script.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    with_script(&sandbox, "hello", "greet", "echo \"Hello, $1!\"\n");
    sandbox.write(&format!("{USER}/hello/references/tone.md"), "dear friend\n");
    sandbox.write(
        &format!("{USER}/hello/SKILL.md"),
        "---\nname: hello\ndescription: Greets somebody.\n---\n\nRead references/tone.md and run scripts/greet.sh.\n",
    );
    sandbox.ok(&["trust", USER]);
    usual(&sandbox, "other");
    sandbox
}

/// The options that name every real skill, in one directory for each repository.
fn real() -> Option<Vec<String>> {
    let testdata = testdata::dir()?;
    let dirs =
        testdata::REPOSITORIES.map(|repository| testdata.join("skills").join(repository.replace('/', "+")));
    let args = dirs.iter().flat_map(|dir| ["--dir", dir.to_str().expect("UTF-8")]);
    Some(args.map(str::to_owned).collect())
}

/// The environment that the program has in `sandbox`.
fn env(sandbox: &Sandbox) -> Value {
    let command = sandbox.command(&[]);
    let pairs = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?.to_str()?)));
    pairs.map(|(name, value)| (name.to_owned(), Value::from(value))).collect::<serde_json::Map<_, _>>().into()
}

/// The command of a server.
fn server(args: &[&str]) -> Vec<String> {
    [env!("CARGO_BIN_EXE_skillpm"), "mcp"].iter().chain(args).map(|word| (*word).to_owned()).collect()
}

/// How a server over HTTP is reached.
fn address(server: &HttpPeer) -> Value {
    json!({ "url": server.url, "headers": { "Authorization": format!("Bearer {}", server.token) } })
}

/// Runs a client in the project of `sandbox`.
fn run(sandbox: &Sandbox, mut client: Command) -> Output {
    client.current_dir(sandbox.project()).stdin(std::process::Stdio::null());
    sandbox.output(&mut client)
}

/// Runs a script of Python, and returns what it found.
#[track_caller]
fn python_finds(sandbox: &Sandbox, environment: &str, script: &str, args: &[&str]) -> Option<Value> {
    let mut client = Command::new(python(environment)?);
    client.arg(skillpm_testing::root().join("tests/it/mcp").join(script)).args(args);
    client.env("HOME", sandbox.home()).env_remove("http_proxy").env_remove("HTTP_PROXY").env("NO_PROXY", "*");
    let output = run(sandbox, client);
    assert_eq!(output.code, Some(0), "{output}");
    Some(serde_json::from_str(output.stdout.lines().last().expect("a line")).expect("JSON"))
}

/// Runs the Inspector's command line against a server.
fn inspect(sandbox: &Sandbox, server: &[String], args: &[&str]) -> Option<Output> {
    let mut client = Command::new(node()?);
    client.arg(script(INSPECTOR)?).arg("--cli").args(args).args(["--format", "json"]);
    client.env_clear().envs(sandbox.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
    client.env("NO_COLOR", "1").args(server);
    Some(run(sandbox, client))
}

/// The client of the package `mcp` does everything in both eras, over both transports; its user is asked about scripts.
#[test]
fn the_client_of_python_does_everything_in_both_eras() {
    let sandbox = machine();
    let args = ["--scripts", "ask"];
    let http = HttpPeer::start(&sandbox, &args);
    let pipes = json!({ "command": server(&args), "env": env(&sandbox) });
    for target in [pipes, address(&http)] {
        let Some(found) = python_finds(&sandbox, CLIENTS, "clients.py", &["package", &target.to_string()])
        else {
            return;
        };
        for (mode, version) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
            let found = &found[mode];
            assert_eq!(found["version"], version, "{found}");
            assert!(found["instructions"].as_str().expect("text").contains("Greets somebody"), "{found}");
            assert_eq!(
                found["tools"].as_array().expect("tools")[..5],
                ["list_skills", "search_skills", "load_skill", "read_skill_file", "run_skill_script"]
                    .map(Value::from)
            );
            assert!(found["loaded"].as_str().expect("text").contains("Read references/tone.md"));
            assert!(found["read"].as_str().expect("text").starts_with("---\nname: hello"));
            assert_eq!(found["prompts"], json!(["hello", "other"]));
            assert!(found["prompt"].as_str().expect("text").contains("ARGUMENTS: you"));
            let uris = json!(["skill://user/hello/SKILL.md", "skill://user/other/SKILL.md"]);
            assert_eq!((&found["resources"], &found["skills"], &found["same"]), (&uris, &uris, &json!(true)));
            assert_eq!(
                (&found["decline"]["failed"], &found["decline"]["asked"]),
                (&json!(true), &json!(1)),
                "{found}"
            );
            assert_eq!(
                found["accept"],
                json!({ "failed": false, "text": "Hello, you!\n", "asked": 1 }),
                "{found}"
            );
        }
    }
}

/// `FastMCP`'s client for skills reads every real skill that the extension can carry, over both transports.
#[test]
fn fastmcp_verifies_every_real_skill() {
    let sandbox = Sandbox::new();
    let Some(dirs) = real() else { return };
    // FastMCP takes the last line feed of such a frontmatter for a part of the line after it.
    let block = "---\nname: block\ndescription: d\ncompatibility: >\n  Needs\n  a block.\n---\nx\n";
    sandbox.write("more/block/SKILL.md", block);
    let dirs: Vec<_> = dirs.iter().map(String::as_str).chain(["--dir", "more"]).collect();
    let http = HttpPeer::start(&sandbox, &dirs);
    let pipes = json!({ "command": server(&dirs), "env": env(&sandbox) });
    for target in [pipes, address(&http)] {
        let Some(found) = python_finds(&sandbox, CLIENTS, "clients.py", &["fast", &target.to_string()])
        else {
            return;
        };
        println!("FastMCP: {found}");
        assert_eq!(found["wrong"], json!([]));
        assert!(found["skills"].as_u64().is_some_and(|count| count > 190), "{found}");
    }
}

/// The Inspector verifies every real skill that the extension can carry, and finds nothing wrong with the tools.
#[test]
fn the_inspector_verifies_every_real_skill() {
    let sandbox = Sandbox::new();
    let Some(dirs) = real() else { return };
    let dirs: Vec<_> = dirs.iter().map(String::as_str).collect();
    let pipes = server(&dirs);
    let http = HttpPeer::start(&sandbox, &dirs);
    let url = [http.url.clone(), "--header".to_owned(), format!("Authorization: Bearer {}", http.token)];
    for target in [&pipes[..], &url[..]] {
        let verify = ["--protocol-era", "modern", "--method", "skills/list", "--verify", "--require-digests"];
        let limits = ["--skill-catalog-max-skills", "1000", "--skill-catalog-max-bytes", "1000000000"];
        let Some(output) = inspect(&sandbox, target, &[&verify[..], &limits[..]].concat()) else { return };
        assert_eq!(output.code, Some(0), "{output}");
        let verified = output.stdout.lines().filter(|line| !line.trim().is_empty()).count();
        println!("Inspector: {verified} skills");
    }
    for era in ["legacy", "modern"] {
        let args = ["--protocol-era", era, "--method", "tools/list", "--strict"];
        let Some(output) = inspect(&sandbox, &pipes, &args) else { return };
        assert_eq!(output.code, Some(0), "{output}");
    }
}

/// An agent of `LangChain` finds a skill, loads it, reads its file and runs its script: C26.
#[test]
fn an_agent_of_langchain_uses_a_skill() {
    let sandbox = machine();
    let args = ["--scripts", "allow"];
    let http = HttpPeer::start(&sandbox, &args);
    let command = server(&args);
    let pipes =
        json!({ "transport": "stdio", "command": command[0], "args": command[1..], "env": env(&sandbox) });
    let mut url = address(&http);
    url["transport"] = "streamable_http".into();
    for target in [pipes, url] {
        let Some(found) = python_finds(&sandbox, AGENT, "agent.py", &[&target.to_string()]) else { return };
        assert_eq!(
            found,
            json!({
                "calls": ["search_skills", "load_skill", "read_skill_file", "run_skill_script"],
                "answer": "It said: Hello, dear friend!"
            })
        );
    }
}

/// The suite of the protocol itself finds nothing wrong: what it has about skills, and what a server with skills has of
/// the rest.
#[test]
fn the_conformance_suite_finds_nothing_wrong() {
    let sandbox = super::machine();
    let server = HttpPeer::start(&sandbox, &[]);
    let (Some(node), Some(suite)) = (node(), script(CONFORMANCE)) else { return };
    let preload = skillpm_testing::root().join("tests/it/mcp/authorized.mjs");
    for scenario in SCENARIOS {
        let mut client = Command::new(&node);
        client.arg("--import").arg(&preload).arg(&suite);
        client.args(["server", "--url", &server.url, "--scenario", scenario]).env("TOKEN", &server.token);
        let output = run(&sandbox, client);
        let passed = output.stdout.lines().find_map(|line| line.strip_prefix("Passed: "));
        let passed = passed.unwrap_or_else(|| panic!("{scenario}: {output}"));
        println!("{scenario}: {passed}");
        // Some checks need tools that only a server for tests has.
        let errors = output.stdout.lines().map(str::trim).filter(|line| line.starts_with("Error:"));
        let errors: Vec<_> = errors.filter(|line| !line.starts_with("Error: Not testable")).collect();
        assert!(errors.is_empty(), "{scenario}: {output}");
        assert!(scenario == "server-stateless" || output.code == Some(0), "{scenario}: {output}");
    }
}

/// What is asked of every server, and of those with skills.
const SCENARIOS: [&str; 15] = [
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
    "sep-2640-skills-directory",
    "server-initialize",
    "server-session-lifecycle",
    "server-stateless",
    "ping",
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "prompts-list",
    "completion-complete",
    "caching",
    "dns-rebinding-protection",
    "http-header-validation",
];
