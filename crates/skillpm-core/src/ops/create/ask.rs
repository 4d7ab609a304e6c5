//! Values that are asked for, and asked for again.

use crate::advice::Message;
use crate::context::Context;
use crate::error::Result;

/// The number of times that the user is asked for one value.
const TRIES: usize = 3;

/// A value to determine.
pub(super) struct Asked<'a> {
    /// The question to a person.
    pub(super) question: &'a str,
    /// The given value, which replaces the question.
    pub(super) given: Option<&'a str>,
    /// The meaning of an empty answer.
    pub(super) default: &'a str,
}

/// Returns the given value, or otherwise the user's answer, converted by `check`. Returns `None` if there is
/// no answer. Repeats the question for an answer that does not pass, with the reason, and with the result of
/// `like` as the default.
pub(super) fn settle<T>(
    context: &Context,
    asked: &Asked<'_>,
    like: impl Fn(&str) -> String,
    check: impl Fn(&str) -> Result<T>,
) -> Result<Option<T>> {
    let interact = &context.interact;
    let first = asked.given.map(str::to_owned).or_else(|| interact.input(asked.question, asked.default));
    let Some(mut text) = first else { return Ok(None) };
    for _ in 1..TRIES {
        let error = match check(&text) {
            Ok(value) => return Ok(Some(value)),
            Err(error) => error,
        };
        let lines = [error.message()].into_iter().chain(error.hints()).cloned();
        interact.refuse(&Message::joined(lines, "\n"));
        match interact.input(asked.question, &like(&text)) {
            Some(next) => text = next,
            None => return Err(error),
        }
    }
    check(&text).map(Some)
}
