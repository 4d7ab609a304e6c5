//! Which skills a tree holds.

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Document;
use crate::refusal::Refusal;
use crate::skill::find::SKIPPED;
use crate::skill::{MAX_SKILL_FILE, SkillMeta, load_in};
use crate::tree::{Node, SUBMODULE, Tree};
use crate::workers;

mod plugins;

pub use plugins::{Declared, Definition, of_plugin};

pub(super) use plugins::join;

use plugins::Declarations;

/// How many directories deep a skill may lie where nothing says where skills are.
pub const MAX_DEPTH: usize = 5;
/// How many directories deep a skill may lie below a directory that is known to hold skills.
const CONTAINER_DEPTH: usize = 3;
/// The largest `.gitmodules` that is read, in bytes.
const MAX_GITMODULES: u64 = 256 << 10;
/// Where one has more bytes than this, which hardly any has, a single thread reads them all: each may hold one.
const LARGE: u64 = 128 << 10;

/// A directory with a `SKILL.md`.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The directory; empty is the root.
    pub path: String,
    /// The name of its file, which is `SKILL.md` unless somebody spelled it in another case.
    pub file_name: String,
    /// What an agent would know of it, or why it would know nothing.
    pub meta: Result<SkillMeta, String>,
}

impl Candidate {
    /// The name of the directory, or `root` where the skill is the whole tree.
    pub fn directory_name<'a>(&'a self, root: &'a str) -> &'a str {
        if self.path.is_empty() { root } else { self.path.rsplit('/').next().unwrap_or(&self.path) }
    }

    /// The name to show: as the skill writes it, or that of its directory.
    pub fn title<'a>(&'a self, root: &'a str) -> &'a str {
        self.meta.as_ref().map_or_else(|_| self.directory_name(root), |meta| &meta.name)
    }

    /// The same with the name `root` where the skill is the whole of `tree` and has no name of its own.
    #[must_use]
    pub fn called(self, tree: &Tree, root: &str) -> Self {
        if !self.path.is_empty() || self.meta.is_ok() {
            return self;
        }
        let read = tree.read(&self.file_name, MAX_SKILL_FILE);
        let loaded =
            read.ok().and_then(|bytes| Some(load_in(&Document::from_bytes(bytes), Some(root)).ok()?.meta));
        Self { meta: loaded.map_or(self.meta, Ok), ..self }
    }

    /// Whether its author keeps it for the repository's own use (`metadata.internal: true`): it is
    /// installed only when it is asked for by name.
    pub fn is_internal(&self) -> bool {
        self.meta
            .as_ref()
            .is_ok_and(|meta| meta.metadata.get("internal").is_some_and(|value| value == "true"))
    }
}

/// Returns the skills in `tree`, sorted by path; `agent_dirs` are the directories in which agents
/// look for the skills of a project.
///
/// A `SKILL.md` at the root makes the whole tree one skill. Else the places that are known to hold
/// skills are searched: `skills/` and its hidden parts, the agents' directories, what plugin files declare, and
/// with them the directories at the root. Where none of them holds one, everything is searched, [`MAX_DEPTH`]
/// deep. A skill's own directory is not searched further, unless it is one of these places.
pub fn discover<'a>(tree: &Tree, agent_dirs: impl Iterator<Item = &'a str>) -> Vec<Candidate> {
    let files = skill_files(tree, "");
    if let Some(&file) = files.get("") {
        return candidates(tree, &[("", file)]);
    }
    let mut containers: BTreeMap<String, usize> =
        ["skills", "skills/.curated", "skills/.experimental", "skills/.system"]
            .into_iter()
            .chain(agent_dirs)
            .map(|dir| (dir.to_owned(), CONTAINER_DEPTH))
            .collect();
    let Declarations { skills: declared, containers: others } = plugins::declarations(tree);
    for (dir, depth) in others {
        let known = containers.entry(dir).or_default();
        *known = depth.max(*known);
    }
    let is_known = |dir: &str| {
        declared.contains(dir)
            || containers.iter().any(|(container, most)| {
                depth_below(dir, container).is_some_and(|depth| depth <= *most)
                    && !is_inside_another(&files, container, dir)
            })
    };
    let known: BTreeSet<&str> = files.keys().copied().filter(|dir| is_known(dir)).collect();
    let chosen: Vec<_> = if known.is_empty() {
        let near = |dir: &str| dir.split('/').count() <= MAX_DEPTH;
        outermost(files).into_iter().filter(|(dir, _)| near(dir)).collect()
    } else {
        let at_root = |dir: &str| !dir.contains('/');
        files.into_iter().filter(|(dir, _)| known.contains(dir) || at_root(dir)).collect()
    };
    candidates(tree, &chosen)
}

/// Whether a skill of `files` lies between directory `dir` and `container`, which `dir` is below.
fn is_inside_another(files: &BTreeMap<&str, &str>, container: &str, dir: &str) -> bool {
    let below = |at: usize| at > container.len();
    dir.match_indices('/').any(|(at, _)| below(at) && files.contains_key(&dir[..at]))
}

/// Returns the directories of `tree` with a `SKILL.md` that are not among `found`, the skills of all of it, nor
/// part of one: they are not where skills are looked for.
pub fn not_searched(tree: &Tree, found: &[Candidate]) -> Vec<String> {
    let found: BTreeSet<&str> = found.iter().map(|candidate| candidate.path.as_str()).collect();
    let is_part = |dir: &str| {
        found.contains("")
            || found.contains(dir)
            || dir.match_indices('/').any(|(at, _)| found.contains(&dir[..at]))
    };
    let others = outermost(skill_files(tree, "")).into_keys().filter(|dir| !is_part(dir));
    others.map(ToOwned::to_owned).collect()
}

/// Returns the skills at or below directory `dir`, which somebody named: nothing in it is hidden
/// by what lies elsewhere. What the manifest of a plugin there declares may lie deep.
pub fn discover_in(tree: &Tree, dir: &str) -> Vec<Candidate> {
    let found = outermost(skill_files(tree, dir));
    let declared = plugins::declared_at(tree, dir);
    let near = |path: &str| path == dir || depth_below(path, dir).is_some_and(|depth| depth <= MAX_DEPTH);
    let chosen = found.into_iter().filter(|(path, _)| near(path) || declared.contains(*path));
    candidates(tree, &chosen.collect::<Vec<_>>())
}

/// Returns the skills in `tree`, of which nothing but skills is known to be left.
pub fn discover_all(tree: &Tree) -> Vec<Candidate> {
    candidates(tree, &outermost(skill_files(tree, "")).into_iter().collect::<Vec<_>>())
}

/// Returns the directories of `tree` that belong to other repositories: submodules, whose files it does not have.
pub fn submodules(tree: &Tree) -> BTreeSet<String> {
    let special = tree.entries().filter(|(_, entry)| matches!(entry.node, Node::Special(SUBMODULE)));
    let mut found: BTreeSet<String> = special.map(|(path, _)| path.to_owned()).collect();
    // An archive says nothing of them, but for what git itself reads.
    let text = tree.read(".gitmodules", MAX_GITMODULES).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let keys = text.lines().filter_map(|line| line.split_once('='));
    let paths = keys.filter(|(key, _)| key.trim() == "path").map(|(_, value)| value.trim().trim_matches('"'));
    found.extend(paths.filter_map(|path| join("", path)));
    found
}

/// Whether directory `dir` of `tree` is a skill's.
pub fn is_skill(tree: &Tree, dir: &str) -> bool {
    tree.below(dir).any(|(path, _)| path.eq_ignore_ascii_case("SKILL.md"))
}

/// The directories at or below `dir` with a `SKILL.md`, and the spelling of its name.
fn skill_files<'a>(tree: &'a Tree, dir: &str) -> BTreeMap<&'a str, &'a str> {
    let mut files = BTreeMap::new();
    for (path, _) in tree.entries() {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let inside = dir.is_empty() || parent == dir || depth_below(parent, dir).is_some();
        if !name.eq_ignore_ascii_case("SKILL.md") || !inside || is_skipped(parent, dir) {
            continue;
        }
        // Upper case sorts first, so the exact spelling wins over any other.
        files.entry(parent).or_insert(name);
    }
    files
}

fn is_skipped(path: &str, below: &str) -> bool {
    let rest = path.strip_prefix(below).unwrap_or(path);
    rest.split('/').any(|part| SKIPPED.contains(&part))
}

/// Drops directories below other ones of the list.
fn outermost<'a>(files: BTreeMap<&'a str, &'a str>) -> BTreeMap<&'a str, &'a str> {
    let dirs: BTreeSet<&str> = files.keys().copied().collect();
    let inner = |dir: &str| {
        dir.match_indices('/').any(|(at, _)| dirs.contains(&dir[..at]))
            || (!dir.is_empty() && dirs.contains(""))
    };
    files.into_iter().filter(|(dir, _)| !inner(dir)).collect()
}

/// How many directories `dir` lies below `top`, or `None` where it does not.
fn depth_below(dir: &str, top: &str) -> Option<usize> {
    if top.is_empty() {
        return Some(if dir.is_empty() { 0 } else { dir.split('/').count() });
    }
    dir.strip_prefix(top)?.strip_prefix('/').map(|rest| rest.split('/').count())
}

/// Reads the skills at `found`, each a directory and the name of its file.
fn candidates(tree: &Tree, found: &[(&str, &str)]) -> Vec<Candidate> {
    let read = |&(dir, file): &(&str, &str)| candidate(tree, dir, file);
    let is_large = |&(dir, file): &(&str, &str)| {
        let entry = tree.get(&path_of(dir, file));
        entry.is_some_and(|entry| matches!(entry.node, Node::File { size, .. } if size > LARGE))
    };
    if found.iter().any(is_large) {
        return found.iter().map(read).collect();
    }
    workers::map(found, workers::PIECE, || (), |(), one| read(one)).collect()
}

fn path_of(dir: &str, file: &str) -> String {
    if dir.is_empty() { file.to_owned() } else { format!("{dir}/{file}") }
}

fn candidate(tree: &Tree, dir: &str, file: &str) -> Candidate {
    let path = path_of(dir, file);
    let meta = match tree.get(&path).map(|entry| entry.node) {
        Some(Node::File { .. }) => match tree.read(&path, MAX_SKILL_FILE) {
            Ok(bytes) => {
                let directory = dir.rsplit('/').next().filter(|name| !name.is_empty());
                let document = Document::from_bytes(bytes);
                load_in(&document, directory).map(|loaded| loaded.meta).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        },
        Some(Node::Special(kind)) => Err(Refusal::SpecialFile { name: file.to_owned(), kind }.to_string()),
        _ => Err(Refusal::SkillSymlink(file.to_owned()).to_string()),
    };
    Candidate { path: dir.to_owned(), file_name: file.to_owned(), meta }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tree::{Entry, Memory};

    pub(in crate::source) fn tree(files: &[(&str, &str)]) -> Tree {
        let entries = files.iter().enumerate().map(|(id, (path, text))| {
            let node = Node::File { executable: false, size: text.len() as u64 };
            ((*path).to_owned(), Entry { node, id })
        });
        let bytes = files.iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
        Tree::new(entries.collect(), Arc::new(Memory(bytes)))
    }

    fn paths(files: &[&str]) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|path| (*path, "---\nname: x\ndescription: y\n---\n")).collect();
        discover(&tree(&files), [".claude/skills"].into_iter()).into_iter().map(|c| c.path).collect()
    }

    #[test]
    fn a_skill_at_the_root_is_the_only_one() {
        assert_eq!(paths(&["SKILL.md", "skills/a/SKILL.md"]), [""]);
    }

    #[test]
    fn known_places_win_over_the_walk() {
        let files = [
            "skills/a/SKILL.md",
            "skills/.curated/b/SKILL.md",
            "skills/group/deep/c/SKILL.md",
            ".claude/skills/d/SKILL.md",
            "elsewhere/e/SKILL.md",
        ];
        assert_eq!(
            paths(&files),
            [".claude/skills/d", "skills/.curated/b", "skills/a", "skills/group/deep/c"]
        );
    }

    /// What the npm tool lists besides.
    #[test]
    fn directories_at_the_root_are_known_places() {
        let files =
            ["one/SKILL.md", "skills/a/SKILL.md", "skills/SKILL.md", "x/deep/SKILL.md", "one/in/SKILL.md"];
        assert_eq!(paths(&files), ["one", "skills", "skills/a"]);
    }

    #[test]
    fn what_was_not_searched_can_be_told() {
        let text = "---\nname: x\ndescription: y\n---\n";
        let all =
            ["skills/a/SKILL.md", "skills/a/in/SKILL.md", "x/deep/SKILL.md", "node_modules/p/q/SKILL.md"];
        let files: Vec<_> = all.iter().map(|path| (*path, text)).collect();
        let tree = tree(&files);
        assert_eq!(not_searched(&tree, &discover(&tree, std::iter::empty())), ["x/deep"]);
        assert!(not_searched(&tree, &discover_all(&tree)).is_empty());
    }

    #[test]
    fn the_walk_is_bounded_and_sees_hidden_directories() {
        let files = [
            "one/SKILL.md",
            ".hidden/two/SKILL.md",
            "a/b/c/d/five/SKILL.md",
            "a/b/c/d/e/six/SKILL.md",
            "node_modules/p/SKILL.md",
            "one/nested/SKILL.md",
            "target/x/SKILL.md",
        ];
        assert_eq!(paths(&files), [".hidden/two", "a/b/c/d/five", "one"]);
    }

    /// Several threads read them.
    #[test]
    fn many_skills_come_in_the_order_of_their_paths() {
        let text = |number| format!("---\nname: n{number:03}\ndescription: y\n---\n");
        let files: Vec<_> =
            (0..300).map(|number| (format!("skills/s{number:03}/SKILL.md"), text(number))).collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let tree = tree(&files);
        for found in [discover(&tree, std::iter::empty()), discover_in(&tree, "skills"), discover_all(&tree)]
        {
            let found: Vec<_> = found.iter().map(|c| (c.path.as_str(), c.title("r"))).collect();
            let expected: Vec<_> =
                (0..300).map(|number| (format!("skills/s{number:03}"), format!("n{number:03}"))).collect();
            assert_eq!(found, expected.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect::<Vec<_>>());
        }
    }

    /// S0-FR-002, conflict C13.
    #[test]
    fn the_exact_spelling_wins() {
        let both = tree(&[("x/SKILL.md", "---\nname: up\ndescription: y\n---\n"), ("x/skill.md", "")]);
        let found = discover(&both, std::iter::empty());
        assert_eq!((found[0].file_name.as_str(), found[0].title("r")), ("SKILL.md", "up"));
        let lower = tree(&[("x/Skill.md", "---\nname: low\ndescription: y\n---\n")]);
        assert_eq!(discover(&lower, std::iter::empty())[0].file_name, "Skill.md");
    }

    #[test]
    fn a_named_directory_is_searched_by_itself() {
        let tree = tree(&[("skills/a/SKILL.md", ""), ("x/y/b/SKILL.md", ""), ("x/SKILL.txt", "")]);
        let inside = |dir| discover_in(&tree, dir).into_iter().map(|c| c.path).collect::<Vec<_>>();
        assert_eq!(inside("x"), ["x/y/b"]);
        assert_eq!(inside("skills/a"), ["skills/a"]);
        assert!(inside("sk").is_empty());
    }

    #[test]
    fn a_skill_that_cannot_be_read_says_why() {
        let found = discover(&tree(&[("x/SKILL.md", "# no frontmatter")]), std::iter::empty());
        assert!(found[0].meta.as_ref().expect_err("refused").contains("frontmatter"));
        assert_eq!(found[0].title("root"), "x");
    }
}
