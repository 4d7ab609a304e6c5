//! OpenCode tells its listing to the model alone: `opencode.py` is one, and returns it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use skillpm_core::agents::listing::{Listing, ListingEntry, State, Why};
use skillpm_testing::tools;

use super::layouts::{Kinds, Layout, make};
use super::{Differences, computed};
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
        let computed = computed("opencode", &layout.home, &layout.cwd, &[]);
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
    let names = ["pdf*", "skill-1*", "docx", "*-?", "a b"];
    let rules = |numbers: &mut Numbers| {
        let (allowed, denied) = (numbers.pick(&names), numbers.pick(&names));
        format!(
            "{{ // mine\n \"permission\": {{\"skill\": {{\"{denied}\": \"deny\", \"{allowed}\": \"allow\",}}}}}}\n"
        )
    };
    if numbers.below(3) == 0 {
        std::fs::create_dir_all(home.join(".config/opencode")).expect("a directory");
        std::fs::write(home.join(".config/opencode/opencode.json"), rules(&mut numbers)).expect("is written");
    }
    for layout in &mut layouts {
        layout.home.clone_from(&home);
        if numbers.below(4) == 0 {
            let name = numbers.pick(&["opencode.json", "opencode.jsonc"]);
            std::fs::write(layout.cwd.join(name), rules(&mut numbers)).expect("is written");
        } else if numbers.below(10) == 0 {
            let text = "{\"permission\": {\"skill\": \"deny\"}}";
            std::fs::write(layout.cwd.join("opencode.json"), text).expect("is written");
        }
    }
    layouts
}

/// Asks the program.
fn answers(python: &Path, opencode: &Path, root: &Path, homes: &[Vec<Layout>]) -> Vec<serde_json::Value> {
    let cwds = |home: &Vec<Layout>| home.iter().map(|layout| layout.cwd.clone()).collect::<Vec<PathBuf>>();
    let asked = homes.iter().map(|home| serde_json::json!({"home": home[0].home, "cwds": cwds(home)}));
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
