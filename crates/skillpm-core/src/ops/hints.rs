//! What several verbs advise to do next. A hint is made from values, and each front end words it in its own way.

mod around;
mod installed;
mod looked;
mod written;

use std::collections::BTreeSet;

pub use self::installed::restore;
#[cfg(feature = "create")]
pub use self::written::use_template;
pub use self::written::{explain, installed};

use crate::advice::{Call, Message, Opt, Verb, message};
use crate::install::agent_view::Unseen;
use crate::install::scope::ScopeKind;
use crate::text::and;

/// Returns the call of `verb` in `scope`; `None` leaves the scope to the verb.
fn within(verb: Verb, scope: Option<ScopeKind>) -> Call {
    scope.map_or_else(|| verb.call(), |scope| verb.within(scope))
}

/// Returns how to install skills if there are none: in `scope`, or anywhere.
pub fn first_install(scope: Option<ScopeKind>) -> Message {
    let install = within(Verb::Install, scope).word("owner/repo");
    message!(install, " installs skills from a repository on GitHub")
}

/// Names the agents of this machine that do not see all skills of `scope`, with the command that shows them all;
/// `None` if they see all.
pub fn link_unseen(scope: Option<ScopeKind>, unseen: &[Unseen]) -> Option<Message> {
    let skills: BTreeSet<&String> = unseen.iter().flat_map(|unseen| &unseen.skills).collect();
    let ids: Vec<&str> = unseen.iter().map(|unseen| unseen.agent.as_str()).collect();
    let (are, do_not) = if ids.len() == 1 { ("is", "does not") } else { ("are", "do not") };
    let count = match skills.len() {
        0 => return None,
        1 => "1 skill".to_owned(),
        more => format!("{more} skills"),
    };
    let link = within(Verb::Link, scope).options(ids.iter().map(|id| (Opt::Agent, *id)));
    Some(message!(
        format_args!("{} {are} on this machine and {do_not} see {count}: ", and(&ids)),
        link,
        " links all skills, and those to come"
    ))
}
