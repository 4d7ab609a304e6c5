#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| skillpm_fuzz::script(bytes));
