//! Shared fixtures of tests: packages, stores that fail, servers on one store.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use skillpm_testing::archive::{stored, zip};

use crate::access::{Caller, Holder, Scope, Token};
use crate::app::App;
use crate::config::Config;
use crate::registry::{Config as RegistryConfig, Timestamp, files, registry_name};
use crate::storage::{Objects, Storage};

/// The text of the `SKILL.md` of `name`.
pub(crate) fn text(name: &str, version: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Reads {name} files. Use it for {name} files.\nlicense: MIT\n\
         metadata:\n  version: '{version}'\n---\n\n# {name}\n"
    )
}

/// The archive of a version of `name`.
pub(crate) fn archive(name: &str, version: &str) -> Bytes {
    zip(&[stored("SKILL.md", text(name, version))]).into()
}

/// The holder of a token with these scopes.
pub(crate) fn caller(account: &str, scopes: &[Scope]) -> Caller {
    Caller(Some(Token {
        id: account.to_owned(),
        holder: Holder::Account { account: account.parse().expect("an account") },
        scopes: scopes.to_vec(),
        names: Vec::new(),
        created: Timestamp::new(0),
        expires: None,
        note: String::new(),
    }))
}

/// A server of a registry in `store`.
pub(crate) async fn app(store: &Store) -> App {
    let files = Objects::new(Arc::new(store.clone()), "skills");
    let config = RegistryConfig::new(registry_name("acme").expect("a name"));
    // It may exist already.
    let _ = files.create(files::CONFIG, config.to_bytes().into()).await;
    let storage = Storage::bucket(files, config);
    App::with(Config::default(), storage).await.expect("a server")
}

/// A store in memory whose writes fail from some point on.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    memory: Arc<InMemory>,
    /// The number of calls that write and still work.
    works: Arc<AtomicI64>,
    /// The number of calls of each kind.
    calls: Arc<Mutex<BTreeMap<&'static str, usize>>>,
    /// Whether a call that fails has written all the same, as if the answer were lost.
    writes: bool,
}

impl Store {
    /// An empty store that works.
    pub(crate) fn new() -> Self {
        Self {
            memory: Arc::new(InMemory::new()),
            works: Arc::new(AtomicI64::new(i64::MAX)),
            calls: Arc::default(),
            writes: false,
        }
    }

    /// The same content; after `count` writes, all fail. If `writes`, they write all the same.
    pub(crate) fn failing_after(&self, count: i64, writes: bool) -> Self {
        Self {
            memory: Arc::clone(&self.memory),
            works: Arc::new(AtomicI64::new(count)),
            calls: Arc::default(),
            writes,
        }
    }

    /// Returns the number of calls of each kind since this was called last.
    pub(crate) fn take_calls(&self) -> BTreeMap<&'static str, usize> {
        std::mem::take(&mut *self.calls.lock().expect("not poisoned"))
    }

    /// Puts `bytes` in the place of the object at `path` of the registry.
    pub(crate) async fn put(&self, path: &str, bytes: impl Into<PutPayload>) {
        let path = Path::from(format!("skills/{path}"));
        self.memory.put_opts(&path, bytes.into(), PutOptions::default()).await.expect("is put");
    }

    fn count(&self, kind: &'static str) {
        *self.calls.lock().expect("not poisoned").entry(kind).or_default() += 1;
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store of a test")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Store {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.count("write");
        let fails = self.works.fetch_sub(1, Ordering::SeqCst) <= 0;
        let failed = || object_store::Error::Generic { store: "test", source: "it does not answer".into() };
        if fails && !self.writes {
            return Err(failed());
        }
        let put = self.memory.put_opts(path, payload, options).await?;
        if fails { Err(failed()) } else { Ok(put) }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.memory.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.count("read");
        self.memory.get_opts(path, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.memory.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.count("list");
        self.memory.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.count("list");
        self.memory.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.memory.copy_opts(from, to, options).await
    }
}
