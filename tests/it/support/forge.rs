//! A GitHub on the loopback: references, archives on a second host, and every way to fail.

mod fault;
mod files;
mod releases;
mod server;
mod trees;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;

use skillpm_format::digest::Digest;

use super::zip::Tree;

pub use fault::{Endpoint, Fault};
pub use releases::Release;
pub use server::read_head;

/// The branch that `HEAD` names.
const DEFAULT_BRANCH: &str = "main";

/// The secret in the addresses that archives are redirected to.
pub const DOWNLOAD_SECRET: &str = "d0wnl0ad";

/// A running server. It stops when it is dropped.
#[derive(Debug)]
pub struct Forge {
    shared: Arc<Shared>,
    api: SocketAddr,
    archives: SocketAddr,
}

/// One request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The header `Host`.
    pub host: String,
    /// `GET`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
}

impl Recorded {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Told when the server stops, for connections that are held open.
    stop: Condvar,
}

#[derive(Debug, Default)]
struct State {
    stopped: bool,
    token: Option<String>,
    repositories: BTreeMap<String, Repository>,
    faults: Vec<(Endpoint, Fault, usize)>,
    requests: Vec<Recorded>,
    archives_at: String,
    /// Where files of releases are taken, instead of here.
    uploads_at: Option<String>,
    /// Files by path, for sources that are no repositories.
    files: BTreeMap<String, files::Lies>,
    manners: files::Manners,
}

#[derive(Debug, Default)]
struct Repository {
    private: bool,
    branches: BTreeMap<String, String>,
    tags: BTreeMap<String, String>,
    /// The commits in the order in which they came.
    log: Vec<String>,
    /// Archives by commit.
    commits: BTreeMap<String, Arc<Vec<u8>>>,
    /// The files of each commit.
    trees: BTreeMap<String, Tree>,
    releases: Vec<Release>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panicked while it held the state")
    }
}

impl Forge {
    /// Starts a server without repositories, on two hosts: one for the API, one for archives.
    pub fn start() -> Self {
        let api = TcpListener::bind("127.0.0.1:0").expect("a port");
        // Not every system has more than one address on the loopback; a port is an origin as well.
        let archives = TcpListener::bind("127.0.0.2:0")
            .or_else(|_| TcpListener::bind("127.0.0.1:0"))
            .expect("a second port");
        let addresses = [&api, &archives].map(|listener| listener.local_addr().expect("an address"));
        let shared = Arc::new(Shared::default());
        shared.state().archives_at = format!("http://{}", addresses[1]);
        for listener in [api, archives] {
            let shared = Arc::clone(&shared);
            thread::spawn(move || server::accept(&listener, &shared));
        }
        Self { shared, api: addresses[0], archives: addresses[1] }
    }

    /// The address of the API, for `GITHUB_API_URL`.
    pub fn api_url(&self) -> String {
        format!("http://{}", self.api)
    }

    /// The header `Host` of requests to the API.
    pub fn api_host(&self) -> String {
        self.api.to_string()
    }

    /// The header `Host` of requests for archives.
    pub fn archive_host(&self) -> String {
        self.archives.to_string()
    }

    /// The repository `owner/name`, which is made if it is not there.
    pub fn repo(&self, name: &str) -> Repo<'_> {
        self.shared.state().repositories.entry(name.to_owned()).or_default();
        Repo { forge: self, name: name.to_owned() }
    }

    /// From now on this token is the right one and all others are wrong.
    pub fn accept_token(&self, token: &str) {
        self.shared.state().token = Some(token.to_owned());
    }

    /// The next request for `endpoint` fails.
    pub fn fail(&self, endpoint: Endpoint, fault: Fault) {
        self.fail_times(endpoint, fault, 1);
    }

    /// The next `times` requests for `endpoint` fail.
    pub fn fail_times(&self, endpoint: Endpoint, fault: Fault, times: usize) {
        self.shared.state().faults.push((endpoint, fault, times));
    }

    /// All further requests for `endpoint` fail.
    pub fn fail_always(&self, endpoint: Endpoint, fault: Fault) {
        self.fail_times(endpoint, fault, usize::MAX);
    }

    /// All requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().requests.clone()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.shared.state().requests.clear();
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        self.shared.state().stopped = true;
        self.shared.stop.notify_all();
        // A last connection each, so that the loops see it.
        for address in [self.api, self.archives] {
            let _ = TcpStream::connect(address);
        }
    }
}

/// A repository of a [`Forge`].
#[derive(Debug)]
pub struct Repo<'a> {
    forge: &'a Forge,
    name: String,
}

impl Repo<'_> {
    /// Adds a commit to the default branch and returns its id.
    pub fn commit(&self, tree: &Tree) -> String {
        let commit = self.loose_commit(tree);
        self.branch(DEFAULT_BRANCH, &commit);
        commit
    }

    /// Adds a commit that no branch leads to and returns its id.
    pub fn loose_commit(&self, tree: &Tree) -> String {
        let count = self.with(|repository| repository.commits.len());
        let seed = format!("{}\n{count}\n{tree:?}", self.name);
        let commit = Digest::of(seed.as_bytes()).hex()[..40].to_owned();
        self.put(&commit, tree.archive(&self.name, &commit));
        self.with(|repository| repository.trees.insert(commit.clone(), tree.clone()));
        commit
    }

    /// Serves `archive` as that of `commit`, whatever it is.
    pub fn put(&self, commit: &str, archive: Vec<u8>) {
        self.with(|repository| {
            repository.log.push(commit.to_owned());
            repository.commits.insert(commit.to_owned(), Arc::new(archive))
        });
    }

    /// Lets a branch name a commit.
    pub fn branch(&self, name: &str, commit: &str) -> &Self {
        self.with(|repository| repository.branches.insert(name.to_owned(), commit.to_owned()));
        self
    }

    /// Lets a tag name a commit.
    pub fn tag(&self, name: &str, commit: &str) -> &Self {
        self.with(|repository| repository.tags.insert(name.to_owned(), commit.to_owned()));
        self
    }

    /// Takes a branch away.
    pub fn unbranch(&self, name: &str) -> &Self {
        self.with(|repository| repository.branches.remove(name).expect("a branch"));
        self
    }

    /// Takes a tag away.
    pub fn untag(&self, name: &str) -> &Self {
        self.with(|repository| repository.tags.remove(name).expect("a tag"));
        self
    }

    /// Takes a commit away, as after its history was rewritten.
    pub fn lose(&self, commit: &str) -> &Self {
        self.with(|repository| {
            repository.log.retain(|one| one != commit);
            repository.trees.remove(commit);
            repository.commits.remove(commit).expect("a commit");
        });
        self
    }

    /// Hides the repository from requests without the right token.
    pub fn private(&self) -> &Self {
        self.with(|repository| repository.private = true);
        self
    }

    fn with<T>(&self, change: impl FnOnce(&mut Repository) -> T) -> T {
        change(self.forge.shared.state().repositories.get_mut(&self.name).expect("made by `repo`"))
    }
}

impl Repository {
    /// The commit that `reference` means. Branches come first, whatever their names look like: a
    /// server that takes a branch for a commit is one that clients must withstand.
    fn resolve(&self, reference: &str) -> Option<&str> {
        let named = if let Some(tag) = reference.strip_prefix("tags/") {
            self.tags.get(tag)
        } else if let Some(branch) = reference.strip_prefix("heads/") {
            self.branches.get(branch)
        } else {
            let name = if reference == "HEAD" { DEFAULT_BRANCH } else { reference };
            self.branches.get(name).or_else(|| self.tags.get(name))
        };
        let commit = || self.commits.keys().find(|c| reference.len() >= 7 && c.starts_with(reference));
        named.or_else(commit).map(String::as_str)
    }
}
