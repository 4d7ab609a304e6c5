//! What is sent to servers: once, to no other origin than its own, and again only where that does no harm.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use skillpm_sources::fs::SharedFile;
use skillpm_sources::http::{Client, Content, Credential, HttpError, Method, Submitted, Upload, Url};
use skillpm_sources::reporter::{Reporter, Requested, Silent};
use skillpm_testing::ClosedPort;

use crate::support::Sandbox;
use crate::support::forge::read_head;

/// A server that gives the answers that it was made with, one for each connection, and tells what it got.
struct Taker {
    address: SocketAddr,
    got: Receiver<(String, Vec<u8>)>,
}

impl Taker {
    fn start(answers: &'static [&'static str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (tell, got) = mpsc::channel();
        thread::spawn(move || {
            for (client, answer) in listener.incoming().flatten().zip(answers) {
                if take(client, answer, &tell).is_none() {
                    return;
                }
            }
        });
        Self { address, got }
    }

    fn upload(&self, method: Method, bytes: &[u8]) -> Upload {
        let url = Url::parse(&format!("http://{}/v1/pdf", self.address)).expect("an address");
        Upload::new(method, url, "application/zip", Content::Bytes(bytes.into()))
    }

    fn requests(&self) -> Vec<(String, Vec<u8>)> {
        self.got.try_iter().collect()
    }
}

/// Takes one request, tells of it and answers it.
fn take(mut client: TcpStream, answer: &str, tell: &Sender<(String, Vec<u8>)>) -> Option<()> {
    let head = read_head(&mut client)?.to_ascii_lowercase();
    client.read_exact(&mut [0]).ok()?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?.trim();
    let mut body = vec![0; length.parse().ok()?];
    client.read_exact(&mut body).ok()?;
    tell.send((head, body)).ok()?;
    client.write_all(answer.as_bytes()).ok()
}

fn client() -> Client {
    let mut settings = Sandbox::new().settings();
    settings.http.timeout = Duration::from_secs(2);
    settings.http.retries = 2;
    Client::new(&settings, Arc::new(Silent))
}

const CREATED: &str =
    "HTTP/1.1 201 Created\r\nlocation: /v1/pdf/1.0.0\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
const BUSY: &str = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

#[test]
fn content_arrives_with_what_belongs_to_it() {
    let taker = Taker::start(&[CREATED, CREATED]);
    let mut upload = Upload { is_new: true, ..taker.upload(Method::Post, b"zip") };
    upload.credential = Some(Credential::bearer(upload.url.origin(), "t0ken"));
    let said = client().submit(&upload).expect("an answer");
    let location = Some("/v1/pdf/1.0.0".to_owned());
    assert_eq!(said, Submitted { status: 201, location, challenge: None, body: b"{}".to_vec() });
    let sandbox = Sandbox::new();
    let bytes: Vec<u8> = (0..500_000_u32).map(|i| (i % 251) as u8).collect();
    let path = sandbox.project().join("pdf.zip");
    std::fs::write(&path, &bytes).expect("writes");
    let content = Content::File(Arc::new(SharedFile::open(&path).expect("a file")));
    client().submit(&Upload { content, ..taker.upload(Method::Put, b"") }).expect("an answer");
    let requests = taker.requests();
    let (post, put) = (&requests[0], &requests[1]);
    assert!(post.0.starts_with("post /v1/pdf http/1.1\r\n") && post.1 == b"zip", "{post:?}");
    for line in ["content-type: application/zip", "authorization: bearer t0ken", "if-none-match: *"] {
        assert!(post.0.lines().any(|other| other == line), "{line}: {}", post.0);
    }
    assert!(put.0.starts_with("put ") && put.1 == bytes, "{}", put.0);
    assert!(!put.0.contains("authorization") && !put.0.contains("if-none-match"), "{}", put.0);
}

#[test]
fn a_token_is_for_its_own_origin() {
    let taker = Taker::start(&[CREATED]);
    let mut upload = taker.upload(Method::Put, b"zip");
    let other = Url::parse("https://127.0.0.1/").expect("an address").origin();
    upload.credential = Some(Credential::bearer(other, "t0ken"));
    client().submit(&upload).expect("an answer");
    assert!(!taker.requests()[0].0.contains("t0ken"));
}

#[test]
fn only_what_does_no_harm_is_sent_again() {
    let taker = Taker::start(&[BUSY, CREATED]);
    assert!(client().submit(&taker.upload(Method::Put, b"zip")).expect("the second time").is_success());
    assert_eq!(taker.requests().len(), 2);
    // The server may have taken it in.
    for answer in [&[BUSY, CREATED][..], &["", CREATED], &["garbage\r\n\r\n", CREATED]] {
        let taker = Taker::start(answer);
        client().submit(&taker.upload(Method::Post, b"zip")).expect_err("not taken");
        assert_eq!(taker.requests().len(), 1);
    }
    // Nobody has got it.
    let closed = ClosedPort::new();
    let retries = Arc::new(Retries::default());
    let mut settings = Sandbox::new().settings();
    settings.http.retries = 1;
    let client = Client::new(&settings, Arc::clone(&retries) as Arc<dyn Reporter>);
    let (_, got) = mpsc::channel();
    let error = client.submit(&Taker { address: closed.address(), got }.upload(Method::Post, b"zip"));
    assert!(matches!(error, Err(HttpError::Connect(..))), "{error:?}");
    assert_eq!(*retries.0.lock().expect("no panic"), ["POST no answer", "retry", "POST no answer"]);
}

/// Remembers what is sent again.
#[derive(Default)]
struct Retries(Mutex<Vec<String>>);

impl Reporter for Retries {
    fn requested(&self, request: &Requested<'_>) {
        self.0.lock().expect("no panic").push(format!("{} {}", request.method, request.outcome));
    }

    fn retrying(&self, _: &str, _: u64, _: u32, _: u32) {
        self.0.lock().expect("no panic").push("retry".to_owned());
    }
}

#[test]
fn refusals_are_answers_and_redirects_are_errors() {
    let taker = Taker::start(&[
        "HTTP/1.1 409 Conflict\r\ncontent-length: 5\r\n\r\nthere",
        "HTTP/1.1 307 Moved\r\nlocation: http://other.example/x?t=s3cret\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n",
    ]);
    let submit = || client().submit(&taker.upload(Method::Put, b"zip"));
    let said = submit().expect("an answer");
    assert_eq!((said.status, &said.body[..]), (409, &b"there"[..]));
    let error = submit().expect_err("leads elsewhere");
    assert!(matches!(error, HttpError::Redirect { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("http://other.example/x") && !text.contains("s3cret"), "{text}");
    assert!(matches!(submit(), Err(HttpError::TooLarge { .. })));
    let mut settings = Sandbox::new().settings();
    settings.offline = true;
    let offline = Client::new(&settings, Arc::new(Silent)).submit(&taker.upload(Method::Put, b"zip"));
    assert!(matches!(offline, Err(HttpError::Offline(_))), "{offline:?}");
}

/// A server that takes more slowly than the timeout, but takes, is waited for; one that stops is not.
#[test]
fn silence_ends_an_upload_but_not_slowness() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let mut held = Vec::new();
        for (number, mut client) in listener.incoming().flatten().enumerate() {
            let head = read_head(&mut client).expect("a head").to_ascii_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
            let mut left: usize = length.trim().parse::<usize>().expect("a number") + 1;
            // Large beside the 36 MiB that a kernel may hold for a server: while it does, the client sees no progress.
            let mut piece = vec![0; 16 << 20];
            while number == 0 && left > 0 {
                let most = left.min(piece.len());
                client.read_exact(&mut piece[..most]).expect("content");
                left -= most;
                thread::sleep(Duration::from_millis(300));
            }
            if number == 0 {
                client.write_all(CREATED.as_bytes()).expect("an answer");
            }
            held.push(client);
        }
    });
    let mut settings = Sandbox::new().settings();
    settings.http.timeout = Duration::from_secs(2);
    settings.http.retries = 0;
    let client = Client::new(&settings, Arc::new(Silent));
    let (_, got) = mpsc::channel();
    let upload = Taker { address, got }.upload(Method::Put, &vec![7; 128 << 20]);
    let began = Instant::now();
    assert_eq!(client.submit(&upload).expect("slow").status, 201);
    assert!(began.elapsed() > settings.http.timeout);
    let error = client.submit(&upload).expect_err("silence");
    assert!(matches!(error, HttpError::Timeout { connected: true, .. }), "{error:?}");
}
