//! `dollar-digit`

use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Subject};
use crate::skill::placeholder::argument_word;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "dollar-digit",
    group: Group::Quality,
    levels: Levels::FILES.publish(Level::Note),
    summary: "no `$1` where the skill takes no arguments",
    docs: Docs {
        what: "Looks in the body of a skill without `argument-hint`, `arguments` and `$ARGUMENTS` for a dollar sign with a \
            number up to 9, such as the `$1` of `awk`, of a shell's function or of SQL; `\\$1` does not count. It is reported once.",
        why: "Claude Code replaces `$1` by a word of the arguments that a user types behind the skill's name.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `pdfinfo x.pdf | awk '{print $1}'`.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `pdfinfo x.pdf | cut -d: -f1`.\n",
        source: "Claude Code, skills: available string substitutions",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The largest number that is reported: a larger one stays as written, because users type fewer words.
const MAX: usize = 9;

/// The largest number in prose that is not taken for a price.
const MAX_IN_PROSE: usize = 3;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let (body, base) = (subject.document.body(), subject.document.body_span().start);
    let takes = |field: &&str| subject.field(field).is_some();
    let mut found = Vec::new();
    for at in memchr::memchr_iter(b'$', body.as_bytes()) {
        match argument_word(&body[..at], &body[at..]) {
            Some((word, length)) if word <= MAX && !body[..at].ends_with('\\') => {
                // A larger one in prose, and a range or a rate, is a price.
                let after = body[at + length..].trim_start();
                let is_price = after.starts_with(['-', '–', '/'])
                    || ["million", "billion", "per "].iter().any(|word| after.starts_with(word))
                    || body[..at].ends_with(['-', '–']);
                if is_price {
                    continue;
                }
                if word <= MAX_IN_PROSE || subject.document.markdown().is_code(base + at) {
                    found.push(at..at + length);
                }
            }
            _ => {}
        }
    }
    let Some(first) = found.first().cloned() else { return };
    if ["argument-hint", "arguments"].iter().any(takes) || body.contains("$ARGUMENTS") {
        return;
    }
    let word = &body[first.clone()];
    let more =
        if found.len() > 1 { format!(", and {} more like it", found.len() - 1) } else { String::new() };
    let message = format!("`{word}` stands for a word that the user types, in Claude Code{more}");
    let help = format!("use another form, or write `\\{word}` if only Claude Code reads the skill");
    findings.push(RULE.finding(message, base + first.start..base + first.end).help(help));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn numbers_behind_a_dollar_sign_are_reported_once() {
        let text = |body: &str| format!("---\nname: x\n---\n{body}\n");
        let message = "`$1` stands for a word that the user types, in Claude Code, and 1 more like it";
        assert_places(&RULE, &[(&text("awk '{print $1}' and $2"), &[(4, 13)], message)]);
        for body in ["$25 and $10.50 and $x1 and ${1} and \\$1", "Take $1 of $ARGUMENTS"] {
            assert_places(&RULE, &[(&text(body), &[], "")]);
        }
        assert_places(&RULE, &[("---\nname: x\nargument-hint: FILE\n---\n$1\n", &[], "")]);
    }
}
