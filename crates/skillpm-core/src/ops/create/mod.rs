//! `create`: a new skill.

mod ask;
mod check;
mod evals;
mod open;
mod publish;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use self::ask::{Asked, settle};
use self::publish::tried;
use super::install::InstallOutcome;
use crate::advice::{Opt, Verb, Warning, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::name::SkillName;
use crate::ops::install::own;
use crate::scope::Scope;
use crate::scope::agent_view::Unseen;
use crate::scope::changes::PathChange;
use crate::scope::plan::ChangedFiles;
use crate::scope::state::Files;
use crate::scope::transaction::Transaction;
use crate::scope_kind::ScopeKind;
pub use crate::template::{BUILTIN, Builtin, Resource};
use crate::template::{Template, Values};

/// A request to create a skill. If a value is `None`, the user is asked for it, if possible.
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// The skill's name.
    pub name: Option<String>,
    /// What it does and when to use it; otherwise a text that is to be replaced.
    pub description: Option<String>,
    /// The license as an SPDX expression; otherwise it has none.
    pub license: Option<String>,
    /// The author; otherwise none is named.
    pub author: Option<String>,
    /// A built-in template, or a source that holds one; otherwise `basic`.
    pub template: Option<String>,
    /// Values for the variables that the template declares.
    pub variables: BTreeMap<String, String>,
    /// The directories that get a first file, if the template has none there.
    pub resources: BTreeSet<Resource>,
    /// Whether it gets a file with requests for `test`.
    pub evals: bool,
    /// The scope to create the skill in, at `skills/` next to the manifest, and to install it from there.
    pub scope: Option<ScopeKind>,
    /// The parent of the skill's directory; without this and a scope, the working directory.
    pub parent: Option<PathBuf>,
    /// Whether to create nothing.
    pub dry_run: bool,
}

/// The outcome of the creation. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CreateOutcome {
    /// The skill's name.
    pub name: String,
    /// The skill's directory.
    pub path: PathBuf,
    /// The name of the template.
    pub template: String,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The files, sorted.
    pub files: Vec<CreatedFile>,
    /// The installation, if the skill was created in a scope.
    pub installed: Option<Installed>,
}

/// The installation of a new skill. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Installed {
    /// The scope.
    pub scope: ScopeKind,
    /// The ids of the agents that see it.
    pub seen_by: Vec<String>,
    /// The agents of this machine that do not see all skills of the scope.
    pub unseen: Vec<Unseen>,
    /// The paths that were changed.
    pub paths: Vec<PathChange>,
    /// Which of manifest and lockfile changed.
    pub files_changed: ChangedFiles,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
}

impl Installed {
    fn of(scope: ScopeKind, outcome: InstallOutcome) -> Self {
        let InstallOutcome { agents, seen_by, unseen, paths, files, warnings, .. } = outcome;
        let seen_by: BTreeSet<String> = agents.into_iter().chain(seen_by).collect();
        Self { scope, seen_by: seen_by.into_iter().collect(), unseen, paths, files_changed: files, warnings }
    }
}

/// A file of a new skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CreatedFile {
    /// The path below the skill's directory.
    pub path: String,
    /// Whether it is executable.
    pub executable: bool,
}

/// Creates a new skill in a directory with its name. The skill passes `validate --profile publish` once its text is written: any value that would not
/// pass is refused, or requested again if the user can be asked, before anything is written.
///
/// # Errors
///
/// Fails for a name that the specification refuses, a directory that cannot be written or already exists, unless a killed
/// run left it, a template that cannot be read or filled in, and values or a template that do not make a publishable skill.
pub fn create(context: &Context, request: &CreateRequest) -> Result<CreateOutcome> {
    let asked = Asked { question: "name of the skill", given: request.name.as_deref(), default: "" };
    let like = |text: &str| SkillName::slug(text).map(|slug| slug.to_string()).unwrap_or_default();
    let name = settle(context, &asked, like, check::name)?.ok_or_else(no_name)?;
    let path = place(context, request, &name)?;
    let is_there = fs::kind(&path)?.is_some();
    if is_there && request.scope.is_none() {
        return Err(exists(&path));
    }
    let mut template = open::template(context, request.template.as_deref())?;
    if request.evals {
        template.files.extend(evals::file(&name));
    }
    let values = values(context, request, &template, name)?;
    let set = template.fill(&values)?;
    if let Some(error) = publish::refusal(&template, &publish::faults(&template, &values, &set)?) {
        return Err(error);
    }
    // A run that was killed before the skill was installed is completed.
    if is_there && !own::holds(&path, &set) {
        return Err(exists(&path).hint(message!(
            "if that is the skill, ",
            Verb::Install.call().flag(Opt::Editable).path(&path),
            " installs it"
        )));
    }
    let mut installed = None;
    if !request.dry_run {
        if !is_there {
            own::write_new(&path, &set)?;
        }
        if let Some(kind) = request.scope {
            let made = (Some(&values.name), &[path.as_path()][..]);
            let done = own::install_editable(context, kind, made, Vec::new(), false);
            let done = done.map_err(|error| {
                error.context(format!("`{}` was created, and not installed", path.display()))
            })?;
            installed = Some(Installed::of(kind, done));
        }
    }
    let files = set.files().iter();
    let files = files.map(|f| CreatedFile { path: f.path.to_string(), executable: f.executable }).collect();
    let (name, template) = (values.name.to_string(), template.name);
    Ok(CreateOutcome { name, path, template, files, dry_run: request.dry_run, installed })
}

fn no_name() -> Error {
    Error::usage("the skill needs a name")
        .hint(message!(Verb::Create.call().word("NAME"), " makes a skill of that name"))
}

/// Returns the directory to create: in a scope, one among the skills that people write there.
fn place(context: &Context, request: &CreateRequest, name: &SkillName) -> Result<PathBuf> {
    let cwd = &context.settings.cwd;
    let kind = match (&request.parent, request.scope) {
        (Some(parent), _) => return Ok(cwd.join(parent).join(name.as_str())),
        (None, None) => return Ok(cwd.join(name.as_str())),
        (None, Some(kind)) => kind,
    };
    let scope = Scope::new(&context.settings, kind)?;
    if !request.dry_run && Transaction::is_cut_off(&scope) {
        // Whether a killed run installed the skill is known once that run is finished.
        drop(Transaction::begin(&scope, &context.settings, &*context.reporter)?);
    }
    if Files::read(&scope)?.knows(name) {
        return Err(Error::usage(format!("`{name}` is already installed")).hint(message!(
            "choose another name, or remove it with ",
            Verb::Remove.within(kind).word(name)
        )));
    }
    scope.check_skills_inside()?;
    let installed = scope.skill_dir(name);
    if fs::kind(&installed)?.is_some() {
        return Err(own::already_exists(&installed).hint(message!(
            Verb::Import.within(kind).word(name),
            " adopts the skill in it; else choose another name"
        )));
    }
    own::place(&scope, name)
}

/// A function that sets an optional value.
type Set = fn(Values, Option<String>) -> Values;

/// Returns the values to fill in: the given ones, otherwise the user's answers, otherwise the defaults. Tries
/// each value in the template as soon as it is known.
fn values(
    context: &Context,
    request: &CreateRequest,
    template: &Template,
    name: SkillName,
) -> Result<Values> {
    let mut values = Values {
        name,
        description: check::PLACEHOLDER.to_owned(),
        license: None,
        author: None,
        resources: request.resources.clone(),
        variables: open::stand_ins(template),
    };
    tried(template, &values, publish::NAME)?;
    let description = Asked {
        question: "what it does, and when to use it (empty: to be written)",
        given: request.description.as_deref(),
        default: "",
    };
    let with = |text: &str| {
        // An empty answer leaves it for later, but an empty flag is a slip.
        if text.trim().is_empty() && request.description.as_deref() != Some(text) {
            return Ok(values.clone());
        }
        let description = check::description(text)?.to_owned();
        tried(template, &Values { description, ..values.clone() }, publish::DESCRIPTION)
    };
    if let Some(with) = settle(context, &description, |_| String::new(), with)? {
        values = with;
    }
    let optional: [(&str, &str, &Option<String>, Set); 2] = [
        ("author (empty: none)", publish::AUTHOR, &request.author, |values, author| Values {
            author,
            ..values
        }),
        ("license, such as MIT (empty: none)", publish::LICENSE, &request.license, |values, license| {
            Values { license, ..values }
        }),
    ];
    for (question, what, given, set) in optional {
        let asked = Asked { question, given: given.as_deref(), default: "" };
        let with = |text: &str| {
            // An empty text is a valid answer, but not a valid value of a flag.
            let is_none = text.trim().is_empty() && given.as_deref() != Some(text);
            let text = if is_none { None } else { Some(check::line(what, text)?) };
            tried(template, &set(values.clone(), text), what)
        };
        if let Some(with) = settle(context, &asked, |_| String::new(), with)? {
            values = with;
        }
    }
    open::variables(context, template, &request.variables, values)
}

fn exists(path: &Path) -> Error {
    own::already_exists(path).hint(message!("choose another name, or another directory with ", Opt::Path))
}

#[cfg(test)]
mod tests;
