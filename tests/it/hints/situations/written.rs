//! Situations of commands for authors of skills.

use super::{by_hand, cloned, installed, is, nothing, skill};
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
    Situation {
        name: "create, without a name",
        arrange: nothing,
        typed: ("skillpm create", 2),
        told: &[with("skillpm create NAME", "skillpm create notes", |scene, _| {
            assert!(scene.sandbox.project().join("notes/SKILL.md").exists());
        })],
    },
    Situation {
        name: "create, a path in the place of a name",
        arrange: nothing,
        typed: ("skillpm create my/notes", 2),
        told: &[run("skillpm create notes --path my", |scene, _| {
            assert!(scene.sandbox.project().join("my/notes/SKILL.md").exists());
        })],
    },
    Situation {
        name: "create, a name in capitals",
        arrange: nothing,
        typed: ("skillpm create 'My Notes'", 2),
        told: &[run("skillpm create my-notes", |scene, _| {
            assert!(scene.sandbox.project().join("my-notes/SKILL.md").exists());
        })],
    },
    Situation {
        name: "create, over something",
        arrange: |scene| {
            scene.ok("skillpm create notes");
        },
        typed: ("skillpm create notes", 2),
        told: &[with("--path", "skillpm create notes --path other", |scene, _| {
            assert!(scene.sandbox.project().join("other/notes/SKILL.md").exists());
        })],
    },
    Situation {
        name: "create --scope, over something else",
        arrange: |scene| {
            scene.ok("skillpm create notes --path skills");
            scene.sandbox.write("skills/notes/more.md", "mine");
        },
        typed: ("skillpm create notes --scope project", 2),
        told: &[
            with("--path", "skillpm create notes --path other", |_, _| {}),
            run("skillpm install --editable ./skills/notes", |scene, _| is(scene, "notes", "editable")),
        ],
    },
    Situation {
        name: "create --scope, of what is installed",
        arrange: installed,
        typed: ("skillpm create alone --scope project", 2),
        told: &[run("skillpm remove alone", |scene, _| {
            scene.ok("skillpm create alone --scope project");
        })],
    },
    Situation {
        name: "create --scope, where somebody wrote one",
        arrange: by_hand,
        typed: ("skillpm create own --scope project", 2),
        told: &[run("skillpm import own", |scene, _| is(scene, "own", "editable"))],
    },
    Situation {
        name: "create, a template that is none",
        arrange: nothing,
        typed: ("skillpm create notes --template skript", 2),
        told: &[run("skillpm create --list-templates", |_, output| {
            assert!(output.stdout.contains("script"));
        })],
    },
    Situation {
        name: "create, a variable that the template does not have",
        arrange: nothing,
        typed: ("skillpm create notes --var a=b", 2),
        told: &[with("--var", "skillpm create notes", |_, _| {})],
    },
    Situation {
        name: "create, a template that needs a value",
        arrange: |scene| {
            let text = skill("notes", "").replace("Do it.", "Do it for {{audience}}.");
            scene.sandbox.write("t/SKILL.md", text);
            scene.sandbox.write("t/template.toml", "[variables.audience]\nprompt = \"who reads it\"\n");
        },
        typed: ("skillpm create notes --template ./t", 2),
        told: &[with(
            "--var audience=VALUE",
            "skillpm create notes --template ./t --var audience=all",
            |_, _| {},
        )],
    },
    Situation {
        name: "create, what could not be published",
        arrange: nothing,
        typed: ("skillpm create notes --description '[TODO: say it]'", 2),
        told: &[run("skillpm explain template-text", |_, output| assert!(output.stdout.contains("TODO")))],
    },
    Situation {
        name: "validate, of no skill",
        arrange: nothing,
        typed: ("skillpm validate .", 2),
        told: &[with("skillpm create NAME", "skillpm create notes && skillpm validate .", |_, _| {})],
    },
    Situation {
        name: "validate, what can safely be repaired",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", "").replace("Use it when", "Use: it when"));
        },
        typed: ("skillpm validate pdf", 1),
        told: &[
            with("--fix", "skillpm validate pdf --fix", |_, _| {}),
            with("--diff", "skillpm validate pdf --fix --diff; test $? -eq 1", |_, output| {
                assert!(output.stdout.contains("+description"));
            }),
            run("skillpm explain yaml-unquoted-colon", |_, _| {}),
        ],
    },
    Situation {
        name: "validate, the report over a skill",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", ""));
        },
        typed: ("skillpm validate pdf -o pdf/SKILL.md", 2),
        told: &[with(
            "--output report.json",
            "skillpm validate pdf --output report.json --format json",
            |scene, _| {
                assert!(scene.sandbox.read("report.json").starts_with(['{', '[']));
            },
        )],
    },
    Situation {
        name: "validate, a baseline that is not there",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", "author: me\n"));
        },
        typed: ("skillpm validate --baseline known.json", 2),
        told: &[with(
            "--write-baseline=known.json",
            "skillpm validate --write-baseline=known.json && skillpm validate --strict --baseline known.json",
            |_, _| {},
        )],
    },
    Situation {
        name: "validate, a damaged baseline",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", "author: me\n"));
            scene.sandbox.write("known.json", "<<<<<<< HEAD");
        },
        typed: ("skillpm validate --baseline known.json", 3),
        told: &[with(
            "--baseline",
            "skillpm validate --write-baseline=other.json && skillpm validate --strict --baseline other.json",
            |_, _| {},
        )],
    },
    Situation {
        name: "validate, a baseline that was written",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", "author: me\n"));
        },
        typed: ("skillpm validate --write-baseline", 0),
        told: &[with(
            "--baseline ./skillpm-baseline.json",
            "skillpm validate --strict --baseline ./skillpm-baseline.json",
            |_, _| {},
        )],
    },
    Situation {
        name: "validate, a baseline with findings that are gone",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", "author: me\n"));
            scene.ok("skillpm validate --write-baseline");
            scene.sandbox.write("skillpm.toml", "[lint]\nbaseline = \"skillpm-baseline.json\"\n");
            scene.sandbox.write("pdf/SKILL.md", skill("pdf", ""));
        },
        typed: ("skillpm validate", 0),
        told: &[with("--write-baseline", "skillpm validate --write-baseline", |scene, _| {
            assert!(!scene.sandbox.read("skillpm-baseline.json").contains("unknown-field"));
        })],
    },
    Situation {
        name: "fmt, of what is installed",
        arrange: |scene| {
            installed(scene);
            scene.ok("sed -i 's/name: alone/name:   alone/' .agents/skills/alone/SKILL.md");
        },
        typed: ("skillpm fmt", 0),
        told: &[with(
            "skillpm verify",
            "skillpm fmt .agents/skills/alone; skillpm verify; test $? -eq 5",
            |_, _| {},
        )],
    },
    Situation {
        name: "catalog, of what is missing",
        arrange: cloned,
        typed: ("skillpm catalog --write A.md", 1),
        told: &[run("skillpm install", |scene, _| {
            scene.ok("skillpm catalog --write A.md");
        })],
    },
    Situation {
        name: "catalog, a text that ends its block",
        arrange: nothing,
        typed: ("skillpm catalog --write A.md --empty '<!-- skillpm catalog -->'", 2),
        told: &[with("--empty", "skillpm catalog --write A.md --empty none", |_, _| {})],
    },
    Situation {
        name: "export, of nothing",
        arrange: super::with_kit,
        typed: ("skillpm export skills-lock", 2),
        told: &[with(
            "skillpm install owner/repo",
            "skillpm install acme/kit@alone && skillpm export skills-lock",
            |_, _| {},
        )],
    },
    Situation {
        name: "export, of editable skills",
        arrange: |scene| {
            scene.sandbox.write("src/own/SKILL.md", skill("own", ""));
            scene
                .sandbox
                .write("skillpm.toml", "[skills]\nown = { path = \"./src/own\", editable = true }\n");
        },
        typed: ("skillpm export skills-lock", 2),
        told: &[with(
            "--editable",
            "skillpm install ./src/own --force && skillpm export skills-lock",
            |_, _| {},
        )],
    },
];
