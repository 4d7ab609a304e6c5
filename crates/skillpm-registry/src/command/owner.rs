//! `owner` and `visibility`: set who may publish and who may see a skill, as the operator.

use clap::{Args, Subcommand, ValueEnum};

use super::Common;
use crate::access::{Caller, Holder, Scope, Token};
use crate::app::{App, now};
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::{Account, Visibility, registry_name};

#[derive(Debug, Subcommand)]
pub(super) enum OwnerCommand {
    /// List the owners of a skill
    List(SkillArgs),
    /// Add an owner to a skill
    Add(OwnerArgs),
    /// Remove an owner from a skill
    Remove(OwnerArgs),
}

#[derive(Debug, Args)]
pub(super) struct SkillArgs {
    /// the skill
    #[arg(value_name = "NAME", value_parser = name)]
    name: SkillName,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct OwnerArgs {
    /// the skill
    #[arg(value_name = "NAME", value_parser = name)]
    name: SkillName,

    /// the account
    #[arg(value_name = "ACCOUNT")]
    account: Account,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
pub(super) struct VisibilityArgs {
    /// the skill
    #[arg(value_name = "NAME", value_parser = name)]
    name: SkillName,

    /// who sees the skill: all who may read the registry, or only its owners
    #[arg(value_name = "VISIBILITY")]
    visibility: VisibilityArg,

    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum VisibilityArg {
    Public,
    Private,
}

fn name(text: &str) -> std::result::Result<SkillName, String> {
    registry_name(text).map_err(|error| error.to_string())
}

/// Returns the operator of the registry as a caller, with the name that the log records.
fn operator() -> Result<Caller> {
    let account = "operator".parse().map_err(|_| Error::usage("`operator` is not an account"))?;
    Ok(Caller(Some(Token {
        id: "operator".to_owned(),
        holder: Holder::Account { account },
        scopes: vec![Scope::Admin],
        names: Vec::new(),
        created: now(),
        expires: None,
        note: String::new(),
    })))
}

pub(super) async fn own(command: OwnerCommand) -> Result<()> {
    match command {
        OwnerCommand::List(SkillArgs { name, common }) => {
            let app = App::open(common.settings()?).await?;
            for owner in app.skill(&operator()?, &name)?.owners() {
                anstream::println!("{owner}");
            }
            Ok(())
        }
        OwnerCommand::Add(args) => change(args, true).await,
        OwnerCommand::Remove(args) => change(args, false).await,
    }
}

async fn change(OwnerArgs { name, account, common }: OwnerArgs, owns: bool) -> Result<()> {
    let app = App::open(common.settings()?).await?;
    let is_new = app.own(&operator()?, &name, account.clone(), owns, now()).await?;
    let state = if owns { "owns" } else { "does not own" };
    let since = if is_new { "now" } else { "already" };
    anstream::println!("`{account}` {state} `{name}` {since}");
    Ok(())
}

pub(super) async fn show(VisibilityArgs { name, visibility, common }: VisibilityArgs) -> Result<()> {
    let app = App::open(common.settings()?).await?;
    let (visibility, word) = match visibility {
        VisibilityArg::Public => (Visibility::Public, "public"),
        VisibilityArg::Private => (Visibility::Private, "private"),
    };
    let is_new = app.show_to(&operator()?, &name, visibility, now()).await?;
    anstream::println!("`{name}` is {word} {}", if is_new { "now" } else { "already" });
    Ok(())
}
