//! Hints about a skill that was created, and about templates.

use std::borrow::Cow;
use std::path::Path;

use super::shared::show_unseen;
use crate::advice::{Message, Opt, Verb, message};
use crate::fs::relative;
use crate::ops::create::{Builtin, CreateOutcome};
use crate::scope_kind::ScopeKind;
use crate::source::local::portable;

impl CreateOutcome {
    /// Returns the path of the new skill as it is typed in `cwd`.
    pub fn typed<'a>(&'a self, cwd: &Path) -> Cow<'a, Path> {
        let is_in_project =
            self.installed.as_ref().is_some_and(|installed| installed.scope == ScopeKind::Project);
        if is_in_project {
            relative(cwd, &self.path).into()
        } else {
            self.path.strip_prefix(cwd).unwrap_or(&self.path).into()
        }
    }

    /// Returns what to do next, in `cwd`.
    pub fn hints(&self, cwd: &Path) -> Vec<Message> {
        let new = self.installed.as_ref();
        let mut hints = new.map_or_else(Vec::new, |new| show_unseen(Some(new.scope), &new.unseen));
        if self.dry_run {
            return hints;
        }
        let typed = self.typed(cwd);
        hints.push(message!(
            format_args!("write `{}`, then run ", typed.join("SKILL.md").display()),
            Verb::Validate.call().path(&typed)
        ));
        if let Some(typed) = portable(cwd, &self.path) {
            hints.push(message!(Verb::Invoke.call().word(typed), " shows what an agent gets"));
        }
        hints
    }
}

/// Returns how to use one of `templates`.
pub fn use_template(templates: &[Builtin]) -> Option<Message> {
    let create = Verb::Create.call().word("NAME").option(Opt::Template, templates.last()?.name);
    Some(message!("use one with ", create, "; `./directory` and `owner/repo/directory` work too"))
}
