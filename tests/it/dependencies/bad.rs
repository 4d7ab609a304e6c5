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
fn refused(needs: &str) -> String {
    let (_forge, sandbox) = scene(needs);
    let before = sandbox.tree(&sandbox.project());
    let output = sandbox.run(&["install", "acme/skills@report"]);
    assert_ne!(output.code, Some(0), "{needs}");
    assert_eq!(sandbox.tree(&sandbox.project()), before, "{needs}");
    // It can be had without.
    sandbox.ok(&["install", "acme/skills@report", "--no-deps"]);
    output.to_string()
}

#[test]
fn a_source_that_is_not_there() {
    insta::assert_snapshot!(refused("nobody/nothing"), @"
    exit: 4
    --- stderr
    error: `report` needs `nobody/nothing`, which is not available
      caused by: the repository `nobody/nothing` was not found, or is private
    hint: set `GITHUB_TOKEN` to a token that may read it, if it is private; else check the spelling
    hint: `--no-deps` leaves out what skills need
    ");
    insta::assert_snapshot!(refused("other/base"), @"
    exit: 2
    --- stderr
    error: `report` needs `other/base`, which is not available
      caused by: `github:other/base` has 2 skills, but the dependency names none
    hint: the author of `report` must name one, as in `github:other/base@NAME`
    hint: `--no-deps` leaves out what skills need
    ");
    insta::assert_snapshot!(refused("other/base@nope"), @"
    exit: 2
    --- stderr
    error: `report` needs `other/base@nope`, which is not available
      caused by: there is no skill `nope` in `other/base`
    hint: `skillpm install --list other/base` shows what is available
    hint: `--no-deps` leaves out what skills need
    ");
    insta::assert_snapshot!(refused("../nope"), @"
    exit: 2
    --- stderr
    error: `report` needs `../nope`, which is not available
      caused by: there is no directory `skills/nope` in `acme/skills`
    hint: `skillpm install --list acme/skills` shows what is available
    hint: `--no-deps` leaves out what skills need
    ");
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
        let told = refused(&needs);
        assert!(
            told.contains("leads out of `acme/skills`, to another path on this machine"),
            "{needs}: {told}"
        );
    }
}

/// What is no requirement, and names that nobody has, are told and stop nothing.
#[test]
fn what_says_nothing() {
    let (_forge, sandbox) = scene("Wrong charts@^7 absent pdf@next");
    insta::assert_snapshot!(sandbox.run(&["install", "acme/skills@report"]), @"
    exit: 0
    --- stderr
    + report 1.0 (github:acme/skills at af946e5)
    1 skill added in `.agents/skills`
    available to agents that read `.agents/skills`; `--agent` adds others
    `skillpm.toml` and `skillpm.lock` changed: commit both
    warning: what `report` needs cannot be read: `Wrong`: the name `Wrong` has an upper-case letter
    warning: `report` needs `charts@^7`, which is not installed, and `acme/skills` has version 1.0: `skillpm install SOURCE` installs it
    warning: `report` needs `absent`, which is not installed, and `acme/skills` has no such skill: `skillpm install SOURCE` installs it
    warning: what `report` needs cannot be read: `pdf@next`: `next` is not a version range: unexpected character 'n' while parsing major version number
    hint: `skillpm list` shows what is installed, `skillpm invoke report` what an agent gets
    ");
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
    insta::assert_snapshot!(sandbox.run(&["install", "acme/b"]), @"
    exit: 1
    --- stderr
    error: no versions fit together:
      `b` 1.0, which you asked for, needs `github:two/base/skills/base`
      `a` 1.0, which you asked for, needs `github:one/base/skills/base`
      only one skill can be installed as `base`
    hint: `skillpm install github:two/base/skills/base` asks for that one, which all of them then use
    hint: `skillpm install github:one/base/skills/base` asks for that one, which all of them then use
    hint: `skillpm update a` gets a newer version, which may need something else
    ");
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
    insta::assert_snapshot!(sandbox.run(&["install", "acme/skills@report"]), @r#"
    exit: 5
    --- stderr
    error: `report` needs `other/base@base`, which is not available
      caused by: `github:other/base` is not on the `allow` list
      caused by: skillpm.toml:2:10: `allow = "github:acme/*"` says so
    hint: nothing was changed; `skillpm policy github:other/base` shows every line that applies
    hint: `--no-deps` leaves out what skills need
    "#);
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
    insta::assert_snapshot!(sandbox.run(&["install", "acme/chain@s0"]), @"
    exit: 5
    --- stderr
    error: more than 256 skills outside of registries are needed, including `s257`
    hint: `--no-deps` leaves out what skills need
    ");
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
    insta::assert_snapshot!(sandbox.run(&["update"]), @"
    exit: 4
    --- stderr
    ~ free 1.0 -> 2.0 (github:acme/free at a28f878 -> 2d66a56)
        review: no new commands, addresses, scripts, tools or hidden text
        1 file: 1 changed; 1 line added, 1 removed
    ! report was left as is
    1 skill updated, 1 up to date, 1 failed in `.agents/skills`
    `skillpm.lock` changed: commit it
    warning: `report` was left as is: `report` needs `nobody/nothing`, which is not available: the repository `nobody/nothing` was not found, or is private
    hint: set `GITHUB_TOKEN` to a token that may read it, if it is private; else check the spelling
    hint: `--no-deps` leaves out what skills need
    ");
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
    insta::assert_snapshot!(sandbox.run(&["update"]), @"
    exit: 4
    --- stderr
    ~ doc 1.0 -> 2.0 (github:acme/skills at fd696b9 -> 0d511af)
        review: no new commands, addresses, scripts, tools or hidden text
        1 file: 1 changed; 2 lines added, 2 removed
    warning: `doc` needs `pdf@^2`, but the installed version is version 1.0
    ! pdf was left as is
    1 skill updated, 1 failed in `.agents/skills`
    `skillpm.lock` changed: commit it
    warning: `pdf` was left as is: `pdf` needs `nobody/nothing`, which is not available: the repository `nobody/nothing` was not found, or is private
    hint: set `GITHUB_TOKEN` to a token that may read it, if it is private; else check the spelling
    hint: `--no-deps` leaves out what skills need
    ");
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
