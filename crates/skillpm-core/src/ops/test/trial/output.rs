//! What the output of an agent tells: which skills it used, and what that cost.
//!
//! Agents print a JSON value on each line: Claude Code by `--output-format stream-json`, Codex by `--json`, Gemini CLI by
//! `--output-format stream-json`, OpenCode by `--format json`. A skill is used if the tool for skills is called with its
//! name, or if its `SKILL.md` is read. A name in a listing is not a use.

use std::collections::BTreeSet;

use serde_json::Value;

/// The tools that load a skill, in small letters.
const SKILL_TOOLS: [&str; 3] = ["skill", "activate_skill", "load_skill"];
/// The keys under which a call of a tool names the tool.
const NAMES: [&str; 3] = ["name", "tool_name", "tool"];
/// The keys of a command or of a file that is read.
const READS: [&str; 5] = ["command", "cmd", "file_path", "filePath", "path"];
/// The largest depth of a value that is looked at.
const MAX_DEPTH: usize = 12;

/// What the output of a run tells.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Told {
    /// Whether it tells what the agent did.
    pub(super) tells: bool,
    /// The skills that it used.
    pub(super) skills: BTreeSet<String>,
    /// What it cost in US dollars.
    pub(super) dollars: Option<f64>,
    /// The tokens that went in and out.
    pub(super) tokens: Option<u64>,
}

/// Returns what `output` tells about the skills called `names`.
pub(super) fn told(output: &[u8], names: &[&str]) -> Told {
    let mut told = Told::default();
    let mut seen = Seen { names, calls: Vec::new(), failed: BTreeSet::new() };
    for line in output.split(|byte| *byte == b'\n') {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        if !value.is_object() {
            continue;
        }
        told.tells = true;
        seen.look(&value, None, MAX_DEPTH);
        if let Some(dollars) = value["total_cost_usd"].as_f64() {
            told.dollars = Some(told.dollars.unwrap_or_default() + dollars);
        }
        // A message of Claude Code has its usage too, which its result repeats.
        if value["type"] != "assistant"
            && let Some(tokens) = tokens(&value["usage"]).or_else(|| tokens(&value["part"]["tokens"]))
        {
            told.tokens = Some(told.tokens.unwrap_or_default() + tokens);
        }
    }
    let failed = seen.failed;
    let worked = seen.calls.into_iter().filter(|(id, _)| id.as_ref().is_none_or(|id| !failed.contains(id)));
    told.skills = worked.map(|(_, skill)| skill).collect();
    told
}

/// Returns the tokens that went in and out.
fn tokens(usage: &Value) -> Option<u64> {
    let count = |keys: [&str; 2]| keys.iter().find_map(|key| usage[*key].as_u64());
    let (input, output) = (count(["input_tokens", "input"]), count(["output_tokens", "output"]));
    Some(input? + output.unwrap_or_default())
}

/// The calls in an output that load skills.
struct Seen<'a> {
    /// The names of the skills.
    names: &'a [&'a str],
    /// The skills, each with the id of the call if that has one.
    calls: Vec<(Option<String>, String)>,
    /// The ids of the calls that failed.
    failed: BTreeSet<String>,
}

impl Seen<'_> {
    /// Notes the skills that a value says were used, in a call with the id `call`.
    fn look(&mut self, value: &Value, call: Option<&str>, depth: usize) {
        let Some(below) = depth.checked_sub(1) else { return };
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.look(item, call, below)),
            Value::Object(entries) => {
                let text = |key: &str| entries.get(key).and_then(Value::as_str);
                if entries.get("is_error") == Some(&Value::Bool(true)) {
                    self.failed.extend(text("tool_use_id").map(str::to_owned));
                }
                if entries.get("exit_code").and_then(Value::as_i64).is_some_and(|code| code != 0) {
                    return;
                }
                let call = text("id").or(call);
                let tool = NAMES.iter().find_map(|key| text(key));
                if tool.is_some_and(|tool| SKILL_TOOLS.contains(&&*tool.to_ascii_lowercase())) {
                    self.named(value, call, below);
                }
                for text in READS.iter().filter_map(|key| entries.get(*key)) {
                    self.read(text, call);
                }
                entries.values().for_each(|value| self.look(value, call, below));
            }
            _ => {}
        }
    }

    /// Notes the skill that a call of the tool for skills names.
    fn named(&mut self, value: &Value, call: Option<&str>, depth: usize) {
        let Some(below) = depth.checked_sub(1) else { return };
        for (key, value) in value.as_object().into_iter().flatten() {
            match value {
                Value::String(name) if matches!(&**key, "skill" | "name" | "skill_name") => {
                    // A skill of a plugin has the plugin's name before its own.
                    let own = name.rsplit(':').next().unwrap_or(name);
                    self.note(call, |known| known == own);
                }
                Value::Object(_) => self.named(value, call, below),
                _ => {}
            }
        }
    }

    /// Notes the skills whose file a command or a path names.
    fn read(&mut self, value: &Value, call: Option<&str>) {
        let texts = match value {
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>(),
            value => value.as_str().into_iter().collect(),
        };
        for text in texts {
            let text = text.replace('\\', "/");
            self.note(call, |known| text.contains(&format!("/{known}/SKILL.md")));
        }
    }

    fn note(&mut self, call: Option<&str>, is_it: impl Fn(&str) -> bool) {
        let used = self.names.iter().filter(|name| is_it(name));
        self.calls.extend(used.map(|name| (call.map(str::to_owned), (*name).to_owned())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(output: &str) -> Vec<String> {
        told(output.as_bytes(), &["pdf", "xlsx"]).skills.into_iter().collect()
    }

    #[test]
    fn calls_and_reads_of_four_agents() {
        for line in [
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Skill","input":{"skill":"docs:pdf"}}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"/x/.claude/skills/pdf/SKILL.md"}}]}}"#,
            r#"{"type":"item.completed","item":{"type":"command_execution","command":"bash -lc 'cat .agents/skills/pdf/SKILL.md'"}}"#,
            r#"{"type":"tool_use","tool_name":"activate_skill","parameters":{"name":"pdf"}}"#,
            r#"{"type":"tool_use","part":{"type":"tool","tool":"skill","state":{"input":{"name":"pdf"}}}}"#,
        ] {
            assert_eq!(used(line), ["pdf"], "{line}");
        }
    }

    /// A listing names every skill, and an answer may too.
    #[test]
    fn a_name_is_no_use() {
        for line in [
            r#"{"type":"system","subtype":"init","skills":["pdf","xlsx"],"tools":["Skill"]}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I would use /skills/pdf/SKILL.md"}]}}"#,
            "pdf",
            r#""skill""#,
        ] {
            assert_eq!(used(line), [""; 0], "{line}");
        }
        assert!(!told(b"plain words\n", &[]).tells);
    }

    /// A failed load is not a use.
    #[test]
    fn failures() {
        let call = r#"{"message":{"content":[{"type":"tool_use","id":"t1","name":"Skill","input":{"skill":"pdf"}}]}}"#;
        let result = r#"{"message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true}]}}"#;
        assert_eq!((used(call).len(), used(&format!("{call}\n{result}")).len()), (1, 0));
        let command = r#"{"item":{"command":"cat .agents/skills/pdf/SKILL.md","exit_code":1}}"#;
        assert_eq!((used(command).len(), used(&command.replace('1', "0")).len()), (0, 1));
    }

    #[test]
    fn costs() {
        let output = br#"{"type":"assistant","message":{},"usage":{"input_tokens":1}}
{"type":"result","total_cost_usd":0.25,"usage":{"input_tokens":100,"output_tokens":20}}
{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":3,"output_tokens":1}}"#;
        let told = told(output, &[]);
        assert_eq!((told.dollars, told.tokens), (Some(0.25), Some(126)));
    }
}
