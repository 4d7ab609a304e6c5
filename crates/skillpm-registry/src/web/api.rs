//! The server's own API: publish, yank, and set permissions.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::response::{Answer, Query};
use super::route::{Reply, Route, Sent, SentArchive, route};
use super::{Shared, files, openapi};
use crate::access::{Caller, Issued, Token, changed_repository};
use crate::app::now;
use crate::codes;
use crate::error::{Error, Result, not_permitted};
use crate::name::SkillName;
use crate::registry::{
    Account, LogEntry, Record, TrustedPublisher, Visibility, registry_name, registry_version, yank_reason,
};
use crate::version::Version;

/// The largest number of entries of the log in an answer.
const LOG_ENTRIES: u64 = 100;

/// Returns the routes.
#[rustfmt::skip]
pub(super) fn routes() -> Vec<Route> {
    use Method as M;
    vec![
        route(M::GET, "/openapi.json", "openapi", "This document", openapi::answer).sends("The document", &["application/json"]),
        route(M::GET, "/whoami", "whoami", "Who the caller is, and what the token allows", whoami).takes_token(),
        route(M::POST, "/tokens/exchange", "exchangeToken", "Get a token for the statement of a CI system about a job", exchange)
            .answers(StatusCode::CREATED, "The token"),
        route(M::GET, "/log", "readLog", "What was published and changed", log),
        route(M::PUT, "/skills/{name}/versions/{version}", "publish", "Publish a version", publish).takes_token()
            .answers(StatusCode::OK, "It was there before, with the same files")
            .answers(StatusCode::CREATED, "It is published"),
        route(M::POST, "/skills/{name}/versions/{version}/yank", "yank", "Yank a version", yank).changes(),
        route(M::POST, "/skills/{name}/versions/{version}/unyank", "unyank", "Take back that a version is yanked", unyank).changes(),
        route(M::GET, "/skills/{name}/owners", "getOwners", "Who may publish a skill, and who may see it", owners),
        route(M::PUT, "/skills/{name}/owners/{account}", "addOwner", "Add an owner", add_owner).changes(),
        route(M::DELETE, "/skills/{name}/owners/{account}", "removeOwner", "Remove an owner", remove_owner).changes(),
        route(M::GET, "/skills/{name}/publishers", "getPublishers", "Who may publish a skill, and who may see it", owners),
        route(M::POST, "/skills/{name}/publishers", "addPublisher", "Let the jobs of a workflow publish a skill", add_publisher).changes(),
        route(M::DELETE, "/skills/{name}/publishers", "removePublisher", "No longer let the jobs of a workflow publish a skill", remove_publisher).changes(),
        route(M::PUT, "/skills/{name}/visibility", "setVisibility", "Set who may see a skill", set_visibility).changes(),
    ]
}

#[derive(Serialize, JsonSchema)]
struct Whoami {
    #[serde(flatten)]
    token: Token,
    /// The fields that ClawHub's client reads.
    user: User,
}

#[derive(Serialize, JsonSchema)]
struct User {
    handle: String,
}

/// Answers who the caller is, and what the token allows.
async fn whoami(Extension(caller): Extension<Caller>) -> Answer<Reply<Whoami>> {
    match caller.token() {
        Some(token) => {
            let user = User { handle: token.holder.to_string() };
            Ok(Reply::new(StatusCode::OK, &Whoami { token: token.clone(), user }))
        }
        None => Err(Error::usage("this takes a token").coded(codes::TOKEN_REFUSED).into()),
    }
}

#[derive(Deserialize, JsonSchema)]
struct ExchangeBody {
    /// The signed statement.
    token: String,
}

/// Gives a job of a CI system a token for its statement.
async fn exchange(State(state): State<Shared>, body: Sent<ExchangeBody>) -> Answer<Reply<Issued>> {
    let ExchangeBody { token } = body.read().await?;
    let statement = state.app.issuers.accept(&token, now()).await?;
    // Every CI job has statements: one that publishes nothing here gets no token, and nothing is stored about it.
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
    let request = state.app.issuers.redeem(statement, now()).await?;
    Ok(Reply::new(StatusCode::CREATED, &state.app.tokens.issue(request, now()).await?))
}

/// Publishes the archive in the body.
async fn publish(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, version)): Path<(String, String)>,
    archive: SentArchive,
) -> Answer<Reply<Record>> {
    let (name, version) = (name_of(&name)?, version_of(&version)?);
    // Callers who may not publish the skill must not send megabytes.
    state.app.check_publisher(&caller, &name, now()).await?;
    state.rates.check_publish(&caller)?;
    let _slot = state.publishing.acquire().await;
    let bytes = archive.read(state.app.config.limits.archive_bytes).await?;
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
    Ok(Reply::new(status, &published.record))
}

#[derive(Deserialize, Default, JsonSchema)]
#[serde(default)]
struct YankBody {
    /// Why; may be empty.
    #[schemars(length(max = 500))]
    reason: String,
}

#[derive(Serialize, JsonSchema)]
struct Changed {
    changed: bool,
}

/// Makes a change, and answers whether it is new.
async fn changed(change: impl Future<Output = Result<bool>> + Send + 'static) -> Answer<Reply<Changed>> {
    Ok(Reply::new(StatusCode::OK, &Changed { changed: to_end(change).await? }))
}

/// Does `work` to its end, even if the client has left or the request has timed out: an announcement in the log of a bucket
/// that is never carried out delays all who read the log.
async fn to_end<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let done = tokio::spawn(work).await;
    done.map_err(|error| Error::io("a task of the server ended early").because(error))?
}

/// Yanks a version.
async fn yank(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, version)): Path<(String, String)>,
    body: Sent<YankBody>,
) -> Answer<Reply<Changed>> {
    let (name, version) = (name_of(&name)?, version_of(&version)?);
    let YankBody { reason } = body.read_or_default().await?;
    let reason = yank_reason(&reason).map_err(|error| Error::usage(error.to_string()))?;
    let reason = Some(reason.to_owned());
    changed(async move { state.app.yank(&caller, &name, &version, reason, now()).await }).await
}

/// Takes back that a version is yanked.
async fn unyank(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, version)): Path<(String, String)>,
) -> Answer<Reply<Changed>> {
    let (name, version) = (name_of(&name)?, version_of(&version)?);
    changed(async move { state.app.yank(&caller, &name, &version, None, now()).await }).await
}

#[derive(Serialize, JsonSchema)]
struct Access {
    owners: Vec<Account>,
    publishers: Vec<TrustedPublisher>,
    visibility: Visibility,
}

/// Answers who may publish a skill, and who may see it.
async fn owners(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Answer<Reply<Access>> {
    let skill = state.app.skill(&caller, &name_of(&name)?)?;
    let body = Access {
        owners: skill.owners().iter().cloned().collect(),
        publishers: skill.publishers().iter().cloned().collect(),
        visibility: skill.visibility(),
    };
    Ok(Reply::new(StatusCode::OK, &body))
}

/// Adds an owner.
async fn add_owner(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, account)): Path<(String, String)>,
) -> Answer<Reply<Changed>> {
    let (name, account) = (name_of(&name)?, account_of(&account)?);
    changed(async move { state.app.own(&caller, &name, account, true, now()).await }).await
}

/// Removes an owner.
async fn remove_owner(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, account)): Path<(String, String)>,
) -> Answer<Reply<Changed>> {
    let (name, account) = (name_of(&name)?, account_of(&account)?);
    changed(async move { state.app.own(&caller, &name, account, false, now()).await }).await
}

/// Lets the jobs of a workflow publish a skill.
async fn add_publisher(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    body: Sent<TrustedPublisher>,
) -> Answer<Reply<Changed>> {
    let (publisher, name) = (body.read().await?, name_of(&name)?);
    changed(async move { state.app.trust(&caller, &name, publisher, true, now()).await }).await
}

/// No longer lets the jobs of a workflow publish a skill.
async fn remove_publisher(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    body: Sent<TrustedPublisher>,
) -> Answer<Reply<Changed>> {
    let (publisher, name) = (body.read().await?, name_of(&name)?);
    changed(async move { state.app.trust(&caller, &name, publisher, false, now()).await }).await
}

#[derive(Deserialize, JsonSchema)]
struct VisibilityBody {
    visibility: Visibility,
}

/// Sets who may see a skill.
async fn set_visibility(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    body: Sent<VisibilityBody>,
) -> Answer<Reply<Changed>> {
    let VisibilityBody { visibility } = body.read().await?;
    let name = name_of(&name)?;
    changed(async move { state.app.show_to(&caller, &name, visibility, now()).await }).await
}

#[derive(Deserialize, JsonSchema)]
struct LogQuery {
    /// The number of the entry after which to begin.
    #[serde(default)]
    after: u64,
}

#[derive(Serialize, JsonSchema)]
struct Log {
    entries: Vec<LogEntry>,
    /// The cursor of the next page.
    last: u64,
}

/// Answers with the entries of the log that come after a number.
async fn log(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Query(LogQuery { after }): Query<LogQuery>,
) -> Answer<Reply<Log>> {
    let (mut entries, mut last) = (Vec::new(), after);
    for number in (1..=LOG_ENTRIES).filter_map(|ahead| after.checked_add(ahead)) {
        let Some(entry) = files::log_entry(&state.app, &caller, number).await? else { break };
        entries.push(entry);
        last = number;
    }
    Ok(Reply::new(StatusCode::OK, &Log { entries, last }))
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
