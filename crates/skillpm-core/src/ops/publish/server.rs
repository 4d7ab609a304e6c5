//! Publishing to a server of a registry.

use super::job;
use super::outcome::PublishRequest;
use crate::advice::{Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
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
    ///
    /// # Errors
    ///
    /// Fails if the registry does not exist, if `request` names a tag, or if the server does not accept the statement.
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

    /// Publishes `packed`. With `dry_run`, only checks whether the server has the version already.
    ///
    /// # Errors
    ///
    /// Fails if it has the version, and if it refuses the package or the token.
    pub(super) fn publish(&self, packed: &Packed, dry_run: bool) -> Result<()> {
        let Self(server) = self;
        let (name, version) = (&packed.name, &packed.version);
        if dry_run {
            let list = server.versions(name)?;
            return match list.as_ref().and_then(|list| list.get(version)) {
                Some(_) => Err(self.already(packed)),
                None => Ok(()),
            };
        }
        let path = format!("skills/{}/versions/{}", encode(name.as_str()), encode(version.as_str()));
        let answer = match server.send(Method::Put, &path, "application/zip", packed.bytes.clone()) {
            Err(error) if error.code() == codes::VERSION_EXISTS => return Err(error.hint(bump())),
            answer => answer?,
        };
        if answer.status == 200 {
            return Err(self.already(packed));
        }
        let record: Record = serde_json::from_slice(&answer.body).map_err(|_| server.unexpected())?;
        if record.digest == packed.digest {
            return Ok(());
        }
        Err(Error::integrity(format!(
            "`{}` published `{name}` {version} with the digest `{}` instead of `{}`",
            server.shown(),
            record.digest,
            packed.digest
        ))
        .coded(codes::REGISTRY_MISMATCH))
    }

    fn already(&self, packed: &Packed) -> Error {
        Error::usage(format!("`{}` already has `{}` {}", self.0.shown(), packed.name, packed.version))
            .coded(codes::VERSION_EXISTS)
            .hint(bump())
    }
}

fn bump() -> crate::advice::Message {
    message!("a published version never changes: ", Verb::Bump.call().word("patch"))
}
