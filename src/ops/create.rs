//! `create`: a new skill.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::engine::load::SKILL_FILE;
use crate::error::{Error, Result};
use crate::fs;
use crate::name::SkillName;

/// What a new skill's file is made from.
const TEMPLATE: &str = include_str!("../../templates/basic/SKILL.md");
/// The description of a skill that was made without one.
const TO_BE_REPLACED: &str = "Replace this line: say what the skill does, then when an agent is to use it, in the words that people use.";
/// The largest number of characters in a description (specification, `description`).
const MAX_DESCRIPTION: usize = 1024;
/// Words that YAML readers take for something other than text.
const YAML_WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];

/// What is to be made.
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// The skill's name.
    pub name: String,
    /// What it does and when to use it; a text to be replaced where it is `None`.
    pub description: Option<String>,
    /// The directory in which the skill's own is made; the working directory where it is `None`.
    pub parent: Option<PathBuf>,
}

/// What was made.
#[derive(Debug, Clone)]
pub struct CreateOutcome {
    /// The skill's directory.
    pub path: PathBuf,
}

/// Makes a new skill in a directory of its name.
///
/// # Errors
///
/// A name that the specification refuses, a directory that is there already, or one that cannot be
/// written.
pub fn create(context: &Context, request: &CreateRequest) -> Result<CreateOutcome> {
    let name = check_name(&request.name)?;
    let description = check_description(request.description.as_deref().unwrap_or(TO_BE_REPLACED))?;
    let cwd = &context.settings.cwd;
    let parent = request.parent.as_ref().map_or_else(|| cwd.clone(), |parent| cwd.join(parent));
    let path = parent.join(name.as_str());
    if fs::kind(&path)?.is_some() {
        return Err(exists(&path));
    }
    fs::create_dir_all(&parent)?;
    place(&parent, &path, &fill(&name, description))?;
    Ok(CreateOutcome { path })
}

/// Makes the skill beside its place, then moves it there: nobody sees half of one.
fn place(parent: &Path, path: &Path, text: &str) -> Result<()> {
    let stage = fs::temp_dir_in(parent, ".skillpm-")?;
    // The temporary directory is private; the skill's own is for everybody.
    let new = stage.path().join("new");
    fs::create_dir(&new)?;
    fs::write_atomic(&new.join(SKILL_FILE), text.as_bytes())?;
    fs::move_new(&new, path).map_err(|error| match error.source.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        _ => error.into(),
    })
}

fn exists(path: &Path) -> Error {
    Error::usage(format!("`{}` is there already", path.display()))
        .hint("choose another name, or another directory with `--path`")
}

fn check_name(text: &str) -> Result<SkillName> {
    let message = match SkillName::new(text) {
        Ok(name) if name.as_str().is_ascii() => return Ok(name),
        // The specification has it both ways, and many tools have it one way.
        Ok(name) => format!("the name `{name}` has letters that not every tool accepts"),
        Err(error) => error.to_string(),
    };
    let error = Error::usage(message)
        .hint("a name is 1 to 64 of `a` to `z`, `0` to `9` and single hyphens between them");
    Err(match SkillName::slug(text).filter(|slug| slug.as_str().is_ascii()) {
        Some(slug) => error.hint(format!("`skillpm create {slug}` would do")),
        None => error,
    })
}

fn check_description(text: &str) -> Result<&str> {
    let text = text.trim();
    let count = text.chars().count();
    let message = if text.is_empty() {
        "the description is empty".to_owned()
    } else if count > MAX_DESCRIPTION {
        format!("the description has {count} characters, {MAX_DESCRIPTION} are allowed")
    } else if text.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        "the description has more than one line".to_owned()
    } else if let Some(c) = text.chars().find(|c| c.is_control()) {
        format!("the description has the control character U+{:04X}", u32::from(c))
    } else {
        return Ok(text);
    };
    Err(Error::usage(message).hint("say in one line what the skill does and when to use it"))
}

/// The file's text. The description comes last: what it holds is not looked at again.
fn fill(name: &SkillName, description: &str) -> String {
    let plain = name.as_str();
    // YAML readers make numbers and dates of what starts with a digit.
    let is_plain = !plain.starts_with(|c: char| c.is_ascii_digit()) && !YAML_WORDS.contains(&plain);
    let name = if is_plain { plain.to_owned() } else { quote(plain) };
    TEMPLATE.replacen("{{name}}", &name, 1).replacen("{{description}}", &quote(description), 1)
}

/// Returns `text` as a YAML scalar in double quotes, on one line.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        let code = u32::from(c);
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(quoted, "\\{c}"),
            // What YAML does not let stand as it is: controls, line ends, the byte-order mark and
            // the code points that are no characters.
            _ if c.is_control() || matches!(code, 0x2028 | 0x2029 | 0xfeff) || code & 0xfffe == 0xfffe => {
                write!(quoted, "\\U{code:08X}")
            }
            _ => write!(quoted, "{c}"),
        };
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::Document;
    use crate::engine::testing::World;
    use crate::error::ErrorKind;
    use crate::lint::{self, Subject};

    fn request(name: &str, description: Option<&str>) -> CreateRequest {
        CreateRequest { name: name.into(), description: description.map(Into::into), parent: None }
    }

    /// What is against the specification; how good a description is, is its author's affair.
    fn findings(name: &str, text: &str) -> Vec<lint::Finding> {
        let document = Document::parse(text.to_owned());
        let found = lint::check(&Subject::new(&document, Some(name), SKILL_FILE));
        found.into_iter().filter(|finding| finding.severity == lint::Severity::Error).collect()
    }

    /// S0-US5.1: the linter has nothing to say about a new skill.
    #[test]
    fn a_new_skill_is_right() {
        let world = World::new();
        for name in ["pdf", "a", "7zip", "123", "1e5", "2020-01-01", "null", "on", "true"] {
            let path = create(&world.context(), &request(name, None)).expect(name).path;
            assert_eq!(path, world.project().join(name));
            let text = fs::read_text(&path.join(SKILL_FILE), 9999).expect("reads").expect("there");
            assert_eq!(findings(name, &text), [], "{name}");
            assert!(!text.contains("{{"), "{text}");
            let description = Document::parse(text).description().map(str::to_owned);
            assert_eq!(description.as_deref(), Some(TO_BE_REPLACED));
        }
        let left = fs::list_dir(world.project()).expect("lists");
        assert!(!left.iter().any(|name| name.starts_with(".skillpm-")), "{left:?}");
    }

    #[cfg(unix)]
    #[test]
    fn the_directory_is_not_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let world = World::new();
        let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
        let path = create(&world.context(), &request("pdf", None)).expect("works").path;
        fs::create_dir(&world.project().join("other")).expect("creates");
        assert_eq!(mode(&path), mode(&world.project().join("other")));
        assert_eq!(mode(&path.join(SKILL_FILE)), 0o644);
    }

    #[test]
    fn nothing_is_overwritten() {
        let world = World::new();
        world.write("skills/pdf", "mine");
        let mut request = request("pdf", None);
        request.parent = Some("skills".into());
        let error = create(&world.context(), &request).expect_err("is there");
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().ends_with("pdf` is there already"), "{error}");
        assert_eq!(fs::list_dir(&world.project().join("skills")).expect("lists"), ["pdf"]);
        request.parent = Some("new/place".into());
        let path = create(&world.context(), &request).expect("the parent is made").path;
        assert_eq!(path, world.project().join("new/place/pdf"));
        assert!(create(&world.context(), &request).is_err(), "its own work neither");
    }

    /// Conflict C2, the strict level.
    #[test]
    fn a_wrong_name_gets_the_rule_and_a_right_one() {
        let world = World::new();
        for (name, message, hint) in [
            ("PDF Reader", "the name `PDF Reader` has an upper-case letter", Some("pdf-reader")),
            (
                "../etc",
                "the name `../etc` has a character that is not a letter, a digit or a hyphen: U+002E",
                Some("etc"),
            ),
            ("-pdf", "the name `-pdf` starts or ends with a hyphen", Some("pdf")),
            ("技能", "the name `技能` has letters that not every tool accepts", None),
            ("", "the name is empty", None),
        ] {
            let error = create(&world.context(), &request(name, None)).expect_err(name);
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, message));
            assert!(error.hints()[0].contains("single hyphens"));
            let offer = hint.map(|slug| format!("`skillpm create {slug}` would do"));
            assert_eq!(error.hints().get(1), offer.as_ref(), "{name}");
        }
        assert_eq!(fs::list_dir(world.project()).expect("lists"), [".git"], "nothing was written");
    }

    #[test]
    fn a_wrong_description_is_refused() {
        for (text, message) in [
            (" ", "the description is empty"),
            ("a\nb", "the description has more than one line"),
            ("a\u{2028}b", "the description has more than one line"),
            ("a\u{1b}[2J", "the description has the control character U+001B"),
            (&"é".repeat(1025), "the description has 1025 characters, 1024 are allowed"),
        ] {
            let error = check_description(text).expect_err(message);
            assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, message));
        }
        assert!(check_description(&"é".repeat(1024)).is_ok());
    }

    proptest! {
        #[test]
        fn a_quoted_text_is_that_text(text in any::<String>(), nasty in "[\"\\\\#:{}\\[\\]%@`|>&*!?\u{85}\u{feff}\u{ffff}\u{2028} \t\r\n-]{0,20}") {
            for text in [text, nasty] {
                let document = Document::parse(format!("---\nx: {}\n---\n", quote(&text)));
                prop_assert_eq!(document.get("x").and_then(|node| node.text()), Some(text.as_str()));
                prop_assert_eq!(document.problems(), []);
            }
        }

        #[test]
        fn any_description_that_is_accepted_makes_a_right_skill(
            name in "[a-z0-9]{1,9}(-[a-z0-9]{1,5}){0,2}",
            text in "(\\PC|\\{\\{name\\}\\}|\\{\\{description\\}\\}|---|<<<<<<<|: | #|\"|\\\\){1,60}",
        ) {
            let name = SkillName::new(&name).expect("valid");
            if let Ok(description) = check_description(&text) {
                let text = fill(&name, description);
                prop_assert_eq!(findings(name.as_str(), &text), []);
                let document = Document::parse(text);
                prop_assert_eq!(document.name(), Some(name.as_str()));
                prop_assert_eq!(document.description(), Some(description));
            }
        }
    }
}
