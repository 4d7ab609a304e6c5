//! What unit tests share.

#![expect(clippy::disallowed_methods, reason = "the pages lie outside of every room of the program")]

mod schema;
mod schemas;

use std::path::Path;

use crate::env::Env;

pub(crate) use schema::Schema;

/// Checks that the generated part of page `docs/reference/<page>` is `expected`.
///
/// The part lies between two comments of the page; the first starts with `<!-- generated`, the second
/// with `<!-- end of the generated`. With `SKILLPM_BLESS=1` the page is written anew instead.
pub(crate) fn check_reference(page: &str, expected: &str) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    if !docs.is_dir() {
        println!("skipped: the published package carries no docs/");
        return;
    }
    let path = docs.join(page);
    let text = std::fs::read_to_string(&path).expect(page);
    let (before, rest) = text.split_once("<!-- generated").expect("a comment where the part begins");
    let (comment, rest) = rest.split_once("-->\n").expect("the end of that comment");
    let (found, after) = rest.split_once("<!-- end of the generated").expect("a comment where it ends");
    let expected = format!("\n{expected}\n");
    if found == expected {
        return;
    }
    let bless = Env::from_process().expect("a working directory").flag("SKILLPM_BLESS");
    assert!(
        bless,
        "docs/reference/{page} differs from what the program says; \
         `SKILLPM_BLESS=1 cargo test --lib reference_page` writes it anew"
    );
    let new = format!("{before}<!-- generated{comment}-->\n{expected}<!-- end of the generated{after}");
    std::fs::write(&path, new).expect(page);
}
