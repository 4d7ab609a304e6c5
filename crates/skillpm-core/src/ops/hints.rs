//! What several verbs advise to do next. A hint is made from values, and each front end words it in its own way.

mod around;
#[cfg(feature = "create")]
mod created;
mod installed;
mod looked;
mod shared;
mod written;

#[cfg(feature = "create")]
pub use self::created::use_template;
pub use self::installed::restore;
pub use self::shared::{first_install, show_unseen};
pub use self::written::{explain, installed};
