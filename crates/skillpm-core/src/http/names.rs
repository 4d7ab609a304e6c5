//! The addresses of hosts.
//!
//! The C library looks names up as the system is set up to: in files, by DNS, by modules that it loads. A program
//! that has the library inside must never load them, since they are made for the library of the system and end a
//! program with another one. So it asks `getent`, which comes with that library, and nothing else.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

use crate::settings::{HostNames, Http};

use super::Url;
use super::reach::{Inward, Reach};

/// Bytes of the answer of `getent` that are read: some hundred addresses.
const ANSWER_BYTES: usize = 16 * 1024;

/// Addresses of one host that are tried: as many as the HTTP library has room for.
const MOST_ADDRESSES: usize = 16;

/// The interval for checking whether `getent` has ended, where what it started keeps its output open.
const TICK: Duration = Duration::from_millis(20);

/// The system's resolver, whose errors say that they are about a name: what the operating system
/// answers has no kind of its own to tell it by.
///
/// A name is asked for once: ureq asks before each request, also where a connection is open already,
/// and starts a thread for it.
#[derive(Debug)]
pub(super) struct Names {
    by: HostNames,
    /// What `getent` is started with.
    environment: BTreeMap<OsString, OsString>,
    library: DefaultResolver,
    known: Mutex<BTreeMap<String, Vec<SocketAddr>>>,
    /// The address that led to where is gone, if one did.
    led_by: Option<Uri>,
}

/// There is no program to ask for addresses.
#[derive(Debug)]
pub(super) struct NobodyToAsk;

impl fmt::Display for NobodyToAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the program `getent` is missing or does not work")
    }
}

impl std::error::Error for NobodyToAsk {}

impl Names {
    /// Names that are looked up as `settings` say, for requests that the address `led_by` led to.
    pub(super) fn new(settings: &Http, led_by: Option<&Url>) -> Self {
        Self {
            by: settings.names,
            environment: settings.names_environment.clone(),
            library: DefaultResolver::default(),
            known: Mutex::default(),
            led_by: led_by.map(|url| url.uri().clone()),
        }
    }

    fn ask(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<Vec<SocketAddr>, Error> {
        if self.by == HostNames::Getent
            && let Some((host, port)) = name_and_port(uri)
        {
            let limit = (!timeout.after.is_not_happening()).then(|| *timeout.after);
            let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
            return match self.getent(&host, port, deadline) {
                LookupOutput::Addresses(found) => Ok(found),
                LookupOutput::Unknown => Err(Error::HostNotFound),
                LookupOutput::Nothing => Err(Error::Timeout(timeout.reason)),
                LookupOutput::Other => Err(Error::Other(Box::new(NobodyToAsk))),
            };
        }
        let found = self.library.resolve(uri, config, timeout).map_err(|error| match error {
            Error::Io(_) => Error::HostNotFound,
            other => other,
        })?;
        Ok(found.to_vec())
    }

    /// Asks `getent` for the addresses of `host`, until `deadline`.
    fn getent(&self, host: &str, port: u16, deadline: Option<Instant>) -> LookupOutput {
        // Without `-A` it leaves out what this machine seems to have no network for, `::1` included. An older one, or
        // one of another library, does not know that option.
        match self.run(&["-A", "ahosts", host], port, deadline) {
            LookupOutput::Other => self.run(&["ahosts", host], port, deadline),
            said => said,
        }
    }

    fn run(&self, arguments: &[&str], port: u16, deadline: Option<Instant>) -> LookupOutput {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that looks names up")]
        let mut command = Command::new("getent");
        // It is looked for by the `PATH` that it gets. Tokens are not its business.
        command.env_clear().envs(&self.environment);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = command.spawn() else { return LookupOutput::Other };
        let said = listen(&mut child, port, deadline);
        // One that has ended already cannot be ended, which is as well.
        let _ = child.kill();
        let _ = child.wait();
        said
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
        let reaches: Vec<Reach> = found.iter().map(|address| Reach::of(address.ip())).collect();
        if let Some(from) =
            self.led_by.as_ref().filter(|_| !reaches.iter().all(|reach| reach.is_open_to(&[])))
        {
            let from = self.ask(from, config, timeout)?;
            let from: Vec<Reach> = from.iter().map(|address| Reach::of(address.ip())).collect();
            if !reaches.iter().all(|reach| reach.is_open_to(&from)) {
                return Err(Error::Other(Box::new(Inward)));
            }
        }
        let mut addresses = self.empty();
        for address in found.into_iter().take(MOST_ADDRESSES) {
            addresses.push(address);
        }
        Ok(addresses)
    }
}

/// Returns the host that `uri` names and the port, where that is a name and no address, and none that a program would
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
enum LookupOutput {
    /// At least one address, those first that the system prefers.
    Addresses(Vec<SocketAddr>),
    /// No service of the system knows the name, or none can be reached.
    Unknown,
    /// Nothing within the limit.
    Nothing,
    /// It is not there, or another program than it is taken for.
    Other,
}

/// Returns what `child`, which is `getent`, says until `deadline`; it may run on.
fn listen(child: &mut Child, port: u16, deadline: Option<Instant>) -> LookupOutput {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (closes, is_closed) = mpsc::channel::<()>();
    if let Some(out) = child.stdout.take() {
        let heard = Arc::clone(&heard);
        thread::spawn(move || {
            hear(out, &heard);
            drop(closes);
        });
    } else {
        drop(closes);
    }
    let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    // Its output ends with it, but for what it may have started that keeps it open.
    while is_closed.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        if matches!(child.try_wait(), Ok(Some(_))) {
            break;
        }
        if is_over() {
            return LookupOutput::Nothing;
        }
    }
    let answer = heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let found = addresses(&String::from_utf8_lossy(&answer), port);
    if !found.is_empty() {
        return LookupOutput::Addresses(found);
    }
    let code = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            _ if is_over() => return LookupOutput::Nothing,
            _ => thread::sleep(TICK / 10),
        }
    };
    match code {
        // Its code for a key that is not found, and a host without an address that can be used.
        Some(2) => LookupOutput::Unknown,
        Some(0) if answer.iter().all(u8::is_ascii) && answer.contains(&b'%') => LookupOutput::Unknown,
        _ => LookupOutput::Other,
    }
}

/// Reads `out` into `heard`, as much as an answer can be.
fn hear(mut out: ChildStdout, heard: &Mutex<Vec<u8>>) {
    let mut piece = [0; 1024];
    while let Ok(count @ 1..) = out.read(&mut piece) {
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.extend_from_slice(&piece[..count]);
        if heard.len() >= ANSWER_BYTES {
            return;
        }
    }
}

/// Returns the addresses of an answer: lines of an address, a kind of socket and maybe a name, a line for each kind. Of
/// one that holds for one network only (`fe80::1%2`), the network is its number; those with a name of it are left out.
fn addresses(answer: &str, port: u16) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    for line in answer.lines() {
        let Some(text) = line.split_ascii_whitespace().next() else { continue };
        let address = match text.split_once('%') {
            None => text.parse().ok().map(|address: IpAddr| SocketAddr::new(address, port)),
            Some((address, network)) => {
                let both = address.parse::<Ipv6Addr>().ok().zip(network.parse().ok());
                both.map(|(address, network)| SocketAddrV6::new(address, port, 0, network).into())
            }
        };
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
        let names = Names::new(&Http::default(), None);
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
                      192.0.2.7       STREAM \nfe80::1%eth0    STREAM \nfe80::1%2       STREAM \nnonsense\n\n";
        let told: Vec<_> = addresses(answer, 80).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["[2001:db8::1]:80", "192.0.2.7:80", "[fe80::1%2]:80"]);
    }

    #[cfg(target_os = "linux")]
    mod program {
        use std::path::{Path, PathBuf};

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

        fn names(dir: &Path) -> Names {
            let environment = [("PATH".into(), format!("{}:/usr/bin:/bin", dir.display()).into())].into();
            Names::new(
                &Http { names: HostNames::Getent, names_environment: environment, ..Http::default() },
                None,
            )
        }

        fn says(body: &str, limit: Duration) -> LookupOutput {
            let (dir, _path) = program(body);
            names(dir.path()).getent("example.com", 80, Instant::now().checked_add(limit))
        }

        const MINUTE: Duration = Duration::from_mins(1);

        fn one() -> LookupOutput {
            LookupOutput::Addresses(vec!["192.0.2.7:80".parse().expect("an address")])
        }

        #[test]
        fn the_program_is_asked_for_the_name() {
            assert_eq!(
                says(r#"test "$*" = "-A ahosts example.com" && echo "192.0.2.7 STREAM""#, MINUTE),
                one()
            );
            // One that does not know the option.
            let old = r#"test "$*" = "ahosts example.com" || exit 64; echo "192.0.2.7 STREAM""#;
            assert_eq!(says(old, MINUTE), one());
            assert_eq!(says(old, Duration::MAX), one());
        }

        #[test]
        fn what_it_does_not_know_is_no_failure_of_the_program() {
            assert_eq!(says("exit 2", MINUTE), LookupOutput::Unknown);
            assert_eq!(says("echo fe80::1%eth0 STREAM", MINUTE), LookupOutput::Unknown);
            // Another program of that name, or one that knows no `ahosts`.
            for body in ["exit 1", "exit 0", "echo usage", "kill -9 $$", r"printf '\377'"] {
                assert_eq!(says(body, MINUTE), LookupOutput::Other, "{body}");
            }
        }

        /// The library that is linked in would load what ends the program: it is asked for no name.
        #[test]
        fn without_the_program_nobody_is_asked() {
            let dir = tempfile::tempdir().expect("a directory");
            let environment = [("PATH".into(), dir.path().into())].into();
            let http = Http { names: HostNames::Getent, names_environment: environment, ..Http::default() };
            match asked(&Names::new(&http, None), "http://localhost:81/") {
                Err(Error::Other(error)) => assert!(error.is::<NobodyToAsk>(), "{error}"),
                other => panic!("{other:?}"),
            }
            assert!(asked(&Names::new(&http, None), "http://127.0.0.1:81/").is_ok());
        }

        #[test]
        fn it_gets_no_more_than_it_needs() {
            let body = r#"test "$(env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD=)" = "PATH=$PATH" && echo "192.0.2.7 STREAM""#;
            assert_eq!(says(body, MINUTE), one());
        }

        #[test]
        fn one_that_hangs_is_ended() {
            // Were it not, these would wait for an hour.
            assert_eq!(says("exec sleep 3600", Duration::from_millis(50)), LookupOutput::Nothing);
            assert_eq!(
                says("echo nonsense; exec >&- sleep 3600", Duration::from_millis(50)),
                LookupOutput::Nothing
            );
            assert_eq!(says("echo 192.0.2.7 STREAM; exec >&- sleep 3600", MINUTE), one());
            assert_eq!(says("echo 192.0.2.7 STREAM; sleep 3600 &", MINUTE), one());
        }

        #[test]
        fn the_system_s_own_program_answers_as_the_library_does() {
            let getent = Names::new(
                &Http {
                    names: HostNames::Getent,
                    names_environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
                    ..Http::default()
                },
                None,
            );
            let of = |names: &Names| {
                let mut found = asked(names, "http://localhost:81/").expect("`localhost` has an address");
                found.sort_unstable();
                found.dedup();
                found
            };
            assert_eq!(of(&getent), of(&Names::new(&Http::default(), None)));
            let none = asked(&getent, "http://no-such-host.invalid/");
            assert!(matches!(none, Err(Error::HostNotFound)), "{none:?}");
        }
    }
}
