//! `link-missing`

use std::collections::BTreeMap;

use super::link_outside::targets;
use super::name;
use crate::document::{Link, Target};
use crate::lint::target;
use crate::lint::{
    Check, Docs, Edit, Finding, Fix, Group, Levels, Needs, Outside, Rule, Safety, Severity, SkillFile,
    Subject,
};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "link-missing",
    group: Group::Quality,
    levels: Levels::WARNING,
    summary: "links lead to files that exist",
    docs: Docs {
        what: "Looks for relative links and images in the body that do not match a file of the skill, \
            including case. A link out of the skill that leads nowhere in its repository either is an error, reported once \
            for each target. Links in code and placeholders such as `path/to/file.md` do not count. It only runs \
            where the skill's other files are known.",
        why: "The agent reads the link, asks for the file, and gets an error.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [forms](references/form.md).\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [forms](references/forms.md).\n",
        source: "specification, file references: relative paths from the skill's directory",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Paths(target::may_lead_to_file),
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    if subject.outside.is_some() {
        for (link, path, _) in targets(subject).filter(|(.., outside)| *outside == Outside::Gone) {
            let finding = RULE.finding(format!("nothing exists at `{path}`"), link.target_span.clone());
            let finding = finding.help("correct the path, or delete the link");
            findings.push(finding.severity(Severity::Error));
        }
    }
    let Some(files) = subject.files else { return };
    // Nearly all bodies end here, before Markdown is parsed.
    let missing = |target: &Target| matches!(target, Target::Inside(path) if !target::exists(files, path));
    let mut there = None;
    for (link, target) in target::links(subject, missing) {
        if let Target::Inside(path) = target {
            let there = there.get_or_insert_with(|| ExistingFiles::new(files));
            findings.push(finding(subject, there, link, &path));
        }
    }
}

fn finding(subject: &Subject<'_>, there: &ExistingFiles<'_>, link: &Link, path: &str) -> Finding {
    let finding = RULE.finding(format!("the skill has no file `{path}`"), link.target_span.clone());
    let Some(meant) = there.meant(path) else {
        return finding.help("write the path from the skill's directory, or delete the link");
    };
    let finding = finding.help(format!("did you mean `{meant}`?"));
    // Only a target that is written out can be replaced; the text after the path stays.
    let written = &subject.document.text()[link.target_span.clone()];
    let end = written.find(['#', '?']).unwrap_or(written.len());
    let plain = written == link.target && !meant.contains([' ', '(', ')', '%', '#', '?', '<', '>', '\\']);
    if !plain {
        return finding;
    }
    let span = link.target_span.start..link.target_span.start + end;
    finding.fix(Fix::unsafe_(format!("link to `{meant}`"), vec![Edit::replace(span, meant)]))
}

/// The existing files, by the parts that a wrong path may have in common with theirs. `None` if several have the same.
struct ExistingFiles<'a> {
    cased: BTreeMap<String, Option<&'a str>>,
    named: BTreeMap<String, Option<&'a str>>,
}

impl<'a> ExistingFiles<'a> {
    fn new(files: &'a [SkillFile]) -> Self {
        let by = |key: fn(&str) -> String| {
            let mut found = BTreeMap::new();
            for path in files.iter().map(|file| file.path.as_str()) {
                found.entry(key(path)).and_modify(|only| *only = None).or_insert(Some(path));
            }
            found
        };
        Self { cased: by(str::to_lowercase), named: by(lower_name) }
    }

    /// Returns the one file that was probably meant: the same path in another case, otherwise the same name elsewhere.
    fn meant(&self, path: &str) -> Option<&'a str> {
        let only = |found: &BTreeMap<String, Option<&'a str>>, key: &str| found.get(key).copied().flatten();
        only(&self.cased, &path.to_lowercase()).or_else(|| only(&self.named, &lower_name(path)))
    }
}

/// Returns the last part of `path`, in lower case.
fn lower_name(path: &str) -> String {
    name(path).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    const FILES: &[ExampleFile] = &[text_file("references/forms.md", ""), text_file("assets/Logo.png", "")];

    fn at(body: &str) -> Vec<(usize, usize, String)> {
        places_with(&RULE, &format!("---\nname: pdf\n---\n{body}\n"), FILES)
    }

    #[test]
    fn links_to_nothing_are_told() {
        assert_eq!(
            at("See [a](gone.md) and ![b](./x/../gone.png#y)."),
            [
                (4, 9, "the skill has no file `gone.md`".to_owned()),
                (4, 27, "the skill has no file `gone.png`".to_owned()),
            ]
        );
    }

    #[test]
    fn links_that_lead_somewhere_or_are_none() {
        for body in [
            "[a](references/forms.md#x) [b](references/) [c](SKILL.md) [d](https://x.y) [e](#f) [g](.)",
            "`[a](gone.md)`\n\n```\n[a](gone.md)\n```\n<!-- [a](gone.md) -->",
            "[title](url) and [x](path/to/x.md) and [y]({y}.md) and [z](../gone.md)",
        ] {
            assert_eq!(at(body), [], "{body}");
        }
        // Without a lookup, nothing is reported.
        assert_places(&RULE, &[("---\nname: x\n---\n[a](gone.md)\n", &[], "")]);
    }

    #[test]
    fn the_file_that_was_meant_is_named() {
        for (body, fixed) in [
            ("[a](forms.md#part)", "[a](references/forms.md#part)"),
            ("![a](assets/logo.png)", "![a](assets/Logo.png)"),
        ] {
            assert_eq!(fixed_with(&RULE, body, FILES), [fixed]);
        }
        assert_eq!(fixed_with(&RULE, "[a](gone.md)", FILES), Vec::<String>::new());
    }
}
