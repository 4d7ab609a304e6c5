//! `read`: returns the content of a skill's file, or lists its files.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::Serialize;

use crate::advice::{Opt, Warning, message};
use crate::engine::resources::{self, Content, MAX_BYTES};
use crate::error::{Error, Result};
use crate::profile::Listing;
use crate::session::Session;

/// A request to read a file, or part of it.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// The skill's name.
    pub name: String,
    /// The file's path below the skill's directory, `/`-separated.
    pub path: String,
    /// The largest file size to read, in bytes.
    pub max_bytes: u64,
    /// The number of lines to skip at the start of a text.
    pub offset: usize,
    /// The maximum number of lines of a text; `None` means all.
    pub limit: Option<usize>,
}

impl Default for ReadRequest {
    fn default() -> Self {
        Self { name: String::new(), path: String::new(), max_bytes: MAX_BYTES, offset: 0, limit: None }
    }
}

/// The content of a file. The JSON form of this and of [`FilesOutcome`] is an interface: fields are only
/// added, and a text has only the first three (S3-FR-16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadOutcome {
    /// The skill's name.
    pub skill_name: String,
    /// The file's path, as requested.
    pub filename: String,
    /// The text, or the bytes in base64.
    pub content: String,
    /// `base64` for content that is not UTF-8 text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<&'static str>,
    /// Warnings about the skill.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// The files of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FilesOutcome {
    /// The skill's name.
    pub skill_name: String,
    /// Their paths relative to the skill's directory, `/`-separated, sorted by their bytes.
    pub available_files: Vec<String>,
    /// Warnings about the skill.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// Reads a file of a skill.
///
/// # Errors
///
/// Fails for an unknown skill; for a path that leads out of its directory, or to nothing; for a file that is
/// not regular or too large; and for a part of something that is not text.
pub fn read(session: &Session, request: &ReadRequest) -> Result<ReadOutcome> {
    let (hit, content) = session.read(&request.name, &request.path, request.max_bytes)?;
    let name = &hit.skill.meta.name;
    let is_part = request.offset > 0 || request.limit.is_some();
    let (content, encoding) = match content {
        Content::Text(text) if is_part => (lines(&text, request.offset, request.limit).to_owned(), None),
        Content::Text(text) => (text, None),
        Content::Binary(_) if is_part => {
            let message =
                format!("the file `{}` of the skill `{name}` is not text: it has no lines", request.path);
            return Err(Error::usage(message).hint(message!(
                "without ",
                Opt::Offset,
                " and ",
                Opt::Limit,
                " it is given in base64"
            )));
        }
        Content::Binary(bytes) => (BASE64_STANDARD.encode(bytes), Some("base64")),
    };
    Ok(ReadOutcome {
        skill_name: name.clone(),
        filename: request.path.clone(),
        content,
        encoding,
        warnings: hit.warnings,
    })
}

/// Lists the files of the skill `name` without its `SKILL.md`.
///
/// # Errors
///
/// Fails for an unknown skill, and for a directory that cannot be read.
pub fn files(session: &Session, name: &str, listing: Listing) -> Result<FilesOutcome> {
    let hit = session.find(name)?;
    let available_files = resources::list(&hit.skill.dir, listing).map_err(|error| {
        Error::io(format!("the files of the skill `{name}` are not listed")).because(error)
    })?;
    Ok(FilesOutcome { skill_name: hit.skill.meta.name.clone(), available_files, warnings: hit.warnings })
}

/// Returns at most `limit` lines of `text` after the first `offset`, with their line endings.
fn lines(text: &str, offset: usize, limit: Option<usize>) -> &str {
    // The offsets of line starts, and of the end of the text.
    let starts = || std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let start = starts().nth(offset).unwrap_or(text.len());
    let end = limit.and_then(|limit| starts().nth(offset.saturating_add(limit)));
    &text[start..end.unwrap_or(text.len()).max(start)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::error::ErrorKind;

    fn world() -> World {
        let world = World::new();
        world.skill(".agents/skills/pdf", "pdf");
        world.write(".agents/skills/pdf/references/forms.md", "a\nb\r\n\nd");
        world.write(".agents/skills/pdf/assets/logo.png", "\u{1}\0PNG");
        world
    }

    fn session(world: &World) -> Session {
        Session::of_person(&world.context()).expect("opens")
    }

    fn request(path: &str) -> ReadRequest {
        ReadRequest { name: "pdf".into(), path: path.into(), ..ReadRequest::default() }
    }

    /// S3-FR-16: these keys for a text, and no others.
    #[test]
    fn text_and_what_is_none() {
        let world = world();
        let json = |path: &str| {
            let outcome = read(&session(&world), &request(path)).expect("reads");
            serde_json::to_string(&outcome).expect("JSON")
        };
        assert_eq!(
            json("references/forms.md"),
            r#"{"skill_name":"pdf","filename":"references/forms.md","content":"a\nb\r\n\nd"}"#
        );
        assert_eq!(
            json("assets/logo.png"),
            r#"{"skill_name":"pdf","filename":"assets/logo.png","content":"AQBQTkc=","encoding":"base64"}"#
        );
    }

    #[test]
    fn some_lines() {
        let text = "a\nb\r\n\nd";
        for (offset, limit, expected) in [
            (0, None, text),
            (1, None, "b\r\n\nd"),
            (1, Some(1), "b\r\n"),
            (0, Some(0), ""),
            (2, Some(9), "\nd"),
            (3, Some(usize::MAX), "d"),
            (4, None, ""),
            (99, Some(1), ""),
        ] {
            assert_eq!(lines(text, offset, limit), expected, "{offset} {limit:?}");
        }
        assert_eq!(lines("a\n", 1, None), "");
        let world = world();
        let part = |path: &str| read(&session(&world), &ReadRequest { limit: Some(1), ..request(path) });
        assert_eq!(part("references/forms.md").expect("reads").content, "a\n");
        assert_eq!(part("assets/logo.png").expect_err("no lines").kind(), ErrorKind::Usage);
    }

    /// The hint leads to the requested skill, not to the one that hides it.
    #[test]
    fn a_hint_names_the_skill_as_it_was_asked_for() {
        let world = world();
        world.skill("../home/.agents/skills/pdf", "pdf");
        let asked = ReadRequest { name: "user:pdf".into(), ..request("nope") };
        let error = read(&session(&world), &asked).expect_err("not there");
        assert_eq!(error.hints(), ["`read user:pdf` lists its files"]);
    }

    /// Conflict C15.
    #[test]
    fn unknown_skills_and_files() {
        let world = world();
        let error =
            read(&session(&world), &ReadRequest { name: "pdff".into(), ..request("x") }).expect_err("none");
        assert_eq!(error.to_string(), "there is no skill `pdff`");
        assert_eq!(error.hints()[0], "did you mean `pdf`?");
        let error = read(&session(&world), &request("form.md")).expect_err("none");
        assert_eq!(
            error.to_string(),
            "the file `form.md` of the skill `pdf` is not read: there is no such file"
        );
        assert_eq!(error.hints()[0], "did you mean `references/forms.md`?");
    }

    #[test]
    fn files_are_listed() {
        let world = world();
        let list = |listing| files(&session(&world), "pdf", listing).expect("lists").available_files;
        assert_eq!(list(Listing::All), ["assets/logo.png", "references/forms.md"]);
        assert_eq!(list(Listing::Markdown), ["references/forms.md"]);
    }
}
