//! `frontmatter-missing`

use crate::document::{Problem, ProblemKind};
use crate::lint::delimiters;
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "frontmatter-missing",
    group: Group::Spec,
    levels: Levels::FATAL.claude_code(Level::Warning),
    summary: "the file starts with frontmatter",
    docs: Docs {
        what: "Looks for a first line `---`.",
        why: "The name and description are in the frontmatter: without it, no agent sees the skill.",
        bad: "# Reads PDF files\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `SKILL.md` format",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Problem(check),
};

fn check(subject: &Subject<'_>, problem: &Problem) -> Option<Finding> {
    matches!(problem.kind, ProblemKind::MissingFrontmatter(_)).then(|| {
        let fix = delimiters::open(subject.document.text(), problem.span.start);
        Finding { fix, ..RULE.told(problem) }
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// S0-E1, S0-FR-007 and oddities 27, 29, 30, 32 and 33.
    #[test]
    fn the_message_says_what_the_file_seems_to_be() {
        assert_places(
            &RULE,
            &[
                ("", &[(1, 1)], "the file is empty: it needs frontmatter with `name` and `description`"),
                (
                    "\n# x\n",
                    &[(2, 1)],
                    "the file has no frontmatter: start it with `---`, `name`, `description` and `---`",
                ),
                (
                    "name: x\n---\n",
                    &[(1, 1)],
                    "the first line must be `---`: it is missing before the `name` and `description` lines",
                ),
                (
                    "```\n---\n---\n```\n",
                    &[(1, 1)],
                    "the file starts with a code fence; remove the fence so that `---` is the first line",
                ),
                (
                    "../x/SKILL.md",
                    &[(1, 1)],
                    "the file holds only the path `../x/SKILL.md`: it was a symbolic link and lost what \
                        it pointed to",
                ),
                (
                    "@../x/SKILL.md",
                    &[(1, 1)],
                    "the file only includes `../x/SKILL.md`; copy that file's content here",
                ),
                ("---\n---\n", &[], ""),
                ("---\nname: x\n", &[], ""),
            ],
        );
    }
}
