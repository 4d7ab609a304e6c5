//! `run`: a script of a skill.
//!
//! Whether it may run is asked of [`super::permit`]; how it runs is [`crate::engine::run`]'s business.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::audit::{place, record, refused, subject, unread};
use super::named::find;
use super::permit::{PermitRequest, permit};
use super::session::SessionError;
use crate::admission::Scripts;
use crate::advice::{Opt, Warning, message};
use crate::context::Context;
use crate::engine::run::{
    self, Captured, CopyPool, Ended, Exit, Limits, Mode, Options, Ran, Script, Stdin, Watch, WorkDir,
};
use crate::engine::tools::ToolSet;
use crate::engine::{NotFound, Skill};
use crate::error::{Error, Result};
use crate::fs;
use crate::install::scope::{Scope, ScopeKind};
use crate::text::{self, shell_word};
use crate::trust::audit::{Event, Sandboxed, Subject};

/// Where the scripts of a skill are.
const SCRIPTS: &str = "scripts/";
/// The maximum number of names that an error lists.
const MAX_NAMES: usize = 10;

/// A request to run a script.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct RunRequest {
    /// The skill's name.
    pub skill: String,
    /// The script: its path below the skill or below `scripts/`, or its name there without the ending.
    pub script: String,
    /// Its arguments, handed over as they are.
    pub args: Vec<OsString>,
    /// What it reads.
    pub stdin: Stdin,
    /// Where it runs.
    pub cwd: RunLocation,
    /// Variables beside those that every script gets: `NAME` as it is here, or `NAME=VALUE`.
    pub env: Vec<OsString>,
    /// How much it may use.
    pub limits: Limits,
    /// Whether files are kept from it.
    pub sandbox: Mode,
    /// Whether the network is kept from it.
    pub no_network: bool,
    /// Whether it may use unix sockets, which a policy can also say.
    pub unix_sockets: bool,
    /// What else it may read.
    pub read: Vec<PathBuf>,
    /// What else it may write.
    pub write: Vec<PathBuf>,
    /// What applies if no policy decides.
    pub default_decision: Scripts,
    /// Whether a person has already said yes to what a policy would ask.
    pub allow_scripts: bool,
    /// Whether files that are not as locked may run.
    pub allow_modified: bool,
    /// Whether the program that asks vouches for a directory that no lockfile knows.
    pub trusted_by_host: bool,
    /// Where copies of skills wait between runs of their scripts.
    pub copies: CopyPool,
}

impl RunRequest {
    /// Asks for `script` of `skill` with everything else as it is for a person who types the command.
    pub fn new(skill: impl Into<String>, script: impl Into<String>) -> Self {
        Self {
            skill: skill.into(),
            script: script.into(),
            args: Vec::new(),
            stdin: Stdin::Closed,
            cwd: RunLocation::Here,
            env: Vec::new(),
            limits: Limits::default(),
            sandbox: Mode::Auto,
            no_network: false,
            unix_sockets: false,
            read: Vec::new(),
            write: Vec::new(),
            default_decision: Scripts::Allow,
            allow_scripts: false,
            allow_modified: false,
            trusted_by_host: false,
            copies: CopyPool::default(),
        }
    }
}

/// The working directory of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunLocation {
    /// Where the caller is: what an argument names is found there, as with every other program.
    Here,
    /// In the skill's directory.
    Skill,
    /// In the root of the project.
    Project,
    /// In this directory.
    Dir(PathBuf),
}

/// A run that is over.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// How it went.
    pub ran: Ran,
    /// Where the skill comes from.
    pub source: String,
    /// What a person should know.
    pub warnings: Vec<Warning>,
}

impl Serialize for RunOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let ran = &self.ran;
        let (exit_code, signal) = match ran.exit {
            Exit::Code(code) => (Some(code), None),
            Exit::Signal(signal) => (None, Some(signal)),
            Exit::Unknown => (None, None),
        };
        let status = match ran.ended {
            Some(ended) => ended.word(),
            None if signal.is_some() => "signalled",
            None if exit_code.is_none() => "unknown",
            None => "exited",
        };
        let shown = |path: &PathBuf| path.display().to_string();
        Json {
            skill: &ran.skill,
            source: &self.source,
            digest: ran.digest.to_string(),
            script: &ran.script,
            interpreter: shown(&ran.interpreter),
            status,
            exit_code,
            signal,
            stdout: (&ran.stdout).into(),
            stderr: (&ran.stderr).into(),
            leftovers: ran.leftovers,
            duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
            sandbox: SandboxJson {
                landlock: ran.sandbox.landlock,
                seccomp: ran.sandbox.seccomp,
                network: !ran.sandbox.no_network,
                unix_sockets: !ran.sandbox.no_unix_sockets,
                cwd: shown(&ran.sandbox.cwd),
                read: ran.sandbox.read.iter().map(shown).collect(),
                write: ran.sandbox.write.iter().map(shown).collect(),
                closed: ran.sandbox.closed.clone(),
            },
        }
        .serialize(serializer)
    }
}

/// The JSON form of a [`RunOutcome`]. It is an interface: fields are only added.
#[derive(Serialize)]
struct Json<'a> {
    skill: &'a str,
    source: &'a str,
    digest: String,
    script: &'a str,
    interpreter: String,
    /// `exited`, `signalled`, `timeout`, `processes`, `stopped`, or `unknown`.
    status: &'static str,
    exit_code: Option<i32>,
    signal: Option<i32>,
    stdout: OutputJson,
    stderr: OutputJson,
    leftovers: usize,
    duration_ms: u64,
    sandbox: SandboxJson,
}

#[derive(Serialize)]
struct OutputJson {
    text: String,
    bytes: u64,
    cut: bool,
}

#[derive(Serialize)]
struct SandboxJson {
    landlock: Option<u32>,
    seccomp: bool,
    network: bool,
    unix_sockets: bool,
    cwd: String,
    read: Vec<String>,
    write: Vec<String>,
    closed: Option<String>,
}

impl From<&Captured> for OutputJson {
    fn from(captured: &Captured) -> Self {
        Self { text: captured.text(), bytes: captured.total, cut: captured.is_cut() }
    }
}

/// A script that is called as a tool, with named arguments.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// The skill, the script by the name of its tool, and how it runs. Its arguments, input and time are set from the rest.
    pub request: RunRequest,
    /// The arguments: an object as the schema of the tool has it, or words.
    pub arguments: Value,
    /// How long it may take; if it is `None`, as long as its manifest says.
    pub timeout: Option<Duration>,
}

impl CallRequest {
    /// Returns the run of the tool of `skill` among `set`.
    ///
    /// # Errors
    ///
    /// Fails for a script that is not there, and arguments that do not fit it.
    pub(super) fn prepared(
        &self,
        skill: &Skill,
        set: &ToolSet,
    ) -> std::result::Result<RunRequest, SessionError> {
        let wanted = &self.request.script;
        let Some(tool) = set.get(wanted) else {
            let error = no_script(skill, &self.request.skill, wanted);
            return Err(SessionError::NoScript { script: wanted.clone(), error });
        };
        let call = tool.call(&self.arguments).map_err(|error| SessionError::Arguments(error.to_string()))?;
        let mut request = RunRequest { script: tool.script.clone(), ..self.request.clone() };
        request.args = call.words.into_iter().map(OsString::from).collect();
        request.stdin = call.input.map_or(Stdin::Closed, |text| Stdin::Bytes(text.into_bytes()));
        request.limits.timeout = self.timeout.or(tool.timeout).unwrap_or(request.limits.timeout);
        Ok(request)
    }
}

/// Writes down that the script of `request` was refused, where `error` with which the skill was looked for is a
/// refusal.
pub(super) fn not_found(context: &Context, request: &RunRequest, error: &SessionError) {
    if let SessionError::Skill(NotFound { error, .. }) | SessionError::Verb(error) = error {
        let asked = Subject { skill: request.skill.clone(), ..Subject::default() };
        unread(context, &asked, &request.script, error);
    }
}

/// Runs a script of `skill` to its end. That it failed is no error; see [`Ran::success`].
///
/// # Errors
///
/// Fails for a script that is not there or may not run, and as [`run::run`] does.
pub(super) fn run_found(
    context: &Context,
    skill: &Skill,
    request: &RunRequest,
    watch: &mut dyn Watch,
) -> Result<RunOutcome> {
    let settings = &context.settings;
    let (cwd, env) = (work_dir(context, &request.cwd)?, variables(context, &request.env)?);
    let path = script_of(&skill.real, &request.skill, &request.script)
        .inspect_err(|error| unread(context, &place(skill), &request.script, error))?;
    check_plain(&skill.real, &path).inspect_err(|error| refused(context, skill, &path, error))?;
    let permit = permit(
        context,
        &PermitRequest {
            skill,
            script: &path,
            default_decision: request.default_decision,
            allow_scripts: request.allow_scripts,
            allow_modified: request.allow_modified,
            trusted_by_host: request.trusted_by_host,
        },
    )?;
    let checked = permit.checked;
    let subject = subject(skill, &checked);
    let source = checked.provenance.source();
    let script = Script {
        skill: skill.meta.name.clone(),
        version: skill.meta.version.clone(),
        files: checked.files,
        digest: Some(checked.digest),
        base: checked.below,
        path,
    };
    let absolute = |paths: &[PathBuf]| paths.iter().map(|path| settings.cwd.join(path)).collect();
    let options = Options {
        args: request.args.clone(),
        stdin: request.stdin.clone(),
        cwd,
        env,
        limits: request.limits.clone(),
        sandbox: request.sandbox,
        no_network: request.no_network,
        unix_sockets: request.unix_sockets || permit.unix_sockets,
        read: absolute(&request.read),
        write: absolute(&request.write),
        copies: request.copies.clone(),
    };
    let ran = run::run(settings, &script, &options, watch).inspect_err(|error| {
        let event = Event::Refused { script: &script.path, reason: &error.with_causes().to_string() };
        record(context, &subject, &event);
    })?;
    record(context, &subject, &event(&ran, &options.args));
    Ok(RunOutcome { ran, source, warnings: permit.warnings })
}

/// Returns what the audit log says of a run.
fn event<'a>(ran: &'a Ran, arguments: &'a [OsString]) -> Event<'a> {
    let (exit_code, signal) = match ran.exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
        Exit::Unknown => (None, None),
    };
    Event::Run {
        script: &ran.script,
        arguments,
        duration: ran.duration,
        exit_code,
        signal,
        ended: ran.ended.map(Ended::word),
        sandbox: Sandboxed {
            landlock: ran.sandbox.landlock,
            seccomp: ran.sandbox.seccomp,
            no_network: ran.sandbox.no_network,
            no_unix_sockets: ran.sandbox.no_unix_sockets,
        },
    }
}

fn work_dir(context: &Context, place: &RunLocation) -> Result<WorkDir> {
    Ok(match place {
        RunLocation::Here => WorkDir::Here,
        RunLocation::Skill => WorkDir::Skill,
        RunLocation::Project => WorkDir::Dir(Scope::new(&context.settings, ScopeKind::Project)?.root),
        RunLocation::Dir(dir) => WorkDir::Dir(context.settings.cwd.join(dir)),
    })
}

fn variables(context: &Context, wanted: &[OsString]) -> Result<BTreeMap<OsString, OsString>> {
    let one = |wanted: &OsString| {
        if let Some((name, value)) = assignment(wanted) {
            // The value may be a secret, and a model may see the error.
            let has_nul = |text: &OsString| text.as_encoded_bytes().contains(&0);
            if name.is_empty() || has_nul(&name) {
                return Err(Error::usage(format!("`{}=` names no variable", name.display())).hint(message!(
                    (Opt::Env, "NAME"),
                    " passes a variable through, ",
                    (Opt::Env, "NAME=VALUE"),
                    " sets one"
                )));
            }
            if has_nul(&value) {
                let shown = name.display();
                return Err(Error::usage(format!("the value of the variable `{shown}` has a NUL in it"))
                    .hint("variables cannot hold that: pass it in a file, or on standard input"));
            }
            return Ok((name, value));
        }
        match context.settings.env.vars.get::<OsStr>(wanted) {
            Some(value) => Ok((wanted.clone(), value.clone())),
            None => Err(Error::usage(format!("the variable `{}` is not set", wanted.display()))
                .hint(message!("set it first, or give it a value with ", (Opt::Env, "NAME=VALUE")))),
        }
    };
    wanted.iter().map(one).collect()
}

/// Returns the name and the value of `text`, which is `NAME=VALUE`. A value can be any bytes that the system knows.
#[cfg(unix)]
fn assignment(text: &OsStr) -> Option<(OsString, OsString)> {
    use std::os::unix::ffi::OsStrExt as _;

    let bytes = text.as_bytes();
    let (name, value) = bytes.split_at(memchr::memchr(b'=', bytes)?);
    let [name, value] = [name, &value[1..]].map(|bytes| OsStr::from_bytes(bytes).to_owned());
    Some((name, value))
}

/// Returns the name and the value of `text`, which is `NAME=VALUE`.
#[cfg(not(unix))]
fn assignment(text: &OsStr) -> Option<(OsString, OsString)> {
    let (name, value) = text.to_str()?.split_once('=')?;
    Some((name.into(), value.into()))
}

/// Returns what to tell somebody who named the skill `name` and none of its scripts.
pub fn script_missing(context: &Context, name: &str) -> Error {
    let skill = match find(context, name) {
        Ok(hit) => hit.skill,
        Err(error) => return error,
    };
    let tree = match fs::tree_of(&skill.real) {
        Ok(tree) => tree,
        Err(error) => return error.into(),
    };
    let scripts: Vec<&str> = tree.entries().filter_map(|(path, _)| path.strip_prefix(SCRIPTS)).collect();
    let error = Error::usage("name a script");
    if scripts.is_empty() {
        error.hint(format!("`{name}` has nothing in its `{SCRIPTS}`"))
    } else {
        error.hint(format!("`{name}` has {}", listed(scripts.into_iter())))
    }
}

/// Returns why `wanted` is not a script of `skill`, which was asked for as `name`.
fn no_script(skill: &Skill, name: &str, wanted: &str) -> Error {
    match script_of(&skill.real, name, wanted) {
        Err(error) => error,
        Ok(path) => Error::usage(format!("the skill `{name}` has no script `{wanted}`"))
            .hint(format!("the file `{path}` exists, but it is not a script that an agent can call")),
    }
}

/// Returns the path below the skill's directory `dir` of what `wanted` names.
fn script_of(dir: &Path, skill: &str, wanted: &str) -> Result<String> {
    if is_whole_path(dir, wanted) {
        return Ok(wanted.to_owned());
    }
    let tree = fs::tree_of(dir)?;
    let paths: Vec<&str> = tree.entries().map(|(path, _)| path).collect();
    let below = format!("{SCRIPTS}{wanted}");
    // What is called by a name alone is in `scripts/`; `./` says that it is not.
    let of_skill = wanted.strip_prefix("./").unwrap_or(wanted);
    if let Some(path) = [below.as_str(), of_skill].into_iter().find(|path| paths.contains(path)) {
        return Ok(path.to_owned());
    }
    let scripts: Vec<&str> = paths.iter().filter_map(|path| path.strip_prefix(SCRIPTS)).collect();
    let stem = |name: &str| name.rsplit_once('.').is_some_and(|(stem, _)| stem == wanted);
    match scripts.iter().filter(|name| stem(name)).collect::<Vec<_>>()[..] {
        [name] => return Ok(format!("{SCRIPTS}{name}")),
        [] => {}
        ref more => {
            return Err(Error::usage(format!("the skill `{skill}` has several scripts called `{wanted}`"))
                .hint(format!("name one of them: {}", listed(more.iter().map(|name| **name)))));
        }
    }
    let mut error = Error::usage(format!("the skill `{skill}` has no script `{wanted}`"));
    if let Some(closest) = text::closest(wanted, scripts.iter().copied()) {
        error = error.hint(format!("did you mean `{closest}`?"));
    }
    Err(if scripts.is_empty() {
        error.hint(format!("there is nothing in its `{SCRIPTS}`"))
    } else {
        error.hint(format!("in its `{SCRIPTS}` are {}", listed(scripts.into_iter())))
    })
}

/// Reports whether `wanted` is the path of a file right in `scripts/` of the skill's directory `dir`, and can mean
/// nothing else. Programs ask by it, and nothing needs to be listed then.
fn is_whole_path(dir: &Path, wanted: &str) -> bool {
    let name = wanted.strip_prefix(SCRIPTS);
    if name.is_none_or(|name| name.starts_with('.') || name.contains(['/', '\\'])) {
        return false;
    }
    // What cannot be examined is looked for in the list.
    let is = |path: &Path, kind| fs::kind(&dir.join(path)).is_ok_and(|found| found == kind);
    let scripts = Path::new(SCRIPTS.trim_end_matches('/'));
    // A link may lead anywhere, and in `scripts/scripts/` there may be another one of that name.
    is(scripts, Some(fs::Kind::Directory))
        && is(wanted.as_ref(), Some(fs::Kind::File))
        && is(&scripts.join(scripts), None)
}

fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let names: Vec<_> = names.take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// S1-FR-205.3: what a link leads to is not what its name says, and the bits of a set-id file are a
/// promise that is not kept here.
fn check_plain(dir: &Path, path: &str) -> Result<()> {
    let at = dir.join(path);
    let error = |reason| Error::integrity(format!("`{path}` is not run: {reason}"));
    match fs::kind(&at)? {
        Some(fs::Kind::File) if fs::is_set_id(&at)? => {
            Err(error("it is setuid or setgid")
                .hint(format!("`chmod ug-s {}` removes that", shell_word(&at))))
        }
        Some(fs::Kind::File) => Ok(()),
        Some(fs::Kind::Symlink) => Err(error("it is a symbolic link").hint("run its target")),
        _ => Err(error("it is not a regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    /// What a variable is given is in no error: it may be a secret, and a model may be told.
    #[test]
    fn variables_that_cannot_be_set() {
        let context = World::new().context();
        let told = |text: &str| variables(&context, &[text.into()]).expect_err(text).to_string();
        assert_eq!(told("=s3cret"), "`=` names no variable");
        assert_eq!(told("TOKEN=s3cret\0"), "the value of the variable `TOKEN` has a NUL in it");
        assert!(!told("TO\0KEN=s3cret").contains("s3cret"));
        let set = variables(&context, &["A=B=C".into()]).expect("a variable");
        assert_eq!(set.get(OsStr::new("A")), Some(&OsString::from("B=C")));
    }

    /// Whichever way it is found, a script has the same path, and what is none the same error.
    #[test]
    fn a_path_means_the_same_with_and_without_a_list() {
        let world = World::new();
        world.skill("demo", "demo");
        world.write("demo/scripts/a.sh", "");
        let dir = world.project().join("demo");
        let of = |wanted: &str| script_of(&dir, "demo", wanted).map_err(|error| error.to_string());
        assert!(is_whole_path(&dir, "scripts/a.sh"));
        for wanted in ["scripts/a.sh", "a.sh", "a"] {
            assert_eq!(of(wanted), Ok("scripts/a.sh".into()), "{wanted}");
        }
        let long = format!("scripts/{}", "x".repeat(300));
        for wanted in
            [&long, "scripts/a\0b", "scripts/", "scripts/..", "scripts/b.sh", "scripts/../SKILL.md", ""]
        {
            assert!(!is_whole_path(&dir, wanted), "{wanted}");
            assert_eq!(of(wanted), Err(format!("the skill `demo` has no script `{wanted}`")));
        }
        #[cfg(unix)]
        {
            fs::symlink(&dir.join("scripts"), &dir.join("linked")).expect("links");
            fs::symlink(Path::new("a.sh"), &dir.join("scripts/b.sh")).expect("links");
            assert!(!is_whole_path(&dir, "scripts/b.sh") && !is_whole_path(&dir, "linked/a.sh"));
        }
        world.write("demo/scripts/scripts/a.sh", "");
        assert_eq!(
            of("scripts/a.sh"),
            Ok("scripts/scripts/a.sh".into()),
            "what is in `scripts/` comes first"
        );
    }
}
