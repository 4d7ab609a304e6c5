//! OpenCode tells its listing to the model alone: `opencode.py` is one, and returns it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skillpm_core::agents::listing::{Listing, ListingEntry, State, Why};
use skillpm_testing::tools;

use super::layouts::{Kinds, Layout, make, write};
use super::{Differences, computed, env};
use crate::support::numbers::{Numbers, cases};

/// Which of several skills with one name it lists differs from start to start: there are none.
const KINDS: Kinds = Kinds {
    user: &[".claude/skills", ".agents/skills", ".config/opencode/skills", ".config/opencode/skill"],
    project: &[".claude/skills", ".agents/skills", ".opencode/skill", ".opencode/skills"],
    has_duplicates: false,
    user_is_right: true,
    depth: 4,
};

/// The directories in which it is started for one home.
const PROJECTS: u64 = 20;

#[test]
fn opencode_lists_what_is_computed() {
    let (Some(opencode), Some(python)) = (tools::script(PROGRAM), tools::program("python3")) else { return };
    let root = tempfile::tempdir().expect("a directory");
    let homes: Vec<Vec<Layout>> = (0..cases(60_u64)).map(|number| home(root.path(), number)).collect();
    let answers = answers(&python, &opencode, root.path(), &homes);
    let mut differences = Differences::default();
    for (number, (layout, answer)) in homes.iter().flatten().zip(answers).enumerate() {
        let computed = computed("opencode", layout, Path::new(""));
        differences.compare(number, layout, &loaded(&computed), &told(&answer));
        if let Some(listing) = answer.get("listing") {
            let printed = without_own(listing.as_str().unwrap_or_default());
            differences.compare(number, layout, computed.text.as_deref().unwrap_or_default(), &printed);
        }
    }
    differences.end("opencode", root);
}

#[cfg(target_arch = "x86_64")]
const PROGRAM: &str = "opencode-linux-x64/bin/opencode";
#[cfg(not(target_arch = "x86_64"))]
const PROGRAM: &str = "opencode-linux-arm64/bin/opencode";

/// Makes a home and projects of its user.
fn home(root: &Path, number: u64) -> Vec<Layout> {
    let mut numbers = Numbers(number);
    let projects = (0..PROJECTS).map(|project| {
        let dir = root.join(number.to_string()).join(project.to_string());
        make(&dir, number * PROJECTS + project, &KINDS)
    });
    let mut layouts: Vec<Layout> = projects.collect();
    let home = layouts[0].home.clone();
    let (env, files) = variables(&home, &mut numbers);
    let own = [".config/opencode/opencode.json", ".config/opencode/config.json", ".opencode/opencode.jsonc"];
    for file in own.iter().map(|file| home.join(file)).chain(files) {
        if numbers.below(3) == 0 {
            write(&file, &settings(&mut numbers));
        }
    }
    write(&home.join("pool/one/SKILL.md"), "---\nname: in-pool\ndescription: In a pool.\n---\n");
    for (at, layout) in layouts.iter_mut().enumerate() {
        layout.home.clone_from(&home);
        layout.env.clone_from(&env);
        let skill = format!("---\nname: extra-{at}\ndescription: Beside the project.\n---\n");
        write(&layout.cwd.join("extra/one/SKILL.md"), &skill);
        let names = ["opencode.json", "opencode.jsonc", "../opencode.json", ".opencode/opencode.json"];
        for name in names {
            if numbers.below(4) == 0 {
                write(&layout.cwd.join(name), &settings(&mut numbers));
            }
        }
    }
    layouts
}

/// Returns variables for the program, and the files of settings that they name.
fn variables(home: &Path, numbers: &mut Numbers) -> (Vec<(&'static str, String)>, Vec<PathBuf>) {
    let (mut env, mut files) = (Vec::new(), Vec::new());
    let path = |name: &str| home.join(name).display().to_string();
    if numbers.below(3) == 0 {
        env.push(("OPENCODE_CONFIG", path("custom.json")));
        files.push(home.join("custom.json"));
    }
    if numbers.below(3) == 0 {
        env.push(("OPENCODE_CONFIG_DIR", path("own")));
        let skill = "---\nname: own-dir\ndescription: In a directory of its own.\n---\n";
        write(&home.join("own/skill/one/SKILL.md"), skill);
        files.push(home.join("own/opencode.json"));
    }
    if numbers.below(2) == 0 {
        env.push(("OPENCODE_CONFIG_CONTENT", strict(&settings(numbers))));
    }
    if numbers.below(3) == 0 {
        let texts = [
            "{\"skill\": {\"skill-1*\": \"deny\"}}",
            "{\"skill\": \"allow\"}",
            "\"deny\"",
            "{\"sk*\": \"ask\"}",
            "{",
        ];
        env.push(("OPENCODE_PERMISSION", numbers.pick(&texts).to_owned()));
    }
    if numbers.below(3) == 0 {
        env.push(("OPENCODE_TEST_MANAGED_CONFIG_DIR", path("managed")));
        files.push(home.join("managed/opencode.jsonc"));
    }
    let flags = [
        ("OPENCODE_DISABLE_PROJECT_CONFIG", ["1", "TRUE", "yes"]),
        ("OPENCODE_DISABLE_EXTERNAL_SKILLS", ["1", "true", "no"]),
        ("OPENCODE_DISABLE_CLAUDE_CODE_SKILLS", ["y", "on", "0"]),
        ("OPENCODE_DISABLE_CLAUDE_CODE", ["yes", "1", "off"]),
    ];
    for (flag, words) in flags {
        if numbers.below(6) == 0 {
            env.push((flag, numbers.pick(&words).to_owned()));
        }
    }
    (env, files)
}

/// Returns settings that allow and forbid skills in many ways.
fn settings(numbers: &mut Numbers) -> String {
    let mut entries = Vec::new();
    if numbers.below(2) == 0 {
        entries.push(format!("\"permission\": {}", permission(numbers)));
    }
    if numbers.below(6) == 0 {
        let tools = ["{\"skill\": false}", "{\"skill\": true}", "{\"s*\": false, \"bash\": true}"];
        entries.push(format!("\"tools\": {}", numbers.pick(&tools)));
    }
    if numbers.below(4) == 0 {
        let paths = ["[\"~/pool\"]", "[\"extra\", \"~/pool\"]", "[\"extra/\", \"missing\"]", "[]"];
        entries.push(format!("\"skills\": {{\"paths\": {}}}", numbers.pick(&paths)));
    }
    if numbers.below(4) == 0 {
        let tools = numbers.pick(&["", "", ", \"tools\": {\"skill\": false}"]);
        let (group, agent) =
            (numbers.pick(&["agent", "agent", "mode"]), numbers.pick(&["build", "build", "plan"]));
        let rules = permission(numbers);
        entries.push(format!("\"{group}\": {{\"{agent}\": {{\"permission\": {rules}{tools}}}}}"));
    }
    if numbers.below(12) == 0 {
        entries.push("\"default_agent\": \"plan\"".to_owned());
    }
    format!("{{ // mine\n {},}}\n", entries.join(",\n ")).replace(" ,}", "}")
}

/// Returns the same as JSON of the strict kind.
fn strict(settings: &str) -> String {
    settings.replace(" // mine", "").replace(",}\n", "}\n")
}

/// Returns permissions of tools: a word, or an object of words and objects.
fn permission(numbers: &mut Numbers) -> String {
    let words = ["\"deny\"", "\"allow\"", "\"ask\""];
    if numbers.below(12) == 0 {
        return numbers.pick(&words).to_owned();
    }
    let names = ["pdf*", "skill-1*", "docx", "*-?", "a b", "*", "notes *", "*2*", "in-pool", "extra-?"];
    let mut tools: Vec<&str> = vec!["skill", "*", "sk*", "bash"];
    let rule = |numbers: &mut Numbers| {
        if numbers.below(4) == 0 {
            return numbers.pick(&words).to_owned();
        }
        let mut rules: Vec<&str> = (0..=numbers.below(3)).map(|_| numbers.pick(&names)).collect();
        rules.dedup();
        let rules: Vec<_> =
            rules.iter().map(|name| format!("\"{name}\": {}", numbers.pick(&words))).collect();
        format!("{{{}}}", rules.join(", "))
    };
    let count = 1 + numbers.below(2);
    let rules: Vec<_> = (0..count)
        .map(|_| {
            let tool = tools.remove(numbers.below(tools.len().min(3)));
            format!("\"{tool}\": {}", rule(numbers))
        })
        .collect();
    format!("{{{}}}", rules.join(", "))
}

/// Asks the program.
fn answers(python: &Path, opencode: &Path, root: &Path, homes: &[Vec<Layout>]) -> Vec<serde_json::Value> {
    let cwds = |home: &Vec<Layout>| home.iter().map(|layout| layout.cwd.clone()).collect::<Vec<PathBuf>>();
    let asked = homes
        .iter()
        .map(|home| serde_json::json!({"home": home[0].home, "cwds": cwds(home), "env": env(&home[0])}));
    let input = root.join("layouts.json");
    std::fs::write(&input, asked.collect::<serde_json::Value>().to_string()).expect("is written");
    let output = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slow/listings/opencode.py"))
        .arg(opencode)
        .stdin(Stdio::from(std::fs::File::open(input).expect("opens")))
        .output()
        .expect("python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<Vec<serde_json::Value>> = serde_json::from_slice(&output.stdout).expect("JSON");
    answers.into_iter().flatten().collect()
}

/// Returns the skills that load, a line each.
fn loaded(listing: &Listing) -> String {
    let loads = |entry: &&ListingEntry| !matches!(entry.state, State::NotLoaded(_));
    let line = |entry: &ListingEntry| {
        let has_none = entry.state == State::Hidden(Why::NoDescription);
        let description = (!has_none).then_some(&entry.description);
        format!("{}: {description:?} in {}", entry.name, entry.file.display())
    };
    sorted(listing.entries.iter().filter(loads).map(line))
}

/// Returns the same lines from what the program says, without its own skill.
fn told(answer: &serde_json::Value) -> String {
    let skills = answer["skills"].as_array().expect("a list").iter().filter(|skill| skill["name"] != OWN);
    let line = |skill: &serde_json::Value| {
        let text = |key: &str| skill[key].as_str();
        let (name, file) = (text("name").expect("a name"), text("location").expect("a path"));
        format!("{name}: {:?} in {file}", text("description"))
    };
    sorted(skills.map(line))
}

fn sorted(lines: impl Iterator<Item = String>) -> String {
    let mut lines: Vec<_> = lines.collect();
    lines.sort();
    lines.join("\n")
}

/// The skill that comes with the program.
const OWN: &str = "customize-opencode";

/// Returns the elements of a listing without that of the program's own skill; an empty text if there are no others.
fn without_own(listing: &str) -> String {
    let Some(at) = listing.find("<available_skills>") else { return String::new() };
    let Some(own) = listing.find(&format!("  <skill>\n    <name>{OWN}</name>")) else {
        return listing[at..].to_owned();
    };
    let after = own + listing[own..].find("  </skill>\n").expect("an end") + "  </skill>\n".len();
    let listed = format!("{}{}", &listing[at..own], &listing[after..]);
    if listed.contains("<skill>") { listed } else { String::new() }
}
