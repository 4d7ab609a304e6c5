//! Scripts that run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use skillpm_core::engine::run::{Ended, Exit, Mode, Ran, Watch};
use skillpm_core::ops::run::{CallRequest, RunLocation, RunRequest};
use skillpm_core::toolkit::Call;
use skillpm_format::admission::Scripts;
use skillpm_format::digest::Digest;
use skillpm_sources::reporter::{Choice, Interact, Silent};

use crate::call;
use crate::given::Given;
use crate::library::Library;
use crate::result::ScriptResult;
use crate::words::worded_all;
use crate::{errors, json, surroundings};

/// Ends a script that runs in another thread.
#[pyclass(frozen, module = "skillpm._native")]
pub(crate) struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// How a script runs.
#[expect(clippy::struct_excessive_bools, reason = "each is a keyword of its own")]
pub(crate) struct RunOptions {
    /// What holds where no policy has a say.
    scripts: Scripts,
    trusted: bool,
    allow_modified: bool,
    pub(crate) timeout: Option<f64>,
    pub(crate) cwd: Option<PathBuf>,
    env: BTreeMap<OsString, OsString>,
    sandbox: String,
    network: bool,
    unix_sockets: bool,
    max_output: u64,
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    memory: Option<u64>,
    processes: Option<u64>,
    cpu_time: Option<f64>,
    file_size: Option<u64>,
    interpreters: BTreeMap<String, PathBuf>,
}

impl<'py> FromPyObject<'_, 'py> for RunOptions {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self {
            scripts: scripts(&value.get_item("scripts")?)?,
            trusted: item(value, "trusted")?,
            allow_modified: item(value, "allow_modified")?,
            timeout: item(value, "timeout")?,
            cwd: item(value, "cwd")?,
            env: item(value, "env")?,
            sandbox: item(value, "sandbox")?,
            network: item(value, "network")?,
            unix_sockets: item(value, "unix_sockets")?,
            max_output: errors::number(&value.get_item("max_output")?, "max_output")?,
            read: item(value, "read")?,
            write: item(value, "write")?,
            memory: limit(value, "memory")?,
            processes: limit(value, "processes")?,
            cpu_time: item(value, "cpu_time")?,
            file_size: limit(value, "file_size")?,
            interpreters: item(value, "interpreters")?,
        })
    }
}

/// What is called `name` in `how`. Whoever gave it another type knows it as an argument.
fn item<T: for<'a, 'b> FromPyObject<'a, 'b>>(how: Borrowed<'_, '_, PyAny>, name: &str) -> PyResult<T> {
    let value = how.get_item(name)?;
    value.extract::<T>().map_err(|error| errors::named(value.py(), name, &error.into()))
}

/// The number that is called `name` in `how`, if there is one.
fn limit(how: Borrowed<'_, '_, PyAny>, name: &str) -> PyResult<Option<u64>> {
    let value = how.get_item(name)?;
    if value.is_none() { Ok(None) } else { errors::number(&value, name).map(Some) }
}

/// What `scripts` says of who may run scripts.
pub(crate) fn scripts(value: &Bound<'_, PyAny>) -> PyResult<Scripts> {
    match value.extract::<Given<String>>().as_ref().map(|text| text.as_str()) {
        Ok("allow") => Ok(Scripts::Allow),
        Ok("ask") => Ok(Scripts::Ask),
        Ok("deny") => Ok(Scripts::Deny),
        _ => Err(errors::choice_of("scripts", "`allow`, `ask` or `deny`", value)),
    }
}

/// Runs a script. `ask` is called with a question and answers yes or no.
#[pyfunction]
#[pyo3(signature = (library, name, script, arguments, how, *, ask=None, stop=None))]
#[expect(clippy::too_many_arguments, reason = "each is a question of its own")]
pub(crate) fn run(
    py: Python<'_>,
    library: &Bound<'_, Library>,
    name: Given<String>,
    script: Given<String>,
    arguments: &Bound<'_, PyAny>,
    how: Given<RunOptions>,
    ask: Option<Py<PyAny>>,
    stop: Option<&Stop>,
) -> PyResult<(ScriptResult, Vec<String>)> {
    let (library, name, script) = (library.get(), name.0, script.0);
    let arguments = json::arguments(arguments)?;
    let mut how = how.0;
    let cwd = how.cwd.take();
    let timeout = timeout(py, how.timeout)?;
    let request = request(py, &name, &script, how)?;
    let raised: Raised = Arc::default();
    let mut watch = Watched::new(stop, &raised);
    let interact = Asking::with(ask, &raised, None);
    let done = call::run(py, || {
        let mut request = request;
        request.cwd = RunLocation::Dir(surroundings::below_here(cwd)?);
        let call = CallRequest { request, arguments, timeout };
        let outcome = library.session.call(&call, interact, &mut watch)?;
        Ok((outcome.ran, worded_all(&outcome.warnings)))
    });
    // What a callback raised, or a signal, comes before what followed from it.
    if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    let (ran, warnings) = done?;
    let ran = ran.success().map_err(|error| errors::of_script(py, error.ran(), &error.to_string()))?;
    Ok((ScriptResult::of(ran), warnings))
}

/// How long a script may take; `None` where nothing was said of it.
pub(crate) fn timeout(py: Python<'_>, given: Option<f64>) -> PyResult<Option<Duration>> {
    seconds(py, "timeout", given)
}

/// The time that `argument` gives; `None` where nothing was said of it.
fn seconds(py: Python<'_>, argument: &str, given: Option<f64>) -> PyResult<Option<Duration>> {
    let Some(given) = given else { return Ok(None) };
    match Duration::try_from_secs_f64(given) {
        Ok(time) if !time.is_zero() => Ok(Some(time)),
        _ => Err(errors::choice(py, argument, "a number of seconds above 0", &given.to_string())),
    }
}

pub(crate) fn request(py: Python<'_>, name: &str, script: &str, how: RunOptions) -> PyResult<RunRequest> {
    let mut request = RunRequest::new(name, script);
    request.default_decision = how.scripts;
    request.options.sandbox = match how.sandbox.as_str() {
        "auto" => Mode::Auto,
        "require" => Mode::Require,
        "off" => Mode::Off,
        other => return Err(errors::choice(py, "sandbox", "`auto`, `require` or `off`", other)),
    };
    let limits = &mut request.options.limits;
    limits.output = how.max_output;
    limits.processes = how.processes.unwrap_or(limits.processes);
    limits.file_size = how.file_size.or(limits.file_size);
    limits.memory = how.memory;
    limits.cpu = seconds(py, "cpu_time", how.cpu_time)?;
    (request.options.read, request.options.write) = (how.read, how.write);
    let interpreters = how.interpreters.into_iter();
    request.options.interpreters = interpreters.map(|(language, path)| (language, path.into())).collect();
    (request.trusted_by_host, request.allow_modified) = (how.trusted, how.allow_modified);
    request.options.no_network = !how.network;
    request.options.unix_sockets = how.unix_sockets;
    request.env = how
        .env
        .into_iter()
        .map(|(mut variable, value)| {
            // Behind the first equals sign begins the value: another variable would be set.
            if variable.as_encoded_bytes().contains(&b'=') {
                let name = variable.display();
                return Err(errors::unknown(py, &format!("`{name}` in `env` is not the name of a variable")));
            }
            variable.push("=");
            variable.push(value);
            Ok(variable)
        })
        .collect::<PyResult<_>>()?;
    Ok(request)
}

/// The code with which a script ended by itself.
pub(crate) fn exit_code(ran: &Ran) -> Option<i32> {
    match ran.exit {
        Exit::Code(code) if ran.ended.is_none() => Some(code),
        Exit::Code(_) | Exit::Signal(_) | Exit::Unknown => None,
    }
}

/// The signal that ended it.
pub(crate) fn signal(ran: &Ran) -> Option<i32> {
    match ran.exit {
        Exit::Signal(signal) => Some(signal),
        Exit::Code(_) | Exit::Unknown => None,
    }
}

/// How it ended, for programs.
pub(crate) fn code(ran: &Ran) -> &'static str {
    match ran.ended {
        None => "script-failed",
        Some(Ended::Timeout) => "script-timeout",
        Some(Ended::Processes) => "script-processes",
        Some(Ended::Stopped) => "script-stopped",
    }
}

/// What a callback raised, or a signal.
pub(crate) type Raised = Arc<Mutex<Option<PyErr>>>;

/// Ends a script when somebody wants that, or when Python got a signal.
pub(crate) struct Watched {
    stop: Arc<AtomicBool>,
    raised: Raised,
}

impl Watched {
    pub(crate) fn new(stop: Option<&Stop>, raised: &Raised) -> Self {
        Self { stop: stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default(), raised: Arc::clone(raised) }
    }
}

impl Watch for Watched {
    fn hears(&self) -> bool {
        false
    }

    fn is_stopped(&mut self) -> bool {
        if self.stop.load(Ordering::SeqCst) {
            return true;
        }
        let Err(error) = call::check_signals() else { return false };
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        true
    }
}

/// Asks a function of Python, with the question and the digest of the files that would run.
pub(crate) struct Asking {
    ask: Py<PyAny>,
    raised: Raised,
    /// What a model called, where the function does not know it.
    call: Option<Call>,
}

impl Asking {
    /// What asks `ask`; nobody, if there is none.
    pub(crate) fn with(ask: Option<Py<PyAny>>, raised: &Raised, call: Option<Call>) -> Arc<dyn Interact> {
        match ask {
            Some(ask) => Arc::new(Self { ask, raised: Arc::clone(raised), call }),
            None => Arc::new(Silent),
        }
    }
}

impl Interact for Asking {
    fn choose(&self, _question: &str, _items: &[Choice]) -> Option<Vec<usize>> {
        None
    }

    fn confirm_run(&self, question: &str, files: &Digest) -> Option<bool> {
        let files = files.to_string();
        let answer = Python::attach(|py| {
            let answer = match &self.call {
                Some(call) => {
                    let arguments = json::to_python(py, &call.arguments)?;
                    self.ask.call1(py, (question, files, &call.skill, &call.script, arguments))
                }
                None => self.ask.call1(py, (question, files)),
            };
            answer?.extract::<bool>(py)
        });
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                Some(false)
            }
        }
    }
}
