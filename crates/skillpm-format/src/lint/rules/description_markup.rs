//! `description-markup`

use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Severity, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "description-markup",
    group: Group::Quality,
    levels: Levels::WARNING.publish(Level::Warning),
    summary: "the description has no XML tags",
    docs: Docs {
        what: "Looks for tags such as `<b>` in the description, and, as a note, for placeholders such as \
            `<file>`. Arrows and comparisons do not count.",
        why: "Descriptions are put into XML for the agent. Anthropic's upload refuses tags, and its own check \
            refuses every `<` and `>`; the specification allows them.",
        bad: "---\nname: pdf\ndescription: Reads <b>PDF</b> files. Use when there are some.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files. Use when there are some.\n---\n",
        source: "Anthropic's documentation: a description cannot contain XML tags",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, text)) = subject.description else { return };
    let Some(tag) = tag(text) else { return };
    let source = &subject.document.text()[node.span.clone()];
    let span = match source.find(tag) {
        Some(at) => node.span.start + at..node.span.start + at + tag.len(),
        None => node.span.clone(),
    };
    // A placeholder reads well everywhere else; an element may be taken for a part of the agent's own prompt.
    let name = tag.trim_matches(['<', '>', '/']);
    let is_element = tag.starts_with("</") || HTML.contains(&name) || text.contains(&format!("</{name}>"));
    let what = if is_element { "the XML tag" } else { "text in angle brackets," };
    let finding = RULE.finding(format!("the description has {what} `{tag}`"), span);
    let finding = finding.help("write it without: claude.ai refuses the upload");
    findings.push(if is_element { finding } else { finding.severity(Severity::Note) });
}

/// Usual names of elements that stand alone.
const HTML: &[&str] = &["b", "i", "p", "br", "div", "img", "span", "script", "system", "instructions"];

/// Returns the first tag in `text`.
pub(crate) fn tag(text: &str) -> Option<&str> {
    text.match_indices('<').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let name = rest.strip_prefix('/').unwrap_or(rest);
        let end = rest.find(['<', '>'])?;
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic()) && rest[end..].starts_with('>');
        is_tag.then(|| &text[at..at + end + 2])
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn tags_and_what_is_none() {
        let text = |description: &str| format!("---\nname: x\ndescription: {description}\n---\n");
        let message = "the description has the XML tag `</x y>`";
        assert_places(&RULE, &[(&text("a < b -> c </x y>"), &[(3, 25)], message)]);
        for silent in ["a -> b", "a < b and c > d", "files <1 MB>", "x<y"] {
            assert_places(&RULE, &[(&text(silent), &[], "")]);
        }
    }
}
