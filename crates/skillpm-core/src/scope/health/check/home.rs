//! Checks of the places of the skills themselves: the canonical copies and the disabled ones.

use std::path::Path;

use super::{broken, closed, leads_somewhere, restore, twins};
use crate::advice::{Opt, Verb, message};
use crate::error::Error;
use crate::fs;
use crate::lockfile::Locked;
use crate::name::SkillName;
use crate::scope::editable::Editable;
use crate::scope::health::inspection::{DesiredSkill, Inspection, LinkTarget, is_locked};
use crate::scope::health::{Finding, Remedy};
use crate::scope::merges;
use crate::scope::on_disk::OnDisk;
use crate::scope::problem;
use crate::scope::step::{Location, Step};
use crate::scope::trees::why_no_skill;
use crate::skill::SKILL_FILE;
use crate::text::shell_word;

/// Checks the content of the canonical directory, and finds what is missing there.
pub(super) fn canonical(look: &Inspection<'_>, found: &mut Vec<Finding>) {
    let dir = look.scope.skills_dir();
    let entries = match &look.canonical {
        Ok(entries) => entries,
        Err(fault) => return found.push(closed(&dir, fault)),
    };
    let locked = || look.locked().into_iter().flat_map(|lock| &lock.skills);
    twins(&dir, entries.keys().chain(&locked().map(|(name, _)| name.to_string()).collect::<Vec<_>>()), found);
    for (name, wish) in &look.desired {
        let finding = match &wish.editable {
            _ if wish.disabled => visible(look, name, wish),
            Some(editable) => editable_link(look, name, wish, editable),
            None => None,
        };
        found.extend(finding.map(|finding| finding.skill(name.as_str())));
    }
    for (name, locked) in locked() {
        let wish = look.desired.get(name);
        if wish.is_some_and(|wish| wish.editable.is_some()) {
            continue;
        }
        found.extend(tree_of(look, name, locked, wish).map(|finding| finding.skill(name.as_str())));
    }
    // Links that other tools made from the canonical directory into their own places.
    for (name, there) in entries {
        let known = look.locked().is_some_and(|lock| is_locked(lock, name))
            || SkillName::new(name).is_ok_and(|name| look.desired.contains_key(&name));
        if let (false, Some((target, LinkTarget::Nowhere | LinkTarget::Canonical(_)))) =
            (known, look.link(&dir, name, there))
            && !leads_somewhere(look, &dir, name, there)
        {
            let path = dir.join(name);
            found.push(broken(&path, &target).skill(name));
        }
    }
}

/// Returns the finding for a disabled skill that is where agents see it.
fn visible(look: &Inspection<'_>, name: &SkillName, wish: &DesiredSkill) -> Option<Finding> {
    look.canonical(name)?;
    let path = look.scope.skill_dir(name);
    let also = match look.disabled(name) {
        Some(_) => format!(", and in `{}` too", look.scope.disabled_skill_dir(name).display()),
        None => String::new(),
    };
    let message = format!("`{name}` is disabled, but agents see it in `{}`{also}", path.display());
    Some(at_home(look, Finding::new(&problem::DISABLED_VISIBLE, path, message), wish))
}

/// Returns the finding for the directory of an editable skill that is not disabled, or for the link to it.
fn editable_link(
    look: &Inspection<'_>,
    name: &SkillName,
    wish: &DesiredSkill,
    editable: &Result<Editable, Error>,
) -> Option<Finding> {
    let path = look.scope.skill_dir(name);
    let editable = match editable {
        Ok(editable) => editable,
        Err(error) => {
            let finding = Finding::new(&problem::EDITABLE_GONE, path, error.message().clone());
            let hint = error.hints().first().cloned();
            return Some(
                finding.advice(hint.unwrap_or_else(|| "correct its entry in `skillpm.toml`".into())),
            );
        }
    };
    let (shown, to) = (path.display(), editable.directory.display());
    let there = look.canonical(name);
    let leads = there.and_then(|there| look.link(&look.scope.skills_dir(), name.as_str(), there));
    let message = match (there, leads) {
        (_, Some((target, _))) if editable.link.says(&target) => return None,
        (_, Some((target, _))) => {
            format!("`{name}` is editable, but `{shown}` leads to `{}`, not to `{to}`", target.display())
        }
        (None, _) => format!("`{name}` is editable, but `{shown}` does not exist"),
        (Some(_), None) => format!("`{name}` is editable, but `{shown}` is not a link to `{to}`"),
    };
    Some(at_home(look, Finding::new(&problem::EDITABLE_LINK, path, message), wish))
}

/// Returns the finding for the tree of a locked skill, wherever it should be.
fn tree_of(
    look: &Inspection<'_>,
    name: &SkillName,
    locked: &Locked,
    wish: Option<&DesiredSkill>,
) -> Option<Finding> {
    let (canonical, in_disabled) = (look.canonical(name), look.disabled(name));
    // If it is unknown what is requested, any place is right.
    let disabled = wish.map_or(canonical.is_none() && in_disabled.is_some(), |wish| wish.disabled);
    let disabled_dir = look.scope.disabled_skill_dir(name);
    if disabled && in_disabled.is_none() && canonical.is_some() {
        // The wrong place has its own finding.
        return None;
    }
    if let (false, None, Some(OnDisk::Tree(_)), Some(wish)) = (disabled, canonical, in_disabled, wish) {
        let message =
            format!("`{name}` is not disabled, but is where no agent looks, in `{}`", disabled_dir.display());
        return Some(at_home(
            look,
            Finding::new(&problem::SKILL_MISSING, look.scope.skill_dir(name), message),
            wish,
        ));
    }
    let (place, path, there) = if disabled {
        (Location::Disabled, disabled_dir, in_disabled)
    } else {
        (Location::Canonical, look.scope.skill_dir(name), canonical)
    };
    let shown = path.display();
    Some(match there {
        None | Some(OnDisk::Absent) => {
            let message = format!("`{name}` is locked, but `{shown}` is missing");
            let missing = Finding::new(&problem::SKILL_MISSING, &path, message);
            if look.stored.contains(name) {
                let put = Step::Put { place, name: name.clone(), digest: locked.digest, replaces: None };
                missing.remedy(Remedy::Steps(vec![put]))
            } else {
                missing.advice(restore(look))
            }
        }
        Some(OnDisk::Tree(digest)) if *digest == Some(locked.digest) => return tool_files(look, &path),
        Some(OnDisk::Tree(Some(_))) if look.scope.index.trees().is_other_line_ends(&path) => {
            let message = format!("`{shown}` differs from what is locked in line ends only");
            let finding = Finding::new(&problem::LINE_ENDS, &path, message);
            finding.advice(message!(
                Verb::Install.within(look.scope.kind),
                " brings back those that are locked; `* -text` in `.agents/.gitattributes` keeps git from changing them"
            ))
        }
        Some(OnDisk::Tree(digest)) => {
            if digest.is_none()
                && let Some(error) = why_no_skill(&path)
            {
                let message =
                    message!(format_args!("`{shown}` may not be what is locked: "), error.with_causes());
                let install = Verb::Install.within(look.scope.kind);
                let advice = message!("fix that, or move the directory away and run ", install);
                Finding::new(&problem::SKILL_UNREADABLE, &path, message).advice(advice)
            } else if matches!(fs::kind(&path.join(SKILL_FILE)), Ok(None)) {
                let message = format!("`{shown}` has no `{SKILL_FILE}`: no agent finds the skill");
                let install = Verb::Install.within(look.scope.kind).flag(Opt::Force);
                let advice = message!(install, " restores what is locked; the store keeps your copy");
                Finding::new(&problem::SKILL_UNREADABLE, &path, message).advice(advice)
            } else {
                wish.and_then(|wish| unmerged(look, name, &path, wish)).unwrap_or_else(|| {
                    let message = format!("`{shown}` is not what is locked: it was edited");
                    Finding::new(&problem::SKILL_EDITED, &path, message)
                })
            }
        }
        Some(_) => {
            let message = format!("`{shown}` is not a directory, but `{name}` is locked");
            let advice = message!("move it away, then run ", Verb::Install.within(look.scope.kind));
            Finding::new(&problem::SKILL_NO_DIRECTORY, &path, message).advice(advice)
        }
    })
}

/// Returns the finding for leftovers of tools in the skill at `path`, which matches the lockfile.
fn tool_files(look: &Inspection<'_>, path: &Path) -> Option<Finding> {
    let leftovers = look.scope.index.leftovers(path);
    let first = leftovers.first()?;
    let more = match leftovers.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = path.display();
    let message = format!("tools left `{first}`{more} in `{shown}`; this is not an edit");
    Some(Finding::new(&problem::TOOL_FILES, path, message).advice(message!(
        "remove it if you like: ",
        Verb::Verify.call().flag(Opt::Verbose),
        " lists all of it"
    )))
}

/// Returns the finding for unresolved conflicts from an update in the skill at `path`.
fn unmerged(look: &Inspection<'_>, name: &SkillName, path: &Path, wish: &DesiredSkill) -> Option<Finding> {
    match &wish.merge {
        Ok(false) => None,
        Ok(true) => {
            let message = format!("`{}` has unresolved conflicts of an update", path.display());
            let advice = merges::resolve(Verb::Update.within(look.scope.kind).word(name));
            Some(Finding::new(&problem::MERGE_UNFINISHED, path, message).advice(advice))
        }
        Err(error) => {
            let message = message!(
                format_args!("`{}` may have conflicts of an update in it: ", path.display()),
                error.with_causes()
            );
            let hint = error.hints().first().cloned().unwrap_or_else(|| "check its files".into());
            Some(Finding::new(&problem::MERGE_UNFINISHED, path, message).advice(hint))
        }
    }
}

/// Returns `finding` with the remedy that an installation would apply.
fn at_home(look: &Inspection<'_>, finding: Finding, wish: &DesiredSkill) -> Finding {
    match &wish.home {
        Ok(steps) if !steps.is_empty() => finding.remedy(Remedy::Steps(steps.clone())),
        Ok(_) => finding.advice(message!("move it away, then run ", Verb::Install.within(look.scope.kind))),
        Err(error) => {
            let advice = message!(
                format_args!("{error}: keep what you need of it, move it away, and run "),
                Verb::Doctor.call().flag(Opt::Fix)
            );
            finding.advice(advice)
        }
    }
}

/// Checks the directory of disabled skills for anything else.
pub(super) fn disabled(look: &Inspection<'_>, found: &mut Vec<Finding>) {
    let dir = look.scope.disabled_dir();
    let entries = match &look.disabled {
        Ok(entries) => entries,
        Err(fault) => return found.push(closed(&dir, fault)),
    };
    // Without a readable manifest, it is unknown what is disabled.
    if look.manifest.is_err() {
        return;
    }
    for text in entries.keys() {
        let name = SkillName::exact(text);
        let wish = name.as_ref().and_then(|name| look.desired.get(name));
        let locked = look.locked().is_some_and(|lock| is_locked(lock, text));
        let there = name.as_ref().is_some_and(|name| look.canonical(name).is_some());
        let is_asked = |name| look.asked().is_some_and(|manifest| manifest.skills().contains_key(name));
        let asked = name.as_ref().is_some_and(is_asked);
        let path = dir.join(text);
        let finding = match wish {
            Some(wish) if wish.disabled && wish.editable.is_none() => continue,
            // A missing skill, or one that nothing requests, has its own finding.
            Some(wish) if !there && wish.editable.is_none() => continue,
            None if locked || name.as_ref().is_some_and(|name| look.left.contains(name)) => continue,
            // That it is not locked has its own finding.
            None if asked => continue,
            Some(wish) => {
                let what = if wish.disabled { "editable" } else { "not disabled" };
                let message = format!("`{text}` is {what}, but a copy of it is in `{}`", path.display());
                at_home(look, Finding::new(&problem::DISABLED_LEFTOVER, &path, message), wish)
            }
            None => {
                let message =
                    format!("`{}` is among the disabled skills, but nothing requests it", path.display());
                Finding::new(&problem::DISABLED_LEFTOVER, &path, message).advice(format!(
                    "keep what you need of it, then remove it: `rm -r {}`",
                    shell_word(&path)
                ))
            }
        };
        found.push(finding.skill(text));
    }
}
