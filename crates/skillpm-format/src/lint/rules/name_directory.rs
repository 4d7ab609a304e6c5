//! `name-directory`

use unicode_normalization::UnicodeNormalization;

use crate::lint::edits;
use crate::lint::{Check, Docs, Finding, Group, Level, Levels, Needs, Rule, Safety, Subject};
use crate::name::SkillName;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "name-directory",
    group: Group::Spec,
    levels: Levels::ERROR.claude_code(Level::Warning).claude_ai(Level::Warning),
    summary: "the name matches the directory",
    docs: Docs {
        what: "Compares the name with that of the file's directory, both after NFKC.",
        why: "Some tools find a skill by its name and some by its directory; both must find \
            the same one.",
        bad: "---\nname: reader\ndescription: Reads PDF files.\n---\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
        source: "specification, `name`",
    },
    fix: Some(Safety::Unsafe),
    needs: Needs::Document,
    check: Check::Subject(check),
};

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let (Some((node, name)), Some(directory)) = (subject.text("name"), subject.directory_name) else {
        return;
    };
    if name == directory {
        return;
    }
    let plain = |text: &str| text.nfkc().collect::<String>();
    let (name, wanted) = (plain(name), plain(directory));
    if name == wanted {
        return;
    }
    // `name-alphabet` says to call it that.
    if SkillName::new(&name).is_err() && SkillName::slug(&name).is_some_and(|slug| slug.as_str() == wanted) {
        return;
    }
    let differs =
        if name.to_lowercase() == wanted.to_lowercase() { "differs only in case" } else { "differs" };
    let message = format!("the name `{name}` {differs} from the directory's name `{directory}`");
    let help = if SkillName::new(&name).is_ok() {
        format!("rename the directory to `{name}`, or change the name")
    } else {
        "give the directory and the skill the same name".to_owned()
    };
    let fix = SkillName::new(&wanted).ok().and_then(|name| edits::rename(subject, name.as_str()));
    findings.push(Finding { fix, ..RULE.finding(message, node.span.clone()).help(help) });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    /// Oddity 41.
    #[test]
    fn both_are_compared_after_nfkc() {
        for (name, directory, expected) in [
            ("pdf", Some("pdf"), None),
            ("pdf", None, None),
            ("ｐｄｆ", Some("pdf"), None),
            ("e\u{301}t", Some("\u{e9}t"), None),
            ("a", Some("b"), Some("the name `a` differs from the directory's name `b`")),
            ("a", Some("A"), Some("the name `a` differs only in case from the directory's name `A`")),
        ] {
            let found = findings(&RULE, &format!("---\nname: {name}\n---\n"), directory, "SKILL.md");
            assert_eq!(found.first().map(|finding| finding.message.as_str()), expected, "{name}");
            assert!(found.iter().all(|finding| finding.span.start == 10));
        }
    }
}
