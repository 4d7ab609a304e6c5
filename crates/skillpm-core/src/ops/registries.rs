//! The names of registries, and skills of them as they are typed: `pdf`, `pdf@^1.2`, `acme:pdf`.

use std::path::PathBuf;

use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::install::scope::{Scope, ScopeKind, Scopes};
use crate::install::state::read_manifest;
use crate::manifest::Manifest;
use crate::name::SkillName;
use crate::registry::registry_name;
use crate::source::{self, local, settled};
use crate::spec::{DEFAULT_REGISTRY, Origin, Reference, Registry, SourceSpec, is_registry_name};
use crate::version::VersionRange;

/// A skill of a registry, as typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RegistryWord {
    /// The name of the registry, if it was given.
    pub(super) registry: Option<String>,
    /// The name of the skill.
    pub(super) name: SkillName,
    /// The range of versions, if it was given.
    pub(super) range: Option<VersionRange>,
}

impl RegistryWord {
    /// Reads `name`, `name@range`, `registry:name` or `registry:name@range`. Returns `None` for other texts.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (registry, rest) = match text.split_once(':') {
            Some((registry, rest)) if is_registry_name(registry) => (Some(registry.to_owned()), rest),
            Some(_) => return None,
            None => (None, text),
        };
        let (name, range) = match rest.split_once('@') {
            Some((name, range)) => (name, Some(VersionRange::new(range).ok()?)),
            None => (rest, None),
        };
        Some(Self { registry, name: registry_name(name).ok()?, range })
    }

    /// Returns the skill as a source, with the registries that `manifest` names, or else the user's manifest. Returns
    /// `None` if neither names the registry, or has a default one.
    ///
    /// # Errors
    ///
    /// Fails for a manifest of the user that cannot be read.
    pub(super) fn source(
        self,
        context: &Context,
        scope: &Scope,
        manifest: &Manifest,
    ) -> Result<Option<SourceSpec>> {
        let Self { registry, name, range } = self;
        let registry = registry.as_deref().unwrap_or(DEFAULT_REGISTRY);
        let Some(registry) = find(context, scope, manifest, registry)? else { return Ok(None) };
        let reference = range.map(Reference::Range);
        Ok(Some(SourceSpec { path: Some(name.into()), reference, ..SourceSpec::new(registry) }))
    }
}

/// Returns the registry called `name` in `manifest`, which is that of `scope`, or else in the user's manifest.
fn find(context: &Context, scope: &Scope, manifest: &Manifest, name: &str) -> Result<Option<Registry>> {
    if let Some(registry) = manifest.registries().get(name) {
        return Ok(Some(registry.clone()));
    }
    if scope.kind == ScopeKind::User || context.settings.home.is_none() {
        return Ok(None);
    }
    let user = Scope::new(&context.settings, ScopeKind::User)?;
    let (manifest, _) = read_manifest(&user)?;
    let registry = match manifest.registries().get(name) {
        Some(Registry::Directory(path)) => {
            // It is relative to the user's home, not to the project.
            let path = local::resolve(&context.settings, user.as_root(), path)?;
            Some(Registry::Directory(path.display().to_string()))
        }
        registry => registry.cloned(),
    };
    Ok(registry)
}

/// Returns the registry called `name` in `manifest`, which is that of `scope`, or else in the user's manifest.
///
/// # Errors
///
/// Fails if neither names it.
pub(super) fn named(context: &Context, scope: &Scope, manifest: &Manifest, name: &str) -> Result<Registry> {
    find(context, scope, manifest, name)?.ok_or_else(|| absent(scope, name))
}

fn absent(scope: &Scope, name: &str) -> Error {
    Error::config(format!("there is no registry called `{name}`")).coded(codes::REGISTRY_ABSENT).hint(
        format!(
            "name it under `[registries]` in `{}`, as in `{name} = \"https://skills.example.com\"`",
            scope.manifest.display()
        ),
    )
}

/// A registry that a manifest names.
#[derive(Debug)]
pub(super) struct ConfiguredRegistry {
    /// The scope of the manifest.
    pub(super) scope: Scope,
    /// The name, as it is typed.
    pub(super) name: String,
    /// The registry as a source.
    pub(super) origin: Origin,
    /// Its directory, if it is on this machine.
    place: Option<PathBuf>,
}

/// Returns the registries that the manifests of the project and of the user name, each once, or the one called `only`.
/// A name means the registry that the project gives it.
///
/// # Errors
///
/// Fails for a manifest that cannot be read, and if no manifest names `only`.
pub(super) fn configured(context: &Context, only: Option<&str>) -> Result<Vec<ConfiguredRegistry>> {
    let settings = &context.settings;
    let mut all: Vec<ConfiguredRegistry> = Vec::new();
    let scopes = Scopes::new(settings, None)?.there;
    for scope in &scopes {
        let (manifest, _) = read_manifest(scope)?;
        let registries = manifest.registries();
        for (name, registry) in registries.iter() {
            let origin = Origin::from(registry.clone());
            let is_wanted = match only {
                Some(only) => name == only,
                None => registries.name_of(&origin).is_none_or(|shortest| name == shortest),
            };
            let place = source::place(settings, scope.as_root(), &origin)?;
            let is_known =
                |one: &ConfiguredRegistry| one.name == name || (&one.origin, &one.place) == (&origin, &place);
            if is_wanted && !all.iter().any(is_known) {
                all.push(ConfiguredRegistry { scope: scope.clone(), name: name.to_owned(), origin, place });
            }
        }
    }
    match (only, scopes.first()) {
        (Some(name), Some(scope)) if all.is_empty() => Err(absent(scope, name)),
        _ => Ok(all),
    }
}

/// Returns the registry that `text` names: an address, a directory, a bundle, or a name of `[registries]`. A name that
/// nothing has is that of a directory or bundle, if there is one.
///
/// # Errors
///
/// Fails if it is none of these.
pub(super) fn typed(context: &Context, scope: &Scope, text: &str) -> Result<Registry> {
    let registry = match Registry::named_or_new(text).map_err(|error| Error::usage(error.to_string()))? {
        Registry::Named(name) => {
            let (manifest, _) = read_manifest(scope)?;
            match named(context, scope, &manifest, &name) {
                Ok(registry) => return Ok(registry),
                Err(_) if is_here(context, &name)? => Registry::Directory(format!("./{name}")),
                Err(error) => return Err(error),
            }
        }
        registry => registry,
    };
    let origin = settled(context, scope.as_root(), registry.clone().into())?;
    Ok(Registry::try_from(origin).unwrap_or(registry))
}

/// Reports whether something is at `path`.
fn is_here(context: &Context, path: &str) -> Result<bool> {
    Ok(fs::real_path(&local::resolve_typed(&context.settings, path)?)?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_is_none() {
        let read = |text: &str| {
            RegistryWord::read(text).map(|word| {
                let range = word.range.map(|range| range.to_string());
                (word.registry, word.name.to_string(), range)
            })
        };
        let some = |registry: Option<&str>, name: &str, range: Option<&str>| {
            Some((registry.map(str::to_owned), name.to_owned(), range.map(str::to_owned)))
        };
        assert_eq!(read("pdf"), some(None, "pdf", None));
        assert_eq!(read("pdf@^1.2"), some(None, "pdf", Some("^1.2")));
        assert_eq!(read("acme:pdf@>=1,<2"), some(Some("acme"), "pdf", Some(">=1,<2")));
        for text in ["owner/repo", "./pdf", "PDF", "pdf@", "pdf@next", "c:pdf", "https://h", "пдф"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
