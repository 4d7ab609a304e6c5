//! The paths of a registry's files, below its directory, with `/` between components.

use super::exact_name;
use crate::digest::Digest;
use crate::name::SkillName;
use crate::version::Version;

/// The configuration, which marks a directory as a registry.
pub const CONFIG: &str = "config.json";
/// The directory of records, events and lists.
pub const INDEX: &str = "index";
/// The directory of events below that of a skill.
pub const EVENTS: &str = "events";
/// The file that a search reads.
pub const SEARCH: &str = "search.json";
/// The directory of the log.
pub const LOG: &str = "log";
/// The directory of artifacts.
pub const ARTIFACTS: &str = "artifacts/sha256";
/// The directory of the files that other tools read.
pub const AGENT_SKILLS: &str = ".well-known/agent-skills";
/// The index of the discovery format.
pub const DISCOVERY: &str = ".well-known/agent-skills/index.json";
/// The AI Catalog.
pub const AI_CATALOG: &str = ".well-known/ai-catalog.json";
/// The directory of the names that a writer is at work on, and of the files that it has not finished.
pub const PENDING: &str = "pending";
/// The file that writers lock.
pub const LOCK: &str = "lock";
/// The directory of what only a server reads, such as tokens.
pub const PRIVATE: &str = "private";

/// A file of a registry, as its path says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// The configuration.
    Config,
    /// The file that a search reads.
    Search,
    /// The index of the discovery format.
    Discovery,
    /// The AI Catalog.
    AiCatalog,
    /// The list of a skill's versions.
    List(SkillName),
    /// The versions of a skill in the form of the versions proposal.
    Versions(SkillName),
    /// The record of the version of a skill with this key. Nothing says that the key is one.
    Record(SkillName, String),
    /// An event of a skill, by its number.
    Event(SkillName, usize),
    /// The archive with this digest.
    Artifact(Digest),
    /// An entry of the log, by its number.
    Log(u64),
}

impl FileKind {
    /// Returns what the file at `path` is; `None` if a registry has none there.
    pub fn of(path: &str) -> Option<Self> {
        let parts: Vec<_> = path.split('/').collect();
        let found = match parts[..] {
            [CONFIG] => Self::Config,
            [SEARCH] => Self::Search,
            _ if path == DISCOVERY => Self::Discovery,
            _ if path == AI_CATALOG => Self::AiCatalog,
            [".well-known", "agent-skills", skill, "versions.json"] => Self::Versions(exact_name(skill)?),
            [INDEX, list] => Self::List(exact_name(list.strip_suffix(".json")?)?),
            [INDEX, skill, record] => {
                Self::Record(exact_name(skill)?, record.strip_suffix(".json")?.to_owned())
            }
            [INDEX, skill, EVENTS, event] => {
                let number = event.strip_suffix(".json")?.parse().ok().filter(|number| *number > 0)?;
                let name = exact_name(skill)?;
                (self::event(&name, number) == path).then_some(Self::Event(name, number))?
            }
            ["artifacts", "sha256", archive] => {
                let digest = Digest::from_hex(archive.strip_suffix(".zip")?)?;
                (artifact(&digest) == path).then_some(Self::Artifact(digest))?
            }
            [LOG, _, entry] => {
                let number = entry.strip_suffix(".json")?.parse().ok().filter(|number| *number > 0)?;
                (log(number) == path).then_some(Self::Log(number))?
            }
            _ => return None,
        };
        Some(found)
    }
}

/// Returns the text under which a version exists only once: Semantic Versioning in lower case without build metadata, so
/// `1.0`, `1.0.0` and `1.0.0+b2` have the same key, and so have two versions that some file systems cannot tell apart.
pub fn version_key(version: &Version) -> String {
    let number = version.number();
    let mut key = format!("{}.{}.{}", number.major, number.minor, number.patch);
    if !number.pre.is_empty() {
        key.push('-');
        key.push_str(&number.pre.as_str().to_ascii_lowercase());
    }
    key
}

/// Returns the path of the record of `version`.
pub fn record(name: &SkillName, version: &Version) -> String {
    format!("{INDEX}/{name}/{}.json", version_key(version))
}

/// Returns the path of event `number`, from 1.
pub fn event(name: &SkillName, number: usize) -> String {
    format!("{INDEX}/{name}/{EVENTS}/{number}.json")
}

/// Returns the path of entry `number` of the log, from 1. A directory has at most 1,000 of them.
pub fn log(number: u64) -> String {
    format!("{LOG}/{}/{number}.json", number / 1000)
}

/// Returns the path of the list of a skill's versions.
pub fn list(name: &SkillName) -> String {
    format!("{INDEX}/{name}.json")
}

/// Returns the path of the archive with this digest.
pub fn artifact(digest: &Digest) -> String {
    format!("{ARTIFACTS}/{}.zip", digest.hex())
}

/// Returns the path of the versions of a skill in the form of the versions proposal.
pub fn versions(name: &SkillName) -> String {
    format!("{AGENT_SKILLS}/{name}/versions.json")
}

/// Returns the path of the marker that a writer is at work on the skill `name`.
pub fn pending(name: &SkillName) -> String {
    format!("{PENDING}/{name}")
}
