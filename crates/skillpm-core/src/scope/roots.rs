//! Paths as people write them.

use std::path::{MAIN_SEPARATOR, Path};

use crate::fs;

/// The project and the user's home, for shorter paths. By default there is neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// The directories with what is written for each, the project before the home.
    dirs: Vec<(String, String)>,
}

impl Roots {
    /// Returns those of the project at `project` and of the user's home `home`, for a reader in the directory `cwd`.
    pub fn new(cwd: &Path, project: Option<&Path>, home: Option<&Path>) -> Self {
        let up = |root: &Path| {
            let up = fs::relative(cwd, root).display().to_string();
            if up.is_empty() { up } else { format!("{up}{MAIN_SEPARATOR}") }
        };
        let project = project.map(|root| {
            // From elsewhere the way there says less than the project.
            let start = if cwd.starts_with(root) { up(root) } else { String::new() };
            (root.display().to_string(), start)
        });
        let home = home.map(|home| (home.display().to_string(), "~/".to_owned()));
        Self { dirs: project.into_iter().chain(home).collect() }
    }

    /// Returns `path` as it is typed there: relative inside the project, with `~` below the user's
    /// home, otherwise in full.
    pub fn short(&self, path: &str) -> String {
        let inside = |(root, start): &(String, String)| {
            let rest = path.strip_prefix(root.as_str())?.strip_prefix('/')?;
            Some(format!("{start}{rest}"))
        };
        self.dirs.iter().find_map(inside).unwrap_or_else(|| path.to_owned())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn paths_work_from_where_the_reader_is() {
        let short = |cwd: &str, path: &str| {
            Roots::new(cwd.as_ref(), Some("/h/p".as_ref()), Some("/h".as_ref())).short(path)
        };
        assert_eq!(short("/h/p", "/h/p/.agents/skills/a"), ".agents/skills/a");
        assert_eq!(short("/h/p/src/x", "/h/p/.agents/skills/a"), "../../.agents/skills/a");
        assert_eq!(short("/h/p/src", "/h/.agents/skills/a"), "~/.agents/skills/a");
        assert_eq!(short("/h/p/src", "/h/pp/a"), "~/pp/a");
        assert_eq!(short("/h/p/src", "/etc/a"), "/etc/a");
    }
}
