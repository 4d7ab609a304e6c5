//! `skillpm mcp --http`: who may ask, and what.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::machine;
use crate::support::mcp::{HttpPeer, MODERN, TIME};

/// A request of one connection.
pub(super) struct Request<'a> {
    method: &'a str,
    path: &'a str,
    headers: Vec<(&'a str, String)>,
    body: Vec<u8>,
}

/// What came back.
#[derive(Debug)]
struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    /// The message in the answer: alone, or as an event.
    fn message(&self) -> Value {
        let mut data = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let text = data.rfind(|data| !data.is_empty()).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// A request of the newest version, which stands alone.
pub(super) fn modern<'a>(server: &HttpPeer, method: &'a str, mut params: Value) -> Request<'a> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "p", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let mut headers = usual(server);
    headers.push(("MCP-Protocol-Version", MODERN.to_owned()));
    headers.push(("Mcp-Method", method.to_owned()));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    Request { method: "POST", path: "/mcp", headers, body: body.into_bytes() }
}

/// The headers that every client sends.
fn usual(server: &HttpPeer) -> Vec<(&'static str, String)> {
    vec![
        ("Host", server.authority().to_owned()),
        ("Authorization", format!("Bearer {}", server.token)),
        ("Accept", "application/json, text/event-stream".to_owned()),
        ("Content-Type", "application/json".to_owned()),
    ]
}

impl Request<'_> {
    /// Sets a header, or takes it away.
    pub(super) fn with(mut self, name: &'static str, value: Option<&str>) -> Self {
        self.headers.retain(|(key, _)| *key != name);
        self.headers.extend(value.map(|value| (name, value.to_owned())));
        self
    }

    /// Sends the request and returns the connection that the answer comes from.
    pub(super) fn open(&self, server: &HttpPeer) -> TcpStream {
        let mut stream = TcpStream::connect(server.authority()).expect("connects");
        stream.set_read_timeout(Some(TIME)).expect("is set");
        let mut head = format!(
            "{} {} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            self.method,
            self.path,
            self.body.len()
        );
        for (name, value) in &self.headers {
            // Writing to a string cannot fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
        stream.write_all((head + "\r\n").as_bytes()).expect("writes");
        // A server that refuses the head need not read the rest.
        let _ = stream.write_all(&self.body);
        stream
    }

    fn send(&self, server: &HttpPeer) -> Response {
        let mut stream = self.open(server);
        let mut answer = Vec::new();
        // A connection that is reset after the answer has one.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer}"));
        let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
        let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            joined(body)
        } else {
            body.to_owned()
        };
        Response { status, head: head.to_owned(), body }
    }
}

/// The chunks of a body.
fn joined(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).expect("a size");
        text.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    text
}

/// Only who has the token is answered, and only on this machine, from no web page.
#[test]
fn only_who_has_the_token_is_answered() {
    let sandbox = machine();
    let server = HttpPeer::start(&sandbox, &[]);
    let ask = || modern(&server, "skills/list", json!({}));
    let answered = ask().send(&server);
    assert_eq!(answered.status, 200, "{answered:?}");
    assert_eq!(answered.message()["result"]["skills"][0]["uri"], "skill://user/pdf/SKILL.md");
    for token in
        [None, Some(""), Some("Bearer"), Some("Bearer x"), Some("Basic eDp4"), Some(server.token.as_str())]
    {
        let refused = ask().with("Authorization", token).send(&server);
        assert_eq!(refused.status, 401, "{token:?}: {refused:?}");
        assert_eq!(refused.header("WWW-Authenticate"), Some("Bearer"));
        assert!(!refused.body.contains("pdf"), "{refused:?}");
    }
    for origin in ["https://example.com", "null", "http://127.0.0.1.example.com"] {
        assert_eq!(ask().with("Origin", Some(origin)).send(&server).status, 403, "{origin}");
    }
    for host in ["example.com", "127.0.0.1.example.com", "example.com:80"] {
        assert_eq!(ask().with("Host", Some(host)).send(&server).status, 403, "{host}");
    }
    for path in ["/", "/mcp/", "/mcp/x", "/sse", "/../mcp", "/MCP"] {
        assert_eq!(Request { path, ..ask() }.send(&server).status, 404, "{path}");
    }
    assert_eq!(ask().send(&server).status, 200);
}

/// What is no request of the protocol is refused with a status that says so.
#[test]
fn what_is_no_request_is_refused() {
    let sandbox = machine();
    let server = HttpPeer::start(&sandbox, &[]);
    let ask = || modern(&server, "skills/list", json!({}));
    let status = |request: Request<'_>| {
        let response = request.send(&server);
        assert!(!response.body.contains("panicked"), "{response:?}");
        response.status
    };
    for (body, code) in [
        (&b""[..], -32700),
        (b"x", -32700),
        (b"{\"jsonrpc\":", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (b"null", -32600),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
    ] {
        let found = Request { body: body.to_vec(), ..ask() }.send(&server);
        assert_eq!(
            (found.status, found.header("Content-Type")),
            (400, Some("application/json")),
            "{found:?}"
        );
        let message = found.message();
        assert_eq!((&message["error"]["code"], &message["id"]), (&json!(code), &json!(null)), "{message}");
    }
    assert_eq!(status(Request { body: vec![b' '; (4 << 20) + 1], ..ask() }), 413);
    assert_eq!(status(ask().with("Content-Type", Some("text/plain"))), 415);
    assert_eq!(status(ask().with("Accept", Some("text/html"))), 406);
    assert_eq!(status(ask().with("MCP-Protocol-Version", Some("1999-01-01"))), 400);
    assert_eq!(status(ask().with("Mcp-Method", Some("tools/list"))), 400);
    for method in ["PUT", "PATCH", "OPTIONS"] {
        assert_eq!(status(Request { method, ..ask() }), 405, "{method}");
    }
    let unknown = modern(&server, "skills/none", json!({})).send(&server);
    assert_eq!(unknown.message()["error"]["code"], -32601, "{unknown:?}");
    assert_eq!(status(ask()), 200);
}

/// Sends a message of an older client.
fn post(server: &HttpPeer, session: Option<&str>, message: &Value) -> Response {
    let headers = usual(server);
    let request = Request { method: "POST", path: "/mcp", headers, body: message.to_string().into_bytes() };
    request.with("Mcp-Session-Id", session).send(server)
}

/// Starts a session of an older client. Returns its id and the instructions of the server.
fn initialize(server: &HttpPeer) -> (String, String) {
    let opened = post(
        server,
        None,
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "p", "version": "1" } } }),
    );
    assert_eq!(opened.status, 200, "{opened:?}");
    let session = opened.header("Mcp-Session-Id").expect("a session").to_owned();
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(post(server, Some(&session), &initialized).status, 202);
    let instructions = opened.message()["result"]["instructions"].as_str().unwrap_or_default().to_owned();
    (session, instructions)
}

/// A session of an older version is known by its id, ends when its client says so, and no other id is one.
#[test]
fn a_session_is_known_by_its_id() {
    let sandbox = machine();
    let server = HttpPeer::start(&sandbox, &[]);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "prompts/list" });
    let (session, _) = initialize(&server);
    let listed = post(&server, Some(&session), &list);
    assert_eq!(listed.message()["result"]["prompts"][0]["name"], "pdf", "{listed:?}");
    for other in ["none", "00000000-0000-0000-0000-000000000000"] {
        assert_eq!(post(&server, Some(other), &list).status, 404, "{other}");
    }
    assert!((400..500).contains(&post(&server, None, &list).status));
    let end = Request { method: "DELETE", path: "/mcp", headers: usual(&server), body: Vec::new() };
    let ended = end.with("Mcp-Session-Id", Some(&session)).send(&server);
    assert!((200..300).contains(&ended.status), "{ended:?}");
    assert_eq!(post(&server, Some(&session), &list).status, 404);
}

/// What one client has loaded is nothing to the others, and each learns which skills there are when it comes.
#[test]
fn each_session_has_its_own_state() {
    let sandbox = machine();
    super::with_script(&sandbox, "hello", "greet", "echo hello\n");
    let server = HttpPeer::start(&sandbox, &["--scripts", "allow"]);
    let call = |session: &str, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
        post(&server, Some(session), &message).message()
    };
    let has_tool = |session: &str| {
        let listed = call(session, "tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().expect("tools");
        tools.iter().any(|tool| tool["name"] == "hello__greet")
    };
    let (one, instructions) = initialize(&server);
    assert!(
        instructions.contains("- **hello**: ") && !instructions.contains("- **later**: "),
        "{instructions}"
    );
    let loaded = call(&one, "tools/call", json!({ "name": "load_skill", "arguments": { "name": "hello" } }));
    assert_eq!(loaded["result"]["isError"], false, "{loaded}");
    super::usual(&sandbox, "later");
    // A search is kept for a moment.
    let began = Instant::now();
    while !modern(&server, "server/discover", json!({})).send(&server).body.contains("- **later**: ") {
        assert!(began.elapsed() < TIME, "the new skill does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
    let (other, instructions) = initialize(&server);
    assert!(instructions.contains("- **later**: "), "{instructions}");
    assert!(has_tool(&one) && !has_tool(&other));
    // Without a session, lists are the same for all.
    let listed = modern(&server, "tools/list", json!({})).send(&server).message();
    assert!(listed["result"]["tools"].is_array() && !listed.to_string().contains("hello__greet"), "{listed}");
}

/// Who does not know the token keeps nobody out, not even with more connections than the server has.
#[test]
fn idle_connections_keep_nobody_out() {
    let sandbox = machine();
    let server = HttpPeer::start(&sandbox, &[]);
    let idle = (0..300).map(|number| {
        let mut stream = TcpStream::connect(server.authority()).expect("connects");
        // Connections without a byte take all places; behind them are some whose heads do not end.
        if number >= 280 {
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").expect("writes");
        }
        stream
    });
    let idle: Vec<_> = idle.collect();
    assert_eq!(modern(&server, "skills/list", json!({})).send(&server).status, 200);
    drop(idle);
}

/// A token that the user sets is the one that counts, and a port that is taken is an error.
#[test]
fn a_token_may_be_set() {
    let mut sandbox = machine();
    sandbox.env("SKILLPM_MCP_TOKEN", "a token of mine");
    let server = HttpPeer::start(&sandbox, &[]);
    assert_eq!(server.token, "");
    let ask = |token: &str| {
        modern(&server, "skills/list", json!({})).with("Authorization", Some(token)).send(&server).status
    };
    assert_eq!(ask("Bearer a token of mine"), 200);
    assert_eq!(ask("Bearer a token of yours"), 401);
    let port = server.authority().rsplit(':').next().expect("a port");
    assert_eq!(sandbox.run(&["mcp", "--http", port]).code, Some(3));
}
