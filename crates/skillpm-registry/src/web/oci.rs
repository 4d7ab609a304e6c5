//! The reading half of OCI's distribution specification: each skill is a repository, each version an artifact.
//!
//! An artifact has one layer, with the files of the skill as `tar.gz` below a directory of its name. All of it depends on
//! the record and the archive alone, so every server of a registry gives it the same digest.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, LINK, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Shared;
use super::error_format::BASIC;
use super::response::{Answer, Keep, Query, json, unchanged};
use crate::access::Caller;
use crate::app::{App, File, Parts};
use crate::digest::Digest;
use crate::error::{Error, Result, unknown};
use crate::interop::oci::{self, ArtifactFacts, BLOB, Blob, INDEX, LATEST, MANIFEST};
use crate::registry::{Artifact, History, Record, exact_name};

const CONTENT_DIGEST: HeaderName = HeaderName::from_static("docker-content-digest");
const API_VERSION: HeaderName = HeaderName::from_static("docker-distribution-api-version");

/// The largest number of archives that are unpacked for one request, to find out whether one of them is meant.
const UNPACKED: usize = 64;

/// The resource that a path names.
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
    /// The manifests that refer to a manifest.
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
            let ((record, parts), keep) = if let Ok(digest) = reference.parse() {
                let is_it = |parts: &Parts| parts.manifest == digest;
                (with_part(app, &skill, is_it).await?.ok_or_else(missing)?, Keep::Always)
            } else {
                let record = tagged(&skill, reference)?;
                ((record, parts(app, record).await?), Keep::Ask)
            };
            let bytes = manifest(record, parts.layer);
            Ok(send(bytes.into(), parts.manifest, MANIFEST, &headers, keep.to(&caller)))
        }
        Asked::Blob(name, digest) => {
            let skill = find(app, &caller, name)?;
            let is_it = |parts: &Parts| parts.config == digest || parts.layer.digest == digest;
            let (record, parts) = with_part(app, &skill, is_it).await?.ok_or_else(missing)?;
            let keep = Keep::Always.to(&caller);
            if parts.config == digest {
                return Ok(send(config(record).into(), digest, BLOB, &headers, keep));
            }
            // To confirm that the layer is unchanged, it need not be made.
            if let Some(response) = unchanged(&headers, &digest.hex(), keep) {
                return Ok(response);
            }
            if method == Method::HEAD {
                let mut response = send(Bytes::new(), digest, BLOB, &HeaderMap::new(), keep);
                response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(parts.layer.size));
                return Ok(response);
            }
            Ok(send(app.layer(record).await?, digest, BLOB, &headers, keep))
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
        // Public skills need no token, but a client that has one sends it only when asked for it.
        headers.insert(WWW_AUTHENTICATE, BASIC);
    }
    response
}

/// Returns the skill `name`, if `caller` may see it.
fn find(app: &App, caller: &Caller, name: &str) -> Result<std::sync::Arc<History>> {
    app.skill(caller, &exact_name(name).ok_or_else(|| unknown("there is no skill of this name"))?)
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
        oci::version(tag).and_then(|version| skill.get(&version))
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

fn manifest(record: &Record, layer: Artifact) -> Vec<u8> {
    let Artifact { digest, size } = layer;
    oci::manifest(&facts(record), Blob { digest, size }, &record.published.to_string())
}

/// Returns what the parts of a version are identified by.
async fn parts(app: &App, record: &Record) -> Result<Parts> {
    let archive = record.artifact.digest;
    if let Some(parts) = app.parts.get(&archive) {
        return Ok(parts);
    }
    let layer = app.contents(record).await?.layer;
    let parts =
        Parts { manifest: Digest::of(&manifest(record, layer)), config: Digest::of(&config(record)), layer };
    app.parts.insert(archive, parts);
    Ok(parts)
}

/// Returns the newest version whose parts match, and these parts; `None` if no version matches. Fails if there are more than
/// [`UNPACKED`] versions to unpack, and if a candidate cannot be read.
async fn with_part<'h>(
    app: &App,
    skill: &'h History,
    is_it: impl Fn(&Parts) -> bool,
) -> Result<Option<(&'h Record, Parts)>> {
    let newest_first = || skill.records().iter().rev();
    let known = |record: &Record| app.parts.get(&record.artifact.digest);
    let matching = |record| known(record).filter(&is_it).map(|parts| (record, parts));
    if let Some(found) = newest_first().find_map(matching) {
        return Ok(Some(found));
    }
    let mut failure = None;
    for (count, record) in newest_first().filter(|record| known(record).is_none()).enumerate() {
        if count == UNPACKED {
            return Err(Error::io(format!("not all versions of `{}` have been looked at", skill.name()))
                .hint("try again: the next request looks at others"));
        }
        match parts(app, record).await {
            Ok(parts) if is_it(&parts) => return Ok(Some((record, parts))),
            Ok(_) => {}
            // Another version may be it all the same.
            Err(error) => failure = Some(error),
        }
    }
    failure.map_or(Ok(None), Err)
}

fn send(bytes: Bytes, digest: Digest, kind: &'static str, headers: &HeaderMap, keep: Keep) -> Response {
    let mut response = File { bytes, kind, tag: digest.hex() }.answer(headers, keep);
    if let Ok(digest) = HeaderValue::try_from(digest.to_string()) {
        response.headers_mut().insert(CONTENT_DIGEST, digest);
    }
    response
}

#[cfg(test)]
mod tests {
    use skillpm_sources::registry::registry_version;

    use super::*;
    use crate::access::Scope;
    use crate::app::now;
    use crate::error::status;
    use crate::testing::{Store, app, archive, caller};

    /// A digest that nothing has costs each version once, and each request some of them.
    #[tokio::test]
    async fn a_search_unpacks_each_version_once_and_a_few_for_each_request() {
        let store = Store::new();
        let app = app(&store).await;
        let alice = caller("alice", &[Scope::Publish]);
        let (name, count) = (exact_name("pdf").expect("a name"), UNPACKED + 6);
        for number in 0..count {
            let number = format!("1.{number}.0");
            let version = registry_version(&number).expect("a version");
            let published = app.publish(&alice, &name, &version, archive("pdf", &number), now()).await;
            published.expect("published");
        }
        let skill = app.skill(&alice, &name).expect("a skill");
        let nothing = Digest::of(b"nothing");
        let mut searched = Vec::new();
        for _ in 0..3 {
            store.take_calls();
            let found = with_part(&app, &skill, |parts| parts.manifest == nothing).await;
            let is_unavailable =
                found.as_ref().is_err_and(|error| status(error) == StatusCode::SERVICE_UNAVAILABLE);
            assert!(is_unavailable || found.is_ok_and(|found| found.is_none()));
            searched.push((is_unavailable, store.take_calls().get("read").copied().unwrap_or_default()));
        }
        assert_eq!(searched, [(true, UNPACKED), (false, 6), (false, 0)]);
        let oldest = parts(&app, &skill.records()[0]).await.expect("parts").manifest;
        let found = with_part(&app, &skill, |parts| parts.manifest == oldest).await.expect("a version");
        assert_eq!(found.map(|(record, _)| record.version.to_string()), Some("1.0.0".to_owned()));
    }

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
