//! The tables of a manifest that say how its skills are used, checked and limited.

use super::error::ManifestError;
use crate::advice::Message;

/// The table `[agents]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agents {
    /// The agents that get a link, unless a skill names its own; `None` if the key is missing, which differs from an
    /// empty list.
    pub targets: Option<Vec<String>>,
    /// The agents that a person uses, beside those of each project; `None` if the key is missing. Only a user's own
    /// manifest may name them.
    pub used: Option<Vec<String>>,
    /// Whether they get copies rather than links.
    pub copy: bool,
    /// Whether to make git leave the bytes of skills alone; `None` if the key is missing, which means yes.
    pub gitattributes: Option<bool>,
}

impl Agents {
    /// Reports whether agents get links at all, unless a skill names its own: an empty list of targets is a decision.
    pub fn gives_links(&self) -> bool {
        self.targets.as_ref().is_none_or(|targets| !targets.is_empty())
    }
}

/// The table `[hints]`: when hints after a success are shown. Those of errors and warnings always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HintSettings {
    /// Each kind three times on terminals, and always elsewhere.
    #[default]
    First,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The table `[lint]`, as written: the linter decides which rules exist.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LintSettings {
    /// The name of a profile.
    pub profile: Option<LocatedText>,
    /// Names of rules and of their levels, in the order of the file.
    pub rules: Vec<(LocatedText, LocatedText)>,
    /// Patterns of the files that are not checked, relative to the manifest's directory.
    pub exclude: Vec<LocatedText>,
    /// Patterns of the only files that are checked; an empty list means all.
    pub include: Vec<LocatedText>,
    /// The path of the baseline, relative to the manifest's directory.
    pub baseline: Option<LocatedText>,
    /// What differs for the files that match a pattern, in the order of the file.
    pub per_path: Vec<(LocatedText, Self)>,
}

/// The table `[policy]`, as written; [`Admission`](crate::admission::Admission) interprets it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicySettings {
    /// Patterns of the only sources that are allowed; an empty list allows all.
    pub allow: Vec<LocatedText>,
    /// Patterns of sources that are denied.
    pub deny: Vec<LocatedText>,
    /// The minimum time since the release of a source.
    pub age: Option<LocatedText>,
    /// Patterns of sources that may be younger.
    pub age_exclude: Vec<LocatedText>,
    /// How strictly a source must be pinned.
    pub pin: Option<LocatedText>,
    /// Which findings block a skill.
    pub audit: Option<LocatedText>,
    /// Whether skills may run scripts.
    pub scripts: Option<LocatedText>,
    /// Patterns of sources whose skills may run scripts.
    pub scripts_allow: Vec<LocatedText>,
    /// Patterns of sources whose skills may not run scripts.
    pub scripts_deny: Vec<LocatedText>,
    /// Patterns of sources whose skills' scripts may use unix sockets.
    pub scripts_unix_sockets: Vec<LocatedText>,
}

/// A text in the manifest and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedText {
    /// The text.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl LocatedText {
    /// Returns an error that reports the text as wrong at this position.
    pub fn error(&self, message: impl Into<String>, hint: Option<Message>) -> ManifestError {
        ManifestError { line: self.line, column: self.column, message: message.into(), hint }
    }
}
