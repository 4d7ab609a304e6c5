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

/// Runs the program, which has to fail as [`Sandbox::fails`] says and to change nothing.
#[track_caller]
fn refused(sandbox: &Sandbox, args: &[&str], exit: i32, code: &str, values: &[&str]) {
    let before = everything(sandbox);
    sandbox.fails(args, exit, code, values);
    assert_eq!(everything(sandbox), before, "{args:?} wrote something");
}

/// zn01, zn03, zn05, zn08, zn11, zn12, zs01-dup-names, zn22-case-collision, zn24-nfc-nfd, zb01-ratio: an archive of
/// `demo/SKILL.md` and these, and what its refusal names.
#[test]
fn archives_with_entries_that_no_skill_may_have() {
    type Case<'a> = (&'a [(&'a str, &'a [u8])], &'a [&'a str]);
    let zeros = vec![0; 48 << 20];
    let cases: [Case<'_>; 9] = [
        (&[("../x", b"")], &["bad.zip", "`../x`"]),
        (&[("demo/../../x", b"")], &["bad.zip", "`demo/../../x`"]),
        (&[("/etc/x", b"")], &["bad.zip", "`/etc/x`"]),
        (&[("demo\\..\\x", b"")], &["bad.zip", "`demo\\..\\x`"]),
        (&[("demo/\u{1b}]0;x\u{7}", b"")], &["bad.zip", "`demo/\\u{1b}]0;x\\u{7}`", "U+001B"]),
        (&[("demo/SKILL.md", b"other")], &["bad.zip", "`demo/SKILL.md`"]),
        (&[("demo/skill.md", b"other")], &["`demo`", "`SKILL.md` and `skill.md`"]),
        (&[("demo/Ref/a", b""), ("demo/ref/b", b"")], &["`demo`", "`Ref` and `ref`"]),
        (&[("demo/zeros", &zeros)], &["bad.zip", "`demo/zeros`", "1028 times"]),
    ];
    let sandbox = Sandbox::new();
    for (entries, values) in cases {
        let all = [&[("demo/SKILL.md", SKILL)], entries].concat();
        sandbox.write("bad.zip", zip::raw(&all, ""));
        refused(&sandbox, &["install", "./bad.zip"], 5, "integrity", values);
    }
}

/// zs08-crc-bad, zs18-trunc-half, zs21-html.
#[test]
fn archives_that_are_damaged() {
    let sandbox = Sandbox::new();
    let whole = zip::raw(&[("demo/SKILL.md", SKILL), ("demo/x.md", b"0123456789")], "");
    let at = whole.windows(10).position(|bytes| bytes == b"0123456789").expect("stored");
    let mut flipped = whole.clone();
    flipped[at] ^= 1;
    for (bytes, values) in [
        (&flipped[..], &["`demo`", "`demo/x.md`", "checksum"][..]),
        (&whole[..whole.len() / 2], &["bad.zip", "cut off"]),
        (b"<!DOCTYPE html><title>Sign in</title>", &["bad.zip", "HTML"]),
    ] {
        sandbox.write("bad.zip", bytes);
        refused(&sandbox, &["install", "./bad.zip"], 5, "integrity", values);
    }
}

/// zl01, zl05, zn32-dot-git, S4-24, ms09-homoglyph-name, ms22-name-dotdot: a repository, and what
/// its refusal names.
#[test]
fn skills_of_repositories_that_are_refused() {
    let named =
        |name: &str| Tree::new().file("x/SKILL.md", format!("---\nname: {name}\ndescription: d\n---\n"));
    let skill = || Tree::new().skill("demo", "demo");
    let linked = Tree::new().file("real/x.md", "---\nname: demo\ndescription: d\n---\n");
    let cases: [(Tree, &[&str]); 7] = [
        (skill().symlink("demo/secret", "/etc/passwd"), &["`demo`", "`secret`"]),
        (linked.symlink("demo/SKILL.md", "../real/x.md"), &["`demo/SKILL.md`", "symbolic link"]),
        (skill().executable("demo/.git/hooks/post-checkout", "#!/bin/sh\n"), &["`.git/hooks/post-checkout`"]),
        (named("p\u{430}ypal"), &["`pаypal`", "U+0430", "--as NAME"]),
        (Tree::new().file("x/SKILL.md", "# nothing\n"), &["`x/SKILL.md`", "frontmatter"]),
        (Tree::new().file("x/SKILL.md", "---\nname: x\n---\n"), &["`x/SKILL.md`", "`description`"]),
        (named("../../CANARY"), &["`x/SKILL.md`", "`../../CANARY`", "--as NAME"]),
    ];
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    for (at, (tree, values)) in cases.into_iter().enumerate() {
        let repository = format!("acme/skills{at}");
        forge.repo(&repository).commit(&tree);
        refused(&sandbox, &["install", &repository], 5, "integrity", values);
    }
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

/// What is refused most often, word for word.
#[test]
fn the_page() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&Tree::new().skill("skills/pdf", "pdf").skill("skills/docx", "docx"));
    insta::assert_snapshot!(sandbox.run(&["install", "acme/skills"]), @"
    exit: 2
    --- stderr
    error: `acme/skills` has 2 skills; choose some with `--skill`:
      docx (skills/docx)
      pdf (skills/pdf)
    hint: `skillpm install acme/skills --skill docx` (more names may follow), or `--skill '*'` for all
    ");
    insta::assert_snapshot!(sandbox.run(&["install", "acme/skills", "--skill", "dox"]), @"
    exit: 2
    --- stderr
    error: there is no skill `dox` in `acme/skills`
    hint: did you mean `docx`?
    hint: `skillpm install --list acme/skills` shows what is available
    ");
    insta::assert_snapshot!(sandbox.run(&["install", "acme/missing"]), @"
    exit: 4
    --- stderr
    error: the repository `acme/missing` was not found, or is private
    hint: set `GITHUB_TOKEN` to a token that may read it, if it is private, else check the spelling; `gh auth token` prints yours
    ");
    insta::assert_snapshot!(sandbox.run(&["install", "pdf"]), @r#"
    exit: 2
    --- stderr
    error: `pdf` is not a source: expected `owner/repo` or a path such as `./pdf`
    hint: `skillpm search --skills-sh pdf` looks for it on skills.sh, a public site
    hint: a skill is named after its source: `skillpm install owner/repo@pdf`
    hint: to install from a registry, name it in `skillpm.toml`: `[registries]` and `default = "https://…"`
    "#);
    insta::assert_snapshot!(sandbox.run(&["install"]), @"
    exit: 2
    --- stderr
    error: there is no `skillpm.toml` in `[DIR]/project`
    hint: install something first: `skillpm install owner/repo`, or `skillpm install ./skill`
    ");
    insta::assert_snapshot!(sandbox.run(&["remove", "pdf"]), @"
    exit: 2
    --- stderr
    error: `pdf` is not installed in this project
    hint: `skillpm list` shows what is installed, and where
    ");
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    insta::assert_snapshot!(sandbox.run(&["install", "acme/skills", "--skill", "pdf"]), @"
    exit: 1
    --- stderr
    error: `.agents/skills/pdf` already exists and was not installed by skillpm
    hint: nothing was changed; `--force` replaces it anyway; the store keeps a copy
    ");
    sandbox.write("bad.zip", zip::raw(&[("demo/SKILL.md", SKILL), ("../x", b"")], ""));
    insta::assert_snapshot!(sandbox.run(&["install", "./bad.zip"]), @"
    exit: 5
    --- stderr
    error: `bad.zip` is refused
      caused by: `../x`: this name is not allowed: it has a `.` or `..` component
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
    refused(
        &sandbox,
        &["install", "acme/skills"],
        2,
        "usage",
        &[
            "docx (skills/docx)",
            "pdf (skills/other)",
            "pdf (skills/pdf)",
            "skillpm install acme/skills --skill docx",
            "--skill '*'",
        ],
    );
    refused(
        &sandbox,
        &["install", "acme/skills", "--skill", "dox"],
        2,
        "usage",
        &["dox", "`docx`", "skillpm install --list acme/skills"],
    );
    refused(
        &sandbox,
        &["install", "acme/skills@v1.2"],
        2,
        "usage",
        &["--tag v1.2", "skillpm install --list acme/skills"],
    );
    refused(
        &sandbox,
        &["install", "acme/skills@pdf"],
        2,
        "usage",
        &["acme/skills", "skills/other", "skills/pdf"],
    );
    refused(
        &sandbox,
        &["install", "acme/skills/skill/pdf"],
        2,
        "usage",
        &["skill/pdf", "`acme/skills/skills/pdf`", "skillpm install --list acme/skills"],
    );
    refused(
        &sandbox,
        &["install", "acme/skills#missing"],
        2,
        "revision-unknown",
        &["acme/skills", "missing"],
    );
    refused(&sandbox, &["install", "acme/missing"], 4, "network", &["acme/missing"]);
    refused(
        &sandbox,
        &["invoke", "pfd"],
        2,
        "skill-not-found",
        &["pfd", "skillpm install owner/repo", "skillpm list"],
    );
    refused(&sandbox, &["remove", "pdf"], 2, "usage", &["`pdf`", "skillpm list"]);
}

#[test]
fn sources_and_flags_that_make_no_sense() {
    let sandbox = Sandbox::new();
    refused(&sandbox, &["install", "pdf"], 2, "usage", &["./pdf", "skillpm install owner/repo@pdf"]);
    refused(&sandbox, &["install", "./missing"], 2, "usage", &["./missing"]);
    refused(&sandbox, &["install", "ext::sh -c touch x"], 2, "usage", &["ext::sh -c touch x"]);
    refused(&sandbox, &["install", "acme/skills#v1", "--tag", "v2"], 2, "usage", &["v1", "v2"]);
    refused(
        &sandbox,
        &["install", "acme/skills", "--agent", "claude-cod"],
        2,
        "usage",
        &["claude-cod", "`claude-code`"],
    );
    refused(&sandbox, &["install", "acme/skills", "--frozen"], 2, "usage", &["--frozen", "--locked"]);
    refused(&sandbox, &["install", "--skill", "x"], 2, "usage", &["--skill"]);
    refused(
        &sandbox,
        &["install"],
        2,
        "usage",
        &["skillpm.toml", "[DIR]/project", "skillpm install owner/repo", "skillpm install ./skill"],
    );
    // What a killed first installation left says no more.
    sandbox.write(".agents/.skillpm-tx/.gitignore", "*\n");
    sandbox.fails(&["install"], 2, "usage", &["skillpm.toml"]);
    assert!(!sandbox.project().join(".agents/.skillpm-tx").exists());
    // The manifest of the user does not lie where the skills do.
    refused(
        &sandbox,
        &["install", "-g"],
        2,
        "usage",
        &[
            "skillpm.toml",
            "[DIR]/home/.config/skillpm",
            "skillpm install -g owner/repo",
            "skillpm install -g ./skill",
        ],
    );
    sandbox.write("empty/README.md", "nothing");
    refused(&sandbox, &["install", "./empty"], 2, "usage", &["SKILL.md", "./empty"]);
}

/// Bytes that are no text are a wrong manifest or lockfile, not a disk that fails.
#[test]
fn files_that_are_not_utf8() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\n");
    sandbox.ok(&["install", "./src/pdf"]);
    sandbox.write("skillpm.lock", b"version = 1\n# gr\xc3\xbcn \xff\n");
    sandbox.fails(&["list"], 3, "lock-unreadable", &["skillpm.lock:2:8", "skillpm install"]);
    let doctor = sandbox.run(&["doctor", "-p"]).to_string();
    assert!(doctor.contains("it is not UTF-8 from here on [lock-unreadable]"), "{doctor}");
    // What an editor of another system may save.
    sandbox.write("skillpm.toml", b"\xff\xfe[\0s\0");
    for args in [&["list"][..], &["install"], &["update"], &["remove", "pdf"]] {
        sandbox.fails(args, 3, "manifest-unreadable", &["skillpm.toml:1:1"]);
    }
}

/// h03, h09, h16: the network's ways to fail.
#[test]
fn the_network() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/skills").commit(&Tree::new().skill("pdf", "pdf"));
    refused(&sandbox, &["install", "--offline", "acme/skills"], 4, "offline", &["acme/skills", "--offline"]);
    forge.repo("acme/private").private().commit(&Tree::new().skill("pdf", "pdf"));
    forge.accept_token("right");
    refused(&sandbox, &["install", "acme/private"], 4, "network", &["acme/private"]);
    sandbox.env("GITHUB_TOKEN", "wrong");
    refused(&sandbox, &["install", "acme/private"], 4, "network", &["GITHUB_TOKEN"]);
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
    refused(&sandbox, &["install", "acme/other"], 5, "integrity", &["acme/other"]);
    drop(forge);
    refused(&sandbox, &["install", "acme/skills"], 4, "host-unreachable", &["--offline"]);
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
    sandbox.tells(
        &["install", "../source", "--skill", "*"],
        1,
        "skills: name change; left_out: code name",
        &["other added", "same added", "names-equal .claude/skills/pdf", "names-equal skills/pdf"],
    );
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
    sandbox.tells(
        &["install", "../source", "--skill", "*"],
        5,
        "skills: name change; left_out: code name",
        &["good added", "integrity a", "integrity c"],
    );
    refused(&sandbox, &["install", "../source", "--skill", "a"], 5, "integrity", &["skills/a\\u{a}b"]);
    refused(
        &sandbox,
        &["install", "../source"],
        2,
        "usage",
        &[
            "a (skills/a\\u{a}b)",
            "c (skills/c\\u{202e}d)",
            "good (skills/good)",
            "skillpm install ../source --skill a",
            "--skill '*'",
        ],
    );
    sandbox.write("../forged/pdf/SKILL.md", skill("pdf"));
    let pipe = sandbox.project().join("../forged/pdf/a\nhint: run `x`");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("makes");
    refused(&sandbox, &["install", "../forged"], 5, "integrity", &["`pdf`", "a\\u{a}hint: run "]);
}

/// macOS has a file of this name in each directory with an icon of its own. An archive is refused for it as a whole;
/// git itself gets the skill.
#[test]
fn an_archive_with_an_odd_name_that_no_skill_has() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    forge.repo("acme/icons").commit(&Tree::new().skill("pdf", "pdf").file("assets/Icon\r", ""));
    refused(
        &sandbox,
        &["install", "acme/icons"],
        5,
        "integrity",
        &["acme/icons", "acme-icons-d794906/assets/Icon\\u{d}"],
    );
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
    let with = |text: String, exit: i32, code: &str, values: &[&str]| {
        sandbox.write("skillpm.lock", text);
        refused(&sandbox, &["install", "--frozen"], exit, code, values);
    };
    with(
        lock.replace("\"pdf\"", "\"../../canary\""),
        3,
        "lock-unreadable",
        &["skillpm.lock", "`../../canary`"],
    );
    with(lock.replace(&digest_line(&lock), ""), 3, "lock-unreadable", &["skillpm.lock:4:1", "`digest`"]);
    let conflict = format!("<<<<<<< HEAD\n{lock}=======\n>>>>>>> theirs\n");
    with(conflict, 3, "lock-conflict", &["skillpm.lock:1:1", "`skillpm install`"]);
    with(lock.replace("version = 1\n", "version = 2\n"), 3, "lock-newer", &["skillpm.lock", "version 2"]);

    // Other bytes than the locked ones, in the store and at the source.
    let wrong = format!("sha256:{}", "0".repeat(64));
    let digest =
        lock.lines().find_map(|line| line.strip_prefix("digest = ")).expect("a digest").trim_matches('"');
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    let command = "skillpm install github:acme/skills/pdf";
    with(lock.replace(digest, &wrong), 5, "integrity", &["`pdf`", &wrong, digest, command]);

    sandbox.write("skillpm.lock", &lock);
    sandbox.write("skillpm.toml", manifest.replace("github", "githb"));
    refused(&sandbox, &["install"], 3, "manifest-unreadable", &["githb", "`github`", "skillpm.toml:2:9"]);
    sandbox.write("skillpm.toml", format!("{manifest}new = {{ github = \"acme/new\" }}\n"));
    refused(
        &sandbox,
        &["install", "--locked"],
        3,
        "configuration",
        &["`new`", "--locked", "skillpm install"],
    );
}

/// Nothing that a user wrote is replaced in silence.
#[test]
fn what_the_user_wrote_stays() {
    let sandbox = Sandbox::new();
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\none\n");
    sandbox.write(".agents/skills/pdf/SKILL.md", "mine");
    refused(&sandbox, &["install", "./src/pdf"], 1, "findings", &[".agents/skills/pdf", "--force"]);
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    sandbox.write(".claude/skills/pdf/SKILL.md", "mine");
    refused(&sandbox, &["install", "./src/pdf"], 1, "findings", &[".claude/skills/pdf", "--force"]);
    std::fs::remove_dir_all(sandbox.project().join(".claude")).expect("removed");

    assert_eq!(sandbox.run(&["install", "./src/pdf"]).code, Some(0));
    sandbox.write(".agents/skills/pdf/SKILL.md", "edited");
    sandbox.write("src/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\ntwo\n");
    refused(&sandbox, &["install", "./src/pdf"], 1, "findings", &[".agents/skills/pdf", "--force"]);
    refused(&sandbox, &["remove", "pdf"], 1, "findings", &[".agents/skills/pdf", "--force"]);
    let before = everything(&sandbox);
    sandbox.tells(&["install"], 1, "skills: name change; left_modified:", &["pdf kept", "pdf"]);
    assert_eq!(everything(&sandbox), before);

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
    for flag in ["--verbose", "--dry-run", "--force"] {
        let names = ["`strasse`", "`straße`", "--as NAME", "skillpm remove straße"];
        refused(&sandbox, &["install", "./src/strasse", flag], 1, "findings", &names);
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
    refused(&sandbox, &["install", "./src/pdf"], 5, "integrity", &[".agents", "[DIR]/home", "--scope user"]);
    std::fs::remove_file(sandbox.project().join(".agents")).expect("removed");
    std::fs::create_dir(sandbox.project().join(".claude")).expect("a directory");
    std::os::unix::fs::symlink("../../home", sandbox.project().join(".claude/skills")).expect("a link");
    refused(
        &sandbox,
        &["install", "./src/pdf"],
        5,
        "integrity",
        &[".claude/skills", "[DIR]/home", "--scope user"],
    );
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
    refused(&sandbox, &["remove", "demo", "--force"], 1, "findings", &["demo", "`shell`"]);
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
    refused(&sandbox, &["install"], 5, "integrity", &["src/demo", "shell"]);
    std::fs::remove_file(&link).expect("removed");
    sandbox.ok(&["install"]);
    std::os::unix::fs::symlink("/bin/sh", &link).expect("links");
    sandbox.tells(
        &["update"],
        5,
        "skills: name change status; failures: code",
        &["demo failed changed", "integrity"],
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
    refused(&sandbox, &["install"], 2, "usage", &["./sk", "skillpm remove pdf"]);
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
            refused(&sandbox, &[verb, "--scope", "project"], 5, "integrity", &[".agents"]);
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
