//! `registry owner`, `registry publisher` and `registry visibility`.

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::{App, render};
use skillpm_core::ops::registry::{AccessChange, AccessRequest, AccessWorkflow, access};
use skillpm_sources::error::Result;

// The actions on the owners of a skill.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum OwnerAction {
    /// list who owns a skill
    #[command(alias = "ls")]
    List(SkillArgs),

    /// make an account an owner of a skill
    Add {
        /// Which skill.
        #[command(flatten)]
        skill: SkillArgs,

        /// account that the server knows, such as `alice`
        #[arg(value_name = "ACCOUNT")]
        account: String,
    },

    /// make an account an owner of a skill no longer
    #[command(alias = "rm")]
    Remove {
        /// Which skill.
        #[command(flatten)]
        skill: SkillArgs,

        /// account that owns the skill
        #[arg(value_name = "ACCOUNT")]
        account: String,
    },
}

// The actions on the workflows that publish a skill.
#[derive(Debug, Clone, Subcommand)]
pub(super) enum PublisherAction {
    /// list the workflows that may publish a skill
    #[command(alias = "ls")]
    List(SkillArgs),

    /// let the jobs of a workflow publish a skill
    Add {
        /// Which skill.
        #[command(flatten)]
        skill: SkillArgs,

        /// Which workflow.
        #[command(flatten)]
        workflow: WorkflowArgs,
    },

    /// let the jobs of a workflow publish a skill no longer
    #[command(alias = "rm")]
    Remove {
        /// Which skill.
        #[command(flatten)]
        skill: SkillArgs,

        /// Which workflow.
        #[command(flatten)]
        workflow: WorkflowArgs,
    },
}

// Arguments of `registry visibility`.
#[derive(Debug, Clone, Args)]
pub(super) struct VisibilityArgs {
    /// Which skill.
    #[command(flatten)]
    skill: SkillArgs,

    /// who sees the skill: all who may read the registry, or its owners
    #[arg(value_name = "VISIBILITY")]
    visibility: Shown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shown {
    Public,
    Private,
}

/// Which skill is meant.
#[derive(Debug, Clone, Args)]
pub(super) struct SkillArgs {
    /// name of the skill
    #[arg(value_name = "NAME")]
    name: String,

    /// address of the registry, or its name in `[registries]`
    #[arg(short, long, value_name = "REGISTRY")]
    registry: String,

    /// print the outcome as JSON
    #[arg(long)]
    json: bool,
}

/// Which workflow is meant.
#[derive(Debug, Clone, Args)]
pub(super) struct WorkflowArgs {
    /// repository that has the workflow
    #[arg(long, value_name = "OWNER/NAME")]
    repository: String,

    /// id of the repository at the CI system, which a later one of the same name does not have [default: that of the
    /// first job that publishes]
    #[arg(long, value_name = "ID")]
    #[arg(hide_short_help = true)]
    repository_id: Option<String>,

    /// file of the workflow
    #[arg(long, value_name = "FILE")]
    workflow: String,

    /// environment that a job has to run in
    #[arg(long, value_name = "NAME")]
    #[arg(hide_short_help = true)]
    environment: Option<String>,

    /// address of the CI system that states which job it is
    #[arg(long, value_name = "URL", default_value = "https://token.actions.githubusercontent.com")]
    #[arg(hide_short_help = true)]
    issuer: String,
}

impl From<WorkflowArgs> for AccessWorkflow {
    fn from(args: WorkflowArgs) -> Self {
        let WorkflowArgs { repository, repository_id, workflow, environment, issuer } = args;
        Self { repository, repository_id, workflow, environment, issuer }
    }
}

/// Runs `registry owner`.
pub(super) fn own(app: &App, action: OwnerAction) -> Result<()> {
    match action {
        OwnerAction::List(skill) => ask(app, skill, None),
        OwnerAction::Add { skill, account } => ask(app, skill, Some(AccessChange::AddOwner(account))),
        OwnerAction::Remove { skill, account } => ask(app, skill, Some(AccessChange::RemoveOwner(account))),
    }
}

/// Runs `registry publisher`.
pub(super) fn trust(app: &App, action: PublisherAction) -> Result<()> {
    match action {
        PublisherAction::List(skill) => ask(app, skill, None),
        PublisherAction::Add { skill, workflow } => {
            ask(app, skill, Some(AccessChange::AddPublisher(workflow.into())))
        }
        PublisherAction::Remove { skill, workflow } => {
            ask(app, skill, Some(AccessChange::RemovePublisher(workflow.into())))
        }
    }
}

/// Runs `registry visibility`.
pub(super) fn show(app: &App, args: VisibilityArgs) -> Result<()> {
    let change = AccessChange::SetPrivate(args.visibility == Shown::Private);
    ask(app, args.skill, Some(change))
}

fn ask(app: &App, skill: SkillArgs, change: Option<AccessChange>) -> Result<()> {
    let SkillArgs { name, registry, json } = skill;
    let is_change = change.is_some();
    let outcome = access(&app.context, &AccessRequest { registry, name, change })?;
    render::registry::access(&app.printer, &outcome, is_change, json);
    Ok(())
}
