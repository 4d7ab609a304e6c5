//! What a server offers of a project with a few skills.

mod bounds;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use serde_json::{Map, Value, json};
use skillpm_core::engine::resources;
use skillpm_core::ops::trust::{TrustRequest, UntrustRequest, trust, untrust};
use skillpm_core::session::places::Places;
use skillpm_format::admission::Scripts;
use skillpm_format::advice::{Call, Opt, Warning, Wording};
use skillpm_format::profile::{Listing, LoadProfile};
use skillpm_sources::context::Context;
use skillpm_sources::env::Env;
use skillpm_sources::fs;
use skillpm_sources::settings::Settings;

use crate::entry::{Entry, NotCarried};
use crate::instructions::instructions;
use crate::offer::MAX_WARNED;
use crate::tools::{Answer, skills};
use crate::{Offer, Selection, prompts};

/// Words as a command line has them.
struct Plain;

impl Wording for Plain {
    fn call(&self, call: &Call) -> String {
        format!("`skillpm {}`", call.verb.name())
    }

    fn option(&self, option: Opt, _value: Option<&str>) -> String {
        format!("`--{}`", option.name())
    }
}

/// A project in a directory that is removed at the end.
pub(crate) struct Project(tempfile::TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::tempdir().expect("a directory"));
        for (path, text) in [(".git/HEAD", "")].iter().chain(files) {
            project.write(path, text);
        }
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write_atomic(&path, text.as_bytes()).expect("writes");
    }

    fn context(&self) -> Context {
        let cwd = fs::real_path(self.0.path()).expect("there").expect("there");
        let mut env = Env { cwd: cwd.clone(), ..Env::default() };
        env.vars.insert("HOME".into(), cwd.join("home").into());
        Context::silent(Settings::from_env(env).expect("valid"))
    }

    pub(crate) fn offer(&self, selection: Selection) -> Offer {
        let opened = Places::default().open(&self.context(), LoadProfile::DEFAULT).expect("opens");
        Offer::new(opened.session, selection, &Plain, |_| {})
    }
}

fn names(offer: &Offer) -> Vec<String> {
    let view = offer.view().expect("works");
    view.skills.iter().map(|served| served.skill.meta.name.clone()).collect()
}

fn skill(name: &str) -> String {
    format!("---\nname: {name:?}\ndescription: Does it.\n---\nDo it.\n")
}

pub(crate) fn all() -> Selection {
    Selection {
        names: Vec::new(),
        tags: Vec::new(),
        no_tools: false,
        scripts: Scripts::Deny,
        no_network: false,
        timeout: None,
        interpreters: BTreeMap::new(),
    }
}

fn call(offer: &Offer, tool: &str, arguments: &Value) -> Answer {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    skills::call(offer, tool, &arguments, None).expect("a tool")
}

const PDF: &str =
    "---\nname: pdf\ndescription: Reads PDF files.\nmetadata:\n  level: 3\n---\nRead $ARGUMENTS.\n";
const SECRET: &str = "---\nname: deploy\ndescription: Deploys.\ndisable-model-invocation: true\nargument-hint: '[staging|live]'\n---\nDeploy.\n";
const QUIET: &str = "---\nname: style\ndescription: House style.\nuser-invocable: false\n---\nBe brief.\n";

pub(crate) fn project() -> Project {
    Project::new(&[
        (".agents/skills/pdf/SKILL.md", PDF),
        (".agents/skills/pdf/references/forms.md", "# Forms\n"),
        (".agents/skills/team/deploy/SKILL.md", SECRET),
        (".agents/skills/style/SKILL.md", QUIET),
        (".agents/skills/other/SKILL.md", "---\nname: Not A Name\ndescription: d\n---\nx\n"),
    ])
}

/// C26: the catalog is where a model sees it, and the tools know the names.
#[test]
fn a_model_learns_which_skills_there_are() {
    let project = project();
    let offer = project.offer(all());
    let text = instructions(&offer).expect("works").expect("skills");
    assert!(text.contains("- pdf: Reads PDF files.") && text.contains("load_skill"), "{text}");
    assert!(!text.contains("deploy"), "{text}");
    let tools = skills::definitions(&offer).expect("works");
    let names = &tools[2].input["properties"]["name"]["enum"];
    assert_eq!(names, &json!(["Not A Name", "pdf", "style"]));
    // There is one list of names.
    assert_eq!(tools[3].input["properties"]["name"].get("enum"), None);
    assert!(!tools[2].description.contains("pdf") && tools.iter().all(|tool| tool.is_read_only));
}

/// S4-4: nothing at all where there are no skills.
#[test]
fn without_skills_there_is_nothing() {
    let project = Project::new(&[]);
    let offer = project.offer(all());
    assert_eq!(instructions(&offer).expect("works"), None);
    assert!(skills::definitions(&offer).expect("works").is_empty());
    assert!(prompts::list(&offer).expect("works").is_empty());
}

/// S4-8: the tools can be left out.
#[test]
fn without_tools_no_instructions_name_one() {
    let project = project();
    let offer = project.offer(Selection { no_tools: true, ..all() });
    assert_eq!(instructions(&offer).expect("works"), None);
    assert!(offer.no_tools);
}

#[test]
fn a_skill_is_loaded_with_its_files() {
    let project = project();
    let offer = project.offer(all());
    let answer = call(&offer, "load_skill", &json!({ "name": "pdf", "arguments": "a.pdf" }));
    assert!(!answer.is_error && answer.text.contains("Read a.pdf."), "{}", answer.text);
    assert!(answer.text.contains("<file>references/forms.md</file>"), "{}", answer.text);
    assert_eq!(answer.loaded.as_deref(), Some("pdf"));
    let answer = call(&offer, "read_skill_file", &json!({ "name": "pdf", "path": "references/forms.md" }));
    assert_eq!(answer.text, "# Forms\n");
    let found = call(&offer, "search_skills", &json!({ "query": "read a pdf" }));
    assert!(found.text.starts_with("- pdf: Reads PDF files.\n"), "{}", found.text);
    for (tool, arguments, says) in [
        ("load_skill", json!({ "name": "pdfs" }), "did you mean `pdf`"),
        ("load_skill", json!({ "name": "PDF" }), "did you mean `pdf`"),
        ("load_skill", json!({ "name": "pfd" }), "did you mean `pdf`"),
        ("load_skill", json!({ "name": "pdf-tools" }), "did you mean `pdf`"),
        (
            "read_skill_file",
            json!({ "name": "pdf", "path": "none" }),
            "`load_skill` with `name` `pdf` lists its files",
        ),
        ("load_skill", json!({ "name": "deploy" }), "only a person"),
        ("load_skill", json!({ "skill": "pdf" }), "no argument `skill`"),
        ("load_skill", json!({ "name": 1 }), "not a string"),
        ("load_skill", json!({}), "is missing"),
        ("read_skill_file", json!({ "name": "pdf", "path": "../style/SKILL.md" }), "`..`"),
        ("list_skills", json!({ "offset": -1 }), "whole number"),
    ] {
        let answer = call(&offer, tool, &arguments);
        assert!(answer.is_error && answer.text.contains(says), "{tool} {arguments}: {}", answer.text);
    }
}

/// A file that changes without its frontmatter is a change, too.
#[test]
fn every_file_has_a_part_in_the_fingerprint() {
    let project = project();
    let offer = project.offer(all());
    let mut last = offer.view().expect("works").fingerprint();
    assert_eq!(offer.view().expect("works").fingerprint(), last);
    for (path, text) in [
        ("pdf/SKILL.md", format!("{PDF}More.\n")),
        ("pdf/references/forms.md", "# Other\n".to_owned()),
        ("pdf/new.md", String::new()),
    ] {
        project.write(&format!(".agents/skills/{path}"), &text);
        let next = offer.view().expect("works").fingerprint();
        assert_ne!(next, last, "{path}");
        last = next;
    }
}

#[test]
fn people_start_what_their_skills_allow() {
    let project = project();
    let offer = project.offer(all());
    let names: Vec<_> = prompts::list(&offer).expect("works").into_iter().map(|prompt| prompt.name).collect();
    assert_eq!(names, ["Not A Name", "pdf", "deploy"]);
    let arguments = Map::from_iter([("arguments".to_owned(), json!("b.pdf"))]);
    let (description, text) = prompts::get(&offer, "pdf", &arguments, None).expect("a prompt");
    assert!(description == "Reads PDF files." && text.contains("Read b.pdf."), "{text}");
    assert!(prompts::get(&offer, "style", &Map::new(), None).is_err());
    let view = offer.view().expect("works");
    assert_eq!(prompts::complete(&view, "deploy", "arguments", "l"), ["live"]);
    assert!(prompts::complete(&view, "pdf", "arguments", "").is_empty());
}

#[test]
fn addresses_lead_to_skills_and_files() {
    let project = project();
    let view = project.offer(all()).view().expect("works");
    let paths: Vec<_> =
        view.skills.iter().map(|served| served.path.as_deref().expect("an address")).collect();
    assert_eq!(paths, ["project/Not A Name", "project/pdf", "project/style", "project/team/deploy"]);
    let located = view.locate("skill://project/team/deploy/SKILL.md").expect("a skill");
    assert_eq!((located.served.skill.meta.name.as_str(), located.below.as_str()), ("deploy", "SKILL.md"));
    assert_eq!(view.locate("skill://project/pdf").expect("a directory").below, "");
    for nothing in
        ["skill://project", "skill://user/pdf/SKILL.md", "skill://project/pdfs/SKILL.md", "file:///x"]
    {
        assert!(view.locate(nothing).is_none(), "{nothing}");
    }
    assert_eq!(view.paths("project/p"), ["project/pdf/SKILL.md"]);
    assert_eq!(view.paths("project/pdf/r"), ["project/pdf/references/forms.md"]);
}

#[test]
fn an_entry_has_every_field_and_file() {
    let project = project();
    let view = project.offer(all()).view().expect("works");
    let entry = Entry::read(&view.skills[1]).expect("carried");
    assert_eq!(entry.fields, *json!({ "metadata": { "level": 3 } }).as_object().expect("an object"));
    let files: Vec<_> = entry.files.iter().map(|file| (file.uri.as_str(), file.size)).collect();
    let size = PDF.len() as u64;
    assert_eq!(
        files,
        [("skill://project/pdf/SKILL.md", size), ("skill://project/pdf/references/forms.md", 8)]
    );
    assert!(matches!(Entry::read(&view.skills[0]), Err(NotCarried::Name)));
}

/// Trust is judged at each search, of a directory that is created later too.
#[test]
fn trust_may_change_while_the_server_runs() {
    let project = Project::new(&[]);
    let context = project.context();
    let trusted = |is_trusted| {
        let directories = vec![".".into()];
        let changed = if is_trusted {
            trust(&context, &TrustRequest { directories, force: true })
        } else {
            untrust(&context, &UntrustRequest { directories })
        };
        changed.expect("changes");
    };
    trusted(true);
    let places = Places { only_trusted: true, ..Places::default() };
    let warned = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&warned);
    let opened = places.open(&context, LoadProfile::DEFAULT).expect("opens");
    let offer = Offer::new(opened.session, all(), &Plain, move |warning| {
        told.lock().expect("no panic").push(warning.to_string());
    });
    assert!(names(&offer).is_empty());
    project.write(".agents/skills/pdf/SKILL.md", PDF);
    project.write("home/.agents/skills/style/SKILL.md", QUIET);
    assert_eq!(names(&offer), ["pdf", "style"]);
    for _ in 0..2 {
        trusted(false);
        assert_eq!(names(&offer), ["style"]);
        assert!(call(&offer, "load_skill", &json!({ "name": "pdf" })).is_error);
        trusted(true);
        assert_eq!(names(&offer), ["pdf", "style"]);
    }
    let warned = warned.lock().expect("no panic");
    assert!(warned.len() == 1 && warned[0].contains("the project is not trusted"), "{warned:?}");
    assert!(warned[0].contains(".agents/skills`; `trust .` trusts it"), "{warned:?}");
}

/// `list_skills` says why selected skills are missing: once, and not so often that nothing else is read.
#[test]
fn problems_are_those_of_selected_skills() {
    let project = Project::new(&[(".agents/skills/pdf/SKILL.md", PDF)]);
    for number in 0..25 {
        project.write(&format!(".agents/skills/broken-{number:02}/SKILL.md"), "---\nname: [\n---\n");
    }
    let list = |selection, offset| {
        let answer = call(&project.offer(selection), "list_skills", &json!({ "offset": offset }));
        let problems = answer.text.lines().filter(|line| line.contains("broken-")).count();
        (problems, answer.text)
    };
    let (problems, text) = list(all(), 0);
    assert!(problems == 20 && text.contains("broken-19") && text.ends_with("\n- and 5 more\n"), "{text}");
    assert!(!text.contains("broken-20"), "{text}");
    let (problems, text) = list(all(), 200);
    assert!(problems == 0 && !text.contains("cannot be used"), "{text}");
    let named = |name: &str| Selection { names: vec![name.to_owned()], ..all() };
    assert_eq!(list(named("pdf"), 0).0, 0);
    let (problems, text) = list(named("broken-03"), 0);
    assert!(problems == 1 && text.contains("broken-03"), "{text}");
    assert_eq!(list(Selection { tags: vec!["office".to_owned()], ..all() }, 0).0, 0);
}

#[test]
fn a_new_problem_is_seen_although_no_skill_changed() {
    let project = Project::new(&[(".agents/skills/a/SKILL.md", "x")]);
    let offer = project.offer(all());
    let problems = || offer.view().expect("works").problems.len();
    assert_eq!(problems(), 1);
    project.write(".agents/skills/b/SKILL.md", "x");
    assert_eq!(problems(), 2);
}

/// Standard error may block: nobody holds a lock then. What is remembered is bounded.
#[test]
fn warnings_are_passed_on_once_and_without_a_lock() {
    let project = Project::new(&[(".agents/skills/a/SKILL.md", "x")]);
    let offer: Arc<OnceLock<Weak<Offer>>> = Arc::default();
    let warned = Arc::new(Mutex::new(Vec::new()));
    let (this, told) = (Arc::clone(&offer), Arc::clone(&warned));
    let opened = Places::default().open(&project.context(), LoadProfile::DEFAULT).expect("opens");
    let shared = Arc::new(Offer::new(opened.session, all(), &Plain, move |warning| {
        let offer = this.get().and_then(Weak::upgrade).expect("an offer");
        assert!(!offer.is_locked(), "{warning}");
        told.lock().expect("no panic").push(warning.to_string());
    }));
    offer.set(Arc::downgrade(&shared)).expect("the first");
    for _ in 0..2 {
        shared.view().expect("works");
        shared.warn(&Warning::new("code", "one"));
    }
    assert_eq!(warned.lock().expect("no panic").len(), 2);
    for number in 0..=MAX_WARNED {
        shared.warn(&Warning::new("code", number.to_string()));
    }
    assert_eq!(warned.lock().expect("no panic").len(), MAX_WARNED + 3);
    assert!(shared.remembered() <= MAX_WARNED);
}

/// Whatever skills are called, an address leads to one of them and its files only.
#[test]
fn no_skill_takes_the_address_of_another_one() {
    let project = Project::new(&[
        (".agents/skills/pdf/SKILL.md", PDF),
        (".agents/skills/pdf/inner/notes.md", "of pdf"),
        (".claude/skills/pdf/inner/SKILL.md", &skill("inner")),
        (".agents/skills/team/deploy/SKILL.md", SECRET),
        (".agents/skills/a/SKILL.md", &skill("team/deploy")),
        (".agents/skills/b/SKILL.md", &skill("team")),
        (".agents/skills/c/d/SKILL.md", &skill("..")),
        (".agents/skills/d/SKILL.md", &skill(".")),
        (".agents/skills/e/SKILL.md", &skill("team%2Fdeploy")),
        (".agents/skills/f/SKILL.md", &skill("../pdf")),
        (".agents/skills/g/SKILL.md", &skill("pdf?x#y")),
    ]);
    let warned = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&warned);
    let opened = Places::default().open(&project.context(), LoadProfile::DEFAULT).expect("opens");
    let offer = Offer::new(opened.session, all(), &Plain, move |warning| {
        told.lock().expect("no panic").push(warning.to_string());
    });
    let view = offer.view().expect("works");
    let uris: Vec<_> = view.skills.iter().filter_map(|served| served.uri()).collect();
    let expected = ["team%252Fdeploy", "pdf%3Fx%23y", "pdf", "team/deploy"];
    assert_eq!(uris, expected.map(|path| format!("skill://project/{path}/SKILL.md")));
    for served in &view.skills {
        let name = served.skill.meta.name.as_str();
        for file in resources::list(&served.skill.dir, Listing::All).expect("lists") {
            let Some(path) = &served.path else { continue };
            let located = view.locate(&crate::uri::encode(&format!("{path}/{file}"))).expect("located");
            assert_eq!(located.served.skill.dir.join(located.below), served.skill.dir.join(file));
        }
        let is_told = warned.lock().expect("no panic").iter().any(|text: &String| {
            text.starts_with(&format!(
                "the skill `{name}` is offered by tools only: its name and directory do not"
            ))
        });
        assert_eq!(is_told, served.path.is_none(), "{name}");
        assert_eq!(matches!(Entry::read(served), Err(NotCarried::Address)), served.path.is_none(), "{name}");
        if name != "deploy" {
            assert!(!call(&offer, "load_skill", &json!({ "name": name })).is_error, "{name}");
        }
    }
}
