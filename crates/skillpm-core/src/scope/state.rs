//! The state of a scope before a change.

mod agents;
mod scope;
mod skill;
mod survey;

pub(crate) use self::agents::{AgentState, OpenedDir};
pub(crate) use self::scope::{ClosedDir, Depth, ScopeState};
pub use self::skill::SkillState;
pub(crate) use self::skill::{PlaceState, SkillInScope};
pub(crate) use self::survey::Survey;
pub use super::files::Files;
pub(crate) use super::files::{manifest_error, read_lock, read_manifest, read_manifest_at, read_text};
pub(crate) use super::on_disk::{HAS_REPOSITORY, OnDisk, real_dir};
pub(crate) use super::trees::{not_kept, why_no_skill};
