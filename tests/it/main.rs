//! End-to-end tests: the built program and the library against real files, archives and a local
//! server.

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

pub mod support;

mod architecture;
mod ci;
mod create;
mod disk;
mod faults;
mod fmt;
mod fuzz_smoke;
mod github;
mod http;
mod install;
mod kill;
mod loading;
mod merge;
mod prompt;
mod real;
mod refusals;
mod review;
mod together;
mod validate;
