//! Random numbers.

use ring::rand::SecureRandom as _;

use crate::error::{Error, Result};

/// Fills `bytes` with random numbers that nobody can guess.
pub(crate) fn randomize(bytes: &mut [u8]) -> Result<()> {
    ring::rand::SystemRandom::new().fill(bytes).map_err(|_| Error::io("the system has no random numbers"))
}
