//! Words among the sources of a request that are names of skills.

use std::borrow::Cow;

use super::request::InstallRequest;
use crate::advice::{Opt, message};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::fetch::registries::RegistryWord;
use crate::fs;
use crate::spec::{SourceSpec, SpecError};

/// Returns `request` with those words among its sources that are not sources turned into names of skills, if
/// real sources accompany them, as in `owner/repo pdf`.
pub(super) fn with_skills_named<'a>(
    context: &Context,
    request: &'a InstallRequest,
) -> Result<Cow<'a, InstallRequest>> {
    let is_of_registry = |text: &String| {
        RegistryWord::read(text).is_some_and(|word| word.is_certain())
            || RegistryWord::with_latest(text).is_some()
    };
    let is_word = |text: &String| {
        matches!(text.parse::<SourceSpec>(), Err(SpecError::Word(_))) && !is_of_registry(text)
    };
    let (words, sources): (Vec<String>, Vec<String>) = request.sources.iter().cloned().partition(is_word);
    // Beside skills of registries alone, a word is one too.
    let has_source = sources.iter().any(|text| !is_of_registry(text));
    if request.marketplace.is_some() || words.is_empty() || !has_source {
        return Ok(Cow::Borrowed(request));
    }
    if let Some(word) =
        words.iter().find(|word| matches!(fs::kind(&context.settings.cwd.join(word)), Ok(Some(_))))
    {
        return Err(Error::usage(format!(
            "`{word}` is the name of something here, and may be a skill of `{}`",
            sources[0]
        ))
        .hint(message!((Opt::Skill, word), format_args!(" is the skill, `./{word}` what is here"))));
    }
    let skills = request.skills.iter().cloned().chain(words).collect();
    Ok(Cow::Owned(InstallRequest { sources, skills, ..request.clone() }))
}
