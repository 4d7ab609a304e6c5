//! Whether the scripts of skills may run.

use std::fmt;

use super::{Line, Pattern};
use crate::manifest::{ManifestError, Placed};

/// What a file says of scripts, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scripts {
    /// They run.
    Allow,
    /// A person is asked each time.
    Ask,
    /// They do not run.
    Deny,
}

/// Whether a script may run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "answer", content = "because", rename_all = "lowercase")]
pub enum Permission {
    /// It may.
    Allowed(Because),
    /// A person has to say so.
    Ask(Because),
    /// It may not.
    Denied(Because),
}

/// The line that decided; none where no file has a say and the caller's own answer holds.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct Because {
    /// The line.
    pub line: Option<Line>,
}

/// What one file says.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    pub(super) deny: Vec<(Line, Pattern)>,
    pub(super) allow: Vec<(Line, Pattern)>,
    /// Of skills from all other sources.
    pub(super) others: Option<(Line, Scripts)>,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.line {
            Some(line) => write!(f, "{line} says so"),
            None => f.write_str("no policy has a say"),
        }
    }
}

impl Scripts {
    /// Reads `deny`, `ask` or `allow`.
    pub(super) fn read(placed: &Placed) -> Result<Self, ManifestError> {
        match placed.text.as_str() {
            "allow" => Ok(Self::Allow),
            "ask" => Ok(Self::Ask),
            "deny" => Ok(Self::Deny),
            other => Err(placed.error(
                format!("`{other}` says nothing of scripts: `deny`, `ask` or `allow` is expected"),
                None,
            )),
        }
    }

    /// The answer, which `line` gave.
    pub(super) fn permission(self, line: Option<Line>) -> Permission {
        let because = Because { line };
        match self {
            Self::Allow => Permission::Allowed(because),
            Self::Ask => Permission::Ask(because),
            Self::Deny => Permission::Denied(because),
        }
    }
}

impl Permission {
    /// What decided.
    pub fn because(&self) -> &Because {
        match self {
            Self::Allowed(because) | Self::Ask(because) | Self::Denied(because) => because,
        }
    }
}

impl Rules {
    /// All lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Line> {
        let lists = self.deny.iter().chain(&self.allow).map(|(line, _)| line);
        lists.chain(self.others.iter().map(|(line, _)| line))
    }

    /// What the file says of a source with these `names`, and the line that does.
    pub(super) fn of(&self, names: &[(String, Vec<String>)]) -> Option<(Line, Scripts)> {
        let found = |list: &[(Line, Pattern)]| {
            list.iter().find(|(_, pattern)| pattern.matches(names)).map(|(line, _)| line.clone())
        };
        let listed = found(&self.deny)
            .map(|line| (line, Scripts::Deny))
            .or_else(|| found(&self.allow).map(|line| (line, Scripts::Allow)));
        // A list of what is allowed means that the rest is not, unless the file says what holds for it.
        let rest = || self.allow.first().map(|(line, _)| (line.clone(), Scripts::Deny));
        listed.or_else(|| self.others.clone()).or_else(rest)
    }
}
