//! `script-executable`

use super::scripts::{is_run_by_interpreter, name, run_directly, scripts};
use crate::lint::{Check, Docs, Finding, Group, Levels, Needs, Rule, Subject};
use crate::text::shell_word;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "script-executable",
    group: Group::Quality,
    levels: Levels::FILES,
    summary: "scripts can be run: executable bit and first line",
    docs: Docs {
        what: "Looks for scripts below `scripts/` that a Markdown file of the skill runs as a command, and that lack the \
            executable bit or a first line that starts with `#!`. A script that is only named, that others import, or \
            that the text runs through its interpreter (`python scripts/read.py`) needs neither. \
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

fn check(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let Some(files) = subject.files else { return };
    let body = subject.document.body();
    let others = || files.iter().filter_map(|file| Some((file.path.as_str(), file.markdown()?)));
    for (path, facts) in scripts(files) {
        if facts.executable && facts.shebang {
            continue;
        }
        let place = run_directly(body, path);
        let elsewhere =
            || others().find(|(_, text)| run_directly(text, path).is_some()).map(|(file, _)| file);
        let runner = if place.is_some() { Some("SKILL.md") } else { elsewhere() };
        let Some(runner) = runner else { continue };
        let name = name(path);
        if is_run_by_interpreter(body, name) || others().any(|(_, text)| is_run_by_interpreter(text, name)) {
            continue;
        }
        let (lacks, help) = match (facts.executable, facts.shebang) {
            (false, true) => ("no executable bit", format!("run `chmod +x {}`", shell_word(path))),
            (true, _) => ("no `#!` line", "start it with a line such as `#!/usr/bin/env bash`".to_owned()),
            (false, false) => {
                ("neither an executable bit nor a `#!` line", "add both, or say how to run it".to_owned())
            }
        };
        let base = subject.document.body_span().start;
        let span =
            place.map_or_else(|| subject.document.opening_span(), |at| base + at..base + at + path.len());
        let message = format!("`{path}` is run by `{runner}`, and has {lacks}");
        findings.push(RULE.finding(message, span).help(help));
    }
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
            text_file("references/x.md", "```sh\n./scripts/b.py\n```\nSee `scripts/c.sh`.\n"),
        ];
        assert_eq!(
            told("Run `scripts/a.sh`.\nThen `scripts/d.py x`.", &files),
            [
                (4, 6, "`scripts/a.sh` is run by `SKILL.md`, and has no executable bit".to_owned()),
                (1, 1, "`scripts/b.py` is run by `references/x.md`, and has no `#!` line".to_owned()),
                (
                    5,
                    7,
                    "`scripts/d.py` is run by `SKILL.md`, and has neither an executable bit nor a `#!` line"
                        .to_owned()
                ),
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
        let files = [script("scripts/a.sh", false, true), text_file("x.md", "bash scripts/a.sh")];
        assert_eq!(told("Run `scripts/a.sh`", &files), []);
        assert_places(&RULE, &[("---\nname: x\n---\nscripts/a.sh\n", &[], "")]);
    }
}
