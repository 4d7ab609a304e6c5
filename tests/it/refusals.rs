//! Everything that is refused: the message, the exit code, and that nothing was written.

use crate::support::{Endpoint, Fault, Forge, Sandbox, Tree, zip};

const SKILL: &[u8] = b"---\nname: demo\ndescription: Shows things. Use it in tests.\n---\nBody\n";

/// What may never change when something is refused: everything below the project, and the store.
fn everything(sandbox: &Sandbox) -> Vec<String> {
    let mut lines = sandbox.tree(&sandbox.project());
    let store = sandbox.home().join(".local/share/skillpm/store-v1");
    if store.exists() {
        lines.extend(sandbox.tree(&store).into_iter().filter(|line| line.starts_with("stage-")));
    }
    lines
}

/// Runs the program and checks that it changed nothing.
fn refused(sandbox: &Sandbox, args: &[&str]) -> String {
    let before = everything(sandbox);
    let output = sandbox.run(args);
    assert_ne!(output.code, Some(0), "{output}");
    assert_eq!(everything(sandbox), before, "{args:?} wrote something");
    assert!(!output.stderr.contains('\u{1b}'), "raw escape in {:?}", output.stderr);
    output.to_string()
}

/// Installs `./bad.zip`, made of these files, and returns what a person sees.
fn refused_archive(entries: &[(&str, &[u8])]) -> String {
    let sandbox = Sandbox::new();
    sandbox.write("bad.zip", zip::raw(entries, ""));
    refused(&sandbox, &["install", "./bad.zip"])
}

fn refused_tree(tree: &Tree) -> String {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(tree);
    refused(&sandbox, &["install", "acme/skills"])
}

/// zn01, zn03, zn05, zn08, zn11, zn12.
#[test]
fn names_that_lead_elsewhere() {
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("../x", b"")]), @"");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/../../x", b"")]), @"");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("/etc/x", b"")]), @"");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo\\..\\x", b"")]), @"");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/\u{1b}]0;x\u{7}", b"")]), @"");
}

/// zs01-dup-names, zn22-case-collision, zn24-nfc-nfd.
#[test]
fn names_that_are_there_twice() {
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/SKILL.md", b"other")]), @"");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/skill.md", b"other")]), @"");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/Ref/a", b""), ("demo/ref/b", b"")]), @"");
}

/// zl01, zl05, zn32-dot-git.
#[test]
fn links_and_hidden_repositories() {
    let tree = Tree::new().skill("demo", "demo").symlink("demo/secret", "/etc/passwd");
    insta::assert_snapshot!(refused_tree(&tree), @"");
    let tree = Tree::new()
        .file("real/x.md", "---\nname: demo\ndescription: d\n---\n")
        .symlink("demo/SKILL.md", "../real/x.md");
    insta::assert_snapshot!(refused_tree(&tree), @"");
    let tree = Tree::new().skill("demo", "demo").executable("demo/.git/hooks/post-checkout", "#!/bin/sh\n");
    insta::assert_snapshot!(refused_tree(&tree), @"");
}

/// zl08-symlink-elsewhere: what lies outside of the chosen skill is not its business.
#[test]
fn a_link_outside_of_the_skill_does_no_harm() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge
        .repo("acme/skills")
        .commit(&Tree::new().skill("skills/demo", "demo").symlink("elsewhere", "/etc/passwd"));
    assert_eq!(sandbox.run(&["install", "acme/skills"]).code, Some(0));
    assert!(sandbox.tree(&sandbox.project()).iter().all(|line| !line.contains("->")));
}

/// zb01-ratio, zs08-crc-bad, zs18-trunc-half, zs21-html.
#[test]
fn archives_that_are_bombs_or_damaged() {
    let zeros = vec![0; 48 << 20];
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/zeros", &zeros)]), @"");

    let sandbox = Sandbox::new();
    let whole = zip::raw(&[("demo/SKILL.md", SKILL), ("demo/x.md", b"0123456789")], "");
    let at = whole.windows(10).position(|bytes| bytes == b"0123456789").expect("stored");
    let mut flipped = whole.clone();
    flipped[at] ^= 1;
    sandbox.write("crc.zip", flipped);
    insta::assert_snapshot!(refused(&sandbox, &["install", "./crc.zip"]), @"");
    sandbox.write("half.zip", &whole[..whole.len() / 2]);
    insta::assert_snapshot!(refused(&sandbox, &["install", "./half.zip"]), @"");
    sandbox.write("login.zip", "<!DOCTYPE html><title>Sign in</title>");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./login.zip"]), @"");
}

/// ms09-homoglyph-name, ms20-dup-keys, ms22-name-dotdot.
#[test]
fn names_of_skills() {
    let named =
        |name: &str| Tree::new().file("x/SKILL.md", format!("---\nname: {name}\ndescription: d\n---\n"));
    insta::assert_snapshot!(refused_tree(&named("p\u{430}ypal")), @"");
    insta::assert_snapshot!(refused_tree(&Tree::new().file("x/SKILL.md", "# nothing\n")), @"");
    insta::assert_snapshot!(refused_tree(&Tree::new().file("x/SKILL.md", "---\nname: x\n---\n")), @"");

    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&named("../../CANARY"));
    let output = sandbox.run(&["install", "acme/skills"]);
    assert_eq!(output.code, Some(0), "installed under its directory's name: {output}");
    assert!(sandbox.project().join(".agents/skills/x/SKILL.md").exists());
}

/// S4-18, S4-23, zn37-two-demos.
#[test]
fn skills_that_are_not_there_or_not_named() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    let tree =
        Tree::new().skill("skills/pdf", "pdf").skill("skills/docx", "docx").skill("skills/other", "pdf");
    forge.repo("acme/skills").commit(&tree);
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills", "--skill", "dox"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills@v1.2"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills@pdf"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills/skill/pdf"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills#missing"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/missing"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["invoke", "pfd"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["remove", "pdf"]), @"");
}

#[test]
fn sources_and_flags_that_make_no_sense() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(refused(&sandbox, &["install", "pdf"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./missing"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "ext::sh -c touch x"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills#v1", "--tag", "v2"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills", "--agent", "claude-cod"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills", "--frozen"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install", "--skill", "x"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install"]), @"");
    sandbox.write("empty/README.md", "nothing");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./empty"]), @"");
}

/// h03, h09, h16: the network's ways to fail.
#[test]
fn the_network() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&Tree::new().skill("pdf", "pdf"));
    insta::assert_snapshot!(refused(&sandbox, &["install", "--offline", "acme/skills"]), @"");
    forge.repo("acme/private").private().commit(&Tree::new().skill("pdf", "pdf"));
    forge.accept_token("right");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/private"]), @"");
    sandbox.env("GITHUB_TOKEN", "wrong");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/private"]), @"");
    sandbox.env("GITHUB_TOKEN", "right");
    assert_eq!(sandbox.run(&["install", "acme/private", "--dry-run"]).code, Some(0));
    for request in forge.requests() {
        let is_api = request.host == forge.api_host();
        assert_eq!(
            request.header("authorization").is_some_and(|value| value.contains("right")),
            is_api
                && request.header("authorization").is_some()
                && request.header("authorization") != Some("Bearer wrong"),
            "{request:?}"
        );
        assert!(is_api || request.header("authorization").is_none(), "the token went to {}", request.host);
    }
    forge.fail_always(Endpoint::Archive, Fault::Html);
    forge.repo("acme/other").commit(&Tree::new().skill("pdf", "pdf"));
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/other"]), @"");
    let address = sandbox.settings().github.api_url;
    drop(forge);
    let stopped = refused(&sandbox, &["install", "acme/skills"])
        .replace(address.trim_start_matches("http://"), "[FORGE]");
    insta::assert_snapshot!(stopped, @"");
}

/// lk01, lk04, lk07, lk09, lk19: a lockfile is a stranger's text.
#[test]
fn lockfiles_and_manifests() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&Tree::new().skill("pdf", "pdf"));
    assert_eq!(sandbox.run(&["install", "acme/skills"]).code, Some(0));
    let lock = sandbox.read("skillpm.lock");
    let manifest = sandbox.read("skillpm.toml");
    let with = |text: String| {
        sandbox.write("skillpm.lock", text);
        refused(&sandbox, &["install", "--frozen"])
    };
    insta::assert_snapshot!(with(lock.replace("\"pdf\"", "\"../../canary\"")), @"");
    insta::assert_snapshot!(with(lock.lines().filter(|l| !l.starts_with("digest")).map(|l| format!("{l}\n")).collect()), @"");
    insta::assert_snapshot!(with(format!("<<<<<<< HEAD\n{lock}=======\n>>>>>>> theirs\n")), @"");
    insta::assert_snapshot!(with(lock.replace("version = 1\n", "version = 2\n")), @"");

    // Other bytes than the locked ones, in the store and at the source.
    let wrong = format!("sha256:{}", "0".repeat(64));
    let digest =
        lock.lines().find_map(|line| line.strip_prefix("digest = ")).expect("a digest").trim_matches('"');
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    let other = with(lock.replace(digest, &wrong)).replace(digest, "[FOUND]");
    insta::assert_snapshot!(other, @"");

    sandbox.write("skillpm.lock", &lock);
    sandbox.write("skillpm.toml", manifest.replace("github", "githb"));
    insta::assert_snapshot!(refused(&sandbox, &["install"]), @"");
    sandbox.write("skillpm.toml", format!("{manifest}new = {{ github = \"acme/new\" }}\n"));
    insta::assert_snapshot!(refused(&sandbox, &["install", "--locked"]), @"");
}

/// Nothing that a user wrote is replaced in silence.
#[test]
fn what_the_user_wrote_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\none\n");
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"");
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    sandbox.write(".claude/skills/pdf/SKILL.md", "mine");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"");
    std::fs::remove_dir_all(sandbox.project().join(".claude")).expect("removed");

    assert_eq!(sandbox.run(&["install", "./src/pdf"]).code, Some(0));
    sandbox.write(".agents/skills/pdf/SKILL.md", "edited");
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\ntwo\n");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["remove", "pdf"]), @"");
    insta::assert_snapshot!(refused(&sandbox, &["install"]), @"");

    let forced = sandbox.run(&["install", "./src/pdf", "--force"]);
    assert_eq!(forced.code, Some(0), "{forced}");
    let kept = forced.stderr.split('`').find(|part| part.contains("store-v1")).expect("where it is kept");
    let kept = kept.replace("[DIR]", &sandbox.home().parent().expect("a parent").display().to_string());
    assert_eq!(std::fs::read_to_string(format!("{kept}/SKILL.md")).expect("kept"), "edited");
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").ends_with("two\n"));
}

/// A project that a stranger prepared cannot make the program write outside of it.
#[cfg(unix)]
#[test]
fn links_out_of_the_project() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\n");
    std::os::unix::fs::symlink("../home", sandbox.project().join(".agents")).expect("a link");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"");
    std::fs::remove_file(sandbox.project().join(".agents")).expect("removed");
    std::fs::create_dir(sandbox.project().join(".claude")).expect("a directory");
    std::os::unix::fs::symlink("../../home", sandbox.project().join(".claude/skills")).expect("a link");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"");
    assert_eq!(sandbox.tree(&sandbox.home()).iter().filter(|line| line.contains("pdf")).count(), 0);
}
