//! A scope: what is there ([`state`]), what leads from there to a goal ([`plan`]), and how it changes atomically
//! ([`transaction`]).

pub mod agent_view;
pub(crate) mod attributes;
pub mod changes;
pub(crate) mod checked_dirs;
pub(crate) mod claims;
pub mod differences;
pub(crate) mod directory;
pub(crate) mod editable;
pub(crate) mod evidence;
pub(crate) mod files;
pub(crate) mod goal;
pub mod health;
pub(crate) mod in_use;
pub(crate) mod index;
pub(crate) mod listings;
mod mended;
pub(crate) mod merges;
pub(crate) mod not_installed;
pub(crate) mod on_disk;
pub(crate) mod ownership;
pub mod plan;
pub mod problem;
pub(crate) mod receipts;
mod records;
pub(crate) mod reviewed;
mod root;
mod roots;
pub(crate) mod sources;
pub mod state;
pub mod step;
pub(crate) mod transaction;
pub(crate) mod trees;

pub use self::root::Scope;
pub(crate) use self::root::{ProjectDirs, Scopes, nowhere, project_root, projects_around, repository_of};
pub use self::roots::Roots;
