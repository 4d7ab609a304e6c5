//! The programs that keep docker's and podman's passwords: `docker-credential-NAME get`.

use std::io::{Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde::Deserialize;

use crate::env::Env;
use crate::interrupt::Running;

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
    let mut child = command.spawn().map_err(|error| format!("`{program}` cannot be started: {error}"))?;
    let output = talk(&mut child, registry);
    // It has ended, or has to.
    let _ = child.kill();
    let status = child.wait().map_err(|error| format!("`{program}` failed: {error}"))?;
    let output = output.ok_or_else(|| format!("`{program}` did not answer in time"))?;
    match serde_json::from_slice::<Answer>(&output) {
        Ok(answer) if !answer.secret.is_empty() => Ok(Some(answer)),
        Ok(_) => Ok(None),
        Err(_) if String::from_utf8_lossy(&output).contains(NOT_FOUND) => Ok(None),
        Err(_) if status.success() => Err(format!("`{program}` gave no answer that can be read")),
        Err(_) => Err(format!("`{program}` failed ({status})")),
    }
}

/// Sends `registry` to a program and returns what it answers until it closes its output; `None` if that takes too long.
fn talk(child: &mut Child, registry: &str) -> Option<Vec<u8>> {
    let (mut input, output) = (child.stdin.take()?, child.stdout.take()?);
    let registry = format!("{registry}\n");
    let (sender, answer) = channel();
    // The reader ends at the latest with the program.
    thread::spawn(move || {
        // A program that does not read its input may answer nevertheless.
        let _ = input.write_all(registry.as_bytes());
        drop(input);
        let mut bytes = Vec::new();
        // The part before an error does not parse.
        let _ = output.take(ANSWER_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    answer.recv_timeout(DEADLINE).ok()
}
