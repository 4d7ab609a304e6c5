//! `registry`.

mod access;
mod login;
mod serve;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::help::after;
use crate::cli::{App, exit, render};
use skillpm_core::ops::registry::mirror::{BundleRequest, MirrorRequest, Selection, bundle, mirror};
use skillpm_core::ops::registry::{
    AddRequest, IndexRequest, InitRequest, ListRequest, UnyankRequest, VerifyRequest, YankRequest, add,
    index, init, list, unyank, verify, yank,
};
use skillpm_sources::error::Result;

pub(super) const EXAMPLES: &str = after!("registry",
    "skillpm registry init site --name acme      make a directory a registry"
    "skillpm registry add -r site skills/pdf     publish a skill"
    "skillpm registry serve /srv/skills          serve a registry; created if it does not exist"
    "skillpm registry login internal             save the token for a registry that requires a login"
);

// Arguments of `registry`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RegistryArgs {
    /// The action.
    #[command(subcommand)]
    action: Action,
}

// The actions.
#[derive(Debug, Clone, Subcommand)]
enum Action {
    /// make a directory a registry, which any web server can serve
    Init {
        /// the directory [default: the one you are in]
        #[arg(value_name = "DIR")]
        dir: Option<PathBuf>,

        /// name of the registry [default: the name of the directory]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,

        /// replace or remove files that are not the registry's
        #[arg(long)]
        force: bool,

        /// How it is done.
        #[command(flatten)]
        how: HowToWrite,
    },

    /// publish skills: all of them, or after an error none
    Add {
        /// directories of skills, or archives that `skillpm pack` made
        #[arg(value_name = "SKILL", required = true)]
        sources: Vec<PathBuf>,

        /// publish files that may hold secrets, by their name or a key in their text, without asking
        #[arg(long)]
        allow_secrets: bool,

        /// Which registry.
        #[command(flatten)]
        place: WhichRegistry,

        /// How it is done.
        #[command(flatten)]
        how: HowToWrite,
    },

    /// rebuild the lists from what was published
    Index {
        /// Which registry.
        #[command(flatten)]
        place: WhichRegistry,

        /// How it is done.
        #[command(flatten)]
        how: HowToWrite,
    },

    /// hide versions from new installations
    ///
    /// projects that have them locked still get them
    Yank {
        /// versions, such as `pdf@1.2.0`
        #[arg(value_name = "NAME@VERSION", required = true)]
        versions: Vec<String>,

        /// the reason, which those who have one of them are shown
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        reason: String,

        /// Which registry.
        #[command(flatten)]
        place: AnyRegistry,

        /// How it is done.
        #[command(flatten)]
        how: HowToWrite,
    },

    /// make yanked versions available again
    Unyank {
        /// versions, such as `pdf@1.2.0`
        #[arg(value_name = "NAME@VERSION", required = true)]
        versions: Vec<String>,

        /// Which registry.
        #[command(flatten)]
        place: AnyRegistry,

        /// How it is done.
        #[command(flatten)]
        how: HowToWrite,
    },

    /// copy a registry, or a part of it, to a directory
    ///
    /// what already exists is not fetched again
    Mirror {
        /// an address, a directory, a bundle, or a name of `[registries]`
        #[arg(value_name = "REGISTRY")]
        source: String,

        /// the directory of the mirror
        #[arg(value_name = "DIR")]
        dir: PathBuf,

        /// The skills to copy.
        #[command(flatten)]
        what: WhatToCopy,

        /// replace or remove files of a directory that is no mirror yet
        #[arg(long)]
        force: bool,

        /// print the outcome as JSON
        #[arg(long)]
        json: bool,
    },

    /// write a registry, or a part of it, into one file
    ///
    /// for machines without a network
    Bundle {
        /// an address, a directory, a bundle, or a name of `[registries]`
        #[arg(value_name = "REGISTRY")]
        source: String,

        /// the file to write, such as `skills.zip`
        #[arg(value_name = "FILE")]
        file: PathBuf,

        /// The skills to copy.
        #[command(flatten)]
        what: WhatToCopy,

        /// replace a file that is there
        #[arg(long)]
        force: bool,

        /// print the outcome as JSON
        #[arg(long)]
        json: bool,
    },

    /// check every file: archives, their contents, and all lists
    Verify {
        /// Which registry.
        #[command(flatten)]
        place: WhichRegistry,

        /// print the outcome as JSON
        #[arg(long)]
        json: bool,
    },

    /// save the token for a registry that requires a login
    Login(login::LoginArgs),

    /// remove the token for a registry
    Logout(login::LogoutArgs),

    /// show and change who may publish a skill of a server
    #[command(subcommand)]
    Owner(access::OwnerAction),

    /// let workflows of CI systems publish a skill of a server
    ///
    /// no token has to be kept for that
    #[command(subcommand)]
    Publisher(access::PublisherAction),

    /// show a skill of a server to all readers, or only to owners
    ///
    /// readers are all who may read the registry
    Visibility(access::VisibilityArgs),

    /// serve a registry that people can publish to
    ///
    /// `skillpm-registry` does it, which creates the registry in an empty directory
    Serve(serve::ServeArgs),

    /// write the pages of a registry as a static site
    ///
    /// `skillpm-registry` does it
    Site(serve::ServeArgs),

    /// list the skills, or the versions of one
    #[command(alias = "ls")]
    List {
        /// the skill whose versions to list [default: all skills]
        #[arg(value_name = "NAME")]
        name: Option<String>,

        /// Which registry.
        #[command(flatten)]
        place: AnyRegistry,

        /// print the outcome as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Which registry is meant.
#[derive(Debug, Clone, Args)]
struct WhichRegistry {
    /// directory of the registry, or the name of one in `[registries]` [default: the directory you are in]
    #[arg(short, long, value_name = "DIR")]
    registry: Option<PathBuf>,
}

/// Which registry is meant, here or on a server.
#[derive(Debug, Clone, Args)]
struct AnyRegistry {
    /// directory of the registry, its address, or its name in `[registries]` [default: the directory
    /// you are in]
    #[arg(short, long, value_name = "REGISTRY")]
    registry: Option<String>,
}

/// The part of a registry to copy.
#[derive(Debug, Clone, Args)]
struct WhatToCopy {
    /// skills to copy, with all that they need [default: all skills]
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// leave out what the named skills need
    #[arg(long, requires = "names")]
    no_deps: bool,

    /// copy exactly what this project's `skillpm.lock` has from the registry
    #[arg(long, conflicts_with = "names")]
    locked: bool,
}

impl WhatToCopy {
    fn selection(self) -> Selection {
        match self {
            Self { locked: true, .. } => Selection::Locked,
            Self { names, .. } if names.is_empty() => Selection::All,
            Self { names, no_deps, .. } => Selection::Names { names, alone: no_deps },
        }
    }
}

/// The flags of commands that write.
#[derive(Debug, Clone, Args)]
struct HowToWrite {
    /// show what would be done, do nothing
    #[arg(long)]
    dry_run: bool,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(app: &App, args: &RegistryArgs) -> Result<u8> {
    let (printer, context) = (&app.printer, &app.context);
    match args.action.clone() {
        Action::Init { dir, name, force, how } => {
            let outcome = init(context, &InitRequest { dir, name, force, dry_run: how.dry_run })?;
            render::registry::initialized(printer, &outcome, &context.settings.cwd, how.json);
        }
        Action::Add { sources, allow_secrets, place, how } => {
            let request =
                AddRequest { registry: place.registry, sources, allow_secrets, dry_run: how.dry_run };
            render::registry::added(printer, &add(context, &request)?, how.json);
        }
        Action::Index { place, how } => {
            let request = IndexRequest { registry: place.registry, dry_run: how.dry_run };
            let outcome = index(context, &request)?;
            render::registry::indexed(printer, &outcome, &context.settings.cwd, how.json);
            return Ok(if outcome.left_out.is_empty() { exit::SUCCESS } else { exit::INTEGRITY });
        }
        Action::Yank { versions, reason, place, how } => {
            let request = YankRequest { registry: place.registry, versions, reason, dry_run: how.dry_run };
            render::registry::yanked(printer, &yank(context, &request)?, how.json);
        }
        Action::Unyank { versions, place, how } => {
            let request = UnyankRequest { registry: place.registry, versions, dry_run: how.dry_run };
            render::registry::yanked(printer, &unyank(context, &request)?, how.json);
        }
        Action::Owner(action) => access::own(app, action)?,
        Action::Publisher(action) => access::trust(app, action)?,
        Action::Visibility(args) => access::show(app, args)?,
        Action::Serve(args) => return serve::run(app, "serve", &args),
        Action::Site(args) => return serve::run(app, "site", &args),
        Action::Login(args) => login::run(app, &args)?,
        Action::Logout(args) => login::undo(app, &args)?,
        Action::List { name, place, json } => {
            let one = name.is_some();
            let outcome = list(context, &ListRequest { registry: place.registry, name })?;
            render::registry::listed(printer, &outcome, one, json);
        }
        Action::Mirror { source, dir, what, force, json } => {
            let request = MirrorRequest { source, dir, selection: what.selection(), force };
            let outcome = mirror(context, &request)?;
            render::registry::mirrored(printer, &outcome, json);
            return Ok(exit::mirror(&outcome));
        }
        Action::Bundle { source, file, what, force, json } => {
            let request = BundleRequest { source, file, selection: what.selection(), force };
            render::registry::bundled(printer, &bundle(context, &request)?, json);
        }
        Action::Verify { place, json } => {
            let outcome = verify(context, &VerifyRequest { registry: place.registry })?;
            render::registry::verified(printer, &outcome, &context.settings.cwd, json);
            return Ok(if outcome.defects.is_empty() { exit::SUCCESS } else { exit::INTEGRITY });
        }
    }
    Ok(exit::SUCCESS)
}
