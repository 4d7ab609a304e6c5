//! The rule, with sources that are made up.

use std::collections::{BTreeMap, BTreeSet};

use semver::VersionReq;

use super::declared::Declared;
use super::*;
use crate::name::SkillName;
use crate::requirement::parse_list;
use crate::spec::SourceSpec;

/// What sources have: names, versions and dependencies, by the texts of sources.
#[derive(Default)]
struct Sources {
    skills: BTreeMap<&'static str, Vec<(String, &'static str, String)>>,
    elsewhere: BTreeSet<&'static str>,
    full: BTreeSet<&'static str>,
}

fn name(text: &str) -> SkillName {
    SkillName::new(text).expect(text)
}

fn spec(text: &str) -> SourceSpec {
    text.parse().expect(text)
}

/// The skill `of` that lies in the directory of its name in the source `source`.
fn skill(of: &str, source: &str, version: &str, needs: &str) -> Dependent {
    let entries = parse_list(needs).into_iter();
    let declared = entries.map(|one| Declared { text: one.text.to_owned(), requirement: one.requirement });
    Dependent {
        name: name(of),
        place: directory_of(&spec(source), of),
        revision: None,
        version: Some(version.to_owned()).filter(|version| !version.is_empty()),
        declared: declared.collect(),
        editable: false,
    }
}

fn installed(of: &str, source: &str, version: &str, by: &[&str]) -> Resolved {
    let by: BTreeSet<_> = by.iter().map(|by| name(by)).collect();
    let required = if by.is_empty() { Required::ByUser } else { Required::ByDependents(by) };
    skill(of, source, version, "").resolved(required)
}

impl Sources {
    fn with(skills: &[(&'static str, &str, &'static str, &str)]) -> Self {
        let mut sources = Self::default();
        for (source, name, version, needs) in skills {
            let all = sources.skills.entry(source).or_default();
            all.push(((*name).to_owned(), version, (*needs).to_owned()));
        }
        sources
    }

    fn find(&self, place: &SourceSpec, wanted: Option<&str>) -> Vec<Available<()>> {
        let is_it = |source: &str| spec(source).origin == place.origin;
        let (source, all) = match self.skills.iter().find(|(source, _)| is_it(source)) {
            Some((source, all)) => (*source, &all[..]),
            None => ("", &[][..]),
        };
        let found = all.iter().filter(|(name, ..)| wanted.is_none_or(|wanted| wanted == name));
        let available = |(of, version, needs): &(String, &str, String)| Available {
            skill: skill(of, source, version, needs),
            candidate: (),
        };
        found.map(available).collect()
    }
}

impl DependencyProvider for Sources {
    type Candidate = ();
    type Error = String;

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
}

fn names(resolution: &Resolution<(), String>) -> Vec<String> {
    let text = |one: &Selected<()>| format!("{} for {} of {}", one.skill.name, one.by, one.root);
    resolution.selected.iter().map(text).collect()
}

fn needed(resolution: &Resolution<(), String>, of: &str) -> Vec<String> {
    resolution.assignment.of(&name(of)).into_iter().flatten().cloned().collect()
}

/// Resolves what `roots` depend on, which the user requests.
fn resolved(sources: &mut Sources, there: Vec<Resolved>, roots: Vec<Dependent>) -> Answer<Sources> {
    resolve(Problem::new(there).request(roots), sources)
}

#[test]
fn what_is_selected_is_followed_in_order() {
    let mut sources = Sources::with(&[
        ("acme/a", "base", "1.2.0", "deep"),
        ("acme/a", "deep", "1.0.0", "base other/b/fonts"),
        ("other/b", "fonts", "2.0.0", ""),
    ]);
    let root = skill("report", "acme/a", "1.0.0", "base@^1 ./missing");
    let resolution = resolved(&mut sources, Vec::new(), vec![root.clone()]);
    let unresolved = resolution.expect_err("there is no such path");
    assert_eq!((unresolved.root, unresolved.text.as_str()), (name("report"), "./missing"));

    let root = Dependent { declared: root.declared[..1].to_vec(), ..root };
    let resolution = resolved(&mut sources, Vec::new(), vec![root]).expect("resolves");
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
    let mut sources = Sources::with(&[("acme/a", "base", "1.0.0", "")]);
    let root = skill("report", "acme/a", "1.0.0", "../base");
    let resolution = resolved(&mut sources, Vec::new(), vec![root]).expect("resolves");
    assert_eq!(names(&resolution), ["base for report of report"]);
}

/// What is there satisfies a dependency whatever its version: that is told.
#[test]
fn what_is_installed_wins() {
    let mut sources = Sources::with(&[("acme/a", "base", "2.0.0", "")]);
    let there = vec![installed("base", "acme/a", "1.0.0", &["other"])];
    let root = skill("report", "acme/a", "1.0.0", "base@^2 acme/a/base Wrong");
    let resolution = resolved(&mut sources, there, vec![root]).expect("resolves");
    assert_eq!(names(&resolution), [""; 0]);
    assert_eq!(needed(&resolution, "report"), ["base"]);
    let [Notice::OutOfRange { version, .. }, Notice::Malformed { text, .. }] = &resolution.notices[..] else {
        panic!("{:?}", resolution.notices);
    };
    assert_eq!((version.as_deref(), text.as_str()), (Some("1.0.0"), "Wrong"));
}

#[test]
fn two_skills_of_one_name() {
    let sources = || Sources::with(&[("acme/a", "base", "", ""), ("other/b", "base", "", "")]);
    let root = || vec![skill("report", "acme/a", "", "other/b/base")];
    // The user asked for it.
    let there = vec![installed("base", "acme/a", "", &[])];
    let resolution = resolved(&mut sources(), there, root()).expect("resolves");
    assert_eq!(names(&resolution), [""; 0]);
    assert_eq!(needed(&resolution, "report"), ["base"]);
    assert!(matches!(&resolution.notices[..], [Notice::RequestedStays { .. }]), "{:?}", resolution.notices);
    // Another skill depends on it.
    let there = vec![installed("base", "acme/a", "", &["first"])];
    let Reason::Conflict(conflict) = resolved(&mut sources(), there, root()).expect_err("a conflict").reason
    else {
        panic!("no conflict");
    };
    assert_eq!(conflict.by, [name("first")]);
    assert_eq!(conflict.rejected.skill.place.origin, spec("other/b").origin);
    // Nothing else depends on it, or that comes in another version and no longer does.
    let there = vec![installed("base", "acme/a", "", &["report", "first"])];
    let roots = vec![skill("report", "acme/a", "", "other/b/base"), skill("first", "acme/a", "", "")];
    let resolution = resolved(&mut sources(), there, roots).expect("resolves");
    assert_eq!(names(&resolution), ["base for report of report"]);
}

#[test]
fn what_nobody_has() {
    let mut sources = Sources::with(&[("acme/a", "old", "1.0.0", "")]);
    sources.elsewhere.insert("known");
    let root = skill("report", "acme/a", "", "gone old@^2 known");
    let resolution = resolved(&mut sources, Vec::new(), vec![root]).expect("resolves");
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
    let mut sources = Sources::with(&[("acme/a", "base", "", ""), ("acme/a", "full", "", "")]);
    sources.full.insert("full");
    let root = skill("report", "acme/a", "", "acme/gone/x base full");
    let problem = Problem::new([]).request([root]).on_unresolved(OnUnresolved::Skip);
    let resolution = resolve(problem, &mut sources).expect("resolves");
    let unresolved: Vec<_> = resolution.unresolved.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(unresolved, ["acme/gone/x"]);
    assert_eq!(names(&resolution), ["base for report of report"]);
    assert_eq!(needed(&resolution, "report"), ["base"]);
    assert!(matches!(&resolution.notices[..], [Notice::NoRoom { .. }]), "{:?}", resolution.notices);
}

#[test]
fn a_chain_without_an_end() {
    let chain: Vec<(String, String)> =
        (0..=MOST + 1).map(|at| (format!("s{at}"), format!("s{}", at + 1))).collect();
    let skills: Vec<_> = chain.iter().map(|(of, needs)| ("acme/a", &**of, "", &**needs)).collect();
    let root = skill("report", "acme/a", "", "s0");
    let unresolved = resolved(&mut Sources::with(&skills), Vec::new(), vec![root]).expect_err("too many");
    assert!(matches!(unresolved.reason, Reason::TooMany(_)));
}

/// A new version that is out of the range of a skill that stays.
#[test]
fn what_stays_may_be_out_of_range() {
    let problem = Problem::new([installed("base", "acme/a", "1.0.0", &["report"])]);
    let problem = problem.renew([skill("base", "acme/a", "2.0.0", "")]);
    let resolution = resolve(problem, &mut Sources::default()).expect("resolves");
    let stays = skill("report", "acme/a", "1.0.0", "base@^1 other");
    let told = resolution.assignment.out_of_range_for(&stays);
    assert!(matches!(&told[..], [Notice::NowOutOfRange { .. }]), "{told:?}");
}
