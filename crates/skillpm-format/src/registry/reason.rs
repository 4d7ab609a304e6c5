//! The reason for a yank, which is shown to all who have the version.

use crate::lint::hidden_runs;

/// The largest number of characters in the reason for a yank.
pub const MAX_REASON: usize = 500;

/// Why a text is no reason for a yank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReasonRefusal {
    /// More characters than [`MAX_REASON`].
    #[error("the reason has {0} characters, {MAX_REASON} are allowed")]
    TooLong(usize),
    /// More than one line.
    #[error("the reason has more than one line")]
    Lines,
    /// An invisible character, or one that reorders text: a terminal could obey it.
    #[error("the reason has the hidden character U+{0:04X}")]
    Hidden(u32),
}

/// Returns the reason in `text`, which may be empty: one line in which every character can be seen.
///
/// # Errors
///
/// Returns the rule that `text` breaks.
pub fn yank_reason(text: &str) -> Result<&str, ReasonRefusal> {
    let text = text.trim();
    let count = text.chars().count();
    if count > MAX_REASON {
        return Err(ReasonRefusal::TooLong(count));
    }
    if text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        return Err(ReasonRefusal::Lines);
    }
    let hidden = hidden_runs(text, 0).into_iter().find_map(|run| text[run].chars().next());
    match hidden.or_else(|| text.chars().find(|c| c.is_control())) {
        Some(c) => Err(ReasonRefusal::Hidden(c.into())),
        None => Ok(text),
    }
}
