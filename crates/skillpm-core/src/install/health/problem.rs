//! What can be wrong. The ids are an interface: scripts name them, and the guide explains each.

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Note,
    /// It works, and not as it should.
    Warning,
    /// Something does not work.
    Error,
}

/// Something that can be wrong.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its name.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
}

macro_rules! problems {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal, $severity:ident;)+) => {
        $($(#[doc = $doc])+ pub const $name: Problem = Problem { id: $id, severity: Severity::$severity };)+

        /// All of them, in the order in which they are told.
        pub const ALL: &[Problem] = &[$($name),+];
    };
}

problems! {
    /// A run of skillpm was killed, and what it began is not finished.
    RUN_CUT_OFF = "run-cut-off", Error;
    /// What a killed run left beside the skills.
    LEFTOVER = "leftover", Warning;
    /// The manifest cannot be read.
    MANIFEST_UNREADABLE = "manifest-unreadable", Error;
    /// A policy cannot be read: that of the manifest, of the machine, or of the file that is named.
    POLICY_UNREADABLE = "policy-unreadable", Error;
    /// Git left marks of a merge conflict in the lockfile.
    LOCK_CONFLICT = "lock-conflict", Error;
    /// A newer skillpm wrote the lockfile.
    LOCK_NEWER = "lock-newer", Error;
    /// The lockfile cannot be read.
    LOCK_UNREADABLE = "lock-unreadable", Error;
    /// The manifest or the lockfile names an agent that there is not.
    AGENT_UNKNOWN = "agent-unknown", Error;
    /// A skill is in the manifest and not in the lockfile.
    NOT_LOCKED = "not-locked", Warning;
    /// A skill is locked with another one that it needs, and that is not in the lockfile.
    NEED_NOT_LOCKED = "need-not-locked", Warning;
    /// A skill is in the lockfile and not in the manifest.
    NOT_IN_MANIFEST = "not-in-manifest", Warning;
    /// An earlier lockfile placed a skill, and nothing names it any more.
    NO_LONGER_ASKED = "no-longer-asked", Warning;
    /// What is locked is not what the manifest asks for.
    LOCKED_OTHERWISE = "locked-otherwise", Warning;
    /// A directory is a link out of the project, and never written through.
    DIRECTORY_OUTSIDE = "directory-outside", Error;
    /// A directory that cannot be read.
    DIRECTORY_UNREADABLE = "directory-unreadable", Error;
    /// A directory that cannot be written.
    DIRECTORY_UNWRITABLE = "directory-unwritable", Warning;
    /// A locked skill is not there.
    SKILL_MISSING = "skill-missing", Error;
    /// In the place of a locked skill is a link or a file.
    SKILL_NO_DIRECTORY = "skill-no-directory", Error;
    /// A locked skill cannot be read, or holds what no skill may have.
    SKILL_UNREADABLE = "skill-unreadable", Error;
    /// An update left conflicts in a skill that nobody has settled.
    MERGE_UNFINISHED = "merge-unfinished", Error;
    /// The directory of an editable skill is not there, or holds no skill.
    EDITABLE_GONE = "editable-gone", Error;
    /// The canonical place of an editable skill is no link to its directory.
    EDITABLE_LINK = "editable-link", Error;
    /// A disabled skill lies where agents see it.
    DISABLED_VISIBLE = "disabled-visible", Warning;
    /// Something lies among the disabled skills that is none of them.
    DISABLED_LEFTOVER = "disabled-leftover", Warning;
    /// A skill was edited.
    SKILL_EDITED = "skill-edited", Note;
    /// A skill has other line ends than are locked, and no other difference.
    LINE_ENDS = "line-ends", Warning;
    /// Tools left files in a skill.
    TOOL_FILES = "tool-files", Note;
    /// Two names that are one on some file systems.
    NAME_TWINS = "name-twins", Warning;
    /// An agent is to see a skill and has no link to it.
    LINK_MISSING = "link-missing", Error;
    /// An agent is to have a copy of a skill and has none.
    COPY_MISSING = "copy-missing", Error;
    /// A link that leads to nothing.
    LINK_BROKEN = "link-broken", Warning;
    /// A link of an installed skill's name that leads somewhere else.
    LINK_WRONG = "link-wrong", Warning;
    /// A link to a skill for an agent that is to have none.
    LINK_UNWANTED = "link-unwanted", Warning;
    /// A link in a project that says where the project lies.
    LINK_ABSOLUTE = "link-absolute", Warning;
    /// A copy with the same bytes where a link should be.
    STRAY_COPY = "stray-copy", Warning;
    /// A copy with other bytes than the installed skill.
    STRAY_COPY_DIFFERS = "stray-copy-differs", Warning;
    /// An agent finds different skills of one name.
    SEEN_DIFFERENT = "seen-different", Warning;
    /// An agent finds one skill in several directories.
    SEEN_TWICE = "seen-twice", Note;
    /// An agent on this machine does not see all of the skills.
    AGENT_READS_NOTHING = "agent-reads-nothing", Warning;
    /// A tree of the store has other bytes than its name says.
    STORE_DAMAGED = "store-damaged", Error;
    /// What a killed run left in the store.
    STORE_STAGE = "store-stage", Warning;
    /// A downloaded archive that cannot be opened.
    DOWNLOAD_DAMAGED = "download-damaged", Warning;
    /// What a killed run left among the downloads.
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
