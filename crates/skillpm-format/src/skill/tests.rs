use super::*;

fn message(text: &str) -> String {
    load(&Document::parse(text.to_owned())).expect_err("refused").to_string()
}

/// S0-US5.1, S0-US5.4, S0-US5.5, S0-FR-010, S0-FR-011, S0-FR-015, S0-FR-039.
#[test]
fn metadata_is_extracted() {
    let text = "---\nname: pdf\ndescription: >-\n  Reads PDF.\n  Use it.\nlicense: MIT\n\
        version: 1.10\nallowed-tools: Bash(git add:*), Read\nmetadata:\n  author: me\n---\n\n\
        # Body\n";
    let document = Document::parse(text.to_owned());
    let loaded = load(&document).expect("loads");
    assert_eq!(loaded.meta.name, "pdf");
    assert_eq!(loaded.meta.description, "Reads PDF. Use it.");
    assert_eq!(loaded.meta.version.as_deref(), Some("1.10"), "never 1.1");
    assert_eq!(loaded.meta.license.as_deref(), Some("MIT"));
    assert_eq!(loaded.meta.allowed_tools, ["Bash(git add:*)", "Read"]);
    assert_eq!(loaded.meta.metadata["author"], "me");
    assert_eq!(loaded.meta.extra["version"], "1.10");
    assert_eq!(loaded.body, "\n# Body\n");
}

/// S0-US5.2, S0-US5.3, S0-FR-008, S0-FR-009, S0-FR-012, S0-FR-013, S0-FR-039, conflicts C3 and C4.
#[test]
fn a_missing_field_is_named() {
    assert_eq!(
        message("---\ndescription: x\n---\n"),
        "the required field `name` is missing from the frontmatter"
    );
    assert_eq!(
        message("---\nname: x\n---\n"),
        "the required field `description` is missing from the frontmatter"
    );
    assert_eq!(
        message("---\nname: x\ndescription:  \nlicense: x\n---\n"),
        "the required field `description` is empty",
    );
    assert_eq!(
        message("---\nname: x\ndescription: # Chemistry\n---\n"),
        "the required field `description` is empty: what follows `#` is a comment unless it is in quotes"
    );
    assert_eq!(message("---\nname: ''\ndescription: x\n---\n"), "the required field `name` is empty");
    assert_eq!(message("---\n---\n"), "the required field `name` is missing from the frontmatter");
    assert_eq!(
        message("---\nname: {{x}}\ndescription: x\n---\n"),
        "the field `name` must be text, but it is a mapping"
    );
    assert_eq!(
        message("---\na: &n x\nname: *n\ndescription: x\n---\n"),
        "the field `name` must be text, but it is an alias"
    );
}

/// S0-E1, S0-E2, S0-FR-014.
#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    assert_eq!(message(""), "the file is empty: it needs frontmatter with `name` and `description`");
    assert!(message("# Title\n").contains("no frontmatter"));
    assert!(message("---\nname: x\n").contains("never closed"));
    assert_eq!(message("---\n- a\n---\n"), "the frontmatter must be lines of `key: value`, but it is a list");
    let yaml = message("---\nname: x\ndescription: y\nnonsense\n---\n");
    assert!(yaml.starts_with("the frontmatter is not valid YAML: "), "{yaml}");
    assert!(yaml.ends_with("(line 4, column 1)"), "{yaml}");
}

/// Conflict C8.
#[test]
fn wrong_bytes_matter_in_the_frontmatter_only() {
    let load_bytes =
        |bytes: &[u8]| load(&Document::from_bytes(bytes.to_vec())).map(|loaded| loaded.meta.name);
    assert_eq!(load_bytes(b"---\nname: x\ndescription: y\n---\n\xff \0"), Ok("x".into()));
    assert!(matches!(load_bytes(b"---\nname: \xff\ndescription: y\n---\n"), Err(LoadError::Encoding { .. })));
    assert!(matches!(load_bytes(b"---\nname: x\0y\ndescription: y\n---\n"), Err(LoadError::Encoding { .. })));
    assert!(matches!(load_bytes(b"\xff\xfe-\0-\0-\0"), Err(LoadError::Encoding { .. })));
}
