//! `skillpm-registry`, which serves a registry of its own.

use std::path::{Path, PathBuf};

pub use skillpm_testing::server::RegistryServer;

/// Starts a server of a new registry with these settings. It knows the address that it is reached at.
pub fn start_registry(settings: &str) -> RegistryServer {
    let address = format!("127.0.0.1:{}", skillpm_testing::server::free_port());
    let settings = format!("listen = \"{address}\"\npublic-url = \"http://{address}\"\n{settings}");
    RegistryServer::start(&registry_program(), &settings)
}

/// The program of the server, which is built beside `skillpm`.
pub fn registry_program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_skillpm"))
        .with_file_name(format!("skillpm-registry{}", std::env::consts::EXE_SUFFIX))
}
