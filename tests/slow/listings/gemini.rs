//! Gemini CLI has no command that prints its listing: its own functions are called by `gemini.mjs`.

use std::path::Path;
use std::process::{Command, Stdio};

use skillpm_testing::tools;

use super::layouts::{Kinds, Layout, make, write};
use super::{Differences, computed, env};
use crate::support::numbers::{Numbers, cases};

const KINDS: Kinds = Kinds {
    user: &[".gemini/skills", ".agents/skills", ".claude/skills", ".gemini/extensions/ext/skills"],
    project: &[".gemini/skills", ".agents/skills"],
    has_duplicates: true,
    user_is_right: false,
    depth: 1,
};

#[test]
fn gemini_lists_what_is_computed() {
    let (Some(gemini), Some(node)) = (tools::script("@google/gemini-cli/bundle/gemini.js"), tools::node())
    else {
        return;
    };
    let bundle = gemini.canonicalize().expect("a file").parent().expect("a directory").to_owned();
    let root = tempfile::tempdir().expect("a directory");
    // What comes with the program is looked for beside it.
    let bin = root.path().join("bin");
    std::fs::create_dir(&bin).expect("a directory");
    std::os::unix::fs::symlink(bundle.join("gemini.js"), bin.join("gemini")).expect("a link");
    // Settings for the machine count where only root can write: in its home directory, and nowhere for other users.
    let machine = tempfile::tempdir_in(std::env::var_os("HOME").unwrap_or_default()).expect("a directory");
    let layouts: Vec<_> = (0..cases(1600_u64))
        .map(|number| {
            let mut layout = make(&root.path().join(number.to_string()), number, &KINDS);
            settings(&mut layout, machine.path(), &mut Numbers(number));
            layout
        })
        .collect();
    let mut differences = Differences::default();
    for (number, (layout, printed)) in
        layouts.iter().zip(printed(&node, &bundle, root.path(), &layouts)).enumerate()
    {
        let listing = computed("gemini-cli", layout, &bin);
        differences.compare(number, layout, listing.text.as_deref().unwrap_or_default(), &printed);
    }
    differences.end("gemini", root);
}

/// Writes what a user may have set.
fn settings(layout: &mut Layout, machine: &Path, numbers: &mut Numbers) {
    let own = layout.home.join(".gemini");
    let names = ["pdf", "DOCX", "brand", "skill-1-0", "a-b"];
    let mut disabled = || format!("[\"{}\", \"{}\"]", numbers.pick(&names), numbers.pick(&names));
    let (user, project) = (disabled(), disabled());
    match numbers.below(4) {
        0 => write(
            &own.join("settings.json"),
            &format!("{{ // mine\n \"skills\": {{\"disabled\": {user}}}}}\n"),
        ),
        1 => write(&own.join("settings.json"), "{\"security\": {\"folderTrust\": {\"enabled\": false}}}"),
        2 if numbers.below(4) == 0 => {
            write(&own.join("settings.json"), "{\"skills\": {\"enabled\": false}}");
        }
        _ => {}
    }
    if numbers.below(3) == 0 {
        write(
            &layout.cwd.join(".gemini/settings.json"),
            &format!("{{\"skills\": {{\"disabled\": {project}}}}}"),
        );
    }
    variables(layout, machine, numbers);
    if layout.home.join(".gemini/extensions/ext").is_dir() {
        let manifest = "{\"name\": \"ext\", \"version\": \"1.0.0\"}";
        write(&layout.home.join(".gemini/extensions/ext/gemini-extension.json"), manifest);
        if numbers.below(4) == 0 {
            let rule = format!("{{\"ext\": {{\"overrides\": [\"!{}/*\"]}}}}", layout.cwd.display());
            write(&layout.home.join(".gemini/extensions/extension-enablement.json"), &rule);
        }
    }
}

/// Sets variables, and writes the files that they name, among them that of the trusted folders.
fn variables(layout: &mut Layout, machine: &Path, numbers: &mut Numbers) {
    let root = &layout.home.parent().expect("a directory").to_owned();
    let mut folders = layout.home.join(".gemini/trustedFolders.json");
    if numbers.below(6) == 0 {
        folders = root.join("folders.json");
        layout.env.push(("GEMINI_CLI_TRUSTED_FOLDERS_PATH", folders.display().to_string()));
    }
    if let Some(trust) = trust(root, numbers) {
        write(&folders, &trust);
    }
    match numbers.below(12) {
        0 => layout.env.push(("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned())),
        1 => layout.env.push(("GEMINI_CLI_TRUST_WORKSPACE", "false".to_owned())),
        2 => layout.env.push(("GEMINI_CLI_TRUST_WORKSPACE", "1".to_owned())),
        3 => layout.env.push(("GEMINI_RESTRICTED_MODE", "true".to_owned())),
        _ => {}
    }
    match numbers.below(12) {
        0 | 1 => {
            // What belongs to the user is where the variable says, and nothing of the home directory is read.
            layout.env.push(("GEMINI_CLI_HOME", layout.home.display().to_string()));
            layout.env.push(("HOME", root.join("other").display().to_string()));
            let skill = "---\nname: other\ndescription: Not read.\n---\n";
            write(&root.join("other/.agents/skills/other/SKILL.md"), skill);
        }
        2 => layout.env.push(("GEMINI_CLI_HOME", layout.cwd.display().to_string())),
        _ => {}
    }
    let texts = [
        "{\"skills\": {\"disabled\": [\"docx\", \"notes\"]}}",
        "{\"skills\": {\"disabled\": \"sql\"}}",
        "{\"skills\": {\"enabled\": \"FALSE\"}}",
        "{\"skills\": {\"disabled\": [\"sql\"], \"enabled\": \"True\"}}",
        "{\"skills\": {\"enabled\": true}}",
        "{\"security\": {\"folderTrust\": {\"enabled\": false}}}",
        "{\"security\": {\"folderTrust\": {\"enabled\": true}}}",
    ];
    if numbers.below(3) == 0 {
        let machine =
            if numbers.below(4) == 0 { root } else { &machine.join(root.file_name().expect("a number")) };
        let file = machine.join("settings.json");
        layout.env.push(("GEMINI_CLI_SYSTEM_SETTINGS_PATH", file.display().to_string()));
        for file in [file, machine.join("system-defaults.json")] {
            if numbers.below(2) == 0 {
                write(&file, numbers.pick(&texts));
            }
        }
        if numbers.below(4) == 0 {
            let defaults = machine.join("other.json");
            layout.env.push(("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", defaults.display().to_string()));
            write(&defaults, numbers.pick(&texts));
        }
    }
}

/// Returns rules for folders, of which some are equally long.
fn trust(root: &Path, numbers: &mut Numbers) -> Option<String> {
    let rule =
        |folder: &str, level: &str| format!("{:?}: {level:?}", root.join(folder).display().to_string());
    let rules = match numbers.below(6) {
        0 => return None,
        1 => vec![rule("project", "DO_NOT_TRUST"), rule("project/sub", "TRUST_FOLDER")],
        2 => vec![rule("project/sub", "TRUST_PARENT")],
        3 => {
            let levels = ["TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST"];
            let folders = ["project", "project/", "project/sub", "project/./abc", "project/abc", "projecz"];
            let count = 1 + numbers.below(5);
            (0..count).map(|_| rule(numbers.pick(&folders), numbers.pick(&levels))).collect()
        }
        _ => vec![rule("project", "TRUST_FOLDER")],
    };
    Some(format!("{{{}}}", rules.join(", ")))
}

/// Returns the elements of the listings; an empty text where there is none.
fn printed(node: &Path, bundle: &Path, root: &Path, layouts: &[Layout]) -> Vec<String> {
    let asked: serde_json::Value = layouts
        .iter()
        .map(|layout| serde_json::json!({"home": layout.home, "cwd": layout.cwd, "env": env(layout)}))
        .collect();
    let input = root.join("layouts.json");
    std::fs::write(&input, asked.to_string()).expect("is written");
    let output = Command::new(node)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slow/listings/gemini.mjs"))
        .args([bundle, &root.join("copy/bundle")])
        .stdin(Stdio::from(std::fs::File::open(input).expect("opens")))
        .output()
        .expect("node starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = |answer: &serde_json::Value| {
        let listing = answer["listing"].as_str().unwrap_or_else(|| panic!("{answer}"));
        listing.find("<available_skills>").map(|at| listing[at..].to_owned()).unwrap_or_default()
    };
    answers.iter().map(text).collect()
}
