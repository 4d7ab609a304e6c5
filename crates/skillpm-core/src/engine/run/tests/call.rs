//! The arguments, input and environment of a script, and its working directory.

use super::*;

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

/// Conflict C19: standard input is empty, or has the given bytes, such as JSON.
#[test]
fn standard_input_is_closed_unless_it_is_given() {
    let mut demo = Demo::sh("cat\n");
    assert_eq!(demo.run().stdout.text(), "");
    let big = "{\"a\": 1}".repeat(100_000);
    demo.options.stdin = Stdin::Bytes(big.clone().into_bytes());
    assert_eq!(demo.run().stdout.text(), big);
}

/// Conflict C19, THREATS 3: the environment of the caller is not passed on.
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
    demo.surroundings.env.insert("SECRET_TOKEN".into(), "given".into());
    assert!(demo.run().stdout.text().contains("SECRET_TOKEN"));
}

/// S1-D4: a script that breaks its own process does not affect the caller.
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
    demo.surroundings.cwd = WorkDir::Here;
    assert_eq!(demo.run().stdout.text(), format!("{}\nSKILL.md\nscripts\n", demo.world.project().display()));
    demo.surroundings.cwd = WorkDir::Skill;
    let shown = demo.run().stdout.text();
    assert!(shown.ends_with("/skill\nSKILL.md\nscripts\n"), "{shown}");
    demo.surroundings.cwd = WorkDir::Dir(work.join("nowhere"));
    assert!(demo.fails().to_string().contains("there is no directory"), "{}", demo.fails());
}

/// Scripts can read the files beside them, and leave nothing there.
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
        let ran = run(&demo.settings(), &demo.script(), &demo.surroundings, &options, &mut Unwatched)
            .expect("runs");
        assert_eq!(ran.stdout.text(), "help\nreference\n", "{}", ran.stderr.text());
        assert_eq!(Some(ran.digest), before);
    }
    let names: Vec<_> = fs::list_dir(&demo.world.project().join("demo/scripts")).expect("lists");
    assert_eq!(names, ["demo.py", "helper.py"], "no `__pycache__`");
    assert_eq!(demo.script().digest, before);
}
