//! `run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::args::{InterpreterArgs, LoadingArgs};
use crate::cli::help::after;
use crate::cli::printer::Printer;
use crate::cli::{App, exit, render};
use skillpm_core::engine::run::{Ended, Limits, Mode, Options, Stdin, Stream, Watch};
use skillpm_core::ops::run::{RunLocation, RunRequest, script_missing};
use skillpm_format::advice::Warning;
use skillpm_sources::context::Context;
use skillpm_sources::error::{Error, Result};

pub(super) const EXAMPLES: &str = after!("run",
    "skillpm run pdf fill_form in.pdf out.pdf          `scripts/fill_form.py` with two arguments"
    "skillpm run --stdin pdf fill_form < form.json     it reads the form"
    "skillpm run --no-network --timeout 5 pdf check    without a network, for five seconds at most"
    "skillpm run --python .venv/bin/python pdf check   with the packages of the project's environment"
);

/// The default of `--timeout`, in seconds.
static TIMEOUT: LazyLock<String> = LazyLock::new(|| Limits::default().timeout.as_secs().to_string());

// Arguments of `run`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct RunArgs {
    /// the skill, by its name or as `./directory`, its script, and the script's arguments
    ///
    /// all that follows the script is the script's, also what starts with `-`
    // One list, so that clap reads no flag of its own after the names.
    #[arg(value_names = ["NAME", "SCRIPT"], required = true, num_args = 1.., trailing_var_arg = true)]
    words: Vec<OsString>,

    /// where it runs: `skill`, `project` or a directory [default: here]
    #[arg(long, value_name = "WHERE")]
    cwd: Option<PathBuf>,

    /// pass a variable through, or set one; can be repeated
    #[arg(long, value_name = "NAME[=VALUE]")]
    env: Vec<OsString>,

    /// let it read standard input [default: no input]
    #[arg(long)]
    stdin: bool,

    /// how many seconds it may take
    #[arg(long, value_name = "SECONDS", default_value = TIMEOUT.as_str(), value_parser = seconds)]
    #[arg(help_heading = "Limits")]
    timeout: Duration,

    /// how much of its standard output, and of its standard error, is shown; the rest is read and dropped
    #[arg(long, value_name = "SIZE", default_value = "10M", value_parser = bytes)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    max_output: u64,

    /// the memory limit of each of its processes, such as `512M`; at least `1M` [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    memory: Option<u64>,

    /// the size limit for each file it writes
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = bytes)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    file_size: u64,

    /// the limit of processes and threads at once
    #[arg(long, value_name = "COUNT", default_value_t = 256)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    processes: u64,

    /// the CPU time limit of each of its processes, in seconds [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(help_heading = "Limits", hide_short_help = true)]
    cpu_time: Option<Duration>,

    /// Which programs run scripts.
    #[command(flatten)]
    interpreters: InterpreterArgs,

    /// whether it runs in a sandbox: where the system supports it, always or never
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    #[arg(help_heading = "Sandbox")]
    sandbox: SandboxArg,

    /// cut it off from the network and all sockets
    #[arg(long)]
    #[arg(help_heading = "Sandbox")]
    no_network: bool,

    /// let it reach programs of this machine by unix sockets, such as a container engine, the desktop or an agent of keys
    #[arg(long)]
    #[arg(help_heading = "Sandbox", hide_short_help = true)]
    allow_unix_sockets: bool,

    /// let it read a file or directory; can be repeated
    #[arg(long = "read", value_name = "PATH")]
    #[arg(help_heading = "Sandbox")]
    reads: Vec<PathBuf>,

    /// let it read and write a file or directory; can be repeated
    ///
    /// that is in addition to where it runs
    #[arg(long = "write", value_name = "PATH")]
    #[arg(help_heading = "Sandbox")]
    writes: Vec<PathBuf>,

    /// say yes where a policy asks
    #[arg(long)]
    #[arg(hide_short_help = true)]
    allow_scripts: bool,

    /// run it even if the skill's files differ from what is locked
    #[arg(long)]
    #[arg(hide_short_help = true)]
    allow_modified: bool,

    /// Which skills, and how they are loaded.
    #[command(flatten)]
    loading: LoadingArgs,

    /// print the outcome as JSON when it is done
    ///
    /// it has the output of the script
    #[arg(long)]
    json: bool,
}

/// When files are kept from a script.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SandboxArg {
    Auto,
    Require,
    Off,
}

pub(super) fn run(app: &App, args: &RunArgs) -> Result<u8> {
    // Open descriptors of the caller would bypass every sandbox: only the three standard ones are passed on.
    #[cfg(unix)]
    close_fds::set_fds_cloexec(3, &[]);
    let mut watch = Shown { printer: &app.printer, passes: !args.json };
    let outcome = args.loading.session(&app.context)?.run(&request(&app.context, args)?, &mut watch)?;
    app.printer.warnings(&outcome.warnings);
    // The reader of a message about the stop is gone.
    if outcome.ran.ended == Some(Ended::Stopped) && app.printer.is_closed() {
        return Ok(exit::CLOSED_PIPE);
    }
    if args.json {
        render::run::json(&app.printer, &outcome);
    } else {
        render::run::show(&app.printer, &outcome, args.timeout);
    }
    Ok(exit::run(&outcome.ran))
}

/// Shows the output of a script while it arrives.
struct Shown<'a> {
    printer: &'a Printer,
    /// Whether the output is shown as it comes.
    passes: bool,
}

impl Watch for Shown<'_> {
    fn hears(&self) -> bool {
        self.passes
    }

    fn warns(&mut self, warning: &Warning) -> bool {
        self.printer.warnings(std::slice::from_ref(warning));
        true
    }

    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        if self.passes {
            self.printer.pass_on(stream == Stream::Err, bytes);
        }
    }

    fn is_stopped(&mut self) -> bool {
        // The reader of the output is gone.
        self.passes && self.printer.is_closed()
    }
}

fn request(context: &Context, args: &RunArgs) -> Result<RunRequest> {
    let text = |word: &OsString| {
        let word = word.to_str().ok_or_else(|| Error::usage(format!("`{}` is not text", word.display())));
        word.map(ToOwned::to_owned)
    };
    let (skill, script, rest) = match &args.words[..] {
        [skill, script, rest @ ..] => (skill, script, rest),
        [skill] => return Err(script_missing(context, &text(skill)?)),
        [] => return Err(Error::usage("name a skill and one of its scripts")),
    };
    Ok(RunRequest {
        cwd: match &args.cwd {
            None => RunLocation::Here,
            Some(cwd) if cwd.as_os_str() == "skill" => RunLocation::Skill,
            Some(cwd) if cwd.as_os_str() == "project" => RunLocation::Project,
            Some(cwd) => RunLocation::Dir(cwd.clone()),
        },
        env: args.env.clone(),
        options: Options {
            args: rest.to_vec(),
            interpreters: args.interpreters.chosen()?,
            stdin: if args.stdin { Stdin::Inherited } else { Stdin::Closed },
            limits: Limits {
                timeout: args.timeout,
                output: args.max_output,
                processes: args.processes,
                file_size: Some(args.file_size),
                memory: args.memory,
                cpu: args.cpu_time,
                ..Limits::default()
            },
            sandbox: match args.sandbox {
                SandboxArg::Auto => Mode::Auto,
                SandboxArg::Require => Mode::Require,
                SandboxArg::Off => Mode::Off,
            },
            no_network: args.no_network,
            unix_sockets: args.allow_unix_sockets,
            read: args.reads.clone(),
            write: args.writes.clone(),
        },
        allow_scripts: args.allow_scripts,
        allow_modified: args.allow_modified,
        ..RunRequest::new(text(skill)?, text(script)?)
    })
}

/// Parses a duration in seconds.
pub(super) fn seconds(text: &str) -> std::result::Result<Duration, &'static str> {
    const EXPECTED: &str = "expected a number of seconds above 0, such as `30` or `0.5`";
    let seconds: f64 = text.strip_suffix('s').unwrap_or(text).parse().map_err(|_| EXPECTED)?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| EXPECTED)?;
    if duration.is_zero() { Err(EXPECTED) } else { Ok(duration) }
}

/// Parses a size like [`bytes`], at least what a process needs to start.
fn memory(text: &str) -> std::result::Result<u64, String> {
    let bytes = bytes(text)?;
    if bytes >= LEAST_MEMORY {
        return Ok(bytes);
    }
    let unit = if text.bytes().all(|byte| byte.is_ascii_digit()) {
        format!(": `{text}` is a number of bytes, `{text}M` is one of MiB")
    } else {
        String::new()
    };
    Err(format!("no process starts with so little, and `1M` is the least{unit}"))
}

/// The smallest memory limit of a process, in bytes.
const LEAST_MEMORY: u64 = 1 << 20;

fn bytes(text: &str) -> std::result::Result<u64, &'static str> {
    const EXPECTED: &str = "expected a number of bytes, such as `500000`, `64K`, `512M` or `2G`";
    let (number, shift) = match text.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 = number.parse().map_err(|_| EXPECTED)?;
    number.checked_mul(1 << shift).ok_or(EXPECTED)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::commands::Command;

    fn parse(line: &str) -> Option<RunRequest> {
        match Cli::try_parse_from(line.split(' ')).ok()?.command {
            Command::Run(args) => {
                let dir = tempfile::tempdir().expect("a directory");
                request(&crate::context_in(dir.path()), &args).ok()
            }
            command => panic!("{command:?}"),
        }
    }

    #[test]
    fn all_that_follows_the_script_is_its_own() {
        let asked = parse("skillpm run --sandbox off pdf fill --help -q -- --json").expect("parses");
        assert_eq!((asked.skill.as_str(), asked.script.as_str()), ("pdf", "fill"));
        assert_eq!(asked.options.args, ["--help", "-q", "--", "--json"]);
        assert_eq!(asked.options.sandbox, Mode::Off);
        for wrong in [
            "skillpm run",
            "skillpm run pdf",
            "skillpm run --timeout 0 pdf x",
            "skillpm run --memory 1X pdf x",
            "skillpm run --memory 10 pdf x",
            "skillpm run --interpreter python pdf x",
            "skillpm run --python a --interpreter python=b pdf x",
        ] {
            assert!(parse(wrong).is_none(), "{wrong}");
        }
    }

    /// S1-FR-203.3: the default of thirty seconds.
    #[test]
    fn what_holds_without_flags() {
        let asked = parse("skillpm run pdf fill").expect("parses");
        assert_eq!(asked.options.limits, Limits::default());
        assert_eq!(asked.options.limits.timeout, Duration::from_secs(30));
        assert_eq!(
            (asked.cwd, asked.options.stdin, asked.options.sandbox),
            (RunLocation::Here, Stdin::Closed, Mode::Auto)
        );
        assert!(!asked.allow_modified && !asked.allow_scripts);
        assert!(!asked.options.no_network && !asked.options.unix_sockets);
        let asked = parse("skillpm run --allow-unix-sockets pdf fill").expect("parses");
        assert!(asked.options.unix_sockets);
        let asked = parse("skillpm run --python a=b --interpreter node=c=d pdf fill").expect("parses");
        let chosen = [("node".to_owned(), "c=d".into()), ("python".to_owned(), "a=b".into())];
        assert_eq!(asked.options.interpreters, chosen.into());
    }

    #[test]
    fn sizes_and_times() {
        assert_eq!((bytes("12"), bytes("64k"), bytes("2G")), (Ok(12), Ok(64 << 10), Ok(2 << 30)));
        for wrong in ["", "M", "-1", "1.5M", "99999999999G", "1é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!((memory("1M"), memory("2097152")), (Ok(1 << 20), Ok(2 << 20)));
        assert!(memory("10").is_err_and(|error| error.contains("`10M` is one of MiB")));
        assert!(memory("10K").is_err_and(|error| error.ends_with("`1M` is the least")));
        assert!(memory("x").is_err());
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("2s"), Ok(Duration::from_secs(2)));
        for wrong in ["", "0", "-1", "NaN", "inf", "1e99", "5m"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
