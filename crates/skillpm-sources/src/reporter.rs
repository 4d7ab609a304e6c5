//! Reports and questions of verbs at work.
//!
//! Verbs print nothing. A front end hands them a [`Reporter`], which may draw bars, and an [`Interact`], which may ask a
//! person; the silent ones here suit libraries and tests.

use std::path::Path;
use std::time::Duration;

use crate::advice::Message;
use crate::digest::Digest;
use crate::review::Review;

/// Hears how the work goes on. Calls come from the threads that do the work, of one download at a time.
pub trait Reporter: Send + Sync {
    /// A download of `what` begins; `total` is its size in bytes, where the server states it.
    fn download_started(&self, what: &str, total: Option<u64>) {
        let _ = (what, total);
    }

    /// `bytes` more have come.
    fn download_progressed(&self, bytes: u64) {
        let _ = bytes;
    }

    /// The download is over, well or not.
    fn download_finished(&self) {}

    /// A request failed in a way that may pass, for the reason `why`, and is tried again after `seconds`: for the
    /// time `tried` of at most `most`.
    fn retrying(&self, why: &str, seconds: u64, tried: u32, most: u32) {
        let _ = (why, seconds, tried, most);
    }

    /// Another machine was asked, or did not have to be.
    fn requested(&self, request: &Requested<'_>) {
        let _ = request;
    }

    /// Another process works in the scope whose directory is `dir`; this one waits for it.
    fn waiting_for_lock(&self, dir: &Path) {
        let _ = dir;
    }

    /// Something failed that the work does not depend on: for anyone who looks for the reason.
    fn trouble(&self, text: &str) {
        let _ = text;
    }

    /// A problem that the user should solve, and that does not stop the work. It may be reported more than once.
    fn warning(&self, text: &str) {
        let _ = text;
    }

    /// Something that only matters to anyone who wants to know all: where a copy is, for example.
    fn detail(&self, text: &str) {
        let _ = text;
    }

    /// One step of a transaction is about to be done.
    fn step(&self, step: &str) {
        let _ = step;
    }

    /// A version of the skill `name` takes the place of another; `review` lists its new capabilities. If it is `refused`
    /// because of them, a question about them follows.
    fn new_version(&self, name: &str, review: &Review, refused: bool) {
        let _ = (name, review, refused);
    }

    /// Reports whether the caller has stopped waiting: outstanding downloads are given up.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Reports whether the change may be made that is prepared now. After a yes it is made to its end.
    fn may_change(&self) -> bool {
        true
    }
}

/// Something that a person may pick.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The title.
    pub title: String,
    /// The description.
    pub description: String,
    /// A remark: that it is installed already, for example.
    pub note: Option<String>,
    /// Whether it is picked unless the person says otherwise.
    pub picked: bool,
}

impl Choice {
    /// One that is not picked yet.
    pub fn new(title: &str, description: &str) -> Self {
        Self { title: title.to_owned(), description: description.to_owned(), note: None, picked: false }
    }
}

/// A request to another machine, and its result.
#[derive(Debug, Clone, Copy)]
pub struct Requested<'a> {
    /// `GET`, or what git did.
    pub method: &'a str,
    /// The address, without names, passwords and queries.
    pub address: &'a str,
    /// A status, or a word in its place.
    pub outcome: &'a str,
    /// How long it took; `None` if no request was made.
    pub took: Option<Duration>,
}

/// Asks a person.
pub trait Interact: Send + Sync {
    /// Lets a person pick from `items` and returns their indices, or `None` if no person can be asked. An empty answer means
    /// that the person wants none.
    fn choose(&self, question: &str, items: &[Choice]) -> Option<Vec<usize>>;

    /// Lets a person type a line; an empty one means `default`. `None` if no person can be asked.
    fn input(&self, question: &str, default: &str) -> Option<String> {
        let _ = (question, default);
        None
    }

    /// Lets a person type a secret, which is not shown. `None` if no person can be asked.
    fn secret(&self, question: &str) -> Option<String> {
        let _ = question;
        None
    }

    /// Asks a person whether to go on; `None` if no person can be asked.
    fn confirm(&self, question: &str) -> Option<bool> {
        let _ = question;
        None
    }

    /// Asks a person whether a script of a skill may run; `None` if no person can be asked. `files` is the digest of exactly
    /// the files that would run: a stored answer must not count for others.
    fn confirm_run(&self, question: &str, files: &Digest) -> Option<bool> {
        let _ = files;
        self.confirm(question)
    }

    /// Says why an answer will not do, before the question is put again.
    fn refuse(&self, reason: &Message) {
        let _ = reason;
    }
}

/// Neither reports nor asks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Reporter for Silent {}

impl Interact for Silent {
    fn choose(&self, _question: &str, _items: &[Choice]) -> Option<Vec<usize>> {
        None
    }
}
