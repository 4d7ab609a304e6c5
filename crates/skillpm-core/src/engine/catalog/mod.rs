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

use serde::Serialize;

pub use budget::Cut;
pub use form::{CatalogForm, Field, UnknownWord};

use super::library::{Library, LookupError};
use super::resources;
use super::skill::Skill;
use super::sources::SourceKind;
use crate::fs;
use crate::policy::Listing;
use crate::tokens;

/// The content and form of a catalog.
#[derive(Debug, Clone)]
pub struct Options {
    /// Its form.
    pub form: CatalogForm,
    /// The fields that are reported about each skill besides its name. A field that a skill does not have is left out.
    pub fields: Vec<Field>,
    /// The tags of which a skill must have one; if empty, all skills are included.
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
    /// The estimated number of tokens in the text; known if there is a budget, and in JSON.
    pub tokens: Option<usize>,
    /// An upper bound for the number of tokens in the text, if there is a budget.
    pub most: Option<usize>,
    /// The budget.
    pub budget: Option<usize>,
    /// The descriptions that were shortened, in the order of the skills.
    pub cut: Vec<Cut>,
    json: Vec<Told<'static>>,
}

/// The text of a catalog, except in JSON, which is made from the list of skills.
#[derive(Debug, Clone)]
enum Text {
    Whole(String),
    /// The skills and options that the text is made from on demand.
    Later(Vec<Arc<Skill>>, Box<Options>),
}

/// The fields of one skill. The JSON form is an interface: fields are only added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct Told<'a> {
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    allowed_tools: Cow<'a, [String]>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tags: Cow<'a, [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<Cow<'a, str>>,
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

#[derive(Serialize)]
struct Object<'a> {
    skills: &'a [Told<'static>],
    tokens: Option<usize>,
    budget: Option<usize>,
    cut: &'a [Cut],
}

impl Library {
    /// Returns the catalog of all skills that are used, as up to date as the policy requires (S3-FR-12).
    ///
    /// # Errors
    ///
    /// Fails as [`Library::snapshot`] does.
    pub fn catalog(&self, options: &Options) -> Result<Catalog, LookupError> {
        let options = Options { listing: self.policy().listing, ..options.clone() };
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
            json: Vec::new(),
        };
    }
    let mut told: Vec<Told<'_>> = told().map(|skill| of(skill, options)).collect();
    let cut = budget.map(|budget| budget::fit(&mut told, budget, form)).unwrap_or_default();
    let text = if told.is_empty() && !is_json { options.empty.clone() } else { form.render(&told) };
    let tokens = Some(tokens::estimate(&text));
    let most = budget.map(|_| tokens::most(&text));
    let count = told.len();
    let json = if is_json { told.into_iter().map(Told::into_owned).collect() } else { Vec::new() };
    Catalog { text: Text::Whole(text), form, count, tokens, most, budget, cut, json }
}

impl Catalog {
    /// Returns the whole text.
    pub fn text(&self) -> Cow<'_, str> {
        if let (Text::Whole(text), true) = (&self.text, self.form != CatalogForm::Json) {
            return text.as_str().into();
        }
        let mut text = String::new();
        self.pieces(|piece| text.push_str(piece));
        text.into()
    }

    /// Calls `pass` for each piece of the text, in order: the text of thousands of skills need not be held whole.
    pub fn pieces(&self, mut pass: impl FnMut(&str)) {
        match &self.text {
            _ if self.form == CatalogForm::Json => pass(&form::json(&self.as_json())),
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

    /// Returns the object of [`CatalogForm::Json`]: the skills, their estimated tokens, and the shortened descriptions.
    pub fn as_json(&self) -> impl Serialize {
        Object { skills: &self.json, tokens: self.tokens, budget: self.budget, cut: &self.cut }
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
