//! ClawHub's protocol: `/.well-known/clawhub.json`, and routes beside the server's own below `/api/v1`.

mod answers;

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, HOST};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skillpm_format::ranking::SearchWords;

use super::Shared;
use super::files::{archive, contained};
use super::response::{Answer, Keep, Query, json as answer_json};
use super::route::{Reply, Route, route};
use crate::access::Caller;
use crate::app::App;
use crate::digest::Digest;
use crate::error::{Error, Result, unknown};
use crate::registry::{History, Record, exact_name, registry_version};
use answers::{
    HashedFile, Installation, ListedSkill, ListedVersion, Match, Matches, NumberOnly, OneSkill, OneVersion,
    Page, Resolved, created, number,
};

/// The default number of entries of a page.
const PAGE: usize = 25;
/// The largest number of entries of a page.
const MAX_PAGE: usize = 200;
/// The number of versions, from the newest one, among which one with a fingerprint is looked for.
const MAX_COMPARED: usize = 200;

/// Returns the routes below `/api/v1`.
#[rustfmt::skip]
pub(super) fn routes() -> Vec<Route> {
    let get = Method::GET;
    vec![
        route(get.clone(), "/search", "search", "Skills that match, best first", search),
        route(get.clone(), "/resolve", "resolve", "Which version has the files with a fingerprint", resolve),
        route(get.clone(), "/download", "download", "The archive of a version", download).sends("The archive", &["application/zip"]),
        route(get.clone(), "/skills", "listSkills", "All skills", list),
        route(get.clone(), "/skills/{name}", "getSkill", "One skill", skill),
        route(get.clone(), "/skills/{name}/install", "resolveInstall", "How the newest version is installed", install),
        route(get.clone(), "/skills/{name}/file", "getFile", "One file of a version", file)
            .sends("The file", &["text/plain", "application/octet-stream"]),
        route(get.clone(), "/skills/{name}/versions", "listVersions", "The versions that are not yanked", versions),
        route(get, "/skills/{name}/versions/{version}", "getVersion", "One version with its files", version),
    ]
}

/// Answers where the interface is.
pub(super) async fn well_known(State(state): State<Shared>, headers: HeaderMap) -> Answer {
    let base = state.app.config.public_url.clone().or_else(|| address(&state.app, &headers));
    let base = base.ok_or_else(|| Error::usage("the header `Host` has no address"))?;
    let base = base.trim_end_matches('/');
    // It may repeat headers of the client, which are not for others: caches must not keep it.
    Ok(answer_json(StatusCode::OK, &json!({"apiBase": base, "authBase": base})))
}

/// Returns the address at which the client reached the server, according to the client and the proxy before the server.
fn address(app: &App, headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host: Authority = text(HOST.as_str())?.parse().ok()?;
    let is_encrypted = app.config.behind_proxy && text("x-forwarded-proto") == Some("https");
    Some(format!("{}://{host}", if is_encrypted { "https" } else { "http" }))
}

#[derive(Deserialize, JsonSchema)]
struct SearchQuery {
    #[serde(default)]
    #[schemars(example = &"pdf")]
    q: String,
    limit: Option<usize>,
    /// `exact`: only the skill named `q`. Every other value is ignored.
    mode: Option<String>,
}

async fn search(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<SearchQuery>,
    headers: HeaderMap,
) -> Answer<Reply<Matches>> {
    let visible = state.app.visible(&caller);
    let name = (query.mode.as_deref() == Some("exact")).then(|| query.q.trim());
    let is_asked = |skill: &History| name.is_none_or(|name| skill.name().as_str().eq_ignore_ascii_case(name));
    let words = SearchWords::new([query.q.as_str()]);
    let found = visible.search(&words).filter(|(skill, _)| is_asked(skill)).take(page(query.limit));
    let results = found.filter_map(|(skill, score)| Match::of(skill, score)).collect();
    Ok(Reply::cacheable(&Matches { results }, &caller, &headers))
}

/// The owner of the skill. Names are unique here, so this can only rule the skill out.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OwnerQuery {
    /// The owner of the skill that is meant: another owner's skill is not found.
    #[schemars(example = &"alice")]
    owner_handle: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct ListQuery {
    limit: Option<usize>,
    /// `nextCursor` of the page before.
    #[schemars(extend("pattern" = r"^-?[0-9]{1,18}\..*$"))]
    cursor: Option<String>,
    sort: Option<String>,
    #[serde(default)]
    #[schemars(example = &"p")]
    prefix: String,
}

async fn list(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<ListQuery>,
    headers: HeaderMap,
) -> Answer<Reply<Page<ListedSkill>>> {
    let visible = state.app.visible(&caller);
    let skills = visible.listed.iter();
    let mut seen: Vec<_> = skills.filter_map(|skill| Some((skill, skill.newest()?))).collect();
    seen.retain(|(_, newest)| newest.name.as_str().starts_with(&query.prefix));
    // Downloads and stars are not counted: their orders are the order of the last update.
    let by_creation = query.sort.as_deref() == Some("createdAt");
    let key = |(skill, newest): &(&Arc<History>, &Record)| {
        let time = if by_creation { created(skill) } else { newest.published };
        (-time.seconds(), newest.name.to_string())
    };
    seen.sort_by_cached_key(key);
    if let Some(cursor) = &query.cursor {
        let after = cursor_key(cursor)?;
        seen.retain(|skill| key(skill) > after);
    }
    let limit = page(query.limit);
    let next = (seen.len() > limit).then(|| seen.get(limit - 1).map(key)).flatten();
    let items = seen.iter().take(limit).map(|(skill, newest)| ListedSkill::of(skill, newest)).collect();
    let next_cursor = next.map(|(time, name)| format!("{}.{name}", -time));
    Ok(Reply::cacheable(&Page { items, next_cursor }, &caller, &headers))
}

/// Returns what the last entry before `cursor` was sorted by.
fn cursor_key(cursor: &str) -> Result<(i64, String)> {
    let key = cursor.split_once('.').and_then(|(time, name)| {
        let time: i64 = time.parse().ok()?;
        Some((time.checked_neg()?, name.to_owned()))
    });
    key.ok_or_else(|| Error::usage("the cursor is not one that this server gave"))
}

async fn skill(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Query(of): Query<OwnerQuery>,
    headers: HeaderMap,
) -> Answer<Reply<OneSkill>> {
    let history = find(&state.app, &caller, &name, &of)?;
    Ok(Reply::cacheable(&OneSkill::of(&history), &caller, &headers))
}

/// Answers how the newest version is installed. The client asks only if it found none.
async fn install(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Query(of): Query<OwnerQuery>,
    headers: HeaderMap,
) -> Answer<Reply<Installation>> {
    let history = find(&state.app, &caller, &name, &of)?;
    Ok(Reply::cacheable(&Installation::of(&history), &caller, &headers))
}

#[derive(Deserialize, JsonSchema)]
struct PageQuery {
    limit: Option<usize>,
    cursor: Option<String>,
}

async fn versions(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Query(query): Query<PageQuery>,
    Query(of): Query<OwnerQuery>,
    headers: HeaderMap,
) -> Answer<Reply<Page<ListedVersion>>> {
    let history = find(&state.app, &caller, &name, &of)?;
    let before = match &query.cursor {
        Some(cursor) => Some(wanted(&history, cursor)?.version.number().clone()),
        None => None,
    };
    let mut offered = history.records().iter().rev().filter(|record| {
        let is_later =
            before.as_ref().is_some_and(|before| record.version.number().cmp_precedence(before).is_ge());
        !is_later && history.yanked(&record.version).is_none()
    });
    let listed: Vec<_> = offered.by_ref().take(page(query.limit)).collect();
    let next_cursor = offered.next().and(listed.last()).map(|last| number(last));
    let items = listed.into_iter().map(ListedVersion::of).collect();
    Ok(Reply::cacheable(&Page { items, next_cursor }, &caller, &headers))
}

async fn version(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, version)): Path<(String, String)>,
    Query(of): Query<OwnerQuery>,
    headers: HeaderMap,
) -> Answer<Reply<OneVersion>> {
    let history = find(&state.app, &caller, &name, &of)?;
    let record = wanted(&history, &version)?;
    let contents = state.app.contents(record).await?;
    let files =
        contents.files.iter().map(|file| HashedFile::of(&file.path, file.size, &file.digest)).collect();
    Ok(Reply::cacheable(&OneVersion::of(record, files), &caller, &headers))
}

#[derive(Deserialize, JsonSchema)]
struct FileQuery {
    #[schemars(example = &"SKILL.md")]
    path: String,
    #[schemars(example = &"1.0.0")]
    version: Option<String>,
    #[schemars(extend("enum" = ["latest"]), example = &"latest")]
    tag: Option<String>,
}

/// Answers with one file of a version.
async fn file(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    Query(query): Query<FileQuery>,
    Query(of): Query<OwnerQuery>,
    headers: HeaderMap,
) -> Answer {
    let history = find(&state.app, &caller, &name, &of)?;
    let record = chosen(&history, query.version.as_deref(), query.tag.as_deref())?;
    contained(&state.app, record, &query.path, &headers, Keep::Ask.to(&caller)).await
}

#[derive(Deserialize, JsonSchema)]
struct ResolveQuery {
    #[schemars(example = &"pdf")]
    slug: String,
    /// The fingerprint, in hexadecimal.
    #[schemars(extend("pattern" = "^[0-9a-f]{64}$"))]
    hash: String,
}

/// Finds the version whose files have the fingerprint that the client sends.
async fn resolve(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<ResolveQuery>,
    Query(of): Query<OwnerQuery>,
    headers: HeaderMap,
) -> Answer<Reply<Resolved>> {
    let history = find(&state.app, &caller, &query.slug, &of)?;
    let hash = Digest::from_hex(&query.hash)
        .ok_or_else(|| Error::usage("`hash` is not the SHA-256 of something, in hexadecimal"))?;
    let mut matching = None;
    for record in history.records().iter().rev().take(MAX_COMPARED) {
        if state.app.contents(record).await?.fingerprint == Some(hash) {
            matching = Some(record);
            break;
        }
    }
    let latest_version = history.newest().map(NumberOnly::of);
    let resolved = Resolved { r#match: matching.map(NumberOnly::of), latest_version };
    Ok(Reply::cacheable(&resolved, &caller, &headers))
}

#[derive(Deserialize, JsonSchema)]
struct DownloadQuery {
    #[schemars(example = &"pdf")]
    slug: String,
    #[schemars(example = &"1.0.0")]
    version: Option<String>,
    #[schemars(extend("enum" = ["latest"]), example = &"latest")]
    tag: Option<String>,
}

/// Answers with the archive of a version.
async fn download(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<DownloadQuery>,
    Query(of): Query<OwnerQuery>,
    headers: HeaderMap,
) -> Answer {
    let history = find(&state.app, &caller, &query.slug, &of)?;
    let record = chosen(&history, query.version.as_deref(), query.tag.as_deref())?;
    let digest = record.artifact.digest;
    let mut response = archive(&state.app, &digest, &headers, Keep::Ask.to(&caller)).await?;
    let name = format!("attachment; filename=\"{}-{}.zip\"", record.name, number(record));
    if let Ok(name) = HeaderValue::try_from(name) {
        response.headers_mut().insert(CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

/// Returns the skill `name`, if `caller` may see it and it is the one of the owner that is asked for.
fn find(app: &App, caller: &Caller, name: &str, of: &OwnerQuery) -> Result<Arc<History>> {
    let name = exact_name(name).ok_or_else(|| unknown("there is no skill of this name"))?;
    let skill = app.skill(caller, &name)?;
    let is_owner =
        |handle: &str| skill.owners().iter().any(|owner| owner.as_str().eq_ignore_ascii_case(handle));
    if of.owner_handle.as_deref().is_some_and(|handle| !is_owner(handle.trim_start_matches('@'))) {
        return Err(unknown(format!("there is no skill `{name}`")));
    }
    Ok(skill)
}

/// Returns the version `text` of a skill.
fn wanted<'h>(history: &'h History, text: &str) -> Result<&'h Record> {
    let found = registry_version(text).ok().and_then(|version| history.get(&version));
    found.ok_or_else(|| unknown(format!("`{}` has no such version", history.name())))
}

/// Returns the version that is asked for by number or by tag: by default, the newest one.
fn chosen<'h>(history: &'h History, version: Option<&str>, tag: Option<&str>) -> Result<&'h Record> {
    match (version, tag) {
        (Some(version), _) => wanted(history, version),
        (None, None | Some("latest")) => history
            .newest()
            .ok_or_else(|| unknown(format!("all versions of `{}` are yanked", history.name()))),
        (None, Some(_)) => Err(unknown(format!("`{}` has no tag but `latest`", history.name()))),
    }
}

fn page(limit: Option<usize>) -> usize {
    limit.unwrap_or(PAGE).clamp(1, MAX_PAGE)
}
