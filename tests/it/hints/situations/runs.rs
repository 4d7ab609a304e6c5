//! Situations of scripts and files of skills: what may run, and what is read.

use super::{is, nothing, skill};
use crate::hints::{Scene, Situation, run, with};

/// The project has the skill `demo`, with `script` and a file beside it, in `src`.
fn demo(scene: &Scene, script: &str) {
    scene.sandbox.write("src/demo/SKILL.md", skill("demo", ""));
    scene.sandbox.write("src/demo/references/forms.md", "A form.\n");
    scene.sandbox.write("src/demo/bytes.bin", b"\xff\xfe\x00");
    scene.sandbox.write("src/demo/scripts/greet.sh", format!("#!/bin/sh\n{script}\n"));
    scene.ok("chmod +x src/demo/scripts/greet.sh");
}

/// The skill is installed.
fn installed(scene: &mut Scene) {
    demo(scene, "echo hello");
    scene.ok("skillpm install ./src/demo");
}

/// The skill is installed, and its script is to get a variable that is set.
fn keyed(scene: &mut Scene) {
    lacking(scene);
    scene.sandbox.write("src/demo/scripts/greet.sh", "#!/bin/sh\necho \"hello $A_KEY\"\n");
    scene.ok("skillpm install ./src/demo");
    scene.sandbox.env("A_KEY", "key");
}

/// The skill requires a variable that is not set.
fn lacking(scene: &mut Scene) {
    demo(scene, "echo hello");
    scene.sandbox.write(
        "src/demo/SKILL.md",
        "---\nname: demo\ndescription: Greets. Use it.\nrequires:\n  env: [A_KEY]\n---\n",
    );
}

/// The skill has a script for a shell of Windows.
fn foreign(scene: &mut Scene) {
    demo(scene, "echo hello");
    scene.sandbox.write("src/demo/scripts/say.ps1", "hello\n");
    scene.ok("skillpm install ./src/demo");
}

/// A skill that nobody installed lies where agents look.
fn unlocked(scene: &mut Scene) {
    demo(scene, "echo hello");
    scene.ok("mkdir -p .agents/skills && cp -r src/demo .agents/skills/demo");
}

/// What is installed has the line ends of Windows.
fn windows(scene: &mut Scene) {
    installed(scene);
    scene.ok("sed -i 's/$/\\r/' .agents/skills/demo/SKILL.md");
}

/// As in a clone with its skills: nobody fetched them here.
fn strange(scene: &mut Scene) {
    installed(scene);
    scene.ok("rm -rf ../home/.local ../home/.cache");
}

fn edited(scene: &mut Scene) {
    installed(scene);
    scene.ok("echo more >> .agents/skills/demo/SKILL.md");
}

fn policy(scene: &mut Scene) {
    installed(scene);
    scene.ok("printf '\\n[policy]\\nscripts = \"deny\"\\n' >> skillpm.toml");
}

const RUN: &str = "skillpm run demo greet";

/// The script greets.
fn greets(scene: &Scene) {
    assert!(scene.ok(RUN).stdout.contains("hello"));
}

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "install, a skill that lacks something",
        arrange: lacking,
        typed: ("skillpm install ./src/demo", 0),
        told: &[
            run("skillpm show demo", |_, output| {
                assert!(output.stdout.contains("variable `A_KEY`"), "{output}");
            }),
            run("skillpm list", |_, output| assert!(output.stdout.contains("demo"))),
            run("skillpm invoke demo", |_, _| {}),
        ],
    },
    Situation {
        name: "run, a script that lacks a variable",
        arrange: keyed,
        typed: (RUN, 0),
        told: &[with("--env A_KEY", "skillpm run --env A_KEY demo greet", |_, output| {
            assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("hello key\n", ""));
        })],
    },
    Situation {
        name: "run, a skill that was edited",
        arrange: edited,
        typed: (RUN, 5),
        told: &[
            run("skillpm diff demo", |_, output| assert!(output.stdout.contains("+more"))),
            run("skillpm install --force", |scene, _| greets(scene)),
            with("--allow-modified", "skillpm run --allow-modified demo greet", |_, output| {
                assert!(output.stdout.contains("hello"));
            }),
        ],
    },
    Situation {
        name: "run, line ends of Windows",
        arrange: windows,
        typed: (RUN, 5),
        told: &[
            run("skillpm install", |scene, _| greets(scene)),
            with("--allow-modified", "skillpm run --allow-modified demo greet", |_, output| {
                assert!(output.stdout.contains("hello"));
            }),
        ],
    },
    Situation {
        name: "verify, line ends of Windows",
        arrange: windows,
        typed: ("skillpm verify", 5),
        told: &[run("skillpm install", |scene, _| {
            scene.ok("skillpm verify");
        })],
    },
    Situation {
        name: "list, line ends of Windows",
        arrange: windows,
        typed: ("skillpm list", 0),
        told: &[run("skillpm install", |scene, _| is(scene, "demo", "ok"))],
    },
    Situation {
        name: "run, what nobody fetched here",
        arrange: strange,
        typed: (RUN, 5),
        told: &[run("skillpm install", |scene, _| greets(scene))],
    },
    Situation {
        name: "run, what skillpm did not install",
        arrange: unlocked,
        typed: (RUN, 5),
        told: &[run("skillpm trust ./.agents/skills/demo", |scene, _| greets(scene))],
    },
    Situation {
        name: "run, a trusted directory that another one replaced",
        arrange: |scene| {
            unlocked(scene);
            scene.ok("skillpm trust .agents");
            scene.ok("cp -r .agents other && rm -r .agents && mkdir x && mv other .agents");
        },
        typed: (RUN, 5),
        told: &[run("skillpm trust ./.agents", |scene, _| greets(scene))],
    },
    Situation {
        name: "run, a policy against scripts",
        arrange: policy,
        typed: (RUN, 5),
        told: &[run("skillpm policy", |_, output| assert!(output.stdout.contains("scripts")))],
    },
    Situation {
        name: "run, nobody to ask",
        arrange: |scene| {
            installed(scene);
            scene.ok("printf '\\n[policy]\\nscripts = \"ask\"\\n' >> skillpm.toml");
        },
        typed: (RUN, 5),
        told: &[with("--allow-scripts", "skillpm run --allow-scripts demo greet", |_, output| {
            assert!(output.stdout.contains("hello"));
        })],
    },
    Situation {
        name: "run, too much output",
        arrange: |scene| {
            demo(scene, "head -c 3000 /dev/zero");
            scene.ok("skillpm install ./src/demo");
        },
        typed: ("skillpm run --max-output 1K demo greet", 0),
        told: &[with("--max-output 3000", "skillpm run --max-output 3000 demo greet", |_, output| {
            assert_eq!(output.stdout.len(), 3000);
        })],
    },
    Situation {
        name: "run, for too long",
        arrange: |scene| {
            demo(scene, "exec sleep 1");
            scene.ok("skillpm install ./src/demo");
        },
        typed: ("skillpm run --timeout 0.2 demo greet", 124),
        told: &[with("--timeout", "skillpm run --timeout 60 demo greet", |_, _| {})],
    },
    Situation {
        name: "run, in a directory that is not there",
        arrange: installed,
        typed: ("skillpm run --cwd none demo greet", 2),
        told: &[with("--cwd", "skillpm run --cwd src demo greet", |_, _| {})],
    },
    Situation {
        name: "run, arguments that are too long",
        arrange: installed,
        typed: (
            "skillpm run demo greet -- \"$(head -c 130000 /dev/zero | tr '\\0' x)\" > /dev/null; skillpm run --env =x demo greet",
            2,
        ),
        told: &[
            with("--env NAME", "X=1 skillpm run --env X demo greet", |_, _| {}),
            with("--env NAME=VALUE", "skillpm run --env X=1 demo greet", |_, _| {}),
        ],
    },
    Situation {
        name: "run, a variable that is not set",
        arrange: installed,
        typed: ("skillpm run --env NOT_THERE demo greet", 2),
        told: &[with("--env NAME=VALUE", "skillpm run --env NOT_THERE=x demo greet", |_, _| {})],
    },
    Situation {
        name: "run, by a program that is not there",
        arrange: installed,
        typed: ("skillpm run --interpreter sh=none demo greet", 2),
        told: &[with(
            "--interpreter sh=PROGRAM",
            "skillpm run --interpreter sh=/bin/sh demo greet",
            |_, output| {
                assert_eq!(output.stdout, "hello\n");
            },
        )],
    },
    Situation {
        name: "run, by two programs",
        arrange: installed,
        typed: ("skillpm run --python a --interpreter python=b demo greet", 2),
        told: &[with(
            "--interpreter python=PROGRAM",
            "skillpm run --interpreter python=cat demo greet",
            |_, output| assert_eq!(output.stdout, "hello\n"),
        )],
    },
    Situation {
        name: "run, a script whose program is not there",
        arrange: foreign,
        typed: ("skillpm run demo say", 2),
        told: &[with(
            "--interpreter pwsh=PROGRAM",
            "skillpm run --interpreter pwsh=cat demo say",
            |_, output| {
                assert_eq!(output.stdout, "hello\n");
            },
        )],
    },
    Situation {
        name: "run, without a name",
        arrange: nothing,
        typed: ("skillpm run", 2),
        told: &[run("skillpm run --help", |_, output| assert!(output.stdout.contains("--timeout")))],
    },
    Situation {
        name: "read, a file that is elsewhere in the skill",
        arrange: installed,
        typed: ("skillpm read demo forms.md", 2),
        told: &[run("skillpm read demo", |_, output| assert!(output.stdout.contains("references/forms.md")))],
    },
    Situation {
        name: "read, a file that nothing resembles",
        arrange: installed,
        typed: ("skillpm read demo xyzzyx.tar", 2),
        told: &[run("skillpm read demo", |_, _| {})],
    },
    Situation {
        name: "read, a directory",
        arrange: installed,
        typed: ("skillpm read demo references", 2),
        told: &[run("skillpm read demo", |_, _| {})],
    },
    Situation {
        name: "read, lines of what is not text",
        arrange: installed,
        typed: ("skillpm read demo bytes.bin --limit 1", 2),
        told: &[
            with("--offset", "skillpm read demo bytes.bin", |_, _| {}),
            with("--limit", "skillpm read demo bytes.bin --json", |_, output| {
                assert!(output.stdout.contains("base64"));
            }),
        ],
    },
    Situation {
        name: "read, more than is read at once",
        arrange: installed,
        typed: ("skillpm read demo references/forms.md --max-bytes 3", 2),
        told: &[with("--max-bytes 8", "skillpm read demo references/forms.md --max-bytes 8", |_, output| {
            assert_eq!(output.stdout, "A form.\n");
        })],
    },
    Situation {
        name: "invoke, of nothing",
        arrange: nothing,
        typed: ("skillpm invoke pdf", 2),
        told: &[
            with(
                "skillpm install owner/repo",
                "skillpm create pdf && skillpm install ./pdf && skillpm invoke pdf",
                |_, _| {},
            ),
            run("skillpm list", |_, _| {}),
        ],
    },
    Situation {
        name: "invoke, what cannot be loaded",
        arrange: |scene| {
            scene.sandbox.write(".agents/skills/odd/SKILL.md", "no frontmatter\n");
        },
        typed: ("skillpm invoke odd", 1),
        told: &[crate::hints::ends("skillpm validate ./.agents/skills/odd/SKILL.md", 1, |_, output| {
            assert!(output.stdout.contains("SKILL.md"));
        })],
    },
    Situation {
        name: "invoke, a file that is no skill",
        arrange: |scene| {
            scene.sandbox.write("notes.md", "x");
        },
        typed: ("skillpm invoke ./notes.md", 2),
        told: &[with("skillpm create NAME", "skillpm create notes && skillpm invoke ./notes", |_, _| {})],
    },
    Situation {
        name: "invoke, what is disabled",
        arrange: |scene| {
            installed(scene);
            scene.ok("skillpm disable demo");
        },
        typed: ("skillpm invoke demo", 2),
        told: &[run("skillpm enable demo", |scene, _| {
            scene.ok("skillpm invoke demo");
        })],
    },
    Situation {
        name: "trust, of everything",
        arrange: nothing,
        typed: ("skillpm trust /", 2),
        told: &[with("--force", "skillpm trust ../home --force", |scene, _| {
            assert!(scene.ok("skillpm trust").stdout.contains("home"));
        })],
    },
    Situation {
        name: "untrust, below what is trusted",
        arrange: |scene| {
            scene.ok("mkdir -p a/b && skillpm trust a");
        },
        typed: ("skillpm untrust a/b", 2),
        told: &[run("skillpm untrust ./a", |scene, _| {
            assert!(scene.ok("skillpm trust").stdout.is_empty());
        })],
    },
    Situation {
        name: "untrust, of what is not trusted",
        arrange: nothing,
        typed: ("skillpm untrust .", 2),
        told: &[run("skillpm trust", |_, _| {})],
    },
    Situation {
        name: "tools, a manifest that is wrong",
        arrange: |scene| {
            installed(scene);
            scene
                .ok("printf 'tools:\\n  - name: a\\n    script: none.sh\\n' > src/demo/scripts/manifest.yml");
            scene.ok("skillpm update");
        },
        typed: ("skillpm tools demo", 3),
        told: &[],
    },
    Situation {
        name: "mcp, of a project",
        arrange: nothing,
        typed: ("skillpm mcp install", 2),
        told: &[with("--client NAME", "skillpm mcp install --client cursor", |_, _| {})],
    },
    Situation {
        name: "mcp install, over another server",
        arrange: |scene| {
            let other = r#"{"mcpServers": {"skillpm": {"command": "other"}}}"#;
            scene.sandbox.write("../home/.cursor/mcp.json", other);
        },
        typed: ("skillpm mcp install --client cursor", 1),
        told: &[
            with("--force", "skillpm mcp install --client cursor --force", |_, _| {}),
            with("--name NAME", "skillpm mcp install --client cursor --name mine", |_, _| {}),
        ],
    },
    Situation {
        name: "mcp status, a program that is gone",
        arrange: |scene| {
            scene.ok("mkdir gone && cp $(readlink -f $(command -v skillpm)) gone/skillpm && gone/skillpm mcp install --client cursor && rm -r gone");
        },
        typed: ("skillpm mcp status", 0),
        told: &[run("skillpm mcp install --client cursor", |scene, _| {
            assert!(!scene.ok("skillpm mcp status").stderr.contains("does not exist"));
        })],
    },
    Situation {
        name: "mcp uninstall, of a file that is read-only",
        arrange: |scene| {
            scene.ok("mkdir ../home/.cursor && skillpm mcp install --client cursor");
            scene.ok("chmod a-w ../home/.cursor/mcp.json");
        },
        typed: ("skillpm mcp uninstall", 1),
        told: &[with("--force", "skillpm mcp uninstall --force", |scene, _| {
            assert!(!scene.ok("skillpm mcp status").stdout.contains("skillpm mcp"));
        })],
    },
];
