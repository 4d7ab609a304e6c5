//! `cache`.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::cache::{
    CleanRequest, DEFAULT_AGE, PruneRequest, VerifyOutcome, VerifyRequest, clean, places, prune, verify,
};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("cache",
    "skillpm cache dir                        where the store and the downloads are"
    "skillpm cache prune --older-than 7d      remove what has not been used for a week"
    "skillpm cache verify --fix               delete what is damaged"
    "skillpm cache clean --dry-run            how much space the downloads take"
);

// Arguments of `cache`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CacheArgs {
    /// The action.
    #[command(subcommand)]
    action: Action,
}

// The actions.
#[derive(Debug, Clone, Subcommand)]
enum Action {
    /// show where the store and the downloads are, and their size
    Dir {
        /// print the outcome as JSON
        #[arg(long)]
        json: bool,
    },

    /// remove what has not been used for a while
    ///
    /// what your lockfile or this project's names stays
    Prune {
        /// unused for this long, such as `7d`, `12h` or `4w` [default: 30d]
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Option<Duration>,

        /// How it is done.
        #[command(flatten)]
        how: CacheFlags,
    },

    /// check all of the store and the downloaded archives
    Verify {
        /// delete what is damaged; it is fetched again when needed
        #[arg(long)]
        fix: bool,

        /// How it is done.
        #[command(flatten)]
        how: CacheFlags,
    },

    /// remove all downloads
    Clean {
        /// the store too; restoring will need the sources again
        #[arg(long)]
        store: bool,

        /// How it is done.
        #[command(flatten)]
        how: CacheFlags,
    },
}

/// The flags of removals.
#[derive(Debug, Clone, Args)]
struct CacheFlags {
    /// show what would be removed, do nothing
    #[arg(long)]
    dry_run: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &CacheArgs) -> Result<u8> {
    let (printer, context) = (&app.printer, &app.context);
    match &args.action {
        Action::Dir { json } => {
            let places = places(context)?;
            if *json { printer.json(&places) } else { render::cache::places(printer, &places) }
        }
        Action::Prune { older_than, how } => {
            let older_than = older_than.unwrap_or(DEFAULT_AGE);
            let outcome = prune(context, &PruneRequest { older_than, dry_run: how.dry_run })?;
            render::cache::removed(printer, &outcome, how.json);
        }
        Action::Clean { store, how } => {
            let outcome = clean(context, &CleanRequest { store: *store, dry_run: how.dry_run })?;
            render::cache::removed(printer, &outcome, how.json);
        }
        Action::Verify { fix, how } => {
            let outcome = verify(context, &VerifyRequest { fix: *fix, dry_run: how.dry_run })?;
            if how.json {
                printer.json(&outcome);
            } else {
                render::cache::verified(printer, &outcome, *fix);
            }
            return Ok(verified(&outcome));
        }
    }
    Ok(exit::SUCCESS)
}

/// Returns the exit code: damage that was not removed is a failure.
fn verified(outcome: &VerifyOutcome) -> u8 {
    if outcome.damaged.iter().all(|damaged| damaged.removed) { exit::SUCCESS } else { exit::INTEGRITY }
}

/// Parses a duration such as `7d`.
fn age(text: &str) -> std::result::Result<Duration, &'static str> {
    const EXPECTED: &str = "expected a number and `m`, `h`, `d` or `w`, such as `30d`";
    let unit = text.chars().last().ok_or(EXPECTED)?;
    let seconds: u64 = match unit {
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return Err(EXPECTED),
    };
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| EXPECTED)?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or(EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        let seconds = |text| age(text).map(|age| age.as_secs());
        assert_eq!(seconds("0d"), Ok(0));
        assert_eq!(seconds("90m"), Ok(5400));
        assert_eq!(seconds("12h"), Ok(43200));
        assert_eq!(seconds("30d"), Ok(DEFAULT_AGE.as_secs()));
        assert_eq!(seconds("2w"), Ok(14 * 86400));
        for wrong in ["", "d", "30", "-1d", "1.5d", "30é", "99999999999999999999d", "18446744073709551615w"]
        {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
