//! `link-outside`

use crate::document::Target;
use crate::lint::target;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "link-outside",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "links stay in the skill's directory",
    docs: Docs {
        what: "Looks for relative links and images in the body that leave the skill's directory through `..`.",
        why: "A skill is installed on its own: its neighbours in the repository are not installed with it.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [the rules](../../docs/rules.md).\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [the rules](references/rules.md).\n",
        source: "specification, file references: relative paths from the skill's directory",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for (link, _) in target::links(subject, |target| *target == Target::Outside) {
        let message = format!("the link leaves the skill's directory: `{}`", link.target);
        let path = link.target.split(['#', '?']).next().unwrap_or_default();
        let help = match path.strip_suffix("/SKILL.md") {
            Some(dir) => {
                let name = dir.rsplit('/').next().unwrap_or(dir);
                format!("name the other skill, `{name}`, and list it in `metadata.skill-dependencies`")
            }
            None => "copy the file into the skill, or link to its address on the web".to_owned(),
        };
        findings.push(RULE.finding(message, link.target_span.clone()).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn only_links_out_are_told() {
        let message = "the link leaves the skill's directory: `../x.md#y`";
        assert_places(
            &RULE,
            &[
                ("---\nname: x\n---\n[a](../x.md#y) [b](a/../../c)\n", &[(4, 5), (4, 20)], message),
                ("---\nname: x\n---\n[a](a/../x.md) `[b](../c.md)` [d](https://x.y/../z)\n", &[], ""),
            ],
        );
        assert_eq!(
            help(&RULE, "---\nname: x\n---\n[a](../docx/SKILL.md)\n"),
            "name the other skill, `docx`, and list it in `metadata.skill-dependencies`"
        );
    }
}
