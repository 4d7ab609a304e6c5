//! `value-truncated`

use crate::document::{Node, Style, Value, is_switch};
use crate::lint::quote;
use crate::lint::{Check, Docs, Edit, Finding, Fix, Group, Levels, Needs, Rule, Safety, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "value-truncated",
    group: Group::Quality,
    levels: Levels::PACKAGE,
    summary: "no value is cut by ` #`",
    docs: Docs {
        what: "Looks for a value without quotes that ends before ` #`: in YAML a comment starts there. In the \
            description every such comment is reported, unless it switches rules off; elsewhere only one without \
            a space after the `#`, as in `C #1`.",
        why: "The rest of the line is lost, and no tool reports it.",
        bad: "---\nname: pdf\ndescription: The tool to rank #1. Use when you read PDF.\n---\n",
        good: "---\nname: pdf\ndescription: \"The tool to rank #1. Use when you read PDF.\"\n---\n",
        source: "YAML 1.2, section 6.6",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(yaml) = subject.document.yaml_span() else { return };
    let yaml = &subject.document.text().as_bytes()[yaml];
    if !memchr::memchr_iter(b'#', yaml).any(|at| yaml[..at].ends_with(b" ")) {
        return;
    }
    let Some(frontmatter) = subject.document.frontmatter() else { return };
    for (key, value) in frontmatter.pairs() {
        let always = key.text() == Some("description");
        findings.extend(finding(subject, value, always));
        for (_, value) in value.pairs() {
            findings.extend(finding(subject, value, false));
        }
    }
}

fn finding(subject: &Subject<'_>, value: &Node, always: bool) -> Option<Finding> {
    if !matches!(value.value, Value::Scalar { style: Style::Plain, .. }) || value.is_absent() {
        return None;
    }
    let text = subject.document.text();
    let rest = &text[value.span.end..];
    let rest = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
    let comment = rest.trim_start_matches([' ', '\t']);
    let inner = comment.strip_prefix('#').filter(|_| comment.len() < rest.len())?.trim_end();
    // A switch for rules is a comment to its author, with or without a blank.
    if inner.is_empty() || is_switch(inner) || !(always || inner.starts_with(|c: char| c.is_alphanumeric())) {
        return None;
    }
    let start = value.span.end + (rest.len() - comment.len());
    let end = value.span.end + rest.trim_end().len();
    let finding =
        RULE.finding("the value ends here: ` #` starts a comment", start..end).label("this is lost");
    let whole = &text[value.span.start..end];
    let finding = finding.help("put the whole value in quotes, or delete the comment");
    // Quotes cannot span several lines without further changes.
    if whole.contains(['\n', '\r']) || whole.chars().any(char::is_control) {
        return Some(finding);
    }
    // Some tools refuse a tab after a quoted value.
    let edit = Edit::replace(value.span.start..value.span.end + rest.len(), quote::quoted(whole));
    Some(finding.fix(Fix::unsafe_("put the whole value in quotes", vec![edit])))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 15.
    #[test]
    fn cut_values_are_told_and_put_in_quotes() {
        let message = "the value ends here: ` #` starts a comment";
        for (line, column, fixed) in [
            ("description: rank #1. Use it.", 19, "description: \"rank #1. Use it.\""),
            ("description: rank # 1", 19, "description: \"rank # 1\""),
            ("license: MIT #1\t", 14, "license: \"MIT #1\""),
            ("license: MIT #1 ", 14, "license: \"MIT #1\""),
            ("license: my #1 \"x\"", 13, "license: 'my #1 \"x\"'"),
        ] {
            let text = format!("---\n{line}\n---\n");
            assert_places(&RULE, &[(&text, &[(2, column)], message)]);
            assert_eq!(fixed_text(&RULE, &text), Some(format!("---\n{fixed}\n---\n")));
        }
    }

    #[test]
    fn comments_are_fine() {
        for text in [
            "---\nname: x # the name\nmetadata:\n  a: b # c\n---\n",
            "---\n# all\nname: x\ndescription: \"a\" # why\n---\n",
            "---\ndescription: C# and a#b\nlicense: # none yet\n---\n",
            "---\ndescription: |\n  a #1\n---\n",
            "---\ndescription: a # skillpm: allow description-when\nlicense: b #skillpm:allow license\n---\n",
        ] {
            assert_places(&RULE, &[(text, &[], "")]);
        }
    }
}
