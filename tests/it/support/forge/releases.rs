//! Releases, and the files that they get.

use serde_json::{Value, json};

use super::server::Answer;
use super::{Endpoint, Forge, Recorded, Repository, State};

/// A release of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The tag that it has, or is to have.
    pub tag: String,
    /// The commit of the tag.
    pub commit: String,
    /// Whether only those who may write see it.
    pub is_draft: bool,
    /// Whether it is a pre-release.
    pub is_prerelease: bool,
    /// Its file.
    pub asset: Option<(String, Vec<u8>)>,
    id: u64,
}

impl Forge {
    /// From now on answers say that files of releases are taken at `address`.
    pub fn take_files_at(&self, address: &str) {
        self.shared.state().uploads_at = Some(address.to_owned());
    }

    /// The releases of the repository `name`, drafts included.
    pub fn releases(&self, name: &str) -> Vec<Release> {
        self.shared
            .state()
            .repositories
            .get(name)
            .map(|repository| repository.releases.clone())
            .unwrap_or_default()
    }

    /// The requests so far that were to change something.
    pub fn changes(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.method != "GET").collect()
    }
}

/// The endpoint of a request that changes something.
pub(super) fn endpoint(request: &Recorded) -> Endpoint {
    match request.method.as_str() {
        "POST" if request.path.contains("/assets") => Endpoint::Asset,
        "POST" => Endpoint::NewRelease,
        "DELETE" => Endpoint::NoRelease,
        _ => Endpoint::ChangedRelease,
    }
}

/// The answer to a request for `what`, a release by its id or by `tags/TAG`.
pub(super) fn shown(state: &State, host: &str, name: &str, what: &str) -> Answer {
    let found = state.repositories[name].releases.iter().find(|release| match what.strip_prefix("tags/") {
        Some(tag) => !release.is_draft && release.tag == super::server::decode(tag),
        None => release.id.to_string() == what,
    });
    found.map_or_else(|| Answer::json(404, "Not Found"), |release| answer(200, state, host, name, release))
}

/// Does what a request with `body` asks for.
pub(super) fn change(state: &mut State, host: &str, request: &Recorded, body: &[u8]) -> Answer {
    let right = state.token.as_ref().map(|token| format!("Bearer {token}"));
    if right.is_none() || request.header("authorization") != right.as_deref() {
        return Answer::json(401, "Bad credentials");
    }
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let parts: Vec<&str> = path.trim_start_matches("/uploads").trim_start_matches('/').split('/').collect();
    let ["repos", owner, name, "releases", rest @ ..] = &parts[..] else {
        return Answer::json(404, "Not Found");
    };
    let name = format!("{owner}/{name}");
    let Some(repository) = state.repositories.get_mut(&name) else { return Answer::json(404, "Not Found") };
    let found = rest.first().and_then(|id| id.parse::<u64>().ok());
    let at = found.and_then(|id| repository.releases.iter().position(|release| release.id == id));
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    match (request.method.as_str(), rest, at) {
        ("POST", [], _) => match made(repository, &value) {
            Ok(release) => answer(201, state, host, &name, &release),
            Err(refused) => refused,
        },
        ("POST", [_, "assets"], Some(at)) => {
            let asset = query.strip_prefix("name=").unwrap_or_default();
            repository.releases[at].asset = Some((super::server::decode(asset), body.to_vec()));
            Answer::new(201, &json!({ "size": body.len(), "state": "uploaded" }).to_string())
        }
        ("PATCH", [_], Some(at)) => {
            let release = published(repository, at, &value);
            answer(200, state, host, &name, &release)
        }
        ("DELETE", [_], Some(at)) => {
            repository.releases.remove(at);
            Answer::new(204, "")
        }
        _ => Answer::json(404, "Not Found"),
    }
}

fn made(repository: &mut Repository, value: &Value) -> Result<Release, Answer> {
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let (tag, commit) = (text("tag_name"), text("target_commitish"));
    if repository.resolve(&commit).is_none() {
        let errors = json!([{ "resource": "Release", "code": "invalid", "field": "target_commitish" }]);
        let refused = json!({ "message": "Validation Failed", "errors": errors });
        return Err(Answer::new(422, &refused.to_string()));
    }
    let release = Release {
        tag,
        commit,
        is_draft: value["draft"] == true,
        is_prerelease: value["prerelease"] == true,
        asset: None,
        id: repository.releases.len() as u64 + 1,
    };
    repository.releases.push(release.clone());
    Ok(release)
}

fn published(repository: &mut Repository, at: usize, value: &Value) -> Release {
    let release = &mut repository.releases[at];
    release.is_draft = value["draft"] == true;
    if !release.is_draft {
        let commit = repository.tags.entry(release.tag.clone()).or_insert(release.commit.clone());
        release.commit.clone_from(commit);
    }
    release.clone()
}

fn answer(status: u16, state: &State, host: &str, name: &str, release: &Release) -> Answer {
    let own = format!("http://{host}/uploads");
    let uploads = state.uploads_at.as_ref().unwrap_or(&own);
    let body = json!({
        "id": release.id,
        "draft": release.is_draft,
        "tag_name": release.tag,
        "html_url": format!("https://github.com/{name}/releases/tag/{}", release.tag),
        "upload_url": format!("{uploads}/repos/{name}/releases/{}/assets{{?name,label}}", release.id),
    });
    Answer::new(status, &body.to_string())
}
