//! The files that are derived from records and events.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Head, History, MAX_FILE, NameList, Objects as _, ReadFiles as _, RegistryDir, SearchIndex, ai_catalog,
    are_versions, discovery, exact_name, files, heads, versions,
};
use crate::error::{ErrorKind, NamedFailure, Result};
use crate::fs;
use crate::name::SkillName;
use crate::workers;

/// The findings and changes of a derivation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Derived {
    /// The number of skills that were derived.
    pub skills: usize,
    /// The number of their versions.
    pub versions: usize,
    /// The files that were written, below the registry.
    pub written: Vec<String>,
    /// The files that were removed because nothing is derived there any more.
    pub removed: Vec<String>,
    /// The skills that are damaged: what was derived of them before stays as it is.
    pub left_out: Vec<NamedFailure>,
}

/// A derived file that is not as it should be: its path, and what it should hold, if it should exist.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: String,
    pub(super) bytes: Option<Vec<u8>>,
}

impl RegistryDir {
    /// Returns what [`super::Writer::index`] would change.
    ///
    /// # Errors
    ///
    /// Fails for a file that cannot be read. A skill that is damaged is left out.
    pub fn outdated(&self) -> Result<Derived> {
        let plan = plan_all(self, &BTreeMap::new())?;
        let (written, removed): (Vec<_>, Vec<_>) =
            plan.changes.into_iter().partition(|change| change.bytes.is_some());
        let [written, removed] =
            [written, removed].map(|changes| changes.into_iter().map(|change| change.path));
        Ok(Derived {
            skills: plan.skills,
            versions: plan.versions,
            written: written.collect(),
            removed: removed.collect(),
            left_out: plan.left_out,
        })
    }
}

/// The planned changes, in their order: lists before the files that lead to them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) changes: Vec<Change>,
    pub(super) skills: usize,
    pub(super) versions: usize,
    pub(super) left_out: Vec<NamedFailure>,
}

/// The files that are derived from one skill.
struct Leaf {
    changes: Vec<Change>,
    head: Option<Head>,
    versions: usize,
}

/// Returns what is to be changed for the skills `touched`, whose histories are known. The files about all skills are
/// made from what they hold about the others; if that is damaged, everything is derived.
pub(super) fn plan(dir: &RegistryDir, touched: &BTreeMap<SkillName, History>) -> Result<Plan> {
    let (Some(search), Some(index)) = (readable(dir, files::SEARCH), readable(dir, files::DISCOVERY)) else {
        return plan_all(dir, touched);
    };
    let Some(mut heads) = heads(&search, &index) else { return plan_all(dir, touched) };
    let mut plan = Plan::default();
    for (name, history) in touched {
        let leaf = leaf(dir, history);
        match leaf.head {
            Some(head) => drop(heads.insert(name.clone(), head)),
            None => drop(heads.remove(name)),
        }
        plan.changes.extend(leaf.changes);
        plan.skills += usize::from(leaf.versions > 0);
        plan.versions += leaf.versions;
    }
    plan.changes.extend(about_all(dir, &heads));
    Ok(plan)
}

/// Returns what is to be changed so that every derived file is as the records and events have it. `touched` are
/// histories that count instead of those on disk. A skill that is damaged does not keep the others from being derived: it
/// is left out, and what was derived of it before stays.
pub(super) fn plan_all(dir: &RegistryDir, touched: &BTreeMap<SkillName, History>) -> Result<Plan> {
    let mut histories = dir.histories()?;
    histories.extend(touched.iter().map(|(name, history)| (name.clone(), Ok(history.clone()))));
    let names: BTreeSet<_> = histories.keys().cloned().collect();
    let (mut plan, mut heads, mut usable) = (Plan::default(), BTreeMap::new(), Vec::new());
    let mut before = None;
    for (name, history) in histories {
        match history {
            Ok(history) => usable.push(history),
            Err(error) if error.kind() == ErrorKind::Integrity => {
                let known = before.get_or_insert_with(|| known_heads(dir));
                heads.extend(known.remove_entry(&name));
                plan.left_out.push(NamedFailure::new(name.to_string(), &error));
            }
            Err(error) => return Err(error),
        }
    }
    let leaves = workers::map(&usable, workers::FEW, || (), |(), history| leaf(dir, history));
    for (history, leaf) in usable.iter().zip(leaves) {
        plan.changes.extend(leaf.changes);
        plan.skills += usize::from(leaf.versions > 0);
        plan.versions += leaf.versions;
        heads.extend(leaf.head.map(|head| (history.name().clone(), head)));
    }
    plan.changes.extend(about_all(dir, &heads));
    let is_known = |name: &SkillName| names.contains(name);
    for entry in fs::list_dir(&dir.path_of(files::INDEX))? {
        let name = entry.strip_suffix(".json").and_then(exact_name).filter(|name| !is_known(name));
        let Some(name) = name.filter(|name| is_own_list(dir, name)) else { continue };
        plan.changes.extend(difference(dir, files::list(&name), None));
    }
    for entry in fs::list_dir(&dir.path_of(files::AGENT_SKILLS))? {
        let name = exact_name(&entry).filter(|name| !is_known(name));
        let Some(name) = name.filter(|name| is_own_versions(dir, name)) else { continue };
        plan.changes.extend(difference(dir, files::versions(&name), None));
    }
    Ok(plan)
}

/// Reports whether a list of the versions of `name`, which the registry does not have, was derived here: nothing else is
/// removed.
pub(super) fn is_own_list(dir: &RegistryDir, name: &SkillName) -> bool {
    readable(dir, &files::list(name)).is_some_and(|bytes| NameList::parse(&bytes, name).is_ok())
}

/// Works like [`is_own_list`] for the versions in the form of the versions proposal.
fn is_own_versions(dir: &RegistryDir, name: &SkillName) -> bool {
    readable(dir, &files::versions(name)).is_some_and(|bytes| are_versions(&bytes))
}

/// Returns the skills as the files about all skills have them; none if these do not fit together.
fn known_heads(dir: &RegistryDir) -> BTreeMap<SkillName, Head> {
    let (search, index) = (readable(dir, files::SEARCH), readable(dir, files::DISCOVERY));
    search.zip(index).and_then(|(search, index)| heads(&search, &index)).unwrap_or_default()
}

/// Returns what is derived from one skill.
fn leaf(dir: &RegistryDir, history: &History) -> Leaf {
    let name = history.name();
    let count = history.records().len();
    let is_listed = history.is_listed();
    let list = is_listed.then(|| history.list().to_bytes());
    let versions = is_listed.then(|| versions(history)).flatten();
    let changes = [(files::list(name), list), (files::versions(name), versions)];
    let changes = changes.into_iter().filter_map(|(path, bytes)| difference(dir, path, bytes)).collect();
    Leaf { changes, head: is_listed.then(|| history.head()).flatten(), versions: count }
}

/// Returns the changes of the files about all skills.
fn about_all(dir: &RegistryDir, heads: &BTreeMap<SkillName, Head>) -> Vec<Change> {
    let derived = [
        (files::SEARCH, SearchIndex::of(heads.values()).to_bytes()),
        (files::DISCOVERY, discovery(heads.values())),
        (files::AI_CATALOG, ai_catalog(dir.config(), heads.values())),
    ];
    derived.into_iter().filter_map(|(path, bytes)| difference(dir, path.to_owned(), Some(bytes))).collect()
}

/// Returns the change that makes `bytes` the content of the file at `path`, or removes it; `None` if it is so already.
fn difference(dir: &RegistryDir, path: String, bytes: Option<Vec<u8>>) -> Option<Change> {
    let is_so = match dir.get(&path, MAX_FILE) {
        Ok(there) => there == bytes,
        // An unreadable one is replaced.
        Err(_) => false,
    };
    (!is_so).then_some(Change { path, bytes })
}

/// Reads the file at `path`; `None` if that is not possible.
fn readable(dir: &RegistryDir, path: &str) -> Option<Vec<u8>> {
    dir.get(path, MAX_FILE).ok().flatten()
}
