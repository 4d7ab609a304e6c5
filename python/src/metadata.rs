//! What is known of a skill before its instructions are read.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use skillpm_core::engine::{Skill, SourceKind};
use skillpm_format::skill::SkillMeta;

use crate::fields::{Field, Kind, Table};
use crate::given::Given;
use crate::json;
use crate::repr::Repr;
use crate::value::{Value, init, value};

/// What the frontmatter of a skill says, and where it lies. It cannot be changed.
///
/// Agents choose a skill by ``name`` and ``description``. ``to_dict`` and ``from_dict`` turn it into plain values and
/// back.
#[pyclass(frozen, eq, hash, extends = Value, module = "skillpm", from_py_object)]
#[derive(Debug, Clone)]
pub(crate) struct SkillMetadata(Arc<Skill>);

impl SkillMetadata {
    /// What counts: where it was found and how is the library's business.
    fn known(&self) -> (&SkillMeta, &Path, Option<&str>) {
        (&self.0.meta, &self.0.file, self.source())
    }
}

impl PartialEq for SkillMetadata {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.known() == other.known()
    }
}

impl Eq for SkillMetadata {}

impl Hash for SkillMetadata {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.0.meta.name, &self.0.file).hash(state);
    }
}

impl From<&Arc<Skill>> for SkillMetadata {
    fn from(skill: &Arc<Skill>) -> Self {
        Self(Arc::clone(skill))
    }
}

#[pymethods]
impl SkillMetadata {
    #[new]
    #[pyo3(signature = (name, description, skill_path, allowed_tools=Given(vec![]), *, version=None,
        tags=Given(vec![]), dependencies=Given(vec![]), license=None, compatibility=None, metadata=None,
        extra=None, source=None))]
    #[expect(clippy::too_many_arguments, reason = "a skill has as many fields")]
    fn new(
        name: Given<String>,
        description: Given<String>,
        skill_path: Given<PathBuf>,
        allowed_tools: Given<Vec<String>>,
        version: Option<Given<String>>,
        tags: Given<Vec<String>>,
        dependencies: Given<Vec<String>>,
        license: Option<Given<String>>,
        compatibility: Option<Given<String>>,
        metadata: Option<&Bound<'_, PyAny>>,
        extra: Option<&Bound<'_, PyAny>>,
        source: Option<Given<String>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let map = |value: Option<&Bound<'_, PyAny>>| value.map(json::map_from_python).transpose();
        let (metadata, extra) = (map(metadata)?.unwrap_or_default(), map(extra)?.unwrap_or_default());
        let text = |given: Option<Given<String>>| given.map(|given| given.0);
        let skill_path = skill_path.0;
        let meta = SkillMeta {
            name: name.0,
            description: description.0,
            version: text(version),
            tags: tags.0,
            dependencies: dependencies.0,
            license: text(license),
            compatibility: text(compatibility),
            allowed_tools: allowed_tools.0,
            metadata,
            extra,
        };
        let dir = skill_path.parent().unwrap_or(Path::new("")).to_owned();
        let skill = Skill {
            meta,
            source: text(source).unwrap_or_default().into(),
            kind: SourceKind::Extra,
            real: dir.clone(),
            dir,
            file: skill_path,
            deviations: Vec::new(),
        };
        Ok(init(Self(Arc::new(skill))))
    }

    /// The name, by which it is called.
    #[getter]
    pub(crate) fn name(&self) -> &str {
        &self.0.meta.name
    }

    /// What the skill does and when to use it: agents choose by it.
    #[getter]
    pub(crate) fn description(&self) -> &str {
        &self.0.meta.description
    }

    /// The path of its ``SKILL.md``.
    #[getter]
    fn skill_path(&self) -> &Path {
        &self.0.file
    }

    /// The tools that the skill asks for. Nothing is enforced.
    #[getter]
    fn allowed_tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.meta.allowed_tools)
    }

    /// The version, as written.
    #[getter]
    fn version(&self) -> Option<&str> {
        self.0.meta.version.as_deref()
    }

    /// The words to filter by.
    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.meta.tags)
    }

    /// The skills that it needs, as written.
    #[getter]
    fn dependencies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.meta.dependencies)
    }

    /// The license, as written.
    #[getter]
    fn license(&self) -> Option<&str> {
        self.0.meta.license.as_deref()
    }

    /// What it needs to run, in words.
    #[getter]
    fn compatibility(&self) -> Option<&str> {
        self.0.meta.compatibility.as_deref()
    }

    /// The mapping ``metadata`` of the frontmatter. Each call returns a new dictionary.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        json::dict(py, &self.0.meta.metadata)
    }

    /// The fields that the specification does not have. Each call returns a new dictionary.
    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        json::dict(py, &self.0.meta.extra)
    }

    /// The name of the directory of skills that it was found in: ``source:name`` finds it.
    #[getter]
    fn source(&self) -> Option<&str> {
        Some(&*self.0.source).filter(|source| !source.is_empty())
    }

    /// Whether only a person may start it: models are not told of such a skill.
    #[getter]
    fn disable_model_invocation(&self) -> bool {
        self.0.is_for_people()
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        TABLE.match_args(py)
    }

    fn __repr__(&self) -> String {
        let (meta, path, source) = self.known();
        Repr::of("SkillMetadata")
            .text("name", &meta.name)
            .short("description", &meta.description)
            .path("skill_path", path)
            .maybe("version", meta.version.as_deref())
            .maybe("source", source)
            .finish()
    }
}

value!(SkillMetadata);

pub(crate) static TABLE: Table = Table::new(
    "SkillMetadata",
    4,
    &[
        Field::required("name", Kind::Text),
        Field::required("description", Kind::Text),
        Field::required("skill_path", Kind::Path),
        Field::or_empty("allowed_tools", Kind::Texts),
        Field::or_none("version", Kind::Text),
        Field::or_empty("tags", Kind::Texts),
        Field::or_empty("dependencies", Kind::Texts),
        Field::or_none("license", Kind::Text),
        Field::or_none("compatibility", Kind::Text),
        Field::or_empty("metadata", Kind::Object),
        Field::or_empty("extra", Kind::Object),
        Field::or_none("source", Kind::Text),
    ],
);
