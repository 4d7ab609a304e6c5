//! Where what is needed lies: a path of the same source, a place of this machine, or an address.

use super::{Needer, Pick};
use crate::error::{Error, Result};
use crate::ops::install::restore::Worker;
use crate::ops::install::select::install_name;
use crate::source::discover::Candidate;
use crate::source::{Opened, local, settled};
use crate::spec::{Origin, SourceSpec, Transport};

/// The skill in the directory `path` of the source `spec`.
pub(super) fn place_of(spec: &SourceSpec, path: &str) -> SourceSpec {
    let path = Some(path.to_owned()).filter(|path| !path.is_empty());
    SourceSpec { path, skill: None, ..spec.clone() }
}

/// Where `spec` leads that `needer` names, and at which revision its source is looked into. A path leads from
/// the directory of the skill to another one of its source.
///
/// # Errors
///
/// A path out of the source, for all but skills of this machine, where it may lead to any directory.
pub(super) fn settle<'a>(
    worker: &Worker<'_>,
    needer: &'a Needer,
    spec: &SourceSpec,
) -> Result<(SourceSpec, Option<&'a str>)> {
    let is_here = |origin: &Origin| match origin {
        Origin::Local(_) => true,
        Origin::Git(url) => url.transport() == Transport::File,
        _ => false,
    };
    let own = &needer.place.origin;
    if let Origin::Local(text) = &spec.origin {
        if let Some(path) = join(needer.place.path.as_deref().unwrap_or_default(), text) {
            return Ok((place_of(&needer.place, &path), needer.revision.as_deref()));
        }
        if let Origin::Local(root) = own {
            let from = local::resolve(&worker.context().settings, worker.scope(), root)?;
            let from = from.join(needer.place.path.as_deref().unwrap_or_default());
            let origin =
                if text.starts_with('~') { text.clone() } else { from.join(text).display().to_string() };
            let origin = settled(worker.context(), worker.scope(), Origin::Local(origin))?;
            return Ok((SourceSpec { origin, ..spec.clone() }, None));
        }
    }
    if is_here(&spec.origin) && !is_here(own) {
        return Err(Error::integrity(format!(
            "it leads out of `{}`, to a place of this machine",
            own.typed()
        ))
        .hint("a skill may need what lies in its own source, or what has an address that others can reach"));
    }
    let origin = settled(worker.context(), worker.scope(), spec.origin.clone())?;
    Ok((SourceSpec { origin, ..spec.clone() }, None))
}

/// The directory to which the relative path `text` leads from `dir`, if that is inside the source.
fn join(dir: &str, text: &str) -> Option<String> {
    if !text.starts_with('.') || text.contains(['\\', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Takes `candidate` of `opened` if the policy lets it in.
pub(super) fn deliver(
    worker: &mut Worker<'_>,
    spec: SourceSpec,
    opened: Opened,
    candidate: Candidate,
) -> Result<Pick> {
    worker.admit_now(&place_of(&spec, &candidate.path))?;
    let (opened, candidate) = match opened.deliver(&candidate)? {
        Some(delivered) => delivered,
        None => (opened, candidate),
    };
    let name = install_name(&candidate, &opened.name)?;
    Ok(Pick { name, spec: SourceSpec { skill: None, ..spec }, opened, candidate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_its_source() {
        let join = |dir, text| join(dir, text);
        assert_eq!(join("skills/report", "../base").as_deref(), Some("skills/base"));
        assert_eq!(join("report", "../").as_deref(), Some(""));
        assert_eq!(join("", "./skills//a/./b/..").as_deref(), Some("skills/a"));
        for out in ["../../../base", "../../x/../..", "/etc", "~/x", "..\\base", "./a\0"] {
            assert_eq!(join("skills/report", out), None, "{out:?}");
        }
    }
}
