//! SARIF 2.1.0, for code scanning.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};

use super::fingerprint::numbered;
use super::{LintReport, SkillReport, in_tree, rule_page, span};
use crate::document::LineIndex;
use crate::lint::{Edit, Finding, Fix, Group, Level, Profile, Rule, documented};
use crate::text::{percent_encoded, visible};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Returns the report as a log with one run.
pub fn sarif(report: &LintReport<'_>) -> Value {
    let rules: Vec<&Rule> = documented().collect();
    let results: Vec<Value> = report.skills.iter().flat_map(|skill| results(skill, &rules)).collect();
    let rules: Vec<Value> = rules.iter().map(|rule| description(rule, report.profile)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "skillpm",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "newlineSequences": ["\r\n", "\n", "\r"],
            "results": results,
        }],
    })
}

/// Returns the description of a rule for the table of a run.
fn description(rule: &Rule, profile: Profile) -> Value {
    let docs = &rule.docs;
    let group = match rule.group {
        Group::Spec => "specification",
        Group::Quality => "quality",
        Group::Package => "package",
        Group::Quirk => "quirk",
    };
    let level = match rule.levels.of(profile) {
        Level::Error => "error",
        Level::Warning | Level::Off => "warning",
        Level::Note => "note",
    };
    let text = format!("{} {} Source: {}.", docs.what, docs.why, docs.source);
    let block = |title: &str, code: &str| format!("**{title}**\n\n{}\n", fenced(code));
    let markdown = format!(
        "{} {}\n\n{}\n{}\nSource: {}.",
        docs.what,
        docs.why,
        block("Wrong", docs.bad),
        block("Right", docs.good),
        docs.source
    );
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": format!("{} {}", docs.what, docs.why) },
        "help": { "text": text, "markdown": markdown },
        "helpUri": rule_page(rule.id),
        "defaultConfiguration": {
            "enabled": rule.levels.of(profile) != Level::Off,
            "level": level,
        },
        "properties": { "tags": ["agent-skills", group] },
    })
}

/// Returns a block of code, between more backticks than it contains.
fn fenced(code: &str) -> String {
    let fence = if code.contains("```") { "````" } else { "```" };
    format!("{fence}text\n{}\n{fence}", code.trim_end())
}

fn results(skill: &SkillReport<'_>, rules: &[&Rule]) -> Vec<Value> {
    let writer = Writer { skill, lines: LineIndex::new(skill.text) };
    let mut seen = BTreeMap::new();
    skill.findings.iter().map(|finding| writer.result(finding, rules, &mut seen)).collect()
}

struct Writer<'a> {
    skill: &'a SkillReport<'a>,
    lines: LineIndex<'a>,
}

impl Writer<'_> {
    fn result(&self, finding: &Finding, rules: &[&Rule], seen: &mut BTreeMap<String, usize>) -> Value {
        let help = finding.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
        let (hash, count) = numbered(self.skill.text, &self.lines, finding, seen);
        let mut result = json!({
            "ruleId": finding.rule,
            "level": finding.severity.to_string(),
            "message": { "text": visible(&format!("{}{help}", finding.message)) },
            "locations": [{ "physicalLocation": {
                "artifactLocation": self.artifact(),
                "region": self.region(&finding.span),
            }}],
            "partialFingerprints": { "primaryLocationLineHash": format!("{hash}:{count}") },
        });
        if let Some(index) = rules.iter().position(|rule| rule.id == finding.rule) {
            result["ruleIndex"] = index.into();
        }
        // The format cannot express the renaming of a file.
        if let Some(fix) = finding.fix.as_ref().filter(|fix| !fix.edits.is_empty()) {
            result["fixes"] = json!([self.fix(fix)]);
        }
        result
    }

    fn artifact(&self) -> Value {
        let path = &self.skill.path;
        if path.starts_with('/') {
            return json!({ "uri": format!("file://{}", percent_encoded(path)) });
        }
        json!({ "uri": percent_encoded(in_tree(path)), "uriBaseId": "%SRCROOT%" })
    }

    fn region(&self, bytes: &Range<usize>) -> Value {
        let bytes = span(self.skill.text, bytes);
        let (start, end) = (self.lines.position(bytes.start), self.lines.position(bytes.end));
        let before = self.lines.offset(bytes.start);
        json!({
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
            "charOffset": before,
            "charLength": self.lines.offset(bytes.end) - before,
        })
    }

    /// Returns a region for deleted bytes. A byte-order mark is not part of any text region, so it can only be given in
    /// bytes.
    fn deleted(&self, bytes: &Range<usize>) -> Value {
        if self.skill.text.starts_with('\u{feff}') && bytes.start == 0 && bytes.end > 0 {
            return json!({ "byteOffset": 0, "byteLength": bytes.end });
        }
        self.region(bytes)
    }

    fn fix(&self, fix: &Fix) -> Value {
        let replacement = |edit: &Edit| {
            let mut replacement = json!({ "deletedRegion": self.deleted(&edit.span) });
            if !edit.text.is_empty() {
                replacement["insertedContent"] = json!({ "text": edit.text });
            }
            replacement
        };
        json!({
            "description": { "text": fix.title },
            "artifactChanges": [{
                "artifactLocation": self.artifact(),
                "replacements": fix.edits.iter().map(replacement).collect::<Vec<_>>(),
            }],
        })
    }
}

#[cfg(test)]
mod tests;
