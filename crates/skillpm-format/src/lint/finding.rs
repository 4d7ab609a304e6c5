//! What a rule finds.

use std::fmt;
use std::ops::Range;

use super::Fix;
use crate::advice::Message;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing, and nothing to mend: it never fails.
    Note,
    /// Allowed by the specification, and trouble somewhere.
    Warning,
    /// Against the specification.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong: lower-case start, no full stop. It may quote the file, control characters
    /// and all: whoever prints it escapes them.
    pub message: String,
    /// Where, in bytes of the document's text.
    pub span: Range<usize>,
    /// A few words to stand beside the place.
    pub label: Option<String>,
    /// What to do about it.
    pub help: Option<Message>,
    /// The repair, where there is one.
    pub fix: Option<Fix>,
    /// Whether reading ended here: what comes after it was not looked at.
    pub ends: bool,
}

impl Finding {
    /// Adds the repair.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<Message>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a few words to stand beside the place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Changes how much it matters.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}
