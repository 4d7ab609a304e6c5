//! MCP servers that offer skills by the extension `io.modelcontextprotocol/skills`.
//!
//! A server lists the files of each skill with their digests and sizes. The digest of that list is the revision in a
//! lockfile: what was reviewed is what is fetched, or nothing is.

mod client;
mod entry;
mod frontmatter;
mod http;
mod message;
mod program;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use self::client::McpClient;
use self::entry::{FileList, ListedFile, ListedSkill};
use self::message::Object;
use super::discover::Candidate;
use super::web::cache::{self, Cache};
use super::web::{locked_digest, read_all};
use super::{FetchedSource, SkillIndex, Source, Wanted};
use crate::advice::{Opt, Verb, message};
use crate::archive;
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::fs::write_small;
use crate::reporter::Reporter;
use crate::scope_kind::ScopeRoot;
use crate::spec::{Identity, McpServer, SourceFacts as _};
use crate::text::closest_path;
use crate::workers;

/// The number of requests in progress at once.
const CONNECTIONS: usize = 4;
/// The largest page of a list, in bytes.
const PAGE_BYTES: u64 = 16 << 20;
/// The largest number of pages.
const MOST_PAGES: usize = 1000;
/// The largest number of skills that are listed.
const MOST_SKILLS: usize = 10_000;
/// The largest list, in bytes of all entries.
const LIST_BYTES: usize = 64 << 20;
/// The largest entry of one skill, in bytes.
const ENTRY_BYTES: u64 = 4 << 20;

impl Source for McpServer {
    fn open(&self, context: &Context, _: ScopeRoot<'_>, _: Wanted<'_>) -> Result<FetchedSource> {
        Ok(FetchedSource::shelf(Arc::new(McpShelf::new(context, self)?), self.name()))
    }
}

/// A server, with the entries that it has stated.
struct McpShelf {
    server: McpServer,
    client: McpClient,
    cache: Option<Cache>,
    reporter: Arc<dyn Reporter>,
    known: Mutex<EntryCache>,
}

/// The entries that a server has stated.
#[derive(Default)]
struct EntryCache {
    /// Each by its path; `None` for a path where the server has no skill.
    entries: BTreeMap<String, Option<Arc<ListedSkill>>>,
    /// All that the server lists, in its order.
    list: Option<Vec<Arc<ListedSkill>>>,
}

impl McpShelf {
    fn new(context: &Context, server: &McpServer) -> Result<Self> {
        Ok(Self {
            server: server.clone(),
            client: McpClient::new(context, server)?,
            cache: context.settings.dirs.cache.as_deref().map(Cache::new),
            reporter: Arc::clone(&context.reporter),
            known: Mutex::default(),
        })
    }

    fn typed(&self) -> String {
        self.server.typed()
    }

    fn known(&self) -> std::sync::MutexGuard<'_, EntryCache> {
        // Maps and lists of whole values are intact even after a panic of another thread.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all entries, in the order of the server.
    fn list(&self) -> Result<Vec<Arc<ListedSkill>>> {
        if let Some(list) = &self.known().list {
            return Ok(list.clone());
        }
        let list = self.pages()?;
        let mut known = self.known();
        for entry in &list {
            known.entries.insert(entry.path.clone(), Some(Arc::clone(entry)));
        }
        known.list = Some(list.clone());
        Ok(list)
    }

    /// Reads all pages of `skills/list`.
    fn pages(&self) -> Result<Vec<Arc<ListedSkill>>> {
        let method = "skills/list";
        let unusable = |why: &str| self.client.unusable(method, why);
        let mut entries: BTreeMap<String, usize> = BTreeMap::new();
        let mut list: Vec<ListedSkill> = Vec::new();
        let (mut cursor, mut bytes): (Option<String>, usize) = (None, 0);
        for _ in 0..MOST_PAGES {
            let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let mut page = self
                .client
                .call(method, params, PAGE_BYTES)?
                .map_err(|refused| self.client.refused(method, &refused))?;
            let Some(Value::Array(skills)) = page.remove("skills") else {
                return Err(unusable("it has no list `skills`"));
            };
            for value in skills {
                bytes += value.to_string().len();
                if list.len() == MOST_SKILLS || bytes > LIST_BYTES {
                    return Err(unusable("it lists too many skills").coded(codes::TOO_LARGE));
                }
                let entry = ListedSkill::read(value, list.len());
                // It is ambiguous which one is meant.
                if let Some(first) = entries.get(&entry.path).and_then(|at| list.get_mut(*at)) {
                    first.files = Err("its server lists it more than once".to_owned());
                } else {
                    entries.insert(entry.path.clone(), list.len());
                    list.push(entry);
                }
            }
            let Some(Value::String(next)) = page.remove("nextCursor") else {
                return Ok(list.into_iter().map(Arc::new).collect());
            };
            if cursor.as_ref() == Some(&next) {
                return Err(unusable("its next page is the same one"));
            }
            cursor = Some(next);
        }
        Err(unusable("it has too many pages").coded(codes::TOO_LARGE))
    }

    /// Returns the entry of the skill at `path`; `None` if the server has none there.
    fn entry(&self, path: &str) -> Result<Option<Arc<ListedSkill>>> {
        if let Some(known) = self.known().entries.get(path) {
            return Ok(known.clone());
        }
        let entry = self.get(path)?.map(Arc::new);
        self.known().entries.insert(path.to_owned(), entry.clone());
        Ok(entry)
    }

    fn get(&self, path: &str) -> Result<Option<ListedSkill>> {
        let method = "skills/get";
        let Some(uri) = entry::uri_of(path) else { return Ok(None) };
        match self.client.call(method, json!({"uri": uri}), ENTRY_BYTES)? {
            Ok(mut result) => {
                let entry = result.remove("skill").map(|skill| ListedSkill::read(skill, 0));
                match entry.filter(|entry| entry.path == path) {
                    Some(entry) => Ok(Some(entry)),
                    None => Err(self.client.unusable(method, "it is not about the skill that was named")),
                }
            }
            Err(refused) if refused.is_unknown() => Ok(None),
            Err(refused) => Err(self.client.refused(method, &refused)),
        }
    }

    /// Returns the files of the skill at `path`, which must be those of the revision `locked` if there is one. Some of
    /// them may have to be fetched.
    fn files(&self, path: &str, locked: Option<&Digest>) -> Result<(FileList, Option<Object>)> {
        if let Some(files) = locked.and_then(|locked| self.kept_list(locked)) {
            return Ok((files, None));
        }
        let entry = self.entry(path)?.ok_or_else(|| self.unknown(path))?;
        let files = entry.files.as_ref().map_err(|problem| {
            Error::integrity(format!("`{path}` of `{}` cannot be fetched: {problem}", self.typed()))
        })?;
        let found = files.revision();
        match locked {
            Some(locked) if *locked != found => Err(Error::integrity(format!(
                "`{path}` from `{}` is not what was locked: expected {locked}, but the server now has {found}",
                self.typed()
            ))
            .coded(codes::REVISION_GONE)),
            _ => Ok((files.clone(), Some(entry.frontmatter.clone()))),
        }
    }

    /// Returns the list of files with the digest `revision`, if it and all of them are in the cache.
    fn kept_list(&self, revision: &Digest) -> Option<FileList> {
        let text = String::from_utf8(self.kept(revision)?).ok()?;
        let files = FileList::parse(&text)?;
        let cache = self.cache.as_ref()?;
        files
            .0
            .iter()
            .all(|file| cache::open(&cache.artifact(&file.digest), &file.digest).is_some())
            .then_some(files)
    }

    /// Returns the bytes with `digest` in the cache, if they are there.
    fn kept(&self, digest: &Digest) -> Option<Vec<u8>> {
        let file = cache::open(&self.cache.as_ref()?.artifact(digest), digest)?;
        read_all(&file).ok()
    }

    fn keep(&self, digest: &Digest, bytes: &[u8]) {
        if let Some(cache) = &self.cache {
            // Without it, the next time fetches it again.
            let _ = write_small(&cache.artifact(digest), bytes);
        }
    }

    /// Returns the content of `files`, those of the skill at `path`, fetched with at most `connections` requests at once.
    /// Its frontmatter must match the one that the server `states`, if it was asked.
    fn load(
        &self,
        path: &str,
        files: &FileList,
        states: Option<&Object>,
        connections: usize,
    ) -> Result<Vec<Vec<u8>>> {
        let root = entry::root_of(path);
        let contents: Mutex<BTreeMap<usize, Vec<u8>>> = Mutex::default();
        let positions: Vec<usize> = (0..files.0.len()).collect();
        workers::wait_for(&positions, connections, |at| {
            let file = &files.0[*at];
            let kept = self.kept(&file.digest).filter(|bytes| bytes.len() as u64 == file.size);
            let bytes = match kept {
                Some(bytes) => bytes,
                None => self
                    .read(&root, file)
                    .map_err(|error| error.context(format!("`{path}` cannot be fetched")))?,
            };
            self.reporter.download_progressed(file.size);
            // A map of whole values is intact even after a panic of another thread.
            contents.lock().unwrap_or_else(PoisonError::into_inner).insert(*at, bytes);
            Ok::<_, Error>(())
        })?;
        let contents: Vec<_> =
            contents.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect();
        if let Some(states) = states {
            self.check_frontmatter(path, files, &contents, states)?;
            self.keep(&files.revision(), files.text().as_bytes());
        }
        Ok(contents)
    }

    /// Checks that the frontmatter that the server `states` for a skill is that of its file.
    fn check_frontmatter(
        &self,
        path: &str,
        files: &FileList,
        contents: &[Vec<u8>],
        states: &Object,
    ) -> Result<()> {
        let file =
            files.0.iter().position(|file| file.path.as_str() == "SKILL.md").and_then(|at| contents.get(at));
        let document = Document::from_bytes(file.cloned().unwrap_or_default());
        match frontmatter::difference(&document, states) {
            None => Ok(()),
            Some(field) => Err(Error::integrity(format!(
                "the frontmatter that `{}` states for `{path}` is not that of its `SKILL.md`: `{}` differs",
                self.typed(),
                crate::text::visible_name(&field)
            ))
            .hint("report it to the owner of the server")),
        }
    }

    /// Reads a file of the skill whose directory has the address `root`, and checks its digest and size.
    fn read(&self, root: &str, file: &ListedFile) -> Result<Vec<u8>> {
        let method = "resources/read";
        let uri = format!("{root}{}", file.address);
        // In JSON, a byte is at most six characters.
        let limit = file.size.saturating_mul(6).saturating_add(ENTRY_BYTES);
        let result = self
            .client
            .call(method, json!({"uri": uri}), limit)?
            .map_err(|refused| self.client.refused(method, &refused))?;
        let bytes = content(&result)
            .ok_or_else(|| self.client.unusable(method, "it does not have the content of one file"))?;
        let found = Digest::of(&bytes);
        if found != file.digest || bytes.len() as u64 != file.size {
            return Err(Error::integrity(format!(
                "`{uri}` of `{}` is not what the server states: expected {} with {} bytes, found {found} with {}",
                self.typed(),
                file.digest,
                file.size,
                bytes.len()
            ))
            .hint("the server may be changing right now: run it again later, and report it to its owner if it persists"));
        }
        self.keep(&found, &bytes);
        Ok(bytes)
    }

    fn unknown(&self, path: &str) -> Error {
        let typed = self.typed();
        let error = Error::usage(format!("there is no skill `{path}` in `{typed}`"));
        let listed = self.list().unwrap_or_default();
        let error = match closest_path(path, listed.iter().map(|entry| entry.path.as_str())) {
            Some(close) => error.hint(format!("did you mean `{close}`?")),
            None => error,
        };
        error.hint(message!(Verb::Install.call().flag(Opt::List).word(&typed), " shows what is available"))
    }
}

impl SkillIndex for McpShelf {
    /// Returns all of `path`: the address of a skill has any number of parts.
    fn key<'p>(&self, path: &'p str) -> &'p str {
        path
    }

    fn listed(&self) -> Result<Vec<Candidate>> {
        let list = self.list()?;
        if list.is_empty() {
            return Err(Error::usage(format!("`{}` lists no skills", self.typed()))
                .hint("a server may have skills that it does not list: name one by its path"));
        }
        Ok(list.iter().map(|entry| candidate(entry)).collect())
    }

    fn look_up(&self, path: &str) -> Result<Option<Candidate>> {
        Ok(self.entry(path)?.map(|entry| candidate(&entry)))
    }

    fn prefetch(&self, wanted: &[(&str, Option<&str>)]) -> Result<()> {
        if self.cache.is_none() || wanted.len() < 2 {
            return Ok(());
        }
        self.reporter.download_started(&format!("{} skills of {}", wanted.len(), self.server.name()), None);
        let fetched = workers::wait_for(wanted, CONNECTIONS, |(path, revision)| {
            let loaded = locked_digest(*revision)
                .and_then(|locked| self.files(path, locked.as_ref()))
                .and_then(|(files, states)| self.load(path, &files, states.as_ref(), 1));
            match loaded {
                Err(error) if error.kind() == ErrorKind::Network && !self.is_of_one(&error) => Err(error),
                // Problems of one skill are reported when it is fetched.
                _ => Ok(()),
            }
        });
        self.reporter.download_finished();
        fetched
    }

    fn is_of_one(&self, error: &Error) -> bool {
        error.kind() == ErrorKind::Integrity
            || matches!(error.code(), codes::MCP_REFUSED | codes::MCP_UNUSABLE)
    }

    fn revision(&self, path: &str) -> Result<Identity> {
        Ok(match self.entry(path)?.as_ref().map(|entry| &entry.files) {
            None => Identity::Absent,
            Some(Ok(files)) => Identity::Id(files.revision().to_string()),
            Some(Err(_)) => Identity::Unknown,
        })
    }

    fn fetch(&self, path: &str, revision: Option<&str>) -> Result<FetchedSource> {
        if path.is_empty() {
            let typed = self.typed();
            return Err(Error::usage(format!(
                "`{typed}` is an MCP server, but it does not say which skill to use"
            ))
            .hint(message!(
                format_args!("name one, as in `{typed}@NAME`; "),
                Verb::Install.call().flag(Opt::List).word(&typed),
                " shows what is available"
            )));
        }
        let locked = locked_digest(revision)?;
        let (files, states) = self.files(path, locked.as_ref())?;
        self.reporter.download_started(&format!("{path} of {}", self.server.name()), Some(files.bytes()));
        let loaded = self.load(path, &files, states.as_ref(), CONNECTIONS);
        self.reporter.download_finished();
        let contents = loaded?;
        let revision = files.revision().to_string();
        let named = files.0.iter().zip(contents).map(|(file, bytes)| (file.path.as_str().to_owned(), bytes));
        let tree = archive::of_files(named.collect()).map_err(|refusal| {
            Error::from(refusal).context(format!("`{path}` of `{}` is refused", self.typed()))
        })?;
        Ok(FetchedSource::new(tree.within(path), Some(revision), self.server.name()))
    }
}

/// Compares by the lists of files.
impl fmt::Debug for McpShelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpShelf").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Returns the entry of a skill as a candidate.
fn candidate(entry: &ListedSkill) -> Candidate {
    let meta = entry.files.as_ref().map_err(Clone::clone).map(|_| entry.meta());
    Candidate::listed(entry.path.clone(), meta)
}

/// Returns the bytes in the result of `resources/read`, if it has exactly one content.
fn content(result: &Object) -> Option<Vec<u8>> {
    match result.get("contents")?.as_array()?.as_slice() {
        [one] => match one.get("blob") {
            Some(blob) => BASE64_STANDARD.decode(blob.as_str()?).ok(),
            None => Some(one.get("text")?.as_str()?.as_bytes().to_vec()),
        },
        _ => None,
    }
}
