//! The cases that are hard for solvers.

use std::fmt::Write as _;

use super::search::solve_within;
use super::*;

fn lines(lines: &str) -> Registries {
    Registries::of(&lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>())
}

#[test]
fn a_diamond() {
    let all = Registries::of(&[
        "top 1.0.0: left, right",
        "left 1.0.0: base@^1",
        "left 2.0.0: base@^2",
        "right 1.0.0: base@>=1, <3",
        "right 2.0.0: base@^3",
        "base 1.0.0",
        "base 2.0.0",
        "base 3.0.0",
    ]);
    assert_eq!(solved(&problem(&["top"]), &all), "base 2.0.0, left 2.0.0, right 1.0.0, top 1.0.0");
}

/// The example of the article that introduced the algorithm.
#[test]
fn a_conflict_two_levels_below() {
    let all = lines(
        "menu 1.0.0: dropdown@^1
         menu 1.1.0: dropdown@^2
         menu 1.5.0: dropdown@^2
         dropdown 1.8.0: intl@^3
         dropdown 2.0.0: icons@^2
         dropdown 2.3.0: icons@^2
         icons 1.0.0
         icons 2.0.0
         intl 3.0.0
         intl 4.0.0
         intl 5.0.0",
    );
    let roots = problem(&["menu", "icons@^1"]);
    assert_eq!(solved(&roots, &all), "dropdown 1.8.0, icons 1.0.0, intl 3.0.0, menu 1.0.0");
    assert_eq!(solved(&problem(&["menu", "icons@^1", "intl@^5"]), &all), "no solution");
}

/// Each version but the first leads into a dead end, which is several levels further down each time.
#[test]
fn backtracking_through_a_chain() {
    const DEPTH: usize = 30;
    let mut text = String::new();
    for n in 0..DEPTH {
        for version in 1..=4 {
            let needs =
                if n + 1 < DEPTH { format!("c{}@^{version}", n + 1) } else { format!("end@^{version}") };
            writeln!(text, "c{n} {version}.0.0: {needs}").expect("text");
        }
    }
    text.push_str("end 1.0.0\nend 2.0.0\nend 3.0.0\nend 4.0.0");
    let all = lines(&text);
    let found = solved(&problem(&["c0", "end@^1"]), &all);
    assert_eq!(found.split(", ").filter(|one| one.ends_with(" 1.0.0")).count(), DEPTH + 1);
    assert_eq!(solved(&problem(&["c0@^2", "end@^1"]), &all), "no solution");
}

/// Two columns of versions that only fit in their lowest row.
#[test]
fn versions_that_must_go_down_together() {
    let mut text = String::new();
    for row in 0..60 {
        writeln!(text, "a 1.{row}.0: b@=1.{}.0", if row == 0 { 0 } else { row - 1 }).expect("text");
        writeln!(text, "b 1.{row}.0: a@=1.{}.0", if row == 0 { 0 } else { row - 1 }).expect("text");
    }
    assert_eq!(solved(&problem(&["a", "b"]), &lines(&text)), "a 1.0.0, b 1.0.0");
}

/// Pigeons that need a hole each.
fn pigeons(pigeons: usize, holes: usize) -> (Problem, Registries) {
    let mut text = String::new();
    for hole in 1..=holes {
        for pigeon in 0..pigeons {
            writeln!(text, "pigeon{pigeon} {hole}.0.0: hole{hole}@={}.0.0", pigeon + 1).expect("text");
            writeln!(text, "hole{hole} {}.0.0", pigeon + 1).expect("text");
        }
    }
    let names: Vec<String> = (0..pigeons).map(|n| format!("pigeon{n}")).collect();
    (problem(&names.iter().map(String::as_str).collect::<Vec<_>>()), lines(&text))
}

#[test]
fn as_many_pigeons_as_holes_and_one_more() {
    let solved = |(problem, all): (Problem, Registries)| solved(&problem, &all);
    assert_eq!(
        solved(pigeons(3, 3)),
        "hole1 3.0.0, hole2 2.0.0, hole3 1.0.0, pigeon0 3.0.0, pigeon1 2.0.0, pigeon2 1.0.0"
    );
    assert_ne!(solved(pigeons(6, 6)), "no solution");
    assert_eq!(solved(pigeons(5, 4)), "no solution");
}

/// That a pigeon is left over takes exponentially many steps to prove.
#[test]
fn a_problem_that_is_too_hard_is_given_up() {
    let (problem, mut all) = pigeons(12, 11);
    let found = solve_within(&problem, &mut all, 500);
    assert!(matches!(found, Err(SolveError::TooHard)), "{found:?}");
}

fn chain(length: usize, last: &str) -> Registries {
    let mut text = String::new();
    for n in 0..length {
        let next = if n + 1 < length { format!("c{}@^1", n + 1) } else { last.to_owned() };
        writeln!(text, "c{n} 1.0.0: {next}").expect("text");
    }
    lines(&text)
}

#[test]
fn a_chain_of_5000_skills() {
    let solution = solve(&problem(&["c0"]), &mut chain(5000, "c0")).expect("a solution");
    assert_eq!(solution.versions.len(), 5000);
    // The proof is as deep as the chain.
    let explained = explained(&problem(&["c0"]), &chain(5000, "c0@^2"));
    assert_eq!(explained[0], "`c0` 1.0.0, which you asked for, needs `c1@^1`");
    assert!(
        explained.len() < 30 && explained.iter().any(|line| line.contains("more requirements")),
        "{explained:?}"
    );
}

/// A registry can make up skills without end.
#[test]
fn an_endless_chain_is_given_up() {
    let mut endless = Registries { is_endless: true, ..Registries::default() };
    let found = solve(&problem(&["c0"]), &mut endless);
    assert!(
        matches!(&found, Err(SolveError::TooMany { name: last, limit: MAX_SKILLS, .. }) if *last == name("c10000")),
        "{found:?}"
    );
}

#[test]
fn one_name_with_10000_versions() {
    let mut text = String::from("base 1.0.0\nbase 2.0.0\n");
    for n in 0..10_000 {
        // Only the first one fits.
        let needs = if n == 0 { "base@^1" } else { "base@^2" };
        writeln!(text, "many 1.{}.{}-rc.1\nmany 1.{}.{}: {needs}", n / 100, n % 100, n / 100, n % 100)
            .expect("text");
    }
    let all = lines(&text);
    assert_eq!(solved(&problem(&["many"]), &all), "base 2.0.0, many 1.99.99");
    assert_eq!(solved(&problem(&["base@^1", "many"]), &all), "base 1.0.0, many 1.0.0");
    assert_eq!(solved(&problem(&["base@^1", "many@>1.0.0"]), &all), "no solution");
}

/// Each version of one name needs a version of its own of another name.
#[test]
fn thousands_of_versions_with_a_range_each() {
    let mut text = String::new();
    for n in 0..2_000 {
        writeln!(text, "many 1.0.{n}: base@=1.0.{n}\nbase 1.0.{n}").expect("text");
    }
    let all = lines(&text);
    assert_eq!(solved(&problem(&["base@=1.0.0", "many"]), &all), "base 1.0.0, many 1.0.0");
}
