//! What the tests stand on: a GitHub made of this process, archives, and a machine to install on.

pub mod forge;
pub mod mount;
pub mod numbers;
pub mod proxy;
pub mod sandbox;
pub mod testdata;
pub mod zip;

pub use forge::{Endpoint, Fault, Forge};
pub use mount::Mount;
pub use numbers::Numbers;
pub use sandbox::Sandbox;
pub use zip::Tree;
