//! The files of a registry, wherever they are.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use super::super::local;
#[cfg(feature = "http")]
use super::super::web::{Missed, Web};
use super::unknown_registry;
use crate::advice::{Verb, message};
use crate::archive::open_zip;
use crate::codes;
use crate::context::Context;
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs::{self, Kind, SharedFile, read_capped};
#[cfg(feature = "http")]
use crate::http::{HttpError, Url};
use crate::registry::{BUNDLE_LIMITS, Config, FileError, Listed};
use crate::scope::ScopeRoot;
#[cfg(feature = "http")]
use crate::spec::Address;
use crate::spec::{Registry, SourceFacts};
use crate::tree::Tree;

/// The largest `config.json` that is read, in bytes.
const CONFIG_BYTES: u64 = 1 << 20;

/// The place of a registry's files.
#[derive(Debug)]
pub(super) enum RegistryFiles {
    #[cfg(feature = "http")]
    Web {
        address: Address,
        web: Box<Web>,
    },
    Directory(PathBuf),
    /// One file with all of them.
    Bundle {
        path: PathBuf,
        tree: Tree,
    },
}

impl RegistryFiles {
    /// Returns the files of `registry`. Nothing is requested before it is needed.
    ///
    /// # Errors
    ///
    /// Fails for a directory that is not there, and for a name that nothing was looked up for.
    pub(super) fn new(registry: &Registry, context: &Context, scope: ScopeRoot<'_>) -> Result<Self> {
        match registry {
            #[cfg(feature = "http")]
            Registry::Web(address) => {
                Ok(Self::Web { address: address.clone(), web: Box::new(Web::new(context, address)?) })
            }
            #[cfg(not(feature = "http"))]
            Registry::Web(address) => Err(Error::usage(format!("this build cannot fetch `{address}`"))),
            Registry::Directory(path) => {
                let dir = local::resolve(&context.settings, scope, path)?;
                match fs::kind(&fs::real_path(&dir)?.unwrap_or_else(|| dir.clone()))? {
                    Some(Kind::File) => Self::bundle(dir),
                    Some(_) => Ok(Self::Directory(dir)),
                    None => Err(Error::usage(format!("the registry `{}` does not exist", registry.typed()))
                        .coded(codes::REGISTRY_ABSENT)
                        .hint(format!(
                            "`{}` is not there: correct its path under `[registries]`",
                            dir.display()
                        ))),
                }
            }
            Registry::Named(name) => {
                Err(unknown_registry(name).hint("name it under `[registries]` in `skillpm.toml`"))
            }
        }
    }

    /// Returns the files in the bundle at `path`. Only its directory is read.
    fn bundle(path: PathBuf) -> Result<Self> {
        let file = Arc::new(SharedFile::open(&path)?);
        let archive = open_zip(file, &BUNDLE_LIMITS)
            .map_err(|error| Error::from(error).context(format!("`{}` is not a registry", path.display())))?;
        Ok(Self::Bundle { path, tree: archive.tree })
    }

    /// Returns the name of the place, for messages.
    pub(super) fn name(&self) -> String {
        match self {
            #[cfg(feature = "http")]
            Self::Web { address, .. } => address.host().to_owned(),
            Self::Directory(path) | Self::Bundle { path, .. } => {
                path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
            }
        }
    }

    /// Reports whether archives that are fetched are kept for later.
    pub(super) fn keeps(&self) -> bool {
        match self {
            #[cfg(feature = "http")]
            Self::Web { web, .. } => web.keeps(),
            Self::Directory(_) | Self::Bundle { .. } => false,
        }
    }

    /// Returns the file `path` of at most `limit` bytes; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails for a place that cannot be reached or read.
    pub(super) fn read(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>> {
        match self {
            #[cfg(feature = "http")]
            Self::Web { address, web } => {
                let url = url(address, path)?;
                match web.get(&url, None, limit) {
                    Ok(got) => {
                        let mut bytes = vec![0; usize::try_from(got.file.len()).unwrap_or_default()];
                        got.file.read_exact_at(&mut bytes, 0).map_err(|error| {
                            Error::io(format!("`{path}` cannot be read from the cache: {error}"))
                        })?;
                        Ok(Some(bytes))
                    }
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
            Self::Directory(dir) => read_capped(&dir.join(path), limit).map_err(|error| {
                Error::from(error).coded(codes::REGISTRY_UNUSABLE).hint(message!(
                    Verb::Registry.call().word("verify"),
                    " shows what is wrong in a registry"
                ))
            }),
            Self::Bundle { tree, .. } if tree.get(path).is_none() => Ok(None),
            Self::Bundle { tree, .. } => Ok(Some(tree.read(path, limit)?)),
        }
    }

    /// Returns the file `path` as the web last delivered it, if that is in the cache.
    pub(super) fn last(&self, path: &str) -> Option<Vec<u8>> {
        match self {
            #[cfg(feature = "http")]
            Self::Web { address, web } => {
                let file = web.last(&url(address, path).ok()?)?;
                let mut bytes = vec![0; usize::try_from(file.len()).ok()?];
                file.read_exact_at(&mut bytes, 0).ok()?;
                Some(bytes)
            }
            Self::Directory(_) | Self::Bundle { .. } => {
                let _ = path;
                None
            }
        }
    }

    /// Keeps `bytes` in the cache as what the web last delivered for `path`.
    pub(super) fn put_back(&self, path: &str, bytes: &[u8]) {
        match self {
            #[cfg(feature = "http")]
            Self::Web { address, web } => {
                if let Ok(url) = url(address, path) {
                    web.put_back(&url, bytes);
                }
            }
            Self::Directory(_) | Self::Bundle { .. } => drop((path.len(), bytes.len())),
        }
    }

    /// Reports whether the file `path` is on this machine, in the directory or in the cache.
    pub(super) fn is_kept(&self, path: &str) -> bool {
        match self {
            #[cfg(feature = "http")]
            Self::Web { address, web } => url(address, path).is_ok_and(|url| web.is_kept(&url)),
            Self::Directory(dir) => fs::kind(&dir.join(path)).is_ok_and(|kind| kind.is_some()),
            Self::Bundle { tree, .. } => tree.get(path).is_some(),
        }
    }

    /// Checks that there is a registry at all.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::config`] does.
    pub(super) fn check(&self) -> Result<()> {
        self.config().map(drop)
    }

    /// Returns the registry's own description.
    ///
    /// # Errors
    ///
    /// Fails if there is no registry, or one of a format that this program does not know.
    pub(super) fn config(&self) -> Result<Config> {
        let path = "config.json";
        let Some(bytes) = self.read(path, CONFIG_BYTES)? else { return Err(self.absent(path)) };
        self.parse_config(path, &bytes)
    }

    fn parse_config(&self, path: &str, bytes: &[u8]) -> Result<Config> {
        Config::parse(bytes).map_err(|error| {
            self.forget(path);
            match error {
                FileError::Format(_) => Error::config(format!("`{}` cannot be read: {error}", self.place()))
                    .coded(codes::REGISTRY_UNUSABLE)
                    .hint("update skillpm"),
                _ => Error::integrity(format!("`{}` is not a registry: `{path}`: {error}", self.place()))
                    .coded(codes::REGISTRY_UNUSABLE),
            }
        })
    }

    /// Checks that the registry has the format that this program reads. Without `config.json`, or if it cannot be had now,
    /// the other files decide.
    ///
    /// # Errors
    ///
    /// Fails for another format, and for a `config.json` that is none.
    pub(super) fn check_format(&self) -> Result<()> {
        let path = "config.json";
        let Ok(Some(bytes)) = self.read(path, CONFIG_BYTES) else { return Ok(()) };
        self.parse_config(path, &bytes).map(drop)
    }

    /// Returns the error for a registry without the file `path`.
    pub(super) fn absent(&self, path: &str) -> Error {
        let told = format!("`{}` is not a registry: it has no `{path}`", self.place());
        let error = match self {
            #[cfg(feature = "http")]
            Self::Web { .. } => {
                Error::network(told).hint("check the address; `config.json` lies directly below it")
            }
            Self::Directory(_) | Self::Bundle { .. } => {
                Error::usage(told).hint("check the path; `config.json` lies directly below it")
            }
        };
        error.coded(codes::REGISTRY_ABSENT)
    }

    fn place(&self) -> String {
        match self {
            #[cfg(feature = "http")]
            Self::Web { address, .. } => address.to_string(),
            Self::Directory(path) | Self::Bundle { path, .. } => path.display().to_string(),
        }
    }

    /// Returns the archive of a version, checked against its digest; `what` is shown while it comes.
    ///
    /// # Errors
    ///
    /// Fails for an archive that is not there, has another size or digest, or more than `limit` bytes.
    pub(super) fn artifact(
        &self,
        listed: &Listed,
        what: Option<&str>,
        limit: u64,
    ) -> Result<Arc<SharedFile>> {
        let (digest, size) = (&listed.artifact.digest, listed.artifact.size);
        let path = format!("artifacts/sha256/{}.zip", digest.hex());
        let file = match self {
            #[cfg(feature = "http")]
            // One byte more than announced is enough to see that it is larger.
            Self::Web { address, web } => {
                web.promised(&url(address, &path)?, digest, what, limit.min(size.saturating_add(1)))?
            }
            Self::Directory(dir) => {
                let _ = what;
                if fs::real_path(&dir.join(&path))?.is_none() {
                    return Err(missing(&path));
                }
                let file = Arc::new(SharedFile::open(&dir.join(&path))?);
                if file.len() <= limit {
                    check_digest(&file, digest, &path)?;
                }
                file
            }
            Self::Bundle { tree, .. } => {
                if tree.get(&path).is_none() {
                    return Err(missing(&path));
                }
                let bytes = tree.read(&path, limit.min(size.saturating_add(1)))?;
                let file = Arc::new(temporary(&bytes)?);
                check_digest(&file, digest, &path)?;
                file
            }
        };
        if file.len() > limit {
            return Err(crate::refusal::Refusal::TooLarge { size: file.len(), limit }.into());
        }
        if file.len() != size {
            return Err(Error::integrity(format!(
                "`{path}` has {} bytes, but the list of versions says {size}",
                file.len()
            ))
            .coded(codes::REGISTRY_MISMATCH));
        }
        Ok(file)
    }

    /// Removes the file `path` from the cache: it is not what it should be.
    pub(super) fn forget(&self, path: &str) {
        match self {
            #[cfg(feature = "http")]
            Self::Web { address, web } => {
                if let Ok(url) = url(address, path) {
                    web.forget(&url);
                }
            }
            Self::Directory(_) | Self::Bundle { .. } => drop(path.len()),
        }
    }
}

#[cfg(feature = "http")]
fn url(address: &Address, path: &str) -> Result<Url> {
    Ok(Url::parse(&format!("{address}/{path}"))?)
}

/// Returns the error for an archive that is listed and not there.
fn missing(path: &str) -> Error {
    Error::integrity(format!("`{path}` does not exist, but the list of versions names it"))
        .coded(codes::REGISTRY_MISMATCH)
        .hint(message!(
            "report it to its owner; ",
            Verb::Registry.call().word("verify"),
            " shows what is missing"
        ))
}

/// Returns an open file with these bytes, which has no name.
fn temporary(bytes: &[u8]) -> Result<SharedFile> {
    let mut file = fs::anonymous_temp_file()?;
    let written = file.write_all(bytes).and_then(|()| SharedFile::from_file(file));
    written.map_err(|error| Error::io("failed to write a temporary file").because(error))
}

fn check_digest(file: &SharedFile, digest: &Digest, path: &str) -> Result<()> {
    let mut bytes = vec![0; usize::try_from(file.len()).unwrap_or_default()];
    file.read_exact_at(&mut bytes, 0)
        .map_err(|error| Error::io(format!("`{path}` cannot be read: {error}")))?;
    let found = Digest::of(&bytes);
    if found == *digest {
        return Ok(());
    }
    Err(Error::integrity(format!("`{path}` does not match its name: expected {digest}, found {found}"))
        .coded(codes::REGISTRY_MISMATCH))
}
