//! What skillpm did not make stays, wherever it is: things of a skill's name in the directories of all agents, before
//! each verb that changes a scope. Equal bytes prove nothing, and nothing is taken without `--force`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use skillpm_core::agents;

use crate::support::{Sandbox, Snapshot};

const NAME: &str = "pdf";
const FIRST: &str = "first";

/// What somebody has in the place of the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// The very bytes of the skill.
    Equal,
    /// The same, and files that tools left and no digest covers.
    EqualAndLeftovers,
    /// Another skill of the same name.
    Different,
    /// An empty directory.
    Empty,
    /// A file.
    File,
    /// A link to nowhere.
    Link,
}

const CONTENTS: [Content; 6] = [
    Content::Equal,
    Content::EqualAndLeftovers,
    Content::Different,
    Content::Empty,
    Content::File,
    Content::Link,
];

/// The changes after an installation: each line of words is a command, `!` edits a file of the scope.
const SEQUENCES: [(&str, &[&str]); 9] = [
    ("remove", &["remove pdf"]),
    ("remove all", &["remove *"]),
    ("disable and enable", &["disable pdf", "enable pdf"]),
    ("doctor", &["doctor --fix", "doctor --fix"]),
    ("no agents, doctor", &["!targets", "doctor --fix", "install"]),
    ("taken out of the manifest", &["!manifest", "install"]),
    ("unlink", &["unlink -a *"]),
    ("copies, update", &["install --copy", "!source", "update"]),
    ("update, undo, restore", &["!source", "update", "undo", "install", "update"]),
];

fn skill(text: &str) -> String {
    format!("---\nname: {NAME}\ndescription: Reads files. Use it in tests.\n---\n{text}\n")
}

fn put(place: &PathBuf, content: Content) {
    let write = |path: &str, bytes: &str| {
        let path = place.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, bytes).expect("a file");
    };
    match content {
        Content::Equal | Content::EqualAndLeftovers | Content::Different => {
            write("SKILL.md", &skill(if content == Content::Different { "mine" } else { FIRST }));
            write("notes.txt", "n\n");
            if content == Content::EqualAndLeftovers {
                write("venv/pyvenv.cfg", "x");
                write("notes.txt~", "my notes");
            }
        }
        Content::Empty => std::fs::create_dir_all(place).expect("a directory"),
        Content::File | Content::Link => {
            std::fs::create_dir_all(place.parent().expect("a parent")).expect("directories");
            if content == Content::File {
                std::fs::write(place, "mine").expect("a file");
            } else {
                std::os::unix::fs::symlink("/nowhere/pdf", place).expect("a link");
            }
        }
    }
}

/// The places of the skill in the directories of all agents, those of the scope first. Which directories are links to
/// others is for other tests.
fn places(sandbox: &Sandbox, user: bool) -> Vec<PathBuf> {
    let settings = sandbox.settings();
    let dirs: BTreeSet<PathBuf> = if user {
        agents::all().iter().flat_map(|agent| agent.user_dirs(&settings).collect::<Vec<_>>()).collect()
    } else {
        let dirs = agents::all().iter().flat_map(|agent| &agent.project_dirs);
        dirs.map(|dir| sandbox.project().join(dir)).collect()
    };
    dirs.into_iter().filter(|dir| dir.starts_with(sandbox.root())).map(|dir| dir.join(NAME)).collect()
}

fn run_sequence(content: Content, sequence: (&str, &[&str]), user: bool) {
    let sandbox = Sandbox::in_memory();
    let (what, steps) = sequence;
    let what = format!("{content:?}, {what}, {}", if user { "user" } else { "project" });
    sandbox.write("src/pdf/SKILL.md", skill(FIRST));
    sandbox.write("src/pdf/notes.txt", "n\n");
    let places = places(&sandbox, user);
    assert!(places.len() > 50, "{}", places.len());
    // An agent that gets a link, and the canonical place: a file or another skill there is an error, not a loss.
    let is_taken = |place: &PathBuf| {
        let place = place.display().to_string();
        !matches!(content, Content::Equal | Content::EqualAndLeftovers)
            && (place.contains("/.claude/") || place.contains("/.agents/"))
    };
    let places: Vec<_> = places.into_iter().filter(|place| !is_taken(place)).collect();
    for place in &places {
        put(place, content);
    }
    let look = || -> Vec<_> {
        let links = places.iter().map(|place| std::fs::read_link(place).ok());
        let files = places.iter().map(|place| std::fs::read(place).ok());
        let trees = places.iter().map(|place| (place.exists(), Snapshot::of(place)));
        places.iter().zip(trees.zip(links.zip(files))).collect()
    };
    let before = look();
    let scope = if user { "-g" } else { "-p" };
    let mut all: Vec<Vec<&str>> =
        vec![vec!["install", "./src", "--skill", NAME, "--agent", "claude-code", "-y"]];
    all.extend(steps.iter().map(|step| step.split(' ').collect()));
    for words in all {
        let root = if user { sandbox.home().join(".config/skillpm") } else { sandbox.project() };
        let manifest = root.join("skillpm.toml");
        let edit = |edit: &dyn Fn(String) -> String| {
            let text = std::fs::read_to_string(&manifest).expect("a manifest");
            std::fs::write(&manifest, edit(text)).expect("written");
        };
        match words[0] {
            "!targets" => edit(&|text| text.replace("targets = [\"claude-code\"]", "targets = []")),
            "!manifest" => {
                edit(&|text| text.split_inclusive('\n').filter(|line| !line.starts_with("pdf")).collect());
            }
            "!source" => drop(sandbox.write("src/pdf/SKILL.md", skill("second"))),
            _ => {
                let mut args = words.clone();
                args.push(scope);
                let output = sandbox.run(&args);
                // Something in the way is told, and an agent's own copy may need a decision: that is no loss.
                // Nor is that nothing was installed, or nothing is left to do.
                assert!(matches!(output.code, Some(0..=2)), "{what}: {args:?}: {output}");
            }
        }
        let after = look();
        for (was, is) in before.iter().zip(&after) {
            assert_eq!(was, is, "{what}: lost by {words:?}");
        }
    }
}

/// Every content with every sequence in the project; for the user's own skills each content meets each third sequence,
/// and so each sequence meets two contents.
#[test]
fn what_skillpm_did_not_make_stays() {
    let mut runs = Vec::new();
    for (at, content) in CONTENTS.into_iter().enumerate() {
        for (number, sequence) in SEQUENCES.into_iter().enumerate() {
            runs.push((content, sequence, false));
            if (at + number) % 3 == 0 {
                runs.push((content, sequence, true));
            }
        }
    }
    let next = std::sync::Mutex::new(runs.into_iter());
    std::thread::scope(|threads| {
        let workers: Vec<_> = (0..2)
            .map(|_| {
                threads.spawn(|| {
                    loop {
                        let run = next.lock().expect("no panic").next();
                        let Some((content, sequence, user)) = run else { return };
                        run_sequence(content, sequence, user);
                    }
                })
            })
            .collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}
