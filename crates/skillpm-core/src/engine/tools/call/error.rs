//! The reason why an input does not fit a tool.

/// The reason why an input does not fit a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A required parameter is missing.
    #[error("the parameter `{0}` is missing")]
    Missing(String),
    /// A key that is not a parameter.
    #[error("there is no parameter `{given}`{}", instead(closest.as_deref(), known))]
    Unknown {
        /// The key.
        given: String,
        /// The parameter that was probably meant.
        closest: Option<String>,
        /// All parameters.
        known: Vec<String>,
    },
    /// A value of the wrong type.
    #[error("the parameter `{name}` must be of the type `{expected}`")]
    Type {
        /// The parameter.
        name: String,
        /// The expected type.
        expected: &'static str,
    },
    /// A value that is not one of the permitted ones.
    #[error("the parameter `{name}` must be one of {choices}")]
    Choice {
        /// The parameter.
        name: String,
        /// The permitted values, as JSON.
        choices: String,
    },
    /// A value that the script would take for an option.
    #[error(
        "the parameter `{0}` cannot have a value that begins with `-`; the script could read it as an option"
    )]
    Option(String),
    /// An input that is neither a string, a list of strings nor an object.
    #[error("the input must be a string, a list of strings or an object")]
    Shape,
    /// A text with a NUL, which no command-line argument can have.
    #[error("the input has a NUL character, which no command line has")]
    Nul,
}

/// Returns what to give instead of a parameter that does not exist.
fn instead(closest: Option<&str>, known: &[String]) -> String {
    match closest {
        Some(name) => format!("; did you mean `{name}`?"),
        None if known.is_empty() => "; it takes none".to_owned(),
        None => format!("; it takes `{}`", known.join("`, `")),
    }
}

impl CallError {
    /// Returns the same error, with the keys under which the parameters were requested.
    pub(super) fn under(self, key: impl Fn(String) -> String) -> Self {
        match self {
            Self::Missing(name) => Self::Missing(key(name)),
            Self::Unknown { given, closest, known } => Self::Unknown {
                given,
                closest: closest.map(&key),
                known: known.into_iter().map(key).collect(),
            },
            Self::Type { name, expected } => Self::Type { name: key(name), expected },
            Self::Choice { name, choices } => Self::Choice { name: key(name), choices },
            Self::Option(name) => Self::Option(key(name)),
            other @ (Self::Shape | Self::Nul) => other,
        }
    }
}
