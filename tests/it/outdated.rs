//! `outdated`: what is newer, without a download.

use crate::support::{Endpoint, Fault, Forge, GitRepo, GitServer, Output, Sandbox, Tree};

/// A machine with skills from five kinds of sources, of which all but one have something newer.
fn scene() -> (Forge, Sandbox) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    let tagged = forge.repo("acme/tagged");
    let first = tagged.commit(&Tree::new().skill("skills/lint", "lint"));
    tagged.tag("v1.0.0", &first);
    let moving = forge.repo("acme/skills");
    moving.commit(
        &Tree::new().skill("skills/doc", "doc").skill("skills/pdf", "pdf").skill("skills/gone", "gone"),
    );
    forge.serve("/zipped.zip", Tree::new().skill("zipped", "zipped").zip());
    sandbox.write("own/SKILL.md", "---\nname: own\ndescription: Does.\n---\n");
    let zipped = forge.url("/zipped.zip");
    for args in [
        &["install", "acme/skills", "--skill", "*"][..],
        &["install", "acme/tagged", "--tag", "v1.0.0"],
        &["install", &zipped],
        &["install", "./own"],
    ] {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(0), "{output}");
    }
    let second =
        Tree::new().skill("skills/doc", "doc").skill("skills/pdf", "pdf").file("skills/pdf/more.md", "x");
    moving.commit(&second);
    let newer = tagged.commit(&Tree::new().skill("skills/lint", "lint").file("skills/lint/x", "x"));
    tagged.tag("v1.1.0", &newer).tag("v2.0.0-rc.1", &newer);
    forge.serve("/zipped.zip", Tree::new().skill("zipped", "zipped").file("zipped/x", "x").zip());
    sandbox.write("own/more.md", "x");
    sandbox.write(".agents/skills/doc/SKILL.md", "---\nname: doc\ndescription: Edited.\n---\n");
    forge.clear_requests();
    (forge, sandbox)
}

/// What was told, without the addresses of this run.
fn shown(forge: &Forge, output: &Output) -> String {
    let variable = forge.api_host().replace('.', "_").replace(':', "___");
    output.to_string().replace(&forge.api_host(), "[FORGE]").replace(&variable, "[FORGE]")
}

#[test]
fn the_page() {
    let (forge, sandbox) = scene();
    insta::assert_snapshot!(shown(&forge, &sandbox.run(&["outdated"])), @"
    exit: 0
    --- stdout
    name    locked   newest   latest  state    scope    source
    gone    8d6d2ad  88cc625  -       gone     project  github:acme/skills
    lint    v1.0.0   v1.0.0   v1.1.0  pinned   project  github:acme/tagged
    own     -        -        -       changed  project  path:./own
    pdf     8d6d2ad  88cc625  -       changed  project  github:acme/skills
    zipped  -        -        -       unknown  project  url:http://[FORGE]/zipped.zip
    --- stderr
    4 of 6 skills are outdated
    `gone` is no longer found in `github:acme/skills/skills/gone`: `skillpm remove gone` removes it
    where the state is `unknown`, only a download shows whether the skill's own files changed
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    hint: `skillpm update --latest` goes past the versions that the manifest names
    ");
    let asked = forge.asked();
    assert!(asked.iter().all(|path| !path.contains("zipball") && !path.contains("legacy.zip")), "{asked:?}");
    let zipped: Vec<_> =
        forge.requests().into_iter().filter(|request| request.path == "/zipped.zip").collect();
    assert_eq!(zipped.len(), 1);
    assert!(zipped[0].header("if-none-match").is_some());
    // Two references, two commits of one repository with their trees, and the tags of the other.
    assert_eq!(asked.len(), 6, "{asked:?}");
    insta::assert_snapshot!(shown(&forge, &sandbox.run(&["outdated", "doc", "pdf"])), @"
    exit: 0
    --- stdout
    name  locked   newest   latest  state            scope    source
    doc   8d6d2ad  88cc625  -       current, edited  project  github:acme/skills
    pdf   8d6d2ad  88cc625  -       changed          project  github:acme/skills
    --- stderr
    1 of 2 skills is outdated
    hint: `skillpm diff --newest pdf` shows what would change, `skillpm update pdf` installs it
    ");
}

/// What `update` would refuse because of its age is told and not offered, without a download.
#[test]
fn what_is_too_young_is_held_back() {
    let (forge, sandbox) = scene();
    let skills = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\nminimum-release-age = \"9000w\"\n"));
    let args = ["outdated", "doc", "gone", "own", "pdf", "zipped", "--exit-code"];
    sandbox.tells(
        &args,
        1,
        ": name status modified",
        &[
            "doc current true",
            "gone gone false",
            "own changed false",
            "pdf changed false",
            "zipped unknown false",
        ],
    );
    let asked = forge.asked();
    assert!(asked.iter().all(|path| !path.contains("zipball") && !path.contains("legacy.zip")), "{asked:?}");
    let output = sandbox.run(&["update", "pdf"]);
    assert_eq!(output.code, Some(5), "{output}");
    let excluded = "minimum-release-age = \"9000w\"\nminimum-release-age-exclude = [\"github:acme\"]";
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\n{excluded}\n"));
    assert_eq!(sandbox.run(&["outdated", "pdf", "--exit-code"]).code, Some(1));
}

#[test]
fn programs_read_json() {
    let (_forge, sandbox) = scene();
    sandbox.tells(
        &["outdated", "lint", "doc"],
        0,
        ": name status latest modified",
        &["doc current - true", "lint current v1.1.0 false"],
    );
}

#[test]
fn exit_codes_say_what_was_found() {
    let (forge, sandbox) = scene();
    let code = |args: &[&str]| sandbox.run(args).code;
    assert_eq!(code(&["outdated"]), Some(0));
    assert_eq!(code(&["outdated", "--exit-code"]), Some(1));
    assert_eq!(code(&["outdated", "doc", "--exit-code"]), Some(0), "its files are the same");
    assert_eq!(code(&["outdated", "lint", "--exit-code"]), Some(1), "there is something past its pin");
    sandbox.fails(&["outdated", "pfd"], 2, "usage", &["`pfd`", "`pdf`"]);
    forge.fail_always(Endpoint::Commit, Fault::rate_limit(3600));
    assert_eq!(code(&["outdated", "--exit-code"]), Some(4));
}

/// THREATS: one source that is down keeps nobody from hearing of the others.
#[test]
fn the_others_are_told_where_one_cannot_be_reached() {
    let (forge, sandbox) = scene();
    forge.unserve("/zipped.zip");
    forge.fail_always(Endpoint::Trees, Fault::rate_limit(3600));
    sandbox.tells(
        &["outdated"],
        4,
        ": name status latest modified",
        &[
            "doc unknown - true",
            "gone unknown - false",
            "lint current v1.1.0 false",
            "own changed - false",
            "pdf unknown - false",
            "zipped failed - false",
        ],
    );
}

#[test]
fn a_project_without_news_says_so() {
    let sandbox = Sandbox::new();
    sandbox.tells(&["outdated"], 0, ": name status", &[]);
    sandbox.write("own/SKILL.md", "---\nname: own\ndescription: Does.\n---\n");
    sandbox.write("mine/SKILL.md", "---\nname: mine\ndescription: Does.\n---\n");
    assert_eq!(sandbox.run(&["install", "./own"]).code, Some(0));
    assert_eq!(sandbox.run(&["install", "--editable", "./mine"]).code, Some(0));
    sandbox.write("mine/more.md", "x");
    sandbox.tells(&["outdated"], 0, ": name status", &["mine editable", "own current"]);
    sandbox.tells(&["outdated", "mine"], 0, ": name status", &["mine editable"]);
    sandbox.write(
        "skillpm.toml",
        "[skills]\nown = { path = \"./elsewhere\" }\nnew = { github = \"acme/skills\" }\n",
    );
    sandbox.tells(&["outdated"], 0, ": name status", &[]);
}

#[test]
fn without_the_network_what_is_known_is_told() {
    let (forge, sandbox) = scene();
    sandbox.tells(
        &["outdated", "--offline"],
        0,
        ": name status modified",
        &[
            "doc current true",
            "gone current false",
            "lint current false",
            "own changed false",
            "pdf current false",
            "zipped current false",
        ],
    );
    sandbox.run(&["outdated"]);
    forge.clear_requests();
    sandbox.tells(
        &["outdated", "--offline"],
        0,
        ": name status modified",
        &[
            "doc current true",
            "gone gone false",
            "lint current false",
            "own changed false",
            "pdf changed false",
            "zipped current false",
        ],
    );
    assert_eq!(forge.asked(), [""; 0]);
    std::fs::remove_dir_all(sandbox.home().join(".cache")).expect("removes");
    let output = sandbox.run(&["outdated", "--offline", "lint"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("not asked"), "{output}");
}

/// THREATS: a tag that is moved to other files is told apart from a new version.
#[test]
fn a_tag_that_was_moved_is_marked() {
    let dir = tempfile::tempdir().expect("a directory");
    let work = GitRepo::new(&dir.path().join("work"));
    work.commit(&Tree::new().skill("skills/pdf", "pdf"));
    work.git(&["tag", "v1.0"]);
    let bare = work.bare(&dir.path().join("served/skills.git"));
    let server = GitServer::start(&dir.path().join("served"));
    let url = server.url("skills.git");
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["install", &url, "--tag", "v1.0"]).code, Some(0));
    work.commit(&Tree::new().skill("skills/pdf", "pdf").file("skills/pdf/x", "x"));
    work.git(&["tag", "--force", "v1.0"]);
    work.git(&["tag", "v1.1\u{202e}"]);
    work.push(&bare);
    sandbox.tells(&["outdated"], 0, ": name status tag_moved", &["pdf changed true"]);
}

/// What the manifest asks for now is told, whichever tag or place was locked.
#[test]
fn what_the_manifest_was_changed_to_counts() {
    let dir = tempfile::tempdir().expect("a directory");
    let repo = GitRepo::new(&dir.path().join("skills"));
    let tree = || Tree::new().skill("a/pdf", "pdf").skill("b/pdf", "pdf").file("b/pdf/scripts/x.sh", "ls");
    repo.commit(&tree());
    repo.git(&["tag", "v1.0"]);
    repo.commit(&tree().file("a/pdf/x", "x"));
    repo.git(&["tag", "v2.0"]);
    let sandbox = Sandbox::new();
    let source = format!("git+file://{}//a/pdf", dir.path().join("skills").display());
    assert_eq!(sandbox.run(&["install", &source, "--tag", "v1.0"]).code, Some(0));
    let change = |from: &str, to: &str| {
        let manifest = sandbox.read("skillpm.toml");
        assert!(manifest.contains(from), "{manifest}");
        sandbox.write("skillpm.toml", manifest.replace(from, to));
    };
    change("v1.0", "v2.0");
    sandbox.tells(&["outdated"], 0, ": name status", &["pdf changed"]);
    change("a/pdf", "b/pdf");
    sandbox.tells(&["outdated"], 0, ": name status", &[]);
    sandbox.tells(
        &["diff", "--newest"],
        0,
        ": name status counts.added; review.changes: kind path line; files: path status",
        &["pdf locked-otherwise 1", "script scripts/x.sh -", "command scripts/x.sh 1", "scripts/x.sh added"],
    );
    sandbox.ok(&["install", "--allow-new-capabilities"]);
    sandbox.tells(&["outdated"], 0, ": name status", &["pdf current"]);
    sandbox.tells(&["diff", "--newest"], 0, ": name", &[]);
}

/// What a policy denies is not asked.
#[test]
fn denied_sources_are_not_asked() {
    let (forge, sandbox) = scene();
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{manifest}\n[policy]\ndeny = [\"github:acme/tagged\"]\n"));
    let output = sandbox.run(&["outdated", "lint"]);
    assert_eq!((output.code, forge.asked()), (Some(5), Vec::new()), "{output}");
}

/// What nothing asks for any more is not asked for either, and is told with the way out.
#[test]
fn what_is_no_longer_asked_for_is_left_out() {
    let sandbox = Sandbox::new();
    for name in ["pdf", "doc"] {
        sandbox.write(&format!("{name}/SKILL.md"), format!("---\nname: {name}\ndescription: Does.\n---\n"));
        sandbox.ok(&["install", &format!("./{name}")]);
        sandbox.write(&format!("{name}/more.md"), "x");
    }
    sandbox.write("skillpm.toml", "[skills]\ndoc = { path = \"./doc\" }\n");
    sandbox.tells(&["outdated"], 0, ": name status", &["doc changed"]);
    assert_eq!(sandbox.ok(&["diff", "--newest", "--name-only"]).stdout, "doc/more.md\n");
    // Who names it is told the same.
    let output = sandbox.ok(&["outdated", "pdf"]);
    assert_eq!(output.stdout, "", "{output}");
    assert!(output.stderr.contains("`pdf` is no longer requested"), "{output}");
}
