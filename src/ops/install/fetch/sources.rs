//! Sources as they were typed, opened if the policy lets them in.

use crate::admission::Asked;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fs::{self, Kind};
use crate::install::scope::Scope;
use crate::ops::gate::Gate;
use crate::ops::install::select::{available, candidates, select};
use crate::ops::install::{Available, InstallRequest};
use crate::source::{self, Opened};
use crate::spec::{Origin, SourceSpec, SpecError};
use crate::text::shell_word;

/// Reads a source as it was typed, with what flags say of it.
///
/// # Errors
///
/// A text that is no source; a path that is not there; a revision said twice or for a path.
pub(in crate::ops::install) fn parse(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    text: &str,
) -> Result<SourceSpec> {
    let mut spec: SourceSpec = text.parse().map_err(|error: SpecError| {
        let told = Error::usage(error.to_string());
        match error {
            SpecError::Credentials => told.hint(
                "the part before `@` in a host is a login; name a skill after a slash: `https://host/@skill`",
            ),
            _ => told.hint(
                "a source is `owner/repo`, an address of a git repository, a file or a site, an installed package such as `npm:name`, or a path such as `./skills`",
            ),
        }
    })?;
    if let Some(reference) = &request.reference {
        if let Some(said) = &spec.reference {
            return Err(Error::usage(format!(
                "the revision is given twice: `{}` and `{}`",
                said.name(),
                reference.name()
            ))
            .hint("remove `#` from the source, or leave out the flag"));
        }
        #[cfg(feature = "git")]
        if let Origin::Local(path) = &spec.origin
            && let Some(origin) = source::git::at_path(context, scope, path)?
        {
            spec.origin = origin;
            spec.reference = Some(reference.clone());
            return Ok(spec);
        }
        if !spec.origin.has_revisions() {
            let what = if matches!(spec.origin, Origin::Local(_)) { "is a path, so it has" } else { "has" };
            return Err(Error::usage(format!("`{text}` {what} no revisions"))
                .hint("leave out `--tag`, `--branch` or `--rev`"));
        }
        spec.reference = Some(reference.clone());
    }
    check_no_directory(context, text, &spec)?;
    spec.origin = source::settled(context, scope, spec.origin)?;
    Ok(spec)
}

/// Refuses a text such as `skills/pdf` that is read as a repository where a directory of that path lies here: who left
/// out `./` would get a stranger's skills.
///
/// # Errors
///
/// Where there is one.
pub(in crate::ops) fn check_no_directory(context: &Context, text: &str, spec: &SourceSpec) -> Result<()> {
    let is_bare = matches!(spec.origin, Origin::GitHub(_)) && !text.contains(':');
    let typed = text.trim().trim_end_matches('/');
    if !is_bare || !matches!(fs::kind(&context.settings.cwd.join(typed)), Ok(Some(Kind::Directory))) {
        return Ok(());
    }
    Err(Error::usage(format!("`{typed}` is a directory here, but could also be a repository on GitHub"))
        .hint(format!(
            "`{}` is the directory, `{}` the repository",
            shell_word(format!("./{typed}")),
            shell_word(format!("github:{typed}")),
        )))
}

/// Opens the source `spec`, if `gate` lets it in.
///
/// # Errors
///
/// As [`source::open`]; a policy that refuses the source.
pub(in crate::ops) fn open(
    context: &Context,
    scope: &Scope,
    spec: &SourceSpec,
    gate: &mut Gate,
) -> Result<Opened> {
    gate.source(asked(spec))?;
    let opened = source::open(context, scope, &spec.origin, source::Wanted::Now(spec.reference.as_ref()))?;
    gate.release(context, asked(spec), &opened)?;
    Ok(opened)
}

/// What to tell of a source that anybody on the way could change.
pub(in crate::ops) fn unprotected(origin: &Origin) -> Option<String> {
    let told =
        || format!("`{}` was read over `http`: anyone on the network could have changed it", origin.typed());
    (!origin.is_private()).then(told)
}

/// What a policy is asked about `spec`.
pub(in crate::ops) fn asked(spec: &SourceSpec) -> Asked<'_> {
    Asked { origin: &spec.origin, path: spec.path.as_deref(), reference: spec.reference.as_ref() }
}

/// The skills that `request` and `spec` name; none where all are meant that there are.
pub(super) fn names_of(request: &InstallRequest, spec: &SourceSpec) -> Vec<String> {
    request.skills.iter().chain(&spec.skill).cloned().collect()
}

/// Lists what the source `spec` holds, or what of it `request` names.
///
/// # Errors
///
/// As [`open`] and [`candidates`]; a name that no skill or more than one has.
pub(in crate::ops::install) fn list(
    context: &Context,
    scope: &Scope,
    request: &InstallRequest,
    spec: &SourceSpec,
    gate: &mut Gate,
) -> Result<Vec<Available>> {
    let opened = open(context, scope, spec, gate)?;
    let mut found = candidates(&opened, spec)?;
    let names = names_of(request, spec);
    if !names.is_empty() {
        found = select(context, spec, &opened, found, &names, true)?;
    }
    Ok(found.iter().map(|c| available(spec, &opened.name, c)).collect())
}
