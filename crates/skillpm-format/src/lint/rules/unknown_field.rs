//! `unknown-field`

use super::legacy_field::FIELDS;
use crate::document::SPEC_FIELDS;
use crate::lint::entries::{Moved, move_below};
use crate::lint::{
    Check, Docs, Edit, Finding, Fix, Group, Level, Levels, Needs, Rule, Safety, Severity, Subject, clients,
};
use crate::text::{closest, distance};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "unknown-field",
    group: Group::Spec,
    levels: Levels::WARNING.reference(Level::Error).claude_ai(Level::Error),
    summary: "the frontmatter has known fields only",
    docs: Docs {
        what: "Looks for top-level keys other than the six of the specification and those that an agent defines \
            (`client-field`). A key that does not resemble a known one is a note: most readers ignore it.",
        why: "Tools ignore them or, like the reference validator, refuse the file. The place for your \
            own keys is `metadata`.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nauthor: me\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n---\n",
        source: "the specification is silent; the reference validator refuses them, Claude Code ignores them",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let (mut found, mut moved) = (Vec::new(), Vec::new());
    for (key, value) in subject.document.unknown_fields() {
        let Some(name) = key.text() else {
            let message = format!("a key must be text, but it is {}", key.kind());
            found.push(RULE.finding(message, key.span.clone()));
            continue;
        };
        // `client-field` reports these in more detail.
        if !clients::of(name).is_empty() {
            continue;
        }
        let finding = RULE.finding(format!("the specification has no field `{name}`"), key.span.clone());
        if let Some(field) = meant(subject, name) {
            let edit = Edit::replace(key.span.clone(), field);
            let finding = finding.fix(Fix::unsafe_(format!("write `{field}`"), vec![edit]));
            found.push(finding.help(format!("did you mean `{field}`?")));
            continue;
        }
        let help = value.text().map(|_| format!("move it under `metadata`, as `  {name}: …`"));
        if !FIELDS.contains(&name) {
            // One repair for all, with the first of them.
            moved.extend(Moved::new(subject, name, key, value).map(|moved| (found.len(), moved)));
        }
        // Most readers ignore the field; only a few refuse it.
        found.push(Finding { help: help.map(Into::into), ..finding.severity(Severity::Note) });
    }
    let first = moved.first().map(|(at, _)| *at);
    let moved = moved.into_iter().map(|(_, moved)| moved).collect();
    if let Some((finding, (title, edits))) =
        first.and_then(|at| found.get_mut(at)).zip(move_below(subject, moved))
    {
        finding.fix = Some(Fix::unsafe_(title, edits));
    }
    findings.append(&mut found);
}

/// Returns the field that `name` was probably meant to be, if the skill does not have it.
fn meant(subject: &Subject<'_>, name: &str) -> Option<&'static str> {
    let near = nearest(name).or_else(|| nearest_of(name, clients::fields()));
    near.filter(|field| subject.field(field).is_none())
}

/// Returns the field of the specification that `name` is a typo of.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    nearest_of(name, SPEC_FIELDS)
}

fn nearest_of(name: &str, fields: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    // A repair renames the field, so it has to be sure.
    closest(name, fields).filter(|field| distance(name, field) <= field.len() / 4)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Conflict C6 and oddity 40.
    #[test]
    fn fields_of_other_tools_are_told_and_slips_are_put_right() {
        let text = "---\nname: x\nversion: 1\ndescripton: y\nimages:\n  - a\nhooks: b\n---\n";
        let message = "the specification has no field `version`";
        assert_places(&RULE, &[(text, &[(3, 1), (4, 1), (5, 1)], message), ("---\nname: x\n---\n", &[], "")]);
        for (line, expected) in [
            ("descripton: y", "did you mean `description`?"),
            ("Name: y", "did you mean `name`?"),
            ("allowed_tools: y", "did you mean `allowed-tools`?"),
            ("licence: y", "did you mean `license`?"),
            ("version: y", "move it under `metadata`, as `  version: …`"),
            ("game: y\nname: x", "move it under `metadata`, as `  game: …`"),
            ("argument_hint: y", "did you mean `argument-hint`?"),
            ("when-to-use: y", "did you mean `when_to_use`?"),
        ] {
            assert_eq!(help(&RULE, &format!("---\n{line}\n---\n")), expected, "{line}");
        }
    }

    #[test]
    fn what_no_agent_knows_is_moved_below_metadata() {
        let fixed = |yaml: &str| fixed_text(&RULE, &format!("---\n{yaml}---\n"));
        let text = |yaml: &str| Some(format!("---\n{yaml}---\n"));
        assert_eq!(
            fixed("name: x\nauthor: me # why\nversion: 1\nteams: [a, b]\neffort: low\n"),
            text("name: x\nmetadata:\n  author: \"me\" # why\n  teams: \"a, b\"\nversion: 1\neffort: low\n")
        );
        assert_eq!(fixed("name: x\ndeep:\n  a: b\n"), None, "it is not text");
        assert_eq!(fixed("name: x\nauthor: a\nmetadata:\n  author: b\n"), None, "there is one already");
        assert_eq!(fixed("name: x\nversion: 1\n"), None, "another rule does that");
    }
}
