//! `absolute-path`

use std::ops::Range;

use crate::document::Target;
use crate::lint::target;
use crate::lint::words;
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "absolute-path",
    group: Group::Quality,
    levels: Levels::QUALITY,
    summary: "no absolute paths",
    docs: Docs {
        what: "Looks for links to `/…`, `~/…` and `file:` addresses, and anywhere in the body for a user's \
            home directory, such as `/Users/jane/…`. Names that stand for any user, such as `/home/user`, do not count, nor does a block of code \
            without a language, which may be output.",
        why: "Once the skill is installed, those paths do not exist, and a home directory reveals a user name.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `/Users/jane/pdf/scripts/read.py`.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `scripts/read.py`.\n",
        source: "specification, file references: relative paths from the skill's directory",
    },
    fix: None,
    needs: Needs::Document,
    check: Check::Subject(check),
};

/// The parents of home directories.
const HOMES: &[&str] = &["/Users/", "/home/", ":\\Users\\", ":\\\\Users\\\\"];

/// Each path above contains one of these.
const SIGNS: &[&str] = &["/Users", "\\Users", "/home/"];

/// Names that do not identify a person: placeholders, and users in containers and services.
const IMPERSONAL: &[&str] = &[
    "user",
    "username",
    "users",
    "me",
    "you",
    "your",
    "name",
    "yourname",
    "your-name",
    "your_name",
    "your-username",
    "someone",
    "somebody",
    "example",
    "alice",
    "bob",
    "john",
    "jane-doe",
    "johndoe",
    "jdoe",
    "jsmith",
    "john.doe",
    "john.smith",
    "johnsmith",
    "janedoe",
    "jane.doe",
    "myuser",
    "myname",
    "user1",
    "dev",
    "developer",
    "home",
    "admin",
    "administrator",
    "public",
    "default",
    "shared",
    "guest",
    "root",
    "runner",
    "node",
    "ubuntu",
    "debian",
    "ec2-user",
    "vscode",
    "app",
    "appuser",
    "jovyan",
    "sandbox",
    "linuxbrew",
    "git",
    "agent",
    "claude",
    "codespace",
    "nonroot",
    "worker",
    "test",
    "xxx",
    "foo",
    "bar",
    "pi",
    "vagrant",
    "deploy",
    "container",
    "project",
    "projects",
];

const HELP: &str = "write the path from the skill's directory";

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let mut told: Vec<Range<usize>> = Vec::new();
    let links = target::links(subject, |target| *target == Target::Absolute);
    for (link, _) in links.filter(|(link, _)| !is_command(&link.target)) {
        let message = format!("the link is an absolute path: `{}`", link.target);
        findings.push(RULE.finding(message, link.target_span.clone()).help(HELP));
        told.push(link.span.clone());
    }
    let body = subject.document.body();
    let base = subject.document.body_span().start;
    // Most bodies contain none of these.
    if !words::has_text(body, SIGNS) {
        return;
    }
    let is_sample = |code: &Range<usize>| is_sample(&subject.document.text()[code.clone()]);
    for home in HOMES {
        for (at, _) in body.match_indices(home) {
            let start = base + at;
            if let Some(length) = person(body, at, home)
                && !told.iter().any(|range| range.contains(&start))
            {
                if subject.document.markdown().code_at(start).is_some_and(is_sample) {
                    continue;
                }
                let start = if home.starts_with(':') { start - 1 } else { start };
                let span = start..base + at + home.len() + length;
                let path = &subject.document.text()[span.clone()];
                let message = format!("the path is in a user's home directory: `{path}`");
                findings.push(RULE.finding(message, span).help(HELP));
            }
        }
    }
}

/// Reports whether `code` is a block that may be the output of a program, or a conversation: one without a language.
fn is_sample(code: &str) -> bool {
    let first = code.lines().next().unwrap_or_default();
    let language = first.trim_start_matches(['`', '~']).trim();
    code.contains('\n')
        && first.len() > language.len()
        && matches!(language, "" | "text" | "console" | "output")
}

/// Reports whether `target` is a command of an agent, as in `/plugin:skill`.
fn is_command(target: &str) -> bool {
    target.strip_prefix('/').is_some_and(|rest| rest.contains(':') && !rest.contains(['/', '.']))
}

/// Returns the length of the user's name after `home` at `at`, if it starts a path and identifies a person.
fn person(body: &str, at: usize, home: &str) -> Option<usize> {
    let before = &body[..at];
    let starts = if home.starts_with(':') {
        before.ends_with(|c: char| c.is_ascii_alphabetic())
    } else {
        // In an address or after a directory it is another path.
        !before.ends_with(|c: char| {
            c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '}' | ')' | '>' | ':')
        })
    };
    let rest = &body[at + home.len()..];
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let length = rest.find(|c: char| !name(c)).unwrap_or(rest.len());
    // A single name is not a path to a file.
    let goes_on = rest[length..].starts_with(['/', '\\']);
    let lower = rest[..length].to_ascii_lowercase();
    let nobody = lower.len() < 2
        || lower.starts_with("your")
        || lower.contains("..")
        || IMPERSONAL.contains(&lower.as_str());
    (starts && goes_on && !nobody).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use super::RULE;
    use crate::lint::testing::*;

    #[test]
    fn links_and_homes_are_told() {
        let text = |body: &str| format!("---\nname: x\n---\n{body}\n");
        assert_places(
            &RULE,
            &[
                (&text("[a](/docs/x.md)"), &[(4, 5)], "the link is an absolute path: `/docs/x.md`"),
                (
                    &text("<file:///x> [b](~/x.md)"),
                    &[(4, 2), (4, 17)],
                    "the link is an absolute path: `file:///x`",
                ),
                (
                    &text("```sh\ncd /Users/mia/x\n```"),
                    &[(5, 4)],
                    "the path is in a user's home directory: `/Users/mia`",
                ),
                (
                    &text("`C:\\Users\\mia\\x`"),
                    &[(4, 2)],
                    "the path is in a user's home directory: `C:\\Users\\mia`",
                ),
                (&text("[a](/home/mia/x)"), &[(4, 5)], "the link is an absolute path: `/home/mia/x`"),
            ],
        );
    }

    #[test]
    fn placeholders_and_other_paths_are_fine() {
        for body in [
            "/Users/<name>/x, /home/user/x, /Users/your-name/x, /home/$USER/x, /Users/…",
            "https://x.y/home/mia/z and $HOME/home/mia/x.",
            "/usr/bin/env, `/tmp/x`, /home/ and /home/mia.",
            "[a](x.md) [b](https://x.y) [c](#d)",
        ] {
            assert_places(&RULE, &[(&format!("---\nname: x\n---\n{body}\n"), &[], "")]);
        }
    }

    proptest! {
        #[test]
        fn every_home_has_a_sign(before in "\\PC{0,5}", home in 0..HOMES.len(), after in "\\PC{0,5}") {
            let text = before + HOMES[home] + &after;
            prop_assert!(words::has_text(&text, SIGNS));
        }
    }
}
