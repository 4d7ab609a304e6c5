//! Edits of a text by bytes and by whole lines.

use std::ops::Range;

/// Returns the line end that `text` uses: that of its first line.
pub(super) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the start of the line that byte `at` is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the byte after the line that ends at or contains `at`; `at` itself if a line starts there.
pub(super) fn after_line(text: &str, at: usize) -> usize {
    if at > 0 && text[..at].ends_with('\n') {
        return at;
    }
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

/// Returns the blanks at the start of the line that byte `at` is in.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Reports whether only blanks precede byte `at` on its line.
pub(super) fn starts_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].chars().all(|c| matches!(c, ' ' | '\t'))
}

/// Returns `text` with `new` in place of `range`.
pub(super) fn replaced(text: &str, range: Range<usize>, new: &str) -> String {
    [&text[..range.start], new, &text[range.end..]].concat()
}

/// Returns `text` with `lines`, which are without a line end at the end, inserted at `at`, where a line starts or the text
/// ends. If the last line of the text has no line end, the new last line has none either.
pub(super) fn with_lines(text: &str, at: usize, lines: &str) -> String {
    let end = line_end(text);
    let open = at == text.len() && !text.is_empty() && !text.ends_with('\n');
    let new = if open { format!("{end}{lines}") } else { format!("{lines}{end}") };
    replaced(text, at..at, &new)
}

/// Returns `text` without `range`, which are whole lines: the inverse of [`with_lines`].
pub(super) fn without_lines(text: &str, range: Range<usize>) -> String {
    let open = range.end == text.len() && !text.ends_with('\n');
    let kept = &text[..range.start];
    let kept = if open { without_line_end(kept) } else { kept };
    [kept, &text[range.end..]].concat()
}

/// Returns `text` without the line end at its end.
pub(super) fn without_line_end(text: &str) -> &str {
    let text_without = text.strip_suffix('\n').unwrap_or(text);
    text_without.strip_suffix('\r').unwrap_or(text_without)
}
