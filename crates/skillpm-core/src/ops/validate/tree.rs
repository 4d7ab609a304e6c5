//! Where files are in their repository, for programs that match them with those of a change.

use std::path::{Path, PathBuf};

use crate::env;
use crate::error::Result;
use crate::fs;
use crate::path::normal;
use crate::paths::NO_FILE;
use crate::settings::Settings;

/// The directories from which a program counts paths, independent of the working directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    cwd: PathBuf,
    /// The first one that a file is in counts.
    roots: Vec<PathBuf>,
}

impl Tree {
    /// That of the workflow that runs, then that of the git repository around the working directory.
    ///
    /// # Errors
    ///
    /// Fails if a directory cannot be examined.
    pub fn around(settings: &Settings) -> Result<Self> {
        let mut roots = Vec::new();
        if let Some(workspace) = settings.env.path(env::GITHUB_WORKSPACE) {
            // The working directory comes without links.
            roots.push(fs::real_path(&workspace)?.unwrap_or(workspace));
        }
        for dir in settings.cwd.ancestors() {
            if fs::kind(&dir.join(".git"))?.is_some() {
                roots.push(dir.to_owned());
                break;
            }
        }
        Ok(Self { cwd: settings.cwd.clone(), roots })
    }

    /// Returns the path of `file` from the root; unchanged if it is in none of them, or is not a file.
    pub fn path(&self, file: &Path) -> PathBuf {
        let at = normal(&self.cwd.join(file));
        let inside = |root: &PathBuf| at.strip_prefix(root).ok().map(Path::to_owned);
        let found = self.roots.iter().find_map(inside).filter(|_| file != Path::new(NO_FILE));
        found.unwrap_or_else(|| file.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;

    #[test]
    fn paths_count_from_the_workspace_else_from_the_repository() {
        let temp = tempfile::tempdir().expect("a directory");
        let root = fs::real_path(temp.path()).expect("is looked at").expect("is there");
        let cwd = root.join("repo/pkg/skills");
        fs::create_dir_all(&cwd).expect("is made");
        fs::create_dir_all(&root.join("repo/.git")).expect("is made");
        let tree = |workspace: Option<PathBuf>| {
            let vars = workspace.map(|dir| (env::GITHUB_WORKSPACE.into(), dir.into())).into_iter().collect();
            let env = Env { cwd: cwd.clone(), vars, ..Env::default() };
            Tree::around(&Settings::from_env(env).expect("settings")).expect("is looked at")
        };
        let told =
            |tree: &Tree, file: &str| tree.path(Path::new(file)).display().to_string().replace('\\', "/");
        for tree in [tree(None), tree(Some(root.join("repo"))), tree(Some(root.join("elsewhere")))] {
            assert_eq!(told(&tree, "./pdf/SKILL.md"), "pkg/skills/pdf/SKILL.md");
            assert_eq!(told(&tree, "../skills/pdf/SKILL.md"), "pkg/skills/pdf/SKILL.md");
            assert_eq!(told(&tree, "../../x/SKILL.md"), "x/SKILL.md");
            assert_eq!(told(&tree, "../../../y/SKILL.md"), "../../../y/SKILL.md");
            assert_eq!(told(&tree, NO_FILE), NO_FILE);
            assert_eq!(tree.path(&cwd.join("pdf/SKILL.md")), Path::new("pkg/skills/pdf/SKILL.md"));
        }
        assert_eq!(told(&tree(Some(root)), "pdf/SKILL.md"), "repo/pkg/skills/pdf/SKILL.md");
        assert_eq!(told(&Tree::default(), "./pdf/SKILL.md"), "./pdf/SKILL.md");
    }
}
