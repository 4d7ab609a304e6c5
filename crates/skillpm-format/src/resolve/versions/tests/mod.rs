//! The solver, with registries that are made up.

mod brute;
mod classic;
mod rules;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::*;
use crate::name::SkillName;
use crate::requirement::{Requirement, parse_list};
use crate::resolve::declared::Declared;
use crate::version::Version;

/// What registries list.
#[derive(Debug, Clone, Default)]
pub(super) struct Registries {
    pub(super) skills: BTreeMap<SkillId, Arc<Vec<Release>>>,
    /// Skills whose registry cannot be read.
    pub(super) broken: BTreeSet<SkillName>,
    pub(super) age: Option<ReleaseAge>,
    /// The skills that may be younger.
    pub(super) exempt: BTreeSet<SkillName>,
    /// The number of decisions after which the search is stopped.
    pub(super) patience: Option<usize>,
    pub(super) requested: Vec<String>,
    pub(super) prefetched: Vec<Vec<String>>,
}

impl ReleaseProvider for Registries {
    type Error = String;

    fn releases(
        &mut self,
        registry: RegistryId,
        name: &SkillName,
    ) -> Result<Option<Arc<Vec<Release>>>, String> {
        self.requested.push(name.to_string());
        if self.broken.contains(name) {
            return Err(format!("{name} is broken"));
        }
        Ok(self.skills.get(&(registry, name.clone())).cloned())
    }

    fn minimum_age(&mut self, _: RegistryId, name: &SkillName) -> Option<ReleaseAge> {
        self.age.filter(|_| !self.exempt.contains(name))
    }

    fn check(&mut self) -> Result<(), String> {
        match &mut self.patience {
            Some(0) => Err("interrupted".to_owned()),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn prefetch(&mut self, skills: &[SkillId]) {
        self.prefetched.push(skills.iter().map(|(_, name)| name.to_string()).collect());
    }
}

impl Registries {
    /// Reads lines such as `chart 0.9.1 yanked at 5: base@^1, x`; a name without a version has none.
    pub(super) fn of(lines: &[&str]) -> Self {
        let mut all = Self::default();
        all.add(0, lines);
        all
    }

    /// Adds lines to the registry `registry`.
    pub(super) fn add(&mut self, registry: usize, lines: &[&str]) {
        for line in lines {
            let (about, needs) = line.split_once(':').unwrap_or((line, ""));
            let words: Vec<&str> = about.split_whitespace().collect();
            let releases = self.skills.entry((RegistryId(registry), name(words[0]))).or_default();
            if let Some(version) = words.get(1) {
                let published = words.iter().position(|word| *word == "at");
                Arc::make_mut(releases).push(Release {
                    version: version.parse().expect(line),
                    dependencies: declared(needs),
                    yanked: words.contains(&"yanked"),
                    published: published.map(|at| words[at + 1].parse().expect(line)),
                });
            }
        }
    }
}

pub(super) fn name(text: &str) -> SkillName {
    SkillName::new(text).expect(text)
}

pub(super) fn declared(needs: &str) -> Vec<Declared> {
    let entries = parse_list(needs).into_iter();
    entries.map(|one| Declared { text: one.text.to_owned(), requirement: one.requirement }).collect()
}

/// A root requirement on a skill of the first registry.
pub(super) fn root(text: &str, by: Asker) -> RootRequirement {
    match text.parse() {
        Ok(Requirement::Named { name, range }) => {
            RootRequirement { registry: RegistryId(0), name, range, by, text: text.to_owned() }
        }
        other => panic!("{other:?}"),
    }
}

/// A problem in which the user requires `roots`.
pub(super) fn problem(roots: &[&str]) -> VersionProblem {
    VersionProblem {
        registries: vec!["https://one.example".into(), "https://two.example".into()],
        roots: roots.iter().map(|text| root(text, Asker::User)).collect(),
        ..VersionProblem::default()
    }
}

/// The same problem with the locked versions of `locked`, such as `base 1.0.0`.
pub(super) fn locked(mut problem: VersionProblem, locked: &[&str]) -> VersionProblem {
    for text in locked {
        let (of, version) = text.split_once(' ').expect(text);
        problem.locked.insert((RegistryId(0), name(of)), version.parse().expect(text));
    }
    problem
}

/// The versions of the solution, as text; otherwise the error.
pub(super) fn solved(problem: &VersionProblem, registries: &Registries) -> String {
    match solve(problem, &mut registries.clone()) {
        Ok(solution) => {
            let versions = solution.versions.iter();
            let texts = versions.map(|((_, name), one)| format!("{name} {}", one.version));
            texts.collect::<Vec<_>>().join(", ")
        }
        Err(VersionError::NoSolution(_)) => "no solution".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

/// The explanation why there is no solution: sentences, then hints after `-`.
pub(super) fn explained(problem: &VersionProblem, registries: &Registries) -> Vec<String> {
    let explanation = match solve(problem, &mut registries.clone()) {
        Err(VersionError::NoSolution(explanation)) => *explanation,
        Err(VersionError::TwoRegistries(two)) => two.explanation,
        other => panic!("{other:?}"),
    };
    let hints = explanation.hints.iter().map(|hint| format!("- {hint}"));
    explanation.sentences.iter().map(ToString::to_string).chain(hints).collect()
}

pub(super) fn version(text: &str) -> Version {
    text.parse().expect(text)
}
