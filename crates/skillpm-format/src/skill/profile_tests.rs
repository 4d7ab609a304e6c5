//! The verdict of each profile on the conflicts between the systems.

use crate::document::Document;
use crate::profile::{AllowedTools, LoadProfile, NameRule, Tolerance};
use crate::skill::{DeviationKind, LoadError, SkillMeta, load_with};

/// Reads `text` in the directory `dir`: returns the metadata and the warnings, or the error.
fn read(text: &str, dir: &str, profile: &LoadProfile) -> Result<(SkillMeta, Vec<String>), String> {
    let document = Document::parse(text.to_owned());
    let loaded = load_with(&document, profile, Some(dir)).map_err(|error| error.to_string())?;
    let told = |d: &crate::skill::Deviation| format!("{}:{} {d}", d.at.line, d.at.column);
    Ok((loaded.meta, loaded.deviations.iter().map(told).collect()))
}

/// `ok`, `told: …` or `refused: …`.
fn verdict(text: &str, dir: &str, profile: &LoadProfile) -> String {
    match read(text, dir, profile) {
        Ok((_, told)) if told.is_empty() => "ok".to_owned(),
        Ok((_, told)) => format!("told: {}", told.join("; ")),
        Err(error) => format!("refused: {error}"),
    }
}

/// A conflict: a file in directory `pdf`, and what each profile says of it.
struct Row {
    conflict: &'static str,
    text: &'static str,
    verdicts: [(&'static str, &'static str); 6],
}

const TABLE: &[Row] = &[
    Row {
        conflict: "C2: a name with upper case and spaces",
        text: "---\nname: PDF Reader\ndescription: d\n---\n",
        verdicts: [
            (
                "default",
                "told: 2:7 the name `PDF Reader` has an upper-case letter; 2:7 the name `PDF Reader` contains a space; only letters, digits and hyphens are allowed; 2:7 the name `PDF Reader` \
                 differs from the directory's name `pdf`",
            ),
            ("strict", "refused: the name `PDF Reader` has an upper-case letter (line 2, column 7)"),
            ("skillkit", "ok"),
            (
                "langchain-skillkit",
                "told: 2:7 the name `PDF Reader` has an upper-case letter; 2:7 the name `PDF Reader` contains a space; only letters, digits and hyphens are allowed; 2:7 the name `PDF Reader` \
                 differs from the directory's name `pdf`",
            ),
            ("langflow", "ok"),
            ("btw", "refused: the name `PDF Reader` has an upper-case letter (line 2, column 7)"),
        ],
    },
    Row {
        conflict: "C2: another name than the directory's",
        text: "---\nname: docx\ndescription: d\n---\n",
        verdicts: [
            ("default", "told: 2:7 the name `docx` differs from the directory's name `pdf`"),
            ("strict", "refused: the name `docx` differs from the directory's name `pdf` (line 2, column 7)"),
            ("skillkit", "ok"),
            ("langchain-skillkit", "told: 2:7 the name `docx` differs from the directory's name `pdf`"),
            ("langflow", "ok"),
            ("btw", "refused: the name `docx` differs from the directory's name `pdf` (line 2, column 7)"),
        ],
    },
    Row {
        conflict: "C3: no name",
        text: "---\ndescription: d\n---\n",
        verdicts: [
            ("default", "told: 1:1 the field `name` is missing; the directory's name `pdf` is used instead"),
            ("strict", "refused: the required field `name` is missing from the frontmatter"),
            ("skillkit", "refused: the required field `name` is missing from the frontmatter"),
            (
                "langchain-skillkit",
                "told: 1:1 the field `name` is missing; the directory's name `pdf` is used instead",
            ),
            ("langflow", "refused: the required field `name` is missing from the frontmatter"),
            ("btw", "refused: the required field `name` is missing from the frontmatter"),
        ],
    },
    Row {
        conflict: "C4: no description",
        text: "---\nname: pdf\n---\n",
        verdicts: [
            ("default", "refused: the required field `description` is missing from the frontmatter"),
            ("strict", "refused: the required field `description` is missing from the frontmatter"),
            ("skillkit", "refused: the required field `description` is missing from the frontmatter"),
            (
                "langchain-skillkit",
                "told: 1:1 the field `description` is missing or empty: no agent knows when to use the skill",
            ),
            ("langflow", "refused: the required field `description` is missing from the frontmatter"),
            ("btw", "refused: the required field `description` is missing from the frontmatter"),
        ],
    },
    Row {
        conflict: "C3, C4: no frontmatter at all",
        text: "# PDF\n\nRead it.\n",
        verdicts: [
            (
                "default",
                "refused: the file has no frontmatter: start it with `---`, `name`, `description` and `---`",
            ),
            (
                "strict",
                "refused: the file has no frontmatter: start it with `---`, `name`, `description` and `---`",
            ),
            (
                "skillkit",
                "refused: the file has no frontmatter: start it with `---`, `name`, `description` and `---`",
            ),
            (
                "langchain-skillkit",
                "told: 1:1 the file has no frontmatter: start it with `---`, `name`, `description` and `---`; \
                 1:1 the field `name` is missing; the directory's name `pdf` is used instead; 1:1 the field \
                 `description` is missing or empty: no agent knows when to use the skill",
            ),
            (
                "langflow",
                "refused: the file has no frontmatter: start it with `---`, `name`, `description` and `---`",
            ),
            (
                "btw",
                "refused: the file has no frontmatter: start it with `---`, `name`, `description` and `---`",
            ),
        ],
    },
    Row {
        conflict: "S0-E1: nothing at all",
        text: "\n",
        verdicts: [
            ("default", "refused: the file is empty"),
            ("strict", "refused: the file is empty"),
            ("skillkit", "refused: the file is empty"),
            ("langchain-skillkit", "refused: the file is empty"),
            ("langflow", "refused: the file is empty"),
            ("btw", "refused: the file is empty"),
        ],
    },
    Row {
        conflict: "C5: a list of tools",
        text: "---\nname: pdf\ndescription: d\nallowed-tools: [Read]\n---\n",
        verdicts: [
            ("default", "ok"),
            (
                "strict",
                "refused: the field `allowed-tools` must be text with spaces between the tools, but it is a \
                 list (line 4, column 16)",
            ),
            ("skillkit", "ok"),
            ("langchain-skillkit", "ok"),
            ("langflow", "ok"),
            ("btw", "ok"),
        ],
    },
    Row {
        conflict: "C6: an unknown field",
        text: "---\nname: pdf\ndescription: d\nhooks: x\n---\n",
        verdicts: [
            ("default", "told: 4:1 the specification has no field `hooks`"),
            ("strict", "refused: the specification has no field `hooks` (line 4, column 1)"),
            ("skillkit", "ok"),
            ("langchain-skillkit", "ok"),
            ("langflow", "ok"),
            ("btw", "refused: the specification has no field `hooks` (line 4, column 1)"),
        ],
    },
    Row {
        conflict: "C7: a version at the top",
        text: "---\nname: pdf\ndescription: d\nversion: 1.10\n---\n",
        verdicts: [
            ("default", "told: 4:1 the field `version` belongs under `metadata`"),
            ("strict", "refused: the field `version` belongs under `metadata` (line 4, column 1)"),
            ("skillkit", "ok"),
            ("langchain-skillkit", "ok"),
            ("langflow", "ok"),
            ("btw", "refused: the field `version` belongs under `metadata` (line 4, column 1)"),
        ],
    },
    Row {
        conflict: "C8: YAML that has to be repaired",
        text: "---\nname: pdf\ndescription: Usage: it\n---\n",
        verdicts: [
            ("default", "told"),
            ("strict", "refused: the value of `description` is not valid YAML"),
            ("skillkit", "told"),
            ("langchain-skillkit", "told"),
            ("langflow", "told"),
            ("btw", "told"),
        ],
    },
];

/// Conflicts C2, C3, C4, C5, C6, C7 and C8, row by row and profile by profile.
#[test]
fn every_conflict_has_its_answer_in_every_profile() {
    for Row { conflict, text, verdicts } in TABLE {
        for ((name, profile), (of, expected)) in LoadProfile::ALL.iter().zip(verdicts) {
            assert_eq!(name, of);
            let found = verdict(text, "pdf", profile);
            assert!(found.starts_with(expected), "{conflict}, {of}: {found}");
            assert!(*expected != "ok" || found == "ok", "{conflict}, {of}: {found}");
        }
    }
    for number in 2..=8 {
        let label = format!("C{number}:");
        assert!(TABLE.iter().any(|row| row.conflict.starts_with(&label)), "{label} has no row");
    }
}

/// Every profile accepts a valid skill without warnings.
#[test]
fn nothing_is_said_of_a_right_skill() {
    let text = "---\nname: pdf\ndescription: d\nlicense: MIT\ncompatibility: git\n\
        allowed-tools: Bash(git add:*, x) Read\nmetadata:\n  version: \"1.2.3\"\n  tags: a b\n---\n";
    for (name, profile) in LoadProfile::ALL {
        assert_eq!(verdict(text, "pdf", &profile), "ok", "{name}");
        assert_eq!(verdict(text, "ｐｄｆ", &profile), "ok", "{name}: another spelling of the same name");
    }
}

/// Conflict C5: three forms, one meaning; one profile hides them.
#[test]
fn tools_in_three_forms() {
    let tools = |value: &str, profile: &LoadProfile| {
        let text = format!("---\nname: pdf\ndescription: d\nallowed-tools: {value}\n---\n");
        read(&text, "pdf", profile).map(|(meta, _)| meta.allowed_tools)
    };
    for value in ["Bash(git:*) Read", "Bash(git:*), Read", "['Bash(git:*)', Read]"] {
        assert_eq!(tools(value, &LoadProfile::DEFAULT).expect("loads"), ["Bash(git:*)", "Read"], "{value}");
        assert_eq!(tools(value, &LoadProfile::LANGCHAIN_SKILLKIT).expect("loads"), [""; 0], "{value}");
    }
    assert!(tools("Read, Write", &LoadProfile::STRICT).expect_err("refused").contains("text with commas"));
    let shapes = LoadProfile { allowed_tools: AllowedTools::Spaces, ..LoadProfile::DEFAULT };
    assert_eq!(tools("Read, Write", &shapes).expect("told"), ["Read", "Write"]);
    assert_eq!(tools("{Read: true}", &LoadProfile::DEFAULT).expect("told"), [""; 0]);
}

/// Conflict C7 and S3-FR-3: `metadata` first, then the top; lists and texts; defaults of profiles.
#[test]
fn versions_tags_and_dependencies() {
    let meta = |fields: &str, profile: &LoadProfile| {
        let text = format!("---\nname: pdf\ndescription: d\n{fields}---\n");
        read(&text, "pdf", profile).expect("loads").0
    };
    let version = |fields, profile| meta(fields, profile).version;
    assert_eq!(version("version: 1.10\n", &LoadProfile::LANGFLOW).as_deref(), Some("1.10"), "never 1.1");
    assert_eq!(version("version: 2\nmetadata:\n  version: 1\n", &LoadProfile::DEFAULT).as_deref(), Some("1"));
    let defaults = LoadProfile::ALL.map(|(name, profile)| (name, meta("", &profile).version));
    let expected = [
        ("default", None),
        ("strict", None),
        ("skillkit", Some("0.0.0".to_owned())),
        ("langchain-skillkit", None),
        ("langflow", Some("1.0".to_owned())),
        ("btw", None),
    ];
    assert_eq!(defaults, expected);
    for fields in ["tags: [a, b c]\n", "tags: a, b c\n", "metadata:\n  tags: a, b c\ntags: x\n"] {
        assert_eq!(meta(fields, &LoadProfile::LANGFLOW).tags, ["a", "b c"], "{fields}");
    }
    assert_eq!(meta("tags: a  b\n", &LoadProfile::LANGFLOW).tags, ["a", "b"]);
    assert_eq!(meta("dependencies:\n  - x\n", &LoadProfile::LANGFLOW).dependencies, ["x"]);
    assert_eq!(meta("dependencies: {x: 1}\n", &LoadProfile::LANGFLOW).dependencies, [""; 0]);
}

/// S4-9: the names that btw documents as wrong.
#[test]
fn names_of_btw() {
    let of = |name: &str, dir: &str| {
        verdict(&format!("---\nname: {name}\ndescription: d\n---\n"), dir, &LoadProfile::BTW)
    };
    for name in ["pdf", "pdf-2", "7zip", &"a".repeat(64)] {
        assert_eq!(of(name, name), "ok");
    }
    for (name, message) in [
        ("Pdf", "has an upper-case letter"),
        ("pdf_2", "contains `_`"),
        ("-pdf", "starts or ends with a hyphen"),
        ("pdf-", "starts or ends with a hyphen"),
        ("pdf--2", "has two hyphens in a row"),
        (&"a".repeat(65), "has 65 characters"),
        ("''", "`name` is empty"),
    ] {
        let found = of(name, name);
        assert!(found.starts_with("refused: ") && found.contains(message), "{name}: {found}");
    }
    assert!(of("pdf", "docx").contains("differs from the directory's name `docx`"));
    assert!(verdict("---\ndescription: d\n---\n", "pdf", &LoadProfile::BTW).contains("`name` is missing"));
}

/// S4-10, S4-11, S4-12, S4-14: what btw documents as invalid is not loaded by its profile.
#[test]
fn lengths_and_shapes() {
    let long = |field: &str, count: usize| format!("{field}: {}\n", "é".repeat(count));
    for (fields, message) in [
        (format!("name: pdf\n{}", long("description", 1025)), "`description` has 1025 characters"),
        (format!("name: pdf\ndescription: d\n{}", long("compatibility", 501)), "`compatibility` has 501"),
        ("name: pdf\ndescription: d\nmetadata: x\n".into(), "`metadata` must be a mapping"),
        ("name: pdf\ndescription: d\nmetadata:\n  a: [b]\n".into(), "`metadata.a` must be text"),
        ("name: pdf\ndescription: d\ncompatibility: [a]\n".into(), "`compatibility` must be text"),
        ("name: pdf\ndescription: d\nhooks: x\n".into(), "no field `hooks`"),
    ] {
        let text = format!("---\n{fields}---\n");
        assert!(verdict(&text, "pdf", &LoadProfile::DEFAULT).starts_with("told: "), "{message}");
        for profile in [LoadProfile::STRICT, LoadProfile::BTW] {
            let found = verdict(&text, "pdf", &profile);
            assert!(found.starts_with("refused: ") && found.contains(message), "{message}: {found}");
        }
    }
    assert!(verdict("---\nname: pdf\n---\n", "pdf", &LoadProfile::BTW).contains("`description` is missing"));
    for (name, profile) in LoadProfile::ALL {
        let right = format!("---\nname: pdf\n{}---\n", long("description", 1024));
        assert_eq!(verdict(&right, "pdf", &profile), "ok", "{name}");
    }
}

/// Errors and warnings are one list: a profile only moves the line between them.
#[test]
fn a_refusal_is_typed_and_has_a_place() {
    let document = Document::parse("---\nname: pdf\ndescription: d\nx: 1\n---\n".into());
    let profile = LoadProfile { unknown_fields: Tolerance::Refuse, ..LoadProfile::DEFAULT };
    let Err(LoadError::Refused(refused)) = load_with(&document, &profile, None) else { panic!("refused") };
    assert_eq!(refused.kind, DeviationKind::UnknownField("x".into()));
    assert_eq!((refused.at.line, refused.at.column, refused.span), (4, 1, 29..30));
    let told = load_with(&document, &LoadProfile::DEFAULT, None).expect("loads").deviations;
    assert_eq!(told.len(), 1);
    let names = LoadProfile { names: NameRule::AsIs, ..profile };
    assert!(load_with(&document, &names, None).is_err(), "fields of a profile are independent");
}
