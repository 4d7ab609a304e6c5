//! Installing: who gets what, where, and how it is put there.

pub mod agents;
