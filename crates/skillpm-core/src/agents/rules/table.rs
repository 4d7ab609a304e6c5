//! The rows: one for each agent of which something is known.

use super::{
    At, Budget, Evidence, Fallback, Field, Form, Name, Needs, Order, Owner, Root, Rules, SameName, Walking,
};

/// Returns what is known about how the agent `id` lists skills; `None` if nothing is.
pub fn rules(id: &str) -> Option<&'static Rules> {
    ROWS.iter().find(|row| row.agent == id)
}

const fn working(dir: &'static str) -> Root {
    Root { at: At::Working, dir, owner: Owner::Project, skips_hidden: true }
}

const fn upwards(dir: &'static str) -> Root {
    Root { at: At::Upwards, dir, owner: Owner::Project, skips_hidden: true }
}

const fn beside(dir: &'static str) -> Root {
    Root { at: At::Beside, dir, owner: Owner::Project, skips_hidden: true }
}

const fn opened(dir: &'static str) -> Root {
    Root { at: At::Opened, dir, owner: Owner::Project, skips_hidden: true }
}

const fn downwards(dir: &'static str) -> Root {
    Root { at: At::Downwards, dir, owner: Owner::Project, skips_hidden: true }
}

const fn repository(dir: &'static str) -> Root {
    Root { at: At::Repository, dir, owner: Owner::Project, skips_hidden: true }
}

const fn user(dir: &'static str) -> Root {
    Root { at: At::Machine, dir, owner: Owner::User, skips_hidden: true }
}

const fn managed(dir: &'static str) -> Root {
    Root { at: At::Machine, dir, owner: Owner::Managed, skips_hidden: true }
}

/// The same, with directories in it whose names begin with a dot.
const fn with_hidden(root: Root) -> Root {
    Root { skips_hidden: false, ..root }
}

/// Skills directly in a directory.
const DIRECTLY: Walking = Walking {
    depth: 1,
    nested: false,
    root_file: false,
    linked_files: true,
    once: true,
    backwards: false,
    real_paths: false,
    plugins_around: false,
    most: None,
};
/// Skills at any depth, but none inside another.
const DEEP: Walking = Walking { depth: 64, ..DIRECTLY };

/// Both fields, of any length.
const BOTH: Needs = Needs {
    name: true,
    description: true,
    body: false,
    spec_name: false,
    description_most: None,
    repairs: false,
};
/// Nothing at all.
const NOTHING: Needs = Needs { name: false, description: false, repairs: true, ..BOTH };
/// A description.
const DESCRIPTION: Needs = Needs { name: false, ..BOTH };
/// A name.
const NAME: Needs = Needs { description: false, ..BOTH };
/// What the specification asks for.
const SPECIFICATION: Needs = Needs { spec_name: true, description_most: Some(1024), ..BOTH };

/// Elements whose texts are all escaped.
const ESCAPED: Form = Form::Elements { escapes: true, escapes_location: true };

/// What most agents have in common, and what is unknown of the others.
const BASE: Rules = Rules {
    agent: "",
    version: "",
    date: "",
    evidence: Evidence::Source,
    source: "",
    roots: &[],
    walk: DIRECTLY,
    name: Name::Field,
    needs: BOTH,
    reserved: None,
    fallback: Fallback::Nothing,
    when: None,
    same_name: SameName::First,
    order: Order::Found,
    longest: None,
    budget: Budget::Unlimited,
    form: ESCAPED,
    is_exact: false,
    hides: &[Field::DisableModelInvocation],
    settings: &[],
    unread: &[],
    uncounted: &[],
    sessions: None,
    notes: &[],
};

/// What is unknown of a closed agent.
const CLOSED: Rules = Rules {
    evidence: Evidence::Described,
    same_name: SameName::Unknown,
    order: Order::Unknown,
    budget: Budget::Unknown,
    form: Form::Unknown,
    hides: &[],
    ..BASE
};

/// All rows, by id.
pub(super) const ROWS: &[Rules] = &[
    Rules {
        agent: "amp",
        version: "unknown",
        date: "2026-10-07",
        source: "articles of users",
        roots: &[
            upwards(".agents/skills"),
            user("$XDG_CONFIG_HOME/agents/skills"),
            user("~/.claude/skills"),
            upwards(".claude/skills"),
        ],
        unread: &["settings.json: amp.skills.path, amp.skills.disableClaudeCodeSkills"],
        notes: &["every skill is said to be listed by name and description"],
        ..CLOSED
    },
    Rules {
        agent: "claude-code",
        version: "2.1.240",
        date: "2026-08-22",
        evidence: Evidence::Documented,
        source: "code.claude.com/docs/en/skills, settings and the changelog; the budget by two independent descriptions",
        roots: &[
            managed("/etc/claude-code/.claude/skills"),
            user("$CLAUDE_CONFIG_DIR/skills"),
            upwards(".claude/skills"),
            user("$CLAUDE_CONFIG_DIR/skills/synced"),
        ],
        name: Name::Directory,
        needs: NOTHING,
        // Where it puts the skills of claude.ai.
        reserved: Some("synced"),
        fallback: Fallback::FirstParagraph,
        when: Some(" - "),
        order: Order::Unknown,
        longest: Some((1536, "…")),
        budget: Budget::PartInCharacters { part: 0.01, window: 200_000 },
        form: Form::Bullets,
        is_exact: true,
        hides: &[Field::DisableModelInvocation, Field::Paths],
        settings: &[
            "settings.json: skillOverrides, skillListingBudgetFraction, skillListingMaxDescChars",
            "settings.json: permissions.deny, enabledPlugins, model, env",
            "SLASH_COMMAND_TOOL_CHAR_BUDGET, ANTHROPIC_MODEL",
        ],
        unread: &[
            "settings.json: disableBundledSkills, strictPluginOnlyCustomization, syncClaudeAiSkills",
            "CLAUDE_CODE_SAFE_MODE, CLAUDE_CODE_SIMPLE, CLAUDE_CODE_DISABLE_POLICY_SKILLS",
        ],
        uncounted: &["skills that come with it are listed, too, and take room first"],
        sessions: Some("$CLAUDE_CONFIG_DIR/projects/<project>/<session>.jsonl"),
        notes: &[
            "`.agents/skills` is not read",
            "a project's skill loses to the user's of the same name",
            "files `*.md` in `.claude/commands` are listed like skills, and a skill wins over one of the same name",
            "what lies in directories below `.claude/commands` is not looked at here",
            "the descriptions of the least used skills go first; how use is counted is unknown",
            "skills below the working directory are listed once a file beside them is read",
        ],
        ..BASE
    },
    Rules {
        agent: "cline",
        version: "0.0.86 (core)",
        date: "2026-11-28",
        source: "the packages @cline/core and @cline/shared",
        roots: &[
            opened(".clinerules/skills"),
            opened(".cline/skills"),
            opened(".agents/skills"),
            user("~/.cline/skills"),
            user("~/.agents/skills"),
        ],
        name: Name::FieldOrDirectory,
        needs: Needs { body: true, ..NOTHING },
        fallback: Fallback::FirstParagraph,
        same_name: SameName::Last,
        form: Form::Names,
        is_exact: true,
        hides: &[Field::Disabled],
        uncounted: &["skills of plugins are read, too"],
        notes: &[
            "names are listed in lower case, and descriptions never; its extension for VS Code may do more",
            "the user's skill wins over the project's of the same name",
        ],
        ..BASE
    },
    Rules {
        agent: "codex",
        version: "0.171.0",
        date: "2026-11-28",
        evidence: Evidence::Measured,
        source: "`codex debug prompt-input` of the package @openai/codex",
        roots: &[
            upwards(".codex/skills"),
            user("$CODEX_HOME/skills"),
            user("~/.agents/skills"),
            Root {
                at: At::Machine,
                dir: "$CODEX_HOME/skills/.system",
                owner: Owner::BuiltIn,
                skips_hidden: true,
            },
            managed("/etc/codex/skills"),
            downwards(".agents/skills"),
        ],
        walk: Walking {
            depth: 6,
            nested: true,
            root_file: true,
            linked_files: false,
            real_paths: true,
            plugins_around: true,
            most: Some((2_000, 20_000)),
            ..DEEP
        },
        name: Name::FieldOrDirectory,
        needs: Needs { repairs: true, ..DESCRIPTION },
        same_name: SameName::All,
        order: Order::Owner,
        longest: Some((1024, "...")),
        budget: Budget::PartInTokens { part: 0.02, window: 500_000 },
        form: Form::Aliased,
        is_exact: true,
        hides: &[Field::OpenAiPolicy],
        settings: &[
            "config.toml: [[skills.config]], skills.max_context_tokens, skills.include_instructions",
            "config.toml: model, model_context_window, project_root_markers, [projects], [plugins], features.plugins",
        ],
        sessions: Some("$CODEX_HOME/sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl"),
        notes: &[
            "`disable-model-invocation` has no effect",
            "`.claude/skills` is not read",
            "its own skills are those on the disk or, before its first start, those of this version",
        ],
        ..BASE
    },
    Rules {
        agent: "crush",
        version: "37f36e93",
        date: "2026-08-21",
        source: "github.com/charmbracelet/crush",
        roots: &[
            user("$XDG_CONFIG_HOME/crush/skills"),
            user("$XDG_CONFIG_HOME/agents/skills"),
            user("~/.agents/skills"),
            user("~/.claude/skills"),
            working(".agents/skills"),
            working(".crush/skills"),
            working(".claude/skills"),
            working(".cursor/skills"),
            repository(".agents/skills"),
            repository(".crush/skills"),
            repository(".claude/skills"),
            repository(".cursor/skills"),
        ],
        walk: DEEP,
        name: Name::Both,
        needs: SPECIFICATION,
        same_name: SameName::LastPath,
        order: Order::Path,
        form: Form::Described("XML with escaped texts"),
        unread: &["crush.json: options.disabled_skills, options.skills_paths", "CRUSH_SKILLS_DIR"],
        notes: &["names are letters and digits with single hyphens between them"],
        ..BASE
    },
    Rules {
        agent: "cursor",
        version: "unknown",
        date: "2026-08-15",
        source: "an article; the vendor documents neither precedence nor budget",
        roots: &[
            working(".agents/skills"),
            working(".cursor/skills"),
            user("~/.agents/skills"),
            user("~/.cursor/skills"),
            working(".claude/skills"),
            working(".codex/skills"),
            user("~/.claude/skills"),
            user("~/.codex/skills"),
        ],
        ..CLOSED
    },
    Rules {
        agent: "deepagents",
        version: "0.7.32",
        date: "2026-11-28",
        source: "the package deepagents",
        same_name: SameName::Last,
        longest: Some((1024, "")),
        form: Form::Described("a list of Markdown with each name, description and path"),
        hides: &[],
        notes: &["a program names the directories: there is no listing without one"],
        ..BASE
    },
    Rules {
        agent: "gemini-cli",
        version: "0.61.0",
        date: "2026-11-28",
        evidence: Evidence::Measured,
        source: "`gemini skills list --all` and the bundle of the package @google/gemini-cli",
        roots: &[
            user("$GEMINI_CLI_HOME/.gemini/skills"),
            user("$GEMINI_CLI_HOME/.agents/skills"),
            working(".gemini/skills"),
            working(".agents/skills"),
        ],
        walk: Walking { root_file: true, once: false, backwards: true, ..DIRECTLY },
        needs: Needs { repairs: true, ..BOTH },
        same_name: SameName::Last,
        form: Form::Elements { escapes: false, escapes_location: false },
        is_exact: true,
        hides: &[],
        settings: &[
            "settings.json: skills.disabled, skills.enabled, security.folderTrust.enabled",
            "trustedFolders.json",
            "GEMINI_CLI_TRUST_WORKSPACE, GEMINI_CLI_TRUSTED_FOLDERS_PATH, GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        ],
        sessions: Some("~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl"),
        notes: &[
            "only the working directory is looked at, no directory above it",
            "the project's skills are read in a trusted folder only",
            "`disable-model-invocation` has no effect",
        ],
        ..BASE
    },
    Rules {
        agent: "github-copilot",
        version: "VS Code, 2026",
        date: "2026-11-28",
        source: "github.com/microsoft/vscode, `promptsServiceImpl.ts`",
        roots: &[
            opened(".github/skills"),
            opened(".agents/skills"),
            opened(".claude/skills"),
            user("~/.copilot/skills"),
            user("~/.agents/skills"),
            user("~/.claude/skills"),
        ],
        name: Name::Directory,
        needs: DESCRIPTION,
        longest: Some((1024, "")),
        budget: Budget::Unknown,
        form: Form::Described("XML: `<skill>` with `<name>`, `<description>` and `<file>`"),
        unread: &["settings.json: chat.useAgentSkills, chat.agentSkillsLocations"],
        uncounted: &["skills of plugins and extensions are read, too"],
        notes: &[
            "Copilot CLI reads each directory up to the root of the repository, and no `~/.claude/skills`",
        ],
        ..BASE
    },
    Rules {
        agent: "goose",
        version: "0d2074cc",
        date: "2026-11-28",
        source: "github.com/block/goose, `crates/goose/src/skills`",
        roots: &[
            working(".agents/skills"),
            working(".goose/skills"),
            working(".claude/skills"),
            user("~/.agents/skills"),
            user("$XDG_CONFIG_HOME/goose/skills"),
            user("~/.claude/skills"),
            user("$XDG_CONFIG_HOME/agents/skills"),
        ],
        walk: DEEP,
        needs: NAME,
        order: Order::Bytes,
        form: Form::Dots,
        hides: &[],
        uncounted: &["skills of plugins are read, too"],
        notes: &["the listing is read again for each call of a tool"],
        ..BASE
    },
    Rules {
        agent: "kilo",
        version: "04bfcc45",
        date: "2026-11-28",
        source: "github.com/Kilo-Org/kilocode, `packages/opencode/src/skill`",
        roots: &[
            with_hidden(user("~/.claude/skills")),
            with_hidden(user("~/.agents/skills")),
            with_hidden(upwards(".claude/skills")),
            with_hidden(beside(".agents/skills")),
            user("$XDG_CONFIG_HOME/kilo/skill"),
            user("$XDG_CONFIG_HOME/kilo/skills"),
            upwards(".kilocode/skill"),
            beside(".kilocode/skills"),
            beside(".kilo/skill"),
            beside(".kilo/skills"),
            user("~/.kilocode/skills"),
            user("~/.kilo/skills"),
        ],
        walk: Walking { nested: true, root_file: true, ..DEEP },
        needs: NAME,
        same_name: SameName::Last,
        order: Order::Name,
        form: Form::Described("XML, as OpenCode"),
        hides: &[Field::NoDescription],
        unread: &["kilo.json, opencode.json: permission.skill, skills.paths, skills.urls", "KILO_CONFIG_DIR"],
        uncounted: &[
            "skills that come with it are listed, too",
            "`.kilocodeignore` keeps files from being read",
        ],
        notes: &["in an editor, it begins in the folder that is open; here, in the working directory"],
        ..BASE
    },
    Rules {
        agent: "kiro-cli",
        version: "unknown",
        date: "2026-11-28",
        source: "the table of directories alone",
        roots: &[working(".kiro/skills"), user("~/.kiro/skills")],
        ..CLOSED
    },
    Rules {
        agent: "openclaw",
        version: "2026.9.6",
        date: "2026-09-24",
        source: "the package and its documentation",
        roots: &[
            working("skills"),
            working(".agents/skills"),
            user("~/.agents/skills"),
            user("~/.openclaw/skills"),
        ],
        walk: Walking { depth: 6, ..DEEP },
        needs: Needs { repairs: true, ..BOTH },
        order: Order::Name,
        budget: Budget::Whole { skills: 150, characters: 18_000 },
        unread: &[
            "openclaw.json: skills.entries, skills.limits, skills.load.extraDirs, agents.<name>.skills",
        ],
        uncounted: &[
            "a skill is hidden where `requires` or `os` in its `metadata.openclaw` is not met",
            "skills that come with it and those of plugins are listed, too, and take room",
        ],
        notes: &["the text around the skills counts as well, and is not counted here"],
        ..BASE
    },
    Rules {
        agent: "opencode",
        version: "1.18.34",
        date: "2026-11-28",
        evidence: Evidence::Measured,
        source: "`opencode debug skill` of the package opencode-ai",
        roots: &[
            with_hidden(user("~/.claude/skills")),
            with_hidden(user("~/.agents/skills")),
            with_hidden(upwards(".claude/skills")),
            with_hidden(upwards(".agents/skills")),
            user("$XDG_CONFIG_HOME/opencode/skill"),
            user("$XDG_CONFIG_HOME/opencode/skills"),
            upwards(".opencode/skill"),
            upwards(".opencode/skills"),
            user("~/.opencode/skill"),
            user("~/.opencode/skills"),
        ],
        walk: Walking { once: false, nested: true, root_file: true, ..DEEP },
        needs: NAME,
        same_name: SameName::Any,
        order: Order::Name,
        form: Form::Elements { escapes: false, escapes_location: true },
        is_exact: true,
        hides: &[Field::NoDescription],
        settings: &[
            "opencode.json: permission, tools, agent.<name>.permission, default_agent, skills.paths",
            "OPENCODE_CONFIG, OPENCODE_CONFIG_DIR, OPENCODE_CONFIG_CONTENT, OPENCODE_PERMISSION",
        ],
        sessions: Some("~/.local/share/opencode/opencode.db"),
        notes: &["`disable-model-invocation` has no effect"],
        ..BASE
    },
    Rules {
        agent: "openhands",
        version: "1.58.2 (sdk)",
        date: "2026-11-28",
        source: "the package openhands-sdk",
        roots: &[
            working(".agents/skills"),
            working(".openhands/skills"),
            working(".openhands/microagents"),
            repository(".agents/skills"),
            repository(".openhands/skills"),
            repository(".openhands/microagents"),
            user("~/.agents/skills"),
            user("~/.openhands/skills"),
            user("~/.openhands/microagents"),
        ],
        name: Name::FieldOrDirectory,
        needs: NOTHING,
        fallback: Fallback::FirstLine,
        longest: Some((1024, "")),
        form: Form::Described("XML with name and description, without a location"),
        hides: &[Field::DisableModelInvocation, Field::Triggers, Field::Paths],
        uncounted: &["skills that it installed, and public ones, are listed, too"],
        ..BASE
    },
    Rules {
        agent: "pi",
        version: "1.6.0",
        date: "2026-11-28",
        source: "the package @earendil-works/pi-coding-agent",
        roots: &[
            working(".pi/skills"),
            upwards(".agents/skills"),
            user("~/.pi/agent/skills"),
            user("~/.agents/skills"),
        ],
        walk: DEEP,
        name: Name::FieldOrDirectory,
        needs: DESCRIPTION,
        form: Form::Described("XML with escaped texts"),
        unread: &["settings.json: skills", ".gitignore, .ignore, .fdignore"],
        uncounted: &[
            "the project's skills are read in a trusted project only",
            "skills of packages, and files `*.md` directly in `.pi/skills`, are read, too",
        ],
        sessions: Some("~/.pi/agent/sessions/--<path>--/<time>_<id>.jsonl"),
        ..BASE
    },
    Rules {
        agent: "qwen-code",
        version: "0.24.4",
        date: "2026-11-28",
        source: "the package @qwen-code/qwen-code",
        roots: &[
            working(".qwen/skills"),
            working(".agents/skills"),
            user("~/.qwen/skills"),
            user("~/.agents/skills"),
        ],
        when: Some(" — "),
        order: Order::Name,
        budget: Budget::FirstLines { characters: 8000 },
        form: Form::Levels,
        hides: &[Field::DisableModelInvocation, Field::Paths],
        unread: &[
            "settings.json: skills.disabled, skills.disabledLevels, skills.defaultDisabled, skills.directories",
        ],
        uncounted: &["skills that come with it and those of extensions are listed, too, and take room"],
        notes: &["the text around the skills may count as well, and is not counted here"],
        ..BASE
    },
    Rules {
        agent: "roo",
        version: "cb836567",
        date: "2026-04-14",
        source: "github.com/RooCodeInc/Roo-Code",
        roots: &[
            opened(".roo/skills"),
            opened(".agents/skills"),
            user("~/.roo/skills"),
            user("~/.agents/skills"),
        ],
        name: Name::Both,
        needs: Needs { spec_name: false, ..SPECIFICATION },
        form: Form::Described("XML with escaped texts"),
        hides: &[],
        uncounted: &["directories `skills-<mode>` and the field `modeSlugs` bind a skill to a mode"],
        ..BASE
    },
    Rules {
        agent: "windsurf",
        version: "unknown",
        date: "2026-11-28",
        source: "articles of users",
        roots: &[working(".windsurf/skills"), user("~/.codeium/windsurf/skills")],
        ..CLOSED
    },
    Rules {
        agent: "zed",
        version: "24e27b61",
        date: "2026-11-28",
        source: "github.com/zed-industries/zed, `crates/agent_skills`",
        roots: &[opened(".agents/skills"), user("~/.agents/skills")],
        needs: Needs { description_most: None, ..SPECIFICATION },
        budget: Budget::Prefix { bytes: 50 * 1024 },
        form: Form::Described("XML with escaped texts"),
        notes: &[
            "its README says that a description of more than 1024 characters is refused; newer source only warns",
        ],
        ..BASE
    },
];
