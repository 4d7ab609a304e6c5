//! `validate`.

use std::io::Read as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::cli::args::{FormatArg, ValidateArgs};
use crate::cli::{App, exit, render};
use crate::engine::load::MAX_SKILL_FILE;
use crate::error::{Error, Result};
use crate::lint::{Profile, Ruleset};
use crate::ops::explain::unknown;
use crate::ops::validate::{Target, ValidateRequest, Watch, validate};

/// How often watched files are looked at.
const INTERVAL: Duration = Duration::from_millis(300);

pub(super) fn run(app: &App, args: &ValidateArgs) -> Result<u8> {
    let profile = args.profile.as_deref().map_or(Ok(Profile::default()), str::parse);
    let rules = Ruleset::new(profile.map_err(|error| unknown(&error))?);
    let request = ValidateRequest { targets: targets(args)?, rules };
    let outcome = validate(&app.context, &request)?;
    if args.format == FormatArg::Human && args.output.is_none() {
        render::validate::show(&app.printer, &outcome);
    } else {
        let text = render::validate::text(&outcome, args.format, request.rules.profile, args.strict);
        let file = args.output.as_ref().map(|file| app.context.settings.cwd.join(file));
        render::validate::deliver(&app.printer, &outcome, &text, file.as_deref())?;
    }
    if args.watch {
        watch(app, Watch::new(&app.context, request, &outcome))?;
    }
    Ok(exit::validate(&outcome, args.strict))
}

/// Checks what changes until the program is stopped, or nobody reads any more.
fn watch(app: &App, mut watch: Watch) -> Result<()> {
    app.printer.note("watching for changes; `Ctrl-C` ends");
    while !app.printer.is_closed() {
        thread::sleep(INTERVAL);
        if let Some(outcome) = watch.poll(&app.context)? {
            render::validate::show(&app.printer, &outcome);
        }
    }
    Ok(())
}

fn targets(args: &ValidateArgs) -> Result<Vec<Target>> {
    let is_input = |path: &Path| path == Path::new("-");
    if args.stdin_filename.is_some() && !args.paths.iter().any(|path| is_input(path)) {
        return Err(Error::usage("`--stdin-filename` is about standard input, which is not checked")
            .hint("add `-` to the paths"));
    }
    let mut targets = Vec::with_capacity(args.paths.len());
    for path in &args.paths {
        targets.push(if is_input(path) {
            Target::Text { bytes: standard_input()?, file: args.stdin_filename.clone() }
        } else {
            Target::Path(path.clone())
        });
    }
    if args.watch && targets.iter().any(|target| matches!(target, Target::Text { .. })) {
        return Err(Error::usage("standard input cannot be watched").hint("name a file or a directory"));
    }
    Ok(targets)
}

fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_SKILL_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("failed to read standard input").because(error))?;
    if bytes.len() as u64 > MAX_SKILL_FILE {
        return Err(Error::usage(format!("standard input has more than {} MiB", MAX_SKILL_FILE >> 20))
            .hint("a `SKILL.md` is a text of a few pages"));
    }
    Ok(bytes)
}
