//! `explain`: what a rule looks for and why, as text, JSON and the reference page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::and;
use super::table::Table;
use crate::cli::printer::Printer;
use skillpm_core::hints::explain;
use skillpm_format::lint::report::rule_page;
use skillpm_format::lint::{Group, Level, Needs, Precision, Profile, Rule, Safety, precision};

/// Prints one line for each rule.
pub(crate) fn list(printer: &Printer, rules: &[&Rule]) {
    let mut table = Table::new(&["rule", "spec", "fix", "what it asks for"]).prose("what it asks for");
    for rule in rules {
        let repair = rule.fix.map_or("", safety);
        table.row([rule.id, level(rule.levels.spec), repair, rule.summary]);
    }
    table.show(printer);
    printer.tips(&explain(rules));
}

/// Prints everything about one rule.
pub(crate) fn one(printer: &Printer, rule: &Rule) {
    let docs = &rule.docs;
    let mut text = format!("{}: {}\n\n{}\n{}\n", rule.id, rule.summary, docs.what, docs.why);
    for (title, code) in [("wrong", docs.bad), ("right", docs.good)] {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{title}:\n");
        for line in example(code) {
            let _ = writeln!(text, "{}", format!("    {line}").trim_end());
        }
    }
    let _ = write!(text, "\nlevel:   {}\n", levels(rule, "", |_| true));
    let _ = writeln!(
        text,
        "switch:  `rules = {{ {} = \"off\" }}` under `[lint]` in `skillpm.toml`, or `note`, `warning`, `error`",
        rule.id
    );
    let _ = writeln!(text, "repair:  {}", repair(rule).unwrap_or("none; a person must do it"));
    if let Some(files) = files(rule) {
        let _ = writeln!(text, "files:   {files}");
    }
    let _ = writeln!(text, "read:    {}", useful(rule));
    let _ = writeln!(text, "source:  {}", docs.source);
    let _ = writeln!(text, "docs:    {}", rule_page(rule.id));
    printer.data(&text);
}

/// A rule as data. The JSON form is an interface: fields are only added.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rule")]
pub(crate) struct RuleData {
    /// The name.
    id: &'static str,
    /// The kind of rule.
    group: Group,
    /// The requirement, in one sentence.
    summary: &'static str,
    /// The problem that it looks for.
    what: &'static str,
    /// Why it matters.
    why: &'static str,
    /// A file that it finds something in.
    bad: &'static str,
    /// The same file put right.
    good: &'static str,
    /// Where the rule comes from.
    source: &'static str,
    /// How many findings were useful, of those that were read in skills of others; null if none was read.
    precision: Option<Precision>,
    /// The level in each profile.
    levels: BTreeMap<&'static str, Level>,
    /// Whether it can be repaired: `safe` by `--fix`, `unsafe` by `--fix=unsafe`.
    fix: Option<Safety>,
    /// The input: the `document` alone, the `paths` of the skill's files as well, or the `files`.
    needs: &'static str,
    /// The address of its documentation.
    docs: String,
}

impl From<&Rule> for RuleData {
    fn from(rule: &Rule) -> Self {
        let levels = Profile::ALL.map(|(name, profile)| (name, rule.levels.of(profile)));
        Self {
            id: rule.id,
            group: rule.group,
            summary: rule.summary,
            what: rule.docs.what,
            why: rule.docs.why,
            bad: rule.docs.bad,
            good: rule.docs.good,
            source: rule.docs.source,
            precision: precision(rule.id),
            levels: levels.into(),
            fix: rule.fix,
            needs: match rule.needs {
                Needs::Document => "document",
                Needs::Paths(_) => "paths",
                Needs::Files => "files",
            },
            docs: rule_page(rule.id),
        }
    }
}

/// Prints `rules` as JSON.
pub(crate) fn json(printer: &Printer, rules: &[&Rule]) {
    printer.json(&rules.iter().map(|rule| RuleData::from(*rule)).collect::<Vec<_>>());
}

/// Returns the lines of an example. Long lines are long on purpose, and need not be shown whole.
fn example(code: &str) -> Vec<String> {
    const LINES: usize = 16;
    const CHARACTERS: usize = 200;
    let all: Vec<&str> = code.trim_end().lines().collect();
    let shown = if all.len() > LINES { LINES - 4 } else { all.len() };
    let cut = |line: &&str| match line.char_indices().nth(CHARACTERS) {
        Some((at, _)) => format!("{}… ({} characters)", &line[..at], line.chars().count()),
        None => (*line).to_owned(),
    };
    let mut lines: Vec<String> = all[..shown].iter().map(cut).collect();
    if shown < all.len() {
        lines.push(format!("… ({} more lines)", all.len() - shown));
    }
    lines
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Off => "off",
        Level::Note => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

fn safety(safety: Safety) -> &'static str {
    match safety {
        Safety::Safe => "safe",
        Safety::Unsafe => "unsafe",
    }
}

fn repair(rule: &Rule) -> Option<&'static str> {
    rule.fix.map(|safety| match safety {
        Safety::Safe => "`--fix`",
        Safety::Unsafe => "`--fix=unsafe`",
    })
}

/// Returns what the rule examines in addition to `SKILL.md`, if anything.
fn files(rule: &Rule) -> Option<&'static str> {
    match rule.needs {
        Needs::Document => None,
        Needs::Paths(_) => Some("looks for those that `SKILL.md` names"),
        Needs::Files => Some("lists all of the skill, and reads its texts"),
    }
}

/// Returns how many of the findings that were read were useful.
fn useful(rule: &Rule) -> String {
    match precision(rule.id) {
        Some(Precision { useful, read }) => {
            format!("{useful} of {read} findings in skills of others were useful")
        }
        None => "no finding in skills of others, or only notes".to_owned(),
    }
}

/// Returns a text such as `error in spec and publish, warning in lenient`, with `mark` around each name, of the levels
/// that `is_told` is true for.
fn levels(rule: &Rule, mark: &str, is_told: impl Fn(Level) -> bool) -> String {
    let all = [Level::Error, Level::Warning, Level::Note, Level::Off];
    let parts = all.into_iter().filter(|level| is_told(*level)).filter_map(|wanted| {
        let of = Profile::ALL.iter().filter(|(_, profile)| rule.levels.of(*profile) == wanted);
        let names: Vec<String> = of.map(|(name, _)| format!("{mark}{name}{mark}")).collect();
        (!names.is_empty()).then(|| format!("{} in {}", level(wanted), and(&names)))
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_format::lint::{documented, rule};

    #[test]
    fn one_rule() {
        let (talking, out, _) = printer(Appearance::PLAIN);
        one(&talking, rule("name-directory").expect("a rule"));
        insta::assert_snapshot!(out.text(), @r#"
        name-directory: the name matches the directory

        Compares the name with that of the file's directory, both after NFKC.
        Some tools find a skill by its name and some by its directory; both must find the same one.

        wrong:
            ---
            name: reader
            description: Reads PDF files.
            ---

        right:
            ---
            name: pdf
            description: Reads PDF files.
            ---

        level:   error in spec, reference, publish and strict, warning in claude-code, claude-ai and lenient
        switch:  `rules = { name-directory = "off" }` under `[lint]` in `skillpm.toml`, or `note`, `warning`, `error`
        repair:  `--fix=unsafe`
        read:    22 of 22 findings in skills of others were useful
        source:  specification, `name`
        docs:    https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/name-directory.md
        "#);
    }

    #[test]
    fn one_rule_on_a_narrow_terminal() {
        let (talking, out, _) = printer(Appearance { width: Some(40), ..Appearance::PLAIN });
        one(&talking, rule("name-directory").expect("a rule"));
        let end = out.text().split_once("level:").map(|(_, end)| format!("level:{end}"));
        insta::assert_snapshot!(end.unwrap_or_default(), @r#"
        level:   error in spec, reference,
                 publish and strict, warning in
                 claude-code, claude-ai and
                 lenient
        switch:  `rules = { name-directory =
                 "off" }` under `[lint]` in
                 `skillpm.toml`, or `note`,
                 `warning`, `error`
        repair:  `--fix=unsafe`
        read:    22 of 22 findings in skills of
                 others were useful
        source:  specification, `name`
        docs:
                 https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/name-directory.md
        "#);
    }

    #[test]
    fn rules_that_look_at_files_say_so() {
        for (id, expected) in [
            ("name-directory", None),
            ("link-missing", Some("files:   looks for those that `SKILL.md` names")),
            ("script-executable", Some("files:   lists all of the skill, and reads its texts")),
        ] {
            let (talking, out, _) = printer(Appearance::PLAIN);
            one(&talking, rule(id).expect("a rule"));
            let text = out.text();
            assert_eq!(text.lines().find(|line| line.starts_with("files:")), expected, "{id}");
        }
    }

    #[test]
    fn long_examples_are_cut() {
        assert_eq!(example("a\nb\n"), ["a", "b"]);
        let lines = example(&"x\n".repeat(500));
        assert_eq!((lines.len(), lines[12].as_str()), (13, "… (488 more lines)"));
        let lines = example(&"é".repeat(1025));
        assert!(lines[0].ends_with("é… (1025 characters)"), "{lines:?}");
    }

    #[test]
    fn all_rules_have_a_line() {
        let (talking, out, _) = printer(Appearance::PLAIN);
        let rules: Vec<_> = documented().collect();
        list(&talking, &rules);
        assert_eq!(out.text().lines().count(), rules.len() + 1);
        assert!(out.text().contains("\nname-length "), "{}", out.text());
    }

    #[test]
    fn json_has_everything() {
        let (talking, out, _) = printer(Appearance::PLAIN);
        json(&talking, &[rule("name-directory").expect("a rule")]);
        let read: serde_json::Value = serde_json::from_str(&out.text()).expect("JSON");
        assert_eq!(read[0]["levels"]["lenient"], "warning");
        assert_eq!(read[0]["fix"], "unsafe");
        assert_eq!(read[0]["needs"], "document");
        let (talking, out, _) = printer(Appearance::PLAIN);
        one(&talking, rule("file-name").expect("a rule"));
        assert!(out.text().contains("\nrepair:  `--fix`\n"), "{}", out.text());
    }

    /// The table of all rules is on one page, and each rule has a page with its name.
    #[test]
    fn the_reference_page_of_each_rule_is_up_to_date() {
        let titles = [
            (Group::Spec, "Specification"),
            (Group::Quality, "Quality"),
            (Group::Package, "Package"),
            (Group::Quirk, "Quirks of the reference validator"),
        ];
        let mut text = String::new();
        for (group, title) in titles {
            let rules: Vec<_> = documented().filter(|rule| rule.group == group).collect();
            if rules.is_empty() {
                continue;
            }
            let _ = write!(
                text,
                "## {title}\n\n| rule | what it asks for | level in `spec` | in other profiles | repair |\n| --- | --- | --- | --- | --- |\n"
            );
            for rule in &rules {
                let spec = rule.levels.spec;
                let _ = writeln!(
                    text,
                    "| [`{0}`](rules/{0}.md) | {1} | {2} | {3} | {4} |",
                    rule.id,
                    rule.summary.replace('|', "\\|"),
                    level(spec),
                    levels(rule, "`", |level| level != spec),
                    repair(rule).unwrap_or_default()
                );
            }
            text.push('\n');
        }
        skillpm_testing::check_reference("rules.md", text.trim_end());
        let pages = documented().map(|rule| (rule.id.to_owned(), page(rule))).collect();
        skillpm_testing::check_pages("rules", &pages);
    }

    fn page(rule: &Rule) -> String {
        let docs = &rule.docs;
        let mut text = format!(
            "# {}\n\n<!-- generated from crates/skillpm-format/src/lint/rules; `SKILLPM_BLESS=1 cargo test --workspace --lib \
             reference_page` writes it anew -->\n\nA rule of [`skillpm validate`](../validate.md): {}.\n\n{}\n{}\n",
            rule.id, rule.summary, docs.what, docs.why
        );
        for (title, code) in [("Wrong", docs.bad), ("Right", docs.good)] {
            let fence = if code.contains("```") { "````" } else { "```" };
            // Invisible characters would be lost on the page.
            let code = skillpm_format::text::visible(&example(code).join("\n")).into_owned();
            let _ = write!(text, "\n## {title}\n\n{fence}text\n{code}\n{fence}\n");
        }
        let _ = write!(text, "\n## Where it counts\n\n- Level: {}\n", levels(rule, "`", |_| true));
        let _ = writeln!(text, "- Repair: {}", repair(rule).unwrap_or("none"));
        if let Some(files) = files(rule) {
            let _ = writeln!(text, "- Files: {files}");
        }
        let _ = writeln!(text, "- Read: {}", useful(rule));
        let _ = writeln!(text, "- Source: {}", docs.source);
        let _ = write!(text, "\n[All rules](../rules.md)\n");
        text
    }
}
