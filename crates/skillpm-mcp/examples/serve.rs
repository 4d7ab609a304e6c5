//! Serves the skills that are installed here over standard input and output: `cargo run -p skillpm-mcp --example serve`.
#![expect(clippy::print_stderr, reason = "an example is a program")]

use std::collections::BTreeMap;

use skillpm_core::session::{Session, SessionOptions};
use skillpm_format::admission::Scripts;
use skillpm_format::advice::CommandLine;
use skillpm_mcp::{Offer, Selection, serve_stdio};
use skillpm_sources::context::Context;
use skillpm_sources::env::Env;
use skillpm_sources::settings::Settings;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::silent(Settings::from_env(Env::from_process()?)?);
    let session = Session::new(context, SessionOptions::of_person())?;
    let selection = Selection {
        names: Vec::new(),
        tags: Vec::new(),
        no_tools: false,
        scripts: Scripts::Deny,
        no_network: true,
        timeout: None,
        interpreters: BTreeMap::new(),
    };
    let offer = Offer::new(session, selection, &CommandLine, |warning| eprintln!("{warning}"));
    Ok(serve_stdio(offer)?)
}
