//! `reference-link-missing`

use crate::document::{Markdown, Prefilter, Target};
use crate::lint::target;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, SkillFile, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "reference-link-missing",
    group: Group::Quality,
    levels: Levels::FILES,
    summary: "links in the skill's other Markdown lead to files that exist",
    docs: Docs {
        what: "Looks for relative links in the other Markdown files of the skill that lead to no file, neither from the \
            directory of that file nor from the skill's. Templates, READMEs and the files in `assets/` do not count: their links are \
            for the place where they are used. Here `references/forms.md` links to `fields.md`.",
        why: "The agent reads the link, asks for the file, and gets an error.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [forms](references/forms.md).\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee the form.\n",
        source: "specification, file references",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

/// The maximum number of links of a skill that are looked up: no skill has more.
const MAX_LINKS: usize = 10_000;

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let files = subject.files.unwrap_or_default();
    let mut left = MAX_LINKS;
    for file in files.iter().filter(|file| !is_template(&file.path)) {
        // A copied article keeps the links of its original.
        let is_own = |text: &&str| !text.trim_start().starts_with("> Source:");
        let Some(text) = file.markdown().filter(is_own) else { continue };
        // Nearly all files end here, before Markdown is parsed.
        let may_miss =
            |target: &Target| !matches!(target, Target::Inside(path) if target::exists(files, path));
        if !Prefilter::of(text).may_lead(may_miss) {
            continue;
        }
        let mut told: Vec<String> = Vec::new();
        let links = Markdown::parse(text, 0).links;
        let looked_up = links.len().min(left);
        left -= looked_up;
        let mut span = None;
        for link in links.into_iter().take(looked_up) {
            let Some(path) = missing(&link.target, file, files).filter(|path| !told.contains(path)) else {
                continue;
            };
            let line = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..link.span.start]).count();
            let message = format!("`{}` links to `{path}` on line {line}, which does not exist", file.path);
            let span = span.get_or_insert_with(|| place(subject, file));
            let finding = RULE.finding(message, span.clone());
            findings.push(finding.help("correct the path, or delete the link"));
            told.push(path);
        }
    }
}

/// Returns the path that `link` in `file` leads to, if nothing is there however it is read: by the specification paths
/// start at the skill's directory, but all tools start at the file's.
fn missing(link: &str, file: &SkillFile, files: &[SkillFile]) -> Option<String> {
    let mut first = None;
    for from in [file.directory(), ""] {
        let Target::Inside(path) = Target::of(link, from) else { return None };
        if target::exists(files, &path) {
            return None;
        }
        first.get_or_insert(path);
    }
    first
}

fn is_template(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.starts_with("assets/")
        || lower.contains("template")
        || lower.contains("example")
        || lower.contains("readme")
}

/// Returns the link in `SKILL.md` that leads to `file`, or the start.
fn place(subject: &Subject<'_>, file: &SkillFile) -> std::ops::Range<usize> {
    let link = target::inside(subject).find(|(_, path)| *path == file.path);
    link.map_or_else(|| subject.document.opening_span(), |(link, _)| link.target_span.clone())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn dead_links_of_other_files_are_reported() {
        let text = "---\nname: pdf\n---\n[a](references/a.md)\n";
        let links =
            "x\n[b](gone.md) [b](./gone.md#x) [c](b.md) [d](references/b.md) [e](../../x.md) [f](../lost.md)";
        let files = [
            text_file("references/a.md", links),
            text_file("references/b.md", "[x](url) `[x](y.md)`"),
            text_file("assets/template.md", "[x](gone.md)"),
        ];
        assert_eq!(
            places_with(&RULE, text, &files),
            [(
                4,
                5,
                "`references/a.md` links to `references/gone.md` on line 2, which does not exist".to_owned()
            ),],
        );
    }
}
