//! Hints about scripts that ran, about clients of MCP, and about the program itself.

use crate::advice::{Call, Message, Opt, Verb, message};
use crate::engine::run::{Ended, Exit, UNHEARD};
use crate::error::{Error, ErrorKind};
use crate::ops::mcp::{ClientStatus, Effect, McpChangeOutcome, McpStatusOutcome, NAME};
use crate::ops::run::RunOutcome;
#[cfg(feature = "http")]
use crate::ops::self_check::SelfOutcome;
use crate::scope_kind::ScopeKind;

impl RunOutcome {
    /// Returns how to see more of what the script wrote.
    pub fn output_hint(&self) -> Message {
        let longest = self.ran.stdout.total.max(self.ran.stderr.total);
        message!((Opt::MaxOutput, longest), " shows all of it")
    }

    /// Returns how to give the script a working directory.
    pub fn closed_hint(&self) -> Message {
        message!("run it in a directory of the project, or open one with ", Opt::Write)
    }

    /// Returns the error of a script that did not end by itself, after at most `seconds`.
    pub fn failure(&self, seconds: f64) -> Option<Error> {
        let ran = &self.ran;
        let name = format!("`{}` of `{}`", ran.script, ran.skill);
        let failed = |kind, what: &str| Error::new(kind, format!("{name} {what}"));
        Some(match (ran.ended, ran.exit) {
            (Some(Ended::Timeout), _) => {
                failed(ErrorKind::Findings, &format!("was killed: it ran for more than {seconds} s"))
                    .hint(message!(Opt::Timeout, " gives it more time"))
            }
            (Some(Ended::Processes), _) => {
                failed(ErrorKind::Findings, "was killed: it had too many processes")
                    .hint(message!(Opt::Processes, " allows more"))
            }
            (Some(Ended::Stopped), _) => failed(ErrorKind::Findings, "was stopped"),
            (None, Exit::Signal(signal)) => {
                failed(ErrorKind::Findings, &format!("was killed by signal {signal}"))
            }
            (None, Exit::Unknown) => failed(ErrorKind::Io, "ran, but its exit status is unknown")
                .because(UNHEARD)
                .hint("start `skillpm` from a program that does not wait for its children"),
            // The exit code is the script's own, and the script has explained it.
            (None, Exit::Code(_)) => return None,
        })
    }
}

/// Returns the call of `action` of `mcp` for the server `name` in `scope`, whose default is the user here.
fn mcp(action: &str, client: Option<&str>, scope: ScopeKind, name: &str) -> Call {
    let call = Verb::Mcp.call().word(action).options(client.map(|client| (Opt::Client, client)));
    let call = if scope == ScopeKind::Project { call.flag(Opt::Project) } else { call };
    if name == NAME { call } else { call.option(Opt::Name, name) }
}

impl McpChangeOutcome {
    /// Returns how to take it back.
    pub fn hints(&self) -> Vec<Message> {
        let is_set_up =
            |effect| matches!(effect, Effect::Created | Effect::Added | Effect::Changed | Effect::Replaced);
        if self.dry_run || !self.clients.iter().any(|client| is_set_up(client.effect)) {
            return Vec::new();
        }
        let back = |client: &crate::ops::mcp::ClientChange| {
            message!(mcp("uninstall", None, client.scope, &client.name), " undoes it")
        };
        self.clients.first().map(back).into_iter().collect()
    }
}

impl McpStatusOutcome {
    /// Returns how to set up a client, if none is.
    pub fn hints(&self) -> Vec<Message> {
        if self.clients.is_empty() {
            return vec![message!(
                Verb::Mcp.call().word("status").flag(Opt::All),
                " lists the clients that can be set up"
            )];
        }
        let is_free = |client: &ClientStatus| client.servers.is_empty() && client.problem.is_none();
        let first = self.clients.first().filter(|_| self.clients.iter().all(is_free));
        let set_up = first.map(|client| {
            let title = &client.title;
            message!(
                mcp("install", Some(&client.client), client.scope, NAME),
                format_args!(" sets up {title}")
            )
        });
        set_up.into_iter().collect()
    }
}

impl ClientStatus {
    /// Returns how to make the client start this program, under the key `name`.
    pub fn repair_hint(&self, name: &str) -> Message {
        message!(mcp("install", Some(&self.client), self.scope, name), " writes the path of this program")
    }
}

#[cfg(feature = "http")]
impl SelfOutcome {
    /// Returns how to get the newest version.
    pub fn hints(&self) -> Vec<Message> {
        if !self.outdated {
            return Vec::new();
        }
        vec![match self.installed.update {
            Some(command) => message!(format_args!("`{command}` updates it")),
            None => message!(format_args!("<{}> says how to update it", self.installed.page)),
        }]
    }
}
