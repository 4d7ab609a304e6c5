//! `link-outside`

use std::collections::BTreeSet;

use crate::document::Link;
use crate::lint::target;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Outside, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "link-outside",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "links stay in the skill's directory",
    docs: Docs {
        what: "Looks for relative links and images in the body that leave the skill's directory through `..`, to a file \
            that belongs to no skill. Each target is reported once. `link-skill` is about other skills, and \
            `link-missing` about targets that do not exist.",
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
    for (link, _, outside) in targets(subject) {
        if outside == Outside::File {
            let message = format!("the link leaves the skill's directory: `{}`", link.target);
            let help = "copy the file into the skill, or link to its address on the web";
            findings.push(RULE.finding(message, link.target_span.clone()).help(help));
        }
    }
}

/// Returns the first link to each target outside the skill's directory, its path, and what it is. Where the surroundings
/// are unknown, the path tells a skill from a file.
pub(super) fn targets<'a>(subject: &Subject<'a>) -> impl Iterator<Item = (&'a Link, String, Outside)> {
    let mut seen = BTreeSet::new();
    let known = subject.outside;
    target::outside(subject).filter(move |(_, path)| seen.insert(path.clone())).map(move |(link, path)| {
        let outside = known.and_then(|known| known.get(&path)).cloned();
        let outside = outside.unwrap_or_else(|| match path.strip_suffix("/SKILL.md") {
            Some(dir) if !dir.ends_with("..") => {
                Outside::Skill { name: super::name(dir).to_owned(), beside: false }
            }
            _ => Outside::File,
        });
        (link, path, outside)
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn links_to_files_outside_are_reported_once() {
        assert_places(
            &RULE,
            &[
                (
                    "---\nname: x\n---\n[a](../docs/a.md) ![a](../docs/a.md#b) [b](x/../../docs/a.md)\n",
                    &[(4, 5)],
                    "the link leaves the skill's directory: `../docs/a.md`",
                ),
                ("---\nname: x\n---\n[a](../b/SKILL.md) [c](x/../y.md) `[d](../z.md)`\n", &[], ""),
            ],
        );
    }
}
