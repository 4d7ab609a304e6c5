//! R packages.

use super::{Row, is_word};

pub(super) static ROW: Row = Row {
    key: "r",
    takes: |name| is_word(name, ".") && name.starts_with(|c: char| c.is_ascii_alphabetic()),
    kept: str::to_owned,
    compared: str::to_owned,
    install: |name, version| match version {
        Some(version) => format!("Rscript -e 'remotes::install_version(\"{name}\", \"{version}\")'"),
        None => format!("Rscript -e 'install.packages(\"{name}\")'"),
    },
};
