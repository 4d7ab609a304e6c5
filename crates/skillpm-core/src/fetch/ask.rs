//! Asking which of several skills to install, if the user named none.

use super::typed_source::source_of;
use crate::advice::{Call, Opt, Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::reporter::Choice;
use crate::scope::Scope;
use crate::scope::state::Files;
use crate::scope_kind::ScopeKind;
use crate::source::FetchedSource;
use crate::source::discover::Candidate;
use crate::spec::SourceSpec;
use crate::text::visible_name;

/// Returns the skills to install out of those `found` in a source: the only one, those that the user picks,
/// or with `all` every one. Leaves out skills that are internal to the source if there are others.
pub(crate) fn ask(
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

/// Returns those of `all` that are not internal, or all of them if every one is.
pub(crate) fn offered<T>(mut all: Vec<T>, is_internal: impl Fn(&T) -> bool) -> Vec<T> {
    if !all.iter().all(&is_internal) {
        all.retain(|one| !is_internal(one));
    }
    all
}

/// Lets the user pick from `items`. Returns `None` if the user cannot be asked.
pub(crate) fn pick(context: &Context, mut items: Vec<Choice>) -> Result<Option<Vec<usize>>> {
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
pub(crate) fn several(who: &str, call: Call, named: &[(String, String)]) -> Error {
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
pub(crate) fn description(candidate: &Candidate) -> String {
    match &candidate.meta {
        Ok(meta) => meta.description.split_whitespace().collect::<Vec<_>>().join(" "),
        Err(problem) => problem.clone(),
    }
}
