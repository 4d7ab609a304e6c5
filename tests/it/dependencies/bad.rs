//! What cannot be had, or is not to be had: nothing is changed, and it is told why.

use super::{document, locked, machine, there, tree};
use crate::support::{Forge, Sandbox};

/// A machine on which `report` of `acme/skills` needs `needs`.
fn scene(needs: &str) -> (Forge, Sandbox) {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    forge.repo("acme/skills").commit(&tree(&[("report", "1.0", needs), ("charts", "1.0", "")]));
    forge.repo("other/base").commit(&tree(&[("base", "1.0", ""), ("more", "1.0", "")]));
    (forge, sandbox)
}

/// What `install` says of a `report` that needs `needs`; nothing is installed.
#[track_caller]
fn refused(needs: &str, exit: i32, code: &str, values: &[&str]) {
    let (_forge, sandbox) = scene(needs);
    let before = sandbox.tree(&sandbox.project());
    sandbox.fails(&["install", "acme/skills@report"], exit, code, values);
    assert_eq!(sandbox.tree(&sandbox.project()), before, "{needs}");
    // It can be had without.
    sandbox.ok(&["install", "acme/skills@report", "--no-deps"]);
}

#[test]
fn a_source_that_is_not_there() {
    refused("nobody/nothing", 4, "network", &["report", "nobody/nothing", "--no-deps"]);
    refused("other/base", 2, "usage", &["report", "github:other/base", "--no-deps"]);
    refused(
        "other/base@nope",
        2,
        "usage",
        &["report", "other/base@nope", "skillpm install --list other/base", "--no-deps"],
    );
    refused(
        "../nope",
        2,
        "usage",
        &["report", "../nope", "skills/nope", "skillpm install --list acme/skills", "--no-deps"],
    );
}

/// A skill from elsewhere never brings what lies on this machine.
#[test]
fn a_place_of_this_machine() {
    let own = Sandbox::new();
    own.write("secret/SKILL.md", document("secret", "1.0", ""));
    let secret = own.project().join("secret");
    for needs in [
        secret.display().to_string(),
        format!("file://{}", secret.display()),
        "../../../secret".to_owned(),
        "~/secret".to_owned(),
    ] {
        refused(&needs, 5, "integrity", &["leads out of `acme/skills`"]);
    }
}

/// What is no requirement, and names that nobody has, are told and stop nothing.
#[test]
fn what_says_nothing() {
    let (_forge, sandbox) = scene("Wrong charts@^7 absent pdf@next");
    sandbox.tells(
        &["install", "acme/skills@report"],
        0,
        "skills: name change version; warnings: code",
        &[
            "report added 1.0",
            "dependency-unreadable",
            "dependency-missing",
            "dependency-missing",
            "dependency-unreadable",
        ],
    );
    let output = sandbox.run(&["install", "-g", "acme/skills@report"]);
    assert!(output.stderr.contains("`skillpm install -g SOURCE` installs it"), "{output}");
    assert_eq!(locked(&sandbox), ["report"]);
}

/// Two skills that need different ones of a name: a person has to choose.
#[test]
fn different_skills_of_a_name() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    for owner in ["one", "two"] {
        forge.repo(&format!("{owner}/base")).commit(&tree(&[("base", owner.len().to_string().as_str(), "")]));
    }
    forge.repo("acme/a").commit(&tree(&[("a", "1.0", "one/base/skills/base")]));
    forge.repo("acme/b").commit(&tree(&[("b", "1.0", "two/base/skills/base")]));
    sandbox.ok(&["install", "acme/a"]);
    let before = sandbox.scope();
    sandbox.fails(
        &["install", "acme/b"],
        1,
        "versions-conflict",
        &[
            "skillpm install github:two/base/skills/base",
            "skillpm install github:one/base/skills/base",
            "skillpm update a",
        ],
    );
    assert_eq!(sandbox.scope(), before);
    sandbox.ok(&["install", "two/base", "--force"]);
    sandbox.ok(&["install", "acme/b"]);
    assert_eq!(locked(&sandbox), ["a: base", "b: base", "base"]);
}

/// A policy is asked about what is needed as about what was asked for.
#[test]
fn a_policy_has_its_say() {
    let (_forge, sandbox) = scene("charts other/base@base");
    sandbox.write("skillpm.toml", "[policy]\nallow = [\"github:acme/*\"]\n");
    sandbox.fails(
        &["install", "acme/skills@report"],
        5,
        "not-admitted",
        &[
            "report",
            "other/base@base",
            "allow = \"github:acme/*\"",
            "skillpm.toml:2:10",
            "skillpm policy github:other/base",
            "--no-deps",
        ],
    );
    assert!(!sandbox.project().join(".agents").exists());
}

/// A chain without an end stops.
#[test]
fn too_many() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    let names: Vec<String> = (0..300).map(|number| format!("s{number}")).collect();
    let skills = names.windows(2).map(|pair| (pair[0].as_str(), "1.0", pair[1].as_str()));
    let mut skills: Vec<_> = skills.collect();
    skills.push(("s299", "1.0", ""));
    forge.repo("acme/chain").commit(&tree(&skills));
    sandbox.fails(&["install", "acme/chain@s0"], 5, "integrity", &["s257", "--no-deps"]);
    assert!(!sandbox.project().join(".agents").exists());
    sandbox.ok(&["install", "acme/chain@s100"]);
    assert_eq!(there(&sandbox).len(), 200);
}

/// Of an update of all skills, the one whose needs cannot be had stays as it is, and the others go on.
#[test]
fn an_update_goes_on_without_it() {
    let (forge, sandbox) = scene("charts");
    sandbox.ok(&["install", "acme/skills@report"]);
    forge.repo("acme/free").commit(&tree(&[("free", "1.0", "")]));
    sandbox.ok(&["install", "acme/free"]);
    forge.repo("acme/free").commit(&tree(&[("free", "2.0", "")]));
    forge.repo("acme/skills").commit(&tree(&[
        ("report", "2.0", "charts new nobody/nothing"),
        ("charts", "1.0", ""),
        ("new", "1.0", ""),
    ]));
    sandbox.tells(
        &["update"],
        4,
        "skills: name change status from.version to.version; skills.files: path; failures: names code",
        &[
            "charts unchanged current 1.0 -",
            "free updated changed 1.0 2.0",
            "report failed changed 1.0 -",
            "SKILL.md",
            "report network",
        ],
    );
    assert_eq!(locked(&sandbox), ["charts", "free", "report: charts"]);
    assert!(sandbox.read(".agents/skills/free/SKILL.md").contains("2.0"));
    assert_eq!(sandbox.run(&["update", "report"]).code, Some(4));
}

/// What came for a skill that stays as it is comes for the others that need it, with all that it needs itself.
#[test]
fn what_others_need_too_comes_whole() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    forge.repo("acme/skills").commit(&tree(&[("aaa", "1.0", ""), ("bbb", "1.0", ""), ("ccc", "1.0", "")]));
    sandbox.ok(&["install", "acme/skills", "-s", "*"]);
    forge.repo("acme/skills").commit(&tree(&[
        ("aaa", "2.0", "y"),
        ("bbb", "2.0", "y w"),
        ("ccc", "2.0", "y w"),
        ("w", "1.0", "nobody/nothing"),
        ("y", "1.0", "z"),
        ("z", "1.0", ""),
    ]));
    let output = sandbox.run(&["update", "--allow-new-capabilities"]);
    assert_eq!(output.code, Some(4), "{output}");
    assert_eq!(locked(&sandbox), ["aaa: y", "bbb", "ccc", "y: z", "z"]);
    assert_eq!(there(&sandbox), ["aaa", "bbb", "ccc", "y", "z"]);
    sandbox.ok(&["tree"]);
}

/// A new version that is not taken after all meets nobody's range.
#[test]
fn a_version_that_is_given_up_is_not_there() {
    let forge = Forge::start();
    let sandbox = machine(&forge);
    forge.repo("acme/skills").commit(&tree(&[("doc", "1.0", "pdf"), ("pdf", "1.0", "")]));
    sandbox.ok(&["install", "acme/skills@doc"]);
    forge.repo("acme/skills").commit(&tree(&[("doc", "2.0", "pdf@^2"), ("pdf", "2.0", "nobody/nothing")]));
    sandbox.tells(&["update"], 4, "skills: name change status from.version to.version; skills.files: path; failures: names code; warnings: code", &["doc updated changed 1.0 2.0", "pdf failed changed 1.0 -", "SKILL.md", "pdf network", "dependency-out-of-range"]);
    assert_eq!(locked(&sandbox), ["doc: pdf", "pdf"]);
}

/// What a policy keeps out for what is in it holds up the one that needs it, and no other.
#[test]
fn an_update_goes_on_without_what_is_refused() {
    let (forge, sandbox) = scene("charts");
    sandbox.write("skillpm.toml", "[policy]\naudit = \"warning\"\n");
    sandbox.ok(&["install", "acme/skills@report"]);
    forge.repo("acme/free").commit(&tree(&[("free", "1.0", "")]));
    sandbox.ok(&["install", "acme/free"]);
    forge.repo("acme/free").commit(&tree(&[("free", "2.0", "")]));
    let bad = "---\nname: bad\ndescription: d\n---\nSee [x](../../x).\n";
    let new = tree(&[("report", "2.0", "charts new bad"), ("charts", "1.0", ""), ("new", "1.0", "")]);
    forge.repo("acme/skills").commit(&new.file("skills/bad/SKILL.md", bad));
    let output = sandbox.run(&["update"]);
    assert_eq!(output.code, Some(5), "{output}");
    let told =
        "`report` was left as is: `report` needs `bad`, which cannot be installed: `bad` has a finding";
    assert!(output.stderr.contains(told), "{output}");
    assert_eq!(locked(&sandbox), ["charts", "free", "report: charts"]);
    assert!(sandbox.read(".agents/skills/free/SKILL.md").contains("2.0"));
}
