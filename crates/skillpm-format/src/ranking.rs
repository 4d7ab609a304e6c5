//! Ranks skills by how well their texts match the words of a search.
//!
//! The score is BM25 over three fields: names count most and descriptions least. A word matches the words of the text that
//! have its stem, and counts less at the start of another word; scripts without spaces
//! between words match anywhere, by two neighbours at a time. Words that say nothing about a task, such as `the` or `please`, are not searched.

use std::collections::BTreeMap;

use memchr::memmem;

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
/// Words of a request that do not tell one task from another: of grammar, and of asking. Sorted.
pub const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "between", "both", "but", "by", "can", "could", "did", "do",
    "does", "doing", "don", "down", "each", "for", "from", "further", "get", "give", "had", "has", "have",
    "having", "he", "help", "her", "here", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just",
    "know", "let", "like", "ll", "look", "looking", "make", "may", "me", "might", "more", "most", "much",
    "must", "my", "need", "no", "nor", "not", "now", "of", "off", "on", "once", "one", "only", "or", "other",
    "our", "out", "over", "own", "please", "re", "s", "same", "say", "see", "shall", "she", "should", "show",
    "so", "some", "such", "t", "take", "tell", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "thing", "this", "those", "through", "to", "too", "under", "until", "up", "us", "use",
    "used", "using", "ve", "very", "want", "was", "way", "we", "were", "what", "when", "where", "which",
    "while", "who", "why", "will", "with", "would", "you", "your",
];
/// The separator after each text. No search word contains it, so none matches across two texts.
const END: char = '\0';
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

/// Documents in the form in which they are searched: collected from [`Document`]s.
#[derive(Debug, Default)]
pub struct Corpus {
    /// All texts in lower case, each with [`END`] after it.
    text: String,
    documents: Vec<Prepared>,
}

/// Where the texts of a document are.
#[derive(Debug)]
struct Prepared {
    /// The start of the name, and with it of the document.
    start: usize,
    /// The start of the description.
    description: usize,
    /// The start of the tags.
    tags: usize,
    /// The length of all texts as they were given, in bytes.
    length: f64,
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
    /// The word as it was given, in lower case.
    word: String,
    /// What it has in common with the other words of its stem.
    stem: String,
    /// The bytes with which all words start that it matches.
    start: String,
    /// Whether it matches inside words too.
    anywhere: bool,
    /// Whether it matches the start of longer words.
    is_prefix: bool,
}

impl SearchWords {
    /// Returns the words in `texts`, each stem once, without those that say nothing about a task, unless there are no others.
    /// Everything but letters and digits separates words.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let texts: Vec<String> = texts.into_iter().map(str::to_lowercase).collect();
        let given = texts.iter().flat_map(|text| words(text));
        let name = given.clone().take(MOST_WORDS).collect::<Vec<_>>().join("-");
        let is_common = |word: &&str| STOP_WORDS.binary_search(word).is_ok();
        let mut searched: Vec<&str> =
            given.clone().filter(|word| !is_common(word)).flat_map(pieces).take(MOST_WORDS).collect();
        if searched.is_empty() {
            searched = given.flat_map(pieces).take(MOST_WORDS).collect();
        }
        let mut terms: Vec<Term> = Vec::new();
        for term in searched.into_iter().map(Term::new) {
            if !terms.iter().any(|other| other.stem == term.stem) {
                terms.push(term);
            }
        }
        Self { terms, name }
    }

    /// Reports whether there is no word.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the documents of `corpus` that match at least one word, best first. A document whose name is the searched
    /// one comes before all others; documents with the same score keep the order of their names, then their own.
    pub fn rank(&self, corpus: &Corpus) -> Vec<Match> {
        let mut weights: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut rarity = Vec::new();
        for (number, term) in self.terms.iter().enumerate() {
            let mut documents = 0.0;
            for (at, weight) in corpus.weights(term) {
                documents += 1.0;
                let of_document = weights.entry(at).or_insert_with(|| vec![0.0; self.terms.len()]);
                of_document[number] = weight;
            }
            let all = count(corpus.documents.len());
            rarity.push((1.0 + (all - documents + 0.5) / (documents + 0.5)).ln());
        }
        let average = corpus.average_length();
        let score = |(at, weights): (usize, Vec<f64>)| {
            let discount = K1 * (1.0 - B + B * corpus.documents[at].length / average);
            let of_term = |(weight, rarity): (f64, &f64)| rarity * weight * (K1 + 1.0) / (weight + discount);
            Match { at, score: weights.into_iter().zip(&rarity).map(of_term).sum() }
        };
        let mut matches: Vec<Match> = weights.into_iter().map(score).collect();
        let is_other = |one: &Match| corpus.name(one.at) != self.name;
        matches.sort_by(|a, b| {
            is_other(a)
                .cmp(&is_other(b))
                .then(b.score.total_cmp(&a.score))
                .then_with(|| corpus.name(a.at).cmp(corpus.name(b.at)))
        });
        matches
    }

    /// Returns up to `count` of `names` that are similar to what is searched, the best first.
    pub fn similar<'a>(&self, names: impl IntoIterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
        let mut names: Vec<&str> = names.into_iter().collect();
        names.sort_unstable();
        names.dedup();
        let words =
            std::iter::once(self.name.as_str()).chain(self.terms.iter().map(|term| term.word.as_str()));
        let similar = words.map(|word| closest_paths(word, names.iter().copied(), count));
        similar.into_iter().find(|similar| !similar.is_empty()).unwrap_or_default()
    }
}

impl<'a> FromIterator<Document<'a>> for Corpus {
    fn from_iter<T: IntoIterator<Item = Document<'a>>>(documents: T) -> Self {
        let mut corpus = Self::default();
        for document in documents {
            let start = corpus.add(document.name);
            let description = corpus.add(document.description);
            let tags = corpus.text.len();
            for tag in document.tags {
                corpus.add(tag);
            }
            let texts = [document.name, document.description].into_iter();
            let length = count(texts.chain(document.tags.iter().map(String::as_str)).map(str::len).sum());
            corpus.documents.push(Prepared { start, description, tags, length });
        }
        corpus
    }
}

impl Corpus {
    /// Appends `text` in lower case, and returns where it starts.
    fn add(&mut self, text: &str) -> usize {
        let start = self.text.len();
        if text.is_ascii() {
            self.text.push_str(text);
            self.text[start..].make_ascii_lowercase();
        } else {
            self.text.push_str(&text.to_lowercase());
        }
        self.text.push(END);
        start
    }

    /// Returns the name of the document at index `at`, in lower case.
    fn name(&self, at: usize) -> &str {
        let document = &self.documents[at];
        &self.text[document.start..document.description - END.len_utf8()]
    }

    /// Returns the mean length of the documents, at least 1.
    fn average_length(&self) -> f64 {
        let lengths: f64 = self.documents.iter().map(|document| document.length).sum();
        (lengths / count(self.documents.len()).max(1.0)).max(1.0)
    }

    /// Returns the documents that have `term`, by their index, and the weight of all occurrences in each.
    fn weights(&self, term: &Term) -> Vec<(usize, f64)> {
        let mut weights: Vec<(usize, f64)> = Vec::new();
        let mut known = BTreeMap::new();
        let mut next = 0;
        for at in memmem::find_iter(self.text.as_bytes(), &term.start) {
            let Some(word) = term.occurrence(&self.text, at) else { continue };
            let weight = *known.entry(word).or_insert_with(|| term.weight(word));
            if weight == 0.0 {
                continue;
            }
            // Occurrences come in the order of the text, so the documents do too.
            next += self.documents[next..].partition_point(|document| document.start <= at);
            let Some(document) = next.checked_sub(1) else { continue };
            let weight = weight * self.documents[document].field_weight(at);
            match weights.last_mut() {
                Some((last, sum)) if *last == document => *sum += weight,
                _ => weights.push((document, weight)),
            }
        }
        weights
    }
}

impl Prepared {
    /// Returns the weight of the field that has the byte `at` of the text.
    fn field_weight(&self, at: usize) -> f64 {
        if at < self.description {
            NAME
        } else if at < self.tags {
            DESCRIPTION
        } else {
            TAG
        }
    }
}

impl Term {
    fn new(word: &str) -> Self {
        let anywhere = word.chars().any(|c| c >= UNSPACED);
        let stem = stem(word);
        // `library` has the stem `librari`, as `libraries` has.
        let shared = word.char_indices().zip(stem.chars()).find(|((_, one), other)| one != other);
        let end = shared.map_or(word.len().min(stem.len()), |((at, _), _)| at);
        let start = if anywhere || end == 0 { word } else { &word[..end] };
        let is_prefix = word.chars().count() >= PREFIX_CHARS;
        Self { word: word.to_owned(), start: start.to_owned(), stem, anywhere, is_prefix }
    }

    /// Returns the word that starts at byte `at` of `text`, which is in lower case; `None` inside a word.
    fn occurrence<'t>(&self, text: &'t str, at: usize) -> Option<&'t str> {
        let is_inside = !self.anywhere && text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let end = |text: &str| text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
        (!is_inside).then(|| &text[at..at + end(&text[at..])])
    }

    /// Returns how much an occurrence of `word` counts.
    fn weight(&self, word: &str) -> f64 {
        if self.anywhere || word == self.word || stem(word) == self.stem {
            1.0
        } else if self.is_prefix && word.starts_with(&self.word) {
            PREFIX
        } else {
            0.0
        }
    }
}

/// Returns what an English word has in common with its plural and its other forms: a few endings go. The script of the pages
/// of a registry does the same, so the rule is short.
fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    let length = |stem: &str| stem.chars().count();
    if length(&stem) > 4 && stem.ends_with("ies") {
        stem.truncate(stem.len() - "es".len());
    } else if length(&stem) > 3 && stem.ends_with('s') && !stem.ends_with("ss") {
        stem.pop();
    }
    if let Some(ending) = ["ing", "ed"].into_iter().find(|ending| stem.ends_with(ending))
        && length(&stem) - ending.len() >= 3
    {
        stem.truncate(stem.len() - ending.len());
        let mut last = stem.chars().rev();
        let (last, before) = (last.next(), last.next());
        if last == before && !matches!(last, Some('l' | 's' | 'z')) {
            stem.pop();
        }
    } else if length(&stem) > 3 && stem.ends_with('e') {
        stem.pop();
    } else if length(&stem) > 3 && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

/// Returns what is searched of `word`: of scripts without spaces, each two characters that stand side by side.
fn pieces(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let is_unspaced = |(_, c): &(usize, char)| *c >= UNSPACED;
    let part = |part: &[(usize, char)]| match (part.first(), part.last()) {
        (Some((start, _)), Some((end, last))) => &word[*start..end + last.len_utf8()],
        _ => "",
    };
    let mut pieces = Vec::new();
    for run in chars.chunk_by(|one, other| is_unspaced(one) == is_unspaced(other)) {
        if run.len() > 2 && run.iter().all(is_unspaced) {
            pieces.extend(run.windows(2).map(part));
        } else {
            pieces.push(part(run));
        }
    }
    pieces
}

/// Returns the words of `text`: what is between everything but letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
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
        let corpus = SKILLS
            .iter()
            .zip(&tags)
            .map(|((name, _, description), tags)| Document { name, tags, description })
            .collect();
        let matches = SearchWords::new([words]).rank(&corpus);
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

    /// What a person asks for, in the words of a person.
    #[test]
    fn words_of_a_request() {
        assert_eq!(found("please make me a letter"), ["letters"]);
        assert_eq!(found("Can you help me with reading spreadsheets?")[0], "spreadsheet");
        assert_eq!(found("filling"), ["pdf-forms", "pdf"]);
        assert_eq!(found("pdfs").len(), 3);
        // There is nothing else to search.
        assert_eq!(found("use it"), ["pdf"]);
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn other_scripts() {
        assert_eq!(found("ÜBERSETZER"), ["übersetzer"]);
        assert_eq!(found("deutsch"), ["übersetzer"]);
        assert_eq!(found("文档"), ["wendang"]);
        assert_eq!(found("表格"), ["wendang"]);
        assert_eq!(found("请帮我处理这个表格pdf")[0], "wendang");
    }

    /// Rare words count more than common ones.
    #[test]
    fn a_rare_word_counts_more() {
        let document = |description| Document { name: "x", tags: &[], description };
        let texts = ["common text", "common words", "rare text", "common things"];
        let corpus = texts.into_iter().map(document).collect();
        let matches = SearchWords::new(["common", "rare"]).rank(&corpus);
        assert_eq!(matches.first().map(|found| found.at), Some(2));
        assert_eq!(matches.len(), 4);
    }

    #[test]
    fn typing_errors() {
        let names = ["pdf-forms", "spreadsheet", "commit", "commits", "spreadsheet"];
        let similar = |text: &str| SearchWords::new([text]).similar(names, 2);
        assert_eq!(similar("spredsheet"), ["spreadsheet"]);
        assert_eq!(similar("comit"), ["commit"]);
        assert_eq!(similar("comits"), ["commits", "commit"]);
        assert_eq!(similar("make a spreadshet"), ["spreadsheet"]);
        assert_eq!(similar("xyz"), [""; 0]);
    }

    proptest! {
        /// Any text is searched in any text, and the score is a number that decreases.
        #[test]
        fn any_text(words in ".{0,40}", name in "\\PC{0,20}", texts in prop::collection::vec(".{0,60}", 0..6)) {
            let corpus = texts
                .iter()
                .map(|text| Document { name: &name, tags: &texts, description: text })
                .collect();
            let matches = SearchWords::new([&*words]).rank(&corpus);
            for found in &matches {
                prop_assert!(found.score.is_finite() && found.score > 0.0);
            }
            for pair in matches.windows(2) {
                prop_assert!(pair[0].score >= pair[1].score);
            }
        }
    }
}
