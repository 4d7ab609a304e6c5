//! Situations of marketplaces, and of packages that come with skills.

use super::{is, nothing, skill};
use crate::hints::{Scene, Situation, run, with};
use crate::support::Tree;

/// A marketplace of three plugins: `office` with one skill, `packed`, which is a package, and `odd`, whose skill has a name
/// that nobody can install.
fn market(scene: &mut Scene) {
    let list = r#"{"name": "acme", "plugins": [
        {"name": "office", "source": "./plugins/office"},
        {"name": "packed", "source": {"source": "npm", "package": "demo"}},
        {"name": "odd", "source": "./plugins/odd"}
    ]}"#;
    let tree = Tree::new()
        .file(".claude-plugin/marketplace.json", list)
        .file("plugins/office/skills/docx/SKILL.md", skill("docx", ""))
        .file("plugins/odd/skills/a/SKILL.md", skill("../a", ""))
        .file("plugins/odd/skills/b/SKILL.md", skill("../b", ""));
    scene.forge.repo("acme/tools").commit(&tree);
}

/// The npm package `name` is installed, and has the skill `skill_name`.
fn npm(scene: &Scene, name: &str, skill_name: &str) {
    let dir = format!("node_modules/{name}");
    scene.sandbox.write(&format!("{dir}/package.json"), r#"{"version": "1.0.0"}"#);
    scene.sandbox.write(&format!("{dir}/skills/{skill_name}/SKILL.md"), skill(skill_name, ""));
}

/// A project that uses two packages with a skill of the same name, and one with another.
fn packages(scene: &mut Scene) {
    for (name, has) in [("one", "pdf"), ("two", "pdf"), ("three", "docx")] {
        npm(scene, name, has);
    }
    let uses = r#"{"dependencies": {"one": "^1", "two": "^1", "three": "^1"}}"#;
    scene.sandbox.write("package.json", uses);
}

const LIST: &str = "skillpm install --marketplace acme/tools --list";

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "install --marketplace, without a plugin",
        arrange: market,
        typed: ("skillpm install --marketplace acme/tools", 2),
        told: &[
            run("skillpm install --marketplace acme/tools office", |scene, _| is(scene, "docx", "ok")),
            with("--list", LIST, |_, output| assert!(output.stdout.contains("office"))),
        ],
    },
    Situation {
        name: "install --marketplace --list",
        arrange: market,
        typed: (LIST, 0),
        told: &[
            with("--list", "skillpm install --marketplace acme/tools office", |scene, _| {
                is(scene, "docx", "ok");
            }),
            with("--list", "skillpm install --marketplace acme/tools --list office", |_, output| {
                assert!(output.stdout.contains("docx"));
            }),
        ],
    },
    Situation {
        name: "install --marketplace, a plugin that is not there",
        arrange: market,
        typed: ("skillpm install --marketplace acme/tools ofice", 2),
        told: &[run(LIST, |_, output| assert!(output.stdout.contains("office")))],
    },
    Situation {
        name: "install --marketplace, a skill that is not there",
        arrange: market,
        typed: ("skillpm install --marketplace acme/tools office --skill docs", 2),
        told: &[with(
            "skillpm install --marketplace acme/tools --list PLUGIN",
            "skillpm install --marketplace acme/tools --list office",
            |_, output| assert!(output.stdout.contains("docx")),
        )],
    },
    Situation {
        name: "install --marketplace, a skill in the place of a plugin",
        arrange: market,
        typed: ("skillpm install --marketplace acme/tools@office", 2),
        told: &[with(
            "skillpm install --marketplace owner/repo PLUGIN",
            "skillpm install --marketplace acme/tools office",
            |scene, _| is(scene, "docx", "ok"),
        )],
    },
    Situation {
        name: "install --marketplace, of a source that is none",
        arrange: market,
        typed: ("skillpm install --marketplace acme/tools/plugins/office", 2),
        told: &[run("skillpm install acme/tools/plugins/office", |scene, _| is(scene, "docx", "ok"))],
    },
    Situation {
        name: "install --marketplace, a package",
        arrange: |scene| {
            market(scene);
            npm(scene, "demo", "pdf");
        },
        typed: ("skillpm install --marketplace acme/tools packed", 2),
        told: &[run("skillpm install npm:demo", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "install --marketplace, a plugin of which nothing can be installed",
        arrange: market,
        typed: ("skillpm install --marketplace acme/tools odd --skill '*'", 5),
        told: &[],
    },
    Situation {
        name: "install --from-project, of several skills",
        arrange: packages,
        typed: ("skillpm install --from-project", 2),
        told: &[
            // A name that two packages have would choose neither.
            run("skillpm install --from-project --skill docx", |scene, _| is(scene, "docx", "ok")),
            with("--skill '*'", "skillpm install --from-project --skill docx", |_, _| {}),
        ],
    },
    Situation {
        name: "install --from-project, a skill that is not there",
        arrange: packages,
        typed: ("skillpm install --from-project --skill docs", 2),
        told: &[run("skillpm install --from-project --list", |_, output| {
            assert!(output.stdout.contains("docx"));
        })],
    },
    Situation {
        name: "install --from-project, a skill of two packages",
        arrange: packages,
        typed: ("skillpm install --from-project --skill pdf", 2),
        told: &[run("skillpm install npm:one@pdf", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "install, a package that is a link out of the project",
        arrange: |scene| {
            scene.sandbox.write("../home/demo/package.json", r#"{"version": "1.0.0"}"#);
            scene.sandbox.write("../home/demo/skills/pdf/SKILL.md", skill("pdf", ""));
            scene.ok("mkdir node_modules && ln -s ../../home/demo node_modules/demo");
        },
        typed: ("skillpm install npm:demo", 5),
        told: &[with(
            "skillpm install --list [DIR]/home/demo",
            "skillpm install --list ../home/demo",
            |_, output| {
                assert!(output.stdout.contains("pdf"));
            },
        )],
    },
    Situation {
        name: "install, a package with a tag",
        arrange: |scene| npm(scene, "demo", "pdf"),
        typed: ("skillpm install npm:demo --tag v1", 2),
        told: &[
            with("--tag", "skillpm install npm:demo", |scene, _| is(scene, "pdf", "ok")),
            with("--branch", "skillpm install npm:demo", |_, _| {}),
            with("--rev", "skillpm install npm:demo", |_, _| {}),
        ],
    },
    Situation {
        name: "install --from-project, of what nobody knows",
        arrange: nothing,
        typed: ("skillpm install --from-project", 2),
        told: &[],
    },
    Situation {
        name: "install --marketplace, of plugins that cannot be installed",
        arrange: |scene| {
            let list = r#"{"name": "acme", "plugins": [
                {"name": "packed", "source": {"source": "npm", "package": "demo"}},
                {"name": "gone", "source": "./plugins/gone"}
            ]}"#;
            scene.forge.repo("acme/tools").commit(&Tree::new().file(".claude-plugin/marketplace.json", list));
        },
        typed: ("skillpm install --marketplace acme/tools '*'", 5),
        told: &[run(LIST, |_, output| assert!(output.stdout.contains("packed")))],
    },
];
