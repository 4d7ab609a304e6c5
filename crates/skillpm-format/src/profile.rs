//! The profile that loading follows.
//!
//! The open specification decides what is valid; a [`LoadProfile`] decides what readers tolerate. Other programs that load
//! skills differ in this, and each profile matches one of them. There is one loader and one discovery; only this value
//! differs.

mod listing;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub use self::listing::{Listing, UnknownListing};

use crate::text::closest;

/// The deviations that are tolerated, and the defaults for missing values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct LoadProfile {
    /// Which names are accepted (conflict C2).
    pub names: NameRule,
    /// Whether a skill without a name takes the name of its directory (conflict C3).
    pub name_from_directory: bool,
    /// Whether a skill without a description fails to load (conflict C4). If not, a missing description is the empty
    /// text.
    pub description_required: bool,
    /// Whether a file without frontmatter fails to load. If not, the whole file is the body, and its name and
    /// description are missing (conflicts C3, C4).
    pub frontmatter_required: bool,
    /// How to treat fields whose shape or length differs from the specification.
    pub shapes: Tolerance,
    /// How to treat `allowed-tools` (conflict C5).
    pub allowed_tools: AllowedTools,
    /// How to treat fields that are not in the specification (conflict C6). They are kept.
    pub unknown_fields: Tolerance,
    /// How to treat `version`, `tags` and `dependencies` outside `metadata` (conflict C7).
    pub legacy_fields: Tolerance,
    /// The version of a skill that does not state one (conflict C7).
    pub default_version: Option<&'static str>,
    /// Whether frontmatter that is not valid YAML is read key by key.
    pub repair: bool,
    /// How to treat oddities in the form of the text: a byte-order mark, blank lines before the frontmatter, duplicate
    /// keys, anchors, aliases, tags, repairs.
    pub text: Tolerance,
    /// Which of several skills with the same name is used (conflict C1).
    pub duplicates: Duplicates,
    /// Which spellings of the file name are accepted (conflict C13).
    pub file_name: FileName,
    /// How many directories deep below a source to look for skills (conflict C12).
    pub depth: usize,
    /// Where to look for skills if no sources are named (conflict C11).
    pub places: SearchedPlaces,
    /// Whether a missing source is an error (conflict C14).
    pub strict_sources: bool,
    /// When a library checks the disk again (conflict C17).
    pub freshness: Freshness,
    /// Whether a library caches instructions it has read.
    pub keep_bodies: bool,
    /// Where the scripts that become tools are in a skill (conflict C20).
    pub scripts: ScriptPlaces,
    /// Which placeholders in a body are replaced by arguments and the skill's directory (conflict C10).
    pub placeholders: Placeholders,
    /// Which files of a skill are listed (conflict C16). All of them can be read.
    pub listing: Listing,
    /// Whether two consecutive dots anywhere in a file name are refused (conflict C16). If not, only a path component
    /// that consists of two dots is refused.
    pub no_dots: bool,
}

/// Where the scripts that become tools are in a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScriptPlaces {
    /// Directly in `scripts/`, not in directories below it.
    Top,
    /// In `scripts/` and up to five directories deep below it.
    Recursive,
    /// Anywhere in the skill, up to five directories deep.
    Root,
}

/// The placeholders in a body that are replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placeholders {
    /// `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N`, `${SKILL_DIR}` and `${CLAUDE_SKILL_DIR}`.
    #[default]
    All,
    /// `$ARGUMENTS` only.
    Arguments,
    /// None: the body stays as written.
    Nothing,
}

/// Which names are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameRule {
    /// Names valid by the specification and equal to the name of the directory.
    Strict,
    /// All names, with a report of what is wrong with them.
    Lenient,
    /// All names, as they are.
    AsIs,
    /// The name of the directory, whatever the file says, as some agents take it.
    Directory,
}

/// How to treat a deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tolerance {
    /// Accept it silently.
    Accept,
    /// Report it.
    Warn,
    /// Refuse to load the skill.
    Refuse,
}

/// How to treat `allowed-tools`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AllowedTools {
    /// Text separated by spaces or commas, or a list.
    Any,
    /// Text separated by spaces only, as in the specification; anything else counts as a wrong shape.
    Spaces,
    /// Left out.
    Hidden,
}

/// Which of several skills with the same name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Duplicates {
    /// The one from the first source.
    First,
    /// The one from the last source.
    Last,
    /// Neither: discovery fails.
    Error,
}

/// Which spellings of the file name are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileName {
    /// `SKILL.md` only.
    Exact,
    /// `SKILL.md` if there is one, otherwise any other spelling, with a report.
    Warn,
    /// `SKILL.md` if there is one, otherwise any other spelling.
    AnyCase,
}

/// Where to look for skills if no sources are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchedPlaces {
    /// Where skillpm installs skills and where Claude Code looks: the project first, then the user.
    Default,
    /// These places, in this order.
    Listed(&'static [ListedPlace]),
    /// Nowhere: sources must be named.
    Named,
}

/// When a library of skills checks the disk again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Freshness {
    /// On every request.
    Stat,
    /// Only when explicitly asked to.
    Session,
    /// When this much time has passed since the last check.
    Ttl(Duration),
}

/// A directory of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedPlace {
    /// Whether the directory belongs to the user; otherwise it belongs to the project.
    pub user: bool,
    /// The directory, relative to the user's home or the project's root.
    pub dir: &'static str,
}

const fn project(dir: &'static str) -> ListedPlace {
    ListedPlace { user: false, dir }
}

const fn user(dir: &'static str) -> ListedPlace {
    ListedPlace { user: true, dir }
}

/// How many directories deep to look for skills by default: the depth recommended to clients.
pub const DEFAULT_DEPTH: usize = 5;

impl LoadProfile {
    /// The profile of skillpm itself: any skill with a readable description and a name, which may be the name of its
    /// directory, as in Claude Code.
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

    /// Nothing that deviates from the specification.
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

    /// Matches skillkit, the Python library formerly called `skills-use`: one flat directory, names as they are.
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

    /// Matches `SkillKit` of langchain-skillkit: the name, the description and the entire frontmatter may be missing;
    /// no `allowed-tools`.
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

    /// Matches `SkillStore` of Langflow: versions, tags and dependencies at the top level, the last skill wins, and
    /// everything that was read is cached for the session.
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

    /// Matches btw, the R package: skills that deviate from the specification are skipped, later places override.
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
            // Where skillpm installs for a user.
            user(".agents/skills"),
            project(".btw/skills"),
            project(".agents/skills"),
            project(".claude/skills"),
        ]),
        placeholders: Placeholders::Nothing,
        listing: Listing::Specified,
        ..Self::DEFAULT
    };

    /// All profiles with the names that select them.
    pub const ALL: [(&'static str, Self); 6] = [
        ("default", Self::DEFAULT),
        ("strict", Self::STRICT),
        ("skillkit", Self::SKILLKIT),
        ("langchain-skillkit", Self::LANGCHAIN_SKILLKIT),
        ("langflow", Self::LANGFLOW),
        ("btw", Self::BTW),
    ];

    /// Former names of profiles.
    const ALIASES: [(&'static str, &'static str); 4] =
        [("s0", "skillkit"), ("s2", "langchain-skillkit"), ("s3", "langflow"), ("s4", "btw")];
}

/// Writes the name of the profile. Only front ends that select one need it.
impl fmt::Display for LoadProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let profile = Self::ALL.into_iter().find(|(_, profile)| profile == self);
        f.write_str(profile.map_or("custom", |(name, _)| name))
    }
}

impl Default for LoadProfile {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// An error for text that names no profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{given}`")]
pub struct UnknownProfile {
    /// The text as given.
    pub given: String,
    /// The most likely intended name.
    pub closest: Option<&'static str>,
}

impl FromStr for LoadProfile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        let alias = Self::ALIASES.iter().find(|(alias, _)| *alias == text);
        let wanted = alias.map_or(text, |(_, name)| name);
        let found = Self::ALL.into_iter().find(|(name, _)| *name == wanted);
        found.map(|(_, profile)| profile).ok_or_else(|| UnknownProfile {
            given: text.to_owned(),
            closest: closest(text, Self::ALL.iter().map(|(name, _)| *name)),
        })
    }
}

/// Writes the text used in the reference page.
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
    fn profiles_are_found_by_their_names() {
        for (name, profile) in LoadProfile::ALL {
            assert_eq!((name.parse(), profile.to_string().as_str()), (Ok(profile.clone()), name));
        }
        for (alias, name) in LoadProfile::ALIASES {
            assert_eq!(alias.parse::<LoadProfile>(), name.parse());
        }
        let error = "stric".parse::<LoadProfile>().expect_err("a slip");
        assert_eq!(
            (error.to_string().as_str(), error.closest),
            ("there is no profile `stric`", Some("strict"))
        );
        assert_eq!(LoadProfile::default(), LoadProfile::DEFAULT);
    }

    /// A row of the table: its subject, and the answer of each profile.
    type Row = (&'static str, fn(&LoadProfile) -> String);

    const ROWS: &[Row] = &[
        ("names that the specification refuses, or that differ from the directory's", |profile| {
            match profile.names {
                NameRule::Strict => "refused",
                NameRule::Lenient => "told",
                NameRule::AsIs => "taken",
                NameRule::Directory => "the directory's",
            }
            .into()
        }),
        ("no name", |profile| {
            if profile.name_from_directory { "the directory's, told" } else { "refused" }.into()
        }),
        ("no description", |profile| {
            if profile.description_required { "refused" } else { "empty, told" }.into()
        }),
        ("no frontmatter", |profile| {
            if profile.frontmatter_required { "refused" } else { "all of it is the body, told" }.into()
        }),
        ("fields of another shape or length", |profile| said(profile.shapes)),
        ("`allowed-tools`", |profile| {
            match profile.allowed_tools {
                AllowedTools::Any => "text or list",
                AllowedTools::Spaces => "text with spaces",
                AllowedTools::Hidden => "left out",
            }
            .into()
        }),
        ("unknown fields", |profile| said(profile.unknown_fields)),
        ("`version`, `tags`, `dependencies` outside of `metadata`", |profile| said(profile.legacy_fields)),
        ("version of a skill that says none", |profile| {
            profile.default_version.map_or_else(|| "none".into(), |version| format!("`{version}`"))
        }),
        ("frontmatter that is not YAML", |profile| {
            if profile.repair { "read key by key" } else { "refused" }.into()
        }),
        ("form of the text", |profile| said(profile.text)),
        ("one name twice", |profile| {
            match profile.duplicates {
                Duplicates::First => "the first",
                Duplicates::Last => "the last",
                Duplicates::Error => "an error",
            }
            .into()
        }),
        ("`skill.md` and other spellings", |profile| {
            match profile.file_name {
                FileName::Exact => "refused",
                FileName::Warn => "told",
                FileName::AnyCase => "taken",
            }
            .into()
        }),
        ("depth", |profile| profile.depth.to_string()),
        ("places", |profile| profile.places.to_string()),
        ("a source that does not exist", |profile| {
            if profile.strict_sources { "an error" } else { "empty, told if it was named" }.into()
        }),
        ("a library looks again", |profile| match profile.freshness {
            Freshness::Stat => "when asked".into(),
            Freshness::Session => "when told".into(),
            Freshness::Ttl(time) => format!("after {} s", time.as_secs()),
        }),
        ("instructions that were read", |profile| {
            if profile.keep_bodies { "kept" } else { "read again" }.into()
        }),
        ("scripts that are tools", |profile| {
            match profile.scripts {
                ScriptPlaces::Top => "in `scripts/`",
                ScriptPlaces::Recursive => "below `scripts/`",
                ScriptPlaces::Root => "anywhere",
            }
            .into()
        }),
        ("placeholders of the body", |profile| {
            match profile.placeholders {
                Placeholders::All => "all",
                Placeholders::Arguments => "`$ARGUMENTS`",
                Placeholders::Nothing => "none",
            }
            .into()
        }),
        ("files that are listed", |profile| format!("`{}`", profile.listing)),
        ("`..` in the name of a file", |profile| {
            if profile.no_dots { "refused" } else { "refused as a component" }.into()
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
    fn the_reference_page_shows_the_profiles() {
        let names: Vec<_> = LoadProfile::ALL.iter().map(|(name, _)| format!("`{name}`")).collect();
        let mut table = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
        for (label, row) in ROWS {
            let cells: Vec<_> = LoadProfile::ALL.iter().map(|(_, profile)| row(profile)).collect();
            let _ = writeln!(table, "| {label} | {} |", cells.join(" | "));
        }
        skillpm_testing::check_reference("loading.md", &table);
    }
}
