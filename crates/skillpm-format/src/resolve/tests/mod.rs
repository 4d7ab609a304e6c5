//! The search, with registries and other sources that are made up.

mod brute;
mod classic;
mod mixed;
mod places;
mod rules;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::*;
use crate::name::SkillName;
use crate::requirement::{Requirement, parse_list};
use crate::resolve::declared::Declared;
use crate::spec::{Origin, SourceSpec};
use crate::version::Version;
use semver::VersionReq;

/// The lists of registries.
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
    /// Whether each skill `cN` needs the next one.
    pub(super) is_endless: bool,
    /// The skills of other sources: names, versions and dependencies, by the texts of sources.
    pub(super) sources: BTreeMap<String, Vec<Dependent>>,
    /// The declarations of installed skills.
    pub(super) installed: Vec<Dependent>,
    pub(super) elsewhere: BTreeSet<&'static str>,
    pub(super) full: BTreeSet<&'static str>,
    /// The sources that were opened.
    pub(super) opened: Vec<String>,
    pub(super) requested: Vec<String>,
    pub(super) prefetched: Vec<Vec<String>>,
}

/// The registry with the number `registry`.
pub(super) fn registry(registry: usize) -> Origin {
    let text = ["registry:https://one.example", "registry:https://two.example"][registry];
    text.parse::<SourceSpec>().expect(text).origin
}

impl Provider for Registries {
    type Candidate = ();
    type Error = String;

    fn registry(&mut self, origin: &Origin) -> Result<Option<RegistryId>, String> {
        Ok((0..2).find(|at| registry(*at) == *origin).map(RegistryId))
    }

    fn origin(&self, RegistryId(at): RegistryId) -> Origin {
        registry(at)
    }

    fn installed(&mut self, name: &SkillName) -> Option<Dependent> {
        self.installed.iter().find(|one| one.name == *name).cloned()
    }

    fn named(
        &mut self,
        dependent: &Dependent,
        name: &SkillName,
        range: Option<&VersionReq>,
    ) -> Result<Offer<()>, String> {
        let mut found = self.find(&dependent.place, Some(name.as_str()));
        Ok(match (found.pop(), found.len()) {
            (None, _) => Offer::Not(Has::Nothing),
            (Some(one), 0) if meets(range, one.skill.version.as_deref()) => Offer::Fits(Box::new(one)),
            (Some(one), 0) => Offer::Not(Has::Version(one.skill.version)),
            _ => Offer::Not(Has::Several),
        })
    }

    fn locate(&mut self, _: &Dependent, spec: &SourceSpec) -> Result<SourceSpec, String> {
        Ok(spec.clone())
    }

    fn at(&mut self, _: &Dependent, location: &Location<'_>) -> Result<Available<()>, String> {
        let SourceSpec { path, skill, .. } = &location.spec;
        let wanted = skill.as_deref().or(path.as_deref());
        self.find(&location.spec, wanted).pop().ok_or_else(|| format!("no `{}`", location.spec))
    }

    fn is_elsewhere(&mut self, name: &SkillName) -> bool {
        self.elsewhere.contains(name.as_str())
    }

    fn has_room_for(&mut self, name: &SkillName) -> Result<bool, String> {
        Ok(!self.full.contains(name.as_str()))
    }

    fn releases(
        &mut self,
        registry: RegistryId,
        name: &SkillName,
    ) -> Result<Option<Arc<Vec<Release>>>, String> {
        self.requested.push(name.to_string());
        if self.broken.contains(name) {
            return Err(format!("{name} is broken"));
        }
        if self.is_endless {
            let number: usize = name.as_str()[1..].parse().expect("a number");
            let dependencies = declared(&format!("c{}", number + 1));
            let release = Release { version: version("1"), dependencies, yanked: None, published: None };
            return Ok(Some(Arc::new(vec![release])));
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

    /// Adds skills in sources, each in the directory of its name: the source, the name, the version and the dependencies.
    pub(super) fn with(mut self, skills: &[(&str, &str, &str, &str)]) -> Self {
        for (source, name, version, needs) in skills {
            let all = self.sources.entry((*source).to_owned()).or_default();
            all.push(skill(name, source, version, needs));
        }
        self
    }

    /// Returns the skills that the source of `place` has under the name `wanted`, at the reference of `place`.
    fn find(&mut self, place: &SourceSpec, wanted: Option<&str>) -> Vec<Available<()>> {
        self.opened.push(place.to_string());
        let is_it = |source: &&String| {
            let source = spec(source);
            source.origin == place.origin && source.reference == place.reference
        };
        let source = self.sources.keys().find(is_it).cloned();
        let all = source.and_then(|source| self.sources.get(&source)).into_iter().flatten();
        let found = all.filter(|one| wanted.is_none_or(|wanted| wanted == one.name.as_str()));
        found.map(|skill| Available { skill: skill.clone(), candidate: () }).collect()
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
                    yanked: words.contains(&"yanked").then(String::new),
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

pub(super) fn spec(text: &str) -> SourceSpec {
    text.parse().expect(text)
}

/// Returns the skill `of` in the directory of its name in the source `source`.
pub(super) fn skill(of: &str, source: &str, version: &str, needs: &str) -> Dependent {
    Dependent {
        name: name(of),
        place: directory_of(&spec(source), of),
        revision: None,
        version: Some(version.to_owned()).filter(|version| !version.is_empty()),
        declared: declared(needs),
        editable: false,
    }
}

/// The skill `of`, which is installed from `source` and on which `by` depend: without them, the user requested it.
pub(super) fn installed(of: &str, source: &str, version: &str, by_user: bool) -> Installed {
    let Dependent { name, place, version, .. } = skill(of, source, version, "");
    Installed { name, place, version, by_user, dependencies: Vec::new(), limits: false, follows: false }
}

/// A requirement of the user on a skill of the first registry.
pub(super) fn root(text: &str) -> RootRequirement {
    match text.parse() {
        Ok(Requirement::Named { name, range }) => {
            RootRequirement { registry: RegistryId(0), key: name.clone(), name, range, text: text.to_owned() }
        }
        other => panic!("{other:?}"),
    }
}

/// A problem in which the user requires `roots`.
pub(super) fn problem(roots: &[&str]) -> Problem {
    Problem { roots: roots.iter().map(|text| root(text)).collect(), ..Problem::default() }
}

/// A problem in which `skills` come because the user requests them.
pub(super) fn coming(skills: &[Dependent]) -> Problem {
    Problem { coming: skills.iter().map(|one| (one.clone(), WantedBy::User)).collect(), ..Problem::default() }
}

/// The same problem with the locked versions of `locked`, such as `base 1.0.0`.
pub(super) fn locked(mut problem: Problem, locked: &[&str]) -> Problem {
    for text in locked {
        let (of, version) = text.split_once(' ').expect(text);
        problem.locked.insert((RegistryId(0), name(of)), version.parse().expect(text));
    }
    problem
}

/// The versions of the solution, as text; otherwise the error.
pub(super) fn solved(problem: &Problem, registries: &Registries) -> String {
    match solve(problem, &mut registries.clone()) {
        Ok(solution) => {
            let versions = solution.versions.iter();
            let listed = versions.map(|((_, name), one)| format!("{name} {}", one.version));
            let placed =
                solution.selected.iter().map(|one| format!("{} of {}", one.skill.name, one.skill.place));
            listed.chain(placed).collect::<Vec<_>>().join(", ")
        }
        Err(SolveError::NoSolution(_)) => "no solution".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

/// The explanation why there is no solution: sentences, then hints after `-`.
pub(super) fn explained(problem: &Problem, registries: &Registries) -> Vec<String> {
    let explanation = match solve(problem, &mut registries.clone()) {
        Err(SolveError::NoSolution(explanation)) => *explanation,
        other => panic!("{other:?}"),
    };
    let hints = explanation.hints.iter().map(|hint| format!("- {hint}"));
    explanation.sentences.iter().map(ToString::to_string).chain(hints).collect()
}

pub(super) fn version(text: &str) -> Version {
    text.parse().expect(text)
}
