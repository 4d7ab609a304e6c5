//! `catalog`.

use std::path::PathBuf;

use clap::Args;

use super::scope;
use crate::cli::args::ScopeArgs;
use crate::cli::{App, exit, render};
use crate::engine::catalog::{CatalogForm, Field, Options};
use crate::error::Result;
use crate::ops::catalog::{CatalogRequest, Write, catalog};

// Arguments of `catalog`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CatalogArgs {
    /// the form: `xml`, `reference` (as the reference's `to-prompt` prints it), `json`, `markdown` or `plain`
    #[arg(long, value_name = "FORM", default_value_t = CatalogForm::Xml, conflicts_with = "json")]
    format: CatalogForm,

    /// short for `--format json`
    #[arg(long, conflicts_with = "write")]
    json: bool,

    /// what is told of each skill, with commas between: `description`, `location`, `compatibility`,
    /// `allowed-tools`, `tags`, `version`, `files`
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', default_value = "description,location")]
    fields: Vec<Field>,

    /// shorten the longest descriptions until all is no more than so many tokens; no skill is dropped
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,

    /// only skills with this tag; several times for any of several
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,

    /// only skills that this agent sees
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// also skills that only a person is to start (`disable-model-invocation`)
    #[arg(long)]
    hidden: bool,

    /// more directories of skills, after the others
    #[arg(long, value_name = "DIR")]
    dir: Vec<PathBuf>,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// the text for no skills at all [default: nothing]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    empty: String,

    /// keep the catalog of the project's skills up to date in this file, between two marks; all else in it stays
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// write nothing, fail if the file is not up to date
    #[arg(long, requires = "write")]
    check: bool,
}

pub(super) fn run(app: &App, args: &CatalogArgs) -> Result<u8> {
    let form = if args.json { CatalogForm::Json } else { args.format };
    let options = Options {
        form,
        fields: args.fields.clone(),
        tags: args.tag.clone(),
        hidden: args.hidden,
        budget: args.budget,
        empty: args.empty.clone(),
        ..Options::default()
    };
    let write = args.write.as_ref().map(|file| Write { file: file.clone(), check: args.check });
    let request = CatalogRequest {
        options,
        scope: scope(&args.scope),
        agent: args.agent.clone(),
        dirs: args.dir.clone(),
        write,
    };
    let outcome = catalog(&app.context, &request)?;
    render::catalog::warn(&app.printer, &outcome);
    match &outcome.written {
        Some(written) => render::catalog::file(&app.printer, written, args.check),
        None if form == CatalogForm::Json => app.printer.json(&outcome.catalog.as_json()),
        None => app.printer.content_of(|pass| outcome.catalog.pieces(pass)),
    }
    let is_stale = args.check && outcome.written.as_ref().is_some_and(|written| written.changed);
    // The process is about to end. To free the texts of thousands of skills, one by one, takes a tenth of its time.
    std::mem::forget(outcome);
    Ok(if is_stale { exit::FINDINGS } else { exit::SUCCESS })
}
