//! Situations of files that are damaged, lost or somebody else's.

use super::{claude, installed, is, kit, nothing, skill};
use crate::hints::{Scene, Situation, run, with};

/// A skill was edited, its source changed, and what it was is nowhere on this machine.
fn without_base(scene: &mut Scene) {
    scene.sandbox.write("src/own/SKILL.md", skill("own", ""));
    scene.ok("skillpm install ./src/own");
    scene.ok("echo mine >> .agents/skills/own/SKILL.md && echo theirs >> src/own/SKILL.md");
    scene.ok("rm -rf ../home/.local/share ../home/.cache");
}

/// A removal whose record has lost what it removed.
fn damaged(scene: &mut Scene) {
    installed(scene);
    scene.ok("skillpm remove alone");
    scene.ok("rm -rf ../home/.local/share && find .agents/.skillpm-undo -name SKILL.md | xargs rm");
}

fn ours(scene: &Scene, text: &str) {
    assert!(scene.sandbox.read(".agents/skills/own/SKILL.md").contains(text));
}

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "update, an edited skill whose base is gone",
        arrange: without_base,
        typed: ("skillpm update own", 5),
        told: &[
            run("skillpm update own --ours", |scene, _| ours(scene, "mine")),
            with("--theirs", "skillpm update own --theirs", |scene, _| ours(scene, "theirs")),
            with("--force", "skillpm update own --force", |scene, _| ours(scene, "theirs")),
        ],
    },
    Situation {
        name: "update, an archive that holds another skill",
        arrange: |scene| {
            scene.sandbox.write("a/SKILL.md", skill("a", ""));
            scene.sandbox.write("z/SKILL.md", skill("z", ""));
            scene.ok("tar czf a.tgz -C a . && skillpm install ./a.tgz && tar czf a.tgz -C z .");
        },
        typed: ("skillpm update", 1),
        told: &[run("skillpm remove a", |scene, _| assert!(scene.installed().is_empty()))],
    },
    Situation {
        name: "undo, a record without what was removed",
        arrange: damaged,
        typed: ("skillpm undo", 5),
        told: &[run("skillpm undo --forget", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "undo, a record without the old text of the manifest",
        arrange: |scene| {
            installed(scene);
            claude(scene);
            scene.ok("skillpm link --agent claude-code");
            scene.ok("find .agents/.skillpm-undo -name '*toml*' | xargs rm");
        },
        typed: ("skillpm undo", 5),
        told: &[run("skillpm undo --forget", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "undo, a note that cannot be read",
        arrange: |scene| {
            installed(scene);
            scene.ok("for note in ../home/.local/state/skillpm/undo/*; do echo x > $note; done");
        },
        typed: ("skillpm undo", 6),
        told: &[run("skillpm undo --forget", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "install --frozen, a lockfile without what skills need",
        arrange: |scene| {
            installed(scene);
            scene.ok("awk -v RS= -v ORS='\\n\\n' '!/skills.brand/' skillpm.lock > x && mv x skillpm.lock && rm -r .agents");
        },
        typed: ("skillpm install --frozen", 3),
        told: &[run("skillpm install", |scene, _| is(scene, "brand", "ok"))],
    },
    Situation {
        name: "install, of a repository whose head cannot be read",
        arrange: |scene| {
            scene.sandbox.write("r/SKILL.md", skill("r", ""));
            scene.ok(
                "cd r && git init -q -b main && git add . && git -c user.name=x -c user.email=x@x commit -q -m x",
            );
            scene.ok("echo broken > r/.git/HEAD");
        },
        typed: ("skillpm install git+./r", 6),
        told: &[with("--branch", "skillpm install git+./r --branch main", |scene, _| is(scene, "r", "ok"))],
    },
    Situation {
        name: "why, what nobody locked",
        arrange: |scene| {
            scene.sandbox.write(".agents/skills/own/SKILL.md", "x");
        },
        typed: ("skillpm why own", 1),
        told: &[run("skillpm list", |_, output| assert!(output.stdout.contains("own")))],
    },
    Situation {
        name: "validate, some of which can safely be repaired",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", "metadata: {a: b}\nauthor: me\n"));
        },
        typed: ("skillpm validate pdf --profile publish", 0),
        told: &[
            with("--fix", "skillpm validate pdf --profile publish --fix", |_, _| {}),
            with("--fix=unsafe", "skillpm validate pdf --fix=unsafe", |scene, _| {
                assert!(!scene.sandbox.read("pdf/SKILL.md").contains("\nauthor"));
            }),
            with("--diff", "skillpm validate pdf --profile publish --fix=unsafe --diff", |_, _| {}),
            run("skillpm explain yaml-flow-style", |_, _| {}),
        ],
    },
    Situation {
        name: "update, what was left unresolved",
        arrange: |scene| {
            installed(scene);
            let mine = skill("alone", "").replace("Do it.", "Do it my way.");
            scene.sandbox.write(".agents/skills/alone/SKILL.md", mine);
            let theirs = skill("alone", "").replace("Do it.", "Do it their way.");
            scene.forge.repo("acme/kit").commit(&kit().file("skills/alone/SKILL.md", theirs));
            scene.ok("skillpm update alone; test $? -eq 1");
        },
        typed: ("skillpm update alone", 1),
        told: &[
            run("skillpm update alone --ours", |scene, _| is(scene, "alone", "edited")),
            with("--theirs", "skillpm update alone --theirs", |scene, _| is(scene, "alone", "ok")),
            run("skillpm update alone --abort", |scene, _| is(scene, "alone", "edited")),
        ],
    },
    Situation {
        name: "explain, a slip",
        arrange: nothing,
        typed: ("skillpm explain name-lenght", 2),
        told: &[],
    },
    Situation {
        name: "why, a slip that somebody wrote",
        arrange: |scene| {
            installed(scene);
            scene.sandbox.write(".agents/skills/alnoe/SKILL.md", "x");
        },
        typed: ("skillpm why alnoe", 1),
        told: &[run("skillpm why alone", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "install -g, for an agent without a directory of yours",
        arrange: super::with_kit,
        typed: ("skillpm install -g acme/kit@alone --agent eve", 2),
        told: &[with(
            "--scope project",
            "skillpm install acme/kit@alone --agent eve --scope project",
            |scene, _| is(scene, "alone", "ok"),
        )],
    },
];
