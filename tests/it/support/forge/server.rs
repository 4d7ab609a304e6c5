//! HTTP/1.1, byte by byte, and the endpoints.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::{DOWNLOAD_SECRET, Endpoint, Recorded, Repository, Shared, State, files, releases, trees};

/// When every commit was made.
const COMMITTED: &str = "2024-02-29T12:00:00Z";

/// What is sent when nothing fails.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Arc<Vec<u8>>,
}

impl Answer {
    pub(super) fn new(status: u16, body: &str) -> Self {
        Self { status, headers: Vec::new(), body: body.as_bytes().to_vec().into() }
    }

    pub(super) fn json(status: u16, message: &str) -> Self {
        let headers = vec![("content-type", "application/json; charset=utf-8".to_owned())];
        let body = format!("{{\"message\":\"{message}\"}}").into_bytes();
        Self { status, headers, body: body.into() }
    }

    pub(super) fn redirect(location: String) -> Self {
        Self { headers: vec![("location", location)], ..Self::new(302, "") }
    }
}

/// Takes connections until the server stops.
pub(super) fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().flatten() {
        if shared.state().stopped {
            return;
        }
        let shared = Arc::clone(shared);
        // A client that hangs up is not the server's failure.
        thread::spawn(move || serve(stream, &shared));
    }
}

/// Holds a connection until the server stops.
pub(super) fn hold(shared: &Shared) {
    let waited = shared.stop.wait_while(shared.state(), |state| !state.stopped);
    drop(waited.expect("no test panicked while it held the state"));
}

/// Waits a moment; `false` where the server stops in it.
pub(super) fn pause(shared: &Shared) -> bool {
    let moment = Duration::from_millis(100);
    let waited = shared.stop.wait_timeout_while(shared.state(), moment, |state| !state.stopped);
    waited.expect("no test panicked while it held the state").1.timed_out()
}

fn serve(mut stream: TcpStream, shared: &Shared) -> Option<()> {
    loop {
        let Some(head) = read_head(&mut stream) else {
            // Not HTTP: a TLS greeting, most likely. Web servers say so in plain text.
            stream.write_all(head_of(400, "Bad Request").as_bytes()).ok()?;
            return stream.shutdown(Shutdown::Write).ok();
        };
        let request = parse(&head)?;
        let host = stream.local_addr().ok()?.to_string();
        let body = if request.method == "GET" { None } else { Some(read_body(&mut stream, &request)?) };
        let (answer, fault) = {
            let mut state = shared.state();
            if state.stopped {
                return None;
            }
            state.requests.push(request.clone());
            if let Some(body) = &body {
                change(&mut state, &host, &request, body)
            } else {
                let (endpoint, answer) = route(&state, &host, &request);
                (answer, take_fault(&mut state, endpoint))
            }
        };
        if let Some(super::Fault::Reset) = fault {
            // The last byte of the request stays unread, which makes the system reset the
            // connection when it is closed.
            return super::Fault::Reset.commit(&mut stream, &request.path, &answer, shared).ok().map(|_| ());
        }
        if body.is_none() {
            stream.read_exact(&mut [0]).ok()?;
        }
        match fault {
            Some(fault) => {
                if !fault.commit(&mut stream, &request.path, &answer, shared).ok()? {
                    return stream.shutdown(Shutdown::Write).ok();
                }
            }
            None => send(&mut stream, &answer).ok()?,
        }
    }
}

/// Reads the end of the head and the body of a request that sends something.
fn read_body(stream: &mut TcpStream, request: &Recorded) -> Option<Vec<u8>> {
    stream.read_exact(&mut [0]).ok()?;
    let length = request.header("content-length").map_or(Some(0), |length| length.parse().ok())?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(body)
}

/// Does what a request with `body` asks for, unless it is refused by a fault.
fn change(state: &mut State, host: &str, request: &Recorded, body: &[u8]) -> (Answer, Option<super::Fault>) {
    let fault = take_fault(state, releases::endpoint(request));
    let is_refused = matches!(fault, Some(super::Fault::Status(..) | super::Fault::Redirect(_)));
    let answer = if is_refused { Answer::new(500, "") } else { releases::change(state, host, request, body) };
    (answer, fault)
}

fn take_fault(state: &mut State, endpoint: Endpoint) -> Option<super::Fault> {
    let at = state
        .faults
        .iter()
        .position(|(on, _, times)| *times > 0 && (*on == endpoint || *on == Endpoint::Any))?;
    state.faults[at].2 -= 1;
    Some(state.faults[at].1.clone())
}

/// Reads the head of a request but for its very last byte; `None` at the end of the connection and
/// for bytes that are no request.
pub fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r") {
        stream.read_exact(&mut byte).ok()?;
        head.extend(byte);
        if !head[0].is_ascii_uppercase() {
            // Take what is there, so that closing does not reset the connection.
            let _ = stream.read(&mut [0; 4096]);
            return None;
        }
    }
    String::from_utf8(head).ok()
}

fn parse(head: &str) -> Option<Recorded> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect::<std::collections::BTreeMap<_, _>>();
    Some(Recorded { host: headers.get("host").cloned().unwrap_or_default(), method, path, headers })
}

/// The endpoint of a request and the right answer.
fn route(state: &State, host: &str, request: &Recorded) -> (Endpoint, Answer) {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let parts: Vec<&str> = path.trim_start_matches('/').splitn(5, '/').collect();
    let is_first = state.archives_at != format!("http://{host}");
    if let Some(answer) = files::answer(state, request, is_first) {
        let endpoint = if path.ends_with("/index.json") { Endpoint::Index } else { Endpoint::File };
        return (endpoint, answer);
    }
    if !is_first {
        return (Endpoint::Archive, archive(state, &parts, query));
    }
    let ["repos", owner, name, rest @ ..] = &parts[..] else {
        return (Endpoint::Any, Answer::json(404, "Not Found"));
    };
    let endpoint = match rest.first() {
        None => Endpoint::Repository,
        Some(&"commits") => Endpoint::Commit,
        Some(&"releases") => Endpoint::Release,
        Some(&"git") if rest.get(1).is_some_and(|what| what.starts_with("trees/")) => Endpoint::Trees,
        Some(&"git") => Endpoint::Tags,
        Some(_) => Endpoint::Zipball,
    };
    (endpoint, api(state, host, request, &format!("{owner}/{name}"), rest))
}

fn api(state: &State, host: &str, request: &Recorded, name: &str, rest: &[&str]) -> Answer {
    let given = request.header("authorization");
    let right = state.token.as_ref().map(|token| format!("Bearer {token}"));
    if given.is_some() && given != right.as_deref() {
        return Answer::json(401, "Bad credentials");
    }
    let visible = |private: bool| !private || given.is_some();
    let Some(repository) = state.repositories.get(name).filter(|r| visible(r.private)) else {
        return Answer::json(404, "Not Found");
    };
    if let [path] = rest
        && *path == "commits"
    {
        return log(repository, request.path.split_once('?').map_or("", |(_, query)| query));
    }
    if let ["git", what] = rest {
        return trees::answer(repository, what);
    }
    if let ["releases", what] = rest {
        return releases::shown(state, host, name, what);
    }
    let [kind, reference] = rest else {
        return Answer::new(200, &format!("{{\"full_name\":\"{name}\"}}"));
    };
    let reference = decode(reference);
    if repository.commits.is_empty() {
        return Answer::json(409, "Git Repository is empty.");
    }
    let Some(commit) = repository.resolve(&reference) else {
        return Answer::json(422, &format!("No commit found for SHA: {reference}"));
    };
    if *kind == "zipball" {
        let at = format!("{}/{name}/legacy.zip/{commit}?token={DOWNLOAD_SECRET}", state.archives_at);
        return Answer::redirect(at);
    }
    // Asked for the commit itself rather than for its id alone.
    if request.header("accept") == Some("application/vnd.github+json") {
        let body =
            format!("{{\"sha\":\"{commit}\",\"commit\":{{\"committer\":{{\"date\":\"{COMMITTED}\"}}}}}}");
        return Answer::new(200, &body);
    }
    let etag = format!("W/\"{commit}\"");
    let status = if request.header("if-none-match") == Some(&etag) { 304 } else { 200 };
    let body = if status == 304 { "" } else { commit };
    Answer { headers: vec![("etag", etag)], ..Answer::new(status, body) }
}

/// The commits up to one, newest first. Which of them changed a directory is not looked at.
fn log(repository: &Repository, query: &str) -> Answer {
    let field = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    let sha = field("sha").unwrap_or_default();
    let count = field("per_page").and_then(|count| count.parse().ok()).unwrap_or(30);
    let newer = repository.log.iter().rev().skip_while(|commit| *commit != sha);
    let list: Vec<_> = newer.take(count).map(|commit| format!("{{\"sha\":\"{commit}\"}}")).collect();
    Answer::new(200, &format!("[{}]", list.join(",")))
}

fn archive(state: &State, parts: &[&str], query: &str) -> Answer {
    let [owner, name, "legacy.zip", commit] = parts else {
        return Answer::new(404, "404: Not Found");
    };
    let repository = state.repositories.get(&format!("{owner}/{name}"));
    let allowed = query == format!("token={DOWNLOAD_SECRET}");
    match repository.and_then(|repository| repository.commits.get(*commit)).filter(|_| allowed) {
        Some(body) => {
            let headers = vec![("content-type", "application/zip".to_owned())];
            Answer { status: 200, headers, body: Arc::clone(body) }
        }
        None => Answer::new(404, "404: Not Found"),
    }
}

pub(super) fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = (*first == b'%').then(|| text_at(tail)).flatten();
        bytes.push(hex.unwrap_or(*first));
        rest = if hex.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn text_at(tail: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(tail.get(..2)?).ok()?, 16).ok()
}

/// Sends an answer whole, with its length.
pub(super) fn send(stream: &mut TcpStream, answer: &Answer) -> io::Result<()> {
    let mut headers: Vec<(&str, String)> = answer.headers.clone();
    if answer.status != 304 {
        headers.push(("content-length", answer.body.len().to_string()));
    }
    stream.write_all(head(answer.status, reason(answer.status), &headers).as_bytes())?;
    stream.write_all(&answer.body)
}

pub(super) fn head(status: u16, reason: &str, headers: &[(&str, String)]) -> String {
    let mut head = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").expect("memory");
    }
    head + "\r\n"
}

fn head_of(status: u16, reason: &str) -> String {
    head(status, reason, &[("content-length", "0".to_owned())])
}

pub(super) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        302 => "Found",
        304 => "Not Modified",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        409 => "Conflict",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500.. => "Server Error",
        _ => "Something",
    }
}
