//! `validate`: each finding with its position in the text, then a summary.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{MAIN_SEPARATOR, Path};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use dialoguer::console::strip_ansi_codes;

use super::{count, json_text, one_line};
use crate::cli::commands::validate::FormatArg;
use crate::cli::printer::{Printer, clean};
use crate::cli::words::worded;
use crate::document::{LineIndex, Position};
use crate::error::Result;
use crate::fs;
use crate::lint::report::{LintReport, SkillReport, github, json, junit, sarif};
use crate::lint::{Finding, Profile, Safety, Severity};
use crate::ops::validate::{Checked, Repaired, Repairs, Tree, ValidateOutcome};

/// The width of findings in pipes and files.
const WIDTH: usize = 140;

/// The blanks before the marks, and the marks, of usual findings.
const BLANKS: &str = match str::from_utf8(&[b' '; WIDTH]) {
    Ok(blanks) => blanks,
    Err(_) => "",
};
const MARKS: &str = match str::from_utf8(&[b'^'; WIDTH]) {
    Ok(marks) => marks,
    Err(_) => "",
};

/// The number of bytes that are collected before printing.
const PIECE: usize = 1 << 16;

/// Prints all findings and a summary, with the flags that repair them if `flags` is set, and a link to more
/// information. `made` are the repairs that were made.
pub(crate) fn show(printer: &Printer, outcome: &ValidateOutcome, flags: bool, made: Repairs) {
    let look = printer.look();
    let mut piece = String::new();
    human(outcome, look.out_colour, look.width.unwrap_or(WIDTH), |text| {
        piece.push_str(text);
        if piece.len() > PIECE {
            printer.styled_data(&piece);
            piece.clear();
        }
    });
    if !piece.is_empty() {
        printer.styled_data(&piece);
    }
    repaired(printer, outcome, "repaired");
    printer.note(&summary(outcome));
    left_alone(printer, outcome);
    // Repairs of installed skills have already been requested.
    if let Some(hint) = repairable(outcome, made).filter(|_| flags && outcome.installed == 0) {
        printer.hint(&hint);
    }
    let of = |severity| outcome.findings().find(|finding| finding.severity == severity);
    if let Some(first) = [Severity::Error, Severity::Warning, Severity::Note].into_iter().find_map(of) {
        printer.hint(&format!("`skillpm explain {}` says more", first.rule));
    }
}

/// Prints the changes that repairs would make.
pub(crate) fn diff(printer: &Printer, outcome: &ValidateOutcome) {
    for repaired in &outcome.repaired {
        if let Some(text) = &repaired.diff {
            super::diff::show(printer, text);
        }
    }
    repaired(printer, outcome, "would be repaired");
    printer.note(&summary(outcome));
    left_alone(printer, outcome);
}

/// Reports repairs that could have been made but were not.
fn left_alone(printer: &Printer, outcome: &ValidateOutcome) {
    super::fmt::installed(printer, outcome.installed);
    for (file, real) in &outcome.outside {
        let shown = |path: &Path| one_line(&path.display().to_string());
        printer.warning(&format!("`{}` was not changed: a link leads out of the project", shown(file)));
        printer.hint(&format!("to repair `{}`, name that path", shown(real)));
    }
}

/// Reports the files that were repaired, or would be.
fn repaired(printer: &Printer, outcome: &ValidateOutcome, what: &str) {
    for Repaired { file, renamed, count: number, .. } in &outcome.repaired {
        let file = one_line(&file.display().to_string());
        if *number > 0 {
            printer.status("~", &format!("`{file}`: {} {what}", count(*number, "finding")));
        }
        if let Some(name) = renamed.as_deref().and_then(Path::file_name) {
            let name = one_line(&name.to_string_lossy());
            printer.status("~", &format!("`{file}`: its name {what}, as `{name}`"));
        }
    }
}

/// Returns how many of the remaining findings a flag can repair.
fn repairable(outcome: &ValidateOutcome, made: Repairs) -> Option<String> {
    let with = |wanted| {
        // The remaining ones of the requested repairs would do harm.
        if matches!(made, Repairs::Make(safety) if wanted <= safety) {
            return 0;
        }
        let fixes = outcome.findings().filter_map(|finding| finding.fix.as_ref());
        fixes.filter(|fix| fix.safety == wanted).count()
    };
    let what = if outcome.findings().nth(1).is_none() { "it" } else { "some of them" };
    // The number is only known afterwards: one repair enables another, or removes several findings.
    Some(match (with(Safety::Safe), with(Safety::Unsafe)) {
        (0, 0) => return None,
        (_, 0) => format!("`--fix` repairs {what}; `--diff` shows how"),
        (0, _) => format!("`--fix=unsafe` repairs {what}; `--fix=unsafe --diff` shows how"),
        _ => "`--fix` repairs some of them, `--fix=unsafe` more; with `--diff` they show how".to_owned(),
    })
}

/// Prints a report for programs, or writes it to `file`.
pub(crate) fn deliver(
    printer: &Printer,
    outcome: &ValidateOutcome,
    text: &str,
    file: Option<&Path>,
) -> Result<()> {
    match file {
        Some(file) => fs::write_out(file, text.as_bytes())?,
        None => printer.data(text),
    }
    repaired(printer, outcome, "repaired");
    printer.note(&summary(outcome));
    left_alone(printer, outcome);
    Ok(())
}

/// Returns the whole report in `format`, with paths relative to `tree`, or as displayed.
pub(crate) fn text(
    outcome: &ValidateOutcome,
    format: FormatArg,
    profile: Profile,
    strict: bool,
    tree: Option<&Tree>,
) -> String {
    let skills = outcome.skills.iter().map(|skill| skill_report(skill, tree)).collect();
    let report = LintReport { profile, strict, skills };
    match format {
        FormatArg::Human => {
            let mut all = String::new();
            human(outcome, false, WIDTH, |text| all.push_str(text));
            all
        }
        FormatArg::Json => json_text(&json::json(&report)),
        FormatArg::Sarif => json_text(&sarif::sarif(&report)),
        FormatArg::Github => github::github(&report),
        FormatArg::Junit => junit::junit(&report),
    }
}

fn skill_report<'a>(Checked { file, text, findings }: &'a Checked, tree: Option<&Tree>) -> SkillReport<'a> {
    let file = tree.map_or(Cow::Borrowed(file), |tree| Cow::Owned(tree.path(file)));
    let path = file.display().to_string().replace(MAIN_SEPARATOR, "/");
    SkillReport { path, text, findings }
}

fn human(outcome: &ValidateOutcome, colour: bool, width: usize, mut tell: impl FnMut(&str)) {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(width);
    let mut text = String::new();
    for skill in outcome.skills.iter().filter(|skill| !skill.findings.is_empty()) {
        let lines = LineIndex::new(&skill.text);
        for finding in &skill.findings {
            text.clear();
            if colour || usual_report(&mut text, skill, &lines, finding, width).is_none() {
                let excerpt = Excerpt::new(&skill.text, finding);
                text.clear();
                text.push_str(&report(&renderer, skill, &lines, finding, excerpt));
            }
            text.push_str("\n\n");
            tell(&text);
        }
    }
}

/// Appends the result of [`report`] for a finding in plain text on one line, which nearly all are, at a small
/// part of the cost: a repository may have thousands. Returns `None` if anything is unusual.
fn usual_report(
    out: &mut String,
    skill: &Checked,
    lines: &LineIndex<'_>,
    finding: &Finding,
    width: usize,
) -> Option<()> {
    let Range { start, end } = finding.span;
    let bytes = skill.text.as_bytes();
    // A later end does not fit anyway.
    let near = start.saturating_sub(width);
    let line_start = match memchr::memrchr2(b'\n', b'\r', bytes.get(near..start)?) {
        Some(at) => near + at + 1,
        None if near == 0 => 0,
        None => return None,
    };
    let rest = &bytes[line_start..bytes.len().min(line_start.saturating_add(width))];
    let line_end = line_start + memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    let text = skill.text.get(line_start..line_end)?;
    let marked = text.get(start - line_start..end.checked_sub(line_start)?)?.trim_end();
    let help = finding.help.as_ref().map(worded).unwrap_or_default();
    let (path, message) = (skill.file.to_str()?, finding.message.as_str());
    // Longer lines are cut, and trailing blanks are dropped.
    let fits = text.len() + 20 < width && !text.ends_with(' ');
    let is_plain =
        |text: &str| text.bytes().fold(0, |odd, byte| odd | u8::from(!matches!(byte, b' '..=b'~'))) == 0;
    // One line has no more than one blank between words.
    let is_line = |text: &str| text.trim() == text && !text.contains("  ");
    let plain = [message, &help, path, text].into_iter().all(is_plain) && is_line(message) && is_line(path);
    if finding.label.is_some() || marked.is_empty() || marked.len() > WIDTH / 2 || !fits || !plain {
        return None;
    }
    let Position { line, column } = lines.position(start);
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let (number, margin) = (line.to_string(), line.ilog10() as usize + 1);
    let (margin, before) = (BLANKS.get(..margin)?, BLANKS.get(..start - line_start)?);
    let marks = MARKS.get(..marked.len())?;
    let parts = [level, "[", finding.rule, "]: ", message, "\n", margin, "--> ", path, ":", &number, ":"];
    out.extend(parts);
    // Writing to a string cannot fail.
    let _ = write!(out, "{column}");
    out.extend(["\n", margin, " |\n", &number, " | ", text, "\n", margin, " | ", before, marks]);
    if !help.is_empty() {
        out.extend(["\n", margin, " |\n", margin, " = help: ", &help]);
    }
    Some(())
}

fn report(
    renderer: &Renderer,
    skill: &Checked,
    lines: &LineIndex<'_>,
    finding: &Finding,
    excerpt: Excerpt,
) -> String {
    let Position { line, column } = lines.position(finding.span.start);
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let label = finding.label.as_deref().map(one_line);
    let path = skill.file.display().to_string();
    let mut group = Group::with_title(level.primary_title(one_line(&finding.message)).id(finding.rule))
        .element(Origin::path(one_line(&path)).line(line).char_column(column))
        .element(
            Snippet::source(excerpt.text)
                .line_start(line)
                .annotation(AnnotationKind::Primary.span(excerpt.span).label(label)),
        );
    if let Some(help) = &finding.help {
        // A line of the file must not pass for one of ours, and blanks in suggested text matter.
        group = group.element(Level::HELP.message(clean(&worded(help)).replace('\n', " ")));
    }
    without_gap(&renderer.render(&[group]))
}

/// Drops the empty header that the renderer prints for lines without a path of their own. Their position is
/// printed above already, counted in the original text and not in the cleaned one.
fn without_gap(text: &str) -> String {
    let is_gap = |line: &&str| line.contains(":::") && strip_ansi_codes(line).trim() == ":::";
    text.lines().filter(|line| !is_gap(line)).collect::<Vec<_>>().join("\n")
}

/// The maximum number of bytes of its line to show before and after a finding; no terminal is as wide.
const AROUND: usize = 2000;

/// The cleaned lines around a finding, with its position in them.
struct Excerpt {
    text: String,
    span: Range<usize>,
}

impl Excerpt {
    /// Cleans the text before computing the position: an escaped character is longer than the original.
    fn new(text: &str, finding: &Finding) -> Self {
        let at = |offset: usize| text.floor_char_boundary(offset.min(text.len()));
        let (start, end) = (at(finding.span.start), at(finding.span.end));
        let end = end.max(start);
        let near = text.floor_char_boundary(start.saturating_sub(AROUND));
        let line_start = text[near..start].rfind(['\n', '\r']).map_or(near, |at| near + at + 1);
        let near = text.ceil_char_boundary(text.len().min(end + AROUND));
        let line_end = text[end..near].find(['\n', '\r']).map_or(near, |length| end + length);
        let before = harmless(&text[line_start..start]);
        let marked = harmless(&text[start..end]);
        let span = before.len()..before.len() + underlined(&marked);
        Self { text: before + &marked + &harmless(&text[end..line_end]), span }
    }
}

/// Returns the number of bytes at the start of `marked` to underline: all of it if it ends on one line of
/// moderate length.
fn underlined(marked: &str) -> usize {
    let marked = marked.trim_end();
    match marked.char_indices().nth(WIDTH / 2) {
        Some((at, _)) if !marked.contains('\n') => at,
        _ => marked.len(),
    }
}

/// Returns the text cleaned, with all kinds of line ends as line feeds, so that none is shown as a code
/// point.
fn harmless(text: &str) -> String {
    clean(&text.replace("\r\n", "\n").replace('\r', "\n")).into_owned()
}

/// Returns a text such as `3 skills: 2 errors, 1 warning`.
fn summary(outcome: &ValidateOutcome) -> String {
    let (errors, warnings) = (outcome.count(Severity::Error), outcome.count(Severity::Warning));
    let mut text = count(outcome.skills.len(), "skill");
    text.push_str(": ");
    match errors + warnings {
        0 => text.push_str("no problems found"),
        _ => text.extend([count(errors, "error"), ", ".to_owned(), count(warnings, "warning")]),
    }
    match outcome.count(Severity::Note) {
        0 => text,
        notes => format!("{text}, {}", count(notes, "note")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use crate::document::Document;
    use crate::lint::{Subject, check};

    fn checked(text: &str) -> Checked {
        let document = Document::parse(text.to_owned());
        let findings = check(&Subject::new(&document, Some("pdf"), "SKILL.md"));
        Checked { file: "skills/pdf/SKILL.md".into(), text: document.into_text(), findings }
    }

    fn told(texts: &[&str]) -> (String, String) {
        let skills = texts.iter().map(|text| checked(text)).collect();
        let outcome = ValidateOutcome { skills, ..ValidateOutcome::default() };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome, true, Repairs::None);
        (out.text(), err.text())
    }

    #[test]
    fn findings_show_their_place() {
        let (out, err) = told(&["---\nname: PDF\ndescription: Reads PDF if asked.\nauthor: me\n---\n"]);
        insta::assert_snapshot!(out, @r#"
        error[name-alphabet]: the name `PDF` has an upper-case letter
         --> skills/pdf/SKILL.md:2:7
          |
        2 | name: PDF
          |       ^^^
          |
          = help: call it `pdf`, and its directory too

        error[name-directory]: the name `PDF` differs only in case from the directory's name `pdf`
         --> skills/pdf/SKILL.md:2:7
          |
        2 | name: PDF
          |       ^^^
          |
          = help: give the directory and the skill the same name

        warning[unknown-field]: the specification has no field `author`
         --> skills/pdf/SKILL.md:4:1
          |
        4 | author: me
          | ^^^^^^
          |
          = help: move it under `metadata`, as `  author: …`
        "#);
        insta::assert_snapshot!(err, @"
        1 skill: 2 errors, 1 warning
        hint: `--fix=unsafe` repairs some of them; `--fix=unsafe --diff` shows how
        hint: `skillpm explain name-alphabet` says more
        ");
    }

    /// The repair of the rule `file-name` has no edits, and is one of those that `--fix` makes.
    #[test]
    fn another_name_for_the_file_counts_as_a_repair() {
        let mut skill = checked("---\nname: PDF\ndescription: Reads PDF if asked.\n---\n");
        skill.findings.truncate(1);
        skill.findings[0].fix = Some(crate::lint::Fix::safe("rename the file to `SKILL.md`", Vec::new()));
        let outcome = ValidateOutcome { skills: vec![skill], ..ValidateOutcome::default() };
        let hint = |made| repairable(&outcome, made);
        assert_eq!(hint(Repairs::None).as_deref(), Some("`--fix` repairs it; `--diff` shows how"));
        assert_eq!(hint(Repairs::Make(Safety::Safe)), None, "it was tried");
    }

    #[test]
    fn clean_skills_are_only_counted() {
        let (out, err) = told(&["---\nname: pdf\ndescription: Reads PDF. Use it for PDF.\n---\n"]);
        assert_eq!((out.as_str(), err.as_str()), ("", "1 skill: no problems found\n"));
    }

    /// The help quotes a key of the file, which may contain a line end.
    #[test]
    fn help_stays_in_its_line() {
        let (out, _) = told(&["---\nname: x\ndescription: Reads if asked.\n\"e\\n::error::x\": z\n---\n"]);
        assert!(
            out.contains("::error::x") && !out.lines().any(|line| line.trim_start().starts_with("::")),
            "{out}"
        );
    }

    /// Invisible marks, control characters and unusual line ends: the position is that in the original text.
    #[test]
    fn hostile_lines_are_shown_harmless_with_the_right_place() {
        let (out, _) = told(&["\u{feff}---\r\nname: \"pdf\u{9b}\u{202e}\"  \r\ndescription: x\r\n---\r\n"]);
        assert!(out.contains("\\u{9b}\\u{202e}") && out.contains("\\u{feff}"), "{out}");
        assert!(!out.contains(['\u{9b}', '\u{202e}', '\u{feff}', '\r']), "{out:?}");
        assert!(out.contains("--> skills/pdf/SKILL.md:2:7"), "{out}");
    }

    /// A line can be a megabyte, and have thousands of findings. Text that no terminal would show is not
    /// examined.
    #[test]
    fn of_very_long_lines_what_stands_around_a_finding_is_taken() {
        let (before, after) = ("é ".repeat(AROUND), " é".repeat(AROUND));
        let (out, _) = told(&[&format!(
            "---\nname: pdf\ndescription: Reads. Use when asked.\n---\n{before}scripts\\a.py{after}\n"
        )]);
        insta::assert_snapshot!(out, @r"
        warning[windows-path]: `scripts\a.py` is a Windows path
         --> skills/pdf/SKILL.md:5:4001
          |
        5 | ... é é é é é é é é é é é é é é é é é é é é é é é é é é é é é scripts\a.py é é é é é é é é é é é é é é é é é é é é é é é é é é é é é ...
          |                                                               ^^^^^^^^^^^^
          |
          = help: write `scripts/a.py`
        ");
        // A marked text is not underlined for hundreds of columns.
        let (out, _) = told(&[&format!("---\nname: pdf\ndescription: {}\n---\n", "Reads all. ".repeat(200))]);
        assert!(out.contains("description-length") && !out.contains(&"^".repeat(WIDTH)), "{out}");
        let text = format!("{before}x{after}");
        let finding = Finding { span: before.len()..before.len() + 1, ..checked("").findings[0].clone() };
        let excerpt = Excerpt::new(&text, &finding);
        assert_eq!(&excerpt.text[excerpt.span.clone()], "x");
        assert!(
            excerpt.text.len() <= 2 * (AROUND + 4) && excerpt.span.start >= AROUND - 4,
            "{}",
            excerpt.text.len()
        );
    }

    /// Returns whether the fast path was taken, and checks that it equals the slow one.
    fn short_way_is_right(skill: &Checked) -> bool {
        let lines = LineIndex::new(&skill.text);
        let finding = &skill.findings[0];
        let mut short = String::new();
        let is_short = usual_report(&mut short, skill, &lines, finding, WIDTH).is_some();
        let excerpt = Excerpt::new(&skill.text, finding);
        let long = report(&Renderer::plain().term_width(WIDTH), skill, &lines, finding, excerpt);
        assert!(!is_short || short == long, "{short:?}\n{long}");
        is_short
    }

    #[test]
    fn usual_findings_are_shown_as_all_others() {
        let (mut short, mut all) = (0, 0);
        for rule in crate::lint::RULES {
            let skill = checked(rule.docs.bad);
            for finding in &skill.findings {
                short += usize::from(short_way_is_right(&Checked {
                    findings: vec![finding.clone()],
                    ..skill.clone()
                }));
                all += 1;
            }
        }
        assert!(short * 3 > all, "{short} of {all}");
    }

    proptest::proptest! {
        #[test]
        fn usual_findings_are_shown_as_all_others_wherever_they_stand(
            text in "(a|b c|  |\t|`|\\\\|\n|\n\n|\r\n|é|\u{200b}|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx){0,12}",
            start in 0_usize..60,
            length in 0_usize..40,
            lines in 0_usize..120,
        ) {
            let mut skill = checked(&("\n".repeat(lines) + &text));
            let finding = crate::lint::RULES[0].finding("a b  `c`", lines + start..lines + start + length);
            skill.findings = vec![finding.clone().help("do it")];
            short_way_is_right(&skill);
            skill.findings = vec![finding];
            short_way_is_right(&skill);
        }
    }

    #[test]
    fn odd_places_do_not_matter() {
        for text in ["", "é", "\n\n", "a\r", "\r\n\r\n", "---\nname: |\n  a\n  b\n---"] {
            for start in 0..=text.len() + 1 {
                for end in start..=text.len() + 1 {
                    let mut skill = checked(text);
                    skill.findings =
                        vec![crate::lint::RULES[0].finding("x", start..end).label("here").help("a\nb")];
                    let (lines, finding) = (LineIndex::new(&skill.text), &skill.findings[0]);
                    let excerpt = Excerpt::new(&skill.text, finding);
                    let shown = report(&Renderer::plain(), &skill, &lines, finding, excerpt);
                    assert!(shown.contains("--> skills/pdf/SKILL.md:"), "{shown}");
                }
            }
        }
    }
}
