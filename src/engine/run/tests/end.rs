//! How a run ends: by its time, by its limits, by whoever stops it.

use super::*;

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

/// Another part of the program that waits for all children, as some hosts do: it takes what `wait` would tell.
struct Reaper {
    said: String,
    /// Whether the script is left to run on.
    later: bool,
}

impl Watch for Reaper {
    fn output(&mut self, _: Stream, bytes: &[u8]) {
        use rustix::process::{Pid, WaitOptions, waitpid};
        self.said.push_str(&String::from_utf8_lossy(bytes));
        let pid = self.said.trim().parse().ok().and_then(Pid::from_raw).expect("its number");
        let reap = move || waitpid(Some(pid), WaitOptions::empty());
        if self.later {
            std::thread::spawn(reap);
        } else {
            reap().expect("it is a child");
        }
    }
}

/// Where nobody can know how it ended, what it wrote is kept, and a timeout stays one.
#[test]
fn an_end_that_another_took_loses_nothing_else() {
    let demo = Demo::sh("printf '%s\\n' $$\nexit 3\n");
    let ran = demo.run_watched(&mut Reaper { said: String::new(), later: false });
    assert_eq!((ran.exit, ran.ended), (Exit::Unknown, None));
    assert!(ran.stdout.text().trim().parse::<i32>().is_ok(), "{}", ran.stdout.text());
    let error = ran.success().expect_err("nobody knows that it went well").to_string();
    assert!(error.contains("how it ended is unknown") && error.contains("SIGCHLD"), "{error}");
    let mut demo = Demo::sh("printf '%s\\n' $$\nexec sleep 7404\n");
    demo.options.limits.timeout = Duration::from_millis(300);
    let ran = demo.run_watched(&mut Reaper { said: String::new(), later: true });
    assert_eq!(ran.ended, Some(Ended::Timeout));
    assert!(!ran.stdout.bytes.is_empty());
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
