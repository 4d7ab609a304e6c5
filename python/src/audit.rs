//! What is written down of skills that agents load.

use std::time::Duration;

use pyo3::prelude::*;
use skillpm::trust::AuditLog;
use skillpm::trust::audit::{Event, Subject};

use crate::call;
use crate::given::Given;
use crate::library::Library;

/// Writes down that an agent loaded the skill `name`, in `seconds`. Returns what is to be said where it could not
/// be written, which is no failure.
#[pyfunction]
#[pyo3(signature = (library, name, seconds, *, session=None))]
pub(crate) fn record_load(
    py: Python<'_>,
    library: &Library,
    name: Given<String>,
    seconds: f64,
    session: Option<Given<String>>,
) -> PyResult<Option<String>> {
    call::run(py, || {
        let mut log = AuditLog::new(&library.settings);
        log.session = session.map_or(log.session, |session| session.0);
        let skill = library.engine.get(&name)?;
        let source = Some(skill.dir.display().to_string());
        let subject = Subject { skill: skill.meta.name.clone(), source, ..Subject::default() };
        let duration = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let written = log.write(&subject, &Event::Activation { arguments: &[], duration });
        Ok(written.err().map(|error| format!("the audit log was not written: {error}")))
    })
}
