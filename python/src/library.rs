//! The skills of some sources.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use skillpm::engine::catalog::{CatalogForm, Field, Options, UnknownWord};
use skillpm::engine::{self, Activated, Arguments, Form, Source, SourceKind, sources_of};
use skillpm::install::scope::{Scope, ScopeKind};
use skillpm::ops::audit::{Activations, not_written};
use skillpm::ops::catalog::{Disabled, disabled};
use skillpm::policy::{Duplicates, Freshness, Policy};
use skillpm::settings::Settings;

use crate::call;
use crate::diagnostic::Diagnostic;
use crate::errors;
use crate::given::{self, Given};
use crate::metadata::SkillMetadata;
use crate::running;
use crate::script::Script;
use crate::skill::{self, Skill};
use crate::surroundings;
use crate::words::worded;

/// What `SkillManager` asks. It can be shared between threads.
#[pyclass(frozen, module = "skillpm._native")]
pub(crate) struct Library {
    pub(crate) engine: Arc<engine::Library>,
    pub(crate) settings: Settings,
    activations: Activations,
    places: Places,
}

/// Which of the places of a preset are looked at.
struct Places {
    project: bool,
    user: bool,
}

impl Places {
    fn has(&self, source: &Source) -> bool {
        match source.kind {
            SourceKind::Project => self.project,
            SourceKind::User => self.user || self.project && source.is_of(SourceKind::Project),
            SourceKind::Extra | SourceKind::Bundled => true,
        }
    }

    /// The scopes whose manifests have a say. Without a home the user has none.
    fn scopes(&self, settings: &Settings) -> Vec<Scope> {
        let wanted = [(self.project, ScopeKind::Project), (self.user, ScopeKind::User)];
        let wanted = wanted.into_iter().filter_map(|(is_wanted, kind)| is_wanted.then_some(kind));
        wanted.filter_map(|kind| Scope::new(settings, kind).ok()).collect()
    }
}

#[pymethods]
impl Library {
    #[new]
    #[pyo3(signature = (sources, *, project, root=None, user, preset, freshness=None, on_duplicate=None,
        max_depth=None, strict_sources=None, scripts, ask=None, audit=true))]
    #[expect(clippy::too_many_arguments, reason = "each is a question of its own")]
    fn new(
        py: Python<'_>,
        sources: Given<Vec<(Option<String>, PathBuf)>>,
        project: bool,
        root: Option<Given<PathBuf>>,
        user: bool,
        preset: Given<String>,
        freshness: Option<&Bound<'_, PyAny>>,
        on_duplicate: Option<Given<String>>,
        max_depth: Option<&Bound<'_, PyAny>>,
        strict_sources: Option<bool>,
        scripts: &Bound<'_, PyAny>,
        ask: Option<&Bound<'_, PyAny>>,
        audit: bool,
    ) -> PyResult<Self> {
        let mut policy = preset.parse::<Policy>().map_err(|_| {
            let names: Vec<_> = Policy::PRESETS.iter().map(|(name, _)| format!("`{name}`")).collect();
            errors::choice(py, "preset", &format!("one of {}", names.join(", ")), &preset)
        })?;
        if let Some(freshness) = freshness {
            policy.freshness = fresh(freshness).map_err(|error| given::told(py, error))?;
        }
        if let Some(which) = on_duplicate {
            policy.duplicates = match which.as_str() {
                "first" => Duplicates::First,
                "last" => Duplicates::Last,
                "error" => Duplicates::Error,
                _ => return Err(errors::choice(py, "on_duplicate", "`first`, `last` or `error`", &which)),
            };
        }
        if let Some(depth) = max_depth {
            policy.depth = errors::number(depth, "max_depth")?;
        }
        // Both are asked for when a script runs; what makes no sense is told where it is given.
        running::scripts(scripts)?;
        if let Some(ask) = ask.filter(|ask| !ask.is_callable()) {
            return Err(errors::choice_of("ask", "a function from a question to yes or no", ask));
        }
        policy.strict_sources = strict_sources.unwrap_or(policy.strict_sources);
        let places = Places { project, user };
        call::run(py, || {
            let mut settings = surroundings::settings(root.map(|root| root.0))?;
            if !audit {
                settings.audit.file = None;
            }
            let found = sources_of(&settings, &policy)?;
            let mut all: Vec<Source> = found.into_iter().filter(|source| places.has(source)).collect();
            for (name, dir) in sources.0 {
                // Whoever names a directory means the one that the process sees under that name.
                let mut source = Source::new(SourceKind::Extra, settings.env.cwd.join(dir));
                if let Some(name) = name {
                    source.name = name.into();
                }
                all.push(source);
            }
            let engine = Arc::new(engine::Library::new(all, policy));
            Ok(Self { engine, activations: Activations::new(&settings), settings, places })
        })
    }

    /// Where skills are looked for: names and directories.
    fn sources(&self) -> Vec<(String, PathBuf)> {
        self.engine.sources().iter().map(|source| (source.name.to_string(), source.dir.clone())).collect()
    }

    fn skills(&self, py: Python<'_>) -> PyResult<Vec<SkillMetadata>> {
        let snapshot = call::run(py, || Ok(self.engine.snapshot()?))?;
        Ok(snapshot.skills().iter().map(SkillMetadata::from).collect())
    }

    fn shadowed(&self, py: Python<'_>) -> PyResult<Vec<SkillMetadata>> {
        let snapshot = call::run(py, || Ok(self.engine.snapshot()?))?;
        Ok(snapshot.shadowed().iter().map(SkillMetadata::from).collect())
    }

    fn diagnostics(&self, py: Python<'_>) -> PyResult<Vec<Diagnostic>> {
        call::run(py, || {
            Ok(self.engine.snapshot()?.told().iter().map(|told| Diagnostic::from(&**told)).collect())
        })
    }

    fn get(&self, py: Python<'_>, name: Given<String>) -> PyResult<SkillMetadata> {
        call::run(py, || Ok(SkillMetadata::from(&self.engine.get(&name)?)))
    }

    fn load(&self, py: Python<'_>, name: Given<String>) -> PyResult<(Skill, Option<String>)> {
        call::run(py, || skill::load(&self.engine, &name))
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
        let began = Instant::now();
        let form: Form = form.parse().map_err(|_| {
            let names = Form::NAMES.map(|(name, _)| format!("`{name}`")).join(", ");
            errors::choice(py, "form", &format!("one of {names}"), &form)
        })?;
        call::run(py, || {
            let split = Arguments::new(arguments.as_str());
            let Activated { skill, activation, unlisted } = self.engine.activate(&name, &split, form)?;
            let text = activation.render(form);
            let mut problems: Vec<_> =
                unlisted.map(|problem| skill::no_files(&name, &problem)).into_iter().collect();
            if record {
                let given = [OsString::from(arguments.0)];
                let given = if given[0].is_empty() { &[][..] } else { &given };
                let session = session.as_ref().map(|session| session.as_str());
                let written = self.activations.write(&skill, given, began.elapsed(), session);
                problems.extend(written.err().map(|error| not_written(&error)));
            }
            Ok((text, problems))
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
            let (_, content) = self.engine.read_file(&name, &file, max)?;
            Ok(content.into())
        })
    }

    /// The catalog, the names of the skills whose descriptions were shortened, and what else is to be said.
    #[pyo3(signature = (form, *, fields, tags, hidden, budget))]
    fn catalog(
        &self,
        py: Python<'_>,
        form: Given<String>,
        fields: Given<Vec<String>>,
        tags: Given<Vec<String>>,
        hidden: bool,
        budget: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Vec<String>, Vec<String>)> {
        let budget = budget.map(|budget| errors::number(budget, "budget")).transpose()?;
        let unknown = |error: UnknownWord| errors::unknown(py, &error.to_string());
        let form = form.parse::<CatalogForm>().map_err(unknown)?;
        let fields: Vec<Field> =
            fields.iter().map(|field| field.parse()).collect::<Result<_, _>>().map_err(unknown)?;
        call::run(py, || {
            let Disabled { names: disabled, warnings } =
                disabled(&self.settings, &self.places.scopes(&self.settings));
            let tags = tags.0;
            let options = Options { form, fields, tags, hidden, disabled, budget, ..Options::default() };
            let catalog = self.engine.catalog(&options)?;
            let cut = catalog.cut.iter().map(|cut| cut.name.clone()).collect();
            let warnings = warnings.iter().map(|warning| worded(&warning.message)).collect();
            Ok((catalog.text().into_owned(), cut, warnings))
        })
    }

    fn tools(&self, py: Python<'_>, name: Given<String>) -> PyResult<(Vec<Script>, Vec<String>)> {
        call::run(py, || crate::script::of(&self.engine, &name))
    }

    fn invalidate(&self, py: Python<'_>) -> PyResult<()> {
        call::run(py, || {
            self.engine.invalidate();
            Ok(())
        })
    }
}

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
