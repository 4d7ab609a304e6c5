//! The solver beside one that tries everything.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

/// The names; no registry has the last one.
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

const VERSIONS: [&str; 7] = ["1.0", "1.1.0", "1.1.0+b", "2.0.0-rc.1", "2.0.0", "2.1.0-rc.1", "3.0.0"];

const RANGES: [&str; 13] = [
    "",
    "",
    "",
    "@>=1",
    "@^1",
    "@^2",
    "@*",
    "@=1.0.0",
    "@>=1.1",
    "@<2",
    "@^2.0.0-rc.1",
    "@>=1.1, <2.1.0-rc.2",
    "@next",
];

/// The time at which all cases are solved.
const NOW: i64 = 10;

#[derive(Debug, Clone)]
struct Case {
    problem: Problem,
    registries: Registries,
    seed: u64,
}

fn requirement() -> impl Strategy<Value = String> {
    // The missing skill is rare, otherwise nearly nothing has a solution.
    let of = prop_oneof![50 => select(&NAMES[..4]), 1 => Just(NAMES[4])];
    (of, select(&RANGES[..])).prop_map(|(of, range)| format!("{of}{range}"))
}

fn release(text: &'static str) -> impl Strategy<Value = Release> {
    let published = option::weighted(0.9, 0..NOW);
    (vec(requirement(), 0..=2), prop::bool::weighted(0.1), published).prop_map(
        move |(needs, yanked, published)| Release {
            version: version(text),
            dependencies: declared(&needs.join(" ")),
            yanked: yanked.then(String::new),
            published,
        },
    )
}

fn registries() -> impl Strategy<Value = Registries> {
    let skill = || {
        let versions = subsequence(&VERSIONS[..], 1..=5);
        versions.prop_flat_map(|versions| versions.into_iter().map(release).collect::<Vec<_>>())
    };
    [skill(), skill(), skill(), skill()].prop_map(|skills| {
        let skills = NAMES.iter().zip(skills).map(|(of, all)| ((RegistryId(0), name(of)), Arc::new(all)));
        Registries { skills: skills.collect(), ..Registries::default() }
    })
}

fn limit() -> impl Strategy<Value = VersionReq> {
    select(&["^1", "^2", "*", ">=1.1", "=1.1", "=2.0.0-rc.1"][..]).prop_map(|text| text.parse().expect(text))
}

fn case() -> impl Strategy<Value = Case> {
    let of = || select(&NAMES[..4]).prop_map(name);
    let at = || select(&VERSIONS[..]).prop_map(version);
    let is_read = |text: &String| !text.ends_with("next");
    let roots = vec(requirement().prop_filter("a range", is_read), 1..=3);
    let locked = btree_map(of(), at(), 0..=2);
    let fixed = prop_oneof![3 => Just(BTreeMap::new()), 1 => btree_map(of(), option::of(at()), 1)];
    let overrides = prop_oneof![3 => Just(BTreeMap::new()), 1 => btree_map(of(), limit(), 1)];
    let age = option::weighted(0.3, (0..NOW, option::of(of())));
    (registries(), roots, locked, fixed, overrides, any::<bool>(), age, any::<u64>()).prop_map(
        |(registries, roots, locked, fixed, overrides, minimal, age, seed)| {
            let problem = Problem {
                roots: roots
                    .iter()
                    .map(|text| root(text))
                    .filter(|root| !fixed.contains_key(&root.name))
                    .collect(),
                locked: locked.into_iter().map(|(of, at)| ((RegistryId(0), of), at)).collect(),
                installed: fixed.into_iter().map(|(of, at)| fix(&of, at.as_ref())).collect(),
                overrides,
                minimal,
                ..Problem::default()
            };
            let (minimum, exempt) = age.unzip();
            let registries = Registries {
                age: minimum.map(|minimum| ReleaseAge { now: NOW, minimum }),
                exempt: exempt.flatten().into_iter().collect(),
                ..registries
            };
            Case { problem, registries, seed }
        },
    )
}

/// The skill `of`, which is installed from elsewhere.
fn fix(of: &SkillName, version: Option<&Version>) -> Installed {
    installed(of.as_str(), "acme/x", version.map(Version::as_str).unwrap_or_default(), true)
}

/// Some versions: for each name an index into its releases.
type Choice = BTreeMap<SkillName, usize>;

impl Case {
    fn releases(&self, of: &SkillName) -> &[Release] {
        self.registries.skills.get(&(RegistryId(0), of.clone())).map_or(&[], |all| all.as_slice())
    }

    fn is_locked(&self, of: &SkillName, release: &Release) -> bool {
        self.problem.locked.get(&(RegistryId(0), of.clone())) == Some(&release.version)
    }

    /// Whether the release may be selected at all.
    fn is_eligible(&self, of: &SkillName, release: &Release) -> bool {
        let old = self.registries.age.is_none_or(|age| {
            self.registries.exempt.contains(of)
                || release.published.is_some_and(|time| NOW - time >= age.minimum)
        });
        self.is_locked(of, release) || (release.yanked.is_none() && old)
    }

    fn is_fixed(&self, of: &SkillName) -> bool {
        self.problem.installed.iter().any(|one| one.name == *of)
    }

    fn is_met(&self, choice: &Choice, of: &SkillName, range: Option<&VersionReq>) -> bool {
        if self.is_fixed(of) {
            return true;
        }
        let Some(index) = choice.get(of) else { return false };
        let number = self.releases(of)[*index].version.number();
        match (self.problem.overrides.get(of), range) {
            (Some(range), _) | (None, Some(range)) => range.matches(number),
            (None, None) => number.pre.is_empty(),
        }
    }

    fn is_solution(&self, choice: &Choice) -> bool {
        let roots = &self.problem.roots;
        roots.iter().all(|root| self.is_met(choice, &root.name, root.range.as_ref()))
            && choice.iter().all(|(of, index)| {
                let release = &self.releases(of)[*index];
                let met = release.dependencies.iter().all(|declared| match &declared.requirement {
                    Ok(Requirement::Named { name, range }) => {
                        name == of || self.is_met(choice, name, range.as_ref())
                    }
                    _ => true,
                });
                met && self.is_eligible(of, release)
            })
    }

    /// All solutions.
    fn solutions(&self) -> Vec<Choice> {
        let mut choices = vec![Choice::new()];
        for of in NAMES.map(name) {
            let with = |choice: &Choice| {
                let releases = 0..self.releases(&of).len();
                let with =
                    |index| choice.iter().map(|(of, at)| (of.clone(), *at)).chain([(of.clone(), index)]);
                releases.map(|index| with(index).collect()).collect::<Vec<Choice>>()
            };
            choices =
                choices.iter().flat_map(|choice| [vec![choice.clone()], with(choice)].concat()).collect();
        }
        choices.retain(|choice| self.is_solution(choice));
        choices
    }

    /// The releases of a name, the preferred one first.
    fn preferences(&self, of: &SkillName) -> Vec<usize> {
        let releases = self.releases(of);
        let mut order: Vec<usize> = (0..releases.len()).collect();
        order.sort_by(|a, b| releases[*b].version.cmp(&releases[*a].version));
        if self.problem.minimal {
            order.reverse();
        }
        order.sort_by_key(|index| !self.is_locked(of, &releases[*index]));
        order
    }

    fn rank(&self, of: &SkillName, index: usize) -> usize {
        self.preferences(of).iter().position(|one| *one == index).expect("a release")
    }

    /// The required names in the order in which they get the best version that is left: locked ones first. If other
    /// skills are locked too, those come next, so nothing is promised about the rest.
    fn promised(&self) -> Vec<SkillName> {
        let is_locked = |of: &SkillName| self.releases(of).iter().any(|one| self.is_locked(of, one));
        let roots: BTreeSet<_> = self.problem.roots.iter().map(|root| root.name.clone()).collect();
        let (first, then): (Vec<_>, Vec<_>) = roots.iter().cloned().partition(is_locked);
        let others = NAMES.map(name).iter().any(|of| is_locked(of) && !roots.contains(of));
        if others { first } else { [first, then].concat() }
    }

    /// The same case in another order.
    fn shuffled(&self) -> Self {
        let mut case = self.clone();
        let mut seed = self.seed;
        let mut shuffle = |length: usize| -> Vec<usize> {
            let mut keys: Vec<(u64, usize)> = (0..length)
                .map(|index| {
                    seed =
                        seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (seed >> 33, index)
                })
                .collect();
            keys.sort_unstable();
            keys.into_iter().map(|(_, index)| index).collect()
        };
        let roots = &self.problem.roots;
        case.problem.roots = shuffle(roots.len()).into_iter().map(|index| roots[index].clone()).collect();
        for releases in case.registries.skills.values_mut() {
            let old = Arc::clone(releases);
            *releases = Arc::new(shuffle(old.len()).into_iter().map(|index| old[index].clone()).collect());
            for release in Arc::make_mut(releases) {
                let old = release.dependencies.clone();
                release.dependencies =
                    shuffle(old.len()).into_iter().map(|index| old[index].clone()).collect();
            }
        }
        case
    }

    /// Returns the solver's result, without the parts that depend on the order of lists.
    fn outcome(&self) -> Result<Solution<(), String>, Explanation> {
        match solve(&self.problem, &mut self.registries.clone()) {
            Ok(mut solution) => {
                solution.versions.values_mut().for_each(|chosen| chosen.found = None);
                solution.notices.sort_by_key(|notice| format!("{notice:?}"));
                Ok(solution)
            }
            Err(SolveError::NoSolution(explanation)) => Err(*explanation),
            Err(other) => panic!("{other:?}"),
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let solutions = self.solutions();
        let solution = match solve(&self.problem, &mut self.registries.clone()) {
            Ok(solution) => solution,
            Err(SolveError::NoSolution(explanation)) => {
                prop_assert_eq!(&solutions, &[], "a solution was missed: {:?}", explanation);
                prop_assert!(!explanation.sentences.is_empty());
                return Ok(());
            }
            Err(other) => return Err(TestCaseError::fail(format!("{other:?}"))),
        };
        let index = |of: &SkillName, version: &Version| {
            let is_it = |one: &Release| one.version.as_str() == version.as_str();
            self.releases(of).iter().position(is_it).expect("a release")
        };
        let versions = solution.versions.iter();
        let choice: Choice =
            versions.map(|((_, of), chosen)| (of.clone(), index(of, &chosen.version))).collect();
        prop_assert!(solutions.contains(&choice), "not a solution: {:?}", choice);
        self.check_needed(&solution)?;
        // No skill could be better by itself.
        for (of, index) in &choice {
            for better in &self.preferences(of)[..self.rank(of, *index)] {
                let mut changed = choice.clone();
                changed.insert(of.clone(), *better);
                prop_assert!(!self.is_solution(&changed), "better: {:?}", changed);
            }
        }
        // The required skills are the best in lexicographic order.
        let promised = self.promised();
        let ranks =
            |choice: &Choice| -> Vec<usize> { promised.iter().map(|of| self.rank(of, choice[of])).collect() };
        prop_assert_eq!(Some(ranks(&choice)), solutions.iter().map(ranks).min());
        Ok(())
    }

    /// Each skill of the solution can be reached from the requirements by way of those that need it.
    fn check_needed(&self, solution: &Solution<(), String>) -> Result<(), TestCaseError> {
        let mut reached: BTreeSet<SkillName> =
            self.problem.roots.iter().map(|root| root.name.clone()).collect();
        for _ in 0..NAMES.len() {
            let next: Vec<_> = reached.iter().filter_map(|of| solution.assignment.of(of)).flatten().collect();
            reached.extend(next.into_iter().map(|of| name(of)).collect::<Vec<_>>());
        }
        for ((_, of), chosen) in &solution.versions {
            prop_assert!(reached.contains(of), "nobody needs {}", of);
            prop_assert!(!chosen.needed_by.is_empty());
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn there_is_a_solution_if_and_only_if_trying_everything_finds_one(case in case()) {
        case.check()?;
    }

    #[test]
    fn the_order_of_lists_does_not_matter(case in case()) {
        prop_assert_eq!(case.outcome(), case.shuffled().outcome());
    }
}
