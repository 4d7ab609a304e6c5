//! The program `skillpm`: the command line in front of [`skillpm_core`].

pub mod cli;

// Names that the two modules below use as if they were of this crate.
#[cfg(test)]
use skillpm_format::{path, refusal, tree};

/// Trees and skills in memory, as the tests of the format make them.
#[cfg(test)]
#[path = "../crates/skillpm-format/src/testing.rs"]
#[expect(dead_code, reason = "the tests of other crates need more of it")]
mod testing;

/// Returns the context of a command in the directory `dir`, which is a project and the home directory too.
#[cfg(test)]
fn context_in(dir: &std::path::Path) -> skillpm_sources::context::Context {
    use skillpm_sources::{context::Context, env::Env, settings::Settings};

    let vars = [("HOME".into(), dir.into())].into();
    let env = Env { cwd: dir.to_owned(), vars, ..Env::default() };
    Context::silent(Settings::from_env(env).expect("settings"))
}
