//! Plain files on both hosts of the server, as any web server has them.

use std::sync::Arc;

use skillpm_format::digest::Digest;

use super::server::Answer;
use super::{Forge, Recorded, State};

/// What lies at a path.
#[derive(Debug, Clone)]
pub(super) enum Lies {
    File(Arc<Vec<u8>>),
    Redirect(String),
}

/// How files are served.
#[derive(Debug, Default)]
pub(super) struct Manners {
    /// The header `Authorization` without which the first host answers 401, or with a wrong one 403.
    login: Option<String>,
    /// Neither tags nor times.
    forgetful: bool,
    /// Times in place of tags.
    dated: bool,
}

const TIME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

impl Forge {
    /// Puts a file at `path` of both hosts, in place of what was there.
    pub fn serve(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let file = Lies::File(Arc::new(bytes.as_ref().to_vec()));
        self.shared.state().files.insert(path.to_owned(), file);
        self
    }

    /// Answers requests for `path` with a redirect.
    pub fn redirect(&self, path: &str, location: &str) -> &Self {
        self.shared.state().files.insert(path.to_owned(), Lies::Redirect(location.to_owned()));
        self
    }

    /// Takes the file at `path` away.
    pub fn unserve(&self, path: &str) -> &Self {
        self.shared.state().files.remove(path);
        self
    }

    /// From now on files of the first host need this header `Authorization`.
    pub fn want_login(&self, authorization: &str) {
        self.shared.state().manners.login = Some(authorization.to_owned());
    }

    /// From now on files have no tags.
    pub fn forget_tags(&self) {
        self.shared.state().manners.forgetful = true;
    }

    /// From now on files have a time in place of a tag.
    pub fn send_dates(&self) {
        self.shared.state().manners.dated = true;
    }

    /// The address of `path` at the first host.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.api_url())
    }

    /// The address of `path` at the second host.
    pub fn other_url(&self, path: &str) -> String {
        format!("http://{}{path}", self.archive_host())
    }

    /// The paths that were asked for, in the order in which they came.
    pub fn asked(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }
}

/// The answer to a request for a file; `None` where there is none.
pub(super) fn answer(state: &State, request: &Recorded, is_first: bool) -> Option<Answer> {
    let path = request.path.split('?').next().unwrap_or_default();
    let lies = state.files.get(path)?;
    if let Some(login) = state.manners.login.as_ref().filter(|_| is_first) {
        match request.header("authorization") {
            None => return Some(Answer::json(401, "Log in")),
            Some(given) if given != login => return Some(Answer::json(403, "Not you")),
            Some(_) => {}
        }
    }
    let body = match lies {
        Lies::File(body) => Arc::clone(body),
        Lies::Redirect(to) => return Some(Answer::redirect(to.clone())),
    };
    let manners = &state.manners;
    if manners.forgetful {
        return Some(Answer { status: 200, headers: Vec::new(), body });
    }
    let (header, condition, value) = if manners.dated {
        ("last-modified", "if-modified-since", TIME.to_owned())
    } else {
        ("etag", "if-none-match", format!("\"{}\"", &Digest::of(&body).hex()[..16]))
    };
    let same = request.header(condition) == Some(&value);
    let body = if same { Arc::default() } else { body };
    Some(Answer { status: if same { 304 } else { 200 }, headers: vec![(header, value)], body })
}
