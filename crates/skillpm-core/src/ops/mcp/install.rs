//! `mcp install`: adds the server to the files of clients.

use std::path::{Path, PathBuf};

use super::clients::{self, Client, ids};
use super::edit::{Edit, Planned};
use super::file::ClientFile;
use super::outcome::Effect;
use super::receipt::Receipt;
use super::shape::{NAME, is_ours};
use crate::advice::{Opt, message};
use crate::context::Context;
use crate::engine::run::on_path;
use crate::error::{Error, ErrorKind, Result};
use crate::fs;
use crate::interop::servers::Key;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// The longest key of a server, in bytes.
const MAX_NAME: usize = 64;

/// A request to set up clients.
#[derive(Debug, Clone, Default)]
pub struct McpInstallRequest {
    /// The ids of the clients.
    pub clients: Vec<String>,
    /// The scope; `None` means the user.
    pub scope: Option<ScopeKind>,
    /// The key of the server in the file; `None` means [`NAME`].
    pub name: Option<String>,
    /// The program to start if `skillpm` on `PATH` is not this one.
    pub program: Option<PathBuf>,
    /// The arguments of the server, after `mcp`.
    pub arguments: Vec<String>,
    /// Whether to replace the entry of another server, and to change a file that is read-only.
    pub force: bool,
}

/// Returns the clients that are on this machine, and can be set up in `scope`.
pub fn detected(context: &Context, scope: Option<ScopeKind>) -> Vec<&'static Client> {
    let fits = |client: &&Client| scope != Some(ScopeKind::Project) || client.has_project_file();
    clients::all().iter().filter(fits).filter(|client| client.is_detected(&context.settings)).collect()
}

/// Plans to add the server to the files of clients, and writes nothing yet.
///
/// # Errors
///
/// Fails for no client or an unknown one; for a file that is not in its format, or cannot be read; and without `force` if
/// another server has the name, or a file is read-only.
pub fn plan_install<'c>(context: &'c Context, request: &McpInstallRequest) -> Result<Planned<'c>> {
    let settings = &context.settings;
    if request.clients.is_empty() {
        return Err(Error::usage("name the clients to set up")
            .hint(message!((Opt::Client, "NAME"), format!(" takes one of {}", ids(clients::all())))));
    }
    let name = checked_name(request.name.as_deref())?.to_owned();
    let command = command(settings, request)?;
    let (clients, force) = (request.clients.clone(), request.force);
    let scope = request.scope.unwrap_or(ScopeKind::User);
    Planned::new(context, move || {
        let mut edits: Vec<Edit> = Vec::new();
        for id in &clients {
            let file = ClientFile::new(settings, clients::find(id)?, scope)?;
            if edits.iter().all(|edit| edit.file.path != file.path) {
                let edit = plan(settings, file, &name, &command, force)?;
                if !force {
                    edit.check_mode()?;
                }
                edits.push(edit);
            }
        }
        Ok(edits)
    })
}

/// Returns the requested key of the server.
pub(super) fn checked_name(name: Option<&str>) -> Result<&str> {
    let name = name.unwrap_or(NAME);
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_plain && !name.is_empty() && name.len() <= MAX_NAME {
        return Ok(name);
    }
    Err(Error::usage(format!("`{name}` cannot be the name of a server"))
        .hint("a name has letters, digits, hyphens and underscores, and at most 64 of them"))
}

/// Returns the command that starts the server: `skillpm` if that is this program, else its path.
fn command(settings: &Settings, request: &McpInstallRequest) -> Result<Vec<String>> {
    let program = match &request.program {
        Some(program) if !is_on_path(settings, program) => {
            program.to_str().map(str::to_owned).ok_or_else(|| {
                Error::usage(format!("the path of this program, `{}`, is not UTF-8", program.display()))
                    .hint("put it in a directory of `PATH`")
            })?
        }
        _ => NAME.to_owned(),
    };
    Ok([program, "mcp".to_owned()].into_iter().chain(request.arguments.iter().cloned()).collect())
}

/// Reports whether the first `skillpm` on `PATH` is `program`.
fn is_on_path(settings: &Settings, program: &Path) -> bool {
    let real = |path: &Path| fs::real_path(path).ok().flatten();
    let first = on_path(settings, NAME).and_then(|path| real(&path));
    first.is_some() && first == real(program)
}

fn plan(settings: &Settings, file: ClientFile, name: &str, command: &[String], force: bool) -> Result<Edit> {
    let (format, shape) = (file.client.format, file.client.shape);
    let key = Key { table: file.client.servers, name };
    let old = file.read(settings)?;
    let text = old.as_deref().unwrap_or_default();
    let in_file = |error| file.error(&error);
    let servers = format.servers(text, key.table).map_err(in_file)?;
    let entry = || shape.entry(name, command);
    let (new, effect, receipt) = match servers.get(name).map(|entry| shape.command(entry)) {
        None => {
            let added = format.add(text, key, &entry()).map_err(in_file)?;
            let effect = if old.is_none() { Effect::Created } else { Effect::Added };
            let directories = file.missing_directories()?.len();
            let receipt = Receipt::new(old.as_deref(), &added.text, added.with_table, directories);
            (added.text, effect, Some(receipt))
        }
        Some(there) if there == command => (text.to_owned(), Effect::Unchanged, None),
        Some(there) if is_ours(&there) => {
            let new = format.change(text, key, &shape.command_fields(command)).map_err(in_file)?;
            let receipt =
                Receipt::read(settings, &file.path, name).map(|receipt| receipt.followed(text, &new));
            (new, Effect::Changed, receipt)
        }
        Some(_) if force => {
            let without = format.remove(text, key, false).map_err(in_file)?;
            let added = format.add(&without, key, &entry()).map_err(in_file)?;
            let receipt = Receipt::new(old.as_deref(), &added.text, false, 0);
            (added.text, Effect::Replaced, Some(receipt))
        }
        Some(_) => return Err(taken(&file, name, "replaces")),
    };
    let (name, command) = (name.to_owned(), command.to_vec());
    let takes_another = effect == Effect::Replaced;
    Ok(Edit { file, name, command, takes_another, effect, old, new: Some(new), receipt, directories: 0 })
}

/// Returns the error for an entry that another server has. `forced` says what `force` does to it. What the entry starts
/// is not shown: a secret may be among its arguments.
pub(super) fn taken(file: &ClientFile, name: &str, forced: &str) -> Error {
    let message = format!("`{name}` in `{}` is another server", file.path.display());
    Error::new(ErrorKind::Findings, message).hint(message!(
        Opt::Force,
        format!(" {forced} it; "),
        (Opt::Name, "NAME"),
        " chooses another name"
    ))
}
