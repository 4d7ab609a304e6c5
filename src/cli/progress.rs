//! Progress on standard error: bars for a person who watches, notices for everybody.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::printer::{Printer, clean};
use crate::reporter::Reporter;

const WITH_TOTAL: &str = "{msg} [{bar:24}] {bytes}/{total_bytes} {bytes_per_sec}, {eta} left";
const WITHOUT_TOTAL: &str = "{msg} {bytes} {bytes_per_sec}";

/// Draws bars and prints notices.
pub(crate) struct Progress {
    printer: Arc<Printer>,
    bar: Mutex<Option<ProgressBar>>,
    told_of_lock: AtomicBool,
}

impl Progress {
    pub(crate) fn new(printer: Arc<Printer>) -> Self {
        Self { printer, bar: Mutex::new(None), told_of_lock: AtomicBool::new(false) }
    }

    fn bar(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints without tearing a bar.
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

    fn retrying(&self, what: &str, seconds: u64) {
        let when = match seconds {
            0 => "now".to_owned(),
            1 => "in 1 second".to_owned(),
            seconds => format!("in {seconds} seconds"),
        };
        self.tell(|printer| printer.note(&format!("{what}: retrying {when}")));
    }

    fn waiting_for_lock(&self, dir: &Path) {
        if !self.told_of_lock.swap(true, Ordering::Relaxed) {
            let dir = dir.display();
            self.tell(|printer| printer.note(&format!("waiting for another skillpm process in `{dir}`")));
        }
    }

    fn step(&self, step: &str) {
        self.tell(|printer| printer.detail(step));
    }

    fn trouble(&self, text: &str) {
        self.tell(|printer| printer.detail(text));
    }
}

fn bar(what: &str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), WITH_TOTAL),
        None => (ProgressBar::no_length(), WITHOUT_TOTAL),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(clean(what).replace('\n', " "));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::look::Look;
    use crate::cli::printer::testing::printer;

    #[test]
    fn notices_are_told_and_the_lock_only_once() {
        let (printer, out, err) = printer(Look::PLAIN);
        let progress = Progress::new(Arc::new(printer));
        progress.download_started("github:o/r", Some(3));
        progress.download_progressed(3);
        progress.retrying("api.github.com", 2);
        progress.waiting_for_lock(Path::new("p/.agents"));
        progress.waiting_for_lock(Path::new("p/.agents"));
        progress.step("put pdf");
        progress.download_finished();
        assert_eq!(out.text(), "");
        assert_eq!(
            err.text(),
            "api.github.com: retrying in 2 seconds\n\
             waiting for another skillpm process in `p/.agents`\n"
        );
    }

    #[test]
    fn the_templates_are_right() {
        for template in [WITH_TOTAL, WITHOUT_TOTAL] {
            ProgressStyle::with_template(template).unwrap();
        }
    }
}
