//! The codes of errors and warnings, for programs: a code names what happened, and does not change.
//!
//! Findings of the linter have the names of its rules as codes, and those of `doctor` the names of its problems.

/// A code, and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The name of its constant.
    pub constant: &'static str,
    /// The code.
    pub code: &'static str,
    /// The meaning.
    pub meaning: &'static str,
}

/// Declares the codes: the text of each comment is its meaning.
macro_rules! codes {
    ($(#[doc = $meaning:literal] $constant:ident = $code:literal;)*) => {
        $(#[doc = $meaning] pub const $constant: &str = $code;)*

        /// All codes, sorted.
        pub const ALL: &[Code] = &[
            $(Code { constant: stringify!($constant), code: $code, meaning: $meaning },)*
        ];
    };
}

codes! {
    /// An agent is unlinked that the user uses in all projects.
    AGENT_IN_USE = "agent-in-use";
    /// An agent reads the directory of skills itself: it has no link to remove.
    AGENT_NEEDS_NO_LINK = "agent-needs-no-link";
    /// A skill has a file that agents read as their own settings or instructions.
    AGENT_SETTINGS = "agent-settings";
    /// Which agents the user uses is not remembered, because the user's manifest cannot be written.
    AGENTS_NOT_REMEMBERED = "agents-not-remembered";
    /// Skills name their own agents: what holds for all others does not reach them.
    AGENTS_OF_THEIR_OWN = "agents-of-their-own";
    /// Git may change line ends, because `.agents/.gitattributes` cannot be written.
    ATTRIBUTES_UNWRITABLE = "attributes-unwritable";
    /// The audit log cannot be written.
    AUDIT_NOT_WRITTEN = "audit-not-written";
    /// A catalog was cut to keep it within its budget, or exceeds it.
    CATALOG_CUT = "catalog-cut";
    /// A skill has commands that some agents run before they read it; none was run.
    COMMANDS_NOT_RUN = "commands-not-run";
    /// GitHub does not have the commit that a release is to belong to.
    COMMIT_NOT_PUSHED = "commit-not-pushed";
    /// A settings file, manifest, policy or lockfile is wrong, in a way without a code of its own.
    CONFIGURATION = "configuration";
    /// Other users of this machine may read a file of tokens.
    CREDENTIALS_EXPOSED = "credentials-exposed";
    /// A variable decides instead of the token that is kept.
    CREDENTIALS_HIDDEN = "credentials-hidden";
    /// A file of tokens cannot be used.
    CREDENTIALS_UNUSABLE = "credentials-unusable";
    /// A skill needs another one from a source other than the one that was requested.
    DEPENDENCY_ELSEWHERE = "dependency-elsewhere";
    /// A skill needs another one, which is not there.
    DEPENDENCY_MISSING = "dependency-missing";
    /// A skill that another one needs did not come back.
    DEPENDENCY_NOT_RESTORED = "dependency-not-restored";
    /// A skill needs another version of a skill than the one that is there.
    DEPENDENCY_OUT_OF_RANGE = "dependency-out-of-range";
    /// The dependencies of a skill cannot be read.
    DEPENDENCY_UNREADABLE = "dependency-unreadable";
    /// The name of a skill's directory is not UTF-8.
    DIRECTORY_NOT_UTF8 = "directory-not-utf8";
    /// A skill makes the agent run downloaded or decoded code unseen.
    DOWNLOAD_EXEC = "download-exec";
    /// A skill has a command that runs before the agent reads the text.
    DYNAMIC_COMMAND = "dynamic-command";
    /// An editable skill has no locked version.
    EDITABLE = "editable";
    /// A skill that is no longer requested was edited, and stays.
    EDITED_KEPT = "edited-kept";
    /// A copy in the directory of an agent was edited, and stays as it is.
    EDITED_LEFT = "edited-left";
    /// The copy of an edited skill was saved before something took its place.
    EDITED_SAVED = "edited-saved";
    /// The path names a directory where a file is wanted.
    FILE_IS_DIRECTORY = "file-is-directory";
    /// The skill has no such file.
    FILE_NOT_FOUND = "file-not-found";
    /// The files of a skill cannot be listed.
    FILES_NOT_LISTED = "files-not-listed";
    /// A check found something, in a way without a code of its own.
    FINDINGS = "findings";
    /// A path is not what skillpm put there, and was left as it is.
    FOREIGN_LEFT = "foreign-left";
    /// A file or directory vanished while it was in use.
    GONE = "gone";
    /// A host cannot be found or connected to.
    HOST_UNREACHABLE = "host-unreachable";
    /// A server answered with a status that says no.
    HTTP_STATUS = "http-status";
    /// A skill has hooks, which agents run automatically.
    HOOKS = "hooks";
    /// Something else is in the place of a skill.
    IN_THE_WAY = "in-the-way";
    /// Content of a skill is stored elsewhere and is missing: Git LFS, submodules.
    INCOMPLETE = "incomplete";
    /// Bytes are not what was promised, or a skill must not have them, in a way without a code of its own.
    INTEGRITY = "integrity";
    /// A signal stopped the command; the message says whether something was changed.
    INTERRUPTED = "interrupted";
    /// A skill stays because the other scope in the same directory has it, too.
    KEPT_SHARED = "kept-shared";
    /// A link leads to nothing.
    LINK_DANGLING = "link-dangling";
    /// A source lists a skill that cannot be installed.
    LISTED_WRONGLY = "listed-wrongly";
    /// An agent has no room to list all skills whole any more.
    LISTING_CROWDED = "listing-crowded";
    /// The lockfile was repaired after a merge.
    LOCK_REPAIRED = "lock-repaired";
    /// The locked version of an edited skill is not available, so everything in the new one counts as new.
    LOCKED_VERSION_UNAVAILABLE = "locked-version-unavailable";
    /// A manifest of scripts is wrong.
    MANIFEST = "manifest";
    /// The manifest had conflict markers of a merge, and has the skills of both sides now.
    MANIFEST_MERGED = "manifest-merged";
    /// The program of an MCP server ended without an answer.
    MCP_ENDED = "mcp-ended";
    /// There is no MCP server at an address, or its program cannot be started.
    MCP_NO_SERVER = "mcp-no-server";
    /// An MCP server offers no skills.
    MCP_NO_SKILLS = "mcp-no-skills";
    /// Your own manifest names no program for an MCP server.
    MCP_NOT_CONFIGURED = "mcp-not-configured";
    /// An MCP server answered with an error.
    MCP_REFUSED = "mcp-refused";
    /// The answer of an MCP server breaks the protocol.
    MCP_UNUSABLE = "mcp-unusable";
    /// Another registry has a skill of the same name, which is not taken.
    NAME_IN_OTHER_REGISTRY = "name-in-other-registry";
    /// A registry does not give out a name: it is reserved, or looks like another one.
    NAME_NOT_AVAILABLE = "name-not-available";
    /// No registry accepts the name of a skill.
    NAME_NOT_PUBLISHABLE = "name-not-publishable";
    /// Two different skills would have one name.
    NAMES_EQUAL = "names-equal";
    /// The network, a server or a login failed, in a way without a code of its own.
    NETWORK = "network";
    /// A skill can do what its version before could not.
    NEW_CAPABILITY = "new-capability";
    /// The path is not a regular file.
    NOT_A_FILE = "not-a-file";
    /// A file among the scripts is not a tool.
    NOT_A_TOOL = "not-a-tool";
    /// A policy keeps a source or a skill out.
    NOT_ADMITTED = "not-admitted";
    /// A skill is in the manifest, and not yet installed.
    NOT_INSTALLED_YET = "not-installed-yet";
    /// A registry does not let the holder of a token do that.
    NOT_PERMITTED = "not-permitted";
    /// A source has skills in directories that are not searched, or lacks directories.
    NOT_SEARCHED = "not-searched";
    /// A skill does not follow the specification, and works all the same.
    OFF_SPECIFICATION = "off-specification";
    /// The network is not to be used, and what is needed is not here.
    OFFLINE = "offline";
    /// A file that is to be written already exists with other content.
    OUTPUT_DIFFERS = "output-differs";
    /// A package of the project is not installed, and was skipped.
    PACKAGE_MISSING = "package-missing";
    /// A path is absolute where one in the skill's directory is wanted.
    PATH_ABSOLUTE = "path-absolute";
    /// A path is empty.
    PATH_EMPTY = "path-empty";
    /// A path holds a NUL.
    PATH_NUL = "path-nul";
    /// A path or a link leads out of the skill's directory.
    PATH_OUTSIDE = "path-outside";
    /// A path has `..` in it.
    PATH_PARENT = "path-parent";
    /// A skill is no longer pinned as the manifest had it.
    PIN_REMOVED = "pin-removed";
    /// A skill requires something that this machine lacks.
    PREREQUISITE_MISSING = "prerequisite-missing";
    /// The skills of a project are left out because the user does not trust it.
    PROJECT_NOT_TRUSTED = "project-not-trusted";
    /// A proxy makes no connection.
    PROXY = "proxy";
    /// The query of an address, which may be a secret, is written into files.
    QUERY_WRITTEN = "query-written";
    /// A server allows no more requests for a while.
    RATE_LIMIT = "rate-limit";
    /// A package recommends skills that it does not include.
    RECOMMENDS_SKILLS = "recommends-skills";
    /// A server redirects to an address that is not followed.
    REDIRECT_REFUSED = "redirect-refused";
    /// There is no registry there, or none of that name.
    REGISTRY_ABSENT = "registry-absent";
    /// A registry has no skills.
    REGISTRY_EMPTY = "registry-empty";
    /// A registry delivers files that differ from its list of versions.
    REGISTRY_MISMATCH = "registry-mismatch";
    /// A registry is a directory on this machine, which others who use the project do not have.
    REGISTRY_ONLY_HERE = "registry-only-here";
    /// A file of a registry is not in the format of registries.
    REGISTRY_UNUSABLE = "registry-unusable";
    /// A registry no longer lists versions that it had before.
    REGISTRY_WENT_BACK = "registry-went-back";
    /// A server did not answer in time.
    REQUEST_TIMEOUT = "request-timeout";
    /// The answer of a server broke off.
    RESPONSE_CUT_OFF = "response-cut-off";
    /// A source no longer has what the lockfile names.
    REVISION_GONE = "revision-gone";
    /// A repository has no such tag, branch or commit.
    REVISION_UNKNOWN = "revision-unknown";
    /// A registry does not take a skill: its name, its version, or what is in its archive.
    RELEASE_REFUSED = "release-refused";
    /// A registry has no such skill or version.
    RELEASE_UNKNOWN = "release-unknown";
    /// The locked version of a skill was withdrawn from its registry.
    RELEASE_YANKED = "release-yanked";
    /// Files that are to be packed or published may hold secrets, which was not allowed.
    SECRETS_FOUND = "secrets-found";
    /// A script may not run.
    SCRIPT_NOT_PERMITTED = "script-not-permitted";
    /// The scripts of a skill do not run until its source confirms them.
    SCRIPTS_UNCONFIRMED = "scripts-unconfirmed";
    /// A skill's directory has a second file that could be its `SKILL.md`.
    SECOND_FILE = "second-file";
    /// A skill hides another one of the same name.
    SHADOWED = "shadowed";
    /// The skills extension of MCP cannot carry a skill; tools offer it.
    SKILL_NOT_CARRIED = "skill-not-carried";
    /// A skill moved to another directory of its source.
    SKILL_MOVED = "skill-moved";
    /// A source no longer has a skill.
    SKILL_GONE = "skill-gone";
    /// A policy does not admit the newest version of a skill yet.
    SKILL_HELD_BACK = "skill-held-back";
    /// There is no skill of that name.
    SKILL_NOT_FOUND = "skill-not-found";
    /// A skill has the same files as before, and comes from somewhere else.
    SOURCE_CHANGED = "source-changed";
    /// A directory that is searched for skills does not exist.
    SOURCE_MISSING = "source-missing";
    /// A directory that is searched for skills cannot be read.
    SOURCE_UNREADABLE = "source-unreadable";
    /// A source has none of the skills that are named.
    SOURCE_UNUSED = "source-unused";
    /// A skill that was named stays disabled.
    STILL_DISABLED = "still-disabled";
    /// An agent still sees a skill, through a directory that it shares with another one.
    STILL_SEEN = "still-seen";
    /// Files or directories cannot be read or written, in a way without a code of its own.
    STORAGE = "storage";
    /// The store's copy of a skill cannot be read.
    STORE_UNREADABLE = "store-unreadable";
    /// The store cannot be written.
    STORE_UNWRITABLE = "store-unwritable";
    /// A tag means another commit than it did.
    TAG_MOVED = "tag-moved";
    /// A registry does not accept a token, or needs one.
    TOKEN_REFUSED = "token-refused";
    /// A file has more bytes than are read.
    TOO_LARGE = "too-large";
    /// No secure connection can be made.
    TLS = "tls";
    /// More directories than are searched.
    TOO_MANY_DIRECTORIES = "too-many-directories";
    /// More files than are looked at.
    TOO_MANY_FILES = "too-many-files";
    /// The list of trusted directories cannot be read as a whole.
    TRUST_UNREADABLE = "trust-unreadable";
    /// The files of a skill that is to be published are not those of a commit.
    UNCOMMITTED = "uncommitted";
    /// Tools left code in the directory of a skill. It is not part of the skill, and no digest covers it.
    UNLOCKED_CODE = "unlocked-code";
    /// A skill has a name that some systems do not allow.
    UNPORTABLE_NAME = "unportable-name";
    /// A source was read over a connection that is not protected against changes on the way.
    UNPROTECTED = "unprotected";
    /// A file cannot be read.
    UNREADABLE = "unreadable";
    /// The request makes no sense, or names something that is not there, in a way without a code of its own.
    USAGE = "usage";
    /// An agent takes the user's copy of a skill, while that of the project has other files.
    USER_COPY_WINS = "user-copy-wins";
    /// A registry already has the version.
    VERSION_EXISTS = "version-exists";
    /// The version of a skill does not follow Semantic Versioning.
    VERSION_MALFORMED = "version-malformed";
    /// A registry has no version of a skill that can be taken.
    VERSION_MISSING = "version-missing";
    /// A version that was named is a range, and a later one in it was taken.
    VERSION_NEWER = "version-newer";
    /// The version of a skill cannot be written into its file safely.
    VERSION_NOT_EDITABLE = "version-not-editable";
    /// A skill that is to be packed has no version.
    VERSION_NOT_STATED = "version-not-stated";
    /// No choice of versions meets all requirements.
    VERSIONS_CONFLICT = "versions-conflict";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_kebab_case_and_each_stands_once() {
        let mut codes: Vec<_> = ALL.iter().map(|code| code.code).collect();
        for Code { constant, code, meaning } in ALL {
            assert_eq!(constant.to_lowercase().replace('_', "-"), *code);
            assert!(meaning.ends_with('.'), "{meaning}");
        }
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ALL.len());
    }

    #[test]
    fn the_reference_page_lists_these_codes() {
        let mut rows: Vec<_> = ALL.iter().collect();
        rows.sort_by_key(|row| row.code);
        let mut page = String::from("| code | meaning |\n|---|---|\n");
        for Code { code, meaning, .. } in rows {
            page.extend(["| `", code, "` | ", meaning.trim().trim_end_matches('.'), " |\n"]);
        }
        skillpm_testing::check_reference("codes.md", &page);
    }
}
