use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::advice::Message;
use crate::document::Document;
use crate::engine::load::SKILL_FILE;
use crate::engine::testing::World;
use crate::error::ErrorKind;
use crate::lint::{self, Profile, Ruleset, Subject};
use crate::reporter::{Choice, Interact};
use crate::tree::FileSet;

fn request(name: &str) -> CreateRequest {
    CreateRequest { name: Some(name.into()), ..CreateRequest::default() }
}

fn read(path: &Path) -> String {
    fs::read_text(&path.join(SKILL_FILE), 99_999).expect("reads").expect("there")
}

/// Returns the findings of all rules for a new skill with its files, after checking that it is told that its text is the
/// template's, in each profile.
fn findings(name: &str, set: &FileSet) -> Vec<lint::Finding> {
    let document = Document::from_bytes(set.read(set.get(SKILL_FILE).expect("there")).expect("reads"));
    let files = crate::engine::files::of_set(set).expect("reads");
    let subject = Subject::new(&document, Some(name), SKILL_FILE).with_files(&files);
    let profiles = [Profile::Spec, Profile::Publish, Profile::ClaudeCode, Profile::Reference].into_iter();
    let found = profiles.flat_map(|profile| lint::check_with(&subject, &Ruleset::new(profile)));
    let is_of = |finding: &lint::Finding| [lint::TEMPLATE_UNTOUCHED, "template-text"].contains(&finding.rule);
    let (left, others): (Vec<_>, Vec<_>) = found.partition(is_of);
    assert_eq!(left.len(), 6, "the description and a step, in three of the profiles");
    others
}

/// S0-US5.1: no profile has a finding for a new skill, from any template.
#[test]
fn a_new_skill_is_right() {
    let world = World::new();
    let all: [BTreeSet<Resource>; 2] = [BTreeSet::new(), Resource::ALL.into()];
    for (template, resources) in
        BUILTIN.iter().flat_map(|builtin| all.each_ref().map(|all| (builtin.name, all)))
    {
        for name in ["pdf", "a", "7zip", "123", "1e5", "2020-01-01", "null", "on", "true", "release-notes"] {
            let request = CreateRequest {
                template: Some(template.into()),
                resources: resources.clone(),
                parent: Some(format!("{template}-{}", resources.len()).into()),
                license: Some("MIT".into()),
                author: Some("Ann: O'Neil <ann@example.org>".into()),
                ..request(name)
            };
            let outcome = create(&world.context(), &request).expect(name);
            let tree = fs::tree_of(&outcome.path).expect("reads");
            let set = tree.skill("", &crate::refusal::Limits::default()).expect("a skill");
            assert_eq!(findings(name, &set), [], "{template} {name}");
            let text = read(&outcome.path);
            let formatted =
                crate::document::format(&Document::parse(text.clone())).expect("can be formatted");
            assert_eq!(formatted, text, "{template} {name}: it is in canonical form");
            assert!(!text.contains("{{") && !text.contains("{%"), "{text}");
            let is_script = |file: &crate::tree::FileEntry| file.path.as_str().starts_with("scripts/");
            assert!(set.files().iter().all(|file| file.executable == is_script(file)));
        }
    }
    let left = fs::list_dir(world.project()).expect("lists");
    assert!(!left.iter().any(|name| name.starts_with(".skillpm-")), "{left:?}");
}

#[cfg(unix)]
#[test]
fn the_directory_is_not_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    let path = create(&world.context(), &request("pdf")).expect("works").path;
    fs::create_dir(&world.project().join("other")).expect("creates");
    assert_eq!(mode(&path), mode(&world.project().join("other")));
    assert_eq!(mode(&path.join(SKILL_FILE)), 0o644);
}

#[test]
fn nothing_is_overwritten() {
    let world = World::new();
    world.write("skills/pdf", "mine");
    let mut request = request("pdf");
    request.parent = Some("skills".into());
    let error = create(&world.context(), &request).expect_err("is there");
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert!(error.to_string().ends_with("pdf` already exists"), "{error}");
    assert_eq!(fs::list_dir(&world.project().join("skills")).expect("lists"), ["pdf"]);
    request.parent = Some("new/place".into());
    let path = create(&world.context(), &request).expect("the parent is made").path;
    assert_eq!(path, world.project().join("new/place/pdf"));
    assert!(create(&world.context(), &request).is_err(), "its own work neither");
}

#[test]
fn a_dry_run_makes_nothing() {
    let world = World::new();
    let request = CreateRequest { dry_run: true, parent: Some("new".into()), ..request("pdf") };
    let outcome = create(&world.context(), &request).expect("works");
    assert_eq!(outcome.files.len(), 1);
    assert_eq!(fs::list_dir(world.project()).expect("lists"), [".git"]);
}

/// S4-7: creation in a scope.
#[test]
fn a_scope_is_a_place() {
    let world = World::new();
    for (kind, root) in [(ScopeKind::Project, world.project()), (ScopeKind::User, world.home())] {
        let request = CreateRequest { scope: Some(kind), ..request("pdf") };
        let made = create(&world.context(), &request).expect("works");
        let beside = if kind == ScopeKind::User { ".config/skillpm/skills/pdf" } else { "skills/pdf" };
        assert_eq!(made.path, root.join(beside));
        assert!(made.installed.is_some_and(|installed| installed.files_changed.manifest));
        let linked = fs::real_path(&root.join(".agents/skills/pdf")).expect("looks");
        assert_eq!(linked, fs::real_path(&made.path).expect("looks"));
        let again = create(&world.context(), &request).expect_err("it is there");
        assert_eq!(again.to_string(), "`pdf` is already installed");
    }
    // Both are as they were made, so it makes no difference which is used.
    assert_eq!(world.find("pdf").expect("found").warnings.len(), 0);
}

/// Conflict C2, the strict level.
#[test]
fn a_wrong_name_gets_the_rule_and_a_right_one() {
    let world = World::new();
    for (name, message, hint) in [
        ("PDF Reader", "the name `PDF Reader` has an upper-case letter", Some("`create pdf-reader`")),
        (
            "../etc",
            "the name `../etc` contains `.`; only letters, digits and hyphens are allowed",
            Some("`create etc` with `path=..`"),
        ),
        (
            "my skills/pdf/",
            "the name `my skills/pdf/` contains a space; only letters, digits and hyphens are allowed",
            Some("`create pdf` with `path=my skills`"),
        ),
        ("a/B", "the name `a/B` has an upper-case letter", Some("`create a-b`")),
        ("-pdf", "the name `-pdf` starts or ends with a hyphen", Some("`create pdf`")),
        ("技能", "the name `技能` has letters that not every tool accepts", None),
        ("", "the name is empty", None),
    ] {
        let error = create(&world.context(), &request(name)).expect_err(name);
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, message));
        assert!(error.hints()[0].to_string().contains("single hyphens"));
        let does = |args: &str| if args.contains("path") { "makes it there" } else { "would work" };
        let offer = hint.map(|args| format!("{args} {}", does(args)));
        assert_eq!(error.hints().get(1).map(ToString::to_string), offer, "{name}");
    }
    assert_eq!(fs::list_dir(world.project()).expect("lists"), [".git"], "nothing was written");
}

#[test]
fn a_wrong_value_is_refused() {
    for (text, message) in [
        (" ", "the description is empty"),
        ("a\nb", "the description has more than one line"),
        ("a\u{2028}b", "the description has more than one line"),
        ("a\u{1b}[2J", "the description has the control character U+001B"),
        (&"é".repeat(1025), "the description has 1025 characters, 1024 are allowed"),
    ] {
        let error = check::description(text).expect_err(message);
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, message));
    }
    assert!(check::description(&"é".repeat(1024)).is_ok());
    for (text, message) in [
        ("", "the author is empty"),
        ("a\nallowed-tools: Bash", "the author has more than one line"),
        (&"x".repeat(501), "the author has 501 characters, 500 are allowed"),
    ] {
        assert_eq!(check::line("author", text).expect_err(message).to_string(), message);
    }
}

/// Gives scripted answers, and records the questions and the comments on answers.
struct Scripted(&'static [&'static str], Mutex<Vec<String>>, Mutex<Vec<String>>);

impl Interact for Scripted {
    fn choose(&self, _question: &str, _items: &[Choice]) -> Option<Vec<usize>> {
        None
    }

    fn input(&self, question: &str, default: &str) -> Option<String> {
        let mut asked = self.1.lock().expect("one thread");
        let answer = self.0.get(asked.len()).copied().unwrap_or_default();
        asked.push(format!("{question} [{default}]"));
        Some(if answer.is_empty() { default } else { answer }.to_owned())
    }

    fn refuse(&self, reason: &Message) {
        self.2.lock().expect("one thread").push(reason.to_string());
    }
}

#[test]
fn a_person_is_asked_for_what_is_missing() {
    let world = World::new();
    let person = Arc::new(Scripted(&["pdf", "", "Ann", "", "testers"], Mutex::default(), Mutex::default()));
    let context = Context { interact: person.clone(), ..world.context() };
    world.write(
        "t/SKILL.md",
        "---\nname: {{ name }}\ndescription: {{ description }}\n---\nFor {{ audience }}.\n",
    );
    world.write("t/template.toml", "[variables.audience]\nprompt = \"who reads it\"\ndefault = \"all\"\n");
    let request = CreateRequest { template: Some("./t".into()), ..CreateRequest::default() };
    let outcome = create(&context, &request).expect("made");
    assert!(read(&outcome.path).ends_with(
        "description: \"[TODO: what this skill does, and when to use it]\"\n---\n\nFor testers.\n"
    ));
    assert_eq!(
        *person.1.lock().expect("one thread"),
        [
            "name of the skill []",
            "what it does, and when to use it (empty: to be written) []",
            "author (empty: none) []",
            "license, such as MIT (empty: none) []",
            "who reads it [all]",
        ]
    );
    let error = create(&world.context(), &CreateRequest::default()).expect_err("nobody is asked");
    assert_eq!(error.to_string(), "the skill needs a name");
}

#[test]
fn templates_of_one_s_own() {
    let world = World::new();
    world.write("t/SKILL.md", "---\nname: {{ name }}\ndescription: {{ description }}\n---\n{{ tool }}\n");
    world.write("t/template.toml", "[variables.tool]\n");
    world.write("bad/SKILL.md", "---\nname: fixed\ndescription: {{ description }}\n---\n");
    let made = |template: &str, vars: &[(&str, &str)]| {
        let variables = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request = CreateRequest { template: Some(template.into()), variables, ..request("pdf") };
        create(&world.context(), &request).map(|outcome| read(&outcome.path))
    };
    let message =
        |template: &str, vars: &[(&str, &str)]| made(template, vars).expect_err(template).to_string();
    assert_eq!(message("./t", &[]), "the template `./t` needs a value for `tool`: tool");
    assert_eq!(message("./t", &[("tol", "x")]), "the template `./t` has no variable `tol`");
    assert_eq!(message("./t", &[("tool", "x\ny")]), "the `tool` has more than one line");
    assert_eq!(message("bascic", &[]), "there is no template `bascic`");
    assert_eq!(message("./nowhere", &[]), "`./nowhere` does not exist");
    assert_eq!(
        message("owner/repo@skill", &[]),
        "`owner/repo@skill` names a skill, but a template is a directory"
    );
    assert_eq!(message(".", &[]), "the template `.` has no `SKILL.md`");
    assert_eq!(
        message("./bad", &[]),
        "the template `./bad` makes a skill that cannot be published: `SKILL.md`, line 2: the name `fixed` differs \
         from the directory's name `pdf`"
    );
    assert!(made("./t", &[("tool", "awk")]).expect("made").ends_with("---\n\nawk\n"));
}

/// The rules for names of installed skills apply to templates too.
#[cfg(unix)]
#[test]
fn a_hostile_template_is_refused() {
    let world = World::new();
    world.write("secret", "key");
    world.write("t/SKILL.md", "---\nname: {{ name }}\ndescription: {{ description }}\n---\n");
    world.link("../secret", "t/notes.md");
    let request = CreateRequest { template: Some("./t".into()), ..request("pdf") };
    let error = create(&world.context(), &request).expect_err("a link that leads out");
    assert_eq!(error.kind(), ErrorKind::Integrity);
    assert_eq!(fs::kind(&world.project().join("pdf")).expect("looks"), None);
    fs::remove_link(&world.project().join("t/notes.md")).expect("removed");
    world.write("t/.skillpm-x.jinja", "");
    create(&world.context(), &request).expect_err("a name of our own");
}

/// Returns the errors that `validate --profile publish` finds in the skill, as on the command line.
fn published(world: &World, path: &Path) -> Vec<lint::Finding> {
    use crate::ops::validate::{Target, ValidateRequest, validate};
    let request = ValidateRequest {
        targets: vec![Target::Path(path.to_owned())],
        options: Profile::Publish.into(),
        ..ValidateRequest::default()
    };
    let outcome = validate(&world.context(), &request).expect("checks");
    let is_error = |finding: &&lint::Finding| finding.severity == lint::Severity::Error;
    outcome.findings().filter(is_error).filter(|one| one.rule != lint::TEMPLATE_UNTOUCHED).cloned().collect()
}

/// A plain description is taken as it is, and its absence is told by `validate`, not covered up.
#[test]
fn a_plain_description_is_enough_and_none_is_told() {
    let world = World::new();
    let made = |name: &str, description: Option<&str>| {
        let request = CreateRequest { description: description.map(str::to_owned), ..request(name) };
        create(&world.context(), &request).expect(name).path
    };
    let path = made("plain", Some("What it does"));
    assert_eq!(published(&world, &path), []);
    let path = made("none", None);
    let rules: Vec<_> = published(&world, &path).iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["template-text"]);
}

/// A bad value is refused with its position, before anything is written.
#[test]
fn what_cannot_be_published_is_not_made() {
    let world = World::new();
    world.write(
        "t/SKILL.md",
        "---\nname: {{ name }}\ndescription: {{ description }}\nmetadata:\n  version: {{ version }}\n---\n\n\
         # {{ title }}\n\nFor {{ audience }}.\n",
    );
    world.write(
        "t/template.toml",
        "[variables.audience]\ndefault = \"all\"\n[variables.version]\ndefault = \"1.0.0\"\n",
    );
    let fine = Some("Reads logs. Use when logs are long.".to_owned());
    let right = || CreateRequest { description: fine.clone(), ..request("pdf") };
    let variable = |name: &str, value: &str| CreateRequest {
        template: Some("./t".into()),
        variables: BTreeMap::from([(name.to_owned(), value.to_owned())]),
        ..right()
    };
    for (request, told) in [
        (
            CreateRequest { description: Some("Reads é: {{ x }}. Use when \"a\".".into()), ..right() },
            "description, character 10: template text is left: `{{ x }}`",
        ),
        (
            variable("audience", "people and lorem ipsum"),
            "`audience`, character 12: template text is left: `lorem ipsum`",
        ),
        (variable("version", "one"), "`version`: `one` is not a version: unexpected character"),
        (request("lorem-ipsum"), "name: template text is left: `Lorem ipsum`"),
    ] {
        let error = create(&world.context(), &request).expect_err(told);
        let message = format!("this skill could not be published: {told}");
        assert!(error.to_string().starts_with(&message), "{error}\n{message}");
        assert_eq!(error.kind(), ErrorKind::Usage, "{told}");
        assert!(
            error.hints().iter().any(|hint| hint.starts_with("nothing was written")),
            "{:?}",
            error.hints()
        );
        assert_eq!(fs::list_dir(world.project()).expect("lists"), [".git", "t"], "{told}");
    }
}

/// Content of the template itself is the template's fault.
#[test]
fn a_template_that_cannot_be_published_is_told_as_such() {
    let world = World::new();
    world.write(
        "t/SKILL.md",
        "---\nname: {{ name }}\ndescription: {{ description }}\n---\n\n# {{ title }}\n\nTODO: write {{ name }}.\n",
    );
    let request = CreateRequest { template: Some("./t".into()), ..request("pdf") };
    let error = create(&world.context(), &request).expect_err("a part is left");
    assert_eq!(error.kind(), ErrorKind::Findings);
    let message = "the template `./t` makes a skill that cannot be published: `SKILL.md`, line 8: template \
        text is left: `TODO:`";
    assert!(error.to_string().starts_with(message), "{error}");
    assert_eq!(fs::list_dir(world.project()).expect("lists"), [".git", "t"]);
}

/// The user gets the reason why an answer does not pass, and is asked for this one value again, but not
/// forever.
#[test]
fn a_person_is_asked_again() {
    let world = World::new();
    let answers = &["My Skill", "", "[TODO: say it]", "Reads logs.", "", "MIT"];
    let person = Arc::new(Scripted(answers, Mutex::default(), Mutex::default()));
    let context = Context { interact: person.clone(), ..world.context() };
    let path = create(&context, &CreateRequest::default()).expect("made").path;
    assert!(read(&path).starts_with("---\nname: my-skill\ndescription: Reads logs.\nlicense: MIT\n"));
    let asked = person.1.lock().expect("one thread").clone();
    let short: Vec<_> = asked.iter().map(|line| line.chars().take(60).collect::<String>()).collect();
    assert_eq!(
        short,
        [
            "name of the skill []",
            "name of the skill [my-skill]",
            "what it does, and when to use it (empty: to be written) []",
            "what it does, and when to use it (empty: to be written) []",
            "author (empty: none) []",
            "license, such as MIT (empty: none) []",
        ]
    );
    let told = person.2.lock().expect("one thread").clone();
    assert_eq!(told.len(), 2);
    assert!(told[0].starts_with("the name `My Skill` has an upper-case letter\n"), "{told:?}");
    assert!(told[1].contains("template text is left: `[TODO: say it]`"), "{told:?}");
    // A flag is treated like an answer.
    let request = CreateRequest { description: Some("[TODO: a]".into()), ..request("other") };
    let person = Arc::new(Scripted(&["[TODO: b]", "[TODO: c]"], Mutex::default(), Mutex::default()));
    let context = Context { interact: person, ..world.context() };
    let error = create(&context, &request).expect_err("never right");
    assert!(error.to_string().contains("`[TODO: c]`"), "{error}");
    assert_eq!(fs::kind(&world.project().join("other")).expect("looks"), None);
}

/// Pieces that rules look for, in any order: many of the texts are refused, and the rest pass.
const PIECES: &str = "(\\PC|[a-z ]{1,6}|Use when |Reads logs. |\\{\\{name\\}\\}|---|<<<<<<<|: | #|\"|'|\\\\|TODO|I can |your |\
    <b>|<!-- |-->|C:\\\\x|/home/me/x|\\[a\\]\\(b.md\\)|`scripts/x.sh`|MIT|Apache-2.0|see LICENSE|lorem ipsum|\\$ARGUMENTS|\
    \u{200b}|\u{202e}|ignore previous instructions|skillpm: allow-file name-length){1,12}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Everything that `create` writes passes `validate --profile publish`, and has the meaning of what was typed.
    #[test]
    fn whatever_is_made_can_be_published(
        name in "[a-z0-9]{1,9}(-[a-z0-9]{1,5}){0,2}|lorem-ipsum|my-todo|null",
        text in PIECES,
        useful in any::<bool>(),
        author in prop::option::of(PIECES),
        license in prop::option::of("MIT|Apache-2.0 OR MIT|GPL-3.0-only|Proprietary|see LICENSE|[a-zA-Z.0-9: -]{1,9}"),
        resources in prop::sample::subsequence(Resource::ALL.to_vec(), 0..=3),
    ) {
        let world = World::new();
        let description = if useful { format!("Reads logs: {text}. Use when logs are long.") } else { text };
        for builtin in BUILTIN {
            let request = CreateRequest {
                name: Some(name.clone()),
                description: Some(description.clone()),
                license: license.clone(),
                author: author.clone(),
                template: Some(builtin.name.into()),
                resources: resources.iter().copied().collect(),
                parent: Some(builtin.name.into()),
                ..CreateRequest::default()
            };
            let outcome = match create(&world.context(), &request) {
                Ok(outcome) => outcome,
                Err(error) => {
                    prop_assert_eq!(error.kind(), ErrorKind::Usage, "the values are at fault: {}", error);
                    prop_assert_eq!(fs::kind(&world.project().join(builtin.name)).expect("looks"), None);
                    continue;
                }
            };
            prop_assert_eq!(published(&world, &outcome.path), []);
            let document = Document::parse(read(&outcome.path));
            prop_assert_eq!(document.name(), Some(name.as_str()));
            prop_assert_eq!(document.description(), Some(description.trim()));
        }
    }
}
