//! A scope: what is there ([`state`]), what leads from there to a goal ([`plan`]), and how it changes atomically
//! ([`transaction`]).

pub mod agent_view;
pub mod attributes;
pub mod changes;
pub mod claims;
pub mod differences;
pub mod directory;
pub mod editable;
pub mod evidence;
pub mod health;
pub mod index;
pub mod merges;
pub(crate) mod not_installed;
pub mod ownership;
pub mod places;
pub mod plan;
pub mod receipts;
mod records;
pub mod reviewed;
mod root;
pub mod sources;
pub mod state;
pub mod transaction;
pub mod trees;

pub use self::root::{Scope, Scopes, exists, nowhere, project_root, projects_around, repository_of};
