//! The `skillpm` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    skillpm::cli::main()
}
