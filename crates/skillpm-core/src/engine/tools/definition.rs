//! Tools as the programming interfaces of models want them.

use serde_json::{Value, json};

use super::Tool;

/// Whose form a definition has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFormat {
    /// A function, as the interfaces of `OpenAI` for chats take it.
    OpenAi,
    /// A tool, as Anthropic's interface for messages takes it.
    Anthropic,
    /// A tool, as a server of the Model Context Protocol lists it.
    Mcp,
}

impl Tool {
    /// Returns the tool under its unique name, with the JSON Schema of its input.
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
