//! The files of `schema/`, to hold them against what the code says.

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
}
