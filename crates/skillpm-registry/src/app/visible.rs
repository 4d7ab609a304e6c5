//! The skills that a caller may see, with what pages and searches need of all of them at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use skillpm_format::ranking::{Corpus, Document, SearchWords};
use skillpm_format::requirement::Requirement;

use super::Overview;
use crate::error::{Result, unknown};
use crate::name::SkillName;
use crate::registry::{Config, History, Record};

/// The number of newest versions, as many as the feed has.
const NEWEST: usize = 50;

/// The skills that a caller may see.
#[derive(Debug, Default)]
pub(crate) struct VisibleSkills {
    /// Those that have versions, sorted by name.
    pub(crate) skills: Vec<Arc<History>>,
    /// Those that have a version that is not yanked, sorted by name.
    pub(crate) listed: Vec<Arc<History>>,
    /// The newest version of each listed skill, in the same order.
    corpus: OnceLock<Corpus>,
    overview: OnceLock<Overview>,
    /// The versions that were published last and are not yanked, the last one first.
    newest: Vec<Record>,
    /// For each skill, the skills whose newest version requires it.
    dependents: BTreeMap<SkillName, BTreeSet<SkillName>>,
}

impl VisibleSkills {
    /// Returns the view of a caller who may see these skills, which are sorted by name.
    pub(crate) fn new(mut skills: Vec<Arc<History>>) -> Self {
        skills.retain(|skill| !skill.records().is_empty());
        let listed: Vec<_> = skills.iter().filter(|skill| skill.newest().is_some()).map(Arc::clone).collect();
        let mut dependents: BTreeMap<SkillName, BTreeSet<SkillName>> = BTreeMap::new();
        for record in listed.iter().filter_map(|skill| skill.newest()) {
            for text in &record.dependencies {
                if let Ok(Requirement::Named { name, .. }) = text.parse() {
                    dependents.entry(name).or_default().insert(record.name.clone());
                }
            }
        }
        let newest = newest(&skills);
        Self { skills, listed, newest, dependents, ..Self::default() }
    }

    /// Returns the files about these skills of the registry with this configuration.
    pub(crate) fn overview(&self, config: &Config) -> &Overview {
        self.overview.get_or_init(|| Overview::of(config, &self.listed))
    }

    /// Returns the listed skills that match `words`, best first, each with its score.
    pub(crate) fn search(&self, words: &SearchWords) -> impl Iterator<Item = (&Arc<History>, f64)> {
        let newest = || self.listed.iter().filter_map(|skill| skill.newest()).map(document).collect();
        let found = words.rank(self.corpus.get_or_init(newest)).into_iter();
        found.filter_map(|found| Some((self.listed.get(found.at)?, found.score)))
    }

    /// Returns the versions that were published last and are not yanked, the last one first, up to [`NEWEST`].
    pub(crate) fn newest(&self) -> &[Record] {
        &self.newest
    }

    /// Returns the skill `name`.
    pub(crate) fn get(&self, name: &SkillName) -> Result<&Arc<History>> {
        self.get_text(name.as_str()).ok_or_else(|| unknown(format!("there is no skill `{name}`")))
    }

    /// Returns the skill `name`.
    pub(crate) fn get_text(&self, name: &str) -> Option<&Arc<History>> {
        let at = self.skills.binary_search_by(|skill| skill.name().as_str().cmp(name)).ok()?;
        self.skills.get(at)
    }

    /// Returns the names of the skills that need the skill `name`.
    pub(crate) fn dependents(&self, name: &SkillName) -> Vec<&str> {
        self.dependents.get(name).into_iter().flatten().map(SkillName::as_str).collect()
    }
}

fn document(record: &Record) -> Document<'_> {
    Document { name: record.name.as_str(), tags: &record.tags, description: &record.description }
}

fn newest(skills: &[Arc<History>]) -> Vec<Record> {
    let mut records: Vec<&Record> = skills
        .iter()
        .flat_map(|skill| skill.records().iter().filter(|record| skill.yanked(&record.version).is_none()))
        .collect();
    // The versions of a skill are in their order, the oldest one first.
    records.reverse();
    records.sort_by(|a, b| b.published.cmp(&a.published).then_with(|| a.name.cmp(&b.name)));
    records.into_iter().take(NEWEST).cloned().collect()
}
