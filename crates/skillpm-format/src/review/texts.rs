//! The reportable contents of a text: Markdown, scripts and others.

use std::ops::Range;

use super::commands::Command;
use super::{Item, Kind, addresses, commands};
use crate::document::{Document, LineIndex, MAX_MARKDOWN, Markdown, Node, Target};
use crate::lint::{comments, ending, hidden_message, hidden_runs, instructions, markup, out_of_sight};
use crate::requirement::Requirement;
use crate::resolve::declared::declared_in;
use crate::spec::SourceSpec;

/// A text file.
pub(super) struct Text<'a> {
    path: &'a str,
    content: &'a str,
    lines: LineIndex<'a>,
    is_script: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(path: &'a str, content: &'a str, is_script: bool) -> Self {
        Self { path, content, lines: LineIndex::new(content), is_script }
    }

    /// Returns an item at byte `at` that is identified by its text.
    fn item(&self, kind: Kind, at: usize, text: &str) -> Item {
        let line = Some(self.lines.line(at));
        Item { kind, key: text.to_owned(), needs: Vec::new(), quiet: false, line, text: text.to_owned() }
    }

    /// Adds `command`, and the addresses without a scheme that it names. A `quiet` one is reported only if it calls a
    /// program that nothing called before.
    fn command(&self, command: Command, quiet: bool, items: &mut Vec<Item>) {
        for host in commands::hosts(&command.text) {
            let needs = vec![host.name];
            items.push(Item { needs, ..self.item(Kind::Url, command.at, host.text) });
        }
        let item = self.item(Kind::Command, command.at, &command.text);
        items.push(Item { needs: command.programs, quiet, ..item });
    }
}

/// Returns what is reported about the `SKILL.md` before any use, in addition to the findings of linter rules.
pub(super) fn alarms(document: &Document) -> Vec<Item> {
    let (text, mut items) = (Text::new("SKILL.md", document.text(), false), Vec::new());
    hooks(&text, document, &mut items);
    let body = document.body_span();
    dynamic(&text, &body, &mut items);
    unseen(&text, &body, &mut items);
    items
}

/// Adds everything in `text` that could be reported.
pub(super) fn items(text: &Text<'_>, items: &mut Vec<Item>) {
    hidden(text, items);
    for address in addresses::find(text.content) {
        let needs = vec![address.host];
        items.push(Item { needs, ..text.item(Kind::Url, address.at, address.text) });
    }
    let ending = ending(text.path).to_ascii_lowercase();
    if text.path == "SKILL.md" {
        let document = Document::parse(text.content.to_owned());
        tools(text, &document, items);
        limits(text, &document, items);
        dependencies(text, &document, items);
        described(text, &document, items);
        hooks(text, &document, items);
        markdown(text, document.markdown(), document.body_span(), items);
    } else if text.is_script {
        far_away(text, items);
        if matches!(&*ending, "sh" | "bash" | "zsh" | "ksh" | "fish") || has_shell(text.content) {
            unseen(text, &(0..text.content.len()), items);
            // The diff shows the lines of a script; a command is reported if nothing called it before.
            for command in commands::of_lines(text.content, 0) {
                text.command(command, true, items);
            }
        }
    } else if is_document(text.path) {
        markdown(text, &Markdown::parse(text.content, 0), 0..text.content.len(), items);
    }
}

/// Adds the invisible characters.
fn hidden(text: &Text<'_>, items: &mut Vec<Item>) {
    let mark = if text.content.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for run in hidden_runs(text.content, mark) {
        let hidden = &text.content[run.clone()];
        // A text with such bytes is reported as not being text.
        if hidden.chars().all(|c| c == '\0') {
            continue;
        }
        let key = hidden.to_owned();
        items.push(Item { key, ..text.item(Kind::HiddenCharacters, run.start, &hidden_message(hidden)) });
    }
}

/// Reports whether the file at `path` is read as Markdown.
pub(super) fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !name.contains('.')
        || matches!(&*ending(name).to_ascii_lowercase(), "md" | "markdown" | "mdx" | "mdc" | "txt" | "rst")
}

/// Reports whether the first line names a shell.
fn has_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("#!")
        && first.split(['/', ' ']).any(|word| matches!(word, "sh" | "bash" | "zsh" | "dash" | "ksh"))
}

/// Adds the tools that the frontmatter requests.
fn tools(text: &Text<'_>, document: &Document, items: &mut Vec<Item>) {
    let Some((key, _)) = document.frontmatter().and_then(|root| root.entry("allowed-tools")) else { return };
    for tool in document.allowed_tools() {
        items.push(text.item(Kind::Tool, key.span.start, &tool));
    }
}

/// Adds the limits that the frontmatter does not set. The review reports those that the version before it had set.
fn limits(text: &Text<'_>, document: &Document, items: &mut Vec<Item>) {
    if document.get("allowed-tools").is_none() {
        let told = "`allowed-tools` is gone: the skill no longer says which tools it needs";
        items.push(text.item(Kind::LimitRemoved, 0, told));
    }
    let is_set = document.get("disable-model-invocation").and_then(Node::text).map(str::trim);
    if !is_set.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        let told = "`disable-model-invocation` is gone: the agent may use the skill without being told to";
        items.push(text.item(Kind::LimitRemoved, 0, told));
    }
}

/// Adds the dependencies, without their versions.
fn dependencies(text: &Text<'_>, document: &Document, items: &mut Vec<Item>) {
    for declared in declared_in(document) {
        let written = &text.content[declared.span.clone()];
        let key = match declared.requirement {
            Ok(Requirement::Named { name, .. }) => name.to_string(),
            Ok(Requirement::Source(spec)) => SourceSpec { reference: None, ..spec }.to_string(),
            // It is reported as an error elsewhere, and nothing comes of it.
            Err(_) => continue,
        };
        items.push(Item { key, ..text.item(Kind::Dependency, declared.span.start, written) });
    }
}

/// Adds the tag in the description.
fn described(text: &Text<'_>, document: &Document, items: &mut Vec<Item>) {
    let Some(node) = document.get("description") else { return };
    if let Some(tag) = node.text().and_then(markup) {
        items.push(text.item(Kind::DescriptionMarkup, node.span.start, tag));
    }
}

/// Adds the lines of the hooks in the frontmatter.
fn hooks(text: &Text<'_>, document: &Document, items: &mut Vec<Item>) {
    let Some((_, hooks)) = document.frontmatter().and_then(|root| root.entry("hooks")) else { return };
    let mut at = hooks.span.start;
    for line in text.content[hooks.span.clone()].split_inclusive('\n') {
        if !line.trim().is_empty() {
            items.push(text.item(Kind::Hook, at, line.trim()));
        }
        at += line.len();
    }
}

/// Adds the comments that instruct the agent, and the commands in comments.
fn hidden_comments(text: &Text<'_>, markdown: &Markdown, items: &mut Vec<Item>) {
    for (span, comment) in instructions(text.content, markdown) {
        items.push(text.item(Kind::CommentInstruction, span.start, comment.trim()));
    }
    for (span, comment) in comments(text.content, markdown) {
        for command in commands::of_comment(comment, span.start) {
            text.command(command, false, items);
        }
    }
}

/// Adds the lines that few readers see.
fn far_away(text: &Text<'_>, items: &mut Vec<Item>) {
    for (span, _) in out_of_sight(text.content) {
        items.push(text.item(Kind::OutOfSight, span.start, &text.content[span]));
    }
}

/// Adds the commands in the bytes `body` that run before the text is read.
fn dynamic(text: &Text<'_>, body: &Range<usize>, items: &mut Vec<Item>) {
    for command in commands::dynamic(&text.content[body.clone()], body.start) {
        items.push(text.item(Kind::DynamicCommand, command.at, &command.text));
    }
}

/// Adds the lines in the bytes `body` that run what they download or decode.
fn unseen(text: &Text<'_>, body: &Range<usize>, items: &mut Vec<Item>) {
    for (at, line) in commands::unseen(&text.content[body.clone()], body.start) {
        items.push(text.item(Kind::DownloadExec, at, line));
    }
}

/// Adds the contents of the Markdown in the bytes `body`.
fn markdown(text: &Text<'_>, markdown: &Markdown, body: Range<usize>, items: &mut Vec<Item>) {
    hidden_comments(text, markdown, items);
    far_away(text, items);
    // Code after an exclamation mark runs automatically, and is reported as such.
    for code in markdown.code.iter().filter(|code| !text.content[..code.start].ends_with('!')) {
        for command in commands::of_code(&text.content[code.clone()], code.start) {
            text.command(command, false, items);
        }
    }
    dynamic(text, &body, items);
    unseen(text, &body, items);
    let directory = text.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    for link in &markdown.links {
        if matches!(
            Target::of(&link.target, directory),
            Target::Outside(_) | Target::Absolute | Target::Windows
        ) {
            items.push(text.item(Kind::LinkOutside, link.span.start, &link.target));
        }
    }
    if body.len() > MAX_MARKDOWN {
        let size = body.len();
        let told =
            format!("only the first {MAX_MARKDOWN} of {size} bytes were searched for commands and comments");
        let key = format!("{}\0{size}", text.path);
        items.push(Item { key, line: None, ..text.item(Kind::Unread, 0, &told) });
    }
}
