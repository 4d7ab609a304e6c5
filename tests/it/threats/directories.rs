//! Directories of this machine: d.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{AFTER, BEFORE, Scene, Want, Way};

use Want::Refused;

/// d01-symlink-file, d03-fifo, d08-sparse: links are not followed, pipes not opened, holes not filled; and
/// nothing of a file outside is copied, listed or told.
#[test]
fn what_lies_in_a_directory() {
    type Make = fn(&Scene, &std::path::Path);
    let cases: &[(&str, Make, Want)] = &[
        (
            "d01-symlink-file",
            |scene, dir| symlink(scene.outside().join("secret"), dir.join("x.md")).expect("a link"),
            Refused("a symbolic link that leads out of the skill"),
        ),
        (
            "d01, relative",
            |_, dir| symlink("../../../outside/secret", dir.join("x.md")).expect("a link"),
            Refused("a symbolic link that leads out of the skill"),
        ),
        (
            "d01, a directory",
            |scene, dir| symlink(scene.outside(), dir.join("x")).expect("a link"),
            Refused("a symbolic link that leads out of the skill"),
        ),
        (
            "d01, SKILL.md itself",
            |scene, dir| {
                std::fs::remove_file(dir.join("SKILL.md")).expect("removed");
                symlink(scene.outside().join("secret"), dir.join("SKILL.md")).expect("a link");
            },
            Refused("a symbolic link, it must be a real file"),
        ),
        ("d03-fifo", |_, dir| pipe(&dir.join("pipe")), Refused("a named pipe is not allowed")),
        (
            "d03, SKILL.md itself",
            |_, dir| {
                std::fs::remove_file(dir.join("SKILL.md")).expect("removed");
                pipe(&dir.join("SKILL.md"));
            },
            Refused("a named pipe"),
        ),
        (
            "d08-sparse",
            |_, dir| {
                let file = std::fs::File::create(dir.join("hole")).expect("a file");
                file.set_len(8 << 30).expect("a hole");
            },
            Refused("the content has 8589934"),
        ),
        (
            "d08, SKILL.md itself",
            |_, dir| {
                let file = std::fs::OpenOptions::new().append(true).open(dir.join("SKILL.md"));
                file.and_then(|file| file.set_len(8 << 30)).expect("a hole");
            },
            Refused("bytes"),
        ),
    ];
    for (id, make, want) in cases {
        let scene = Scene::new(Way::Directory, &[]);
        let dir = scene.sandbox.project().join("source/demo");
        std::fs::write(dir.join("SKILL.md"), AFTER).expect("a file");
        make(&scene, &dir);
        scene.attack(id, *want);
        assert_eq!(std::fs::read_to_string(scene.skill().join("SKILL.md")).expect("there"), BEFORE, "{id}");
        // Other verbs that look at the directory end too, and tell nothing of what lies outside.
        for args in [&["validate", "./source/demo"][..], &["install", "--list", "./source"], &["list"]] {
            let output = scene.run(args);
            assert!(output.code.is_some() && !format!("{output}").contains("TOPSECRET"), "{id}: {output}");
        }
    }
}

/// zl16-setuid for a directory: odd modes are made plain.
#[test]
fn modes_of_a_directory() {
    let scene = Scene::new(Way::Directory, &[]);
    let dir = scene.sandbox.project().join("source/demo");
    std::fs::write(dir.join("SKILL.md"), AFTER).expect("a file");
    std::fs::create_dir(dir.join("open")).expect("a directory");
    for (name, mode) in [("a", 0o4755), ("open/b", 0o2777), ("c", 0o600)] {
        std::fs::write(dir.join(name), "x").expect("a file");
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(mode)).expect("a mode");
    }
    std::fs::set_permissions(dir.join("open"), std::fs::Permissions::from_mode(0o1777)).expect("a mode");
    scene.attack("zl16, a directory", Want::Quiet);
    assert_eq!(scene.files(), ["644 SKILL.md", "644 c", "755 a", "755 open/b"]);
}

/// CVE-2023-38497: whatever the umask is, nobody else may write to what is installed, and a narrower one
/// is kept to.
#[test]
fn masks_of_the_shell() {
    for (mask, modes) in [("000", ["644 SKILL.md", "755 run.sh"]), ("077", ["600 SKILL.md", "700 run.sh"])] {
        let scene = Scene::new(Way::Directory, &[]);
        let run = scene.sandbox.write("source/demo/run.sh", "#!/bin/sh\n");
        std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777)).expect("a mode");
        let inner = scene.sandbox.command(&["install", "./source", "--allow-new-capabilities"]);
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", &format!("umask {mask} && exec \"$0\" \"$@\"")]);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(scene.sandbox.project());
        command.env_clear().env("HOME", scene.sandbox.home());
        let output = scene.sandbox.output(&mut command);
        assert_eq!(output.code, Some(0), "{mask}: {output}");
        assert_eq!(scene.files(), modes, "{mask}");
    }
}

/// CVE-2026-55699 and its kin: a name that is a path is refused by every verb that takes one, also where
/// something lies at that path.
#[test]
fn names_that_are_paths() {
    let scene = Scene::new(Way::Directory, &[]);
    let before = scene.look();
    let outside = scene.outside().display().to_string();
    for name in ["..", ".", "../..", "../skills/demo", "demo/..", "-rf", "", &outside, "a\nb"] {
        for args in [
            &["remove", "--force", "--", name][..],
            &["disable", "--force", "--", name],
            &["enable", "--", name],
            &["install", "./source", "--as", name],
            &["link", "--agent", "cursor", "--", name],
            &["unlink", "--agent", "cursor", "--", name],
        ] {
            let output = scene.run(args);
            assert!(matches!(output.code, Some(2 | 3)), "{args:?}: {output}");
            assert_eq!(scene.look(), before, "{args:?}");
        }
    }
}

fn pipe(path: &std::path::Path) {
    use rustix::fs::{CWD, FileType, mknodat};
    mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).expect("a pipe");
}
