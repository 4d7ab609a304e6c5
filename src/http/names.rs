//! The addresses of hosts.
//!
//! The C library looks names up as the system is set up to: in files, by DNS, by modules that it loads. A program
//! that has the library inside cannot load them, so it asks `getent`, which comes with the library and can.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::settings::HostNames;

/// Bytes of the answer of `getent` that are read: some hundred addresses.
const ANSWER_BYTES: u64 = 16 * 1024;

/// Addresses of one host that are tried: as many as the HTTP library has room for.
const MOST_ADDRESSES: usize = 16;

/// The system's resolver, whose errors say that they are about a name: what the operating system
/// answers has no kind of its own to tell it by.
///
/// A name is asked for once: ureq asks before each request, also where a connection is open already,
/// and starts a thread for it.
#[derive(Debug)]
pub(super) struct Names {
    by: HostNames,
    library: DefaultResolver,
    known: Mutex<BTreeMap<String, Vec<SocketAddr>>>,
}

impl Names {
    /// Names that are looked up by `by`.
    pub(super) fn new(by: HostNames) -> Self {
        Self { by, library: DefaultResolver::default(), known: Mutex::default() }
    }

    fn ask(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<Vec<SocketAddr>, Error> {
        if self.by == HostNames::Getent
            && let Some((host, port)) = name_and_port(uri)
        {
            let limit = (!timeout.after.is_not_happening()).then(|| *timeout.after);
            match getent("getent".as_ref(), &host, limit) {
                Said::Addresses(found) => {
                    return Ok(found.into_iter().map(|address| SocketAddr::new(address, port)).collect());
                }
                Said::Unknown => return Err(Error::HostNotFound),
                Said::Nothing => return Err(Error::Timeout(timeout.reason)),
                // The library knows less by itself, but files and DNS it knows.
                Said::Other => {}
            }
        }
        let found = self.library.resolve(uri, config, timeout).map_err(|error| match error {
            Error::Io(_) => Error::HostNotFound,
            other => other,
        })?;
        Ok(found.to_vec())
    }
}

impl Resolver for Names {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host = format!("{:?} {:?}", uri.scheme(), uri.authority());
        // What is there is whole, whatever happened to another thread.
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = known().get(&host).cloned().unwrap_or_default();
        if found.is_empty() {
            found = self.ask(uri, config, timeout)?;
            known().insert(host, found.clone());
        }
        let mut addresses = self.empty();
        for address in found.into_iter().take(MOST_ADDRESSES) {
            addresses.push(address);
        }
        Ok(addresses)
    }
}

/// The host that `uri` names and the port, where that is a name and no address, and none that a program would
/// take for an option.
fn name_and_port(uri: &Uri) -> Option<(String, u16)> {
    let whole = DefaultResolver::host_and_port(uri.scheme()?, uri.authority()?)?;
    let (host, port) = whole.rsplit_once(':')?;
    let is_address = host.starts_with('[') || host.parse::<IpAddr>().is_ok();
    (!is_address && !host.starts_with('-')).then_some(())?;
    Some((host.to_owned(), port.parse().ok()?))
}

/// What `getent` said of a name.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    /// At least one address, those first that the system prefers.
    Addresses(Vec<IpAddr>),
    /// No service of the system knows the name, or none can be reached.
    Unknown,
    /// Nothing within the limit.
    Nothing,
    /// It is not there, or another program than it is taken for.
    Other,
}

/// Asks `program` for the addresses of `host`, and ends it after `limit`.
fn getent(program: &OsStr, host: &str, limit: Option<Duration>) -> Said {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that looks names up")]
    let mut command = Command::new(program);
    command.args(["ahosts", host]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Said::Other };
    let (sender, heard) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        thread::spawn(move || {
            let mut answer = String::new();
            let read = out.take(ANSWER_BYTES).read_to_string(&mut answer);
            // Nobody listens any more where the limit is over.
            let _ = sender.send(read.map(|_| answer));
        });
    }
    let answer = match limit {
        Some(limit) => heard.recv_timeout(limit),
        None => heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    // It has said all that is read of it. One that has ended already cannot be ended, which is as well.
    if answer.is_err() {
        let _ = child.kill();
    }
    let code = child.wait().ok().and_then(|status| status.code());
    match (answer, code) {
        (Err(RecvTimeoutError::Timeout), _) => Said::Nothing,
        (Ok(Ok(answer)), Some(0)) => match addresses(&answer) {
            found if found.is_empty() => Said::Other,
            found => Said::Addresses(found),
        },
        // Its code for a key that is not found.
        (_, Some(2)) => Said::Unknown,
        _ => Said::Other,
    }
}

/// The addresses of an answer: lines of an address, a kind of socket and maybe a name, a line for each kind. Addresses
/// of one link (`fe80::1%eth0`) are left out.
fn addresses(answer: &str) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for line in answer.lines() {
        let address = line.split_ascii_whitespace().next().and_then(|first| first.parse().ok());
        if let Some(address) = address
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(names: &Names, uri: &str) -> Result<Vec<SocketAddr>, Error> {
        let timeout = NextTimeout {
            after: Duration::from_secs(9).into(),
            reason: ureq::Timeout::Resolve,
            ..NextTimeout::default()
        };
        names.resolve(&uri.parse().expect(uri), &Config::default(), timeout).map(|found| found.to_vec())
    }

    #[test]
    fn names_are_asked_for_once() {
        let names = Names::new(HostNames::Library);
        let first = asked(&names, "http://127.0.0.1:80/a").expect("found");
        assert_eq!(asked(&names, "http://127.0.0.1:80/b").expect("found"), first);
        assert_eq!(asked(&names, "http://127.0.0.1:81/").expect("found")[0].port(), 81);
        assert!(matches!(asked(&names, "http://no-such-host.invalid/"), Err(Error::HostNotFound)));
        assert_eq!(names.known.lock().expect("no panic").len(), 2);
    }

    #[test]
    fn only_names_are_asked_of_a_program() {
        let parts = |uri: &str| name_and_port(&uri.parse().expect(uri));
        assert_eq!(parts("https://example.com/a"), Some(("example.com".to_owned(), 443)));
        assert_eq!(parts("http://user:word@example.com:81"), Some(("example.com".to_owned(), 81)));
        for not in ["http://127.0.0.1/", "http://[::1]:80/", "http://-x/", "/only/a/path"] {
            assert_eq!(parts(not), None, "{not}");
        }
    }

    #[test]
    fn an_answer_is_addresses_in_their_order() {
        let answer = "2001:db8::1     STREAM example.com\n2001:db8::1     DGRAM  \n2001:db8::1     RAW    \n\
                      192.0.2.7       STREAM \nfe80::1%eth0    STREAM \nnonsense\n\n";
        let expected: Vec<IpAddr> =
            ["2001:db8::1", "192.0.2.7"].map(|address| address.parse().expect(address)).into();
        assert_eq!(addresses(answer), expected);
    }

    #[cfg(target_os = "linux")]
    mod program {
        use std::path::PathBuf;

        use super::*;

        /// A program that does what the shell script `body` says, and where it lies. A shell writes it: a file that
        /// this process had open for writing may be that in a program that another test starts, and cannot run then.
        fn program(body: &str) -> (tempfile::TempDir, PathBuf) {
            let dir = tempfile::tempdir().expect("a directory");
            let path = dir.path().join("getent");
            #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
            let mut shell = Command::new("sh");
            shell
                .args(["-c", r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#, "sh", body])
                .arg(&path);
            assert!(shell.status().expect("a shell").success());
            (dir, path)
        }

        fn says(body: &str, limit: Option<Duration>) -> Said {
            let (_dir, path) = program(body);
            getent(path.as_os_str(), "example.com", limit)
        }

        #[test]
        fn the_program_is_asked_for_the_name() {
            let expected = Said::Addresses(vec!["192.0.2.7".parse().expect("an address")]);
            let body = r#"test "$*" = "ahosts example.com" && echo "192.0.2.7 STREAM""#;
            assert_eq!(says(body, None), expected);
            assert_eq!(says(body, Some(Duration::from_mins(1))), expected);
        }

        #[test]
        fn what_it_does_not_know_is_no_failure_of_the_program() {
            assert_eq!(says("exit 2", None), Said::Unknown);
            // Another program of that name, or one that knows no `ahosts`.
            for body in ["exit 1", "exit 0", "echo usage", "kill -9 $$", r"printf '\377'"] {
                assert_eq!(says(body, None), Said::Other, "{body}");
            }
            assert_eq!(getent("no-such-program-anywhere".as_ref(), "example.com", None), Said::Other);
        }

        #[test]
        fn one_that_hangs_is_ended() {
            // Were it not, this would wait for an hour.
            assert_eq!(says("exec sleep 3600", Some(Duration::from_millis(50))), Said::Nothing);
        }

        #[test]
        fn the_system_s_own_program_answers_as_the_library_does() {
            let of = |by| asked(&Names::new(by), "http://localhost:81/");
            let (Ok(program), Ok(library)) = (of(HostNames::Getent), of(HostNames::Library)) else {
                panic!("`localhost` has no address");
            };
            assert!(program.iter().any(|address| library.contains(address)), "{program:?} {library:?}");
            let none = asked(&Names::new(HostNames::Getent), "http://no-such-host.invalid/");
            assert!(matches!(none, Err(Error::HostNotFound)), "{none:?}");
        }
    }
}
