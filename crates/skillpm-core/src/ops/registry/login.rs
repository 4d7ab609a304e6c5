//! `registry login` and `registry logout`: the tokens of registries.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::Warning;
use crate::codes;
use crate::context::Context;
use crate::credentials::is_token;
use crate::error::{Error, Result};
use crate::fetch::registries::configured;
use crate::http::{CredentialsFile, Login, Url};
use crate::source::registry::unknown_registry;
use crate::spec::{Origin, Registry, is_registry_name};

/// A request to keep a token. It has no `Debug`: the token must not get into a log.
#[derive(Clone)]
pub struct LoginRequest {
    /// The name or the address of the registry.
    pub registry: String,
    /// The token.
    pub token: String,
}

/// The outcome: a token is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoginOutcome {
    /// The origin that the token is sent to, and no other.
    pub origin: String,
    /// The file that has it.
    pub file: String,
    /// Whether it takes the place of another token.
    pub replaced: bool,
    /// Warnings for the user.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// The outcome: a token is gone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LogoutOutcome {
    /// The origin.
    pub origin: String,
    /// The file that had its token.
    pub file: String,
    /// Whether there was a token.
    pub removed: bool,
    /// Warnings for the user.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// The outcome: the origins whose tokens are kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LoginsOutcome {
    /// The file that has the tokens.
    pub file: String,
    /// The origins.
    pub logins: Vec<KeptLogin>,
    /// Warnings for the user.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// An origin whose token is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KeptLogin {
    /// The origin.
    pub origin: String,
    /// The names of the configured registries there.
    pub registries: Vec<String>,
}

/// Returns the address that the token of `registry`, a name or an address, is for.
///
/// # Errors
///
/// Fails for a registry that is not configured, for one on this machine, and for an address over which a token could be
/// read on the way.
pub fn login_address(context: &Context, registry: &str) -> Result<Url> {
    let url = address(context, registry)?;
    if url.is_private() {
        return Ok(url);
    }
    Err(Error::usage(format!("a token for `{url}` could be read on the way"))
        .hint("tokens are only sent over a secure connection: use an address with `https://`"))
}

/// Keeps a token for the origin of a registry, in a file that only this user can read.
///
/// # Errors
///
/// Fails as [`login_address`] does, for a text that is no token, and for a file that cannot be read or written.
pub fn login(context: &Context, request: &LoginRequest) -> Result<LoginOutcome> {
    let url = login_address(context, &request.registry)?;
    let token = request.token.trim();
    if !is_token(token) {
        return Err(Error::usage(
            "that is not a token: it is empty, or has a character that tokens cannot have",
        )
        .hint("pass the token alone, without quotes"));
    }
    let file = CredentialsFile::required(&context.settings)?;
    let origin = url.origin().address();
    let replaced = file.change(|kept| kept.set(&origin, token), waiting(context, &file))?;
    let mut warnings: Vec<Warning> = exposure(&file).into_iter().collect();
    if let Some(variable) = Login::token_variable(&url)
        && context.settings.env.get(&variable).is_some()
    {
        let told = format!("`{variable}` is set: its token is used instead of the one that was kept now");
        warnings.push(Warning::new(codes::CREDENTIALS_HIDDEN, told));
    }
    Ok(LoginOutcome { origin, file: file.path.display().to_string(), replaced, warnings })
}

/// Removes the token for the origin of `registry`, a name or an address.
///
/// # Errors
///
/// Fails for a registry that is not configured, for one on this machine, and for a file that cannot be read or written.
pub fn logout(context: &Context, registry: &str) -> Result<LogoutOutcome> {
    let origin = address(context, registry)?.origin().address();
    let file = CredentialsFile::required(&context.settings)?;
    file.clear_abandoned();
    let is_kept = file.read()?.is_some_and(|kept| kept.token(&origin).is_some());
    let removed = is_kept && file.change(|kept| kept.remove(&origin), waiting(context, &file))?;
    let warnings = exposure(&file).into_iter().collect();
    Ok(LogoutOutcome { origin, file: file.path.display().to_string(), removed, warnings })
}

/// Returns the origins whose tokens are kept, without the tokens.
///
/// # Errors
///
/// Fails for a file of tokens or a manifest that cannot be read.
pub fn logins(context: &Context) -> Result<LoginsOutcome> {
    let file = CredentialsFile::required(&context.settings)?;
    let kept = file.read()?.unwrap_or_default();
    let mut named = Vec::new();
    for registry in configured(context, None)? {
        if let Ok(url) = url_of(&registry.origin) {
            named.push((url.origin().address(), registry.name));
        }
    }
    let login = |origin: &str| KeptLogin {
        origin: origin.to_owned(),
        registries: named.iter().filter(|(of, _)| of == origin).map(|(_, name)| name.clone()).collect(),
    };
    let warnings = exposure(&file).into_iter().collect();
    let logins = kept.origins().map(login).collect();
    Ok(LoginsOutcome { file: file.path.display().to_string(), logins, warnings })
}

fn address(context: &Context, registry: &str) -> Result<Url> {
    if !is_registry_name(registry) {
        return url_of(&Registry::new(registry).map_err(|error| Error::usage(error.to_string()))?.into());
    }
    let all = configured(context, Some(registry))?;
    let one = all.first().ok_or_else(|| unknown_registry(registry))?;
    url_of(&one.origin)
}

fn url_of(origin: &Origin) -> Result<Url> {
    match origin.web_address() {
        Some(address) => Ok(Url::parse(address.as_str())?),
        None => Err(Error::usage(format!("the registry `{origin}` is on this machine and needs no login"))),
    }
}

fn waiting<'a>(context: &'a Context, file: &'a CredentialsFile) -> impl Fn() + 'a {
    || context.reporter.waiting_for_lock(file.path.parent().unwrap_or(&file.path))
}

fn exposure(file: &CredentialsFile) -> Option<Warning> {
    file.exposure().map(|told| Warning::new(codes::CREDENTIALS_EXPOSED, told))
}
