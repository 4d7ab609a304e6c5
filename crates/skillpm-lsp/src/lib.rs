//! The language server of skillpm: what `validate` finds in a `SKILL.md` while it is written, with its repairs, what a rule
//! or a field is, and what can be written at a place.
//!
//! It knows nothing itself: `skillpm-format` says what an editor shows at a place, and `ops::validate` of `skillpm-core`
//! what is wrong. The protocol's types are those of `lsp-types`. Its frames are read here, in `frames`: the usual libraries
//! believe any length that a frame states, or bring a runtime for concurrent tasks, which a server of one client does not need.

mod frames;
mod lines;
mod places;
mod server;
mod shown;

use std::io::{self, BufRead, ErrorKind, Write};

use skillpm_sources::context::Context;

/// Serves an editor on standard input and output until it says `exit`, and returns the exit code.
///
/// # Errors
///
/// As [`serve`].
pub fn serve_stdio(context: Context) -> io::Result<u8> {
    serve(context, io::stdin().lock(), io::stdout().lock())
}

/// Serves an editor until it says `exit` or its end of the connection is closed, and returns the exit code: 0 if it asked
/// for the end before, as the protocol says, otherwise 1.
///
/// # Errors
///
/// Fails if the connection breaks, or if a frame is malformed: the start of the next one is then unknown.
pub fn serve(context: Context, mut input: impl BufRead, mut output: impl Write) -> io::Result<u8> {
    let mut server = server::Server::new(context);
    while let Some(message) = frames::read(&mut input)? {
        let is_over = server.handle(message);
        for answer in server.answers() {
            match frames::write(&mut output, &answer) {
                // The editor is gone.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(server.exit_code()),
                written => written?,
            }
        }
        if is_over {
            break;
        }
    }
    Ok(server.exit_code())
}
