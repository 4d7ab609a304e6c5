//! `name-device`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};
use crate::path::SafePath;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-device",
    group: Group::Spec,
    levels: Levels::PACKAGE,
    summary: "the name is not that of a device on Windows",
    docs: Docs {
        what: "Looks for a name that Windows keeps for a device: `con`, `prn`, `aux`, `nul`, `com1` to `com9`, \
            `lpt1` to `lpt9`.",
        why: "Windows has no directories of these names, so the skill cannot be installed there, nor can a \
            repository with it be cloned.",
        bad: "---\nname: aux\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: aux-tools\ndescription: Reads PDF files.\n---\n",
        source: "the naming conventions of Windows",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, name)) = subject.text("name") else { return };
    if SafePath::new(name).is_ok_and(|path| path.is_device()) {
        let message = format!("`{name}` is the name of a device on Windows, where no directory can have it");
        findings.push(
            RULE.finding(message, node.span.clone()).help("choose another name, such as one with a hyphen"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn names_of_devices_are_told() {
        assert_places(
            &RULE,
            &[
                (
                    "---\nname: com1\n---\n",
                    &[(2, 7)],
                    "`com1` is the name of a device on Windows, where no directory can have it",
                ),
                ("---\nname: com\n---\n", &[], ""),
                ("---\nname: console\n---\n", &[], ""),
            ],
        );
    }
}
