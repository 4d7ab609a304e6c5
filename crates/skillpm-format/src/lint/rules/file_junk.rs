//! `file-junk`

use super::{ending, name};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, SkillFileKind, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "file-junk",
    group: Group::Package,
    levels: Levels::FILES,
    summary: "no build output and nothing that tools leave is in the skill",
    docs: Docs {
        what: "Looks for directories that builds and editors make (`target/`, `coverage/`, `.idea/`), and for files that \
            tools leave: logs, backup copies, object files. Caches that `pack` leaves out do not count. \
            Here the first skill has `debug.log`.",
        why: "All of it goes to everybody who installs the skill, and makes it large and hard to review.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n# PDF files\n",
        source: "review of skills; the specification is silent",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

/// Directories that a build or an editor makes.
const DIRECTORIES: &[&str] = &["coverage", ".idea", ".vscode", ".gradle", ".terraform", ".next", ".turbo"];

/// Extensions of files that tools leave.
const ENDINGS: &[&str] = &["log", "bak", "orig", "rej", "tmp", "o", "obj"];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let mut told: Vec<&str> = Vec::new();
    for file in subject.files.unwrap_or_default() {
        let Some(junk) = junk(&file.path, &file.kind).filter(|junk| !told.contains(junk)) else { continue };
        told.push(junk);
        let finding =
            RULE.finding(format!("`{junk}` does not belong in a skill"), subject.document.opening_span());
        findings.push(finding.help("delete it, or list it in `.skillpmignore`"));
    }
}

/// Returns the part of `path` that does not belong in a skill.
fn junk<'a>(path: &'a str, kind: &SkillFileKind) -> Option<&'a str> {
    if *kind == SkillFileKind::Unlisted {
        return Some(path);
    }
    let mut end = 0;
    for part in path.split('/') {
        end += part.len();
        if DIRECTORIES.contains(&part) && end < path.len() {
            return Some(&path[..end]);
        }
        end += 1;
    }
    ENDINGS.contains(&ending(name(path))).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn leftovers_of_builds_and_tools_are_reported() {
        let files = [
            text_file("a.md", ""),
            script("debug.log", false, false),
            script("coverage/a/b.html", false, false),
            script("coverage/c.html", false, false),
            script("scripts/__pycache__/a.pyc", false, false),
            script("scripts/a.bak", false, false),
            script("scripts/coverage", true, true),
            unlisted("target"),
        ];
        let found = places_with(&RULE, "---\nname: pdf\n---\n", &files);
        let told: Vec<&str> = found.iter().filter_map(|(.., message)| message.split('`').nth(1)).collect();
        assert_eq!(told, ["debug.log", "coverage", "scripts/a.bak", "target"]);
    }
}
