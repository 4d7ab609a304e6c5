//! The names of verbs and options that messages can suggest.

/// Declares an enum of names: each variant, and its name as text.
macro_rules! names {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind { $($(#[$doc])* $variant,)* }

        impl $kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the neutral name, in lower case with hyphens.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

names! {
    /// The verbs that a message can suggest running.
    Verb {
        /// Lists agents.
        Agents = "agents",
        /// Shows which skills were activated, run and refused.
        Audit = "audit",
        /// Raises the version of a skill.
        Bump = "bump",
        /// Manages the store and the downloads.
        Cache = "cache",
        /// Shows what an agent learns about all skills.
        Catalog = "catalog",
        /// Prints what a shell needs to complete words.
        Completions = "completions",
        /// Creates a new skill.
        Create = "create",
        /// Shows local edits, or changes in a new version.
        Diff = "diff",
        /// Hides skills from agents.
        Disable = "disable",
        /// Finds and repairs problems.
        Doctor = "doctor",
        /// Shows disabled skills to agents again.
        Enable = "enable",
        /// Explains rules.
        Explain = "explain",
        /// Writes the lockfile of another tool.
        Export = "export",
        /// Rewrites skills in canonical form.
        Fmt = "fmt",
        /// Takes over skills that other tools installed.
        Import = "import",
        /// Installs skills.
        Install = "install",
        /// Shows what an agent gets when it activates a skill.
        Invoke = "invoke",
        /// Links installed skills for more agents.
        Link = "link",
        /// Lists installed skills.
        List = "list",
        /// Serves an editor.
        Lsp = "lsp",
        /// Prints the manual.
        Man = "man",
        /// Serves skills over MCP, and sets up clients.
        Mcp = "mcp",
        /// Shows which skills have changed in their sources.
        Outdated = "outdated",
        /// Packs a skill.
        Pack = "pack",
        /// Shows what may be installed and run.
        Policy = "policy",
        /// Publishes a skill.
        Publish = "publish",
        /// Reads a file of a skill, or lists its files.
        Read = "read",
        /// Makes and changes a registry.
        Registry = "registry",
        /// Removes skills.
        Remove = "remove",
        /// Runs a script of a skill.
        Run = "run",
        /// Searches for skills.
        Search = "search",
        /// Shows how the program was installed.
        SelfCheck = "self",
        /// Shows everything about a skill.
        Show = "show",
        /// Tests whether the right skill wins.
        Test = "test",
        /// Lists the scripts of skills.
        Tools = "tools",
        /// Shows installed skills with their dependencies.
        Tree = "tree",
        /// Trusts a directory, or lists the trusted ones.
        Trust = "trust",
        /// Undoes the last change.
        Undo = "undo",
        /// Removes the links of agents.
        Unlink = "unlink",
        /// Stops trusting directories.
        Untrust = "untrust",
        /// Updates installed skills.
        Update = "update",
        /// Shows which skills agents used.
        Usage = "usage",
        /// Checks skills.
        Validate = "validate",
        /// Compares installed skills with the lockfile.
        Verify = "verify",
        /// Explains why a skill is installed.
        Why = "why",
    }
}

names! {
    /// The options that a message can suggest passing. An option without a value is on or off.
    Opt {
        /// Undo an unfinished update.
        Abort = "abort",
        /// An agent.
        Agent = "agent",
        /// Everything of its kind.
        All = "all",
        /// Publish files that are not committed.
        AllowDirty = "allow-dirty",
        /// Run a skill whose files were edited.
        AllowModified = "allow-modified",
        /// The skills that may get new capabilities.
        AllowNewCapabilities = "allow-new-capabilities",
        /// Let scripts run without a question.
        AllowScripts = "allow-scripts",
        /// Pack or publish files that may hold secrets.
        AllowSecrets = "allow-secrets",
        /// The name under which to install a skill.
        As = "as",
        /// The known findings.
        Baseline = "baseline",
        /// A branch.
        Branch = "branch",
        /// The maximum number of tokens.
        Budget = "budget",
        /// An MCP client.
        Client = "client",
        /// Copies instead of links.
        Copy = "copy",
        /// The working directory of a script.
        Cwd = "cwd",
        /// A skill's description.
        Description = "description",
        /// Show changes, make none.
        Diff = "diff",
        /// A directory of skills.
        Dir = "dir",
        /// Links to the source's directories instead of copies.
        Editable = "editable",
        /// The text to show where there are no skills.
        Empty = "empty",
        /// A variable for a script.
        Env = "env",
        /// The fields of each skill.
        Fields = "fields",
        /// Repair what is found.
        Fix = "fix",
        /// Replace files that are in the way.
        Force = "force",
        /// Forget a record.
        Forget = "forget",
        /// A form of output.
        Format = "format",
        /// Take skills from the project's packages.
        FromProject = "from-project",
        /// Resolve nothing: use only what is locked.
        Frozen = "frozen",
        /// The user's own skills.
        Global = "global",
        /// Skills that are hidden from models as well.
        Hidden = "hidden",
        /// A rule that is not applied.
        Ignore = "ignore",
        /// The program that runs scripts in a language, as `LANGUAGE=PROGRAM`.
        Interpreter = "interpreter",
        /// Output for programs.
        Json = "json",
        /// Take the newest version, past a pinned one.
        Latest = "latest",
        /// The number of lines to read.
        Limit = "limit",
        /// List, change nothing.
        List = "list",
        /// List the templates.
        ListTemplates = "list-templates",
        /// Fail if the lockfile would change.
        Locked = "locked",
        /// A source with a marketplace.
        Marketplace = "marketplace",
        /// The maximum number of bytes of a file to read.
        MaxBytes = "max-bytes",
        /// The maximum number of bytes of output to keep.
        MaxOutput = "max-output",
        /// Take the lowest versions that fit.
        Minimal = "minimal",
        /// A name.
        Name = "name",
        /// Compare with the newest version.
        Newest = "newest",
        /// Leave out dependencies.
        NoDeps = "no-deps",
        /// Use no network.
        Offline = "offline",
        /// The first line to read.
        Offset = "offset",
        /// Keep the user's files in a conflict.
        Ours = "ours",
        /// A file for the output.
        Output = "output",
        /// A directory.
        Path = "path",
        /// The version to have.
        Precise = "precise",
        /// The limit of a script's processes.
        Processes = "processes",
        /// A named set of lint levels.
        Profile = "profile",
        /// The project, where the user is the default.
        Project = "project",
        /// A registry.
        Registry = "registry",
        /// A saved copy to restore.
        Restore = "restore",
        /// A commit.
        Rev = "rev",
        /// How to isolate scripts.
        Sandbox = "sandbox",
        /// The scope.
        Scope = "scope",
        /// The name or path of a skill of a source.
        Skill = "skill",
        /// Ask skills.sh, a public site.
        SkillsSh = "skills-sh",
        /// Standard input for a script.
        Stdin = "stdin",
        /// The store as well.
        Store = "store",
        /// Turn warnings into failures.
        Strict = "strict",
        /// A tag.
        Tag = "tag",
        /// A template.
        Template = "template",
        /// Take the files of the new version in a conflict.
        Theirs = "theirs",
        /// The time limit of a script.
        Timeout = "timeout",
        /// A variable of a template.
        Var = "var",
        /// Show details.
        Verbose = "verbose",
        /// Read a token from standard input.
        WithToken = "with-token",
        /// A file or directory to write to.
        Write = "write",
        /// Write down what is found, as known.
        WriteBaseline = "write-baseline",
        /// Ask nothing.
        Yes = "yes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        for names in [
            Verb::ALL.iter().map(|verb| verb.name()).collect::<Vec<_>>(),
            Opt::ALL.iter().map(|option| option.name()).collect(),
        ] {
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "sorted, each once: {names:?}");
        }
    }
}
