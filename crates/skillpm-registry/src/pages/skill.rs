//! The page of a skill, or of one of its versions.

use serde::Serialize;
use skillpm_format::requirement::Requirement;

use super::Address;
use super::graph::Graph;
use super::view::{Links, Time, bytes, printable, version};
use crate::app::VisibleSkills;
use crate::registry::{History, Record, Visibility, files};

/// All but what is in the archive.
#[derive(Debug, Serialize)]
pub(super) struct Skill {
    name: String,
    version: String,
    description: String,
    license: Option<String>,
    tags: Vec<String>,
    published: Time,
    /// Why the version is yanked.
    yanked: Option<String>,
    /// The newest version, if the page shows another one.
    newer: Option<Listed>,
    owners: Vec<String>,
    is_private: bool,
    source: Option<String>,
    /// Whether the source is an address that browsers open.
    is_source_linked: bool,
    revision: Option<String>,
    digest: String,
    artifact: String,
    artifact_link: String,
    size: String,
    /// The command that installs it; a yanked version is not for new installations.
    install: Option<String>,
    versions: Vec<Listed>,
    /// The address of the comparison of versions that are not neighbours.
    compare: Option<String>,
    dependencies: Vec<Needed>,
    dependents: Vec<Needed>,
    graph: Option<Graph>,
}

#[derive(Debug, Serialize)]
struct Listed {
    version: String,
    key: String,
    published: Time,
    size: String,
    yanked: Option<String>,
    link: String,
    is_shown: bool,
    /// The difference from the version before.
    diff: Option<String>,
    previous: Option<String>,
}

/// A skill that another one needs.
#[derive(Debug, Serialize)]
struct Needed {
    text: String,
    link: Option<String>,
}

impl Skill {
    /// Returns the page of `record`, which is a version of `history`, of the registry at `url`.
    pub(super) fn of(
        visible: &VisibleSkills,
        history: &History,
        record: &Record,
        links: Links,
        url: Option<&str>,
        is_version_named: bool,
    ) -> Self {
        let name = history.name();
        let link = |name: &str| {
            let found = visible.get_text(name)?;
            Some(links.link(&Address::Skill(found.name().clone())))
        };
        let needed = |text: &String| {
            let required = text.parse::<Requirement>().ok();
            let name = match &required {
                Some(Requirement::Named { name, .. }) => Some(name.as_str()),
                _ => None,
            };
            (Needed { text: printable(text), link: name.and_then(link) }, name.map(str::to_owned))
        };
        let needs: Vec<_> = record.dependencies.iter().map(needed).collect();
        let dependents: Vec<&str> = visible.dependents(name);
        let graph = {
            let names: Vec<String> = needs
                .iter()
                .map(|(needed, name)| name.clone().unwrap_or_else(|| needed.text.clone()))
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Graph::of(name.as_str(), &dependents, &names)
        };
        let yanked = history.yanked(&record.version);
        let newest = history.newest().filter(|newest| newest.version != record.version);
        let listed = |at: usize| Listed::of(history, at, record, links);
        let index = |wanted: &Record| history.records().iter().position(|one| one.version == wanted.version);
        let range = if is_version_named { format!("={}", record.version.number()) } else { String::new() };
        Self {
            name: name.to_string(),
            version: record.version.to_string(),
            description: printable(&record.description),
            license: record.license.as_deref().map(printable),
            tags: record.tags.iter().map(|tag| printable(tag)).collect(),
            published: record.published.into(),
            yanked: yanked.map(printable),
            newer: newest.and_then(index).map(listed),
            owners: history.owners().iter().map(ToString::to_string).collect(),
            is_private: history.visibility() != Visibility::Public,
            source: record.provenance.as_ref().map(|made| printable(&made.source)),
            is_source_linked: record.provenance.as_ref().is_some_and(|made| {
                made.source.starts_with("https://") && printable(&made.source) == made.source
            }),
            revision: record.provenance.as_ref().and_then(|made| made.revision.as_deref()).map(printable),
            digest: record.digest.to_string(),
            artifact: record.artifact.digest.to_string(),
            artifact_link: format!("{}{}", links.root(), files::artifact(&record.artifact.digest)),
            size: bytes(record.artifact.size),
            install: yanked.is_none().then(|| install(name.as_str(), url, &range)),
            versions: (0..history.records().len()).rev().map(listed).collect(),
            compare: (links.is_live && history.records().len() > 2)
                .then(|| links.link(&Address::Compare(name.clone()))),
            dependencies: needs.into_iter().map(|(needed, _)| needed).collect(),
            dependents: dependents
                .iter()
                .map(|name| Needed { text: (*name).to_owned(), link: link(name) })
                .collect(),
            graph,
        }
    }
}

/// Returns the command that installs a skill.
fn install(name: &str, url: Option<&str>, range: &str) -> String {
    match (url, range) {
        (Some(url), "") => format!("skillpm install registry:{url}//{name}"),
        (Some(url), range) => format!("skillpm install registry:{url}//{name}#{range}"),
        (None, "") => format!("skillpm install {name}"),
        (None, range) => format!("skillpm install {name}@{range}"),
    }
}

impl Listed {
    fn of(history: &History, at: usize, page: &Record, links: Links) -> Self {
        let record = &history.records()[at];
        let previous = at.checked_sub(1).map(|before| &history.records()[before]);
        let key = |record: &Record| files::version_key(&record.version);
        let diff =
            |before: &Record| links.link(&Address::Diff(history.name().clone(), key(before), key(record)));
        Self {
            version: record.version.to_string(),
            key: key(record),
            published: record.published.into(),
            size: bytes(record.artifact.size),
            yanked: history.yanked(&record.version).map(printable),
            link: links.link(&version(record)),
            is_shown: record.version == page.version,
            diff: previous.map(diff),
            previous: previous.map(|before| before.version.to_string()),
        }
    }
}
