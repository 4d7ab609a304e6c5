//! `file-large`

use super::ends_in;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Severity, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "file-large",
    group: Group::Package,
    levels: Levels::FILES,
    summary: "no file has more than 1 MiB",
    docs: Docs {
        what: "Looks for files of more than 1 MiB; pictures and films are a note. Here the first skill has `assets/scan.pdf` of 3 MiB.",
        why: "Everybody who installs the skill downloads it, and no agent reads as much.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF files\n",
        source: "review of skills; the specification is silent",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

/// The number of bytes of the largest file that is not reported.
const MAX: u64 = 1 << 20;

/// Extensions of pictures and films, which people look at.
const PICTURES: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "svg", "mp4", "mov"];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for file in subject.files.unwrap_or_default() {
        let Some(facts) = file.facts().filter(|facts| facts.size > MAX) else { continue };
        // Tenths of a MiB.
        let tenths = facts.size * 10 / MAX;
        let message = format!("`{}` has {}.{} MiB", file.path, tenths / 10, tenths % 10);
        let finding = RULE.finding(message, subject.document.opening_span());
        let finding = finding.help("make it smaller, or let the skill download it");
        findings.push(if ends_in(&file.path, PICTURES) { finding.severity(Severity::Note) } else { finding });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn large_files_are_reported_with_their_size() {
        let files = [large("a.bin", 1 << 20), large("b.bin", (1 << 20) * 5 / 2)];
        let found = places_with(&RULE, "---\nname: pdf\n---\n", &files);
        assert_eq!(found, [(1, 1, "`b.bin` has 2.5 MiB".to_owned())]);
    }
}
