//! Sources that are no registries.

use super::*;

/// The solution for what `roots` depend on, which the user requests, where `there` is installed.
fn resolved(sources: &Registries, there: Vec<Installed>, roots: &[Dependent]) -> Answer<Registries> {
    solve(&Problem { installed: there, ..coming(roots) }, &mut sources.clone())
}

fn names(resolution: &Solution<(), String>) -> Vec<String> {
    let text = |one: &Selected<()>| format!("{} for {} of {}", one.skill.name, one.found.by, one.found.root);
    resolution.selected.iter().map(text).collect()
}

fn needed(resolution: &Solution<(), String>, of: &str) -> Vec<String> {
    resolution.assignment.of(&name(of)).into_iter().flatten().cloned().collect()
}

#[test]
fn what_is_selected_is_followed_in_order() {
    let sources = Registries::default().with(&[
        ("acme/a", "base", "1.2.0", "deep"),
        ("acme/a", "deep", "1.0.0", "base other/b/fonts"),
        ("other/b", "fonts", "2.0.0", ""),
    ]);
    let root = skill("report", "acme/a", "1.0.0", "base@^1 ./missing");
    let resolution = resolved(&sources, Vec::new(), std::slice::from_ref(&root));
    let Err(SolveError::Unresolved(unresolved)) = resolution else { panic!("{resolution:?}") };
    assert_eq!((unresolved.root, unresolved.text.as_str()), (name("report"), "./missing"));

    let root = Dependent { declared: root.declared[..1].to_vec(), ..root };
    let resolution = resolved(&sources, Vec::new(), &[root]).expect("resolves");
    assert_eq!(
        names(&resolution),
        ["base for report of report", "deep for base of report", "fonts for deep of report"]
    );
    assert_eq!(needed(&resolution, "report"), ["base"]);
    assert_eq!(needed(&resolution, "deep"), ["base", "fonts"]);
    assert_eq!(needed(&resolution, "fonts"), [""; 0]);
    assert_eq!(resolution.notices, []);
    let without = BTreeSet::from([name("deep")]);
    let reached = resolution.assignment.reached([&name("report")], &without);
    assert_eq!(reached, BTreeSet::from([name("base"), name("report")]));
}

/// A path leads to another skill of the same source, at the revision at which that is read.
#[test]
fn a_path_is_a_sibling() {
    let sources = Registries::default().with(&[("acme/a", "base", "1.0.0", "")]);
    let root = skill("report", "acme/a", "1.0.0", "../base");
    let resolution = resolved(&sources, Vec::new(), &[root]).expect("resolves");
    assert_eq!(names(&resolution), ["base for report of report"]);
}

/// An installed skill of any version satisfies a dependency, with a notice.
#[test]
fn what_is_installed_wins() {
    let sources = Registries::default().with(&[("acme/a", "base", "2.0.0", "")]);
    let there = vec![installed("base", "acme/a", "1.0.0", false)];
    let root = skill("report", "acme/a", "1.0.0", "base@^2 acme/a/base Wrong");
    let resolution = resolved(&sources, there, &[root]).expect("resolves");
    assert_eq!(names(&resolution), [""; 0]);
    assert_eq!(needed(&resolution, "report"), ["base"]);
    let [Notice::Malformed { text, .. }, Notice::OutOfRange { version, .. }] = &resolution.notices[..] else {
        panic!("{:?}", resolution.notices);
    };
    assert_eq!((version.as_deref(), text.as_str()), (Some("1.0.0"), "Wrong"));
}

#[test]
fn two_skills_of_one_name() {
    let sources = Registries::default().with(&[("acme/a", "base", "", ""), ("other/b", "base", "", "")]);
    let root = || skill("report", "acme/a", "", "other/b/base");
    // The user asked for it.
    let there = vec![installed("base", "acme/a", "", true)];
    let resolution = resolved(&sources, there, &[root()]).expect("resolves");
    assert_eq!(names(&resolution), [""; 0]);
    assert_eq!(needed(&resolution, "report"), ["base"]);
    assert!(matches!(&resolution.notices[..], [Notice::RequestedStays { .. }]), "{:?}", resolution.notices);
    // Another skill depends on it.
    let first = Installed { dependencies: vec![name("base")], ..installed("first", "acme/a", "2.0", true) };
    let there = vec![first, installed("base", "acme/a", "", false)];
    let problem = Problem { installed: there.clone(), reach: Reach::Lazy, ..coming(&[root()]) };
    assert_eq!(
        explained(&problem, &sources),
        [
            "`report`, which you asked for, needs `github:other/b/base`",
            "`first` 2.0, which you asked for, needs `github:acme/a/base`",
            "only one skill can be installed as `base`",
            "- `install github:other/b/base` asks for that one, which all of them then use",
            "- `install github:acme/a/base` asks for that one, which all of them then use",
            "- `update first` gets a newer version, which may need something else",
        ]
    );
    // That one comes in another version and no longer depends on it.
    let resolution = resolved(&sources, there, &[root(), skill("first", "acme/a", "", "")]);
    assert_eq!(names(&resolution.expect("resolves")), ["base for report of report"]);
}

/// A new version of a skill that nothing needs any more does not stand in the way of another one of its name.
#[test]
fn what_comes_for_others_comes_if_they_still_need_it() {
    let sources = Registries::default().with(&[("acme/a", "base", "", ""), ("other/b", "base", "", "")]);
    let there = || vec![installed("base", "acme/a", "1.0", false)];
    let problem = |needs: &str, by: WantedBy| {
        let mut problem = Problem { installed: there(), ..coming(&[skill("report", "acme/a", "", needs)]) };
        problem.coming.push((skill("base", "acme/a", "2.0", ""), by));
        problem
    };
    assert_eq!(solved(&problem("other/b/base", WantedBy::Coming), &sources), "base of github:other/b/base");
    assert_eq!(solved(&problem("base", WantedBy::Coming), &sources), "");
    assert_eq!(solved(&problem("other/b/base", WantedBy::Staying), &sources), "no solution");
}

/// Two references to one place are two versions of one skill.
#[test]
fn two_references() {
    let sources =
        Registries::default().with(&[("acme/x#v1", "base", "1.0", ""), ("acme/x#v2", "base", "2.0", "")]);
    let roots = [skill("a", "acme/a", "", "acme/x/base#v1"), skill("b", "acme/a", "", "acme/x/base#v2")];
    assert_eq!(
        explained(&coming(&roots), &sources)[..3],
        [
            "`a`, which you asked for, needs `github:acme/x/base#v1`",
            "`b`, which you asked for, needs `github:acme/x/base#v2`",
            "only one skill can be installed as `base`",
        ]
    );
    assert_eq!(solved(&coming(&roots[..1]), &sources), "base of github:acme/x/base#v1");
}

/// A dependency by name comes from the present source of the skill that declares it, if that has it.
#[test]
fn what_is_needed_follows() {
    let sources =
        Registries::default().with(&[("acme/a", "base", "2.0", "deep"), ("acme/a", "deep", "2.0", "")]);
    let old = |of: &str| Installed { follows: true, ..installed(of, "acme/a#gone", "1.0", false) };
    let there = || vec![old("base"), old("deep"), old("lost")];
    let root = skill("report", "acme/a", "", "base lost");
    let resolution = resolved(&sources, there(), &[root]).expect("resolves");
    assert_eq!(names(&resolution), ["base for report of report", "deep for base of report"]);
    assert_eq!(needed(&resolution, "report"), ["base", "lost"]);
}

/// A name without a source means whichever skill of that name is selected, in any order.
#[test]
fn a_name_means_what_others_need() {
    let sources = Registries::default().with(&[("acme/a", "base", "", ""), ("other/b", "base", "", "")]);
    let mut roots = [skill("a", "acme/a", "", "base"), skill("b", "acme/a", "", "other/b/base")];
    assert_eq!(solved(&coming(&roots), &sources), "base of github:other/b/base");
    roots.reverse();
    assert_eq!(solved(&coming(&roots), &sources), "base of github:other/b/base");
    assert_eq!(solved(&coming(&roots[1..]), &sources), "base of github:acme/a/base");
}

#[test]
fn what_nobody_has() {
    let mut sources = Registries::default().with(&[("acme/a", "old", "1.0.0", "")]);
    sources.elsewhere.insert("known");
    let root = skill("report", "acme/a", "", "gone old@^2 known");
    let resolution = resolved(&sources, Vec::new(), &[root]).expect("resolves");
    let has = |notice: &Notice| match notice {
        Notice::Missing { has, .. } => Some(has.clone()),
        _ => None,
    };
    let has: Vec<_> = resolution.notices.iter().filter_map(has).collect();
    assert_eq!(has, [Has::Nothing, Has::Version(Some("1.0.0".to_owned()))]);
    assert_eq!(needed(&resolution, "report"), [""; 0]);
}

#[test]
fn what_cannot_be_resolved_may_be_skipped() {
    let mut sources = Registries::default().with(&[("acme/a", "base", "", ""), ("acme/a", "full", "", "")]);
    sources.full.insert("full");
    let root = skill("report", "acme/a", "", "acme/gone/x base full");
    let problem = Problem { on_unresolved: OnUnresolved::Skip, ..coming(&[root]) };
    let resolution = solve(&problem, &mut sources).expect("resolves");
    let unresolved: Vec<_> = resolution.unresolved.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(unresolved, ["acme/gone/x"]);
    assert_eq!(names(&resolution), ["base for report of report"]);
    assert_eq!(needed(&resolution, "report"), ["base"]);
    assert!(matches!(&resolution.notices[..], [Notice::NoRoom { .. }]), "{:?}", resolution.notices);
}

#[test]
fn a_chain_without_an_end() {
    let chain: Vec<(String, String)> =
        (0..=MAX_FOUND + 1).map(|at| (format!("s{at}"), format!("s{}", at + 1))).collect();
    let skills: Vec<_> = chain.iter().map(|(of, needs)| ("acme/a", &**of, "", &**needs)).collect();
    let root = skill("report", "acme/a", "", "s0");
    let found = resolved(&Registries::default().with(&skills), Vec::new(), &[root]);
    let Err(SolveError::TooMany { name, limit, .. }) = found else { panic!("{found:?}") };
    assert_eq!((name.as_str(), limit), (&*format!("s{MAX_FOUND}"), MAX_FOUND));
}

/// A new version that is out of the range of a skill that stays.
#[test]
fn what_stays_may_be_out_of_range() {
    let there = vec![installed("base", "acme/a", "1.0.0", false)];
    let roots = [skill("base", "acme/a", "2.0.0", "")];
    let resolution = resolved(&Registries::default(), there, &roots).expect("resolves");
    let stays = skill("report", "acme/a", "1.0.0", "base@^1 other");
    let told = resolution.assignment.out_of_range_for(&stays);
    assert!(matches!(&told[..], [Notice::NowOutOfRange { .. }]), "{told:?}");
}
