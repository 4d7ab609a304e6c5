//! What a test found.

use std::ops::Range;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::trial::Trial;

/// What a test found. The JSON form of this and the other values here is an interface: fields are only added.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestOutcome {
    /// The agent whose listing was ranked; `None` where names and descriptions of the tested skills were.
    pub agent: Option<&'static str>,
    /// The number of skills that a model sees, among which each request was ranked.
    pub listed: usize,
    /// A skill passes that is among this many.
    pub top: usize,
    /// The files with requests.
    pub files: Vec<TestedFile>,
    /// The tested skills without a request, by name.
    pub without: Vec<String>,
    /// The number of skills that were found and not tested, because nothing in them changed.
    pub unchanged: usize,
    /// The pairs of skills of which one wins requests for the other, the most frequent first.
    pub collisions: Vec<Collision>,
}

/// A file with requests.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestedFile {
    /// The skill that it belongs to.
    pub skill: String,
    /// The file, as it is to be shown.
    pub file: PathBuf,
    /// Its text.
    #[serde(skip)]
    #[schemars(skip)]
    pub text: String,
    /// The requests, in the order of the file.
    pub cases: Vec<TestedCase>,
    /// The number of entries without a request.
    pub unread: usize,
    /// Why it cannot be read.
    pub problem: Option<FileProblem>,
}

/// Why a file of requests cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileProblem {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The bytes at fault.
    #[serde(skip)]
    #[schemars(skip)]
    pub span: Range<usize>,
}

/// A request, and how the skill ranks for it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TestedCase {
    /// What the file calls it, or its number in the file.
    pub id: String,
    /// What a person asks for.
    pub query: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// Where the request stands, in bytes.
    #[serde(skip)]
    #[schemars(skip)]
    pub span: Range<usize>,
    /// The skill that it is about.
    pub skill: String,
    /// Whether the skill is the right one for it.
    pub should_trigger: bool,
    /// What came out.
    pub verdict: Verdict,
    /// The place of the skill among all, from 1; `None` if no word of the request is in its texts, or if it is invisible.
    pub rank: Option<usize>,
    /// The skills that rank before it, the first of them.
    pub before: Vec<String>,
    /// Why the skill is invisible.
    pub why: Option<String>,
    /// What an agent did with the request, if it was asked.
    pub trial: Option<Trial>,
}

/// What came out of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The skill is where it should be.
    Passed,
    /// The model does not see the skill.
    Invisible,
    /// Other skills rank before the right one.
    RanksLow,
    /// The skill ranks first for a request that is not meant for it.
    Collides,
    /// The agent did not use the right skill, or used the wrong one.
    Failed,
    /// There is no other skill that could win.
    Undecided,
}

impl Verdict {
    /// Reports whether it fails the test.
    pub fn fails(self) -> bool {
        !matches!(self, Self::Passed | Self::Undecided)
    }

    /// Returns the id of the failure in reports for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::Passed => "test-passed",
            Self::Invisible => "test-invisible",
            Self::RanksLow => "test-ranks-low",
            Self::Collides => "test-collides",
            Self::Failed => "test-failed",
            Self::Undecided => "test-undecided",
        }
    }
}

/// A skill that wins requests for another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Collision {
    /// The skill that the requests are for.
    pub skill: String,
    /// The skill that ranks first.
    pub winner: String,
    /// The number of these requests.
    pub requests: usize,
}

impl TestedCase {
    /// Returns what came out, in words.
    pub fn message(&self) -> String {
        let skill = &self.skill;
        match self.verdict {
            Verdict::Passed => format!("`{skill}` is where it should be"),
            Verdict::Undecided => format!("no other skill is listed that could win instead of `{skill}`"),
            Verdict::Invisible => match &self.why {
                Some(why) => format!("`{skill}` is invisible: {why}"),
                None => format!("`{skill}` is invisible"),
            },
            Verdict::Collides => {
                format!("`{skill}` collides: it ranks 1st for a request that is not meant for it")
            }
            Verdict::RanksLow => self.low_rank(),
            Verdict::Failed => self
                .trial
                .as_ref()
                .map_or_else(String::new, |trial| trial.message(skill, self.should_trigger)),
        }
    }

    /// Returns where the skill ranks, and after which.
    fn low_rank(&self) -> String {
        let (skill, why) = (&self.skill, self.why.as_deref());
        let Some(rank) = self.rank else {
            let why = why.unwrap_or("its name and description share no word with the request");
            return format!("`{skill}` does not rank: {why}");
        };
        let first: Vec<String> = self.before.iter().map(|name| format!("`{name}`")).collect();
        let more = match (rank - 1).saturating_sub(first.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let why = why.map(|why| format!("; {why}")).unwrap_or_default();
        format!("`{skill}` ranks {}, after {}{more}{why}", ordinal(rank), first.join(", "))
    }

    /// Returns how to mend a failure.
    pub fn help(&self) -> Option<&'static str> {
        match self.verdict {
            Verdict::RanksLow if self.why.is_none() => {
                Some("say in the description when to use the skill, in the words of such requests")
            }
            Verdict::Collides => {
                Some("say in the description what the skill is not for, or make it more specific")
            }
            _ => None,
        }
    }
}

impl TestOutcome {
    /// Returns all requests.
    pub fn cases(&self) -> impl Iterator<Item = &TestedCase> {
        self.files.iter().flat_map(|file| &file.cases)
    }

    /// Returns how many requests have `verdict`.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.cases().filter(|case| case.verdict == verdict).count()
    }

    /// Reports whether nothing failed.
    pub fn passes(&self) -> bool {
        self.files.iter().all(|file| file.problem.is_none()) && self.cases().all(|case| !case.verdict.fails())
    }
}

/// Returns `1st`, `2nd`, `3rd`, `4th`.
fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals() {
        let all: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 111].into_iter().map(ordinal).collect();
        assert_eq!(all.join(" "), "1st 2nd 3rd 4th 11th 12th 13th 21st 102nd 111th");
    }
}
