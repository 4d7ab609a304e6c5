//! Script tools: the scripts of a skill that an agent can call, with their descriptions and inputs.
//!
//! No script is run to find out. The manifest takes precedence, then facts in the script itself, then its name. If
//! neither the manifest, `argparse` nor a usage line names parameters, a tool takes the words of its command line.

mod cache;
mod call;
mod comment;
mod definition;
mod input;
mod manifest;
mod names;
mod python;
mod scripts;
mod usage;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

pub(crate) use cache::ToolCache;
pub use call::{Call, CallError};
pub use definition::ToolFormat;
pub use input::{Input, Kind, Parameter, ParameterPosition, TypedBy, WORDS};
pub use manifest::{MANIFESTS, ManifestFault};
pub(super) use python::imports as python_imports;
pub use scripts::{Language, MAX_SCRIPT, Refused};

use self::scripts::{Script, ScriptFile, ScriptListing};
use crate::codes;
use crate::fs::{self, PathError};
use crate::profile::ScriptPlaces;

/// The directory of a skill's scripts.
pub const SCRIPTS: &str = "scripts";

/// A script that an agent can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The bare name: the one in the manifest, otherwise the name of its file without the extension.
    pub name: String,
    /// The unique name among the tools of all skills: 1 to 64 of the characters `A-Z a-z 0-9 _ -`. It is made from the
    /// skill's name, so only a skill of the same name, which hides this one or is hidden by it, can have the same.
    pub tool_name: String,
    /// The description, in one line.
    pub description: String,
    /// The source of the description.
    pub described_by: DescribedBy,
    /// The path of the script in the skill, with `/`.
    pub script: String,
    /// The language of the script.
    pub language: Language,
    /// The input.
    pub input: Input,
    /// The time limit, if the manifest sets one.
    pub timeout: Option<Duration>,
}

/// The source of a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DescribedBy {
    /// The manifest.
    Manifest,
    /// A docstring or a comment of the script.
    Script,
    /// The name of the file.
    Name,
}

/// A problem that keeps a file from being a tool, or a tool from being described completely.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolDiagnostic {
    /// A file that cannot be a tool because of its kind.
    #[error("`{}` is not a tool: {reason}", file.display())]
    Refused {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: Refused,
    },
    /// A directory or a file that cannot be read.
    #[error("{}: {}", .0, .0.source)]
    Unreadable(PathError),
    /// A file that is too large to be examined.
    #[error("`{}` has more than {} MiB: only its name is known", .0.display(), MAX_SCRIPT >> 20)]
    TooLarge(PathBuf),
    /// A directory with more files than are examined.
    #[error("`{}` has more than {} files: the others were ignored", .0.display(), scripts::MAX_FILES)]
    TooMany(PathBuf),
    /// A manifest that is not valid or cannot be read. The skill then has no tools, because its author wanted other
    /// tools than could be guessed.
    #[error("`{}`: {}", file.display(), all(faults))]
    Manifest {
        /// The manifest.
        file: PathBuf,
        /// All faults in it.
        faults: Vec<ManifestFault>,
    },
}

impl ToolDiagnostic {
    /// Returns the code. Codes never change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused { .. } => codes::NOT_A_TOOL,
            Self::Unreadable(_) => codes::UNREADABLE,
            Self::TooLarge(_) => codes::TOO_LARGE,
            Self::TooMany(_) => codes::TOO_MANY_FILES,
            Self::Manifest { .. } => codes::MANIFEST,
        }
    }
}

fn all(faults: &[ManifestFault]) -> String {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// The tools of a skill.
#[derive(Debug, Default)]
pub struct ToolSet {
    /// The tools, sorted by the bytes of their paths.
    pub tools: Vec<Tool>,
    /// The problems, and other facts worth knowing.
    pub diagnostics: Vec<ToolDiagnostic>,
}

impl ToolSet {
    /// Returns the tool called `name`: by its unique name, otherwise by its bare name, otherwise by the path or the name of
    /// its file. `None` if no tool has it, or if several have the bare name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        let one = |of: &dyn Fn(&Tool) -> bool| {
            let mut found = self.tools.iter().filter(|tool| of(tool));
            found.next().filter(|_| found.next().is_none())
        };
        let path = format!("{SCRIPTS}/{name}");
        one(&|tool| tool.tool_name == name)
            .or_else(|| one(&|tool| tool.name == name))
            .or_else(|| one(&|tool| tool.script == name || tool.script == path))
    }
}

/// The facts that were read from a script.
#[derive(Debug, Default)]
struct Facts {
    description: Option<String>,
    input: Option<Input>,
}

/// Finds the tools of the skill called `skill` in the directory `dir`, whose scripts are in `places`.
///
/// Never fails: a skill without scripts has no tools, and scripts that cannot be used are reported. Links are not
/// followed, and files with the setuid or setgid bit are not tools.
pub fn tools(dir: &Path, skill: &str, places: ScriptPlaces) -> ToolSet {
    let mut set = ToolSet::default();
    let mut listing = ScriptListing::of(dir, places, &mut set.diagnostics);
    let entries = match manifest_of(dir, &mut listing) {
        Ok(entries) => entries,
        Err(diagnostic) => {
            set.diagnostics.push(diagnostic);
            return set;
        }
    };
    let named: BTreeSet<&str> = entries.iter().map(|(_, script)| script.path.as_str()).collect();
    let mut found: Vec<Tool> = Vec::new();
    for (entry, script) in &entries {
        let mut tool = tool(dir, script, &mut set.diagnostics);
        if let Some(name) = &entry.name {
            tool.name.clone_from(name);
        }
        if let Some(text) = &entry.description {
            (tool.description, tool.described_by) = (text.clone(), DescribedBy::Manifest);
        }
        if let Some(input) = &entry.input {
            tool.input = input.clone();
        }
        tool.timeout = entry.timeout;
        found.push(tool);
    }
    let others = listing.scripts().filter(|script| !named.contains(script.path.as_str()));
    found.extend(others.map(|script| tool(dir, script, &mut set.diagnostics)));
    found.sort_by(|a, b| (&a.script, &a.name).cmp(&(&b.script, &b.name)));
    let names: Vec<_> =
        found.iter().map(|tool| names::Named { name: &tool.name, script: &tool.script }).collect();
    let names = names::tool_names(skill, &names);
    for (tool, name) in found.iter_mut().zip(names) {
        tool.tool_name = name;
    }
    set.tools = found;
    set
}

/// Returns the reason why the manifest at `file` could not be read.
fn unreadable(file: &Path, diagnostic: &ToolDiagnostic) -> String {
    match diagnostic {
        ToolDiagnostic::TooLarge(_) => format!("the file has more than {} MiB", MAX_SCRIPT >> 20),
        ToolDiagnostic::Unreadable(_) if matches!(fs::kind(file), Ok(Some(fs::Kind::Symlink))) => {
            "the file is a link, and links in a skill are not followed".to_owned()
        }
        ToolDiagnostic::Unreadable(error) => format!("the file cannot be read: {}", error.source),
        other => other.to_string(),
    }
}

/// Reads the manifest, if there is one, and finds the script of each entry.
fn manifest_of(
    dir: &Path,
    listing: &mut ScriptListing,
) -> Result<Vec<(manifest::ManifestTool, Script)>, ToolDiagnostic> {
    let Some(path) =
        MANIFESTS.iter().map(|name| format!("{SCRIPTS}/{name}")).find(|path| listing.file(path).is_some())
    else {
        return Ok(Vec::new());
    };
    let file = dir.join(&path);
    let wrong = |faults| ToolDiagnostic::Manifest { file: file.clone(), faults };
    let unread = |message| {
        let at = crate::document::Position { line: 1, column: 1 };
        wrong(vec![ManifestFault { at, message }])
    };
    let bytes = match scripts::read(&file) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Vec::new()),
        Err(diagnostic) => return Err(unread(unreadable(&file, &diagnostic))),
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(unread("the file is not UTF-8 text".to_owned()));
    };
    let (entries, mut faults) = manifest::read(&text);
    let mut found = Vec::new();
    for entry in entries {
        let path = format!("{SCRIPTS}/{}", entry.script);
        listing.add(dir, &path);
        match listing.file(&path) {
            Some(ScriptFile::Script(script) | ScriptFile::Other(script)) => {
                found.push((entry, script.clone()));
            }
            Some(ScriptFile::Refused(reason)) => {
                faults.push((entry.span.clone(), format!("`{}` is not a tool: {reason}", entry.script)));
            }
            None => faults
                .push((entry.span.clone(), format!("there is no script `{}` in `scripts/`", entry.script))),
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(wrong(manifest::located(&text, faults))) }
}

/// Returns the tool with the facts that its script gives.
fn tool(dir: &Path, script: &Script, diagnostics: &mut Vec<ToolDiagnostic>) -> Tool {
    let facts = match scripts::read(&dir.join(&script.path)) {
        Ok(bytes) => facts(script, &bytes.unwrap_or_default()),
        Err(diagnostic) => {
            diagnostics.push(diagnostic);
            Facts::default()
        }
    };
    let name = stem(&script.path).to_owned();
    let (description, described_by) = match facts.description {
        Some(text) => (text, DescribedBy::Script),
        None => (format!("Execute {name}"), DescribedBy::Name),
    };
    Tool {
        tool_name: String::new(),
        description,
        described_by,
        script: script.path.clone(),
        language: script.language.clone(),
        input: facts.input.unwrap_or_else(Input::words),
        timeout: None,
        name,
    }
}

fn facts(script: &Script, bytes: &[u8]) -> Facts {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let file = script.path.rsplit('/').next().unwrap_or_default();
    describe(&script.language, text, file)
}

/// Returns the facts in `text`, a script in `language` in a file called `file`.
fn describe(language: &Language, text: &str, file: &str) -> Facts {
    match language {
        Language::Python => python::facts(text, file),
        Language::JavaScript => Facts {
            description: comment::summary_of_javascript(text, file),
            input: usage::input(text, file).or_else(|| object_of_javascript(text)),
        },
        Language::Shell | Language::Other(_) => {
            Facts { description: comment::summary(text, "#", file), input: usage::input(text, file) }
        }
    }
}

/// Returns the input of a script that reads its standard input and not its command line.
fn object_of_javascript(text: &str) -> Option<Input> {
    let input =
        ["process.stdin", "readFileSync(0", "readFileSync('/dev/stdin'", "readFileSync(\"/dev/stdin\""];
    let reads_input = input.iter().any(|part| text.contains(part));
    (reads_input && !text.contains("process.argv")).then(Input::object)
}

/// Returns the description and input that a script gives, as far as they are known.
///
/// `text` may be anything; the fuzz tests call this.
pub fn read_script(language: &Language, text: &str, file: &str) -> (Option<String>, Option<Input>) {
    let facts = describe(language, text, file);
    (facts.description, facts.input)
}

/// Checks the text of a manifest. Whether its scripts exist is not checked.
///
/// # Errors
///
/// Fails with all faults, in the order of the file.
pub fn check_manifest(text: &str) -> Result<(), Vec<ManifestFault>> {
    let (_, faults) = manifest::read(text);
    if faults.is_empty() { Ok(()) } else { Err(manifest::located(text, faults)) }
}

/// Returns the name of a file without its directory and its extension.
fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.rsplit_once('.').map_or(file, |(stem, _)| if stem.is_empty() { file } else { stem })
}

#[cfg(test)]
mod tests;
