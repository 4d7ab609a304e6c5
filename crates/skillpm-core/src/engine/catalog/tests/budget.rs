//! What is cut for a budget, in which order, and what is told about it.

use super::*;

const SEARCH: &str = "search_skills";

fn options(form: CatalogForm, budget: usize) -> Options {
    Options { form, fields: vec![Field::Description], budget: Some(budget), ..Options::default() }
}

fn searched(options: Options) -> Options {
    Options { search: Some(SEARCH.into()), ..options }
}

/// Returns skills with descriptions of so many words.
fn of_words(counts: &[usize]) -> Vec<Arc<Skill>> {
    let named = counts.iter().enumerate();
    arcs(named.map(|(at, count)| skill(&format!("s{at}"), "word ".repeat(*count).trim_end())))
}

fn json(catalog: &Catalog) -> Value {
    serde_json::to_value(catalog.as_json()).expect("JSON")
}

/// Where not even the shortest forms of all descriptions fit, those that weigh least stay, and of equal ones the first.
#[test]
fn the_lightest_descriptions_stay() {
    let skills = of_words(&[40, 3, 40, 2, 40, 40]);
    let text = |budget| {
        let options = Options { measure: Measure::Bytes, ..options(CatalogForm::Plain, budget) };
        catalog(&skills, &options).text().into_owned()
    };
    let (two, three, short) = (": word word", ": word word word", format!(": {}…", ["word"; 12].join(" ")));
    let names = "s0\ns1\ns2\ns3\ns4\ns5\n".len();
    let lines = |descriptions: [&str; 6]| {
        let lines = descriptions.iter().enumerate().map(|(at, text)| format!("s{at}{text}\n"));
        lines.collect::<String>()
    };
    let mut budget = names;
    assert_eq!(text(budget), lines([""; 6]));
    budget += two.len();
    assert_eq!(text(budget - 1), lines([""; 6]));
    assert_eq!(text(budget), lines(["", "", "", two, "", ""]));
    budget += three.len();
    assert_eq!(text(budget - 1), lines(["", "", "", two, "", ""]));
    assert_eq!(text(budget), lines(["", three, "", two, "", ""]));
    budget += 2 * short.len();
    assert_eq!(text(budget), lines([&short, three, &short, two, "", ""]));
    budget += 2 * short.len();
    assert_eq!(text(budget - 1), lines([&short, three, &short, two, &short, ""]));
    assert_eq!(text(budget), lines([&short, three, &short, two, &short, &short]));
    budget += 4 * " word".len();
    let longer = short.replace('…', " word…");
    assert_eq!(text(budget), lines([&longer, three, &longer, two, &longer, &longer]));
}

/// Without a way to search all names stay, and it is told how much they need; with one, a line says how many follow.
#[test]
fn names_are_left_out_only_where_a_tool_finds_them() {
    let skills = fifty();
    for (_, form) in CatalogForm::NAMES {
        let all = catalog(&skills, &options(form, 150));
        assert!(all.is_over_budget() && all.count == 50 && all.loss.left_out.is_empty(), "{form}");
        let names = all.loss.names.expect("more than the budget");
        let enough = catalog(&skills, &options(form, names));
        assert!(!enough.is_over_budget() && enough.loss.names.is_none(), "{form}");
        for (budget, is_enough) in [(150, false), (names - 1, false), (names, true)] {
            let some = catalog(&skills, &searched(options(form, budget)));
            let told = some.text();
            assert!(!some.is_over_budget() && some.count + some.loss.left_out.len() == 50, "{form}: {told}");
            assert_eq!(some.loss.names, (!is_enough).then_some(names), "{form}");
            assert_eq!(some.loss.left_out.is_empty(), is_enough, "{form}");
            let names = some.loss.left_out.iter().enumerate();
            assert!(names.clone().all(|(at, name)| *name == format!("skill-number-{}", some.count + at)));
            assert!(names.clone().all(|(_, name)| !told.contains(name.as_str())), "{form}: {told}");
            let note = format!("And {} more skills: `search_skills` finds them.", 50 - some.count);
            assert_eq!(some.loss.note, (!is_enough).then_some(note.clone()), "{form}");
            assert_eq!(told.contains(&note), !is_enough, "{form}: {told}");
        }
        let some = catalog(&skills, &searched(options(form, 150)));
        assert!(some.count > 0 && some.most > Some(120), "{form}: {}", some.text());
    }
}

#[test]
fn the_line_about_what_is_not_listed() {
    let skills = of_words(&[1, 99]);
    let told = |skills: &[Arc<Skill>], form, budget| {
        let options = Options { measure: Measure::Bytes, ..searched(options(form, budget)) };
        catalog(skills, &options).text().into_owned()
    };
    let end = |form, budget| told(&skills, form, budget);
    insta::assert_snapshot!(end(CatalogForm::Xml, 440), @"
    <available_skills>
      <skill>
        <name>s0</name>
        <description>word</description>
      </skill>
      <skill>
        <name>s1</name>
        <description>word word word word word word word word word word word word word word word word word word word word word word word word word word word…</description>
      </skill>
      <note>Some descriptions are shortened or left out: `search_skills` finds skills by what they are for.</note>
    </available_skills>
    ");
    insta::assert_snapshot!(told(&of_words(&[1; 5]), CatalogForm::Reference, 200), @"
    <available_skills>
    <skill>
    <name>
    s0
    </name>
    </skill>
    <skill>
    <name>
    s1
    </name>
    </skill>
    <note>
    And 3 more skills: `search_skills` finds them.
    </note>
    </available_skills>
    ");
    insta::assert_snapshot!(end(CatalogForm::Markdown, 130), @"
    - **s0**: word
    - **s1**

    Some descriptions are shortened or left out: `search_skills` finds skills by what they are for.
    ");
    insta::assert_snapshot!(end(CatalogForm::Plain, 4), @r"

    And 2 more skills: `search_skills` finds them.
    ");
    insta::assert_snapshot!(end(CatalogForm::Json, 360), @r#"
    {
      "skills": [
        {
          "name": "s0",
          "description": "word"
        },
        {
          "name": "s1"
        }
      ],
      "tokens": 92,
      "budget": 360,
      "cut": [],
      "unlisted": 1,
      "note": "Some descriptions are shortened or left out: `search_skills` finds skills by what they are for.",
      "enough": 680
    }
    "#);
}

/// XML if everything fits, and Markdown where it keeps more.
#[test]
fn the_form_that_keeps_more() {
    let skills = fifty();
    let of = |form, budget| {
        let one = options(form, budget);
        let two = Options { fallback: Some(CatalogForm::Markdown), ..one.clone() };
        (catalog(&skills, &one), catalog(&skills, &two))
    };
    let (xml, _) = of(CatalogForm::Xml, 9);
    let enough = xml.loss.enough.expect("more than that");
    for (budget, form) in [
        (enough, CatalogForm::Xml),
        (enough - 1, CatalogForm::Markdown),
        (2000, CatalogForm::Markdown),
        (9, CatalogForm::Markdown),
    ] {
        let (one, two) = of(CatalogForm::Xml, budget);
        assert_eq!(two.form, form, "{budget}");
        assert_eq!(two.text().contains("<name>"), form == CatalogForm::Xml, "{budget}");
        assert!(two.loss.grade() <= one.loss.grade() && two.most <= one.most, "{budget}");
    }
    let (plain, or_markdown) = of(CatalogForm::Plain, 2000);
    assert_eq!(plain.text(), or_markdown.text());
}

/// One line: how much, the first names, and what is enough.
#[test]
fn the_warning() {
    let told = |counts: &[usize], options: Options| {
        let warning = catalog(&of_words(counts), &options).warning();
        warning.map_or_else(String::new, |warning| warning.to_string())
    };
    let plain = |budget| Options { measure: Measure::Bytes, ..options(CatalogForm::Plain, budget) };
    let counts = [1, 20, 20, 20, 20, 20, 20];
    assert_eq!(told(&counts, plain(9999)), "");
    insta::assert_snapshot!(told(&counts, plain(500)), @"6 descriptions cut to 69 characters for 500 bytes: `s1`, `s2`, `s3`, `s4`, `s5` and 1 more; `budget=633` shows all");
    insta::assert_snapshot!(told(&counts, plain(100)), @"5 descriptions left out, 1 description cut to 59 characters for 100 bytes: `s2`, `s3`, `s4`, `s5`, `s6` and 1 more; `budget=633` shows all");
    insta::assert_snapshot!(told(&counts, plain(9)), @"7 descriptions left out for 9 bytes: `s0`, `s1`, `s2`, `s3`, `s4` and 2 more; names alone need 21; `budget=633` shows all");
    insta::assert_snapshot!(told(&[1; 40], searched(plain(100))), @"25 skills left out, 15 descriptions left out for 100 bytes: `s15`, `s16`, `s17`, `s18`, `s19` and 35 more; names alone need 150; `budget=390` shows all");
    let names = Options { fields: Vec::new(), budget: Some(3), ..Options::default() };
    insta::assert_snapshot!(told(&[1, 1], names), @"names alone need 46 tokens, more than 3; `budget=46` shows all");
}

/// In JSON all of it is data.
#[test]
fn json_tells_what_it_lacks() {
    let skills = fifty();
    let of = |budget| catalog(&skills, &searched(options(CatalogForm::Json, budget)));
    let value = json(&of(99_999));
    for key in ["note", "enough", "names", "left_out", "unlisted"] {
        assert!(value.get(key).is_none(), "{key}: {value}");
    }
    let value = json(&of(100));
    let left_out = value["left_out"].as_u64().expect("a number");
    assert_eq!(value["skills"].as_array().map(Vec::len), Some(50 - usize::try_from(left_out).expect("few")));
    assert!(value["enough"].as_u64() > value["names"].as_u64() && value["names"].as_u64() > Some(100));
    assert_eq!(value["note"], format!("And {left_out} more skills: `search_skills` finds them."));
}

proptest! {
    /// A catalog is within its budget unless its names are not, a larger budget never shows less, and what is told to be
    /// enough is.
    #[test]
    fn a_budget_keeps_what_it_can(
        texts in proptest::collection::vec("([a-z]{1,12}[ .,\"<é日]{0,2}){0,20}", 1..9),
        (_, form) in proptest::sample::select(&CatalogForm::NAMES),
        is_searched in proptest::bool::ANY,
        measure in prop_oneof![Just(Measure::Tokens), Just(Measure::Bytes)],
    ) {
        let skills = arcs(texts.iter().enumerate().map(|(at, text)| skill(&format!("s{at}"), text)));
        let count = texts.iter().filter(|text| !text.is_empty()).count();
        let of = |budget| {
            let options = Options { measure, ..options(form, budget) };
            catalog(&skills, &if is_searched { searched(options) } else { options })
        };
        let least = of(0);
        let (enough, names) = (least.loss.enough.expect("nothing fits"), least.loss.names.expect("no name fits"));
        prop_assert!(of(enough).loss.is_none() && !of(enough - 1).loss.is_none(), "{} {}", form, enough);
        prop_assert!(names <= enough, "{} {}", names, enough);
        let mut before = (0, 0);
        for budget in (0..=enough + 40).step_by(1 + enough / 40) {
            let told = of(budget);
            let text = told.text();
            prop_assert_eq!(told.most, Some(measure.size(&text)));
            let is_listed = told.loss.left_out.is_empty();
            prop_assert_eq!(is_listed, !is_searched || budget >= names, "{} {}", form, budget);
            let is_bare = is_searched && told.count == 0;
            prop_assert!(!told.is_over_budget() || is_bare || !is_searched && budget < names, "{} {} {}", form, budget, text);
            prop_assert_eq!(told.loss.note.is_some() && is_listed && told.loss.cut.is_empty(), false);
            let described = count - told.loss.descriptions_left_out();
            let now = (told.count, if is_listed { described } else { 0 });
            prop_assert!(before <= now, "{} {}: {:?} {:?}", form, budget, before, now);
            before = now;
            prop_assert!(told.loss.cut.iter().all(|cut| cut.kept == 0 || cut.kept > 20 && cut.kept < cut.characters));
        }
    }
}
