//! Scripts that behave, and scripts that do not.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use super::*;
use crate::engine::testing::World;
use crate::error::ErrorKind;
use crate::fs;
use crate::refusal::Limits as TreeLimits;

/// What makes as many processes as it can slows everything else down: it is alone.
static MACHINE: RwLock<()> = RwLock::new(());

thread_local! {
    /// Held by each test once, however many skills it has.
    static TOGETHER: RefCell<Option<RwLockReadGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// A skill called `demo` with one script.
struct Demo {
    world: World,
    path: String,
    options: Options,
}

impl Demo {
    fn new(name: &str, text: &str) -> Self {
        // A test that failed spoils nothing.
        let lock = || MACHINE.read().unwrap_or_else(PoisonError::into_inner);
        TOGETHER.with_borrow_mut(|held| {
            held.get_or_insert_with(lock);
        });
        Self::alone(name, text)
    }

    fn alone(name: &str, text: &str) -> Self {
        let world = World::new();
        world.skill("demo", "demo");
        let path = format!("scripts/{name}");
        world.write(&format!("demo/{path}"), text);
        let limits = Limits {
            timeout: Duration::from_secs(20),
            grace: Duration::from_millis(100),
            ..Limits::default()
        };
        let cwd = world.project().join("work");
        fs::create_dir_all(&cwd).expect("creates");
        let options = Options { limits, cwd: WorkDir::Dir(cwd), ..Options::default() };
        Self { world, path, options }
    }

    fn sh(text: &str) -> Self {
        Self::new("demo.sh", text)
    }

    fn settings(&self) -> Settings {
        // Where a home has a shim for Python, the system's own is meant.
        self.world.settings(&[("PATH", "/usr/local/bin:/usr/bin:/bin"), ("SECRET_TOKEN", "s3cret")])
    }

    fn script(&self) -> Script {
        let tree = fs::tree_of(&self.world.project().join("demo")).expect("reads");
        let files = tree.skill("", &TreeLimits::default()).expect("a skill");
        Script {
            skill: "demo".into(),
            version: None,
            digest: Some(files.digest().expect("reads")),
            files,
            base: String::new(),
            path: self.path.clone(),
        }
    }

    fn run(&self) -> Ran {
        run(&self.settings(), &self.script(), &self.options, &mut Unwatched).expect("runs")
    }

    fn fails(&self) -> Error {
        run(&self.settings(), &self.script(), &self.options, &mut Unwatched).expect_err("does not run")
    }
}

/// Whether this kernel keeps files away; says so where it does not.
fn has_landlock() -> bool {
    let there = Demo::sh("exit 0\n").run().sandbox.landlock.is_some();
    if !there {
        eprintln!("this kernel has no Landlock: what it keeps away is not tested");
    }
    there
}

/// Whether there is a process with `text` among its arguments.
fn is_running(text: &str) -> bool {
    let names = fs::list_dir(Path::new("/proc")).expect("lists");
    names.iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit())).any(|pid| {
        let path = format!("/proc/{pid}/cmdline");
        let line = fs::read_capped(Path::new(&path), 1 << 20).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    })
}

fn python() -> bool {
    let there = fs::may_execute(Path::new("/usr/bin/python3"));
    if !there {
        eprintln!("there is no Python: scripts in it are not tested");
    }
    there
}

/// S1-AC-3: `sys.argv[1]`, exactly. S1-FR-203.4.
#[test]
fn arguments_are_handed_over_as_they_are() {
    let mut demo = Demo::sh("printf 'Hello, %s!\\n' \"$1\"; printf '<%s>' \"$@\"\n");
    demo.options.args = ["World", "a b", "$(id)", "", "*", "--", "-x;y"].map(OsString::from).to_vec();
    let ran = demo.run();
    assert_eq!(ran.exit, Exit::Code(0));
    assert_eq!(ran.stdout.text(), "Hello, World!\n<World><a b><$(id)><><*><--><-x;y>");
    if python() {
        let mut demo = Demo::new("greet.py", "import sys\nprint(f'Hello, {sys.argv[1]}!')\n");
        demo.options.args = vec!["World".into()];
        assert_eq!(demo.run().stdout.text(), "Hello, World!\n");
    }
}

/// S1-AC-4, S1-FR-203.5.
#[test]
fn a_failure_tells_what_was_written_to_standard_error() {
    let demo = Demo::sh("echo out; echo 'no such table' >&2; exit 1\n");
    let error = demo.run().success().expect_err("failed");
    assert_eq!(error.ran().exit, Exit::Code(1));
    assert_eq!(error.stderr(), "no such table\n");
    assert_eq!(error.to_string(), "`scripts/demo.sh` of `demo` failed with exit code 1: no such table");
    let error = Demo::sh("kill -SEGV $$\n").run().success().expect_err("failed");
    assert_eq!(error.ran().exit, Exit::Signal(11));
    assert_eq!(error.to_string(), "`scripts/demo.sh` of `demo` failed with signal 11");
}

/// Conflict C19: nothing on standard input, or the bytes that were given, such as JSON.
#[test]
fn standard_input_is_closed_unless_it_is_given() {
    let mut demo = Demo::sh("cat\n");
    assert_eq!(demo.run().stdout.text(), "");
    let big = "{\"a\": 1}".repeat(100_000);
    demo.options.stdin = Stdin::Bytes(big.clone().into_bytes());
    assert_eq!(demo.run().stdout.text(), big);
}

/// Conflict C19, THREATS 3: the environment of the caller stays where it is.
#[test]
fn the_environment_is_clean() {
    let mut demo = Demo::sh("env | sort | cut -d= -f1 | tr '\\n' ' '; echo $SKILL_NAME-$SKILL_VERSION\n");
    let ran = demo.run();
    let shown = ran.stdout.text();
    assert!(!shown.contains("SECRET"), "{shown}");
    assert_eq!(
        shown,
        "HOME PATH PWD PYTHONDONTWRITEBYTECODE SKILLPM_RUN_ID SKILL_BASE_DIR SKILL_NAME SKILL_VERSION TMPDIR demo-\n"
    );
    demo.options.env.insert("SECRET_TOKEN".into(), "given".into());
    assert!(demo.run().stdout.text().contains("SECRET_TOKEN"));
}

/// S1-D4: what it does to its process is nothing to the one that called it.
#[test]
fn it_is_a_process_of_its_own() {
    let ran = Demo::sh("echo $$\nkill -KILL $$\n").run();
    assert_eq!(ran.exit, Exit::Signal(9));
    let number: u32 = ran.stdout.text().trim().parse().expect("a number");
    assert_ne!(number, std::process::id());
}

#[test]
fn it_runs_where_it_is_to() {
    let mut demo = Demo::sh("pwd -P; ls \"$SKILL_BASE_DIR\"\n");
    let work = demo.world.project().join("work");
    assert_eq!(demo.run().stdout.text(), format!("{}\nSKILL.md\nscripts\n", work.display()));
    demo.options.cwd = WorkDir::Here;
    assert_eq!(demo.run().stdout.text(), format!("{}\nSKILL.md\nscripts\n", demo.world.project().display()));
    demo.options.cwd = WorkDir::Skill;
    let shown = demo.run().stdout.text();
    assert!(shown.ends_with("/skill\nSKILL.md\nscripts\n"), "{shown}");
    demo.options.cwd = WorkDir::Dir(work.join("nowhere"));
    assert!(demo.fails().to_string().contains("there is no directory"), "{}", demo.fails());
}

/// Scripts read what lies beside them, and leave nothing there.
#[test]
fn the_rest_of_the_skill_is_there_and_stays_as_it_is() {
    if !python() {
        return;
    }
    let text = "import os, helper\nprint(helper.WORD)\n\
                print(open(os.environ['SKILL_BASE_DIR'] + '/references/a.md').read())\n";
    let demo = Demo::new("demo.py", text);
    demo.world.write("demo/scripts/helper.py", "WORD = 'help'\n");
    demo.world.write("demo/references/a.md", "reference");
    let before = demo.script().digest;
    for mode in [Mode::Auto, Mode::Off] {
        let options = Options { sandbox: mode, ..demo.options.clone() };
        let ran = run(&demo.settings(), &demo.script(), &options, &mut Unwatched).expect("runs");
        assert_eq!(ran.stdout.text(), "help\nreference\n", "{}", ran.stderr.text());
        assert_eq!(Some(ran.digest), before);
    }
    let names: Vec<_> = fs::list_dir(&demo.world.project().join("demo/scripts")).expect("lists");
    assert_eq!(names, ["demo.py", "helper.py"], "no `__pycache__`");
    assert_eq!(demo.script().digest, before);
}

/// S1-FR-203.3, S1-FR-205.2, S1-SM-5: also what ignores the request to end.
#[test]
fn its_time_is_limited() {
    for text in
        ["sleep 7101\n", "trap '' TERM\nwhile :; do sleep 7101; done\n", "exec sleep 7101 >/dev/null 2>&1\n"]
    {
        let mut demo = Demo::sh(text);
        demo.options.limits.timeout = Duration::from_millis(300);
        let ran = demo.run();
        assert_eq!(ran.ended, Some(Ended::Timeout), "{text}");
        assert!(ran.duration < Duration::from_secs(15), "{:?}", ran.duration);
        let error = ran.success().expect_err("ended");
        assert!(error.to_string().contains("its time was over"), "{error}");
        assert!(!is_running("7101"), "{text}");
    }
}

/// A script that is asked to end may tidy up and say its last words.
#[test]
fn it_is_asked_before_it_is_ended() {
    let mut demo = Demo::sh("trap 'echo bye; exit 3' TERM\nwhile :; do sleep 0.01; done\n");
    demo.options.limits.timeout = Duration::from_millis(300);
    demo.options.limits.grace = Duration::from_secs(10);
    let ran = demo.run();
    assert_eq!(
        (ran.stdout.text().as_str(), ran.exit, ran.ended),
        ("bye\n", Exit::Code(3), Some(Ended::Timeout))
    );
}

/// S1-FR-205.2: those that left the group and the session, lost their parents, and cleared their
/// environment, with the script still there or not.
#[test]
fn daemons_end_with_it() {
    let daemon = "env -i setsid sh -c 'trap \"\" TERM; setsid sleep 7202 >/dev/null 2>&1 & sleep 7202' >/dev/null 2>&1 &\n";
    let wait = "while ! pgrep -f 'sleep 7202' >/dev/null; do :; done\n";
    for (end, ended) in [("sleep 7202\n", Some(Ended::Timeout)), ("exit 0\n", None)] {
        let mut demo = Demo::sh(&format!("{daemon}{wait}{end}"));
        demo.options.limits.timeout = Duration::from_secs(if ended.is_some() { 1 } else { 20 });
        let ran = demo.run();
        assert_eq!(ran.ended, ended);
        assert_eq!(ran.leftovers > 0, ended.is_none(), "{}", ran.leftovers);
        assert!(!is_running("sleep 7202"), "{end}");
    }
}

/// With the sandbox off the variable and the session are what is left to know them by.
#[test]
fn daemons_end_without_a_sandbox_too() {
    let mut demo = Demo::sh(
        "setsid sleep 7303 >/dev/null 2>&1 &\nsetsid sh -c 'sleep 7303 & sleep 7303' >/dev/null 2>&1 &\nsleep 0.2\n",
    );
    demo.options.sandbox = Mode::Off;
    let ran = demo.run();
    assert_eq!((ran.exit, ran.sandbox.landlock, ran.sandbox.seccomp), (Exit::Code(0), None, false));
    assert!(ran.leftovers >= 2, "{}", ran.leftovers);
    assert!(!is_running("7303"));
}

/// What holds the pipe open does not hold the caller up.
#[test]
fn a_process_that_keeps_the_output_open_is_not_waited_for() {
    let demo = Demo::sh("echo first\nsleep 7404 &\n");
    let ran = demo.run();
    assert_eq!((ran.stdout.text().as_str(), ran.leftovers), ("first\n", 1));
    assert!(!is_running("7404"));
}

/// 300 MB are read to the end, and a hundredth is kept.
#[test]
fn output_is_capped_and_the_cut_is_told() {
    #[derive(Default)]
    struct Count(u64);
    impl Watch for Count {
        fn output(&mut self, stream: Stream, bytes: &[u8]) {
            self.0 += if stream == Stream::Out { bytes.len() as u64 } else { 0 };
        }
    }
    let mut demo = Demo::sh("head -c 300000000 /dev/zero; echo end >&2; exit 7\n");
    demo.options.limits.output = 3_000_000;
    let mut count = Count::default();
    let ran = run(&demo.settings(), &demo.script(), &demo.options, &mut count).expect("runs");
    assert_eq!((ran.exit, ran.ended), (Exit::Code(7), None));
    assert_eq!((ran.stdout.bytes.len(), ran.stdout.total), (3_000_000, 300_000_000));
    assert!(ran.stdout.is_cut() && !ran.stderr.is_cut());
    assert_eq!((count.0, ran.stderr.text().as_str()), (3_000_000, "end\n"));
}

#[test]
fn a_script_that_prints_without_end_is_ended() {
    let mut demo = Demo::sh("yes\n");
    demo.options.limits.timeout = Duration::from_millis(500);
    demo.options.limits.output = 1000;
    let ran = demo.run();
    assert_eq!((ran.ended, ran.stdout.bytes.len()), (Some(Ended::Timeout), 1000));
    assert!(ran.stdout.is_cut());
}

#[test]
fn the_caller_can_stop_it() {
    struct Stop(bool);
    impl Watch for Stop {
        fn output(&mut self, _: Stream, _: &[u8]) {
            self.0 = true;
        }
        fn is_stopped(&mut self) -> bool {
            self.0
        }
    }
    let demo = Demo::sh("echo started; sleep 7505\n");
    let ran = run(&demo.settings(), &demo.script(), &demo.options, &mut Stop(false)).expect("runs");
    assert_eq!((ran.ended, ran.stdout.text().as_str()), (Some(Ended::Stopped), "started\n"));
    assert!(!is_running("7505"));
}

/// A fork bomb, with and without sessions of their own.
#[test]
fn the_number_of_processes_is_limited() {
    TOGETHER.take();
    let alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
    // Bombs that would end by themselves, lest the machine go down with this.
    let plain = "b() { [ $1 -gt 0 ] && { b $(($1 - 1)) & b $(($1 - 1)) & }; sleep 7606; }; b 8\n";
    let apart = "i=0; while [ $i -lt 300 ]; do setsid sleep 7606 >/dev/null 2>&1 & i=$((i+1)); done; wait\n";
    for text in [plain, apart] {
        let mut demo = Demo::alone("demo.sh", text);
        demo.options.limits.processes = 60;
        demo.options.limits.grace = Duration::ZERO;
        let ran = demo.run();
        assert_eq!(ran.ended, Some(Ended::Processes), "{text}");
        assert!(!is_running("7606"), "{text}");
    }
    drop(alone);
}

/// THREATS: a script that fills the disk.
#[test]
fn the_size_of_a_file_is_limited() {
    let mut demo = Demo::sh("head -c 500000000 /dev/zero > big\n");
    demo.options.limits.file_size = Some(1_000_000);
    let ran = demo.run();
    assert_ne!(ran.exit, Exit::Code(0));
    let big = fs::read_capped(&demo.world.project().join("work/big"), 1 << 30);
    let size = big.expect("reads").expect("is there").len();
    // It is set while the interpreter starts, which on a busy machine may get further than usual.
    assert!((1_000_000..500_000_000).contains(&size), "{size}");
}

#[test]
fn memory_and_computing_time_are_limited() {
    let mut demo = Demo::sh("while :; do :; done\n");
    demo.options.limits.cpu = Some(Duration::from_millis(10));
    let ran = demo.run();
    assert_eq!((ran.exit, ran.ended), (Exit::Signal(24), None), "SIGXCPU");
    if python() {
        let mut demo = Demo::new("demo.py", "x = bytearray(500_000_000)\nprint(len(x))\n");
        assert_eq!(demo.run().exit, Exit::Code(0));
        demo.options.limits.memory = Some(200 << 20);
        assert!(demo.run().stderr.text().contains("MemoryError"));
    }
}

/// Read outside, write outside: the home, other projects, the skill itself, the copy it runs from.
#[test]
fn files_that_are_none_of_its_business_are_kept_from_it() {
    if !has_landlock() {
        return;
    }
    let text = "cat \"$1\" && echo READ\necho x > \"$2\" && echo WROTE\nls \"$3\" && echo LISTED\n\
                echo x > \"$SKILL_BASE_DIR/new\" && echo IN-SKILL\necho x >> \"$0\" && echo IN-SCRIPT\n\
                ln -s \"$1\" link && cat link && echo LINKED\necho x > here && echo here\necho x > \"$TMPDIR/t\" && echo private\n\
                exit 0\n";
    let mut demo = Demo::sh(text);
    let home = demo.world.home().to_owned();
    fs::write_atomic(&home.join("secret"), b"secret").expect("writes");
    demo.options.args = vec![
        home.join("secret").into(),
        demo.world.project().join("demo/SKILL.md").into(),
        demo.world.root().into(),
    ];
    let ran = demo.run();
    assert_eq!(ran.stdout.text(), "here\nprivate\n", "{}", ran.stderr.text());
    assert!(ran.sandbox.landlock.is_some() && ran.sandbox.seccomp);
    assert_eq!(ran.sandbox.write, [demo.world.project().join("work")]);
    // What is opened by name is open.
    demo.options.read = vec![home.join("secret")];
    demo.options.write = vec![demo.world.project().join("demo")];
    let shown = demo.run().stdout.text();
    assert!(shown.contains("READ\nWROTE\n") && !shown.contains("IN-S"), "{shown}");
    demo.options.sandbox = Mode::Off;
    let shown = demo.run().stdout.text();
    assert!(shown.contains("READ") && shown.contains("LISTED"), "{shown}");
}

/// A working directory that holds the home, or skillpm's own files, is not opened by being there.
#[test]
fn a_wide_working_directory_stays_closed() {
    if !has_landlock() {
        return;
    }
    let mut demo = Demo::sh("ls . && echo LISTED\necho x > here && echo WROTE\nexit 0\n");
    for dir in [demo.world.home().to_owned(), demo.world.root().to_owned(), "/".into()] {
        demo.options.cwd = WorkDir::Dir(dir.clone());
        let ran = demo.run();
        assert_eq!(ran.stdout.text(), "", "{}", dir.display());
        assert!(ran.sandbox.closed.is_some() && ran.sandbox.write.is_empty());
    }
    let home = demo.world.home().to_owned();
    demo.options.cwd = WorkDir::Dir(home.clone());
    demo.options.write = vec![home];
    assert!(demo.run().stdout.text().contains("WROTE"), "who means it says so");
}

/// Processes outside are out of its reach.
#[test]
fn other_processes_are_kept_from_it() {
    if !has_landlock() {
        return;
    }
    let own = rustix::process::getpid().as_raw_nonzero();
    let demo =
        Demo::sh(&format!("cat /proc/{own}/environ && echo READ\nkill -0 {own} && echo SIGNALLED\nexit 0\n"));
    let ran = demo.run();
    match ran.sandbox.landlock {
        Some(6..) => assert_eq!(ran.stdout.text(), "", "{}", ran.stderr.text()),
        _ => assert!(!ran.stdout.text().contains("READ")),
    }
}

#[test]
fn the_network_can_be_kept_from_it() {
    if !python() {
        return;
    }
    let text = "import socket\nfor family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):\n    try:\n        \
                socket.socket(family)\n        print('open')\n    except PermissionError:\n        print('closed')\n\
                a, b = socket.socketpair()\na.send(b'x')\nprint(b.recv(1))\n";
    let mut demo = Demo::new("demo.py", text);
    assert_eq!(demo.run().stdout.text(), "open\nopen\nopen\nb'x'\n");
    demo.options.no_network = true;
    for mode in [Mode::Auto, Mode::Off] {
        demo.options.sandbox = mode;
        let ran = demo.run();
        assert_eq!(ran.stdout.text(), "closed\nclosed\nclosed\nb'x'\n", "{}", ran.stderr.text());
        assert!(ran.sandbox.no_network && ran.sandbox.seccomp);
    }
}

/// The mark by which it is found cannot be taken off, and the threads of this process have none of it.
#[test]
fn the_mark_stays() {
    if !python() {
        return;
    }
    let text = "import resource\ntry:\n    resource.setrlimit(10, (0, 0))\n    print('changed')\n\
                except (PermissionError, ValueError) as error:\n    print(type(error).__name__)\n\
                resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\nprint(open('/proc/self/limits').read())\n";
    let demo = Demo::new("demo.py", text);
    let ran = demo.run();
    let shown = ran.stdout.text();
    assert!(!shown.contains("changed"), "{shown}{}", ran.stderr.text());
    assert!(shown.contains("Max open files            64 "), "{shown}");
    let own =
        fs::read_text(Path::new("/proc/thread-self/status"), 1 << 16).expect("reads").expect("is there");
    assert!(own.contains("NoNewPrivs:\t0") && own.contains("Seccomp:\t0"), "{own}");
}

#[test]
fn a_sandbox_that_is_required_is_there() {
    let mut demo = Demo::sh("echo ran\n");
    demo.options.sandbox = Mode::Require;
    if has_landlock() {
        assert_eq!(demo.run().stdout.text(), "ran\n");
    } else {
        assert_eq!(demo.fails().kind(), ErrorKind::Config);
    }
}

/// Only what was checked runs: files that change between check and start never run, whenever they do.
#[test]
fn bytes_that_were_not_checked_never_run() {
    let demo = Demo::sh("echo good; cat \"$SKILL_BASE_DIR/references/a.md\"\n");
    demo.world.write("demo/references/a.md", "good\n");
    let script = demo.script();
    assert_eq!(demo.run().stdout.text(), "good\ngood\n");
    let at = |path: &str| demo.world.project().join("demo").join(path);
    let (good, bad) =
        (fs::read_capped(&at("scripts/demo.sh"), 1 << 20).unwrap().unwrap(), b"echo EVIL\n".as_slice());
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (mut ran, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                for bytes in [bad, &good] {
                    fs::write_atomic(&at("scripts/demo.sh"), bytes).expect("writes");
                    fs::write_atomic(
                        &at("references/a.md"),
                        if bytes == bad { b"EVIL\n" } else { b"good\n" },
                    )
                    .expect("writes");
                }
            }
        });
        for _ in 0..100 {
            match run(&demo.settings(), &script, &demo.options, &mut Unwatched) {
                Ok(outcome) => {
                    assert_eq!(outcome.stdout.text(), "good\ngood\n", "{}", outcome.stderr.text());
                    ran += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Integrity, "{}", error.with_causes());
                    refused += 1;
                }
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    eprintln!("{ran} ran, {refused} were refused");
    fs::write_atomic(&at("scripts/demo.sh"), bad).expect("writes");
    let error = run(&demo.settings(), &script, &demo.options, &mut Unwatched).expect_err("changed");
    assert_eq!(error.kind(), ErrorKind::Integrity);
    assert!(error.to_string().contains("changed while they were checked"), "{error}");
}

/// Nothing of a run is left in the temporary directory, also what its owner may not write to.
#[test]
fn the_copy_goes_with_the_run() {
    let demo =
        Demo::sh("mkdir \"$HOME/a\" && touch \"$HOME/a/b\" && chmod 500 \"$HOME/a\"; echo \"$HOME\"\n");
    let shown = demo.run().stdout.text();
    assert_eq!(fs::kind(Path::new(shown.trim())).expect("looks"), None, "{shown}");
    let above = Path::new(shown.trim()).parent().expect("a parent");
    assert_eq!(fs::kind(above).expect("looks"), None);
}

/// S1-FR-205.1, S1-SM-5: only files of the skill are scripts.
#[test]
fn a_script_is_one_of_the_skill_s_files() {
    for path in ["../../etc/passwd", "/etc/passwd", "scripts", "", ".", "scripts/../scripts/demo.sh"] {
        let mut demo = Demo::sh("echo x\n");
        demo.path = path.to_owned();
        let error = demo.fails();
        assert_eq!(error.kind(), ErrorKind::Usage, "{path}");
        assert!(error.to_string().starts_with("there is no file"), "{error}");
    }
}
