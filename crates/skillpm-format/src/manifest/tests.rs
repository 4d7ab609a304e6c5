//! Tests of the manifest.

use super::*;
use crate::spec::{Origin, Reference};

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

/// Unchanged lines stay as they are, and an unchanged manifest is not written at all.
#[test]
fn what_editors_put_around_the_text_stays() {
    for text in [
        "\u{feff}[skills]\r\n# ours\r\npdf = { github = \"a/b\" }\r\n",
        "[skills]\r\npdf = { github = \"a/b\" }",
        "\u{feff}[skills]\npdf = { github = \"a/b\" }\n",
    ] {
        let mut manifest = Manifest::parse(text).expect("valid");
        assert_eq!(manifest.to_string().trim_end(), text.trim_end());
        let xlsx = Requirement::new(Origin::local("./xlsx"));
        manifest.set_skill(&"xlsx".parse().expect("a name"), xlsx);
        let end = if text.contains('\r') { "\r\n" } else { "\n" };
        let added = format!("{}{end}xlsx = {{ path = \"./xlsx\" }}{end}", text.trim_end());
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
    assert_eq!(manifest.agents(), &Agents { targets: Some(vec!["claude-code".into()]), ..Agents::default() });
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
    manifest.set_agents(Agents {
        targets: Some(vec!["claude-code".into(), "junie".into()]),
        ..Agents::default()
    });
    let expected = r#"# our skills
[skills]
pdf   = { github = "anthropics/skills", path = "skills/pdf", branch = "main" }   # the one we love
# pinned on purpose
lint  = { github = "acme/lint", tag = "v1.2" }
old   = { path = "./all.zip", subdir = "skills/pdf", name = "pdf" }
new = { github = "anthropics/skills", path = "skills/pdf" }

[agents]
targets = ["claude-code", "junie"] # more later
"#;
    assert_eq!(manifest.to_string(), expected);
    assert_eq!(Manifest::parse(expected).expect("valid").skills(), manifest.skills());
}

/// What both sides of a merge add is in the merged manifest; what they change differently is nobody's to choose.
#[test]
fn a_merge_that_only_adds_is_combined() {
    let conflict = |ours: &str, theirs: &str| {
        format!(
            "[skills]\na = {{ path = \"a\" }}\n<<<<<<< HEAD\n{ours}||||||| base\n=======\n{theirs}>>>>>>> other\nz = {{ path = \"z\" }}\n"
        )
    };
    let merged = |ours: &str, theirs: &str| {
        let manifest = Manifest::merged(&conflict(ours, theirs))?;
        Some(manifest.skills().keys().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    };
    let (b, c) = ("b = { path = \"b\" }\n", "c = { path = \"c\" }\n");
    assert_eq!(merged(b, c).as_deref(), Some("a b c z"));
    assert_eq!(merged(&format!("{b}{c}"), c).as_deref(), Some("a b c z"));
    assert_eq!(merged(b, "b = { path = \"other\" }\n"), None);
    assert_eq!(merged(b, "c = 1\n"), None);
    assert_eq!(merged(b, "[agents]\ntargets = []\n[skills.c]\npath = \"c\"\n"), None);
    assert!(Manifest::merged("<<<<<<< HEAD\n").is_none());
    assert!(Manifest::merged("[skills]\n").is_none(), "there is nothing to combine");
    let hint = |text: &str| Manifest::parse(text).expect_err("markers").hint.expect("a hint").to_string();
    assert_eq!(hint(&conflict(b, c)), "`install` combines the skills of both sides");
    assert_eq!(hint(&conflict(b, "b = 1\n")), "resolve it by hand, then run `install`");
}

/// An empty list differs from a missing one, and the list of one skill is kept as it is written.
#[test]
fn who_sees_a_skill() {
    let text = r#"[skills]
pdf = { npm = "x", agents = ["junie", "claude"], disabled = true }
brand = { path = "../brand", subdir = "x", editable = true, agents = [] }

[agents]
targets = []
"#;
    let mut manifest = Manifest::parse(text).expect("valid");
    let (pdf, brand) = (manifest.skills()[&name("pdf")].clone(), manifest.skills()[&name("brand")].clone());
    assert_eq!((pdf.agents.as_deref(), pdf.disabled), (Some(&["junie".into(), "claude".into()][..]), true));
    assert_eq!((brand.agents.as_deref(), brand.editable), (Some(&[][..]), true));
    assert_eq!(manifest.agents().targets, Some(vec![]));
    assert_eq!(Manifest::parse("[agents]\ncopy = true").expect("valid").agents().targets, None);
    for (key, requirement) in [("one", &pdf), ("two", &brand)] {
        manifest.set_skill(&name(key), requirement.clone());
    }
    let read = Manifest::parse(&manifest.to_string()).expect("valid");
    assert_eq!((&read.skills()[&name("one")], &read.skills()[&name("two")]), (&pdf, &brand));
}

/// A skill in a table of its own: its lines keep their comments, and only those that change are written.
#[test]
fn a_table_for_each_skill() {
    let text = r#"[skills.pdf] # ours
# the good one
github = 'a/b' # or theirs
tag = "v1" # not v2

[skills.docx]
path = "x"
"#;
    let mut manifest = Manifest::parse(text).expect("valid");
    let pdf = manifest.skills()[&name("pdf")].clone();
    let agents = Some(vec!["junie".to_owned()]);
    manifest.set_skill(&name("pdf"), Requirement { disabled: true, agents, ..pdf.clone() });
    let expected = text.replace("not v2\n", "not v2\nagents = [\"junie\"]\ndisabled = true\n");
    assert_eq!(manifest.to_string(), expected);
    manifest.set_skill(&name("pdf"), pdf);
    assert_eq!(manifest.to_string(), text);
    let moved = Requirement::new(Origin::local("./y"));
    manifest.set_skill(&name("docx"), moved.clone());
    assert_eq!(manifest.to_string(), text.replace("\"x\"", "\"./y\""));
    assert_eq!(Manifest::parse(&manifest.to_string()).expect("valid").skills()[&name("docx")], moved);
}

#[test]
fn every_fault_names_its_place() {
    let cases = [
        ("[skills]\npdf = 1", "2:7: a skill must be a table"),
        ("[skills]\npdf = \"^1\"", "2:7: there is no default registry that it could come from"),
        (
            "[skills]\npdf = \"next\"",
            "2:7: `next` is not a version range: unexpected character 'n' while parsing major version number",
        ),
        (
            "[registries]\nAcme = \"https://h\"",
            "2:1: `Acme` cannot be the name of a registry: use `a` to `z`, digits and `-`",
        ),
        ("[registries]\ndefault = \"acme\"", "2:11: there is no registry called `acme`"),
        (
            "[registries]\nacme = \"https://h?x\"",
            "2:8: `https://h?x` is not an address that skillpm can install from",
        ),
        (
            "[override]\npdf = \"next\"",
            "2:7: `next` is not a version range: unexpected character 'n' while parsing major version number",
        ),
        ("[override]\nPDF = \"1\"", "2:1: the name `PDF` has an upper-case letter"),
        ("[skills]\npdf = { registry = \"acme\" }", "2:7: there is no registry called `acme`"),
        (
            "[skills]\npdf = { registry = \"https://h\", version = \"next\" }",
            "2:7: `next` is not a version range such as `^1.2` or `>=1.2, <2`",
        ),
        (
            "[skills]\npdf = { registry = \"https://h\", tag = \"x\" }",
            "2:33: the key `tag` is not known here",
        ),
        ("[skils]\n", "1:2: the key `skils` is not known here"),
        ("[skills]\nPDF = { path = \"x\" }", "2:1: the name `PDF` has an upper-case letter"),
        (
            "[skills]\n\"../x\" = { path = \"x\" }",
            "2:1: the name `../x` contains `.`; only letters, digits and hyphens are allowed",
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
            "2:5: a skill needs a source: `github`, `git`, `url`, `registry`, `oci`, `mcp`, `python`, `npm`, `r`, `crate` or `path`",
        ),
        (
            "[skills]\nx = { git = \"https://u:p@h/r\" }",
            "2:5: addresses with a user name or password are not allowed",
        ),
        ("[skills]\nx = { git = \"./r\", npm = \"x\" }", "2:5: a skill has one source: `git` or `npm`"),
        ("[skills]\nx = { npm = \"../x\" }", "2:5: `../x` cannot be the name of a package for `npm:`"),
        ("[skills]\nx = { url = \"https://h\", tag = \"1\" }", "2:26: the key `tag` is not known here"),
        ("policy = 1", "1:10: `policy` must be a table"),
        ("[policy]\nallow = []", "2:9: `allow` is empty, so nothing could be installed"),
        ("[policy]\ndeny = [\"x\", 1]", "2:14: `deny` must be a list of strings"),
        ("[policy]\nalow = []", "2:1: the key `alow` is not known here"),
        ("lint = 1", "1:8: `lint` must be a table"),
        ("[lint]\nprofil = \"spec\"", "2:1: the key `profil` is not known here"),
        ("[lint]\nprofile = 1", "2:11: `profile` must be a string"),
        (
            "[lint.rules]\nname-length = 1",
            "2:15: the level of a rule must be a string: `off`, `note`, `warning` or `error`",
        ),
        ("[agents]\ntargets = [1]", "2:12: `targets` must be a list of strings"),
        ("[skills]\nx = { npm = \"x\", agents = \"junie\" }", "2:27: `agents` must be a list of agents"),
        ("[skills]\nx = { npm = \"x\", agents = [\"a\", 1] }", "2:33: `agents` must be a list of strings"),
        ("[skills]\nx = { npm = \"x\", disabled = 1 }", "2:29: `disabled` must be `true` or `false`"),
        ("[skills]\nx = { npm = \"x\", editable = true }", "2:18: the key `editable` is not known here"),
    ];
    for (text, message) in cases {
        assert_eq!(Manifest::parse(text).expect_err(text).to_string(), message);
    }
    // Only what may stand there is offered.
    for (text, hint) in [
        ("[skills]\nx = { github = \"a/b\", tags = \"1\" }", "did you mean `tag`?"),
        (
            "[skills]\nx = { path = \"x\", tag = \"1\" }",
            "only skills of `github`, `git` and `oci` have revisions",
        ),
        ("[agents]\ndisabled = true", "known keys are `targets`, `use`, `copy`, `gitattributes`"),
    ] {
        assert_eq!(Manifest::parse(text).expect_err(text).hint.expect("a hint"), hint, "{text}");
    }
    let twice = Manifest::parse("[skills]\nx = { path = \"a\" }\nx = { path = \"b\" }").expect_err("twice");
    assert_eq!(twice.line, 3, "{twice}");
    assert!(Manifest::parse(&format!("x = {}1{}", "[".repeat(50_000), "]".repeat(50_000))).is_err());
}

/// Spellings of other tools, or of the command line, and the hints about them.
#[test]
fn slips_are_told_as_what_is_meant() {
    for (entry, keys) in [
        ("{ github = \"https://github.com/owner/repo\" }", "github = \"owner/repo\""),
        (
            "{ github = \"https://github.com/owner/repo/tree/v2/skills/pdf\" }",
            "github = \"owner/repo\", path = \"skills/pdf\", ref = \"v2\"",
        ),
        ("{ github = \"owner/repo/skills/pdf\" }", "github = \"owner/repo\", path = \"skills/pdf\""),
        ("{ github = \"owner/repo#v1\" }", "github = \"owner/repo\", ref = \"v1\""),
        ("{ github = \"owner\" }", "github = \"owner/repo\""),
        ("{ github = \"https://example.com/r.git\" }", "git = \"https://example.com/r.git\""),
        ("{ git = \"owner/repo\", tag = \"v1\" }", "github = \"owner/repo\""),
        ("{ git = \"https://example.com/r.git#v1\" }", "git = \"https://example.com/r.git\", ref = \"v1\""),
        ("{ url = \"skills.zip\" }", "url = \"https://host/skills.zip\""),
        ("{ path = \"https://example.com/a.zip\" }", "url = \"https://example.com/a.zip\""),
        ("{ source = \"owner/repo\" }", "github = \"owner/repo\""),
        ("{ source = \"./skills/pdf\" }", "path = \"./skills/pdf\""),
        ("{ repository = \"https://github.com/owner/repo.git\" }", "github = \"owner/repo\""),
        ("{ gitlab = \"group/repo\" }", "git = \"https://gitlab.com/group/repo.git\""),
        ("\"owner/repo\"", "{ github = \"owner/repo\" }"),
        ("\"../pdf\"", "{ path = \"../pdf\" }"),
    ] {
        let error = Manifest::parse(&format!("[skills]\nx = {entry}")).expect_err(entry);
        assert_eq!(error.hint.as_ref().expect("a hint"), &format!("write `{keys}`"), "{entry}: {error}");
        let table = if keys.starts_with('{') { keys.to_owned() } else { format!("{{ {keys} }}") };
        assert!(Manifest::parse(&format!("[skills]\nx = {table}")).is_ok(), "{keys}");
    }
    for (text, hint) in [
        ("[skills]\nx = { github = \"a/b\", version = \"^1\", branch = \"main\" }", "tag = \"v1.2.0\""),
        ("[skills]\nx = { github = \"a/b\", commit = \"abc\" }", "did you mean `rev`?"),
        ("[skills]\nx = { github = \"a/b\", subdir = \"c\" }", "did you mean `path`?"),
        ("[skills]\nx = { path = \"a\", dir = \"c\" }", "did you mean `subdir`?"),
        ("[skills]\nx = \"^1.2\"", "or name a source here"),
        ("[dependencies]\nx = { github = \"a/b\" }", "under `[skills]`"),
        ("x = { path = \"a\" }", "under `[skills]`"),
    ] {
        let error = Manifest::parse(text).expect_err(text);
        assert!(
            error.hint.as_ref().is_some_and(|told| told.to_string().contains(hint)),
            "{text}: {:?}",
            error.hint
        );
    }
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

/// As a merge of two files leaves it.
#[test]
fn what_is_there_twice_is_named() {
    for (text, expected) in [
        ("[skills]\na = { path = \"x\" }\na = { path = \"y\" }\n", "3:1: `a` appears twice"),
        ("[skills]\na = { path = \"x\" }\n[skills]\nb = { path = \"y\" }\n", "3:2: `skills` appears twice"),
        ("[skills.\"a b\"]\npath = \"x\"\npath = \"y\"\n", "3:1: `path` appears twice"),
    ] {
        let error = Manifest::parse(text).expect_err("twice");
        assert_eq!(error.to_string(), expected, "{text}");
        assert!(error.hint.expect("a hint").starts_with("keep one of the two"));
    }
}

/// A registry is named once, and the key of a skill is its name in it.
#[test]
fn skills_of_registries() {
    let text = "[registries]
default = \"acme\"
acme = \"https://skills.example.com\"
here = \"./registry\"

[skills]
pdf = \"^1.2\"
old = { registry = \"here\", name = \"pdf\", version = \"=1.0.0\" }
lint = { registry = \"https://other.example.com\" }
";
    let manifest = Manifest::parse(text).expect("a manifest");
    let read = |key: &str| {
        let Requirement { origin, path, reference, .. } = &manifest.skills()[&name(key)];
        let reference = reference.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{origin} {} {reference}", path.clone().unwrap_or_default())
    };
    assert_eq!(read("pdf"), "registry:https://skills.example.com pdf versions/^1.2");
    assert_eq!(read("old"), "registry:./registry pdf versions/=1.0.0");
    assert_eq!(read("lint"), "registry:https://other.example.com lint ");
    let mut changed = manifest.clone();
    let range = |text| Some(Reference::version(text).expect(text));
    let pdf = manifest.skills()[&name("pdf")].clone();
    changed.set_skill(&name("pdf"), Requirement { reference: range("^2"), ..pdf.clone() });
    changed.set_skill(
        &name("docx"),
        Requirement { path: Some("docx".into()), reference: range("1"), ..pdf.clone() },
    );
    let agents = Some(vec!["cursor".to_owned()]);
    changed.set_skill(&name("x"), Requirement { path: Some("x".into()), agents, ..pdf });
    assert_eq!(
        changed.written().expect("reads back"),
        text.replace("pdf = \"^1.2\"", "pdf = \"^2\"")
            + "docx = \"1\"\nx = { registry = \"acme\", version = \"^1.2\", agents = [\"cursor\"] }\n"
    );
}
