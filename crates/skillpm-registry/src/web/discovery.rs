//! The discovery format 0.1: an index with the files of each skill, and the files one by one.

use axum::Extension;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Value, json};

use super::Shared;
use super::files::contained;
use super::response::{Answer, Keep};
use crate::access::Caller;
use crate::app::File;
use crate::error::{ErrorKind, unknown};
use crate::registry::exact_name;

/// The largest number of skills that the index has: for each, an archive has to be read once. Other indexes have them
/// all.
const MAX_SKILLS: usize = 1_000;
/// The number of skills that are looked at in parallel.
const AT_ONCE: usize = 8;

/// Answers with the index.
pub(super) async fn index(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Answer {
    let app = &state.app;
    let visible = app.visible(&caller);
    let newest: Vec<_> = visible.listed.iter().filter_map(|skill| skill.newest()).cloned().collect();
    if newest.len() > MAX_SKILLS {
        return Err(unknown(format!("the registry has more than {MAX_SKILLS} skills"))
            .hint("`/.well-known/agent-skills/index.json` has them all")
            .into());
    }
    let skills: Vec<Value> = stream::iter(newest)
        .map(async |record| {
            let contents = match app.contents(&record).await {
                Ok(contents) => contents,
                // A damaged archive must not hide the others.
                Err(error) if error.kind() == ErrorKind::Integrity => {
                    let name = &record.name;
                    tracing::error!(%name, code = error.code(), "a skill is left out: {}", error.with_causes());
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
            let files: Vec<&str> = contents.files.iter().map(|file| file.path.as_str()).collect();
            Ok(Some(json!({"name": record.name, "description": record.description, "files": files})))
        })
        .buffered(AT_ONCE)
        .try_filter_map(async |skill| Ok(skill))
        .try_collect()
        .await?;
    let file = File::json(json!({"skills": skills}).to_string().into_bytes());
    Ok(file.answer(&headers, Keep::Ask.to(&caller)))
}

/// Answers with one file of the newest version of a skill.
pub(super) async fn file(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    Path((name, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Answer {
    let missing = || unknown(format!("there is no skill `{name}`"));
    let found = exact_name(&name).ok_or_else(missing)?;
    let skill = state.app.skill(&caller, &found)?;
    let newest = skill.newest().ok_or_else(missing)?;
    contained(&state.app, newest, &path, &headers, Keep::Ask.to(&caller)).await
}
