//! A port at which nobody listens and nobody can begin to.

use std::net::{SocketAddr, TcpListener, TcpStream};

/// A port of this machine that refuses each connection for as long as this value lives.
///
/// A port that was only asked for and given back may be the next one that a server of another test gets.
/// This one belongs to the client's end of a connection, so no listener can have it.
pub struct ClosedPort {
    client: TcpStream,
    _listener: TcpListener,
}

impl ClosedPort {
    /// Takes a port.
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let client =
            listener.local_addr().and_then(TcpStream::connect).expect("a connection with the listener");
        Self { client, _listener: listener }
    }

    /// Returns its address, which a client may try to connect to.
    pub fn address(&self) -> SocketAddr {
        self.client.local_addr().expect("an address")
    }
}

impl Default for ClosedPort {
    fn default() -> Self {
        Self::new()
    }
}
