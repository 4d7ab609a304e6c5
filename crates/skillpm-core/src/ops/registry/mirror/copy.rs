//! Copies versions from one registry to another.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::super::YankedVersion;
use super::super::init::check;
use super::super::opened::{now, path, shown, writer};
use super::outcome::{MirrorOutcome, MirroredVersion};
use super::select::{CONNECTIONS, Selection, select};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, NamedFailure, Result};
use crate::fetch::registries;
use crate::name::SkillName;
use crate::registry::{
    Event, Listed, NewRegistry, Objects as _, Record, RegistryDir, Timestamp, Writer, check_archive, files,
};
use crate::scope::Scope;
use crate::scope_kind::ScopeKind;
use crate::source::registry::RegistryReader;
use crate::spec::SourceFacts as _;
use crate::version::Version;
use crate::workers;

/// The number of skills whose versions appear in the mirror together.
const BATCH: usize = 128;

/// A request to mirror a registry.
#[derive(Debug, Clone)]
pub struct MirrorRequest {
    /// The registry: an address, a directory, a bundle, or a name of `[registries]`.
    pub source: String,
    /// The directory of the mirror, which is made if it does not exist.
    pub dir: PathBuf,
    /// The skills to mirror.
    pub selection: Selection,
    /// Whether files of a directory that is no mirror yet are replaced.
    pub force: bool,
}

/// A version that is new in the mirror: its record, and the record's bytes.
type NewVersion = (Record, Vec<u8>);

/// A version whose yank changes: the version, the reason if it is yanked now, and when that happened.
type NewState = (Version, Option<String>, Timestamp);

/// The news about one skill.
#[derive(Debug)]
struct News {
    name: SkillName,
    listed: usize,
    versions: Vec<NewVersion>,
    states: Vec<NewState>,
}

/// A mirror at work.
struct Mirror<'a> {
    context: &'a Context,
    reader: &'a RegistryReader,
    dir: &'a RegistryDir,
}

/// Archives that were fetched.
#[derive(Debug, Default)]
struct Fetched {
    count: usize,
    bytes: u64,
}

/// Copies a registry, or a part of it, to a directory, which becomes a registry of the same name. What is there already
/// is not fetched again.
///
/// # Errors
///
/// Fails if the registry cannot be reached, or vanishes midway, if it does not have a skill that is named, and if the
/// directory is another registry, has files that are not a registry's and `request` does not replace them, or cannot be
/// written. What was mirrored before is complete then. A skill that is not
/// as the registry says is no error: it is reported in the outcome, and nothing new of it is in the mirror.
pub fn mirror(context: &Context, request: &MirrorRequest) -> Result<MirrorOutcome> {
    let scope = Scope::new(&context.settings, ScopeKind::Project)?;
    let registry = registries::typed(context, &scope, &request.source)?;
    let reader = RegistryReader::new(context, scope.as_root(), &registry)?;
    let config = reader.config()?;
    let to = path(context, Some(&request.dir));
    let there = RegistryDir::open_copy(&to, &config.name)?;
    let names = there.as_ref().map(RegistryDir::names).transpose()?.unwrap_or_default();
    let (wanted, elsewhere) = select(&reader, &registry, &scope, &request.selection, names)?;
    let (mut replaced, mut removed) = (Vec::new(), Vec::new());
    let dir = if let Some(there) = there {
        there
    } else {
        let new = NewRegistry::new(&to, Some(&config.name))?;
        if !request.force {
            check(&new)?;
        }
        (replaced, removed) = (new.replaced().to_vec(), new.removed().to_vec());
        new.create(|| context.reporter.waiting_for_lock(&request.dir))?
    };
    let mut outcome = MirrorOutcome {
        source: registry.typed(),
        registry: shown(&dir),
        skills: wanted.len(),
        versions: 0,
        added: Vec::new(),
        yanked: Vec::new(),
        replaced,
        removed,
        fetched: 0,
        fetched_bytes: 0,
        elsewhere: elsewhere.into_iter().map(String::from).collect(),
        failures: Vec::new(),
    };
    let mirror = Mirror { context, reader: &reader, dir: &dir };
    let wanted: Vec<_> = wanted.into_iter().collect();
    for batch in wanted.chunks(BATCH) {
        mirror.copy(batch, &mut outcome)?;
    }
    Ok(outcome)
}

impl Mirror<'_> {
    /// Copies what is new of the skills in `batch`.
    fn copy(
        &self,
        batch: &[(SkillName, Option<BTreeSet<String>>)],
        outcome: &mut MirrorOutcome,
    ) -> Result<()> {
        let writer = Mutex::new((writer(self.context, self.dir)?, Fetched::default()));
        let found = Mutex::new(Vec::new());
        let ended = workers::wait_for(batch, CONNECTIONS, |(name, keys)| {
            let news = self.news(name, keys.as_ref(), &writer);
            if let Err(error) = &news
                && !self.is_about_one(error)
            {
                return news.map(drop);
            }
            found.lock().unwrap_or_else(PoisonError::into_inner).push((name.clone(), news));
            Ok(())
        });
        let (mut writer, fetched) = writer.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        outcome.fetched += fetched.count;
        outcome.fetched_bytes += fetched.bytes;
        for (name, news) in found {
            match news {
                Ok(news) => publish(&mut writer, news, outcome)?,
                Err(error) => outcome.failures.push(NamedFailure::new(name.to_string(), &error)),
            }
        }
        // Also if the registry vanished: what arrived is complete.
        writer.commit()?;
        ended
    }

    /// Reports whether `error` is about one skill: other skills may still be mirrored.
    fn is_about_one(&self, error: &Error) -> bool {
        match error.kind() {
            ErrorKind::Integrity | ErrorKind::Findings | ErrorKind::Usage => true,
            ErrorKind::Network => self.reader.check().is_ok(),
            _ => false,
        }
    }

    /// Returns what is new of the skill `name`; the archives are then in their places. `keys` are those of the versions
    /// that are wanted, if not all are.
    fn news(
        &self,
        name: &SkillName,
        keys: Option<&BTreeSet<String>>,
        writer: &Mutex<(Writer<'_>, Fetched)>,
    ) -> Result<News> {
        let there = self.dir.history(name)?;
        let mut news = News { name: name.clone(), listed: 0, versions: Vec::new(), states: Vec::new() };
        let Some(list) = self.reader.list(name)? else {
            // A mirror may have more than the registry it follows has now, but not if that was asked for.
            return if keys.is_none() { Ok(news) } else { Err(gone(name, "any version")) };
        };
        let is_wanted = |listed: &&Listed| keys.is_none_or(|keys| keys.contains(&key(listed)));
        let wanted: Vec<&Listed> = list.versions.iter().filter(is_wanted).collect();
        let has = |wanted_key: &String| wanted.iter().any(|listed| key(listed) == *wanted_key);
        if let Some(missing) = keys.into_iter().flatten().find(|wanted| !has(wanted)) {
            return Err(gone(name, missing));
        }
        news.listed = wanted.len();
        for listed in &wanted {
            let new = match there.get(&listed.version) {
                Some(record) => {
                    check_same(record, listed)?;
                    None
                }
                None => Some(self.reader.record(name, listed)?),
            };
            self.bring(name, listed, new.as_ref().map(|(record, _)| record), writer)?;
            news.versions.extend(new);
        }
        let is_changed = |listed: &&&Listed| there.yanked(&listed.version) != listed.yanked.as_deref();
        let changed: Vec<_> = wanted.iter().filter(is_changed).collect();
        if !changed.is_empty() {
            let events = self.reader.events(name)?;
            let now = now(self.context)?;
            for listed in changed {
                let time = time_of(&events, listed).unwrap_or(now);
                news.states.push((listed.version.clone(), listed.yanked.clone(), time));
            }
        }
        Ok(news)
    }

    /// Sees to it that the archive of a version is in its place. `record` is that of a version that is new in the
    /// mirror, whose archive is read before.
    fn bring(
        &self,
        name: &SkillName,
        listed: &Listed,
        record: Option<&Record>,
        writer: &Mutex<(Writer<'_>, Fetched)>,
    ) -> Result<()> {
        let artifact = &listed.artifact;
        if record.is_none() && self.dir.has_archive(artifact) {
            return Ok(());
        }
        let there = self.dir.archive(artifact);
        let is_there = there.is_some();
        let file = match there {
            Some(file) => file,
            None => self.reader.archive(name, listed)?,
        };
        if let Some(record) = record {
            check_archive(&file, record)?;
        }
        if !is_there {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.0.place(artifact, &file)?;
            writer.1.count += 1;
            writer.1.bytes += artifact.size;
        }
        Ok(())
    }
}

/// Stages what is new about a skill.
fn publish(writer: &mut Writer<'_>, news: News, outcome: &mut MirrorOutcome) -> Result<()> {
    outcome.versions += news.listed;
    for (record, bytes) in &news.versions {
        writer.adopt(record, bytes)?;
        let (name, version) = (record.name.to_string(), record.version.to_string());
        outcome.added.push(MirroredVersion { name, version, size: record.artifact.size });
    }
    for (version, yanked, time) in news.states {
        let changed = writer.yank(&news.name, &version, yanked.as_deref(), time)?;
        let (name, version) = (news.name.to_string(), version.to_string());
        outcome.yanked.push(YankedVersion { name, version, yanked, changed });
    }
    Ok(())
}

fn key(listed: &Listed) -> String {
    files::version_key(&listed.version)
}

/// Returns when the version `listed` got the state that it has, if the events say so.
fn time_of(events: &[Event], listed: &Listed) -> Option<Timestamp> {
    let state = |event: &Event| match event {
        Event::Yank { version, reason, time } => Some((version.clone(), Some(reason.clone()), *time)),
        Event::Unyank { version, time } => Some((version.clone(), None, *time)),
        _ => None,
    };
    let is_it = |version: &Version| files::version_key(version) == key(listed);
    let (_, yanked, time) = events.iter().rev().filter_map(state).find(|(version, ..)| is_it(version))?;
    (yanked == listed.yanked).then_some(time)
}

/// Fails if a version is listed with other content than the mirror has: it must never change.
fn check_same(record: &Record, listed: &Listed) -> Result<()> {
    let Some(field) = record.differs_from(listed) else { return Ok(()) };
    Err(Error::integrity(format!(
        "the registry changed `{}` {}: its `{field}` is not the one that was mirrored",
        record.name, record.version
    ))
    .coded(codes::REGISTRY_MISMATCH)
    .hint("a published version never changes; ask the owner of the registry which of the two is right"))
}

/// Returns the error for a version that is locked and that the registry does not have.
fn gone(name: &SkillName, version: &str) -> Error {
    Error::integrity(format!("the registry does not have {version} of `{name}`, which the lockfile names"))
        .coded(codes::REVISION_GONE)
}
