//! The environment: every variable that skillpm reads, each with what it does.
//!
//! The process's environment is read once, into an [`Env`]; nothing else in the program looks at
//! it. The constants make the reference page of the environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {
        $($(#[doc = $doc])+ pub const $name: &str = stringify!($name);)+

        /// All variables with their descriptions, sorted as they are declared.
        pub const VARIABLES: &[(&str, &str)] = &[$((stringify!($name), concat!($($doc),+))),+];
    };
}

variables! {
    /// Token for GitHub's API, sent to no other host. Wins over `GH_TOKEN`.
    GITHUB_TOKEN;
    /// Token for GitHub's API, as the `gh` program reads it.
    GH_TOKEN;
    /// Token for the GitHub Enterprise server that `GH_HOST` names.
    GH_ENTERPRISE_TOKEN;
    /// Host of a GitHub Enterprise server: what `owner/repo` is read from.
    GH_HOST;
    /// Address of the GitHub API, `https://api.github.com` unless set.
    GITHUB_API_URL;
    /// With a host behind it, as in `SKILLPM_TOKEN_DOCS_EXAMPLE_COM`: token for downloads and sites of
    /// that host, sent to no other, and only over `https` or to this machine. A dot is `_`, a hyphen
    /// `__`, and a port follows after `___`.
    SKILLPM_TOKEN_;
    /// With a host behind it, as `SKILLPM_TOKEN_`: the secret query, such as `sig=...`, for addresses of that host that
    /// have none; sent to no other, and only over `https` or to this machine.
    SKILLPM_QUERY_;
    /// A CI system's signed token about the running job: `publish` shows it to a registry's server for which no token is
    /// known. GitLab sets it if the job asks for it under `id_tokens`.
    SKILLPM_ID_TOKEN;
    /// Where a job of GitHub Actions with the permission `id-token: write` requests such a statement.
    ACTIONS_ID_TOKEN_REQUEST_URL;
    /// Token for that request, sent to no other address.
    ACTIONS_ID_TOKEN_REQUEST_TOKEN;
    /// Token that clients of `skillpm mcp --http` must send; each start makes one up unless it is set.
    SKILLPM_MCP_TOKEN;
    /// Address of the search that `skillpm search --skills-sh` asks, `https://skills.sh` unless set; the `skills`
    /// program reads it too.
    SKILLS_API_URL;
    /// File of names and passwords for hosts, `~/.netrc` unless set.
    NETRC;
    /// Where docker keeps `config.json` with logins for OCI registries, `~/.docker` unless set.
    DOCKER_CONFIG;
    /// The file where podman and skopeo keep logins for OCI registries, read after docker's.
    REGISTRY_AUTH_FILE;
    /// Where podman keeps `containers/auth.json` unless `REGISTRY_AUTH_FILE` is set.
    XDG_RUNTIME_DIR;
    /// Seconds without a byte after which a connection, or the program of an MCP server, is given up; 30 unless set.
    SKILLPM_HTTP_TIMEOUT;
    /// How often a request is tried again after a failure that may pass, 3 unless set.
    SKILLPM_HTTP_RETRIES;
    /// Uses no network at all when set to `1` or `true`, as `--offline` does.
    SKILLPM_OFFLINE;
    /// A file of rules for what may be installed and run, beside that of the machine: both hold.
    SKILLPM_POLICY;
    /// Where the audit log is written, an absolute path; `off` writes none.
    SKILLPM_AUDIT;
    /// Writes the arguments of skills and scripts into the audit log, not only their digest, when set to `1`.
    SKILLPM_AUDIT_ARGUMENTS;
    /// The time to write into results that have one, such as a bill of materials, in seconds since 1970.
    SOURCE_DATE_EPOCH;
    /// The id that joins the lines of one session in the audit log; each process has its own unless set.
    SKILLPM_SESSION;
    /// Set by the scripts of `skillpm completions`: the shell whose words are completed, instead of running a command.
    SKILLPM_COMPLETE;
    /// The ssh command that git uses, as it is; without one ssh asks nothing (`BatchMode`).
    GIT_SSH_COMMAND;
    /// The ssh program that git uses; as `GIT_SSH_COMMAND`, which wins.
    GIT_SSH;
    /// Proxy for all addresses without a proxy of their own.
    ALL_PROXY;
    /// Proxy for `https` addresses; the lower-case name works too.
    HTTPS_PROXY;
    /// Proxy for `http` addresses; only the lower-case name is read where CGI scripts run.
    HTTP_PROXY;
    /// Hosts that are reached without the proxy, separated by commas.
    NO_PROXY;
    /// File of certificates to trust instead of the system's.
    SSL_CERT_FILE;
    /// Directory of certificates to trust instead of the system's.
    SSL_CERT_DIR;
    /// The user's home directory.
    HOME;
    /// The user's home directory on Windows.
    USERPROFILE;
    /// Where your own manifest is, and the configuration of some agents and MCP clients; `~/.config` unless set.
    XDG_CONFIG_HOME;
    /// Where the store is, and the database of OpenCode, `~/.local/share` unless set.
    XDG_DATA_HOME;
    /// Where downloads are kept, `~/.cache` unless set.
    XDG_CACHE_HOME;
    /// Where trusted directories, the audit log, how often hints were shown and, for `undo` and `mcp uninstall`, changes are
    /// noted; `~/.local/state` unless set.
    XDG_STATE_HOME;
    /// Where temporary files lie, and copies of skills whose scripts run; the system's place unless set. It may be relative.
    TMPDIR;
    /// The Python environment whose packages bring skills along; wins over `VIRTUAL_ENV`.
    SKILLPM_PYTHON_ENV;
    /// The Python environment that is active.
    VIRTUAL_ENV;
    /// The conda environment that is active, looked into where the project has no environment of its own.
    CONDA_PREFIX;
    /// Libraries of R packages, looked into after that of `renv`.
    R_LIBS;
    /// The user's libraries of R packages, looked into next.
    R_LIBS_USER;
    /// The site's libraries of R packages, looked into next.
    R_LIBS_SITE;
    /// Where R is installed; `library` in it holds its own packages.
    R_HOME;
    /// Where `renv` keeps the packages that its libraries link to.
    RENV_PATHS_CACHE;
    /// Where `renv` keeps its own files; `cache` in it holds packages.
    RENV_PATHS_ROOT;
    /// Where R packages keep files of theirs, among them those of `renv`.
    R_USER_CACHE_DIR;
    /// Where Cargo keeps the sources of crates, `~/.cargo` unless set.
    CARGO_HOME;
    /// Claude Code's home, `~/.claude` unless set.
    CLAUDE_CONFIG_DIR;
    /// How many characters Claude Code's listing of skills may have; `agents` counts as it does.
    SLASH_COMMAND_TOOL_CHAR_BUDGET;
    /// The model of Claude Code; one that ends in `[1m]` has a window of a million tokens.
    ANTHROPIC_MODEL;
    /// Codex's home, `~/.codex` unless set.
    CODEX_HOME;
    /// Where Gemini CLI has its `.gemini`, the home directory unless set.
    GEMINI_CLI_HOME;
    /// `true` makes Gemini CLI trust every directory, and `false` none.
    GEMINI_CLI_TRUST_WORKSPACE;
    /// `true` makes Gemini CLI trust no directory.
    GEMINI_RESTRICTED_MODE;
    /// The file of the folders that Gemini CLI trusts, `~/.gemini/trustedFolders.json` unless set.
    GEMINI_CLI_TRUSTED_FOLDERS_PATH;
    /// Gemini CLI's settings for the machine, `/etc/gemini-cli/settings.json` unless set.
    GEMINI_CLI_SYSTEM_SETTINGS_PATH;
    /// Gemini CLI's defaults for the machine, `system-defaults.json` beside its settings for the machine unless set.
    GEMINI_CLI_SYSTEM_DEFAULTS_PATH;
    /// A file of settings that OpenCode reads after the user's.
    OPENCODE_CONFIG;
    /// A directory that OpenCode reads as it reads `.opencode`.
    OPENCODE_CONFIG_DIR;
    /// Settings of OpenCode as text, read after all files but those of the machine.
    OPENCODE_CONFIG_CONTENT;
    /// Permissions of OpenCode as text, read after all settings.
    OPENCODE_PERMISSION;
    /// Where OpenCode has the settings for the machine, `/etc/opencode` unless set.
    OPENCODE_TEST_MANAGED_CONFIG_DIR;
    /// Set where OpenCode reads no settings and skills of its own kind from projects.
    OPENCODE_DISABLE_PROJECT_CONFIG;
    /// OpenCode's database, `opencode.db` in its directory of data unless set.
    OPENCODE_DB;
    /// Set where OpenCode reads no skills of other agents.
    OPENCODE_DISABLE_EXTERNAL_SKILLS;
    /// Set where OpenCode reads no skills of Claude Code.
    OPENCODE_DISABLE_CLAUDE_CODE_SKILLS;
    /// Set where OpenCode reads nothing of Claude Code.
    OPENCODE_DISABLE_CLAUDE_CODE;
    /// Autohand Code's home, `~/.autohand` unless set.
    AUTOHAND_HOME;
    /// Grok's home, `~/.grok` unless set.
    GROK_HOME;
    /// Hermes's home, `~/.hermes` unless set.
    HERMES_HOME;
    /// Sarvam Code's home, `~/.sarvam` unless set.
    SARVAM_HOME;
    /// Mistral Vibe's home, `~/.vibe` unless set.
    VIBE_HOME;
    /// Where Windows keeps settings for all users; the machine's policy is there.
    PROGRAMDATA;
    /// Where Windows programs keep their settings; Zed and clients of `mcp install` are looked for there.
    APPDATA;
    /// Where a Flatpak sandbox keeps settings; Zed is looked for there.
    FLATPAK_XDG_CONFIG_HOME;
    /// No colours when set to anything but the empty text.
    NO_COLOR;
    /// Colours even where standard error is not a terminal, when set to anything but `0`.
    CLICOLOR_FORCE;
    /// The terminal's type; `dumb` gets no colours.
    TERM;
    /// Where a workflow of GitHub has the repository: `--format github` and `sarif` tell the files of `validate` from there.
    GITHUB_WORKSPACE;
    /// The file for the summary of a step of a workflow of GitHub: `validate --format github` appends one.
    GITHUB_STEP_SUMMARY;
    /// Set on build machines: nothing is asked, no progress bars are drawn.
    CI;
}

/// For the tests of skillpm itself, and only in builds for them: the file to which to append the places in the source that
/// made the printed hints.
pub const HINT_SITES: &str = "SKILLPM_TEST_HINT_SITES";

/// The arguments of this process, the program's name first.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The working directory of this process. A host may change it at any time.
///
/// # Errors
///
/// Fails if it is gone, or may not be examined.
#[expect(clippy::disallowed_methods, reason = "this is the one place that asks for it")]
pub fn work_dir() -> std::io::Result<PathBuf> {
    std::env::current_dir()
}

/// The path of this program, `None` if the system does not tell it.
pub fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// Seconds since 1970, by this machine's clock.
pub fn now() -> u64 {
    since_1970().as_secs()
}

/// The time since 1970, by this machine's clock; zero before that.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// The directories that a value such as that of `PATH` lists.
pub fn split_paths(value: &OsStr) -> impl Iterator<Item = PathBuf> + '_ {
    std::env::split_paths(value)
}

/// Such a value of `dirs`; those whose names it cannot hold are left out.
pub fn join_paths(dirs: &[PathBuf]) -> OsString {
    let fit = dirs.iter().filter(|dir| std::env::join_paths([dir]).is_ok());
    std::env::join_paths(fit).unwrap_or_default()
}

/// The directories of `path`, a value of `PATH`, that are searched for programs; those of the system if it is not set, each
/// once. Relative ones are left out: the working directory may be a stranger's, and its programs are never started.
pub fn program_dirs(path: Option<&OsStr>) -> Vec<PathBuf> {
    let standard = OsStr::new(if cfg!(windows) { "" } else { "/usr/local/bin:/usr/bin:/bin" });
    let absolute = |path| {
        let mut dirs: Vec<PathBuf> = Vec::new();
        // A directory that was looked into has nothing new the second time.
        for dir in split_paths(path).filter(|dir| dir.is_absolute()) {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        dirs
    };
    let dirs = path.map(absolute).unwrap_or_default();
    if dirs.is_empty() { absolute(standard) } else { dirs }
}

/// The environment of the process, read once.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// All variables.
    pub vars: BTreeMap<OsString, OsString>,
    /// The working directory.
    pub cwd: PathBuf,
    /// Whether a person can answer: standard input and standard error are terminals.
    pub interactive: bool,
}

impl Env {
    /// Reads the environment of this process.
    ///
    /// # Errors
    ///
    /// Fails if the working directory is gone or cannot be read.
    pub fn from_process() -> std::io::Result<Self> {
        Ok(Self::from_process_at(work_dir()?))
    }

    /// Returns the environment of this process, as if it worked in `cwd`.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
    pub fn from_process_at(cwd: PathBuf) -> Self {
        Self {
            vars: std::env::vars_os().collect(),
            cwd,
            interactive: std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
        }
    }

    /// Returns the variables whose names begin with `prefix`, without it. Those that are not UTF-8 are left out.
    pub fn below(&self, prefix: &str) -> BTreeMap<String, String> {
        let texts = self.vars.iter().filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let below = texts.filter_map(|(name, value)| Some((name.strip_prefix(prefix)?, value)));
        below.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// The value of variable `name` as text, or `None` where it is unset, empty or not UTF-8.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }

    /// The value of variable `name` as an absolute path; others are ignored, as the XDG
    /// specification says.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.vars.get(OsStr::new(name))?);
        path.is_absolute().then_some(path)
    }

    /// The value of `PATH` for programs that are started, with the [directories](program_dirs) that count.
    pub fn program_path(&self) -> OsString {
        join_paths(&program_dirs(self.vars.get(OsStr::new("PATH")).map(OsString::as_os_str)))
    }

    /// Whether variable `name` is switched on: `1`, `true`, `yes` or `on`.
    pub fn flag(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on"))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn each_variable_is_declared_once_with_one_sentence_or_more() {
        let mut names: Vec<_> = VARIABLES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), VARIABLES.len());
        for (name, description) in VARIABLES {
            assert!(description.trim().ends_with('.'), "{name}: {description}");
        }
    }

    /// The working directory may be a stranger's: no program is looked for in it.
    #[cfg(unix)]
    #[test]
    fn programs_are_looked_for_in_absolute_directories() {
        let dirs = |path: &str| program_dirs(Some(OsStr::new(path)));
        assert_eq!(
            dirs("bin:.::/usr/bin:../x:/bin:/usr/bin:/bin/"),
            [PathBuf::from("/usr/bin"), PathBuf::from("/bin")]
        );
        let standard = program_dirs(None);
        assert_eq!(standard.len(), 3);
        for none in ["", ".", ":", "node_modules/.bin"] {
            assert_eq!(dirs(none), standard, "{none}");
        }
        let vars = [("PATH".into(), ".:/usr/bin:".into())].into();
        assert_eq!(Env { vars, ..Env::default() }.program_path(), "/usr/bin");
    }

    #[test]
    fn the_reference_page_lists_these_variables() {
        let mut page = String::from("| variable | what it does |\n|---|---|\n");
        for (name, description) in VARIABLES {
            writeln!(page, "| `{name}` | {} |", description.trim()).expect("a string takes all");
        }
        skillpm_testing::check_reference("environment.md", &page);
    }
}
