//! What a client learns about the server when it connects: the catalog of skills.

use skillpm_core::engine::catalog::{CatalogForm, Field, Options};
use skillpm_sources::error::Result;

use crate::offer::Offer;

/// The maximum number of tokens of the catalog.
const BUDGET: usize = 4_000;

/// Returns the instructions: when to load which skill. Returns `None` if there are no skills
/// (S4-4), or no tools to load one with.
pub(crate) fn instructions(offer: &Offer) -> Result<Option<String>> {
    let view = offer.view()?;
    let mut skills = view.for_models().map(|served| &served.skill).cloned().collect::<Vec<_>>();
    skills.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
    if skills.is_empty() || offer.no_tools {
        return Ok(None);
    }
    let options = Options {
        form: CatalogForm::Markdown,
        fields: vec![Field::Description],
        budget: Some(BUDGET),
        ..Options::default()
    };
    let catalog = skillpm_core::engine::catalog::catalog(&skills, &options);
    Ok(Some(format!(
        "This server has skills: instructions, with files, for particular kinds of work. Before you start a task, check \
         whether one of the skills below fits it. If one does, call `load_skill` with its name first and follow the \
         instructions that it returns. They are more specific than what you know in general. Load a skill once per \
         task, and only a skill that fits.\n\n{}",
        catalog.text()
    )))
}
