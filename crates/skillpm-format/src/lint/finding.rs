//! The findings of rules.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Fix, SECRET_IN_TEXT};
use crate::advice::Message;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing, but nothing to fix: it never fails a check.
    Note,
    /// Allowed by the specification, but a problem somewhere.
    Warning,
    /// A violation of the specification.
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

/// A place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The message: lower-case start, no full stop. It may quote the file, including control characters: code that
    /// prints it must escape them.
    pub message: String,
    /// The position, in bytes of the document's text.
    pub span: Range<usize>,
    /// A few words to display beside the position.
    pub label: Option<String>,
    /// The hint.
    pub help: Option<Message>,
    /// The repair, if there is one.
    pub fix: Option<Fix>,
    /// Whether reading stopped here: the text after it was not examined.
    pub ends: bool,
}

impl Finding {
    /// Makes a finding without a repair.
    pub fn new(
        rule: &'static str,
        severity: Severity,
        message: impl Into<String>,
        span: Range<usize>,
    ) -> Self {
        let message = message.into();
        Self { rule, severity, message, span, label: None, help: None, fix: None, ends: false }
    }

    /// Reports whether nobody may pack or publish a skill with this finding of the profile for publishing. A key in a text is
    /// no such finding: its author is asked.
    pub fn forbids_publishing(&self) -> bool {
        self.severity == Severity::Error && self.rule != SECRET_IN_TEXT
    }

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

    /// Adds a few words to display beside the position.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Changes the severity.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}
