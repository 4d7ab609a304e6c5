//! Random numbers.

use std::fmt::Write as _;

use ring::rand::SecureRandom as _;

use crate::error::{Error, Result};

/// Returns `bytes` unpredictable random bytes, in hexadecimal.
pub(crate) fn random_hex(bytes: usize) -> Result<String> {
    let mut random = vec![0; bytes];
    let filled = ring::rand::SystemRandom::new().fill(&mut random);
    filled.map_err(|_| Error::io("the system has no random numbers"))?;
    let mut text = String::with_capacity(2 * bytes);
    for byte in random {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
