//! The tables `[registries]`, names for registries, and `[override]`, the versions of their skills that the user decides.

use std::collections::BTreeMap;

use toml_edit::{Item, Key};

use super::error::ManifestError;
use super::read::{Reader, fault};
use super::requirement::{self, Requirement};
use crate::name::SkillName;
use crate::spec::{DEFAULT_REGISTRY, Origin, Reference, Registry, is_registry_name, is_source_prefix};
use crate::text::closest;
use crate::version::VersionRange;

/// The registries that a manifest names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Registries(BTreeMap<String, Registry>);

impl Registries {
    /// Returns the registry called `name`.
    pub fn get(&self, name: &str) -> Option<&Registry> {
        self.0.get(name)
    }

    /// Returns the registry that is meant where none is named.
    pub fn preferred(&self) -> Option<&Registry> {
        self.get(DEFAULT_REGISTRY)
    }

    /// Returns the shortest name of the registry `origin`; `default` is used only if it has no other one.
    pub fn name_of(&self, origin: &Origin) -> Option<&str> {
        let registry = Registry::try_from(origin.clone()).ok()?;
        let named = self.0.iter().filter(|(_, known)| **known == registry).map(|(name, _)| name.as_str());
        named.min_by_key(|name| (*name == DEFAULT_REGISTRY, name.len()))
    }

    /// Returns all registries with their names, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Registry)> {
        self.0.iter().map(|(name, registry)| (name.as_str(), registry))
    }

    /// Returns `registry` with its address, if it is one of those named here.
    ///
    /// # Errors
    ///
    /// Returns why it cannot be looked up, as a sentence, and what to do.
    pub fn settled(&self, registry: Registry) -> Result<Registry, (String, String)> {
        let Registry::Named(name) = registry else { return Ok(registry) };
        self.get(&name).cloned().ok_or_else(|| {
            let close = closest(&name, self.0.keys().map(String::as_str));
            let hint = match close {
                Some(close) => format!("did you mean `{close}`?"),
                None => {
                    format!(
                        "add it under `[registries]`, as in `{name} = \"https://skills.example.com\"` or `{name} = \"../skills\"`"
                    )
                }
            };
            (format!("there is no registry called `{name}`"), hint)
        })
    }
}

impl Reader<'_> {
    /// Reads `[registries]`.
    pub(super) fn registries(&self, item: &Item) -> Result<Registries, ManifestError> {
        let table = self.table(item, "`registries`")?;
        let mut registries = BTreeMap::new();
        let mut aliases = Vec::new();
        for (key, item) in table.iter() {
            if !is_registry_name(key) {
                let message =
                    format!("`{key}` cannot be the name of a registry: use `a` to `z`, digits and `-`");
                return Err(fault(self.text, table.key(key).and_then(Key::span), message));
            }
            if is_source_prefix(key) {
                let message = format!(
                    "`{key}` cannot be the name of a registry: `{key}:` already begins a source of another kind"
                );
                let error = fault(self.text, table.key(key).and_then(Key::span), message);
                let hint = format!("choose another name, such as `{key}-skills`");
                return Err(ManifestError { hint: Some(hint.into()), ..error });
            }
            let text = self.string(table, key)?.unwrap_or_default();
            let registry = Registry::named_or_new(text).map_err(|error| ManifestError {
                hint: Some(
                    "a registry is an address such as `https://skills.example.com`, or a directory".into(),
                ),
                ..self.fault(item, error.to_string())
            })?;
            match registry {
                Registry::Named(name) => aliases.push((key, name, item)),
                registry => drop(registries.insert(key.to_owned(), registry)),
            }
        }
        let registries = Registries(registries);
        let mut all = registries.clone();
        for (key, name, item) in aliases {
            let registry = registries.settled(Registry::Named(name)).map_err(|(message, hint)| {
                ManifestError { hint: Some(hint.into()), ..self.fault(item, message) }
            })?;
            all.0.insert(key.to_owned(), registry);
        }
        Ok(all)
    }

    /// Reads the entry of a skill that states only a range of versions.
    pub(super) fn in_default_registry(
        &self,
        name: &SkillName,
        item: &Item,
        text: &str,
        registries: &Registries,
    ) -> Result<Requirement, ManifestError> {
        let range = VersionRange::new(text).map_err(|error| {
            let hint = match requirement::meant(text) {
                Some(keys) => format!("write `{{ {keys} }}`"),
                None => {
                    "write a range such as `^1.2`, or name a source: `{ github = \"owner/repo\" }`".to_owned()
                }
            };
            ManifestError { hint: Some(hint.into()), ..self.fault(item, error.to_string()) }
        })?;
        let Some(registry) = registries.preferred() else {
            let error = self.fault(item, "there is no default registry that it could come from");
            let hint = "add `default = \"https://…\"` under `[registries]`, or name a source here";
            return Err(ManifestError { hint: Some(hint.into()), ..error });
        };
        Ok(Requirement {
            path: Some(name.to_string()),
            reference: Some(Reference::Range(range)),
            ..Requirement::new(registry.clone().into())
        })
    }

    /// Reads `[override]`.
    pub(super) fn overrides(&self, item: &Item) -> Result<BTreeMap<SkillName, VersionRange>, ManifestError> {
        let table = self.table(item, "`override`")?;
        let mut overrides = BTreeMap::new();
        for (key, item) in table.iter() {
            let at = || table.key(key).and_then(Key::span);
            let name = SkillName::new(key).map_err(|error| fault(self.text, at(), error.to_string()))?;
            let text = self.string(table, key)?.unwrap_or_default();
            let range = VersionRange::new(text).map_err(|error| ManifestError {
                hint: Some("an override is a range of versions, such as `=1.2.0`".into()),
                ..self.fault(item, error.to_string())
            })?;
            overrides.insert(name, range);
        }
        Ok(overrides)
    }
}
