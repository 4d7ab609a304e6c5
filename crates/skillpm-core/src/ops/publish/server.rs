//! Publishing to a server of a registry.

use super::job;
use super::outcome::PublishRequest;
use crate::advice::{Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::http::{Method, encode};
use crate::ops::pack::Packed;
use crate::ops::registry::server::RegistryServer;
use crate::registry::Record;
use crate::spec::Address;

/// A registry that a server has.
pub(super) struct Server(RegistryServer);

impl Server {
    /// Opens the registry at `address`. Where no token is known and a CI system states which job this is, the server
    /// gives one for that, unless nothing is to be written.
    pub(super) fn open(context: &Context, address: &Address, request: &PublishRequest) -> Result<Self> {
        if request.tag.is_some() {
            return Err(super::directory::no_tags());
        }
        let mut server = RegistryServer::open(context, address)?;
        if !request.dry_run && server.login().credential().is_none() {
            job::log_in(context, &mut server)?;
        }
        Ok(Self(server))
    }

    /// Returns its address.
    pub(super) fn shown(&self) -> String {
        self.0.shown()
    }

    /// Publishes `packed`. With `dry_run`, only checks whether the server has the version already. Returns whether it
    /// was there before, with the same files.
    pub(super) fn publish(&self, packed: &Packed, dry_run: bool) -> Result<bool> {
        let Self(server) = self;
        let (name, version) = (&packed.name, &packed.version);
        if dry_run {
            return self.has(packed);
        }
        let path = format!("skills/{}/versions/{}", encode(name.as_str()), encode(version.as_str()));
        let answer = match server.send(Method::Put, &path, "application/zip", packed.bytes.clone()) {
            Err(error) if error.code() == codes::VERSION_EXISTS => return Err(error.hint(bump())),
            // The answer may be lost, and not the version: then the list has it.
            Err(error) if error.kind() == ErrorKind::Network && self.has(packed).unwrap_or(false) => {
                return Ok(true);
            }
            answer => answer?,
        };
        let record: Record = serde_json::from_slice(&answer.body).map_err(|_| server.unexpected())?;
        if record.digest == packed.digest {
            return Ok(answer.status == 200);
        }
        Err(Error::integrity(format!(
            "`{}` published `{name}` {version} with the digest `{}` instead of `{}`",
            server.shown(),
            record.digest,
            packed.digest
        ))
        .coded(codes::REGISTRY_MISMATCH))
    }

    /// Reports whether the server lists the version with the same files.
    fn has(&self, packed: &Packed) -> Result<bool> {
        let list = self.0.versions(&packed.name)?;
        match list.as_ref().and_then(|list| list.get(&packed.version)) {
            None => Ok(false),
            Some(there) if there.digest == packed.digest => Ok(true),
            Some(_) => Err(Error::usage(format!(
                "`{}` already has `{}` {} with other files",
                self.0.shown(),
                packed.name,
                packed.version
            ))
            .coded(codes::VERSION_EXISTS)
            .hint(bump())),
        }
    }
}

fn bump() -> crate::advice::Message {
    message!("a published version never changes: ", Verb::Bump.call().word("patch"))
}
