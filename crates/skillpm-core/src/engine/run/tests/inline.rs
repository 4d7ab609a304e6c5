//! Scripts with inline metadata, and stand-ins for the programs that bring packages along. Where these are the real ones is
//! tested with the command line.

use super::*;

/// A script with inline metadata that a shell can run, too.
fn script(metadata: &str) -> String {
    format!("# /// script\n# {metadata}\n# ///\necho \"ran $VIRTUAL_ENV\"\nreadlink -f /proc/$$/exe\n")
}

/// Writes the shell script `text` as the program `name`, which is in `PATH` from now on.
fn stand_in(demo: &mut Demo, name: &str, text: &str) {
    let bin = demo.world.project().join("bin");
    fs::create_dir_all(&bin).expect("creates");
    let program = bin.join(name);
    fs::write_atomic(&program, format!("#!/bin/sh\n{text}").as_bytes()).expect("writes");
    rustix::fs::chmod(&program, rustix::fs::Mode::RWXU).expect("changes the mode");
    demo.surroundings.env.insert("PATH".into(), format!("{}:/usr/bin:/bin", bin.display()).into());
}

/// A script with this `metadata` that a shell runs as if it were Python.
fn demo(metadata: &str) -> Demo {
    let demo = Demo::new("demo.py", &script(metadata));
    let bin = demo.world.project().join("bin");
    fs::create_dir_all(&bin).expect("creates");
    fs::symlink(Path::new("/bin/sh"), &bin.join("python3")).expect("links");
    demo
}

/// A program that notes how it was called, and makes what `uv venv` makes.
const UV: &str = "log=\"${0%/*}/log\"\necho \"$(pwd) $VIRTUAL_ENV$UV_PYTHON$SECRET_TOKEN\" >> \"$log\"\n\
    for word in \"$@\"; do printf '<%s>' \"$word\" >> \"$log\"; last=$word; done\necho >> \"$log\"\n\
    case \"$*\" in *venv*) mkdir -p \"$last/bin\" && ln -s /bin/sh \"$last/bin/python\";; esac\necho NOISE\n";

fn log(demo: &Demo) -> String {
    let log = demo.world.project().join("bin/log");
    let bytes = fs::read_capped(&log, 1 << 20).expect("reads").unwrap_or_default();
    String::from_utf8(bytes).expect("text")
}

fn warnings(ran: &Ran) -> Vec<String> {
    ran.warnings.iter().map(ToString::to_string).collect()
}

/// `uv` gets names and versions, and options with which nothing of a package runs. The environment is gone afterwards.
#[test]
fn an_environment_is_made_before_the_script_starts() {
    let mut demo =
        demo("dependencies = ['six', 'rich>=13; python_version > \"3\"']\n# requires-python = '>=3.9'");
    stand_in(&mut demo, "uv", UV);
    let ran = demo.run();
    let shown = ran.stdout.text();
    let environment =
        shown.lines().next().and_then(|line| line.strip_prefix("ran ")).expect("an environment");
    assert!(environment.ends_with("/environment"), "{shown}");
    assert!(!shown.contains("NOISE") && warnings(&ran).is_empty(), "{shown}");
    assert_eq!(ran.interpreter, Path::new(environment).join("bin/python"));
    assert!(!fs::exists(Path::new(environment)));
    let expected = format!(
        "/ s3cret\n<--quiet><venv><--no-project><--no-python-downloads><--python><>=3.9><{environment}>\n/ s3cret\n\
         <--quiet><pip><install><--only-binary><:all:><--no-compile-bytecode><--python><{environment}/bin/python><--><six>\
         <rich>=13; python_version > \"3\">\n"
    );
    assert_eq!(log(&demo), expected);
}

/// What was chosen is not replaced, a run without a network makes do with what was fetched before, and nothing that names an
/// address or a program gets through.
#[test]
fn what_a_script_cannot_decide() {
    let mut demo = demo("dependencies = []\n# requires-python = '/tmp/evil/python'");
    stand_in(&mut demo, "uv", UV);
    demo.options.no_network = true;
    demo.run();
    let usual = demo.world.project().join("bin/python3");
    let first = log(&demo).lines().nth(1).expect("a call").to_owned();
    assert!(first.starts_with("<--quiet><--offline><venv>"), "{first}");
    assert!(first.contains(&format!("<--python><{}>", usual.display())), "{first}");
    assert!(!log(&demo).contains("pip"), "there is nothing to install");

    let mut demo = self::demo("dependencies = ['six']\n# requires-python = '>=3.9'");
    stand_in(&mut demo, "uv", UV);
    demo.options.interpreters.insert("python".into(), "/bin/sh".into());
    demo.run();
    assert!(log(&demo).contains("<--python></bin/sh>"), "{}", log(&demo));

    let mut demo = self::demo("dependencies = ['six', 'x @ git+https://example.com/x']");
    stand_in(&mut demo, "uv", UV);
    let ran = demo.run();
    assert_eq!(log(&demo), "");
    assert_eq!(
        warnings(&ran),
        ["`scripts/demo.py` of `demo` may fail: it does not get what it requires, `six` and \
          `x @ git+https://example.com/x`: `x @ git+https://example.com/x` does not name a package of an index"]
    );
    assert_eq!(ran.stdout.text().lines().next(), Some("ran "), "it runs nevertheless");
}

#[test]
fn why_there_is_no_environment_is_told() {
    let mut demo = demo("dependencies = ['six']");
    stand_in(
        &mut demo,
        "uv",
        "printf 'error: No solution found\\n  cause: six is not there\\n\\nhint: x\\n' >&2; exit 1\n",
    );
    let ran = demo.run();
    let told = "`scripts/demo.py` of `demo` may fail: it does not get what it requires, `six`: No solution found: six is not there";
    assert_eq!(warnings(&ran), [told]);
    assert_eq!(ran.stdout.text().lines().next(), Some("ran "), "it runs nevertheless");
    // The time that a script may take is also that of what comes before it.
    stand_in(&mut demo, "uv", "sleep 60\n");
    demo.options.limits.timeout = Duration::from_millis(500);
    assert!(warnings(&demo.run())[0].ends_with("it took more than 0.5 seconds"));
}

#[test]
fn who_stops_a_run_stops_what_comes_before_it() {
    struct Stopping;
    impl Watch for Stopping {
        fn is_stopped(&mut self) -> bool {
            true
        }
    }
    let mut demo = demo("dependencies = ['six']");
    stand_in(&mut demo, "uv", "sleep 60\n");
    let error = run(&demo.settings(), &demo.script(), &demo.surroundings, &demo.options, &mut Stopping)
        .expect_err("stopped");
    assert!(error.to_string().starts_with("interrupted"), "{error}");
}

/// `pipx` starts code of packages, so it runs where the script runs.
#[test]
fn pipx_is_kept_in_the_sandbox() {
    let mut demo = demo("dependencies = ['six']");
    let secret = demo.world.home().join("secret");
    fs::write_atomic(&secret, b"secret").expect("writes");
    let text = format!("printf '<%s>' \"$@\"; echo $HOME; cat {}\n", secret.display());
    stand_in(&mut demo, "pipx", &text);
    demo.options.args = vec!["--flag".into()];
    let ran = demo.run();
    let shown = ran.stdout.text();
    assert!(shown.starts_with("<run></"), "{shown}");
    assert!(shown.contains("/scripts/demo.py><--flag>") && shown.contains("/home\n"), "{shown}");
    assert!(!has_landlock() || !shown.contains("secret"), "{shown}");
    demo.options.interpreters.insert("python".into(), "python3".into());
    assert!(demo.run().stdout.text().starts_with("ran \n"), "a chosen Python is taken as it is");
    demo.options.interpreters.clear();
    demo.options.no_network = true;
    assert!(
        warnings(&demo.run())[0].ends_with("`pipx` downloads packages for each run, and the network is off")
    );
    // A script without metadata, and one that asks for no package, needs neither.
    demo.world.write("demo/scripts/demo.py", &script("requires-python = '>=3'"));
    let ran = demo.run();
    assert!(warnings(&ran).is_empty() && ran.stdout.text().starts_with("ran \n"), "{}", ran.stdout.text());
}
