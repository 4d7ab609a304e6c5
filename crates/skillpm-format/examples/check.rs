//! Checks a `SKILL.md`: `cargo run -p skillpm-format --example check -- SKILL.md`.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "an example is a program"
)]

use std::process::ExitCode;

use skillpm_format::document::Document;
use skillpm_format::lint::{self, Subject};

fn main() -> ExitCode {
    let path = std::env::args().nth(1).unwrap_or_else(|| "SKILL.md".to_owned());
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("error: `{path}` cannot be read: {error}");
            return ExitCode::FAILURE;
        }
    };
    let document = Document::parse(text);
    let findings = lint::check(&Subject::new(&document, None, &path));
    for finding in &findings {
        println!("{path}: {}: {}", finding.rule, finding.message);
    }
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
