//! Definitions of tools for the APIs of models.

use serde_json::{Value, json};

use super::Tool;

/// The API that a definition is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFormat {
    /// A function of `OpenAI`'s chat API.
    OpenAi,
    /// A tool of Anthropic's messages API.
    Anthropic,
    /// A tool as a server of the Model Context Protocol lists it.
    Mcp,
}

impl Tool {
    /// Returns the definition of the tool, with its unique name and the JSON Schema of its input.
    pub fn definition(&self, format: ToolFormat) -> Value {
        let (name, description, schema) = (&self.tool_name, &self.description, self.input.schema());
        match format {
            ToolFormat::OpenAi => {
                let function = json!({ "name": name, "description": description, "parameters": schema });
                json!({ "type": "function", "function": function })
            }
            ToolFormat::Anthropic => {
                json!({ "name": name, "description": description, "input_schema": schema })
            }
            ToolFormat::Mcp => json!({ "name": name, "description": description, "inputSchema": schema }),
        }
    }
}
