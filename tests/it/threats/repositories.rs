//! Git repositories: gg. What they are made of by hand; `git.rs` has the rest of them.

use super::{AFTER, BEFORE, Scene, Want, Way};
use crate::support::{GitRepo, Tree};

use Want::{Quiet, Refused};

/// The tree of a skill with one more entry: its mode, its name, its object.
fn skill(repo: &GitRepo, extra: (&str, &[u8], &str)) -> String {
    let text = repo.object("blob", AFTER.as_bytes());
    let mut entries = vec![("100644", &b"SKILL.md"[..], text.as_str()), extra];
    entries.sort_by_key(|entry| entry.1);
    repo.tree_of(&entries)
}

/// gg03-dotgit-tree, gg20-tree-bomb-inside, zl01, zn01 and zn22 as git objects, over an installation.
#[test]
fn objects_that_git_would_not_make() {
    type Make = fn(&GitRepo) -> String;
    let cases: &[(&str, Make, Want)] = &[
        (
            "gg03-dotgit-tree",
            |repo| {
                let hook = repo.object("blob", b"#!/bin/sh\ntouch CANARY\n");
                let hooks = repo.tree_of(&[("100755", b"post-checkout", &hook)]);
                let dir = repo.tree_of(&[("40000", b"hooks", &hooks)]);
                skill(repo, ("40000", b".git", &dir))
            },
            Refused(""),
        ),
        (
            "gg20-tree-bomb-inside",
            |repo| {
                let mut id = repo.object("blob", b"x");
                for level in 0..10 {
                    let names: Vec<Vec<u8>> = (b'0'..=b'9').map(|c| vec![b'f', c]).collect();
                    let mode = if level == 0 { "100644" } else { "40000" };
                    let entries: Vec<_> = names.iter().map(|name| (mode, &name[..], id.as_str())).collect();
                    id = repo.tree_of(&entries);
                }
                skill(repo, ("40000", b"bomb", &id))
            },
            Refused("entries"),
        ),
        (
            "zl01, in git",
            |repo| skill(repo, ("120000", b"passwd", &repo.object("blob", b"/etc/passwd"))),
            Refused("a symbolic link that leads out of the skill"),
        ),
        (
            "zn01, in git",
            |repo| {
                let inner = repo.tree_of(&[("100644", b"CANARY", &repo.object("blob", b"x"))]);
                skill(repo, ("40000", b"..", &inner))
            },
            Refused(""),
        ),
        (
            "zn22, in git",
            |repo| skill(repo, ("100644", b"skill.md", &repo.object("blob", b"x"))),
            Refused("the same name on some file systems"),
        ),
    ];
    for way in [Way::Git, Way::GitServer] {
        for (id, make, want) in cases {
            let scene = Scene::new(way, &[]);
            let repo = scene.repository();
            let tree = make(&repo);
            repo.commit_entries(&[("40000", b"demo", &tree)]);
            scene.attack(id, *want);
            assert_eq!(std::fs::read_to_string(scene.skill().join("SKILL.md")).expect("there"), BEFORE);
        }
    }
}

/// gg21-replace-ref, gg22-evil-config: what a repository says to git is not done.
#[test]
fn what_a_repository_says_to_git() {
    for way in [Way::Git, Way::GitServer] {
        let scene = Scene::new(way, &[]);
        let repo = scene.repository();
        let old = repo.git(&["rev-parse", "HEAD"]);
        let new = repo.commit(&Tree::new().file("demo/SKILL.md", AFTER));
        repo.git(&["replace", &new, &old]);
        let canary = format!("touch {}", scene.outside().join("CANARY").display());
        for key in ["core.fsmonitor", "core.sshCommand", "uploadpack.packObjectsHook", "core.pager"] {
            repo.git(&["config", key, &canary]);
        }
        scene.attack("gg21, gg22", Quiet);
        assert_eq!(std::fs::read_to_string(scene.skill().join("SKILL.md")).expect("there"), AFTER);
    }
}

/// gg09-submodule-option: nothing is fetched for a submodule; what comes from a server is looked at by git
/// as well, which refuses such an address.
#[test]
fn gg09_a_submodule_whose_address_is_an_option() {
    for (way, want) in [(Way::Git, Quiet), (Way::GitServer, Refused("an object that no repository may have"))]
    {
        let scene = Scene::new(way, &[]);
        let repo = scene.repository();
        let old = repo.git(&["rev-parse", "HEAD"]);
        let canary = scene.outside().join("CANARY").display().to_string();
        let modules = format!("[submodule \"x\"]\n\tpath = --x\n\turl = -u touch {canary}\n");
        Tree::new().file("demo/SKILL.md", AFTER).file(".gitmodules", modules).write(repo.path());
        repo.git(&["add", "--all"]);
        repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{old},lib")]);
        repo.commit_index();
        scene.attack("gg09-submodule-option", want);
    }
}
