//! What a Python interpreter can import.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::interrupt::Running;
use crate::settings::Settings;
use crate::skill::prerequisites::{Prerequisite, PrerequisiteKind, Presence};
use skillpm_sources::processes;

/// How long the interpreter may take.
const DEADLINE: Duration = Duration::from_secs(5);
/// The maximum number of bytes of names that it is asked about.
const MAX_ASKED: u64 = 16 << 10;
/// Repeats each line of standard input that names something that is there: `m` and a module, or `p` and a package.
/// Neither is imported.
const CODE: &str = "\
import importlib.util, sys
for line in sys.stdin.read().split():
    try:
        if line[0] == 'm':
            found = importlib.util.find_spec(line[1:])
        else:
            import importlib.metadata
            found = importlib.metadata.distribution(line[1:])
        if found is not None:
            print(line)
    except Exception:
        pass
print('end')
";

/// The answers of an interpreter.
pub(super) struct Answers {
    asked: BTreeSet<String>,
    there: BTreeSet<String>,
}

impl Answers {
    /// Asks the interpreter `program` for the packages and modules among `all`; `None` if it gives no whole answer in time,
    /// as other programs do. It is isolated: neither the working directory nor variables decide what it runs.
    pub(super) fn of<'p>(
        settings: &Settings,
        program: &Path,
        all: impl Iterator<Item = &'p Prerequisite>,
    ) -> Option<Self> {
        let (mut asked, mut input) = (BTreeSet::new(), String::new());
        for line in all.flat_map(|one| one.any_of.iter().filter_map(|name| line(one.kind, name))) {
            if ((input.len() + line.len()) as u64) < MAX_ASKED && !asked.contains(&line) {
                input.push_str(&line);
                input.push('\n');
                asked.insert(line);
            }
        }
        if asked.is_empty() {
            return None;
        }
        let output = output(settings, program, input)?;
        let mut there: BTreeSet<String> = output.lines().map(str::to_owned).collect();
        there.remove("end").then_some(Self { asked, there })
    }

    /// Returns whether one of the names of `one` is there.
    pub(super) fn state(&self, one: &Prerequisite) -> Presence {
        let lines = || one.any_of.iter().filter_map(|name| line(one.kind, name));
        if lines().any(|line| self.there.contains(&line)) {
            Presence::Present
        } else if lines().count() == one.any_of.len() && lines().all(|line| self.asked.contains(&line)) {
            Presence::Missing
        } else {
            Presence::Unknown
        }
    }
}

/// Returns the line that asks for `name`; `None` if Python is not to be asked.
fn line(kind: PrerequisiteKind, name: &str) -> Option<String> {
    let prefix = match kind {
        PrerequisiteKind::PythonModule => 'm',
        PrerequisiteKind::PythonPackage => 'p',
        _ => return None,
    };
    name.is_ascii().then(|| format!("{prefix}{name}"))
}

/// Returns what `program` says about `input`.
fn output(settings: &Settings, program: &Path, input: String) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks an interpreter")]
    let mut command = Command::new(program);
    let system = settings.env.vars.iter().filter(|(name, _)| *name == "SystemRoot");
    command.args(["-I", "-B", "-X", "utf8", "-c", CODE]).env_clear().envs(system);
    command.env("PATH", settings.env.program_path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let _running = Running::begin();
    let child = command.spawn().ok()?;
    // It repeats at most what it was asked.
    let (output, _) = processes::talk(child, input.into_bytes(), 2 * MAX_ASKED, DEADLINE).ok()?;
    String::from_utf8(output?).ok()
}
