//! `tools`: lists the scripts of skills that an agent can call.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::advice::Warning;
use crate::engine::tools::{DescribedBy, Language, Tool, ToolFormat, ToolSet, TypedBy};
use crate::engine::{Diagnostic, Skill};
use crate::error::Result;
use crate::profile::ScriptPlaces;
use crate::session::Session;

/// A request for the tools of a skill.
#[derive(Debug, Clone, Default)]
pub struct ToolsRequest {
    /// The skill; `None` means all skills.
    pub name: Option<String>,
    /// Whether scripts in directories below `scripts/` count too.
    pub recursive: bool,
}

/// A tool of a skill. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedTool {
    /// The skill's name.
    pub skill: String,
    /// The bare name of the tool.
    pub name: String,
    /// The name among the tools of all skills that are not hidden.
    pub tool_name: String,
    /// The description.
    pub description: String,
    /// Where the description comes from.
    pub described_by: DescribedBy,
    /// The directory of the skill.
    pub location: String,
    /// The path of the script in the skill.
    pub script: String,
    /// The language of the script.
    pub language: Language,
    /// The input, as a JSON Schema.
    pub input_schema: Value,
    /// The origin of the types.
    pub typed_by: TypedBy,
    /// How the script receives its input.
    pub passed_as: PassedAs,
    /// The timeout in milliseconds, if the manifest has one.
    pub timeout_ms: Option<u64>,
    /// The tool itself.
    #[serde(skip)]
    pub tool: Tool,
}

/// The way in which a script receives its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PassedAs {
    /// As arguments of the command line, including options.
    Words,
    /// As JSON on standard input.
    Json,
}

/// The tools.
#[derive(Debug, Clone, Default)]
pub struct ToolsOutcome {
    /// The tools, in the order of the skills, then by the paths of their scripts.
    pub tools: Vec<ListedTool>,
    /// The requested skill.
    pub name: Option<String>,
    /// Warnings about what could not be used.
    pub warnings: Vec<Warning>,
}

impl ToolsOutcome {
    /// Returns the definitions of the tools for a model.
    pub fn definitions(&self, format: ToolFormat) -> Vec<Value> {
        self.tools.iter().map(|listed| listed.tool.definition(format)).collect()
    }
}

/// Lists the tools of a skill, or of all. Runs nothing.
///
/// # Errors
///
/// Fails for an unknown skill, and for one with an invalid manifest of tools. For a listing of all skills
/// that is a warning.
pub fn tools(session: &Session, request: &ToolsRequest) -> Result<ToolsOutcome> {
    let places = if request.recursive { ScriptPlaces::Recursive } else { session.profile().scripts };
    let mut outcome = ToolsOutcome { name: request.name.clone(), ..ToolsOutcome::default() };
    if let Some(name) = &request.name {
        let (hit, set) = session.tools(name, places)?;
        outcome.warnings = hit.warnings;
        outcome.add(&hit.skill, &set);
        return Ok(outcome);
    }
    let found = session.snapshot()?;
    let telling = found.diagnostics().iter().filter(|diagnostic| diagnostic.is_told()).filter(|diagnostic| {
        matches!(
            &***diagnostic,
            Diagnostic::Source(_) | Diagnostic::Skill { .. } | Diagnostic::Shadowed { .. }
        )
    });
    outcome.warnings.extend(telling.map(|diagnostic| Warning::from(&**diagnostic)));
    for skill in found.skills() {
        outcome.add(skill, &session.library().tools(skill, places));
    }
    Ok(outcome)
}

impl ToolsOutcome {
    fn add(&mut self, skill: &Skill, set: &ToolSet) {
        self.warnings
            .extend(set.diagnostics.iter().map(|found| Warning::new(found.code(), found.to_string())));
        self.tools.extend(set.tools.iter().map(|tool| listed(skill, tool.clone())));
    }
}

fn listed(skill: &Skill, tool: Tool) -> ListedTool {
    ListedTool {
        skill: skill.meta.name.clone(),
        name: tool.name.clone(),
        tool_name: tool.tool_name.clone(),
        description: tool.description.clone(),
        described_by: tool.described_by,
        location: skill.dir.display().to_string(),
        script: tool.script.clone(),
        language: tool.language.clone(),
        input_schema: tool.input.schema(),
        typed_by: tool.input.typed_by,
        passed_as: if tool.input.is_json() { PassedAs::Json } else { PassedAs::Words },
        timeout_ms: tool.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        tool,
    }
}
