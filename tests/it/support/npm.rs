//! The npm tool `skills` itself, where `make test-tools` fetched it, and repositories for it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use skillpm_testing::tools::node;
use skillpm_testing::tools::script;

use super::{Forge, Sandbox, Tree, program};

/// The tool, ready to be run on the machine of a sandbox, where GitHub is a directory.
#[derive(Debug)]
pub struct Npm {
    node: PathBuf,
    script: PathBuf,
    repositories: PathBuf,
    config: PathBuf,
    /// Where it finds programs.
    path: OsString,
}

impl Npm {
    /// The tool for `sandbox`; `None`, with a word about it, where it was not fetched.
    pub fn new(sandbox: &Sandbox) -> Option<Self> {
        let script = script("skills/bin/cli.mjs")?;
        program("git")?;
        let repositories = sandbox.home().join("github.com");
        let config = sandbox.home().join("gitconfig");
        let text = format!(
            "[url \"file://{}/\"]\n\tinsteadOf = https://github.com/\n[user]\n\tname = t\n\temail = t@example.com\n\
             [init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n",
            repositories.display()
        );
        std::fs::write(&config, text).expect("a file");
        let path = std::env::var_os("PATH").unwrap_or_default();
        Some(Self { node: node()?, script, repositories, config, path })
    }

    /// From now on the tool finds programs in these directories.
    pub fn path(&mut self, path: &OsStr) {
        path.clone_into(&mut self.path);
    }

    /// Commits `tree` to the repository `owner/name`, for git and as an archive on `forge`, and returns the
    /// commit.
    pub fn commit(&self, forge: &Forge, name: &str, tree: &Tree) -> String {
        let dir = self.repositories.join(format!("{name}.git"));
        if !dir.exists() {
            std::fs::create_dir_all(&dir).expect("a directory");
            self.git(&dir, &["init", "--quiet"]);
        }
        for entry in std::fs::read_dir(&dir).expect("a directory").flatten() {
            if entry.file_name() != ".git" {
                let path = entry.path();
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
                    .expect("removed");
            }
        }
        tree.write(&dir);
        self.git(&dir, &["add", "--all", "--force"]);
        self.git(&dir, &["commit", "--quiet", "--allow-empty", "--message", "x"]);
        let commit = self.git(&dir, &["rev-parse", "HEAD"]).trim().to_owned();
        let repo = forge.repo(name);
        repo.put(&commit, tree.archive(name, &commit));
        repo.branch("main", &commit);
        commit
    }

    /// The id that git gives a directory of the repository `owner/name`.
    pub fn tree_id(&self, name: &str, dir: &str) -> String {
        let repository = self.repositories.join(format!("{name}.git"));
        self.git(&repository, &["rev-parse", &format!("HEAD:{dir}")]).trim().to_owned()
    }

    fn git(&self, dir: &Path, args: &[&str]) -> String {
        let output = Command::new("git")
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", &self.config)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .expect("git starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Runs the tool in the project of `sandbox` and returns what it said. It reaches no network.
    pub fn run(&self, sandbox: &Sandbox, args: &[&str]) -> String {
        let output = Command::new(&self.node)
            .arg(&self.script)
            .args(args)
            .current_dir(sandbox.project())
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", sandbox.home())
            .env("GIT_CONFIG_GLOBAL", &self.config)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("DISABLE_TELEMETRY", "1")
            .env("DO_NOT_TRACK", "1")
            // What it asks the network for besides, it can do without.
            .env("NODE_USE_ENV_PROXY", "1")
            .env("HTTPS_PROXY", "http://127.0.0.1:9")
            .stdin(Stdio::null())
            .output()
            .expect("the tool starts");
        let said =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{args:?}: {said}");
        said
    }
}
