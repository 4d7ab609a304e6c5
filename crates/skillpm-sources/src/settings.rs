//! Settings: what flags and environment add up to, resolved once.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::env::{self, Env};
use crate::error::{Error, Result};
use crate::spec::PUBLIC_HOST;

/// Everything that verbs need to know about where and how they run. Plain data: tests make it by hand.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The working directory.
    pub cwd: PathBuf,
    /// The user's home directory; `None` in containers without one.
    pub home: Option<PathBuf>,
    /// Where skillpm keeps its own files.
    pub dirs: Dirs,
    /// GitHub, or an Enterprise server.
    pub github: GitHub,
    /// Timeouts, retries, proxies, certificates.
    pub http: Http,
    /// The policy files, which apply beside those of manifests.
    pub policies: Policies,
    /// The audit log of activations and runs.
    pub audit: Audit,
    /// No request to any host.
    pub offline: bool,
    /// The environment, for the directories that agents may move.
    pub env: Env,
}

/// Directories of skillpm's own files. Each may be missing where there is no home.
#[derive(Debug, Clone, Default)]
pub struct Dirs {
    /// `$XDG_CONFIG_HOME/skillpm`: the user's manifest and lockfile.
    pub config: Option<PathBuf>,
    /// `$XDG_DATA_HOME/skillpm`: the store.
    pub data: Option<PathBuf>,
    /// `$XDG_CACHE_HOME/skillpm`: downloads, safe to delete.
    pub cache: Option<PathBuf>,
    /// `$XDG_STATE_HOME/skillpm`: which changes this user made where, so that they can be taken back.
    pub state: Option<PathBuf>,
}

/// Files that say what may be installed, and that no project can loosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policies {
    /// That of the machine, which need not be there.
    pub machine: Option<PathBuf>,
    /// A file that was named explicitly, and must exist.
    pub named: Option<PathBuf>,
}

/// The audit log of activations and runs. The environment sets it, not a manifest: a project must not switch the log off,
/// nor choose which file is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audit {
    /// The log; `None` if it is off.
    pub file: Option<PathBuf>,
    /// Whether arguments are written down, not only their digest.
    pub arguments: bool,
    /// The id that joins the lines of one session, if it was set.
    pub session: Option<String>,
}

/// Which GitHub is meant by `owner/repo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitHub {
    /// The host in addresses that people write: `github.com`.
    pub host: String,
    /// The address of the API, without a slash at its end.
    pub api_url: String,
    /// Sent to the API's host and to no other.
    pub token: Option<String>,
}

/// How requests are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http {
    /// Without a byte for so long, a connection is given up.
    pub timeout: Duration,
    /// How often a request is tried again.
    pub retries: u32,
    /// Proxy for `https` addresses.
    pub https_proxy: Option<String>,
    /// Proxy for `http` addresses.
    pub http_proxy: Option<String>,
    /// Hosts that need no proxy.
    pub no_proxy: Vec<String>,
    /// File and directory of certificates that take the place of the system's.
    pub certificates: (Option<PathBuf>, Option<PathBuf>),
    /// Hosts that did not answer a moment ago.
    pub silent: SilentHosts,
}

/// How long it is known of a host that it does not answer.
const SILENCE: Duration = Duration::from_mins(1);

/// Hosts that did not answer a moment ago, so that one command waits for each of them once. Clones know the same.
#[derive(Debug, Clone, Default)]
pub struct SilentHosts(Arc<Mutex<Silent>>);

#[derive(Debug, Default)]
struct Silent {
    hosts: BTreeMap<String, (Instant, io::ErrorKind, String)>,
    told: BTreeSet<(String, u32)>,
}

impl SilentHosts {
    /// Returns why `host` did not answer, if that was a moment ago.
    pub fn known(&self, host: &str) -> Option<io::Error> {
        let silent = self.lock();
        let (_, kind, text) = silent.hosts.get(host).filter(|(since, ..)| since.elapsed() < SILENCE)?;
        Some(io::Error::new(*kind, text.clone()))
    }

    /// Notes why `host` did not answer.
    pub fn learn(&self, host: &str, why: &io::Error) {
        self.lock().hosts.insert(host.to_owned(), (Instant::now(), why.kind(), why.to_string()));
    }

    /// Reports whether it has not been reported yet that `host` is asked again for the time `tried`.
    pub fn is_news(&self, host: &str, tried: u32) -> bool {
        self.lock().told.insert((host.to_owned(), tried))
    }

    fn lock(&self) -> MutexGuard<'_, Silent> {
        // The content is whole, even after a panic of another thread.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Knowledge about hosts is not a setting.
impl PartialEq for SilentHosts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for SilentHosts {}

/// The longest timeout, a year: no clock can represent the end of a much longer one.
const MOST_SECONDS: u64 = 365 * 24 * 60 * 60;

impl Default for Http {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            retries: 3,
            https_proxy: None,
            http_proxy: None,
            no_proxy: Vec::new(),
            certificates: (None, None),
            silent: SilentHosts::default(),
        }
    }
}

impl Settings {
    /// Resolves the settings from the environment.
    ///
    /// # Errors
    ///
    /// Fails for a variable whose value cannot be read; the message names it.
    pub fn from_env(env: Env) -> Result<Self> {
        let home = env.path(env::HOME).or_else(|| env.path(env::USERPROFILE));
        let dir = |variable: &str, default: &str| {
            env.path(variable)
                .or_else(|| home.as_ref().map(|home| home.join(default)))
                .map(|dir| dir.join("skillpm"))
        };
        let dirs = Dirs {
            config: dir(env::XDG_CONFIG_HOME, ".config"),
            data: dir(env::XDG_DATA_HOME, ".local/share"),
            cache: dir(env::XDG_CACHE_HOME, ".cache"),
            state: dir(env::XDG_STATE_HOME, ".local/state"),
        };
        Ok(Self {
            cwd: env.cwd.clone(),
            audit: Audit::from_env(&env, &dirs)?,
            dirs,
            policies: Policies {
                machine: if cfg!(windows) {
                    env.path(env::PROGRAMDATA).map(|dir| dir.join("skillpm").join("policy.toml"))
                } else {
                    Some(PathBuf::from("/etc/skillpm/policy.toml"))
                },
                named: env.get(env::SKILLPM_POLICY).map(|path| env.cwd.join(path)),
            },
            github: GitHub::from_env(&env)?,
            http: Http::from_env(&env)?,
            offline: env.flag(env::SKILLPM_OFFLINE),
            home,
            env,
        })
    }

    /// Returns where the store is.
    pub(crate) fn store_dir(&self) -> Result<PathBuf> {
        self.dirs
            .data
            .as_ref()
            .map(|data| data.join("store-v2"))
            .ok_or_else(|| no_home("the store", Some(env::XDG_DATA_HOME)))
    }

    /// Returns the time that builds are to write into their results, in seconds from 1970; `None` if none is set.
    ///
    /// # Errors
    ///
    /// Fails if `SOURCE_DATE_EPOCH` is not a number, or later than times can be.
    pub fn source_date(&self) -> Result<Option<i64>> {
        let Some(seconds) = number(&self.env, env::SOURCE_DATE_EPOCH)? else { return Ok(None) };
        match i64::try_from(seconds) {
            Ok(seconds) if seconds <= LAST_TIME => Ok(Some(seconds)),
            _ => Err(Error::config(format!(
                "`{}` is after the year 9999: `{seconds}`",
                env::SOURCE_DATE_EPOCH
            ))
            .hint("set it to seconds since 1970, such as `git log -1 --format=%ct` prints")),
        }
    }
}

/// Returns the error for a place that needs a home directory, or the directory that the variable `instead` names, where
/// one says it.
pub fn no_home(what: &str, instead: Option<&str>) -> Error {
    let instead = instead.map(|variable| format!(" or `{variable}`")).unwrap_or_default();
    Error::config(format!("there is no place for {what}: the home directory is unknown"))
        .hint(format!("set `{}`{instead} to an absolute path", env::HOME))
}

impl GitHub {
    /// Returns the public GitHub, without a token.
    pub fn public() -> Self {
        Self { host: PUBLIC_HOST.to_owned(), api_url: "https://api.github.com".to_owned(), token: None }
    }

    fn from_env(env: &Env) -> Result<Self> {
        let host = env.get(env::GH_HOST).unwrap_or(PUBLIC_HOST).to_ascii_lowercase();
        let enterprise = host != PUBLIC_HOST;
        let api_url = match env.get(env::GITHUB_API_URL) {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None if enterprise => format!("https://{host}/api/v3"),
            None => Self::public().api_url,
        };
        let is_address = api_url.starts_with("https://") || api_url.starts_with("http://");
        // The rest of an address comes behind it.
        if !is_address || api_url.contains(['?', '#']) {
            return Err(Error::config(format!("`{}` is not an address: `{api_url}`", env::GITHUB_API_URL))
                .hint("it starts with `https://`, such as `https://ghe.example.com/api/v3`"));
        }
        let names: &[&str] = if enterprise {
            &[env::GH_ENTERPRISE_TOKEN, env::GITHUB_TOKEN, env::GH_TOKEN]
        } else {
            &[env::GITHUB_TOKEN, env::GH_TOKEN]
        };
        let token = names.iter().find_map(|name| env.get(name)).map(|token| token.trim().to_owned());
        Ok(Self { host, api_url, token })
    }
}

impl Audit {
    fn from_env(env: &Env, dirs: &Dirs) -> Result<Self> {
        let usual = || dirs.state.as_ref().map(|state| state.join("audit.jsonl"));
        let file = match env.get(env::SKILLPM_AUDIT) {
            None => usual(),
            Some(value) if Path::new(value).is_absolute() => Some(PathBuf::from(value)),
            Some(value) => match value.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => usual(),
                "0" | "false" | "no" | "off" => None,
                _ => {
                    let message = "is neither `off` nor an absolute path";
                    return Err(Error::config(format!("`{}` {message}: `{value}`", env::SKILLPM_AUDIT))
                        .hint("unset it to keep the log in your state directory"));
                }
            },
        };
        let session = env.get(env::SKILLPM_SESSION).map(ToOwned::to_owned);
        Ok(Self { file, arguments: env.flag(env::SKILLPM_AUDIT_ARGUMENTS), session })
    }
}

impl Http {
    fn from_env(env: &Env) -> Result<Self> {
        let default = Self::default();
        let either =
            |name: &str| env.get(&name.to_ascii_lowercase()).or_else(|| env.get(name)).map(ToOwned::to_owned);
        let all = either(env::ALL_PROXY);
        Ok(Self {
            timeout: number(env, env::SKILLPM_HTTP_TIMEOUT)?
                .map_or(default.timeout, |seconds| Duration::from_secs(seconds.min(MOST_SECONDS))),
            retries: number(env, env::SKILLPM_HTTP_RETRIES)?
                .map_or(default.retries, |count| u32::try_from(count.min(10)).unwrap_or(10)),
            https_proxy: either(env::HTTPS_PROXY).or_else(|| all.clone()),
            http_proxy: env.get("http_proxy").map(ToOwned::to_owned).or(all),
            no_proxy: either(env::NO_PROXY)
                .map(|hosts| {
                    hosts.split(',').map(|host| host.trim().to_owned()).filter(|h| !h.is_empty()).collect()
                })
                .unwrap_or_default(),
            certificates: (env.path(env::SSL_CERT_FILE), env.path(env::SSL_CERT_DIR)),
            silent: SilentHosts::default(),
        })
    }
}

/// The last second of the year 9999: later years have no form in RFC 3339.
const LAST_TIME: i64 = 253_402_300_799;

fn number(env: &Env, name: &str) -> Result<Option<u64>> {
    env.get(name)
        .map(|text| {
            text.parse().map_err(|_| {
                Error::config(format!("`{name}` is not a whole number: `{text}`"))
                    .hint(format!("unset `{name}` or set it to a number such as `3`"))
            })
        })
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env { vars: vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(), ..Env::default() }
    }

    #[test]
    fn the_api_follows_the_host_unless_it_is_named() {
        let github = |vars| GitHub::from_env(&env(vars)).expect("valid");
        assert_eq!(github(&[]).api_url, "https://api.github.com");
        assert_eq!(github(&[("GH_HOST", "ghe.example.com")]).api_url, "https://ghe.example.com/api/v3");
        assert_eq!(github(&[("GITHUB_API_URL", "http://127.0.0.1:1/")]).api_url, "http://127.0.0.1:1");
        for odd in ["ftp://x", "https://x/?a", "https://x#a"] {
            assert!(GitHub::from_env(&env(&[("GITHUB_API_URL", odd)])).is_err(), "{odd}");
        }
    }

    /// A moment so far off would be none.
    #[test]
    fn a_timeout_is_a_year_at_most() {
        let timeout = |seconds: &str| {
            Http::from_env(&env(&[("SKILLPM_HTTP_TIMEOUT", seconds)])).map(|http| http.timeout)
        };
        assert_eq!(timeout("7").expect("a number"), Duration::from_secs(7));
        let longest = timeout(&u64::MAX.to_string()).expect("a number");
        assert!(Instant::now().checked_add(longest).is_some());
        assert!(timeout("-1").is_err());
    }

    #[test]
    fn tokens_by_precedence() {
        let token = |vars| GitHub::from_env(&env(vars)).expect("valid").token;
        assert_eq!(token(&[("GH_TOKEN", "b"), ("GITHUB_TOKEN", "a\n")]).as_deref(), Some("a"));
        assert_eq!(token(&[("GH_TOKEN", "b")]).as_deref(), Some("b"));
        assert_eq!(token(&[("GH_ENTERPRISE_TOKEN", "c")]), None);
        assert_eq!(
            token(&[("GH_HOST", "ghe.x"), ("GH_ENTERPRISE_TOKEN", "c"), ("GH_TOKEN", "b")]).as_deref(),
            Some("c")
        );
    }

    #[test]
    fn directories_ignore_relative_values() {
        let settings =
            Settings::from_env(env(&[("HOME", "/h"), ("XDG_DATA_HOME", "rel"), ("XDG_CACHE_HOME", "/c")]))
                .expect("valid");
        assert_eq!(settings.store_dir().expect("a home"), PathBuf::from("/h/.local/share/skillpm/store-v2"));
        assert_eq!(settings.dirs.cache, Some("/c/skillpm".into()));
        assert!(Settings::from_env(env(&[])).expect("valid").store_dir().is_err());
    }

    /// Each error names only what helps for the place that was asked for.
    #[test]
    fn without_a_home_a_hint_names_what_helps() {
        let settings = Settings::from_env(env(&[])).expect("valid");
        let store = settings.store_dir().expect_err("no place");
        assert_eq!(store.hints(), ["set `HOME` or `XDG_DATA_HOME` to an absolute path"]);
        let xdg = env(&[("XDG_DATA_HOME", "/d"), ("XDG_CONFIG_HOME", "/c")]);
        let settings = Settings::from_env(xdg).expect("valid");
        assert!(settings.store_dir().is_ok());
        assert_eq!(no_home("your skills", None).hints(), ["set `HOME` to an absolute path"]);
    }

    #[test]
    fn the_audit_log_is_on_unless_it_is_switched_off() {
        let audit = |vars: &[(&str, &str)]| Settings::from_env(env(vars)).map(|settings| settings.audit);
        let file = |value: &str| audit(&[("HOME", "/h"), ("SKILLPM_AUDIT", value)]).expect("valid").file;
        let usual = Some(PathBuf::from("/h/.local/state/skillpm/audit.jsonl"));
        assert_eq!((file(""), file("on")), (usual.clone(), usual));
        assert_eq!((file("OFF"), file("0"), file("/a")), (None, None, Some("/a".into())));
        assert_eq!(audit(&[]).expect("valid").file, None, "without a home there is no place for it");
        let error = audit(&[("SKILLPM_AUDIT", "a.jsonl")]).expect_err("not absolute");
        assert!(error.to_string().starts_with("`SKILLPM_AUDIT` is neither"), "{error}");
    }

    #[test]
    fn a_wrong_number_names_its_variable() {
        let error = Settings::from_env(env(&[("SKILLPM_HTTP_RETRIES", "many")])).expect_err("not a number");
        assert!(error.to_string().contains("SKILLPM_HTTP_RETRIES"), "{error}");
    }
}
