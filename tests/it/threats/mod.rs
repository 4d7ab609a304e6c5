//! THREATS, section 4: every hostile input, through the ways that real ones take, over an installation
//! that is there already.
//!
//! The cases are tables; what holds for all of them is checked in one place: nothing is written where
//! it does not belong, no canary dies, nothing panics or hangs, memory, disk and time are bounded, nothing
//! is left over, and what was installed before a refusal is there after it.

#![cfg(unix)]

mod directories;
mod documents;
mod inventory;
mod locks;
mod network;
mod repositories;
mod tars;
mod tls;
mod zips;

use std::path::PathBuf;

use skillpm_format::digest::Digest;

use crate::support::machine::{Seen, differences, look};
use crate::support::sandbox::Output;
use crate::support::{Forge, GitRepo, GitServer, Machine, Sandbox, Tree};

/// The skill that is there before, and the one that a hostile thing says to be.
const BEFORE: &str = "---\nname: demo\ndescription: Shows things. Use it in tests.\n---\n\nbefore\n";
const AFTER: &str = "---\nname: demo\ndescription: Shows things. Use it in tests.\n---\n\nafter\n";

/// What is to become of a hostile thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Exit code 5, with this in the message.
    Refused(&'static str),
    /// Another exit code, with this in the message.
    Fails(i32, &'static str),
    /// It is installed, with this in what is told.
    Told(&'static str),
    /// It is installed, and nobody is warned.
    Quiet,
}

/// How something comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A file of the project.
    File(&'static str),
    /// A file from a server.
    Download(&'static str),
    /// The archive of a repository on GitHub.
    Repository,
    /// A directory of the project, `./source`.
    Directory,
    /// A site that lists its skills.
    Site,
    /// A git repository on this machine.
    Git,
    /// A git repository from a server.
    GitServer,
}

/// The commit of the hostile archive of a repository.
const COMMIT: &str = "cccccccccccccccccccccccccccccccccccccccc";

/// A machine on which `demo` is installed, from where the hostile thing will come.
struct Scene {
    sandbox: Sandbox,
    forge: Forge,
    way: Way,
    git: Option<GitServer>,
}

impl Scene {
    /// Installs `control`, which is in order; for [`Way::Directory`] the directory has to be there.
    fn new(way: Way, control: &[u8]) -> Self {
        let mut sandbox = Sandbox::new();
        let forge = Forge::start();
        sandbox.forge(&forge);
        for dir in ["outside", "tmp"] {
            std::fs::create_dir(sandbox.root().join(dir)).expect("a directory");
        }
        std::fs::write(sandbox.root().join("outside/secret"), "TOPSECRET").expect("a file");
        let tmp = sandbox.root().join("tmp").display().to_string();
        sandbox.env("TMPDIR", &tmp);
        let path = std::env::var("PATH").unwrap_or_default();
        sandbox.env("PATH", &path);
        let srv = sandbox.root().join("srv");
        let is_git = matches!(way, Way::Git | Way::GitServer);
        let git = is_git.then(|| {
            GitRepo::new(&srv.join("r")).commit(&Tree::new().file("demo/SKILL.md", BEFORE));
            GitServer::start(&srv)
        });
        let scene = Self { sandbox, forge, way, git };
        if way == Way::Directory {
            scene.sandbox.write("source/demo/SKILL.md", BEFORE);
        } else if !is_git {
            scene.offer(control, "dddddddddddddddddddddddddddddddddddddddd");
        }
        let output = scene.run(&["install", &scene.source(), "--agent", "claude-code"]);
        assert_eq!(output.code, Some(0), "{way:?}: {output}");
        scene
    }

    /// Lets `bytes` come from now on.
    fn offer(&self, bytes: &[u8], commit: &str) {
        match self.way {
            Way::File(ending) => drop(self.sandbox.write(&format!("offered.{ending}"), bytes)),
            Way::Download(ending) => {
                self.forge.serve(&format!("/offered.{ending}"), bytes);
            }
            Way::Site => {
                let index = serde_json::json!({
                    "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
                    "skills": [{
                        "name": "demo",
                        "type": "archive",
                        "description": "Shows things.",
                        "url": "demo.zip",
                        "digest": Digest::of(bytes).to_string(),
                    }],
                });
                let root = "/.well-known/agent-skills";
                self.forge.serve(&format!("{root}/index.json"), index.to_string());
                self.forge.serve(&format!("{root}/demo.zip"), bytes);
            }
            Way::Repository => {
                let repository = self.forge.repo("acme/demo");
                repository.put(commit, bytes.to_vec());
                repository.branch("main", commit);
            }
            Way::Directory | Way::Git | Way::GitServer => {}
        }
    }

    /// Returns the scene for the next case, if the last one was refused: what is installed is as it was, and
    /// downloads are forgotten.
    fn again(self, last: &Output) -> Option<Self> {
        if last.code == Some(0) {
            return None;
        }
        let cache = self.sandbox.home().join(".cache/skillpm");
        if cache.exists() {
            std::fs::remove_dir_all(cache).expect("removed");
        }
        Some(self)
    }

    /// The repository that is installed from.
    fn repository(&self) -> GitRepo {
        GitRepo::at(&self.sandbox.root().join("srv/r"))
    }

    fn source(&self) -> String {
        match self.way {
            Way::File(ending) => format!("./offered.{ending}"),
            Way::Download(ending) => self.forge.url(&format!("/offered.{ending}")),
            Way::Site => self.forge.url(""),
            Way::Repository => "acme/demo".to_owned(),
            Way::Directory => "./source".to_owned(),
            Way::Git => format!("git+{}", self.sandbox.root().join("srv/r").display()),
            Way::GitServer => self.git.as_ref().expect("it was started").url("r/.git"),
        }
    }

    /// A place that nothing may be written to, by its absolute path.
    fn outside(&self) -> PathBuf {
        self.sandbox.root().join("outside")
    }

    fn run(&self, args: &[&str]) -> Output {
        Machine::USUAL.run(&self.sandbox, args)
    }

    /// Everything but the content of the store and the cache, which may grow by what is whole.
    fn look(&self) -> Seen {
        look(
            self.sandbox.root(),
            &[
                "home/.cache/skillpm",
                "home/.local/share/skillpm/store-v1/sha256",
                "home/.local/share/skillpm",
            ],
        )
    }

    /// Installs what is offered and checks all that holds for every case.
    fn attack(&self, id: &str, want: Want) -> Output {
        let before = self.look();
        // Somebody agrees to all that it can do, so what is refused is refused for what it is.
        let agreed = "--allow-new-capabilities";
        let output = self.run(&["install", &self.source(), "--agent", "claude-code", agreed]);
        self.judge(id, want, &before, &output);
        output
    }

    /// Checks what a run left that found everything as in `before`.
    fn judge(&self, id: &str, want: Want, before: &Seen, output: &Output) {
        let after = self.look();
        let changed = differences(before, &after);
        let id = format!("{id}, {:?}", self.way);
        let talk = format!("{}{}", output.stdout, output.stderr);
        assert!(!talk.contains("panicked at"), "{id}: {output}");
        let raw = talk.chars().find(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || is_unseen(*c));
        assert_eq!(raw, None, "{id}: {talk:?}");
        assert!(!talk.contains("TOPSECRET"), "{id}: {output}");
        assert!(
            after.keys().all(|path| !path.contains("CANARY") || before.contains_key(path)),
            "{id}: {changed:?}"
        );
        assert!(!PathBuf::from("/tmp/CANARY").exists(), "{id}");
        assert!(after.keys().all(|path| !path.starts_with("tmp/")), "{id}: left over: {changed:?}");
        for path in ["home/.local/share/skillpm/store-v2", "home/.cache"] {
            let dir = self.sandbox.root().join(path);
            let names = if dir.exists() { self.sandbox.tree(&dir) } else { Vec::new() };
            let left = names.iter().find(|line| line.contains("stage-") || line.contains(".tmp"));
            assert_eq!(left, None, "{id}: left over");
        }
        let (code, part) = match want {
            Want::Refused(part) => (5, part),
            Want::Fails(code, part) => (code, part),
            Want::Told(part) => (0, part),
            Want::Quiet => (0, ""),
        };
        assert_eq!(output.code, Some(code), "{id}: {output}");
        assert!(output.stderr.contains(part), "{id}: `{part}` is not told: {output}");
        if code == 0 {
            let ours = ["project/.agents/skills/demo", "project/.claude/skills/demo", "project/skillpm."];
            let undo = ["project/.agents/.skillpm-undo", "home/.local/state/skillpm/undo"];
            let records = ["home/.local/state/skillpm/placed", "home/.local/state/skillpm/reviewed"];
            let expected =
                |path: &str| ours.iter().chain(&undo).chain(&records).any(|own| path.starts_with(own));
            // The stat cache comes when there is time for it.
            let stray: Vec<_> =
                changed.iter().filter(|path| !expected(path) && *path != "home/.cache").collect();
            assert!(stray.is_empty(), "{id}: {stray:?}");
            self.check_installed(&id, &after);
            assert_eq!(output.stderr.contains("warning:"), want != Want::Quiet, "{id}: {output}");
        } else {
            assert!(talk.contains("error: "), "{id}: {output}");
            assert_eq!(changed, [""; 0], "{id}: {output}");
        }
    }

    /// What is installed is files and directories with plain modes, and nothing of it leads out.
    fn check_installed(&self, id: &str, after: &Seen) {
        let skill = self.skill();
        assert!(skill.join("SKILL.md").is_file(), "{id}");
        let below = after.iter().filter_map(|(path, what)| {
            Some((path.strip_prefix("project/.agents/skills/demo/")?, what.split_once(' ')?))
        });
        for (path, (mode, what)) in below {
            let plain = match what {
                "directory" => mode == "755",
                _ => what.starts_with("sha256:") && matches!(mode, "644" | "755"),
            };
            assert!(plain, "{id}: {path} is {mode} {what}");
        }
    }

    /// Where the skill is installed.
    fn skill(&self) -> PathBuf {
        self.sandbox.project().join(".agents/skills/demo")
    }

    /// The files of the skill that is installed, with their content.
    fn files(&self) -> Vec<String> {
        self.sandbox.tree(&self.skill()).into_iter().filter(|line| !line.ends_with('/')).collect()
    }
}

/// Characters that no message may pass on: they reorder or hide what stands beside them.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}
