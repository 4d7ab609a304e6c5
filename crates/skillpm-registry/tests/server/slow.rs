//! Clients that take their answers slowly, or not at all.

use std::time::{Duration, Instant};

use skillpm_testing::archive::{stored, zip};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::support::Server;

/// More than the buffers of a connection hold.
const LARGE: usize = 12 << 20;
/// A connection on which nothing moves is closed after two seconds.
const LIMITS: &str = "[limits]\nrequest-seconds = 1\nhead-seconds = 1";

/// Starts a server with a skill `large`. Returns the path of its archive, too.
async fn server_of_large(settings: &str) -> (Server, String) {
    let server = Server::start("");
    let alice = server.token("alice", &[]);
    let text = "---\nname: large\ndescription: Reads large files. Use it for large files.\nlicense: MIT\n\
                metadata:\n  version: '1.0.0'\n---\n\n# large\n";
    let archive = zip(&[stored("SKILL.md", text), stored("assets/data.bin", vec![0xFF; LARGE])]);
    let put = "/api/v1/skills/large/versions/1.0.0";
    let published = server.send_bytes("PUT", put, Some(&alice), archive).await;
    assert_eq!(published.status, 201, "{}", published.text());
    let digest = published.json()["artifact"]["digest"].as_str().expect("a digest").replace(':', "/");
    // With the limits it would be short of time to publish.
    (server.again(settings), format!("/artifacts/{digest}.zip"))
}

/// Asks for `path` over a connection with a small buffer.
async fn asked(server: &Server, path: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(64 << 10).expect("is set");
    let mut stream =
        socket.connect(server.address().parse().expect("an address")).await.expect("a connection");
    let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("is sent");
    stream
}

/// Reads to the end, with a pause after each piece. Returns the number of bytes.
async fn read_slowly(mut stream: TcpStream) -> usize {
    let (mut count, mut piece) = (0, vec![0; 64 << 10]);
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        count += read;
        tokio::time::sleep(Duration::from_millis(15)).await;
    }
    count
}

#[tokio::test]
async fn a_slow_download_arrives_whole_and_one_that_stands_still_ends() {
    let (server, archive) = server_of_large(LIMITS).await;
    let since = Instant::now();
    let steady = async {
        let count = read_slowly(asked(&server, &archive).await).await;
        (count, since.elapsed())
    };
    let still = async {
        let stream = asked(&server, &archive).await;
        tokio::time::sleep(Duration::from_secs(4)).await;
        read_slowly(stream).await
    };
    let ((whole, took), part) = tokio::join!(steady, still);
    assert!(whole > LARGE, "{whole} bytes in {took:?}");
    assert!(took > Duration::from_millis(2_500), "{took:?}");
    assert!(part < LARGE, "{part} bytes");
}

#[tokio::test]
async fn an_answer_over_http2_that_nobody_takes_ends_its_connection() {
    let (server, archive) = server_of_large(LIMITS).await;
    let client = || {
        let client = reqwest::Client::builder().http2_prior_knowledge();
        client.build().expect("a client")
    };
    let url = |path: &str| format!("{}{path}", server.url());
    let since = Instant::now();
    let steady = async {
        let mut answer = client().get(url(&archive)).send().await.expect("an answer");
        assert_eq!(
            (answer.status(), answer.version()),
            (200.try_into().expect("a status"), reqwest::Version::HTTP_2)
        );
        let mut count = 0;
        while let Some(piece) = answer.chunk().await.expect("the rest") {
            count += piece.len();
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
        (count, since.elapsed())
    };
    let still = async {
        let client = client();
        let mut answer = client.get(url(&archive)).send().await.expect("an answer");
        // Other answers on the same connection do not help it.
        while since.elapsed() < Duration::from_secs(4) {
            let _ = client.get(url("/config.json")).send().await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        loop {
            match answer.chunk().await {
                Ok(Some(_)) => {}
                ended => break ended.is_err(),
            }
        }
    };
    let ((whole, took), has_ended) = tokio::join!(steady, still);
    assert!(whole > LARGE, "{whole} bytes in {took:?}");
    assert!(took > Duration::from_millis(2_500), "{took:?}");
    assert!(has_ended);
}

/// Whatever many clients read slowly is in memory once.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn slow_readers_of_one_large_file_share_it() {
    let (server, _) = server_of_large("").await;
    let before = server.memory();
    let mut held = Vec::new();
    for _ in 0..30 {
        let mut stream = asked(&server, "/api/v1/skills/large/file?path=assets/data.bin").await;
        let mut status = [0; 12];
        stream.read_exact(&mut status).await.expect("an answer");
        assert_eq!(&status, b"HTTP/1.1 200");
        held.push(stream);
    }
    let used = server.memory().saturating_sub(before);
    assert!(used < 100 << 10, "{used} KB");
}
