//! `self check`: the facts, and the only request that asks for a newer version.

use serde_json::Value;

use crate::support::{Endpoint, Fault, Forge, Sandbox, Tree};

/// Runs the command with `flags` and returns its exit code and what it says.
fn checked(sandbox: &Sandbox, flags: &[&str]) -> (Option<i32>, Value) {
    let output = sandbox.run(&[&["self", "check", "--json"], flags].concat());
    let said = serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"));
    (output.code, said)
}

#[test]
fn a_newer_version_is_found_among_the_released_ones() {
    let forge = Forge::start();
    let repo = forge.repo("skillpm/skillpm");
    let commit = repo.commit(&Tree::new().file("README.md", "skillpm"));
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);

    let (code, said) = checked(&sandbox, &["--offline"]);
    assert_eq!((code, &said["newest"], &said["outdated"]), (Some(0), &Value::Null, &false.into()));
    assert_eq!(said["version"], env!("CARGO_PKG_VERSION"));
    // The tests may build anywhere.
    assert!(["source", "unknown"].contains(&said["installed"]["by"].as_str().expect("a manager")));
    assert!(forge.requests().is_empty());

    repo.tag(concat!("v", env!("CARGO_PKG_VERSION")), &commit).tag("v99.0.0-rc.1", &commit);
    let (code, said) = checked(&sandbox, &["--exit-code"]);
    assert_eq!((code, &said["newest"]), (Some(0), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!(forge.asked(), ["/repos/skillpm/skillpm/git/matching-refs/tags/v"]);

    repo.tag("v98.0.0", &commit);
    let (code, said) = checked(&sandbox, &["--exit-code"]);
    assert_eq!((code, &said["newest"], &said["outdated"]), (Some(1), &"98.0.0".into(), &true.into()));
    assert_eq!(checked(&sandbox, &[]).0, Some(0));
}

#[test]
fn without_an_answer_the_rest_is_shown() {
    let forge = Forge::start();
    let mut sandbox = Sandbox::new();
    sandbox.forge(&forge);
    forge.fail_always(Endpoint::Tags, Fault::rate_limit(3600));
    let (code, said) = checked(&sandbox, &[]);
    assert_eq!((code, &said["newest"]), (Some(4), &Value::Null));
    let message = said["warnings"][0]["message"].as_str().expect("a warning");
    assert!(message.starts_with("the newest version is not known: "), "{message}");
    let output = sandbox.run(&["self", "check"]);
    assert!(output.stdout.contains("newest     unknown\n"), "{output}");
}
