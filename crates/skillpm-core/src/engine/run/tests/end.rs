//! The ways in which a run ends: by timeout, by limits, and by being stopped.

use super::*;

/// S1-FR-203.3, S1-FR-205.2, S1-SM-5: the timeout also ends scripts that ignore the request to end.
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
        assert!(error.to_string().contains("it timed out"), "{error}");
        assert!(!is_running("7101"), "{text}");
    }
}

/// Another part of the program that waits for all children, as some hosts do, and so takes the exit status.
struct Reaper {
    said: String,
    /// Whether the script continues to run.
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

/// If the exit status is lost, the output is kept, and a timeout is still reported.
#[test]
fn an_end_that_another_took_loses_nothing_else() {
    let demo = Demo::sh("printf '%s\\n' $$\nexit 3\n");
    let ran = demo.run_watched(&mut Reaper { said: String::new(), later: false });
    assert_eq!((ran.exit, ran.ended), (Exit::Unknown, None));
    assert!(ran.stdout.text().trim().parse::<i32>().is_ok(), "{}", ran.stdout.text());
    let error = ran.success().expect_err("its success is unknown").to_string();
    assert!(error.contains("its exit status is unknown") && error.contains("SIGCHLD"), "{error}");
    let mut demo = Demo::sh("printf '%s\\n' $$\nexec sleep 7404\n");
    demo.options.limits.timeout = Duration::from_millis(300);
    let ran = demo.run_watched(&mut Reaper { said: String::new(), later: true });
    assert_eq!(ran.ended, Some(Ended::Timeout));
    assert!(!ran.stdout.bytes.is_empty());
}

/// A script that is asked to end can clean up and write its last output.
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

/// S1-FR-205.2: processes end that left the group and the session, lost their parents, and cleared their environment,
/// whether the script still exists or not.
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

/// A script that joins the group of its caller ends, although that group gets no signal.
#[test]
fn a_script_that_left_its_group_ends_too() {
    if !python() {
        return;
    }
    let mut demo = Demo::new(
        "demo.py",
        "import os, time\nos.setpgid(0, os.getpgid(os.getppid()))\nprint('left', flush=True)\ntime.sleep(20)\n",
    );
    demo.options.limits.timeout = Duration::from_secs(1);
    let ran = demo.run();
    assert_eq!(
        (ran.stdout.text().as_str(), ran.exit, ran.ended),
        ("left\n", Exit::Signal(15), Some(Ended::Timeout))
    );
}

/// A process whose first thread has ended looks as if it had ended itself.
#[test]
fn a_process_without_its_first_thread_ends_with_it() {
    if !python() {
        return;
    }
    let text = "import ctypes, os, threading, time\nos.open('held', os.O_WRONLY)\npid = os.fork()\n\
                if pid == 0:\n    os.setsid()\n    os.closerange(0, 3)\n    \
                threading.Thread(target=time.sleep, args=(20,)).start()\n    \
                ctypes.CDLL(None).syscall(EXIT, 0)\n\
                while open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[0] != 'Z':\n    pass\n";
    for mode in [Mode::Auto, Mode::Off] {
        let mut demo = Demo::new("demo.py", &text.replace("EXIT", &libc::SYS_exit.to_string()));
        demo.options.sandbox = mode;
        let pipe = demo.pipe();
        let ran = demo.run();
        assert_eq!((ran.exit, ran.leftovers), (Exit::Code(0), 1), "{}", ran.stderr.text());
        assert!(!is_held(&pipe));
    }
}

/// A process that forks and exits repeatedly has a new PID whenever one looks, in one group or in a new session each
/// time. A search takes a tenth of a second. While other programs start processes all the time, it may miss the
/// process, as docs/design/run.md says, so a busy machine gets several tries. A process that escaped ends by itself.
#[test]
fn a_process_that_is_always_another_one_ends_with_it() {
    if !python() {
        return;
    }
    let text = "import os, time\nos.open('held', os.O_WRONLY)\nif os.fork() == 0:\n    os.setsid()\n    \
                os.closerange(0, 3)\n    end = time.time() + 4\n    while time.time() < end:\n        try:\n            \
                if os.fork():\n                os._exit(0)\n            APART\n        \
                except OSError:\n            time.sleep(.0005)\n    os._exit(0)\ntime.sleep(LATER)\n";
    for apart in ["pass", "os.setsid()"] {
        for (later, ended) in [(".3", None), ("20", Some(Ended::Timeout))] {
            let got_away = |_| {
                let mut demo = Demo::new("demo.py", &text.replace("APART", apart).replace("LATER", later));
                demo.options.limits.timeout = Duration::from_secs(if ended.is_some() { 1 } else { 20 });
                let pipe = demo.pipe();
                let ran = demo.run();
                assert_eq!(ran.ended, ended, "{}", ran.stderr.text());
                is_held(&pipe) || (ran.leftovers > 0) != ended.is_none()
            };
            assert!(!(0..8).all(got_away), "{apart} {later}");
        }
    }
}

/// Without the sandbox, the variable and the session still identify the processes.
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

/// A process that keeps the pipe open does not block the caller.
#[test]
fn a_process_that_keeps_the_output_open_is_not_waited_for() {
    let demo = Demo::sh("echo first\nsleep 7404 &\n");
    let ran = demo.run();
    assert_eq!((ran.stdout.text().as_str(), ran.leftovers), ("first\n", 1));
    assert!(!is_running("7404"));
}

/// 300 MB are read to the end, and a hundredth of it is kept.
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
    let ran =
        run(&demo.settings(), &demo.script(), &demo.surroundings, &demo.options, &mut count).expect("runs");
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

/// If the output is not read, the timeout still applies, and all output is there once it is read.
#[test]
fn a_caller_that_is_held_up_does_not_hold_up_the_end() {
    #[derive(Default)]
    struct HeldUp {
        heard: Vec<u8>,
        has_ended: bool,
    }
    impl Watch for HeldUp {
        fn output(&mut self, _: Stream, bytes: &[u8]) {
            self.heard.extend_from_slice(bytes);
            let began = std::time::Instant::now();
            let text = String::from_utf8_lossy(&self.heard).into_owned();
            let path = format!("/proc/{}/cmdline", text.lines().next().expect("its number"));
            // A process that has ended but was not waited for has no arguments.
            let is_there =
                || !fs::read_capped(Path::new(&path), 1 << 20).ok().flatten().unwrap_or_default().is_empty();
            while is_there() && began.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(10));
            }
            self.has_ended |= !is_there();
        }
    }
    for text in
        ["echo $$\nexec sleep 7808\n", "echo $$\nwhile :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n"]
    {
        let mut demo = Demo::sh(text);
        demo.options.limits.timeout = Duration::from_millis(500);
        let mut watch = HeldUp::default();
        let ran = demo.run_watched(&mut watch);
        assert_eq!((ran.ended, ran.exit), (Some(Ended::Timeout), Exit::Signal(15)), "{text}");
        assert!(watch.has_ended, "{text}");
        assert_eq!(watch.heard, ran.stdout.bytes, "{text}");
    }
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
    let ran = run(&demo.settings(), &demo.script(), &demo.surroundings, &demo.options, &mut Stop(false))
        .expect("runs");
    assert_eq!((ran.ended, ran.stdout.text().as_str()), (Some(Ended::Stopped), "started\n"));
    assert!(!is_running("7505"));
}

/// A caller that does not listen is asked as well, once the script has run for a while.
#[test]
fn a_caller_who_hears_nothing_can_stop_it() {
    struct Stops(u32);
    impl Watch for Stops {
        fn hears(&self) -> bool {
            false
        }
        fn output(&mut self, _: Stream, _: &[u8]) {
            panic!("no listener");
        }
        fn is_stopped(&mut self) -> bool {
            self.0 += 1;
            self.0 > 2
        }
    }
    let ran = Demo::sh("echo begins; sleep 50; echo ends\n").run_watched(&mut Stops(0));
    assert_eq!((ran.ended, ran.stdout.text().as_str()), (Some(Ended::Stopped), "begins\n"));
    let mut unasked = Stops(0);
    assert_eq!(Demo::sh("exit 7\n").run_watched(&mut unasked).exit, Exit::Code(7));
}

/// A fork bomb, with and without new sessions.
#[test]
fn the_number_of_processes_is_limited() {
    TOGETHER.take();
    let alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
    // These bombs end by themselves, so that a failing test does not bring down the machine.
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

/// THREATS: a script that fills the disk is stopped.
#[test]
fn the_size_of_a_file_is_limited() {
    let mut demo = Demo::sh("head -c 500000000 /dev/zero > big\n");
    demo.options.limits.file_size = Some(1_000_000);
    let ran = demo.run();
    assert_ne!(ran.exit, Exit::Code(0));
    let big = fs::read_capped(&demo.world.project().join("work/big"), 1 << 30);
    let size = big.expect("reads").expect("is there").len();
    // The limit is set while the interpreter starts, which may get further than usual on a busy machine.
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
