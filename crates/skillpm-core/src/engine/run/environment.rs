//! Builds the environment of a script.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::inline::PROGRAMS;
use crate::env::{Env, join_paths, split_paths};

/// Variables that every script gets, if they are set.
const PASSED: &[&str] = &[
    "COLORTERM",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "NO_COLOR",
    "TERM",
    "TZ",
    "USER",
    // Programs on Windows do not start without these.
    "COMSPEC",
    "PATHEXT",
    "SystemRoot",
    "windir",
];

/// The variable whose value identifies the processes of a run.
pub(super) const RUN_ID: &str = "SKILLPM_RUN_ID";

/// Reports whether every script gets the variable `name`, if it is set.
pub(in crate::engine) fn is_given(name: &OsStr) -> bool {
    let is_own = ["PATH", "HOME", "TMPDIR"].iter().any(|own| *own == name);
    is_own || PASSED.iter().any(|passed| *passed == name) || name.as_encoded_bytes().starts_with(b"LC_")
}

/// The parts of a script's environment.
pub(super) struct Parts<'a> {
    /// The caller's environment.
    pub(super) env: &'a Env,
    /// The variables that were requested by name.
    pub(super) own: &'a BTreeMap<OsString, OsString>,
    /// The directories of `PATH`.
    pub(super) search: &'a [PathBuf],
    /// The virtual environment that was made for it.
    pub(super) environment: Option<&'a Path>,
    /// The skill's name, directory and version.
    pub(super) skill: (&'a str, &'a Path, Option<&'a str>),
    /// A private directory, for its home and its temporary files.
    pub(super) private: &'a Path,
    /// The ID of the run.
    pub(super) id: &'a str,
}

impl Parts<'_> {
    /// Returns all variables of the script.
    pub(super) fn join(&self) -> BTreeMap<OsString, OsString> {
        let vars = self.env.vars.iter().filter(|(name, _)| is_given(name));
        let mut vars: BTreeMap<_, _> = vars.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut set = |name: &str, value: &OsStr| vars.insert(name.into(), value.into());
        set("PATH", &join_paths(self.search));
        for name in ["HOME", "TMPDIR"] {
            set(name, self.private.as_os_str());
        }
        if cfg!(windows) {
            for name in ["USERPROFILE", "TEMP", "TMP"] {
                set(name, self.private.as_os_str());
            }
        }
        // The skill's directory must not get caches, and may not be writable.
        set("PYTHONDONTWRITEBYTECODE", OsStr::new("1"));
        vars.extend(self.own.clone());
        if let Some(environment) = self.environment {
            // Programs that it starts find the same packages.
            let before = vars.remove(OsStr::new("PATH")).unwrap_or_default();
            let dirs: Vec<_> = [environment.join(PROGRAMS)].into_iter().chain(split_paths(&before)).collect();
            vars.insert("PATH".into(), join_paths(&dirs));
            vars.insert("VIRTUAL_ENV".into(), environment.into());
        }
        // Nothing can override these.
        let (name, dir, version) = self.skill;
        let mut set = |name: &str, value: &OsStr| vars.insert(name.into(), value.into());
        set("SKILL_NAME", OsStr::new(name));
        set("SKILL_BASE_DIR", dir.as_os_str());
        set("SKILL_VERSION", OsStr::new(version.unwrap_or_default()));
        set(RUN_ID, OsStr::new(self.id));
        vars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Conflict C19: a script gets only the listed variables and the requested ones.
    #[cfg(unix)]
    #[test]
    fn nothing_else_gets_through() {
        let vars = [
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("GITHUB_TOKEN", "x"),
            ("HTTPS_PROXY", "http://user:password@proxy"),
            ("SSH_AUTH_SOCK", "/s"),
            ("LD_PRELOAD", "/evil.so"),
            ("PYTHONPATH", "/evil"),
            ("PYTHONSTARTUP", "/evil.py"),
            ("NODE_OPTIONS", "--require /evil.js"),
            ("BASH_ENV", "/evil.sh"),
            ("ENV", "/evil.sh"),
            ("PERL5OPT", "-Mevil"),
            ("HOME", "/home/me"),
            ("SKILL_NAME", "other"),
            ("LANG", "de_DE.UTF-8"),
            ("LC_ALL", "C"),
            ("TZ", "UTC"),
            ("TERM", "dumb"),
            ("PATH", "."),
        ];
        let vars = vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let env = Env { vars, ..Env::default() };
        let own = [("TOKEN", "t"), ("SKILL_BASE_DIR", "/etc")];
        let own = own.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let parts = Parts {
            env: &env,
            own: &own,
            search: &["/usr/bin".into(), "/bin".into()],
            environment: None,
            skill: ("pdf", Path::new("/s/pdf"), Some("1.0")),
            private: Path::new("/p"),
            id: "7",
        };
        let shown: Vec<_> = parts
            .join()
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(
            shown,
            [
                "HOME=/p",
                "LANG=de_DE.UTF-8",
                "LC_ALL=C",
                "PATH=/usr/bin:/bin",
                "PYTHONDONTWRITEBYTECODE=1",
                "SKILLPM_RUN_ID=7",
                "SKILL_BASE_DIR=/s/pdf",
                "SKILL_NAME=pdf",
                "SKILL_VERSION=1.0",
                "TERM=dumb",
                "TMPDIR=/p",
                "TOKEN=t",
                "TZ=UTC",
            ]
        );
    }
}
