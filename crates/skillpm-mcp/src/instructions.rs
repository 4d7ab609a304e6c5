//! What a client learns about the server when it connects: how to find a skill, and as many skills as there is room for.

use std::sync::Arc;

use skillpm_core::engine::catalog::{CatalogForm, Field, Measure, Options, catalog};
use skillpm_sources::error::Result;

use crate::offer::Offer;

/// The maximum number of bytes. Claude Code shows no more of a server's instructions to its model.
const MAX: usize = 2_048;

const START: &str = "This server has skills: instructions, with files, for particular kinds of work. Before you start a \
                     task, call `search_skills` with what the task is about. If a skill fits, call `load_skill` with its \
                     name and follow what it returns: it is more specific than what you know in general. Load only what \
                     fits, once per task.\n\n";

/// Returns the instructions: when to load which skill. Returns `None` if there are no skills
/// (S4-4), or no tools to load one with.
pub(crate) fn instructions(offer: &Offer) -> Result<Option<String>> {
    let view = offer.view()?;
    // The project's skills come first.
    let skills: Vec<_> = view.for_models().map(|served| Arc::clone(&served.skill)).collect();
    if skills.is_empty() || offer.no_tools {
        return Ok(None);
    }
    let options = Options {
        // In Markdown nothing that an author writes is a tag.
        form: CatalogForm::Markdown,
        fields: vec![Field::Description],
        budget: Some(MAX - START.len()),
        measure: Measure::Bytes,
        search: Some("search_skills".to_owned()),
        ..Options::default()
    };
    Ok(Some(format!("{START}{}", catalog(&skills, &options).text())))
}
