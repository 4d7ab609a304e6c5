//! Messages over the standard input and output of a program: one line each.
//!
//! Only the user's manifest says which program it is, so that neither a project nor a lockfile starts one.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::mem;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::message::{Answer, Object, Peer, Transport, answer};
use crate::advice::{Opt, message};
use crate::codes;
use crate::context::Context;
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs;
use crate::http::said;
use crate::interrupt::{self, Rest, Running};
use crate::manifest::{self, Manifest};
use crate::processes::{self, GRACE};
use crate::reporter::{Reporter, Requested};
use crate::settings::{Settings, no_home};
use crate::source::local;
use crate::text::closest;

/// The interval between checks of whether the caller still waits for an answer.
const TICK: Duration = Duration::from_millis(100);
/// The number of pieces that are read ahead.
const PIECES: usize = 4;
/// The largest manifest, in bytes.
const MANIFEST_BYTES: u64 = 16 << 20;
/// The number of bytes of a line that are kept to be shown.
const SHOWN_BYTES: usize = 1 << 10;
/// The code of JSON-RPC for a method that is not known.
const NO_METHOD: i64 = -32601;

/// The way to a server that is a program. It is started by the first request.
pub(super) struct Program {
    name: String,
    settings: Settings,
    reporter: Arc<dyn Reporter>,
    state: Mutex<State>,
}

/// The state of the program.
enum State {
    New,
    Running(Box<Process>),
    /// It ended, or had to be ended.
    Over,
}

/// The program while it runs.
struct Process {
    child: Child,
    /// The input of the program, written by a thread of its own: a program that reads nothing blocks only that.
    input: Option<Sender<Vec<u8>>>,
    output: Option<Receiver<Output>>,
    /// The lines that were read and not looked at, and the start of the next one.
    lines: VecDeque<Vec<u8>>,
    part: Vec<u8>,
    /// The last line on its standard error, and the start of the next one.
    said: Option<String>,
    said_part: Vec<u8>,
    /// A line on its standard output that is not a message of the protocol.
    stray: Option<String>,
    /// Ends it if a signal ends this process.
    rest: Option<Rest>,
}

/// The output of a program.
enum Output {
    Out(Vec<u8>),
    /// The end of its standard output.
    End,
    Err(Vec<u8>),
}

impl Program {
    /// Returns the way to the program called `name`. Nothing is started or read yet.
    pub(super) fn new(context: &Context, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            settings: context.settings.clone(),
            reporter: Arc::clone(&context.reporter),
            state: Mutex::new(State::New),
        }
    }

    /// Returns the path of the user's manifest, and the program and its arguments there.
    fn command(&self) -> Result<(PathBuf, Vec<String>)> {
        let dir = self.settings.dirs.config.as_ref();
        let path = dir
            .ok_or_else(|| no_home("the user's manifest", Some(crate::env::XDG_CONFIG_HOME)))?
            .join(manifest::FILE_NAME);
        let text = fs::read_text(&path, MANIFEST_BYTES)?.unwrap_or_default();
        let manifest = Manifest::parse(&text).map_err(|error| {
            let place = FilePosition::new(&path, error.line, error.column);
            let told = Error::at(ErrorKind::Config, place, error.message);
            match error.hint {
                Some(hint) => told.hint(hint),
                None => told,
            }
        })?;
        let programs = manifest.programs();
        if let Some(command) = programs.get(&self.name) {
            let command = command.map(ToOwned::to_owned).collect();
            return Ok((path, command));
        }
        let error = Error::config(format!("no program is configured for `mcp:{}`", self.name))
            .coded(codes::MCP_NOT_CONFIGURED);
        let error = match closest(&self.name, programs.names()) {
            Some(close) => error.hint(format!("did you mean `mcp:{close}`?")),
            None => error,
        };
        Err(error.hint(format!(
            "add to `{}`: `[mcp.{}]`, and in the next line `command = [\"PROGRAM\", \"ARGUMENT\"]`",
            path.display(),
            self.name
        )))
    }

    fn start(&self) -> Result<Process> {
        if self.settings.offline {
            let told = message!(
                format_args!("`mcp:{}` is a program, which is not started since ", self.name),
                Opt::Offline,
                " forbids the network"
            );
            return Err(Error::network(told).coded(codes::OFFLINE).hint(message!(
                "run it again without ",
                Opt::Offline,
                ", and with `SKILLPM_OFFLINE` unset"
            )));
        }
        let (manifest, words) = self.command()?;
        let home =
            self.settings.home.clone().ok_or_else(|| no_home("the programs of the user's manifest", None))?;
        let (program, args) = words.split_first().map_or(("", [].as_slice()), |(one, rest)| (one, rest));
        let path = if program.contains('/') {
            local::expand(&self.settings, &home, program)?
        } else {
            PathBuf::from(program)
        };
        #[expect(clippy::disallowed_methods, reason = "this is the one place that starts MCP servers")]
        let mut command = Command::new(path);
        // Not in the working directory: what a program finds there may be a stranger's.
        command.args(args).current_dir(home).env_clear().envs(&self.settings.env.vars);
        command.env("PATH", self.settings.env.program_path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        processes::lead_group(&mut command);
        let child = command.spawn().map_err(|error| self.not_started(program, &manifest, error))?;
        Ok(Process::new(child))
    }

    fn not_started(&self, program: &str, manifest: &Path, error: io::Error) -> Error {
        let hint = format!("check `command` under `[mcp.{}]` in `{}`", self.name, manifest.display());
        let told = if error.kind() == io::ErrorKind::NotFound {
            Error::config(format!("the program `{program}` of `mcp:{}` was not found", self.name))
        } else {
            Error::config(format!("the program `{program}` of `mcp:{}` cannot be started", self.name))
                .because(error)
        };
        told.coded(codes::MCP_NO_SERVER).hint(hint)
    }

    /// Sends `message` and waits for the answer, of at most `limit` bytes.
    fn converse(&self, process: &mut Process, message: &Value, limit: u64) -> Result<Answer> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let typed = format!("mcp:{}", self.name);
        process.send(message);
        let timeout = self.settings.http.timeout;
        let (mut bytes, mut last) = (0_u64, Instant::now());
        loop {
            while let Some(line) = process.lines.pop_front() {
                if let Some(reply) = answer(message.get("id"), &line) {
                    return Ok(Answer { reply, session: None });
                }
                process.take_other(&line);
            }
            match process.next(TICK) {
                Ok(Output::Out(piece)) => {
                    last = Instant::now();
                    bytes = bytes.saturating_add(piece.len() as u64);
                    if bytes > limit {
                        let told =
                            format!("the answer of `{typed}` to `{method}` has more than {limit} bytes");
                        return Err(Error::network(told).coded(codes::TOO_LARGE));
                    }
                    process.take(&piece);
                }
                Ok(Output::Err(piece)) => self.hear(process, &piece),
                Ok(Output::End) | Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.ended(process, method));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !timeout.is_zero() && last.elapsed() > timeout {
                let told =
                    format!("`{typed}` did not answer `{method}` within {} seconds", timeout.as_secs());
                return Err(Error::network(format!("{told}{}", process.words()))
                    .coded(codes::REQUEST_TIMEOUT)
                    .hint(self.check_command())
                    .hint("if it needs longer, set `SKILLPM_HTTP_TIMEOUT` to more seconds"));
            }
            if interrupt::asked() || self.reporter.is_stopped() {
                return Err(Error::network(format!("the request of `{typed}` was stopped")));
            }
        }
    }

    /// Takes a piece of the standard error, and passes its lines on to anyone who wants to know all.
    fn hear(&self, process: &mut Process, piece: &[u8]) {
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            let room = SHOWN_BYTES.saturating_sub(process.said_part.len());
            process.said_part.extend_from_slice(&line[..line.len().min(room)]);
            if line.ends_with(b"\n") {
                process.finish_said();
                if let Some(text) = &process.said {
                    self.reporter.detail(&format!("mcp:{}: {text}", self.name));
                }
            }
        }
    }

    /// Returns the error for a program that ended, or closed its output, without an answer to `method`.
    fn ended(&self, process: &mut Process, method: &str) -> Error {
        let until = Instant::now() + GRACE;
        // Earlier output may still be on the way.
        while let Ok(output) = process.next(until.saturating_duration_since(Instant::now())) {
            if let Output::Err(piece) = output {
                self.hear(process, &piece);
            }
        }
        process.finish_said();
        let how = match processes::ended(&mut process.child, GRACE) {
            Some(status) => format!("ended ({status})"),
            None => "closed its output".to_owned(),
        };
        let words = process.words();
        Error::network(format!(
            "the program of `mcp:{}` {how} without an answer to `{method}`{words}",
            self.name
        ))
        .coded(codes::MCP_ENDED)
        .hint(self.check_command())
    }

    fn check_command(&self) -> String {
        format!("check that `command` under `[mcp.{}]` in your own manifest starts an MCP server", self.name)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each state is whole, even after a panic of another thread.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Program {
    fn ask(&self, _: Option<&Peer>, message: &Value, limit: u64) -> Result<Answer> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let mut state = self.state();
        let _running = Running::begin();
        let began = Instant::now();
        // An ended session is never restarted silently.
        let is_first = matches!(*state, State::New) || method == "initialize";
        if is_first && !matches!(*state, State::Running(_)) {
            *state = State::Running(Box::new(self.start()?));
        }
        let result = match &mut *state {
            State::Running(process) => self.converse(process, message, limit),
            State::New | State::Over => {
                Err(Error::network(format!("the program of `mcp:{}` ended", self.name))
                    .coded(codes::MCP_ENDED))
            }
        };
        if result.is_err() {
            *state = State::Over;
        }
        let outcome = if result.is_ok() { "done" } else { "failed" };
        let (address, took) = (format!("mcp:{}", self.name), Some(began.elapsed()));
        self.reporter.requested(&Requested { method, address: &address, outcome, took });
        result
    }

    fn notify(&self, _: &Peer, message: &Value) {
        if let State::Running(process) = &*self.state() {
            process.send(message);
        }
    }

    fn shown(&self, text: &str) -> Option<String> {
        said(text, None)
    }
}

impl Process {
    fn new(mut child: Child) -> Self {
        let (input, messages) = channel::<Vec<u8>>();
        if let Some(mut stdin) = child.stdin.take() {
            thread::spawn(move || {
                // A program that closed its input has no answer either, which is seen at its output.
                while messages.recv().is_ok_and(|message| stdin.write_all(&message).is_ok()) {}
            });
        }
        let (sender, output) = sync_channel(PIECES);
        if let Some(stderr) = child.stderr.take() {
            let sender = sender.clone();
            thread::spawn(move || {
                processes::pass_on(stderr, |piece| sender.send(Output::Err(piece)).is_ok());
            });
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                processes::pass_on(stdout, |piece| sender.send(Output::Out(piece)).is_ok());
                // A receiver that is gone does not need to know.
                let _ = sender.send(Output::End);
            });
        }
        let rest = Some(interrupt::on_stop(processes::killer(&child)));
        Self {
            child,
            input: Some(input),
            output: Some(output),
            lines: VecDeque::new(),
            part: Vec::new(),
            said: None,
            said_part: Vec::new(),
            stray: None,
            rest,
        }
    }

    fn send(&self, message: &Value) {
        if let Some(input) = &self.input {
            // If the program takes nothing any more, its output has ended or nothing comes.
            let _ = input.send(format!("{message}\n").into_bytes());
        }
    }

    fn next(&self, limit: Duration) -> Result<Output, RecvTimeoutError> {
        self.output.as_ref().ok_or(RecvTimeoutError::Disconnected)?.recv_timeout(limit)
    }

    /// Takes a piece of the standard output apart into lines.
    fn take(&mut self, piece: &[u8]) {
        for line in piece.split_inclusive(|byte| *byte == b'\n') {
            self.part.extend_from_slice(line);
            if line.ends_with(b"\n") {
                let line = mem::take(&mut self.part);
                if !line.trim_ascii().is_empty() {
                    self.lines.push_back(line);
                }
            }
        }
    }

    /// Takes a line that is not the answer that is waited for. A request of the server gets an answer, since the server
    /// may wait for it.
    fn take_other(&mut self, line: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Object>(line) else {
            let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES)]).into_owned();
            self.stray = said(text.trim(), None);
            return;
        };
        let (Some(id), Some(method)) = (message.get("id"), message.get("method")) else { return };
        let mut reply = json!({"jsonrpc": "2.0", "id": id});
        if method == "ping" {
            reply["result"] = json!({});
        } else {
            reply["error"] = json!({"code": NO_METHOD, "message": "the client takes no such request"});
        }
        self.send(&reply);
    }

    fn finish_said(&mut self) {
        let text = String::from_utf8_lossy(&mem::take(&mut self.said_part)).into_owned();
        if !text.trim().is_empty() {
            self.said = said(text.trim(), None);
        }
    }

    /// Returns what it wrote that may be the reason why it does not answer, as the end of a sentence.
    fn words(&self) -> String {
        let said = self.said.iter().map(|said| format!("; its last words are `{said}`"));
        let stray =
            self.stray.iter().map(|stray| format!("; it wrote `{stray}`, which is not a message of MCP"));
        said.chain(stray).collect()
    }
}

/// Closes the input, which tells a server to end, and ends it with all processes that it started.
impl Drop for Process {
    fn drop(&mut self) {
        let _running = Running::begin();
        self.rest = None;
        self.input = None;
        self.output = None;
        let _ = processes::ended(&mut self.child, GRACE);
        processes::end(&mut self.child);
    }
}
