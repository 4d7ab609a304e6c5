//! Findings, each with its place in the text.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use dialoguer::console::strip_ansi_codes;

use super::one_line;
use crate::cli::printer::clean;
use crate::cli::style::folded;
use crate::cli::words::worded;
use skillpm_core::ops::validate::Checked;
use skillpm_format::document::{LineIndex, Position};
use skillpm_format::lint::{Finding, Severity};

/// The width of findings in pipes and files, in columns.
pub(super) const WIDTH: usize = 140;

/// Renders all findings in `skills` for a terminal of `width` columns, if it is one; empty if there are none.
pub(super) fn findings(skills: &[Checked], colour: bool, width: Option<usize>) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(width.unwrap_or(WIDTH));
    let mut text = String::new();
    for skill in skills.iter().filter(|skill| !skill.findings.is_empty()) {
        let lines = LineIndex::new(&skill.text);
        for finding in &skill.findings {
            let shown = report(&renderer, skill, &lines, finding);
            text.push_str(&match width {
                Some(columns) => wrapped(&shown, columns),
                None => shown,
            });
            text.push_str("\n\n");
        }
    }
    text
}

/// Renders a finding in `skill`, whose lines are in `lines`.
fn report(renderer: &Renderer, skill: &Checked, lines: &LineIndex<'_>, finding: &Finding) -> String {
    let excerpt = Excerpt::new(&skill.text, finding);
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
        // A line of the file must not pass for one of ours, and blanks in what is to be written count.
        group = group.element(Level::HELP.message(clean(&worded(help)).replace('\n', " ")));
    }
    without_gap(&renderer.render(&[group]))
}

/// Breaks title and help in `report` at blanks. The lines of the file stay whole.
fn wrapped(report: &str, columns: usize) -> String {
    let line = |(at, line)| {
        let plain = strip_ansi_codes(line);
        let start = plain.find(HELP).filter(|start| plain[..*start].trim().is_empty());
        match start.map(|start| start + HELP.len()).or((at == 0).then_some(2)) {
            Some(hang) => folded(line, columns, &" ".repeat(hang)),
            None => line.into(),
        }
    };
    report.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// How the renderer begins a line of help.
const HELP: &str = "= help: ";

/// Removes the empty header that the renderer writes above lines without a path of their own. Their place is already
/// shown above it, counted in the original text instead of the harmless one.
fn without_gap(text: &str) -> String {
    let is_gap = |line: &&str| line.contains(":::") && strip_ansi_codes(line).trim() == ":::";
    text.lines().filter(|line| !is_gap(line)).collect::<Vec<_>>().join("\n")
}

/// The maximum number of bytes that are shown before and after a finding in its line: no terminal is wider.
const AROUND: usize = 2000;

/// The lines of a finding, made harmless, and the place of the finding in them.
struct Excerpt {
    text: String,
    span: Range<usize>,
}

impl Excerpt {
    /// Returns the lines of `finding` in `text`. They are cleaned before the place is computed: a character that is
    /// shown as its code point becomes longer.
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

/// Returns how many bytes at the start of `marked` are underlined: all, unless it is one line that is too long.
fn underlined(marked: &str) -> usize {
    let marked = marked.trim_end();
    match marked.char_indices().nth(WIDTH / 2) {
        Some((at, _)) if !marked.contains('\n') => at,
        _ => marked.len(),
    }
}

/// Returns `text` without characters that a terminal would act on. Line endings of all kinds become line feeds, so none
/// is shown as a code point.
fn harmless(text: &str) -> String {
    clean(&text.replace("\r\n", "\n").replace('\r', "\n")).into_owned()
}

#[cfg(test)]
pub(super) mod testing {
    use super::Checked;
    use skillpm_format::document::Document;
    use skillpm_format::lint::{Profile, Subject, check};

    /// Returns a skill with `text` that was checked.
    pub(in crate::cli::render) fn checked(text: &str) -> Checked {
        let document = Document::parse(text.to_owned());
        let findings = check(&Subject::new(&document, Some("pdf"), "SKILL.md"));
        let text = document.into_text();
        Checked { file: "skills/pdf/SKILL.md".into(), profile: Profile::Spec, text, findings }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::checked;
    use super::*;

    fn shown(text: &str) -> String {
        findings(&[checked(text)], false, None)
    }

    /// The help quotes a key of the file, which may contain a line ending.
    #[test]
    fn help_stays_in_its_line() {
        let out = shown("---\nname: x\ndescription: Reads if asked.\n\"e\\n::error::x\": z\n---\n");
        assert!(
            out.contains("::error::x") && !out.lines().any(|line| line.trim_start().starts_with("::")),
            "{out}"
        );
    }

    /// On a terminal, no word of ours is cut.
    #[test]
    fn titles_and_help_are_broken_at_blanks() {
        let skill = checked("---\nname: PDF\ndescription: Reads.\n---\n");
        let colours = findings(std::slice::from_ref(&skill), true, Some(40));
        let narrow = findings(&[skill], false, Some(40));
        assert_eq!(strip_ansi_codes(&colours), narrow);
        insta::assert_snapshot!(narrow, @"
        error[name-alphabet]: the name `PDF` has
          an upper-case letter
         --> skills/pdf/SKILL.md:2:7
          |
        2 | name: PDF
          |       ^^^
          |
          = help: call it `pdf`, as its
                  directory

        note[description-when]: the description
          does not say when to use the skill
         --> skills/pdf/SKILL.md:3:14
          |
        3 | description: Reads.
          |              ^^^^^^
          |
          = help: add a sentence such as `Use
                  when the user …`
        ");
    }

    /// Byte order marks, control characters and foreign line endings: the place is that of the original text.
    #[test]
    fn hostile_lines_are_shown_harmless_with_the_right_place() {
        let out = shown("\u{feff}---\r\nname: \"pdf\u{9b}\u{202e}\"  \r\ndescription: x\r\n---\r\n");
        assert!(out.contains("\\u{9b}\\u{202e}") && out.contains("\\u{feff}"), "{out}");
        assert!(!out.contains(['\u{9b}', '\u{202e}', '\u{feff}', '\r']), "{out:?}");
        assert!(out.contains("--> skills/pdf/SKILL.md:2:11"), "{out}");
    }

    /// A line can have a megabyte and thousands of findings. The part that no terminal shows is not examined.
    #[test]
    fn very_long_lines_are_cut_around_a_finding() {
        let (before, after) = ("é ".repeat(AROUND), " é".repeat(AROUND));
        let out = shown(&format!(
            "---\nname: pdf\ndescription: Reads. Use when asked.\n---\n{before}scripts\\a.py{after}\n"
        ));
        insta::assert_snapshot!(out, @r"
        warning[windows-path]: `scripts\a.py` is a Windows path
         --> skills/pdf/SKILL.md:5:4001
          |
        5 | ... é é é é é é é é é é é é é é é é é é é é é é é é é é é é é scripts\a.py é é é é é é é é é é é é é é é é é é é é é é é é é é é é é ...
          |                                                               ^^^^^^^^^^^^
          |
          = help: write `scripts/a.py`
        ");
        // No finding is underlined for hundreds of columns.
        let out = shown(&format!("---\nname: pdf\ndescription: {}\n---\n", "Reads all. ".repeat(200)));
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

    #[test]
    fn odd_places_do_not_matter() {
        for text in ["", "é", "\n\n", "a\r", "\r\n\r\n", "---\nname: |\n  a\n  b\n---"] {
            for start in 0..=text.len() + 1 {
                for end in start..=text.len() + 1 {
                    let mut skill = checked(text);
                    skill.findings = vec![
                        skillpm_format::lint::RULES[0].finding("x", start..end).label("here").help("a\nb"),
                    ];
                    let out = findings(&[skill], false, None);
                    assert!(out.contains("--> skills/pdf/SKILL.md:"), "{out}");
                }
            }
        }
    }
}
