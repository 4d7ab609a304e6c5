//! What a server offers of a project with a few skills.

use serde_json::{Map, Value, json};
use skillpm_core::admission::Scripts;
use skillpm_core::context::Context;
use skillpm_core::env::Env;
use skillpm_core::fs;
use skillpm_core::ops::places::Places;
use skillpm_core::policy::Policy;
use skillpm_core::settings::Settings;

use crate::entry::{Entry, NotCarried};
use crate::instructions::instructions;
use crate::tools::{Answer, skills};
use crate::{Offer, Selection, prompts};

/// A project in a directory that is removed at the end.
pub(crate) struct Project(tempfile::TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self(tempfile::tempdir().expect("a directory"));
        for (path, text) in [(".git/HEAD", "")].iter().chain(files) {
            let path = project.0.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write_atomic(&path, text.as_bytes()).expect("writes");
        }
        project
    }

    pub(crate) fn offer(&self, selection: Selection) -> Offer {
        let cwd = fs::real_path(self.0.path()).expect("there").expect("there");
        let mut env = Env { cwd: cwd.clone(), ..Env::default() };
        env.vars.insert("HOME".into(), cwd.join("home").into());
        let context = Context::silent(Settings::from_env(env).expect("valid"));
        let opened = Places::default().open(&context, Policy::DEFAULT).expect("opens");
        Offer::new(opened.session, selection, |_| {})
    }
}

pub(crate) fn all() -> Selection {
    Selection {
        names: Vec::new(),
        tags: Vec::new(),
        no_tools: false,
        scripts: Scripts::Deny,
        no_network: false,
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
    assert!(text.contains("**pdf**: Reads PDF files.") && text.contains("load_skill"), "{text}");
    assert!(!text.contains("deploy"), "{text}");
    let tools = skills::definitions(&offer).expect("works");
    let names = &tools[2].input["properties"]["name"]["enum"];
    assert_eq!(names, &json!(["Not A Name", "pdf", "style"]));
    assert!(tools[2].description.contains("pdf") && tools.iter().all(|tool| tool.is_read_only));
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
    assert_eq!(found.value.expect("a value")["skills"][0]["name"], "pdf");
    for (tool, arguments, says) in [
        ("load_skill", json!({ "name": "pdfs" }), "did you mean `pdf`"),
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
    let paths: Vec<_> = view.skills.iter().map(|served| served.path.as_str()).collect();
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
