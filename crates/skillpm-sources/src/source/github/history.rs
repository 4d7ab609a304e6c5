//! Finds the commits that changed a directory.

use std::sync::Arc;

use serde::Deserialize;

use super::open::settings_for;
use super::{GitHub, encode};
use crate::context::Context;
use crate::error::Result;
use crate::http::{Answer, Client, Request};
use crate::spec::{Repository, is_commit};

/// The answer has a few kilobytes for each commit.
const LIST_BYTES: u64 = 4 << 20;

#[derive(Deserialize)]
struct Commit {
    sha: String,
}

/// Returns the newest commits, at most `count`, up to `commit` that changed directory `path` of `repository`
/// (`None` is the whole of it), newest first.
///
/// # Errors
///
/// Fails as [`GitHub::resolve`] does, and for an answer that is not a list of commits.
pub fn history(
    context: &Context,
    repository: &Repository,
    commit: &str,
    path: Option<&str>,
    count: usize,
) -> Result<Vec<String>> {
    let settings = settings_for(&context.settings, repository);
    let client = Client::new(&settings, Arc::clone(&context.reporter));
    let github = GitHub::new(&client, &settings, repository)?;
    let path = path.map(|path| format!("&path={}", encode(path))).unwrap_or_default();
    let url = github.url(&format!("commits?sha={commit}{path}&per_page={count}"))?;
    let request = Request { accept: "application/vnd.github+json", ..github.request(url) };
    let answer = client.get_text(&request, LIST_BYTES);
    let text = match answer.map_err(|error| github.explain(error, commit))? {
        Answer::Text { text, .. } => text,
        Answer::NotModified => String::new(),
    };
    let commits: Vec<Commit> = serde_json::from_str(&text).map_err(|_| github.no("a list of commits"))?;
    let ids: Vec<String> = commits.into_iter().map(|commit| commit.sha).take(count).collect();
    if ids.iter().all(|id| is_commit(id)) { Ok(ids) } else { Err(github.no("a list of commits")) }
}
