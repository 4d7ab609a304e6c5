//! A proxy on the loopback that remembers what it was asked for.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::forge::read_head;

/// Connects clients to where they ask (`CONNECT`), or refuses all with one status.
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
                thread::spawn(move || serve(client, answer, host, &recorded));
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
    host: Option<String>,
    recorded: &Mutex<Vec<String>>,
) -> Option<()> {
    let head = read_head(&mut client)?;
    client.read_exact(&mut [0]).ok()?;
    let target = host.or_else(|| head.split(' ').nth(1).map(ToOwned::to_owned))?;
    recorded.lock().expect("no panic").push(head);
    if let Some(answer) = answer {
        client.write_all(&answer).ok()?;
        return client.shutdown(Shutdown::Write).ok();
    }
    let server = TcpStream::connect(target).ok()?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    let (from, to) = (client.try_clone().ok()?, server.try_clone().ok()?);
    let up = thread::spawn(move || pipe(from, to));
    pipe(server, client);
    up.join().ok()
}

fn pipe(mut from: TcpStream, mut to: TcpStream) {
    // Either side may hang up first: that is the end, not a failure.
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
