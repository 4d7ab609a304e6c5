//! Situations of commands that only look.

use super::{claude, installed, is, kit, nothing, skill, with_kit};
use crate::hints::{Scene, Situation, run, with};

/// A registry in the directory `registry`, with one skill.
fn registry(scene: &mut Scene) {
    scene.sandbox.write("skills/pdf/SKILL.md", skill("pdf", "metadata:\n  version: 1.0.0\n"));
    scene.ok("skillpm registry init registry");
    scene.ok("skillpm registry add skills/pdf --registry registry");
}

/// Claude Code lists skills in this part of its window.
fn room(scene: &mut Scene, part: &str) {
    let settings = format!("{{\"skillListingBudgetFraction\": {part}}}");
    scene.sandbox.write("../home/.claude/settings.json", settings);
}

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "agents, of a machine without any",
        arrange: nothing,
        typed: ("skillpm agents", 0),
        told: &[run("skillpm agents --all", |_, output| assert!(output.stdout.contains("claude-code")))],
    },
    Situation {
        name: "agents, one that finds skills twice",
        arrange: |scene| {
            claude(scene);
            std::fs::create_dir_all(scene.sandbox.home().join(".cursor")).expect("a directory");
            installed(scene);
            scene.sandbox.write(".claude/skills/mine/SKILL.md", skill("mine", ""));
            scene.sandbox.write(".agents/skills/mine/SKILL.md", skill("mine", "license: MIT\n"));
        },
        typed: ("skillpm agents", 0),
        told: &[run("skillpm agents cursor", |_, output| assert!(output.stdout.contains("twice: mine in")))],
    },
    Situation {
        name: "agents, one that has no room for all skills",
        arrange: |scene| {
            claude(scene);
            installed(scene);
            room(scene, "0.00025");
        },
        typed: ("skillpm agents claude-code", 0),
        told: &[run("skillpm disable tables", |scene, _| {
            let told = scene.ok("skillpm agents claude-code");
            assert!(told.stdout.contains("3 skills, whole"), "{told}");
        })],
    },
    Situation {
        name: "agents, one that has room for few of two scopes",
        arrange: |scene| {
            claude(scene);
            with_kit(scene);
            scene.ok("skillpm install acme/kit --skill alone --skill brand --agent claude-code");
            scene.ok("skillpm install -g acme/kit --skill tables --no-deps --agent claude-code");
            room(scene, "0.000125");
        },
        typed: ("skillpm agents claude-code", 0),
        told: &[
            run("skillpm disable alone", |scene, _| is(scene, "alone", "disabled")),
            run("skillpm disable -g tables", |scene, _| {
                let told = scene.ok("skillpm disable alone && skillpm agents claude-code");
                assert!(told.stdout.contains("1 skill, whole"), "{told}");
            }),
        ],
    },
    Situation {
        name: "agents, one that has room for few of many",
        arrange: |scene| {
            claude(scene);
            for number in 1..9 {
                let name = format!("s{number}");
                scene.sandbox.write(&format!("r/{name}/SKILL.md"), skill(&name, ""));
            }
            scene.ok("skillpm install ./r --skill '*' --agent claude-code");
            room(scene, "0.000125");
        },
        typed: ("skillpm agents claude-code", 0),
        told: &[run("skillpm usage", |scene, _| {
            let told = scene.ok("skillpm agents claude-code");
            assert!(told.stderr.contains("once 7 of the longest are disabled"), "{told}");
        })],
    },
    Situation {
        name: "agents, one that has no room at all",
        arrange: |scene| {
            claude(scene);
            installed(scene);
            room(scene, "0.00001");
        },
        typed: ("skillpm agents claude-code", 0),
        told: &[run("skillpm usage", |_, output| assert!(output.stderr.contains("no use of a skill")))],
    },
    Situation {
        name: "agents, one that takes the user's copy",
        arrange: |scene| {
            claude(scene);
            installed(scene);
            scene.forge.repo("acme/kit").commit(&kit().file("skills/alone/more.md", "x"));
            scene.ok("skillpm install -g acme/kit --skill alone --agent claude-code");
        },
        typed: ("skillpm agents claude-code", 0),
        told: &[run("skillpm why alone", |_, output| {
            assert!(output.stdout.contains("~/.claude/skills/alone wins"));
        })],
    },
    Situation {
        name: "agents, the listing of one that nobody knows",
        arrange: nothing,
        typed: ("skillpm agents cursor --listing", 2),
        told: &[run("skillpm agents cursor", |_, output| assert!(output.stdout.contains("is unknown")))],
    },
    Situation {
        name: "doctor, what can be repaired",
        arrange: |scene| {
            installed(scene);
            scene.ok("mkdir .agents/.skillpm-tx");
        },
        typed: ("skillpm doctor", 1),
        told: &[run("skillpm doctor --fix", |scene, _| {
            scene.ok("skillpm doctor");
        })],
    },
    Situation {
        name: "outdated",
        arrange: |scene| {
            installed(scene);
            scene.forge.repo("acme/kit").commit(&kit().file("skills/pdf/more.md", "x"));
        },
        typed: ("skillpm outdated", 0),
        told: &[
            run("skillpm diff --newest", |_, output| assert!(output.stdout.contains("more.md"))),
            run("skillpm update", |scene, _| {
                assert!(scene.ok("skillpm outdated").stderr.contains("up to date"));
            }),
        ],
    },
    Situation {
        name: "outdated, past a pin",
        arrange: |scene| {
            let commit = scene.forge.repo("acme/kit").commit(&kit());
            scene.forge.repo("acme/kit").tag("v1.0.0", &commit);
            scene.ok("skillpm install acme/kit --tag v1.0.0 --skill alone");
            let commit = scene.forge.repo("acme/kit").commit(&kit().file("skills/alone/more.md", "x"));
            scene.forge.repo("acme/kit").tag("v1.1.0", &commit);
        },
        typed: ("skillpm outdated", 0),
        told: &[run("skillpm update --latest", |scene, _| {
            assert!(scene.sandbox.read("skillpm.toml").contains("v1.1.0"));
        })],
    },
    Situation {
        name: "outdated, a name that is not there",
        arrange: installed,
        typed: ("skillpm outdated nothing-of-it", 2),
        told: &[run("skillpm list", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "why, of what is not installed",
        arrange: installed,
        typed: ("skillpm why nothing-of-it", 2),
        told: &[run("skillpm list", |_, output| assert!(output.stdout.contains("alone")))],
    },
    Situation {
        name: "show, an unknown name among many",
        arrange: |scene| {
            installed(scene);
            for name in ["one", "two"] {
                scene.sandbox.write(&format!(".agents/skills/{name}/SKILL.md"), skill(name, ""));
            }
        },
        typed: ("skillpm show xyzzy", 2),
        told: &[
            run("skillpm list", |_, output| assert!(output.stdout.contains("alone"))),
            with("skillpm install owner/repo", "skillpm install acme/kit --skill brand", |_, _| {}),
        ],
    },
    Situation { name: "why, a slip", arrange: installed, typed: ("skillpm why alnoe", 2), told: &[] },
    Situation {
        name: "search, more than is shown",
        arrange: installed,
        typed: ("skillpm search --installed --limit 1 does", 0),
        told: &[with("--limit 4", "skillpm search --installed --limit 4 does", |_, output| {
            assert!(!output.stderr.contains("hint"), "{output}");
        })],
    },
    Situation {
        name: "trust, of nothing",
        arrange: nothing,
        typed: ("skillpm trust", 0),
        told: &[run("skillpm trust .", |scene, _| {
            assert!(scene.ok("skillpm trust").stdout.contains("project"));
        })],
    },
    Situation {
        name: "trust, of a directory with a blank",
        arrange: |scene| {
            std::fs::create_dir(scene.sandbox.project().join("a b")).expect("a directory");
        },
        typed: ("skillpm trust 'a b'", 0),
        told: &[run("skillpm untrust './a b'", |scene, _| {
            assert!(scene.ok("skillpm trust").stdout.is_empty());
        })],
    },
    Situation {
        name: "audit, switched off",
        arrange: |scene| {
            scene.sandbox.env("SKILLPM_AUDIT", "");
        },
        typed: ("skillpm audit", 0),
        told: &[],
    },
    Situation { name: "policy, of nothing", arrange: nothing, typed: ("skillpm policy", 0), told: &[] },
    Situation { name: "tools, of nothing", arrange: installed, typed: ("skillpm tools", 0), told: &[] },
    Situation {
        name: "show, of what does not follow the specification",
        arrange: |scene| {
            scene.sandbox.write(".agents/skills/odd/SKILL.md", skill("odd", "argument-hnt: x\n"));
        },
        typed: ("skillpm show odd", 0),
        told: &[run("skillpm validate ./.agents/skills/odd/SKILL.md", |_, output| {
            assert!(output.stdout.contains("SKILL.md:4"));
        })],
    },
    Situation {
        name: "catalog, over budget",
        arrange: installed,
        typed: ("skillpm catalog --budget 1", 0),
        told: &[
            with("--fields name", "skillpm catalog --budget 1 --fields name", |_, output| {
                assert!(!output.stdout.contains("location"));
            }),
            with("--tag", "skillpm catalog --budget 1 --tag x", |_, output| {
                assert!(output.stdout.is_empty());
            }),
            with("--agent", "skillpm catalog --agent claude-code", |_, _| {}),
        ],
    },
    Situation {
        name: "catalog, of a file that is not up to date",
        arrange: installed,
        typed: ("skillpm catalog --write 'A B.md' --check --fields name,description", 1),
        told: &[run("skillpm catalog --write './A B.md' --fields name,description", |scene, _| {
            scene.ok("skillpm catalog --write 'A B.md' --check --fields name,description");
        })],
    },
    Situation {
        name: "mcp status, of a machine without clients",
        arrange: nothing,
        typed: ("skillpm mcp status", 0),
        told: &[run("skillpm mcp status --all", |_, output| assert!(output.stdout.contains("cursor")))],
    },
    Situation {
        name: "mcp status, of a client without the server",
        arrange: |scene| {
            std::fs::create_dir_all(scene.sandbox.home().join(".cursor")).expect("a directory");
        },
        typed: ("skillpm mcp status", 0),
        told: &[run("skillpm mcp install --client cursor", |scene, _| {
            assert!(scene.ok("skillpm mcp status").stdout.contains("skillpm"));
        })],
    },
    Situation {
        name: "mcp install",
        arrange: nothing,
        typed: ("skillpm mcp install --client cursor --project --name my-skills -y", 0),
        told: &[run("skillpm mcp uninstall --project --name my-skills", |scene, _| {
            assert!(!scene.sandbox.project().join(".cursor/mcp.json").exists());
        })],
    },
    Situation {
        name: "a command that is not one",
        arrange: nothing,
        typed: ("skillpm lsit", 2),
        told: &[run("skillpm list", |_, _| {})],
    },
    Situation {
        name: "a command that nothing resembles",
        arrange: nothing,
        typed: ("skillpm xyzzyx", 2),
        told: &[run("skillpm --help", |_, output| assert!(output.stdout.contains("install")))],
    },
    Situation {
        name: "an action that is not one",
        arrange: nothing,
        typed: ("skillpm cache prnue", 2),
        told: &[run("skillpm cache prune", |_, _| {})],
    },
    Situation {
        name: "an action that nothing resembles",
        arrange: nothing,
        typed: ("skillpm cache xyzzyx", 2),
        told: &[run("skillpm cache --help", |_, output| assert!(output.stdout.contains("prune")))],
    },
    Situation {
        name: "a page of the manual that is not one",
        arrange: nothing,
        typed: ("skillpm man lsit", 2),
        told: &[run("skillpm man list", |_, output| assert!(output.stdout.contains("list")))],
    },
    Situation {
        name: "explain, a rule that is not one",
        arrange: nothing,
        typed: ("skillpm explain zzz", 2),
        told: &[run("skillpm explain", |_, output| assert!(output.stdout.contains("name-length")))],
    },
    Situation {
        name: "explain, all rules",
        arrange: nothing,
        typed: ("skillpm explain", 0),
        told: &[run("skillpm explain file-kind", |_, output| assert!(output.stdout.contains("wrong:")))],
    },
    Situation {
        name: "registry verify, lists that are out of date",
        arrange: |scene| {
            registry(scene);
            scene.ok("find registry -name all.json -o -name index.json | head -n 1 | xargs rm");
        },
        typed: ("skillpm registry verify --registry registry", 5),
        told: &[run("skillpm registry index --registry ./registry", |scene, _| {
            scene.ok("skillpm registry verify --registry registry");
        })],
    },
    Situation {
        name: "registry init",
        arrange: |scene| {
            scene.sandbox.write("skills/pdf/SKILL.md", skill("pdf", "metadata:\n  version: 1.0.0\n"));
        },
        typed: ("skillpm registry init 'my registry'", 0),
        told: &[with(
            "skillpm registry add --registry './my registry' DIR",
            "skillpm registry add --registry './my registry' skills/pdf",
            |scene, _| {
                assert!(scene.ok("skillpm registry list --registry 'my registry'").stdout.contains("pdf"));
            },
        )],
    },
    Situation {
        name: "registry, a directory that is none",
        arrange: |scene| {
            std::fs::create_dir(scene.sandbox.project().join("empty")).expect("a directory");
        },
        typed: ("skillpm registry list --registry empty", 2),
        told: &[run("skillpm registry init ./empty", |scene, _| {
            scene.ok("skillpm registry list --registry empty");
        })],
    },
    Situation {
        name: "registry, an address where a directory is meant",
        arrange: registry,
        typed: ("skillpm registry verify --registry https://skills.example.com", 2),
        told: &[with("skillpm publish", "skillpm publish skills/pdf --to ./registry", |_, _| {})],
    },
    Situation {
        name: "publish, a version that is there with other files",
        arrange: |scene| {
            registry(scene);
            scene.sandbox.write("skills/pdf/more.md", "More.\n");
            scene.ok("printf '\\nRead `more.md`.\\n' >> skills/pdf/SKILL.md");
        },
        typed: ("skillpm publish skills/pdf --to ./registry --allow-dirty", 2),
        told: &[run("skillpm bump 1.0.1 skills/pdf", |scene, _| {
            scene.ok("skillpm publish skills/pdf --to ./registry --allow-dirty");
        })],
    },
    Situation {
        name: "registry add, a version that is there with other files",
        arrange: |scene| {
            registry(scene);
            scene.sandbox.write("skills/pdf/more.md", "More.\n");
            scene.ok("printf '\\nRead `more.md`.\\n' >> skills/pdf/SKILL.md");
        },
        typed: ("skillpm registry add skills/pdf --registry registry", 2),
        told: &[run("skillpm bump 1.0.1 skills/pdf", |scene, _| {
            scene.ok("skillpm registry add skills/pdf --registry registry");
        })],
    },
    Situation {
        name: "registry list, a skill that is not there",
        arrange: registry,
        typed: ("skillpm registry list docx --registry registry", 2),
        told: &[run("skillpm registry list --registry registry", |_, output| {
            assert!(output.stdout.contains("pdf"));
        })],
    },
];
