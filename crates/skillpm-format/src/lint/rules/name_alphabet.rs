//! `name-alphabet`

use super::character_span;
use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Safety, Subject};
use crate::name::{NameError, SkillName};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-alphabet",
    group: Group::Spec,
    levels: Levels::ERROR,
    summary: "the name has lower-case letters, digits and hyphens only",
    docs: Docs {
        what: "Looks for upper-case letters, spaces, underscores and all other characters.",
        why: "The name is also the name of a directory and of a command.",
        bad: "---\nname: PDF_Reader\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `name`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, name, problems)) = subject.wrong_name() else { return };
    let directory = subject.directory_name.and_then(|directory| SkillName::new(directory).ok());
    let where_to = if directory.is_some() { "as its directory" } else { "and its directory too" };
    let wanted = directory.or_else(|| SkillName::slug(name));
    let fix = wanted.as_ref().and_then(|wanted| edits::rename(subject, wanted.as_str()));
    let help = wanted.map(|wanted| format!("call it `{wanted}`, {where_to}").into());
    for problem in problems {
        let span = match &problem {
            NameError::NotLowercase(_) => node.span.clone(),
            NameError::Character { character, .. } => character_span(subject, node, *character),
            _ => continue,
        };
        let finding = RULE.finding(problem.to_string(), span);
        // One of several is enough: the repair is the same.
        return findings.push(Finding { help, fix, ..finding });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Conflict C2 and oddities 37 to 40.
    #[test]
    fn the_character_is_shown() {
        let name = |name: &str| format!("---\nname: {name}\n---\n");
        assert_places(
            &RULE,
            &[
                (&name("Pdf"), &[(2, 7)], "the name `Pdf` has an upper-case letter"),
                (
                    &name("ckm:x"),
                    &[(2, 10)],
                    "the name `ckm:x` contains `:`; only letters, digits and hyphens are allowed",
                ),
                (
                    &name("Ahrefs Automation"),
                    &[(2, 7)],
                    "the name `Ahrefs Automation` has an upper-case letter",
                ),
                (
                    &name("हिन्दी"),
                    &[(2, 8)],
                    "the name `हिन्दी` contains U+093F; only letters, digits and hyphens are allowed",
                ),
                (&name("技能"), &[], ""),
                (&name("7zip"), &[], ""),
            ],
        );
        assert_eq!(help(&RULE, &name("Ahrefs Automation")), "call it `pdf`, as its directory");
    }
}
