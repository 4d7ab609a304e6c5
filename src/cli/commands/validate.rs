//! `validate`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::explain::unknown;
use skillpm_core::ops::validate::{
    BaselineRequest, LintOptions, News, Repairs, Target, Tree, ValidateRequest, Watch, validate,
};
use skillpm_format::advice::{Opt, message};
use skillpm_format::lint::{RuleOptions, Safety, UnknownName, rule};
use skillpm_format::skill::find;
use skillpm_sources::env;
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
    /// directories of skills, `SKILL.md` files, directories to look for skills in
    ///
    /// also patterns such as `'skills/**/SKILL.md'`, and `-` for standard input
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,

    /// whose rules to apply, such as `spec` or `claude-code`
    ///
    /// `spec`, `reference`, `claude-code`, `claude-ai`, `publish`, `strict` or `lenient` [default: spec]
    #[arg(long, value_name = "NAME")]
    #[arg(help_heading = "Rules")]
    profile: Option<String>,

    /// the manifest whose `[lint]` counts for all files, instead of the nearest one above each
    #[arg(long, value_name = "FILE")]
    #[arg(help_heading = "Rules", hide_short_help = true)]
    config: Option<PathBuf>,

    #[command(flatten)]
    rules: RuleArgs,

    /// leave out what `[lint] exclude` names even if it is an argument, as hooks pass files
    #[arg(long)]
    #[arg(help_heading = "Which files", hide_short_help = true)]
    force_exclude: bool,

    /// leave out files that belong to no skill, as hooks pass them
    #[arg(long)]
    #[arg(help_heading = "Which files", hide_short_help = true)]
    ignore_unknown: bool,

    /// check only skills with a file that changed since this commit, branch or tag
    #[arg(long, value_name = "REF", conflicts_with = "changed")]
    #[arg(help_heading = "Which files", hide_short_help = true)]
    since: Option<String>,

    /// check only skills with a file that is not committed
    ///
    /// changed, staged or untracked
    #[arg(long)]
    #[arg(help_heading = "Which files")]
    changed: bool,

    /// the file of known findings, which are counted and do not fail
    #[arg(long, value_name = "FILE", conflicts_with = "write_baseline")]
    #[arg(help_heading = "Known findings", hide_short_help = true)]
    baseline: Option<PathBuf>,

    /// write what is found into a baseline, as known: by default the one of `[lint]`, else
    /// `skillpm-baseline.json` beside `skillpm.toml`
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "", conflicts_with_all = ["diff", "watch"])]
    #[arg(help_heading = "Known findings", hide_short_help = true)]
    write_baseline: Option<OsString>,

    /// fail on warnings too
    #[arg(long)]
    strict: bool,

    /// the form of the report, such as `full` or `json`
    ///
    /// `human`, `full` (each finding with its lines) or `concise` (a line each), or for programs
    /// `json`, `sarif`, `github` (annotations of a workflow), `gitlab` (code quality) or `junit`
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Human)]
    #[arg(hide_possible_values = true, conflicts_with = "json")]
    #[arg(help_heading = "Output")]
    format: FormatArg,

    /// show how often each rule found something, instead of the findings
    #[arg(long, conflicts_with_all = ["format", "json", "output", "diff", "watch"])]
    #[arg(help_heading = "Output", hide_short_help = true)]
    statistics: bool,

    /// short for `--format json`
    #[arg(long)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    json: bool,

    /// write the report into this file, not to standard output, which `-` stands for
    #[arg(short, long, value_name = "FILE")]
    #[arg(help_heading = "Output", hide_short_help = true)]
    output: Option<PathBuf>,

    /// the path that standard input stands for: its name, its directory, and messages
    #[arg(long, value_name = "FILE")]
    #[arg(help_heading = "Which files", hide_short_help = true)]
    stdin_filename: Option<PathBuf>,

    /// repair what can be repaired without a change of meaning
    ///
    /// `--fix=unsafe` also makes repairs that need a review
    #[arg(long, value_name = "KIND", value_enum, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "safe", hide_possible_values = true)]
    fix: Option<FixArg>,

    /// write nothing, show what `--fix` or `--fix=unsafe` would change
    #[arg(long, conflicts_with_all = ["format", "json", "output"])]
    diff: bool,

    /// check again after every change, until `Ctrl-C`
    #[arg(long, conflicts_with_all = ["format", "json", "output", "fix", "diff"])]
    #[arg(conflicts_with_all = ["changed", "since", "baseline", "write_baseline"])]
    watch: bool,
}

// Arguments of the commands that check skills by rules.
#[derive(Debug, Clone, Args)]
pub(crate) struct RuleArgs {
    /// apply only these rules, separated by commas
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    #[arg(help_heading = "Rules", hide_short_help = true)]
    select: Vec<String>,

    /// do not apply these rules, separated by commas
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    #[arg(help_heading = "Rules")]
    ignore: Vec<String>,

    /// the level of a rule: `off`, `note`, `warning` or `error`; for several rules, give it again
    #[arg(long, value_name = "NAME=LEVEL")]
    #[arg(help_heading = "Rules", hide_short_help = true)]
    rule: Vec<String>,
}

impl RuleArgs {
    /// Returns the choice of rules, in the profiles of manifests.
    pub(super) fn options(&self) -> Result<RuleOptions> {
        let rules = |names: &[String]| -> Result<Vec<_>> {
            names.iter().map(|name| named(rule(name.trim()))).collect()
        };
        let level = |text: &String| {
            let (name, level) = text.split_once('=').ok_or_else(|| {
                let wrong = format!("`{text}` does not say the level of a rule");
                Error::usage(wrong).hint("write it as in `name-ascii=error`")
            })?;
            Ok((named(rule(name.trim()))?, named(level.trim().parse())?))
        };
        Ok(RuleOptions {
            profile: None,
            select: rules(&self.select)?,
            ignore: rules(&self.ignore)?,
            levels: self.rule.iter().map(level).collect::<Result<_>>()?,
        })
    }
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
    /// For people: each finding with its lines, or grouped by skill if there are many.
    #[value(help = None::<&str>)]
    Human,
    /// Each finding with its lines.
    #[value(help = None::<&str>)]
    Full,
    /// Each finding on a line.
    #[value(help = None::<&str>)]
    Concise,
    /// Of our own, with a schema.
    #[value(help = None::<&str>)]
    Json,
    /// For code scanning.
    #[value(help = None::<&str>)]
    Sarif,
    /// Annotations of GitHub's workflows.
    #[value(help = None::<&str>)]
    Github,
    /// Code quality of GitLab.
    #[value(help = None::<&str>)]
    Gitlab,
    /// For test reports.
    #[value(help = None::<&str>)]
    Junit,
}

impl FormatArg {
    /// Reports whether people read it.
    fn is_for_people(self) -> bool {
        matches!(self, Self::Human | Self::Full | Self::Concise)
    }
}

/// The interval between checks of watched files.
const INTERVAL: Duration = Duration::from_millis(300);

pub(super) fn run(app: &App, args: &ValidateArgs) -> Result<u8> {
    let options = options(args)?;
    if args.watch {
        return watch(app, args, options);
    }
    let output = args.output.as_deref().filter(|file| !super::is_input(file));
    if let Some(file) = output.filter(|file| is_skill_file(file)) {
        return Err(Error::usage(format!("the report would overwrite the skill in `{}`", file.display()))
            .hint(message!("name another file: ", (Opt::Output, "report.json"))));
    }
    let format = if args.json { FormatArg::Json } else { args.format };
    let (changes, baseline) = (super::changes(args.since.as_ref(), args.changed), baseline(args));
    let request =
        ValidateRequest { targets: targets(args)?, options, repairs: repairs(args), changes, baseline };
    let outcome = validate(&app.context, &request)?;
    if args.diff {
        render::validate::diff(&app.printer, &outcome);
    } else if args.statistics {
        render::validate::statistics(&app.printer, &outcome);
    } else if format.is_for_people() && output.is_none() {
        let in_files = request.targets.iter().all(|target| matches!(target, Target::Path(_)));
        render::validate::show(&app.printer, &outcome, format, in_files, request.repairs);
    } else {
        // The other formats are for the caller, who knows the working directory.
        let tree = match format {
            FormatArg::Sarif | FormatArg::Github | FormatArg::Gitlab => {
                Some(Tree::around(&app.context.settings)?)
            }
            _ => None,
        };
        let text = render::validate::text(&outcome, format, args.strict, tree.as_ref());
        let file = output.map(|file| app.context.settings.cwd.join(file));
        render::validate::deliver(&app.printer, &outcome, &text, file.as_deref())?;
        let summary = app.context.settings.env.path(env::GITHUB_STEP_SUMMARY);
        if let Some(file) = summary.filter(|_| format == FormatArg::Github) {
            render::validate::step_summary(&outcome, tree.as_ref(), &file)?;
        }
    }
    let code = exit::validate(&outcome, args.strict);
    // The program ends here: freeing the memory of thousands of skills one by one takes longer.
    std::mem::forget(outcome);
    Ok(code)
}

/// Checks all targets, and checks changed ones again until the program is stopped or its output is closed.
fn watch(app: &App, args: &ValidateArgs, options: LintOptions) -> Result<u8> {
    let (mut watch, outcome) = Watch::start(&app.context, targets(args)?, options)?;
    render::validate::show(&app.printer, &outcome, FormatArg::Human, true, Repairs::None);
    app.printer.note("watching for changes; `Ctrl-C` ends");
    while !app.printer.is_closed() {
        thread::sleep(INTERVAL);
        let News { outcome, error } = watch.poll(&app.context);
        if let Some(outcome) = outcome {
            render::validate::show(&app.printer, &outcome, FormatArg::Human, true, Repairs::None);
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

/// Returns how skills are checked, as the flags say.
fn options(args: &ValidateArgs) -> Result<LintOptions> {
    let profile = args.profile.as_deref().map(|name| named(name.parse())).transpose()?;
    Ok(LintOptions {
        config: args.config.clone(),
        rules: RuleOptions { profile, ..args.rules.options()? },
        force_exclude: args.force_exclude,
        ignore_unknown: args.ignore_unknown,
    })
}

/// Returns what a name stands for. One that stands for nothing is a wrong request.
fn named<T>(found: std::result::Result<T, UnknownName>) -> Result<T> {
    found.map_err(|name| unknown(&name))
}

fn baseline(args: &ValidateArgs) -> BaselineRequest {
    match (&args.write_baseline, &args.baseline) {
        (Some(file), _) => BaselineRequest::Write((!file.is_empty()).then(|| file.into())),
        (None, Some(file)) => BaselineRequest::Read(file.clone()),
        (None, None) => BaselineRequest::Configured,
    }
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
