//! `registry owner`, `publisher` and `visibility`: who may publish a skill of a server, and who may see it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::place::AnyRegistry;
use super::server::{Access, RegistryServer};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::http::{Method, encode};
use crate::name::SkillName;
use crate::registry::{Account, AccountError, TrustedPublisher, Visibility, registry_name};

/// A request about who may publish a skill, and who may see it.
#[derive(Debug, Clone)]
pub struct AccessRequest {
    /// The registry: an address, or a name of `[registries]`.
    pub registry: String,
    /// The skill.
    pub name: String,
    /// The change; `None` only reads.
    pub change: Option<AccessChange>,
}

/// A change of who may publish a skill, or who may see it.
#[derive(Debug, Clone)]
pub enum AccessChange {
    /// Makes an account an owner.
    AddOwner(String),
    /// Makes an account an owner no longer.
    RemoveOwner(String),
    /// Lets the jobs of a workflow publish.
    AddPublisher(AccessWorkflow),
    /// Lets the jobs of a workflow publish no longer.
    RemovePublisher(AccessWorkflow),
    /// Makes the skill visible to all who may read the registry, or only to its owners.
    SetPrivate(bool),
}

/// A workflow of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AccessWorkflow {
    /// The repository, as `owner/name`.
    pub repository: String,
    /// The id of the repository at the CI system, if it is known.
    pub repository_id: Option<String>,
    /// The file of the workflow, such as `publish.yml`.
    pub workflow: String,
    /// The environment that a job must run in, if one is required.
    pub environment: Option<String>,
    /// The address of the CI system that states which job it is.
    pub issuer: String,
}

/// The outcome. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AccessOutcome {
    /// The address of the registry.
    pub registry: String,
    /// The skill.
    pub name: String,
    /// The accounts that own it.
    pub owners: Vec<String>,
    /// The workflows whose jobs may publish it.
    pub publishers: Vec<AccessWorkflow>,
    /// The visibility: `public` is for all who may read the registry, `private` for its owners.
    pub visibility: Visibility,
    /// Whether something was changed.
    pub changed: bool,
}

/// Changes who may publish a skill of a server or see it, and returns who may then.
///
/// # Errors
///
/// Fails if the registry is not on a server, if it does not have the skill, and if the server refuses the change.
pub fn access(context: &Context, request: &AccessRequest) -> Result<AccessOutcome> {
    let name = registry_name(&request.name).map_err(|error| Error::usage(error.to_string()))?;
    let AnyRegistry::Server(server) = AnyRegistry::find(context, Some(&request.registry))? else {
        return Err(Error::usage(format!(
            "`{}` is a directory: only a server knows who may change what",
            request.registry
        ))
        .coded(codes::REGISTRY_ABSENT)
        .hint("name the address of the server, or its name in `[registries]`"));
    };
    let changed = match &request.change {
        Some(change) => apply(&server, &name, change)?,
        None => false,
    };
    let Access { owners, publishers, visibility } = server.access(&name)?;
    let owners = owners.iter().map(ToString::to_string).collect();
    let publishers = publishers.into_iter().map(AccessWorkflow::from).collect();
    Ok(AccessOutcome { registry: server.shown(), name: name.into(), owners, publishers, visibility, changed })
}

/// Asks `server` for a change. Returns whether that is new.
fn apply(server: &RegistryServer, name: &SkillName, change: &AccessChange) -> Result<bool> {
    let path = |rest: &str| format!("skills/{}/{rest}", encode(name.as_str()));
    match change {
        AccessChange::AddOwner(owner) => {
            server.change(Method::Put, &path(&format!("owners/{}", account(owner)?)), &json!({}))
        }
        AccessChange::RemoveOwner(owner) => {
            server.change(Method::Delete, &path(&format!("owners/{}", account(owner)?)), &json!({}))
        }
        AccessChange::AddPublisher(workflow) => {
            server.change(Method::Post, &path("publishers"), &publisher(workflow)?)
        }
        AccessChange::RemovePublisher(workflow) => {
            server.change(Method::Delete, &path("publishers"), &publisher(workflow)?)
        }
        AccessChange::SetPrivate(is_private) => {
            let visibility = if *is_private { Visibility::Private } else { Visibility::Public };
            server.change(Method::Put, &path("visibility"), &json!({ "visibility": visibility }))
        }
    }
}

fn account(text: &str) -> Result<String> {
    let account: Account = text.parse().map_err(|error: AccountError| Error::usage(error.to_string()))?;
    Ok(encode(account.as_str()))
}

impl From<TrustedPublisher> for AccessWorkflow {
    fn from(publisher: TrustedPublisher) -> Self {
        let TrustedPublisher { issuer, repository, repository_id, workflow, environment } = publisher;
        Self { repository, repository_id, workflow, environment, issuer }
    }
}

fn publisher(typed: &AccessWorkflow) -> Result<TrustedPublisher> {
    let AccessWorkflow { repository, repository_id, workflow, environment, issuer } = typed.clone();
    TrustedPublisher::new(issuer, repository, workflow, environment)
        .and_then(|publisher| publisher.with_id(repository_id))
        .map_err(|error| Error::usage(error.to_string()))
}
