//! The files of the registry, as a static host would serve them, without those that the caller may not see.

use std::ops::ControlFlow;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::http::{HeaderMap, HeaderValue, Uri};

use super::Shared;
use super::response::{Answer, Keep, Part};
use crate::access::Caller;
use crate::app::{App, File, MAX_CACHED_FILE};
use crate::digest::Digest;
use crate::error::unknown;
use crate::registry::files::FileKind;
use crate::registry::{Event, History, LogChange, LogEntry, MAX_FILE, Record, Timestamp, files, versions};

const ZIP: &str = "application/zip";
const TEXT: &str = "text/plain; charset=utf-8";
const BYTES: &str = "application/octet-stream";

/// Answers with the file that the path of the address names.
pub(super) async fn file(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer {
    let app = &state.app;
    let missing = || unknown(format!("there is no `{}`", uri.path()));
    let path = uri.path().strip_prefix('/').and_then(FileKind::of).ok_or_else(missing)?;
    let keep = |keep: Keep| keep.to(&caller);
    let file = match path {
        FileKind::Config => config(app),
        FileKind::Search | FileKind::Discovery | FileKind::AiCatalog => {
            let visible = app.visible(&caller);
            let overview = visible.overview(app.storage.config());
            match path {
                FileKind::Search => overview.search.clone(),
                FileKind::Discovery => overview.discovery.clone(),
                _ => overview.ai_catalog.clone(),
            }
        }
        FileKind::List(name) => app.list(app.skill(&caller, &name)?),
        FileKind::Versions(name) => File::json(versions(&*app.skill(&caller, &name)?).ok_or_else(missing)?),
        FileKind::Record(name, key) => {
            let skill = app.skill(&caller, &name)?;
            let is_it = |version: &crate::version::Version| files::version_key(version) == key;
            let record = skill.records().iter().find(|record| is_it(&record.version)).ok_or_else(missing)?;
            let bytes =
                app.constant(&files::record(&name, &record.version), MAX_FILE).await?.ok_or_else(missing)?;
            return Ok(File::json(bytes).answer(&headers, keep(Keep::Always)));
        }
        FileKind::Event(name, number) => {
            let skill = app.skill(&caller, &name)?;
            if number > skill.event_count() {
                return Err(missing().into());
            }
            let bytes = app.constant(&files::event(&name, number), MAX_FILE).await?.ok_or_else(missing)?;
            return Ok(File::json(bytes).answer(&headers, keep(Keep::Always)));
        }
        FileKind::Log(number) => {
            let entry = log_entry(app, &caller, number).await?.ok_or_else(missing)?;
            // The part that the caller may see can change.
            return Ok(File::json(entry.to_bytes()).answer(&headers, keep(Keep::Ask)));
        }
        FileKind::Artifact(digest) => {
            let is_seen = app.catalog.with_archive(&digest).iter().any(|skill| app.is_seen(&caller, skill));
            if !is_seen {
                return Err(missing().into());
            }
            return archive(app, &digest, &headers, keep(Keep::Always)).await;
        }
    };
    Ok(file.answer(&headers, keep(Keep::Ask)))
}

/// Answers with an archive.
pub(super) async fn archive(app: &App, digest: &Digest, headers: &HeaderMap, keep: Keep) -> Answer {
    let tag = digest.hex();
    let missing = || unknown("there is no such archive");
    let artifact = app
        .catalog
        .with_archive(digest)
        .iter()
        .find_map(|skill| {
            let mut artifacts = skill.records().iter().map(|record| record.artifact);
            artifacts.find(|artifact| artifact.digest == *digest)
        })
        .ok_or_else(missing)?;
    let size = artifact.size;
    if size <= MAX_CACHED_FILE {
        let bytes = app.archive(&artifact).await?.ok_or_else(missing)?;
        return Ok(File { bytes, kind: ZIP, tag: tag.clone() }.answer(headers, keep));
    }
    let part = match Part::asked(headers, &tag, size, keep) {
        ControlFlow::Continue(part) => part,
        ControlFlow::Break(response) => return Ok(response),
    };
    let pieces = app.storage.stream(&files::artifact(digest), part.range.clone()).await?;
    let body = Body::from_stream(pieces.ok_or_else(missing)?);
    Ok(part.answer(body, ZIP, &tag, keep))
}

/// Sends the file at `path` of a version: as text or as bytes, independent of its name. It comes from a stranger and must
/// not act as a page of this server.
pub(super) async fn contained(
    app: &App,
    record: &Record,
    path: &str,
    headers: &HeaderMap,
    keep: Keep,
) -> Answer {
    let bytes = app.contained(record, path).await?;
    let bytes = bytes.ok_or_else(|| unknown(format!("`{}` has no file `{path}`", record.name)))?;
    let kind = if std::str::from_utf8(&bytes).is_ok() { TEXT } else { BYTES };
    let tag = Digest::of(&bytes).hex();
    let mut response = File { bytes, kind, tag }.answer(headers, keep);
    let policy = HeaderValue::from_static("default-src 'none'; sandbox");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}

/// Returns an entry of the log, without skills that the caller may not see and announcements that did not happen; `None` if
/// it does not exist yet.
pub(super) async fn log_entry(
    app: &App,
    caller: &Caller,
    number: u64,
) -> crate::error::Result<Option<LogEntry>> {
    // Before everything that it announces is known, it is not known who may see it.
    if number == 0 || number > app.catalog.complete_to() || !app.may_read(caller) {
        return Ok(None);
    }
    let Some(bytes) = app.constant(&files::log(number), MAX_FILE).await? else { return Ok(None) };
    let Ok(mut entry) = LogEntry::parse(&bytes) else { return Ok(None) };
    let count = entry.changes.len();
    let mut seen = Vec::with_capacity(count);
    for change in entry.changes {
        let skill = change.name().and_then(|name| app.catalog.skill(name));
        if let Some(skill) = skill.filter(|skill| app.is_seen(caller, skill))
            && has_happened(app, &skill, &change).await?
        {
            seen.push(change);
        }
    }
    entry.changes = seen;
    if entry.changes.is_empty() && count > 0 {
        // Hide also who changed something that the caller must not see, and when, and who failed to change something.
        entry = LogEntry { time: Timestamp::new(0), by: None, changes: Vec::new() };
    }
    Ok(Some(entry))
}

/// Reports whether a change that the log announces has happened: of several who announce the same version or the same number
/// of an event, one gets it.
async fn has_happened(app: &App, skill: &History, change: &LogChange) -> crate::error::Result<bool> {
    match change {
        LogChange::Publish { version, digest, .. } => {
            Ok(skill.get(version).is_some_and(|record| record.digest == *digest))
        }
        LogChange::Event { name, number, event } => {
            if *number > skill.event_count() {
                return Ok(false);
            }
            let bytes = app.constant(&files::event(name, *number), MAX_FILE).await?;
            Ok(bytes.is_some_and(|bytes| Event::parse(&bytes).is_ok_and(|stored| stored == *event)))
        }
        LogChange::Unknown => Ok(false),
    }
}

/// Returns the configuration of the registry, with where programs find the server's own interface.
fn config(app: &App) -> File {
    let config = app.storage.config().clone().with_api("api/v1/");
    File::json(config.to_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::access::Scope;
    use crate::app::now;
    use crate::registry::{registry_name, registry_version};
    use crate::storage::Objects;
    use crate::testing::{Store, app, archive, caller};

    /// An announcement that lost a race stays in the log of a bucket.
    #[tokio::test]
    async fn the_log_has_what_happened() {
        let store = Store::new();
        let app = app(&store).await;
        let (alice, name) = (caller("alice", &[Scope::Publish]), registry_name("pdf").expect("a name"));
        let version = registry_version("1.0.0").expect("a version");
        let published = app.publish(&alice, &name, &version, archive("pdf", "1.0.0"), now()).await;
        assert!(!published.expect("published").already);
        let event = Event::AddOwner { owner: "bob".parse().expect("an account"), time: now() };
        let second = LogChange::Event { name: name.clone(), number: 2, event: event.clone() };
        let changes = vec![
            LogChange::Publish { name: name.clone(), version, digest: Digest::of(b"other files") },
            LogChange::Event { name: name.clone(), number: 1, event },
        ];
        let lost = LogEntry { time: now(), by: Some("bob".to_owned()), changes };
        let objects = Objects::new(Arc::new(store), "skills");
        assert!(objects.create(&files::log(2), lost.to_bytes().into()).await.expect("is written"));
        app.catalog.refresh(&app.storage).await.expect("a log");
        let mut entries = Vec::new();
        for number in [1, 2] {
            let entry = log_entry(&app, &Caller(None), number).await.expect("is read").expect("an entry");
            entries.push((entry.changes.len(), entry.by));
        }
        assert_eq!(entries, [(2, Some("alice".to_owned())), (0, None)]);
        let skill = app.catalog.history(&name);
        assert!(!has_happened(&app, &skill, &second).await.expect("is read"));
    }
}
