//! `unknown-field`

use crate::document::SPEC_FIELDS;
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "unknown-field",
    group: Group::Spec,
    levels: Levels::WARNING.reference(Level::Error).claude_code(Level::Error),
    summary: "the frontmatter only has fields of the specification",
    docs: Docs {
        what: "Looks for top-level keys other than the specification's six.",
        why: "Tools ignore them or, like the reference validator, refuse the file. The place for your \
            own keys is `metadata`.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nauthor: me\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n---\n",
        source: "the specification is silent; the reference validator refuses them",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for (key, value) in subject.document.unknown_fields() {
        let Some(name) = key.text() else {
            let message = format!("a key must be text, but it is {}", key.kind());
            findings.push(RULE.finding(message, key.span.clone()));
            continue;
        };
        let finding = RULE.finding(format!("the specification has no field `{name}`"), key.span.clone());
        let near = nearest(name).filter(|field| subject.field(field).is_none());
        let fix = near.map(|field| {
            Fix::unsafe_(format!("write `{field}`"), vec![Edit::replace(key.span.clone(), field)])
        });
        let help = match near {
            Some(field) => Some(format!("did you mean `{field}`?")),
            _ if value.text().is_some() => Some(format!("move it under `metadata`, as `  {name}: …`")),
            _ => None,
        };
        findings.push(Finding { help, fix, ..finding });
    }
}

/// The field that `name` is a slip of the pen for.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let plain = name.to_lowercase().replace('_', "-");
    let distance = |field: &str| strsim::damerau_levenshtein(&plain, field);
    SPEC_FIELDS
        .into_iter()
        .min_by_key(|field| distance(field))
        .filter(|field| distance(field) <= field.len() / 4)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Conflict C6 and oddity 40.
    #[test]
    fn fields_of_other_tools_are_told_and_slips_are_put_right() {
        let text = "---\nname: x\nversion: 1\ndescripton: y\nhooks:\n  - a\n---\n";
        let message = "the specification has no field `version`";
        assert_places(&RULE, &[(text, &[(3, 1), (4, 1), (5, 1)], message), ("---\nname: x\n---\n", &[], "")]);
        for (line, expected) in [
            ("descripton: y", "did you mean `description`?"),
            ("Name: y", "did you mean `name`?"),
            ("allowed_tools: y", "did you mean `allowed-tools`?"),
            ("licence: y", "did you mean `license`?"),
            ("version: y", "move it under `metadata`, as `  version: …`"),
            ("game: y\nname: x", "move it under `metadata`, as `  game: …`"),
        ] {
            assert_eq!(help(&RULE, &format!("---\n{line}\n---\n")), expected, "{line}");
        }
    }
}
