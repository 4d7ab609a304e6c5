//! `create`: a new skill.

mod check;
mod open;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::install::scope::{Scope, ScopeKind};
use crate::name::SkillName;
pub use crate::template::{BUILTIN, Builtin, Resource};
use crate::template::{Template, Values};
use crate::tree::FileSet;

/// What is to be made. What is `None` is asked for where a person can be asked.
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// The skill's name.
    pub name: Option<String>,
    /// What it does and when to use it; else a text made of the name.
    pub description: Option<String>,
    /// Its license as an SPDX expression; else it gets none.
    pub license: Option<String>,
    /// Who wrote it; else nobody is named.
    pub author: Option<String>,
    /// A built-in template, or a source that holds one; else `basic`.
    pub template: Option<String>,
    /// Values for the variables that the template declares.
    pub variables: BTreeMap<String, String>,
    /// The directories that get a first file, if the template has none there.
    pub resources: BTreeSet<Resource>,
    /// Makes it among the skills of this scope.
    pub scope: Option<ScopeKind>,
    /// The directory in which the skill's own is made; with neither this nor a scope the working
    /// directory.
    pub parent: Option<PathBuf>,
    /// Makes nothing.
    pub dry_run: bool,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateOutcome {
    /// The skill's name.
    pub name: String,
    /// The skill's directory.
    pub path: PathBuf,
    /// The template.
    pub template: String,
    /// Its files, sorted.
    pub files: Vec<CreatedFile>,
    /// What keeps the skill from being published.
    pub warnings: Vec<String>,
    /// Whether nothing was made.
    pub dry_run: bool,
}

/// A file of a new skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedFile {
    /// The path below the skill's directory.
    pub path: String,
    /// Whether it can be run.
    pub executable: bool,
}

/// Makes a new skill in a directory of its name.
///
/// # Errors
///
/// A name that the specification refuses, a directory that is there already or cannot be written, a
/// template that cannot be read or filled in, and one that makes no valid skill.
pub fn create(context: &Context, request: &CreateRequest) -> Result<CreateOutcome> {
    let asked = |question: &str, default: &str| context.interact.input(question, default);
    let name = match &request.name {
        Some(name) => name.clone(),
        None => asked("name of the skill", "").ok_or_else(no_name)?,
    };
    let name = check::name(&name)?;
    let path = place(context, request)?.join(name.as_str());
    if fs::kind(&path)?.is_some() {
        return Err(exists(&path));
    }
    let template = open::template(context, request.template.as_deref())?;
    let values = values(context, request, &template, name)?;
    let set = template.fill(&values)?;
    let warnings = check::result(&template, &values, &set)?;
    if !request.dry_run {
        write(&path, &set)?;
    }
    let files = set.files().iter();
    let files = files.map(|f| CreatedFile { path: f.path.to_string(), executable: f.executable }).collect();
    let (name, template) = (values.name.to_string(), template.name);
    Ok(CreateOutcome { name, path, template, files, warnings, dry_run: request.dry_run })
}

fn no_name() -> Error {
    Error::usage("the skill needs a name").hint("`skillpm create NAME` makes a skill of that name")
}

/// The directory in which the skill's own is made.
fn place(context: &Context, request: &CreateRequest) -> Result<PathBuf> {
    let cwd = &context.settings.cwd;
    match (&request.parent, request.scope) {
        (Some(parent), _) => Ok(cwd.join(parent)),
        (None, None) => Ok(cwd.clone()),
        (None, Some(kind)) => {
            let scope = Scope::new(&context.settings, kind)?;
            let dir = scope.skills_dir();
            scope.check_inside(&dir)?;
            Ok(dir)
        }
    }
}

/// What is filled in: what was given, else what a person says, else what stands for it.
fn values(
    context: &Context,
    request: &CreateRequest,
    template: &Template,
    name: SkillName,
) -> Result<Values> {
    let asked = |question: &str, default: &str| context.interact.input(question, default);
    let description = request.description.clone().unwrap_or_else(|| {
        let default = check::default_description(&name);
        asked("what it does, and when to use it", &default).unwrap_or(default)
    });
    let description = check::description(&description)?.to_owned();
    let optional = |given: &Option<String>, question: &str, what: &str| match given {
        Some(text) => check::line(what, text).map(Some),
        None => match asked(question, "").filter(|text| !text.trim().is_empty()) {
            Some(text) => check::line(what, &text).map(Some),
            None => Ok(None),
        },
    };
    let author = optional(&request.author, "author (empty: none)", "author")?;
    let license = optional(&request.license, "license, such as MIT (empty: none)", "license")?;
    let resources = request.resources.clone();
    let variables = open::variables(template, &request.variables, asked)?;
    Ok(Values { name, description, license, author, resources, variables })
}

/// Makes the skill beside its place, then moves it there: nobody sees half of one.
fn write(path: &Path, set: &FileSet) -> Result<()> {
    let parent = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(parent)?;
    let stage = fs::temp_dir_in(parent, ".skillpm-")?;
    // The temporary directory is private; the skill's own is for everybody.
    let new = stage.path().join("new");
    fs::materialize(set, &new)?;
    fs::move_new(&new, path).map_err(|error| match error.source.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => error.into(),
    })
}

fn exists(path: &Path) -> Error {
    Error::usage(format!("`{}` is there already", path.display()))
        .hint("choose another name, or another directory with `--path`")
}

#[cfg(test)]
mod tests;
