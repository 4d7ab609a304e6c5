//! `publish --to github:OWNER/REPO`: a release with the packed skill, and nothing half made.

use serde_json::{Value, json};

use crate::support::{Endpoint, Fault, Forge, GitRepo, Output, Sandbox, Tree};

const TO: [&str; 4] = ["publish", "pdf", "--to", "github:acme/skills"];

/// A work tree with the skill `pdf`, whose commit GitHub has.
struct Scene {
    forge: Forge,
    sandbox: Sandbox,
    git: GitRepo,
    commit: String,
}

impl Scene {
    fn new() -> Self {
        Self::with(&tree("1.0"))
    }

    fn with(tree: &Tree) -> Self {
        let forge = Forge::start();
        forge.accept_token("s3cret");
        let mut sandbox = Sandbox::new();
        sandbox.forge(&forge).env("GITHUB_TOKEN", "s3cret");
        let git = GitRepo::new(&sandbox.project());
        forge.repo("acme/skills");
        let mut scene = Self { forge, sandbox, git, commit: String::new() };
        scene.commit(tree);
        scene.push(tree);
        scene
    }

    fn commit(&mut self, tree: &Tree) {
        self.commit = self.git.commit(tree);
    }

    fn push(&self, tree: &Tree) {
        self.forge.repo("acme/skills").put(&self.commit, tree.archive("acme/skills", &self.commit));
    }

    fn publish(&self, more: &[&str]) -> Output {
        self.sandbox.run(&[&TO[..], more].concat())
    }

    /// Publishes, which fails with the exit code `code` and a message with `text`, and leaves no release.
    #[track_caller]
    fn refused(&self, more: &[&str], code: i32, text: &str) -> Output {
        let before = self.forge.releases("acme/skills");
        let output = self.publish(more);
        assert!(output.code == Some(code) && output.stderr.contains(text), "{text}: {output}");
        assert_eq!(self.forge.releases("acme/skills"), before, "{output}");
        assert!(!output.stderr.contains("s3cret"), "{output}");
        output
    }

    fn tags(&self) -> Vec<String> {
        self.forge.releases("acme/skills").into_iter().map(|release| release.tag).collect()
    }
}

fn text(name: &str, version: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: Reads {name} files. Use it when a file ends in {name}.\nlicense: MIT\n\
         metadata:\n  version: '{version}'\n---\n\n# {name}\n\nRead the file.\n"
    )
}

fn tree(version: &str) -> Tree {
    Tree::new().file("pdf/SKILL.md", text("pdf", version)).file("README.md", "# Skills\n")
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).expect("JSON")
}

#[test]
fn a_release_has_the_archive_and_the_commit() {
    let scene = Scene::new();
    let output = scene.publish(&["--json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let outcome = json_of(&output);
    let release = json!({
        "repository": "acme/skills",
        "tag": "v1.0",
        "commit": scene.commit,
        "asset": "pdf-1.0.zip",
        "url": "https://github.com/acme/skills/releases/tag/v1.0",
    });
    assert_eq!((&outcome["release"], &outcome["registry"]), (&release, &json!("github:acme/skills")));
    scene.sandbox.ok(&["pack", "pdf"]);
    let packed = std::fs::read(scene.sandbox.project().join("pdf-1.0.zip")).expect("a package");
    let releases = scene.forge.releases("acme/skills");
    let [release] = &releases[..] else { panic!("{releases:?}") };
    assert_eq!((release.tag.as_str(), &release.commit), ("v1.0", &scene.commit));
    assert!(!release.is_draft && !release.is_prerelease);
    assert_eq!(release.asset, Some(("pdf-1.0.zip".to_owned(), packed)));
    // The file comes before the release is published: it may never change after that.
    let changes = scene.forge.changes();
    let steps: Vec<_> = changes.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(steps, ["POST", "POST", "PATCH"]);
    assert!(changes.iter().all(|request| request.header("authorization") == Some("Bearer s3cret")));

    // The tag is a version for those who install from the repository.
    scene.sandbox.write(
        "skillpm.toml",
        "[skills]\npdf = { github = \"acme/skills\", path = \"pdf\", tag = \"^1\" }\n",
    );
    scene.sandbox.ok(&["install"]);
    assert!(scene.sandbox.read("skillpm.lock").contains(&scene.commit));
}

#[test]
fn a_dry_run_shows_everything_and_changes_nothing() {
    let mut scene = Scene::new();
    // It needs no token either.
    scene.sandbox.env("GITHUB_TOKEN", "");
    let output = scene.publish(&["--dry-run"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.ends_with("SKILL.md\n"), "{output}");
    for told in ["github:acme/skills", "v1.0", &scene.commit] {
        assert!(output.stderr.contains(told), "{told}: {output}");
    }
    let outcome = json_of(&scene.publish(&["--dry-run", "--json"]));
    assert_eq!((&outcome["release"]["url"], &outcome["dry_run"]), (&Value::Null, &json!(true)));
    assert_eq!(scene.forge.changes(), []);
    let needed = scene.refused(&[], 2, "`acme/skills`");
    assert!(needed.stderr.contains("GITHUB_TOKEN"), "{needed}");
    assert_eq!(scene.forge.changes(), []);
}

#[test]
fn the_tag_says_which_skill_if_there_are_several() {
    let mut scene = Scene::new();
    let several = tree("1.1.0-rc.1").file("docx/SKILL.md", text("docx", "2.0.0"));
    scene.commit(&several);
    scene.push(&several);
    assert_eq!(scene.publish(&[]).code, Some(0));
    assert!(scene.forge.releases("acme/skills")[0].is_prerelease);
    // The repository may be that of the remote, and the tag another one.
    scene.git.git(&["remote", "add", "origin", "git@github.com:acme/skills.git"]);
    let args = ["publish", "docx", "--to", "github", "--tag", "docx/2"];
    let output = scene.sandbox.ok(&args);
    assert!(output.stderr.contains("docx/2"), "{output}");
    assert_eq!(scene.tags(), ["pdf-v1.1.0-rc.1", "docx/2"]);
    scene.git.git(&["remote", "set-url", "origin", "https://gitlab.com/acme/skills.git"]);
    assert_eq!(scene.sandbox.run(&args).code, Some(2));
}

#[test]
fn a_version_is_published_once() {
    let mut scene = Scene::new();
    assert_eq!(scene.publish(&[]).code, Some(0));
    scene.refused(&[], 2, "`skillpm bump 1.0.1 pdf`");
    scene.refused(&["--dry-run"], 2, "`skillpm bump 1.0.1 pdf`");
    scene.forge.repo("acme/skills").tag("v1.0.4", &scene.commit);
    scene.refused(&[], 2, "`skillpm bump 1.0.5 pdf`");
    scene.refused(&["--tag", "v1.0"], 2, "`--tag`");
    // A tag without a release is taken if it is of this commit.
    scene.forge.repo("acme/skills").tag("v1.1", &scene.commit);
    let newer = tree("1.1");
    let before = scene.commit.clone();
    scene.commit(&newer);
    scene.push(&newer);
    scene.refused(&[], 2, &before);
    scene.forge.repo("acme/skills").tag("v1.1", &scene.commit);
    assert_eq!(scene.publish(&[]).code, Some(0));
}

#[test]
fn what_others_could_not_see_is_refused() {
    let mut scene = Scene::new();
    scene.sandbox.write("pdf/SKILL.md", text("pdf", "1.1"));
    scene.refused(&[], 2, "`--allow-dirty`");
    scene.commit(&tree("1.1"));
    scene.refused(&[], 2, "`git push`");
    scene.refused(&["--dry-run"], 2, "`git push`");
    scene.push(&tree("1.1"));
    scene.sandbox.write("pdf/SKILL.md", text("pdf", "1.2"));
    let output = scene.publish(&["--allow-dirty", "--json"]);
    let outcome = json_of(&output);
    assert_eq!(
        (&outcome["release"]["commit"], &outcome["uncommitted"]),
        (&json!(scene.commit), &json!(["SKILL.md"]))
    );
}

#[test]
fn what_makes_no_sense_is_refused_without_a_request() {
    let mut scene = Scene::new();
    scene.sandbox.write("skillpm.toml", "");
    let run = |args: &[&str], code: i32| {
        let output = scene.sandbox.run(args);
        assert_eq!(output.code, Some(code), "{args:?}: {output}");
    };
    for to in [
        "github:",
        "github:acme",
        "github:acme/skills/pdf",
        "github:acme/skills#v1",
        "github:a b/c",
        "github",
    ] {
        run(&["publish", "pdf", "--to", to], 2);
    }
    run(&[&TO[..], &["--tag", "a..b"]].concat(), 2);
    run(&[&TO[..], &["--offline"]].concat(), 4);
    run(&["registry", "init", "site", "--name", "acme"], 0);
    run(&["publish", "pdf", "--to", "site", "--tag", "v1"], 2);
    assert_eq!(scene.forge.requests(), []);
    // No repository, and no commit in it.
    let out = scene.sandbox.root().join("out");
    scene.git = GitRepo::new(&out);
    std::fs::create_dir(out.join("pdf")).expect("a directory");
    std::fs::write(out.join("pdf/SKILL.md"), text("pdf", "1.0")).expect("writes");
    let args = ["publish", "../out/pdf", "--to", "github:acme/skills", "--allow-dirty"];
    assert_eq!(scene.sandbox.run(&args).code, Some(2));
    std::fs::remove_dir_all(out.join(".git")).expect("removes");
    assert_eq!(scene.sandbox.run(&args).code, Some(2));
    assert_eq!(scene.forge.requests(), []);
}

#[test]
fn each_refusal_says_what_to_do() {
    let mut scene = Scene::new();
    for (status, code, text) in [
        (401, 4, "`GITHUB_TOKEN`"),
        (403, 4, "From the forge"),
        (404, 4, "contents of the repository"),
        (422, 2, "From the forge"),
        (429, 4, "rate limit"),
        (500, 4, "status 500"),
    ] {
        for endpoint in [Endpoint::NewRelease, Endpoint::Asset, Endpoint::ChangedRelease] {
            scene.forge.fail(endpoint, Fault::status(status));
            let output = scene.refused(&[], code, text);
            let is_left = output.stderr.contains("may be left");
            assert_eq!(is_left, status == 500 && endpoint == Endpoint::NewRelease, "{output}");
        }
    }
    scene.forge.repo("acme/skills").private();
    scene.sandbox.env("GITHUB_TOKEN", "wr0ng");
    scene.refused(&[], 4, "`GITHUB_TOKEN`");
    scene.sandbox.env("GITHUB_TOKEN", "");
    scene.refused(&["--dry-run"], 4, "not found, or is private");
}

#[test]
fn nothing_half_made_is_left_unsaid() {
    let scene = Scene::new();
    // The file does not arrive.
    for fault in
        [Fault::Closed, Fault::Garbage, Fault::Html, Fault::Redirect("http://other.example/x".into())]
    {
        scene.forge.fail(Endpoint::Asset, fault);
        scene.refused(&[], 4, "error");
        assert_eq!(scene.forge.changes().last().map(|request| request.method.clone()), Some("DELETE".into()));
    }
    // The draft cannot be deleted.
    scene.forge.fail(Endpoint::Asset, Fault::status(422));
    scene.forge.fail_times(Endpoint::NoRelease, Fault::status(500), 5);
    let output = scene.publish(&[]);
    assert!(output.code == Some(2) && output.stderr.contains("may be left"), "{output}");
    assert!(scene.forge.releases("acme/skills")[0].is_draft);
    // The answer about the last step is lost: the release is there.
    scene.forge.fail(Endpoint::ChangedRelease, Fault::Closed);
    let output = scene.publish(&[]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("https://github.com/acme/skills/releases/tag/v1.0"), "{output}");
    assert!(!scene.forge.releases("acme/skills")[1].is_draft);
}

#[test]
fn neither_the_archive_nor_the_token_goes_to_another_server() {
    let scene = Scene::new();
    let other = Forge::start();
    scene.forge.take_files_at(&other.api_url());
    let output = scene.refused(&[], 4, &other.api_host());
    assert!(output.stderr.contains("neither"), "{output}");
    assert_eq!(other.requests(), []);
    for address in ["not an address", "https://a:b@x.example", "file:///etc", "http://127.0.0.1:9/?x=1"] {
        scene.forge.take_files_at(address);
        scene.refused(&[], 4, "error");
    }
}
