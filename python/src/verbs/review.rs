//! New capabilities: what a program of Python says to them.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use skillpm_core::ops::install::Allow;
use skillpm_format::advice::Message;
use skillpm_format::review::Review;
use skillpm_sources::reporter::{Choice, Interact, Reporter};

use super::options::{self, Options};
use crate::call::Caller;
use crate::json;

/// A function from the name of a skill and a review to yes or no.
pub(super) type Accept = Arc<Py<PyAny>>;

/// What the option `accept` says.
pub(super) struct Consent {
    /// The skills that need no review.
    pub(super) allow: Allow,
    /// Who says of all others.
    pub(super) accept: Option<Accept>,
}

impl Consent {
    pub(super) fn of(options: &Options<'_>) -> PyResult<Self> {
        let is = |allow| Ok(Self { allow, accept: None });
        let Some(value) = options.value("accept")? else { return is(Allow::None) };
        if let Ok(all) = value.cast::<PyBool>() {
            return is(if all.is_true() { Allow::All } else { Allow::None });
        }
        if value.is_callable() {
            return Ok(Self { allow: Allow::None, accept: Some(Arc::new(value.unbind())) });
        }
        is(Allow::Only(options::several(&value, "accept")?))
    }
}

/// Shows reviews to the program that called, and hears of what it should know.
pub(super) struct Reviewer {
    caller: Arc<Caller>,
    accept: Option<Accept>,
    /// The versions of which a question follows.
    refused: Mutex<Vec<(String, Review)>>,
    warnings: Mutex<Vec<Message>>,
}

impl Reviewer {
    pub(super) fn new(caller: Arc<Caller>, accept: Option<Accept>) -> Self {
        Self { caller, accept, refused: Mutex::default(), warnings: Mutex::default() }
    }

    /// Whether there is somebody to ask.
    pub(super) fn asks(&self) -> bool {
        self.accept.is_some()
    }

    /// Whether the version of `name` is accepted whose capabilities `review` lists; `None` if nobody can say.
    pub(super) fn accepts(&self, name: &str, review: &Review) -> Option<bool> {
        let accept = Arc::clone(self.accept.as_ref()?);
        let (name, review) = (name.to_owned(), serde_json::to_value(review).ok()?);
        self.caller.ask(move |py| {
            let answer = accept.bind(py).call1((name, json::to_python(py, &review)?))?;
            if let Ok(answer) = answer.extract::<bool>() {
                return Ok(answer);
            }
            let kind = answer.get_type().name()?;
            Err(PyTypeError::new_err(format!(
                "argument 'accept': it answers an object of the type `{kind}`, not `True` or `False`"
            )))
        })
    }

    /// What was to be said while the work was done, each once.
    pub(super) fn warnings(&self) -> Vec<Message> {
        let mut warnings = std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner));
        warnings.dedup();
        warnings
    }
}

impl Reporter for Reviewer {
    fn is_stopped(&self) -> bool {
        self.caller.is_stopped()
    }

    fn may_change(&self) -> bool {
        self.caller.may_change()
    }

    fn warning(&self, text: &str) {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
    }

    fn new_version(&self, name: &str, review: &Review, refused: bool) {
        if refused {
            let version = (name.to_owned(), review.clone());
            self.refused.lock().unwrap_or_else(PoisonError::into_inner).push(version);
        }
    }
}

impl Interact for Reviewer {
    fn choose(&self, _question: &str, _items: &[Choice]) -> Option<Vec<usize>> {
        None
    }

    /// Accepts all versions of which the question is, or none.
    fn confirm(&self, _question: &str) -> Option<bool> {
        let refused = std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner));
        if refused.is_empty() {
            return None;
        }
        for (name, review) in &refused {
            if !self.accepts(name, review)? {
                return Some(false);
            }
        }
        Some(true)
    }
}
