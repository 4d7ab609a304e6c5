//! Situations of command lines that are none, and of the words of other tools.

use super::{installed, nothing, with_kit};
use crate::hints::{Situation, ends, run, with};

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "an argument too many",
        arrange: nothing,
        typed: ("skillpm doctor pdf", 2),
        told: &[run("skillpm doctor --help", |_, output| assert!(output.stdout.contains("--fix")))],
    },
    Situation {
        name: "a test over the listing of an agent that nobody knows",
        arrange: nothing,
        typed: ("skillpm create notes --evals --yes >x 2>&1; skillpm test notes --agent cursor", 2),
        told: &[with("--agent", "skillpm test notes", |_, output| {
            assert!(output.stderr.contains("3 passed"), "{output}");
        })],
    },
    Situation {
        name: "a shell that is none",
        arrange: nothing,
        typed: ("skillpm completions tcsh", 2),
        told: &[run("skillpm completions --help", |_, output| assert!(output.stdout.contains("zsh")))],
    },
    Situation {
        name: "an action that is missing, for a program",
        arrange: nothing,
        typed: (
            "skillpm --error-format json cache 2> x; sed 's/.*\"text\":\"/hint: /;s/\".*//' x >&2; exit 2",
            2,
        ),
        told: &[run("skillpm cache --help", |_, output| assert!(output.stdout.contains("prune")))],
    },
    Situation {
        name: "an option of other tools",
        arrange: with_kit,
        typed: ("skillpm install acme/kit --all", 2),
        told: &[
            with("--skill '*'", "skillpm install acme/kit --skill '*'", |scene, _| {
                super::is(scene, "alone", "ok");
            }),
            with("--agent '*'", "skillpm install acme/kit --skill alone --agent '*'", |_, _| {}),
            run("skillpm install --help", |_, _| {}),
        ],
    },
    Situation {
        name: "an option of other tools: what is outdated",
        arrange: installed,
        typed: ("skillpm list --outdated pdf", 2),
        told: &[
            run("skillpm outdated pdf", |_, output| assert!(output.stdout.contains("pdf"), "{output}")),
            run("skillpm list --help", |_, _| {}),
        ],
    },
    Situation {
        name: "an option of other tools: a check for updates",
        arrange: installed,
        typed: ("skillpm update --check", 2),
        told: &[
            run("skillpm outdated", |_, _| {}),
            with("--exit-code", "skillpm outdated --exit-code", |_, _| {}),
            run("skillpm update --help", |_, _| {}),
        ],
    },
    Situation {
        name: "an option of other tools: remove from an agent",
        arrange: |scene| {
            super::claude(scene);
            installed(scene);
            scene.ok("skillpm link --agent claude-code");
        },
        typed: ("skillpm remove alone --agent claude-code -y", 2),
        told: &[
            run("skillpm unlink alone --agent claude-code", |scene, _| {
                assert!(!scene.sandbox.project().join(".claude/skills/alone").exists());
                assert!(scene.sandbox.project().join(".claude/skills/pdf").exists());
                assert!(scene.installed().contains(&"alone".to_owned()));
            }),
            run("skillpm remove --help", |_, _| {}),
        ],
    },
    Situation {
        name: "an option of other tools: upgrade",
        arrange: installed,
        typed: ("skillpm install -U pdf", 2),
        told: &[run("skillpm update pdf", |_, _| {}), run("skillpm install --help", |_, _| {})],
    },
    Situation {
        name: "an option of other tools: pin",
        arrange: |scene| {
            let repository = scene.forge.repo("acme/kit");
            repository.tag("v1", &repository.commit(&super::kit()));
        },
        typed: ("skillpm install acme/kit --pin v1 -s alone", 2),
        told: &[
            run("skillpm install 'acme/kit#v1' -s alone", |scene, _| {
                assert!(scene.ok("cat skillpm.toml").stdout.contains("\"v1\""));
            }),
            run("skillpm install --help", |_, _| {}),
        ],
    },
    Situation {
        name: "a revision behind the name of a skill",
        arrange: |scene| {
            let repository = scene.forge.repo("acme/kit");
            repository.tag("v1", &repository.commit(&super::kit()));
            scene.ok("skillpm install acme/kit --skill alone");
        },
        typed: ("skillpm install alone@v1", 2),
        told: &[run("skillpm install 'acme/kit#v1' --skill alone", |scene, _| {
            assert!(scene.ok("cat skillpm.toml").stdout.contains("\"v1\""));
        })],
    },
    Situation {
        name: "a revision behind the name of a skill that is to be updated",
        arrange: |scene| {
            let repository = scene.forge.repo("acme/kit");
            repository.tag("v1", &repository.commit(&super::kit()));
            scene.ok("skillpm install acme/kit --skill alone --global");
        },
        typed: ("skillpm update -g alone@v1", 2),
        told: &[run("skillpm install -g 'acme/kit#v1' --skill alone", |scene, _| {
            assert!(scene.ok("skillpm list --json").stdout.contains("\"v1\""));
        })],
    },
    Situation {
        name: "an option that is nearly one",
        arrange: installed,
        typed: ("skillpm list --jsn", 2),
        told: &[
            with("--json", "skillpm list --json", |_, output| assert!(output.stdout.starts_with('['))),
            run("skillpm list --help", |_, _| {}),
        ],
    },
    Situation {
        name: "an option without a command",
        arrange: nothing,
        typed: ("skillpm -q", 2),
        told: &[run("skillpm --help", |_, output| assert!(output.stdout.contains("completions")))],
    },
    Situation {
        name: "list, what an agent sees that sees nothing",
        arrange: |scene| {
            installed(scene);
            super::claude(scene);
        },
        typed: ("skillpm list --agent claude-code", 0),
        told: &[run("skillpm link --agent claude-code", |scene, _| {
            assert!(scene.ok("skillpm list --agent claude-code").stdout.contains("alone"));
        })],
    },
    Situation {
        name: "a command of other tools: uninstall",
        arrange: installed,
        typed: ("skillpm ci", 2),
        told: &[run("skillpm install --frozen", |_, _| {})],
    },
    Situation {
        name: "a command of other tools: status",
        arrange: installed,
        typed: ("skillpm status", 2),
        told: &[run("skillpm list", |_, _| {}), run("skillpm doctor", |_, _| {})],
    },
    Situation {
        name: "an action of other tools: check",
        arrange: installed,
        typed: ("skillpm cache check", 2),
        told: &[
            run("skillpm cache verify", |_, _| {}),
            with("--fix", "skillpm cache verify --fix", |_, _| {}),
        ],
    },
    Situation {
        name: "a page of the manual that nothing resembles",
        arrange: nothing,
        typed: ("skillpm man xyzzyx", 2),
        told: &[run("skillpm --help", |_, output| assert!(output.stdout.contains("install")))],
    },
    Situation {
        name: "policy, what is no source",
        arrange: installed,
        typed: ("skillpm policy 'ext::sh -c x'", 2),
        told: &[with("skillpm install", "skillpm policy github:acme/kit", |_, _| {})],
    },
    Situation {
        name: "install, a policy against the source",
        arrange: |scene| {
            installed(scene);
            scene.ok("printf '\\n[policy]\\ndeny = [\"github:acme/other\"]\\n' >> skillpm.toml");
        },
        typed: ("skillpm install acme/other", 5),
        told: &[ends("skillpm policy github:acme/other", 5, |_, output| {
            assert!(output.stdout.contains("denied"));
        })],
    },
    Situation {
        name: "install, in the home directory",
        arrange: with_kit,
        typed: ("cd ../home && skillpm install acme/kit@alone", 2),
        told: &[
            with("--scope user", "cd ../home && skillpm install acme/kit@alone --scope user", |scene, _| {
                super::is(scene, "alone", "ok");
            }),
            with(
                "--scope project",
                "cd ../home && skillpm install acme/kit@alone --scope project",
                |_, _| {},
            ),
        ],
    },
    Situation {
        name: "install, in a directory that cannot be written",
        arrange: |scene| {
            with_kit(scene);
            scene.ok("chmod a-w .");
        },
        typed: ("test $(id -u) -ne 0 && skillpm install acme/kit@alone || exit 6", 6),
        told: &[],
    },
    Situation {
        name: "usage, of an agent whose sessions nobody reads",
        arrange: nothing,
        typed: ("skillpm usage --agent cursor", 2),
        told: &[],
    },
    Situation {
        name: "usage, since a time that is none",
        arrange: nothing,
        typed: ("skillpm usage --since yesterday", 2),
        told: &[],
    },
];
