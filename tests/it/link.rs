//! Who sees what: agents in manifest and lockfile, `link` and `unlink`.

#![cfg(unix)]

use std::os::unix::fs::symlink;

use crate::support::Sandbox;

fn write_skill(sandbox: &Sandbox, name: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
    sandbox.write(&format!("src/{name}/SKILL.md"), text);
}

/// `docx` and `pdf`, installed with `args`.
fn installed(args: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["docx", "pdf"] {
        write_skill(&sandbox, name, "first");
    }
    sandbox.ok(&[&["install", "./src", "-s", "*"], args].concat());
    sandbox
}

/// The links and copies in the project's directories of agents.
fn seen(sandbox: &Sandbox) -> Vec<String> {
    let lines = sandbox.tree(&sandbox.project()).into_iter();
    lines
        .filter(|line| line.contains(" -> ") || line.contains("SKILL.md"))
        .filter(|l| !l.contains("src/"))
        .collect()
}

fn links(sandbox: &Sandbox) -> Vec<String> {
    let links = seen(sandbox).into_iter().filter_map(|line| Some(line.split_once(" -> ")?.0.to_owned()));
    links.collect()
}

/// The lines of the lockfile that name agents.
fn locked(sandbox: &Sandbox) -> String {
    let lock = sandbox.read("skillpm.lock");
    let told = |line: &&str| line.starts_with("name") || line.starts_with("agents");
    lock.lines().filter(told).collect::<Vec<_>>().join("\n")
}

/// Issue 4: agents that came later get links to everything, or to what is named; nothing else changes.
#[test]
fn the_page() {
    let sandbox = installed(&["-a", "claude-code"]);
    insta::assert_snapshot!(sandbox.run(&["link", "-a", "junie", "pdf"]), @"
    exit: 0
    --- stderr
    + pdf for junie
    1 skill linked for junie
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./src", subdir = "docx" }
    pdf = { path = "./src", subdir = "pdf", agents = ["claude-code", "junie"] }

    [agents]
    targets = ["claude-code"]
    "#);
    insta::assert_snapshot!(locked(&sandbox), @r#"
    name = "docx"
    agents = ["claude-code"]
    name = "pdf"
    agents = ["claude-code", "junie"]
    "#);
    insta::assert_snapshot!(sandbox.run(&["link", "-a", "windsurf", "--dry-run"]), @"
    exit: 0
    --- stdout
    would create .windsurf/skills/docx
    would replace skillpm.lock
    would replace skillpm.toml
    --- stderr
    nothing was changed: this was a dry run
    warning: `pdf` names its own agents and was left as is: name it to link it, as in `skillpm link --agent windsurf pdf`
    ");
    insta::assert_snapshot!(sandbox.run(&["link", "-a", "windsurf"]), @"
    exit: 0
    --- stderr
    + docx for windsurf
    1 skill linked for windsurf
    `skillpm.toml` and `skillpm.lock` changed: commit both
    warning: `pdf` names its own agents and was left as is: name it to link it, as in `skillpm link --agent windsurf pdf`
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./src", subdir = "docx" }
    pdf = { path = "./src", subdir = "pdf", agents = ["claude-code", "junie"] }

    [agents]
    targets = ["claude-code", "windsurf"]
    "#);
    insta::assert_snapshot!(seen(&sandbox).join("\n"), @"
    .claude/skills/docx -> ../../.agents/skills/docx
    .claude/skills/pdf -> ../../.agents/skills/pdf
    .junie/skills/pdf -> ../../.agents/skills/pdf
    .windsurf/skills/docx -> ../../.agents/skills/docx
    644 .agents/skills/docx/SKILL.md
    644 .agents/skills/pdf/SKILL.md
    ");
    insta::assert_snapshot!(sandbox.run(&["unlink", "-a", "claude-code", "docx"]), @"
    exit: 0
    --- stderr
    - docx for claude-code
    1 skill unlinked for claude-code
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
    insta::assert_snapshot!(sandbox.run(&["unlink", "-a", "claude-code"]), @"
    exit: 0
    --- stderr
    - pdf for claude-code
    1 skill unlinked for claude-code
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./src", subdir = "docx", agents = ["windsurf"] }
    pdf = { path = "./src", subdir = "pdf", agents = ["junie"] }

    [agents]
    targets = ["windsurf"]
    "#);
    insta::assert_snapshot!(sandbox.run(&["unlink", "-a", "junie", "-a", "windsurf"]), @"
    exit: 0
    --- stderr
    - docx for windsurf
    - pdf for junie
    2 skills unlinked for junie and windsurf
    `skillpm.toml` and `skillpm.lock` changed: commit both
    ");
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./src", subdir = "docx" }
    pdf = { path = "./src", subdir = "pdf" }

    [agents]
    targets = []
    "#);
    insta::assert_snapshot!(locked(&sandbox), @r#"
    name = "docx"
    name = "pdf"
    "#);
    assert_eq!(links(&sandbox), [""; 0]);
    insta::assert_snapshot!(sandbox.run(&["unlink", "-a", "junie"]), @"
    exit: 0
    --- stderr
    no link is left for junie
    ");
    // Nobody is nobody, also for a later installation on a machine with agents.
    std::fs::create_dir_all(sandbox.home().join(".claude")).expect("a directory");
    write_skill(&sandbox, "xlsx", "first");
    sandbox.ok(&["install", "./src/xlsx"]);
    assert_eq!(links(&sandbox), [""; 0]);
}

/// A plan says what each link will be, and the report has it for programs.
#[test]
fn the_report_for_programs() {
    let sandbox = installed(&["-a", "claude-code"]);
    sandbox.tells(
        &["link", "--agent", "junie", "pdf"],
        0,
        "skills: name agents; agents:",
        &["pdf claude-code,junie", "junie"],
    );
}

#[test]
fn the_scope_of_the_user() {
    let sandbox = installed(&["-g", "-a", "claude-code"]);
    sandbox.ok(&["link", "-g", "-a", "junie"]);
    let home: Vec<_> =
        sandbox.tree(&sandbox.home()).into_iter().filter(|line| line.contains(" -> ")).collect();
    insta::assert_snapshot!(home.join("\n"), @"
    .claude/skills/docx -> ../../.agents/skills/docx
    .claude/skills/pdf -> ../../.agents/skills/pdf
    .junie/skills/docx -> ../../.agents/skills/docx
    .junie/skills/pdf -> ../../.agents/skills/pdf
    ");
    assert_eq!(sandbox.run(&["link", "-a", "junie"]).code, Some(2), "nothing is installed in the project");
    sandbox.ok(&["unlink", "-g", "-a", "*"]);
    assert!(!sandbox.tree(&sandbox.home()).iter().any(|line| line.contains(" -> ")));
}

/// Issue 4: an update or a restore never adds an agent that nobody chose, whatever is on the machine.
#[test]
fn an_agent_that_appears_gets_nothing() {
    let sandbox = installed(&[]);
    assert_eq!(locked(&sandbox), "name = \"docx\"\nname = \"pdf\"");
    assert!(!sandbox.read("skillpm.toml").contains("[agents]"));
    for dir in [".claude", ".junie"] {
        std::fs::create_dir_all(sandbox.home().join(dir)).expect("a directory");
    }
    std::fs::create_dir(sandbox.project().join(".junie")).expect("a directory");
    write_skill(&sandbox, "pdf", "second");
    write_skill(&sandbox, "xlsx", "first");
    for args in [&["install"][..], &["install", "./src/pdf"], &["install", "./src/xlsx"]] {
        sandbox.ok(args);
        assert_eq!(links(&sandbox), [""; 0], "{args:?}");
    }
    // What is named is for the skill that is installed, and for no other.
    sandbox.ok(&["install", "./src/xlsx", "-a", "junie"]);
    assert_eq!(links(&sandbox), [".junie/skills/xlsx"]);
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./src", subdir = "docx" }
    pdf = { path = "./src/pdf" }
    xlsx = { path = "./src/xlsx", agents = ["junie"] }
    "#);
}

/// With a lockfile and nothing that says who, those that had links get them again and nobody else.
#[test]
fn the_lockfile_remembers_who() {
    let sandbox = installed(&["-a", "claude-code"]);
    sandbox.ok(&["link", "-a", "junie", "pdf"]);
    for dir in [".agents", ".claude", ".junie", "../home/.local"] {
        std::fs::remove_dir_all(sandbox.project().join(dir)).expect("removed");
    }
    std::fs::remove_file(sandbox.project().join("skillpm.toml")).expect("removed");
    std::fs::create_dir_all(sandbox.home().join(".codeium/windsurf")).expect("a directory");
    sandbox.ok(&["install", "--frozen"]);
    assert_eq!(links(&sandbox), [".claude/skills/docx", ".claude/skills/pdf", ".junie/skills/pdf"]);
    assert!(!sandbox.project().join("skillpm.toml").exists(), "a restore writes no manifest");
    // A change needs a manifest, which then names everything, so that nothing is dropped later.
    sandbox.tells(
        &["link", "-a", "windsurf"],
        0,
        "skills: name agents; agents:",
        &["docx claude-code,windsurf", "pdf claude-code,junie,windsurf", "windsurf"],
    );
    insta::assert_snapshot!(sandbox.read("skillpm.toml"), @r#"
    [skills]
    docx = { path = "./src", subdir = "docx" }
    pdf = { path = "./src", subdir = "pdf", agents = ["claude-code", "junie", "windsurf"] }

    [agents]
    targets = ["claude-code", "windsurf"]
    "#);
    sandbox.ok(&["install", "--locked"]);
    insta::assert_snapshot!(links(&sandbox).join("\n"), @"
    .claude/skills/docx
    .claude/skills/pdf
    .junie/skills/pdf
    .windsurf/skills/docx
    .windsurf/skills/pdf
    ");
}

/// Edits by hand: who is no longer named loses the link, and a list of its own wins over the default.
#[test]
fn the_manifest_decides() {
    let sandbox = installed(&["-a", "claude-code", "-a", "junie"]);
    let manifest = |agents: &str, pdf: &str| {
        format!(
            "[skills]\ndocx = {{ path = \"./src/docx\" }}\npdf = {{ path = \"./src/pdf\"{pdf} }}\n{agents}"
        )
    };
    for (agents, pdf, expected) in [
        ("[agents]\ntargets = [\"junie\"]\n", "", &[".junie/skills/docx", ".junie/skills/pdf"][..]),
        (
            "[agents]\ntargets = [\"junie\"]\n",
            ", agents = [\"claude\"]",
            &[".claude/skills/pdf", ".junie/skills/docx"],
        ),
        ("[agents]\ntargets = [\"junie\"]\n", ", agents = []", &[".junie/skills/docx"]),
        ("[agents]\ntargets = []\n", ", agents = [\"junie\"]", &[".junie/skills/pdf"]),
        // Silence changes nothing.
        ("", "", &[".junie/skills/pdf"]),
    ] {
        sandbox.write("skillpm.toml", manifest(agents, pdf));
        if pdf.is_empty() || agents.contains("[]") {
            sandbox.ok(&["install"]);
        } else {
            assert_eq!(sandbox.run(&["install", "--locked"]).code, Some(3), "the lockfile says who, too");
            sandbox.ok(&["install"]);
        }
        assert_eq!(links(&sandbox), expected, "{agents} {pdf}");
        assert_eq!(sandbox.read("skillpm.toml"), manifest(agents, pdf));
    }
    for (agents, pdf) in [("[agents]\ntargets = [\"juni\"]\n", ""), ("", ", agents = [\"juni\"]")] {
        sandbox.write("skillpm.toml", manifest(agents, pdf));
        let output = sandbox.run(&["install"]);
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.stderr.contains("did you mean `junie`?"), "{output}");
    }
    sandbox.write("skillpm.toml", manifest("", ""));
    let lock = sandbox.read("skillpm.lock").replace("[\"junie\"]", "[\"new-agent\"]");
    sandbox.write("skillpm.lock", &lock);
    sandbox.fails(&["install"], 3, "configuration", &["new-agent", "`pdf`"]);
}

/// Edited copies of agents are not lost, and an edited skill can be linked like any other.
#[test]
fn edits_stay() {
    let sandbox = installed(&["--copy", "-a", "claude-code"]);
    sandbox.write(".claude/skills/pdf/SKILL.md", "mine");
    sandbox.write(".agents/skills/docx/SKILL.md", "mine");
    let refused = sandbox.run(&["unlink", "-a", "claude-code"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains(".claude/skills/pdf` was edited"), "{refused}");
    sandbox.ok(&["link", "-a", "junie"]);
    assert_eq!(sandbox.read(".junie/skills/docx/SKILL.md"), "mine", "a copy says what a link would");
    let forced = sandbox.ok(&["unlink", "-a", "claude-code", "--force"]).to_string();
    assert!(forced.contains("your edited `pdf` was saved"), "{forced}");
    assert!(!sandbox.project().join(".claude/skills/pdf").exists());
    assert_eq!(sandbox.read(".agents/skills/docx/SKILL.md"), "mine");
}

/// What lies in an agent's directory and is not ours is in the way of a link and safe from `unlink`.
#[test]
fn what_is_not_ours_stays() {
    let sandbox = installed(&["-a", "claude-code"]);
    sandbox.write(".junie/skills/pdf/SKILL.md", "mine");
    sandbox.fails(&["link", "-a", "junie"], 1, "findings", &[".junie/skills/pdf", "--force"]);
    assert_eq!(links(&sandbox), [".claude/skills/docx", ".claude/skills/pdf"], "nothing was changed");
    sandbox.ok(&["unlink", "-a", "junie"]);
    assert_eq!(sandbox.read(".junie/skills/pdf/SKILL.md"), "mine");
    // A link that leads to itself stands for nothing, so it is in nobody's way.
    std::fs::remove_dir_all(sandbox.project().join(".junie/skills/pdf")).expect("removed");
    for target in ["pdf", "/nowhere"] {
        std::fs::create_dir_all(sandbox.project().join(".junie/skills")).expect("a directory");
        symlink(target, sandbox.project().join(".junie/skills/pdf")).expect("a link");
        let output = sandbox.run(&["link", "-a", "junie"]);
        assert_eq!(output.code, Some(i32::from(target == "/nowhere")), "{output}");
        sandbox.ok(&["unlink", "-a", "junie"]);
        if target == "/nowhere" {
            assert!(sandbox.project().join(".junie/skills/pdf").is_symlink());
        }
    }
}

/// Two agents with one directory: the link is there as long as one of them is to see the skill.
#[test]
fn agents_that_share_a_directory() {
    let sandbox = Sandbox::new();
    for dir in ["shared", ".claude", ".junie"] {
        std::fs::create_dir(sandbox.project().join(dir)).expect("a directory");
    }
    for dir in [".claude", ".junie"] {
        symlink("../shared", sandbox.project().join(dir).join("skills")).expect("a link");
    }
    write_skill(&sandbox, "pdf", "first");
    sandbox.ok(&["install", "./src/pdf", "-a", "claude-code", "-a", "junie"]);
    assert_eq!(locked(&sandbox), "name = \"pdf\"\nagents = [\"claude-code\", \"junie\"]");
    sandbox.ok(&["unlink", "-a", "claude-code"]);
    assert!(sandbox.project().join("shared/pdf").is_symlink());
    sandbox.ok(&["unlink", "-a", "junie"]);
    assert!(!sandbox.project().join("shared/pdf").is_symlink());
}

#[test]
fn bad_requests() {
    let sandbox = installed(&["-a", "claude-code"]);
    let before = sandbox.tree(&sandbox.project());
    for (args, code) in [
        (&["link", "pdf"][..], 2),
        (&["link", "-a", "clau-code"], 2),
        (&["link", "-a", "junie", "pfd"], 2),
        (&["unlink", "-a", "junie", "pdf", "x/../y"], 2),
        (&["link", "-a", "junie", "-g"], 2),
    ] {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(code), "{output}");
        assert!(output.stderr.contains("hint: "), "{output}");
    }
    sandbox.fails(&["link", "-a", "nope"], 2, "usage", &["nope", "skillpm agents --all"]);
    sandbox.tells(
        &["link", "-a", "codex"],
        0,
        "skills: name agents; agents:; warnings: code",
        &["docx claude-code", "pdf claude-code", "codex", "agent-needs-no-link"],
    );
    assert_eq!(sandbox.tree(&sandbox.project()), before);
    sandbox.ok(&["install"]);
    sandbox.write("skillpm.toml", "[skills]\npdf = { path = \"./src/pdf\" }\n");
    sandbox.fails(
        &["link", "-a", "junie", "docx"],
        3,
        "configuration",
        &["docx", "skillpm.toml", "skillpm install"],
    );
}
