//! Nothing that a user wrote is lost, whatever verb runs with whatever flags.
//!
//! Between the verbs a user edits, adds, deletes and replaces what lies in the project, and each edit has
//! a mark of its own. After each verb every mark that was there before is still somewhere: in its place,
//! beside it, in the store's kept copies, or in what `undo` needs.

#![cfg(unix)]

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::support::machine::blobs;
use crate::support::{Numbers, Sandbox};

/// How many users there are, and how many things each of them does.
const USERS: u64 = 16;
const DEEDS: usize = 40;

/// The verbs; `NAME` is one of the skills, and each flag behind `?` is there or not.
const VERBS: &[&str] = &[
    "install ./src/NAME ?--force ?--yes ?--copy ?-a=junie",
    "install ./src/NAME --force",
    "install -e ./src/NAME ?--force",
    "install ./src/NAME --as other ?--force",
    "install ?--force ?--copy",
    "install --frozen ?--force",
    "remove NAME ?--force",
    "remove NAME other --force",
    "disable NAME ?--force",
    "enable NAME ?--force",
    "link -a junie NAME ?--force",
    "unlink -a claude-code ?--force",
    "link -a claude-code",
    "doctor --fix",
    "import",
    "cache clean ?--store",
    "cache prune --older-than 0d",
    "cache verify --fix",
    "validate --fix .agents/skills/NAME",
    "fmt .agents/skills/NAME",
    "update NAME ?--force ?--yes",
    "update ?--theirs ?--yes",
    "update ?--ours ?--yes",
    "update NAME --abort",
    "undo ?--force",
];

/// A user at a machine.
struct User {
    /// How often each verb ended with which code.
    codes: BTreeMap<(String, i32), usize>,
    sandbox: Sandbox,
    numbers: Numbers,
    marks: usize,
    versions: usize,
    /// What was done, for the message.
    log: Vec<String>,
}

impl User {
    fn new(seed: u64) -> Self {
        let sandbox = Sandbox::new();
        let mut user = Self {
            sandbox,
            numbers: Numbers(seed),
            marks: 0,
            versions: 0,
            log: Vec::new(),
            codes: BTreeMap::new(),
        };
        std::fs::create_dir(user.sandbox.root().join("elsewhere")).expect("a directory");
        for name in ["one", "two"] {
            user.publish(name);
            let output = user.sandbox.run(&["install", &format!("./src/{name}"), "-a", "claude-code"]);
            assert_eq!(output.code, Some(0), "{output}");
        }
        user
    }

    /// A newer version of a skill at its source.
    fn publish(&mut self, name: &str) {
        self.versions += 1;
        let version = self.versions;
        let text = format!(
            "---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n\nfirst {version}\n\nmiddle\n\nlast\n"
        );
        self.sandbox.write(&format!("src/{name}/SKILL.md"), text);
        self.sandbox.write(&format!("src/{name}/references/a.md"), format!("a\n\n{}\n", version / 2));
    }

    /// A text that nobody else writes.
    fn mark(&mut self) -> String {
        self.marks += 1;
        format!("mark-{:04}-of-the-user", self.marks)
    }

    fn name(&mut self) -> &'static str {
        ["one", "two"][self.numbers.below(2)]
    }

    /// A place in the project in which skills lie, whether there is one now or not.
    fn place(&mut self) -> PathBuf {
        let dir = [
            ".agents/skills",
            ".agents/skills",
            ".claude/skills",
            ".junie/skills",
            ".agents/.skillpm-disabled",
        ];
        let dir = dir[self.numbers.below(dir.len())];
        let name = self.name();
        self.sandbox.project().join(dir).join(name)
    }

    /// Does something to what lies in the project.
    fn edit(&mut self) {
        let place = self.place();
        let mark = self.mark();
        let kind = self.numbers.below(12);
        self.log.push(format!("edit {kind} at {} with {mark}", place.display()));
        let is_there = std::fs::symlink_metadata(&place).is_ok();
        match kind {
            // Changes at the beginning, at the end, and of everything.
            0..=3 if place.is_dir() => {
                let file = place.join(["SKILL.md", "references/a.md"][self.numbers.below(2)]);
                let Ok(text) = std::fs::read_to_string(&file) else { return };
                let text = match kind {
                    0 => text.replace("first", &format!("{mark} first")),
                    1 => text + &mark + "\n",
                    2 => text.replace("middle", &mark),
                    _ => mark,
                };
                std::fs::write(file, text).expect("a file");
            }
            4 if place.is_dir() => {
                let dir = place.join(["", "references", "deep/er"][self.numbers.below(3)]);
                if std::fs::create_dir_all(&dir).is_ok() {
                    std::fs::write(dir.join(format!("own-{}.md", self.numbers.below(3))), mark)
                        .expect("a file");
                }
            }
            5 if place.is_dir() => drop(std::fs::remove_file(place.join("references/a.md"))),
            6 if place.is_dir() => {
                let file = place.join("SKILL.md");
                if file.is_file() {
                    let mode = std::fs::Permissions::from_mode([0o755, 0o600][self.numbers.below(2)]);
                    std::fs::set_permissions(file, mode).expect("a mode");
                }
            }
            // Something else in its place: a directory, a file, a link.
            7..=9 if is_there || self.numbers.below(3) == 0 => {
                take_away(&place);
                std::fs::create_dir_all(place.parent().expect("a parent")).expect("directories");
                match kind {
                    7 => {
                        std::fs::create_dir(&place).expect("a directory");
                        std::fs::write(place.join("SKILL.md"), mark).expect("a file");
                    }
                    8 => std::fs::write(&place, mark).expect("a file"),
                    _ => {
                        let target = self.sandbox.root().join("elsewhere").join(&mark);
                        std::fs::create_dir(&target).expect("a directory");
                        std::fs::write(target.join("SKILL.md"), mark).expect("a file");
                        symlink(target, &place).expect("a link");
                    }
                }
            }
            10 => {
                let path = self.sandbox.project().join("skillpm.toml");
                if let Ok(text) = std::fs::read_to_string(&path) {
                    std::fs::write(path, format!("# {mark}\n{text}")).expect("a file");
                }
            }
            11 => {
                let path = self.sandbox.project().join("skillpm.lock");
                if let Ok(text) = std::fs::read_to_string(&path) {
                    let text = match self.numbers.below(3) {
                        // An entry is lost, or another one than was installed.
                        0 => text
                            .split_once("\n[[skill]]")
                            .map(|(head, _)| head.to_owned())
                            .unwrap_or_default(),
                        1 => text
                            .replace("digest = \"sha256:", "digest = \"sha256:0000")
                            .replace("0000\"", "\""),
                        _ => text.replace("sha256:a", "sha256:b"),
                    };
                    std::fs::write(path, text).expect("a file");
                }
            }
            _ => {
                let name = self.name();
                self.publish(name);
            }
        }
    }

    /// Runs a verb.
    fn run(&mut self) {
        let verb = VERBS[self.numbers.below(VERBS.len())];
        let name = self.name();
        let mut args: Vec<String> = Vec::new();
        for word in verb.split(' ') {
            match word.strip_prefix('?') {
                Some(_) if self.numbers.below(2) == 0 => {}
                Some(flag) => args.extend(flag.split('=').map(ToOwned::to_owned)),
                None => args.push(word.replace("NAME", name)),
            }
        }
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = self.sandbox.run(&words);
        self.log.push(format!("{}: {output}", args.join(" ")));
        let verb = verb.split(' ').next().unwrap_or_default().to_owned();
        *self.codes.entry((verb, output.code.unwrap_or(-1))).or_default() += 1;
        assert!(matches!(output.code, Some(0..=6)), "{}", self.log.join("\n"));
        assert!(!output.stderr.contains("panicked"), "{output}");
    }

    /// The marks that are anywhere on this machine.
    fn found(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for blob in blobs(self.sandbox.root()) {
            let text = String::from_utf8_lossy(&blob);
            for (at, _) in text.match_indices("mark-") {
                found.extend(text.get(at.."mark-0000-of-the-user".len() + at).map(ToOwned::to_owned));
            }
        }
        found
    }
}

fn take_away(place: &Path) {
    match std::fs::symlink_metadata(place) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(place).expect("removed"),
        Ok(_) => std::fs::remove_file(place).expect("removed"),
        Err(_) => {}
    }
}

/// S8: no byte that a user wrote is lost by any verb.
#[test]
fn no_verb_loses_what_a_user_wrote() {
    let mut codes: BTreeMap<(String, i32), usize> = BTreeMap::new();
    let mut marks = 0;
    for seed in 0..USERS {
        let mut user = User::new(seed);
        for _ in 0..DEEDS {
            // What the user takes away himself is his to take.
            if user.numbers.below(2) == 0 {
                user.edit();
                continue;
            }
            let before = user.found();
            user.run();
            let after = user.found();
            let lost: Vec<_> = before.difference(&after).collect();
            assert!(lost.is_empty(), "seed {seed}: lost {lost:?} by the last of\n{}", user.log.join("\n"));
        }
        marks += user.found().len();
        for (what, number) in user.codes {
            *codes.entry(what).or_default() += number;
        }
    }
    println!("{marks} marks are left; verbs, codes and how often: {codes:?}");
    // A test in which nothing works shows nothing.
    for verb in ["install", "remove", "disable", "enable", "link", "update", "undo", "cache"] {
        assert!(codes.contains_key(&(verb.to_owned(), 0)), "{verb} never worked: {codes:?}");
    }
}
