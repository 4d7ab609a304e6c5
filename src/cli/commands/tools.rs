//! `tools`.

use clap::{Args, ValueEnum};

use crate::cli::args::LoadingArgs;
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::engine::tools::ToolFormat;
use skillpm_core::ops::tools::{ToolsRequest, tools};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("tools",
    "skillpm tools pdf                        the tools of one skill"
    "skillpm tools --json                     those of all skills, with the schemas of what they take"
    "skillpm tools pdf --format anthropic     as a model gets them"
);

// Arguments of `tools`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ToolsArgs {
    /// the skill's name, or `./directory` of one that is not installed [default: all skills]
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// look in the directories below `scripts/`, too
    #[arg(long)]
    recursive: bool,

    /// print the definitions that a model gets: `openai`, `anthropic` or `mcp`
    #[arg(long, value_name = "FORM", value_enum, hide_possible_values = true, conflicts_with = "json")]
    format: Option<FormatArg>,

    /// Which skills, and how they are loaded.
    #[command(flatten)]
    loading: LoadingArgs,

    /// print the tools as a JSON array
    #[arg(long)]
    json: bool,
}

/// The format of the definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Functions of the interfaces of `OpenAI`.
    #[value(name = "openai", help = None::<&str>)]
    OpenAi,
    /// Tools of Anthropic's interface.
    #[value(help = None::<&str>)]
    Anthropic,
    /// Tools of the Model Context Protocol.
    #[value(help = None::<&str>)]
    Mcp,
}

impl From<FormatArg> for ToolFormat {
    fn from(form: FormatArg) -> Self {
        match form {
            FormatArg::OpenAi => Self::OpenAi,
            FormatArg::Anthropic => Self::Anthropic,
            FormatArg::Mcp => Self::Mcp,
        }
    }
}

pub(super) fn run(app: &App, args: &ToolsArgs) -> Result<u8> {
    let request = ToolsRequest { name: args.name.clone(), recursive: args.recursive };
    let outcome = tools(&args.loading.session(&app.context)?, &request)?;
    match args.format {
        Some(form) => render::tools::definitions(&app.printer, &outcome, form.into()),
        None if args.json => render::tools::json(&app.printer, &outcome),
        None => render::tools::show(&app.printer, &outcome),
    }
    Ok(exit::SUCCESS)
}
