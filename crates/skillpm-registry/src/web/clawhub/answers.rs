//! The responses for ClawHub's client. A version always has three numbers, as that client compares it, and a time is in
//! milliseconds since the start of 1970.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::digest::Digest;
use crate::name::SkillName;
use crate::registry::{History, Record, Timestamp, files};

#[derive(Serialize, JsonSchema)]
pub(super) struct Matches {
    pub(super) results: Vec<Match>,
}

/// A skill that matches what is searched for.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Match {
    slug: SkillName,
    display_name: SkillName,
    summary: String,
    version: String,
    score: f64,
    updated_at: i64,
    owner_handle: Option<String>,
    owner: Option<Owner>,
}

impl Match {
    /// Returns the entry of `skill`; `None` if all its versions are yanked.
    pub(super) fn of(skill: &History, score: f64) -> Option<Self> {
        let (owner, newest) = (Owner::of(skill), skill.newest()?);
        Some(Self {
            slug: newest.name.clone(),
            display_name: newest.name.clone(),
            summary: newest.description.clone(),
            version: number(newest),
            score,
            updated_at: millis(newest.published),
            owner_handle: owner.as_ref().map(|owner| owner.handle.clone()),
            owner,
        })
    }
}

/// The owner of a skill, by name.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Owner {
    handle: String,
    display_name: String,
}

impl Owner {
    pub(super) fn of(skill: &History) -> Option<Self> {
        let handle = skill.owners().first()?.to_string();
        Some(Self { display_name: handle.clone(), handle })
    }
}

/// A part of a longer list.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PageOf{T}")]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    /// The cursor of the next page.
    pub(super) next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skill {
    slug: SkillName,
    display_name: SkillName,
    summary: Option<String>,
    tags: Tags,
    stats: Stats,
    created_at: i64,
    updated_at: i64,
}

#[derive(Serialize, JsonSchema)]
struct Tags {
    /// The newest version that is not yanked.
    #[serde(skip_serializing_if = "Option::is_none")]
    latest: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Stats {
    versions: usize,
}

impl Skill {
    /// Returns the entry of a skill; `newest` is its newest version that is not yanked.
    pub(super) fn of(skill: &History, newest: Option<&Record>) -> Self {
        let described = newest.or_else(|| skill.records().last());
        Self {
            slug: skill.name().clone(),
            display_name: skill.name().clone(),
            summary: described.map(|record| record.description.clone()),
            tags: Tags { latest: newest.map(number) },
            stats: Stats { versions: skill.records().len() },
            created_at: millis(created(skill)),
            updated_at: described.map(|record| millis(record.published)).unwrap_or_default(),
        }
    }
}

/// A skill in a list of skills.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedSkill {
    #[serde(flatten)]
    skill: Skill,
    latest_version: LatestVersion,
}

impl ListedSkill {
    pub(super) fn of(skill: &History, newest: &Record) -> Self {
        Self { skill: Skill::of(skill, Some(newest)), latest_version: LatestVersion::of(newest) }
    }
}

/// The newest version of a skill.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LatestVersion {
    version: String,
    created_at: i64,
    changelog: &'static str,
    license: Option<&'static str>,
}

impl LatestVersion {
    pub(super) fn of(record: &Record) -> Self {
        let ListedVersion { version, created_at, changelog, .. } = ListedVersion::of(record);
        Self { version, created_at, changelog, license: license(record) }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OneSkill {
    skill: Skill,
    latest_version: Option<LatestVersion>,
    owner: Option<Owner>,
    /// Always empty: skills are not moderated here.
    moderation: (),
}

impl OneSkill {
    pub(super) fn of(skill: &Arc<History>) -> Self {
        let newest = skill.newest();
        Self {
            skill: Skill::of(skill, newest),
            latest_version: newest.map(LatestVersion::of),
            owner: Owner::of(skill),
            moderation: (),
        }
    }
}

/// How the newest version is installed.
#[derive(Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum Installation {
    Archive { ok: bool, slug: SkillName, install_kind: &'static str, archive: ArchivePlace },
    None { ok: bool, slug: SkillName, reason: &'static str, message: String, status: u16 },
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArchivePlace {
    version: String,
    download_url: String,
}

impl Installation {
    pub(super) fn of(skill: &History) -> Self {
        let slug = skill.name().clone();
        match skill.newest() {
            Some(newest) => {
                let download_url = format!("/{}", files::artifact(&newest.artifact.digest));
                let archive = ArchivePlace { version: number(newest), download_url };
                Self::Archive { ok: true, slug, install_kind: "archive", archive }
            }
            None => Self::None {
                ok: false,
                message: format!("all versions of `{slug}` are yanked"),
                slug,
                reason: "archive_version_missing",
                status: 410,
            },
        }
    }
}

/// A version in a list of versions.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedVersion {
    version: String,
    created_at: i64,
    changelog: &'static str,
    changelog_source: (),
}

impl ListedVersion {
    pub(super) fn of(record: &Record) -> Self {
        Self {
            version: number(record),
            created_at: millis(record.published),
            changelog: "",
            changelog_source: (),
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OneVersion {
    version: VersionFiles,
    skill: NamedSkill,
}

/// A version with its files.
#[derive(Serialize, JsonSchema)]
struct VersionFiles {
    #[serde(flatten)]
    facts: ListedVersion,
    license: Option<&'static str>,
    files: Vec<HashedFile>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NamedSkill {
    slug: SkillName,
    display_name: SkillName,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct HashedFile {
    path: String,
    size: u64,
    /// In hexadecimal.
    sha256: String,
}

impl HashedFile {
    pub(super) fn of(path: &str, size: u64, digest: &Digest) -> Self {
        Self { path: path.to_owned(), size, sha256: digest.hex() }
    }
}

impl OneVersion {
    pub(super) fn of(record: &Record, files: Vec<HashedFile>) -> Self {
        let (slug, display_name) = (record.name.clone(), record.name.clone());
        let facts = ListedVersion::of(record);
        Self {
            version: VersionFiles { facts, license: license(record), files },
            skill: NamedSkill { slug, display_name },
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resolved {
    /// The version with the files that the client has.
    pub(super) r#match: Option<NumberOnly>,
    pub(super) latest_version: Option<NumberOnly>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct NumberOnly {
    version: String,
}

impl NumberOnly {
    pub(super) fn of(record: &Record) -> Self {
        Self { version: number(record) }
    }
}

/// Returns the license as the client takes it: it knows one.
fn license(record: &Record) -> Option<&'static str> {
    (record.license.as_deref() == Some("MIT-0")).then_some("MIT-0")
}

/// Returns the version as the client can compare it: always with three numbers.
pub(super) fn number(record: &Record) -> String {
    record.version.number().to_string()
}

/// Returns when the first version of a skill was published.
pub(super) fn created(skill: &History) -> Timestamp {
    skill.records().iter().map(|record| record.published).min().unwrap_or(Timestamp::new(0))
}

fn millis(time: Timestamp) -> i64 {
    time.seconds().saturating_mul(1000)
}
