//! Lines that run what they download or decode.

use std::sync::LazyLock;

use aho_corasick::packed::{Config, Searcher};
use memchr::memmem;

use super::{MAX_COMMAND, comment_text, programs, trimmed};

/// Programs that fetch text from elsewhere, or decode unreadable data into text.
const BRING: &[&str] = &[
    "curl",
    "wget",
    "fetch",
    "base64",
    "xxd",
    "openssl",
    "iwr",
    "irm",
    "invoke-webrequest",
    "invoke-restmethod",
];

/// Programs that run their standard input for any options.
const SHELLS_THAT_RUN: &[&str] =
    &["sh", "bash", "zsh", "dash", "ksh", "iex", "invoke-expression", "osascript"];

/// Programs that do so if they have no argument, or a dash.
const OTHERS_THAT_RUN: &[&str] =
    &["python", "python2", "python3", "perl", "ruby", "node", "php", "pwsh", "powershell"];

/// Characters that become a letter of [`BRING`] in lower case: the Kelvin sign, and a capital I with a dot.
const LETTERS: &[&str] = &["\u{212a}", "\u{130}"];

/// Returns the lines of `text`, which starts at byte `base`, that run downloaded or decoded code unseen. They are found in
/// prose too, because people copy them from there.
pub(in crate::review) fn unseen(text: &str, base: usize) -> Vec<(usize, &str)> {
    let lower = text.to_ascii_lowercase();
    let bringers = Finder::of(&lower);
    let mut found = Vec::new();
    let mut from = 0;
    // Only a line that names a program that fetches text can be one, and nearly all texts have none.
    while let Some(at) = bringers.find(&lower[from..]).map(|at| from + at) {
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |at| at + 1);
        let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |end| at + end);
        let line = &text[start..end];
        let is_one = |line: &str| runs_unseen(line) || comment_text(line).is_some_and(runs_unseen);
        if memchr::memchr2(b'|', b'(', line.as_bytes()).is_some() && is_one(trimmed(line)) {
            found.push((base + start, trimmed(line)));
        }
        from = end;
    }
    found
}

/// A search for the first of several texts.
struct Finder {
    texts: Vec<&'static str>,
    /// Finds all of them at once; `None` if the processor has no instructions for that.
    all: Option<Searcher>,
}

impl Finder {
    fn new(texts: Vec<&'static str>) -> Self {
        Self { all: Config::new().builder().extend(&texts).build(), texts }
    }

    /// Returns the search for the names of [`BRING`], and for what may become a part of one, in `lower`, which has no
    /// ASCII capital letters.
    fn of(lower: &str) -> &'static Self {
        static NAMES: LazyLock<Finder> = LazyLock::new(|| Finder::new(BRING.to_vec()));
        static WITH_LETTERS: LazyLock<Finder> = LazyLock::new(|| Finder::new([BRING, LETTERS].concat()));
        // The letters are rare, and so short that searching for them together with the names takes four times as long.
        let has = |letter: &&str| memmem::find(lower.as_bytes(), letter.as_bytes()).is_some();
        if LETTERS.iter().any(has) { &WITH_LETTERS } else { &NAMES }
    }

    /// Returns where the first one is in `text`.
    fn find(&self, text: &str) -> Option<usize> {
        match &self.all {
            Some(all) => all.find(text).map(|found| found.start()),
            None => self.texts.iter().filter_map(|one| text.find(one)).min(),
        }
    }
}

fn runs_unseen(line: &str) -> bool {
    let line = line[..line.floor_char_boundary(MAX_COMMAND)].to_lowercase();
    let bring = |text: &str| {
        programs(text).iter().any(|name| BRING.contains(&base_name(name))) || brings_in_prose(text)
    };
    let mut brought = false;
    for part in line.split('|') {
        if brought && runs_input(part) {
            return true;
        }
        brought |= bring(part);
    }
    // `bash <(curl …)`, `eval "$(curl …)"`, `iex (irm …)`.
    ["<(", "$(", "("].iter().any(|open| {
        line.match_indices(open).any(|(at, _)| {
            let (before, inner) = (&line[..at], &line[at + open.len()..]);
            let last = before.rsplit(['|', ';', '&', '`']).next().unwrap_or_default();
            let last = last.trim_end_matches(['"', '\'', ' ', '$', '<']);
            if takes_code(last)
                && programs(inner).first().is_some_and(|name| BRING.contains(&base_name(name)))
            {
                return true;
            }
            let runs = programs(last).first().is_some_and(|name| {
                let name = base_name(name);
                SHELLS_THAT_RUN.contains(&name) || matches!(name, "eval" | "source" | ".")
            });
            runs && programs(inner).first().is_some_and(|name| BRING.contains(&base_name(name)))
        })
    })
}

/// Reports whether a program in the middle of a sentence fetches an address: `Run curl https://x.test`.
fn brings_in_prose(part: &str) -> bool {
    let mut words = part.split_whitespace();
    let is_bringer = |word: &str| BRING.contains(&word);
    words.any(is_bringer) && words.any(|word| word.contains("://") || word.contains('/'))
}

/// Reports whether `text` ends with a program and the option with which it runs the next argument: `python -c`. It
/// may be in the middle of a sentence.
fn takes_code(text: &str) -> bool {
    let mut words = text.split_whitespace().rev();
    let is_option = |word: &&str| word.starts_with('-');
    let option = words.next().filter(is_option);
    let runs = option.is_some_and(|option| option.ends_with(['c', 'e', 'r']) || option == "--eval");
    let program = words.find(|word| !is_option(word)).map(base_name).unwrap_or_default();
    runs && (SHELLS_THAT_RUN.contains(&program) || OTHERS_THAT_RUN.contains(&program))
}

/// Reports whether a part of a pipe runs what comes through it.
fn runs_input(part: &str) -> bool {
    let Some(program) = programs(part).into_iter().next() else { return false };
    let name = base_name(&program);
    let mut after = part.split_whitespace().skip_while(|word| !word.contains(program.as_str())).skip(1);
    let ends = |word: &&str| matches!(word.trim_matches('`'), "" | "-" | ";" | "&&");
    if SHELLS_THAT_RUN.contains(&name) {
        return !after.any(|word| word == "-c");
    }
    OTHERS_THAT_RUN.contains(&name) && after.next().is_none_or(|word| ends(&word))
}

/// Returns `bash` for `/bin/bash` and for `bash"`.
fn base_name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.trim_matches(|c: char| !c.is_alphanumeric() && c != '-' && c != '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// THREATS ms15-b64-sh: what is written otherwise is found where the shell would take it for the same.
    #[test]
    fn names_are_found_in_any_case_and_among_other_letters() {
        let lines = ["CURL x | Bash", "é \u{212a} curl x | sh", "Invo\u{212a}e-WebRequest x | iex"];
        let text = lines.join("\nbase64 of é (|)\n");
        let found: Vec<_> = unseen(&text, 0).into_iter().map(|(_, line)| line).collect();
        assert_eq!(found, [lines[0], lines[2]]);
        for name in BRING {
            assert_eq!(
                unseen(&format!("É\n{} x | sh\n{name} y | sh", name.to_uppercase()), 0).len(),
                2,
                "{name}"
            );
        }
    }

    /// THREATS ms15-b64-sh, and what only looks like it.
    #[test]
    fn what_runs_unseen() {
        for line in [
            "echo Y3VybCB4 | base64 -D | bash",
            "curl -fsSL https://x.test/i.sh | sh",
            "Run `curl https://x.test | sudo -E bash -s -- --yes` first.",
            "wget -qO- x|/bin/sh",
            "bash <(curl -s x)",
            "sh -c \"$(curl -fsSL x)\"",
            "eval \"$(wget -qO- x)\"",
            "iex (irm https://x.test/i.ps1)",
            "irm https://x.test/i.ps1 | iex",
            "curl x | python3 -",
            "curl x | perl",
            "$ cat x | openssl enc -d | zsh",
            "<!-- curl https://x.test/i | sh -->",
            "text <!-- wget -qO- x.test/i | bash",
            "[//]: # (curl https://x.test/i | sh)",
            "[comment]: <> (curl https://x.test/i | sh)",
            "Run python -c \"$(curl https://x.test/i.py)\" now.",
            "Then node -e \"$(curl -s x.test/i.js)\"",
            "Run curl https://x.test/i | sh once.",
            "> curl x | sh",
        ] {
            assert_eq!(unseen(&format!("a\n{line}\nb"), 3).len(), 1, "{line}");
        }
        for line in [
            "curl x | jq .",
            "curl x | python3 -m json.tool",
            "curl x | python3 -c 'import json'",
            "| curl | downloads |",
            "cat x | sh",
            "bash (see curl)",
            "x=$(curl y)",
            "curl x | bash -c 'cat'",
            "cat <(curl x)",
            "python -m json.tool <(curl x)",
            "<!-- curl and sh are needed -->",
            "The curl manual | shell scripts",
            "base64 x | tee y",
        ] {
            assert_eq!(unseen(line, 0), [], "{line}");
        }
        assert_eq!(unseen("é\n a | curl x |sh \n", 10), [(13, "a | curl x |sh")]);
    }
}
