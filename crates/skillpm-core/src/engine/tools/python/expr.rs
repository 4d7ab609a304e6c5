//! Parses the few Python expressions that occur in calls of `add_argument`.

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::tokens::Token;

/// The maximum nesting depth of expressions.
const MAX_DEPTH: usize = 24;

/// An expression, as far as it is known without running anything.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    /// A string, a number, a boolean or `None`.
    Literal(Value),
    /// A name, which may have dots.
    Name(String),
    /// A list or a tuple.
    List(Vec<Self>),
    /// Any other expression.
    Unknown,
}

/// The arguments of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Arguments {
    pub(super) positional: Vec<Expr>,
    pub(super) named: BTreeMap<String, Expr>,
    /// Whether there are `*x` or `**x`, so more arguments are possible.
    pub(super) open: bool,
}

impl Arguments {
    /// Returns the string that is passed as `name`.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.named.get(name).and_then(Expr::text)
    }

    /// Reports whether `True` is passed as `name`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.named.get(name) == Some(&Expr::Literal(Value::Bool(true)))
    }
}

impl Expr {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Literal(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the value as JSON, if the expression is a literal.
    pub(super) fn value(&self) -> Option<Value> {
        match self {
            Self::Literal(value) => Some(value.clone()),
            Self::List(items) => items.iter().map(Self::value).collect(),
            _ => None,
        }
    }
}

/// Parses expressions from tokens.
pub(super) struct Parser<'a, 'b> {
    tokens: &'b [Token<'a>],
    at: usize,
}

impl<'a, 'b> Parser<'a, 'b> {
    pub(super) fn new(tokens: &'b [Token<'a>]) -> Self {
        Self { tokens, at: 0 }
    }

    pub(super) fn peek(&self) -> Option<&'b Token<'a>> {
        self.tokens.get(self.at)
    }

    /// Returns the number of tokens that were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Skips the operator `op` if it is next; returns whether it was.
    pub(super) fn eat(&mut self, op: &str) -> bool {
        let found = self.peek().is_some_and(|token| token.is_op(op));
        self.at += usize::from(found);
        found
    }

    /// Reads the next expression, up to a comma, a closing bracket, a colon or an equals sign.
    fn expr(&mut self, depth: usize) -> Expr {
        let first = self.primary(depth);
        if self.ends() {
            return first;
        }
        self.skip();
        Expr::Unknown
    }

    /// Reports whether an expression ends here.
    fn ends(&self) -> bool {
        match self.peek() {
            None => true,
            Some(Token::Op(op)) => matches!(*op, "," | ")" | "]" | "}" | ":" | "=" | ";"),
            Some(_) => false,
        }
    }

    /// Skips to the end of an expression.
    fn skip(&mut self) {
        let mut depth = 0_usize;
        while let Some(token) = self.peek() {
            match token {
                Token::Op("(" | "[" | "{") => depth += 1,
                Token::Op(")" | "]" | "}") if depth > 0 => depth -= 1,
                _ if depth == 0 && self.ends() => return,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn primary(&mut self, depth: usize) -> Expr {
        if depth > MAX_DEPTH {
            self.skip();
            return Expr::Unknown;
        }
        match self.peek() {
            Some(Token::Text(_)) => self.text(),
            Some(Token::Number(text)) => {
                self.at += 1;
                number(text).map_or(Expr::Unknown, Expr::Literal)
            }
            Some(Token::Op("-")) => {
                self.at += 1;
                match self.primary(depth + 1) {
                    Expr::Literal(Value::Number(number)) => negated(&number),
                    _ => Expr::Unknown,
                }
            }
            Some(Token::Op("(")) => {
                let (mut items, tuple) = self.items(")", depth);
                if tuple || items.len() != 1 { Expr::List(items) } else { items.remove(0) }
            }
            Some(Token::Op("[")) => Expr::List(self.items("]", depth).0),
            Some(Token::Name(name)) => {
                self.at += 1;
                self.named(name)
            }
            _ => Expr::Unknown,
        }
    }

    /// Reads adjacent strings, which form one string.
    fn text(&mut self) -> Expr {
        let mut whole = String::new();
        let mut known = true;
        loop {
            match self.peek() {
                Some(Token::Text(text)) => whole.push_str(text),
                Some(Token::Formatted(_)) => known = false,
                _ => break,
            }
            self.at += 1;
        }
        if known { Expr::Literal(whole.into()) } else { Expr::Unknown }
    }

    /// Reads the items between brackets; also returns whether a comma makes them a tuple.
    fn items(&mut self, close: &str, depth: usize) -> (Vec<Expr>, bool) {
        self.at += 1;
        let (mut items, mut comma) = (Vec::new(), false);
        while self.peek().is_some() && !self.eat(close) {
            items.push(self.expr(depth + 1));
            if self.eat(",") {
                comma = true;
            } else if !self.eat(close) {
                // A colon or an equals sign: this is not a list.
                self.skip_past(close);
                return (vec![Expr::Unknown], true);
            } else {
                break;
            }
        }
        (items, comma)
    }

    /// Skips past the bracket that closes the current one.
    fn skip_past(&mut self, close: &str) {
        loop {
            self.skip();
            if self.peek().is_none() || self.eat(close) {
                return;
            }
            self.at += 1;
        }
    }

    /// Reads the rest of a name, which may have dots.
    fn named(&mut self, first: &str) -> Expr {
        match first {
            "True" => return Expr::Literal(true.into()),
            "False" => return Expr::Literal(false.into()),
            "None" => return Expr::Literal(Value::Null),
            _ => {}
        }
        let mut name = first.to_owned();
        while self.eat(".") {
            let Some(Token::Name(part)) = self.peek() else { return Expr::Unknown };
            self.at += 1;
            name.push('.');
            name.push_str(part);
        }
        Expr::Name(name)
    }

    /// Reads the arguments of a call, whose opening bracket is next.
    pub(super) fn arguments(&mut self, depth: usize) -> Arguments {
        self.at += 1;
        let mut found = Arguments::default();
        while self.peek().is_some() && !self.eat(")") {
            if self.eat("*") || self.eat("**") {
                found.open = true;
                self.expr(depth + 1);
            } else {
                let first = self.expr(depth + 1);
                match first {
                    Expr::Name(name) if self.eat("=") => {
                        let value = self.expr(depth + 1);
                        found.named.insert(name, value);
                    }
                    first => found.positional.push(first),
                }
            }
            if !self.eat(",") {
                if !self.eat(")") {
                    self.skip_past(")");
                    found.open = true;
                }
                break;
            }
        }
        found
    }
}

/// Returns a Python number, if JSON can represent it.
fn number(text: &str) -> Option<Value> {
    let digits = text.replace('_', "");
    match digits.parse::<i64>() {
        Ok(whole) => Some(whole.into()),
        Err(_) => Number::from_f64(digits.parse().ok()?).map(Value::Number),
    }
}

fn negated(number: &Number) -> Expr {
    let whole = number.as_i64().and_then(i64::checked_neg).map(Number::from);
    let negative = whole.or_else(|| Number::from_f64(-number.as_f64()?));
    negative.map_or(Expr::Unknown, |number| Expr::Literal(Value::Number(number)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::engine::tools::python::tokens;

    fn expr(text: &str) -> Expr {
        let source = tokens::read(text);
        Parser::new(&source.tokens).expr(0)
    }

    #[test]
    fn values_that_are_written_out() {
        for (text, value) in [
            ("'a' 'b'", json!("ab")),
            ("('a'\n 'b')", json!("ab")),
            ("-1", json!(-1)),
            ("1_000", json!(1000)),
            ("1e3", json!(1000.0)),
            ("None", json!(null)),
            ("(1,)", json!([1])),
            ("()", json!([])),
            ("[1, (2, 'x'), [True]]", json!([1, [2, "x"], [true]])),
        ] {
            assert_eq!(expr(text).value(), Some(value), "{text}");
        }
        for text in [
            "x",
            "1 + 1",
            "f'{x}'",
            "'a' % x",
            "[x]",
            "a()",
            "[i for i in x]",
            "{'a'}",
            "{'a': 1}",
            "1j",
            "not 1",
        ] {
            assert_eq!(expr(text).value(), None, "{text}");
        }
    }

    #[test]
    fn names_and_arguments() {
        assert_eq!(expr("a.b.c"), Expr::Name("a.b.c".into()));
        for text in ["os.environ.get('x')['y']", "lambda x: y", "list[int]", "a().b", "a | b"] {
            assert_eq!(expr(text), Expr::Unknown, "{text}");
        }
        let source = tokens::read("(1, 'x', n=2, *a, **b)");
        let call = Parser::new(&source.tokens).arguments(0);
        assert_eq!((call.positional.len(), call.open), (2, true));
        assert_eq!(call.named["n"], Expr::Literal(json!(2)));
    }

    proptest! {
        #[test]
        fn any_words_are_read(text in "(a|'x'|f'x'|1|\\(|\\)|\\[|\\]|\\{|\\}|,|:|=|\\*|\\.|\\||-|lambda |not | ){0,60}") {
            let source = tokens::read(&text);
            let mut parser = Parser::new(&source.tokens);
            parser.expr(0);
            prop_assert!(parser.at <= source.tokens.len());
        }
    }

    #[test]
    fn brackets_without_end_do_not_overflow() {
        for text in ["(".repeat(100_000), "[".repeat(100_000), "a(".repeat(100_000), "-".repeat(100_000)] {
            let _ = expr(&text);
        }
    }
}
