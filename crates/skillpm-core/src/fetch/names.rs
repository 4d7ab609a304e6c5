//! The names of skills that come.

use crate::advice::{Opt, Warning, message};
use crate::codes;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::lint;
use crate::name::SkillName;
use crate::source::discover::Candidate;

/// Returns the name under which a skill is installed: its own if the specification accepts it, otherwise that
/// of its directory, otherwise a cleaned-up form of its own.
pub(crate) fn install_name(candidate: &Candidate, root: &str) -> Result<SkillName> {
    let directory = candidate.directory_name(root);
    let place = if candidate.path.is_empty() {
        candidate.file_name.clone()
    } else {
        format!("{}/{}", candidate.path, candidate.file_name)
    };
    let meta = candidate
        .meta
        .as_ref()
        .map_err(|problem| Error::integrity(format!("`{place}` cannot be loaded: {problem}")))?;
    if leads_elsewhere(&meta.name) {
        return Err(Error::integrity(format!("`{place}` has the name `{}`, which is a path", meta.name))
            .hint(message!(
                "such a name is no accident; install it only if you know why, with ",
                (Opt::As, "NAME")
            )));
    }
    let name = SkillName::new(&meta.name)
        .or_else(|_| SkillName::new(directory))
        .ok()
        .or_else(|| SkillName::slug(&meta.name))
        .or_else(|| SkillName::slug(directory))
        .ok_or_else(|| {
            Error::integrity(format!("`{place}` has the name `{}`, which has no usable character", meta.name))
        })?;
    check_alphabet(&name)?;
    Ok(name)
}

/// Reports whether a name is a path that leads out of its directory. It would be harmless here, but such a
/// name is meant to do harm somewhere.
fn leads_elsewhere(name: &str) -> bool {
    let mut parts = name.split(['/', '\\']);
    name.starts_with(['/', '\\']) || parts.any(|part| matches!(part, "." | ".."))
}

/// Refuses a name that imitates another one.
pub(crate) fn check_alphabet(name: &SkillName) -> Result<()> {
    if let Some(c) = name.homoglyph() {
        return Err(Error::integrity(format!(
            "the name `{name}` mixes alphabets: `{c}` (U+{:04X}) looks like a Latin letter but is not",
            u32::from(c)
        ))
        .hint(message!("install it only if you know why, under another name with ", (Opt::As, "NAME"))));
    }
    Ok(())
}

/// Returns the warning about deviations from the specification in a skill that can be loaded.
pub(crate) fn off_specification(
    name: &SkillName,
    directory: &str,
    file_name: &str,
    document: &Document,
) -> Option<Warning> {
    let subject = lint::Subject::new(document, Some(directory), file_name);
    let mut errors = lint::check(&subject);
    errors.retain(|finding| finding.severity == lint::Severity::Error);
    let first = errors.first()?;
    let more = if errors.len() > 1 { format!(" (and {} more)", errors.len() - 1) } else { String::new() };
    let told = format!("`{name}` does not follow the specification: {}{more}", first.message);
    Some(Warning::new(codes::OFF_SPECIFICATION, told))
}
