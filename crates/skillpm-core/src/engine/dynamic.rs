//! Finds commands that some programs run to fill in a body before an agent reads it. skillpm does not run them, and
//! reports them.

/// The marker that opens and closes a block.
const FENCE: &str = "```";

/// Returns the commands in `body` that such a program would run, in order: text in backticks after a `!`
/// at the start of a line or after white space, and each line of a code block that opens with three
/// backticks and a `!`.
pub(super) fn commands(body: &str) -> Vec<&str> {
    // Most bodies have neither.
    if !body.contains("!`") && !body.contains("```!") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut in_block = false;
    for line in body.lines() {
        let text = line.trim();
        if in_block {
            in_block = !text.starts_with(FENCE);
            if in_block && !text.is_empty() {
                found.push(text);
            }
        } else if let Some(after) = text.strip_prefix("```!") {
            // The rest of the line is a command, too, even if the block ends on it.
            let (command, closed) = after.split_once(FENCE).map_or((after, false), |(c, _)| (c, true));
            in_block = !closed;
            found.extend(Some(command.trim()).filter(|command| !command.is_empty()));
        } else {
            found.extend(inline(line));
        }
    }
    found
}

/// Returns the commands within a line of text.
fn inline(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("!`").filter_map(|(at, mark)| {
        if line[..at].chars().next_back().is_some_and(|before| !before.is_whitespace()) {
            return None;
        }
        let (command, _) = line[at + mark.len()..].split_once('`')?;
        Some(command.trim()).filter(|command| !command.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_blocks() {
        let body = "Status: !`git status --short` and !` git log `.\n!`ls`\n```! \nnpm test\n\n  npm run lint\n```\n\
                    ```!date```\n```!\nlast, never closed";
        assert_eq!(
            commands(body),
            ["git status --short", "git log", "ls", "npm test", "npm run lint", "date", "last, never closed"]
        );
    }

    #[test]
    fn what_is_no_command() {
        for body in ["", "a!`b`", "!``", "!`never closed", "! `a`", "wow!", "```sh\nls\n```\n", "`!`"] {
            assert_eq!(commands(body), [""; 0], "{body}");
        }
    }
}
