//! Tests of the table of agents.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::*;
use crate::env::Env;
use crate::path::SafePath;

fn settings(vars: &[(&str, &str)]) -> Settings {
    let vars = vars.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
    Settings::from_env(Env { vars, ..Env::default() }).expect("valid")
}

fn agent(id: &str) -> &'static Agent {
    find(id).expect("in the table")
}

#[test]
fn the_table_is_whole_and_sorted_and_no_name_is_taken_twice() {
    let table = include_str!("../agents.tsv");
    assert_eq!(table.lines().next(), Some("id\tname\taliases\tproject_dirs\tuser_dirs\tdetect\talso_reads"));
    assert_eq!(all().len(), table.lines().count() - 1, "a row has another number of columns");
    assert!(all().is_sorted_by(|a, b| a.id < b.id), "sort the rows by id");
    let mut seen = BTreeSet::new();
    for name in all().iter().flat_map(Agent::names) {
        assert!(seen.insert(name), "`{name}` appears twice");
        assert!(
            name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b)),
            "{name}"
        );
    }
    for agent in all() {
        assert!(!agent.name.is_empty() && !agent.project_dirs.is_empty(), "{}", agent.id);
        for list in [&agent.project_dirs, &agent.user_dirs, &agent.detect, &agent.also_reads] {
            let unique: BTreeSet<_> = list.iter().collect();
            assert_eq!(unique.len(), list.len(), "{}: a path appears twice", agent.id);
        }
    }
}

#[test]
fn directories_are_safe_and_variables_declared() {
    let safe = |path: &str| {
        SafePath::new(path).is_ok_and(|path| !path.is_unportable())
            && path.chars().all(|c| c.is_ascii_graphic())
    };
    let mut used = BTreeSet::new();
    let mut of_machine = |agent: &Agent, path: &'static str| {
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        if let Some(variable) = first.strip_prefix('$') {
            assert!(env::VARIABLES.iter().any(|(name, _)| *name == variable), "declare {variable}");
            used.insert(variable);
            assert!(rest.is_empty() || safe(rest), "{}: {path}", agent.id);
        } else {
            assert!(matches!(first, "~" | "") && safe(rest), "{}: {path}", agent.id);
        }
    };
    for agent in all() {
        for dir in &agent.project_dirs {
            assert!(safe(dir), "{}: {dir}", agent.id);
        }
        for dir in &agent.user_dirs {
            assert!(!dir.starts_with('/'), "{}: {dir} is not the user's", agent.id);
            of_machine(agent, dir);
        }
        for path in &agent.detect {
            match path.strip_prefix("./") {
                Some(inside) => assert!(safe(inside), "{}: {path}", agent.id),
                None => of_machine(agent, path),
            }
        }
        for dir in &agent.also_reads {
            if dir.starts_with(['~', '$']) {
                of_machine(agent, dir);
            } else {
                assert!(safe(dir), "{}: {dir}", agent.id);
            }
        }
    }
    for agent in all() {
        let roots = rules::rules(agent.id).into_iter().flat_map(|rules| rules.roots);
        roots.filter(|root| root.at == rules::At::Machine).for_each(|root| of_machine(agent, root.dir));
    }
    let known: BTreeSet<_> = VARIABLES.iter().map(|(name, _)| *name).collect();
    assert_eq!(used, known, "the table and `VARIABLES` differ");
}

#[test]
fn the_most_used_agents() {
    let user = settings(&[("HOME", "/h")]);
    let cases = [
        ("amp", ".agents/skills", "/h/.config/agents/skills"),
        ("claude-code", ".claude/skills", "/h/.claude/skills"),
        ("cline", ".agents/skills", "/h/.agents/skills"),
        ("codex", ".agents/skills", "/h/.agents/skills"),
        ("cursor", ".agents/skills", "/h/.cursor/skills"),
        ("gemini-cli", ".agents/skills", "/h/.gemini/skills"),
        ("github-copilot", ".agents/skills", "/h/.copilot/skills"),
        ("goose", ".goose/skills", "/h/.config/goose/skills"),
        ("opencode", ".agents/skills", "/h/.config/opencode/skills"),
        ("roo", ".roo/skills", "/h/.roo/skills"),
        ("windsurf", ".windsurf/skills", "/h/.codeium/windsurf/skills"),
    ];
    for (id, project, home) in cases {
        assert_eq!(agent(id).project_dir(), project, "{id}");
        assert_eq!(agent(id).user_dir(&user), Some(PathBuf::from(home)), "{id}");
        let universal = project == CANONICAL_DIR || ["goose", "roo"].contains(&id);
        assert_eq!(agent(id).is_universal(), universal, "{id}");
    }
}

#[test]
fn two_tools_that_disagree_are_both_carried() {
    let user = settings(&[("HOME", "/h")]);
    let cases: [(&str, &[&str], &[&str]); 6] = [
        ("codex", &[".agents/skills", ".codex/skills"], &["/h/.agents/skills", "/h/.codex/skills"]),
        ("universal", &[".agents/skills"], &["/h/.config/agents/skills", "/h/.agents/skills"]),
        ("pi", &[".agents/skills", ".pi/skills"], &["/h/.agents/skills", "/h/.pi/agent/skills"]),
        ("droid", &[".agents/skills", ".factory/skills"], &["/h/.factory/skills"]),
        ("kilo", &[".agents/skills", ".kilocode/skills"], &["/h/.kilo/skills", "/h/.kilocode/skills"]),
        (
            "antigravity-cli",
            &[".agents/skills"],
            &["/h/.gemini/antigravity-cli/skills", "/h/.antigravity/skills"],
        ),
    ];
    for (id, project, home) in cases {
        assert_eq!(agent(id).project_dirs, project, "{id}");
        assert!(agent(id).user_dirs(&user).eq(home.iter().map(PathBuf::from)), "{id}");
    }
}

/// What the rules say that an agent reads of the canonical copies, the table says too: it decides who needs a link.
#[test]
fn the_table_and_the_rules_agree_on_the_canonical_copies() {
    let mut wrong = Vec::new();
    let user = settings(&[("HOME", "/h")]);
    let canonical = PathBuf::from("/h").join(CANONICAL_DIR);
    for agent in all() {
        let Some(rules) = rules::rules(agent.id).filter(|rules| rules.evidence != rules::Evidence::Described)
        else {
            continue;
        };
        let of_user = rules.roots.iter().any(|root| root.dir == "~/.agents/skills");
        let of_project = rules.roots.iter().any(|root| root.dir == CANONICAL_DIR);
        let known_of_user = agent.is_universal()
            || agent.user_dirs(&user).chain(agent.shared_user_dirs(&user)).any(|dir| dir == canonical);
        let known_of_project = agent.project_dirs.contains(&CANONICAL_DIR)
            || agent.shared_project_dirs().any(|dir| dir == CANONICAL_DIR);
        if of_user && !known_of_user || of_project && !known_of_project {
            wrong.push(agent.id);
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// The table that ours was merged from lists every agent of every tool, with every directory.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test data is outside of the package")]
fn every_agent_of_the_other_tools_is_carried() {
    let process = Env::from_process().expect("a working directory");
    let Some(data) = process.get("SKILLPM_TESTDATA") else {
        println!("skipped: SKILLPM_TESTDATA is not set");
        return;
    };
    let path = Path::new(data).join("../agents.tsv");
    let table = std::fs::read_to_string(&path).expect("the table of the other tools");
    let user = settings(&[("HOME", "/h")]);
    let mut rows = 0;
    for line in table.lines().skip(1) {
        let columns: Vec<_> = line.split('\t').collect();
        let [source, id, _, project, home, .., notes] = columns[..] else {
            panic!("a row of another shape: {line}");
        };
        let agent = find(id).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert!(agent.project_dirs.contains(&project), "{source}, {id}: {project}");
        if !home.starts_with("N/A") {
            let home = PathBuf::from(home.replacen('~', "/h", 1));
            let ours: Vec<_> = agent.user_dirs(&user).collect();
            assert!(ours.contains(&home), "{source}, {id}: {} not in {ours:?}", home.display());
        }
        for alias in notes.split("; ").filter_map(|note| note.strip_prefix("aliases: ")) {
            for alias in alias.split(',') {
                find(alias).unwrap_or_else(|error| panic!("{source}, {id}: {error}"));
            }
        }
        rows += 1;
    }
    assert!(rows > 200, "only {rows} rows");
}

/// The notes of the other tools list the directories that an agent scans besides its own.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test data is outside of the package")]
fn every_directory_that_an_agent_scans_too_is_carried() {
    let process = Env::from_process().expect("a working directory");
    let Some(data) = process.get("SKILLPM_TESTDATA") else {
        println!("skipped: SKILLPM_TESTDATA is not set");
        return;
    };
    let table = std::fs::read_to_string(Path::new(data).join("../agents.tsv")).expect("the table");
    let user = settings(&[("HOME", "/h")]);
    let mut scanned = 0;
    for line in table.lines().skip(1) {
        let columns: Vec<_> = line.split('\t').collect();
        let (agent, notes) = (agent(columns[1]), columns[columns.len() - 1]);
        for note in notes.split("; ") {
            let of_project = note.strip_prefix("also scans project: ");
            let dirs = of_project.or_else(|| note.strip_prefix("also scans global: ")).unwrap_or_default();
            for dir in dirs.split(',').filter(|dir| !dir.is_empty()) {
                let path = PathBuf::from(dir.replacen('~', "/h", 1));
                let known = if of_project.is_some() {
                    agent.project_dirs.contains(&dir) || agent.shared_project_dirs().any(|own| own == dir)
                } else {
                    agent.user_dirs(&user).chain(agent.shared_user_dirs(&user)).any(|own| own == path)
                };
                assert!(known, "{}: {dir}", agent.id);
                scanned += 1;
            }
        }
    }
    assert!(scanned > 15, "only {scanned} directories");
}

#[test]
fn directories_that_are_read_too() {
    let user = settings(&[("HOME", "/h")]);
    let project = |id| agent(id).shared_project_dirs().collect::<Vec<_>>();
    assert_eq!(project("cursor"), [".claude/skills", ".codex/skills"]);
    assert_eq!(project("github-copilot"), [".claude/skills"]);
    assert_eq!(project("goose"), [".claude/skills", ".agents/skills"]);
    assert!(project("claude-code").is_empty());
    let home =
        |id| agent(id).shared_user_dirs(&user).map(|dir| dir.display().to_string()).collect::<Vec<_>>();
    assert_eq!(home("cursor"), ["/h/.agents/skills", "/h/.claude/skills", "/h/.codex/skills"]);
    assert_eq!(home("amp"), ["/h/.claude/skills"]);
}

#[test]
fn signs_say_why_an_agent_counts_as_here() {
    let user = settings(&[("HOME", "/h")]);
    let there = [Path::new("/p/.jazz"), Path::new("/h/.jazz")];
    let signs = agent("jazz").signs(&user, Path::new("/p"), &|path| there.contains(&path));
    assert_eq!(signs, [Path::new("/h/.jazz"), Path::new("/p/.jazz")]);
}

#[test]
fn variables_move_directories_and_need_no_home() {
    let dir = |id, vars| agent(id).user_dir(&settings(vars));
    assert_eq!(dir("claude-code", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")]), Some("/c/skills".into()));
    assert_eq!(dir("claude-code", &[("CLAUDE_CONFIG_DIR", "/c")]), Some("/c/skills".into()));
    assert_eq!(
        dir("claude-code", &[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "relative")]),
        Some("/h/.claude/skills".into())
    );
    assert_eq!(dir("goose", &[("XDG_CONFIG_HOME", "/x")]), Some("/x/goose/skills".into()));
    assert_eq!(dir("goose", &[]), None, "no home, no directory");
    assert_eq!(dir("eve", &[("HOME", "/h")]), None, "an agent that only knows projects");
}

#[test]
fn detection_looks_where_the_table_says() {
    let user = settings(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/x"), ("APPDATA", "/a")]);
    let detected = |id, path: &str| agent(id).detected(&user, Path::new("/p"), &|p| p == Path::new(path));
    assert!(detected("claude-code", "/h/.claude"));
    assert!(detected("goose", "/x/goose"));
    assert!(!detected("goose", "/h/.config/goose"));
    assert!(detected("codex", "/etc/codex"));
    assert!(detected("replit", "/p/.replit"));
    assert!(detected("zed", "/a/Zed"));
    assert!(!agent("universal").detected(&user, Path::new("/p"), &|_| true));
    let homeless = settings(&[]);
    assert!(!agent("zed").detected(&homeless, Path::new("/p"), &|_| true));
}

#[test]
fn a_home_of_an_older_name_is_served() {
    let user = settings(&[("HOME", "/h")]);
    let dir = |root: &str| agent("openclaw").present_user_dir(&user, &|path| path == Path::new(root));
    assert_eq!(dir("/h/.clawdbot"), Some("/h/.clawdbot/skills".into()));
    assert_eq!(dir("/nothing"), Some("/h/.openclaw/skills".into()));
}

#[test]
fn links_in_a_project() {
    let nothing = Presence::default();
    let named = Presence { named: true, ..nothing };
    let rooted = Presence { root_exists: true, ..nothing };
    let detected = Presence { detected: true, ..nothing };
    let wanted = |id, presence| agent(id).project_link_wanted(presence);

    assert!(wanted("claude-code", detected), "by default");
    assert!(!wanted("claude-code", nothing), "it is not used here");
    assert!(!wanted("junie", nothing));
    assert!(!wanted("junie", detected), "it is on the machine, not in this project");
    assert!(wanted("junie", rooted));
    assert!(wanted("junie", named));
    for presence in [named, rooted, detected] {
        assert!(!wanted("codex", presence), "the canonical copy serves it");
    }
    for id in ["astrbot", "letta"] {
        assert!(!wanted(id, rooted), "{id}: its directory has a name that anyone may use");
        assert!(wanted(id, Presence { detected: true, ..rooted }), "{id}");
        assert!(wanted(id, named), "{id}");
    }
}

#[test]
fn links_for_the_user() {
    let named = Presence { named: true, ..Presence::default() };
    let detected = Presence { detected: true, ..Presence::default() };
    let rooted = Presence { root_exists: true, ..Presence::default() };
    for (id, presence, wanted) in [
        ("claude-code", detected, true),
        ("claude-code", named, true),
        ("claude-code", rooted, false),
        ("cursor", named, false), // universal: `~/.agents/skills` alone
        ("cursor", detected, false),
        ("eve", named, false), // has no directory of the user
    ] {
        assert_eq!(agent(id).user_link_wanted(presence), wanted, "{id}, {presence:?}");
    }
}

#[test]
fn presence_asks_for_the_machine_and_the_project() {
    let user = settings(&[("HOME", "/h")]);
    let there = ["/p/.junie", "/h/.junie"].map(Path::new);
    let presence = agent("junie").presence(&user, Path::new("/p"), false, &|path| there.contains(&path));
    assert_eq!(presence, Presence { named: false, detected: true, root_exists: true });
}

#[test]
fn names_are_found_and_mistakes_understood() {
    assert_eq!(agent("claude").id, "claude-code");
    assert_eq!(agent(" Claude-Code ").id, "claude-code");
    assert_eq!(agent("copilot").id, "github-copilot");
    let closest = |given: &str| find(given).expect_err("unknown").closest;
    assert_eq!(closest("cluade-code"), Some("claude-code"));
    assert_eq!(closest("windsurfer"), Some("windsurf"));
    assert_eq!(closest("gemni"), Some("gemini-cli"));
    assert_eq!(closest(""), None);
    assert_eq!(closest("qqqq"), None);
}

#[test]
fn project_directories_for_discovery() {
    let dirs: Vec<_> = project_dirs().to_vec();
    assert_eq!(dirs[0], CANONICAL_DIR);
    assert!(dirs[1..].is_sorted_by(|a, b| a < b), "sorted, each once");
    for dir in [".claude/skills", ".github/skills", ".codex/skills", ".opencode/skill", "skills"] {
        assert!(dirs.contains(&dir), "{dir}");
    }
}

#[test]
fn the_reference_page_shows_this_table() {
    let code = |items: &[&str]| items.iter().map(|i| format!("`{i}`")).collect::<Vec<_>>().join(", ");
    let mut page = String::from(
        "| id | agent | other names | in a project | for the user | found by | reads too |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for agent in all() {
        let cells = [
            code(&[agent.id]),
            agent.name.to_owned(),
            code(&agent.aliases),
            code(&agent.project_dirs),
            code(&agent.user_dirs),
            code(&agent.detect),
            code(&agent.also_reads),
        ];
        writeln!(page, "| {} |", cells.join(" | ")).expect("a string takes all");
    }
    skillpm_testing::check_reference("agents.md", &page);
}
