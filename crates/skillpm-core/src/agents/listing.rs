//! What an agent's model gets to see of the skills on disk: which of them, in which order, and how much of each.
//!
//! [`listing`] follows the [`Rules`] of an agent step by step, as the agent does when it starts: it resolves the
//! directories, finds and reads the files, decides among equal names, takes out what is hidden, and fits the rest into
//! the budget. Nothing is written, and no program is started.

mod config;
mod fit;
mod read;
mod sessions;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use self::config::{Config, Says};
pub use self::fit::Unit;
use self::fit::{Fitted, fit};
use self::read::Texts;
pub use self::sessions::{Recorded, recorded};
use self::walk::FoundFile;
use super::Agent;
use super::rules::{Evidence, Form, Name, Order, Owner, Rules, SameName, rules};
use crate::error::Error;
use crate::interop::order;
use crate::settings::Settings;
use crate::workers;

/// The skills that an agent lists, and those that it does not, with the reasons.
#[derive(Debug)]
pub struct Listing {
    /// The rules that were followed.
    pub rules: &'static Rules,
    /// The skills: those that are listed in the order of the listing, then the others.
    pub entries: Vec<ListingEntry>,
    /// The model's window in tokens, if the budget depends on it.
    pub window: Option<u64>,
    /// What the listing may hold, in units; `None` without a limit, or if it is unknown.
    pub budget: Option<u64>,
    /// What it holds, in units; `None` if the form of its lines is unknown. If the agent may leave out one description or
    /// another, the most that it can hold.
    pub used: Option<u64>,
    /// What it would hold if every description were whole, in units.
    pub whole: Option<u64>,
    /// The number of skills whose whole descriptions do not fit: the least and the most, which differ where the agent
    /// chooses in an order that is unknown.
    pub lacking: RangeInclusive<usize>,
    /// What is counted.
    pub unit: Unit,
    /// The listing as the agent's model gets it; `None` if its form is not known to the byte, or not what is in it.
    pub text: Option<String>,
    /// The directories of the project that the agent would read if it were started in the root of the project.
    pub missed: Vec<PathBuf>,
    /// Settings of the agent that cannot be read, and directories that hold more than is looked at.
    pub problems: Vec<Error>,
}

/// A file that an agent finds where it looks for skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingEntry {
    /// What the agent calls the skill; for a file that does not load, the name of its directory.
    pub name: String,
    /// The file, as the agent reaches it.
    pub file: PathBuf,
    /// The file with all links followed.
    pub real: PathBuf,
    /// Whose it is.
    pub owner: Owner,
    /// The whole description as the agent reads it, with all that it adds.
    pub description: String,
    /// Its line in the listing where there is room; `None` if that is not known to the byte, or it has none.
    pub line: Option<String>,
    /// How much the whole description takes of the budget, in units.
    pub size: u64,
    /// How much of it is listed.
    pub state: State,
    /// Why it is listed shortened, by name only or not at all, where the state does not say.
    pub why: Option<Why>,
}

/// The most files that are named beside one of the same name: links can make thousands.
pub const MOST_OTHERS: usize = 10;

/// How much of a skill is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Name and description.
    Whole,
    /// The name, and the first characters of the description: that many.
    Cut(usize),
    /// Only the name.
    NameOnly,
    /// The name, and perhaps the whole description: some do not fit, and the agent's choice among them is unknown.
    Uncertain,
    /// Nothing: the budget is spent.
    Omitted,
    /// Nothing: only a person can start it, or it is switched off.
    Hidden(Why),
    /// Nothing: this file has the same name and wins.
    Shadowed(PathBuf),
    /// This file or one of these, which have the same name: which one is not fixed. Names at most [`MOST_OTHERS`].
    Contested(Vec<PathBuf>),
    /// Nothing: the agent does not load the file.
    NotLoaded(Why),
}

/// Why a skill is not listed, or the file not loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Its frontmatter says so.
    #[error("its frontmatter says `{0}`")]
    Field(String),
    /// It is listed once the agent works on a file that matches.
    #[error("listed once a file that matches `paths` is read")]
    Paths,
    /// `agents/openai.yaml` says so.
    #[error("`agents/openai.yaml` says `allow_implicit_invocation: false`")]
    OpenAiPolicy,
    /// A setting of the agent says so.
    #[error("`{key}` in `{}` says so", .file.display())]
    Setting {
        /// The file.
        file: PathBuf,
        /// The key in it.
        key: String,
    },
    /// The budget is spent.
    #[error("no room")]
    NoRoom,
    /// The agent lists no more of any description.
    #[error("it lists at most {0} characters of a description")]
    Longest(usize),
    /// The agent lists no descriptions.
    #[error("it lists names only")]
    NamesOnly,
    /// It has no description.
    #[error("it has no description")]
    NoDescription,
    /// It has no text.
    #[error("it has no text below the frontmatter")]
    NoBody,
    /// It has no name.
    #[error("it has no name")]
    NoName,
    /// The name may not be that long.
    #[error("its name has {0} characters, more than 64")]
    LongName(usize),
    /// The agent takes only names as the specification wants them.
    #[error("`{0}` is not a name that it takes")]
    OddName(String),
    /// The name is not that of its directory.
    #[error("its name `{0}` is not that of its directory")]
    OtherName(String),
    /// The description may not be that long.
    #[error("its description has {0} characters, more than {1}")]
    LongDescription(usize, usize),
    /// The field is not text.
    #[error("`{0}` is not text")]
    NotText(&'static str),
    /// The field is not a mapping.
    #[error("`{0}` is not a mapping")]
    NotMapping(&'static str),
    /// The agent keeps the name of its directory for itself.
    #[error("it keeps directories called `{0}` for itself")]
    Reserved(&'static str),
    /// It has no frontmatter where the agent looks for it.
    #[error("it does not begin with a line `---`, or no such line follows")]
    NoFrontmatter,
    /// The frontmatter cannot be read.
    #[error("its frontmatter is not YAML")]
    NotYaml,
    /// The file cannot be read.
    #[error("it cannot be read")]
    Unreadable,
    /// The agent does not trust the project.
    #[error("the directory is not among those that `{}` trusts", .0.display())]
    Untrusted(PathBuf),
    /// The agent does not follow the link.
    #[error("the file is a link, which is not followed")]
    Link,
}

/// What decides a listing besides the files of agent and skills.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The settings: environment, home and working directory.
    pub settings: &'a Settings,
    /// The root of the project.
    pub project: &'a Path,
    /// The model's window in tokens; without one, that of the agent's settings or its usual model.
    pub window: Option<u64>,
}

/// A skill on its way into the listing.
#[derive(Debug)]
struct Candidate {
    found: FoundFile,
    name: String,
    texts: Texts,
    /// Why it is not listed, if that is decided.
    state: Option<State>,
    /// Why only its name is listed, whatever room there is.
    name_only: Option<Why>,
}

/// Returns what the model of `agent` gets to see; `None` if it is unknown how the agent lists
/// skills, and where it looks for them.
pub fn listing(agent: &Agent, asked: Asked<'_>) -> Option<Listing> {
    listing_with(agent, asked, &[])
}

/// Works like [`listing`], as if the project had the skills in the directories `added` instead of its own with the same names.
/// A skill that the agent finds anyway stays where it is.
pub fn listing_with(agent: &Agent, asked: Asked<'_>, added: &[PathBuf]) -> Option<Listing> {
    let rules = followed(agent)?;
    let mut config = config::read(rules, asked);
    let dirs = walk::dirs(rules, asked, &config);
    let mut found = walk::walk(rules, &dirs, &mut config);
    walk::add_commands(&config.commands, &mut found);
    let added = walk::add(&mut found, &dirs, added);
    let read = workers::map(&found, workers::PIECE, || (), |(), found| read::texts(rules, found));
    let read: Vec<_> = read.collect();
    let mut candidates: Vec<_> =
        found.into_iter().zip(read).map(|(found, texts)| candidate(rules, &config, found, texts)).collect();
    let is_added = |candidate: &Candidate| added.contains(&candidate.found.at);
    let named = candidates.iter().filter(|candidate| is_added(candidate)).map(|added| added.name.clone());
    let replaced: BTreeSet<String> = named.collect();
    candidates.retain(|candidate| {
        is_added(candidate) || candidate.found.owner != Owner::Project || !replaced.contains(&candidate.name)
    });
    let all = candidates.len();
    if rules.same_name == SameName::Any {
        leave_repeated(&mut candidates, |_| false);
    }
    // Which path of a file is told is not fixed either.
    let is_fixed = candidates.len() == all;
    choose(rules, &mut candidates);
    leave_repeated(&mut candidates, |one| !matches!(one.state, Some(State::Shadowed(_))));
    sort(rules, &mut candidates);
    let listing = finished(rules, asked, config, candidates);
    Some(Listing { text: listing.text.filter(|_| is_fixed), ..listing })
}

/// Returns the rules of an agent, if they are enough to tell what it lists.
fn followed(agent: &Agent) -> Option<&'static Rules> {
    rules(agent.id).filter(|rules| rules.evidence != Evidence::Described && !rules.roots.is_empty())
}

fn candidate(rules: &Rules, config: &Config, found: FoundFile, texts: Result<Texts, Why>) -> Candidate {
    let directory = || found.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let untrusted = config.untrusted.clone().filter(|_| found.owner == Owner::Project);
    let (texts, mut state) = match untrusted.map_or(texts, |file| Err(Why::Untrusted(file))) {
        Ok(texts) => (texts, None),
        Err(why) => (Texts::default(), Some(State::NotLoaded(why))),
    };
    let own = texts.name.clone().filter(|_| rules.name != Name::Directory || found.plugin.is_some());
    let name = own.unwrap_or_else(directory);
    let name = found.plugin.as_ref().map_or_else(|| name.clone(), |plugin| format!("{plugin}:{name}"));
    // Cline's names are the same in any case.
    let name = if rules.form == Form::Names { name.to_lowercase() } else { name };
    if state.is_none() {
        state = texts.hidden.clone().or_else(|| config.off.clone()).map(State::Hidden);
    }
    let mut name_only = None;
    if let Some(says) = config.says(&name, &found)
        && state.is_none()
    {
        match says {
            Says::Off(why) => state = Some(State::Hidden(why)),
            Says::NameOnly(why) => name_only = Some(why),
        }
    }
    Candidate { found, name, texts, state, name_only }
}

/// Sorts as the agent does.
fn sort(rules: &Rules, candidates: &mut [Candidate]) {
    candidates.sort_by_key(|candidate| candidate.found.at);
    match rules.order {
        Order::Owner => candidates.sort_by_cached_key(|candidate| {
            let rank = match candidate.found.owner {
                Owner::BuiltIn => 0,
                Owner::Managed => 1,
                Owner::Project => 2,
                Owner::User | Owner::Plugin => 3,
            };
            (rank, candidate.name.clone(), candidate.found.real.clone().into_os_string())
        }),
        Order::Name => {
            let ranks = ranks(candidates);
            candidates.sort_by_key(|candidate| ranks.get(&candidate.name).copied());
        }
        Order::Bytes => candidates.sort_by(|one, other| one.name.cmp(&other.name)),
        Order::Path => candidates.sort_by_cached_key(|candidate| lower(&candidate.found.file)),
        Order::Found | Order::Unknown => {}
    }
}

/// Returns the directories in which `agent` looks for skills, each with its owner: of skills with one name, it lists that of
/// the first. `None` if that is unknown, or if it lists all of them or any.
pub fn precedence(agent: &Agent, asked: Asked<'_>) -> Option<Vec<(PathBuf, Owner)>> {
    let rules = followed(agent)?;
    let dirs = walk::dirs(rules, asked, &config::read(rules, asked)).into_iter();
    let mut dirs: Vec<_> = dirs.map(|dir| (dir.path, dir.owner)).collect();
    match rules.same_name {
        SameName::First => {}
        SameName::Last => dirs.reverse(),
        SameName::All | SameName::Any | SameName::LastPath | SameName::Unknown => return None,
    }
    Some(dirs)
}

/// Leaves out files of one name that were found again: they are one skill. Those that `counts` keeps stay.
fn leave_repeated(candidates: &mut Vec<Candidate>, counts: impl Fn(&Candidate) -> bool) {
    let key = |one: &Candidate| (one.found.real.clone(), one.name.clone());
    let mut seen: BTreeSet<_> = candidates.iter().filter(|one| counts(one)).map(key).collect();
    candidates.retain(|one| counts(one) || seen.insert(key(one)));
}

/// Decides among skills with one name.
fn choose(rules: &Rules, candidates: &mut [Candidate]) {
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, candidate) in candidates.iter().enumerate() {
        if !matches!(candidate.state, Some(State::NotLoaded(_))) {
            named.entry(candidate.name.clone()).or_default().push(at);
        }
    }
    let files: Vec<_> = candidates.iter().map(|candidate| candidate.found.file.clone()).collect();
    for mut same in named.into_values().filter(|same| same.len() > 1) {
        // The order of reading, whatever the order of the listing is.
        same.sort_by_key(|at| candidates[*at].found.at);
        let winner = match rules.same_name {
            SameName::All => continue,
            SameName::First => same.first(),
            SameName::Last => same.last(),
            SameName::LastPath => same.iter().max_by_key(|at| lower(&files[**at])),
            SameName::Any | SameName::Unknown => None,
        }
        .copied();
        if let (SameName::Last, Some(winner)) = (rules.same_name, winner) {
            // It takes the place of the first.
            candidates[winner].found.at = candidates[same[0]].found.at;
        }
        for at in same.iter().copied().filter(|at| Some(*at) != winner) {
            let state = &mut candidates[at].state;
            match winner {
                Some(winner) => *state = Some(State::Shadowed(files[winner].clone())),
                None if state.is_none() => {
                    let others = same.iter().filter(|other| **other != at).take(MOST_OTHERS);
                    *state = Some(State::Contested(others.map(|other| files[*other].clone()).collect()));
                }
                None => {}
            }
        }
    }
}

fn lower(path: &Path) -> String {
    path.to_string_lossy().to_lowercase()
}

/// Returns the place of each name in the order of JavaScript's `localeCompare`, which these agents sort by.
fn ranks(candidates: &[Candidate]) -> BTreeMap<String, usize> {
    let names: BTreeSet<&str> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
    let mut names: Vec<&str> = names.into_iter().collect();
    // Names that are the same in that order keep that of their bytes.
    let _ = order::sort(&mut names);
    names.into_iter().enumerate().map(|(at, name)| (name.to_owned(), at)).collect()
}

/// Fits what is listed into the budget, and tells the rest after it.
fn finished(rules: &'static Rules, asked: Asked<'_>, config: Config, candidates: Vec<Candidate>) -> Listing {
    let (listed, others): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|candidate| matches!(candidate.state, None | Some(State::Contested(_))));
    let Fitted { states, whys, lines, sizes, used, whole, lacking, unit, budget, window, text } =
        fit(rules, asked, &config, &listed);
    let is_in_doubt = |one: &Candidate| one.state.is_some();
    let is_fixed = !listed.iter().any(is_in_doubt) && !states.contains(&State::Uncertain);
    let entry = |candidate: Candidate, size, state, why, line| ListingEntry {
        name: candidate.name,
        file: candidate.found.file,
        real: candidate.found.real,
        owner: candidate.found.owner,
        description: candidate.texts.whole(),
        line,
        size,
        state,
        why,
    };
    let mut entries: Vec<ListingEntry> = Vec::new();
    let fitted = states.into_iter().zip(whys).zip(sizes).zip(lines);
    for (mut candidate, (((state, why), size), line)) in listed.into_iter().zip(fitted) {
        let state = candidate.state.take().unwrap_or(state);
        entries.push(entry(candidate, size, state, why, line));
    }
    entries.extend(others.into_iter().map(|mut candidate| {
        let state = candidate.state.take().unwrap_or(State::Omitted);
        entry(candidate, 0, state, None, None)
    }));
    let text = text.filter(|_| rules.is_exact && is_fixed);
    let problems = config.problems;
    let missed = walk::missed(rules, asked);
    Listing { rules, entries, window, budget, used, whole, lacking, unit, text, missed, problems }
}
