//! Marketplaces: lists of plugins and their locations.
//!
//! A marketplace is only a list of addresses. Manifest and lockfile record the source that an entry names, so
//! nothing needs the marketplace afterwards. The file comes from a stranger: anything wrong in it is an error
//! with its position, and the whole file is refused.

use std::collections::BTreeMap;

use super::discover::{Declared, Definition, join};
use super::json::{Json, Node};
use crate::advice::{Message, Verb, message};
use crate::error::{Error, Result};
use crate::path::collision_key;
use crate::spec::{
    Ecosystem, GitUrl, Origin, PUBLIC_HOST, Package, Reference, Repository, SourceSpec, SpecError, Transport,
    is_object_id,
};
use crate::text::visible_name;
use crate::tree::{Node as TreeNode, Tree};

/// The possible paths of a marketplace's file: that of Claude Code, then that of Codex. The first that exists
/// counts.
pub const FILES: &[&str] = &[".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"];
/// The largest file that is read, in bytes.
pub(super) const MAX_FILE: u64 = 1 << 20;
/// The longest name of a plugin, in characters.
const MAX_NAME: usize = 128;
/// Names that only marketplaces of [`RESERVED_FOR`] may have: others could impersonate them.
const RESERVED: &[&str] = &[
    "agent-skills",
    "anthropic-agent-skills",
    "anthropic-marketplace",
    "anthropic-plugins",
    "claude-code-marketplace",
    "claude-code-plugins",
    "claude-plugins-official",
    "knowledge-work-plugins",
    "life-sciences",
];
/// The owner on GitHub of the marketplaces with [`RESERVED`] names.
const RESERVED_FOR: &str = "anthropics";

/// A marketplace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marketplace {
    /// The name.
    pub name: String,
    /// The plugins, in the order of the file.
    pub plugins: Vec<Plugin>,
}

/// A plugin of a marketplace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// The name, unique in the marketplace.
    pub name: String,
    /// The purpose of the plugin; may be empty.
    pub description: String,
    /// The version, if the marketplace states one.
    pub version: Option<String>,
    /// The location of the plugin.
    pub source: PluginSource,
    /// The statements of the marketplace about the plugin's skills.
    pub definition: Definition,
}

/// The location of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// In this directory of the marketplace's tree.
    Inside(String),
    /// In another repository.
    Elsewhere(SourceSpec),
    /// At a place that skillpm does not fetch from.
    Unusable {
        /// The reason.
        message: String,
        /// The hint.
        hint: Message,
    },
}

/// Reads the marketplace in `tree`, which `spec` names; `None` if the tree has none.
///
/// # Errors
///
/// Fails for a file that is too large or not JSON, for a value of the wrong type, for a name that occurs twice or is
/// reserved, and for a source that leads out of the repository. Each error has its position in the file.
pub fn read(tree: &Tree, spec: &SourceSpec) -> Result<Option<Marketplace>> {
    let root = spec.path.as_deref().unwrap_or("");
    let Some((file, path)) = FILES
        .iter()
        .map(|file| (*file, below(root, file)))
        .find(|(_, path)| matches!(tree.get(path).map(|entry| entry.node), Some(TreeNode::File { .. })))
    else {
        return Ok(None);
    };
    let refused = |error: Error| error.context(format!("the marketplace `{spec}` is refused"));
    let bytes = tree
        .read(&path, MAX_FILE)
        .map_err(|error| refused(Error::from(error).context(format!("`{file}` cannot be read"))))?;
    let json = Json::parse(&path, bytes).map_err(refused)?;
    marketplace(&json.root(), spec, root).map(Some).map_err(refused)
}

fn below(root: &str, path: &str) -> String {
    if root.is_empty() { path.to_owned() } else { format!("{root}/{path}") }
}

fn marketplace(file: &Node<'_>, spec: &SourceSpec, root: &str) -> Result<Marketplace> {
    let file = file.clone().object("marketplace")?;
    let name = file.required("name")?;
    let text = name.text("name")?;
    if !is_name(text) {
        return Err(name.fault(&format!(
            "`{text}` is not the name of a marketplace: use letters, digits, `-`, `_` and `.`"
        )));
    }
    let theirs = Repository::try_from(spec.origin.clone()).is_ok_and(|repository| {
        repository.host.is_none() && repository.owner.eq_ignore_ascii_case(RESERVED_FOR)
    });
    if RESERVED.contains(&text.to_ascii_lowercase().as_str()) && !theirs {
        let message = format!("the name `{text}` is reserved for marketplaces of `{RESERVED_FOR}` on GitHub");
        return Err(name.fault(&message).hint("this copy must get another name"));
    }
    if let Some(owner) = file.get("owner") {
        owner.object("owner")?.text_of("name")?;
    }
    let base = match file.get("metadata") {
        Some(metadata) => metadata.object("metadata")?.get("pluginRoot"),
        None => None,
    };
    let base = match base {
        Some(base) => inside(&base, "pluginRoot", root)?,
        None => root.to_owned(),
    };
    let reader = Reader { root, base: &base, is_local: spec.origin.is_on_this_machine() };
    let mut plugins = Vec::new();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for entry in file.required("plugins")?.list("plugins")? {
        let plugin = reader.plugin(entry.clone())?;
        let name = entry.required("name")?;
        if let Some(first) = seen.insert(collision_key(&plugin.name).into_owned(), name.place()) {
            let message = format!(
                "the plugin `{}` appears twice, the first time at {first}",
                visible_name(&plugin.name)
            );
            return Err(name
                .fault(&message)
                .hint("the marketplace lists two plugins of this name; report it to its authors"));
        }
        plugins.push(plugin);
    }
    Ok(Marketplace { name: text.to_owned(), plugins })
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().count() <= MAX_NAME
        && text.starts_with(char::is_alphanumeric)
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// Returns the directory that `node` names below `root`.
fn inside(node: &Node<'_>, what: &str, root: &str) -> Result<String> {
    let text = node.text(what)?;
    join(root, text).ok_or_else(|| {
        node.fault(&format!("`{text}` leads out of the repository"))
            .hint(format!("`{what}` is a directory of the repository, such as `./plugins/name`"))
    })
}

struct Reader<'a> {
    /// The directory of the marketplace in its tree.
    root: &'a str,
    /// The directory that paths of plugins start from.
    base: &'a str,
    is_local: bool,
}

impl Reader<'_> {
    fn plugin(&self, entry: Node<'_>) -> Result<Plugin> {
        let entry = entry.object("plugin")?;
        let name = entry.required("name")?;
        let text = name.text("name")?;
        if !is_name(text) {
            return Err(name.fault(&format!(
                "`{text}` is not the name of a plugin: use letters, digits, `-`, `_` and `.`"
            )));
        }
        let source = entry.required("source")?;
        let strict = entry.get("strict").map(|strict| strict.boolean("strict")).transpose()?;
        let skills = match entry.get("skills") {
            Some(skills) => Some(declared(&skills)?),
            None => None,
        };
        Ok(Plugin {
            name: text.to_owned(),
            description: entry.text_of("description")?.unwrap_or_default().to_owned(),
            version: entry.text_of("version")?.map(ToOwned::to_owned),
            source: self.source(&source)?,
            definition: Definition { skills, strict, place: source.place() },
        })
    }

    fn source(&self, source: &Node<'_>) -> Result<PluginSource> {
        if let Some(text) = source.as_text() {
            if text.contains("://") {
                let error = source.fault(&format!("the source `{text}` is not a path"));
                return Err(
                    error.hint("an address is written `{\"source\": \"url\", \"url\": \"https://…\"}`")
                );
            }
            return inside(source, "source", self.base).map(PluginSource::Inside);
        }
        let source = source.clone().object("source")?;
        let kind = source.required("source")?.text("source")?;
        match kind {
            "local" => inside(&source.required("path")?, "path", self.root).map(PluginSource::Inside),
            "github" => {
                let repo = source.required("repo")?;
                let text = repo.text("repo")?;
                let fault = |error: &SpecError| repo.fault(&error.to_string()).hint("`repo` is `owner/name`");
                let repository = Repository::parse(text).map_err(|error| fault(&error))?;
                Self::elsewhere(&source, repository.into())
            }
            "url" | "git-subdir" => {
                if kind == "git-subdir" {
                    source.required("path")?;
                }
                let url = source.required("url")?;
                let origin = self.repository(&url)?;
                Self::elsewhere(&source, origin)
            }
            "npm" => {
                let package = source.required("package")?;
                let text = package.text("package")?;
                let package =
                    Package::new(Ecosystem::Npm, text).map_err(|error| package.fault(&error.to_string()))?;
                Ok(PluginSource::Unusable {
                    message: format!(
                        "it is the npm package `{text}`, and skillpm does not download packages"
                    ),
                    hint: message!(
                        format_args!("install it with `npm install {text}`, then "),
                        Verb::Install.call().word(package)
                    ),
                })
            }
            other => Ok(PluginSource::Unusable {
                message: format!("skillpm does not support sources of the kind `{other}`"),
                hint: "known kinds are `github`, `url`, `git-subdir`, `local` and paths".into(),
            }),
        }
    }

    /// Returns the directory and revision in `origin` that `source` states.
    fn elsewhere(source: &Node<'_>, origin: Origin) -> Result<PluginSource> {
        let path = match source.get("path") {
            Some(path) => Some(inside(&path, "path", "")?).filter(|path| !path.is_empty()),
            None => None,
        };
        let reference = match (source.get("sha"), source.get("ref")) {
            (Some(sha), _) => {
                let text = sha.text("sha")?.to_ascii_lowercase();
                if !is_object_id(&text) {
                    return Err(sha.fault("`sha` must be a full commit: 40 hexadecimal digits"));
                }
                Some(Reference::Rev(text))
            }
            (None, Some(name)) => {
                let text = name.text("ref")?;
                Some(Reference::any(text).map_err(|error| name.fault(&error.to_string()))?)
            }
            (None, None) => None,
        };
        Ok(PluginSource::Elsewhere(SourceSpec { origin, path, reference, skill: None }))
    }

    /// Returns the repository at the address `url`.
    fn repository(&self, url: &Node<'_>) -> Result<Origin> {
        let text = url.text("url")?;
        if let Ok(SourceSpec { origin, path: None, reference: None, skill: None }) = text.parse()
            && let Ok(repository) = Repository::try_from(origin)
        {
            return Ok(repository.on(PUBLIC_HOST).into());
        }
        let address = GitUrl::new(text).map_err(|error| url.fault(&error.to_string()))?;
        if address.transport() == Transport::File && (!self.is_local || address.local_path().is_some()) {
            let message = format!("`{text}` is a path on this machine, which a marketplace must not name");
            return Err(url.fault(&message).hint("`url` is the address of a git repository"));
        }
        Ok(address.into())
    }
}

/// Returns the directories that `skills` names, below the plugin's own.
pub(super) fn declared(skills: &Node<'_>) -> Result<Vec<Declared>> {
    let one = |node: &Node<'_>| {
        let path = node.text("skills")?;
        match join("", path) {
            Some(path) => Ok(Declared { path, place: node.place() }),
            None => Err(node
                .fault(&format!("`{path}` leads out of the plugin"))
                .hint("a skill of a plugin is a directory in it, such as `./skills/name`")),
        }
    };
    skills.texts("skills")?.iter().map(one).collect()
}

#[cfg(test)]
mod tests;
