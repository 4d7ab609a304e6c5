//! What stands at the end of help pages: examples, and where more is told.

use std::fmt::Write as _;

use clap::builder::Styles;

use super::render::wrapped;
use super::style::{LITERAL, STRONG, paint};
use super::{exit, style};

/// The heading over flags that every command takes.
pub(crate) const GLOBAL: &str = "Options of all commands";

/// Colours of help pages.
pub(crate) const STYLES: Styles = Styles::styled()
    .header(STRONG)
    .usage(STRONG)
    .literal(LITERAL)
    .placeholder(style::FAINT)
    .error(style::BAD)
    .valid(LITERAL)
    .invalid(style::CHANGED);

/// The page that describes all commands. Each has a heading of its name there.
macro_rules! page {
    ($verb:literal) => {
        concat!("Docs: ", env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/cli.md#", $verb)
    };
}

/// Puts examples and the address of the docs together.
macro_rules! after {
    ($verb:literal, $($line:literal)+) => {
        concat!("Examples:\n", $("  ", $line, "\n",)+ "\n", page!($verb))
    };
}

pub(crate) const INSTALL: &str = after!("install",
    "skillpm install anthropics/skills --skill pdf     one skill of a repository"
    "skillpm install anthropics/skills --list          what a repository holds"
    "skillpm install ./my-skills -g --agent cursor     from a directory, for you, linked for Cursor"
    "skillpm install                                   what `skillpm.lock` names"
);

pub(crate) const SYNC: &str = after!("sync",
    "skillpm sync              install exactly what `skillpm.lock` names"
    "skillpm sync --locked     the same on a build machine: fail if the lockfile is out of date"
);

pub(crate) const UPDATE: &str = after!("update",
    "skillpm update                    all skills of the project, as far as the manifest allows"
    "skillpm update pdf --latest       one skill, past the tag or commit that the manifest names"
    "skillpm update --dry-run          what would change, and what to look at before it does"
    "skillpm update pdf --abort        undo a merge with conflicts"
);

pub(crate) const LIST: &str = after!("list",
    "skillpm list                   all skills, of the project and yours"
    "skillpm list --scope user      only yours"
    "skillpm list --json            for programs"
);

pub(crate) const OUTDATED: &str = after!("outdated",
    "skillpm outdated                     what is newer in the sources of all skills"
    "skillpm outdated pdf --json          one skill, for programs"
    "skillpm outdated -p --exit-code      on a build machine: fail if the project has outdated skills"
);

pub(crate) const DIFF: &str = after!("diff",
    "skillpm diff                    what you edited, in all skills"
    "skillpm diff pdf --newest       what `skillpm update pdf` would bring, new capabilities first"
    "skillpm diff --newest --stat    the same of all skills, without the lines"
);

pub(crate) const REMOVE: &str = after!("remove",
    "skillpm remove pdf               from the project"
    "skillpm remove pdf docx -g       two of yours"
    "skillpm remove pdf --dry-run     what would be removed"
);

pub(crate) const POLICY: &str = after!("policy",
    "skillpm policy                        all lines in force, the machine's before the manifest's"
    "skillpm policy acme/skills npm:x      what they say of two sources; exit code 5 if one is refused"
    "skillpm install acme/skills --explain  which line let it in"
);

pub(crate) const TRUST: &str = after!("trust",
    "skillpm trust ~/work/my-skills     unlocked skills in and below it may run scripts"
    "skillpm trust                      which directories are trusted"
);

pub(crate) const UNTRUST: &str = after!("untrust",
    "skillpm untrust ~/work/my-skills     its unlocked skills may no longer run scripts"
    "skillpm untrust .                    the directory you are in"
);

pub(crate) const AUDIT: &str = after!("audit",
    "skillpm audit                      what happened last"
    "skillpm audit pdf --event run      the scripts of one skill that ran"
    "skillpm audit -n 1000 --json       for programs"
);

pub(crate) const IMPORT: &str = after!("import",
    "skillpm import                       what other tools left in the project"
    "skillpm import -g                    the same for your own skills"
    "skillpm import my-skill              a skill that somebody wrote there, as your own"
    "skillpm import --dry-run             what would be adopted, and what not"
);

pub(crate) const EXPORT: &str = after!("export",
    "skillpm export skills-lock                 write `skills-lock.json`"
    "skillpm export skills-lock --output -      print it"
);

pub(crate) const LINK: &str = after!("link",
    "skillpm link --agent cursor              all skills of the project, and those to come"
    "skillpm link --agent goose pdf docx      only these two"
    "skillpm link --agent '*' --dry-run       what would be linked for the agents on this machine"
);

pub(crate) const UNLINK: &str = after!("unlink",
    "skillpm unlink --agent cursor          all skills of the project"
    "skillpm unlink --agent goose pdf       only this one"
);

pub(crate) const DISABLE: &str = after!("disable",
    "skillpm disable pdf          hide it from all agents of the project"
    "skillpm disable pdf -g       the same for your own skills"
);

pub(crate) const ENABLE: &str = after!("enable",
    "skillpm enable pdf               as it was, edits included"
    "skillpm enable pdf --dry-run     what would be done"
);

pub(crate) const UNDO: &str = after!("undo",
    "skillpm undo               undo the last change; again to redo it"
    "skillpm undo -g --dry-run     what would be done for your own skills"
    "skillpm undo --forget         free the space that the record of the last change takes"
);

pub(crate) const VALIDATE: &str = after!("validate",
    "skillpm validate                                     the skills in this directory"
    "skillpm validate skills/pdf --profile publish        one skill, before it is shipped"
    "skillpm validate --strict --format sarif             on a build machine, for code scanning"
    "skillpm validate - --stdin-filename pdf/SKILL.md     the text in an editor"
);

pub(crate) const EXPLAIN: &str = after!("explain",
    "skillpm explain name-directory     one rule, with an example"
    "skillpm explain                    all rules, a line each"
);

pub(crate) const FMT: &str = after!("fmt",
    "skillpm fmt                     the skills in this directory"
    "skillpm fmt skills --check      fail if one is not in canonical form"
    "skillpm fmt skills --diff       what would change"
);

pub(crate) const CREATE: &str = after!("create",
    "skillpm create release-notes                            in the working directory"
    "skillpm create release-notes --scope project            in `skills/`, seen by the project's agents"
    "skillpm create release-notes --template script          with a script that works"
    "skillpm create release-notes --template ./my-template     from a template of your own"
);

pub(crate) const AGENTS: &str = after!("agents",
    "skillpm agents                     the agents on this machine"
    "skillpm agents claude-code         all that one of them sees"
    "skillpm agents --all --json        the whole table, for programs"
);

pub(crate) const TREE: &str = after!("tree",
    "skillpm tree                          all skills, and the skills that they need"
    "skillpm tree pdf --agents             one of them, and who sees it"
    "skillpm tree office-base --invert     which skills need it"
);

pub(crate) const WHY: &str = after!("why",
    "skillpm why pdf            why it is here, where it came from, who sees it"
    "skillpm why pdf --json     for programs"
);

pub(crate) const VERIFY: &str = after!("verify",
    "skillpm verify                 all skills, of the project and yours"
    "skillpm verify pdf docx -p     two of the project"
    "skillpm verify --json          for programs"
);

pub(crate) const DOCTOR: &str = after!("doctor",
    "skillpm doctor                     look at the project, at your skills and at the store"
    "skillpm doctor --fix --dry-run     what would be repaired"
    "skillpm doctor --fix               repair it; nothing that you wrote is removed"
);

pub(crate) const CACHE: &str = after!("cache",
    "skillpm cache dir                        where the store and the downloads are"
    "skillpm cache prune --older-than 7d      remove what has not been used for a week"
    "skillpm cache verify --fix               delete what is damaged"
    "skillpm cache clean --dry-run            how much space the downloads take"
);

pub(crate) const CATALOG: &str = after!("catalog",
    "skillpm catalog                            what an agent learns about all skills"
    "skillpm catalog --budget 5000 --json       the same within 5,000 tokens, for programs"
    "skillpm catalog --write AGENTS.md          keep it up to date in a file"
    "skillpm catalog --write AGENTS.md --check     on a build machine: fail if it is not"
);

pub(crate) const INVOKE: &str = after!("invoke",
    "skillpm invoke pdf                          the skill's instructions"
    "skillpm invoke code-reviewer src --fast     with `src --fast` as its arguments"
    "skillpm invoke ./skills/pdf                 one that you are writing"
    "skillpm invoke --json pdf                   for programs"
);

pub(crate) const SHOW: &str = after!("show",
    "skillpm show pdf            fields, files, source, tokens, and what it hides"
    "skillpm show pdf -g         yours, also where the project has one of its name"
    "skillpm show pdf --json     for programs"
);

pub(crate) const READ: &str = after!("read",
    "skillpm read pdf                                      which files it has"
    "skillpm read pdf references/forms.md                  one of them"
    "skillpm read pdf references/forms.md --limit 40     its first lines"
    "skillpm read pdf assets/logo.png --json               a binary file, in base64"
);

pub(crate) const TOOLS: &str = after!("tools",
    "skillpm tools pdf                        the tools of one skill"
    "skillpm tools --json                     those of all skills, with the schemas of what they take"
    "skillpm tools pdf --format anthropic     as a model gets them"
);

pub(crate) const RUN: &str = after!("run",
    "skillpm run pdf fill_form in.pdf out.pdf          `scripts/fill_form.py` with two arguments"
    "skillpm run --stdin pdf fill_form < form.json     it reads the form"
    "skillpm run --no-network --timeout 5 pdf check    without a network, for five seconds at most"
);

pub(crate) const COMPLETIONS: &str = after!("completions",
    "skillpm completions bash     for ~/.local/share/bash-completion/completions/skillpm"
    "skillpm completions zsh      for the file _skillpm in a directory of `fpath`"
    "skillpm completions fish     for ~/.config/fish/completions/skillpm.fish"
);

pub(crate) const MAN: &str = after!("man",
    "skillpm man install                           the page of a command, as `man -l -` reads it"
    "skillpm man --out ~/.local/share/man/man1     all pages, where `man` finds them"
);

/// The commands by what they are for, as the help page of the program shows them.
const GROUPS: &[(&str, &[&str])] = &[
    ("Use skills", &["install", "sync", "list", "invoke", "run", "disable", "enable", "remove"]),
    ("Keep them up to date", &["outdated", "update", "diff", "verify", "undo"]),
    ("Write skills", &["create", "validate", "explain", "fmt"]),
    ("Look inside", &["show", "read", "catalog", "tools", "tree", "why"]),
    (
        "Agents and this machine",
        &[
            "agents",
            "link",
            "unlink",
            "import",
            "export",
            "doctor",
            "cache",
            "policy",
            "trust",
            "untrust",
            "audit",
            "completions",
            "man",
        ],
    ),
];

/// The template of the help page of `program`, of so many columns.
pub(crate) fn template(program: &clap::Command, columns: usize) -> String {
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    let names = || GROUPS.iter().flat_map(|(_, names)| *names);
    let indent = names().map(|name| name.len()).max().unwrap_or_default() + 4;
    for (title, names) in GROUPS {
        heading(&mut text, title);
        for command in names.iter().filter_map(|name| program.find_subcommand(name)) {
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

/// A help page as it is shown: with colours for what comes behind the options, which a short page does without.
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
    text + "\n" + page!("skillpm")
}

#[cfg(test)]
pub(crate) mod testing {
    use clap::Command;

    use crate::cli::args;

    /// The program with all commands, rendered as wide as pages of the reference are.
    pub(crate) fn program() -> Command {
        let mut program = args::program_in(100).term_width(100);
        program.build();
        program
    }

    /// The help page of a command, which may have a second word.
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
            assert!(page.trim_end().ends_with(&format!("docs/reference/cli.md#{name}")), "{name}");
        }
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let program = testing::program();
        let mut names: Vec<_> = program.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
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

    #[test]
    fn the_reference_page_shows_these_pages() {
        let mut text = format!("```text\n{}\n```\n", testing::program().render_help().to_string().trim_end());
        for command in testing::program().get_subcommands() {
            let name = command.get_name();
            let page = testing::page(name);
            let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", page.trim_end());
            for action in command.get_subcommands() {
                let name = format!("{name} {}", action.get_name());
                let page = testing::page(&name);
                let _ = write!(text, "\n### {name}\n\n```text\n{}\n```\n", page.trim_end());
            }
        }
        skillpm_testing::check_reference("cli.md", &text);
    }
}
