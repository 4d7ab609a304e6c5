//! `mcp status`: which clients start the server.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::clients::{self, Client};
use super::file::ClientFile;
use super::shape::is_ours;
use crate::context::Context;
use crate::engine::run::on_path;
use crate::error::Result;
use crate::fs;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// A request for the state of clients.
#[derive(Debug, Clone, Default)]
pub struct McpStatusRequest {
    /// The ids of the clients. If empty, those on this machine.
    pub clients: Vec<String>,
    /// The scope; `None` means both.
    pub scope: Option<ScopeKind>,
    /// Whether to include clients that are not on this machine.
    pub all: bool,
}

/// The state of clients. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct McpStatusOutcome {
    /// The clients, sorted by id.
    pub clients: Vec<ClientStatus>,
}

/// The state of one client in one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClientStatus {
    /// The id of the client.
    pub client: String,
    /// The name of the client, for people.
    pub title: String,
    /// The scope of the file.
    pub scope: ScopeKind,
    /// The path of the file.
    pub file: String,
    /// Whether the file exists.
    pub exists: bool,
    /// The entries in it that start this server.
    pub servers: Vec<ConfiguredServer>,
    /// Why the file cannot be read.
    pub problem: Option<String>,
}

/// An entry that starts this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfiguredServer {
    /// The key.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Whether the program exists.
    pub found: bool,
}

/// Returns the state of clients, for each scope in which they have a file.
///
/// # Errors
///
/// Fails for an unknown client, and for a requested scope that does not exist.
pub fn status(context: &Context, request: &McpStatusRequest) -> Result<McpStatusOutcome> {
    let settings = &context.settings;
    let clients: Vec<&'static Client> = if request.clients.is_empty() {
        clients::all().iter().filter(|client| request.all || client.is_detected(settings)).collect()
    } else {
        request.clients.iter().map(|id| clients::find(id)).collect::<Result<_>>()?
    };
    let mut outcome = McpStatusOutcome::default();
    for client in clients {
        for scope in [ScopeKind::User, ScopeKind::Project] {
            let is_wanted = request.scope.is_none_or(|wanted| wanted == scope);
            if is_wanted && (scope == ScopeKind::User || client.has_project_file()) {
                outcome.clients.push(look(settings, &ClientFile::new(settings, client, scope)?));
            }
        }
    }
    Ok(outcome)
}

fn look(settings: &Settings, file: &ClientFile) -> ClientStatus {
    let (mut servers, mut exists, mut problem) = (Vec::new(), false, None);
    match read(settings, file) {
        Ok(None) => {}
        Ok(Some(read)) => (servers, exists) = (read, true),
        Err(error) => (problem, exists) = (Some(error.with_causes().to_string()), true),
    }
    ClientStatus {
        client: file.client.id.to_owned(),
        title: file.client.name.to_owned(),
        scope: file.scope,
        file: file.path.display().to_string(),
        exists,
        servers,
        problem,
    }
}

/// Returns the entries of this server in `file`; `None` if the file does not exist.
fn read(settings: &Settings, file: &ClientFile) -> Result<Option<Vec<ConfiguredServer>>> {
    let Some(text) = file.read(settings)? else { return Ok(None) };
    let client = file.client;
    let servers = client.format.servers(&text, client.servers).map_err(|error| file.error(&error))?;
    let ours = servers.into_iter().filter_map(|(name, entry)| {
        let command = client.shape.command(&entry);
        is_ours(&command).then(|| {
            let found = command.first().is_some_and(|program| exists(settings, program));
            ConfiguredServer { name, command, found }
        })
    });
    Ok(Some(ours.collect()))
}

/// Reports whether the program `text` exists: a path, or a name on `PATH`.
fn exists(settings: &Settings, text: &str) -> bool {
    if text.contains(['/', '\\']) {
        return fs::exists(Path::new(text));
    }
    on_path(settings, text).is_some()
}
