//! What the model of an agent gets to see, as a view.

use std::collections::BTreeSet;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::agents::Agent;
use crate::agents::listing::{Listing, ListingEntry, State, Unit, Why};
use crate::agents::rules::{Budget, Evidence, Owner};
use crate::agents::sessions::{Wanted, not_read, sessions};
use crate::error::Result;
use crate::fs;
use crate::scope::agent_view::Form;
use crate::scope::state::ScopeState;
use crate::scope_kind::ScopeKind;
use crate::settings::Settings;

/// Two descriptions are alike if they share at least this part of their words, in percent.
const ALIKE: usize = 50;
/// Descriptions with fewer words say too little to be compared.
const FEWEST_WORDS: usize = 6;
/// Shorter words, such as `the`, say little about a skill.
const SHORTEST_WORD: usize = 4;
/// The most pairs that are told.
const MOST_PAIRS: usize = 50;

/// What the model of an agent gets to see. The JSON form of this and the other values here is an interface: fields are
/// only added.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ListingView {
    /// The version of the agent that the rules were taken from.
    pub version: &'static str,
    /// The day on which they were.
    pub date: &'static str,
    /// What they rest on.
    pub evidence: Evidence,
    /// The model's window in tokens, if the budget depends on it.
    pub window: Option<u64>,
    /// What is counted.
    pub unit: Unit,
    /// What the listing may hold, in units; `None` without a limit, or if it is unknown.
    pub budget: Option<u64>,
    /// Whether it is known if there is a limit.
    pub knows_budget: bool,
    /// What it holds, in units; `None` if that is unknown.
    pub used: Option<u64>,
    /// What it would hold if every description were whole, in units; `None` if that is unknown.
    pub whole: Option<u64>,
    /// The number of skills whose whole descriptions do not fit.
    pub lacking: LackingView,
    /// The skills: those that are listed in the order of the listing, then the others.
    pub skills: Vec<ListedView>,
    /// The pairs of listed skills whose descriptions share half of their words or more, the most alike first.
    pub alike: Vec<AlikeView>,
    /// The directories of the project that the agent would read if it were started in the root of the project.
    pub missed: Vec<String>,
    /// The settings that change the listing and are read.
    pub settings: &'static [&'static str],
    /// The settings that change the listing and are not read here.
    pub unread: &'static [&'static str],
    /// What else decides and is not counted here, in words.
    pub uncounted: &'static [&'static str],
    /// What else is worth knowing, in words.
    pub notes: &'static [&'static str],
    /// The listing as the model gets it; `None` if its form is not known to the byte, or not what is in it.
    pub text: Option<String>,
}

/// A number of skills: a range where it depends on what is unknown, such as how often each was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LackingView {
    /// The least that it can be.
    pub least: usize,
    /// The most that it can be.
    pub most: usize,
}

/// A file in which an agent looks for a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedView {
    /// What the agent calls the skill; for a file that does not load, the name of its directory.
    pub name: String,
    /// The file.
    pub file: String,
    /// Whose it is.
    pub owner: Owner,
    /// How much of it is listed.
    pub state: ListedState,
    /// How many characters of its description are listed, if not all.
    pub kept: Option<usize>,
    /// The characters of its description.
    pub characters: usize,
    /// What it takes of the budget when it is whole, in units.
    pub size: u64,
    /// Whether there is no room for more of it.
    pub lacks_room: bool,
    /// Why no more of it is listed, in words.
    pub why: Option<String>,
    /// The file of the agent's settings that says so.
    pub by: Option<String>,
    /// The files of the same name that win, or may win.
    pub others: Vec<String>,
    /// The scope in which skillpm installed it, if it did.
    pub installed: Option<ScopeKind>,
    /// How often it was used, as the sessions of the agent record it; `None` if they were not read.
    pub uses: Option<usize>,
}

/// How much of a skill is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ListedState {
    /// Name and description.
    Whole,
    /// The name, and the start of the description.
    Cut,
    /// The name; and the whole description, unless it is among those for which there is no room.
    Uncertain,
    /// Only the name.
    NameOnly,
    /// One of several files with this name is listed, and nobody can say which.
    Contested,
    /// Nothing, for want of room.
    Omitted,
    /// Nothing: only a person can start it, or nobody.
    Hidden,
    /// Nothing: another skill has the same name.
    Shadowed,
    /// Nothing: the file does not load.
    NotLoaded,
}

/// Two skills whose descriptions are alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AlikeView {
    /// Their names.
    pub names: [String; 2],
    /// The part of their words that they share, in percent.
    pub percent: usize,
}

impl ListingView {
    pub(super) fn new(listing: Listing, states: &[ScopeState<'_>]) -> Self {
        let alike = alike(&listing.entries);
        let skills = listing.entries.into_iter().map(|entry| skill(entry, states)).collect();
        Self {
            version: listing.rules.version,
            date: listing.rules.date,
            evidence: listing.rules.evidence,
            window: listing.window,
            unit: listing.unit,
            budget: listing.budget,
            knows_budget: listing.rules.budget != Budget::Unknown,
            used: listing.used,
            whole: listing.whole,
            lacking: LackingView { least: *listing.lacking.start(), most: *listing.lacking.end() },
            skills,
            alike,
            missed: listing.missed.iter().map(|dir| dir.display().to_string()).collect(),
            settings: listing.rules.settings,
            unread: listing.rules.unread,
            uncounted: listing.rules.uncounted,
            notes: listing.rules.notes,
            text: listing.text,
        }
    }

    /// Reads the sessions of `agent` and notes how often each skill was used.
    pub(super) fn count_uses(&mut self, agent: &Agent, settings: &Settings) -> Result<()> {
        let names: BTreeSet<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
        let found = sessions(agent, settings, Wanted::default(), &|name| names.contains(name));
        let found = found.ok_or_else(|| not_read(agent))?;
        let counts = found.counts();
        for skill in &mut self.skills {
            skill.uses = Some(counts.get(skill.name.as_str()).copied().unwrap_or_default());
        }
        Ok(())
    }

    /// Returns how many skills are listed as `state` says: of those in doubt, one of each name.
    pub fn count(&self, state: ListedState) -> usize {
        let of_state = self.skills.iter().filter(|skill| skill.state == state);
        if state == ListedState::Contested {
            return of_state.map(|skill| skill.name.as_str()).collect::<BTreeSet<_>>().len();
        }
        of_state.count()
    }

    /// Works like [`Self::count`], where what is uncertain is either whole or only a name.
    pub fn range(&self, state: ListedState) -> LackingView {
        let (known, uncertain) = (self.count(state), self.count(ListedState::Uncertain));
        let certain = self.skills.iter().filter(|skill| skill.lacks_room).count() - uncertain;
        let dropped = |lacking: usize| if uncertain == 0 { 0 } else { lacking.saturating_sub(certain) };
        let (least, most) = (dropped(self.lacking.least), dropped(self.lacking.most));
        match state {
            ListedState::Whole => {
                LackingView { least: known + uncertain - most, most: known + uncertain - least }
            }
            ListedState::NameOnly => LackingView { least: known + least, most: known + most },
            _ => LackingView { least: known, most: known },
        }
    }

    /// Returns how many skills the model sees: of those in doubt, one of each name.
    pub fn listed(&self) -> usize {
        let certain = self.skills.iter().filter(|skill| skill.state < ListedState::Contested).count();
        certain + self.count(ListedState::Contested)
    }

    /// Reports whether something is left out or shortened for want of room.
    pub fn is_over(&self) -> bool {
        self.lacking.most > 0
    }
}

fn skill(entry: ListingEntry, states: &[ScopeState<'_>]) -> ListedView {
    let installed = installed(&entry, states);
    let (mut kept, mut why, mut others) = (None, entry.why, Vec::new());
    let state = match entry.state {
        State::Whole => ListedState::Whole,
        State::Cut(characters) => {
            kept = Some(characters);
            ListedState::Cut
        }
        State::NameOnly => ListedState::NameOnly,
        State::Uncertain => ListedState::Uncertain,
        State::Omitted => ListedState::Omitted,
        State::Hidden(reason) => {
            why = Some(reason);
            ListedState::Hidden
        }
        State::NotLoaded(reason) => {
            why = Some(reason);
            ListedState::NotLoaded
        }
        State::Shadowed(by) => {
            others.push(by);
            ListedState::Shadowed
        }
        State::Contested(files) => {
            others = files;
            ListedState::Contested
        }
    };
    ListedView {
        installed,
        uses: None,
        file: entry.file.display().to_string(),
        name: entry.name,
        owner: entry.owner,
        state,
        kept,
        characters: entry.description.chars().count(),
        size: entry.size,
        lacks_room: state == ListedState::Uncertain || why == Some(Why::NoRoom),
        by: match &why {
            Some(Why::Setting { file, .. } | Why::Untrusted(file)) => Some(file.display().to_string()),
            _ => None,
        },
        why: why.map(|why| why.to_string()),
        others: others.iter().map(|file| file.display().to_string()).collect(),
    }
}

/// Returns the scope in which skillpm installed the skill of `entry`, as a canonical copy, a link to it or a copy.
fn installed(entry: &ListingEntry, states: &[ScopeState<'_>]) -> Option<ScopeKind> {
    let name = entry.real.parent()?.file_name()?.to_str()?;
    let around = |file: &Path| file.parent()?.parent().map(Path::to_owned);
    let is_here = |state: &&ScopeState<'_>| {
        let is_locked = || state.files.lock.skills.keys().any(|locked| locked.as_str() == name);
        let is_canonical = || around(&entry.real) == fs::real_path(&state.scope.skills_dir()).ok().flatten();
        let is_copy = || {
            let agents = state.agents().all.iter().filter_map(|agent| agent.own);
            let own = agents.filter(|dir| Some(state.path(*dir)) == around(&entry.file).as_deref());
            own.filter_map(|dir| state.seen(dir).ok()?.get(name)).any(|seen| seen.form == Form::Copy)
        };
        is_locked() && (is_canonical() || is_copy())
    };
    states.iter().find(is_here).map(|state| state.scope.kind)
}

/// Returns the pairs of listed skills whose descriptions are alike, the most alike first.
fn alike(entries: &[ListingEntry]) -> Vec<AlikeView> {
    let listed = entries.iter().filter(|entry| {
        matches!(entry.state, State::Whole | State::Cut(_) | State::NameOnly | State::Uncertain)
            && !entry.description.is_empty()
    });
    let words: Vec<(&str, BTreeSet<String>)> =
        listed.map(|entry| (entry.name.as_str(), words(&entry.description))).collect();
    let mut pairs = Vec::new();
    for (at, (name, one)) in words.iter().enumerate() {
        for (other_name, other) in &words[at + 1..] {
            // So different sets share too little.
            let (less, more) = (one.len().min(other.len()), one.len().max(other.len()));
            if name == other_name || less < FEWEST_WORDS || less * 100 < more * ALIKE {
                continue;
            }
            let shared = one.intersection(other).count();
            let percent = shared * 100 / (one.len() + other.len() - shared);
            if percent >= ALIKE {
                pairs.push(AlikeView { names: [(*name).to_owned(), (*other_name).to_owned()], percent });
            }
        }
    }
    pairs.sort_by(|one, other| other.percent.cmp(&one.percent).then_with(|| one.names.cmp(&other.names)));
    pairs.truncate(MOST_PAIRS);
    pairs
}

/// Returns the words of a text that say what it is about.
fn words(text: &str) -> BTreeSet<String> {
    let words =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= SHORTEST_WORD);
    words.map(str::to_lowercase).collect()
}
