//! The pages of the reference that describe commands. A test makes them from what the parser knows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use clap::{Arg, Command};
use skillpm_sources::env::VARIABLES;

use super::commands::{self, word};
use super::exit;
use super::help::{GLOBAL, testing};

const SOURCE: &str = "<!-- generated from src/cli; `SKILLPM_BLESS=1 cargo test --workspace --lib reference_page` writes \
                      it anew -->";

/// Returns the page of a command, which has a section for each of its actions.
fn page(command: &Command) -> String {
    let name = command.get_name();
    let mut text = format!("# skillpm {name}\n\n{SOURCE}\n\n");
    describe(&mut text, command, name, "##");
    let anchor = GLOBAL.to_lowercase().replace(' ', "-");
    let _ = write!(text, "\nThe [{}](../cli.md#{anchor}) work here too.\n", GLOBAL.to_lowercase());
    text
}

/// Writes what a command does, what it takes and its examples, then the same of its actions, below headings that begin
/// with `mark`.
fn describe(text: &mut String, command: &Command, name: &str, mark: &str) {
    let _ = writeln!(text, "{}", prose(&about(command)));
    let aliases: Vec<_> = command.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        let _ = write!(text, "\nAlso called {}.\n", aliases.join(" and "));
    }
    let usage = command.clone().render_usage().to_string();
    let usage: Vec<_> = usage.trim_start_matches("Usage:").lines().map(str::trim).collect();
    let _ = write!(text, "\n```text\n{}\n```\n", usage.join("\n"));
    for (title, arguments) in groups(command) {
        let _ = write!(text, "\n{mark} {title}\n\n");
        for argument in arguments {
            item(text, argument, name);
        }
    }
    let examples = examples(command);
    if !examples.is_empty() {
        let _ = write!(text, "\n{mark} Examples\n\n```sh\n{}```\n", examples.join("\n"));
    }
    for action in command.get_subcommands().filter(|action| !action.is_hide_set()) {
        let name = format!("{name} {}", action.get_name());
        let _ = write!(text, "\n## {name}\n\n");
        describe(text, action, &name, "###");
    }
}

fn about(command: &Command) -> String {
    command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default()
}

/// Returns the arguments by the headings of `--help`, without those that every command takes.
fn groups(command: &Command) -> Vec<(String, Vec<&Arg>)> {
    let mut groups: Vec<(String, Vec<&Arg>)> = Vec::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let standard = if argument.is_positional() { "Arguments" } else { "Options" };
        let title = argument.get_help_heading().unwrap_or(standard);
        if title == GLOBAL {
            continue;
        }
        match groups.iter_mut().find(|(known, _)| known == title) {
            Some((_, arguments)) => arguments.push(argument),
            None => groups.push((title.to_owned(), vec![argument])),
        }
    }
    groups.sort_by_key(|(title, _)| title != "Arguments");
    groups
}

/// Writes an argument of the command `name`, whose anchor is its name behind that of the command.
fn item(text: &mut String, argument: &Arg, name: &str) {
    let long = argument.get_long();
    let value = argument.get_value_names().and_then(<[_]>::first).map_or("", |value| value.as_str());
    let own = long.map_or_else(|| value.to_lowercase().replace('_', "-"), |long| format!("-{long}"));
    let anchor = format!("{}-{own}", name.replace(' ', "-"));
    let short = argument.get_short().filter(|_| long.is_some());
    let short = short.map(|short| format!("`-{short}`, ")).unwrap_or_default();
    let also = argument.get_visible_aliases().unwrap_or_default();
    let also = also.iter().map(|alias| format!(", `--{alias}`")).collect::<Vec<_>>().concat();
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let _ = write!(
        text,
        "- <a id=\"{anchor}\" href=\"#{anchor}\">{short}`{argument}`{also}</a><br>\n  {}",
        prose(&help).replace("\n\n", "<br>\n  ").replace('\n', "\n  ")
    );
    let takes_values = argument.get_action().takes_values();
    let values = argument.get_possible_values();
    let are_told = values.iter().all(|value| help.contains(&format!("`{}`", value.get_name())));
    if takes_values && !are_told && !argument.is_hide_possible_values_set() {
        let values: Vec<_> = values.iter().filter(|value| !value.is_hide_set()).map(named).collect();
        let _ = write!(text, " Values: {}.", values.join(", "));
    }
    let defaults = argument.get_default_values();
    if takes_values && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        let defaults: Vec<_> = defaults.iter().map(|value| format!("`{}`", value.display())).collect();
        let _ = write!(text, " Default: {}.", defaults.join(", "));
    }
    for variable in variables(name, long) {
        let _ = write!(text, " Environment: [`{variable}`](ENVIRONMENT).");
    }
    text.push('\n');
}

/// Returns a value that an argument takes, and what it means.
fn named(value: &clap::builder::PossibleValue) -> String {
    match value.get_help() {
        Some(help) => format!("`{}` ({})", value.get_name(), sentence(&help.to_string())),
        None => format!("`{}`", value.get_name()),
    }
}

/// Returns the variables whose description names an option: as `--option`, or as `skillpm command --option`.
fn variables(name: &str, long: Option<&str>) -> Vec<&'static str> {
    let Some(long) = long else { return Vec::new() };
    let forms = [format!("`--{long}`"), format!("`skillpm {name} --{long}`")];
    let is_named = |text: &str| forms.iter().any(|form| text.contains(form));
    VARIABLES.iter().filter(|(_, text)| is_named(text)).map(|(variable, _)| *variable).collect()
}

/// Returns the examples at the end of a help page: what each is for as a comment, and the command.
fn examples(command: &Command) -> Vec<String> {
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let Some((_, examples)) = after.split_once("Examples:\n") else { return Vec::new() };
    let lines = examples.lines().take_while(|line| !line.is_empty());
    let example = |line: &str| match line.trim().split_once("    ") {
        Some((command, comment)) => format!("# {}\n{command}\n", comment.trim()),
        None => format!("{}\n", line.trim()),
    };
    lines.map(example).collect()
}

/// Returns the text of a help page as sentences of Markdown.
fn prose(text: &str) -> String {
    let (text, default) = match text.trim().strip_suffix(']').and_then(|text| text.rsplit_once("[default: "))
    {
        Some((text, default)) => (text, format!(" Default: {}.", sentence(default))),
        None => (text, String::new()),
    };
    let text = sentence(text);
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.is_empty() || text.ends_with(['.', ':', '?', '!']) { "" } else { "." };
    format!("{first}{}{end}{default}", letters.as_str())
}

/// Returns a text with what Markdown would take for its own escaped, except in code.
fn sentence(text: &str) -> String {
    let escaped = |part: &str| part.replace('<', "&lt;").replace('*', "\\*");
    let parts = text.trim().split('`').enumerate();
    let parts = parts.map(|(at, part)| if at % 2 == 0 { escaped(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}

/// Returns the part of the index that lists the commands in their groups, and what all have in common.
fn index(program: &Command) -> String {
    let mut text = String::new();
    for (title, names) in commands::Command::GROUPS {
        let _ = write!(text, "## {title}\n\n| command | what it does |\n| --- | --- |\n");
        for command in names.iter().filter_map(|name| program.find_subcommand(word(name))) {
            let name = command.get_name();
            let aliases = command.get_visible_aliases().map(|alias| format!(", `{alias}`"));
            let aliases = aliases.collect::<Vec<_>>().concat();
            let about = sentence(&about(command)).replace('|', "\\|");
            let _ = writeln!(text, "| [`{name}`](cli/{name}.md){aliases} | {about} |");
        }
        text.push('\n');
    }
    let _ = write!(text, "## {GLOBAL}\n\n");
    for argument in program.get_arguments().filter(|argument| !argument.is_hide_set()) {
        item(&mut text, argument, "skillpm");
    }
    text.push_str("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n");
    for (code, meaning) in exit::CODES {
        let _ = writeln!(text, "| {code} | {meaning} |");
    }
    text.replace("ENVIRONMENT", "environment.md")
}

#[test]
fn the_reference_page_of_each_command_is_up_to_date() {
    let program = testing::program();
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    let pages = commands
        .map(|command| {
            (command.get_name().to_owned(), page(command).replace("ENVIRONMENT", "../environment.md"))
        })
        .collect::<BTreeMap<_, _>>();
    skillpm_testing::check_pages("cli", &pages);
    skillpm_testing::check_reference("cli.md", index(&program).trim_end());
}

#[test]
fn an_option_has_an_anchor_its_values_its_default_and_its_variable() {
    let program = testing::program();
    let install = page(program.find_subcommand("install").expect("a command"));
    let option =
        "- <a id=\"install--skill\" href=\"#install--skill\">`-s`, `--skill <NAME>`</a><br>\n  Install ";
    assert!(install.contains(option), "{install}");
    assert!(install.contains("Default: the agents in use."), "{install}");
    assert!(index(&program).contains("Environment: [`SKILLPM_OFFLINE`](environment.md)."));
    let actions = page(program.find_subcommand("registry").expect("a command"));
    assert!(actions.contains("\n## registry add\n") && actions.contains("id=\"registry-add--registry\""));
    assert!(actions.contains("Values: `public`, `private`."), "{actions}");
}

/// Whoever looks at the repository first sees what there is.
#[test]
fn the_readme_names_every_command_and_the_lowest_rust() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = skillpm_sources::fs::read_text(readme.as_ref(), 1 << 20).expect("reads").expect("a page");
    let table = readme.split_once("\n## Commands\n").expect("a section").1.split("\n\n`skillpm").next();
    let table = table.expect("a table");
    let program = testing::program();
    let names = program.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let missing: Vec<_> = names.filter(|name| !table.contains(&format!("`{name}`"))).collect();
    assert_eq!(missing, [""; 0], "{table}");
    assert!(readme.contains(&format!("/badge/rust-{}%2B-blue", env!("CARGO_PKG_RUST_VERSION"))));
    assert!(readme.contains(&format!("/badge/license-{}-blue", env!("CARGO_PKG_LICENSE"))));
}
