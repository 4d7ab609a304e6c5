//! What skills depend on, and what follows from it. Nothing here reads or writes.

pub mod declared;
pub mod graph;
