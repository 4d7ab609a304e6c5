//! Registries and other sources in one search.

use super::*;

/// A skill of a repository limits the versions of a registry, as a skill of the registry does.
#[test]
fn two_skills_of_repositories_that_need_different_versions() {
    let all = Registries::of(&["base 1.0.0", "base 2.0.0"]);
    let one = |of: &str, range: &str| {
        skill(of, "acme/a", "1.0", &format!("registry:https://one.example//base#{range}"))
    };
    let roots = [one("lint", "^1"), one("style", "^2")];
    assert_eq!(solved(&coming(&roots[..1]), &all), "base 1.0.0");
    assert_eq!(solved(&coming(&roots[1..]), &all), "base 2.0.0");
    assert_eq!(
        explained(&coming(&roots), &all)[..3],
        [
            "`lint` 1.0, which you asked for, needs `base@^1`",
            "`style` 1.0, which you asked for, needs `base@^2`",
            "no version of `base` is in both `^1` and `^2`",
        ]
    );
}

/// The manifest and a skill that comes meet in one search, whichever was there first.
#[test]
fn a_skill_of_a_repository_and_the_manifest() {
    let all = Registries::of(&["base 1.0.0", "base 1.5.0", "base 2.0.0"]);
    let comes = |ranges: &[&str]| Problem {
        reach: Reach::Lazy,
        ..with(problem(ranges), &[skill("lint", "acme/a", "1.0", "base@^1")])
    };
    assert_eq!(solved(&comes(&["base@^2"]), &all), "no solution");
    assert_eq!(solved(&comes(&["base@>=1"]), &all), "base 1.5.0");
    // It is what the user requested.
    let any = with(problem(&["base@^2"]), &[skill("lint", "acme/a", "1.0", "base")]);
    assert_eq!(solved(&any, &all), "base 2.0.0");
}

fn with(problem: Problem, skills: &[Dependent]) -> Problem {
    Problem { coming: coming(skills).coming, ..problem }
}

/// A skill of a registry needs one of a repository, which needs one of the registry that limits the first.
#[test]
fn backtracking_through_a_repository() {
    let all = Registries::of(&[
        "app 1.0.0: acme/a/old",
        "app 2.0.0: acme/a/new, base@^1",
        "base 1.0.0",
        "base 2.0.0",
    ]);
    let all = all.with(&[
        ("acme/a", "new", "1.0", "registry:https://one.example//base#^2"),
        ("acme/a", "old", "1.0", "registry:https://one.example//base#^2"),
    ]);
    assert_eq!(solved(&problem(&["app"]), &all), "app 1.0.0, base 2.0.0, old of github:acme/a/old");
    let circle = Registries::of(&["app 1.0.0: acme/a/tool", "app 2.0.0: acme/a/tool"]);
    let circle = circle.with(&[("acme/a", "tool", "1.0", "registry:https://one.example//app#^1")]);
    assert_eq!(solved(&problem(&["app"]), &circle), "app 1.0.0, tool of github:acme/a/tool");
    let told = explained(&problem(&["app@^2"]), &circle);
    assert_eq!(
        told[..3],
        [
            "`app` 2.0.0, which you asked for as `app@^2`, needs `github:acme/a/tool`",
            "`tool` 1.0 needs `app@^1`",
            "no version of `app` is in both `^2` and `^1`",
        ]
    );
}

/// A version that the search gives up leads to a skill `base`, which no name means afterwards.
#[test]
fn names_mean_nothing_that_was_given_up() {
    let registry = |name: &str| format!("registry:https://one.example//{name}");
    let all = Registries::of(&[
        "app 1.0.0: acme/a/tool",
        "app 2.0.0: acme/a/new, lib@^1",
        "lib 1.0.0",
        "lib 2.0.0",
        "base 1.0.0",
    ]);
    let expected = "app 1.0.0, tool of github:acme/a/tool, base of github:acme/a/base";
    for base in ["other/b/base".to_owned(), registry("base")] {
        for needs in ["base", "base@^2"] {
            let new = format!("{}#^2 {base}", registry("lib"));
            let sources = all.clone().with(&[
                ("acme/a", "new", "1.0", &new),
                ("acme/a", "tool", "1.0", needs),
                ("acme/a", "base", "2.0", ""),
                ("other/b", "base", "1.0", ""),
            ]);
            assert_eq!(solved(&problem(&["app"]), &sources), expected, "{base} {needs}");
        }
    }
}

/// A registry that cannot be read is the trouble of the skill that needs it.
#[test]
fn an_unreadable_registry_can_be_skipped() {
    let mut all = Registries::of(&["base 1.0.0"]);
    all.broken.insert(name("gone"));
    let tool = skill(
        "tool",
        "acme/a",
        "1.0",
        "registry:https://one.example//gone registry:https://one.example//base",
    );
    let stops = solve(&coming(std::slice::from_ref(&tool)), &mut all.clone());
    let Err(SolveError::Unresolved(unresolved)) = stops else { panic!("{stops:?}") };
    assert_eq!((unresolved.root, unresolved.error.as_str()), (name("tool"), "gone is broken"));
    let skips = Problem { on_unresolved: OnUnresolved::Skip, ..coming(&[tool]) };
    let solution = solve(&skips, &mut all).expect("a solution");
    assert_eq!(solution.versions.len(), 1);
    assert_eq!(solution.unresolved[0].text, "registry:https://one.example//gone");
    assert_eq!(solution.assignment.of(&name("tool")), Some(&BTreeSet::from(["base".to_owned()])));
}

/// A skill in the place of a registry's skill stays there.
#[test]
fn a_skill_of_a_registry_needs_room() {
    let mut all = Registries::of(&["app 1.0.0: base", "base 1.0.0"]);
    all.full.insert("base");
    let tool = skill("tool", "acme/a", "1.0", "registry:https://one.example//app");
    let solution = solve(&coming(&[tool]), &mut all.clone()).expect("a solution");
    assert_eq!(solution.versions.len(), 1);
    assert!(matches!(&solution.notices[..], [Notice::NoRoom { .. }]), "{:?}", solution.notices);
    // It is the user's decision where it is required or installed.
    assert_eq!(solved(&problem(&["app", "base"]), &all), "app 1.0.0, base 1.0.0");
}

/// Locked skills stay, and sources that nothing new needs stay closed.
#[test]
fn what_stays_is_not_asked_for() {
    let all =
        Registries::of(&["app 1.0.0: acme/a/tool", "base 1.0.0"]).with(&[("acme/a", "tool", "1.0", "")]);
    let id = |of: &str| (RegistryId(0), name(of));
    let settled = Settled { version: version("1.0.0"), dependencies: vec![name("tool")] };
    let there = Problem {
        settled: BTreeMap::from([(id("app"), settled)]),
        known: BTreeSet::from([id("app")]),
        installed: vec![installed("tool", "acme/a", "1.0", false)],
        ..locked(problem(&["app", "base"]), &["app 1.0.0"])
    };
    let mut asked = all.clone();
    let solution = solve(&there, &mut asked).expect("a solution");
    assert_eq!((asked.opened.len(), solution.assignment.of(&name("app"))), (0, None));
    // A new skill that has nothing to do with registries does not ask them.
    let lazy = Problem { reach: Reach::Lazy, ..with(there, &[skill("own", "acme/a", "", "tool")]) };
    let mut asked = all.clone();
    solve(&lazy, &mut asked).expect("a solution");
    assert_eq!((asked.requested.len(), asked.opened.len()), (0, 0));
}

/// A skill of a registry and one of a repository cannot have one name.
#[test]
fn one_name_in_a_registry_and_in_a_repository() {
    let all = Registries::of(&["app 1.0.0: base, acme/a/tool", "base 1.0.0"]).with(&[
        ("acme/a", "tool", "1.0", "other/b/base"),
        ("acme/a", "base", "1.0", ""),
        ("other/b", "base", "1.0", ""),
        ("acme/a", "lint", "1.0", "base"),
    ]);
    assert_eq!(
        explained(&problem(&["app"]), &all)[..3],
        [
            "`tool` 1.0 needs `base` from `github:other/b/base`",
            "`app` 1.0.0 needs `base` from the registry `registry:https://one.example`",
            "only one skill can be installed as `base`",
        ]
    );
    // A name without a source means the one that is there.
    let lint = with(problem(&["base"]), &[skill("lint", "acme/a", "1.0", "base")]);
    let solution = solve(&lint, &mut all.clone()).expect("a solution");
    assert_eq!(solution.selected, []);
    assert!(solution.assignment.of(&name("lint")).is_some_and(|needed| needed.contains("base")));
}

/// Versions that are yanked or too young do not come by way of a repository either.
#[test]
fn withdrawn_and_young_versions() {
    let all = Registries::of(&["base 1.0.0 at 10", "base 1.1.0 yanked at 10", "base 1.2.0 at 90"]);
    let aged = Registries { age: Some(ReleaseAge { now: 100, minimum: 40 }), ..all };
    let lint = |range: &str| {
        coming(&[skill("lint", "acme/a", "", &format!("registry:https://one.example//base#{range}"))])
    };
    assert_eq!(solved(&lint("^1"), &aged), "base 1.0.0");
    assert_eq!(solved(&lint("^1.1"), &aged), "no solution");
    let overrides = BTreeMap::from([(name("base"), "=1.0.0".parse().expect("a range"))]);
    let solution = solve(&Problem { overrides, ..lint("^1.1") }, &mut aged.clone()).expect("a solution");
    assert!(matches!(&solution.notices[..], [Notice::Overridden { .. }]), "{:?}", solution.notices);
}
