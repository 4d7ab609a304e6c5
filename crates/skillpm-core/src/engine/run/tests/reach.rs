//! The limits of a script's access.

use super::*;

/// A script cannot read or write the home directory, other projects, the skill itself, or the copy that it runs from.
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
    // Paths that the caller opens by name are accessible.
    demo.options.read = vec![home.join("secret")];
    demo.options.write = vec![demo.world.project().join("demo")];
    let shown = demo.run().stdout.text();
    assert!(shown.contains("READ\nWROTE\n") && !shown.contains("IN-S"), "{shown}");
    demo.options.sandbox = Mode::Off;
    let shown = demo.run().stdout.text();
    assert!(shown.contains("READ") && shown.contains("LISTED"), "{shown}");
}

/// A working directory that contains the home directory or skillpm's own files is not opened just because it is one.
#[test]
fn a_wide_working_directory_stays_closed() {
    if !has_landlock() {
        return;
    }
    let mut demo = Demo::sh("ls . && echo LISTED\necho x > here && echo WROTE\nexit 0\n");
    for dir in [demo.world.home().to_owned(), demo.world.root().to_owned(), "/".into()] {
        demo.surroundings.cwd = WorkDir::Dir(dir.clone());
        let ran = demo.run();
        assert_eq!(ran.stdout.text(), "", "{}", dir.display());
        assert!(ran.sandbox.closed.is_some() && ran.sandbox.write.is_empty());
    }
    let home = demo.world.home().to_owned();
    demo.surroundings.cwd = WorkDir::Dir(home.clone());
    demo.options.write = vec![home];
    assert!(demo.run().stdout.text().contains("WROTE"), "who means it says so");
}

/// The first line of a script opens nothing, however it is written.
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
            run(&settings, &demo.script(), &demo.surroundings, &options, &mut Unwatched)
                .expect("runs")
                .stdout
                .text()
                .contains("READ")
        })
    };
    let usual = "/usr/bin:/bin";
    assert_eq!(read("/bin/sh", usual), [false, false]);
    // The script chose the first path, and the user the second.
    assert_eq!(read("HOME/own/bin/sh", usual), [false, false]);
    assert_eq!(read("/usr/bin/env sh", "HOME/own/bin:/usr/bin:/bin"), [false, true]);
    // The same with detours in the path.
    assert_eq!(read("/bin/sh", "/usr/../bin:/usr/bin"), [false, false]);
    assert_eq!(read("/usr/bin/env sh", "/usr/../bin"), [false, false]);
    assert_eq!(read("/bin/sh", "HOME/own/..:/usr/bin:/bin"), [false, false]);
    assert_eq!(read("/bin/sh", "HOME/own/round:/usr/bin:/bin"), [false, false]);
}

/// Objects without a path: the limits of other processes, and memory that processes share.
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
    // The function of the C library uses another call.
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

/// A program that runs as its owner loses that bit when a script writes to it, for every user of the script.
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

/// A script cannot write the files that say what it may do, or those that record what it did.
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
            // A dangling link does not count.
            if path == &link && !there {
                continue;
            }
            let path = path.to_str().expect("a text");
            let settings = demo.world.settings(&[("PATH", "/usr/bin:/bin"), (variable, path)]);
            let ran = run(&settings, &demo.script(), &demo.surroundings, &demo.options, &mut Unwatched)
                .expect("runs");
            assert_eq!(ran.stdout.text(), "", "{variable} {path}");
            let closed = ran.sandbox.closed.expect("is closed");
            assert!(closed.ends_with(&format!("holds {what}")), "{closed}");
        }
        // In a directory that is elsewhere, these files do not matter.
        let elsewhere = demo.world.home().join("other");
        let settings = demo
            .world
            .settings(&[("PATH", "/usr/bin:/bin"), (variable, elsewhere.to_str().expect("a text"))]);
        let ran =
            run(&settings, &demo.script(), &demo.surroundings, &demo.options, &mut Unwatched).expect("runs");
        assert_eq!(ran.stdout.text(), "WROTE\n", "{}", ran.stderr.text());
    }
}

/// A script cannot reach processes outside its run.
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

/// The session bus, the container engine and key agents listen at a path, which Landlock does not restrict.
#[test]
fn unix_sockets_are_open_to_it_where_it_is_said() {
    if !has_landlock() || !python() {
        return;
    }
    let text = "import errno, multiprocessing, socket, subprocess, sys\n\
                def told(name, call):\n    try:\n        call()\n        print(name, 'open')\n    \
                except OSError as error:\n        print(name, errno.errorcode[error.errno])\n\
                def reach():\n    with socket.socket(socket.AF_UNIX) as stream:\n        \
                stream.connect(sys.argv[1])\n        print(stream.recv(9).decode())\n\
                told('path', reach)\n\
                told('datagrams', lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))\n\
                told('pair', socket.socketpair)\ntold('inet', lambda: socket.socket(socket.AF_INET))\n\
                print(subprocess.run(['cat'], input=b'passed', capture_output=True).stdout.decode())\n\
                if __name__ == '__main__':\n    \
                context = multiprocessing.get_context('fork')\n    here, there = context.Pipe()\n    \
                context.Process(target=there.send, args=(['forked'],)).start()\n    print(here.recv())\n";
    let mut demo = Demo::new("demo.py", text);
    let path = demo.world.project().join("work/service");
    let service = std::os::unix::net::UnixListener::bind(&path).expect("listens");
    demo.options.args = vec![path.into()];
    let ran = demo.run();
    let shut = "path EPERM\ndatagrams EPERM\npair open\ninet open\npassed\n['forked']\n";
    assert_eq!(ran.stdout.text(), shut, "{}", ran.stderr.text());
    assert!(ran.sandbox.no_unix_sockets && !ran.sandbox.no_network);
    for (no_network, mode, inet) in
        [(false, Mode::Auto, "open"), (true, Mode::Auto, "EPERM"), (true, Mode::Off, "EPERM")]
    {
        (demo.options.unix_sockets, demo.options.no_network, demo.options.sandbox) = (true, no_network, mode);
        let answering = service.try_clone().expect("is shared");
        let answering = std::thread::spawn(move || {
            let mut stream = answering.accept().expect("is reached").0;
            std::io::Write::write_all(&mut stream, b"answer").expect("writes");
        });
        let ran = demo.run();
        let open = format!("answer\npath open\ndatagrams open\npair open\ninet {inet}\npassed\n['forked']\n");
        assert_eq!(ran.stdout.text(), open, "{}", ran.stderr.text());
        assert!(!ran.sandbox.no_unix_sockets);
        answering.join().expect("answered");
    }
}

/// Operations that Landlock does not check: watches, attributes, namespaces, priorities.
#[test]
fn what_landlock_does_not_see_is_kept_from_it() {
    if !has_landlock() || !python() {
        return;
    }
    let text = "import ctypes, errno, os, shutil, sys, threading\nlibc = ctypes.CDLL(None, use_errno=True)\n\
                outside = sys.argv[1].encode()\n\
                def told(name, result):\n    \
                print(name, errno.errorcode[ctypes.get_errno()] if result < 0 else 'open')\n\
                def tried(name, call):\n    try:\n        call()\n        print(name, 'open')\n    \
                except OSError as error:\n        print(name, errno.errorcode[error.errno])\n\
                told('inotify', libc.inotify_init1(0))\ntold('fanotify', libc.fanotify_init(0, 0))\n\
                told('unshare', libc.unshare(0x10000000))\ntold('setns', libc.setns(0, 0))\n\
                told('faults', libc.syscall(USERFAULTFD, 1))\n\
                tried('read', lambda: os.getxattr(outside, 'user.x'))\n\
                tried('write', lambda: os.setxattr(outside, 'user.x', b'y'))\n\
                tried('list', lambda: os.listxattr(outside))\n\
                parent = os.getppid()\n\
                tried('nice', lambda: os.setpriority(os.PRIO_PROCESS, parent, 19))\n\
                tried('user', lambda: os.setpriority(os.PRIO_USER, 0, 19))\n\
                tried('affinity', lambda: os.sched_setaffinity(parent, {0}))\n\
                told('disk', libc.syscall(IOPRIO_SET, 1, parent, 0))\n\
                tried('own', lambda: (os.nice(1), os.sched_setaffinity(0, os.sched_getaffinity(0))))\n\
                tried('copy', lambda: (open('a', 'w').close(), shutil.copy2('a', 'b')))\n\
                thread = threading.Thread(target=print, args=('thread',))\nthread.start()\nthread.join()\n";
    let text = text
        .replace("USERFAULTFD", &libc::SYS_userfaultfd.to_string())
        .replace("IOPRIO_SET", &libc::SYS_ioprio_set.to_string());
    let mut demo = Demo::new("demo.py", &text);
    let outside = demo.world.home().join("secret");
    fs::write_atomic(&outside, b"secret").expect("writes");
    demo.options.args = vec![outside.into()];
    let ran = demo.run();
    assert_eq!(
        ran.stdout.text().lines().collect::<Vec<_>>(),
        [
            "inotify ENOSYS",
            "fanotify ENOSYS",
            "unshare EPERM",
            "setns EPERM",
            "faults EPERM",
            "read ENOTSUP",
            "write ENOTSUP",
            "list ENOTSUP",
            "nice EPERM",
            "user EPERM",
            "affinity EPERM",
            "disk EPERM",
            "own open",
            "copy open",
            "thread"
        ],
        "{}",
        ran.stderr.text()
    );
}

/// Common programs that scripts call work as usual.
#[test]
fn usual_programs_work_in_the_sandbox() {
    let programs = [
        ("bash", "bash -c 'cat <(echo bash) && ls -l . >ls && cp -a ls copied && tail -n 1 ls >/dev/null'"),
        (
            "git",
            "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m git && git log --format=%s",
        ),
        (
            "node",
            "node -e 'const {execFileSync} = require(\"child_process\"); new (require(\"worker_threads\").Worker)(\"0\", {eval: true}).on(\"exit\", () => process.stdout.write(execFileSync(\"echo\", [\"node\"])))'",
        ),
        (
            "python3",
            "python3 -c 'import concurrent.futures as f; print(list(f.ThreadPoolExecutor(2).map(str, [\"python3\"]))[0])'",
        ),
    ];
    for (name, line) in programs {
        let search = "/usr/local/bin:/usr/bin:/bin";
        let there = search.split(':').any(|dir| fs::may_execute(&Path::new(dir).join(name)));
        if !there {
            skip_without(name);
            continue;
        }
        let demo = Demo::sh(&format!("{line}\n"));
        let settings = demo.world.settings(&[("PATH", search)]);
        let ran =
            run(&settings, &demo.script(), &demo.surroundings, &demo.options, &mut Unwatched).expect("runs");
        assert_eq!(ran.stdout.text(), format!("{name}\n"), "{}", ran.stderr.text());
        assert_eq!(ran.stderr.text(), "", "{name}");
    }
}

/// Root can read the passwords and keys below `/etc`; its scripts can read only files that all users may read.
#[test]
fn keys_of_root_are_kept_from_it() {
    if !has_landlock() || !rustix::process::geteuid().is_root() || !fs::may_execute(Path::new("/bin/cat")) {
        return;
    }
    let private = Path::new("/etc/shadow");
    if fs::is_public(private) || !matches!(fs::kind(private), Ok(Some(_))) {
        return;
    }
    let text = "cat /etc/shadow && echo READ\ncat /etc/passwd >/dev/null && echo passwd\n\
                ls /etc >/dev/null && echo listed\nexit 0\n";
    let mut demo = Demo::sh(text);
    assert_eq!(demo.run().stdout.text(), "passwd\nlisted\n");
    demo.options.read = vec![private.into()];
    assert!(demo.run().stdout.text().contains("READ"), "who means it says so");
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
    if has_landlock() {
        assert_eq!(demo.run().stdout.text(), "open\nopen\nclosed\nb'x'\n");
    }
    demo.options.no_network = true;
    for mode in [Mode::Auto, Mode::Off] {
        demo.options.sandbox = mode;
        let ran = demo.run();
        assert_eq!(ran.stdout.text(), "closed\nclosed\nclosed\nb'x'\n", "{}", ran.stderr.text());
        assert!(ran.sandbox.no_network && ran.sandbox.seccomp);
    }
}

/// Pairs that can be redirected count as sockets, too; those that Python's own libraries need are allowed.
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

/// The mark that identifies a script cannot be removed, and the threads of this process do not have it.
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
