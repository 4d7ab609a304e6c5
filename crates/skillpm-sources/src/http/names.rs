//! The addresses of hosts, as the system knows them, and which of them may be gone to.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::reach::{Inward, Reach};

/// Why no address was found, or none that may be gone to.
pub(super) type Unreachable = Box<dyn std::error::Error + Send + Sync>;

/// The system's resolver, for requests that the host `led_by` led to, if one did: it returns no address of a network
/// that this host is not in.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) led_by: Option<String>,
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let led_by = self.led_by.clone();
        Box::pin(async move {
            let found = look_up(name.as_str()).await?;
            if let Some(from) = led_by {
                check_reach(found.iter().map(SocketAddr::ip), &from).await?;
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Returns the addresses of `host`, with the port 0.
///
/// The system's call blocks, so it has a thread of its own, which ends by itself if the caller stops waiting.
async fn look_up(host: &str) -> io::Result<Vec<SocketAddr>> {
    let host = bare(host).to_owned();
    tokio::task::spawn_blocking(move || Ok((host.as_str(), 0).to_socket_addrs()?.collect()))
        .await
        .map_err(io::Error::other)?
}

/// Checks that the host `from` may lead to `addresses`: each can be reached from everywhere, or is in a network that
/// `from` is in.
pub(super) async fn check_reach(
    addresses: impl Iterator<Item = IpAddr>,
    from: &str,
) -> Result<(), Unreachable> {
    let inner: Vec<Reach> = addresses.map(Reach::of).filter(|reach| !reach.is_open_to(&[])).collect();
    if inner.is_empty() {
        return Ok(());
    }
    let from: Vec<Reach> = look_up(from).await?.iter().map(|address| Reach::of(address.ip())).collect();
    if inner.iter().all(|reach| reach.is_open_to(&from)) { Ok(()) } else { Err(Box::new(Inward)) }
}

/// Returns the address that `host` is written as; `None` for a name.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    bare(host).parse().ok()
}

/// Returns `host` without the brackets that an IPv6 address has in a URL.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::runtime::Runtime;
    use super::*;

    fn resolve(led_by: Option<&str>, host: &str) -> Result<Vec<IpAddr>, Unreachable> {
        let names = Names { led_by: led_by.map(ToOwned::to_owned) };
        let runtime = Runtime::start().expect("a thread");
        let found = names.resolve(host.parse().expect(host));
        let found = runtime.wait(found, None, Instant::now).expect("an answer");
        found.map(|found| found.map(|address| address.ip()).collect())
    }

    #[test]
    fn the_system_is_asked() {
        assert!(resolve(None, "localhost").expect("found").iter().all(IpAddr::is_loopback));
        let unknown = resolve(None, "no-such-host.invalid").expect_err("no such host");
        assert!(unknown.is::<io::Error>(), "{unknown}");
    }

    #[test]
    fn nobody_is_led_into_another_network() {
        assert!(resolve(Some("127.0.0.1"), "localhost").is_ok());
        assert!(resolve(Some("[::1]"), "localhost").is_ok());
        for from in ["192.0.2.1", "10.0.0.1"] {
            assert!(resolve(Some(from), "localhost").expect_err(from).is::<Inward>(), "{from}");
        }
    }

    #[test]
    fn addresses_are_no_names() {
        assert_eq!(literal("[::1]"), "::1".parse().ok());
        assert_eq!(literal("127.0.0.1"), "127.0.0.1".parse().ok());
        assert_eq!(literal("example.com"), None);
    }
}
