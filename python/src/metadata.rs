//! What is known of a skill before its instructions are read.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMappingProxy, PyTuple};
use skillpm_core::engine::{Skill, SourceKind};
use skillpm_format::skill::SkillMeta;

use crate::given::Given;
use crate::json;
use crate::repr::Repr;

/// What the frontmatter of a skill says, and where it lies. It cannot be changed.
#[pyclass(frozen, eq, hash, module = "skillpm", from_py_object)]
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
    ) -> PyResult<Self> {
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
        Ok(Self(Arc::new(Skill {
            meta,
            source: text(source).unwrap_or_default().into(),
            kind: SourceKind::Extra,
            real: dir.clone(),
            dir,
            file: skill_path,
            deviations: Vec::new(),
        })))
    }

    #[getter]
    pub(crate) fn name(&self) -> &str {
        &self.0.meta.name
    }

    #[getter]
    pub(crate) fn description(&self) -> &str {
        &self.0.meta.description
    }

    #[getter]
    fn skill_path(&self) -> &Path {
        &self.0.file
    }

    #[getter]
    fn allowed_tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.meta.allowed_tools)
    }

    #[getter]
    fn version(&self) -> Option<&str> {
        self.0.meta.version.as_deref()
    }

    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.meta.tags)
    }

    #[getter]
    fn dependencies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.meta.dependencies)
    }

    #[getter]
    fn license(&self) -> Option<&str> {
        self.0.meta.license.as_deref()
    }

    #[getter]
    fn compatibility(&self) -> Option<&str> {
        self.0.meta.compatibility.as_deref()
    }

    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        json::mapping(py, &self.0.meta.metadata)
    }

    #[getter]
    fn extra<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyMappingProxy>> {
        json::mapping(py, &self.0.meta.extra)
    }

    #[getter]
    fn source(&self) -> Option<&str> {
        Some(&*self.0.source).filter(|source| !source.is_empty())
    }

    #[getter]
    fn disable_model_invocation(&self) -> bool {
        self.0.is_for_people()
    }

    /// All fields as plain values, fit for JSON: paths are texts, and what is not there is left out or empty.
    pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (meta, path, source) = self.known();
        let dict = PyDict::new(py);
        dict.set_item("name", &meta.name)?;
        dict.set_item("description", &meta.description)?;
        dict.set_item("skill_path", path.to_string_lossy())?;
        dict.set_item("allowed_tools", &meta.allowed_tools)?;
        dict.set_item("version", &meta.version)?;
        dict.set_item("tags", &meta.tags)?;
        dict.set_item("dependencies", &meta.dependencies)?;
        dict.set_item("license", &meta.license)?;
        dict.set_item("compatibility", &meta.compatibility)?;
        dict.set_item("metadata", json::dict(py, &meta.metadata)?)?;
        dict.set_item("extra", json::dict(py, &meta.extra)?)?;
        dict.set_item("source", source)?;
        Ok(dict)
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

    /// What `pickle` and `copy` make it of again.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Positional<'_>, Bound<'py, PyDict>)> {
        let fields = self.to_dict(py)?;
        for positional in ["name", "description", "skill_path"] {
            fields.del_item(positional)?;
        }
        Ok(((self.name(), self.description(), self.skill_path()), fields))
    }
}

/// The first three arguments of the constructor.
type Positional<'a> = (&'a str, &'a str, &'a Path);
