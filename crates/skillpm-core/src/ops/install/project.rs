//! `install --from-project`: the skills of the packages that a project uses.

use super::among::{ask_among, leave};
use super::available::available;
use super::chosen::{Chosen, Selection, mark_named};
use super::outcome::InstallOutcome;
use super::request::InstallRequest;
use crate::advice::{Opt, Verb, Warning, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::select;
use crate::fetch::select::ALL;
use crate::scope::Scope;
use crate::source::discover::discover_all;
use crate::source::package::{self, Project};
use crate::spec::SourceSpec;
use crate::text::closest;

/// Lists the skills of the packages that the project of `scope` uses, or those that `request` names.
pub(super) fn list(context: &Context, scope: &Scope, request: &InstallRequest) -> Result<InstallOutcome> {
    let (mut bringers, warnings) = bringers(context, scope)?;
    if !request.skills.is_empty() {
        choose_among(context, request, &mut bringers)?;
    }
    let mut outcome = InstallOutcome { warnings, ..InstallOutcome::default() };
    for Chosen { spec, opened, candidates, .. } in &bringers {
        outcome.available.extend(candidates.iter().map(|c| available(spec, &opened.name, c)));
    }
    Ok(outcome)
}

/// Chooses the skills for `request`: by name, all, the only one, or those that the user picks.
pub(super) fn choose(context: &Context, scope: &Scope, request: &InstallRequest) -> Result<Selection> {
    let (mut sources, warnings) = bringers(context, scope)?;
    choose_among(context, request, &mut sources)?;
    mark_named(request, &mut sources);
    Ok(Selection { sources, warnings, ..Selection::default() })
}

fn bringers(context: &Context, scope: &Scope) -> Result<(Vec<Chosen>, Vec<Warning>)> {
    let Project { packages, looked, warnings } = package::of_project(context, scope.as_root())?;
    let mut bringers = Vec::new();
    for (package, opened) in packages {
        let spec = SourceSpec::new(package);
        let candidates = discover_all(&opened.tree);
        bringers.push(Chosen { spec, opened, candidates, named: false, missed: Vec::new() });
    }
    if bringers.is_empty() {
        let root = scope.root.display();
        let error = if looked.is_empty() {
            Error::usage(format!("skillpm does not know how to find the packages of `{root}`"))
                .hint("such a project has a `pyproject.toml`, `package.json`, `DESCRIPTION`, `renv.lock` or `Cargo.toml`")
        } else {
            Error::usage(format!(
                "no package of this project comes with skills; searched {}",
                looked.join(", ")
            ))
        };
        return Err(warnings.into_iter().fold(error, Error::hint));
    }
    Ok((bringers, warnings))
}

/// Keeps only the skills for `request`.
fn choose_among(context: &Context, request: &InstallRequest, bringers: &mut [Chosen]) -> Result<()> {
    if request.skills.iter().any(|name| name == ALL) {
        return Ok(());
    }
    if request.skills.is_empty() {
        return ask_among(
            context,
            bringers,
            request.yes,
            "the packages of this project",
            Verb::Install.call().flag(Opt::FromProject),
        );
    }
    let mut keep: Vec<Vec<String>> = vec![Vec::new(); bringers.len()];
    for name in &request.skills {
        let mut having = Vec::new();
        for (at, Chosen { spec, opened, candidates, .. }) in bringers.iter().enumerate() {
            if let Some(one) = select::by_name(spec, opened, candidates, name)? {
                let exact = one.meta.as_ref().is_ok_and(|meta| meta.name == *name);
                having.push((at, one.path, exact));
            }
        }
        // The name of a directory only counts if no skill has that name.
        if having.iter().any(|(.., exact)| *exact) {
            having.retain(|(.., exact)| *exact);
        }
        match &having[..] {
            [(at, path, _)] => keep[*at].push(path.clone()),
            [] => {
                let titles = bringers
                    .iter()
                    .flat_map(|bringer| bringer.candidates.iter().map(|c| c.title(&bringer.opened.name)));
                let error = Error::usage(format!("no package of this project has a skill `{name}`"));
                let error = match closest(name, titles) {
                    Some(close) => error.hint(format!("did you mean `{close}`?")),
                    None => error,
                };
                return Err(error.hint(message!(
                    Verb::Install.call().flag(Opt::FromProject).flag(Opt::List),
                    " shows what is available"
                )));
            }
            several => {
                let sources: Vec<_> = several
                    .iter()
                    .map(|(at, path, _)| {
                        let spec = &bringers[*at].spec;
                        // The name of a skill has no slash: it was named by its path.
                        if name.contains('/') {
                            SourceSpec { path: Some(path.clone()), ..spec.clone() }.to_string()
                        } else {
                            format!("{spec}@{name}")
                        }
                    })
                    .collect();
                let places: Vec<_> = sources.iter().map(|source| format!("\n  {source}")).collect();
                let call = request.scope.map_or(Verb::Install.call(), |scope| Verb::Install.within(scope));
                return Err(Error::usage(format!(
                    "{} packages of this project have a skill `{name}`:{}",
                    several.len(),
                    places.concat()
                ))
                .hint(message!("say which: ", call.word(&sources[0]))));
            }
        }
    }
    leave(bringers, &keep);
    Ok(())
}
