//! The scripts of a skill that an agent can call.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::{Map, Value as Json};
use skillpm_core::engine::tools::Tool;
use skillpm_core::engine::{self, Hit};
use skillpm_core::session::{Session, SessionError};

use crate::fields::{Field, Kind, Table};
use crate::given::Given;
use crate::repr::Repr;
use crate::value::{Value, init, value};
use crate::words::worded_all;
use crate::{errors, json};

/// A script of a skill, what it is for and what it takes. It cannot be changed.
///
/// Skills of one name, of which one hides the others, may have scripts with the same ``tool_name``.
#[pyclass(frozen, eq, hash, extends = Value, module = "skillpm", from_py_object)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    skill: String,
    name: String,
    tool_name: String,
    description: String,
    script: String,
    path: PathBuf,
    language: String,
    input_schema: Map<String, Json>,
    /// In milliseconds, as the manifest says it.
    timeout: Option<u64>,
}

impl Hash for Script {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.tool_name, &self.path).hash(state);
    }
}

impl Script {
    fn of(skill: &engine::Skill, tool: &Tool) -> Self {
        let input_schema = match tool.input.schema() {
            Json::Object(schema) => schema,
            // A schema is an object.
            _ => Map::new(),
        };
        Self {
            skill: skill.meta.name.clone(),
            name: tool.name.clone(),
            tool_name: tool.tool_name.clone(),
            description: tool.description.clone(),
            script: tool.script.clone(),
            path: skill.dir.join(&tool.script),
            language: tool.language.to_string(),
            input_schema,
            timeout: tool.timeout.map(milliseconds),
        }
    }
}

#[pymethods]
impl Script {
    #[new]
    #[pyo3(signature = (name, tool_name, description, path, *, skill, script, language, input_schema, timeout=None))]
    #[expect(clippy::too_many_arguments, reason = "a script has as many fields")]
    fn new(
        py: Python<'_>,
        name: Given<String>,
        tool_name: Given<String>,
        description: Given<String>,
        path: Given<PathBuf>,
        skill: Given<String>,
        script: Given<String>,
        language: Given<String>,
        input_schema: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let input_schema = json::map_from_python(input_schema)?;
        let timeout = timeout.map(|seconds| Duration::try_from_secs_f64(seconds).map(milliseconds));
        let timeout = timeout.transpose().map_err(|_| errors::unknown(py, "`timeout` is not a duration"))?;
        let script = Self {
            skill: skill.0,
            name: name.0,
            tool_name: tool_name.0,
            description: description.0,
            script: script.0,
            path: path.0,
            language: language.0,
            input_schema,
            timeout,
        };
        Ok(init(script))
    }

    /// The name of the skill.
    #[getter]
    fn skill(&self) -> &str {
        &self.skill
    }

    /// The name within the skill.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The name for models: no script of a skill with another name has it.
    #[getter]
    fn tool_name(&self) -> &str {
        &self.tool_name
    }

    /// What it is for.
    #[getter]
    fn description(&self) -> &str {
        &self.description
    }

    /// Its path below the directory of the skill, with ``/``.
    #[getter]
    fn script(&self) -> &str {
        &self.script
    }

    /// The path of its file.
    #[getter]
    fn path(&self) -> &Path {
        &self.path
    }

    /// The language, such as ``python``.
    #[getter]
    fn language(&self) -> &str {
        &self.language
    }

    /// What it takes, as a JSON Schema. Each call returns a new dictionary.
    #[getter]
    fn input_schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        json::dict(py, &self.input_schema)
    }

    /// The seconds that it may take, where its manifest says so.
    #[getter]
    fn timeout(&self) -> Option<f64> {
        self.timeout.map(|time| Duration::from_millis(time).as_secs_f64())
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        TABLE.match_args(py)
    }

    fn __repr__(&self) -> String {
        Repr::of("Script")
            .text("tool_name", &self.tool_name)
            .short("description", &self.description)
            .path("path", &self.path)
            .finish()
    }
}

value!(Script);

pub(crate) static TABLE: Table = Table::new(
    "Script",
    4,
    &[
        Field::required("name", Kind::Text),
        Field::required("tool_name", Kind::Text),
        Field::required("description", Kind::Text),
        Field::required("path", Kind::Path),
        Field::required("skill", Kind::Text),
        Field::required("script", Kind::Text),
        Field::required("language", Kind::Text),
        Field::required("input_schema", Kind::Object),
        Field::or_none("timeout", Kind::Number),
    ],
);

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The scripts of the skill `name`, and what a person should know of it and of what is none.
pub(crate) fn of(session: &Session, name: &str) -> Result<(Vec<Script>, Vec<String>), SessionError> {
    let (Hit { skill, warnings }, set) = session.tools(name, session.profile().scripts)?;
    let mut warnings = worded_all(&warnings);
    warnings.extend(set.diagnostics.iter().map(ToString::to_string));
    Ok((set.tools.iter().map(|tool| Script::of(&skill, tool)).collect(), warnings))
}
