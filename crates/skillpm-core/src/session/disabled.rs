//! The skills that manifests disable: no agent sees them.

use crate::advice::Warning;
use crate::engine::SourceKind;
use crate::error::Result;
use crate::scope::Scope;
use crate::scope::state::read_manifest;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// The skills that agents should not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Disabled {
    /// The scopes in which they are disabled, and the names under which they are installed.
    pub names: Vec<(SourceKind, String)>,
    /// Why some may be missing here: a manifest that cannot be read. An agent can work without it.
    pub warnings: Vec<Warning>,
}

/// Returns the skills that the manifests of `scopes` disable.
pub(super) fn disabled(settings: &Settings, scopes: &[Scope]) -> Disabled {
    let mut disabled = Disabled::default();
    for scope in scopes {
        // In the home directory a skill belongs to both scopes: the manifest of either may disable it.
        let is_project = scope.kind == ScopeKind::Project;
        let other = is_project.then(|| scope.other_scope(settings).ok().flatten()).flatten();
        for one in [Some(scope), other.as_ref()].into_iter().flatten() {
            match disabled_in(one) {
                Ok(names) if other.is_some() => {
                    let both = |name: String| {
                        [SourceKind::Project, SourceKind::User].map(|kind| (kind, name.clone()))
                    };
                    disabled.names.extend(names.into_iter().flat_map(both));
                }
                Ok(names) => {
                    let kind = SourceKind::from(scope.kind);
                    disabled.names.extend(names.into_iter().map(|name| (kind, name)));
                }
                Err(error) => {
                    let warning = Warning::from(error);
                    if !disabled.warnings.contains(&warning) {
                        disabled.warnings.push(warning);
                    }
                }
            }
        }
    }
    disabled
}

/// Returns the names of the skills that the manifest of `scope` disables.
pub(super) fn disabled_in(scope: &Scope) -> Result<Vec<String>> {
    let (manifest, _) = read_manifest(scope)?;
    let entries = manifest.skills().iter().filter(|(_, entry)| entry.disabled);
    Ok(entries.map(|(name, _)| name.to_string()).collect())
}
