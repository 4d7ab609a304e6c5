//! How values look on a page.

use serde::Serialize;
use skillpm_format::text::visible;

use super::Address;
use crate::registry::{History, Record, Timestamp, files};

/// The links from a page to others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links {
    /// The number of directories from the start of the site to the page.
    depth: usize,
    /// Whether the site is served by the server. Otherwise it is files, and each link names one.
    pub(super) is_live: bool,
}

/// A time, for people and for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Time {
    day: String,
    exact: String,
}

/// One version of a skill as a list shows it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Row {
    name: String,
    version: String,
    description: String,
    tags: Vec<String>,
    published: Time,
    link: String,
}

impl Links {
    /// Returns the links of the page at `address`.
    pub(super) fn of(address: &Address, is_live: bool) -> Self {
        Self { depth: address.path().matches('/').count(), is_live }
    }

    /// Returns the links of a page of the server that is `depth` directories below the start of the site.
    pub(super) fn at(depth: usize) -> Self {
        Self { depth, is_live: true }
    }

    /// Returns the link to the start of the site.
    pub(super) fn root(self) -> String {
        if self.depth == 0 { "./".to_owned() } else { "../".repeat(self.depth) }
    }

    /// Returns the link to the page at `address`.
    pub(super) fn link(self, address: &Address) -> String {
        let path = address.path();
        let path = if self.is_live { path.strip_suffix("index.html").unwrap_or(&path) } else { &path };
        format!("{}{path}", self.root())
    }
}

impl From<Timestamp> for Time {
    fn from(time: Timestamp) -> Self {
        let exact = time.to_string();
        Self { day: exact.chars().take(10).collect(), exact }
    }
}

impl Row {
    /// Returns the skill as its newest version describes it; `None` if all are yanked.
    pub(super) fn of(history: &History, links: Links) -> Option<Self> {
        let record = history.newest()?;
        let link = links.link(&Address::Skill(history.name().clone()));
        Some(Self::with_link(record, link))
    }

    /// Returns a version.
    pub(super) fn of_version(record: &Record, links: Links) -> Self {
        Self::with_link(record, links.link(&version(record)))
    }

    fn with_link(record: &Record, link: String) -> Self {
        Self {
            name: record.name.to_string(),
            version: record.version.to_string(),
            description: printable(&record.description),
            tags: record.tags.iter().map(|tag| printable(tag)).collect(),
            published: record.published.into(),
            link,
        }
    }
}

/// Returns the address of the page of a version.
pub(super) fn version(record: &Record) -> Address {
    Address::Version(record.name.clone(), files::version_key(&record.version))
}

/// Returns a text of a stranger with everything that cannot be seen made visible.
pub(super) fn printable(text: &str) -> String {
    visible(&text.replace("\r\n", "\n")).into_owned()
}

/// Returns a number of bytes for people.
pub(super) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{}.{} KB", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{} MB", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// Returns a number with a comma between thousands.
pub(super) fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_numbers() {
        assert_eq!(
            [0, 999, 1_000, 123_456, 7_890_000].map(bytes),
            ["0 B", "999 B", "1.0 KB", "123.4 KB", "7.8 MB"]
        );
        assert_eq!([0, 999, 1_000, 1_234_567].map(number), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn links_are_relative() {
        let name = crate::registry::registry_name("pdf").expect("a name");
        let skill = Address::Skill(name.clone());
        let version = Address::Version(name, "1.0.0".to_owned());
        assert_eq!(Links::of(&Address::Index, true).link(&skill), "./skills/pdf/");
        assert_eq!(Links::of(&version, true).link(&skill), "../../../skills/pdf/");
        assert_eq!(Links::of(&skill, false).link(&version), "../../skills/pdf/1.0.0/index.html");
        assert_eq!(Links::of(&skill, true).link(&Address::Index), "../../");
    }
}
