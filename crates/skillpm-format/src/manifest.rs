//! The manifest, `skillpm.toml`: the skills that users requested and the agents that see them.

mod above;
mod edit;
mod error;
mod gaps;
mod order;
mod programs;
mod read;
mod registries;
mod requirement;
mod search;
mod settings;

use std::collections::BTreeMap;

use toml_edit::{Document, DocumentMut};

pub use self::error::ManifestError;
pub use self::programs::Programs;
use self::read::{Reader, parse};
pub use self::registries::Registries;
pub use self::requirement::Requirement;
pub use self::search::SearchSettings;
pub use self::settings::{Agents, HintSettings, LintSettings, LocatedText, PolicySettings};
use crate::advice::Message;
use crate::name::SkillName;
use crate::sides::Sides;
use crate::text::{conflict_line, line_column};
use crate::version::VersionRange;

/// The tables and keys that only a person's own manifest may have: a project must not decide for everybody.
const PERSONAL: &[(&str, Option<&str>)] = &[("agents", Some("use")), ("search", None), ("hints", None)];

/// The name of the file.
pub const FILE_NAME: &str = "skillpm.toml";

/// A manifest, which keeps its comments and order when it is changed and written.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    skills: BTreeMap<SkillName, Requirement>,
    registries: Registries,
    programs: Programs,
    overrides: BTreeMap<SkillName, VersionRange>,
    agents: Agents,
    /// The first of what only a person's own manifest may have.
    personal: Option<LocatedText>,
    lint: LintSettings,
    policy: PolicySettings,
    search: SearchSettings,
    hints: HintSettings,
    /// The text as read.
    text: String,
    /// The changed document; most runs only read it.
    changed: Option<Box<DocumentMut>>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    ///
    /// Returns the first thing that is not TOML or that skillpm does not know, with its position.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        Ok(Self::parse_parts(text)?.0)
    }

    /// Reads a manifest like [`Self::parse`], and also reports whether there is a table `skills`.
    fn parse_parts(text: &str) -> Result<(Self, bool), ManifestError> {
        let document = parse(text)?;
        let reader = Reader::new(text);
        let root = document.as_table();
        reader.known(
            root,
            &["skills", "registries", "mcp", "override", "agents", "lint", "policy", "search", "hints"],
        )?;
        let registries = match root.get("registries") {
            Some(item) => reader.registries(item)?,
            None => Registries::default(),
        };
        let programs = match root.get("mcp") {
            Some(item) => reader.programs(item)?,
            None => Programs::default(),
        };
        let overrides = match root.get("override") {
            Some(item) => reader.overrides(item)?,
            None => BTreeMap::new(),
        };
        let skills = match root.get("skills") {
            Some(item) => reader.skills(item, &registries)?,
            None => BTreeMap::new(),
        };
        let agents = match root.get("agents") {
            Some(item) => reader.agents(item)?,
            None => Agents::default(),
        };
        let lint = match root.get("lint") {
            Some(item) => reader.lint(item)?,
            None => LintSettings::default(),
        };
        let policy = match root.get("policy") {
            Some(item) => reader.policy(reader.table(item, "`policy`")?)?,
            None => PolicySettings::default(),
        };
        let personal = PERSONAL.iter().find_map(|(table, key)| reader.personal(root, table, *key));
        let search = match root.get("search") {
            Some(item) => reader.search(item)?,
            None => SearchSettings::default(),
        };
        let hints = match root.get("hints") {
            Some(item) => reader.hints(reader.table(item, "`hints`")?)?,
            None => HintSettings::default(),
        };
        let has_skills = root.contains_key("skills");
        let text = text.to_owned();
        let manifest = Self {
            skills,
            registries,
            programs,
            overrides,
            agents,
            personal,
            lint,
            policy,
            search,
            hints,
            text,
            changed: None,
        };
        Ok((manifest, has_skills))
    }

    /// Parses a manifest in which git left conflict markers, if all that the sides did is to add different skills. Returns a
    /// manifest that has those of both.
    pub fn merged(text: &str) -> Option<Self> {
        conflict_line(text)?;
        let Sides { ours, theirs, both } = Sides::of(text).ok()?;
        let [ours, theirs, both] = [ours, theirs, both].map(|side| Self::parse(&side));
        let (ours, theirs, both) = (ours.ok()?, theirs.ok()?, both.ok()?);
        let is_in = |side: &Self| {
            side.agents == both.agents
                && side.skills.iter().all(|(name, entry)| both.skills.get(name) == Some(entry))
        };
        (is_in(&ours) && is_in(&theirs)).then_some(both)
    }

    /// Reports whether this manifest and `other`, which one of the two was made from, have the same text.
    pub fn is_written_as(&self, other: &Self) -> bool {
        // Different contents mean a different text. Most of what is compared is equal because it was never changed, and
        // text that was changed is not written out just to see that it differs.
        self.skills == other.skills && self.agents == other.agents && self.to_string() == other.to_string()
    }

    /// Returns the skills by the name under which they are installed.
    pub fn skills(&self) -> &BTreeMap<SkillName, Requirement> {
        &self.skills
    }

    /// Returns when hints after a success are shown. Only the user's own manifest decides that.
    pub fn hints(&self) -> HintSettings {
        self.hints
    }

    /// Returns the names of the skills that were requested, without entries of dependencies.
    pub fn asked(&self) -> impl Iterator<Item = &SkillName> {
        self.skills.iter().filter(|(_, entry)| !entry.dependency).map(|(name, _)| name)
    }

    /// Reports whether the skill `name` was requested.
    pub fn asks_for(&self, name: &SkillName) -> bool {
        self.skills.get(name).is_some_and(|entry| !entry.dependency)
    }

    /// Returns the line, from 1, where the manifest `text` names the skill `name`.
    pub fn line_of(text: &str, name: &SkillName) -> Option<usize> {
        let document = Document::parse(text).ok()?;
        let skills = document.as_table().get("skills")?.as_table_like()?;
        let span = skills.key(name.as_str())?.span()?;
        Some(line_column(text, span.start).0)
    }

    /// Returns the registries that it names.
    pub fn registries(&self) -> &Registries {
        &self.registries
    }

    /// Returns the programs that it names. Only those of the user's manifest are started.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Returns the ranges of versions that replace all others, by the name of the skill in its registry.
    pub fn overrides(&self) -> &BTreeMap<SkillName, VersionRange> {
        &self.overrides
    }

    /// Returns which agents see the skills.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Returns the error for a manifest that is not a user's own, with `hint`, if it has what only that one may have.
    pub fn misplaced(&self, hint: impl FnOnce() -> Message) -> Option<ManifestError> {
        let found = self.personal.as_ref()?;
        let message =
            format!("{} is a matter of each person: only your own manifest may have it", found.text);
        Some(found.error(message, Some(hint())))
    }

    /// Reports whether it states which agents see the skill `name`.
    pub fn says_who_sees(&self, name: &SkillName) -> bool {
        let own = || self.skills().get(name).is_some_and(|entry| entry.agents.is_some());
        self.agents().targets.is_some() || own()
    }

    /// Returns how the skills here are checked, as written.
    /// [`LintConfig`](crate::lint::LintConfig) interprets it.
    pub fn lint(&self) -> &LintSettings {
        &self.lint
    }

    /// Returns what may be installed, as written.
    pub fn policy(&self) -> &PolicySettings {
        &self.policy
    }
}

#[cfg(test)]
mod tests;
