//! Publishing to a repository of an OCI registry.

use std::io::Write as _;
use std::sync::Arc;

use super::outcome::PublishRequest;
use crate::advice::{Opt, Verb, message};
use crate::archive::{open_zip, write_tar_gz};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{SharedFile, anonymous_temp_file};
use crate::interop::oci::{self, ArtifactFacts, Blob, LATEST};
use crate::ops::pack::Packed;
use crate::ops::registry::opened::now;
use crate::refusal::Limits;
use crate::source::oci::client::OciClient;
use crate::source::oci::{holds, newest};
use crate::spec::{OciRepository, Reference, SourceSpec, SpecError, is_oci_tag};
use crate::tree::ReadError;
use crate::version::Version;

/// A repository of an OCI registry.
pub(super) struct Repository {
    client: OciClient,
    /// The tag, if the user named one.
    tag: Option<String>,
}

impl Repository {
    /// Returns the repository that `request` names; `None` if it names another target.
    pub(super) fn typed(context: &Context, request: &PublishRequest) -> Result<Option<Self>> {
        if !request.to.starts_with("oci:") {
            return Ok(None);
        }
        let wrong = |error: SpecError| Error::usage(error.to_string());
        let spec: SourceSpec = request.to.parse().map_err(wrong)?;
        let tag = match (spec.reference, &request.tag) {
            (Some(Reference::Tag(_)), Some(_)) => {
                return Err(Error::usage("the tag is given twice").hint(message!("leave out ", Opt::Tag)));
            }
            (Some(Reference::Tag(tag)), None) => Some(tag),
            (None, tag) => tag.clone(),
            (Some(_), _) => return Err(not_a_target(&request.to)),
        };
        if let Some(tag) = tag.as_ref().filter(|tag| !is_oci_tag(tag)) {
            return Err(wrong(SpecError::BadTag(tag.clone())));
        }
        let repository = OciRepository::try_from(spec.origin).map_err(|_| not_a_target(&request.to))?;
        if spec.path.is_some() || spec.skill.is_some() {
            return Err(not_a_target(&request.to));
        }
        Ok(Some(Self { client: OciClient::new(context, &repository)?, tag }))
    }

    /// Returns the repository as the outcome has it.
    pub(super) fn shown(&self) -> String {
        self.client.shown()
    }

    /// Publishes `packed` under its version or the named tag. A version also becomes `latest`, unless it is a pre-release
    /// or the repository has a higher one. With `dry_run`, only checks whether the tag can be used. Returns whether the tag
    /// has the files already.
    pub(super) fn publish(&self, context: &Context, packed: &Packed, dry_run: bool) -> Result<bool> {
        let own = oci::tag(packed.version.as_str());
        let tag = self.tag.as_ref().unwrap_or(&own);
        let layer = layer(packed)?;
        let digest = Digest::of(&layer);
        let there = self.client.tagged(tag)?;
        let there = match there {
            Some(manifest) if holds(&manifest, &digest) => Some(manifest),
            Some(_) if oci::version(tag).is_some() => return Err(self.exists(packed, tag)),
            _ => None,
        };
        let is_there = there.is_some();
        if dry_run {
            return Ok(is_there);
        }
        let manifest = match there {
            // An interrupted publication is completed.
            Some(manifest) => manifest,
            None => self.push(context, packed, &layer, tag)?,
        };
        if *tag == own && self.is_newest(&packed.version)? {
            self.client.push_manifest(LATEST, &manifest)?;
        }
        Ok(is_there)
    }

    /// Sends the blobs, then the manifest. Returns the manifest.
    fn push(&self, context: &Context, packed: &Packed, layer: &[u8], tag: &str) -> Result<Vec<u8>> {
        let facts = ArtifactFacts {
            name: packed.name.as_str(),
            version: packed.version.as_str(),
            description: &packed.description,
            license: packed.license.as_deref(),
        };
        let manifest = oci::manifest(&facts, Blob::of(layer), &now(context)?.to_string());
        self.client.push_blob(&oci::config(&facts))?;
        self.client.push_blob(layer)?;
        self.client.push_manifest(tag, &manifest)?;
        Ok(manifest)
    }

    fn is_newest(&self, version: &Version) -> Result<bool> {
        if !version.number().pre.is_empty() {
            return Ok(false);
        }
        let highest = newest(&self.client.tags()?).and_then(|tag| oci::version(&tag));
        Ok(highest.is_none_or(|highest| highest <= *version))
    }

    fn exists(&self, packed: &Packed, tag: &str) -> Error {
        Error::usage(format!(
            "`{}` already has the tag `{tag}`, with other files than `{}`",
            self.shown(),
            packed.name
        ))
        .coded(codes::VERSION_EXISTS)
        .hint(message!("a published version never changes: ", Verb::Bump.call().word("patch")))
    }
}

fn not_a_target(text: &str) -> Error {
    Error::usage(format!("nothing can be published to `{text}`"))
        .hint("name a repository, with or without a tag: `oci://host/team/pdf`, `oci://host/team/pdf:edge`")
}

/// Returns the files of `packed` as the layer of an artifact.
fn layer(packed: &Packed) -> Result<Vec<u8>> {
    let limits = Limits::default();
    let mut file = anonymous_temp_file()?;
    file.write_all(&packed.bytes).map_err(ReadError::from)?;
    let file = SharedFile::from_file(file).map_err(ReadError::from)?;
    let set = open_zip(Arc::new(file), &limits)?.tree.skill("", &limits)?;
    Ok(write_tar_gz(&set, packed.name.as_str())?)
}
