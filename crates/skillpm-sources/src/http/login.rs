//! Which credential an origin gets, and where people put it.

use std::path::PathBuf;

use super::url::{Origin, Url};
use super::{Credential, CredentialsFile, netrc};
use crate::env;
use crate::error::{Error, Result};
use crate::fs::read_capped;
use crate::settings::Settings;

/// The largest file of passwords that is read, in bytes.
const NETRC_BYTES: u64 = 1 << 20;

/// The known ways to log in at the origin of an address.
#[derive(Debug, Clone)]
pub struct Login {
    origin: Origin,
    /// Whether a credential may be sent there at all.
    private: bool,
    /// The variable that holds its token, where a variable can be named after the host.
    variable: Option<String>,
    /// The file of passwords, and why it could not be read if it could not.
    netrc: Option<(PathBuf, Option<String>)>,
    credential: Option<Credential>,
    /// Where the credential was found.
    found: String,
    /// Why others may know the credential, if they may.
    exposure: Option<String>,
    /// The query that addresses of the origin carry.
    query: Option<String>,
}

impl Login {
    /// Looks for a credential for the origin of `url`: the token of its variable, otherwise the one that `registry login`
    /// kept, otherwise the one in the file of passwords. Over plain `http` to another machine it finds none.
    ///
    /// # Errors
    ///
    /// Fails for a token that no server can have given out, and for a file of tokens that cannot be used.
    pub fn find(settings: &Settings, url: &Url) -> Result<Self> {
        let origin = url.origin();
        let mut login = Self {
            private: url.is_private(),
            variable: variable(env::SKILLPM_TOKEN_, &origin),
            netrc: netrc_path(settings).map(|path| (path, None)),
            credential: None,
            found: String::new(),
            exposure: None,
            query: None,
            origin,
        };
        if !login.private {
            return Ok(login);
        }
        if let Some(variable) = variable(env::SKILLPM_QUERY_, &login.origin)
            && let Some(query) = settings.env.get(&variable)
        {
            let query = query.trim().trim_start_matches('?');
            if query.is_empty() || !query.bytes().all(|b| b.is_ascii_graphic() && b != b'#') {
                return Err(Error::config(format!("`{variable}` holds a character that no query has"))
                    .hint(format!("set `{variable}` to what follows `?` in the address")));
            }
            login.query = Some(query.to_owned());
        }
        if let Some(variable) = &login.variable
            && let Some(token) = settings.env.get(variable)
        {
            let token = token.trim();
            if token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(Error::config(format!(
                    "`{variable}` contains a character that tokens cannot have"
                ))
                .hint(format!("set `{variable}` to the token alone, without quotes or line breaks")));
            }
            login.credential = Some(Credential::bearer(login.origin.clone(), token));
            login.found = format!("the token in `{variable}`");
            return Ok(login);
        }
        if login.take_kept(settings)? {
            return Ok(login);
        }
        if let Some((path, problem)) = &mut login.netrc {
            let text = match read_capped(path, NETRC_BYTES) {
                Ok(bytes) => bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                // It is there for other programs, and may be meant for other hosts.
                Err(error) => {
                    *problem = Some(error.source.to_string());
                    None
                }
            };
            let host = login.origin.host.trim_start_matches('[').trim_end_matches(']');
            if let Some(entry) = text.and_then(|text| netrc::find(&text, host)) {
                let origin = login.origin.clone();
                login.credential = Some(Credential::basic(origin, &entry.login, &entry.password));
                login.found = format!("the login in `{}`", path.display());
            }
        }
        Ok(login)
    }

    /// Takes the token that was kept for the origin. Returns whether there is one.
    fn take_kept(&mut self, settings: &Settings) -> Result<bool> {
        let Some(file) = CredentialsFile::of(settings) else { return Ok(false) };
        let Some(kept) = file.read()? else { return Ok(false) };
        let Some(token) = kept.token(&self.origin.address()) else { return Ok(false) };
        self.credential = Some(Credential::bearer(self.origin.clone(), token));
        self.found = format!("the token in `{}`", file.path.display());
        self.exposure = file.exposure();
        Ok(true)
    }

    /// Returns why others may know the credential, as a sentence, if they may.
    pub fn exposure(&self) -> Option<&str> {
        self.exposure.as_deref()
    }

    /// Returns the variable for the token of the origin of `url`, if one can be named after it.
    pub fn token_variable(url: &Url) -> Option<String> {
        variable(env::SKILLPM_TOKEN_, &url.origin())
    }

    /// Returns the variable for the secret query of addresses at the origin of `url`, if one can be named after it.
    pub fn query_variable(url: &Url) -> Option<String> {
        variable(env::SKILLPM_QUERY_, &url.origin())
    }

    /// Returns `url` with the secret query that is set for its origin, if it has none of its own.
    ///
    /// # Errors
    ///
    /// Fails for a query that makes no address.
    pub fn complete(&self, url: &Url) -> Result<Url> {
        match &self.query {
            Some(query) if url.origin() == self.origin && !url.has_query() => {
                Ok(Url::parse(&format!("{}?{query}", url.secret_text()))?)
            }
            _ => Ok(url.clone()),
        }
    }

    /// Returns the credential, if there is one.
    pub fn credential(&self) -> Option<&Credential> {
        self.credential.as_ref()
    }

    /// Returns the error for an answer of `url` with `status`, 401 or 403; `detail` is the server's message.
    pub fn refused(&self, url: &Url, status: u16, detail: Option<&str>) -> Error {
        let host = url.origin();
        let why = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
        if host != self.origin {
            return Error::network(format!(
                "`{}` redirects to `{url}`, which requires a login (status {status}){why}",
                self.origin
            ))
            .hint(format!("credentials are only sent to `{host}`; use its own URL"));
        }
        let error = match (&self.credential, status) {
            (Some(_), 401) => Error::network(format!("`{host}` does not accept {}{why}", self.found)),
            (Some(_), _) => {
                Error::network(format!("`{host}` does not allow access to `{url}` with {}{why}", self.found))
            }
            (None, 401) => Error::network(format!("`{url}` requires a login{why}")),
            (None, _) => Error::network(format!("`{host}` does not allow access to `{url}`{why}")),
        };
        match (&self.credential, self.private) {
            (_, false) => error
                .hint("credentials are only sent over a secure connection: use an address with `https://`"),
            (Some(_), _) => error.hint("it may have expired, or belong to another address"),
            (None, _) => error.hint(self.how()),
        }
    }

    /// Returns where the credential was found, as a phrase.
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Returns how a credential for the host is set.
    pub fn how(&self) -> String {
        let host = &self.origin.host;
        let variable = self.variable.as_ref().map(|name| format!("set `{name}` to a token"));
        let netrc = self.netrc.as_ref().map(|(path, problem)| {
            let state = problem.as_ref().map(|why| format!(", which cannot be read ({why})"));
            format!(
                "write `machine {host} login NAME password PASSWORD` into `{}`{}",
                path.display(),
                state.unwrap_or_default()
            )
        });
        let ways: Vec<String> = variable.into_iter().chain(netrc).collect();
        if ways.is_empty() {
            "set `NETRC` to a file of names and passwords".to_owned()
        } else {
            ways.join(", or ")
        }
    }
}

/// `$NETRC`, otherwise the file in the home directory.
fn netrc_path(settings: &Settings) -> Option<PathBuf> {
    let name = if cfg!(windows) { "_netrc" } else { ".netrc" };
    settings.env.path(env::NETRC).or_else(|| settings.home.as_ref().map(|home| home.join(name)))
}

/// Returns the variable of this `kind` for `origin`: `SKILLPM_TOKEN_DOCS_EXAMPLE_COM`.
///
/// Each origin has another one: if `docs-example.com` shared that of `docs.example.com`, the owner of the one would get the
/// tokens for the other. So a dot is `_`, a hyphen `__`, and `___` stands before a port. Ambiguous hosts have no variable:
/// those with an underscore, an empty part, or a part that starts or ends with a hyphen.
fn variable(kind: &str, origin: &Origin) -> Option<String> {
    let sound = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if !origin.host.split('.').all(sound) {
        return None;
    }
    let host = origin.host.to_ascii_uppercase().replace('-', "__").replace('.', "_");
    let port = if origin.port == 443 { String::new() } else { format!("___{}", origin.port) };
    Some(format!("{kind}{host}{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    fn login(vars: &[(&str, &str)], text: &str) -> Login {
        let env =
            Env { vars: vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(), ..Env::default() };
        Login::find(&Settings::from_env(env).expect("settings"), &url(text)).expect("a login")
    }

    #[test]
    fn each_origin_has_a_variable_of_its_own() {
        let name = |text: &str| variable(env::SKILLPM_TOKEN_, &url(text).origin());
        assert_eq!(name("https://docs.Example.com/x").as_deref(), Some("SKILLPM_TOKEN_DOCS_EXAMPLE_COM"));
        assert_eq!(name("https://docs-example.com").as_deref(), Some("SKILLPM_TOKEN_DOCS__EXAMPLE_COM"));
        assert_eq!(name("https://h:8443").as_deref(), Some("SKILLPM_TOKEN_H___8443"));
        assert_eq!(name("http://127.0.0.1:80").as_deref(), Some("SKILLPM_TOKEN_127_0_0_1___80"));
        for doubtful in
            ["https://a_b.example", "https://a.-b", "https://a-.b", "https://[::1]/", "https://a..b"]
        {
            assert_eq!(name(doubtful), None, "{doubtful}");
        }
        let hosts = ["a.b", "a-b", "a--b", "a.b.c", "a-b.c", "a.b-c", "a:1", "a-1", "a1"];
        let mut names: Vec<_> = hosts.iter().map(|host| name(&format!("https://{host}"))).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), hosts.len());
    }

    #[test]
    fn tokens_go_over_secure_connections_only() {
        let vars = [("SKILLPM_TOKEN_A_EXAMPLE", " s3cret\n"), ("SKILLPM_TOKEN_A_EXAMPLE___80", "s3cret")];
        let found = |text| login(&vars, text).credential().map(|credential| credential.value.clone());
        assert_eq!(found("https://a.example/x").as_deref(), Some("Bearer s3cret"));
        assert_eq!(found("https://A.example:443/x").as_deref(), Some("Bearer s3cret"));
        for none in
            ["http://a.example/x", "https://a.example:444/", "https://b.a.example/", "https://a-example/"]
        {
            assert_eq!(found(none), None, "{none}");
        }
        let env = Env { vars: [("SKILLPM_TOKEN_H".into(), "a b".into())].into(), ..Env::default() };
        let settings = Settings::from_env(env).expect("settings");
        let error = Login::find(&settings, &url("https://h")).expect_err("no token").to_string();
        assert_eq!(error, "`SKILLPM_TOKEN_H` contains a character that tokens cannot have");
    }

    #[test]
    fn refusals_say_where_the_login_comes_from() {
        let told = |login: &Login, url: &Url, status| {
            let error = login.refused(url, status, None);
            format!("{error}\n{}", crate::advice::Message::joined(error.hints().iter().cloned(), "\n"))
        };
        let asked = url("https://h/x.zip");
        let none = login(&[("NETRC", "/nowhere/netrc")], "https://h/x.zip");
        insta::assert_snapshot!(told(&none, &asked, 401), @"
        `https://h/x.zip` requires a login
        set `SKILLPM_TOKEN_H` to a token, or write `machine h login NAME password PASSWORD` into `/nowhere/netrc`
        ");
        let token = login(&[("SKILLPM_TOKEN_H", "s3cret")], "https://h/x.zip");
        insta::assert_snapshot!(told(&token, &asked, 401), @"
        `h` does not accept the token in `SKILLPM_TOKEN_H`
        it may have expired, or belong to another address
        ");
        insta::assert_snapshot!(told(&token, &url("https://other/x?sig=s3cret"), 403), @"
        `h` redirects to `https://other/x`, which requires a login (status 403)
        credentials are only sent to `other`; use its own URL
        ");
        let open = login(&[("SKILLPM_TOKEN_H___80", "s3cret")], "http://h/x.zip");
        insta::assert_snapshot!(told(&open, &url("http://h/x.zip"), 401), @"
        `http://h/x.zip` requires a login
        credentials are only sent over a secure connection: use an address with `https://`
        ");
    }
}
