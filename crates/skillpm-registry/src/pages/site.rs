//! The pages as files, for any host of static files.

use std::path::Path;

use super::{Address, Query, Shown};
use crate::app::App;
use crate::error::Result;
use crate::registry::{Head, SearchIndex, files};
use skillpm_core::fs;

/// Writes the pages about all public skills of `app` to the directory `out`. Returns their number.
///
/// # Errors
///
/// Fails if an archive cannot be read, or a file cannot be written.
pub(crate) async fn write(app: &App, out: &Path) -> Result<usize> {
    let skills = app.catalog.all().into_iter().filter(|skill| skill.is_listed()).collect();
    let shown = Shown::new(skills);
    let addresses = addresses(&shown);
    for address in &addresses {
        let page = app.pages.page(app, &shown, address, &Query::default(), false).await?;
        fs::write_small(&out.join(address.path()), &page.bytes)?;
    }
    let heads: Vec<Head> = shown.skills.iter().filter_map(|skill| skill.head()).collect();
    fs::write_small(&out.join(files::SEARCH), &SearchIndex::of(&heads).to_bytes())?;
    Ok(addresses.len())
}

/// Returns the addresses of all pages. Of the differences only those between neighbours are pages.
fn addresses(shown: &Shown) -> Vec<Address> {
    let mut all = vec![Address::Index, Address::Feed];
    all.extend(super::asset_names().map(Address::Static));
    for skill in &shown.skills {
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
