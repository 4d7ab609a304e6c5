//! Crates of Rust.

use super::{Row, is_word};

pub(super) static ROW: Row = Row {
    key: "crate",
    takes: |name| is_word(name, "_-"),
    kept: str::to_owned,
    // The registry treats `-` and `_` as equal.
    compared: |name| name.replace('_', "-"),
    install: |name, version| match version {
        Some(version) => format!("cargo add {name}@{version} && cargo fetch"),
        None => format!("cargo add {name} && cargo fetch"),
    },
};
