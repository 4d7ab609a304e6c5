//! Parses the few Python expressions that occur in signatures and calls of `add_argument`.

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
    /// A list, a tuple or a set.
    List(Vec<Self>),
    /// A dictionary with these keys and values.
    Dict(Vec<(Self, Self)>),
    /// A call of a function by its name.
    Call(String, Arguments),
    /// `list[int]`.
    Subscript(String, Vec<Self>),
    /// `int | None`.
    Union(Vec<Self>),
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
            Self::Dict(pairs) => {
                let pair = |(key, value): &(Self, Self)| Some((key.text()?.to_owned(), value.value()?));
                pairs.iter().map(pair).collect::<Option<serde_json::Map<_, _>>>().map(Value::from)
            }
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

    /// Reads a name, if one is next.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let Some(Token::Name(name)) = self.peek() else { return None };
        self.at += 1;
        Some(name)
    }

    /// Reads the next expression, up to a comma, a closing bracket, a colon or an equals sign.
    pub(super) fn expr(&mut self) -> Expr {
        self.deep(0)
    }

    fn deep(&mut self, depth: usize) -> Expr {
        let first = self.primary(depth);
        if self.ends() {
            return first;
        }
        let mut parts = vec![first];
        while self.eat("|") {
            parts.push(self.primary(depth));
        }
        if parts.len() > 1 && self.ends() {
            return Expr::Union(parts);
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
            Some(Token::Op("...")) => {
                self.at += 1;
                Expr::Name("...".to_owned())
            }
            Some(Token::Op("(")) => {
                let (mut items, tuple) = self.items(")", depth);
                if tuple || items.len() != 1 { Expr::List(items) } else { items.remove(0) }
            }
            Some(Token::Op("[")) => Expr::List(self.items("]", depth).0),
            Some(Token::Op("{")) => self.braces(depth),
            Some(Token::Name(_)) => self.named(depth),
            Some(Token::Formatted(_)) => {
                self.at += 1;
                Expr::Unknown
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
            items.push(self.deep(depth + 1));
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

    fn braces(&mut self, depth: usize) -> Expr {
        self.at += 1;
        let (mut keys, mut pairs) = (Vec::new(), Vec::new());
        while self.peek().is_some() && !self.eat("}") {
            let key = self.deep(depth + 1);
            if self.eat(":") {
                pairs.push((key, self.deep(depth + 1)));
            } else {
                keys.push(key);
            }
            if !self.eat(",") {
                if !self.eat("}") {
                    self.skip_past("}");
                    return Expr::Unknown;
                }
                break;
            }
        }
        match (keys.is_empty(), pairs.is_empty()) {
            (true, _) => Expr::Dict(pairs),
            (false, true) => Expr::List(keys),
            (false, false) => Expr::Unknown,
        }
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

    fn named(&mut self, depth: usize) -> Expr {
        let mut name = self.name().unwrap_or_default().to_owned();
        match name.as_str() {
            "True" => return Expr::Literal(true.into()),
            "False" => return Expr::Literal(false.into()),
            "None" => return Expr::Literal(Value::Null),
            "lambda" | "not" | "await" | "yield" => return Expr::Unknown,
            _ => {}
        }
        while self.eat(".") {
            name.push('.');
            name.push_str(self.name().unwrap_or_default());
        }
        let found = if self.peek().is_some_and(|token| token.is_op("(")) {
            Expr::Call(name, self.arguments(depth))
        } else if self.peek().is_some_and(|token| token.is_op("[")) {
            Expr::Subscript(name, self.items("]", depth).0)
        } else {
            return Expr::Name(name);
        };
        // Operations on the result are not examined.
        if self.peek().is_some_and(|token| token.is_op(".") || token.is_op("(") || token.is_op("[")) {
            self.skip();
            return Expr::Unknown;
        }
        found
    }

    /// Reads the arguments of a call, whose opening bracket is next.
    pub(super) fn arguments(&mut self, depth: usize) -> Arguments {
        self.at += 1;
        let mut found = Arguments::default();
        while self.peek().is_some() && !self.eat(")") {
            if self.eat("*") || self.eat("**") {
                found.open = true;
                self.deep(depth + 1);
            } else {
                let first = self.deep(depth + 1);
                match first {
                    Expr::Name(name) if self.eat("=") => {
                        let value = self.deep(depth + 1);
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
    if let Ok(whole) = digits.parse::<i64>() {
        return Some(whole.into());
    }
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)] {
        if let Some(rest) = digits.strip_prefix(prefix) {
            return i64::from_str_radix(rest, radix).ok().map(Value::from);
        }
    }
    Number::from_f64(digits.parse().ok()?).map(Value::Number)
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
        Parser::new(&source.tokens).expr()
    }

    #[test]
    fn values_that_are_written_out() {
        for (text, value) in [
            ("'a' 'b'", json!("ab")),
            ("('a'\n 'b')", json!("ab")),
            ("-1", json!(-1)),
            ("1_000", json!(1000)),
            ("0x1f", json!(31)),
            ("1e3", json!(1000.0)),
            ("None", json!(null)),
            ("(1,)", json!([1])),
            ("()", json!([])),
            ("[1, (2, 'x'), {'a'}]", json!([1, [2, "x"], ["a"]])),
            ("{'a': [True], }", json!({ "a": [true] })),
        ] {
            assert_eq!(expr(text).value(), Some(value), "{text}");
        }
        for text in
            ["x", "1 + 1", "f'{x}'", "'a' % x", "[x]", "a()", "[i for i in x]", "{**a}", "1j", "not 1"]
        {
            assert_eq!(expr(text).value(), None, "{text}");
        }
    }

    #[test]
    fn names_calls_and_types() {
        assert_eq!(expr("a.b.c"), Expr::Name("a.b.c".into()));
        let Expr::Call(name, call) = expr("p.add(1, 'x', n=2, *a, **b)") else { panic!("a call") };
        assert_eq!((name.as_str(), call.positional.len(), call.open), ("p.add", 2, true));
        assert_eq!(call.named["n"], Expr::Literal(json!(2)));
        assert_eq!(
            expr("Optional[list[int] | None]"),
            Expr::Subscript(
                "Optional".into(),
                vec![Expr::Union(vec![
                    Expr::Subscript("list".into(), vec![Expr::Name("int".into())]),
                    Expr::Literal(Value::Null)
                ])]
            )
        );
        assert_eq!(expr("os.environ.get('x')['y']"), Expr::Unknown);
        assert_eq!(expr("lambda x: y"), Expr::Unknown);
    }

    proptest! {
        #[test]
        fn any_words_are_read(text in "(a|'x'|f'x'|1|\\(|\\)|\\[|\\]|\\{|\\}|,|:|=|\\*|\\.|\\||-|lambda |not | ){0,60}") {
            let source = tokens::read(&text);
            let mut parser = Parser::new(&source.tokens);
            parser.expr();
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
