//! Installation: what changes in a scope ([`plan`]), and how it changes atomically ([`transaction`]).

pub mod agent_view;
pub mod attributes;
pub mod changes;
pub mod claims;
pub mod directory;
pub mod editable;
pub mod evidence;
pub mod health;
pub mod index;
pub mod merges;
pub mod ownership;
pub mod places;
pub mod plan;
pub mod receipts;
mod records;
pub mod reviewed;
pub mod scope;
pub mod sources;
pub mod state;
pub mod transaction;
pub mod trees;
