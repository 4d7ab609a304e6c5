//! The first requests to test a skill with.

use crate::interop::evals::EVALS_DIR;
use crate::name::SkillName;
use crate::path::SafePath;
use crate::template::TemplateFile;

/// Returns the file with them: some that are for the skill and some that are not, in the shape that most tools read. They are
/// true as far as a name can tell.
pub(super) fn file(name: &SkillName) -> Option<TemplateFile> {
    let topic = name.as_str().replace('-', " ");
    let requests = [
        (format!("I need help with {topic}"), true),
        (format!("can you look at the {topic} of this project and say what to change?"), true),
        ("write a poem about the sea".to_owned(), false),
    ];
    let lines = requests.map(|(query, should_trigger)| {
        // Names have no character that JSON escapes.
        format!("  {{ \"query\": \"{query}\", \"should_trigger\": {should_trigger} }}")
    });
    let text = format!("[\n{}\n]\n", lines.join(",\n"));
    let path = SafePath::new(&format!("{EVALS_DIR}/trigger-eval.json")).ok()?;
    Some(TemplateFile { path, bytes: text.into_bytes(), executable: false })
}
