//! What the tests stand on: a GitHub made of this process, archives, and a machine to install on.

pub mod forge;
pub mod git;
pub mod machine;
pub mod mcp;
pub mod mount;
pub mod nginx;
pub mod npm;
pub mod numbers;
pub mod outcome;
pub mod proxy;
pub mod sandbox;
pub mod server;
pub mod snapshot;
pub mod socks;
#[cfg(target_os = "linux")]
pub mod strace;
pub mod tar;
pub mod testdata;
pub mod tools;
pub mod zip;

pub use forge::{Endpoint, Fault, Forge};
pub use git::{GitRepo, GitServer, SshServer};
pub use machine::Machine;
pub use mount::Mount;
pub use nginx::Nginx;
pub use numbers::Numbers;
pub use outcome::{failed, fields};
pub use sandbox::{Output, Sandbox};
pub use server::{RegistryServer, start_registry};
pub use snapshot::Snapshot;
pub use tools::{find_program, program, skip_without};
pub use zip::Tree;
