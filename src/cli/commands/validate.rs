//! `validate`.

use std::thread;
use std::time::Duration;

use crate::cli::args::{FixArg, FormatArg, ValidateArgs};
use crate::cli::{App, exit, render};
use crate::error::{Error, Result};
use crate::lint::Safety;
use crate::ops::explain::unknown;
use crate::ops::validate::{Repairs, Target, ValidateRequest, Watch, rules, validate};

/// How often watched files are looked at.
const INTERVAL: Duration = Duration::from_millis(300);

pub(super) fn run(app: &App, args: &ValidateArgs) -> Result<u8> {
    let profile = args.profile.as_deref().map(str::parse).transpose();
    let rules = rules(&app.context, profile.map_err(|error| unknown(&error))?)?;
    let request = ValidateRequest { targets: targets(args)?, rules, repairs: repairs(args) };
    let outcome = validate(&app.context, &request)?;
    if args.diff {
        render::validate::diff(&app.printer, &outcome);
    } else if args.format == FormatArg::Human && args.output.is_none() {
        let in_files = request.targets.iter().all(|target| matches!(target, Target::Path(_)));
        render::validate::show(&app.printer, &outcome, in_files);
    } else {
        let text = render::validate::text(&outcome, args.format, request.rules.profile, args.strict);
        let file = args.output.as_ref().map(|file| app.context.settings.cwd.join(file));
        render::validate::deliver(&app.printer, &outcome, &text, file.as_deref())?;
    }
    if args.watch {
        watch(app, Watch::new(&app.context, request, &outcome))?;
    }
    let code = exit::validate(&outcome, args.strict);
    // The program ends here: to give back the memory of thousands of skills one by one takes longer.
    std::mem::forget(outcome);
    Ok(code)
}

/// Checks what changes until the program is stopped, or nobody reads any more.
fn watch(app: &App, mut watch: Watch) -> Result<()> {
    app.printer.note("watching for changes; `Ctrl-C` ends");
    while !app.printer.is_closed() {
        thread::sleep(INTERVAL);
        if let Some(outcome) = watch.poll(&app.context)? {
            render::validate::show(&app.printer, &outcome, true);
        }
    }
    Ok(())
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
        return Err(Error::usage("`--stdin-filename` is about standard input, which is not checked")
            .hint("add `-` to the paths"));
    }
    let targets = super::targets(&args.paths, args.stdin_filename.as_deref())?;
    if args.watch && targets.iter().any(|target| matches!(target, Target::Text { .. })) {
        return Err(Error::usage("standard input cannot be watched").hint("name a file or a directory"));
    }
    Ok(targets)
}
