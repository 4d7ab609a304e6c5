//! Runs scripts that behave, and scripts that do not.

mod bytes;
mod call;
mod end;
mod inline;
mod interpreters;
mod reach;

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use rustix::fs::{CWD, OFlags};

use super::*;
use crate::engine::testing::World;
use crate::error::ErrorKind;
use crate::fs;
use crate::refusal::Limits as TreeLimits;
use skillpm_testing::skip_without;

/// Lets a test that starts as many processes as it can run alone, because it slows everything else down.
static MACHINE: RwLock<()> = RwLock::new(());

thread_local! {
    /// Held once per test, however many skills the test has.
    static TOGETHER: RefCell<Option<RwLockReadGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// A skill called `demo` with one script.
struct Demo {
    world: World,
    path: String,
    surroundings: Surroundings,
    options: Options,
}

impl Demo {
    fn new(name: &str, text: &str) -> Self {
        // A failed test does not affect the others.
        let lock = || MACHINE.read().unwrap_or_else(PoisonError::into_inner);
        TOGETHER.with_borrow_mut(|held| {
            held.get_or_insert_with(lock);
        });
        Self::alone(name, text)
    }

    fn alone(name: &str, text: &str) -> Self {
        let world = World::new();
        world.skill("demo", "demo");
        let path = format!("scripts/{name}");
        world.write(&format!("demo/{path}"), text);
        let limits = Limits {
            timeout: Duration::from_secs(20),
            grace: Duration::from_millis(100),
            ..Limits::default()
        };
        let cwd = world.project().join("work");
        fs::create_dir_all(&cwd).expect("creates");
        let surroundings = Surroundings { cwd: WorkDir::Dir(cwd), ..Surroundings::default() };
        Self { world, path, surroundings, options: Options { limits, ..Options::default() } }
    }

    fn sh(text: &str) -> Self {
        Self::new("demo.sh", text)
    }

    fn settings(&self) -> Settings {
        // A home directory may have a shim for Python; use the system's own.
        self.world.settings(&[("PATH", "/usr/local/bin:/usr/bin:/bin"), ("SECRET_TOKEN", "s3cret")])
    }

    fn script(&self) -> Script {
        let tree = fs::tree_of(&self.world.project().join("demo")).expect("reads");
        let files = tree.skill("", &TreeLimits::default()).expect("a skill");
        Script {
            skill: "demo".into(),
            version: None,
            digest: Some(files.digest().expect("reads")),
            files,
            base: String::new(),
            path: self.path.clone(),
        }
    }

    fn run(&self) -> Ran {
        self.run_watched(&mut Unwatched)
    }

    fn run_watched(&self, watch: &mut dyn Watch) -> Ran {
        run(&self.settings(), &self.script(), &self.surroundings, &self.options, watch).expect("runs")
    }

    /// Makes a pipe `held` in the working directory. As long as a process has it open for writing, [`is_held`] returns
    /// `true`, even for a process that is too short-lived to be listed.
    fn pipe(&self) -> OwnedFd {
        let path = self.world.project().join("work/held");
        rustix::fs::mkfifoat(CWD, &path, rustix::fs::Mode::RWXU).expect("makes a pipe");
        rustix::fs::open(&path, OFlags::RDONLY | OFlags::NONBLOCK, rustix::fs::Mode::empty()).expect("opens")
    }

    fn fails(&self) -> Error {
        run(&self.settings(), &self.script(), &self.surroundings, &self.options, &mut Unwatched)
            .expect_err("does not run")
    }
}

/// Reports whether this kernel can restrict access to files; prints a note if it cannot.
fn has_landlock() -> bool {
    let there = Demo::sh("exit 0\n").run().sandbox.landlock.is_some();
    if !there {
        eprintln!("this kernel has no Landlock: what it keeps away is not tested");
    }
    there
}

/// Reports whether there is a process with `text` among its arguments.
fn is_running(text: &str) -> bool {
    let names = fs::list_dir(Path::new("/proc")).expect("lists");
    names.iter().filter(|name| name.bytes().all(|b| b.is_ascii_digit())).any(|pid| {
        let path = format!("/proc/{pid}/cmdline");
        let line = fs::read_capped(Path::new(&path), 1 << 20).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    })
}

fn is_held(pipe: &OwnedFd) -> bool {
    match rustix::io::read(pipe, &mut [0; 1]) {
        Ok(read) => read > 0,
        Err(error) => error == rustix::io::Errno::AGAIN,
    }
}

fn python() -> bool {
    let there = fs::may_execute(Path::new("/usr/bin/python3"));
    if !there {
        skip_without("/usr/bin/python3");
    }
    there
}
