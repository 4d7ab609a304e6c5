//! The files that other tools write about skills: their lockfiles, their hashes, and their additions to copies.
//!
//! Two tools matter. The npm program `skills` keeps `skills-lock.json` in a project and `.skill-lock.json` for the
//! user; `gh skill` keeps its notes in the frontmatter of each copy. The formats are theirs, so everything here must
//! match what the tools themselves do, byte for byte.

pub mod clawhub;
pub mod copy;
pub mod cyclonedx;
pub mod evals;
pub mod gh;
pub mod global_lock;
pub mod hash;
pub mod json;
pub mod oci;
pub mod order;
pub mod servers;
pub mod skills_lock;
pub mod source;

pub use json::Json;

/// An error for an unusable file of another tool. Such a file is never treated as empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ForeignError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The problem.
    pub message: String,
    /// The hint.
    pub hint: &'static str,
}

/// Returns the name of the directory that the npm tool uses for a skill: lower case, runs of characters other than
/// letters, digits, dots and underscores replaced by one hyphen, and none of these at an edge.
pub fn directory_name(name: &str) -> String {
    let mut directory = String::new();
    for c in name.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_') {
            directory.push(c);
        } else if !directory.ends_with('-') {
            directory.push('-');
        }
    }
    let mut directory = directory.trim_matches(['.', '-']).to_owned();
    directory.truncate(255);
    if directory.is_empty() { "unnamed-skill".to_owned() } else { directory }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_directories() {
        for (name, directory) in [
            ("pdf", "pdf"),
            ("Ahrefs  Automation!", "ahrefs-automation"),
            ("a.b_c", "a.b_c"),
            ("../../canary", "canary"),
            ("--x--y--", "x-y"),
            ("a-_-b", "a-_-b"),
            ("技能", "unnamed-skill"),
            ("..", "unnamed-skill"),
        ] {
            assert_eq!(directory_name(name), directory, "{name}");
        }
    }
}
