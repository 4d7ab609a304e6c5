//! The HTTP client against a real server that speaks TLS and HTTP/2.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier};
use std::thread;

use skillpm_sources::http::{Answer, Client, Content, HttpError, Method, Request, Upload, Url};
use skillpm_sources::reporter::Silent;

use crate::support::{Nginx, Sandbox};

const LIMIT: u64 = 1 << 20;

fn client(nginx: &Nginx) -> Client {
    let mut settings = Sandbox::new().settings();
    settings.http.certificates.0 = Some(nginx.certificate());
    settings.http.retries = 0;
    Client::new(&settings, Arc::new(Silent))
}

fn url(nginx: &Nginx, path: &str) -> Url {
    Url::parse(&nginx.secure_url(path)).expect("an address")
}

fn text(client: &Client, url: Url) -> String {
    match client.get_text(&Request::new(url), LIMIT) {
        Ok(Answer::Text { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

/// Requests at once are streams of one connection, also those of several clients.
#[test]
fn requests_share_a_connection() {
    let Some(nginx) = Nginx::start_secure() else { return };
    let threads = 24;
    for number in 0..threads {
        nginx.put(&format!("{number}.txt"), number.to_string());
    }
    let first = client(&nginx);
    assert_eq!(text(&first, url(&nginx, "/0.txt")), "0");
    let (second, together) = (client(&nginx), Barrier::new(threads));
    thread::scope(|scope| {
        for number in 0..threads {
            let client = if number % 2 == 0 { &first } else { &second };
            let (nginx, together) = (&nginx, &together);
            scope.spawn(move || {
                together.wait();
                assert_eq!(text(client, url(nginx, &format!("/{number}.txt"))), number.to_string());
            });
        }
    });
    let log = nginx.log_of(threads + 1);
    let connections: BTreeSet<_> =
        log.iter().map(|line| line.split_once(" HTTP/2.0 ").unwrap_or_else(|| panic!("{line}")).1).collect();
    assert_eq!(connections.len(), 1, "{log:?}");
}

/// Without a connection to begin with, the first requests at once make some, and then share one.
#[test]
fn the_first_requests_at_once_are_answered() {
    let Some(nginx) = Nginx::start_secure() else { return };
    nginx.put("a.txt", "a");
    let (client, together) = (client(&nginx), Barrier::new(8));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                together.wait();
                assert_eq!(text(&client, url(&nginx, "/a.txt")), "a");
            });
        }
    });
    let log = nginx.log_of(8);
    assert!(log.iter().all(|line| line.starts_with("200 /a.txt HTTP/2.0 ")), "{log:?}");
}

/// A certificate that is not trusted, and one for another host.
#[test]
fn certificates_are_checked() {
    let Some(nginx) = Nginx::start_secure() else { return };
    let mut settings = Sandbox::new().settings();
    settings.http.retries = 0;
    let stranger = Client::new(&settings, Arc::new(Silent));
    let error = stranger.get_text(&Request::new(url(&nginx, "/")), LIMIT).expect_err("not trusted");
    assert!(matches!(&error, HttpError::Tls { reason, .. } if reason.contains("not trusted")), "{error:?}");
    let other = nginx.secure_url("/").replace("localhost", "127.0.0.1");
    let other = Request::new(Url::parse(&other).expect("an address"));
    let error = client(&nginx).get_text(&other, LIMIT).expect_err("another host");
    assert!(matches!(&error, HttpError::Tls { reason, .. } if reason.contains("another host")), "{error:?}");
}

#[test]
fn files_are_sent_and_taken() {
    let Some(nginx) = Nginx::start_secure() else { return };
    let client = client(&nginx);
    let bytes: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
    let content = Content::Bytes(bytes.clone().into());
    let put = |path: &str| Upload::new(Method::Put, url(&nginx, path), "application/zip", content.clone());
    let said = client.submit(&put("/up/a.zip")).expect("an answer");
    assert!(said.is_success() && said.status == 201, "{said:?}");
    assert_eq!(nginx.read("up/a.zip"), bytes);
    // What it does not take it says.
    let large = Content::Bytes(vec![0; 2 << 20].into());
    let refused = Upload { content: large, ..put("/up/b.zip") };
    let said = client.submit(&refused).expect("an answer");
    assert!(!said.is_success() && said.status == 413, "{said:?}");
    let error = client.submit(&put("/moved/a.zip")).expect_err("leads elsewhere");
    let HttpError::Redirect { to, .. } = error else { panic!("{error:?}") };
    assert!(to.ends_with("/up/elsewhere"), "{to}");
}
