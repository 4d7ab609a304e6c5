//! Exceptions. Their classes are written in Python, `skillpm/errors.py`.

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use skillpm_core::engine::load::Unusable;
use skillpm_core::engine::resources::Unreadable;
use skillpm_core::engine::run::Ran;
use skillpm_core::engine::tools::ToolSet;
use skillpm_core::engine::{self, LookupError, NotFound};
use skillpm_core::session::SessionError;
use skillpm_core::session::WrongManifest;
use skillpm_format::codes;
use skillpm_sources::error::{Error, ErrorKind, HintData};
use skillpm_sources::fs::BeneathError;

use crate::words;
use crate::{given, json, running};

/// The module with the classes.
const MODULE: &str = "skillpm.errors";

/// An exception of the class `class`, with what else is known as keyword arguments.
pub(crate) struct Raise<'py> {
    class: &'static str,
    message: String,
    known: Bound<'py, PyDict>,
}

impl<'py> Raise<'py> {
    pub(crate) fn new(py: Python<'py>, class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), known: PyDict::new(py) }
    }

    /// An exception with the text and the hints of `error`.
    fn of(py: Python<'py>, class: &'static str, error: &Error) -> Self {
        Self::worded(py, class, error, &words::Python::default())
    }

    /// The same in the words of `wording`.
    fn worded(py: Python<'py>, class: &'static str, error: &Error, wording: &words::Python) -> Self {
        let hints: Vec<_> = error.hints().iter().map(|hint| HintData::new(hint, wording)).collect();
        // Plain data always serializes.
        let hints = serde_json::to_value(hints).unwrap_or_default();
        let raise = Self::new(py, class, error.with_causes().worded(wording));
        match json::to_python(py, &hints) {
            Ok(hints) => raise.with("hints", hints),
            Err(_) => raise,
        }
    }

    /// Adds what is called `name`. A value that Python cannot have is left out: the message is what matters.
    pub(crate) fn with<T: IntoPyObjectExt<'py>>(self, name: &str, value: T) -> Self {
        if let Ok(value) = value.into_py_any(self.known.py()) {
            let _ = self.known.set_item(name, value);
        }
        self
    }

    /// The exception; where not even its class can be found, the reason for that.
    pub(crate) fn into_error(self) -> PyErr {
        let Self { class, message, known } = self;
        let py = known.py();
        let made = py
            .import(MODULE)
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call((message,), Some(&known)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

/// The exception for a failure of the library.
pub(crate) fn raised(py: Python<'_>, failure: SessionError) -> PyErr {
    match failure {
        SessionError::Skill(NotFound { reason: LookupError::Unknown(unknown), error }) => {
            let offered = unknown.available.iter().filter(|name| !unknown.for_people.contains(name));
            let offered: Vec<_> = offered.cloned().collect();
            Raise::of(py, "SkillNotFoundError", &error)
                .with("name", unknown.name)
                .with("available", unknown.available)
                .with("for_models", offered)
                .into_error()
        }
        SessionError::Skill(NotFound { reason: LookupError::Failed(told), error }) => {
            of_diagnostic(py, &told, &error)
        }
        SessionError::Skill(NotFound { error, .. }) | SessionError::Verb(error) => {
            of_verb(py, &error, &words::Python::default())
        }
        SessionError::File { skill, name, file, reason } => {
            let (code, path) = (reason.code(), skill.dir.join(&file));
            let class = match &reason {
                Unreadable::Refused(BeneathError::Unreadable(_)) => "StorageError",
                _ => "PathError",
            };
            let raise = Raise::of(py, class, &reason.into_error(&name, &file));
            raise.with("code", code).with("path", path.to_string_lossy()).into_error()
        }
        SessionError::Manifest { skill, set } => of_manifest(py, &skill, &set),
        SessionError::NoScript { script, error } => Raise::of(py, "PathError", &error)
            .with("code", "script-not-found")
            .with("path", script)
            .into_error(),
        SessionError::Arguments(reason) => {
            Raise::new(py, "ConfigurationError", format!("the arguments do not fit the script: {reason}"))
                .with("code", "arguments")
                .into_error()
        }
    }
}

/// The exception for a manifest of scripts, at the place of its first fault.
fn of_manifest(py: Python<'_>, skill: &engine::Skill, set: &ToolSet) -> PyErr {
    let name = &skill.meta.name;
    let Some(wrong) = WrongManifest::of(set) else {
        let message = format!("the tools of the skill `{name}` cannot be listed");
        return Raise::new(py, "SkillParseError", message).into_error();
    };
    let first = wrong.faults.first();
    Raise::of(py, "SkillParseError", &wrong.error(name))
        .with("code", "manifest")
        .with("path", wrong.file.to_string_lossy())
        .with("line", first.map(|fault| fault.at.line))
        .with("column", first.map(|fault| fault.at.column))
        .into_error()
}

/// The exception for a failure of a verb, in the words of `wording`.
pub(crate) fn of_verb(py: Python<'_>, error: &Error, wording: &words::Python) -> PyErr {
    let class = match (error.code(), error.kind()) {
        (codes::SCRIPT_NOT_PERMITTED | codes::NOT_ADMITTED | codes::NEW_CAPABILITY, _) => "PolicyError",
        (codes::FINDINGS | codes::VERSIONS_CONFLICT, ErrorKind::Findings) => "ConflictError",
        (_, ErrorKind::Findings) => "SkillParseError",
        (_, ErrorKind::Usage | ErrorKind::Config) => "ConfigurationError",
        (_, ErrorKind::Network) => "NetworkError",
        (_, ErrorKind::Integrity) => "IntegrityError",
        (_, ErrorKind::Io) => "StorageError",
    };
    let raise = Raise::worded(py, class, error, wording).with("code", error.code());
    match error.places().into_iter().next() {
        Some(place) => raise.with("path", place.file).with("line", place.line).with("column", place.column),
        None => raise,
    }
    .into_error()
}

/// The exception for a script that failed.
pub(crate) fn of_script(py: Python<'_>, ran: &Ran, message: &str) -> PyErr {
    Raise::new(py, "SkillInvocationError", message)
        .with("code", running::code(ran))
        .with("path", &ran.script)
        .with("exit_code", running::exit_code(ran))
        .with("signal", running::signal(ran))
        .with("duration", ran.duration.as_secs_f64())
        .with("stdout", ran.stdout.text())
        .with("stderr", ran.stderr.text())
        .into_error()
}

/// The exception for a skill that is there and cannot be used, or for what the policy makes an error of.
fn of_diagnostic(py: Python<'_>, told: &engine::Diagnostic, error: &Error) -> PyErr {
    let class = match told {
        engine::Diagnostic::Skill { reason: Unusable::Content(_), .. } => "SkillParseError",
        engine::Diagnostic::Skill { reason: Unusable::Unreadable(_), .. } | engine::Diagnostic::Source(_) => {
            "StorageError"
        }
        engine::Diagnostic::Skill { .. } => "PathError",
        _ => "ConfigurationError",
    };
    Raise::of(py, class, error)
        .with("code", told.code())
        .with("path", told.path().to_string_lossy())
        .with("line", told.at().map(|at| at.line))
        .with("column", told.at().map(|at| at.column))
        .into_error()
}

/// The exception for an argument that is none of the values that there are.
pub(crate) fn choice(py: Python<'_>, argument: &str, choices: &str, given: &str) -> PyErr {
    unknown(py, &format!("`{argument}` is {choices}, not `{given}`"))
}

/// The whole number `given` for `argument`.
pub(crate) fn number<'a, 'py, T: FromPyObject<'a, 'py> + Bounded>(
    given: &'a Bound<'py, PyAny>,
    argument: &str,
) -> PyResult<T> {
    given.extract::<T>().map_err(|error| {
        let (py, error) = (given.py(), error.into());
        if error.is_instance_of::<PyOverflowError>(py) {
            let choices = format!("a whole number from 0 to {}", T::LARGEST);
            return choice_of(argument, &choices, given);
        }
        named(py, argument, &error)
    })
}

/// Numbers that are not negative.
pub(crate) trait Bounded {
    /// The largest of them.
    const LARGEST: u64;
}

impl Bounded for u64 {
    const LARGEST: Self = Self::MAX;
}

impl Bounded for usize {
    const LARGEST: u64 = Self::MAX as u64;
}

/// The exception for `given`, which is none of the values that there are, whatever it is.
pub(crate) fn choice_of(argument: &str, choices: &str, given: &Bound<'_, PyAny>) -> PyErr {
    let py = given.py();
    let shown = given.str().and_then(|text| Ok(text.to_cow()?.into_owned()));
    shown.map_or_else(|error| given::told(py, error), |shown| choice(py, argument, choices, &shown))
}

/// A wrong type of `argument`, told as that of all arguments.
pub(crate) fn named(py: Python<'_>, argument: &str, error: &PyErr) -> PyErr {
    let told = given::told(py, error.clone_ref(py));
    if !told.is_instance_of::<PyTypeError>(py) {
        return told;
    }
    PyTypeError::new_err(format!("argument '{argument}': {}", told.value(py)))
}

/// The exception for an argument of which `message` says what is wrong.
pub(crate) fn unknown(py: Python<'_>, message: &str) -> PyErr {
    Raise::new(py, "ConfigurationError", message).with("code", "usage").into_error()
}

/// The exception for a text with half of a surrogate pair at `index`.
pub(crate) fn no_text(py: Python<'_>, index: usize) -> PyErr {
    let message =
        format!("a text has half of a surrogate pair at the index {index}: nothing outside of Python can");
    Raise::new(py, "ConfigurationError", message)
        .with("code", "not-text")
        .with("hint", "`text.encode(errors=\"replace\").decode()` has a question mark in its place")
        .into_error()
}

/// The exception for a panic that said `said`.
pub(crate) fn defect(py: Python<'_>, said: &str) -> PyErr {
    Raise::new(py, "InternalError", format!("internal error in skillpm: {said}"))
        .with("code", "internal")
        .with("hint", concat!("please report it: ", env!("CARGO_PKG_REPOSITORY"), "/issues"))
        .into_error()
}
