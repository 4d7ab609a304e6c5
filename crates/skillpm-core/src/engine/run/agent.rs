//! Starts a program that answers, such as an agent with a request, and waits for what it prints.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::fs::anonymous_temp_file;
use crate::interrupt::{self, Running};
use skillpm_sources::processes;

/// The number of bytes of its output that are read.
const MAX_OUTPUT: u64 = 64 << 20;
/// The number of bytes of its error output that are read.
const MAX_ERRORS: u64 = 16 << 10;

/// How long a signal waits that asks this program to end.
const TICK: Duration = Duration::from_millis(200);

/// What such a program printed.
#[derive(Debug)]
pub struct Answer {
    /// Its standard output.
    pub output: Vec<u8>,
    /// The start of its error output.
    pub errors: Vec<u8>,
    /// How it ended; `None` if it took too long and was ended.
    pub status: Option<ExitStatus>,
    /// How long it took.
    pub duration: Duration,
}

/// Starts the program `words` in the directory `dir`, and waits at most `limit` for its end.
///
/// # Errors
///
/// Fails if it cannot be started, and if the user wants to stop.
pub fn ask(words: &[String], dir: &Path, limit: Duration) -> Result<Answer> {
    let [program, args @ ..] = words else { return Err(Error::usage("the command names no program")) };
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts agents")]
    let mut command = Command::new(program);
    command.args(args).current_dir(dir);
    answer(command, limit, &mut || false)
}

/// Starts `command` without input, and waits at most `limit` for its end. `is_stopped` reports whether to end it now.
///
/// # Errors
///
/// Fails if it cannot be started, and if the user wants to stop.
pub(super) fn answer(
    mut command: Command,
    limit: Duration,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<Answer> {
    let (output, errors) = (anonymous_temp_file()?, anonymous_temp_file()?);
    let handle = |file: &File| file.try_clone().map(Stdio::from).map_err(not_kept);
    command.stdin(Stdio::null()).stdout(handle(&output)?).stderr(handle(&errors)?);
    processes::lead_group(&mut command);
    let running = Running::begin();
    let began = Instant::now();
    let mut child = command.spawn().map_err(|error| {
        Error::usage(format!("`{}` cannot be started", command.get_program().display()))
            .because(error)
            .hint("check that it is installed")
    })?;
    let (mut status, mut stopped) = (None, false);
    while status.is_none() && began.elapsed() < limit && !stopped {
        status = processes::ended(&mut child, TICK.min(limit.saturating_sub(began.elapsed())));
        stopped = interrupt::asked() || is_stopped();
    }
    // Nothing that it started stays.
    processes::end(&mut child);
    drop(running);
    if stopped {
        return Err((&interrupt::Outcome::Unchanged).into());
    }
    let duration = began.elapsed();
    Ok(Answer { output: read(output, MAX_OUTPUT)?, errors: read(errors, MAX_ERRORS)?, status, duration })
}

fn read(mut file: File, limit: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.take(limit).read_to_end(&mut bytes)).map_err(not_kept)?;
    Ok(bytes)
}

fn not_kept(error: io::Error) -> Error {
    Error::io("failed to keep a program's output").because(error)
}
