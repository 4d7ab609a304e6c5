//! Damage to what skillpm keeps for itself: each file below its data and cache directories is deleted, cut
//! off, changed, replaced or locked away, whatever the layout. It is noticed, mended where the source can be
//! asked, and never are other bytes installed. THREATS.md section 7, corrupt cache or store.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::support::snapshot::{self, Snapshot};
use crate::support::{Forge, GitRepo, Sandbox, Tree};

/// A kind of damage, and what it does to the file at a path.
type Damage = (&'static str, fn(&Path));

fn overwrite(path: &Path, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
    let bytes = std::fs::read(path).expect("a file");
    std::fs::write(path, change(bytes)).expect("a file");
}

fn remove(path: &Path) {
    std::fs::remove_file(path).expect("removed");
}

const DAMAGES: [Damage; 10] = [
    ("deleted", remove),
    ("emptied", |path| overwrite(path, |_| Vec::new())),
    ("cut off", |path| overwrite(path, |bytes| bytes[..bytes.len() / 2].to_vec())),
    ("one bit flipped", |path| {
        overwrite(path, |mut bytes| {
            let middle = bytes.len() / 2;
            bytes.iter_mut().skip(middle).take(1).for_each(|byte| *byte ^= 4);
            bytes
        });
    }),
    ("last bit flipped", |path| {
        overwrite(path, |mut bytes| {
            bytes.iter_mut().rev().take(1).for_each(|byte| *byte ^= 4);
            bytes
        });
    }),
    ("other bytes", |path| overwrite(path, |bytes| vec![b'x'; bytes.len()])),
    ("longer", |path| overwrite(path, |bytes| [bytes, b"more".to_vec()].concat())),
    ("a link", |path| {
        remove(path);
        symlink("/etc/hostname", path).expect("a link");
    }),
    ("a directory", |path| {
        remove(path);
        std::fs::create_dir(path).expect("a directory");
        std::fs::write(path.join("SKILL.md"), "x").expect("a file");
    }),
    ("unreadable", |path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).expect("chmod");
    }),
];

/// The files below `dir`, which skillpm keeps for itself.
fn files(dir: &Path) -> Vec<PathBuf> {
    let all = Snapshot::of(dir).0;
    let files = all.into_iter().filter(|(_, thing)| matches!(thing, snapshot::Thing::File(..)));
    files.map(|(path, _)| dir.join(path)).collect()
}

/// A machine with skills from a repository on GitHub, an archive on the web and a git repository.
fn machine(forge: &Forge) -> Sandbox {
    let of = |name: &str| Tree::new().skill(name, name).executable(&format!("{name}/run.sh"), name);
    forge.repo("acme/skills").commit(&of("one").skill("two", "two"));
    forge.serve("/three.zip", of("three").zip());
    let mut sandbox = Sandbox::in_memory();
    sandbox.forge(forge);
    let repository = GitRepo::new(&sandbox.root().join("srv"));
    repository.commit(&of("four"));
    let (web, git) = (forge.url("/three.zip"), format!("git+file://{}", repository.path().display()));
    for source in ["acme/skills", &web, &git] {
        let output = sandbox.run(&["install", source, "-s", "*", "-a", "claude-code"]);
        assert_eq!(output.code, Some(0), "{output}");
    }
    sandbox
}

fn kept(sandbox: &Sandbox) -> Vec<PathBuf> {
    let dirs = [".local", ".cache"].map(|dir| sandbox.home().join(dir));
    dirs.iter().flat_map(|dir| files(dir)).collect()
}

fn clone(sandbox: &Sandbox) {
    for dir in [".agents", ".claude"] {
        std::fs::remove_dir_all(sandbox.project().join(dir)).expect("removed");
    }
}

/// What agents see. A skill is there as it was locked, or not at all.
fn installed(sandbox: &Sandbox, whole: &Snapshot, what: &str) -> Snapshot {
    let there = Snapshot::of(&sandbox.project().join(".agents/skills"));
    for (path, thing) in &there.0 {
        assert_eq!(whole.0.get(path), Some(thing), "{what}: other bytes were installed");
    }
    there
}

#[test]
fn every_file_that_is_kept_damaged_in_every_way() {
    let forge = Forge::start();
    // What is lost in one of the two places may still be in the other.
    for gone in [None, Some(".local"), Some(".cache")] {
        let sandbox = machine(&forge);
        if let Some(gone) = gone {
            std::fs::remove_dir_all(sandbox.home().join(gone)).expect("removed");
        }
        damage_each(&sandbox, gone.unwrap_or("nothing"));
    }
}

fn damage_each(sandbox: &Sandbox, gone: &str) {
    let saved = Sandbox::in_memory();
    let whole = Snapshot::of(&sandbox.project().join(".agents/skills"));
    let lock = sandbox.read("skillpm.lock");
    clone(sandbox);
    snapshot::restore(sandbox.root(), saved.root());
    let files = kept(sandbox);
    assert!(files.len() >= 2, "{files:?}");
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    for file in &files {
        for (damage, does) in DAMAGES {
            for offline in [false, true] {
                snapshot::restore(saved.root(), sandbox.root());
                does(file);
                let name = file.strip_prefix(sandbox.home()).expect("below").display();
                let what = format!("{name} {damage}, offline {offline}");
                let args: &[&str] = if offline { &["install", "--offline"] } else { &["install"] };
                let output = sandbox.run(args);
                let there = installed(sandbox, &whole, &what);
                assert_eq!(sandbox.read("skillpm.lock"), lock, "{what}");
                match output.code {
                    Some(0) => assert_eq!(there, whole, "{what}: {output}"),
                    Some(code @ (4 | 5)) if offline => {
                        assert!(output.stderr.contains("error: "), "{what}: {code} {output}");
                        assert!(output.stderr.contains("hint: "), "{what}: no next step: {output}");
                    }
                    _ => panic!("{what}: {output}"),
                }
                let net = if offline { "offline" } else { "online" };
                *ends.entry(format!("{net}, exit {}", output.code.unwrap_or_default())).or_default() += 1;
                // With the source at hand, one ordinary run mends what was damaged for good.
                let output = sandbox.run(&["install"]);
                assert_eq!(output.code, Some(0), "{what}: {output}");
                assert_eq!(installed(sandbox, &whole, &what), whole, "{what}: {output}");
            }
        }
    }
    println!("without {gone}: {} files, {} kinds of damage: {ends:?}", files.len(), DAMAGES.len());
}

/// `cache verify` finds damage too, and a restore that needs the tree puts a whole one in its place.
#[test]
fn every_file_of_the_store_is_checked() {
    let forge = Forge::start();
    let (sandbox, saved) = (machine(&forge), Sandbox::in_memory());
    snapshot::restore(sandbox.root(), saved.root());
    let store = sandbox.home().join(".local/share");
    for file in files(&store) {
        for (damage, does) in DAMAGES {
            snapshot::restore(saved.root(), sandbox.root());
            does(&file);
            let what = format!("{} {damage}", file.strip_prefix(&store).expect("below").display());
            let is_root = rustix::process::geteuid().is_root();
            if damage == "unreadable" && is_root {
                // Nobody hinders root from reading.
                continue;
            }
            let output = sandbox.run(&["cache", "verify"]);
            // A tree that is one file is not there any more, and nothing that is there is wrong.
            let is_gone = damage == "deleted" && output.code == Some(0);
            assert!(output.code == Some(5) || is_gone, "{what}: {output}");
            clone(&sandbox);
            let output = sandbox.run(&["install"]);
            assert_eq!(output.code, Some(0), "{what}: {output}");
            let output = sandbox.run(&["cache", "verify"]);
            assert_eq!(output.code, Some(0), "{what}: {output}");
        }
    }
}
