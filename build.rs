//! Tells the program its target, and the commit that it is built from, where that can be known.

#![expect(clippy::disallowed_methods, reason = "a build script has no part in the rooms of the program")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=SKILLPM_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if let Some(commit) = commit(&package) {
        println!("cargo::rustc-env=SKILLPM_COMMIT={commit}");
    }
}

/// The first ten digits of the commit; `None` without git, and for a package that merely lies
/// somewhere inside another project's repository.
fn commit(package: &Path) -> Option<String> {
    let top = PathBuf::from(git(package, &["rev-parse", "--show-toplevel"])?);
    if top.canonicalize().ok()? != package.canonicalize().ok()? {
        return None;
    }
    watch(package);
    git(package, &["rev-parse", "--short=10", "HEAD"])
}

/// Runs this script again when another commit is checked out or made.
fn watch(package: &Path) {
    let mut names = vec!["HEAD".to_owned(), "packed-refs".to_owned(), "logs/HEAD".to_owned()];
    names.extend(git(package, &["symbolic-ref", "--quiet", "HEAD"]));
    for name in names {
        let Some(path) = git(package, &["rev-parse", "--git-path", &name]) else { continue };
        let path = package.join(path);
        // A file that is not there would run the script on every build.
        if path.is_file() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}

fn git(package: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(package).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
