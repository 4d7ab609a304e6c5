//! Tells the program the commit that it is built from, where that can be known, and links the unwinder into it.

#![expect(clippy::disallowed_methods, reason = "a build script has no part in the rooms of the program")]

use std::env::{var, var_os};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if let Some(commit) = commit(&package) {
        println!("cargo::rustc-env=SKILLPM_COMMIT={commit}");
    }
    if let Some(libraries) = libraries() {
        println!("cargo::rustc-link-arg-bins=-L{}", libraries.display());
    }
}

/// A directory for the linker in which `gcc_s`, the shared library with GCC's unwinder that the standard library
/// asks for, is the same code as an archive. To find and load the shared one takes a tenth of a short command.
///
/// `None` where that is no question or the compiler has no such archive: then all is as it would be. Only the
/// program is linked so; what the library becomes a part of may have an unwinder already.
fn libraries() -> Option<PathBuf> {
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
    if !is("CARGO_CFG_TARGET_OS", "linux")
        || !is("CARGO_CFG_TARGET_ENV", "gnu")
        || !is("HOST", &var("TARGET").ok()?)
    {
        return None;
    }
    let linker = var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    // What it does not know it gives back as it is.
    let output = Command::new(linker).arg("-print-file-name=libgcc_eh.a").output().ok()?;
    if !output.status.success() || !Path::new(String::from_utf8(output.stdout).ok()?.trim()).is_file() {
        return None;
    }
    let libraries = PathBuf::from(var_os("OUT_DIR")?).join("libraries");
    fs::create_dir_all(&libraries).ok()?;
    fs::write(libraries.join("libgcc_s.so"), "INPUT ( -lgcc_eh )\n").ok()?;
    Some(libraries)
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
