//! Asking sources, and getting what is newer.

use std::collections::{BTreeMap, BTreeSet};

use super::edits;
use super::find::{Finder, Installed, Newer, UpdateJob, Work, nothing, tree};
use super::outcome::UpdateChange;
use std::path::Path;

use crate::advice::{Message, Opt, Verb, Warning, message};
use crate::codes;
use crate::digest::Digest;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::install::scope::ScopeKind;
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::consent::ConsentGate;
use crate::ops::diff::VersionDiff;
use crate::ops::fetcher::{Newest as Fresh, spec_of};
use crate::ops::install::typed;
use crate::ops::policy_check::skill_file;
use crate::review::review;
use crate::skill;
use crate::source;
use crate::source::newest::{self, Answer, Files, Newest, Query};
use crate::spec::{Origin, Reference};
use crate::text::visible_name;
use crate::tree::FileSet;
use crate::updates::reference_gone;

/// What a source says about a skill before anything is fetched; empty if it was not asked.
#[derive(Default)]
pub(super) struct SourceAnswer {
    pub(super) files: Option<Files>,
    pub(super) revision: Option<String>,
    /// What is newer than the pin in the manifest.
    pub(super) latest: Option<Reference>,
}

impl<'a> Finder<'a> {
    /// Asks the sources what is newer, without a download where they tell, and returns the skills of
    /// which something may be.
    ///
    /// # Errors
    ///
    /// For skills that were named, fails for a source that cannot be asked, and for a policy that refuses it.
    pub(super) fn ask(
        &mut self,
        installed: Vec<Installed<'a>>,
    ) -> Result<Vec<(Installed<'a>, SourceAnswer)>> {
        let mut asked = Vec::new();
        for one in installed {
            let is_pinned = matches!(one.entry.reference, Some(Reference::Rev(_)));
            if is_pinned && one.locked.meets(&one.entry) && !self.request.latest {
                self.other(&one, UpdateChange::Pinned);
                continue;
            }
            match self.fetcher.sources.admit(&spec_of(&one.entry)) {
                Ok(()) => asked.push(one),
                Err(error) => self.fail(&one, error)?,
            }
        }
        let (registries, asked): (Vec<_>, Vec<_>) =
            asked.into_iter().partition(|one| one.entry.origin.has_versions());
        if let (Some(one), Some(version)) = (asked.first(), &self.request.precise) {
            return Err(Error::usage(format!(
                "`{}` does not come from a registry, so it has no version {version} to choose",
                one.name
            ))
            .hint(message!(
                Opt::Precise,
                " is for skills of registries; `tag` in `skillpm.toml` chooses another revision"
            )));
        }
        let registries = self.ask_registries(registries)?;
        // What is on this machine is read once, and again for skills that are locked from something else.
        let here = |origin: &Origin| origin.is_on_this_machine() && !origin.has_revisions();
        let tells = |one: &Installed<'_>| !here(&one.locked.origin) && one.locked.meets(&one.entry);
        let (tell, others): (Vec<_>, Vec<_>) = asked.into_iter().partition(tells);
        let queries: Vec<_> = tell.iter().map(|one| Query::new(one.locked, Some(&one.entry))).collect();
        if self.context.settings.offline && !queries.is_empty() {
            self.found.warnings.push(Warning::new(
                codes::OFFLINE,
                "without the network, sources on other machines are only known as last fetched",
            ));
        }
        let answers = newest::ask(self.context, self.scope.as_root(), &queries, self.request.latest);
        let mut said: Vec<SourceAnswer> = tell.iter().map(|_| SourceAnswer::default()).collect();
        let mut failed = BTreeSet::new();
        for Answer { at, newest, latest } in answers {
            match (newest, latest) {
                (Ok(newest), Ok(latest)) => {
                    for (at, Newest { revision, files }) in at.into_iter().zip(newest) {
                        said[at] = SourceAnswer { files: Some(files), revision, latest: latest.clone() };
                    }
                }
                (Err(error), Ok(Some(latest))) => {
                    // The pinned revision is gone, but it is still known what is newer.
                    self.found.warnings.push(Warning::new(error.code(), error.with_causes()));
                    for at in at {
                        let (files, latest) = (Some(Files::Unknown), Some(latest.clone()));
                        said[at] = SourceAnswer { files, revision: None, latest };
                    }
                }
                (Err(error), _) | (_, Err(error)) => {
                    failed.extend(at.iter().copied());
                    let ones: Vec<_> = at.iter().filter_map(|at| tell.get(*at)).collect();
                    let error = match ones.first() {
                        Some(one) => {
                            let here =
                                source::here(&self.context.settings, self.scope.as_root(), &one.entry.origin);
                            let origin = here.as_ref().unwrap_or(&one.entry.origin);
                            let names = ones.iter().map(|one| one.name.as_str());
                            match &one.entry.reference {
                                Some(reference) if error.code() == codes::REVISION_UNKNOWN => {
                                    reference_gone(self.scope.kind, (origin, reference), names, &error)
                                }
                                _ => error,
                            }
                        }
                        None => error,
                    };
                    self.fail_all(&ones, error)?;
                }
            }
        }
        let told = tell.into_iter().zip(said).enumerate().filter(|(at, _)| !failed.contains(at));
        let mut may: Vec<_> = told.map(|(_, one)| one).collect();
        may.extend(others.into_iter().map(|one| (one, SourceAnswer::default())));
        may.extend(registries);
        self.prefetch(&may);
        Ok(may)
    }

    /// Gets the skills of sites that are newer ready, all of a site at once.
    fn prefetch(&mut self, may: &[(Installed<'_>, SourceAnswer)]) {
        let mut sites: BTreeMap<&Origin, Vec<_>> = BTreeMap::new();
        for (one, said) in may {
            if one.entry.origin.delivers_each() && matches!(said.files, Some(Files::Changed | Files::Unknown))
            {
                let path = one.locked.path.as_deref().unwrap_or_default();
                let version = said.revision.as_deref().filter(|_| one.entry.origin.has_versions());
                sites.entry(&one.entry.origin).or_default().push((one, (path, version)));
            }
        }
        for ones in sites.into_values().filter(|ones| ones.len() > 1) {
            let paths: Vec<_> = ones.iter().map(|(_, wanted)| *wanted).collect();
            // What is not available is reported where it is read, for each skill by itself.
            if let Ok(opened) = self.fetcher.sources.open_outside(&spec_of(&ones[0].0.entry)) {
                let _ = opened.prefetch(&paths);
            }
        }
    }

    /// Gets what may be newer of one skill.
    ///
    /// # Errors
    ///
    /// Fails for what is not available or cannot be used.
    pub(super) fn get(&mut self, installed: &Installed<'_>, mut said: SourceAnswer) -> Result<()> {
        let Installed { name, locked, .. } = installed;
        // Whether the locked revision is still there is only checked where it matters: for skills that were named.
        let is_same = said.files == Some(Files::Same) && said.latest.is_none();
        if is_same && !(self.is_named() && self.gone(locked, said.revision.as_ref()).is_some()) {
            self.tell_moved_tag(installed, said.revision.as_deref());
            self.other(installed, UpdateChange::Unchanged);
            return Ok(());
        }
        let mut entry = installed.entry.clone();
        if said.files.is_none() && self.request.latest {
            said.latest =
                newest::latest(self.context, self.scope.as_root(), &entry.origin, entry.reference.as_ref())?;
        }
        let moved = said.latest.is_some();
        let latest = said.latest.map(|latest| newest::restated(entry.reference.as_ref(), latest));
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
        let (newest, follows) = match self.fetcher.newest(name, &entry) {
            Ok(newest) => (newest, false),
            Err(error) => {
                let Some(place) = self.fetcher.moved(name, &entry) else {
                    let here = source::here(&self.context.settings, self.scope.as_root(), &entry.origin);
                    return Err(gone(self.scope.kind, name, &entry, here.as_ref(), error));
                };
                (self.follow(name, &mut entry, place)?, true)
            }
        };
        let digest = newest.set.digest()?;
        if digest != locked.digest
            && let Some(now) = newest.other_name(name)
            && self.is_renamed(installed, now)
        {
            return Err(renamed(self.scope.kind, name, &entry, now));
        }
        let new = newest.locked(digest);
        if !moved {
            self.tell_moved_tag(installed, new.revision.as_deref());
        }
        if digest == locked.digest && locked.meets(&entry) {
            // A revision that is gone cannot be restored, even if what is there now has the same files.
            let Some(reason) = self.gone(locked, new.revision.as_ref()) else {
                self.other(installed, UpdateChange::Unchanged);
                return Ok(());
            };
            let told = message!(reason, ": locked what is there now; its files are the same");
            let warning = Warning::new(codes::REVISION_GONE, told);
            if !self.found.warnings.contains(&warning) {
                self.found.warnings.push(warning);
            }
        }
        // Without a manifest, the lockfile says what is requested, and also for skills that others need.
        let is_written = self.files.manifest.skills().contains_key(*name);
        let moved = Some(&entry).filter(|_| (moved || follows) && is_written).cloned();
        let job = self.renew(installed, &newest, moved)?;
        self.came.push(newest.dependent(name));
        self.found.jobs.push(job);
        Ok(())
    }

    /// Follows a skill to `place`, where its source has it now: `entry` says so from now on.
    ///
    /// # Errors
    ///
    /// Fails for what cannot be used.
    fn follow(&mut self, name: &SkillName, entry: &mut Requirement, place: String) -> Result<Fresh> {
        let old = entry.path.replace(place);
        entry.path = entry.path.take().filter(|path| !path.is_empty());
        let newest = self.fetcher.newest(name, entry)?;
        let shown = |path: Option<&str>| path.map_or(".".to_owned(), visible_name);
        let (from, to) = (shown(old.as_deref()), shown(entry.path.as_deref()));
        let told = format!("`{name}` moved from `{from}` to `{to}` in `{}`", entry.origin.typed());
        self.found.warnings.push(Warning::new(codes::SKILL_MOVED, told));
        Ok(newest)
    }

    /// Reports whether what is locked has another name than `now`. Many skills are called otherwise than their entry,
    /// and only a change of that is news.
    fn is_renamed(&mut self, installed: &Installed<'_>, now: &str) -> bool {
        let Installed { name, entry, locked } = installed;
        let lies = tree(self.context, self.scope, name, entry.disabled);
        let set = match lies {
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
    ///
    /// # Errors
    ///
    /// Fails for a policy that refuses it, for files that cannot be read, and for edits to a version that is no longer
    /// available.
    pub(super) fn renew(
        &mut self,
        installed: &Installed<'_>,
        newest: &Fresh,
        moved: Option<Requirement>,
    ) -> Result<UpdateJob> {
        let Installed { name, entry, locked } = installed;
        let (mut new, set) = self.fetcher.take(name, newest)?;
        // Until it is examined.
        new.dependencies.clone_from(&locked.dependencies);
        let base = if new.digest == locked.digest {
            // Nobody has to have those of the locked revision.
            Some(set.clone())
        } else {
            self.base(installed, new.digest)?
        };
        let mut diff = VersionDiff::new(base.as_ref().unwrap_or(&nothing()), &set)?;
        // Somebody else may have locked a version that nobody reviewed here.
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

    /// Returns the files of the locked version: those that are installed if they are still the same, otherwise the
    /// store's, otherwise the source's. `None` if nobody has them any more and nobody needs them.
    fn base(&mut self, installed: &Installed<'_>, new: Digest) -> Result<Option<FileSet>> {
        let Installed { name, entry, locked } = installed;
        let lies = tree(self.context, self.scope, name, entry.disabled)?;
        if let Some((path, Some(digest))) = &lies
            && *digest == locked.digest
        {
            return Ok(Some(self.read(path)?));
        }
        let error = match self.fetcher.content(name, locked) {
            Ok(set) => return Ok(Some(set)),
            Err(error) => error,
        };
        let edited = matches!(lies, Some((_, Some(digest))) if digest != new);
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

    /// Tells of a tag that means another commit than it did: `is`.
    fn tell_moved_tag(&mut self, installed: &Installed<'_>, is: Option<&str>) {
        let Installed { entry, locked, .. } = installed;
        let Some(Reference::Tag(tag)) = &entry.reference else { return };
        let (Some(was), Some(is)) = (locked.moved_tag(entry.reference.as_ref(), is), is) else { return };
        let short = |revision: &str| revision.chars().take(edits::DIGITS).collect::<String>();
        let told = format!(
            "the tag `{tag}` of `{}` was moved: it was at {} and is at {} now",
            entry.origin,
            short(was),
            short(is)
        );
        let warning = Warning::new(codes::TAG_MOVED, told);
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

/// Returns the error for a skill in whose place its source has one of the name `now`: that is another skill until
/// somebody says that it is the same.
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
    let new = Error::usage(format!("`{name}` is no longer found in `{}`", spec_of(entry)));
    new.because(error).hint(message!(
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

    /// What is there is asked of the commit that was looked at, from where somebody is, and `remove` goes where the
    /// skill is.
    #[test]
    fn the_hint_of_what_is_gone_means_the_same_place() {
        let hint = hint(ScopeKind::User, Some(Reference::Tag("v2".to_owned())), Some("../../r"));
        assert!(hint.starts_with("`install git+../../r#v2` with `list` shows"), "{hint}");
        assert!(hint.ends_with("`remove a` with `scope=user`"), "{hint}");
    }
}
