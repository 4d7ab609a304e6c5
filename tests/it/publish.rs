//! `publish`: from a skill's directory to a registry.

use serde_json::{Value, json};

use crate::support::{GitRepo, Sandbox};

/// A sandbox with the registry `site` and the skill `pdf`.
fn sandbox() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("SOURCE_DATE_EPOCH", "1795730400");
    sandbox.ok(&["registry", "init", "site", "--name", "acme"]);
    write_skill(&sandbox, "1.0");
    sandbox
}

fn write_skill(sandbox: &Sandbox, version: &str) {
    let text = format!(
        "---\nname: pdf\ndescription: Reads PDF files. Use it when a file ends in pdf.\nlicense: MIT\n\
         metadata:\n  version: '{version}'\n---\n\n# PDF\n\nSee [the guide](references/guide.md).\n"
    );
    sandbox.write("pdf/SKILL.md", text);
    sandbox.write("pdf/references/guide.md", "# Guide\n");
    sandbox.write("pdf/evals/evals.json", "{}");
}

fn site(sandbox: &Sandbox) -> Vec<String> {
    sandbox.tree(&sandbox.project().join("site"))
}

/// The versions of `pdf` that the registry lists.
fn versions(sandbox: &Sandbox) -> Vec<Value> {
    let output = sandbox.ok(&["registry", "list", "-r", "site", "--json"]);
    let listed: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let versions = listed["skills"][0]["versions"].as_array().cloned().unwrap_or_default();
    versions.into_iter().map(|version| version["version"].clone()).collect()
}

#[test]
fn the_page() {
    let sandbox = sandbox();
    let args = ["publish", "pdf", "--to", "site"];
    insta::assert_snapshot!(sandbox.run(&[&args[..], &["--dry-run"]].concat()), @"
    exit: 0
    --- stdout
    166 bytes  SKILL.md
      8 bytes  references/guide.md
    --- stderr
    left out `evals/`: evaluations
    would publish `pdf` 1.0: 2 files, 374 bytes
      to      site
      archive sha256:46f577a48228a7fd1fac64054f59b760ed9b2619cc52fa32fa41ff090f30b9e7
      tree    sha256:f0111df25dd0703a56a914cf7c40c33e2af22624dcff2bcc5480ac62ab40c706
    ");
    insta::assert_snapshot!(sandbox.run(&args), @"
    exit: 0
    --- stderr
    left out `evals/`: evaluations
    published `pdf` 1.0: 2 files, 374 bytes
      to      site
      archive sha256:46f577a48228a7fd1fac64054f59b760ed9b2619cc52fa32fa41ff090f30b9e7
      tree    sha256:f0111df25dd0703a56a914cf7c40c33e2af22624dcff2bcc5480ac62ab40c706
    ");
    sandbox.write("pdf/references/guide.md", "# Another guide\n");
    insta::assert_snapshot!(sandbox.run(&args), @"
    exit: 2
    --- stderr
    error: `pdf` 1.0 was already published with other files
    hint: a published version never changes; the next one is `1.0.1`: `skillpm bump 1.0.1 pdf`
    ");
}

#[test]
fn a_dry_run_shows_each_file_and_writes_nothing() {
    let sandbox = sandbox();
    let before = site(&sandbox);
    let args = ["publish", "pdf", "--to", "site", "--dry-run"];
    let output = sandbox.ok(&args);
    let paths: Vec<_> = output.stdout.lines().filter_map(|line| line.split("  ").last()).collect();
    assert_eq!(paths, ["SKILL.md", "references/guide.md"], "{output}");
    assert!(output.stderr.contains("`evals/`"), "{output}");
    let output = sandbox.ok(&[&args[..], &["--json"]].concat());
    let outcome: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!((&outcome["dry_run"], &outcome["uncommitted"]), (&json!(true), &json!([])));
    assert_eq!(site(&sandbox), before);
}

#[test]
fn a_version_is_published_once() {
    let sandbox = sandbox();
    sandbox.ok(&["publish", "pdf", "--to", "site", "--json"]);
    assert_eq!(sandbox.run(&["registry", "verify", "-r", "site"]).code, Some(0));
    let before = site(&sandbox);
    // The same files are there already; others are not published, and a dry run tells.
    for more in [&[][..], &["--dry-run"]] {
        let again = sandbox.ok(&[&["publish", "pdf", "--to", "site", "--json"], more].concat());
        let outcome: Value = serde_json::from_str(&again.stdout).expect("JSON");
        assert_eq!(outcome["already"], true, "{more:?}: {again}");
    }
    sandbox.write("pdf/references/guide.md", "# Another guide\n");
    for more in [&[][..], &["--dry-run"]] {
        let output = sandbox.run(&[&["publish", "pdf", "--to", "site"], more].concat());
        let is_told = output.stderr.contains("`skillpm bump 1.0.1 pdf`");
        assert!(output.code == Some(2) && is_told, "{more:?}: {output}");
    }
    assert_eq!(site(&sandbox), before);
    sandbox.ok(&["bump", "minor", "pdf"]);
    sandbox.ok(&["publish", "pdf", "--to", "site"]);
    assert_eq!(versions(&sandbox), ["1.0", "1.1"]);
}

/// A killed publication is completed by the same command.
#[test]
fn what_was_cut_off_is_completed() {
    let sandbox = sandbox();
    sandbox.ok(&["publish", "pdf", "--to", "site"]);
    let whole = site(&sandbox);
    std::fs::remove_file(sandbox.project().join("site/index/pdf.json")).expect("removes");
    sandbox.write("site/pending/pdf", "");
    sandbox.ok(&["publish", "pdf", "--to", "site"]);
    assert_eq!(site(&sandbox), whole);
}

#[test]
fn what_is_not_committed_is_refused() {
    let sandbox = sandbox();
    let git = GitRepo::new(&sandbox.project());
    let refused = |path: &str| {
        let before = site(&sandbox);
        for more in [&[][..], &["--dry-run"]] {
            let output = sandbox.run(&[&["publish", "pdf", "--to", "site"], more].concat());
            let is_told = output.stderr.contains(path) && output.stderr.contains("--allow-dirty");
            assert!(output.code == Some(2) && is_told, "{path}: {output}");
        }
        assert_eq!(site(&sandbox), before);
    };
    // No commit, then files that are changed, new and deleted.
    refused("`SKILL.md`");
    git.git(&["add", "pdf"]);
    git.commit_index();
    sandbox.ok(&["publish", "pdf", "--to", "site", "--dry-run"]);
    sandbox.write("pdf/references/guide.md", "# Another guide\n");
    refused("`references/guide.md`");
    sandbox.write("pdf/references/guide.md", "# Guide\n");
    sandbox.write("pdf/références.md", "new");
    refused("`références.md`");
    std::fs::remove_file(sandbox.project().join("pdf/références.md")).expect("removes");
    // What stays out does not matter, nor does what lies elsewhere.
    sandbox.write("pdf/evals/evals.json", "{ }");
    sandbox.write("pdf/pdf-0.9.zip", "earlier");
    sandbox.write("other.txt", "x");
    sandbox.ok(&["publish", "pdf", "--to", "site", "--dry-run"]);
    // What says what stays out does.
    sandbox.write("pdf/.skillpmignore", "*.psd\n");
    refused("`.skillpmignore`");
    let output = sandbox.ok(&["publish", "pdf", "--to", "site", "--allow-dirty", "--json"]);
    let outcome: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(outcome["uncommitted"], json!([".skillpmignore"]));
}

#[test]
fn what_cannot_be_published_changes_nothing() {
    let sandbox = sandbox();
    let names = "[registries]\nacme = \"./site\"\n";
    sandbox.write("skillpm.toml", names);
    sandbox.ok(&["publish", "pdf", "--to", "acme", "--dry-run"]);
    let before = site(&sandbox);
    for (code, args) in [
        (3, &["publish", "pdf", "--to", "elsewhere"][..]),
        (2, &["publish", "pdf", "--to", "./elsewhere"]),
        (2, &["publish", "nothing", "--to", "site"]),
        (2, &["publish", "pdf"]),
    ] {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(code), "{args:?}: {output}");
    }
    let output = sandbox.run(&["publish", "pdf", "--to", "./elsewhere"]);
    assert!(output.stderr.contains("`skillpm registry init "), "{output}");
    // An error by the rules for publishing, with the findings.
    sandbox.write("pdf/SKILL.md", "---\nname: pdf\n---\n");
    let output = sandbox.run(&["publish", "pdf", "--to", "site"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert_eq!(site(&sandbox), before);
}
