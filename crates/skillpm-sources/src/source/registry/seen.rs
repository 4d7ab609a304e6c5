//! The earlier lists of a registry: it may not change a version, and its removal is reported.

use std::sync::PoisonError;

use super::RegistryIndex;
use crate::advice::Warning;
use crate::codes;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{Listed, NameList};
use crate::version::Version;

/// The reason why a version that the registry no longer lists is not taken anew.
const NOT_LISTED: &str = "the registry no longer lists it";

impl RegistryIndex {
    /// Compares `list`, the present list of `name`, with `last`, the bytes of the list before. Versions that were removed
    /// are reported, and stay known: they are not selected anew, but locks that name them work.
    pub(super) fn compared(
        &self,
        path: &str,
        list: Option<NameList>,
        last: &[u8],
        name: &SkillName,
    ) -> Result<Option<NameList>> {
        let Ok(mut before) = NameList::parse(last, name) else { return Ok(list) };
        // These are never taken, so it does not matter whether they are still there.
        before.take_oversized();
        let listed = list.as_ref();
        let differs = |old: &&Listed| {
            let new = listed.and_then(|list| list.get(&old.version));
            new.is_some_and(|new| new.digest != old.digest || new.artifact.digest != old.artifact.digest)
        };
        if let Some(old) = before.versions.iter().find(differs) {
            self.files.put_back(path, last);
            return Err(Error::integrity(format!(
                "the registry `{}` lists other files for `{name}` {} than before",
                self.files.typed, old.version
            ))
            .coded(codes::REGISTRY_MISMATCH)
            .hint("a version never changes: ask the owner of the registry what happened"));
        }
        let is_missing = |old: &&Listed| listed.is_none_or(|list| list.get(&old.version).is_none());
        let missing: Vec<Listed> = before.versions.iter().filter(is_missing).cloned().collect();
        if missing.is_empty() {
            return Ok(list);
        }
        self.files.put_back(path, last);
        let versions: Vec<&Version> = missing.iter().map(|one| &one.version).collect();
        let warning = went_back(&self.files.typed, name, &versions);
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
        if !self.adds_seen {
            return Ok(list);
        }
        let mut list = list.unwrap_or_else(|| NameList { name: name.clone(), versions: Vec::new() });
        let kept = missing.into_iter().map(|one| Listed { yanked: Some(NOT_LISTED.to_owned()), ..one });
        list.versions.extend(kept);
        list.versions.sort_by(|a, b| a.version.cmp(&b.version));
        Ok(Some(list))
    }
}

/// Returns the warning that `registry`, as it is typed, no longer lists `versions` of the skill `name`, which it had.
pub fn went_back(registry: &str, name: &SkillName, versions: &[&Version]) -> Warning {
    let shown: Vec<_> = versions.iter().map(ToString::to_string).collect();
    let told = format!(
        "the registry `{registry}` went back: it no longer lists `{name}` {}; an older copy of it may be served, \
         so ask its owner",
        crate::text::and_more(&shown, 5)
    );
    Warning::new(codes::REGISTRY_WENT_BACK, told)
}
