//! Whether what is on disk is what its source holds.

use std::collections::{BTreeMap, BTreeSet};

use super::agents::in_directories;
use super::outcome::{FoundIn, ImportedSkill, Verdict};
use crate::advice::{Call, Message, Opt, Verb, Warning, message};
use crate::agents::Agent;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::Error;
use crate::fetch::fetcher::{asked, dependent, keep, locked};
use crate::fetch::policy_check::PolicyCheck;
use crate::fetch::select::candidates;
use crate::fs;
use crate::interop::copy::{Likeness, compare};
use crate::interop::hash::{computed_hash, git_tree_id, site_digest};
use crate::lockfile::Locked;
use crate::manifest::Requirement;
use crate::name::SkillName;
use crate::ops::install::unprotected;
use crate::refusal::Limits;
use crate::resolve::Dependent;
use crate::scope::Scope;
use crate::scope::claims::{Claim, Proof};
use crate::scope::plan::{Content, Location, Wanted};
use crate::scope::state::{Files, OnDisk, Survey};
use crate::scope_kind::ScopeKind;
use crate::source::discover::Candidate;
use crate::source::{self, FetchedSource, Wanted as Revision, local};
use crate::spec::{Origin, SourceSpec};
use crate::tree::FileSet;

/// How many older versions of a directory are examined for the one that was installed.
const OLDER: usize = 20;

/// The decision about a skill.
#[derive(Debug)]
pub(super) enum Action {
    /// It stays as it is.
    Nothing,
    /// Only its entries are written.
    Record(Wanted),
    /// It is put in place.
    Put {
        wanted: Wanted,
        set: FileSet,
        /// Copies on disk that may go, because a tool made them of this very skill.
        known: BTreeSet<Digest>,
    },
}

impl Action {
    /// Returns the name of the skill that is written down.
    pub(super) fn name(&self) -> Option<&SkillName> {
        match self {
            Self::Nothing => None,
            Self::Record(wanted) | Self::Put { wanted, .. } => Some(&wanted.name),
        }
    }
}

/// A version of a skill in its source.
struct Version {
    opened: FetchedSource,
    candidate: Candidate,
}

/// The certainty that a version is the one that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tie {
    /// The other tool's hash says so.
    Proven,
    /// The copy on disk is that version, though the hash says otherwise.
    SameBytes,
    /// Nothing says so, and nothing speaks against it.
    Assumed,
}

/// Opens sources and compares.
pub(super) struct Judge<'a> {
    context: &'a Context,
    scope: &'a Scope,
    files: &'a Files,
    survey: &'a Survey,
    everyone: &'a [&'static Agent],
    /// Lets in what the policy admits.
    gate: PolicyCheck,
    /// Sources that were opened, or why they could not be.
    opened: BTreeMap<(Origin, String), Result<FetchedSource, Message>>,
    /// The keys under which the names that were seen fall together.
    keys: BTreeMap<String, SkillName>,
    /// The skills that are adopted, and whose dependencies are not resolved.
    incoming: Vec<Dependent>,
    warnings: Vec<Warning>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        context: &'a Context,
        scope: &'a Scope,
        files: &'a Files,
        survey: &'a Survey,
        everyone: &'a [&'static Agent],
    ) -> crate::error::Result<Self> {
        let gate = PolicyCheck::new(context, scope, &files.manifest)?;
        let known = files.names();
        let keys = known.map(|name| (name.collision_key(), name.clone())).collect();
        let (opened, incoming, warnings) = (BTreeMap::new(), Vec::new(), Vec::new());
        Ok(Self { context, scope, files, survey, everyone, gate, opened, keys, incoming, warnings })
    }

    /// Returns the skills that are adopted, and what a person should know.
    pub(super) fn into_parts(self) -> (Vec<Dependent>, Vec<Warning>) {
        (self.incoming, self.warnings)
    }

    /// Says what is to become of `claim`.
    pub(super) fn classify(&mut self, claim: &Claim) -> (ImportedSkill, Action) {
        let mut skill = ImportedSkill {
            name: claim.directory.clone(),
            verdict: Verdict::Left,
            found_in: claim.found_in,
            source: claim.source.as_ref().ok().map(|spec| spec.origin.to_string()),
            path: claim.source.as_ref().ok().and_then(|spec| spec.path.clone()),
            revision: None,
            digest: None,
            reason: Message::default(),
        };
        match self.adopt(claim, &mut skill) {
            Ok(action) => (skill, action),
            Err(reason) => {
                skill.reason = reason;
                (skill, Action::Nothing)
            }
        }
    }

    /// Returns the action; as an error the reason why the skill is left alone.
    fn adopt(&mut self, claim: &Claim, skill: &mut ImportedSkill) -> Result<Action, Message> {
        let name = claim.install_name().ok_or_else(|| {
            let directory = &claim.directory;
            format!("`{directory}` is not a valid skill name: install it from its source")
        })?;
        if self.files.lock.skills.contains_key(&name) || self.files.manifest.skills().contains_key(&name) {
            skill.verdict = Verdict::Tracked;
            if let Some(locked) = self.files.lock.skills.get(&name) {
                describe(skill, locked);
            }
            skill.reason = "skillpm already manages it".into();
            return Ok(Action::Nothing);
        }
        if let Some(other) = self.keys.insert(name.collision_key(), name.clone()) {
            return Err(format!("its name and `{other}` are the same on some file systems").into());
        }
        let copies = self.copies(&name)?;
        let spec = self.settled(claim)?;
        let refused = |error: Error| error.with_causes();
        self.gate.source(asked(&spec)).map_err(refused)?;
        let (version, tie) = self.version(claim, &spec, copies.first().map(|(_, set)| set))?;
        let spec =
            SourceSpec { path: Some(version.candidate.path.clone()).filter(|path| !path.is_empty()), ..spec };
        self.check_source(&name, &spec)?;
        // The policy may deny its directory but not the source.
        self.gate.source(asked(&spec)).map_err(refused)?;
        self.gate.release(self.context, asked(&spec), &version.opened).map_err(refused)?;
        // It is reported once, however many of its skills are adopted.
        let told = unprotected(&spec.origin).filter(|told| !self.warnings.contains(told));
        self.warnings.extend(told);
        let set = version.opened.tree.skill(&version.candidate.path, &Limits::default());
        let set = set.map_err(|error| format!("its source is refused: {error}"))?;
        let (digest, set) = keep(self.context, set, &mut self.warnings).map_err(refused)?;
        self.gate.content(&name, &version.candidate, &set).map_err(refused)?;
        let own = version.candidate.meta.as_ref().ok().map(|meta| meta.name.clone());
        let own = own.filter(|own| own != name.as_str());
        let locked = locked(&spec, &version.opened, &version.candidate, own.clone(), digest);
        let requirement = Requirement {
            path: locked.path.clone(),
            reference: spec.reference.clone(),
            name: own,
            ..Requirement::new(spec.origin.clone())
        };
        describe(skill, &locked);
        let dependent = dependent(&name, &spec, &version.candidate);
        let wanted = Wanted::new(name, Content::Locked(locked), Some(requirement));
        let mut known = BTreeSet::new();
        let mut made = Made::default();
        for (place, copy) in &copies {
            match compare(&set, copy).map_err(|error| error.to_string())? {
                Likeness::Same => {}
                Likeness::Made { left_out, injected } => {
                    known.insert(copy.digest().map_err(|error| error.to_string())?);
                    made.add(left_out, injected);
                }
                Likeness::Different { files } => {
                    skill.verdict = Verdict::Edited;
                    skill.reason = differs(place, &files, &tie).into();
                    self.incoming.push(dependent);
                    return Ok(Action::Record(wanted));
                }
            }
        }
        self.incoming.push(dependent);
        skill.verdict = Verdict::Adopted;
        skill.reason = adopted(claim, &tie, copies.is_empty(), &made).into();
        Ok(Action::Put { wanted, set, known })
    }

    /// Returns what is at the places of `name`, the canonical one first.
    fn copies(&self, name: &SkillName) -> Result<Vec<(Location, FileSet)>, Message> {
        let mut copies = Vec::new();
        let canonical = self.survey.canonical.get(name).map(|found| (Location::Canonical, found));
        let agents = in_directories(self.survey, self.everyone, name);
        let agents = agents.into_iter().map(|(agent, found)| (Location::Agent(agent.id.to_owned()), found));
        for (place, found) in canonical.into_iter().chain(agents) {
            let path = self
                .scope
                .place(&self.context.settings, &place, name)
                .map_err(|error| error.with_causes())?;
            match (found, &place) {
                (OnDisk::Tree(_), _) => {
                    let lying = self.scope.index.trees().read(&path).map_err(|error| {
                        format!("`{}` contains what a skill must not have: {error}", path.display())
                    })?;
                    copies.push((place, lying.files));
                }
                (OnDisk::OurLink | OnDisk::OtherLink(_), Location::Canonical) => {
                    return Err(format!("`{}` is a link, and was left as is", path.display()).into());
                }
                (OnDisk::Other, Location::Canonical) => {
                    return Err(format!("`{}` is not a directory", path.display()).into());
                }
                _ => {}
            }
        }
        Ok(copies)
    }

    /// Returns the claimed source in the form that the manifest keeps.
    fn settled(&self, claim: &Claim) -> Result<SourceSpec, Message> {
        let spec = claim.source.clone()?;
        let told = |error: Error| error.with_causes();
        // GitHub is the public one, also on a machine with another default host.
        let origin = match spec.origin.local_path() {
            Some(_) => source::settled(self.context, self.scope.as_root(), spec.origin).map_err(told)?,
            None => spec.origin,
        };
        local::check_outside(&self.context.settings, self.scope.as_root(), &origin).map_err(told)?;
        Ok(SourceSpec { origin, ..spec })
    }

    /// Refuses a source that is a place of the skill `name` itself: a link would take its place.
    fn check_source(&self, name: &SkillName, spec: &SourceSpec) -> Result<(), Message> {
        let told = |error: Error| error.with_causes();
        let dir = source::place(&self.context.settings, self.scope.as_root(), &spec.origin).map_err(told)?;
        let Some(dir) = dir else { return Ok(()) };
        let dir = dir.join(spec.path.as_deref().unwrap_or_default());
        let Ok(Some(real)) = fs::real_path(&dir) else { return Ok(()) };
        let mut places = self.survey.dirs.values().chain([&self.survey.skills_dir]);
        if places.any(|dir| real.starts_with(dir.join(name.as_str()))) {
            return Err(
                "its source is this very copy: move it to a directory of its own, such as `skills/`, and install it from there"
                    .into(),
            );
        }
        Ok(())
    }

    /// Finds the version of the source that was installed.
    fn version(
        &mut self,
        claim: &Claim,
        spec: &SourceSpec,
        copy: Option<&FileSet>,
    ) -> Result<(Version, Tie), Message> {
        let now = self.open(spec, None)?;
        let found = find(claim, spec, &now);
        let proven = found.as_ref().is_ok_and(|version| proves(&claim.proof, version) == Some(true));
        if let (Ok(version), true) = (&found, proven) {
            let version = Version { opened: version.opened.clone(), candidate: version.candidate.clone() };
            return Ok((version, Tie::Proven));
        }
        let same = |version: &Version| {
            let set = version.opened.tree.skill(&version.candidate.path, &Limits::default()).ok()?;
            Some(!matches!(compare(&set, copy?).ok()?, Likeness::Different { .. }))
        };
        if let Ok(version) = &found
            && same(version) == Some(true)
        {
            let version = Version { opened: version.opened.clone(), candidate: version.candidate.clone() };
            let tie = if proves(&claim.proof, &version).is_none() { Tie::Assumed } else { Tie::SameBytes };
            return Ok((version, tie));
        }
        if let Some(version) = self.older(claim, spec, &now)? {
            return Ok((version, Tie::Proven));
        }
        let version = found?;
        if proves(&claim.proof, &version).is_none() {
            // An edit cannot be told from another version here, so it counts as an edit and stays.
            return Ok((version, Tie::Assumed));
        }
        let origin = version.opened.typed_here(&spec.origin).clone();
        let spec = SourceSpec { origin, ..spec.clone() };
        Err(message!(
            "its source has changed since, and the installed version was not found: ",
            reinstall(self.scope.kind, &spec, &version.candidate).flag(Opt::Force),
            " installs the newest; the store keeps your copy"
        ))
    }

    /// Looks through older versions of the directory for the one that the other tool's hash names.
    fn older(
        &mut self,
        claim: &Claim,
        spec: &SourceSpec,
        now: &FetchedSource,
    ) -> Result<Option<Version>, Message> {
        let (Some(revision), true) = (&now.revision, claim.proof != Proof::None) else { return Ok(None) };
        let commits = source::history(self.context, &spec.origin, revision, spec.path.as_deref(), OLDER);
        let commits = match commits {
            Ok(commits) => commits,
            Err(error) => {
                let told = message!(
                    format_args!("older versions of `{}` cannot be read: ", claim.name),
                    error.with_causes()
                );
                self.warnings.push(Warning::new(error.code(), told));
                return Ok(None);
            }
        };
        for commit in commits.iter().filter(|commit| *commit != revision) {
            let opened = self.open(spec, Some(commit))?;
            if let Ok(version) = find(claim, spec, &opened)
                && proves(&claim.proof, &version) == Some(true)
            {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    fn open(&mut self, spec: &SourceSpec, commit: Option<&String>) -> Result<FetchedSource, Message> {
        let reference = spec.reference.as_ref();
        let asked = commit.cloned().or_else(|| reference.map(ToString::to_string)).unwrap_or_default();
        let (context, scope) = (self.context, self.scope);
        let opened = self.opened.entry((spec.origin.clone(), asked)).or_insert_with(|| {
            let revision = commit.map_or(Revision::Now(reference), |commit| Revision::Locked(commit));
            source::open(context, scope.as_root(), &spec.origin, revision)
                .map_err(|error| error.with_causes())
        });
        opened.clone()
    }
}

/// Says of `skill` what is locked.
fn describe(skill: &mut ImportedSkill, locked: &Locked) {
    skill.source = Some(locked.origin.to_string());
    skill.path.clone_from(&locked.path);
    skill.revision.clone_from(&locked.revision);
    skill.digest = Some(locked.digest.to_string());
}

/// Returns the skill that `claim` means in `opened`: in the directory that the other tool wrote down, otherwise by its
/// name.
fn find(claim: &Claim, spec: &SourceSpec, opened: &FetchedSource) -> Result<Version, Message> {
    let version = |candidate: &Candidate| {
        let delivered = opened.fetch(candidate).map_err(|error| error.with_causes())?;
        let (opened, candidate) = delivered.unwrap_or_else(|| (opened.clone(), candidate.clone()));
        Ok(Version { opened, candidate })
    };
    let inside = candidates(opened, spec);
    let path = spec.path.as_deref().unwrap_or("");
    if let Some(candidate) = inside.iter().flatten().find(|candidate| candidate.path == path) {
        return version(candidate);
    }
    let everywhere = SourceSpec { path: None, ..spec.clone() };
    let found = candidates(opened, &everywhere).map_err(|error| error.with_causes())?;
    let named = |candidate: &&Candidate| {
        candidate.title(&opened.name) == claim.name
            || candidate.directory_name(&opened.name) == claim.directory
    };
    match found.iter().filter(named).collect::<Vec<_>>()[..] {
        [one] => version(one),
        [] => Err(format!("its source no longer has a skill of that name: `{}`", everywhere.origin).into()),
        _ => Err(format!("its source has several skills of that name: `{}`", everywhere.origin).into()),
    }
}

/// Reports whether the other tool's hash names `version`; `None` if it has no hash, or the hash cannot be computed.
fn proves(proof: &Proof, version: &Version) -> Option<bool> {
    let (tree, path) = (&version.opened.tree, version.candidate.path.as_str());
    match proof {
        Proof::Computed(hash) => computed_hash(tree, path).ok().map(|found| found == *hash),
        Proof::Tree(id) => git_tree_id(tree, path).ok().flatten().map(|found| found == *id),
        Proof::Site(digest) => match &version.opened.revision {
            Some(revision) => Some(revision == digest),
            None => site_digest(tree, path).ok().map(|found| found == *digest),
        },
        Proof::None => None,
    }
}

/// Returns the call that installs the skill `candidate` of `spec` again.
fn reinstall(scope: ScopeKind, spec: &SourceSpec, candidate: &Candidate) -> Call {
    let path = Some(candidate.path.clone()).filter(|path| !path.is_empty());
    let text = SourceSpec { path, skill: None, ..spec.clone() }.to_string();
    let call = Verb::Install.within(scope).word(text.strip_prefix("github:").unwrap_or(&text));
    // A directory of this machine has no place for a path in it.
    match (spec.origin.directory_mark(), &candidate.meta) {
        (None, Ok(meta)) if !candidate.path.is_empty() => call.option(Opt::Skill, &meta.name),
        _ => call,
    }
}

/// The changes that tools made to copies.
#[derive(Default)]
struct Made {
    left_out: BTreeSet<String>,
    injected: bool,
    any: bool,
}

impl Made {
    fn add(&mut self, left_out: Vec<String>, injected: bool) {
        self.left_out.extend(left_out);
        self.injected |= injected;
        self.any = true;
    }
}

fn adopted(claim: &Claim, tie: &Tie, missing: bool, made: &Made) -> String {
    let file = match claim.found_in {
        FoundIn::SkillsLock => "`skills-lock.json`",
        FoundIn::GlobalLock => "`.skill-lock.json`",
        FoundIn::GhSkill | FoundIn::Directory | FoundIn::Unreadable => "`gh skill`",
    };
    let mut reason = match tie {
        Tie::Proven => format!("the version that {file} names"),
        Tie::SameBytes => format!("as its source has it now, although {file} names another version"),
        Tie::Assumed => format!("as its source has it now; {file} has no hash to check"),
    };
    if missing {
        reason.push_str("; it was missing and was added");
    }
    if !made.left_out.is_empty() {
        let files = listed(&made.left_out.iter().cloned().collect::<Vec<_>>());
        reason = format!("{reason}; restored what the npm tool leaves out: {files}");
    }
    if made.injected {
        reason.push_str("; removed what `gh` wrote into the frontmatter");
    } else if made.any && made.left_out.is_empty() {
        reason.push_str("; file modes are those of the source");
    }
    reason
}

fn differs(place: &Location, files: &[String], tie: &Tie) -> String {
    let whose = match place {
        Location::Canonical | Location::Disabled => "your copy".to_owned(),
        Location::Agent(agent) => format!("the copy of {agent}"),
    };
    let from = if *tie == Tie::Proven { "the version that was installed" } else { "its source as it is now" };
    format!("{whose} was kept; it differs from {from}: {}", listed(files))
}

/// Returns the first three of `files`, and how many more there are.
fn listed(files: &[String]) -> String {
    let shown: Vec<_> = files.iter().take(3).map(|file| format!("`{file}`")).collect();
    let more = files.len() - shown.len();
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
