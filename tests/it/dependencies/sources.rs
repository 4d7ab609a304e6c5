//! Where what is needed may lie.

use super::{asked, document, locked, machine, there, tree};
use crate::support::tar::tar_gz;
use crate::support::{Forge, GitRepo, Sandbox, Tree};

/// A path leads to another skill of the same source, whatever that is.
#[test]
fn a_path_leads_through_the_source() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    forge.repo("acme/skills").commit(&tree(&[("report", "1.0", "../base"), ("base", "1.0", "")]));
    sandbox.ok(&["install", "acme/skills/skills/report"]);
    assert_eq!(locked(&sandbox), ["base", "report: base"]);
    assert!(sandbox.read("skillpm.lock").contains("path = \"skills/base\""));

    let repository = GitRepo::new(&sandbox.root().join("repository"));
    repository.commit(&tree(&[("gits", "1.0", "./../gitbase"), ("gitbase", "1.0", "")]));
    let url = format!("file://{}", repository.path().display());
    sandbox.ok(&["install", &format!("{url}//skills/gits")]);
    assert_eq!(locked(&sandbox), ["base", "gitbase", "gits: gitbase", "report: base"]);
}

/// On this machine it leads to any directory: the skill is written down where it lies.
#[test]
fn a_path_of_this_machine() {
    let sandbox = Sandbox::new();
    sandbox.write("src/report/SKILL.md", document("report", "1.0", "../charts ../../other/base"));
    sandbox.write("src/charts/SKILL.md", document("charts", "1.0", ""));
    sandbox.write("other/base/SKILL.md", document("base", "1.0", ""));
    sandbox.ok(&["install", "./src/report"]);
    assert_eq!(locked(&sandbox), ["base", "charts", "report: base charts"]);
    assert!(sandbox.read("skillpm.lock").contains("source = \"path:./other/base\""));
    // The same from the directory above, of which both are parts.
    sandbox.ok(&["remove", "report"]);
    sandbox.ok(&["install", "./src", "-s", "report"]);
    assert_eq!(locked(&sandbox), ["base", "charts", "report: base charts"]);
    assert!(sandbox.read("skillpm.lock").contains("source = \"path:./src\"\npath = \"charts\""));
}

/// `tree` knows the skills to which paths led, and sources that name no directory, by what is locked.
#[test]
fn a_tree_knows_what_a_source_led_to() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    forge.repo("acme/skills").commit(&tree(&[("report", "1.0", "../base other/one"), ("base", "1.0", "")]));
    forge.repo("other/one").commit(&tree(&[("one", "1.0", "")]));
    sandbox.write("src/a/SKILL.md", document("a", "1.0", "../c ./more/b"));
    sandbox.write("src/a/more/b/SKILL.md", document("b", "1.0", ""));
    sandbox.write("src/c/SKILL.md", document("c", "1.0", ""));
    let needs = |name: &str| -> Vec<String> {
        let told = sandbox.ok(&["tree", "--json"]);
        let skills: Vec<serde_json::Value> = serde_json::from_str(&told.stdout).expect("JSON");
        let one = skills.iter().find(|one| one["name"] == name).expect(name);
        let needs = one["needs"].as_array().expect("needs").iter();
        needs.map(|need| format!("{} {} {}", need["text"], need["name"], need["scope"])).collect()
    };
    sandbox.ok(&["install", "acme/skills@report"]);
    let of_report = ["\"../base\" \"base\" \"project\"", "\"other/one\" \"one\" \"project\""];
    assert_eq!(needs("report"), of_report);
    let of_a = ["\"../c\" \"c\" \"project\"", "\"./more/b\" \"b\" \"project\""];
    for args in [
        &["install", "./src/a", "-s", "a"][..],
        &["install", "./src", "-s", "a"],
        &["install", "-e", "./src/a"],
    ] {
        sandbox.ok(args);
        let mut found = needs("a");
        found.sort();
        assert_eq!(found, of_a, "{args:?}");
        let told = sandbox.ok(&["tree"]);
        assert!(!told.stdout.contains("not installed"), "{args:?}: {told}");
        sandbox.ok(&["remove", "a"]);
    }
}

/// A site tells what its skills need when they are fetched.
#[test]
fn a_site_and_an_archive() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    let one = |name: &str, needs: &str| Tree::new().file("SKILL.md", document(name, "1.0", needs));
    let archive = format!("{}/base.tar.gz", forge.api_url());
    forge.serve("/base.tar.gz", tar_gz(&one("base", "")));
    crate::web_sites::publish(
        &forge,
        "",
        &[("report", one("report", &format!("charts@1 {archive}"))), ("charts", one("charts", ""))],
    );
    sandbox.ok(&["install", &format!("site:{}/@report", forge.api_url())]);
    assert_eq!(locked(&sandbox), ["base", "charts", "report: base charts"]);
    assert_eq!(asked(&sandbox), ["report"]);
    assert_eq!(there(&sandbox), ["base", "charts", "report"]);
}

/// What is installed already is enough, wherever it comes from; what the user has for all projects as well.
#[test]
fn what_is_there_is_enough() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    forge
        .repo("acme/skills")
        .commit(&tree(&[("report", "1.0", "mine@^2 shared nobody"), ("shared", "1.0", "")]));
    sandbox.write("src/mine/SKILL.md", document("mine", "1.5", ""));
    sandbox.write("src/nobody/SKILL.md", document("nobody", "1.0", ""));
    sandbox.ok(&["install", "./src/mine"]);
    sandbox.ok(&["install", "-g", "./src/nobody"]);
    sandbox.tells(
        &["install", "acme/skills@report"],
        0,
        "skills: name change version needed_by; warnings: code",
        &["report added 1.0 -", "shared added 1.0 report", "dependency-out-of-range"],
    );
    assert_eq!(locked(&sandbox), ["mine", "report: mine shared", "shared"]);
    assert_eq!(asked(&sandbox), ["mine", "report"]);
}

/// A source that the user chose wins over the one that a skill names.
#[test]
fn what_was_asked_for_wins() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    forge.repo("acme/skills").commit(&tree(&[("report", "1.0", "other/base/skills/base")]));
    forge.repo("other/base").commit(&tree(&[("base", "1.0", "")]));
    forge.repo("fork/base").commit(&tree(&[("base", "1.1", "")]));
    sandbox.ok(&["install", "fork/base"]);
    sandbox.tells(
        &["install", "acme/skills"],
        0,
        "skills: name change version; warnings: code",
        &["report added 1.0", "dependency-elsewhere"],
    );
    assert_eq!(locked(&sandbox), ["base", "report: base"]);
    assert!(sandbox.read("skillpm.lock").contains("source = \"github:fork/base\""));
    // Also where both are asked for at once.
    let sandbox = machine(&forge);
    sandbox.ok(&["install", "acme/skills", "fork/base"]);
    assert!(sandbox.read("skillpm.lock").contains("source = \"github:fork/base\""));
}
