//! A machine to install on: a home, a project, and nothing of the real environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skillpm_sources::env::Env;
use skillpm_sources::settings::Settings;
use tempfile::TempDir;

use super::Forge;

/// A home directory and a project, both empty, which vanish in the end.
#[derive(Debug)]
pub struct Sandbox {
    dir: TempDir,
    env: BTreeMap<String, String>,
}

impl std::fmt::Display for Output {
    /// The whole of what a person sees, for snapshots.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code = self.code.map_or_else(|| "by a signal".to_owned(), |code| code.to_string());
        writeln!(f, "exit: {code}")?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "--- {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

/// What the program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// A machine that knows no GitHub until [`Sandbox::forge`] names one.
    pub fn new() -> Self {
        Self::of(TempDir::new().expect("a temporary directory"))
    }

    /// As [`Sandbox::new`], in memory where the system has such a place: for tests that make hundreds.
    pub fn in_memory() -> Self {
        Self::of(TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).expect("a temporary directory"))
    }

    fn of(dir: TempDir) -> Self {
        for sub in ["home", "project"] {
            std::fs::create_dir(dir.path().join(sub)).expect("a directory");
        }
        let mut sandbox = Self { dir, env: BTreeMap::new() };
        let home = sandbox.home().display().to_string();
        sandbox.env("HOME", &home);
        // A failure must not wait long, and nothing real may be asked.
        sandbox.env("GITHUB_API_URL", "http://127.0.0.1:9");
        sandbox.env("SKILLPM_HTTP_TIMEOUT", "2");
        sandbox.env("SKILLPM_HTTP_RETRIES", "1");
        sandbox
    }

    /// Makes `forge` this machine's GitHub.
    pub fn forge(&mut self, forge: &Forge) -> &mut Self {
        self.env("GITHUB_API_URL", &forge.api_url())
    }

    /// Sets a variable for the program.
    pub fn env(&mut self, name: &str, value: &str) -> &mut Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The directory that home and project lie in.
    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    /// The home directory.
    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// The project directory, where the program is run.
    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// Writes a file of the project, directories above it included.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    /// Reads a file of the project as text.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).expect(path)
    }

    /// The settings that the program would have here, for tests of the library.
    pub fn settings(&self) -> Settings {
        let vars = self.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Settings::from_env(Env { vars, cwd: self.project(), interactive: false }).expect("settings")
    }

    /// The program, ready to be run in the project with `args` and this machine's environment only.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillpm"));
        command.args(args).current_dir(self.project()).env_clear().envs(&self.env).stdin(Stdio::null());
        command
    }

    /// Runs the program in the project; it has to end with 0.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> Output {
        let output = self.run(args);
        assert_eq!(output.code, Some(0), "{args:?}: {output}");
        output
    }

    /// Runs the program in the project.
    pub fn run(&self, args: &[&str]) -> Output {
        self.output(&mut self.command(args))
    }

    /// As [`Self::run`], where the system lets the program have no more than `files` open at a time.
    #[cfg(unix)]
    pub fn run_with_files(&self, files: u32, args: &[&str]) -> Output {
        let inner = self.command(args);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")]);
        shell.arg(inner.get_program()).args(inner.get_args());
        shell.current_dir(self.project()).env_clear().stdin(Stdio::null());
        shell.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        self.output(&mut shell)
    }

    /// A shell in the project that finds `skillpm` and `skillpm-registry`, ready to run `line`.
    #[cfg(unix)]
    pub fn shell(&self, line: &str) -> Command {
        let bin = self.root().join("bin");
        std::fs::create_dir_all(&bin).expect("a directory");
        let server = super::server::registry_program();
        for (name, program) in
            [("skillpm", Path::new(env!("CARGO_BIN_EXE_skillpm"))), ("skillpm-registry", &server)]
        {
            // It is there from the second line on.
            let _ = std::os::unix::fs::symlink(program, bin.join(name));
        }
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", line]).current_dir(self.project()).env_clear().envs(&self.env).stdin(Stdio::null());
        shell.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
        shell
    }

    /// Runs `command` and returns what it left.
    pub fn output(&self, command: &mut Command) -> Output {
        let output = command.output().expect("the program starts");
        Output {
            code: output.status.code(),
            stdout: self.text(&output.stdout),
            stderr: self.text(&output.stderr),
        }
    }

    /// Text of the program with this sandbox's directory as `[DIR]`.
    pub fn text(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).replace(&self.dir.path().display().to_string(), "[DIR]")
    }

    /// Everything below `dir`, a line each, sorted: `755 scripts/run.sh`, `dir/`, `link -> target`. What
    /// changes leave for `undo` is left out: `undo.rs` looks at it.
    pub fn tree(&self, dir: &Path) -> Vec<String> {
        let mut lines = Vec::new();
        list(dir, "", &mut lines);
        lines.sort();
        // What is remembered of trees is nobody's business, and comes when times are old enough.
        lines.retain(|line| !line.contains(".cache/skillpm/index-v1/"));
        for dir in [".cache/skillpm/", ".cache/"] {
            if lines.iter().filter(|line| line.contains(dir)).count() == 1 {
                lines.retain(|line| line != dir);
            }
        }
        lines
    }

    /// Everything of the project's scope, with the bytes of each file, to compare it with what it was: not
    /// the sources in `src`, nor directories of skillpm's own that may be empty.
    pub fn scope(&self) -> Vec<String> {
        let project = self.project();
        let own = [".agents/", ".agents/skills/", ".agents/.skillpm-disabled/"];
        let mut lines = Vec::new();
        for line in self.tree(&project) {
            let path = match line.split_once(' ') {
                Some((mode, path)) if !path.starts_with("-> ") && mode.parse::<u32>().is_ok() => Some(path),
                _ => None,
            };
            if path.unwrap_or(&line).starts_with("src/") || own.contains(&line.as_str()) {
                continue;
            }
            let bytes = path.map(|path| std::fs::read(project.join(path)).expect("a file"));
            let text = bytes.map(|bytes| format!(": {}", String::from_utf8_lossy(&bytes)));
            lines.push(line + &text.unwrap_or_default());
        }
        lines
    }
}

fn list(dir: &Path, prefix: &str, lines: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("an entry");
        if entry.file_name() == ".skillpm-undo" {
            continue;
        }
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().expect("a type");
        if kind.is_symlink() {
            let target = std::fs::read_link(entry.path()).expect("a link");
            lines.push(format!("{path} -> {}", target.display()));
        } else if kind.is_dir() {
            lines.push(format!("{path}/"));
            list(&entry.path(), &format!("{path}/"), lines);
        } else {
            lines.push(format!("{} {path}", mode(&entry.path())));
        }
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> String {
    use std::os::unix::fs::PermissionsExt;
    format!("{:o}", std::fs::symlink_metadata(path).expect("metadata").permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> String {
    "---".to_owned()
}
