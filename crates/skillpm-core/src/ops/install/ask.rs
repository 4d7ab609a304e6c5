//! Asking which of several skills to install, if the user named none.

use super::chosen::{Chosen, source_of};
use crate::advice::{Call, Opt, Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::Files;
use crate::name::SkillName;
use crate::reporter::Choice;
use crate::source::FetchedSource;
use crate::source::discover::Candidate;
use crate::spec::SourceSpec;
use crate::text::visible_name;

/// Returns the skills to install out of those `found` in a source: the only one, those that the user picks,
/// or with `all` every one. Leaves out skills that are internal to the source if there are others.
pub(super) fn ask(
    context: &Context,
    spec: &SourceSpec,
    opened: &FetchedSource,
    found: Vec<Candidate>,
    all: bool,
) -> Result<Vec<Candidate>> {
    let offered = offered(found, Candidate::is_internal);
    // A path that is itself a skill names that skill.
    if offered.len() == 1 || all {
        return Ok(offered);
    }
    let title = |c: &Candidate| c.title(&opened.name).to_owned();
    let items = offered.iter().map(|c| Choice::new(&title(c), &description(c)));
    let Some(picked) = pick(context, items.collect())? else {
        let source = source_of(spec, opened);
        let named: Vec<_> = offered.iter().map(|c| (title(c), visible_name(&c.path))).collect();
        let call = Verb::Install.call().word(&source);
        return Err(several(&format!("`{source}` has"), call, &named));
    };
    Ok(picked.into_iter().filter_map(|at| offered.get(at).cloned()).collect())
}

/// Keeps the skills of several `sources` that the user picks, or all of them with `all`. `what` names the
/// sources, which `call` installs.
pub(super) fn ask_among(
    context: &Context,
    sources: &mut [Chosen],
    all: bool,
    what: &str,
    call: Call,
) -> Result<()> {
    let every = sources.iter().enumerate();
    let every = every.flat_map(|(at, source)| source.candidates.iter().map(move |candidate| (at, candidate)));
    let offered = offered(every.collect(), |(_, candidate)| candidate.is_internal());
    let title = |(at, candidate): (usize, &Candidate)| candidate.title(&sources[at].opened.name).to_owned();
    let picked = if offered.len() == 1 || all {
        (0..offered.len()).collect()
    } else {
        let item = |one: &(usize, &Candidate)| {
            Choice::new(&title(*one), &format!("({}) {}", sources[one.0].spec, description(one.1)))
        };
        let Some(picked) = pick(context, offered.iter().map(item).collect())? else {
            let named: Vec<_> =
                offered.iter().map(|one| (title(*one), sources[one.0].spec.to_string())).collect();
            return Err(several(&format!("{what} have"), call, &named));
        };
        picked
    };
    let mut keep: Vec<Vec<String>> = vec![Vec::new(); sources.len()];
    for (at, candidate) in picked.into_iter().filter_map(|at| offered.get(at)) {
        keep[*at].push(candidate.path.clone());
    }
    leave(sources, &keep);
    Ok(())
}

/// Keeps only the skills whose paths `keep` lists for each of the `sources`.
pub(super) fn leave(sources: &mut [Chosen], keep: &[Vec<String>]) {
    for (source, keep) in sources.iter_mut().zip(keep) {
        source.candidates.retain(|candidate| keep.contains(&candidate.path));
    }
}

/// Returns those of `all` that are not internal, or all of them if every one is.
fn offered<T>(mut all: Vec<T>, is_internal: impl Fn(&T) -> bool) -> Vec<T> {
    if !all.iter().all(&is_internal) {
        all.retain(|one| !is_internal(one));
    }
    all
}

/// Lets the user pick from `items`. Returns `None` if the user cannot be asked.
fn pick(context: &Context, mut items: Vec<Choice>) -> Result<Option<Vec<usize>>> {
    mark_installed(context, &mut items);
    let picked = context.interact.choose("which skills do you want to install?", &items);
    if picked.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::usage("no skill was chosen")
            .hint(message!("select skills with the space bar, or name them with ", (Opt::Skill, "NAME"))));
    }
    Ok(picked)
}

/// Returns the error for several skills in sources that `call` installs. `who` names the sources, and `named`
/// has the names of the skills and their places.
fn several(who: &str, call: Call, named: &[(String, String)]) -> Error {
    let lines = named.iter().map(|(title, place)| format!("\n  {} ({place})", visible_name(title)));
    let lines: Vec<_> = lines.collect();
    let start = format!("{who} {} skills; choose some with ", named.len());
    let message = message!(start, Opt::Skill, ":", lines.concat());
    // A name that two sources have chooses neither.
    let is_alone =
        |(title, _): &&(String, String)| named.iter().filter(|other| other.0 == *title).count() == 1;
    let first = named.iter().find(is_alone).or(named.first()).map_or("NAME", |(title, _)| title);
    Error::usage(message).hint(message!(
        call.option(Opt::Skill, first),
        " (more names may follow), or ",
        (Opt::Skill, "*"),
        " for all"
    ))
}

/// Marks those of `items` that are installed, in the project or for the user. Files that cannot be read are ignored.
fn mark_installed(context: &Context, items: &mut [Choice]) {
    for (kind, note) in [(ScopeKind::User, "installed for you"), (ScopeKind::Project, "installed")] {
        let files = Scope::new(&context.settings, kind).and_then(|scope| Files::read(&scope));
        let Ok(files) = files else { continue };
        for item in items.iter_mut() {
            if SkillName::new(&item.title).is_ok_and(|name| files.knows(&name)) {
                item.note = Some(note.to_owned());
            }
        }
    }
}

/// Returns the text about a skill in a picker.
fn description(candidate: &Candidate) -> String {
    match &candidate.meta {
        Ok(meta) => meta.description.split_whitespace().collect::<Vec<_>>().join(" "),
        Err(problem) => problem.clone(),
    }
}
