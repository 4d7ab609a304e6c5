//! Changes to a manifest: users edit the file too, so unchanged parts stay byte for byte, with their order, comments
//! and line endings.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::above::Above;
use super::requirement::VERSION;
use super::{
    Agents, LintSettings, LocatedText, Manifest, PolicySettings, Registries, Requirement, above, gaps, order,
};
use crate::name::SkillName;
use crate::spec::{Origin, Reference};

impl Manifest {
    /// Adds a skill, or replaces its entry. Rewrites nothing if nothing changes.
    pub fn set_skill(&mut self, name: &SkillName, requirement: Requirement) {
        if self.skills.get(name) == Some(&requirement) {
            return;
        }
        let registries = self.registries.clone();
        let new = requirement.to_toml(Some(&registries));
        let document = self.document();
        let skills = document.get_mut("skills").and_then(Item::as_table_like_mut);
        match skills.and_then(|skills| skills.get_mut(name.as_str())) {
            Some(entry) if has_lines(entry) => {
                let (left, position) = set_keys(entry, &new);
                above::put_behind(document, position, &left);
            }
            _ => {
                let section = with_header(document, "skills");
                let sorted = section.as_table().is_some_and(order::is_sorted);
                let short = requirement.is_from_default(&registries, name).then(|| new.get(VERSION).cloned());
                put(section, name.as_str(), short.flatten().unwrap_or_else(|| new.into()));
                if let Some(skills) = section.as_table_mut().filter(|_| sorted) {
                    order::sort(skills, name.as_str());
                }
            }
        }
        self.skills.insert(name.clone(), requirement);
    }

    /// Removes a skill. Returns `false` if it was not there.
    pub fn remove_skill(&mut self, name: &SkillName) -> bool {
        if self.skills.remove(name).is_none() {
            return false;
        }
        let document = self.document();
        let header = document.get("skills").and_then(|skills| skills.get(name.as_str())?.as_table());
        let kept = header
            .filter(|table| !table.is_dotted())
            .map(|table| (above::kept_of_header(document, table), table.position()));
        let left = match document.get_mut("skills") {
            Some(Item::Table(skills)) => match kept {
                Some(kept) => {
                    skills.remove(name.as_str());
                    Some(kept)
                }
                None => Some((above::take_line(skills, name.as_str(), Above::Goes), skills.position())),
            },
            Some(Item::Value(Value::InlineTable(skills))) => {
                gaps::take_key(skills, name.as_str(), Above::Goes);
                None
            }
            _ => None,
        };
        if let Some((text, position)) = left {
            above::put_behind(document, position, &text);
        }
        true
    }

    /// Sets which agents see the skills.
    pub fn set_agents(&mut self, agents: Agents) {
        if self.agents == agents {
            return;
        }
        let old = std::mem::replace(&mut self.agents, agents.clone());
        let table = with_header(self.document(), "agents");
        if let Some(targets) = agents.targets.filter(|new| old.targets.as_ref() != Some(new)) {
            put(table, "targets", targets.iter().collect::<Array>().into());
        }
        match agents.used {
            new if new == old.used => {}
            Some(new) => put(table, "use", new.iter().collect::<Array>().into()),
            None => drop(table.as_table_like_mut().and_then(|table| table.remove("use"))),
        }
        if agents.copy != old.copy {
            put(table, "copy", agents.copy.into());
        }
    }

    /// Sets whether searches ask skills.sh where no registry is configured.
    pub fn set_search_of_site(&mut self, answer: bool) {
        if self.search.skills_sh() == Some(answer) {
            return;
        }
        put(with_header(self.document(), "search"), "skills-sh", answer.into());
        if let Ok(read) = Self::parse(&self.to_string()) {
            self.search = read.search;
        }
    }

    /// Returns the text to write. Returns `None` if reading it back would not give this manifest.
    ///
    /// Users write more forms than any test covers, and a manifest that cannot be read is worse than one that was not
    /// changed.
    pub fn written(&self) -> Option<String> {
        let text = self.to_string();
        let is_same = |read: Self| {
            read.skills == self.skills
                && read.registries == self.registries
                && read.overrides == self.overrides
                && read.agents == self.agents
                && read.lint.texts() == self.lint.texts()
                && read.policy.texts() == self.policy.texts()
                && read.search == self.search
                && read.hints == self.hints
        };
        Self::parse(&text).is_ok_and(is_same).then_some(text)
    }

    /// Returns the document, to be changed.
    fn document(&mut self) -> &mut DocumentMut {
        #[expect(clippy::expect_used, reason = "the same text was parsed when it was read")]
        let parsed = || Box::new(Document::parse(self.text.as_str()).expect("TOML").into_mut());
        self.changed.get_or_insert_with(parsed)
    }
}

/// Writes the text of the file.
impl std::fmt::Display for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(document) = &self.changed else { return f.write_str(&self.text) };
        // A byte-order mark that the editor put before the text; the parser drops it.
        let (mark, old) = match self.text.strip_prefix('\u{feff}') {
            Some(old) => ("\u{feff}", old),
            None => ("", self.text.as_str()),
        };
        f.write_str(mark)?;
        let text = document.to_string();
        // On Windows, lines end with a carriage return and a line feed.
        if old.contains('\r') { f.write_str(&with_ends_of(old, &text)) } else { f.write_str(&text) }
    }
}

/// Returns the text `new` with the line endings of `old`, from which it was made: existing lines keep theirs, and new
/// ones get the most common ending.
fn with_ends_of(old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let bare = |lines: &[&str]| -> Vec<String> {
        let bare = |line: &&str| line.trim_end_matches(['\r', '\n']).to_owned();
        lines.iter().map(bare).collect()
    };
    let (bare_old, bare_new) = (bare(&old), bare(&new));
    let windows = old.iter().filter(|line| line.ends_with("\r\n")).count();
    let end = if windows * 2 >= old.len() { "\r\n" } else { "\n" };
    let mut text = String::new();
    for op in capture_diff_slices(Algorithm::Myers, &bare_old, &bare_new) {
        let (range, kept) = match op {
            DiffOp::Equal { old_index, new_index, len } => (new_index..new_index + len, Some(old_index)),
            other => (other.new_range(), None),
        };
        for (count, at) in range.enumerate() {
            text.push_str(&bare_new[at]);
            let line = kept.and_then(|start| old.get(start + count)).filter(|line| line.ends_with('\n'));
            text.push_str(match line {
                _ if !new[at].ends_with('\n') => "",
                Some(line) if line.ends_with("\r\n") => "\r\n",
                Some(_) => "\n",
                None => end,
            });
        }
    }
    text
}

impl LintSettings {
    /// Returns the values, key by key, wherever they are.
    fn texts(&self) -> Vec<Vec<&str>> {
        let Self { profile, rules, exclude, include, baseline, per_path } = self;
        let rules: Vec<_> = rules.iter().flat_map(|(rule, level)| [&*rule.text, &*level.text]).collect();
        let lists = [profile.as_slice(), exclude, include, baseline.as_slice()];
        let lists = lists.map(|list| list.iter().map(|placed: &LocatedText| placed.text.as_str()).collect());
        let paths = per_path.iter().flat_map(|(path, of)| [vec![vec![&*path.text]], of.texts()].concat());
        lists.into_iter().chain([rules]).chain(paths).collect()
    }
}

impl PolicySettings {
    /// Returns the values, key by key, wherever they are.
    fn texts(&self) -> Vec<Vec<&str>> {
        let Self {
            allow,
            deny,
            age,
            age_exclude,
            pin,
            audit,
            scripts,
            scripts_allow,
            scripts_deny,
            scripts_unix_sockets,
        } = self;
        let texts = [age, pin, audit, scripts].map(Option::as_slice);
        let lists =
            [allow, deny, age_exclude, scripts_allow, scripts_deny, scripts_unix_sockets].map(Vec::as_slice);
        let all = texts.into_iter().chain(lists);
        all.map(|list| list.iter().map(|placed: &LocatedText| placed.text.as_str()).collect()).collect()
    }
}

impl Requirement {
    /// Returns the entry of a skill: a table on one line, in which registries have the names of `registries`.
    pub(super) fn to_toml(&self, registries: Option<&Registries>) -> InlineTable {
        let mut table = InlineTable::new();
        let (key, value) = self.origin.manifest();
        let named = registries.and_then(|registries| registries.name_of(&self.origin));
        table.insert(key, named.map_or(value, ToOwned::to_owned).into());
        if let Some(path) = self.path.as_ref().filter(|_| self.released().is_none()) {
            table.insert(self.origin.directory_key(), path.into());
        }
        if let Some(reference) = &self.reference {
            let key = match reference {
                Reference::Any(_) => "ref",
                Reference::Range(_) => self.origin.range_key(),
                Reference::Tag(_) => "tag",
                Reference::Branch(_) => "branch",
                Reference::Rev(_) => "rev",
            };
            table.insert(key, reference.name().into());
        }
        if let Some(name) = &self.name {
            table.insert("name", name.into());
        }
        if self.editable {
            table.insert("editable", true.into());
        }
        if let Some(agents) = &self.agents {
            table.insert("agents", agents.iter().collect::<Array>().into());
        }
        if self.disabled {
            table.insert("disabled", true.into());
        }
        if self.dependency {
            table.insert("dependency", true.into());
        }
        table
    }

    /// Reports whether the entry of the skill `name` can be its range of versions alone.
    fn is_from_default(&self, registries: &Registries, name: &SkillName) -> bool {
        let Self { origin, path, reference, name: own, agents, disabled, dependency, editable } = self;
        let default = registries.preferred().cloned().map(Origin::from);
        default.as_ref() == Some(origin)
            && path.as_deref() == Some(name.as_str())
            && matches!(reference, Some(Reference::Range(_)))
            && own.is_none()
            && agents.is_none()
            && !(*disabled || *dependency || *editable)
    }
}

/// Returns the table `name`, created if it is missing. The parser has ensured that it is a table.
fn section<'a>(document: &'a mut DocumentMut, name: &str) -> &'a mut Item {
    let item = document.entry(name).or_insert_with(|| Item::Table(Table::new()));
    if !item.is_table_like() {
        *item = Item::Table(Table::new());
    }
    item
}

/// Returns a table like [`section`] that is about to get a line, and with it a header if it has none.
fn with_header<'a>(document: &'a mut DocumentMut, name: &str) -> &'a mut Item {
    let head = above::take_head(document, name);
    let item = section(document, name);
    if let Some(table) = item.as_table_mut().filter(|_| !head.is_empty()) {
        table.decor_mut().set_prefix(head);
    }
    item
}

/// Reports whether the entry of a skill has several lines, which may have comments: `[skills.pdf]`, or braces around
/// several lines.
fn has_lines(entry: &Item) -> bool {
    match entry {
        Item::Table(_) => true,
        Item::Value(Value::InlineTable(table)) => table.to_string().contains('\n'),
        _ => false,
    }
}

/// Changes `entry` to the values of `new`, writing only what changes: a comment that the user wrote above a removed
/// line may be about the whole entry, and stays. Returns the leftover text above removed lines, and the position of the
/// section.
fn set_keys(entry: &mut Item, new: &InlineTable) -> (String, Option<isize>) {
    let keys = entry.as_table_like().into_iter().flat_map(TableLike::iter);
    let gone: Vec<String> =
        keys.map(|(key, _)| key).filter(|key| !new.contains_key(key)).map(ToOwned::to_owned).collect();
    let mut left = String::new();
    for key in &gone {
        match entry {
            Item::Table(table) => left.push_str(&above::take_line(table, key, Above::Stays)),
            Item::Value(Value::InlineTable(table)) => gaps::take_key(table, key, Above::Stays),
            _ => {}
        }
    }
    for (key, value) in new {
        if !entry.get(key).is_some_and(|old| is_same(old, value)) {
            put(entry, key, value.clone());
        }
    }
    (left, entry.as_table().and_then(Table::position))
}

/// Reports whether two values of a skill's table mean the same, however they are written.
fn is_same(old: &Item, new: &Value) -> bool {
    let texts = |array: &Array| array.iter().map(|value| value.as_str().map(ToOwned::to_owned)).collect();
    let list = |array: Option<&Array>| -> Option<Vec<_>> { array.map(texts) };
    old.as_str() == new.as_str()
        && old.as_bool() == new.as_bool()
        && list(old.as_array()) == list(new.as_array())
}

/// Sets `key`. The text around an old value, such as a comment after it, stays, and so does the text inside a list.
fn put(table: &mut Item, key: &str, mut value: Value) {
    let there = table.as_table_like_mut().and_then(|table| table.get_mut(key));
    match (there, &value) {
        (Some(Item::Value(Value::Array(old))), Value::Array(new)) => gaps::set_list(old, new),
        (Some(item), _) => {
            if let Some(old) = item.as_value() {
                *value.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(value);
        }
        (None, _) => match table {
            Item::Value(Value::InlineTable(table)) => gaps::add_key(table, key, value),
            Item::Table(table) => drop(table.insert(key, Item::Value(value))),
            // A section and the entry of a skill are tables.
            _ => {}
        },
    }
}

#[cfg(test)]
mod tests;
