//! The registry that a request is about, in a directory or on a server.

use std::path::Path;

use super::opened::{open, path};
#[cfg(feature = "http")]
use super::server::RegistryServer;
use crate::advice::{Argument, Opt, Verb, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::registries::{self, ConfiguredRegistry};
use crate::fs;
use crate::registry::RegistryDir;
use crate::spec::SourceFacts as _;

/// Where a registry is.
pub(super) enum AnyRegistry {
    /// In a directory of this machine.
    Directory(RegistryDir),
    /// On a server.
    #[cfg(feature = "http")]
    Server(Box<RegistryServer>),
}

impl AnyRegistry {
    /// Finds the registry that `text` names: a directory, or else an address or a name of `[registries]`. Without a text,
    /// it is that in the working directory.
    pub(super) fn find(context: &Context, text: Option<&str>) -> Result<Self> {
        let Some(text) = text else { return here(context).map(Self::Directory) };
        let dir = path(context, Some(Path::new(text)));
        if fs::exists(&dir) {
            return open(context, Some(&dir)).map(Self::Directory);
        }
        let (registry, path) = registries::to_change(context, text)?;
        #[cfg(feature = "http")]
        if let Some(address) = registry.web_address() {
            return RegistryServer::open(context, address).map(|server| Self::Server(Box::new(server)));
        }
        let Some(path) = path else {
            return Err(Error::usage(format!(
                "`{}` is not a registry that can be changed",
                registry.typed()
            ))
            .coded(codes::REGISTRY_ABSENT));
        };
        open(context, Some(&path)).map(Self::Directory)
    }
}

/// Opens the registry in the directory that `typed` is, or names in `[registries]`.
pub(super) fn in_directory(context: &Context, typed: Option<&Path>) -> Result<RegistryDir> {
    let text = typed.filter(|_| !fs::exists(&path(context, typed))).and_then(Path::to_str);
    let Some(text) = text else {
        return typed.map_or_else(|| here(context), |_| open(context, typed));
    };
    match registries::to_change(context, text) {
        Ok((_, Some(path))) => open(context, Some(&path)),
        Ok((registry, None)) => {
            Err(Error::usage(format!("`{}` is not a directory on this machine", registry.typed()))
                .coded(codes::REGISTRY_ABSENT)
                .hint(message!(Verb::Publish, " publishes to a server, which keeps its lists itself")))
        }
        // It may be a directory that is to become a registry; where there are names, one of them may be meant.
        Err(error) if error.code() == codes::REGISTRY_ABSENT => {
            open(context, typed).map_err(|missing| match error.hints() {
                [names, _, ..] => missing.hint(names.clone()),
                _ => missing,
            })
        }
        Err(error) => Err(error),
    }
}

/// Opens the registry in the working directory. In a project that only uses registries, the error names one that is a
/// directory, too, if there is one.
fn here(context: &Context) -> Result<RegistryDir> {
    open(context, None).map_err(|error| {
        let configured = registries::configured(context, None).unwrap_or_default();
        let is_directory = |one: &ConfiguredRegistry| {
            registries::to_change(context, &one.name).is_ok_and(|(_, path)| path.is_some())
        };
        match configured.into_iter().find(is_directory) {
            Some(one) => error.hint(message!((Opt::Registry, one.name), " names the one in `[registries]`")),
            None => error,
        }
    })
}

/// Returns `error` about the registry that was typed as `registry`, with hints that name it.
pub(super) fn about(error: Error, registry: Option<&str>) -> Error {
    let argument = |typed: &str| Argument::Option(Opt::Registry, Some(typed.to_owned()));
    registry.map(argument).iter().fold(error, |error, argument| error.with_argument(Verb::Registry, argument))
}
