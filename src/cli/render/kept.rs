//! Saved copies of edited skills: a table, and the result of restoring one.

use super::table::Table;
use super::{count, one_line, steps};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::hints::restore;
use skillpm_core::ops::kept::{KeptCopy, RestoreOutcome};
use skillpm_sources::store::Why;

pub(crate) fn list(printer: &Printer, copies: &[KeptCopy]) {
    if copies.is_empty() {
        return printer.note("no copies of edited skills are kept");
    }
    let mut table = Table::new(&["name", "id", "kept", "why", "from"]);
    for copy in copies {
        table.row([
            copy.name.as_deref().unwrap_or_default(),
            copy.id(),
            &copy.kept_at.as_deref().map(minute).unwrap_or_default(),
            copy.why.map(why).unwrap_or_default(),
            copy.from.as_deref().unwrap_or_default(),
        ]);
    }
    table.show(printer);
    for copy in copies {
        printer.detail(&format!("{} is in `{}`", copy.id(), one_line(&copy.path)));
    }
    printer.hints(&restore(copies));
}

pub(crate) fn json(printer: &Printer, copies: &[KeptCopy]) {
    printer.json(&copies);
}

pub(crate) fn restored(printer: &Printer, outcome: &RestoreOutcome) {
    let name = one_line(outcome.restored.name.as_deref().unwrap_or_default());
    if outcome.dry_run {
        return steps::plan(printer, &outcome.paths);
    }
    for kept in &outcome.kept {
        printer.note(&worded(kept));
    }
    if outcome.paths.is_empty() {
        return printer.note(&format!("there is nothing to do: `{name}` is as it was saved"));
    }
    match (&outcome.steps[..], &outcome.paths[..]) {
        ([], [path, ..]) => printer.status("+", &one_line(&path.shown)),
        _ => printer.status("~", &format!("{name} (as you had it)")),
    }
    printer.note(&format!("{} restored", count(1, "skill")));
    printer.tips(&outcome.hints());
}

/// Returns a time in RFC 3339 form as `2026-11-26 12:30`.
fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

fn why(why: Why) -> &'static str {
    match why {
        Why::Removed => "removed",
        Why::Replaced => "replaced",
        Why::TakenBack => "change taken back",
        Why::Meanwhile => "written meanwhile",
        Why::LeftOver => "left over",
        Why::Foreign => "not skillpm's",
        Why::WithToolFiles => "files of tools in it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;

    fn copies() -> Vec<KeptCopy> {
        let copy = |name: Option<&str>, why| KeptCopy {
            name: name.map(ToOwned::to_owned),
            kept_at: Some("2026-11-26T12:30:59Z".to_owned()),
            why,
            from: why.map(|_| "/p/.agents/skills/pdf".to_owned()),
            path: "/s/kept/0123".to_owned(),
            digest: format!("sha256:{}", "0123456789abcdef".repeat(4)),
        };
        let whys = [
            Why::Removed,
            Why::Replaced,
            Why::TakenBack,
            Why::Meanwhile,
            Why::LeftOver,
            Why::Foreign,
            Why::WithToolFiles,
        ];
        let mut copies: Vec<_> = whys.into_iter().map(|why| copy(Some("pdf"), Some(why))).collect();
        copies.push(KeptCopy { kept_at: None, ..copy(None, None) });
        copies
    }

    #[test]
    fn a_row_for_each_copy() {
        let (talking, out, err) = printer(Appearance::PLAIN);
        list(&talking, &copies());
        insta::assert_snapshot!(out.text(), @"
        name  id       kept              why                   from
        pdf   0123456  2026-11-26 12:30  removed               /p/.agents/skills/pdf
        pdf   0123456  2026-11-26 12:30  replaced              /p/.agents/skills/pdf
        pdf   0123456  2026-11-26 12:30  change taken back     /p/.agents/skills/pdf
        pdf   0123456  2026-11-26 12:30  written meanwhile     /p/.agents/skills/pdf
        pdf   0123456  2026-11-26 12:30  left over             /p/.agents/skills/pdf
        pdf   0123456  2026-11-26 12:30  not skillpm's         /p/.agents/skills/pdf
        pdf   0123456  2026-11-26 12:30  files of tools in it  /p/.agents/skills/pdf
        -     0123456  -                 -                     -
        ");
        assert_eq!(err.text(), "hint: `skillpm undo --restore pdf@0123456` brings the first one back\n");
        let (talking, out, err) = printer(Appearance::PLAIN);
        list(&talking, &[]);
        assert_eq!((out.text().as_str(), err.text().as_str()), ("", "no copies of edited skills are kept\n"));
    }
}
