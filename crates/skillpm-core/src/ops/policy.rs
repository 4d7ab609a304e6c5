//! `policy`: shows what may be installed here, and which lines decide.

pub use crate::fetch::policy_check::PolicyDecision;

use schemars::JsonSchema;
use serde::Serialize;

use crate::admission::{Admission, Line, Pending, Permission, PolicySubject, Scripts};
use crate::advice::{Verb, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::policy_check;
use crate::manifest::Manifest;
use crate::scope::Scope;
use crate::scope::state::read_manifest;
use crate::scope_kind::ScopeKind;
use crate::source;
use crate::spec::SourceSpec;

/// A request to explain the policy.
#[derive(Debug, Clone, Default)]
pub struct PolicyRequest {
    /// Sources as they would be typed after `skillpm install`. If empty, only the lines are returned.
    pub sources: Vec<String>,
    /// The scope; `None` means the project.
    pub scope: Option<ScopeKind>,
}

/// The policy that applies. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PolicyOutcome {
    /// All lines in force, in the order in which they are evaluated: the machine's before the manifest's,
    /// then the user's manifest's lines about scripts.
    pub lines: Vec<Line>,
    /// The decisions about each source, in the order of the request.
    pub sources: Vec<Ruling>,
}

/// The ruling about one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Ruling {
    /// The full source.
    pub source: String,
    /// Whether it may be fetched.
    pub admitted: bool,
    /// The lines that decide.
    pub decisions: Vec<PolicyDecision>,
    /// The lines that decide only on installation.
    pub when_installed: Vec<Pending>,
    /// Whether scripts of its skills may run when a person types `skillpm run`.
    pub scripts: Permission,
    /// The line that opens unix sockets to them, if there is one.
    pub unix_sockets: Option<Line>,
}

/// Returns the lines in force and their decisions about sources. Fetches nothing: the age of a source and the
/// findings in its skills are decided on installation, and the lines for that are reported.
///
/// # Errors
///
/// Fails for a text that is not a source, and for a policy that cannot be read.
pub fn policy(context: &Context, request: &PolicyRequest) -> Result<PolicyOutcome> {
    let scope = Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?;
    let (manifest, _) = read_manifest(&scope)?;
    let admission = policy_check::admission(context, &scope, &manifest)?;
    let for_scripts = scripts_admission(context, request, &scope, &manifest)?;
    let mut sources = Vec::new();
    for text in &request.sources {
        let spec: SourceSpec = text.parse().map_err(|error: crate::spec::SpecError| {
            Error::usage(error.to_string()).hint(message!("write it as after ", Verb::Install))
        })?;
        let origin = source::settled(context, scope.as_root(), spec.origin)?;
        let asked =
            PolicySubject { origin: &origin, path: spec.path.as_deref(), reference: spec.reference.as_ref() };
        let subject = policy_check::shown(asked);
        let mut decisions = admission.source(asked);
        if !origin.has_revisions() {
            // Files and sites never report their age, so that is decided already.
            decisions.extend(admission.release(asked, None, 0));
        }
        let admitted = decisions.iter().all(|decision| decision.admitted);
        let decided = |decision| PolicyDecision { subject: subject.clone(), decision };
        let decisions = decisions.into_iter().map(decided).collect();
        let scripts = for_scripts.scripts(asked, Scripts::Allow);
        let unix_sockets = for_scripts.unix_sockets(asked).cloned();
        let when_installed = admission.pending(asked);
        sources.push(Ruling {
            source: subject.clone(),
            admitted,
            decisions,
            when_installed,
            scripts,
            unix_sockets,
        });
    }
    let mut lines: Vec<Line> = admission.lines().into_iter().cloned().collect();
    let others = for_scripts.script_lines().filter(|line| !lines.contains(line)).cloned();
    let others: Vec<Line> = others.collect();
    lines.extend(others);
    Ok(PolicyOutcome { lines, sources })
}

/// Returns the rules for scripts. A skill of either scope may run in a project, so both manifests count,
/// unless one scope was requested.
fn scripts_admission(
    context: &Context,
    request: &PolicyRequest,
    scope: &Scope,
    manifest: &Manifest,
) -> Result<Admission> {
    let mut manifests = vec![(scope.clone(), manifest.clone())];
    if request.scope.is_none() && context.settings.home.is_some() {
        let user = Scope::new(&context.settings, ScopeKind::User)?;
        let manifest = read_manifest(&user)?.0;
        manifests.push((user, manifest));
    }
    policy_check::admission_of(context, scope, manifests.iter().map(|(scope, manifest)| (scope, manifest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;

    /// A machine's policy cannot know the project from which a path is resolved.
    #[test]
    fn a_line_with_a_whole_path_holds_in_every_scope() {
        let world = World::new();
        world.skill("../shared/s", "s");
        let shared = world.root().join("shared").display().to_string();
        for (list, is_admitted) in [("deny", false), ("allow", true)] {
            world.write("../policy.toml", &format!("{list} = ['path:{shared}']\n"));
            let file = world.root().join("policy.toml").display().to_string();
            let settings = world.settings(&[("SKILLPM_POLICY", &file)]);
            for scope in [ScopeKind::Project, ScopeKind::User] {
                let request = PolicyRequest { sources: vec![format!("{shared}/s")], scope: Some(scope) };
                let told = policy(&Context::silent(settings.clone()), &request).expect("works");
                assert_eq!(told.sources[0].admitted, is_admitted, "{list} {scope}");
            }
        }
    }
}
