//! How the text of a manifest is read.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use super::Manifest;
use super::error::ManifestError;
use super::registries::Registries;
use super::requirement::{self, ReferenceText, Requirement};
use super::settings::{Agents, HintSettings, LintSettings, LocatedText, PolicySettings};
use crate::advice::{Verb, message};
use crate::name::SkillName;
use crate::text::{closest, conflict_line, line_column};

impl PolicySettings {
    /// Reads a file that contains only the keys of `[policy]`.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let (reader, document) = (Reader::new(text), parse(text)?);
        match document.key("policy") {
            // In a manifest they are in a table.
            Some(key) => Err(ManifestError {
                hint: Some("leave out `[policy]`: in this file the keys of a policy stand at the top".into()),
                ..fault(text, key.span(), "a policy file has no table `policy`".to_owned())
            }),
            None => reader.policy(document.as_table()),
        }
    }
}

/// Parses the TOML of a manifest.
pub(super) fn parse(text: &str) -> Result<Document<&str>, ManifestError> {
    Document::parse(text).map_err(|error| {
        if let Some(line) = conflict_line(text) {
            return ManifestError {
                line,
                column: 1,
                message: "there are merge-conflict markers".to_owned(),
                hint: Some(match Manifest::merged(text) {
                    Some(_) => message!(Verb::Install, " combines the skills of both sides"),
                    None => message!("resolve it by hand, then run ", Verb::Install),
                }),
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

/// Returns the error `message` about the part `span` of `text`.
pub(super) fn fault(text: &str, span: Option<Range<usize>>, message: String) -> ManifestError {
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
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
}

impl<'a> Reader<'a> {
    /// Returns a reader for the manifest `text`.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// Returns the error `message` about `item`.
    pub(super) fn fault(&self, item: &Item, message: impl Into<String>) -> ManifestError {
        fault(self.text, item.span(), message.into())
    }

    /// Refuses keys that are not in `known`: silently ignoring a typo would be a trap.
    pub(super) fn known(&self, table: &dyn TableLike, known: &[&str]) -> Result<(), ManifestError> {
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

    /// Returns `item` as a table; `what` is its name in the error.
    pub(super) fn table<'i>(&self, item: &'i Item, what: &str) -> Result<&'i dyn TableLike, ManifestError> {
        item.as_table_like().ok_or_else(|| self.fault(item, format!("{what} must be a table")))
    }

    /// Returns the text under `key` of `table`, which is neither empty nor contains control characters.
    pub(super) fn string<'i>(
        &self,
        table: &'i dyn TableLike,
        key: &str,
    ) -> Result<Option<&'i str>, ManifestError> {
        let Some(item) = table.get(key) else { return Ok(None) };
        match item.as_str() {
            Some(text) if !text.is_empty() && !text.chars().any(char::is_control) => Ok(Some(text)),
            Some(_) => {
                Err(self.fault(item, format!("`{key}` must not be empty or contain control characters")))
            }
            None => Err(self.fault(item, format!("`{key}` must be a string"))),
        }
    }

    /// Reads the table `[skills]`.
    pub(super) fn skills(
        &self,
        item: &Item,
        registries: &Registries,
    ) -> Result<BTreeMap<SkillName, Requirement>, ManifestError> {
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
            let requirement = self.requirement(&name, item, registries)?;
            skills.insert(name, requirement);
        }
        Ok(skills)
    }

    fn requirement(
        &self,
        name: &SkillName,
        item: &Item,
        registries: &Registries,
    ) -> Result<Requirement, ManifestError> {
        if let Some(text) = item.as_str() {
            return self.in_default_registry(name, item, text, registries);
        }
        let written = Written { reader: self, item, table: self.table(item, "a skill")? };
        requirement::read(&written, name, registries)
    }

    pub(super) fn placed(&self, span: Option<Range<usize>>, text: &str) -> LocatedText {
        let (line, column) = line_column(self.text, span.map_or(0, |span| span.start));
        LocatedText { text: text.to_owned(), line, column }
    }

    /// Reads the table `[hints]`.
    pub(super) fn hints(&self, table: &dyn TableLike) -> Result<HintSettings, ManifestError> {
        self.known(table, &["show"])?;
        match self.string(table, "show")? {
            None | Some("first") => Ok(HintSettings::First),
            Some("always") => Ok(HintSettings::Always),
            Some("never") => Ok(HintSettings::Never),
            Some(_) => {
                let message = "`show` must be `first`, `always` or `never`";
                Err(fault(self.text, table.get("show").and_then(Item::span), message.to_owned()))
            }
        }
    }

    /// Returns what `root` has of a table, or of a key in it, and where.
    pub(super) fn personal(
        &self,
        root: &dyn TableLike,
        table: &str,
        key: Option<&str>,
    ) -> Option<LocatedText> {
        let item = root.get(table)?;
        Some(match key {
            Some(key) => self.placed(item.get(key)?.span(), &format!("`{key}` in `[{table}]`")),
            None => self.placed(item.span(), &format!("`[{table}]`")),
        })
    }

    /// Reads the table `[lint]`.
    pub(super) fn lint(&self, item: &Item) -> Result<LintSettings, ManifestError> {
        let table = self.table(item, "`lint`")?;
        self.known(table, &["profile", "rules", "exclude", "include", "baseline", "per-path"])?;
        let mut lint = self.rules_in(table)?;
        lint.exclude = self.list(table, "exclude")?;
        lint.include = self.list(table, "include")?;
        lint.baseline = self.text(table, "baseline")?;
        let Some(paths) = table.get("per-path") else { return Ok(lint) };
        let paths = self.table(paths, "`per-path`")?;
        for (key, item) in paths.iter() {
            let table = self.table(item, "the settings of a path")?;
            self.known(table, &["profile", "rules"])?;
            let pattern = self.placed(paths.key(key).and_then(toml_edit::Key::span), key);
            lint.per_path.push((pattern, self.rules_in(table)?));
        }
        Ok(lint)
    }

    /// Reads the profile and the levels of rules in `table`.
    fn rules_in(&self, table: &dyn TableLike) -> Result<LintSettings, ManifestError> {
        let mut lint = LintSettings { profile: self.text(table, "profile")?, ..LintSettings::default() };
        let Some(rules) = table.get("rules") else { return Ok(lint) };
        let rules = self.table(rules, "`rules`")?;
        for (key, item) in rules.iter() {
            let level = item.as_str().ok_or_else(|| {
                self.fault(item, "the level of a rule must be a string: `off`, `note`, `warning` or `error`")
            })?;
            let rule = self.placed(rules.key(key).and_then(toml_edit::Key::span), key);
            lint.rules.push((rule, self.placed(item.span(), level)));
        }
        Ok(lint)
    }

    /// Reads the keys of `[policy]` in `table`.
    pub(super) fn policy(&self, table: &dyn TableLike) -> Result<PolicySettings, ManifestError> {
        self.known(table, POLICY)?;
        let text = |key: &str| self.text(table, key);
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

    /// Returns the text under `key` with its position.
    fn text(&self, table: &dyn TableLike, key: &str) -> Result<Option<LocatedText>, ManifestError> {
        let text = self.string(table, key)?;
        Ok(text.zip(table.get(key)).map(|(text, item)| self.placed(item.span(), text)))
    }

    /// Returns the list of texts under `key`, empty if it is missing.
    pub(super) fn list(&self, table: &dyn TableLike, key: &str) -> Result<Vec<LocatedText>, ManifestError> {
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

    /// Reads the table `[agents]`.
    pub(super) fn agents(&self, item: &Item) -> Result<Agents, ManifestError> {
        let table = self.table(item, "`agents`")?;
        self.known(table, &["targets", "use", "copy", "gitattributes"])?;
        let gitattributes =
            table.get("gitattributes").map(|_| self.flag(table, "gitattributes")).transpose()?;
        let (targets, copy) = (self.strings(table, "targets")?, self.flag(table, "copy")?);
        Ok(Agents { targets, used: self.strings(table, "use")?, copy, gitattributes })
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

    pub(super) fn flag(&self, table: &dyn TableLike, key: &str) -> Result<bool, ManifestError> {
        let Some(item) = table.get(key) else { return Ok(false) };
        item.as_bool().ok_or_else(|| self.fault(item, format!("`{key}` must be `true` or `false`")))
    }
}
