//! npm packages.

use super::{Row, is_word};

pub(super) static ROW: Row = Row {
    key: "npm",
    takes: |name| match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| is_word(scope, "._~-") && is_word(name, "._~-")),
        None => is_word(name, "._~-"),
    },
    kept: str::to_owned,
    compared: str::to_owned,
    install: |name, version| match version {
        Some(version) => format!("npm install {name}@{version}"),
        None => format!("npm install {name}"),
    },
};
