//! `catalog`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::scope;
use crate::cli::args::{LoadingArgs, ScopeArgs};
use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::engine::catalog::{CatalogForm, Field, Options};
use skillpm_core::ops::catalog::{CatalogRequest, Write, catalog};
use skillpm_format::advice::{Argument, Call, CommandLine, Opt, Verb};
use skillpm_format::profile::LoadProfile;
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("catalog",
    "skillpm catalog                            what an agent learns about all skills"
    "skillpm catalog --budget 5000 --json       the same within 5,000 tokens, for programs"
    "skillpm catalog --write AGENTS.md          keep it up to date in a file"
    "skillpm catalog --write AGENTS.md --check     on a build machine: fail if it is not"
);

/// The default facts about each skill.
const FIELDS: &str = "description,location";

// Arguments of `catalog`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CatalogArgs {
    /// the form: `xml`, `reference`, `json`, `markdown` or `plain`
    ///
    /// `reference` is as the reference's `to-prompt` prints it
    #[arg(long, value_name = "FORM", default_value_t = CatalogForm::Xml, conflicts_with = "json")]
    format: CatalogForm,

    /// short for `--format json`
    #[arg(long, conflicts_with = "write")]
    #[arg(hide_short_help = true)]
    json: bool,

    /// what is told of each skill besides its name, separated by commas: `description`, `location`, `compatibility`,
    /// `allowed-tools`, `tags`, `version`, `files`; `name` for the name alone
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', default_value = FIELDS)]
    #[arg(hide_short_help = true)]
    fields: Vec<Field>,

    /// cut descriptions until it fits into this many tokens
    ///
    /// all names stay, and as many descriptions as fit
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,

    /// only skills with this tag; repeat it for more tags
    #[arg(long, value_name = "TAG")]
    #[arg(hide_short_help = true)]
    tag: Vec<String>,

    /// only skills that this agent sees
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,

    /// also skills that only a person may start (`disable-model-invocation`)
    #[arg(long)]
    hidden: bool,

    /// Which skills, and how they are loaded.
    #[command(flatten)]
    loading: LoadingArgs,

    /// Where.
    #[command(flatten)]
    scope: ScopeArgs,

    /// the text for no skills at all [default: nothing]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    #[arg(hide_short_help = true)]
    empty: String,

    /// keep the catalog of the project up to date in this file
    ///
    /// between two markers; the rest stays
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// write nothing, fail if the file is not up to date
    #[arg(long, requires = "write")]
    check: bool,
}

impl CatalogArgs {
    /// Returns the call that writes `file` with the same content that was checked.
    fn call(&self, file: &Path) -> Call {
        let mut call = Verb::Catalog.call().option(Opt::Write, file.display());
        call.arguments.extend(self.options());
        call
    }

    /// Returns the options that choose a form and skills, each after a blank: without them it would be another catalog.
    fn flags(&self) -> String {
        [String::new()].into_iter().chain(CommandLine::words(&self.options())).collect::<Vec<_>>().join(" ")
    }

    fn options(&self) -> Vec<Argument> {
        let mut options = Vec::new();
        let mut add = |option, value: String| options.push(Argument::Option(option, Some(value)));
        if self.format != CatalogForm::default() {
            add(Opt::Format, self.format.to_string());
        }
        let fields = self.fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        if fields != FIELDS {
            add(Opt::Fields, fields);
        }
        if let Some(budget) = self.budget {
            add(Opt::Budget, budget.to_string());
        }
        self.tag.iter().for_each(|tag| add(Opt::Tag, tag.clone()));
        self.agent.iter().for_each(|agent| add(Opt::Agent, agent.clone()));
        if self.loading.profile != LoadProfile::DEFAULT {
            add(Opt::Profile, self.loading.profile.to_string());
        }
        self.loading.dir.iter().for_each(|dir| add(Opt::Dir, dir.display().to_string()));
        if let Some(scope) = scope(&self.scope) {
            add(Opt::Scope, scope.to_string());
        }
        if !self.empty.is_empty() {
            add(Opt::Empty, self.empty.clone());
        }
        if self.hidden {
            options.push(Argument::Option(Opt::Hidden, None));
        }
        options
    }
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
    let write =
        args.write.as_ref().map(|file| Write { file: file.clone(), check: args.check, flags: args.flags() });
    let request = CatalogRequest {
        options,
        scope: scope(&args.scope),
        agent: args.agent.clone(),
        profile: args.loading.profile(),
        dirs: args.loading.dir.clone(),
        write,
    };
    let outcome = catalog(&app.context, &request)?;
    render::catalog::warn(&app.printer, &outcome);
    match &outcome.written {
        Some(written) => {
            let update = args.check.then(|| args.call(&written.file));
            render::catalog::file(&app.printer, written, update);
        }
        None if form == CatalogForm::Json => app.printer.json(&outcome.catalog.as_json()),
        None => app.printer.content_of(|pass| outcome.catalog.pieces(pass)),
    }
    let is_stale = args.check && outcome.written.as_ref().is_some_and(|written| written.changed);
    // The process is about to end. Freeing the texts of thousands of skills one by one takes a tenth of its
    // time.
    std::mem::forget(outcome);
    Ok(if is_stale { exit::FINDINGS } else { exit::SUCCESS })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::words::typed;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: CatalogArgs,
    }

    /// The hint of `--check` names the command that writes the checked content, even in a directory with a
    /// space in its name.
    #[test]
    fn the_command_of_a_hint_has_the_flags_that_were_given() {
        let command = |words: &[&str]| {
            let words = ["catalog", "--check", "--write", "A.md"].iter().chain(words);
            let call = Line::try_parse_from(words).expect("parses").args.call(Path::new("/p q/A.md"));
            typed(&call)
        };
        assert_eq!(command(&[]), "skillpm catalog --write '/p q/A.md'");
        assert_eq!(command(&["--fields", FIELDS]), "skillpm catalog --write '/p q/A.md'");
        let all = "--format markdown --fields name,tags --budget 90 --tag a --tag 'b c' --agent junie --profile btw --dir '../x y' \
                   --scope user --empty none --hidden";
        let words = [
            "--hidden",
            "-g",
            "--format",
            "markdown",
            "--fields",
            "name,tags",
            "--budget",
            "90",
            "--tag",
            "a",
            "--tag",
            "b c",
            "--agent",
            "junie",
            "--dir",
            "../x y",
            "--profile",
            "s4",
            "--empty",
            "none",
        ];
        assert_eq!(command(&words), format!("skillpm catalog --write '/p q/A.md' {all}"));
    }
}
