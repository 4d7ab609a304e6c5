//! Situations of servers: sites, registries, releases on GitHub, and programs that offer skills.

use super::{installed, is, nothing, skill, versioned};
use crate::hints::{Scene, Situation, run, with};
use crate::support::GitRepo;

const INDEX: &str = "/.well-known/skills/index.json";

/// The forge is a site with the skill `pdf`, whose file ends with `end`.
fn site(scene: &mut Scene, end: &str) {
    let index = r#"{"skills": [{"name": "pdf", "description": "Does it.", "files": ["SKILL.md"]}]}"#;
    scene.forge.serve("/.well-known/skills/pdf/SKILL.md", skill("pdf", "") + end).serve(INDEX, index);
}

/// `pdf` of the site is locked, and nowhere else on this machine.
fn locked(scene: &mut Scene) {
    site(scene, "");
    scene.ok("skillpm install http://[HOST]//pdf");
    scene.ok("rm -rf .agents ../home/.local ../home/.cache");
}

/// A registry that wants a login.
fn private(scene: &mut Scene) {
    scene.forge.want_login("Bearer s3cret");
    scene.forge.serve("/r/config.json", "{\"format\":1,\"name\":\"acme\"}");
    let text = format!("[registries]\ncorp = \"http://{}/r\"\n", scene.forge.api_host());
    scene.sandbox.write("skillpm.toml", text);
}

/// `pdf` is committed, and GitHub has the commit.
fn pushed(scene: &mut Scene) {
    let Scene { forge, sandbox } = scene;
    forge.accept_token("s3cret");
    sandbox.env("GITHUB_TOKEN", "s3cret");
    let git = GitRepo::new(&sandbox.project());
    versioned(scene, "1.0");
    let tree = crate::support::Tree::new().file("pdf/SKILL.md", scene.sandbox.read("pdf/SKILL.md"));
    let commit = git.commit(&tree);
    scene.forge.repo("acme/skills").put(&commit, tree.archive("acme/skills", &commit));
}

/// This machine has a program that offers the skill `pdf`.
fn program(scene: &mut Scene) {
    scene.sandbox.write("../served/team/pdf/SKILL.md", skill("pdf", ""));
    let served = scene.sandbox.root().join("served").display().to_string();
    let text = format!("[mcp.docs]\ncommand = [\"skillpm\", \"mcp\", \"--dir\", \"{served}\"]\n");
    scene.sandbox.write("../home/.config/skillpm/skillpm.toml", text);
}

pub(super) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "create, from a site without a name",
        arrange: |scene| site(scene, ""),
        typed: ("skillpm create two --template http://[HOST]", 2),
        told: &[run("skillpm install --list http://[HOST]", |_, output| {
            assert!(output.stdout.contains("pdf"));
        })],
    },
    Situation {
        name: "install, what a site does not have",
        arrange: |scene| site(scene, ""),
        typed: ("skillpm install http://[HOST]//docx", 2),
        told: &[run("skillpm install --list http://[HOST]", |_, output| {
            assert!(output.stdout.contains("pdf"));
        })],
    },
    Situation {
        name: "install, of a site without an index",
        arrange: nothing,
        typed: ("skillpm install http://[HOST]", 4),
        told: &[],
    },
    Situation {
        name: "install, what a site no longer has",
        arrange: |scene| {
            locked(scene);
            scene
                .forge
                .serve(INDEX, r#"{"skills": [{"name": "x", "description": "x", "files": ["SKILL.md"]}]}"#);
        },
        typed: ("skillpm install", 4),
        told: &[run("skillpm remove pdf", |scene, _| {
            assert!(!scene.sandbox.read("skillpm.toml").contains("pdf"));
        })],
    },
    Situation {
        name: "install, what a site has changed",
        arrange: |scene| {
            locked(scene);
            site(scene, "More.\n");
        },
        typed: ("skillpm install", 5),
        told: &[run("skillpm update pdf", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "install, of a registry that wants a login",
        arrange: private,
        typed: ("skillpm install corp:pdf", 4),
        told: &[with(
            "skillpm registry login http://[HOST]/r",
            "echo s3cret | skillpm registry login http://[HOST]/r --with-token; skillpm install corp:pdf; test $? -eq 2",
            |_, output| assert!(!output.stderr.contains("login\n"), "{output}"),
        )],
    },
    Situation {
        name: "publish, to a server that wants a login",
        arrange: |scene| {
            private(scene);
            versioned(scene, "1.0");
        },
        typed: ("skillpm publish pdf --to http://[HOST]/r", 4),
        told: &[with(
            "skillpm registry login http://[HOST]/r",
            "echo s3cret | skillpm registry login http://[HOST]/r --with-token",
            |_, _| {},
        )],
    },
    Situation {
        name: "publish, a tag that is published",
        arrange: |scene| {
            pushed(scene);
            scene.ok("skillpm publish pdf --to github:acme/skills --tag v1.0");
            scene.ok("echo more >> pdf/SKILL.md");
        },
        typed: ("skillpm publish pdf --to github:acme/skills --tag v1.0 --allow-dirty", 2),
        told: &[with(
            "--tag",
            "skillpm publish pdf --to github:acme/skills --tag v1.1 --allow-dirty",
            |_, _| {},
        )],
    },
    Situation {
        name: "publish, a version that is published",
        arrange: |scene| {
            pushed(scene);
            scene.ok("skillpm publish pdf --to github:acme/skills");
            scene.ok("echo more >> pdf/SKILL.md");
        },
        typed: ("skillpm publish pdf --to github:acme/skills --allow-dirty", 2),
        told: &[run("skillpm bump 1.0.1 pdf", |scene, _| {
            scene.ok("skillpm publish pdf --to github:acme/skills --allow-dirty");
        })],
    },
    Situation {
        name: "install, what a program does not offer",
        arrange: program,
        typed: ("skillpm install mcp:docs@docx", 2),
        told: &[run("skillpm install --list mcp:docs", |_, output| assert!(output.stdout.contains("pdf")))],
    },
    Situation {
        name: "create, from a program without a name",
        arrange: program,
        typed: ("skillpm create two --template mcp:docs", 2),
        told: &[run("skillpm install --list mcp:docs", |_, output| assert!(output.stdout.contains("pdf")))],
    },
    Situation {
        name: "install --offline, from a program",
        arrange: |scene| {
            program(scene);
            scene.ok("skillpm install mcp:docs@pdf");
            scene.ok("rm -rf .agents ../home/.local ../home/.cache");
        },
        typed: ("skillpm install --offline", 4),
        told: &[with("--offline", "skillpm install", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "install --offline, a damaged archive",
        arrange: |scene| {
            installed(scene);
            scene.ok("rm -rf .agents ../home/.local/share");
            scene.ok("find ../home/.cache -path '*archives*' -type f | xargs -n 1 sh -c 'echo x > $0'");
        },
        typed: ("skillpm install --offline", 5),
        told: &[with("--offline", "skillpm install", |scene, _| is(scene, "pdf", "ok"))],
    },
    Situation {
        name: "install --no-deps, of too many",
        arrange: |scene| {
            let tree = (0..300).fold(crate::support::Tree::new(), |tree, at| {
                let name = format!("s{at}");
                tree.file(
                    &format!("skills/{name}/SKILL.md"),
                    super::needs(&name, &format!("s{}", (at + 1) % 300)),
                )
            });
            scene.forge.repo("acme/chain").commit(&tree);
        },
        typed: ("skillpm install acme/chain@s0", 5),
        told: &[with("--no-deps", "skillpm install acme/chain@s0 --no-deps", |scene, _| {
            is(scene, "s0", "ok");
        })],
    },
    Situation {
        name: "install, a dependency that cannot be reached",
        arrange: |scene| {
            let text = super::needs("odd", "acme/none@x");
            scene.forge.repo("acme/odd").commit(&crate::support::Tree::new().file("SKILL.md", text));
        },
        typed: ("skillpm install acme/odd", 4),
        told: &[with("--no-deps", "skillpm install acme/odd --no-deps", |scene, _| is(scene, "odd", "ok"))],
    },
    Situation {
        name: "install, of several skills that cannot be installed",
        arrange: |scene| {
            let tree = crate::support::Tree::new()
                .file("skills/a/SKILL.md", "no frontmatter")
                .file("skills/b/SKILL.md", "no frontmatter");
            scene.forge.repo("acme/odd").commit(&tree);
        },
        typed: ("skillpm install acme/odd --skill '*'", 5),
        told: &[run("skillpm install --list acme/odd", |_, _| {})],
    },
    Situation {
        name: "registry add, an archive that is not fit for publication",
        arrange: |scene| {
            versioned(scene, "1.0.0");
            scene.ok("echo 'TODO: more' >> pdf/SKILL.md && skillpm registry init site");
            scene.sandbox.write("skillpm.toml", "[lint]\nrules = { template-text = \"off\" }\n");
            scene.ok("skillpm pack pdf");
        },
        typed: ("skillpm registry add pdf-1.0.0.zip --registry site", 1),
        told: &[with(
            "skillpm validate DIR --profile publish",
            "rm skillpm.toml; skillpm validate pdf --profile publish; test $? -eq 1",
            |_, output| {
                assert!(output.stdout.contains("TODO:"));
            },
        )],
    },
    Situation {
        name: "install, a policy against findings",
        arrange: |scene| {
            scene.sandbox.write("src/bad/SKILL.md", skill("bad", "") + "[x](../../x)\n");
            scene.sandbox.write("x", "");
            scene.sandbox.write("skillpm.toml", "[policy]\naudit = \"warning\"\n\n[skills]\n");
        },
        typed: ("skillpm install ./src/bad", 5),
        told: &[run("skillpm validate", |_, output| assert!(output.stdout.contains("link-outside")))],
    },
    Situation {
        name: "create, from what a site does not have",
        arrange: |scene| site(scene, ""),
        typed: ("skillpm create two --template http://[HOST]//docx", 2),
        told: &[run("skillpm install --list http://[HOST]", |_, _| {})],
    },
    Situation {
        name: "install, a path of the manifest that a program does not offer",
        arrange: |scene| {
            program(scene);
            scene.sandbox.write("skillpm.toml", "[skills]\nx = { mcp = \"docs\", path = \"none\" }\n");
        },
        typed: ("skillpm install", 2),
        told: &[run("skillpm install --list mcp:docs", |_, output| assert!(output.stdout.contains("pdf")))],
    },
    Situation {
        name: "install, of a part of a site without an index",
        arrange: |scene| site(scene, ""),
        typed: ("skillpm install http://[HOST]/docs", 4),
        told: &[run("skillpm install http://[HOST]", |scene, _| is(scene, "pdf", "ok"))],
    },
];
