//! `quirk-closing-delimiter`

use crate::lint::reference::{self, Reading};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "quirk-closing-delimiter",
    group: Group::Quirk,
    levels: Levels::QUIRK,
    summary: "there is no `---` inside the frontmatter",
    docs: Docs {
        what: "Looks for a `---` before the line that closes the frontmatter: in a value, in a comment, in `-----`, \
            or on an indented line.",
        why: "The reference validator takes the first `---` after the opening one for the end of the \
            frontmatter, wherever it is. Fields behind it are missing there, and a value that is cut \
            in two may not be YAML. The rule reports it where that validator refuses what is left, whatever the \
            reason.",
        bad: "---\nname: pdf\n# --- about ---\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\n# about\ndescription: Reads PDF files.\n---\n",
        source: "reference validator 0.1.0, `parse_frontmatter`",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(slice) = reference::slice(subject.document) else { return };
    if subject.document.yaml_span().is_some_and(|own| own.end <= slice.end) {
        return;
    }
    let refused = Reading::with(subject, |reading| match reading {
        Reading::Fields(view) => reference::refuses_fields(subject, view),
        Reading::Stopped(stop) => stop.cause.is_yaml() || slice.contains(&stop.span.start),
    });
    if refused {
        let message = "the reference validator takes this `---` as the end of the frontmatter";
        let finding = RULE.finding(message, slice.end..slice.end + 3);
        findings.push(finding.help("write something else, such as `-` or `—`"));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 16.
    #[test]
    fn a_delimiter_in_a_value_is_told_where_it_matters() {
        let message = "the reference validator takes this `---` as the end of the frontmatter";
        assert_places(
            &RULE,
            &[
                ("---\nname: pdf\nlicense: a --- b\ndescription: x\n---\n", &[(3, 12)], message),
                ("---\nname: pdf\ndescription: \"a --- b\"\n---\n", &[(3, 17)], message),
                ("---\nname: pdf\ndescription: x\nlicense: a --- b\n---\n", &[], ""),
                ("---\nname: pdf\n---\n", &[], ""),
            ],
        );
    }
}
