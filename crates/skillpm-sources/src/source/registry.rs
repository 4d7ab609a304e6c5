//! Registries: skills with versions, whose files are on the web or in a directory on this machine.
//!
//! For each skill a registry has one list of its versions, `index/NAME.json`, with all that is needed to choose one and
//! to check it. Nothing that a registry says is believed without a check: an archive must have the listed digest, and
//! the skill in it the listed name, version and tree digest.

mod carrier;
mod reader;
mod seen;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use self::carrier::RegistryFiles;
pub use self::reader::RegistryReader;
pub use self::seen::went_back;
use super::discover::{Candidate, discover_in};
use super::{FetchedSource, SkillIndex, Source, Wanted, file, local};
use crate::advice::{Opt, Verb, Warning, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::SharedFile;
use crate::name::SkillName;
use crate::refusal::Limits;
use crate::registry::{
    FileError, Listed, MAX_DEPENDENCIES, MAX_FILE, NameList, ReadFiles as _, SearchIndex, SearchSkill, files,
    parsed, registry_name,
};
use crate::resolve::declared::Declared;
use crate::resolve::{Release, ReleaseFacts, ReleaseRules};
use crate::scope_kind::ScopeRoot;
use crate::settings::Settings;
use crate::skill::SkillMeta;
use crate::spec::{Identity, Origin, Reference, Registry};
use crate::text::{closest, without_secrets};
use crate::version::{Version, VersionRange};
use crate::workers;

/// Returns the error for a name that no registry has. It may be an address with a password, which is not repeated.
pub fn unknown_registry(name: &str) -> Error {
    let shown = match name.rsplit_once('@') {
        Some((_, host)) if !name.contains("://") => format!("…@{host}").into(),
        _ => without_secrets(name),
    };
    Error::config(format!("there is no registry called `{shown}`")).coded(codes::REGISTRY_ABSENT)
}

/// The number of requests in progress at once.
const CONNECTIONS: usize = 8;

impl Source for Registry {
    fn open(&self, context: &Context, scope: ScopeRoot<'_>, wanted: Wanted<'_>) -> Result<FetchedSource> {
        let range = match wanted {
            Wanted::Now(Some(Reference::Range(range))) => Some(range.clone()),
            _ => None,
        };
        let index = RegistryIndex { range, ..RegistryIndex::open(self, context, scope)? };
        let name = index.files.name();
        Ok(FetchedSource::shelf(Arc::new(index), &name))
    }

    fn settle(&self, context: &Context, scope: ScopeRoot<'_>) -> Result<Option<Origin>> {
        match self {
            Self::Directory(path) => {
                let path = local::settle(&context.settings, scope, path)?;
                Ok(Some(Self::Directory(path).into()))
            }
            Self::Web(_) | Self::Named(_) => Ok(None),
        }
    }

    fn place(&self, settings: &Settings, scope: ScopeRoot<'_>) -> Result<Option<PathBuf>> {
        match self {
            Self::Directory(path) => local::resolve(settings, scope, path).map(Some),
            Self::Web(_) | Self::Named(_) => Ok(None),
        }
    }

    fn here(&self, settings: &Settings, scope: ScopeRoot<'_>) -> Option<Origin> {
        match self {
            Self::Directory(path) => {
                local::typed_here(settings, scope, path).map(|path| Self::Directory(path).into())
            }
            Self::Web(_) | Self::Named(_) => None,
        }
    }
}

/// A registry, with the lists that were read of it.
#[derive(Debug)]
struct RegistryIndex {
    files: RegistryFiles,
    /// The versions that are wanted, if not all.
    range: Option<VersionRange>,
    limits: Limits,
    /// The warnings about the lists that were read.
    warnings: Mutex<Vec<Warning>>,
    /// Whether versions that the registry no longer lists are added to its lists.
    adds_seen: bool,
    /// Whether the format of the registry was checked.
    is_checked: Mutex<bool>,
    /// The lists by name; `None` for a name that the registry does not have.
    lists: Mutex<BTreeMap<String, Option<Arc<NameList>>>>,
}

impl RegistryIndex {
    fn open(registry: &Registry, context: &Context, scope: ScopeRoot<'_>) -> Result<Self> {
        Ok(Self {
            files: RegistryFiles::new(registry, context, scope)?,
            range: None,
            limits: Limits::default(),
            warnings: Mutex::default(),
            adds_seen: true,
            is_checked: Mutex::default(),
            lists: Mutex::default(),
        })
    }

    /// Returns the versions of the skill `name`; `None` if the registry does not have it.
    fn list(&self, name: &str) -> Result<Option<Arc<NameList>>> {
        // A map of whole lists is intact even after a panic of another thread.
        let lists = || self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lists().get(name) {
            return Ok(known.clone());
        }
        let list = self.read_list(name)?.map(Arc::new);
        lists().insert(name.to_owned(), list.clone());
        Ok(list)
    }

    fn read_list(&self, name: &str) -> Result<Option<NameList>> {
        // Only such a name can be in a registry, and it becomes part of a path.
        let Ok(safe) = registry_name(name) else { return Ok(None) };
        let path = files::list(&safe);
        let (list, last) = self.document(&path, |bytes| NameList::parse(bytes, &safe))?;
        if list.is_none() {
            self.files.config()?;
        }
        let list = list.map(|list| self.without_oversized(list));
        match last {
            Some(last) => self.compared(&path, list, &last, &safe),
            None => Ok(list),
        }
    }

    /// Reads the document at `path`. Also returns what the web last delivered there, if it does not deliver the same now.
    fn document<T>(
        &self,
        path: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, FileError>,
    ) -> Result<(Option<T>, Option<Vec<u8>>)> {
        let last = self.files.last(path);
        let Some(bytes) = self.files.get(path, MAX_FILE)? else { return Ok((None, last)) };
        let is_new = last.as_ref() != Some(&bytes);
        if is_new {
            // Lists that were read before were checked then.
            self.check_format()?;
        }
        let document = parsed(&self.files, path, &bytes, parse)?;
        Ok((Some(document), last.filter(|_| is_new)))
    }

    /// Checks, once, that this program knows the format of the registry.
    fn check_format(&self) -> Result<()> {
        let mut is_checked = self.is_checked.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_checked {
            self.files.check_format()?;
            *is_checked = true;
        }
        Ok(())
    }

    /// Leaves out versions with more dependencies than any registry takes, with a warning: nothing is asked about them.
    fn without_oversized(&self, mut list: NameList) -> NameList {
        for (version, count) in list.take_oversized() {
            let told = format!(
                "`{}` {version} of the registry `{}` is left out: it lists {count} dependencies, \
                 {MAX_DEPENDENCIES} are allowed",
                list.name, self.files.typed
            );
            let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
            warnings.push(Warning::new(codes::RELEASE_REFUSED, told));
        }
        list
    }

    /// Returns the error for a name that the registry does not have.
    fn unknown(&self, name: &str) -> Error {
        let error =
            Error::usage(format!("there is no skill `{name}` in the registry `{}`", self.files.typed));
        // Without it there is only no suggestion.
        let names = self.search().map(|index| index.skills).unwrap_or_default();
        let error = match closest(name, names.iter().map(|skill| skill.name.as_str())) {
            Some(close) => error.hint(format!("did you mean `{close}`?")),
            None => error,
        };
        error.hint(message!(
            Verb::Install.call().flag(Opt::List).word(&self.files.typed),
            " shows what is available"
        ))
    }

    fn search(&self) -> Result<SearchIndex> {
        let (index, _) = self.document(files::SEARCH, SearchIndex::parse)?;
        index.ok_or_else(|| self.files.absent(files::SEARCH))
    }

    /// Returns the version of `list` that is chosen if nothing else decides: the highest in the range that is neither
    /// yanked nor, unless the range names one, a pre-release.
    fn highest<'l>(list: &'l NameList, range: Option<&VersionRange>) -> Option<&'l Listed> {
        let rules = ReleaseRules { range: range.map(VersionRange::parsed), ..ReleaseRules::default() };
        let highest = rules.highest(list.versions.iter().map(facts))?;
        list.get(highest.version)
    }

    /// Returns the version `wanted` of the skill `name`, or the one that is chosen if nothing else decides.
    fn release(&self, name: &str, wanted: Option<&str>) -> Result<(Arc<NameList>, usize)> {
        let list = self.list(name)?.ok_or_else(|| self.unknown(name))?;
        let found = match wanted {
            Some(wanted) => {
                let version = Version::new(wanted).map_err(|error| Error::config(error.to_string()))?;
                list.get(&version).ok_or_else(|| {
                    Error::integrity(format!(
                        "the registry `{}` no longer has `{name}` {wanted}",
                        self.files.typed
                    ))
                    .coded(codes::REVISION_GONE)
                })?
            }
            None => Self::highest(&list, self.range.as_ref()).ok_or_else(|| self.no_version(&list))?,
        };
        let at = list.versions.iter().position(|one| std::ptr::eq(one, found)).unwrap_or_default();
        Ok((list, at))
    }

    /// Returns the error for a skill none of whose versions can be chosen.
    fn no_version(&self, list: &NameList) -> Error {
        let (name, registry) = (&list.name, &self.files.typed);
        let newest = list.versions.iter().rev();
        let is_yanked =
            |one: &&Listed, range: &VersionRange| one.yanked.is_some() && range.contains(&one.version);
        let yanked = self.range.as_ref().and_then(|range| newest.clone().find(|one| is_yanked(one, range)));
        let error = Error::usage(match (yanked.map(|one| &one.version), &self.range) {
            (Some(version), _) => {
                format!("version {version} of `{name}` was yanked in the registry `{registry}`")
            }
            (None, Some(range)) => format!("the registry `{registry}` has no version {range} of `{name}`"),
            (None, None) => format!("the registry `{registry}` has no version of `{name}` that can be used"),
        });
        let others = newest.filter(|one| yanked.is_none_or(|yanked| !std::ptr::eq(*one, yanked)));
        let newest: Vec<_> = others.take(3).map(shown).collect();
        let mut error = error.coded(codes::VERSION_MISSING);
        if !newest.is_empty() {
            error = error.hint(format!("it has {}", newest.join(", ")));
        }
        // A warning is only shown if something is installed.
        let warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = warnings.iter().filter(|warning| warning.code == codes::RELEASE_REFUSED);
        left_out.fold(error, |error, warning| error.hint(warning.message.clone()))
    }

    /// Returns the skill in `archive`, which must be what `listed` says.
    fn deliver(&self, name: &str, listed: &Listed, archive: &Arc<SharedFile>) -> Result<FetchedSource> {
        let version = &listed.version;
        let refused = |error: Error| {
            error.context(format!("`{name}` {version} of the registry `{}` is refused", self.files.typed))
        };
        let lies = |what: String| refused(Error::integrity(what).coded(codes::REGISTRY_MISMATCH));
        let tree = file::read(archive, "", &self.limits).map_err(|error| refused(error.into()))?;
        let tree = tree.within(name);
        let set = tree.skill(name, &self.limits).map_err(|refusal| refused(refusal.into()))?;
        let digest = set.digest().map_err(|refusal| refused(refusal.into()))?;
        if digest != listed.digest {
            return Err(lies(format!(
                "its files have the digest {digest}, but the list says {}",
                listed.digest
            )));
        }
        let found = discover_in(&tree, name);
        let Some(Candidate { meta: Ok(meta), .. }) = found.iter().find(|found| found.path == name) else {
            return Err(lies("the archive has no `SKILL.md` that can be loaded at its root".to_owned()));
        };
        if meta.name != name {
            return Err(lies(format!("the skill in it is called `{}`", meta.name)));
        }
        let inside = meta.version.as_deref().map(Version::new);
        if !matches!(&inside, Some(Ok(inside)) if inside == version) {
            let inside = meta.version.as_deref().unwrap_or("none");
            return Err(lies(format!("the version in its `SKILL.md` is {inside}")));
        }
        Ok(FetchedSource::new(tree, Some(version.to_string()), &self.files.name()))
    }
}

/// Returns what a solver needs to know about a version.
fn release(listed: &Listed) -> Release {
    let declared = |text: &String| Declared { text: text.clone(), requirement: text.parse() };
    let ReleaseFacts { version, published, .. } = facts(listed);
    let dependencies = listed.dependencies.iter().map(declared).collect();
    Release { version: version.clone(), dependencies, yanked: listed.yanked.clone(), published }
}

/// Returns what decides whether a version can be taken.
fn facts(listed: &Listed) -> ReleaseFacts<'_> {
    ReleaseFacts {
        version: &listed.version,
        yanked: listed.yanked.is_some(),
        published: Some(listed.published.seconds()),
    }
}

/// Returns a version as it is shown in a hint.
fn shown(listed: &Listed) -> String {
    if listed.yanked.is_some() { format!("{} (yanked)", listed.version) } else { listed.version.to_string() }
}

impl SkillIndex for RegistryIndex {
    fn listed(&self) -> Result<Vec<Candidate>> {
        let index = self.search()?;
        if index.skills.is_empty() {
            return Err(Error::usage(format!("the registry `{}` has no skills", self.files.typed))
                .coded(codes::REGISTRY_EMPTY));
        }
        let candidate = |skill: SearchSkill| {
            let meta = SkillMeta {
                name: skill.name.to_string(),
                description: skill.description,
                version: Some(skill.version.to_string()),
                tags: skill.tags,
                ..SkillMeta::default()
            };
            Candidate::listed(skill.name.to_string(), Ok(meta))
        };
        Ok(index.skills.into_iter().map(candidate).collect())
    }

    fn look_up(&self, name: &str) -> Result<Option<Candidate>> {
        let (list, at) = self.release(name, None)?;
        let version = list.versions.get(at).map(|listed| listed.version.to_string());
        Ok(version.map(|version| Candidate::listed_as(name.to_owned(), version)))
    }

    fn releases(&self, name: &SkillName) -> Result<Option<Arc<Vec<Release>>>> {
        let Some(list) = self.list(name.as_str())? else { return Ok(None) };
        Ok(Some(Arc::new(list.versions.iter().map(release).collect())))
    }

    fn digest(&self, name: &SkillName, version: &Version) -> Result<Option<Digest>> {
        let list = self.list(name.as_str())?;
        Ok(list.and_then(|list| list.get(version).map(|listed| listed.digest)))
    }

    fn take_warnings(&self) -> Vec<Warning> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_known(&self, name: &SkillName) -> bool {
        self.files.is_kept(&files::list(name))
    }

    fn prepare_releases(&self, names: &[SkillName]) -> Result<()> {
        workers::wait_for(names, CONNECTIONS, |name| self.list(name.as_str()).map(drop))
    }

    fn prefetch(&self, wanted: &[(&str, Option<&str>)]) -> Result<()> {
        if !self.files.keeps() {
            return Ok(());
        }
        let fetch = |wanted: &(&str, Option<&str>)| {
            let (name, version) = *wanted;
            // An unavailable version is reported when it is read, for that skill alone.
            if let Ok((list, at)) = self.release(name, version)
                && let Some(listed) = list.versions.get(at)
            {
                self.files.artifact(listed, None, self.limits.skill_bytes)?;
            }
            Ok(())
        };
        workers::wait_for(wanted, CONNECTIONS, fetch)
    }

    fn revision(&self, name: &str) -> Result<Identity> {
        let Some(list) = self.list(name)? else { return Ok(Identity::Absent) };
        let highest = Self::highest(&list, self.range.as_ref());
        Ok(highest.map_or(Identity::Absent, |one| Identity::Id(one.version.to_string())))
    }

    fn fetch(&self, name: &str, revision: Option<&str>) -> Result<FetchedSource> {
        if name.is_empty() {
            let typed = &self.files.typed;
            return Err(Error::usage(format!(
                "`{typed}` is a registry, but it does not say which skill to use"
            ))
            .hint(message!(
                format_args!("name one, as in `{typed}//NAME`; "),
                Verb::Install.call().flag(Opt::List).word(typed),
                " shows what is available"
            )));
        }
        let (list, at) = self.release(name, revision)?;
        let Some(listed) = list.versions.get(at) else { return Err(self.no_version(&list)) };
        let what = format!("{name} {} of {}", listed.version, self.files.name());
        let archive = self.files.artifact(listed, Some(&what), self.limits.skill_bytes)?;
        self.deliver(name, listed, &archive)
    }
}
