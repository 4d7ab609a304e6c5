//! The problems that a scope can have. The ids are an interface: scripts name them, and the guide explains
//! each.

use schemars::JsonSchema;
use serde::Serialize;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// It works, but not as it should.
    Warning,
    /// Something does not work.
    Error,
}

/// A kind of problem.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// The id.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
}

macro_rules! problems {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal, $severity:ident;)+) => {
        $($(#[doc = $doc])+ pub const $name: Problem = Problem { id: $id, severity: Severity::$severity };)+

        /// All problems, in the order in which they are reported.
        pub const ALL: &[Problem] = &[$($name),+];
    };
}

problems! {
    /// A run of skillpm was killed, and its change is not finished.
    RUN_CUT_OFF = "run-cut-off", Error;
    /// A killed run left something beside the skills.
    LEFTOVER = "leftover", Warning;
    /// The manifest cannot be read.
    MANIFEST_UNREADABLE = "manifest-unreadable", Error;
    /// A policy cannot be read: that of the manifest, of the machine, or in the given file.
    POLICY_UNREADABLE = "policy-unreadable", Error;
    /// The lockfile contains git's markers of a merge conflict.
    LOCK_CONFLICT = "lock-conflict", Error;
    /// A newer skillpm wrote the lockfile.
    LOCK_NEWER = "lock-newer", Error;
    /// The lockfile cannot be read.
    LOCK_UNREADABLE = "lock-unreadable", Error;
    /// The manifest or the lockfile names an unknown agent.
    AGENT_UNKNOWN = "agent-unknown", Error;
    /// A skill is in the manifest but not in the lockfile.
    NOT_LOCKED = "not-locked", Warning;
    /// A locked skill needs another one that is not in the lockfile.
    NEED_NOT_LOCKED = "need-not-locked", Warning;
    /// A skill is in the lockfile but not in the manifest.
    NOT_IN_MANIFEST = "not-in-manifest", Warning;
    /// An earlier lockfile placed a skill, and nothing names it any more.
    NO_LONGER_ASKED = "no-longer-asked", Warning;
    /// The lockfile differs from what the manifest requests.
    LOCKED_OTHERWISE = "locked-otherwise", Warning;
    /// A directory is a link out of the project, and never written through.
    DIRECTORY_OUTSIDE = "directory-outside", Error;
    /// A directory cannot be read.
    DIRECTORY_UNREADABLE = "directory-unreadable", Error;
    /// A directory cannot be written.
    DIRECTORY_UNWRITABLE = "directory-unwritable", Warning;
    /// A locked skill is missing.
    SKILL_MISSING = "skill-missing", Error;
    /// A link or a file is in the place of a locked skill.
    SKILL_NO_DIRECTORY = "skill-no-directory", Error;
    /// A locked skill cannot be read, or holds what no skill may have.
    SKILL_UNREADABLE = "skill-unreadable", Error;
    /// An update left unresolved conflicts in a skill.
    MERGE_UNFINISHED = "merge-unfinished", Error;
    /// The directory of an editable skill is missing, or holds no skill.
    EDITABLE_GONE = "editable-gone", Error;
    /// The canonical place of an editable skill is not a link to its directory.
    EDITABLE_LINK = "editable-link", Error;
    /// A disabled skill is where agents see it.
    DISABLED_VISIBLE = "disabled-visible", Warning;
    /// Something other than a disabled skill is among the disabled skills.
    DISABLED_LEFTOVER = "disabled-leftover", Warning;
    /// A skill was edited.
    SKILL_EDITED = "skill-edited", Note;
    /// A skill differs from the locked one only in line endings.
    LINE_ENDS = "line-ends", Warning;
    /// Tools left files in a skill.
    TOOL_FILES = "tool-files", Note;
    /// A skill hides something, or runs something without being asked.
    SKILL_ALARM = "skill-alarm", Note;
    /// Two names are equal on some file systems.
    NAME_TWINS = "name-twins", Warning;
    /// An agent should see a skill but has no link to it.
    LINK_MISSING = "link-missing", Error;
    /// An agent should have a copy of a skill but has none.
    COPY_MISSING = "copy-missing", Error;
    /// A link is broken.
    LINK_BROKEN = "link-broken", Warning;
    /// A link with an installed skill's name leads somewhere else.
    LINK_WRONG = "link-wrong", Warning;
    /// An agent has a link to a skill that it should not see.
    LINK_UNWANTED = "link-unwanted", Warning;
    /// A link in a project contains the absolute path of the project.
    LINK_ABSOLUTE = "link-absolute", Warning;
    /// A copy with the same bytes is where a link should be.
    STRAY_COPY = "stray-copy", Warning;
    /// A copy has other bytes than the installed skill.
    STRAY_COPY_DIFFERS = "stray-copy-differs", Warning;
    /// An agent finds different skills with one name.
    SEEN_DIFFERENT = "seen-different", Warning;
    /// An agent finds one skill in several directories.
    SEEN_TWICE = "seen-twice", Note;
    /// An agent takes the user's copy of a skill, while that of the project has other files.
    USER_COPY_WINS = "user-copy-wins", Warning;
    /// An agent has no room to list all skills whole.
    LISTING_CROWDED = "listing-crowded", Note;
    /// A skill needs another one that is not installed.
    DEPENDENCY_MISSING = "dependency-missing", Note;
    /// A skill requires what this machine lacks.
    PREREQUISITE_MISSING = "prerequisite-missing", Note;
    /// An agent on this machine does not see all of the skills.
    AGENT_READS_NOTHING = "agent-reads-nothing", Warning;
    /// A tree of the store does not match its digest.
    STORE_DAMAGED = "store-damaged", Error;
    /// A killed run left something in the store.
    STORE_STAGE = "store-stage", Warning;
    /// A downloaded archive cannot be opened.
    DOWNLOAD_DAMAGED = "download-damaged", Warning;
    /// A killed run left something among the downloads.
    DOWNLOAD_REST = "download-rest", Warning;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_words_with_hyphens_and_no_two_alike() {
        let ids: BTreeSet<_> = ALL.iter().map(|problem| problem.id).collect();
        assert_eq!(ids.len(), ALL.len());
        assert!(ids.iter().all(|id| id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the guide is outside of every room of the program")]
    fn the_guide_explains_each() {
        let guide = skillpm_testing::root().join("docs/guide/troubleshooting.md");
        let Ok(text) = std::fs::read_to_string(guide) else {
            println!("skipped: the published package carries no docs/");
            return;
        };
        for Problem { id, severity } in ALL {
            let severity = format!("{severity:?}").to_lowercase();
            let row = format!("| `{id}` | {severity} |");
            assert!(text.contains(&row), "docs/guide/troubleshooting.md lacks the row {row}");
        }
        let table = text.split("| id | severity |").nth(1).and_then(|rest| rest.split("\n\n").next());
        let rows = table.unwrap_or_default().lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, ALL.len(), "the guide has rows of problems that there are not");
    }
}
