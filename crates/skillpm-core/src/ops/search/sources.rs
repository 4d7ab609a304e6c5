//! The places that a search looks at.

use super::outcome::{FoundIn, FoundSkill};
use crate::admission::PolicySubject;
use crate::context::Context;
use crate::error::Result;
use crate::fetch::policy_check::PolicyCheck;
use crate::fetch::registries::ConfiguredRegistry;
use crate::scope::state::read_manifest;
use crate::session::Session;
use crate::source::discover::Candidate;
use crate::source::{self, Wanted};
use crate::spec::DEFAULT_REGISTRY;
use crate::workers;

impl FoundSkill {
    /// Returns a skill about which nothing else is known.
    fn new(name: &str, found_in: FoundIn) -> Self {
        Self {
            name: name.to_owned(),
            version: None,
            description: String::new(),
            tags: Vec::new(),
            found_in,
            registry: None,
            scope: None,
            source: None,
            installed: false,
            also_in: Vec::new(),
            installs: None,
        }
    }
}

/// Returns the skills that are available here: those of the project, of the user and of the program.
pub(super) fn installed(context: &Context) -> Result<Vec<FoundSkill>> {
    let snapshot = Session::of_person(context)?.snapshot()?;
    let found = snapshot.skills().iter().map(|skill| FoundSkill {
        version: skill.meta.version.clone(),
        description: skill.meta.description.clone(),
        tags: skill.meta.tags.clone(),
        scope: Some(skill.kind),
        installed: true,
        ..FoundSkill::new(&skill.meta.name, FoundIn::Installed)
    });
    Ok(found.collect())
}

/// Returns the skills of each registry, or why they are not known. A registry that a policy denies is not asked.
pub(super) fn of_registries(
    context: &Context,
    registries: &[ConfiguredRegistry],
) -> Result<Vec<Result<Vec<FoundSkill>>>> {
    let (mut listed, mut admitted) = (Vec::new(), Vec::new());
    for registry in registries {
        let ConfiguredRegistry { scope, origin, .. } = registry;
        let (manifest, _) = read_manifest(scope)?;
        let subject = PolicySubject { origin, path: None, reference: None };
        match PolicyCheck::new(context, scope, &manifest)?.source(subject) {
            Ok(()) => admitted.push(registry),
            Err(denied) => listed.push(Err(denied)),
        }
    }
    listed.extend(workers::map(&admitted, 1, || (), |(), registry| of_registry(context, registry)));
    Ok(listed)
}

fn of_registry(context: &Context, registry: &ConfiguredRegistry) -> Result<Vec<FoundSkill>> {
    let ConfiguredRegistry { scope, name, origin, .. } = registry;
    let opened = source::open(context, scope.as_root(), origin, Wanted::Now(None))?;
    let listed = opened.shelf.map(|shelf| shelf.listed()).transpose()?.unwrap_or_default();
    let found = |listed: Candidate| {
        let meta = listed.meta.ok()?;
        // As it is typed after `install`.
        let source = match name.as_str() {
            DEFAULT_REGISTRY => meta.name.clone(),
            _ => format!("{name}:{}", meta.name),
        };
        Some(FoundSkill {
            version: meta.version,
            description: meta.description,
            tags: meta.tags,
            registry: Some(name.clone()),
            source: Some(source),
            ..FoundSkill::new(&meta.name, FoundIn::Registry)
        })
    };
    Ok(listed.into_iter().filter_map(found).collect())
}

/// Returns at most `limit` skills that skills.sh finds for `words`, in its order.
#[cfg(feature = "http")]
pub(super) fn of_site(context: &Context, words: &str, limit: usize) -> Result<Vec<FoundSkill>> {
    let found = source::skills_sh::search(context, words, limit)?.into_iter().map(|skill| FoundSkill {
        source: Some(format!("{}@{}", skill.source, skill.name)),
        installs: skill.installs,
        ..FoundSkill::new(skill.name.as_str(), FoundIn::SkillsSh)
    });
    Ok(found.collect())
}

/// Fails: this build makes no requests.
#[cfg(not(feature = "http"))]
pub(super) fn of_site(_: &Context, _: &str, _: usize) -> Result<Vec<FoundSkill>> {
    Err(crate::error::Error::usage("this build cannot ask skills.sh"))
}
