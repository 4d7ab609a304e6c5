//! The end of help pages: examples, and links to more information.

use std::fmt::Write as _;

use clap::builder::Styles;

use super::commands::{Command, word};
use super::render::wrapped;
use super::style::{LITERAL, STRONG, paint};
use super::{exit, style};

/// The heading of flags that every command takes.
pub(crate) const GLOBAL: &str = "Options of all commands";

/// The colours of help pages.
pub(crate) const STYLES: Styles = Styles::styled()
    .header(STRONG)
    .usage(STRONG)
    .literal(LITERAL)
    .placeholder(style::FAINT)
    .error(style::BAD)
    .valid(LITERAL)
    .invalid(style::CHANGED);

/// The address of the page of a command, or of the program's.
macro_rules! page {
    () => {
        concat!("Docs: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/cli.md")
    };
    ($verb:literal) => {
        concat!("Docs: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/cli/", $verb, ".md")
    };
}

/// Combines examples and the address of the docs.
macro_rules! after {
    ($verb:literal, $($line:literal)+) => {
        concat!("Examples:\n", $("  ", $line, "\n",)+ "\n", $crate::cli::help::page!($verb))
    };
}

pub(crate) use {after, page};

/// Returns the template of the help page of `program`, for `columns` columns.
pub(crate) fn template(program: &clap::Command, columns: usize) -> String {
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    let names = || Command::GROUPS.iter().flat_map(|(_, names)| *names);
    let indent = names().map(|name| name.len()).max().unwrap_or_default() + 4;
    for (title, names) in Command::GROUPS {
        heading(&mut text, title);
        for command in names.iter().filter_map(|name| program.find_subcommand(word(name))) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let aliases: Vec<_> = command.get_visible_aliases().collect();
            let aliases = match aliases[..] {
                [] => String::new(),
                [one] => format!(" [alias: {one}]"),
                ref all => format!(" [aliases: {}]", all.join(", ")),
            };
            let lines = wrapped(&format!("{about}{aliases}"), columns.saturating_sub(indent).max(16));
            text.push_str("  ");
            paint(&mut text, command.get_name(), LITERAL, true);
            for (at, line) in lines.iter().enumerate() {
                let used = if at == 0 { command.get_name().len() + 2 } else { 0 };
                let _ = writeln!(text, "{:1$}{line}", "", indent - used);
            }
        }
        text.push('\n');
    }
    heading(&mut text, GLOBAL);
    text + "{options}{after-help}"
}

fn heading(text: &mut String, title: &str) {
    paint(text, &format!("{title}:"), STRONG, true);
    text.push('\n');
}

/// Returns a help page for display: coloured after the options, or without that part for a short page.
pub(crate) fn shown(page: &str, is_short: bool) -> String {
    let end = page.find("\nExamples:\n").filter(|_| is_short).unwrap_or(page.len());
    let (mut text, mut in_examples) = (String::with_capacity(page.len() + 256), false);
    for line in page[..end].lines() {
        let is_heading = matches!(line, "Examples:" | "Exit codes:");
        in_examples = if is_heading { line == "Examples:" } else { in_examples && !line.is_empty() };
        if is_heading {
            paint(&mut text, line, STRONG, true);
        } else if in_examples {
            let command = line.trim_start();
            let (command, rest) = command.split_at(command.find("     ").unwrap_or(command.len()));
            text.push_str("  ");
            paint(&mut text, command, LITERAL, true);
            text.push_str(rest);
        } else {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

/// Returns the end of the program's own help page.
pub(crate) fn program() -> String {
    let mut text = String::from(
        "Examples:\n  \
         skillpm install anthropics/skills --skill pdf     install a skill into this project\n  \
         skillpm list                                      see what is installed\n  \
         skillpm invoke pdf                                see what an agent gets\n\n\
         Exit codes:\n",
    );
    for (code, meaning) in exit::CODES {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {code}  {meaning}");
    }
    text + "\n" + page!()
}

#[cfg(test)]
pub(crate) mod testing {
    use clap::Command;

    use crate::cli::args;

    /// Returns the program with all commands, rendered as wide as the pages of the reference.
    pub(crate) fn program() -> Command {
        let mut program = args::program_in(100).term_width(100);
        program.build();
        program
    }

    /// Returns the help page of a command, whose name may have two words.
    pub(crate) fn page(name: &str) -> String {
        let words = ["skillpm"].into_iter().chain(name.split(' ')).chain(["--help"]);
        let asked = program().try_get_matches_from(words);
        asked.expect_err("a page").render().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_examples_that_work_and_names_its_docs() {
        for command in testing::program().get_subcommands() {
            let name = command.get_name();
            let page = testing::page(name);
            let examples = page.split_once("Examples:\n").expect(name).1;
            let lines: Vec<_> = examples.lines().take_while(|line| !line.is_empty()).collect();
            assert!((2..=4).contains(&lines.len()), "{name}: {lines:?}");
            for line in lines {
                let words = line.trim_start().split("     ").next().unwrap_or_default().split(' ');
                let parsed = testing::program().try_get_matches_from(words);
                assert!(parsed.is_ok() || line.contains('"'), "{name}: {line}");
            }
            assert!(page.trim_end().ends_with(&format!("docs/reference/cli/{name}.md")), "{name}");
        }
    }

    /// In its tables, which are what a reader scans.
    #[test]
    fn every_command_has_a_line_in_the_guide() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/commands.md");
        let guide = skillpm_sources::fs::read_text(guide.as_ref(), 1 << 20).expect("reads").expect("a guide");
        let first: Vec<&str> =
            guide.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next()).collect();
        let is_there = |name: &str| {
            let mut codes = first.iter().flat_map(|cell| cell.split('`').skip(1).step_by(2));
            codes.any(|code| code.split(' ').next() == Some(name))
        };
        let program = testing::program();
        let names = program.get_subcommands().filter(|command| !command.is_hide_set());
        let missing: Vec<&str> = names.map(clap::Command::get_name).filter(|name| !is_there(name)).collect();
        assert_eq!(missing, [""; 0], "docs/guide/commands.md says it has a line for each");
    }

    #[test]
    fn a_page_has_colours_and_a_short_one_no_examples() {
        let page = testing::page("list");
        let long = shown(&page, false);
        assert!(
            long.contains("\u{1b}[1mExamples:\u{1b}[0m\n  \u{1b}[36mskillpm list\u{1b}[0m     "),
            "{long:?}"
        );
        assert_eq!(dialoguer::console::strip_ansi_codes(&long).trim_end(), page.trim_end());
        let short = shown(&page, true);
        assert!(
            page.starts_with(&short) && !short.contains("Examples") && short.contains("--json"),
            "{short}"
        );
    }

    #[test]
    fn the_program_fits_a_narrow_terminal() {
        let page = crate::cli::args::program_in(40).term_width(40).render_help().to_string();
        let wide = |line: &&str| line.chars().count() > 40 && !line.contains("https://");
        assert_eq!(page.lines().find(wide), None, "{page}");
        assert!(page.contains("[aliases: add, i]"), "{page}");
    }
}
