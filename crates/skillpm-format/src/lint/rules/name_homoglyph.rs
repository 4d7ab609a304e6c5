//! `name-homoglyph`

use unicode_script::UnicodeScript;

use super::character_span;
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};
use crate::name::SkillName;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-homoglyph",
    group: Group::Spec,
    levels: Levels::ERROR.reference(Level::Off),
    summary: "the name has no letter that looks like another one",
    docs: Docs {
        what: "Looks for Cyrillic, Greek and similar letters among Latin ones.",
        why: "The name looks like that of another skill, but is not the same.",
        bad: "---\nname: p\u{430}ypal\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "skillpm's own rule, against names that deceive",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, name)) = subject.text("name").filter(|(_, name)| !name.is_ascii()) else { return };
    let Some(letter) = SkillName::new(name).ok().and_then(|valid| valid.homoglyph()) else { return };
    let script = letter.script().full_name();
    let message = format!(
        "the name has the {script} letter U+{:04X} (`{letter}`) among Latin letters",
        u32::from(letter)
    );
    let finding = RULE.finding(message, character_span(subject, node, letter));
    findings.push(finding.label("looks like a Latin letter").help("type the name again on a Latin keyboard"));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn the_letter_is_shown_with_its_number() {
        let message = "the name has the Cyrillic letter U+0430 (`а`) among Latin letters";
        assert_places(
            &RULE,
            &[
                ("---\nname: pаypal\n---\n", &[(2, 8)], message),
                ("---\nname: привет\n---\n", &[], ""),
                ("---\nname: paypal\n---\n", &[], ""),
            ],
        );
    }
}
