use proptest::prelude::*;

use super::*;

const LABELS: Labels<'static> = Labels { ours: "a", theirs: "b" };

fn merged(base: &str, ours: &str, theirs: &str) -> (String, bool) {
    let lines = merge(base, ours, theirs, &LABELS);
    (lines.text, lines.conflict)
}

fn clean(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

fn conflict(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

#[test]
fn changes_with_a_line_between_them_are_both_taken() {
    assert_eq!(merged("1\n2\n3\n", "one\n2\n3\n", "1\n2\nthree\n"), clean("one\n2\nthree\n"));
    assert_eq!(merged("1\n2\n3\n", "2\n3\n", "1\n2\n3\n4\n"), clean("2\n3\n4\n"));
    assert_eq!(merged("1\n2\n", "1\nx\n", "1\nx\n"), clean("1\nx\n"));
}

#[test]
fn markers_stand_only_around_what_differs() {
    assert_eq!(
        merged("1\n2\n3\n", "1\nx\n3\n", "1\ny\n3\n"),
        conflict("1\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n3\n")
    );
    // Both added the same lines around the difference.
    assert_eq!(
        merged("1\n", "1\np\nx\nq\n", "1\np\ny\nq\n"),
        conflict("1\np\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\nq\n")
    );
    // Nothing in common: a file that both added.
    assert_eq!(merged("", "x\n", "y\n"), conflict("<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"));
    assert_eq!(merged("1\n2\n", "1\n", "1\nx\n"), conflict("1\n<<<<<<< a\n=======\nx\n>>>>>>> b\n"));
}

#[test]
fn conflicts_with_little_between_them_are_one() {
    let text = |gap: &str, one: &str| format!("{one}\n{gap}{one}\n");
    let three = |gap: &str| merged(&text(gap, "1"), &text(gap, "x"), &text(gap, "y"));
    assert_eq!(three("g\n"), conflict("<<<<<<< a\nx\ng\nx\n=======\ny\ng\ny\n>>>>>>> b\n"));
    assert_eq!(three("-\n\n\n\n\n").0.matches("<<<<<<<").count(), 1);
    assert_eq!(three("g\ng\ng\ng\n").0.matches("<<<<<<<").count(), 2);
}

#[test]
fn a_last_line_without_an_end_stays_one() {
    assert_eq!(merged("1\n2\n3", "1\n2\nx", "one\n2\n3"), clean("one\n2\nx"));
    assert_eq!(merged("1", "x", "y"), conflict("<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"));
    assert_eq!(merged("1\n2", "1\n2\n", "0\n1\n2"), clean("0\n1\n2\n"));
    assert_eq!(
        merged("1\n2\n", "1\n2", "1\n2\n3\n"),
        conflict("1\n<<<<<<< a\n2\n=======\n2\n3\n>>>>>>> b\n")
    );
}

#[test]
fn line_ends_alone_are_no_changes() {
    // The user's editor wrote other line endings.
    assert_eq!(merged("1\n2\n3\n", "one\r\n2\r\n3\r\n", "1\n2\nthree\n"), clean("one\r\n2\r\nthree\r\n"));
    // The new version has other line endings.
    assert_eq!(merged("1\r\n2\r\n3\r\n", "one\r\n2\r\n3\r\n", "1\n2\nthree\n"), clean("one\n2\nthree\n"));
    assert_eq!(merged("1", "1", "1\r\n2\r\n"), clean("1\r\n2\r\n"));
    // All have the same line endings, including the markers.
    assert_eq!(
        merged("1\r\n", "x\r\n", "y\r\n"),
        conflict("<<<<<<< a\r\nx\r\n=======\r\ny\r\n>>>>>>> b\r\n")
    );
    // Both kinds in one text are distinguished.
    assert_eq!(merged("1\r\n2\n3\n", "1\n2\n3\n", "1\r\n2\n3\r\n"), clean("1\n2\n3\r\n"));
}

/// A label is one line for any content: it cannot add lines to a skill.
#[test]
fn labels_are_harmless() {
    let labels = Labels { ours: "a\nb\r\u{1b}[2J", theirs: "t\tu" };
    assert_eq!(
        merge("1\n", "x\n", "y\n", &labels).text,
        "<<<<<<< a b\\u{d}\\u{1b}[2J\nx\n=======\ny\n>>>>>>> t u\n"
    );
}

/// A text with few different lines, so that many are equal.
fn any_text() -> impl Strategy<Value = String> {
    "((a|b|c|d|e|-|)(\r\n|\n|\n|\n)){0,8}[abc]?"
}

proptest! {
    #[test]
    fn one_side_alone_wins(base in any_text(), side in any_text()) {
        // A side without a line ending does not affect the line endings of the result.
        prop_assert_eq!(merge_exact(&base, &base, &side, &LABELS).text, side.clone());
        prop_assert_eq!(merge_exact(&base, &side, &base, &LABELS).text, side.clone());
        let same = merge_exact(&base, &side, &side, &LABELS);
        prop_assert_eq!((same.text, same.conflict), (side, false));
    }

    /// Every line that is new on one side is in the result, markers or not.
    #[test]
    fn no_new_line_is_lost(base in any_text(), ours in any_text(), theirs in any_text()) {
        let merged = merge(&base, &ours, &theirs, &LABELS);
        let old: Vec<&str> = base.lines().collect();
        let all: Vec<&str> = merged.text.lines().collect();
        for line in ours.lines().chain(theirs.lines()).filter(|line| !old.contains(line)) {
            prop_assert!(all.contains(&line), "{:?} of {:?}", line, merged);
        }
        prop_assert_eq!(merged.conflict, merged.text.contains("<<<<<<< a"));
    }

    /// Whether edits conflict does not depend on which side made them.
    #[test]
    fn both_sides_are_equals(base in any_text(), ours in any_text(), theirs in any_text()) {
        let one = merge_exact(&base, &ours, &theirs, &LABELS);
        let other = merge_exact(&base, &theirs, &ours, &LABELS);
        prop_assert_eq!(one.conflict, other.conflict);
        if !one.conflict {
            prop_assert_eq!(one.text, other.text);
        }
    }
}
