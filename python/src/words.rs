//! How the Python package words messages: functions and keyword arguments where it has them, else the command.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skillpm_format::advice::{Call, CommandLine, Message, Opt, Verb, Warning, Wording};
use skillpm_format::scope_kind::ScopeKind;

/// The wording of the Python package.
#[derive(Debug, Clone, Default)]
pub(crate) struct Python {
    /// The root of the project that is worked in, where that is not the working directory.
    pub(crate) root: Option<PathBuf>,
}

/// Returns `message` in the words of Python.
pub(crate) fn worded(message: &Message) -> String {
    message.worded(&Python::default())
}

/// The same of each of `warnings`.
pub(crate) fn worded_all(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(|warning| worded(&warning.message)).collect()
}

impl Wording for Python {
    fn call(&self, call: &Call) -> String {
        function(call, self.root.as_deref())
            .map_or_else(|| CommandLine.call(call), |function| format!("`{function}`"))
    }

    fn option(&self, option: Opt, value: Option<&str>) -> String {
        match (option, value) {
            (Opt::AllowScripts, _) => "`SkillManager(ask=...)`".to_owned(),
            (
                Opt::Agent
                | Opt::Cwd
                | Opt::Env
                | Opt::Interpreter
                | Opt::MaxBytes
                | Opt::Sandbox
                | Opt::Scope
                | Opt::Skill,
                None,
            ) => {
                format!("`{}`", keyword(option))
            }
            // Other verbs have options of these names, too.
            (Opt::All | Opt::Fix | Opt::Registry | Opt::Strict, _) => command(option, value),
            _ => argument(option, value)
                .map_or_else(|| command(option, value), |argument| format!("`{argument}`")),
        }
    }

    fn setting(&self, key: &str, value: &str) -> String {
        let value = text(value);
        match key {
            "scripts" => format!("`SkillManager(scripts={value})`, `{key} = {value}`"),
            _ => format!("`{key} = {value}`"),
        }
    }
}

/// Returns the call of a function or method of the package that does what `call` says, if there is one. Without a
/// project of its own it is about that in `root`.
fn function(call: &Call, root: Option<&Path>) -> Option<String> {
    let words: Vec<&str> = call.positional().collect();
    let named: Vec<_> = call.named().collect();
    match call.verb {
        Verb::List if words.is_empty() && named.is_empty() => {
            return Some("SkillManager.list_skills()".to_owned());
        }
        Verb::Validate if words.len() == 1 && named.is_empty() => {
            return Some(format!("skillpm.validate({})", text(words[0])));
        }
        _ => {}
    }
    let (mut scope, mut project) = (call.scope.filter(|scope| *scope == ScopeKind::User), Vec::new());
    project.extend(call.project.as_deref().or(root).map(|project| text(&project.to_string_lossy())));
    let (mut keywords, mut offline) = (Keywords::default(), None);
    let (name, takes) = method(call)?;
    for (option, value) in named {
        match (option, value) {
            (Opt::Scope, Some("user")) | (Opt::Global, None) => scope = Some(ScopeKind::User),
            (Opt::Scope, Some("project")) | (Opt::Project, None) => scope = None,
            (Opt::Offline, None) => offline = argument(option, value),
            // It is what the method is for.
            (Opt::List, None) if call.verb == Verb::Install => {}
            _ if takes.contains(&option) => keywords.add(option, value)?,
            _ => return None,
        }
    }
    project.extend(scope.and_then(|scope| argument(Opt::Scope, Some(&scope.to_string()))));
    project.extend(offline);
    let mut arguments: Vec<String> = match call.verb {
        Verb::Search => vec![text(&words.join(" "))],
        _ => words.into_iter().map(text).collect(),
    };
    arguments.extend(keywords.0.iter().map(|(option, values)| match &values[..] {
        [value] => format!("{}={value}", keyword(*option)),
        values => format!("{}=[{}]", keyword(*option), values.join(", ")),
    }));
    Some(format!("skillpm.Project({}).{name}({})", project.join(", "), arguments.join(", ")))
}

/// Returns the method of `Project` that does what `call` says, and the options that it takes.
fn method(call: &Call) -> Option<(&'static str, &'static [Opt])> {
    #[rustfmt::skip]
    use Opt::{
        Abort, Agent, All, AllowNewCapabilities, As, Branch, Copy, Editable, Fix, Force, FromProject, Frozen, Latest,
        List, Locked, Marketplace, Minimal, NoDeps, Ours, Precise, Registry, Rev, Skill, SkillsSh, Strict, Tag, Theirs,
    };
    Some(match call.verb {
        Verb::Agents => ("agents", &[All]),
        Verb::Doctor => ("doctor", &[Fix]),
        Verb::Install if call.named().any(|(option, _)| option == List) => {
            ("available", &[Branch, FromProject, Marketplace, Rev, Skill, Tag])
        }
        Verb::Install => (
            "install",
            &[
                Agent,
                AllowNewCapabilities,
                As,
                Branch,
                Copy,
                Editable,
                Force,
                FromProject,
                Frozen,
                Locked,
                Marketplace,
                Minimal,
                NoDeps,
                Rev,
                Skill,
                Tag,
            ],
        ),
        Verb::List => ("list", &[]),
        Verb::Outdated => ("outdated", &[]),
        Verb::Remove => ("remove", &[Force]),
        Verb::Search => ("search", &[Registry, SkillsSh]),
        Verb::Test => ("test", &[All]),
        Verb::Trust => ("trust", &[Force]),
        Verb::Untrust => ("untrust", &[]),
        Verb::Update => {
            ("update", &[Abort, AllowNewCapabilities, Force, Latest, Minimal, NoDeps, Ours, Precise, Theirs])
        }
        Verb::Verify => ("verify", &[Strict]),
        _ => return None,
    })
}

/// Keyword arguments. A keyword stands once, whatever number of values it has.
#[derive(Default)]
struct Keywords(Vec<(Opt, Vec<String>)>);

impl Keywords {
    fn add(&mut self, option: Opt, value: Option<&str>) -> Option<()> {
        let value = literal(option, value)?;
        match self.0.iter_mut().find(|(known, _)| *known == option) {
            Some((_, values)) => values.push(value),
            None => self.0.push((option, vec![value])),
        }
        Some(())
    }
}

/// Returns the keyword argument that passes `option` with `value`, if there is one.
fn argument(option: Opt, value: Option<&str>) -> Option<String> {
    Some(format!("{}={}", keyword(option), literal(option, value)?))
}

/// Returns `value` for the keyword of `option`, if it has one.
fn literal(option: Opt, value: Option<&str>) -> Option<String> {
    use Opt::{
        Abort, Agent, All, AllowModified, AllowNewCapabilities, As, Branch, Budget, Copy, Cwd, Editable, Env,
        Fix, Force, FromProject, Frozen, Interpreter, Latest, Locked, Marketplace, MaxBytes, Minimal, NoDeps,
        Offline, Ours, Precise, Registry, Rev, Sandbox, Scope, Skill, SkillsSh, Strict, Tag, Theirs,
    };
    Some(match (option, value) {
        (
            Abort | All | AllowModified | AllowNewCapabilities | Copy | Editable | Fix | Force | FromProject
            | Frozen | Latest | Locked | Minimal | NoDeps | Offline | Ours | SkillsSh | Strict | Theirs,
            None,
        ) => "True".to_owned(),
        (AllowNewCapabilities, Some(names)) => {
            format!("[{}]", names.split(',').map(text).collect::<Vec<_>>().join(", "))
        }
        (Env, Some(value)) => match value.split_once('=') {
            Some((name, value)) => format!("{{{}: {}}}", text(name), text(value)),
            None => format!("{{{0}: os.environ[{0}]}}", text(value)),
        },
        (Interpreter, Some(value)) => {
            let (language, program) = value.split_once('=')?;
            format!("{{{}: {}}}", text(language), text(program))
        }
        (Budget | MaxBytes, Some(value)) => value.to_owned(),
        (
            Agent | As | Branch | Cwd | Marketplace | Precise | Registry | Rev | Sandbox | Scope | Skill
            | Tag,
            Some(value),
        ) => text(value),
        _ => return None,
    })
}

/// Returns the keyword for an option that has one.
fn keyword(option: Opt) -> String {
    match option {
        Opt::Agent => "agents".to_owned(),
        Opt::AllowNewCapabilities => "accept".to_owned(),
        Opt::Interpreter => "interpreters".to_owned(),
        Opt::As => "as_".to_owned(),
        Opt::Skill => "skills".to_owned(),
        _ => option.name().replace('-', "_"),
    }
}

/// Returns `option` with the command that takes it.
fn command(option: Opt, value: Option<&str>) -> String {
    format!("`skillpm {} {}", verb(option), &CommandLine.option(option, value)[1..])
}

/// Returns the command that takes an option without a keyword.
fn verb(option: Opt) -> &'static str {
    let verb = match option {
        Opt::Description | Opt::ListTemplates | Opt::Path | Opt::Var => Verb::Create,
        Opt::Fix => Verb::Doctor,
        Opt::Forget => Verb::Undo,
        Opt::Limit | Opt::Offset => Verb::Read,
        Opt::Profile => Verb::Validate,
        Opt::AllowDirty | Opt::AllowSecrets => Verb::Publish,
        Opt::Stdin => Verb::Run,
        _ => Verb::Install,
    };
    verb.name()
}

/// Returns `value` as a literal: JSON's are Python's, too.
fn text(value: &str) -> String {
    Value::from(value).to_string()
}
