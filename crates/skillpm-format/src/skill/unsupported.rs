//! 45 kinds of files that are found in public repositories, each as a small file of the same kind,
//! and what loading makes of them.

use crate::document::{Document, ProblemKind};
use crate::profile::LoadProfile;
use crate::skill::{DeviationKind, load_with};

/// A kind of file in the directory `pdf`.
struct Oddity {
    number: u8,
    text: &'static str,
    wanted: ExpectedType,
}

enum ExpectedType {
    /// It loads with this description, and a text is told that holds this; nothing where that is
    /// empty.
    Loads(&'static str, &'static str),
    /// It does not load, for a reason that holds this text.
    Skipped(&'static str),
    /// Not the content but the file is odd: tested with the engine.
    File,
}

use ExpectedType::{File, Loads, Skipped};

const fn oddity(number: u8, text: &'static str, wanted: ExpectedType) -> Oddity {
    Oddity { number, text, wanted }
}

const ODDITIES: &[Oddity] = &[
    oddity(
        1,
        "---\nname: pdf\ndescription: Makes logs. Usage: /log <a|b> [c]\n---\n",
        Loads("Makes logs. Usage: /log <a|b> [c]", "it has `: ` in it"),
    ),
    oddity(
        2,
        "---\r\nname: pdf\r\ndescription: Runs plans. Keywords: run, [go]\r\ncompatibility:\r\n---\r\n",
        Loads("Runs plans. Keywords: run, [go]", "it has `: ` in it"),
    ),
    oddity(
        3,
        "---\nname: pdf\ndescription: d\nhint: [a] [b]\n---\n",
        Loads("d", "its brackets do not match"),
    ),
    oddity(
        4,
        "---\nname: pdf\ndescription: d\nmetadata:\n  hint: [a-b]\n---\n",
        Loads("d", "`metadata.hint`"),
    ),
    oddity(
        5,
        "---\nname: pdf\ndescription: d\nmetadata: {\"bot\":{\"emoji\":\"📅\",\"bins\":[\"a\"]}}\n---\n",
        Loads("d", "`metadata.bot` must be text, but it is a mapping"),
    ),
    oddity(
        6,
        "---\nname: pdf\ndescription: d\nversion: 1.0.0\nmetadata:\n  bins: [\"a\"]\n---\n",
        Loads("d", "`version` belongs under `metadata`"),
    ),
    oddity(
        7,
        "---\nname: pdf\ndescription: d\nmetadata: {\"bot\":{\"bins\":[\"a\"]}\n---\n",
        Loads("d", "the value of `metadata` is not valid YAML"),
    ),
    oddity(
        8,
        "---\r\nname: pdf\r\ndescription: d\r\nmetadata: {\"bot\":{\"bins\":[\"a\"],[\"b\"]}}\r\n---\r\n",
        Loads("d", "metadata"),
    ),
    oddity(9, "---\nname: pdf\ndescription: d\nmetadata: {\"e\": \"\\uD83D\\uDD2D\"}\n---\n", Loads("d", "")),
    oddity(10, "---\nname: yes\ndescription: d\n---\n", Loads("d", "the name `yes` differs")),
    oddity(
        11,
        "---\nname: pdf\ndescription: @Observable d\n---\n",
        Loads("@Observable d", "starts with `@`"),
    ),
    oddity(
        12,
        "---\nname: pdf\ndescription: d\ndependencies: [vue, @vue/sfc]\n---\n",
        Loads("d", "the value of `dependencies` is not valid YAML"),
    ),
    oddity(13, "---\nname: pdf\ndescription: d\nallowed-tools: *\n---\n", Loads("d", "starts with `*`")),
    oddity(14, "---\nname: pdf\ndescription: # Heading\n---\n", Skipped("what follows `#` is a comment")),
    oddity(15, "---\nname: pdf\ndescription: Ranks #1 now. Use\n---\n", Loads("Ranks", "")),
    oddity(
        16,
        "---\nname: pdf\ndescription: Slides between `---` lines\n---\n",
        Loads("Slides between `---` lines", ""),
    ),
    oddity(
        17,
        "---\nname: pdf\ndescription: \"Chat UI. Parts: a,\"  b, c\n---\n",
        Loads("\"Chat UI. Parts: a,\"  b, c", "text follows its closing quote"),
    ),
    oddity(
        18,
        "---\nname: pdf\ndescription: \"Use for 'Ann\\'s API'\"\n---\n",
        Loads("Use for 'Ann's API'", "backslash escape"),
    ),
    oddity(
        19,
        "---\nname: pdf\n<<<<<<< Updated upstream\ndescription: d\n=======\ndescription: e\n>>>>>>> Stash\n---\n",
        Loads("e", "merge-conflict marker"),
    ),
    oddity(
        20,
        "---\nname: pdf\ndescription: \"a\u{80}b\"\n---\n",
        Loads("a\u{80}b", "control character U+0080"),
    ),
    oddity(21, "---\nname: pdf\ndescription: , it may\n---\n", Loads(", it may", "starts with `,`")),
    oddity(
        22,
        "---\nname: pdf\ndescription: d\nmetadata:\n  v: \"1\"\n  v: \"2\"\n---\n",
        Loads("d", "the key `v` appears twice"),
    ),
    oddity(23, "\u{feff}---\nname: pdf\ndescription: d\n---\n", Loads("d", "byte-order mark")),
    oddity(24, "---\r\nname: pdf\r\ndescription: d\r\n---\r\n", Loads("d", "")),
    oddity(25, "--- \nname: pdf\ndescription: d\n---\n", Loads("d", "")),
    oddity(26, "\n---\nname: pdf\ndescription: d\n---\n", Loads("d", "blank lines")),
    oddity(27, "```skill\n---\nname: pdf\ndescription: d\n---\n```\n", Skipped("code fence")),
    oddity(28, "---\nname: pdf\ndescription: d\n\n# Body\n", Skipped("never closed")),
    oddity(29, "\u{feff}# Markets\r\n\r\nText.\r\n", Skipped("no frontmatter")),
    oddity(30, "name: pdf\ndescription: d\n\n---\n\n# Body\n", Skipped("missing before the `name`")),
    oddity(31, "---\n\n## name: pdf\nversion: 1\n\nThe text.\n---\n", Skipped("not valid YAML")),
    oddity(32, "../../../a/pdf/SKILL.md\n", Skipped("it was a symbolic link")),
    oddity(33, "@../../.agents/skills/pdf/SKILL.md\n\n", Skipped("only includes")),
    oddity(34, "", File),
    oddity(35, "# Server\n\nTools.\n", Skipped("no frontmatter")),
    oddity(36, "", File),
    oddity(
        37,
        "---\r\nname: pdf\\_api\r\n\r\ndescription: d\r\nmetadata: {\"a\":\\[\"b\"]}\r\n---\r\n",
        Loads("d", "contains `\\`"),
    ),
    oddity(38, "---\nname: a/b@pdf\ndescription: d\n---\n", Loads("d", "contains `/`")),
    oddity(39, "---\nname: ckm:pdf\ndescription: d\n---\n", Loads("d", "contains `:`")),
    oddity(40, "---\nname: Pdf Tool\ndescription: d\n---\n", Loads("d", "has an upper-case letter")),
    oddity(
        41,
        "---\nname: PDF\ndescription: d\n---\n",
        Loads("d", "differs from the directory's name `pdf`"),
    ),
    oddity(42, "---\ndescription: d\n---\n", Loads("d", "the directory's name `pdf` is used instead")),
    oddity(43, "---\nname: pdf\ndescription:  \nlicense: MIT\n---\n", Skipped("`description` is empty")),
    oddity(44, "", File),
    oddity(
        45,
        "---\nname: pdf\ndescription: d\ncompatibility:\n  - a\n  - b\n---\n",
        Loads("d", "`compatibility` must be text, but it is a list"),
    ),
];

/// All of them under the profile `default`: which load, with which description and warnings.
#[test]
fn every_oddity_gets_what_is_wanted() {
    for (index, Oddity { number, text, wanted }) in ODDITIES.iter().enumerate() {
        assert_eq!(index + 1, usize::from(*number));
        let document = Document::parse((*text).to_owned());
        match (load_with(&document, &LoadProfile::DEFAULT, Some("pdf")), wanted) {
            (_, File) => {}
            (Ok(loaded), Loads(description, told)) => {
                assert_eq!(loaded.meta.description, *description, "oddity {number}");
                let all: Vec<_> = loaded.deviations.iter().map(ToString::to_string).collect();
                let right =
                    if told.is_empty() { all.is_empty() } else { all.iter().any(|text| text.contains(told)) };
                assert!(right, "oddity {number}: {all:?}");
            }
            (Err(error), Skipped(reason)) => {
                assert!(error.to_string().contains(reason), "oddity {number}: {error}");
            }
            (Ok(_), Skipped(reason)) => panic!("oddity {number} loads: {reason}"),
            (Err(error), Loads(..)) => panic!("oddity {number}: {error}"),
        }
    }
}

/// The text of a repaired value is kept.
#[test]
fn values_that_are_no_yaml_are_kept_as_text() {
    let field = |number: usize, key: &str| {
        let document = Document::parse(ODDITIES[number - 1].text.to_owned());
        document.get(key).and_then(|node| node.text()).map(str::to_owned)
    };
    assert_eq!(field(3, "hint").as_deref(), Some("[a] [b]"));
    assert_eq!(field(13, "allowed-tools").as_deref(), Some("*"));
    assert!(field(7, "metadata").is_some_and(|text| text.starts_with("{\"bot\"")));
    assert_eq!(field(37, "name").as_deref(), Some("pdf\\_api"));
}

/// Oddity 44: too long a description is a warning, and an error where deviations are errors. Oddity 42: the directory's name
/// replaces a missing one where the profile allows it.
#[test]
fn what_profiles_decide() {
    let text = format!("---\nname: pdf\ndescription: {}\n---\n", "d".repeat(1068));
    let document = Document::parse(text);
    let told = load_with(&document, &LoadProfile::DEFAULT, Some("pdf")).expect("loads").deviations;
    assert_eq!(
        told[0].kind,
        DeviationKind::TooLong { field: "description", count: 1068, max: 1024 },
        "oddity 44"
    );
    load_with(&document, &LoadProfile::STRICT, Some("pdf")).expect_err("oddity 44");
    let document = Document::parse(ODDITIES[41].text.to_owned());
    let loaded = load_with(&document, &LoadProfile::LANGCHAIN_SKILLKIT, Some("pdf")).expect("oddity 42");
    assert_eq!(loaded.meta.name, "pdf");
}

/// The strict profile accepts only those without warnings.
#[test]
fn strict_refuses_whatever_is_told() {
    for Oddity { number, text, wanted } in ODDITIES {
        let document = Document::parse((*text).to_owned());
        let strict = load_with(&document, &LoadProfile::STRICT, Some("pdf")).is_ok();
        assert_eq!(strict, matches!(wanted, Loads(_, "")), "oddity {number}");
        if let Ok(loaded) = load_with(&document, &LoadProfile::DEFAULT, Some("pdf")) {
            let repaired = |kind: &DeviationKind| {
                matches!(
                    kind,
                    DeviationKind::Text(ProblemKind::Repaired { .. } | ProblemKind::ConflictMarker)
                )
            };
            let unrepaired = LoadProfile { repair: false, ..LoadProfile::DEFAULT };
            let refused = load_with(&document, &unrepaired, Some("pdf")).is_err();
            assert_eq!(refused, loaded.deviations.iter().any(|d| repaired(&d.kind)), "oddity {number}");
        }
    }
}
