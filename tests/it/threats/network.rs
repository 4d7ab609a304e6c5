//! Servers and proxies that fail, for each kind of source that is fetched over HTTP: h.
//!
//! `http.rs` has the client by itself; here is what a person sees, over an installation that has to
//! stay, and how often the server was asked.

use std::fmt::Write as _;

use super::{AFTER, BEFORE, COMMIT, Scene, Way};
use crate::support::machine::differences;
use crate::support::proxy::Proxy;
use crate::support::sandbox::Output;
use crate::support::{Endpoint, Fault, Tree};

/// An archive of the skill with a middle to be cut off at; in those of a site, the skill is at the root.
fn archive(way: Way, text: &str, commit: &str) -> Vec<u8> {
    let noise: Vec<u8> = (0..20_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    match way {
        Way::Site => Tree::new().file("SKILL.md", text).file("noise", noise).zip(),
        _ => Tree::new().file("demo/SKILL.md", text).file("demo/noise", noise).archive("acme/demo", commit),
    }
}

/// `demo` is installed, and something newer is on offer.
fn scene(way: Way) -> Scene {
    let mut scene = Scene::new(way, &archive(way, BEFORE, &"d".repeat(40)));
    scene.offer(&archive(way, AFTER, COMMIT), COMMIT);
    // A machine that is busy may make a server look silent.
    scene.sandbox.env("SKILLPM_HTTP_TIMEOUT", "20").env("SKILLPM_HTTP_RETRIES", "1");
    // What is kept would be asked for with its tag, and all of it would have to come again.
    std::fs::remove_dir_all(scene.sandbox.home().join(".cache/skillpm")).expect("removed");
    scene.forge.clear_requests();
    scene
}

/// What a person sees, without what differs from run to run and by what compression makes of the archive.
fn told(scene: &Scene, output: &Output) -> String {
    let text = output.stderr.replace(&scene.forge.api_host(), "API");
    let text = text.replace(&scene.forge.archive_host(), "ARCHIVES");
    let mut text = text.replace(COMMIT, "COMMIT");
    for (pattern, with) in [
        (r"\d\d:\d\d UTC", "TIME UTC"),
        (r"sha256:[0-9a-f]{64}", "DIGEST"),
        (r"\b\d+ bytes arrived, \d+ were", "SOME bytes arrived, MORE were"),
        (r"\b\d+ bytes arrived", "SOME bytes arrived"),
        (r"after \d+ bytes", "after SOME bytes"),
    ] {
        text = regex::Regex::new(pattern).expect("a pattern").replace_all(&text, with).into_owned();
    }
    text
}

/// What is told of several faults.
const LIMITED: &str = "exit 4, 2 requests: the rate limit of `HOST` is reached";
const FOR_EVER: &str =
    "exit 4, 1 request: the rate limit of `HOST` is reached; it ends in more than 10 years";
const CUT_OFF: &str =
    "exit 4, 2 requests: the response from `HOST` was cut off: SOME bytes arrived, MORE were expected";
const SILENT: &str = "exit 4, 2 requests: `HOST` did not answer within 1 second";
const STOPPED: &str =
    "exit 4, 2 requests: the response from `HOST` stalled: no data for 1 second after SOME bytes";

/// Each fault, by what it is called, with what is told of it wherever it comes from: the exit code, how
/// often the address was asked for, and the error. It is empty where each endpoint has something of its own
/// to say.
fn faults() -> Vec<(&'static str, Fault, &'static str)> {
    let limited = |value: &str| Fault::too_many(value);
    let unavailable = |value: &str| Fault::Status(503, vec![("retry-after", value.to_owned())], "");
    vec![
        ("h13 limited, 0", limited("0"), LIMITED),
        ("h14 limited, a date that is past", limited("Sun, 06 Nov 1994 08:49:37 GMT"), LIMITED),
        ("h14 limited, a date far away", limited("Fri, 01 Jan 9999 00:00:00 GMT"), FOR_EVER),
        ("h14 limited, no time", limited("soon"), LIMITED),
        ("h14 limited, a negative time", limited("-1"), LIMITED),
        ("h15 limited for ever", limited("999999999"), FOR_EVER),
        ("h15 limited beyond numbers", limited("99999999999999999999999999"), FOR_EVER),
        (
            "h16 used up",
            Fault::rate_limit(2400),
            "exit 4, 1 request: the rate limit of `HOST` is reached; it ends in 40 minutes, at TIME UTC",
        ),
        (
            "h20 unavailable",
            Fault::status(503),
            "exit 4, 2 requests: `ADDRESS` answered with status 503: From the forge",
        ),
        (
            "h20 unavailable for ever",
            unavailable("999999999"),
            "exit 4, 1 request: `ADDRESS` answered with status 503",
        ),
        ("h01 cut off", Fault::Truncated, CUT_OFF),
        (
            "h01 cut off in chunks",
            Fault::TruncatedChunks,
            "exit 4, 2 requests: the response from `HOST` was cut off: SOME bytes arrived, more were expected",
        ),
        ("h03 reset", Fault::Reset, "exit 4, 2 requests: cut off"),
        (
            "h03 closed at once",
            Fault::Closed,
            "exit 4, 2 requests: the connection to `HOST` broke off caused by: connection closed before message completed",
        ),
        ("h04 silent", Fault::Silent, SILENT),
        ("h04 head byte by byte", Fault::DripHead, SILENT),
        ("h05 stalled", Fault::Stalled, STOPPED),
        ("h06 byte by byte", Fault::Drip, STOPPED),
        ("h07 loop", Fault::Loop, "exit 4, 11 requests: `ADDRESS` redirects too often"),
        (
            "h08 a local file",
            Fault::Redirect("file:///etc/passwd".to_owned()),
            "exit 4, 1 request: `ADDRESS` redirects to `file:///etc/passwd`: only `https` and `http` are supported",
        ),
        (
            "h08 no address",
            Fault::Redirect("http://".to_owned()),
            "exit 4, 1 request: `ADDRESS` redirects to `http://`: it is not an address",
        ),
        ("h22 length too large", Fault::WrongLength(1), CUT_OFF),
        ("h22 length too small", Fault::WrongLength(-10), ""),
        (
            "h22 chunks without a length",
            Fault::BadChunks,
            "exit 4, 1 request: the response from `HOST` cannot be read: invalid chunk size line: missing size digit",
        ),
        (
            "h23 gzip bomb",
            Fault::Gzip(4 << 20),
            "exit 4, 1 request: `ADDRESS` answered in the encoding `gzip`, which was not requested",
        ),
        ("h24 endless", Fault::Endless, ""),
        (
            "h25 huge header",
            Fault::HugeHeader,
            "exit 4, 1 request: the response from `HOST` cannot be read: its head has more than 65536 bytes",
        ),
        (
            "h25 many headers",
            Fault::ManyHeaders,
            "exit 4, 1 request: the response from `HOST` cannot be read: message head is too large",
        ),
        (
            "h25 no HTTP",
            Fault::Garbage,
            "exit 4, 1 request: the response from `HOST` cannot be read: invalid HTTP version parsed",
        ),
        (
            "h26 not modified, and nothing is known",
            Fault::Status(304, vec![], ""),
            "exit 4, 1 request: `ADDRESS` answered with status 304",
        ),
        ("h28 a page", Fault::Html, ""),
    ]
}

/// Where `endpoint` of `way` is: its host and its address as [`told`] has them, how many requests come
/// before the first one for it, and how many each try takes.
fn place(way: Way, endpoint: Endpoint) -> (&'static str, &'static str, usize, usize) {
    match (way, endpoint) {
        (Way::Repository, Endpoint::Commit) => ("API", "http://API/repos/acme/demo/commits/HEAD", 0, 1),
        (Way::Repository, Endpoint::Zipball) => ("API", "http://API/repos/acme/demo/zipball/COMMIT", 1, 1),
        // The address of an archive is a permission for one time: it is asked for anew.
        (Way::Repository, Endpoint::Archive) => {
            ("ARCHIVES", "http://ARCHIVES/acme/demo/legacy.zip/COMMIT", 1, 2)
        }
        (Way::Download(_), Endpoint::File) => ("API", "http://API/offered.zip", 0, 1),
        (Way::Site, Endpoint::Index) => ("API", "http://API/.well-known/agent-skills/index.json", 0, 1),
        (Way::Site, Endpoint::File) => ("API", "http://API/.well-known/agent-skills/demo.zip", 1, 1),
        other => panic!("{other:?} is not tried"),
    }
}

/// Tries every fault at `endpoint` of `way`, and returns a line for each of which something else is told
/// than usual.
fn unusual(way: Way, endpoint: Endpoint) -> String {
    let mut tries = faults();
    // As many bytes as an archive may have would come; `http.rs` has that with a lower limit.
    let is_text = matches!(endpoint, Endpoint::Commit | Endpoint::Index);
    tries.retain(|(_, fault, _)| is_text || !matches!(fault, Fault::Endless));
    let lines = std::thread::scope(|threads| {
        let started: Vec<_> = tries
            .into_iter()
            .map(|(what, fault, usual)| (what, usual, threads.spawn(move || one(what, way, endpoint, fault))))
            .collect();
        let ended =
            started.into_iter().map(|(what, usual, thread)| (what, usual, thread.join().expect("no panic")));
        let unusual = ended.filter(|(_, usual, told)| told != usual);
        unusual.map(|(what, _, told)| format!("{what}: {told}\n")).collect::<Vec<_>>()
    });
    lines.concat()
}

fn one(what: &str, way: Way, endpoint: Endpoint, fault: Fault) -> String {
    let mut scene = scene(way);
    if matches!(fault, Fault::Silent | Fault::DripHead | Fault::Stalled | Fault::Drip) {
        scene.sandbox.env("SKILLPM_HTTP_TIMEOUT", "1");
    }
    scene.forge.fail_always(endpoint, fault);
    let before = scene.look();
    let output = scene.run(&["install", &scene.source()]);
    let code = output.code.expect("it ends by itself");
    let want = super::Want::Fails(code, "error: ");
    assert_ne!(code, 0, "{what}: {output}");
    scene.judge(what, want, &before, &output);
    assert_eq!(output.stderr.matches("error: ").count(), 1, "{what}: one message: {output}");
    // Nothing of what came wrongly is kept as if it were right.
    let again = scene.run(&["install", "--offline", "--frozen"]);
    assert_eq!(again.code, Some(0), "{what}: {again}");
    assert_eq!(differences(&before, &scene.look()), [""; 0], "{what}");
    let requests = scene.forge.asked();
    let last = requests.last().expect("it was asked");
    let number = requests.iter().filter(|path| *path == last).count();
    let text = told(&scene, &output);
    let retries = text.lines().filter(|line| line.contains("; retrying in")).count();
    if !what.contains("loop") {
        assert_eq!(number, 1 + retries, "{what}: {requests:?}\n{text}");
    }
    let (host, address, first, each) = place(way, endpoint);
    let all = if requests.len() == first + number * each {
        String::new()
    } else {
        format!(", {} in all", requests.len())
    };
    let plural = if number == 1 { "" } else { "s" };
    let start = format!("exit {code}, {number} request{plural}{all}: ");
    // What came before a reset may be lost with it.
    if what.contains("reset") && (text.contains("was cut off: ") || text.contains(" broke off")) {
        return start + "cut off";
    }
    let error = text.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    let error = error.trim_start_matches("error: ").replace(address, "ADDRESS").replace(host, "HOST");
    let cause = text.lines().find(|line| line.starts_with("  caused by: ")).map_or("", str::trim_start);
    format!("{start}{error} {cause}").trim_end().to_owned()
}

/// The question which commit a name means.
#[test]
fn the_interface_of_github() {
    insta::assert_snapshot!(unusual(Way::Repository, Endpoint::Commit), @"
    h22 length too small: exit 4, 1 request: the response from `HOST` is not the id of a commit
    h24 endless: exit 5, 1 request: the response from `HOST` has more than 1048576 bytes
    h28 a page: exit 4, 1 request: the response from `HOST` is not the id of a commit
    ");
}

/// The redirect to an archive.
#[test]
fn the_way_to_an_archive() {
    insta::assert_snapshot!(unusual(Way::Repository, Endpoint::Zipball), @"
    h01 cut off: exit 4, 1 request: `ADDRESS` redirects without saying where to
    h01 cut off in chunks: exit 4, 1 request: `ADDRESS` redirects without saying where to
    h03 reset: exit 4, 1 request: `ADDRESS` redirects without saying where to
    h05 stalled: exit 4, 1 request: `ADDRESS` redirects without saying where to
    h06 byte by byte: exit 4, 1 request: `ADDRESS` redirects without saying where to
    h22 length too large: exit 4, 1 request: `ADDRESS` redirects without saying where to
    h22 length too small: exit 4, 1 request: `ADDRESS` redirects without saying where to
    h22 chunks without a length: exit 4, 1 request: `ADDRESS` redirects without saying where to
    h28 a page: exit 5, 1 request: the archive of `acme/demo` is refused caused by: this is not a zip archive: it looks like an HTML page
    ");
}

/// The archive on the second host.
#[test]
fn the_archive_of_a_repository() {
    insta::assert_snapshot!(unusual(Way::Repository, Endpoint::Archive), @"
    h07 loop: exit 4, 10 requests, 12 in all: `http://API/repos/acme/demo/zipball/COMMIT` redirects too often
    h22 length too small: exit 5, 1 request: the archive of `acme/demo` is refused caused by: the archive is cut off: its comment is incomplete
    h28 a page: exit 5, 1 request: the archive of `acme/demo` is refused caused by: this is not a zip archive: it looks like an HTML page
    ");
}

/// A file at an address.
#[test]
fn a_download() {
    insta::assert_snapshot!(unusual(Way::Download("zip"), Endpoint::File), @"
    h22 length too small: exit 5, 1 request: `ADDRESS` is refused caused by: the archive is cut off: its comment is incomplete
    h28 a page: exit 5, 1 request: `ADDRESS` is refused caused by: this is not a zip, tar or tar.gz archive: it looks like an HTML page
    ");
}

/// The list of a site.
#[test]
fn the_index_of_a_site() {
    insta::assert_snapshot!(unusual(Way::Site, Endpoint::Index), @"
    h22 length too small: exit 4, 1 request: the index `ADDRESS` cannot be used: 1:236: it is not JSON: EOF while parsing a string
    h24 endless: exit 5, 1 request: the response from `HOST` has more than 16777216 bytes
    h28 a page: exit 4, 1 request, 2 in all: there is no index of skills at `http://HOST`:
    ");
}

/// A file that the list of a site names.
#[test]
fn an_artifact_of_a_site() {
    insta::assert_snapshot!(unusual(Way::Site, Endpoint::File), @"
    h22 length too small: exit 5, 1 request: `ADDRESS` does not match the site's index: expected DIGEST, found DIGEST
    h28 a page: exit 5, 1 request: `ADDRESS` does not match the site's index: expected DIGEST, found DIGEST
    ");
}

/// Faults that pass, and servers that are old: the newer version comes, after as many requests as it takes.
#[test]
fn what_passes_is_waited_for() {
    // Most of the time is spent waiting.
    std::thread::scope(|threads| {
        for (way, endpoint, plain) in [
            (Way::Repository, Endpoint::Commit, 3),
            (Way::Repository, Endpoint::Zipball, 3),
            (Way::Repository, Endpoint::Archive, 3),
            (Way::Download("zip"), Endpoint::File, 1),
            (Way::Site, Endpoint::Index, 2),
            (Way::Site, Endpoint::File, 2),
        ] {
            threads.spawn(move || passes(way, endpoint, plain));
        }
    });
}

/// Tries what passes at `endpoint` of `way`, which is `plain` requests without a fault.
fn passes(way: Way, endpoint: Endpoint, plain: usize) {
    for (what, fault, more) in [
        ("h13", Fault::too_many("0"), 1),
        ("h20", Fault::status(502), 1),
        ("h01", Fault::Truncated, 1),
        ("h03", Fault::Closed, 1),
        ("HTTP/1.0", Fault::Http10, 0),
        ("chunks", Fault::Chunked, 0),
    ] {
        // A redirect has no body that matters.
        if endpoint == Endpoint::Zipball && matches!(fault, Fault::Truncated | Fault::Http10 | Fault::Chunked)
        {
            continue;
        }
        // The address of an archive is a permission for one time: it is asked for anew.
        let more = if endpoint == Endpoint::Archive { more * 2 } else { more };
        let scene = scene(way);
        scene.forge.fail(endpoint, fault);
        let output = scene.run(&["install", &scene.source()]);
        assert_eq!(output.code, Some(0), "{what} {way:?} {endpoint:?}: {output}");
        assert_eq!(std::fs::read_to_string(scene.skill().join("SKILL.md")).expect("there"), AFTER);
        assert_eq!(scene.forge.requests().len(), plain + more, "{what} {way:?} {endpoint:?}: {output}");
    }
}

/// h42, h43: proxies that refuse, lie, break off or speak something else, for each kind of source.
#[test]
fn proxies_that_lie() {
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>Log in</html>";
    let mut shown = String::new();
    for (what, answer) in [
        ("h43 wants a login", "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"),
        ("forbids", "HTTP/1.1 403 Forbidden\r\ncontent-length: 5\r\n\r\nno..."),
        ("a page instead of the connection", page),
        ("a page of its own, with its length", "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>"),
        ("no HTTP", "220 mail.example.com ESMTP\r\n"),
        ("closes", ""),
        ("half a head", "HTTP/1.1 200 O"),
        ("sends elsewhere", "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n"),
    ] {
        for way in [Way::Repository, Way::Download("zip"), Way::Site] {
            let mut scene = scene(way);
            let proxy = Proxy::saying(answer);
            scene.sandbox.env("http_proxy", &proxy.url()).env("SKILLPM_HTTP_RETRIES", "0");
            scene.sandbox.env("GITHUB_TOKEN", "t0ken");
            let before = scene.look();
            let output = scene.run(&["install", &scene.source()]);
            // A plain request is passed on, so that the proxy can answer in the place of the server.
            let code = if what.contains("page") && way == Way::Download("zip") { 5 } else { 4 };
            scene.judge(what, super::Want::Fails(code, "error: "), &before, &output);
            assert!(!output.stderr.contains("s3cret"), "{what}: {output}");
            assert!(scene.forge.requests().is_empty(), "{what}");
            // The token is for the server.
            assert!(proxy.heads().iter().all(|head| !head.contains("t0ken")), "{what}: {:?}", proxy.heads());
            if way == Way::Repository {
                let host = proxy.url().rsplit('@').next().expect("a host").to_owned();
                write!(shown, "# {what}\n{}", told(&scene, &output).replace(&host, "PROXY")).expect("memory");
            }
        }
    }
    insta::assert_snapshot!(shown, @"
    # h43 wants a login
    error: the proxy `http://PROXY` made no connection to `API`: it answered with status 407
    hint: put name and password into the proxy's address: `HTTPS_PROXY=http://name:password@host:port`
    # forbids
    error: `API` does not allow access to `acme/demo`
    hint: `GITHUB_TOKEN` needs a token that may read the repository
    # a page instead of the connection
    error: the response from `API` is not the id of a commit
    hint: check `GITHUB_API_URL`; a proxy or a login page may be in the way
    # a page of its own, with its length
    error: the response from `API` is not the id of a commit
    hint: check `GITHUB_API_URL`; a proxy or a login page may be in the way
    # no HTTP
    error: the response from `API` cannot be read: invalid HTTP version parsed
    hint: a proxy or a login page may have changed the response
    # closes
    error: the connection to `API` broke off
      caused by: connection closed before message completed
    hint: run it again
    # half a head
    error: the connection to `API` broke off
      caused by: connection closed before message completed
    hint: run it again
    # sends elsewhere
    error: `http://API/repos/acme/demo/commits/HEAD` redirects too often
    ");
}

/// h45: nobody answers at the address, or it has no host, by IPv4, IPv6 and by name.
#[test]
fn nobody_is_there() {
    let mut shown = String::new();
    for url in [
        "http://127.0.0.1:9/a.zip",
        "http://[::1]:9/a.zip",
        "http://no-such-host.invalid/a.zip",
        "http://0.0.0.0:9/a.zip",
    ] {
        let scene = scene(Way::Download("zip"));
        let before = scene.look();
        let output = scene.run(&["install", url]);
        scene.judge(url, super::Want::Fails(4, "error: "), &before, &output);
        if !url.contains("invalid") && !url.contains("::1") {
            write!(shown, "{}", told(&scene, &output)).expect("memory");
        }
    }
    insta::assert_snapshot!(shown, @"
    failed to connect to `127.0.0.1:9`; retrying in 1 s (1 of 1)
    error: failed to connect to `127.0.0.1:9`
      caused by: Connection refused (os error 111)
    hint: check the connection; behind a proxy, set `HTTPS_PROXY`
    hint: skills in the store can be installed without a network: `--offline`
    failed to connect to `0.0.0.0:9`; retrying in 1 s (1 of 1)
    error: failed to connect to `0.0.0.0:9`
      caused by: Connection refused (os error 111)
    hint: check the connection; behind a proxy, set `HTTPS_PROXY`
    hint: skills in the store can be installed without a network: `--offline`
    ");
}

/// IPv6 works where the machine has it.
#[test]
fn an_address_of_ipv6() {
    let Ok(listener) = std::net::TcpListener::bind("[::1]:0") else {
        eprintln!("skipped: this machine has no IPv6");
        return;
    };
    let port = listener.local_addr().expect("an address").port();
    let scene = scene(Way::Download("zip"));
    let body = archive(scene.way, AFTER, COMMIT);
    let server = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().expect("a client");
        let head = crate::support::forge::read_head(&mut stream).expect("a request");
        // What is left unread when a connection is closed resets it, and the answer may be lost with it.
        stream.read_exact(&mut [0]).expect("the last byte of the request");
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len()).expect("sends");
        stream.write_all(&body).expect("sends");
        head
    });
    let output = scene.run(&["install", &format!("http://[::1]:{port}/a.zip"), "--force"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(server.join().expect("no panic").contains(&format!("\r\nhost: [::1]:{port}")));
}
