//! Claude Code, whose program is not opened, and the rules of all others. Codex, Gemini and OpenCode are held against their
//! programs by `tests/slow/listings`.

use super::*;
use crate::agents;
use crate::engine::testing::World;

/// A world with skills of these directories, texts and descriptions.
fn skill(world: &World, dir: &str, frontmatter: &str) {
    world.write(&format!("{dir}/SKILL.md"), &format!("---\n{frontmatter}\n---\n\n# Title\n"));
}

fn listed(world: &World, agent: &str, window: Option<u64>) -> Listing {
    let context = world.context();
    let agent = agents::find(agent).expect("an agent");
    let asked = Asked { settings: &context.settings, project: world.project(), window };
    listing(agent, asked).expect("rules")
}

/// The names with their states, without those that are whole.
fn states(listing: &Listing) -> Vec<String> {
    let told = listing.entries.iter().filter(|entry| entry.state != State::Whole);
    told.map(|entry| match &entry.state {
        State::Hidden(why) | State::NotLoaded(why) => format!("{}: {why}", entry.name),
        State::Shadowed(by) => {
            format!("{}: {}", entry.name, by.strip_prefix(world_root(by)).unwrap_or(by).display())
        }
        state => format!("{}: {state:?}", entry.name),
    })
    .collect()
}

/// The part of a path before the home or the project.
fn world_root(path: &Path) -> &Path {
    path.ancestors()
        .find(|dir| dir.ends_with("home") || dir.ends_with("project"))
        .and_then(Path::parent)
        .unwrap_or(path)
}

/// SEE: the personal skill wins over that of the project, the directory's name counts, and what is missing is taken from
/// the body.
#[test]
fn claude_code_takes_the_user_s_skill() {
    let world = World::new();
    skill(&world, "../home/.claude/skills/pdf", "name: other\ndescription: Mine.");
    skill(&world, ".claude/skills/pdf", "description: Ours.");
    skill(&world, ".claude/skills/plain", "license: MIT");
    skill(&world, ".claude/skills/when", "description: Does it.\nwhen_to_use: Use it now.");
    skill(&world, ".agents/skills/unseen", "description: Not read.");
    world.write(".claude/skills/broken/SKILL.md", "---\n: [\n---\n");
    let listing = listed(&world, "claude-code", None);
    assert_eq!(
        listing.text.as_deref(),
        Some("- pdf: Mine.\n- broken\n- plain: Title\n- when: Does it. - Use it now.")
    );
    assert_eq!(states(&listing), ["broken: NameOnly", "pdf: home/.claude/skills/pdf/SKILL.md"]);
    assert_eq!((listing.budget, listing.window, listing.used), (Some(8_000), Some(200_000), Some(67)));
}

/// What hides a skill: fields, and settings of four places, of which a later one wins.
#[test]
fn claude_code_hides_what_settings_say() {
    let world = World::new();
    for (name, more) in [
        ("command", "\ndisable-model-invocation: yes"),
        ("paths", "\npaths: src/**"),
        ("named", ""),
        ("off", ""),
        ("back", ""),
        ("denied", ""),
        ("people", "\nuser-invocable: false"),
    ] {
        skill(&world, &format!(".claude/skills/{name}"), &format!("description: Text.{more}"));
    }
    let user = r#"{"skillOverrides": {"off": "off", "back": "off"}, "permissions": {"deny": ["Skill(denied *)", "Bash"]}}"#;
    world.write("../home/.claude/settings.json", user);
    let local = r#"{"skillOverrides": {"named": "name-only", "back": "on"}}"#;
    world.write(".claude/settings.local.json", local);
    let listing = listed(&world, "claude-code", None);
    assert_eq!(listing.text.as_deref(), Some("- back: Text.\n- named\n- people: Text."));
    let settings = world.home().join(".claude/settings.json");
    let expected = [
        "named: NameOnly".to_owned(),
        "command: its frontmatter says `disable-model-invocation: yes`".to_owned(),
        format!("denied: `permissions.deny: Skill(denied *)` in `{}` says so", settings.display()),
        format!("off: `skillOverrides.off` in `{}` says so", settings.display()),
        "paths: listed once a file that matches `paths` is read".to_owned(),
    ];
    assert_eq!(states(&listing), expected);
    world.write(".claude/settings.json", "{");
    let listing = listed(&world, "claude-code", None);
    assert_eq!(listing.problems.len(), 1);
    assert!(listing.problems[0].to_string().contains("line 1, column 1"), "{}", listing.problems[0]);
}

/// Descriptions are whole or left out, a later one may still fit, and 1,536 characters are the most.
#[test]
fn claude_code_fits_descriptions() {
    let world = World::new();
    let long = "x".repeat(2000);
    for (name, text) in [("a", "y".repeat(30)), ("b", long), ("c", "z".repeat(10))] {
        skill(&world, &format!(".claude/skills/{name}"), &format!("description: {text}"));
    }
    let whole = listed(&world, "claude-code", None);
    assert_eq!(
        whole.entries.iter().map(|entry| &entry.state).collect::<Vec<_>>(),
        [&State::Whole, &State::Cut(1536), &State::Whole]
    );
    assert_eq!(whole.used, Some(35 + 5 + 1536 + 15 + 2));
    assert!(whole.text.is_some_and(|text| text.contains(&format!("- b: {}…\n", "x".repeat(1535)))));
    // 1 % of 1,500 tokens are 60 characters: 11 for the names and line ends, 32 for `a`, 12 for `c`, and never `b`.
    let short = listed(&world, "claude-code", Some(1500));
    assert_eq!((short.budget, short.used, short.lacking.clone()), (Some(60), Some(55), 1..=1));
    assert_eq!(states(&short), ["b: NameOnly"]);
    assert_eq!(short.entries[1].why, Some(Why::NoRoom));
    // With 20 less there is room for `a` or for `c`, and only the agent knows which is used more.
    let shorter = listed(&world, "claude-code", Some(1100));
    assert_eq!((shorter.used, shorter.text, shorter.lacking), (None, None, 2..=2));
    let in_doubt = shorter.entries.iter().filter(|entry| entry.state == State::Uncertain);
    assert_eq!(in_doubt.map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    let settings = r#"{"skillListingBudgetFraction": 0.001, "skillListingMaxDescChars": 12}"#;
    world.write(".claude/settings.json", settings);
    let little = listed(&world, "claude-code", None);
    assert_eq!((little.budget, little.used), (Some(800), Some(17 + 17 + 15 + 2)));
}

/// Skills of an enabled plugin have its name before theirs, and settings for single skills are not about them.
#[test]
fn claude_code_names_plugins() {
    let world = World::new();
    let plugin = world.home().join(".claude/plugins/cache/market/kit/1.0");
    skill(&world, "../home/.claude/plugins/cache/market/kit/1.0/skills/dir", "name: pdf\ndescription: Text.");
    let installed = format!(
        r#"{{"version": 2, "plugins": {{"kit@market": [{{"scope": "user", "installPath": "{}"}}], "off@market": []}}}}"#,
        plugin.display()
    );
    world.write("../home/.claude/plugins/installed_plugins.json", &installed);
    assert_eq!(listed(&world, "claude-code", None).text.as_deref(), Some(""));
    let settings = r#"{"enabledPlugins": {"kit@market": true}, "skillOverrides": {"kit:pdf": "off"}}"#;
    world.write("../home/.claude/settings.json", settings);
    let listing = listed(&world, "claude-code", None);
    assert_eq!(listing.text.as_deref(), Some("- kit:pdf: Text."));
    assert_eq!(listing.entries[0].owner, Owner::Plugin);
}

/// Each agent has its own winner among equal names, and one has none.
#[test]
fn equal_names() {
    let world = World::new();
    for dir in [".agents", ".claude", ".goose", "../home/.agents", "../home/.claude"] {
        skill(&world, &format!("{dir}/skills/pdf"), &format!("name: pdf\ndescription: In {dir}."));
    }
    let winner = |agent: &str| {
        let listing = listed(&world, agent, None);
        let is_listed = |state: &State| matches!(state, State::Whole | State::NameOnly);
        let listed = listing.entries.iter().filter(|entry| is_listed(&entry.state));
        listed
            .filter(|entry| entry.owner != Owner::BuiltIn)
            .map(|entry| entry.description.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(winner("claude-code"), ["In ../home/.claude."]);
    assert_eq!(winner("goose"), ["In .agents."]);
    assert_eq!(winner("zed"), ["In .agents."]);
    assert_eq!(winner("cline"), ["In ../home/.agents."]);
    assert_eq!(winner("codex"), ["In .agents.", "In ../home/.agents."]);
    assert_eq!(winner("opencode"), [""; 0], "nobody can say which");
    let contested = listed(&world, "opencode", None);
    assert!(
        contested
            .entries
            .iter()
            .all(|entry| matches!(&entry.state, State::Contested(others) if others.len() == 3))
    );
    let context = world.context();
    let asked = Asked { settings: &context.settings, project: world.project(), window: None };
    assert!(listing(agents::find("cursor").expect("an agent"), asked).is_none(), "nobody knows");
}

/// Files that some agents load and others do not.
#[test]
fn what_does_not_load() {
    let world = World::new();
    skill(&world, ".agents/skills/none", "name: none");
    skill(&world, ".agents/skills/other", "name: named-so\ndescription: Text.");
    skill(&world, ".agents/skills/Odd", "name: Odd\ndescription: Text.");
    world.write(".agents/skills/bare/SKILL.md", "# Bare\n");
    let of = |agent: &str| states(&listed(&world, agent, None));
    assert_eq!(
        of("zed"),
        [
            "Odd: `Odd` is not a name that it takes",
            "bare: it does not begin with a line `---`, or no such line follows",
            "none: it has no description"
        ]
    );
    assert_eq!(
        of("crush"),
        [
            "bare: it does not begin with a line `---`, or no such line follows",
            "none: it has no description",
            "other: its name `named-so` is not that of its directory"
        ]
    );
    let lenient = listed(&world, "openhands", None);
    assert!(
        lenient.entries.iter().all(|entry| !matches!(entry.state, State::NotLoaded(_))),
        "it loads everything"
    );
}

/// The ways to fit of the agents whose sources were read.
#[test]
fn other_budgets() {
    let world = World::new();
    for at in 0..200 {
        let dir = format!(".agents/skills/skill-{at:03}");
        let text = format!("First line {}.\\nSecond line.", "x".repeat(400));
        skill(&world, &dir, &format!("name: skill-{at:03}\ndescription: \"{text}\""));
    }
    let count = |agent: &str, is: fn(&State) -> bool| {
        let listing = listed(&world, agent, None);
        assert!(
            listing.used <= listing.budget.or(listing.used) || agent == "qwen-code",
            "{agent}: {:?}",
            listing.used
        );
        listing.entries.iter().filter(|entry| is(&entry.state)).count()
    };
    let (cut, omitted) =
        (|state: &State| matches!(state, State::Cut(_)), |state: &State| *state == State::Omitted);
    // Long paths leave room for fewer than 150.
    assert!(count("openclaw", omitted) >= 50);
    assert_eq!(count("openclaw", |state| *state == State::Whole), 0);
    assert_eq!(count("qwen-code", cut), 200);
    assert_eq!(count("zed", |state| *state == State::Whole), 50 * 1024 / (9 + 425));
    assert_eq!(count("goose", |state| *state == State::Whole), 200);
}

/// Links that lead back make no list of thousands of paths.
#[cfg(unix)]
#[test]
fn links_that_lead_back() {
    let world = World::new();
    skill(&world, ".claude/skills/x", "name: x\ndescription: Text.");
    for name in ["a", "b"] {
        world.link(".", &format!(".claude/skills/x/{name}"));
    }
    let listing = listed(&world, "opencode", None);
    assert_eq!(listing.entries.len(), 1);
    for at in 0..40 {
        skill(&world, &format!(".claude/skills/y{at}"), "name: y\ndescription: Text.");
    }
    let most = |entry: &ListingEntry| match &entry.state {
        State::Contested(others) => others.len(),
        _ => 0,
    };
    assert_eq!(listed(&world, "opencode", None).entries.iter().map(most).max(), Some(MOST_OTHERS));
}

/// A listing that is switched off is empty, and the setting that does it is named.
#[test]
fn switched_off() {
    let world = World::new();
    skill(&world, "../home/.agents/skills/pdf", "name: pdf\ndescription: Text.");
    world.write("../home/.gemini/settings.json", r#"{"skills": {"enabled": false}}"#);
    world.write("../home/.codex/config.toml", "[skills]\ninclude_instructions = false\n");
    world.write("../home/.config/opencode/opencode.json", r#"{"permission": {"skill": "deny"}}"#);
    for (agent, key) in [
        ("gemini-cli", "skills.enabled"),
        ("codex", "skills.include_instructions"),
        ("opencode", "permission.skill"),
    ] {
        let listing = listed(&world, agent, None);
        assert_eq!(listing.text.as_deref(), Some(""), "{agent}");
        // Codex lists its own skills first.
        let states = states(&listing);
        let last = states.last().expect("a skill");
        assert!(last.starts_with(&format!("pdf: `{key}` in `")), "{states:?}");
    }
}

/// `.claude/commands` are listed like skills, which win over them; what a setting takes has its reason.
#[test]
fn claude_code_lists_commands() {
    let world = World::new();
    skill(&world, ".claude/skills/deploy", "description: The skill.\nwhen_to_use: Now.");
    world.write(".claude/commands/deploy.md", "The command.\n");
    world.write(".claude/commands/review.md", "---\ndescription: Reviews.\n---\nDo.\n");
    world.write(".claude/commands/deep/nested.md", "Not looked at.\n");
    world.write("../home/.claude/commands/review.md", "# Mine\n");
    world.write("../home/.claude/commands/notes.txt", "no command\n");
    world.write(".claude/settings.json", r#"{"skillOverrides": {"deploy": "name-only"}}"#);
    let listing = listed(&world, "claude-code", None);
    assert_eq!(listing.text.as_deref(), Some("- deploy\n- review: Mine"));
    assert_eq!(listing.entries[0].description, "The skill. - Now.");
    assert!(
        matches!(&listing.entries[0].why, Some(Why::Setting { key, .. }) if key == "skillOverrides.deploy")
    );
    assert_eq!(listing.entries.iter().filter(|one| matches!(one.state, State::Shadowed(_))).count(), 2);
}

/// What differs from agent to agent: names in any case, bodies, orders, forms.
#[test]
fn oddities() {
    let world = World::new();
    skill(&world, ".cline/skills/one", "name: PDF\ndescription: Ours.");
    skill(&world, "../home/.cline/skills/two", "name: pdf\ndescription: Yours.");
    world.write(".cline/skills/empty/SKILL.md", "---\nname: empty\n---\n");
    let cline = listed(&world, "cline", None);
    assert_eq!(cline.text.as_deref(), Some("Available skills: pdf."));
    assert_eq!(cline.entries[0].description, "Yours.");
    assert!(states(&cline).contains(&"empty: it has no text below the frontmatter".to_owned()));
    let context = world.context();
    let asked = Asked { settings: &context.settings, project: world.project(), window: None };
    assert!(listing(agents::find("deepagents").expect("an agent"), asked).is_none(), "it has no directories");
    skill(&world, ".qwen/skills/q", "name: q\ndescription: Asks.\nwhen_to_use: Ever.");
    let qwen = listed(&world, "qwen-code", None);
    let block = "<skill>\n<name>\nq\n</name>\n<description>\nAsks. — Ever. (project)\n</description>\n\
                 <location>\nproject\n</location>\n</skill>\n";
    assert_eq!((qwen.used, qwen.text), (Some(block.chars().count() as u64), None));
    skill(&world, ".agents/skills/Z", "name: Z\ndescription: Last.");
    skill(&world, ".agents/skills/a", "name: a\ndescription: First.");
    let names = |agent: &str| {
        let listing = listed(&world, agent, None);
        assert_eq!((listing.text, listing.used.is_some()), (None, agent != "crush"), "{agent}");
        listing.entries.into_iter().map(|entry| entry.name).collect::<Vec<_>>()
    };
    assert_eq!(names("goose"), ["Z", "a"], "by bytes");
    assert_eq!(names("openclaw"), ["a", "Z"], "by language");
    assert_eq!(names("crush"), ["a", "Z"], "by path");
    world.write(".agents/skills/bare/SKILL.md", "First line,\nsecond line.\n");
    let openhands = listed(&world, "openhands", None);
    assert!(openhands.entries.iter().any(|entry| entry.description == "First line,"));
}

/// Kilo Code takes the last that it reads, and reads directory by directory.
#[test]
fn kilo_reads_directory_by_directory() {
    let world = World::new();
    let mut context = world.context();
    world.write(".git/HEAD", "ref: refs/heads/main\n");
    for dir in [".agents", "sub/.claude", "sub/.agents", ".claude"] {
        skill(&world, &format!("{dir}/skills/pdf"), &format!("name: pdf\ndescription: In {dir}."));
    }
    context.settings.cwd = world.project().join("sub");
    let asked = Asked { settings: &context.settings, project: world.project(), window: None };
    let kilo = listing(agents::find("kilo").expect("an agent"), asked).expect("rules");
    assert_eq!(kilo.entries[0].description, "In .agents.");
    let dirs: Vec<_> = precedence(agents::find("kilo").expect("an agent"), asked).expect("a last one");
    let at = |dir: &str| dirs.iter().position(|(path, _)| *path == world.project().join(dir)).expect(dir);
    assert!(at(".agents/skills") < at(".claude/skills") && at(".claude/skills") < at("sub/.agents/skills"));
    let zed = listing(agents::find("zed").expect("an agent"), asked).expect("rules");
    assert_eq!(zed.entries[0].description, "In .agents.", "an editor reads the folder that is open");
}

/// A file that is found in two ways is one skill, and nothing is in doubt but its path.
#[cfg(unix)]
#[test]
fn one_file_in_two_directories() {
    let world = World::new();
    skill(&world, ".agents/skills/pdf", "name: pdf\ndescription: Text.");
    world.link("../../.agents/skills/pdf", ".claude/skills/pdf");
    let listing = listed(&world, "opencode", None);
    assert_eq!((listing.entries.len(), &listing.entries[0].state, listing.text), (1, &State::Whole, None));
}

/// The names of what is not hidden, in the order of the listing.
fn names(listing: &Listing) -> Vec<&str> {
    let listed = listing.entries.iter().filter(|entry| matches!(entry.state, State::Whole | State::Cut(_)));
    listed.map(|entry| entry.name.as_str()).collect()
}

/// Codex writes its own skills when it starts, unless those on the disk are of its making.
#[test]
fn codex_s_own_skills() {
    let world = World::new();
    skill(&world, "../home/.codex/skills/.system/mine", "name: mine\ndescription: Text.");
    let fresh = listed(&world, "codex", None);
    assert_eq!(names(&fresh), ["imagegen", "openai-docs", "skill-creator", "skill-installer"]);
    let root = world.home().join(".codex/skills/.system");
    assert_eq!(fresh.entries[0].file, root.join("imagegen/SKILL.md"));
    assert!(fresh.entries.iter().all(|entry| entry.owner == Owner::BuiltIn && entry.size > 0));
    world.write("../home/.codex/skills/.system/.codex-system-skills.marker", "any\n");
    assert_eq!(names(&listed(&world, "codex", None)), ["mine"]);
    world.write("../home/.codex/config.toml", "[skills.bundled]\nenabled = false\n");
    assert_eq!(listed(&world, "codex", None).entries, []);
}

/// Which field of `agents/openai.yaml` hides a skill, and that a file with an error hides none.
#[test]
fn codex_says_which_field_hides() {
    let world = World::new();
    world.write("../home/.codex/config.toml", "[skills.bundled]\nenabled = false\n");
    for (name, yaml) in [
        ("a", "policy:\n  products: [chatgpt]\n"),
        ("b", "policy:\n  allow_implicit_invocation: false\n"),
        ("c", "interface: text\npolicy:\n  allow_implicit_invocation: false\n"),
    ] {
        skill(&world, &format!(".agents/skills/{name}"), &format!("name: {name}\ndescription: Text."));
        world.write(&format!(".agents/skills/{name}/agents/openai.yaml"), yaml);
    }
    let listing = listed(&world, "codex", None);
    assert_eq!(names(&listing), ["c"]);
    let file = world.project().join(".agents/skills/a/agents/openai.yaml");
    let expected = [
        format!("a: `policy.products` in `{}` says so", file.display()),
        "b: `agents/openai.yaml` says `allow_implicit_invocation: false`".to_owned(),
    ];
    assert_eq!(states(&listing), expected);
}

/// A rule of OpenCode keeps the place where it was first, and the file that said it last is named.
#[test]
fn opencode_merges_settings() {
    let world = World::new();
    skill(&world, ".agents/skills/a", "name: a\ndescription: Text.");
    skill(&world, ".agents/skills/b", "name: b\ndescription: Text.");
    let user = r#"{"permission": {"skill": {"a": "allow", "*": "allow"}}, "skills": {"paths": ["x"]}}"#;
    world.write("../home/.config/opencode/opencode.json", user);
    world.write("opencode.json", r#"{"permission": {"skill": {"a": "deny"}}}"#);
    assert_eq!(names(&listed(&world, "opencode", None)), ["a", "b"], "`*` still follows `a`");
    world.write("opencode.json", r#"{"permission": {"skill": "deny"}}"#);
    let denied = listed(&world, "opencode", None);
    let file = world.project().join("opencode.json");
    let why = Why::Setting { file, key: "permission.skill".to_owned() };
    assert!(denied.entries.iter().all(|entry| entry.state == State::Hidden(why.clone())));
    assert_eq!(denied.text.as_deref(), Some(""));
    world.write("opencode.jsonc", r#"{"agent": {"build": {"permission": {"skill": {"b": "ask"}}}}}"#);
    assert_eq!(names(&listed(&world, "opencode", None)), ["b"]);
}

/// What is more than anybody has is told, and not looked at: here links make more than 30,000 paths.
#[cfg(unix)]
#[test]
fn too_many_directories() {
    let world = World::new();
    skill(&world, ".agents/skills/a", "name: a\ndescription: Text.");
    skill(&world, ".agents/skills/zz", "name: zz\ndescription: Text.");
    for at in 0..15 {
        for name in ["one", "other"] {
            world.link(&format!("../{}", at + 1), &format!("links/{at}/{name}"));
        }
    }
    world.write("links/15/file", "");
    world.link("../../links/0", ".agents/skills/m");
    let listing = listed(&world, "opencode", None);
    assert_eq!(names(&listing), ["a", "zz"], "what lies higher is found first");
    let dir = world.project().join(".agents/skills");
    let told = format!(
        "`{}` has more than 20000 files and directories, and the skills beyond these are not counted",
        dir.display()
    );
    assert_eq!(listing.problems.iter().map(ToString::to_string).collect::<Vec<_>>(), [told]);
    assert!(listed(&world, "codex", None).problems.is_empty(), "each directory counts once");
}
