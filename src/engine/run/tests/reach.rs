//! What is kept from a script.

use super::*;

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

/// What a script's first line says opens nothing, however it says it.
#[test]
fn an_interpreter_opens_its_installation_and_no_more() {
    if !has_landlock() {
        return;
    }
    let read = |first: &str, path: &str| {
        let demo = Demo::sh("");
        let home = demo.world.home().to_owned();
        fs::write_atomic(&home.join("secret"), b"secret").expect("writes");
        fs::create_dir_all(&home.join("own/bin")).expect("creates");
        fs::write_atomic(&home.join("own/secret"), b"secret").expect("writes");
        fs::symlink(Path::new("/bin/sh"), &home.join("own/bin/sh")).expect("links");
        fs::symlink(&home, &home.join("own/round")).expect("links");
        let first = first.replace("HOME", &home.display().to_string());
        demo.world
            .write(&format!("demo/{}", demo.path), &format!("#!{first}\ncat \"$1\" && echo READ\nexit 0\n"));
        let search = path.replace("HOME", &home.display().to_string());
        let settings = demo.world.settings(&[("PATH", &search)]);
        ["secret", "own/secret"].map(|file| {
            let options = Options { args: vec![home.join(file).into()], ..demo.options.clone() };
            run(&settings, &demo.script(), &options, &mut Unwatched)
                .expect("runs")
                .stdout
                .text()
                .contains("READ")
        })
    };
    let usual = "/usr/bin:/bin";
    assert_eq!(read("/bin/sh", usual), [false, false]);
    // A place that the script chose, and one that the user did.
    assert_eq!(read("HOME/own/bin/sh", usual), [false, false]);
    assert_eq!(read("/usr/bin/env sh", "HOME/own/bin:/usr/bin:/bin"), [false, true]);
    // The same by detours.
    assert_eq!(read("/bin/sh", "/usr/../bin:/usr/bin"), [false, false]);
    assert_eq!(read("/usr/bin/env sh", "/usr/../bin"), [false, false]);
    assert_eq!(read("/bin/sh", "HOME/own/..:/usr/bin:/bin"), [false, false]);
    assert_eq!(read("/bin/sh", "HOME/own/round:/usr/bin:/bin"), [false, false]);
}

/// What no path leads to: the limits of other processes, and memory that they have in common.
#[test]
fn what_has_no_path_is_kept_from_it() {
    if !has_landlock() || !python() {
        return;
    }
    let text = "import ctypes, os, resource\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                def told(name, call):\n    try:\n        print(name, call())\n    except OSError as error:\n        \
                print(name, error.errno)\n\
                told('own', lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))\n\
                told('limits', lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU))\n\
                told('limit', lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (64, 64)))\n\
                told('memory', lambda: libc.shmget(0, 4096, 0o1600) == -1 and ctypes.get_errno())\n\
                told('signs', lambda: libc.syscall(SEMOP, 0, None, 1) == -1 and ctypes.get_errno())\n\
                open('x', 'w').close()\n\
                told('mode', lambda: os.chmod('x', 0o2755))\n\
                told('owner', lambda: os.chmod('x', 0o4755))\n\
                told('owner', lambda: os.fchmod(os.open('x', os.O_RDONLY), 0o4755))\n\
                told('made', lambda: os.open('made', os.O_CREAT | os.O_WRONLY, 0o4755))\n\
                told('made', lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY, 0o4755))\n\
                told('made', lambda: os.mknod('made', 0o104755))\n\
                told('opened', lambda: os.close(os.open('x', os.O_RDONLY, 0o4755)))\n\
                told('unseen', lambda: libc.syscall(OPENAT2, -100, b'x', bytes(24), 24) == -1 and ctypes.get_errno())\n";
    // The library calls it by another one.
    let text = text
        .replace("SEMOP", &libc::SYS_semop.to_string())
        .replace("OPENAT2", &libc::SYS_openat2.to_string());
    let ran = Demo::new("demo.py", &text).run();
    let shown = ran.stdout.text();
    let limits: Vec<_> = shown.lines().filter(|line| !line.starts_with("limits")).collect();
    assert_eq!(
        limits,
        [
            "own None",
            "limit 1",
            "memory 1",
            "signs 1",
            "mode None",
            "owner 1",
            "owner 1",
            "made 1",
            "made 1",
            "made 1",
            "opened None",
            "unseen 38"
        ],
        "{}",
        ran.stderr.text()
    );
}

/// A program that runs as its owner is none any more when a script wrote into it, whoever runs the script.
#[test]
fn a_program_that_runs_as_its_owner_is_not_written_to() {
    if !has_landlock() {
        return;
    }
    let demo = Demo::sh("cat /bin/sh > made\n");
    demo.world.write("work/made", "");
    let path = demo.world.project().join("work/made");
    let set_id = rustix::fs::Mode::SUID | rustix::fs::Mode::RWXU;
    rustix::fs::chmod(&path, set_id).expect("changes the mode");
    assert_eq!(demo.run().exit, Exit::Code(0));
    let stat = rustix::fs::stat(&path).expect("looks");
    assert!(stat.st_size > 0 && !rustix::fs::Mode::from(stat.st_mode).contains(rustix::fs::Mode::SUID));
}

/// What says what a script may do, and what tells of it, is not the script's to write.
#[test]
fn a_working_directory_with_the_log_or_a_policy_stays_closed() {
    if !has_landlock() {
        return;
    }
    for (variable, there, what) in [
        ("SKILLPM_AUDIT", true, "the audit log"),
        ("SKILLPM_AUDIT", false, "the audit log"),
        ("SKILLPM_POLICY", true, "a policy"),
    ] {
        let demo = Demo::sh("echo x > file && echo WROTE\nexit 0\n");
        let (file, link) = (demo.world.project().join("work/file"), demo.world.home().join("link"));
        if there {
            demo.world.write("work/file", "");
        }
        fs::symlink(&file, &link).expect("links");
        for path in [&file, &link] {
            // A link to nothing is nothing.
            if path == &link && !there {
                continue;
            }
            let path = path.to_str().expect("a text");
            let settings = demo.world.settings(&[("PATH", "/usr/bin:/bin"), (variable, path)]);
            let ran = run(&settings, &demo.script(), &demo.options, &mut Unwatched).expect("runs");
            assert_eq!(ran.stdout.text(), "", "{variable} {path}");
            let closed = ran.sandbox.closed.expect("is closed");
            assert!(closed.ends_with(&format!("holds {what}")), "{closed}");
        }
        // Elsewhere it is none of its business.
        let elsewhere = demo.world.home().join("other");
        let settings = demo
            .world
            .settings(&[("PATH", "/usr/bin:/bin"), (variable, elsewhere.to_str().expect("a text"))]);
        let ran = run(&settings, &demo.script(), &demo.options, &mut Unwatched).expect("runs");
        assert_eq!(ran.stdout.text(), "WROTE\n", "{}", ran.stderr.text());
    }
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

/// Pairs that can be led elsewhere are sockets, too; those that Python's own libraries need are left.
#[test]
fn no_pair_leads_into_the_network() {
    if !python() {
        return;
    }
    let text = "import asyncio, socket, subprocess\n\
                def told(name, call):\n    try:\n        call()\n        print(name, 'open')\n    \
                except OSError as error:\n        print(name, error.errno)\n\
                for kind in ('STREAM', 'SEQPACKET', 'DGRAM', 'RAW'):\n    \
                told(kind, lambda: socket.socketpair(socket.AF_UNIX, getattr(socket, 'SOCK_' + kind)))\n\
                told('other', lambda: socket.socketpair(socket.AF_INET))\n\
                a, b = socket.socketpair()\n\
                told('connect', lambda: a.connect('/nowhere'))\ntold('bind', lambda: a.bind('here'))\n\
                told('address', lambda: a.sendto(b'x', '/nowhere'))\ntold('send', lambda: a.send(b'x'))\n\
                async def cat():\n    pipe = subprocess.PIPE\n    \
                process = await asyncio.create_subprocess_exec('cat', stdin=pipe, stdout=pipe)\n    \
                return (await process.communicate(b'passed'))[0].decode()\nprint(asyncio.run(cat()))\n";
    let mut demo = Demo::new("demo.py", text);
    demo.options.no_network = true;
    let ran = demo.run();
    assert_eq!(
        ran.stdout.text(),
        "STREAM open\nSEQPACKET open\nDGRAM 1\nRAW 1\nother 1\nconnect 1\nbind 1\naddress 1\nsend open\npassed\n",
        "{}",
        ran.stderr.text()
    );
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
