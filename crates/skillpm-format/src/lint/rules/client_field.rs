//! `client-field`

use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject, clients};
use crate::text::and;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "client-field",
    group: Group::Spec,
    levels: Levels::FORM.reference(Level::Error).claude_ai(Level::Error),
    summary: "fields of single agents are known as such",
    docs: Docs {
        what: "Looks for top-level fields that the documentation of an agent defines, such as \
            `disable-model-invocation`, and for blocks of agents below `metadata`, such as `metadata.openclaw`.",
        why: "Other agents ignore them, and the reference validator refuses the file. Where their agent looks for \
            them is the top level: below `metadata` they would have no effect.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nargument-hint: \"[file]\"\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "the documentation of the agents; the page of profiles has all fields",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for (key, _) in subject.document.unknown_fields() {
        let Some(name) = key.text() else { continue };
        let agents = clients::of(name);
        if agents.is_empty() {
            continue;
        }
        let message = format!("`{name}` is a field of {}; other agents ignore it", and(&agents));
        let help = "leave it here if it is meant for them: below `metadata` it has no effect";
        findings.push(RULE.finding(message, key.span.clone()).help(help));
    }
    let metadata = subject.field("metadata").map(|(_, metadata)| metadata.pairs()).unwrap_or_default();
    for (key, agent) in metadata.iter().filter_map(|(key, _)| Some((key, clients::of_block(key.text()?)?))) {
        let name = key.text().unwrap_or_default();
        let message = format!("`metadata.{name}` is a block of {agent}; other agents ignore it");
        findings.push(RULE.finding(message, key.span.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;
    use crate::lint::{Profile, Ruleset, Severity, Subject, check_with};

    #[test]
    fn fields_of_agents_are_told_as_theirs() {
        let text = "---\nname: x\neffort: high\ncolor: red\nhooks:\n  a: b\n---\n";
        let message = "`effort` is a field of Claude Code; other agents ignore it";
        assert_places(&RULE, &[(text, &[(3, 1), (5, 1)], message), ("---\nname: x\n---\n", &[], "")]);
        let two = places(&RULE, "---\npaths: a\n---\n");
        assert_eq!(two[0].2, "`paths` is a field of Claude Code and Cursor; other agents ignore it");
    }

    /// Their level in each profile, and that no repair moves them.
    #[test]
    fn they_are_no_fault_where_their_agent_counts() {
        let text = "---\nname: x\ndescription: Reads. Use when asked.\nargument-hint: \"[a]\"\neffort: low\n\
            user-invocable: false\ncontext: fork\nagent: Explore\nmodel: opus\nhooks: {}\npaths: a\nshell: bash\n\
            disable-model-invocation: true\n---\n";
        let document = crate::document::Document::parse(text.to_owned());
        let found = |profile| {
            let mut found =
                check_with(&Subject::new(&document, Some("x"), "SKILL.md"), &Ruleset::new(profile));
            found.retain(|finding| finding.rule == RULE.id || finding.rule == "unknown-field");
            found
        };
        for profile in [Profile::Spec, Profile::Publish] {
            let found = found(profile);
            assert_eq!(found.len(), 10, "{profile}");
            assert!(found.iter().all(|f| f.severity == Severity::Note && f.fix.is_none()), "{profile}");
        }
        assert_eq!(found(Profile::ClaudeCode), []);
        assert!(found(Profile::Reference).iter().all(|finding| finding.severity == Severity::Error));
    }
}
