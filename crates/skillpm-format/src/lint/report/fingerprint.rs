//! Fingerprints of findings, which stay the same when lines above are added or removed.

use std::collections::BTreeMap;

use super::span;
use crate::digest::Digest;
use crate::document::LineIndex;
use crate::lint::Finding;

/// The maximum number of bytes of a line that distinguish it from others.
const MAX_LINE: usize = 4096;

/// The rules about the length of a file. Their line is a different one after each edit, and each finds one thing.
const ABOUT_LENGTH: [&str; 2] = ["body-lines", "body-tokens"];

/// Returns the fingerprint of `finding` in `text`, whose lines are in `lines`: its rule, its line, and what its message
/// quotes, which tells apart findings about other files. The wording of the message does not count: it may be improved.
pub fn fingerprint(text: &str, lines: &LineIndex<'_>, finding: &Finding) -> String {
    let start = lines.start(span(text, &finding.span).start);
    // A line can be a megabyte, and have thousands of findings.
    let near = &text[start..text.floor_char_boundary(start + MAX_LINE)];
    let line = near.split(['\n', '\r']).next().unwrap_or_default().trim();
    let mut key = finding.rule.to_owned();
    if !ABOUT_LENGTH.contains(&finding.rule) {
        let quoted = finding.message.split('`').skip(1).step_by(2);
        std::iter::once(line).chain(quoted).for_each(|part| key.extend(["\0", part]));
    }
    let mut hash = Digest::of(key.as_bytes()).hex();
    hash.truncate(16);
    hash
}

/// Returns the fingerprint of `finding`, and its number among those of the same text that are in `seen`, from 1 on.
pub(super) fn numbered(
    text: &str,
    lines: &LineIndex<'_>,
    finding: &Finding,
    seen: &mut BTreeMap<String, usize>,
) -> (String, usize) {
    let hash = fingerprint(text, lines, finding);
    let count = seen.entry(hash.clone()).or_default();
    *count += 1;
    (hash, *count)
}
