//! Reads the comment at the top of a script.

/// The number of lines that are searched for the first comment.
const MAX_LINES: usize = 60;

/// The beginnings, in lower case, of comment lines that do not describe the script.
const NOISE: [&str; 22] = [
    "!",
    "-*-",
    "vim:",
    "shellcheck",
    "spdx-",
    "copyright",
    "(c) ",
    "©",
    "license",
    "licensed",
    "usage",
    "coding",
    "pylint",
    "flake8",
    "noqa",
    "type:",
    "ruff:",
    "mypy:",
    "eslint",
    "@ts-",
    "@",
    "author",
];

/// Returns the first line of the comment at the top that describes the script. `marker` starts a comment; `file` is the
/// name of the script, which may precede the description.
pub(super) fn summary(text: &str, marker: &str, file: &str) -> Option<String> {
    block(text, marker).into_iter().find_map(|line| telling(line, file))
}

/// Works like [`summary`] for JavaScript, where a block comment may be at the top.
pub(super) fn summary_of_javascript(text: &str, file: &str) -> Option<String> {
    let body =
        text.strip_prefix("#!").map_or(text, |rest| rest.split_once('\n').map_or("", |(_, rest)| rest));
    let mut top = body.trim_start();
    for strict in ["'use strict';", "\"use strict\";"] {
        top = top.strip_prefix(strict).unwrap_or(top).trim_start();
    }
    let unstarred = |line: &str| line.trim().trim_start_matches('*').trim_start().to_owned();
    let block = top.strip_prefix("/*").and_then(|top| top.split_once("*/"));
    let lines = block.into_iter().flat_map(|(block, _)| block.lines().map(unstarred));
    lines
        .take_while(|line| !line.starts_with('@'))
        .find_map(|line| telling(&line, file))
        .or_else(|| summary(body, "//", file))
}

/// Returns the description in `line`, if there is one.
fn telling(line: &str, file: &str) -> Option<String> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '=' | '*' | '-' | '/'));
    let lower = line.to_lowercase();
    let stem = super::stem(file).to_lowercase();
    let rest = match lower.strip_prefix(&file.to_lowercase()).or_else(|| lower.strip_prefix(&stem)) {
        // `greet.sh - Says hello`
        Some(rest) if rest.trim_start().starts_with([':', '-', '–', '—']) => {
            let at =
                line.char_indices().rev().nth(rest.chars().count().saturating_sub(1)).map_or(0, |(at, _)| at);
            line[at..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | '–' | '—'))
        }
        Some("") => return None,
        _ => line,
    };
    let says = rest.chars().any(char::is_alphanumeric) && !NOISE.iter().any(|noise| lower.starts_with(noise));
    says.then(|| rest.to_owned())
}

/// Returns the lines of the first comments, without their markers.
fn block<'a>(text: &'a str, marker: &str) -> Vec<&'a str> {
    let mut lines = Vec::new();
    // Python's packaging tools read a script's requirements from a comment.
    let mut in_metadata = false;
    for line in text.lines().take(MAX_LINES) {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix(marker) {
            let comment = comment.trim();
            if comment.starts_with("///") {
                in_metadata = !in_metadata && comment.len() > 3;
            } else if !in_metadata && !line.starts_with("#!") {
                lines.push(comment);
            }
        } else if !line.is_empty()
            && !line.starts_with("set ")
            && !line.starts_with("'use strict'")
            && !line.starts_with("\"use strict\"")
        {
            break;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S1-D3: a comment serves as a docstring.
    #[test]
    fn the_first_line_that_says_something() {
        for (text, expected) in [
            ("#!/bin/sh\n# Deploys it.\n# More.\n", Some("Deploys it.")),
            ("#!/bin/sh\nset -eu\n\n# -----\n# Deploys it.\n", Some("Deploys it.")),
            ("# x.sh\n#\n# Deploys it.\n", Some("Deploys it.")),
            ("# X.sh - Deploys it\n", Some("Deploys it")),
            ("# x: Deploys it\n", Some("Deploys it")),
            ("# Usage: x.sh\n# Deploys it.\n", Some("Deploys it.")),
            ("# Copyright 2026\n# SPDX-License-Identifier: MIT\n# shellcheck shell=sh\n", None),
            ("# /// script\n# dependencies = []\n# ///\n# Deploys it.\n", Some("Deploys it.")),
            ("echo\n# Deploys it.\n", None),
            ("# ==== Déploie ====\n", Some("Déploie")),
            ("", None),
        ] {
            assert_eq!(summary(text, "#", "x.sh").as_deref(), expected, "{text:?}");
        }
    }

    /// S1-D3.
    #[test]
    fn the_comment_at_the_top_of_javascript() {
        for (text, expected) in [
            ("#!/usr/bin/env node\n/**\n * Says hello.\n * @param {string} x\n */\n", Some("Says hello.")),
            ("'use strict';\n/* x.js - Says hello */\n", Some("Says hello")),
            ("#!/usr/bin/env node\n// Says hello.\n", Some("Says hello.")),
            ("/**\n * @license MIT\n * Permission is granted.\n */\n", None),
            ("const a = 1;\n", None),
            ("/* never closed", None),
        ] {
            assert_eq!(summary_of_javascript(text, "x.js").as_deref(), expected, "{text:?}");
        }
    }
}
