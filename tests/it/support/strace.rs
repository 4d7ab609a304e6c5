//! The program under `strace`: which calls it makes of the system, and what it does when one of them
//! fails or is its last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::{Output, Sandbox, find_program, program};

/// The calls that change something. A system does not have all of them.
const CHANGING: &str = "?creat,?mkdir,?mkdirat,?write,?writev,?pwrite64,?pwritev,?sendfile,?copy_file_range,\
    ?splice,?fallocate,?truncate,?ftruncate,?rename,?renameat,?renameat2,?unlink,?unlinkat,?rmdir,?symlink,\
    ?symlinkat,?link,?linkat,?fsync,?fdatasync,?syncfs,?sync,?sync_file_range,?chmod,?fchmod,?fchmodat,\
    ?fchmodat2,?chown,?fchown,?lchown,?fchownat,?utimensat,?utimes,?setxattr,?fsetxattr,?flock,?mknod,\
    ?mknodat,?io_uring_enter,?ioctl";
/// Those that only some flags make one that changes something.
const OPENING: &str = "?open,?openat,?openat2";

/// A call of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// `openat`.
    pub name: String,
    /// How many calls of this name the thread had made with it, from 1.
    pub nth: usize,
    /// The paths that it is about, in the order of the arguments: what is open and what is named.
    pub paths: Vec<PathBuf>,
    /// All of it, as `strace` writes it.
    pub text: String,
    /// Whether it was made to fail.
    pub injected: bool,
}

impl Call {
    /// Whether it changes something, or may.
    pub fn changes(&self) -> bool {
        let opens = self.name.starts_with("open");
        let writes = ["O_CREAT", "O_TRUNC", "O_WRONLY", "O_RDWR"].iter().any(|flag| self.text.contains(flag));
        // A clone of a file; other requests are questions about a terminal.
        let clones = self.name != "ioctl" || self.text.contains("FICLONE");
        clones && (!opens || writes) && !self.wakes_a_thread()
    }

    /// Whether it wakes a thread of this program, as that of the HTTP library: a counter in the system's memory, which
    /// no disk makes fail.
    fn wakes_a_thread(&self) -> bool {
        self.name == "write" && self.text.contains("<anon_inode:[eventfd]>")
    }

    /// Whether it opens, or is about, something at or below `dir`.
    pub fn is_below(&self, dir: &Path) -> bool {
        self.paths.iter().any(|path| path.starts_with(dir))
    }

    /// Whether it did what it was asked to.
    pub fn succeeded(&self) -> bool {
        !self.text.contains(") = -1 ")
    }

    /// The path that it makes, takes away or writes to: of a rename, where that leads.
    pub fn path(&self) -> &Path {
        self.paths.last().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Of a rename, what is renamed.
    pub fn from(&self) -> &Path {
        self.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// Whether it is one of the family `rename`.
    pub fn is_rename(&self) -> bool {
        self.name.starts_with("rename")
    }
}

/// What a run under `strace` left.
#[derive(Debug)]
pub struct Traced {
    /// What the program left; its code is `None` where it was killed.
    pub output: Output,
    /// Its calls.
    pub calls: Vec<Call>,
}

/// Whether programs can be traced here. Where they cannot, it says so, and the caller passes over.
pub fn is_possible() -> bool {
    static POSSIBLE: OnceLock<bool> = OnceLock::new();
    let possible = *POSSIBLE.get_or_init(|| {
        let Some(strace) = program("strace") else { return false };
        let tried = Command::new(strace).args(["-f", "--seccomp-bpf", "-o", "/dev/null", "true"]).output();
        tried.is_ok_and(|output| output.status.success())
    });
    if !possible {
        println!("skipped: there is no `strace`, or this system lets no process trace another");
    }
    possible
}

/// Runs the program in `sandbox` with `args` and the injections `inject`, each as `strace` takes one.
pub fn run(sandbox: &Sandbox, args: &[&str], inject: &[String]) -> Traced {
    let log = sandbox.root().join("trace");
    let program = sandbox.command(args);
    let mut command = Command::new(find_program("strace").expect("the caller looked"));
    command.args(["-f", "-qq", "-y", "-s", "0", "-o"]).arg(&log);
    // Faster, since other calls are not stopped at; but then signals come too late.
    if !inject.iter().any(|inject| inject.contains("signal=")) {
        command.arg("--seccomp-bpf");
    }
    command.arg("-e").arg(format!("trace={CHANGING},{OPENING}"));
    for inject in inject {
        command.arg("-e").arg(format!("inject={inject}"));
    }
    command.arg("--").arg(program.get_program()).args(program.get_args());
    command.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(sandbox.project()).stdin(Stdio::null());
    let output = sandbox.output(&mut command);
    let text = std::fs::read_to_string(&log).expect("a trace");
    std::fs::remove_file(&log).expect("removed");
    Traced { output, calls: parse(&text) }
}

/// The calls of a trace.
fn parse(text: &str) -> Vec<Call> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut calls: Vec<Call> = Vec::new();
    // Calls during which another thread made one, by thread.
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(rest) = rest.strip_prefix("<... ") {
            if let Some(at) = open.remove(thread) {
                let end = rest.split_once("resumed>").map_or("", |(_, end)| end);
                calls[at].text.push_str(end);
                calls[at].injected |= end.ends_with("(INJECTED)");
            }
            continue;
        }
        let Some((name, arguments)) = rest.split_once('(') else { continue };
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            continue;
        }
        let nth = counts.entry((thread.to_owned(), name.to_owned())).or_default();
        *nth += 1;
        let injected = rest.ends_with("(INJECTED)");
        if rest.ends_with("<unfinished ...>") {
            open.insert(thread.to_owned(), calls.len());
        }
        let (name, text) = (name.to_owned(), rest.to_owned());
        calls.push(Call { name, nth: *nth, paths: paths(arguments), text, injected });
    }
    calls
}

/// The paths in the arguments of a call: `5</dir>, "name"` is one, and `5</dir/file>` is one. What a
/// call gives back is none.
fn paths(arguments: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    // A directory that the next name is below.
    let mut dir: Option<PathBuf> = None;
    let mut rest = arguments.trim_end_matches("<unfinished ...>");
    while let Some(at) = rest.find(['"', '<', ')']) {
        let (end, inner) = match &rest[at..=at] {
            ")" => break,
            "<" => ('>', &rest[at + 1..]),
            _ => ('"', &rest[at + 1..]),
        };
        let Some(length) = inner.find(end) else { break };
        let path = Path::new(&inner[..length]);
        if end == '>' {
            paths.extend(dir.replace(path.to_owned()));
        } else if length == 0 {
            // What is written, which is left out.
        } else if let Some(dir) = dir.take() {
            paths.push(dir.join(path));
        } else {
            paths.push(path.to_owned());
        }
        rest = &inner[length + 1..];
    }
    paths.extend(dir);
    paths
}

#[test]
fn a_trace_is_read() {
    let text = r#"7 openat(AT_FDCWD</p>, "/p/a", O_WRONLY|O_CREAT, 0644) = 3</p/a>
7 write(3</p/a>, ""..., 5)          = 5
8 openat(4</q>, "b", O_RDONLY <unfinished ...>
7 renameat2(AT_FDCWD</p>, "/p/a", 5</q>, "c", RENAME_NOREPLACE) = -1 EXDEV (Invalid cross-device link) (INJECTED)
8 <... openat resumed>) = 6</q/b>
7 write(3</p/a>, ""..., 5)          = 5
7 symlink("../x", "/p/l") = 0
7 +++ exited with 0 +++
"#;
    let calls = parse(text);
    let shown = |call: &Call| format!("{} {} {:?} {}", call.name, call.nth, call.paths, call.changes());
    assert_eq!(
        calls.iter().map(shown).collect::<Vec<_>>(),
        [
            r#"openat 1 ["/p/a"] true"#,
            r#"write 1 ["/p/a"] true"#,
            r#"openat 1 ["/q/b"] false"#,
            r#"renameat2 1 ["/p/a", "/q/c"] true"#,
            r#"write 2 ["/p/a"] true"#,
            r#"symlink 1 ["../x", "/p/l"] true"#,
        ]
    );
    assert!(calls[3].injected && !calls[3].succeeded() && calls[2].succeeded());
    assert_eq!((calls[3].from(), calls[3].path()), (Path::new("/p/a"), Path::new("/q/c")));
}
