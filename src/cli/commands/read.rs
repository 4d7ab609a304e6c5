//! `read`.

use clap::Args;

use crate::cli::args::LoadingArgs;
use crate::cli::help::after;
use crate::cli::{App, exit};
use skillpm_core::engine::resources::MAX_BYTES;
use skillpm_core::ops::read::{ReadRequest, files, read};
use skillpm_format::profile::Listing;
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("read",
    "skillpm read pdf                                      which files it has"
    "skillpm read pdf references/forms.md                  one of them"
    "skillpm read pdf references/forms.md --limit 40     its first lines"
    "skillpm read pdf assets/logo.png --json               a binary file, in base64"
);

// Arguments of `read`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReadArgs {
    /// the skill's name, `source:name` for one that is hidden by another, or `./directory` of one that is not installed
    #[arg(value_name = "NAME")]
    name: String,

    /// the file, by its path below the skill's directory [default: a list of the files]
    #[arg(value_name = "PATH")]
    path: Option<String>,

    /// which files are listed: `all`, `spec-dirs` (`scripts`, `references`, `assets`) or `md`
    #[arg(long, value_name = "WHICH", default_value_t = Listing::All, conflicts_with = "path")]
    list: Listing,

    /// skip this many lines at the start
    #[arg(long, value_name = "LINES", default_value_t = 0, requires = "path", hide_default_value = true)]
    offset: usize,

    /// print this many lines at most
    #[arg(long, value_name = "LINES", requires = "path")]
    limit: Option<usize>,

    /// the size limit for the file, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = MAX_BYTES, requires = "path")]
    max_bytes: u64,

    /// Which skills, and how they are loaded.
    #[command(flatten)]
    loading: LoadingArgs,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &ReadArgs) -> Result<u8> {
    let session = args.loading.session(&app.context)?;
    let Some(path) = &args.path else {
        let outcome = files(&session, &args.name, args.list)?;
        app.printer.warnings(&outcome.warnings);
        if args.json {
            app.printer.json(&outcome);
        } else if outcome.available_files.is_empty() {
            app.printer.note(&format!("`{}` has no such files beside its `SKILL.md`", outcome.skill_name));
        } else {
            app.printer.data(&outcome.available_files.join("\n"));
        }
        return Ok(exit::SUCCESS);
    };
    let outcome = read(
        &session,
        &ReadRequest {
            name: args.name.clone(),
            path: path.clone(),
            max_bytes: args.max_bytes,
            offset: args.offset,
            limit: args.limit,
        },
    )?;
    app.printer.warnings(&outcome.warnings);
    if args.json {
        app.printer.json(&outcome);
    } else if let Some(encoding) = outcome.encoding {
        app.printer.note(&format!("`{path}` is not UTF-8 text: it is printed in {encoding}"));
        app.printer.data(&outcome.content);
    } else {
        app.printer.content(&outcome.content);
    }
    Ok(exit::SUCCESS)
}
