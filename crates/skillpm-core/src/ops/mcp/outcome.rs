//! The changes of clients' files.

use schemars::JsonSchema;
use serde::Serialize;

use crate::scope_kind::ScopeKind;

/// The outcome of a change. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct McpChangeOutcome {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// The clients, in the order in which they were requested.
    pub clients: Vec<ClientChange>,
}

impl McpChangeOutcome {
    /// Reports whether a file changes.
    pub fn changes(&self) -> bool {
        self.clients.iter().any(|client| !matches!(client.effect, Effect::Unchanged | Effect::Absent))
    }
}

/// The change of one client's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClientChange {
    /// The id of the client.
    pub client: String,
    /// The name of the client, for people.
    #[serde(skip)]
    pub title: String,
    /// The scope of the file.
    pub scope: ScopeKind,
    /// The path of the file.
    pub file: String,
    /// The key of the server in it.
    pub name: String,
    /// The command that the entry starts, or started; empty without an entry, or for another server's.
    pub command: Vec<String>,
    /// The change, made or planned by a dry run.
    pub effect: Effect,
    /// The change as a unified diff; `None` if nothing changes. Values of other entries are hidden.
    pub diff: Option<String>,
}

/// The change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// The file was created.
    Created,
    /// The entry was added.
    Added,
    /// The command in the entry was changed.
    Changed,
    /// The entry replaced that of another server.
    Replaced,
    /// The entry is already what it should be.
    Unchanged,
    /// The file is again what it was before the installation, byte for byte.
    Restored,
    /// The file was removed: nothing else was in it.
    Deleted,
    /// The entry was removed from a file that was edited since.
    Removed,
    /// The file has no entry for the server.
    Absent,
}
