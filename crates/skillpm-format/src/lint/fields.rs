//! The fields of the frontmatter and what each is for, for editors and schemas.

use super::clients::{self, CLIENTS};
use crate::requirement;
use crate::text::and;

/// A field of the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What it is for, and whose field it is if it is not one of the specification.
    pub about: String,
    /// The values that it can have, if these are known and few.
    pub values: &'static [&'static str],
}

impl Field {
    fn new(name: &'static str, about: impl Into<String>) -> Self {
        Self { name, about: about.into(), values: clients::values(name) }
    }
}

/// The fields of the specification.
const SPEC: [(&str, &str); 6] = [
    ("name", "The name, which is also that of the directory: lower-case letters, digits and single hyphens."),
    ("description", "What the skill does and when to use it: an agent reads only this before it decides."),
    ("license", "The name of a license, or of the file that holds it."),
    ("compatibility", "What the skill needs around it: systems, programs, network."),
    ("metadata", "Keys of your own. The specification has strings only: quote numbers."),
    ("allowed-tools", "Tools that the skill may use without asking, with spaces between them."),
];

/// The keys below `metadata` that tools read.
const METADATA: [(&str, &str); 4] = [
    ("author", "Who wrote the skill."),
    ("version", "The version of the skill, a semantic version: `\"1.0.0\"`."),
    ("tags", "Words to find the skill by, with commas between them."),
    (
        requirement::KEY,
        "The skills that the skill needs, with spaces between them: names, ranges such as `pdf@^1.2`, or sources.",
    ),
];

/// Returns the fields of the specification, then those that agents define, each once.
pub fn fields() -> Vec<Field> {
    let mut all: Vec<Field> = SPEC.map(|(name, about)| Field::new(name, about)).into();
    for (name, about) in CLIENTS.iter().flat_map(|client| client.fields) {
        if all.iter().all(|field| field.name != *name) {
            all.push(Field::new(name, format!("A field of {}: {about}.", and(&clients::of(name)))));
        }
    }
    all
}

/// Returns the keys below `metadata` that tools read, then the blocks that agents define there.
pub fn metadata_fields() -> Vec<Field> {
    let blocks = clients::blocks().map(|(key, agent)| Field::new(key, format!("A block of {agent}.")));
    METADATA.iter().map(|(name, about)| Field::new(name, *about)).chain(blocks).collect()
}
