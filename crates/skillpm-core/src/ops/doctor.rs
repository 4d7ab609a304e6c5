//! `doctor`: what is broken, and what of it can be repaired without losing anything.

mod examine;
mod machine;
mod outcome;
mod pending;
mod prerequisites;
mod repair;

use std::collections::BTreeSet;

use self::examine::{Doctor, key};
use self::outcome::diagnosis;
pub use self::outcome::{Diagnosis, DoctorOutcome};
use self::repair::Repairs;
use crate::context::Context;
use crate::error::Result;
use crate::scope::Scopes;
use crate::scope_kind::ScopeKind;
use crate::store::Store;

/// A request to examine scopes.
#[derive(Debug, Clone, Default)]
pub struct DoctorRequest {
    /// Only this scope; both, the store and the downloads if it is `None`.
    pub scope: Option<ScopeKind>,
    /// Repair what can be repaired without losing anything.
    pub fix: bool,
    /// Show what would be repaired.
    pub dry_run: bool,
}

/// Looks for what is broken, and repairs it where that was asked for and is safe.
///
/// # Errors
///
/// Fails if a scope that was asked for is not there. What is wrong is no error: it is in the outcome.
pub fn doctor(context: &Context, request: &DoctorRequest) -> Result<DoctorOutcome> {
    let mut scopes = Scopes::new(&context.settings, request.scope)?;
    scopes.settle_twins(&context.settings)?;
    let doctor = Doctor { context, store: Store::new(&context.settings).ok(), scopes: scopes.there };
    let whole = request.scope.is_none();
    let before = doctor.look(whole);
    let mut repairs = Repairs::default();
    if request.fix && !request.dry_run {
        for scope in &doctor.scopes {
            let here = before.iter().filter(|finding| finding.scope == Some(scope.kind));
            if here.clone().any(|finding| finding.remedy.is_safe()) {
                doctor.repair(scope, &mut repairs);
            }
        }
        for finding in before.iter().filter(|finding| finding.scope.is_none()) {
            if let Err(error) = doctor.clear(finding) {
                repairs.failed(finding, &error);
            }
        }
    }
    let mut findings: Vec<_> = before.iter().map(diagnosis).collect();
    if request.fix && !request.dry_run {
        // The state now counts, not the attempts.
        let after = doctor.look(whole);
        let still: BTreeSet<_> = after.iter().map(key).collect();
        for (finding, diagnosis) in before.iter().zip(&mut findings) {
            diagnosis.fixed = !still.contains(&key(finding));
            diagnosis.failure = repairs.failures.get(&key(finding)).cloned().filter(|_| !diagnosis.fixed);
        }
        let known: BTreeSet<_> = before.iter().map(key).collect();
        findings.extend(after.iter().filter(|finding| !known.contains(&key(finding))).map(diagnosis));
    }
    Ok(DoctorOutcome { findings, dry_run: request.dry_run, kept: repairs.kept })
}
