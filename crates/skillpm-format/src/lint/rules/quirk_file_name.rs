//! `quirk-file-name`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "quirk-file-name",
    group: Group::Quirk,
    levels: Levels::QUIRK,
    summary: "the file is called `SKILL.md` or `skill.md`",
    docs: Docs {
        what: "Looks for spellings such as `Skill.md` and `SKILL.MD`.",
        why: "The reference validator tries two names, `SKILL.md` and `skill.md`, and sees no other file. \
            Everybody else should use the first.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "reference validator 0.1.0, `find_skill_md`",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if is_other_file(subject) {
        let message = format!("the reference validator does not see a file called `{}`", subject.file_name);
        findings.push(RULE.finding(message, 0..0).help("rename the file to `SKILL.md`"));
    }
}

/// Reports whether the file has a name that the reference validator does not look for.
pub(in crate::lint) fn is_other_file(subject: &Subject<'_>) -> bool {
    let name = subject.file_name;
    name.eq_ignore_ascii_case("SKILL.md") && !matches!(name, "SKILL.md" | "skill.md")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddities 30 and 35.
    #[test]
    fn two_spellings_are_seen() {
        for (name, count) in [("SKILL.md", 0), ("skill.md", 0), ("Skill.md", 1), ("SKILL.MD", 1), ("x.md", 0)]
        {
            assert_eq!(findings(&RULE, "", None, name).len(), count, "{name}");
        }
    }
}
