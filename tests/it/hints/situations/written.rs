//! Situations of commands for authors of skills.

use super::{nothing, skill};
use crate::hints::{Situation, ends, run, with};

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "create",
        arrange: nothing,
        typed: ("skillpm create release-notes --path 'my skills'", 0),
        told: &[
            run("skillpm validate 'my skills/release-notes'", |_, _| {}),
            run("skillpm invoke './my skills/release-notes'", |_, output| {
                assert!(output.stdout.contains("release-notes"));
            }),
        ],
    },
    Situation {
        name: "create --list-templates",
        arrange: nothing,
        typed: ("skillpm create --list-templates", 0),
        told: &[with(
            "skillpm create NAME --template workflow",
            "skillpm create notes --template workflow",
            |scene, _| assert!(scene.sandbox.project().join("notes/SKILL.md").exists()),
        )],
    },
    Situation {
        name: "validate, what can be repaired",
        arrange: |scene| {
            scene
                .sandbox
                .write("pdf/SKILL.md", skill("pdf", "author: me\n").replace("\n---\n", "   \n---\n"));
        },
        typed: ("skillpm validate pdf", 0),
        told: &[
            with("--fix=unsafe", "skillpm validate pdf --fix=unsafe", |scene, _| {
                assert!(!scene.sandbox.read("pdf/SKILL.md").contains("\nauthor"));
            }),
            with("--fix=unsafe", "skillpm validate pdf --fix=unsafe --diff", |_, _| {}),
            with("--diff", "skillpm validate pdf --fix=unsafe --diff", |_, output| {
                assert!(output.stdout.contains("-author"));
            }),
            run("skillpm explain unknown-field", |_, output| assert!(output.stdout.contains("wrong:"))),
        ],
    },
    Situation {
        name: "publish, a skill without a version",
        arrange: |scene| {
            scene.sandbox.write("skills/pdf/SKILL.md", skill("pdf", ""));
            scene.ok("skillpm registry init registry");
        },
        typed: ("skillpm publish skills/pdf --to ./registry --allow-dirty", 1),
        told: &[run("skillpm bump 0.1.0 skills/pdf", |scene, _| {
            scene.ok("skillpm publish skills/pdf --to ./registry --allow-dirty");
        })],
    },
    Situation {
        name: "pack, in the directory of a skill without a version",
        arrange: |scene| {
            scene.sandbox.write("SKILL.md", skill("project", ""));
        },
        typed: ("skillpm pack --out ..", 1),
        told: &[run("skillpm bump 0.1.0", |scene, _| {
            scene.ok("skillpm pack --out ..");
        })],
    },
    Situation {
        name: "bump, a version that is none",
        arrange: |scene| {
            scene.sandbox.write("a b/SKILL.md", skill("a-b", "metadata:\n  version: one\n"));
        },
        typed: ("skillpm bump patch 'a b'", 1),
        told: &[run("skillpm bump 1.0.0 'a b'", |scene, _| {
            assert!(scene.sandbox.read("a b/SKILL.md").contains("1.0.0"));
        })],
    },
    Situation {
        name: "bump, the words swapped",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", "metadata:\n  version: 1.0.0\n"));
        },
        typed: ("skillpm bump pdf 1.2.0", 2),
        told: &[run("skillpm bump 1.2.0 pdf", |scene, _| {
            assert!(scene.sandbox.read("pdf/SKILL.md").contains("1.2.0"));
        })],
    },
    Situation {
        name: "fmt, a file without a canonical form",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", "---\nname: pdf\nname: pdf\ndescription: x\n---\n");
        },
        typed: ("skillpm fmt pdf", 1),
        told: &[ends("skillpm validate pdf/SKILL.md", 1, |_, output| {
            assert!(output.stdout.contains("SKILL.md"));
        })],
    },
];
