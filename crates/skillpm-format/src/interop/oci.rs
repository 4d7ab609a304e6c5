//! Artifacts of OCI registries that hold a skill: the media types, and the manifest that skillpm writes.
//!
//! An artifact has one layer, with the files of the skill as `tar.gz` below a directory of its name.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::digest::Digest;
use crate::version::Version;

/// The media type of a manifest.
pub const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// The media type of an index of manifests.
pub const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The type of an artifact that holds a skill.
pub const SKILL: &str = "application/vnd.agentskills.skill.v1";
/// The type of an index of artifacts that hold skills.
pub const COLLECTION: &str = "application/vnd.agentskills.collection.v1";
/// The media type of the configuration of a skill.
pub const CONFIG: &str = "application/vnd.agentskills.skill.config.v1+json";
/// The media type of the files of a skill.
pub const LAYER: &str = "application/vnd.agentskills.skill.content.v1.tar+gzip";
/// The media type of blobs of any kind.
pub const BLOB: &str = "application/octet-stream";
/// The tag of the newest version.
pub const LATEST: &str = "latest";
/// The annotation with the time when an artifact was made.
pub const CREATED: &str = "org.opencontainers.image.created";
/// The annotation with the name of an artifact, or with the path of a file that is a layer by itself.
pub const TITLE: &str = "org.opencontainers.image.title";

/// The metadata of a skill in an artifact.
#[derive(Debug, Clone, Copy)]
pub struct ArtifactFacts<'a> {
    /// The name.
    pub name: &'a str,
    /// The version.
    pub version: &'a str,
    /// What the skill does and when to use it.
    pub description: &'a str,
    /// The license as written.
    pub license: Option<&'a str>,
}

/// A blob of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blob {
    /// The digest of its bytes.
    pub digest: Digest,
    /// The number of its bytes.
    pub size: u64,
}

impl Blob {
    /// Returns the blob with these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self { digest: Digest::of(bytes), size: bytes.len() as u64 }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: &'static str,
    digest: Digest,
    size: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    schema_version: u32,
    media_type: &'static str,
    artifact_type: &'static str,
    config: Descriptor,
    layers: [Descriptor; 1],
    annotations: BTreeMap<&'static str, &'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    schema_version: &'static str,
    name: &'a str,
    version: &'a str,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<&'a str>,
}

/// Returns the bytes of `value`. It cannot fail: every key is text, and writing to memory has no errors.
fn bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn descriptor(media_type: &'static str, Blob { digest, size }: Blob) -> Descriptor {
    Descriptor { media_type, digest, size }
}

/// Returns the tag of a version. A tag cannot have a `+`.
pub fn tag(version: &str) -> String {
    version.replace('+', "_")
}

/// Returns the version that `tag` stands for, with or without a `v` before it. Returns `None` for any other tag.
pub fn version(tag: &str) -> Option<Version> {
    Version::new(&tag.strip_prefix('v').unwrap_or(tag).replace('_', "+")).ok()
}

/// Returns the configuration of the artifact of a skill.
pub fn config(facts: &ArtifactFacts<'_>) -> Vec<u8> {
    bytes(&Config {
        schema_version: "1",
        name: facts.name,
        version: facts.version,
        description: facts.description,
        license: facts.license,
    })
}

/// Returns the manifest of the artifact of a skill with this `layer`, made at the time `created`. Other bytes, even
/// another order of members, are another digest.
pub fn manifest(facts: &ArtifactFacts<'_>, layer: Blob, created: &str) -> Vec<u8> {
    let config = Blob::of(&config(facts));
    let mut annotations = BTreeMap::from([
        (CREATED, created),
        (TITLE, facts.name),
        ("org.opencontainers.image.version", facts.version),
        ("org.opencontainers.image.description", facts.description),
        ("io.agentskills.skill.name", facts.name),
    ]);
    if let Some(license) = facts.license {
        annotations.insert("org.opencontainers.image.licenses", license);
    }
    bytes(&Manifest {
        schema_version: 2,
        media_type: MANIFEST,
        artifact_type: SKILL,
        config: descriptor(CONFIG, config),
        layers: [descriptor(LAYER, layer)],
        annotations,
    })
}
