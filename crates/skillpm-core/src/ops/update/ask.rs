//! Asking sources, and getting what is newer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::edits;
use super::find::{Finder, Installed, Newer, UpdateJob, Work, nothing, tree};
use super::outcome::{UpdateChange, UpdatedSkill};

use crate::advice::{Message, Opt, Verb, Warning, message};
use crate::change::consent::ConsentGate;
use crate::codes;
use crate::digest::Digest;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::fetcher::{Newest, spec_of};
use crate::fetch::policy_check::skill_file;
use crate::fetch::typed_source::typed;
use crate::fetch::update_rules::request;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::diff::VersionDiff;
use crate::review::review;
use crate::scope_kind::ScopeKind;
use crate::skill;
use crate::source;
use crate::source::newest::restated;
use crate::spec::{Origin, Reference};
use crate::tree::FileSet;
use crate::updates::{Aim, Check, CheckFailure, How, Status, UpdateCandidate, check, moved, no_longer_found};

/// An installed skill, with what its source says of it.
pub(super) type AskedSkill<'a> = (Installed<'a>, UpdateCandidate<'a>);

impl<'a> Finder<'a> {
    /// Asks the sources what is newer, without a download where they tell, and returns the skills of
    /// which something may be: those of registries, and the others.
    pub(super) fn ask(
        &mut self,
        installed: Vec<Installed<'a>>,
    ) -> Result<(Vec<AskedSkill<'a>>, Vec<AskedSkill<'a>>)> {
        let is_pinned = |one: &Installed<'_>| {
            matches!(one.entry.reference, Some(Reference::Rev(_))) && one.locked.meets(&one.entry)
        };
        let (pinned, asked): (Vec<_>, Vec<_>) =
            installed.into_iter().partition(|one| is_pinned(one) && !self.request.latest);
        for one in &pinned {
            self.other(one, UpdateChange::Pinned);
            self.found.states.insert(one.name.to_string(), Status::Current.into());
        }
        let how = self.how(&asked)?;
        let names = asked.iter().map(|one| one.name);
        let rules = (&mut self.fetcher.sources as _, &how);
        let Check { candidates, failures, warnings } =
            check(self.context, self.scope, self.files, names, rules);
        let is_elsewhere = |one: &UpdateCandidate<'_>| !one.entry.origin.is_on_this_machine();
        if self.context.settings.offline && candidates.iter().any(is_elsewhere) {
            self.found.warnings.push(Warning::new(
                codes::OFFLINE,
                "without the network, sources on other machines are only known as last fetched",
            ));
        }
        self.found.warnings.extend(warnings);
        self.found.warnings.extend(candidates.iter().filter_map(|one| one.withdrawn("it")));
        self.found.states.extend(candidates.iter().map(|one| (one.name.to_string(), one.into())));
        let failed = self.without_answer(&asked, &candidates, failures)?;
        let all = asked.into_iter().zip(candidates).enumerate();
        let (released, others): (Vec<_>, Vec<_>) = all
            .filter(|(at, _)| !failed.contains(at))
            .map(|(_, one)| one)
            .partition(|(one, _)| one.entry.released().is_some());
        self.requests = released.iter().filter_map(|(_, one)| request(one, &how.aim)).collect();
        self.prefetch(&others);
        Ok((released, others))
    }

    /// Returns what is asked of the sources of `installed`.
    fn how(&self, installed: &[Installed<'_>]) -> Result<How> {
        let request = self.request;
        let unversioned = installed.iter().find(|one| one.entry.released().is_none());
        let aim = match (&request.precise, unversioned) {
            (Some(version), Some(one)) => {
                return Err(Error::usage(format!(
                    "`{}` does not come from a registry, so it has no version {version} to choose",
                    one.name
                ))
                .hint(message!(
                    Opt::Precise,
                    " is for skills of registries; `tag` in `skillpm.toml` chooses another revision"
                )));
            }
            (Some(version), None) => Aim::Exactly(version.clone()),
            (None, _) if request.latest => Aim::Latest,
            (None, _) => Aim::Newest,
        };
        Ok(How { aim, past: request.latest, minimal: request.minimal, alone: request.no_deps })
    }

    /// Reports `failures` of the check, and returns the positions of the skills of `asked` that stay as they are.
    fn without_answer(
        &mut self,
        asked: &[Installed<'_>],
        candidates: &[UpdateCandidate<'_>],
        failures: Vec<CheckFailure>,
    ) -> Result<BTreeSet<usize>> {
        let mut failed = BTreeSet::new();
        for CheckFailure { at, error, .. } in failures {
            // The pinned revision may be gone, but it is still known what is newer.
            let is_past =
                |at: &usize| candidates[*at].status == Status::RefGone && candidates[*at].latest.is_some();
            if self.request.latest && at.iter().all(is_past) {
                self.found.warnings.push(Warning::new(error.code(), error.with_causes()));
                continue;
            }
            let ones: Vec<_> = at.iter().filter_map(|at| asked.get(*at)).collect();
            self.fail_all(&ones, error)?;
            failed.extend(at);
        }
        Ok(failed)
    }

    /// Fails if an earlier merge of `installed`, whose version has to change, is not resolved.
    pub(super) fn check_merged(&mut self, installed: &Installed<'_>) -> Result<()> {
        let name = installed.name;
        // A skill with a new version was checked before.
        if self.found.jobs.iter().any(|job| job.name == *name && job.new_version().is_some()) {
            return Ok(());
        }
        // The outcome may already list it as unresolved.
        let is_listed =
            |other: &UpdatedSkill| other.change == UpdateChange::Unresolved && other.name == name.as_str();
        self.found.others.retain(|other| !is_listed(other));
        if !self.earlier(installed)? {
            return Ok(());
        }
        let what = format!("`{name}` has to change its version, and an earlier merge of it is not resolved");
        Err(Error::new(ErrorKind::Findings, what).hint(message!(
            "resolve it, or ",
            Verb::Update.within(self.scope.kind).word(name).flag(Opt::Abort),
            " undoes it"
        )))
    }

    /// Gets the skills of sites that are newer ready, all of a site at once.
    fn prefetch(&mut self, may: &[(Installed<'_>, UpdateCandidate<'_>)]) {
        let mut sites: BTreeMap<&Origin, Vec<_>> = BTreeMap::new();
        for (one, candidate) in may {
            if one.entry.origin.delivers_each()
                && matches!(candidate.status, Status::Changed | Status::Unknown)
            {
                let path = one.locked.path.as_deref().unwrap_or_default();
                sites.entry(&one.entry.origin).or_default().push((one, (path, candidate.newest.as_deref())));
            }
        }
        for ones in sites.into_values().filter(|ones| ones.len() > 1) {
            let paths: Vec<_> = ones.iter().map(|(_, wanted)| *wanted).collect();
            // An unavailable source is reported where it is read, for each skill by itself.
            if let Ok(opened) = self.fetcher.sources.open_outside(&spec_of(&ones[0].0.entry)) {
                let _ = opened.prefetch(&paths);
            }
        }
    }

    /// Gets what may be newer of one skill.
    pub(super) fn get(&mut self, (installed, candidate): AskedSkill<'_>) -> Result<()> {
        self.fetch(&installed, candidate).or_else(|error| self.fail(&installed, error))
    }

    /// Fetches the possible update of one skill, whose source is described by `candidate`.
    fn fetch(&mut self, installed: &Installed<'_>, candidate: UpdateCandidate<'_>) -> Result<()> {
        let Installed { name, locked, .. } = installed;
        // Whether the locked revision is still there is only checked where it matters: for skills that were named.
        let is_same = candidate.status == Status::Current
            && candidate.latest.is_none()
            && locked.is_allowed_by(&self.files.manifest, &installed.entry);
        if is_same && !(self.is_named() && self.gone(locked, candidate.newest.as_ref()).is_some()) {
            self.tell_moved_tag(installed, candidate.newest.as_deref());
            self.other(installed, UpdateChange::Unchanged);
            return Ok(());
        }
        let mut entry = installed.entry.clone();
        let goes_past = candidate.latest.is_some();
        let latest = candidate.latest.map(|latest| restated(entry.reference.as_ref(), latest.reference));
        entry.reference = latest.or(entry.reference);
        let source = (entry.origin.clone(), entry.reference.clone());
        if let Some(at) = self.unreachable.get(&source) {
            let failure = &mut self.found.failures[*at];
            failure.names.push(name.to_string());
            self.other(installed, UpdateChange::Failed);
            return Ok(());
        }
        if let Err(error) = self.fetcher.sources.open_outside(&spec_of(&entry)) {
            if error.kind() == ErrorKind::Network {
                self.unreachable.insert(source, self.found.failures.len());
            }
            return Err(error);
        }
        let (newest, follows) = match candidate.moved_to.filter(|_| !goes_past) {
            Some(place) => (self.follow(name, &mut entry, place)?, true),
            None => self.newest(name, &mut entry)?,
        };
        let digest = newest.set.digest()?;
        if digest != locked.digest
            && let Some(now) = newest.other_name(name)
            && self.is_renamed(installed, now)
        {
            return Err(renamed(self.scope.kind, name, &entry, now));
        }
        let new = newest.locked(digest);
        if !goes_past {
            self.tell_moved_tag(installed, new.revision.as_deref());
        }
        if digest == locked.digest && locked.meets(&entry) {
            // A revision that is gone cannot be restored, even if what is there now has the same files.
            let Some(reason) = self.gone(locked, new.revision.as_ref()) else {
                self.other(installed, UpdateChange::Unchanged);
                return Ok(());
            };
            let message = message!(reason, ": locked what is there now; its files are the same");
            let warning = Warning::new(codes::REVISION_GONE, message);
            if !self.found.warnings.contains(&warning) {
                self.found.warnings.push(warning);
            }
        }
        // Without a manifest, the lockfile says what is requested, and also for skills that others need.
        let is_written = self.files.manifest.skills().contains_key(*name);
        let anew = Some(&entry).filter(|_| (goes_past || follows) && is_written).cloned();
        let job = self.renew(installed, &newest, anew)?;
        self.incoming.push(newest.dependent(name));
        self.found.jobs.push(job);
        Ok(())
    }

    /// Returns what the source has of `entry`, and whether it had to be followed to another place.
    fn newest(&mut self, name: &SkillName, entry: &mut Requirement) -> Result<(Newest, bool)> {
        let error = match self.fetcher.newest(name, entry) {
            Ok(newest) => return Ok((newest, false)),
            Err(error) => error,
        };
        if let Some(place) = self.fetcher.moved(name, entry) {
            return Ok((self.follow(name, entry, place)?, true));
        }
        let here = source::here(&self.context.settings, self.scope.as_root(), &entry.origin);
        let entry = Requirement { dependency: self.files.is_only_needed(name), ..entry.clone() };
        Err(gone(self.scope.kind, name, &entry, here.as_ref(), error))
    }

    /// Follows a skill to `place`, where its source has it now: `entry` says so from now on.
    fn follow(&mut self, name: &SkillName, entry: &mut Requirement, place: String) -> Result<Newest> {
        let old = entry.path.replace(place);
        entry.path = entry.path.take().filter(|path| !path.is_empty());
        let newest = self.fetcher.newest(name, entry)?;
        let message = moved(name, &entry.origin, (old.as_deref(), entry.path.as_deref()));
        self.found.warnings.push(Warning::new(codes::SKILL_MOVED, message));
        Ok(newest)
    }

    /// Reports whether what is locked has another name than `now`. Many skills are called otherwise than their entry,
    /// and only a change of that is news.
    fn is_renamed(&mut self, installed: &Installed<'_>, now: &str) -> bool {
        let Installed { name, entry, locked } = installed;
        let on_disk = tree(self.context, self.scope, name, entry.disabled);
        let set = match on_disk {
            Ok(Some((path, Some(digest)))) if digest == locked.digest => self.read(&path),
            _ => self.fetcher.content(name, locked),
        };
        // A version that is no longer available cannot be compared.
        set.is_ok_and(|set| own_name(&set).is_some_and(|was| was != now))
    }

    /// Returns why what is locked are no longer available, where its source has the revision `now` in its place. Each
    /// revision is asked for once.
    fn gone(&mut self, locked: &Locked, now: Option<&String>) -> Option<Message> {
        if now.is_none() || now == locked.revision.as_ref() {
            return None;
        }
        let key = (locked.origin.clone(), locked.revision.clone());
        let ask = || self.fetcher.gone(locked).map(|error| error.with_causes());
        self.gone.entry(key).or_insert_with(ask).clone()
    }

    /// Takes in the version `newest` of an installed skill; `moved` is its new manifest entry.
    pub(super) fn renew(
        &mut self,
        installed: &Installed<'_>,
        newest: &Newest,
        moved: Option<Requirement>,
    ) -> Result<UpdateJob> {
        let Installed { name, entry, locked } = installed;
        let (mut new, set) = self.fetcher.take(name, newest)?;
        // Until it is examined.
        new.dependencies.clone_from(&locked.dependencies);
        let base = if new.digest == locked.digest {
            // Those of the locked revision are optional.
            Some(set.clone())
        } else {
            self.base(installed, new.digest)?
        };
        let mut diff = VersionDiff::new(base.as_ref().unwrap_or(&nothing()), &set)?;
        // The lockfile may name a version that was not reviewed here.
        let gate = ConsentGate::new(self.context, self.scope, self.files);
        if let Some(before) = gate.before(name, &new.digest).filter(|before| *before != locked.digest) {
            diff.review = review(gate.tree(name, &before).as_ref(), &set)?;
        }
        let work = Work::New(Box::new(Newer { old: (*locked).clone(), new, set, base, diff }));
        let disabled = entry.disabled;
        Ok(UpdateJob { name: (*name).clone(), entry: moved, disabled, work })
    }

    /// Returns the files of the skill that is installed in `path`.
    fn read(&self, path: &Path) -> Result<FileSet> {
        Ok(self.scope.index.trees().read(path)?.files)
    }

    /// Returns the files of the locked version: those that are installed if they are still the same, otherwise the store's,
    /// otherwise the source's. `None` if no place has them and they are not needed.
    fn base(&mut self, installed: &Installed<'_>, new: Digest) -> Result<Option<FileSet>> {
        let Installed { name, entry, locked } = installed;
        let on_disk = tree(self.context, self.scope, name, entry.disabled)?;
        if let Some((path, Some(digest))) = &on_disk
            && *digest == locked.digest
        {
            return Ok(Some(self.read(path)?));
        }
        let error = match self.fetcher.content(name, locked) {
            Ok(set) => return Ok(Some(set)),
            Err(error) => error,
        };
        let edited = matches!(on_disk, Some((_, Some(digest))) if digest != new);
        if edited && !self.request.force && self.request.prefer.is_none() {
            let what = format!("`{name}` was edited, but the version it is based on is not available");
            return Err(Error::new(error.kind(), what).because(error).hint(message!(
                Verb::Update.within(self.scope.kind).word(name).flag(Opt::Ours),
                " keeps each of your files that differs from the new version, ",
                Opt::Theirs,
                " takes the new ones, ",
                Opt::Force,
                " replaces the skill; the store keeps your copy"
            )));
        }
        let reason = error.with_causes();
        self.found.warnings.push(Warning::new(
            codes::LOCKED_VERSION_UNAVAILABLE,
            message!(
                format_args!("the locked version of `{name}` is not available, so everything in the new one counts as new: "),
                reason
            ),
        ));
        Ok(None)
    }

    /// Warns of a tag that means another commit than before: `is`.
    fn tell_moved_tag(&mut self, installed: &Installed<'_>, is: Option<&str>) {
        let Installed { entry, locked, .. } = installed;
        let Some(Reference::Tag(tag)) = &entry.reference else { return };
        let (Some(was), Some(is)) = (locked.moved_tag(entry.reference.as_ref(), is), is) else { return };
        let short = |revision: &str| revision.chars().take(edits::DIGITS).collect::<String>();
        let message = format!(
            "the tag `{tag}` of `{}` was moved: it was at {} and is at {} now",
            entry.origin,
            short(was),
            short(is)
        );
        let warning = Warning::new(codes::TAG_MOVED, message);
        if !self.found.warnings.contains(&warning) {
            self.found.warnings.push(warning);
        }
    }
}

/// Returns the name that the skill with the files `set` gives itself, if it can be loaded.
fn own_name(set: &FileSet) -> Option<String> {
    let document = Document::from_bytes(set.read(skill_file(set)?).ok()?);
    Some(skill::load(&document).ok()?.meta.name)
}

/// Returns the error for a skill in whose place its source has one of the name `now`: that is another skill until a user
/// confirms that it is the same.
fn renamed(scope: ScopeKind, name: &SkillName, entry: &Requirement, now: &str) -> Error {
    let source = entry.origin.typed();
    let place = entry.path.as_ref().map_or("there".to_owned(), |path| format!("in `{path}`"));
    let message =
        format!("`{name}` is no longer found in `{source}`: the skill {place} is called `{now}` now");
    Error::new(ErrorKind::Findings, message).hint(message!(format_args!("if it is the same skill, set `name = {now:?}` in its entry in `skillpm.toml`; else remove it with "), Verb::Remove.within(scope).word(name), ", and install the other"))
}

/// Returns the error for a skill that its source no longer has, or no longer has in one place only. `here` is the
/// source as it is typed in the working directory.
fn gone(
    scope: ScopeKind,
    name: &SkillName,
    entry: &Requirement,
    here: Option<&Origin>,
    error: Error,
) -> Error {
    if !matches!(error.kind(), ErrorKind::Usage | ErrorKind::Config) {
        return error;
    }
    let new = Error::usage(no_longer_found(name, &spec_of(entry)));
    // The message already says that nothing is at its path.
    let is_said = error.kind() == ErrorKind::Usage && entry.path.is_some();
    let new = if is_said { new } else { new.because(error) };
    if entry.dependency {
        return new.hint(message!(Verb::Why.within(scope).word(name), " shows what needs it"));
    }
    new.hint(message!(
        Verb::Install
            .call()
            .flag(Opt::List)
            .word(typed(here.unwrap_or(&entry.origin), entry.reference.as_ref())),
        " shows what is available; set its new path in `skillpm.toml`, or remove it with ",
        Verb::Remove.within(scope).word(name)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::GitUrl;

    fn hint(scope: ScopeKind, reference: Option<Reference>, here: Option<&str>) -> String {
        let git = |path: &str| Origin::from(GitUrl::new(path).expect("an address"));
        let entry = Requirement { reference, ..Requirement::new(git("../r;touch${IFS}x")) };
        let name = SkillName::new("a").expect("a name");
        gone(scope, &name, &entry, here.map(git).as_ref(), Error::usage("it does not exist")).hints()[0]
            .to_string()
    }

    #[test]
    fn the_hint_of_what_is_gone_names_the_source() {
        let hint = hint(ScopeKind::Project, None, None);
        assert!(hint.starts_with("`install git+../r;touch${IFS}x` with `list` shows"), "{hint}");
        assert!(hint.ends_with("`remove a`"), "{hint}");
    }

    /// A question about the present state concerns the commit that was examined, asked in the user's scope, and `remove`
    /// goes to the scope of the skill.
    #[test]
    fn the_hint_of_what_is_gone_means_the_same_place() {
        let hint = hint(ScopeKind::User, Some(Reference::Tag("v2".to_owned())), Some("../../r"));
        assert!(hint.starts_with("`install git+../../r#v2` with `list` shows"), "{hint}");
        assert!(hint.ends_with("`remove a` with `scope=user`"), "{hint}");
    }
}
