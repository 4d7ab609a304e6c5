//! Everything that is refused: the message, the exit code, and that nothing was written.

use crate::support::tar::tar_gz;
use crate::support::{Endpoint, Fault, Forge, GitRepo, Sandbox, Tree, zip};

const SKILL: &[u8] = b"---\nname: demo\ndescription: Shows things. Use it in tests.\n---\nBody\n";

/// What may never change when something is refused: everything below the project, and the store.
fn everything(sandbox: &Sandbox) -> Vec<String> {
    let mut lines = sandbox.tree(&sandbox.project());
    let store = sandbox.home().join(".local/share/skillpm/store-v2");
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
    let forge = sandbox.settings().github.api_url;
    output.to_string().replace(forge.trim_start_matches("http://"), "[FORGE]")
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
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("../x", b"")]), @"
    exit: 5
    --- stderr
    error: `bad.zip` is refused
      caused by: `../x`: this name is not allowed: it has a `.` or `..` component
    ");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/../../x", b"")]), @"
    exit: 5
    --- stderr
    error: `bad.zip` is refused
      caused by: `demo/../../x`: this name is not allowed: it has a `.` or `..` component
    ");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("/etc/x", b"")]), @"
    exit: 5
    --- stderr
    error: `bad.zip` is refused
      caused by: `/etc/x`: this name is not allowed: it is absolute
    ");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo\\..\\x", b"")]), @r"
    exit: 5
    --- stderr
    error: `bad.zip` is refused
      caused by: `demo\..\x`: this name is not allowed: it has a backslash
    ");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/\u{1b}]0;x\u{7}", b"")]), @r"
    exit: 5
    --- stderr
    error: `bad.zip` is refused
      caused by: `demo/\u{1b}]0;x\u{7}`: this name is not allowed: it has the invisible character U+001B
    ");
}

/// zs01-dup-names, zn22-case-collision, zn24-nfc-nfd.
#[test]
fn names_that_are_there_twice() {
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/SKILL.md", b"other")]), @"
    exit: 5
    --- stderr
    error: `bad.zip` is refused
      caused by: `demo/SKILL.md`: this name appears twice
    ");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/skill.md", b"other")]), @"
    exit: 5
    --- stderr
    error: the skill `demo` is refused
      caused by: `SKILL.md` and `skill.md` are the same name on some file systems
    ");
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/Ref/a", b""), ("demo/ref/b", b"")]), @"
    exit: 5
    --- stderr
    error: the skill `demo` is refused
      caused by: `Ref` and `ref` are the same name on some file systems
    ");
}

/// zl01, zl05, zn32-dot-git.
#[test]
fn links_and_hidden_repositories() {
    let tree = Tree::new().skill("demo", "demo").symlink("demo/secret", "/etc/passwd");
    insta::assert_snapshot!(refused_tree(&tree), @"
    exit: 5
    --- stderr
    error: the skill `demo` is refused
      caused by: `secret`: this is a symbolic link that leads out of the skill or to no regular file
    ");
    let tree = Tree::new()
        .file("real/x.md", "---\nname: demo\ndescription: d\n---\n")
        .symlink("demo/SKILL.md", "../real/x.md");
    insta::assert_snapshot!(refused_tree(&tree), @"
    exit: 5
    --- stderr
    error: `demo/SKILL.md` cannot be loaded: `SKILL.md`: this is a symbolic link, it must be a real file
    ");
    let tree = Tree::new().skill("demo", "demo").executable("demo/.git/hooks/post-checkout", "#!/bin/sh\n");
    insta::assert_snapshot!(refused_tree(&tree), @"
    exit: 5
    --- stderr
    error: the skill `demo` is refused
      caused by: `.git/hooks/post-checkout`: this name is not allowed: it is part of a git repository's own files
    ");
}

/// zc08-symlink-elsewhere: what lies outside of the chosen skill is not its business.
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
    insta::assert_snapshot!(refused_archive(&[("demo/SKILL.md", SKILL), ("demo/zeros", &zeros)]), @"
    exit: 5
    --- stderr
    error: `bad.zip` is refused
      caused by: `demo/zeros`: this entry unpacks to 1028 times its size, 200 times is allowed
    ");

    let sandbox = Sandbox::new();
    let whole = zip::raw(&[("demo/SKILL.md", SKILL), ("demo/x.md", b"0123456789")], "");
    let at = whole.windows(10).position(|bytes| bytes == b"0123456789").expect("stored");
    let mut flipped = whole.clone();
    flipped[at] ^= 1;
    sandbox.write("crc.zip", flipped);
    insta::assert_snapshot!(refused(&sandbox, &["install", "./crc.zip"]), @"
    exit: 5
    --- stderr
    error: the skill `demo` is refused
      caused by: `demo/x.md`: the content does not match its checksum
    ");
    sandbox.write("half.zip", &whole[..whole.len() / 2]);
    insta::assert_snapshot!(refused(&sandbox, &["install", "./half.zip"]), @"
    exit: 5
    --- stderr
    error: `half.zip` is refused
      caused by: the archive is cut off: its directory of entries is missing
    ");
    sandbox.write("login.zip", "<!DOCTYPE html><title>Sign in</title>");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./login.zip"]), @"
    exit: 5
    --- stderr
    error: `login.zip` is refused
      caused by: this is not a zip, tar or tar.gz archive: it looks like an HTML page
    ");
}

/// S4-24, ms09-homoglyph-name, ms20-dup-keys, ms22-name-dotdot.
#[test]
fn names_of_skills() {
    let named =
        |name: &str| Tree::new().file("x/SKILL.md", format!("---\nname: {name}\ndescription: d\n---\n"));
    insta::assert_snapshot!(refused_tree(&named("p\u{430}ypal")), @"
    exit: 5
    --- stderr
    error: the name `pаypal` mixes alphabets: `а` (U+0430) looks like a Latin letter but is not
    hint: install it only if you know why, under another name with `--as NAME`
    ");
    insta::assert_snapshot!(refused_tree(&Tree::new().file("x/SKILL.md", "# nothing\n")), @"
    exit: 5
    --- stderr
    error: `x/SKILL.md` cannot be loaded: the file has no frontmatter: start it with `---`, `name`, `description` and `---`
    ");
    insta::assert_snapshot!(refused_tree(&Tree::new().file("x/SKILL.md", "---\nname: x\n---\n")), @"
    exit: 5
    --- stderr
    error: `x/SKILL.md` cannot be loaded: the required field `description` is missing from the frontmatter
    ");

    insta::assert_snapshot!(refused_tree(&named("../../CANARY")), @"
    exit: 5
    --- stderr
    error: `x/SKILL.md` has the name `../../CANARY`, which is a path
    hint: such a name is no accident; install it only if you know why, with `--as NAME`
    ");
}

/// S4-23, zn37-two-demos.
#[test]
fn skills_that_are_not_there_or_not_named() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    let tree =
        Tree::new().skill("skills/pdf", "pdf").skill("skills/docx", "docx").skill("skills/other", "pdf");
    forge.repo("acme/skills").commit(&tree);
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills"]), @"
    exit: 2
    --- stderr
    error: `acme/skills` has 3 skills; choose some with `--skill`:
      docx (skills/docx)
      pdf (skills/other)
      pdf (skills/pdf)
    hint: `skillpm install acme/skills --skill docx` (more names may follow), or `--skill '*'` for all
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills", "--skill", "dox"]), @"
    exit: 2
    --- stderr
    error: there is no skill `dox` in `acme/skills`
    hint: did you mean `docx`?
    hint: `skillpm install --list acme/skills` shows what is available
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills@v1.2"]), @"
    exit: 2
    --- stderr
    error: there is no skill `v1.2` in `acme/skills`
    hint: `@` names a skill; choose a version with `--tag v1.2`
    hint: `skillpm install --list acme/skills` shows what is available
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills@pdf"]), @"
    exit: 2
    --- stderr
    error: `acme/skills` has 2 skills named `pdf`:
      skills/other
      skills/pdf
    hint: name one by its path, such as `acme/skills/skills/other`
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills/skill/pdf"]), @"
    exit: 2
    --- stderr
    error: there is no directory `skill/pdf` in `acme/skills`
    hint: did you mean `skills/pdf`?
    hint: `skillpm install --list acme/skills` shows what is available
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills#missing"]), @"
    exit: 2
    --- stderr
    error: `acme/skills` has no revision `missing`
    hint: name a tag, a branch or a full commit id of that repository
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/missing"]), @"
    exit: 4
    --- stderr
    error: the repository `acme/missing` was not found, or is private
    hint: set `GITHUB_TOKEN` to a token that may read it, if it is private; else check the spelling
    ");
    insta::assert_snapshot!(refused(&sandbox, &["invoke", "pfd"]), @"
    exit: 2
    --- stderr
    error: there is no skill `pfd`
    hint: `skillpm install owner/repo` installs skills, `skillpm list` shows them
    ");
    insta::assert_snapshot!(refused(&sandbox, &["remove", "pdf"]), @"
    exit: 2
    --- stderr
    error: `pdf` is not installed in this project
    hint: `skillpm list` shows what is installed, and where
    ");
}

#[test]
fn sources_and_flags_that_make_no_sense() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(refused(&sandbox, &["install", "pdf"]), @r#"
    exit: 2
    --- stderr
    error: `pdf` is not a source: expected `owner/repo` or a path such as `./pdf`
    hint: a skill is named after its source: `skillpm install owner/repo NAME`
    hint: to install from a registry, name it in `skillpm.toml`: `[registries]` and `default = "https://…"`
    "#);
    insta::assert_snapshot!(refused(&sandbox, &["install", "./missing"]), @"
    exit: 2
    --- stderr
    error: `./missing` does not exist
    hint: check the path; `owner/repo` means a repository on GitHub
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "ext::sh -c touch x"]), @"
    exit: 2
    --- stderr
    error: `ext::sh -c touch x` is not an address that skillpm can install from
    hint: a source is `owner/repo`, an address of a git repository, a file or a site, an installed package such as `npm:name`, or a path such as `./skills`
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills#v1", "--tag", "v2"]), @"
    exit: 2
    --- stderr
    error: the revision is given twice: `v1` and `v2`
    hint: remove `#` from the source, or leave out the flag
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills", "--agent", "claude-cod"]), @"
    exit: 2
    --- stderr
    error: there is no agent `claude-cod`
    hint: did you mean `claude-code`?
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills", "--frozen"]), @"
    exit: 2
    --- stderr
    error: `--frozen` only restores what is locked, so it takes no source
    hint: remove the source, or use `--locked`
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "--skill", "x"]), @"
    exit: 2
    --- stderr
    error: `--skill` needs a source
    hint: name one, such as `owner/repo` or `./skills`; without a source the lockfile is restored
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install"]), @"
    exit: 2
    --- stderr
    error: there is no `skillpm.toml` in `[DIR]/project`
    hint: install something first: `skillpm install owner/repo`, or `skillpm install ./skill`
    ");
    // What a killed first installation left says no more.
    sandbox.write(".agents/.skillpm-tx/.gitignore", "*\n");
    let error = "there is no `skillpm.toml`";
    let output = sandbox.run(&["install"]);
    assert!(output.code == Some(2) && output.stderr.contains(error), "{output}");
    assert!(!sandbox.project().join(".agents/.skillpm-tx").exists());
    // The manifest of the user does not lie where the skills do.
    insta::assert_snapshot!(refused(&sandbox, &["install", "-g"]), @"
    exit: 2
    --- stderr
    error: there is no `skillpm.toml` in `[DIR]/home/.config/skillpm`
    hint: install something first: `skillpm install -g owner/repo`, or `skillpm install -g ./skill`
    ");
    sandbox.write("empty/README.md", "nothing");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./empty"]), @"
    exit: 2
    --- stderr
    error: there is no `SKILL.md` in `./empty`
    hint: a skill is a directory with a `SKILL.md`
    ");
}

/// Bytes that are no text are a wrong manifest or lockfile, not a disk that fails.
#[test]
fn files_that_are_not_utf8() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\n");
    sandbox.ok(&["install", "./src/pdf"]);
    sandbox.write("skillpm.lock", b"version = 1\n# gr\xc3\xbcn \xff\n");
    insta::assert_snapshot!(sandbox.run(&["list"]), @"
    exit: 3
    --- stderr
    error: skillpm.lock:2:8: it is not UTF-8 from here on
    hint: restore the file from version control, or delete it and run `skillpm install`
    ");
    let doctor = sandbox.run(&["doctor", "-p"]).to_string();
    assert!(doctor.contains("it is not UTF-8 from here on [lock-unreadable]"), "{doctor}");
    // What an editor of another system may save.
    sandbox.write("skillpm.toml", b"\xff\xfe[\0s\0");
    for args in [&["list"][..], &["install"], &["update"], &["remove", "pdf"]] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(sandbox.run(args), @"
            exit: 3
            --- stderr
            error: skillpm.toml:1:1: it is not UTF-8 from here on
            hint: restore the file from version control, or save it as UTF-8
            ");
        }
    }
}

/// h03, h09, h16: the network's ways to fail.
#[test]
fn the_network() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&Tree::new().skill("pdf", "pdf"));
    insta::assert_snapshot!(refused(&sandbox, &["install", "--offline", "acme/skills"]), @"
    exit: 4
    --- stderr
    error: `acme/skills` is not in the store, and `--offline` forbids the network
    hint: run it again without `--offline`, and with `SKILLPM_OFFLINE` unset
    ");
    forge.repo("acme/private").private().commit(&Tree::new().skill("pdf", "pdf"));
    forge.accept_token("right");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/private"]), @"
    exit: 4
    --- stderr
    error: the repository `acme/private` was not found, or is private
    hint: set `GITHUB_TOKEN` to a token that may read it, if it is private; else check the spelling
    ");
    sandbox.env("GITHUB_TOKEN", "wrong");
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/private"]), @"
    exit: 4
    --- stderr
    error: `[FORGE]` does not accept the token in `GITHUB_TOKEN`
    hint: it may have expired: set `GITHUB_TOKEN` to a new one, or unset it for public repositories
    ");
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
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/other"]), @"
    exit: 5
    --- stderr
    error: the archive of `acme/other` is refused
      caused by: this is not a zip archive: it looks like an HTML page
    ");
    drop(forge);
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/skills"]), @"
    exit: 4
    --- stderr
    failed to connect to `[FORGE]`; retrying in 1 s (1 of 1)
    error: failed to connect to `[FORGE]`
      caused by: Connection refused (os error 111)
    hint: check the connection; behind a proxy, set `HTTPS_PROXY`
    hint: skills in the store can be installed without a network: `--offline`
    ");
}

/// THREATS 2, names that squat inside one repository: nobody said which of two is meant, so none is taken; one that is
/// there twice is one.
#[test]
fn different_skills_of_one_name_in_one_source() {
    let sandbox = Sandbox::new();
    let skill =
        |name: &str, body: &str| format!("---\nname: {name}\ndescription: Use it in tests.\n---\n{body}\n");
    sandbox.write("../source/.claude/skills/pdf/SKILL.md", skill("pdf", "evil"));
    sandbox.write("../source/skills/pdf/SKILL.md", skill("pdf", "good"));
    sandbox.write("../source/.claude/skills/same/SKILL.md", skill("same", "one"));
    sandbox.write("../source/skills/same/SKILL.md", skill("same", "one"));
    sandbox.write("../source/skills/other/SKILL.md", skill("other", "one"));
    insta::assert_snapshot!(sandbox.run(&["install", "../source", "--skill", "*"]), @r"
    exit: 1
    --- stderr
    + other (path:../source)
    + same (path:../source)
    2 skills added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed; `other` and `same` come from outside of the project, so colleagues cannot install them
    warning: `.claude/skills/pdf` and `skills/pdf` were left out: they are different skills of one name; name one by its path, such as `--skill .claude/skills/pdf`
    hint: `skillpm list` shows what is installed, `skillpm invoke other` what an agent gets
    ");
    assert!(!sandbox.read("skillpm.lock").contains("[skill.pdf]"));
    sandbox.ok(&["install", "../source", "--skill", "skills/pdf/"]);
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").contains("good"));
}

/// The name of a directory is a stranger's: one that no manifest can hold spoils its own skill, and no name makes lines
/// of its own.
#[cfg(unix)]
#[test]
fn names_of_directories_and_files_with_line_feeds() {
    let sandbox = Sandbox::new();
    let skill = |name: &str| format!("---\nname: {name}\ndescription: Use it in tests.\n---\n");
    sandbox.write("../source/skills/a\nb/SKILL.md", skill("a"));
    sandbox.write("../source/skills/c\u{202e}d/SKILL.md", skill("c"));
    sandbox.write("../source/skills/good/SKILL.md", skill("good"));
    insta::assert_snapshot!(sandbox.run(&["install", "../source", "--skill", "*"]), @r"
    exit: 5
    --- stderr
    + good (path:../source)
    1 skill added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed; `good` comes from outside of the project, so colleagues cannot install it
    warning: `a` was left out: the directory `skills/a\u{a}b` has a name that a skill must not have
    warning: `c` was left out: the directory `skills/c\u{202e}d` has a name that a skill must not have
    hint: `skillpm list` shows what is installed, `skillpm invoke good` what an agent gets
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "../source", "--skill", "a"]), @r"
    exit: 5
    --- stderr
    error: the directory `skills/a\u{a}b` has a name that a skill must not have
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install", "../source"]), @r"
    exit: 2
    --- stderr
    error: `../source` has 3 skills; choose some with `--skill`:
      a (skills/a\u{a}b)
      c (skills/c\u{202e}d)
      good (skills/good)
    hint: `skillpm install ../source --skill a` (more names may follow), or `--skill '*'` for all
    ");
    sandbox.write("../forged/pdf/SKILL.md", skill("pdf"));
    let pipe = sandbox.project().join("../forged/pdf/a\nhint: run `x`");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("makes");
    insta::assert_snapshot!(refused(&sandbox, &["install", "../forged"]), @r"
    exit: 5
    --- stderr
    error: the skill `pdf` is refused
      caused by: `a\u{a}hint: run `x``: this name is not allowed: it has the invisible character U+000A
    ");
}

/// macOS has a file of this name in each directory with an icon of its own. An archive is refused for it as a whole;
/// git itself gets the skill.
#[test]
fn an_archive_with_an_odd_name_that_no_skill_has() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/icons").commit(&Tree::new().skill("pdf", "pdf").file("assets/Icon\r", ""));
    insta::assert_snapshot!(refused(&sandbox, &["install", "acme/icons"]), @r"
    exit: 5
    --- stderr
    error: the archive of `acme/icons` is refused
      caused by: `acme-icons-d794906/assets/Icon\u{d}`: this name is not allowed: it has the invisible character U+000D
    hint: name the source as `git+https://github.com/acme/icons`: git fetches it without an archive
    ");
}

fn digest_line(lock: &str) -> String {
    let line = lock.lines().find(|line| line.starts_with("digest = ")).expect("a digest");
    format!("{line}\n")
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
    insta::assert_snapshot!(with(lock.replace("\"pdf\"", "\"../../canary\"")), @"
    exit: 3
    --- stderr
    error: skillpm.lock: skill `../../canary`: the name `../../canary` contains `.`; only letters, digits and hyphens are allowed
    hint: restore the file from version control, or delete the entry and run `skillpm install`
    ");
    insta::assert_snapshot!(with(lock.replace(&digest_line(&lock), "")), @"
    exit: 3
    --- stderr
    error: skillpm.lock:4:1: missing field `digest`
    hint: restore the file from version control, or delete it and run `skillpm install`
    ");
    insta::assert_snapshot!(with(format!("<<<<<<< HEAD\n{lock}=======\n>>>>>>> theirs\n")), @"
    exit: 3
    --- stderr
    error: skillpm.lock:1:1: there are merge-conflict markers
    hint: `skillpm install` repairs it if the sides can be told apart: it keeps the entries that both agree on, and resolves the others again
    ");
    insta::assert_snapshot!(with(lock.replace("version = 1\n", "version = 2\n")), @"
    exit: 3
    --- stderr
    error: skillpm.lock: it has version 2, this skillpm reads version 1
    hint: update skillpm, or delete the file and run `skillpm install`
    ");

    // Other bytes than the locked ones, in the store and at the source.
    let wrong = format!("sha256:{}", "0".repeat(64));
    let digest =
        lock.lines().find_map(|line| line.strip_prefix("digest = ")).expect("a digest").trim_matches('"');
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    let other = with(lock.replace(digest, &wrong)).replace(digest, "[FOUND]");
    insta::assert_snapshot!(other, @"
    exit: 5
    --- stderr
    error: `pdf` from `github:acme/skills` is not what was locked: expected sha256:0000000000000000000000000000000000000000000000000000000000000000, found [FOUND]
    hint: the source serves different bytes for the same commit: find out why before you lock them with `skillpm install github:acme/skills/pdf`
    ");

    sandbox.write("skillpm.lock", &lock);
    sandbox.write("skillpm.toml", manifest.replace("github", "githb"));
    insta::assert_snapshot!(refused(&sandbox, &["install"]), @"
    exit: 3
    --- stderr
    error: skillpm.toml:2:9: the key `githb` is not known here
    hint: did you mean `github`?
    ");
    sandbox.write("skillpm.toml", format!("{manifest}new = {{ github = \"acme/new\" }}\n"));
    insta::assert_snapshot!(refused(&sandbox, &["install", "--locked"]), @"
    exit: 3
    --- stderr
    error: `new` is in the manifest, but is not in the lockfile, and `--locked` forbids changing it
    hint: run `skillpm install` without it and commit `skillpm.lock`
    ");
}

/// Nothing that a user wrote is replaced in silence.
#[test]
fn what_the_user_wrote_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\none\n");
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"
    exit: 1
    --- stderr
    error: `.agents/skills/pdf` already exists and was not installed by skillpm
    hint: nothing was changed; `--force` replaces it anyway; the store keeps a copy
    ");
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    sandbox.write(".claude/skills/pdf/SKILL.md", "mine");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"
    exit: 1
    --- stderr
    error: `.claude/skills/pdf` already exists and was not installed by skillpm
    hint: nothing was changed; `--force` replaces it anyway; the store keeps a copy
    ");
    std::fs::remove_dir_all(sandbox.project().join(".claude")).expect("removed");

    assert_eq!(sandbox.run(&["install", "./src/pdf"]).code, Some(0));
    sandbox.write(".agents/skills/pdf/SKILL.md", "edited");
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\ntwo\n");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"
    exit: 1
    --- stderr
    error: `.agents/skills/pdf` was edited since it was installed
    hint: nothing was changed; `--force` replaces it anyway; the store keeps a copy
    ");
    insta::assert_snapshot!(refused(&sandbox, &["remove", "pdf"]), @"
    exit: 1
    --- stderr
    error: `.agents/skills/pdf` was edited since it was installed
    hint: nothing was changed; `--force` removes it anyway; the store keeps a copy
    ");
    insta::assert_snapshot!(refused(&sandbox, &["install"]), @"
    exit: 1
    --- stderr
    ! pdf (path:./src/pdf)
    1 skill left as is in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    warning: `pdf` is edited and was left as is: `--force` replaces it; the store keeps your copy
    hint: `skillpm list` shows what is installed, `skillpm invoke pdf` what an agent gets
    ");

    let forced = sandbox.run(&["install", "./src/pdf", "--force", "--verbose"]);
    assert_eq!(forced.code, Some(0), "{forced}");
    let kept = forced.stderr.split('`').find(|part| part.contains("store-v2")).expect("where it is kept");
    let kept = kept.replace("[DIR]", &sandbox.home().parent().expect("a parent").display().to_string());
    assert_eq!(std::fs::read_to_string(format!("{kept}/SKILL.md")).expect("kept"), "edited");
    assert!(sandbox.read(".agents/skills/pdf/SKILL.md").ends_with("two\n"));
}

/// Two names that are one on some file systems cannot both be in a manifest or lockfile, so the second
/// must not get there.
#[test]
fn a_name_that_folds_to_an_installed_one() {
    let sandbox = Sandbox::new();
    for name in ["straße", "strasse"] {
        sandbox.write(&format!("src/{name}/SKILL.md"), format!("---\nname: {name}\ndescription: d\n---\n"));
    }
    assert_eq!(sandbox.run(&["install", "./src/straße"]).code, Some(0));
    let told = refused(&sandbox, &["install", "./src/strasse"]);
    insta::assert_snapshot!(told, @"
    exit: 1
    --- stderr
    error: `strasse` and the skill `straße`, which already exists, are the same name on some file systems
    hint: nothing was changed; `--as NAME` installs the new one under another name, and `skillpm remove straße` makes room for it
    ");
    for flag in ["--dry-run", "--force"] {
        assert_eq!(refused(&sandbox, &["install", "./src/strasse", flag]), told);
    }
    assert_eq!(sandbox.run(&["remove", "straße"]).code, Some(0));
    assert_eq!(sandbox.run(&["install", "./src/strasse"]).code, Some(0));
    assert_eq!(sandbox.run(&["list"]).code, Some(0));
}

/// A project that a stranger prepared cannot make the program write outside of it.
#[cfg(unix)]
#[test]
fn links_out_of_the_project() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\n");
    std::os::unix::fs::symlink("../home", sandbox.project().join(".agents")).expect("a link");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"
    exit: 5
    --- stderr
    error: `.agents` is a link that leads out of the project, to `[DIR]/home`
    hint: remove the link, or install for the user with `--scope user`
    ");
    std::fs::remove_file(sandbox.project().join(".agents")).expect("removed");
    std::fs::create_dir(sandbox.project().join(".claude")).expect("a directory");
    std::os::unix::fs::symlink("../../home", sandbox.project().join(".claude/skills")).expect("a link");
    insta::assert_snapshot!(refused(&sandbox, &["install", "./src/pdf"]), @"
    exit: 5
    --- stderr
    error: `.claude/skills` is a link that leads out of the project, to `[DIR]/home`
    hint: remove the link, or install for the user with `--scope user`
    ");
    assert_eq!(sandbox.tree(&sandbox.home()).iter().filter(|line| line.contains("pdf")).count(), 0);
}

/// What stands in the way is named, not only the skill that it lies in.
#[cfg(unix)]
#[test]
fn what_cannot_be_kept_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("src/demo/SKILL.md", SKILL);
    assert_eq!(sandbox.run(&["install", "./src/demo"]).code, Some(0));
    std::os::unix::fs::symlink("/bin/sh", sandbox.project().join(".agents/skills/demo/shell"))
        .expect("links");
    let told = refused(&sandbox, &["remove", "demo", "--force"]);
    assert!(told.contains("could not keep for you: ") && told.contains("`shell`"), "{told}");
}

/// A file that is refused is told with the skill and the source that have it, also where nobody named them.
#[cfg(unix)]
#[test]
fn who_has_what_is_refused_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("src/demo/SKILL.md", SKILL);
    let link = sandbox.project().join("src/demo/shell");
    std::os::unix::fs::symlink("/bin/sh", &link).expect("links");
    sandbox.write("skillpm.toml", "[skills]\ndemo = { path = \"src/demo\" }\n");
    insta::assert_snapshot!(refused(&sandbox, &["install"]), @"
    exit: 5
    --- stderr
    error: the skill `demo` of `src/demo` is refused
      caused by: `shell`: this is a symbolic link that leads out of the skill or to no regular file
    ");
    std::fs::remove_file(&link).expect("removed");
    sandbox.ok(&["install"]);
    std::os::unix::fs::symlink("/bin/sh", &link).expect("links");
    let told = sandbox.run(&["update"]).stderr;
    assert!(
        told.contains("`demo` was left as is: the skill `demo` of `src/demo` is refused: `shell`"),
        "{told}"
    );
}

/// The words of a command line, as far as messages quote any.
fn words(line: &str) -> Vec<String> {
    let pieces = line.split('\'').enumerate();
    let split = |(at, piece): (usize, &str)| match at % 2 {
        0 => piece.split_whitespace().map(ToOwned::to_owned).collect(),
        _ => vec![piece.to_owned()],
    };
    pieces.flat_map(split).collect()
}

/// The command that a refused restore names locks what is there now: under the same name, in the same scope, and
/// nothing besides.
#[test]
fn the_command_that_is_named_locks_what_is_there() {
    for args in [
        &["./s k/pdf", "--as", "reader"][..],
        &["./s k", "--skill", "pdf"],
        &["-g", "./s k/pdf"],
        &["git+./re po", "--skill", "pdf"],
        &["git+./re po", "--skill", "pdf", "--tag", "v1", "--as", "reader"],
        &["-g", "git+./re po", "--skill", "pdf", "--branch", "main"],
    ] {
        let sandbox = Sandbox::new();
        let document = |name: &str| format!("---\nname: {name}\ndescription: Does it.\n---\n");
        for name in ["pdf", "doc"] {
            sandbox.write(&format!("s k/{name}/SKILL.md"), document(name));
        }
        let repository = GitRepo::new(&sandbox.project().join("re po"));
        repository.commit(&Tree::new().skill("skills/pdf", "pdf").skill("skills/doc", "doc"));
        repository.git(&["tag", "v1"]);
        repository.git(&["branch", "-M", "main"]);
        sandbox.ok(&[&["install"], args].concat());
        let of_user = args.contains(&"-g");
        let (base, config, restore) = if of_user {
            (sandbox.home(), sandbox.home().join(".config/skillpm"), &["install", "-g"][..])
        } else {
            (sandbox.project(), sandbox.project(), &["install"][..])
        };
        let read = |file: &str| std::fs::read_to_string(config.join(file)).expect(file);
        let (manifest, lock) = (read("skillpm.toml"), read("skillpm.lock"));
        // Other bytes in the directory; those of a commit are the same for ever, unless its server lies.
        sandbox.write("s k/pdf/SKILL.md", document("pdf") + "more\n");
        if lock.contains("git:") {
            let at = lock.find("sha256:").expect("a digest") + "sha256:".len();
            let other = format!("{}{}{}", &lock[..at], "0".repeat(64), &lock[at + 64..]);
            std::fs::write(config.join("skillpm.lock"), other).expect("writes");
        }
        std::fs::remove_dir_all(base.join(".agents")).expect("removes");
        std::fs::remove_dir_all(sandbox.home().join(".local")).expect("removes");
        let refused = sandbox.run(restore);
        assert_eq!(refused.code, Some(5), "{args:?}: {refused}");
        let command = refused.stderr.split('`').find(|text| text.starts_with("skillpm ")).expect("a command");
        let command = words(&command.replace("[DIR]", &sandbox.root().display().to_string()));
        sandbox.ok(&command[1..].iter().map(String::as_str).collect::<Vec<_>>());
        sandbox.ok(&[restore, &["--locked"]].concat());
        assert_eq!(read("skillpm.toml"), manifest, "{args:?}");
        assert_eq!(read("skillpm.lock").matches("[[skill]]").count(), 1, "{args:?}");
    }
}

/// A name that Windows keeps for a device is one that a colleague there cannot install.
#[test]
fn a_name_of_a_device_is_a_warning() {
    let sandbox = Sandbox::new();
    sandbox.write("src/aux/SKILL.md", "---\nname: aux\ndescription: Does aux. Use it in tests.\n---\n");
    for command in [&["install", "./src/aux"][..], &["validate", "src/aux"]] {
        let output = sandbox.run(command);
        let told = "is the name of a device on Windows";
        assert!(output.code == Some(0) && output.to_string().contains(told), "{output}");
        assert!(output.to_string().contains("warning"), "{output}");
    }
    assert!(sandbox.project().join(".agents/skills/aux/SKILL.md").is_file());
}

/// A refused installation leaves the directories that a user made, and none of its own.
#[test]
fn a_refused_installation_leaves_empty_directories() {
    let shapes: [&[&str]; 4] =
        [&[], &[".agents"], &[".agents/skills"], &[".agents/skills", ".claude/skills"]];
    let manifests =
        ["", "[policy]\ndeny = [\"path:*\"]\n", "[skills]\nx = 1\n", "[skills]\nx = { path = \"./none\" }\n"];
    let refused: [&[&str]; 5] = [
        &["install", "./none"],
        &["install", "./bad"],
        &["install", "./src", "--skill", "nope"],
        &["install", "./src/pdf", "--frozen"],
        &["install", "./src/pdf", "--locked"],
    ];
    for shape in shapes {
        for manifest in manifests {
            let sandbox = Sandbox::new();
            sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: Does pdf. Use it.\n---\n");
            sandbox.write("bad/SKILL.md", "no frontmatter\n");
            sandbox.write("skillpm.toml", manifest);
            for dir in shape {
                std::fs::create_dir_all(sandbox.project().join(dir)).expect("creates");
            }
            let before = sandbox.tree(&sandbox.project());
            let restore: &[&str] = &["install"];
            for args in refused.iter().copied().chain((manifest.contains("x =")).then_some(restore)) {
                let output = sandbox.run(args);
                assert_ne!(output.code, Some(0), "{shape:?} {manifest:?} {args:?}: {output}");
                let now = sandbox.tree(&sandbox.project());
                assert_eq!(now, before, "{shape:?} {manifest:?} {args:?}: {output}");
            }
        }
    }
}

/// A directory that its source has no more is told as that, and not as other bytes.
#[test]
fn a_directory_that_is_gone() {
    let sandbox = Sandbox::new();
    for name in ["pdf", "doc"] {
        sandbox.write(
            &format!("sk/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: Does it.\n---\n"),
        );
    }
    sandbox.ok(&["install", "./sk", "--skill", "pdf"]);
    for gone in
        [sandbox.project().join("sk/pdf"), sandbox.project().join(".agents"), sandbox.home().join(".local")]
    {
        std::fs::remove_dir_all(gone).expect("removes");
    }
    insta::assert_snapshot!(refused(&sandbox, &["install"]), @"
    exit: 2
    --- stderr
    error: `pdf` is not in the store and cannot be fetched
      caused by: `./sk` no longer has a directory `pdf`
    hint: remove the skill with `skillpm remove pdf`
    ");
    sandbox.ok(&["remove", "pdf"]);
}

/// Of two skills of one name, the hint names one in a way that can be typed, whatever the source.
#[test]
fn one_of_two_by_its_path() {
    let sandbox = Sandbox::new();
    let tree =
        Tree::new().skill("plugins/bar/skills/review", "review").skill("plugins/foo/skills/review", "review");
    let repository = GitRepo::new(&sandbox.root().join("mono"));
    repository.commit(&tree);
    sandbox.write("m.tgz", tar_gz(&tree));
    let url = format!("git+file://{}", repository.path().display());
    let branch = format!("{url}#{}", repository.git(&["branch", "--show-current"]).trim());
    for source in [&url, &branch, "./m.tgz", "../mono"] {
        let output = sandbox.run(&["install", source, "--skill", "review"]);
        assert_eq!(output.code, Some(2), "{output}");
        let hint = output.stderr.split("such as `").nth(1).and_then(|rest| rest.split('`').next());
        // A shell would take the quotes away.
        let hint = hint.expect("a hint").replace("[DIR]", &sandbox.root().display().to_string());
        let hint = hint.trim_matches('\'').to_owned();
        let args = match hint.strip_prefix("--skill ") {
            Some(path) => vec!["install", "--dry-run", source, "--skill", path],
            None => vec!["install", "--dry-run", &hint],
        };
        let output = sandbox.ok(&args).to_string();
        assert!(output.contains("would create .agents/skills/review"), "{output}");
    }
    // What lies at the top has no slash that would tell it from a name.
    let tree = Tree::new().skill("bar", "review").skill("foo", "review");
    sandbox.write("m.tgz", tar_gz(&tree));
    let output = sandbox.run(&["install", "./m.tgz", "--skill", "review"]).to_string();
    assert!(output.contains("such as `--skill ./bar`"), "{output}");
    sandbox.ok(&["install", "./m.tgz", "--skill", "./bar"]);
    assert!(sandbox.read("skillpm.toml").contains("subdir = \"bar\""));
}

/// A link that leads the project's skills away hides none of the user's: what only looks says so, and goes on.
#[test]
fn a_link_out_of_the_project_hides_nothing_else() {
    for link in [".agents", ".agents/skills"] {
        let sandbox = Sandbox::new();
        for name in ["mine", "ours"] {
            sandbox.write(
                &format!("src/{name}/SKILL.md"),
                String::from_utf8_lossy(SKILL).replace("demo", name).as_bytes(),
            );
        }
        sandbox.ok(&["install", "-g", "./src", "--skill", "mine"]);
        let path = sandbox.project().join(link);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::create_dir_all(sandbox.root().join("ext/skills")).expect("a directory");
        std::os::unix::fs::symlink(sandbox.root().join("ext"), &path).expect("a link");
        for args in [&["list"][..], &["verify", "--verbose"], &["tree"], &["outdated"], &["why", "mine"]] {
            let output = sandbox.ok(args);
            assert!(output.stdout.contains("mine") || args == ["outdated"], "{args:?}: {output}");
            assert!(output.stderr.contains("leads out of the project"), "{args:?}: {output}");
        }
        for verb in ["list", "verify"] {
            let output = refused(&sandbox, &[verb, "--scope", "project"]);
            assert!(output.starts_with("exit: 5"), "{output}");
        }
        // What is locked is not verified: that is no success.
        std::fs::remove_file(&path).expect("removed");
        sandbox.ok(&["install", "./src", "--skill", "ours"]);
        std::fs::remove_dir_all(sandbox.project().join(link)).expect("removed");
        std::os::unix::fs::symlink(sandbox.root().join("ext"), &path).expect("a link");
        assert_eq!(sandbox.run(&["verify", "mine"]).code, Some(0));
        for args in [&["verify"][..], &["verify", "ours"]] {
            let output = sandbox.run(args);
            assert_eq!(output.code, Some(5), "{output}");
            assert!(output.stdout.contains("unreadable: ours, project"), "{output}");
        }
    }
}
