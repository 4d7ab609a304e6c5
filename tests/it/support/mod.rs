//! What the tests stand on: a GitHub made of this process, archives, and a machine to install on.

#![allow(dead_code, reason = "tools for all tests, of which each file uses some")]

pub mod forge;
pub mod proxy;
pub mod sandbox;
pub mod zip;

pub use forge::{Endpoint, Fault, Forge};
pub use sandbox::Sandbox;
pub use zip::Tree;
