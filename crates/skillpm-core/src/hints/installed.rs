//! Hints after a change of the installed skills.

use super::shared::{first_install, show_unseen, within};
use crate::advice::{Message, Opt, Verb, message};
use crate::error::{ErrorKind, Failure};
use crate::name::SkillName;
use crate::ops::disable::DisableOutcome;
use crate::ops::import::{FoundIn, ImportOutcome, ImportedSkill, Verdict};
use crate::ops::install::{Change, InstallOutcome, InstalledSkill, NewInGit};
use crate::ops::kept::{KeptCopy, RestoreOutcome};
use crate::ops::link::LinkOutcome;
use crate::ops::remove::RemoveOutcome;
use crate::ops::undo::UndoOutcome;
use crate::ops::update::{UpdateOutcome, UpdatedSkill};
use crate::scope::merges;
use crate::scope::plan::Step;
use crate::scope_kind::ScopeKind;
use crate::text::{and, shell_word};

/// How to go on although the new versions of skills can do more than the old ones, before what to do.
const REVIEW: &str = "review the lines marked `!`, then ";

/// Returns a text such as `` `pdf`, `docx` and `xlsx` ``.
fn quoted(names: &[String]) -> String {
    and(&names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

fn allowed(refused: &[String]) -> (Opt, String) {
    (Opt::AllowNewCapabilities, refused.join(","))
}

impl InstallOutcome {
    /// Returns what to do next.
    pub fn hints(&self) -> Vec<Message> {
        if self.dry_run {
            let review = (!self.refused.is_empty())
                .then(|| message!(REVIEW, "add ", allowed(&self.refused), " to install them"));
            return review.into_iter().collect();
        }
        let mut hints = show_unseen(self.scope, &self.unseen);
        hints.extend(self.new_in_git.as_ref().map(NewInGit::hint));
        // A skill that no agent sees cannot be invoked. New requested skills come first.
        let is_new = |skill: &InstalledSkill| matches!(skill.change, Change::Added | Change::Updated);
        let seen = self.skills.iter().filter(|skill| !skill.disabled && skill.change != Change::Removed);
        if let Some(skill) = seen.min_by_key(|skill| (!is_new(skill), !skill.needed_by.is_empty())) {
            hints.push(message!(
                Verb::List,
                " shows what is installed, ",
                Verb::Invoke.call().word(&skill.name),
                " what an agent gets"
            ));
        } else if self.skills.is_empty() {
            hints.push(first_install(self.scope));
        }
        hints
    }

    /// Returns what was left as it is because it was edited.
    pub fn left_edited(&self) -> Option<Failure> {
        let them = match self.left_modified.len() {
            0 => return None,
            1 => "it",
            _ => "them",
        };
        let are =
            if them == "it" { "is edited and was left as is" } else { "are edited and were left as is" };
        let told = message!(
            format_args!("{} {are}: ", quoted(&self.left_modified)),
            Opt::Force,
            format_args!(" replaces {them}; the store keeps your copy")
        );
        Some(Failure::new(ErrorKind::Findings, told))
    }

    /// Returns what was left as it is because it cannot be read: warnings say why.
    pub fn left_unread(&self) -> Option<Failure> {
        let are = match self.left_unreadable.len() {
            0 => return None,
            1 => "cannot be read and was left as is",
            _ => "cannot be read and were left as is",
        };
        Some(Failure::new(ErrorKind::Findings, format!("{} {are}", quoted(&self.left_unreadable))))
    }

    /// Returns how to install what the requested list of skills, or of plugins, shows.
    pub fn list_hints(&self) -> Vec<Message> {
        let plugins = (!self.plugins.is_empty()).then(|| {
            message!(
                "name a plugin instead of ",
                Opt::List,
                " to install its skills, or after ",
                Opt::List,
                " to see them"
            )
        });
        let skills = self.available.iter().find(|skill| skill.problem.is_none()).map(|skill| {
            message!(
                (Opt::Skill, &skill.name),
                " instead of ",
                Opt::List,
                format_args!(" installs `{}`, ", skill.name),
                (Opt::Skill, "*"),
                " all"
            )
        });
        plugins.into_iter().chain(skills).collect()
    }
}

impl NewInGit {
    /// Returns what to do with the paths: either is right, and people wonder which.
    fn hint(&self) -> Message {
        let words: Vec<_> = self.paths.iter().map(shell_word).collect();
        let file = shell_word(&self.file);
        let ignore = format!(": `printf '%s\\n' {} >> {file}` makes git ignore them", words.join(" "));
        message!(
            "commit the skills too, and a clone has them at once; or leave them to ",
            Verb::Install,
            ignore
        )
    }
}

impl UpdateOutcome {
    /// Returns what to do next; conflicts have hints of their own.
    pub fn hints(&self) -> Vec<Message> {
        let (option, names) = allowed(&self.refused);
        let update = within(Verb::Update, self.scope).option(option, names);
        let is_refused = self.dry_run && !self.refused.is_empty();
        let refused = is_refused.then(|| message!(REVIEW, "run ", update));
        refused.into_iter().chain(self.elsewhere.clone()).collect()
    }

    /// Returns how to resolve the conflicts in `skill`.
    pub fn conflict_hint(&self, skill: &UpdatedSkill) -> Message {
        merges::resolve(within(Verb::Update, self.scope).word(&skill.name))
    }
}

impl RemoveOutcome {
    /// Returns how to take it back, unless the messages about saved copies say so.
    pub fn hints(&self) -> Vec<Message> {
        let number = self.removed.len() + self.unneeded.len();
        let them = if number == 1 { "it" } else { "them" };
        let undo = (!self.dry_run && self.undoable && self.kept.len() < number)
            .then(|| message!(within(Verb::Undo, self.scope), format_args!(" restores {them}")));
        undo.into_iter().collect()
    }
}

impl DisableOutcome {
    /// Returns how to enable again what was disabled.
    pub fn hints(&self, disabled: bool) -> Vec<Message> {
        let changed = self.skills.iter().filter(|skill| skill.changed && disabled && !self.dry_run);
        let changed: Vec<_> = changed.map(|skill| skill.name.as_str()).collect();
        let moved = self.steps.iter().any(|step| matches!(step, Step::Disable { .. }));
        let place = if moved { format!(", from `{}`", self.place) } else { String::new() };
        let enable = within(Verb::Enable, self.scope);
        let (them, they_are) = if changed.len() == 1 { ("it", "it is") } else { ("them", "they are") };
        let shows = format!(" shows {them} to agents again, as {they_are}{place}");
        if changed.is_empty() { Vec::new() } else { vec![message!(enable.words(changed), shows)] }
    }
}

impl LinkOutcome {
    /// Returns how to link for an agent that is not on this machine, if none is.
    pub fn hints(&self, linked: bool) -> Vec<Message> {
        if !linked || self.dry_run || !self.agents.is_empty() {
            return Vec::new();
        }
        vec![message!(
            (Opt::Agent, "NAME"),
            " links for one anyway; ",
            Verb::Agents.call().flag(Opt::All),
            " lists them"
        )]
    }
}

impl ImportOutcome {
    /// Returns what to do about what was not adopted as it is.
    pub fn hints(&self) -> Vec<Message> {
        if self.skills.is_empty() {
            let own = (self.scope != Some(ScopeKind::User)).then(|| Verb::Import.within(ScopeKind::User));
            let (between, after) = if own.is_some() { ("; ", " looks at your own skills") } else { ("", "") };
            let other = within(Verb::Import, self.scope).word("FILE");
            return vec![message!(other, " reads a lockfile elsewhere", between, own, after)];
        }
        let mut hints = Vec::new();
        if self.dry_run {
            return hints;
        }
        if let Some(skill) = self.skills.iter().find(|skill| skill.verdict == Verdict::Edited) {
            hints.push(message!(
                within(Verb::Install, self.scope).flag(Opt::Force),
                format_args!(
                    " installs the locked versions; the store keeps your edited copies, such as `{}`",
                    skill.name
                )
            ));
        }
        let is_unknown =
            |skill: &&ImportedSkill| skill.verdict == Verdict::Left && skill.found_in == FoundIn::Directory;
        let unknown = || self.skills.iter().filter(is_unknown);
        let can_be_kept = |skill: &&ImportedSkill| SkillName::exact(&skill.name).is_some();
        if let Some(skill) = unknown().find(can_be_kept).or_else(|| unknown().next()) {
            let name = &skill.name;
            if can_be_kept(&skill) {
                hints.push(message!(
                    within(Verb::Import, self.scope).word(name),
                    format_args!(" makes `{name}` your own: it moves to `skills/{name}`")
                ));
            }
            hints.push(message!(
                "where you know its source, ",
                within(Verb::Install, self.scope).word("SOURCE").option(Opt::Skill, name),
                " installs it from there"
            ));
        }
        hints
    }
}

impl UndoOutcome {
    /// Returns how to take it back.
    pub fn hints(&self) -> Vec<Message> {
        let again = || message!("run ", within(Verb::Undo, self.scope), " again to ");
        let to = match (self.dry_run, self.finished) {
            (true, _) => return Vec::new(),
            (false, true) => "redo the change",
            (false, false) if !self.undoable => return Vec::new(),
            (false, false) if self.redone => "undo it",
            (false, false) => "redo it",
        };
        vec![again().with(to)]
    }
}

impl RestoreOutcome {
    /// Returns how to take it back.
    pub fn hints(&self) -> Vec<Message> {
        let can_be = !self.dry_run && self.undoable && self.kept.is_empty() && !self.paths.is_empty();
        let undo = can_be.then(|| message!(within(Verb::Undo, self.scope), " undoes it"));
        undo.into_iter().collect()
    }
}

/// Returns how to restore one of `copies`: the first, by its digest if there are several of its name.
pub fn restore(copies: &[KeptCopy]) -> Option<Message> {
    let copy = copies.iter().find(|copy| copy.name.is_some())?;
    let name = copy.name.as_deref()?;
    let is_alone = copies.iter().filter(|other| other.name == copy.name).count() == 1;
    let id = if is_alone { name.to_owned() } else { format!("{name}@{}", copy.id()) };
    let back = if copies.len() == 1 { " brings it back" } else { " brings the first one back" };
    Some(message!(Verb::Undo.call().option(Opt::Restore, id), back))
}
