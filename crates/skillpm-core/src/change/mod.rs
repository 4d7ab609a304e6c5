//! The one way for verbs to change a scope.
//!
//! ```text
//! Begun    the scope, locked, with its manifest and lockfile, which are read once
//!   .plan(goal)       -> Planned   what leads from what is there to the goal; nothing was written yet
//!   .apply(contents)  -> Applied   what goes is saved, then everything changes in one transaction
//! ```
//!
//! Each value is made from the one before it and from nothing else. So no verb can replace what was not saved, or apply
//! a plan other than the one that its dry run shows. A dry run follows the same path and stops before it writes.

pub(crate) mod agent_targets;
mod begun;
mod conflicts;
pub(crate) mod consent;
pub(crate) mod home;
mod kept;
mod lacking;
mod listings;
mod plan;

pub(crate) use self::begun::{Begun, Merges, Planned};
pub(crate) use self::kept::{keep_replaced, keep_tool_files, kept_by};
pub(crate) use self::plan::make_plan;
