//! End-to-end tests that take seconds each: faults at every call of the system, damage to every file, mutated
//! inputs, and the npm tool itself. They are a binary of their own, so that `cargo test --test it` stays quick.

#![expect(
    clippy::disallowed_methods,
    reason = "tests arrange files and start the program; the rooms of `src` are not theirs"
)]
#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test that skips itself says so, and one that counts tells its counts"
)]
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "what helps a test may panic as the test itself may"
)]

#[path = "../it/support/mod.rs"]
pub mod support;

mod damage;
#[cfg(unix)]
mod foreign;
mod fuzz_smoke;
mod inject;
mod interop;
mod kill;
mod listings;
mod registry;
mod sessions;
mod user_bytes;
mod write_order;
