//! Fields of the frontmatter that agents document in addition to those of the specification.

use crate::document::OPENCLAW_BLOCKS;

/// An agent with its own fields.
#[derive(Debug)]
pub struct Client {
    /// The name.
    pub name: &'static str,
    /// The page that documents the fields.
    pub page: &'static str,
    /// The fields, and the effect of each.
    pub fields: &'static [(&'static str, &'static str)],
}

/// The agents whose fields are known.
pub static CLIENTS: &[Client] = &[
    Client {
        name: "Claude Code",
        page: "https://code.claude.com/docs/en/skills#frontmatter-reference",
        fields: &[
            ("agent", "the kind of subagent, with `context: fork`"),
            ("argument-hint", "shown while arguments are typed; a text"),
            ("arguments", "names of arguments for `$name`; a text or a list"),
            ("background", "`false`: wait for the subagent"),
            ("context", "`fork`: run in a subagent"),
            ("disable-model-invocation", "`true`: only people start the skill"),
            ("disallowed-tools", "tools that are taken away; a text or a list"),
            ("effort", "the model's effort while the skill is active"),
            ("hooks", "hooks that live as long as the skill"),
            ("model", "the model while the skill is active"),
            ("paths", "files that make the agent load the skill; a text or a list"),
            ("shell", "the shell of `` !`command` ``"),
            ("user-invocable", "`false`: not in the menu of `/`"),
            ("when_to_use", "appended to the description in the agent's list"),
        ],
    },
    Client {
        name: "VS Code",
        page: "https://code.visualstudio.com/docs/agent-customization/agent-skills",
        fields: &[
            ("argument-hint", "shown while arguments are typed; a text"),
            ("disable-model-invocation", "`true`: only people start the skill"),
            ("user-invocable", "`false`: not in the menu of `/`"),
        ],
    },
    Client {
        name: "Cursor",
        page: "https://cursor.com/docs/context/skills",
        fields: &[
            ("disable-model-invocation", "`true`: only people start the skill"),
            ("paths", "files that make the agent load the skill; a text or a list"),
        ],
    },
    Client {
        name: "OpenClaw",
        page: "https://docs.openclaw.ai/tools/skills",
        fields: &[
            ("command-arg-mode", "how arguments reach the tool of `command-tool`"),
            ("command-dispatch", "`tool`: the command goes to a tool, not to the model"),
            ("command-tool", "the tool that takes the command"),
            ("disable-model-invocation", "`true`: only people start the skill"),
            ("homepage", "an address that is shown beside the skill"),
            ("user-invocable", "`false`: no command for people"),
        ],
    },
];

/// The values that fields can have, where these are few.
const VALUES: [(&str, &[&str]); 8] = [
    ("background", &["true", "false"]),
    ("command-arg-mode", &["raw"]),
    ("command-dispatch", &["tool"]),
    ("context", &["fork"]),
    ("disable-model-invocation", &["true", "false"]),
    ("effort", &["low", "medium", "high", "xhigh", "max"]),
    ("shell", &["bash", "powershell"]),
    ("user-invocable", &["true", "false"]),
];

/// Reports whether an agent documents a field called `field`, in addition to those of the specification.
pub fn is_of_client(field: &str) -> bool {
    CLIENTS.iter().any(|client| client.fields.iter().any(|(name, _)| *name == field))
}

/// Returns the keys below `metadata` whose blocks agents define, and the agents.
pub(super) fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    OPENCLAW_BLOCKS.into_iter().map(|key| (key, "OpenClaw")).chain([("hermes", "Hermes Agent")])
}

/// Returns the name of the agent that defines the block `key` below `metadata`.
pub(super) fn of_block(key: &str) -> Option<&'static str> {
    blocks().find(|(block, _)| *block == key).map(|(_, agent)| agent)
}

/// Returns the values that `field` can have; an empty list if these are not few.
pub(super) fn values(field: &str) -> &'static [&'static str] {
    VALUES.iter().find(|(name, _)| *name == field).map_or(&[], |(_, values)| values)
}

/// Returns the names of the agents that define `field`.
pub(super) fn of(field: &str) -> Vec<&'static str> {
    let defines = |client: &&Client| client.fields.iter().any(|(name, _)| *name == field);
    CLIENTS.iter().filter(defines).map(|client| client.name).collect()
}

/// Returns all fields that some agent defines; some occur twice.
pub(super) fn fields() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().flat_map(|client| client.fields).map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::document::{PEOPLE_FIELDS, SPEC_FIELDS};

    #[test]
    fn no_field_is_one_of_the_specification() {
        assert!(fields().all(|field| !SPEC_FIELDS.contains(&field)));
        assert!(VALUES.iter().all(|(field, _)| !of(field).is_empty()));
        assert!(PEOPLE_FIELDS.iter().all(|field| !of(field).is_empty()));
        assert_eq!(of("paths"), ["Claude Code", "Cursor"]);
        assert_eq!(of("color"), [""; 0]);
    }

    #[test]
    fn the_reference_page_shows_the_fields_of_agents() {
        let mut text = String::from("| agent | field | what it is for |\n| --- | --- | --- |\n");
        for Client { name, page, fields } in CLIENTS {
            for (field, what) in *fields {
                let _ = writeln!(text, "| [{name}]({page}) | `{field}` | {what} |");
            }
        }
        skillpm_testing::check_reference_part("profiles.md", "clients.rs", text.trim_end());
    }
}
