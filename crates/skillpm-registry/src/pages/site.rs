//! The pages as files, for any host of static files.

use std::collections::BTreeSet;
use std::path::Path;

use skillpm_format::text::and_more;
use skillpm_sources::fs;

use super::{Address, Pages, Query};
use crate::app::{App, VisibleSkills};
use crate::codes;
use crate::error::{Error, Result};
use crate::registry::files;

/// The list of the files of a site, by which the next run removes obsolete pages.
const LIST: &str = ".skillpm-site";
/// The largest list that is read, in bytes.
const MAX_LIST: u64 = 1 << 30;
/// The number of paths that an error names.
const SHOWN: usize = 20;

/// The result of writing a site.
#[derive(Debug)]
pub(crate) struct Written {
    /// The number of pages.
    pub(crate) pages: usize,
    /// The files that were no pages of an earlier run and were replaced.
    pub(crate) replaced: Vec<String>,
}

/// Writes the pages about all public skills of `app` to the directory `out`, and removes obsolete pages of an earlier run.
/// Other files stay, unless one is in the place of a page and `force` replaces it. Fails, before anything is written, if a
/// file that no earlier run wrote is in the place of a page and is not to be replaced. Fails too if an archive cannot be
/// read, or a file cannot be written or removed.
pub(crate) async fn write(app: &App, out: &Path, force: bool) -> Result<Written> {
    let skills = app.catalog.all().into_iter().filter(|skill| skill.is_listed()).collect();
    let visible = VisibleSkills::new(skills);
    let addresses = addresses(&visible);
    let paths: BTreeSet<String> = addresses.iter().map(Address::path).collect();
    let earlier = earlier(out)?;
    let mut replaced = Vec::new();
    for path in paths.difference(&earlier) {
        if fs::kind(&out.join(path))?.is_some() {
            replaced.push(path.clone());
        }
    }
    if !force && !replaced.is_empty() {
        return Err(foreign(out, &replaced));
    }
    // If this run is cut off, the next one knows the files of both.
    write_list(out, paths.union(&earlier))?;
    let pages = Pages::new()?;
    for address in &addresses {
        let page = pages.page(app, &visible, address, &Query::default(), false).await?;
        fs::write_small(&out.join(address.path()), &page.bytes)?;
    }
    for path in earlier.difference(&paths) {
        remove(out, path)?;
    }
    write_list(out, paths.iter())?;
    Ok(Written { pages: addresses.len(), replaced })
}

/// Returns the error for files in the places of pages that no earlier run wrote.
fn foreign(out: &Path, paths: &[String]) -> Error {
    let shown: Vec<_> = paths.iter().map(|path| format!("`{path}`")).collect();
    let message = format!(
        "`{}` has files in the places of pages, which `site` did not write: {}",
        out.display(),
        and_more(&shown, SHOWN)
    );
    Error::usage(message)
        .coded(codes::OUTPUT_DIFFERS)
        .hint("name another directory; `--force` replaces these files")
}

/// Returns the paths of the pages of an earlier run. Ignores lines that are not the path of a page.
fn earlier(out: &Path) -> Result<BTreeSet<String>> {
    let bytes = fs::read_capped(&out.join(LIST), MAX_LIST)?.unwrap_or_default();
    let is_page = |path: &&str| {
        Address::of(&format!("/{path}")).is_some_and(|address| address.path() == **path)
            && path.split('/').all(|part| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':']))
    };
    Ok(String::from_utf8_lossy(&bytes).lines().filter(is_page).map(str::to_owned).collect())
}

fn write_list<'a>(out: &Path, paths: impl Iterator<Item = &'a String>) -> Result<()> {
    let lines: String = paths.flat_map(|path| [path, "\n"]).collect();
    Ok(fs::write_small(&out.join(LIST), lines.as_bytes())?)
}

/// Removes a page, and the directories above it that are empty then.
fn remove(out: &Path, path: &str) -> Result<()> {
    fs::remove_if_there(&out.join(path))?;
    let mut dir = Path::new(path).parent();
    while let Some(above) = dir.filter(|above| !above.as_os_str().is_empty()) {
        if !fs::remove_dir_if_empty(&out.join(above)) {
            break;
        }
        dir = above.parent();
    }
    Ok(())
}

/// Returns the addresses of all pages. Of the differences only those between neighbours are pages.
fn addresses(visible: &VisibleSkills) -> Vec<Address> {
    let mut all = vec![Address::Index, Address::Feed];
    all.extend(super::asset_names().map(Address::Static));
    for skill in &visible.skills {
        let key = |at: usize| files::version_key(&skill.records()[at].version);
        all.push(Address::Skill(skill.name().clone()));
        for at in 0..skill.records().len() {
            all.push(Address::Version(skill.name().clone(), key(at)));
            if at > 0 {
                all.push(Address::Diff(skill.name().clone(), key(at - 1), key(at)));
            }
        }
    }
    all
}
