//! Publishing from a job of a CI system, which has no token: a signed statement identifies the job.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::codes;
use crate::context::Context;
use crate::env;
use crate::error::{Error, Result};
use crate::http::{Answer, Client, Credential, Method, Request, Url, encode};
use crate::ops::registry::server::RegistryServer;

/// The largest answer of a CI system that is read, in bytes.
const MOST_BYTES: u64 = 64 << 10;

#[derive(Deserialize)]
struct Exchanged {
    secret: String,
}

#[derive(Deserialize)]
struct Stated {
    value: String,
}

/// Exchanges the statement of the CI system, if there is one, for a token that `server` accepts for a few minutes.
pub(super) fn log_in(context: &Context, server: &mut RegistryServer) -> Result<()> {
    let Some(statement) = statement(context, server)? else { return Ok(()) };
    let how = server.login().how();
    let refused = |error: Error| {
        error
            .context("the statement of the CI system about this job is not accepted")
            .hint(format!("an owner of the skill can add the workflow as a publisher; or {how}"))
    };
    let body = json!({ "token": statement });
    let answer = server.submit(Method::Post, "tokens/exchange", &body).map_err(refused)?;
    let Exchanged { secret } = serde_json::from_slice(&answer.body).map_err(|_| server.unexpected())?;
    server.use_token(&secret);
    Ok(())
}

/// Returns what the CI system states about this job, for `server` alone; `None` where none offers to.
fn statement(context: &Context, server: &RegistryServer) -> Result<Option<String>> {
    let env = &context.settings.env;
    let ready = env.get(env::SKILLPM_ID_TOKEN);
    let offered =
        env.get(env::ACTIONS_ID_TOKEN_REQUEST_URL).zip(env.get(env::ACTIONS_ID_TOKEN_REQUEST_TOKEN));
    if ready.is_none() && offered.is_none() {
        return Ok(None);
    }
    let address = server.own_address();
    if !Url::parse(&address)?.is_private() {
        return Err(Error::usage(format!(
            "the statement of the CI system could be read on the way to `{address}`"
        ))
        .hint("it is only sent over a secure connection: use an address with `https://`"));
    }
    match (ready, offered) {
        (Some(ready), _) => Ok(Some(ready.trim().to_owned())),
        (None, Some((url, token))) => of_github(context, url, token, &address).map(Some),
        (None, None) => Ok(None),
    }
}

/// Asks GitHub, at `url` and with `token`, for a statement to the server at `audience`.
fn of_github(context: &Context, url: &str, token: &str, audience: &str) -> Result<String> {
    let separator = if url.contains('?') { '&' } else { '?' };
    let audience = encode(audience).replace('/', "%2F");
    let url = Url::parse(&format!("{url}{separator}audience={audience}"))?;
    if !url.is_private() {
        return Err(Error::usage(format!(
            "`{}` is not an address with `https://`",
            env::ACTIONS_ID_TOKEN_REQUEST_URL
        )));
    }
    let client = Client::new(&context.settings, Arc::clone(&context.reporter));
    let credential = Some(Credential::bearer(url.origin(), token.trim()));
    let request = Request { accept: "application/json", credential, ..Request::new(url) };
    let failed = |error: Error| {
        error
            .context("GitHub does not state which job this is")
            .hint("the job needs the permission `id-token: write`")
    };
    let text = match client.get_text(&request, MOST_BYTES) {
        Ok(Answer::Text { text, .. }) => text,
        Ok(Answer::NotModified) => String::new(),
        Err(error) => return Err(failed(error.into())),
    };
    let Stated { value } = serde_json::from_str(&text)
        .map_err(|_| failed(Error::network("its answer has no `value`").coded(codes::NETWORK)))?;
    Ok(value)
}
