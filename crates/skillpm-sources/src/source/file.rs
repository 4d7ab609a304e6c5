//! One file that holds skills: an archive, or a single `SKILL.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::archive;
use crate::document::{Split, split};
use crate::fs::SharedFile;
use crate::refusal::{Limits, Refusal};
use crate::tree::{Memory, Node, ReadError, Tree, TreeEntry};

/// Reads `file`, whose name is `name`. Its first bytes determine its kind.
///
/// A text whose name ends in `.md` and that starts with frontmatter is a skill with this single file: it becomes its
/// `SKILL.md`.
pub(super) fn read(file: &Arc<SharedFile>, name: &str, limits: &Limits) -> Result<Tree, ReadError> {
    match archive::open(Arc::clone(file), limits) {
        Ok(archive) => Ok(archive.tree.without_wrapper()),
        Err(ReadError::Refused(Refusal::NotAnArchive { found, .. })) if is_markdown(name) => {
            document(file, found, limits)
        }
        Err(error) => Err(error),
    }
}

/// Reports whether `name` is that of a Markdown file.
pub(super) fn is_markdown(name: &str) -> bool {
    name.len().checked_sub(3).and_then(|at| name.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(".md"))
}

fn document(file: &SharedFile, found: &'static str, limits: &Limits) -> Result<Tree, ReadError> {
    let size = file.len();
    let refused = || Refusal::NotAnArchive { expected: "a `SKILL.md`, whose first line is `---`", found };
    let Some(length) = usize::try_from(size).ok().filter(|_| size <= limits.skill_bytes) else {
        return Err(Refusal::TooLarge { size, limit: limits.skill_bytes }.into());
    };
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0)?;
    // The reader of skills reports errors in the frontmatter better.
    if matches!(split(&bytes), Split::Missing(_)) || std::str::from_utf8(&bytes).is_err() {
        return Err(refused().into());
    }
    let entry = TreeEntry { node: Node::File { executable: false, size }, id: 0 };
    Ok(Tree::new(BTreeMap::from([("SKILL.md".to_owned(), entry)]), Arc::new(Memory(vec![bytes]))))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::fs::anonymous_temp_file;

    fn read_bytes(bytes: &[u8], name: &str, limits: &Limits) -> Result<Vec<String>, String> {
        let mut file = anonymous_temp_file().expect("a file");
        file.write_all(bytes).expect("writes");
        let file = Arc::new(SharedFile::from_file(file).expect("a length"));
        let tree = read(&file, name, limits).map_err(|error| error.to_string())?;
        Ok(tree.entries().map(|(path, _)| path.to_owned()).collect())
    }

    #[test]
    fn a_document_is_a_skill_of_one_file() {
        for name in ["SKILL.md", "x.MD", "a.md"] {
            let read = read_bytes(b"\xef\xbb\xbf\n---\nname: x\n---\n", name, &Limits::default());
            assert_eq!(read, Ok(vec!["SKILL.md".to_owned()]), "{name}");
        }
    }

    #[test]
    fn other_files_say_what_they_are() {
        let md = "this is not a `SKILL.md`, whose first line is `---`: it looks like ";
        let archive = "this is not a zip, tar or tar.gz archive: it looks like ";
        let cases: &[(&[u8], &str, String)] = &[
            (b"# Title\n", "SKILL.md", format!("{md}a text file")),
            (b"<!DOCTYPE html>---", "SKILL.md", format!("{md}an HTML page")),
            (b"", "SKILL.md", format!("{md}an empty file")),
            (b"---\nname: x\n---\n\xff", "SKILL.md", format!("{md}binary data")),
            (b"---\nname: x\n---\n", "SKILL.txt", format!("{archive}a text file")),
            (b"---\nname: x\n---\n", "md", format!("{archive}a text file")),
        ];
        for (bytes, name, message) in cases {
            assert_eq!(read_bytes(bytes, name, &Limits::default()).as_ref(), Err(message), "{name}");
        }
        let small = Limits { skill_bytes: 4, ..Limits::default() };
        let message = "the content has 5 bytes, 4 are allowed".to_owned();
        assert_eq!(read_bytes(b"---\n\n", "a.md", &small), Err(message));
    }
}
