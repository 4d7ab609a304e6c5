//! The reach of an address: a page that anyone on the way could have written must not lead to hosts that only this machine
//! can see.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// From where a host can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// This machine.
    Machine,
    /// The link that it is on: where clouds keep the keys of their machines.
    Link,
    /// A private network.
    Network,
    /// Everywhere.
    Everywhere,
}

impl Reach {
    /// From where `address` can be reached.
    pub(super) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => Self::of_v4(v4),
            IpAddr::V6(v6) => Self::of_v6(v6),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        let [first, second, ..] = address.octets();
        // RFC 6598: what providers share among their customers.
        let is_shared = first == 100 && second & 0xc0 == 64;
        if address.is_loopback() || first == 0 {
            Self::Machine
        } else if address.is_link_local() || address.is_multicast() || address.is_broadcast() {
            Self::Link
        } else if address.is_private() || is_shared {
            Self::Network
        } else {
            Self::Everywhere
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        let parts = address.segments();
        if address.is_loopback() || address.is_unspecified() {
            Self::Machine
        } else if address.is_unicast_link_local() || address.is_multicast() {
            Self::Link
        } else if address.is_unique_local() {
            Self::Network
        } else if parts[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
            // RFC 6052: an address of version 4.
            let [.., a, b] = parts.map(u16::to_be_bytes);
            Self::of_v4(Ipv4Addr::new(a[0], a[1], b[0], b[1]))
        } else {
            Self::Everywhere
        }
    }

    /// Reports whether a host that reaches as far as one of `from` may lead to one that reaches so far.
    pub(super) fn is_open_to(self, from: &[Self]) -> bool {
        self == Self::Everywhere || from.contains(&self)
    }
}

/// A host of a network to which the redirecting server does not belong.
#[derive(Debug)]
pub(super) struct Inward;

impl fmt::Display for Inward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host is in another network")
    }
}

impl std::error::Error for Inward {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_reach_so_far() {
        for (addresses, expected) in [
            (&["127.0.0.2", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1"][..], Reach::Machine),
            (&["169.254.169.254", "fe80::1", "64:ff9b::a9fe:a9fe", "ff02::1"], Reach::Link),
            (
                &["10.0.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"],
                Reach::Network,
            ),
            (&["8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:db8::1"], Reach::Everywhere),
        ] {
            for address in addresses {
                assert_eq!(Reach::of(address.parse().expect("an address")), expected, "{address}");
            }
        }
        assert!(Reach::Everywhere.is_open_to(&[]) && Reach::Network.is_open_to(&[Reach::Network]));
        assert!(
            !Reach::Link.is_open_to(&[Reach::Machine]) && !Reach::Machine.is_open_to(&[Reach::Everywhere])
        );
    }
}
