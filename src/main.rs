//! The `skillpm` program.

fn main() {}
