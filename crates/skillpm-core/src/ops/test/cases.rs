//! The skills to test, and the requests that their authors keep.

use std::path::{Path, PathBuf};

use super::outcome::FileProblem;
use super::request::TestRequest;
use crate::context::Context;
use crate::document::{Document, LineIndex};
use crate::error::Result;
use crate::fs;
use crate::interop::evals::{EVAL_FILES, EVALS_DIR, Evals, evals};
use crate::paths::{ChangedFiles, Content, FileLocation, Finder, Searched};
use crate::workers;

/// The largest file of requests that is read, in bytes.
const MAX_EVALS: u64 = 4 << 20;

/// The length of a file with an empty list.
const EMPTY: usize = "[]".len();

/// A skill that is tested, or that only competes.
pub(super) struct Subject {
    /// The name in its frontmatter; else that of its directory.
    pub(super) name: String,
    /// The name of its directory.
    pub(super) directory: String,
    /// Its directory, without links.
    pub(super) dir: PathBuf,
    /// Its file.
    pub(super) file: PathBuf,
    /// Its directory, as it is to be shown.
    pub(super) shown: PathBuf,
    pub(super) description: Option<String>,
    /// The instructions, if they are searched.
    pub(super) body: String,
    /// Whether its requests are tested.
    pub(super) is_tested: bool,
}

/// The requests in a file.
pub(super) struct Requests {
    /// The skill that it belongs to.
    pub(super) subject: usize,
    /// The file, as it is to be shown.
    pub(super) shown: PathBuf,
    pub(super) text: String,
    pub(super) evals: Evals,
    pub(super) problem: Option<FileProblem>,
}

/// Returns the skills that `request` names, and how many of them are not tested because they did not change.
pub(super) fn subjects(context: &Context, request: &TestRequest) -> Result<(Vec<Subject>, usize)> {
    let mut searched = Searched::default();
    let mut finder = Finder::new(&context.settings.cwd, &mut searched);
    let mut found = Vec::new();
    for target in &request.targets {
        found.extend(finder.find(target)?);
    }
    let mut changed = ChangedFiles::default();
    let mut touched = Vec::new();
    for location in &found {
        touched.push(changed.touch(context, &request.changes, &location.dir)?);
    }
    let read = workers::map(&found, workers::PIECE, || (), |(), location| subject(location, request.bodies));
    let mut subjects = Vec::new();
    for (subject, is_tested) in read.zip(touched) {
        subjects.extend(subject?.map(|subject| Subject { is_tested, ..subject }));
    }
    let unchanged = subjects.iter().filter(|subject| !subject.is_tested).count();
    Ok((subjects, unchanged))
}

/// Returns the skill at `location`; `None` if its file is gone, or is not a regular file.
fn subject(location: &FileLocation, bodies: bool) -> Result<Option<Subject>> {
    let Some(Content::Bytes(bytes)) = location.read()? else { return Ok(None) };
    let document = Document::from_bytes(bytes);
    let directory = location.directory().unwrap_or_default().to_string_lossy().into_owned();
    let text = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(Some(Subject {
        name: text(document.name()).unwrap_or_else(|| directory.clone()),
        directory,
        dir: location.dir.clone(),
        file: location.file(),
        shown: location.shown.parent().unwrap_or(Path::new("")).to_owned(),
        description: text(document.description()),
        body: if bodies { document.body().to_owned() } else { String::new() },
        is_tested: true,
    }))
}

/// Returns the requests in the files of the skill at `index`; those of one that is not tested do not matter.
pub(super) fn requests(index: usize, subject: &Subject) -> Vec<Requests> {
    if !subject.is_tested {
        return Vec::new();
    }
    let mut all = Vec::new();
    for below in [EVALS_DIR, ""] {
        for name in EVAL_FILES {
            let shown = subject.shown.join(below).join(name);
            let (text, read) = match fs::read_text(&subject.dir.join(below).join(name), MAX_EVALS) {
                Ok(None) => continue,
                Ok(Some(text)) => {
                    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
                    let read = evals(&text, Path::new(name).extension().is_some_and(|is| is != "json"))
                        .map_err(|error| FileProblem {
                            span: LineIndex::new(&text).span(error.line).unwrap_or(0..0),
                            line: error.line,
                            column: error.column,
                            message: error.message,
                            hint: Some(error.hint.to_owned()),
                        });
                    (text, read)
                }
                Err(error) => {
                    let problem = FileProblem {
                        line: 1,
                        column: 1,
                        message: error.to_string(),
                        hint: None,
                        span: 0..0,
                    };
                    (String::new(), Err(problem))
                }
            };
            let (evals, problem) = match read {
                Ok(evals) => (evals, None),
                Err(problem) => (Evals::default(), Some(problem)),
            };
            // An empty list is right; a file of another shape is reported.
            if problem.is_some() || !evals.cases.is_empty() || text.trim().len() > EMPTY {
                all.push(Requests { subject: index, shown, text, evals, problem });
            }
        }
    }
    all
}
