//! The placeholders for single words of the arguments in the body of a skill.

/// The maximum number of digits in the index of an argument: no skill has more.
const MAX_DIGITS: usize = 3;

/// Returns the index of an argument at the start of `rest`, which begins with a dollar sign, and its length in bytes:
/// `$1`, unless it looks like an amount or a part of a word. `before` is the text in front of it.
///
/// Source: Claude Code, skills, `$N`.
pub fn argument_word(before: &str, rest: &str) -> Option<(usize, usize)> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let (index, length) = index_at(rest.get(1..)?)?;
    let mut after = rest[1 + length..].chars();
    let next = after.next();
    let is_amount = matches!(next, Some('.' | ',')) && after.next().is_some_and(|c| c.is_ascii_digit());
    let is_text = is_amount || next.is_some_and(is_word) || before.chars().next_back().is_some_and(is_word);
    (!is_text).then_some((index, 1 + length))
}

/// Returns the index at the start of `text` and its number of digits; `None` if it has leading zeros.
pub fn index_at(text: &str) -> Option<(usize, usize)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let digits = &text[..length];
    let is_plain = length <= MAX_DIGITS && (length == 1 || !digits.starts_with('0'));
    Some((digits.parse().ok().filter(|_| is_plain)?, length))
}
