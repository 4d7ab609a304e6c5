//! Trust: the directories that this user trusts, and the log of what ran.
//!
//! Both are in the user's state directory, where no project can write.

pub mod audit;
mod directories;

pub use audit::AuditLog;
pub use directories::{Standing, TrustedDir, TrustedDirs};
pub(crate) use directories::{exposed, exposed_file};
