//! What plugin files say about skills: `.claude-plugin/marketplace.json` and `plugin.json`.
//!
//! Such a file only says where to look. What it names outside of the repository is passed over.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::tree::Tree;

/// The largest plugin file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Directories that plugin files declare to be skills.
pub(super) fn skills(tree: &Tree) -> BTreeSet<String> {
    plugins(tree).into_iter().flat_map(|plugin| plugin.skills).collect()
}

/// Directories that hold the skills of plugins which name none.
pub(super) fn containers(tree: &Tree) -> BTreeSet<String> {
    plugins(tree).into_iter().filter_map(|plugin| join(&plugin.root, "skills")).collect()
}

struct Plugin {
    root: String,
    skills: Vec<String>,
}

fn plugins(tree: &Tree) -> Vec<Plugin> {
    let mut plugins = Vec::new();
    if let Some(file) = read(tree, ".claude-plugin/marketplace.json") {
        let base = file["metadata"]["pluginRoot"].as_str().unwrap_or("");
        for plugin in file["plugins"].as_array().into_iter().flatten() {
            // Sources in other repositories are not part of this tree.
            let root = plugin["source"].as_str().and_then(|source| join("", source)).and_then(|source| {
                if base.is_empty() { Some(source) } else { join(&join("", base)?, &source) }
            });
            let Some(root) = root else { continue };
            let own = format!("{root}/.claude-plugin/plugin.json");
            let mut skills = paths(&root, &plugin["skills"]);
            if let Some(manifest) = read(tree, own.trim_start_matches('/')) {
                skills.extend(paths(&root, &manifest["skills"]));
            }
            plugins.push(Plugin { root, skills });
        }
    }
    if let Some(file) = read(tree, ".claude-plugin/plugin.json") {
        plugins.push(Plugin { root: String::new(), skills: paths("", &file["skills"]) });
    }
    plugins
}

fn read(tree: &Tree, path: &str) -> Option<Value> {
    serde_json::from_slice(&tree.read(path, MAX_FILE).ok()?).ok()
}

/// The directories that `value`, a path or a list of them, names below `root`.
fn paths(root: &str, value: &Value) -> Vec<String> {
    match value {
        Value::String(path) => join(root, path).into_iter().collect(),
        Value::Array(items) => items.iter().filter_map(|item| join(root, item.as_str()?)).collect(),
        _ => Vec::new(),
    }
}

/// Joins `path` to `root`, or returns `None` where it leads out of the tree.
fn join(root: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
    if path.starts_with('/') || path.contains('\\') {
        return None;
    }
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => return None,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::discover;
    use super::super::tests::tree;

    const SKILL: &str = "---\nname: x\ndescription: y\n---\n";

    fn paths(marketplace: &str, dirs: &[&str]) -> Vec<String> {
        let mut files = vec![(".claude-plugin/marketplace.json".to_owned(), marketplace.to_owned())];
        files.extend(dirs.iter().map(|dir| (format!("{dir}/SKILL.md"), SKILL.to_owned())));
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        discover(&tree(&files), std::iter::empty()).into_iter().map(|c| c.path).collect()
    }

    #[test]
    fn declared_skills_are_found_at_any_depth() {
        let marketplace = r#"{"name":"m","plugins":[
            {"name":"p","source":"./","skills":["./deep/er/than/five/levels/of/a"]},
            {"name":"q","source":"./plugins/q"},
            {"name":"r","source":{"source":"github","repo":"o/r"}}]}"#;
        let dirs = ["deep/er/than/five/levels/of/a", "plugins/q/skills/b", "other/c"];
        assert_eq!(paths(marketplace, &dirs), ["deep/er/than/five/levels/of/a", "plugins/q/skills/b"]);
    }

    #[test]
    fn what_leads_out_or_is_no_json_is_passed_over() {
        let outside = r#"{"plugins":[{"source":"../x","skills":["../../y"]},{"source":"/etc"}]}"#;
        assert_eq!(paths(outside, &["a"]), ["a"]);
        assert_eq!(paths("{", &["a"]), ["a"]);
    }
}
