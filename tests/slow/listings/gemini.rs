//! Gemini CLI has no command that prints its listing: its own functions are called by `gemini.mjs`.

use std::path::Path;
use std::process::{Command, Stdio};

use skillpm_testing::tools;

use super::layouts::{Kinds, Layout, make};
use super::{Differences, computed};
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
    let layouts: Vec<_> = (0..cases(1600_u64))
        .map(|number| {
            let layout = make(&root.path().join(number.to_string()), number, &KINDS);
            settings(&layout, &mut Numbers(number));
            layout
        })
        .collect();
    let mut differences = Differences::default();
    for (number, (layout, printed)) in
        layouts.iter().zip(printed(&node, &bundle, root.path(), &layouts)).enumerate()
    {
        let listing = computed("gemini-cli", &layout.home, &layout.cwd, &[("PATH", &bin)]);
        differences.compare(number, layout, listing.text.as_deref().unwrap_or_default(), &printed);
    }
    differences.end("gemini", root);
}

/// Writes what a user may have set.
fn settings(layout: &Layout, numbers: &mut Numbers) {
    let write = |path: &Path, text: String| {
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(path, text).expect("is written");
    };
    let own = layout.home.join(".gemini");
    let names = ["pdf", "DOCX", "brand", "skill-1-0", "a-b"];
    let mut disabled = || format!("[\"{}\", \"{}\"]", numbers.pick(&names), numbers.pick(&names));
    let (user, project) = (disabled(), disabled());
    match numbers.below(4) {
        0 => write(
            &own.join("settings.json"),
            format!("{{ // mine\n \"skills\": {{\"disabled\": {user}}}}}\n"),
        ),
        1 => write(
            &own.join("settings.json"),
            "{\"security\": {\"folderTrust\": {\"enabled\": false}}}".to_owned(),
        ),
        2 if numbers.below(4) == 0 => {
            write(&own.join("settings.json"), "{\"skills\": {\"enabled\": false}}".to_owned());
        }
        _ => {}
    }
    if numbers.below(3) == 0 {
        write(
            &layout.cwd.join(".gemini/settings.json"),
            format!("{{\"skills\": {{\"disabled\": {project}}}}}"),
        );
    }
    let project = layout.home.parent().expect("a directory").join("project");
    let trust = match numbers.below(5) {
        0 => return,
        1 => vec![(project.clone(), "DO_NOT_TRUST"), (project.join("sub"), "TRUST_FOLDER")],
        2 => vec![(project.join("sub"), "TRUST_PARENT")],
        _ => vec![(project, "TRUST_FOLDER")],
    };
    let trust: serde_json::Map<_, _> =
        trust.into_iter().map(|(dir, level)| (dir.display().to_string(), level.into())).collect();
    write(&own.join("trustedFolders.json"), serde_json::Value::from(trust).to_string());
    if layout.home.join(".gemini/extensions/ext").is_dir() {
        let manifest = "{\"name\": \"ext\", \"version\": \"1.0.0\"}".to_owned();
        write(&layout.home.join(".gemini/extensions/ext/gemini-extension.json"), manifest);
        if numbers.below(4) == 0 {
            let rule = format!("{{\"ext\": {{\"overrides\": [\"!{}/*\"]}}}}", layout.cwd.display());
            write(&layout.home.join(".gemini/extensions/extension-enablement.json"), rule);
        }
    }
}

/// Returns the elements of the listings; an empty text where there is none.
fn printed(node: &Path, bundle: &Path, root: &Path, layouts: &[Layout]) -> Vec<String> {
    let asked: serde_json::Value =
        layouts.iter().map(|layout| serde_json::json!({"home": layout.home, "cwd": layout.cwd})).collect();
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
