//! Errors: what failed, why, and what to do.

use crate::cli::printer::Printer;
use skillpm_format::advice::CommandLine;
use skillpm_sources::error::{Error, ErrorData, Failure};

/// Prints `error`: as one line of JSON if JSON was requested, else for people.
pub(crate) fn show(printer: &Printer, error: &Error) {
    ends_with(printer, error, error.kind().exit_code());
}

/// Prints `error`, with which the command exits with `exit_code`, which is not that of its kind.
pub(crate) fn ends_with(printer: &Printer, error: &Error, exit_code: u8) {
    let data = ErrorData { exit_code, ..error.data(&CommandLine) };
    if printer.look().json {
        error.hints().iter().for_each(|hint| printer.look().told(hint));
        return printer.json_line(&data);
    }
    printer.failure(&data.message, &data.causes, error.hints());
}

/// Prints failures that did not keep the command from reporting the rest.
pub(crate) fn partial(printer: &Printer, failures: &[Error]) {
    for one in failures {
        failure(printer, &one.into());
    }
}

/// Prints the failure of one of several things: for people as a warning.
pub(crate) fn failure(printer: &Printer, failure: &Failure) {
    let data = failure.data(&CommandLine);
    if printer.look().json {
        return printer.json_line(&data);
    }
    printer.warning(&data.message);
    printer.hints(&failure.hints);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_format::advice::{Opt, Verb, message};
    use skillpm_format::scope_kind::ScopeKind;
    use skillpm_sources::error::{ErrorKind, FilePosition};

    fn failed() -> Error {
        let place = FilePosition::new("skillpm.toml".as_ref(), 3, 5);
        Error::at(ErrorKind::Config, place, "no such key").coded("manifest-unreadable").hint(message!(
            "run ",
            Verb::Install.within(ScopeKind::User).word("o/r").option(Opt::Skill, "*"),
            " with ",
            (Opt::Tag, "NAME")
        ))
    }

    /// Programs get one line, with the hints as data.
    #[test]
    fn as_json() {
        let (printer, out, err) = printer(Appearance { json: true, ..Appearance::PLAIN });
        show(&printer, &failed().context("failed to read\nthe manifest"));
        assert_eq!(out.text(), "");
        assert_eq!(err.text().lines().count(), 1);
        let error: serde_json::Value = serde_json::from_str(&err.text()).expect("JSON");
        let call = json!({
            "verb": "install",
            "scope": "user",
            "project": null,
            "arguments": ["o/r"],
            "options": [{ "name": "skill", "value": "*" }],
        });
        let parts = json!([
            { "text": "run " },
            { "run": call },
            { "text": " with " },
            { "option": { "name": "tag", "value": "NAME" } },
        ]);
        let text = "run `skillpm install -g o/r --skill '*'` with `--tag NAME`";
        let expected = json!({
            "code": "manifest-unreadable",
            "kind": "config",
            "exit_code": 3,
            "message": "failed to read\nthe manifest",
            "parts": [{ "text": "failed to read\nthe manifest" }],
            "causes": ["skillpm.toml:3:5: no such key"],
            "hints": [{ "text": text, "parts": parts }],
            "places": [{ "file": "skillpm.toml", "line": 3, "column": 5 }],
        });
        assert_eq!(error, expected);
    }

    #[test]
    fn message_causes_and_hints() {
        let error = Error::io("failed to write `x`: disk full")
            .because(std::io::Error::other("disk full"))
            .context("failed to install `pdf`")
            .hint("free some space")
            .hint("or use `--scope`");
        let (printer, out, err) = printer(Appearance::PLAIN);
        show(&printer, &error);
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @r#"
        error: failed to install `pdf`
          caused by: failed to write `x`: disk full
        hint: free some space
        hint: or use `--scope`
        "#);
    }
}
