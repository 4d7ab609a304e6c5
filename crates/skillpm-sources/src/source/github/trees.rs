//! The ids of a commit's directories, and the names of tags.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::GitHub;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::http::{Answer, Request, encode};
use crate::spec::Identity;
use crate::spec::{Reference, is_commit, is_object_id};

/// The largest answer. GitHub lists at most 100,000 entries of at most 7 MB.
const TREE_BYTES: u64 = 16 << 20;
/// Enough for some sixty thousand tags.
const TAG_BYTES: u64 = 24 << 20;

/// The directories of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trees {
    /// The id of each directory, by path.
    dirs: BTreeMap<String, String>,
    /// An id for everything at the root; `None` if not all of it is listed.
    root: Option<String>,
    /// Whether all directories are listed.
    whole: bool,
}

#[derive(Deserialize)]
struct RawTrees {
    tree: Vec<RawEntry>,
    #[serde(default)]
    truncated: bool,
}

#[derive(Deserialize)]
struct RawEntry {
    path: String,
    mode: String,
    sha: String,
}

#[derive(Deserialize)]
struct RawReference {
    r#ref: String,
}

impl Trees {
    /// Parses the API's answer, or returns `None` for anything else.
    fn parse(text: &str) -> Option<Self> {
        let raw: RawTrees = serde_json::from_str(text).ok()?;
        let mut dirs = BTreeMap::new();
        let mut top = Vec::new();
        for RawEntry { path, mode, sha } in raw.tree {
            if !is_object_id(&sha) {
                return None;
            }
            if !path.contains('/') {
                top.push(format!("{mode} {path}\0{sha}\n"));
            }
            if mode == "040000" {
                dirs.insert(path, sha);
            }
        }
        top.sort_unstable();
        let root = (!raw.truncated).then(|| Digest::of(top.concat().as_bytes()).hex());
        Some(Self { dirs, root, whole: !raw.truncated })
    }

    /// Returns the id of directory `path`; empty is the root.
    pub fn at(&self, path: &str) -> Identity {
        let id = if path.is_empty() { self.root.as_ref() } else { self.dirs.get(path) };
        match id {
            Some(id) => Identity::Id(id.clone()),
            None if self.whole => Identity::Absent,
            None => Identity::Unknown,
        }
    }
}

impl Trees {
    /// Reports whether there is a directory with the same name as `path`, or with this `id`.
    pub(crate) fn has_like(&self, path: &str, id: Option<&str>) -> bool {
        let last = |path: &str| path.rsplit('/').next().map(ToOwned::to_owned);
        self.dirs.iter().any(|(dir, one)| Some(one.as_str()) == id || last(dir) == last(path))
    }
}

impl GitHub<'_> {
    /// Works like [`GitHub::resolve`]; offline, returns what the reference meant when it was last requested.
    pub(crate) fn resolve_now(&self, reference: Option<&Reference>) -> Result<String> {
        let known = || {
            let asked = match reference {
                None => "HEAD".to_owned(),
                Some(reference) => super::question(reference).ok()?.0,
            };
            let url = self.url(&format!("commits/{}", encode(&asked))).ok()?;
            Some(self.cache.as_ref()?.known(&url)?.sha)
        };
        match self.settings.offline.then(known).flatten() {
            Some(commit) => Ok(commit),
            None => self.resolve(reference),
        }
    }

    /// Returns the directories of `commit`: from the cache if they were listed before, because a commit does not
    /// change.
    ///
    /// # Errors
    ///
    /// Fails as [`GitHub::resolve`] does, and for an answer that lists no directories.
    pub fn trees(&self, commit: &str) -> Result<Trees> {
        if !is_commit(commit) {
            return Err(Error::not_a_commit(commit));
        }
        let url = self.url(&format!("git/trees/{commit}?recursive=1"))?;
        if let Some(known) = self.cache.as_ref().and_then(|cache| cache.trees(&url)) {
            return Ok(known);
        }
        let text = self.json(Request { ..self.request(url.clone()) }, TREE_BYTES, commit)?;
        let trees = Trees::parse(&text).ok_or_else(|| self.no("a list of directories"))?;
        if let Some(cache) = &self.cache {
            cache.learn_trees(&url, &trees);
        }
        Ok(trees)
    }

    /// Returns the names of the tags that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// Fails as [`GitHub::resolve`] does, and for an answer that is not a list of tags.
    pub fn tags(&self, prefix: &str) -> Result<Vec<String>> {
        let url = self.url(&format!("git/matching-refs/tags/{}", encode(prefix)))?;
        let text = self.json(self.request(url), TAG_BYTES, prefix)?;
        let raw: Vec<RawReference> = serde_json::from_str(&text).map_err(|_| self.no("a list of tags"))?;
        Ok(raw.into_iter().filter_map(|raw| Some(raw.r#ref.strip_prefix("refs/tags/")?.to_owned())).collect())
    }

    fn json(&self, request: Request, limit: u64, shown: &str) -> Result<String> {
        let request = Request { accept: "application/vnd.github+json", ..request };
        match self.client.get_text(&request, limit).map_err(|error| self.explain(error, shown))? {
            Answer::Text { text, .. } => Ok(text),
            Answer::NotModified => Ok(String::new()),
        }
    }

    /// Returns the error for an answer that is not the requested `what`.
    pub(super) fn no(&self, what: &str) -> Error {
        Error::network(format!("the response from `{}` is not {what}", self.api.origin()))
            .hint("check `GITHUB_API_URL`; a proxy or a login page may be in the way")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(truncated: bool) -> String {
        let id = |c: &str| c.repeat(40);
        let tree = serde_json::json!([
            { "path": "README.md", "mode": "100644", "type": "blob", "sha": id("a") },
            { "path": "skills", "mode": "040000", "type": "tree", "sha": id("b") },
            { "path": "skills/pdf", "mode": "040000", "type": "tree", "sha": id("c") },
            { "path": "skills/pdf/SKILL.md", "mode": "100644", "type": "blob", "sha": id("d") },
        ]);
        serde_json::json!({ "sha": id("e"), "tree": tree, "truncated": truncated }).to_string()
    }

    #[test]
    fn directories_have_ids() {
        let trees = Trees::parse(&listing(false)).expect("a listing");
        assert_eq!(trees.at("skills/pdf"), Identity::Id("c".repeat(40)));
        assert_eq!(trees.at("skills/doc"), Identity::Absent);
        assert_eq!(trees.at("README.md"), Identity::Absent, "no directory");
        assert!(trees.has_like("old/pdf", None) && trees.has_like("x", Some(&"c".repeat(40))));
        assert!(!trees.has_like("x", None) && !trees.has_like("x", Some(&"9".repeat(40))));
        let other = listing(false).replace(&"b".repeat(40), &"f".repeat(40));
        assert_ne!(Trees::parse(&other).expect("a listing").at(""), trees.at(""));
    }

    #[test]
    fn of_a_part_only_what_is_there_is_known() {
        let trees = Trees::parse(&listing(true)).expect("a listing");
        assert_eq!(trees.at("skills/pdf"), Identity::Id("c".repeat(40)));
        assert_eq!((trees.at("skills/doc"), trees.at("")), (Identity::Unknown, Identity::Unknown));
    }

    #[test]
    fn other_answers_list_nothing() {
        let broken = listing(false).replace(&"c".repeat(40), "../../x");
        for text in ["", "<!DOCTYPE html>", "[]", "{}", "{\"tree\":1}", &broken] {
            assert_eq!(Trees::parse(text), None, "{text}");
        }
    }
}
