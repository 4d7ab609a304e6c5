//! Discovery of the skills in a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::sync::Arc;

use crate::document::Document;
use crate::refusal::{Limits, Refusal};
use crate::skill::find::is_skill_file;
use crate::skill::{MAX_SKILL_FILE, SkillMeta, load_in};
use crate::tree::{Node, SUBMODULE, Tree};
use crate::workers;

mod directories;
mod plugins;

pub use plugins::{Declared, Definition, of_plugin};

pub(super) use plugins::join;

use directories::{Directories, Skills, is_left_out};
use plugins::Declarations;

/// The maximum depth of a skill, in directories, if nothing declares where skills are.
pub const MAX_DEPTH: usize = 5;
/// The maximum depth of a skill, in directories, below a directory that is known to hold skills.
const CONTAINER_DEPTH: usize = 3;
/// The largest `.gitmodules` that is read, in bytes.
const MAX_GITMODULES: u64 = 256 << 10;
/// Agents' directories that end the search if they hold skills, as in the npm tool `skills`: authors publish there. What
/// is in another agent's directory is for those who work on the repository, and hides nothing.
const PUBLISHED: [&str; 31] = [
    ".agents/skills",
    ".claude/skills",
    ".cline/skills",
    ".codebuddy/skills",
    ".codex/skills",
    ".commandcode/skills",
    ".continue/skills",
    ".factory/skills",
    ".github/skills",
    ".goose/skills",
    ".grok/skills",
    ".iflow/skills",
    ".junie/skills",
    ".kilo/skills",
    ".kilocode/skills",
    ".kimchi/skills",
    ".kiro/skills",
    ".minimax/skills",
    ".mux/skills",
    ".neovate/skills",
    ".opencode/skills",
    ".openhands/skills",
    ".pi/skills",
    ".posit/assistant/skills",
    ".qoder/skills",
    ".roo/skills",
    ".trae/skills",
    ".windsurf/skills",
    ".zcode/skills",
    ".zencoder/skills",
    "skills",
];
/// If a file is larger than this, which is rare, a single thread reads them all, since each thread may hold one in
/// memory.
const LARGE: u64 = 128 << 10;

/// A directory with a `SKILL.md`.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The directory; empty is the root.
    pub path: String,
    /// The name of its file: `SKILL.md`, perhaps in another case.
    pub file_name: String,
    /// The metadata for an agent, or the reason why it cannot be read.
    pub meta: Result<SkillMeta, String>,
    /// The version that is meant, if the source lists several of it: what a lockfile calls its revision.
    pub revision: Option<String>,
    /// The file as read during discovery. `None` if the skill comes from an index, or the file cannot be read.
    document: Option<Arc<Document>>,
}

impl Candidate {
    /// Returns a skill that an index lists, whose files are not fetched yet.
    pub(super) fn listed(path: String, meta: Result<SkillMeta, String>) -> Self {
        Self { path, file_name: crate::skill::SKILL_FILE.to_owned(), meta, revision: None, document: None }
    }

    /// Returns the version `revision` of the skill that an index lists as `name`.
    pub fn listed_as(name: String, revision: String) -> Self {
        let meta = SkillMeta { name: name.clone(), version: Some(revision.clone()), ..SkillMeta::default() };
        Self { revision: Some(revision), ..Self::listed(name, Ok(meta)) }
    }

    /// Returns the document for `bytes`, the current content of its file: the one read during discovery,
    /// unless the file has changed since.
    pub fn document(&self, bytes: Vec<u8>) -> Arc<Document> {
        let known = self.document.as_ref().filter(|known| known.text().as_bytes() == bytes);
        known.map_or_else(|| Arc::new(Document::from_bytes(bytes)), Arc::clone)
    }

    /// Returns the name of the directory, or `root` if the skill is the whole tree.
    pub fn directory_name<'a>(&'a self, root: &'a str) -> &'a str {
        if self.path.is_empty() { root } else { self.path.rsplit('/').next().unwrap_or(&self.path) }
    }

    /// Returns the name to show: the skill's own, or that of its directory.
    pub fn title<'a>(&'a self, root: &'a str) -> &'a str {
        self.meta.as_ref().map_or_else(|_| self.directory_name(root), |meta| &meta.name)
    }

    /// Returns the candidate, named `root` if the skill is its whole tree and has no name of its own.
    #[must_use]
    pub fn called(self, root: &str) -> Self {
        if !self.path.is_empty() || self.meta.is_ok() {
            return self;
        }
        let loaded = self.document.as_ref().and_then(|document| load_in(document, Some(root)).ok());
        match loaded.map(|loaded| loaded.meta) {
            Some(meta) => Self { meta: Ok(meta), ..self },
            None => self,
        }
    }

    /// Reports whether the author reserves it for the repository's own use (`metadata.internal: true`): it is
    /// installed only if requested by name.
    pub fn is_internal(&self) -> bool {
        self.meta
            .as_ref()
            .is_ok_and(|meta| meta.metadata.get("internal").is_some_and(|value| value == "true"))
    }
}

/// Returns the skills in `tree`, sorted by path. `agent_dirs` are the directories in which agents look for
/// the skills of a project.
///
/// A `SKILL.md` at the root makes the whole tree one skill. Otherwise the places that are known to hold
/// skills are searched: `skills/` and its hidden parts, the agents' directories, what plugin files declare,
/// and with them the directories at the root. If none of them holds a skill, other than agents' directories
/// that are not `PUBLISHED`, everything is searched, [`MAX_DEPTH`] deep. A skill's own directory is not
/// searched further, unless it is one of these places.
pub fn discover(tree: &Tree, agent_dirs: &[&str]) -> Vec<Candidate> {
    let directories = Directories::of(tree);
    if let Some(file) = directories.file("") {
        return candidates(tree, &[("", file)].into());
    }
    let (published, private): (Vec<_>, Vec<_>) = agent_dirs.iter().partition(|dir| PUBLISHED.contains(dir));
    let mut containers: BTreeMap<String, usize> =
        ["skills", "skills/.curated", "skills/.experimental", "skills/.system"]
            .into_iter()
            .chain(published)
            .map(|dir| (dir.to_owned(), CONTAINER_DEPTH))
            .collect();
    let Declarations { skills: declared, containers: others } = plugins::declarations(tree);
    for (dir, depth) in others {
        let known = containers.entry(dir).or_default();
        *known = depth.max(*known);
    }
    let mut known = Skills::new();
    for (dir, depth) in containers.iter().filter(|(dir, _)| !is_left_out(dir)) {
        known.extend(directories.below(dir, *depth));
    }
    let declared = declared.iter().filter(|dir| !is_left_out(dir));
    known.extend(declared.filter_map(|dir| directories.entry(dir)));
    let around = directories.below("", if known.is_empty() { MAX_DEPTH } else { 1 });
    known.extend(around);
    known.extend(private.into_iter().flat_map(|dir| directories.below(dir, CONTAINER_DEPTH)));
    candidates(tree, &known)
}

/// Returns the directories of `tree` with a `SKILL.md` that are neither in `found`, the skills found in all
/// of it, nor part of one, nor a copy of one: they are outside the places that are searched.
pub fn not_searched(tree: &Tree, found: &[Candidate]) -> Vec<String> {
    let found: BTreeSet<&str> = found.iter().map(|candidate| candidate.path.as_str()).collect();
    let is_part = |dir: &str| {
        found.contains("")
            || found.contains(dir)
            || dir.match_indices('/').any(|(at, _)| found.contains(&dir[..at]))
    };
    let others: Vec<&str> = all_skills(tree).into_keys().filter(|dir| !is_part(dir)).collect();
    let copies = Copies::of(tree, &found);
    others.into_iter().filter(|dir| !copies.has(dir)).map(ToOwned::to_owned).collect()
}

/// The files of skills, to tell which directories are copies of them. Files are read only where names and sizes are
/// equal.
struct Copies<'a> {
    tree: &'a Tree,
    skills: BTreeMap<(usize, u64), Vec<&'a str>>,
}

impl<'a> Copies<'a> {
    fn of(tree: &'a Tree, skills: &BTreeSet<&'a str>) -> Self {
        let mut by_size: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for dir in skills {
            by_size.entry(Self::size(tree, dir)).or_default().push(*dir);
        }
        Self { tree, skills: by_size }
    }

    /// Returns the number of files in `dir`, and of their bytes.
    fn size(tree: &Tree, dir: &str) -> (usize, u64) {
        tree.below(dir).fold((0, 0), |(count, bytes), (_, entry)| match entry.node {
            Node::File { size, .. } => (count + 1, bytes + size),
            _ => (count + 1, bytes),
        })
    }

    /// Reports whether `dir` has the same files as one of the skills.
    fn has(&self, dir: &str) -> bool {
        let names = |dir| self.tree.below(dir).map(|(path, entry)| (path, entry.node));
        let digest = |dir| self.tree.skill(dir, &Limits::default()).ok()?.digest().ok();
        let mut alike = self.skills.get(&Self::size(self.tree, dir)).into_iter().flatten().copied();
        alike.any(|skill| {
            names(dir).eq(names(skill)) && digest(dir).is_some_and(|one| digest(skill) == Some(one))
        })
    }
}

/// Returns the skills at or below directory `dir`. The user named it, so skills elsewhere do not hide its
/// content. Skills that the manifest of a plugin there declares may be deep.
pub fn discover_in(tree: &Tree, dir: &str) -> Vec<Candidate> {
    let directories = Directories::of(tree);
    if let Some((dir, file)) = directories.entry(dir) {
        return candidates(tree, &[(dir, file)].into());
    }
    let declared = plugins::declared_at(tree, dir);
    let mut found = directories.below(dir, usize::MAX);
    let near = |path: &str| depth_below(path, dir).is_some_and(|depth| depth <= MAX_DEPTH);
    found.retain(|path, _| near(path) || declared.contains(*path));
    candidates(tree, &found)
}

/// Returns the skills in `tree`, which is known to contain only skills.
pub fn discover_all(tree: &Tree) -> Vec<Candidate> {
    candidates(tree, &all_skills(tree))
}

/// Returns the skills of `tree` that are not inside other skills, wherever they are.
fn all_skills(tree: &Tree) -> Skills<'_> {
    let directories = Directories::of(tree);
    let root = directories.entry("").map(|root| Skills::from([root]));
    root.unwrap_or_else(|| directories.below("", usize::MAX))
}

/// Returns the directories of `tree` that belong to other repositories: submodules, whose files are not in
/// the tree.
pub fn submodules(tree: &Tree) -> BTreeSet<String> {
    let special = tree.entries().filter(|(_, entry)| matches!(entry.node, Node::Special(SUBMODULE)));
    let mut found: BTreeSet<String> = special.map(|(path, _)| path.to_owned()).collect();
    // An archive records them only in the file that git itself reads.
    let text = tree.read(".gitmodules", MAX_GITMODULES).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let keys = text.lines().filter_map(|line| line.split_once('='));
    let paths = keys.filter(|(key, _)| key.trim() == "path").map(|(_, value)| value.trim().trim_matches('"'));
    found.extend(paths.filter_map(|path| join("", path)));
    found
}

/// Reports whether directory `dir` of `tree` is a skill.
pub fn is_skill(tree: &Tree, dir: &str) -> bool {
    tree.below(dir).any(|(path, _)| is_skill_file(OsStr::new(path)))
}

/// Returns how many directories `dir` is below `top`, or `None` if it is not.
fn depth_below(dir: &str, top: &str) -> Option<usize> {
    if top.is_empty() {
        return Some(if dir.is_empty() { 0 } else { dir.split('/').count() });
    }
    dir.strip_prefix(top)?.strip_prefix('/').map(|rest| rest.split('/').count())
}

/// Reads the skills at `found`.
fn candidates(tree: &Tree, found: &Skills<'_>) -> Vec<Candidate> {
    let found: Vec<_> = found.iter().collect();
    let read = |(dir, file): (&&str, &&str)| candidate(tree, dir, file);
    let is_large = |(dir, file): &(&&str, &&str)| {
        let entry = tree.get(&path_of(dir, file));
        entry.is_some_and(|entry| matches!(entry.node, Node::File { size, .. } if size > LARGE))
    };
    if found.iter().any(is_large) {
        return found.into_iter().map(read).collect();
    }
    workers::map(&found, workers::PIECE, || (), |(), one| read(*one)).collect()
}

fn path_of(dir: &str, file: &str) -> String {
    if dir.is_empty() { file.to_owned() } else { format!("{dir}/{file}") }
}

fn candidate(tree: &Tree, dir: &str, file: &str) -> Candidate {
    let path = path_of(dir, file);
    let read = match tree.get(&path).map(|entry| entry.node) {
        Some(Node::File { .. }) => tree.read(&path, MAX_SKILL_FILE).map_err(|error| error.to_string()),
        Some(Node::Special(kind)) => Err(Refusal::special(file.to_owned(), kind).to_string()),
        _ => Err(Refusal::SkillSymlink(file.to_owned()).to_string()),
    };
    let document = read.map(|bytes| Arc::new(Document::from_bytes(bytes)));
    let directory = dir.rsplit('/').next().filter(|name| !name.is_empty());
    let load = |document: &Arc<Document>| {
        load_in(document, directory).map(|loaded| loaded.meta).map_err(|error| error.to_string())
    };
    let meta = document.as_ref().map_err(Clone::clone).and_then(load);
    let (path, file_name) = (dir.to_owned(), file.to_owned());
    Candidate { path, file_name, meta, revision: None, document: document.ok() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tree::{Memory, TreeEntry};

    /// Directories of agents, as the table has them.
    const AGENT_DIRS: &[&str] = &[".agents/skills", ".claude/skills", ".gemini/skills", "data/skills"];

    pub(in crate::source) fn tree(files: &[(&str, &str)]) -> Tree {
        let entries = files.iter().enumerate().map(|(id, (path, text))| {
            let node = Node::File { executable: false, size: text.len() as u64 };
            ((*path).to_owned(), TreeEntry { node, id })
        });
        let bytes = files.iter().map(|(_, text)| text.as_bytes().to_vec()).collect();
        Tree::new(entries.collect(), Arc::new(Memory(bytes)))
    }

    fn paths(files: &[&str]) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|path| (*path, "---\nname: x\ndescription: y\n---\n")).collect();
        discover(&tree(&files), &[".claude/skills"]).into_iter().map(|c| c.path).collect()
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

    /// The npm tool also lists these.
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
        assert_eq!(not_searched(&tree, &discover(&tree, &[])), ["x/deep"]);
        assert!(not_searched(&tree, &discover_all(&tree)).is_empty());
    }

    /// A repository may carry its skills a second time, for its own agents or as the example of a plugin.
    #[test]
    fn copies_of_what_was_found_are_not_told() {
        let text = "---\nname: x\ndescription: y\n---\n";
        let tree = tree(&[
            ("skills/a/SKILL.md", text),
            ("skills/a/run.sh", "1"),
            ("copy/of/a/SKILL.md", text),
            ("copy/of/a/run.sh", "1"),
            ("other/bytes/a/SKILL.md", text),
            ("other/bytes/a/run.sh", "2"),
            ("other/name/a/SKILL.md", text),
            ("other/name/a/ran.sh", "1"),
            ("other/part/a/SKILL.md", text),
        ]);
        let found = discover(&tree, &[]);
        assert_eq!(found.len(), 1);
        assert_eq!(not_searched(&tree, &found), ["other/bytes/a", "other/name/a", "other/part/a"]);
    }

    /// The npm tool does not look into the first two, so they end no search there. It looks into the last.
    #[test]
    fn what_an_agent_reads_hides_nothing_that_is_published_elsewhere() {
        let paths = |agent: &str| {
            let files = [format!("{agent}/one/SKILL.md"), "pack/skills/two/SKILL.md".to_owned()];
            let files: Vec<_> =
                files.iter().map(|path| (path.as_str(), "---\nname: x\ndescription: y\n---\n")).collect();
            let found = discover(&tree(&files), AGENT_DIRS);
            found.into_iter().map(|one| one.path).collect::<Vec<_>>()
        };
        assert_eq!(paths(".gemini/skills"), [".gemini/skills/one", "pack/skills/two"]);
        assert_eq!(paths("data/skills"), ["data/skills/one", "pack/skills/two"]);
        assert_eq!(paths(".claude/skills"), [".claude/skills/one"]);
        let files = [
            (".gemini/skills/g/one/SKILL.md", "---\nname: x\ndescription: y\n---\n"),
            ("skills/two/SKILL.md", "---\nname: z\ndescription: y\n---\n"),
        ];
        let found = discover(&tree(&files), AGENT_DIRS);
        assert_eq!(found.len(), 2, "it is searched beside other places");
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
        for found in [discover(&tree, &[]), discover_in(&tree, "skills"), discover_all(&tree)] {
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
        let found = discover(&both, &[]);
        assert_eq!((found[0].file_name.as_str(), found[0].title("r")), ("SKILL.md", "up"));
        let lower = tree(&[("x/Skill.md", "---\nname: low\ndescription: y\n---\n")]);
        assert_eq!(discover(&lower, &[])[0].file_name, "Skill.md");
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
        let found = discover(&tree(&[("x/SKILL.md", "# no frontmatter")]), &[]);
        assert!(found[0].meta.as_ref().expect_err("refused").contains("frontmatter"));
        assert_eq!(found[0].title("root"), "x");
    }
}
