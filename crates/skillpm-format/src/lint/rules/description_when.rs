//! `description-when`

use unicode_script::{Script, UnicodeScript};

use crate::lint::words;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Severity, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "description-when",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "the description says when to use the skill",
    docs: Docs {
        what: "Looks for words that name an occasion: `when`, `if`, `use for`, `before`, `triggers` and \
            the like, in English and some other languages. Text in scripts other than Latin is not checked, nor are \
            skills that only people start (`disable-model-invocation: true`). A note, unless the body says it instead: \
            many descriptions imply it.",
        why: "The description is all that the agent knows when it decides whether to use the skill.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files. Use when the user names a PDF.\n---\n",
        source: "specification, `description`: what the skill does and when to use it",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// Words that state an occasion.
const OCCASIONS: &[&str] = &[
    // English
    "when",
    "whenever",
    "while",
    "if",
    "trigger",
    "triggers",
    "triggered",
    "useful",
    "ask",
    "asks",
    "asked",
    "asking",
    "after",
    "before",
    "during",
    "until",
    "once",
    "every time",
    "invoke",
    "invoked",
    "invokes",
    "activate",
    "activates",
    "activated",
    "need",
    "needs",
    "needed",
    "want",
    "wants",
    "case",
    "cases",
    "scenario",
    "scenarios",
    "requests",
    "use for",
    "use this",
    "use it",
    "use to",
    "use with",
    "use in",
    "use as",
    "used for",
    "used to",
    "used by",
    "used in",
    "use on",
    "call this",
    "apply this",
    "must use",
    "use proactively",
    "good for",
    "great for",
    "perfect for",
    "essential for",
    "suitable for",
    "applies to",
    "ideal for",
    "best for",
    "intended for",
    "designed for",
    // Spanish, Portuguese, French, Italian, German, Dutch
    "cuando",
    "si",
    "usar",
    "úsalo",
    "quando",
    "se",
    "quand",
    "lorsque",
    "lorsqu",
    "utiliser",
    "wenn",
    "falls",
    "sobald",
    "nutze",
    "verwende",
    "wanneer",
    "als",
    "gebruik",
];

/// The maximum number of letters of another script; with more, or with as many as Latin ones, the words above are no
/// evidence.
const MAX_FOREIGN: usize = 8;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, text)) = subject.description else { return };
    // Only people start it, and no model decides by its description.
    let off = subject.field("disable-model-invocation").and_then(|(_, value)| value.text());
    if off == Some("true") {
        return;
    }
    // Nearly all use the same word, and need no lower-case copy.
    if words::find(text, OCCASIONS[0]).is_some() || words::has_any(&text.to_lowercase(), OCCASIONS) {
        return;
    }
    let foreign = |c: &char| !c.is_ascii() && c.is_alphabetic() && c.script() != Script::Latin;
    let foreign = text.chars().filter(foreign).count();
    if foreign > MAX_FOREIGN
        || (foreign > 0 && 2 * foreign >= text.chars().filter(|c| c.is_alphabetic()).count())
    {
        return;
    }
    let help = "add a sentence such as `Use when the user …`";
    let finding = if says_when(subject.document.body()) {
        let message =
            "the body says when to use the skill, and the description does not: a model chooses by that";
        RULE.finding(message, node.span.clone())
    } else {
        let finding = RULE.finding("the description does not say when to use the skill", node.span.clone());
        // Many descriptions imply it.
        finding.severity(Severity::Note)
    };
    findings.push(finding.help(help));
}

/// Reports whether a heading of `body` announces when to use the skill.
fn says_when(body: &str) -> bool {
    let announces = |line: &str| {
        let line = line.to_ascii_lowercase();
        ["when to", "use when", "when should", "when not to"].iter().any(|words| line.contains(words))
    };
    body.lines().filter(|line| line.starts_with('#')).any(announces)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn occasions_in_several_words() {
        let text = |description: &str| format!("---\nname: x\ndescription: {description}\n---\n");
        for silent in [
            "Reads PDF. USE FOR: forms, tables.",
            "Reads PDF whenever one is named.",
            "Use before a release.",
            "Essential for scanned pages.",
            "Liest PDF. Nutzen, wenn eine Datei vorliegt.",
            "处理 PDF 文件，提取文本和表格。",
            "用户需要PDF时用",
            "日本語の説明",
            "",
        ] {
            assert_places(&RULE, &[(&text(silent), &[], "")]);
        }
        let by_people = "---\nname: x\ndescription: Reads PDF files.\ndisable-model-invocation: true\n---\n";
        assert_places(&RULE, &[(by_people, &[], "")]);
        let message = "the description does not say when to use the skill";
        for told in ["Reads PDF files.", "Google Docs: read and write. \u{e9}", "A causewhen tool."] {
            assert_places(&RULE, &[(&text(told), &[(3, 14)], message)]);
        }
    }
}
