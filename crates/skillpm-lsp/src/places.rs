//! Addresses of files, what is found in a skill's file by the rules that hold for it, and the skills beside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use skillpm_core::engine::load::skill_file;
use skillpm_core::ops::validate::{Target, ValidateRequest, validate};
use skillpm_core::session::named::known;
use skillpm_format::lint::Finding;
use skillpm_format::skill::find;
use skillpm_sources::context::Context;
use skillpm_sources::error::Result;
use skillpm_sources::fs;

/// The number of directories in which the skill of a file is looked for: those around it.
const DEPTH: usize = 8;

/// Returns the path that the address `uri` means, if it is one of a file.
pub(crate) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = percent_decode_str(&rest[rest.find('/')?..]).decode_utf8().ok()?;
    // `/c:/x` on Windows.
    let is_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { &path[1..] } else { &path }))
}

/// Reports whether `uri` is the address of a skill's file.
pub(crate) fn is_skill(uri: &str) -> bool {
    find::is_skill_file(uri.rsplit(['/', ':']).next().unwrap_or_default())
}

/// Returns the address and the path of the file of the skill that the file `uri` belongs to.
pub(crate) fn skill_of(uri: &str) -> Option<(String, PathBuf)> {
    let path = path(uri)?;
    let mut around = uri;
    path.ancestors().skip(1).take(DEPTH).find_map(|dir| {
        around = around.rsplit_once('/')?.0;
        let file = skill_file(dir).ok()??;
        Some((format!("{around}/{}", file.file_name()?.to_str()?), file))
    })
}

/// Returns `context` as for a program that runs beside the file `path`.
fn beside(context: &Context, path: Option<&Path>) -> Context {
    let mut settings = context.settings.clone();
    if let Some(dir) = path.and_then(Path::parent) {
        dir.clone_into(&mut settings.cwd);
    }
    Context::silent(settings)
}

/// Returns what is found in `text` as the file `path`, by the rules of the manifest above it.
pub(crate) fn findings(context: &Context, path: Option<&Path>, text: &str) -> Result<Vec<Finding>> {
    let context = beside(context, path);
    let target = Target::Text { bytes: text.into(), file: path.map(Path::to_owned) };
    let request = ValidateRequest { targets: vec![target], ..ValidateRequest::default() };
    Ok(validate(&context, &request)?.skills.into_iter().flat_map(|skill| skill.findings).collect())
}

/// Returns the names of the skills that the one in the file `path` can need: those in directories beside it, and those that
/// agents see there.
pub(crate) fn skills(context: &Context, path: Option<&Path>) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = known(&beside(context, path).settings).into_keys().collect();
    let own = path.and_then(Path::parent);
    if let Some(around) = own.and_then(Path::parent) {
        let dirs = fs::entries(around).unwrap_or_default().into_iter();
        let is_skill = |dir: &PathBuf| matches!(skill_file(dir), Ok(Some(_)));
        let skills = dirs.map(|(name, _)| around.join(name)).filter(is_skill);
        names.extend(skills.filter_map(|dir| dir.file_name()?.to_str().map(str::to_owned)));
    }
    let own = own.and_then(Path::file_name).and_then(|name| name.to_str());
    names.retain(|name| Some(name.as_str()) != own);
    names
}
