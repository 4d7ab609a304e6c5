//! Which program runs a script, with real environments of Python and the real `uv`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Output, Sandbox, program};

/// The packages that the tests have, as `python3 -m zipfile` makes wheels of them.
const METADATA: &str = "Metadata-Version: 2.1\nName: brought\nVersion: 1.0\n";
const WHEEL: &str = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
const RECORD: &str = "brought.py,,\nbrought.pth,,\nbrought-1.0.dist-info/METADATA,,\nbrought-1.0.dist-info/WHEEL,,\n\
                      brought-1.0.dist-info/RECORD,,\n";

/// A project with the skill `demo` installed, whose script is this one.
fn installed(script: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "src/demo/SKILL.md",
        "---\nname: demo\ndescription: Shows scripts. Use it in tests.\n---\n\n# Demo\n",
    );
    sandbox.write("src/demo/scripts/show.py", script);
    sandbox.ok(&["install", "./src/demo"]);
    sandbox
}

fn run(sandbox: &Sandbox, args: &[&str]) -> Output {
    sandbox.run(&[&["run"], args, &["demo", "show"]].concat())
}

fn python(dir: &Path, args: &[&str]) {
    let done = Command::new("python3").args(args).current_dir(dir).status().expect("starts");
    assert!(done.success(), "{args:?}");
}

/// A script with the packages of an environment that the project has.
#[test]
fn the_python_of_an_environment() {
    if program("python3").is_none() {
        return;
    }
    let mut sandbox = installed("import own, sys\nprint(own.WORD, sys.argv[1:])\n");
    let output = run(&sandbox, &[]);
    assert!(output.code == Some(1) && output.stderr.contains("lacks the Python module `own`"), "{output}");
    // Outside of the project, which scripts can read anyway.
    let venv = sandbox.home().join("envs/one");
    std::fs::create_dir_all(&venv).expect("directories");
    python(&venv, &["-m", "venv", "--without-pip", "."]);
    let lib = std::fs::read_dir(venv.join("lib")).expect("lists").flatten().next().expect("a version").path();
    std::fs::write(lib.join("site-packages/own.py"), "WORD = 'own'\n").expect("a file");
    let program = venv.join("bin/python").display().to_string();
    let chosen = format!("python={program}");
    let path = format!("PATH={}:/usr/bin:/bin", venv.join("bin").display());
    for args in [["--python", &program], ["--interpreter", &chosen], ["--env", &path]] {
        let output = sandbox.ok(&[&["run"], &args[..], &["demo", "show", "x"]].concat());
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("own ['x']\n", ""), "{output}");
    }
    let output = sandbox.ok(&["run", "--json", "--python", "../home/envs/one/bin/python", "demo", "show"]);
    let value: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let shown = value["interpreter"].as_str().expect("a path");
    assert!(shown.ends_with("/project/../home/envs/one/bin/python"), "{shown}");
    // The caller's own variable, as in an environment that is active.
    sandbox.env("PATH", &path["PATH=".len()..]);
    assert_eq!(run(&sandbox, &[]).stdout, "own []\n");
}

#[test]
fn what_cannot_be_chosen() {
    let sandbox = installed("");
    insta::assert_snapshot!(run(&sandbox, &["--interpreter", "pythn=python3"]), @"
    exit: 2
    --- stderr
    error: no interpreter is called `pythn`
    hint: did you mean `python`?
    hint: a program can be chosen for `ash`, `bash`, `dash`, `ksh`, `lua`, `node`, `perl`, `php`, `pwsh`, `python`, `Rscript`, `ruby`, `sh` and `zsh`
    ");
    insta::assert_snapshot!(run(&sandbox, &["--python", ".venv/bin/python"]), @"
    exit: 2
    --- stderr
    error: `.venv/bin/python`, which should run scripts in `python`, does not exist
    hint: name a program in `PATH` or the path of one: `--interpreter python=PROGRAM`
    ");
    insta::assert_snapshot!(run(&sandbox, &["--python", "python3", "--interpreter", "python=python3"]), @"
    exit: 2
    --- stderr
    error: two programs are to run scripts for `python`
    hint: name one: `--interpreter python=PROGRAM`
    ");
    let output = run(&sandbox, &["--interpreter", "python3"]);
    assert!(
        output.code == Some(2) && output.stderr.contains("such as `python=.venv/bin/python`"),
        "{output}"
    );
    let output = sandbox.run(&["mcp", "--python", "no-such-python"]);
    assert!(
        output.code == Some(2)
            && output.stderr.contains("which should run scripts in `python`, does not exist"),
        "{output}"
    );
}

/// A machine with `uv`, for which `brought` is the only package there is: as a wheel, or as a source that would have to be
/// built. Both note in `home` when their code runs.
fn with_uv(sandbox: &mut Sandbox) -> Option<()> {
    program("python3")?;
    let uv = skillpm_testing::tools::python("python-env-mcp")?.with_file_name("uv");
    let packages = sandbox.root().join("packages");
    let noted = |name: &str| format!("open({:?}, 'w')", sandbox.home().join(name).display().to_string());
    let write = |path: &str, text: &str| {
        let path = sandbox.root().join(path);
        std::fs::create_dir_all(path.parent().expect("has one")).expect("directories");
        std::fs::write(path, text).expect("a file");
    };
    write("wheel/brought.py", "WORD = 'brought'\n");
    write("wheel/brought.pth", &format!("import os; {}\n", noted("started")));
    for (name, text) in [("METADATA", METADATA), ("WHEEL", WHEEL), ("RECORD", RECORD)] {
        write(&format!("wheel/brought-1.0.dist-info/{name}"), text);
    }
    write("built-1.0/PKG-INFO", &METADATA.replace("brought", "built"));
    write("built-1.0/setup.py", &format!("{}\nfrom setuptools import setup\nsetup()\n", noted("built")));
    std::fs::create_dir(&packages).expect("a directory");
    let wheel = packages.join("brought-1.0-py3-none-any.whl").display().to_string();
    let files = ["brought.py", "brought.pth", "brought-1.0.dist-info"];
    python(&sandbox.root().join("wheel"), &[&["-m", "zipfile", "-c", &wheel], &files[..]].concat());
    let source = packages.join("built-1.0.tar.gz").display().to_string();
    python(sandbox.root(), &["-m", "tarfile", "-c", &source, "built-1.0"]);
    let path = format!("{}:/usr/bin:/bin", uv.parent().expect("has one").display());
    let packages = packages.display().to_string();
    for (name, value) in [("PATH", path.as_str()), ("UV_FIND_LINKS", &packages), ("UV_OFFLINE", "1")] {
        sandbox.env(name, value);
    }
    Some(())
}

fn with_metadata(dependencies: &str) -> Sandbox {
    installed(&format!(
        "#!/usr/bin/env -S uv run --script\n# /// script\n# requires-python = \">=3.8\"\n# dependencies = [{dependencies}]\n\
         # ///\nimport subprocess, sys\ntry:\n    import brought\n    print(brought.WORD, flush=True)\nexcept ImportError as error:\n    \
         print(error, flush=True)\nprint(sys.argv[1:], flush=True)\n\
         subprocess.run(['python3', '-c', 'import sys; print(sys.prefix != sys.base_prefix)'])\n"
    ))
}

/// Packages come without their code running outside of the sandbox, and stay for a run without a network.
#[test]
fn uv_brings_packages_along() {
    let mut sandbox = with_metadata("\"brought>=1\"");
    if with_uv(&mut sandbox).is_none() {
        return;
    }
    for args in [&[][..], &["--no-network"], &["--python", "/usr/bin/python3"]] {
        let output = sandbox.ok(&[&["run"], args, &["demo", "show", "x"]].concat());
        assert_eq!(output.stdout, "brought\n['x']\nTrue\n", "{output}");
        assert!(!output.stderr.contains("warning"), "{output}");
    }
    // The program that a package has Python start did, and could not leave the sandbox.
    assert!(!sandbox.home().join("started").exists());
    let output = sandbox.ok(&["run", "--sandbox", "off", "demo", "show"]);
    assert_eq!(output.stdout, "brought\n[]\nTrue\n", "{output}");
    assert!(sandbox.home().join("started").exists());
}

/// What would have to be built is not, and a script without its packages runs after a warning.
#[test]
fn nothing_is_built() {
    for (dependencies, reason) in [
        ("\"built\"", "built"),
        ("\"brought @ file:///nowhere/brought-1.0-py3-none-any.whl\"", "does not name a package of an index"),
        ("\"absent\"", "absent"),
    ] {
        let mut sandbox = with_metadata(dependencies);
        if with_uv(&mut sandbox).is_none() {
            return;
        }
        let output = sandbox.ok(&["run", "demo", "show"]);
        assert!(output.stdout.starts_with("No module named 'brought'\n[]\n"), "{output}");
        let first = output.stderr.lines().next().unwrap_or_default();
        let told = "warning: `scripts/show.py` of `demo` may fail: it does not get what it requires, `";
        assert!(first.starts_with(told) && first.contains(reason), "{output}");
        assert!(output.stderr.contains("`--interpreter python=PROGRAM`"), "{output}");
        assert!(!sandbox.home().join("built").exists());
    }
}

/// Where nothing brings packages along, they are named with what to do.
#[test]
fn packages_that_nothing_brings_are_named() {
    if program("python3").is_none() {
        return;
    }
    let mut sandbox =
        installed("# /// script\n# dependencies = [\"brought>=1\"]\n# ///\nprint('runs nevertheless')\n");
    sandbox.env("PATH", "/usr/bin:/bin");
    insta::assert_snapshot!(run(&sandbox, &[]), @"
    exit: 0
    --- stdout
    runs nevertheless
    --- stderr
    warning: `scripts/show.py` of `demo` may fail: it lacks the Python package `brought`
    hint: install `uv`, which provides what a script names, or choose a Python that has it with `--interpreter python=PROGRAM`
    ");
}
