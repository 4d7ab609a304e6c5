//! Profiles: the level of each rule for different purposes.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Rule, Severity, documented};
use crate::advice::{Message, Verb, message};
use crate::manifest::{LocatedText, ManifestError};
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

/// An error for text that names no profile, rule or level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{given}`")]
pub struct UnknownName {
    /// `profile`, `rule` or `level`.
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
            (None, _) => message!(Verb::Explain, " lists the rules"),
        }
    }

    /// Returns the error about this name at `place` of a manifest.
    pub(super) fn at(&self, place: &LocatedText) -> ManifestError {
        place.error(self.to_string(), Some(self.hint()))
    }
}

/// Reads a name written in the manifest.
pub(super) fn read<T: FromStr<Err = UnknownName>>(placed: &LocatedText) -> Result<T, ManifestError> {
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

    /// Switches `rule` to `level`.
    pub fn set(&mut self, rule: &'static Rule, level: Level) {
        self.overrides.insert(rule.id, level);
    }

    /// Changes the rules as `options` say, whose profile is already that of these rules.
    #[must_use]
    pub fn with(mut self, options: &RuleOptions) -> Self {
        if !options.select.is_empty() {
            let was = self.clone();
            self.overrides = documented().map(|rule| (rule.id, Level::Off)).collect();
            for rule in &options.select {
                // Who names a rule wants to see what it finds.
                let level = Some(was.level(rule)).filter(|level| *level != Level::Off);
                self.overrides.insert(rule.id, level.unwrap_or(Level::Warning));
            }
        }
        self.overrides.extend(options.ignore.iter().map(|rule| (rule.id, Level::Off)));
        self.overrides.extend(options.levels.iter().map(|(rule, level)| (rule.id, *level)));
        self
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

/// The rules that one run chooses, over what manifests say.
#[derive(Debug, Clone, Default)]
pub struct RuleOptions {
    /// The profile, instead of those of manifests.
    pub profile: Option<Profile>,
    /// The only rules that are on; an empty list means those of the profile.
    pub select: Vec<&'static Rule>,
    /// Rules that are off.
    pub ignore: Vec<&'static Rule>,
    /// Levels of rules, which win over the others.
    pub levels: Vec<(&'static Rule, Level)>,
}

impl From<Profile> for RuleOptions {
    fn from(profile: Profile) -> Self {
        Self { profile: Some(profile), ..Self::default() }
    }
}

/// Returns the rule `id`.
///
/// # Errors
///
/// Fails if there is no such rule, with the closest one.
pub fn rule(id: &str) -> Result<&'static Rule, UnknownName> {
    documented().find(|rule| rule.id == id).ok_or_else(|| UnknownName {
        what: "rule",
        given: id.to_owned(),
        closest: closest(id, documented().map(|rule| rule.id)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::{Group, RULES};

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

    #[test]
    fn a_switch_wins_over_the_profile() {
        let mut rules = Ruleset::new(Profile::Spec);
        let name = rule("name-length").expect("a rule");
        assert_eq!(rules.level(name), Level::Error);
        rules.set(name, Level::Off);
        assert_eq!(rules.level(name), Level::Off);
    }

    #[test]
    fn a_run_selects_and_ignores_rules() {
        let [name, person, script] =
            ["name-length", "description-person", "script-executable"].map(|id| rule(id).expect("a rule"));
        let level = |options: RuleOptions| {
            let rules = Ruleset::new(Profile::Spec).with(&options);
            [name, person, script].map(|rule| rules.level(rule))
        };
        let (select, ignore) = (vec![name, script], vec![name]);
        assert_eq!(level(RuleOptions::default()), [Level::Error, Level::Warning, Level::Off]);
        let selected = RuleOptions { select, ..RuleOptions::default() };
        assert_eq!(level(selected.clone()), [Level::Error, Level::Off, Level::Warning]);
        assert_eq!(
            level(RuleOptions { ignore, ..selected.clone() }),
            [Level::Off, Level::Off, Level::Warning]
        );
        let levels = vec![(script, Level::Note)];
        assert_eq!(level(RuleOptions { levels, ..selected }), [Level::Error, Level::Off, Level::Note]);
    }
}
