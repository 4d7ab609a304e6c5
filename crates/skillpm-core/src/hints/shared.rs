//! Hints of several verbs.

use std::collections::BTreeSet;

use crate::advice::{Call, Message, Verb, message};
use crate::scope::agent_view::{Unseen, way_to_see};
use crate::scope_kind::ScopeKind;
use crate::text::and;

/// Returns the call of `verb` in `scope`; `None` leaves the scope to the verb.
pub(crate) fn within(verb: Verb, scope: Option<ScopeKind>) -> Call {
    scope.map_or_else(|| verb.call(), |scope| verb.within(scope))
}

/// Returns how to install skills if there are none: in `scope`, or anywhere.
pub fn first_install(scope: Option<ScopeKind>) -> Message {
    let install = within(Verb::Install, scope).word("owner/repo");
    message!(install, " installs skills from a repository on GitHub")
}

/// Names the agents of this machine that do not see all skills of `scope`, with what shows them all: for those that the
/// manifest names an installation, which leaves it as it is.
pub fn show_unseen(scope: Option<ScopeKind>, unseen: &[Unseen]) -> Vec<Message> {
    let of =
        |chosen| unseen.iter().filter(move |unseen| unseen.chosen == chosen && !unseen.skills.is_empty());
    let chosen = not_seen(of(true)).map(|(_, told)| {
        if unseen.iter().any(|unseen| unseen.chosen && unseen.blocked) {
            message!(told, ": ", within(Verb::Doctor, scope), " shows what is in the way")
        } else {
            message!(told, ": ", within(Verb::Install, scope), " links what is missing")
        }
    });
    let others = not_seen(of(false)).map(|(ids, told)| {
        let used = of(false).next().map(|unseen| &unseen.used[..]).unwrap_or_default();
        message!(told, ": ", way_to_see(scope, &ids, used))
    });
    chosen.into_iter().chain(others).collect()
}

/// Returns the ids of the agents `unseen`, and a text such as `junie is on this machine and does not see 2 skills`;
/// `None` if there are none.
fn not_seen<'a>(unseen: impl Iterator<Item = &'a Unseen> + Clone) -> Option<(Vec<&'a str>, String)> {
    let skills: BTreeSet<&String> = unseen.clone().flat_map(|unseen| &unseen.skills).collect();
    let ids: Vec<&str> = unseen.map(|unseen| unseen.agent.as_str()).collect();
    let (are, do_not) = if ids.len() == 1 { ("is", "does not") } else { ("are", "do not") };
    let count = match skills.len() {
        0 => return None,
        1 => "1 skill".to_owned(),
        more => format!("{more} skills"),
    };
    let told = format!("{} {are} on this machine and {do_not} see {count}", and(&ids));
    Some((ids, told))
}
