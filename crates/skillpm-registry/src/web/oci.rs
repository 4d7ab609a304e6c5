//! The reading half of OCI's distribution specification: each skill is a repository, each version an artifact.
//!
//! An artifact has one layer, with the files of the skill as `tar.gz` below a directory of its name. All of it depends on
//! the record and the archive alone, so every server of a registry gives it the same digest.

use axum::Extension;
use axum::extract::State;
use axum::http::header::{CONTENT_TYPE, LINK, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Shared;
use super::answer::{Answer, File, Keep, Query, json};
use super::dialect::BASIC;
use crate::access::Caller;
use crate::app::App;
use crate::digest::Digest;
use crate::error::{Result, unknown};
use crate::interop::oci::{self, ArtifactFacts, BLOB, Blob, INDEX, LATEST, MANIFEST};
use crate::registry::{Artifact, History, Record, registry_name, registry_version};

const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");
const API_VERSION: HeaderName = HeaderName::from_static("docker-distribution-api-version");

/// What a path asks for.
#[derive(Debug, PartialEq, Eq)]
enum Asked<'a> {
    /// Whether this is such a server.
    Base,
    /// The tags of a skill.
    Tags(&'a str),
    /// A manifest, by tag or digest.
    Manifest(&'a str, &'a str),
    /// A blob, by digest.
    Blob(&'a str, Digest),
    /// What refers to a manifest.
    Referrers(&'a str),
}

impl<'a> Asked<'a> {
    fn of(path: &'a str) -> Option<Self> {
        let rest = path.strip_prefix("/v2")?;
        if matches!(rest, "" | "/") {
            return Some(Self::Base);
        }
        let parts: Vec<_> = rest.strip_prefix('/')?.split('/').collect();
        Some(match parts[..] {
            [name, "tags", "list"] => Self::Tags(name),
            [name, "manifests", reference] => Self::Manifest(name, reference),
            [name, "blobs", digest] => Self::Blob(name, digest.parse().ok()?),
            [name, "referrers", _] => Self::Referrers(name),
            _ => return None,
        })
    }
}

/// A page of tags.
#[derive(Deserialize)]
pub(super) struct Page {
    n: Option<usize>,
    last: Option<String>,
}

/// Answers a request below `/v2/`.
pub(super) async fn answer(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    method: Method,
    uri: Uri,
    Query(page): Query<Page>,
    headers: HeaderMap,
) -> Answer {
    if !matches!(method, Method::GET | Method::HEAD) {
        return Ok(StatusCode::METHOD_NOT_ALLOWED.into_response());
    }
    let app = &state.app;
    let missing = || unknown(format!("there is no `{}`", uri.path()));
    match Asked::of(uri.path()).ok_or_else(missing)? {
        Asked::Base => Ok(base(&caller)),
        Asked::Tags(name) => Ok(tags(&*find(app, &caller, name)?, &page, &headers, Keep::Ask.to(&caller))),
        Asked::Manifest(name, reference) => {
            let skill = find(app, &caller, name)?;
            let (manifest, keep) = match reference.parse() {
                Ok(digest) => (manifest_with(app, &skill, digest).await?, Keep::Always),
                Err(_) => (manifest(app, tagged(&skill, reference)?).await?, Keep::Ask),
            };
            Ok(send(manifest, MANIFEST, &headers, keep.to(&caller)))
        }
        Asked::Blob(name, digest) => {
            let skill = find(app, &caller, name)?;
            let blob = blob(app, &skill, digest).await?;
            Ok(send(blob, BLOB, &headers, Keep::Always.to(&caller)))
        }
        Asked::Referrers(name) => {
            find(app, &caller, name)?;
            let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": []});
            let mut response = json(StatusCode::OK, &index);
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(INDEX));
            Ok(response)
        }
    }
}

fn base(caller: &Caller) -> Response {
    let mut response = json(StatusCode::OK, &json!({}));
    let headers = response.headers_mut();
    headers.insert(API_VERSION, HeaderValue::from_static("registry/2.0"));
    if caller.token().is_none() {
        // What is public takes no token, but a client that has one sends it only if it was asked for.
        headers.insert(WWW_AUTHENTICATE, BASIC);
    }
    response
}

/// Returns the skill `name`, if `caller` may see it.
fn find(app: &App, caller: &Caller, name: &str) -> Result<std::sync::Arc<History>> {
    match registry_name(name) {
        Ok(found) if found.as_str() == name => app.skill(caller, &found),
        _ => Err(unknown("there is no skill of this name")),
    }
}

/// Returns the tag of a version.
fn tag(record: &Record) -> String {
    oci::tag(record.version.as_str())
}

/// Returns the version with a tag. Those that are yanked can be had by their number only.
fn tagged<'h>(skill: &'h History, tag: &str) -> Result<&'h Record> {
    let found = if tag == LATEST {
        skill.newest()
    } else {
        registry_version(&oci::version(tag)).ok().and_then(|version| skill.get(&version))
    };
    found.ok_or_else(|| unknown(format!("`{}` has no such version", skill.name())))
}

fn tags(skill: &History, page: &Page, headers: &HeaderMap, keep: Keep) -> Response {
    let offered = skill.records().iter().filter(|record| skill.yanked(&record.version).is_none());
    let mut tags: Vec<String> = offered.map(tag).collect();
    if !tags.is_empty() {
        tags.push(LATEST.to_owned());
    }
    tags.sort();
    if let Some(last) = &page.last {
        tags.retain(|tag| tag > last);
    }
    let limit = page.n.unwrap_or(usize::MAX);
    let has_more = tags.len() > limit;
    tags.truncate(limit);
    let mut response = File::json(bytes(&json!({"name": skill.name(), "tags": tags}))).answer(headers, keep);
    if has_more && let Some(last) = tags.last() {
        let next = format!("</v2/{}/tags/list?n={limit}&last={last}>; rel=\"next\"", skill.name());
        response.headers_mut().extend(HeaderValue::try_from(next).ok().map(|next| (LINK, next)));
    }
    response
}

/// Returns the bytes of `value`. It cannot fail: every key is text, and writing to memory has no errors.
fn bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn facts(record: &Record) -> ArtifactFacts<'_> {
    ArtifactFacts {
        name: record.name.as_str(),
        version: record.version.as_str(),
        description: &record.description,
        license: record.license.as_deref(),
    }
}

fn config(record: &Record) -> Vec<u8> {
    oci::config(&facts(record))
}

/// Returns the manifest of a version.
async fn manifest(app: &App, record: &Record) -> Result<Vec<u8>> {
    let Artifact { digest, size } = app.contents(record).await?.layer;
    Ok(oci::manifest(&facts(record), Blob { digest, size }, &record.published.to_string()))
}

/// Returns the manifest with this digest.
async fn manifest_with(app: &App, skill: &History, digest: Digest) -> Result<Vec<u8>> {
    let mut failure = unknown(format!("`{}` has no manifest {digest}", skill.name()));
    for record in skill.records().iter().rev() {
        match manifest(app, record).await {
            Ok(manifest) if Digest::of(&manifest) == digest => return Ok(manifest),
            Ok(_) => {}
            // Another version may be it all the same.
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Returns the blob with this digest: what a manifest says about a version, or its files.
async fn blob(app: &App, skill: &History, digest: Digest) -> Result<Vec<u8>> {
    if let Some(config) = skill.records().iter().map(config).find(|config| Digest::of(config) == digest) {
        return Ok(config);
    }
    let mut failure = unknown(format!("`{}` has no blob {digest}", skill.name()));
    for record in skill.records().iter().rev() {
        match app.contents(record).await {
            Ok(contents) if contents.layer.digest == digest => return Ok(app.layer(record).await?.into()),
            Ok(_) => {}
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn send(bytes: Vec<u8>, kind: &'static str, headers: &HeaderMap, keep: Keep) -> Response {
    let digest = Digest::of(&bytes);
    let mut response = File { bytes: bytes.into(), kind, tag: digest.hex() }.answer(headers, keep);
    if let Ok(digest) = HeaderValue::try_from(digest.to_string()) {
        response.headers_mut().insert(CONTENT_DIGEST, digest);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_specification_ask_for_something() {
        let digest = Digest::of(b"");
        let blob = format!("/v2/pdf/blobs/{digest}");
        assert_eq!(Asked::of("/v2/"), Some(Asked::Base));
        assert_eq!(Asked::of("/v2/pdf/tags/list"), Some(Asked::Tags("pdf")));
        assert_eq!(Asked::of("/v2/pdf/manifests/1.0.0"), Some(Asked::Manifest("pdf", "1.0.0")));
        assert_eq!(Asked::of(&blob), Some(Asked::Blob("pdf", digest)));
        for wrong in
            ["/v2/pdf", "/v2//tags/list/", "/v2/pdf/blobs/sha256:0", "/v2/pdf/blobs/uploads/", "/v20/"]
        {
            assert_eq!(Asked::of(wrong), None, "{wrong}");
        }
    }
}
