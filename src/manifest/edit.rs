//! Changes of a manifest: people write the file too, so that what is not changed stays to the byte, with its
//! order, its comments and its line endings.

use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::{Agents, Manifest, Requirement};
use crate::name::SkillName;
use crate::spec::{Origin, Reference};

impl Manifest {
    /// Adds a skill, or replaces what was said of it. Nothing is rewritten where nothing changes.
    pub fn set_skill(&mut self, name: &SkillName, requirement: Requirement) {
        if self.skills.get(name) == Some(&requirement) {
            return;
        }
        let new = requirement.to_toml();
        let skills = section(self.document(), "skills");
        match skills.get_mut(name.as_str()) {
            // `[skills.pdf]`: its lines may have comments, so only those that change are written.
            Some(Item::Table(table)) => {
                table.retain(|key, _| new.contains_key(key));
                for (key, value) in &new {
                    if !table.get(key).is_some_and(|old| is_same(old, value)) {
                        put(table, key, value.clone());
                    }
                }
            }
            _ => put(skills, name.as_str(), new.into()),
        }
        self.skills.insert(name.clone(), requirement);
    }

    /// Removes a skill; `false` where it was not there.
    pub fn remove_skill(&mut self, name: &SkillName) -> bool {
        if self.skills.remove(name).is_none() {
            return false;
        }
        if let Some(table) = self.document().get_mut("skills").and_then(Item::as_table_like_mut) {
            table.remove(name.as_str());
        }
        true
    }

    /// Sets which agents see the skills.
    pub fn set_agents(&mut self, agents: Agents) {
        if self.agents == agents {
            return;
        }
        let old = std::mem::replace(&mut self.agents, agents.clone());
        let table = section(self.document(), "agents");
        if let Some(targets) = agents.targets.filter(|new| old.targets.as_ref() != Some(new)) {
            put(table, "targets", targets.iter().collect::<Array>().into());
        }
        if agents.copy != old.copy {
            put(table, "copy", agents.copy.into());
        }
    }

    /// The document, to be changed.
    fn document(&mut self) -> &mut DocumentMut {
        #[expect(clippy::expect_used, reason = "the same text was parsed when it was read")]
        let parsed = || Box::new(Document::parse(self.text.as_str()).expect("TOML").into_mut());
        self.changed.get_or_insert_with(parsed)
    }
}

/// The text of the file.
impl std::fmt::Display for Manifest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(document) = &self.changed else { return f.write_str(&self.text) };
        // What the editor that wrote the file put around its text; the parser drops it.
        if self.text.starts_with('\u{feff}') {
            f.write_str("\u{feff}")?;
        }
        let text = document.to_string();
        // Lines end with carriage return and line feed on Windows.
        if self.text.contains("\r\n") { f.write_str(&text.replace('\n', "\r\n")) } else { f.write_str(&text) }
    }
}

impl Requirement {
    /// What is written of a skill: a table in one line.
    fn to_toml(&self) -> InlineTable {
        let mut table = InlineTable::new();
        match &self.origin {
            Origin::GitHub(repository) => table.insert("github", repository.to_string().into()),
            Origin::Git(url) => table.insert("git", url.to_string().into()),
            Origin::Download(_) | Origin::Site(_) => table.insert("url", self.origin.typed().into()),
            Origin::Package(package) => table.insert(package.ecosystem.key(), package.name.as_str().into()),
            Origin::Local(path) => table.insert("path", path.into()),
        };
        if let Some(path) = &self.path {
            let key = if matches!(self.origin, Origin::Local(_)) { "subdir" } else { "path" };
            table.insert(key, path.into());
        }
        if let Some(reference) = &self.reference {
            let key = match reference {
                Reference::Any(_) => "ref",
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
        table
    }
}

/// The table `name`, made if it is not there. The parser has seen to it that it is a table.
fn section<'a>(document: &'a mut DocumentMut, name: &str) -> &'a mut dyn TableLike {
    let item = document.entry(name).or_insert_with(|| Item::Table(Table::new()));
    if !item.is_table_like() {
        *item = Item::Table(Table::new());
    }
    #[expect(clippy::expect_used, reason = "the lines above made it a table")]
    item.as_table_like_mut().expect("a table")
}

/// Whether two values of a skill's table mean the same, however they are written.
fn is_same(old: &Item, new: &Value) -> bool {
    let texts = |array: &Array| array.iter().map(|value| value.as_str().map(ToOwned::to_owned)).collect();
    let list = |array: Option<&Array>| -> Option<Vec<_>> { array.map(texts) };
    old.as_str() == new.as_str()
        && old.as_bool() == new.as_bool()
        && list(old.as_array()) == list(new.as_array())
}

/// Sets `key`. What stands around an old value, such as a comment behind it, stays.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key) {
        Some(item) => {
            if let Some(old) = item.as_value() {
                *value.decor_mut() = old.decor().clone();
            }
            *item = Item::Value(value);
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}
