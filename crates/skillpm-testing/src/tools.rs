//! Programs that tests run for real.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::is_set;

/// Finds a program by its name, in the places where system programs lie too.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// Finds a program that a test needs. Where there is none, the test is skipped: see [`skip_without`].
pub fn program(name: &str) -> Option<PathBuf> {
    let found = find_program(name);
    if found.is_none() {
        skip_without(name);
    }
    found
}

/// Finds a script of a package of npm that a test needs, such as `skills/bin/cli.mjs`, where `make test-tools` puts it.
/// Where there is none, the test is skipped: see [`skip_without`].
pub fn script(path: &str) -> Option<PathBuf> {
    let found = modules().map(|modules| modules.join(path)).filter(|script| script.is_file());
    if found.is_none() {
        skip_without(path.split('/').next().unwrap_or(path));
    }
    found
}

/// Finds a Node that runs: the one that `make test-tools` fetched, else the machine's. Where there is none, the test is
/// skipped: see [`skip_without`].
pub fn node() -> Option<PathBuf> {
    let fetched = modules().and_then(|modules| {
        std::fs::read_dir(modules).into_iter().flatten().flatten().find_map(|entry| {
            let is_node = entry.file_name().to_string_lossy().starts_with("node-");
            let bin = ["bin/node", "bin/node.exe"].map(|bin| entry.path().join(bin));
            bin.into_iter().find(|bin| is_node && bin.exists())
        })
    });
    let node = fetched.unwrap_or_else(|| PathBuf::from("node"));
    let runs = Command::new(&node).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if runs.is_ok_and(|status| status.success()) {
        return Some(node);
    }
    skip_without("node");
    None
}

/// Finds the Python of an environment that `make test-tools` makes beside what Cargo builds, such as `python-env-mcp`.
/// Where there is none, the test is skipped: see [`skip_without`].
pub fn python(environment: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().expect("a test");
    let places = ["bin/python", "Scripts/python.exe"].map(|place| format!("{environment}/{place}"));
    let found = test
        .ancestors()
        .flat_map(|dir| places.iter().map(|place| dir.join(place)))
        .find(|python| python.is_file());
    if found.is_none() {
        skip_without(environment);
    }
    found
}

/// The packages of npm that `make test-tools` fetched: beside what Cargo builds.
fn modules() -> Option<PathBuf> {
    let test = std::env::current_exe().expect("a test");
    test.ancestors().map(|dir| dir.join("test-tools/node_modules")).find(|dir| dir.is_dir())
}

/// Says that a test is skipped, since this machine lacks the program `name`.
///
/// # Panics
///
/// On a build machine, where the variable `CI` is set: `make test-tools` has installed every program there, and a
/// test that did not run must not look like one that passed.
pub fn skip_without(name: &str) {
    assert!(
        !is_set("CI"),
        "`{name}` was not found, and with `CI` set no test is skipped: `make test-tools` installs it"
    );
    println!("skipped: `{name}` was not found; `make test-tools` installs it");
}
