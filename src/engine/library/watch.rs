//! One skill that was found before, without a look at all others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Snapshot;
use crate::engine::discover::key;
use crate::engine::load::SKILL_FILE;
use crate::engine::memory::Memory;
use crate::engine::scan::{self, Seeing};
use crate::engine::skill::Skill;
use crate::engine::sources::{Entry, Source};
use crate::fs::{self, FileStat, Listing, Moment};
use crate::policy::Policy;

/// What the directories were in which skills lie, when all of them were looked for.
#[derive(Debug)]
pub(super) struct Watch {
    /// The sources' directories, whatever links lead to them. `None` was not there.
    sources: Vec<Option<FileStat>>,
    /// Every directory that was listed, by its real path; those of sources come first.
    dirs: Vec<(PathBuf, FileStat, Arc<Listing>)>,
    /// How many of them are those of sources.
    own: usize,
    /// Directories in these that were not, with the files that may be skills in them: no skill was found there.
    open: Vec<(PathBuf, Option<FileStat>)>,
}

impl Watch {
    /// What the directories of `sources` are now.
    pub(super) fn look(sources: &[Source]) -> Vec<Option<FileStat>> {
        sources.iter().map(|source| fs::stat(&source.dir)).collect()
    }

    /// The directories of a search that `memory` remembers, before which, at `since`, the sources were `before`.
    /// `None` where one of them was too young to tell whether it was changed since.
    pub(super) fn new(
        sources: &[Source],
        before: Vec<Option<FileStat>>,
        memory: &Memory,
        since: Moment,
    ) -> Option<Self> {
        let dirs = memory.dirs().map(|(path, stat, listing)| Some((path.to_owned(), stat?, listing)));
        let dirs: Vec<_> = dirs.collect::<Option<_>>()?;
        // What was looked at before is what was searched.
        let is_listed = |stat: &FileStat| dirs.iter().any(|(_, listed, _)| listed == stat);
        if !before.iter().flatten().all(is_listed) {
            return None;
        }
        // Byte by byte: comparing components costs more than looking at a directory.
        let is_own = |path: &Path| sources.iter().any(|source| source.dir.as_os_str() == path.as_os_str());
        let (mut dirs, others): (Vec<_>, Vec<_>) = dirs.into_iter().partition(|(path, ..)| is_own(path));
        let own = dirs.len();
        dirs.extend(others);
        let paths = memory.open_places().flat_map(|dir| [dir.join(SKILL_FILE), dir]);
        let open = paths.map(|path| {
            let stat = fs::stat(&path);
            stat.is_none_or(|stat| stat.is_settled(since)).then_some((path, stat))
        });
        Some(Self { sources: before, dirs, own, open: open.collect::<Option<_>>()? })
    }

    /// Whether all that lies in the directories is as it was found.
    fn holds(&self, sources: &[Source]) -> bool {
        sources.iter().zip(&self.sources).all(|(source, stat)| fs::stat(&source.dir) == *stat)
            && self.dirs[self.own..].iter().all(|(path, stat, _)| fs::stat(path) == Some(*stat))
            && self.open.iter().all(|(path, stat)| fs::stat(path) == *stat)
    }

    /// The skill `name` of `snapshot`, which was made by `policy`, if the directories say that it is the one
    /// still. Nobody has looked whether its own file is as it was.
    ///
    /// It stays the one where no directory got or lost an entry and no other directory has its name, or those
    /// that have it hold what they held. That the file of a directory with another name was edited, so that the
    /// skill in it is now called `name` too, is seen by whoever asks for all skills.
    pub(super) fn skill(&self, snapshot: &Snapshot, policy: &Policy, name: &str) -> Option<Arc<Skill>> {
        if !self.holds(snapshot.sources()) {
            return None;
        }
        let skill = snapshot.get(name).ok()?;
        let (asked, own) = (key(name), key(&skill.meta.name));
        let rivals_of = |name: &str| {
            let dirs = self.dirs.iter().filter(|(.., listing)| listing.may_lead_on(name));
            dirs.map(|(dir, ..)| dir.join(name)).collect::<Vec<_>>()
        };
        let mut rivals = rivals_of(&own);
        if asked != own {
            rivals.extend(rivals_of(&asked));
        }
        let is_as_it_was = |dir: PathBuf| match fs::real_path(&dir) {
            Ok(Some(real)) if real == skill.real => true,
            Ok(Some(real)) => snapshot.at(&real).is_some_and(|rival| is_same(snapshot, policy, rival)),
            Ok(None) | Err(_) => false,
        };
        rivals.retain(|dir| dir.as_os_str() != skill.real.as_os_str());
        rivals.into_iter().all(is_as_it_was).then(|| Arc::clone(skill))
    }
}

/// Whether `skill` of `snapshot` is as it was found by `policy`.
pub(super) fn is_same(snapshot: &Snapshot, policy: &Policy, skill: &Skill) -> bool {
    let Some(source) = snapshot.sources().iter().find(|source| source.name == skill.source) else {
        return false;
    };
    let entry = Entry { dir: skill.dir.clone(), real: skill.real.clone() };
    leads_home(skill) && matches!(scan::read(policy, source, entry), Seeing::Skill(now) if *now == *skill)
}

/// Whether the file of `skill` would be found where it was, if nobody removed it.
pub(super) fn is_in_place(skill: &Skill) -> bool {
    // Beside another spelling the right one may lie by now.
    skill.misspelled().is_none() && leads_home(skill)
}

/// Whether links lead to the directory of `skill` as they did.
fn leads_home(skill: &Skill) -> bool {
    skill.dir.as_os_str() == skill.real.as_os_str()
        || fs::real_path(&skill.dir).is_ok_and(|real| real.as_ref() == Some(&skill.real))
}
