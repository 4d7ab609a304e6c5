//! Programs as MCP servers that are sources: our own, `FastMCP`'s, and scripts that do what a server should not.

use std::path::Path;

use serde_json::{Value, json};
use skillpm_format::codes;
use skillpm_format::digest::Digest;

use crate::mcp_source::{clear, fails, outdated, refused};
use crate::support::Sandbox;

const DOCUMENT: &str = "---\nname: pdf\ndescription: Reads files.\n---\n\n# pdf\n";

/// Makes `command` the program of `mcp:docs`.
fn configure(sandbox: &Sandbox, command: &[&str]) {
    let manifest = format!("[mcp.docs]\ncommand = {}\n", json!(command));
    sandbox.write("../home/.config/skillpm/skillpm.toml", manifest);
}

/// Makes `mcp:docs` a script in the user's home that handles each line of its input by `cases`, of the shell, and then as
/// a server with the skill `pdf` does.
fn script(sandbox: &Sandbox, cases: &str) {
    let digest = Digest::of(DOCUMENT.as_bytes());
    let entry = json!({
        "uri": "skill://pdf/SKILL.md",
        "frontmatter": {"name": "pdf", "description": "Reads files."},
        "resources": [{"uri": "skill://pdf/SKILL.md", "digest": digest, "size": DOCUMENT.len()}],
    });
    let skills = json!({"extensions": {"io.modelcontextprotocol/skills": {}}});
    let results = [
        ("server/discover", json!({"supportedVersions": ["2026-07-28"], "capabilities": skills})),
        ("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": skills})),
        ("skills/list", json!({"skills": [entry]})),
        ("skills/get", json!({"skill": entry})),
        ("resources/read", json!({"contents": [{"uri": "skill://pdf/SKILL.md", "text": DOCUMENT}]})),
    ];
    let usual = results.map(|(method, result)| format!("*'\"{method}\"'*) say '\"result\":{result}' ;;\n"));
    let usual = usual.concat();
    let text = format!(
        "echo start >> starts\n\
         say() {{ printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,%s}}\\n' \"$id\" \"$1\"; }}\n\
         while read -r line; do printf '%s\\n' \"$line\" >> log\n\
         id=${{line#*\\\"id\\\":}}; id=${{id%%[,\\}}]*}}\n\
         case $line in\n{cases}\n{usual}esac\ndone\necho end >> ends\n"
    );
    sandbox.write("../home/server.sh", text);
    configure(sandbox, &["sh", "server.sh"]);
}

/// Returns how often the script was started.
fn starts(sandbox: &Sandbox) -> usize {
    std::fs::read_to_string(sandbox.home().join("starts")).map_or(0, |text| text.lines().count())
}

#[test]
fn our_own_server_as_a_program() {
    let sandbox = Sandbox::new();
    let write = |path: &str, text: &str| sandbox.write(&format!("../served/team/pdf/{path}"), text);
    write("SKILL.md", DOCUMENT);
    write("references/größe a.md", "more\n");
    let served = sandbox.root().join("served").display().to_string();
    configure(&sandbox, &[env!("CARGO_BIN_EXE_skillpm"), "mcp", "--dir", &served]);
    let listed = sandbox.ok(&["install", "mcp:docs", "--list"]);
    assert!(listed.stdout.contains("Reads files."), "{listed}");
    sandbox.ok(&["install", "mcp:docs@pdf"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/references/größe a.md"), "more\n");
    let lock = sandbox.read("skillpm.lock");
    assert!(lock.contains("source = \"mcp:docs\"") && lock.contains("revision = \"sha256:"), "{lock}");
    assert!(!lock.contains(&served), "{lock}");
    assert!(sandbox.read("skillpm.toml").contains("pdf = { mcp = \"docs\", path = "));
    assert_eq!(outdated(&sandbox)["status"], "current");

    write("references/größe a.md", "less\n");
    assert_eq!(outdated(&sandbox)["status"], "changed");
    let diff = sandbox.run(&["diff", "pdf", "--newest"]);
    assert!(diff.stdout.contains("+less"), "{diff}");
    clear(&sandbox, &[".local", ".cache"]);
    fails(&sandbox, &["install", "--frozen"], 5, "is not what was locked");
    sandbox.ok(&["update"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/references/größe a.md"), "less\n");
    assert_eq!(outdated(&sandbox)["status"], "current");

    // What is in the cache comes back without the program.
    clear(&sandbox, &[".local"]);
    sandbox.ok(&["install", "--offline", "--frozen"]);
    clear(&sandbox, &[".local", ".cache"]);
    fails(&sandbox, &["install", "--offline", "--frozen"], 4, "`mcp:docs` is a program");
    // Another machine, where nobody configured it.
    std::fs::remove_file(sandbox.home().join(".config/skillpm/skillpm.toml")).expect("was there");
    let output = fails(&sandbox, &["install", "--frozen"], 3, "no program is configured for `mcp:docs`");
    let hint = "add to `[DIR]/home/.config/skillpm/skillpm.toml`: `[mcp.docs]`";
    assert!(output.stderr.contains(hint), "{output}");
}

/// The skills provider of another library, which speaks both eras.
#[test]
fn fastmcp_is_such_a_program() {
    const SCRIPT: &str = "
import sys
from pathlib import Path
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider
server = FastMCP('skills')
server.add_provider(SkillsDirectoryProvider(roots=Path(sys.argv[1]), reload=True))
server.run(transport='stdio', show_banner=False)
";
    let Some(python) = skillpm_testing::tools::python("python-env-mcp") else { return };
    let mut sandbox = Sandbox::new();
    sandbox.env("SKILLPM_HTTP_TIMEOUT", "60");
    sandbox.write("../served/pdf/SKILL.md", DOCUMENT);
    sandbox.write("../served/pdf/größe.md", "more\n");
    let served = sandbox.root().join("served").display().to_string();
    configure(&sandbox, &[&python.display().to_string(), "-c", SCRIPT, &served]);
    sandbox.ok(&["install", "mcp:docs", "--skill", "*"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/größe.md"), "more\n");
    sandbox.ok(&["verify"]);
    assert_eq!(outdated(&sandbox)["status"], "current");
    sandbox.write("../served/pdf/größe.md", "less\n");
    assert_eq!(outdated(&sandbox)["status"], "changed");
}

#[cfg(target_os = "linux")]
mod scripts {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::support::forge::{Endpoint, Fault};
    use crate::support::{Forge, Tree};

    /// One program answers all requests of a source, and gets the end of its input.
    #[test]
    fn a_program_runs_in_the_home_directory_until_its_input_ends() {
        let sandbox = Sandbox::new();
        script(
            &sandbox,
            "*'\"server/discover\"'*) pwd > place; echo hello >&2; echo noise\n\
             echo '{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}'\n\
             echo '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}'; read -r pong; echo \"$pong\" > pong\n\
             echo '{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"roots/list\"}'; read -r roots; echo \"$roots\" > roots\n\
             say '\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"extensions\":{\"io.modelcontextprotocol/skills\":{}}}}' ;;",
        );
        let output = sandbox.ok(&["--verbose", "install", "mcp:docs@pdf"]);
        for told in ["mcp:docs: hello", "server/discover mcp:docs: done", "resources/read mcp:docs: done"] {
            assert!(output.stderr.contains(told), "{output}");
        }
        let of_home = |file: &str| std::fs::read_to_string(sandbox.home().join(file)).expect("was written");
        let home = std::fs::canonicalize(sandbox.home()).expect("is there");
        assert_eq!(Path::new(of_home("place").trim()), home);
        assert_eq!((starts(&sandbox), of_home("ends").as_str()), (1, "end\n"));
        let pong: Value = serde_json::from_str(&of_home("pong")).expect("JSON");
        assert_eq!(pong, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
        assert!(of_home("roots").contains("-32601"), "{}", of_home("roots"));
        assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), DOCUMENT);
    }

    /// Servers of the older revisions: some refuse the first request, some end at it.
    #[test]
    fn programs_with_sessions_are_read() {
        for (first, expected) in [
            ("say '\"error\":{\"code\":-32601,\"message\":\"unknown\"}'", 1),
            ("say '\"error\":{\"code\":-32602,\"message\":\"before initialization\"}'", 1),
            ("exit 1", 2),
        ] {
            let sandbox = Sandbox::new();
            script(&sandbox, &format!("*'\"server/discover\"'*) {first} ;;\n*_meta*) exit 1 ;;"));
            sandbox.ok(&["install", "mcp:docs@pdf"]);
            assert_eq!(starts(&sandbox), expected, "{first}");
            let log = std::fs::read_to_string(sandbox.home().join("log")).expect("was written");
            let messages = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
            let methods: Vec<_> = messages.map(|message| message["method"].clone()).collect();
            assert_eq!(
                methods,
                [
                    "server/discover",
                    "initialize",
                    "notifications/initialized",
                    "skills/list",
                    "resources/read"
                ]
            );
        }
    }

    /// Where there is no program, no server, or one that goes wrong: each says why, and nothing is installed.
    #[test]
    fn h47_programs_that_are_no_servers_are_ended() {
        let sandbox = Sandbox::new();
        sandbox.write("../home/no-program", "text");
        let cases: &[(&[&str], &str, &str)] = &[
            (
                &["no-such-program"],
                codes::MCP_NO_SERVER,
                "program `no-such-program` of `mcp:docs` was not found",
            ),
            (
                &["bin/no-such-program"],
                codes::MCP_NO_SERVER,
                "`bin/no-such-program` of `mcp:docs` was not found",
            ),
            (&["~/no-program"], codes::MCP_NO_SERVER, "`~/no-program` of `mcp:docs` cannot be started"),
            (
                &["sh", "-c", "echo 'bad \u{1b}[31moption' >&2; exit 2"],
                codes::MCP_ENDED,
                "ended (exit status: 2) without an answer to `initialize`; its last words are `bad [31moption`",
            ),
            (&["true"], codes::MCP_ENDED, "ended (exit status: 0) without an answer"),
            (&["echo", "hello"], codes::MCP_ENDED, "it wrote `hello`, which is not a message of MCP"),
            (&["sh", "-c", "kill -9 $$"], codes::MCP_ENDED, "ended (signal: 9"),
            (&["cat"], codes::MCP_REFUSED, "refuses `initialize` (error -32601)"),
            (&["yes"], codes::TOO_LARGE, "has more than 1048576 bytes"),
            (&["sh", "-c", "yes | tr -d '\\n'"], codes::TOO_LARGE, "has more than 1048576 bytes"),
            (
                &["sh", "-c", "echo hello; exec sleep 1000"],
                codes::REQUEST_TIMEOUT,
                "did not answer `server/discover` within 2 seconds; it wrote `hello`",
            ),
            (&["sh", "-c", "exec >&-; exec sleep 1000"], codes::MCP_ENDED, "closed its output"),
        ];
        for (command, code, says) in cases {
            configure(&sandbox, command);
            let (found, told) = refused(&sandbox, "mcp:docs@pdf");
            assert!(found == *code && told.contains(says), "{command:?}: {found} {told}");
        }
        let session: &[(&str, &str, &str)] = &[
            ("*skills/list*) exit 0 ;;", codes::MCP_ENDED, "without an answer to `skills/list`"),
            ("*skills/list*) ;;", codes::REQUEST_TIMEOUT, "did not answer `skills/list`"),
            (
                "*skills/list*) say '\"error\":{\"code\":-32603,\"message\":\"broken\"}' ;;",
                codes::MCP_REFUSED,
                "refuses `skills/list` (error -32603): broken",
            ),
            (
                "*resources/read*) say '\"result\":{\"contents\":[{\"text\":\"x\"}]}' ;;",
                codes::INTEGRITY,
                "is not what the server states",
            ),
            (
                "*server/discover*) say '\"result\":{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}}}' ;;",
                codes::MCP_NO_SKILLS,
                "its tools cannot be installed",
            ),
        ];
        for (cases, code, says) in session {
            script(&sandbox, cases);
            let (found, told) = refused(&sandbox, "mcp:docs@pdf");
            assert!(found == *code && told.contains(says), "{cases}: {found} {told}");
        }
        assert!(!sandbox.project().join(".agents").exists());
        assert!(!sandbox.project().join("skillpm.lock").exists());
    }

    /// Waits until `is_so`.
    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let since = Instant::now();
        while !is_so() {
            assert!(since.elapsed() < Duration::from_mins(1), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Reports whether the process that a program noted in `child` runs. One that ended and that nobody waited for yet does
    /// not.
    fn child_runs(sandbox: &Sandbox) -> bool {
        let pid = std::fs::read_to_string(sandbox.home().join("child")).expect("was written");
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
    }

    /// A case of a script that starts another program.
    const STARTS_ANOTHER: &str =
        "*server/discover*) say '\"error\":{\"code\":1}'; sleep 1000 & echo $! > part; mv part child ;;";

    /// Nothing that a program started stays behind, whether it ends by itself or not.
    #[test]
    fn a_program_ends_with_all_that_it_started() {
        let sandbox = Sandbox::new();
        configure(&sandbox, &["sh", "-c", "trap '' TERM; sleep 1000 & echo $! > child; wait"]);
        refused(&sandbox, "mcp:docs@pdf");
        wait_until("it still runs", || !child_runs(&sandbox));
        script(&sandbox, STARTS_ANOTHER);
        sandbox.ok(&["install", "mcp:docs@pdf"]);
        wait_until("it still runs", || !child_runs(&sandbox));
    }

    /// While it is asked, and while another source is.
    #[test]
    fn a_signal_ends_a_program_with_all_that_it_started() {
        let forge = Forge::start();
        forge.repo("acme/one").commit(&Tree::new().skill("skills/docx", "docx"));
        forge.fail_always(Endpoint::Archive, Fault::Stalled);
        for (cases, sources) in [
            (format!("{STARTS_ANOTHER}\n*initialize*) ;;"), &["mcp:docs@pdf"][..]),
            (STARTS_ANOTHER.to_owned(), &["mcp:docs@pdf", "acme/one"]),
        ] {
            let mut sandbox = Sandbox::new();
            sandbox.forge(&forge).env("SKILLPM_HTTP_TIMEOUT", "600");
            script(&sandbox, &cases);
            let mut command = sandbox.command(&[&["install"], sources].concat());
            let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
            let is_asked = || forge.requests().iter().any(|request| request.host == forge.archive_host());
            let asks_forge = sources.len() > 1;
            wait_until("all is asked", || {
                sandbox.home().join("child").exists() && (!asks_forge || is_asked())
            });
            kill_process(Pid::from_child(&child), Signal::INT).expect("is sent");
            let output = child.wait_with_output().expect("ends");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(told, "interrupted; nothing was changed\n");
            wait_until("it still runs", || !child_runs(&sandbox));
        }
    }

    /// A project may be a stranger's: it names no program, and its lockfile starts none but the user's.
    #[test]
    fn h48_a_project_names_no_program() {
        let sandbox = Sandbox::new();
        script(&sandbox, "");
        let manifest = format!("[mcp.other]\ncommand = [\"touch\", {:?}]\n", sandbox.home().join("evil"));
        sandbox.write("skillpm.toml", &manifest);
        let own = sandbox.home().join(".config/skillpm/skillpm.toml");
        for args in [&["install"][..], &["install", "mcp:other@pdf"], &["install", "mcp:docs@pdf"], &["list"]]
        {
            let output = fails(&sandbox, args, 3, "`[mcp.other]` names a program to start");
            assert!(output.stderr.contains("skillpm.toml:2:12:"), "{output}");
            let hint = "move the table to `[DIR]/home/.config/skillpm/skillpm.toml`";
            assert!(output.stderr.contains(hint), "{output}");
        }
        sandbox.write("skillpm.toml", "[skills]\npdf = { mcp = \"other\", path = \"pdf\" }\n");
        let output = fails(&sandbox, &["install"], 3, "no program is configured for `mcp:other`");
        assert!(output.stderr.contains("`[mcp.other]`"), "{output}");
        let (code, told) = refused(&sandbox, "mcp:doks@pdf");
        assert_eq!(code, codes::MCP_NOT_CONFIGURED);
        assert!(told.contains("did you mean `mcp:docs`?"), "{told}");
        assert!(!sandbox.home().join("evil").exists());
        assert_eq!(starts(&sandbox), 0);
        // The directory of the user's manifest is no project of a stranger.
        let mut command = sandbox.command(&["list"]);
        let output = sandbox.output(command.current_dir(own.parent().expect("a directory")));
        assert_eq!(output.code, Some(0), "{output}");
    }

    /// A policy names a program by the name that the user gave it.
    #[test]
    fn a_policy_names_programs() {
        let sandbox = Sandbox::new();
        script(&sandbox, "");
        for (policy, code) in [
            ("allow = [\"mcp:docs\"]", None),
            ("allow = [\"mcp:*\"]", None),
            ("allow = [\"mcp:docs.example.com\"]", Some(codes::NOT_ADMITTED)),
            ("allow = [\"mcp:other\"]", Some(codes::NOT_ADMITTED)),
            ("deny = [\"mcp:docs\"]", Some(codes::NOT_ADMITTED)),
            ("deny = [\"mcp:do*\"]", Some(codes::NOT_ADMITTED)),
        ] {
            let _ = std::fs::remove_file(sandbox.home().join("starts"));
            sandbox.write("skillpm.toml", format!("[policy]\n{policy}\n"));
            match code {
                None => drop(sandbox.ok(&["install", "mcp:docs@pdf"])),
                Some(code) => {
                    clear(&sandbox, &[]);
                    assert_eq!(refused(&sandbox, "mcp:docs@pdf").0, code, "{policy}");
                }
            }
            assert_eq!(starts(&sandbox) > 0, code.is_none(), "{policy}");
        }
    }

    /// The user's own skills come from programs in the same way.
    #[test]
    fn skills_of_the_user_come_from_programs() {
        let sandbox = Sandbox::new();
        script(&sandbox, "");
        sandbox.ok(&["install", "--global", "mcp:docs@pdf"]);
        let manifest =
            std::fs::read_to_string(sandbox.home().join(".config/skillpm/skillpm.toml")).expect("is there");
        assert!(manifest.contains("[mcp.docs]\ncommand = "), "{manifest}");
        assert!(manifest.contains("pdf = { mcp = \"docs\", path = \"pdf\" }"), "{manifest}");
        sandbox.ok(&["remove", "--global", "pdf"]);
    }
}
