//! `fmt`.

use crate::cli::args::FmtArgs;
use crate::cli::{App, exit, render};
use crate::document::Document;
use crate::error::{Error, Result};
use crate::ops::fmt::{FmtOutcome, FmtRequest, Form, Formatted, fmt, form};

/// The name of standard input.
const INPUT: &str = "<stdin>";

pub(super) fn run(app: &App, args: &FmtArgs) -> Result<u8> {
    let is_input = |path: &std::path::PathBuf| path.as_os_str() == "-";
    let outcome = if args.paths.iter().any(is_input) {
        if args.paths.len() > 1 {
            return Err(Error::usage("`-` stands for standard input and takes no other paths beside it")
                .hint("format the paths in a run of their own"));
        }
        input(app, args)?
    } else {
        let request = FmtRequest { paths: args.paths.clone(), dry_run: args.check || args.diff };
        fmt(&app.context, &request)?
    };
    render::fmt::show(&app.printer, &outcome, args.check, args.diff);
    Ok(exit::fmt(&outcome, args.check))
}

/// Formats standard input. Where only the verdict or the difference is wanted, or there is no
/// canonical form, nothing is passed on.
fn input(app: &App, args: &FmtArgs) -> Result<FmtOutcome> {
    let document = Document::from_bytes(super::standard_input()?);
    let form = form(&document);
    if !args.check && !args.diff {
        match &form {
            Form::Canonical => app.printer.content(document.text()),
            Form::Changed { after, .. } => app.printer.content(after),
            Form::Refused { .. } => {}
        }
    }
    Ok(FmtOutcome { files: vec![Formatted { file: INPUT.into(), form }] })
}
