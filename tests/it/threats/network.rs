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
        (r"\b\d+ bytes came, \d+ were", "SOME bytes came, MORE were"),
        (r"\b\d+ bytes came", "SOME bytes came"),
        (r"after \d+ bytes", "after SOME bytes"),
    ] {
        text = regex::Regex::new(pattern).expect("a pattern").replace_all(&text, with).into_owned();
    }
    text
}

/// Each fault, by what it is called.
fn faults() -> Vec<(&'static str, Fault)> {
    let limited = |value: &str| Fault::too_many(value);
    let unavailable = |value: &str| Fault::Status(503, vec![("retry-after", value.to_owned())], "");
    vec![
        ("h13 limited, 0", limited("0")),
        ("h14 limited, a date that is past", limited("Sun, 06 Nov 1994 08:49:37 GMT")),
        ("h14 limited, a date far away", limited("Fri, 01 Jan 9999 00:00:00 GMT")),
        ("h14 limited, no time", limited("soon")),
        ("h14 limited, a negative time", limited("-1")),
        ("h15 limited for ever", limited("999999999")),
        ("h15 limited beyond numbers", limited("99999999999999999999999999")),
        ("h16 used up", Fault::rate_limit(2400)),
        ("h20 unavailable", Fault::status(503)),
        ("h20 unavailable for ever", unavailable("999999999")),
        ("h01 cut off", Fault::Truncated),
        ("h01 cut off in chunks", Fault::TruncatedChunks),
        ("h03 reset", Fault::Reset),
        ("h03 closed at once", Fault::Closed),
        ("h04 silent", Fault::Silent),
        ("h04 head byte by byte", Fault::DripHead),
        ("h05 stalled", Fault::Stalled),
        ("h06 byte by byte", Fault::Drip),
        ("h07 loop", Fault::Loop),
        ("h08 a local file", Fault::Redirect("file:///etc/passwd".to_owned())),
        ("h08 no address", Fault::Redirect("http://".to_owned())),
        ("h22 length too large", Fault::WrongLength(1)),
        ("h22 length too small", Fault::WrongLength(-10)),
        ("h22 chunks without a length", Fault::BadChunks),
        ("h23 gzip bomb", Fault::Gzip(4 << 20)),
        ("h24 endless", Fault::Endless),
        ("h25 huge header", Fault::HugeHeader),
        ("h25 many headers", Fault::ManyHeaders),
        ("h25 no HTTP", Fault::Garbage),
        ("h26 not modified, and nothing is known", Fault::Status(304, vec![], "")),
        ("h28 a page", Fault::Html),
    ]
}

/// Tries every fault at `endpoint` of `way`; each gives a line: exit code, requests, and the error.
fn each(way: Way, endpoint: Endpoint) -> String {
    let mut tries = faults();
    // As many bytes as an archive may have would come; `http.rs` has that with a lower limit.
    let is_text = matches!(endpoint, Endpoint::Commit | Endpoint::Index);
    tries.retain(|(_, fault)| is_text || !matches!(fault, Fault::Endless));
    let lines = std::thread::scope(|threads| {
        let started: Vec<_> = tries
            .into_iter()
            .map(|(what, fault)| {
                threads.spawn(move || format!("{what}: {}\n", one(what, way, endpoint, fault)))
            })
            .collect();
        started.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
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
    let retries = text.lines().filter(|line| line.contains(": trying again")).count();
    if !what.contains("loop") {
        assert_eq!(number, 1 + retries, "{what}: {requests:?}\n{text}");
    }
    // What came before a reset may be lost with it.
    if what.contains("reset") && (text.contains("is cut off: ") || text.contains(" broke off")) {
        return format!("exit {code}, {number} of {}: cut off", requests.len());
    }
    let error = text.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    let cause = text.lines().find(|line| line.starts_with("  caused by: ")).map_or("", str::trim_start);
    format!("exit {code}, {number} of {}: {} {cause}", requests.len(), error.trim_start_matches("error: "))
        .trim_end()
        .to_owned()
}

/// The question which commit a name means.
#[test]
fn the_interface_of_github() {
    insta::assert_snapshot!(each(Way::Repository, Endpoint::Commit), @"
    h13 limited, 0: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a date that is past: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a date far away: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h14 limited, no time: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a negative time: exit 4, 2 of 2: the rate limit of `API` is reached
    h15 limited for ever: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h15 limited beyond numbers: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h16 used up: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in 40 minutes, at TIME UTC
    h20 unavailable: exit 4, 2 of 2: `http://API/repos/acme/demo/commits/HEAD` answered with status 503: From the forge
    h20 unavailable for ever: exit 4, 1 of 1: `http://API/repos/acme/demo/commits/HEAD` answered with status 503
    h01 cut off: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, MORE were expected
    h01 cut off in chunks: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, more were expected
    h03 reset: exit 4, 2 of 2: cut off
    h03 closed at once: exit 4, 2 of 2: the connection to `API` broke off caused by: Peer disconnected
    h04 silent: exit 4, 2 of 2: `API` did not answer within 1 second
    h04 head byte by byte: exit 4, 2 of 2: `API` did not answer within 1 second
    h05 stalled: exit 4, 2 of 2: the answer of `API` stopped: 1 second without data after SOME bytes
    h06 byte by byte: exit 4, 2 of 2: the answer of `API` stopped: 1 second without data after SOME bytes
    h07 loop: exit 4, 11 of 11: `http://API/repos/acme/demo/commits/HEAD` redirects too often
    h08 a local file: exit 4, 1 of 1: `http://API/repos/acme/demo/commits/HEAD` redirects to `file:///etc/passwd`: it is not an address
    h08 no address: exit 4, 1 of 1: `http://API/repos/acme/demo/commits/HEAD` redirects to `http://`: it is not an address
    h22 length too large: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, MORE were expected
    h22 length too small: exit 4, 1 of 1: the answer of `API` is not the id of a commit
    h22 chunks without a length: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: chunk length cannot be read as a number
    h23 gzip bomb: exit 4, 1 of 1: `http://API/repos/acme/demo/commits/HEAD` answered in the encoding `gzip`, which was not asked for
    h24 endless: exit 5, 1 of 1: the answer of `API` has more than 1048576 bytes
    h25 huge header: exit 4, 1 of 1: the answer of `API` cannot be read: response header is too big: 102429 > 65536
    h25 many headers: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: http parse resulted in too many headers
    h25 no HTTP: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: http parse fail: invalid HTTP version
    h26 not modified, and nothing is known: exit 4, 1 of 1: `http://API/repos/acme/demo/commits/HEAD` answered with status 304
    h28 a page: exit 4, 1 of 1: the answer of `API` is not the id of a commit
    ");
}

/// The redirect to an archive.
#[test]
fn the_way_to_an_archive() {
    insta::assert_snapshot!(each(Way::Repository, Endpoint::Zipball), @"
    h13 limited, 0: exit 4, 2 of 3: the rate limit of `API` is reached
    h14 limited, a date that is past: exit 4, 2 of 3: the rate limit of `API` is reached
    h14 limited, a date far away: exit 4, 1 of 2: the rate limit of `API` is reached; it ends in more than 10 years
    h14 limited, no time: exit 4, 2 of 3: the rate limit of `API` is reached
    h14 limited, a negative time: exit 4, 2 of 3: the rate limit of `API` is reached
    h15 limited for ever: exit 4, 1 of 2: the rate limit of `API` is reached; it ends in more than 10 years
    h15 limited beyond numbers: exit 4, 1 of 2: the rate limit of `API` is reached; it ends in more than 10 years
    h16 used up: exit 4, 1 of 2: the rate limit of `API` is reached; it ends in 40 minutes, at TIME UTC
    h20 unavailable: exit 4, 2 of 3: `http://API/repos/acme/demo/zipball/COMMIT` answered with status 503: From the forge
    h20 unavailable for ever: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` answered with status 503
    h01 cut off: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects, and does not say where to
    h01 cut off in chunks: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects, and does not say where to
    h03 reset: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects, and does not say where to
    h03 closed at once: exit 4, 2 of 3: the connection to `API` broke off caused by: Peer disconnected
    h04 silent: exit 4, 2 of 3: `API` did not answer within 1 second
    h04 head byte by byte: exit 4, 2 of 3: `API` did not answer within 1 second
    h05 stalled: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects, and does not say where to
    h06 byte by byte: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects, and does not say where to
    h07 loop: exit 4, 11 of 12: `http://API/repos/acme/demo/zipball/COMMIT` redirects too often
    h08 a local file: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects to `file:///etc/passwd`: it is not an address
    h08 no address: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects to `http://`: it is not an address
    h22 length too large: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects, and does not say where to
    h22 length too small: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects, and does not say where to
    h22 chunks without a length: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` redirects, and does not say where to
    h23 gzip bomb: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` answered in the encoding `gzip`, which was not asked for
    h25 huge header: exit 4, 1 of 2: the answer of `API` cannot be read: response header is too big: 102429 > 65536
    h25 many headers: exit 4, 1 of 2: the answer of `API` cannot be read: protocol: http parse resulted in too many headers
    h25 no HTTP: exit 4, 1 of 2: the answer of `API` cannot be read: protocol: http parse fail: invalid HTTP version
    h26 not modified, and nothing is known: exit 4, 1 of 2: `http://API/repos/acme/demo/zipball/COMMIT` answered with status 304
    h28 a page: exit 5, 1 of 2: the archive of `acme/demo` is refused caused by: this is not a zip archive: it starts like an HTML page
    ");
}

/// The archive on the second host.
#[test]
fn the_archive_of_a_repository() {
    insta::assert_snapshot!(each(Way::Repository, Endpoint::Archive), @"
    h13 limited, 0: exit 4, 2 of 5: the rate limit of `ARCHIVES` is reached
    h14 limited, a date that is past: exit 4, 2 of 5: the rate limit of `ARCHIVES` is reached
    h14 limited, a date far away: exit 4, 1 of 3: the rate limit of `ARCHIVES` is reached; it ends in more than 10 years
    h14 limited, no time: exit 4, 2 of 5: the rate limit of `ARCHIVES` is reached
    h14 limited, a negative time: exit 4, 2 of 5: the rate limit of `ARCHIVES` is reached
    h15 limited for ever: exit 4, 1 of 3: the rate limit of `ARCHIVES` is reached; it ends in more than 10 years
    h15 limited beyond numbers: exit 4, 1 of 3: the rate limit of `ARCHIVES` is reached; it ends in more than 10 years
    h16 used up: exit 4, 1 of 3: the rate limit of `ARCHIVES` is reached; it ends in 40 minutes, at TIME UTC
    h20 unavailable: exit 4, 2 of 5: `http://ARCHIVES/acme/demo/legacy.zip/COMMIT` answered with status 503: From the forge
    h20 unavailable for ever: exit 4, 1 of 3: `http://ARCHIVES/acme/demo/legacy.zip/COMMIT` answered with status 503
    h01 cut off: exit 4, 2 of 5: the answer of `ARCHIVES` is cut off: SOME bytes came, MORE were expected
    h01 cut off in chunks: exit 4, 2 of 5: the answer of `ARCHIVES` is cut off: SOME bytes came, more were expected
    h03 reset: exit 4, 2 of 5: cut off
    h03 closed at once: exit 4, 2 of 5: the connection to `ARCHIVES` broke off caused by: Peer disconnected
    h04 silent: exit 4, 2 of 5: `ARCHIVES` did not answer within 1 second
    h04 head byte by byte: exit 4, 2 of 5: `ARCHIVES` did not answer within 1 second
    h05 stalled: exit 4, 2 of 5: the answer of `ARCHIVES` stopped: 1 second without data after SOME bytes
    h06 byte by byte: exit 4, 2 of 5: the answer of `ARCHIVES` stopped: 1 second without data after SOME bytes
    h07 loop: exit 4, 10 of 12: `http://API/repos/acme/demo/zipball/COMMIT` redirects too often
    h08 a local file: exit 4, 1 of 3: `http://ARCHIVES/acme/demo/legacy.zip/COMMIT` redirects to `file:///etc/passwd`: it is not an address
    h08 no address: exit 4, 1 of 3: `http://ARCHIVES/acme/demo/legacy.zip/COMMIT` redirects to `http://`: it is not an address
    h22 length too large: exit 4, 2 of 5: the answer of `ARCHIVES` is cut off: SOME bytes came, MORE were expected
    h22 length too small: exit 5, 1 of 3: the archive of `acme/demo` is refused caused by: the archive is cut off: its comment is incomplete
    h22 chunks without a length: exit 4, 1 of 3: the answer of `ARCHIVES` cannot be read: protocol: chunk length cannot be read as a number
    h23 gzip bomb: exit 4, 1 of 3: `http://ARCHIVES/acme/demo/legacy.zip/COMMIT` answered in the encoding `gzip`, which was not asked for
    h25 huge header: exit 4, 1 of 3: the answer of `ARCHIVES` cannot be read: response header is too big: 102429 > 65536
    h25 many headers: exit 4, 1 of 3: the answer of `ARCHIVES` cannot be read: protocol: http parse resulted in too many headers
    h25 no HTTP: exit 4, 1 of 3: the answer of `ARCHIVES` cannot be read: protocol: http parse fail: invalid HTTP version
    h26 not modified, and nothing is known: exit 4, 1 of 3: `http://ARCHIVES/acme/demo/legacy.zip/COMMIT` answered with status 304
    h28 a page: exit 5, 1 of 3: the archive of `acme/demo` is refused caused by: this is not a zip archive: it starts like an HTML page
    ");
}

/// A file at an address.
#[test]
fn a_download() {
    insta::assert_snapshot!(each(Way::Download("zip"), Endpoint::File), @"
    h13 limited, 0: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a date that is past: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a date far away: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h14 limited, no time: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a negative time: exit 4, 2 of 2: the rate limit of `API` is reached
    h15 limited for ever: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h15 limited beyond numbers: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h16 used up: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in 40 minutes, at TIME UTC
    h20 unavailable: exit 4, 2 of 2: `http://API/offered.zip` answered with status 503: From the forge
    h20 unavailable for ever: exit 4, 1 of 1: `http://API/offered.zip` answered with status 503
    h01 cut off: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, MORE were expected
    h01 cut off in chunks: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, more were expected
    h03 reset: exit 4, 2 of 2: cut off
    h03 closed at once: exit 4, 2 of 2: the connection to `API` broke off caused by: Peer disconnected
    h04 silent: exit 4, 2 of 2: `API` did not answer within 1 second
    h04 head byte by byte: exit 4, 2 of 2: `API` did not answer within 1 second
    h05 stalled: exit 4, 2 of 2: the answer of `API` stopped: 1 second without data after SOME bytes
    h06 byte by byte: exit 4, 2 of 2: the answer of `API` stopped: 1 second without data after SOME bytes
    h07 loop: exit 4, 11 of 11: `http://API/offered.zip` redirects too often
    h08 a local file: exit 4, 1 of 1: `http://API/offered.zip` redirects to `file:///etc/passwd`: it is not an address
    h08 no address: exit 4, 1 of 1: `http://API/offered.zip` redirects to `http://`: it is not an address
    h22 length too large: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, MORE were expected
    h22 length too small: exit 5, 1 of 1: `http://API/offered.zip` is refused caused by: the archive is cut off: its comment is incomplete
    h22 chunks without a length: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: chunk length cannot be read as a number
    h23 gzip bomb: exit 4, 1 of 1: `http://API/offered.zip` answered in the encoding `gzip`, which was not asked for
    h25 huge header: exit 4, 1 of 1: the answer of `API` cannot be read: response header is too big: 102429 > 65536
    h25 many headers: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: http parse resulted in too many headers
    h25 no HTTP: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: http parse fail: invalid HTTP version
    h26 not modified, and nothing is known: exit 4, 1 of 1: `http://API/offered.zip` answered with status 304
    h28 a page: exit 5, 1 of 1: `http://API/offered.zip` is refused caused by: this is not a zip, tar or tar.gz archive: it starts like an HTML page
    ");
}

/// The list of a site.
#[test]
fn the_index_of_a_site() {
    insta::assert_snapshot!(each(Way::Site, Endpoint::Index), @"
    h13 limited, 0: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a date that is past: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a date far away: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h14 limited, no time: exit 4, 2 of 2: the rate limit of `API` is reached
    h14 limited, a negative time: exit 4, 2 of 2: the rate limit of `API` is reached
    h15 limited for ever: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h15 limited beyond numbers: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in more than 10 years
    h16 used up: exit 4, 1 of 1: the rate limit of `API` is reached; it ends in 40 minutes, at TIME UTC
    h20 unavailable: exit 4, 2 of 2: `http://API/.well-known/agent-skills/index.json` answered with status 503: From the forge
    h20 unavailable for ever: exit 4, 1 of 1: `http://API/.well-known/agent-skills/index.json` answered with status 503
    h01 cut off: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, MORE were expected
    h01 cut off in chunks: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, more were expected
    h03 reset: exit 4, 2 of 2: cut off
    h03 closed at once: exit 4, 2 of 2: the connection to `API` broke off caused by: Peer disconnected
    h04 silent: exit 4, 2 of 2: `API` did not answer within 1 second
    h04 head byte by byte: exit 4, 2 of 2: `API` did not answer within 1 second
    h05 stalled: exit 4, 2 of 2: the answer of `API` stopped: 1 second without data after SOME bytes
    h06 byte by byte: exit 4, 2 of 2: the answer of `API` stopped: 1 second without data after SOME bytes
    h07 loop: exit 4, 11 of 11: `http://API/.well-known/agent-skills/index.json` redirects too often
    h08 a local file: exit 4, 1 of 1: `http://API/.well-known/agent-skills/index.json` redirects to `file:///etc/passwd`: it is not an address
    h08 no address: exit 4, 1 of 1: `http://API/.well-known/agent-skills/index.json` redirects to `http://`: it is not an address
    h22 length too large: exit 4, 2 of 2: the answer of `API` is cut off: SOME bytes came, MORE were expected
    h22 length too small: exit 4, 1 of 1: the index `http://API/.well-known/agent-skills/index.json` cannot be used: 1:236: it is not JSON: EOF while parsing a string
    h22 chunks without a length: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: chunk length cannot be read as a number
    h23 gzip bomb: exit 4, 1 of 1: `http://API/.well-known/agent-skills/index.json` answered in the encoding `gzip`, which was not asked for
    h24 endless: exit 5, 1 of 1: the answer of `API` has more than 16777216 bytes
    h25 huge header: exit 4, 1 of 1: the answer of `API` cannot be read: response header is too big: 102429 > 65536
    h25 many headers: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: http parse resulted in too many headers
    h25 no HTTP: exit 4, 1 of 1: the answer of `API` cannot be read: protocol: http parse fail: invalid HTTP version
    h26 not modified, and nothing is known: exit 4, 1 of 1: `http://API/.well-known/agent-skills/index.json` answered with status 304
    h28 a page: exit 4, 1 of 2: there is no index of skills at `http://API`:
    ");
}

/// A file that the list of a site names.
#[test]
fn an_artifact_of_a_site() {
    insta::assert_snapshot!(each(Way::Site, Endpoint::File), @"
    h13 limited, 0: exit 4, 2 of 3: the rate limit of `API` is reached
    h14 limited, a date that is past: exit 4, 2 of 3: the rate limit of `API` is reached
    h14 limited, a date far away: exit 4, 1 of 2: the rate limit of `API` is reached; it ends in more than 10 years
    h14 limited, no time: exit 4, 2 of 3: the rate limit of `API` is reached
    h14 limited, a negative time: exit 4, 2 of 3: the rate limit of `API` is reached
    h15 limited for ever: exit 4, 1 of 2: the rate limit of `API` is reached; it ends in more than 10 years
    h15 limited beyond numbers: exit 4, 1 of 2: the rate limit of `API` is reached; it ends in more than 10 years
    h16 used up: exit 4, 1 of 2: the rate limit of `API` is reached; it ends in 40 minutes, at TIME UTC
    h20 unavailable: exit 4, 2 of 3: `http://API/.well-known/agent-skills/demo.zip` answered with status 503: From the forge
    h20 unavailable for ever: exit 4, 1 of 2: `http://API/.well-known/agent-skills/demo.zip` answered with status 503
    h01 cut off: exit 4, 2 of 3: the answer of `API` is cut off: SOME bytes came, MORE were expected
    h01 cut off in chunks: exit 4, 2 of 3: the answer of `API` is cut off: SOME bytes came, more were expected
    h03 reset: exit 4, 2 of 3: cut off
    h03 closed at once: exit 4, 2 of 3: the connection to `API` broke off caused by: Peer disconnected
    h04 silent: exit 4, 2 of 3: `API` did not answer within 1 second
    h04 head byte by byte: exit 4, 2 of 3: `API` did not answer within 1 second
    h05 stalled: exit 4, 2 of 3: the answer of `API` stopped: 1 second without data after SOME bytes
    h06 byte by byte: exit 4, 2 of 3: the answer of `API` stopped: 1 second without data after SOME bytes
    h07 loop: exit 4, 11 of 12: `http://API/.well-known/agent-skills/demo.zip` redirects too often
    h08 a local file: exit 4, 1 of 2: `http://API/.well-known/agent-skills/demo.zip` redirects to `file:///etc/passwd`: it is not an address
    h08 no address: exit 4, 1 of 2: `http://API/.well-known/agent-skills/demo.zip` redirects to `http://`: it is not an address
    h22 length too large: exit 4, 2 of 3: the answer of `API` is cut off: SOME bytes came, MORE were expected
    h22 length too small: exit 5, 1 of 2: `http://API/.well-known/agent-skills/demo.zip` is not what the index of the site promises: DIGEST was expected, DIGEST was found
    h22 chunks without a length: exit 4, 1 of 2: the answer of `API` cannot be read: protocol: chunk length cannot be read as a number
    h23 gzip bomb: exit 4, 1 of 2: `http://API/.well-known/agent-skills/demo.zip` answered in the encoding `gzip`, which was not asked for
    h25 huge header: exit 4, 1 of 2: the answer of `API` cannot be read: response header is too big: 102429 > 65536
    h25 many headers: exit 4, 1 of 2: the answer of `API` cannot be read: protocol: http parse resulted in too many headers
    h25 no HTTP: exit 4, 1 of 2: the answer of `API` cannot be read: protocol: http parse fail: invalid HTTP version
    h26 not modified, and nothing is known: exit 4, 1 of 2: `http://API/.well-known/agent-skills/demo.zip` answered with status 304
    h28 a page: exit 5, 1 of 2: `http://API/.well-known/agent-skills/demo.zip` is not what the index of the site promises: DIGEST was expected, DIGEST was found
    ");
}

/// Faults that pass, and servers that are old: the newer version comes, after as many requests as it takes.
#[test]
fn what_passes_is_waited_for() {
    for (way, endpoint) in [
        (Way::Repository, Endpoint::Commit),
        (Way::Repository, Endpoint::Zipball),
        (Way::Repository, Endpoint::Archive),
        (Way::Download("zip"), Endpoint::File),
        (Way::Site, Endpoint::Index),
        (Way::Site, Endpoint::File),
    ] {
        for (what, fault, more) in [
            ("h13", Fault::too_many("0"), 1),
            ("h20", Fault::status(502), 1),
            ("h01", Fault::Truncated, usize::from(endpoint != Endpoint::Zipball)),
            ("h03", Fault::Closed, 1),
            ("HTTP/1.0", Fault::Http10, 0),
            ("chunks", Fault::Chunked, 0),
        ] {
            let plain = if way == Way::Repository {
                3
            } else if way == Way::Site {
                2
            } else {
                1
            };
            let scene = scene(way);
            // A redirect has no body that matters.
            if endpoint == Endpoint::Zipball
                && matches!(fault, Fault::Truncated | Fault::Http10 | Fault::Chunked)
            {
                continue;
            }
            // The address of an archive is a permission for one time: it is asked for anew.
            let more = if endpoint == Endpoint::Archive { more * 2 } else { more };
            scene.forge.fail(endpoint, fault);
            let output = scene.run(&["install", &scene.source()]);
            assert_eq!(output.code, Some(0), "{what} {way:?} {endpoint:?}: {output}");
            assert_eq!(std::fs::read_to_string(scene.skill().join("SKILL.md")).expect("there"), AFTER);
            assert_eq!(scene.forge.requests().len(), plain + more, "{what} {way:?} {endpoint:?}: {output}");
        }
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
        ("a page in place of the connection", page),
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
            scene.judge(what, super::Want::Fails(4, "error: "), &before, &output);
            assert!(!output.stderr.contains("s3cret"), "{what}: {output}");
            assert!(scene.forge.requests().is_empty(), "{what}");
            // The token is for the server, and so is what stands behind the head of `CONNECT`.
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
    error: the proxy `http://PROXY` made no connection to `API`: it answered with status 403
    hint: check `HTTPS_PROXY`, or list the host in `NO_PROXY` if it can be reached without a proxy
    # a page in place of the connection
    error: the answer of `API` cannot be read: protocol: http parse fail: invalid HTTP version
    hint: something between here and the server may have changed the answer: a proxy or a login page
    # a page of its own, with its length
    error: the answer of `API` cannot be read: protocol: http parse fail: invalid HTTP version
    hint: something between here and the server may have changed the answer: a proxy or a login page
    # no HTTP
    error: the answer of `API` cannot be read: protocol: http parse fail: invalid HTTP version
    hint: something between here and the server may have changed the answer: a proxy or a login page
    # closes
    error: the proxy `http://PROXY` made no connection to `API`: proxy server did not respond
    hint: check `HTTPS_PROXY`, or list the host in `NO_PROXY` if it can be reached without a proxy
    # half a head
    error: the proxy `http://PROXY` made no connection to `API`: proxy server did not respond
    hint: check `HTTPS_PROXY`, or list the host in `NO_PROXY` if it can be reached without a proxy
    # sends elsewhere
    error: the proxy `http://PROXY` made no connection to `API`: it answered with status 302
    hint: check `HTTPS_PROXY`, or list the host in `NO_PROXY` if it can be reached without a proxy
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
    http://127.0.0.1:9/a.zip: trying again in 1 second
    error: failed to connect to `127.0.0.1:9`
      caused by: Connection refused (os error 111)
    hint: check the connection; behind a proxy, set `HTTPS_PROXY`
    hint: skills in the store can be installed without a network: `--offline`
    http://0.0.0.0:9/a.zip: trying again in 1 second
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
        use std::io::Write as _;
        let (mut stream, _) = listener.accept().expect("a client");
        let head = crate::support::forge::read_head(&mut stream).expect("a request");
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len()).expect("sends");
        stream.write_all(&body).expect("sends");
        head
    });
    let output = scene.run(&["install", &format!("http://[::1]:{port}/a.zip"), "--force"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(server.join().expect("no panic").contains(&format!("\r\nhost: [::1]:{port}")));
}
