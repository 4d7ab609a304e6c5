//! Progress on standard error: bars for a person who watches, notices otherwise.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dialoguer::console::{Term, truncate_str};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::printer::{Printer, clean};
use super::render::update::new_version;
use super::words::worded;
use skillpm_format::review::Review;
use skillpm_sources::error::Error;
use skillpm_sources::interrupt::Outcome;
use skillpm_sources::reporter::{Reporter, Requested};

/// The template of a download's progress, and its width in columns next to the name.
type Form = (&'static str, usize);

const WITH_TOTAL: Form = ("{msg} [{bar:12}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left", 62);
const WITHOUT_TOTAL: Form = ("{msg} {bytes} {bytes_per_sec}", 26);
/// The template if there is no room for more.
const SHORT: Form = ("{msg} {bytes}", 12);
/// The smallest width of a name.
const NAME: usize = 16;

/// Draws bars and prints notices.
pub(crate) struct Progress {
    printer: Arc<Printer>,
    bar: Mutex<Option<ProgressBar>>,
    told_of_lock: AtomicBool,
    warned: Mutex<BTreeSet<String>>,
}

impl Progress {
    pub(crate) fn new(printer: Arc<Printer>) -> Self {
        Self {
            printer,
            bar: Mutex::new(None),
            told_of_lock: AtomicBool::new(false),
            warned: Mutex::default(),
        }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports that the user stopped the program, and the outcome.
    pub(crate) fn interrupted(&self, outcome: &Outcome) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
        // A terminal echoes the keys that stopped the program, without a line end.
        if self.printer.look().live {
            self.printer.note("");
        }
        let error = Error::from(outcome);
        if self.printer.look().json {
            return super::render::error::show(&self.printer, &error);
        }
        let told = [error.message()].into_iter().chain(error.hints()).map(worded);
        self.printer.note(&told.collect::<Vec<_>>().join("; "));
    }

    /// Prints without garbling a bar.
    fn tell(&self, print: impl FnOnce(&Printer)) {
        match &*self.bar() {
            Some(bar) => bar.suspend(|| print(&self.printer)),
            None => print(&self.printer),
        }
    }
}

impl Reporter for Progress {
    fn download_started(&self, what: &str, total: Option<u64>) {
        let look = self.printer.look();
        if look.live && !look.quiet {
            *self.bar() = Some(bar(what, total));
        }
    }

    fn download_progressed(&self, bytes: u64) {
        if let Some(bar) = &*self.bar() {
            bar.inc(bytes);
        }
    }

    fn download_finished(&self) {
        if let Some(bar) = self.bar().take() {
            bar.finish_and_clear();
        }
    }

    fn retrying(&self, why: &str, seconds: u64, tried: u32, most: u32) {
        self.tell(|printer| printer.note(&format!("{why}; retrying in {seconds} s ({tried} of {most})")));
    }

    fn requested(&self, request: &Requested<'_>) {
        let Requested { method, address, outcome, took } = request;
        let took = took.map(|took| format!(" in {} ms", took.as_millis())).unwrap_or_default();
        self.tell(|printer| printer.detail(&format!("{method} {address}: {outcome}{took}")));
    }

    fn waiting_for_lock(&self, dir: &Path) {
        if !self.told_of_lock.swap(true, Ordering::Relaxed) {
            let dir = dir.display();
            self.tell(|printer| printer.note(&format!("waiting for another skillpm process in `{dir}`")));
        }
    }

    fn warning(&self, text: &str) {
        if self.warned.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned()) {
            self.tell(|printer| printer.warning(text));
        }
    }

    fn new_version(&self, name: &str, review: &Review, refused: bool) {
        self.tell(|printer| new_version(printer, name, review, refused));
    }

    fn detail(&self, text: &str) {
        self.tell(|printer| printer.detail(text));
    }

    fn trouble(&self, text: &str) {
        self.tell(|printer| printer.detail(text));
    }
}

fn bar(what: &str, total: Option<u64>) -> ProgressBar {
    let (bar, full) = match total {
        Some(total) => (ProgressBar::new(total), WITH_TOTAL),
        None => (ProgressBar::no_length(), WITHOUT_TOTAL),
    };
    let columns = usize::from(Term::stderr().size().1);
    let (template, room) = fitting(full, columns);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(truncate_str(&clean(what).replace('\n', " "), room, "…").into_owned());
    bar
}

/// Returns the template that fits into one line of `columns`, and the width of the name next to it.
fn fitting(full: Form, columns: usize) -> (&'static str, usize) {
    let (template, taken) = if columns >= full.1 + NAME { full } else { SHORT };
    (template, columns.saturating_sub(taken).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;

    #[test]
    fn notices_are_told_and_the_lock_only_once() {
        let (printer, out, err) = printer(Appearance::PLAIN);
        let progress = Progress::new(Arc::new(printer));
        progress.download_started("github:o/r", Some(3));
        progress.download_progressed(3);
        progress.retrying("failed to connect to `api.github.com`", 2, 1, 3);
        progress.waiting_for_lock(Path::new("p/.agents"));
        progress.waiting_for_lock(Path::new("p/.agents"));
        progress.download_finished();
        assert_eq!(out.text(), "");
        assert_eq!(
            err.text(),
            "failed to connect to `api.github.com`; retrying in 2 s (1 of 3)\n\
             waiting for another skillpm process in `p/.agents`\n"
        );
    }

    /// A line that wraps would be drawn again below itself.
    #[test]
    fn progress_takes_one_line() {
        assert_eq!(fitting(WITH_TOTAL, 80), (WITH_TOTAL.0, 18));
        assert_eq!(fitting(WITH_TOTAL, 40), (SHORT.0, 28));
        assert_eq!(fitting(WITHOUT_TOTAL, 44), (WITHOUT_TOTAL.0, 18));
        assert_eq!(fitting(WITHOUT_TOTAL, 5), (SHORT.0, 1));
    }

    #[test]
    fn requests_are_told_to_those_who_want_to_know() {
        let (printer, _, err) = printer(Appearance { verbose: true, ..Appearance::PLAIN });
        let progress = Progress::new(Arc::new(printer));
        let took = Some(std::time::Duration::from_millis(12));
        let request = Requested { method: "GET", address: "https://a.test/x?…", outcome: "200", took };
        progress.requested(&request);
        progress.requested(&Requested { outcome: "from the cache", took: None, ..request });
        assert_eq!(
            err.text(),
            "GET https://a.test/x?…: 200 in 12 ms\nGET https://a.test/x?…: from the cache\n"
        );
    }

    #[test]
    fn the_templates_are_right() {
        for (template, _) in [WITH_TOTAL, WITHOUT_TOTAL, SHORT] {
            ProgressStyle::with_template(template).unwrap();
        }
    }
}
