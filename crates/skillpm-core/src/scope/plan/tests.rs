//! Tests of the plan: values in, values out, the same on every system.

use std::path::{Path, PathBuf};

use super::*;
use crate::agents::{self, Agent};
use crate::digest::Digest;
use crate::env::Env;
use crate::fs::System;
use crate::lockfile::Locked;
use crate::manifest::{Agents, Requirement};
use crate::scope::Scope;
use crate::scope::editable::Editable;
use crate::settings::Settings;
use crate::spec::Reference;

const SKILLS: &str = "/p/.agents/skills";

fn name(text: &str) -> SkillName {
    SkillName::new(text).expect(text)
}

fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn agent(id: &str) -> &'static Agent {
    agents::find(id).expect(id)
}

fn locked(text: &str, agents: &[&str]) -> Locked {
    Locked {
        version: None,
        origin: "path:./src".parse().expect("a source"),
        path: None,
        requested: None,
        revision: None,
        digest: digest(text),
        dependencies: Vec::new(),
        alias_of: None,
        agents: agents.iter().map(|id| (*id).to_owned()).collect(),
    }
}

/// Returns a scope with `pdf` locked as `text` for `agents`.
fn files(text: &str, agents: &[&str], entry: &str) -> Files {
    let manifest_text = format!("[skills]\npdf = {{ path = \"./src\"{entry} }}\n");
    let mut files = Files {
        manifest: Manifest::parse(&manifest_text).expect("valid"),
        manifest_text: Some(manifest_text),
        ..Files::default()
    };
    files.lock.skills.insert(name("pdf"), locked(text, agents));
    files
}

/// Returns a survey of the places of `pdf`. An agent that is not listed has nothing in `/p/.<id>/skills`.
fn survey(canonical: OnDisk, in_disabled: OnDisk, agents: &[(&'static str, OnDisk)]) -> Survey {
    let mut survey = Survey::default();
    survey.skills_dir = PathBuf::from(SKILLS);
    survey.canonical.insert(name("pdf"), canonical);
    survey.disabled.insert(name("pdf"), in_disabled);
    for (id, found) in agents {
        survey.dirs.insert(id, PathBuf::from(format!("/p/.{id}/skills")));
        survey.set(id, &name("pdf"), found.clone());
    }
    survey
}

fn goal(content: Content, agents: &[&str], disabled: bool) -> Goal {
    let wanted = Wanted {
        agents: agents.iter().map(|id| agent(id)).collect(),
        disabled,
        ..Wanted::new(name("pdf"), content, None)
    };
    Goal { put: vec![wanted], system: System::Unix, ..Goal::default() }
}

/// Returns the plan on a machine where nothing is known about any tree.
fn plan(goal: &Goal, files: &Files, survey: &Survey) -> Result<Plan, Vec<Conflict>> {
    let env = Env { vars: BTreeMap::new(), cwd: PathBuf::from("/p"), interactive: false };
    let settings = Settings::from_env(env).expect("valid");
    let scope = Scope::project(&settings, Path::new("/p"));
    super::plan(goal, files, survey, &Evidence::new(&settings, &scope, files, goal))
}

/// Returns the plan as a word for each step, or what is in the way.
fn words(goal: &Goal, files: &Files, survey: &Survey) -> String {
    let place = |place: &Location| match place {
        Location::Canonical => "canonical".to_owned(),
        Location::Disabled => "disabled".to_owned(),
        Location::Agent(id) => id.clone(),
    };
    match plan(goal, files, survey) {
        Ok(plan) => {
            let word = |step: &Step| match step {
                Step::Put { place: at, replaces: None, .. } => format!("put {}", place(at)),
                Step::Put { place: at, .. } => format!("replace {}", place(at)),
                Step::Remove { place: at, .. } => format!("remove {}", place(at)),
                Step::Link { agent, .. } => format!("link {agent}"),
                Step::Unlink { place: at, .. } => format!("unlink {}", place(at)),
                Step::Disable { .. } => "disable".to_owned(),
                Step::Enable { .. } => "enable".to_owned(),
                Step::Edit { .. } => "edit".to_owned(),
                Step::Relink { .. } => "relink".to_owned(),
            };
            let left = plan.left.iter().map(|(agent, _)| format!("left {agent}"));
            plan.steps.iter().map(word).chain(left).collect::<Vec<_>>().join(", ")
        }
        Err(conflicts) => {
            let word = |c: &Conflict| format!("{:?} at {}", c.kind, place(&c.place));
            conflicts.iter().map(word).collect::<Vec<_>>().join(", ")
        }
    }
}

fn tree(text: &str) -> OnDisk {
    OnDisk::Tree(Some(digest(text)))
}

/// INTEROP 4: the kind of each link, for a system that this test does not run on; a copy replaces a link that
/// is not possible.
#[test]
fn the_plan_says_what_each_link_is() {
    let files = files("one", &[], "");
    let mut goal = goal(Content::Locked(locked("one", &[])), &["claude-code", "junie"], false);
    let mut there =
        survey(tree("one"), OnDisk::Absent, &[("claude-code", OnDisk::Absent), ("junie", OnDisk::Loop)]);
    let links = |goal: &Goal, survey: &Survey| {
        plan(goal, &files, survey).expect("a plan").links.into_iter().map(|new| new.link).collect::<Vec<_>>()
    };
    let relative = LinkKind::Symlink(PathBuf::from("../../.agents/skills/pdf"));
    assert_eq!(links(&goal, &there), [relative.clone(), relative]);
    assert_eq!(words(&goal, &files, &there), "link claude-code, link junie", "a loop is not in the way");
    goal.system = System::Windows;
    let junction = LinkKind::Junction(PathBuf::from("/p/.agents/skills/pdf"));
    assert_eq!(links(&goal, &there), [junction.clone(), junction.clone()]);
    there.dirs.insert("junie", PathBuf::from(r"\\server\share\skills"));
    assert_eq!(links(&goal, &there), [junction]);
    assert_eq!(words(&goal, &files, &there), "link claude-code, unlink junie, put junie");
    goal.copy = true;
    assert!(links(&goal, &there).is_empty());
}

/// An agent that is in the lockfile and no longer named loses its link; one that shares a directory does not.
#[test]
fn who_no_longer_sees_it() {
    let files = files("one", &["claude-code", "junie"], "");
    let content = || Content::Locked(locked("one", &[]));
    let both = [("claude-code", OnDisk::OurLink), ("junie", OnDisk::OurLink), ("windsurf", OnDisk::OurLink)];
    let mut there = survey(tree("one"), OnDisk::Absent, &both);
    assert_eq!(words(&goal(content(), &["junie"], false), &files, &there), "unlink claude-code");
    let plan = plan(&goal(content(), &["junie"], false), &files, &there).expect("a plan");
    let entry = &plan.lock.expect("it changes").skills[&name("pdf")];
    assert_eq!(entry.agents.iter().collect::<Vec<_>>(), ["junie"]);
    there.dirs.insert("claude-code", PathBuf::from("/p/.junie/skills"));
    assert_eq!(words(&goal(content(), &["junie"], false), &files, &there), "");
    // If no agent should see it, everything of ours is removed. A link that no receipt lists is not ours.
    let hidden = goal(content(), &["junie"], true);
    assert_eq!(words(&hidden, &files, &there), "unlink claude-code, disable");
    let foreign = self::plan(&hidden, &files, &there).expect("a plan").foreign;
    assert_eq!(foreign, BTreeSet::from([(Location::Agent("windsurf".to_owned()), name("pdf"))]));
    for (found, expected) in [
        (tree("one"), "remove junie"),
        (tree("mine"), "Modified at junie"),
        (OnDisk::Tree(None), "NotASkill at junie"),
        (OnDisk::OtherLink("/x".into()), ""),
        (OnDisk::Other, ""),
        (OnDisk::Absent, ""),
    ] {
        let there = survey(tree("one"), OnDisk::Absent, &[("junie", found.clone())]);
        assert_eq!(words(&goal(content(), &[], false), &files, &there), expected, "{found:?}");
    }
}

/// Disabling and enabling, in every state of the disk.
#[test]
fn moving_out_of_sight_and_back() {
    let files = files("one", &[], "");
    let words_of = |content: &Content, disabled, canonical: OnDisk, in_disabled: OnDisk| {
        words(&goal(content.clone(), &[], disabled), &files, &survey(canonical, in_disabled, &[]))
    };
    let (exact, any) = (Content::Locked(locked("one", &[])), Content::AsItIs(locked("one", &[])));
    for (content, disabled, canonical, in_disabled, expected) in [
        (&exact, true, tree("one"), OnDisk::Absent, "disable"),
        (&exact, true, OnDisk::Absent, tree("one"), ""),
        (&exact, true, OnDisk::Absent, OnDisk::Absent, "put disabled"),
        (&any, true, tree("mine"), OnDisk::Absent, "disable"),
        (&any, true, OnDisk::Tree(None), OnDisk::Absent, "disable"),
        (&any, true, OnDisk::Absent, OnDisk::Absent, ""),
        (&any, true, tree("one"), tree("mine"), "remove canonical"),
        (&any, true, tree("mine"), tree("one"), "Modified at canonical"),
        (&any, true, tree("mine"), tree("mine"), "remove canonical"),
        (&any, true, OnDisk::OtherLink("/x".into()), OnDisk::Absent, "Link at canonical"),
        (&exact, false, OnDisk::Absent, tree("one"), "enable"),
        (&any, false, OnDisk::Absent, tree("mine"), "enable"),
        (&any, false, tree("mine"), tree("one"), "remove disabled"),
        (&any, false, tree("one"), tree("mine"), "Modified at disabled"),
        (&exact, false, tree("one"), OnDisk::OtherLink("/x".into()), ""),
        (&exact, false, OnDisk::OtherLink("/x".into()), OnDisk::Absent, "Link at canonical"),
        (&exact, false, OnDisk::Loop, OnDisk::Absent, "unlink canonical, put canonical"),
    ] {
        let got = words_of(content, disabled, canonical.clone(), in_disabled.clone());
        assert_eq!(got, expected, "{content:?} {disabled} {canonical:?} {in_disabled:?}");
    }
    // A newer version of a skill that the user has just disabled by hand.
    let newer = Content::Locked(locked("two", &[]));
    assert_eq!(words_of(&newer, true, tree("one"), OnDisk::Absent), "disable, replace disabled");
    let mut remove = goal(any, &[], false);
    remove.put.clear();
    remove.remove.push(name("pdf"));
    assert_eq!(words(&remove, &files, &survey(OnDisk::Absent, tree("one"), &[])), "remove disabled");
    assert_eq!(words(&remove, &files, &survey(OnDisk::Absent, tree("mine"), &[])), "Modified at disabled");
}

#[test]
fn a_link_to_the_directory_of_somebody() {
    let editable = Editable {
        directory: PathBuf::from("/brand"),
        link: LinkKind::Symlink(PathBuf::from("../../../brand")),
    };
    let content = Content::Editable(editable);
    let mut files = files("one", &["junie"], ", editable = true");
    let junie = |found: OnDisk| [("junie", found)];
    let right = || OnDisk::OtherLink("../../../brand".into());
    for (canonical, agent, expected) in [
        (OnDisk::Absent, OnDisk::Absent, "edit, link junie"),
        (right(), OnDisk::OurLink, ""),
        (OnDisk::OtherLink("/old".into()), OnDisk::OurLink, "edit"),
        (OnDisk::Loop, OnDisk::OurLink, "edit"),
        (tree("one"), tree("one"), "remove canonical, edit, remove junie, link junie"),
        (tree("mine"), OnDisk::OurLink, "Modified at canonical"),
        (OnDisk::Other, OnDisk::OurLink, "NotASkill at canonical"),
    ] {
        let there = survey(canonical.clone(), OnDisk::Absent, &junie(agent));
        let mut goal = goal(content.clone(), &["junie"], false);
        // Copies of a directory that may change at any time make no sense.
        goal.copy = true;
        assert_eq!(words(&goal, &files, &there), expected, "{canonical:?}");
    }
    let there = survey(right(), OnDisk::Absent, &junie(OnDisk::OurLink));
    let disabled = goal(content.clone(), &["junie"], true);
    assert_eq!(words(&disabled, &files, &there), "unlink junie, unlink canonical");
    let planned = plan(&disabled, &files, &there).expect("a plan");
    assert!(planned.lock.expect("it changes").skills.is_empty(), "it is not locked");
    // The directory is the agent's own place for it: the agent sees it there.
    let own = Content::Editable(Editable {
        directory: PathBuf::from("/p/.junie/skills/pdf"),
        link: LinkKind::Symlink(PathBuf::from("../../.junie/skills/pdf")),
    });
    let there = survey(OnDisk::Absent, OnDisk::Absent, &junie(tree("mine")));
    assert_eq!(words(&goal(own, &["junie"], false), &files, &there), "edit");
    // A foreign link is only replaced with `--force`.
    files.lock.skills.clear();
    files.manifest = Manifest::default();
    let there = survey(OnDisk::OtherLink("/x".into()), OnDisk::Absent, &junie(OnDisk::Absent));
    let mut goal = goal(content, &["junie"], false);
    assert_eq!(words(&goal, &files, &there), "Link at canonical");
    goal.force = true;
    assert_eq!(words(&goal, &files, &there), "edit, link junie");
}

/// DESIGN 4: a name that a skill from elsewhere has is never overwritten silently.
#[test]
fn another_skill_of_the_same_name() {
    let mut files = files("one", &[], "");
    let there = survey(tree("one"), OnDisk::Absent, &[]);
    let words_of = |files: &Files, origin: &str, path: Option<&str>, text: &str, force| {
        let mut goal = goal(Content::Locked(locked(text, &[])), &[], false);
        let path = path.map(ToOwned::to_owned);
        goal.put[0].requirement =
            Some(Requirement { path, ..Requirement::new(origin.parse().expect("a source")) });
        goal.force = force;
        words(&goal, files, &there)
    };
    assert_eq!(words_of(&files, "path:./src", None, "two", false), "replace canonical");
    let taken = "OtherSource(Local(LocalPath(\"./src\"))) at canonical";
    assert_eq!(words_of(&files, "path:./other", None, "two", false), taken);
    assert_eq!(words_of(&files, "path:../src", None, "two", false), taken);
    assert_eq!(words_of(&files, "github:a/b", None, "two", false), taken);
    assert_eq!(words_of(&files, "github:a/b", None, "two", true), "replace canonical");
    assert_eq!(words_of(&files, "github:a/b", None, "one", false), "", "the same bytes");
    // The manifest no longer has it; without a manifest, the lockfile decides.
    files.manifest = Manifest::default();
    assert_eq!(words_of(&files, "path:./other", None, "two", false), "replace canonical");
    files.manifest_text = None;
    assert_eq!(words_of(&files, "path:./other", None, "two", false), taken);
    files.lock.skills.get_mut(&name("pdf")).expect("there").origin = "path:./a/b".parse().expect("a source");
    assert_eq!(words_of(&files, "path:./a", Some("b"), "two", false), "replace canonical");
}

/// The manifest entry matches the lockfile, for each kind of revision.
#[test]
fn a_manifest_is_made_from_a_lockfile() {
    let commit = "0".repeat(40);
    for (requested, reference) in [
        (None, None),
        (Some("tags/v1"), Some(Reference::Tag("v1".into()))),
        (Some("heads/a/b"), Some(Reference::Branch("a/b".into()))),
        (Some("a/b"), Some(Reference::Any("a/b".into()))),
        (Some(&commit[..]), Some(Reference::Rev(commit.clone()))),
    ] {
        let entry = Locked { requested: requested.map(ToOwned::to_owned), ..locked("one", &[]) };
        let made = entry.requirement();
        assert_eq!(made.reference.as_ref().map(ToString::to_string), entry.requested, "{requested:?}");
        assert_eq!(made.reference, reference);
    }
    let mut files = files("one", &["junie"], "");
    (files.manifest, files.manifest_text) = (Manifest::default(), None);
    files.lock.skills.insert(name("docx"), Locked { alias_of: Some("word".into()), ..locked("two", &[]) });
    let content = Content::Locked(locked("one", &[]));
    let there = survey(tree("one"), OnDisk::Absent, &[("junie", OnDisk::OurLink)]);
    let mut goal = goal(content, &["junie"], false);
    assert!(plan(&goal, &files, &there).expect("a plan").is_empty(), "a restore writes none");
    goal.manifest_agents = Some(Agents { targets: Some(vec!["junie".into()]), ..Agents::default() });
    let text = plan(&goal, &files, &there).expect("a plan").manifest.expect("a manifest").to_string();
    assert_eq!(
        text,
        "[skills]\ndocx = { path = \"./src\", name = \"word\" }\npdf = { path = \"./src\" }\n\n[agents]\ntargets = [\"junie\"]\n"
    );
}

/// Issue 5: a merged tree replaces exactly the one that was merged, wherever it is, and copies of agents
/// follow.
#[test]
fn a_merge_takes_the_place_of_what_was_merged() {
    let files = files("one", &["junie"], "");
    let merged = |replaces: Option<&str>| {
        let replaces = replaces.map(digest);
        Content::Merged(Merged { locked: locked("two", &[]), tree: digest("both"), replaces, keep: true })
    };
    let there =
        |canonical: &str, copy: &str| survey(tree(canonical), OnDisk::Absent, &[("junie", tree(copy))]);
    let mut wanted = goal(merged(Some("mine")), &["junie"], false);
    let plan_of = |goal: &Goal, survey: &Survey| words(goal, &files, survey);
    assert_eq!(plan_of(&wanted, &there("mine", "one")), "replace canonical, remove junie, link junie");
    assert_eq!(plan_of(&wanted, &there("both", "one")), "remove junie, link junie", "it is done already");
    assert!(plan_of(&wanted, &there("later", "one")).starts_with("Modified at canonical"));
    let unreadable = survey(OnDisk::Tree(None), OnDisk::Absent, &[]);
    assert!(plan_of(&wanted, &unreadable).starts_with("NotASkill at canonical"));
    assert!(
        plan_of(&wanted, &survey(OnDisk::Absent, OnDisk::Absent, &[])).starts_with("Modified at canonical")
    );
    let planned = plan(&wanted, &files, &there("mine", "one")).expect("nothing is in the way");
    assert_eq!(planned.keep, [(Location::Canonical, name("pdf"))]);
    assert_eq!(planned.lock.expect("changes").skills[&name("pdf")].digest, digest("two"));
    // A merge that takes everything from the user's side equals the existing tree: it may proceed, and be
    // undone.
    let same = goal(merged(Some("both")), &[], false);
    let planned = plan(&same, &files, &there("both", "one")).expect("nothing is in the way");
    assert_eq!(planned.keep, [(Location::Canonical, name("pdf"))]);
    wanted.copy = true;
    assert_eq!(plan_of(&wanted, &there("mine", "one")), "replace canonical, replace junie");
    assert_eq!(plan_of(&wanted, &there("mine", "elsewhere")), "replace canonical, left junie");
    wanted.known.insert(name("pdf"), BTreeSet::from([digest("elsewhere")]));
    assert_eq!(plan_of(&wanted, &there("mine", "elsewhere")), "replace canonical, replace junie");
    // If disabled, it is replaced where it is; if nothing is there, an undone merge is restored.
    let in_disabled = goal(merged(Some("mine")), &["junie"], true);
    assert_eq!(plan_of(&in_disabled, &survey(OnDisk::Absent, tree("mine"), &[])), "replace disabled");
    let back = goal(merged(None), &[], false);
    assert_eq!(plan_of(&back, &survey(OnDisk::Absent, OnDisk::Absent, &[])), "put canonical");
    assert!(plan_of(&back, &there("mine", "one")).starts_with("Modified at canonical"));
}

/// A copy of an edited skill equals the skill, so it is not in the way.
#[test]
fn copies_of_edited_skills_stay() {
    let files = files("one", &["junie"], "");
    let mut wanted = goal(Content::AsItIs(locked("one", &[])), &["junie"], false);
    let there = |copy: &str| survey(tree("mine"), OnDisk::Absent, &[("junie", tree(copy))]);
    assert_eq!(words(&wanted, &files, &there("mine")), "remove junie, link junie");
    wanted.copy = true;
    assert_eq!(words(&wanted, &files, &there("mine")), "");
    assert_eq!(words(&wanted, &files, &there("one")), "");
    assert_eq!(words(&wanted, &files, &there("elsewhere")), "left junie");
    let there = survey(tree("mine"), OnDisk::Absent, &[("junie", OnDisk::Absent)]);
    assert_eq!(words(&wanted, &files, &there), "put junie");
    let plan = plan(&wanted, &files, &there).expect("a plan");
    assert!(matches!(&plan.steps[..], [Step::Put { digest: mine, .. }] if *mine == digest("mine")));
}

/// An agent's copy that equals the project's tree is removed wherever an unchanged copy would be.
#[test]
fn copies_of_what_lies_there_are_ours() {
    let files = files("one", &["junie"], "");
    for (copy, expected) in [("mine", "remove junie"), ("elsewhere", "Modified at junie")] {
        let there = survey(tree("mine"), OnDisk::Absent, &[("junie", tree(copy))]);
        let content = || Content::AsItIs(locked("one", &[]));
        let mut wanted = goal(content(), &[], false);
        wanted.put[0].leaving.insert("junie");
        assert_eq!(words(&wanted, &files, &there), expected, "{copy}");
        // Equal bytes are no proof that skillpm put them there.
        let there = survey(tree("mine"), OnDisk::Absent, &[("claude-code", tree(copy))]);
        assert_eq!(words(&goal(content(), &[], true), &files, &there), "disable", "{copy}");
    }
}

/// An agent's copy that the user edited is only removed with `--force`, and saved; a copy that a merge wrote
/// is removed with the tree that it wrote as well.
#[test]
fn copies_go_with_the_skill() {
    let files = files("one", &["junie"], "");
    let remove = |force| Goal { remove: vec![name("pdf")], force, ..Goal::default() };
    let junie = (Location::Agent("junie".to_owned()), name("pdf"));
    let canonical = (Location::Canonical, name("pdf"));
    for (on_disk, copy, refused, kept) in [
        ("one", "one", "remove canonical, remove junie", vec![]),
        ("one", "mine", "Modified at junie", vec![junie.clone()]),
        ("mine", "one", "Modified at canonical", vec![canonical.clone()]),
        ("mine", "other", "Modified at canonical, Modified at junie", vec![canonical.clone(), junie]),
        ("both", "both", "Modified at canonical", vec![canonical]),
    ] {
        for (home, in_disabled, place) in
            [(tree(on_disk), OnDisk::Absent, "canonical"), (OnDisk::Absent, tree(on_disk), "disabled")]
        {
            let there = survey(home, in_disabled, &[("junie", tree(copy))]);
            let refused = refused.replace("canonical", place);
            assert_eq!(words(&remove(false), &files, &there), refused, "{on_disk}, {copy}");
            let all = format!("remove {place}, remove junie");
            assert_eq!(words(&remove(true), &files, &there), all, "{on_disk}, {copy}");
            if place == "canonical" {
                assert_eq!(
                    plan(&remove(true), &files, &there).expect("a plan").keep,
                    kept,
                    "{on_disk}, {copy}"
                );
            }
        }
    }
    let there = survey(tree("one"), OnDisk::Absent, &[("junie", OnDisk::Tree(None))]);
    assert_eq!(words(&remove(true), &files, &there), "NotASkill at junie");
    // A copy that no receipt lists is not skillpm's, whatever its bytes are.
    for copy in ["mine", "one"] {
        let there = survey(tree("one"), OnDisk::Absent, &[("claude-code", tree(copy))]);
        assert_eq!(words(&remove(true), &files, &there), "remove canonical", "{copy}");
    }
}

/// Files from before skillpm came stay, even with the very bytes that skillpm would put there: only `--force` takes them
/// away, and they are saved first.
#[test]
fn what_was_there_before_is_left() {
    let mut files = files("one", &[], "");
    files.lock.skills.clear();
    let canonical = (Location::Canonical, name("pdf"));
    let junie = (Location::Agent("junie".to_owned()), name("pdf"));
    let there = survey(tree("one"), OnDisk::Absent, &[("junie", tree("one"))]);
    let mut wanted = goal(Content::Locked(locked("one", &[])), &["junie"], false);
    for copy in [false, true] {
        wanted.copy = copy;
        let planned = plan(&wanted, &files, &there).expect("nothing is in the way");
        assert!(planned.steps.is_empty(), "{:?}", planned.steps);
        assert_eq!(planned.foreign, BTreeSet::from([canonical.clone(), junie.clone()]));
    }
    (wanted.copy, wanted.force) = (false, true);
    assert_eq!(words(&wanted, &files, &there), "replace canonical, remove junie, link junie");
    let planned = plan(&wanted, &files, &there).expect("nothing is in the way");
    assert_eq!(planned.keep, [canonical.clone(), junie.clone()]);
    assert_eq!(planned.given_up, BTreeSet::from([canonical, junie]));
    wanted.force = false;
    let there = survey(tree("mine"), OnDisk::Absent, &[("junie", tree("mine"))]);
    assert_eq!(words(&wanted, &files, &there), "Untracked at canonical, Untracked at junie");
}
