//! What people type as a source, and what is found in it.

use crate::support::git::GitRepo;
use crate::support::{Forge, Output, Sandbox, Tree};

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does what {name} does.\n---\n")
}

/// A project with skills at `paths` of the directory `r` beside it.
fn source(paths: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for path in paths {
        let name = path.rsplit('/').next().unwrap_or(path);
        sandbox.write(&format!("../r/{path}/SKILL.md"), skill(name));
    }
    sandbox
}

/// The first lines of the entries of `--list`.
fn listed(output: &Output) -> Vec<&str> {
    output.stdout.lines().filter(|line| !line.starts_with(' ')).collect()
}

fn installed(sandbox: &Sandbox) -> Vec<String> {
    let entries = std::fs::read_dir(sandbox.project().join(".agents/skills"));
    let mut names: Vec<_> = entries
        .map(|all| all.map(|one| one.expect("an entry").file_name().into_string().expect("UTF-8")).collect())
        .unwrap_or_default();
    names.sort();
    names
}

/// A machine whose GitHub has `acme/kit` with the skills `pdf`, `docx` and `xlsx`.
fn kit() -> (Forge, Sandbox) {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    forge.repo("acme/kit").commit(&kit_tree());
    (forge, sandbox)
}

fn kit_tree() -> Tree {
    Tree::new().skill("skills/pdf", "pdf").skill("skills/docx", "docx").skill("skills/xlsx", "xlsx")
}

/// Nobody means all of a file system, or all that lies at home.
#[test]
fn a_whole_machine_is_no_source() {
    let sandbox = Sandbox::new();
    for args in [&["install", "/"][..], &["install", "/", "--list"], &["install", "/tmp/.."]] {
        sandbox.fails(args, 2, "usage", &["is the root of the file system, not a source of skills"]);
    }
    sandbox.write("../home/deep/pdf/SKILL.md", skill("pdf"));
    for args in [&["install", "~"][..], &["install", "-g", "~/"], &["install", "../home"]] {
        sandbox.fails(args, 2, "usage", &["is your home directory, not a source of skills"]);
    }
    // Some keep their skills there.
    sandbox.write("../home/skills/docx/SKILL.md", skill("docx"));
    let output = sandbox.run(&["install", "~"]);
    assert_eq!((output.code, installed(&sandbox)), (Some(0), vec!["docx".to_owned()]), "{output}");
}

#[test]
fn what_a_marketplace_names_is_found() {
    let sandbox = source(&["one", "suite/skills/two", "suite/deep/er/three"]);
    let file = r#"{"plugins": [{"name": "one", "source": "./one"}, {"name": "suite", "source": "./suite"}]}"#;
    sandbox.write("../r/.claude-plugin/marketplace.json", file);
    let output = sandbox.ok(&["install", "../r", "--list"]);
    assert_eq!(listed(&output), ["one", "two"]);
    assert!(output.stderr.contains("`suite/deep/er/three`, which is not searched"), "{output}");
    sandbox.ok(&["install", "../r", "--skill", "./suite/deep/er/three"]);
    assert_eq!(installed(&sandbox), ["three"]);
}

#[test]
fn a_skill_at_the_root_is_found_beside_skills() {
    let sandbox = source(&["skills/x", "y", "tests/data/z"]);
    assert_eq!(listed(&sandbox.ok(&["install", "../r", "--list"])), ["x", "y"]);
    let output = sandbox.run(&["install", "../r", "--skill", "z"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("`--skill ./tests/data/z`"), "{output}");
    let all = sandbox.ok(&["install", "../r", "--skill", "*"]);
    assert!(all.stderr.contains("`tests/data/z`, which is not searched"), "{all}");
    assert_eq!(installed(&sandbox), ["x", "y"]);
    for path in ["./tests/data/z", "tests/data/z/", "./tests"] {
        sandbox.ok(&["install", "../r", "--skill", path]);
    }
    assert_eq!(installed(&sandbox), ["x", "y", "z"]);
    // What is restored is found where the lockfile says.
    std::fs::remove_dir_all(sandbox.project().join(".agents")).expect("removes");
    sandbox.ok(&["install", "--frozen"]);
    assert_eq!(installed(&sandbox), ["x", "y", "z"]);
}

/// The npm tool shows both: it does not know the first directory.
#[test]
fn what_an_agent_reads_hides_nothing_that_is_published() {
    let sandbox = source(&[".gemini/skills/one", "pack/skills/two"]);
    let output = sandbox.ok(&["install", "../r", "--list"]);
    assert_eq!(listed(&output), ["one", "two"]);
    assert!(!output.stderr.contains("not searched"), "{output}");
    sandbox.ok(&["install", "../r", "--skill", "two"]);
    assert_eq!(installed(&sandbox), ["two"]);
}

/// Copies of what was found are not what a user misses.
#[test]
fn copies_are_not_counted_among_what_is_not_searched() {
    let sandbox = source(&["skills/x", "docs/examples/skills/x"]);
    let output = sandbox.ok(&["install", "../r", "--list"]);
    assert_eq!(listed(&output), ["x"]);
    assert!(!output.stderr.contains("not searched"), "{output}");
    sandbox.write("../r/docs/examples/skills/x/more.md", "more\n");
    let output = sandbox.ok(&["install", "../r", "--list"]);
    assert!(output.stderr.contains("`docs/examples/skills/x`, which is not searched"), "{output}");
}

/// The npm tool restores what its file names: a removed skill leaves it, and the entry of another source stays.
#[test]
fn a_removed_skill_leaves_the_file_of_the_npm_tool() {
    let (_forge, sandbox) = kit();
    let entry = |source: &str, path: &str| {
        format!(
            r#"{{"source": "{source}", "sourceType": "github", "skillPath": "skills/{path}/SKILL.md", "computedHash": "x"}}"#
        )
    };
    let file = format!(
        r#"{{"version": 1, "skills": {{"docx": {}, "other": {}, "pdf": {}, "xlsx": {}}}, "more": 1}}"#,
        entry("other/kit", "docx"),
        entry("acme/kit", "other"),
        entry("acme/kit", "pdf"),
        entry("acme/kit", "xlsx"),
    );
    sandbox.ok(&["install", "acme/kit", "--skill", "*"]);
    let write = || sandbox.write("skills-lock.json", &file);
    let names = || {
        let value: serde_json::Value = serde_json::from_str(&sandbox.read("skills-lock.json")).expect("JSON");
        assert_eq!(value["more"], 1);
        value["skills"].as_object().expect("skills").keys().cloned().collect::<Vec<_>>()
    };
    write();
    let output = sandbox.ok(&["remove", "pdf", "docx", "--dry-run"]);
    assert!(output.stdout.contains("would remove `pdf` from `skills-lock.json`"), "{output}");
    assert_eq!(sandbox.read("skills-lock.json"), file);
    let output = sandbox.ok(&["remove", "pdf", "docx", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(told["skills_lock"], serde_json::json!(["pdf"]));
    assert_eq!(names(), ["docx", "other", "xlsx"]);
    let output = sandbox.ok(&["export", "skills-lock"]);
    assert!(output.stderr.contains("not skillpm's were kept: `docx` and `other`"), "{output}");
    assert_eq!(names(), ["docx", "other", "xlsx"]);
    // What cannot be read does not keep a skill here.
    sandbox.write("skills-lock.json", "<<<<<<<");
    let output = sandbox.ok(&["remove", "xlsx"]);
    assert!(output.stderr.contains("`skills-lock.json` was not changed: "), "{output}");
    assert_eq!(sandbox.read("skills-lock.json"), "<<<<<<<");
    assert_eq!(installed(&sandbox), [""; 0]);
}

/// The same for a directory on this machine, which the npm tool records as that of the skill or of its source.
#[test]
fn a_removed_local_skill_leaves_the_file_of_the_npm_tool() {
    let sandbox = source(&["skills/a", "skills/b", "skills/c"]);
    sandbox.ok(&["install", "../r", "--skill", "a", "b"]);
    let entry =
        |source: &str| format!(r#"{{"source": "{source}", "sourceType": "local", "computedHash": "x"}}"#);
    let file = format!(
        r#"{{"version": 1, "skills": {{"a": {}, "b": {}, "c": {}}}}}"#,
        entry("../r/skills/a"),
        entry("../r"),
        entry("../r")
    );
    sandbox.write("skills-lock.json", file);
    sandbox.ok(&["remove", "a", "b"]);
    let value: serde_json::Value = serde_json::from_str(&sandbox.read("skills-lock.json")).expect("JSON");
    assert_eq!(value["skills"].as_object().expect("skills").keys().collect::<Vec<_>>(), ["c"]);
}

#[test]
fn a_directory_with_several_skills_names_none() {
    let sandbox = source(&["skills/x", "tests/a", "tests/b"]);
    let output = sandbox.run(&["install", "../r", "--skill", "./tests"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("the directory `tests` has 2 skills"), "{output}");
    let output = sandbox.run(&["install", "../r", "--skill", "./none"]);
    assert!(output.stderr.contains("there is no skill `./none`"), "{output}");
}

#[test]
fn the_command_lines_of_other_tools_work() {
    let (_forge, sandbox) = kit();
    for (args, names) in [
        (
            &["add", "acme/kit", "--skill", "pdf", "docx", "-a", "claude-code", "cursor", "-y"][..],
            &["docx", "pdf"][..],
        ),
        (&["install", "acme/kit", "-a", "claude-code,cursor", "-s", "pdf,xlsx"], &["docx", "pdf", "xlsx"]),
        (&["install", "-s", "pdf", "docx", "acme/kit", "--list"], &["docx", "pdf", "xlsx"]),
    ] {
        sandbox.ok(args);
        assert_eq!(installed(&sandbox), names, "{args:?}");
    }
    assert!(sandbox.project().join(".claude/skills/pdf").exists());
}

#[test]
fn a_word_behind_a_source_is_a_skill() {
    let (_forge, sandbox) = kit();
    sandbox.ok(&["install", "acme/kit", "pdf"]);
    assert_eq!(installed(&sandbox), ["pdf"]);
    let output = sandbox.run(&["install", "acme/kit", "pdff"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("there is no skill `pdff` in `acme/kit`"), "{output}");
    std::fs::create_dir(sandbox.project().join("docx")).expect("creates");
    let output = sandbox.run(&["install", "acme/kit", "docx"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("`--skill docx` is the skill, `./docx` what is here"), "{output}");
    let output = sandbox.run(&["install", "pdf"]);
    assert!(output.stderr.contains("`skillpm install owner/repo@pdf`"), "{output}");
}

#[test]
fn names_are_looked_for_in_all_sources() {
    let (forge, sandbox) = kit();
    forge.repo("other/kit").commit(&Tree::new().skill("skills/mail", "mail").skill("skills/chat", "chat"));
    let output = sandbox.run(&["install", "acme/kit", "other/kit", "-s", "pdf", "mail", "nope"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("none of the 2 sources has a skill `nope`"), "{output}");
    assert!(installed(&sandbox).is_empty());
    sandbox.ok(&["install", "acme/kit", "other/kit", "-s", "pdf", "mail"]);
    assert_eq!(installed(&sandbox), ["mail", "pdf"]);
    let output = sandbox.ok(&["install", "acme/kit", "other/kit", "-s", "docx"]);
    assert!(output.stderr.contains("nothing comes from `other/kit`"), "{output}");
    sandbox.ok(&["install", "acme/kit@xlsx", "other/kit", "-s", "chat"]);
    assert_eq!(installed(&sandbox), ["chat", "docx", "mail", "pdf", "xlsx"]);
    let list = sandbox.ok(&["install", "acme/kit", "other/kit", "-s", "pdf", "chat", "--list"]);
    assert_eq!(listed(&list), ["pdf", "chat"]);
}

#[test]
fn pages_of_lists_of_skills_mean_the_repository() {
    let (_forge, sandbox) = kit();
    for (page, name) in [
        ("https://skills.sh/acme/kit/pdf", "pdf"),
        ("skills.sh/acme/kit/docx", "docx"),
        ("https://www.skills.sh/acme/kit/xlsx?x=1", "xlsx"),
        ("https://playbooks.com/skills/acme/kit/pdf", "pdf"),
        ("claude-plugins.dev/skills/@acme/kit/pdf", "pdf"),
    ] {
        sandbox.ok(&["install", page]);
        assert!(installed(&sandbox).contains(&name.to_owned()), "{page}");
        assert!(
            sandbox.read("skillpm.toml").contains("github = \"acme/kit\""),
            "{}",
            sandbox.read("skillpm.toml")
        );
    }
}

/// Nobody is told to hand a token to a host that they never heard of.
#[test]
fn a_strange_host_gets_no_token() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["install", "skills.example/acme/kit/pdf"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(!output.stderr.contains("TOKEN") && !output.stderr.contains("GH_HOST"), "{output}");
}

#[test]
fn a_branch_with_slashes_is_found_behind_tree() {
    let (forge, sandbox) = kit();
    let commit = forge.repo("acme/kit").commit(&kit_tree().skill("extra/more", "more"));
    forge.repo("acme/kit").branch("feat/x/y", &commit);
    sandbox.ok(&["install", "https://github.com/acme/kit/tree/feat/x/y/extra/more"]);
    assert_eq!(installed(&sandbox), ["more"]);
    let manifest = sandbox.read("skillpm.toml");
    assert!(
        manifest.contains("ref = \"feat/x/y\"") && manifest.contains("path = \"extra/more\""),
        "{manifest}"
    );
    let output = sandbox.run(&["install", "https://github.com/acme/kit/tree/none/x/skills/pdf"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("has no revision `none`"), "{output}");
    assert!(output.stderr.contains("`acme/kit#feature/x`"), "{output}");
}

#[test]
fn what_is_left_out_decides_the_exit_code() {
    let sandbox = source(&["skills/x"]);
    sandbox.write("../r/skills/bad/SKILL.md", "no frontmatter");
    for all in [&["--skill", "*"][..], &["--yes"]] {
        let output = sandbox.run(&[&["install", "../r"], all].concat());
        assert_eq!(output.code, Some(5), "{output}");
        assert!(output.stderr.contains("`bad` was left out"), "{output}");
        assert_eq!(installed(&sandbox), ["x"]);
    }
    let json = sandbox.run(&["install", "../r", "-y", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    let left = &report["left_out"][0];
    assert_eq!(
        (&left["name"], &left["code"], &left["exit_code"]),
        (&"bad".into(), &"integrity".into(), &5.into())
    );
    // Two of one name: nobody said which.
    let sandbox = source(&["skills/x", "skills/a/same", "skills/b/same"]);
    sandbox.write("../r/skills/b/same/more.md", "more");
    let output = sandbox.run(&["install", "../r", "-y"]);
    assert_eq!(output.code, Some(1), "{output}");
}

/// A plugin whose manifest names its skills has these; one that names none has those in `skills/`.
#[test]
fn a_plugin_brings_what_it_names() {
    let sandbox = source(&["p/skills/a", "p/skills/b", "p/skills/old/c", "q/skills/d", "q/skills/old/e"]);
    let file =
        r#"{"name": "m", "plugins": [{"name": "p", "source": "./p"}, {"name": "q", "source": "./q"}]}"#;
    sandbox.write("../r/.claude-plugin/marketplace.json", file);
    sandbox.write("../r/p/.claude-plugin/plugin.json", r#"{"name": "p", "skills": ["./skills/a"]}"#);
    sandbox.ok(&["install", "--marketplace", "../r", "p"]);
    assert_eq!(installed(&sandbox), ["a"]);
    sandbox.ok(&["install", "--marketplace", "../r", "q"]);
    assert_eq!(installed(&sandbox), ["a", "d"]);
}

/// Who names a plugin gets all that is in it; who names none is asked.
#[test]
fn a_named_plugin_comes_whole() {
    let sandbox = source(&["p/skills/a", "p/skills/b", "q/skills/d"]);
    let file =
        r#"{"name": "m", "plugins": [{"name": "p", "source": "./p"}, {"name": "q", "source": "./q"}]}"#;
    sandbox.write("../r/.claude-plugin/marketplace.json", file);
    assert_eq!(sandbox.run(&["install", "--marketplace", "../r"]).code, Some(2));
    assert!(installed(&sandbox).is_empty());
    sandbox.ok(&["install", "--marketplace", "../r", "p", "--skill", "a"]);
    assert_eq!(installed(&sandbox), ["a"]);
    sandbox.ok(&["install", "--marketplace", "../r", "p"]);
    assert_eq!(installed(&sandbox), ["a", "b"]);
    sandbox.ok(&["install", "--marketplace", "../r", "*"]);
    assert_eq!(installed(&sandbox), ["a", "b", "d"]);
    // Of a marketplace with one plugin, that is not named.
    let file = r#"{"name": "m", "plugins": [{"name": "p", "source": "./p"}]}"#;
    sandbox.write("../r/.claude-plugin/marketplace.json", file);
    let output = sandbox.run(&["install", "--marketplace", "../r"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("2 skills; choose some with `--skill`:\n  a"), "{output}");
    assert!(output.stderr.contains("`skillpm install --marketplace ../r p --skill a`"), "{output}");
}

/// GitHub takes names in any case, so one repository is one source; what the manifest has stays.
#[test]
fn a_repository_in_another_case_is_the_same() {
    let (forge, sandbox) = kit();
    sandbox.ok(&["install", "acme/kit@docx"]);
    let before = sandbox.read("skillpm.toml");
    forge.redirect("/repos/ACME/Kit/commits/HEAD", &forge.url("/repos/acme/kit/commits/HEAD"));
    sandbox.ok(&["install", "ACME/Kit@docx"]);
    assert_eq!(sandbox.read("skillpm.toml"), before);
}

/// A repository that moved is followed, and its new name is told.
#[test]
fn a_repository_that_moved_is_followed() {
    let (forge, sandbox) = kit();
    for what in ["commits/HEAD", ""] {
        let (from, to) = (format!("/repos/old/name/{what}"), format!("/repos/acme/kit/{what}"));
        forge.redirect(from.trim_end_matches('/'), &forge.url(to.trim_end_matches('/')));
    }
    let commit = forge.repo("acme/kit").commit(&kit_tree());
    forge.redirect(
        &format!("/repos/old/name/zipball/{commit}"),
        &forge.url(&format!("/repos/acme/kit/zipball/{commit}")),
    );
    let told = |output: &Output| output.stderr.matches("`old/name` is now `acme/kit`").count();
    let first = sandbox.ok(&["install", "old/name", "--skill", "*"]);
    assert_eq!(told(&first), 1, "{first}");
    let again = sandbox.ok(&["install", "old/name", "--skill", "*"]);
    assert_eq!(told(&again), 0, "{again}");
}

/// What people type for a revision or a directory is understood, or answered with what to type.
#[test]
fn revisions_and_directories_as_people_type_them() {
    let (_forge, sandbox) = kit();
    sandbox.ok(&["install", "acme/kit@docx#main"]);
    sandbox.fails(&["install", "acme/kit@docx@1.2.0"], 2, "usage", &["acme/kit#1.2.0@docx"]);
    sandbox.fails(
        &["install", "xlsx@main"],
        2,
        "usage",
        &["owner/repo#main@xlsx", "search --skills-sh xlsx"],
    );
    sandbox.fails(&["install", "docx@main"], 2, "usage", &["acme/kit#main", "--skill docx"]);
    sandbox.fails(&["install", "acme/kit/docx"], 2, "usage", &["`acme/kit/skills/docx`"]);
}

#[test]
fn a_source_with_many_skills_says_how_to_choose() {
    let (_forge, sandbox) = kit();
    let output = sandbox.run(&["install", "acme/kit"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("`acme/kit` has 3 skills; choose some with `--skill`:"), "{output}");
    assert!(output.stderr.contains("`skillpm install acme/kit --skill docx`"), "{output}");
}

/// Over http anyone on the way can redirect a request.
#[test]
fn over_http_nobody_is_led_into_private_networks() {
    let forge = Forge::start();
    let sandbox = Sandbox::new();
    for to in [
        "http://169.254.169.254/x.zip",
        "http://10.0.0.1:1/x.zip",
        "https://192.168.3.4/x.zip",
        "http://[fe80::1]/x",
    ] {
        forge.redirect("/a.zip", to);
        let output = sandbox.run(&["install", &forge.url("/a.zip")]);
        assert_eq!(output.code, Some(4), "{output}");
        assert!(output.stderr.contains("which is in a private network"), "{output}");
    }
    let index = r#"{"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": [
        {"name": "pdf", "type": "archive", "description": "d", "url": "http://169.254.169.254/pdf.zip",
         "digest": "sha256:0000000000000000000000000000000000000000000000000000000000000000"}]}"#;
    forge.serve("/.well-known/agent-skills/index.json", index);
    let output = sandbox.run(&["install", &forge.url("")]);
    assert_eq!(output.code, Some(4), "{output}");
    assert!(output.stderr.contains("which is in a private network"), "{output}");
}

/// Each of many sources of a host that does not answer is no reason to wait once more.
#[test]
fn a_dead_host_is_asked_once() {
    let mut sandbox = Sandbox::new();
    let forge = Forge::start();
    sandbox.forge(&forge);
    for name in ["a", "b", "c", "d", "e", "f"] {
        forge.repo(&format!("acme/{name}")).commit(&Tree::new().skill("skills/x", name));
        sandbox.ok(&["install", &format!("acme/{name}")]);
    }
    sandbox.env("GITHUB_API_URL", "http://127.0.0.1:9");
    let output = sandbox.run(&["outdated"]);
    assert_eq!(output.code, Some(4), "{output}");
    assert_eq!(output.stderr.matches("retrying in").count(), 1, "{output}");
    assert_eq!(output.stderr.matches("failed to connect").count(), 2, "{output}");
    assert_eq!(output.stderr.matches("behind a proxy").count(), 1, "{output}");
}

/// What no chosen skill needs may be missing.
#[test]
fn a_repository_may_lack_what_is_not_installed() {
    let sandbox = Sandbox::new();
    let repo = GitRepo::new(&sandbox.root().join("r"));
    repo.commit(&kit_tree().file("skills/docx/big.bin", "lost"));
    let blob = repo.git(&["rev-parse", "HEAD:skills/docx/big.bin"]);
    let blob = blob.trim();
    std::fs::remove_file(repo.path().join(format!(".git/objects/{}/{}", &blob[..2], &blob[2..])))
        .expect("loose");
    sandbox.ok(&["install", "git+../r", "-s", "pdf"]);
    assert_eq!(installed(&sandbox), ["pdf"]);
    let output = sandbox.run(&["install", "git+../r", "-s", "docx"]);
    assert_ne!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("big.bin"), "{output}");
    assert_eq!(installed(&sandbox), ["pdf"]);
}

#[test]
fn a_head_that_cannot_be_read_is_told() {
    let sandbox = Sandbox::new();
    let repo = GitRepo::new(&sandbox.root().join("r"));
    repo.commit(&kit_tree());
    std::fs::write(repo.path().join(".git/HEAD"), "garbage").expect("writes");
    let output = sandbox.run(&["install", "git+../r", "-s", "pdf"]);
    assert!(output.stderr.contains("`HEAD` of `../r` cannot be read"), "{output}");
}

/// What is secret in an address belongs into the environment, and goes to that host alone.
#[test]
fn a_secret_query_is_told_and_can_come_from_the_environment() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    forge.serve("/pdf.md", skill("pdf"));
    let variable = format!("SKILLPM_QUERY_{}", forge.api_host().replace('.', "_").replace(':', "___"));
    let output = sandbox.ok(&["install", &forge.url("/pdf.md?sig=SECRET")]);
    assert!(output.stderr.contains(&format!("set `{variable}` to what follows `?`")), "{output}");
    for command in [
        &["list"][..],
        &["show", "pdf"],
        &["why", "pdf"],
        &["tree"],
        &["outdated"],
        &["install"],
        &["update"],
    ] {
        let shown = sandbox.run(command).to_string();
        assert!(!shown.contains("SECRET"), "{command:?}: {shown}");
    }
    assert!(!output.to_string().contains("SECRET"), "{output}");
    sandbox.env(&variable, "sig=SECRET");
    forge.clear_requests();
    let output = sandbox.ok(&["install", "--force", &forge.url("/pdf.md")]);
    assert!(!output.stderr.contains("is written into"), "{output}");
    assert_eq!(forge.asked(), ["/pdf.md?sig=SECRET"]);
    assert!(
        !sandbox.read("skillpm.toml").contains("SECRET") && !sandbox.read("skillpm.lock").contains("SECRET")
    );
}

#[test]
fn a_skill_that_moved_is_followed() {
    let (forge, sandbox) = kit();
    sandbox.ok(&["install", "acme/kit", "-s", "pdf"]);
    let tree = Tree::new().skill("skills/docs-pdf", "pdf").skill("skills/docx", "docx");
    forge.repo("acme/kit").commit(&tree);
    let output = sandbox.ok(&["outdated"]);
    assert!(output.stdout.contains(" moved "), "{output}");
    assert!(output.stderr.contains("`pdf` moved from `skills/pdf` to `skills/docs-pdf`"), "{output}");
    let output = sandbox.ok(&["update"]);
    assert!(
        output.stderr.contains("`pdf` moved from `skills/pdf` to `skills/docs-pdf` in `acme/kit`"),
        "{output}"
    );
    assert!(
        sandbox.read("skillpm.toml").contains("path = \"skills/docs-pdf\""),
        "{}",
        sandbox.read("skillpm.toml")
    );
    assert!(
        sandbox.read("skillpm.lock").contains("path = \"skills/docs-pdf\""),
        "{}",
        sandbox.read("skillpm.lock")
    );
    sandbox.ok(&["install", "--frozen"]);
    let output = sandbox.ok(&["outdated"]);
    assert!(output.stderr.contains("up to date"), "{output}");
    // Two of that name: nobody knows which of them it is.
    let tree = Tree::new().skill("a/pdf", "pdf").skill("b/pdf", "pdf").skill("skills/docx", "docx");
    forge.repo("acme/kit").commit(&tree.file("b/pdf/more.md", "x"));
    let output = sandbox.ok(&["outdated"]);
    assert!(output.stdout.contains("gone"), "{output}");
    let output = sandbox.run(&["update"]);
    assert_eq!(output.code, Some(2), "{output}");
}

#[test]
fn a_branch_that_is_gone_is_told_once() {
    let (forge, sandbox) = kit();
    let commit = forge.repo("acme/kit").commit(&kit_tree());
    forge.repo("acme/kit").branch("feat/x", &commit);
    sandbox.ok(&["install", "acme/kit", "--branch", "feat/x", "-s", "pdf", "docx"]);
    forge.repo("acme/kit").unbranch("feat/x");
    let output = sandbox.ok(&["outdated"]);
    let told = "`docx`, `pdf`: the branch `feat/x` of `acme/kit` no longer exists";
    assert_eq!(output.stderr.matches(told).count(), 1, "{output}");
    assert_eq!(output.stdout.matches("ref gone").count(), 2, "{output}");
    assert!(output.stderr.contains("`skillpm install --list acme/kit`"), "{output}");
    let output = sandbox.run(&["update"]);
    assert!(output.stderr.contains("the branch `feat/x` of `acme/kit` no longer exists"), "{output}");
}

#[test]
fn what_did_not_come_with_a_skill_is_told() {
    let (forge, sandbox) = kit();
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n", "a".repeat(64));
    let modules = "[submodule \"lib\"]\n\tpath = skills/pdf/lib\n\turl = https://h.example/lib.git\n";
    let tree = kit_tree().file("skills/pdf/model.bin", &pointer).file(".gitmodules", modules);
    forge.repo("acme/kit").commit(&tree);
    let output = sandbox.ok(&["install", "acme/kit", "-s", "pdf"]);
    assert!(output.stderr.contains("Git LFS keeps the content of `model.bin`"), "{output}");
    assert!(output.stderr.contains("`lib` belongs to another repository"), "{output}");
    let output = sandbox.ok(&["install", "acme/kit", "-s", "docx"]);
    assert!(!output.stderr.contains("incomplete"), "{output}");
    let repo = GitRepo::new(&sandbox.root().join("r"));
    repo.commit(&tree);
    let output = sandbox.ok(&["install", "--force", "git+../r", "-s", "pdf"]);
    assert!(output.stderr.contains("Git LFS keeps the content of `model.bin`"), "{output}");
}

/// A repository is read once, however many of its directories are named.
#[test]
fn many_directories_of_a_repository_are_one_request() {
    let (forge, sandbox) = kit();
    sandbox.ok(&["install", "acme/kit/skills/pdf", "acme/kit/skills/docx", "acme/kit/skills/xlsx"]);
    assert_eq!(installed(&sandbox), ["docx", "pdf", "xlsx"]);
    let asked = forge.requests().iter().filter(|request| request.path.contains("/commits/")).count();
    assert_eq!(asked, 1);
}

#[test]
fn without_a_network_it_is_told_what_is_missing() {
    let (_forge, sandbox) = kit();
    let output = sandbox.run(&["install", "acme/kit", "--offline"]);
    assert_eq!(output.code, Some(4), "{output}");
    assert!(
        output.stderr.contains("`acme/kit` is not in the store, and `--offline` forbids the network"),
        "{output}"
    );
}
