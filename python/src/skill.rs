//! A skill with its instructions, and what is in its files.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use skillpm_core::engine::resources;
use skillpm_core::session::OpenedSkill;

use crate::fields::{Field, Kind, Table};
use crate::given::Given;
use crate::metadata::SkillMetadata;
use crate::repr::Repr;
use crate::value::{Value, init, value};

/// A skill with its instructions and the names of its other files. It cannot be changed.
///
/// It stays as it was loaded when its files change.
#[pyclass(frozen, eq, hash, extends = Value, module = "skillpm", from_py_object)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Skill {
    metadata: SkillMetadata,
    content: String,
    base_directory: PathBuf,
    files: Vec<String>,
}

#[pymethods]
impl Skill {
    #[new]
    #[pyo3(signature = (metadata, content, base_directory, files=Given(vec![])))]
    fn new(
        metadata: SkillMetadata,
        content: Given<String>,
        base_directory: Given<PathBuf>,
        files: Given<Vec<String>>,
    ) -> PyClassInitializer<Self> {
        init(Self { metadata, content: content.0, base_directory: base_directory.0, files: files.0 })
    }

    /// What the frontmatter says, and where the skill lies.
    #[getter]
    fn metadata(&self) -> SkillMetadata {
        self.metadata.clone()
    }

    /// The instructions: the Markdown after the frontmatter, as written.
    #[getter]
    fn content(&self) -> &str {
        &self.content
    }

    /// The directory of the skill.
    #[getter]
    fn base_directory(&self) -> &Path {
        &self.base_directory
    }

    /// The paths of its other files below ``base_directory``, with ``/``.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.files)
    }

    /// The name, as in ``metadata``.
    #[getter]
    fn name(&self) -> &str {
        self.metadata.name()
    }

    /// The description, as in ``metadata``.
    #[getter]
    fn description(&self) -> &str {
        self.metadata.description()
    }

    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        TABLE.match_args(py)
    }

    fn __repr__(&self) -> String {
        let repr = Repr::of("Skill").text("name", self.name()).short("content", &self.content);
        let repr = repr.path("base_directory", &self.base_directory);
        repr.plain("files", format_args!("<{}>", self.files.len())).finish()
    }
}

value!(Skill);

pub(crate) static TABLE: Table = Table::new(
    "Skill",
    4,
    &[
        Field::required("metadata", Kind::Metadata),
        Field::required("content", Kind::Text),
        Field::required("base_directory", Kind::Path),
        Field::or_empty("files", Kind::Texts),
    ],
);

impl From<&OpenedSkill> for Skill {
    fn from(opened: &OpenedSkill) -> Self {
        Self {
            metadata: SkillMetadata::from(&opened.skill),
            content: opened.body.clone(),
            base_directory: opened.skill.dir.clone(),
            files: opened.files.clone(),
        }
    }
}

/// What is in a file: `str` or `bytes`.
#[derive(IntoPyObject)]
pub(crate) enum Content {
    Text(String),
    Binary(Vec<u8>),
}

impl From<resources::Content> for Content {
    fn from(content: resources::Content) -> Self {
        match content {
            resources::Content::Text(text) => Self::Text(text),
            resources::Content::Binary(bytes) => Self::Binary(bytes),
        }
    }
}
