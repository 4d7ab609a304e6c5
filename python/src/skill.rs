//! A skill with its instructions, and what is in its files.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use skillpm::engine::{self, Opened, resources};
use skillpm::tree::ReadError;

use crate::call::Failure;
use crate::given::Given;
use crate::metadata::SkillMetadata;
use crate::repr::Repr;

/// A skill that was loaded: metadata, instructions, and the names of its other files. It cannot be changed.
#[pyclass(frozen, eq, hash, module = "skillpm", from_py_object)]
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
    ) -> Self {
        Self { metadata, content: content.0, base_directory: base_directory.0, files: files.0 }
    }

    #[getter]
    fn metadata(&self) -> SkillMetadata {
        self.metadata.clone()
    }

    #[getter]
    fn content(&self) -> &str {
        &self.content
    }

    #[getter]
    fn base_directory(&self) -> &Path {
        &self.base_directory
    }

    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.files)
    }

    #[getter]
    fn name(&self) -> &str {
        self.metadata.name()
    }

    #[getter]
    fn description(&self) -> &str {
        self.metadata.description()
    }

    fn __repr__(&self) -> String {
        let repr = Repr::of("Skill").text("name", self.name()).short("content", &self.content);
        let repr = repr.path("base_directory", &self.base_directory);
        repr.plain("files", format_args!("<{}>", self.files.len())).finish()
    }

    fn __getnewargs__(&self) -> (SkillMetadata, &str, &Path, Vec<String>) {
        (self.metadata(), &self.content, &self.base_directory, self.files.clone())
    }
}

/// The skill `name`, and what is to be said of it.
pub(crate) fn load(library: &engine::Library, name: &str) -> Result<(Skill, Option<String>), Failure> {
    let Opened { skill, body, files, unlisted } = library.open(name, true)?;
    let loaded = Skill {
        metadata: SkillMetadata::from(&skill),
        content: body,
        base_directory: skill.dir.clone(),
        files,
    };
    Ok((loaded, unlisted.map(|problem| no_files(name, &problem))))
}

/// What is said where the files of a skill are not listed.
pub(crate) fn no_files(name: &str, problem: &ReadError) -> String {
    format!("the files of the skill `{name}` are not listed: {problem}")
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
