//! The findings, as they are shown.

use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::Message;
use crate::scope::health::problem::{self, Severity};
use crate::scope::health::{Finding, Remedy};
use crate::scope::plan::{Location, Step};
use crate::scope_kind::ScopeKind;
use crate::skill::prerequisites::CheckedPrerequisite;

/// The findings. The JSON form of a value of this type is an interface: fields are only added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DoctorOutcome {
    /// The findings: project, user, then the store and the downloads.
    pub findings: Vec<Diagnosis>,
    /// Whether nothing was repaired because it was only to be shown.
    pub dry_run: bool,
    /// The warnings of the repairs.
    #[serde(skip)]
    pub kept: Vec<Message>,
}

/// Something that is wrong, or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The code: `link-missing`.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Where; `None` for the store and the downloads.
    pub scope: Option<ScopeKind>,
    /// The skill that it is about.
    pub skill: Option<String>,
    /// The agent that it is about.
    pub agent: Option<&'static str>,
    /// Where it is.
    pub path: String,
    /// The problem.
    pub message: Message,
    /// What the skill requires and this machine lacks.
    pub lacks: Vec<CheckedPrerequisite>,
    /// The repair that `--fix` makes.
    pub fix: Option<String>,
    /// The advice to a person.
    pub advice: Option<Message>,
    /// Whether it was repaired.
    pub fixed: bool,
    /// Why it could not be.
    pub failure: Option<Message>,
}

impl DoctorOutcome {
    /// Returns what is still wrong: notes are not, and neither is what was repaired.
    pub fn wrong(&self) -> impl Iterator<Item = &Diagnosis> {
        self.findings.iter().filter(|finding| finding.severity > Severity::Note && !finding.fixed)
    }
}

/// Returns `finding` as it is shown, before anything was repaired.
pub(super) fn diagnosis(finding: &Finding) -> Diagnosis {
    let advice = match &finding.remedy {
        Remedy::Advice(advice) => Some(advice.clone()),
        _ => None,
    };
    Diagnosis {
        id: finding.id,
        severity: finding.severity,
        scope: finding.scope,
        skill: finding.skill.clone(),
        agent: finding.agent,
        path: finding.path.display().to_string(),
        message: finding.message.clone(),
        lacks: finding.lacks.clone(),
        fix: fix(finding),
        advice,
        fixed: false,
        failure: None,
    }
}

/// Returns what `--fix` does, in words.
fn fix(finding: &Finding) -> Option<String> {
    Some(match &finding.remedy {
        Remedy::None | Remedy::Advice(_) => return None,
        Remedy::Finish => "finish it".to_owned(),
        Remedy::Sweep => "remove it; the store keeps what it does not have yet".to_owned(),
        Remedy::Discard(_) => "delete it; it is fetched again when needed".to_owned(),
        Remedy::Clear => "remove it".to_owned(),
        Remedy::Steps(steps) => match &steps[..] {
            [Step::Remove { .. }, Step::Link { .. }] => "put a link in its place".to_owned(),
            [Step::Remove { .. }] => "remove it: the installed skill has the same files".to_owned(),
            [Step::Disable { .. }, ..] => "move it to the disabled skills, edits and all".to_owned(),
            [Step::Enable { .. }, ..] => "move it back, edits and all".to_owned(),
            [.., Step::Edit { .. }] => "link it to its directory".to_owned(),
            [Step::Remove { .. }, ..] => "remove it: it is what is locked".to_owned(),
            [Step::Unlink { .. }, ..] => "remove the link".to_owned(),
            [Step::Link { .. }, ..] if finding.id == problem::LINK_MISSING.id => "make the link".to_owned(),
            [Step::Link { .. }, ..] => "put a link to the installed skill in its place".to_owned(),
            [Step::Put { place: Location::Canonical | Location::Disabled, .. }, ..] => {
                "restore it from the store".to_owned()
            }
            _ => "make the copy".to_owned(),
        },
    })
}
