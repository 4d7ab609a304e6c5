//! A SOCKS5 proxy on the loopback (RFC 1928, RFC 1929) that remembers what it was asked for.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The code with which it refuses: the rules do not allow the connection.
const NOT_ALLOWED: u8 = 2;

/// Connects clients that log in as `user` with `s3cret`.
#[derive(Debug)]
pub struct Socks {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Socks {
    /// A proxy that leads every request to `host`, wherever it was to go, or refuses all.
    pub fn start(host: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (recorded, host) = (Arc::clone(&asked), host.map(ToOwned::to_owned));
        // It ends with the process: there is nothing to clean up.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (recorded, host) = (Arc::clone(&recorded), host.clone());
                thread::spawn(move || serve(client, host, &recorded));
            }
        });
        Self { address, asked }
    }

    /// Its address, with `scheme` and a password.
    pub fn url(&self, scheme: &str, password: &str) -> String {
        format!("{scheme}://user:{password}@{}", self.address)
    }

    /// Where clients wanted to go: names, or addresses that they had looked up.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn serve(mut client: TcpStream, host: Option<String>, asked: &Mutex<Vec<String>>) -> Option<()> {
    let [_version, count] = take(&mut client)?;
    text(&mut client, count)?;
    client.write_all(&[5, 2]).ok()?;
    let [_version, length] = take(&mut client)?;
    let user = text(&mut client, length)?;
    let [length] = take(&mut client)?;
    let is_known = (user.as_str(), text(&mut client, length)?.as_str()) == ("user", "s3cret");
    client.write_all(&[1, u8::from(!is_known)]).ok()?;
    let [_version, _command, _, kind] = take(&mut client)?;
    let name = match kind {
        1 => Ipv4Addr::from(take::<4>(&mut client)?).to_string(),
        4 => std::net::Ipv6Addr::from(take::<16>(&mut client)?).to_string(),
        _ => {
            let [length] = take(&mut client)?;
            text(&mut client, length)?
        }
    };
    let port = u16::from_be_bytes(take(&mut client)?);
    asked.lock().expect("no panic").push(format!("{name}:{port}"));
    let code = if host.is_some() { 0 } else { NOT_ALLOWED };
    client.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]).ok()?;
    let server = TcpStream::connect(host?).ok()?;
    let (from, to) = (client.try_clone().ok()?, server.try_clone().ok()?);
    let up = thread::spawn(move || super::proxy::pipe(from, to));
    super::proxy::pipe(server, client);
    up.join().ok()
}

fn take<const N: usize>(client: &mut TcpStream) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).ok().map(|()| bytes)
}

fn text(client: &mut TcpStream, length: u8) -> Option<String> {
    let mut bytes = vec![0; usize::from(length)];
    client.read_exact(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}
