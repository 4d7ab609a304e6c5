//! MCP servers as sources: a scripted one in both eras of the protocol, and `FastMCP`'s provider of skills.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use skillpm_core::ops::install::{InstallRequest, install};
use skillpm_format::codes;
use skillpm_format::digest::Digest;
use skillpm_sources::context::Context;

use crate::support::{Output, Sandbox};

const SKILLS: &str = "io.modelcontextprotocol/skills";

/// A message to a server.
#[derive(Debug, Clone)]
struct Asked {
    method: String,
    params: Value,
    id: Value,
    headers: BTreeMap<String, String>,
}

/// What a server says.
enum Reply {
    Result(Value),
    Error(i64, &'static str),
    Http(u16, Vec<String>, String),
}

/// A server that is a script.
#[derive(Clone)]
struct Server {
    host: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let host = listener.local_addr().expect("an address").to_string();
        let (asked, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                thread::spawn(move || serve(&stream, &log, &*answer));
            }
        });
        Self { host, asked }
    }

    /// Starts a server of the newest revision with these skills. It says what `twist` says, if that says something.
    fn of(skills: &Skills, twist: impl Fn(&Asked) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let skills = skills.clone();
        Self::start(move |asked| twist(asked).unwrap_or_else(|| skills.answer(asked)))
    }

    fn source(&self, rest: &str) -> String {
        format!("mcp:http://{}/mcp{rest}", self.host)
    }

    /// Returns what was asked since the last time, by method.
    fn methods(&self) -> Vec<String> {
        let mut asked = self.asked.lock().expect("a log");
        std::mem::take(&mut *asked).into_iter().map(|asked| asked.method).collect()
    }
}

fn serve(stream: &TcpStream, log: &Mutex<Vec<Asked>>, answer: &dyn Fn(&Asked) -> Reply) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut headers) = (String::new(), BTreeMap::new());
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("a line");
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        assert!(first.starts_with("POST "), "{first}");
        let mut body = vec![0; headers["content-length"].parse().expect("a number")];
        reader.read_exact(&mut body).expect("a body");
        let message: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(message["jsonrpc"], "2.0");
        let asked = Asked {
            method: message["method"].as_str().expect("a method").to_owned(),
            params: message["params"].clone(),
            id: message["id"].clone(),
            headers,
        };
        let reply = answer(&asked);
        log.lock().expect("a log").push(asked.clone());
        let json = |value: Value| (200, vec!["Content-Type: application/json".to_owned()], value.to_string());
        let (status, headers, body) = match reply {
            Reply::Result(result) => json(json!({"jsonrpc": "2.0", "id": asked.id, "result": result})),
            Reply::Error(code, message) => {
                json(json!({"jsonrpc": "2.0", "id": asked.id, "error": {"code": code, "message": message}}))
            }
            Reply::Http(status, headers, body) => (status, headers, body),
        };
        let mut head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n", body.len());
        for header in headers {
            let _ = write!(head, "{header}\r\n");
        }
        let mut stream = stream;
        if stream.write_all(format!("{head}\r\n{body}").as_bytes()).is_err() {
            return;
        }
    }
}

/// The skills of a server: each by its path, with its files.
#[derive(Clone, Default)]
struct Skills(Arc<Mutex<BTreeMap<String, Content>>>);

/// The files of a skill, each by its address below that of the skill.
type Content = BTreeMap<String, Vec<u8>>;

impl Skills {
    fn new(paths: &[&str]) -> Self {
        let skills = Self::default();
        for path in paths {
            let name = path.rsplit('/').next().expect("a name");
            let document =
                format!("---\nname: {name}\ndescription: Does what {name} does.\n---\n\n# {name}\n");
            skills.put(path, "SKILL.md", document);
            skills.put(path, "scripts/a%20b.py", "print('é')\n");
            skills.put(path, "logo.png", [0_u8, 255, 1]);
        }
        skills
    }

    fn put(&self, path: &str, file: &str, bytes: impl AsRef<[u8]>) {
        let mut skills = self.0.lock().expect("skills");
        skills.entry(path.to_owned()).or_default().insert(file.to_owned(), bytes.as_ref().to_vec());
    }

    fn entry(&self, path: &str) -> Option<Value> {
        let skills = self.0.lock().expect("skills");
        let files = skills.get(path)?;
        let name = path.rsplit('/').next().expect("a name");
        let resource = |(file, bytes): (&String, &Vec<u8>)| json!({"uri": format!("skill://{path}/{file}"), "digest": Digest::of(bytes), "size": bytes.len()});
        Some(json!({
            "uri": format!("skill://{path}/SKILL.md"),
            "frontmatter": {"name": name, "description": format!("Does what {name} does.")},
            "resources": files.iter().map(resource).collect::<Vec<_>>(),
        }))
    }

    fn answer(&self, asked: &Asked) -> Reply {
        let uri = asked.params["uri"].as_str().unwrap_or_default();
        let path = |uri: &str| uri.strip_prefix("skill://").unwrap_or_default().to_owned();
        let complete = |more: Value| {
            let mut result = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
            result.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            Reply::Result(result)
        };
        match asked.method.as_str() {
            "server/discover" => complete(json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"resources": {}, "extensions": {SKILLS: {}}},
            })),
            "skills/list" => {
                // A page for each skill.
                let at = asked.params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap_or(0));
                let paths: Vec<String> = self.0.lock().expect("skills").keys().cloned().collect();
                let skills: Vec<_> = paths.get(at).and_then(|path| self.entry(path)).into_iter().collect();
                let mut page = json!({"skills": skills});
                if at + 1 < paths.len() {
                    page["nextCursor"] = json!((at + 1).to_string());
                }
                complete(page)
            }
            "skills/get" => match self.entry(path(uri).trim_end_matches("/SKILL.md")) {
                Some(skill) => complete(json!({"skill": skill})),
                None => Reply::Error(-32602, "no such skill"),
            },
            "resources/read" => {
                let skills = self.0.lock().expect("skills");
                let found = skills
                    .iter()
                    .find_map(|(path, files)| files.get(uri.strip_prefix(&format!("skill://{path}/"))?));
                let Some(bytes) = found else { return Reply::Error(-32602, "no such file") };
                let content = match std::str::from_utf8(bytes) {
                    Ok(text) => json!({"uri": uri, "text": text}),
                    // Of `[0, 255, 1]`, the only one that is not text.
                    Err(_) => json!({"uri": uri, "blob": "AP8B"}),
                };
                complete(json!({"contents": [content]}))
            }
            _ => Reply::Error(-32601, "method not found"),
        }
    }
}

/// Installs `source`, which must fail, and returns the code and the message with its hints.
#[track_caller]
pub(crate) fn refused(sandbox: &Sandbox, source: &str) -> (&'static str, String) {
    let request = InstallRequest { sources: vec![source.to_owned()], ..InstallRequest::default() };
    let context = Context::silent(sandbox.settings());
    let error = install(&context, &request).err().unwrap_or_else(|| panic!("{source} was installed"));
    let mut told = error.to_string();
    for more in error.causes().chain(error.hints().iter().cloned()) {
        let _ = write!(told, "\n{more}");
    }
    (error.code(), told)
}

pub(crate) fn fails(sandbox: &Sandbox, args: &[&str], code: i32, says: &str) -> Output {
    let output = sandbox.run(args);
    assert_eq!(output.code, Some(code), "{args:?}: {output}");
    assert!(output.stderr.contains(says), "{args:?}: {output}");
    output
}

pub(crate) fn clear(sandbox: &Sandbox, dirs: &[&str]) {
    let _ = std::fs::remove_dir_all(sandbox.project().join(".agents"));
    for dir in dirs {
        let _ = std::fs::remove_dir_all(sandbox.home().join(dir));
    }
}

pub(crate) fn outdated(sandbox: &Sandbox) -> Value {
    let output = sandbox.run(&["outdated", "--json"]);
    let report: Value = serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"));
    report[0].clone()
}

#[test]
fn a_skill_is_locked_restored_and_updated() {
    let skills = Skills::new(&["docx", "team/pdf"]);
    let server = Server::of(&skills, |_| None);
    let sandbox = Sandbox::new();
    let listed = sandbox.ok(&["install", &server.source(""), "--list"]);
    assert!(listed.stdout.contains("docx") && listed.stdout.contains("Does what pdf does."), "{listed}");
    sandbox.ok(&["install", &server.source("@pdf")]);
    assert_eq!(sandbox.read(".agents/skills/pdf/scripts/a b.py"), "print('é')\n");
    let logo = std::fs::read(sandbox.project().join(".agents/skills/pdf/logo.png")).expect("a file");
    assert_eq!(logo, [0, 255, 1]);
    let lock = sandbox.read("skillpm.lock");
    assert!(lock.contains(&format!("source = \"mcp:http://{}/mcp\"", server.host)), "{lock}");
    assert!(lock.contains("path = \"team/pdf\"") && lock.contains("revision = \"sha256:"), "{lock}");
    let manifest = sandbox.read("skillpm.toml");
    let entry = format!("pdf = {{ mcp = \"http://{}/mcp\", path = \"team/pdf\" }}", server.host);
    assert!(manifest.contains(&entry), "{manifest}");

    // One request says that nothing changed; the first is for the server itself.
    server.methods();
    assert_eq!(outdated(&sandbox)["status"], "current");
    assert_eq!(server.methods(), ["server/discover", "skills/get"]);
    // What is in the cache comes back without the server.
    clear(&sandbox, &[".local"]);
    sandbox.ok(&["install", "--offline", "--frozen"]);
    assert!(server.methods().is_empty());
    assert_eq!(sandbox.read("skillpm.lock"), lock);

    skills.put("team/pdf", "scripts/a%20b.py", "print('new')\n");
    assert_eq!(outdated(&sandbox)["status"], "changed");
    let diff = sandbox.run(&["diff", "pdf", "--newest"]);
    assert!(diff.stdout.contains("+print('new')"), "{diff}");
    clear(&sandbox, &[".local", ".cache"]);
    let gone = fails(&sandbox, &["install", "--frozen"], 5, "is not what was locked");
    assert!(gone.stderr.contains("skillpm update pdf"), "{gone}");
    sandbox.ok(&["update", "--allow-new-capabilities=pdf"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/scripts/a b.py"), "print('new')\n");
    assert_ne!(sandbox.read("skillpm.lock"), lock);
    assert_eq!(outdated(&sandbox)["status"], "current");

    skills.0.lock().expect("skills").remove("team/pdf");
    assert_eq!(outdated(&sandbox)["status"], "gone");
}

#[test]
fn all_skills_of_a_server_come_at_once() {
    let skills = Skills::new(&["a/one", "b/two", "three"]);
    let server = Server::of(&skills, |_| None);
    let sandbox = Sandbox::new();
    sandbox.ok(&["install", &server.source(""), "--skill", "*"]);
    let gets = server.methods().iter().filter(|method| *method == "skills/get").count();
    assert_eq!((gets, sandbox.read("skillpm.lock").matches("[[skill]]").count()), (0, 3));
    clear(&sandbox, &[".local", ".cache"]);
    sandbox.ok(&["install", "--frozen"]);
    assert!(sandbox.read(".agents/skills/two/SKILL.md").contains("# two"));
}

/// Of all skills of a server those that cannot be used are left out, each with its reason, and the exit code says so; one
/// that is named is an error.
#[test]
fn one_bad_skill_does_not_block_the_others() {
    let names = ["good", "misstated", "refused", "swapped", "team/better"];
    let skills = Skills::new(&names);
    skills.put("misstated", "SKILL.md", "---\nname: misstated\ndescription: Another one.\n---\n");
    let server = Server::of(&skills, |asked| {
        let uri = asked.params["uri"].as_str().unwrap_or_default();
        let content = |text: &str| Reply::Result(json!({"contents": [{"uri": uri, "text": text}]}));
        match uri {
            "skill://swapped/SKILL.md" => Some(content("---\nname: swapped\ndescription: x\n---\n")),
            "skill://refused/SKILL.md" => Some(Reply::Error(-32603, "not now")),
            _ => None,
        }
    });
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["install", &server.source(""), "--skill", "*"]);
    assert_eq!(output.code, Some(1), "{output}");
    for (name, why) in [
        ("misstated", "`description` differs"),
        ("refused", "not now"),
        ("swapped", "is not what the server states"),
    ] {
        let is_told = |line: &str| line.contains(&format!("`{name}` was left out: ")) && line.contains(why);
        assert_eq!(output.stderr.lines().filter(|line| is_told(line)).count(), 1, "{name}: {output}");
        assert!(!sandbox.project().join(".agents/skills").join(name).exists(), "{name}");
    }
    assert!(sandbox.read(".agents/skills/good/SKILL.md").contains("# good"));
    assert!(sandbox.read(".agents/skills/better/SKILL.md").contains("# better"));
    assert_eq!(sandbox.read("skillpm.lock").matches("[[skill]]").count(), 2);
    for (name, code) in [("misstated", 5), ("swapped", 5), ("refused", 4)] {
        let named = Sandbox::new();
        let output = named.run(&["install", &server.source(""), "--skill", name, "--skill", "good"]);
        assert_eq!(output.code, Some(code), "{name}: {output}");
        assert!(!named.project().join("skillpm.lock").exists(), "{name}");
    }
}

/// The last line of a block of text has a line feed for some readers, and none for others: the bytes are the same.
#[test]
fn a_frontmatter_that_ends_in_a_block_is_read_either_way() {
    let text =
        "---\nname: pdf\ndescription: Does what pdf does.\ncompatibility: >\n  Needs a\n  network.\n---\n";
    for stated in ["Needs a network.", "Needs a network.\n"] {
        let skills = Skills::new(&["pdf"]);
        skills.put("pdf", "SKILL.md", text);
        let entries = skills.clone();
        let server = Server::of(&skills, move |asked| {
            let mut entry = entries.entry("pdf")?;
            entry["frontmatter"]["compatibility"] = json!(stated);
            match asked.method.as_str() {
                "skills/list" => Some(Reply::Result(json!({"skills": [entry]}))),
                "skills/get" => Some(Reply::Result(json!({"skill": entry}))),
                _ => None,
            }
        });
        let sandbox = Sandbox::new();
        sandbox.ok(&["install", &server.source("@pdf")]);
        assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), text, "{stated:?}");
    }
}

/// Of all skills of a server the second one of a name is left out, which is told also if it is the same.
#[test]
fn the_second_skill_of_a_name_is_told() {
    for (is_same, code) in [(true, 0), (false, 2)] {
        let skills = Skills::new(&["a/pdf", "b/pdf"]);
        if !is_same {
            skills.put("b/pdf", "more.md", "b\n");
        }
        let server = Server::of(&skills, |_| None);
        let sandbox = Sandbox::new();
        let output = sandbox.run(&["install", &server.source(""), "--skill", "*"]);
        assert_eq!(output.code, Some(code), "{output}");
        assert!(output.stderr.contains("was left out: ") && output.stderr.contains("b/pdf"), "{output}");
        assert!(sandbox.read("skillpm.toml").contains("path = \"a/pdf\""), "{output}");
        assert!(!sandbox.project().join(".agents/skills/pdf/more.md").exists());
    }
}

/// The extension has hosts tell them apart by their paths.
#[test]
fn skills_of_one_name_have_paths() {
    let skills = Skills::new(&["a/pdf", "b/pdf"]);
    skills.put("b/pdf", "more.md", "b\n");
    let server = Server::of(&skills, |_| None);
    let sandbox = Sandbox::new();
    let hint = format!("skillpm install {}", server.source("//a/pdf"));
    let output = fails(&sandbox, &["install", &server.source("@pdf")], 2, "has 2 skills named `pdf`");
    assert!(output.stderr.contains(hint.trim_start_matches("skillpm install ")), "{output}");
    sandbox.ok(&["install", &server.source("//b/pdf")]);
    assert_eq!(sandbox.read(".agents/skills/pdf/more.md"), "b\n");
    // A server has any skill by its address, listed or not.
    let hidden = Server::of(&skills, |asked| {
        (asked.method == "skills/list").then(|| Reply::Result(json!({"skills": []})))
    });
    Sandbox::new().ok(&["install", &hidden.source("//a/pdf")]);
    let (code, told) = refused(&Sandbox::new(), &hidden.source(""));
    assert!(code == codes::USAGE && told.contains("lists no skills"), "{told}");
}

#[test]
fn what_a_server_does_not_have_is_told() {
    let skills = Skills::new(&["team/pdf", "docx"]);
    let server = Server::of(&skills, |_| None);
    let sandbox = Sandbox::new();
    for (rest, says) in [
        ("@pdff", "did you mean `pdf`?"),
        ("//team/pfd", "there is no skill `team/pfd`"),
        ("//team", "there is no skill `team`"),
        ("?key=1", "it has a query"),
    ] {
        let (code, told) = refused(&sandbox, &server.source(rest));
        assert!(code == codes::USAGE && told.contains(says), "{rest}: {code} {told}");
    }
}

/// A server of the revision 2025-11-25, which answers in streams of events and wants a session.
#[test]
fn servers_with_sessions_are_read() {
    let skills = Skills::new(&["pdf"]);
    let server = Server::start(move |asked| {
        let header = |name: &str| asked.headers.get(name).map(String::as_str);
        if asked.method == "initialize" {
            assert_eq!(header("mcp-session-id"), None);
            let version = &asked.params["protocolVersion"];
            let result = json!({"protocolVersion": version, "capabilities": {"extensions": {SKILLS: {}}}});
            let answer = json!({"jsonrpc": "2.0", "id": asked.id, "result": result});
            let headers = ["Content-Type: text/event-stream; charset=utf-8", "Mcp-Session-Id: s1"];
            let body = format!(": ping\r\n\r\nevent: message\r\nid: 1\r\ndata: {answer}\r\n\r\n");
            return Reply::Http(200, headers.map(str::to_owned).to_vec(), body);
        }
        let session = (header("mcp-session-id"), header("mcp-protocol-version"));
        if session != (Some("s1"), Some("2025-11-25")) {
            return Reply::Http(400, Vec::new(), r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Missing session ID"}}"#.to_owned());
        }
        if asked.method == "notifications/initialized" {
            return Reply::Http(202, Vec::new(), String::new());
        }
        assert!(asked.params.get("_meta").is_none() && header("mcp-method").is_none());
        let Reply::Result(result) = skills.answer(asked) else { return Reply::Error(-32602, "unknown") };
        let progress = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}});
        let answer = json!({"jsonrpc": "2.0", "id": asked.id, "result": result});
        let events = format!("data: {progress}\n\ndata: {answer}\n\ndata: never read\n\n");
        Reply::Http(200, vec!["Content-Type: text/event-stream".to_owned()], events)
    });
    let sandbox = Sandbox::new();
    sandbox.ok(&["install", &server.source("@pdf")]);
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("# pdf"));
    let methods = server.methods();
    assert_eq!(
        methods[..4],
        ["server/discover", "initialize", "notifications/initialized", "skills/list"].map(str::to_owned)
    );
}

/// What modern requests carry, which servers check.
#[test]
fn requests_stand_alone() {
    let skills = Skills::new(&["pdf"]);
    let server = Server::of(&skills, |asked| {
        let meta = &asked.params["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert!(meta["io.modelcontextprotocol/clientCapabilities"]["extensions"][SKILLS].is_object());
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "skillpm");
        assert_eq!(asked.headers["mcp-method"], asked.method);
        assert_eq!(asked.headers["accept"], "application/json, text/event-stream");
        if asked.method == "resources/read" {
            assert_eq!(asked.headers["mcp-name"], asked.params["uri"]);
        }
        None
    });
    Sandbox::new().ok(&["install", &server.source("@pdf")]);
}

#[test]
fn a_login_is_asked_for_and_goes_nowhere_else() {
    let skills = Skills::new(&["pdf"]);
    let other = Server::of(&skills, |asked| {
        assert!(!asked.headers.contains_key("authorization"));
        None
    });
    let host = other.host.clone();
    let server = Server::of(&skills, move |asked| {
        if asked.headers.get("authorization").map(String::as_str) != Some("Bearer s3cret") {
            return Some(Reply::Http(401, vec!["WWW-Authenticate: Bearer".to_owned()], String::new()));
        }
        // The method and the body are kept.
        let location = format!("Location: http://{host}/mcp");
        Some(Reply::Http(307, vec![location], String::new()))
    });
    let mut sandbox = Sandbox::new();
    let variable = format!("SKILLPM_TOKEN_127_0_0_1___{}", server.host.rsplit_once(':').expect("a port").1);
    let (code, told) = refused(&sandbox, &server.source("@pdf"));
    assert!(
        code == codes::NETWORK && told.contains("requires a login") && told.contains(&variable),
        "{told}"
    );
    sandbox.env(&variable, "wrong");
    let (_, told) = refused(&sandbox, &server.source("@pdf"));
    assert!(told.contains(&format!("does not accept the token in `{variable}`")), "{told}");
    sandbox.env(&variable, "s3cret");
    sandbox.ok(&["install", &server.source("@pdf")]);
    assert!(!other.methods().is_empty());
}

/// Each says why, with a code.
#[test]
fn h46_servers_that_are_none_or_lie_are_refused() {
    type Twist = fn(&Asked) -> Option<Reply>;
    /// Changes the result of the scripted server.
    fn changed(asked: &Asked, method: &str, change: impl Fn(&mut Value)) -> Option<Reply> {
        if asked.method != method {
            return None;
        }
        let Reply::Result(mut result) = Skills::new(&["pdf"]).answer(asked) else { return None };
        change(&mut result);
        Some(Reply::Result(result))
    }
    fn listed(asked: &Asked, change: impl Fn(&mut Value)) -> Option<Reply> {
        changed(asked, "skills/list", |result| change(&mut result["skills"][0]))
    }
    let cases: &[(&str, Twist, &str)] = &[
        (
            codes::MCP_NO_SERVER,
            |_| Some(Reply::Http(404, vec![], "nothing".to_owned())),
            "answered with status 404",
        ),
        (
            codes::MCP_NO_SERVER,
            |_| Some(Reply::Http(200, vec!["Content-Type: text/html".to_owned()], "<html>".to_owned())),
            "there is no MCP server",
        ),
        (codes::HTTP_STATUS, |_| Some(Reply::Http(500, vec![], String::new())), "status 500"),
        (
            codes::MCP_REFUSED,
            |_| Some(Reply::Error(-32000, "closed\u{1b}[31m today")),
            "(error -32000): closed[31m today",
        ),
        (
            codes::MCP_NO_SKILLS,
            |asked| changed(asked, "server/discover", |result| result["capabilities"] = json!({"tools": {}})),
            "its tools cannot be installed",
        ),
        (
            codes::MCP_NO_SKILLS,
            |asked| changed(asked, "server/discover", |result| result["capabilities"] = json!({})),
            SKILLS,
        ),
        (
            codes::MCP_UNUSABLE,
            |asked| {
                changed(asked, "server/discover", |result| {
                    result["supportedVersions"] = json!(["2030-01-01"]);
                })
            },
            "no version of the protocol",
        ),
        (
            codes::MCP_UNUSABLE,
            |asked| changed(asked, "skills/list", |result| *result = json!({})),
            "no list `skills`",
        ),
        (
            codes::MCP_UNUSABLE,
            |asked| changed(asked, "skills/list", |result| result["nextCursor"] = json!("x")),
            "its next page is the same one",
        ),
        (
            codes::NETWORK,
            |asked| {
                (asked.method == "skills/list").then(|| {
                    Reply::Http(
                        200,
                        vec!["Content-Type: text/event-stream".to_owned()],
                        "data: {}\n\n".to_owned(),
                    )
                })
            },
            "ended without an answer",
        ),
        (
            codes::INTEGRITY,
            |asked| listed(asked, |skill| skill["resources"] = json!("dynamic")),
            "nothing to lock",
        ),
        (
            codes::INTEGRITY,
            |asked| listed(asked, |skill| skill["frontmatter"]["name"] = json!("docx")),
            "ends in `pdf`",
        ),
        (
            codes::INTEGRITY,
            |asked| listed(asked, |skill| skill["resources"][1]["uri"] = json!("skill://pdf/../evil")),
            "a `.` or `..` component",
        ),
        (
            codes::INTEGRITY,
            |asked| listed(asked, |skill| skill["resources"][1]["uri"] = json!("file:///etc/passwd")),
            "is not in its directory",
        ),
        (
            codes::INTEGRITY,
            |asked| listed(asked, |skill| skill["resources"][0]["size"] = json!(1_u64 << 40)),
            "16777216 are allowed",
        ),
        (
            codes::INTEGRITY,
            |asked| listed(asked, |skill| skill["frontmatter"]["description"] = json!("Something else.")),
            "`description` differs",
        ),
        (
            codes::INTEGRITY,
            |asked| listed(asked, |skill| skill["frontmatter"]["hooks"] = json!({})),
            "`hooks` differs",
        ),
        (
            codes::INTEGRITY,
            |asked| listed(asked, |skill| skill["resources"][0]["size"] = json!(1)),
            "is not what the server states",
        ),
        (
            codes::INTEGRITY,
            |asked| {
                changed(asked, "resources/read", |result| result["contents"][0] = json!({"text": "evil"}))
            },
            "is not what the server states",
        ),
        (
            codes::MCP_UNUSABLE,
            |asked| changed(asked, "resources/read", |result| result["contents"] = json!([])),
            "the content of one file",
        ),
        (
            codes::MCP_UNUSABLE,
            |asked| changed(asked, "resources/read", |result| result["contents"][0] = json!({"blob": "%%"})),
            "the content of one file",
        ),
        (
            codes::MCP_REFUSED,
            |asked| (asked.method == "resources/read").then_some(Reply::Error(-32603, "broken")),
            "refuses `resources/read` (error -32603): broken",
        ),
        (
            codes::TOO_LARGE,
            |asked| {
                let body = || "x".repeat(17 << 20);
                (asked.method == "skills/list").then(|| Reply::Http(200, Vec::new(), body()))
            },
            "has more than 16777216 bytes",
        ),
        (
            codes::REDIRECT_REFUSED,
            |_| Some(Reply::Http(307, vec!["Location: ftp://x/".to_owned()], String::new())),
            "redirects to",
        ),
    ];
    for (expected, twist, says) in cases {
        let server = Server::of(&Skills::new(&["pdf"]), *twist);
        let sandbox = Sandbox::new();
        let (code, told) = refused(&sandbox, &server.source("@pdf"));
        assert!(code == *expected && told.contains(says), "{expected} {says}: {code} {told}");
        assert!(!sandbox.project().join(".agents").exists(), "{told}");
        assert!(!sandbox.project().join("skillpm.lock").exists(), "{told}");
    }
}

/// What one skill does wrong does not spoil the others.
#[test]
fn one_bad_skill_spoils_no_list() {
    let skills = Skills::new(&["a", "pdf"]);
    let server = Server::of(&skills, |asked| {
        (asked.method == "skills/list").then(|| {
            let mut bad = Skills::new(&["a"]).entry("a").expect("an entry");
            bad["resources"] = json!("dynamic");
            let good = Skills::new(&["pdf"]).entry("pdf").expect("an entry");
            Reply::Result(json!({"skills": [bad, "x", good]}))
        })
    });
    let sandbox = Sandbox::new();
    let output = sandbox.ok(&["install", &server.source(""), "--skill", "pdf"]);
    assert!(output.stderr.contains("dynamic"), "{output}");
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("# pdf"));
}

#[test]
fn pages_have_an_end() {
    let server = Server::of(&Skills::default(), |asked| {
        let next = asked.params["cursor"].as_str().map_or(0, |at| at.parse::<u32>().expect("a number")) + 1;
        let page = json!({"skills": [], "nextCursor": next.to_string()});
        (asked.method == "skills/list").then_some(Reply::Result(page))
    });
    let (code, told) = refused(&Sandbox::new(), &server.source("@pdf"));
    assert!(code == codes::TOO_LARGE && told.contains("too many pages"), "{told}");
    let server = Server::of(&Skills::default(), |asked| {
        let skills: Vec<_> = (0..10_001).collect();
        (asked.method == "skills/list").then(|| Reply::Result(json!({"skills": skills})))
    });
    let (code, told) = refused(&Sandbox::new(), &server.source("@pdf"));
    assert!(code == codes::TOO_LARGE && told.contains("too many skills"), "{told}");
}

/// A policy names servers like other addresses.
#[test]
fn a_policy_names_servers() {
    let server = Server::of(&Skills::new(&["pdf"]), |_| None);
    let sandbox = Sandbox::new();
    sandbox.write("skillpm.toml", format!("[policy]\nallow = [\"mcp:{}/*\"]\n", server.host));
    sandbox.ok(&["install", &server.source("@pdf")]);
    let closed = Sandbox::new();
    closed.write("skillpm.toml", "[policy]\nallow = [\"mcp:other.example/*\"]\n");
    let (code, told) = refused(&closed, &server.source("@pdf"));
    assert_eq!(code, codes::NOT_ADMITTED, "{told}");
    assert!(server.methods().iter().filter(|method| *method == "server/discover").count() == 1);
}

/// `FastMCP`'s provider of skills, in a process of its own.
struct FastMcp {
    process: Child,
    port: u16,
}

impl FastMcp {
    fn start(skills: &Path) -> Option<Self> {
        const SCRIPT: &str = "
import sys
from pathlib import Path
from fastmcp import FastMCP
from fastmcp.skills.provider import SkillsDirectoryProvider
server = FastMCP('skills')
server.add_provider(SkillsDirectoryProvider(roots=Path(sys.argv[1]), reload=True))
server.run(transport='http', host='127.0.0.1', port=int(sys.argv[2]), show_banner=False)
";
        let python = skillpm_testing::tools::python("python-env-mcp")?;
        let port = skillpm_testing::server::free_port();
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT]).arg(skills).arg(port.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().expect("starts");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(process.try_wait().expect("a process").is_none(), "the server ended");
            thread::sleep(Duration::from_millis(20));
        }
        Some(Self { process, port })
    }

    fn source(&self, rest: &str) -> String {
        format!("mcp:http://127.0.0.1:{}/mcp{rest}", self.port)
    }
}

impl Drop for FastMcp {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn fastmcp_is_such_a_server() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |path: &str, bytes: &[u8]| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, bytes).expect("a file");
    };
    let document = |name: &str| {
        format!(
            "---\nname: {name}\ndescription: >-\n  Does what\n  {name} does.\nmetadata:\n  version: 1.10\n  flag: yes\n---\n\n# {name}\n"
        )
    };
    write("pdf/SKILL.md", document("pdf").as_bytes());
    write("pdf/scripts/größe a.py", "print('é')\n".as_bytes());
    write("pdf/logo.png", &[0, 255, 1]);
    write("docx/SKILL.md", document("docx").as_bytes());
    let Some(server) = FastMcp::start(dir.path()) else { return };
    let sandbox = Sandbox::new();
    sandbox.ok(&["install", &server.source(""), "--skill", "*"]);
    assert_eq!(sandbox.read(".agents/skills/pdf/scripts/größe a.py"), "print('é')\n");
    assert_eq!(sandbox.read(".agents/skills/docx/SKILL.md"), document("docx"));
    // The digest is that of the same files from a directory.
    let other = Sandbox::new();
    other.ok(&["install", &dir.path().join("pdf").display().to_string()]);
    let digest = |sandbox: &Sandbox| {
        let lock = sandbox.read("skillpm.lock");
        let pdf = lock
            .split("[[skill]]")
            .find(|part| part.contains("name = \"pdf\""))
            .expect("an entry")
            .to_owned();
        pdf.lines().find(|line| line.starts_with("digest")).expect("a digest").to_owned()
    };
    assert_eq!(digest(&sandbox), digest(&other));
    sandbox.ok(&["verify"]);
    assert_eq!(outdated(&sandbox)["status"], "current");
    write("docx/more.md", b"more\n");
    assert_eq!(outdated(&sandbox)["status"], "changed");
    sandbox.ok(&["update"]);
    assert_eq!(sandbox.read(".agents/skills/docx/more.md"), "more\n");
}

/// `skillpm mcp` serves by a library of its own what this source reads.
#[test]
fn our_own_server_is_such_a_server() {
    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    let mut host = Sandbox::new();
    host.env("SKILLPM_MCP_TOKEN", TOKEN);
    let document = "---\nname: pdf\ndescription: Reads files.\nversion: 1.0\n---\n\n# pdf\n";
    host.write("skills/team/pdf/SKILL.md", document);
    host.write("skills/team/pdf/references/größe a.md", "more\n");
    host.write("skills/team/pdf/logo.png", [0, 255, 1]);
    let mut command = host.command(&["mcp", "--http", "0", "--dir", "skills"]);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(process.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening at ").expect("an address").to_owned();

    let mut sandbox = Sandbox::new();
    let port = address.trim_end_matches("/mcp").rsplit_once(':').expect("a port").1;
    let source = format!("mcp:{address}");
    let (code, told) = refused(&sandbox, &source);
    assert!(code == codes::NETWORK && told.contains("requires a login"), "{told}");
    sandbox.env(&format!("SKILLPM_TOKEN_127_0_0_1___{port}"), TOKEN);
    sandbox.ok(&["install", &format!("{source}@pdf")]);
    assert_eq!(sandbox.read(".agents/skills/pdf/SKILL.md"), document);
    assert_eq!(sandbox.read(".agents/skills/pdf/references/größe a.md"), "more\n");
    assert_eq!(outdated(&sandbox)["status"], "current");
    host.write("skills/team/pdf/references/größe a.md", "less\n");
    // The server searches anew after a second.
    thread::sleep(Duration::from_secs(2));
    assert_eq!(outdated(&sandbox)["status"], "changed");
    let _ = process.kill();
    let _ = process.wait();
}
