//! `man`.

use std::path::PathBuf;

use clap::Args;
use clap_mangen::Man;

use crate::cli::args;
use crate::cli::commands::Command;
use crate::cli::help::after;
use crate::cli::words::{PROGRAM, help_of};
use crate::cli::{App, exit};
use skillpm_format::advice::{Verb, message};
use skillpm_format::text::closest;
use skillpm_sources::error::{Error, Result};
use skillpm_sources::fs;

pub(super) const EXAMPLES: &str = after!("man",
    "skillpm man install                           the page of a command, as `man -l -` reads it"
    "skillpm man --out ~/.local/share/man/man1     all pages, where `man` finds them"
);

// Arguments of `man`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ManArgs {
    /// the command whose page is printed [default: the page of skillpm itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Option<String>,

    /// write the pages of all commands into a directory, such as `~/.local/share/man/man1`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(app: &App, args: &ManArgs) -> Result<u8> {
    let pages = pages()?;
    if let Some(out) = &args.out {
        let dir = app.context.settings.cwd.join(out);
        fs::create_dir_all(&dir)?;
        for page in &pages {
            fs::write_atomic(&dir.join(format!("{}.1", page.name)), page.text.as_bytes())?;
        }
        app.printer.note(&format!("{} pages are in `{}`", pages.len(), out.display()));
        return Ok(exit::SUCCESS);
    }
    let name = match &args.command {
        None => "skillpm".to_owned(),
        Some(command) => page_of(command)?,
    };
    if let Some(page) = pages.iter().find(|page| page.name == name) {
        app.printer.content(&page.text);
    }
    Ok(exit::SUCCESS)
}

/// Returns the name of the page of the command `typed`.
fn page_of(typed: &str) -> Result<String> {
    if let Some(command) = Command::alone(typed) {
        return Ok(format!("skillpm-{}", command.get_name()));
    }
    let error = Error::usage(format!("there is no command `{typed}`"));
    Err(match closest(typed, Command::names()) {
        Some(name) => error.hint(message!("did you mean ", Verb::Man.call().word(name), "?")),
        None => error.hint(message!(help_of(PROGRAM), " lists the commands")),
    })
}

/// A page of the manual.
struct Page {
    /// `skillpm`, or `skillpm-install`.
    name: String,
    /// The page as roff.
    text: String,
}

/// Returns the pages of the program, of each command and of each action of a command.
fn pages() -> Result<Vec<Page>> {
    let mut program = args::program();
    program.build();
    let mut pages = Vec::new();
    add_pages(&program, &mut pages)?;
    Ok(pages)
}

fn add_pages(command: &clap::Command, pages: &mut Vec<Page>) -> Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut text = Vec::new();
    let source = concat!("skillpm ", env!("CARGO_PKG_VERSION"));
    let page = Man::new(command.clone()).title(name.to_uppercase()).source(source).manual("skillpm");
    page.render(&mut text)
        .map_err(|error| Error::io("failed to make a page of the manual").because(error))?;
    pages.push(Page { name, text: String::from_utf8_lossy(&text).into_owned() });
    command.get_subcommands().try_for_each(|inner| add_pages(inner, pages))
}
