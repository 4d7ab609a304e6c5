//! `script-executable`

use super::scripts::{ending, mentions, scripts};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, SkillFileKind, Subject};
use crate::text::shell_word;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "script-executable",
    group: Group::Quality,
    levels: Levels::FILES,
    summary: "scripts can be run: executable bit and first line",
    docs: Docs {
        what: "Looks for scripts below `scripts/` without the executable bit or without a first line that starts \
            with `#!`. A script that the text runs through its interpreter (`python scripts/read.py`) needs neither; \
            one that has neither and is not a shell script is reported only if `SKILL.md` runs it as a command. \
            Here `scripts/read.sh` has no executable bit.",
        why: "The agent runs the script, gets `permission denied`, and starts to guess.",
        bad: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `scripts/read.sh FILE`.\n",
        good: "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun `bash scripts/read.sh FILE`.\n",
        source: "POSIX, `execve`; the specification is silent",
    },
    fix: None,
    needs: Needs::Files,
    check: Check::Subject(check),
};

/// Programs that run the script named after them.
const INTERPRETERS: &[&str] = &[
    "python", "python3", "python2", "py", "bash", "sh", "zsh", "fish", "node", "nodejs", "bun", "deno",
    "tsx", "ruby", "perl", "run", "uv", "pipx", "npx", "source", ".", "exec", "import", "require",
];

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(files) = subject.files else { return };
    let body = subject.document.body();
    let markdown = |text: &str, name: &str| is_run_by_interpreter(text, name);
    for (path, executable, shebang) in scripts(files) {
        if executable && shebang {
            continue;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let place = mentions(body, path).next().map(|at| (at, path.len()));
        let shell = matches!(ending(path), "sh" | "bash" | "zsh" | "fish");
        // A module that others import has neither, and needs neither.
        let module = name.starts_with('_') || (!executable && !shebang && !shell && !is_command(body, path));
        let elsewhere = || {
            files.iter().any(|file| match &file.kind {
                SkillFileKind::File { markdown: Some(text), .. } => markdown(text, name),
                _ => false,
            })
        };
        if module || markdown(body, name) || elsewhere() {
            continue;
        }
        let (lacks, help) = match (executable, shebang) {
            (false, true) => ("no executable bit", format!("run `chmod +x {}`", shell_word(path))),
            (true, _) => ("no `#!` line", "start it with a line such as `#!/usr/bin/env bash`".to_owned()),
            (false, false) => {
                ("neither an executable bit nor a `#!` line", "add both, or say how to run it".to_owned())
            }
        };
        let base = subject.document.body_span().start;
        let span = place
            .map_or_else(|| subject.document.opening_span(), |(at, length)| base + at..base + at + length);
        findings.push(RULE.finding(format!("`{path}` has {lacks}"), span).help(help));
    }
}

/// Reports whether `text` has `path` at the start of a command, or alone in code with arguments.
fn is_command(text: &str, path: &str) -> bool {
    mentions(text, path).any(|at| {
        let before = text[..at].strip_suffix("./").unwrap_or(&text[..at]);
        let line = before.rsplit('\n').next().unwrap_or_default().trim_end();
        let starts = line.is_empty() || ["$", "&&", ";", "|"].iter().any(|end| line.ends_with(end));
        let dotted = before.len() < at;
        starts || dotted || (line.ends_with('`') && text[at + path.len()..].starts_with(' '))
    })
}

/// Reports whether `text` has `name` as an argument of an interpreter: `python -u scripts/name`.
fn is_run_by_interpreter(text: &str, name: &str) -> bool {
    mentions(text, name).any(|at| {
        let line = text[..at].rfind('\n').map_or(&text[..at], |end| &text[end + 1..at]);
        // The words before it on the line, without the directory it is in.
        let words =
            line.split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | '|' | '['));
        words.rev().skip(1).take(4).any(|word| INTERPRETERS.contains(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::lint::testing::*;

    fn told(body: &str, files: &[ExampleFile]) -> Vec<(usize, usize, String)> {
        places_with(&RULE, &format!("---\nname: pdf\n---\n{body}\n"), files)
    }

    #[test]
    fn scripts_that_cannot_be_run_are_told() {
        let files = [
            script("scripts/a.sh", false, true),
            script("scripts/b.py", true, false),
            script("scripts/c.sh", false, false),
            script("scripts/d.py", false, false),
        ];
        assert_eq!(
            told("Run scripts/a.sh.\nThen `scripts/d.py x`.", &files),
            [
                (4, 5, "`scripts/a.sh` has no executable bit".to_owned()),
                (1, 1, "`scripts/b.py` has no `#!` line".to_owned()),
                (1, 1, "`scripts/c.sh` has neither an executable bit nor a `#!` line".to_owned()),
                (5, 7, "`scripts/d.py` has neither an executable bit nor a `#!` line".to_owned()),
            ]
        );
    }

    #[test]
    fn scripts_that_need_neither_are_fine() {
        let files = [script("scripts/a.py", false, true)];
        for body in [
            "`python scripts/a.py`",
            "```\nuv run --quiet ./scripts/a.py x\n```",
            "python3 \"${DIR}/scripts/a.py\"",
        ] {
            assert_eq!(told(body, &files), [], "{body}");
        }
        let files = [
            script("scripts/a.py", true, true),
            script("scripts/module.py", false, false),
            script("scripts/_x.py", true, false),
            script("scripts/a.ts", false, false),
            script("assets/a.sh", false, false),
        ];
        assert_eq!(told("scripts/a.py", &files), []);
        let files = [script("scripts/a.py", false, false)];
        for body in ["| `scripts/a.py` | reads |", "see scripts/a.py for more"] {
            assert_eq!(told(body, &files), [], "{body}");
        }
        let files = [script("scripts/a.sh", false, true), markdown("x.md", "bash scripts/a.sh")];
        assert_eq!(told("scripts/a.sh", &files), []);
        assert_places(&RULE, &[("---\nname: x\n---\nscripts/a.sh\n", &[], "")]);
    }
}
