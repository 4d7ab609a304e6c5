//! `link` and `unlink`: a line for each link or copy that was added or removed.

use std::collections::BTreeSet;

use super::{and, count, install, quoted, steps};
use crate::cli::printer::Printer;
use crate::cli::words::worded;
use skillpm_core::ops::link::LinkOutcome;
use skillpm_core::scope::plan::{Location, Step};
use skillpm_format::advice::Warning;
use skillpm_format::codes;

/// Shows the changes. `named` says whether the user named skills.
pub(crate) fn show(printer: &Printer, outcome: &LinkOutcome, linked: bool, named: bool) {
    if outcome.dry_run {
        steps::plan(printer, &outcome.paths);
    } else {
        done(printer, outcome, linked, named);
    }
    // Whoever needs no link has what was asked for.
    let is_note = |warning: &&Warning| warning.code == codes::AGENT_NEEDS_NO_LINK;
    let (notes, warnings): (Vec<_>, Vec<_>) = outcome.warnings.iter().partition(is_note);
    for note in notes {
        printer.note(&worded(&note.message));
    }
    printer.warnings(warnings);
}

pub(crate) fn json(printer: &Printer, outcome: &LinkOutcome) {
    printer.json(outcome);
    printer.warnings(&outcome.warnings);
}

fn done(printer: &Printer, outcome: &LinkOutcome, linked: bool, named: bool) {
    let mut skills = BTreeSet::new();
    for step in &outcome.steps {
        let (Location::Agent(agent), name) = step.place() else { continue };
        // A link that replaces a copy is a removal and an addition.
        if linked == matches!(step, Step::Link { .. } | Step::Put { .. }) {
            skills.insert(name);
            printer.status(if linked { "+" } else { "-" }, &format!("{name} for {agent}"));
        }
    }
    let agents = and(&outcome.linked_agents);
    // Skills that the user did not name are not mentioned.
    let of = if named {
        let names: Vec<_> = outcome.skills.iter().map(|skill| &skill.name).collect();
        format!(" of {}", quoted(&names))
    } else {
        String::new()
    };
    let word = if linked { "linked" } else { "unlinked" };
    if outcome.agents.is_empty() {
        // `*` may match no agent.
        if linked {
            printer.note("nothing to link: no agent was found on this machine");
            printer.hints(&outcome.hints(linked));
        } else {
            printer.note(&format!("no link{of} is left for any agent"));
        }
    } else if outcome.linked_agents.is_empty() {
        // The note says all.
    } else if outcome.skills.is_empty() {
        // None of those that were named is installed yet, which the warnings say.
        if !named && linked {
            printer.note(&format!("{agents} get links with the next installation"));
        }
    } else if skills.is_empty() {
        let word = if linked { "missing" } else { "left" };
        printer.note(&format!("no link{of} is {word} for {agents}"));
    } else {
        printer.note(&format!("{} {word} for {agents}", count(skills.len(), "skill")));
    }
    install::files(printer, outcome.scope, outcome.files);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::appearance::Appearance;
    use crate::cli::printer::testing::printer;
    use skillpm_core::ops::link::LinkedSkill;
    use skillpm_core::scope::plan::ChangedFiles;
    use skillpm_format::scope_kind::ScopeKind;

    fn outcome(steps: Vec<Step>) -> LinkOutcome {
        LinkOutcome {
            scope: Some(ScopeKind::User),
            agents: vec!["cursor".to_owned(), "junie".to_owned()],
            linked_agents: vec!["cursor".to_owned(), "junie".to_owned()],
            files: ChangedFiles { manifest: !steps.is_empty(), lockfile: true },
            steps,
            skills: vec![LinkedSkill { name: "pdf".to_owned(), agents: Vec::new() }],
            warnings: vec![Warning::new("odd", "odd")],
            ..LinkOutcome::default()
        }
    }

    #[test]
    fn a_line_for_each_link() {
        let name = || "pdf".parse().unwrap();
        let link = |agent: &str| Step::Link { agent: agent.to_owned(), name: name() };
        let (talking, out, err) = printer(Appearance::PLAIN);
        show(&talking, &outcome(vec![link("cursor"), link("junie")]), true, false);
        show(
            &talking,
            &outcome(vec![Step::Unlink { place: Location::Agent("junie".to_owned()), name: name() }]),
            false,
            false,
        );
        show(&talking, &outcome(Vec::new()), true, false);
        show(&talking, &outcome(Vec::new()), false, false);
        assert_eq!(out.text(), "");
        insta::assert_snapshot!(err.text(), @"
        + pdf for cursor
        + pdf for junie
        1 skill linked for cursor and junie
        `skillpm.toml` and `skillpm.lock` changed
        warning: odd
        - pdf for junie
        1 skill unlinked for cursor and junie
        `skillpm.toml` and `skillpm.lock` changed
        warning: odd
        no link is missing for cursor and junie
        `skillpm.lock` changed
        warning: odd
        no link is left for cursor and junie
        `skillpm.lock` changed
        warning: odd
        ");
    }

    /// Other skills may have links or not.
    #[test]
    fn only_the_skills_that_were_named_are_told_of() {
        let skills = vec![LinkedSkill { name: "pdf".to_owned(), agents: Vec::new() }];
        let named = LinkOutcome { skills, warnings: Vec::new(), ..outcome(Vec::new()) };
        let nobody = LinkOutcome { agents: Vec::new(), ..named.clone() };
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &named, true, true);
        show(&talking, &named, false, true);
        show(&talking, &nobody, false, true);
        insta::assert_snapshot!(err.text(), @"
        no link of `pdf` is missing for cursor and junie
        `skillpm.lock` changed
        no link of `pdf` is left for cursor and junie
        `skillpm.lock` changed
        no link of `pdf` is left for any agent
        `skillpm.lock` changed
        ");
    }

    /// `--agent '*'` if there is no agent.
    #[test]
    fn nobody_is_told_as_such() {
        let nobody =
            LinkOutcome { agents: Vec::new(), files: ChangedFiles::default(), ..outcome(Vec::new()) };
        let (talking, _, err) = printer(Appearance::PLAIN);
        show(&talking, &nobody, true, false);
        show(&talking, &nobody, false, false);
        insta::assert_snapshot!(err.text(), @"
        nothing to link: no agent was found on this machine
        hint: `--agent NAME` links for one anyway; `skillpm agents --all` lists them
        warning: odd
        no link is left for any agent
        warning: odd
        ");
    }

    #[test]
    fn json_has_all_of_it() {
        let (talking, out, _) = printer(Appearance::PLAIN);
        json(&talking, &outcome(Vec::new()));
        let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
        assert_eq!((&value["scope"], &value["agents"][1]), (&"user".into(), &"junie".into()));
    }
}
