//! `install --list`: what sources have.

use super::outcome::InstallOutcome;
use super::request::InstallRequest;
use super::{choose, marketplace, project, typed};
use crate::context::Context;
use crate::error::Result;
use crate::fetch::fetcher::Sources;
use crate::scope::Scope;
use crate::scope::state::read_manifest;
use crate::scope_kind::ScopeKind;

/// Lists the skills in the sources of `request`.
pub(super) fn list(context: &Context, request: &InstallRequest) -> Result<InstallOutcome> {
    let scope = Scope::new(&context.settings, request.scope.unwrap_or(ScopeKind::Project))?;
    if request.from_project && request.marketplace.is_none() {
        return project::list(context, &scope, request);
    }
    let manifest = read_manifest(&scope)?.0;
    let specs = typed::parse_all(context, &scope, &manifest, request)?;
    let mut sources = Sources::new(context, &scope, &manifest)?;
    match &request.marketplace {
        Some(typed) => marketplace::list(&mut sources, request, typed),
        None => choose::list(&mut sources, request, &specs),
    }
}
