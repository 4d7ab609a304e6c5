//! `mcp uninstall`: removes the server from the files of clients.

use super::clients::{self, Client};
use super::edit::{Edit, Planned};
use super::file::ClientFile;
use super::install::{checked_name, taken};
use super::outcome::Effect;
use super::receipt::{Before, Receipt};
use super::shape::is_ours;
use crate::context::Context;
use crate::error::Result;
use crate::fs::{self, Kind};
use crate::interop::servers::Key;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// A request to remove the server from clients.
#[derive(Debug, Clone, Default)]
pub struct McpUninstallRequest {
    /// The ids of the clients. If empty, all that have the server.
    pub clients: Vec<String>,
    /// The scope; `None` means the user.
    pub scope: Option<ScopeKind>,
    /// The key of the server in the file; `None` means [`super::NAME`].
    pub name: Option<String>,
    /// Whether to remove the entry of another server, and to change a file that is read-only.
    pub force: bool,
}

/// Plans to remove the server from the files of clients, and writes nothing yet. A file that is as the installation left
/// it becomes what it was before, byte for byte.
///
/// # Errors
///
/// Fails for an unknown client; for a file that is not in its format, or cannot be read; and without `force` if the entry
/// is that of another server, or a file is read-only.
pub fn plan_uninstall<'c>(context: &'c Context, request: &McpUninstallRequest) -> Result<Planned<'c>> {
    let settings = &context.settings;
    let name = checked_name(request.name.as_deref())?.to_owned();
    let scope = request.scope.unwrap_or(ScopeKind::User);
    let is_named = !request.clients.is_empty();
    let clients: Vec<&'static Client> = if is_named {
        request.clients.iter().map(|id| clients::find(id)).collect::<Result<_>>()?
    } else {
        let fits = |client: &&Client| scope == ScopeKind::User || client.has_project_file();
        clients::all().iter().filter(fits).collect()
    };
    let force = request.force;
    Planned::new(context, move || {
        let mut edits: Vec<Edit> = Vec::new();
        for client in &clients {
            let file = ClientFile::new(settings, client, scope)?;
            let edit = match plan(settings, file, &name, force) {
                // A file that cannot be read, or another server, concerns only those who name the client.
                Err(_) if !is_named => continue,
                edit => edit?,
            };
            let is_new = edits.iter().all(|other| other.file.path != edit.file.path);
            if is_new && (is_named || edit.effect != Effect::Absent) {
                if !force {
                    edit.check_mode()?;
                }
                edits.push(edit);
            }
        }
        Ok(edits)
    })
}

fn plan(settings: &Settings, file: ClientFile, name: &str, force: bool) -> Result<Edit> {
    let (format, shape) = (file.client.format, file.client.shape);
    let key = Key { table: file.client.servers, name };
    let old = file.read(settings)?;
    let in_file = |error| file.error(&error);
    let servers = old.as_deref().map(|text| format.servers(text, key.table)).transpose().map_err(in_file)?;
    let command = servers.as_ref().and_then(|servers| servers.get(name)).map(|entry| shape.command(entry));
    let (Some(text), Some(command)) = (&old, command) else {
        let (name, new) = (name.to_owned(), old.clone());
        let (command, takes_another, effect) = (Vec::new(), false, Effect::Absent);
        return Ok(Edit {
            file,
            name,
            command,
            takes_another,
            effect,
            old,
            new,
            receipt: None,
            directories: 0,
        });
    };
    let takes_another = !is_ours(&command);
    if takes_another && !force {
        return Err(taken(&file, name, "removes"));
    }
    // A secret may be among the arguments of another server.
    let command = if takes_another { Vec::new() } else { command };
    let receipt = Receipt::read(settings, &file.path, name);
    let directories = receipt.as_ref().map_or(0, |receipt| receipt.directories);
    let before = receipt.as_ref().and_then(|receipt| receipt.before(text));
    // A user may have moved the file elsewhere since, and linked it.
    let is_file = fs::kind(&file.path)? == Some(Kind::File);
    let (new, effect) = match before.filter(|before| is_file || *before != Before::NoFile) {
        Some(Before::NoFile) => (None, Effect::Deleted),
        Some(Before::Text(before)) => (Some(before), Effect::Restored),
        None => {
            let with_table = receipt.as_ref().is_some_and(|receipt| receipt.with_table);
            let left = format.remove(text, key, with_table).map_err(in_file)?;
            let goes = is_file && receipt.is_some_and(|receipt| receipt.created) && format.is_empty(&left);
            if goes { (None, Effect::Deleted) } else { (Some(left), Effect::Removed) }
        }
    };
    let name = name.to_owned();
    Ok(Edit { file, name, command, takes_another, effect, old, new, receipt: None, directories })
}
