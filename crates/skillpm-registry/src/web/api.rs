//! The server's own interface: to publish, to yank, and to say who may.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Query, json};
use super::{Shared, files};
use crate::access::{Caller, Token, changed_repository};
use crate::app::now;
use crate::codes;
use crate::error::{Error, Result, not_permitted};
use crate::name::SkillName;
use crate::registry::{Account, TrustedPublisher, Visibility, registry_name, registry_version, yank_reason};
use crate::version::Version;

/// The largest body of a request that is not an archive.
const SMALL_BODY: usize = 64 << 10;
/// The largest number of entries of the log in an answer.
const LOG_ENTRIES: u64 = 100;

#[derive(Serialize)]
struct Whoami<'a> {
    #[serde(flatten)]
    token: &'a Token,
    /// What the client of ClawHub reads.
    user: User,
}

#[derive(Serialize)]
struct User {
    handle: String,
}

/// Answers who the caller is, and what the token allows.
pub(super) async fn whoami(Extension(caller): Extension<Caller>) -> Answer {
    match caller.token() {
        Some(token) => {
            let user = User { handle: token.holder.to_string() };
            Ok(json(StatusCode::OK, &Whoami { token, user }))
        }
        None => Err(Error::usage("this takes a token").coded(codes::TOKEN_REFUSED).into()),
    }
}

#[derive(Deserialize)]
struct ExchangeBody {
    token: String,
}

/// Gives a job of a CI system a token for its statement.
pub(super) async fn exchange(State(state): State<Shared>, body: Body) -> Answer {
    let ExchangeBody { token } = parse(&read(body, SMALL_BODY).await?)?;
    let statement = state.app.issuers.accept(&token, now()).await?;
    // Anybody has jobs: one that publishes nothing here gets nothing, and nothing is kept about it.
    let publisher = statement.publisher();
    let skills = state.app.catalog.all();
    if !skills.iter().any(|skill| skill.publisher_of(publisher).is_some()) {
        let skills = skills.iter().map(AsRef::as_ref);
        let refusal = changed_repository(skills, publisher).unwrap_or_else(|| {
            not_permitted(format!("no skill lets {publisher} publish it"))
                .hint("an owner of the skill adds the workflow as its publisher first")
        });
        return Err(refusal.into());
    }
    let request = state.app.issuers.see_once(statement, now()).await?;
    Ok(json(StatusCode::CREATED, &state.app.tokens.issue(request, now()).await?))
}

/// Publishes the archive in the body.
pub(super) async fn publish(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, version)): Path<(String, String)>,
    body: Body,
) -> Answer {
    let (name, version) = (name_of(&name)?, version_of(&version)?);
    // Who may not publish it does not get to send megabytes.
    state.app.check_publisher(&caller, &name, now()).await?;
    state.rates.check_publish(&caller)?;
    let _slot = state.publishing.acquire().await;
    let limit = state.app.config.limits.archive_bytes;
    let bytes = read(body, usize::try_from(limit).unwrap_or(usize::MAX)).await?;
    let publishing = {
        let state = Arc::clone(&state);
        async move {
            let published = state.app.publish(&caller, &name, &version, bytes, now()).await?;
            if !published.already {
                state.metrics.published.inc();
            }
            Ok(published)
        }
    };
    let published = to_end(publishing).await?;
    let status = if published.already { StatusCode::OK } else { StatusCode::CREATED };
    Ok(json(status, &published.record))
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct YankBody {
    reason: String,
}

#[derive(Serialize)]
struct Changed {
    changed: bool,
}

/// Makes a change, and answers whether it is new.
async fn changed(change: impl Future<Output = Result<bool>> + Send + 'static) -> Answer {
    Ok(json(StatusCode::OK, &Changed { changed: to_end(change).await? }))
}

/// Does `work` to its end, also if the client is gone or its time is over: what is announced in the log of a bucket and
/// never comes about holds up all who read the log.
async fn to_end<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let done = tokio::spawn(work).await;
    done.map_err(|error| Error::io("a task of the server ended early").because(error))?
}

/// Yanks a version.
pub(super) async fn yank(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, version)): Path<(String, String)>,
    body: Body,
) -> Answer {
    let (name, version) = (name_of(&name)?, version_of(&version)?);
    let bytes = read(body, SMALL_BODY).await?;
    let body = if bytes.is_empty() { YankBody::default() } else { parse::<YankBody>(&bytes)? };
    let reason = yank_reason(&body.reason).map_err(|error| Error::usage(error.to_string()))?;
    let reason = Some(reason.to_owned());
    changed(async move { state.app.yank(&caller, &name, &version, reason, now()).await }).await
}

/// Takes back that a version is yanked.
pub(super) async fn unyank(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, version)): Path<(String, String)>,
) -> Answer {
    let (name, version) = (name_of(&name)?, version_of(&version)?);
    changed(async move { state.app.yank(&caller, &name, &version, None, now()).await }).await
}

#[derive(Serialize)]
struct Access<'a> {
    owners: Vec<&'a Account>,
    publishers: Vec<&'a TrustedPublisher>,
    visibility: Visibility,
}

/// Answers who may publish a skill, and who may see it.
pub(super) async fn owners(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Answer {
    let skill = state.app.skill(&caller, &name_of(&name)?)?;
    let body = Access {
        owners: skill.owners().iter().collect(),
        publishers: skill.publishers().iter().collect(),
        visibility: skill.visibility(),
    };
    Ok(json(StatusCode::OK, &body))
}

/// Adds an owner.
pub(super) async fn add_owner(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, account)): Path<(String, String)>,
) -> Answer {
    let (name, account) = (name_of(&name)?, account_of(&account)?);
    changed(async move { state.app.own(&caller, &name, account, true, now()).await }).await
}

/// Removes an owner.
pub(super) async fn remove_owner(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, account)): Path<(String, String)>,
) -> Answer {
    let (name, account) = (name_of(&name)?, account_of(&account)?);
    changed(async move { state.app.own(&caller, &name, account, false, now()).await }).await
}

/// Lets the jobs of a workflow publish a skill.
pub(super) async fn add_publisher(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    body: Body,
) -> Answer {
    let (publisher, name) = (parse(&read(body, SMALL_BODY).await?)?, name_of(&name)?);
    changed(async move { state.app.trust(&caller, &name, publisher, true, now()).await }).await
}

/// No longer lets the jobs of a workflow publish a skill.
pub(super) async fn remove_publisher(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    body: Body,
) -> Answer {
    let (publisher, name) = (parse(&read(body, SMALL_BODY).await?)?, name_of(&name)?);
    changed(async move { state.app.trust(&caller, &name, publisher, false, now()).await }).await
}

#[derive(Deserialize)]
struct VisibilityBody {
    visibility: Visibility,
}

/// Sets who may see a skill.
pub(super) async fn set_visibility(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    body: Body,
) -> Answer {
    let VisibilityBody { visibility } = parse(&read(body, SMALL_BODY).await?)?;
    let name = name_of(&name)?;
    changed(async move { state.app.show_to(&caller, &name, visibility, now()).await }).await
}

#[derive(Deserialize)]
pub(super) struct LogQuery {
    #[serde(default)]
    after: u64,
}

#[derive(Serialize)]
struct Log {
    entries: Vec<serde_json::Value>,
    /// What to ask for next.
    last: u64,
}

/// Answers with the entries of the log that come after a number.
pub(super) async fn log(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Query(LogQuery { after }): Query<LogQuery>,
) -> Answer {
    let (mut entries, mut last) = (Vec::new(), after);
    for number in (1..=LOG_ENTRIES).filter_map(|ahead| after.checked_add(ahead)) {
        let Some(bytes) = files::log_entry(&state.app, &caller, number).await? else { break };
        entries.push(parse(&bytes)?);
        last = number;
    }
    Ok(json(StatusCode::OK, &Log { entries, last }))
}

/// Reads a body of at most `limit` bytes.
async fn read(body: Body, limit: usize) -> Result<axum::body::Bytes> {
    let too_large = || Error::usage(format!("the body has more than {limit} bytes")).coded(codes::TOO_LARGE);
    // What is announced as too large is not taken at all.
    if HttpBody::size_hint(&body).lower() > limit as u64 {
        return Err(too_large());
    }
    to_bytes(body, limit).await.map_err(|error| {
        let is_too_large =
            std::error::Error::source(&error).is_some_and(|source| source.to_string().contains("limit"));
        if is_too_large { too_large() } else { Error::usage("the body broke off") }
    })
}

fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|error| Error::usage(format!("the body is not what is expected: {error}")))
}

fn name_of(text: &str) -> Result<SkillName> {
    let name = registry_name(text).map_err(|error| Error::usage(error.to_string()))?;
    if name.as_str() == text { Ok(name) } else { Err(Error::usage(format!("`{text}` has spaces around it"))) }
}

fn version_of(text: &str) -> Result<Version> {
    registry_version(text).map_err(|error| Error::usage(error.to_string()))
}

fn account_of(text: &str) -> Result<Account> {
    text.parse().map_err(|error: crate::registry::AccountError| Error::usage(error.to_string()))
}
