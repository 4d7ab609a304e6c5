//! Cuts a catalog to make it fit its budget: names stay before descriptions, and all descriptions before long ones.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::form::{self, CatalogForm};
use super::measure::Measure;
use super::shorten::shortened;
use super::{Told, text_of, whole};

/// The number of characters to which descriptions are shortened at most: a shorter one does not say when to use a skill.
const SHORTEST: usize = 60;

/// The shortest description.
const ONE: &str = "x";

/// A description that was shortened or left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cut {
    /// The skill's name.
    pub name: String,
    /// The number of characters of the description.
    pub characters: usize,
    /// The number of characters that are left: 0 if it was left out.
    pub kept: usize,
}

/// What a catalog lacks because of its budget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loss {
    /// The descriptions that were shortened or left out, of the skills that are listed, in their order.
    pub cut: Vec<Cut>,
    /// The names of the skills that are not listed, in their order.
    pub left_out: Vec<String>,
    /// The budget that is enough for everything, if anything was cut or exceeds the budget.
    pub enough: Option<usize>,
    /// The budget that is enough for all names, if this one is not.
    pub names: Option<usize>,
    /// The line that tells the agent about it.
    pub note: Option<String>,
    /// The number of cuts that JSON does not list: the list is part of the text, so there may be no room for it.
    pub(super) unlisted: Option<usize>,
}

impl Loss {
    /// Reports whether everything is kept.
    pub fn is_none(&self) -> bool {
        self.enough.is_none()
    }

    /// Returns the number of listed skills whose description was left out.
    pub fn descriptions_left_out(&self) -> usize {
        self.cut.iter().filter(|cut| cut.kept == 0).count()
    }

    /// Returns how bad it is: how many skills, how many descriptions, and how many characters are lost.
    pub(super) fn grade(&self) -> (usize, usize, usize) {
        let characters = self.cut.iter().map(|cut| cut.characters - cut.kept).sum();
        (self.left_out.len(), self.descriptions_left_out(), characters)
    }
}

/// The limits of a catalog.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    pub(super) form: CatalogForm,
    pub(super) budget: usize,
    pub(super) measure: Measure,
    /// The tool that finds the skills that are not listed.
    pub(super) search: Option<&'a str>,
}

impl Limits<'_> {
    fn is_json(self) -> bool {
        self.form == CatalogForm::Json
    }

    /// Returns the weight that is within the budget.
    fn room(self) -> usize {
        self.measure.room(self.budget)
    }

    /// Returns the line that ends a catalog without `left` skills, or without some descriptions.
    fn note(self, left: Option<usize>) -> Option<String> {
        let search = self.search?;
        Some(match left {
            None => format!(
                "Some descriptions are shortened or left out: `{search}` finds skills by what they are for."
            ),
            Some(1) => format!("And 1 more skill: `{search}` finds it."),
            Some(left) => format!("And {left} more skills: `{search}` finds them."),
        })
    }

    /// Returns the budget that is enough for all of `told`, whose catalog has `size` within this budget.
    fn enough(self, told: &[Told<'_>], size: usize) -> usize {
        let mut enough = size;
        // In JSON the budget is a part of the text, and a larger one may have more digits.
        while self.is_json() {
            let size = self.measure.size(&whole(told, self.form, Some(enough), &Loss::default()));
            if size <= enough {
                break;
            }
            enough = size;
        }
        enough
    }
}

/// Cuts the catalog of `told` to `limits` and returns what it lacks.
///
/// The longest descriptions are shortened, all to the same length. Where they are as short as they may be, those that
/// weigh least stay, the earlier ones of equal weight. Where names and the other fields alone exceed the budget, only the
/// first skills stay if there is a tool that finds the others; without one all names stay, and the result is too large.
pub(super) fn fit(told: &mut Vec<Told<'_>>, limits: Limits<'_>) -> Loss {
    let size = limits.measure.size(&whole(told, limits.form, Some(limits.budget), &Loss::default()));
    if size <= limits.budget {
        return Loss::default();
    }
    let enough = limits.enough(told, size);
    let parts = Parts::of(told, limits, enough);
    let (mut loss, lengths) = parts.cut(told);
    let Parts { descriptions, .. } = parts;
    told.truncate(told.len() - loss.left_out.len());
    for (Description { at, text, characters, .. }, length) in descriptions.into_iter().zip(lengths) {
        let Some(skill) = told.get_mut(at) else { break };
        let (short, kept) = shortened(&text, length);
        if kept < characters {
            loss.cut.push(Cut { name: skill.name.to_string(), characters, kept });
        }
        skill.description = (kept > 0).then(|| short.into_owned().into());
    }
    loss.unlisted = loss.unlisted.map(|_| loss.cut.len());
    loss
}

/// The parts of a catalog with their weights, which add up to that of the catalog.
struct Parts<'a, 'l> {
    limits: Limits<'l>,
    /// The budget that is enough for everything. No number in the text is larger.
    enough: usize,
    /// The weights of the skills without their descriptions.
    skills: Vec<usize>,
    descriptions: Vec<Description<'a>>,
    /// The weight that a description has besides its text.
    tags: usize,
}

/// A description.
struct Description<'a> {
    /// The position of its skill.
    at: usize,
    /// The name of its skill.
    name: Cow<'a, str>,
    text: Cow<'a, str>,
    characters: usize,
    weight: usize,
}

impl<'a, 'l> Parts<'a, 'l> {
    /// Takes the descriptions out of `told`.
    fn of(told: &mut [Told<'a>], limits: Limits<'l>, enough: usize) -> Self {
        let form = limits.form;
        let weight = |text: &str| limits.measure.weight(text);
        let taken = told.iter_mut().enumerate().filter_map(|(at, skill)| {
            let text = skill.description.take()?;
            let (characters, weight) = (text.chars().count(), weight(&form.escaped(&text)));
            Some(Description { at, name: skill.name.clone(), text, characters, weight })
        });
        let descriptions = taken.collect();
        let skills = told.iter().map(|skill| weight(&form.item(skill))).collect();
        let one = Told { description: Some(ONE.into()), ..Told::default() };
        let tags = weight(&form.item(&one)) - weight(&form.item(&Told::default())) - weight(ONE);
        Self { limits, enough, skills, descriptions, tags }
    }

    /// Returns what a catalog of `told` lacks, and the lengths to which its descriptions are shortened; those that are cut
    /// are yet to be added.
    fn cut(&self, told: &[Told<'_>]) -> (Loss, Vec<usize>) {
        let mut loss = Loss { enough: Some(self.enough), ..Loss::default() };
        let described = Loss { note: self.limits.note(None), ..loss.clone() };
        // Descriptions serve an agent, the list of cuts only reports them: it is left out first.
        if self.limits.is_json()
            && let Some(lengths) = self.room(&described).and_then(|room| self.even(room, true))
        {
            return (described, lengths);
        }
        loss.unlisted = self.limits.is_json().then_some(self.descriptions.len());
        let described = Loss { unlisted: loss.unlisted, ..described };
        if let Some(room) = self.room(&described) {
            return (described, self.even(room, false).unwrap_or_else(|| self.shortest(room)));
        }
        if self.room(&loss).is_none() {
            let names = self.limits.measure.units(self.weight(&loss));
            // What the text says about a loss may weigh more than what is lost.
            loss.names = Some(names.min(self.enough));
            if self.limits.search.is_some() {
                loss = self.first(told, &loss);
            }
        }
        (loss, vec![0; self.descriptions.len()])
    }

    /// Returns the weight of a catalog without descriptions that lacks `loss`.
    fn weight(&self, loss: &Loss) -> usize {
        self.frame(loss) + self.skills.iter().sum::<usize>()
    }

    /// Returns the weight of a catalog that lacks `loss` without its skills.
    fn frame(&self, loss: &Loss) -> usize {
        let Self { limits, enough, .. } = self;
        let (one, mut loss) = (Told::default(), loss.clone());
        let mut items = limits.form.item(&one);
        if limits.is_json() && loss.unlisted.is_none() {
            let cut = Cut::default();
            items += &form::json_item(&cut);
            loss.cut.push(cut);
        }
        let text = text_of(&[one], limits.form, *enough, Some(*enough), &loss);
        limits.measure.weight(&text) - limits.measure.weight(&items)
    }

    /// Returns the weight that descriptions may have in a catalog that lacks `loss`; `None` if not even all names fit.
    fn room(&self, loss: &Loss) -> Option<usize> {
        self.limits.room().checked_sub(self.weight(loss))
    }

    /// Returns the weight of a description that is shortened to `length`, if that makes it weigh less, and the length then.
    /// With `listed`, the entry that reports it counts.
    fn short(&self, description: &Description<'_>, length: usize, listed: bool) -> (usize, usize) {
        let Description { name, text, characters, weight, .. } = description;
        let whole = (self.tags + weight, *characters);
        if *characters <= length {
            return whole;
        }
        let measure = self.limits.measure;
        let (short, kept) = shortened(text, length);
        let mut less = self.tags + measure.weight(&self.limits.form.escaped(&short));
        if listed {
            let cut = Cut { name: name.to_string(), characters: *characters, kept };
            less += measure.weight(&form::json_item(&cut));
        }
        if less < whole.0 { (less, length) } else { whole }
    }

    /// Returns the lengths to which all descriptions are shortened evenly to weigh at most `room`; `None` if they would be
    /// too short.
    fn even(&self, room: usize, listed: bool) -> Option<Vec<usize>> {
        let short =
            |length: usize| self.descriptions.iter().map(move |text| self.short(text, length, listed));
        let fits = |length: usize| short(length).map(|(weight, _)| weight).sum::<usize>() <= room;
        if !fits(SHORTEST) {
            return None;
        }
        let longest = self.descriptions.iter().map(|description| description.characters).max();
        let (mut low, mut high) = (SHORTEST, longest.unwrap_or(0));
        // A smaller length never weighs more.
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if fits(middle) { low = middle } else { high = middle }
        }
        Some(short(low).map(|(_, length)| length).collect())
    }

    /// Returns the lengths of as many descriptions as weigh at most `room` in their shortest form: 0 for all others.
    fn shortest(&self, mut room: usize) -> Vec<usize> {
        let short = self.descriptions.iter().map(|text| self.short(text, SHORTEST, false));
        let mut short: Vec<_> = short.enumerate().collect();
        short.sort_by_key(|(_, (weight, _))| *weight);
        let mut lengths = vec![0; short.len()];
        for (at, (weight, length)) in short {
            let Some(left) = room.checked_sub(weight) else { break };
            (room, lengths[at]) = (left, length);
        }
        lengths
    }

    /// Returns `loss` with the skills that follow after as many as fit.
    fn first(&self, told: &[Told<'_>], loss: &Loss) -> Loss {
        let with = |left_out: Vec<String>| {
            let note = self.limits.note(Some(left_out.len()));
            Loss { left_out, note, ..loss.clone() }
        };
        let mut left_out: Vec<_> = told.iter().map(|skill| skill.name.to_string()).collect();
        let frame = self.frame(&with(left_out.clone()));
        let mut room = self.limits.room().saturating_sub(frame);
        let fits = |weight: &&usize| {
            let left = room.checked_sub(**weight);
            room = left.unwrap_or_default();
            left.is_some()
        };
        left_out.drain(..self.skills.iter().take_while(fits).count());
        with(left_out)
    }
}
