//! The file of a client, as it is read and written.

use std::path::{Path, PathBuf};

use super::clients::Client;
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs::{self, Kind};
use crate::interop::servers::ServersError;
use crate::scope::Scope;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// A file of a client.
#[derive(Debug, Clone)]
pub(super) struct ClientFile {
    /// The client.
    pub(super) client: &'static Client,
    /// The scope that the file belongs to.
    pub(super) scope: ScopeKind,
    /// The path.
    pub(super) path: PathBuf,
}

impl ClientFile {
    /// Returns the file of `client` in `scope`.
    pub(super) fn new(settings: &Settings, client: &'static Client, scope: ScopeKind) -> Result<Self> {
        if scope == ScopeKind::Project && !client.has_project_file() {
            let message = format!("{} has no configuration file in a project", client.name);
            return Err(Error::usage(message).hint("set it up for the user instead"));
        }
        let path = client.file(settings, scope)?;
        let path = path.ok_or_else(|| crate::settings::no_home("the client's configuration", None))?;
        Ok(Self { client, scope, path })
    }

    /// Returns the text of the file; `None` if the file does not exist.
    pub(super) fn read(&self, settings: &Settings) -> Result<Option<String>> {
        let real = fs::real_path(&self.path)?;
        if real.is_none() && fs::kind(&self.path)? == Some(Kind::Symlink) {
            return Err(Error::config(format!("`{}` is a link that leads to nothing", self.path.display()))
                .hint("create its target, or remove the link"));
        }
        if self.scope == ScopeKind::Project {
            self.stays_inside(settings)?;
        }
        let Some(bytes) = fs::read_capped(&self.path, MAX_FILE)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            Error::config(format!("`{}` is not UTF-8", self.path.display()))
                .because(error.utf8_error())
                .hint("save it as UTF-8 in an editor")
        })
    }

    /// Checks that no link moves the file out of the project: it may be a stranger's.
    fn stays_inside(&self, settings: &Settings) -> Result<()> {
        let root = Scope::new(settings, ScopeKind::Project)?.root;
        let real_root = fs::real_path(&root)?.unwrap_or(root);
        for path in self.path.ancestors() {
            if let Some(real) = fs::real_path(path)? {
                if real.starts_with(&real_root) {
                    return Ok(());
                }
                let message =
                    format!("`{}` leads out of the project, to `{}`", self.path.display(), real.display());
                return Err(Error::config(message).hint("replace the link by a file"));
            }
        }
        Ok(())
    }

    /// Returns `error` with the path of the file.
    pub(super) fn error(&self, error: &ServersError) -> Error {
        match error {
            ServersError::Syntax { line, column, reason } => {
                Error::at(ErrorKind::Config, FilePosition::new(&self.path, *line, *column), reason)
                    .hint("nothing was changed: repair the file and run the command again")
            }
            ServersError::Shape(reason) => Error::config(format!("`{}`: {reason}", self.path.display()))
                .hint("nothing was changed: edit the file by hand"),
        }
    }

    /// Returns the directories above the file that do not exist, the innermost first.
    pub(super) fn missing_directories(&self) -> Result<Vec<PathBuf>> {
        let mut missing = Vec::new();
        for dir in self.path.ancestors().skip(1) {
            if fs::kind(dir)?.is_some() {
                break;
            }
            missing.push(Path::to_path_buf(dir));
        }
        Ok(missing)
    }
}
