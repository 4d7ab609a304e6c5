//! Files that tools leave in the directories they work in, by name: caches, environments, files of file managers and
//! editors. They are not written by hand, so they do not count as edits of a skill.

use std::sync::{Arc, LazyLock};

use super::{Node, Tree};

/// A kind of leftover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leftover {
    /// The name. A `/` at the end means a directory and everything in it; one `*` stands for any characters.
    pub name: &'static str,
    /// The tool that leaves it.
    pub by: &'static str,
    /// Whether it is code that runs in place of, or as a part of, a script beside it.
    pub is_code: bool,
    /// Whether the tool makes it again by itself, so that nothing is lost with it.
    comes_back: bool,
}

const fn leftover(name: &'static str, by: &'static str) -> Leftover {
    Leftover { name, by, is_code: false, comes_back: false }
}

const fn code(name: &'static str, by: &'static str) -> Leftover {
    Leftover { is_code: true, ..leftover(name, by) }
}

const fn cache(name: &'static str, by: &'static str) -> Leftover {
    leftover(name, by).cached()
}

/// All kinds. Only files that are never written by hand may be listed: they do not count as edits.
pub const LEFTOVERS: &[Leftover] = &[
    code("__pycache__/", "Python: compiled modules").cached(),
    code("*.pyc", "Python: a compiled module").cached(),
    code("*.pyo", "Python: a compiled module").cached(),
    code(".venv/", "Python: a virtual environment"),
    code("venv/", "Python: a virtual environment"),
    cache(".pytest_cache/", "pytest"),
    cache(".mypy_cache/", "mypy"),
    cache(".ruff_cache/", "Ruff"),
    leftover(".ipynb_checkpoints/", "Jupyter"),
    code("node_modules/", "npm, pnpm, Yarn, Bun: installed packages"),
    cache(".DS_Store", "macOS Finder"),
    cache("._*", "macOS: attributes on file systems of others"),
    cache("Thumbs.db", "Windows Explorer"),
    cache("desktop.ini", "Windows Explorer"),
    cache("Desktop.ini", "Windows Explorer"),
    leftover(".*.swp", "Vim: a swap file"),
    leftover(".*.swo", "Vim: a swap file"),
    leftover("*~", "editors: a backup copy"),
    leftover("#*#", "Emacs: an automatic copy"),
    leftover(".#*", "Emacs: a lock"),
    cache(".nfs*", "NFS: a file that was removed while it was open"),
    cache(".fuse_hidden*", "FUSE: a file that was removed while it was open"),
    cache(".skillpm-tmp-*", "skillpm: a file that it was writing when it was killed"),
];

/// The start of the names of files and directories that skillpm is writing. Such a name is never part of a skill.
pub const PENDING: &str = ".skillpm-tmp-";

/// Reports whether `path` is, or is in, something that skillpm was writing.
pub fn is_pending(path: &str) -> bool {
    path.contains(PENDING) && path.split('/').any(|name| name.starts_with(PENDING))
}

/// Returns the names of directories that are leftovers with everything in them.
pub fn directories() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> =
        LazyLock::new(|| LEFTOVERS.iter().filter_map(|leftover| leftover.name.strip_suffix('/')).collect());
    &NAMES
}

/// Returns the part of `path` that is a leftover, as far up as possible. Returns `None` if it is not one. A file with
/// the name of such a directory was written by a person; a link with that name leads to such a directory.
pub fn leftover_in(path: &str, is_link: bool) -> Option<&str> {
    let mut end = 0;
    loop {
        let rest = path.get(end..)?;
        let length = rest.find('/').unwrap_or(rest.len());
        let (name, is_last) = (rest.get(..length)?, length == rest.len());
        end += length;
        let is_leftover = if is_last {
            is_file(name) || is_link && directories().contains(&name)
        } else {
            directories().contains(&name) || name.starts_with(PENDING)
        };
        if is_leftover {
            return path.get(..end);
        }
        if is_last {
            return None;
        }
        end += 1;
    }
}

/// Reports whether the tool that left `path`, a leftover, makes it again by itself.
pub fn comes_back(path: &str) -> bool {
    kinds(path).any(|kind| kind.comes_back)
}

fn is_file(name: &str) -> bool {
    LEFTOVERS.iter().any(|leftover| leftover.matches(name))
}

/// Reports whether `leftover`, a path that [`leftover_in`] or [`Tree::leftovers`] returned, is code, or a directory of
/// code.
pub fn is_code(leftover: &str) -> bool {
    kinds(leftover).any(|kind| kind.is_code)
}

/// Returns the kinds of the leftover with this path.
fn kinds(path: &str) -> impl Iterator<Item = &'static Leftover> {
    let name = path.rsplit('/').next().unwrap_or(path);
    LEFTOVERS.iter().filter(move |kind| kind.matches(name) || kind.name.strip_suffix('/') == Some(name))
}

impl Leftover {
    const fn cached(self) -> Self {
        Self { comes_back: true, ..self }
    }

    fn matches(&self, name: &str) -> bool {
        match self.name.split_once('*') {
            Some((start, end)) => {
                name.len() > start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
            }
            // A directory has a slash after its name, which no name contains.
            None => name == self.name,
        }
    }
}

impl Tree {
    /// Returns the leftovers in the tree, sorted, each as far up as possible: a directory stands for
    /// everything in it.
    pub fn leftovers(&self) -> Vec<String> {
        let mut found: Vec<String> = self.skipped.clone();
        for (path, entry) in self.entries() {
            let leftover = leftover_in(path, entry.node == Node::Symlink);
            if let Some(leftover) = leftover
                && found.last().is_none_or(|last| last != leftover)
            {
                found.push(leftover.to_owned());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns this tree without the leftovers, except for those in `kept`.
    #[must_use]
    pub fn without_leftovers(&self, kept: impl Fn(&str) -> bool) -> Self {
        let mut tree = self.clone();
        Arc::make_mut(&mut tree.entries)
            .retain(|path, entry| leftover_in(path, entry.node == Node::Symlink).is_none_or(&kept));
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    #[test]
    fn what_is_a_leftover() {
        for (path, expected) in [
            ("SKILL.md", None),
            ("SKILL.md~", Some("SKILL.md~")),
            ("scripts/__pycache__/a.cpython-312.pyc", Some("scripts/__pycache__")),
            ("scripts/a.pyc", Some("scripts/a.pyc")),
            (".pyc", None),
            ("a/.DS_Store", Some("a/.DS_Store")),
            ("a/.DS_Store/b", None),
            ("._SKILL.md", Some("._SKILL.md")),
            ("._", None),
            (".a.md.swp", Some(".a.md.swp")),
            ("a.swp", None),
            ("#a#", Some("#a#")),
            ("##", None),
            ("venv", None),
            ("venv/pyvenv.cfg", Some("venv")),
            ("a/node_modules/b/node_modules/c.js", Some("a/node_modules")),
            ("my_node_modules/c.js", None),
            ("references/desktop.ini", Some("references/desktop.ini")),
            (".vscode/settings.json", None),
            ("a/.skillpm-tmp-x1Y2z3", Some("a/.skillpm-tmp-x1Y2z3")),
            (".skillpm-tmp-x1Y2z3/registry/config.json", Some(".skillpm-tmp-x1Y2z3")),
            (".skillpm-tmp", None),
        ] {
            assert_eq!(leftover_in(path, false), expected, "{path}");
        }
        assert_eq!(leftover_in("a/node_modules", true), Some("a/node_modules"));
    }

    #[test]
    fn which_of_them_are_code() {
        let all =
            ["a/__pycache__", "a/b.pyc", "venv", "node_modules", "SKILL.md~", ".DS_Store", ".pytest_cache"];
        assert_eq!(all.map(is_code), [true, true, true, true, false, false, false]);
    }

    #[test]
    fn the_reference_page_shows_this_table() {
        let row = |Leftover { name, by, .. }: &Leftover| format!("| `{name}` | {by} |\n");
        let rows: String = LEFTOVERS.iter().map(row).collect();
        skillpm_testing::check_reference("files.md", &format!("| name | left by |\n| --- | --- |\n{rows}"));
    }

    #[test]
    fn they_are_listed_once_and_left_out() {
        let tree = tree(&[
            ("SKILL.md", ""),
            ("a/.DS_Store", ""),
            ("a/node_modules/b.js", ""),
            ("a/node_modules/c.js", ""),
            ("d/node_modules@", "../a"),
        ]);
        assert_eq!(tree.leftovers(), ["a/.DS_Store", "a/node_modules", "d/node_modules"]);
        let paths = |tree: &Tree| tree.entries().map(|(path, _)| path.to_owned()).collect::<Vec<_>>();
        assert_eq!(paths(&tree.without_leftovers(|_| false)), ["SKILL.md"]);
        let kept = tree.without_leftovers(|leftover| leftover == "a/.DS_Store");
        assert_eq!(paths(&kept), ["SKILL.md", "a/.DS_Store"]);
    }
}
