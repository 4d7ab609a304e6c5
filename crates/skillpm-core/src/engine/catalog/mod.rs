//! The catalog: what an agent learns about all skills before it uses one.
//!
//! It is part of every conversation, so it can be kept short: [`Options::budget`] cuts descriptions until the catalog
//! fits, and [`Loss`] tells which. All skills stay, unless the agent has a tool to search for more ([`Options::search`]). Names and descriptions come from outside: none can end its element or
//! the markers around a catalog in a file ([`block`]).

pub mod block;
mod budget;
mod form;
mod measure;
mod shorten;
#[cfg(test)]
mod tests;
mod warning;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use budget::Limits;
pub use budget::{Cut, Loss};
pub use form::{CatalogForm, Field, UnknownWord};
pub use measure::Measure;

use super::library::{Library, LookupError};
use super::resources;
use super::skill::Skill;
use super::sources::SourceKind;
use crate::fs;
use crate::profile::Listing;
use crate::tokens;

/// The content and form of a catalog.
#[derive(Debug, Clone)]
pub struct Options {
    /// The form.
    pub form: CatalogForm,
    /// The fields that are reported about each skill besides its name. A field that a skill does not have is left out.
    pub fields: Vec<Field>,
    /// The tags; a skill must have at least one of them. If empty, all skills are included.
    pub tags: Vec<String>,
    /// Whether to include skills that models may not start by themselves (`disable-model-invocation`).
    pub hidden: bool,
    /// The skills to leave out, by scope and name: another scope may have a skill with the same name.
    pub disabled: Vec<(SourceKind, String)>,
    /// The maximum size of the text.
    pub budget: Option<usize>,
    /// The unit of the budget.
    pub measure: Measure,
    /// The form to take instead if the budget makes the catalog lack something, and less of it in this form.
    pub fallback: Option<CatalogForm>,
    /// The tool by which the agent finds skills. With one, a line tells that descriptions were cut, and the last skills are
    /// left out where not all names fit: the line tells how many.
    pub search: Option<String>,
    /// The directory that paths are relative to; without one, paths are absolute.
    pub relative_to: Option<PathBuf>,
    /// Which files of a skill are listed, if the fields include files.
    pub listing: Listing,
    /// The text if there are no skills; JSON has an empty list instead.
    pub empty: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            form: CatalogForm::Xml,
            fields: vec![Field::Description, Field::Location],
            tags: Vec::new(),
            hidden: false,
            disabled: Vec::new(),
            budget: None,
            measure: Measure::default(),
            fallback: None,
            search: None,
            relative_to: None,
            listing: Listing::All,
            empty: String::new(),
        }
    }
}

/// A finished catalog.
#[derive(Debug, Clone)]
pub struct Catalog {
    text: Text,
    /// The form of the text.
    pub form: CatalogForm,
    /// The number of skills in it.
    pub count: usize,
    /// The estimated number of tokens in the whole text; known if there is a budget, and in JSON.
    pub tokens: Option<usize>,
    /// The size of the text, if there is a budget; an upper bound if it is in tokens.
    pub most: Option<usize>,
    /// The budget.
    pub budget: Option<usize>,
    /// The unit of the budget.
    pub measure: Measure,
    /// What it lacks because of the budget.
    pub loss: Loss,
    json: Vec<Told<'static>>,
}

/// The text of a catalog.
#[derive(Debug, Clone)]
enum Text {
    Whole(String),
    /// The skills and options that the text is made from on demand.
    Later(Vec<Arc<Skill>>, Box<Options>),
}

/// The fields of one skill. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "CatalogSkill")]
struct Told<'a> {
    /// The name.
    name: Cow<'a, str>,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    /// The path of its `SKILL.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Cow<'a, str>>,
    /// The requirements of the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<Cow<'a, str>>,
    /// The tools that it may use.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    allowed_tools: Cow<'a, [String]>,
    /// The tags.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: Cow<'a, [String]>,
    /// The version as the skill writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Cow<'a, str>>,
    /// The other files, as `/`-separated paths below its directory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
}

impl Told<'_> {
    fn into_owned(self) -> Told<'static> {
        let owned = |text: Option<Cow<'_, str>>| text.map(|text| Cow::Owned(text.into_owned()));
        Told {
            name: Cow::Owned(self.name.into_owned()),
            description: owned(self.description),
            location: owned(self.location),
            compatibility: owned(self.compatibility),
            allowed_tools: Cow::Owned(self.allowed_tools.into_owned()),
            tags: Cow::Owned(self.tags.into_owned()),
            version: owned(self.version),
            files: self.files,
        }
    }
}

/// A catalog in JSON. It is an interface: fields are only added.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Catalog")]
pub struct CatalogData<'a> {
    /// The skills, in the order of their sources, with the fields that were asked for and that they have.
    skills: &'a [Told<'a>],
    /// The estimated number of tokens of this text for a language model.
    tokens: usize,
    /// The budget for the whole text, in tokens.
    budget: Option<usize>,
    /// The descriptions that were shortened or left out for the budget, in the order of the skills.
    cut: &'a [Cut],
    /// The number of such descriptions that `cut` does not list.
    #[serde(skip_serializing_if = "Option::is_none")]
    unlisted: Option<usize>,
    /// The number of skills that were left out for the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
    /// What an agent should know about what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    /// The budget that is enough for everything, if anything was cut or exceeds the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    enough: Option<usize>,
    /// The budget that is enough for all names, if this one is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<usize>,
}

impl<'a> CatalogData<'a> {
    fn new(skills: &'a [Told<'_>], tokens: usize, budget: Option<usize>, loss: &'a Loss) -> Self {
        let Loss { cut, left_out, enough, names, note, unlisted } = loss;
        Self {
            skills,
            tokens,
            budget,
            cut: if unlisted.is_some() { &[] } else { cut },
            unlisted: *unlisted,
            left_out: Some(left_out.len()).filter(|left_out| *left_out > 0),
            note: note.as_deref(),
            enough: *enough,
            names: *names,
        }
    }
}

/// Returns the text of a catalog, in JSON with its own number of tokens.
fn whole(told: &[Told<'_>], form: CatalogForm, budget: Option<usize>, loss: &Loss) -> String {
    let text = |tokens| text_of(told, form, tokens, budget, loss);
    if form != CatalogForm::Json {
        return text(0);
    }
    // Each of its digits is a token: a number with one more digit makes it one more.
    let one = tokens::estimate(&text(0));
    let digits = |number: usize| number.to_string().len() - 1;
    text(one + digits(one + digits(one)))
}

/// Returns the text of a catalog, in JSON with this number of `tokens`.
fn text_of(
    told: &[Told<'_>],
    form: CatalogForm,
    tokens: usize,
    budget: Option<usize>,
    loss: &Loss,
) -> String {
    match form {
        CatalogForm::Json => form::json(&CatalogData::new(told, tokens, budget, loss)),
        form => form.render(told, loss.note.as_deref()),
    }
}

impl Library {
    /// Returns the catalog of all skills that are used, as up to date as the profile requires (S3-FR-12).
    pub(crate) fn catalog(&self, options: &Options) -> Result<Catalog, LookupError> {
        let options = Options { listing: self.profile().listing, ..options.clone() };
        Ok(catalog(self.snapshot()?.skills(), &options))
    }
}

/// Returns the skills among `skills` that a catalog with these options has, in this order.
pub fn selected<'a>(skills: &'a [Arc<Skill>], options: &'a Options) -> impl Iterator<Item = &'a Arc<Skill>> {
    skills.iter().filter(|skill| is_told(skill, options))
}

/// Returns the catalog of `skills`, in this order.
pub fn catalog(skills: &[Arc<Skill>], options: &Options) -> Catalog {
    let catalog = in_form(skills, options);
    let Some(form) = options.fallback.filter(|_| !catalog.loss.is_none()) else { return catalog };
    let other = in_form(skills, &Options { form, ..options.clone() });
    let grade = |catalog: &Catalog| (catalog.loss.grade(), catalog.most);
    if grade(&other) < grade(&catalog) { other } else { catalog }
}

/// Returns the catalog in the form that `options` ask for first.
fn in_form(skills: &[Arc<Skill>], options: &Options) -> Catalog {
    // The reference prints its tags even if there are no skills.
    if options.form == CatalogForm::Reference && options.empty.is_empty() {
        let empty = CatalogForm::Reference.render(&[], None);
        return in_form(skills, &Options { empty, ..options.clone() });
    }
    let &Options { form, budget, measure, .. } = options;
    let is_json = form == CatalogForm::Json;
    let told = || selected(skills, options);
    if !is_json && budget.is_none() {
        let skills: Vec<_> = told().cloned().collect();
        let count = skills.len();
        let text = Text::Later(skills, Box::new(options.clone()));
        let (loss, json) = (Loss::default(), Vec::new());
        return Catalog { text, form, count, tokens: None, most: None, budget, measure, loss, json };
    }
    let mut told: Vec<Told<'_>> = told().map(|skill| of(skill, options)).collect();
    let is_empty = told.is_empty() && !is_json;
    let limits = budget.filter(|_| !is_empty).map(|budget| Limits {
        form,
        budget,
        measure,
        search: options.search.as_deref(),
    });
    let loss = limits.map(|limits| budget::fit(&mut told, limits)).unwrap_or_default();
    let text = if is_empty { options.empty.clone() } else { whole(&told, form, budget, &loss) };
    let tokens = Some(tokens::estimate(&text));
    let most = budget.map(|_| measure.size(&text));
    let count = told.len();
    let json = if is_json { told.into_iter().map(Told::into_owned).collect() } else { Vec::new() };
    Catalog { text: Text::Whole(text), form, count, tokens, most, budget, measure, loss, json }
}

impl Catalog {
    /// Returns the whole text.
    pub fn text(&self) -> Cow<'_, str> {
        if let Text::Whole(text) = &self.text {
            return text.as_str().into();
        }
        let mut text = String::new();
        self.pieces(|piece| text.push_str(piece));
        text.into()
    }

    /// Calls `pass` for each piece of the text, in order: the text of thousands of skills need not be held whole.
    pub fn pieces(&self, mut pass: impl FnMut(&str)) {
        match &self.text {
            Text::Whole(text) => pass(text),
            Text::Later(skills, options) if skills.is_empty() => pass(&options.empty),
            Text::Later(skills, options) => {
                let mut lines = self.form.lines(skills.len(), pass);
                for skill in skills {
                    lines.add(&of(skill, options));
                }
                lines.end(None);
            }
        }
    }

    /// Returns the object of [`CatalogForm::Json`]: the skills, the estimated tokens of its text, and what it lacks.
    pub fn as_json(&self) -> CatalogData<'_> {
        CatalogData::new(&self.json, self.tokens.unwrap_or_default(), self.budget, &self.loss)
    }

    /// Reports whether it exceeds the budget even with nothing that can be left out.
    pub fn is_over_budget(&self) -> bool {
        self.most.zip(self.budget).is_some_and(|(most, budget)| most > budget)
    }
}

fn is_told(skill: &Skill, options: &Options) -> bool {
    (options.hidden || !skill.is_for_people())
        && (options.tags.is_empty() || skill.meta.tags.iter().any(|tag| options.tags.contains(tag)))
        && (options.disabled.is_empty() || !is_disabled(skill, &options.disabled))
}

/// Reports whether a skill is disabled. Manifests know skills by the names of their directories.
fn is_disabled(skill: &Skill, disabled: &[(SourceKind, String)]) -> bool {
    let is = |name: &OsStr| {
        disabled.iter().any(|(kind, disabled)| name == disabled.as_str() && *kind == skill.kind)
    };
    skill.dir.file_name().is_some_and(is)
}

/// Returns the fields of `skill` that `options` ask for.
fn of<'a>(skill: &'a Skill, options: &Options) -> Told<'a> {
    let value = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
    let mut told = Told { name: skill.meta.name.as_str().into(), ..Told::default() };
    for field in &options.fields {
        match field {
            Field::Name => {}
            Field::Description => {
                let description = Some(skill.meta.description.as_str());
                told.description = description.filter(|text| !text.is_empty()).map(Cow::Borrowed);
            }
            Field::Location => told.location = Some(location(skill, options)),
            Field::Compatibility => told.compatibility = value(&skill.meta.compatibility),
            Field::AllowedTools => told.allowed_tools = skill.meta.allowed_tools.as_slice().into(),
            Field::Tags => told.tags = skill.meta.tags.as_slice().into(),
            Field::Version => told.version = value(&skill.meta.version),
            // Files that cannot be listed are reported when the skill is used.
            Field::Files => told.files = resources::list(&skill.dir, options.listing).unwrap_or_default(),
        }
    }
    told
}

/// Returns the path of the file of `skill`, as `options` want it.
fn location<'a>(skill: &'a Skill, options: &Options) -> Cow<'a, str> {
    let file = match (options.form, skill.file.file_name()) {
        // The reference follows links.
        (CatalogForm::Reference, Some(name)) => Cow::Owned(skill.real.join(name)),
        _ => Cow::Borrowed(skill.file.as_path()),
    };
    match (&options.relative_to, file) {
        (Some(from), file) => fs::relative(from, &file).to_string_lossy().replace('\\', "/").into(),
        (None, Cow::Borrowed(file)) => file.to_string_lossy(),
        (None, Cow::Owned(file)) => fs::into_text(file).into(),
    }
}
