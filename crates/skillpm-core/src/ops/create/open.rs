//! Loading of templates, and the values of their variables.

use std::collections::BTreeMap;

use super::ask::{Asked, settle};
use super::check::one_line;
use super::publish::tried;
use crate::advice::{Opt, Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::fetcher::Sources;
use crate::ops::install::check_no_directory;
use crate::refusal::Limits;
use crate::scope::Scope;
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::source;
use crate::spec::{SourceSpec, SpecError};
use crate::template::{BUILTIN, Template, Values, Variable};
use crate::text::closest;

/// Returns the template that `typed` names: a built-in one, or the directory of a source.
pub(super) fn template(context: &Context, typed: Option<&str>) -> Result<Template> {
    let typed = typed.unwrap_or(BUILTIN[0].name);
    if let Some(template) = Template::builtin(typed) {
        return Ok(template);
    }
    let spec: SourceSpec = typed.parse().map_err(|error| not_a_template(typed, &error))?;
    if spec.skill.is_some() {
        return Err(Error::usage(format!("`{typed}` names a skill, but a template is a directory"))
            .hint("write `owner/repo/directory` instead of `owner/repo@skill`"));
    }
    check_no_directory(context, typed, &spec)?;
    // Paths start from the working directory, as everywhere.
    let scope = Scope::new(&context.settings, ScopeKind::Project)?;
    let origin = source::settled(context, scope.as_root(), spec.origin.clone())?;
    let spec = SourceSpec { origin, ..spec };
    let opened = Sources::new(context, &scope, &Files::read(&scope)?.manifest)?.open(&spec)?;
    let directory = spec.path.unwrap_or_default();
    let opened = opened.subtree(&directory, None)?;
    if !directory.is_empty() && opened.tree.below(&directory).next().is_none() {
        return Err(Error::usage(format!("`{typed}` does not exist")).hint("check the spelling"));
    }
    let set = opened
        .tree
        .skill(&directory, &Limits::default())
        .map_err(|error| Error::from(error).context(format!("the template `{typed}` is refused")))?;
    Template::from_files(typed, &set)
}

fn not_a_template(typed: &str, error: &SpecError) -> Error {
    let names = || BUILTIN.iter().map(|builtin| builtin.name);
    let error = match error {
        SpecError::Word(_) => Error::usage(format!("there is no template `{typed}`")),
        other => Error::usage(other.to_string()),
    };
    let error = match closest(typed, names()) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error,
    };
    error.hint(message!(
        Verb::Create.call().flag(Opt::ListTemplates),
        " lists the built-in ones; others are `./dir` or `owner/repo/dir`"
    ))
}

/// Returns the placeholders for the variables of `template` until their values are known.
pub(super) fn stand_ins(template: &Template) -> BTreeMap<String, String> {
    let value = |variable: &Variable| variable.default.clone().unwrap_or_else(|| "value".to_owned());
    template.variables.iter().map(|variable| (variable.name.clone(), value(variable))).collect()
}

/// Returns `values` with the variables that `template` declares: the `given` value, otherwise the user's
/// answer, otherwise the default.
pub(super) fn variables(
    context: &Context,
    template: &Template,
    given: &BTreeMap<String, String>,
    mut values: Values,
) -> Result<Values> {
    let names = || template.variables.iter().map(|variable| variable.name.as_str());
    if let Some(unknown) = given.keys().find(|name| names().all(|known| known != *name)) {
        let error = Error::usage(format!("the template `{}` has no variable `{unknown}`", template.name));
        let known: Vec<_> = names().map(|name| format!("`{name}`")).collect();
        return Err(error.hint(match &known[..] {
            [] => message!("it has none; leave out ", Opt::Var),
            _ => format!("it has {}", known.join(", ")).into(),
        }));
    }
    for variable in &template.variables {
        let (name, default) = (&variable.name, variable.default.as_deref());
        let with = |text: &str| {
            let mut values = values.clone();
            values.variables.insert(name.clone(), one_line(&format!("`{name}`"), text)?);
            tried(template, &values, &format!("`{name}`"))
        };
        let asked = Asked {
            question: &variable.prompt,
            given: given.get(name).map(String::as_str),
            default: default.unwrap_or_default(),
        };
        let like = |_: &str| default.unwrap_or_default().to_owned();
        values = match (settle(context, &asked, like, with)?, default) {
            (Some(values), _) => values,
            (None, Some(default)) => with(default)?,
            (None, None) => {
                return Err(Error::usage(format!(
                    "the template `{}` needs a value for `{name}`: {}",
                    template.name, variable.prompt
                ))
                .hint(message!("set it with ", (Opt::Var, format!("{name}=VALUE")))));
            }
        };
    }
    Ok(values)
}
