//! `license-unknown`

use spdx::{Expression, ParseMode};

use super::name;
use crate::lint::target;
use crate::lint::{Check, Docs, Finding, Fix, Group, Levels, Needs, Rule, Safety, Severity, Subject, edits};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "license-unknown",
    group: Group::Package,
    levels: Levels::WARNING,
    summary: "`license` is an SPDX expression or names a file of the skill",
    docs: Docs {
        what: "Looks for a `license` that is not an expression of SPDX identifiers (`MIT`, `MIT OR Apache-2.0`, \
            `LicenseRef-Mine`) and names no file of the skill. Where the skill's files are unknown, the \
            name of a file such as `LICENSE.txt` is enough. A name like none of the known ones is a note.",
        why: "People and tools look up the identifier, or read the file, to know what they may \
            do with a skill.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\nlicense: free for all\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\nlicense: Proprietary, see LICENSE.txt\n---\n",
        source: "specification, `license`; SPDX License List",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Paths(names_file),
    check: Check::Subject(check),
};

/// Reports whether `license` names a file and is not an expression.
fn names_file(subject: &Subject<'_>) -> bool {
    let is_named = |(_, text)| !is_expression(text) && files(text).next().is_some();
    subject.text("license").is_some_and(is_named)
}

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some((node, text)) = subject.text("license") else { return };
    if is_expression(text) {
        return;
    }
    let named: Vec<&str> = files(text).collect();
    let there = |name: &&str| subject.files.is_none_or(|files| target::is_file(files, path(name)));
    if named.iter().any(there) {
        return;
    }
    let message = match named.first() {
        _ if text.contains("://") => "`license` is an address: what it holds can change".to_owned(),
        Some(name) => format!("the skill has no file `{name}`, which `license` names"),
        None => format!("`{text}` is not an SPDX license"),
    };
    let finding = RULE.finding(message, node.span.clone());
    if text.contains("://") {
        findings.push(finding.help(TERMS));
        return;
    }
    // A value that names a file with an extension is not the name of a license.
    let may_be_license = !named.iter().any(|name| path(name).contains('.'));
    let Some(id) = may_be_license.then(|| suggestion(text)).flatten() else {
        // Terms of their own have a name of their own.
        let is_name = named.is_empty();
        let finding = finding.help(TERMS);
        findings.push(if is_name { finding.severity(Severity::Note) } else { finding });
        return;
    };
    let fix = subject.field("license").and_then(|(key, value)| {
        let edits = edits::set_value(subject.document, key, value, id)?;
        Some(Fix::unsafe_(format!("write `{id}`"), edits))
    });
    findings.push(Finding { fix, ..finding.help(format!("write `license: {id}`")) });
}

/// What to do about terms that are not in the list of licenses.
const TERMS: &str =
    "use an identifier from spdx.org/licenses, or put the terms into a file `LICENSE.txt` and name it";

fn is_expression(text: &str) -> bool {
    is_identifier(text) || (may_be_expression(text) && parses(text))
}

/// Identifiers that most skills have: SPDX has hundreds, spread over the memory.
const USUAL: &[&str] = &["MIT", "Apache-2.0", "BSD-3-Clause"];

/// Reports whether `text` is a single identifier, as nearly every license is.
fn is_identifier(text: &str) -> bool {
    USUAL.contains(&text) || (!text.contains(' ') && !text.ends_with('+') && spdx::license_id(text).is_some())
}

/// Reports whether `text` may be an expression of several words. Never false if it is one.
fn may_be_expression(text: &str) -> bool {
    !text.contains(char::is_whitespace)
        || ["AND", "and", "OR", "or", "WITH", "with", "(", "+"].iter().any(|part| text.contains(part))
}

fn parses(text: &str) -> bool {
    let mode = ParseMode { allow_deprecated: true, ..ParseMode::STRICT };
    Expression::parse_mode(text, mode).is_ok()
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '[' | ']' | '`' | '"' | '\'')
}

/// Reports whether `word` looks like the name of a file with license terms.
fn is_file_name(word: &str) -> bool {
    let word = word.trim_end_matches('.');
    let name = name(word);
    let upper = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "TERMS"];
    upper.iter().any(|start| name.starts_with(start))
        || (name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("LICEN")) && name.contains('.'))
        || [".txt", ".md", ".html", ".pdf"].iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

/// Returns the words of `text` that look like names of files with license terms.
fn files(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_between).filter(|word| is_file_name(word))
}

/// Returns the path in `word`.
fn path(word: &str) -> &str {
    word.trim_end_matches('.').trim_start_matches("./")
}

/// Returns the identifier that `text` most likely means.
fn suggestion(text: &str) -> Option<&'static str> {
    let plain = text.trim_end_matches('.');
    let plain =
        plain.strip_suffix("License").or_else(|| plain.strip_suffix("license")).unwrap_or(plain).trim();
    let of_plain = || if plain == text { None } else { spdx::imprecise_license_id(plain) };
    let (id, length) = spdx::imprecise_license_id(text).or_else(of_plain)?;
    (length >= plain.len()).then_some(id.name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lint::testing::*;

    fn told(license: &str, files: Option<&[ExampleFile]>) -> Vec<String> {
        let text = format!("---\nname: pdf\nlicense: {license}\n---\n");
        let found = match files {
            Some(files) => places_with(&RULE, &text, files),
            None => places(&RULE, &text),
        };
        found.into_iter().map(|(_, _, message)| message).collect()
    }

    /// Nothing is suggested for a value that names a file with an extension, so no license may have such a
    /// name.
    #[test]
    fn no_license_is_named_like_a_file_with_an_extension() {
        for (name, _) in spdx::identifiers::IMPRECISE_NAMES {
            for text in [name.to_string(), name.to_uppercase()] {
                assert_eq!(files(&text).find(|word| path(word).contains('.')), None, "{text}");
            }
        }
    }

    #[test]
    fn licenses_that_say_nothing_are_told() {
        assert_eq!(told("Free", None), ["`Free` is not an SPDX license"]);
        let message = "the skill has no file `LICENSE.txt`, which `license` names";
        assert_eq!(told("Complete terms in LICENSE.txt", Some(&[])), [message]);
        for (license, id) in [("MIT License", "MIT"), ("Apache 2.0", "Apache-2.0"), ("mit", "MIT")] {
            let text = format!("---\nlicense: {license}\n---\n");
            assert_eq!(help(&RULE, &text), format!("write `license: {id}`"));
        }
    }

    #[test]
    fn expressions_and_files_are_fine() {
        for license in [
            "MIT",
            "Apache-2.0",
            "MIT OR Apache-2.0",
            "(MIT AND BSD-3-Clause)",
            "GPL-3.0-only WITH Classpath-exception-2.0",
            "GPL-3.0",
            "LicenseRef-Mine",
            "Proprietary. LICENSE.txt has complete terms",
            "See LICENSE",
            "CC-BY-4.0",
        ] {
            assert_eq!(told(license, None), Vec::<String>::new(), "{license}");
        }
        let files = [text_file("docs/terms.md", ""), script("LICENSE.txt", false, false)];
        for license in ["see docs/terms.md.", "Proprietary (LICENSE.txt)"] {
            assert_eq!(told(license, Some(&files)), Vec::<String>::new(), "{license}");
        }
    }

    /// The fast paths agree with the parser.
    #[test]
    fn identifiers_are_expressions() {
        for license in spdx::identifiers::LICENSES {
            for text in [license.name.to_owned(), license.name.to_lowercase(), format!("{}+", license.name)] {
                assert_eq!(is_expression(&text), parses(&text), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn words_are_judged_as_the_parser_does(
            text in "(MIT|GPL-2\\.0|Apache-2\\.0|LicenseRef-x|x| | |AND|and|OR|WITH|Classpath-exception-2\\.0|\\(|\\)|\\+|/|,|-only){1,7}",
        ) {
            let text = text.trim();
            prop_assert_eq!(is_expression(text), parses(text), "{}", text);
        }
    }
}
