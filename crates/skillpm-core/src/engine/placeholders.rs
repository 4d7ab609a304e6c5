//! Fills in the placeholders of a skill's instructions for an agent.

use std::path::{Path, PathBuf};

use super::arguments::Arguments;
use super::dynamic;
use crate::profile::Placeholders;
use crate::skill::SkillMeta;
use crate::skill::placeholder::{argument_word, index_at};

/// The placeholder for all arguments.
const ARGUMENTS: &str = "$ARGUMENTS";
/// The placeholders for the skill's directory.
const DIRECTORIES: [&str; 2] = ["${SKILL_DIR}", "${CLAUDE_SKILL_DIR}"];

/// A skill that was activated; every form of the answer is made from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    /// The metadata from its frontmatter.
    pub meta: SkillMeta,
    /// The directory.
    pub base_dir: PathBuf,
    /// The instructions, filled in.
    pub body: String,
    /// The arguments as typed.
    pub args: String,
    /// The other files, as `/`-separated paths below its directory; empty until a caller lists them.
    pub files: Vec<String>,
    /// The commands in the body that other programs would run. skillpm ran none of them.
    pub commands: Vec<String>,
}

/// Activates the skill `meta`, whose instructions are `body` and whose directory is `base_dir`.
///
/// The body is read once, so text from the arguments is never taken for a placeholder. `placeholders`
/// selects which of these are filled in:
///
/// - `$ARGUMENTS` stands for all arguments as typed, before any character;
/// - `$ARGUMENTS[N]` stands for one word of the arguments, counted from 0. So does `$N`, unless it looks
///   like an amount or part of a name: after a letter or digit (`US$5`, `$B$2`), before one (`$5k`), or
///   with a fraction or thousands (`$1.50`, `$1,000`);
/// - `${SKILL_DIR}` and `${CLAUDE_SKILL_DIR}` stand for `base_dir`.
///
/// A placeholder for a word that does not exist stays. A `$` or a backslash right before a placeholder
/// escapes it: the placeholder stays, and the `$` or backslash is dropped. Any other `$` is text.
///
/// If there are arguments and no placeholder used them, they are appended as the last paragraph
/// (S0-US3.2). Commands in the body are never run.
pub(crate) fn activate(
    meta: SkillMeta,
    body: &str,
    base_dir: &Path,
    arguments: &Arguments,
    placeholders: Placeholders,
) -> Activation {
    let text = arguments.text();
    let (mut filled, used) = fill(body, base_dir, arguments, placeholders);
    if !used && !text.is_empty() {
        filled.push_str("\n\nARGUMENTS: ");
        filled.push_str(text);
    }
    Activation {
        meta,
        base_dir: base_dir.to_owned(),
        body: filled,
        args: text.to_owned(),
        files: Vec::new(),
        commands: dynamic::commands(body).into_iter().map(str::to_owned).collect(),
    }
}

/// The meaning of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placeholder {
    /// All arguments.
    All,
    /// The argument word with this index.
    Word(usize),
    /// The skill's directory.
    Directory,
}

/// Returns the body with its placeholders filled in, and whether one of them used arguments.
fn fill(body: &str, base_dir: &Path, arguments: &Arguments, which: Placeholders) -> (String, bool) {
    let mut filled = String::with_capacity(body.len() + arguments.text().len());
    let mut used = false;
    // The end of the last placeholder. The next one does not count as following its digits.
    let mut last = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'$', &body.as_bytes()[at..]) {
        filled.push_str(&body[at..at + found]);
        at += found;
        let (before, rest) = body.split_at(at);
        let doubled = rest.strip_prefix('$').filter(|after| after.starts_with('$'));
        if let Some((_, length)) = doubled.and_then(|after| placeholder("$", after, which)) {
            filled.push_str(&rest[1..=length]);
            at += 1 + length;
            last = at;
            continue;
        }
        let text = if at == last { "" } else { before };
        let Some((what, length)) = placeholder(text, rest, which) else {
            filled.push('$');
            at += 1;
            continue;
        };
        at += length;
        last = at;
        let literal = &rest[..length];
        if which == Placeholders::All && text.ends_with('\\') {
            // The backslash is the last character that was copied: nothing was filled in after it.
            filled.pop();
            filled.push_str(literal);
            continue;
        }
        match what {
            Placeholder::All => {
                filled.push_str(arguments.text());
                used = true;
            }
            Placeholder::Word(index) => {
                let word = arguments.word(index);
                filled.push_str(word.unwrap_or(literal));
                used |= word.is_some();
            }
            Placeholder::Directory => filled.push_str(&base_dir.to_string_lossy()),
        }
    }
    filled.push_str(&body[at..]);
    (filled, used)
}

/// Returns the placeholder at the start of `rest`, which begins with a dollar sign, and its length in bytes.
/// `before` is the text in front of it.
fn placeholder(before: &str, rest: &str, which: Placeholders) -> Option<(Placeholder, usize)> {
    if which == Placeholders::Nothing {
        return None;
    }
    if let Some(after) = rest.strip_prefix(ARGUMENTS) {
        let index = after.strip_prefix('[').filter(|_| which == Placeholders::All).and_then(|inner| {
            let (index, length) = index_at(inner)?;
            inner[length..]
                .starts_with(']')
                .then_some((Placeholder::Word(index), ARGUMENTS.len() + length + 2))
        });
        return Some(index.unwrap_or((Placeholder::All, ARGUMENTS.len())));
    }
    if which == Placeholders::Arguments {
        return None;
    }
    if let Some(directory) = DIRECTORIES.iter().find(|directory| rest.starts_with(**directory)) {
        return Some((Placeholder::Directory, directory.len()));
    }
    argument_word(before, rest).map(|(index, length)| (Placeholder::Word(index), length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the filled-in body. The directory's name looks like a placeholder on purpose.
    fn with(body: &str, arguments: &str, which: Placeholders) -> String {
        let dir = Path::new("/s/$ARGUMENTS");
        activate(SkillMeta::default(), body, dir, &Arguments::new(arguments), which).body
    }

    fn filled(body: &str, arguments: &str) -> String {
        with(body, arguments, Placeholders::All)
    }

    /// S0-US3.1, S0-FR-023, S0-FR-028, S0-FR-041, conflict C10.
    #[test]
    fn the_placeholder_is_replaced() {
        assert_eq!(filled("Review $ARGUMENTS now.\n", "a.py"), "Review a.py now.\n");
        assert_eq!(filled("x\n", ""), "x\n");
    }

    /// S0-US3.2, S0-FR-025, S0-FR-041.
    #[test]
    fn without_a_placeholder_arguments_are_appended() {
        assert_eq!(filled("Review.", "a b"), "Review.\n\nARGUMENTS: a b");
        assert_eq!(filled("Review.\n", "a"), "Review.\n\n\nARGUMENTS: a", "exactly, also after a newline");
        assert_eq!(filled("", "a"), "\n\nARGUMENTS: a");
        assert_eq!(filled("Review.", ""), "Review.");
    }

    /// S0-US3.3, S0-FR-024.
    #[test]
    fn empty_arguments_leave_nothing_in_the_placeholder_s_place() {
        assert_eq!(filled("<$ARGUMENTS>", ""), "<>");
    }

    /// S0-E4, S0-E5, S0-SC-006.
    #[test]
    fn every_placeholder_is_replaced_and_then_nothing_appended() {
        assert_eq!(filled("$ARGUMENTS, $ARGUMENTS$ARGUMENTS", "x"), "x, xx");
        assert_eq!(filled("$ARGUMENTSX", "x"), "xX", "before any character");
        assert_eq!(filled("${ARGUMENTS}$", "x"), "${ARGUMENTS}$\n\nARGUMENTS: x");
    }

    /// S0-FR-026.
    #[test]
    fn case_matters() {
        assert_eq!(filled("$arguments $Arguments", "x"), "$arguments $Arguments\n\nARGUMENTS: x");
    }

    /// Conflict C10.
    #[test]
    fn the_escape_gives_the_literal_text() {
        assert_eq!(filled("$$ARGUMENTS is $ARGUMENTS", "x"), "$ARGUMENTS is x");
        assert_eq!(filled("$$ARGUMENTS", "x"), "$ARGUMENTS\n\nARGUMENTS: x", "it is no placeholder");
        assert_eq!(filled("$$$ARGUMENTS $5 $$", ""), "$$ARGUMENTS $5 $$");
        for (body, text) in [
            ("$$0 \\$0 $0", "$0 $0 a"),
            ("$$ARGUMENTS[0] \\$ARGUMENTS[0] $0", "$ARGUMENTS[0] $ARGUMENTS[0] a"),
            ("$${SKILL_DIR} \\${SKILL_DIR} $0", "${SKILL_DIR} ${SKILL_DIR} a"),
            ("\\$ARGUMENTS $0", "$ARGUMENTS a"),
            ("$$ $$x $$HOME \\$HOME \\n $0", "$$ $$x $$HOME \\$HOME \\n a"),
            ("\\\\$0 $0", "\\$0 a"),
            ("$$1.50 $0", "$$1.50 a"),
        ] {
            assert_eq!(filled(body, "a"), text, "{body}");
        }
        assert_eq!(filled("$$3 \\$3", ""), "$3 $3", "also where there is no such argument");
    }

    /// Conflict C10: white space belongs to the arguments.
    #[test]
    fn arguments_are_untouched() {
        assert_eq!(filled("<$ARGUMENTS>", " a\t b\n\n"), "< a\t b\n\n>");
        assert_eq!(filled("x", " "), "x\n\nARGUMENTS:  ");
        assert_eq!(filled("$0|$ARGUMENTS|", "'a b'  c"), "a b|'a b'  c|");
    }

    /// As Claude Code documents it: words are counted from 0, and a placeholder without a word stays.
    #[test]
    fn words_are_counted_from_zero() {
        let arguments = "a 'b c' d e f g h i j k l";
        for (body, text) in [
            ("$0 $1 $10", "a b c l"),
            ("$ARGUMENTS[0]$ARGUMENTS[1]$ARGUMENTS[10]", "ab cl"),
            ("$0$1,$2. ($3)", "ab c,d. (e)"),
            ("$0.txt -$1- \"$2\" `$3`", "a.txt -b c- \"d\" `e`"),
            ("$0 $11 $ARGUMENTS[11] $99", "a $11 $ARGUMENTS[11] $99"),
            ("$ARGUMENTS[x] $0", "a 'b c' d e f g h i j k l[x] a"),
        ] {
            assert_eq!(filled(body, arguments), text, "{body}");
        }
        assert_eq!(filled("$0 $1", ""), "$0 $1");
        assert_eq!(filled("$1 $ARGUMENTS[1]", "a"), "$1 $ARGUMENTS[1]\n\nARGUMENTS: a", "none took any");
        assert_eq!(filled("$0 $1", "a"), "a $1");
        assert_eq!(filled("<$0>", "''"), "<>", "an empty word is a word");
    }

    /// Prices, spreadsheet cells, shell variables and the like stay.
    #[test]
    fn dollars_that_are_no_placeholders_stay() {
        let arguments = "a b c d e f g";
        for body in [
            "$1.50 $1,000 $0.01 $1.2M $5k $2_000 $3x",
            "US$5 A$1 $B$2 $B5*(1+$B$6)",
            "$00 $01 $1000 $12345678901234567890",
            "$ $$ $x $HOME ${HOME} ${0} $(date) $# $? $@ $*",
            "${SKILL_DIR ${OTHER} $SKILL_DIR ${skill_dir}",
            "é$1 $1é",
        ] {
            assert_eq!(filled(body, arguments), format!("{body}\n\nARGUMENTS: {arguments}"), "{body}");
        }
        assert_eq!(filled("It costs $5.", "a b"), "It costs $5.\n\nARGUMENTS: a b", "there are two words");
    }

    #[test]
    fn the_directory_is_no_argument() {
        assert_eq!(
            filled("${SKILL_DIR}/a ${CLAUDE_SKILL_DIR}", "x"),
            "/s/$ARGUMENTS/a /s/$ARGUMENTS\n\nARGUMENTS: x",
            "nothing in it is read again"
        );
    }

    #[test]
    fn other_systems_have_fewer_placeholders() {
        let body = "$ARGUMENTS $0 $ARGUMENTS[0] ${SKILL_DIR} $$ARGUMENTS \\$ARGUMENTS";
        assert_eq!(
            with(body, "a", Placeholders::Arguments),
            "a $0 a[0] ${SKILL_DIR} $ARGUMENTS \\a",
            "skillkit knows one, and its escape"
        );
        assert_eq!(with(body, "", Placeholders::Nothing), body);
    }

    /// No command is run, and the commands that another program would run are reported.
    #[test]
    fn commands_stay_text() {
        let body = "Now: !`git diff $0`\n";
        let arguments = Arguments::new("x");
        let active = activate(SkillMeta::default(), body, Path::new("/s"), &arguments, Placeholders::All);
        assert_eq!(active.body, "Now: !`git diff x`\n");
        assert_eq!(active.commands, ["git diff $0"]);
    }

    proptest! {
        #[test]
        fn a_body_without_a_dollar_is_unchanged(body in "[^$]{0,60}") {
            prop_assert_eq!(filled(&body, ""), body);
        }

        #[test]
        fn arguments_are_not_read_again(
            before in "[^$\\\\]{0,9}", after in "[^$\\[]{0,9}", arguments in "(\\$|\\$ARGUMENTS|\\$0|x| ){1,9}",
        ) {
            let text = filled(&format!("{before}$ARGUMENTS{after}"), &arguments);
            prop_assert_eq!(text, format!("{before}{arguments}{after}"));
        }

        #[test]
        fn any_body_can_be_filled(body in "(\\$|ARGUMENTS|\\[0\\]|\\\\|0|12|\\.|a|é| |\\{SKILL_DIR\\}){0,14}") {
            let _ = filled(&body, "a 'b c'");
        }
    }
}
