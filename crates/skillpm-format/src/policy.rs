//! What loading tolerates.
//!
//! The open specification decides what is valid; a [`Policy`] decides what is tolerated by those that
//! only read. Other programs that load skills differ in it, and each of the presets gives the answers
//! of one of them. There is one loader and one discovery; what differs is this value.

mod listing;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub use self::listing::{Listing, UnknownListing};

use crate::text::closest;

/// What is tolerated, and what stands for what is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Policy {
    /// Which names are taken (conflict C2).
    pub names: NameRule,
    /// Whether a skill without a name gets that of its directory (conflict C3).
    pub name_from_directory: bool,
    /// Whether a skill without a description cannot be loaded (conflict C4). Where it need not have
    /// one, it is the empty text.
    pub description_required: bool,
    /// Whether a file without frontmatter cannot be loaded; else all of it is the body, and its name and
    /// description are missing (conflicts C3, C4).
    pub frontmatter_required: bool,
    /// What is done about fields of another shape or length than the specification has.
    pub shapes: Tolerance,
    /// What is done about `allowed-tools` (conflict C5).
    pub allowed_tools: AllowedTools,
    /// What is done about fields that the specification does not have (conflict C6). They are kept.
    pub unknown_fields: Tolerance,
    /// What is done about `version`, `tags` and `dependencies` outside of `metadata` (conflict C7).
    pub legacy_fields: Tolerance,
    /// The version of a skill that says none (conflict C7).
    pub default_version: Option<&'static str>,
    /// Whether frontmatter that is not YAML is read key by key.
    pub repair: bool,
    /// What is done about the form of the text: a byte-order mark, blank lines before the frontmatter,
    /// keys that are there twice, anchors, aliases, tags, repairs.
    pub text: Tolerance,
    /// Which skill of several of one name is used (conflict C1).
    pub duplicates: Duplicates,
    /// Which spellings of the file's name are taken (conflict C13).
    pub file_name: FileName,
    /// How many directories deep below a source skills are looked for (conflict C12).
    pub depth: usize,
    /// Where skills are looked for unless sources are named (conflict C11).
    pub places: SearchedPlaces,
    /// Whether a source that is not there is an error (conflict C14).
    pub strict_sources: bool,
    /// When a library looks again at what lies on disk (conflict C17).
    pub freshness: Freshness,
    /// Whether a library keeps instructions that were read.
    pub keep_bodies: bool,
    /// Where the scripts of a skill lie that are tools (conflict C20).
    pub scripts: ScriptPlaces,
    /// What of a body stands for arguments and the skill's directory (conflict C10).
    pub placeholders: Placeholders,
    /// Which files of a skill are listed (conflict C16). All of them can be read.
    pub listing: Listing,
    /// Whether two dots in a row anywhere in the name of a file are refused (conflict C16); else only a
    /// component of two dots is.
    pub no_dots: bool,
}

/// Where the scripts of a skill lie that are tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScriptPlaces {
    /// In `scripts/`, and not in the directories below it.
    Top,
    /// In `scripts/`, and five directories deep below it.
    Recursive,
    /// Anywhere in the skill, five directories deep.
    Root,
}

/// What of a body stands for something else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placeholders {
    /// `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N`, `${SKILL_DIR}` and `${CLAUDE_SKILL_DIR}`.
    #[default]
    All,
    /// `$ARGUMENTS` only.
    Arguments,
    /// Nothing: the body stays as it is written.
    Nothing,
}

/// Which names are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameRule {
    /// Those of the specification, equal to the name of the directory.
    Strict,
    /// All, and what is off is told.
    Lenient,
    /// All, as they are.
    AsIs,
}

/// What is done about something that is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tolerance {
    /// Nothing is said.
    Accept,
    /// It is told.
    Warn,
    /// The skill is not loaded.
    Refuse,
}

/// What is done about `allowed-tools`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AllowedTools {
    /// A text with spaces or commas, or a list.
    Any,
    /// A text with spaces only, as the specification has it; anything else counts as another shape.
    Spaces,
    /// They are left out.
    Hidden,
}

/// Which skill of several of one name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Duplicates {
    /// That of the first source.
    First,
    /// That of the last source.
    Last,
    /// None: discovery fails.
    Error,
}

/// Which spellings of the file's name are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileName {
    /// `SKILL.md` only.
    Exact,
    /// The exact one first, else any other, which is told.
    Warn,
    /// The exact one first, else any other.
    AnyCase,
}

/// Where skills are looked for unless sources are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchedPlaces {
    /// Where skillpm installs skills, and where Claude Code looks: of the project, then of the user.
    Default,
    /// These, in this order.
    Listed(&'static [ListedPlace]),
    /// Nowhere: sources have to be named.
    Named,
}

/// When a library of skills looks again at what lies on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Freshness {
    /// Whenever it is asked.
    Stat,
    /// Never, until it is told to.
    Session,
    /// When so much time went by since it looked last.
    Ttl(Duration),
}

/// A directory of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedPlace {
    /// Whether the directory is the user's; else it is the project's.
    pub user: bool,
    /// The directory, below the user's home or the project's root.
    pub dir: &'static str,
}

const fn project(dir: &'static str) -> ListedPlace {
    ListedPlace { user: false, dir }
}

const fn user(dir: &'static str) -> ListedPlace {
    ListedPlace { user: true, dir }
}

/// How many directories deep skills are looked for by default: what clients are advised.
pub const DEFAULT_DEPTH: usize = 5;

impl Policy {
    /// What skillpm itself tolerates: whatever has a description that can be read, and a name, which may be that of its
    /// directory, as Claude Code has it.
    pub const DEFAULT: Self = Self {
        names: NameRule::Lenient,
        name_from_directory: true,
        description_required: true,
        frontmatter_required: true,
        shapes: Tolerance::Warn,
        allowed_tools: AllowedTools::Any,
        unknown_fields: Tolerance::Warn,
        legacy_fields: Tolerance::Warn,
        default_version: None,
        repair: true,
        text: Tolerance::Warn,
        duplicates: Duplicates::First,
        file_name: FileName::Warn,
        depth: DEFAULT_DEPTH,
        places: SearchedPlaces::Default,
        strict_sources: false,
        freshness: Freshness::Stat,
        keep_bodies: false,
        scripts: ScriptPlaces::Top,
        placeholders: Placeholders::All,
        listing: Listing::All,
        no_dots: false,
    };

    /// Nothing that is off the specification.
    pub const STRICT: Self = Self {
        names: NameRule::Strict,
        name_from_directory: false,
        shapes: Tolerance::Refuse,
        allowed_tools: AllowedTools::Spaces,
        unknown_fields: Tolerance::Refuse,
        legacy_fields: Tolerance::Refuse,
        repair: false,
        text: Tolerance::Refuse,
        duplicates: Duplicates::Error,
        file_name: FileName::Exact,
        strict_sources: true,
        ..Self::DEFAULT
    };

    /// As skillkit, the Python library that was `skills-use`: one flat directory, names as they are.
    pub const SKILLKIT: Self = Self {
        names: NameRule::AsIs,
        name_from_directory: false,
        unknown_fields: Tolerance::Accept,
        legacy_fields: Tolerance::Accept,
        default_version: Some("0.0.0"),
        file_name: FileName::AnyCase,
        depth: 1,
        places: SearchedPlaces::Listed(&[project(".claude/skills")]),
        scripts: ScriptPlaces::Root,
        placeholders: Placeholders::Arguments,
        ..Self::DEFAULT
    };

    /// As `SkillKit` of langchain-skillkit: name, description and all frontmatter may be missing, no
    /// `allowed-tools`.
    pub const LANGCHAIN_SKILLKIT: Self = Self {
        name_from_directory: true,
        description_required: false,
        frontmatter_required: false,
        allowed_tools: AllowedTools::Hidden,
        unknown_fields: Tolerance::Accept,
        legacy_fields: Tolerance::Accept,
        depth: 1,
        places: SearchedPlaces::Named,
        placeholders: Placeholders::Nothing,
        ..Self::DEFAULT
    };

    /// As `SkillStore` of Langflow: versions, tags and dependencies at the top, the last one wins, and what
    /// was read is kept for the session.
    pub const LANGFLOW: Self = Self {
        names: NameRule::AsIs,
        name_from_directory: false,
        unknown_fields: Tolerance::Accept,
        legacy_fields: Tolerance::Accept,
        default_version: Some("1.0"),
        duplicates: Duplicates::Last,
        places: SearchedPlaces::Named,
        freshness: Freshness::Session,
        keep_bodies: true,
        placeholders: Placeholders::Nothing,
        listing: Listing::Markdown,
        no_dots: true,
        ..Self::DEFAULT
    };

    /// As btw, the R package: what is off the specification is skipped, later places override.
    pub const BTW: Self = Self {
        names: NameRule::Strict,
        name_from_directory: false,
        shapes: Tolerance::Refuse,
        unknown_fields: Tolerance::Refuse,
        legacy_fields: Tolerance::Refuse,
        duplicates: Duplicates::Last,
        depth: 1,
        places: SearchedPlaces::Listed(&[
            user(".config/R/btw/skills"),
            project(".btw/skills"),
            project(".agents/skills"),
            project(".claude/skills"),
        ]),
        placeholders: Placeholders::Nothing,
        listing: Listing::Specified,
        ..Self::DEFAULT
    };

    /// All presets, by the names under which they are chosen.
    pub const PRESETS: [(&'static str, Self); 6] = [
        ("default", Self::DEFAULT),
        ("strict", Self::STRICT),
        ("skillkit", Self::SKILLKIT),
        ("langchain-skillkit", Self::LANGCHAIN_SKILLKIT),
        ("langflow", Self::LANGFLOW),
        ("btw", Self::BTW),
    ];

    /// Names that presets had before.
    const ALIASES: [(&'static str, &'static str); 4] =
        [("s0", "skillkit"), ("s2", "langchain-skillkit"), ("s3", "langflow"), ("s4", "btw")];
}

impl Default for Policy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A text that names no preset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no policy `{given}`")]
pub struct UnknownPolicy {
    /// The text.
    pub given: String,
    /// What was probably meant.
    pub closest: Option<&'static str>,
}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, UnknownPolicy> {
        let alias = Self::ALIASES.iter().find(|(alias, _)| *alias == text);
        let wanted = alias.map_or(text, |(_, name)| name);
        let found = Self::PRESETS.into_iter().find(|(name, _)| *name == wanted);
        found.map(|(_, policy)| policy).ok_or_else(|| UnknownPolicy {
            given: text.to_owned(),
            closest: closest(text, Self::PRESETS.iter().map(|(name, _)| *name)),
        })
    }
}

/// In the words of the reference page.
impl fmt::Display for SearchedPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Listed(places) = self else {
            let default = "`.agents/skills`, `.claude/skills`, `.skillpm/skills`, then the user's";
            return f.write_str(if *self == Self::Named { "only what is named" } else { default });
        };
        for (index, place) in places.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}`{}{}`", if place.user { "~/" } else { "" }, place.dir)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn presets_are_found_by_their_names() {
        for (name, policy) in Policy::PRESETS {
            assert_eq!(name.parse(), Ok(policy));
        }
        for (alias, name) in Policy::ALIASES {
            assert_eq!(alias.parse::<Policy>(), name.parse());
        }
        let error = "stric".parse::<Policy>().expect_err("a slip");
        assert_eq!(
            (error.to_string().as_str(), error.closest),
            ("there is no policy `stric`", Some("strict"))
        );
        assert_eq!(Policy::default(), Policy::DEFAULT);
    }

    /// A line of the table: what it is about, and what each preset says.
    type Row = (&'static str, fn(&Policy) -> String);

    const ROWS: &[Row] = &[
        ("names that the specification refuses, or that differ from the directory's", |policy| {
            match policy.names {
                NameRule::Strict => "refused",
                NameRule::Lenient => "told",
                NameRule::AsIs => "taken",
            }
            .into()
        }),
        ("no name", |policy| {
            if policy.name_from_directory { "the directory's, told" } else { "refused" }.into()
        }),
        ("no description", |policy| {
            if policy.description_required { "refused" } else { "empty, told" }.into()
        }),
        ("no frontmatter", |policy| {
            if policy.frontmatter_required { "refused" } else { "all of it is the body, told" }.into()
        }),
        ("fields of another shape or length", |policy| said(policy.shapes)),
        ("`allowed-tools`", |policy| {
            match policy.allowed_tools {
                AllowedTools::Any => "text or list",
                AllowedTools::Spaces => "text with spaces",
                AllowedTools::Hidden => "left out",
            }
            .into()
        }),
        ("unknown fields", |policy| said(policy.unknown_fields)),
        ("`version`, `tags`, `dependencies` outside of `metadata`", |policy| said(policy.legacy_fields)),
        ("version of a skill that says none", |policy| {
            policy.default_version.map_or_else(|| "none".into(), |version| format!("`{version}`"))
        }),
        ("frontmatter that is not YAML", |policy| {
            if policy.repair { "read key by key" } else { "refused" }.into()
        }),
        ("form of the text", |policy| said(policy.text)),
        ("one name twice", |policy| {
            match policy.duplicates {
                Duplicates::First => "the first",
                Duplicates::Last => "the last",
                Duplicates::Error => "an error",
            }
            .into()
        }),
        ("`skill.md` and other spellings", |policy| {
            match policy.file_name {
                FileName::Exact => "refused",
                FileName::Warn => "told",
                FileName::AnyCase => "taken",
            }
            .into()
        }),
        ("depth", |policy| policy.depth.to_string()),
        ("places", |policy| policy.places.to_string()),
        ("a source that does not exist", |policy| {
            if policy.strict_sources { "an error" } else { "empty, told if it was named" }.into()
        }),
        ("a library looks again", |policy| match policy.freshness {
            Freshness::Stat => "when asked".into(),
            Freshness::Session => "when told".into(),
            Freshness::Ttl(time) => format!("after {} s", time.as_secs()),
        }),
        ("instructions that were read", |policy| {
            if policy.keep_bodies { "kept" } else { "read again" }.into()
        }),
        ("scripts that are tools", |policy| {
            match policy.scripts {
                ScriptPlaces::Top => "in `scripts/`",
                ScriptPlaces::Recursive => "below `scripts/`",
                ScriptPlaces::Root => "anywhere",
            }
            .into()
        }),
        ("placeholders of the body", |policy| {
            match policy.placeholders {
                Placeholders::All => "all",
                Placeholders::Arguments => "`$ARGUMENTS`",
                Placeholders::Nothing => "none",
            }
            .into()
        }),
        ("files that are listed", |policy| format!("`{}`", policy.listing)),
        ("`..` in the name of a file", |policy| {
            if policy.no_dots { "refused" } else { "refused as a component" }.into()
        }),
    ];

    fn said(tolerance: Tolerance) -> String {
        match tolerance {
            Tolerance::Accept => "taken",
            Tolerance::Warn => "told",
            Tolerance::Refuse => "refused",
        }
        .into()
    }

    #[test]
    fn the_reference_page_shows_the_presets() {
        let names: Vec<_> = Policy::PRESETS.iter().map(|(name, _)| format!("`{name}`")).collect();
        let mut table = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
        for (label, row) in ROWS {
            let cells: Vec<_> = Policy::PRESETS.iter().map(|(_, policy)| row(policy)).collect();
            let _ = writeln!(table, "| {label} | {} |", cells.join(" | "));
        }
        skillpm_testing::check_reference("loading.md", &table);
    }
}
