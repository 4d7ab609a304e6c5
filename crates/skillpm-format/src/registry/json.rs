//! Reading and writing the JSON of a registry's files.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::MAX_FILE;
use super::error::FileError;

/// Reads a JSON file.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FileError> {
    if bytes.len() as u64 > MAX_FILE {
        return Err(FileError::TooLarge(bytes.len() as u64));
    }
    serde_json::from_slice(bytes).map_err(|error| FileError::Json {
        line: error.line().max(1),
        column: error.column().max(1),
        message: without_position(&error),
    })
}

/// Returns the message of `error` without its position.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.rsplit_once(" at line ").map_or(message.as_str(), |(before, _)| before).to_owned()
}

/// Returns `value` as compact JSON with a line end.
pub(super) fn compact<T: Serialize>(value: &T) -> Vec<u8> {
    // It cannot fail: every key is text, and writing to memory has no errors.
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

/// Returns `value` as JSON for people, indented by two spaces, with a line end.
pub(super) fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    // It cannot fail, as above.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
