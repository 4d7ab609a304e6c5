//! `validate`.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::explain::unknown;
use skillpm_core::ops::validate::{News, Repairs, Target, Tree, ValidateRequest, Watch, rules, validate};
use skillpm_format::advice::{Opt, message};
use skillpm_format::lint::{Profile, Safety};
use skillpm_format::skill::find;
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("validate",
    "skillpm validate                                     the skills in this directory"
    "skillpm validate skills/pdf --profile publish        one skill, before it is shipped"
    "skillpm validate --strict --format sarif             on a build machine, for code scanning"
    "skillpm validate - --stdin-filename pdf/SKILL.md     the text in an editor"
);

// Arguments of `validate`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct ValidateArgs {
    /// directories of skills, `SKILL.md` files, directories to look for skills in, patterns such as
    /// `'skills/**/SKILL.md'`, or `-` for standard input
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// whose rules to apply: `spec`, `reference`, `claude-code`, `claude-ai`, `publish`, `strict` or `lenient`
    /// [default: spec]
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// fail on warnings too
    #[arg(long)]
    strict: bool,

    /// `human`, or for programs `json`, `sarif`, `github` (annotations of a workflow) or `junit`
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Human)]
    #[arg(hide_possible_values = true, conflicts_with = "json")]
    format: FormatArg,

    /// short for `--format json`
    #[arg(long)]
    json: bool,

    /// write the report into this file, not to standard output, which `-` stands for
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// the path that standard input stands for: its name, its directory, and messages
    #[arg(long, value_name = "FILE")]
    stdin_filename: Option<PathBuf>,

    /// repair what can be repaired without a change of meaning; `--fix=unsafe` also makes
    /// repairs that need a review
    #[arg(long, value_name = "KIND", value_enum, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "safe", hide_possible_values = true)]
    fix: Option<FixArg>,

    /// write nothing, show what `--fix` or `--fix=unsafe` would change
    #[arg(long, conflicts_with_all = ["format", "json", "output"])]
    diff: bool,

    /// check again after every change, until `Ctrl-C`
    #[arg(long, conflicts_with_all = ["format", "json", "output", "fix", "diff"])]
    watch: bool,
}

/// Which repairs are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FixArg {
    /// Those that change no meaning.
    #[value(help = None::<&str>)]
    Safe,
    /// All of them.
    #[value(help = None::<&str>)]
    Unsafe,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// For people.
    #[value(help = None::<&str>)]
    Human,
    /// Of our own, with a schema.
    #[value(help = None::<&str>)]
    Json,
    /// For code scanning.
    #[value(help = None::<&str>)]
    Sarif,
    /// Annotations of GitHub's workflows.
    #[value(help = None::<&str>)]
    Github,
    /// For test reports.
    #[value(help = None::<&str>)]
    Junit,
}

/// The interval between checks of watched files.
const INTERVAL: Duration = Duration::from_millis(300);

pub(super) fn run(app: &App, args: &ValidateArgs) -> Result<u8> {
    let profile = args.profile.as_deref().map(str::parse).transpose();
    let profile = profile.map_err(|error| unknown(&error))?;
    if args.watch {
        return watch(app, args, profile);
    }
    let output = args.output.as_deref().filter(|file| !super::is_input(file));
    if let Some(file) = output.filter(|file| is_skill_file(file)) {
        return Err(Error::usage(format!("the report would overwrite the skill in `{}`", file.display()))
            .hint(message!("name another file: ", (Opt::Output, "report.json"))));
    }
    let format = if args.json { FormatArg::Json } else { args.format };
    let rules = rules(&app.context, profile)?;
    let request = ValidateRequest { targets: targets(args)?, rules, repairs: repairs(args) };
    let outcome = validate(&app.context, &request)?;
    if args.diff {
        render::validate::diff(&app.printer, &outcome);
    } else if format == FormatArg::Human && output.is_none() {
        let in_files = request.targets.iter().all(|target| matches!(target, Target::Path(_)));
        render::validate::show(&app.printer, &outcome, in_files, request.repairs);
    } else {
        // The other formats are for the caller, who knows the working directory.
        let tree = match format {
            FormatArg::Sarif | FormatArg::Github => Some(Tree::around(&app.context.settings)?),
            FormatArg::Human | FormatArg::Json | FormatArg::Junit => None,
        };
        let profile = request.rules.profile;
        let text = render::validate::text(&outcome, format, profile, args.strict, tree.as_ref());
        let file = output.map(|file| app.context.settings.cwd.join(file));
        render::validate::deliver(&app.printer, &outcome, &text, file.as_deref())?;
    }
    let code = exit::validate(&outcome, args.strict);
    // The program ends here: freeing the memory of thousands of skills one by one takes longer.
    std::mem::forget(outcome);
    Ok(code)
}

/// Checks all targets, and checks changed ones again until the program is stopped or its output is closed.
fn watch(app: &App, args: &ValidateArgs, profile: Option<Profile>) -> Result<u8> {
    let (mut watch, outcome) = Watch::start(&app.context, targets(args)?, profile)?;
    render::validate::show(&app.printer, &outcome, true, Repairs::None);
    app.printer.note("watching for changes; `Ctrl-C` ends");
    while !app.printer.is_closed() {
        thread::sleep(INTERVAL);
        let News { outcome, error } = watch.poll(&app.context);
        if let Some(outcome) = outcome {
            render::validate::show(&app.printer, &outcome, true, Repairs::None);
        }
        if let Some(error) = error {
            render::error::show(&app.printer, &error);
        }
    }
    Ok(exit::validate(&outcome, args.strict))
}

/// Reports whether `file` has the name of a skill file.
fn is_skill_file(file: &Path) -> bool {
    file.file_name().is_some_and(find::is_skill_file)
}

fn repairs(args: &ValidateArgs) -> Repairs {
    let safety = match args.fix {
        Some(FixArg::Unsafe) => Safety::Unsafe,
        Some(FixArg::Safe) | None => Safety::Safe,
    };
    match (args.diff, args.fix) {
        (true, _) => Repairs::Show(safety),
        (false, Some(_)) => Repairs::Make(safety),
        (false, None) => Repairs::None,
    }
}

fn targets(args: &ValidateArgs) -> Result<Vec<Target>> {
    if args.stdin_filename.is_some() && !args.paths.iter().any(|path| super::is_input(path)) {
        return Err(Error::usage("`--stdin-filename` describes standard input, which is not being checked")
            .hint("add `-` to the paths"));
    }
    let targets = super::targets(&args.paths, args.stdin_filename.as_deref())?;
    if args.watch && targets.iter().any(|target| matches!(target, Target::Text { .. })) {
        return Err(Error::usage("standard input cannot be watched").hint("name a file or a directory"));
    }
    Ok(targets)
}
