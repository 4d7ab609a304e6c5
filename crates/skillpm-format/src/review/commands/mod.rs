//! Commands in code, and the programs that they call.

mod hosts;
mod unseen;
mod words;

pub(super) use hosts::hosts;
pub(super) use unseen::unseen;
use words::{BEFORE, PROGRAMS, SHELLS, SILENT};

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The byte at which it starts.
    pub(super) at: usize,
    /// The command, including the following lines if it continues there.
    pub(super) text: String,
    /// The programs that it calls.
    pub(super) programs: Vec<String>,
}

/// The maximum length of a command that is parsed.
const MAX_COMMAND: usize = 4096;

/// Returns the commands in `code`, which starts at byte `base`: a block with its fences, an indented one, or inline
/// code.
pub(super) fn of_code(code: &str, base: usize) -> Vec<Command> {
    let mark = code.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'));
    let fence = code.bytes().take_while(|byte| Some(*byte) == mark).count();
    let (first, inner) = code.split_once('\n').unwrap_or((code, ""));
    if fence >= 3 && !first[fence..].contains('`') {
        let language = first[fence..].trim().trim_start_matches(['{', '.']);
        let language =
            language.split([' ', ',', '{', '}', ':']).next().unwrap_or_default().to_ascii_lowercase();
        let base = base + code.len() - inner.len();
        return match &*language {
            // Reported as commands that run automatically.
            "!" => Vec::new(),
            "" | "text" | "txt" | "plaintext" | "plain" | "none" => likely(inner, base),
            language if SHELLS.contains(&language) => of_lines(inner, base),
            _ => Vec::new(),
        };
    }
    if mark == Some(b'`') {
        let inner = code[fence..].trim_end_matches('`');
        // A single name is not a command.
        let inner_base = base + fence;
        return if inner.trim().contains(' ') { likely(inner, inner_base) } else { Vec::new() };
    }
    likely(code, base)
}

/// Returns the commands in `comment`, which starts at byte `base`: the lines that call a known program with an argument.
pub(super) fn of_comment(comment: &str, base: usize) -> Vec<Command> {
    let inner = comment_text(comment).unwrap_or(comment);
    let base = base + comment.len() - inner.len();
    let inner = inner.trim_end_matches([')', '"', '\'']);
    let mut commands = likely(inner, base);
    // A word of prose may be the name of a program: `find the file`.
    commands.retain(|command| command.text.contains(['/', '|', '$', '-', '~', '.']));
    commands
}

/// Returns what follows the start of a comment in `line`: `<!--`, `[//]: # (` or `[comment]: <> (`.
fn comment_text(line: &str) -> Option<&str> {
    let html = line.find("<!--").map(|at| &line[at + 4..]);
    let definition = || {
        let (_, rest) = line.strip_prefix('[')?.split_once("]:")?;
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("<>").or_else(|| rest.strip_prefix('#'))?;
        Some(rest.trim_start().trim_start_matches(['(', '"', '\'']))
    };
    html.or_else(definition)
}

/// Returns the probable commands among lines that may or may not be commands.
fn likely(text: &str, base: usize) -> Vec<Command> {
    let mut commands = of_lines(text, base);
    commands.retain(|command| command.programs.iter().any(|program| PROGRAMS.contains(&&**program)));
    commands
}

/// Returns the commands of `text`, which starts at byte `base`: one on each line, unless a line continues.
pub(super) fn of_lines(text: &str, base: usize) -> Vec<Command> {
    // If a prompt precedes the typed lines, the other lines are output.
    let prompted = text.lines().any(|line| without_prompt(trimmed(line)).is_some());
    let mut commands: Vec<Command> = Vec::new();
    let (mut at, mut goes_on) = (base, false);
    for whole in text.split_inclusive('\n') {
        let line = trimmed(whole);
        let start = at;
        at += whole.len();
        let typed = without_prompt(line);
        let command = typed.unwrap_or(line);
        if let Some(last) = commands.last_mut().filter(|_| goes_on) {
            last.text.push(' ');
            last.text.push_str(command.trim_end_matches('\\').trim_end());
        } else if (prompted && typed.is_none()) || command.is_empty() || is_comment(command) {
            continue;
        } else {
            let text = command.trim_end_matches('\\').trim_end().to_owned();
            commands.push(Command { at: start, text, programs: Vec::new() });
        }
        goes_on = line.ends_with('\\');
    }
    commands.retain(|command| !command.text.starts_with("```") && !command.text.starts_with("~~~"));
    for command in &mut commands {
        command.programs = programs(&command.text);
    }
    commands.retain(|command| !command.programs.is_empty());
    commands
}

/// Returns the line without the Markdown quote marks around it.
fn trimmed(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').trim_start_matches("> ").trim_start()
}

/// Returns the text typed after a prompt, if there is a prompt.
fn without_prompt(line: &str) -> Option<&str> {
    ["$ ", "% ", "PS> "].iter().find_map(|prompt| line.strip_prefix(prompt)).map(str::trim_start)
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#')
        || line.starts_with("//")
        || line.starts_with("::")
        || line.to_ascii_lowercase().starts_with("rem ")
}

/// Returns the programs that `command` calls, in order, each once.
fn programs(command: &str) -> Vec<String> {
    let command = &command[..command.floor_char_boundary(MAX_COMMAND)];
    let mut programs: Vec<String> = Vec::new();
    for part in command
        .split(['|', ';', '&', '`', '\n'])
        .flat_map(|part| part.split("$("))
        .flat_map(|part| part.split("<("))
    {
        let mut words = part.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')']));
        let program =
            words.find(|word| !word.is_empty() && !BEFORE.contains(word) && !is_option_or_setting(word));
        let Some(program) = program.map(str::to_lowercase) else { continue };
        // Remnants of arguments in parentheses and of patterns are not programs.
        let is_name =
            program.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '$' | '_'));
        if is_name && !SILENT.contains(&&*program) && !programs.contains(&program) {
            programs.push(program);
        }
    }
    programs
}

/// Recognizes `-x` before the name of a program, and `NAME=value`.
fn is_option_or_setting(word: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    word.starts_with('-') || word.split_once('=').is_some_and(|(name, _)| is_name(name.trim_end_matches('+')))
}

/// Returns the commands in `text`, which starts at byte `base`, that run before the text is read: `` !`command` `` anywhere,
/// in code blocks or not, and blocks that open with ```` ```! ````.
pub(super) fn dynamic(text: &str, base: usize) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut push = |at: usize, text: &str| {
        if !text.trim().is_empty() {
            commands.push(Command { at: base + at, text: text.trim().to_owned(), programs: Vec::new() });
        }
    };
    for at in memchr::memmem::find_iter(text.as_bytes(), "!`") {
        let rest = &text[at + 2..];
        let line = &rest[..memchr::memchr2(b'\n', b'`', rest.as_bytes()).unwrap_or(rest.len())];
        if rest[line.len()..].starts_with('`') {
            push(at, line);
        }
    }
    // Almost no text has such a block.
    if memchr::memmem::find(text.as_bytes(), b"```!").is_none() {
        return commands;
    }
    let (mut at, mut inside) = (0, false);
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if inside && !start.starts_with("```") {
            push(at, line);
        } else {
            inside = !inside && start.starts_with("```!");
        }
        at += line.len();
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str) -> Vec<(String, Vec<String>)> {
        of_code(code, 0).into_iter().map(|command| (command.text, command.programs)).collect()
    }

    fn one(text: &str, programs: &[&str]) -> Vec<(String, Vec<String>)> {
        vec![(text.to_owned(), programs.iter().map(|&program| program.to_owned()).collect())]
    }

    #[test]
    fn code_of_shells_is_commands() {
        assert_eq!(of("```bash\n# a comment\n  frob x\n\n```\n"), one("frob x", &["frob"]));
        assert_eq!(of("~~~ {.sh}\nfrob \\\n  --x\n~~~"), one("frob --x", &["frob"]));
        assert_eq!(of("```console\n$ frob x\nanswer one\n```"), one("frob x", &["frob"]));
        assert_eq!(of("```sh\r\nfrob x\r\n```"), one("frob x", &["frob"]));
        assert_eq!(of("```sh\n> frob x\n> ```"), one("frob x", &["frob"]));
        assert_eq!(of("```json\n{\"a\": 1}\n```"), []);
        assert_eq!(of("```python\nimport os\n```"), []);
        assert_eq!(of("```!\nfrob x\n```"), []);
    }

    #[test]
    fn other_code_is_commands_where_it_calls_what_is_known() {
        assert_eq!(of("```\na tree\ncurl -s x\n```"), one("curl -s x", &["curl"]));
        assert_eq!(of("    curl x\n    text\n"), one("curl x", &["curl"]));
        assert_eq!(of("`curl x | sh`"), one("curl x | sh", &["curl", "sh"]));
        assert_eq!(of("``echo `curl x` ``"), one("echo `curl x`", &["curl"]));
        for code in ["`curl`", "`a b`", "`Bash(git:*)`", "```\nsrc/\n  a.rs\n```"] {
            assert_eq!(of(code), [], "{code}");
        }
    }

    #[test]
    fn programs_are_found_wherever_they_are_called() {
        for (command, wanted) in [
            ("A=1 sudo -E env B=2 frob | tee x && rm -rf y; cat z", &["frob", "tee", "rm", "cat"][..]),
            ("x=$(curl y)", &["curl"]),
            ("if [ -f x ]; then nc -l; fi", &["nc"]),
            ("echo x | base64 -d | sh", &["base64", "sh"]),
            ("\"./run.sh\" x", &["./run.sh"]),
            ("bash <(curl x)", &["bash", "curl"]),
            ("echo done", &[]),
            ("frob a | frob b", &["frob"]),
        ] {
            assert_eq!(programs(command), wanted, "{command}");
        }
    }

    #[test]
    fn commands_that_run_by_themselves() {
        let text = "a !`git log` b !`` !`no end\n```sh\n!`in code`\n```\n\n```!\nls -l\npwd\n```\nls\n";
        let found: Vec<_> = dynamic(text, 10).into_iter().map(|c| (c.text, c.at)).collect();
        let at = |part: &str| text.find(part).expect(part) + 10;
        assert_eq!(
            found,
            [
                ("git log".to_owned(), at("!`git")),
                ("in code".to_owned(), at("!`in")),
                ("ls -l".to_owned(), at("ls -l")),
                ("pwd".to_owned(), at("pwd")),
            ]
        );
    }
}
