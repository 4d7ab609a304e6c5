//! Profiles: the level of each rule for different purposes.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

use super::{FILE_KIND, RULES, Rule, Severity};
use crate::advice::{Message, Verb, message};
use crate::manifest::{LintSettings, LocatedText, ManifestError};
use crate::text::closest;

/// The level of a rule's findings in a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The rule is not applied.
    Off,
    /// Findings are notes, which never fail the check.
    Note,
    /// Findings are warnings.
    Warning,
    /// Findings are errors.
    Error,
}

impl Level {
    /// All levels, with the names that set them.
    pub const ALL: [(&'static str, Self); 4] =
        [("off", Self::Off), ("note", Self::Note), ("warning", Self::Warning), ("error", Self::Error)];

    /// Returns the severity of findings at this level. Returns `None` if it has no findings.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Off => None,
            Self::Note => Some(Severity::Note),
            Self::Warning => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }
}

/// The level of one rule in each profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// The requirements of the open specification.
    pub spec: Level,
    /// The verdict of the reference validator.
    pub reference: Level,
    /// The requirements that Claude Code documents.
    pub claude_code: Level,
    /// The verdict of claude.ai on an upload.
    pub claude_ai: Level,
    /// The requirements for publishing.
    pub publish: Level,
    /// The requirements for loading.
    pub lenient: Level,
}

impl Levels {
    /// A breach of the specification: an error in every profile except the one for loading.
    pub const ERROR: Self = Self {
        spec: Level::Error,
        reference: Level::Error,
        claude_code: Level::Error,
        claude_ai: Level::Error,
        publish: Level::Error,
        lenient: Level::Warning,
    };

    /// A fault that prevents every tool from loading the skill: an error in every profile.
    pub const FATAL: Self = Self { lenient: Level::Error, ..Self::ERROR };

    /// In no profile.
    pub const OFF: Self = Self {
        spec: Level::Off,
        reference: Level::Off,
        claude_code: Level::Off,
        claude_ai: Level::Off,
        publish: Level::Off,
        lenient: Level::Off,
    };

    /// A problem in some tool: a warning.
    pub const WARNING: Self =
        Self { spec: Level::Warning, claude_code: Level::Warning, publish: Level::Warning, ..Self::OFF };

    /// A fault that everybody meets who gets the skill from a registry: a warning, and an error for publishing.
    pub const PACKAGE: Self = Self { publish: Level::Error, ..Self::WARNING };

    /// Advice on quality: a warning. Style alone never prevents publishing.
    pub const QUALITY: Self = Self::WARNING;

    /// Advice on quality that requires all of a skill's files: for publishing, and for Claude Code, whose guide
    /// includes it. The specification's wording covers `SKILL.md`.
    pub const FILES: Self = Self { spec: Level::Off, ..Self::QUALITY };

    /// A form that tools read alike, and some people write otherwise: a note.
    pub const FORM: Self = Self { spec: Level::Note, publish: Level::Note, ..Self::OFF };

    /// A quirk of the reference validator that no other tool shares.
    pub const QUIRK: Self = Self::OFF.reference(Level::Error);

    /// Returns these levels with a different one for the reference profile.
    #[must_use]
    pub const fn reference(self, reference: Level) -> Self {
        Self { reference, ..self }
    }

    /// Returns these levels with a different one for publishing.
    #[must_use]
    pub const fn publish(self, publish: Level) -> Self {
        Self { publish, ..self }
    }

    /// Returns these levels with a different one for Claude Code.
    #[must_use]
    pub const fn claude_code(self, claude_code: Level) -> Self {
        Self { claude_code, ..self }
    }

    /// Returns these levels with a different one for claude.ai.
    #[must_use]
    pub const fn claude_ai(self, claude_ai: Level) -> Self {
        Self { claude_ai, ..self }
    }

    /// Returns these levels with a different one for loading.
    #[must_use]
    pub const fn lenient(self, lenient: Level) -> Self {
        Self { lenient, ..self }
    }

    /// Returns the level in `profile`.
    pub fn of(self, profile: Profile) -> Level {
        match profile {
            Profile::Spec => self.spec,
            Profile::Reference => self.reference,
            Profile::ClaudeCode => self.claude_code,
            Profile::ClaudeAi => self.claude_ai,
            Profile::Publish => self.publish,
            // The rules of every kind of reader, and no note is without consequence. Verdicts of single programs are not
            // among them.
            Profile::Strict => match self.spec.max(self.claude_code).max(self.publish) {
                Level::Note => Level::Warning,
                level => level,
            },
            Profile::Lenient => self.lenient,
        }
    }
}

/// The standard to check against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Profile {
    /// The requirements of the open specification.
    #[default]
    Spec,
    /// The same verdict as the reference validator, its quirks included.
    Reference,
    /// The requirements that Claude Code documents.
    ClaudeCode,
    /// The verdict of claude.ai on a skill that is uploaded.
    ClaudeAi,
    /// Specification, package rules and quality.
    Publish,
    /// Every rule, each at least as a warning.
    Strict,
    /// The requirements for loading.
    Lenient,
}

impl Profile {
    /// All profiles, with the names that select them.
    pub const ALL: [(&'static str, Self); 7] = [
        ("spec", Self::Spec),
        ("reference", Self::Reference),
        ("claude-code", Self::ClaudeCode),
        ("claude-ai", Self::ClaudeAi),
        ("publish", Self::Publish),
        ("strict", Self::Strict),
        ("lenient", Self::Lenient),
    ];

    /// Reports whether it gives the verdict of a program that does not know the switches in comments.
    pub const fn is_verdict(self) -> bool {
        matches!(self, Self::Reference | Self::ClaudeAi)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, profile)| profile == self);
        f.write_str(name.map_or("spec", |(name, _)| name))
    }
}

/// The thing that [`FILE_KIND`] does not have.
const NO_SWITCH: &str = "switch for";

/// An error for text that names no profile, rule or level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{given}`")]
pub struct UnknownName {
    /// `profile`, `rule`, `level`, or `switch for` if the rule exists but has no switch.
    pub what: &'static str,
    /// The text as given.
    pub given: String,
    /// The most likely intended name.
    pub closest: Option<&'static str>,
}

impl UnknownName {
    /// Returns what to do about it.
    pub fn hint(&self) -> Message {
        match (self.closest, self.what) {
            (Some(closest), _) => format!("did you mean `{closest}`?").into(),
            (None, "profile") => {
                format!("profiles are `{}`", Profile::ALL.map(|(name, _)| name).join("`, `")).into()
            }
            (None, "level") => {
                format!("levels are `{}`", Level::ALL.map(|(name, _)| name).join("`, `")).into()
            }
            (None, NO_SWITCH) => "what is not a regular file is not checked and never installed: \
                put the file itself there"
                .into(),
            (None, _) => message!(Verb::Explain, " lists the rules"),
        }
    }

    fn at(&self, place: &LocatedText) -> ManifestError {
        place.error(self.to_string(), Some(self.hint()))
    }
}

/// Reads a name written in the manifest.
fn read<T: FromStr<Err = UnknownName>>(placed: &LocatedText) -> Result<T, ManifestError> {
    placed.text.parse().map_err(|unknown: UnknownName| unknown.at(placed))
}

impl FromStr for Profile {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found.map(|(_, profile)| *profile).ok_or_else(|| UnknownName {
            what: "profile",
            given: text.to_owned(),
            closest: closest(text, Self::ALL.iter().map(|(name, _)| *name)),
        })
    }
}

impl FromStr for Level {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, level)| *level).ok_or_else(|| UnknownName {
            what: "level",
            given: text.to_owned(),
            closest: closest(text, Self::ALL.iter().map(|(name, _)| *name)),
        })
    }
}

/// The enabled rules and the level of each: a profile and the rules switched in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ruleset {
    /// The profile.
    pub profile: Profile,
    overrides: BTreeMap<&'static str, Level>,
}

impl Ruleset {
    /// Returns the rules of `profile`.
    pub fn new(profile: Profile) -> Self {
        Self { profile, overrides: BTreeMap::new() }
    }

    /// Switches the rule `id` to `level`.
    ///
    /// # Errors
    ///
    /// Fails if there is no such rule, with the closest one.
    pub fn set(&mut self, id: &str, level: Level) -> Result<(), UnknownName> {
        self.overrides.insert(rule(id)?.id, level);
        Ok(())
    }

    /// Returns the rules of `profile` if one was chosen, otherwise those of the manifest's profile, with the rules that
    /// the manifest switches.
    ///
    /// # Errors
    ///
    /// Fails on an unknown name of a profile, a rule or a level, with its position and the closest name.
    pub fn from_settings(profile: Option<Profile>, table: &LintSettings) -> Result<Self, ManifestError> {
        // A wrong name is reported even if it is not used this time.
        let written: Option<Profile> = table.profile.as_ref().map(read).transpose()?;
        let mut rules = Self::new(profile.or(written).unwrap_or_default());
        for (rule, level) in &table.rules {
            let level = read(level)?;
            rules.set(&rule.text, level).map_err(|unknown| unknown.at(rule))?;
        }
        Ok(rules)
    }

    /// Reports whether `rule` was switched explicitly, regardless of the profile.
    pub fn is_switched(&self, rule: &str) -> bool {
        self.overrides.contains_key(rule)
    }

    /// Returns the level of `rule`.
    pub fn level(&self, rule: &Rule) -> Level {
        self.overrides.get(rule.id).copied().unwrap_or_else(|| rule.levels.of(self.profile))
    }
}

/// Returns the rule `id`, which can be switched.
///
/// # Errors
///
/// Fails if there is no such rule, with the closest one, and for [`FILE_KIND`]: its findings are made by the code that
/// reads files, before any rule runs.
pub fn rule(id: &str) -> Result<&'static Rule, UnknownName> {
    if id == FILE_KIND {
        return Err(UnknownName { what: NO_SWITCH, given: id.to_owned(), closest: None });
    }
    RULES.iter().copied().find(|rule| rule.id == id).ok_or_else(|| UnknownName {
        what: "rule",
        given: id.to_owned(),
        closest: closest(id, RULES.iter().map(|rule| rule.id)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::Group;

    #[test]
    fn names_read_back_and_slips_get_a_suggestion() {
        for (name, profile) in Profile::ALL {
            assert_eq!(name.parse(), Ok(profile));
            assert_eq!(profile.to_string(), name);
        }
        assert_eq!("referense".parse::<Profile>().expect_err("a slip").closest, Some("reference"));
        assert_eq!(rule("name-lenght").expect_err("a slip").closest, Some("name-length"));
    }

    /// Whatever some profile reports for all kinds of readers, the strictest one reports, and never as a note.
    #[test]
    fn the_strictest_profile_has_every_rule() {
        for rule in RULES {
            let strict = rule.levels.of(Profile::Strict);
            for profile in [Profile::Spec, Profile::ClaudeCode, Profile::Publish] {
                assert!(rule.levels.of(profile) <= strict && strict != Level::Note, "{}", rule.id);
            }
            assert_eq!(strict == Level::Off, rule.group == Group::Quirk, "{}", rule.id);
        }
    }

    fn settings(profile: Option<Profile>, text: &str) -> Result<Ruleset, (String, Option<String>)> {
        let manifest = crate::manifest::Manifest::parse(text).expect(text);
        Ruleset::from_settings(profile, manifest.lint())
            .map_err(|error| (error.to_string(), error.hint.map(|hint| hint.to_string())))
    }

    #[test]
    fn the_manifest_chooses_a_profile_and_switches_rules() {
        let text = "[lint]\nprofile = \"publish\"\nrules = { name-directory = \"off\" }\n";
        let name_directory = rule("name-directory").expect("a rule");
        let rules = settings(None, text).expect("right");
        assert_eq!((rules.profile, rules.level(name_directory)), (Profile::Publish, Level::Off));
        let rules = settings(Some(Profile::Lenient), text).expect("right");
        assert_eq!((rules.profile, rules.level(name_directory)), (Profile::Lenient, Level::Off));
        assert!(rules.is_switched("name-directory") && !rules.is_switched("name-length"));
        assert_eq!(settings(None, ""), Ok(Ruleset::default()));
    }

    #[test]
    fn names_that_are_not_there_are_told_with_their_place() {
        for (text, message, hint) in [
            (
                "[lint]\nprofile = \"referense\"",
                "2:11: there is no profile `referense`",
                "did you mean `reference`?",
            ),
            (
                "[lint]\nprofile = \"zzz\"",
                "2:11: there is no profile `zzz`",
                "profiles are `spec`, `reference`, `claude-code`, `claude-ai`, `publish`, `strict`, `lenient`",
            ),
            (
                "[lint.rules]\nname-lenght = \"off\"",
                "2:1: there is no rule `name-lenght`",
                "did you mean `name-length`?",
            ),
            (
                "[lint.rules]\nfile-kind = \"off\"",
                "2:1: there is no switch for `file-kind`",
                "what is not a regular file is not checked and never installed: put the file itself there",
            ),
            (
                "[lint.rules]\nname-length = \"loud\"",
                "2:15: there is no level `loud`",
                "levels are `off`, `note`, `warning`, `error`",
            ),
        ] {
            let error = settings(Some(Profile::Spec), text).expect_err(text);
            assert_eq!(error, (message.to_owned(), Some(hint.to_owned())));
        }
    }

    #[test]
    fn a_switch_wins_over_the_profile() {
        let mut rules = Ruleset::new(Profile::Spec);
        let name = rule("name-length").expect("a rule");
        assert_eq!(rules.level(name), Level::Error);
        rules.set("name-length", Level::Off).expect("a rule");
        assert_eq!(rules.level(name), Level::Off);
    }
}
