//! Situations of skills that are packed and published, and of registries.

use super::{skill, versioned};
use crate::hints::{Scene, Situation, ends, run, with};

/// A skill that can be published, and a registry in the directory `site`.
fn ready(scene: &mut Scene) {
    versioned(scene, "1.0.0");
    scene.ok("skillpm registry init site");
}

/// The skill is in the registry, as an archive and in the directory.
fn published(scene: &mut Scene) {
    ready(scene);
    scene.ok("skillpm pack pdf && skillpm registry add pdf --registry site");
}

/// The project reads the registry.
fn reads(scene: &mut Scene) {
    published(scene);
    scene.sandbox.write("skillpm.toml", "[registries]\ndefault = \"./site\"\n\n[skills]\n");
}

/// Something else is published under the version than what the archive has.
fn changed(scene: &mut Scene) {
    published(scene);
    scene.ok("echo more >> pdf/SKILL.md && skillpm pack pdf --force");
}

/// The skill is in a repository on GitHub that nobody pushed to, and not committed.
fn uncommitted(scene: &mut Scene) {
    ready(scene);
    scene.ok("git init -q -b main");
}

/// An error that the profile for publishing finds, and that can be repaired.
fn repairable(scene: &mut Scene) {
    let text = skill("pdf", "metadata:\n  version: \"1.0.0\"\nlicense: MIT: as always\n");
    scene.sandbox.write("pdf/SKILL.md", text);
    scene.ok("skillpm registry init site");
}

const KEY: &str = "npm_q7Rk2VbT9xWm4ZcL8nHs3YpJ6dGf1KaE5uQo";

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "registry list, a skill that is not there, elsewhere",
        arrange: published,
        typed: ("skillpm registry list xlsx --registry site", 2),
        told: &[run("skillpm registry list --registry site", |_, output| {
            assert!(output.stdout.contains("pdf"));
        })],
    },
    Situation {
        name: "registry list, in a project that uses a registry",
        arrange: reads,
        typed: ("skillpm registry list pdf", 2),
        told: &[
            with("--registry DIR", "skillpm registry list pdf --registry site", |_, output| {
                assert!(output.stdout.contains("1.0.0"));
            }),
            with("--registry default", "skillpm registry list pdf --registry default", |_, output| {
                assert!(output.stdout.contains("1.0.0"));
            }),
        ],
    },
    Situation {
        name: "update, a version behind the name",
        arrange: |scene| {
            reads(scene);
            scene.ok("skillpm install pdf");
        },
        typed: ("skillpm update pdf@1.0.0", 2),
        told: &[run("skillpm update pdf --precise 1.0.0", |_, output| {
            assert!(output.stderr.contains("up to date"), "{output}");
        })],
    },
    Situation {
        name: "install, a version of which a later one is compatible",
        arrange: |scene| {
            reads(scene);
            versioned(scene, "1.1.0");
            scene.ok("skillpm registry add pdf --registry site");
        },
        typed: ("skillpm install pdf@1.0.0", 0),
        told: &[
            run("skillpm install pdf@=1.0.0", |scene, _| {
                assert!(scene.ok("skillpm list").stdout.contains("1.0.0"));
            }),
            run("skillpm list", |scene, _| assert!(scene.ok("skillpm list").stdout.contains("1.1.0"))),
            run("skillpm invoke pdf", |_, _| {}),
        ],
    },
    Situation {
        name: "registry list, of a directory that is a project",
        arrange: published,
        typed: ("skillpm registry list --registry .", 2),
        told: &[with("--registry DIR", "skillpm registry list --registry site", |_, output| {
            assert!(output.stdout.contains("pdf"));
        })],
    },
    Situation {
        name: "registry yank, a version that is not there",
        arrange: published,
        typed: ("skillpm registry yank pdf@2.0.0 --registry site", 2),
        told: &[run("skillpm registry list --registry site", |_, output| {
            assert!(output.stdout.contains("pdf"));
        })],
    },
    Situation {
        name: "registry add, an archive of a version that is there with other files",
        arrange: changed,
        typed: ("skillpm registry add pdf-1.0.0.zip --registry site", 2),
        told: &[with("skillpm bump 1.0.1 DIR", "skillpm bump 1.0.1 pdf", |scene, _| {
            scene.ok("skillpm registry add pdf --registry site");
        })],
    },
    Situation {
        name: "registry index, something damaged",
        arrange: |scene| {
            published(scene);
            scene.ok("sed -i 's/\"pdf\"/\"xlsx\"/' site/index/pdf/1.0.0.json");
        },
        typed: ("skillpm registry index --registry site", 5),
        told: &[ends("skillpm registry verify --registry ./site", 5, |_, output| {
            assert!(output.stdout.contains("index/pdf/1.0.0.json"));
        })],
    },
    Situation {
        name: "registry mirror, over files of others",
        arrange: |scene| {
            published(scene);
            scene.sandbox.write("m/search.json", "mine");
        },
        typed: ("skillpm registry mirror ./site m", 2),
        told: &[with("--force", "skillpm registry mirror ./site m --force", |scene, _| {
            scene.ok("skillpm registry verify --registry m");
        })],
    },
    Situation {
        name: "registry bundle, over a file",
        arrange: |scene| {
            published(scene);
            scene.sandbox.write("one.zip", "mine");
        },
        typed: ("skillpm registry bundle ./site one.zip pdf", 2),
        told: &[with("--force", "skillpm registry bundle ./site one.zip pdf --force", |scene, _| {
            scene.ok("skillpm install --list registry:./one.zip");
        })],
    },
    Situation {
        name: "registry login, without a terminal",
        arrange: |scene| {
            scene.sandbox.write("skillpm.toml", "[registries]\ncorp = \"https://skills.example.com\"\n");
        },
        typed: ("skillpm registry login corp", 2),
        told: &[with("--with-token", "echo t0ken | skillpm registry login corp --with-token", |scene, _| {
            assert!(scene.ok("skillpm registry logout corp").stderr.contains("skills.example.com"));
        })],
    },
    Situation {
        name: "search, of nothing",
        arrange: |scene| {
            scene.sandbox.env("HTTPS_PROXY", "http://127.0.0.1:9");
        },
        typed: ("skillpm search pdf", 2),
        told: &[ends("skillpm search --skills-sh pdf", 4, |_, _| {})],
    },
    Situation { name: "search, a slip", arrange: reads, typed: ("skillpm search dose", 0), told: &[] },
    Situation {
        name: "install, a tag of a registry",
        arrange: reads,
        typed: ("skillpm install pdf@latest", 2),
        told: &[run("skillpm install pdf", |scene, _| super::is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "install, what a registry does not have",
        arrange: |scene| {
            reads(scene);
            scene.ok("skillpm registry bundle ./site one.zip pdf");
        },
        typed: ("skillpm install registry:./one.zip//xlsx", 2),
        told: &[run("skillpm install --list registry:./one.zip", |_, output| {
            assert!(output.stdout.contains("pdf"));
        })],
    },
    Situation {
        name: "create, from a registry without a name",
        arrange: reads,
        typed: ("skillpm create new --template registry:./site", 2),
        told: &[run("skillpm install --list registry:./site", |_, output| {
            assert!(output.stdout.contains("pdf"));
        })],
    },
    Situation {
        name: "install, of a registry with something else in the place of a file",
        arrange: |scene| {
            reads(scene);
            scene.ok("rm site/index/pdf.json && mkdir site/index/pdf.json");
        },
        typed: ("skillpm install pdf", 5),
        told: &[ends("skillpm registry verify --registry ./site", 5, |_, output| {
            assert!(output.stdout.contains("pdf.json"));
        })],
    },
    Situation {
        name: "pack, over a file",
        arrange: |scene| {
            ready(scene);
            scene.sandbox.write("pdf-1.0.0.zip", "mine");
        },
        typed: ("skillpm pack pdf", 2),
        told: &[with("--force", "skillpm pack pdf --force", |scene, _| {
            scene.ok("skillpm registry add pdf-1.0.0.zip --registry site");
        })],
    },
    Situation {
        name: "pack, a matter of style",
        arrange: |scene| {
            ready(scene);
            scene.ok("echo '[More](missing.md).' >> pdf/SKILL.md");
        },
        typed: ("skillpm pack pdf", 0),
        told: &[with(
            "--ignore link-missing",
            "rm pdf-1.0.0.zip; skillpm pack pdf --ignore link-missing",
            |_, output| assert!(!output.stderr.contains("missing.md"), "{output}"),
        )],
    },
    Situation {
        name: "pack, text of a template",
        arrange: |scene| {
            ready(scene);
            scene.ok("echo 'TODO: more' >> pdf/SKILL.md");
        },
        typed: ("skillpm pack pdf", 1),
        told: &[
            run("skillpm explain template-text", |_, _| {}),
            with("--ignore template-text", "skillpm pack pdf --ignore template-text", |scene, _| {
                scene.ok("skillpm registry add pdf --registry site; test $? -eq 1");
            }),
        ],
    },
    Situation {
        name: "pack, what can be repaired",
        arrange: repairable,
        typed: ("skillpm pack pdf", 1),
        told: &[
            run("skillpm explain yaml-unquoted-colon", |_, _| {}),
            run("skillpm validate pdf --profile publish --fix", |scene, _| {
                scene.ok("skillpm pack pdf");
            }),
        ],
    },
    Situation {
        name: "registry add, what is not fit for publication",
        arrange: repairable,
        typed: ("skillpm registry add pdf --registry site", 1),
        told: &[ends("skillpm validate pdf/SKILL.md --profile publish", 1, |_, output| {
            assert!(output.stdout.contains("yaml-unquoted-colon"));
        })],
    },
    Situation {
        name: "pack, a key in a script",
        arrange: |scene| {
            ready(scene);
            scene.sandbox.write("pdf/scripts/read.py", format!("#!/usr/bin/env python3\nKEY = '{KEY}'\n"));
            scene.ok("chmod +x pdf/scripts/read.py && echo 'Run `scripts/read.py`.' >> pdf/SKILL.md");
        },
        typed: ("skillpm pack pdf", 1),
        told: &[with("--allow-secrets", "skillpm pack pdf --allow-secrets", |scene, _| {
            assert!(scene.sandbox.project().join("pdf-1.0.0.zip").exists());
        })],
    },
    Situation {
        name: "publish, what is not committed",
        arrange: uncommitted,
        typed: ("skillpm publish pdf --to github:acme/skills", 2),
        told: &[with("--allow-dirty", "skillpm publish pdf --to ./site --allow-dirty", |scene, _| {
            scene.ok("skillpm registry verify --registry site");
        })],
    },
    Situation {
        name: "publish, in a repository that git cannot read",
        arrange: |scene| {
            uncommitted(scene);
            scene.ok("echo broken > .git/HEAD");
        },
        typed: ("skillpm publish pdf --to ./site", 2),
        told: &[with("--allow-dirty", "skillpm publish pdf --to ./site --allow-dirty", |_, _| {})],
    },
    Situation {
        name: "publish, a tag of a registry",
        arrange: ready,
        typed: ("skillpm publish pdf --to ./site --tag v1", 2),
        told: &[with("--tag", "skillpm publish pdf --to ./site", |_, _| {})],
    },
    Situation {
        name: "publish, a tag twice",
        arrange: ready,
        typed: ("skillpm publish pdf --to oci://127.0.0.1:9/acme/pdf:a --tag b", 2),
        told: &[with(
            "--tag",
            "skillpm publish pdf --to oci://127.0.0.1:9/acme/pdf:a; test $? -eq 4",
            |_, _| {},
        )],
    },
    Situation {
        name: "bump, a number that is too large",
        arrange: |scene| versioned(scene, "1.0.18446744073709551615"),
        typed: ("skillpm bump patch pdf", 1),
        told: &[run("skillpm bump 1.0.0 --yes pdf", |scene, _| {
            assert!(scene.sandbox.read("pdf/SKILL.md").contains("1.0.0"));
        })],
    },
    Situation {
        name: "bump, to a lower version",
        arrange: |scene| versioned(scene, "1.2.0"),
        typed: ("skillpm bump 1.0.0 pdf", 2),
        told: &[run("skillpm bump 1.0.0 pdf --yes", |scene, _| {
            assert!(scene.sandbox.read("pdf/SKILL.md").contains("1.0.0"));
        })],
    },
    Situation {
        name: "bump, an installed skill",
        arrange: |scene| {
            versioned(scene, "1.2.0");
            scene.ok("skillpm install ./pdf");
        },
        typed: ("skillpm bump patch .agents/skills/pdf", 2),
        told: &[run("skillpm update", |_, _| {})],
    },
    Situation {
        name: "bump, of what cannot be edited",
        arrange: |scene| {
            scene.sandbox.write("pdf/SKILL.md", "---\n{name: pdf, description: a}\n---\n");
        },
        typed: ("skillpm bump 1.2.0 pdf", 1),
        told: &[run("skillpm validate pdf/SKILL.md", |_, output| {
            assert!(output.stdout.contains("yaml-flow-style"));
        })],
    },
    Situation {
        name: "cache verify, damage",
        arrange: |scene| {
            super::installed(scene);
            scene.ok("find ../home/.local/share/skillpm/store-v2 -type f -size +0 | head -n 1 | xargs sh -c 'chmod u+w $0; echo x >> $0'");
        },
        typed: ("skillpm cache verify", 5),
        told: &[run("skillpm cache verify --fix", |scene, _| {
            scene.ok("skillpm cache verify");
        })],
    },
];
