//! Real skills, where `SKILLPM_TESTDATA` says that they are.

use std::path::{Path, PathBuf};

use super::Tree;

/// One line of the data's list.
#[derive(Debug, serde::Deserialize)]
pub struct Expected {
    /// `owner/repo`.
    pub repo: String,
    /// Path of the `SKILL.md` in the repository.
    pub path: String,
    /// What a lenient reader finds.
    pub lenient: Lenient,
}

/// What a lenient reader finds in a `SKILL.md`.
#[derive(Debug, serde::Deserialize)]
pub struct Lenient {
    /// The name, where it can be read.
    pub name: Option<String>,
}

impl Expected {
    /// The skill's directory in the repository.
    pub fn dir(&self) -> &str {
        self.path.trim_end_matches("/SKILL.md")
    }
}

/// Where the data lies; `None`, with a word about it, where nobody says.
pub fn dir() -> Option<PathBuf> {
    let dir = std::env::var_os("SKILLPM_TESTDATA").map(PathBuf::from);
    if dir.is_none() {
        eprintln!("skipped: SKILLPM_TESTDATA is unset");
    }
    dir
}

/// The list of the skills.
pub fn expected(testdata: &Path) -> Vec<Expected> {
    let text = std::fs::read_to_string(testdata.join("skills/expected.jsonl")).expect("the list");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of the list")).collect()
}

/// The repositories, `owner/repo`.
pub const REPOSITORIES: [&str; 5] = [
    "elastic/agent-skills",
    "googleworkspace/cli",
    "levnikolaevich/claude-code-skills",
    "mattpocock/skills",
    "microsoft/azure-skills",
];

/// The files of a repository: each `SKILL.md` as it is, and for the files that the data only lists
/// (`MODE SIZE PATH`) ones of the same name, mode and size.
pub fn repository(testdata: &Path, name: &str) -> Tree {
    let mut tree = Tree::from_dir(&testdata.join("skills").join(name.replace('/', "+")));
    let lists: Vec<String> =
        tree.paths().filter(|path| path.ends_with("files.txt")).map(ToOwned::to_owned).collect();
    for list in lists {
        let dir = list.trim_end_matches("files.txt");
        let text = std::fs::read_to_string(testdata.join("skills").join(name.replace('/', "+")).join(&list))
            .expect("a list");
        for line in text.lines() {
            let mut parts = line.splitn(3, ' ');
            let (mode, size, path) = (parts.next(), parts.next(), parts.next());
            let (Some(mode), Some(size), Some(path)) = (mode, size, path) else { continue };
            let path = format!("{dir}{path}");
            if tree.paths().any(|there| there == path) {
                continue;
            }
            let size: usize = size.parse().expect("a size");
            let line = format!("{path}\n");
            let bytes: Vec<u8> = line.bytes().cycle().take(size).collect();
            tree = if mode == "100755" { tree.executable(&path, bytes) } else { tree.file(&path, bytes) };
        }
        tree.remove(&list);
    }
    tree
}
