//! Comments in a skill that switch rules off: `# skillpm: allow name-directory`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Finding, RULES, Ruleset, rules};
use crate::document::{Document, Node, SWITCH as MARK, Style, Value, is_switch};
use crate::text::lines;

/// Finds [`MARK`].
static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARK));

/// The start of an HTML comment.
const HTML_OPEN: &str = "<!--";

/// The rule about switches that are not needed. It is applied last, using the findings of the others.
pub(super) const UNUSED: &str = "unused-switch";

/// The name of a rule in a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Switch<'a> {
    /// The name as written.
    pub(super) rule: &'a str,
    /// The bytes of the comment.
    pub(super) span: Range<usize>,
    /// The scope in which the rule is switched off.
    scope: Scope,
}

/// The scope in which a rule is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    File,
    /// A line, from 1.
    Line(usize),
}

/// Returns all switches of `document`, in the order of the text.
///
/// In the frontmatter they are comments, `# skillpm: allow rule-a, rule-b`, for their own line or, alone on a line, for
/// the next line that is not empty. In the body they are HTML comments on their own line,
/// `<!-- skillpm: allow rule-a -->`, but not in fenced code. `allow-file` instead of `allow` applies to the whole file.
pub(super) fn switches(document: &Document) -> Vec<Switch<'_>> {
    let mut switches = Vec::new();
    let has_mark = |text: &str| FINDER.find(text.as_bytes()).is_some();
    if let Some(yaml) = document.yaml_span()
        && has_mark(&document.text()[yaml.clone()])
    {
        in_yaml(document, yaml, &mut switches);
    }
    // In the body they are HTML comments.
    if document.may_have_comment() && has_mark(document.body()) {
        in_body(document, &mut switches);
    }
    switches
}

/// Removes the findings that `document` switches off, and adds those about its switches.
pub(super) fn apply(document: &Document, ruleset: &Ruleset, findings: &mut Vec<Finding>) {
    let switches = switches(document);
    if switches.is_empty() {
        return;
    }
    let lines = document.line_index();
    // Determines whether each is needed: there may be thousands, and as many findings.
    let mut used: BTreeMap<(&str, Scope), bool> =
        switches.iter().map(|switch| ((switch.rule, switch.scope), false)).collect();
    findings.retain(|finding| {
        let line = lines.line(finding.span.start);
        let mut wanted = true;
        for scope in [Scope::File, Scope::Line(line)] {
            if let Some(used) = used.get_mut(&(finding.rule, scope)) {
                *used = true;
                wanted = false;
            }
        }
        wanted
    });
    let unused = switches.iter().filter(|switch| !used[&(switch.rule, switch.scope)]);
    findings.extend(rules::unused_switches(unused, ruleset));
}

/// Reports whether findings of `rule` would be reported without a switch. Returns `None` if there is no such rule.
pub(super) fn is_on(rule: &str, ruleset: &Ruleset) -> Option<bool> {
    let rule = RULES.iter().find(|known| known.id == rule)?;
    Some(ruleset.level(rule).severity().is_some())
}

/// Reads the rules in `text`, which starts at byte `at`: `skillpm: allow rule-a, rule-b`.
///
/// `line` is the line that a switch without `-file` applies to.
fn read<'a>(text: &'a str, at: usize, line: usize, switches: &mut Vec<Switch<'a>>) {
    let rest = text.trim_start();
    let Some(rest) = rest.strip_prefix(MARK).map(str::trim_start) else { return };
    let (word, names) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
    let scope = match word {
        "allow" => Scope::Line(line),
        "allow-file" => Scope::File,
        _ => return,
    };
    let mut start = at + text.len() - names.len();
    for part in names.split_inclusive([',', ' ', '\t']) {
        let name = part.trim_end_matches([',', ' ', '\t']);
        if !name.is_empty() {
            switches.push(Switch { rule: name, span: start..start + name.len(), scope });
        }
        start += part.len();
    }
}

/// Returns where the name of a rule starts that is being written at the end of `line`.
pub(super) fn name_in(line: &str) -> Option<usize> {
    let (_, rest) = line.rsplit_once(MARK)?;
    let names =
        rest.trim_start().strip_prefix("allow-file").or_else(|| rest.trim_start().strip_prefix("allow"))?;
    names.starts_with([' ', '\t']).then(|| line.rfind([',', ' ', '\t']).map_or(0, |at| at + 1))
}

fn in_yaml<'a>(document: &'a Document, yaml: Range<usize>, switches: &mut Vec<Switch<'a>>) {
    let index = document.line_index();
    let all: Vec<(usize, &str)> = lines(document.text(), yaml).collect();
    // The start of the next line that is not empty, for each line.
    let mut next = vec![None; all.len()];
    for number in (1..all.len()).rev() {
        let (at, line) = all[number];
        next[number - 1] = if is_blank_or_comment(line) { next[number] } else { Some(at) };
    }
    for (number, (at, line)) in all.iter().enumerate() {
        let Some(comment) = comment(line) else { continue };
        if document.frontmatter().is_some_and(|root| in_text(root, at + comment)) {
            continue;
        }
        let own = index.position(*at).line;
        let line_for = if line[..comment].trim().is_empty() {
            next[number].map_or(own, |at| index.position(at).line)
        } else {
            own
        };
        read(&line[comment + 1..], at + comment + 1, line_for, switches);
    }
}

/// Returns where a comment in `line` starts that may be a switch.
fn comment(line: &str) -> Option<usize> {
    let starts = |at: usize| (at == 0 || line[..at].ends_with([' ', '\t'])) && is_switch(&line[at + 1..]);
    line.match_indices('#').map(|(at, _)| at).find(|at| starts(*at))
}

fn is_blank_or_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// Reports whether byte `at` belongs to a text in quotes or in a block below `node`.
fn in_text(node: &Node, at: usize) -> bool {
    let mut nodes = vec![node];
    while let Some(node) = nodes.pop() {
        match &node.value {
            Value::Scalar { style: Style::Plain | Style::Raw | Style::Alias, .. } => {}
            Value::Scalar { .. } if node.span.contains(&at) => return true,
            Value::Scalar { .. } => {}
            Value::Sequence { items, .. } => nodes.extend(items),
            Value::Mapping { pairs, .. } => nodes.extend(pairs.iter().flat_map(|(key, value)| [key, value])),
        }
    }
    false
}

fn in_body<'a>(document: &'a Document, switches: &mut Vec<Switch<'a>>) {
    let index = document.line_index();
    let mut fence: Option<&str> = None;
    let mut waiting: Vec<(usize, &str)> = Vec::new();
    for (at, line) in lines(document.text(), document.body_span()) {
        let text = line.trim_start();
        let run = fence_of(text);
        match (fence, run) {
            (Some(open), Some(run)) if run.starts_with(open) && run.len() == text.trim_end().len() => {
                fence = None;
            }
            (Some(_), _) => {}
            (None, Some(run)) => fence = Some(run),
            (None, None) => {
                if let Some(inner) = html_switch(text) {
                    waiting.push((at + line.len() - text.len() + HTML_OPEN.len(), inner));
                    continue;
                }
            }
        }
        if !text.is_empty() {
            settle(&mut waiting, index.position(at).line, switches);
        }
    }
    let end = index.count();
    settle(&mut waiting, end, switches);
}

/// Returns the content of the HTML comment that `line` starts with, if it may be a switch.
fn html_switch(line: &str) -> Option<&str> {
    let (inner, _) = line.strip_prefix(HTML_OPEN)?.split_once("-->")?;
    is_switch(inner).then_some(inner)
}

/// Assigns `line` to the switches that are waiting for a line.
fn settle<'a>(waiting: &mut Vec<(usize, &'a str)>, line: usize, switches: &mut Vec<Switch<'a>>) {
    for (at, text) in waiting.drain(..) {
        read(text, at, line, switches);
    }
}

/// Returns the backticks or tildes with which `line` opens or closes fenced code. The text after backticks contains no
/// backticks, otherwise they are inline code.
pub(super) fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let (run, rest) = line.split_at(length);
    (length >= 3 && !(mark == '`' && rest.contains(mark))).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::{Subject, check};

    /// The switches of a text: rule and line, 0 for the whole file.
    fn found(text: &str) -> Vec<(String, usize)> {
        let document = Document::parse(text.to_owned());
        let line = |scope| if let Scope::Line(line) = scope { line } else { 0 };
        let told = |switch: &Switch<'_>| {
            assert_eq!(&text[switch.span.clone()], switch.rule);
            (switch.rule.to_owned(), line(switch.scope))
        };
        switches(&document).iter().map(told).collect()
    }

    fn expect(text: &str, expected: &[(&str, usize)]) {
        let expected: Vec<_> = expected.iter().map(|(rule, line)| ((*rule).to_owned(), *line)).collect();
        assert_eq!(found(text), expected, "{text:?}");
    }

    #[test]
    fn comments_of_the_frontmatter_are_for_their_line_or_the_next() {
        expect("---\nname: x # skillpm: allow a, b\n---\n", &[("a", 2), ("b", 2)]);
        expect("---\r\n# skillpm: allow a b\r\n\r\n# x\r\nname: x\r\n---\r\n", &[("a", 5), ("b", 5)]);
        expect("---\nm:\n  #skillpm:allow a\n  x: y\n---\n", &[("a", 4)]);
        expect("---\n# skillpm: allow-file a\nname: x\n---\n", &[("a", 0)]);
        expect("---\nm: |\n  x\n# skillpm: allow a\nname: x\n---\n", &[("a", 5)]);
        expect("---\nm: |\n  x\n\n  y\n\n# skillpm: allow a\nname: x\n---\n", &[("a", 8)]);
    }

    #[test]
    fn text_that_looks_like_a_switch_is_text() {
        expect("---\nname: \"x # skillpm: allow a\"\n---\n", &[]);
        expect("---\nname: |\n  x\n  # skillpm: allow a\n---\n", &[]);
        expect("---\nname: x#skillpm: allow a\n---\n", &[]);
        expect("---\nname: x # skillpm: forbid a\nx: y # skillpm:\n---\n", &[]);
        expect("---\n---\n```\n<!-- skillpm: allow a -->\n```\nx <!-- skillpm: allow b -->\n", &[]);
        expect("---\n---\n~~~~ x\n```\n~~~\n<!-- skillpm: allow a -->\n~~~~\n", &[]);
    }

    #[test]
    fn comments_of_the_body_are_for_the_next_line() {
        expect(
            "---\n---\n<!-- skillpm: allow a -->\n<!-- skillpm: allow b -->\n\ntext\n",
            &[("a", 6), ("b", 6)],
        );
        expect("---\n---\n  <!--skillpm: allow-file a-->\n", &[("a", 0)]);
        expect("# none\n<!-- skillpm: allow-file a -->", &[("a", 0)]);
    }

    #[test]
    fn three_backticks_in_a_line_open_no_code() {
        expect("---\n---\n```npm install```\n<!-- skillpm: allow a -->\nx\n", &[("a", 5)]);
        expect("---\n---\n~~~ a`b\n<!-- skillpm: allow a -->\n~~~\nx\n", &[]);
    }

    #[test]
    fn what_is_allowed_is_not_told() {
        let rules = |text: &str| {
            let document = Document::parse(text.to_owned());
            let findings = check(&Subject::new(&document, Some("pdf"), "SKILL.md"));
            findings.into_iter().map(|finding| finding.rule).collect::<Vec<_>>()
        };
        let description = "description: Reads PDF files. Use when there are PDF files.";
        assert_eq!(
            rules(&format!("---\nname: Reader\n{description}\n---\n")),
            ["name-alphabet", "name-directory"]
        );
        let text = format!("---\nname: Reader # skillpm: allow name-directory\n{description}\n---\n");
        assert_eq!(rules(&text), ["name-alphabet"]);
        let text =
            format!("---\n{description}\n# skillpm: allow name-directory name-alphabet\nname: Reader\n---\n");
        assert_eq!(rules(&text), [""; 0]);
        let text =
            format!("---\nname: Reader\n{description}\n# skillpm: allow name-directory\nlicense: MIT\n---\n");
        assert_eq!(rules(&text), ["name-alphabet", "name-directory", "unused-switch"]);
        let text = "---\nname: pdf\n---\n<!-- skillpm: allow-file description-missing -->\n";
        assert_eq!(rules(text), [""; 0]);
    }
}
