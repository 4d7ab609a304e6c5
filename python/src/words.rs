//! How the Python package words messages: functions and keyword arguments where it has them, else the command.

use serde_json::Value;
use skillpm_format::advice::{Call, CommandLine, Message, Opt, Verb, Warning, Wording};
use skillpm_format::scope_kind::ScopeKind;

/// The wording of the Python package.
pub(crate) struct Python;

/// Returns `message` in the words of Python.
pub(crate) fn worded(message: &Message) -> String {
    message.worded(&Python)
}

/// The same of each of `warnings`.
pub(crate) fn worded_all(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(|warning| worded(&warning.message)).collect()
}

impl Wording for Python {
    fn call(&self, call: &Call) -> String {
        function(call).map_or_else(|| CommandLine.call(call), |function| format!("`{function}`"))
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
            _ => argument(option, value).map_or_else(
                || format!("`skillpm {} {}", verb(option), &CommandLine.option(option, value)[1..]),
                |argument| format!("`{argument}`"),
            ),
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

/// Returns the call of a function of the package that does what `call` says, if there is one.
fn function(call: &Call) -> Option<String> {
    let mut arguments: Vec<String> = call.positional().map(text).collect();
    let name = match call.verb {
        Verb::Install => "skillpm.install",
        Verb::Validate if arguments.len() == 1 => "skillpm.validate",
        Verb::List if arguments.is_empty() => "SkillManager.list_skills",
        _ => return None,
    };
    let takes = |option: Opt| {
        use Opt::{Agent, Copy, Force, Frozen, Locked, NoDeps, Offline, Skill};
        call.verb == Verb::Install
            && matches!(option, Agent | Copy | Force | Frozen | Locked | NoDeps | Offline | Skill)
    };
    for (option, value) in call.named() {
        arguments.push(argument(option, value).filter(|_| takes(option))?);
    }
    if call.verb == Verb::Install {
        let scope = call.scope.filter(|scope| *scope == ScopeKind::User);
        arguments.extend(scope.and_then(|scope| argument(Opt::Scope, Some(&scope.to_string()))));
        let project = call.project.as_ref();
        arguments.extend(project.map(|project| format!("project={}", text(&project.to_string_lossy()))));
    }
    Some(format!("{name}({})", arguments.join(", ")))
}

/// Returns the keyword argument that passes `option` with `value`, if there is one.
fn argument(option: Opt, value: Option<&str>) -> Option<String> {
    let value = match (option, value) {
        (
            Opt::AllowModified
            | Opt::Copy
            | Opt::Force
            | Opt::Frozen
            | Opt::Locked
            | Opt::NoDeps
            | Opt::Offline,
            None,
        ) => "True".to_owned(),
        (Opt::Env, Some(value)) => match value.split_once('=') {
            Some((name, value)) => format!("{{{}: {}}}", text(name), text(value)),
            None => format!("{{{0}: os.environ[{0}]}}", text(value)),
        },
        (Opt::Interpreter, Some(value)) => {
            let (language, program) = value.split_once('=')?;
            format!("{{{}: {}}}", text(language), text(program))
        }
        (Opt::Budget | Opt::MaxBytes, Some(value)) => value.to_owned(),
        (Opt::Agent | Opt::Cwd | Opt::Sandbox | Opt::Scope | Opt::Skill, Some(value)) => text(value),
        _ => return None,
    };
    Some(format!("{}={value}", keyword(option)))
}

/// Returns the keyword for an option that has one.
fn keyword(option: Opt) -> String {
    match option {
        Opt::Agent => "agents".to_owned(),
        Opt::Interpreter => "interpreters".to_owned(),
        Opt::Skill => "skills".to_owned(),
        _ => option.name().replace('-', "_"),
    }
}

/// Returns the command that takes an option without a keyword.
fn verb(option: Opt) -> &'static str {
    let verb = match option {
        Opt::Abort | Opt::AllowNewCapabilities | Opt::Latest | Opt::Ours | Opt::Theirs => Verb::Update,
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
