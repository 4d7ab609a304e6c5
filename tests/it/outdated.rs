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
fn what_is_newer_is_told_without_a_download() {
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
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    ");
}

/// What `update` would refuse because of its age is told and not offered, without a download.
#[test]
fn what_is_too_young_is_held_back() {
    let (forge, sandbox) = scene();
    let skills = sandbox.read("skillpm.toml");
    sandbox.write("skillpm.toml", format!("{skills}\n[policy]\nminimum-release-age = \"9000w\"\n"));
    let output = sandbox.run(&["outdated", "doc", "gone", "own", "pdf", "zipped", "--exit-code"]);
    let ages = regex::Regex::new(r"only \d+ \w+").expect("a pattern");
    insta::assert_snapshot!(ages.replace_all(&shown(&forge, &output), "only SOME TIME"), @r#"
    exit: 1
    --- stdout
    name    locked   newest   latest  state               scope    source
    doc     8d6d2ad  88cc625  -       current, edited     project  github:acme/skills
    gone    8d6d2ad  88cc625  -       gone                project  github:acme/skills
    own     -        -        -       changed             project  path:./own
    pdf     8d6d2ad  88cc625  -       changed, held back  project  github:acme/skills
    zipped  -        -        -       unknown, held back  project  url:http://[FORGE]/zipped.zip
    --- stderr
    2 of 5 skills are outdated
    `gone` is no longer found in `github:acme/skills/skills/gone`: `skillpm remove gone` removes it
    `pdf` is held back: the newest version was released only SOME TIME ago: skillpm.toml:10:23: `minimum-release-age = "9000w"` says so
    `zipped` is held back: the newest version does not say when it was released: skillpm.toml:10:23: `minimum-release-age = "9000w"` says so
    where the state is `unknown`, only a download shows whether the skill's own files changed
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    "#);
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
    let (forge, sandbox) = scene();
    let output = sandbox.run(&["outdated", "--json", "lint", "doc"]);
    assert_eq!(output.code, Some(0), "{output}");
    insta::assert_snapshot!(shown(&forge, &output), @r#"
    exit: 0
    --- stdout
    [
      {
        "name": "doc",
        "scope": "project",
        "source": "github:acme/skills",
        "path": "skills/doc",
        "requested": null,
        "locked": "8d6d2ad4af23697d8c67cbcaa9803951c14a2403",
        "newest": "88cc6253ff4e3519b2e5198bd0e60c44ec40085b",
        "latest": null,
        "status": "current",
        "held_back": null,
        "moved_to": null,
        "tag_moved": false,
        "yanked": false,
        "modified": true,
        "disabled": false
      },
      {
        "name": "lint",
        "scope": "project",
        "source": "github:acme/tagged",
        "path": "skills/lint",
        "requested": "tags/v1.0.0",
        "locked": "9ff0291314a0b95610d4602249c9d424017e7086",
        "newest": "9ff0291314a0b95610d4602249c9d424017e7086",
        "latest": "v1.1.0",
        "status": "current",
        "held_back": null,
        "moved_to": null,
        "tag_moved": false,
        "yanked": false,
        "modified": false,
        "disabled": false
      }
    ]
    "#);
}

#[test]
fn exit_codes_say_what_was_found() {
    let (forge, sandbox) = scene();
    let code = |args: &[&str]| sandbox.run(args).code;
    assert_eq!(code(&["outdated"]), Some(0));
    assert_eq!(code(&["outdated", "--exit-code"]), Some(1));
    assert_eq!(code(&["outdated", "doc", "--exit-code"]), Some(0), "its files are the same");
    assert_eq!(code(&["outdated", "lint", "--exit-code"]), Some(1), "there is something past its pin");
    insta::assert_snapshot!(sandbox.run(&["outdated", "pfd"]), @"
    exit: 2
    --- stderr
    error: `pfd` is not installed
    hint: did you mean `pdf`?
    ");
    forge.fail_always(Endpoint::Commit, Fault::rate_limit(3600));
    assert_eq!(code(&["outdated", "--exit-code"]), Some(4));
}

/// THREATS: one source that is down keeps nobody from hearing of the others.
#[test]
fn the_others_are_told_where_one_cannot_be_reached() {
    let (forge, sandbox) = scene();
    forge.unserve("/zipped.zip");
    forge.fail_always(Endpoint::Trees, Fault::rate_limit(3600));
    insta::assert_snapshot!(shown(&forge, &sandbox.run(&["outdated"])), @"
    exit: 4
    --- stdout
    name    locked   newest   latest  state            scope    source
    doc     8d6d2ad  88cc625  -       unknown, edited  project  github:acme/skills
    gone    8d6d2ad  88cc625  -       unknown          project  github:acme/skills
    lint    v1.0.0   v1.0.0   v1.1.0  pinned           project  github:acme/tagged
    own     -        -        -       changed          project  path:./own
    pdf     8d6d2ad  88cc625  -       unknown          project  github:acme/skills
    zipped  -        -        -       not reached      project  url:http://[FORGE]/zipped.zip
    --- stderr
    warning: `http://[FORGE]/zipped.zip` cannot be checked for newer versions: `http://[FORGE]/zipped.zip` does not exist (status 404)
    hint: check the address; if it needs a login, set `SKILLPM_TOKEN_[FORGE]` to a token, or write `machine 127.0.0.1 login NAME password PASSWORD` into `[DIR]/home/.netrc`
    2 of 6 skills are outdated
    where the state is `unknown`, only a download shows whether the skill's own files changed
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    hint: `skillpm update --latest` goes past the versions that the manifest names
    ");
}

#[test]
fn a_project_without_news_says_so() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run(&["outdated"]), @"
    exit: 0
    --- stderr
    no skills are installed here
    ");
    sandbox.write("own/SKILL.md", "---\nname: own\ndescription: Does.\n---\n");
    sandbox.write("mine/SKILL.md", "---\nname: mine\ndescription: Does.\n---\n");
    assert_eq!(sandbox.run(&["install", "./own"]).code, Some(0));
    assert_eq!(sandbox.run(&["install", "--editable", "./mine"]).code, Some(0));
    sandbox.write("mine/more.md", "x");
    insta::assert_snapshot!(sandbox.run(&["outdated"]), @"
    exit: 0
    --- stderr
    2 skills are up to date
    ");
    insta::assert_snapshot!(sandbox.run(&["outdated", "mine"]), @"
    exit: 0
    --- stdout
    name  locked  newest  latest  state     scope    source
    mine  -       -       -       editable  project  path:./mine
    --- stderr
    1 skill is up to date
    ");
    sandbox.write(
        "skillpm.toml",
        "[skills]\nown = { path = \"./elsewhere\" }\nnew = { github = \"acme/skills\" }\n",
    );
    insta::assert_snapshot!(sandbox.run(&["outdated"]), @"
    exit: 0
    --- stderr
    warning: `mine` is no longer requested: `skillpm install` removes it
    warning: `new` is not installed yet: `skillpm install` installs it
    warning: `own` is locked from a source other than the one in the manifest: `skillpm install` resolves it
    ");
}

#[test]
fn without_the_network_what_is_known_is_told() {
    let (forge, sandbox) = scene();
    insta::assert_snapshot!(shown(&forge, &sandbox.run(&["outdated", "--offline"])), @"
    exit: 0
    --- stdout
    name  locked  newest  latest  state    scope    source
    own   -       -       -       changed  project  path:./own
    --- stderr
    1 of 6 skills is outdated
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    ");
    sandbox.run(&["outdated"]);
    forge.clear_requests();
    insta::assert_snapshot!(shown(&forge, &sandbox.run(&["outdated", "--offline"])), @"
    exit: 0
    --- stdout
    name  locked   newest   latest  state    scope    source
    gone  8d6d2ad  88cc625  -       gone     project  github:acme/skills
    own   -        -        -       changed  project  path:./own
    pdf   8d6d2ad  88cc625  -       changed  project  github:acme/skills
    --- stderr
    3 of 6 skills are outdated
    `gone` is no longer found in `github:acme/skills/skills/gone`: `skillpm remove gone` removes it
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    ");
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
    let output = sandbox.run(&["outdated"]).to_string().replace(&url, "[URL]");
    insta::assert_snapshot!(output, @"
    exit: 0
    --- stdout
    name  locked  newest   latest  state               scope    source
    pdf   v1.0    86e0fab  -       changed, tag moved  project  git:[URL]
    --- stderr
    1 skill is outdated
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    ");
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
    let shown =
        |args: &[&str]| sandbox.run(args).to_string().replace(&*dir.path().to_string_lossy(), "[DIR]");
    let change = |from: &str, to: &str| {
        let manifest = sandbox.read("skillpm.toml");
        assert!(manifest.contains(from), "{manifest}");
        sandbox.write("skillpm.toml", manifest.replace(from, to));
    };
    change("v1.0", "v2.0");
    insta::assert_snapshot!(shown(&["outdated"]), @"
    exit: 0
    --- stdout
    name  locked  newest   latest  state    scope    source
    pdf   v2.0    0002a68  -       changed  project  git:file://[DIR]/skills
    --- stderr
    1 skill is outdated
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    ");
    change("a/pdf", "b/pdf");
    insta::assert_snapshot!(shown(&["outdated"]), @"
    exit: 0
    --- stderr
    warning: `pdf` is locked from a place in its source other than the one in the manifest: `skillpm install` resolves it
    ");
    insta::assert_snapshot!(shown(&["diff", "--newest", "--stat"]), @"
    exit: 0
    --- stdout
    pdf of git:file://[DIR]/skills: locked v1.0 at 17a141a, newest v2.0 at 0002a68

    review: 2 changes, 2 new capabilities, marked `!`
    ! script   scripts/x.sh    ls
    ! command  scripts/x.sh:1  ls

    1 file: 1 added; 1 line added, 0 removed
    added scripts/x.sh: 1 line added, 0 removed
    ");
    sandbox.ok(&["install", "--allow-new-capabilities"]);
    insta::assert_snapshot!(shown(&["outdated"]), @"
    exit: 0
    --- stderr
    1 skill is up to date
    ");
    insta::assert_snapshot!(shown(&["diff", "--newest", "--stat"]), @"
    exit: 0
    --- stderr
    1 skill is up to date
    ");
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
    insta::assert_snapshot!(sandbox.run(&["outdated"]), @"
    exit: 0
    --- stdout
    name  locked  newest  latest  state    scope    source
    doc   -       -       -       changed  project  path:./doc
    --- stderr
    warning: `pdf` is no longer requested: `skillpm install` removes it
    1 skill is outdated
    hint: `skillpm diff --newest` shows what would change, `skillpm update` installs it
    ");
    insta::assert_snapshot!(sandbox.run(&["diff", "--newest", "--name-only"]), @"
    exit: 0
    --- stdout
    doc/more.md
    --- stderr
    warning: `pdf` is no longer requested: `skillpm install` removes it
    ");
    // Who names it is told the same.
    let output = sandbox.ok(&["outdated", "pdf"]);
    assert_eq!(output.stdout, "", "{output}");
    assert!(output.stderr.contains("`pdf` is no longer requested"), "{output}");
}
