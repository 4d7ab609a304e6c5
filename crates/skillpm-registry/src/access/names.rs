//! The names that a new skill can have.

use crate::catalog::Catalog;
use crate::codes;
use crate::error::{Error, Result};
use crate::name::SkillName;
use crate::registry::History;

/// Reserved names: people would take them for parts of the program, or of the registry's own pages.
const RESERVED: &[&str] = &["skillpm", "registry", "admin", "api", "index", "search", "static", "well-known"];

/// Checks that a skill with the new name `name` can be published. Fails for a name that is reserved, and for one that looks
/// like that of a skill that exists.
pub(crate) fn check_new_name(
    name: &SkillName,
    reserved: &[String],
    catalog: &Catalog,
    is_seen: impl Fn(&History) -> bool,
) -> Result<()> {
    let text = name.as_str();
    let shape = shape(text);
    let mut reserved = RESERVED.iter().copied().chain(reserved.iter().map(String::as_str));
    if reserved.any(|reserved| self::shape(reserved) == shape) {
        return Err(refused(format!("the name `{name}` is reserved, or looks like one that is")));
    }
    match catalog.with_name(|known| known != name && self::shape(known.as_str()) == shape) {
        // The name is shown only to those who may see it.
        Some(known) if is_seen(&known) => {
            Err(refused(format!("the name `{name}` looks like `{}`, which exists", known.name())))
        }
        Some(_) => Err(refused(format!("the name `{name}` looks like one that exists"))),
        None => Ok(()),
    }
}

fn refused(message: String) -> Error {
    Error::usage(message).coded(codes::NAME_NOT_AVAILABLE).hint("choose another name")
}

/// Returns what two names have in common that people confuse: without hyphens, and with one sign for letters and digits
/// that look alike.
fn shape(name: &str) -> String {
    let folded: String = name
        .chars()
        .filter(|c| *c != '-')
        .map(|c| match c {
            '0' => 'o',
            '1' | 'i' => 'l',
            '5' => 's',
            other => other,
        })
        .collect();
    folded.replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_have_one_shape() {
        for (one, other) in
            [("pdf-tools", "pdftools"), ("l0g", "log"), ("c1i", "cli"), ("burn", "bum"), ("vvord", "word")]
        {
            assert_eq!(shape(one), shape(other));
        }
        assert_ne!(shape("pdf"), shape("pdfs"));
    }
}
