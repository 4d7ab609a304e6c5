//! Scripts of skills as tools: whether they run, who is asked, and how they end.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{USER, audit, with_script};
use crate::support::mcp::{HttpPeer, MODERN, Peer, TIME};
use crate::support::{Sandbox, program};

/// A machine with the skill `hello`, whose script greets and leaves the file `ran`.
fn machine() -> Sandbox {
    let sandbox = Sandbox::new();
    with_script(&sandbox, "hello", "greet", "echo \"Hello, $1!\"\ntouch ran\n");
    sandbox
}

/// The call of the script.
fn greet(word: &str) -> Value {
    json!({ "name": "hello", "script": "greet", "arguments": { "arguments": [word] } })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

fn has_run(sandbox: &Sandbox) -> bool {
    sandbox.project().join("ran").exists()
}

/// No tool runs scripts unless the user says so.
#[test]
fn scripts_do_not_run_by_default() {
    let sandbox = machine();
    let mut peer = Peer::modern(&sandbox, &[]);
    peer.call("load_skill", json!({ "name": "hello" }));
    assert_eq!(peer.names("tools/list", "tools").len(), 4);
    for (tool, arguments) in [("run_skill_script", greet("you")), ("hello__greet", json!({}))] {
        assert_eq!(peer.refused("tools/call", json!({ "name": tool, "arguments": arguments })).0, -32602);
    }
    assert!(peer.end().success());
    assert!(!has_run(&sandbox));
}

/// Scripts of a loaded skill are tools of their own, which is announced, with what they take.
#[test]
fn the_scripts_of_a_loaded_skill_are_tools() {
    if program("python3").is_none() {
        return;
    }
    let mut sandbox = machine();
    let path = std::env::var("PATH").unwrap_or_default();
    sandbox.env("PATH", &path);
    sandbox.write(
        &format!("{USER}/hello/scripts/count.py"),
        "\"\"\"Counts.\"\"\"\nimport argparse\np = argparse.ArgumentParser()\np.add_argument('--count', type=int, default=3, \
         help='how many')\nprint('*' * p.parse_args().count)\n",
    );
    sandbox.ok(&["trust", USER]);
    let (mut old, mut new) =
        (Peer::legacy(&sandbox, &["--scripts", "allow"]), Peer::modern(&sandbox, &["--scripts", "allow"]));
    new.send("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    new.told("notifications/subscriptions/acknowledged");
    for peer in [&mut old, &mut new] {
        assert_eq!(peer.names("tools/list", "tools").last().expect("a tool"), "run_skill_script");
        peer.call("load_skill", json!({ "name": "hello" }));
        peer.told("notifications/tools/list_changed");
        let tools = peer.ask("tools/list", json!({}));
        let tool = |name: &str| {
            let tool = tools["tools"].as_array().expect("tools").iter().find(|tool| tool["name"] == name);
            tool.unwrap_or_else(|| panic!("{name}: {tools}")).clone()
        };
        let count = tool("hello__count");
        assert_eq!(
            count["inputSchema"]["properties"]["count"],
            json!({ "type": "integer", "default": 3, "description": "how many" })
        );
        assert_eq!(count["annotations"]["readOnlyHint"], false);
        assert_eq!(count["annotations"]["destructiveHint"], true);
        let ran = peer.call("hello__count", json!({ "count": 5 }));
        assert_eq!((&ran["isError"], text(&ran)), (&json!(false), "*****\n"));
        for wrong in [json!({ "count": "five" }), json!({ "none": 1 })] {
            assert_eq!(peer.call("hello__count", wrong)["isError"], true);
        }
        assert_eq!(text(&peer.call("hello__greet", json!({ "arguments": ["you"] }))), "Hello, you!\n");
        assert_eq!(text(&peer.call("run_skill_script", greet("there"))), "Hello, there!\n");
        assert!(peer.end().success());
    }
    let runs = audit(&sandbox).iter().filter(|line| line["event"] == "run").count();
    assert_eq!(runs, 6, "{:?}", audit(&sandbox));
}

/// A script that fails is an answer with its output; what nobody trusts does not run.
#[test]
fn a_failure_is_an_answer() {
    let sandbox = Sandbox::new();
    with_script(&sandbox, "fail", "fail", "echo out\necho err >&2\nexit 3\n");
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow"]);
    let call = json!({ "name": "fail", "script": "fail" });
    let ran = peer.call("run_skill_script", call.clone());
    assert_eq!(ran["isError"], true);
    let blocks = |ran: &Value| -> Vec<String> {
        let blocks = ran["content"].as_array().expect("content").iter();
        blocks.map(|block| block["text"].as_str().expect("text").to_owned()).collect()
    };
    let told = ["out\n", "the script failed: exit code 3", "standard error:\nerr\n"];
    assert_eq!(blocks(&ran), told, "{ran}");
    assert!(ran.get("structuredContent").is_none(), "{ran}");
    let meta = &ran["_meta"]["io.github.skillpm/run"];
    assert_eq!(
        (&meta["exit_code"], &meta["stdout"]),
        (&json!(3), &json!({ "bytes": 4, "cut": false })),
        "{ran}"
    );
    for (name, script) in [("fail", "none"), ("none", "fail"), ("fail", "../../x.sh")] {
        let failed = peer.call("run_skill_script", json!({ "name": name, "script": script }));
        assert_eq!(failed["isError"], true, "{failed}");
    }
    assert!(peer.end().success());
    let sandbox = Sandbox::new();
    super::usual(&sandbox, "fail");
    sandbox.write(&format!("{USER}/fail/scripts/fail.sh"), "touch ran\n");
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow"]);
    assert_eq!(peer.call("run_skill_script", call)["isError"], true);
    assert!(!has_run(&sandbox));
    assert!(peer.end().success());
}

/// What a script prints is cut where a model stops reading, and not sent twice.
#[test]
fn a_long_output_is_cut() {
    let sandbox = Sandbox::new();
    let text = "i=0\nwhile [ $i -lt 20000 ]; do echo \"line $i\"; echo \"error $i\" >&2; i=$((i + 1)); done\nexit 1\n";
    with_script(&sandbox, "loud", "say", text);
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow"]);
    let ran = peer.call("run_skill_script", json!({ "name": "loud", "script": "say" }));
    let blocks: Vec<_> =
        (0..4).map(|at| ran["content"][at]["text"].as_str().unwrap_or_else(|| panic!("{ran}"))).collect();
    assert!(blocks[0].starts_with("line 0\n") && blocks[0].len() == 65_536, "{}", blocks[0].len());
    assert_eq!(blocks[1], "The output is cut: these are the first 65536 of 208890 bytes.");
    assert_eq!(blocks[2], "the script failed: exit code 1");
    let (head, last) = blocks[3].split_once('\n').expect("lines");
    assert_eq!(head, "standard error, the last 65536 of 228890 bytes:");
    assert!(last.ends_with("error 19999\n") && last.len() == 65_536, "{}", last.len());
    assert!(ran.to_string().len() < 150_000);
    assert!(peer.end().success());
}

/// `--timeout` says how long a script may take, whatever its skill says.
#[test]
fn the_time_of_scripts_can_be_set() {
    let sandbox = Sandbox::new();
    with_script(&sandbox, "slow", "wait", "echo begun\nsleep 600\n");
    sandbox.write(
        &format!("{USER}/slow/scripts/tools.yaml"),
        "tools:\n  - {name: wait, script: wait.sh, description: Waits., timeout: 300}\n",
    );
    sandbox.ok(&["trust", USER]);
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow", "--timeout", "0.2"]);
    let ran = peer.call("run_skill_script", json!({ "name": "slow", "script": "wait" }));
    assert_eq!((&ran["isError"], text(&ran)), (&json!(true), "begun\n"), "{ran}");
    assert!(ran["content"][1]["text"].as_str().is_some_and(|text| text.contains("timeout")), "{ran}");
    assert!(peer.end().success());
    assert_eq!(sandbox.run(&["mcp", "--timeout", "0"]).code, Some(2));
}

/// `--interpreter` and `--python` say which programs run scripts.
#[test]
#[cfg(unix)]
fn the_programs_of_scripts_can_be_chosen() {
    let sandbox = Sandbox::new();
    with_script(&sandbox, "hello", "greet", "echo Hello\n");
    sandbox.write(&format!("{USER}/hello/scripts/count.py"), "echo 3 2 1\n");
    sandbox.ok(&["trust", USER]);
    let args = ["--scripts", "allow", "--python", "sh", "--interpreter", "sh=/bin/cat"];
    let mut peer = Peer::modern(&sandbox, &args);
    for (script, expected) in [("count", "3 2 1\n"), ("greet", "echo Hello\n")] {
        let ran = peer.call("run_skill_script", json!({ "name": "hello", "script": script }));
        assert_eq!(text(&ran), expected, "{ran}");
    }
    assert!(peer.end().success());
}

/// What a killed server left of its scripts in the directory for temporary files goes with the next run.
#[test]
#[cfg(target_os = "linux")]
fn copies_of_a_killed_server_are_cleared() {
    use rustix::process::{Pid, Signal, kill_process};

    let kill = |id: u32| {
        let id = Pid::from_raw(id.try_into().expect("an id")).expect("an id");
        kill_process(id, Signal::KILL).expect("a signal");
    };
    let mut sandbox = endless();
    let temporary = sandbox.root().join("tmp");
    std::fs::create_dir(&temporary).expect("created");
    sandbox.env("TMPDIR", &temporary.display().to_string());
    let copies = || std::fs::read_dir(&temporary).expect("a directory").count();
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow"]);
    peer.send(
        "tools/call",
        json!({ "name": "run_skill_script", "arguments": { "name": "slow", "script": "wait" } }),
    );
    let ids = processes(&sandbox);
    with_script(&sandbox, "quick", "greet", "echo hello\n");
    // A run beside it leaves it alone.
    sandbox.ok(&["run", "quick", "greet"]);
    assert_eq!(copies(), 1);
    kill(peer.id());
    peer.wait();
    for id in &ids {
        kill(*id);
    }
    wait_until_gone(&ids);
    assert_eq!(copies(), 1);
    sandbox.ok(&["run", "quick", "greet"]);
    assert_eq!(copies(), 0);
}

/// A skill with a script that says what its processes are, and does not end by itself.
fn endless() -> Sandbox {
    let sandbox = Sandbox::new();
    let text = "sleep 600 &\necho $$ > pids.new; echo $! >> pids.new; mv pids.new pids\ni=0\n\
                while :; do i=$((i + 1)); echo \"step $i\"; sleep 0.05; done\n";
    with_script(&sandbox, "slow", "wait", text);
    sandbox
}

/// The processes of the script, once it has started.
fn processes(sandbox: &Sandbox) -> Vec<u32> {
    let (file, began) = (sandbox.project().join("pids"), Instant::now());
    loop {
        if let Ok(text) = std::fs::read_to_string(&file) {
            std::fs::remove_file(&file).expect("removed");
            return text.lines().map(|line| line.parse().expect("a number")).collect();
        }
        assert!(began.elapsed() < TIME, "the script does not start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until none of these processes is there.
fn wait_until_gone(processes: &[u32]) {
    let began = Instant::now();
    let is_there = |id: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // Nobody may have waited for it yet.
        !stat.is_empty() && !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('Z'))
    };
    while processes.iter().any(is_there) {
        assert!(began.elapsed() < TIME, "processes stay: {processes:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A client hears of the output while a script runs, and may end it with all its processes; so does a client that leaves.
#[test]
#[cfg(target_os = "linux")]
fn a_script_tells_of_its_progress_and_ends_when_it_is_cancelled() {
    assert!(Path::new("/proc/self/stat").exists());
    let sandbox = endless();
    for version in ["2025-11-25", MODERN] {
        let mut peer = Peer::session(&sandbox, &["--scripts", "allow"], version, json!({})).0;
        let call = json!({ "name": "run_skill_script", "arguments": { "name": "slow", "script": "wait" }, "_meta": { "progressToken": "t" } });
        let id = peer.send("tools/call", call.clone());
        let mut before = 0.0;
        for _ in 0..2 {
            let progress = peer.told("notifications/progress");
            assert_eq!(progress["params"]["progressToken"], "t");
            assert!(progress["params"]["message"].as_str().expect("text").starts_with("step "), "{progress}");
            let now = progress["params"]["progress"].as_f64().expect("a number");
            assert!(now > before, "{progress}");
            before = now;
        }
        let ids = processes(&sandbox);
        assert_eq!(ids.len(), 2);
        peer.notify("notifications/cancelled", json!({ "requestId": id, "reason": "enough" }));
        wait_until_gone(&ids);
        // The session goes on.
        assert_eq!(peer.names("prompts/list", "prompts"), ["slow"]);
        peer.send("tools/call", call);
        let ids = processes(&sandbox);
        assert!(peer.end().success(), "{}", peer.stderr());
        wait_until_gone(&ids);
    }
}

/// A signal that comes while a script runs ends the script and the server, over both transports.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_ends_the_script_and_the_server() {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{Pid, Signal, kill_process};

    let terminate = |id: u32| {
        let id = Pid::from_raw(id.try_into().expect("an id")).expect("an id");
        kill_process(id, Signal::TERM).expect("a signal");
    };
    let sandbox = endless();
    let call = json!({ "name": "run_skill_script", "arguments": { "name": "slow", "script": "wait" } });
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow"]);
    peer.send("tools/call", call.clone());
    let ids = processes(&sandbox);
    terminate(peer.id());
    wait_until_gone(&ids);
    assert_eq!(peer.wait().signal(), Some(Signal::TERM.as_raw()), "{}", peer.stderr());

    let mut server = HttpPeer::start(&sandbox, &["--scripts", "allow"]);
    let request = super::http::modern(&server, "tools/call", call);
    let connection = request.with("Mcp-Name", Some("run_skill_script")).open(&server);
    let ids = processes(&sandbox);
    terminate(server.id());
    wait_until_gone(&ids);
    assert_eq!(server.wait().signal(), Some(Signal::TERM.as_raw()));
    drop(connection);
}

/// An older client that can ask is asked, and only a yes is a yes.
#[test]
fn an_older_client_is_asked() {
    let sandbox = machine();
    let able = json!({ "elicitation": {} });
    let mut peer = Peer::session(&sandbox, &["--scripts", "ask"], "2025-06-18", able).0;
    for (answer, runs) in [
        (json!({ "action": "decline" }), false),
        (json!({ "action": "cancel" }), false),
        (json!({ "action": "accept", "content": { "run": false } }), false),
        (json!({ "action": "accept", "content": { "run": "true" } }), false),
        (json!({ "action": "accept" }), false),
        (json!({ "action": "accept", "content": { "run": true } }), true),
    ] {
        let id = peer.send("tools/call", json!({ "name": "run_skill_script", "arguments": greet("you") }));
        let question = peer.told("elicitation/create");
        let message = question["params"]["message"].as_str().expect("text");
        assert!(
            message.contains("hello") && message.contains("greet") && message.contains("you"),
            "{message}"
        );
        let project = std::fs::canonicalize(sandbox.project()).expect("a directory");
        let place = format!("\nIt runs in `{}`, and may change the files there.", project.display());
        assert!(message.ends_with(&format!("{place}\nThe network is open to it.")), "{message}");
        assert_eq!(question["params"]["requestedSchema"]["properties"]["run"]["type"], "boolean");
        assert!(!has_run(&sandbox));
        peer.reply(&question, answer.clone());
        let result = peer.answer(id)["result"].clone();
        assert_eq!(result["isError"] == false, runs, "{answer}: {result}");
        assert_eq!(has_run(&sandbox), runs, "{answer}");
    }
    assert!(peer.end().success());
}

/// A script that may write nothing and has no network is a different question.
#[test]
fn the_question_says_what_is_closed() {
    let mut sandbox = machine();
    let home = std::fs::canonicalize(sandbox.project()).expect("a directory");
    sandbox.env("HOME", &home.display().to_string());
    sandbox.write(".agents/skills/own/SKILL.md", "---\nname: own\ndescription: d\n---\n");
    sandbox.write(".agents/skills/own/scripts/greet.sh", "echo hello\n");
    sandbox.ok(&["trust", ".agents/skills"]);
    let able = json!({ "elicitation": {} });
    let mut peer = Peer::session(&sandbox, &["--scripts", "ask", "--no-network"], MODERN, able).0;
    let asked = peer.call("run_skill_script", json!({ "name": "own", "script": "greet" }));
    let message =
        asked["inputRequests"]["consent"]["params"]["message"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let place = format!("It runs in `{}`, and may not change the files there:", home.display());
    assert!(message.contains(&place) && message.ends_with("\nIt has no network."), "{message}");
    assert!(peer.end().success());
}

/// A client that cannot ask gets a refusal that says so.
#[test]
fn a_client_that_cannot_ask_is_refused() {
    let sandbox = machine();
    for version in ["2024-11-05", "2025-06-18", "2025-11-25", MODERN] {
        let mut peer = Peer::session(&sandbox, &["--scripts", "ask"], version, json!({})).0;
        if version == MODERN {
            let call = json!({ "name": "run_skill_script", "arguments": greet("you") });
            let id = peer.send("tools/call", call);
            let error = peer.answer(id)["error"].clone();
            assert_eq!(error["code"], -32021, "{error}");
            assert!(error["data"]["requiredCapabilities"]["elicitation"].is_object(), "{error}");
        } else {
            let refused = peer.call("run_skill_script", greet("you"));
            assert_eq!(refused["isError"], true);
            assert!(text(&refused).contains("a person must agree"), "{version}: {refused}");
        }
        assert!(peer.end().success());
    }
    assert!(!has_run(&sandbox));
}

/// A modern client gets the question as a result and calls again; an answer counts for the call that it belongs to.
#[test]
fn a_modern_client_answers_with_the_same_call() {
    let sandbox = machine();
    let able = json!({ "elicitation": {} });
    let mut peer = Peer::session(&sandbox, &["--scripts", "ask"], MODERN, able).0;
    let asked = |peer: &mut Peer, word: &str| {
        let asked = peer.call("run_skill_script", greet(word));
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let request = &asked["inputRequests"]["consent"];
        assert_eq!(request["method"], "elicitation/create");
        assert!(request["params"]["message"].as_str().expect("text").contains(word), "{asked}");
        asked["requestState"].as_str().expect("a state").to_owned()
    };
    let again = |word: &str, state: &str, answer: Value| json!({ "name": "run_skill_script", "arguments": greet(word), "requestState": state, "inputResponses": { "consent": answer } });
    let yes = json!({ "action": "accept", "content": { "run": true } });
    for no in [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "accept", "content": { "run": false } }),
        json!({ "action": "accept", "content": {} }),
    ] {
        let state = asked(&mut peer, "you");
        let result = peer.ask("tools/call", again("you", &state, no.clone()));
        assert_eq!(result["isError"], true, "{no}: {result}");
        // Whoever said no is not overruled by the same question.
        assert_eq!(peer.refused("tools/call", again("you", &state, yes.clone())).0, -32602);
    }
    let state = asked(&mut peer, "you");
    // A state that is forged, of another call, or of another server.
    let other = asked(&mut peer, "others");
    let foreign = asked(
        &mut Peer::session(&sandbox, &["--scripts", "ask"], MODERN, json!({ "elicitation": {} })).0,
        "you",
    );
    let mut forged = state.clone();
    let last = if forged.ends_with('A') { "B" } else { "A" };
    forged.replace_range(forged.len() - 1.., last);
    for state in ["", "x", forged.as_str(), other.as_str(), foreign.as_str()] {
        let (code, message) = peer.refused("tools/call", again("you", state, yes.clone()));
        assert_eq!(code, -32602, "{state}: {message}");
    }
    assert_eq!(peer.refused("tools/call", again("all", &state, yes.clone())).0, -32602);
    let other_tool = json!({ "name": "hello__greet", "arguments": { "arguments": ["you"] }, "requestState": state, "inputResponses": { "consent": yes } });
    assert_eq!(peer.refused("tools/call", other_tool).0, -32602);
    assert!(!has_run(&sandbox));
    // An answer to a question that nobody asked is none, and without a state there is none.
    let unasked = json!({ "name": "run_skill_script", "arguments": greet("you"), "inputResponses": { "consent": yes } });
    let result = peer.ask("tools/call", unasked);
    assert!(result["isError"] == true || result["resultType"] == "input_required", "{result}");
    assert!(!has_run(&sandbox));
    let result = peer.ask("tools/call", again("you", &state, yes.clone()));
    assert_eq!((&result["isError"], text(&result)), (&json!(false), "Hello, you!\n"));
    assert!(has_run(&sandbox));
    // An answer counts once.
    std::fs::remove_file(sandbox.project().join("ran")).expect("removed");
    let (code, message) = peer.refused("tools/call", again("you", &state, yes.clone()));
    assert!(code == -32602 && message.contains("call again without an answer"), "{message}");
    assert!(!has_run(&sandbox));
    // A script that changed since the question is another one.
    let state = asked(&mut peer, "you");
    sandbox.write(&format!("{USER}/hello/scripts/greet.sh"), "touch changed\n");
    let result = peer.ask("tools/call", again("you", &state, yes));
    assert!(!sandbox.project().join("changed").exists(), "{result}");
    assert!(peer.end().success());
}

/// Scripts that run for long do not keep a client from reading: only some run at once, and the others wait.
#[test]
fn many_scripts_leave_room_for_reading() {
    const RUNNING: usize = 8;
    let sandbox = Sandbox::new();
    let text = "mkdir -p running\n: > running/$1\nls running | wc -l >> counts\nwhile [ ! -e go ]; do sleep 0.02; done\nrm running/$1\n";
    with_script(&sandbox, "slow", "wait", text);
    let mut peer = Peer::modern(&sandbox, &["--scripts", "allow"]);
    let call = |number: usize| json!({ "name": "run_skill_script", "arguments": { "name": "slow", "script": "wait", "arguments": { "arguments": [number.to_string()] } } });
    let ids: Vec<_> = (0..RUNNING + 4).map(|number| peer.send("tools/call", call(number))).collect();
    let counts = || std::fs::read_to_string(sandbox.project().join("counts")).unwrap_or_default();
    let began = Instant::now();
    while counts().lines().count() < RUNNING {
        assert!(began.elapsed() < TIME, "the scripts do not start: {}", counts());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(peer.names("prompts/list", "prompts"), ["slow"]);
    // One that waits can be cancelled.
    let cancelled = peer.send("tools/call", call(100));
    peer.notify("notifications/cancelled", json!({ "requestId": cancelled }));
    assert_eq!(peer.names("prompts/list", "prompts"), ["slow"]);
    sandbox.write("go", "");
    for id in ids {
        let answer = peer.answer(id);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let counts: Vec<usize> = counts().lines().map(|line| line.trim().parse().expect("a number")).collect();
    assert_eq!(counts.len(), RUNNING + 4, "{counts:?}");
    assert!(counts.iter().all(|count| *count <= RUNNING), "{counts:?}");
    assert!(peer.end().success());
}
