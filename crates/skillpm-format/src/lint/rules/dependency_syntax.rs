//! `dependency-syntax`

use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};
use crate::requirement::Requirement;
use crate::resolve::declared::declared_in;
use crate::spec::SourceSpec;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "dependency-syntax",
    group: Group::Package,
    levels: Levels::PACKAGE,
    summary: "`metadata.skill-dependencies` can be read",
    docs: Docs {
        what: "Looks for entries of `metadata.skill-dependencies` that are not one of: a skill's name, a name with a \
            range of versions (`pdf@^1.2`), a source (`owner/repo/skills/pdf#v2`), a path from the skill's directory to \
            another one of the same source (`../pdf`). Spaces or commas stand between them.",
        why: "What cannot be read cannot be installed with the skill, and a path such as \
            `~/skills/pdf` or `file:///srv/pdf.git` exists on one machine only.",
        bad: "---\nname: forms\ndescription: Fills forms.\nmetadata:\n  skill-dependencies: pdf@latest\n---\n",
        good: "---\nname: forms\ndescription: Fills forms.\nmetadata:\n  skill-dependencies: pdf@^1.2\n---\n",
        source: "skillpm; the specification is silent",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    for need in declared_in(subject.document) {
        let (message, help) = match &need.requirement {
            Err(error) => (
                error.to_string(),
                "write `name`, `name@^1.2` or `owner/repo/path#tag`, with spaces or commas between them",
            ),
            // A path from here leads to a skill of the same source, wherever that is.
            Ok(Requirement::Source(SourceSpec { origin, .. }))
                if origin.local_path().is_some_and(|path| path.starts_with('.')) =>
            {
                continue;
            }
            Ok(Requirement::Source(SourceSpec { origin, .. })) => match origin.path_here() {
                Some(path) => (
                    format!("`{path}` is a path on one machine"),
                    "name a source that others can reach, or a path from here to a skill of the same source",
                ),
                None => continue,
            },
            Ok(_) => continue,
        };
        findings.push(RULE.finding(message, need.span).help(help));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// DESIGN, section 6.
    #[test]
    fn entries_are_told_where_they_stand() {
        let text = |value: &str| format!("---\nmetadata:\n  skill-dependencies: {value}\n---\n");
        let message = "the name `PDF` has an upper-case letter";
        assert_places(
            &RULE,
            &[
                (&text("pdf@^1, PDF docx@>=1,<2"), &[(3, 31)], message),
                (&text("\"PDF a\""), &[(3, 24)], message),
                (&text("\n    - a\n    - PDF"), &[(5, 7)], message),
                (&text("a b@1.2 github:o/r#v1 ./x ../y"), &[], ""),
                (&text("../a ~/b"), &[(3, 28)], "`~/b` is a path on one machine"),
                (&text("/b"), &[(3, 23)], "`/b` is a path on one machine"),
                (&text("file:///etc/x.git"), &[(3, 23)], "`/etc/x.git` is a path on one machine"),
                (&text("git+../x.git"), &[(3, 23)], "`../x.git` is a path on one machine"),
                (&text("registry:/srv/r//pdf"), &[(3, 23)], "`/srv/r` is a path on one machine"),
                (&text(""), &[], ""),
                ("---\nname: x\ndependencies: PDF\n---\n", &[], ""),
            ],
        );
    }
}
