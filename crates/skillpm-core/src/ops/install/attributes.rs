//! `.agents/.gitattributes`: without it, git changes the line endings of skills on some machines, where none
//! of them then matches the lockfile.

use std::path::{Path, PathBuf};

use crate::advice::Warning;
use crate::codes;
use crate::context::Context;
use crate::fs::{self, Kind};
use crate::git::is_ignored;
use crate::manifest::Manifest;
use crate::scope::attributes::{FILE, LINE, TEXT};
use crate::scope::changes::{PathChange, PathEffect};
use crate::scope::{Scope, repository_of};
use crate::scope_kind::ScopeKind;

/// The largest file of attributes that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The change of the file that keeps git from changing the bytes of skills.
pub(super) struct Attributes {
    /// The path that changes.
    pub(super) change: PathChange,
    text: String,
}

impl Attributes {
    /// Plans to add the line for the skills of `scope`, if they are in a repository that does not ignore them and
    /// `manifest` does not forbid it. `comes` says whether a skill is installed; else there may be none. Keeps what people
    /// wrote in the file. Returns `None` if nothing changes.
    pub(super) fn plan(context: &Context, scope: &Scope, manifest: &Manifest, comes: bool) -> Option<Self> {
        if !comes && !matches!(fs::kind(&scope.skills_dir()), Ok(Some(Kind::Directory))) {
            return None;
        }
        let (file, text) = wanted(context, scope, manifest)?;
        let is_there = matches!(fs::kind(&file), Ok(Some(_)));
        let effect = if is_there { PathEffect::Replaced } else { PathEffect::Created };
        Some(Self { change: PathChange::new(&context.settings, scope, file, effect), text })
    }

    /// Writes the file. Returns a warning if it could not be written.
    pub(super) fn write(self) -> Option<Warning> {
        let error = fs::write_atomic(&self.change.path, self.text.as_bytes()).err()?;
        let told = format!("{error}: {}; git may change the line ends of skills", error.source);
        Some(Warning::new(codes::ATTRIBUTES_UNWRITABLE, told))
    }
}

/// Returns the file and its new text, if it lacks the line and should have it.
fn wanted(context: &Context, scope: &Scope, manifest: &Manifest) -> Option<(PathBuf, String)> {
    let skills = scope.skills_dir();
    let is_wanted = scope.kind == ScopeKind::Project
        && manifest.agents().gitattributes != Some(false)
        && scope.check_inside(&skills).is_ok();
    if !is_wanted {
        return None;
    }
    let file = scope.work_dir().join(FILE);
    let new = missing(&file)?;
    repository_of(&fs::real_path(&scope.root).ok()??, |_| true).ok()??;
    // Git does not change files that it does not track.
    (!is_ignored(&context.settings, &scope.root, &skills)?).then_some((file, new))
}

/// Returns the new content of the file if it lacks the line. Returns `None` if it has it, or if we do not
/// write to it.
fn missing(file: &Path) -> Option<String> {
    match fs::kind(file).ok()? {
        None => return Some(TEXT.to_owned()),
        Some(Kind::File) => {}
        Some(_) => return None,
    }
    let old = String::from_utf8(fs::read_capped(file, MAX_FILE).ok()??).ok()?;
    if old.lines().any(|line| line.trim_end() == LINE) {
        return None;
    }
    let end = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
    Some(format!("{old}{end}{TEXT}"))
}
