//! Declarations of skills in plugin files: marketplaces, and the manifests of plugins.
//!
//! When a whole repository is searched, such a file only says where to look, and names outside the repository
//! are ignored. When the user chose a plugin, errors in its files are reported.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::directories::{Directories, Skills};
use super::{CONTAINER_DEPTH, Candidate, candidates, depth_below};
use crate::error::{Error, Result};
use crate::source::json::Json;
use crate::source::marketplace::{self, MAX_FILE};
use crate::tree::{Node, Tree};

/// The manifests of a plugin: of the Agent Plugins specification 1.0, Claude Code and Codex.
const MANIFESTS: &[&str] = &["plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json"];

/// The default directory of a plugin's skills; in Agent Plugins 1.0 the only one.
const SKILLS: &str = "skills";

/// The statements of a marketplace about the skills of a plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definition {
    /// The directories that it names; `None` if it names none.
    pub skills: Option<Vec<Declared>>,
    /// `true`: the plugin must have its own manifest. `false`: the marketplace entry is complete.
    pub strict: Option<bool>,
    /// The position of its source: `file:line:column`.
    pub place: String,
}

/// A directory that a file declares to hold skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The directory below the plugin's own; empty is the plugin's own.
    pub path: String,
    /// The position of the declaration: `file:line:column`.
    pub place: String,
}

/// Returns the skills of the plugin in directory `root`, for which a marketplace gives `definition`.
///
/// Only what the marketplace and the plugin's manifests name counts. If they name nothing, the directories in
/// `skills/` count. A plugin that has only a `SKILL.md` is one skill.
///
/// # Errors
///
/// Fails for a manifest that cannot be used or is missing although required, and for a declared directory
/// without a skill.
pub fn of_plugin(tree: &Tree, root: &str, definition: &Definition) -> Result<Vec<Candidate>> {
    let manifests: Vec<_> = MANIFESTS
        .iter()
        .map(|name| (*name, below(root, name)))
        .filter(|(_, path)| matches!(tree.get(path).map(|entry| entry.node), Some(Node::File { .. })))
        .collect();
    if definition.strict == Some(true) && manifests.is_empty() {
        let place = if root.is_empty() { "the root of its repository" } else { root };
        return Err(Error::integrity(format!(
            "{}: the plugin must have a `plugin.json` (`strict`), but there is none in `{place}`",
            definition.place
        )));
    }
    let mut named = definition.skills.clone();
    if definition.strict != Some(false) {
        for (name, path) in &manifests {
            let bytes = tree
                .read(path, MAX_FILE)
                .map_err(|error| Error::from(error).context(format!("`{path}` cannot be read")))?;
            let json = Json::parse(path, bytes)?;
            let manifest = json.root().object("plugin")?;
            // In Agent Plugins 1.0 the place is fixed, and unknown fields are ignored.
            if let Some(skills) = manifest.get("skills").filter(|_| *name != MANIFESTS[0]) {
                named.get_or_insert_default().extend(marketplace::declared(&skills)?);
            }
        }
    }
    let directories = Directories::of(tree);
    let whole = directories.file(root);
    let found = directories.below(root, usize::MAX);
    let mut chosen: BTreeSet<&str> = BTreeSet::new();
    for place in named.iter().flatten() {
        let dir = below(root, &place.path);
        if place.path.is_empty() && whole.is_some() {
            chosen.insert(root);
            continue;
        }
        let mut there = found.keys().filter(|skill| is_at(skill, &dir)).peekable();
        if there.peek().is_none() {
            let message = format!("{}: there is no `SKILL.md` in `{}`", place.place, shown(&dir));
            return Err(Error::integrity(message).hint("the plugin names a skill that it does not have"));
        }
        chosen.extend(there);
    }
    if named.is_none() {
        let dir = below(root, SKILLS);
        chosen.extend(found.keys().filter(|skill| depth_below(skill, &dir) == Some(1)));
        if chosen.is_empty() && whole.is_some() {
            chosen.insert(root);
        }
    }
    let file = |dir: &str| found.get(dir).copied().or(whole).unwrap_or("SKILL.md");
    let chosen: Skills<'_> = chosen.into_iter().map(|dir| (dir, file(dir))).collect();
    Ok(candidates(tree, &chosen))
}

/// Reports whether the skill in `dir` is at or below the directory `place`.
fn is_at(dir: &str, place: &str) -> bool {
    dir == place || depth_below(dir, place).is_some_and(|depth| depth <= CONTAINER_DEPTH)
}

fn shown(dir: &str) -> &str {
    if dir.is_empty() { "." } else { dir }
}

fn below(root: &str, path: &str) -> String {
    match (root.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (_, true) => root.to_owned(),
        _ => format!("{root}/{path}"),
    }
}

/// The declarations of the plugin files of a tree about places of skills.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    /// Directories that are skills if they have a `SKILL.md`.
    pub(super) skills: BTreeSet<String>,
    /// Directories that hold skills, with the depth to search.
    pub(super) containers: BTreeMap<String, usize>,
}

/// Returns what the marketplaces and the manifest at the root of `tree` declare.
pub(super) fn declarations(tree: &Tree) -> Declarations {
    let mut said = Declarations::default();
    for Plugin { root, skills } in plugins(tree) {
        for skill in &skills {
            // The npm tool also lists the siblings of a declared skill.
            if let Some((parent, _)) = skill.rsplit_once('/') {
                said.containers.entry(parent.to_owned()).or_insert(1);
            }
        }
        let deep = skills.iter().filter(|dir| !dir.is_empty()).cloned().chain([below(&root, SKILLS)]);
        said.containers.extend(deep.map(|dir| (dir, CONTAINER_DEPTH)));
        said.skills.extend(skills.into_iter().chain([root]));
    }
    said
}

/// Returns the directories that the manifests of the plugin in `root` declare to be skills.
pub(super) fn declared_at(tree: &Tree, root: &str) -> BTreeSet<String> {
    manifest_skills(tree, root).unwrap_or_default().into_iter().collect()
}

struct Plugin {
    root: String,
    skills: Vec<String>,
}

fn plugins(tree: &Tree) -> Vec<Plugin> {
    let mut plugins = Vec::new();
    for file in marketplace::FILES.iter().filter_map(|file| read(tree, file)) {
        let base = file["metadata"]["pluginRoot"].as_str().unwrap_or("");
        for plugin in file["plugins"].as_array().into_iter().flatten() {
            // Sources in other repositories are not part of this tree.
            let source = &plugin["source"];
            let root = match (source.as_str(), source["source"].as_str()) {
                (Some(path), _) => join("", base).and_then(|base| join(&base, path)),
                (None, Some("local")) => source["path"].as_str().and_then(|path| join("", path)),
                _ => None,
            };
            let Some(root) = root else { continue };
            let mut skills = paths(&root, &plugin["skills"]);
            if plugin["strict"] != Value::Bool(false) {
                skills.extend(manifest_skills(tree, &root).unwrap_or_default());
            }
            plugins.push(Plugin { root, skills });
        }
    }
    if let Some(skills) = manifest_skills(tree, "") {
        plugins.push(Plugin { root: String::new(), skills });
    }
    plugins
}

/// Returns what the manifests of the plugin in `root` declare, or `None` if it has none.
fn manifest_skills(tree: &Tree, root: &str) -> Option<Vec<String>> {
    let manifests: Vec<_> = MANIFESTS[1..].iter().filter_map(|name| read(tree, &below(root, name))).collect();
    (!manifests.is_empty())
        .then(|| manifests.iter().flat_map(|manifest| paths(root, &manifest["skills"])).collect())
}

fn read(tree: &Tree, path: &str) -> Option<Value> {
    serde_json::from_slice(&tree.read(path, MAX_FILE).ok()?).ok()
}

/// Returns the directories that `value`, a path or a list of them, names below `root`.
fn paths(root: &str, value: &Value) -> Vec<String> {
    match value {
        Value::String(path) => join(root, path).into_iter().collect(),
        Value::Array(items) => items.iter().filter_map(|item| join(root, item.as_str()?)).collect(),
        _ => Vec::new(),
    }
}

/// Joins `path` to `root`, or returns `None` if it leads out of the tree.
pub(in crate::source) fn join(root: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
    if path.starts_with('/') || path.contains(['\\', '\0']) || path.chars().any(char::is_control) {
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
    use super::super::tests::tree;
    use super::super::{discover, discover_in};
    use super::*;

    const SKILL: &str = "---\nname: x\ndescription: y\n---\n";

    fn found(marketplace: &str, dirs: &[&str]) -> Vec<String> {
        let mut files = vec![(".claude-plugin/marketplace.json".to_owned(), marketplace.to_owned())];
        files.extend(dirs.iter().map(|dir| (format!("{dir}/SKILL.md"), SKILL.to_owned())));
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        discover(&tree(&files), &[]).into_iter().map(|c| c.path).collect()
    }

    #[test]
    fn declared_skills_are_found_at_any_depth() {
        let marketplace = r#"{"name":"m","plugins":[
            {"name":"p","source":"./","skills":["./deep/er/than/five/levels/of/a"]},
            {"name":"q","source":"./plugins/q"},
            {"name":"r","source":{"source":"github","repo":"o/r"}}]}"#;
        let dirs = ["deep/er/than/five/levels/of/a", "plugins/q/skills/b", "other/c/d"];
        assert_eq!(found(marketplace, &dirs), ["deep/er/than/five/levels/of/a", "plugins/q/skills/b"]);
    }

    /// A plugin may be one skill, or a skill with others in it.
    #[test]
    fn the_directory_of_a_plugin_is_a_skill() {
        let marketplace = r#"{"name":"m","plugins":[
            {"name":"one","source":"./p/one"}, {"name":"suite","source":"./p/suite"},
            {"name":"more","source":"./p/more","skills":["./x/group", "./y/z"]}]}"#;
        let dirs = [
            "p/one",
            "p/one/in",
            "p/suite",
            "p/suite/skills/two",
            "p/more/x/group/a",
            "p/more/y/z",
            "p/more/y/beside",
            "p/other",
        ];
        let expected =
            ["p/more/x/group/a", "p/more/y/beside", "p/more/y/z", "p/one", "p/suite", "p/suite/skills/two"];
        assert_eq!(found(marketplace, &dirs), expected);
    }

    #[test]
    fn the_manifests_of_plugins_are_read() {
        let files = |manifest: &str, text: &str| {
            let deep = "a/b/c/d/e/f/deep";
            let files = [
                (manifest.to_owned(), text.to_owned()),
                (format!("{deep}/SKILL.md"), SKILL.to_owned()),
                ("skills/near/SKILL.md".to_owned(), SKILL.to_owned()),
                ("other/in/SKILL.md".to_owned(), SKILL.to_owned()),
            ];
            let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            discover(&tree(&files), &[]).into_iter().map(|c| c.path).collect::<Vec<_>>()
        };
        let text = r#"{"name": "p", "skills": ["./a/b/c/d/e/f/deep"]}"#;
        for manifest in [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"] {
            assert_eq!(files(manifest, text), ["a/b/c/d/e/f/deep", "skills/near"]);
        }
        // Agent Plugins 1.0 has one place for skills.
        assert_eq!(files("plugin.json", text), ["skills/near"]);
        let local = r#"{"plugins": [{"name": "p", "source": {"source": "local", "path": "./a/b/c/d"},
            "skills": "./e/f/deep"}]}"#;
        assert_eq!(files(".agents/plugins/marketplace.json", local), ["a/b/c/d/e/f/deep", "skills/near"]);
    }

    #[test]
    fn a_directory_that_is_named_may_declare_what_lies_deep() {
        let text = r#"{"skills": ["./a/b/c/d/e/f/deep"]}"#;
        let files = [("p/.claude-plugin/plugin.json", text), ("p/a/b/c/d/e/f/deep/SKILL.md", SKILL)];
        assert_eq!(discover_in(&tree(&files), "p")[0].path, "p/a/b/c/d/e/f/deep");
        assert!(discover_in(&tree(&files[1..]), "p").is_empty());
    }

    /// Returns the skills of a plugin, or why there are none.
    fn of(
        files: &[(&str, &str)],
        skills: Option<&[&str]>,
        strict: Option<bool>,
    ) -> std::result::Result<Vec<String>, String> {
        let declared = |path: &&str| Declared { path: (*path).to_owned(), place: "f:1:2".to_owned() };
        let skills = skills.map(|paths| paths.iter().map(declared).collect());
        of_plugin(&tree(files), "p", &Definition { skills, strict, place: "f:1:1".to_owned() })
            .map(|found| found.into_iter().map(|c| c.path).collect())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_counts_as_a_plugins_skills() {
        let claude = r#"{"name": "p", "skills": "./more/"}"#;
        let all = [
            ("p/.claude-plugin/plugin.json", claude),
            ("p/SKILL.md", SKILL),
            ("p/examples/x/SKILL.md", SKILL),
            ("p/more/m/SKILL.md", SKILL),
            ("p/skills/a/SKILL.md", SKILL),
            ("p/skills/b/SKILL.md", SKILL),
            ("p/skills/deep/c/SKILL.md", SKILL),
            ("skills/others/SKILL.md", SKILL),
        ];
        assert_eq!(of(&all, None, None).unwrap(), ["p/more/m"]);
        assert_eq!(of(&all, None, Some(false)).unwrap(), ["p/skills/a", "p/skills/b"]);
        assert_eq!(of(&all, Some(&["examples/x"]), Some(false)).unwrap(), ["p/examples/x"]);
        assert_eq!(of(&all, Some(&["examples/x"]), Some(true)).unwrap(), ["p/examples/x", "p/more/m"]);
        // Without a manifest in the plugin, only what the marketplace names counts.
        assert_eq!(of(&all[1..], Some(&["skills/b"]), None).unwrap(), ["p/skills/b"]);
        assert_eq!(of(&all[1..], Some(&[""]), None).unwrap(), ["p"]);
        assert_eq!(of(&all[1..3], None, None).unwrap(), ["p"]);
        assert!(of(&all[6..], None, None).unwrap().is_empty());
        // The default directory counts too if the plugin's manifest names none.
        let plain = [("p/.claude-plugin/plugin.json", "{}"), all[4], all[6]];
        assert_eq!(of(&plain, None, None).unwrap(), ["p/skills/a"]);
    }

    #[test]
    fn what_is_wrong_with_a_chosen_plugin_is_told() {
        let skill = ("p/skills/a/SKILL.md", SKILL);
        let error = |files: &[(&str, &str)], skills, strict| of(files, skills, strict).expect_err("wrong");
        assert_eq!(
            error(&[skill], None, Some(true)),
            "f:1:1: the plugin must have a `plugin.json` (`strict`), but there is none in `p`"
        );
        assert_eq!(
            error(&[skill], Some(&["skills/z"]), None),
            "f:1:2: there is no `SKILL.md` in `p/skills/z`"
        );
        for (text, message) in [
            ("{", "p/.codex-plugin/plugin.json:1:1: EOF while parsing an object"),
            ("[]", "p/.codex-plugin/plugin.json:1:1: `plugin` must be an object"),
            (r#"{"skills": "../x"}"#, "p/.codex-plugin/plugin.json:1:12: `../x` leads out of the plugin"),
            (r#"{"skills": 1}"#, "p/.codex-plugin/plugin.json:1:12: `skills` must be a list"),
            (r#"{"skills": "x"}"#, "p/.codex-plugin/plugin.json:1:12: there is no `SKILL.md` in `p/x`"),
        ] {
            assert_eq!(error(&[("p/.codex-plugin/plugin.json", text), skill], None, None), message);
        }
    }

    #[test]
    fn what_leads_out_or_is_no_json_is_passed_over() {
        let outside = r#"{"plugins":[{"source":"../x","skills":["../../y"]},{"source":"/etc"}]}"#;
        assert_eq!(found(outside, &["a"]), ["a"]);
        assert_eq!(found("{", &["a"]), ["a"]);
    }
}
