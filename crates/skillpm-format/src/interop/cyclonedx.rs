//! The software bill of materials of a packed skill, in the JSON format of CycloneDX 1.6.
//!
//! The document says nothing that is not in the package, so one package always gets the same document.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::digest::Digest;
use crate::text::timestamp;

/// The end of the names of such files.
pub const ENDING: &str = ".cdx.json";

/// The contents of a bill of materials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bill<'a> {
    /// The name of the skill.
    pub name: &'a str,
    /// The version.
    pub version: &'a str,
    /// The description.
    pub description: &'a str,
    /// The license as written.
    pub license: Option<&'a str>,
    /// The digest of the archive.
    pub archive: Digest,
    /// The digest of the tree.
    pub tree: Digest,
    /// The path and the digest of each file.
    pub files: Vec<(&'a str, Digest)>,
    /// The skills that it needs, as declared.
    pub dependencies: &'a [String],
    /// The time of creation in seconds from 1970, if the document is to have one.
    pub time: Option<i64>,
    /// The version of skillpm.
    pub tool_version: &'a str,
}

impl Bill<'_> {
    /// Returns the document, with a line end after it.
    pub fn to_json(&self) -> String {
        format!("{:#}\n", self.document())
    }

    fn document(&self) -> Value {
        let reference = self.reference();
        // A reference must be unique.
        let dependencies: BTreeSet<&String> = self.dependencies.iter().collect();
        let needed: Vec<String> = dependencies.iter().map(|text| need(text)).collect();
        let files = self.files.iter().map(|(path, digest)| {
            json!({ "type": "file", "bom-ref": format!("file:{path}"), "name": path, "hashes": hashes(digest) })
        });
        let dependencies = dependencies.into_iter().map(
            |text| json!({ "type": "library", "bom-ref": need(text), "name": text, "scope": "required" }),
        );
        json!({
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "serialNumber": serial_number(&self.archive),
            "version": 1,
            "metadata": self.metadata(&reference),
            "components": files.chain(dependencies).collect::<Vec<_>>(),
            "dependencies": [{ "ref": reference, "dependsOn": needed }],
        })
    }

    fn metadata(&self, reference: &str) -> Value {
        let mut component = json!({
            "type": "library",
            "bom-ref": reference,
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "hashes": hashes(&self.archive),
            "properties": [{ "name": "skillpm:tree-digest", "value": self.tree.to_string() }],
        });
        if let Some(license) = self.license {
            component["licenses"] = licenses(license);
        }
        let mut metadata = json!({
            "tools": {
                "components": [{ "type": "application", "name": "skillpm", "version": self.tool_version }],
            },
            "component": component,
        });
        if let Some(time) = self.time {
            metadata["timestamp"] = timestamp(time, 0).into();
        }
        metadata
    }

    fn reference(&self) -> String {
        format!("skill:{}@{}", self.name, self.version)
    }
}

/// Returns the reference of the dependency that is declared as `text`.
fn need(text: &str) -> String {
    format!("dependency:{text}")
}

fn hashes(digest: &Digest) -> Value {
    json!([{ "alg": "SHA-256", "content": digest.hex() }])
}

/// Returns a license as an identifier or an expression of SPDX, or as a name if it is neither.
fn licenses(text: &str) -> Value {
    let mode = spdx::ParseMode { allow_deprecated: true, ..spdx::ParseMode::STRICT };
    if spdx::license_id(text).is_some() {
        json!([{ "license": { "id": text } }])
    } else if spdx::Expression::parse_mode(text, mode).is_ok() {
        json!([{ "expression": text }])
    } else {
        json!([{ "license": { "name": text } }])
    }
}

/// Returns a UUID of version 8, which the digest determines.
fn serial_number(digest: &Digest) -> String {
    let hex = digest.hex();
    let variant = match &hex[16..17] {
        "0" | "4" | "8" | "c" => '8',
        "1" | "5" | "9" | "d" => '9',
        "2" | "6" | "a" | "e" => 'a',
        _ => 'b',
    };
    format!(
        "urn:uuid:{}-{}-8{}-{variant}{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..32]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bill<'a>(license: &'a str, dependencies: &'a [String], time: Option<i64>) -> Bill<'a> {
        Bill {
            name: "pdf",
            version: "1.2",
            description: "Reads PDF files.",
            license: Some(license),
            archive: Digest::of(b"archive"),
            tree: Digest::of(b"tree"),
            files: vec![("SKILL.md", Digest::of(b"x"))],
            dependencies,
            time,
            tool_version: "0.1.0",
        }
    }

    #[test]
    fn a_document_has_the_skill_its_files_and_what_it_needs() {
        insta::assert_snapshot!(bill("MIT", &["base@^1".to_owned(), "base@^1".to_owned()], Some(0)).to_json(), @r#"
        {
          "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
          "bomFormat": "CycloneDX",
          "components": [
            {
              "bom-ref": "file:SKILL.md",
              "hashes": [
                {
                  "alg": "SHA-256",
                  "content": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
                }
              ],
              "name": "SKILL.md",
              "type": "file"
            },
            {
              "bom-ref": "dependency:base@^1",
              "name": "base@^1",
              "scope": "required",
              "type": "library"
            }
          ],
          "dependencies": [
            {
              "dependsOn": [
                "dependency:base@^1"
              ],
              "ref": "skill:pdf@1.2"
            }
          ],
          "metadata": {
            "component": {
              "bom-ref": "skill:pdf@1.2",
              "description": "Reads PDF files.",
              "hashes": [
                {
                  "alg": "SHA-256",
                  "content": "0eb3e36bfb24dcd9bb1d1bece1531216b59539a8fde17ee80224af0653c92aa3"
                }
              ],
              "licenses": [
                {
                  "license": {
                    "id": "MIT"
                  }
                }
              ],
              "name": "pdf",
              "properties": [
                {
                  "name": "skillpm:tree-digest",
                  "value": "sha256:dc9c5edb8b2d479e697b4b0b8ab874f32b325138598ce9e7b759eb8292110622"
                }
              ],
              "type": "library",
              "version": "1.2"
            },
            "timestamp": "1970-01-01T00:00:00.000Z",
            "tools": {
              "components": [
                {
                  "name": "skillpm",
                  "type": "application",
                  "version": "0.1.0"
                }
              ]
            }
          },
          "serialNumber": "urn:uuid:0eb3e36b-fb24-8cd9-bb1d-1bece1531216",
          "specVersion": "1.6",
          "version": 1
        }
        "#);
    }

    #[test]
    fn a_license_is_what_it_can_be() {
        for (text, expected) in [
            ("MIT", json!([{ "license": { "id": "MIT" } }])),
            ("MIT OR Apache-2.0", json!([{ "expression": "MIT OR Apache-2.0" }])),
            ("see LICENSE.txt", json!([{ "license": { "name": "see LICENSE.txt" } }])),
        ] {
            let document = bill(text, &[], None).document();
            assert_eq!(document["metadata"]["component"]["licenses"], expected);
            assert_eq!(document["metadata"]["timestamp"], Value::Null);
        }
    }
}
