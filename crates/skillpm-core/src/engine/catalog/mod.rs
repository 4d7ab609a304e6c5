//! The catalog: what an agent learns about all skills before it uses one.
//!
//! It is part of every conversation, so it can be kept short: [`Options::budget`] shortens the longest descriptions
//! until the catalog fits, and drops no skill. Names and descriptions come from outside: none can end its element or
//! the markers around a catalog in a file ([`block`]).

pub mod block;
mod budget;
mod form;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

pub use budget::Cut;
use budget::Cuts;
pub use form::{CatalogForm, Field, UnknownWord};

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
    /// The maximum number of tokens in the text.
    pub budget: Option<usize>,
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
    form: CatalogForm,
    /// The number of skills in it.
    pub count: usize,
    /// The estimated number of tokens in the whole text; known if there is a budget, and in JSON.
    pub tokens: Option<usize>,
    /// An upper bound for the number of tokens in the text, if there is a budget.
    pub most: Option<usize>,
    /// The budget.
    pub budget: Option<usize>,
    /// The descriptions that were shortened, in the order of the skills.
    pub cut: Vec<Cut>,
    /// Whether JSON lists them.
    lists_cuts: bool,
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
    /// The descriptions that were shortened for the budget, in the order of the skills.
    cut: &'a [Cut],
    /// The number of shortened descriptions that `cut` does not list.
    #[serde(skip_serializing_if = "Option::is_none")]
    unlisted: Option<usize>,
}

impl<'a> CatalogData<'a> {
    fn new(told: &'a [Told<'_>], tokens: usize, budget: Option<usize>, cut: &'a [Cut], listed: bool) -> Self {
        let (cut, unlisted) = if listed { (cut, None) } else { (&[][..], Some(cut.len())) };
        Self { skills: told, tokens, budget, cut, unlisted }
    }
}

/// Returns the text of a catalog, in JSON with its own number of tokens.
fn whole(told: &[Told<'_>], form: CatalogForm, budget: Option<usize>, cuts: &Cuts) -> String {
    if form != CatalogForm::Json {
        return form.render(told);
    }
    let text = |tokens| form::json(&CatalogData::new(told, tokens, budget, &cuts.all, cuts.are_listed));
    // Each of its digits is a token: a number with one more digit makes it one more.
    let one = tokens::estimate(&text(0));
    let digits = |number: usize| number.to_string().len() - 1;
    text(one + digits(one + digits(one)))
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
    // The reference prints its tags even if there are no skills.
    if options.form == CatalogForm::Reference && options.empty.is_empty() {
        let empty = CatalogForm::Reference.render(&[]);
        return catalog(skills, &Options { empty, ..options.clone() });
    }
    let (form, budget) = (options.form, options.budget);
    let is_json = form == CatalogForm::Json;
    let told = || selected(skills, options);
    if !is_json && budget.is_none() {
        let skills: Vec<_> = told().cloned().collect();
        let count = skills.len();
        let text = Text::Later(skills, Box::new(options.clone()));
        return Catalog {
            text,
            form,
            count,
            tokens: None,
            most: None,
            budget,
            cut: Vec::new(),
            lists_cuts: true,
            json: Vec::new(),
        };
    }
    let mut told: Vec<Told<'_>> = told().map(|skill| of(skill, options)).collect();
    let whole_list = Cuts { all: Vec::new(), are_listed: true };
    let cuts = budget.map_or(whole_list, |budget| budget::fit(&mut told, budget, form));
    let text =
        if told.is_empty() && !is_json { options.empty.clone() } else { whole(&told, form, budget, &cuts) };
    let tokens = Some(tokens::estimate(&text));
    let most = budget.map(|_| tokens::most(&text));
    let count = told.len();
    let json = if is_json { told.into_iter().map(Told::into_owned).collect() } else { Vec::new() };
    let Cuts { all: cut, are_listed: lists_cuts } = cuts;
    Catalog { text: Text::Whole(text), form, count, tokens, most, budget, cut, lists_cuts, json }
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
                lines.end();
            }
        }
    }

    /// Returns the object of [`CatalogForm::Json`]: the skills, the estimated tokens of its text, and the shortened
    /// descriptions.
    pub fn as_json(&self) -> CatalogData<'_> {
        CatalogData::new(&self.json, self.tokens.unwrap_or_default(), self.budget, &self.cut, self.lists_cuts)
    }

    /// Reports whether it exceeds the budget even without descriptions.
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
