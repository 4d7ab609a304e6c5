//! The tools by which an agent uses skills.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use skillpm_core::engine::catalog::{CatalogForm, Field, Options, UnknownWord, catalog};
use skillpm_core::ops::run::RunLocation;
use skillpm_core::session::provenance::LockedOrigin;
use skillpm_core::toolkit::{Answer, Definition, Loaded, SEARCH, Selection, Toolkit, View};
use skillpm_format::advice::Warning;

use crate::given::Given;
use crate::library::Library;
use crate::metadata::SkillMetadata;
use crate::running::{Asking, RunOptions, Stop, Watched, request, timeout};
use crate::words::{self, worded};
use crate::{call, errors, json, surroundings};

/// The tools for the skills of a library. It can be shared between threads.
#[pyclass(frozen, module = "skillpm._native")]
pub(crate) struct Kit {
    kit: Toolkit,
    /// What is to be said to the user.
    told: Arc<Mutex<Vec<String>>>,
    /// What the names of the tools begin with.
    prefix: String,
    /// The last catalog: each call of a model asks for it, and skills seldom change.
    last: Mutex<Option<Last>>,
}

/// A catalog, and what it was made of.
struct Last {
    view: Arc<View>,
    form: String,
    budget: Option<usize>,
    text: String,
    warning: Option<String>,
}

#[pymethods]
impl Kit {
    #[new]
    #[pyo3(signature = (library, *, names, excluded, tags, scripts, most, prefix, how))]
    #[expect(clippy::too_many_arguments, reason = "each is a question of its own")]
    fn new(
        py: Python<'_>,
        library: &Bound<'_, Library>,
        names: Given<Vec<String>>,
        excluded: Given<Vec<String>>,
        tags: Given<Vec<String>>,
        scripts: bool,
        most: &Bound<'_, PyAny>,
        prefix: Given<String>,
        how: Given<RunOptions>,
    ) -> PyResult<Self> {
        let most = errors::number::<usize>(most, "max_output")?;
        let mut how = how.0;
        let timeout = timeout(py, how.timeout)?;
        let cwd = how.cwd.take();
        let mut run = request(py, "", "", how)?;
        if let Some(cwd) = cwd {
            run.cwd = RunLocation::Dir(cwd);
        }
        let selection = Selection {
            names: names.0,
            excluded: excluded.0,
            tags: tags.0,
            no_tools: false,
            scripts,
            run,
            timeout,
            most,
        };
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let listener = Arc::clone(&told);
        let tell = move |warning: &Warning| {
            listener.lock().unwrap_or_else(PoisonError::into_inner).push(worded(&warning.message));
        };
        let session = Arc::clone(&library.get().session);
        Ok(Self {
            kit: Toolkit::new(session, selection, &USUAL, tell),
            told,
            prefix: prefix.0,
            last: Mutex::default(),
        })
    }

    /// The tools, and for those of the skills `loaded` the tools of their scripts: name, title, description, schema of the
    /// arguments, and whether it only reads.
    fn definitions<'py>(&self, py: Python<'py>, loaded: Given<Vec<String>>) -> PyResult<Vec<Defined<'py>>> {
        let loaded = loaded.0;
        let found = call::run(py, || {
            let mut definitions = Toolkit::standing_definitions();
            definitions.extend(self.kit.script_definitions(&loaded));
            Ok(definitions)
        })?;
        found.into_iter().map(|definition| defined(py, definition)).collect()
    }

    /// Calls a tool: text, notes, whether it failed, which skill was loaded, the outcome of a run. `None` if there is no
    /// such tool.
    #[pyo3(signature = (name, arguments, *, loaded, session=None, ask=None, stop=None))]
    #[expect(clippy::too_many_arguments, reason = "each is a question of its own")]
    fn call<'py>(
        &self,
        py: Python<'py>,
        name: Given<String>,
        arguments: &Bound<'py, PyAny>,
        loaded: Given<Vec<String>>,
        session: Option<Given<String>>,
        ask: Option<Py<PyAny>>,
        stop: Option<&Stop>,
    ) -> PyResult<Option<Answered<'py>>> {
        let arguments = match json::arguments(arguments)? {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            _ => return Err(errors::unknown(py, "the arguments of a tool are a mapping")),
        };
        let (name, loaded, session) = (name.0, loaded.0, session.map(|session| session.0));
        let raised = Arc::default();
        let mut watch = Watched::new(stop, &raised);
        let answer = call::run(py, || {
            if let Some(answer) = self.kit.call(&name, &arguments, session.as_deref()) {
                return Ok(Some(answer));
            }
            let Some(script) = self.kit.script_call(&loaded, &name, &arguments) else { return Ok(None) };
            let script = match script {
                Ok(script) => script,
                Err(error) => return Ok(Some(self.kit.failed(&error))),
            };
            let mut run = self.kit.selection.run.clone();
            let cwd = match run.cwd {
                RunLocation::Dir(dir) => Some(dir),
                _ => None,
            };
            run.cwd = RunLocation::Dir(surroundings::below_here(cwd)?);
            let interact = Asking::with(ask, &raised, Some(script.clone()));
            Ok(Some(script.answer(&self.kit, run, interact, &mut watch)))
        });
        // What a callback raised, or a signal, comes before what followed from it.
        if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        answer?.map(|answer| answered(py, self.named(answer))).transpose()
    }

    /// The catalog of the skills that a model may start, and what is to be said of it: something, if anything was cut.
    fn catalog(
        &self,
        py: Python<'_>,
        form: Given<String>,
        budget: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<String>)> {
        let budget = budget.map(|budget| errors::number(budget, "budget")).transpose()?;
        let unknown = |error: UnknownWord| errors::unknown(py, &error.to_string());
        let is_open = &**form == "auto";
        let written = if is_open { CatalogForm::Xml } else { form.parse().map_err(unknown)? };
        let options = Options {
            form: written,
            fallback: is_open.then_some(CatalogForm::Markdown),
            fields: vec![Field::Description],
            budget,
            search: Some(format!("{}{SEARCH}", self.prefix)),
            ..Options::default()
        };
        call::run(py, || {
            let view = self.kit.view()?;
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(last) = last.as_ref()
                && Arc::ptr_eq(&last.view, &view)
                && (&last.form, last.budget) == (&form.0, budget)
            {
                return Ok((last.text.clone(), last.warning.clone()));
            }
            let catalog = catalog(&view.skills, &options);
            let (text, warning) = (catalog.text().into_owned(), catalog.warning());
            let warning = warning.map(|warning| worded(&warning.message));
            let form = form.0;
            *last = Some(Last { view, form, budget, text: text.clone(), warning: warning.clone() });
            Ok((text, warning))
        })
    }

    /// The skills that a model may start.
    fn skills(&self, py: Python<'_>) -> PyResult<Vec<SkillMetadata>> {
        let view = call::run(py, || Ok(self.kit.view()?))?;
        Ok(view.for_models().map(SkillMetadata::from).collect())
    }

    /// The skill that a model may start as `name`.
    fn skill(&self, py: Python<'_>, name: Given<String>) -> PyResult<SkillMetadata> {
        call::run(py, || Ok(SkillMetadata::from(&self.kit.for_model(&name)?)))
    }

    /// What loading a skill returns now. Nothing is recorded.
    fn again(&self, py: Python<'_>, name: Given<String>, arguments: Given<String>) -> PyResult<String> {
        call::run(py, || {
            let skill = self.kit.for_model(&name)?;
            let Loaded { text, notes, .. } = self.kit.loaded_again(&skill, &arguments)?;
            Ok(whole(text, &self.renamed(notes)))
        })
    }

    /// What is to be said to the user since this was last asked.
    fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Kit {
    /// The answer with the names that its tools have here: in what the tools say, not in what a skill says.
    fn named(&self, mut answer: Answer) -> Answer {
        if answer.is_error && answer.meta.is_none() {
            answer.text = self.renamed(vec![answer.text]).concat();
        }
        answer.notes = self.renamed(answer.notes);
        answer
    }

    fn renamed(&self, notes: Vec<String>) -> Vec<String> {
        if self.prefix.is_empty() {
            return notes;
        }
        let rename = |note: String| {
            Toolkit::standing_definitions().iter().fold(note, |note, tool| {
                note.replace(&format!("`{}`", tool.name), &format!("`{}{}`", self.prefix, tool.name))
            })
        };
        notes.into_iter().map(rename).collect()
    }
}

/// The words for what only a person can do.
static USUAL: words::Python = words::Python { root: None };

/// A tool: name, title, description, schema of the arguments, and whether it only reads.
type Defined<'py> = (String, String, String, Bound<'py, PyDict>, bool);

fn defined(py: Python<'_>, definition: Definition) -> PyResult<Defined<'_>> {
    let Definition { name, title, description, input, is_read_only } = definition;
    Ok((name, title, description, json::dict(py, &input)?, is_read_only))
}

/// What a tool answers: text with notes, whether it failed, which skill was loaded and where that comes from, the outcome
/// of a run.
type Answered<'py> = (String, bool, Option<Bound<'py, PyDict>>, Bound<'py, PyAny>);

fn answered(py: Python<'_>, answer: Answer) -> PyResult<Answered<'_>> {
    let Answer { text, notes, meta, is_error, loaded, origin } = answer;
    let about = loaded.map(|skill| {
        let about = PyDict::new(py);
        about.set_item("skill", skill)?;
        if let Some(LockedOrigin { source, version, digest }) = origin {
            about.set_item("source", source)?;
            about.set_item("version", version)?;
            about.set_item("digest", digest.to_string())?;
        }
        PyResult::Ok(about)
    });
    Ok((whole(text, &notes), is_error, about.transpose()?, json::to_python(py, &meta.unwrap_or_default())?))
}

/// A text with what a model should know about it.
fn whole(mut text: String, notes: &[String]) -> String {
    for note in notes {
        if !text.is_empty() {
            text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
        }
        text.push_str(note);
    }
    text
}
