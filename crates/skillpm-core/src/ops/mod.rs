//! The verbs. Each takes a request and returns an outcome; none prints, and what a front end shows
//! is in the outcome.

mod absent;
pub mod agents;
mod alarms;
pub mod audit;
pub mod bump;
pub mod cache;
pub mod catalog;
mod change;
mod consent;
#[cfg(feature = "create")]
pub mod create;
mod dependencies;
pub mod diff;
pub mod disable;
pub mod doctor;
pub mod explain;
pub mod export;
mod fetcher;
pub mod fix;
pub mod fmt;
pub mod hints;
mod home;
pub mod import;
pub mod install;
pub mod invoke;
#[cfg(feature = "http")]
pub mod itself;
pub mod kept;
pub mod link;
pub mod list;
pub mod mcp;
pub mod named;
pub mod outdated;
mod own;
pub mod pack;
pub mod paths;
pub mod permit;
pub mod places;
pub mod policy;
mod policy_check;
pub mod provenance;
#[cfg(feature = "http")]
pub mod publish;
pub mod read;
mod registries;
pub mod registry;
pub mod remove;
pub mod run;
pub mod search;
pub mod session;
pub mod show;
pub mod tools;
pub mod tree;
pub mod trust;
pub mod undo;
pub mod update;
mod update_rules;
pub mod validate;
pub mod verify;
pub mod why;
