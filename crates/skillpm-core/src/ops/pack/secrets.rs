//! Files that may hold secrets: they are packed or published only with the author's consent.

use schemars::JsonSchema;
use serde::Serialize;

use super::Packed;
use crate::advice::{Message, Opt, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::tree::FileSet;
use crate::tree::keys::keys;
use crate::tree::secrets::is_secret;

/// A key of a service in a file that is packed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PackedKey {
    /// The path of the file below the skill's directory.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The kind: `a token of GitHub`.
    pub kind: String,
    /// The key without its secret part.
    pub key: String,
}

/// The possible secrets in a set of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// The paths of the files whose names are usual for secrets.
    pub files: Vec<String>,
    /// The keys of services in the files.
    pub keys: Vec<PackedKey>,
}

impl Secrets {
    /// Returns the possible secrets in `set`; keys only if they are wanted.
    pub(in crate::ops) fn of(set: &FileSet, with_keys: bool) -> Result<Self> {
        let mut secrets = Self::default();
        for file in set.files() {
            let path = file.path.as_str();
            if is_secret(path) {
                secrets.files.push(path.to_owned());
            }
            if !with_keys {
                continue;
            }
            secrets.keys.extend(keys(&set.read(file)?).into_iter().map(|key| PackedKey {
                path: path.to_owned(),
                line: key.line,
                kind: key.kind.to_owned(),
                key: key.shown,
            }));
        }
        Ok(secrets)
    }

    /// Lists all of them, and asks whether the skill `name` is to be `done` nevertheless, unless `allowed` says so or
    /// nothing `is_made`.
    pub(in crate::ops) fn ask(
        &self,
        context: &Context,
        name: &str,
        done: &str,
        allowed: bool,
        is_made: bool,
    ) -> Result<()> {
        for path in &self.files {
            context
                .reporter
                .warning(&format!("`{path}` of `{name}` goes out, and its name is usual for secrets"));
        }
        for PackedKey { path, line, kind, key } in &self.keys {
            context
                .reporter
                .warning(&format!("`{path}:{line}` of `{name}` goes out, and has {kind}: `{key}`"));
        }
        if allowed || !is_made || (self.files.is_empty() && self.keys.is_empty()) {
            return Ok(());
        }
        let refused = |reason: Message| Error::new(ErrorKind::Findings, reason).coded(codes::SECRETS_FOUND);
        match context.interact.confirm(&format!("is `{name}` to be {done} with them?")) {
            Some(true) => Ok(()),
            Some(false) => Err(refused(format!("`{name}` was not {done}: the answer was no").into())),
            None => Err(refused(format!("`{name}` was not {done}: it may hold secrets").into())
                .hint("take them out; what `.skillpmignore` names stays out of the package")
                .hint(message!(Opt::AllowSecrets, " lets them go out"))),
        }
    }
}

impl Packed {
    /// Asks about what may be secret in the package, as [`Secrets::ask`] does.
    pub(in crate::ops) fn ask(
        &self,
        context: &Context,
        done: &str,
        allowed: bool,
        is_made: bool,
    ) -> Result<()> {
        self.secrets.ask(context, self.name.as_str(), done, allowed, is_made)
    }
}
