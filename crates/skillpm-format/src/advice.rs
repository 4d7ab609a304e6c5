//! Messages that name verbs and options as values.
//!
//! The library does not know how its callers spell things: on a command line users type `skillpm undo -g`, in Python
//! they call a function, an agent calls a tool. So a [`Message`] holds the verbs to run and the options to pass as
//! typed parts, and each front end words them with its [`Wording`]. `Display` words them neutrally: `` `undo` with
//! `scope=user` ``.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

pub use self::command_line::CommandLine;
pub use self::data::{CallData, OptionData, PartData, SettingData};
pub use self::names::{Opt, Verb};
use self::site::Site;
pub use self::warning::Warning;
use crate::scope_kind::ScopeKind;
use crate::text::without_secrets;

mod command_line;
mod data;
mod names;
mod site;
mod warning;

impl Verb {
    /// Returns the call of this verb without arguments.
    pub fn call(self) -> Call {
        Call { verb: self, scope: None, project: None, arguments: Vec::new() }
    }

    /// Returns the call of this verb in `scope`.
    pub fn within(self, scope: ScopeKind) -> Call {
        Call { scope: Some(scope), ..self.call() }
    }
}

/// A verb to run, with its arguments. Values are raw: a front end quotes them as it needs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// The verb.
    pub verb: Verb,
    /// The scope to run it in, if it matters.
    pub scope: Option<ScopeKind>,
    /// The project to run it in, if it is not the current one.
    pub project: Option<PathBuf>,
    /// Words and options, in the order in which they read best.
    pub arguments: Vec<Argument>,
}

/// An argument of a [`Call`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Argument {
    /// A positional argument, or a placeholder such as `NAME`.
    Word(String),
    /// An option, with its value or a placeholder if it takes one.
    Option(Opt, Option<String>),
}

impl Call {
    /// Adds a positional argument.
    #[must_use]
    pub fn word(mut self, word: impl fmt::Display) -> Self {
        self.arguments.push(Argument::Word(word.to_string()));
        self
    }

    /// Adds positional arguments.
    #[must_use]
    pub fn words<T: fmt::Display>(self, words: impl IntoIterator<Item = T>) -> Self {
        words.into_iter().fold(self, Self::word)
    }

    /// Adds a path as a positional argument.
    #[must_use]
    pub fn path(self, path: impl AsRef<Path>) -> Self {
        self.word(path.as_ref().to_string_lossy())
    }

    /// Adds an option without a value.
    #[must_use]
    pub fn flag(mut self, option: Opt) -> Self {
        self.arguments.push(Argument::Option(option, None));
        self
    }

    /// Adds an option with `value`.
    #[must_use]
    pub fn option(mut self, option: Opt, value: impl fmt::Display) -> Self {
        self.arguments.push(Argument::Option(option, Some(value.to_string())));
        self
    }

    /// Adds the options of `pairs`, each with its value.
    #[must_use]
    pub fn options<T: fmt::Display>(self, pairs: impl IntoIterator<Item = (Opt, T)>) -> Self {
        pairs.into_iter().fold(self, |call, (option, value)| call.option(option, value))
    }

    /// Sets the project to run it in; `None` means the current one.
    #[must_use]
    pub fn project(self, project: Option<&Path>) -> Self {
        Self { project: project.map(Path::to_owned), ..self }
    }

    /// Returns the positional arguments.
    pub fn positional(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Word(word) => Some(word.as_str()),
            Argument::Option(..) => None,
        })
    }

    /// Returns the options with their values.
    pub fn named(&self) -> impl Iterator<Item = (Opt, Option<&str>)> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Word(_) => None,
            Argument::Option(option, value) => Some((*option, value.as_deref())),
        })
    }
}

/// A part of a [`Message`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Prose.
    Text(String),
    /// A verb to run.
    Run(Call),
    /// An option to pass, with a value or a placeholder such as `NAME`.
    Option(Opt, Option<String>),
    /// A key to set to a text, in a manifest or a policy.
    Setting(&'static str, String),
}

/// A text for people with verbs and options as typed parts. It starts in lower case, and has no final period.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Message {
    parts: Vec<Part>,
    site: Site,
}

/// How a front end words the typed parts of messages, with the backticks around them.
pub trait Wording {
    /// Returns how users run `call`.
    fn call(&self, call: &Call) -> String;

    /// Returns how users pass `option` with `value`.
    fn option(&self, option: Opt, value: Option<&str>) -> String;

    /// Returns how users set `key` to `value`: as a line of the file, unless there is another way as well.
    fn setting(&self, key: &str, value: &str) -> String {
        format!("`{key} = {value:?}`")
    }
}

/// A wording without any front end in mind.
struct Neutral;

impl Wording for Neutral {
    fn call(&self, call: &Call) -> String {
        let words: Vec<_> = [call.verb.name()].into_iter().chain(call.positional()).collect();
        let scope = call.scope.filter(|scope| *scope != ScopeKind::Project).map(|scope| scope.to_string());
        let scope = scope.as_deref().map(|scope| (Opt::Scope, Some(scope)));
        let options = call.named().chain(scope).map(|(option, value)| self.option(option, value));
        let mut text = format!("`{}`", words.join(" "));
        for (at, option) in options.enumerate() {
            text += if at == 0 { " with " } else { " and " };
            text += &option;
        }
        if let Some(project) = &call.project {
            text.extend([" in `", &project.to_string_lossy(), "`"]);
        }
        text
    }

    fn option(&self, option: Opt, value: Option<&str>) -> String {
        let name = option.name();
        value.map_or_else(|| format!("`{name}`"), |value| format!("`{name}={value}`"))
    }
}

impl Message {
    /// Returns an empty message that the caller makes.
    #[must_use]
    #[track_caller]
    pub fn here() -> Self {
        Self::default().made_by(Location::caller())
    }

    /// Sets the place in the source that made it. Tests count those whose hints they ran.
    #[must_use]
    pub fn made_by(self, site: &'static Location<'static>) -> Self {
        Self { site: Site(Some(site)), ..self }
    }

    /// Returns the place in the source that made it, where it is known.
    pub fn site(&self) -> Option<&'static Location<'static>> {
        self.site.0
    }

    /// Returns the message in the words of `wording`.
    pub fn worded(&self, wording: &dyn Wording) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Run(call) => wording.call(call),
            Part::Option(option, value) => wording.option(*option, value.as_deref()),
            Part::Setting(key, value) => wording.setting(key, value),
        };
        self.parts.iter().map(part).collect()
    }

    /// Returns the parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Adds `piece` at the end.
    #[must_use]
    pub fn with(mut self, piece: impl Piece) -> Self {
        piece.add_to(&mut self);
        self
    }

    /// Adds `argument` to the calls of `verb`.
    #[must_use]
    pub fn with_argument(mut self, verb: Verb, argument: &Argument) -> Self {
        for part in &mut self.parts {
            if let Part::Run(call) = part
                && call.verb == verb
            {
                call.arguments.push(argument.clone());
            }
        }
        self
    }

    /// Joins `messages`, with `between` between them.
    #[must_use]
    pub fn joined(messages: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut all = Self::default();
        for message in messages {
            if !all.parts.is_empty() {
                all = all.with(between);
            }
            all = all.with(message);
        }
        all
    }

    /// Reports whether the message, in neutral words, starts with `text`.
    pub fn starts_with(&self, text: &str) -> bool {
        self.to_string().starts_with(text)
    }

    fn push(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, Part::Text(text)) if text.is_empty() => {}
            (_, part) => self.parts.push(part),
        }
    }
}

/// A piece that a [`Message`] can be built from.
pub trait Piece {
    /// Adds it at the end of `message`.
    fn add_to(self, message: &mut Message);
}

impl Piece for Part {
    fn add_to(self, message: &mut Message) {
        message.push(self);
    }
}

impl Piece for Message {
    fn add_to(self, message: &mut Message) {
        self.parts.into_iter().for_each(|part| message.push(part));
    }
}

impl Piece for &Message {
    fn add_to(self, message: &mut Message) {
        self.clone().add_to(message);
    }
}

impl Piece for Call {
    fn add_to(self, message: &mut Message) {
        message.push(Part::Run(self));
    }
}

impl Piece for Verb {
    fn add_to(self, message: &mut Message) {
        self.call().add_to(message);
    }
}

impl Piece for Opt {
    fn add_to(self, message: &mut Message) {
        message.push(Part::Option(self, None));
    }
}

impl<T: fmt::Display> Piece for (Opt, T) {
    fn add_to(self, message: &mut Message) {
        message.push(Part::Option(self.0, Some(self.1.to_string())));
    }
}

impl<T: Piece> Piece for Option<T> {
    fn add_to(self, message: &mut Message) {
        if let Some(piece) = self {
            piece.add_to(message);
        }
    }
}

/// Declares texts that are pieces and messages.
macro_rules! texts {
    ($($kind:ty),*) => {$(
        impl Piece for $kind {
            fn add_to(self, message: &mut Message) {
                message.push(Part::Text(self.into()));
            }
        }

        impl From<$kind> for Message {
            fn from(text: $kind) -> Self {
                Self::default().with(text)
            }
        }
    )*};
}

texts!(String, &String, &str, Cow<'_, str>);

impl Piece for fmt::Arguments<'_> {
    fn add_to(self, message: &mut Message) {
        message.push(Part::Text(self.to_string()));
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.parts[..] {
            [Part::Text(text)] => f.write_str(text),
            _ => f.write_str(&self.worded(&Neutral)),
        }
    }
}

crate::schema_of!(Message as String);

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Data goes into the logs of programs.
        serializer.serialize_str(&without_secrets(&self.to_string()))
    }
}

impl PartialEq<str> for Message {
    fn eq(&self, text: &str) -> bool {
        self.worded(&Neutral) == text
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl PartialEq<String> for Message {
    fn eq(&self, text: &String) -> bool {
        self == text.as_str()
    }
}

/// Builds a [`Message`] from texts, [`Call`]s, [`Verb`]s, [`Opt`]s, pairs of an option and its value, and messages.
///
/// ```
/// use skillpm_format::advice::{Opt, Verb, message};
///
/// let told = message!(Verb::Install.call().word("owner/repo"), " installs it, ", Opt::Force, " replaces it");
/// assert_eq!(told, "`install owner/repo` installs it, `force` replaces it");
/// ```
#[macro_export]
macro_rules! message {
    ($($piece:expr),+ $(,)?) => {
        $crate::advice::Message::here()$(.with($piece))+
    };
}

#[doc(inline)]
pub use crate::message;

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as a shell would.
    struct Shell;

    impl Wording for Shell {
        fn call(&self, call: &Call) -> String {
            format!("$({} {:?})", call.verb.name(), call.arguments)
        }

        fn option(&self, option: Opt, value: Option<&str>) -> String {
            format!("-{} {}", option.name(), value.unwrap_or_default())
        }
    }

    #[test]
    fn neutral_words() {
        let call = Verb::Install.within(ScopeKind::User).word("a b").flag(Opt::List).option(Opt::Skill, "*");
        assert_eq!(message!(call), "`install a b` with `list` and `skill=*` and `scope=user`");
        let call = Verb::Undo.within(ScopeKind::Project).project(Some(Path::new("/x")));
        assert_eq!(message!("so ", call, " helps"), "so `undo` in `/x` helps");
        assert_eq!(message!(Opt::Tag, " or ", (Opt::Rev, "COMMIT")), "`tag` or `rev=COMMIT`");
    }

    #[test]
    fn a_front_end_words_what_is_typed() {
        let told = message!("run ", Verb::Undo, " or pass ", (Opt::Scope, "user"), format_args!("{}", 1));
        assert_eq!(told.worded(&Shell), "run $(undo []) or pass -scope user1");
        assert_eq!(serde_json::to_string(&told).unwrap(), r#""run `undo` or pass `scope=user`1""#);
    }

    #[test]
    fn texts_run_together() {
        let told = message!("a", String::from("b"), Message::from("c"), "", None::<Call>, Some("d"));
        assert_eq!(told.parts(), [Part::Text("abcd".into())]);
        assert_eq!(Message::joined([told.clone(), told], ", "), "abcd, abcd");
        assert!(Message::default().parts().is_empty());
    }
}
