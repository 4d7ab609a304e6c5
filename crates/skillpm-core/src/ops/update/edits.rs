//! Handles what the user changed: how it is merged, and whether an earlier merge is done.

use crate::advice::Verb;
use crate::error::{Error, ErrorKind, Result};
use crate::lockfile::Locked;
use crate::merge::{Labels, Merged, Outcome, Prefer, Versions, merge_for};
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::scope::merges::{self, Disputed, OURS, label};
pub(super) use crate::scope::merges::{DIGITS, open};
use crate::scope_kind::ScopeKind;

/// Merges what the user made of `base` into `theirs`, which is `locked` from now on.
pub(super) fn merged(
    name: &SkillName,
    versions: &Versions<'_>,
    locked: &Locked,
    prefer: Option<Prefer>,
) -> Result<Merged> {
    let theirs = label(locked);
    let labels = Labels { ours: OURS, theirs: &theirs };
    merge_for(versions, &labels, &Limits::default(), prefer)
        .map_err(|error| Error::from(error).context(format!("the edits of `{name}` cannot be merged")))
}

/// Returns the paths of `merged` that a user has to resolve.
pub(super) fn disputed(merged: &Merged) -> Vec<Disputed> {
    let disputed = |file: &crate::merge::MergedFile| match file.outcome {
        Outcome::Conflict(conflict) => {
            Some(Disputed { path: file.path.clone(), conflict, kept: file.kept.clone() })
        }
        _ => None,
    };
    merged.files.iter().filter_map(disputed).collect()
}

/// Returns the error for a skill with an earlier merge that has `open` paths.
pub(super) fn unresolved(scope: ScopeKind, name: &SkillName, open: &[&Disputed]) -> Error {
    let paths: Vec<_> = open.iter().map(|disputed| format!("`{}`", disputed.path)).collect();
    let what = format!("an earlier update of `{name}` must be finished first: look at {}", paths.join(", "));
    Error::new(ErrorKind::Findings, what).hint(merges::resolve(Verb::Update.within(scope).word(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::SafePath;
    use crate::scope::merges::{MergeChoice, Unresolved};
    use crate::testing::{File, file_set as set};
    use crate::tree::FileSet;

    fn locked() -> Locked {
        let text = format!(
            "version = 1\n[[skill]]\nname = \"pdf\"\nsource = \"github:acme/skills\"\nrevision = \"{}\"\ndigest = \"sha256:{}\"\n",
            "1a2b3c4d".repeat(5),
            "0".repeat(64)
        );
        let lock = crate::lockfile::Lockfile::parse(&text).expect("a lockfile");
        lock.skills.into_values().next().expect("an entry")
    }

    fn merge(base: &[File<'_>], ours: &[File<'_>], theirs: &[File<'_>]) -> Merged {
        let [base, ours, theirs] = [base, ours, theirs].map(set);
        let versions = Versions { base: &base, ours: &ours, theirs: &theirs };
        merged(&SkillName::new("pdf").expect("a name"), &versions, &locked(), None).expect("a merge")
    }

    /// A merge is open until the markers and the kept files are gone.
    #[test]
    fn a_merge_is_open_until_somebody_has_looked_at_it() {
        let merged = merge(
            &[("SKILL.md", b"a\r\n"), ("gone", b"x"), ("pic", b"\0")],
            &[("SKILL.md", b"b\r\n"), ("gone", b"mine"), ("pic", b"\0mine")],
            &[("SKILL.md", b"c\r\n"), ("pic", b"\0new")],
        );
        let digest = locked().digest;
        let record = Unresolved {
            before: locked(),
            asked: MergeChoice::Nothing,
            new: digest,
            mine: digest,
            merged: digest,
            paths: disputed(&merged),
            gone: std::collections::BTreeMap::new(),
            others: std::collections::BTreeMap::new(),
        };
        let paths: Vec<_> = record.paths.iter().map(|disputed| disputed.path.as_str()).collect();
        assert_eq!(paths, ["SKILL.md", "gone", "pic"]);
        let still = |tree: &FileSet| -> Vec<SafePath> {
            let open = open(&record, &locked(), tree).expect("reads");
            open.into_iter().map(|disputed| disputed.path.clone()).collect()
        };
        let names = |open: Vec<SafePath>| open.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(still(&merged.set)), ["SKILL.md", "pic"]);
        let half = set(&[("SKILL.md", b"c\n>>>>>>> github:acme/skills at 1a2b3c4\n")]);
        assert_eq!(names(still(&half)), ["SKILL.md"]);
        let other = set(&[("SKILL.md", b"<<<<<<< HEAD\n>>>>>>> main\n"), ("pic", b"\0")]);
        assert_eq!(names(still(&other)), [""; 0], "foreign marks are part of the skill's text");
        assert_eq!(names(still(&set(&[]))), [""; 0]);
    }
}
