//! Runs of the `git` program: its environment, and how it ends.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Seek as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::env::{self, Env};
use crate::error::{Error, Result};
use crate::fs::{anonymous_temp_file, bytes_in};
use crate::interrupt::{self, Running};
use crate::processes::{GRACE, end, ended, lead_group, pass_on};
use crate::reporter::{Reporter, Requested};
use crate::settings::Settings;

/// The interval between checks of a running program.
const TICK: Duration = Duration::from_millis(100);
/// The time that a program has to end after it closed its outputs.
const LINGER: Duration = Duration::from_secs(30);
/// The number of bytes kept of each of its outputs.
const KEPT: usize = 4 << 20;

/// The variables of git that the program gets: where its configuration is, and how it reaches servers. All
/// others are dropped: they refer to the repository that the user works in, redirect or trace the run, or ask
/// questions.
const PASSED: &[&str] = &[
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXEC_PATH",
    "GIT_HTTP_PROXY_AUTHMETHOD",
    "GIT_HTTP_USER_AGENT",
    "GIT_PROXY_SSL_CAINFO",
    "GIT_PROXY_SSL_CERT",
    "GIT_PROXY_SSL_CERT_PASSWORD_PROTECTED",
    "GIT_PROXY_SSL_KEY",
    env::GIT_SSH,
    env::GIT_SSH_COMMAND,
    "GIT_SSH_VARIANT",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_CERT_PASSWORD_PROTECTED",
    "GIT_SSL_CIPHER_LIST",
    "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
    "GIT_SSL_VERSION",
];

/// The program, configured for one repository.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    pub(super) settings: &'a Settings,
    pub(super) reporter: &'a dyn Reporter,
    /// The permitted schemes, separated by colons.
    pub(super) schemes: &'static str,
}

/// One run of the program.
#[derive(Debug, Default)]
pub(super) struct ProgramRun<'a> {
    pub(super) args: Vec<OsString>,
    /// Bytes for its standard input.
    pub(super) input: Option<Vec<u8>>,
    /// The repository that it fetches into, and the name of that for a person.
    pub(super) fetch: Option<(&'a Path, &'a str)>,
    /// The largest number of bytes that a fetch may bring.
    pub(super) limit: u64,
    /// The largest number of bytes of output, if all of it is needed. More is an error.
    pub(super) whole: Option<usize>,
}

/// Why a run failed.
#[derive(Debug)]
pub(super) enum ProgramError {
    /// The program failed. Holds its standard error.
    Said(String),
    /// The fetch brought more than the limit.
    TooLarge,
    /// The program had to be ended, or could not be started.
    Error(Error),
}

impl From<Error> for ProgramError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

enum ProgramEvent {
    Out(Vec<u8>),
    Err(Vec<u8>),
}

impl Program<'_> {
    /// Runs the program on the repository at `git_dir` and returns its standard output.
    pub(super) fn run(
        &self,
        git_dir: &Path,
        url: &str,
        job: &ProgramRun<'_>,
    ) -> Result<Vec<u8>, ProgramError> {
        let ssh = self.ssh_command(git_dir, url)?;
        let mut command = self.command(git_dir);
        if let Some(ssh) = ssh {
            command.env("GIT_SSH_COMMAND", ssh);
        }
        command.args(&job.args);
        let began = Instant::now();
        let result = self.wait_for(&mut command, url, job);
        if let Some(method) = asks_server(&job.args) {
            let outcome = if result.is_ok() { "done" } else { "failed" };
            let address = without_login(url);
            let took = Some(began.elapsed());
            self.reporter.requested(&Requested { method, address: &address, outcome, took });
        }
        result
    }

    /// Returns the `git` command with everything that is the same for each run.
    fn command(&self, git_dir: &Path) -> Command {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that starts git")]
        let mut command = Command::new("git");
        command.env_clear().envs(environment(&self.settings.env, self.schemes));
        let mut dir = OsString::from("--git-dir=");
        dir.push(git_dir);
        command.arg(dir);
        let seconds = self.settings.http.timeout.as_secs();
        let slow = [("http.lowSpeedLimit", "1".to_owned()), ("http.lowSpeedTime", seconds.to_string())];
        let fixed = CONFIG.iter().map(|(key, value)| (*key, (*value).to_owned()));
        for (key, value) in fixed.chain(slow.into_iter().filter(|_| seconds > 0)) {
            command.arg("-c").arg(format!("{key}={value}"));
        }
        command
    }

    /// Returns an ssh command that asks no questions, unless the user has one of their own.
    fn ssh_command(&self, git_dir: &Path, url: &str) -> Result<Option<String>, ProgramError> {
        let own = [env::GIT_SSH_COMMAND, env::GIT_SSH];
        if own.iter().any(|name| self.settings.env.get(name).is_some()) {
            return Ok(None);
        }
        let mut command = self.command(git_dir);
        command.args(["config", "--get", "core.sshCommand"]);
        match self.wait_for(&mut command, url, &ProgramRun::default()) {
            Ok(own) if !own.trim_ascii().is_empty() => return Ok(None),
            Ok(_) | Err(ProgramError::Said(_)) => {}
            Err(error) => return Err(error),
        }
        let ssh = "ssh -o BatchMode=yes";
        Ok(Some(match self.settings.http.timeout.as_secs() {
            0 => ssh.to_owned(),
            seconds => format!("{ssh} -o ConnectTimeout={seconds}"),
        }))
    }

    fn wait_for(
        &self,
        command: &mut Command,
        url: &str,
        job: &ProgramRun<'_>,
    ) -> Result<Vec<u8>, ProgramError> {
        let stdin = match &job.input {
            // A file has no other end that could block.
            Some(input) => {
                let mut file = anonymous_temp_file().map_err(Error::from)?;
                let whole = file.write_all(input).and_then(|()| file.rewind());
                whole.map_err(|error| Error::io("failed to write a temporary file").because(error))?;
                Stdio::from(file)
            }
            None => Stdio::null(),
        };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        lead_group(command);
        let _running = Running::begin();
        let mut child = command.spawn().map_err(|error| not_started(url, error))?;
        let (sender, heard) = channel();
        if let Some(out) = child.stdout.take() {
            listen(out, sender.clone(), ProgramEvent::Out);
        }
        if let Some(err) = child.stderr.take() {
            listen(err, sender, ProgramEvent::Err);
        }
        let packs = job.fetch.map(|(git_dir, _)| git_dir.join("objects/pack"));
        let size = |prefix| packs.as_deref().map_or(0, |packs| bytes_in(packs, prefix));
        let before = size("pack-");
        let bar = job.fetch.map(|(_, shown)| Bar::new(self.reporter, shown));
        let result = self.follow(&mut child, &heard, url, job, || size("tmp_pack_"));
        drop(bar);
        let (status, out, err) = result?;
        if !status.success() {
            return Err(ProgramError::Said(String::from_utf8_lossy(&err).into_owned()));
        }
        // Data may arrive faster than it is checked.
        if job.fetch.is_some() && size("pack-").saturating_sub(before) > job.limit {
            return Err(ProgramError::TooLarge);
        }
        Ok(out)
    }

    /// Waits until the program ends. Ends it if no more data arrives, if too much arrives, or if the user
    /// interrupts.
    fn follow(
        &self,
        child: &mut Child,
        heard: &Receiver<ProgramEvent>,
        url: &str,
        job: &ProgramRun<'_>,
        so_far: impl Fn() -> u64,
    ) -> Result<(ExitStatus, Vec<u8>, Vec<u8>), ProgramError> {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut come = 0;
        let mut last = Instant::now();
        let mut looked = Instant::now();
        loop {
            let mut quiet = false;
            match heard.recv_timeout(TICK) {
                Ok(ProgramEvent::Out(bytes)) => match job.whole {
                    Some(limit) if out.len() + bytes.len() > limit => {
                        end(child);
                        return Err(ProgramError::TooLarge);
                    }
                    Some(_) => out.extend_from_slice(&bytes),
                    None => keep(&mut out, &bytes),
                },
                Ok(ProgramEvent::Err(bytes)) => keep(&mut err, &bytes),
                Err(RecvTimeoutError::Timeout) => quiet = true,
                Err(RecvTimeoutError::Disconnected) => {
                    // The output is complete: the program ends now, or hangs.
                    if let Some(status) = ended(child, LINGER) {
                        return Ok((status, out, err));
                    }
                    end(child);
                    return Err(silent(url, LINGER).into());
                }
            }
            let now = Instant::now();
            if !quiet {
                last = now;
            }
            if now.duration_since(looked) >= TICK {
                looked = now;
                let bytes = so_far();
                if bytes > come {
                    self.reporter.download_progressed(bytes - come);
                    come = bytes;
                    last = now;
                }
                if job.fetch.is_some() && bytes > job.limit {
                    end(child);
                    return Err(ProgramError::TooLarge);
                }
                // A helper that git started may keep the pipes open. They hold all output of git itself,
                // which may not have been read yet.
                if quiet && let Ok(Some(status)) = child.try_wait() {
                    let until = now + GRACE;
                    while let Ok(said) = heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
                        match said {
                            ProgramEvent::Out(bytes) => keep(&mut out, &bytes),
                            ProgramEvent::Err(bytes) => keep(&mut err, &bytes),
                        }
                    }
                    return Ok((status, out, err));
                }
            }
            let timeout = self.settings.http.timeout;
            if !timeout.is_zero() && now.duration_since(last) > timeout {
                end(child);
                return Err(silent(url, timeout).into());
            }
            if interrupt::asked() || self.reporter.is_stopped() {
                end(child);
                return Err(Error::network(format!("the fetch of `{url}` was stopped")).into());
            }
        }
    }
}

/// The configuration for each run. It overrides the user's, which applies to everything else: logins, keys,
/// proxies, certificates, other names for servers.
const CONFIG: &[(&str, &str)] = &[
    ("core.askPass", ""),
    ("core.fsmonitor", "false"),
    ("core.hooksPath", if cfg!(windows) { "NUL" } else { "/dev/null" }),
    ("credential.interactive", "false"),
    ("fetch.fsckObjects", "true"),
    ("fetch.prune", "false"),
    ("fetch.pruneTags", "false"),
    ("fetch.recurseSubmodules", "false"),
    // One pack for each fetch, however small: it is complete or absent.
    ("fetch.unpackLimit", "1"),
    ("fetch.writeCommitGraph", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
];

pub(super) fn environment(env: &Env, schemes: &str) -> BTreeMap<OsString, OsString> {
    let passed = |name: &OsStr| match name.to_str() {
        Some("SSH_ASKPASS" | "LANGUAGE") => false,
        Some(name) if name.starts_with("LC_") => false,
        Some(name) if name.starts_with("GIT_") => PASSED.contains(&name),
        _ => true,
    };
    let mut vars = env.vars.clone();
    vars.retain(|name, _| passed(name));
    // It locates git itself, and the programs that git starts.
    vars.insert("PATH".into(), env.program_path());
    for (name, value) in [
        // Its messages are parsed, so they must be in English.
        ("LC_ALL", "C"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_ASKPASS", ""),
        ("SSH_ASKPASS_REQUIRE", "never"),
        ("GCM_INTERACTIVE", "never"),
        // This overrides `protocol.*.allow` in any configuration.
        ("GIT_ALLOW_PROTOCOL", schemes),
        // Missing objects are fetched all at once, or not at all.
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
    ] {
        vars.insert(name.into(), value.into());
    }
    vars
}

fn not_started(url: &str, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        return Error::network(format!("`{url}` is fetched with `git`, which was not found"))
            .hint("install git, or add its directory to `PATH`")
            .hint("without it, skills still come from GitHub (`owner/repo`), archives, directories and git repositories on this machine");
    }
    Error::io("failed to start `git`").because(error).hint("check the program that `PATH` leads to")
}

fn silent(url: &str, timeout: Duration) -> Error {
    Error::network(format!("`{url}` sent nothing for {} seconds", timeout.as_secs()))
        .hint("try again, or set `SKILLPM_HTTP_TIMEOUT` to more seconds")
}

/// Appends `bytes`, and drops the start of what is too long: the end is what matters.
fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(bytes);
    if kept.len() > KEPT {
        kept.drain(..kept.len() - KEPT / 2);
    }
}

/// Passes on what arrives from `from`, on a separate thread, until its end.
fn listen(from: impl Read + Send + 'static, to: Sender<ProgramEvent>, as_what: fn(Vec<u8>) -> ProgramEvent) {
    thread::spawn(move || pass_on(from, |piece| to.send(as_what(piece)).is_ok()));
}

/// Returns the request that a run of git with `args` sends to a server, if any.
fn asks_server(args: &[OsString]) -> Option<&'static str> {
    ["git fetch", "git ls-remote"].into_iter().find(|method| {
        let name = method.split(' ').nth(1);
        args.iter().any(|arg| arg.to_str() == name)
    })
}

/// Returns the address of a repository without its name and password; `git@` of ssh is not a secret.
fn without_login(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let host = match authority.rsplit_once('@') {
        Some((login, host)) if scheme.starts_with("http") || login.contains(':') => host,
        _ => authority,
    };
    format!("{scheme}://{host}{path}")
}

/// A progress bar for a download, removed when dropped.
struct Bar<'a>(&'a dyn Reporter);

impl<'a> Bar<'a> {
    fn new(reporter: &'a dyn Reporter, what: &str) -> Self {
        reporter.download_started(what, None);
        Self(reporter)
    }
}

impl Drop for Bar<'_> {
    fn drop(&mut self) {
        self.0.download_finished();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_login_is_shown() {
        for (url, shown) in [
            ("https://ann:pw@h.test/r.git?x=1", "https://h.test/r.git"),
            ("https://token@h.test/r", "https://h.test/r"),
            ("ssh://git@h.test:22/r", "ssh://git@h.test:22/r"),
            ("ssh://git:pw@h.test/r", "ssh://h.test/r"),
            ("git@h.test:o/r", "git@h.test:o/r"),
            ("file:///a@b/c", "file:///a@b/c"),
        ] {
            assert_eq!(without_login(url), shown);
        }
    }

    /// THREATS 6.8: nothing that refers to another repository, injects configuration, traces or asks.
    #[test]
    fn the_environment_is_scrubbed() {
        let vars = [
            ("GIT_DIR", "/x"),
            ("GIT_WORK_TREE", "/x"),
            ("GIT_INDEX_FILE", "/x"),
            ("GIT_OBJECT_DIRECTORY", "/x"),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/x"),
            ("GIT_CONFIG", "/x"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.sshCommand"),
            ("GIT_CONFIG_VALUE_0", "touch x"),
            ("GIT_CONFIG_PARAMETERS", "'x'='y'"),
            ("GIT_ALLOW_PROTOCOL", "ext"),
            ("GIT_TRACE_CURL", "1"),
            ("GIT_ASKPASS", "/ask"),
            ("SSH_ASKPASS", "/ask"),
            ("LC_MESSAGES", "de_DE"),
            ("LANGUAGE", "de"),
            ("GIT_SSH_COMMAND", "ssh -i key"),
            ("GIT_CONFIG_GLOBAL", "/g"),
            ("SSH_AUTH_SOCK", "/s"),
            ("HTTPS_PROXY", "http://p"),
            ("PATH", "/bin"),
        ];
        let vars = vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let env = Env { vars, ..Env::default() };
        let shown: Vec<_> = environment(&env, "https:ssh")
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(
            shown,
            [
                "GCM_INTERACTIVE=never",
                "GIT_ALLOW_PROTOCOL=https:ssh",
                "GIT_ASKPASS=",
                "GIT_CONFIG_GLOBAL=/g",
                "GIT_NO_LAZY_FETCH=1",
                "GIT_NO_REPLACE_OBJECTS=1",
                "GIT_SSH_COMMAND=ssh -i key",
                "GIT_TERMINAL_PROMPT=0",
                "HTTPS_PROXY=http://p",
                "LC_ALL=C",
                "PATH=/bin",
                "SSH_ASKPASS_REQUIRE=never",
                "SSH_AUTH_SOCK=/s",
            ]
        );
    }

    #[test]
    fn output_without_end_is_cut() {
        let mut kept = Vec::new();
        for _ in 0..100 {
            keep(&mut kept, &vec![b'x'; 1 << 18]);
        }
        keep(&mut kept, b"end");
        assert!(kept.len() <= KEPT && kept.ends_with(b"end"));
    }
}
