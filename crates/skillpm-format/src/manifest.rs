//! The manifest, `skillpm.toml`: the skills that users requested and the agents that see them.

mod above;
mod edit;
mod gaps;
mod order;
mod requirement;

use std::collections::BTreeMap;
use std::ops::Range;

use self::requirement::ReferenceText;
use toml_edit::{Document, DocumentMut, Item, TableLike, Value};

use crate::advice::{Message, Verb, message};
use crate::name::SkillName;
use crate::spec::{Origin, Reference};
use crate::text::{closest, conflict_line, line_column};

/// The name of the file.
pub const FILE_NAME: &str = "skillpm.toml";

/// A manifest, which keeps its comments and order when it is changed and written.
#[derive(Debug, Clone, Default)]
pub struct Manifest {
    skills: BTreeMap<SkillName, Requirement>,
    agents: Agents,
    lint: LintSettings,
    policy: PolicySettings,
    /// The text as read.
    text: String,
    /// The changed document; most runs only read it.
    changed: Option<Box<DocumentMut>>,
}

/// What the manifest states about one skill; its key is the name under which the skill is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The source of the skill.
    pub origin: Origin,
    /// The directory below the origin; `None` means its root, or wherever the skill is found.
    pub path: Option<String>,
    /// The requested revision; `None` means the default branch.
    pub reference: Option<Reference>,
    /// The skill's own name, if it is installed under another one.
    pub name: Option<String>,
    /// The agents that get a link to this skill, overriding [`Agents::targets`]. With an empty list, no agent gets one.
    pub agents: Option<Vec<String>>,
    /// Whether the skill stays installed but no agent sees it.
    pub disabled: bool,
    /// Whether nobody requested the skill: it is installed because others need it, and is removed with them.
    pub dependency: bool,
    /// Whether to link to the directory at the origin rather than copy it.
    pub editable: bool,
}

/// The table `[agents]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agents {
    /// The agents that get a link, unless a skill names its own; `None` if the key is missing, which differs from an
    /// empty list.
    pub targets: Option<Vec<String>>,
    /// Whether they get copies rather than links.
    pub copy: bool,
    /// Whether to make git leave the bytes of skills alone; `None` if the key is missing, which means yes.
    pub gitattributes: Option<bool>,
}

/// The table `[lint]`, as written: the linter decides which rules exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LintSettings {
    /// The name of a profile.
    pub profile: Option<LocatedText>,
    /// Names of rules and of their levels, in the order of the file.
    pub rules: Vec<(LocatedText, LocatedText)>,
}

/// The table `[policy]`, as written; [`Admission`](crate::admission::Admission) interprets it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicySettings {
    /// Patterns of the only sources that are allowed; an empty list allows all.
    pub allow: Vec<LocatedText>,
    /// Patterns of sources that are denied.
    pub deny: Vec<LocatedText>,
    /// The minimum time since the release of a source.
    pub age: Option<LocatedText>,
    /// Patterns of sources that may be younger.
    pub age_exclude: Vec<LocatedText>,
    /// How strictly a source must be pinned.
    pub pin: Option<LocatedText>,
    /// Which findings block a skill.
    pub audit: Option<LocatedText>,
    /// Whether skills may run scripts.
    pub scripts: Option<LocatedText>,
    /// Patterns of sources whose skills may run scripts.
    pub scripts_allow: Vec<LocatedText>,
    /// Patterns of sources whose skills may not run scripts.
    pub scripts_deny: Vec<LocatedText>,
    /// Patterns of sources whose skills' scripts may use unix sockets.
    pub scripts_unix_sockets: Vec<LocatedText>,
}

impl PolicySettings {
    /// Reads a file that contains only the keys of `[policy]`.
    ///
    /// # Errors
    ///
    /// Fails like [`Manifest::parse`].
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        Reader { text }.policy(parse(text)?.as_table())
    }
}

/// A text in the manifest and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedText {
    /// The text.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl LocatedText {
    /// Returns an error that reports the text as wrong at this position.
    pub fn error(&self, message: impl Into<String>, hint: Option<Message>) -> ManifestError {
        ManifestError { line: self.line, column: self.column, message: message.into(), hint }
    }
}

/// An error that reports why and where a manifest cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ManifestError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do about it, if there is a suggestion.
    pub hint: Option<Message>,
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
        let reader = Reader { text };
        let root = document.as_table();
        reader.known(root, &["skills", "agents", "lint", "policy"])?;
        let skills = match root.get("skills") {
            Some(item) => reader.skills(item)?,
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
        let has_skills = root.contains_key("skills");
        Ok((Self { skills, agents, lint, policy, text: text.to_owned(), changed: None }, has_skills))
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

    /// Returns which agents see the skills.
    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Reports whether it states which agents see the skill `name`.
    pub fn says_who_sees(&self, name: &SkillName) -> bool {
        let own = || self.skills().get(name).is_some_and(|entry| entry.agents.is_some());
        self.agents().targets.is_some() || own()
    }

    /// Returns how the skills here are checked, as written.
    /// [`Ruleset::from_settings`](crate::lint::Ruleset::from_settings) interprets it.
    pub fn lint(&self) -> &LintSettings {
        &self.lint
    }

    /// Returns what may be installed, as written.
    pub fn policy(&self) -> &PolicySettings {
        &self.policy
    }
}

impl Requirement {
    /// Returns the requirement of a skill for which only the origin is given.
    pub fn new(origin: Origin) -> Self {
        Self {
            origin,
            path: None,
            reference: None,
            name: None,
            agents: None,
            disabled: false,
            dependency: false,
            editable: false,
        }
    }

    /// Reports whether nothing is lost without this entry: a dependency needs no entry unless it is disabled or names
    /// its agents.
    pub fn is_implied(&self) -> bool {
        self.dependency && !self.disabled && self.agents.is_none()
    }
}

fn parse(text: &str) -> Result<Document<&str>, ManifestError> {
    Document::parse(text).map_err(|error| {
        if let Some(line) = conflict_line(text) {
            return ManifestError {
                line,
                column: 1,
                message: "there are merge-conflict markers".to_owned(),
                hint: Some(message!("resolve it by hand, then run ", Verb::Install)),
            };
        }
        let message = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
        let key = error.span().and_then(|span| text.get(span));
        match key.filter(|_| message == "duplicate key") {
            // This happens after a merge, or if two files were joined.
            Some(key) => ManifestError {
                hint: Some(
                    "keep one of the two: a key may appear only once in its table, and a table only once"
                        .into(),
                ),
                ..fault(text, error.span(), format!("`{}` appears twice", key.trim()))
            },
            None => fault(text, error.span(), message),
        }
    })
}

fn fault(text: &str, span: Option<Range<usize>>, message: String) -> ManifestError {
    let (line, column) = line_column(text, span.map_or(0, |span| span.start));
    ManifestError { line, column, message, hint: None }
}

/// Reports whether a key names the source of one skill, or of several.
fn has_source(item: &Item) -> bool {
    let names = |item: &Item| {
        let table = item.as_table_like();
        table.is_some_and(|table| {
            table.contains_key("path") || requirement::sources().any(|key| table.contains_key(key))
        })
    };
    names(item) || item.as_table_like().is_some_and(|table| table.iter().any(|(_, item)| names(item)))
}

/// The keys of a policy.
const POLICY: &[&str] = &[
    "allow",
    "deny",
    "minimum-release-age",
    "minimum-release-age-exclude",
    "require-pin",
    "audit",
    "scripts",
    "scripts-allow",
    "scripts-deny",
    "scripts-unix-sockets",
];

/// The entry of one skill, in TOML.
struct Written<'a> {
    reader: &'a Reader<'a>,
    item: &'a Item,
    table: &'a dyn TableLike,
}

impl ReferenceText for Written<'_> {
    fn fault(&self, message: String) -> ManifestError {
        self.reader.fault(self.item, message)
    }

    fn known(&self, known: &[&str]) -> Result<(), ManifestError> {
        self.reader.known(self.table, known)
    }

    fn string(&self, key: &str) -> Result<Option<&str>, ManifestError> {
        self.reader.string(self.table, key)
    }

    fn strings(&self, key: &str) -> Result<Option<Vec<String>>, ManifestError> {
        self.reader.strings(self.table, key)
    }

    fn flag(&self, key: &str) -> Result<bool, ManifestError> {
        self.reader.flag(self.table, key)
    }
}

/// A reader for the parts of a manifest, with the text for positions in messages.
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn fault(&self, item: &Item, message: impl Into<String>) -> ManifestError {
        fault(self.text, item.span(), message.into())
    }

    /// Refuses keys that are not in `known`: silently ignoring a typo would be a trap.
    fn known(&self, table: &dyn TableLike, known: &[&str]) -> Result<(), ManifestError> {
        for (key, item) in table.iter() {
            if !known.contains(&key) {
                let span = table.key(key).and_then(toml_edit::Key::span);
                let mut error = fault(self.text, span, format!("the key `{key}` is not known here"));
                // Which keys a skill may have depends on its source, whose own key may be the wrong one.
                let is_skill = known.contains(&"disabled");
                let mut named = known.to_vec();
                for source in requirement::sources().filter(|_| is_skill) {
                    named.push(source);
                }
                let close = closest(key, named.into_iter().filter(|known| *known != key));
                let value = item.as_str().unwrap_or_default();
                let elsewhere = if is_skill { requirement::elsewhere(key, value, known) } else { None };
                error.hint = Some(match (elsewhere, close) {
                    _ if is_skill && requirement::REVISIONS.contains(&key) => {
                        format!("only skills of {} have revisions", requirement::with_revisions()).into()
                    }
                    _ if known.contains(&"skills") && has_source(item) => {
                        "skills belong under `[skills]`".into()
                    }
                    (Some(hint), _) => hint.into(),
                    (None, Some(close)) => format!("did you mean `{close}`?").into(),
                    (None, None) => format!("known keys are `{}`", known.join("`, `")).into(),
                });
                return Err(error);
            }
        }
        Ok(())
    }

    fn table<'i>(&self, item: &'i Item, what: &str) -> Result<&'i dyn TableLike, ManifestError> {
        item.as_table_like().ok_or_else(|| self.fault(item, format!("{what} must be a table")))
    }

    fn string<'i>(&self, table: &'i dyn TableLike, key: &str) -> Result<Option<&'i str>, ManifestError> {
        let Some(item) = table.get(key) else { return Ok(None) };
        match item.as_str() {
            Some(text) if !text.is_empty() && !text.chars().any(char::is_control) => Ok(Some(text)),
            Some(_) => {
                Err(self.fault(item, format!("`{key}` must not be empty or contain control characters")))
            }
            None => Err(self.fault(item, format!("`{key}` must be a string"))),
        }
    }

    fn skills(&self, item: &Item) -> Result<BTreeMap<SkillName, Requirement>, ManifestError> {
        let table = self.table(item, "`skills`")?;
        let mut skills = BTreeMap::new();
        let mut keys = BTreeMap::new();
        for (key, item) in table.iter() {
            let at = || table.key(key).and_then(toml_edit::Key::span);
            let name = SkillName::new(key).map_err(|error| fault(self.text, at(), error.to_string()))?;
            if let Some(other) = keys.insert(name.collision_key(), key) {
                let message = format!("`{key}` and `{other}` are the same name on some file systems");
                return Err(fault(self.text, at(), message));
            }
            skills.insert(name, self.requirement(item)?);
        }
        Ok(skills)
    }

    fn requirement(&self, item: &Item) -> Result<Requirement, ManifestError> {
        if item.is_str() {
            let error = self.fault(item, "skills from a registry are not supported by this version");
            let hint = match item.as_str().and_then(requirement::meant) {
                Some(keys) => format!("write `{{ {keys} }}`"),
                None => {
                    "name a source: `{ github = \"owner/repo\" }` or `{ path = \"../skill\" }`".to_owned()
                }
            };
            return Err(ManifestError { hint: Some(hint.into()), ..error });
        }
        requirement::read(&Written { reader: self, item, table: self.table(item, "a skill")? })
    }

    fn placed(&self, span: Option<Range<usize>>, text: &str) -> LocatedText {
        let (line, column) = line_column(self.text, span.map_or(0, |span| span.start));
        LocatedText { text: text.to_owned(), line, column }
    }

    fn lint(&self, item: &Item) -> Result<LintSettings, ManifestError> {
        let table = self.table(item, "`lint`")?;
        self.known(table, &["profile", "rules"])?;
        let mut lint = LintSettings::default();
        if let (Some(item), Some(text)) = (table.get("profile"), self.string(table, "profile")?) {
            lint.profile = Some(self.placed(item.span(), text));
        }
        let Some(rules) = table.get("rules") else { return Ok(lint) };
        let rules = self.table(rules, "`rules`")?;
        for (key, item) in rules.iter() {
            let level = item.as_str().ok_or_else(|| {
                self.fault(item, "the level of a rule must be a string: `off`, `warning` or `error`")
            })?;
            let rule = self.placed(rules.key(key).and_then(toml_edit::Key::span), key);
            lint.rules.push((rule, self.placed(item.span(), level)));
        }
        Ok(lint)
    }

    fn policy(&self, table: &dyn TableLike) -> Result<PolicySettings, ManifestError> {
        self.known(table, POLICY)?;
        let text = |key: &str| -> Result<Option<LocatedText>, ManifestError> {
            let text = self.string(table, key)?;
            Ok(text.zip(table.get(key)).map(|(text, item)| self.placed(item.span(), text)))
        };
        let policy = PolicySettings {
            allow: self.list(table, "allow")?,
            deny: self.list(table, "deny")?,
            age: text("minimum-release-age")?,
            age_exclude: self.list(table, "minimum-release-age-exclude")?,
            pin: text("require-pin")?,
            audit: text("audit")?,
            scripts: text("scripts")?,
            scripts_allow: self.list(table, "scripts-allow")?,
            scripts_deny: self.list(table, "scripts-deny")?,
            scripts_unix_sockets: self.list(table, "scripts-unix-sockets")?,
        };
        for (key, list, what) in [
            ("allow", &policy.allow, "nothing could be installed"),
            ("scripts-allow", &policy.scripts_allow, "no script could run"),
        ] {
            if let Some(item) = table.get(key)
                && list.is_empty()
            {
                let mut error = self.fault(item, format!("`{key}` is empty, so {what}"));
                let hint = format!("remove it, or name what is allowed: `{key} = [\"github:acme\"]`");
                error.hint = Some(hint.into());
                return Err(error);
            }
        }
        Ok(policy)
    }

    /// Returns the list of texts under `key`, empty if it is missing.
    fn list(&self, table: &dyn TableLike, key: &str) -> Result<Vec<LocatedText>, ManifestError> {
        let Some(item) = table.get(key) else { return Ok(Vec::new()) };
        let wrong = |span| fault(self.text, span, format!("`{key}` must be a list of strings"));
        let array = item.as_array().ok_or_else(|| wrong(item.span()))?;
        array
            .iter()
            .map(|value| match value.as_str() {
                Some(text) => Ok(self.placed(value.span(), text)),
                None => Err(wrong(value.span())),
            })
            .collect()
    }

    fn agents(&self, item: &Item) -> Result<Agents, ManifestError> {
        let table = self.table(item, "`agents`")?;
        self.known(table, &["targets", "copy", "gitattributes"])?;
        let gitattributes =
            table.get("gitattributes").map(|_| self.flag(table, "gitattributes")).transpose()?;
        let (targets, copy) = (self.strings(table, "targets")?, self.flag(table, "copy")?);
        Ok(Agents { targets, copy, gitattributes })
    }

    /// Returns a list of agents.
    fn strings(&self, table: &dyn TableLike, key: &str) -> Result<Option<Vec<String>>, ManifestError> {
        let Some(item) = table.get(key) else { return Ok(None) };
        let array =
            item.as_array().ok_or_else(|| self.fault(item, format!("`{key}` must be a list of agents")))?;
        let text = |value: &Value| match value.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(fault(self.text, value.span(), format!("`{key}` must be a list of strings"))),
        };
        array.iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    fn flag(&self, table: &dyn TableLike, key: &str) -> Result<bool, ManifestError> {
        let Some(item) = table.get(key) else { return Ok(false) };
        item.as_bool().ok_or_else(|| self.fault(item, format!("`{key}` must be `true` or `false`")))
    }
}

#[cfg(test)]
mod tests;
