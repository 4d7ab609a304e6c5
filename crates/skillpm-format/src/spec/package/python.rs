//! Python distributions.

use super::{Row, is_word};

pub(super) static ROW: Row = Row {
    key: "python",
    takes: |name| is_word(name, "._-"),
    kept: distribution_name,
    compared,
    install: |name, version| match version {
        Some(version) => format!("python -m pip install {name}=={version}"),
        None => format!("python -m pip install {name}"),
    },
};

/// Returns the name under which Python distributions are compared (PEP 503): `My_Pkg.x` is `my-pkg-x`.
pub fn distribution_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Normalizes a pattern like [`distribution_name`]: a separator beside `*` is kept.
fn compared(pattern: &str) -> String {
    let pieces: Vec<&str> = pattern.split('*').collect();
    let last = pieces.len() - 1;
    let piece = |(at, piece): (usize, &&str)| {
        let separator = |is_there: bool| if is_there { "-" } else { "" };
        let inner = distribution_name(piece);
        let before = separator(at > 0 && !inner.is_empty() && piece.starts_with(['-', '_', '.']));
        let after = separator(at < last && piece.ends_with(['-', '_', '.']));
        format!("{before}{inner}{after}")
    };
    pieces.iter().enumerate().map(piece).collect::<Vec<_>>().join("*")
}
