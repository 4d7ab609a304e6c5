//! Differences between two texts, line by line.

use std::fmt::Write as _;
use std::path::{Component, Path};

use similar::TextDiff;

use crate::text::visible;

/// The number of lines shown around a difference.
const CONTEXT: usize = 3;

/// Returns the unified diff of `old` and `new`, both the file `path`, with three lines around each difference
/// and headers as `git` writes them. Returns `None` if the texts are equal. The texts are not escaped: the
/// code that prints the diff does that.
pub fn unified(path: &Path, old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let name = shown(path);
    Some(hunks(&by_lines(old, new), &format!("a/{name}"), &format!("b/{name}")))
}

/// Works like [`unified`], for a file that is named `new_path` afterwards. Its texts may be equal.
pub fn renamed(path: &Path, new_path: &Path, old: &str, new: &str) -> String {
    let (from, to) = (shown(path), shown(new_path));
    let mut out = format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    if old != new {
        out.push_str(&hunks(&by_lines(old, new), &format!("a/{from}"), &format!("b/{to}")));
    }
    out
}

/// Compares two texts line by line. Only a line feed ends a line, as for `git` and `patch`: otherwise a lone
/// carriage return would split one of their lines.
pub(super) fn by_lines<'old, 'new>(old: &'old str, new: &'new str) -> TextDiff<'old, 'new, str> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    TextDiff::from_slices(&old, &new)
}

/// Returns the headers and the hunks of `diff`.
pub(super) fn hunks(diff: &TextDiff<'_, '_, str>, old: &str, new: &str) -> String {
    // A tab follows a name with blanks, as `git` and `diff` write it: otherwise `patch` would end the name at
    // a blank.
    let tab = |name: &str| if name.contains(' ') { "\t" } else { "" };
    let mut out = format!("--- {old}{}\n+++ {new}{}\n", tab(old), tab(new));
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", hunk.header());
        for change in hunk.iter_changes() {
            let _ = write!(out, "{}{}", change.tag(), change.value());
            if !change.value().ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// Returns the path without a prefix that only gives the starting point, in one line.
pub(super) fn shown(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    let name = parts.collect::<Vec<_>>().join("/");
    visible(&name).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_headers_hunks_and_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        let new = old.replace("6\n", "six\n");
        insta::assert_snapshot!(unified(Path::new("./skills/pdf/SKILL.md"), old, &new).expect("a diff"), @r"
        --- a/skills/pdf/SKILL.md
        +++ b/skills/pdf/SKILL.md
        @@ -3,7 +3,7 @@
         3
         4
         5
        -6
        +six
         7
         8
         9
        ");
        assert_eq!(unified(Path::new("x"), old, old), None);
    }

    #[test]
    fn line_ends_are_differences_and_names_are_one_line() {
        let diff = unified(Path::new("/a\n+b"), "x\r\n", "x").expect("a diff");
        assert_eq!(diff, "--- a/a +b\t\n+++ b/a +b\t\n@@ -1 +1 @@\n-x\r\n+x\n\\ No newline at end of file\n");
        // This is one line for `git` and `patch`.
        let diff = unified(Path::new("x"), "a\rb\n", "a\rc\r").expect("a diff");
        let hunk = diff.split_once("@@\n").expect("a hunk").1;
        assert_eq!(hunk, "-a\rb\n+a\rc\r\n\\ No newline at end of file\n");
    }
}
