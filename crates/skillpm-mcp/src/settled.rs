//! A `SKILL.md` that all clients read alike.
//!
//! A block of text at the very end of the frontmatter ends in a line feed, but not for a reader that takes the line feed before
//! `---` for a part of that line, as `fastmcp` does. A client compares what it reads with what the server states, and one
//! of the two readings would be refused. So such a block is served as one without a line feed at its end, `>-` instead of `>`:
//! both read that alike. The file on disk stays as it is.

use skillpm_format::document::Document;

/// Returns the text of a `SKILL.md` as it is served; `None` if that is `text` itself.
pub(crate) fn settled(text: &str) -> Option<String> {
    let document = Document::parse(text.to_owned());
    if !document.problems().is_empty() {
        return None;
    }
    let block = document.frontmatter()?.last_block()?;
    // The header of the block stands at the end of a line before it.
    let before = text.get(..block.span.start)?;
    let (mut end, mut header) = (before.len(), None);
    for line in before.split_inclusive('\n').rev() {
        let start = end - line.len();
        header = indicators(line).map(|(from, to)| (start + from, start + to));
        if header.is_some() || !line.trim().is_empty() && start + line.trim_end().len() < before.len() {
            break;
        }
        end = start;
    }
    let (from, to) = header?;
    let indicators = &text[from..to];
    let stripped = format!("{}-", indicators.replace(['+', '-'], ""));
    (stripped != indicators).then(|| format!("{}{stripped}{}", &text[..from], &text[to..]))
}

/// Returns where the indicators of a block of text stand in the line of its header: `|`, `>2` or `>+`.
fn indicators(line: &str) -> Option<(usize, usize)> {
    let code = line.split_once(" #").map_or(line, |(code, _)| code).trim_end();
    let from = code.rfind(['|', '>'])?;
    let is_header = code[from + 1..].chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-'));
    (is_header && code[..from].ends_with([' ', '\t'])).then_some((from, code.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(yaml: &str) -> Option<String> {
        let text = settled(&format!("---\nname: a\n{yaml}\n---\n\nUse |\n"))?;
        Some(text.strip_prefix("---\nname: a\n")?.strip_suffix("\n---\n\nUse |\n")?.to_owned())
    }

    #[test]
    fn the_last_block_has_no_line_feed() {
        for (yaml, expected) in [
            ("note: >\n  One\n  line.", Some("note: >-\n  One\n  line.")),
            ("note: |\n\n  One.", Some("note: |-\n\n  One.")),
            ("note: |2+ # why\n    One.", Some("note: |2- # why\n    One.")),
            ("note:\n  x: >\n    One > two", Some("note:\n  x: >-\n    One > two")),
            ("note: >-\n  One.", None),
            ("note: |\n  One.\nlicense: MIT", None),
            ("note: a > b", None),
        ] {
            assert_eq!(served(yaml).as_deref(), expected, "{yaml}");
        }
        assert_eq!(settled("no frontmatter >\n"), None);
        let crlf = "---\r\nname: a\r\nnote: >\r\n  One.\r\n---\r\n";
        assert_eq!(settled(crlf).as_deref(), Some("---\r\nname: a\r\nnote: >-\r\n  One.\r\n---\r\n"));
    }
}
