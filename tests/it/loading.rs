//! 295 real skills under each profile, and the flags that choose one.

use skillpm_format::document::Document;
use skillpm_format::profile::LoadProfile;
use skillpm_format::skill::{load, load_with};

use crate::support::{Sandbox, testdata};

/// What skillpm reads of a real skill does not depend on what it tells; what a profile tolerates more,
/// loads more, and the strict one takes no skill that another refuses.
#[test]
fn real_skills_under_every_profile() {
    let Some(testdata) = testdata::dir() else { return };
    let list = std::fs::read_to_string(testdata.join("skills/expected.jsonl")).expect("the list");
    let mut loaded = LoadProfile::ALL.map(|(name, _)| (name, 0, 0));
    let mut all = 0;
    for line in list.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line");
        let (id, file) = (line["id"].as_str().expect("id"), line["file"].as_str().expect("file"));
        let bytes = std::fs::read(testdata.join("skills").join(id).join(file)).expect("a skill");
        let document = Document::from_bytes(bytes);
        let directory = id.rsplit('/').next();
        let plain = load(&document).map(|loaded| loaded.meta);
        let default = load_with(&document, &LoadProfile::DEFAULT, directory).map(|loaded| loaded.meta);
        assert_eq!(plain, default, "{id}");
        let lenient = &line["lenient"];
        let field = |key: &str| lenient[key].as_str().map(str::trim).filter(|text| !text.is_empty());
        match &default {
            Ok(meta) => {
                assert_eq!(Some(meta.name.as_str()), field("name"), "{id}");
                assert_eq!(Some(meta.description.as_str()), field("description"), "{id}");
            }
            Err(error) => assert!(field("name").is_none() || field("description").is_none(), "{id}: {error}"),
        }
        for ((_, profile), (_, count, told)) in LoadProfile::ALL.iter().zip(&mut loaded) {
            if let Ok(skill) = load_with(&document, profile, directory) {
                *count += 1;
                *told += usize::from(!skill.deviations.is_empty());
            }
        }
        let strict = load_with(&document, &LoadProfile::STRICT, directory);
        if let Ok(skill) = strict {
            assert!(skill.deviations.is_empty(), "{id}");
            for (name, profile) in LoadProfile::ALL {
                let other = load_with(&document, &profile, directory);
                assert!(other.is_ok_and(|other| other.deviations.is_empty()), "{id}: {name}");
            }
        }
        all += 1;
    }
    for (name, count, told) in loaded {
        println!("{count} of {all} load under `{name}`, {told} of them with something to be told");
    }
    let count = |profile: &str| loaded.iter().find(|(name, ..)| *name == profile).expect("a profile").1;
    assert!(count("strict") <= count("btw") && count("btw") <= count("default"));
    assert!(count("default") <= count("langchain-skillkit") && count("default") == count("skillkit"));
}

/// Conflict C11: every verb that uses skills searches the places of a profile, and more directories, whose skills hide no
/// other.
#[test]
fn verbs_take_a_profile_and_more_directories() {
    let sandbox = Sandbox::new();
    let skill = |dir: &str, name: &str| {
        let text =
            format!("---\nname: {name}\ndescription: From {dir}. Use it in tests.\n---\nFrom {dir}.\n");
        sandbox.write(&format!("{dir}/{name}/SKILL.md"), text);
        sandbox.write(&format!("{dir}/{name}/scripts/run.sh"), format!("#!/bin/sh\necho From {dir}.\n"));
        sandbox.write(&format!("{dir}/{name}/from.md"), format!("From {dir}.\n"));
    };
    skill("more", "pdf");
    skill("more", "extra");
    skill(".btw/skills", "pdf");
    sandbox.ok(&["trust", "."]);
    for (name, from) in [("pdf", "From .btw/skills."), ("extra", "From more.")] {
        let verbs: [&[&str]; 5] = [
            &["show", "--profile", "btw", "--dir", "more", name],
            &["invoke", "--profile", "btw", "--dir", "more", name],
            &["read", "--profile", "btw", "--dir", "more", name, "from.md"],
            &["run", "--profile", "btw", "--dir", "more", name, "run"],
            &["catalog", "--profile", "btw", "--dir", "more"],
        ];
        for words in verbs {
            let output = sandbox.run(words);
            assert!(output.code == Some(0) && output.stdout.contains(from), "{words:?}: {output}");
        }
        let tools = sandbox.run(&["tools", "--profile", "btw", "--dir", "more", name]);
        assert!(tools.code == Some(0) && tools.stdout.contains("run"), "{tools}");
        assert_eq!(sandbox.run(&["invoke", name]).code, Some(2), "without the flags there is no such skill");
    }
    let unknown = sandbox.run(&["invoke", "--profile", "btv", "pdf"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("there is no profile `btv`"), "{unknown}");
}
