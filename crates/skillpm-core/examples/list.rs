//! Lists the skills that are installed here: `cargo run -p skillpm-core --example list`.
#![expect(clippy::print_stdout, reason = "an example is a program")]

use skillpm_core::ops::list::{ListRequest, list};
use skillpm_sources::context::Context;
use skillpm_sources::env::Env;
use skillpm_sources::settings::Settings;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::silent(Settings::from_env(Env::from_process()?)?);
    for skill in list(&context, &ListRequest::default())?.skills {
        println!("{} {}", skill.name, skill.version.unwrap_or_default());
    }
    Ok(())
}
