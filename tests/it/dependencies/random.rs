//! Whatever is done with skills that need each other, what lies in the scope follows from what was asked for.

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::test_runner::{Config, TestRunner};
use skillpm_core::ops::disable::{DisableRequest, disable, enable};
use skillpm_core::ops::install::{InstallRequest, install};
use skillpm_core::ops::link::{LinkRequest, link, unlink};
use skillpm_core::ops::remove::{RemoveRequest, remove};
use skillpm_core::ops::undo::{UndoRequest, undo};
use skillpm_core::ops::update::{Allow, UpdateRequest, update};
use skillpm_format::lockfile::Lockfile;
use skillpm_format::name::SkillName;
use skillpm_sources::context::Context;

use super::{asked, document, there};
use crate::support::Sandbox;
use crate::support::numbers::cases;

const NAMES: [&str; 5] = ["aa", "bb", "cc", "dd", "ee"];
/// What a skill may be installed as in place of its own name.
const ALIASES: [&str; 2] = ["xx", "yy"];

#[derive(Debug, Clone)]
enum Deed {
    /// Not a verb: the source has another version, which needs others.
    Publish {
        name: &'static str,
        needs: Vec<&'static str>,
        by_path: bool,
    },
    /// Not a verb: the source no longer has it.
    Withdraw(&'static str),
    Install {
        name: &'static str,
        alias: Option<&'static str>,
        editable: bool,
        no_deps: bool,
        agents: Vec<&'static str>,
    },
    /// Not a verb: the user writes into what is installed.
    Edit(&'static str),
    Undo,
    Remove(Vec<&'static str>),
    Update {
        name: Option<&'static str>,
        no_deps: bool,
    },
    Restore,
    Disable(&'static str),
    Enable(&'static str),
    Link(&'static str),
    Unlink(&'static str),
}

fn names(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    proptest::collection::vec(proptest::sample::select(&NAMES[..]), 0..most)
}

/// What each of [`NAMES`] needs at first, and what is done then.
fn lives() -> impl Strategy<Value = (Vec<Vec<&'static str>>, Vec<Deed>)> {
    let name = || proptest::sample::select(&NAMES[..]);
    let any_name = || prop_oneof![4 => name(), 1 => proptest::sample::select(&ALIASES[..])];
    let agent = || prop_oneof![Just("claude-code"), Just("junie")];
    let rarely = || proptest::bool::weighted(0.15);
    let publish = (name(), names(3), any::<bool>());
    let alias = proptest::option::weighted(0.2, proptest::sample::select(&ALIASES[..]));
    let install = (name(), alias, rarely(), rarely(), proptest::collection::vec(agent(), 0..2));
    let deed = prop_oneof![
        4 => publish.prop_map(|(name, needs, by_path)| Deed::Publish { name, needs, by_path }),
        1 => name().prop_map(Deed::Withdraw),
        4 => install.prop_map(|(name, alias, editable, no_deps, agents)| {
            Deed::Install { name, alias, editable, no_deps, agents }
        }),
        3 => proptest::collection::vec(any_name(), 0..4).prop_map(Deed::Remove),
        1 => any_name().prop_map(Deed::Edit),
        2 => Just(Deed::Undo),
        5 => (proptest::option::weighted(0.3, name()), rarely()).prop_map(|(name, no_deps)| Deed::Update { name, no_deps }),
        1 => Just(Deed::Restore),
        2 => any_name().prop_map(Deed::Disable),
        2 => any_name().prop_map(Deed::Enable),
        1 => agent().prop_map(Deed::Link),
        1 => agent().prop_map(Deed::Unlink),
    ];
    (proptest::collection::vec(names(3), NAMES.len()), proptest::collection::vec(deed, 6..20))
}

/// Writes the skill `name`, which needs `needs`, into the source.
fn publish(sandbox: &Sandbox, name: &str, version: &str, needs: &[&str], by_path: bool) {
    let needs = needs.iter().filter(|need| **need != name);
    let needs: Vec<_> =
        needs.map(|need| if by_path { format!("../{need}") } else { (*need).to_owned() }).collect();
    sandbox.write(&format!("src/skills/{name}/SKILL.md"), document(name, version, &needs.join(" ")));
}

/// Does it; what is refused changes nothing.
fn act(sandbox: &Sandbox, context: &Context, deed: &Deed, at: usize) -> Result<(), String> {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let done = match deed {
        Deed::Publish { name, needs, by_path } => {
            publish(sandbox, name, &format!("1.{at}.0"), needs, *by_path);
            Ok(())
        }
        Deed::Withdraw(name) => {
            let _ = std::fs::remove_dir_all(sandbox.project().join("src/skills").join(name));
            Ok(())
        }
        Deed::Install { name, alias, editable, no_deps, agents } => {
            let request = InstallRequest {
                sources: vec!["./src".to_owned()],
                skills: own(&[*name]),
                alias: alias.map(ToOwned::to_owned),
                editable: *editable,
                agents: own(agents),
                no_deps: *no_deps,
                ..InstallRequest::default()
            };
            install(context, &request).map(drop)
        }
        Deed::Edit(name) => {
            let file = sandbox.project().join(".agents/skills").join(name).join("SKILL.md");
            if let Ok(text) = std::fs::read_to_string(&file) {
                std::fs::write(&file, format!("{text}Mine, {at}.\n")).expect("writes");
            }
            Ok(())
        }
        Deed::Undo => undo(context, &UndoRequest::default()).map(drop),
        Deed::Remove(names) => {
            let request = RemoveRequest { names: own(names), ..RemoveRequest::default() };
            remove(context, &request).map(drop)
        }
        Deed::Update { name, no_deps } => {
            let names = name.iter().map(|name| (*name).to_owned()).collect();
            let request =
                UpdateRequest { names, allow: Allow::All, no_deps: *no_deps, ..UpdateRequest::default() };
            update(context, &request).map(drop)
        }
        Deed::Restore => install(context, &InstallRequest::default()).map(drop),
        Deed::Disable(name) | Deed::Enable(name) => {
            let request = DisableRequest { names: own(&[*name]), ..DisableRequest::default() };
            let run = if matches!(deed, Deed::Disable(_)) { disable } else { enable };
            run(context, &request).map(drop)
        }
        Deed::Link(agent) | Deed::Unlink(agent) => {
            let request = LinkRequest { agents: own(&[*agent]), ..LinkRequest::default() };
            let run = if matches!(deed, Deed::Link(_)) { link } else { unlink };
            run(context, &request).map(drop)
        }
    };
    done.map_err(|error| format!("{error:#}"))
}

/// The lockfile, empty where there is none.
fn lockfile(sandbox: &Sandbox) -> Lockfile {
    match std::fs::read_to_string(sandbox.project().join("skillpm.lock")) {
        Ok(text) => Lockfile::parse(&text).expect("a lockfile"),
        Err(_) => Lockfile::default(),
    }
}

/// The names that the manifest asks for: those that are locked, and of those that are editable the ones that are
/// not disabled, so that a link is there.
fn wanted(sandbox: &Sandbox) -> (BTreeSet<String>, BTreeSet<String>) {
    if !sandbox.project().join("skillpm.toml").exists() {
        return Default::default();
    }
    let manifest: toml::Table = sandbox.read("skillpm.toml").parse().expect("a manifest");
    let says = |name: &String, key: &str| manifest["skills"][name].get(key).is_some();
    let (mut editable, locked): (BTreeSet<_>, _) =
        asked(sandbox).into_iter().partition(|name| says(name, "editable"));
    editable.retain(|name| !says(name, "disabled"));
    (locked, editable)
}

/// What is true whatever was done before.
fn hold(sandbox: &Sandbox, is_edited: bool, told: &str) {
    let lock = lockfile(sandbox);
    let names: BTreeSet<String> = lock.skills.keys().map(ToString::to_string).collect();
    // What is locked is what was asked for, and what that needs.
    let (asked, editable) = wanted(sandbox);
    let (mut reached, mut open) = (BTreeSet::new(), asked.iter().cloned().collect::<Vec<_>>());
    while let Some(name) = open.pop() {
        if let Some((_, locked)) = lock.skills.iter().find(|(key, _)| key.as_str() == name)
            && reached.insert(name)
        {
            open.extend(locked.dependencies.iter().cloned());
        }
    }
    assert_eq!(names, reached, "{told}");
    assert!(asked.is_subset(&names), "{told}: {asked:?} of {names:?}");
    // It lies there, and nothing else does.
    let mut lie: BTreeSet<String> = there(sandbox).into_iter().collect();
    let aside = sandbox.project().join(".agents/.skillpm-disabled");
    let aside = std::fs::read_dir(aside).into_iter().flatten().flatten();
    let aside: BTreeSet<_> = aside.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    lie.extend(aside.iter().cloned());
    assert_eq!(names.union(&editable).cloned().collect::<BTreeSet<_>>(), lie, "{told}");
    // Whoever sees a skill sees what it needs, unless somebody chose otherwise for that.
    let sees = |name: &SkillName| &lock.skills[name].agents;
    let is_chosen = |name: &SkillName| asked.contains(name.as_str()) || aside.contains(name.as_str());
    for (name, locked) in lock.skills.iter().filter(|(name, _)| !aside.contains(name.as_str())) {
        let needs = lock.skills.keys().filter(|need| locked.dependencies.iter().any(|d| d == need.as_str()));
        for need in needs.filter(|need| !is_chosen(need)) {
            let too = sees(name).iter().all(|agent| sees(need).contains(agent));
            assert!(too, "{told}: {name} {:?}, {need} {:?}", sees(name), sees(need));
        }
    }
    let verified = sandbox.run(&["verify"]);
    assert!(verified.code == Some(0) || is_edited && verified.code == Some(5), "{told}: {verified}");
    let looked = sandbox.run(&["doctor", "--project"]);
    assert_eq!(looked.code, Some(0), "{told}: {looked}");
}

/// Conflict C32: after whatever was done, refused or not, what is locked and lies there is what was asked for and
/// what that needs; what is refused changes nothing, and neither does another restore.
#[test]
fn whatever_is_done_the_needs_are_met() {
    let changes = Cell::new(0);
    let mut runner =
        TestRunner::new(Config { cases: cases(64), failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&lives(), |(needs, deeds)| {
        let sandbox = Sandbox::new();
        let context = Context::silent(sandbox.settings());
        for (name, needs) in NAMES.iter().zip(&needs) {
            publish(&sandbox, name, "1.0.0", needs, false);
        }
        let first = NAMES[..2].iter().map(|name| Deed::Install {
            name,
            alias: None,
            editable: false,
            no_deps: false,
            agents: Vec::new(),
        });
        // An editable skill whose directory is gone is an error by itself.
        let editable = deeds.iter().filter_map(|deed| match deed {
            Deed::Install { name, editable: true, .. } => Some(*name),
            _ => None,
        });
        let editable: BTreeSet<_> = editable.collect();
        let is_gone = |deed: &Deed| matches!(deed, Deed::Withdraw(name) if editable.contains(name));
        let deeds: Vec<_> = first.chain(deeds.iter().filter(|deed| !is_gone(deed)).cloned()).collect();
        let mut is_edited = false;
        for (at, deed) in deeds.iter().enumerate() {
            let before = sandbox.scope();
            let done = act(&sandbox, &context, deed, at);
            let told = format!("{at}: {done:?} of {deeds:#?}");
            let after = sandbox.scope();
            if done.is_err() {
                assert_eq!(after, before, "{told}");
            }
            if after == before {
                continue;
            }
            changes.set(changes.get() + 1);
            is_edited |= matches!(deed, Deed::Edit(_));
            hold(&sandbox, is_edited, &told);
            if done.is_ok() {
                let again = act(&sandbox, &context, &Deed::Restore, at);
                assert_eq!(again, Ok(()), "{told}");
                assert_eq!(sandbox.scope(), after, "{told}");
            }
        }
        Ok(())
    });
    outcome.expect("holds");
    println!("{} changes", changes.get());
    assert!(changes.get() > 50);
}
