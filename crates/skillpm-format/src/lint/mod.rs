//! The linter: the requirements of the specification for a `SKILL.md`, and where a file breaks them.
//!
//! One rule is one file below `rules`, with everything about it in one static: other parts need only the table
//! [`RULES`]. Rules look at values only; they read no files. An error is a breach of the specification's wording;
//! anything that the specification does not mention but some tools refuse is a warning.

mod apply;
mod baseline;
mod clients;
mod config;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod counts;
mod delimiters;
mod editor;
mod edits;
mod entries;
mod fields;
mod finding;
mod fix;
mod lenient;
mod precision;
mod profile;
mod profile_docs;
mod quote;
mod reference;
pub mod report;
mod rules;
mod set_version;
mod subject;
mod switch;
mod target;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod unreadable;
mod words;

pub use apply::{Applied, Fixed, apply, fix_all};
pub use baseline::{Baseline, BaselineError};
pub use clients::{CLIENTS, Client, is_of_client};
pub use config::LintConfig;
pub use editor::{Choices, Completion, complete, explained, field_at};
pub use fields::{Field, fields, metadata_fields};
pub use finding::{Finding, Severity};
pub use fix::{Edit, Fix, Safety};
pub use precision::{Precision, precision};
pub use profile::{Level, Levels, Profile, RuleOptions, Ruleset, UnknownName, rule};
pub use profile_docs::ProfileDocs;
pub use rules::{NAME_TWICE, RULES, SECRET_IN_TEXT, TEMPLATE_UNTOUCHED, has_wanted_text};
pub(crate) use rules::{
    SCRIPT_ENDINGS, comments, ending, hidden_message, hidden_runs, instructions, markup, out_of_sight,
};
pub use set_version::set_version;
pub use subject::{FileFacts, OtherSkill, Outside, SkillFile, SkillFileKind, Subject, links_outside};
pub use unreadable::{FILE_KIND, documented};

use std::ops::Range;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Document, Problem, ProblemKind};

/// The maximum number of bytes in a message: a key may have thousands.
const MAX_MESSAGE: usize = 400;

/// A rule of the linter.
#[derive(Debug)]
pub struct Rule {
    /// The name that switches it on and off.
    pub id: &'static str,
    /// The kind of rule.
    pub group: Group,
    /// How severe a finding is in each profile, unless the finding sets its own severity.
    pub levels: Levels,
    /// A one-line summary that starts in lower case.
    pub summary: &'static str,
    /// The text for the reference page.
    pub docs: Docs,
    /// The kind of fix that findings can provide, if any.
    pub fix: Option<Safety>,
    /// The input it needs in addition to the file itself.
    pub needs: Needs,
    /// How it checks.
    pub check: Check,
}

/// How a rule checks.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// On the whole subject: adds its findings.
    Subject(fn(&Subject<'_>, &mut Vec<Finding>)),
    /// On each problem found when the document was read: returns a finding about it. Most documents have none, and then
    /// such rules are not called.
    Problem(fn(&Subject<'_>, &Problem) -> Option<Finding>),
}

/// The input that a rule needs in addition to the `SKILL.md` itself. Callers list a skill's files only if an enabled rule
/// needs them: listing takes longer than everything else.
#[derive(Debug, Clone, Copy)]
pub enum Needs {
    /// Nothing.
    Document,
    /// The paths of the skill's files if the document names one; the function reports whether it may.
    Paths(fn(&Subject<'_>) -> bool),
    /// All of the skill's files, and the content of some of them.
    Files,
}

/// The kind of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// The requirements of the specification, and the differences between tools.
    Spec,
    /// The quality of a skill.
    Quality,
    /// Readiness for publishing: version, dependencies, license.
    Package,
    /// Quirks of the reference validator only.
    Quirk,
}

/// The text about a rule in the reference page.
#[derive(Debug)]
pub struct Docs {
    /// The subject of the rule.
    pub what: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// A file `pdf/SKILL.md` that breaks the rule.
    pub bad: &'static str,
    /// The same file, corrected.
    pub good: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
}

impl Rule {
    /// Adds the findings in `subject` to `findings`.
    pub fn look(&self, subject: &Subject<'_>, findings: &mut Vec<Finding>) {
        match self.check {
            Check::Subject(check) => check(subject, findings),
            Check::Problem(check) => {
                let problems = subject.document.problems();
                findings.extend(problems.iter().filter_map(|problem| check(subject, problem)));
            }
        }
    }

    /// Returns a finding of this rule with the message of `problem`.
    fn told(&self, problem: &Problem) -> Finding {
        self.finding(problem.to_string(), problem.span.clone())
    }

    /// Returns a finding of this rule at `span`. Cuts a message that quotes too much of the file.
    pub fn finding(&self, message: impl Into<String>, span: Range<usize>) -> Finding {
        let mut message = message.into();
        if message.len() > MAX_MESSAGE {
            message.truncate(message.floor_char_boundary(MAX_MESSAGE));
            message.push('…');
        }
        Finding::new(self.id, self.levels.spec.severity().unwrap_or(Severity::Error), message, span)
    }
}

/// The rules of the specification. They and their plans are built once: that takes as long as checking a small skill,
/// and a source may have thousands.
static USUAL: LazyLock<Ruleset> = LazyLock::new(Ruleset::default);

/// Checks `subject` by the rules of the specification and returns the findings in the order of the text.
pub fn check(subject: &Subject<'_>) -> Vec<Finding> {
    static PLAN: LazyLock<Plan<'static>> = LazyLock::new(|| Plan::new(&USUAL));
    PLAN.check(subject)
}

/// Returns what users should know about `subject` before an agent gets it, whichever rules are switched: see the table
/// of rules.
pub fn before_use(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in rules::BEFORE_USE {
        rule.look(subject, &mut findings);
    }
    findings
}

/// Checks `subject` by `rules` and returns the findings in the order of the text.
pub fn check_with(subject: &Subject<'_>, rules: &Ruleset) -> Vec<Finding> {
    Plan::new(rules).check(subject)
}

/// Reports whether the frontmatter has lines that are commands of a template (`{% if %}`). They are not YAML, and a
/// repair would turn them into text of the key above.
fn is_of_a_template(document: &Document) -> bool {
    let yaml = document.yaml_span().and_then(|span| document.text().get(span));
    yaml.is_some_and(|yaml| yaml.lines().any(|line| line.trim_start().starts_with("{%")))
}

/// Reports whether the text of `document` is exactly the content of its file. For bytes that are not UTF-8 it is not: a
/// repair would lose them.
pub fn is_text(document: &Document) -> bool {
    let is_lost = |kind: &ProblemKind| matches!(kind, ProblemKind::Utf16 | ProblemKind::InvalidUtf8 { .. });
    !document.problems().iter().any(|problem| is_lost(&problem.kind))
}

/// An enabled rule and its severity.
type On = (&'static Rule, Severity);

/// The enabled rules of a [`Ruleset`], looked up once for many skills.
#[derive(Debug)]
pub struct Plan<'a> {
    rules: &'a Ruleset,
    on: Vec<On>,
    /// The rules that check every document, not only documents with problems.
    always: Vec<On>,
}

impl<'a> Plan<'a> {
    /// Returns the plan for `rules`.
    pub fn new(rules: &'a Ruleset) -> Self {
        // If comments switch rules, the unused ones are found at the end, by what the other rules have reported.
        let last = |rule: &Rule| rule.id == switch::UNUSED && !rules.profile.is_verdict();
        let on = RULES.iter().filter(|rule| !last(rule));
        let on = on.filter_map(|rule| Some((*rule, rules.level(rule).severity()?)));
        let on: Vec<_> = on.collect();
        let always = |(rule, _): &On| matches!(rule.check, Check::Subject(_));
        let always = on.iter().copied().filter(always).collect();
        Self { rules, on, always }
    }

    /// Reports whether an enabled rule needs the list of the files of `subject`.
    pub fn lists_files(&self, subject: &Subject<'_>) -> bool {
        self.on.iter().any(|(rule, _)| match rule.needs {
            Needs::Document => false,
            Needs::Paths(names_file) => names_file(subject),
            Needs::Files => true,
        })
    }

    /// Reports whether an enabled rule needs the content of files.
    pub fn reads_files(&self) -> bool {
        self.on.iter().any(|(rule, _)| matches!(rule.needs, Needs::Files))
    }

    /// Checks `subject` and returns the findings in the order of the text.
    pub fn check(&self, subject: &Subject<'_>) -> Vec<Finding> {
        let mut findings = match self.rules.profile {
            // It knows no switches: its verdict is the one of a program that does not know them either.
            Profile::Reference => reference::check(subject, &self.on),
            profile => {
                let mut findings = self.check_rules(subject);
                if profile == Profile::Lenient {
                    lenient::demote(subject, self.rules, &mut findings);
                }
                Self::tell_once(subject.document, &mut findings);
                if !profile.is_verdict() {
                    switch::apply(subject.document, self.rules, &mut findings);
                }
                findings
            }
        };
        if !findings.is_empty() && (is_of_a_template(subject.document) || !is_text(subject.document)) {
            for finding in &mut findings {
                finding.fix = None;
            }
        }
        // A stable sort: findings at the same place keep the order of the table.
        findings.sort_by_key(|finding| finding.span.start);
        findings
    }

    fn check_rules(&self, subject: &Subject<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        // Several rules cover each of them.
        let right_name = subject.wrong_name().is_none();
        let subject = &Subject { right_name, ..*subject };
        let on = if subject.document.problems().is_empty() { &self.always } else { &self.on };
        for (rule, severity) in on {
            let first = findings.len();
            rule.look(subject, &mut findings);
            // A finding may be more or less severe than its rule; that applies if the rule has its own default level.
            let has_own_level = Some(*severity) != rule.levels.spec.severity();
            for finding in &mut findings[first..] {
                if has_own_level {
                    finding.severity = *severity;
                } else if self.rules.profile == Profile::Strict {
                    // What is less severe than its rule is not in a strict check.
                    finding.severity = finding.severity.max(*severity);
                }
            }
        }
        rules::drop_told_twice(&mut findings);
        findings
    }

    /// Keeps a single finding for a file that is not text at all: every byte would be another finding.
    fn tell_once(document: &Document, findings: &mut Vec<Finding>) {
        let has = |wanted: fn(&ProblemKind) -> bool| {
            document.problems().iter().any(|problem| wanted(&problem.kind))
        };
        let is_text = !has(|kind| matches!(kind, ProblemKind::InvalidUtf8 { .. } | ProblemKind::Nul));
        if is_text || !has(|kind| matches!(kind, ProblemKind::MissingFrontmatter(_))) {
            return;
        }
        let worst = findings.iter().map(|finding| finding.severity).max();
        let first = findings.iter().position(|finding| finding.rule == "encoding");
        if let Some((at, severity)) = first.zip(worst) {
            let finding = findings.swap_remove(at);
            *findings = vec![finding.severity(severity)];
        }
    }
}
