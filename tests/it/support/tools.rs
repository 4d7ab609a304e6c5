//! Programs that tests run for real.

use std::path::PathBuf;

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

/// Says that a test is skipped, since this machine lacks the program `name`.
///
/// # Panics
///
/// On a build machine, where the variable `CI` is set: `make test-tools` has installed every program there, and a
/// test that did not run must not look like one that passed.
pub fn skip_without(name: &str) {
    let is_build_machine = std::env::var("CI").is_ok_and(|value| !matches!(&*value, "" | "0" | "false"));
    assert!(
        !is_build_machine,
        "`{name}` was not found, and with `CI` set no test is skipped: `make test-tools` installs it"
    );
    eprintln!("skipped: `{name}` was not found; `make test-tools` installs it");
}
