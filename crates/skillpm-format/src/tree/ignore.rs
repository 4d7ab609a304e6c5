//! The rules of a `.skillpmignore`: the patterns of gitignore, for the files that stay out of a package.

/// The name of the file, in the directory of a skill.
pub const IGNORE_FILE: &str = ".skillpmignore";

/// The maximum size of the file in bytes.
pub const MAX_IGNORE_FILE: u64 = 1 << 20;

/// The effect of the rules on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It stays out, with everything in it if it is a directory.
    Out,
    /// It stays in, by a rule that starts with `!`.
    In,
}

/// The rules of one file, in its order.
#[derive(Debug, Clone, Default)]
pub struct IgnoreRules {
    rules: Vec<Rule>,
}

/// One line of the file.
#[derive(Debug, Clone)]
struct Rule {
    verdict: Verdict,
    directories_only: bool,
    /// Whether it matches whole paths; otherwise it matches the last component of a path, at any depth.
    anchored: bool,
    parts: Vec<Part>,
}

/// A matcher of the components of a path.
#[derive(Debug, Clone)]
enum Part {
    /// Any number of components, also none: `**`.
    Components,
    /// One component.
    Component(Vec<Token>),
}

/// A matcher of characters.
#[derive(Debug, Clone)]
enum Token {
    /// This character.
    Literal(char),
    /// One character: `?`.
    One,
    /// Any number of characters, also none: `*`.
    Many,
    /// One character that is in the set, or that is not: `[a-z]`, `[!a-z]`.
    Set { negated: bool, items: Vec<SetItem> },
}

/// A part of a set of characters.
#[derive(Debug, Clone, Copy)]
enum SetItem {
    Range(char, char),
    Class(fn(char) -> bool),
}

impl IgnoreRules {
    /// Returns the rules in `text`. As with git, a line that is not a pattern matches nothing.
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { rules: text.split('\n').filter_map(Rule::parse).collect() }
    }

    /// Adds a rule, and reports whether `pattern` is one.
    pub fn add(&mut self, pattern: &str) -> bool {
        let rule = Rule::parse(pattern);
        let is_rule = rule.is_some();
        self.rules.extend(rule);
        is_rule
    }

    /// Reports whether the file at `path`, or a directory around it, stays out.
    pub fn leaves_out(&self, path: &str) -> bool {
        let is_out = |part, is_directory| self.verdict(part, is_directory) == Some(Verdict::Out);
        path.match_indices('/').any(|(end, _)| is_out(&path[..end], true)) || is_out(path, false)
    }

    /// Reports whether a rule starts with `!`.
    pub fn has_exceptions(&self) -> bool {
        self.rules.iter().any(|rule| rule.verdict == Verdict::In)
    }

    /// Returns what the last rule that matches says of `path`, which is relative and separated by `/`, or `None` if no
    /// rule matches. The directories around it have verdicts of their own: in a directory that stays out nothing stays
    /// in.
    pub fn verdict(&self, path: &str, is_directory: bool) -> Option<Verdict> {
        self.rules.iter().rev().find(|rule| rule.matches(path, is_directory)).map(|rule| rule.verdict)
    }
}

impl Rule {
    fn parse(line: &str) -> Option<Self> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.starts_with('#') {
            return None;
        }
        let line = without_trailing_spaces(line);
        let (verdict, pattern) = match line.strip_prefix('!') {
            Some(pattern) => (Verdict::In, pattern),
            None => (Verdict::Out, line),
        };
        let (pattern, directories_only) = match pattern.strip_suffix('/') {
            Some(pattern) => (pattern, true),
            None => (pattern, false),
        };
        let anchored = pattern.contains('/');
        let mut parts = Parser::parts(pattern.strip_prefix('/').unwrap_or(pattern))?;
        // `a/**` is what is in `a`, and not `a` itself.
        if matches!(parts.last(), Some(Part::Components)) {
            parts.push(Part::Component(vec![Token::Many]));
        }
        Some(Self { verdict, directories_only, anchored, parts })
    }

    fn matches(&self, path: &str, is_directory: bool) -> bool {
        if self.directories_only && !is_directory {
            return false;
        }
        let whole: Vec<&str> = path.split('/').collect();
        let components = if self.anchored { &whole[..] } else { &whole[whole.len() - 1..] };
        wildcard(
            &self.parts,
            components,
            |part| matches!(part, Part::Components),
            |part, name| match part {
                Part::Components => false,
                Part::Component(tokens) => matches_name(tokens, name),
            },
        )
    }
}

fn matches_name(tokens: &[Token], name: &str) -> bool {
    let characters: Vec<char> = name.chars().collect();
    wildcard(tokens, &characters, |token| matches!(token, Token::Many), |token, c| token.matches(*c))
}

/// Reports whether `pattern` matches all of `items`: a part for which `is_many` holds matches any number of them, and
/// each other part one for which `matches` holds. Takes at most as many steps as the product of the two lengths.
fn wildcard<P, I>(
    pattern: &[P],
    items: &[I],
    is_many: impl Fn(&P) -> bool,
    matches: impl Fn(&P, &I) -> bool,
) -> bool {
    let (mut part, mut item) = (0, 0);
    // The last part that matches many, and the item up to which it was tried.
    let mut retry: Option<(usize, usize)> = None;
    while item < items.len() {
        match pattern.get(part) {
            Some(many) if is_many(many) => {
                retry = Some((part, item));
                part += 1;
            }
            Some(one) if matches(one, &items[item]) => {
                part += 1;
                item += 1;
            }
            _ => {
                let Some((many, start)) = retry else { return false };
                retry = Some((many, start + 1));
                (part, item) = (many + 1, start + 1);
            }
        }
    }
    pattern[part..].iter().all(is_many)
}

impl Token {
    fn matches(&self, c: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == c,
            Self::One | Self::Many => true,
            Self::Set { negated, items } => {
                let is_in = items.iter().any(|item| match item {
                    SetItem::Range(first, last) => (*first..=*last).contains(&c),
                    SetItem::Class(is_in) => is_in(c),
                });
                is_in != *negated
            }
        }
    }
}

/// Returns `line` without the spaces at its end, except for one after a backslash.
fn without_trailing_spaces(line: &str) -> &str {
    let bare = line.trim_end_matches(' ');
    let backslashes = bare.len() - bare.trim_end_matches('\\').len();
    if backslashes % 2 == 1 && bare.len() < line.len() { &line[..=bare.len()] } else { bare }
}

/// A reader of one pattern.
struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// Returns the parts of `pattern`. Returns `None` if no path matches it: an empty component, a set that is not
    /// closed, a backslash at the end.
    fn parts(pattern: &str) -> Option<Vec<Part>> {
        let mut parser = Parser { rest: pattern };
        let mut parts = Vec::new();
        loop {
            let start = parser.rest;
            let (tokens, is_last) = parser.component()?;
            if tokens.is_empty() {
                return None;
            }
            let source = &start[..start.len() - parser.rest.len()];
            let name = source.trim_end_matches('/');
            let is_many = name.len() > 1 && name.bytes().all(|byte| byte == b'*');
            parts.push(if is_many { Part::Components } else { Part::Component(tokens) });
            if is_last {
                return Some(parts);
            }
        }
    }

    /// Removes the next character and returns it.
    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Reads up to the next slash, and that too. Also returns whether the pattern ends.
    fn component(&mut self) -> Option<(Vec<Token>, bool)> {
        let mut tokens = Vec::new();
        while let Some(c) = self.take() {
            let token = match c {
                '/' => return Some((tokens, false)),
                '*' => Token::Many,
                '?' => Token::One,
                '[' => self.set()?,
                '\\' => match self.take()? {
                    '/' => return Some((tokens, false)),
                    c => Token::Literal(c),
                },
                c => Token::Literal(c),
            };
            // A second star adds nothing.
            if !matches!((&token, tokens.last()), (Token::Many, Some(Token::Many))) {
                tokens.push(token);
            }
        }
        Some((tokens, true))
    }

    /// Reads a set, after its bracket.
    fn set(&mut self) -> Option<Token> {
        let negated = self.rest.starts_with(['!', '^']);
        if negated {
            self.take();
        }
        let mut items = Vec::new();
        let mut is_first = true;
        loop {
            let item = match self.take()? {
                ']' if !is_first => return Some(Token::Set { negated, items }),
                '[' if self.rest.starts_with(':') && self.rest[1..].contains(']') => self.class()?,
                c => self.range(c)?,
            };
            items.push(item);
            is_first = false;
        }
    }

    /// Reads a range or a single character that starts with `c`.
    fn range(&mut self, c: char) -> Option<SetItem> {
        let first = if c == '\\' { self.take()? } else { c };
        let Some(rest) = self.rest.strip_prefix('-').filter(|rest| !rest.starts_with(']')) else {
            return Some(SetItem::Range(first, first));
        };
        self.rest = rest;
        let last = match self.take()? {
            '\\' => self.take()?,
            c => c,
        };
        // As with git, a range that ends before it starts still has its first character.
        Some(SetItem::Range(first, last.max(first)))
    }

    /// Reads a class such as `[:alpha:]`, after its first bracket. Brackets and colons that are no class are characters.
    fn class(&mut self) -> Option<SetItem> {
        let end = self.rest.find(']')?;
        let Some(name) = self.rest[..end].strip_prefix(':').and_then(|name| name.strip_suffix(':')) else {
            return Some(SetItem::Range('[', '['));
        };
        let class: fn(char) -> bool = match name {
            "alnum" => |c| c.is_ascii_alphanumeric(),
            "alpha" => |c| c.is_ascii_alphabetic(),
            "blank" => |c| matches!(c, ' ' | '\t'),
            "cntrl" => |c| c.is_ascii_control(),
            "digit" => |c| c.is_ascii_digit(),
            "graph" => |c| c.is_ascii_graphic(),
            "lower" => |c| c.is_ascii_lowercase(),
            "print" => |c| c.is_ascii_graphic() || c == ' ',
            "punct" => |c| c.is_ascii_punctuation(),
            "space" => |c| c.is_ascii_whitespace() || c == '\u{b}',
            "upper" => |c| c.is_ascii_uppercase(),
            "xdigit" => |c| c.is_ascii_hexdigit(),
            _ => return None,
        };
        self.rest = &self.rest[end + 1..];
        Some(SetItem::Class(class))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Asserts which of the paths each text of rules leaves out; a path that ends in `/` is a directory.
    #[track_caller]
    fn assert_out(text: &str, out: &[&str], others: &[&str]) {
        let rules = IgnoreRules::parse(text);
        let is_out = |path: &&str| {
            rules.verdict(path.trim_end_matches('/'), path.ends_with('/')) == Some(Verdict::Out)
        };
        assert!(out.iter().all(is_out), "{text:?}: {:?}", out.iter().find(|path| !is_out(path)));
        assert!(!others.iter().any(is_out), "{text:?}: {:?}", others.iter().find(|path| is_out(path)));
    }

    #[test]
    fn patterns_match_as_with_git() {
        assert_out("*.log", &["a.log", "b/c/a.log", ".log"], &["a.logs", "log"]);
        assert_out("/a", &["a", "a/"], &["b/a"]);
        assert_out("a/b", &["a/b"], &["x/a/b", "a/b/c", "b"]);
        assert_out("a/", &["a/", "b/a/"], &["a", "a/b"]);
        assert_out("**/a", &["a", "b/a", "b/c/a"], &["ab"]);
        assert_out("a/**", &["a/b", "a/b/c"], &["a/", "b/a/c"]);
        assert_out("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["a/xb", "b"]);
        assert_out("a**b", &["ab", "axb", "d/axb"], &["a/b"]);
        assert_out("a/b**", &["a/bc"], &["a/bc/d"]);
        assert_out("?a", &["xa", "éa"], &["a", "xxa"]);
        assert_out("[a-c]x", &["ax", "cx"], &["dx", "x"]);
        assert_out("[!a-c]x", &["dx"], &["ax"]);
        assert_out("[]-]x", &["]x", "-x"], &["ax"]);
        assert_out("[[:digit:]_]x", &["1x", "_x"], &["ax"]);
        assert_out("[a\\]]x", &["]x"], &["\\x"]);
    }

    #[test]
    fn lines_are_read_as_with_git() {
        assert_out("# a\n\\#b\n\\!c\n", &["#b", "!c"], &["# a", "a"]);
        assert_out("a  \nb\\ \nc\\\\ \r\n", &["a", "b ", "c\\"], &["a  ", "b"]);
        assert_out("\u{feff}a\r\n", &["a"], &[]);
        assert_out("*\n!b\n", &["a"], &["b"]);
        assert_out("!b\n*\n", &["a", "b"], &[]);
        assert_out("/\n//\na//b\nc[\nd\\\n[[:none:]]\n!\n", &[], &["a/b", "c[", "d", "d\\", "", "/"]);
        let rules = IgnoreRules::parse("*\n!b\n");
        assert_eq!(rules.verdict("b", false), Some(Verdict::In));
        assert!(rules.has_exceptions() && !IgnoreRules::parse("a").has_exceptions());
        assert_eq!(rules.verdict("x/b", false), Some(Verdict::In));
        assert_eq!(IgnoreRules::default().verdict("a", true), None);
    }

    /// A pattern that would take a naive matcher forever.
    #[test]
    fn no_pattern_takes_long() {
        let rules = IgnoreRules::parse(&format!("{}b\n{}b\n", "*a".repeat(500), "**/a/".repeat(500)));
        let path = vec!["a"; 2000].join("/");
        assert_eq!(rules.verdict(&path, false), None);
        assert_eq!(rules.verdict(&"a".repeat(4000), false), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[\\[\\]!^*?/\\\\a-c: \\-\n]{0,40}|\\PC{0,40}", path in "[a-c/]{0,12}|\\PC{0,12}") {
            let rules = IgnoreRules::parse(&text);
            let _ = (rules.verdict(&path, false), rules.verdict(&path, true));
        }

        /// A text in which everything special is escaped matches itself and nothing else.
        #[test]
        fn an_escaped_name_is_that_name(name in "[\\[\\]!#*?\\\\a-c \\-]{1,10}", other in "[a-c*?]{1,10}") {
            let escaped: String = name.chars().flat_map(|c| ['\\', c]).collect();
            let rules = IgnoreRules::parse(&escaped);
            prop_assert_eq!(rules.verdict(&name, false), Some(Verdict::Out));
            prop_assert_eq!(rules.verdict(&other, false).is_some(), name == other);
        }
    }
}
