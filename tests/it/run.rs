//! Scripts, end to end. How they are limited and kept from things is proved in `engine/run`.
#![cfg(unix)]

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use skillpm_core::engine::run::Unwatched;
use skillpm_core::ops::run::RunRequest;
use skillpm_core::session::Session;
use skillpm_format::digest::Digest;
use skillpm_sources::context::Context;
use skillpm_sources::reporter::{Choice, Interact};
use skillpm_sources::settings::{Policies, Settings};

use crate::support::fields;
use crate::support::machine::Machine;
use crate::support::{Output, Sandbox};

/// A project with the skill `demo` installed, which has these scripts.
fn installed(scripts: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/demo/SKILL.md",
        "---\nname: demo\ndescription: Shows scripts. Use it in tests.\n---\n\n# Demo\n",
    );
    for (name, text) in scripts {
        sandbox.write(&format!("src/demo/scripts/{name}"), text);
    }
    let output = sandbox.run(&["install", "./src/demo"]);
    assert_eq!(output.code, Some(0), "{output}");
    sandbox
}

/// The program in a process where a shell did `first`.
fn behind(sandbox: &Sandbox, first: &str, args: &[&str]) -> Command {
    let inner = sandbox.command(args);
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(format!("{first}; exec \"$0\" \"$@\""));
    shell.arg(inner.get_program()).args(inner.get_args()).current_dir(sandbox.project()).env_clear();
    shell.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

/// What the caller has open leads past every sandbox, so a script gets none of it.
#[cfg(target_os = "linux")]
#[test]
fn what_the_caller_has_open_is_not_handed_on() {
    let sandbox = installed(&[("leak.sh", "cat <&9\necho changed >&8\nls /proc/self/fd | wc -l\n")]);
    sandbox.write("secret", "secret\n");
    sandbox.write("kept", "");
    for more in [&["--sandbox", "off"][..], &["--no-network"]] {
        let args = [&["run"], more, &["demo", "leak"]].concat();
        let mut shell = behind(&sandbox, "exec 9<secret 8>>kept", &args);
        let output = sandbox.output(shell.stdin(Stdio::null()));
        assert!(
            !output.stdout.contains("secret") && output.stderr.contains("ad file descriptor"),
            "{output}"
        );
        assert_eq!(sandbox.read("kept"), "", "{output}");
    }
}

/// In a container the session of skillpm may have begun outside: the system has no number for it there, and may tell
/// of processes by numbers that are not those inside.
#[cfg(target_os = "linux")]
#[test]
fn a_session_that_began_outside_of_a_container_is_none() {
    let sandbox = installed(&[("left.sh", "sleep 60 & setsid sleep 60 &\necho started\n")]);
    for more in ["", "--mount-proc"] {
        let inside = format!("unshare --user --map-root-user --pid --fork {more}");
        let possible = Command::new("/bin/sh").args(["-c", &format!("{inside} true")]).output();
        if !possible.is_ok_and(|tried| tried.status.success()) {
            eprintln!("`{inside}` is not possible here: processes in a container are not tested");
            continue;
        }
        let first = format!("exec {inside} \"$0\" \"$@\"");
        let output = sandbox.output(behind(&sandbox, &first, &["run", "demo", "left"]).stdin(Stdio::null()));
        assert_eq!((output.code, output.stdout.as_str()), (Some(0), "started\n"), "{output}");
        if !more.is_empty() {
            assert!(output.stderr.contains("2 processes"), "{output}");
        }
    }
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Output {
    sandbox.run(&[&["run"], args].concat())
}

/// S1-AC-3 and S1-AC-4 by the program: the output and the exit code are the script's.
#[test]
fn the_page() {
    let sandbox = installed(&[
        ("greet.sh", "echo \"Hello, $1!\"\n"),
        ("fail.sh", "echo 'no such table' >&2\nexit 42\n"),
        ("die.sh", "kill -KILL $$\n"),
    ]);
    for script in ["greet", "greet.sh", "scripts/greet.sh"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(run(&sandbox, &["demo", script, "World"]), @"
            exit: 0
            --- stdout
            Hello, World!
            ");
        }
    }
    insta::assert_snapshot!(run(&sandbox, &["demo", "fail"]), @"
    exit: 42
    --- stderr
    no such table
    ");
    insta::assert_snapshot!(run(&sandbox, &["demo", "die"]), @"
    exit: 137
    --- stderr
    error: `scripts/die.sh` of `demo` was killed by signal 9
    ");
    insta::assert_snapshot!(run(&sandbox, &["demo", "gret"]), @"
    exit: 2
    --- stderr
    error: the skill `demo` has no script `gret`
    hint: did you mean `greet.sh`?
    hint: in its `scripts/` are `die.sh`, `fail.sh`, `greet.sh`
    ");
    insta::assert_snapshot!(run(&sandbox, &["--env", "NOT_THERE", "demo", "greet"]), @"
    exit: 2
    --- stderr
    error: the variable `NOT_THERE` is not set
    hint: set it first, or give it a value with `--env NAME=VALUE`
    ");
}

/// Whoever starts the program may ignore the end of its children, which is inherited: how a script ended is told all
/// the same, and what it starts is not bothered by it.
#[test]
fn how_a_script_ended_is_heard_whatever_is_ignored() {
    let sandbox = installed(&[("end.sh", "echo said\nsh -c 'exit 5'\necho $?\nexit 3\n")]);
    let output = sandbox.output(&mut behind(&sandbox, "trap '' CHLD", &["run", "demo", "end"]));
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (Some(3), "said\n5\n", ""));
}

/// An empty variable counts as unset: the copy that a script runs from does not lie in the project.
#[test]
fn an_empty_place_for_temporary_files_is_none() {
    let mut sandbox = installed(&[("where.sh", "echo \"$HOME\"\n")]);
    sandbox.env("TMPDIR", "");
    let output = run(&sandbox, &["demo", "where"]);
    assert!(output.stdout.starts_with("/tmp/"), "{output}");
}

/// All of a run lies where temporary files are to lie.
#[test]
fn a_place_for_temporary_files_is_kept() {
    let mut sandbox = installed(&[("where.sh", "echo \"$SKILL_BASE_DIR\"; echo \"$HOME\"\n")]);
    let file = sandbox.write("temporary/file", "");
    sandbox.env("TMPDIR", file.parent().and_then(Path::to_str).expect("UTF-8"));
    let output = run(&sandbox, &["demo", "where"]);
    assert_eq!(output.stdout.lines().count(), 2, "{output}");
    for line in output.stdout.lines() {
        assert!(line.starts_with("[DIR]/project/temporary/"), "{output}");
    }
}

/// A name alone means what is in `scripts/`, in whatever order names are; `./` leads to what lies beside `SKILL.md`.
#[test]
fn a_name_alone_is_in_scripts() {
    let scripts =
        ["a.sh", "z.sh", "../a.sh", "../z.sh", "../m.sh"].map(|name| (name, format!("echo {name}\n")));
    let sandbox = installed(&scripts.each_ref().map(|(name, text)| (*name, text.as_str())));
    for (wanted, ran) in [
        ("a.sh", "a.sh"),
        ("z.sh", "z.sh"),
        ("./a.sh", "../a.sh"),
        ("./z.sh", "../z.sh"),
        ("m.sh", "../m.sh"),
    ] {
        assert_eq!(run(&sandbox, &["demo", wanted]).stdout, format!("{ran}\n"), "{wanted}");
    }
}

/// A value can be any bytes.
#[test]
fn variables_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt as _;

    let sandbox = installed(&[("show.sh", "printf %s \"$A\" | od -An -tx1\n")]);
    let mut command = sandbox.command(&["run", "--env"]);
    command.arg(std::ffi::OsStr::from_bytes(b"A=x=\xe9")).args(["demo", "show"]);
    let output = command.output().expect("starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "78 3d e9", "{output:?}");
}

/// S1-FR-205.2.
#[test]
fn what_takes_too_long_is_told() {
    let sandbox = installed(&[("hang.sh", "exec sleep 8101\n"), ("long.sh", "head -c 3000 /dev/zero\n")]);
    let output = run(&sandbox, &["--timeout", "0.2", "demo", "hang"]);
    assert!(output.code == Some(124) && output.stderr.contains("`--timeout`"), "{output}");
    let output = run(&sandbox, &["--error-format", "json", "--timeout", "0.2", "demo", "hang"]);
    let error: Value = serde_json::from_str(output.stderr.trim()).expect("one line of JSON");
    assert_eq!((output.code, error["exit_code"].as_u64()), (Some(124), Some(124)), "{output}");
    let output = run(&sandbox, &["--max-output", "1K", "demo", "long"]);
    assert_eq!((output.code, output.stdout.len()), (Some(0), 1024));
    assert!(output.stderr.contains("`--max-output 3000`"), "{output}");
}

/// Nothing runs that is not as the lockfile says, and nothing that a policy denies.
#[test]
fn only_what_is_locked_runs() {
    let sandbox = installed(&[("greet.sh", "echo good\n")]);
    sandbox.write(".agents/skills/demo/scripts/greet.sh", "echo EVIL\n");
    sandbox.fails(
        &["run", "demo", "greet"],
        5,
        "script-not-permitted",
        &[
            "scripts/greet.sh",
            ".agents/skills/demo",
            "skillpm diff demo",
            "skillpm install --force",
            "--allow-modified",
        ],
    );
    let output = run(&sandbox, &["--allow-modified", "demo", "greet"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "EVIL\n"), "{output}");
    assert_eq!(sandbox.run(&["install", "--force"]).code, Some(0));
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{manifest}\n[policy]\nscripts = \"deny\"\n"));
    let output = run(&sandbox, &["--allow-scripts", "demo", "greet"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(5), ""), "{output}");
}

/// What an edited skill of the user is compared with is not in the project.
#[test]
fn an_edited_skill_of_the_user_is_told_with_its_scope() {
    let sandbox = installed(&[("greet.sh", "echo good\n")]);
    sandbox.ok(&["install", "-g", "./src/demo"]);
    sandbox.ok(&["remove", "demo"]);
    let script = sandbox.home().join(".agents/skills/demo/scripts/greet.sh");
    std::fs::write(script, "echo EVIL\n").expect("written");
    let output = run(&sandbox, &["demo", "greet"]);
    let hint = "hint: `skillpm diff -g demo` shows what differs, `skillpm install -g --force` restores the locked files";
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stderr.contains(hint), "{output}");
}

/// A file that a sibling imports counts as much as the script.
#[test]
fn files_beside_the_script_are_checked_too() {
    let sandbox = installed(&[
        ("greet.sh", ". \"$SKILL_BASE_DIR/scripts/words\"\necho $WORD\n"),
        ("words", "WORD=good\n"),
    ]);
    assert_eq!(run(&sandbox, &["demo", "greet"]).stdout, "good\n");
    sandbox.write(".agents/skills/demo/scripts/words", "WORD=EVIL\n");
    assert_eq!(run(&sandbox, &["demo", "greet"]).code, Some(5));
}

/// S1-FR-205.3, conflict C20.
#[test]
fn links_and_set_id_files_are_refused() {
    let sandbox = installed(&[("real.sh", "echo x\n"), ("suid.sh", "echo x\n")]);
    let scripts = sandbox.project().join(".agents/skills/demo/scripts");
    std::fs::set_permissions(scripts.join("suid.sh"), std::fs::Permissions::from_mode(0o4755))
        .expect("chmod");
    std::os::unix::fs::symlink("real.sh", scripts.join("link.sh")).expect("links");
    sandbox.fails(&["run", "--allow-modified", "demo", "suid"], 5, "integrity", &["scripts/suid.sh"]);
    sandbox.fails(&["run", "--allow-modified", "demo", "link.sh"], 5, "integrity", &["scripts/link.sh"]);
    std::fs::set_permissions(scripts.join("suid.sh"), std::fs::Permissions::from_mode(0o2755))
        .expect("chmod");
    assert_eq!(run(&sandbox, &["--allow-modified", "demo", "suid"]).code, Some(5));
    std::fs::set_permissions(scripts.join("suid.sh"), std::fs::Permissions::from_mode(0o755)).expect("chmod");
    std::fs::remove_file(scripts.join("link.sh")).expect("removes");
    assert_eq!(run(&sandbox, &["--allow-modified", "demo", "suid"]).code, Some(0));
    let log: Value =
        serde_json::from_str(&sandbox.run(&["audit", "--json", "--event", "refused"]).stdout).expect("JSON");
    let refused: Vec<_> = log["records"].as_array().expect("a list").iter().collect();
    assert_eq!(refused.len(), 3, "{log}");
    assert_eq!(refused[0]["reason"], "`scripts/suid.sh` is not run: it is setuid or setgid");
    assert!(refused[2]["source"].is_string() && refused[2]["session"].is_string(), "{log}");
}

#[test]
fn what_happened_is_told_as_json() {
    let sandbox = installed(&[("mixed.sh", "cat; printf 'out\\377'; echo err >&2; exit 5\n")]);
    let output = run(&sandbox, &["--json", "--cwd", "skill", "--no-network", "demo", "mixed"]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(5), ""));
    let report = output.json();
    assert_eq!(report["sandbox"]["network"], Value::Bool(!cfg!(target_os = "linux")));
    let told = fields(
        &report,
        ": skill script source status exit_code signal leftovers; stdout: bytes cut text; stderr: bytes cut text",
    );
    let expected =
        ["demo scripts/mixed.sh path:./src/demo exited 5 - 0", "4 false out\u{fffd}", "4 false err\n"];
    assert_eq!(told, expected);
    assert!(report["digest"].is_string() && report["duration_ms"].is_u64(), "{report}");
    assert!(report["interpreter"].is_string(), "{report}");
}

/// Standard input is the caller's where it is asked for.
#[test]
fn standard_input_is_read_where_it_is_asked_for() {
    let sandbox = installed(&[("cat.sh", "cat\n")]);
    let file = sandbox.write("form.json", "{\"a\": 1}");
    for (flag, expected) in [(None, ""), (Some("--stdin"), "{\"a\": 1}")] {
        let args: Vec<_> = ["run"].into_iter().chain(flag).chain(["demo", "cat"]).collect();
        let mut command = sandbox.command(&args);
        command.stdin(std::fs::File::open(&file).expect("opens"));
        assert_eq!(sandbox.output(&mut command).stdout, expected);
    }
}

/// 300 MB pass through little memory.
#[test]
fn memory_is_bounded_whatever_is_printed() {
    let sandbox = installed(&[("flood.sh", "head -c 300000000 /dev/zero\n")]);
    let machine = Machine { memory: 40, ..Machine::USUAL };
    let output = machine.run(&sandbox, &["run", "--max-output", "1000", "demo", "flood"]);
    assert_eq!((output.code, output.stdout.len()), (Some(0), 1000), "{}", output.stderr);
    assert!(output.stderr.contains("1000 of 300000000 bytes"), "{}", output.stderr);
}

/// Ctrl-C ends the script with skillpm, although it is in a group of its own; so does a terminal that closes. The
/// run is a line of the audit log then, too.
#[test]
fn a_signal_ends_the_script_too() {
    let sandbox = installed(&[("hang.sh", "echo started\nsleep 8202\n")]);
    let log = sandbox.home().join(".local/state/skillpm/audit.jsonl");
    let lines = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    // Elsewhere nobody can tell whether it is ignored. Whoever runs the tests under `nohup` has it ignored here too.
    let hang_up = (cfg!(target_os = "linux") && !ignores_hang_up()).then_some(Signal::HUP);
    for signal in [Signal::INT, Signal::TERM].into_iter().chain(hang_up) {
        let before = lines();
        let mut command = sandbox.command(&["run", "demo", "hang"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        let mut started = [0; 8];
        child.stdout.as_mut().expect("piped").read_exact(&mut started).expect("says so");
        kill_process(Pid::from_child(&child), signal).expect("signals");
        assert_eq!(child.wait().expect("ends").signal(), Some(signal.as_raw()));
        assert!(!is_running("sleep\08202"), "{signal:?}");
        assert_eq!(lines(), before + 1, "{signal:?}");
    }
}

fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    mask.trim().ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f'])
}

/// Under `nohup` a terminal may close: the script goes on.
#[test]
fn an_ignored_hang_up_ends_nothing() {
    let sandbox = installed(&[("wait.sh", "echo started\ncat\n")]);
    let mut command = behind(&sandbox, "trap '' HUP", &["run", "--stdin", "demo", "wait"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("starts");
    let mut started = [0; 8];
    child.stdout.as_mut().expect("piped").read_exact(&mut started).expect("says so");
    kill_process(Pid::from_child(&child), Signal::HUP).expect("signals");
    child.stdin.take().expect("piped").write_all(b"went on\n").expect("takes it");
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), output.stdout), (Some(0), b"went on\n".to_vec()));
}

/// Who reads no more has had enough: the script is ended.
#[test]
fn a_closed_pipe_ends_the_script() {
    let sandbox = installed(&[("yes.sh", "exec yes 8303\n")]);
    let mut command = sandbox.command(&["run", "--max-output", "100G", "demo", "yes"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut some = [0; 5];
    child.stdout.as_mut().expect("piped").read_exact(&mut some).expect("reads");
    drop(child.stdout.take());
    // As with every other program, and without a word.
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(141), ""));
    assert!(!is_running("yes\08303"));
}

/// Whether there is a process with these arguments.
fn is_running(arguments: &str) -> bool {
    let Ok(processes) = std::fs::read_dir(Path::new("/proc")) else { return false };
    processes.flatten().any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(arguments)
    })
}

/// A skill without a script is half a sentence: the other half is one of its scripts.
#[test]
fn a_script_that_is_not_named() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".agents/skills/demo/SKILL.md",
        "---\nname: demo\ndescription: Shows. Use it in tests.\n---\n",
    );
    sandbox.write(".agents/skills/demo/scripts/greet.sh", "echo hello\n");
    let output = sandbox.run(&["run", "demo"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert_eq!(output.stderr, "error: name a script\nhint: `demo` has `greet.sh`\n");
    let output = sandbox.run(&["run"]);
    assert!(output.stderr.starts_with("error: the name of a skill is required\n"), "{output}");
    let output = sandbox.run(&["run", "--memory", "10", "demo", "greet"]);
    assert!(output.code == Some(2) && output.stderr.contains("`10M` is one of MiB"), "{output}");
}

/// Agrees to the files of a skill, and changes its script before that.
struct Swaps {
    script: PathBuf,
    files: Digest,
}

impl Interact for Swaps {
    fn choose(&self, _question: &str, _items: &[Choice]) -> Option<Vec<usize>> {
        None
    }

    fn confirm_run(&self, _question: &str, files: &Digest) -> Option<bool> {
        std::fs::write(&self.script, "echo swapped\n").expect("writes");
        Some(*files == self.files)
    }
}

/// The files to which somebody agrees are the ones that run, even if they change meanwhile.
#[test]
fn what_somebody_agrees_to_runs() {
    let sandbox = installed(&[("greet.sh", "echo hello\n")]);
    let lock = sandbox.read("skillpm.lock");
    let digest = lock.lines().find_map(|line| line.strip_prefix("digest = ")).expect("a digest");
    let digest = digest.trim_matches('"').parse().expect("a digest");
    let machine = Some(sandbox.write("etc/machine.toml", "scripts = \"ask\"\n"));
    let settings = Settings { policies: Policies { machine, named: None }, ..sandbox.settings() };
    let script = sandbox.project().join(".agents/skills/demo/scripts/greet.sh");
    let run = |files: Digest| {
        std::fs::write(&script, "echo hello\n").expect("writes");
        let interact = Arc::new(Swaps { script: script.clone(), files });
        let context = Context { interact, ..Context::silent(settings.clone()) };
        let session = Session::of_person(&context).expect("opens");
        session
            .run(&RunRequest::new("demo", "greet"), &mut Unwatched)
            .map(|outcome| outcome.ran.stdout.text())
    };
    assert_eq!(run(digest).expect("runs"), "hello\n");
    assert!(run(Digest::of(b"other files")).is_err());
}
