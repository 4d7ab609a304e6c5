//! The server of a registry of skills.
//!
//! A registry is files, as [`skillpm_sources::registry`] describes them, in a directory or a bucket. The server adds what
//! files cannot do: people publish over HTTP with tokens, skills have owners and may be private, and other programs find
//! the protocols that they know. It keeps no state but the files: any number of servers can be at work on one bucket.
//!
//! A request goes through `web`, which knows HTTP, to `app::App`, which decides, and from there to `storage`, which
//! makes it so. `catalog` is what the server knows, `access` who may do what, `pages` what people see in a browser.

mod access;
mod app;
mod catalog;
pub mod command;
mod config;
mod error;
mod hints;
mod log;
mod pages;
mod random;
mod storage;
#[cfg(test)]
mod testing;
mod web;

use skillpm_format::{codes, digest, interop, name, version};
use skillpm_sources::registry;

/// Makes `ring` what all HTTP clients of the process encrypt with.
fn encrypt_with_ring() {
    // Only fails if something was chosen already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
