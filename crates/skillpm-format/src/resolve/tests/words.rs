//! Explanations.

use super::*;

#[test]
fn two_skills_need_different_versions() {
    let all = Registries::of(&["report 1.2.0: base@^2", "chart 0.9.1: base@^1", "base 1.0.0", "base 2.0.0"]);
    let told = explained(&problem(&["report", "chart@^0.9"]), &all);
    assert_eq!(
        told,
        [
            "`chart` 0.9.1, which you asked for as `chart@^0.9`, needs `base@^1`",
            "`report` 1.2.0, which you asked for, needs `base@^2`",
            "no version of `base` is in both `^1` and `^2`",
            "- add an `[override]` of `base` in the manifest, which replaces all ranges of it",
            "- ask for another range of `chart` than `chart@^0.9`",
        ]
    );
}

#[test]
fn a_skill_needs_another_version_than_the_user() {
    let all = Registries::of(&[
        "app 1.0.0: mid",
        "mid 1.0.0: base@^1",
        "mid 1.1.0: base@^1",
        "base 1.0.0",
        "base 2.0.0",
    ]);
    let told = explained(&problem(&["app", "base@^2"]), &all);
    assert_eq!(
        told,
        [
            "you asked for `base@^2`",
            "`app` 1.0.0, which you asked for, needs `mid`",
            "`mid` 1.1.0 and 1.0.0 need `base@^1`",
            "no version of `base` is in both `^2` and `^1`",
            "- `install base@^1` asks for a version that the others accept",
            "- add an `[override]` of `base` in the manifest, which replaces all ranges of it",
            "- ask for another range of `base` than `base@^2`",
        ]
    );
}

#[test]
fn a_skill_from_elsewhere_needs_another_version() {
    let mut all = Registries::of(&["base 1.0.0", "base 2.0.0"]);
    let house = Installed { limits: true, ..installed("house", "acme/x", "1.0", true) };
    all.installed.push(skill("house", "acme/x", "1.0", "base@^1"));
    let problem = Problem { installed: vec![house], ..problem(&["base@^2"]) };
    let told = explained(&problem, &all);
    assert_eq!(
        told,
        [
            "you asked for `base@^2`",
            "`house` 1.0, which you asked for, needs `base@^1`",
            "no version of `base` is in both `^2` and `^1`",
            "- `install base@^1` asks for a version that the others accept",
            "- add an `[override]` of `base` in the manifest, which replaces all ranges of it",
            "- ask for another range of `base` than `base@^2`",
            "- `update house` gets a newer version, which may need something else",
        ]
    );
}

#[test]
fn versions_that_differ_in_what_they_need() {
    let mut lines = vec!["base 9.0.0".to_owned()];
    lines.extend((1..8).map(|n| format!("chart {n}.0.0: base@^{n}")));
    lines.extend((1..8).map(|n| format!("base {n}.0.0")));
    let all = Registries::of(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let told = explained(&problem(&["chart", "base@^9"]), &all);
    assert_eq!(
        told[..6],
        [
            "you asked for `base@^9`",
            "`chart` 7.0.0, which you asked for, needs `base@^7`",
            "`chart` 6.0.0 needs `base@^6`",
            "`chart` 5.0.0 needs `base@^5`",
            "4 other versions of `chart` need versions of `base` that do not fit either",
            "no version of `base` satisfies all of that",
        ]
    );
}

#[test]
fn what_a_registry_does_not_have() {
    let all = Registries::of(&["a 1.0.0: nope", "empty", "b 1.0.0", "b 1.1.0 yanked", "b 1.2.0", "b 2.0.0"]);
    let told = explained(&problem(&["nope"]), &all);
    assert_eq!(told, ["the registry `registry:https://one.example` has no skill `nope`"]);
    let told = explained(&problem(&["a"]), &all);
    assert_eq!(
        told,
        [
            "`a` 1.0.0, which you asked for, needs `nope`",
            "the registry `registry:https://one.example` has no skill `nope`"
        ]
    );
    let told = explained(&problem(&["empty"]), &all);
    assert_eq!(told, ["the registry `registry:https://one.example` has no version of `empty`"]);
    let told = explained(&problem(&["b@^3"]), &all);
    assert_eq!(
        told,
        [
            "no version of `b` is in `^3`: the newest are 2.0.0, 1.2.0 and 1.1.0 (yanked)",
            "- ask for another range of `b` than `b@^3`"
        ]
    );
}

#[test]
fn what_cannot_be_selected() {
    const DAY: i64 = 86_400;
    let young = format!("young 1.0.0 at {}", 10 * DAY + 1);
    let all =
        Registries::of(&["y 1.0.0 yanked", &young, "undated 1.0.0", "pre 1.0.0-rc.1", "pre 1.0.0-rc.2"]);
    assert_eq!(
        explained(&problem(&["y"]), &all),
        [
            "`y` 1.0.0 would fit, but it is yanked",
            "no other version of `y` is there",
            "- a yanked version stays only where it is locked: ask the publisher of `y` for a new version"
        ]
    );
    assert_eq!(
        explained(&problem(&["pre"]), &all),
        [
            "only pre-releases of `pre` are there: 1.0.0-rc.2 and 1.0.0-rc.1",
            "- `install pre@1.0.0-rc.2` accepts a pre-release"
        ]
    );
    let aged = Registries { age: Some(ReleaseAge { now: 12 * DAY, minimum: 7 * DAY }), ..all };
    assert_eq!(
        explained(&problem(&["young@^1"]), &aged),
        [
            "`young` 1.0.0 would fit, but it is too young for the minimum release age",
            "no other version of `young` is in `^1`",
            "- `young` 1.0.0 is old enough in 6 days, on 1970-01-19",
            "- ask for another range of `young` than `young@^1`",
        ]
    );
    assert!(explained(&problem(&["undated"]), &aged)[2].contains("does not say when"));
}

/// No range is at fault if only a yanked version is in all of them.
#[test]
fn a_yanked_version_that_would_meet_all_requirements() {
    let all = Registries::of(&["a 1.0.0: base@^1.1", "base 1.0.0", "base 1.1.0 yanked", "base 1.2.0"]);
    let told = explained(&problem(&["a", "base@<1.2"]), &all);
    assert_eq!(
        told[..4],
        [
            "you asked for `base@<1.2`",
            "`a` 1.0.0, which you asked for, needs `base@^1.1`",
            "no version of `base` is in both `<1.2` and `^1.1`",
            "`base` 1.1.0 would fit, but it is yanked",
        ]
    );
}

#[test]
fn times_from_a_hostile_registry() {
    let all = Registries::of(&["a 1.0.0 at 9223372036854775807", "b 1.0.0 at -9223372036854775808"]);
    let aged = Registries { age: Some(ReleaseAge { now: 1000, minimum: i64::MAX }), ..all };
    assert!(explained(&problem(&["a", "b"]), &aged).len() > 2);
}

#[test]
fn an_override_that_accepts_nothing() {
    let all = Registries::of(&["a 1.0.0: base@^1", "base 1.0.0"]);
    let overrides = BTreeMap::from([(name("base"), "^2".parse().expect("a range"))]);
    let told = explained(&Problem { overrides, ..problem(&["a"]) }, &all);
    assert_eq!(
        told,
        [
            "`a` 1.0.0, which you asked for, needs `base@^2`, as overridden",
            "no version of `base` is in `^2`: the newest is 1.0.0",
            "- change the `[override]` of `base` in the manifest, which replaces all ranges of it"
        ]
    );
}
