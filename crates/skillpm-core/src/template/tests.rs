use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::document::Document;
use crate::error::ErrorKind;
use crate::refusal::Limits;
use crate::tree::{FileEntry, Memory};

fn set(files: &[(&str, &str)]) -> FileSet {
    let mut entries = Vec::new();
    let mut contents = Vec::new();
    for (id, (path, text)) in files.iter().enumerate() {
        entries.push(FileEntry::new(SafePath::new(path).expect("safe"), false, text.len() as u64, id));
        contents.push(text.as_bytes().to_vec());
    }
    FileSet::new(entries, Arc::new(Memory(contents)), &Limits::default()).expect("a set")
}

fn values() -> Values {
    Values {
        name: SkillName::new("release-notes").expect("a name"),
        description: "Writes: notes".into(),
        license: None,
        author: None,
        resources: BTreeSet::new(),
        variables: BTreeMap::new(),
    }
}

fn fill(files: &[(&str, &str)]) -> Result<Vec<(String, bool, String)>> {
    let filled = Template::from_files("./t", &set(files))?.fill(&values())?;
    let one = |file: &FileEntry| {
        let text = String::from_utf8(filled.read(file).expect("reads")).expect("text");
        (file.path.to_string(), file.executable, text)
    };
    Ok(filled.files().iter().map(one).collect())
}

fn message(files: &[(&str, &str)]) -> String {
    fill(files).expect_err("refused").to_string()
}

const HEAD: &str = "---\nname: {{ name }}\ndescription: {{ description }}\n---\n";

#[test]
fn the_built_in_templates_are_the_directories() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../templates");
    let beside = crate::fs::list_dir(&root).expect("a directory");
    let directories: Vec<_> = beside
        .into_iter()
        .filter(|name| crate::fs::kind(&root.join(name)).expect("looks") == Some(crate::fs::Kind::Directory))
        .collect();
    let mut names: Vec<_> = BUILTIN.iter().map(|builtin| builtin.name.to_owned()).collect();
    names.sort_unstable();
    assert_eq!(names, directories);
    for builtin in BUILTIN {
        let template = Template::builtin(builtin.name).expect("a template");
        let on_disk = crate::fs::tree_of(&root.join(builtin.name)).expect("reads");
        let on_disk = on_disk.skill("", &Limits::default()).expect("a skill");
        let files: Vec<_> = template.files.iter().map(|f| (f.path.as_str(), f.executable)).collect();
        let expected: Vec<_> = on_disk.files().iter().map(|f| (f.path.as_str(), f.executable)).collect();
        assert_eq!(files, expected, "{}", builtin.name);
    }
    assert!(Resource::ALL.into_iter().all(|resource| builtin::first_file(resource).is_some()));
}

#[test]
fn only_marked_files_and_the_skill_s_own_are_filled_in() {
    let files = fill(&[
        ("SKILL.md", &format!("{HEAD}# {{{{ title }}}} of {{{{ topic }}}}: {{{{ description }}}}\n")),
        ("a.md", "{{ name }}"),
        ("b.md.jinja", "{{ name }}"),
        ("c.yaml.jinja", "x: {{ description }}\n"),
        ("scripts/run", "#!/bin/sh\n"),
        ("scripts/data", "x"),
        (DECLARATION, ""),
    ]);
    let expected = [
        (
            "SKILL.md",
            false,
            "---\nname: release-notes\ndescription: \"Writes: notes\"\n---\n\n# Release notes of release notes: Writes: notes\n",
        ),
        ("a.md", false, "{{ name }}"),
        ("b.md", false, "release-notes"),
        ("c.yaml", false, "x: \"Writes: notes\"\n"),
        ("scripts/data", false, "x"),
        ("scripts/run", true, "#!/bin/sh\n"),
    ];
    let expected = expected.map(|(path, executable, text)| (path.to_owned(), executable, text.to_owned()));
    assert_eq!(files.expect("filled"), expected);
}

/// As `docs/guide/templates.md` describes it.
#[test]
fn lines_of_tags_leave_nothing_behind() {
    let text = |body: &str| {
        let files = fill(&[("SKILL.md", HEAD), ("a.md.jinja", body)]).expect("filled");
        files.into_iter().find(|(path, ..)| path == "a.md").map(|(.., text)| text)
    };
    assert_eq!(text("a\n  {% if name %}\nb\n  {% endif %}\nc\n").as_deref(), Some("a\nb\nc\n"));
    assert_eq!(text("a {% if name %}b{% endif %}\nc\n").as_deref(), Some("a bc\n"));
    assert_eq!(text("a {% if name %}b{% endif +%}\nc\n").as_deref(), Some("a b\nc\n"));
}

#[test]
fn a_wrong_template_is_told_with_its_line() {
    let skill = |body: &str| format!("{HEAD}{body}");
    for (body, message) in [
        ("\n{{ audience }}\n", "line 6: it uses an undeclared value"),
        ("{{ author }}", "line 5: it writes a value that was not given; ask for it with `{% if … %}` first"),
        ("{{ resources }}", "line 5: it writes a list; use the filter `join`"),
        ("{{ name", "line 5: "),
        (
            "{% for x in range(100000) %}{% for y in range(100000) %}{% endfor %}{% endfor %}",
            "it takes too many steps",
        ),
        (&format!("{{% for x in range(5000) %}}{}{{% endfor %}}", "x".repeat(1000)), "it grows beyond 4 MiB"),
        ("{% include '/etc/passwd' %}", "line 5: templates have no tag `include`"),
        (
            &format!("a\n{{{{ {}1 }}}}", "-".repeat(60_000)),
            "line 6: this tag has more than 500 words and signs",
        ),
        (&format!("{{% if {}name %}}", "not ".repeat(60_000)), "line 5: this tag has more than 500 words"),
        (&format!("{{{{ 1{} }}}}", " - 1".repeat(60_000)), "line 5: this tag has more than 500 words"),
        (&format!("{{{{ name{} }}}}", "|upper".repeat(60_000)), "line 5: this tag has more than 500 words"),
    ] {
        let error = fill(&[("SKILL.md", &skill(body))]).expect_err(body);
        assert_eq!(error.kind(), ErrorKind::Config);
        let text = error.to_string();
        assert!(text.starts_with("the template `./t` cannot be filled in: `SKILL.md`"), "{text}");
        assert!(text.contains(message), "{body}: {text}");
        assert!(!text.contains("root:"), "{text}");
    }
    assert!(message(&[("SKILL.md", "# x")]).ends_with("it has no frontmatter between two lines `---`"));
    assert_eq!(message(&[("a.md", "")]), "the template `./t` has no `SKILL.md`");
}

/// A template may come from a stranger. Constructs that make much text from little, step by step or at once, are
/// missing.
#[test]
fn no_value_grows_much_beyond_what_it_is_made_of() {
    let long = "x".repeat(60_000);
    let nested = format!("{{% set x = {}{} %}}{{{{ x|join }}}}", "[".repeat(240), "]".repeat(240));
    for (body, message) in [
        ("{{ 'x' * 90000000 }}", "templates have no `*`: write values one after the other"),
        ("{{ 9 ** 9 }}", "templates have no `**`"),
        ("{% set a = name %}{% set a = a ~ a %}", "templates have no `~`"),
        ("{% for a in [name + name] %}{% endfor %}", "a list holds literal strings and numbers"),
        ("{% with a = name + name %}{% endwith %}", "templates have no `+`"),
        ("{% set a %}{{ name }}{{ name }}{% endset %}", "`set` takes its value inside the tag"),
        ("{% filter upper %}{{ name }}{% endfilter %}", "templates have no tag `filter`"),
        ("{% set ns = namespace(a=1) %}", "line 5: namespace is unknown"),
        ("{% for x in resources recursive %}{{ loop(x) }}{% endfor %}", "templates have no `recursive`"),
        ("{% set a = [[name]] %}", "a list holds literal strings and numbers"),
        ("{% set a = [(1, 2)] %}", "a list holds literal strings and numbers"),
        ("{% set a = (name, name) %}", "a list stands in square brackets"),
        ("{% set a = name, name %}", "a list stands in square brackets"),
        ("{% for a in name, name %}{% endfor %}", "a list stands in square brackets"),
        ("{% set a = {'a': name} %}", "templates have no maps"),
        ("{{ 'x' | indent(99999999999) }}", "filter indent is unknown"),
        ("{{ '%99999999999d' | format(1) }}", "filter format is unknown"),
        ("{{ [1] | batch(99999999999) }}", "filter batch is unknown"),
        ("{{ name | list | string }}", "filter list is unknown"),
        (&format!("{{{{ 'xx' | replace('', '{long}') }}}}"), "this makes more than 64 KiB of text"),
        (&format!("{{{{ [1, 2, 3] | join('{long}') }}}}"), "this makes more than 64 KiB of text"),
        (&nested, "recursion limit"),
        // Fewer steps are allowed if each handles much text.
        (
            &format!(
                "{{% for x in range(5000) %}}{{{{ '{}'|upper|length }}}}{{% endfor %}}",
                "x".repeat(1 << 20)
            ),
            "it takes too many steps",
        ),
    ] {
        let text = message_of(body);
        assert!(text.contains(message), "{body}: {text}");
    }
}

fn message_of(body: &str) -> String {
    message(&[("SKILL.md", &format!("{HEAD}{body}"))])
}

/// The remaining language is enough to write skills.
#[test]
fn the_language_that_there_is() {
    for (body, expected) in [
        ("{{ name|replace('-', '_')|upper }}", "RELEASE_NOTES"),
        ("{% for part in 'a,b'|split(',') %}{{ loop.index }}{{ part }};{% endfor %}", "1a;2b;"),
        ("{% for a, b in [['x', 1], ['y', -2]] %}{{ a }}{{ b }}{% endfor %}", "x1y-2"),
        ("{% set a, b = ['x', 'y'] %}{% with c = a, d = b %}{{ c }}{{ d[0] }}{% endwith %}", "xy"),
        ("{% if name in ['a', 'release-notes'] and not author %}yes{% else %}no{% endif %}", "yes"),
        ("{{ author or 'nobody' }} {{ author|default('x', true) }}", "nobody x"),
        ("{{ ['b', 'a']|sort|join(', ') }} {{ name[:7] }} {{ (7 - 2) % 3 }}", "a, b release 2"),
        ("{{ 'x' if 3 is odd else ['y'][0] }}{% for i in range(3) if i != 1 %}{{ i }}{% endfor %}", "x02"),
    ] {
        let files = fill(&[("SKILL.md", HEAD), ("a.jinja", body)]).expect(body);
        let text = files.into_iter().find(|(path, ..)| path == "a").map(|(.., text)| text);
        assert_eq!(text.as_deref(), Some(expected), "{body}");
    }
}

/// A tag of the maximum length is parsed on the smallest stack that this program runs on.
#[test]
fn long_tags_are_read() {
    let chain = format!("{{{{ {}1 }}}}{{{{ 1{} }}}}", "-".repeat(498), " - 1".repeat(249));
    let long = format!("{HEAD}{}", "text ".repeat(10_000));
    let raw = format!("{HEAD}{{% raw %}}{{{{ {} }}}}{{% endraw %}}", "- ".repeat(10_000));
    for text in [format!("{HEAD}{chain}"), long, raw] {
        fill(&[("SKILL.md", &text)]).expect("filled");
    }
}

#[test]
fn two_files_cannot_become_one() {
    let error = message(&[("SKILL.md", HEAD), ("a", ""), ("a.jinja", "")]);
    assert!(error.contains("`a`"), "{error}");
    message(&[("SKILL.md", HEAD), (".jinja", "")]);
    message(&[("SKILL.md", HEAD), ("x/.git.jinja", "")]);
}

#[test]
fn resources_are_added_where_the_template_has_none() {
    let template =
        Template::from_files("t", &set(&[("SKILL.md", HEAD), ("assets/a", "")])).expect("a template");
    let all = Values { resources: Resource::ALL.into(), ..values() };
    let filled = template.fill(&all).expect("filled");
    let files: Vec<_> = filled.files().iter().map(|file| (file.path.as_str(), file.executable)).collect();
    let expected = [
        ("SKILL.md", false),
        ("assets/a", false),
        ("references/guide.md", false),
        ("scripts/inspect.sh", true),
    ];
    assert_eq!(files, expected);
    let text = filled.read(&filled.files()[0]).expect("reads");
    let text = String::from_utf8(text).expect("text");
    let section = text.split_once("## Files\n\n").expect("a section").1;
    assert!(
        section.contains("(scripts/inspect.sh)") && section.contains("(references/guide.md)"),
        "{section}"
    );
    assert!(!section.contains("assets"), "{section}");
}

proptest! {
    #[test]
    fn no_value_adds_a_line_or_a_key(
        description in "(\\PC|: | #|\"|\\\\|'|\\{\\{ name \\}\\}|---|\n|\r|\u{85}|\u{2028}|- |\\[|\\]|&a|\\*a|!!x|%|@|`){1,40}",
        author in "\\PC{1,20}",
        license in "\\PC{1,20}",
    ) {
        for builtin in BUILTIN {
            let values = Values {
                description: description.clone(),
                author: Some(author.clone()),
                license: Some(license.clone()),
                ..values()
            };
            let filled = builtin::template(builtin).fill(&values).expect("filled");
            let file = filled.get("SKILL.md").expect("there");
            let document = Document::from_bytes(filled.read(file).expect("reads"));
            prop_assert_eq!(document.problems(), []);
            let text = |key: &str| document.get(key).and_then(|node| node.text());
            prop_assert_eq!(text("description"), Some(description.as_str()));
            prop_assert_eq!(text("license"), Some(license.as_str()));
            let metadata = document.get("metadata").expect("there");
            prop_assert_eq!(metadata.get("author").and_then(|node| node.text()), Some(author.as_str()));
            prop_assert_eq!(document.unknown_fields().count(), 0);
            let plain = builtin::template(builtin).fill(&Values { description: "x".into(), ..values }).expect("filled");
            let plain = plain.read(plain.get("SKILL.md").expect("there")).expect("reads");
            let plain = Document::from_bytes(plain);
            prop_assert_eq!(document.body(), plain.body(), "the instructions do not change");
        }
    }
}
