//! The program `skillpm-registry`.

use std::process::ExitCode;

fn main() -> ExitCode {
    skillpm_registry::command::main()
}
