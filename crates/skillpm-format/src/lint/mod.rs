//! The linter: the requirements of the specification for a `SKILL.md`, and where a file breaks them.
//!
//! One rule is one file below `rules`, with everything about it in one static: other parts need only the table
//! [`RULES`]. Rules look at values only; they read no files. An error is a breach of the specification's wording;
//! anything that the specification does not mention but some tools refuse is a warning.

mod apply;
mod clients;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod counts;
mod delimiters;
mod edits;
mod entries;
mod finding;
mod fix;
mod lenient;
mod profile;
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
mod unreadable;
mod words;

pub use apply::{Applied, Fixed, apply, fix_all};
pub use clients::{CLIENTS, Client};
pub use finding::{Finding, Severity};
pub use fix::{Edit, Fix, Safety};
pub use profile::{Level, Levels, Profile, Ruleset, UnknownName, rule};
pub use rules::RULES;
pub(crate) use rules::{SCRIPT_ENDINGS, ending, hidden_message, hidden_runs, instructions};
pub use set_version::set_version;
pub use subject::{OtherSkill, SkillFile, SkillFileKind, Subject};
pub use unreadable::{FILE_KIND, documented};

use std::ops::Range;
use std::sync::LazyLock;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// What the rule looks for.
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
        Finding {
            rule: self.id,
            severity: self.levels.spec.severity().unwrap_or(Severity::Error),
            message,
            span,
            label: None,
            help: None,
            fix: None,
            ends: false,
        }
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
        let last = |rule: &Rule| rule.id == switch::UNUSED && rules.profile != Profile::Reference;
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
                switch::apply(subject.document, self.rules, &mut findings);
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
            if findings.len() > first && Some(*severity) != rule.levels.spec.severity() {
                for finding in &mut findings[first..] {
                    finding.severity = *severity;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a rule says that it needs is what it looks at.
    #[test]
    fn rules_look_at_no_more_than_they_say() {
        for text in RULES.iter().flat_map(|rule| [rule.docs.bad, rule.docs.good]) {
            let document = Document::parse(text.to_owned());
            let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
            for rule in RULES {
                let needs_files = match rule.needs {
                    Needs::Document => false,
                    Needs::Paths(names_file) => names_file(&subject),
                    Needs::Files => true,
                };
                let found = |subject: &Subject<'_>| {
                    let mut findings = Vec::new();
                    rule.look(subject, &mut findings);
                    findings
                };
                if !needs_files {
                    assert_eq!(found(&subject), found(&subject.with_files(&[])), "{}", rule.id);
                }
            }
        }
    }

    /// The default profile lists files only for documents that name one, and opens none.
    #[test]
    fn files_are_listed_for_the_rules_that_need_them() {
        let plain =
            Document::parse("---\nname: pdf\nlicense: MIT\n---\n[a](#b) [c](https://d.e)\n".to_owned());
        let linked = Document::parse("---\nname: pdf\n---\n[a](b.md)\n".to_owned());
        let licensed = Document::parse("---\nname: pdf\nlicense: see LICENSE.txt\n---\n".to_owned());
        for (profile, is_listed, is_named, is_read) in [
            (Profile::Spec, false, true, false),
            (Profile::Reference, false, false, false),
            (Profile::ClaudeCode, true, true, true),
            (Profile::Publish, true, true, true),
            (Profile::Lenient, false, false, false),
        ] {
            let rules = Ruleset::new(profile);
            let plan = Plan::new(&rules);
            let lists = |document| plan.lists_files(&Subject::new(document, Some("pdf"), "SKILL.md"));
            assert_eq!(lists(&plain), is_listed, "{profile}");
            assert_eq!([lists(&linked), lists(&licensed)], [is_named; 2], "{profile}");
            assert_eq!(plan.reads_files(), is_read, "{profile}");
        }
        let mut rules = Ruleset::new(Profile::Spec);
        rules.set("reference-depth", Level::Warning).expect("a rule");
        assert!(Plan::new(&rules).reads_files());
    }

    /// Its commands would become a part of the value above.
    #[test]
    fn the_frontmatter_of_a_template_is_not_repaired() {
        let fixes = |text: &str| {
            let document = Document::parse(text.to_owned());
            let findings = check(&Subject::new(&document, None, "SKILL.md"));
            assert!(!findings.is_empty(), "{text}");
            findings.iter().filter(|finding| finding.fix.is_some()).count()
        };
        let template = "---\nname: {{ name }}\ndescription: Reads: all. Use it for tests.\n{% if license %}\nlicense: {{ license }}\n{% endif %}\n---\n";
        assert_eq!(fixes(template), 0);
        assert!(fixes("---\nname: a\ndescription: Reads: {% if %} all. Use it for tests.\n---\n") > 0);
    }

    /// Text that others read up to its closing quote, or without the comment after it, is not changed without
    /// being requested.
    #[test]
    fn a_quote_that_is_open_is_not_repaired_unasked() {
        let safety = |description: &str| {
            let text = format!("---\nname: a\ndescription: {description}\nlicense: MIT\n---\n");
            let document = Document::parse(text);
            let findings = check(&Subject::new(&document, None, "SKILL.md"));
            findings.into_iter().find_map(|finding| finding.fix).map(|fix| fix.safety)
        };
        assert_eq!(safety("\"Reads.\nTriggers: pdf. Use it when asked.\""), None);
        assert_eq!(safety("\"Reads PDF. Use it when asked.\"#todo"), Some(Safety::Unsafe));
        assert_eq!(safety("\"Reads PDF: all. Use it when asked."), Some(Safety::Unsafe));
        assert_eq!(safety("\"Reads\" all: PDF. Use it when asked."), Some(Safety::Safe));
    }

    /// For the reference validator the frontmatter begins after the delimiter, and the name is on the next
    /// line.
    #[test]
    fn a_name_is_never_put_on_the_line_of_the_delimiter() {
        for (end, at) in [("\n", 4), ("\r\n", 5)] {
            let text =
                ["---", "description: >", "  Reads PDF files. Use it when asked.", "---", ""].join(end);
            let document = Document::parse(text);
            for profile in [Profile::Spec, Profile::Reference] {
                let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
                let findings = check_with(&subject, &Ruleset::new(profile));
                let fix = findings
                    .iter()
                    .find(|finding| finding.rule == "name-missing")
                    .and_then(|f| f.fix.as_ref());
                let edit = &fix.expect("a repair").edits[0];
                assert_eq!((edit.span.start, &*edit.text), (at, &*format!("name: pdf{end}")), "{profile:?}");
            }
        }
    }

    #[test]
    fn every_rule_is_complete_and_its_examples_are_true() {
        let mut ids = std::collections::BTreeSet::new();
        for rule in RULES {
            assert!(ids.insert(rule.id), "{} appears twice", rule.id);
            assert!(rule.id.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", rule.id);
            assert!(!rule.summary.is_empty() && !rule.summary.ends_with('.'), "{}", rule.id);
            for text in [rule.docs.what, rule.docs.why] {
                assert!(text.ends_with('.'), "{}: {text}", rule.id);
            }
            assert!(!rule.docs.source.is_empty(), "{}", rule.id);
            // The name of a file is not in its text.
            let (bad, good) = (rule.docs.bad, rule.docs.good);
            let bad_name = match rule.id {
                "file-name" => "skill.md",
                "quirk-file-name" => "Skill.md",
                _ => "SKILL.md",
            };
            assert!(!testing::example(rule, bad, bad_name).is_empty(), "{}: bad", rule.id);
            assert_eq!(testing::example(rule, good, "SKILL.md"), [], "{}: good", rule.id);
        }
    }

    /// Texts that a rule repairs, although only a person knows the intended text in the example of its
    /// documentation.
    const REPAIRED: &[(&str, &str)] = &[
        ("frontmatter-missing", "name: pdf\ndescription: Reads PDF files.\n---\n"),
        ("name-ascii", "---\nname: ｐｄｆ\ndescription: Reads PDF files.\n---\n"),
        ("description-missing", "---\nname: pdf\ndescription: # Reads PDF files.\n---\n"),
        ("link-missing", "---\nname: pdf\ndescription: Reads PDF files.\n---\nSee [forms](forms.md).\n"),
    ];

    /// A rule that declares a repair repairs the example in its documentation. The name of a file is repaired
    /// with the file.
    #[test]
    fn every_rule_with_a_repair_repairs_its_example() {
        let mut without = Vec::new();
        for rule in RULES.iter().filter(|rule| rule.fix.is_some()) {
            let other = REPAIRED.iter().find(|(id, _)| *id == rule.id);
            let bad = other.map_or(rule.docs.bad, |(_, text)| text);
            let found = testing::example(rule, bad, "SKILL.md");
            let Some(fix) = found.iter().find_map(|finding| finding.fix.as_ref()) else {
                without.push(rule.id);
                continue;
            };
            let fixed = testing::applied(bad, fix);
            let left = testing::example(rule, &fixed, "SKILL.md");
            assert!(left.len() < found.len(), "{}: {fixed}", rule.id);
        }
        assert_eq!(without, ["file-name"]);
    }

    #[test]
    fn what_is_no_text_is_told_once() {
        let bytes: Vec<u8> = (0..=255).cycle().take(4096).collect();
        let document = Document::from_bytes(bytes);
        let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
        for profile in [Profile::Spec, Profile::ClaudeCode, Profile::Publish, Profile::Lenient] {
            let found = check_with(&subject, &Ruleset::new(profile));
            let told: Vec<_> = found.iter().map(|finding| (finding.rule, finding.severity)).collect();
            assert_eq!(told, [("encoding", Severity::Error)], "{profile}");
        }
    }

    #[test]
    fn findings_come_in_the_order_of_the_text() {
        let text = "\u{feff}---\nx: [a]\nname: PDF--x\nname: pdf\n---\n";
        let document = Document::parse(text.to_owned());
        let findings = check(&Subject::new(&document, Some("pdf"), "SKILL.md"));
        let places: Vec<_> = findings.iter().map(|finding| (finding.span.start, finding.rule)).collect();
        assert!(places.is_sorted_by_key(|(at, _)| *at), "{places:?}");
        assert!(places.contains(&(7, "unknown-field")), "{places:?}");
    }

    /// S0-US5.1: a skill that follows the specification.
    #[test]
    fn a_right_skill_has_no_findings() {
        let text = "---\nname: pdf\ndescription: Reads PDF. Use it for PDF.\nlicense: MIT\n\
            compatibility: needs git\nallowed-tools: Bash(git:*) Read\nmetadata:\n  version: \"1.0\"\n\
            ---\n";
        let document = Document::parse(text.to_owned());
        let subject = Subject::new(&document, Some("pdf"), "SKILL.md");
        assert_eq!(check(&subject), []);
    }

    /// A NUL character in a value is also a control character, of which loading tolerates others.
    #[test]
    fn a_nul_character_in_the_frontmatter_is_an_error_in_every_profile() {
        let document = Document::parse("---\nname: x\ndescription: \0\n---\n".to_owned());
        let subject = Subject::new(&document, Some("x"), "SKILL.md");
        for (name, profile) in Profile::ALL {
            let findings = check_with(&subject, &Ruleset::new(profile));
            let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
            assert!(
                errors.map(|finding| finding.rule).any(|rule| rule == "encoding"),
                "{name}: {findings:?}"
            );
        }
        assert!(crate::skill::load_in(&document, Some("x")).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_checked(
            yaml in "(name|description|metadata|compatibility|allowed-tools|licence|x|: |:|\n|\r\n|  |- |\"|\\[|\\]|\\{|\\}|,|é|а|Z|--|\u{80}|\0|#|&a|\\*a|=======|>>>>>>> y|>-|@|1\\.10){0,40}",
            directory in "\\PC{0,5}",
        ) {
            let document = Document::parse(format!("---\n{yaml}\n---\n"));
            let subject = Subject::new(&document, Some(&directory), "SKILL.md");
            for finding in check(&subject) {
                prop_assert!(document.text().get(finding.span.clone()).is_some(), "{:?}", finding);
                prop_assert!(finding.message.len() <= MAX_MESSAGE + 3);
            }
        }

        /// Any text can be checked in any profile, and `lenient` fails exactly the texts that do not load.
        #[test]
        fn any_text_is_checked_in_any_profile(
            yaml in "(name: x\n|description: y\n|name:|description: |metadata:\n|  |a: |\n|\r\n|\t|- |---|\"|'|\\[|\\]|\\{|\\}|é|\u{80}|\0|# skillpm: allow name-missing\n|#|&a |\\*a|! |=======|>-\n|@){0,20}",
            body in "(a|\n|```|<!-- skillpm: allow|-file| name-alphabet| x|,| -->|\0|\u{feff}){0,10}",
            cut in 0_usize..200,
        ) {
            let text = format!("---\n{yaml}\n---\n{body}");
            let mut bytes = text.clone().into_bytes();
            if let Some(byte) = bytes.get_mut(cut) {
                *byte = 0xff;
            }
            for document in [Document::parse(text), Document::parse(body), Document::from_bytes(bytes)] {
                let subject = Subject::new(&document, Some("x"), "SKILL.md");
                for (name, profile) in Profile::ALL {
                    let findings = check_with(&subject, &Ruleset::new(profile));
                    for finding in &findings {
                        prop_assert!(document.text().get(finding.span.clone()).is_some(), "{}: {:?}", name, finding);
                    }
                    // A comment can silence the linter, but does not make a skill loadable.
                    if profile == Profile::Lenient && !document.text().contains("skillpm:") {
                        let errors = findings.iter().any(|finding| finding.severity == Severity::Error);
                        let loaded = crate::skill::load_in(&document, Some("x"));
                        prop_assert_eq!(errors, loaded.is_err(), "{:?}\n{:?}", findings, loaded);
                    }
                }
            }
        }
    }
}
