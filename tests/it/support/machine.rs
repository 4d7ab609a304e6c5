//! What a whole machine looks like, and runs of the program that may use only so much of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output as Ended, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use skillpm_format::digest::Digest;

use super::Sandbox;
use super::sandbox::Output;

/// Everything below a directory: by path the mode, and the digest or the target.
pub type Seen = BTreeMap<String, String>;

/// How long a run may take before it is ended. Nothing is measured by it.
const PATIENCE: Duration = Duration::from_mins(1);

/// What a run of the program may use.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// Memory that it may write to, in MiB.
    pub memory: u32,
    /// Bytes of one file, in MiB.
    pub file: u32,
    /// Processor time, in seconds.
    pub seconds: u32,
}

impl Machine {
    /// What is enough for anything that comes from outside.
    pub const USUAL: Self = Self { memory: 128, file: 60, seconds: 10 };

    /// Runs the program in `sandbox`: beyond the limits the system ends it, and what does not end is
    /// killed.
    pub fn run(self, sandbox: &Sandbox, args: &[&str]) -> Output {
        let inner = sandbox.command(args);
        let limits = format!(
            "ulimit -d {} && ulimit -f {} && ulimit -t {} && exec \"$0\" \"$@\"",
            self.memory << 10,
            self.file << 11,
            self.seconds
        );
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &limits]).arg(inner.get_program()).args(inner.get_args());
        command.current_dir(sandbox.project()).env_clear().stdin(Stdio::null());
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        ended(sandbox, &watched(command, &args.join(" ")))
    }
}

/// Runs `command` to its end; a test fails whose program does not end.
///
/// # Panics
///
/// Where it has to be killed.
pub fn watched(mut command: Command, what: &str) -> Ended {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("starts");
    let id = child.id();
    let (done, ended) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let hangs = ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout);
        if hangs {
            end(id);
        }
        hangs
    });
    let output = child.wait_with_output().expect("ends");
    drop(done);
    assert!(!watch.join().expect("no panic"), "`{what}` had to be killed");
    output
}

/// What a run in `sandbox` left, with its directory as `[DIR]`.
pub fn ended(sandbox: &Sandbox, output: &Ended) -> Output {
    let root = sandbox.root().display().to_string();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&root, "[DIR]");
    Output { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// Kills the process `id`, which has not been waited for yet.
#[cfg(unix)]
pub fn end(id: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// There is no signal on this system: the test runner's own limit has to do.
#[cfg(not(unix))]
pub fn end(_id: u32) {}

/// Looks at everything below `dir` but what lies in `except`, paths below it.
pub fn look(dir: &Path, except: &[&str]) -> Seen {
    let mut seen = Seen::new();
    walk(dir, "", except, &mut seen);
    seen
}

fn walk(dir: &Path, prefix: &str, except: &[&str], seen: &mut Seen) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("an entry");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if except.contains(&name.as_str()) {
            continue;
        }
        let kind = entry.file_type().expect("a type");
        let what = if kind.is_symlink() {
            format!("-> {}", std::fs::read_link(entry.path()).expect("a link").display())
        } else if kind.is_dir() {
            walk(&entry.path(), &format!("{name}/"), except, seen);
            "directory".to_owned()
        } else if kind.is_file() {
            // What is too large to be read is known by its size.
            let length = entry.metadata().expect("metadata").len();
            if length > 64 << 20 {
                format!("{length} bytes")
            } else {
                Digest::of(&std::fs::read(entry.path()).expect("a file")).to_string()
            }
        } else {
            "special".to_owned()
        };
        seen.insert(name, format!("{:o} {what}", mode(&entry.path())));
    }
}

#[cfg(unix)]
fn mode(path: &PathBuf) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::symlink_metadata(path).expect("metadata").permissions().mode() & 0o7777
}

#[cfg(not(unix))]
fn mode(_path: &PathBuf) -> u32 {
    0
}

/// The contents of all files below `dir`, links not followed.
pub fn blobs(dir: &Path) -> std::collections::BTreeSet<Vec<u8>> {
    let mut blobs = std::collections::BTreeSet::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).expect("a directory") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a type");
            if kind.is_dir() {
                dirs.push(entry.path());
            } else if kind.is_file() {
                blobs.insert(std::fs::read(entry.path()).expect("a file"));
            }
        }
    }
    blobs
}

/// The paths that one of the two has and the other has not, or has otherwise.
pub fn differences(before: &Seen, after: &Seen) -> Vec<String> {
    let all: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}
