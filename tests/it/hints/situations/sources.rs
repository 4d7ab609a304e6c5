//! Situations of sources: which skill of which revision is meant, and how it may be named.

use super::{by_hand, installed, is, kit, nothing, skill, with_kit};
use crate::hints::{Scene, Situation, ends, run, with};
use crate::support::Tree;

/// A tag of the kit.
fn tagged(scene: &mut Scene) {
    let commit = scene.forge.repo("acme/kit").commit(&kit());
    scene.forge.repo("acme/kit").tag("v1.2", &commit);
}

/// GitHub has a skill whose file names it `name`.
fn named(scene: &Scene, name: &str) {
    scene.forge.repo("acme/odd").commit(&Tree::new().file("x/SKILL.md", skill(name, "")));
}

/// A repository of git on this machine, with one skill on `main`.
fn repository(scene: &mut Scene) {
    scene.sandbox.write("r/SKILL.md", skill("r", ""));
    scene.ok(
        "cd r && git init -q -b main && git add . && git -c user.name=x -c user.email=x@x commit -q -m x",
    );
}

/// Two directories with a skill of the same name; that of `two` is installed.
fn two(scene: &mut Scene) {
    scene.sandbox.write("one/pdf/SKILL.md", skill("pdf", ""));
    scene.sandbox.write("two/pdf/SKILL.md", skill("pdf", "license: MIT\n"));
    scene.ok("skillpm install ./two/pdf");
}

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "install, of a source with several skills",
        arrange: with_kit,
        typed: ("skillpm install acme/kit", 2),
        told: &[
            run("skillpm install acme/kit --skill alone", |scene, _| is(scene, "alone", "ok")),
            with("--skill '*'", "skillpm install acme/kit --skill '*'", |scene, _| is(scene, "pdf", "ok")),
        ],
    },
    Situation {
        name: "install, of a directory that is not there",
        arrange: with_kit,
        typed: ("skillpm install acme/kit/skill/pdf", 2),
        told: &[run("skillpm install --list acme/kit", |_, output| {
            assert!(output.stdout.contains("alone"));
        })],
    },
    Situation {
        name: "install, a directory with several skills",
        arrange: |scene| {
            for name in ["a", "b"] {
                scene.sandbox.write(&format!("r/tests/{name}/SKILL.md"), skill(name, ""));
            }
        },
        typed: ("skillpm install ./r --skill ./tests", 2),
        told: &[with("--skill tests/a", "skillpm install ./r --skill tests/a", |scene, _| {
            is(scene, "a", "ok");
        })],
    },
    Situation {
        name: "install, two skills of a name",
        arrange: |scene| {
            let one = skill("pdf", "license: MIT\n");
            let tree = Tree::new().file("skills/a/SKILL.md", skill("pdf", "")).file("skills/b/SKILL.md", one);
            scene.forge.repo("acme/kit").commit(&tree);
        },
        typed: ("skillpm install acme/kit@pdf", 2),
        told: &[],
    },
    Situation {
        name: "install, a version in the place of a skill",
        arrange: tagged,
        typed: ("skillpm install acme/kit@v1.2", 2),
        told: &[
            with("--tag v1.2", "skillpm install acme/kit --tag v1.2 --skill alone", |scene, _| {
                is(scene, "alone", "ok");
            }),
            run("skillpm install --list acme/kit", |_, _| {}),
        ],
    },
    Situation {
        name: "install, a name that is a path",
        arrange: |scene| named(scene, "../../CANARY"),
        typed: ("skillpm install acme/odd", 5),
        told: &[with("--as NAME", "skillpm install acme/odd --as good", |scene, _| is(scene, "good", "ok"))],
    },
    Situation {
        name: "install, a name that mixes alphabets",
        arrange: |scene| named(scene, "p\u{430}ypal"),
        typed: ("skillpm install acme/odd", 5),
        told: &[with("--as NAME", "skillpm install acme/odd --as good", |scene, _| is(scene, "good", "ok"))],
    },
    Situation {
        name: "install, an alias for several skills",
        arrange: with_kit,
        typed: ("skillpm install acme/kit --skill '*' --as x", 2),
        told: &[with("--skill NAME", "skillpm install acme/kit --skill alone --as x", |scene, _| {
            is(scene, "x", "ok");
        })],
    },
    Situation {
        name: "install, an alias for skills of two sources",
        arrange: with_kit,
        typed: ("skillpm install acme/kit/skills/brand acme/kit/skills/alone --as x", 2),
        told: &[with("--as NAME", "skillpm install acme/kit/skills/alone --as x", |scene, _| {
            is(scene, "x", "ok");
        })],
    },
    Situation {
        name: "install, an empty alias",
        arrange: with_kit,
        typed: ("skillpm install acme/kit@alone --as ''", 2),
        told: &[with("--as", "skillpm install acme/kit@alone --as x", |scene, _| is(scene, "x", "ok"))],
    },
    Situation {
        name: "install, a name that none of several sources has",
        arrange: |scene| {
            with_kit(scene);
            named(scene, "odd");
        },
        typed: ("skillpm install acme/kit acme/odd --skill nope", 2),
        told: &[run("skillpm install --list acme/kit acme/odd", |_, output| {
            assert!(output.stdout.contains("alone") && output.stdout.contains("odd"));
        })],
    },
    Situation {
        name: "install, a word that may be a skill of the source before it",
        arrange: |scene| {
            with_kit(scene);
            scene.sandbox.write("alone/SKILL.md", skill("alone", ""));
        },
        typed: ("skillpm install acme/kit alone", 2),
        told: &[with("--skill alone", "skillpm install acme/kit --skill alone", |scene, _| {
            is(scene, "alone", "ok");
        })],
    },
    Situation {
        name: "install, what is no source",
        arrange: nothing,
        typed: ("skillpm install 'ext::sh -c x'", 2),
        told: &[],
    },
    Situation {
        name: "install --rev, of a branch",
        arrange: |scene| {
            let commit = scene.forge.repo("acme/kit").commit(&kit());
            scene.forge.repo("acme/kit").tag("v1", &commit).branch("main", &commit);
        },
        typed: ("skillpm install acme/kit@alone --rev main", 2),
        told: &[
            with("--tag", "skillpm install acme/kit@alone --tag v1", |scene, _| is(scene, "alone", "ok")),
            with("--branch", "skillpm install acme/kit@alone --branch main", |scene, _| {
                is(scene, "alone", "ok");
            }),
        ],
    },
    Situation {
        name: "install --rev, of a branch of a repository here",
        arrange: |scene| {
            repository(scene);
            scene.ok("cd r && git tag v1");
        },
        typed: ("skillpm install git+./r --rev main", 2),
        told: &[
            with("--tag", "skillpm install git+./r --tag v1", |scene, _| is(scene, "r", "ok")),
            with("--branch", "skillpm install git+./r --branch main", |scene, _| is(scene, "r", "ok")),
        ],
    },
    Situation {
        name: "install, of a repository whose default branch is not there",
        arrange: |scene| {
            repository(scene);
            scene.ok("cd r && git symbolic-ref HEAD refs/heads/none");
        },
        typed: ("skillpm install git+./r", 2),
        told: &[with("--branch main", "skillpm install git+./r --branch main", |scene, _| {
            is(scene, "r", "ok");
        })],
    },
    Situation {
        name: "install, of a directory that is no repository of git",
        arrange: |scene| {
            scene.sandbox.write("r/SKILL.md", skill("r", ""));
        },
        typed: ("skillpm install git+./r", 2),
        told: &[run("skillpm install --list ./r", |_, output| assert!(output.stdout.contains('r')))],
    },
    Situation {
        name: "install, from where skills are installed",
        arrange: by_hand,
        typed: ("skillpm install ./.agents/skills/own", 2),
        told: &[run("skillpm import own", |scene, _| is(scene, "own", "editable"))],
    },
    Situation {
        name: "install -e, from where skills are installed",
        arrange: by_hand,
        typed: ("skillpm install -e ./.agents/skills/own", 2),
        told: &[with("skillpm import NAME", "skillpm import own", |scene, _| is(scene, "own", "editable"))],
    },
    Situation {
        name: "install -e, of a repository",
        arrange: with_kit,
        typed: ("skillpm install -e acme/kit@alone", 2),
        told: &[with("--editable", "skillpm install acme/kit@alone", |scene, _| is(scene, "alone", "ok"))],
    },
    Situation {
        name: "install -e, of an archive",
        arrange: |scene| {
            scene.sandbox.write("a/SKILL.md", skill("a", ""));
            scene.ok("tar czf a.tgz a");
        },
        typed: ("skillpm install -e ./a.tgz", 2),
        told: &[with("--editable", "skillpm install ./a.tgz", |scene, _| is(scene, "a", "ok"))],
    },
    Situation {
        name: "install -e, of the project itself",
        arrange: |scene| {
            scene.sandbox.write("SKILL.md", skill("project", ""));
        },
        typed: ("skillpm install -e .", 2),
        told: &[with("--editable", "skillpm install .", |scene, _| is(scene, "project", "ok"))],
    },
    Situation {
        name: "install, an editable skill whose directory is gone",
        arrange: |scene| {
            scene.sandbox.write("skillpm.toml", "[skills]\nx = { path = \"./none\", editable = true }\n");
        },
        typed: ("skillpm install", 3),
        told: &[run("skillpm remove x", |scene, _| {
            assert!(!scene.sandbox.read("skillpm.toml").contains('x'));
        })],
    },
    Situation {
        name: "install, a path of the manifest that is gone",
        arrange: |scene| {
            scene.sandbox.write("skillpm.toml", "[skills]\nx = { path = \"./none\" }\n");
        },
        typed: ("skillpm install", 2),
        told: &[with("skillpm remove NAME", "skillpm remove x", |scene, _| {
            assert!(!scene.sandbox.read("skillpm.toml").contains('x'));
        })],
    },
    Situation {
        name: "install, an entry of the manifest for another name",
        arrange: |scene| {
            two(scene);
            scene.sandbox.write("two/docx/SKILL.md", skill("docx", ""));
            scene.sandbox.write("skillpm.toml", "[skills]\nx = { path = \"./two\" }\n");
        },
        typed: ("skillpm install", 3),
        told: &[run("skillpm install --list ./two", |_, output| assert!(output.stdout.contains("pdf")))],
    },
    Situation {
        name: "install, another skill of the same name",
        arrange: two,
        typed: ("skillpm install ./one/pdf", 1),
        told: &[
            with("--as NAME", "skillpm install ./one/pdf --as other", |scene, _| is(scene, "other", "ok")),
            with("--force", "skillpm install ./one/pdf --force", |scene, _| is(scene, "pdf", "ok")),
        ],
    },
    Situation {
        name: "install, a name that some file systems do not tell apart",
        arrange: |scene| {
            for name in ["stra\u{df}e", "strasse"] {
                scene.sandbox.write(&format!("src/{name}/SKILL.md"), skill(name, ""));
            }
            scene.ok("skillpm install ./src/stra\u{df}e");
        },
        typed: ("skillpm install ./src/strasse", 1),
        told: &[
            with("--as NAME", "skillpm install ./src/strasse --as other", |scene, _| {
                is(scene, "other", "ok");
            }),
            run("skillpm remove stra\u{df}e", |scene, _| {
                scene.ok("skillpm install ./src/strasse");
            }),
        ],
    },
    Situation {
        name: "install, from the place of the link",
        arrange: |scene| {
            scene.sandbox.write(".claude/skills/mine/SKILL.md", skill("mine", ""));
        },
        typed: ("skillpm install ./.claude/skills/mine --agent claude-code", 1),
        told: &[
            run("skillpm import mine", |scene, _| is(scene, "mine", "editable")),
            with("--editable", "skillpm install --editable ./.claude/skills/mine", |scene, _| {
                is(scene, "mine", "editable");
            }),
        ],
    },
    Situation {
        name: "link, over the source",
        arrange: |scene| {
            scene.sandbox.write(".claude/skills/mine/SKILL.md", skill("mine", ""));
            scene.ok("skillpm install ./.claude/skills/mine --agent cursor");
        },
        typed: ("skillpm link --agent claude-code", 1),
        told: &[
            run("skillpm remove mine", |scene, _| {
                scene.ok("skillpm import mine");
                is(scene, "mine", "editable");
            }),
            with("skillpm import mine", "skillpm remove mine && skillpm import mine", |_, _| {}),
            with("--editable", "skillpm install --editable ./.claude/skills/mine", |_, _| {}),
        ],
    },
    Situation {
        name: "outdated, without a network",
        arrange: |scene| {
            installed(scene);
            scene.sandbox.env("GITHUB_API_URL", "http://127.0.0.1:9");
        },
        typed: ("skillpm outdated", 4),
        told: &[with("--offline", "rm -r .agents && skillpm install --offline", |scene, _| {
            is(scene, "pdf", "ok");
        })],
    },
    Situation {
        name: "install, a skill in a place that is not searched",
        arrange: |scene| {
            let tree = kit().file("suite/deep/er/three/SKILL.md", skill("three", ""));
            scene.forge.repo("acme/kit").commit(&tree);
        },
        typed: ("skillpm install acme/kit --skill three", 2),
        told: &[
            with(
                "--skill ./suite/deep/er/three",
                "skillpm install acme/kit --skill ./suite/deep/er/three",
                |scene, _| is(scene, "three", "ok"),
            ),
            run("skillpm install --list acme/kit", |_, _| {}),
        ],
    },
    Situation {
        name: "why, a skill of the project around this one",
        arrange: |scene| {
            with_kit(scene);
            scene.ok("git init -q && skillpm install acme/kit@alone && mkdir web && touch web/skillpm.toml");
        },
        typed: ("cd web && skillpm why alone", 2),
        told: &[run("skillpm why alone", |_, output| assert!(output.stdout.contains("alone"), "{output}"))],
    },
    Situation {
        name: "install, a name without a source",
        arrange: with_kit,
        typed: ("skillpm install alone", 2),
        told: &[
            ends("skillpm search --skills-sh alone", 4, |_, _| {}),
            with("skillpm install owner/repo@alone", "skillpm install acme/kit@alone", |scene, _| {
                is(scene, "alone", "ok");
            }),
        ],
    },
];
