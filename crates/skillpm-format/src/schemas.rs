//! The files of `schema/` say what the code says.

#![expect(clippy::disallowed_methods, reason = "the pages are outside of every room of the program")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::document::SPEC_FIELDS;
use crate::lint::{Field, Level, Profile, Rule, documented, fields, metadata_fields};
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
    let rules: serde_json::Map<_, _> = documented().map(|known| rule(&known)).collect();
    let schema = Schema::read("skillpm.schema.json");
    schema.assert_generated("/properties/lint/properties/profile/enum", &json!(profiles));
    schema.assert_generated("/properties/lint/properties/rules/properties", &rules.into());
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

/// What a field of the specification may hold is written there by hand, and compared with the linter's verdict elsewhere.
#[test]
fn the_frontmatter_s_schema_has_the_fields_of_the_specification_and_of_agents() {
    let schema = Schema::read("frontmatter.schema.json");
    let all = fields();
    assert!(SPEC_FIELDS.iter().all(|name| all.iter().any(|field| field.name == *name)));
    let described = |Field { name, about, values }: &Field, mut property: Value| {
        property["description"] = about.as_str().into();
        if !values.is_empty() {
            let value = |text: &&str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
            property["examples"] = values.iter().map(value).collect();
        }
        ((*name).to_owned(), property)
    };
    // A block is what its agent says.
    let is_block = |field: &Field| field.about.starts_with("A block");
    let kind = |field| if is_block(field) { json!({}) } else { json!({ "type": "string" }) };
    let key = |field| described(field, kind(field));
    let keys: serde_json::Map<_, _> = metadata_fields().iter().map(key).collect();
    let mut properties = serde_json::Map::new();
    for field in &all {
        let is_spec = SPEC_FIELDS.contains(&field.name);
        let own = if is_spec { schema.at(&format!("/properties/{}", field.name)).clone() } else { json!({}) };
        properties.extend([described(field, own)]);
    }
    properties["metadata"]["properties"] = keys.into();
    schema.assert_generated("/properties", &properties.into());
}

/// All members are there always: programs need not ask whether one is.
#[test]
fn what_commands_print_leaves_no_member_away() {
    fn check(schema: &Value, name: &str, at: &str) {
        // The report has a version of its own, and what a finding does not have is left away.
        if at == "/$defs/Finding" {
            return;
        }
        for (key, part) in schema.as_object().into_iter().flatten() {
            check(part, name, &format!("{at}/{key}"));
        }
        for (index, part) in schema.as_array().into_iter().flatten().enumerate() {
            check(part, name, &format!("{at}/{index}"));
        }
        // A schema without listed members holds foreign choices, such as the fields of a skill's own.
        if schema["type"] == "object" && schema.get("properties").is_some() {
            let keys = schema["properties"].as_object().into_iter().flatten();
            let keys: BTreeSet<&str> = keys.map(|(key, _)| key.as_str()).collect();
            let required = schema["required"].as_array().into_iter().flatten();
            let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
            assert_eq!(required, keys, "{name} {at}");
        }
    }
    // Inputs, a file of a skill, and a skill with the fields that it has, or that were asked for.
    let others = ["frontmatter.", "lockfile.", "skillpm.", "read.", "show.", "catalog."];
    for name in Schema::names().iter().filter(|name| !others.iter().any(|other| name.starts_with(other))) {
        check(Schema::read(name).at(""), name, "");
    }
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
