//! `install`: skills from sources, or exactly what the lockfile says.

use std::borrow::Cow;
use std::collections::BTreeSet;

mod alarms;
mod around;
mod ask;
mod attributes;
pub(super) mod audience;
pub(super) mod editable;
mod fetch;
mod incomplete;
pub(in crate::ops) mod intake;
mod marketplace;
pub(in crate::ops) mod needs;
mod outcome;
mod project;
mod replaced;
pub(super) mod restore;
mod select;

pub(super) use self::fetch::{asked, locked, unprotected};
#[cfg(feature = "create")]
pub(super) use self::fetch::{check_no_directory, open};
pub(super) use self::intake::keep;
pub use self::outcome::{Available, Change, InstallOutcome, InstalledSkill, LeftOut, OfferedPlugin};
pub(super) use self::select::{candidates, of_name, typed};

use self::audience::Audience;
use self::fetch::Chosen;
use self::fetch::Fetched;
use self::intake::Intake;
use self::outcome::outcome;
use self::restore::Restore;
use super::absent::no_manifest;
use super::change::Begun;
use super::gate::Gate;
use super::home;
use crate::advice::{Opt, Verb, Warning, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::install::placed::{Gone, Placed};
use crate::install::plan::{Goal, Plan};
use crate::install::scope::{Scope, ScopeKind};
use crate::install::state::{Files, read_manifest};
use crate::install::transaction::Transaction;
use crate::name::SkillName;
use crate::settings::Settings;
use crate::spec::{Reference, SourceSpec, SpecError};
use crate::text::conflict_line;

/// What is to be installed.
#[derive(Debug, Clone, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own, and all combinations have a meaning"
)]
pub struct InstallRequest {
    /// Sources as they were typed. None: restore what manifest and lockfile say.
    pub sources: Vec<String>,
    /// A source with a marketplace; `sources` are names of its plugins then.
    pub marketplace: Option<String>,
    /// Take the skills of the packages that the project uses.
    pub from_project: bool,
    /// Names of skills in the sources; `*` is all of them.
    pub skills: Vec<String>,
    /// The name to install the one skill under that is meant, in place of its own.
    pub alias: Option<String>,
    /// A link to the directory takes the place of a copy.
    pub editable: bool,
    /// The revision, where it was given by a flag.
    pub reference: Option<Reference>,
    /// The scope; the project where it is `None`.
    pub scope: Option<ScopeKind>,
    /// Agents that are to see the skills, by id or alias; `*` is all that are on the machine.
    pub agents: Vec<String>,
    /// Copies in place of links.
    pub copy: bool,
    /// Plan only.
    pub dry_run: bool,
    /// Replace what is in the way; it is kept in the store.
    pub force: bool,
    /// Take all skills where several are found and none is named.
    pub yes: bool,
    /// Show what the sources hold, install nothing.
    pub list: bool,
    /// Fail where the lockfile would change.
    pub locked: bool,
    /// Use no network to find out what is meant: only what is locked.
    pub frozen: bool,
    /// Leave out the skills that others need.
    pub no_deps: bool,
}

/// Installs skills.
///
/// Sources are fetched and checked first; only then is the scope locked, and changed as one.
///
/// # Errors
///
/// Everything that can be wrong with a source, its content, the scope or the request; nothing has
/// been changed then.
pub fn install(context: &Context, request: &InstallRequest) -> Result<InstallOutcome> {
    let scope = if request.list {
        Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?
    } else {
        home::to_change(context, request.scope, request.dry_run)?
    };
    let request = &*with_skills_named(context, request)?;
    if request.restores() {
        check_restore(request)?;
        return reinstall(context, &scope, request);
    }
    if request.frozen {
        return Err(Error::usage(message!(
            Opt::Frozen,
            " only restores what is locked, so it takes no source"
        ))
        .hint(message!("remove the source, or use ", Opt::Locked)));
    }
    if let Some(typed) = &request.marketplace {
        if request.list {
            let gate = Gate::new(context, &scope, &read_manifest(&scope)?.0)?;
            return marketplace::list(context, &scope, request, typed, gate);
        }
        let (gate, files) = check_scope(context, &scope, request)?;
        let (fetched, chosen) = marketplace::choose_plugins(context, &scope, request, typed, gate)?;
        return put(context, &scope, request, files, fetched, &chosen, Enough::OneOfAll);
    }
    if request.from_project {
        if request.list {
            return project::list(context, &scope, request);
        }
        let (gate, files) = check_scope(context, &scope, request)?;
        let (fetched, chosen) = project::choose_skills(context, &scope, request, gate)?;
        return put(context, &scope, request, files, fetched, &chosen, Enough::OneOfAll);
    }
    let specs: Vec<SourceSpec> = request
        .sources
        .iter()
        .map(|text| fetch::parse(context, &scope, request, text))
        .collect::<Result<_>>()?;
    if request.list {
        let mut gate = Gate::new(context, &scope, &read_manifest(&scope)?.0)?;
        return fetch::list(context, &scope, request, &specs, &mut gate);
    }
    let (gate, files) = check_scope(context, &scope, request)?;
    let mut fetched = Fetched::new(gate);
    let typed = request.sources.iter().zip(&specs);
    let chosen = typed.map(|(text, spec)| fetched.choose(context, &scope, request, text, spec));
    let chosen = chosen.collect::<Result<Vec<_>>>()?;
    let missed: Vec<_> = chosen.iter().map(|chosen| chosen.missed.clone()).collect();
    fetch::check_missed(request, &missed)?;
    put(context, &scope, request, files, fetched, &chosen, Enough::OneOfEach)
}

/// Returns `request` with the words among its sources that are no sources as names of skills, where there are sources
/// beside them: `owner/repo pdf`.
///
/// # Errors
///
/// A word that is also what a directory or file here is called.
fn with_skills_named<'a>(context: &Context, request: &'a InstallRequest) -> Result<Cow<'a, InstallRequest>> {
    let is_word = |text: &String| matches!(text.parse::<SourceSpec>(), Err(SpecError::Word(_)));
    let (words, sources): (Vec<String>, Vec<String>) = request.sources.iter().cloned().partition(is_word);
    if request.marketplace.is_some() || words.is_empty() || sources.is_empty() {
        return Ok(Cow::Borrowed(request));
    }
    if let Some(word) =
        words.iter().find(|word| matches!(fs::kind(&context.settings.cwd.join(word)), Ok(Some(_))))
    {
        return Err(Error::usage(format!(
            "`{word}` is the name of something here, and may be a skill of `{}`",
            sources[0]
        ))
        .hint(message!((Opt::Skill, word), format_args!(" is the skill, `./{word}` what is here"))));
    }
    let skills = request.skills.iter().cloned().chain(words).collect();
    Ok(Cow::Owned(InstallRequest { sources, skills, ..request.clone() }))
}

/// How many skills must be fit to be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Enough {
    /// One of each source.
    OneOfEach,
    /// One of any source.
    OneOfAll,
}

/// Reads manifest and lockfile before anything is fetched, and returns them with the gate that sources have to pass.
///
/// # Errors
///
/// Fails for a file that is wrong, and for an agent that is unknown or has no directory in `scope`.
fn check_scope(context: &Context, scope: &Scope, request: &InstallRequest) -> Result<(Gate, Files)> {
    let files = Files::read(scope)?;
    Audience::read(&context.settings, scope, &files)?;
    Audience::named(&context.settings, scope, &request.agents)?;
    Ok((Gate::new(context, scope, &files.manifest)?, files))
}

/// Takes what was `chosen` and puts it into `scope`, whose files were `before` when the sources were opened.
fn put(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    before: Files,
    mut fetched: Fetched,
    chosen: &[Chosen],
    enough: Enough,
) -> Result<InstallOutcome> {
    // What is fetched may take long, and the scope is not locked for that.
    let intake = Intake::new(context);
    let mut taken = 0;
    for chosen in chosen {
        match enough {
            Enough::OneOfEach => fetched.add(context, scope, request, chosen, &intake)?,
            Enough::OneOfAll => taken += fetched.add_chosen(context, scope, request, chosen, &intake)?,
        }
    }
    if enough == Enough::OneOfAll && taken == 0 {
        return Err(fetch::nothing(std::mem::take(&mut fetched.warnings)));
    }
    let needs = needs::bring(context, scope, request, &before, &mut fetched, chosen, &intake)?;
    fetched.warnings.extend(intake.warning());
    let read = |scope: &Scope| Files::read_since(scope, before);
    change(context, scope, request, read, |files| {
        fetched.set_apart(files, chosen);
        let entries = needs.map(|needs| needs.entries(files)).unwrap_or_default();
        Ok(Restore { fetched, entries, ..Restore::default() })
    })
}

impl InstallRequest {
    /// Whether nothing new is asked for: what manifest and lockfile say is put back.
    fn restores(&self) -> bool {
        self.sources.is_empty() && self.marketplace.is_none() && !self.from_project
    }

    /// Returns the option that forbids changes of the lockfile, if one was passed.
    fn forbids_change(&self) -> Option<Opt> {
        match (self.locked, self.frozen) {
            (true, _) => Some(Opt::Locked),
            (_, true) => Some(Opt::Frozen),
            _ => None,
        }
    }
}

/// Flags that only choose among the skills of a source.
fn check_restore(request: &InstallRequest) -> Result<()> {
    let options = if request.list {
        message!(Opt::List)
    } else if !request.skills.is_empty() {
        message!(Opt::Skill)
    } else if request.reference.is_some() {
        message!(Opt::Tag, ", ", Opt::Branch, " or ", Opt::Rev)
    } else if request.alias.is_some() {
        message!(Opt::As)
    } else if request.editable {
        message!(Opt::Editable)
    } else {
        return Ok(());
    };
    Err(Error::usage(message!(options, " needs a source"))
        .hint("name one, such as `owner/repo` or `./skills`; without a source the lockfile is restored"))
}

/// Restores what manifest and lockfile say.
fn reinstall(context: &Context, scope: &Scope, request: &InstallRequest) -> Result<InstallOutcome> {
    // What is in them is read once, under the lock.
    let is_absent = |file| Ok::<_, Error>(fs::real_path(file)?.is_none());
    let is_new = || Ok::<_, Error>(is_absent(&scope.manifest)? && is_absent(&scope.lockfile)?);
    let is_begun = Transaction::is_begun(scope);
    if !is_begun && is_new()? {
        return Err(no_manifest(scope));
    }
    // A merge conflict in the lockfile is mended where it may change.
    let mends = !request.locked && !request.frozen;
    let read = if mends { Files::read_mended } else { Files::read };
    change(context, scope, request, read, |files| {
        // A killed run's change is taken back or ended by now, and may have been the first one.
        if is_begun && is_new()? {
            return Err(no_manifest(scope));
        }
        restore::restore(context, scope, files, request)
    })
}

/// Locks the scope, asks `prepare` what is to be there, and changes the scope to it.
fn change(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    read: impl FnOnce(&Scope) -> Result<Files>,
    prepare: impl FnOnce(&Files) -> Result<Restore>,
) -> Result<InstallOutcome> {
    let settings = &context.settings;
    let begun = Begun::begin_reading(context, scope, request.dry_run, read)?;
    let files = begun.files();
    let Restore { mut fetched, orphans, modified, unreadable, mut entries } = prepare(files)?;
    if request.no_deps {
        needs::keep(files, &mut fetched);
    }
    let audience = audience(settings, scope, files, request, &fetched, entries.keys())?;
    if !request.restores() {
        fetched.wanted.extend(audience.along(&fetched.wanted));
    }
    for wanted in &mut fetched.wanted {
        // A skill that is installed anew stays as visible as it was.
        wanted.disabled |= files.manifest.skills().get(&wanted.name).is_some_and(|entry| entry.disabled);
        audience.dress(wanted);
    }
    let put: BTreeSet<_> = fetched.wanted.iter().map(|wanted| &wanted.name).collect();
    entries.extend(audience.entries(&put));
    let asked = entries.iter().filter(|(_, entry)| !entry.dependency).map(|(name, _)| name);
    let orphans = if request.restores() { orphans } else { needs::unneeded(files, &fetched.wanted, asked) };
    let placed = Placed::of(settings, scope);
    // Without a manifest nobody says that something is not to be here.
    let settles = request.restores() && files.manifest_text.is_some();
    let Gone { left, mut unlinked } = if settles { placed.gone(files) } else { Gone::default() };
    for wanted in &mut fetched.wanted {
        let sees = |id: &&str| wanted.agents.iter().any(|agent| agent.id == *id);
        let gone = unlinked.remove(&wanted.name).unwrap_or_default();
        let gone: Vec<_> = gone.into_iter().filter(|id| !sees(id)).collect();
        wanted.leaving.extend(gone);
    }
    let goal = Goal {
        entries,
        left,
        manifest_agents: audience.manifest(request.copy),
        put: fetched.wanted,
        remove: orphans,
        copy: request.copy || files.manifest.agents().copy,
        force: request.force,
        ..Goal::default()
    };
    let planned = begun.plan(goal)?;
    let (plan, goal) = (planned.plan(), planned.goal());
    check_locked(scope, request, plan)?;
    let mut outcome = outcome(scope, goal, plan, files, &[&modified[..], &unreadable].concat());
    outcome.dry_run = request.dry_run;
    outcome.warnings = fetched.warnings;
    outcome.left_out = fetched.left_out;
    outcome.decided = fetched.gate.decided();
    outcome.warnings.extend(files.conflicts.as_ref().map(|conflicts| mended(scope, files, conflicts)));
    outcome.warnings.extend(still_disabled(scope, request, goal));
    outcome.warnings.extend(stays(context, scope, plan)?);
    if !request.restores() {
        outcome.warnings.extend(replaced::told(context, scope.kind, goal, files));
    }
    outcome.left_modified = modified.iter().map(ToString::to_string).collect();
    outcome.left_unreadable = unreadable.iter().map(ToString::to_string).collect();
    let applied = planned.apply(fetched.contents)?;
    if request.dry_run {
        return Ok(outcome);
    }
    outcome.warnings.extend(applied.warnings);
    outcome.warnings.extend_from_slice(&applied.saved);
    outcome.saved = applied.saved;
    let now = Files {
        manifest: applied.plan.manifest.unwrap_or_else(|| files.manifest.clone()),
        lock: applied.plan.lock.unwrap_or_else(|| files.lock.clone()),
        ..Files::default()
    };
    if settles {
        placed.settle(&now.manifest, &now.lock);
    }
    outcome.warnings.extend(attributes::keep(context, scope, &now.manifest));
    around::look(context, scope, &now, &mut outcome)?;
    Ok(outcome)
}

/// What is told of skills that nothing names any more, and that stay because they were edited. It is told once: what
/// is placed is noted without them.
fn stays(context: &Context, scope: &Scope, plan: &Plan) -> Result<Vec<Warning>> {
    let told = plan.stays.iter().map(|(place, name)| {
        let path = scope.place(&context.settings, place, name)?;
        let told = format!(
            "`{name}` is no longer requested, but `{}` was edited since it was installed: it was kept, and is yours from now on",
            path.display()
        );
        Ok(Warning::new("edited-kept", told))
    });
    told.collect()
}

/// What is told of a lockfile that was mended after a merge.
fn mended(scope: &Scope, files: &Files, conflicts: &BTreeSet<SkillName>) -> Warning {
    let file = scope.lockfile.file_name().unwrap_or_default().display();
    let names: Vec<_> = conflicts.iter().map(|name| format!("`{name}`")).collect();
    let anew =
        if names.is_empty() { String::new() } else { format!("; resolved again: {}", names.join(", ")) };
    let told = if files.lock_text.as_deref().and_then(conflict_line).is_some() {
        format!("`{file}` had merge-conflict markers; both sides were combined{anew}")
    } else {
        format!("`{file}` had skills twice, as a merge can leave them; duplicates were removed{anew}")
    };
    Warning::new("lock-repaired", told)
}

/// Who is to see what after the installation of what was `fetched`, when the manifest asks for `entries` as well.
fn audience<'a, 'b>(
    settings: &'a Settings,
    scope: &'a Scope,
    files: &'a Files,
    request: &InstallRequest,
    fetched: &'b Fetched,
    entries: impl Iterator<Item = &'b SkillName>,
) -> Result<Audience<'a>> {
    let mut audience = Audience::read(settings, scope, files)?;
    let named = Audience::named(settings, scope, &request.agents)?;
    let named = (!request.agents.is_empty()).then_some(&named);
    if request.restores() {
        if let Some(named) = named {
            audience.add(named, None);
        }
    } else {
        let asked = fetched.wanted.iter().filter(|wanted| wanted.requirement.is_some());
        let names: Vec<_> = asked.map(|wanted| wanted.name.clone()).collect();
        audience.install(&names, named);
    }
    audience.come(&fetched.wanted, entries);
    Ok(audience)
}

/// Refuses a lockfile that would change where that is not wanted.
fn check_locked(scope: &Scope, request: &InstallRequest, plan: &Plan) -> Result<()> {
    let Some(option) = request.forbids_change() else { return Ok(()) };
    if plan.lock.is_none() {
        return Ok(());
    }
    let file = scope.lockfile.display();
    Err(Error::config(message!(format_args!("`{file}` would change, but "), option, " forbids that"))
        .hint(message!("run ", Verb::Install.within(scope.kind), " without it and commit the file")))
}

/// Tells of skills that were named and that no agent sees all the same.
fn still_disabled(scope: &Scope, request: &InstallRequest, goal: &Goal) -> Option<Warning> {
    let names: Vec<_> = goal.put.iter().filter(|wanted| wanted.disabled).map(|w| w.name.as_str()).collect();
    let (first, told) = (names.first()?, names.join("`, `"));
    let stay = if names.len() == 1 { "stays" } else { "stay" };
    (!request.restores()).then(|| {
        Warning::new(
            "still-disabled",
            message!(
                format_args!("`{told}` {stay} disabled: "),
                Verb::Enable.within(scope.kind).word(first),
                " shows it to agents again"
            ),
        )
    })
}
