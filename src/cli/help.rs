//! Help pages: a short one that fits a screen (`-h`), and a whole one with examples (`--help`).
//!
//! Both show what clap knows. A short page leaves out what has `hide_short_help`, which the options of all commands do, and
//! of each text all paragraphs but the first. It has one list of options, without headings.

use std::fmt::Write as _;

use clap::builder::{StyledStr, Styles};

use super::commands::{Command, word};
use super::render::wrapped;
use super::style::{FAINT, LITERAL, STRONG, folded, literals, paint, width_of};
use super::words::{ALL_COMMANDS, PROGRAM, command_of, help_of};
use super::{args, exit, style};

/// The heading of flags that every command takes.
pub(crate) const GLOBAL: &str = "Options of all commands";

/// The commands on the program's short page: those that most people use.
const COMMON: &[&str] = &[
    "Install", "Search", "List", "Remove", "Outdated", "Update", "Undo", "Create", "Validate", "Link",
    "Doctor",
];

/// The colours of help pages.
pub(crate) const STYLES: Styles = Styles::styled()
    .header(STRONG)
    .usage(STRONG)
    .literal(LITERAL)
    .placeholder(FAINT)
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

/// The columns from which texts stand beside options.
const NARROW: usize = 60;

/// Returns the help page of the command that `words` name, the program's name first, styled, for `columns` columns.
/// Returns `None` if there is no such command.
pub(crate) fn of(words: &str, columns: usize, is_short: bool) -> Option<String> {
    let program = args::program();
    let template = if is_short { common(&program, columns) } else { template(&program, columns) };
    let mut program = program.help_template(template).term_width(columns);
    program.build();
    let mut command = &mut program;
    for word in words.split(' ').skip(1) {
        command = command.find_subcommand_mut(word)?;
    }
    // All but the program have clap's own template.
    let mut command = command.clone();
    let end = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command = command.after_help(None::<&str>);
    command = if is_short { command.mut_args(|arg| arg.help_heading(None::<&str>)) } else { whole(command) };
    // Beside a long option, a narrow terminal has room for one word.
    command = if columns < NARROW { command.next_line_help(true) } else { command };
    let page = command.render_help().ansi().to_string();
    // clap puts the options of all commands before those with other headings.
    let is_of_all = |block: &&str| block.contains(GLOBAL);
    let (of_all, own): (Vec<&str>, Vec<&str>) = page.trim_end().split("\n\n").partition(is_of_all);
    let blocks: Vec<&str> = own.into_iter().chain(of_all).collect();
    let mut page = blocks.join("\n\n") + "\n\n";
    if !is_short {
        page.push_str(&ending(&end, columns));
    } else if words == PROGRAM {
        let _ =
            writeln!(page, "{ALL_COMMANDS} shows all commands, {} one of them", command_of("help COMMAND"));
    } else {
        let examples = if end.starts_with("Examples:") { ", with examples" } else { "" };
        let _ = writeln!(page, "{} shows all options{examples}", help_of(words));
    }
    let mut shown = String::with_capacity(page.len() + 256);
    for line in page.lines() {
        let indent = line.len() - line.trim_start().len();
        shown.push_str(&folded(line, columns, &" ".repeat(if indent == 0 { 2 } else { indent + 4 })));
        shown.push('\n');
    }
    Some(literals(&shown, true).into_owned())
}

/// Returns `command` with everything on its page, and with all of each text.
pub(crate) fn whole(mut command: clap::Command) -> clap::Command {
    if let Some(about) = command.get_long_about().map(joined) {
        command = command.about(about).long_about(None::<&str>);
    }
    command.mut_args(|mut arg| {
        if let Some(help) = arg.get_long_help().map(joined) {
            arg = arg.help(help).long_help(None::<&str>);
        }
        arg.hide_short_help(false)
    })
}

/// Returns the paragraphs of a text as one.
fn joined(text: &StyledStr) -> String {
    text.to_string().split("\n\n").collect::<Vec<_>>().join("; ")
}

/// Returns the template of the page of `program` with all commands.
fn template(program: &clap::Command, columns: usize) -> String {
    listed(program, columns, |_| true) + &heading(GLOBAL) + "{options}{after-help}"
}

/// Returns the template of its short page.
fn common(program: &clap::Command, columns: usize) -> String {
    listed(program, columns, |name| COMMON.contains(&name))
}

/// Returns the beginning of a template: what the program is, how to type it, and the commands by group.
fn listed(program: &clap::Command, columns: usize, is_shown: fn(&str) -> bool) -> String {
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    let names = || Command::GROUPS.iter().flat_map(|(_, names)| *names).filter(|name| is_shown(name));
    let is_whole = names().count() > COMMON.len();
    let indent = names().map(|name| name.len()).max().unwrap_or_default() + 4;
    for (title, names) in Command::GROUPS {
        let names: Vec<_> = names.iter().filter(|name| is_shown(name)).collect();
        if names.is_empty() {
            continue;
        }
        text.push_str(&heading(title));
        for command in names.into_iter().filter_map(|name| program.find_subcommand(word(name))) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let aliases: Vec<_> = command.get_visible_aliases().filter(|_| is_whole).collect();
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
    text
}

fn heading(title: &str) -> String {
    let mut text = String::new();
    paint(&mut text, &format!("{title}:"), STRONG, true);
    text + "\n"
}

/// Returns what follows the options: examples, exit codes and links, coloured. An example that is too wide has its command
/// on one line, and what it does on the next.
fn ending(end: &str, columns: usize) -> String {
    let (mut text, mut in_examples) = (String::with_capacity(end.len() + 256), false);
    for line in end.lines() {
        let is_heading = matches!(line, "Examples:" | "Exit codes:");
        in_examples = if is_heading { line == "Examples:" } else { in_examples && !line.is_empty() };
        if is_heading {
            paint(&mut text, line, STRONG, true);
        } else if in_examples {
            let command = line.trim_start();
            let (command, rest) = command.split_at(command.find("    ").unwrap_or(command.len()));
            text.push_str("  ");
            paint(&mut text, command, LITERAL, true);
            if width_of(line) > columns && !rest.is_empty() {
                let _ = write!(text, "\n      {}", rest.trim_start());
            } else {
                text.push_str(rest);
            }
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
    use dialoguer::console::strip_ansi_codes;

    use crate::cli::args;

    /// Returns the program with all commands, rendered as wide as the pages of the reference.
    pub(crate) fn program() -> Command {
        let program = args::program();
        let template = super::template(&program, 100);
        let mut program = super::whole(program.help_template(template).term_width(100));
        program.build();
        program
    }

    /// Returns the whole help page of a command, whose name may have two words.
    pub(crate) fn page(name: &str) -> String {
        of(name, 100, false)
    }

    /// Returns a help page without colours.
    pub(crate) fn of(name: &str, columns: usize, is_short: bool) -> String {
        let words = format!("skillpm {name}");
        let page = super::of(words.trim_end(), columns, is_short).expect("a command");
        strip_ansi_codes(&page).into_owned()
    }

    /// Returns the names of all commands and their actions, the program's own first, which is empty.
    pub(crate) fn names() -> Vec<String> {
        let mut names = vec![String::new()];
        for command in program().get_subcommands() {
            add(command, "", &mut names);
        }
        names
    }

    fn add(command: &Command, above: &str, names: &mut Vec<String>) {
        let name = format!("{above}{}", command.get_name());
        for action in command.get_subcommands() {
            add(action, &format!("{name} "), names);
        }
        names.push(name);
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
                let words = line.trim_start().split("    ").next().unwrap_or_default().split(' ');
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

    /// A screen has 24 lines of 80 columns.
    #[test]
    fn short_pages_fit_a_screen() {
        let mut long = Vec::new();
        for name in testing::names() {
            let page = testing::of(&name, 80, true);
            let (lines, widest) =
                (page.lines().count(), page.lines().map(width_of).max().unwrap_or_default());
            if lines > 24 || widest > 80 || page.contains("Examples:") {
                long.push(format!("{lines} lines, {widest} columns of\n{page}"));
            }
            let more = page.trim_end().lines().last().unwrap_or_default();
            let all =
                if name.is_empty() { ALL_COMMANDS.to_owned() } else { help_of(&format!("skillpm {name}")) };
            assert!(more.starts_with(&all), "{page}");
        }
        assert!(long.is_empty(), "{}", long.join("\n"));
    }

    /// Whatever can be typed is on the whole page.
    #[test]
    fn whole_pages_have_every_option() {
        for name in testing::names() {
            let page = testing::page(&name);
            let program = testing::program();
            let words = name.split(' ').filter(|word| !word.is_empty());
            let command = words.fold(&program, |at, word| at.find_subcommand(word).expect("a command"));
            for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
                let typed = match argument.get_long() {
                    Some(long) => format!("--{long}"),
                    None => argument.get_value_names().map(|names| names[0].to_string()).unwrap_or_default(),
                };
                assert!(page.contains(&typed), "{typed}: {page}");
            }
            let short = testing::of(&name, 100, true);
            let options = |page: &str| page.lines().filter(|line| line.trim_start().starts_with('-')).count();
            assert!(options(&short) < options(&page), "{short}");
        }
    }

    #[test]
    fn pages_fit_a_narrow_terminal() {
        for (name, is_short) in testing::names().iter().flat_map(|name| [(name, false), (name, true)]) {
            let page = testing::of(name, 40, is_short);
            // What is one word cannot be wrapped.
            let wide =
                |line: &&str| width_of(line) > 40 && line.trim().contains(' ') && !line.contains("https://");
            assert_eq!(page.lines().find(wide), None, "{page}");
        }
        assert!(testing::of("", 40, false).contains("[aliases:"));
    }

    #[test]
    fn a_page_has_colours() {
        let page = of("skillpm list", 100, false).expect("a page");
        assert!(
            page.contains("\u{1b}[1mExamples:\u{1b}[0m\n  \u{1b}[36mskillpm list\u{1b}[0m     "),
            "{page:?}"
        );
        assert!(page.contains("\u{1b}[36m`project`\u{1b}[0m"), "{page:?}");
        assert_eq!(of("skillpm nothing", 100, false), None);
    }
}
