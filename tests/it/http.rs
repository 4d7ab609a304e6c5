//! The HTTP client against a server that behaves in every way but the right one.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use skillpm_format::advice::CommandLine;
use skillpm_sources::error::{Error, ErrorKind};
use skillpm_sources::http::{Answer, Client, Credential, HttpError, Request, Url};
use skillpm_sources::reporter::Reporter;
use skillpm_sources::settings::Settings;
use skillpm_testing::ClosedPort;

use crate::support::failed;
use crate::support::forge::Recorded;
use crate::support::proxy::Proxy;
use crate::support::socks::Socks;
use crate::support::{Endpoint, Fault, Forge, Nginx, Sandbox, Tree};

const LIMIT: u64 = 1 << 20;

/// Remembers what it hears.
#[derive(Debug, Default)]
struct Listener(Mutex<Vec<String>>);

impl Listener {
    fn heard(&self) -> Vec<String> {
        self.0.lock().expect("no panic").clone()
    }

    fn hear(&self, text: String) {
        self.0.lock().expect("no panic").push(text);
    }
}

impl Reporter for Listener {
    fn download_started(&self, what: &str, total: Option<u64>) {
        self.hear(format!("start {what} {total:?}"));
    }

    fn download_progressed(&self, bytes: u64) {
        self.hear(format!("more {bytes}"));
    }

    fn download_finished(&self) {
        self.hear("end".to_owned());
    }

    fn retrying(&self, why: &str, seconds: u64, tried: u32, most: u32) {
        self.hear(format!("retry {tried} of {most} in {seconds}: {why}"));
    }
}

/// A forge with one repository, and a client that gives up soon.
struct Scene {
    forge: Forge,
    settings: Settings,
    listener: Arc<Listener>,
    commit: String,
}

impl Scene {
    fn new() -> Self {
        let forge = Forge::start();
        let commit = forge.repo("acme/skills").commit(&tree());
        let mut settings = Sandbox::new().settings();
        settings.http.timeout = Duration::from_secs(1);
        settings.http.retries = 2;
        Self { forge, settings, listener: Arc::default(), commit }
    }

    fn client(&self) -> Client {
        Client::new(&self.settings, Arc::clone(&self.listener) as Arc<dyn Reporter>)
    }

    fn text_request(&self) -> Request {
        let url = format!("{}/repos/acme/skills/commits/HEAD", self.forge.api_url());
        Request::new(Url::parse(&url).expect("an address"))
    }

    fn zip_request(&self) -> Request {
        let url = format!("{}/repos/acme/skills/zipball/{}", self.forge.api_url(), self.commit);
        Request::new(Url::parse(&url).expect("an address"))
    }

    fn text(&self) -> Result<Answer, HttpError> {
        self.client().get_text(&self.text_request(), LIMIT)
    }

    fn download(&self, limit: u64) -> Result<Vec<u8>, HttpError> {
        let mut bytes = Vec::new();
        let length = self.client().download(&self.zip_request(), "acme/skills", limit, &mut bytes)?;
        assert_eq!(length, bytes.len() as u64);
        Ok(bytes)
    }

    fn archive_requests(&self) -> usize {
        self.forge.requests().iter().filter(|r| r.host == self.forge.archive_host()).count()
    }

    fn archive(&self) -> Vec<u8> {
        tree().archive("acme/skills", &self.commit)
    }
}

/// A skill, and bytes that do not compress, so that there is a middle to be cut off at.
fn tree() -> Tree {
    let noise: Vec<u8> = (0..20_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    Tree::new().skill("", "pdf").file("noise", noise)
}

/// An error as the program prints it, with the addresses of this run taken out.
fn told(error: HttpError, forge: &Forge) -> String {
    let error = Error::from(error);
    let mut lines = vec![format!("error ({:?}): {}", error.kind(), error.message().worded(&CommandLine))];
    lines.extend(error.hints().iter().map(|hint| format!("hint: {}", hint.worded(&CommandLine))));
    let text = lines.join("\n");
    text.replace(&forge.api_host(), "[API]").replace(&forge.archive_host(), "[ARCHIVES]")
}

fn header<'a>(requests: &'a [Recorded], name: &str) -> Vec<Option<&'a str>> {
    requests.iter().map(|request| request.header(name)).collect()
}

#[test]
fn h00_a_download_follows_to_the_second_host_and_reports() {
    let scene = Scene::new();
    let bytes = scene.download(LIMIT).expect("a download");
    assert_eq!(bytes, scene.archive());
    let requests = scene.forge.requests();
    assert_eq!(requests.len(), 2);
    let agent = format!("skillpm/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(header(&requests, "user-agent"), [Some(agent.as_str()); 2]);
    assert_eq!(header(&requests, "accept-encoding"), [Some("identity"); 2]);
    let heard = scene.listener.heard();
    assert_eq!(heard[0], format!("start acme/skills Some({})", bytes.len()));
    assert_eq!(heard.last().map(String::as_str), Some("end"));
    let sum: usize = heard.iter().filter_map(|line| line.strip_prefix("more ")?.parse::<usize>().ok()).sum();
    assert_eq!(sum, bytes.len());
}

#[test]
fn h00_chunks_without_a_length_are_fine() {
    let scene = Scene::new();
    scene.forge.fail(Endpoint::Archive, Fault::Chunked);
    assert_eq!(scene.download(LIMIT).expect("a download"), scene.archive());
    assert_eq!(scene.listener.heard()[0], "start acme/skills None");
}

#[test]
fn h01_a_truncated_body_is_fetched_anew() {
    for fault in [Fault::Truncated, Fault::TruncatedChunks, Fault::WrongLength(10)] {
        let scene = Scene::new();
        scene.forge.fail(Endpoint::Archive, fault);
        assert_eq!(scene.download(LIMIT).expect("the second time"), scene.archive());
        assert_eq!(scene.archive_requests(), 2);
        let retries = scene.listener.heard().iter().filter(|line| line.starts_with("retry ")).count();
        assert_eq!(retries, 1);
    }
}

#[test]
fn h02_a_body_that_is_always_truncated_is_an_error() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 1;
    scene.forge.fail_always(Endpoint::Archive, Fault::Truncated);
    let error = scene.download(LIMIT).expect_err("is cut off");
    assert!(matches!(error, HttpError::Truncated { .. }), "{error:?}");
    assert_eq!(scene.archive_requests(), 2);
    assert_eq!(Error::from(error).kind(), ErrorKind::Network);
}

#[test]
fn h03_a_reset_is_tried_again() {
    let mut scene = Scene::new();
    scene.forge.fail(Endpoint::Archive, Fault::Reset);
    assert_eq!(scene.download(LIMIT).expect("the second time"), scene.archive());
    scene.settings.http.retries = 1;
    scene.forge.clear_requests();
    scene.forge.fail_always(Endpoint::Archive, Fault::Reset);
    let error = scene.download(LIMIT).expect_err("resets");
    assert!(matches!(error, HttpError::Truncated { .. } | HttpError::Broken(..)), "{error:?}");
    assert_eq!(scene.archive_requests(), 2);
}

#[test]
fn h04_a_silent_server_ends_by_the_timeout() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 0;
    scene.forge.fail_always(Endpoint::Any, Fault::Silent);
    let start = Instant::now();
    let error = scene.text().expect_err("silence");
    assert!(start.elapsed() < Duration::from_secs(5));
    failed(&Error::from(error), 4, "request-timeout", &["--offline"]);
}

#[test]
fn h05_a_stalled_body_ends_by_the_timeout_and_is_tried_once_more() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 3;
    scene.forge.fail_always(Endpoint::Archive, Fault::Stalled);
    let start = Instant::now();
    let error = scene.download(LIMIT).expect_err("stalls");
    assert!(start.elapsed() < Duration::from_secs(8));
    assert_eq!(scene.archive_requests(), 2);
    failed(&Error::from(error), 4, "request-timeout", &["1024 bytes"]);
}

#[test]
fn h07_a_redirect_loop_ends_after_ten_hops() {
    let scene = Scene::new();
    scene.forge.fail_always(Endpoint::Any, Fault::Loop);
    let error = scene.text().expect_err("loops");
    assert_eq!(scene.forge.requests().len(), 11);
    failed(&Error::from(error), 4, "redirect-refused", &["/repos/acme/skills/commits/HEAD"]);
}

#[test]
fn h08_redirects_to_other_schemes_are_refused() {
    for location in ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x", "http://u:s3cret@127.0.0.1/"] {
        let scene = Scene::new();
        scene.forge.fail(Endpoint::Any, Fault::Redirect(location.to_owned()));
        let error = told(scene.text().expect_err(location), &scene.forge);
        assert!(error.contains("redirects to") && !error.contains("s3cret"), "{error}");
        assert_eq!(scene.forge.requests().len(), 1);
    }
}

#[test]
fn h09_the_token_stays_on_its_own_origin() {
    let scene = Scene::new();
    scene.forge.accept_token("s3cret");
    let mut request = scene.zip_request();
    request.credential = Some(Credential { origin: request.url.origin(), value: "Bearer s3cret".into() });
    scene.client().download(&request, "x", LIMIT, &mut Vec::new()).expect("a download");
    let requests = scene.forge.requests();
    assert_eq!(header(&requests, "authorization"), [Some("Bearer s3cret"), None]);
    assert_eq!(requests[1].host, scene.forge.archive_host());
    assert!(!format!("{request:?}").contains("s3cret"));
}

#[test]
fn h10_the_token_returns_to_its_origin_but_takes_no_detour() {
    let scene = Scene::new();
    scene.forge.accept_token("s3cret");
    // Away to the second host, which leads back to the first.
    let back = format!("{}/repos/acme/skills/commits/HEAD", scene.forge.api_url());
    scene.forge.fail(Endpoint::Archive, Fault::Redirect(back));
    let mut request = scene.zip_request();
    request.credential = Some(Credential { origin: request.url.origin(), value: "Bearer s3cret".into() });
    scene.client().get_text(&request, LIMIT).expect("a text");
    let sent = scene.forge.requests();
    assert_eq!(header(&sent, "authorization"), [Some("Bearer s3cret"), None, Some("Bearer s3cret")]);
}

#[test]
fn h13_a_limit_that_ends_soon_is_waited_for() {
    let scene = Scene::new();
    scene.forge.fail(Endpoint::Commit, Fault::too_many("1"));
    let start = Instant::now();
    scene.text().expect("the second time");
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(scene.forge.requests().len(), 2);
    assert!(scene.listener.heard()[0].contains(" in 1: "));
}

#[test]
fn h15_a_limit_of_thirty_years_is_an_error_at_once() {
    let scene = Scene::new();
    scene.forge.fail_always(Endpoint::Commit, Fault::too_many("999999999"));
    let error = scene.text().expect_err("a limit");
    assert_eq!(scene.forge.requests().len(), 1);
    failed(&Error::from(error), 4, "rate-limit", &[]);
}

#[test]
fn h16_h50_a_used_up_allowance_says_when_it_is_renewed() {
    let scene = Scene::new();
    scene.forge.fail_always(Endpoint::Commit, Fault::rate_limit(2400));
    let error = scene.text().expect_err("a limit");
    assert_eq!(scene.forge.requests().len(), 1);
    let text = Error::from(error).message().worded(&CommandLine);
    let (before, after) = text.split_once(", at ").expect("a time");
    assert!(before.ends_with(" in 40 minutes") && after.as_bytes()[2] == b':', "{text}");
}

#[test]
fn h20_server_errors_are_tried_again() {
    for status in [500, 502, 503, 504] {
        let scene = Scene::new();
        scene.forge.fail(Endpoint::Commit, Fault::status(status));
        scene.text().expect("the second time");
        assert_eq!(scene.forge.requests().len(), 2);
    }
}

#[test]
fn h21_server_errors_without_end_are_an_error() {
    let scene = Scene::new();
    scene.forge.fail_always(Endpoint::Commit, Fault::status(502));
    let error = scene.text().expect_err("fails");
    assert_eq!(scene.forge.requests().len(), 3);
    failed(&Error::from(error), 4, "http-status", &["/repos/acme/skills/commits/HEAD", "status 502"]);
}

#[test]
fn h21_refusals_are_not_tried_again() {
    for status in [400, 401, 403, 404, 410, 422, 501] {
        let scene = Scene::new();
        scene.forge.fail_always(Endpoint::Commit, Fault::status(status));
        let error = scene.text().expect_err("fails");
        assert!(matches!(error, HttpError::Status { status: s, .. } if s == status), "{error:?}");
        assert_eq!(scene.forge.requests().len(), 1);
    }
}

#[test]
fn h22_bytes_beyond_the_length_are_not_taken() {
    let scene = Scene::new();
    scene.forge.fail_always(Endpoint::Archive, Fault::WrongLength(-100));
    // What came is as long as announced; the reader of archives finds that its end is missing.
    let archive = scene.archive();
    assert_eq!(scene.download(LIMIT).expect("a download"), archive[..archive.len() - 100]);
}

#[test]
fn h23_compression_that_was_not_asked_for_is_refused() {
    let scene = Scene::new();
    scene.forge.fail_always(Endpoint::Archive, Fault::Gzip(45 << 20));
    let error = scene.download(LIMIT).expect_err("gzip");
    assert_eq!(scene.archive_requests(), 1);
    let text = told(error, &scene.forge);
    assert!(text.contains("answered in the encoding `gzip`, which was not requested"), "{text}");
    assert!(!text.contains("token="), "{text}");
}

#[test]
fn h24_an_endless_body_stops_at_the_limit() {
    let scene = Scene::new();
    scene.forge.fail_always(Endpoint::Archive, Fault::Endless);
    let error = scene.download(100_000).expect_err("too large");
    assert_eq!(scene.archive_requests(), 1);
    failed(&Error::from(error), 5, "too-large", &["100000 bytes"]);
}

#[test]
fn h24_an_announced_length_beyond_the_limit_is_refused_unread() {
    let scene = Scene::new();
    assert!(matches!(scene.download(1000), Err(HttpError::TooLarge { limit: 1000, .. })));
    assert!(scene.download(scene.archive().len() as u64).is_ok());
}

#[test]
fn h25_huge_headers_and_garbage_are_no_answers() {
    for fault in [Fault::HugeHeader, Fault::Garbage] {
        let scene = Scene::new();
        scene.forge.fail_always(Endpoint::Any, fault);
        let error = scene.text().expect_err("no HTTP");
        assert!(matches!(error, HttpError::Malformed { .. }), "{error:?}");
        assert_eq!(scene.forge.requests().len(), 1);
    }
}

#[test]
fn h26_a_known_answer_is_not_sent_again() {
    let scene = Scene::new();
    let Answer::Text { text, etag, .. } = scene.text().expect("a text") else {
        panic!("nothing is known yet");
    };
    assert_eq!(text, scene.commit);
    let request = Request { if_none_match: etag, ..scene.text_request() };
    assert_eq!(scene.client().get_text(&request, LIMIT).expect("no text"), Answer::NotModified);
}

#[test]
fn h40_a_host_without_tls_is_named() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 0;
    let url = scene.forge.api_url().replace("http:", "https:");
    let error = scene.client().get_text(&Request::new(Url::parse(&url).expect("an address")), LIMIT);
    failed(&Error::from(error.expect_err("no TLS")), 4, "tls", &[]);
}

#[test]
fn h41_certificates_that_are_named_must_be_there() {
    let sandbox = Sandbox::new();
    let empty = sandbox.write("empty.pem", "no certificate in here");
    for path in [empty, sandbox.project().join("missing.pem")] {
        let mut scene = Scene::new();
        scene.settings.http.certificates.0 = Some(path.clone());
        let request = Request::new(Url::parse("https://127.0.0.1:9/").expect("an address"));
        let error = Error::from(scene.client().get_text(&request, LIMIT).expect_err("no certificates"));
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        assert!(error.hints()[0].to_string().contains("SSL_CERT_FILE"));
    }
}

#[test]
fn h42_a_proxy_carries_the_request() {
    let (mut scene, proxy) = (Scene::new(), Proxy::start());
    scene.settings.http.http_proxy = Some(proxy.url());
    scene.text().expect("a text");
    let heads = proxy.heads();
    assert_eq!(heads.len(), 1);
    assert!(heads[0].starts_with(&format!("GET http://{}/repos/", scene.forge.api_host())), "{}", heads[0]);
    assert!(
        heads[0].to_ascii_lowercase().contains("proxy-authorization: basic dxnlcjpzm2nyzxq="),
        "{}",
        heads[0]
    );
}

/// With TLS the proxy sees the host and no more, and the host nothing of the proxy's password.
#[test]
fn h42_a_proxy_makes_a_tunnel_for_tls() {
    let Some(nginx) = Nginx::start_secure() else { return };
    let (mut settings, proxy) = (Sandbox::new().settings(), Proxy::start());
    nginx.put("a.txt", "a");
    settings.http.certificates.0 = Some(nginx.certificate());
    settings.http.https_proxy = Some(proxy.url());
    let url = Url::parse(&nginx.secure_url("/a.txt")).expect("an address");
    let mut request = Request::new(url.clone());
    request.credential = Some(Credential { origin: url.origin(), value: "Bearer t0ken".into() });
    let client = Client::new(&settings, Arc::new(Listener::default()));
    client.get_text(&request, LIMIT).expect("a text");
    assert!(nginx.log_of(1)[0].starts_with("200 /a.txt HTTP/2.0 "));
    let heads = proxy.heads();
    assert!(
        heads.len() == 1 && heads[0].starts_with(&format!("CONNECT {} HTTP/1.1", url.origin())),
        "{heads:?}"
    );
    assert!(
        heads[0].to_ascii_lowercase().contains("proxy-authorization: basic dxnlcjpzm2nyzxq="),
        "{heads:?}"
    );
    assert!(!heads[0].contains("t0ken") && !heads[0].contains("a.txt"), "{heads:?}");
}

#[test]
fn h42_a_socks_proxy_carries_the_request() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 0;
    let socks = Socks::start(Some(&scene.forge.api_host()));
    // Names are looked up by the proxy, or here.
    let path = "repos/acme/skills/commits/HEAD";
    for (scheme, host, asked) in
        [("socks5h", "skills.example:81", "skills.example:81"), ("socks5", "127.0.0.1:82", "127.0.0.1:82")]
    {
        scene.settings.http.http_proxy = Some(socks.url(scheme, "s3cret"));
        let request = Request::new(Url::parse(&format!("http://{host}/{path}")).expect("an address"));
        scene.client().get_text(&request, LIMIT).expect("a text");
        assert_eq!(socks.asked().last().map(String::as_str), Some(asked));
    }
    let local = Request::new(Url::parse(&format!("http://localhost:83/{path}")).expect("an address"));
    scene.client().get_text(&local, LIMIT).expect("a text");
    assert!(!socks.asked().last().is_some_and(|asked| asked.contains("localhost")), "{:?}", socks.asked());
}

#[test]
fn h43_a_socks_proxy_that_refuses_is_named() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 0;
    let socks = Socks::start(None);
    for (password, reason) in [("s3cret", "connection not allowed"), ("other", "does not accept the login")] {
        scene.settings.http.http_proxy = Some(socks.url("socks5h", password));
        let error = scene.text().expect_err("refused");
        assert!(matches!(error, HttpError::Proxy { .. }), "{error:?}");
        let text = told(error, &scene.forge);
        assert!(text.contains(reason) && !text.contains(password), "{text}");
    }
    // One that is not there.
    let closed = ClosedPort::new();
    scene.settings.http.http_proxy = Some(format!("socks5://{}", closed.address()));
    let error = scene.text().expect_err("no proxy");
    assert!(matches!(&error, HttpError::Connect(host, _) if host.contains("(proxy)")), "{error:?}");
}

#[test]
fn h42_no_proxy_goes_past_the_proxy() {
    let (mut scene, proxy) = (Scene::new(), Proxy::start());
    scene.settings.http.http_proxy = Some(proxy.url());
    scene.settings.http.no_proxy = vec!["127.0.0.1".into()];
    scene.text().expect("a text");
    assert_eq!(proxy.heads(), Vec::<String>::new());
    // The second host is not excepted, unless it shares the address.
    let through = usize::from(scene.forge.archive_host().starts_with("127.0.0.2"));
    scene.download(LIMIT).expect("a download");
    assert_eq!(proxy.heads().len(), through);
}

#[test]
fn h43_a_proxy_that_wants_a_login_says_so() {
    let (mut scene, proxy) = (Scene::new(), Proxy::refusing("407 Proxy Authentication Required"));
    scene.settings.http.http_proxy = Some(proxy.url());
    let error = scene.text().expect_err("no login");
    assert_eq!(proxy.heads().len(), 1);
    let text = told(error, &scene.forge);
    assert!(text.contains("407") && text.contains("hint: put name and password"), "{text}");
    assert!(!text.contains("s3cret"), "{text}");
}

/// For each way to refuse a tunnel there is an error that names the proxy, and no token is told.
#[test]
fn h43_a_proxy_that_makes_no_tunnel_is_named() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 0;
    let url = Url::parse("https://skills.example/a.zip").expect("an address");
    let mut request = Request::new(url.clone());
    request.credential = Some(Credential { origin: url.origin(), value: "Bearer t0ken".into() });
    for (answer, is_tunnel) in [
        ("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n", false),
        ("HTTP/1.1 403 Forbidden\r\ncontent-length: 5\r\n\r\nno...", false),
        ("HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\r\n", false),
        ("220 mail.example.com ESMTP\r\n", false),
        ("", false),
        ("HTTP/1.1 200 O", false),
        ("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>Log in</html>", true),
    ] {
        let proxy = Proxy::saying(answer);
        scene.settings.http.https_proxy = Some(proxy.url());
        let error = scene.client().get_text(&request, LIMIT).expect_err(answer);
        match &error {
            HttpError::Proxy { .. } => assert!(!is_tunnel, "{answer}"),
            HttpError::Tls { .. } | HttpError::Broken(..) => assert!(is_tunnel, "{answer}: {error:?}"),
            other => panic!("{answer}: {other:?}"),
        }
        assert!(proxy.heads().iter().all(|head| !head.contains("t0ken")), "{:?}", proxy.heads());
    }
}

/// A proxy reads what it passes on.
#[test]
fn h43_no_token_goes_through_a_proxy_that_could_read_it() {
    let (mut scene, proxy) = (Scene::new(), Proxy::start());
    scene.settings.http.http_proxy = Some(proxy.url());
    let mut request = scene.text_request();
    request.credential = Some(Credential { origin: request.url.origin(), value: "Bearer t0ken".into() });
    scene.client().get_text(&request, LIMIT).expect("a text");
    assert!(proxy.heads().len() == 1 && !proxy.heads()[0].contains("t0ken"), "{:?}", proxy.heads());
}

#[test]
fn h44_offline_makes_no_request() {
    let mut scene = Scene::new();
    scene.settings.offline = true;
    let error = scene.text().expect_err("offline");
    assert_eq!(scene.forge.requests(), []);
    assert_eq!(scene.listener.heard(), Vec::<String>::new());
    failed(&Error::from(error), 4, "offline", &["/repos/acme/skills/commits/HEAD", "--offline"]);
}

#[test]
fn h45_a_closed_port_is_tried_again_and_named() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 1;
    let closed = ClosedPort::new();
    let request = Request::new(Url::parse(&format!("http://{}/", closed.address())).expect("an address"));
    let error = scene.client().get_text(&request, LIMIT).expect_err("refused");
    assert!(matches!(error, HttpError::Connect(..)), "{error:?}");
    assert!(error.to_string().contains(&closed.address().to_string()));
    assert_eq!(scene.listener.heard().len(), 1);
}

#[test]
fn h45_a_host_without_address_is_named() {
    let mut scene = Scene::new();
    scene.settings.http.retries = 0;
    let request = Request::new(Url::parse("http://host.invalid/").expect("an address"));
    let error = scene.client().get_text(&request, LIMIT).expect_err("no such host");
    // A machine without network may need longer than the timeout to find that out.
    assert!(matches!(error, HttpError::Dns(_) | HttpError::Timeout { .. }), "{error:?}");
    assert!(error.to_string().contains("host.invalid"));
}
