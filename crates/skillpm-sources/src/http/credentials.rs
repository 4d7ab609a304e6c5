//! The file of tokens, in the user's directory of settings.

use std::path::PathBuf;

use crate::codes;
use crate::credentials::{Credentials, FILE_NAME};
use crate::env;
use crate::error::{Error, Result};
use crate::fs::{self, DirLock};
use crate::settings::{Settings, no_home};

/// The largest file that is read, in bytes.
const FILE_BYTES: u64 = 1 << 20;

/// The file of tokens, which need not exist.
#[derive(Debug, Clone)]
pub struct CredentialsFile {
    /// The path.
    pub path: PathBuf,
}

impl CredentialsFile {
    /// Returns the file of this user; `None` without a place for settings.
    pub fn of(settings: &Settings) -> Option<Self> {
        settings.dirs.config.as_ref().map(|dir| Self { path: dir.join(FILE_NAME) })
    }

    /// Returns the file of this user.
    ///
    /// # Errors
    ///
    /// Fails if there is neither a home directory nor `XDG_CONFIG_HOME`.
    pub fn required(settings: &Settings) -> Result<Self> {
        Self::of(settings).ok_or_else(|| no_home("tokens", Some(env::XDG_CONFIG_HOME)))
    }

    /// Reads the file; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails for a file that cannot be read, or is not one of tokens.
    pub fn read(&self) -> Result<Option<Credentials>> {
        let Some(text) = fs::read_text(&self.path, FILE_BYTES)? else { return Ok(None) };
        Credentials::parse(&text).map(Some).map_err(|error| {
            Error::config(format!("`{}` cannot be used: {error}", self.path.display()))
                .coded(codes::CREDENTIALS_UNUSABLE)
                .hint("correct it, or remove it and log in again")
        })
    }

    /// Returns a warning if other users may read or write the file.
    pub fn exposure(&self) -> Option<String> {
        let path = self.path.display();
        let exposed = fs::is_exposed(&self.path).unwrap_or_default();
        exposed.then(|| {
            format!("other users of this machine can get at the tokens in `{path}`: make it yours with `chmod 600`")
        })
    }

    /// Removes what a killed process left beside the file: it may hold a token.
    pub fn clear_abandoned(&self) {
        fs::clear_abandoned(self.path.parent().unwrap_or(&self.path));
    }

    /// Changes the file with `change`, and writes it, readable by this user alone, if the text is then another one.
    /// Holds a lock meanwhile. Returns the result of `change`.
    ///
    /// # Errors
    ///
    /// Fails as [`CredentialsFile::read`] does, and for a file that cannot be written.
    pub fn change<T>(&self, change: impl FnOnce(&mut Credentials) -> T, on_wait: impl Fn()) -> Result<T> {
        let dir = self.path.parent().unwrap_or(&self.path);
        let _lock = DirLock::acquire(dir, on_wait)?;
        self.clear_abandoned();
        let before = self.read()?;
        let mut after = before.clone().unwrap_or_default();
        let result = change(&mut after);
        if before.is_none_or(|before| before.text() != after.text()) {
            fs::write_private(&self.path, after.text().as_bytes())?;
        }
        Ok(result)
    }
}
