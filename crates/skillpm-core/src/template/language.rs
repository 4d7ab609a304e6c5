//! The subset of the template language that is supported.
//!
//! A template may come from a stranger, and minijinja limits the number of steps but not the size of what a step makes:
//! forty times `a ~ a` fills all memory. So no value here is much larger than the values it is made from. Texts are
//! only joined by writing one after the other, lists hold only literals, and the two filters that make texts longer
//! have a limit.

use minijinja::machinery::{Token, tokenize};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, filters, functions, tests};

/// The maximum number of tokens in a tag. The parser recurses for each operator of a chain such as `1 - 1 - 1`, but its
/// own limit counts only brackets; this limit is far below the size of any stack.
const MOST_TOKENS: usize = 500;
/// The maximum size of a text that a filter makes, in bytes.
const MAX_VALUE: usize = 64 << 10;
/// The maximum number of steps to fill in one text.
const MOST_STEPS: u64 = 500_000;
/// The maximum number of bytes that all steps together may examine, assuming that each examines the longest text.
const MOST_WORK: u64 = 1 << 31;
/// The supported tags.
const TAGS: [&str; 9] = ["if", "elif", "else", "endif", "for", "endfor", "set", "with", "endwith"];
/// Words that are followed by a value.
const BEFORE_VALUES: [&str; 7] = ["and", "else", "if", "in", "is", "not", "or"];
/// Words that are values.
const CONSTANTS: [&str; 6] = ["true", "false", "none", "True", "False", "None"];

/// An error in a tag.
pub(super) struct LanguageError {
    /// The line of the text, from 1.
    pub(super) line: usize,
    /// The reason, as a part of a sentence.
    pub(super) reason: String,
}

/// Returns an environment for a template in which no text, in the template or in a value, is longer than `longest`
/// bytes.
pub(super) fn environment(longest: usize) -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let work = MOST_WORK / (longest.max(MAX_VALUE) as u64);
    environment.set_fuel(Some(work.min(MOST_STEPS)));
    environment.add_function("range", functions::range);
    environment.add_filter("capitalize", filters::capitalize);
    environment.add_filter("count", filters::length);
    environment.add_filter("d", filters::default);
    environment.add_filter("default", filters::default);
    environment.add_filter("first", filters::first);
    environment.add_filter("join", join);
    environment.add_filter("last", filters::last);
    environment.add_filter("length", filters::length);
    environment.add_filter("lines", filters::lines);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("replace", replace);
    environment.add_filter("reverse", filters::reverse);
    environment.add_filter("sort", filters::sort);
    environment.add_filter("split", filters::split);
    environment.add_filter("title", filters::title);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("unique", filters::unique);
    environment.add_filter("upper", filters::upper);
    environment.add_test("defined", tests::is_defined);
    environment.add_test("endingwith", tests::is_endingwith);
    environment.add_test("eq", tests::is_eq);
    environment.add_test("even", tests::is_even);
    environment.add_test("in", tests::is_in);
    environment.add_test("ne", tests::is_ne);
    environment.add_test("none", tests::is_none);
    environment.add_test("odd", tests::is_odd);
    environment.add_test("startingwith", tests::is_startingwith);
    environment.add_test("undefined", tests::is_undefined);
    environment
}

/// Implements `text|replace(from, to)`.
fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let more = text.matches(from).count().saturating_mul(to.len());
    fits(text.len().saturating_add(more))?;
    Ok(text.replace(from, to))
}

/// Implements `list|join(between)`.
fn join(list: &Value, between: Option<&str>) -> Result<String, Error> {
    let mut text = String::new();
    for (index, item) in list.try_iter()?.enumerate() {
        if index > 0 {
            text.push_str(between.unwrap_or_default());
        }
        match item.as_str() {
            Some(item) => text.push_str(item),
            None => text.push_str(&item.to_string()),
        }
        fits(text.len())?;
    }
    Ok(text)
}

fn fits(length: usize) -> Result<(), Error> {
    if length <= MAX_VALUE {
        return Ok(());
    }
    let reason = format!("this makes more than {} KiB of text", MAX_VALUE >> 10);
    Err(Error::new(ErrorKind::InvalidOperation, reason))
}

/// Checks the tags of `text`; returns the length of the longest string literal in a tag, in bytes.
pub(super) fn check(text: &str, syntax: &SyntaxConfig) -> Result<usize, LanguageError> {
    let (mut tag, mut longest) = (Tag::default(), 0);
    for (token, span) in tokenize(text, false, syntax.clone()).map_while(Result::ok) {
        longest = longest.max(match &token {
            Token::Str(text) => text.len(),
            Token::String(text) => text.len(),
            _ => 0,
        });
        let line = usize::from(span.start_line);
        tag.take(&token).map_err(|reason| LanguageError { line, reason })?;
    }
    Ok(longest)
}

/// An open bracket in a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    /// A list literal.
    List,
    /// The subscript of a value.
    Part,
    /// The arguments of a function, filter or test.
    Arguments,
    /// Parentheses around a value.
    Group,
}

/// The state of a tag that is being read.
#[derive(Default)]
struct Tag<'a> {
    count: usize,
    /// The word that it begins with; `None` in a tag that writes a value.
    name: Option<&'a str>,
    is_block: bool,
    /// Whether the names to bind were read, so a value follows.
    is_bound: bool,
    /// Whether the previous token ends a value.
    has_value: bool,
    open: Vec<Open>,
}

impl<'a> Tag<'a> {
    fn take(&mut self, token: &Token<'a>) -> Result<(), String> {
        let is_block = matches!(token, Token::BlockStart);
        if is_block || matches!(token, Token::VariableStart) {
            *self = Self { is_block, ..Self::default() };
            return Ok(());
        }
        self.count += 1;
        if self.count > MOST_TOKENS {
            return Err(format!("this tag has more than {MOST_TOKENS} words and signs"));
        }
        let had_value = std::mem::take(&mut self.has_value);
        match token {
            Token::BlockEnd if self.name == Some("set") && !self.is_bound => {
                return Err("`set` takes its value inside the tag: `{% set x = 1 %}`".to_owned());
            }
            Token::Tilde | Token::Plus | Token::Mul | Token::Pow => {
                return Err(format!("templates have no {token}: write values one after the other"));
            }
            Token::Ident(word) => self.word(word)?,
            Token::Assign if self.open.is_empty() => self.is_bound = true,
            Token::Str(_) | Token::String(_) | Token::Int(_) | Token::Int128(_) | Token::Float(_) => {
                self.has_value = true;
            }
            Token::BraceOpen => return Err("templates have no maps".to_owned()),
            Token::BracketOpen => self.open.push(if had_value { Open::Part } else { Open::List }),
            Token::ParenOpen if self.is_in_list() => return Err(written_out()),
            Token::ParenOpen => self.open.push(if had_value { Open::Arguments } else { Open::Group }),
            Token::BracketClose | Token::ParenClose => {
                self.open.pop();
                self.has_value = true;
            }
            Token::Comma if self.is_list_without_brackets() => {
                return Err("a list stands in square brackets".to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    fn word(&mut self, word: &'a str) -> Result<(), String> {
        if self.is_block && self.name.is_none() {
            if !TAGS.contains(&word) {
                return Err(format!("templates have no tag `{word}`"));
            }
            self.name = Some(word);
            return Ok(());
        }
        if self.is_in_list() && !CONSTANTS.contains(&word) {
            return Err(written_out());
        }
        if self.name == Some("for") {
            if word == "recursive" {
                return Err("templates have no `recursive`".to_owned());
            }
            self.is_bound |= word == "in";
        }
        self.has_value = !BEFORE_VALUES.contains(&word);
        Ok(())
    }

    fn is_in_list(&self) -> bool {
        self.open.last() == Some(&Open::List)
    }

    /// Reports whether a comma here makes a list; elsewhere it separates arguments, items or names.
    fn is_list_without_brackets(&self) -> bool {
        match self.open.last() {
            Some(Open::Group) => true,
            Some(_) => false,
            None => self.name != Some("with") && (self.is_bound || !self.is_block),
        }
    }
}

fn written_out() -> String {
    "a list holds literal strings and numbers".to_owned()
}
