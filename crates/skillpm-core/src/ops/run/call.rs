//! A script that is called as a tool.

use std::ffi::OsString;
use std::time::Duration;

use serde_json::Value;

use super::locate::no_script;
use super::request::RunRequest;
use crate::engine::Skill;
use crate::engine::run::Stdin;
use crate::engine::tools::ToolSet;
use crate::session::SessionError;

/// A script that is called as a tool, with named arguments.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// The skill, the script by the name of its tool, and how it runs. The other fields set its arguments, input and time.
    pub request: RunRequest,
    /// The arguments: an object as the schema of the tool has it, or words.
    pub arguments: Value,
    /// How long it may take; if it is `None`, as long as its manifest says.
    pub timeout: Option<Duration>,
}

impl CallRequest {
    /// Returns the run of the tool of `skill` among `set`.
    pub(super) fn prepared(&self, skill: &Skill, set: &ToolSet) -> Result<RunRequest, SessionError> {
        let wanted = &self.request.script;
        let Some(tool) = set.get(wanted) else {
            let error = no_script(skill, &self.request.skill, wanted);
            return Err(SessionError::NoScript { script: wanted.clone(), error });
        };
        let call = tool.call(&self.arguments).map_err(|error| SessionError::Arguments(error.to_string()))?;
        let mut request = RunRequest { script: tool.script.clone(), ..self.request.clone() };
        request.options.args = call.words.into_iter().map(OsString::from).collect();
        request.options.stdin = call.input.map_or(Stdin::Closed, |text| Stdin::Bytes(text.into_bytes()));
        if let Some(timeout) = self.timeout.or(tool.timeout) {
            request.options.limits.timeout = timeout;
        }
        Ok(request)
    }
}
