//! The rules, one by one.

use super::*;
use crate::resolve::Notice;

#[test]
fn the_highest_version_is_selected_or_the_lowest() {
    let all = Registries::of(&["a 1.9.0", "a 1.10.0", "a 2.0.0", "a 1.2.0: b", "b 1", "b 2.1"]);
    assert_eq!(solved(&problem(&["a"]), &all), "a 2.0.0");
    assert_eq!(solved(&problem(&["a@^1"]), &all), "a 1.10.0");
    assert_eq!(solved(&problem(&["a@1.0, <1.9"]), &all), "a 1.2.0, b 2.1");
    let minimal = Problem { minimal: true, ..problem(&["a"]) };
    assert_eq!(solved(&minimal, &all), "a 1.2.0, b 1");
}

#[test]
fn pre_releases_are_only_selected_if_a_bound_names_one() {
    let all = Registries::of(&["a 1.0.0", "a 2.0.0-rc.1", "a 2.0.0-rc.2", "b 1.0.0-rc.1", "a 2.1.0-rc.1"]);
    assert_eq!(solved(&problem(&["a"]), &all), "a 1.0.0");
    assert_eq!(solved(&problem(&["a@*"]), &all), "a 1.0.0");
    assert_eq!(solved(&problem(&["a@^2.0.0-rc.1"]), &all), "a 2.0.0-rc.2");
    assert_eq!(solved(&problem(&["b"]), &all), "no solution");
}

#[test]
fn yanked_versions_stay_only_if_they_are_locked() {
    let all = Registries::of(&["a 1.0.0", "a 1.1.0 yanked", "a 1.2.0"]);
    assert_eq!(solved(&problem(&["a@<1.2"]), &all), "a 1.0.0");
    assert_eq!(solved(&locked(problem(&["a"]), &["a 1.1.0"]), &all), "a 1.1.0");
    assert_eq!(solved(&locked(problem(&["a@>1.1"]), &["a 1.1.0"]), &all), "a 1.2.0");
    // A locked version that the registry no longer lists.
    assert_eq!(solved(&locked(problem(&["a"]), &["a 1.1.5"]), &all), "a 1.2.0");
}

/// A new requirement does not change what is locked if an older version of it avoids that.
#[test]
fn locked_skills_change_as_little_as_possible() {
    let all = Registries::of(&[
        "new 1.0.0: base@^1",
        "new 2.0.0: base@^2",
        "old 1.0.0: base@^1",
        "old 2.0.0: base@^2",
        "base 1.0.0",
        "base 2.0.0",
    ]);
    let roots = problem(&["new", "old"]);
    assert_eq!(solved(&roots, &all), "base 2.0.0, new 2.0.0, old 2.0.0");
    let kept = locked(roots, &["old 1.0.0", "base 1.0.0"]);
    assert_eq!(solved(&kept, &all), "base 1.0.0, new 1.0.0, old 1.0.0");
    // Unless the user asks for more.
    let wanted = locked(problem(&["new@^2", "old"]), &["old 1.0.0", "base 1.0.0"]);
    assert_eq!(solved(&wanted, &all), "base 2.0.0, new 2.0.0, old 2.0.0");
}

#[test]
fn of_equal_versions_the_highest_build_is_selected_and_the_text_is_kept() {
    let all = Registries::of(&["a 1.0+b.2", "a 1.0.0", "a 1.0+b.10"]);
    assert_eq!(solved(&problem(&["a@=1.0.0"]), &all), "a 1.0+b.10");
    assert_eq!(solved(&locked(problem(&["a"]), &["a 1.0.0+b.2"]), &all), "a 1.0+b.2");
    let all = Registries::of(&["a 1.10", "a 1.9"]);
    assert_eq!(solved(&problem(&["a"]), &all), "a 1.10");
    // A registry should not list a version twice.
    for lines in [["a 1.0", "a 1.0.0: a"], ["a 1.0.0: a", "a 1.0"]] {
        assert_eq!(solved(&problem(&["a"]), &Registries::of(&lines)), "a 1.0.0");
    }
}

#[test]
fn overrides_replace_all_ranges() {
    let all = Registries::of(&["a 1.0.0: base@^1", "base 1.0.0", "base 2.0.0", "base 2.0.0+b", "base 2.1.0"]);
    let with = |range: &str| Problem {
        overrides: BTreeMap::from([(name("base"), range.parse().expect(range))]),
        ..problem(&["a", "base@^3"])
    };
    assert_eq!(solved(&with("^2"), &all), "a 1.0.0, base 2.1.0");
    assert_eq!(solved(&with("=2.0"), &all), "a 1.0.0, base 2.0.0+b");
    assert_eq!(solved(&with("=2.2"), &all), "no solution");
}

#[test]
fn releases_that_are_too_young_are_not_selected() {
    let all = Registries::of(&["a 1.0.0 at 10", "a 1.1.0 at 60", "a 1.2.0", "a 1.3.0 at 91"]);
    let aged = Registries { age: Some(ReleaseAge { now: 100, minimum: 40 }), ..all };
    assert_eq!(solved(&problem(&["a"]), &aged), "a 1.1.0");
    let exempt = Registries { exempt: BTreeSet::from([name("a")]), ..aged.clone() };
    assert_eq!(solved(&problem(&["a"]), &exempt), "a 1.3.0");
    assert_eq!(solved(&locked(problem(&["a"]), &["a 1.2.0"]), &aged), "a 1.2.0");
    assert_eq!(solved(&problem(&["a@^1.2"]), &aged), "no solution");
}

#[test]
fn skills_may_depend_on_each_other_and_on_themselves() {
    let all = Registries::of(&["a 1.0.0: a@^2, b", "b 1.0.0: c", "c 1.0.0: a@^1"]);
    let solution = solve(&problem(&["a"]), &mut all.clone()).expect("a solution");
    let by = |of: &str| solution.versions[&(RegistryId(0), name(of))].needed_by.clone();
    let asker = |of: &str| Asker::Skill { name: name(of), version: Some("1.0.0".to_owned()) };
    assert_eq!(by("a"), BTreeSet::from([Asker::User, asker("c")]));
    assert_eq!(by("b"), BTreeSet::from([asker("a")]));
    assert_eq!(needed(&solution, "a"), ["b"]);
}

/// The names on which `of` depends.
fn needed(solution: &Solution<(), String>, of: &str) -> Vec<String> {
    solution.assignment.of(&name(of)).into_iter().flatten().cloned().collect()
}

#[test]
fn malformed_dependencies_are_told() {
    let all = Registries::of(&["a 1.0.0: b@next, B", "a 0.9.0: ../x"]);
    let solution = solve(&problem(&["a"]), &mut all.clone()).expect("a solution");
    let malformed = |notice: &Notice| match notice {
        Notice::Malformed { dependent, text, .. } => format!("{dependent}: {text}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(solution.notices.iter().map(malformed).collect::<Vec<_>>(), ["a: b@next", "a: B"]);
}

#[test]
fn names_that_are_bound_elsewhere_satisfy_everything() {
    let all = Registries::of(&["a 1.0.0: here@^2, bare@^1, any"]);
    let fixed = [("here", "1.0"), ("bare", ""), ("any", ""), ("pdf", "3.0.0")];
    let fixed = fixed.map(|(of, at)| installed(of, "acme/x", at, true));
    let problem = Problem { installed: fixed.into(), ..problem(&["a"]) };
    let solution = solve(&problem, &mut all.clone()).expect("a solution");
    let outside = |notice: &Notice| match notice {
        Notice::OutOfRange { dependent, text, version } => {
            (dependent.to_string(), text.clone(), version.clone())
        }
        other => panic!("{other:?}"),
    };
    let notices: Vec<_> = solution.notices.iter().map(outside).collect();
    let told =
        |of: &str, text: &str, at: Option<&str>| (of.to_owned(), text.to_owned(), at.map(str::to_owned));
    assert_eq!(notices, [told("a", "here@^2", Some("1.0")), told("a", "bare@^1", None)]);
    assert_eq!(needed(&solution, "a"), ["any", "bare", "here"]);
    assert_eq!(solution.versions.len(), 1);
}

#[test]
fn a_skill_from_two_registries_is_an_error() {
    let mut all = Registries::of(&["a 1.0.0: base", "base 1.0.0"]);
    all.add(1, &["b 1.0.0: base@^2", "base 2.0.0"]);
    let mut problem = problem(&["a"]);
    problem.roots.push(RootRequirement { registry: RegistryId(1), ..root("b") });
    assert_eq!(
        explained(&problem, &all)[..3],
        [
            "`a` 1.0.0 needs `base` from the registry `registry:https://one.example`",
            "`b` 1.0.0 needs `base` from the registry `registry:https://two.example`",
            "only one skill can be installed as `base`"
        ]
    );
    // Without a skill in both there is no conflict between registries.
    problem.installed.push(installed("base", "acme/x", "", true));
    assert_eq!(solved(&problem, &all), "a 1.0.0, b 1.0.0");
}

/// Some file systems would give them one directory.
#[test]
fn two_spellings_of_one_name_are_an_error() {
    let all = Registries::of(&["straße 1.0.0", "strasse 1.0.0"]);
    let told = explained(&problem(&["straße", "strasse"]), &all);
    assert!(told[2].contains("the same name on some file systems"), "{told:?}");
}

#[test]
fn a_registry_that_cannot_be_read_is_an_error_if_it_is_needed() {
    let mut all = Registries::of(&["a 2.0.0: base@^2, gone", "a 1.0.0", "base 1.0.0", "b 1.0.0: gone"]);
    all.broken.insert(name("gone"));
    let found = solve(&problem(&["b"]), &mut all.clone());
    assert!(matches!(&found, Err(SolveError::Unresolved(one)) if one.error == "gone is broken"), "{found:?}");
    let found = solve(&problem(&["gone"]), &mut all.clone());
    assert!(matches!(&found, Err(SolveError::Provider(_))), "{found:?}");
}

#[test]
fn a_provider_can_stop_the_search() {
    let mut all = Registries::of(&["a 1.0.0: b", "b 1.0.0: c", "c 1.0.0"]);
    all.patience = Some(2);
    let found = solve(&problem(&["a"]), &mut all);
    assert!(matches!(&found, Err(SolveError::Provider(why)) if why == "interrupted"), "{found:?}");
}

/// All names of a level are announced at once, so there are as many rounds as levels.
#[test]
fn names_are_announced_by_level_and_requested_once() {
    let mut all =
        Registries::of(&["a 1.0.0: c, d", "b 1.0.0: d, e", "c 1.0.0: f", "d 1.0.0: f", "e 1.0.0", "f 1.0.0"]);
    solve(&problem(&["b", "a"]), &mut all).expect("a solution");
    assert_eq!(all.prefetched, [vec!["a", "b"], vec!["c", "d", "e"], vec!["f"]]);
    all.requested.sort();
    assert_eq!(all.requested, ["a", "b", "c", "d", "e", "f"]);
}
