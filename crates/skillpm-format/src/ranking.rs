//! Ranks skills by how well their texts match the words of a search.
//!
//! The score is BM25 over three fields, of which names count most and descriptions least. A word matches at the start
//! of a word of the text; scripts without spaces between words match anywhere.

use crate::text::closest_paths;

/// How fast the weight of further occurrences of a word decreases.
const K1: f64 = 1.2;
/// How much long texts are discounted, from 0 to 1.
const B: f64 = 0.75;
/// The weight of an occurrence in a name, in a tag and in a description.
const NAME: f64 = 4.0;
const TAG: f64 = 2.0;
const DESCRIPTION: f64 = 1.0;
/// The weight of a word that only starts with the searched one, compared to the word itself.
const PREFIX: f64 = 0.5;
/// The length from which a searched word also matches longer words.
const PREFIX_CHARS: usize = 3;
/// The largest number of words of a search; the others are ignored.
const MOST_WORDS: usize = 32;
/// The first character of scripts that are written without spaces.
const UNSPACED: char = '\u{2e80}';

/// The texts of a skill that a search looks at.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The name.
    pub name: &'a str,
    /// The tags.
    pub tags: &'a [String],
    /// What the skill does and when to use it.
    pub description: &'a str,
}

/// A document that matches a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match {
    /// The index of the document.
    pub at: usize,
    /// The score; higher is better.
    pub score: f64,
}

/// The words of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchWords {
    terms: Vec<Term>,
    /// The words as a name: `pdf-forms` for `PDF forms`.
    name: String,
}

/// A searched word.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    text: String,
    /// Whether it matches inside words too.
    anywhere: bool,
    /// Whether it matches the start of longer words.
    is_prefix: bool,
}

impl SearchWords {
    /// Returns the words in `texts`, each once. Everything but letters and digits separates words.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut words: Vec<String> = Vec::new();
        for text in texts {
            let text = text.to_lowercase();
            words.extend(
                text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(Into::into),
            );
        }
        words.truncate(MOST_WORDS);
        let name = words.join("-");
        let mut terms: Vec<Term> = Vec::new();
        for term in words.iter().map(|word| Term::new(word)) {
            if !terms.contains(&term) {
                terms.push(term);
            }
        }
        Self { terms, name }
    }

    /// Reports whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the documents that match at least one word, best first. A document whose name is the searched one comes
    /// before all others; documents with the same score keep the order of their names, then their own.
    pub fn rank(&self, documents: &[Document<'_>]) -> Vec<Match> {
        let mut buffer = String::new();
        let mut lengths = 0.0;
        let mut found_in = vec![0.0; self.terms.len()];
        let mut found: Vec<(usize, Vec<f64>)> = Vec::new();
        for (at, document) in documents.iter().enumerate() {
            lengths += document.length();
            let weights = self.weights(document, &mut buffer);
            if weights.iter().all(|weight| *weight == 0.0) {
                continue;
            }
            for (count, weight) in found_in.iter_mut().zip(&weights) {
                *count += if *weight > 0.0 { 1.0 } else { 0.0 };
            }
            found.push((at, weights));
        }
        let all = count(documents.len());
        let average = (lengths / all.max(1.0)).max(1.0);
        let rarity: Vec<f64> =
            found_in.iter().map(|count| (1.0 + (all - count + 0.5) / (count + 0.5)).ln()).collect();
        let score = |(at, weights): (usize, Vec<f64>)| {
            let discount = K1 * (1.0 - B + B * documents[at].length() / average);
            let of_term = |(weight, rarity): (f64, &f64)| rarity * weight * (K1 + 1.0) / (weight + discount);
            Match { at, score: weights.into_iter().zip(&rarity).map(of_term).sum() }
        };
        let mut matches: Vec<Match> = found.into_iter().map(score).collect();
        let is_other = |one: &Match| !documents[one.at].name.eq_ignore_ascii_case(&self.name);
        matches.sort_by(|a, b| {
            is_other(a)
                .cmp(&is_other(b))
                .then(b.score.total_cmp(&a.score))
                .then_with(|| documents[a.at].name.cmp(documents[b.at].name))
        });
        matches
    }

    /// Returns up to `count` of `names` that are similar to what is searched, the best first.
    pub fn similar<'a>(&self, names: impl IntoIterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        let words =
            std::iter::once(self.name.as_str()).chain(self.terms.iter().map(|term| term.text.as_str()));
        let similar = words.map(|word| closest_paths(word, names.iter().copied(), count));
        similar.into_iter().find(|similar| !similar.is_empty()).unwrap_or_default()
    }

    /// Returns the weight of the occurrences of each word in `document`.
    fn weights(&self, document: &Document<'_>, buffer: &mut String) -> Vec<f64> {
        let mut weights = vec![0.0; self.terms.len()];
        let tags = document.tags.iter().map(|tag| (tag.as_str(), TAG));
        for (text, field) in
            [(document.name, NAME), (document.description, DESCRIPTION)].into_iter().chain(tags)
        {
            let text = lower(text, buffer);
            for (weight, term) in weights.iter_mut().zip(&self.terms) {
                *weight += field * term.occurrences(text);
            }
        }
        weights
    }
}

impl Document<'_> {
    /// Returns the length of all texts.
    fn length(&self) -> f64 {
        count(self.name.len() + self.description.len() + self.tags.iter().map(String::len).sum::<usize>())
    }
}

impl Term {
    fn new(word: &str) -> Self {
        let anywhere = word.chars().any(|c| c >= UNSPACED);
        let chars = word.chars().count();
        // A plural finds the singular; the other way round a prefix does.
        let text = match word.strip_suffix('s') {
            Some(singular) if chars > 3 && !singular.ends_with('s') => singular,
            _ => word,
        };
        Self { text: text.to_owned(), anywhere, is_prefix: chars >= PREFIX_CHARS }
    }

    /// Returns how often `text`, which is in lower case, has this word. A longer word counts less.
    fn occurrences(&self, text: &str) -> f64 {
        let mut sum = 0.0;
        for (at, found) in text.match_indices(&self.text) {
            if self.anywhere {
                sum += 1.0;
                continue;
            }
            if text[..at].chars().next_back().is_some_and(char::is_alphanumeric) {
                continue;
            }
            let rest = &text[at + found.len()..];
            let ends = |rest: &str| !rest.chars().next().is_some_and(char::is_alphanumeric);
            if ends(rest) || rest.strip_prefix('s').is_some_and(ends) {
                sum += 1.0;
            } else if self.is_prefix {
                sum += PREFIX;
            }
        }
        sum
    }
}

/// Returns `text` in lower case; `buffer` holds it.
fn lower<'a>(text: &str, buffer: &'a mut String) -> &'a str {
    if text.is_ascii() {
        buffer.clear();
        buffer.push_str(text);
        buffer.make_ascii_lowercase();
    } else {
        *buffer = text.to_lowercase();
    }
    buffer
}

#[expect(clippy::cast_precision_loss, reason = "no search has so many bytes")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SKILLS: [(&str, &str, &str); 6] = [
        ("pdf", "files,documents", "Reads PDF files, fills in forms. Use it for PDF documents."),
        ("pdf-forms", "", "Fills in the forms of PDF documents."),
        ("spreadsheet", "excel", "Reads and writes tables of numbers."),
        ("letters", "", "Writes letters, and saves each as a pdf."),
        ("übersetzer", "", "Übersetzt Texte ins Deutsche."),
        ("wendang", "", "处理文档和表格。"),
    ];

    /// The names of the skills that match, best first.
    fn found(words: &str) -> Vec<&'static str> {
        let tags: Vec<Vec<String>> = SKILLS
            .iter()
            .map(|(_, tags, _)| tags.split(',').filter(|tag| !tag.is_empty()).map(Into::into).collect())
            .collect();
        let documents: Vec<_> = SKILLS
            .iter()
            .zip(&tags)
            .map(|((name, _, description), tags)| Document { name, tags, description })
            .collect();
        let matches = SearchWords::new([words]).rank(&documents);
        matches.iter().map(|found| SKILLS[found.at].0).collect()
    }

    #[test]
    fn names_before_tags_before_descriptions() {
        assert_eq!(found("pdf"), ["pdf", "pdf-forms", "letters"]);
        assert_eq!(found("PDF Forms"), ["pdf-forms", "pdf", "letters"]);
        assert_eq!(found("excel"), ["spreadsheet"]);
        assert_eq!(found("nothing"), [""; 0]);
        assert_eq!(found(" - "), [""; 0]);
    }

    #[test]
    fn words_match_at_their_start_only() {
        assert_eq!(found("sheet"), [""; 0]);
        assert_eq!(found("spread"), ["spreadsheet"]);
        assert_eq!(found("spreadsheets"), ["spreadsheet"]);
        assert_eq!(found("table"), ["spreadsheet"]);
        assert_eq!(found("form").len(), 2);
        // Two letters are no start of a word.
        assert_eq!(found("pd"), [""; 0]);
    }

    #[test]
    fn other_scripts() {
        assert_eq!(found("ÜBERSETZER"), ["übersetzer"]);
        assert_eq!(found("deutsch"), ["übersetzer"]);
        assert_eq!(found("文档"), ["wendang"]);
        assert_eq!(found("表格"), ["wendang"]);
    }

    /// What is rare says more than what is everywhere.
    #[test]
    fn a_rare_word_counts_more() {
        let document = |description| Document { name: "x", tags: &[], description };
        let texts = ["common text", "common words", "rare text", "common things"];
        let documents = texts.map(document);
        let matches = SearchWords::new(["common", "rare"]).rank(&documents);
        assert_eq!(matches.first().map(|found| found.at), Some(2));
        assert_eq!(matches.len(), 4);
    }

    #[test]
    fn typing_errors() {
        let names = ["pdf-forms", "spreadsheet", "commit", "commits", "spreadsheet"];
        let similar = |text: &str| SearchWords::new([text]).similar(names, 2);
        assert_eq!(similar("spredsheet"), ["spreadsheet"]);
        assert_eq!(similar("comit"), ["commit", "commits"]);
        assert_eq!(similar("make a spreadshet"), ["spreadsheet"]);
        assert_eq!(similar("xyz"), [""; 0]);
    }

    proptest! {
        /// Any text is searched in any text, and the score is a number that decreases.
        #[test]
        fn any_text(words in ".{0,40}", name in "\\PC{0,20}", texts in prop::collection::vec(".{0,60}", 0..6)) {
            let documents: Vec<_> = texts
                .iter()
                .map(|text| Document { name: &name, tags: &texts, description: text })
                .collect();
            let matches = SearchWords::new([&*words]).rank(&documents);
            for found in &matches {
                prop_assert!(found.score.is_finite() && found.score > 0.0);
            }
            for pair in matches.windows(2) {
                prop_assert!(pair[0].score >= pair[1].score);
            }
        }
    }
}
