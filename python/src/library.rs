//! The skills of some sources.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use skillpm_core::engine::catalog::{CatalogForm, Field, Options, UnknownWord};
use skillpm_core::engine::{Arguments, Form};
use skillpm_core::ops::invoke::InvokeRequest;
use skillpm_core::session::{Session, SessionOptions};
use skillpm_format::profile::{Duplicates, Freshness, LoadProfile};
use skillpm_sources::context::Context;
use skillpm_sources::env::SKILLPM_AUDIT;

use crate::call;
use crate::diagnostic::Diagnostic;
use crate::errors;
use crate::given::{self, Given};
use crate::metadata::SkillMetadata;
use crate::running;
use crate::script::Script;
use crate::skill::{self, Skill};
use crate::surroundings;
use crate::words::worded_all;

/// What `SkillManager` asks. It can be shared between threads.
#[pyclass(frozen, module = "skillpm._native")]
pub(crate) struct Library {
    pub(crate) session: Arc<Session>,
}

#[pymethods]
impl Library {
    #[new]
    #[pyo3(signature = (sources, *, project, root=None, user, agent=None, profile, freshness=None, on_duplicate=None,
        max_depth=None, strict_sources=None, scripts, audit=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a question of its own")]
    fn new(
        py: Python<'_>,
        sources: Given<Vec<(Option<String>, PathBuf)>>,
        project: bool,
        root: Option<Given<PathBuf>>,
        user: bool,
        agent: Option<Given<String>>,
        profile: Given<String>,
        freshness: Option<&Bound<'_, PyAny>>,
        on_duplicate: Option<Given<String>>,
        max_depth: Option<&Bound<'_, PyAny>>,
        strict_sources: Option<bool>,
        scripts: &Bound<'_, PyAny>,
        audit: Option<bool>,
    ) -> PyResult<Self> {
        let mut profile = profile.parse::<LoadProfile>().map_err(|_| {
            let names: Vec<_> = LoadProfile::ALL.iter().map(|(name, _)| format!("`{name}`")).collect();
            errors::choice(py, "profile", &format!("one of {}", names.join(", ")), &profile)
        })?;
        profile.freshness = match freshness {
            Some(freshness) => fresh(freshness).map_err(|error| given::told(py, error))?,
            None if profile.freshness == Freshness::Stat => Freshness::Ttl(FRESH),
            None => profile.freshness,
        };
        if let Some(which) = on_duplicate {
            profile.duplicates = match which.as_str() {
                "first" => Duplicates::First,
                "last" => Duplicates::Last,
                "error" => Duplicates::Error,
                _ => return Err(errors::choice(py, "on_duplicate", "`first`, `last` or `error`", &which)),
            };
        }
        if let Some(depth) = max_depth {
            profile.depth = errors::number(depth, "max_depth")?;
        }
        // It is asked for when a script runs; what makes no sense is told where it is given.
        running::scripts(scripts)?;
        profile.strict_sources = strict_sources.unwrap_or(profile.strict_sources);
        let options = SessionOptions {
            profile,
            project,
            user,
            agent: agent.map(|agent| agent.0),
            directories: sources.0,
            paths: false,
        };
        call::run(py, || {
            let is_anywhere =
                !project && !user && options.directories.iter().all(|(_, dir)| dir.is_absolute());
            let mut settings = if is_anywhere {
                surroundings::settings_anywhere()?
            } else {
                surroundings::settings(root.map(|root| root.0))?
            };
            // A library writes into nobody's home unless somebody says so.
            if !audit.unwrap_or_else(|| settings.env.get(SKILLPM_AUDIT).is_some()) {
                settings.audit.file = None;
            }
            Ok(Self { session: Arc::new(Session::new(Context::silent(settings), options)?) })
        })
    }

    /// Where skills are looked for: names and directories.
    fn sources(&self) -> Vec<(String, PathBuf)> {
        self.session.sources().iter().map(|source| (source.name.to_string(), source.dir.clone())).collect()
    }

    fn skills(&self, py: Python<'_>) -> PyResult<Vec<SkillMetadata>> {
        let snapshot = call::run(py, || self.session.snapshot())?;
        Ok(snapshot.skills().iter().map(SkillMetadata::from).collect())
    }

    fn shadowed(&self, py: Python<'_>) -> PyResult<Vec<SkillMetadata>> {
        let snapshot = call::run(py, || self.session.snapshot())?;
        Ok(snapshot.shadowed().iter().map(SkillMetadata::from).collect())
    }

    fn diagnostics(&self, py: Python<'_>) -> PyResult<Vec<Diagnostic>> {
        call::run(py, || {
            Ok(self.session.snapshot()?.told().iter().map(|told| Diagnostic::from(&**told)).collect())
        })
    }

    fn get(&self, py: Python<'_>, name: Given<String>) -> PyResult<SkillMetadata> {
        call::run(py, || Ok(SkillMetadata::from(&self.session.find(&name)?.skill)))
    }

    fn load(&self, py: Python<'_>, name: Given<String>) -> PyResult<(Skill, Vec<String>)> {
        call::run(py, || {
            let opened = self.session.open(&name)?;
            Ok((Skill::from(&opened), worded_all(&opened.warnings)))
        })
    }

    /// What an agent gets of a skill, and what is to be said beside that. With `record` it is written into the audit
    /// log, as a part of `session`.
    #[pyo3(signature = (name, arguments, form, *, record=true, session=None))]
    fn invoke(
        &self,
        py: Python<'_>,
        name: Given<String>,
        arguments: Given<String>,
        form: Given<String>,
        record: bool,
        session: Option<Given<String>>,
    ) -> PyResult<(String, Vec<String>)> {
        let form: Form = form.parse().map_err(|_| {
            let names = Form::NAMES.map(|(name, _)| format!("`{name}`")).join(", ");
            errors::choice(py, "form", &format!("one of {names}"), &form)
        })?;
        let session = session.map(|session| session.0);
        let request = InvokeRequest {
            name: name.0,
            arguments: Arguments::new(arguments.0),
            form,
            record,
            session,
            limit: None,
        };
        call::run(py, || {
            let outcome = self.session.invoke(&request)?;
            Ok((outcome.content, worded_all(&outcome.warnings)))
        })
    }

    fn read(
        &self,
        py: Python<'_>,
        name: Given<String>,
        file: Given<String>,
        max: &Bound<'_, PyAny>,
    ) -> PyResult<skill::Content> {
        let max = errors::number(max, "max_bytes")?;
        call::run(py, || {
            let (_, content) = self.session.read(&name, &file, max)?;
            Ok(content.into())
        })
    }

    /// The catalog, and what is to be said beside that: what was cut, too.
    #[pyo3(signature = (form, *, fields, tags, hidden, budget))]
    fn catalog(
        &self,
        py: Python<'_>,
        form: Given<String>,
        fields: Given<Vec<String>>,
        tags: Given<Vec<String>>,
        hidden: bool,
        budget: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Vec<String>)> {
        let budget = budget.map(|budget| errors::number(budget, "budget")).transpose()?;
        let unknown = |error: UnknownWord| errors::unknown(py, &error.to_string());
        let form = form.parse::<CatalogForm>().map_err(unknown)?;
        let fields: Vec<Field> =
            fields.iter().map(|field| field.parse()).collect::<Result<_, _>>().map_err(unknown)?;
        call::run(py, || {
            let tags = tags.0;
            let options = Options { form, fields, tags, hidden, budget, ..Options::default() };
            let (catalog, warnings) = self.session.catalog(options)?;
            Ok((catalog.text().into_owned(), worded_all(&warnings)))
        })
    }

    fn tools(&self, py: Python<'_>, name: Given<String>) -> PyResult<(Vec<Script>, Vec<String>)> {
        call::run(py, || crate::script::of(&self.session, &name))
    }

    fn invalidate(&self, py: Python<'_>) -> PyResult<()> {
        call::run(py, || {
            self.session.invalidate();
            Ok(())
        })
    }
}

/// How long a search counts unless somebody says otherwise: an agent asks many things in a row.
const FRESH: Duration = Duration::from_secs(1);

/// `stat`, `session`, or seconds.
fn fresh(value: &Bound<'_, PyAny>) -> PyResult<Freshness> {
    const CHOICES: &str = "`stat`, `session` or a number of seconds that is not negative";
    if let Ok(seconds) = value.extract::<f64>()
        && let Ok(time) = Duration::try_from_secs_f64(seconds)
    {
        return Ok(Freshness::Ttl(time));
    }
    match value.extract::<String>().as_deref() {
        Ok("stat") => Ok(Freshness::Stat),
        Ok("session") => Ok(Freshness::Session),
        _ => Err(errors::choice_of("freshness", CHOICES, value)),
    }
}
