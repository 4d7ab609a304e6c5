//! The first page: all skills, the newest ones, and what a search finds.

use serde::Serialize;
use skillpm_format::ranking::SearchWords;

use super::view::{Place, Row, number, shown};
use crate::app::Shown;

/// The number of skills on one page of the server. A site of files has all of them on one page.
const PAGE: usize = 100;
/// The number of new versions that are shown.
const NEWEST: usize = 6;
/// The largest number of matches that are shown.
const MATCHES: usize = 50;
/// The longest search that is shown, in characters.
const QUERY: usize = 200;

/// The query of the first page.
#[derive(Debug, Clone, Default, serde::Deserialize)]
pub(crate) struct Query {
    /// The searched words.
    #[serde(default)]
    pub(crate) q: String,
    /// The page, from 1.
    #[serde(default)]
    pub(crate) page: String,
    /// The versions to compare, on the page of a skill.
    #[serde(default)]
    pub(crate) from: String,
    #[serde(default)]
    pub(crate) to: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Listing {
    query: String,
    /// The matches of the search.
    matches: Option<Vec<Row>>,
    newest: Vec<Row>,
    skills: Vec<Row>,
    total: String,
    versions: String,
    page: usize,
    pages: usize,
}

impl Listing {
    pub(super) fn of(shown_skills: &Shown, query: &Query, place: Place) -> Self {
        let skills = &shown_skills.listed;
        let pages = if place.is_live { skills.len().div_ceil(PAGE).max(1) } else { 1 };
        let page = query.page.parse().unwrap_or(1).clamp(1, pages);
        let (from, size) = if place.is_live { ((page - 1) * PAGE, PAGE) } else { (0, usize::MAX) };
        let words = SearchWords::new([&*query.q]);
        let found = |words| shown_skills.search(words).take(MATCHES);
        let matches = (!words.is_empty())
            .then(|| found(&words).filter_map(|(skill, _)| Row::of(skill, place)).collect());
        let versions: usize = skills.iter().map(|skill| skill.records().len()).sum();
        Self {
            query: shown(&query.q.chars().take(QUERY).collect::<String>()),
            matches,
            newest: shown_skills
                .newest()
                .iter()
                .take(NEWEST)
                .map(|record| Row::of_version(record, place))
                .collect(),
            skills: skills.iter().skip(from).take(size).filter_map(|skill| Row::of(skill, place)).collect(),
            total: number(skills.len()),
            versions: number(versions),
            page,
            pages,
        }
    }
}
