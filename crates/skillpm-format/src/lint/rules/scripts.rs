//! Scripts of a skill and what uses them, for the rules about them. This file is not a rule.

use crate::document::Markdown;
use crate::lint::{FileFacts, SkillFile};

/// Extensions of scripts that a system can run by their first line.
pub(crate) const ENDINGS: &[&str] = &["sh", "bash", "zsh", "fish", "py", "js", "mjs", "cjs", "rb", "pl"];

/// Extensions of other files that may name scripts: modules, and settings of tools that run some.
const NAMING: &[&str] = &["ts", "mts", "tsx", "jsx", "json", "toml", "yaml", "yml", "mk"];

/// Reports whether rules want the text of the file at `path`: it can lead to other files, or name scripts.
pub fn has_wanted_text(path: &str) -> bool {
    let ending = ending(path);
    ending.eq_ignore_ascii_case("md")
        || ENDINGS.contains(&ending)
        || NAMING.contains(&ending)
        || path.rsplit('/').next() == Some("Makefile")
}

/// The maximum number of scripts that are looked for in all texts of a skill: no skill has as many.
const MAX_SCRIPTS: usize = 256;

/// The maximum number of bytes of a line that are examined before a name in it.
const LONGEST: usize = 512;

/// Returns the scripts below `scripts/`.
pub(super) fn scripts(files: &[SkillFile]) -> impl Iterator<Item = (&str, &FileFacts)> {
    let scripts = files.iter().filter(|file| is_script(&file.path)).take(MAX_SCRIPTS);
    scripts.filter_map(|file| Some((file.path.as_str(), file.facts()?)))
}

/// Returns the line of `text` before byte `at`, or its end if that is long.
pub(super) fn line_before(text: &str, at: usize) -> &str {
    let near = &text[text.floor_char_boundary(at.saturating_sub(LONGEST))..at];
    near.rsplit('\n').next().unwrap_or_default()
}

fn is_script(path: &str) -> bool {
    path.starts_with("scripts/") && ENDINGS.contains(&ending(path))
}

/// Returns the text after the last dot of `path`.
pub(crate) fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Reports whether `path` has one of `endings`, in any case.
pub(super) fn ends_in(path: &str, endings: &[&str]) -> bool {
    endings.iter().any(|known| ending(path).eq_ignore_ascii_case(known))
}

/// Returns the last part of `path`.
pub(super) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Reports whether the Markdown `text` names the script `name`: by its name, or by its stem as a module or a command
/// (`scripts.stem`, `scripts/stem`). A name starts with its stem, so one search finds all three.
pub(super) fn is_mentioned(text: &str, name: &str, stem: &str) -> bool {
    let is_whole =
        |at: usize, length: usize| !text[..at].ends_with(part) && !text[at + length..].starts_with(part);
    memchr::memmem::find_iter(text.as_bytes(), stem).any(|at| {
        if text[at..].starts_with(name) && is_whole(at, name.len()) {
            return true;
        }
        let before = text[..at].strip_suffix("scripts.").or_else(|| text[..at].strip_suffix("scripts/"));
        before.is_some_and(|before| is_whole(before.len(), at + stem.len() - before.len()))
    })
}

/// Returns where `name` occurs in `text` as a whole name.
pub(super) fn mentions<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    memchr::memmem::find_iter(text.as_bytes(), name)
        .filter(move |at| !text[..*at].ends_with(part) && !text[at + name.len()..].starts_with(part))
}

/// Reports whether `c` would make the name beside it part of a longer one.
fn part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Reports whether `user`, another file than Markdown, imports, sources or runs the script at `path`.
pub(super) fn uses(user: &SkillFile, path: &str) -> bool {
    let text = user.facts().and_then(|facts| facts.text.as_deref());
    let Some(text) = text.filter(|_| user.path != path && !user.is_markdown()) else { return false };
    let name = name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    // Most files contain no such word at all.
    if memchr::memmem::find(text.as_bytes(), stem.as_bytes()).is_none() {
        return false;
    }
    let is_comment = |at: usize| {
        let line = line_before(text, at).trim_start();
        line.starts_with('#') || line.starts_with("//")
    };
    if mentions(text, name).any(|at| !is_comment(at)) {
        return true;
    }
    match ending(&user.path) {
        "py" => python_imports(text).any(|module| module == stem),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "tsx" | "jsx" => {
            javascript_imports(text).any(|module| module == stem)
        }
        _ => false,
    }
}

/// Returns the names in the `import` statements of `text`: of packages, modules and what is taken out of them, which may
/// be modules.
fn python_imports(text: &str) -> impl Iterator<Item = &str> {
    let mut in_brackets = false;
    let statements = text.lines().filter_map(move |line| {
        let line = line.trim_start();
        let dynamic = line.find("import_module(").map(|at| &line[at + "import_module(".len()..]);
        let is_import = line.starts_with("import ") || line.starts_with("from ") || in_brackets;
        if is_import {
            let code = line.split('#').next().unwrap_or(line);
            in_brackets = (in_brackets || code.contains('(')) && !code.contains(')');
        }
        if is_import { Some(line) } else { dynamic }
    });
    statements
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|word| !word.is_empty())
}

/// Returns the last part without its ending of each path that `text` imports: `x` of `import "./lib/x.js"`.
fn javascript_imports(text: &str) -> impl Iterator<Item = &str> {
    ["from", "import", "require"].into_iter().flat_map(move |word| {
        mentions(text, word).filter_map(move |at| {
            let rest = text[at + word.len()..].trim_start().trim_start_matches('(').trim_start();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
            let target = rest[1..].split(quote).next()?;
            let last = name(target);
            Some(last.rsplit_once('.').map_or(last, |(stem, _)| stem))
        })
    })
}

/// Programs that run the script named after them.
const INTERPRETERS: &[&str] = &[
    "python", "python3", "python2", "py", "bash", "sh", "zsh", "fish", "node", "nodejs", "bun", "deno",
    "tsx", "ruby", "perl", "uv", "pipx", "npx", "source", ".", "exec", "import", "require",
];

/// Programs whose command `run` is one too.
const RUNNERS: &[&str] = &["uv", "npm", "pnpm", "yarn", "bun", "deno", "pipx", "poetry", "hatch"];

/// Reports whether `text` has `name` as an argument of an interpreter: `python -u scripts/name`.
pub(super) fn is_run_by_interpreter(text: &str, name: &str) -> bool {
    mentions(text, name).any(|at| {
        // The words before it on the line, without the directory it is in.
        let words = line_before(text, at)
            .split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | '(' | '|' | '['));
        let words: Vec<&str> = words.rev().skip(1).take(4).collect();
        let by_runner = |at: usize| words.get(at + 1).is_some_and(|word| RUNNERS.contains(word));
        words
            .iter()
            .enumerate()
            .any(|(at, word)| INTERPRETERS.contains(word) || (*word == "run" && by_runner(at)))
    })
}

/// Words before code that say to run it.
const RUN: &[&str] =
    &["run", "runs", "running", "execute", "executes", "executing", "call", "invoke", "launch"];

/// Returns where the Markdown `text` runs the script at `path` directly: as the first word of a command in code, or in
/// backticks behind a word such as `run`.
pub(super) fn run_directly(text: &str, path: &str) -> Option<usize> {
    let mut code = None;
    mentions(text, path).find(|at| {
        // The word may have a directory before the path: `./`, `$SKILL/`.
        let line = line_before(text, *at);
        let part = |c: char| !c.is_whitespace() && !"`\"'(|;&".contains(c);
        let before = line.trim_end_matches(part);
        let (directory, after) = (&line[before.len()..], &text[at + path.len()..]);
        let line = before.trim_end_matches(['"', '\'']);
        if let Some(prose) = line.strip_suffix('`') {
            let mut words = prose.split_whitespace().rev().map(str::to_ascii_lowercase);
            let says_run = words.by_ref().take(3).any(|word| RUN.contains(&word.trim_matches('*')));
            return says_run || directory == "./" || (after.starts_with(' ') && !after.starts_with(" `"));
        }
        let line = line.trim();
        let starts = line.is_empty()
            || ["$", "&&", ";", "|", "sudo", "then", "do"].iter().any(|end| line.ends_with(end));
        // A list of files in code has no arguments.
        let has_arguments = [" -", " <", " $", " \""].iter().any(|start| after.starts_with(start));
        let is_command = directory.starts_with(['.', '$', '{']) || has_arguments;
        starts && is_command && code.get_or_insert_with(|| Markdown::parse(text, 0)).is_code(*at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::SkillFileKind;

    fn file(path: &str, text: &str) -> SkillFile {
        let facts = FileFacts { text: Some(text.to_owned()), ..FileFacts::default() };
        SkillFile { path: path.to_owned(), kind: SkillFileKind::File(facts) }
    }

    #[test]
    fn imports_and_calls_are_read() {
        for (user, text, path) in [
            ("scripts/main.py", "from read import pages\n", "scripts/read.py"),
            ("scripts/main.py", "from .read import (\n    pages,\n)\n", "scripts/read.py"),
            ("scripts/main.py", "from scripts import (\n    read,  # (\n    write,\n)\n", "scripts/write.py"),
            ("scripts/main.py", "import scripts.read as r\n", "scripts/read.py"),
            ("scripts/main.py", "m = importlib.import_module('read')\n", "scripts/read.py"),
            ("scripts/main.py", "subprocess.run(['bash', HERE / 'read.sh'])\n", "scripts/read.sh"),
            ("scripts/main.js", "import { a } from './lib/read.js'\n", "scripts/lib/read.js"),
            ("scripts/main.ts", "export * from \"./read.js\"\n", "scripts/read.mjs"),
            ("scripts/main.cjs", "const a = require( './read' )\n", "scripts/read.js"),
            ("scripts/main.mjs", "await import(`./read`)\n", "scripts/read.mjs"),
            ("scripts/main.sh", ". \"$(dirname \"$0\")/read.sh\"\n", "scripts/read.sh"),
            ("package.json", "{\"scripts\": {\"read\": \"node scripts/read.js\"}}", "scripts/read.js"),
        ] {
            assert!(uses(&file(user, text), path), "{text}");
        }
        for (user, text, path) in [
            ("scripts/main.py", "# from read import pages; see read.py\n", "scripts/read.py"),
            ("scripts/main.py", "pages = read()\n", "scripts/read.py"),
            ("scripts/main.py", "from reader import pages\n", "scripts/read.py"),
            ("scripts/main.js", "const read = './x'\n", "scripts/read.js"),
            ("scripts/read.py", "import read\n", "scripts/read.py"),
            ("a.md", "Run read.py\n", "scripts/read.py"),
        ] {
            assert!(!uses(&file(user, text), path), "{text}");
        }
    }

    #[test]
    fn a_direct_run_is_told_from_a_mention() {
        for text in [
            "Run `scripts/a.sh`.",
            "**Run** the script `scripts/a.sh`.",
            "It takes `scripts/a.sh FILE`.",
            "Then `./scripts/a.sh`.",
            "```bash\n./scripts/a.sh\n```",
            "```\n$ scripts/a.sh --all\n```",
            "```bash\ncd x && \"$SKILL_DIR/scripts/a.sh\" x\n```",
        ] {
            assert!(run_directly(text, "scripts/a.sh").is_some(), "{text}");
        }
        for text in [
            "See `scripts/a.sh`.",
            "| `scripts/a.sh` | reads |",
            "```bash\nbash scripts/a.sh x\n```",
            "```\nscripts/a.sh\nscripts/b.sh\n```",
            "[the script](scripts/a.sh)",
            "./scripts/a.sh is not code",
        ] {
            assert_eq!(run_directly(text, "scripts/a.sh"), None, "{text}");
        }
    }
}
