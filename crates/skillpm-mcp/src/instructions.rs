//! What a client learns about the server when it connects: how to find a skill, and as many skills as there is room for.

use skillpm_core::engine::catalog::{CatalogForm, Field, Measure, Options};
use skillpm_core::toolkit::{SEARCH, Toolkit};
use skillpm_sources::error::Result;

/// The maximum number of bytes. Claude Code shows no more of a server's instructions to its model.
const MAX: usize = 2_048;

const START: &str = "This server has skills: instructions, with files, for particular kinds of work. Before you start a \
                     task, call `search_skills` with what the task is about. If a skill fits, call `load_skill` with its \
                     name and follow what it returns: it is more specific than what you know in general. Load only what \
                     fits, once per task.\n\n";

/// Returns the instructions: when to load which skill. Returns `None` if there are no skills
/// (S4-4), or no tools to load one with.
pub(crate) fn instructions(kit: &Toolkit) -> Result<Option<String>> {
    if kit.selection.no_tools {
        return Ok(None);
    }
    let catalog = kit.catalog(&Options {
        // In Markdown nothing that an author writes is a tag.
        form: CatalogForm::Markdown,
        fields: vec![Field::Description],
        budget: Some(MAX - START.len()),
        measure: Measure::Bytes,
        search: Some(SEARCH.to_owned()),
        ..Options::default()
    })?;
    Ok((catalog.count > 0).then(|| format!("{START}{}", catalog.text())))
}
