//! What is known of a skill before its instructions are read.

use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMappingProxy, PyTuple};
use skillpm::skill::SkillMeta;

use crate::json;
use crate::repr::Repr;

/// What the frontmatter of a skill says, and where it lies. It cannot be changed.
#[pyclass(frozen, eq, hash, module = "skillpm", from_py_object)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillMetadata(Arc<Known>);

#[derive(Debug, PartialEq, Eq)]
struct Known {
    meta: SkillMeta,
    path: PathBuf,
    source: Option<String>,
}

impl Hash for SkillMetadata {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.0.meta.name, &self.0.path, &self.0.source).hash(state);
    }
}

impl SkillMetadata {
    /// The metadata of a skill whose file is `path`, found in the source that is called `source`.
    pub(crate) fn of(meta: SkillMeta, path: PathBuf, source: Option<String>) -> Self {
        Self(Arc::new(Known { meta, path, source }))
    }

    pub(crate) fn represent(&self, repr: Repr) -> Repr {
        let Known { meta, path, source } = &*self.0;
        repr.text("name", &meta.name)
            .short("description", &meta.description)
            .path("skill_path", path)
            .maybe("version", meta.version.as_deref())
            .maybe("source", source.as_deref())
    }
}

#[pymethods]
impl SkillMetadata {
    #[new]
    #[pyo3(signature = (name, description, skill_path, allowed_tools=vec![], *, version=None, tags=vec![],
        dependencies=vec![], license=None, compatibility=None, metadata=None, extra=None, source=None))]
    #[expect(clippy::too_many_arguments, reason = "a skill has as many fields")]
    fn new(
        name: String,
        description: String,
        skill_path: PathBuf,
        allowed_tools: Vec<String>,
        version: Option<String>,
        tags: Vec<String>,
        dependencies: Vec<String>,
        license: Option<String>,
        compatibility: Option<String>,
        metadata: Option<&Bound<'_, PyAny>>,
        extra: Option<&Bound<'_, PyAny>>,
        source: Option<String>,
    ) -> PyResult<Self> {
        let map = |value: Option<&Bound<'_, PyAny>>| value.map(json::map_from_python).transpose();
        let (metadata, extra) = (map(metadata)?.unwrap_or_default(), map(extra)?.unwrap_or_default());
        let meta = SkillMeta {
            name,
            description,
            version,
            tags,
            dependencies,
            license,
            compatibility,
            allowed_tools,
            metadata,
            extra,
        };
        Ok(Self::of(meta, skill_path, source))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.meta.name
    }

    #[getter]
    fn description(&self) -> &str {
        &self.0.meta.description
    }

    #[getter]
    fn skill_path(&self) -> PathBuf {
        self.0.path.clone()
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
        self.0.source.as_deref()
    }

    /// All fields as plain values, fit for JSON: paths are texts, and what is not there is left out or empty.
    pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Known { meta, path, source } = &*self.0;
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
        self.represent(Repr::of("SkillMetadata")).finish()
    }

    /// What `pickle` and `copy` make it of again.
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Positional<'_>, Bound<'py, PyDict>)> {
        let fields = self.to_dict(py)?;
        for positional in ["name", "description", "skill_path"] {
            fields.del_item(positional)?;
        }
        Ok(((self.name(), &self.0.meta.description, self.skill_path()), fields))
    }
}

/// The first three arguments of the constructor.
type Positional<'a> = (&'a str, &'a str, PathBuf);
