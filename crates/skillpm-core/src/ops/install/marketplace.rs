//! `install --marketplace`: plugins by name, from the list in a marketplace.

use super::among::{ask_among, leave};
use super::available::{Available, OfferedPlugin, available as shown};
use super::chosen::{Chosen, Selection, mark_named};
use super::outcome::InstallOutcome;
use super::request::InstallRequest;
use super::typed;
use crate::advice::{Opt, Verb, message};
use crate::error::{Error, Failure, NamedFailure, Result};
use crate::fetch::fetcher::Sources;
use crate::fetch::select::{self, ALL};
use crate::manifest::Manifest;
use crate::reporter::Choice;
use crate::source::discover::of_plugin;
use crate::source::marketplace::{self, Marketplace, Plugin, PluginSource};
use crate::source::{self, FetchedSource};
use crate::spec::SourceSpec;
use crate::text::{closest, visible_name};

/// Lists the plugins of the marketplace `typed`, or the chosen skills of the named plugins.
pub(super) fn list(
    sources: &mut Sources<'_>,
    request: &InstallRequest,
    typed: &str,
) -> Result<InstallOutcome> {
    let mut market = Market::open(sources, request, typed)?;
    if request.sources.is_empty() {
        let plugins = market.list.plugins.iter().map(|plugin| market.offered(plugin)).collect();
        return Ok(InstallOutcome { plugins, ..InstallOutcome::default() });
    }
    let plugins = market.named(&request.sources)?;
    let mut sources = plugins.iter().map(|plugin| market.skills(plugin)).collect::<Result<Vec<_>>>()?;
    narrow(&mut sources, &request.skills, typed)?;
    let mut available: Vec<Available> = Vec::new();
    for Chosen { spec, opened, candidates, .. } in &sources {
        available.extend(candidates.iter().map(|c| shown(spec, &opened.name, c)));
    }
    Ok(InstallOutcome { available, ..InstallOutcome::default() })
}

/// Opens the plugins of the marketplace `typed` that `request` names, with all of their skills or those that
/// it names.
pub(super) fn choose(sources: &mut Sources<'_>, request: &InstallRequest, typed: &str) -> Result<Selection> {
    let context = sources.context;
    let mut market = Market::open(sources, request, typed)?;
    let plugins = market.choose(request)?;
    let all = plugins.len() > 1 && (request.yes || request.sources.iter().any(|name| name == ALL));
    let (mut sources, mut warnings, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for plugin in &plugins {
        match market.skills(plugin) {
            Ok(chosen) => sources.push(chosen),
            // The user did not name this one.
            Err(error) if all => {
                let message = message!("left out: ", error.with_causes());
                let why = Failure { message, ..Failure::from(&error) };
                let left = NamedFailure { name: plugin.name.clone(), why };
                warnings.push(left.warning());
                left_out.push(left);
            }
            Err(error) => return Err(error),
        }
    }
    if sources.is_empty() {
        return Err(Error::integrity(format!(
            "none of the {} plugins of `{typed}` can be installed",
            plugins.len()
        ))
        .hint(message!(Verb::Install.call().option(Opt::Marketplace, typed).flag(Opt::List), " says why")));
    }
    narrow(&mut sources, &request.skills, typed)?;
    if request.skills.is_empty() && !request.sources.iter().any(|name| name == ALL) {
        let names = plugins.iter().map(|plugin| &plugin.name);
        let call = Verb::Install.call().option(Opt::Marketplace, typed).words(names);
        // Who names a plugin wants what is in it.
        let all = request.yes || !request.sources.is_empty();
        ask_among(context, &mut sources, all, "these plugins", call)?;
    }
    mark_named(request, &mut sources);
    Ok(Selection { sources, warnings, left_out })
}

/// Keeps only the skills that `names` mean; keeps all if none is named.
fn narrow(sources: &mut [Chosen], names: &[String], typed: &str) -> Result<()> {
    if names.iter().all(|name| name == ALL) {
        return Ok(());
    }
    let mut keep: Vec<Vec<String>> = vec![Vec::new(); sources.len()];
    for name in names {
        let mut found = false;
        for (source, keep) in sources.iter().zip(&mut keep) {
            if let Some(one) = select::by_name(&source.spec, &source.opened, &source.candidates, name)? {
                keep.push(one.path.clone());
                found = true;
            }
        }
        if !found {
            let titles = sources.iter().flat_map(|source| {
                source.candidates.iter().map(|candidate| candidate.title(&source.opened.name))
            });
            let error = Error::usage(format!("there is no skill `{name}` in the named plugins"));
            let error = match closest(name, titles) {
                Some(close) => error.hint(format!("did you mean `{close}`?")),
                None => error,
            };
            return Err(error.hint(message!(
                Verb::Install.call().option(Opt::Marketplace, typed).flag(Opt::List).word("PLUGIN"),
                " shows them"
            )));
        }
    }
    leave(sources, &keep);
    Ok(())
}

/// A marketplace that was opened.
struct Market<'a, 's> {
    /// The sources in which it and its plugins are opened.
    sources: &'a mut Sources<'s>,
    /// The source as the user typed it.
    typed: &'a str,
    /// The source of the marketplace.
    spec: SourceSpec,
    opened: FetchedSource,
    list: Marketplace,
}

impl<'a, 's> Market<'a, 's> {
    fn open(sources: &'a mut Sources<'s>, request: &InstallRequest, typed: &'a str) -> Result<Self> {
        let spec = typed::parse(sources.context, sources.scope, &Manifest::default(), request, typed)?;
        if let Some(name) = &spec.skill {
            return Err(Error::usage(format!("`@{name}` names a skill, but a marketplace has plugins"))
                .hint(message!(
                    "name the plugin after the source: ",
                    Verb::Install.call().option(Opt::Marketplace, "owner/repo").word("PLUGIN")
                )));
        }
        let opened = sources.open(&spec)?;
        let Some(list) = marketplace::read(&opened.tree, &spec)? else {
            return Err(Error::usage(format!("there is no marketplace in `{typed}`")).hint(message!(
                format_args!("a marketplace has a `{}`; ", marketplace::FILES[0]),
                Verb::Install.call().word(typed),
                " installs the skills of a source without one"
            )));
        };
        Ok(Self { sources, typed, spec, opened, list })
    }

    /// Returns the plugins that `names` mean.
    fn named(&self, names: &[String]) -> Result<Vec<Plugin>> {
        let mut chosen: Vec<Plugin> = Vec::new();
        for name in names {
            let Some(plugin) = self.list.plugins.iter().find(|plugin| plugin.name == *name) else {
                let error = Error::usage(format!("there is no plugin `{name}` in `{}`", self.typed));
                let names = self.list.plugins.iter().map(|plugin| plugin.name.as_str());
                let error = match closest(name, names) {
                    Some(close) => error.hint(format!("did you mean `{close}`?")),
                    None => error,
                };
                return Err(error.hint(message!(
                    Verb::Install.call().option(Opt::Marketplace, self.typed).flag(Opt::List),
                    " shows what is available"
                )));
            };
            if !chosen.contains(plugin) {
                chosen.push(plugin.clone());
            }
        }
        Ok(chosen)
    }

    /// Returns the chosen plugins: by name, all, the only one, or those that the user picks.
    fn choose(&self, request: &InstallRequest) -> Result<Vec<Plugin>> {
        let plugins = &self.list.plugins;
        if request.sources.iter().any(|name| name == ALL) {
            return Ok(plugins.clone());
        }
        if !request.sources.is_empty() {
            return self.named(&request.sources);
        }
        if plugins.is_empty() {
            return Err(Error::usage(format!("the marketplace `{}` has no plugins", self.typed)));
        }
        if plugins.len() == 1 || request.yes {
            return Ok(plugins.clone());
        }
        let items: Vec<_> =
            plugins.iter().map(|plugin| Choice::new(&plugin.name, &one_line(&plugin.description))).collect();
        match self.sources.context.interact.choose("which plugins do you want to install?", &items) {
            Some(picked) if picked.is_empty() => Err(Error::usage("no plugin was chosen")
                .hint("select plugins with the space bar, or name them after the source")),
            Some(picked) => Ok(picked.into_iter().filter_map(|at| plugins.get(at).cloned()).collect()),
            None => {
                let lines: Vec<_> =
                    plugins.iter().map(|plugin| format!("\n  {}", visible_name(&plugin.name))).collect();
                let message = format!(
                    "the marketplace `{}` has {} plugins; choose some:{}",
                    self.typed,
                    plugins.len(),
                    lines.concat()
                );
                Err(Error::usage(message).hint(message!(
                    Verb::Install.call().option(Opt::Marketplace, self.typed).word(&plugins[0].name),
                    " installs one; ",
                    Opt::List,
                    " describes them"
                )))
            }
        }
    }

    /// Returns the skills of `plugin`, wherever it is.
    fn skills(&mut self, plugin: &Plugin) -> Result<Chosen> {
        let refused = |error: Error| {
            error.context(format!("the plugin `{}` cannot be installed", visible_name(&plugin.name)))
        };
        let chosen = self.locate(plugin).map_err(refused)?;
        if chosen.candidates.is_empty() {
            return Err(Error::usage(format!("the plugin `{}` has no skills", visible_name(&plugin.name)))
                .hint(
                    "a plugin may bring other things, such as commands and servers; skillpm only installs skills",
                ));
        }
        Ok(chosen)
    }

    fn locate(&mut self, plugin: &Plugin) -> Result<Chosen> {
        let (spec, opened) = match &plugin.source {
            PluginSource::Inside(dir) => (self.inside(dir), self.opened.clone()),
            PluginSource::Elsewhere(spec) => {
                let origin =
                    source::settled(self.sources.context, self.sources.scope.as_root(), spec.origin.clone())?;
                let spec = SourceSpec { origin, ..spec.clone() };
                let opened = self.sources.open(&spec)?;
                (spec, opened)
            }
            PluginSource::Unusable { message, hint } => {
                return Err(
                    Error::usage(format!("{}: {message}", plugin.definition.place)).hint(hint.clone())
                );
            }
        };
        let root = spec.path.clone().unwrap_or_default();
        if !root.is_empty() && opened.tree.below(&root).next().is_none() {
            let place = SourceSpec { path: None, ..spec };
            return Err(Error::integrity(format!(
                "{}: there is no directory `{root}` in `{place}`",
                plugin.definition.place
            )));
        }
        let candidates = of_plugin(&opened.tree, &root, &plugin.definition)?;
        Ok(Chosen { spec, opened, candidates, named: false, missed: Vec::new() })
    }

    /// Returns directory `dir` of the marketplace's own source.
    fn inside(&self, dir: &str) -> SourceSpec {
        SourceSpec { path: Some(dir.to_owned()).filter(|dir| !dir.is_empty()), ..self.spec.clone() }
    }

    /// Returns the description of `plugin` for display, without fetching anything.
    fn offered(&self, plugin: &Plugin) -> OfferedPlugin {
        let mut offered = OfferedPlugin {
            name: plugin.name.clone(),
            description: plugin.description.clone(),
            version: plugin.version.clone(),
            source: None,
            skills: None,
            problem: None,
        };
        match &plugin.source {
            PluginSource::Inside(dir) => {
                offered.source = Some(self.inside(dir).to_string());
                match of_plugin(&self.opened.tree, dir, &plugin.definition) {
                    Ok(found) => offered.skills = Some(found.into_iter().map(|c| c.path).collect()),
                    Err(error) => offered.problem = Some(error.with_causes()),
                }
            }
            PluginSource::Elsewhere(spec) => offered.source = Some(spec.to_string()),
            PluginSource::Unusable { message, .. } => offered.problem = Some(message.as_str().into()),
        }
        offered
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
