//! Real git repositories, and servers for them: `git http-backend` and `sshd` on the loopback.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use super::forge::read_head;
use super::tools::{find_program, program};
use super::zip::Tree;

/// A repository that the `git` program made. Ids are the same in each run.
#[derive(Debug, Clone)]
pub struct GitRepo {
    dir: PathBuf,
    /// The seconds of the next commit.
    clock: std::cell::Cell<u64>,
}

impl GitRepo {
    /// Makes a repository with a work tree in `dir`, whose default branch is `main`.
    pub fn new(dir: &Path) -> Self {
        Self::with(dir, &["--initial-branch=main"])
    }

    /// As [`GitRepo::new`], with other options for `git init`.
    pub fn with(dir: &Path, options: &[&str]) -> Self {
        std::fs::create_dir_all(dir).expect("a directory");
        let repo = Self { dir: dir.to_owned(), clock: 1_700_000_000.into() };
        let mut args = vec!["init", "--quiet"];
        args.extend(options);
        repo.git(&args);
        repo
    }

    /// The repository that somebody made at `dir`.
    pub fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), clock: 1_700_000_000.into() }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Runs git in it and returns what it printed.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_with(args, b"")
    }

    /// As [`GitRepo::git`], with standard input.
    pub fn git_with(&self, args: &[&str], input: &[u8]) -> String {
        let (is_done, told) = self.ended(args, input);
        assert!(is_done, "git {args:?}: {told}");
        told
    }

    /// As [`GitRepo::git`], for what git refuses.
    pub fn fails(&self, args: &[&str]) {
        let (is_done, told) = self.ended(args, b"");
        assert!(!is_done, "git {args:?}: {told}");
    }

    /// Whether git did it, and what it printed.
    fn ended(&self, args: &[&str], input: &[u8]) -> (bool, String) {
        let date = format!("{} +0000", self.clock.get());
        let mut command = Command::new("git");
        // Nothing of the machine's own configuration, and no signature.
        command.args(["-c", "core.autocrlf=false", "-c", "commit.gpgSign=false", "-c", "gc.auto=0"]);
        command.args(args).current_dir(&self.dir);
        for name in std::env::vars_os().map(|(name, _)| name) {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env("LC_ALL", "C");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "A").env(format!("GIT_{role}_EMAIL"), "a@example.com");
            command.env(format!("GIT_{role}_DATE"), &date);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("git, which these tests need, starts");
        child.stdin.take().expect("a pipe").write_all(input).expect("git reads");
        let output = child.wait_with_output().expect("git ends");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let is_done = output.status.success();
        (is_done, if is_done { out.trim_end().to_owned() } else { format!("{out}{err}") })
    }

    /// Commits `tree` in place of what was there, and returns the commit's id.
    pub fn commit(&self, tree: &Tree) -> String {
        for entry in std::fs::read_dir(&self.dir).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() && !path.ends_with(".git") {
                std::fs::remove_dir_all(path).expect("removes");
            } else if !path.is_dir() {
                std::fs::remove_file(path).expect("removes");
            }
        }
        tree.write(&self.dir);
        self.git(&["add", "--all", "--force"]);
        self.commit_index()
    }

    /// Commits what was added.
    pub fn commit_index(&self) -> String {
        self.clock.set(self.clock.get() + 60);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=x"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Writes an object as it is, whatever git thinks of it, and returns its id.
    pub fn object(&self, kind: &str, bytes: &[u8]) -> String {
        self.git_with(&["hash-object", "-t", kind, "-w", "--stdin", "--literally"], bytes)
    }

    /// Commits a tree of these entries (mode, name, id of an object) on `main`, whatever git thinks of
    /// it, and returns the commit's id.
    pub fn commit_entries(&self, entries: &[(&str, &[u8], &str)]) -> String {
        let tree = self.tree_of(entries);
        let commit = self.git(&["commit-tree", &tree, "-m", "x"]);
        self.git(&["update-ref", "refs/heads/main", &commit]);
        commit
    }

    /// Writes a tree of these entries.
    pub fn tree_of(&self, entries: &[(&str, &[u8], &str)]) -> String {
        let mut bytes = Vec::new();
        for (mode, name, id) in entries {
            bytes.extend_from_slice(mode.as_bytes());
            bytes.push(b' ');
            bytes.extend_from_slice(name);
            bytes.push(0);
            bytes.extend(
                (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).expect("hex")),
            );
        }
        self.object("tree", &bytes)
    }

    /// A bare copy of it at `dir`, which serves partial fetches.
    #[must_use]
    pub fn bare(&self, dir: &Path) -> Self {
        let from = self.dir.display().to_string();
        let to = dir.display().to_string();
        self.git(&["clone", "--quiet", "--bare", "--no-local", &from, &to]);
        let bare = Self { dir: dir.to_owned(), clock: self.clock.clone() };
        bare.git(&["config", "uploadpack.allowFilter", "true"]);
        bare
    }

    /// Sends everything to the bare copy at `dir`, as if it had just been made.
    pub fn push(&self, bare: &Self) {
        let to = bare.dir.display().to_string();
        self.git(&["push", "--quiet", "--mirror", "--force", &to]);
    }
}

/// What the http server does with requests.
#[derive(Debug, Clone, Default)]
struct Manner {
    /// The value of `Authorization` that is asked for.
    login: Option<String>,
    /// Requests for packs are never answered.
    stalls: bool,
    /// No protocol of version 2, as old servers have none.
    old: bool,
    /// Every path is moved to this address.
    moved: Option<String>,
}

/// Repositories below one directory over smart http. It stops when it is dropped.
#[derive(Debug)]
pub struct GitServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    root: PathBuf,
    manner: Mutex<Manner>,
    requests: Mutex<Vec<String>>,
    /// Connections that are held open.
    held: Mutex<Option<Vec<TcpStream>>>,
}

impl GitServer {
    /// Serves the bare repositories below `root`.
    pub fn start(root: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            root: root.to_owned(),
            manner: Mutex::default(),
            requests: Mutex::default(),
            held: Mutex::new(Some(Vec::new())),
        });
        let server = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if server.held.lock().expect("not poisoned").is_none() {
                    return;
                }
                let server = Arc::clone(&server);
                thread::spawn(move || serve(stream, &server));
            }
        });
        Self { address, shared }
    }

    /// The address of the repository `name`.
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// The server, without a scheme.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    fn change(&self, change: impl FnOnce(&mut Manner)) {
        change(&mut self.shared.manner.lock().expect("not poisoned"));
    }

    /// From now on only `user` with the password `secret` may read.
    pub fn login(&self) {
        // `user:secret` in base 64.
        self.change(|manner| manner.login = Some("Basic dXNlcjpzZWNyZXQ=".to_owned()));
    }

    /// From now on packs never come.
    pub fn stall(&self) {
        self.change(|manner| manner.stalls = true);
    }

    /// From now on it is a server of the old protocol, which hands out no commits by their ids.
    pub fn old(&self) {
        self.change(|manner| manner.old = true);
    }

    /// From now on all paths lead to `address`.
    pub fn moved(&self, address: &str) {
        self.change(|manner| manner.moved = Some(address.to_owned()));
    }

    /// Waits until a request is stalled.
    pub fn wait_until_stalled(&self) {
        let start = std::time::Instant::now();
        while self.shared.held.lock().expect("not poisoned").as_ref().is_none_or(Vec::is_empty) {
            assert!(start.elapsed().as_secs() < 60, "no request came");
            thread::yield_now();
        }
    }

    /// Waits until a client gave up a connection that was stalled.
    pub fn wait_until_abandoned(&self) {
        self.wait_until_stalled();
        let held = self.shared.held.lock().expect("not poisoned").as_mut().and_then(Vec::pop);
        let mut stream = held.expect("a connection");
        stream.set_read_timeout(Some(std::time::Duration::from_mins(1))).expect("a timeout");
        let rest = stream.read_to_end(&mut Vec::new());
        let hung = rest.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!hung, "the client still waits");
    }

    /// The paths that were asked for, with their methods.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().expect("not poisoned").clone()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.shared.requests.lock().expect("not poisoned").clear();
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        // Held connections are closed with it.
        self.shared.held.lock().expect("not poisoned").take();
        let _ = TcpStream::connect(self.address);
    }
}

/// One request on one connection.
fn serve(mut stream: TcpStream, shared: &Shared) -> Option<()> {
    let head = read_head(&mut stream)?;
    // The last byte of the head is left for those who want to reset the connection.
    stream.read_exact(&mut [0]).ok()?;
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?, first.next()?);
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    shared.requests.lock().expect("not poisoned").push(format!("{method} {target}"));
    let manner = shared.manner.lock().expect("not poisoned").clone();
    let body = body(&mut stream, &headers)?;
    if let Some(address) = &manner.moved {
        let head = format!("HTTP/1.1 301 Moved\r\nLocation: {address}{target}\r\nContent-Length: 0\r\n\r\n");
        return stream.write_all(head.as_bytes()).ok();
    }
    if manner.login.is_some() && headers.get("authorization") != manner.login.as_ref() {
        let head =
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n";
        return stream.write_all(head.as_bytes()).ok();
    }
    if manner.stalls && method == "POST" {
        shared.held.lock().expect("not poisoned").as_mut()?.push(stream);
        return Some(());
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut command = Command::new("git");
    command.arg("http-backend");
    command.env("GIT_PROJECT_ROOT", &shared.root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("REQUEST_METHOD", method).env("PATH_INFO", path).env("QUERY_STRING", query);
    command.env("REMOTE_ADDR", "127.0.0.1").env("CONTENT_LENGTH", body.len().to_string());
    let passed = [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ];
    for (header, variable) in passed {
        if let Some(value) = headers.get(header).filter(|_| !(manner.old && header == "git-protocol")) {
            command.env(variable, value);
        }
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    // It may answer before it has read everything.
    let writer = thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output().ok()?;
    let _ = writer.join();
    let at = output.stdout.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = output.stdout.split_at(at + 4);
    let head = std::str::from_utf8(head).ok()?;
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let answer =
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{head}", body.len());
    stream.write_all(answer.as_bytes()).ok()?;
    stream.write_all(body).ok()
}

/// The body of a request, whole or in chunks.
fn body(stream: &mut TcpStream, headers: &BTreeMap<String, String>) -> Option<Vec<u8>> {
    if headers.get("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    let mut body = Vec::new();
    if headers.contains_key("transfer-encoding") {
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).ok()?;
                line.push(byte[0]);
            }
            let size = usize::from_str_radix(std::str::from_utf8(&line).ok()?.trim(), 16).ok()?;
            let start = body.len();
            body.resize(start + size + 2, 0);
            stream.read_exact(&mut body[start..]).ok()?;
            body.truncate(start + size);
            if size == 0 {
                return Some(body);
            }
        }
    }
    let length = headers.get("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    body.resize(length, 0);
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

/// Repositories over ssh: the real `sshd`, one process for each connection. It stops when it is
/// dropped.
#[derive(Debug)]
pub struct SshServer {
    dir: PathBuf,
    port: u16,
    user: String,
    stop: Arc<Mutex<bool>>,
}

impl SshServer {
    /// Starts a server whose keys and settings lie in `dir`, which nobody else may write; `None` where
    /// there is no `sshd`, which is said.
    #[cfg(unix)]
    pub fn start(dir: &Path) -> Option<Self> {
        use std::os::fd::OwnedFd;
        let (sshd, keygen) = (program("sshd")?, program("ssh-keygen")?);
        std::fs::create_dir_all(dir).expect("a directory");
        let run = |program: &Path, args: &[&str]| {
            let output = Command::new(program).args(args).output().expect("starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        let user = run(Path::new("id"), &["-un"]);
        if user == "root" {
            // `sshd` leaves its rights there before somebody has logged in.
            let _ = std::fs::create_dir_all("/run/sshd");
        }
        for key in ["host", "user"] {
            let path = dir.join(key).display().to_string();
            run(&keygen, &["-q", "-t", "ed25519", "-N", "", "-C", key, "-f", &path]);
        }
        std::fs::copy(dir.join("user.pub"), dir.join("authorized")).expect("copies");
        let at = |name: &str| dir.join(name).display().to_string();
        let config = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nPidFile none\n\
             AcceptEnv GIT_PROTOCOL\n",
            at("host"),
            at("authorized"),
        );
        std::fs::write(dir.join("sshd_config"), config).expect("writes");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let stop = Arc::new(Mutex::new(false));
        let (stopped, config) = (Arc::clone(&stop), at("sshd_config"));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if *stopped.lock().expect("not poisoned") {
                    return;
                }
                let Ok(copy) = stream.try_clone() else { return };
                let child = Command::new(&sshd)
                    .args(["-i", "-e", "-f", &config])
                    .stdin(Stdio::from(OwnedFd::from(stream)))
                    .stdout(Stdio::from(OwnedFd::from(copy)))
                    .stderr(Stdio::null())
                    .spawn();
                if let Ok(mut child) = child {
                    thread::spawn(move || child.wait());
                }
            }
        });
        Some(Self { dir: dir.to_owned(), port, user, stop })
    }

    /// There is none on this system.
    #[cfg(not(unix))]
    pub fn start(_dir: &Path) -> Option<Self> {
        println!("skipped: there is no `sshd` here");
        None
    }

    /// The address of the repository at `path` on this machine.
    pub fn url(&self, path: &Path) -> String {
        format!("ssh://{}@127.0.0.1:{}{}", self.user, self.port, path.display())
    }

    /// Writes a program `ssh` that knows this server, or not, into a directory of its own and returns
    /// that: the real one reads its settings in the home directory of the system's user.
    pub fn client(&self, knows_host: bool, has_key: bool) -> PathBuf {
        let dir = self.dir.join(format!("client-{knows_host}-{has_key}"));
        std::fs::create_dir_all(&dir).expect("a directory");
        let known = dir.join("known_hosts");
        if knows_host {
            let key = std::fs::read_to_string(self.dir.join("host.pub")).expect("a key");
            std::fs::write(&known, format!("[127.0.0.1]:{} {key}", self.port)).expect("writes");
        }
        let key = if has_key { self.dir.join("user") } else { dir.join("none") };
        let config = dir.join("config");
        std::fs::write(
            &config,
            format!(
                "UserKnownHostsFile {}\nGlobalKnownHostsFile none\nIdentitiesOnly yes\nIdentityAgent none\nIdentityFile {}\n",
                known.display(),
                key.display()
            ),
        )
        .expect("writes");
        let real = find_program("ssh").expect("ssh comes with sshd");
        let program = dir.join("ssh");
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' -F '{}' \"$@\"\n",
            dir.join("log").display(),
            real.display(),
            config.display()
        );
        std::fs::write(&program, script).expect("writes");
        super::zip::set_executable(&program, true);
        dir
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        *self.stop.lock().expect("not poisoned") = true;
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}
