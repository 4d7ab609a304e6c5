//! The policy check at each step of an installation.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::admission::{Admission, Decision, Dirs, PolicySubject};
use crate::advice::{Verb, message};
use crate::codes;
use crate::context::Context;
use crate::document::Document;
use crate::engine::files::{self, Contents};
use crate::engine::load;
use crate::env;
use crate::error::{Error, Result};
use crate::lint::{self, Profile, Ruleset, SkillFile, Subject};
use crate::manifest::{Manifest, PolicySettings};
use crate::name::SkillName;
use crate::scope::Scope;
use crate::scope::state::{manifest_error, read_text};
use crate::scope_kind::ScopeKind;
use crate::settings::Policies;
use crate::skill::SKILL_FILE;
use crate::source::discover::Candidate;
use crate::source::{self, FetchedSource, Released};
use crate::spec::Origin;
use crate::text::line_column;
use crate::tree::{FileEntry, FileSet};

/// Admits what all policy files admit, and records the lines that decided.
#[derive(Debug, Default)]
pub(crate) struct PolicyCheck {
    admission: Admission,
    decided: Vec<PolicyDecision>,
    /// The same decisions as a set, so that each is reported once however many skills it admitted.
    told: HashSet<PolicyDecision>,
    /// The release times of revisions, as far as they were requested: skills of one source share them.
    released: BTreeMap<(Origin, Option<String>), Released>,
}

/// The decision about a source or a skill.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct PolicyDecision {
    /// The source or the skill.
    pub subject: String,
    /// The decision of a line.
    #[serde(flatten)]
    pub decision: Decision,
}

/// Reads the rules in force for `scope`: those of the machine, those in the named file, and those of the
/// manifest.
pub(crate) fn admission(context: &Context, scope: &Scope, manifest: &Manifest) -> Result<Admission> {
    admission_of(context, scope, [(scope, manifest)])
}

/// Works like [`admission`], with the rules of several manifests. `asked` is the scope of the skills in
/// question.
pub(crate) fn admission_of<'a>(
    context: &Context,
    asked: &Scope,
    scopes: impl IntoIterator<Item = (&'a Scope, &'a Manifest)>,
) -> Result<Admission> {
    let dirs_of = |scope: &Scope| Dirs::new(&scope.root, context.settings.home.as_deref());
    let dirs = dirs_of(asked);
    let mut admission = Admission::new(dirs.clone());
    let Policies { machine, named } = &context.settings.policies;
    if let Some(path) = machine {
        add(&mut admission, path, &dirs)?;
    }
    if let Some(path) = named
        && !add(&mut admission, path, &dirs)?
    {
        return Err(Error::config(format!(
            "`SKILLPM_POLICY` names `{}`, which does not exist",
            path.display()
        ))
        .hint("put the file there, or unset the variable"));
    }
    for (scope, manifest) in scopes {
        let shown = scope.manifest.display().to_string();
        let added = match scope.kind {
            ScopeKind::Project => admission.add_project(&shown, manifest.policy(), &dirs_of(scope)),
            ScopeKind::User => admission.add(&shown, manifest.policy(), &dirs_of(scope)),
        };
        added.map_err(|error| manifest_error(&scope.manifest, error))?;
    }
    Ok(admission)
}

/// Adds the rules in the file at `path`. Returns `false` if it does not exist.
fn add(admission: &mut Admission, path: &Path, dirs: &Dirs) -> Result<bool> {
    let text = read_text(path)?.transpose().map_err(|odd| manifest_error(path, odd.of_manifest()))?;
    let Some(text) = text else { return Ok(false) };
    let settings = PolicySettings::parse(&text);
    let added = settings.and_then(|settings| admission.add(&path.display().to_string(), &settings, dirs));
    added.map_err(|error| manifest_error(path, error))?;
    Ok(true)
}

impl PolicyCheck {
    /// Returns the policy check of `scope`.
    pub(crate) fn new(context: &Context, scope: &Scope, manifest: &Manifest) -> Result<Self> {
        Ok(Self { admission: admission(context, scope, manifest)?, ..Self::default() })
    }

    /// Checks that a source is admitted. Nothing of it has been fetched.
    pub(crate) fn source(&mut self, asked: PolicySubject<'_>) -> Result<()> {
        let decisions = self.admission.source(asked);
        self.decide(|| shown(asked), decisions)
    }

    /// Returns the age, in seconds, that a release of a source must have, if a file has a rule about it.
    pub(crate) fn minimum_age(&self, asked: PolicySubject<'_>) -> Option<i64> {
        self.admission.minimum_age(asked)
    }

    /// Checks that an opened source is old enough.
    pub(crate) fn release(
        &mut self,
        context: &Context,
        asked: PolicySubject<'_>,
        opened: &FetchedSource,
    ) -> Result<()> {
        if !self.admission.asks_for_age(asked) {
            return Ok(());
        }
        let released = match opened.released {
            Some(released) => Some(released),
            None => match self.released(context, asked.origin, opened.revision.as_deref())? {
                Released::At(time) => Some(time),
                Released::OnceOpened | Released::Untold => None,
            },
        };
        let decisions = self.admission.release(asked, released, now());
        self.decide(|| shown(asked), decisions)
    }

    /// Returns why `revision` of a source is not old enough, with the line. Returns `None` if it is, or if no
    /// file has a rule about it. Fetches nothing, so sources that only reveal times on a fetch pass.
    pub(crate) fn held_back(
        &mut self,
        context: &Context,
        asked: PolicySubject<'_>,
        revision: Option<&str>,
    ) -> Result<Option<String>> {
        if !self.admission.asks_for_age(asked) {
            return Ok(None);
        }
        let released = match self.released(context, asked.origin, revision)? {
            Released::At(time) => Some(time),
            Released::Untold => None,
            Released::OnceOpened => return Ok(None),
        };
        Ok(self.too_young(asked, released, ""))
    }

    /// Returns why a release of a source is not old enough, with what follows from it, `so`, and with the line. `released`
    /// is in seconds since 1970. Returns `None` if it is old enough, or if no file has a rule about it.
    pub(crate) fn too_young(
        &self,
        asked: PolicySubject<'_>,
        released: Option<i64>,
        so: &str,
    ) -> Option<String> {
        let decisions = self.admission.release(asked, released, now());
        let refused = decisions.into_iter().find(|decision| !decision.admitted)?;
        Some(format!("{}{so}: {} says so", refused.reason, refused.line))
    }

    /// Returns when `revision` of `origin` was released, as far as the source reports it without being
    /// opened.
    fn released(&mut self, context: &Context, origin: &Origin, revision: Option<&str>) -> Result<Released> {
        let key = (origin.clone(), revision.map(ToOwned::to_owned));
        if let Some(known) = self.released.get(&key) {
            return Ok(*known);
        }
        let released = source::released(context, origin, revision)?;
        self.released.insert(key, released);
        Ok(released)
    }

    /// Checks the findings in a skill.
    pub(crate) fn content(&mut self, name: &SkillName, candidate: &Candidate, set: &FileSet) -> Result<()> {
        let Some(file) = set.get(&candidate.file_name) else { return Ok(()) };
        self.file_set(name, set, file, |bytes| candidate.document(bytes))
    }

    /// Works like [`PolicyCheck::content`]; `read` parses the skill's `file`.
    fn file_set(
        &mut self,
        name: &SkillName,
        set: &FileSet,
        file: &FileEntry,
        read: impl FnOnce(Vec<u8>) -> Arc<Document>,
    ) -> Result<()> {
        if self.admission.audit().is_none() {
            return Ok(());
        }
        let document = read(set.read(file)?);
        self.audit(name, file.path.as_str(), &document, Some(&files::of_set(set)?))
    }

    /// Works like [`PolicyCheck::content`], for the files of a skill, which may be older than the policy.
    pub(crate) fn skill(&mut self, name: &SkillName, set: &FileSet) -> Result<()> {
        match skill_file(set) {
            Some(file) => self.file_set(name, set, file, |bytes| Arc::new(Document::from_bytes(bytes))),
            None => Ok(()),
        }
    }

    /// Works like [`PolicyCheck::content`], for a skill in the directory `dir` that a link is to lead to.
    pub(crate) fn directory(&mut self, name: &SkillName, dir: &Path) -> Result<()> {
        if self.admission.audit().is_none() {
            return Ok(());
        }
        let Some(file) = load::skill_file(dir)? else { return Ok(()) };
        let document = load::document(&file).map_err(|error| error.into_error(name.as_str(), &file))?;
        let file_name = file.file_name().and_then(OsStr::to_str).unwrap_or(SKILL_FILE);
        let files = files::of_skill(dir, Contents::Read);
        self.audit(name, file_name, &document, files.as_deref())
    }

    /// Checks the findings in `document`. If its `files` cannot be determined, rules that examine them find
    /// nothing.
    fn audit(
        &mut self,
        name: &SkillName,
        file_name: &str,
        document: &Document,
        files: Option<&[SkillFile]>,
    ) -> Result<()> {
        let Some((line, threshold)) = self.admission.audit() else { return Ok(()) };
        // The author does not choose the name under which it is installed.
        let subject = Subject::new(document, None, file_name);
        let subject = match files {
            Some(files) => subject.with_files(files),
            None => subject,
        };
        let found = lint::check_with(&subject, &Ruleset::new(Profile::Spec));
        let worst = found.iter().filter(|finding| finding.severity >= threshold).max_by_key(|f| f.severity);
        let (admitted, reason) = match worst {
            None => (true, "has no findings that prevent it".to_owned()),
            Some(finding) => {
                let (at, column) = line_column(document.text(), finding.span.start);
                (
                    false,
                    format!(
                        "has a finding: `{file_name}`, {at}:{column}: {} ({})",
                        finding.message, finding.rule
                    ),
                )
            }
        };
        let decision = Decision { admitted, reason, line: line.clone(), hint: None };
        if !decision.admitted {
            let error = refused(name.as_str(), &decision);
            return Err(error.hint(message!(
                "nothing was changed; ",
                Verb::Validate,
                " shows all findings of a skill on this machine"
            )));
        }
        self.decide(|| name.to_string(), vec![decision])
    }

    /// Returns the decisions, in the order of the checks.
    pub(crate) fn decided(self) -> Vec<PolicyDecision> {
        self.decided
    }

    fn decide(&mut self, subject: impl FnOnce() -> String, decisions: Vec<Decision>) -> Result<()> {
        // Usually no file decides anything, and there may be thousands of skills.
        if decisions.is_empty() {
            return Ok(());
        }
        let subject = subject();
        for decision in decisions {
            if !decision.admitted {
                let more = || message!(Verb::Policy.call().word(&subject), " shows every line that applies");
                let hint = decision.hint.clone().unwrap_or_else(more);
                return Err(refused(&subject, &decision).hint(message!("nothing was changed; ", hint)));
            }
            let decided = PolicyDecision { subject: subject.clone(), decision };
            if self.told.insert(decided.clone()) {
                self.decided.push(decided);
            }
        }
        Ok(())
    }
}

/// Returns the skill file of `set`: `SKILL.md`, otherwise the first one whose name differs only in case.
pub(crate) fn skill_file(set: &FileSet) -> Option<&FileEntry> {
    let mut files = set.files().iter();
    set.get(SKILL_FILE).or_else(|| files.find(|file| file.path.as_str().eq_ignore_ascii_case(SKILL_FILE)))
}

/// Returns the current time, in seconds since 1970.
pub(crate) fn now() -> i64 {
    i64::try_from(env::now()).unwrap_or(i64::MAX)
}

/// The line that refused, as the cause of an error.
#[derive(Debug, thiserror::Error)]
#[error("{0} says so")]
struct RefusalReason(String);

fn refused(subject: &str, decision: &Decision) -> Error {
    let error = Error::integrity(format!("`{subject}` {}", decision.reason)).coded(codes::NOT_ADMITTED);
    error.because(RefusalReason(decision.line.to_string()))
}

/// Returns the name of a source in messages.
pub(crate) fn shown(asked: PolicySubject<'_>) -> String {
    let spec = crate::spec::SourceSpec {
        origin: asked.origin.clone(),
        path: asked.path.map(ToOwned::to_owned),
        reference: asked.reference.cloned(),
        skill: None,
    };
    spec.to_string()
}
