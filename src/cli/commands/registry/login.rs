//! `registry login` and `registry logout`.

use std::io::Read as _;

use clap::Args;

use crate::cli::{App, render};
use skillpm_core::hints;
use skillpm_core::ops::registry::{LoginRequest, login, login_address, logins, logout};
use skillpm_sources::error::{Error, Result};

/// The largest token that is read, in bytes.
const TOKEN_BYTES: u64 = 16 << 10;

// Arguments of `registry login`.
#[derive(Debug, Clone, Args)]
pub(super) struct LoginArgs {
    /// name of a registry in `[registries]`, or its address
    #[arg(value_name = "REGISTRY", required_unless_present = "list")]
    registry: Option<String>,

    /// read the token from standard input instead of asking for it
    #[arg(long, conflicts_with = "list")]
    with_token: bool,

    /// list the servers that tokens are saved for, change nothing
    #[arg(short, long, conflicts_with = "registry")]
    list: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

// Arguments of `registry logout`.
#[derive(Debug, Clone, Args)]
pub(super) struct LogoutArgs {
    /// name of a registry in `[registries]`, or its address
    #[arg(value_name = "REGISTRY")]
    registry: String,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &LoginArgs) -> Result<()> {
    let (printer, context) = (&app.printer, &app.context);
    let Some(registry) = &args.registry else {
        render::login::logins(printer, &logins(context)?, args.json);
        return Ok(());
    };
    // Report a typing error before a secret is typed.
    let url = login_address(context, registry)?;
    let token = if args.with_token {
        given()?
    } else {
        let question = format!("token for {}", url.origin());
        context.interact.secret(&question).ok_or_else(nobody)?
    };
    let outcome = login(context, &LoginRequest { registry: registry.clone(), token })?;
    render::login::logged_in(printer, &outcome, args.json);
    Ok(())
}

pub(super) fn undo(app: &App, args: &LogoutArgs) -> Result<()> {
    render::login::logged_out(&app.printer, &logout(&app.context, &args.registry)?, args.json);
    Ok(())
}

/// Reads the token from standard input.
fn given() -> Result<String> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(TOKEN_BYTES).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("failed to read standard input").because(error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn nobody() -> Error {
    Error::usage("there is no terminal to ask for the token").hint(hints::pass_token())
}
