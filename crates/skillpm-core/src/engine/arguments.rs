//! The arguments of a skill, as one text and as words.

/// The arguments that a skill is activated with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    text: String,
    words: Vec<String>,
}

impl Arguments {
    /// Returns the arguments that a user typed as one text.
    ///
    /// The text stays as it is. Its words are split as a shell splits them: at white space outside single
    /// and double quotes, which are removed. A backslash escapes white space, a quote or a backslash; before
    /// any other character, and in single quotes, it is an ordinary character. A text with a quote that is
    /// never closed, such as `don't`, is split at white space only.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let words = split(&text).unwrap_or_else(|| text.split_whitespace().map(str::to_owned).collect());
        Self { text, words }
    }

    /// Returns arguments that are already words; the text joins them with single spaces.
    pub fn of_words(words: Vec<String>) -> Self {
        Self { text: words.join(" "), words }
    }

    /// Returns all arguments as typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the word at `index`, counted from 0.
    pub fn word(&self, index: usize) -> Option<&str> {
        self.words.get(index).map(String::as_str)
    }
}

/// Returns the words of `text`; `None` if a quote is never closed.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // `Some` from the first character or quote of a word: a pair of quotes alone is an empty word.
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let escapes = |next: char| matches!(next, '\\' | '"' | '\'') || next.is_whitespace();
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) if rest.peek().is_some_and(|next| escapes(*next)) => {
                word.get_or_insert_default().extend(rest.next());
            }
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        Arguments::new(text).words
    }

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n\t", &[]),
            ("a  b\nc", &["a", "b", "c"]),
            ("'search bar' React", &["search bar", "React"]),
            ("\"it's\" x\"y z\"'w'", &["it's", "xy zw"]),
            ("'' \"\" a", &["", "", "a"]),
            ("a\\ b \\\"c\\\" d\\\\e", &["a b", "\"c\"", "d\\e"]),
            ("\"a \\\" b\" 'c \\' d", &["a \" b", "c \\", "d"]),
            ("C:\\dir \\d+ a\\", &["C:\\dir", "\\d+", "a\\"]),
            ("$HOME | x > y `z` *", &["$HOME", "|", "x", ">", "y", "`z`", "*"]),
            ("don't stop", &["don't", "stop"]),
            ("fix \"a b", &["fix", "\"a", "b"]),
            ("a\u{a0}b c", &["a", "b", "c"]),
        ] {
            assert_eq!(words(text), expected, "{text:?}");
        }
    }

    #[test]
    fn words_that_are_split_already_stay() {
        let arguments = Arguments::of_words(vec!["a  b".into(), "'c".into()]);
        assert_eq!(arguments.text(), "a  b 'c");
        assert_eq!(
            (arguments.word(0), arguments.word(1), arguments.word(2)),
            (Some("a  b"), Some("'c"), None)
        );
    }

    proptest! {
        #[test]
        fn any_word_can_be_quoted(all in prop::collection::vec("[^']{0,8}", 0..5)) {
            let quoted: Vec<_> = all.iter().map(|word| format!("'{word}'")).collect();
            prop_assert_eq!(words(&quoted.join(" ")), all);
        }

        #[test]
        fn every_text_has_words(text in "[\"' \\\\a$\n]{0,12}") {
            let arguments = Arguments::new(text.as_str());
            prop_assert_eq!(arguments.text(), text);
        }
    }
}
