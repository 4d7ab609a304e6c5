//! The part of the API that lists git's own objects: directories and tags.

use std::collections::BTreeMap;
use std::sync::Arc;

use skillpm_format::interop::hash::git_tree_id;
use skillpm_format::tree::{Memory, Node, Tree, TreeEntry};

use super::Repository;
use super::server::{Answer, decode};

/// The answer to a request for `what`: `trees/COMMIT` or `matching-refs/tags/PREFIX`.
pub(super) fn answer(repository: &Repository, what: &str) -> Answer {
    if let Some(prefix) = what.strip_prefix("matching-refs/tags/") {
        let prefix = decode(prefix);
        let tags = repository.tags.iter().filter(|(name, _)| name.starts_with(&prefix));
        let tags = tags.map(|(name, commit)| {
            serde_json::json!({
                "ref": format!("refs/tags/{name}"),
                "object": { "sha": commit, "type": "commit" },
            })
        });
        return Answer::new(200, &tags.collect::<serde_json::Value>().to_string());
    }
    match what.strip_prefix("trees/").and_then(|commit| repository.trees.get(commit)) {
        Some(tree) => Answer::new(200, &listing(tree)),
        None => Answer::json(404, "Not Found"),
    }
}

fn listing(files: &super::Tree) -> String {
    let mut entries = BTreeMap::new();
    let mut contents = Vec::new();
    for (path, bytes, executable) in files.files() {
        let node = Node::File { executable, size: bytes.len() as u64 };
        entries.insert(path.to_owned(), TreeEntry { node, id: contents.len() });
        contents.push(bytes.to_vec());
    }
    let dirs: std::collections::BTreeSet<String> = entries
        .keys()
        .flat_map(|path| path.match_indices('/').map(|(at, _)| path[..at].to_owned()))
        .collect();
    let blobs: Vec<_> = entries
        .iter()
        .map(|(path, entry)| {
            let alone = Tree::new(
                BTreeMap::from([("x".to_owned(), TreeEntry { id: 0, ..*entry })]),
                Arc::new(Memory(vec![contents[entry.id].clone()])),
            );
            // Not git's own id of the content, and one that changes with it all the same.
            let sha = git_tree_id(&alone, "").expect("memory").expect("a file");
            serde_json::json!({ "path": path, "mode": "100644", "type": "blob", "sha": sha })
        })
        .collect();
    let tree = Tree::new(entries, Arc::new(Memory(contents)));
    let mut list: Vec<_> = dirs
        .iter()
        .map(|dir| {
            let sha = git_tree_id(&tree, dir).expect("memory").expect("not empty");
            serde_json::json!({ "path": dir, "mode": "040000", "type": "tree", "sha": sha })
        })
        .collect();
    list.extend(blobs);
    serde_json::json!({ "sha": "0".repeat(40), "tree": list, "truncated": false }).to_string()
}
