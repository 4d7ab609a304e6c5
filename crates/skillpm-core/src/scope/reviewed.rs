//! The versions of skills that were let into a scope on this machine: those that a person agreed to, that brought nothing
//! new, or that the team's lockfile named when the scope was first seen.
//!
//! A lockfile cannot say this: an edit of it would count as everyone's consent. So it is kept in the user's own state
//! directory, one file for each scope, beside the receipts. Unlike them it outlives a removal, so that a skill that comes
//! back is compared with its earlier version.
//!
//! A record that cannot be read, that was changed, or that is about another directory, is treated as missing, which is not a
//! failure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::records;
use crate::digest::Digest;
use crate::error::Result;
use crate::fs;
use crate::name::SkillName;
use crate::scope::Scope;
use crate::settings::Settings;

/// The directory of the records.
const ROOM: &str = "reviewed";
/// The largest record that is read, in bytes.
const MAX_RECORD: u64 = 16 << 20;
/// The number of versions of a skill that are remembered.
const MOST: usize = 16;

/// The record of one scope.
#[derive(Debug, Default)]
pub(crate) struct ReviewedVersions {
    /// `None` if there is no place for it.
    file: Option<PathBuf>,
    record: Record,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    /// The directory of the scope, for cleaning up.
    directory: String,
    /// The versions of each skill, the last one that was let in last.
    skills: BTreeMap<SkillName, Vec<Digest>>,
}

/// A record as it is written: its text, and the digest of that text. With one bit of a version flipped, the machine would
/// seem to know another version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    digest: Digest,
    record: String,
}

impl ReviewedVersions {
    /// Reads the record of `scope`.
    pub(crate) fn read(settings: &Settings, scope: &Scope) -> Self {
        let (file, directory) = records::of_scope(settings, scope, ROOM, "json");
        let record = file.as_deref().and_then(parsed).filter(|record| record.directory == directory);
        Self { file, record: record.unwrap_or_else(|| Record { directory, ..Record::default() }) }
    }

    /// Returns the versions of `name`, the last one that was let in last.
    pub(crate) fn of(&self, name: &SkillName) -> &[Digest] {
        self.record.skills.get(name).map(Vec::as_slice).unwrap_or_default()
    }

    /// Reports whether this version of `name` was let in.
    pub(crate) fn has(&self, name: &SkillName, digest: &Digest) -> bool {
        self.of(name).contains(digest)
    }

    /// Records that `versions` were let in. A record that cannot be written is not a failure of the change: they are
    /// then reviewed again.
    pub(crate) fn pass(mut self, versions: BTreeSet<(SkillName, Digest)>) {
        let mut changed = false;
        for (name, digest) in versions {
            let known = self.record.skills.entry(name).or_default();
            if known.last() != Some(&digest) {
                known.retain(|one| *one != digest);
                known.push(digest);
                known.drain(..known.len().saturating_sub(MOST));
                changed = true;
            }
        }
        if let (true, Some(file), Some(text)) = (changed, &self.file, written(&self.record)) {
            let _ = fs::write_small(file, text.as_bytes());
        }
    }
}

fn written(record: &Record) -> Option<String> {
    let record = serde_json::to_string(record).ok()?;
    serde_json::to_string(&Written { digest: Digest::of(record.as_bytes()), record }).ok()
}

fn parsed(file: &Path) -> Option<Record> {
    let Written { digest, record } = serde_json::from_str(&fs::read_text(file, MAX_RECORD).ok()??).ok()?;
    if Digest::of(record.as_bytes()) == digest { serde_json::from_str(&record).ok() } else { None }
}

/// Returns the records of scopes that no longer exist, such as those of removed projects.
pub(crate) fn stale_reviews(settings: &Settings) -> Result<Vec<PathBuf>> {
    records::stale(settings, ROOM, |file| parsed(file).map(|record| record.directory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::scope_kind::ScopeKind;

    #[test]
    fn the_last_versions_of_each_scope_are_remembered() {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        let settings = world.context().settings;
        let scope = |kind| Scope::new(&settings, kind).expect("a scope");
        let project = scope(ScopeKind::Project);
        let name: SkillName = "pdf".parse().expect("a name");
        let versions: Vec<_> =
            (0..MOST + 2).map(|number| Digest::of(number.to_string().as_bytes())).collect();
        for digest in &versions {
            ReviewedVersions::read(&settings, &project).pass([(name.clone(), *digest)].into());
        }
        let known = ReviewedVersions::read(&settings, &project);
        assert_eq!(known.of(&name), &versions[2..]);
        // A version that comes again is the last one.
        known.pass([(name.clone(), versions[5])].into());
        let known = ReviewedVersions::read(&settings, &project);
        assert_eq!((known.of(&name).last(), known.of(&name).len()), (Some(&versions[5]), MOST));
        assert!(!known.has(&name, &versions[0]) && known.has(&name, &versions[2]));
        assert_eq!(ReviewedVersions::read(&settings, &scope(ScopeKind::User)).of(&name), []);
        assert!(stale_reviews(&settings).expect("reads").is_empty());
        // A record about another directory says nothing about this one.
        let file = known.file.clone().expect("a place");
        let mut other = parsed(&file).expect("a record");
        other.directory.push_str("/nowhere");
        fs::write_small(&file, written(&other).expect("a text").as_bytes()).expect("writes");
        assert_eq!(ReviewedVersions::read(&settings, &project).of(&name), []);
        // Nor does one that was damaged.
        let text = fs::read_text(&file, MAX_RECORD).expect("reads").expect("a record");
        let last = versions[versions.len() - 1].hex();
        let flipped = text.replacen(&*last, &format!("{}{}", &last[1..], &last[..1]), 1);
        assert_ne!(text, flipped);
        fs::write_small(&file, flipped.as_bytes()).expect("writes");
        assert!(parsed(&file).is_none());
        fs::write_small(&file, text.as_bytes()).expect("writes");
        assert_eq!(stale_reviews(&settings).expect("reads"), [file]);
    }
}
