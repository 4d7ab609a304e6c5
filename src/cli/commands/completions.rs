//! `completions`.

use clap::{Args, ValueEnum};

use crate::cli::help::after;
use crate::cli::{App, complete, exit};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("completions",
    "skillpm completions bash     for ~/.local/share/bash-completion/completions/skillpm"
    "skillpm completions zsh      for the file _skillpm in a directory of `fpath`"
    "skillpm completions fish     for ~/.config/fish/completions/skillpm.fish"
);

// Arguments of `completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArgs {
    /// the shell: `bash`, `zsh`, `fish`, `powershell` or `elvish`
    #[arg(value_name = "SHELL", value_enum, hide_possible_values = true)]
    shell: Shell,
}

/// A shell that can complete.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    #[value(name = "powershell", alias = "pwsh")]
    Pwsh,
    Elvish,
}

pub(super) fn run(app: &App, args: &CompletionsArgs) -> Result<u8> {
    let name = match args.shell {
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
        Shell::Pwsh => "powershell",
        Shell::Elvish => "elvish",
    };
    app.printer.content(&complete::script(name)?);
    Ok(exit::SUCCESS)
}
