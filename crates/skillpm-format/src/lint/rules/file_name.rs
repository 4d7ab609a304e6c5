//! `file-name`

use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "file-name",
    group: Group::Spec,
    levels: Levels::PACKAGE.claude_code(Level::Error).claude_ai(Level::Error),
    summary: "the file is called `SKILL.md` and nothing else",
    docs: Docs {
        what: "Looks at the spelling of the file's name.",
        why: "Most tools look for exactly `SKILL.md` and do not see any other spelling, \
            except where the file system happens to ignore case.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, directory structure; client guide, discovery",
    },
    // Made by the code that checks whether the name is free: this rule knows no other files.
    fix: Some(Safety::Safe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let name = subject.file_name;
    if name != "SKILL.md" && name.eq_ignore_ascii_case("SKILL.md") {
        let message = format!("the file is called `{name}`; most tools look for `SKILL.md` only");
        findings.push(RULE.finding(message, 0..0).help("rename the file to `SKILL.md`"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddities 30 and 35.
    #[test]
    fn only_the_case_is_looked_at() {
        for (name, count) in [("SKILL.md", 0), ("skill.md", 1), ("Skill.md", 1), ("SKILL.MD", 1), ("x.md", 0)]
        {
            assert_eq!(findings(&RULE, "", None, name).len(), count, "{name}");
        }
    }
}
