//! The program that runs a script can be chosen.

use super::*;

/// A script that prints the program that runs it, if that is a shell.
const SELF: &str = "echo \"$0 $PROGRAM\"; readlink /proc/$$/exe\n";

fn choose(demo: &mut Demo, language: &str, program: impl Into<OsString>) {
    demo.options.interpreters.insert(language.into(), program.into());
}

#[test]
fn a_chosen_program_runs_scripts_of_its_language() {
    for (name, text) in [
        ("demo.py", SELF.to_owned()),
        ("demo", format!("#!/usr/bin/env python3\n{SELF}")),
        ("demo", format!("#!/nowhere/python3.12 -e\n{SELF}")),
        ("demo.sh", format!("#!/usr/bin/env -S uv run --script\n{SELF}")),
    ] {
        let mut demo = Demo::new(name, &text);
        choose(&mut demo, "python", "sh");
        choose(&mut demo, "node", "cat");
        let ran = demo.run();
        assert_eq!(ran.exit, Exit::Code(0), "{text}: {}", ran.stderr.text());
        assert!(ran.interpreter.ends_with("sh") && ran.stdout.text().contains(name), "{text}");
    }
    let mut demo = Demo::sh("exit 0\n");
    choose(&mut demo, "python", "cat");
    assert!(demo.run().interpreter.ends_with("sh"), "other scripts are run as usual");
}

/// A path is relative to the caller's working directory, and a name is looked for in the script's own `PATH` first.
#[test]
fn names_and_paths() {
    let mut demo = Demo::new("demo.py", SELF);
    let own = demo.world.project().join("own");
    fs::create_dir(&own).expect("creates");
    fs::symlink(Path::new("/bin/sh"), &own.join("python3")).expect("links");
    choose(&mut demo, "python", "own/python3");
    assert_eq!(demo.run().interpreter, own.join("python3"));
    demo.options.interpreters.clear();
    demo.surroundings.env.insert("PATH".into(), format!("relative:{}", own.display()).into());
    assert_eq!(demo.run().interpreter, own.join("python3"));
    choose(&mut demo, "python", "sh");
    assert_eq!(demo.run().interpreter.file_name(), Some("sh".as_ref()), "the caller's `PATH` counts, too");
}

#[test]
fn what_cannot_be_chosen_is_told() {
    let fails = |language: &str, program: &str| {
        // Whatever the script is.
        let mut demo = Demo::sh("exit 0\n");
        choose(&mut demo, language, program);
        let error = demo.fails();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let hints: Vec<_> = error.hints().iter().map(ToString::to_string).collect();
        format!("{error}: {}", hints.join("; "))
    };
    assert_eq!(
        fails("pyton", "python3"),
        "no interpreter is called `pyton`: did you mean `python`?; a program can be chosen for `ash`, `bash`, `dash`, \
         `ksh`, `lua`, `node`, `perl`, `php`, `pwsh`, `python`, `Rscript`, `ruby`, `sh` and `zsh`"
    );
    for missing in ["no-such-program", "./sh", "/nowhere/python", "", "/bin"] {
        assert_eq!(
            fails("python", missing),
            format!(
                "`{missing}`, which should run scripts in `python`, does not exist: name a program in `PATH` or the \
                 path of one: `interpreter=python=PROGRAM`"
            )
        );
    }
}

/// A virtual environment works in the sandbox, with its packages and the Python that it is made of.
#[test]
fn a_virtual_environment_can_be_read() {
    if !python() {
        return;
    }
    let mut demo = Demo::new("demo.py", "import brought, json, sys\nprint(brought.WORD, sys.prefix)\n");
    let venv = demo.world.home().join("venv");
    #[expect(clippy::disallowed_methods, reason = "a test makes its own environment")]
    let made = std::process::Command::new("/usr/bin/python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&venv)
        .status()
        .expect("starts");
    assert!(made.success());
    let lib = venv.join("lib");
    let version = fs::list_dir(&lib).expect("lists").remove(0);
    fs::write_atomic(&lib.join(version).join("site-packages/brought.py"), b"WORD = 'here'\n")
        .expect("writes");
    choose(&mut demo, "python", venv.join("bin/python"));
    for mode in [Mode::Auto, Mode::Off] {
        demo.options.sandbox = mode;
        let ran = demo.run();
        assert_eq!(ran.stdout.text(), format!("here {}\n", venv.display()), "{}", ran.stderr.text());
    }
    // The same for one that is found by the script's own variable.
    demo.options.interpreters.clear();
    demo.surroundings.env.insert("PATH".into(), venv.join("bin").into());
    assert!(demo.run().stdout.text().starts_with("here"));
}

/// The Python that an environment is made of may be anywhere, and a copy of it tells where only in a file.
#[test]
fn the_base_of_a_virtual_environment_is_open_and_nothing_else() {
    if !has_landlock() {
        return;
    }
    let mut demo = Demo::sh("cat \"$1\" && echo READ\ncat \"$2\" && echo READ\nexit 0\n");
    let home = demo.world.home().to_owned();
    for dir in ["venv/bin", "base/bin", "base/lib", "keys"] {
        fs::create_dir_all(&home.join(dir)).expect("creates");
    }
    for (file, text) in [("base/lib/module", "module "), ("keys/key", "key ")] {
        fs::write_atomic(&home.join(file), text.as_bytes()).expect("writes");
    }
    let shell = fs::read_capped(Path::new("/bin/sh"), 16 << 20).expect("reads").expect("is there");
    let program = home.join("venv/bin/sh");
    fs::write_atomic(&program, &shell).expect("writes");
    rustix::fs::chmod(&program, rustix::fs::Mode::RWXU).expect("changes the mode");
    fs::symlink(Path::new("/bin/sh"), &home.join("base/bin/python3")).expect("links");
    choose(&mut demo, "sh", program);
    demo.options.args = vec![home.join("base/lib/module").into(), home.join("keys/key").into()];
    let with = |base: &str| {
        let text = format!("home = {}\nversion = 3.11.2\n", home.join(base).display());
        fs::write_atomic(&home.join("venv/pyvenv.cfg"), text.as_bytes()).expect("writes");
        demo.run().stdout.text()
    };
    assert_eq!(with("base/bin"), "module READ\n");
    // Where there is no Python, or it is beside the user's own files.
    assert_eq!(with("keys"), "");
    fs::symlink(Path::new("/bin/sh"), &home.join("python3")).expect("links");
    assert_eq!(with(""), "");
    assert_eq!(with("../../../../../../../../../../.."), "");
}
