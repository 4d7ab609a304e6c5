//! Artifacts in OCI registries.
//!
//! A tag or a digest names a manifest, whose digest is the revision in a lockfile. Everything that is fetched for it is
//! checked against the digests and sizes that it states. The whole artifact is read: one skill, or the skills of a
//! collection.

mod challenge;
pub mod client;
mod credentials;
mod helper;
mod manifest;
mod token;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use client::OciClient;
use manifest::{Descriptor, Layers, Manifest, ManifestError};

use super::discover::discover_in;
use super::newest::{Files, NewestRevision, Query, Revisions, hashed};
use super::web::read_all;
use super::{FetchedSource, Released, Source, Wanted};
use crate::archive;
use crate::codes;
use crate::context::Context;
use crate::digest::{Digest, DigestError};
use crate::error::{Error, ErrorKind, Result};
use crate::fs::SharedFile;
use crate::interop::oci::{self, LATEST};
use crate::name::SkillName;
use crate::refusal::{Limits, Refusal};
use crate::scope_kind::ScopeRoot;
use crate::spec::{OciRepository, Reference, SourceFacts as _};
use crate::text::closest;
use crate::tree::{Content, ReadError, Tree, TreeEntry};
use crate::workers;

/// The number of requests in progress at once.
const CONNECTIONS: usize = 4;
/// The size of an artifact, in bytes, that is fetched to find out what is new in it.
const SMALL: u64 = 1 << 20;

impl Source for OciRepository {
    fn open(&self, context: &Context, _: ScopeRoot<'_>, wanted: Wanted<'_>) -> Result<FetchedSource> {
        let client = OciClient::new(context, self)?;
        let (digest, bytes) = match wanted {
            Wanted::Now(reference) => resolve(&client, reference)?,
            Wanted::Locked(revision) => {
                let digest = digest(revision)?;
                (digest, client.manifest(&digest)?.ok_or_else(|| gone(&client, &digest))?)
            }
        };
        let reader = Reader { client: &client, limits: Limits::default() };
        let (tree, released) = reader.read(&bytes).map_err(|error| {
            if error.code() == codes::REVISION_GONE || error.kind() == ErrorKind::Network {
                return error;
            }
            error.context(format!("`{}` cannot be used", self.typed()))
        })?;
        let name = self.name().rsplit('/').next().unwrap_or_default();
        Ok(FetchedSource { released, ..FetchedSource::new(tree, Some(digest.to_string()), name) })
    }

    fn revisions<'a>(
        &'a self,
        context: &'a Context,
        _: ScopeRoot<'a>,
        _: &[Option<&Reference>],
    ) -> Result<Option<Box<dyn Revisions + 'a>>> {
        Ok(Some(Box::new(Repository { client: OciClient::new(context, self)?, tip: None })))
    }

    fn released(&self, _: &Context, _: Option<&str>) -> Result<Released> {
        Ok(Released::OnceOpened)
    }
}

/// A repository that is asked what it has now.
struct Repository {
    client: OciClient,
    /// The meaning of the last reference.
    tip: Option<Tip>,
}

/// A manifest.
struct Tip {
    digest: Digest,
    bytes: Vec<u8>,
    /// The files, once they were requested; `None` if they are too many.
    tree: OnceCell<Option<Tree>>,
}

impl Revisions for Repository {
    fn tip(&mut self, reference: Option<&Reference>) -> Result<Option<String>> {
        let (digest, bytes) = resolve(&self.client, reference)?;
        let revision = digest.to_string();
        self.tip = Some(Tip { digest, bytes, tree: OnceCell::new() });
        Ok(Some(revision))
    }

    fn compare(&mut self, now: Option<String>, query: &Query<'_>) -> Result<NewestRevision> {
        let Self { client, tip } = self;
        let Some(Tip { digest, bytes, tree }) = tip else {
            return Ok(NewestRevision { revision: now, files: Files::Unknown });
        };
        let new = Manifest::parse(bytes, true).ok();
        let locked = query.locked.revision.as_deref().and_then(|text| text.parse::<Digest>().ok());
        let is_same = locked.is_some_and(|locked| {
            // Without the manifest, only the files tell.
            let old = || client.manifest(&locked).ok().flatten();
            locked == *digest || old().is_some_and(|old| has_same_blobs(&old, new.as_ref()))
        });
        let files = if is_same {
            Files::Same
        } else {
            let tree = tree.get_or_init(|| small(client, bytes, new.as_ref()));
            tree.as_ref().map_or(Files::Unknown, |tree| hashed(tree, query))
        };
        Ok(NewestRevision { revision: now, files })
    }

    fn tags(&mut self, prefix: &str) -> Result<Vec<String>> {
        let mut tags = self.client.tags()?;
        tags.retain(|tag| tag.starts_with(prefix));
        Ok(tags)
    }
}

/// Returns the files of the manifest `bytes`, if they are those of one skill and so few that a download costs little:
/// an update uses them, too.
fn small(client: &OciClient, bytes: &[u8], manifest: Option<&Manifest>) -> Option<Tree> {
    let size = manifest.and_then(Manifest::size).filter(|size| *size <= SMALL);
    let reader = Reader { client, limits: Limits::default() };
    size.and_then(|_| reader.read(bytes).ok()).map(|(tree, _)| tree)
}

/// Reports whether the files of two manifests are in the same blobs. Other blobs may hold the same files.
fn has_same_blobs(old: &[u8], new: Option<&Manifest>) -> bool {
    let old = Manifest::parse(old, true).ok();
    let old = old.as_ref().and_then(Manifest::contents);
    old.is_some() && old == new.and_then(Manifest::contents)
}

/// Reports whether `manifest` is that of a skill whose files are in the blob `layer`.
pub fn holds(manifest: &[u8], layer: &Digest) -> bool {
    let parsed = Manifest::parse(manifest, true).ok();
    parsed.as_ref().and_then(Manifest::contents).is_some_and(|contents| contents == [("", *layer)])
}

fn digest(revision: &str) -> Result<Digest> {
    revision.parse().map_err(|error: DigestError| Error::config(error.to_string()))
}

/// Returns the manifest that `reference` means now, with its digest.
fn resolve(client: &OciClient, reference: Option<&Reference>) -> Result<(Digest, Vec<u8>)> {
    let found = match reference {
        Some(Reference::Rev(text)) => {
            let digest = text.parse().map_err(|_| {
                unknown(format!("`{text}` is not the digest of an artifact"))
                    .hint("expected `sha256:` and 64 digits")
            })?;
            client.manifest(&digest)?
        }
        Some(Reference::Tag(tag) | Reference::Any(tag)) => client.tagged(tag)?,
        Some(Reference::Branch(name)) => {
            return Err(unknown(format!("`{}` has no branch `{name}`", client.shown()))
                .hint("an OCI registry has tags and digests"));
        }
        // The range was turned into a tag before.
        Some(Reference::Range(range)) => return Err(unknown(format!("`{range}` is not a tag"))),
        None => match client.tagged(LATEST)? {
            Some(bytes) => Some(bytes),
            None => match newest(&client.tags()?) {
                Some(tag) => client.tagged(&tag)?,
                None => {
                    return Err(unknown(format!(
                        "`{}` does not exist, or has neither the tag `{LATEST}` nor one that is a version",
                        client.shown()
                    ))
                    .hint("name a tag, as in `oci://host/team/pdf:TAG`"));
                }
            },
        },
    };
    match found {
        Some(bytes) => Ok((Digest::of(&bytes), bytes)),
        None => Err(missing(client, reference)),
    }
}

/// Returns the tag with the highest version that is not a pre-release.
pub fn newest(tags: &[String]) -> Option<String> {
    let released = tags.iter().filter_map(|tag| Some((oci::version(tag)?, tag)));
    released.filter(|(version, _)| version.number().pre.is_empty()).max().map(|(_, tag)| tag.clone())
}

fn unknown(message: String) -> Error {
    Error::usage(message).coded(codes::REVISION_UNKNOWN)
}

/// Returns the error for a tag or a digest that a repository does not have.
fn missing(client: &OciClient, reference: Option<&Reference>) -> Error {
    let name = reference.map_or(LATEST, Reference::name);
    let error = unknown(format!("`{}` has no `{name}`", client.shown()));
    // Without them there is only no suggestion.
    let tags = client.tags().unwrap_or_default();
    if tags.is_empty() {
        return error.hint("the repository does not exist, or has no tags");
    }
    if let Some(close) = closest(name, tags.iter().map(String::as_str)) {
        return error.hint(format!("did you mean `{close}`?"));
    }
    let some: Vec<_> = tags.iter().rev().take(5).map(|tag| format!("`{tag}`")).collect();
    error.hint(format!("its tags are, among others, {}", some.join(", ")))
}

/// Returns the error for a locked manifest that a repository no longer has.
fn gone(client: &OciClient, digest: &Digest) -> Error {
    Error::integrity(format!("`{}` no longer has the artifact {digest}", client.shown()))
        .coded(codes::REVISION_GONE)
}

/// Reads the skills of manifests.
struct Reader<'a> {
    client: &'a OciClient,
    limits: Limits,
}

impl Reader<'_> {
    /// Returns the files that the manifest `bytes` leads to, and when they were released, as their author claims.
    fn read(&self, bytes: &[u8]) -> Result<(Tree, Option<i64>)> {
        match parse(bytes, false)? {
            Manifest::Collection(all) => Ok((self.collection(&all)?, None)),
            one => self.one(bytes, one),
        }
    }

    /// Returns the files of one skill.
    fn one(&self, bytes: &[u8], manifest: Manifest) -> Result<(Tree, Option<i64>)> {
        let (layers, created) = self.skill(bytes, manifest)?;
        Ok((self.layers(&layers)?, created))
    }

    /// Returns the layers of one skill, and when they were released.
    fn skill(&self, bytes: &[u8], manifest: Manifest) -> Result<(Layers, Option<i64>)> {
        match manifest {
            Manifest::Skill(layers, created) => Ok((layers, created)),
            Manifest::Platform(first) => {
                let inner = self.manifest(&first)?;
                match parse(&inner, Manifest::is_artifact(bytes))? {
                    Manifest::Skill(layers, created) => Ok((layers, created)),
                    Manifest::Platform(_) | Manifest::Collection(_) => Err(nested()),
                }
            }
            Manifest::Collection(_) => Err(nested()),
        }
    }

    fn manifest(&self, wanted: &Descriptor) -> Result<Vec<u8>> {
        let bytes = self.client.manifest(&wanted.digest)?.ok_or_else(|| gone(self.client, &wanted.digest))?;
        if bytes.len() as u64 == wanted.size {
            return Ok(bytes);
        }
        let (digest, size) = (&wanted.digest, wanted.size);
        Err(Error::integrity(format!(
            "the index says that the manifest {digest} has {size} bytes, but it has {}",
            bytes.len()
        )))
    }

    fn layers(&self, layers: &Layers) -> Result<Tree> {
        let what = self.client.shown();
        match layers {
            Layers::Archive(one) => {
                check_size(one.size, self.limits.archive_bytes)?;
                let file = self.client.blob(one, Some(&what))?;
                Ok(archive::open_tar_gz(&file, &self.limits)?.tree.without_wrapper())
            }
            Layers::Files(files) => {
                if files.len() as u64 > self.limits.skill_files {
                    let (count, limit) = (files.len() as u64, self.limits.skill_files);
                    return Err(Error::integrity(format!("it has {count} files, {limit} are allowed")));
                }
                check_size(layers.size(), self.limits.skill_bytes)?;
                self.files(files)
            }
        }
    }

    fn files(&self, files: &[(String, Descriptor)]) -> Result<Tree> {
        // The names decide before anything is fetched.
        archive::of_files(files.iter().map(|(name, _)| (name.clone(), Vec::new())).collect())?;
        let positions: Vec<usize> = (0..files.len()).collect();
        let blobs: Mutex<BTreeMap<usize, Arc<SharedFile>>> = Mutex::default();
        workers::wait_for(&positions, CONNECTIONS, |at| {
            let blob = self.client.blob(&files[*at].1, None)?;
            // A map of whole values is intact even after a panic of another thread.
            blobs.lock().unwrap_or_else(PoisonError::into_inner).insert(*at, blob);
            Ok::<_, Error>(())
        })?;
        let blobs = blobs.into_inner().unwrap_or_else(PoisonError::into_inner);
        let read = |(at, blob): (usize, Arc<SharedFile>)| Ok((files[at].0.clone(), read_all(&blob)?));
        let files = blobs.into_iter().map(read).collect::<Result<_>>()?;
        Ok(archive::of_files(files)?)
    }

    /// Returns the skills of a collection, each in a directory of its own name.
    fn collection(&self, all: &[Descriptor]) -> Result<Tree> {
        let (mut names, mut trees) = (Vec::new(), Vec::new());
        let mut size = 0_u64;
        for one in all {
            let bytes = self.manifest(one)?;
            let (layers, _) = self.skill(&bytes, parse(&bytes, true)?)?;
            // All skills together are no larger than one archive may be: their files stay in memory.
            size = size.saturating_add(layers.size());
            check_size(size, self.limits.archive_bytes)?;
            let tree = self.layers(&layers)?;
            let found = discover_in(&tree, "");
            let root = found.iter().find(|found| found.path.is_empty());
            let Some(meta) = root.and_then(|root| root.meta.as_ref().ok()) else {
                let digest = one.digest;
                let message = format!("{digest} of the collection has no `SKILL.md` that can be loaded");
                return Err(Error::integrity(message));
            };
            let name = SkillName::new(&meta.name).map_err(|error| Error::integrity(error.to_string()))?;
            if names.contains(&name) {
                return Err(Error::integrity(format!("the collection has two skills `{name}`")));
            }
            names.push(name);
            trees.push(tree);
        }
        Ok(Joined::tree(names.iter().map(SkillName::as_str).zip(trees)))
    }
}

fn parse(bytes: &[u8], is_artifact: bool) -> Result<Manifest> {
    Manifest::parse(bytes, is_artifact).map_err(|error: ManifestError| {
        let told = Error::integrity(error.to_string());
        match error {
            ManifestError::Image => {
                told.hint("a skill is an artifact with an `artifactType`; run what is in an image with a program for containers")
            }
            _ => told,
        }
    })
}

fn nested() -> Error {
    Error::integrity("an index in an index leads to no skill")
}

fn check_size(size: u64, limit: u64) -> Result<()> {
    if size > limit { Err(Error::from(ReadError::from(Refusal::TooLarge { size, limit }))) } else { Ok(()) }
}

/// The contents of several trees.
struct Joined(Vec<(Tree, TreeEntry)>);

impl Joined {
    /// Returns the trees `all` as one, each in a directory of its name.
    fn tree<'n>(all: impl Iterator<Item = (&'n str, Tree)>) -> Tree {
        let (mut entries, mut parts) = (BTreeMap::new(), Vec::new());
        for (name, tree) in all {
            for (path, entry) in tree.entries() {
                entries.insert(format!("{name}/{path}"), TreeEntry { id: parts.len(), ..entry });
                parts.push((tree.clone(), entry));
            }
        }
        Tree::new(entries, Arc::new(Self(parts)))
    }
}

impl Content for Joined {
    fn copy_to(&self, id: usize, sink: &mut dyn Write) -> std::result::Result<(), ReadError> {
        let (tree, entry) = &self.0[id];
        tree.copy_to(*entry, sink)
    }
}
