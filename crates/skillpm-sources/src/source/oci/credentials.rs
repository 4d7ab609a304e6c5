//! Logins for OCI registries: skillpm's own, docker's and podman's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;

use super::helper;
use crate::env;
use crate::error::Result;
use crate::fs::read_capped;
use crate::http::{Credential, Login, Url};
use crate::reporter::Reporter;
use crate::settings::Settings;
use crate::spec::OciRepository;

/// The largest file of logins that is read, in bytes.
const FILE_BYTES: u64 = 4 << 20;
/// The name for a token that has none: registries look at the token alone.
const ANY_NAME: &str = "token";
/// The name with which helpers return a refresh token.
const REFRESH_NAME: &str = "<token>";
/// Docker Hub, and what its logins are kept under.
const HUB: &str = "docker.io";
const HUB_KEYS: [&str; 2] = ["index.docker.io", HUB];

/// A login. It has no `Debug`: no secret must get into a log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Secret {
    /// A name and a password, as the value of a header.
    Basic(String),
    /// A token with which the server of tokens gives others.
    Refresh(String),
    /// A token for the registry itself, as the value of a header.
    Bearer(String),
}

/// The state of the login for a repository.
#[derive(Default)]
pub(super) struct FoundLogin {
    /// The login, if there is one, and where it was found.
    pub(super) login: Option<(Secret, String)>,
    /// Why places could not be read, as sentences.
    pub(super) problems: Vec<String>,
}

/// Looks for the login for `repository`, whose registry is at `base`: skillpm's own, then docker's, then podman's.
pub(super) fn find(
    settings: &Settings,
    reporter: &dyn Reporter,
    base: &Url,
    repository: &OciRepository,
) -> Result<FoundLogin> {
    let mut found = FoundLogin::default();
    let own = Login::find(settings, base)?;
    if let Some(credential) = own.credential() {
        if let Some(exposure) = own.exposure() {
            reporter.warning(exposure);
        }
        found.login = Some((of_own(credential), own.found().to_owned()));
        return Ok(found);
    }
    for path in files(settings) {
        let bytes = match read_capped(&path, FILE_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => continue,
            Err(error) => {
                found.problems.push(error.to_string());
                continue;
            }
        };
        let Ok(file) = serde_json::from_slice::<AuthFile>(&bytes) else {
            found.problems.push(format!("`{}` is not a file of logins", path.display()));
            continue;
        };
        let place = path.display().to_string();
        let ask = |name: &str, key: &str| helper::ask(&settings.env, name, key);
        if let Some((secret, from)) = file.find(repository, &ask, &mut found.problems) {
            found.login = Some((secret, from.unwrap_or_else(|| format!("the login in `{place}`"))));
            return Ok(found);
        }
    }
    Ok(found)
}

/// Returns the files of docker and podman that may have logins, in the order in which they are read.
fn files(settings: &Settings) -> Vec<PathBuf> {
    let env = &settings.env;
    let home = |dir: &str| settings.home.as_ref().map(|home| home.join(dir));
    let docker = env.path(env::DOCKER_CONFIG).or_else(|| home(".docker")).map(|dir| dir.join("config.json"));
    let podman = if let Some(file) = env.path(env::REGISTRY_AUTH_FILE) {
        vec![file]
    } else {
        let config = env.path(env::XDG_CONFIG_HOME).or_else(|| home(".config"));
        let dirs = [env.path(env::XDG_RUNTIME_DIR), config];
        dirs.into_iter().flatten().map(|dir| dir.join("containers/auth.json")).collect()
    };
    docker.into_iter().chain(podman).collect()
}

/// Returns skillpm's own token or password as a login. A token `NAME:PASSWORD` is both.
fn of_own(credential: &Credential) -> Secret {
    let Some(token) = credential.value.strip_prefix("Bearer ") else {
        return Secret::Basic(credential.value.clone());
    };
    match token.split_once(':') {
        Some((name, password)) => basic(name, password),
        None => basic(ANY_NAME, token),
    }
}

fn basic(name: &str, password: &str) -> Secret {
    Secret::Basic(format!("Basic {}", BASE64_STANDARD.encode(format!("{name}:{password}"))))
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct AuthFile {
    auths: BTreeMap<String, AuthEntry>,
    creds_store: String,
    cred_helpers: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AuthEntry {
    auth: String,
    username: String,
    password: String,
    identitytoken: String,
    registrytoken: String,
}

type Asked = std::result::Result<Option<helper::Answer>, String>;

impl AuthFile {
    /// Returns the login for `repository`, and the helper that gave it. Notes in `problems` why a helper gave none.
    fn find(
        &self,
        repository: &OciRepository,
        ask: &dyn Fn(&str, &str) -> Asked,
        problems: &mut Vec<String>,
    ) -> Option<(Secret, Option<String>)> {
        let keys = keys(repository);
        let helper = |key: &String| self.cred_helpers.iter().find(|(written, _)| plain(written) == key);
        let own = keys.iter().find_map(helper).map(|(written, name)| (name, written));
        let stored = (!self.creds_store.is_empty()).then_some(&self.creds_store);
        // Docker asks its store for all registries, by the key under which it has put them there.
        let stored = stored.map(|name| (name, self.written(repository.registry())));
        let helpers = own.map(|(name, key)| (name, key.clone())).into_iter().chain(stored);
        for (name, key) in helpers {
            match ask(name, &key) {
                Ok(Some(answer)) => {
                    let place = format!("the login from `docker-credential-{name}`");
                    return Some((of_helper(answer), Some(place)));
                }
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
        let entry = |key: &String| {
            let mut entries = self.auths.iter().filter(|(written, _)| plain(written) == key);
            entries.find_map(|(_, entry)| entry.secret())
        };
        keys.iter().find_map(entry).map(|secret| (secret, None))
    }

    /// Returns the key under which the login for `registry` is kept, as it is written.
    fn written(&self, registry: &str) -> String {
        let is_of = |written: &&String| {
            plain(written) == registry || registry == HUB && HUB_KEYS.contains(&plain(written))
        };
        match self.auths.keys().find(is_of) {
            Some(written) => written.clone(),
            None if registry == HUB => "https://index.docker.io/v1/".to_owned(),
            None => registry.to_owned(),
        }
    }
}

fn of_helper(answer: helper::Answer) -> Secret {
    if answer.username == REFRESH_NAME {
        Secret::Refresh(answer.secret)
    } else {
        basic(&answer.username, &answer.secret)
    }
}

impl AuthEntry {
    fn secret(&self) -> Option<Secret> {
        if !self.registrytoken.is_empty() {
            return Some(Secret::Bearer(format!("Bearer {}", self.registrytoken)));
        }
        if !self.identitytoken.is_empty() {
            return Some(Secret::Refresh(self.identitytoken.clone()));
        }
        if !self.username.is_empty() {
            return Some(basic(&self.username, &self.password));
        }
        let text = String::from_utf8(BASE64_STANDARD.decode(self.auth.trim()).ok()?).ok()?;
        let (name, password) = text.split_once(':')?;
        let password = password.trim_end_matches('\0');
        (!name.is_empty()).then(|| basic(name, password))
    }
}

/// Returns the keys of `repository` in a file of logins, the closest first: podman's may be the beginning of a path.
fn keys(repository: &OciRepository) -> Vec<String> {
    let mut keys = Vec::new();
    let mut key = format!("{}/{}", repository.registry(), repository.name());
    while let Some(at) = key.rfind('/') {
        keys.push(key.clone());
        key.truncate(at);
    }
    if key == HUB {
        keys.extend(HUB_KEYS.map(ToOwned::to_owned));
    } else {
        keys.push(key);
    }
    keys
}

/// Returns a key without what docker writes around it: a scheme, and behind one the version of a protocol. Without a
/// scheme, `/v2` is the name of a repository.
fn plain(key: &str) -> &str {
    let Some(key) = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")) else {
        return key.trim_end_matches('/');
    };
    let key = key.trim_end_matches('/');
    key.strip_suffix("/v1").or_else(|| key.strip_suffix("/v2")).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(text: &str) -> OciRepository {
        OciRepository::new(text).expect(text)
    }

    /// The name and the password that are found, or the kind of another secret.
    fn found(file: &str, text: &str, helper: &dyn Fn(&str, &str) -> Asked) -> Option<String> {
        let file: AuthFile = serde_json::from_str(file).expect("a file of logins");
        let (secret, _) = file.find(&repository(text), helper, &mut Vec::new())?;
        Some(match secret {
            Secret::Basic(value) => {
                let bytes = BASE64_STANDARD.decode(value.trim_start_matches("Basic ")).expect("base64");
                String::from_utf8(bytes).expect("UTF-8")
            }
            Secret::Refresh(token) => format!("refresh {token}"),
            Secret::Bearer(token) => token,
        })
    }

    #[test]
    fn the_longest_path_wins() {
        let auth = |text: &str| BASE64_STANDARD.encode(text);
        let file = format!(
            r#"{{"auths": {{"host": {{"auth": "{}"}}, "host/a": {{"auth": "{}"}}, "host/a/b": {{"auth": "{}"}},
            "paths/v2": {{"username": "v", "password": "2"}},
            "https://other:5000/v2/": {{"username": "o", "password": "p:q"}}, "empty": {{}},
            "https://index.docker.io/v1/": {{"auth": "{}"}}}}}}"#,
            auth("h:1"),
            auth("a:2"),
            auth("b:3"),
            auth("hub:4\0\0"),
        );
        for (text, expected) in [
            ("host/x", Some("h:1")),
            ("paths/x", None),
            ("paths/v2/x", Some("v:2")),
            ("host/a/x", Some("a:2")),
            ("host/ab", Some("h:1")),
            ("host/a/b", Some("b:3")),
            ("other:5000/x", Some("o:p:q")),
            ("docker.io/acme/pdf", Some("hub:4")),
            ("empty/x", None),
            ("host:5000/x", None),
        ] {
            assert_eq!(found(&file, text, &|_, _| Ok(None)).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn tokens_and_helpers() {
        let file = r#"{"auths": {"host": {"identitytoken": "t0"}, "other": {"registrytoken": "t1"}, "https://index.docker.io/v1/": {}},
            "credsStore": "store", "credHelpers": {"https://ecr.example/v2/": "ecr", "broken": "broken"}}"#;
        let ask = |name: &str, key: &str| match (name, key) {
            ("ecr", "https://ecr.example/v2/") => {
                Ok(Some(helper::Answer { username: "AWS".to_owned(), secret: "s".to_owned() }))
            }
            ("store", "https://index.docker.io/v1/") => {
                Ok(Some(helper::Answer { username: REFRESH_NAME.to_owned(), secret: "r".to_owned() }))
            }
            ("broken", _) => Err("broken".to_owned()),
            _ => Ok(None),
        };
        for (text, expected) in [
            ("host/x", Some("refresh t0")),
            ("other/x", Some("Bearer t1")),
            ("ecr.example/x", Some("AWS:s")),
            ("docker.io/acme/x", Some("refresh r")),
            ("broken/x", None),
        ] {
            assert_eq!(found(file, text, &ask).as_deref(), expected, "{text}");
        }
    }
}
