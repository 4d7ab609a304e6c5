//! Manifests of artifacts that hold skills, as five groups of tools write them.
//!
//! The media types differ, but not what a manifest says: which blob is the archive of the skill, or which blobs are its
//! files. The name and the version of a skill come from its `SKILL.md`, never from here.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::digest::Digest;
use crate::interop::oci::{COLLECTION, CREATED, TITLE};
use crate::registry::Timestamp;

/// The media types that are asked for.
pub(super) const ACCEPT: &str = "application/vnd.oci.image.manifest.v1+json, \
    application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.docker.distribution.manifest.list.v2+json";
/// The largest number of skills in a collection.
const MOST_SKILLS: usize = 500;
/// The configurations of container images.
const IMAGES: [&str; 2] =
    ["application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json"];
/// The start of the types and annotations of ToolHive: its artifacts have the configuration of an image.
const TOOLHIVE: &str = "dev.toolhive.skills.";
/// The annotation of collections that have no type.
const COLLECTION_NAME: &str = "io.agentskills.collection.name";

/// A reference to a blob or a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) digest: Digest,
    pub(super) size: u64,
}

/// The target of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Manifest {
    /// The files of a skill, and the time when the artifact was made, as its author claims.
    Skill(Layers, Option<i64>),
    /// The manifest of the same skill for one of several platforms.
    Platform(Descriptor),
    /// The manifests of several skills.
    Collection(Vec<Descriptor>),
}

/// Where the files of a skill are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layers {
    /// In an archive.
    Archive(Descriptor),
    /// Each in a blob of its own, with its path.
    Files(Vec<(String, Descriptor)>),
}

impl Layers {
    /// Returns the size of all blobs together, in bytes, as the manifest states it.
    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Archive(one) => one.size,
            Self::Files(files) => files.iter().fold(0, |size, (_, one)| size.saturating_add(one.size)),
        }
    }
}

/// The reason why a manifest leads to no skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ManifestError {
    #[error("its manifest is not JSON of OCI's image specification")]
    Malformed,
    #[error("its manifest has the outdated schema 1 of docker")]
    Outdated,
    #[error("it is a container image, not an artifact that holds a skill")]
    Image,
    #[error("it has no layers")]
    Empty,
    #[error("it has {0} layers, of which at least one is an archive: a skill has one archive alone")]
    Mixed(usize),
    #[error("its layer of the type `{0}` is neither an archive in `tar+gzip` nor a file with a title")]
    Untitled(String),
    #[error("the digest `{0}` is not a SHA-256")]
    Digest(String),
    #[error("the collection has {0} skills; at most {MOST_SKILLS} are read")]
    Many(usize),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    schema_version: Option<u64>,
    artifact_type: Option<String>,
    config: Option<RawDescriptor>,
    layers: Option<Vec<RawDescriptor>>,
    manifests: Option<Vec<RawDescriptor>>,
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDescriptor {
    #[serde(default)]
    media_type: String,
    digest: String,
    size: u64,
    platform: Option<Platform>,
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
struct Platform {
    #[serde(default)]
    architecture: String,
}

impl RawDescriptor {
    fn checked(&self) -> Result<Descriptor, ManifestError> {
        let digest = self.digest.parse().map_err(|_| {
            ManifestError::Digest(self.digest.chars().filter(|c| !c.is_control()).take(90).collect())
        })?;
        Ok(Descriptor { digest, size: self.size })
    }

    fn is_archive(&self) -> bool {
        // Docker's own types have a dot.
        self.media_type.contains("tar+gzip") || self.media_type.contains("tar.gzip")
    }
}

impl Manifest {
    /// Reads a manifest or an index. With `is_artifact`, an index has stated already that it leads to an artifact.
    pub(super) fn parse(bytes: &[u8], is_artifact: bool) -> Result<Self, ManifestError> {
        let raw: Raw = serde_json::from_slice(bytes).map_err(|_| ManifestError::Malformed)?;
        match (raw.schema_version, &raw.manifests, &raw.layers) {
            (Some(1), ..) => Err(ManifestError::Outdated),
            (_, Some(manifests), None) => index(&raw, manifests),
            (_, None, Some(layers)) => skill(&raw, layers, is_artifact),
            _ => Err(ManifestError::Malformed),
        }
    }

    /// Reports whether `bytes` are an index of artifacts, rather than one of images.
    pub(super) fn is_artifact(bytes: &[u8]) -> bool {
        serde_json::from_slice::<Raw>(bytes).is_ok_and(|raw| raw.artifact_type.is_some())
    }

    /// Returns the number of bytes in the blobs with the skill's files, if it is that of one skill.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Self::Skill(Layers::Archive(one), _) => Some(one.size),
            Self::Skill(Layers::Files(files), _) => {
                Some(files.iter().fold(0, |sum: u64, (_, one)| sum.saturating_add(one.size)))
            }
            Self::Platform(_) | Self::Collection(_) => None,
        }
    }

    /// Returns the digests of the blobs with the skill's files, if it is that of one skill.
    pub(super) fn contents(&self) -> Option<Vec<(&str, Digest)>> {
        match self {
            Self::Skill(Layers::Archive(one), _) => Some(vec![("", one.digest)]),
            Self::Skill(Layers::Files(files), _) => {
                Some(files.iter().map(|(path, one)| (path.as_str(), one.digest)).collect())
            }
            Self::Platform(_) | Self::Collection(_) => None,
        }
    }
}

fn index(raw: &Raw, manifests: &[RawDescriptor]) -> Result<Manifest, ManifestError> {
    let is_collection =
        raw.artifact_type.as_deref() == Some(COLLECTION) || annotation(raw, COLLECTION_NAME).is_some();
    if manifests.is_empty() {
        return Err(ManifestError::Empty);
    }
    // Builders add what they attest as a platform of its own.
    let is_known =
        |one: &&RawDescriptor| one.platform.as_ref().is_some_and(|is| is.architecture != "unknown");
    match manifests.iter().find(is_known) {
        Some(first) if !is_collection => Ok(Manifest::Platform(first.checked()?)),
        _ if manifests.len() > MOST_SKILLS => Err(ManifestError::Many(manifests.len())),
        _ => {
            Ok(Manifest::Collection(manifests.iter().map(RawDescriptor::checked).collect::<Result<_, _>>()?))
        }
    }
}

fn skill(raw: &Raw, layers: &[RawDescriptor], is_artifact: bool) -> Result<Manifest, ManifestError> {
    let has_image = raw.config.as_ref().is_some_and(|config| IMAGES.contains(&config.media_type.as_str()));
    let mut keys = raw.annotations.iter().flat_map(BTreeMap::keys);
    if has_image && !is_artifact && raw.artifact_type.is_none() && !keys.any(|key| key.starts_with(TOOLHIVE))
    {
        return Err(ManifestError::Image);
    }
    let created = annotation(raw, CREATED).and_then(|text| Timestamp::try_from(text.to_owned()).ok());
    let created = created.map(Timestamp::seconds);
    let layers = match layers {
        [] => return Err(ManifestError::Empty),
        [one] if one.is_archive() => Layers::Archive(one.checked()?),
        several if several.iter().any(RawDescriptor::is_archive) => {
            return Err(ManifestError::Mixed(several.len()));
        }
        files => Layers::Files(files.iter().map(file).collect::<Result<_, _>>()?),
    };
    Ok(Manifest::Skill(layers, created))
}

fn file(raw: &RawDescriptor) -> Result<(String, Descriptor), ManifestError> {
    let title = raw.annotations.as_ref().and_then(|all| all.get(TITLE));
    let untitled = || {
        let kind = raw.media_type.chars().filter(char::is_ascii_graphic).take(100).collect();
        ManifestError::Untitled(kind)
    };
    Ok((title.ok_or_else(untitled)?.clone(), raw.checked()?))
}

fn annotation<'r>(raw: &'r Raw, key: &str) -> Option<&'r str> {
    raw.annotations.as_ref()?.get(key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn digest(text: &str) -> String {
        Digest::of(text.as_bytes()).to_string()
    }

    fn layer(kind: &str, title: Option<&str>) -> serde_json::Value {
        let annotations = title.map(|title| json!({ TITLE: title }));
        json!({ "mediaType": kind, "digest": digest(kind), "size": 7, "annotations": annotations })
    }

    fn parse(value: &serde_json::Value) -> Result<Manifest, ManifestError> {
        Manifest::parse(value.to_string().as_bytes(), false)
    }

    fn one(config: &str, layers: &[serde_json::Value]) -> serde_json::Value {
        json!({ "schemaVersion": 2, "config": layer(config, None), "layers": layers })
    }

    #[test]
    fn archives_and_files() {
        for kind in [
            "application/vnd.agentskills.skill.content.v1.tar+gzip",
            "application/vnd.agent.skill.content.v1.tar+gzip",
            "application/vnd.cncf.skill.bundle.v1.tar+gzip",
            "application/vnd.docker.image.rootfs.diff.tar.gzip",
        ] {
            let manifest = parse(&one("application/vnd.oci.empty.v1+json", &[layer(kind, None)]));
            assert!(matches!(manifest, Ok(Manifest::Skill(Layers::Archive(_), None))), "{kind}");
        }
        let files =
            one("application/x", &[layer("text/markdown", Some("SKILL.md")), layer("x", Some("a/b"))]);
        let Ok(Manifest::Skill(Layers::Files(files), _)) = parse(&files) else { panic!("no files") };
        assert_eq!(files.iter().map(|(title, _)| title.as_str()).collect::<Vec<_>>(), ["SKILL.md", "a/b"]);
    }

    #[test]
    fn images_and_what_only_looks_like_one() {
        let layers = [layer("application/vnd.oci.image.layer.v1.tar+gzip", Some("skill.tar.gz"))];
        let mut image = one(IMAGES[0], &layers);
        assert_eq!(parse(&image), Err(ManifestError::Image));
        assert!(Manifest::parse(image.to_string().as_bytes(), true).is_ok());
        image["annotations"] = json!({ "dev.toolhive.skills.name": "pdf", CREATED: "2026-01-02T03:04:05Z" });
        assert!(matches!(parse(&image), Ok(Manifest::Skill(_, Some(1_767_323_045)))));
    }

    #[test]
    fn indexes() {
        let mut first = layer("m", None);
        first["platform"] = json!({ "architecture": "amd64", "os": "linux" });
        let mut attested = layer("a", None);
        attested["platform"] = json!({ "architecture": "unknown", "os": "unknown" });
        let index = json!({ "schemaVersion": 2, "manifests": [attested, first] });
        assert!(
            matches!(parse(&index), Ok(Manifest::Platform(one)) if one.digest.to_string() == digest("m"))
        );
        let mut collection = json!({ "artifactType": COLLECTION, "manifests": [first, layer("n", None)] });
        assert!(matches!(parse(&collection), Ok(Manifest::Collection(all)) if all.len() == 2));
        collection["manifests"] = json!([]);
        assert_eq!(parse(&collection), Err(ManifestError::Empty));
        collection["manifests"] = json!(vec![layer("n", None); 501]);
        assert_eq!(parse(&collection), Err(ManifestError::Many(501)));
    }

    #[test]
    fn what_is_refused() {
        let archive = layer("x.tar+gzip", None);
        let mixed = [archive.clone(), layer("t", Some("README.md"))];
        let mut other = one("c", std::slice::from_ref(&archive));
        other["layers"][0]["digest"] = json!("sha512:00");
        for (value, error) in [
            (json!([]), ManifestError::Malformed),
            (json!({ "layers": [], "manifests": [] }), ManifestError::Malformed),
            (json!({ "schemaVersion": 1, "fsLayers": [] }), ManifestError::Outdated),
            (one("c", &[]), ManifestError::Empty),
            (one("c", &mixed), ManifestError::Mixed(2)),
            (one("c", &[archive.clone(), archive]), ManifestError::Mixed(2)),
            (one("c", &[layer("t", None)]), ManifestError::Untitled("t".to_owned())),
            (other, ManifestError::Digest("sha512:00".to_owned())),
        ] {
            assert_eq!(parse(&value), Err(error), "{value}");
        }
    }
}
