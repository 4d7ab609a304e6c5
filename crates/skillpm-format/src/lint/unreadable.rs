//! `file-kind`: something other than a regular file at the path of a `SKILL.md`, so that no rule can check
//! its content.

use super::{Check, Docs, Group, Levels, Needs, RULES, Rule};

/// The id of findings about the kind of file. They are made by the code that reads files.
pub const FILE_KIND: &str = "file-kind";

/// The documentation of [`FILE_KIND`]. It finds nothing itself: it gets no files.
static RULE: Rule = Rule {
    id: FILE_KIND,
    group: Group::Spec,
    levels: Levels::FATAL,
    summary: "`SKILL.md` is a regular file that can be read",
    docs: Docs {
        what: "Looks at what `SKILL.md` is: a symbolic link, a directory, a pipe, or a \
            file of more than 10 MiB is reported.",
        why: "An agent that follows a link in a stranger's skill can be made to read any file \
            on the machine, and an install copies no links. Where the rule is off, what cannot be read is skipped and counted.",
        bad: "SKILL.md -> ../shared/pdf.md\n",
        good: "---\nname: pdf\ndescription: Reads PDF files. Use it for PDF files.\n---\n",
        source: "specification, directory structure",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Problem(|_, _| None),
};

/// Returns everything that a finding can be about: the rules of the table, preceded by `file-kind`.
pub fn documented() -> impl Iterator<Item = &'static Rule> {
    std::iter::once(&RULE).chain(RULES.iter().copied())
}
