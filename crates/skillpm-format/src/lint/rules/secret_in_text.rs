//! `secret-in-text`

use crate::lint::{Check, Docs, FileFacts, Finding, Group, Level, Levels, Needs, Rule, Subject};
use crate::tree::keys::{FoundKey, keys};

/// The name of the rule.
pub const ID: &str = "secret-in-text";

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: ID,
    group: Group::Package,
    levels: Levels::FILES.publish(Level::Error),
    summary: "no text has a key of a service, or a private key",
    docs: Docs {
        what: "Looks in all text files for keys that their services mark by a prefix: of AWS (`AKIA`), GitHub (`ghp_`, \
            `github_pat_`), GitLab (`glpat-`), Anthropic (`sk-ant-`), OpenAI (`sk-`), Slack (`xoxb-`), Google (`AIza`), npm \
            (`npm_`), PyPI, Hugging Face (`hf_`) and Stripe, and for private keys in PEM form. Examples such as \
            `AKIAIOSFODNN7EXAMPLE` and `ghp_xxxx` do not count. Here `scripts/read.py` has one.",
        why: "Everyone who gets the skill can use the key, and a version that was published stays published. `pack` and \
            `publish` ask before such a text goes out.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `scripts/read.py`.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nSet `PDF_TOKEN`, and run `scripts/read.py`.\n",
        source: "keys that were published by mistake; the specification is silent",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

const HELP: &str = "take it out, and revoke it if others have seen it; a script can read it from a variable";

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let document = subject.document;
    for key in keys(document.text().as_bytes()) {
        let message = format!("the text has {}: `{}`", key.kind, key.shown);
        findings.push(RULE.finding(message, key.span).help(HELP));
    }
    for file in subject.files.unwrap_or_default() {
        let Some(FileFacts { keys, .. }) = file.facts() else { continue };
        for FoundKey { kind, shown, line, .. } in keys {
            let message = format!("`{}:{line}` has {kind}: `{shown}`", file.path);
            findings.push(RULE.finding(message, document.opening_span()).help(HELP));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn the_document_and_each_file_are_told() {
        let key = |prefix: &str| format!("{prefix}_q7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQo");
        let text = format!("---\nname: pdf\n---\nSet `{}`.\n", key("ghp"));
        let found = places_with(&RULE, &text, &[with_key("scripts/read.py"), script("b.py", false, false)]);
        assert_eq!(
            found,
            [
                (4, 6, "the text has a token of GitHub: `ghp_…`".to_owned()),
                (1, 1, "`scripts/read.py:1` has a token of npm: `npm_…`".to_owned()),
            ]
        );
        assert_places(
            &RULE,
            &[("---\nname: x\n---\nSet `ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`.\n", &[], "")],
        );
    }
}
