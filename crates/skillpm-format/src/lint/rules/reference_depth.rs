//! `reference-depth`

use super::name;
use crate::document::{Markdown, Prefilter, Target};
use crate::lint::target;
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, SkillFile, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "reference-depth",
    group: Group::Quality,
    levels: Levels::FILES.publish(Level::Note).claude_code(Level::Note),
    summary: "every Markdown file is one link away from `SKILL.md`",
    docs: Docs {
        what: "Looks for a linked Markdown file that links to a further Markdown file of the skill which `SKILL.md` \
            does not name. Here `references/forms.md` links to `references/fields.md`.",
        why: "Agents read a file linked from another file only in part, or not at all.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [forms](references/forms.md).\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n\
            See [forms](references/forms.md) and [fields](references/fields.md).\n",
        source: "specification, file references: one level deep from `SKILL.md`",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(files) = subject.files else { return };
    // One file is needed to lead to another.
    if files.iter().filter(|file| file.markdown().is_some()).count() == 0 || files.len() < 2 {
        return;
    }
    if may_find(subject, files) {
        find(subject, files, findings);
    }
}

/// Reports whether a file to which the body may link may lead to another one whose name the body does not contain.
/// Never false if [`find`] finds something; nearly all skills end here, before Markdown is parsed.
fn may_find(subject: &Subject<'_>, files: &[SkillFile]) -> bool {
    let Some(targets) = subject.document.sketch().targets() else { return true };
    let mut inside = targets.iter().filter_map(|target| match target {
        Target::Inside(path) => files.iter().find(|file| file.path == *path),
        _ => None,
    });
    inside.any(|file| may_lead_on(file, files, subject.document.body()))
}

/// Reports whether `file` may link to a Markdown file whose name `body` does not contain.
fn may_lead_on(file: &SkillFile, files: &[SkillFile], body: &str) -> bool {
    let Some(text) = file.markdown() else { return false };
    let sketch = Prefilter::of(text);
    let Some(targets) = sketch.targets() else { return true };
    let directory = file.directory();
    let is_unknown = |path: &str| {
        path != file.path
            && !body.contains(name(path))
            && files.iter().any(|other| other.path == path && other.is_markdown())
    };
    targets.iter().any(|target| match target {
        Target::Inside(path) => is_unknown(path) || is_unknown(&format!("{directory}/{path}")),
        // Outside the skill's directory in one interpretation, and inside in the other.
        Target::Outside(_) => true,
        _ => false,
    })
}

fn find(subject: &Subject<'_>, files: &[SkillFile], findings: &mut Vec<Finding>) {
    let body = subject.document.body();
    let linked: Vec<(&_, String)> = target::inside(subject).collect();
    let mut seen = Vec::new();
    for (link, path) in &linked {
        let Some(file) = files.iter().find(|file| file.path == *path) else { continue };
        // An index leads on by its nature.
        if ["readme.md", "index.md"].contains(&name(path).to_ascii_lowercase().as_str()) {
            continue;
        }
        if seen.contains(&path) {
            continue;
        }
        seen.push(path);
        let further = further(file, files);
        let unknown: Vec<&str> = further
            .into_iter()
            .filter(|other| !linked.iter().any(|(_, path)| path == other) && !body.contains(name(other)))
            .collect();
        if let Some(first) = unknown.first() {
            let more = match unknown.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            let message = format!("`{path}` leads on to `{first}`{more}, which `SKILL.md` does not name");
            let help = format!("link to `{first}` from `SKILL.md` too, and say when to read it");
            findings.push(RULE.finding(message, link.target_span.clone()).help(help));
        }
    }
}

/// Returns the Markdown files that `file` links to.
fn further<'a>(file: &SkillFile, files: &'a [SkillFile]) -> Vec<&'a str> {
    let Some(text) = file.markdown().filter(|text| text.contains("](") || text.contains("]:")) else {
        return Vec::new();
    };
    let directory = file.directory();
    let mut found = Vec::new();
    for link in Markdown::parse(text, 0).links {
        // By the specification paths start at the skill's directory, but all tools start at the file's.
        for from in [directory, ""] {
            let Target::Inside(path) = Target::of(&link.target, from) else { continue };
            let other = files.iter().find(|other| other.path == path && other.is_markdown());
            if let Some(other) = other
                && other.path != file.path
                && !found.contains(&other.path.as_str())
            {
                found.push(&other.path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::Document;
    use crate::lint::testing::*;
    use crate::lint::{FileFacts, SkillFileKind};

    fn at(body: &str, files: &[ExampleFile]) -> Vec<(usize, usize, String)> {
        places_with(&RULE, &format!("---\nname: pdf\n---\n{body}\n"), files)
    }

    #[test]
    fn files_behind_files_are_told() {
        let files = [
            text_file("references/a.md", "[b](b.md) [b](references/b.md#x) [a](a.md) [c](c.png)"),
            text_file("references/b.md", ""),
            script("references/c.png", false, false),
        ];
        let message = "`references/a.md` leads on to `references/b.md`, which `SKILL.md` does not name";
        assert_eq!(at("[a](references/a.md) [a](references/a.md#y)", &files), [(4, 5, message.to_owned())]);
    }

    #[test]
    fn what_is_named_too_or_never_linked_is_fine() {
        let files =
            [text_file("a.md", "[b](b.md) `[c](c.md)`"), text_file("b.md", ""), text_file("c.md", "")];
        for body in ["[a](a.md) [b](b.md)", "[a](a.md), then b.md", "no links: a.md"] {
            assert_eq!(at(body, &files), [], "{body}");
        }
    }

    proptest! {
        #[test]
        fn the_quick_look_misses_nothing(
            texts in proptest::collection::vec(
                "(\\[x\\]\\((|\\./|\\.\\./|/|r/)(a|b|c)\\.(md|MD|png)(|#x)\\)|`|\n|\\[y\\]: |b\\.md| ){0,6}", 4,
            ),
        ) {
            let document = Document::parse(format!("---\nname: x\n---\n{}", texts[0]));
            let paths = ["a.md", "r/a.md", "r/b.md"];
            let file = |(path, text): (&&str, &String)| SkillFile {
                path: (*path).to_owned(),
                kind: SkillFileKind::File(FileFacts { text: Some(text.clone()), ..FileFacts::default() }),
            };
            let files: Vec<SkillFile> = paths.iter().zip(&texts[1..]).map(file).collect();
            let subject = Subject::new(&document, None, "SKILL.md").with_files(&files);
            let mut findings = Vec::new();
            find(&subject, &files, &mut findings);
            prop_assert!(may_find(&subject, &files) || findings.is_empty(), "{:?}", findings);
        }
    }
}
