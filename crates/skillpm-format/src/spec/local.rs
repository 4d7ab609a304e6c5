//! Directories and archives on this machine.

use super::kind::{Compared, Foreign, NotExpressible, PatternForm, SourceFacts, SourceKind, Typed};
use super::{SourceSpec, SpecError, file_stem};

/// A directory or archive on this machine, as typed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalPath(pub String);

impl SourceKind for LocalPath {
    const KEYS: &'static [&'static str] = &["path"];
    const MANIFEST_KEYS: &'static [&'static str] = &["path"];
    const OTHER_KEYS: &'static [&'static str] = &["subdir", "editable"];
    const PATTERN: PatternForm = PatternForm::Path;
    const FOREIGN_TYPES: &'static [&'static str] = &["local"];
    const TYPED: &'static [Typed] = &[(
        &["./path", "../path", "/path", "~/path"],
        "a directory, an archive or a file on this machine; a bare git repository is read as one",
    )];

    fn read(key: &'static str, text: &str) -> Result<Self, SpecError> {
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err(SpecError::Unsupported(format!("{key}:{text}")));
        }
        Ok(Self(text.to_owned()))
    }

    fn named(text: &str) -> Option<Result<SourceSpec, SpecError>> {
        is_local(text).then(|| Ok(SourceSpec::local(text)))
    }

    fn from_foreign(source: &str, _: Option<&str>) -> Result<SourceSpec, String> {
        Ok(SourceSpec::local(source))
    }
}

impl SourceFacts for LocalPath {
    fn kind(&self) -> &'static str {
        "path"
    }

    fn written(&self) -> String {
        self.0.clone()
    }

    fn in_full(&self) -> String {
        self.0.clone()
    }

    /// Returns `None`: a directory below a path has no form, since the path may be that of an archive. It is chosen by
    /// the skill.
    fn directory_mark(&self) -> Option<&'static str> {
        None
    }

    fn directory_key(&self) -> &'static str {
        "subdir"
    }

    fn local_path(&self) -> Option<&str> {
        Some(&self.0)
    }

    fn is_file(&self) -> bool {
        file_stem(&self.0) != self.0
    }

    fn check_revision(&self, _: &str) -> Result<(), String> {
        Err("a path has no `revision`".to_owned())
    }

    fn compared(&self) -> Compared<'_> {
        Compared::Path(&self.0)
    }

    fn foreign(&self) -> Result<Foreign<'_>, NotExpressible> {
        Ok(Foreign { kind: "local", source: None, url: None, in_repository: false })
    }
}

/// Reports whether `text` is a path on this machine rather than a repository or a name.
pub fn is_local(text: &str) -> bool {
    let windows_drive = text.as_bytes().get(1) == Some(&b':') && text.as_bytes()[0].is_ascii_alphabetic();
    matches!(text, "." | ".." | "~")
        || ["./", "../", "/", "~/", ".\\", "..\\"].iter().any(|prefix| text.starts_with(prefix))
        || (windows_drive && text.as_bytes().get(2).is_some_and(|b| matches!(b, b'/' | b'\\')))
}
