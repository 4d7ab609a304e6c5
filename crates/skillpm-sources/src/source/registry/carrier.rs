//! The files of a registry, wherever they are.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::local;
#[cfg(feature = "http")]
use super::super::web::{Missed, Web};
use super::unknown_registry;
use crate::advice::{Opt, Verb, message};
use crate::archive::open_zip;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, Base, Kind, SharedFile};
#[cfg(feature = "http")]
use crate::http::{HttpError, Url};
use crate::refusal::Refusal;
use crate::registry::{
    Artifact, BUNDLE_LIMITS, Config, Listed, MAX_FILE, ReadFiles, config, digest_of, files, parsed, shared,
};
use crate::scope_kind::ScopeRoot;
#[cfg(feature = "http")]
use crate::spec::Address;
use crate::spec::{Registry, SourceFacts};
use crate::tree::Tree;

/// The files of a registry. On the web they are kept for later where there is a cache.
#[derive(Debug)]
pub(super) struct RegistryFiles {
    /// The registry as it is typed, for messages.
    pub(super) typed: String,
    carrier: Carrier,
}

#[derive(Debug)]
enum Carrier {
    #[cfg(feature = "http")]
    Web {
        address: Address,
        web: Box<Web>,
    },
    Directory(Base),
    /// One file with all of them.
    Bundle {
        path: PathBuf,
        tree: Tree,
    },
}

impl RegistryFiles {
    /// Returns the files of `registry`. Nothing is requested before it is needed.
    pub(super) fn new(registry: &Registry, context: &Context, scope: ScopeRoot<'_>) -> Result<Self> {
        let carrier = match registry {
            #[cfg(feature = "http")]
            Registry::Web(address) => {
                Carrier::Web { address: address.clone(), web: Box::new(Web::new(context, address)?) }
            }
            #[cfg(not(feature = "http"))]
            Registry::Web(address) => {
                return Err(Error::usage(format!("this build cannot fetch `{address}`")));
            }
            Registry::Directory(path) => {
                let dir = local::resolve(&context.settings, scope, path)?;
                match fs::kind(&fs::real_path(&dir)?.unwrap_or_else(|| dir.clone()))? {
                    Some(Kind::File) => bundle(dir)?,
                    Some(_) => Carrier::Directory(Base::open(&dir)?),
                    None => {
                        let message = format!("the registry `{}` does not exist", registry.typed());
                        return Err(Error::usage(message).coded(codes::REGISTRY_ABSENT).hint(format!(
                            "`{}` is not there: correct its path under `[registries]`",
                            dir.display()
                        )));
                    }
                }
            }
            Registry::Named(name) => {
                return Err(unknown_registry(name).hint("name it under `[registries]` in `skillpm.toml`"));
            }
        };
        Ok(Self { typed: registry.typed(), carrier })
    }

    /// Returns the name of the place, for messages.
    pub(super) fn name(&self) -> String {
        let path = match &self.carrier {
            #[cfg(feature = "http")]
            Carrier::Web { address, .. } => return address.host().to_owned(),
            Carrier::Directory(base) => base.path(),
            Carrier::Bundle { path, .. } => path,
        };
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Returns where the file `path` is on the web.
    #[cfg(feature = "http")]
    fn web(&self, path: &str) -> Option<(&Web, Url)> {
        let Carrier::Web { address, web } = &self.carrier else { return None };
        Some((web, Url::parse(&format!("{address}/{path}")).ok()?))
    }

    /// Reports whether archives that are fetched are kept for later.
    pub(super) fn keeps(&self) -> bool {
        match &self.carrier {
            #[cfg(feature = "http")]
            Carrier::Web { web, .. } => web.keeps(),
            Carrier::Directory(_) | Carrier::Bundle { .. } => false,
        }
    }

    /// Returns the file `path` as the web last delivered it, if that is in the cache.
    #[cfg_attr(not(feature = "http"), expect(clippy::unused_self, reason = "only the web has a cache"))]
    pub(super) fn last(&self, path: &str) -> Option<Vec<u8>> {
        #[cfg(feature = "http")]
        if let Some((web, url)) = self.web(path) {
            return web.last(&url)?.read_all().ok();
        }
        let _ = path;
        None
    }

    /// Keeps `bytes` in the cache as what the web last delivered for `path`.
    #[cfg_attr(not(feature = "http"), expect(clippy::unused_self, reason = "only the web has a cache"))]
    pub(super) fn put_back(&self, path: &str, bytes: &[u8]) {
        #[cfg(feature = "http")]
        if let Some((web, url)) = self.web(path) {
            web.put_back(&url, bytes);
        }
        let _ = (path, bytes);
    }

    /// Reports whether the file `path` is on this machine, in the directory or in the cache.
    pub(super) fn is_kept(&self, path: &str) -> bool {
        match &self.carrier {
            #[cfg(feature = "http")]
            Carrier::Web { .. } => self.web(path).is_some_and(|(web, url)| web.is_kept(&url)),
            Carrier::Directory(base) => base.kind(path.as_ref()).is_ok_and(|kind| kind.is_some()),
            Carrier::Bundle { tree, .. } => tree.get(path).is_some(),
        }
    }

    /// Returns the registry's own description.
    pub(super) fn config(&self) -> Result<Config> {
        config(self)?.ok_or_else(|| self.absent(files::CONFIG))
    }

    /// Checks that the registry has the format that this program reads. Without `config.json`, or if it cannot be had now,
    /// the other files decide.
    pub(super) fn check_format(&self) -> Result<()> {
        let Ok(Some(bytes)) = self.get(files::CONFIG, MAX_FILE) else { return Ok(()) };
        parsed(self, files::CONFIG, &bytes, Config::parse).map(drop)
    }

    /// Returns the error for a registry without the file `path`.
    pub(super) fn absent(&self, path: &str) -> Error {
        let told = |place: &dyn fmt::Display| format!("`{place}` is not a registry: it has no `{path}`");
        let error = match &self.carrier {
            #[cfg(feature = "http")]
            Carrier::Web { address, .. } => {
                Error::network(told(address)).hint("check the address; `config.json` lies directly below it")
            }
            Carrier::Directory(base) => Error::usage(told(&base.path().display()))
                .hint("check the path; `config.json` lies directly below it"),
            Carrier::Bundle { path, .. } => Error::usage(told(&path.display()))
                .hint("check the path; `config.json` lies directly below it"),
        };
        error.coded(codes::REGISTRY_ABSENT)
    }

    /// Returns the archive of a version, checked against its digest; `what` is shown while it comes.
    pub(super) fn artifact(
        &self,
        listed: &Listed,
        what: Option<&str>,
        limit: u64,
    ) -> Result<Arc<SharedFile>> {
        let Artifact { digest, size } = listed.artifact;
        let path = files::artifact(&digest);
        // One byte more than announced is enough to see that it is larger.
        let most = limit.min(size.saturating_add(1));
        let file = match &self.carrier {
            #[cfg(feature = "http")]
            Carrier::Web { address, web } => {
                let url = Url::parse(&format!("{address}/{path}"))?;
                web.promised(&url, &digest, what, most)?
            }
            Carrier::Directory(_) | Carrier::Bundle { .. } => {
                let _ = what;
                self.open(&path, most)?.ok_or_else(|| missing(&path))?
            }
        };
        let mismatch = |message: String| Err(Error::integrity(message).coded(codes::REGISTRY_MISMATCH));
        match file.len() {
            found if found > limit => Err(Refusal::TooLarge { size: found, limit }.into()),
            found if found != size => {
                mismatch(format!("`{path}` has {found} bytes, but the list of versions says {size}"))
            }
            _ => match digest_of(&file) {
                Ok(found) if found == digest => Ok(file),
                Ok(found) => mismatch(format!("`{path}` does not match its name: it has the digest {found}")),
                Err(error) => Err(Error::io(format!("`{path}` cannot be read")).because(error)),
            },
        }
    }
}

impl ReadFiles for RegistryFiles {
    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        match &self.carrier {
            #[cfg(feature = "http")]
            Carrier::Web { address, web } => {
                let url = Url::parse(&format!("{address}/{path}"))?;
                match web.get(&url, None, limit) {
                    Ok(got) => got.file.read_all().map(Some).map_err(|error| {
                        Error::io(format!("`{path}` cannot be read from the cache")).because(error)
                    }),
                    Err(Missed::Http(HttpError::Status { status: 404 | 410, .. })) => Ok(None),
                    Err(missed) => {
                        let wants_login = matches!(&missed, Missed::Http(HttpError::Status { url: at, status: 401 | 403, .. })
                            if at.origin() == url.origin());
                        let error = missed.told(web);
                        if !wants_login {
                            return Err(error);
                        }
                        let login = Verb::Registry.call().word("login").word(address.to_string());
                        Err(error.hint(message!(login, " keeps a token for it")))
                    }
                }
            }
            Carrier::Directory(base) => base.get(path, limit).map_err(|error| {
                error.coded(codes::REGISTRY_UNUSABLE).hint(message!(
                    Verb::Registry.call().word("verify").option(Opt::Registry, base.path().display()),
                    " shows what is wrong"
                ))
            }),
            Carrier::Bundle { tree, .. } if tree.get(path).is_none() => Ok(None),
            Carrier::Bundle { tree, .. } => Ok(Some(tree.read(path, limit)?)),
        }
    }

    fn open(&self, path: &str, limit: u64) -> Result<Option<Arc<SharedFile>>> {
        if let Carrier::Directory(base) = &self.carrier {
            return base.open(path, limit);
        }
        self.get(path, limit)?.map(|bytes| shared(&bytes)).transpose()
    }

    /// Also removes it from the cache.
    fn unusable(&self, path: &str, reason: &dyn fmt::Display) -> Error {
        #[cfg(feature = "http")]
        if let Some((web, url)) = self.web(path) {
            web.forget(&url);
        }
        Error::integrity(format!("`{path}` of the registry `{}` cannot be used: {reason}", self.typed))
            .coded(codes::REGISTRY_UNUSABLE)
            .hint("report it to the owner of the registry")
    }
}

/// Returns the files in the bundle at `path`. Only its directory is read.
fn bundle(path: PathBuf) -> Result<Carrier> {
    let file = Arc::new(SharedFile::open(&path)?);
    let archive = open_zip(file, &BUNDLE_LIMITS)
        .map_err(|error| Error::from(error).context(format!("`{}` is not a registry", path.display())))?;
    Ok(Carrier::Bundle { path, tree: archive.tree })
}

/// Returns the error for an archive that is listed and not there.
fn missing(path: &str) -> Error {
    Error::integrity(format!("`{path}` does not exist, but the list of versions names it"))
        .coded(codes::REGISTRY_MISMATCH)
        .hint("report it to its owner")
}
