//! The files of `schema/` say what the code says.

#![expect(clippy::disallowed_methods, reason = "the pages are outside of every room of the program")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::document::{Document, SPEC_FIELDS};
use crate::lint::{Group, Level, Profile, RULES, Rule, Ruleset, Subject, check_with, rule};
use crate::lockfile::{self, Lockfile};
use crate::manifest::Manifest;
use crate::spec::{KINDS, source_keys};
use skillpm_testing::Schema;

/// The words between backticks.
fn quoted(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The keys that the schema has at `pointer`.
fn schema_keys(schema: &Schema, pointer: &str) -> BTreeSet<String> {
    schema.keys(pointer).into_iter().map(str::to_owned).collect()
}

/// The keys that the manifest takes in a table: those that it names when it gets another one.
fn manifest_keys(before: &str) -> BTreeSet<String> {
    let error = Manifest::parse(&format!("{before}zzzzzz = 1")).expect_err("no such key");
    quoted(&error.hint.expect("a hint").to_string())
}

#[test]
fn the_manifest_s_schema_has_the_keys_that_are_read() {
    let schema = Schema::read("skillpm.schema.json");
    assert_eq!(manifest_keys(""), schema_keys(&schema, "/properties"));
    assert_eq!(manifest_keys("[agents]\n"), schema_keys(&schema, "/properties/agents/properties"));
    assert_eq!(manifest_keys("[policy]\n"), schema_keys(&schema, "/properties/policy/properties"));
    assert_eq!(manifest_keys("[lint]\n"), schema_keys(&schema, "/properties/lint/properties"));
    let mut definitions = Vec::new();
    for (kind, key) in KINDS.iter().flat_map(|kind| kind.manifest_keys.iter().map(move |key| (kind, *key))) {
        let is_read = |value: &&&str| (kind.from_manifest)(key, value).is_ok();
        let value = ["x", "o/r", "https://h", "./r"].iter().find(is_read).expect("a value");
        let definition = if key == "path" { "local" } else { key };
        let keys = manifest_keys(&format!("[skills.a]\n{key} = {value:?}\n"));
        assert_eq!(keys, schema_keys(&schema, &format!("/$defs/{definition}/properties")));
        definitions.push(json!({ "$ref": format!("#/$defs/{definition}") }));
    }
    // Of a path the schema speaks last: it is what stands where no other key does.
    definitions.sort_by_key(|definition| definition["$ref"] == "#/$defs/local");
    schema.assert_generated("/$defs/skill/oneOf", &definitions.into());
}

/// Pages and schemas that people wrote name every kind of source.
#[test]
fn these_pages_name_every_kind_of_source() {
    let root = skillpm_testing::root();
    // The published package carries no pages.
    let read = |page: &str| std::fs::read_to_string(root.join(page)).unwrap_or_default();
    for page in ["docs/reference/files.md", "docs/reference/policy.md", "schema/lockfile.schema.json"] {
        let text = read(page);
        for key in source_keys().filter(|_| !text.is_empty()) {
            assert!(text.contains(&format!("`{key}:")), "{page} does not name `{key}:`");
        }
    }
    let text = read("docs/reference/files.md");
    for key in KINDS.iter().flat_map(|kind| kind.manifest_keys).filter(|_| !text.is_empty()) {
        assert!(text.contains(&format!("`{key}`")), "files.md does not name the key `{key}`");
    }
}

/// Rules, levels and profiles come from the linter's tables.
#[test]
fn the_manifest_s_schema_knows_the_rules() {
    let profiles = Profile::ALL.map(|(name, _)| name);
    let levels = Level::ALL.map(|(name, _)| name);
    let rule = |rule: &&Rule| (rule.id.to_owned(), json!({ "description": rule.summary, "enum": levels }));
    let rules: serde_json::Map<_, _> = RULES.iter().map(rule).collect();
    let schema = Schema::read("skillpm.schema.json");
    schema.assert_generated("/properties/lint/properties/profile/enum", &json!(profiles));
    schema.assert_generated("/properties/lint/properties/rules/properties", &rules.into());
}

#[test]
fn the_manifest_s_schema_takes_what_is_read() {
    let schema = Schema::read("skillpm.schema.json");
    for (text, right) in [
        ("", true),
        ("[skills]\na = { github = \"o/r\", path = \"x\", tag = \"v1\", name = \"b\" }", true),
        ("[skills]\na = { path = \"./x.zip\", subdir = \"y\" }", true),
        ("[skills]\na = { git = \"git@h:r.git\", path = \"x\", rev = \"0123abc\" }", true),
        ("[skills]\na = { url = \"https://h/x.zip\", path = \"x\" }", true),
        ("[skills]\na = { npm = \"@s/x\" }", true),
        ("[skills]\na = { npm = \"x\", agents = [\"goose\"], disabled = true }", true),
        ("[skills]\na = { path = \"x\", subdir = \"y\", editable = true, agents = [] }", true),
        ("[skills]\na = { npm = \"x\", editable = true }", false),
        ("[skills]\na = { npm = \"x\", disabled = \"yes\" }", false),
        ("[skills]\na = { npm = \"x\", agents = \"goose\" }", false),
        ("[agents]\ntargets = []", true),
        ("[skills]\na = { url = \"https://h\", git = \"./x\" }", false),
        ("[skills]\na = { crate = \"x\", tag = \"v1\" }", false),
        ("[agents]\ntargets = [\"claude-code\"]\ncopy = true", true),
        ("[lint]\nprofile = \"publish\"\nrules = { name-directory = \"off\" }", true),
        ("[policy]\nallow = [\"github:a\"]\ndeny = []\nrequire-pin = \"tag\"", true),
        ("[policy]\nallow = []", false),
        ("[policy]\ndeny = \"github:a\"", false),
        ("[lint]\nrules = { name-directory = 1 }", false),
        ("[skills]\na = {}", false),
        ("[registries]\ndefault = \"https://h\"\n[skills]\na = \"^1\"", true),
        ("[registries]\nacme = \"./r\"\n[skills]\na = { registry = \"acme\", version = \"1\" }", true),
        ("[registries]\nacme = 1", false),
        ("[mcp.docs]\ncommand = [\"x\", \"\"]\n[skills]\na = { mcp = \"docs\" }", true),
        ("[mcp.docs]\ncommand = []", false),
        ("[mcp.docs]\ncommand = \"x\"", false),
        ("[mcp.docs]\ncommand = [\"x\"]\nargs = []", false),
        ("[mcp.docs]", false),
        ("[skills]\na = { path = \"\" }", false),
        ("[skills]\na = { path = \"x\", tag = \"v1\" }", false),
        ("[agents]\ntargets = \"claude-code\"", false),
        ("[agents]\ncopy = 1", false),
        ("[agent]", false),
    ] {
        let value: Value = toml::from_str(text).expect(text);
        assert_eq!(Manifest::parse(text).is_ok(), right, "{text}");
        assert_eq!(schema.faults(&value).is_empty(), right, "{text}: {:?}", schema.faults(&value));
    }
}

#[test]
fn the_lockfile_s_schema_has_the_fields_that_are_read() {
    let schema = Schema::read("lockfile.schema.json");
    assert_eq!(schema.at("/properties/version/const"), lockfile::VERSION);
    for (before, pointer) in [("", "/properties"), ("[[skill]]\n", "/$defs/skill/properties")] {
        let text = format!("version = 1\n{before}zzzzzz = 1");
        let message = Lockfile::parse(&text).expect_err("no such field").to_string();
        let mut keys = quoted(&message);
        assert!(keys.remove("zzzzzz"), "{message}");
        assert_eq!(keys, schema_keys(&schema, pointer));
    }
}

#[test]
fn the_lockfile_s_schema_takes_what_is_read() {
    let schema = Schema::read("lockfile.schema.json");
    let (digest, commit) = (format!("sha256:{}", "0".repeat(64)), "0".repeat(40));
    let entry = |fields: &str| format!("version = 1\n[[skill]]\nname = \"a\"\n{fields}");
    for (text, right) in [
        ("version = 1".to_owned(), true),
        (entry(&format!("source = \"path:x\"\ndigest = \"{digest}\"\ndependencies = [\"b\"]")), true),
        (entry(&format!("source = \"github:o/r\"\nrevision = \"{commit}\"\ndigest = \"{digest}\"")), true),
        (entry(&format!("source = \"git:git@h:r\"\nrevision = \"{commit}\"\ndigest = \"{digest}\"")), true),
        (
            entry(&format!("source = \"site:https://h\"\nrevision = \"{digest}\"\ndigest = \"{digest}\"")),
            true,
        ),
        (
            entry(&format!(
                "source = \"path:x\"\ndigest = \"{digest}\"\nalias-of = \"b c\"\nagents = [\"goose\"]"
            )),
            true,
        ),
        (entry(&format!("source = \"path:x\"\ndigest = \"{digest}\"\nagents = [\"../x\"]")), false),
        (entry(&format!("source = \"npm:x\"\nrevision = \"1.2.0\"\ndigest = \"{digest}\"")), true),
        (entry("source = \"path:x\"\ndigest = \"md5:0\""), false),
        (entry(&format!("digest = \"{digest}\"")), false),
        ("version = 2".to_owned(), false),
        (String::new(), false),
    ] {
        let value: Value = toml::from_str(&text).expect("TOML");
        assert_eq!(Lockfile::parse(&text).is_ok(), right, "{text}");
        assert_eq!(schema.faults(&value).is_empty(), right, "{text}: {:?}", schema.faults(&value));
    }
}

/// What an editor marks is what the linter finds in the fields.
#[test]
fn the_frontmatter_s_schema_takes_what_the_linter_takes() {
    let schema = Schema::read("frontmatter.schema.json");
    let mut fields = SPEC_FIELDS.to_vec();
    fields.sort_unstable();
    assert_eq!(schema.keys("/properties"), fields);
    let long = |length| "x".repeat(length);
    for (field, value, right) in [
        ("name", json!("pdf"), true),
        ("name", json!("PDF"), false),
        ("name", json!("a--b"), false),
        ("name", json!("-a"), false),
        ("name", json!("a_b"), false),
        ("name", json!("caf\u{e9}"), false),
        ("name", json!(long(64)), true),
        ("name", json!(long(65)), false),
        ("description", json!(long(1024)), true),
        ("description", json!(long(1025)), false),
        ("description", json!(""), false),
        ("description", json!(["x"]), false),
        ("compatibility", json!(long(500)), true),
        ("compatibility", json!(long(501)), false),
        ("compatibility", json!(""), false),
        ("license", json!("MIT"), true),
        ("metadata", json!({"version": "1.0"}), true),
        ("metadata", json!({"version": 1.0}), false),
        ("metadata", json!(["x"]), false),
        ("allowed-tools", json!("Read Write"), true),
        ("allowed-tools", json!(["Read"]), false),
        ("author", json!("me"), false),
    ] {
        let mut fields = json!({"name": "pdf", "description": "Reads PDF files. Use it for PDF files."});
        fields[field] = value;
        let faults = schema.faults(&fields);
        assert_eq!(faults.is_empty(), right, "{fields}: {faults:?}");
        // The name of the directory and the quality of a text are no matters of a schema.
        let name = fields["name"].as_str().unwrap_or_default();
        // A scalar of JSON is one of YAML; collections are written as blocks, as people do.
        let mut text = String::new();
        for (key, value) in fields.as_object().expect("an object") {
            let lines: Vec<String> = match value {
                Value::Object(map) => map.iter().map(|(key, value)| format!("  {key}: {value}")).collect(),
                Value::Array(items) => items.iter().map(|item| format!("  - {item}")).collect(),
                value => vec![format!("  {value}")],
            };
            text.extend([key, ":\n", &lines.join("\n"), "\n"]);
        }
        let document = Document::parse(format!("---\n{text}---\n\n# x\n"));
        let subject = Subject::new(&document, Some(name), "SKILL.md");
        let findings = check_with(&subject, &Ruleset::new(Profile::Spec));
        let of_fields: Vec<_> = findings
            .iter()
            .filter(|finding| rule(finding.rule).is_ok_and(|rule| rule.group == Group::Spec))
            .collect();
        assert_eq!(of_fields.is_empty(), right, "{text}: {of_fields:?}");
    }
}

/// All members are there always: programs need not ask whether one is.
#[test]
fn what_commands_print_leaves_no_member_away() {
    fn check(schema: &Value, name: &str, at: &str) {
        for (key, part) in schema.as_object().into_iter().flatten() {
            check(part, name, &format!("{at}/{key}"));
        }
        for (index, part) in schema.as_array().into_iter().flatten().enumerate() {
            check(part, name, &format!("{at}/{index}"));
        }
        // One that lists no members holds what somebody else chose, such as the fields of a skill's own.
        if schema["type"] == "object" && schema.get("properties").is_some() {
            let keys = schema["properties"].as_object().into_iter().flatten();
            let keys: BTreeSet<&str> = keys.map(|(key, _)| key.as_str()).collect();
            let required = schema["required"].as_array().into_iter().flatten();
            let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
            assert_eq!(required, keys, "{name} {at}");
            assert_eq!(schema["additionalProperties"], false, "{name} {at}");
        }
    }
    // What is read, the report, which has a version of its own, and a skill with the fields that it has, or that
    // were asked for.
    let others = ["frontmatter.", "lockfile.", "skillpm.", "report-v1.", "show.", "catalog."];
    for name in Schema::names().iter().filter(|name| !others.iter().any(|other| name.starts_with(other))) {
        check(Schema::read(name).at(""), name, "");
    }
}

/// What several commands print is described in one way.
#[test]
fn the_same_things_have_the_same_schema() {
    let skill = "/$defs/skill/properties";
    let list = Schema::read("list.schema.json");
    for name in ["tree.schema.json", "why.schema.json"] {
        let schema = Schema::read(name);
        for key in list.keys(skill) {
            let at = format!("{skill}/{key}");
            assert_eq!(schema.at(&at), list.at(&at), "{name} {at}");
        }
    }
    let install = Schema::read("install.schema.json");
    for (name, parts) in [
        ("import.schema.json", &["/$defs/place", "/$defs/step", "/properties/files_changed"][..]),
        ("policy.schema.json", &["/$defs/decided"]),
        ("update.schema.json", &["/$defs/decided", "/$defs/link", "/$defs/place", "/$defs/step"]),
        ("update.schema.json", &["/properties/files_changed"]),
    ] {
        for at in parts {
            assert_eq!(Schema::read(name).at(at), install.at(at), "{name} {at}");
        }
    }
    let (agents, why) = (Schema::read("agents.schema.json"), Schema::read("why.schema.json"));
    assert_eq!(agents.at("/$defs/form"), why.at("/$defs/form"));
}

/// Each file has its own address, and the reference says what it is for.
#[test]
#[expect(clippy::disallowed_methods, reason = "the reference is outside of every room of the program")]
fn every_schema_names_itself_and_is_in_the_reference() {
    let page = std::fs::read_to_string(skillpm_testing::root().join("docs/reference/files.md"));
    for name in Schema::names() {
        let schema = Schema::read(&name);
        assert!(schema.at("/$id").as_str().is_some_and(|id| id.ends_with(&format!("/schema/{name}"))));
        // The published package carries no docs/.
        assert!(page.as_ref().map_or(true, |page| page.contains(&format!("| `{name}` |"))), "{name}");
    }
}
