//! `registry`: a static registry as files, which any web host can serve, and what a server adds to it.

#[cfg(feature = "http")]
mod access;
mod add;
mod index;
mod init;
mod list;
#[cfg(feature = "http")]
mod login;
pub mod mirror;
pub(super) mod opened;
mod place;
#[cfg(feature = "http")]
pub(super) mod server;
mod verify;
mod yank;

#[cfg(feature = "http")]
pub use access::{AccessChange, AccessOutcome, AccessRequest, AccessWorkflow, access};
pub use add::{AddOutcome, AddRequest, AddedVersion, add, check_package};
pub use index::{IndexOutcome, IndexRequest, index};
pub use init::{InitOutcome, InitRequest, init};
pub use list::{ListOutcome, ListRequest, ListedSkill, ListedVersion, list};
#[cfg(feature = "http")]
pub use login::{
    KeptLogin, LoginOutcome, LoginRequest, LoginsOutcome, LogoutOutcome, login, login_address, logins, logout,
};
pub use verify::{VerifyOutcome, VerifyRequest, verify};
pub use yank::{UnyankRequest, YankOutcome, YankRequest, YankedVersion, unyank, yank};
