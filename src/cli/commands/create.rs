//! `create`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::ScopeArg;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::create::{BUILTIN, CreateRequest, Resource, create};
use skillpm_format::scope_kind::ScopeKind;
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("create",
    "skillpm create release-notes                            in the working directory"
    "skillpm create release-notes --scope project            in `skills/`, seen by the project's agents"
    "skillpm create release-notes --template script          with a script that works"
    "skillpm create release-notes --template ./my-template     from a template of your own"
);

// Arguments of `create`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct CreateArgs {
    /// the skill's name: lower-case letters, digits and hyphens
    ///
    /// no two hyphens side by side, and at most 64 characters
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// what it does and when to use it
    ///
    /// at most 1024 characters [default: a text to be replaced]
    #[arg(short, long, value_name = "TEXT")]
    description: Option<String>,

    /// its license as an SPDX expression, such as `MIT` or `Apache-2.0` [default: none]
    #[arg(long, value_name = "SPDX")]
    #[arg(hide_short_help = true)]
    license: Option<String>,

    /// who wrote it [default: none]
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    author: Option<String>,

    /// the template, such as `script` [default: basic]
    ///
    /// a built-in one, `./directory` or `owner/repo/directory#ref`
    #[arg(short, long, value_name = "TEMPLATE")]
    template: Option<String>,

    /// a value for a variable of the template; can be repeated
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable)]
    #[arg(hide_short_help = true)]
    variables: Vec<(String, String)>,

    /// directories that get a first file
    ///
    /// `scripts`, `references`, `assets`, separated by commas
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',', hide_possible_values = true)]
    resources: Vec<ResourceArg>,

    /// add requests that `skillpm test` checks it with
    ///
    /// to be replaced by real ones
    #[arg(long)]
    evals: bool,

    /// make and install it in the `project`, or for the `user`
    ///
    /// in `skills/` beside the manifest, and installed from there as an editable skill
    #[arg(long, value_name = "SCOPE", value_enum, hide_possible_values = true, conflicts_with = "path")]
    scope: Option<ScopeArg>,

    /// make and install it for you, in every project: short for `--scope user`
    #[arg(short, long, conflicts_with_all = ["scope", "path"], hide_short_help = true)]
    global: bool,

    /// the directory to make the skill's directory in [default: the working directory]
    #[arg(long, value_name = "DIR")]
    #[arg(hide_short_help = true)]
    path: Option<PathBuf>,

    /// list the built-in templates, make nothing
    #[arg(long, conflicts_with_all = [
        "name", "description", "license", "author", "template", "variables", "resources", "evals", "scope", "global", "path",
        "dry_run", "yes",
    ])]
    list_templates: bool,

    /// show what would be made, make nothing
    #[arg(long)]
    dry_run: bool,

    /// print the outcome, or the templates, as JSON
    #[arg(long)]
    #[arg(hide_short_help = true)]
    json: bool,

    /// do not ask: use the default for what is not given
    #[arg(short, long)]
    pub(crate) yes: bool,
}

/// A directory that skills keep files in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResourceArg {
    /// Programs.
    #[value(help = None::<&str>)]
    Scripts,
    /// Texts.
    #[value(help = None::<&str>)]
    References,
    /// Files to work with.
    #[value(help = None::<&str>)]
    Assets,
}

/// Parses `NAME=VALUE`.
fn variable(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("expected `NAME=VALUE`")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

pub(super) fn run(app: &App, args: &CreateArgs) -> Result<u8> {
    if args.list_templates {
        if args.json {
            app.printer.json(&BUILTIN);
        } else {
            render::create::templates(&app.printer, BUILTIN);
        }
        return Ok(exit::SUCCESS);
    }
    let outcome = create(&app.context, &request(args))?;
    if args.json {
        render::create::json(&app.printer, &outcome);
    } else {
        render::create::show(&app.printer, &outcome, &app.context.settings.cwd);
    }
    Ok(exit::SUCCESS)
}

fn request(args: &CreateArgs) -> CreateRequest {
    CreateRequest {
        name: args.name.clone(),
        description: args.description.clone(),
        license: args.license.clone(),
        author: args.author.clone(),
        template: args.template.clone(),
        variables: args.variables.iter().cloned().collect(),
        resources: args.resources.iter().copied().map(resource).collect(),
        scope: args.scope.or(args.global.then_some(ScopeArg::User)).map(|scope| match scope {
            ScopeArg::Project => ScopeKind::Project,
            ScopeArg::User => ScopeKind::User,
        }),
        parent: args.path.clone(),
        dry_run: args.dry_run,
        evals: args.evals,
    }
}

fn resource(arg: ResourceArg) -> Resource {
    match arg {
        ResourceArg::Scripts => Resource::Scripts,
        ResourceArg::References => Resource::References,
        ResourceArg::Assets => Resource::Assets,
    }
}
