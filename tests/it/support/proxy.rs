//! A proxy on the loopback that remembers what it was asked for.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::forge::read_head;

/// Connects clients to where they ask (`CONNECT`), passes plain requests on, or refuses all with one status.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// A proxy that connects.
    pub fn start() -> Self {
        Self::with(None, None)
    }

    /// A proxy that leads every request to `host`, wherever it was to go.
    pub fn leading_to(host: &str) -> Self {
        Self::with(None, Some(host.to_owned()))
    }

    /// A proxy that answers every request with `status`.
    pub fn refusing(status: &str) -> Self {
        Self::saying(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n"))
    }

    /// A proxy that answers every request with these bytes and hangs up.
    pub fn saying(answer: impl Into<Vec<u8>>) -> Self {
        Self::with(Some(answer.into()), None)
    }

    fn with(answer: Option<Vec<u8>>, host: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let heads = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&heads);
        // It ends with the process: there is nothing to clean up.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (recorded, host, answer) = (Arc::clone(&recorded), host.clone(), answer.clone());
                thread::spawn(move || serve(client, answer, host.as_deref(), &recorded));
            }
        });
        Self { address, heads }
    }

    /// Its address with a name and a password.
    pub fn url(&self) -> String {
        format!("http://user:s3cret@{}", self.address)
    }

    /// The heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no panic").clone()
    }
}

fn serve(
    mut client: TcpStream,
    answer: Option<Vec<u8>>,
    host: Option<&str>,
    recorded: &Mutex<Vec<String>>,
) -> Option<()> {
    let head = read_whole_head(&mut client)?;
    recorded.lock().expect("no panic").push(head.clone());
    if let Some(answer) = answer {
        client.write_all(&answer).ok()?;
        return client.shutdown(Shutdown::Write).ok();
    }
    let asked = head.split(' ').nth(1)?;
    let tunnel = head.starts_with("CONNECT ");
    let named = if tunnel { asked } else { asked.strip_prefix("http://")?.split('/').next()? };
    let mut server = TcpStream::connect(host.unwrap_or(named)).ok()?;
    let (mut from, mut to) = (client.try_clone().ok()?, server.try_clone().ok()?);
    if tunnel {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    } else {
        server.write_all(passed_on(&head)?.as_bytes()).ok()?;
    }
    let back = thread::spawn(move || pipe(server, client));
    if tunnel {
        pipe(from, to);
    } else {
        while let Some(head) = read_whole_head(&mut from) {
            recorded.lock().expect("no panic").push(head.clone());
            to.write_all(passed_on(&head)?.as_bytes()).ok()?;
        }
        let _ = to.shutdown(Shutdown::Both);
    }
    back.join().ok()
}

/// Reads the head of a request to its last byte.
fn read_whole_head(client: &mut TcpStream) -> Option<String> {
    let head = read_head(client)?;
    client.read_exact(&mut [0]).ok()?;
    Some(head + "\n")
}

/// A plain request as the server gets it: with a path for an address, and without what is for the proxy.
fn passed_on(head: &str) -> Option<String> {
    let (first, rest) = head.split_once("\r\n")?;
    let mut words = first.split(' ');
    let (method, address, version) = (words.next()?, words.next()?, words.next()?);
    let path = address.splitn(4, '/').nth(3).unwrap_or_default();
    let is_own = |line: &&str| !line.to_ascii_lowercase().starts_with("proxy-");
    let rest: Vec<&str> = rest.split("\r\n").filter(is_own).collect();
    Some(format!("{method} /{path} {version}\r\n{}", rest.join("\r\n")))
}

/// Copies from one connection to the other until either side hangs up.
pub(super) fn pipe(mut from: TcpStream, mut to: TcpStream) {
    // Either side may hang up first: that is the end, not a failure.
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
