//! The feed of new versions.

use serde::Serialize;

use super::Address;
use super::view::{Links, Row, version};
use crate::app::VisibleSkills;
use crate::registry::{Record, files};

#[derive(Debug, Serialize)]
pub(super) struct Feed {
    updated: String,
    home: String,
    this: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    key: String,
    time: String,
    page: String,
    #[serde(flatten)]
    row: Row,
}

impl Feed {
    /// Returns the feed of a registry at `url`.
    pub(super) fn of(visible: &VisibleSkills, links: Links, url: Option<&str>) -> Self {
        // Without an address the links are relative to that of the feed.
        let absolute = |address: &Address| match url {
            Some(url) => format!("{url}/{}", links.link(address).trim_start_matches("./")),
            None => links.link(address),
        };
        let entry = |record: &Record| Entry {
            key: files::version_key(&record.version),
            time: record.published.to_string(),
            page: absolute(&version(record)),
            row: Row::of_version(record, links),
        };
        let records = visible.newest();
        Self {
            updated: records
                .first()
                .map_or("1970-01-01T00:00:00Z".to_owned(), |newest| newest.published.to_string()),
            home: absolute(&Address::Index),
            this: absolute(&Address::Feed),
            entries: records.iter().map(entry).collect(),
        }
    }
}
