//! Programs that are started: how their output is read, and how they and all that they start end.

use std::io::{self, ErrorKind, Read, Write as _};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

/// The longest pause between two checks of a program that should end.
const TICK: Duration = Duration::from_millis(100);
/// The time that a program has to end after it was asked to.
pub const GRACE: Duration = Duration::from_secs(2);

/// The number of bytes that are read from a program at once.
const PIECE: usize = 64 << 10;

/// Reads pieces from `from` and hands each to `take`, until the end of `from` or until `take` returns `false`.
pub fn pass_on(mut from: impl Read, mut take: impl FnMut(Vec<u8>) -> bool) {
    let mut buffer = vec![0; PIECE];
    loop {
        match from.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(count) if count > 0 => {
                if !take(buffer[..count].to_vec()) {
                    return;
                }
            }
            _ => return,
        }
    }
}

/// Has `command` start a process group: the program may start others, and all of them have to end with it.
pub fn lead_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Sends `input` to a program whose standard input and output are pipes, and ends it. Returns what it answered until it
/// closed its output, at most `limit` bytes, or `None` if that took longer than `deadline`; and how it ended.
///
/// # Errors
///
/// Fails if its end cannot be waited for.
pub fn talk(
    mut child: Child,
    input: Vec<u8>,
    limit: u64,
    deadline: Duration,
) -> io::Result<(Option<Vec<u8>>, ExitStatus)> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (sender, answer) = channel();
    // This thread ends at the latest with the program.
    thread::spawn(move || {
        // A program that does not read its input may answer nevertheless.
        let _ = stdin.map(|mut stdin| stdin.write_all(&input));
        let mut bytes = Vec::new();
        // What was read before an error is the answer.
        let _ = stdout.map(|stdout| stdout.take(limit).read_to_end(&mut bytes));
        let _ = sender.send(bytes);
    });
    let bytes = answer.recv_timeout(deadline).ok();
    // It has ended, or has to.
    let _ = child.kill();
    Ok((bytes, child.wait()?))
}

/// Waits at most `limit` for the end of `child`.
pub fn ended(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(100);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            _ if start.elapsed() > limit => return None,
            _ => thread::sleep(pause),
        }
        pause = (pause * 2).min(TICK);
    }
}

/// Returns what ends `child` and all programs that it started by force. It is for a `child` that runs, or was not waited
/// for.
pub(crate) fn killer(child: &Child) -> impl Fn() + Send + use<> {
    #[cfg(unix)]
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    #[cfg(not(unix))]
    let _ = child;
    move || {
        #[cfg(unix)]
        if let Some(group) = group {
            // If this fails, no process is left.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Ends `child` and all programs that it started: first by a signal, so that it can remove its half-written
/// files, then by force.
pub fn end(child: &mut Child) {
    let kill = killer(child);
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // If this fails, no process is left.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        let _ = ended(child, GRACE);
    }
    kill();
    let _ = child.kill();
    let _ = child.wait();
}
