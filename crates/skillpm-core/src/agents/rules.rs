//! What is known about how agents find and list skills, as data.
//!
//! Each row says which version of the agent it was taken from, when, and on what evidence. What nobody outside the
//! vendor knows is `None` or an `Unknown` variant, never a guess: a program that says "unknown" can be
//! believed when it says something else.

#[cfg(test)]
mod page;
mod table;

pub use table::rules;

/// What is known about how one agent finds and lists skills.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The agent's id.
    pub agent: &'static str,
    /// The version that the facts were taken from.
    pub version: &'static str,
    /// The day on which they were read, or from which the stored documentation is.
    pub date: &'static str,
    /// What they rest on.
    pub evidence: Evidence,
    /// Where they were read: for the reference page.
    pub source: &'static str,
    /// The directories, in the order in which the agent reads them.
    pub roots: &'static [Root],
    /// How it looks for skills in them.
    pub walk: Walking,
    /// What a skill is called.
    pub name: Name,
    /// What a file must have, or it does not load.
    pub needs: Needs,
    /// The name of a directory that the agent keeps for itself.
    pub reserved: Option<&'static str>,
    /// What is listed where a description is missing.
    pub fallback: Fallback,
    /// What joins `when_to_use` to the description, if the agent adds it.
    pub when: Option<&'static str>,
    /// Which of several skills with one name is listed.
    pub same_name: SameName,
    /// The order of the listing.
    pub order: Order,
    /// The longest description in a listing, in characters, and what marks a shorter one.
    pub longest: Option<(usize, &'static str)>,
    /// How much a listing may hold.
    pub budget: Budget,
    /// The lines of a listing.
    pub form: Form,
    /// Whether the whole listing is known to the byte.
    pub is_exact: bool,
    /// The fields of a skill that keep it out of the listing.
    pub hides: &'static [Field],
    /// The settings that change the listing and are read, as `file: key`.
    pub settings: &'static [&'static str],
    /// The settings that change the listing and are not read here.
    pub unread: &'static [&'static str],
    /// What else decides and is not counted here, in words.
    pub uncounted: &'static [&'static str],
    /// Where sessions are recorded, if that is known: for the reference page.
    pub sessions: Option<&'static str>,
    /// What else a reader of the listing should know.
    pub notes: &'static [&'static str],
}

/// What the rules of an agent rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The agent's own program was run, and its listing compared.
    Measured,
    /// Its source code was read.
    Source,
    /// Its vendor documents it.
    Documented,
    /// Only others describe it.
    Described,
}

/// A directory, or several of one name, in which an agent looks for skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// Where it is.
    pub at: At,
    /// The path below that, `/`-separated.
    pub dir: &'static str,
    /// Whose skills it holds.
    pub owner: Owner,
    /// Whether directories in it are skipped whose names begin with a dot.
    pub skips_hidden: bool,
}

/// What the path of a [`Root`] is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// The working directory alone.
    Working,
    /// The working directory and each one above it up to the root of the repository, the innermost first.
    Upwards,
    /// The same directories, each right after that of the row before.
    Beside,
    /// The same directories, the outermost first.
    Downwards,
    /// The folder that is open in the editor: here, the project.
    Opened,
    /// The root of the repository alone.
    Repository,
    /// The path begins with `~`, a variable or `/`.
    Machine,
}

/// Whose skills a directory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// They come with the agent.
    BuiltIn,
    /// Whoever administers the machine put them there.
    Managed,
    /// They come with a plugin or extension.
    Plugin,
    /// They belong to the user.
    User,
    /// They belong to the project.
    Project,
}

/// How an agent looks for skills in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a row answers each question with yes or no")]
pub struct Walking {
    /// How far below it a skill may be: 1 is a skill directly in it.
    pub depth: usize,
    /// Whether a skill inside another skill's directory is found, too.
    pub nested: bool,
    /// Whether the directory itself can be a skill.
    pub root_file: bool,
    /// Whether a `SKILL.md` that is a link is read.
    pub linked_files: bool,
    /// Whether a file that is found in two ways counts once.
    pub once: bool,
    /// Whether the last in the alphabet is read first.
    pub backwards: bool,
    /// Whether paths are told with the links of the directory followed.
    pub real_paths: bool,
    /// Whether the name of a plugin around a skill is put before that of the skill.
    pub plugins_around: bool,
    /// How many directories, and how many files and directories, the agent looks at below one root. It says nothing
    /// about the rest.
    pub most: Option<(usize, usize)>,
}

/// What an agent calls a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// By the name of its directory.
    Directory,
    /// By `name` of its frontmatter.
    Field,
    /// By `name`, or if it has none by the name of its directory.
    FieldOrDirectory,
    /// By `name`, which must be the name of its directory.
    Both,
}

/// What a file must have, or the agent does not load it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a row answers each question with yes or no")]
pub struct Needs {
    /// A name.
    pub name: bool,
    /// A description.
    pub description: bool,
    /// A text below the frontmatter.
    pub body: bool,
    /// A name of at most 64 characters, as the specification wants it.
    pub spec_name: bool,
    /// The most characters that a description may have.
    pub description_most: Option<usize>,
    /// Whether frontmatter that is not YAML is read by other means.
    pub repairs: bool,
}

/// What an agent lists where a description is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// Nothing.
    Nothing,
    /// The first line of the text.
    FirstLine,
    /// The first paragraph of the text, if the frontmatter is in order.
    FirstParagraph,
}

/// Which of several skills with one name an agent lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameName {
    /// The first that it reads.
    First,
    /// The last that it reads.
    Last,
    /// All of them.
    All,
    /// Any of them: it differs from start to start.
    Any,
    /// The one whose path is the last in the alphabet.
    LastPath,
    /// Unknown.
    Unknown,
}

/// The order of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As the skills were found.
    Found,
    /// By name, as JavaScript's `localeCompare` has it.
    Name,
    /// Those that come with the agent, then the administrator's, the project's and all others; each by the bytes of the
    /// name, then of the path.
    Owner,
    /// By the bytes of the name.
    Bytes,
    /// By the path in lower case.
    Path,
    /// Unknown; here, as the skills were found.
    Unknown,
}

/// How much a listing may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// As much as there is.
    Unlimited,
    /// A part of the model's window, counted as four characters for a token: the names of all skills stay, and
    /// descriptions are whole or left out.
    PartInCharacters {
        /// The part.
        part: f64,
        /// The window in tokens, if nothing says another one.
        window: u64,
    },
    /// A part of the model's window in tokens, four bytes each: descriptions are shortened evenly, then left out, then
    /// skills.
    PartInTokens {
        /// The part.
        part: f64,
        /// The window in tokens, if nothing says another one.
        window: u64,
    },
    /// A number of skills and of characters of the whole text: descriptions are shortened, then skills left out.
    Whole {
        /// The most skills.
        skills: usize,
        /// The most characters.
        characters: usize,
    },
    /// A number of characters; over it, only the first line of each description is listed.
    FirstLines {
        /// The most characters.
        characters: usize,
    },
    /// A number of bytes of names and descriptions; the listing ends before the first skill that does not fit.
    Prefix {
        /// The most bytes.
        bytes: usize,
    },
    /// Whether there is a limit, or how high it is, is unknown.
    Unknown,
}

/// The lines of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `- name: description`.
    Bullets,
    /// `- name: description (file: r0/name/SKILL.md)`, after a table of the directories.
    Aliased,
    /// Elements of XML with `name`, `description` and `location`.
    Elements {
        /// Whether the texts of `name` and `description` are escaped.
        escapes: bool,
        /// Whether the text of `location` is escaped.
        escapes_location: bool,
    },
    /// Elements with one tag on each line, whose `location` says whose the skill is.
    Levels,
    /// `• name - description`.
    Dots,
    /// Only the names, with commas.
    Names,
    /// Known in words, but not to the byte.
    Described(&'static str),
    /// Unknown.
    Unknown,
}

/// A field of a skill's frontmatter that keeps it out of the listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// `disable-model-invocation: true`.
    DisableModelInvocation,
    /// `paths`: until the agent works on a file that matches.
    Paths,
    /// `disabled: true` or `enabled: false`.
    Disabled,
    /// `policy.allow_implicit_invocation: false` in `agents/openai.yaml`.
    OpenAiPolicy,
    /// A missing description.
    NoDescription,
    /// `triggers`: a word in a message starts it.
    Triggers,
}
