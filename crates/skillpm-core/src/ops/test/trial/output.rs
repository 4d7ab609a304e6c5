//! What the output of an agent tells: which skills it used, and what that cost.
//!
//! Agents print a JSON value on each line: Claude Code by `--output-format stream-json`, Codex by `--json`, Gemini CLI by
//! `--output-format stream-json`, OpenCode by `--format json`. A skill is used if the tool for skills is called with its
//! name, or if its `SKILL.md` is read. A name in a listing is no use.

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
    for line in output.split(|byte| *byte == b'\n') {
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        if !value.is_object() {
            continue;
        }
        told.tells = true;
        look(&value, names, MAX_DEPTH, &mut told.skills);
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
    told
}

/// Returns the tokens that went in and out.
fn tokens(usage: &Value) -> Option<u64> {
    let count = |keys: [&str; 2]| keys.iter().find_map(|key| usage[*key].as_u64());
    let (input, output) = (count(["input_tokens", "input"]), count(["output_tokens", "output"]));
    Some(input? + output.unwrap_or_default())
}

/// Notes the skills that a value says were used.
fn look(value: &Value, names: &[&str], depth: usize, used: &mut BTreeSet<String>) {
    let Some(below) = depth.checked_sub(1) else { return };
    match value {
        Value::Array(items) => items.iter().for_each(|item| look(item, names, below, used)),
        Value::Object(entries) => {
            let tool = NAMES.iter().find_map(|key| entries.get(*key)?.as_str());
            if tool.is_some_and(|tool| SKILL_TOOLS.contains(&&*tool.to_ascii_lowercase())) {
                named(value, names, below, used);
            }
            for text in READS.iter().filter_map(|key| entries.get(*key)) {
                read(text, names, used);
            }
            entries.values().for_each(|value| look(value, names, below, used));
        }
        _ => {}
    }
}

/// Notes the skill that a call of the tool for skills names.
fn named(call: &Value, names: &[&str], depth: usize, used: &mut BTreeSet<String>) {
    let Some(below) = depth.checked_sub(1) else { return };
    for (key, value) in call.as_object().into_iter().flatten() {
        match value {
            Value::String(name) if matches!(&**key, "skill" | "name" | "skill_name") => {
                // A skill of a plugin has the plugin's name before its own.
                let own = name.rsplit(':').next().unwrap_or(name);
                used.extend(names.iter().find(|known| **known == own).map(|known| (*known).to_owned()));
            }
            Value::Object(_) => named(value, names, below, used),
            _ => {}
        }
    }
}

/// Notes the skills whose file a command or a path names.
fn read(value: &Value, names: &[&str], used: &mut BTreeSet<String>) {
    let texts = match value {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>(),
        value => value.as_str().into_iter().collect(),
    };
    for text in texts {
        let text = text.replace('\\', "/");
        let reads = |name: &&&str| text.contains(&format!("/{name}/SKILL.md"));
        used.extend(names.iter().filter(reads).map(|name| (*name).to_owned()));
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

    #[test]
    fn costs() {
        let output = br#"{"type":"assistant","message":{},"usage":{"input_tokens":1}}
{"type":"result","total_cost_usd":0.25,"usage":{"input_tokens":100,"output_tokens":20}}
{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":3,"output_tokens":1}}"#;
        let told = told(output, &[]);
        assert_eq!((told.dollars, told.tokens), (Some(0.25), Some(126)));
    }
}
