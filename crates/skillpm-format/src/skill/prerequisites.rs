//! What a skill requires of the machine it is used on, as its files state it.
//!
//! There is no standard for this: each key is one that agents or collections of skills use. A value in a shape that none
//! of them has is ignored here.

pub mod javascript;
mod listed;
pub mod python;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Document, LineIndex, Node, OPENCLAW_BLOCKS, Position, Value, read_yaml};

/// The maximum number of prerequisites that are read from one file, and of names of which one is enough.
const MAX: usize = 256;
/// The maximum length of a name in bytes. Free text may be longer.
const MAX_NAME: usize = 128;
/// The maximum number of characters of free text.
const MAX_TEXT: usize = 1024;

/// Something that a skill requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Prerequisite {
    /// The kind.
    pub kind: PrerequisiteKind,
    /// The names, or the text. Of several names, one is enough.
    pub any_of: Vec<String>,
    /// The versions that are required, as written. Nothing compares them.
    pub version: Option<String>,
    /// Whether the skill works without it, as far as is known: an import in `try`, a package for some systems.
    pub optional: bool,
    /// The key that states it, `#!` or `import`.
    pub key: String,
    /// The file that states it, below the skill's directory.
    pub file: String,
    /// The place in that file.
    #[serde(flatten)]
    pub at: Position,
}

/// The kind of a prerequisite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrerequisiteKind {
    /// A program that is found in `PATH`.
    Program,
    /// An environment variable.
    Variable,
    /// An operating system, by any name that agents use.
    System,
    /// A Python package by its name on an index, such as `pyyaml`.
    PythonPackage,
    /// A Python module by the name that scripts import, such as `yaml`.
    PythonModule,
    /// A package of Node.js.
    NodePackage,
    /// An MCP server.
    McpServer,
    /// A setting of an agent.
    Setting,
    /// A file outside of the skill.
    File,
    /// Free text, which nothing judges.
    Text,
}

/// Whether this machine has what a skill requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It is there, in whatever version.
    Present,
    /// It is not there.
    Missing,
    /// Nothing looked, or nothing can tell.
    Unknown,
}

/// A prerequisite that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedPrerequisite {
    /// What is required.
    #[serde(flatten)]
    pub prerequisite: Prerequisite,
    /// Whether this machine has it.
    pub state: Presence,
}

impl CheckedPrerequisite {
    /// Reports whether the skill needs it and this machine lacks it.
    pub fn is_lacking(&self) -> bool {
        self.state == Presence::Missing && !self.prerequisite.optional
    }
}

impl Prerequisite {
    /// Returns a prerequisite that line `at` of `file` states with `key`; `None` if none of `names` can be one of this
    /// `kind`.
    pub fn new<'a>(
        kind: PrerequisiteKind,
        names: impl IntoIterator<Item = &'a str>,
        (key, file, at): (&str, &str, Position),
    ) -> Option<Self> {
        let mut any_of: Vec<String> = Vec::new();
        for name in names.into_iter().map(str::trim).filter(|name| kind.admits(name)).take(MAX) {
            let name: String = name.chars().take(MAX_TEXT).collect();
            if !any_of.contains(&name) {
                any_of.push(name);
            }
        }
        let (key, file) = (key.to_owned(), file.to_owned());
        (!any_of.is_empty()).then_some(Self { kind, any_of, version: None, optional: false, key, file, at })
    }

    /// Sets whether the skill works without it.
    #[must_use]
    pub fn optional(self, optional: bool) -> Self {
        Self { optional, ..self }
    }

    /// Returns the names, each as code: `jq` or `gojq`.
    pub fn names(&self) -> String {
        let names: Vec<_> = self.any_of.iter().map(|name| format!("`{}`", name.replace('`', "'"))).collect();
        names.join(" or ")
    }

    /// Returns what it is, in words: the Python package `torch`.
    pub fn described(&self) -> String {
        let names = self.names();
        match self.kind {
            PrerequisiteKind::Program | PrerequisiteKind::Variable | PrerequisiteKind::Text => names,
            PrerequisiteKind::System => format!("the system {names}"),
            PrerequisiteKind::PythonPackage => format!("the Python package {names}"),
            PrerequisiteKind::PythonModule => format!("the Python module {names}"),
            PrerequisiteKind::NodePackage => format!("the Node.js package {names}"),
            PrerequisiteKind::McpServer => format!("the MCP server {names}"),
            PrerequisiteKind::Setting => format!("the setting {names}"),
            PrerequisiteKind::File => format!("the file {names}"),
        }
    }
}

impl PrerequisiteKind {
    /// Reports whether `name` can be the name of one. A program's has no directory, so that nobody makes skillpm look
    /// elsewhere than in `PATH`.
    fn admits(self, name: &str) -> bool {
        let is_made_of = |more: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
            name.len() <= MAX_NAME && name.chars().all(fits)
        };
        let first = name.chars().next();
        match self {
            _ if first.is_none() => false,
            Self::Program => !name.starts_with(['.', '-']) && is_made_of("._+-"),
            Self::Variable => !name.starts_with(|c: char| c.is_ascii_digit()) && is_made_of("_"),
            Self::PythonPackage => name.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_made_of("._-"),
            Self::PythonModule => {
                name.len() <= MAX_NAME && name.chars().all(|c| c.is_alphanumeric() || c == '_')
            }
            Self::NodePackage => {
                is_made_of("@/._-~") && !name.split('/').any(|part| part.starts_with('.') || part.is_empty())
            }
            Self::System | Self::McpServer | Self::Setting | Self::File => name.len() <= 4 * MAX_NAME,
            Self::Text => true,
        }
    }
}

/// Returns what the frontmatter of `document` requires, which is the skill's file `file`.
pub fn declared(document: &Document, file: &str) -> Vec<Prerequisite> {
    let Some(root) = document.frontmatter() else { return Vec::new() };
    let mut reader = Reader::new(document.line_index(), file);
    reader.top(root);
    reader.found
}

/// Returns what `text` requires, the content of the skill's file `agents/openai.yaml`.
/// Source: `dependencies.tools` in the loader of skills of Codex.
pub fn declared_for_openai(text: &str, file: &str) -> Vec<Prerequisite> {
    let Ok(Some(root)) = read_yaml(text, &mut Vec::new()) else { return Vec::new() };
    let mut reader = Reader::new(LineIndex::new(text), file);
    let tools = root.get("dependencies").and_then(|dependencies| dependencies.get("tools"));
    for tool in tools.map(listed::items).unwrap_or_default() {
        let Some(value) = tool.get("value") else { continue };
        let kind = match tool.get("type").and_then(Node::text) {
            Some("mcp") => PrerequisiteKind::McpServer,
            Some("env_var") => PrerequisiteKind::Variable,
            // Other types are not known to be programs.
            _ => PrerequisiteKind::Text,
        };
        reader.each(kind, "dependencies.tools", Some(value));
    }
    reader.found
}

/// Reads the values of one file.
struct Reader<'a> {
    lines: LineIndex<'a>,
    file: &'a str,
    /// Where the text starts that has the values, if they are in one.
    within: Option<usize>,
    found: Vec<Prerequisite>,
}

impl<'a> Reader<'a> {
    fn new(lines: LineIndex<'a>, file: &'a str) -> Self {
        Self { lines, file, within: None, found: Vec::new() }
    }

    /// Adds a prerequisite with one of `names`, stated at `node`.
    fn add<'n>(
        &mut self,
        kind: PrerequisiteKind,
        key: &str,
        node: &Node,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Option<&mut Prerequisite> {
        let at = self.lines.position(self.within.unwrap_or(node.span.start));
        let new = Prerequisite::new(kind, names, (key, self.file, at)).filter(|_| self.found.len() < MAX)?;
        self.found.push(new);
        self.found.last_mut()
    }

    /// Adds a prerequisite for each text of `value`, a text or a list of texts or of objects with a name.
    fn each(&mut self, kind: PrerequisiteKind, key: &str, value: Option<&Node>) {
        for item in value.map(listed::items).unwrap_or_default() {
            let name = ["name", "path", "key"].iter().find_map(|key| item.get(key)).unwrap_or(item);
            if let Some(text) = name.text() {
                self.add(kind, key, item, [text]);
            }
        }
    }

    /// Adds one prerequisite with all texts of `value`, of which one is enough.
    fn any(&mut self, kind: PrerequisiteKind, key: &str, value: Option<&Node>) {
        if let Some(value) = value {
            self.add(kind, key, value, listed::texts(value));
        }
    }

    /// Reads the fields at the top level: those of the specification, of Hermes, and of collections.
    fn top(&mut self, root: &Node) {
        self.text("compatibility", root.get("compatibility"));
        self.requires("requires", root.get("requires"));
        self.tools("cliTools", root.get("cliTools"));
        for item in root.get("dependencies").map(listed::items).unwrap_or_default() {
            let Some(package) = item.text().and_then(python::package) else { continue };
            let added = self.add(PrerequisiteKind::PythonPackage, "dependencies", item, [package.name]);
            if let Some(added) = added {
                (added.version, added.optional) = (package.version, package.conditional);
            }
        }
        let key = "required_environment_variables";
        self.each(PrerequisiteKind::Variable, key, root.get(key));
        let key = "required_credential_files";
        self.each(PrerequisiteKind::File, key, root.get(key));
        self.any(PrerequisiteKind::System, "platforms", root.get("platforms"));
        match root.get("metadata") {
            // A text with JSON, perhaps with comments and bare keys: nearly all of it is YAML too.
            Some(metadata @ Node { value: Value::Scalar { .. }, .. }) => {
                let text = metadata.text().unwrap_or_default();
                if let Ok(Some(inner)) = read_yaml(&listed::without_comments(text), &mut Vec::new()) {
                    self.within = Some(metadata.span.start);
                    self.metadata(&inner);
                    self.within = None;
                }
            }
            Some(metadata) => self.metadata(metadata),
            None => {}
        }
    }

    /// Reads the fields below `metadata`.
    fn metadata(&mut self, metadata: &Node) {
        self.text("metadata.compatibility", metadata.get("compatibility"));
        self.requires("metadata.requires", metadata.get("requires"));
        self.tools("metadata.cliTools", metadata.get("cliTools"));
        for (server, value) in metadata.get("mcpTools").map(Node::pairs).unwrap_or_default() {
            let name = server.text().unwrap_or_default();
            if let Some(added) = self.add(PrerequisiteKind::McpServer, "metadata.mcpTools", server, [name]) {
                added.version = listed::version(value);
            }
        }
        let hermes = metadata.get("hermes").and_then(|hermes| hermes.get("config"));
        self.each(PrerequisiteKind::Setting, "metadata.hermes.config", hermes);
        // A former name counts if today's is absent.
        let block = OPENCLAW_BLOCKS.iter().find_map(|name| Some((name, metadata.get(name)?)));
        if let Some((name, block)) = block {
            let from = self.found.len();
            self.requires(&format!("metadata.{name}.requires"), block.get("requires"));
            let always = block.get("always").and_then(Node::text) == Some("true");
            self.found[from..].iter_mut().for_each(|one| one.optional |= always);
            // `always` does not override the system.
            self.any(PrerequisiteKind::System, &format!("metadata.{name}.os"), block.get("os"));
        }
    }

    /// Reads a block `requires`. Source: `OpenClaw`'s page on skills, and `mcp` in skills of Composio.
    fn requires(&mut self, key: &str, block: Option<&Node>) {
        let Some(block) = block else { return };
        let of = |name: &str| (format!("{key}.{name}"), block.get(name));
        let (bins, value) = of("bins");
        self.each(PrerequisiteKind::Program, &bins, value);
        let (any, value) = of("anyBins");
        self.any(PrerequisiteKind::Program, &any, value);
        for (name, kind) in [
            ("env", PrerequisiteKind::Variable),
            ("config", PrerequisiteKind::Setting),
            ("mcp", PrerequisiteKind::McpServer),
        ] {
            let (key, value) = of(name);
            self.each(kind, &key, value);
        }
    }

    /// Reads `cliTools`: a list of objects with `tool` and `semver`.
    fn tools(&mut self, key: &str, value: Option<&Node>) {
        for item in value.map(listed::items).unwrap_or_default() {
            let tool = item.get("tool").unwrap_or(item);
            if let Some(added) = self.add(PrerequisiteKind::Program, key, item, listed::texts(tool)) {
                added.version = listed::version(item);
            }
        }
    }

    fn text(&mut self, key: &str, value: Option<&Node>) {
        if let Some((node, text)) = value.and_then(|node| Some((node, node.flat_text()?))) {
            self.add(PrerequisiteKind::Text, key, node, [text.as_str()]);
        }
    }
}

#[cfg(test)]
mod tests;
