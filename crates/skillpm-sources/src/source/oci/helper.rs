//! The programs that keep docker's and podman's passwords: `docker-credential-NAME get`.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::env::Env;
use crate::interrupt::Running;
use crate::processes;

/// The time that a helper has: it may ask the user to unlock a keychain.
const DEADLINE: Duration = Duration::from_mins(1);
/// The largest answer that is read, in bytes.
const ANSWER_BYTES: u64 = 256 * 1024;
/// The message of helpers without a credential.
const NOT_FOUND: &str = "credentials not found";

/// The answer of a helper.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Answer {
    pub(super) username: String,
    pub(super) secret: String,
}

/// Asks the helper `name` for the login of `registry`. Returns `None` if it has none.
pub(super) fn ask(env: &Env, name: &str, registry: &str) -> Result<Option<Answer>, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return Err("a credential helper has a name that no program has".to_owned());
    }
    let program = format!("docker-credential-{name}");
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts credential helpers")]
    let mut command = Command::new(&program);
    command.arg("get").env_clear().envs(&env.vars).env("PATH", env.program_path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let _running = Running::begin();
    let child = command.spawn().map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let (output, status) = processes::talk(child, format!("{registry}\n").into(), ANSWER_BYTES, DEADLINE)
        .map_err(|error| format!("`{program}` failed: {error}"))?;
    let output = output.ok_or_else(|| format!("`{program}` did not answer in time"))?;
    match serde_json::from_slice::<Answer>(&output) {
        Ok(answer) if !answer.secret.is_empty() => Ok(Some(answer)),
        Ok(_) => Ok(None),
        Err(_) if String::from_utf8_lossy(&output).contains(NOT_FOUND) => Ok(None),
        Err(_) if status.success() => Err(format!("`{program}` gave no answer that can be read")),
        Err(_) => Err(format!("`{program}` failed ({status})")),
    }
}
