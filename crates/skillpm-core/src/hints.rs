//! Hints of several verbs on the next step. A hint is made from values, and each front end words it in its own way.

mod around;
mod asked;
#[cfg(feature = "create")]
mod created;
mod installed;
pub(crate) mod list;
mod looked;
mod shared;
mod written;

pub use self::asked::{
    installed_elsewhere, name_a_client, name_what_changes, name_what_goes, pass_token, set_up_client,
};
#[cfg(feature = "create")]
pub use self::created::use_template;
pub use self::installed::restore;
pub use self::shared::{first_install, show_unseen};
pub use self::written::{explain, installed, name_real, switch_off, update_file};
