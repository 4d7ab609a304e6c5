//! `name-ascii`

use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Safety, Subject};
use crate::name::SkillName;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-ascii",
    group: Group::Spec,
    levels: Levels::PACKAGE.claude_code(Level::Error).claude_ai(Level::Error),
    summary: "the name is written in ASCII",
    docs: Docs {
        what: "Looks for a valid name with letters or digits other than `a` to `z` and `0` to `9`.",
        why: "The specification mentions both Unicode and `a-z`, but several tools and registries \
            accept ASCII only.",
        bad: "---\nname: 技能\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `name`, which is open to both readings",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, name)) = subject.text("name").filter(|(_, name)| !name.is_ascii()) else { return };
    let Ok(valid) = SkillName::new(name) else { return };
    // A deceptive letter is reported as an error by another rule.
    if valid.homoglyph().is_some() {
        return;
    }
    let finding =
        RULE.finding(format!("the name `{name}` has letters that not every tool accepts"), node.span.clone());
    findings.push(if valid.as_str().is_ascii() {
        let fix = edits::rename(subject, valid.as_str());
        Finding { fix, ..finding.help(format!("write it as `{valid}`")) }
    } else {
        finding.help("use the letters `a` to `z`, digits and hyphens")
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn names_that_are_valid_and_not_ascii_are_told() {
        assert_places(
            &RULE,
            &[
                (
                    "---\nname: 技能\n---\n",
                    &[(2, 7)],
                    "the name `技能` has letters that not every tool accepts",
                ),
                ("---\nname: pаypal\n---\n", &[], ""),
                ("---\nname: हिन्दी\n---\n", &[], ""),
            ],
        );
        assert_eq!(help(&RULE, "---\nname: ｐｄｆ\n---\n"), "write it as `pdf`");
    }
}
