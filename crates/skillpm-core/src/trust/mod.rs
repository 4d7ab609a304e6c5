//! Trust: which directories this user trusts, and what was written down of what ran.
//!
//! Both are in the directory of the user's state, where no project can put anything.

pub mod audit;
mod directories;

pub use audit::AuditLog;
pub use directories::{Standing, TrustedDir, TrustedDirs};
pub(crate) use directories::{exposed, exposed_file};
