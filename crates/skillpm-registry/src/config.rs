//! The settings of a server: a file, the environment over it, and options of the command line over both.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skillpm_sources::fs;

use serde::Deserialize;

use crate::error::{Error, Result};

/// The largest file with settings, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// The settings that are lists of texts.
const LISTS: [&str; 2] = ["trusted-issuers", "reserved-names"];
/// The start of the names of all variables.
pub(crate) const PREFIX: &str = "SKILLPM_REGISTRY_";

/// The issuer of GitHub's statements.
pub(crate) const GITHUB: &str = "https://token.actions.githubusercontent.com";

/// The settings of a server.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    /// The location of the registry: a directory, or `s3://BUCKET/PREFIX`.
    pub(crate) registry: Option<String>,
    /// The address that the server listens at.
    pub(crate) listen: SocketAddr,
    /// The address at which the server offers `/metrics`, and nothing else.
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// The address at which people and programs reach the server, such as `https://skills.example.com`.
    pub(crate) public_url: Option<String>,
    /// The file with the certificate of the server and those between it and the authority, in PEM.
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The file with the private key of the certificate, in PEM.
    pub(crate) tls_key: Option<PathBuf>,
    /// Who may read: `public` or `token`.
    pub(crate) read: ReadAccess,
    /// How often what other servers published is looked for, in seconds.
    pub(crate) refresh_seconds: u64,
    /// Limits of requests.
    pub(crate) limits: Limits,
    /// The bucket, for a registry at `s3://`.
    pub(crate) bucket: BucketSettings,
    /// The addresses of the issuers whose statements about CI jobs are accepted.
    pub(crate) trusted_issuers: Vec<String>,
    /// Names that cannot be published.
    pub(crate) reserved_names: Vec<String>,
    /// Whether requests come through a proxy that sets `X-Forwarded-For`.
    pub(crate) behind_proxy: bool,
}

/// Who may read a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReadAccess {
    /// Every client.
    #[default]
    Public,
    /// The holders of a token of an account.
    Token,
}

/// Limits of requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Limits {
    /// The largest archive that is published, in bytes.
    pub(crate) archive_bytes: u64,
    /// Requests of one client for each minute.
    pub(crate) requests_per_minute: u32,
    /// Publications of one account for each hour.
    pub(crate) publishes_per_hour: u32,
    /// Connections at the same time.
    pub(crate) connections: usize,
    /// Connections of one address at the same time; not counted behind a proxy.
    pub(crate) connections_per_address: usize,
    /// How long a client may take to send the head of a request, in seconds.
    pub(crate) head_seconds: u64,
    /// How long a request may take, its body included, and how long a client may take nothing of an answer, in seconds.
    pub(crate) request_seconds: u64,
    /// Skills that one account may own.
    pub(crate) skills_per_account: usize,
}

/// How a bucket is reached. What is left out comes from the usual variables: `AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BucketSettings {
    /// The address of a store other than Amazon's.
    pub(crate) endpoint: Option<String>,
    /// The region.
    pub(crate) region: Option<String>,
    /// Whether the store may be reached without encryption.
    pub(crate) allow_http: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            registry: None,
            listen: SocketAddr::from(([127, 0, 0, 1], 8750)),
            metrics_listen: None,
            public_url: None,
            tls_certificate: None,
            tls_key: None,
            read: ReadAccess::Public,
            refresh_seconds: 1,
            limits: Limits::default(),
            bucket: BucketSettings::default(),
            trusted_issuers: vec![GITHUB.to_owned()],
            reserved_names: Vec::new(),
            behind_proxy: false,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            archive_bytes: 32 << 20,
            requests_per_minute: 6_000,
            publishes_per_hour: 600,
            connections: 16_384,
            connections_per_address: 1_024,
            head_seconds: 10,
            request_seconds: 120,
            skills_per_account: 1_000,
        }
    }
}

impl Limits {
    /// Returns how long a client may take to send the head of a request.
    pub(crate) fn head_time(&self) -> Duration {
        Duration::from_secs(self.head_seconds)
    }

    /// Returns how long a request may take.
    pub(crate) fn request_time(&self) -> Duration {
        Duration::from_secs(self.request_seconds)
    }
}

impl Config {
    /// Reads the settings: those of the file at `path`, if it is given, and over them those of the variables `env`, named
    /// without their prefix.
    pub(crate) fn read(path: Option<&Path>, env: &BTreeMap<String, String>) -> Result<Self> {
        let mut table = match path {
            Some(path) => {
                let Some(bytes) = fs::read_capped(path, MAX_FILE)? else {
                    return Err(Error::config(format!("`{}` does not exist", path.display())));
                };
                let text = String::from_utf8_lossy(&bytes);
                let wrong = |error: toml::de::Error| Error::config(format!("`{}`: {error}", path.display()));
                // As settings first: these errors have lines.
                toml::from_str::<Self>(&text).map_err(wrong)?;
                toml::from_str(&text).map_err(wrong)?
            }
            None => toml::Table::new(),
        };
        for (key, value) in env {
            set(&mut table, key, value);
            // One at a time, so that the error can name the wrong one.
            if let Err(error) = table.clone().try_into::<Self>() {
                return Err(Error::config(format!("`{PREFIX}{key}`: {}", error.message())));
            }
        }
        table.try_into().map_err(|error: toml::de::Error| Error::config(error.message().to_owned()))
    }
}

/// Sets the setting that the variable `key` means, without its prefix: `LIMITS_ARCHIVE_BYTES` is `archive-bytes` in `[limits]`.
fn set(table: &mut toml::Table, key: &str, value: &str) {
    let key = key.to_ascii_lowercase().replace('_', "-");
    let of = |section: &str| {
        key.strip_prefix(section).map(|key| (section.trim_end_matches('-').to_owned(), key.to_owned()))
    };
    let value = if LISTS.contains(&&*key) { list(value) } else { parsed(value) };
    match of("limits-").or_else(|| of("bucket-")) {
        Some((section, key)) => {
            let section = table.entry(section).or_insert_with(|| toml::Table::new().into());
            if let Some(section) = section.as_table_mut() {
                section.insert(key, value);
            }
        }
        None => drop(table.insert(key, value)),
    }
}

/// Returns the texts of a list in a variable, which has commas between them.
fn list(text: &str) -> toml::Value {
    text.split(',').map(str::trim).filter(|text| !text.is_empty()).collect::<Vec<_>>().into()
}

/// Returns the value in a variable: a number, `true`, `false` or a text.
fn parsed(text: &str) -> toml::Value {
    match (text.parse::<i64>(), text) {
        (Ok(number), _) => number.into(),
        (_, "true") => true.into(),
        (_, "false") => false.into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, env: &[(&str, &str)]) -> Result<Config> {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("settings.toml");
        fs::write_atomic(&path, text.as_bytes()).expect("is written");
        let env = env.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        Config::read(Some(&path), &env)
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let text = "registry = \"a\"\nread = \"public\"\n[limits]\narchive-bytes = 1\nconnections = 7\n";
        let env = [
            ("REGISTRY", "s3://bucket/skills/"),
            ("READ", "token"),
            ("LIMITS_ARCHIVE_BYTES", "9"),
            ("RESERVED_NAMES", "pdf, docx"),
            ("TRUSTED_ISSUERS", "https://ci.example.com"),
            ("BUCKET_ALLOW_HTTP", "true"),
        ];
        let config = read(text, &env).expect("settings");
        assert_eq!((config.limits.archive_bytes, config.limits.connections), (9, 7));
        assert_eq!((config.read, config.bucket.allow_http), (ReadAccess::Token, true));
        assert_eq!(config.reserved_names, ["pdf", "docx"]);
        assert_eq!(config.trusted_issuers, ["https://ci.example.com"]);
        assert_eq!(config.registry.as_deref(), Some("s3://bucket/skills/"));
    }

    /// The names that are accepted in `section`, as an error about another one lists them.
    fn accepted(section: &str) -> Vec<String> {
        let error = read(&format!("{section}\nno-setting = 1"), &[]).expect_err("an error").to_string();
        let (_, names) = error.split_once("expected one of ").expect("a list");
        let prefix = section.trim_matches(['[', ']']);
        let dot = if prefix.is_empty() { "" } else { "." };
        names.split('`').skip(1).step_by(2).map(|name| format!("{prefix}{dot}{name}")).collect()
    }

    #[test]
    fn the_reference_page_has_all_settings() {
        let page = skillpm_testing::root().join("docs/reference/registry-server.md");
        let bytes = fs::read_capped(&page, MAX_FILE).expect("is read").expect("a page");
        let page = String::from_utf8_lossy(&bytes);
        let settings = page.split("## ").find(|part| part.starts_with("Settings")).expect("the settings");
        let rows = settings.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
        let mut documented: Vec<_> = rows.map(|(name, _)| name.to_owned()).collect();
        let mut all = [accepted(""), accepted("[limits]"), accepted("[bucket]")].concat();
        all.retain(|name| name != "limits" && name != "bucket");
        documented.sort();
        all.sort();
        assert_eq!(documented, all);
    }

    #[test]
    fn wrong_settings_are_told() {
        for (text, part) in [
            ("reed = \"token\"", "reed"),
            ("read = \"nobody\"", "nobody"),
            ("[limits]\nconnections = \"many\"", "many"),
            ("listen = \"here\"", "here"),
            ("listen = ", "settings.toml"),
        ] {
            let error = read(text, &[]).expect_err("an error").to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = read("", &[("LISTEN", "here")]).expect_err("an error").to_string();
        assert!(error.contains("SKILLPM_REGISTRY_LISTEN"), "{error}");
        assert!(Config::read(Some(Path::new("/nowhere/settings.toml")), &BTreeMap::new()).is_err());
    }
}
