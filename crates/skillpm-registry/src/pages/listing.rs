//! The first page: all skills, the newest ones, and what a search finds.

use serde::Serialize;
use skillpm_format::ranking::SearchWords;

use super::view::{Links, Row, number, printable};
use crate::app::VisibleSkills;

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
    pub(super) fn of(visible: &VisibleSkills, query: &Query, links: Links) -> Self {
        let skills = &visible.listed;
        let pages = if links.is_live { skills.len().div_ceil(PAGE).max(1) } else { 1 };
        let page = query.page.parse().unwrap_or(1).clamp(1, pages);
        let (from, size) = if links.is_live { ((page - 1) * PAGE, PAGE) } else { (0, usize::MAX) };
        let words = SearchWords::new([&*query.q]);
        let found = |words| visible.search(words).take(MATCHES);
        let matches = (!words.is_empty())
            .then(|| found(&words).filter_map(|(skill, _)| Row::of(skill, links)).collect());
        let versions: usize = skills.iter().map(|skill| skill.records().len()).sum();
        Self {
            query: printable(&query.q.chars().take(QUERY).collect::<String>()),
            matches,
            newest: visible
                .newest()
                .iter()
                .take(NEWEST)
                .map(|record| Row::of_version(record, links))
                .collect(),
            skills: skills.iter().skip(from).take(size).filter_map(|skill| Row::of(skill, links)).collect(),
            total: number(skills.len()),
            versions: number(versions),
            page,
            pages,
        }
    }
}
