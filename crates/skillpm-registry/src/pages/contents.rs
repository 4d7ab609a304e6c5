//! The contents of an archive, as the page of a version shows them.

use std::collections::BTreeMap;

use serde::Serialize;
use skillpm_core::engine::files;
use skillpm_format::document::Document;
use skillpm_format::lint::{Profile, Ruleset, Severity, Subject, check_with};
use skillpm_format::review::{Change, Kind, review};
use skillpm_format::skill::SKILL_FILE;
use skillpm_format::tokens;
use skillpm_format::tree::FileSet;

use super::markdown;
use super::view::{bytes, number, printable};
use crate::error::Result;
use crate::registry::{Record, document_of};

/// The largest file that is shown, in bytes.
const SHOWN_FILE: u64 = 64 << 10;
/// The bytes of all files that are shown.
const SHOWN_FILES: u64 = 512 << 10;
/// The largest number of findings that are listed.
const FINDINGS: usize = 50;

/// The contents of a version.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Contents {
    /// The HTML of its instructions.
    body: String,
    /// The environment that it needs, according to its author.
    compatibility: Option<String>,
    tokens: Tokens,
    files: Vec<File>,
    access: Vec<Access>,
    findings: Vec<Finding>,
    errors: usize,
    warnings: usize,
    /// Findings that are not listed.
    more_findings: usize,
}

#[derive(Debug, Clone, Serialize)]
struct Tokens {
    metadata: String,
    body: String,
    resources: String,
}

#[derive(Debug, Clone, Serialize)]
struct File {
    id: String,
    path: String,
    size: String,
    is_executable: bool,
    /// The text, if it is shown.
    text: Option<String>,
    /// Why it is not shown.
    hidden: Option<&'static str>,
}

/// Things of one kind that a skill can do.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Access {
    kind: &'static str,
    title: &'static str,
    /// Whether users should look at it before anything else.
    is_serious: bool,
    items: Vec<Item>,
}

#[derive(Debug, Clone, Serialize)]
struct Item {
    text: String,
    /// The location of the evidence, or the description of the file `text`.
    place: String,
}

#[derive(Debug, Clone, Serialize)]
struct Finding {
    severity: String,
    rule: &'static str,
    message: String,
    line: usize,
}

impl Item {
    fn of(change: &Change) -> Self {
        let (text, path) = (printable(&change.text), printable(change.path.as_str()));
        match (change.kind, change.line) {
            (Kind::Executable, _) => Self { text: path, place: String::new() },
            // For a whole file the path is description enough.
            (Kind::Script | Kind::Binary | Kind::AgentSettings, None) => Self { text: path, place: text },
            (_, Some(line)) => Self { text, place: format!("{path}:{line}") },
            (_, None) => Self { text, place: path },
        }
    }
}

impl Contents {
    /// Reads the files of a version.
    pub(super) fn of(record: &Record, set: &FileSet) -> Result<Self> {
        let document = document_of(set)?;
        let mut contents = Self {
            body: String::new(),
            compatibility: document.compatibility().as_deref().map(printable),
            tokens: tokens(set, &document, record)?,
            files: file_list(set)?,
            access: grouped(&review(None, set)?.changes),
            findings: Vec::new(),
            errors: 0,
            warnings: 0,
            more_findings: 0,
        };
        let anchor = |path: &str| {
            let found = contents.files.iter().find(|file| file.path == path)?;
            Some(found.id.clone())
        };
        contents.body = markdown::html(document.body(), &anchor);
        contents.check(record, set, &document)?;
        Ok(contents)
    }

    /// Returns about how much memory it takes, in bytes.
    pub(super) fn weight(&self) -> u64 {
        let texts: usize = self.files.iter().filter_map(|file| file.text.as_ref()).map(String::len).sum();
        (self.body.len() + texts + 200 * (self.files.len() + self.findings.len()) + 4_000) as u64
    }

    fn check(&mut self, record: &Record, set: &FileSet, document: &Document) -> Result<()> {
        let beside = files::of_set(set)?;
        let name = record.name.as_str();
        let subject = Subject::new(document, Some(name), SKILL_FILE).with_files(&beside);
        let findings = check_with(&subject, &Ruleset::new(Profile::Publish));
        let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
        (self.errors, self.warnings) = (count(Severity::Error), count(Severity::Warning));
        self.more_findings = findings.len().saturating_sub(FINDINGS);
        let lines = document.line_index();
        let shown = findings.iter().take(FINDINGS).map(|finding| Finding {
            severity: finding.severity.to_string(),
            rule: finding.rule,
            message: printable(&finding.message),
            line: lines.line(finding.span.start),
        });
        self.findings = shown.collect();
        Ok(())
    }
}

/// Counts the tokens of each level, as `skillpm show` does.
fn tokens(set: &FileSet, document: &Document, record: &Record) -> Result<Tokens> {
    let mut resources = 0;
    for file in set.files().iter().filter(|file| file.path.as_str() != SKILL_FILE) {
        resources += text_of(set.read(file)?).map_or(0, |text| tokens::estimate(&text));
    }
    Ok(Tokens {
        metadata: number(tokens::estimate(record.name.as_str()) + tokens::estimate(&record.description)),
        body: number(tokens::estimate(document.body())),
        resources: number(resources),
    })
}

fn file_list(set: &FileSet) -> Result<Vec<File>> {
    let mut room = SHOWN_FILES;
    let mut list = Vec::with_capacity(set.files().len());
    for (at, file) in set.files().iter().enumerate() {
        let is_fit = file.size <= SHOWN_FILE && file.size <= room;
        let text = if is_fit { text_of(set.read(file)?) } else { None };
        if text.is_some() {
            room -= file.size;
        }
        let hidden = match (is_fit, &text) {
            (_, Some(_)) => None,
            (true, None) => Some("binary"),
            (false, None) => Some("too large to show"),
        };
        list.push(File {
            id: format!("file-{at}"),
            path: printable(file.path.as_str()),
            size: bytes(file.size),
            is_executable: file.executable,
            text: text.map(|text| printable(&text)),
            hidden,
        });
    }
    Ok(list)
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Returns additions by kind, the most serious kind first.
pub(super) fn grouped<'a>(changes: impl IntoIterator<Item = &'a Change>) -> Vec<Access> {
    let mut kinds: BTreeMap<Kind, Vec<Item>> = BTreeMap::new();
    for change in changes {
        kinds.entry(change.kind).or_default().push(Item::of(change));
    }
    let access = |(kind, items): (Kind, Vec<Item>)| Access {
        kind: kind.id(),
        title: title(kind),
        is_serious: kind <= Kind::AgentSettings,
        items,
    };
    kinds.into_iter().map(access).collect()
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::HiddenCharacters => "Hidden characters",
        Kind::CommentInstruction => "Comments that address the agent",
        Kind::OutOfSight => "Text far away from the rest",
        Kind::Hook => "Hooks",
        Kind::DynamicCommand => "Commands run before the agent reads the text",
        Kind::DownloadExec => "Runs downloaded code",
        Kind::Tool => "Allowed tools",
        Kind::LimitRemoved => "Limits that are gone",
        Kind::Dependency => "Needs other skills",
        Kind::AgentSettings => "Agent settings",
        Kind::Script => "Scripts",
        Kind::Executable => "Executable files",
        Kind::Binary => "Binary files",
        Kind::Command => "Commands",
        Kind::Url => "Network addresses",
        Kind::LinkOutside => "Links outside the skill",
        Kind::DescriptionMarkup => "XML tags in the description",
        Kind::Unread => "Files too long to search in full",
        _ => "Other",
    }
}
