//! The names of registries, and skills of them as they are typed: `pdf`, `pdf@^1.2`, `acme:pdf`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::advice::Warning;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs;
use crate::manifest::{Manifest, Registries};
use crate::name::SkillName;
use crate::registry::registry_name;
use crate::scope::state::read_manifest;
use crate::scope::{Scope, Scopes};
use crate::scope_kind::ScopeKind;
use crate::source::registry::unknown_registry;
use crate::source::{self, local, settled};
use crate::spec::{
    DEFAULT_REGISTRY, Origin, Reference, Registry, SourceFacts as _, SourceSpec, is_registry_name,
};
use crate::text::{and, closest};
use crate::version::VersionRange;

/// A skill of a registry, as typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RegistryWord {
    /// The name of the registry, if it was given.
    pub(crate) registry: Option<String>,
    /// The name of the skill.
    pub(crate) name: SkillName,
    /// The range of versions, if it was given.
    pub(crate) range: Option<VersionRange>,
}

impl RegistryWord {
    /// Reads `name`, `name@range`, `registry:name` or `registry:name@range`. Returns `None` for other texts.
    pub(crate) fn read(text: &str) -> Option<Self> {
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

    /// Returns `name` or `registry:name` if `text` is that with `@latest` after it, as users of npm type it.
    pub(crate) fn with_latest(text: &str) -> Option<&str> {
        let name = text.trim().strip_suffix("@latest")?;
        Self::read(name).map(|_| name)
    }

    /// Reports whether the text can only mean a skill of a registry: it has a range or names the registry.
    pub(crate) fn is_certain(&self) -> bool {
        self.range.is_some() || self.registry.is_some()
    }

    /// Returns the skill as a source, with the registries that `manifest` names, or else the user's manifest. Returns
    /// `None` if no registry was given and neither has a default one.
    pub(crate) fn source(
        self,
        context: &Context,
        scope: &Scope,
        manifest: &Manifest,
    ) -> Result<Option<SourceSpec>> {
        let Self { registry, name, range } = self;
        let registry = match registry {
            Some(registry) => named(context, scope, manifest, &registry)?,
            None => match find(context, scope, manifest, DEFAULT_REGISTRY)? {
                Some(registry) => registry,
                None => return Ok(None),
            },
        };
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
pub(crate) fn named(context: &Context, scope: &Scope, manifest: &Manifest, name: &str) -> Result<Registry> {
    if let Some(registry) = find(context, scope, manifest, name)? {
        return Ok(registry);
    }
    let mut known: Vec<_> = manifest.registries().iter().map(|(name, _)| name.to_owned()).collect();
    // Without the others, the hint only lists fewer.
    let all = configured(context, None).unwrap_or_default();
    known.extend(all.into_iter().map(|one| one.name));
    Err(absent(scope, name, known))
}

/// Returns the error for the name `name` that no registry has; `known` are the names that some have.
fn absent(scope: &Scope, name: &str, mut known: Vec<String>) -> Error {
    let error = unknown_registry(name);
    known.sort();
    known.dedup();
    let error = match closest(name, known.iter().map(String::as_str)) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None if known.is_empty() => error,
        None => {
            let known: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            error.hint(format!("the registries are called {}", and(&known)))
        }
    };
    // An address is no name, and may hold a password, which belongs into no file.
    let (what, name) = if is_registry_name(name) { ("it", name) } else { ("the registry", "acme") };
    error.hint(format!(
        "name {what} under `[registries]` in `{}`, as in `{name} = \"https://skills.example.com\"` or \
         `{name} = \"../skills\"`",
        scope.manifest.display()
    ))
}

/// Returns the registry `origin` as `registries`, those of the manifest of `scope`, spell it: one directory may be
/// written in several ways. Returns any other source unchanged.
pub(crate) fn spelled(
    context: &Context,
    scope: &Scope,
    registries: &Registries,
    origin: Origin,
) -> Result<Origin> {
    if directory(&origin).is_none() {
        return Ok(origin);
    }
    let place = |origin: &Origin| source::real_place(&context.settings, scope.as_root(), origin);
    let own = place(&origin)?;
    for (_, registry) in registries.iter() {
        let known = Origin::from(registry.clone());
        if known == origin || (own.is_some() && place(&known)? == own) {
            return Ok(known);
        }
    }
    Ok(origin)
}

/// Returns the path of the registry `origin`, if it is a directory on this machine.
fn directory(origin: &Origin) -> Option<Cow<'_, str>> {
    origin.path_here().filter(|_| origin.has_versions())
}

/// Returns the warning about a registry that only the user's own manifest names and that is a directory on this machine:
/// others who use the project of `scope` do not have it.
pub(crate) fn only_here(scope: &Scope, registries: &Registries, origin: &Origin) -> Option<Warning> {
    let path = directory(origin)?;
    let is_absolute = Path::new(&*path).is_absolute() || path.starts_with('~');
    let is_named = registries.iter().any(|(_, registry)| Origin::from(registry.clone()) == *origin);
    if scope.kind != ScopeKind::Project || !is_absolute || is_named {
        return None;
    }
    let told = format!(
        "the registry `{path}` is a directory on this machine, and others who use this project do not have it: \
         name one that they can reach under `[registries]` in `skillpm.toml`"
    );
    Some(Warning::new(codes::REGISTRY_ONLY_HERE, told))
}

/// A registry that a manifest names.
#[derive(Debug)]
pub(crate) struct ConfiguredRegistry {
    /// The scope of the manifest.
    pub(crate) scope: Scope,
    /// The name, as it is typed.
    pub(crate) name: String,
    /// The registry as a source.
    pub(crate) origin: Origin,
    /// The directory, if it is on this machine.
    place: Option<PathBuf>,
}

/// Returns the registries that the manifests of the project and of the user name, each once, or the one called `only`.
/// A name means the registry that the project gives it.
pub(crate) fn configured(context: &Context, only: Option<&str>) -> Result<Vec<ConfiguredRegistry>> {
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
            let place = source::real_place(settings, scope.as_root(), &origin)?;
            let is_known = |one: &ConfiguredRegistry| match (&one.place, &place) {
                _ if one.name == name => true,
                (None, None) => one.origin == origin,
                (one, other) => one == other,
            };
            if is_wanted && !all.iter().any(is_known) {
                all.push(ConfiguredRegistry { scope: scope.clone(), name: name.to_owned(), origin, place });
            }
        }
    }
    match (only, scopes.first()) {
        (Some(name), Some(scope)) if all.is_empty() => {
            let mut known = Vec::new();
            for scope in &scopes {
                known.extend(read_manifest(scope)?.0.registries().iter().map(|(name, _)| name.to_owned()));
            }
            Err(absent(scope, name, known))
        }
        _ => Ok(all),
    }
}

/// Returns the registry that `text` names: an address, a directory, a bundle, or a name of `[registries]`. A name that
/// nothing has is that of a directory or bundle, if there is one.
pub(crate) fn typed(context: &Context, scope: &Scope, text: &str) -> Result<Registry> {
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

/// Returns the registry that `text` names, which is to be changed, and its directory if it is on this machine. Such a
/// directory need not exist: who opens it says that it is not a registry yet.
pub(crate) fn to_change(context: &Context, text: &str) -> Result<(Registry, Option<PathBuf>)> {
    if let Ok(Registry::Directory(path)) = Registry::named_or_new(text) {
        let place = local::resolve_typed(&context.settings, &path)?;
        return Ok((Registry::Directory(path), Some(place)));
    }
    let scope = Scope::new(&context.settings, ScopeKind::Project)?;
    let registry = typed(context, &scope, text)?;
    let path = registry.path_here().map(|path| local::resolve(&context.settings, scope.as_root(), &path));
    Ok((registry, path.transpose()?))
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
