//! The changes of a plan in words.

use super::one_line;
use crate::cli::printer::Printer;
use skillpm_core::scope::changes::{PathChange, PathEffect};
use skillpm_core::scope::plan::ChangedFiles;
use skillpm_format::{lockfile, manifest};

/// Prints the plan of a dry run: every path that would change.
pub(super) fn plan(printer: &Printer, paths: &[PathChange]) {
    let lines = lines(paths);
    printer.data(&lines.join("\n"));
    let dry = "nothing was changed: this was a dry run";
    printer.note(if lines.is_empty() { "there is nothing to do" } else { dry });
}

/// Returns a line for each path.
pub(super) fn lines(paths: &[PathChange]) -> Vec<String> {
    let line = |path: &PathChange| {
        let would = match path.change {
            PathEffect::Created => "create",
            PathEffect::Replaced => "replace",
            PathEffect::Deleted => "delete",
        };
        format!("would {would} {}", one_line(&path.shown))
    };
    paths.iter().map(line).collect()
}

/// Returns the names of the files that change.
pub(super) fn file_names(changed: ChangedFiles) -> Vec<&'static str> {
    let files = [(changed.manifest, manifest::FILE_NAME), (changed.lockfile, lockfile::FILE_NAME)];
    files.into_iter().filter(|(changed, _)| *changed).map(|(_, name)| name).collect()
}

/// Returns a change of `path`.
#[cfg(test)]
pub(super) fn path(path: &str, change: PathEffect) -> PathChange {
    PathChange { path: path.into(), change, shown: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_in_words() {
        let paths = [
            path(".agents/skills/pdf", PathEffect::Replaced),
            path(".junie/skills/pdf", PathEffect::Created),
            path("skillpm.lock", PathEffect::Deleted),
        ];
        let text = lines(&paths).join("\n");
        insta::assert_snapshot!(text, @"
        would replace .agents/skills/pdf
        would create .junie/skills/pdf
        would delete skillpm.lock
        ");
    }
}
