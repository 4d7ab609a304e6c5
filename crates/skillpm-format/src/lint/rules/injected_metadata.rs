//! `injected-metadata`

use crate::document::{Layout, Value};
use crate::interop::gh::INJECTED;
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Levels, Needs, Rule, Safety, Subject, entries};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "injected-metadata",
    group: Group::Package,
    levels: Levels::PACKAGE,
    summary: "`metadata` has no installer entries",
    docs: Docs {
        what: "Looks for the entries that `gh skill install` writes into `metadata` of the copy that it installs: \
            `github-repo`, `github-ref`, `github-tree-sha`, `github-path`, `github-pinned`, `local-path`, and the \
            older `github-owner` and `github-sha`.",
        why: "They say where one copy came from. In the skill itself they are wrong for everyone else, \
            and they change its digest. The repair is unsafe: a copy that `gh` manages needs them for updates.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n  github-ref: main\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  author: me\n---\n",
        source: "GitHub CLI, `gh skill`: `publish --fix` removes them",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((_, metadata)) = subject.field("metadata") else { return };
    let mut found = Vec::new();
    for (key, _) in metadata.pairs() {
        if let Some(name) = key.text().filter(|name| INJECTED.contains(name)) {
            let message = format!("`metadata.{name}` was written by an installer");
            found.push(RULE.finding(message, key.span.clone()).help("delete the line"));
        }
    }
    // One repair for all: together they may be everything in `metadata`.
    if let Some(first) = found.first_mut() {
        first.fix = fix(subject);
    }
    findings.append(&mut found);
}

fn fix(subject: &Subject<'_>) -> Option<Fix> {
    let (key, metadata) = subject.field("metadata")?;
    if !entries::is_simple(subject) || !matches!(metadata.value, Value::Mapping { layout: Layout::Block, .. })
    {
        return None;
    }
    let text = subject.document.text();
    let injected = |name: Option<&str>| name.is_some_and(|name| INJECTED.contains(&name));
    let edits: Option<Vec<Edit>> = if metadata.pairs().iter().all(|(key, _)| injected(key.text())) {
        entries::lines(text, key, metadata).map(|lines| vec![Edit::delete(lines)])
    } else {
        let gone = metadata.pairs().iter().filter(|(key, _)| injected(key.text()));
        gone.map(|(key, value)| Some(Edit::delete(entries::lines(text, key, value)?))).collect()
    };
    Some(Fix::unsafe_("delete what an installer wrote", edits?))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// INTEROP, section 3.
    #[test]
    fn entries_of_installers_are_told_and_deleted() {
        let text = "---\nname: x\nmetadata:\n  github-repo: https://x.y # a\n  author: me\n  github-path: \"z\"\n---\n";
        assert_places(
            &RULE,
            &[(text, &[(4, 3), (6, 3)], "`metadata.github-repo` was written by an installer")],
        );
        let fixed = "---\nname: x\nmetadata:\n  author: me\n---\n";
        assert_eq!(fixed_text(&RULE, text).as_deref(), Some(fixed));
        assert_places(&RULE, &[(fixed, &[], ""), ("---\nmetadata: x\ngithub-repo: y\n---\n", &[], "")]);
    }

    #[test]
    fn metadata_goes_with_the_last_of_them() {
        let text = "---\nname: x\r\nmetadata:\r\n  local-path: /x\r\n---\r\n";
        assert_eq!(fixed_text(&RULE, text).as_deref(), Some("---\nname: x\r\n---\r\n"));
        assert_eq!(fixed_text(&RULE, "---\nmetadata: {local-path: x}\n---\n"), None);
    }
}
