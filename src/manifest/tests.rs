//! Tests of the manifest.

use super::*;

const TEXT: &str = r#"# our skills
[skills]
pdf   = { github = "anthropics/skills", path = "skills/pdf" }   # the one we love
brand = { path = "../brand-skill" }
# pinned on purpose
lint  = { github = "acme/lint", tag = "v1.2" }
old   = { path = "./all.zip", subdir = "skills/pdf", name = "pdf" }

[agents]
targets = ["claude-code"] # more later
"#;

fn name(text: &str) -> SkillName {
    SkillName::new(text).expect(text)
}

/// Lines that nobody changed must not change, and an unchanged manifest is not written at all.
#[test]
fn what_editors_put_around_the_text_stays() {
    for text in [
        "\u{feff}[skills]\r\n# ours\r\npdf = { github = \"a/b\" }\r\n",
        "[skills]\r\npdf = { github = \"a/b\" }",
        "\u{feff}[skills]\npdf = { github = \"a/b\" }\n",
    ] {
        let mut manifest = Manifest::parse(text).expect("valid");
        assert_eq!(manifest.to_string().trim_end(), text.trim_end());
        let docx = Requirement {
            origin: Origin::Local("./docx".to_owned()),
            path: None,
            reference: None,
            name: None,
        };
        manifest.set_skill(&"docx".parse().expect("a name"), docx);
        let end = if text.contains('\r') { "\r\n" } else { "\n" };
        let added = format!("{}{end}docx = {{ path = \"./docx\" }}{end}", text.trim_end());
        assert_eq!(manifest.to_string(), added);
    }
}

#[test]
fn reads_what_the_design_shows() {
    let manifest = Manifest::parse(TEXT).expect("valid");
    let pdf = &manifest.skills()[&name("pdf")];
    assert_eq!(
        (pdf.origin.to_string().as_str(), pdf.path.as_deref()),
        ("github:anthropics/skills", Some("skills/pdf"))
    );
    assert_eq!(manifest.skills()[&name("lint")].reference, Some(Reference::Tag("v1.2".into())));
    assert_eq!(manifest.skills()[&name("old")].name.as_deref(), Some("pdf"));
    assert_eq!(manifest.agents(), &Agents { targets: vec!["claude-code".into()], copy: false });
    assert_eq!(manifest.to_string(), TEXT);
}

#[test]
fn edits_keep_comments_and_order() {
    let mut manifest = Manifest::parse(TEXT).expect("valid");
    let pdf = manifest.skills()[&name("pdf")].clone();
    manifest.set_skill(&name("new"), pdf.clone());
    manifest
        .set_skill(&name("pdf"), Requirement { reference: Some(Reference::Branch("main".into())), ..pdf });
    manifest.remove_skill(&name("brand"));
    manifest.set_agents(Agents { targets: vec!["claude-code".into(), "goose".into()], copy: false });
    let expected = r#"# our skills
[skills]
pdf   = { github = "anthropics/skills", path = "skills/pdf", branch = "main" }   # the one we love
# pinned on purpose
lint  = { github = "acme/lint", tag = "v1.2" }
old   = { path = "./all.zip", subdir = "skills/pdf", name = "pdf" }
new = { github = "anthropics/skills", path = "skills/pdf" }

[agents]
targets = ["claude-code", "goose"] # more later
"#;
    assert_eq!(manifest.to_string(), expected);
    assert_eq!(Manifest::parse(expected).expect("valid").skills(), manifest.skills());
}

#[test]
fn every_fault_names_its_place() {
    let cases = [
        ("[skills]\npdf = 1", "2:7: a skill must be a table"),
        ("[skills]\npdf = \"^1\"", "2:7: skills from a registry are not supported by this version"),
        ("[skils]\n", "1:2: the key `skils` is not known here"),
        ("[skills]\nPDF = { path = \"x\" }", "2:1: the name `PDF` has an upper-case letter"),
        (
            "[skills]\n\"../x\" = { path = \"x\" }",
            "2:1: the name `../x` has a character that is not a letter, a digit or a hyphen: U+002E",
        ),
        ("[skills]\nx = { githb = \"a/b\" }", "2:7: the key `githb` is not known here"),
        ("[skills]\nx = { github = \"a\" }", "2:5: `a` is not an address that skillpm can install from"),
        (
            "[skills]\nx = { github = \"a/b\", path = \"../c\" }",
            "2:5: `../c` is not a directory inside a repository",
        ),
        (
            "[skills]\nx = { github = \"a/b\", tag = \"1\", rev = \"2\" }",
            "2:5: only one of `tag`, `branch`, `rev` and `ref` can be given",
        ),
        (
            "[skills]\nx = {}",
            "2:5: a skill needs a source: `github`, `git`, `url`, `python`, `npm`, `r`, `crate` or `path`",
        ),
        (
            "[skills]\nx = { git = \"https://u:p@h/r\" }",
            "2:5: an address with a user name or password is not used",
        ),
        ("[skills]\nx = { git = \"./r\", npm = \"x\" }", "2:5: a skill has one source: `git` or `npm`"),
        ("[skills]\nx = { npm = \"../x\" }", "2:5: `../x` cannot be the name of a package for `npm:`"),
        ("[skills]\nx = { url = \"https://h\", tag = \"1\" }", "2:26: the key `tag` is not known here"),
        ("lint = 1", "1:8: `lint` must be a table"),
        ("[lint]\nprofil = \"spec\"", "2:1: the key `profil` is not known here"),
        ("[lint]\nprofile = 1", "2:11: `profile` must be a string"),
        (
            "[lint.rules]\nname-length = 1",
            "2:15: the level of a rule must be a string: `off`, `warning` or `error`",
        ),
        ("[agents]\ntargets = [1]", "2:12: `targets` must be a list of strings"),
    ];
    for (text, message) in cases {
        assert_eq!(Manifest::parse(text).expect_err(text).to_string(), message);
    }
    let twice = Manifest::parse("[skills]\nx = { path = \"a\" }\nx = { path = \"b\" }").expect_err("twice");
    assert_eq!(twice.line, 3, "{twice}");
    assert!(Manifest::parse(&format!("x = {}1{}", "[".repeat(50_000), "]".repeat(50_000))).is_err());
}

#[test]
fn the_line_of_a_skill() {
    let line = |text: &str, skill: &str| Manifest::line_of(text, &name(skill));
    assert_eq!(line(TEXT, "pdf"), Some(3));
    assert_eq!(line(TEXT, "lint"), Some(6));
    assert_eq!(line(TEXT, "docx"), None);
    assert_eq!(line("[skills.pdf]\ngithub = \"a/b\"\n", "pdf"), Some(1));
    assert_eq!(line("skills = { pdf = { github = \"a/b\" } }", "pdf"), Some(1));
    assert_eq!(line("[skills", "pdf"), None);
}
