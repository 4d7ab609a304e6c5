//! A client of `skillpm mcp` that speaks the protocol line by line, for tests that look at every message.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skillpm_testing::tools::python;

use super::Sandbox;

/// The environment with clients of MCP.
pub const CLIENTS: &str = "python-env-mcp";
/// The versions that start with `initialize`.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The version whose requests stand alone.
pub const MODERN: &str = "2026-07-28";
/// What does not come by then does not come.
pub const TIME: Duration = Duration::from_mins(1);

/// A running server, and this client of it. The server ends when this is dropped.
pub struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Arc<Mutex<String>>,
    version: String,
    capabilities: Value,
    next: u64,
    /// The methods of the requests that were sent, by their ids.
    asked: BTreeMap<u64, String>,
    inbox: VecDeque<Value>,
}

impl Peer {
    /// Starts `skillpm mcp` with `args`, which `sandbox` prepares; nothing is said yet.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let args: Vec<_> = ["mcp"].iter().chain(args).copied().collect();
        Self::of(&mut sandbox.command(&args))
    }

    /// Starts the server that `command` names; nothing is said yet.
    pub fn of(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(String::new()));
        let (log, pipe) = (Arc::clone(&stderr), child.stderr.take().expect("a pipe"));
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                let mut log = log.lock().expect("no panic");
                log.push_str(&line);
                log.push('\n');
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            stderr,
            version: MODERN.to_owned(),
            capabilities: json!({}),
            next: 0,
            asked: BTreeMap::new(),
            inbox: VecDeque::new(),
        }
    }

    /// Starts a server and a session of `version` with it, as a client with `capabilities`. Returns what the server says of
    /// itself, too.
    pub fn session(sandbox: &Sandbox, args: &[&str], version: &str, capabilities: Value) -> (Self, Value) {
        let mut peer = Self::start(sandbox, args);
        let told = peer.open(version, capabilities);
        (peer, told)
    }

    /// Starts a server and a session of the version whose requests stand alone.
    pub fn modern(sandbox: &Sandbox, args: &[&str]) -> Self {
        Self::session(sandbox, args, MODERN, json!({})).0
    }

    /// Starts a server and a session of the newest version that starts with `initialize`.
    pub fn legacy(sandbox: &Sandbox, args: &[&str]) -> Self {
        Self::session(sandbox, args, "2025-11-25", json!({})).0
    }

    /// Starts the session, and returns what the server says of itself.
    pub fn open(&mut self, version: &str, capabilities: Value) -> Value {
        version.clone_into(&mut self.version);
        self.capabilities = capabilities;
        if version == MODERN {
            return self.ask("server/discover", json!({}));
        }
        let told = self.ask(
            "initialize",
            json!({ "protocolVersion": version, "capabilities": self.capabilities, "clientInfo": { "name": "peer", "version": "1" } }),
        );
        self.notify("notifications/initialized", json!({}));
        told
    }

    /// The number of the server's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request and returns its id.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.asked.insert(id, method.to_owned());
        let params = self.with_meta(params);
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    /// What a request of the newest version says of its client.
    fn with_meta(&self, mut params: Value) -> Value {
        if self.version == MODERN {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.version);
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "peer", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        params
    }

    /// Sends a notification.
    #[expect(clippy::needless_pass_by_value, reason = "as `json!` makes it")]
    pub fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends the answer to a request of the server.
    #[expect(clippy::needless_pass_by_value, reason = "as `json!` makes it")]
    pub fn reply(&mut self, request: &Value, result: Value) {
        self.line(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string());
    }

    /// Sends a line, whatever it is. A server that is gone does not mind.
    pub fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes; reports whether the server took them.
    pub fn bytes(&mut self, bytes: &[u8]) -> bool {
        self.stdin.as_mut().is_some_and(|stdin| stdin.write_all(bytes).and_then(|()| stdin.flush()).is_ok())
    }

    /// The next message, checked. Returns `None` once the server has closed its output.
    pub fn receive(&mut self) -> Option<Value> {
        let line = match self.lines.recv_timeout(TIME) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("no message comes; {}", self.stderr()),
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| {
            panic!("{error}: nothing but the protocol is on standard output: {line}")
        });
        self.check(&message);
        Some(message)
    }

    /// Checks the form of a message.
    fn check(&self, message: &Value) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if let Some(error) = message.get("error") {
            assert!(error["code"].is_i64() && error["message"].is_string(), "{message}");
            assert!(message.get("result").is_none(), "{message}");
            return;
        }
        let (kind, method, body) = match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(_)) => ("request", method, &message["params"]),
            (Some(method), None) => ("notification", method, &message["params"]),
            (None, Some(id)) => {
                let asked = id.as_u64().and_then(|id| self.asked.get(&id));
                // Tests that write lines by themselves look at the answers by themselves.
                let Some(method) = asked else { return };
                ("result", method.as_str(), &message["result"])
            }
            (None, None) => panic!("{message}"),
        };
        if let Some(wrong) = judge(&json!([self.version, kind, method, body])) {
            panic!("{wrong} in {} of {method}, {}: {message}", kind, self.version);
        }
    }

    /// The first message that `wanted` describes; those before it are kept.
    #[track_caller]
    pub fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.inbox.iter().position(&wanted) {
            return self.inbox.remove(at).expect("it is there");
        }
        loop {
            let Some(message) = self.receive() else { panic!("the server ended: {}", self.stderr()) };
            if wanted(&message) {
                return message;
            }
            self.inbox.push_back(message);
        }
    }

    /// The answer to the request `id`.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The next notification or request of the server with this method.
    #[track_caller]
    pub fn told(&mut self, method: &str) -> Value {
        self.find(|message| message["method"] == method)
    }

    /// Sends a request and returns its result.
    #[track_caller]
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let mut answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    /// Sends a request and returns the code and the message of the error.
    #[track_caller]
    pub fn refused(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.send(method, params);
        let answer = self.answer(id);
        let error = &answer["error"];
        let message = error["message"].as_str().unwrap_or_else(|| panic!("{method}: {answer}"));
        (error["code"].as_i64().expect("a code"), message.to_owned())
    }

    /// Calls a tool and returns its result.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as `json!` makes it")]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The names of what a list has.
    #[track_caller]
    pub fn names(&mut self, method: &str, key: &str) -> Vec<String> {
        let listed = self.ask(method, json!({}));
        let items = listed[key].as_array().expect("a list");
        items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// The names of the skills that the extension lists, over all pages.
    #[track_caller]
    pub fn skills(&mut self) -> Vec<Value> {
        let (mut all, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.ask("skills/list", params);
            all.extend(page["skills"].as_array().expect("a list").iter().cloned());
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return all,
            }
        }
    }

    /// What the server said on standard error until now.
    pub fn stderr(&self) -> String {
        self.stderr.lock().expect("no panic").clone()
    }

    /// Waits until the server has said this on standard error.
    pub fn wait_for_stderr(&self, text: &str) {
        let began = Instant::now();
        while !self.stderr().contains(text) {
            assert!(began.elapsed() < TIME, "`{text}` does not come: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes the server's input and returns what it still had to say.
    pub fn rest(&mut self) -> Vec<Value> {
        drop(self.stdin.take());
        std::mem::take(&mut self.inbox).into_iter().chain(std::iter::from_fn(|| self.receive())).collect()
    }

    /// Closes the server's input and returns how it ended; what it had to say is checked and dropped.
    pub fn end(&mut self) -> ExitStatus {
        drop(self.stdin.take());
        while self.receive().is_some() {}
        self.wait()
    }

    /// Waits until the process has ended.
    pub fn wait(&mut self) -> ExitStatus {
        ended(&mut self.child).unwrap_or_else(|| panic!("the server does not end: {}", self.stderr()))
    }
}

/// Waits until the process has ended; returns `None` if it does not.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let began = Instant::now();
    while began.elapsed() < TIME {
        if let Some(status) = child.try_wait().expect("a process") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What judges messages by the types of the protocol: one process for all tests.
static JUDGE: LazyLock<Option<Mutex<Child>>> = LazyLock::new(|| {
    let script = skillpm_testing::root().join("tests/it/mcp/validate.py");
    let mut command = Command::new(python(CLIENTS)?);
    let child = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    Some(Mutex::new(child.expect("Python starts")))
});

/// Returns what is wrong with a message.
fn judge(message: &Value) -> Option<String> {
    let mut child = JUDGE.as_ref()?.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    writeln!(child.stdin.as_mut().expect("a pipe"), "{message}").expect("Python reads");
    let stdout = child.stdout.as_mut().expect("a pipe");
    let mut line = Vec::new();
    // There is one answer to each question, so that nothing behind the line is taken away.
    for byte in BufReader::new(stdout).bytes() {
        match byte.expect("Python writes") {
            b'\n' => break,
            byte => line.push(byte),
        }
    }
    serde_json::from_slice(&line).expect("an answer")
}

/// The bytes that `text` stands for.
pub fn from_base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let value = DIGITS.iter().position(|known| *known == digit).expect("a digit");
        bits = bits << 6 | u32::try_from(value).expect("6 bits");
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).expect("8 bits"));
        }
    }
    bytes
}

/// A server over HTTP. It ends when this is dropped.
pub struct HttpPeer {
    child: Child,
    /// Its address, such as `http://127.0.0.1:8000/mcp`.
    pub url: String,
    /// What a request needs as its token.
    pub token: String,
}

impl HttpPeer {
    /// Starts `skillpm mcp --http` with `args`.
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let args: Vec<_> = ["mcp", "--http", "0"].iter().chain(args).copied().collect();
        let mut child = sandbox
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut after = |start: &str| {
            let line = lines.next().expect("a line").expect("UTF-8");
            line.strip_prefix(start).unwrap_or_else(|| panic!("{line}")).to_owned()
        };
        let url = after("listening at ");
        // A token that was set is not printed.
        let is_set = sandbox.command(&[]).get_envs().any(|(name, _)| name == "SKILLPM_MCP_TOKEN");
        let token = if is_set { String::new() } else { after("Authorization: Bearer ") };
        Self { child, url, token }
    }

    /// Its host and port.
    pub fn authority(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// The number of the server's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process has ended.
    pub fn wait(&mut self) -> ExitStatus {
        ended(&mut self.child).expect("the server ends")
    }
}

impl Drop for HttpPeer {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
