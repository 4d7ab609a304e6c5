//! How the program is linked.

use std::path::Path;
use std::process::Command;

/// Where the compiler has the unwinder as an archive, the program asks the system for no `libgcc_s`.
#[test]
fn the_unwinder_is_in_the_program() {
    let answer = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    let has_archive =
        answer.is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_file());
    if !cfg!(all(target_os = "linux", target_env = "gnu")) || !has_archive {
        return eprintln!(
            "the compiler has no archive of the unwinder: how the program is linked is not tested"
        );
    }
    let program = std::fs::read(env!("CARGO_BIN_EXE_skillpm")).expect("the program");
    assert!(memchr::memmem::find(&program, b"libgcc_s.so").is_none());
}
