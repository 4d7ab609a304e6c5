mod budget;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::engine::testing::World;
use crate::profile::LoadProfile;
use crate::skill::SkillMeta;

fn skill(name: &str, description: &str) -> Skill {
    let meta = SkillMeta { name: name.into(), description: description.into(), ..SkillMeta::default() };
    let dir = PathBuf::from(format!("/p/.agents/skills/{}", name.replace('/', "_")));
    Skill {
        meta,
        source: "project".into(),
        kind: SourceKind::Project,
        file: dir.join("SKILL.md"),
        real: PathBuf::from("/real").join(dir.file_name().unwrap_or_default()),
        dir,
        deviations: Vec::new(),
    }
}

fn arcs(skills: impl IntoIterator<Item = Skill>) -> Vec<Arc<Skill>> {
    skills.into_iter().map(Arc::new).collect()
}

fn full() -> Vec<Arc<Skill>> {
    let mut pdf = skill("pdf", "Reads <PDF> & \"forms\".\n  Use it for 'PDF'.");
    pdf.meta.compatibility = Some("python3 & git".into());
    pdf.meta.allowed_tools = vec!["Bash(git:*)".into(), "Read".into()];
    pdf.meta.tags = vec!["office".into(), "files".into()];
    pdf.meta.version = Some("1.10".into());
    arcs([pdf, skill("docx", "Writes.")])
}

fn text(skills: &[Arc<Skill>], form: CatalogForm, options: &Options) -> String {
    catalog(skills, &Options { form, ..options.clone() }).text().into_owned()
}

/// A text is taken as it is only if no form escapes any of it.
#[test]
fn only_plain_texts_are_taken_as_they_are() {
    let is_taken = |text: &str| matches!(CatalogForm::Xml.escaped(text), Cow::Borrowed(_));
    for byte in 0..0x80_u8 {
        let character = char::from(byte);
        let is_plain = !character.is_control() && !"&<>\"'\\".contains(character);
        for before in ["", "ab", &"x".repeat(40)] {
            for text in [format!("{before}{character}"), format!("{before}{character}x")] {
                assert_eq!(is_taken(&text), is_plain, "{text:?}");
            }
        }
    }
    assert!(is_taken("") && is_taken("one two"));
    for text in ["é", "x\u{202e}", "two  gaps", &format!("{}  x", "x".repeat(31))] {
        assert!(!is_taken(text), "{text:?}");
    }
}

/// S4-2, S4-3, S3-FR-12, conflict C27: each form, with all fields that a skill has.
#[test]
fn forms() {
    let all = Options {
        fields: Field::NAMES.iter().map(|(_, field)| *field).filter(|field| *field != Field::Files).collect(),
        ..Options::default()
    };
    let of = |form| text(&full(), form, &all);
    insta::assert_snapshot!(of(CatalogForm::Xml), @r#"
    <available_skills>
      <skill>
        <name>pdf</name>
        <description>Reads &lt;PDF&gt; &amp; "forms". Use it for 'PDF'.</description>
        <location>/p/.agents/skills/pdf/SKILL.md</location>
        <compatibility>python3 &amp; git</compatibility>
        <version>1.10</version>
        <allowed-tools>Bash(git:*), Read</allowed-tools>
        <tags>office, files</tags>
      </skill>
      <skill>
        <name>docx</name>
        <description>Writes.</description>
        <location>/p/.agents/skills/docx/SKILL.md</location>
      </skill>
    </available_skills>
    "#);
    insta::assert_snapshot!(of(CatalogForm::Markdown), @r#"
    - **pdf**: Reads &lt;PDF> & "forms". Use it for 'PDF'.
      - location: /p/.agents/skills/pdf/SKILL.md
      - compatibility: python3 & git
      - version: 1.10
      - allowed-tools: Bash(git:*), Read
      - tags: office, files
    - **docx**: Writes.
      - location: /p/.agents/skills/docx/SKILL.md
    "#);
    insta::assert_snapshot!(of(CatalogForm::Plain), @r#"
    pdf: Reads <PDF> & "forms". Use it for 'PDF'.
      location: /p/.agents/skills/pdf/SKILL.md
      compatibility: python3 & git
      version: 1.10
      allowed-tools: Bash(git:*), Read
      tags: office, files
    docx: Writes.
      location: /p/.agents/skills/docx/SKILL.md
    "#);
    insta::assert_snapshot!(of(CatalogForm::Json), @r#"
    {
      "skills": [
        {
          "name": "pdf",
          "description": "Reads <PDF> & \"forms\".\n  Use it for 'PDF'.",
          "location": "/p/.agents/skills/pdf/SKILL.md",
          "compatibility": "python3 & git",
          "allowed_tools": [
            "Bash(git:*)",
            "Read"
          ],
          "tags": [
            "office",
            "files"
          ],
          "version": "1.10"
        },
        {
          "name": "docx",
          "description": "Writes.",
          "location": "/p/.agents/skills/docx/SKILL.md"
        }
      ],
      "tokens": 152,
      "budget": null,
      "cut": []
    }
    "#);
}

/// The output is that of the reference's `to-prompt`, except for locations, which the reference does not escape.
#[test]
fn the_reference_s_lines() {
    let text = text(&full()[..1], CatalogForm::Reference, &Options::default());
    assert_eq!(
        text,
        "<available_skills>\n<skill>\n<name>\npdf\n</name>\n<description>\nReads &lt;PDF&gt; &amp; \
         &quot;forms&quot;.\n  Use it for &#x27;PDF&#x27;.\n</description>\n<location>\n/real/pdf/SKILL.md\n\
         </location>\n</skill>\n</available_skills>\n"
    );
}

/// S4-4, conflict C27: without skills the text is empty unless a text for that case is given; JSON stays JSON.
#[test]
fn no_skills() {
    for (_, form) in CatalogForm::NAMES {
        let nothing = text(&[], form, &Options::default());
        let said = text(&[], form, &Options { empty: "No skills available.".into(), ..Options::default() });
        if form == CatalogForm::Json {
            assert_eq!(nothing, said);
            assert!(nothing.contains("\"cut\": []"), "{nothing}");
            let value: Value = serde_json::from_str(&nothing).expect("JSON");
            assert_eq!(value["skills"], serde_json::json!([]));
        } else {
            let tags = "<available_skills>\n</available_skills>\n";
            let expected = if form == CatalogForm::Reference { tags } else { "" };
            assert_eq!((nothing.as_str(), said.as_str()), (expected, "No skills available."));
        }
    }
}

/// Skills that only a person may start, disabled skills, and skills with other tags are left out.
#[test]
fn filters() {
    let mut skills = Vec::new();
    for (name, value) in [("shown", Value::Bool(false)), ("flag", true.into()), ("text", "True".into())] {
        let mut skill = skill(name, "x");
        skill.meta.extra.insert("disable-model-invocation".into(), value);
        skill.meta.tags = vec![name.to_owned(), "all".to_owned()];
        skills.push(skill);
    }
    let skills = arcs(skills);
    let names = |options: Options| {
        let told = catalog(&skills, &Options { fields: Vec::new(), form: CatalogForm::Plain, ..options });
        assert_eq!(told.count, told.text().lines().count());
        told.text().replace('\n', " ").trim().to_owned()
    };
    assert_eq!(names(Options::default()), "shown");
    let hidden = || Options { hidden: true, ..Options::default() };
    assert_eq!(names(hidden()), "shown flag text");
    assert_eq!(names(Options { tags: vec!["flag".into(), "text".into()], ..hidden() }), "flag text");
    assert_eq!(names(Options { tags: vec!["none".into()], ..hidden() }), "");
    let disabled = |kind| Options { disabled: vec![(kind, "flag".into())], ..hidden() };
    assert_eq!(names(disabled(SourceKind::Project)), "shown text");
    assert_eq!(names(disabled(SourceKind::User)), "shown flag text", "that is another one");
}

fn fifty() -> Vec<Arc<Skill>> {
    let words =
        "Extracts text and tables from PDF files, fills forms, merges documents. Use when it says so. ";
    arcs((0..50).map(|number| {
        let description =
            words.repeat(12).chars().take(if number % 5 == 0 { 60 } else { 1000 }).collect::<String>();
        skill(&format!("skill-number-{number}"), &description)
    }))
}

/// S3-NFR-4, conflict C28: 50 skills with long descriptions take at most 5,000 tokens; the longest descriptions are
/// shortened, all names stay, and the cuts are reported.
#[test]
fn a_budget_is_kept() {
    for (_, form) in CatalogForm::NAMES {
        let options = Options { form, budget: Some(5000), ..Options::default() };
        let skills = fifty();
        let cut = catalog(&skills, &options);
        let tokens = cut.most.expect("counted");
        assert!(!cut.is_over_budget() && (4500..=5000).contains(&tokens), "{form}: {tokens}");
        let text = cut.text();
        assert!((0..50).all(|number| text.contains(&format!("skill-number-{number}"))));
        assert_eq!(cut.loss.cut.len(), 40, "{form}: the short ones are whole");
        assert!(cut.loss.cut.iter().all(|cut| cut.characters == 1000 && cut.kept > 60 && cut.kept < 600));
        for budget in [100_000, usize::MAX] {
            let options = Options { budget: Some(budget), ..options.clone() };
            assert!(catalog(&skills, &options).loss.cut.is_empty(), "{form}: {budget}");
        }
    }
}

/// In JSON the text has the list of what was shortened, and its own number of tokens: both are within the budget and
/// in the number. The list is left out before the descriptions are.
#[test]
fn json_counts_all_of_itself() {
    let skills = fifty();
    for (budget, is_listed) in [(usize::MAX, true), (6000, true), (4600, true), (3300, false), (3200, false)]
    {
        let options = Options { form: CatalogForm::Json, budget: Some(budget), ..Options::default() };
        let told = catalog(&skills, &options);
        let text = told.text();
        let most = tokens::most(&text);
        assert!(most <= budget && told.most == Some(most) && !told.is_over_budget(), "{budget}: {most}");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["tokens"], tokens::estimate(&text), "{budget}");
        let listed = value["cut"].as_array().expect("a list").len();
        let unlisted = value["unlisted"].as_u64();
        let cut = told.loss.cut.len();
        let expected = if is_listed { (cut, None) } else { (0, Some(cut as u64)) };
        assert_eq!((listed, unlisted), expected, "{budget}");
        assert!(budget == usize::MAX || most > budget * 9 / 10, "{budget}: no room is wasted: {most}");
        let described = value["skills"].as_array().expect("skills");
        assert!(described.iter().all(|skill| skill["description"].is_string()), "{budget}: {text}");
    }
    let none = catalog(&skills, &Options { form: CatalogForm::Json, ..Options::default() });
    assert_eq!(none.tokens, Some(tokens::estimate(&none.text())));
}

/// A catalog that fits as a whole is not cut, even if its parts, each rounded up to whole tokens, exceed the budget.
#[test]
fn what_fits_is_not_cut() {
    for (_, form) in CatalogForm::NAMES {
        let skills =
            arcs(["Überträgt Daten & prüft \"sie\".", "<b>", "日本語の説明"].map(|text| skill("a", text)));
        let of = |budget| catalog(&skills, &Options { form, budget: Some(budget), ..Options::default() });
        // In JSON the budget is a part of the text, with as many digits.
        let tokens = of(999).most.expect("counted");
        assert_eq!((of(tokens).loss.cut.len(), of(tokens).most), (0, Some(tokens)), "{form}");
        assert!(!of(tokens - 1).loss.cut.is_empty(), "{form}");
    }
}

/// Conflict C28: no budget is so small that a name is dropped.
#[test]
fn names_are_never_dropped() {
    let cut = catalog(&fifty(), &Options { budget: Some(1), ..Options::default() });
    assert!(cut.is_over_budget() && cut.count == 50 && cut.loss.cut.len() == 50);
    assert!(!cut.text().contains("<description>"));
    assert!((0..50).all(|number| cut.text().contains(&format!("<name>skill-number-{number}</name>"))));
}

/// S3-FR-12: the files of a skill are listed on request.
#[test]
fn files() {
    let world = World::new();
    world.skill(".agents/skills/pdf", "pdf");
    world.write(".agents/skills/pdf/references/a, b.md", "");
    world.write(".agents/skills/pdf/scripts/x.py", "");
    let library = Library::of_places(&world.settings(&[]), LoadProfile::DEFAULT).expect("places");
    let options = Options {
        fields: vec![Field::Location, Field::Files],
        relative_to: Some(world.project().join("docs")),
        ..Options::default()
    };
    let text = library.catalog(&options).expect("no error").text().into_owned();
    assert_eq!(
        text,
        "<available_skills>\n  <skill>\n    <name>pdf</name>\n    \
         <location>../.agents/skills/pdf/SKILL.md</location>\n    <file>references/a, b.md</file>\n    \
         <file>scripts/x.py</file>\n  </skill>\n</available_skills>\n"
    );
}

/// A file is reported as one file, under any name.
#[test]
fn names_of_files_stay_whole() {
    let told = Told { name: "a".into(), files: vec!["a\nb.md".into(), "c\td.md".into()], ..Told::default() };
    let text = |form: CatalogForm| form.render(std::slice::from_ref(&told), None);
    let xml = text(CatalogForm::Xml);
    assert!(xml.contains("<file>a\\u{a}b.md</file>\n    <file>c\\u{9}d.md</file>\n"), "{xml}");
    let plain = text(CatalogForm::Plain);
    assert!(plain.contains(": a\\u{a}b.md, c\\u{9}d.md\n"), "{plain}");
}

/// A path that an agent opens keeps its white space, on one line.
#[test]
fn paths_keep_their_gaps() {
    let location = "/p/新\u{3000}dir  x/a\nb\u{2028}<c>/SKILL.md";
    let told = Told {
        name: "a".into(),
        location: Some(location.into()),
        files: vec!["two  gaps\u{2029}.md".into()],
        ..Told::default()
    };
    let text = |form: CatalogForm| whole(std::slice::from_ref(&told), form, None, &Loss::default());
    let shown = "/p/新\u{3000}dir  x/a\\u{a}b\\u{2028}";
    for (form, rest) in [
        (CatalogForm::Xml, "<location>P&lt;c&gt;/SKILL.md</location>\n    <file>F</file>\n"),
        (CatalogForm::Reference, "<location>\nP&lt;c&gt;/SKILL.md\n</location>\n<file>\nF\n</file>\n"),
        (CatalogForm::Markdown, "location: P&lt;c>/SKILL.md\n  - files: F\n"),
        (CatalogForm::Plain, "location: P<c>/SKILL.md\n  files: F\n"),
    ] {
        let expected = rest.replace('P', shown).replace('F', "two  gaps\\u{2029}.md");
        let text = text(form);
        assert!(text.contains(&expected), "{text}");
    }
    assert!(text(CatalogForm::Json).contains("新\u{3000}dir  x/a\\nb"), "JSON has it as it is");
}

proptest! {
    /// Conflict C27: no text of a skill can end its element or a block in a file.
    #[test]
    fn nobody_breaks_out(
        name in "(<|>|/|&|-|!|\n|a|skill|available_skills|<!-- end of the skillpm catalog -->|\u{202e}){1,8}",
        description in "(<|>|/|&|-|!|\n\n|# a|```|\"|\\\\|<!-- end of the skillpm catalog -->|</description>|é){1,12}",
        budget in proptest::option::of(0_usize..60),
    ) {
        let skills = arcs([skill(&name, &description), skill("last", "Last.")]);
        for (_, form) in CatalogForm::NAMES {
            let text = text(&skills, form, &Options { budget, ..Options::default() });
            prop_assert!(!text.contains("<!--"), "{}", text);
            let file = block::put(b"# A\n", &text, "A.md").expect("no marks");
            prop_assert_eq!(block::put(&file, "", "A.md").expect("one block").len(), "# A\n\n".len() + block::start("A.md").len() + block::END.len() + 2);
            match form {
                CatalogForm::Xml | CatalogForm::Reference => {
                    prop_assert_eq!(text.matches("<skill>").count(), 2);
                    prop_assert_eq!(text.matches("</skill>").count(), 2);
                    prop_assert_eq!(text.matches("</available_skills>").count(), 1);
                    prop_assert_eq!(text.matches("</location>").count(), 2);
                }
                CatalogForm::Json => {
                    prop_assert!(budget.is_none_or(|budget| tokens::most(&text) <= budget || !text.contains("description")));
                    let value: Value = serde_json::from_str(&text).expect("JSON");
                    prop_assert_eq!(value["skills"][0]["name"].as_str(), Some(name.as_str()));
                }
                CatalogForm::Markdown => prop_assert!(!text.contains('<') && text.lines().all(|line| line.starts_with("- ") || line.starts_with("  - "))),
                CatalogForm::Plain => prop_assert!(text.lines().count() <= 6),
            }
        }
    }
}
