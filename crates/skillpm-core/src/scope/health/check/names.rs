//! Checks of the names that skills have in their `SKILL.md`.

use std::path::Path;

use crate::advice::{Verb, message};
use crate::agents::rules::{Evidence, Name, SameName, rules};
use crate::engine::Diagnostic;
use crate::scope::health::Finding;
use crate::scope::health::inspection::{Inspection, PresentAgent};
use crate::scope::problem::{self, Severity};
use crate::text::{and, visible_name};

/// Finds skills that have one name in their `SKILL.md`: skillpm takes only one of them, and so do agents that go by it.
pub(super) fn names(look: &Inspection<'_>, found: &mut Vec<Finding>) {
    let by_field = |here: &&PresentAgent| {
        let known = rules(here.agent.id).filter(|rules| rules.evidence != Evidence::Described);
        known.is_some_and(|rules| rules.name != Name::Directory && rules.same_name != SameName::All)
    };
    let agents = look.here.iter().filter(by_field).map(|here| here.agent.name);
    let agents: Vec<_> = std::iter::once("skillpm").chain(agents).collect();
    let (go, take) = if agents.len() == 1 { ("goes", "takes") } else { ("go", "take") };
    for diagnostic in &look.library {
        let Diagnostic::Shadowed { name, used, hidden } = &**diagnostic else { continue };
        let places = [used, hidden].map(|dir| shown(look, dir));
        let quoted = places.each_ref().map(|place| format!("`{}`", visible_name(place)));
        let message = format!(
            "{} have the name `{}` in their `SKILL.md`: {}, which {go} by that, {take} one of them",
            and(&quoted),
            visible_name(name),
            and(&agents)
        );
        let [_, alias] = places;
        let advice = if look.knows(&alias) {
            let disable = Verb::Disable.within(look.scope.kind).word(&alias);
            message!(disable, " leaves the other; or rename one in its source")
        } else {
            "rename or remove one of them".into()
        };
        let finding = Finding::new(&problem::SEEN_DIFFERENT, hidden, message).skill(&alias).advice(advice);
        // Without such an agent, both are seen.
        let severity = if agents.len() == 1 { Severity::Note } else { finding.severity };
        found.push(Finding { severity, ..finding });
    }
}

/// Returns the path `dir` below the canonical copies.
fn shown(look: &Inspection<'_>, dir: &Path) -> String {
    let below = dir.strip_prefix(look.scope.skills_dir()).unwrap_or(dir);
    below.to_string_lossy().into_owned()
}
