//! Hints about the skills of a listing.

use super::shared::within;
use super::{first_install, show_unseen};
use crate::advice::{Message, Opt, Verb, message};
use crate::agents::Agent;
use crate::manifest;
use crate::ops::list::{ListOutcome, ListedSkill, SkillState};
use crate::scope::claims::FoundIn;
use crate::scope::editable::put_back;
use crate::scope_kind::ScopeKind;

const SCOPES: [ScopeKind; 2] = [ScopeKind::Project, ScopeKind::User];

/// Returns the hints for `outcome`, which was requested for `scope` alone or for both.
pub(crate) fn of(outcome: &ListOutcome, scope: Option<ScopeKind>) -> Vec<Message> {
    if outcome.skills.is_empty() {
        let adopt = outcome.other_lock.as_ref().map(|lock| adopt(ScopeKind::Project, lock));
        return vec![adopt.unwrap_or_else(|| first_install(scope))];
    }
    let mut hints: Vec<Message> = SCOPES.iter().filter_map(|scope| missing(outcome, *scope)).collect();
    let first = |state| outcome.skills.iter().find(move |skill: &&ListedSkill| skill.state == state);
    hints.extend(first(SkillState::LineEnds).map(|skill| {
        message!(
            "git or an editor changed line ends, and nothing else: ",
            Verb::Install.within(skill.scope),
            " brings back those that are locked"
        )
    }));
    hints.extend(SCOPES.iter().flat_map(|scope| unknown(outcome, *scope)));
    // No agent sees a skill that is not installed.
    let is_whole = |scope| {
        let lacks = |skill| is_missing(skill, scope) || is_unlocked(skill, scope);
        !outcome.skills.iter().any(lacks)
    };
    let unseen = outcome.unseen.iter().filter(|(scope, _)| is_whole(*scope));
    hints.extend(unseen.flat_map(|(scope, unseen)| show_unseen(Some(*scope), unseen)));
    hints.extend(
        first(SkillState::Conflict).map(|skill| {
            message!(Verb::Update.within(skill.scope).word(&skill.name), " shows what to resolve")
        }),
    );
    let edited = outcome.skills.iter().find_map(|skill| Some((skill, skill.edited_copies.first()?)));
    hints.extend(edited.map(|(skill, agent)| {
        message!(
            format_args!("{agent}'s copy of `{}` was edited: ", skill.name),
            Verb::Doctor,
            " shows where it is"
        )
    }));
    hints
}

/// Returns how to show `agent`, which sees none of them, the skills `names`, or all that are there.
pub(crate) fn show_to(agent: &Agent, scope: Option<ScopeKind>, names: &[String]) -> Message {
    message!(
        within(Verb::Link, scope).option(Opt::Agent, agent.id).words(names),
        format_args!(" shows them to {}", agent.name)
    )
}

fn is_missing(skill: &ListedSkill, scope: ScopeKind) -> bool {
    skill.scope == scope && skill.outer.is_none() && skill.state == SkillState::Missing
}

fn is_unlocked(skill: &ListedSkill, scope: ScopeKind) -> bool {
    skill.scope == scope && skill.outer.is_none() && skill.state == SkillState::Unlocked
}

/// Returns how to restore what is missing in `scope`.
fn missing(outcome: &ListOutcome, scope: ScopeKind) -> Option<Message> {
    let mut missing = outcome.skills.iter().filter(|skill| is_missing(skill, scope)).peekable();
    missing.peek()?;
    Some(match missing.find(|skill| skill.source_gone) {
        Some(gone) => message!(
            format_args!("`{}` is editable, but its directory is gone: ", gone.name),
            put_back(scope, &gone.name)
        ),
        None => message!(Verb::Install.within(scope), " installs what is missing"),
    })
}

/// Returns how to adopt the skills in `scope` that skillpm did not install.
fn unknown(outcome: &ListOutcome, scope: ScopeKind) -> Vec<Message> {
    let of_scope =
        |skill: &&ListedSkill| skill.scope == scope && skill.outer.is_none() && skill.state.is_unknown();
    let unknown = || outcome.skills.iter().filter(of_scope);
    let by_tool = |skill: &&ListedSkill| skill.found_in.is_some_and(|found| found.tool().is_some());
    if outcome.skills.iter().any(|skill| is_unlocked(skill, scope)) {
        return vec![message!(
            Verb::Install.within(scope),
            format_args!(" locks what `{}` asks for", manifest::FILE_NAME)
        )];
    }
    let mut hints = Vec::new();
    if let Some(skill) = unknown().find(by_tool) {
        hints.push(message!(
            Verb::Import.within(scope),
            format_args!(" adopts what other tools installed, such as `{}`, or says why not", skill.name)
        ));
    } else if let (ScopeKind::Project, Some(lock)) = (scope, &outcome.other_lock) {
        hints.push(adopt(scope, lock));
    }
    hints.extend(unknown().find(|skill| skill.found_in == Some(FoundIn::Directory)).map(|skill| {
        message!(
            format_args!("`{}` was not installed by skillpm: ", skill.name),
            Verb::Import.within(scope).word(&skill.name),
            " adopts it"
        )
    }));
    hints
}

fn adopt(scope: ScopeKind, lock: &str) -> Message {
    message!(Verb::Import.within(scope), format_args!(" adopts the skills that `{lock}` names"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a skill in a state.
    fn skill(name: &str, state: SkillState, scope: ScopeKind) -> ListedSkill {
        ListedSkill {
            name: name.to_owned(),
            version: None,
            scope,
            source: None,
            path: None,
            revision: None,
            digest: None,
            agents: Vec::new(),
            edited_copies: Vec::new(),
            state,
            modified: false,
            alias_of: None,
            disabled: false,
            editable: false,
            location: String::new(),
            source_type: None,
            source_url: None,
            requested: None,
            dependencies: Vec::new(),
            seen_by: Vec::new(),
            found_in: None,
            outer: None,
            source_gone: false,
        }
    }

    fn hints(skills: Vec<ListedSkill>) -> Vec<String> {
        of(&ListOutcome { skills, ..ListOutcome::default() }, None).iter().map(Message::to_string).collect()
    }

    /// Each hint is about one scope: the command does not restore the other.
    #[test]
    fn what_is_missing_is_told_by_scope() {
        let missing = |scope| skill("docx", SkillState::Missing, scope);
        let of_user = hints(vec![missing(ScopeKind::User)]);
        assert_eq!(of_user, ["`install` with `scope=user` installs what is missing"]);
        let both = hints(vec![missing(ScopeKind::Project), missing(ScopeKind::User)]);
        assert_eq!(both, ["`install` installs what is missing", &of_user[0]]);
    }

    /// No installation restores the directory of an editable skill.
    #[test]
    fn what_to_do_about_a_directory_that_is_gone() {
        let mut gone = skill("brand", SkillState::Missing, ScopeKind::User);
        gone.source_gone = true;
        assert_eq!(
            hints(vec![gone]),
            [
                "`brand` is editable, but its directory is gone: restore the directory, or remove the skill with \
              `remove brand` with `scope=user`"
            ]
        );
    }

    #[test]
    fn what_others_installed_can_be_adopted() {
        let mut theirs = skill("theirs", SkillState::Foreign, ScopeKind::Project);
        theirs.found_in = Some(FoundIn::GhSkill);
        let mut own = skill("own", SkillState::Foreign, ScopeKind::Project);
        own.found_in = Some(FoundIn::Directory);
        assert_eq!(
            hints(vec![theirs, own]),
            [
                "`import` adopts what other tools installed, such as `theirs`, or says why not",
                "`own` was not installed by skillpm: `import own` adopts it"
            ]
        );
    }
}
