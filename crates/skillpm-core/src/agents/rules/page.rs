//! The part of `docs/reference/listings.md` about each agent, made from the rules.

use std::fmt::Write as _;

use super::table::ROWS;
use super::{At, Budget, Evidence, Field, Form, Name, Needs, Order, Owner, Root, Rules, SameName};
use crate::agents;

#[test]
fn the_reference_page_tells_the_rules() {
    let mut page = String::new();
    for rules in ROWS {
        section(&mut page, rules);
    }
    skillpm_testing::check_reference_part("listings.md", "rules/page.rs", page.trim_end());
}

/// Every row is of an agent of the table, says where it comes from, and stands in order.
#[test]
fn each_row_says_where_it_comes_from() {
    assert!(ROWS.is_sorted_by_key(|rules| rules.agent));
    assert_eq!(ROWS.len(), 20);
    for rules in ROWS {
        let agent = agents::find(rules.agent).expect(rules.agent);
        assert_eq!(agent.id, rules.agent);
        assert!(!rules.version.is_empty() && !rules.source.is_empty(), "{}", rules.agent);
        let date: Vec<_> = rules.date.split('-').collect();
        assert!(date.len() == 3 && date[0] == "2026", "{}: {}", rules.agent, rules.date);
        for dir in rules.roots.iter().filter(|root| root.at == At::Machine) {
            assert!(dir.dir.starts_with(['~', '$', '/']), "{}: {}", rules.agent, dir.dir);
        }
    }
}

fn section(page: &mut String, rules: &Rules) {
    let agent = agents::find(rules.agent).expect("an agent of the table");
    let evidence = match rules.evidence {
        Evidence::Measured => "its program was run and compared",
        Evidence::Source => "its source was read",
        Evidence::Documented => "its vendor documents it",
        Evidence::Described => "others describe it",
    };
    let mut line = |key: &str, text: &str| writeln!(page, "{key}{text}").expect("a string takes all");
    line("## ", &format!("{} (`{}`)\n", agent.name, rules.agent));
    line("Version ", &format!("{}, {}: {evidence}. From {}.\n", rules.version, rules.date, rules.source));
    let roots: Vec<_> = rules.roots.iter().map(root).collect();
    line(
        "- **Reads** ",
        &if roots.is_empty() { "what a program names".to_owned() } else { roots.join(", ") },
    );
    if rules.evidence == Evidence::Described {
        line(
            "- **Unknown**: ",
            "what it calls a skill, what loads, what is listed of equal names, and in which form; its budget",
        );
    } else {
        line("- **Names** ", name(rules));
        line("- **Loads** ", &needs(&rules.needs));
        line("- **Of equal names** ", same_name(rules.same_name));
        line("- **Lists** ", &listing(rules));
        line("- **Budget**: ", &budget(rules));
        line("- **Keeps out** ", &hides(rules));
    }
    for (key, settings) in
        [("- **Settings**: ", rules.settings), ("- **Settings that are not read here**: ", rules.unread)]
    {
        if !settings.is_empty() {
            let settings: Vec<_> = settings.iter().map(|setting| format!("`{setting}`")).collect();
            line(key, &settings.join("; "));
        }
    }
    if !rules.uncounted.is_empty() {
        line("- **Not counted here**: ", &rules.uncounted.join("; "));
    }
    if let Some(sessions) = rules.sessions {
        line("- **Sessions** are recorded in ", &format!("`{sessions}`"));
    }
    for note in rules.notes {
        line("- ", note);
    }
    line("", "");
}

fn root(root: &Root) -> String {
    let dir = format!("`{}`", root.dir);
    let owner = match root.owner {
        Owner::BuiltIn => " (its own)",
        Owner::Managed => " (managed)",
        Owner::Plugin | Owner::User | Owner::Project => "",
    };
    match root.at {
        At::Machine | At::Working => format!("{dir}{owner}"),
        At::Opened => format!("{dir} in the folder that is open, here the project"),
        At::Upwards | At::Beside => {
            format!("{dir} here and in each directory up to the root of the repository")
        }
        At::Downwards => format!("{dir} from the root of the repository down to here"),
        At::Repository => format!("{dir} in the root of the repository"),
    }
}

fn name(rules: &Rules) -> &'static str {
    match rules.name {
        Name::Directory => "a skill by its directory",
        Name::Field => "a skill by `name`",
        Name::FieldOrDirectory => "a skill by `name`, or by its directory if there is none",
        Name::Both => "a skill by `name`, which must be the name of its directory",
    }
}

fn needs(needs: &Needs) -> String {
    let mut texts = Vec::new();
    match (needs.name, needs.description) {
        (true, true) => texts.push("files with `name` and `description`".to_owned()),
        (true, false) => texts.push("files with `name`".to_owned()),
        (false, true) => texts.push("files with `description`".to_owned()),
        (false, false) => texts.push("any file".to_owned()),
    }
    if needs.spec_name {
        texts.push("names of at most 64 characters".to_owned());
    }
    if let Some(most) = needs.description_most {
        texts.push(format!("descriptions of at most {most} characters"));
    }
    if needs.body {
        texts.push("with a text".to_owned());
    }
    if needs.repairs {
        texts.push("also where the frontmatter is not quite YAML".to_owned());
    }
    texts.join(", ")
}

fn same_name(same_name: SameName) -> &'static str {
    match same_name {
        SameName::First => "the first that it reads is listed",
        SameName::Last => "the last that it reads is listed",
        SameName::All => "all are listed",
        SameName::Any => "any may be listed: it differs from start to start",
        SameName::LastPath => "the one whose path is the last in the alphabet is listed",
        SameName::Unknown => "one is listed, and it is unknown which",
    }
}

fn listing(rules: &Rules) -> String {
    let form = match rules.form {
        Form::Bullets => "lines `- name: description`".to_owned(),
        Form::Aliased => "lines `- name: description (file: path)`".to_owned(),
        Form::Elements { escapes: true, .. } => "XML elements with escaped texts".to_owned(),
        Form::Elements { .. } => "XML elements whose texts are not escaped".to_owned(),
        Form::Levels => "XML with one tag on each line".to_owned(),
        Form::Dots => "lines `• name - description`".to_owned(),
        Form::Names => "names alone".to_owned(),
        Form::Described(words) => words.to_owned(),
        Form::Unknown => "in a form that is unknown".to_owned(),
    };
    let order = match rules.order {
        Order::Found => "as they are found",
        Order::Owner => "by whose they are, then by name",
        Order::Name | Order::Bytes => "by name",
        Order::Path => "by path",
        Order::Unknown => "in an unknown order",
    };
    let longest =
        rules.longest.map(|(most, _)| format!(", with at most {most} characters of each description"));
    format!("{form}, {order}{}", longest.unwrap_or_default())
}

fn budget(rules: &Rules) -> String {
    match rules.budget {
        Budget::Unlimited => "none".to_owned(),
        Budget::PartInCharacters { part, .. } => format!(
            "{} % of the window, four characters to a token. All names stay; descriptions are whole or left out",
            part * 100.0
        ),
        Budget::PartInTokens { part, .. } => format!(
            "{} % of the window, four bytes of a line to a token. Descriptions are shortened evenly, then left out, then skills",
            part * 100.0
        ),
        Budget::Whole { skills, characters } => format!(
            "{skills} skills and {characters} characters. Descriptions are shortened, then skills left out from the end"
        ),
        Budget::FirstLines { characters } => {
            format!("{characters} characters. Above it, only the first line of each description is listed")
        }
        Budget::Prefix { bytes } => {
            format!(
                "{bytes} bytes of names and descriptions. The listing ends before the first skill that does not fit"
            )
        }
        Budget::Unknown => "unknown".to_owned(),
    }
}

fn hides(rules: &Rules) -> String {
    let field = |field: &Field| match field {
        Field::DisableModelInvocation => "`disable-model-invocation`",
        Field::Paths => "`paths`, until a file matches",
        Field::Disabled => "`disabled`, `enabled: false`",
        Field::OpenAiPolicy => "`allow_implicit_invocation: false` in `agents/openai.yaml`",
        Field::Triggers => "`triggers`",
        Field::NoDescription => "skills without a description",
    };
    let fields: Vec<_> = rules.hides.iter().map(field).collect();
    if fields.is_empty() { "nothing by frontmatter".to_owned() } else { fields.join("; ") }
}
