//! The store and the downloads: what is damaged, left over or closed to this user.

use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::fs;
use crate::ops::cache::REST_AGE;
use crate::scope::health::{Finding, Remedy, problem};
use crate::store::{KeptTree, Store, downloads};

/// Returns what is wrong in the store and among the downloads, which are in `cache`, the worst kind first.
pub(super) fn look(store: Option<&Store>, cache: Option<&Path>) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(store) = store {
        found.extend(closed(store.root()));
        match store.objects() {
            Ok(objects) => found.extend(store.damaged(objects).iter().map(|digest| object(store, digest))),
            Err(error) => found.push(unreadable(store.root(), &error)),
        }
        match store.kept() {
            Ok(kept) => found.extend(kept.iter().filter_map(kept_copy)),
            Err(error) => found.push(unreadable(store.root(), &error)),
        }
        for stage in store.dead_stages() {
            let message = format!("`{}` was left behind by an interrupted run", stage.display());
            found.push(Finding::new(&problem::STORE_STAGE, stage, message).remedy(Remedy::Clear));
        }
    }
    if let Some(cache) = cache {
        found.extend(closed(cache));
        match rests(cache) {
            Ok(rests) => found.extend(rests),
            Err(error) => found.push(unreadable(cache, &error)),
        }
    }
    found.sort_by(|a, b| a.order().cmp(&b.order()));
    found
}

fn object(store: &Store, digest: &Digest) -> Finding {
    let path = store.path(digest);
    if !store.is_readable(digest) {
        let message = format!("`{}` cannot be read by this user", path.display());
        let finding = Finding::new(&problem::STORE_DAMAGED, &path, message);
        return finding.advice("check what it is, who owns it, and its mode");
    }
    damaged(&path).remedy(Remedy::Discard(*digest))
}

fn kept_copy(kept: &KeptTree) -> Option<Finding> {
    let changed = || {
        damaged(&kept.path)
            .advice("it holds a copy that you edited: take what you need of it, then remove it")
    };
    (!kept.is_whole()).then(changed)
}

fn damaged(path: &Path) -> Finding {
    let message = format!("`{}` does not match the digest in its name", path.display());
    Finding::new(&problem::STORE_DAMAGED, path, message)
}

/// Returns what is worth nothing among the downloads.
fn rests(cache: &Path) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    let rest = |path: PathBuf| {
        let message = format!("`{}` was left behind by an interrupted run", path.display());
        Finding::new(&problem::DOWNLOAD_REST, path, message).remedy(Remedy::Clear)
    };
    for room in downloads::rooms(cache)? {
        for unit in downloads::units(&cache.join(room))? {
            if unit.is_rest(REST_AGE) {
                found.push(rest(unit.path));
            } else if let Some(reason) = unit.damage() {
                let message = format!("`{}` cannot be opened: {reason}", unit.path.display());
                found
                    .push(Finding::new(&problem::DOWNLOAD_DAMAGED, unit.path, message).remedy(Remedy::Clear));
            }
        }
    }
    found.extend(downloads::gone(cache)?.into_iter().map(rest));
    Ok(found)
}

fn closed(dir: &Path) -> Option<Finding> {
    let is_there = matches!(fs::kind(dir), Ok(Some(_)));
    (is_there && !fs::may_change(dir)).then(|| {
        let message = format!("`{}` is not writable", dir.display());
        Finding::new(&problem::DIRECTORY_UNWRITABLE, dir, message)
            .advice("skills are fetched again each time: change its owner or mode")
    })
}

fn unreadable(dir: &Path, error: &Error) -> Finding {
    Finding::new(&problem::DIRECTORY_UNREADABLE, dir, error.to_string())
        .advice("check who owns it, and its mode")
}
