//! The skill that a person names.

use super::catalog::disabled_in;
use crate::context::Context;
use crate::engine::{self, Hit};
use crate::error::{Error, ErrorKind, Result};
use crate::install::scope::{Scope, ScopeKind, Scopes};
use crate::name::SkillName;

/// Finds the skill `name` as [`engine::find`] does, and says of one that is disabled that it is.
///
/// # Errors
///
/// As [`engine::find`].
pub(super) fn find(context: &Context, name: &str) -> Result<Hit> {
    engine::find(context, name).map_err(|error| or_disabled(context, name, None, error))
}

/// What to say in place of `error`, with which `name` was not found in the scope `only` or in both. The files of a
/// disabled skill lie where no agent looks: that there is none would send its owner to install it once more.
pub(super) fn or_disabled(context: &Context, name: &str, only: Option<ScopeKind>, error: Error) -> Error {
    // Any other kind is of a skill that is there.
    if error.kind() != ErrorKind::Usage {
        return error;
    }
    let scopes = Scopes::new(&context.settings, only).unwrap_or_default().there;
    let installed = |scope: &Scope| {
        // As `project:name` and `user:name` a skill of that scope only is meant.
        let inside = name.strip_prefix(&*scope.kind.to_string()).and_then(|rest| rest.strip_prefix(':'));
        let asked = SkillName::new(inside.unwrap_or(name)).ok()?;
        let names = disabled_in(scope).ok()?;
        names.iter().any(|name| name == asked.as_str()).then(|| (scope.kind.flag(), asked))
    };
    let mut installed = scopes.iter().filter_map(installed).peekable();
    if installed.peek().is_none() {
        return error;
    }
    installed.fold(Error::usage(format!("the skill `{name}` is disabled")), |error, (flag, installed)| {
        error.hint(format!("`skillpm enable{flag} {installed}` shows it to agents again"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::ops::show::{ShowRequest, show};

    /// What is disabled is there, in each scope by itself; whatever is no such name has the error that it had.
    #[test]
    fn a_disabled_skill_is_told_as_one() {
        let world = World::new();
        let manifest =
            |name: &str| format!("[skills]\n{name} = {{ path = \"../{name}\", disabled = true }}\n");
        world.write("skillpm.toml", &(manifest("dis") + "on = { path = \"../on\" }\n"));
        world.write("../home/.config/skillpm/skillpm.toml", &(manifest("dis") + &manifest("mine")[9..]));
        let error = |name: &str| find(&world.context(), name).expect_err(name);
        let (project, user) = ("`skillpm enable dis` shows it", "`skillpm enable -g dis` shows it");
        for (name, hints) in [
            ("dis", &[project, user][..]),
            ("project:dis", &[project]),
            ("user:dis", &[user]),
            ("mine", &["`skillpm enable -g mine` shows it"]),
        ] {
            let error = error(name);
            assert_eq!(error.to_string(), format!("the skill `{name}` is disabled"));
            assert_eq!((error.kind(), error.hints().len()), (ErrorKind::Usage, hints.len()), "{name}");
            assert!(error.hints().iter().zip(hints).all(|(hint, start)| hint.starts_with(start)), "{name}");
        }
        for name in ["on", "project:mine", "../dis", "none"] {
            assert_eq!(error(name).to_string(), format!("there is no skill `{name}`"));
        }
        let shown = |scope| {
            let request = ShowRequest { name: "mine".into(), scope: Some(scope) };
            show(&world.context(), &request).expect_err("not there").to_string()
        };
        assert_eq!(shown(ScopeKind::User), "the skill `mine` is disabled");
        assert_eq!(shown(ScopeKind::Project), "there is no skill `mine`");
        // One that can be used is used, whatever the manifest of the other scope says.
        world.skill(".claude/skills/mine", "mine");
        assert!(find(&world.context(), "mine").is_ok());
    }
}
