//! Hints about the skills of a project or a machine, after verbs that only read.

use super::shared::within;
use crate::advice::{Message, Opt, Verb, message};
use crate::ops::agents::{AgentView, AgentsOutcome, ListedState, ListedView, ListingView};
use crate::ops::audit::AuditOutcome;
use crate::ops::catalog::CatalogOutcome;
use crate::ops::diff::{DiffKind, DiffOutcome, SkillDiff};
use crate::ops::doctor::DoctorOutcome;
use crate::ops::outdated::{OutdatedOutcome, OutdatedSkill};
use crate::ops::policy::PolicyOutcome;
use crate::ops::search::SearchOutcome;
use crate::ops::show::ShowOutcome;
use crate::ops::tools::ToolsOutcome;
use crate::ops::trust::TrustOutcome;
use crate::ops::verify::{VerifiedPlace, VerifiedSkill, VerifyOutcome};
use crate::ops::why::WhyOutcome;
use crate::scope::editable::put_back;
use crate::scope::state::SkillState;
use crate::scope_kind::ScopeKind;
use crate::updates::Status;

const SCOPES: [ScopeKind; 2] = [ScopeKind::Project, ScopeKind::User];

/// Returns the suggestion of `names` instead of what was typed.
fn meant(names: &[String]) -> Option<Message> {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| message!(format_args!("did you mean {}?", names.join(" or "))))
}

impl AgentsOutcome {
    /// Returns where to look further.
    pub fn hints(&self) -> Vec<Message> {
        if self.agents.is_empty() {
            return vec![message!(
                Verb::Agents.call().flag(Opt::All),
                " lists the agents that skillpm knows, and where they read"
            )];
        }
        let mut over =
            self.agents.iter().filter_map(|agent| agent.listing.as_ref()).filter(|it| it.is_over());
        if let Some(room) = over.find_map(make_room) {
            return vec![room];
        }
        // What an agent lists says more, where that is known.
        let is_twice =
            |agent: &&AgentView| agent.listing.is_none() && agent.twice.iter().any(|twice| !twice.same);
        let twice = self.agents.iter().find(is_twice).map(|agent| {
            message!(Verb::Agents.call().word(agent.id), " shows which skills it finds twice, and where")
        });
        twice.into_iter().collect()
    }
}

/// Returns how all that `listing` holds gets room: without the skills that take the most of it, as far as skillpm can take
/// them out of sight. A list of many would be no help: what is not used can go first.
fn make_room(listing: &ListingView) -> Option<Message> {
    const FEW: usize = 5;
    let mut over = listing.whole?.saturating_sub(listing.budget?);
    let takes = |skill: &&ListedView| {
        skill.installed.is_some()
            && !matches!(
                skill.state,
                ListedState::Hidden | ListedState::Shadowed | ListedState::NotLoaded | ListedState::Contested
            )
    };
    let mut largest: Vec<_> = listing.skills.iter().filter(takes).collect();
    largest.sort_by_key(|skill| std::cmp::Reverse(skill.size));
    largest.retain(|skill| {
        let goes = over > 0;
        over = over.saturating_sub(skill.size);
        goes
    });
    if largest.is_empty() {
        return None;
    }
    let number = largest.len();
    if over > 0 || number >= listing.listed() {
        return Some(message!("there is no room for all: ", Verb::Usage, " shows which are not used"));
    }
    if number > FEW {
        let room = format!("the others have room once {number} of the longest are disabled: ");
        return Some(message!(room, Verb::Usage, " shows which are not used"));
    }
    let name = |skill: &&ListedView| {
        Some(std::path::Path::new(&skill.file).parent()?.file_name()?.to_str()?.to_owned())
    };
    let call = |scope| {
        let names: Vec<_> =
            largest.iter().filter(|skill| skill.installed == Some(scope)).filter_map(name).collect();
        (!names.is_empty()).then(|| Message::default().with(Verb::Disable.within(scope).words(&names)))
    };
    let calls: Vec<_> = SCOPES.into_iter().filter_map(call).collect();
    let make = if calls.len() == 1 { " makes room for the others" } else { " make room for the others" };
    Some(message!(Message::joined(calls, " and "), make))
}

impl AuditOutcome {
    /// Returns how to switch the log on.
    pub fn hints(&self) -> Vec<Message> {
        let off = self.file.is_none().then(|| {
            message!("unset `SKILLPM_AUDIT` to switch it on; without a home directory, set it to a file")
        });
        off.into_iter().collect()
    }
}

impl CatalogOutcome {
    /// Returns how to make the catalog smaller, if it must be.
    pub fn hints(&self) -> Vec<Message> {
        let over = self.catalog.is_over_budget().then(|| {
            message!(
                (Opt::Fields, "name"),
                " leaves out everything else; ",
                Opt::Tag,
                " and ",
                Opt::Agent,
                " choose skills"
            )
        });
        over.into_iter().collect()
    }
}

impl DiffOutcome {
    /// Returns how to undo what git did to line ends.
    pub fn hints(&self) -> Vec<Message> {
        let is_converted = |skill: &SkillDiff, scope| {
            skill.scope == scope && skill.line_ends && skill.new.what == DiffKind::Installed
        };
        let scopes =
            SCOPES.into_iter().filter(|scope| self.skills.iter().any(|skill| is_converted(skill, *scope)));
        scopes.map(bring_back_line_ends).collect()
    }
}

impl DoctorOutcome {
    /// Returns how to repair what can be repaired.
    pub fn hints(&self) -> Vec<Message> {
        let fixable = self.wrong().filter(|finding| finding.fix.is_some()).count();
        let fix = (fixable > 0).then(|| {
            let them =
                format_args!(" repairs {fixable} of them; nothing that you wrote is removed").to_string();
            message!(Verb::Doctor.call().flag(Opt::Fix), them)
        });
        fix.into_iter().collect()
    }
}

impl OutdatedOutcome {
    /// Returns how to get what is newer.
    pub fn hints(&self) -> Vec<Message> {
        let may_come = |skill: &OutdatedSkill| {
            let is_new = matches!(skill.status, Status::Changed | Status::Moved | Status::Unknown);
            is_new && skill.held_back.is_none()
        };
        let mut hints = Vec::new();
        if let Some((updates, one)) = self.updates(&[], may_come) {
            hints.push(message!(
                Verb::Diff.call().flag(Opt::Newest).words(self.names(None, may_come)),
                " shows what would change, ",
                updates,
                if one { " installs it" } else { " install it" }
            ));
        }
        if let Some((updates, one)) = self.updates(&[Opt::Latest], |skill| skill.latest.is_some()) {
            let end = if one {
                " goes past the versions that the manifest names"
            } else {
                " go past the versions that the manifests name"
            };
            hints.push(message!(updates, end));
        }
        hints
    }

    /// Returns the names of those of the skills, of `scope` or of all, that are `wanted`, if skills were named.
    fn names(&self, scope: Option<ScopeKind>, wanted: impl Fn(&OutdatedSkill) -> bool) -> Vec<&str> {
        let is_meant = |skill: &&OutdatedSkill| {
            self.named && wanted(skill) && scope.is_none_or(|scope| skill.scope == scope)
        };
        self.skills.iter().filter(is_meant).map(|skill| skill.name.as_str()).collect()
    }

    /// Returns the calls that update those of the skills that are `wanted`, one for each scope, and whether it is a
    /// single one.
    fn updates(&self, how: &[Opt], wanted: impl Fn(&OutdatedSkill) -> bool) -> Option<(Message, bool)> {
        let is_in =
            |scope: &ScopeKind| self.skills.iter().any(|skill| skill.scope == *scope && wanted(skill));
        let call = |scope| {
            let names = self.names(Some(scope), &wanted);
            how.iter().fold(Verb::Update.within(scope).words(names), |call, option| call.flag(*option))
        };
        let calls: Vec<_> =
            SCOPES.into_iter().filter(is_in).map(|scope| Message::default().with(call(scope))).collect();
        let one = calls.len() == 1;
        (!calls.is_empty()).then(|| (Message::joined(calls, " and "), one))
    }
}

impl PolicyOutcome {
    /// Returns where to write a policy, if none exists.
    pub fn hints(&self) -> Vec<Message> {
        if !self.sources.is_empty() || !self.lines.is_empty() {
            return Vec::new();
        }
        vec![message!(
            "write one as `[policy]` in `skillpm.toml`, or in `/etc/skillpm/policy.toml` for the whole machine"
        )]
    }
}

impl SearchOutcome {
    /// Returns what else to look for, or how to see the rest.
    pub fn hints(&self) -> Vec<Message> {
        let shown = self.skills.len();
        let more = (0 < shown && shown < self.total).then(|| {
            message!(
                format_args!("{shown} of {} matches are shown: ", self.total),
                (Opt::Limit, self.total),
                " shows all"
            )
        });
        let meant = meant(&self.suggestions).filter(|_| shown == 0);
        meant.into_iter().chain(more).collect()
    }
}

impl ShowOutcome {
    /// Returns where to see what does not follow the specification.
    pub fn hints(&self) -> Vec<Message> {
        let places = self
            .faults()
            .next()
            .is_some()
            .then(|| message!(Verb::Validate.call().word(&self.file), " shows the places"));
        places.into_iter().collect()
    }
}

impl ToolsOutcome {
    /// Returns what makes a script a tool, if no script is one.
    pub fn hints(&self) -> Vec<Message> {
        if !self.tools.is_empty() {
            return Vec::new();
        }
        vec![message!(
            "tools are the files in a skill's `scripts/` that end in `.py`, `.sh` or `.js`, or begin with `#!`"
        )]
    }
}

impl TrustOutcome {
    /// Returns how to revoke the trust in the directories of this change.
    pub fn change_hints(&self, trusted: bool) -> Vec<Message> {
        if !trusted || self.changed.is_empty() {
            return Vec::new();
        }
        vec![message!(Verb::Untrust.call().words(&self.changed), " revokes that")]
    }

    /// Returns how to trust a directory, if none is trusted.
    pub fn hints(&self) -> Vec<Message> {
        if !self.directories.is_empty() {
            return Vec::new();
        }
        vec![message!(Verb::Trust.call().word("."), " allows scripts of unlocked skills in this directory")]
    }
}

impl VerifyOutcome {
    /// Returns what to do, for each scope: a command acts on one.
    pub fn hints(&self) -> Vec<Message> {
        let mut hints = Vec::new();
        if self.skills.iter().any(|skill| self.strict && skill.has_code()) {
            hints.push(message!(
                "unlocked files were not reviewed: remove them, or keep them out of version control"
            ));
        }
        for scope in SCOPES {
            let skills: Vec<_> = self.skills.iter().filter(|skill| skill.scope == scope).collect();
            hints.extend(restore(scope, &skills));
        }
        hints
    }
}

/// Returns advice about the `skills` of `scope`, if there is any.
fn restore(scope: ScopeKind, skills: &[&VerifiedSkill]) -> Option<Message> {
    let places = || skills.iter().flat_map(|skill| &skill.places);
    let is_there = |wanted| places().any(|place| place.verdict == wanted);
    if let Some(skill) = skills.iter().find(|skill| skill.verdict == SkillState::Conflict) {
        let name = &skill.name;
        return Some(message!(
            format_args!("resolve the conflicts in `{name}`, or run "),
            Verb::Update.within(scope).word(name),
            " with ",
            Opt::Ours,
            ", ",
            Opt::Theirs,
            " or ",
            Opt::Abort
        ));
    }
    let is_edited = |place: &VerifiedPlace| place.verdict == SkillState::Modified && place.found.is_some();
    let is_gone = |skill: &&&VerifiedSkill| skill.source_gone && skill.verdict == SkillState::Missing;
    let install = || Verb::Install.within(scope);
    // If something other than a skill is there, nothing is gained by force.
    if places().any(is_edited) {
        Some(message!(install().flag(Opt::Force), " restores what is locked; the store keeps your copy"))
    } else if let Some(gone) = skills.iter().find(is_gone) {
        let name = &gone.name;
        Some(message!(
            format_args!("`{name}` is editable, but its directory is gone: "),
            put_back(scope, name)
        ))
    } else if is_there(SkillState::LineEnds) {
        Some(bring_back_line_ends(scope))
    } else if is_there(SkillState::Elsewhere) {
        // They are in the way of an installation.
        Some(message!(Verb::Doctor.within(scope), " shows what to do about links"))
    } else if is_there(SkillState::Missing) {
        Some(message!(install(), " restores what is missing"))
    } else {
        None
    }
}

fn bring_back_line_ends(scope: ScopeKind) -> Message {
    message!(
        Verb::Install.within(scope),
        " brings back the line ends that are locked; `* -text` in `.agents/.gitattributes` keeps git from changing them"
    )
}

impl WhyOutcome {
    /// Returns where to look, if the skill is not installed.
    pub fn hints(&self) -> Vec<Message> {
        if !self.installed.is_empty() {
            return Vec::new();
        }
        vec![match &self.closest {
            Some(close) => message!("did you mean ", within(Verb::Why, self.scope).word(close), "?"),
            None => message!(within(Verb::List, self.scope), " shows what is installed"),
        }]
    }
}
