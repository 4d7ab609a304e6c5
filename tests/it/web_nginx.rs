//! Archives and sites behind a real nginx, with its tags, its login and its 404s.
//!
//! Where nginx is not installed these tests say so; `make test-tools` installs it.

use serde_json::json;
use skillpm_format::digest::Digest;

use crate::support::tar::tar_gz;
use crate::support::{Nginx, Sandbox, Tree};

/// Publishes `pdf` by version 0.2 below `path`.
fn publish(nginx: &Nginx, path: &str, tree: &Tree) {
    let artifact = tar_gz(tree);
    let entry = json!({
        "name": "pdf", "type": "archive", "description": "Does pdf.", "url": "pdf.tar.gz",
        "digest": Digest::of(&artifact).to_string(),
    });
    let schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
    let index = json!({"$schema": schema, "skills": [entry]});
    nginx.put(&format!("{path}/.well-known/agent-skills/pdf.tar.gz"), artifact);
    nginx.put(&format!("{path}/.well-known/agent-skills/index.json"), index.to_string());
}

fn pdf() -> Tree {
    Tree::new().skill("", "pdf").file("references/a b.md", "a\n")
}

fn clear(sandbox: &Sandbox) {
    for dir in [sandbox.project().join(".agents"), sandbox.home().join(".local")] {
        let _ = std::fs::remove_dir_all(dir);
    }
}

fn digest(sandbox: &Sandbox) -> String {
    let lock = sandbox.read("skillpm.lock");
    lock.lines().find(|line| line.starts_with("digest")).expect("a digest").to_owned()
}

/// S4: archives, with tags, a login from `.netrc` and a redirect.
#[test]
fn archives() {
    let Some(nginx) = Nginx::start() else { return };
    let mut sandbox = Sandbox::new();
    nginx.put("a.zip", pdf().zip());
    nginx.put("private/b.tar.gz", tar_gz(&pdf()));
    let url = nginx.url("/a.zip");
    for status in [200, 304] {
        let output = sandbox.run(&["install", &url]);
        assert_eq!(output.code, Some(0), "{output}");
        assert_eq!(nginx.log(), [format!("{status} /a.zip")]);
    }
    let locked = digest(&sandbox);
    nginx.put("a.zip", pdf().file("new.md", "new\n").zip());
    clear(&sandbox);
    assert_eq!(sandbox.run(&["install", "--offline"]).code, Some(0));
    clear(&sandbox);
    let refused = sandbox.run(&["install", "--locked"]);
    assert_eq!(refused.code, Some(5), "{refused}");
    assert_eq!(sandbox.run(&["install", &url]).code, Some(0));
    assert_ne!(digest(&sandbox), locked);
    // Behind a login.
    let url = nginx.url("/private/b.tar.gz");
    let refused = sandbox.run(&["install", &url]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("requires a login") && refused.stderr.contains(".netrc"), "{refused}");
    let netrc = sandbox.home().join(".netrc");
    std::fs::write(&netrc, "machine 127.0.0.1\n  login ada\n  password wrong\n").expect("writes");
    let refused = sandbox.run(&["install", &url]);
    assert!(refused.stderr.contains("does not accept the login in `[DIR]/home/.netrc`"), "{refused}");
    std::fs::write(&netrc, "machine 127.0.0.1\n  login ada\n  password s3cret\n").expect("writes");
    let other = sandbox.run(&["install", &url]);
    assert!(other.code == Some(1) && other.stderr.contains("is already installed from"), "{other}");
    let output = sandbox.run(&["install", &url, "--force"]);
    assert_eq!((output.code, digest(&sandbox)), (Some(0), locked), "{output}");
    // A token takes the place of a password, and is not one here.
    sandbox.env(&format!("SKILLPM_TOKEN_127_0_0_1___{}", nginx.port), "t0ken");
    assert_eq!(sandbox.run(&["install", &url]).code, Some(4));
    let missing = sandbox.run(&["install", &nginx.url("/gone.zip")]);
    assert!(missing.code == Some(4) && missing.stderr.contains("(status 404)"), "{missing}");
}

/// INTEROP 6: both versions of discovery, public and behind a login.
#[test]
fn sites() {
    let Some(nginx) = Nginx::start() else { return };
    let sandbox = Sandbox::new();
    publish(&nginx, "", &pdf());
    publish(&nginx, "private", &pdf());
    for (path, bytes, _) in pdf().files() {
        nginx.put(&format!("old/.well-known/skills/pdf/{path}"), bytes);
    }
    let old =
        json!({"skills": [{"name": "pdf", "description": "D.", "files": ["SKILL.md", "references/a b.md"]}]});
    nginx.put("old/.well-known/skills/index.json", old.to_string());
    std::fs::write(sandbox.home().join(".netrc"), "machine 127.0.0.1 login ada password s3cret\n")
        .expect("writes");
    let mut digests = Vec::new();
    for path in ["", "/old", "/private"] {
        let listed = sandbox.run(&["install", "--list", &nginx.url(path)]);
        assert!(listed.code == Some(0) && listed.stdout.starts_with("pdf\n"), "{listed}");
        let output = sandbox.run(&["install", &nginx.url(path)]);
        assert_eq!(output.code, Some(0), "{path}: {output}");
        digests.push(digest(&sandbox));
        for args in [&["install", "--locked"][..], &["install", "--frozen"], &["install", "--offline"]] {
            clear(&sandbox);
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(0), "{path} {args:?}: {output}");
            assert!(sandbox.project().join(".agents/skills/pdf/references/a b.md").is_file());
        }
    }
    digests.dedup();
    assert_eq!(digests.len(), 1);
    let log = nginx.log();
    assert!(log.contains(&"304 /.well-known/agent-skills/index.json".to_owned()), "{log:?}");
    assert_eq!(log.iter().filter(|line| *line == "200 /.well-known/agent-skills/pdf.tar.gz").count(), 1);
    // A changed artifact: the index tells, and what is locked stays until it is asked for.
    assert_eq!(sandbox.run(&["install", &nginx.url("")]).code, Some(0));
    publish(&nginx, "", &pdf().file("new.md", "new\n"));
    clear(&sandbox);
    std::fs::remove_dir_all(sandbox.home().join(".cache")).expect("removes");
    let refused = sandbox.run(&["install"]);
    assert!(refused.code == Some(5) && refused.stderr.contains("it has changed since"), "{refused}");
    assert_eq!(sandbox.run(&["install", &nginx.url("/@pdf")]).code, Some(0));
    assert_ne!(digest(&sandbox), digests[0]);
}
