//! Tells the program the commit that it is built from, where that can be known, and links the C library into it.

#![expect(clippy::disallowed_methods, reason = "a build script has no part in the rooms of the program")]

use std::env::{var, var_os};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    if let Some(commit) = commit(&package) {
        println!("cargo::rustc-env=SKILLPM_COMMIT={commit}");
    }
    if let Some(linking) = Linking::of_program() {
        for argument in linking.arguments() {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
        if linking.is_static {
            println!("cargo::rustc-env=SKILLPM_LIBC=static");
        }
    }
}

/// Names of the shared libraries of C, and what is to be linked in their place. The library needs the unwinder and the
/// compiler's arithmetic, and they need it.
const STATIC: [(&str, &str); 2] =
    [("libc.so", "GROUP ( -l:libc.a -lgcc_eh -lgcc )\n"), ("libm.so", "GROUP ( -l:libm.a )\n")];

/// How the program takes GCC's unwinder and the C library into itself, in place of shared libraries that have to be
/// found, loaded and bound: with the library inside, a short command takes two thirds of the time, and the program
/// runs where another C library is, or none. It still lies at a random address.
///
/// Only the program is linked so: what the library becomes a part of has a C library already.
struct Linking {
    /// A directory in which the names of the shared libraries lead to archives.
    directory: String,
    /// Whether the C library is in the program too, and not only the unwinder.
    is_static: bool,
}

impl Linking {
    /// `None` where that is no question, where the compiler has no such archives, and where who builds has
    /// flags of their own: then all is as it would be.
    fn of_program() -> Option<Self> {
        println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
        println!("cargo::rerun-if-env-changed=SKILLPM_STATIC");
        let is = |name: &str, value: &str| var(name).is_ok_and(|found| found == value);
        if !is("CARGO_CFG_TARGET_OS", "linux")
            || !is("CARGO_CFG_TARGET_ENV", "gnu")
            || !is("HOST", &var("TARGET").ok()?)
        {
            return None;
        }
        let linker = var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
        if !has(&linker, "libgcc_eh.a") {
            return None;
        }
        let own_flags = var_os("CARGO_ENCODED_RUSTFLAGS").is_some_and(|flags| !flags.is_empty());
        // What starts a program at a random address without a loader, and what it needs.
        let is_static = !own_flags
            && !is("SKILLPM_STATIC", "0")
            && ["rcrt1.o", "libc.a", "libm.a"].iter().all(|file| has(&linker, file))
            // Before 2.34 the C library was several, and the others would stay shared.
            && !has(&linker, "libpthread.so");
        let out = PathBuf::from(var_os("OUT_DIR")?);
        let directory = out.join("libraries");
        fs::create_dir_all(&directory).ok()?;
        let mut scripts = vec![("libgcc_s.so", "INPUT ( -lgcc_eh )\n")];
        // One that an earlier build left would be found as well.
        for (stale, _) in STATIC {
            let _ = fs::remove_file(directory.join(stale));
        }
        if is_static {
            scripts.extend(STATIC);
        }
        for (name, script) in scripts {
            fs::write(directory.join(name), script).ok()?;
        }
        let linking = Self { directory: directory.to_str()?.to_owned(), is_static };
        if is_static && !linking.works(&linker, &out) {
            println!(
                "cargo::warning=a program with the C library in it does not run here: it is linked as a shared one"
            );
            for (name, _) in STATIC {
                let _ = fs::remove_file(directory.join(name));
            }
            return Some(Self { is_static: false, ..linking });
        }
        Some(linking)
    }

    /// Whether a small program that is linked so ends as it should: not every linker does what is asked of it.
    fn works(&self, linker: &OsStr, out: &Path) -> bool {
        let (source, program) = (out.join("trial.c"), out.join("trial"));
        // What finds the time and a thread's own values is what a wrong program misses.
        let text =
            "#include <errno.h>\n#include <time.h>\nint main(void) { errno = 0; return time(0) == 0; }\n";
        fs::write(&source, text).is_ok()
            && Command::new(linker)
                .arg(&source)
                .arg("-o")
                .arg(&program)
                .args(self.arguments())
                .args(["-lpthread", "-lm", "-lc"])
                .output()
                .is_ok_and(|output| output.status.success())
            && Command::new(&program).status().is_ok_and(|status| status.success())
    }

    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![format!("-L{}", self.directory)];
        if self.is_static {
            arguments.push("-static-pie".to_owned());
            // The standard library uses it where it is there, which does not bring it in. Without it a process
            // that is started in another directory costs a copy of this one.
            arguments.push("-Wl,-u,posix_spawn_file_actions_addchdir_np".to_owned());
        }
        arguments
    }
}

/// Whether `linker` has the file of that name among those that it links with.
fn has(linker: &OsStr, file: &str) -> bool {
    // What it does not know it gives back as it is.
    let output = Command::new(linker).arg(format!("-print-file-name={file}")).output();
    output.is_ok_and(|output| {
        output.status.success()
            && String::from_utf8(output.stdout).is_ok_and(|path| Path::new(path.trim()).is_file())
    })
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
