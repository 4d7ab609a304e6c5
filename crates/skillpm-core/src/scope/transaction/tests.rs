//! Tests of each step, of taking it back, and of repeating it.

#![cfg(unix)]

use std::slice;

use super::undo::{Changed, ChangedKind, Stop, Undo};
use super::*;
use crate::env::Env;
use crate::error::ErrorKind;
use crate::lockfile::Lockfile;
use crate::manifest::Requirement;
use crate::reporter::Silent;
use crate::scope_kind::ScopeKind;
use crate::spec::Origin;

/// A project with a home.
struct Scene {
    dir: tempfile::TempDir,
    settings: Settings,
    scope: Scope,
}

const MANIFEST: &str = "[skills]\npdf = { path = \"./src\", editable = true }\n";

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["home", "p/src"] {
            fs::create_dir_all(&dir.path().join(sub)).unwrap();
        }
        let vars = [("HOME".into(), dir.path().join("home").into())].into();
        let settings =
            Settings::from_env(Env { vars, cwd: dir.path().join("p"), interactive: false }).unwrap();
        let scope = Scope::new(&settings, ScopeKind::Project).unwrap();
        Self { dir, settings, scope }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("p").join(path)
    }

    fn skill(&self, path: &str, body: &str) -> Digest {
        let dir = self.at(path);
        fs::create_dir_all(&dir).unwrap();
        fs::write_atomic(&dir.join("SKILL.md"), body.as_bytes()).unwrap();
        store::read(&dir).unwrap().digest().unwrap()
    }

    fn link(&self, path: &str, target: &str) {
        fs::symlink(Path::new(target), &self.at(path)).unwrap();
    }

    fn begin(&self) -> Transaction<'_> {
        Transaction::begin(&self.scope, &self.settings, &Silent).unwrap()
    }

    fn apply(&self, steps: Vec<Step>) {
        let set = |body: &str| {
            let dir = self.dir.path().join("home/new");
            fs::create_dir_all(&dir).unwrap();
            fs::write_atomic(&dir.join("SKILL.md"), body.as_bytes()).unwrap();
            store::read(&dir).unwrap()
        };
        let manifest = Manifest::parse(MANIFEST).unwrap();
        let contents = [("pdf".parse().unwrap(), set("new"))].into();
        let plan = Plan { steps, ..Plan::default() };
        self.begin().apply(&plan, &Files { manifest, ..Files::default() }, &contents).unwrap();
    }

    fn plan(&self, force: bool) -> std::result::Result<(Record, Undo), Stop> {
        let record = Record::read(&self.settings, &self.scope)?.expect("a record");
        let undo = Undo::plan(&self.settings, &self.scope, &record, force)?;
        Ok((record, undo))
    }

    /// Takes the last transaction back and returns the steps that did so.
    fn take_back(&self) -> Vec<Step> {
        let transaction = self.begin();
        let (record, undo) = self.plan(false).unwrap_or_else(|stop| panic!("{stop:?}"));
        transaction.take_back(&record, &undo).unwrap();
        assert!(!Transaction::is_begun(&self.scope));
        undo.steps
    }

    /// Returns a line for each entry below the places of skills.
    fn state(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut open = vec![String::new()];
        while let Some(prefix) = open.pop() {
            for (name, kind) in fs::entries(&self.at(&prefix)).unwrap() {
                let path = format!("{prefix}{}", name.display());
                match kind {
                    Kind::Directory
                        if !path.starts_with(".agents/.skillpm-") || path == ".agents/.skillpm-disabled" =>
                    {
                        open.push(format!("{path}/"));
                    }
                    Kind::Symlink => {
                        let target = fs::read_link(&self.at(&path)).unwrap().unwrap();
                        lines.push(format!("{path} -> {}", target.display()));
                    }
                    Kind::File => {
                        let text = fs::read_text(&self.at(&path), 100).unwrap().unwrap();
                        lines.push(format!("{path}: {text}"));
                    }
                    _ => {}
                }
            }
        }
        lines.sort();
        lines
    }

    /// Applies `steps`, takes them back and checks the steps for that against `inverse`, then takes that back
    /// and checks against `again`.
    fn case(&self, steps: &[Step], inverse: &[Step], again: &[Step]) {
        let before = self.state();
        self.apply(steps.to_vec());
        let after = self.state();
        assert_ne!(before, after, "{steps:?}");
        for round in 0..2 {
            assert_eq!(self.take_back(), inverse, "{steps:?}, round {round}");
            assert_eq!(self.state(), before, "{steps:?}, round {round}");
            assert_eq!(self.take_back(), again, "{steps:?}, round {round}");
            assert_eq!(self.state(), after, "{steps:?}, round {round}");
        }
    }
}

#[test]
fn a_change_that_nobody_waits_for_is_not_begun() {
    struct Gone;
    impl Reporter for Gone {
        fn may_change(&self) -> bool {
            false
        }
    }
    let scene = Scene::new();
    let old = scene.skill(HOME, "old");
    let before = scene.state();
    let steps = vec![Step::Remove { place: Location::Canonical, name: name(), old }];
    let plan = Plan { steps, ..Plan::default() };
    let transaction = Transaction::begin(&scene.scope, &scene.settings, &Gone).unwrap();
    transaction.apply(&plan, &Files::default(), &BTreeMap::new()).unwrap_err();
    assert_eq!(scene.state(), before);
    assert!(!Transaction::is_begun(&scene.scope));
}

/// Another process moves `.agents` away while skillpm is running and puts a link in its place: nothing is written where it
/// leads, at any step.
#[test]
fn a_link_that_takes_the_place_of_the_directory_gets_nothing() {
    struct Swap<'a>(&'a Scene, &'a str);
    impl Reporter for Swap<'_> {
        fn step(&self, step: &str) {
            let (agents, aside) = (self.0.at(".agents"), self.0.at("aside"));
            if step == self.1 && fs::kind(&aside).unwrap().is_none() {
                fs::move_new(&agents, &aside).unwrap();
                self.0.link(".agents", "outside");
            }
        }
    }
    for step in ["stage pdf", "journal", "put pdf", "write the lockfile"] {
        let scene = Scene::new();
        let new = scene.skill("src", "new");
        fs::create_dir_all(&scene.at("outside/.skillpm-tx")).unwrap();
        fs::create_dir_all(&scene.at("outside/skills")).unwrap();
        let contents = [(name(), store::read(&scene.at("src")).unwrap())].into();
        let plan = Plan { steps: vec![put(new, None)], lock: Some(Lockfile::default()), ..Plan::default() };
        let swap = Swap(&scene, step);
        let transaction = Transaction::begin(&scene.scope, &scene.settings, &swap).unwrap();
        let error = transaction.apply(&plan, &Files::default(), &contents).unwrap_err();
        assert!(error.to_string().contains("was replaced while skillpm was at work"), "{step}: {error}");
        drop(transaction);
        let mut outside = fs::list_dir(&scene.at("outside")).unwrap();
        outside.sort();
        assert_eq!(outside, [".skillpm-tx", "skills"], "{step}");
        for dir in outside {
            assert_eq!(fs::list_dir(&scene.at("outside").join(dir)).unwrap(), [""; 0], "{step}");
        }
    }
}

const HOME: &str = ".agents/skills/pdf";
const ASIDE: &str = ".agents/.skillpm-disabled/pdf";
const LINK: &str = ".claude/skills/pdf";
const OURS: &str = "../../.agents/skills/pdf";

fn name() -> SkillName {
    "pdf".parse().unwrap()
}

fn claude() -> Location {
    Location::Agent("claude-code".to_owned())
}

fn put(digest: Digest, replaces: Option<Digest>) -> Step {
    Step::Put { place: Location::Canonical, name: name(), digest, replaces }
}

fn removal(old: Digest) -> Step {
    Step::Remove { place: Location::Canonical, name: name(), old }
}

fn relink(place: Location, text: &str) -> Step {
    Step::Relink { place, name: name(), says: record::of_text(Path::new(text)) }
}

#[test]
fn trees() {
    let scene = Scene::new();
    let new = scene.skill("src", "new");
    scene.case(&[put(new, None)], &[removal(new)], &[put(new, None)]);
    let scene = Scene::new();
    let old = scene.skill(HOME, "old");
    scene.case(&[put(new, Some(old))], &[put(old, Some(new))], &[put(new, Some(old))]);
    let scene = Scene::new();
    let old = scene.skill(HOME, "old");
    scene.case(&[removal(old)], &[put(old, None)], &[removal(old)]);
}

#[test]
fn links() {
    let (step, unlink) = (
        Step::Link { agent: "claude-code".to_owned(), name: name() },
        Step::Unlink { place: claude(), name: name() },
    );
    let scene = Scene::new();
    scene.skill(HOME, "old");
    scene.case(slice::from_ref(&step), slice::from_ref(&unlink), &[relink(claude(), OURS)]);
    assert!(fs::kind(&scene.at(".claude")).unwrap().is_some());
    scene.take_back();
    assert!(fs::kind(&scene.at(".claude")).unwrap().is_none(), "a directory that was made goes too");
    // Over another link, wherever it leads.
    fs::create_dir_all(&scene.at(".claude/skills")).unwrap();
    scene.link(LINK, "/elsewhere");
    scene.case(&[step], &[relink(claude(), "/elsewhere")], &[relink(claude(), OURS)]);
    let unlink = slice::from_ref(&unlink);
    scene.case(unlink, &[relink(claude(), OURS)], unlink);
}

#[test]
fn editable_skills() {
    let scene = Scene::new();
    fs::write_atomic(&scene.scope.manifest, MANIFEST.as_bytes()).unwrap();
    let (edit, unlink) =
        (Step::Edit { name: name() }, Step::Unlink { place: Location::Canonical, name: name() });
    scene.case(slice::from_ref(&edit), &[unlink], &[relink(Location::Canonical, "../../src")]);
    scene.take_back();
    fs::create_dir_all(&scene.scope.skills_dir()).unwrap();
    scene.link(HOME, "/elsewhere");
    scene.case(
        &[edit],
        &[relink(Location::Canonical, "/elsewhere")],
        &[relink(Location::Canonical, "../../src")],
    );
}

#[test]
fn skills_that_move() {
    let scene = Scene::new();
    let digest = Some(scene.skill(HOME, "old"));
    let (disable, enable) = (Step::Disable { name: name(), digest }, Step::Enable { name: name(), digest });
    let [one, two] = [&disable, &enable].map(slice::from_ref);
    scene.case(one, two, one);
    scene.take_back();
    scene.apply(vec![disable.clone()]);
    scene.case(two, one, two);
}

/// Steps at one place are taken back in reverse order: here, a link replaced a tree.
#[test]
fn several_steps_at_one_place() {
    let scene = Scene::new();
    let old = scene.skill(LINK, "old");
    let gone = Step::Remove { place: claude(), name: name(), old };
    let step = Step::Link { agent: "claude-code".to_owned(), name: name() };
    let unlink = Step::Unlink { place: claude(), name: name() };
    let back = Step::Put { place: claude(), name: name(), digest: old, replaces: None };
    scene.case(&[gone.clone(), step], &[unlink, back], &[gone, relink(claude(), OURS)]);
}

/// A later change is reported with its path, once. With `--force` it is set aside, and saved if the record
/// cannot restore it.
#[test]
fn what_was_changed_since() {
    let scene = Scene::new();
    let old = scene.skill(HOME, "old");
    let new = scene.skill("src", "new");
    scene.apply(vec![put(new, Some(old)), Step::Link { agent: "claude-code".to_owned(), name: name() }]);
    let edited = scene.skill(HOME, "edited");
    fs::remove_link(&scene.at(LINK)).unwrap();
    scene.link(LINK, "/elsewhere");
    let changed = |path: &str, kind| Changed { path: scene.at(path), kind };
    match scene.plan(false) {
        Err(Stop::Changed(found)) => {
            assert_eq!(found, [changed(LINK, ChangedKind::Link), changed(HOME, ChangedKind::Edited)]);
        }
        other => panic!("{other:?}"),
    }
    let (record, undo) = scene.plan(true).unwrap();
    assert_eq!(undo.steps, [Step::Unlink { place: claude(), name: name() }, put(old, Some(edited))]);
    assert_eq!(undo.keep, [(Location::Canonical, name())]);
    scene.begin().take_back(&record, &undo).unwrap();
    assert_eq!(scene.state(), [&format!("{HOME}/SKILL.md: old"), "src/SKILL.md: new"]);
    scene.take_back();
    assert!(scene.state().contains(&format!("{LINK} -> /elsewhere")), "the user's link is back");
    assert!(scene.state().contains(&format!("{HOME}/SKILL.md: edited")));
}

/// Paths that are as before or already removed need nothing.
#[test]
fn what_was_taken_back_by_hand() {
    let scene = Scene::new();
    let old = scene.skill(HOME, "old");
    let digest = Some(old);
    scene.apply(vec![removal(old)]);
    scene.skill(HOME, "old");
    assert!(scene.plan(false).unwrap().1.is_empty());
    scene.apply(vec![Step::Disable { name: name(), digest }]);
    fs::create_dir_all(&scene.scope.skills_dir()).unwrap();
    fs::move_new(&scene.at(ASIDE), &scene.at(HOME)).unwrap();
    match scene.plan(false) {
        Ok((_, undo)) => assert!(undo.is_empty(), "{:?}", undo.steps),
        Err(stop) => panic!("{stop:?}"),
    }
}

/// A failed transaction leaves the record of the one before.
#[test]
fn a_transaction_that_failed_leaves_the_record() {
    let scene = Scene::new();
    let old = scene.skill(HOME, "old");
    scene.apply(vec![removal(old)]);
    let plan = Plan { steps: vec![removal(old), put(old, None)], ..Plan::default() };
    scene.begin().apply(&plan, &Files::default(), &BTreeMap::new()).unwrap_err();
    assert_eq!(scene.take_back(), [put(old, None)]);
}

/// Writes into one skill while the other is about to be replaced, and into that one too, so that its step
/// fails.
struct Writer<'a> {
    scene: &'a Scene,
    content: &'static str,
}

impl Reporter for Writer<'_> {
    fn step(&self, step: &str) {
        if step == "put pdf" {
            self.scene.skill(".agents/skills/first", self.content);
            self.scene.skill(HOME, "written at the last moment");
        }
    }
}

impl Scene {
    /// Returns two skills that are `old`, and the steps and trees that make them `new`.
    fn two(&self) -> (Plan, BTreeMap<SkillName, FileSet>) {
        let old = self.skill(HOME, "old");
        self.skill(".agents/skills/first", "old");
        let new = self.skill("src", "new");
        let names = ["first", "pdf"].map(|name| name.parse::<SkillName>().unwrap());
        let step = |name: &SkillName| Step::Put {
            place: Location::Canonical,
            name: name.clone(),
            digest: new,
            replaces: Some(old),
        };
        let steps = names.iter().map(step).collect();
        let set = || store::read(&self.at("src")).unwrap();
        (Plan { steps, ..Plan::default() }, names.into_iter().map(|name| (name, set())).collect())
    }
}

/// Returns the path in the hint of `error` where concurrent edits are saved.
fn saved(error: &Error) -> String {
    let hint = error.hints().iter().find(|hint| hint.starts_with("what was written into `first`"));
    let hint = hint.expect("a hint").to_string();
    let place = hint.split('`').nth(3).expect("a place");
    fs::read_text(&Path::new(place).join("SKILL.md"), 100).unwrap().unwrap()
}

/// Edits of a tree that is already in place are saved if a later step fails and everything is taken back.
#[test]
fn what_is_written_meanwhile_is_kept_when_all_is_taken_back() {
    let scene = Scene::new();
    let (plan, contents) = scene.two();
    let writer = Writer { scene: &scene, content: "work" };
    let transaction = Transaction::begin(&scene.scope, &scene.settings, &writer).unwrap();
    let error = transaction.apply(&plan, &Files::default(), &contents).unwrap_err();
    assert_eq!(saved(&error), "work");
    let state = scene.state();
    assert!(state.contains(&".agents/skills/first/SKILL.md: old".to_owned()), "{state:?}");
    assert!(state.contains(&format!("{HOME}/SKILL.md: written at the last moment")), "{state:?}");
    assert!(!Transaction::is_begun(&scene.scope));
}

#[test]
fn and_when_an_undo_is_taken_back() {
    let scene = Scene::new();
    let (plan, contents) = scene.two();
    scene.begin().apply(&plan, &Files::default(), &contents).unwrap();
    let (record, undo) = scene.plan(false).unwrap_or_else(|stop| panic!("{stop:?}"));
    // The last step is taken back first.
    let undo = Undo { steps: undo.steps.into_iter().rev().collect(), slots: vec![0, 1], ..undo };
    let writer = Writer { scene: &scene, content: "work" };
    let transaction = Transaction::begin(&scene.scope, &scene.settings, &writer).unwrap();
    let error = transaction.take_back(&record, &undo).unwrap_err();
    drop(transaction);
    assert_eq!(saved(&error), "work");
    let state = scene.state();
    assert!(state.contains(&".agents/skills/first/SKILL.md: new".to_owned()), "{state:?}");
}

/// A tree that cannot be saved stays in place, and the next run continues.
#[test]
fn what_cannot_be_kept_stays_where_it_is() {
    let scene = Scene::new();
    let (plan, contents) = scene.two();
    let kept = scene.dir.path().join("home/.local/share/skillpm");
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    fs::write_atomic(&kept, b"no directory").unwrap();
    let writer = Writer { scene: &scene, content: "work" };
    let transaction = Transaction::begin(&scene.scope, &scene.settings, &writer).unwrap();
    transaction.apply(&plan, &Files::default(), &contents).unwrap_err();
    drop(transaction);
    let work = ".agents/skills/first/SKILL.md: work".to_owned();
    assert!(scene.state().contains(&work), "{:?}", scene.state());
    assert!(Transaction::is_begun(&scene.scope));
    drop(scene.begin());
    assert!(scene.state().contains(&work), "{:?}", scene.state());
}

#[test]
fn a_manifest_that_nobody_could_read_is_not_written() {
    let scene = Scene::new();
    let mut manifest = Manifest::parse("[skills]\n").unwrap();
    let broken = Requirement::new(Origin::local("a\nb"));
    manifest.set_skill(&"pdf".parse().unwrap(), broken);
    let plan = Plan { manifest: Some(manifest), ..Plan::default() };
    let error = scene.begin().apply(&plan, &Files::default(), &BTreeMap::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(fs::kind(&scene.at("skillpm.toml")).unwrap(), None);
    assert!(!Transaction::is_begun(&scene.scope));
}
