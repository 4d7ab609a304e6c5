//! Sites that list their skills under `/.well-known/`.
//!
//! Discovery 0.2 (`agent-skills/index.json`) names one artifact for each skill, with its digest; 0.1
//! (`skills/index.json`) lists the files of each. `$schema` says which version an index has.

mod index;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::discover::Candidate;
use super::web::{Missed, Web, locked_digest, read_all};
use super::{FetchedSource, SkillIndex, Source, Wanted, file};
use crate::advice::{Opt, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::SharedFile;
use crate::http::{HttpError, Url};
use crate::path::SafePath;
use crate::refusal::Limits;
use crate::reporter::Reporter;
use crate::scope_kind::ScopeRoot;
use crate::skill::SkillMeta;
use crate::spec::{Address, Identity, Site, SourceFacts};
use crate::text::closest;
use crate::tree::{Memory, Node, Tree, TreeEntry};
use index::{Content, Index, IndexEntry, IndexError};

/// The largest index that is read, in bytes: some ten thousand skills.
const INDEX_BYTES: u64 = 16 << 20;
/// The number of requests in progress at once.
const CONNECTIONS: usize = 4;
/// The possible places of an index, in the order in which they are tried.
const PLACES: [&str; 2] = ["agent-skills", "skills"];

impl Source for Site {
    fn open(&self, context: &Context, _: ScopeRoot<'_>, _: Wanted<'_>) -> Result<FetchedSource> {
        open(context, &self.0, &Limits::default())
    }
}

/// A site, with its index once it is needed.
struct SiteShelf {
    address: Address,
    web: Web,
    limits: Limits,
    reporter: Arc<dyn Reporter>,
    index: Mutex<Option<Arc<Index>>>,
}

/// Opens the site at `address`. Sends no request until it is needed.
///
/// # Errors
///
/// Fails for an address that cannot be that of a site.
pub fn open(context: &Context, address: &Address, limits: &Limits) -> Result<FetchedSource> {
    Ok(FetchedSource::shelf(Arc::new(shelf(context, address, limits)?), address.host()))
}

fn shelf(context: &Context, address: &Address, limits: &Limits) -> Result<SiteShelf> {
    if address.as_str().contains('?') {
        return Err(Error::usage(format!("`{address}` is not the address of a site: it has a query"))
            .hint("put `url:` before the address to download what is there"));
    }
    Ok(SiteShelf {
        address: address.clone(),
        web: Web::new(context, address)?,
        limits: limits.clone(),
        reporter: Arc::clone(&context.reporter),
        index: Mutex::default(),
    })
}

impl SkillIndex for SiteShelf {
    fn listed(&self) -> Result<Vec<Candidate>> {
        let index = self.index()?;
        if index.entries.is_empty() {
            return Err(Error::usage(format!("the index `{}` lists no skills", index.url)));
        }
        Ok(index.entries.iter().map(candidate).collect())
    }

    fn prefetch(&self, wanted: &[(&str, Option<&str>)]) -> Result<()> {
        if !self.web.keeps() {
            return Ok(());
        }
        let mut missing = Vec::new();
        for &(name, revision) in wanted {
            // An unavailable file is reported when it is read, for that skill alone.
            let Ok(revision) = locked_digest(revision) else { continue };
            if revision.is_none_or(|digest| self.web.kept(&digest).is_none()) {
                missing.push((name, revision, AtomicU64::new(self.limits.skill_bytes)));
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let index = self.index()?;
        let mut jobs = Vec::new();
        for (name, revision, budget) in &missing {
            match self.content(&index, name, *revision) {
                Ok(Content::Artifact { url, digest, .. }) if self.web.kept(digest).is_none() => {
                    jobs.push(FetchJob { name, url, digest: Some(digest), budget });
                }
                Ok(Content::Artifact { .. }) | Err(_) => {}
                Ok(Content::Files(files)) => {
                    jobs.extend(files.iter().map(|(_, url)| FetchJob { name, url, digest: None, budget }));
                }
            }
        }
        // A single one is fetched when it is read, and its progress is reported there.
        if jobs.len() > 1 { self.run(&jobs) } else { Ok(()) }
    }

    fn revision(&self, name: &str) -> Result<Identity> {
        let index = self.index()?;
        Ok(match index.entries.iter().find(|entry| entry.name == name).map(|entry| &entry.content) {
            None => Identity::Absent,
            Some(Ok(Content::Artifact { digest, .. })) => Identity::Id(digest.to_string()),
            Some(Ok(Content::Files(_)) | Err(_)) => Identity::Unknown,
        })
    }

    fn fetch(&self, name: &str, revision: Option<&str>) -> Result<FetchedSource> {
        if name.is_empty() {
            let typed = self.typed();
            return Err(Error::usage(format!("`{typed}` is a site, but it does not say which skill to use"))
                .hint(message!(
                    format_args!("name one, as in `{typed}//NAME`; "),
                    Verb::Install.call().flag(Opt::List).word(&typed),
                    " shows what is available"
                )));
        }
        let revision = locked_digest(revision)?;
        if let Some(digest) = revision
            && let Some(file) = self.web.kept(&digest)
        {
            // It was already read as the file that the index described.
            return self.artifact(name, &file, digest, true);
        }
        let index = self.index()?;
        match self.content(&index, name, revision)? {
            Content::Artifact { url, digest, document } => {
                let what = format!("{name} of {}", self.address);
                let file = self.web.promised(url, digest, Some(&what), self.limits.skill_bytes)?;
                self.artifact(name, &file, *digest, *document)
            }
            Content::Files(files) => {
                self.prefetch(&[(name, None)])?;
                self.files(name, files)
            }
        }
    }
}

/// A file to fetch.
struct FetchJob<'a> {
    /// The skill that it belongs to.
    name: &'a str,
    url: &'a Url,
    /// The digest, if one was promised.
    digest: Option<&'a Digest>,
    /// The number of bytes that the skill may still use.
    budget: &'a AtomicU64,
}

impl SiteShelf {
    fn typed(&self) -> String {
        Site(self.address.clone()).typed()
    }

    fn index(&self) -> Result<Arc<Index>> {
        // The index is present or not, even after a panic of another thread.
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        match &*index {
            Some(index) => Ok(Arc::clone(index)),
            None => Ok(Arc::clone(index.insert(Arc::new(self.find()?)))),
        }
    }

    /// Requests the index at its possible places, only below the path of the address: the user did not name
    /// the rest of the site.
    fn find(&self) -> Result<Index> {
        let mut asked = String::new();
        let (mut offline, mut forbidden) = (None, None);
        for place in PLACES {
            let url = Url::parse(&format!("{}/.well-known/{place}/index.json", self.address))?;
            let answer = match self.web.get(&url, None, INDEX_BYTES) {
                Ok(got) => {
                    let bytes = read_all(&got.file)?;
                    match Index::parse(&bytes, got.url, self.limits.skill_files) {
                        Ok(index) => return Ok(index),
                        Err(error) => {
                            self.web.forget(&url);
                            match error {
                                // Some servers answer every address with a page.
                                IndexError::OtherFile(what) => what.to_owned(),
                                error => return Err(unusable(&url, &error)),
                            }
                        }
                    }
                }
                Err(Missed::Http(HttpError::Status { status: status @ (404 | 410), .. })) => {
                    format!("status {status}")
                }
                Err(Missed::Http(error @ HttpError::Offline(_))) => {
                    offline.get_or_insert(error);
                    continue;
                }
                // File stores answer this way for missing files.
                Err(Missed::Http(error @ HttpError::Status { status: 403, .. })) => {
                    forbidden.get_or_insert(error);
                    continue;
                }
                Err(missed) => return Err(missed.told(&self.web)),
            };
            // Writing to a string cannot fail.
            let _ = write!(asked, "\n  {url}: {answer}");
        }
        if let Some(error) = forbidden.or(offline) {
            return Err(self.web.told(error));
        }
        let error = Error::network(format!("there is no index of skills at `{}`:{asked}", self.address));
        Err(match self.address.as_str().strip_suffix(self.address.path()) {
            Some(whole) if !self.address.path().is_empty() => error.hint(message!(
                "the rest of the site was not searched: ",
                Verb::Install.call().word(whole),
                " searches all of it"
            )),
            _ => error
                .hint(format!("for a git repository write `git+{0}`, for a file `url:{0}`", self.address)),
        })
    }

    /// Returns the location of the skill `name`, if it still has the digest `locked`.
    fn content<'i>(&self, index: &'i Index, name: &str, locked: Option<Digest>) -> Result<&'i Content> {
        let typed = self.typed();
        let Some(entry) = index.entries.iter().find(|entry| entry.name == name) else {
            let error = Error::usage(format!("there is no skill `{name}` in `{typed}`"));
            let error = match closest(name, index.entries.iter().map(|entry| entry.name.as_str())) {
                Some(close) => error.hint(format!("did you mean `{close}`?")),
                None => error,
            };
            return Err(error.hint(message!(
                Verb::Install.call().flag(Opt::List).word(&typed),
                " shows what is available"
            )));
        };
        let content = entry.content.as_ref().map_err(|problem| {
            Error::integrity(format!("`{name}` of `{typed}` cannot be fetched: {problem}"))
        })?;
        match (content, locked) {
            (Content::Artifact { digest, .. }, Some(locked)) if *digest != locked => {
                Err(Error::integrity(format!(
                    "`{name}` from `{typed}` is not what was locked: expected {locked}, but the index now has {digest}"
                ))
                .coded(codes::REVISION_GONE))
            }
            _ => Ok(content),
        }
    }

    /// Fetches all `jobs` into the cache, several at once, up to the first failure.
    fn run(&self, jobs: &[FetchJob<'_>]) -> Result<()> {
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<Error>> = Mutex::default();
        let failure = || failed.lock().unwrap_or_else(PoisonError::into_inner);
        self.reporter.download_started(&format!("{} files of {}", jobs.len(), self.address), None);
        thread::scope(|scope| {
            for _ in 0..CONNECTIONS.min(jobs.len()) {
                scope.spawn(|| {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if failure().is_some() {
                            return;
                        }
                        match self.job(job) {
                            Ok(bytes) => self.reporter.download_progressed(bytes),
                            Err(error) => drop(failure().get_or_insert(error)),
                        }
                    }
                });
            }
        });
        self.reporter.download_finished();
        match failure().take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn job(&self, job: &FetchJob<'_>) -> Result<u64> {
        let limit = job.budget.load(Ordering::Relaxed);
        let fetched = match job.digest {
            Some(digest) => self.web.promised(job.url, digest, None, limit),
            None => self
                .web
                .get(job.url, None, limit)
                .map(|got| got.file)
                .map_err(|missed| missed.told(&self.web)),
        };
        let length = fetched.map_err(|error| unfetched(job.name, error))?.len();
        let rest = |left: u64| Some(left.saturating_sub(length));
        // An update with a function that always returns a value does not fail.
        let _ = job.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
        Ok(length)
    }

    /// Returns the skill in an artifact. Its first bytes determine the kind of the file.
    fn artifact(
        &self,
        name: &str,
        file: &Arc<SharedFile>,
        digest: Digest,
        document: bool,
    ) -> Result<FetchedSource> {
        let refused = |error: Error| error.context(format!("`{name}` of `{}` is refused", self.typed()));
        let kind = if document { "SKILL.md" } else { "" };
        let tree = file::read(file, kind, &self.limits).map_err(|error| refused(error.into()))?;
        if !tree.entries().any(|(path, _)| path.eq_ignore_ascii_case("SKILL.md")) {
            return Err(refused(Error::integrity("the archive has no `SKILL.md` at its root")));
        }
        Ok(FetchedSource::new(tree.within(name), Some(digest.to_string()), self.address.host()))
    }

    /// Returns a skill whose files are fetched one by one. All of them must arrive.
    fn files(&self, name: &str, files: &[(SafePath, Url)]) -> Result<FetchedSource> {
        let mut left = self.limits.skill_bytes;
        let (mut entries, mut contents) = (BTreeMap::new(), Vec::new());
        for (id, (path, url)) in files.iter().enumerate() {
            let got =
                self.web.get(url, None, left).map_err(|missed| unfetched(name, missed.told(&self.web)))?;
            let size = got.file.len();
            left = left.saturating_sub(size);
            contents.push(read_all(&got.file)?);
            entries.insert(
                path.as_str().to_owned(),
                TreeEntry { node: Node::File { executable: false, size }, id },
            );
        }
        let tree = Tree::new(entries, Arc::new(Memory(contents)));
        Ok(FetchedSource::new(tree.within(name), None, self.address.host()))
    }
}

impl fmt::Debug for SiteShelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SiteShelf").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Returns the index entry of a skill as a candidate, with the metadata that it has.
fn candidate(entry: &IndexEntry) -> Candidate {
    let meta = entry.content.as_ref().map_err(Clone::clone).map(|_| SkillMeta {
        name: entry.name.clone(),
        description: entry.description.clone(),
        ..SkillMeta::default()
    });
    Candidate::listed(entry.name.clone(), meta)
}

fn unfetched(name: &str, error: Error) -> Error {
    error.context(format!("`{name}` cannot be fetched"))
}

fn unusable(url: &Url, error: &IndexError) -> Error {
    let told = Error::network(format!("the index `{url}` cannot be used: {error}"));
    match error {
        IndexError::Schema(_) => told.hint("a newer version of skillpm may know the format"),
        _ => told.hint("report it to the owner of the site"),
    }
}
