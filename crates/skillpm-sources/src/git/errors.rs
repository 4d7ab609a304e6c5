//! Interpretation of the `git` program's error output, and the part of it that may be shown.

use std::fmt;

use super::names::ls_remote;
use crate::error::Error;
use crate::text::{visible, without_secrets};

/// The number of lines of git's own output to show.
const LINES: usize = 6;

/// The meaning of a failure of the program, where that changes the reaction or the advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The server has no such branch, tag or commit.
    NoRevision,
    /// The server does not serve commits by their ids.
    NotServed,
    /// An HTTP server that only serves files and does not support shallow fetches.
    OnlyFiles,
    /// The repository does not exist, or is not visible.
    NoRepository,
    /// The server is not a git server.
    NoGit,
    /// A login is required but missing.
    NoLogin,
    /// The login is not accepted.
    WrongLogin,
    /// Access denied, with or without a login.
    NoAccess,
    /// The key of an ssh server is unknown, or has changed.
    HostKey,
    /// The certificate of the server is not trusted.
    Certificate,
    /// The server cannot be reached, or the connection broke.
    Unreachable,
    /// A repository with SHA-256 object ids.
    Sha256,
    /// An address that leads to a program or to files of this machine.
    Forbidden,
    /// An object that no repository may have.
    Fsck,
    /// Anything else, including local damage.
    Other,
}

/// Phrases of git, in the C locale, and their meaning. The first match counts: git ends every message about a connection
/// with one of the last phrases.
const WORDS: &[(&str, Meaning)] = &[
    ("couldn't find remote ref", Meaning::NoRevision),
    ("not our ref", Meaning::NoRevision),
    ("unadvertised object", Meaning::NotServed),
    ("dumb http transport does not support", Meaning::OnlyFiles),
    ("mismatched algorithms", Meaning::Sha256),
    ("transport '' not allowed", Meaning::Forbidden),
    ("fsck error", Meaning::Fsck),
    ("host key verification failed", Meaning::HostKey),
    ("terminal prompts disabled", Meaning::NoLogin),
    ("unable to get password from user", Meaning::NoLogin),
    ("permission denied (", Meaning::NoLogin),
    ("authentication failed", Meaning::WrongLogin),
    ("returned error: 403", Meaning::NoAccess),
    ("repository '' not found", Meaning::NoRepository),
    ("repository not found", Meaning::NoRepository),
    ("could not be found", Meaning::NoRepository),
    ("does not appear to be a git repository", Meaning::NoRepository),
    ("is this a git repository?", Meaning::NoGit),
    ("certificate", Meaning::Certificate),
    ("fatal: unable to access", Meaning::Unreachable),
    ("could not read from remote repository", Meaning::Unreachable),
    ("remote end hung up", Meaning::Unreachable),
    ("early eof", Meaning::Unreachable),
    ("rpc failed", Meaning::Unreachable),
];

/// Returns what `text`, the program's standard error, means.
pub(super) fn meaning(text: &str) -> Meaning {
    let text = unquoted(&text.to_ascii_lowercase());
    WORDS.iter().find(|(words, _)| text.contains(words)).map_or(Meaning::Other, |(_, meaning)| *meaning)
}

/// Returns `text` without its quoted parts: a repository may be called `certificate`.
fn unquoted(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\'') {
        let (before, after) = rest.split_at(at + 1);
        kept.push_str(before);
        rest = after;
        // The quote in `couldn't` opens nothing.
        let opens = !before[..at].ends_with(char::is_alphanumeric);
        if let Some(end) = after.find('\'').filter(|_| opens) {
            kept.push('\'');
            rest = &after[end + 1..];
        }
    }
    kept.push_str(rest);
    kept
}

/// Git's own output, as the cause of an error: without progress, general advice, secrets and control
/// characters.
#[derive(Debug)]
pub(super) struct Words(String);

impl Words {
    pub(super) fn of(text: &str) -> Option<Self> {
        let dull = |line: &&str| {
            line.is_empty()
                || line.starts_with("hint:")
                || line.starts_with("warning: filtering not recognized")
                || line.starts_with("Please make sure you have the correct access rights")
                || line.starts_with("and the repository exists.")
                || line.to_ascii_lowercase().contains("authorization:")
        };
        // Progress overwrites one line again and again, with carriage returns. ssh ends each line with one.
        let lines: Vec<&str> = text
            .split('\n')
            .map(str::trim)
            .filter(|line| !line.contains('\r'))
            .filter(|line| !dull(line))
            .collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        let text: Vec<String> = last
            .iter()
            .map(|line| {
                let line = line.strip_prefix("fatal: ").unwrap_or(line);
                let line: String = line.chars().take(500).collect();
                visible(&without_secrets(&line)).into_owned()
            })
            .collect();
        (!text.is_empty()).then(|| Self(format!("git says: {}", text.join("; "))))
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Words {}

/// Returns the error for a fetch of `url` that failed with `text`.
pub(super) fn error(url: &str, text: &str) -> Error {
    let meaning = meaning(text);
    let host = host(url);
    let ssh = !url.starts_with("http");
    let error = match meaning {
        Meaning::Sha256 => return sha256(),
        Meaning::NoRevision | Meaning::NotServed => {
            Error::usage(format!("`{url}` has no such revision"))
                .hint("name a tag, a branch or a commit of it")
        }
        Meaning::NoRepository => {
            Error::network(format!("the repository `{url}` was not found, or is private")).hint(if ssh {
                "check the spelling, and that your ssh key may read it"
            } else {
                "check the spelling; for a private one, git needs a login from a credential helper"
            })
        }
        Meaning::NoGit => Error::network(format!("`{url}` is not a git repository"))
            .hint("check the address; a proxy or a login page may be in the way"),
        Meaning::NoLogin if ssh => Error::network(format!("`{host}` does not accept your ssh key"))
            .hint(format!("add a key to the ssh agent, or try it by hand: `{}`", ls_remote(url))),
        Meaning::NoLogin => Error::network(format!("`{host}` requires a login for `{url}`")).hint(
            "skillpm does not ask for logins: store one with a credential helper of git, or use the ssh address",
        ),
        Meaning::WrongLogin => Error::network(format!("`{host}` does not accept the login for `{url}`"))
            .hint("renew it in the credential helper of git, and check that it may read the repository"),
        Meaning::NoAccess => Error::network(format!("`{host}` does not allow access to `{url}`")).hint(
            "check the address, and that the login in the credential helper of git may read the repository",
        ),
        Meaning::HostKey => Error::network(format!("the ssh key of `{host}` is not known, or has changed"))
            .hint(format!(
                "compare it with what the host publishes, and accept it by hand: `{}`",
                ls_remote(url)
            )),
        Meaning::Certificate => Error::network(format!("the certificate of `{host}` is not trusted"))
            .hint("add its authority to the system, or to `http.sslCAInfo` of git"),
        Meaning::Unreachable => Error::network(format!("`{host}` cannot be reached, or the connection broke"))
            .hint("check the address and the connection, and try again"),
        Meaning::Forbidden => {
            Error::network(format!("git rewrites `{url}` to an address that skillpm does not use"))
                .hint("`url.*.insteadOf` in git's configuration may only name https, http and ssh addresses")
        }
        Meaning::Fsck => Error::integrity(format!("`{url}` has an object that no repository may have"))
            .hint("`git fsck` in a clone of it names the object"),
        Meaning::OnlyFiles | Meaning::Other => Error::network(format!("`{url}` cannot be fetched"))
            .hint(format!("try it by hand: `{}`", ls_remote(url))),
    };
    match Words::of(text) {
        Some(words) => error.because(words),
        None => error,
    }
}

/// Returns the error for repositories with object ids that libgit2 does not read.
pub(super) fn sha256() -> Error {
    Error::usage("repositories with SHA-256 object ids cannot be read yet")
        .hint("use an archive of it, or a repository with SHA-1 ids")
}

/// Returns the host in an address.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    if url.contains("://") { host } else { host.split(':').next().unwrap_or(host) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_progress_and_advice() {
        let text = "remote: Counting objects:  50%\rremote: Counting objects: 100%, done.\n\
                    hint: do this\nssh: connect: refused\r\nremote: \u{1b}[31mno\nAuthorization: Basic abc\n\
                    fatal: unable to access 'https://u:p@h/r/'\n\n";
        let words = Words::of(text).expect("some").to_string();
        assert_eq!(
            words,
            "git says: ssh: connect: refused; remote: \\u{1b}[31mno; unable to access 'https://…@h/r/'"
        );
        assert!(Words::of("\n").is_none());
    }

    /// Output of git 2.47 and ssh 9.2 in the C locale.
    #[test]
    fn meanings() {
        for (text, expected) in [
            ("fatal: couldn't find remote ref refs/tags/v9", Meaning::NoRevision),
            ("fatal: remote error: upload-pack: not our ref 00000", Meaning::NoRevision),
            ("error: Server does not allow request for unadvertised object 11", Meaning::NotServed),
            ("fatal: could not read Username for 'http://h': terminal prompts disabled", Meaning::NoLogin),
            ("fatal: Authentication failed for 'http://h/r.git/'", Meaning::WrongLogin),
            (
                "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.",
                Meaning::NoLogin,
            ),
            ("fatal: repository 'http://h/r.git/' not found", Meaning::NoRepository),
            ("fatal: mismatched algorithms: client sha1; server sha256", Meaning::Sha256),
            ("fatal: transport 'ext' not allowed", Meaning::Forbidden),
            ("Host key verification failed.\nfatal: Could not read", Meaning::HostKey),
            ("fatal: unable to access 'https://h/': Could not resolve host: h", Meaning::Unreachable),
            (
                "ssh: connect to host h port 22: No route\nfatal: Could not read from remote repository.",
                Meaning::Unreachable,
            ),
            ("error: RPC failed; curl 18 transfer closed\nfatal: early EOF", Meaning::Unreachable),
            ("fatal: unable to access 'http://certificate/': Failed to connect to x", Meaning::Unreachable),
            ("remote: You are not allowed to download code\nerror: 403", Meaning::Other),
            ("fatal: bad object 0000", Meaning::Other),
        ] {
            assert_eq!(meaning(text), expected, "{text}");
        }
    }

    #[test]
    fn hosts() {
        for (url, expected) in
            [("https://h.example:8443/r", "h.example:8443"), ("git@h:r", "h"), ("ssh://u@h:22/r", "h:22")]
        {
            assert_eq!(host(url), expected);
        }
    }
}
