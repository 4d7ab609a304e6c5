//! `search`: finds skills in the configured registries and among those that are available here.

mod outcome;
mod sources;

use std::collections::{BTreeMap, BTreeSet};

pub use self::outcome::{FoundIn, FoundSkill, SearchOutcome};
use self::sources::{installed, of_registries, of_site};
use crate::advice::{Opt, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::registries::configured;
use crate::fs;
use crate::ranking::SearchWords;
use crate::reporter::Choice;
use crate::scope::Scope;
use crate::scope::state::read_manifest;
use crate::scope::transaction::Transaction;
use crate::scope_kind::ScopeKind;

/// The number of matches that are returned unless the request says otherwise.
pub const DEFAULT_LIMIT: usize = 20;
/// The largest number of names that are suggested if nothing matches.
const SUGGESTIONS: usize = 3;

/// A request to search for skills.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest {
    /// The words; a skill must match at least one of them.
    pub words: Vec<String>,
    /// Only the registry of this name.
    pub registry: Option<String>,
    /// Only the skills that are available here.
    pub installed: bool,
    /// Whether to ask skills.sh, a public site, as well.
    pub skills_sh: bool,
    /// The largest number of matches to return.
    pub limit: usize,
}

/// Searches for skills. A registry that cannot be asked is not an error: the outcome says why, and contains the others.
///
/// # Errors
///
/// Fails without a word, for a manifest or policy that cannot be read, for a registry that is not configured, and if
/// there is nothing to search.
pub fn search(context: &Context, request: &SearchRequest) -> Result<SearchOutcome> {
    let words = SearchWords::new(request.words.iter().map(String::as_str));
    if words.is_empty() {
        return Err(Error::usage("there is no word to search for").hint("name what the skill should do"));
    }
    let mut outcome = SearchOutcome::default();
    let mut searched = if request.registry.is_some() { Vec::new() } else { installed(context)? };
    let here: BTreeSet<String> = searched.iter().map(|one| one.name.clone()).collect();
    let registries =
        if request.installed { Vec::new() } else { configured(context, request.registry.as_deref())? };
    for listed in of_registries(context, &registries)? {
        match listed {
            Ok(skills) => searched.extend(skills),
            Err(error) if error.code() == codes::REGISTRY_EMPTY => outcome.warnings.push(error.into()),
            Err(error) => outcome.failures.push(error),
        }
    }
    tell_of_others(&mut searched, &here);
    rank(&words, searched, &mut outcome);
    let nowhere = registries.is_empty() && here.is_empty();
    let asks_site = match (request.skills_sh, request.installed || !registries.is_empty()) {
        (true, _) => true,
        (false, false) if outcome.skills.is_empty() => may_ask_site(context, &mut outcome)?,
        _ => false,
    };
    if asks_site {
        match of_site(context, &request.words.join(" "), request.limit) {
            Ok(skills) => outcome.skills.extend(skills),
            Err(error) => outcome.failures.push(error),
        }
    } else if nowhere {
        return Err(nothing_to_search(request));
    }
    if !outcome.skills.is_empty() {
        outcome.suggestions.clear();
    }
    outcome.total = outcome.skills.len();
    outcome.skills.truncate(request.limit);
    Ok(outcome)
}

/// Reports whether skills.sh may see the words: what the user's own manifest says, else what the user answers now. The
/// manifest keeps that answer.
fn may_ask_site(context: &Context, outcome: &mut SearchOutcome) -> Result<bool> {
    let settings = &context.settings;
    if settings.home.is_none() {
        return Ok(false);
    }
    let user = Scope::new(settings, ScopeKind::User)?;
    if let Some(answer) = read_manifest(&user)?.0.search().skills_sh() {
        return Ok(answer);
    }
    // With what a terminal adds, it fits into a line of 80 columns.
    let question = "no registry is set; search skills.sh, a public site? (asked once)";
    let Some(answer) = context.interact.confirm(question) else { return Ok(false) };
    let _alone = Transaction::begin(&user, settings, &*context.reporter)?;
    let (mut manifest, _) = read_manifest(&user)?;
    manifest.set_search_of_site(answer);
    if let Some(text) = manifest.written() {
        fs::create_dir_all(user.manifest.parent().unwrap_or(&user.manifest))?;
        fs::write_atomic(&user.manifest, text.as_bytes())?;
        outcome.remembered = Some(user.manifest.clone());
    }
    Ok(answer)
}

/// Lets a person pick from the skills of `outcome` that can be installed. Returns the sources to install; `None` if there is
/// none, or no person can be asked.
pub fn pick(context: &Context, outcome: &SearchOutcome) -> Option<Vec<String>> {
    let (mut items, mut sources) = (Vec::new(), Vec::new());
    for skill in &outcome.skills {
        let Some(source) = &skill.source else { continue };
        let note = skill.installed.then(|| "installed".to_owned());
        items.push(Choice { note, ..Choice::new(source, &skill.about()) });
        sources.push(source);
    }
    if items.is_empty() {
        return None;
    }
    let picked = context.interact.choose("which skills do you want to install?", &items)?;
    Some(picked.into_iter().filter_map(|at| sources.get(at)).map(|source| (*source).clone()).collect())
}

/// Notes for each skill which other registries have its name, and whether one of its name is `here` already.
fn tell_of_others(searched: &mut [FoundSkill], here: &BTreeSet<String>) {
    let mut registries: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let of_registries = || searched.iter().filter_map(|skill| Some((skill, skill.registry.as_ref()?)));
    // The map costs more than the search itself, and one registry has no name twice.
    let first = of_registries().next().map(|(_, registry)| registry);
    if of_registries().any(|(_, registry)| Some(registry) != first) {
        for (skill, registry) in of_registries() {
            registries.entry(skill.name.clone()).or_default().push(registry.clone());
        }
    }
    registries.retain(|_, names| names.len() > 1);
    for skill in searched {
        let Some(own) = &skill.registry else { continue };
        skill.installed = here.contains(&skill.name);
        let all = registries.get(&skill.name).into_iter().flatten();
        skill.also_in = all.filter(|registry| *registry != own).cloned().collect();
    }
}

/// Adds the skills that match `words`, best first, or else names that are similar.
fn rank(words: &SearchWords, searched: Vec<FoundSkill>, outcome: &mut SearchOutcome) {
    let matches = words.rank(&searched.iter().map(FoundSkill::document).collect());
    if matches.is_empty() {
        let names = searched.iter().map(|skill| skill.document().name);
        let similar = words.similar(names, SUGGESTIONS);
        outcome.suggestions = similar.into_iter().map(ToOwned::to_owned).collect();
    }
    let mut searched: Vec<Option<FoundSkill>> = searched.into_iter().map(Some).collect();
    for found in matches {
        outcome.skills.extend(searched.get_mut(found.at).and_then(Option::take));
    }
}

fn nothing_to_search(request: &SearchRequest) -> Error {
    if request.installed {
        return Error::usage("no skills are installed here").coded(codes::SKILL_NOT_FOUND);
    }
    let mut call = Verb::Search.call().flag(Opt::SkillsSh);
    for word in &request.words {
        call = call.word(word);
    }
    Error::usage("there is nothing to search: no registry is configured, and no skill is installed")
        .coded(codes::REGISTRY_ABSENT)
        .hint("name a registry under `[registries]` in `skillpm.toml`, as in `default = \"https://skills.example.com\"` or `default = \"../skills\"`")
        .hint(message!(call, " asks skills.sh, a public site"))
}
