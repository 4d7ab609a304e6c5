//! Git repositories as sources: the real program, real servers, and every way to fail.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use skillpm_core::scope::Scope;
use skillpm_format::refusal::Limits;
use skillpm_format::scope_kind::ScopeKind;
use skillpm_format::spec::{Origin, SourceSpec, Transport};
use skillpm_format::tree::leftovers::leftover_in;
use skillpm_sources::context::Context;
use skillpm_sources::git::WantedRevision;
use skillpm_sources::source::{self, Wanted};

use crate::support::numbers::cases;
use crate::support::{GitRepo, GitServer, Output, Sandbox, SshServer, Tree, find_program};

/// A machine, and a repository with two skills that is served from a bare copy.
struct Scene {
    sandbox: Sandbox,
    work: GitRepo,
    bare: GitRepo,
    first: String,
    second: String,
}

impl Scene {
    fn new() -> Self {
        let sandbox = machine();
        let work = GitRepo::new(&outside(&sandbox, "work"));
        let first = work.commit(&Tree::new().skill("skills/pdf", "pdf"));
        work.git(&["tag", "v1"]);
        work.git(&["tag", "-a", "-m", "x", "annotated"]);
        work.git(&["branch", "feature/x"]);
        let second = work.commit(&two_skills());
        let bare = work.bare(&outside(&sandbox, "srv/skills.git"));
        Self { sandbox, work, bare, first, second }
    }

    fn server(&self) -> GitServer {
        GitServer::start(&outside(&self.sandbox, "srv"))
    }

    fn revision(&self) -> Option<String> {
        revision(&self.sandbox)
    }

    fn forget_store(&self) {
        let _ = std::fs::remove_dir_all(self.sandbox.home().join(".local"));
        let _ = std::fs::remove_dir_all(self.sandbox.project().join(".agents"));
    }

    fn forget_project(&self) {
        std::fs::remove_dir_all(self.sandbox.project()).expect("removes");
        std::fs::create_dir(self.sandbox.project()).expect("makes");
    }

    fn forget_cache(&self) {
        let _ = std::fs::remove_dir_all(self.sandbox.home().join(".cache"));
    }

    /// The repository in the cache.
    fn cached(&self) -> PathBuf {
        let dir = self.sandbox.home().join(".cache/skillpm/git");
        let entry = std::fs::read_dir(dir).expect("the cache").next().expect("a repository");
        entry.expect("an entry").path().join("repository")
    }
}

/// A machine with git on it.
fn machine() -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("PATH", &std::env::var("PATH").expect("a path"));
    // Nothing here waits for it, and a loaded machine may make a server look silent.
    sandbox.env("SKILLPM_HTTP_TIMEOUT", "60");
    sandbox
}

/// A place outside of the project.
fn outside(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.project().parent().expect("a parent").join(name)
}

fn two_skills() -> Tree {
    Tree::new()
        .skill("skills/pdf", "pdf")
        .executable("skills/pdf/scripts/run.sh", "#!/bin/sh\necho pdf\n")
        .skill("skills/docx", "docx")
        .file("README.md", "# Skills\n")
}

fn revision(sandbox: &Sandbox) -> Option<String> {
    let lock = std::fs::read_to_string(sandbox.project().join("skillpm.lock")).ok()?;
    let line = lock.lines().find_map(|line| line.strip_prefix("revision = \""))?;
    Some(line.trim_end_matches('"').to_owned())
}

fn ok(output: &Output) -> &Output {
    assert_eq!(output.code, Some(0), "{output}");
    output
}

/// The main job over smart http: the two files, a restore, and what each flag allows.
#[test]
fn a_skill_over_http_and_back_from_the_lock() {
    let scene = Scene::new();
    let server = scene.server();
    scene.sandbox.tells(
        &["install", &format!("{}@pdf", server.url("skills.git"))],
        0,
        "skills: name change",
        &["pdf added"],
    );
    insta::assert_snapshot!(scene.sandbox.read("skillpm.toml").replace(&server.host(), "[HOST]"), @r#"
    [skills]
    pdf = { git = "http://[HOST]/skills.git", path = "skills/pdf" }
    "#);
    // Whoever looks for a reason sees what was asked of the server.
    let told = scene.sandbox.run(&["-v", "update"]);
    let asked = format!("http://{}/skills.git", server.host());
    assert!(told.code == Some(0) && told.stderr.lines().any(|line| line.contains(&asked)), "{told}");
    let calm = scene.sandbox.run(&["update"]);
    assert!(!calm.stderr.contains(&asked), "{calm}");
    let lock = scene.sandbox.read("skillpm.lock");
    insta::assert_snapshot!(lock.replace(&server.host(), "[HOST]").replace(&scene.second, "[SECOND]"), @r#"
    # Written by skillpm; `skillpm install` restores exactly this.
    version = 1

    [[skill]]
    name = "pdf"
    source = "git:http://[HOST]/skills.git"
    path = "skills/pdf"
    revision = "[SECOND]"
    digest = "sha256:4e5b58e63ce7095899a64e0d7e2b6819c9e557782634c92ba4cdfabfaf975ce3"
    "#);
    let tree = scene.sandbox.tree(&scene.sandbox.project().join(".agents/skills"));
    assert_eq!(tree, ["644 pdf/SKILL.md", "755 pdf/scripts/run.sh", "pdf/", "pdf/scripts/"]);

    // A commit that was fetched before needs no server.
    for flags in [&["install", "--offline"][..], &["install", "--frozen"], &["install", "--locked"]] {
        scene.forget_store();
        server.clear_requests();
        ok(&scene.sandbox.run(flags));
        assert_eq!(server.requests(), [""; 0], "{flags:?}");
        assert_eq!(scene.sandbox.read("skillpm.lock"), lock);
    }
    // Without the cache it comes again, by its id, although the branch has moved on.
    scene.work.commit(&two_skills().file("skills/pdf/new.md", "new\n"));
    scene.work.push(&scene.bare);
    scene.forget_store();
    scene.forget_cache();
    ok(&scene.sandbox.run(&["install", "--frozen"]));
    assert_eq!(scene.sandbox.read("skillpm.lock"), lock);
    assert_eq!(scene.sandbox.tree(&scene.sandbox.project().join(".agents/skills")), tree);
    // Neither the store nor the cache, and no network.
    scene.forget_store();
    scene.forget_cache();
    scene.sandbox.fails(
        &["install", "--offline"],
        4,
        "offline",
        &["`pdf`", &scene.second, "/skills.git", "--offline"],
    );
}

#[test]
fn what_a_repository_holds() {
    let scene = Scene::new();
    let server = scene.server();
    scene.sandbox.tells(
        &["install", "--list", &server.url("skills.git")],
        0,
        ": name path",
        &["docx skills/docx", "pdf skills/pdf"],
    );
}

/// Tag, branch, commit, the beginning of one, by `#` and by flag, over http and from a path.
#[test]
fn each_revision_by_each_transport() {
    let scene = Scene::new();
    let server = scene.server();
    let (first, second) = (&scene.first, &scene.second);
    scene.bare.git(&["update-ref", "refs/tags/both", first]);
    scene.bare.git(&["update-ref", "refs/heads/both", second]);
    let bare = format!("git+{}", scene.bare.path().display());
    for url in [server.url("skills.git"), bare, format!("file://{}", scene.bare.path().display())] {
        for (suffix, flags, commit) in [
            ("", &[][..], second),
            ("#v1", &[], first),
            ("#tags/v1", &[], first),
            ("#annotated", &[], first),
            ("#main", &[], second),
            ("#HEAD", &[], second),
            ("#feature/x", &[], first),
            ("#both", &[], first),
            ("#heads/both", &[], second),
            ("", &["--branch", "both"], second),
            ("", &["--tag", "v1"], first),
            ("", &["--branch", "feature/x"], first),
            ("", &["--rev", first], first),
            ("", &["--rev", &first[..8]], first),
            (&format!("#{first}"), &[], first),
            (&format!("#{}", first.to_uppercase()), &[], first),
            (&format!("#{}", &first[..7]), &[], first),
        ] {
            let source = format!("{url}{suffix}@pdf");
            let mut args = vec!["install", &source];
            args.extend(flags);
            ok(&scene.sandbox.run(&args));
            assert_eq!(scene.revision().as_ref(), Some(commit), "{args:?}");
            scene.forget_project();
        }
    }
}

/// gg13-branch-named-sha: a branch whose name is the digits of a commit stays a branch.
#[test]
fn gg13_a_branch_with_the_name_of_a_commit_does_not_win() {
    let scene = Scene::new();
    scene.bare.git(&["update-ref", &format!("refs/heads/{}", scene.first), &scene.second]);
    let server = scene.server();
    for url in [server.url("skills.git"), format!("file://{}", scene.bare.path().display())] {
        ok(&scene.sandbox.run(&["install", &format!("{url}#{}@pdf", scene.first)]));
        assert_eq!(scene.revision().as_ref(), Some(&scene.first));
        scene.forget_project();
    }
}

/// Each is one message with the way out; a path and a server say the same.
#[test]
fn revisions_that_are_not_there() {
    let scene = Scene::new();
    let server = scene.server();
    let none = "0123456789abcdef0123456789abcdef01234567";
    for (suffix, flags, code, values) in [
        ("#v2", &[][..], "revision-unknown", &["`v2`", "git ls-remote"][..]),
        ("", &["--tag", "v2"], "revision-unknown", &["tag `v2`", "git ls-remote"]),
        ("", &["--branch", "mian"], "revision-unknown", &["branch `mian`", "`main`"]),
        ("", &["--rev", none], "usage", &["commit", none]),
        ("", &["--rev", "0123abc"], "usage", &["commit `0123abc`"]),
        ("", &["--rev", "main"], "usage", &["`main`", "--branch"]),
        (&format!("#{none}"), &[], "usage", &["commit", none]),
    ] {
        for url in [server.url("skills.git"), format!("file://{}", scene.bare.path().display())] {
            let source = format!("{url}{suffix}");
            scene.sandbox.fails(&[&["install", &source], flags].concat(), 2, code, values);
        }
    }
    assert!(scene.sandbox.tree(&scene.sandbox.project()).is_empty());
}

/// Empty repositories, dangling heads, SHA-256, no repository at all: from a path and over http.
#[test]
fn repositories_without_anything_to_install() {
    let scene = Scene::new();
    let srv = outside(&scene.sandbox, "srv");
    GitRepo::with(&srv.join("empty.git"), &["--bare", "--initial-branch=main"]);
    let dangling = scene.work.bare(&srv.join("dangling.git"));
    dangling.git(&["symbolic-ref", "HEAD", "refs/heads/gone"]);
    let sha256 = GitRepo::with(&srv.join("sha256"), &["--object-format=sha256"]);
    sha256.commit(&two_skills());
    let _ = sha256.bare(&srv.join("sha256.git"));
    std::fs::create_dir(srv.join("nothing.git")).expect("makes");
    let server = scene.server();
    for (name, by_path, over_http, value) in [
        ("empty.git", 2, 2, "empty.git` is empty"),
        ("dangling.git", 2, 2, "--branch main"),
        ("sha256.git", 2, 2, "SHA-256"),
        ("nothing.git", 2, 4, "nothing.git"),
        ("missing.git", 2, 4, "missing.git"),
    ] {
        let url = format!("git+file://{}/{name}", srv.display());
        for (url, exit) in [(url, by_path), (server.url(name), over_http)] {
            let code = if exit == 2 { "usage" } else { "network" };
            scene.sandbox.fails(&["install", &url], exit, code, &[value]);
        }
    }
}

/// No login, a wrong one, the right one: secrets come from a credential helper and are never shown.
#[test]
fn logins() {
    let scene = Scene::new();
    let server = scene.server();
    server.login();
    let config = scene.sandbox.home().join(".gitconfig");
    let url = format!("{}@pdf", server.url("skills.git"));
    for settings in [
        String::new(),
        helper("user", "wr0ng"),
        format!("[url \"http://user:t0ken@{0}/\"]\n insteadOf = http://{0}/\n", server.host()),
    ] {
        std::fs::write(&config, settings).expect("writes");
        let error = scene.sandbox.fails(&["install", &url], 4, "network", &[&server.host(), "/skills.git"]);
        let text = error.to_string();
        assert!(!text.contains("wr0ng") && !text.contains("t0ken"), "{text}");
    }
    std::fs::write(&config, helper("user", "secret")).expect("writes");
    ok(&scene.sandbox.run(&["install", &url]));
    for file in ["skillpm.toml", "skillpm.lock"] {
        assert!(!scene.sandbox.read(file).contains("secret"), "{file}");
    }
}

fn helper(user: &str, password: &str) -> String {
    format!("[credential]\n helper = \"!f() {{ echo username={user}; echo password={password}; }}; f\"\n")
}

/// Hosts that are not there, servers that break off, moved repositories, other schemes.
#[test]
fn servers_that_fail() {
    let scene = Scene::new();
    let server = scene.server();
    for (url, host) in [
        ("http://127.0.0.1:9/r.git", "`127.0.0.1:9`"),
        ("https://no-such-host.invalid/r.git", "`no-such-host.invalid`"),
    ] {
        scene.sandbox.fails(&["install", url], 4, "network", &[host]);
    }
    // From http to a file: never. To another server: as git does it, which is once, at the start.
    server.moved("file:///etc");
    let output = scene.sandbox.run(&["install", &server.url("skills.git")]);
    assert_eq!(output.code, Some(4), "{output}");
    let other = scene.server();
    server.moved(&format!("http://{}", other.host()));
    ok(&scene.sandbox.run(&["install", &format!("{}@pdf", server.url("skills.git"))]));
}

/// h01: silence ends, and with it all programs that git started.
#[test]
fn a_server_that_stalls_is_given_up() {
    let scene = Scene::new();
    let server = scene.server();
    server.stall();
    let mut command = scene.sandbox.command(&["install", &server.url("skills.git")]);
    let output = command.env("SKILLPM_HTTP_TIMEOUT", "3").output().expect("starts");
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8_lossy(&output.stderr).replace(&server.host(), "[HOST]");
    assert!(text.contains("http://[HOST]/") && text.contains("hint: "), "{text}");
    server.wait_until_abandoned();
    // What a fetch that was ended left does not stand in the way of the next.
    drop(server);
    let server = scene.server();
    ok(&scene.sandbox.run(&["install", &format!("{}@pdf", server.url("skills.git"))]));
}

/// Ctrl-C ends skillpm by the signal, and git with it.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_git_too() {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{Pid, Signal, kill_process};
    for signal in [Signal::INT, Signal::TERM] {
        let scene = Scene::new();
        let server = scene.server();
        server.stall();
        let mut command = scene.sandbox.command(&["install", &server.url("skills.git")]);
        command.env("SKILLPM_HTTP_TIMEOUT", "600").stderr(std::process::Stdio::piped());
        let child = command.spawn().expect("starts");
        server.wait_until_stalled();
        kill_process(Pid::from_child(&child), signal).expect("signals");
        let output = child.wait_with_output().expect("ends");
        assert_eq!(output.status.signal(), Some(signal.as_raw()));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted; nothing was changed\n");
        server.wait_until_abandoned();
        assert!(scene.sandbox.tree(&scene.sandbox.project()).is_empty());
    }
}

/// Without the program: an error that says what still works, and it does.
#[test]
fn without_git() {
    let mut scene = Scene::new();
    scene.sandbox.env("PATH", "/nonexistent");
    scene.sandbox.fails(
        &["install", "https://git.example.com/team/skills.git"],
        4,
        "network",
        &["https://git.example.com/team/skills.git"],
    );
    for source in [
        format!("file://{}#v1@pdf", scene.bare.path().display()),
        format!("git+{}@docx", scene.work.path().display()),
    ] {
        ok(&scene.sandbox.run(&["install", &source]));
    }
}

/// S4: ssh with the real server; unknown hosts and unknown keys ask nothing.
#[test]
fn over_ssh() {
    let mut scene = Scene::new();
    let Some(server) = SshServer::start(&outside(&scene.sandbox, "ssh")) else { return };
    let url = format!("{}@pdf", server.url(scene.bare.path()));
    let path = std::env::var("PATH").expect("a path");
    let with = |scene: &mut Scene, client: &Path| {
        scene.sandbox.env("PATH", &format!("{}:{path}", client.display()));
        scene.sandbox.run(&["--error-format", "json", "install", &url])
    };
    let known = server.client(true, true);
    ok(&with(&mut scene, &known));
    assert_eq!(scene.revision().as_ref(), Some(&scene.second));
    assert!(scene.sandbox.read("skillpm.toml").contains("git = \"ssh://"));
    let log = std::fs::read_to_string(known.join("log")).expect("it was used");
    assert!(log.lines().all(|line| line.contains("-o BatchMode=yes -o ConnectTimeout=60 ")), "{log}");

    scene.forget_project();
    let hint = format!("git ls-remote -- {}", server.url(scene.bare.path()));
    let hint = hint.replace(&scene.sandbox.root().display().to_string(), "[DIR]");
    for client in [server.client(false, true), server.client(true, false)] {
        with(&mut scene, &client).failed_with(4, "network", &["127.0.0.1", &hint]);
    }

    // A command of the user's own is left as it is.
    let own = outside(&scene.sandbox, "own");
    let script = format!(
        "#!/bin/sh\necho \"$@\" > '{}'\nexec '{}' \"$@\"\n",
        own.display(),
        known.join("ssh").display()
    );
    let program = scene.sandbox.write("own-ssh", script);
    std::process::Command::new("chmod").arg("+x").arg(&program).status().expect("chmod");
    std::fs::write(
        scene.sandbox.home().join(".gitconfig"),
        format!("[core]\n sshCommand = {}\n", program.display()),
    )
    .expect("writes");
    ok(&with(&mut scene, Path::new("/nonexistent")));
    assert!(!std::fs::read_to_string(&own).expect("it was used").contains("BatchMode"));
    // Two slashes: what follows is a directory in the repository.
    let missing = scene.sandbox.run(&["install", &server.url(&outside(&scene.sandbox, "srv/none.git"))]);
    assert!(missing.stderr.contains("was not found, or is private"), "{missing}");
}

/// The environment of the user's own work, and the configuration of the repository, do nothing here
/// (gg22-evil-config, gg21-replace-ref; what uv scrubs).
#[test]
fn nothing_of_the_surroundings_acts() {
    let mut scene = Scene::new();
    let canary = outside(&scene.sandbox, "CANARY");
    let touch = format!("touch {}", canary.display());
    // The foreign repository: a hook, programs in its configuration, a replaced commit.
    for key in ["core.fsmonitor", "core.sshCommand", "uploadpack.packObjectsHook", "core.pager"] {
        scene.bare.git(&["config", key, &touch]);
        scene.work.git(&["config", key, &touch]);
    }
    scene.bare.git(&["replace", &scene.second, &scene.first]);
    // The user's: hooks for everything.
    let hooks = outside(&scene.sandbox, "hooks");
    std::fs::create_dir(&hooks).expect("makes");
    for hook in ["reference-transaction", "post-checkout", "post-merge"] {
        std::fs::write(hooks.join(hook), format!("#!/bin/sh\n{touch}\n")).expect("writes");
        std::process::Command::new("chmod").arg("+x").arg(hooks.join(hook)).status().expect("chmod");
    }
    std::fs::write(
        scene.sandbox.home().join(".gitconfig"),
        format!("[core]\n hooksPath = {}\n askPass = {touch}\n", hooks.display()),
    )
    .expect("writes");
    for (name, value) in [
        ("GIT_DIR", "/nonexistent"),
        ("GIT_WORK_TREE", "/nonexistent"),
        ("GIT_INDEX_FILE", "/nonexistent"),
        ("GIT_OBJECT_DIRECTORY", "/nonexistent"),
        ("GIT_NAMESPACE", "x"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "remote.skillpm.uploadpack"),
        ("GIT_CONFIG_VALUE_0", &touch),
        ("GIT_CONFIG_PARAMETERS", &format!("'core.sshCommand'='{touch}'")),
        ("GIT_ALLOW_PROTOCOL", "ext"),
        ("GIT_ASKPASS", &touch),
    ] {
        scene.sandbox.env(name, value);
    }
    let server = scene.server();
    for source in [
        format!("{}@docx", server.url("skills.git")),
        format!("file://{}@docx", scene.bare.path().display()),
        format!("git+{}@docx", scene.work.path().display()),
    ] {
        ok(&scene.sandbox.run(&["install", &source]));
        assert_eq!(scene.revision().as_ref(), Some(&scene.second), "the replaced commit has no `docx`");
        scene.forget_project();
    }
    assert!(!canary.exists());
}

/// lk16-url-ext and its kin: addresses that would run a program or read options.
#[test]
fn lk16_addresses_that_run_programs_are_refused() {
    let scene = Scene::new();
    let canary = outside(&scene.sandbox, "CANARY");
    for url in [format!("ext::sh -c touch% {}", canary.display()), "--upload-pack=touch x".to_owned()] {
        let lock = format!(
            "version = 1\n\n[[skill]]\nname = \"pdf\"\nsource = \"git:{url}\"\nrevision = \"{}\"\ndigest = \"sha256:{}\"\n",
            scene.first,
            "a".repeat(64)
        );
        scene.sandbox.write("skillpm.lock", &lock);
        scene.sandbox.write("skillpm.toml", format!("[skills]\npdf = {{ git = \"{url}\" }}\n"));
        let output = scene.sandbox.run(&["install"]);
        assert_eq!(output.code, Some(3), "{output}");
        assert_eq!(scene.sandbox.read("skillpm.lock"), lock);
    }
    // A server's name in the user's own configuration leads to no program either.
    std::fs::write(
        scene.sandbox.home().join(".gitconfig"),
        format!("[url \"ext::sh -c touch% {} \"]\n insteadOf = https://x.invalid/\n[protocol \"ext\"]\n allow = always\n", canary.display()),
    )
    .expect("writes");
    scene.forget_project();
    scene.sandbox.fails(&["install", "https://x.invalid/r.git"], 4, "network", &["https://x.invalid/r.git"]);
    assert!(!canary.exists());
}

/// gg03-dotgit-tree, zn01, zn22, zl01, tt14 for trees: the commit is made by hand, as git refuses to.
#[test]
fn hostile_trees() {
    for (case, value) in [
        ("dot-git", "`.git/config`"),
        ("dot-dot", "`a/..`"),
        ("slash", "`a/a/../../x`"),
        ("case", "`SKILL.md` and `skill.md`"),
        ("twice", "`a/SKILL.md`"),
        ("link", "`link`"),
        ("submodule", "`sub`"),
        ("no-utf8", "\u{fffd}\u{fffd}"),
        ("mode", ""),
    ] {
        let sandbox = machine();
        let work = GitRepo::new(&outside(&sandbox, "work"));
        let skill = work.object("blob", b"---\nname: a\ndescription: Does a.\n---\n\n# A\n");
        let other = work.object("blob", b"x\n");
        let link = work.object("blob", b"../../../etc/passwd");
        let sub = work.tree_of(&[("100644", b"config", &other)]);
        let none = "1234567890123456789012345678901234567890";
        let extra: (&str, &[u8], &str) = match case {
            "dot-git" => ("40000", b".git", &sub),
            "dot-dot" => ("40000", b"..", &sub),
            "slash" => ("100644", b"a/../../x", &other),
            "case" => ("100644", b"skill.md", &other),
            "twice" => ("100644", b"SKILL.md", &other),
            "link" => ("120000", b"link", &link),
            "submodule" => ("160000", b"sub", none),
            "no-utf8" => ("100644", b"\xff\xfe", &other),
            _ => ("100000", b"mode", &other),
        };
        let mut entries = vec![("100644", &b"SKILL.md"[..], skill.as_str()), extra];
        entries.sort_by_key(|entry| entry.1);
        let tree = work.tree_of(&entries);
        work.commit_entries(&[("40000", b"a", &tree)]);
        let source = format!("git+{}", work.path().display());
        let local = sandbox.run(&["--error-format", "json", "install", &source]);
        if case == "mode" {
            ok(&local);
        } else {
            local.failed_with(5, "integrity", &[value]);
        }
        let tree = sandbox.tree(&sandbox.project());
        assert_eq!(tree.is_empty(), local.code != Some(0), "{case}: {tree:?}");
        let bare = outside(&sandbox, "srv/r.git");
        std::fs::create_dir_all(outside(&sandbox, "srv")).expect("makes");
        let to = bare.display().to_string();
        work.git(&["clone", "--quiet", "--bare", ".", &to]);
        let server = GitServer::start(&outside(&sandbox, "srv"));
        let remote = sandbox.run(&["install", &server.url("r.git")]);
        // Over http git looks at the objects first, and may refuse earlier.
        assert_eq!(remote.code, local.code, "{case}: {remote}");
    }
}

/// A name that is not UTF-8 spoils the skill that it is in, and no other one of the source.
#[test]
fn names_that_are_not_utf_8_are_of_their_skill_only() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = machine();
    let repo = GitRepo::new(&outside(&sandbox, "work"));
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
    two_skills().write(repo.path());
    for dir in ["tests", "skills/docx"] {
        std::fs::create_dir_all(repo.path().join(dir)).expect("made");
        std::fs::write(repo.path().join(dir).join(odd), "x").expect("written");
        // Which is how the other one is shown.
        std::fs::write(repo.path().join(dir).join("caf\u{fffd}.txt"), "x").expect("written");
    }
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "--message", "odd"]);
    for source in ["../work", "git+../work"] {
        sandbox.ok(&["install", source, "--skill", "pdf"]);
        sandbox.fails(
            &["install", source, "--skill", "docx"],
            5,
            "integrity",
            &["`docx`", "`caf\u{fffd}.txt`"],
        );
        sandbox.ok(&["remove", "pdf"]);
    }
}

/// gg09-submodule-option: a submodule elsewhere in the repository is not fetched and does no harm.
#[test]
fn gg09_submodules_are_not_followed() {
    let scene = Scene::new();
    let canary = outside(&scene.sandbox, "CANARY");
    let modules = format!("[submodule \"x\"]\n path = --x\n url = -u touch {}\n", canary.display());
    two_skills().file(".gitmodules", modules).write(scene.work.path());
    scene.work.git(&["add", "--all"]);
    scene.work.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},lib/x", scene.first)]);
    scene.work.commit_index();
    let local = format!("git+{}@pdf", scene.work.path().display());
    ok(&scene.sandbox.run(&["install", &local]));
    assert!(!canary.exists());
}

/// Where all skills are submodules, they are named: there is nothing else to install.
#[test]
fn a_repository_of_submodules_names_them() {
    let sandbox = machine();
    let work = GitRepo::new(&outside(&sandbox, "modules"));
    let commit = work.commit(&Tree::new().file("README.md", "# Skills\n"));
    let modules = "[submodule \"a\"]\n path = skills/a\n url = https://example.com/a.git\n";
    Tree::new().file(".gitmodules", modules).write(work.path());
    work.git(&["add", "--all"]);
    work.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},skills/a")]);
    work.commit_index();
    let source = format!("git+{}", work.path().display());
    for args in
        [&["install", &source][..], &["install", &source, "--skill", "a"], &["install", &source, "--list"]]
    {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(
            output.stderr.contains(
                "hint: `skills/a` is a submodule: skills in it are installed from its own repository"
            ),
            "{output}"
        );
    }
    work.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},skills/b")]);
    work.commit_index();
    let output = sandbox.run(&["install", &source]);
    assert!(output.stderr.contains("hint: it has 2 submodules, such as `skills/a`"), "{output}");
}

/// A repository on this machine that lacks a directory or a file: what no chosen skill has does no harm, and what one
/// has is named.
#[test]
fn what_a_repository_lacks_stops_only_the_skills_that_have_it() {
    let scene = Scene::new();
    let work = &scene.work;
    two_skills().file("src/deep/x", "x\n").file("skills/docx/references/r.md", "r\n").write(work.path());
    work.git(&["add", "--all"]);
    work.commit_index();
    let object = |path: &str| {
        let id = work.git(&["rev-parse", &format!("HEAD:{path}")]);
        let id = id.trim();
        work.path().join(".git/objects").join(&id[..2]).join(&id[2..])
    };
    let source = format!("git+{}", work.path().display());
    let install = |skill: &str| scene.sandbox.run(&["install", &source, "--skill", skill]);
    let missing = |path: &str| std::fs::remove_file(object(path)).expect("removes");
    missing("src/deep");
    ok(&install("pdf"));
    assert_eq!(revision(&scene.sandbox), Some(work.git(&["rev-parse", "HEAD"]).trim().to_owned()));
    let listed = scene.sandbox.run(&["install", &source, "--list"]);
    ok(&listed);
    assert!(listed.stderr.contains("lacks the directory `src/deep`: skills there are not found"), "{listed}");
    missing("skills/docx/references");
    let output = install("docx");
    assert_eq!(output.code, Some(5), "{output}");
    let expected = "`references`: the repository lacks this directory (`git fsck` there shows more)";
    assert!(output.stderr.contains(expected), "{output}");
    missing("skills/pdf/scripts/run.sh");
    scene.forget_store();
    scene.forget_project();
    let output = install("pdf");
    assert!(output.stderr.contains("`scripts/run.sh`: the repository lacks this file"), "{output}");
    missing("skills/docx");
    let output = install("docx");
    assert_eq!(output.code, Some(6), "{output}");
    assert!(output.stderr.contains("lacks the directory `skills/docx`"), "{output}");
    missing("skills");
    let output = install("pdf");
    assert_eq!(output.code, Some(6), "{output}");
    assert!(output.stderr.contains("lacks the directory `skills`"), "{output}");
}

/// gg20-tree-bomb-inside: a tree that names the same subtree ten times on each of ten levels.
#[test]
fn gg20_a_tree_bomb_is_refused() {
    let sandbox = machine();
    let work = GitRepo::new(&outside(&sandbox, "work"));
    let mut id = work.object("blob", b"x");
    let mut mode = "100644";
    for _ in 0..10 {
        let names: Vec<Vec<u8>> = (b'0'..=b'9').map(|c| vec![b'f', c]).collect();
        let entries: Vec<_> = names.iter().map(|name| (mode, name.as_slice(), id.as_str())).collect();
        id = work.tree_of(&entries);
        mode = "40000";
    }
    work.commit_entries(&[("40000", b"bomb", &id)]);
    sandbox.fails(&["install", &format!("git+{}", work.path().display())], 5, "integrity", &["../work"]);
}

/// What was locked and then rewritten is told as such, and nothing changes until an update locks what there is
/// now; also by servers that hand out no commits by their ids.
#[test]
fn a_locked_commit_that_is_gone() {
    for old in [false, true] {
        let scene = Scene::new();
        let server = scene.server();
        if old {
            server.old();
        }
        ok(&scene.sandbox.run(&["install", &format!("{}@pdf", server.url("skills.git"))]));
        let lock = scene.sandbox.read("skillpm.lock");
        // It is not the newest any more, and is still served.
        scene.work.commit(&two_skills().file("new", "new"));
        scene.work.push(&scene.bare);
        scene.forget_store();
        scene.forget_cache();
        ok(&scene.sandbox.run(&["install"]));
        assert_eq!(scene.sandbox.read("skillpm.lock"), lock);
        // Now it is gone.
        scene.work.git(&["checkout", "--quiet", "--orphan", "fresh"]);
        scene.work.commit(&two_skills());
        scene.work.git(&["branch", "-M", "main"]);
        for name in ["v1", "annotated"] {
            scene.work.git(&["tag", "-d", name]);
        }
        scene.work.git(&["branch", "-D", "feature/x"]);
        scene.work.push(&scene.bare);
        scene.bare.git(&["reflog", "expire", "--expire=all", "--all"]);
        scene.bare.git(&["gc", "--quiet", "--prune=now"]);
        scene.forget_store();
        scene.forget_cache();
        scene.sandbox.fails(
            &["install"],
            4,
            "revision-gone",
            &["`pdf`", &scene.second, "skillpm update pdf"],
        );
        assert_eq!(scene.sandbox.read("skillpm.lock"), lock);
        ok(&scene.sandbox.run(&["update", "pdf", "--dry-run"]));
        assert_eq!(scene.sandbox.read("skillpm.lock"), lock);
        let update = scene.sandbox.run(&["update", "pdf"]);
        assert!(ok(&update).stderr.contains("locked what is there now; its files are the same"), "{update}");
        let newest = scene.work.git(&["rev-parse", "HEAD"]);
        assert_eq!(scene.revision().as_deref(), Some(newest.trim()));
        scene.forget_store();
        scene.forget_cache();
        ok(&scene.sandbox.run(&["install", "--locked"]));
    }
}

/// The command that is named takes what is there now, too where a commit is pinned, and for the user.
#[test]
fn a_pinned_commit_that_is_gone() {
    let scene = Scene::new();
    let url = format!("git+{}", scene.bare.path().display());
    let rev = &scene.second[..10];
    ok(&scene.sandbox.run(&["install", "-g", &format!("{url}@pdf"), "--rev", rev]));
    scene.work.git(&["checkout", "--quiet", "--orphan", "fresh"]);
    scene.work.commit(&Tree::new().skill("skills/pdf", "pdf"));
    scene.work.git(&["branch", "-M", "main"]);
    scene.work.push(&scene.bare);
    for name in ["v1", "annotated"] {
        scene.bare.git(&["tag", "-d", name]);
    }
    scene.bare.git(&["branch", "-D", "feature/x"]);
    scene.bare.git(&["reflog", "expire", "--expire=all", "--all"]);
    scene.bare.git(&["gc", "--quiet", "--prune=now"]);
    for dir in [".local", ".agents"] {
        std::fs::remove_dir_all(scene.sandbox.home().join(dir)).expect("removes");
    }
    let output = scene.sandbox.run(&["install", "-g"]);
    assert_eq!(output.code, Some(4), "{output}");
    assert!(output.stderr.contains("hint: `skillpm update -g pdf --latest` locks"), "{output}");
    ok(&scene.sandbox.run(&["update", "-g", "pdf", "--latest"]));
    ok(&scene.sandbox.run(&["install", "-g"]));
}

/// Without a network, a name means what it meant last.
#[test]
fn offline_names_mean_what_they_meant_last() {
    let scene = Scene::new();
    let server = scene.server();
    let url = server.url("skills.git");
    ok(&scene.sandbox.run(&["install", &format!("{url}#v1@pdf")]));
    ok(&scene.sandbox.run(&["install", &format!("{url}@docx")]));
    scene.forget_project();
    scene.forget_store();
    drop(server);
    ok(&scene.sandbox.run(&["install", "--offline", &format!("{url}#v1@pdf")]));
    assert_eq!(scene.revision().as_ref(), Some(&scene.first));
    scene.forget_project();
    ok(&scene.sandbox.run(&["install", "--offline", &format!("{url}@docx")]));
    assert_eq!(scene.revision().as_ref(), Some(&scene.second));
    let never = scene.sandbox.run(&["install", "--offline", &format!("{url}#feature/x@pdf")]);
    assert_eq!(never.code, Some(4), "{never}");
    assert!(never.stderr.contains("`--offline` forbids the network"), "{never}");
}

/// Of a large repository only the skills come: the contents are left out, then fetched in one go.
#[test]
fn contents_that_belong_to_no_skill_are_left_out() {
    let scene = Scene::new();
    let mut tree = two_skills();
    for n in 0..600 {
        tree = tree.file(&format!("src/{n}.rs"), format!("// {n}\n"));
    }
    scene.work.commit(&tree);
    scene.work.push(&scene.bare);
    let server = scene.server();
    ok(&scene.sandbox.run(&["install", &format!("{}@pdf", server.url("skills.git"))]));
    let packs = server.requests().iter().filter(|request| request.starts_with("POST")).count();
    // Which references there are; the trees; the contents.
    assert_eq!(packs, 3, "{:?}", server.requests());
    let cached = GitRepo::at(&scene.cached());
    let blobs = |repo: &GitRepo| {
        let all = repo.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
        all.lines().filter(|line| line.contains(" blob ")).count()
    };
    assert_eq!(blobs(&cached), 4);
    // A file that was left out is told as such; the others are as they always are.
    let missing = scene.sandbox.run(&["install", &format!("{}//src", server.url("skills.git"))]);
    assert!(missing.stderr.contains("there is no `SKILL.md` in `src`"), "{missing}");
    // A server that cannot leave anything out sends all.
    scene.bare.git(&["config", "uploadpack.allowFilter", "false"]);
    scene.forget_cache();
    scene.forget_project();
    ok(&scene.sandbox.run(&["install", &format!("{}@pdf", server.url("skills.git"))]));
    assert_eq!(blobs(&GitRepo::at(&scene.cached())), 604);
}

/// THREATS 7, corrupt cache: what is damaged is thrown away and fetched anew.
#[test]
fn a_damaged_cache_is_made_anew() {
    let scene = Scene::new();
    let server = scene.server();
    let url = format!("{}@pdf", server.url("skills.git"));
    ok(&scene.sandbox.run(&["install", &url]));
    let whole = |path: &Path| std::fs::read(path).expect("reads");
    for how in ["no head", "bad config", "no packs", "cut packs", "a file", "stale lock"] {
        let cached = scene.cached();
        let packs = cached.join("objects/pack");
        match how {
            "no head" => std::fs::remove_file(cached.join("HEAD")).expect("removes"),
            "bad config" => std::fs::write(cached.join("config"), "[core\n").expect("writes"),
            "no packs" => std::fs::remove_dir_all(packs).expect("removes"),
            "cut packs" => {
                for entry in std::fs::read_dir(packs).expect("lists") {
                    let path = entry.expect("an entry").path();
                    if path.extension().is_some_and(|ending| ending == "pack") {
                        let bytes = whole(&path);
                        std::fs::remove_file(&path).expect("removes");
                        std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("writes");
                    }
                }
            }
            "a file" => {
                std::fs::remove_dir_all(&cached).expect("removes");
                std::fs::write(&cached, "x").expect("writes");
            }
            _ => std::fs::write(cached.join("shallow.lock"), "").expect("writes"),
        }
        scene.forget_store();
        let restored = scene.sandbox.run(&["install"]);
        // Damage that only shows when the content is read costs a second run.
        if restored.code != Some(0) {
            assert!(restored.stderr.contains("was deleted, run the command again"), "{how}: {restored}");
            ok(&scene.sandbox.run(&["install"]));
        }
        scene.forget_store();
        ok(&scene.sandbox.run(&["install", &url, "--force"]));
    }
}

/// A cache that cannot be written, and none at all, change nothing.
#[test]
fn without_a_cache() {
    let mut scene = Scene::new();
    let server = scene.server();
    std::fs::write(scene.sandbox.home().join(".cache"), "a file in the way").expect("writes");
    ok(&scene.sandbox.run(&["install", &format!("{}@pdf", server.url("skills.git"))]));
    assert_eq!(scene.revision().as_ref(), Some(&scene.second));
    scene.forget_store();
    let temp = outside(&scene.sandbox, "tmp");
    std::fs::create_dir(&temp).expect("makes");
    scene.sandbox.env("TMPDIR", &temp.display().to_string());
    ok(&scene.sandbox.run(&["install"]));
    assert!(scene.sandbox.tree(&temp).is_empty(), "nothing stays");
}

/// THREATS 7: any number of processes may want the same repository at once.
#[test]
fn several_at_once() {
    let scene = Scene::new();
    let server = scene.server();
    let url = format!("{}@pdf", server.url("skills.git"));
    let started: Vec<_> = (0..4)
        .map(|n| {
            let project = outside(&scene.sandbox, &format!("project-{n}"));
            std::fs::create_dir(&project).expect("makes");
            let mut command = scene.sandbox.command(&["install", &url]);
            (
                command.current_dir(&project).stderr(std::process::Stdio::piped()).spawn().expect("starts"),
                project,
            )
        })
        .collect();
    for (child, project) in started {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(project.join(".agents/skills/pdf/SKILL.md").exists());
    }
}

/// zb-bombs, for git: a repository may send so much and no more, and what came is not kept.
#[test]
fn a_repository_that_is_too_large_is_refused() {
    let scene = Scene::new();
    let noise: Vec<u8> = (0..200_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    scene.work.commit(&two_skills().file("skills/pdf/noise", noise));
    scene.work.push(&scene.bare);
    let server = scene.server();
    let context = Context::silent(scene.sandbox.settings());
    let url = server.url("skills.git");
    let fetch = |archive_bytes| {
        let limits = Limits { archive_bytes, ..Limits::default() };
        skillpm_sources::git::fetch(&context, &url, Transport::Http, WantedRevision::Reference(None), &limits)
    };
    for _ in 0..2 {
        let error = fetch(10_000).expect_err("too large");
        assert!(error.to_string().contains("sends more than 10000 bytes"), "{error}");
    }
    fetch(10_000_000).expect("fits");
}

/// Paths: a bare repository is one, a work tree is a directory unless a revision is given, and the
/// manifest has no path of this machine.
#[test]
fn repositories_on_this_machine() {
    let scene = Scene::new();
    let work = GitRepo::new(&scene.sandbox.project().join("vendor/work"));
    let old = work.commit(&Tree::new().skill("skills/pdf", "pdf").file("skills/pdf/old", "x"));
    work.git(&["tag", "v1"]);
    work.commit(&two_skills());
    two_skills().file("skills/pdf/unsaved.md", "x").write(work.path());
    let _ = work.bare(&scene.sandbox.project().join("vendor/bare.git"));
    work.git(&["worktree", "add", "--quiet", "../tree", "v1"]);
    scene.sandbox.fails(
        &["install", "./vendor/bare.git@pdf"],
        2,
        "usage",
        &["`./vendor/bare.git@pdf`", "`git+./vendor/bare.git@pdf`"],
    );
    for (args, commit, has, entry) in [
        (
            &["./vendor/bare.git", "-s", "pdf"][..],
            true,
            "scripts",
            r#"git = "./vendor/bare.git", path = "skills/pdf""#,
        ),
        (
            &["./vendor/work", "-s", "pdf"],
            false,
            "unsaved.md",
            r#"path = "./vendor/work", subdir = "skills/pdf""#,
        ),
        (&["git+./vendor/work@pdf"], true, "scripts", r#"git = "./vendor/work", path = "skills/pdf""#),
        (&["git+./vendor/tree@pdf"], true, "old", r#"git = "./vendor/tree", path = "skills/pdf""#),
        (
            &["./vendor/work", "-s", "pdf", "--tag", "v1"],
            true,
            "old",
            r#"git = "./vendor/work", path = "skills/pdf", tag = "v1""#,
        ),
        (
            &["git+./vendor/work#v1@pdf"],
            true,
            "old",
            r#"git = "./vendor/work", path = "skills/pdf", ref = "v1""#,
        ),
    ] {
        ok(&scene.sandbox.run(&[&["install"], args].concat()));
        assert!(scene.sandbox.project().join(".agents/skills/pdf").join(has).exists(), "{args:?}");
        assert_eq!(scene.revision().is_some(), commit, "{args:?}");
        assert_eq!(scene.sandbox.read("skillpm.toml"), format!("[skills]\npdf = {{ {entry} }}\n"));
        for file in ["skillpm.toml", "skillpm.lock"] {
            let _ = std::fs::remove_file(scene.sandbox.project().join(file));
        }
        let _ = std::fs::remove_dir_all(scene.sandbox.project().join(".agents"));
    }
    ok(&scene.sandbox.run(&["install", "git+./vendor/work#v1@pdf"]));
    assert_eq!(scene.revision(), Some(old));
}

/// The command of a hint is typed where it is read, and a path of the manifest may mean something else there.
#[test]
fn a_hint_names_a_repository_as_it_is_typed_where_it_is_read() {
    let sandbox = machine();
    GitRepo::new(&sandbox.project().join("vendor/work")).commit(&two_skills());
    sandbox.ok(&["install", "git+./vendor/work@pdf"]);
    // Other bytes than the locked ones, in the store and at the source.
    let lock = sandbox.read("skillpm.lock");
    let digest = lock.lines().find_map(|line| line.strip_prefix("digest = ")).expect("a digest");
    sandbox.write("skillpm.lock", lock.replace(digest, &format!("\"sha256:{}\"", "0".repeat(64))));
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removed");
    let docs = sandbox.project().join("docs");
    std::fs::create_dir(&docs).expect("made");
    let there = |args: &[&str]| sandbox.output(sandbox.command(args).current_dir(&docs));
    let refused = there(&["install"]);
    assert_eq!(refused.code, Some(5), "{refused}");
    let hint = refused.stderr.split("before you lock them with `skillpm ").nth(1);
    let hint = hint.and_then(|rest| rest.split('`').next()).expect("a command");
    assert_eq!(hint, "install git+../vendor/work//skills/pdf");
    ok(&there(&hint.split(' ').collect::<Vec<_>>()));
    assert!(sandbox.read("skillpm.lock").contains(digest));
}

/// Shallow and partial clones and borrowed objects as sources.
#[test]
fn unusual_repositories_on_this_machine() {
    let scene = Scene::new();
    let from = format!("file://{}", scene.bare.path().display());
    let at = |name: &str| outside(&scene.sandbox, name);
    let clone = |name: &str, options: &[&str]| {
        let to = at(name).display().to_string();
        let mut args = vec!["clone", "--quiet"];
        args.extend(options);
        args.extend([from.as_str(), to.as_str()]);
        scene.work.git(&args);
        at(name)
    };
    clone("shallow", &["--depth=1"]);
    let to = at("borrowed").display().to_string();
    let bare = scene.bare.path().display().to_string();
    scene.work.git(&["clone", "--quiet", "--shared", &bare, &to]);
    for name in ["shallow", "borrowed"] {
        ok(&scene.sandbox.run(&["install", &format!("git+{}@pdf", at(name).display())]));
        assert_eq!(scene.revision().as_ref(), Some(&scene.second), "{name}");
        scene.forget_project();
    }
    // With all it needs, a partial clone serves like any other, by the program.
    clone("partial", &["--filter=blob:none"]);
    ok(&scene.sandbox.run(&["install", &format!("git+{}@pdf", at("partial").display())]));
    scene.forget_project();
    // Without, it says so.
    clone("trees", &["--filter=blob:none", "--no-checkout"]);
    let output = scene.sandbox.run(&["install", &format!("git+{}@pdf", at("trees").display())]);
    assert_ne!(output.code, Some(0), "{output}");
}

/// gg16-export-attrs, gg17-eol-attrs: git locks the blobs of the commit, an archive what its server
/// made of them. Both are told in docs/reference/sources.md.
#[test]
fn gg16_gg17_attributes_act_on_archives_and_not_on_git() {
    let scene = Scene::new();
    let tree = Tree::new()
        .skill("a", "a")
        .file("a/.gitattributes", "ignored.md export-ignore\nversion.txt export-subst\nlines.txt text eol=crlf\nwide.txt working-tree-encoding=UTF-16LE\n")
        .file("a/ignored.md", "only in git\n")
        .file("a/version.txt", "$Format:%H$\n")
        .file("a/lines.txt", "one\ntwo\n")
        .file("a/wide.txt", "w\n");
    tree.write(scene.work.path());
    scene.work.git(&["rm", "-r", "--quiet", "--cached", "."]);
    for (path, bytes) in [("a/wide.txt", "w\n"), ("a/lines.txt", "one\ntwo\n")] {
        // As they are, whatever the attributes would make of them on the way in.
        let id = scene.work.git_with(&["hash-object", "-w", "--stdin", "--no-filters"], bytes.as_bytes());
        scene.work.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{id},{path}")]);
    }
    scene.work.git(&["add", "a/SKILL.md", "a/.gitattributes", "a/ignored.md", "a/version.txt"]);
    let commit = scene.work.commit_index();
    let project = scene.sandbox.project();
    let installed = |name: &str| std::fs::read(project.join(".agents/skills/a").join(name)).ok();
    ok(&scene.sandbox.run(&["install", &format!("git+{}//a", scene.work.path().display())]));
    assert_eq!(installed("ignored.md").as_deref(), Some(&b"only in git\n"[..]));
    assert_eq!(installed("version.txt").as_deref(), Some(&b"$Format:%H$\n"[..]));
    assert_eq!(installed("lines.txt").as_deref(), Some(&b"one\ntwo\n"[..]));
    assert_eq!(installed("wide.txt").as_deref(), Some(&b"w\n"[..]));
    for format in ["zip", "tar.gz"] {
        scene.forget_project();
        let file = project.join(format!("a.{format}")).display().to_string();
        scene.work.git(&["archive", "--prefix=r/", "--output", &file, "HEAD"]);
        // Without its project the skill is known all the same, and other bytes are asked about.
        ok(&scene.sandbox.run(&["install", &format!("./a.{format}"), "--allow-new-capabilities"]));
        assert_eq!(installed("ignored.md"), None);
        assert_eq!(installed("version.txt"), Some(format!("{commit}\n").into_bytes()));
        assert_eq!(installed("lines.txt").as_deref(), Some(&b"one\r\ntwo\r\n"[..]));
        assert_eq!(installed("wide.txt").as_deref(), Some(&b"w\0\n\0"[..]));
    }
}

/// A template in a git repository.
#[test]
fn create_from_a_repository() {
    let scene = Scene::new();
    let server = scene.server();
    let template = Tree::new()
        .file("t/SKILL.md", "---\nname: {{ name }}\ndescription: {{ description }}\n---\n\n# {{ name }}\n")
        .file("t/references/a.md", "a\n");
    scene.work.commit(&template);
    scene.work.push(&scene.bare);
    let url = format!("{}//t", server.url("skills.git"));
    let output = scene.sandbox.run(&[
        "create",
        "mine",
        "--template",
        &url,
        "--description",
        "Does it well. Use when it is asked for.",
    ]);
    ok(&output);
    let made = std::fs::read_to_string(scene.sandbox.project().join("mine/SKILL.md")).expect("made");
    assert!(made.contains("name: mine"), "{made}");
    assert!(scene.sandbox.project().join("mine/references/a.md").exists());
}

/// When a revision was made is known for git.
#[test]
fn the_time_of_a_commit() {
    let scene = Scene::new();
    let context = Context::silent(scene.sandbox.settings());
    let scope = Scope::new(&context.settings, ScopeKind::Project).expect("a scope");
    let spec: SourceSpec = format!("git+{}", scene.work.path().display()).parse().expect("a source");
    let opened = source::open(&context, scope.as_root(), &spec.origin, Wanted::Now(None)).expect("opens");
    assert_eq!(opened.released, Some(1_700_000_120));
    assert_eq!((opened.name.as_str(), opened.revision), ("work", Some(scene.second.clone())));
}

/// Names that git, zip and tar carry, and that a skill may have.
fn names() -> impl Strategy<Value = String> {
    let part = "[a-zA-Z0-9._+(= é漢-]{1,12}";
    proptest::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
}

/// The digest of skill `dir` in `origin`.
fn digest(sandbox: &Sandbox, origin: &Origin, dir: &str) -> Result<String, String> {
    let context = Context::silent(sandbox.settings());
    let scope = Scope::new(&context.settings, ScopeKind::Project).map_err(|e| e.to_string())?;
    let opened =
        source::open(&context, scope.as_root(), origin, Wanted::Now(None)).map_err(|e| e.to_string())?;
    let set = opened.tree.skill(dir, &Limits::default()).map_err(|e| e.to_string())?;
    Ok(set.digest().map_err(|e| e.to_string())?.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(96)))]

    /// THREATS 6.7: zip, tar.gz, git by path, git by the program and a directory give one digest, or all
    /// refuse.
    #[test]
    fn one_tree_has_one_digest_whatever_it_comes_through(
        files in proptest::collection::btree_map(
            names(),
            (proptest::collection::vec(any::<u8>(), 0..2000), any::<bool>()),
            0..8,
        ),
    ) {
        // Files and directories of one name, and names of git's own, cannot be written to disk.
        let files: Vec<_> = files
            .iter()
            .filter(|(path, _)| {
                let ok = |part: &str| !matches!(part, "." | "..") && !part.eq_ignore_ascii_case(".git") && !part.eq_ignore_ascii_case("git~1");
                // Nor is what tools leave behind taken from a directory.
                path.split('/').all(ok) && leftover_in(path, false).is_none()
            })
            .collect();
        let mut tree = Tree::new().skill("a", "a");
        for (path, (bytes, executable)) in &files {
            let path = format!("a/{path}");
            let clash = |other: &str| {
                let (one, two) = (path.to_lowercase() + "/", other.to_lowercase() + "/");
                one.starts_with(&two) || two.starts_with(&one)
            };
            if tree.paths().any(clash) {
                continue;
            }
            tree = if *executable { tree.executable(&path, bytes) } else { tree.file(&path, bytes) };
        }
        let sandbox = machine();
        let work = GitRepo::new(&outside(&sandbox, "work"));
        // Attributes of a file with that name would change the archives, and only them.
        tree.remove("a/.gitattributes");
        work.commit(&tree);
        let bare = work.bare(&outside(&sandbox, "srv/r.git"));
        let at = |name: &str| outside(&sandbox, name).display().to_string();
        for format in ["zip", "tar.gz"] {
            work.git(&["archive", "--prefix=r-1/", "--output", &at(&format!("r.{format}")), "HEAD"]);
        }
        let server = GitServer::start(&outside(&sandbox, "srv"));
        let mut digests = Vec::new();
        for source in [
            at("work"),
            format!("git+{}", at("work")),
            format!("git+{}", bare.path().display()),
            server.url("r.git"),
            at("r.zip"),
            at("r.tar.gz"),
        ] {
            let spec: SourceSpec = source.parse().expect("a source");
            digests.push((source, digest(&sandbox, &spec.origin, "a").ok()));
        }
        prop_assert!(digests.iter().all(|(_, digest)| *digest == digests[0].1), "{digests:#?}");
    }
}

#[test]
fn the_programs_that_these_tests_want() {
    assert!(find_program("git").is_some(), "these tests need git: `make test-tools` installs it");
}
