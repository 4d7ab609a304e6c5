//! Questions, answered on a real terminal.

#![cfg(unix)]

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Child;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::registries::RegistryFiles;
use crate::support::{Forge, Sandbox, Tree};

/// A program that runs on a terminal of its own.
pub(crate) struct Terminal {
    keys: File,
    child: Child,
    seen: String,
}

impl Terminal {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        Self::of(sandbox.command(args))
    }

    /// As [`Self::start`], as the one program in front of a terminal, which stops others that read from it.
    fn in_front(sandbox: &Sandbox, args: &[&str]) -> Self {
        let inner = sandbox.command(args);
        let mut command = std::process::Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(inner.get_program()).args(inner.get_args());
        command.current_dir(sandbox.project()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Self::of(command)
    }

    /// As [`Self::start`], on a terminal of so many columns.
    pub(crate) fn of_width(columns: u16, sandbox: &Sandbox, args: &[&str]) -> Self {
        Self::with(sandbox.command(args), Some(columns))
    }

    fn of(command: std::process::Command) -> Self {
        Self::with(command, None)
    }

    fn with(mut command: std::process::Command, columns: Option<u16>) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&keys).expect("a terminal");
        unlockpt(&keys).expect("a terminal");
        if let Some(ws_col) = columns {
            let size = Winsize { ws_row: 24, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
            tcsetwinsize(&keys, size).expect("a size");
        }
        let name = ptsname(&keys, Vec::new()).expect("a name");
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())).to_owned();
        let side = || OpenOptions::new().read(true).write(true).open(&path).expect("the other side");
        command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().expect("starts");
        Self { keys: keys.into(), child, seen: String::new() }
    }

    /// Reads until the program shows `text`.
    fn wait_for(&mut self, text: &str) {
        self.wait_after("", text);
    }

    /// Reads until the program shows `text` behind the first `mark`.
    fn wait_after(&mut self, mark: &str, text: &str) {
        let mut bytes = [0; 4096];
        let shown = |seen: &str| seen.split_once(mark).is_some_and(|(_, rest)| rest.contains(text));
        while !shown(&self.seen) {
            let count = self.keys.read(&mut bytes).unwrap_or(0);
            assert_ne!(count, 0, "the program ended before it showed `{text}`:\n{}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("keys");
    }

    /// Reads to the end and returns the exit code.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut bytes = [0; 4096];
        // A terminal whose other side is closed answers with an error in place of an end.
        while let Ok(count @ 1..) = self.keys.read(&mut bytes) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        (self.child.wait().expect("ends").code(), self.seen)
    }
}

/// A script is in a group of its own, and yet what is typed reaches it.
#[cfg(target_os = "linux")]
#[test]
fn what_is_typed_reaches_a_script() {
    let sandbox = Sandbox::new();
    sandbox.write("src/demo/SKILL.md", "---\nname: demo\ndescription: Asks. Use it in tests.\n---\n");
    sandbox.write("src/demo/scripts/ask.sh", "echo ready\nread answer\necho \"got $answer\"\n");
    assert_eq!(sandbox.run(&["install", "./src/demo"]).code, Some(0));
    let mut terminal = Terminal::in_front(&sandbox, &["run", "--stdin", "--timeout", "20", "demo", "ask"]);
    terminal.wait_for("ready");
    terminal.press("yes\r");
    terminal.wait_for("got yes");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
}

fn two_skills() -> (Forge, Sandbox) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&Tree::new().skill("skills/docx", "docx").skill("skills/pdf", "pdf"));
    (forge, sandbox)
}

/// S4-23: several skills and none named: a person picks.
#[test]
fn a_person_picks_from_several_skills() {
    let (_forge, sandbox) = two_skills();
    let mut terminal = Terminal::start(&sandbox, &["install", "acme/skills"]);
    terminal.wait_for("which skills");
    terminal.wait_for("pdf");
    // Down to the second, mark it, done.
    terminal.wait_for("type to filter");
    terminal.press("\u{1b}[B \r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(sandbox.project().join(".agents/skills/pdf").exists(), "{seen}");
    assert!(!sandbox.project().join(".agents/skills/docx").exists(), "{seen}");
}

#[test]
fn a_person_who_picks_nothing_gets_nothing() {
    let (_forge, sandbox) = two_skills();
    let mut terminal = Terminal::start(&sandbox, &["install", "acme/skills"]);
    terminal.wait_for("which skills");
    terminal.press("\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(2), "{seen}");
    assert!(seen.contains("no skill was chosen"), "{seen}");
    assert!(sandbox.tree(&sandbox.project()).is_empty());
}

/// On a terminal a download shows how far it is; elsewhere it is silent.
#[test]
fn a_download_shows_its_progress_on_a_terminal_only() {
    let (_forge, sandbox) = two_skills();
    let (code, seen) = Terminal::start(&sandbox, &["install", "acme/skills@pdf"]).end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("acme/skills [") && seen.contains("B/s"), "{seen:?}");
    let (_forge, sandbox) = two_skills();
    let (_, seen) = Terminal::of_width(40, &sandbox, &["install", "acme/skills@pdf"]).end();
    let bar = seen.split(['\r', '\n']).find(|line| line.contains("acme/skills ")).expect("a bar");
    assert!(dialoguer::console::measure_text_width(bar) <= 40, "{bar:?}");
    let (_forge, sandbox) = two_skills();
    let output = sandbox.run(&["install", "acme/skills@pdf"]);
    assert!(!output.stderr.contains('\r') && !output.stderr.contains("B/s"), "{output}");
}

#[test]
fn a_person_is_asked_what_a_new_skill_is() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::start(&sandbox, &["create"]);
    terminal.wait_for("name of the skill");
    terminal.press("log-reader\r");
    terminal.wait_for("what it does");
    terminal.press("Reads logs: all of them. Use when logs are long.\r");
    terminal.wait_for("author");
    terminal.press("\r");
    terminal.wait_for("license");
    terminal.press("MIT\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    let text = sandbox.read("log-reader/SKILL.md");
    let head = "---\nname: log-reader\ndescription: \"Reads logs: all of them. Use when logs are long.\"\n\
        license: MIT\nmetadata:\n  version: 0.1.0\n---\n";
    assert!(text.starts_with(head), "{text}");
}

/// An answer that makes no skill to be published gets its reason, and the question comes again.
#[test]
fn a_person_is_asked_again_with_the_reason() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::start(&sandbox, &["create", "Log Reader", "--license", "MIT"]);
    terminal.wait_after("the name `Log Reader` has", "name of the skill");
    // The proposal is taken.
    terminal.press("\r");
    terminal.wait_for("what it does");
    terminal.press("[TODO: say it]\r");
    terminal.wait_after("template text is left", "what it does");
    terminal.press("Reads logs. Use when logs are long.\r");
    terminal.wait_for("author");
    terminal.press("\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    let text = sandbox.read("log-reader/SKILL.md");
    assert!(text.contains("\ndescription: Reads logs. Use when logs are long.\nlicense: MIT\n"), "{text}");
}

#[test]
fn yes_asks_nothing() {
    let sandbox = Sandbox::new();
    let terminal = Terminal::start(&sandbox, &["create", "log-reader", "--yes"]);
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains("what it does"), "{seen}");
}

/// Issue 5: on a terminal an update is shown and asked about; who agrees has seen the new capabilities.
#[test]
fn a_person_agrees_to_an_update_or_not() {
    let (forge, sandbox) = two_skills();
    assert_eq!(sandbox.run(&["install", "acme/skills", "-s", "*"]).code, Some(0));
    let text = "---\nname: pdf\ndescription: Does what pdf does.\n---\n\n`curl https://a.test`\n";
    let tree = Tree::new().skill("skills/docx", "docx").file("skills/pdf/SKILL.md", text);
    forge.repo("acme/skills").commit(&tree);
    let before = sandbox.read("skillpm.lock");
    for (key, code) in [("n", 1), ("\u{1b}", 1), ("y", 0)] {
        assert_eq!(sandbox.read("skillpm.lock"), before);
        let mut terminal = Terminal::start(&sandbox, &["update"]);
        terminal.wait_for("curl https://a.test");
        terminal.wait_for("update this skill?");
        terminal.press(key);
        let (ended, seen) = terminal.end();
        assert_eq!(ended, Some(code), "{seen}");
        assert_eq!(seen.contains("the answer was no"), code == 1, "{seen}");
    }
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), text);
    // Nobody is asked where there is nothing new.
    let (ended, seen) = Terminal::start(&sandbox, &["update"]).end();
    assert_eq!((ended, seen.contains('?')), (Some(0), false), "{seen}");
}

/// On a terminal an installation that replaces a version is shown and asked about, as an update is; another run need
/// not wait for the answer.
#[test]
fn a_person_agrees_to_an_installation_or_not() {
    let (forge, sandbox) = two_skills();
    sandbox.ok(&["install", "acme/skills", "-s", "*"]);
    let text = "---\nname: pdf\ndescription: Does what pdf does.\n---\n\n`curl https://a.test`\n";
    let tree = Tree::new().skill("skills/docx", "docx").file("skills/pdf/SKILL.md", text);
    forge.repo("acme/skills").commit(&tree);
    std::fs::remove_file(sandbox.project().join("skillpm.lock")).expect("removes");
    for (args, keys) in [
        (&["install", "acme/skills@pdf"][..], &[("n", 1), ("\u{1b}", 1)][..]),
        (&["install"], &[("n", 1), ("y", 0)]),
    ] {
        for (key, code) in keys {
            let mut terminal = Terminal::start(&sandbox, args);
            terminal.wait_for("curl https://a.test");
            terminal.wait_for("install this version?");
            terminal.press(key);
            let (ended, seen) = terminal.end();
            assert_eq!(ended, Some(*code), "{seen}");
            assert_eq!(seen.contains("the answer was no"), *code == 1, "{seen}");
            assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md") == text, *code == 0, "{seen}");
        }
    }
    // Who says yes to everything else does not say yes to this.
    forge.repo("acme/skills").commit(&tree.file("skills/pdf/a.sh", "nc a.test 9\n"));
    let (ended, seen) = Terminal::start(&sandbox, &["install", "acme/skills@pdf", "-y"]).end();
    assert_eq!((ended, seen.contains('?')), (Some(1), false), "{seen}");
    // What changes meanwhile is not overwritten.
    let mut terminal = Terminal::start(&sandbox, &["install", "acme/skills@pdf"]);
    terminal.wait_for("install this version?");
    sandbox.ok(&["disable", "docx"]);
    terminal.press("y");
    let (ended, seen) = terminal.end();
    assert_eq!(ended, Some(1), "{seen}");
    assert!(seen.contains("changed while you were asked"), "{seen}");
}

/// No line is wider than the terminal, so that none of them wraps in the middle of a word; a pipe gets everything.
#[test]
fn tables_fit_the_terminal() {
    let (_forge, sandbox) = two_skills();
    assert_eq!(
        sandbox.run(&["install", "acme/skills", "-s", "*", "-a", "claude-code", "-a", "junie"]).code,
        Some(0)
    );
    sandbox.write(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Edited.\n---\n");
    for args in
        [&["list"][..], &["agents", "--all"], &["cache", "dir"], &["explain"], &["show", "pdf"], &["--help"]]
    {
        for columns in [40, 80] {
            let (code, seen) = Terminal::of_width(columns, &sandbox, args).end();
            assert_eq!(code, Some(0), "{seen}");
            let is_page = args[0] == "show";
            for line in seen.lines().skip_while(|line| is_page && !line.contains("SKILL.md")) {
                let width = dialoguer::console::measure_text_width(line.trim_end());
                // An address is one word, and a terminal wraps what is said beside the data.
                let is_whole = line.contains("https://") || line.contains("hint:");
                assert!(width <= usize::from(columns) || is_whole, "{args:?} {columns}: {line}");
            }
        }
    }
    let (_, seen) = Terminal::of_width(80, &sandbox, &["list"]).end();
    assert!(seen.contains("\u{1b}[1mname\u{1b}[0m") && seen.contains("\u{1b}[32mok"), "{seen:?}");
    let (_, seen) = Terminal::of_width(40, &sandbox, &["--color", "never", "nope"]).end();
    assert!(seen.starts_with("error: there is no command `nope`"), "{seen:?}");
    let piped = sandbox.run(&["list"]).stdout;
    assert!(!piped.contains('…') && !piped.contains('\u{1b}'), "{piped}");
}

/// Messages are broken at blanks on a terminal, and not in a pipe.
#[test]
fn messages_fit_the_terminal() {
    let (_forge, mut sandbox) = two_skills();
    sandbox.ok(&["install", "acme/skills", "-s", "*"]);
    sandbox.write(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Edited.\n---\n");
    let lines: [&[&str]; 7] = [
        &["nope"],
        &["install", "no-source"],
        &["remove", "nothing-like-that"],
        &["explain", "name-length"],
        &["doctor"],
        &["list"],
        &["invoke", "nothing"],
    ];
    for colour in [true, false] {
        if !colour {
            sandbox.env("NO_COLOR", "1");
        }
        for args in lines {
            let piped = sandbox.run(args);
            for columns in [40, 80] {
                let (_, seen) = Terminal::of_width(columns, &sandbox, args).end();
                assert!(colour || !seen.contains('\u{1b}'), "{seen:?}");
                let seen = dialoguer::console::strip_ansi_codes(&seen).into_owned();
                for line in seen.lines().map(str::trim_end) {
                    let is_word = !line.trim().contains(' ');
                    let width = dialoguer::console::measure_text_width(line);
                    assert!(width <= usize::from(columns) || is_word, "{args:?} {columns}: {line}");
                }
                let words =
                    |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
                for message in piped.stderr.lines() {
                    assert!(words(&seen).contains(&words(message)), "{args:?} {columns}: {message}: {seen}");
                }
            }
        }
    }
}

/// A hint after a success comes three times on terminals; one of an error always.
#[test]
fn hints_after_a_success_come_to_an_end() {
    let has = |sandbox: &Sandbox, args: &[&str]| {
        let (_, seen) = Terminal::of_width(80, sandbox, args).end();
        seen.contains("hint:")
    };
    let mut sandbox = Sandbox::new();
    let shown: Vec<bool> = (0..5).map(|_| has(&sandbox, &["explain"])).collect();
    assert_eq!(shown, [true, true, true, false, false]);
    assert!((0..5).all(|_| has(&sandbox, &["nope"])), "an error");
    assert!(has(&sandbox, &["create", "--list-templates"]), "another one");
    assert!(!has(&sandbox, &["--quiet", "create", "--list-templates"]));
    assert!(sandbox.run(&["explain"]).stderr.contains("hint:"), "a pipe");
    sandbox.env("CI", "1");
    assert!(has(&sandbox, &["explain"]), "a log");
    sandbox.env("CI", "");
    let file = sandbox.home().join(".local/state/skillpm/hints.json");
    let counts = std::fs::read_to_string(&file).expect("numbers");
    assert_eq!(counts.matches(": 3").count(), 1, "{counts}");
    for (wanted, expected) in [("always", true), ("never", false), ("first", false)] {
        let text = format!("[hints]\nshow = \"{wanted}\"\n");
        let dir = sandbox.home().join(".config/skillpm");
        std::fs::create_dir_all(&dir).expect("a directory");
        std::fs::write(dir.join("skillpm.toml"), text).expect("writes");
        assert_eq!(has(&sandbox, &["explain"]), expected, "{wanted}");
    }
    // What cannot be counted is shown.
    std::fs::remove_dir_all(file.parent().expect("a directory")).expect("removed");
    std::fs::write(file.parent().expect("a directory"), "").expect("writes");
    assert!((0..5).all(|_| has(&sandbox, &["explain"])));
}

/// On a terminal `remove --all` asks, unless it is told not to.
#[test]
fn a_person_is_asked_before_everything_goes() {
    let (_forge, sandbox) = two_skills();
    sandbox.ok(&["install", "acme/skills", "-s", "*"]);
    for args in [&["remove", "--all"][..], &["remove", "*"], &["remove", "-s", "*"]] {
        let mut terminal = Terminal::start(&sandbox, args);
        terminal.wait_for("do you want to remove all 2 skills in this project?");
        terminal.press("n");
        let (code, seen) = terminal.end();
        assert_eq!(code, Some(1), "{seen}");
        assert!(sandbox.project().join(".agents/skills/pdf").exists(), "{seen}");
    }
    let (code, seen) = Terminal::start(&sandbox, &["remove", "--all", "-y"]).end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(!sandbox.project().join(".agents/skills").exists(), "{seen}");
}

/// Typing filters, what is installed is marked, and the answer stays on the screen; all at 40 columns.
#[test]
fn a_person_filters_what_is_picked() {
    let (_forge, sandbox) = two_skills();
    assert_eq!(sandbox.run(&["install", "acme/skills@docx"]).code, Some(0));
    let mut terminal = Terminal::of_width(40, &sandbox, &["install", "acme/skills"]);
    terminal.wait_for("(installed)");
    terminal.press("pdf");
    terminal.wait_for("filter: pdf");
    terminal.press(" ");
    terminal.wait_for("(1 of 2 picked)");
    terminal.press("\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("which skills do you want to install? \u{1b}[32mpdf"), "{seen}");
    assert!(sandbox.project().join(".agents/skills/pdf").exists(), "{seen}");
}

/// `remove` without a name lets a person pick; with nobody there it says what to type.
#[test]
fn a_person_picks_what_goes() {
    let (_forge, sandbox) = two_skills();
    assert_eq!(sandbox.run(&["install", "acme/skills", "-s", "*"]).code, Some(0));
    let mut terminal = Terminal::start(&sandbox, &["remove"]);
    terminal.wait_for("which skills do you want to remove?");
    terminal.wait_for("pdf");
    terminal.press("\u{1b}[B \r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(!sandbox.project().join(".agents/skills/pdf").exists(), "{seen}");
    assert!(sandbox.project().join(".agents/skills/docx").exists(), "{seen}");
    let mut terminal = Terminal::start(&sandbox, &["remove"]);
    terminal.wait_for("docx");
    terminal.press("\u{1b}");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    let output = sandbox.run(&["remove"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("`skillpm remove '*'` removes all of it"), "{output}");
    sandbox.ok(&["remove", "*"]);
    assert!(!sandbox.project().join(".agents/skills").exists());
    assert_eq!(
        sandbox.run(&["remove", "*"]).code,
        Some(0),
        "nothing is left, and that is what was asked for"
    );
}

/// Of an update of several skills a person picks; what could do more is not picked beforehand.
#[test]
fn a_person_picks_what_is_updated() {
    let (forge, sandbox) = two_skills();
    assert_eq!(sandbox.run(&["install", "acme/skills", "-s", "*"]).code, Some(0));
    let text = |name: &str, line: &str| {
        format!("---\nname: {name}\ndescription: Does what {name} does.\n---\n\n{line}\n")
    };
    let tree = Tree::new()
        .file("skills/docx/SKILL.md", text("docx", "new"))
        .file("skills/pdf/SKILL.md", text("pdf", "`curl https://a.test`"));
    forge.repo("acme/skills").commit(&tree);
    let mut terminal = Terminal::start(&sandbox, &["update"]);
    terminal.wait_for("which skills do you want to update? (1 of 2 picked)");
    terminal.wait_for("new capabilit");
    terminal.press("\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(sandbox.read(".agents/skills/docx/SKILL.md").contains("new"), "{seen}");
    assert!(!sandbox.read(".agents/skills/pdf/SKILL.md").contains("curl"), "{seen}");
}

/// What would conflict with edits is not picked beforehand, and says so.
#[test]
fn a_person_is_not_led_into_a_conflict() {
    let (forge, sandbox) = two_skills();
    assert_eq!(sandbox.run(&["install", "acme/skills", "-s", "*"]).code, Some(0));
    let text = |name: &str, line: &str| format!("---\nname: {name}\ndescription: Does {line}.\n---\n");
    sandbox.write(".agents/skills/pdf/SKILL.md", text("pdf", "what I want"));
    let tree = Tree::new()
        .file("skills/docx/SKILL.md", text("docx", "more"))
        .file("skills/pdf/SKILL.md", text("pdf", "more"));
    forge.repo("acme/skills").commit(&tree);
    let mut terminal = Terminal::start(&sandbox, &["update"]);
    terminal.wait_for("which skills do you want to update? (1 of 2 picked)");
    terminal.wait_for("conflicts with your edits");
    terminal.press("\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(sandbox.read(".agents/skills/docx/SKILL.md").contains("more"), "{seen}");
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), text("pdf", "what I want"));
}

/// Ctrl-C at a question changes nothing, and says so.
#[test]
fn ctrl_c_at_a_question_is_no_answer() {
    use std::os::unix::process::ExitStatusExt as _;
    let (_forge, sandbox) = two_skills();
    let mut terminal = Terminal::in_front(&sandbox, &["install", "acme/skills"]);
    terminal.wait_for("type to filter");
    terminal.press("\u{3}");
    let Terminal { mut keys, mut child, mut seen } = terminal;
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = keys.read(&mut bytes) {
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    let status = child.wait().expect("ends");
    assert!(status.code() == Some(130) || status.signal() == Some(2), "{status}: {seen}");
    assert!(seen.contains("interrupted; nothing was changed"), "{seen}");
    assert!(sandbox.tree(&sandbox.project()).is_empty());
}

/// The first installation asks which agents a person uses, if there are several, and remembers it.
#[test]
fn a_person_says_once_which_agents_they_use() {
    let (_forge, sandbox) = two_skills();
    for dir in [".claude", ".cursor", ".codeium/windsurf"] {
        std::fs::create_dir_all(sandbox.home().join(dir)).expect("a directory");
    }
    let install = ["install", "acme/skills", "--skill", "pdf"];
    let mut terminal = Terminal::start(&sandbox, &install);
    terminal.wait_for("which agents do you use? (3 of 3 picked)");
    terminal.press("windsurf \r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("you use claude-code and cursor: remembered for all your projects"), "{seen}");
    let own = sandbox.read("../home/.config/skillpm/skillpm.toml");
    assert_eq!(own, "[agents]\nuse = [\"claude-code\", \"cursor\"]\n");
    assert!(!sandbox.read("skillpm.toml").contains("targets"));
    assert!(sandbox.project().join(".claude/skills/pdf").exists());
    assert!(!sandbox.project().join(".windsurf").exists());
    sandbox.ok(&["remove", "pdf"]);
    let (code, seen) = Terminal::start(&sandbox, &install).end();
    assert!(code == Some(0) && !seen.contains("which agents"), "{seen}");
    // None is no answer.
    sandbox.ok(&["remove", "pdf"]);
    sandbox.ok(&["agents", "use", "--forget"]);
    let mut terminal = Terminal::start(&sandbox, &install);
    terminal.wait_for("which agents do you use?");
    terminal.press("\u{1b}[D\r");
    let (code, seen) = terminal.end();
    assert!(code == Some(2) && seen.contains("no agent was chosen"), "{seen}");
    assert!(!sandbox.project().join(".agents/skills/pdf").exists());
}

/// Without a terminal `search` shows a table; with one a person picks and has the skill.
#[test]
fn a_person_installs_what_a_search_found() {
    let sandbox = Sandbox::new();
    RegistryFiles::default()
        .add("pdf", "1.0.0", "")
        .add("pdf-forms", "1.0.0", "")
        .write(&sandbox, "../registry");
    sandbox.write("skillpm.toml", "[registries]\ndefault = \"../registry\"\n");
    let mut terminal = Terminal::start(&sandbox, &["search", "pdf"]);
    terminal.wait_for("which skills");
    terminal.wait_for("pdf-forms");
    terminal.press("\u{1b}[B \r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(sandbox.project().join(".agents/skills/pdf-forms").exists(), "{seen}");
    assert!(!sandbox.project().join(".agents/skills/pdf").exists(), "{seen}");
    // Who picks nothing gets the table.
    let mut terminal = Terminal::start(&sandbox, &["search", "pdf"]);
    terminal.wait_for("which skills");
    terminal.press("\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("skillpm install pdf"), "{seen}");
}

/// skills.sh is a stranger: it is asked only if the person agrees.
#[test]
fn a_person_is_asked_before_a_public_site_is() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.env("SKILLS_API_URL", &forge.api_url());
    let mut terminal = Terminal::start(&sandbox, &["search", "pdf"]);
    terminal.wait_for("skills.sh");
    terminal.press("n");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(2), "{seen}");
    assert!(forge.requests().is_empty());
    // The answer is kept, and is asked for no more.
    let kept = sandbox.home().join(".config/skillpm/skillpm.toml");
    assert_eq!(std::fs::read_to_string(&kept).expect("is kept"), "[search]\nskills-sh = false\n");
    let (code, seen) = Terminal::start(&sandbox, &["search", "pdf"]).end();
    assert_eq!(code, Some(2), "{seen}");
    assert!(!seen.contains("asked once"), "{seen}");
}

/// A token that somebody types is kept and never shown.
#[test]
fn a_token_is_typed_unseen() {
    let sandbox = Sandbox::new();
    let mut terminal = Terminal::start(&sandbox, &["registry", "login", "https://skills.example.com"]);
    terminal.wait_for("token for skills.example.com");
    // The question is shown just before the terminal stops to show what is typed.
    std::thread::sleep(std::time::Duration::from_millis(500));
    terminal.press("hunter2\r");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains("hunter2"), "{seen}");
    let kept = std::fs::read_to_string(sandbox.home().join(".config/skillpm/credentials.toml"));
    assert!(kept.expect("a file").contains("hunter2"));
}

/// Each file is named before the question, and no key is shown.
#[test]
fn a_person_is_asked_before_a_key_goes_out() {
    let sandbox = Sandbox::new();
    let key = "npm_q7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQo";
    sandbox.write(
        "pdf/SKILL.md",
        format!(
            "---\nname: pdf\ndescription: Reads PDF files. Use it for PDF files.\nlicense: MIT\nmetadata:\n  version: 1.0.0\n---\nSet `{key}`.\n"
        ),
    );
    sandbox.ok(&["registry", "init", "site", "--name", "acme"]);
    let published = sandbox.project().join("site/index/pdf.json");
    for (answer, code) in [("n", 1), ("y", 0)] {
        let mut terminal = Terminal::start(&sandbox, &["publish", "pdf", "--to", "site"]);
        terminal.wait_for("is `pdf` to be published with them?");
        assert!(terminal.seen.contains("SKILL.md:8"), "{}", terminal.seen);
        assert!(!published.exists());
        terminal.press(answer);
        let (ended, seen) = terminal.end();
        assert_eq!(ended, Some(code), "{seen}");
        assert!(!seen.contains(key), "{seen}");
        assert_eq!(published.exists(), code == 0);
    }
}

/// The change is shown before the question; a no leaves the file as it is.
#[test]
fn the_configuration_of_a_client_is_changed_after_a_yes() {
    let sandbox = Sandbox::new();
    let file = sandbox.home().join(".cursor/mcp.json");
    std::fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
    std::fs::write(&file, "{}\n").expect("writes");
    for (answer, code) in [("n", 1), ("y", 0)] {
        let mut terminal = Terminal::start(&sandbox, &["mcp", "install"]);
        terminal.wait_for("which clients do you want to set up?");
        terminal.press(" \r");
        terminal.wait_for("make this change?");
        assert!(terminal.seen.contains("+    \"skillpm\": {"), "{}", terminal.seen);
        terminal.press(answer);
        let (ended, seen) = terminal.end();
        assert_eq!(ended, Some(code), "{seen}");
        let text = std::fs::read_to_string(&file).expect("a file");
        assert_eq!(text.contains("skillpm"), code == 0, "{text}");
    }
    let mut terminal = Terminal::start(&sandbox, &["mcp", "uninstall", "--yes"]);
    terminal.wait_for("is as it was before");
    assert_eq!(terminal.end().0, Some(0));
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "{}\n");
}
