//! Programs that tests run for real.

pub use skillpm_testing::tools::{find_program, program, skip_without};
