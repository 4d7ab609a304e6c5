//! The MCP server of skillpm: it gives clients of the Model Context Protocol the skills that are installed.
//!
//! An [`Offer`] decides which skills are served and under which addresses. Clients that know the skills extension
//! (SEP-2640) get them as the extension says; all others get tools and prompts. Only `protocol` knows the library
//! that speaks the protocol: everything else returns values of this crate.

mod addresses;
mod entry;
mod instructions;
mod offer;
mod prompts;
mod protocol;
mod settled;
#[cfg(test)]
mod tests;
mod uri;

pub use offer::Offer;
pub use protocol::{ServeError, serve_http, serve_stdio};
