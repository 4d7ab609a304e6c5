//! `.skill-lock.json`, in which the npm tool `skills` and `gh skill` record what is installed for the user. It is read
//! and never written: the tools write it without a lock, and it contains times.

use indexmap::IndexMap;

use super::ForeignError;
use super::json::{Json, Reader};
use super::skills_lock::{entry, top};

/// The name of the file.
pub const FILE_NAME: &str = ".skill-lock.json";
/// The version of the format.
const VERSION: f64 = 3.0;

/// The user's lockfile: entries by the name that the skill states.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GlobalLock {
    /// The entries.
    pub skills: IndexMap<String, GlobalEntry>,
}

/// The entry of one skill.
#[derive(Debug, Clone, PartialEq)]
pub struct GlobalEntry(IndexMap<String, Json>);

impl GlobalEntry {
    /// Returns the text of a field. Returns `None` if it is empty.
    pub fn get(&self, field: &str) -> Option<&str> {
        self.0.get(field)?.as_str().filter(|text| !text.is_empty())
    }
}

impl GlobalLock {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns the first error, with its position.
    pub fn parse(text: &str) -> Result<Self, ForeignError> {
        let reader = Reader::new(text)?;
        let Some(skills) = top(&reader, VERSION)?.get("skills").copied() else {
            return Err(reader.fault(reader.root(), "there is no `skills`"));
        };
        let mut lock = Self::default();
        for (name, part) in reader.object(skills, "`skills`")? {
            let entry = entry(&reader, name, part, &["source", "sourceType", "skillFolderHash"])?;
            lock.skills.insert(name.to_owned(), GlobalEntry(entry));
        }
        Ok(lock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// INTEROP, section 2.
    #[test]
    fn the_fields_of_both_tools() {
        let text = r#"{"version":3,"skills":{"pdf":{"source":"anthropics/skills","sourceType":"github",
            "sourceUrl":"https://github.com/anthropics/skills.git","ref":"main","skillPath":"skills/pdf/SKILL.md",
            "skillFolderHash":"","installedAt":"2026-01-01T00:00:00.000Z","pinnedRef":"v1"}},
            "dismissed":{},"lastSelectedAgents":["claude-code"]}"#;
        let lock = GlobalLock::parse(text).expect("valid");
        let (name, entry) = lock.skills.get_index(0).expect("there");
        assert_eq!(
            (name.as_str(), entry.get("ref"), entry.get("pinnedRef")),
            ("pdf", Some("main"), Some("v1"))
        );
        assert_eq!(entry.get("skillFolderHash"), None, "an empty text says nothing");
    }

    #[test]
    fn other_versions_are_told() {
        let told = |text: &str| GlobalLock::parse(text).expect_err(text).to_string();
        assert_eq!(
            told("{\"version\": 2, \"skills\": {}}"),
            "1:13: it has version 2, which is older than version 3"
        );
        assert_eq!(told("{\"version\": 4}"), "1:13: it has version 4, this skillpm reads version 3");
        assert_eq!(told("{\"version\": 3}"), "1:1: there is no `skills`");
    }
}
