//! JSON Schemas, as far as ours go: enough to hold them against what the code says.

use std::path::PathBuf;

use serde_json::Value;

use crate::{is_set, root};

/// A file of `schema/`.
pub struct Schema {
    path: PathBuf,
    root: Value,
}

fn directory() -> PathBuf {
    root().join("schema")
}

/// Keywords that say nothing about which values are right.
const REMARKS: [&str; 5] = ["$schema", "$id", "$defs", "title", "description"];

impl Schema {
    /// The names of all files of `schema/`.
    pub fn names() -> Vec<String> {
        let files = std::fs::read_dir(directory()).expect("schema/");
        let names = files.map(|file| file.expect("a file").file_name().into_string().expect("a name"));
        names.collect()
    }

    /// Reads `schema/<name>`.
    pub fn read(name: &str) -> Self {
        let path = directory().join(name);
        let text = std::fs::read_to_string(&path).expect(name);
        Self { path, root: serde_json::from_str(&text).expect(name) }
    }

    /// The part at a JSON pointer.
    #[track_caller]
    pub fn at(&self, pointer: &str) -> &Value {
        self.root.pointer(pointer).expect(pointer)
    }

    /// The keys of the object at a JSON pointer.
    #[track_caller]
    pub fn keys(&self, pointer: &str) -> Vec<&str> {
        self.at(pointer).as_object().expect("an object").keys().map(String::as_str).collect()
    }

    /// Asserts that the part at `pointer` is `expected`; with `SKILLPM_BLESS=1` it is written so.
    #[track_caller]
    pub fn assert_generated(&self, pointer: &str, expected: &Value) {
        if self.at(pointer) == expected {
            return;
        }
        let path = self.path.display();
        assert!(
            is_set("SKILLPM_BLESS"),
            "{pointer} of {path} differs; `SKILLPM_BLESS=1 cargo test --workspace --lib schema` writes it anew"
        );
        // Read again: another part may have been written since.
        let mut root: Value =
            serde_json::from_str(&std::fs::read_to_string(&self.path).expect("a file")).expect("JSON");
        *root.pointer_mut(pointer).expect("a part") = expected.clone();
        let text = serde_json::to_string_pretty(&root).expect("a value") + "\n";
        std::fs::write(&self.path, text).expect("writes");
    }

    /// What is wrong with `value`, a line each: `/skills/0: not one of ...`.
    pub fn faults(&self, value: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        self.check(&self.root, value, "", &mut faults);
        faults
    }

    /// Whether there is a part at a JSON pointer.
    pub fn has(&self, pointer: &str) -> bool {
        self.root.pointer(pointer).is_some()
    }

    /// As [`Schema::faults`], of a value that the part at a JSON pointer describes.
    #[track_caller]
    pub fn faults_at(&self, pointer: &str, value: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        self.check(self.at(pointer), value, "", &mut faults);
        faults
    }

    /// Asserts that `text` is JSON as the schema says, and would not be so any more without any one of the
    /// members that it has, or with one more.
    #[track_caller]
    pub fn assert_describes(&self, text: &str) {
        let value: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!(self.faults(&value), [""; 0]);
        let mut objects = Vec::new();
        objects_in(&value, String::new(), &mut objects);
        assert!(!objects.is_empty(), "nothing is described");
        for (at, keys) in objects {
            let changed = |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
                let mut value = value.clone();
                change(value.pointer_mut(&at).and_then(Value::as_object_mut).expect("an object"));
                self.faults(&value)
            };
            for key in keys {
                assert_ne!(changed(&|object| drop(object.remove(&key))), [""; 0], "{at} without `{key}`");
            }
            let more = changed(&|object| drop(object.insert("no such member".to_owned(), Value::Null)));
            assert_ne!(more, [""; 0], "{at} with one more");
        }
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
        let object = schema.as_object().expect("a schema");
        for (keyword, wanted) in object {
            let right = match keyword.as_str() {
                "$ref" => {
                    let pointer =
                        wanted.as_str().and_then(|text| text.strip_prefix('#')).expect("a local one");
                    self.check(self.at(pointer), value, at, faults);
                    true
                }
                "oneOf" => {
                    let fits = |schema: &&Value| {
                        let mut faults = Vec::new();
                        self.check(schema, value, at, &mut faults);
                        faults.is_empty()
                    };
                    wanted.as_array().expect("a list").iter().filter(fits).count() == 1
                }
                "type" => is_a(value, wanted.as_str().expect("a type")),
                "const" => value == wanted,
                "enum" => wanted.as_array().expect("a list").contains(value),
                "minimum" => value.as_f64().is_none_or(|number| Some(number) >= wanted.as_f64()),
                "minLength" => length(value).is_none_or(|length| Some(length) >= wanted.as_u64()),
                "maxLength" => length(value).is_none_or(|length| Some(length) <= wanted.as_u64()),
                "minItems" => value.as_array().is_none_or(|list| Some(list.len() as u64) >= wanted.as_u64()),
                "pattern" => value.as_str().is_none_or(|text| matches(wanted.as_str().expect("one"), text)),
                "required" => wanted
                    .as_array()
                    .expect("a list")
                    .iter()
                    .all(|key| value.get(key.as_str().expect("a key")).is_some()),
                "properties" | "additionalProperties" => {
                    self.members(object, keyword, value, at, faults);
                    true
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}/{index}"), faults);
                    }
                    true
                }
                other => {
                    assert!(REMARKS.contains(&other), "the keyword `{other}` is not known here");
                    true
                }
            };
            if !right {
                faults.push(format!("{at}: {keyword} {wanted}"));
            }
        }
    }

    fn members(
        &self,
        schema: &serde_json::Map<String, Value>,
        keyword: &str,
        value: &Value,
        at: &str,
        faults: &mut Vec<String>,
    ) {
        let known = |key: &str| schema.get("properties").and_then(|known| known.get(key));
        for (key, member) in value.as_object().into_iter().flatten() {
            let at = format!("{at}/{key}");
            match (known(key), &schema[keyword]) {
                (Some(known), _) if keyword == "properties" => self.check(known, member, &at, faults),
                (None, Value::Bool(false)) => faults.push(format!("{at}: not a property")),
                (None, other) if keyword == "additionalProperties" => self.check(other, member, &at, faults),
                _ => {}
            }
        }
    }
}

/// The JSON pointers of all objects in `value`, which lies at `at`, with their keys.
fn objects_in(value: &Value, at: String, found: &mut Vec<(String, Vec<String>)>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects_in(item, format!("{at}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                objects_in(member, format!("{at}/{key}"), found);
            }
            found.push((at, members.keys().cloned().collect()));
        }
        _ => {}
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("the type `{other}` is not known here"),
    }
}

fn length(value: &Value) -> Option<u64> {
    value.as_str().map(|text| text.chars().count() as u64)
}

/// The patterns of our schemas, by hand: one more engine for five of them would be too much.
fn matches(pattern: &str, text: &str) -> bool {
    let hex = |text: &str, length| {
        text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let word =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    match pattern {
        "^[a-z0-9]+(-[a-z0-9]+)*$" => text.split('-').all(word),
        "^[a-z0-9]+([.-][a-z0-9]+)*$" => text.split(['.', '-']).all(word),
        "^[a-zA-Z0-9_-]{1,64}$" => {
            (1..=64).contains(&text.len())
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        }
        "^[0-9a-f]{40}$" => hex(text, 40),
        "^sha256:[0-9a-f]{64}$" => text.strip_prefix("sha256:").is_some_and(|text| hex(text, 64)),
        other => panic!("the pattern `{other}` is not known here"),
    }
}
