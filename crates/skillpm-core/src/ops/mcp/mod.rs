//! `mcp install`, `mcp uninstall` and `mcp status`: the configuration files of MCP clients.

mod clients;
mod edit;
mod file;
mod install;
mod outcome;
mod receipt;
mod shape;
mod status;
mod uninstall;

pub(super) use clients::directories;
pub use clients::{Client, all, find};
pub use edit::Planned;
pub use install::{McpInstallRequest, detected, plan_install};
pub use outcome::{ClientChange, Effect, McpChangeOutcome};
pub use shape::NAME;
pub use status::{ClientStatus, ConfiguredServer, McpStatusOutcome, McpStatusRequest, status};
pub use uninstall::{McpUninstallRequest, plan_uninstall};
