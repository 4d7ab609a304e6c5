//! The file `credentials.toml`: tokens by the origin that they belong to.
//!
//! ```toml
//! ["https://skills.example.com"]
//! token = "…"
//! ```
//!
//! Other keys and comments of the file stay when a token is added or removed. No text of an error and no `Debug` shows
//! a token.

use std::fmt;

use toml_edit::{DocumentMut, Item, Table, value};

use crate::text::line_column;

/// The name of the file.
pub const FILE_NAME: &str = "credentials.toml";
/// The first line of a new file.
const HEADING: &str = "# Tokens for registries. Keep this file to yourself.\n\n";

/// The tokens in a file.
#[derive(Clone)]
pub struct Credentials {
    document: DocumentMut,
}

/// The reason why a file holds no credentials.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// It is not TOML. Holds the line.
    #[error("line {0} is not TOML")]
    Syntax(usize),
    /// The entry of an origin has no token that could be sent.
    #[error("the entry of `{0}` has no usable `token`")]
    Token(String),
}

/// Reports whether `text` can be a token: characters that a header may have, and no blanks.
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

impl Default for Credentials {
    fn default() -> Self {
        let mut document = DocumentMut::new();
        document.decor_mut().set_prefix(HEADING);
        Self { document }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.origins()).finish()
    }
}

impl Credentials {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// Fails if it is not TOML, and for an entry without a token.
    pub fn parse(text: &str) -> Result<Self, CredentialsError> {
        let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
            // The text of the error may contain the token.
            CredentialsError::Syntax(line_column(text, error.span().map_or(0, |span| span.start)).0)
        })?;
        let read = Self { document };
        for origin in read.origins() {
            if !read.token(origin).is_some_and(is_token) {
                return Err(CredentialsError::Token(origin.to_owned()));
            }
        }
        Ok(read)
    }

    /// Returns the token of `origin`, such as `https://skills.example.com`.
    pub fn token(&self, origin: &str) -> Option<&str> {
        self.document.get(origin)?.get("token")?.as_str()
    }

    /// Returns the origins that have an entry, in the order of the file.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.document.iter().map(|(origin, _)| origin)
    }

    /// Sets the token of `origin`. Returns whether it had another one.
    pub fn set(&mut self, origin: &str, token: &str) -> bool {
        let known = self.token(origin).is_some();
        if let Some(entry) = self.document.get_mut(origin).and_then(Item::as_table_like_mut) {
            drop(entry.insert("token", value(token)));
        } else {
            let mut entry = Table::new();
            entry.insert("token", value(token));
            self.document.insert(origin, Item::Table(entry));
        }
        known
    }

    /// Removes the entry of `origin`. Returns whether there was one.
    pub fn remove(&mut self, origin: &str) -> bool {
        self.document.remove(origin).is_some()
    }

    /// Returns the text of the file.
    pub fn text(&self) -> String {
        self.document.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: &str = "https://skills.example.com";

    #[test]
    fn tokens_come_and_go_and_the_rest_stays() {
        let mut new = Credentials::default();
        assert!(!new.set(ORIGIN, "s3\"cr\\et"));
        assert!(new.text().starts_with('#'), "{}", new.text());
        let read = Credentials::parse(&new.text()).expect("reads");
        assert_eq!(read.token(ORIGIN), Some("s3\"cr\\et"));
        assert_eq!(read.token("https://skills.example.com:444"), None);
        let text = "# mine\n\n[\"http://localhost:8000\"] # here\ntoken = 'one'\nnote = 'of Ada'\n";
        let mut read = Credentials::parse(text).expect("reads");
        assert!(read.set("http://localhost:8000", "two"));
        assert_eq!(read.text(), text.replace("'one'", "\"two\""));
        read.set(ORIGIN, "three");
        assert_eq!(read.origins().collect::<Vec<_>>(), ["http://localhost:8000", ORIGIN]);
        assert!(read.remove(ORIGIN) && !read.remove(ORIGIN));
        assert_eq!(read.text(), text.replace("'one'", "\"two\""));
    }

    #[test]
    fn no_text_shows_a_token() {
        let secret = "hunter2";
        for (text, error) in [
            ("# x\n[\"h\"]\ntoken = hunter2\n", CredentialsError::Syntax(3)),
            ("[\"h\"]\ntoken = 'hunter2 '\n", CredentialsError::Token("h".into())),
            ("[\"h\"]\npassword = 'hunter2'\n", CredentialsError::Token("h".into())),
            ("h = 'hunter2'\n", CredentialsError::Token("h".into())),
            ("[\"h\"]\ntoken = ['hunter2']\n", CredentialsError::Token("h".into())),
        ] {
            let found = Credentials::parse(text).expect_err(text);
            assert_eq!(found, error, "{text}");
            assert!(!format!("{found} {found:?}").contains(secret), "{found}");
        }
        let mut held = Credentials::default();
        held.set("h", secret);
        assert!(!format!("{held:?}").contains(secret));
        for wrong in ["", "a b", "a\n", "é"] {
            assert!(!is_token(wrong), "{wrong:?}");
        }
    }
}
